// Calls of a static program on SCTP sockets: each is checked against what Linux gives.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(truth)                                                                          \
    do {                                                                                      \
        if (!(truth)) {                                                                       \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #truth, strerror(errno));          \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)
#define FAILS(call, number) CHECK((call) == -1 && errno == (number))

static struct sockaddr_in at(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int bound(int port) {
    struct sockaddr_in own = at(port);
    int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
    CHECK(fd >= 0);
    CHECK(bind(fd, (struct sockaddr *)&own, sizeof own) == 0);
    return fd;
}

static int listening(int port) {
    int fd = bound(port);
    CHECK(listen(fd, 5) == 0);
    return fd;
}

static int connected(int port) {
    struct sockaddr_in peer = at(port);
    int fd = bound(port + 1);
    CHECK(connect(fd, (struct sockaddr *)&peer, sizeof peer) == 0);
    return fd;
}

static void alarm_came(int number) { (void)number; }

static void handle_alarm(int flags) {
    struct sigaction action = {.sa_handler = alarm_came, .sa_flags = flags};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
}

static void ring(int milliseconds) {
    struct itimerval value = {.it_value.tv_usec = milliseconds * 1000};
    CHECK(setitimer(ITIMER_REAL, &value, NULL) == 0);
}

// A process of its own serves what was accepted, and echoes.
static void serve(int listener, int count) {
    if (fork() == 0) {
        for (; count > 0; count--) {
            struct sockaddr_in peer;
            socklen_t length = sizeof peer;
            int fd = accept(listener, (struct sockaddr *)&peer, &length);
            CHECK(fd >= 0 && length == sizeof peer && ntohs(peer.sin_port) != 0);
            // Whoever is forked has it by the same number.
            if (fork() == 0) {
                static char place[1 << 20];
                ssize_t came;
                while ((came = read(fd, place, sizeof place)) > 0) CHECK(write(fd, place, came) == came);
                CHECK(came == 0);
                exit(0);
            }
            close(fd);
        }
        while (wait(NULL) > 0) {}
        exit(0);
    }
}

static void messages(int fd) {
    char place[600];
    CHECK(send(fd, "abcdef", 6, 0) == 6);
    // The rest of a message stays for the next call, and for poll.
    CHECK(recv(fd, place, 2, 0) == 2 && memcmp(place, "ab", 2) == 0);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    CHECK(poll(&ready, 1, 0) == 1);
    int length = 0;
    CHECK(ioctl(fd, FIONREAD, &length) == 0 && length == 4);
    CHECK(recv(fd, place, 100, MSG_PEEK) == 4 && memcmp(place, "cdef", 4) == 0);
    CHECK(recv(fd, place, 100, 0) == 4 && memcmp(place, "cdef", 4) == 0);
    CHECK(poll(&ready, 1, 0) == 0);
    FAILS(recv(fd, place, 100, MSG_DONTWAIT), EAGAIN);

    struct iovec two[2] = {{"12", 2}, {"345", 3}};
    CHECK(writev(fd, two, 2) == 5);
    char first[3], second[10];
    struct iovec places[2] = {{first, 3}, {second, 10}};
    CHECK(readv(fd, places, 2) == 5 && memcmp(first, "123", 3) == 0 && memcmp(second, "45", 2) == 0);

    struct mmsghdr several[2] = {{.msg_hdr = {.msg_iov = &two[0], .msg_iovlen = 1}},
                                 {.msg_hdr = {.msg_iov = &two[1], .msg_iovlen = 1}}};
    CHECK(sendmmsg(fd, several, 2, 0) == 2 && several[1].msg_len == 3);
    struct sockaddr_in peer;
    struct mmsghdr back[2] = {{.msg_hdr = {.msg_iov = &places[0], .msg_iovlen = 1}},
                              {.msg_hdr = {.msg_iov = &places[1], .msg_iovlen = 1, .msg_name = &peer,
                                           .msg_namelen = sizeof peer}}};
    CHECK(recvmmsg(fd, back, 2, 0, NULL) == 2 && back[0].msg_len == 2 && back[1].msg_len == 3);
    CHECK(back[1].msg_hdr.msg_flags == MSG_EOR && back[1].msg_hdr.msg_namelen == sizeof peer);
    CHECK(send(fd, "z", 1, 0) == 1);
    CHECK(recvmmsg(fd, back, 2, MSG_WAITFORONE, NULL) == 1);

    // One message of several pieces.
    static char longer[300000], there[300000];
    memset(longer, 'x', sizeof longer);
    longer[299999] = 'y';
    CHECK(write(fd, longer, sizeof longer) == sizeof longer);
    for (size_t done = 0; done < sizeof there;) {
        ssize_t came = read(fd, there + done, sizeof there - done);
        CHECK(came > 0);
        done += came;
    }
    CHECK(memcmp(longer, there, sizeof there) == 0);
}

static void faults(int fd) {
    char *nowhere = (char *)16;
    char place[10];
    FAILS(send(fd, nowhere, 10, 0), EFAULT);
    FAILS(sendmsg(fd, (struct msghdr *)nowhere, 0), EFAULT);
    FAILS(recvmsg(fd, (struct msghdr *)nowhere, 0), EFAULT);
    FAILS(bind(fd, (struct sockaddr *)nowhere, 16), EFAULT);
    FAILS(bind(fd, (struct sockaddr *)place, 129), EINVAL);
    FAILS(setsockopt(fd, IPPROTO_SCTP, 3, nowhere, 4), EFAULT);
    FAILS(getsockopt(fd, IPPROTO_SCTP, 3, place, (socklen_t *)nowhere), EFAULT);
    FAILS(getsockname(fd, (struct sockaddr *)place, (socklen_t *)nowhere), EFAULT);
    FAILS(shutdown(fd, 7), EINVAL);
    FAILS(send(fd, place, 0, 0), EINVAL);
    struct msghdr many = {.msg_iov = (struct iovec *)place, .msg_iovlen = 1025};
    FAILS(sendmsg(fd, &many, 0), EMSGSIZE);
    FAILS(accept(fd, NULL, NULL), EINVAL);
    // A stream that the association has not.
    char control[CMSG_SPACE(16)] = {0};
    struct iovec one = {"a", 1};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_level = IPPROTO_SCTP, .cmsg_type = 2, .cmsg_len = CMSG_LEN(16)};
    CMSG_DATA(header)[0] = 99;
    FAILS(sendmsg(fd, &message, 0), EINVAL);
    header->cmsg_len = CMSG_LEN(15);
    FAILS(sendmsg(fd, &message, 0), EINVAL);
    header->cmsg_len = CMSG_LEN(16);
    CMSG_DATA(header)[0] = 3;
    CHECK(sendmsg(fd, &message, 0) == 1);
    CHECK(read(fd, place, 10) == 1);
}

static void options(int fd) {
    int value = 7;
    socklen_t length = sizeof value;
    CHECK(getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &length) == 0 && value == 132 && length == 4);
    value = 1;
    CHECK(setsockopt(fd, IPPROTO_SCTP, 3, &value, sizeof value) == 0);
    value = 0;
    CHECK(getsockopt(fd, IPPROTO_SCTP, 3, &value, &length) == 0 && value == 1);
    int wider[2] = {0, 7};
    length = sizeof wider;
    CHECK(getsockopt(fd, IPPROTO_SCTP, 3, wider, &length) == 0 && length == 4 && wider[0] == 1 && wider[1] == 7);
    struct sockaddr_in name;
    length = 4;
    CHECK(getpeername(fd, (struct sockaddr *)&name, &length) == 0 && length == sizeof name);
    length = -1;
    FAILS(getpeername(fd, (struct sockaddr *)&name, &length), EINVAL);
}

static void waits(int fd) {
    char place[10];
    struct timeval limit = {.tv_usec = 50000};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    FAILS(read(fd, place, 10), EAGAIN);
    limit.tv_usec = 0;
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    FAILS(read(fd, place, 10), EAGAIN);
    CHECK(fcntl(fd, F_SETFL, 0) == 0);
    handle_alarm(0);
    ring(50);
    FAILS(read(fd, place, 10), EINTR);
    // A handler after which the call starts anew: what comes then is read.
    handle_alarm(SA_RESTART);
    int other = fork();
    if (other == 0) {
        usleep(200000);
        CHECK(send(fd, "late", 4, 0) == 4);
        exit(0);
    }
    ring(50);
    CHECK(read(fd, place, 10) == 4);
    CHECK(waitpid(other, NULL, 0) == other);
}

static void descriptors(int fd) {
    char place[10];
    int other = dup(fd);
    CHECK(other >= 0 && other != fd);
    CHECK(write(other, "one", 3) == 3 && read(fd, place, 10) == 3);
    CHECK(dup2(fd, other) == other && close(other) == 0);
    FAILS(write(other, "one", 3), EBADF);
    CHECK((other = fcntl(fd, F_DUPFD_CLOEXEC, 0)) > 0);
    CHECK(fcntl(other, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFD) == 0);
    CHECK(write(other, "two", 3) == 3 && read(fd, place, 10) == 3);
    FAILS(dup2(fd, 50), EBADF);
    // Another descriptor at a number of ours is its own.
    int pipes[2];
    CHECK(pipe(pipes) == 0);
    CHECK(dup2(pipes[1], other) == other);
    CHECK(write(other, "pipe", 4) == 4 && read(pipes[0], place, 10) == 4);
    CHECK(close(other) == 0);
    // Passed on to another process, and to a number of its own.
    FILE *file = tmpfile();
    CHECK(file && fwrite("from a file", 1, 11, file) == 11 && fflush(file) == 0);
    off_t offset = 5;
    CHECK(sendfile(fd, fileno(file), &offset, 100) == 6 && offset == 11);
    CHECK(read(fd, place, 10) == 6 && memcmp(place, "a file", 6) == 0);
    // A number that is closed, where Linux gives it to the next socket, is no reason to fail.
    int closed = dup(0);
    CHECK(closed >= 0 && closed < fd && close(closed) == 0);
    fd_set numbers;
    FD_ZERO(&numbers);
    FD_SET(closed, &numbers);
    FD_SET(fd, &numbers);
    CHECK(write(fd, "set", 3) == 3);
    CHECK(select(fd + 1, &numbers, NULL, NULL, NULL) == 1 && FD_ISSET(fd, &numbers) && !FD_ISSET(closed, &numbers));
    CHECK(read(fd, place, 10) == 3);
    // One of ours that is closed is.
    CHECK((other = dup(fd)) > fd && close(other) == 0);
    FD_ZERO(&numbers);
    FD_SET(other, &numbers);
    FAILS(select(other + 1, &numbers, NULL, NULL, NULL), EBADF);
    CHECK(syscall(SYS_close_range, fd + 100, ~0U, 0) == 0);
    CHECK(write(fd, "on", 2) == 2 && read(fd, place, 10) == 2);
}

int main(int count, char **words) {
    if (count > 1 && strcmp(words[1], "bench") == 0) {
        int total = atoi(words[2]), outstanding = atoi(words[3]);
        serve(listening(7000), 1);
        int fd = connected(7000);
        static char place[200];
        struct timeval begin, end;
        gettimeofday(&begin, NULL);
        for (int sent = 0, came = 0; came < total;) {
            for (; sent < total && sent - came < outstanding; sent++) CHECK(send(fd, place, 200, 0) == 200);
            CHECK(recv(fd, place, 200, 0) == 200);
            came++;
        }
        gettimeofday(&end, NULL);
        double seconds = end.tv_sec - begin.tv_sec + (end.tv_usec - begin.tv_usec) / 1e6;
        printf("%.0f a second\n", total / seconds);
        return 0;
    }
    if (count > 1 && strcmp(words[1], "reads") == 0) {
        int pipes[2], total = atoi(words[2]);
        CHECK(pipe(pipes) == 0);
        struct timeval begin, end;
        gettimeofday(&begin, NULL);
        char octet = 0;
        for (int done = 0; done < total; done++)
            CHECK(write(pipes[1], &octet, 1) == 1 && read(pipes[0], &octet, 1) == 1);
        gettimeofday(&end, NULL);
        double seconds = end.tv_sec - begin.tv_sec + (end.tv_usec - begin.tv_usec) / 1e6;
        printf("%.3f us a call\n", seconds / total / 2 * 1e6);
        return 0;
    }
    if (count > 1 && strcmp(words[1], "hang") == 0) {
        int listener = listening(7000);
        serve(listener, 1);
        int fd = connected(7000);
        CHECK(write(fd, "a", 1) == 1);
        puts("hangs");
        fflush(stdout);
        if (strcmp(words[2], "killed") == 0) raise(SIGKILL);
        char place[1];
        for (;;) accept(listener, NULL, NULL), read(fd, place, 1);
    }
    serve(listening(5000), 1);
    FAILS(socket(AF_INET, SOCK_STREAM | 0x100, IPPROTO_SCTP), EINVAL);
    int listener = listening(6000);
    CHECK(fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
    FAILS(accept(listener, NULL, NULL), EAGAIN);
    struct sockaddr_in nobody = at(1);
    int alone = bound(8000);
    FAILS(connect(alone, (struct sockaddr *)&nobody, sizeof nobody), ECONNREFUSED);
    FAILS(send(alone, "a", 1, MSG_NOSIGNAL), EPIPE);
    char nothing[1];
    FAILS(recv(alone, nothing, 1, 0), ENOTCONN);
    CHECK(close(alone) == 0);
    FAILS(close(alone), EBADF);
    int fd = connected(5000);
    messages(fd);
    faults(fd);
    options(fd);
    waits(fd);
    descriptors(fd);
    CHECK(shutdown(fd, SHUT_WR) == 0);
    CHECK(close(fd) == 0);
    int status = 0;
    CHECK(wait(&status) > 0 && status == 0);
    puts("passed");
    return 0;
}
