/* The kernel's SCTP. */
#include "stack.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void stack_start(uint16_t udp_port)
{
	/* In UDP or not is a matter of the kernel's settings (net.sctp.udp_port, net.sctp.encap_port). */
	(void)udp_port;
}

void stack_finish(void)
{
}

stack_socket stack_open(int family)
{
	return socket(family, SOCK_SEQPACKET, IPPROTO_SCTP);
}

bool stack_is_open(stack_socket socket)
{
	return socket >= 0;
}

int stack_set(stack_socket socket, int level, int name, const void *value, socklen_t length)
{
	/* Beyond the system's limit. */
	if (level == SOL_SOCKET && name == SO_SNDBUF)
		name = SO_SNDBUFFORCE;
	if (level == SOL_SOCKET && name == SO_RCVBUF)
		name = SO_RCVBUFFORCE;
	return setsockopt(socket, level, name, value, length);
}

int stack_bind(stack_socket socket, const union address *addresses, int count)
{
	char packed[ADDRESSES_MAX * sizeof *addresses];
	size_t length = address_pack(addresses, count, packed);
	return setsockopt(socket, IPPROTO_SCTP, SCTP_SOCKOPT_BINDX_ADD, packed, length);
}

int stack_listen(stack_socket socket)
{
	return listen(socket, 16);
}

int stack_connect(stack_socket socket, const union address *addresses, int count)
{
	char packed[ADDRESSES_MAX * sizeof *addresses];
	size_t length = address_pack(addresses, count, packed);
	return setsockopt(socket, IPPROTO_SCTP, SCTP_SOCKOPT_CONNECTX, packed, length) < 0 ? -1 : 0;
}

int stack_send(stack_socket socket, sctp_assoc_t association, uint16_t stream, struct sending sending,
               const void *bytes, size_t length)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct sctp_sndinfo)) + CMSG_SPACE(sizeof(struct sctp_prinfo))];
	} control;
	memset(&control, 0, sizeof control);
	struct iovec slice = { .iov_base = (void *)bytes, .iov_len = length };
	struct msghdr message = { .msg_iov = &slice, .msg_iovlen = length > 0 };
	if (sending.to) {
		message.msg_name = (void *)sending.to;
		message.msg_namelen = address_length(sending.to);
		sending.flags |= SCTP_ADDR_OVER;
	}
	message.msg_control = &control;
	message.msg_controllen = CMSG_SPACE(sizeof(struct sctp_sndinfo));
	if (sending.policy)
		message.msg_controllen += CMSG_SPACE(sizeof(struct sctp_prinfo));
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = IPPROTO_SCTP;
	header->cmsg_type = SCTP_SNDINFO;
	header->cmsg_len = CMSG_LEN(sizeof(struct sctp_sndinfo));
	struct sctp_sndinfo info = { .snd_sid = stream, .snd_flags = sending.flags, .snd_assoc_id = association };
	memcpy(CMSG_DATA(header), &info, sizeof info);
	if (sending.policy) {
		header = CMSG_NXTHDR(&message, header);
		header->cmsg_level = IPPROTO_SCTP;
		header->cmsg_type = SCTP_PRINFO;
		header->cmsg_len = CMSG_LEN(sizeof(struct sctp_prinfo));
		struct sctp_prinfo partial = { .pr_policy = sending.policy, .pr_value = sending.policy_value };
		memcpy(CMSG_DATA(header), &partial, sizeof partial);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

ssize_t stack_receive(stack_socket socket, void *bytes, size_t length, struct received *received)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct sctp_rcvinfo))];
	} control;
	struct iovec slice = { .iov_base = bytes, .iov_len = length };
	struct msghdr message = { .msg_iov = &slice, .msg_iovlen = 1 };
	message.msg_control = &control;
	message.msg_controllen = sizeof control;
	ssize_t read = recvmsg(socket, &message, 0);
	if (read <= 0)
		return read;
	*received = (struct received){
		.is_notification = (message.msg_flags & MSG_NOTIFICATION) != 0,
		.is_end = (message.msg_flags & MSG_EOR) != 0,
	};
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
		if (header->cmsg_level == IPPROTO_SCTP && header->cmsg_type == SCTP_RCVINFO) {
			struct sctp_rcvinfo info;
			memcpy(&info, CMSG_DATA(header), sizeof info);
			received->stream = info.rcv_sid;
		}
	}
	return read;
}

int stack_unbind(stack_socket socket, const union address *address)
{
	return setsockopt(socket, IPPROTO_SCTP, SCTP_SOCKOPT_BINDX_REM, address, address_length(address));
}

static int agreed(stack_socket socket, sctp_assoc_t association, int name)
{
	struct sctp_assoc_value value = { .assoc_id = association };
	socklen_t length = sizeof value;
	return getsockopt(socket, IPPROTO_SCTP, name, &value, &length) < 0 ? -1 : (int)value.assoc_value;
}

int stack_support(stack_socket socket, sctp_assoc_t association)
{
	struct sctp_prstatus status = { .sprstat_assoc_id = association, .sprstat_policy = SCTP_PR_SCTP_ALL };
	socklen_t length = sizeof status;
	if (getsockopt(socket, IPPROTO_SCTP, SCTP_PR_ASSOC_STATUS, &status, &length) < 0)
		memset(&status, 0, sizeof status);
	printf("{\"event\":\"supports\",\"partial-reliability\":%d,\"interleaving\":%d,\"stream-reconfiguration\":%d,"
	       "\"authentication\":%d,\"dynamic-addresses\":%d,\"nr-sack\":0,\"given_up\":%llu}\n",
	       agreed(socket, association, SCTP_PR_SUPPORTED), agreed(socket, association, SCTP_INTERLEAVING_SUPPORTED),
	       agreed(socket, association, SCTP_RECONFIG_SUPPORTED), agreed(socket, association, SCTP_AUTH_SUPPORTED),
	       agreed(socket, association, SCTP_ASCONF_SUPPORTED),
	       (unsigned long long)(status.sprstat_abandoned_unsent + status.sprstat_abandoned_sent));
	return 0;
}
