// Calls of RFC 6458 that few programs make, each checked against what Linux gives: how an association begins with a
// message, addresses that are added, associations that are peeled off, sockets that share a port, queues that are full,
// ends by a message, and threads that are cancelled.
//
//     calls ADDRESS OTHER PORT        two addresses of this machine, and a port
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sctp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHECK(truth)                                                                          \
    do {                                                                                      \
        if (!(truth)) {                                                                       \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #truth, strerror(errno));          \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)
#define FAILS(call, number) CHECK((call) == -1 && errno == (number))

static const char *addresses[2];
static int first_port;

static struct sockaddr_in at(int which, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    CHECK(inet_pton(AF_INET, addresses[which], &address.sin_addr) == 1);
    return address;
}

static int opened(int kind) {
    int fd = socket(AF_INET, kind, IPPROTO_SCTP);
    CHECK(fd >= 0);
    struct timeval limit = {.tv_sec = 10};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    return fd;
}

static int bound(int kind, int which, int port) {
    int fd = opened(kind);
    struct sockaddr_in own = at(which, port);
    CHECK(bind(fd, (struct sockaddr *)&own, sizeof own) == 0);
    return fd;
}

static int listening(int kind, int which, int port) {
    int fd = bound(kind, which, port);
    CHECK(listen(fd, 5) == 0);
    return fd;
}

static void wants(int fd, int association_changes) {
    struct sctp_event_subscribe events = {.sctp_data_io_event = 1, .sctp_association_event = association_changes};
    CHECK(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &events, sizeof events) == 0);
}

// A message with what is told of it.
static int received(int fd, char *place, int room, struct sctp_sndrcvinfo *info, struct sockaddr_in *peer) {
    char control[CMSG_SPACE(sizeof *info)];
    struct iovec one = {place, room};
    struct msghdr message = {.msg_name = peer, .msg_namelen = sizeof *peer, .msg_iov = &one, .msg_iovlen = 1,
                             .msg_control = control, .msg_controllen = sizeof control};
    int length = recvmsg(fd, &message, 0);
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); length >= 0 && header; header = CMSG_NXTHDR(&message, header))
        if (header->cmsg_level == IPPROTO_SCTP && header->cmsg_type == SCTP_SNDRCV)
            memcpy(info, CMSG_DATA(header), sizeof *info);
    return length;
}

// Sends with one or two control messages.
static int sent(int fd, struct sockaddr_in *peer, const char *text, int *kinds, void **values, int *lengths) {
    char control[256] = {0};
    struct iovec one = {(void *)text, strlen(text)};
    struct msghdr message = {.msg_name = peer, .msg_namelen = peer ? sizeof *peer : 0, .msg_iov = &one, .msg_iovlen = 1,
                             .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int used = 0;
    for (int number = 0; number < 2 && values[number]; number++) {
        header->cmsg_level = IPPROTO_SCTP;
        header->cmsg_type = kinds[number];
        header->cmsg_len = CMSG_LEN(lengths[number]);
        memcpy(CMSG_DATA(header), values[number], lengths[number]);
        used += CMSG_SPACE(lengths[number]);
        header = (struct cmsghdr *)(control + used);
    }
    message.msg_controllen = used;
    return sendmsg(fd, &message, 0);
}

static void streams_of_a_message_that_begins(int port) {
    int server = listening(SOCK_SEQPACKET, 0, port);
    wants(server, 0);
    int client = opened(SOCK_SEQPACKET);
    wants(client, 1);
    struct sctp_initmsg init = {.sinit_num_ostreams = 3, .sinit_max_instreams = 4};
    struct sctp_sndrcvinfo options = {.sinfo_stream = 2, .sinfo_ppid = htonl(7)};
    struct sockaddr_in peer = at(0, port), source;
    int kinds[2] = {SCTP_INIT, SCTP_SNDRCV}, lengths[2] = {sizeof init, sizeof options};
    void *values[2] = {&init, &options};
    CHECK(sent(client, &peer, "first", kinds, values, lengths) == 5);
    char place[1000];
    struct sctp_sndrcvinfo told = {0};
    CHECK(received(server, place, sizeof place, &told, &source) == 5);
    CHECK(told.sinfo_stream == 2 && told.sinfo_ppid == htonl(7));
    // The association has as many streams as the message has said, and the socket's own wish stays.
    union sctp_notification news;
    CHECK(received(client, (char *)&news, sizeof news, &told, &source) > 0);
    CHECK(news.sn_header.sn_type == SCTP_ASSOC_CHANGE && news.sn_assoc_change.sac_state == SCTP_COMM_UP);
    CHECK(news.sn_assoc_change.sac_outbound_streams == 3 && news.sn_assoc_change.sac_inbound_streams == 4);
    struct sctp_initmsg own;
    socklen_t length = sizeof own;
    CHECK(getsockopt(client, IPPROTO_SCTP, SCTP_INITMSG, &own, &length) == 0 && own.sinit_num_ostreams != 3);
    close(client);
    close(server);
}

// By default a message has what the socket says, and a policy beside it changes that alone.
static void a_policy_beside_the_defaults(int port) {
    int server = listening(SOCK_SEQPACKET, 0, port);
    wants(server, 0);
    int client = opened(SOCK_STREAM);
    struct sockaddr_in peer = at(0, port), source;
    CHECK(connect(client, (struct sockaddr *)&peer, sizeof peer) == 0);
    struct sctp_sndinfo defaults = {.snd_sid = 4, .snd_ppid = htonl(9)};
    CHECK(setsockopt(client, IPPROTO_SCTP, SCTP_DEFAULT_SNDINFO, &defaults, sizeof defaults) == 0);
    struct sctp_prinfo policy = {.pr_policy = SCTP_PR_SCTP_TTL, .pr_value = 60000};
    int kinds[2] = {SCTP_PRINFO}, lengths[2] = {sizeof policy};
    CHECK(sent(client, NULL, "limited", kinds, (void *[2]){&policy, NULL}, lengths) == 7);
    char place[100];
    struct sctp_sndrcvinfo told = {0};
    CHECK(received(server, place, sizeof place, &told, &source) == 7);
    CHECK(told.sinfo_stream == 4 && told.sinfo_ppid == htonl(9));
    close(client);
    close(server);
}

static void several_addresses_of_a_peer(int port) {
    int server = listening(SOCK_SEQPACKET, 0, port);
    struct sockaddr_in other = at(1, port), peers[2] = {at(0, port), at(1, port)};
    CHECK(setsockopt(server, IPPROTO_SCTP, SCTP_SOCKOPT_BINDX_ADD, &other, sizeof other) == 0);
    wants(server, 0);
    // By a message that begins one.
    int client = opened(SOCK_SEQPACKET);
    int kinds[2] = {SCTP_DSTADDRV4}, lengths[2] = {sizeof other.sin_addr};
    CHECK(sent(client, &peers[0], "both", kinds, (void *[2]){&other.sin_addr, NULL}, lengths) == 4);
    char place[100];
    struct sctp_sndrcvinfo told = {0};
    struct sockaddr_in source;
    CHECK(received(server, place, sizeof place, &told, &source) == 4);
    close(client);
    // By one call, which gives the number of the association.
    client = opened(SOCK_SEQPACKET);
    struct sctp_getaddrs_old three = {.addr_num = sizeof peers, .addrs = (struct sockaddr *)peers};
    socklen_t length = sizeof three;
    CHECK(getsockopt(client, IPPROTO_SCTP, SCTP_SOCKOPT_CONNECTX3, &three, &length) == 0);
    CHECK(three.assoc_id != 0);
    struct {
        struct sctp_getaddrs head;
        char rest[500];
    } all = {.head = {.assoc_id = three.assoc_id}};
    length = sizeof all;
    CHECK(getsockopt(client, IPPROTO_SCTP, SCTP_GET_PEER_ADDRS, &all, &length) == 0 && all.head.addr_num == 2);
    // Peeled off, it is a socket of its own; the first one has it no more.
    sctp_peeloff_arg_t peel = {.associd = three.assoc_id};
    length = sizeof peel;
    int peeled = getsockopt(client, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF, &peel, &length);
    CHECK(peeled >= 0 && peeled == peel.sd && peeled != client);
    CHECK(send(peeled, "peeled", 6, 0) == 6);
    CHECK(received(server, place, sizeof place, &told, &source) == 6);
    CHECK(sendto(server, "back", 4, 0, (struct sockaddr *)&source, sizeof source) == 4);
    CHECK(recv(peeled, place, sizeof place, 0) == 4 && memcmp(place, "back", 4) == 0);
    FAILS(getsockopt(client, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF, &peel, &length), EINVAL);
    close(peeled);
    close(client);
    close(server);
}

static void one_port_at_several_addresses(int port) {
    int one = listening(SOCK_STREAM, 0, port), other = listening(SOCK_STREAM, 1, port);
    int third = opened(SOCK_STREAM);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
    FAILS(bind(third, (struct sockaddr *)&any, sizeof any), EADDRINUSE);
    for (int which = 0; which < 2; which++) {
        int client = opened(SOCK_STREAM);
        struct sockaddr_in peer = at(which, port), own;
        CHECK(connect(client, (struct sockaddr *)&peer, sizeof peer) == 0);
        struct pollfd ready[2] = {{.fd = one, .events = POLLIN}, {.fd = other, .events = POLLIN}};
        CHECK(poll(ready, 2, 5000) == 1 && ready[which].revents == POLLIN);
        int accepted = accept(which ? other : one, NULL, NULL);
        CHECK(accepted >= 0);
        socklen_t length = sizeof own;
        CHECK(getsockname(accepted, (struct sockaddr *)&own, &length) == 0);
        CHECK(own.sin_addr.s_addr == peer.sin_addr.s_addr && own.sin_port == peer.sin_port);
        CHECK(send(client, "here", 4, 0) == 4);
        char place[10];
        CHECK(recv(accepted, place, sizeof place, 0) == 4);
        close(client);
        close(accepted);
    }
    // At an address that the port has not, nobody is.
    close(other);
    int client = opened(SOCK_STREAM);
    struct sockaddr_in peer = at(1, port);
    FAILS(connect(client, (struct sockaddr *)&peer, sizeof peer), ECONNREFUSED);
    close(client);
    close(third);
    close(one);
}

static void a_queue_that_is_full(int port) {
    int listener = bound(SOCK_STREAM, 0, port), clients[3];
    CHECK(listen(listener, 1) == 0);
    struct sockaddr_in peer = at(0, port);
    // One more than was asked for.
    for (int i = 0; i < 3; i++) {
        clients[i] = opened(SOCK_STREAM);
        if (i < 2)
            CHECK(connect(clients[i], (struct sockaddr *)&peer, sizeof peer) == 0);
        else
            FAILS(connect(clients[i], (struct sockaddr *)&peer, sizeof peer), ECONNREFUSED);
    }
    int accepted = accept(listener, NULL, NULL);
    CHECK(accepted >= 0);
    int late = opened(SOCK_STREAM);
    CHECK(connect(late, (struct sockaddr *)&peer, sizeof peer) == 0);
    for (int i = 0; i < 3; i++) close(clients[i]);
    close(late);
    close(accepted);
    close(listener);
}

// A message without a byte, on an association.
static int flagged(int fd, int flags, int association) {
    struct sctp_sndinfo info = {.snd_flags = flags, .snd_assoc_id = association};
    char control[CMSG_SPACE(sizeof info)] = {0};
    struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = IPPROTO_SCTP;
    header->cmsg_type = SCTP_SNDINFO;
    header->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(header), &info, sizeof info);
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

static void an_end_by_a_message(int port) {
    int listener = listening(SOCK_STREAM, 0, port), client = opened(SOCK_STREAM);
    struct sockaddr_in peer = at(0, port);
    CHECK(connect(client, (struct sockaddr *)&peer, sizeof peer) == 0);
    FAILS(flagged(client, SCTP_EOF, 0), EINVAL);
    FAILS(flagged(client, SCTP_ABORT, 0), EINVAL);
    int accepted = accept(listener, NULL, NULL);
    CHECK(accepted >= 0 && send(client, "still", 5, 0) == 5);
    char place[10];
    CHECK(recv(accepted, place, sizeof place, 0) == 5);
    close(client);
    close(accepted);
    close(listener);
    // Of many associations, one ends so, and is no more at once.
    int server = listening(SOCK_SEQPACKET, 0, port), many = opened(SOCK_SEQPACKET);
    wants(server, 1);
    CHECK(sendto(many, "begins", 6, 0, (struct sockaddr *)&peer, sizeof peer) == 6);
    struct sctp_sndrcvinfo told;
    struct sockaddr_in source = {0};
    union { struct sctp_assoc_change change; char bytes[200]; } came;
    CHECK(received(server, came.bytes, sizeof came, &told, &source) == sizeof came.change);
    CHECK(came.change.sac_state == SCTP_COMM_UP && source.sin_addr.s_addr == peer.sin_addr.s_addr);
    int association = came.change.sac_assoc_id;
    CHECK(received(server, came.bytes, sizeof came, &told, &source) == 6);
    FAILS(flagged(server, SCTP_EOF, association + 50), EPIPE);
    CHECK(flagged(server, SCTP_EOF, association) == 0);
    struct sctp_status status = {.sstat_assoc_id = association};
    socklen_t length = sizeof status;
    FAILS(getsockopt(server, IPPROTO_SCTP, SCTP_STATUS, &status, &length), EINVAL);
    close(many);
    close(server);
}

struct waiting {
    int fd;
    _Atomic int thread;
};

static void *receives(void *words) {
    struct waiting *own = words;
    own->thread = gettid();
    char byte;
    while (read(own->fd, &byte, 1) > 0) {}
    return NULL;
}

static void *accepts(void *words) {
    struct waiting *own = words;
    own->thread = gettid();
    accept(own->fd, NULL, NULL);
    return NULL;
}

// True once a thread waits in a call.
static int is_asleep(int thread) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = thread ? fopen(path, "r") : NULL;
    if (!file) return 0;
    CHECK(fscanf(file, "%*d %*s %c", &state) == 1);
    fclose(file);
    return state == 'S' || state == 'D';
}

static void cancelled(int fd, void *(*waits)(void *), int lets_it_wait) {
    struct waiting own = {.fd = fd};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, waits, &own) == 0);
    while (lets_it_wait && !is_asleep(own.thread)) sched_yield();
    CHECK(pthread_cancel(thread) == 0);
    void *end;
    CHECK(pthread_join(thread, &end) == 0);
    CHECK(end == PTHREAD_CANCELED);
}

static void threads_that_are_cancelled(int port) {
    int listener = listening(SOCK_STREAM, 0, port), client = opened(SOCK_STREAM), ends[2];
    struct sockaddr_in peer = at(0, port);
    for (int lets_it_wait = 0; lets_it_wait < 2; lets_it_wait++) {
        cancelled(listener, accepts, lets_it_wait);
        CHECK(pipe(ends) == 0);
        cancelled(ends[0], receives, lets_it_wait);
    }
    CHECK(connect(client, (struct sockaddr *)&peer, sizeof peer) == 0);
    int accepted = accept(listener, NULL, NULL);
    CHECK(accepted >= 0);
    for (int lets_it_wait = 0; lets_it_wait < 2; lets_it_wait++) cancelled(accepted, receives, lets_it_wait);
    // Nothing is held by a thread that is no more.
    CHECK(send(client, "still", 5, 0) == 5);
    char place[10];
    CHECK(recv(accepted, place, sizeof place, 0) == 5);
    close(client);
    close(accepted);
    close(listener);
}

int main(int count, char **words) {
    if (count != 4) return 2;
    addresses[0] = words[1];
    addresses[1] = words[2];
    first_port = atoi(words[3]);
    streams_of_a_message_that_begins(first_port);
    a_policy_beside_the_defaults(first_port + 1);
    several_addresses_of_a_peer(first_port + 2);
    one_port_at_several_addresses(first_port + 3);
    a_queue_that_is_full(first_port + 4);
    an_end_by_a_message(first_port + 5);
    threads_that_are_cancelled(first_port + 6);
    puts("whole: calls as Linux has them");
    return 0;
}
