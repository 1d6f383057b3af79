/* An SCTP stack by its sockets (RFC 6458): the kernel's (kernel.c), or usrsctp in user space (usrsctp.c, with USRSCTP defined).
 * Their structures have the same names; what differs is here. Errors are -1, with errno. */
#ifndef STACK_H
#define STACK_H

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef USRSCTP
#include <usrsctp.h>
typedef struct socket *stack_socket;
#else
#include <linux/sctp.h>
typedef int stack_socket;
#endif

/* An address with room for either family. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* How a message is sent. */
struct sending {
	/* Those of `struct sctp_sndinfo`. */
	uint16_t flags;
	/* After what it is given up (RFC 7496), one of SCTP_PR_SCTP_..., and the time in ms, the number or the priority;
	 * 0: after nothing. */
	uint16_t policy;
	uint32_t policy_value;
	/* To which of the peer's addresses; NULL: where all else goes. */
	const union address *to;
};

/* What one call has read. */
struct received {
	uint16_t stream;
	bool is_notification;
	/* The last of its message. */
	bool is_end;
};

/* Starts the stack; with a port, in UDP (RFC 6951) as well. */
void stack_start(uint16_t udp_port);
/* Ends what is left of it. */
void stack_finish(void);
/* Opens a socket with many associations. NULL or -1: `stack_is_open` tells. */
stack_socket stack_open(int family);
bool stack_is_open(stack_socket socket);
int stack_set(stack_socket socket, int level, int name, const void *value, socklen_t length);
int stack_bind(stack_socket socket, const union address *addresses, int count);
int stack_listen(stack_socket socket);
int stack_connect(stack_socket socket, const union address *addresses, int count);
int stack_send(stack_socket socket, sctp_assoc_t association, uint16_t stream, struct sending sending, const void *bytes,
               size_t length);
/* Takes an address away. */
int stack_unbind(stack_socket socket, const union address *address);
/* Says which extensions both ends have agreed on, in a line of JSON, and what is counted of them. */
int stack_support(stack_socket socket, sctp_assoc_t association);
/* Returns how many bytes were read; 0 at the end. */
ssize_t stack_receive(stack_socket socket, void *bytes, size_t length, struct received *received);

/* How long an address is in the arrays that either stack is handed. */
static inline size_t address_length(const union address *address)
{
	return address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6;
}

/* Addresses as the stacks want them, one right behind the other; returns their length. */
static inline size_t address_pack(const union address *addresses, int count, char *packed)
{
	size_t length = 0;
	for (int i = 0; i < count; i++) {
		size_t own = address_length(&addresses[i]);
		__builtin_memcpy(packed + length, &addresses[i], own);
		length += own;
	}
	return length;
}

enum { ADDRESSES_MAX = 8 };

#endif
