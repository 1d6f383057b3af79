/* usrsctp at one end of a measurement: sends messages of one length over one association or many, or reads them, and says
 * what that took. `load send|receive LOCAL PEER PORT ASSOCIATIONS MESSAGES LENGTH UDP-PORT` (0: in IP).
 * It looks at no byte and copies none, so that what it takes is usrsctp's. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <usrsctp.h>

enum { ASSOCIATIONS_MAX = 10000, FIRST_PORT = 20000, LONGEST = 65536 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t writable = PTHREAD_COND_INITIALIZER;
static bool is_writable;
static char bytes[LONGEST];

static void fail(const char *what)
{
	printf("{\"error\":\"%s: %s\"}\n", what, strerror(errno));
	exit(1);
}

static double seconds_of(struct timeval time)
{
	return time.tv_sec + time.tv_usec * 1e-6;
}

struct mark {
	double at, user, system;
};

static struct mark mark(void)
{
	struct timespec now;
	struct rusage usage;
	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &usage);
	return (struct mark){ now.tv_sec + now.tv_nsec * 1e-9, seconds_of(usage.ru_utime), seconds_of(usage.ru_stime) };
}

static void report(struct mark from, long messages)
{
	struct mark to = mark();
	printf("{\"messages\":%ld,\"seconds\":%.6f,\"user\":%.6f,\"system\":%.6f}\n", messages, to.at - from.at,
	       to.user - from.user, to.system - from.system);
	fflush(stdout);
}

static struct sockaddr_in address(const char *text, unsigned port)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(port) };
	if (inet_pton(AF_INET, text, &own.sin_addr) != 1)
		fail("an address");
	return own;
}

static void set_udp(struct socket *socket, unsigned port)
{
	struct sctp_udpencaps udp = { .sue_port = htons(port) };
	udp.sue_address.ss_family = AF_INET;
	if (port && usrsctp_setsockopt(socket, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &udp, sizeof udp) < 0)
		fail("UDP");
}

static ssize_t receive(struct socket *socket, int *flags)
{
	struct sctp_rcvinfo info;
	struct sockaddr_in from;
	socklen_t from_length = sizeof from, info_length = sizeof info;
	unsigned int info_type;
	return usrsctp_recvv(socket, bytes, sizeof bytes, (struct sockaddr *)&from, &from_length, &info, &info_length,
	                     &info_type, flags);
}

static void upcall(struct socket *socket, void *unused, int flags)
{
	(void)unused, (void)flags;
	if (usrsctp_get_events(socket) & SCTP_EVENT_WRITE) {
		pthread_mutex_lock(&lock);
		is_writable = true;
		pthread_cond_signal(&writable);
		pthread_mutex_unlock(&lock);
	}
}

static void do_send(const char *local, const char *peer, unsigned port, int associations, long messages, size_t length,
                    unsigned udp)
{
	static struct socket *sockets[ASSOCIATIONS_MAX];
	const int on = 1;
	for (int i = 0; i < associations; i++) {
		struct sockaddr_in own = address(local, FIRST_PORT + i), other = address(peer, port);
		sockets[i] = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
		if (!sockets[i] || usrsctp_bind(sockets[i], (struct sockaddr *)&own, sizeof own) < 0)
			fail("a socket");
		set_udp(sockets[i], udp);
		usrsctp_setsockopt(sockets[i], IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on);
		if (usrsctp_connect(sockets[i], (struct sockaddr *)&other, sizeof other) < 0)
			fail("connect");
		if (associations > 1) {
			usrsctp_set_non_blocking(sockets[i], 1);
			usrsctp_set_upcall(sockets[i], upcall, NULL);
		}
	}
	struct mark from = mark();
	struct sctp_sndinfo info = { .snd_sid = 0 };
	long sent = 0;
	while (sent < messages) {
		bool is_any = false;
		is_writable = false;
		for (int i = 0; i < associations && sent < messages; i++) {
			if (usrsctp_sendv(sockets[i], bytes, length, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) >=
			    0) {
				sent++;
				is_any = true;
			} else if (errno != EWOULDBLOCK)
				fail("send");
		}
		if (is_any)
			continue;
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		pthread_mutex_lock(&lock);
		while (!is_writable && pthread_cond_timedwait(&writable, &lock, &until) == 0)
			;
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < associations; i++) {
		usrsctp_set_non_blocking(sockets[i], 0);
		usrsctp_set_upcall(sockets[i], NULL, NULL);
		usrsctp_shutdown(sockets[i], SHUT_WR);
	}
	/* The peer's end of each is the end of this one. */
	for (int i = 0; i < associations; i++)
		while (receive(sockets[i], &(int){ 0 }) > 0)
			;
	report(from, messages);
	_exit(0);
}

static void do_receive(const char *local, unsigned port, long messages, unsigned udp)
{
	struct sockaddr_in own = address(local, port);
	struct socket *socket = usrsctp_socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	if (!socket || usrsctp_bind(socket, (struct sockaddr *)&own, sizeof own) < 0 || usrsctp_listen(socket, 1000) < 0)
		fail("a socket");
	set_udp(socket, udp);
	printf("{\"ready\":true}\n");
	fflush(stdout);
	struct mark from = mark();
	for (long read = 0; read < messages;) {
		/* What is before the first is none of it. */
		if (read == 0)
			from = mark();
		int flags = 0;
		if (receive(socket, &flags) <= 0)
			fail("receive");
		if (flags & MSG_EOR)
			read++;
	}
	report(from, messages);
	/* The shutdown of all associations is answered until whoever has started this ends it. */
	for (;;)
		pause();
}

int main(int count, char **words)
{
	if (count != 9)
		fail("eight words");
	unsigned port = atoi(words[4]), udp = atoi(words[8]);
	int associations = atoi(words[5]);
	long messages = atol(words[6]);
	size_t length = atol(words[7]);
	if (associations > ASSOCIATIONS_MAX || length > LONGEST)
		fail("too many");
	usrsctp_init(udp, NULL, NULL);
	if (strcmp(words[1], "send") == 0)
		do_send(words[2], words[3], port, associations, messages, length, udp);
	do_receive(words[2], port, messages, udp);
}
