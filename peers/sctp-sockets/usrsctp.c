/* usrsctp: SCTP in user space. */
#include "stack.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* usrsctp knows it, but its header does not. */
#ifndef SCTP_INTERLEAVING_SUPPORTED
#define SCTP_INTERLEAVING_SUPPORTED 0x00001206
#endif

void stack_start(uint16_t udp_port)
{
	usrsctp_init(udp_port, NULL, NULL);
	/* As the kernel: extensions that nobody asks for are not offered, and strangers are answered. */
	usrsctp_sysctl_set_sctp_blackhole(0);
	/* It counts each probe of a closed window, and would give the association up at the 30th. */
	usrsctp_sysctl_set_sctp_max_retran_chunk(0);
	usrsctp_sysctl_set_sctp_sendspace(8 * 1024 * 1024);
	usrsctp_sysctl_set_sctp_recvspace(8 * 1024 * 1024);
}

void stack_finish(void)
{
	for (int attempts = 0; usrsctp_finish() != 0 && attempts < 100; attempts++)
		usleep(10 * 1000);
}

stack_socket stack_open(int family)
{
	return usrsctp_socket(family, SOCK_SEQPACKET, IPPROTO_SCTP, NULL, NULL, 0, NULL);
}

bool stack_is_open(stack_socket socket)
{
	return socket != NULL;
}

int stack_set(stack_socket socket, int level, int name, const void *value, socklen_t length)
{
	return usrsctp_setsockopt(socket, level, name, value, length);
}

int stack_bind(stack_socket socket, const union address *addresses, int count)
{
	char packed[ADDRESSES_MAX * sizeof *addresses];
	address_pack(addresses, count, packed);
	return usrsctp_bindx(socket, (struct sockaddr *)packed, count, SCTP_BINDX_ADD_ADDR);
}

int stack_listen(stack_socket socket)
{
	return usrsctp_listen(socket, 16);
}

int stack_connect(stack_socket socket, const union address *addresses, int count)
{
	char packed[ADDRESSES_MAX * sizeof *addresses];
	address_pack(addresses, count, packed);
	return usrsctp_connectx(socket, (struct sockaddr *)packed, count, NULL);
}

int stack_send(stack_socket socket, sctp_assoc_t association, uint16_t stream, struct sending sending,
               const void *bytes, size_t length)
{
	union address to;
	if (sending.to) {
		to = *sending.to;
		sending.flags |= SCTP_ADDR_OVER;
	}
	struct sctp_sendv_spa how = { .sendv_flags = SCTP_SEND_SNDINFO_VALID };
	how.sendv_sndinfo = (struct sctp_sndinfo){ .snd_sid = stream, .snd_flags = sending.flags, .snd_assoc_id = association };
	if (sending.policy) {
		how.sendv_flags |= SCTP_SEND_PRINFO_VALID;
		how.sendv_prinfo = (struct sctp_prinfo){ .pr_policy = sending.policy, .pr_value = sending.policy_value };
	}
	/* Nothing has an address, too. */
	return usrsctp_sendv(socket, bytes ? bytes : "", length, sending.to ? &to.any : NULL, sending.to ? 1 : 0, &how,
	                     sizeof how, SCTP_SENDV_SPA, 0) < 0
	               ? -1
	               : 0;
}

ssize_t stack_receive(stack_socket socket, void *bytes, size_t length, struct received *received)
{
	struct sctp_rcvinfo info;
	union address from;
	socklen_t from_length = sizeof from, info_length = sizeof info;
	unsigned int info_type = SCTP_RECVV_NOINFO;
	int flags = 0;
	ssize_t read = usrsctp_recvv(socket, bytes, length, &from.any, &from_length, &info, &info_length, &info_type,
	                             &flags);
	if (read <= 0)
		return read;
	*received = (struct received){
		.stream = info_type == SCTP_RECVV_RCVINFO ? info.rcv_sid : 0,
		.is_notification = (flags & MSG_NOTIFICATION) != 0,
		.is_end = (flags & MSG_EOR) != 0,
	};
	return read;
}

int stack_unbind(stack_socket socket, const union address *address)
{
	union address own = *address;
	return usrsctp_bindx(socket, &own.any, 1, SCTP_BINDX_REM_ADDR);
}

static int agreed(stack_socket socket, sctp_assoc_t association, int name)
{
	struct sctp_assoc_value value = { .assoc_id = association };
	socklen_t length = sizeof value;
	return usrsctp_getsockopt(socket, IPPROTO_SCTP, name, &value, &length) < 0 ? -1 : (int)value.assoc_value;
}

int stack_support(stack_socket socket, sctp_assoc_t association)
{
	struct sctpstat counted;
	usrsctp_get_stat(&counted);
	printf("{\"event\":\"supports\",\"partial-reliability\":%d,\"interleaving\":%d,\"stream-reconfiguration\":%d,"
	       "\"authentication\":%d,\"dynamic-addresses\":%d,\"nr-sack\":%d,\"auth_received\":%u,\"auth_failed\":%u,"
	       "\"auth_missing\":%u}\n",
	       agreed(socket, association, SCTP_PR_SUPPORTED), agreed(socket, association, SCTP_INTERLEAVING_SUPPORTED),
	       agreed(socket, association, SCTP_RECONFIG_SUPPORTED), agreed(socket, association, SCTP_AUTH_SUPPORTED),
	       agreed(socket, association, SCTP_ASCONF_SUPPORTED), agreed(socket, association, SCTP_NRSACK_SUPPORTED),
	       counted.sctps_recvauth, counted.sctps_recvauthfailed, counted.sctps_recvauthmissing);
	return 0;
}
