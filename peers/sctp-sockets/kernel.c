/* The kernel's SCTP. */
#include "stack.h"

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

int stack_send(stack_socket socket, sctp_assoc_t association, uint16_t stream, uint16_t flags, const void *bytes,
               size_t length)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct sctp_sndinfo))];
	} control;
	memset(&control, 0, sizeof control);
	struct iovec slice = { .iov_base = (void *)bytes, .iov_len = length };
	struct msghdr message = { .msg_iov = &slice, .msg_iovlen = length > 0 };
	message.msg_control = &control;
	message.msg_controllen = sizeof control;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = IPPROTO_SCTP;
	header->cmsg_type = SCTP_SNDINFO;
	header->cmsg_len = CMSG_LEN(sizeof(struct sctp_sndinfo));
	struct sctp_sndinfo info = { .snd_sid = stream, .snd_flags = flags, .snd_assoc_id = association };
	memcpy(CMSG_DATA(header), &info, sizeof info);
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
