// A program that knows nothing of the library: each check is one that Linux's SCTP would pass, too.
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
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(claim)                                                                          \
    do {                                                                                      \
        if (!(claim)) {                                                                       \
            fprintf(stderr, "line %d: %s (errno %d: %s)\n", __LINE__, #claim, errno, strerror(errno)); \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)
#define FAILS(call, error) CHECK((errno = 0, (call) == -1 && errno == (error)))

static struct sockaddr_in to(int port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, "10.0.0.2", &name.sin_addr);
    return name;
}

static int connected(void) {
    struct sockaddr_in name = to(5001);
    int s = socket(AF_INET, SOCK_STREAM, 132);
    CHECK(s >= 0);
    CHECK(connect(s, (struct sockaddr *)&name, sizeof name) == 0);
    return s;
}

static void opening(void) {
    FAILS(socket(AF_INET, SOCK_DGRAM, 132), ESOCKTNOSUPPORT);
    int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 132);
    CHECK(fcntl(s, F_GETFL) & O_NONBLOCK && fcntl(s, F_GETFD) & FD_CLOEXEC);
    struct sockaddr_in name = to(5001);
    FAILS(connect(s, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    FAILS(connect(s, (struct sockaddr *)-1, sizeof name), EFAULT);
    FAILS(connect(s, (struct sockaddr *)&name, sizeof name - 1), EINVAL);
    name.sin_family = AF_UNIX;
    FAILS(connect(s, (struct sockaddr *)&name, sizeof name), EINVAL);
    name = to(1);
    FAILS(bind(s, (struct sockaddr *)&name, sizeof name), EACCES);
    FAILS(shutdown(s, 7), EINVAL);
    CHECK(close(s) == 0);
    FAILS(close(s), EBADF);
    FAILS(bind(s, (struct sockaddr *)&name, sizeof name), EBADF);
    s = socket(AF_INET6, SOCK_SEQPACKET, 0);
    CHECK(s >= 0 && !(fcntl(s, F_GETFD) & FD_CLOEXEC));
    int type;
    socklen_t len = sizeof type;
    CHECK(getsockopt(s, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET && len == 4);
    FAILS(accept(s, NULL, NULL), EOPNOTSUPP);
    char byte;
    FAILS(recv(s, &byte, 1, 0), ENOTCONN);
    close(s);
}

static void names(void) {
    int s = socket(AF_INET, SOCK_STREAM, 132);
    struct sockaddr_in name;
    socklen_t len = sizeof name;
    CHECK(getsockname(s, (struct sockaddr *)&name, &len) == 0 && len == 16 && ntohs(name.sin_port) == 5000);
    FAILS(getpeername(s, (struct sockaddr *)&name, &len), ENOTCONN);
    FAILS(getsockname(s, (struct sockaddr *)-1, &len), EFAULT);
    FAILS(getsockname(s, (struct sockaddr *)&name, (socklen_t *)-1), EFAULT);
    len = 2;
    CHECK(getsockname(s, (struct sockaddr *)&name, &len) == 0 && len == 16);
    len = -1;
    FAILS(getsockname(s, (struct sockaddr *)&name, &len), EINVAL);
    FAILS(accept(s, NULL, NULL), EINVAL);
    FAILS(send(s, "x", 1, MSG_NOSIGNAL), EPIPE);
    close(s);
}

static void data(void) {
    int s = connected();
    char bytes[100];
    CHECK(write(s, "hello", 5) == 5);
    CHECK(recv(s, bytes, 2, MSG_PEEK) == 2 && !memcmp(bytes, "he", 2));
    CHECK(read(s, bytes, 2) == 2 && !memcmp(bytes, "he", 2));
    int left;
    CHECK(ioctl(s, FIONREAD, &left) == 0 && left == 3);
    struct pollfd ready = {.fd = s, .events = POLLIN | POLLOUT};
    CHECK(poll(&ready, 1, 0) == 1 && ready.revents == (POLLIN | POLLOUT));
    CHECK(recv(s, bytes, sizeof bytes, 0) == 3 && !memcmp(bytes, "llo", 3));
    FAILS(recv(s, bytes, sizeof bytes, MSG_DONTWAIT), EAGAIN);
    struct iovec parts[] = {{"ab", 2}, {NULL, 0}, {"cd", 2}};
    CHECK(writev(s, parts, 3) == 4);
    struct iovec places[] = {{bytes, 1}, {bytes + 50, 50}};
    CHECK(readv(s, places, 2) == 4 && bytes[0] == 'a' && !memcmp(bytes + 50, "bcd", 3));
    FAILS(send(s, (void *)-1, 5, 0), EFAULT);
    FAILS(send(s, "", 0, 0), EINVAL);
    FAILS(send(s, "x", 1, MSG_OOB), EOPNOTSUPP);
    FAILS(readv(s, places, -1), EINVAL);
    FAILS(writev(s, (struct iovec *)-1, 1), EFAULT);
    CHECK(write(s, "x", 1) == 1);
    FAILS(read(s, (void *)-1, 5), EFAULT);
    struct sockaddr_in from;
    socklen_t len = sizeof from;
    CHECK(recvfrom(s, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &len) == 1 && len == 16);
    CHECK(ntohs(from.sin_port) == 5001);
    struct timeval moment = {0, 20000};
    CHECK(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment) == 0);
    FAILS(read(s, bytes, sizeof bytes), EAGAIN);
    // A message that is longer than a piece is one message.
    char *long_one = malloc(150000), *back = malloc(150000);
    for (int at = 0; at < 150000; at++) long_one[at] = at % 251;
    CHECK(send(s, long_one, 150000, 0) == 150000);
    ready.events = POLLIN;
    size_t got = 0;
    while (got < 150000) {
        CHECK(poll(&ready, 1, 5000) == 1);
        ssize_t came = recv(s, back + got, 150000 - got, 0);
        CHECK(came > 0);
        got += came;
    }
    CHECK(!memcmp(long_one, back, 150000));
    FAILS(send(s, long_one, 250000, 0), EMSGSIZE);
    int file = open("/proc/self/exe", O_RDONLY);
    off_t at = 1;
    CHECK(sendfile(s, file, &at, 3) == 3 && at == 4);
    CHECK(read(s, bytes, sizeof bytes) == 3 && !memcmp(bytes, "ELF", 3));
    CHECK(fdopen(s, "r") == NULL);
    CHECK(shutdown(s, SHUT_WR) == 0);
    CHECK(read(s, bytes, sizeof bytes) == 0);
    close(s);
}

struct sndrcv {
    unsigned short stream, ssn, flags;
    unsigned ppid, context, lifetime, tsn, cumtsn;
    int association;
};

static ssize_t send_with(int s, int kind, const void *info, size_t len, size_t told) {
    char control[CMSG_SPACE(64)] = {0};
    struct iovec part = {"hi", 2};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control};
    message.msg_controllen = CMSG_SPACE(len);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = 132;
    header->cmsg_type = kind;
    header->cmsg_len = CMSG_LEN(told);
    memcpy(CMSG_DATA(header), info, len);
    return sendmsg(s, &message, 0);
}

static void control(void) {
    int s = connected();
    struct sndrcv info = {.stream = 4, .flags = 1, .ppid = htonl(46), .context = 9};
    CHECK(send_with(s, 1, &info, sizeof info, sizeof info) == 2);
    FAILS(send_with(s, 1, &info, sizeof info, 20), EINVAL);
    FAILS(send_with(s, 1, &info, sizeof info, 4000), EINVAL);
    FAILS(send_with(s, 77, &info, sizeof info, sizeof info), EINVAL);
    info.flags = 0x8000;
    FAILS(send_with(s, 1, &info, sizeof info, sizeof info), EINVAL);
    info.flags = 0;
    info.stream = 10;
    FAILS(send_with(s, 1, &info, sizeof info, sizeof info), EINVAL);
    char events[14] = {1}, bytes[20], place[100];
    CHECK(setsockopt(s, 132, 11, events, sizeof events) == 0);
    int on = 1;
    CHECK(setsockopt(s, 132, 32, &on, sizeof on) == 0);
    FAILS(setsockopt(s, 132, 11, (void *)-1, 14), EFAULT);
    socklen_t len = 4;
    FAILS(getsockopt(s, 132, 999, &on, &len), ENOPROTOOPT);
    struct sockaddr_in from;
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {&from, sizeof from, &part, 1, place, sizeof place, 0};
    CHECK(recvmsg(s, &message, 0) == 2 && message.msg_flags == MSG_EOR && message.msg_namelen == 16);
    struct cmsghdr *first = CMSG_FIRSTHDR(&message), *second = CMSG_NXTHDR(&message, first);
    CHECK(first->cmsg_type == 3 && first->cmsg_len == CMSG_LEN(28));
    CHECK(second->cmsg_type == 1 && second->cmsg_len == CMSG_LEN(32) && !CMSG_NXTHDR(&message, second));
    struct sndrcv came;
    memcpy(&came, CMSG_DATA(second), sizeof came);
    CHECK(came.stream == 4 && came.ssn == 7 && came.flags == 1 && came.ppid == htonl(46) && came.context == 9);
    CHECK(came.tsn == 1000 && came.association == 1);
    CHECK(send(s, "notify", 6, 0) == 6);
    message.msg_controllen = 0;
    CHECK(recvmsg(s, &message, 0) == 4 && message.msg_flags == (MSG_EOR | 0x8000));
    CHECK(send(s, "abc", 3, 0) == 3);
    message.msg_controllen = 20;
    part.iov_len = 1;
    CHECK(recvmsg(s, &message, 0) == 1 && message.msg_flags == MSG_CTRUNC);
    FAILS(sendmsg(s, (struct msghdr *)-1, 0), EFAULT);
    FAILS(recvmsg(s, NULL, 0), EFAULT);
    struct mmsghdr several[2] = {{{0, 0, &part, 1}}, {{0, 0, &part, 1}}};
    CHECK(recvmmsg(s, several, 2, MSG_DONTWAIT, NULL) == 2 && several[0].msg_len == 1);
    CHECK(sendmmsg(s, several, 2, 0) == 2 && several[1].msg_len == 1);
    CHECK(read(s, bytes, 5) == 1 && read(s, bytes, 5) == 1);
    close(s);
}

static void sharing(void) {
    int s = connected(), status;
    char bytes[10];
    CHECK(write(s, "abcdef", 6) == 6);
    CHECK(read(s, bytes, 2) == 2);
    if (fork() == 0) {
        CHECK(read(s, bytes, 2) == 2 && !memcmp(bytes, "cd", 2));
        exit(0);
    }
    CHECK(wait(&status) > 0 && status == 0);
    CHECK(read(s, bytes, 9) == 2 && !memcmp(bytes, "ef", 2));
    int copy = dup(s), other = dup2(s, 100), third = fcntl(s, F_DUPFD_CLOEXEC, 50);
    CHECK(copy >= 0 && other == 100 && third >= 50);
    close(s);
    CHECK(write(copy, "x", 1) == 1 && read(third, bytes, 9) == 1 && write(third, "y", 1) == 1);
    // Passed on by a socket of another kind.
    int unix_pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_pair) == 0);
    char place[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {"!", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = place};
    message.msg_controllen = sizeof place;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &other, sizeof other);
    CHECK(sendmsg(unix_pair[0], &message, 0) == 1);
    part.iov_base = bytes;
    CHECK(recvmsg(unix_pair[1], &message, 0) == 1);
    int passed;
    memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof passed);
    CHECK(read(passed, bytes, 9) == 1 && bytes[0] == 'y');
    // A number that was an SCTP socket, and is a file's now.
    close(passed);
    int file = open("/dev/zero", O_RDONLY);
    CHECK(file == passed && read(file, bytes, 9) == 9);
    CHECK(dup2(file, other) == other && read(other, bytes, 9) == 9);
    // A child that shares the memory of its parent closes what is its own.
    CHECK(write(copy, "v", 1) == 1);
    pid_t child = vfork();
    if (child == 0) {
        close(copy);
        dup2(file, third);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(read(copy, bytes, 9) == 1 && bytes[0] == 'v');
    CHECK(write(third, "w", 1) == 1 && read(copy, bytes, 9) == 1 && bytes[0] == 'w');
    // The lowest number that is free.
    close(copy);
    int lowest = dup(file);
    close(lowest);
    CHECK(connected() == lowest);
}

static void accepting(void) {
    int s = socket(AF_INET, SOCK_STREAM, 132);
    struct sockaddr_in from;
    socklen_t len = sizeof from;
    CHECK(listen(s, 5) == 0);
    int a = accept4(s, (struct sockaddr *)&from, &len, SOCK_NONBLOCK);
    CHECK(a >= 0 && len == 16 && ntohs(from.sin_port) == 5001 && fcntl(a, F_GETFL) & O_NONBLOCK);
    char byte;
    FAILS(read(a, &byte, 1), EAGAIN);
    CHECK(fcntl(s, F_SETFL, O_NONBLOCK) == 0);
    FAILS(accept(s, NULL, NULL), EAGAIN);
    FAILS(read(s, &byte, 1), EAGAIN);
    struct { int association, descriptor; } peeled = {1, -1};
    len = sizeof peeled;
    CHECK(getsockopt(s, 132, 102, &peeled, &len) >= 0 && peeled.descriptor >= 0 && len == sizeof peeled);
    CHECK(write(peeled.descriptor, "z", 1) == 1 && read(peeled.descriptor, &byte, 1) == 1 && byte == 'z');
}

static void others(void) {
    int tcp = socket(AF_INET, SOCK_STREAM, 0), pair[2];
    CHECK(tcp >= 0);
    struct sockaddr_in name;
    socklen_t len = sizeof name;
    CHECK(getsockname(tcp, (struct sockaddr *)&name, &len) == 0 && name.sin_port == 0);
    CHECK(pipe(pair) == 0 && write(pair[1], "p", 1) == 1);
    char byte;
    CHECK(read(pair[0], &byte, 1) == 1 && byte == 'p');
    FILE *stream = fdopen(pair[0], "r");
    CHECK(stream != NULL && fclose(stream) == 0);
    FAILS(read(-1, &byte, 1), EBADF);
    FAILS(read(2000000, &byte, 1), EBADF);
}

int main(int count, char **words) {
    signal(SIGALRM, SIG_DFL);
    alarm(30);
    if (count > 1 && !strcmp(words[1], "killed")) {
        connected();
        raise(SIGKILL);
    }
    if (count > 1 && !strcmp(words[1], "left")) {
        connected();
        _exit(0);
    }
    others();
    opening();
    names();
    data();
    control();
    sharing();
    accepting();
    return 0;
}
