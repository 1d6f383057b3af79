// A static program of Go: threads that share a socket, blocking calls, and the runtime's own signals.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
)

const sctp = 132

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func open(port int) int {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, sctp)
	check(err)
	check(syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}))
	return fd
}

func echo(fd int) {
	place := make([]byte, 70000)
	for {
		came, err := syscall.Read(fd, place)
		check(err)
		if came == 0 {
			break
		}
		for done := 0; done < came; {
			sent, err := syscall.Write(fd, place[done:came])
			check(err)
			done += sent
		}
	}
	check(syscall.Close(fd))
}

func talk(port int) {
	fd := open(port)
	check(syscall.Connect(fd, &syscall.SockaddrInet4{Port: 5000, Addr: [4]byte{127, 0, 0, 1}}))
	for round := 1; round <= 200; round++ {
		message := bytes.Repeat([]byte{byte(round)}, 50*round)
		_, err := syscall.Write(fd, message)
		check(err)
		back := make([]byte, 0, len(message))
		for len(back) < len(message) {
			place := make([]byte, 3000)
			came, err := syscall.Read(fd, place)
			check(err)
			back = append(back, place[:came]...)
		}
		if !bytes.Equal(back, message) {
			fmt.Fprintln(os.Stderr, "other bytes")
			os.Exit(1)
		}
	}
	check(syscall.Shutdown(fd, syscall.SHUT_WR))
	check(syscall.Close(fd))
}

func main() {
	listener := open(5000)
	check(syscall.Listen(listener, 50))
	const talkers = 8
	var all sync.WaitGroup
	for number := 0; number < talkers; number++ {
		all.Add(2)
		go func() { defer all.Done(); talk(6000 + number) }()
		go func() {
			defer all.Done()
			fd, _, err := syscall.Accept4(listener, syscall.SOCK_CLOEXEC)
			check(err)
			echo(fd)
		}()
	}
	// The collector stops all threads by signals.
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	all.Wait()
	close(stop)
	fmt.Println("passed")
}
