// A static program that speaks SCTP by the library of ishidawataru: streams, and what is told of messages, compared.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/ishidawataru/sctp"
)

type message struct {
	stream uint16
	length int
}

var messages = []message{{0, 1}, {3, 1400}, {7, 20000}, {2, 4}}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func hold(condition bool, what ...any) {
	if !condition {
		fmt.Fprintln(os.Stderr, what...)
		os.Exit(1)
	}
}

func asked(end *sctp.SCTPConn) {
	check(end.SubscribeEvents(sctp.SCTP_EVENT_DATA_IO))
}

func serve(at *sctp.SCTPAddr) {
	listener, err := sctp.ListenSCTP("sctp", at)
	check(err)
	accepted, err := listener.Accept()
	check(err)
	end := accepted.(*sctp.SCTPConn)
	asked(end)
	place := make([]byte, 70000)
	for range messages {
		length, info, err := end.SCTPRead(place)
		check(err)
		_, err = end.SCTPWrite(place[:length], &sctp.SndRcvInfo{Stream: info.Stream, PPID: info.PPID})
		check(err)
	}
	// Until the peer has had all.
	end.SCTPRead(place)
	check(end.Close())
}

func call(to *sctp.SCTPAddr) {
	end, err := sctp.DialSCTP("sctp", nil, to)
	check(err)
	asked(end)
	place, all := make([]byte, 70000), 0
	for round, message := range messages {
		bytesSent := bytes.Repeat([]byte{byte(round)}, message.length)
		_, err := end.SCTPWrite(bytesSent, &sctp.SndRcvInfo{Stream: message.stream, PPID: 46})
		check(err)
		length, info, err := end.SCTPRead(place)
		check(err)
		hold(bytes.Equal(place[:length], bytesSent), length, "of", message.length, "bytes came back")
		hold(info.Stream == message.stream && info.PPID == 46, info.Stream, info.PPID)
		all += length
	}
	check(end.Close())
	fmt.Println("whole:", all, "bytes on their streams, back as they went")
}

func main() {
	port, err := strconv.Atoi(os.Args[3])
	check(err)
	address, err := sctp.ResolveSCTPAddr("sctp", os.Args[2]+":"+strconv.Itoa(port))
	check(err)
	if os.Args[1] == "serve" {
		serve(address)
	} else {
		call(address)
	}
}
