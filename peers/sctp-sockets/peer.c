/* One end of an association for tests: sends messages by a pattern, reads as many and checks every byte, and says what
 * happens in a line of JSON each. README.md lists the options. */
#include "extensions.h"
#include "stack.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	LENGTHS_MAX = 16,
	/* A message begins with its number, 8 bytes, and as many that are its sender's. */
	HEAD = 16,
	LONGEST = 4 * 1024 * 1024,
	/* The filling of message n begins at byte n % SHIFTS of the pattern. */
	SHIFTS = 256,
	STREAMS_MAX = 65536,
};

static struct {
	union address local[ADDRESSES_MAX], peer[ADDRESSES_MAX];
	int locals, peers;
	uint16_t port, peer_port, udp_local, udp_remote;
	uint64_t send, expect;
	size_t lengths[LENGTHS_MAX];
	int length_count;
	uint16_t streams, later_streams;
	uint64_t hold_after;
	/* How many messages in a row are of one stream and one length. */
	uint64_t block;
	/* Where messages of streams with an odd number go first, if there is such a place. */
	union address directed_to[ADDRESSES_MAX];
	int directed;
	unsigned pause_ms, every_us;
	bool closes;
	unsigned rto_initial, rto_min, path_max_retrans, heartbeat_ms, path_mtu;
	int buffer, send_buffer;
} options = { .streams = 1, .buffer = 1024 * 1024, .hold_after = UINT64_MAX, .block = 1 };

static stack_socket endpoint;
static unsigned char filling[LONGEST + SHIFTS];

/* What the two threads share. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct {
	sctp_assoc_t association;
	/* How often the association has begun; 0: it is not up. */
	unsigned generation;
	/* Messages that the stack has taken, and that it has been handed: the peer may have ended the association by the
	 * time that the last call returns. */
	uint64_t sent, handed;
	/* Whether messages from `hold_after` on may go. */
	bool goes_on;
} shared;

/* What the reader has found. */
static struct {
	/* Of those that may be given up, and of the others. */
	uint64_t partial, messages;
	uint64_t bytes, wrong, disordered;
	uint64_t next[STREAMS_MAX];
} found;

static void fail(const char *what)
{
	printf("{\"event\":\"error\",\"what\":\"%s\",\"errno\":\"%s\"}\n", what, strerror(errno));
	exit(1);
}

static size_t length_of(uint64_t number)
{
	return options.lengths[number / options.block % options.length_count];
}

/* The stream of message `number`. */
static uint16_t stream_of(uint64_t number)
{
	return number / options.block % (number < options.hold_after ? options.streams : options.later_streams);
}

/* Message `number` as its sender writes it. */
static void write_message(uint64_t number, unsigned char *bytes)
{
	for (int i = 0; i < 8; i++)
		bytes[i] = number >> (56 - 8 * i);
	memset(bytes + 8, 0, HEAD - 8);
	memcpy(bytes + HEAD, filling + number % SHIFTS, length_of(number) - HEAD);
}

static void check_message(uint16_t stream, const unsigned char *bytes, size_t length)
{
	uint64_t number = 0;
	found.bytes += length;
	if (length < HEAD) {
		found.wrong++;
		return;
	}
	for (int i = 0; i < 8; i++)
		number = number << 8 | bytes[i];
	if (extensions_is_partial(number))
		found.partial++;
	else
		found.messages++;
	if (length != length_of(number) || stream != stream_of(number) ||
	    memcmp(bytes + HEAD, filling + number % SHIFTS, length - HEAD) != 0)
		found.wrong++;
	/* One that was given up leaves a gap. */
	if (number < found.next[stream])
		found.disordered++;
	found.next[stream] = number + 1;
}

static bool is_of(unsigned generation)
{
	pthread_mutex_lock(&lock);
	bool is_current = shared.generation == generation;
	pthread_mutex_unlock(&lock);
	return is_current;
}

/* How message `number` is sent. */
static struct sending sending_of(uint64_t number)
{
	struct sending sending = extensions_sending(number);
	if (options.directed && stream_of(number) % 2 == 1)
		sending.to = &options.directed_to[0];
	return sending;
}

/* A stream that is being reset takes no message until it has been, although the socket blocks. */
static bool send_one(sctp_assoc_t association, uint64_t number, const unsigned char *bytes, unsigned generation)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	while (stack_send(endpoint, association, stream_of(number), sending_of(number), bytes,
	                  length_of(number)) < 0) {
		if (errno != EAGAIN || !is_of(generation))
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void *send_all(void *unused)
{
	static unsigned char bytes[LONGEST];
	struct timespec due;
	unsigned generation = 0;
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&lock);
		while (shared.generation == generation)
			pthread_cond_wait(&changed, &lock);
		generation = shared.generation;
		sctp_assoc_t association = shared.association;
		shared.sent = 0;
		pthread_mutex_unlock(&lock);
		clock_gettime(CLOCK_MONOTONIC, &due);
		for (uint64_t number = 0; number < options.send; number++) {
			write_message(number, bytes);
			pthread_mutex_lock(&lock);
			while (number >= options.hold_after && !shared.goes_on && shared.generation == generation)
				pthread_cond_wait(&changed, &lock);
			shared.handed = number + 1;
			pthread_mutex_unlock(&lock);
			if (!send_one(association, number, bytes, generation)) {
				printf("{\"event\":\"send_error\",\"number\":%llu,\"errno\":\"%s\"}\n",
				       (unsigned long long)number, strerror(errno));
				break;
			}
			pthread_mutex_lock(&lock);
			bool is_current = shared.generation == generation;
			if (is_current)
				shared.sent++;
			pthread_mutex_unlock(&lock);
			if (!is_current)
				break;
			if (options.every_us) {
				due.tv_nsec += options.every_us * 1000L;
				due.tv_sec += due.tv_nsec / 1000000000;
				due.tv_nsec %= 1000000000;
				clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
			}
		}
		pthread_mutex_lock(&lock);
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* Closes once all is sent. */
static void *close_when_sent(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	while (shared.sent < options.send)
		pthread_cond_wait(&changed, &lock);
	sctp_assoc_t association = shared.association;
	pthread_mutex_unlock(&lock);
	if (stack_send(endpoint, association, 0, (struct sending){ .flags = SCTP_EOF }, NULL, 0) < 0)
		fail("shutdown");
	return NULL;
}

static void end(const char *how)
{
	pthread_mutex_lock(&lock);
	uint64_t sent = shared.handed;
	pthread_mutex_unlock(&lock);
	printf("{\"event\":\"end\",\"how\":\"%s\",\"sent\":%llu,\"received\":%llu,\"partial\":%llu,"
	       "\"bytes\":%llu,\"wrong\":%llu,\"disordered\":%llu}\n",
	       how, (unsigned long long)sent, (unsigned long long)found.messages, (unsigned long long)found.partial,
	       (unsigned long long)found.bytes, (unsigned long long)found.wrong, (unsigned long long)found.disordered);
	fflush(stdout);
	_exit(0);
}

static void begin(const char *how, const struct sctp_assoc_change *change)
{
	memset(&found, 0, sizeof found);
	printf("{\"event\":\"%s\",\"outbound\":%u,\"inbound\":%u}\n", how, change->sac_outbound_streams,
	       change->sac_inbound_streams);
	extensions_begun(endpoint, change->sac_assoc_id);
	pthread_mutex_lock(&lock);
	shared.association = change->sac_assoc_id;
	shared.generation++;
	shared.sent = shared.handed = 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (options.pause_ms)
		usleep(options.pause_ms * 1000);
}

static void tell_path(const struct sctp_paddr_change *change)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct sockaddr_storage storage = change->spc_aaddr;
	const union address *address = (const union address *)&storage;
	if (address->any.sa_family == AF_INET)
		inet_ntop(AF_INET, &address->v4.sin_addr, text, sizeof text);
	else
		inet_ntop(AF_INET6, &address->v6.sin6_addr, text, sizeof text);
	const char *state = change->spc_state == SCTP_ADDR_AVAILABLE     ? "available"
	                    : change->spc_state == SCTP_ADDR_UNREACHABLE ? "unreachable"
	                    : change->spc_state == SCTP_ADDR_CONFIRMED   ? "confirmed"
	                    : change->spc_state == SCTP_ADDR_ADDED       ? "added"
	                    : change->spc_state == SCTP_ADDR_REMOVED     ? "removed"
	                    : change->spc_state == SCTP_ADDR_MADE_PRIM   ? "primary"
	                                                                 : "changed";
	printf("{\"event\":\"path\",\"address\":\"%s\",\"state\":\"%s\"}\n", text, state);
}

static void notified(const void *bytes)
{
	const struct sctp_assoc_change *change = bytes;
	if (change->sac_type == SCTP_PEER_ADDR_CHANGE)
		tell_path(bytes);
	if (change->sac_type != SCTP_ASSOC_CHANGE) {
		extensions_notified(bytes);
		return;
	}
	switch (change->sac_state) {
	case SCTP_COMM_UP:
		begin("up", change);
		break;
	case SCTP_RESTART:
		begin("restart", change);
		break;
	case SCTP_SHUTDOWN_COMP:
		end("shutdown");
		break;
	case SCTP_COMM_LOST:
		end("lost");
		break;
	default:
		end("not up");
	}
}

static void read_all(void)
{
	static unsigned char bytes[LONGEST];
	size_t length = 0;
	for (;;) {
		struct received received;
		ssize_t read = stack_receive(endpoint, bytes + length, sizeof bytes - length, &received);
		if (read < 0 && errno == EINTR)
			continue;
		if (read <= 0)
			fail("receive");
		if (received.is_notification) {
			/* It stands between messages, not in them. */
			notified(bytes + length);
			continue;
		}
		length += read;
		if (!received.is_end)
			continue;
		uint64_t before = found.messages;
		check_message(received.stream, bytes, length);
		length = 0;
		if (found.messages == options.expect && before < options.expect) {
			printf("{\"event\":\"received\",\"messages\":%llu,\"wrong\":%llu,\"disordered\":%llu}\n",
			       (unsigned long long)found.messages, (unsigned long long)found.wrong,
			       (unsigned long long)found.disordered);
			pthread_t thread;
			if (options.closes && pthread_create(&thread, NULL, close_when_sent, NULL) != 0)
				fail("a thread");
		}
	}
}

static void add_address(union address *addresses, int *count, const char *text)
{
	if (*count == ADDRESSES_MAX)
		fail("too many addresses");
	union address *address = &addresses[(*count)++];
	memset(address, 0, sizeof *address);
	if (inet_pton(AF_INET, text, &address->v4.sin_addr) == 1)
		address->v4.sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &address->v6.sin6_addr) == 1)
		address->v6.sin6_family = AF_INET6;
	else
		fail("an address");
}

static void read_options(int count, char **words)
{
	for (int i = 1; i < count; i++) {
		const char *word = words[i];
		if (strcmp(word, "--close") == 0) {
			options.closes = true;
			continue;
		}
		const char *value = i + 1 < count ? words[++i] : "";
		unsigned long long number = strtoull(value, NULL, 10);
		if (strcmp(word, "--local") == 0)
			add_address(options.local, &options.locals, value);
		else if (strcmp(word, "--peer") == 0)
			add_address(options.peer, &options.peers, value);
		else if (strcmp(word, "--port") == 0)
			options.port = number;
		else if (strcmp(word, "--peer-port") == 0)
			options.peer_port = number;
		else if (strcmp(word, "--udp-local") == 0)
			options.udp_local = number;
		else if (strcmp(word, "--udp-remote") == 0)
			options.udp_remote = number;
		else if (strcmp(word, "--send") == 0)
			options.send = number;
		else if (strcmp(word, "--expect") == 0)
			options.expect = number;
		else if (strcmp(word, "--length") == 0 && options.length_count < LENGTHS_MAX && number >= HEAD &&
		         number <= LONGEST)
			options.lengths[options.length_count++] = number;
		else if (strcmp(word, "--streams") == 0)
			options.streams = number;
		else if (strcmp(word, "--pause-ms") == 0)
			options.pause_ms = number;
		else if (strcmp(word, "--every-us") == 0)
			options.every_us = number;
		else if (strcmp(word, "--rto-initial-ms") == 0)
			options.rto_initial = number;
		else if (strcmp(word, "--rto-min-ms") == 0)
			options.rto_min = number;
		else if (strcmp(word, "--path-max-retrans") == 0)
			options.path_max_retrans = number;
		else if (strcmp(word, "--heartbeat-ms") == 0)
			options.heartbeat_ms = number;
		else if (strcmp(word, "--path-mtu") == 0)
			options.path_mtu = number;
		else if (strcmp(word, "--buffer") == 0)
			options.buffer = number;
		else if (strcmp(word, "--send-buffer") == 0)
			options.send_buffer = number;
		else if (strcmp(word, "--hold-after") == 0)
			options.hold_after = number;
		else if (strcmp(word, "--later-streams") == 0)
			options.later_streams = number;
		else if (strcmp(word, "--block") == 0 && number > 0)
			options.block = number;
		else if (strcmp(word, "--direct-to") == 0)
			add_address(options.directed_to, &options.directed, value);
		else if (!extensions_option(word, value))
			fail("an option");
	}
	if (options.length_count == 0)
		options.lengths[options.length_count++] = 1000;
	if (options.send_buffer == 0)
		options.send_buffer = options.buffer;
	if (options.later_streams == 0)
		options.later_streams = options.streams;
	for (int i = 0; i < ADDRESSES_MAX; i++) {
		/* The port lies at the same place for both families. */
		options.local[i].v4.sin_port = htons(options.port);
		options.peer[i].v4.sin_port = htons(options.peer_port);
		options.directed_to[i].v4.sin_port = htons(options.peer_port);
	}
}

static void set(int level, int name, const void *value, socklen_t length, const char *what)
{
	if (stack_set(endpoint, level, name, value, length) < 0)
		fail(what);
}

static void subscribe(uint16_t event)
{
	struct sctp_event subscription = { .se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = event, .se_on = 1 };
	set(IPPROTO_SCTP, SCTP_EVENT, &subscription, sizeof subscription, "an event");
}

static void set_options(void)
{
	const int on = 1;
	struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	set(SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once, "SO_LINGER");
	set(SOL_SOCKET, SO_SNDBUF, &options.send_buffer, sizeof options.send_buffer, "SO_SNDBUF");
	set(SOL_SOCKET, SO_RCVBUF, &options.buffer, sizeof options.buffer, "SO_RCVBUF");
	set(IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on, "SCTP_NODELAY");
	set(IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on, "SCTP_RECVRCVINFO");
	subscribe(SCTP_ASSOC_CHANGE);
	subscribe(SCTP_PEER_ADDR_CHANGE);
	extensions_set(endpoint);
	struct sctp_initmsg init = { .sinit_num_ostreams = options.streams, .sinit_max_instreams = options.streams };
	if (options.later_streams > options.streams)
		init.sinit_max_instreams = options.later_streams;
	set(IPPROTO_SCTP, SCTP_INITMSG, &init, sizeof init, "SCTP_INITMSG");
	if (options.rto_initial) {
		struct sctp_rtoinfo rto = { .srto_initial = options.rto_initial, .srto_min = options.rto_min,
			                    .srto_max = 60000 };
		set(IPPROTO_SCTP, SCTP_RTOINFO, &rto, sizeof rto, "SCTP_RTOINFO");
	}
	if (options.path_max_retrans || options.heartbeat_ms || options.path_mtu) {
		struct sctp_paddrparams path = { .spp_pathmaxrxt = options.path_max_retrans,
			                         .spp_hbinterval = options.heartbeat_ms,
			                         .spp_pathmtu = options.path_mtu };
		path.spp_flags = (options.heartbeat_ms ? SPP_HB_ENABLE : 0) | (options.path_mtu ? SPP_PMTUD_DISABLE : 0);
#ifdef USRSCTP
		/* Any address of this family stands for none. */
		path.spp_address.ss_family = AF_INET;
#endif
		set(IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path, "SCTP_PEER_ADDR_PARAMS");
	}
	if (options.udp_remote) {
#ifdef USRSCTP
		struct sctp_udpencaps udp = { .sue_port = htons(options.udp_remote) };
		udp.sue_address.ss_family = AF_INET;
		set(IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &udp, sizeof udp, "SCTP_REMOTE_UDP_ENCAPS_PORT");
#else
		fail("--udp-remote is a setting of the kernel, net.sctp.encap_port");
#endif
	}
}

/* Does what lines on the standard input ask for. */
static void *obey(void *unused)
{
	char line[512];
	(void)unused;
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		pthread_mutex_lock(&lock);
		sctp_assoc_t association = shared.association;
		bool is_go = strcmp(line, "go") == 0;
		if (is_go)
			shared.goes_on = true;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		if (!is_go && !extensions_command(endpoint, association, line))
			fail("a command");
	}
	return NULL;
}

int main(int count, char **words)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	read_options(count, words);
	uint32_t state = 1;
	for (size_t i = 0; i < sizeof filling; i++) {
		state = state * 1664525 + 1013904223;
		filling[i] = state >> 24;
	}
	stack_start(options.udp_local);
	int family = AF_INET;
	for (int i = 0; i < options.locals; i++)
		if (options.local[i].any.sa_family == AF_INET6)
			family = AF_INET6;
	endpoint = stack_open(family);
	if (!stack_is_open(endpoint))
		fail("a socket");
	set_options();
	if (stack_bind(endpoint, options.local, options.locals) < 0)
		fail("bind");
	pthread_t thread;
	if (pthread_create(&thread, NULL, send_all, NULL) != 0 || pthread_create(&thread, NULL, obey, NULL) != 0)
		fail("a thread");
	/* Who calls listens, too: both may call at once. */
	if (stack_listen(endpoint) < 0)
		fail("listen");
	printf("{\"event\":\"ready\"}\n");
	if (options.peers && stack_connect(endpoint, options.peer, options.peers) < 0 && errno != EINPROGRESS)
		fail("connect");
	read_all();
}
