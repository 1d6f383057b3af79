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

/* What one call has read. */
struct received {
	uint16_t stream;
	bool is_notification;
	/* The last of its message. */
	bool is_end;
};

/* An address with room for either family. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
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
/* Flags are those of `struct sctp_sndinfo`. */
int stack_send(stack_socket socket, sctp_assoc_t association, uint16_t stream, uint16_t flags, const void *bytes,
               size_t length);
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
