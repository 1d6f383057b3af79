/* A program of sockets at both ends of a measurement: requests and their answers between two processes, or calls on
 * other sockets. It is built static for the one door, and as usual for the other.
 *
 * `exchanges sctp|udp ADDRESS PORT OUTSTANDING COUNT LENGTH` prints exchanges a second.
 * `exchanges calls COUNT` prints nanoseconds a call, the least of several rounds. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SCTP = 132, LONGEST = 65536, ROUNDS = 7 };

static char bytes[LONGEST];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static struct sockaddr_in at(const char *address, int port)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = htons(port) };
	if (inet_pton(AF_INET, address, &name.sin_addr) != 1)
		fail("an address");
	return name;
}

static int is_sctp;

static int opened(void)
{
	int fd = is_sctp ? socket(AF_INET, SOCK_STREAM, SCTP) : socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		fail("socket");
	return fd;
}

/* Answers each request by its own bytes. */
static void serve(int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is_sctp && (fd = accept(fd, NULL, NULL)) < 0)
		fail("accept");
	for (;;) {
		struct sockaddr_in from;
		socklen_t length = sizeof from;
		ssize_t came = is_sctp ? recv(fd, bytes, sizeof bytes, 0)
		                       : recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &length);
		if (came <= 0)
			exit(came < 0);
		ssize_t sent = is_sctp ? send(fd, bytes, came, 0)
		                       : sendto(fd, bytes, came, 0, (struct sockaddr *)&from, length);
		if (sent != came)
			fail("an answer");
	}
}

static void exchange(const char *address, int port, long outstanding, long count, long length)
{
	struct sockaddr_in server = at(address, port);
	int listener = opened();
	if (bind(listener, (struct sockaddr *)&server, sizeof server) < 0 || (is_sctp && listen(listener, 5) < 0))
		fail("bind");
	pid_t child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0)
		serve(listener);
	close(listener);
	int fd = opened();
	/* SCTP_NODELAY, as whoever waits for an answer sets it. */
	if (is_sctp && setsockopt(fd, SCTP, 3, &(int){ 1 }, sizeof(int)) < 0)
		fail("SCTP_NODELAY");
	if (connect(fd, (struct sockaddr *)&server, sizeof server) < 0)
		fail("connect");
	long sent = 0;
	double from = 0;
	/* A tenth is before the mark. */
	long before = count / 10;
	for (long answered = 0; answered < before + count; answered++) {
		if (answered == before)
			from = now();
		while (sent < before + count && sent - answered < outstanding) {
			if (send(fd, bytes, length, 0) != length)
				fail("a request");
			sent++;
		}
		if (recv(fd, bytes, sizeof bytes, 0) != length)
			fail("an answer");
	}
	printf("%.1f\n", count / (now() - from));
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	close(fd);
}

/* A call that finds nothing, on a socket that is none of SCTP's. */
static void calls(long count)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	double least = 1e9;
	for (int round = 0; round < ROUNDS; round++) {
		double from = now();
		for (long call = 0; call < count; call++)
			if (recv(fd, bytes, 16, MSG_DONTWAIT) >= 0)
				fail("what nobody has sent");
		double each = (now() - from) / count * 1e9;
		least = each < least ? each : least;
	}
	printf("%.1f\n", least);
}

int main(int count, char **words)
{
	if (count == 3 && strcmp(words[1], "calls") == 0) {
		calls(atol(words[2]));
		return 0;
	}
	if (count != 7)
		return 2;
	is_sctp = strcmp(words[1], "sctp") == 0;
	exchange(words[2], atoi(words[3]), atol(words[4]), atol(words[5]), atol(words[6]));
	return 0;
}
