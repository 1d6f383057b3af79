/* The extensions of SCTP by its sockets (RFC 6458, 6525, 7496, 8260). What the two stacks call differently is told apart
 * here. */
#include "extensions.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef USRSCTP
/* usrsctp knows these, but its header does not. */
#ifndef SCTP_INTERLEAVING_SUPPORTED
#define SCTP_INTERLEAVING_SUPPORTED 0x00001206
#endif
#ifndef SCTP_CMT_ON_OFF
#define SCTP_CMT_ON_OFF 0x00001200
#endif
#define SCHEDULER SCTP_PLUGGABLE_SS
#define STREAM_VALUE SCTP_SS_VALUE
#define BY_PRIORITY SCTP_PR_SCTP_BUF
#define FAILED_FLAGS ssfe_flags
#else
#define SCHEDULER SCTP_STREAM_SCHEDULER
#define STREAM_VALUE SCTP_STREAM_SCHEDULER_VALUE
#define BY_PRIORITY SCTP_PR_SCTP_PRIO
#define FAILED_FLAGS ssf_flags
#endif

enum { KEYS_MAX = 4, KEY_MAX = 64, CHUNKS_MAX = 8, STREAMS_LISTED_MAX = 64, VALUES_MAX = 8 };

/* What decides which stream is served next, by the name that scenarios have for it. */
static const struct {
	const char *name;
	uint32_t number;
} schedulers[] = {
#ifdef USRSCTP
	{ "first-come-first-served", SCTP_SS_FIRST_COME },
	{ "round-robin", SCTP_SS_ROUND_ROBIN },
	{ "round-robin-per-packet", SCTP_SS_ROUND_ROBIN_PACKET },
	{ "priority", SCTP_SS_PRIORITY },
	{ "fair-capacity", SCTP_SS_FAIR_BANDWITH },
#else
	{ "first-come-first-served", SCTP_SS_FCFS },
	{ "round-robin", SCTP_SS_RR },
	{ "priority", SCTP_SS_PRIO },
#endif
};
enum { SCHEDULERS = sizeof schedulers / sizeof *schedulers };

static struct {
	bool partial, interleaving, reconfiguration, authentication, addresses, nr_sack;
	uint8_t chunks[CHUNKS_MAX];
	int chunk_count;
	struct {
		uint16_t id, length;
		uint8_t bytes[KEY_MAX];
	} keys[KEYS_MAX];
	int key_count;
	uint16_t active_key;
	bool sack_immediately;
	/* Of every second message: by which rule it is given up, and after how many ms or retransmissions, or for which
	 * priority. */
	uint16_t policy;
	uint32_t policy_value;
	/* In `schedulers`; that of interleaving is `round-robin` unless it is said. */
	int scheduler;
	uint16_t stream_values[VALUES_MAX];
	int stream_value_count;
	uint32_t cmt;
	uint32_t sack_delay_ms, probe_ms, adaptation;
} options = { .scheduler = -1 };

static void fail(const char *what)
{
	printf("{\"event\":\"error\",\"what\":\"%s\",\"errno\":\"%s\"}\n", what, strerror(errno));
	exit(1);
}

static void set(stack_socket endpoint, int name, const void *value, socklen_t length, const char *what)
{
	if (stack_set(endpoint, IPPROTO_SCTP, name, value, length) < 0)
		fail(what);
}

/* Reads `ID:HEX`; no digits are the null key. */
static void read_key(const char *text, uint16_t *id, uint8_t *bytes, uint16_t *length)
{
	char *rest;
	*id = strtoul(text, &rest, 10);
	*length = 0;
	if (*rest == ':')
		rest++;
	for (unsigned byte; *length < KEY_MAX && sscanf(rest, "%2x", &byte) == 1; rest += 2)
		bytes[(*length)++] = byte;
}

static void extend(const char *name)
{
	if (strcmp(name, "partial-reliability") == 0)
		options.partial = true;
	else if (strcmp(name, "interleaving") == 0)
		options.interleaving = true;
	else if (strcmp(name, "stream-reconfiguration") == 0)
		options.reconfiguration = true;
	else if (strcmp(name, "authentication") == 0)
		options.authentication = true;
	else if (strcmp(name, "dynamic-addresses") == 0)
		options.addresses = true;
	else if (strcmp(name, "nr-sack") == 0)
		options.nr_sack = true;
	else
		fail("an extension");
}

static void give_up_by(uint16_t policy, uint32_t value)
{
	options.policy = policy;
	options.policy_value = value;
}

static int scheduler_of(const char *name)
{
	for (int i = 0; i < SCHEDULERS; i++)
		if (strcmp(name, schedulers[i].name) == 0)
			return i;
	fail("a scheduler");
	return -1;
}

bool extensions_option(const char *word, const char *value)
{
	unsigned long number = strtoul(value, NULL, 10);
	if (strcmp(word, "--extension") == 0)
		extend(value);
	else if (strcmp(word, "--auth-chunk") == 0 && options.chunk_count < CHUNKS_MAX)
		options.chunks[options.chunk_count++] = number;
	else if (strcmp(word, "--key") == 0 && options.key_count < KEYS_MAX) {
		int place = options.key_count++;
		read_key(value, &options.keys[place].id, options.keys[place].bytes, &options.keys[place].length);
	} else if (strcmp(word, "--active-key") == 0)
		options.active_key = number;
	else if (strcmp(word, "--lifetime-ms") == 0)
		give_up_by(SCTP_PR_SCTP_TTL, number);
	else if (strcmp(word, "--retransmissions") == 0)
		give_up_by(SCTP_PR_SCTP_RTX, number);
	else if (strcmp(word, "--priority") == 0)
		give_up_by(BY_PRIORITY, number);
	else if (strcmp(word, "--scheduler") == 0)
		options.scheduler = scheduler_of(value);
	else if (strcmp(word, "--stream-value") == 0 && options.stream_value_count < VALUES_MAX)
		options.stream_values[options.stream_value_count++] = number;
	else if (strcmp(word, "--cmt") == 0)
		options.cmt = number;
	else if (strcmp(word, "--sack-immediately") == 0)
		options.sack_immediately = number != 0;
	else if (strcmp(word, "--sack-delay-ms") == 0)
		options.sack_delay_ms = number;
	else if (strcmp(word, "--probe-ms") == 0)
		options.probe_ms = number;
	else if (strcmp(word, "--adaptation") == 0)
		options.adaptation = number;
	else
		return false;
	return true;
}

static void set_supported(stack_socket endpoint, int name, bool is_supported, const char *what)
{
	struct sctp_assoc_value value = { .assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = is_supported };
	set(endpoint, name, &value, sizeof value, what);
}

static int add_key(stack_socket endpoint, sctp_assoc_t association, uint16_t id, const uint8_t *bytes, uint16_t length)
{
	union {
		struct sctp_authkey key;
		char room[sizeof(struct sctp_authkey) + KEY_MAX];
	} own;
	memset(&own, 0, sizeof own);
	own.key.sca_assoc_id = association;
	own.key.sca_keynumber = id;
	own.key.sca_keylength = length;
	memcpy(own.key.sca_key, bytes, length);
	return stack_set(endpoint, IPPROTO_SCTP, SCTP_AUTH_KEY, &own, sizeof own.key + length);
}

static int activate_key(stack_socket endpoint, sctp_assoc_t association, uint16_t id)
{
	struct sctp_authkeyid key = { .scact_assoc_id = association, .scact_keynumber = id };
	return stack_set(endpoint, IPPROTO_SCTP, SCTP_AUTH_ACTIVE_KEY, &key, sizeof key);
}

static void subscribe(stack_socket endpoint, uint16_t event)
{
	struct sctp_event subscription = { .se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = event, .se_on = 1 };
	set(endpoint, SCTP_EVENT, &subscription, sizeof subscription, "an event");
}

static void set_interleaving(stack_socket endpoint)
{
	const int level = 2;
	set(endpoint, SCTP_FRAGMENT_INTERLEAVE, &level, sizeof level, "SCTP_FRAGMENT_INTERLEAVE");
	set_supported(endpoint, SCTP_INTERLEAVING_SUPPORTED, true, "SCTP_INTERLEAVING_SUPPORTED");
	if (options.scheduler < 0)
		options.scheduler = scheduler_of("round-robin");
}

/* Several paths at once (CMT): usrsctp has it switched on for all before it is for one. */
static void set_cmt(stack_socket endpoint)
{
#ifdef USRSCTP
	usrsctp_sysctl_set_sctp_cmt_on_off(options.cmt);
	struct sctp_assoc_value cmt = { .assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = options.cmt };
	set(endpoint, SCTP_CMT_ON_OFF, &cmt, sizeof cmt, "SCTP_CMT_ON_OFF");
#else
	(void)endpoint;
	fail("Linux sends over one path at a time");
#endif
}

static void set_authentication(stack_socket endpoint)
{
	for (int i = 0; i < options.chunk_count; i++) {
		struct sctp_authchunk chunk = { .sauth_chunk = options.chunks[i] };
		set(endpoint, SCTP_AUTH_CHUNK, &chunk, sizeof chunk, "SCTP_AUTH_CHUNK");
	}
	for (int i = 0; i < options.key_count; i++)
		if (add_key(endpoint, SCTP_FUTURE_ASSOC, options.keys[i].id, options.keys[i].bytes,
		            options.keys[i].length) < 0)
			fail("SCTP_AUTH_KEY");
	if (options.key_count && activate_key(endpoint, SCTP_FUTURE_ASSOC, options.active_key) < 0)
		fail("SCTP_AUTH_ACTIVE_KEY");
}

void extensions_set(stack_socket endpoint)
{
	/* Nothing is offered that nobody has asked for. */
	if (!options.addresses)
		set_supported(endpoint, SCTP_ASCONF_SUPPORTED, false, "SCTP_ASCONF_SUPPORTED");
	set_supported(endpoint, SCTP_AUTH_SUPPORTED, options.authentication, "SCTP_AUTH_SUPPORTED");
	if (options.addresses)
		set_supported(endpoint, SCTP_ASCONF_SUPPORTED, true, "SCTP_ASCONF_SUPPORTED");
	set_supported(endpoint, SCTP_PR_SUPPORTED, options.partial, "SCTP_PR_SUPPORTED");
	set_supported(endpoint, SCTP_RECONFIG_SUPPORTED, options.reconfiguration, "SCTP_RECONFIG_SUPPORTED");
#ifdef USRSCTP
	set_supported(endpoint, SCTP_NRSACK_SUPPORTED, options.nr_sack, "SCTP_NRSACK_SUPPORTED");
	if (options.probe_ms)
		fail("usrsctp sends no probe packets");
#else
	if (options.nr_sack)
		fail("Linux knows no NR-SACK");
	if (options.probe_ms) {
		struct sctp_probeinterval probe = { .spi_interval = options.probe_ms };
		set(endpoint, SCTP_PLPMTUD_PROBE_INTERVAL, &probe, sizeof probe, "SCTP_PLPMTUD_PROBE_INTERVAL");
	}
#endif
	if (options.interleaving)
		set_interleaving(endpoint);
	if (options.scheduler >= 0) {
		struct sctp_assoc_value scheduler = { .assoc_id = SCTP_FUTURE_ASSOC,
			                              .assoc_value = schedulers[options.scheduler].number };
		set(endpoint, SCHEDULER, &scheduler, sizeof scheduler, "a scheduler");
	}
	if (options.cmt)
		set_cmt(endpoint);
	if (options.authentication)
		set_authentication(endpoint);
	if (options.reconfiguration) {
		set_supported(endpoint, SCTP_ENABLE_STREAM_RESET, true, "SCTP_ENABLE_STREAM_RESET");
		struct sctp_assoc_value all = { .assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = 7 };
		set(endpoint, SCTP_ENABLE_STREAM_RESET, &all, sizeof all, "SCTP_ENABLE_STREAM_RESET");
	}
	if (options.sack_delay_ms) {
		struct sctp_sack_info sack = { .sack_delay = options.sack_delay_ms, .sack_freq = 2 };
		set(endpoint, SCTP_DELAYED_SACK, &sack, sizeof sack, "SCTP_DELAYED_SACK");
	}
	if (options.adaptation) {
		struct sctp_setadaptation own = { .ssb_adaptation_ind = options.adaptation };
		set(endpoint, SCTP_ADAPTATION_LAYER, &own, sizeof own, "SCTP_ADAPTATION_LAYER");
	}
	subscribe(endpoint, SCTP_ADAPTATION_INDICATION);
	subscribe(endpoint, SCTP_STREAM_RESET_EVENT);
	subscribe(endpoint, SCTP_ASSOC_RESET_EVENT);
	subscribe(endpoint, SCTP_STREAM_CHANGE_EVENT);
	subscribe(endpoint, SCTP_SEND_FAILED_EVENT);
}

void extensions_begun(stack_socket endpoint, sctp_assoc_t association)
{
	for (int i = 0; i < options.stream_value_count; i++) {
		struct sctp_stream_value value = { .assoc_id = association, .stream_id = i,
			                           .stream_value = options.stream_values[i] };
		set(endpoint, STREAM_VALUE, &value, sizeof value, "a stream's value");
	}
}

/* Those of a reset of streams, of an association and of additional streams are the same. */
static const char *result_of(unsigned flags)
{
	return flags & SCTP_STREAM_RESET_DENIED ? "denied" : flags & SCTP_STREAM_RESET_FAILED ? "failed" : "done";
}

void extensions_notified(const void *bytes)
{
	const struct sctp_stream_reset_event *reset = bytes;
	const struct sctp_assoc_reset_event *association = bytes;
	const struct sctp_stream_change_event *change = bytes;
	const struct sctp_adaptation_event *adaptation = bytes;
	const struct sctp_send_failed_event *failed = bytes;
	switch (reset->strreset_type) {
	case SCTP_STREAM_RESET_EVENT:
		printf("{\"event\":\"streams_reset\",\"result\":\"%s\",\"outbound\":%d,\"inbound\":%d}\n",
		       result_of(reset->strreset_flags), (reset->strreset_flags & SCTP_STREAM_RESET_OUTGOING_SSN) != 0,
		       (reset->strreset_flags & SCTP_STREAM_RESET_INCOMING_SSN) != 0);
		break;
	case SCTP_ASSOC_RESET_EVENT:
		printf("{\"event\":\"association_reset\",\"result\":\"%s\"}\n", result_of(association->assocreset_flags));
		break;
	case SCTP_STREAM_CHANGE_EVENT:
		printf("{\"event\":\"streams_added\",\"result\":\"%s\",\"outbound\":%u,\"inbound\":%u}\n",
		       result_of(change->strchange_flags), change->strchange_outstrms, change->strchange_instrms);
		break;
	case SCTP_ADAPTATION_INDICATION:
		printf("{\"event\":\"adaptation\",\"value\":%u}\n", adaptation->sai_adaptation_ind);
		break;
	case SCTP_SEND_FAILED_EVENT:
		printf("{\"event\":\"given_up\",\"was_sent\":%d}\n", failed->FAILED_FLAGS == SCTP_DATA_SENT);
		break;
	default:
		break;
	}
}

bool extensions_is_partial(uint64_t number)
{
	return options.policy && number % 2 == 1;
}

struct sending extensions_sending(uint64_t number)
{
	struct sending own = { .flags = options.sack_immediately ? SCTP_SACK_IMMEDIATELY : 0 };
	if (extensions_is_partial(number)) {
		own.policy = options.policy;
		own.policy_value = options.policy_value;
	}
	return own;
}

static int reset_streams(stack_socket endpoint, sctp_assoc_t association, const char *values)
{
	union {
		struct sctp_reset_streams reset;
		char room[sizeof(struct sctp_reset_streams) + 2 * STREAMS_LISTED_MAX];
	} own;
	char direction[16] = "";
	int read = 0, count = 0;
	memset(&own, 0, sizeof own);
	sscanf(values, "%15s%n", direction, &read);
	for (unsigned stream; count < STREAMS_LISTED_MAX && sscanf(values + read, "%u", &stream) == 1; count++) {
		own.reset.srs_stream_list[count] = stream;
		read += strspn(values + read, " ");
		read += strspn(values + read, "0123456789");
	}
	own.reset.srs_assoc_id = association;
	own.reset.srs_flags = strcmp(direction, "out") == 0  ? SCTP_STREAM_RESET_OUTGOING
	                      : strcmp(direction, "in") == 0 ? SCTP_STREAM_RESET_INCOMING
	                                                     : SCTP_STREAM_RESET_OUTGOING | SCTP_STREAM_RESET_INCOMING;
	own.reset.srs_number_streams = count;
	return stack_set(endpoint, IPPROTO_SCTP, SCTP_RESET_STREAMS, &own, sizeof own.reset + 2 * count);
}

static int add_streams(stack_socket endpoint, sctp_assoc_t association, const char *values)
{
	unsigned outbound = 0, inbound = 0;
	sscanf(values, "%u %u", &outbound, &inbound);
	struct sctp_add_streams add = { .sas_assoc_id = association, .sas_instrms = inbound, .sas_outstrms = outbound };
	return stack_set(endpoint, IPPROTO_SCTP, SCTP_ADD_STREAMS, &add, sizeof add);
}

static int change_address(stack_socket endpoint, sctp_assoc_t association, const char *word, const char *values)
{
	char text[INET6_ADDRSTRLEN + 1] = "";
	unsigned port = 0;
	union address address;
	memset(&address, 0, sizeof address);
	sscanf(values, "%46s %u", text, &port);
	if (inet_pton(AF_INET, text, &address.v4.sin_addr) == 1)
		address.v4.sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &address.v6.sin6_addr) == 1)
		address.v6.sin6_family = AF_INET6;
	else
		fail("an address");
	/* The port lies at the same place for both families. */
	address.v4.sin_port = htons(port);
	if (strcmp(word, "bind") == 0)
		return stack_bind(endpoint, &address, 1);
	if (strcmp(word, "unbind") == 0)
		return stack_unbind(endpoint, &address);
	struct sctp_setpeerprim primary = { .sspp_assoc_id = association };
	memcpy(&primary.sspp_addr, &address, sizeof address);
	return stack_set(endpoint, IPPROTO_SCTP, SCTP_SET_PEER_PRIMARY_ADDR, &primary, sizeof primary);
}

/* One attempt; -2 if it is no such command. */
static int attempt(stack_socket endpoint, sctp_assoc_t association, const char *word, const char *values)
{
	if (strcmp(word, "reset") == 0)
		return reset_streams(endpoint, association, values);
	if (strcmp(word, "reset-association") == 0)
		return stack_set(endpoint, IPPROTO_SCTP, SCTP_RESET_ASSOC, &association, sizeof association);
	if (strcmp(word, "add") == 0)
		return add_streams(endpoint, association, values);
	if (strcmp(word, "bind") == 0 || strcmp(word, "unbind") == 0 || strcmp(word, "peer-primary") == 0)
		return change_address(endpoint, association, word, values);
	if (strcmp(word, "key") == 0) {
		uint8_t bytes[KEY_MAX];
		uint16_t id, length;
		read_key(values, &id, bytes, &length);
		return add_key(endpoint, association, id, bytes, length);
	}
	if (strcmp(word, "activate-key") == 0)
		return activate_key(endpoint, association, strtoul(values, NULL, 10));
	if (strcmp(word, "supports") == 0)
		return stack_support(endpoint, association);
	return -2;
}

bool extensions_command(stack_socket endpoint, sctp_assoc_t association, const char *line)
{
	char word[32] = "";
	int read = 0;
	sscanf(line, "%31s%n", word, &read);
	/* A request waits until the one before has been answered, and until nothing is under way. */
	for (int attempts = 0; attempts < 500; attempts++) {
		int result = attempt(endpoint, association, word, line + read + strspn(line + read, " "));
		if (result == -2)
			return false;
		if (result >= 0) {
			printf("{\"event\":\"asked\",\"what\":\"%s\"}\n", word);
			return true;
		}
		if (errno != EAGAIN && errno != EINPROGRESS && errno != EBUSY && errno != EALREADY)
			break;
		usleep(10 * 1000);
	}
	printf("{\"event\":\"refused\",\"what\":\"%s\",\"errno\":\"%s\"}\n", word, strerror(errno));
	return true;
}
