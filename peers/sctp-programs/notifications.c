/* Notifications of SCTP's sockets and their order, as one program sees both ends of an association.
 *
 *     notifications SCENARIO
 *
 * Each line is what one end reads next: a notification with its fields, a message with its control message, or the
 * end. What is the same several times in a row is told once. TSNs are told as distances from the first.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sctp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUIET_MS 400
#define FIRST_MS 5000

struct end {
    const char *name;
    int fd;
    sctp_assoc_t association;
    __u32 first_tsn;
    int has_tsn;
};

static char last[300];

static void tell(const char *format, ...)
{
    char line[sizeof last];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (strcmp(line, last) != 0)
        printf("%s\n", line);
    strcpy(last, line);
    fflush(stdout);
}

static void fail(const char *what)
{
    tell("%s: %s", what, strerror(errno));
    exit(1);
}

static void set(int fd, int name, const void *value, socklen_t length, const char *what)
{
    if (setsockopt(fd, IPPROTO_SCTP, name, value, length) < 0)
        tell("%s: %s", what, strerror(errno));
}

static void want(int fd)
{
    static const __u16 kinds[] = {
        SCTP_ASSOC_CHANGE,        SCTP_PEER_ADDR_CHANGE,  SCTP_SEND_FAILED_EVENT, SCTP_REMOTE_ERROR,
        SCTP_SHUTDOWN_EVENT,      SCTP_ADAPTATION_INDICATION, SCTP_AUTHENTICATION_EVENT, SCTP_STREAM_RESET_EVENT,
        SCTP_ASSOC_RESET_EVENT,   SCTP_STREAM_CHANGE_EVENT, SCTP_PARTIAL_DELIVERY_EVENT,
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = kinds[i], .se_on = 1};
        set(fd, SCTP_EVENT, &event, sizeof event, "SCTP_EVENT");
    }
    int on = 1;
    set(fd, SCTP_RECVRCVINFO, &on, sizeof on, "SCTP_RECVRCVINFO");
}

static struct end open_end(const char *name, int type)
{
    struct end end = {.name = name, .fd = socket(AF_INET, type, IPPROTO_SCTP)};
    if (end.fd < 0)
        fail("socket");
    want(end.fd);
    /* Each end is told of one that does not authenticate, which is for one scenario alone. */
    struct sctp_assoc_value with = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = 1};
    set(end.fd, SCTP_AUTH_SUPPORTED, &with, sizeof with, "SCTP_AUTH_SUPPORTED");
    return end;
}

static struct sockaddr_in at(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void bind_end(struct end *end, int port, int backlog)
{
    struct sockaddr_in own = at(port);
    if (bind(end->fd, (struct sockaddr *)&own, sizeof own) < 0)
        fail("bind");
    if (backlog > 0 && listen(end->fd, backlog) < 0)
        fail("listen");
}

static const char *change(__u16 state)
{
    static const char *const names[] = {"COMM_UP", "COMM_LOST", "RESTART", "SHUTDOWN_COMP", "CANT_STR_ASSOC"};
    return state < 5 ? names[state] : "?";
}

static void tell_notification(struct end *end, const union sctp_notification *of, ssize_t length)
{
    const char *name = end->name;
    switch (of->sn_header.sn_type) {
    case SCTP_ASSOC_CHANGE: {
        const struct sctp_assoc_change *it = &of->sn_assoc_change;
        end->association = it->sac_assoc_id;
        tell("%s: ASSOC_CHANGE %s error %u outbound %u inbound %u info %zd", name, change(it->sac_state),
             ntohs(it->sac_error), it->sac_outbound_streams, it->sac_inbound_streams, length - (ssize_t)sizeof *it);
        return;
    }
    case SCTP_PEER_ADDR_CHANGE:
        tell("%s: PEER_ADDR_CHANGE state %d error %d", name, of->sn_paddr_change.spc_state,
             of->sn_paddr_change.spc_error);
        return;
    case SCTP_SEND_FAILED_EVENT: {
        const struct sctp_send_failed_event *it = (const void *)of;
        tell("%s: SEND_FAILED_EVENT flags %u error %u stream %u snd_flags %#x ppid %u context %u data %zd", name,
             it->ssf_flags, it->ssf_error, it->ssfe_info.snd_sid, it->ssfe_info.snd_flags,
             ntohl(it->ssfe_info.snd_ppid), it->ssfe_info.snd_context, length - (ssize_t)sizeof *it);
        return;
    }
    case SCTP_REMOTE_ERROR:
        tell("%s: REMOTE_ERROR error %u", name, ntohs(of->sn_remote_error.sre_error));
        return;
    case SCTP_SHUTDOWN_EVENT:
        tell("%s: SHUTDOWN_EVENT", name);
        return;
    case SCTP_ADAPTATION_INDICATION:
        tell("%s: ADAPTATION_INDICATION %#x", name, of->sn_adaptation_event.sai_adaptation_ind);
        return;
    case SCTP_AUTHENTICATION_EVENT:
        tell("%s: AUTHENTICATION_EVENT key %u indication %u", name, of->sn_authkey_event.auth_keynumber,
             of->sn_authkey_event.auth_indication);
        return;
    case SCTP_SENDER_DRY_EVENT:
        tell("%s: SENDER_DRY_EVENT", name);
        return;
    case SCTP_STREAM_RESET_EVENT: {
        const struct sctp_stream_reset_event *it = (const void *)of;
        int count = (length - (ssize_t)sizeof *it) / 2;
        tell("%s: STREAM_RESET_EVENT flags %#x streams %d first %d", name, it->strreset_flags, count,
             count > 0 ? it->strreset_stream_list[0] : -1);
        return;
    }
    case SCTP_ASSOC_RESET_EVENT:
        tell("%s: ASSOC_RESET_EVENT flags %#x", name, ((const struct sctp_assoc_reset_event *)of)->assocreset_flags);
        return;
    case SCTP_STREAM_CHANGE_EVENT: {
        const struct sctp_stream_change_event *it = (const void *)of;
        tell("%s: STREAM_CHANGE_EVENT flags %#x in %u out %u", name, it->strchange_flags, it->strchange_instrms,
             it->strchange_outstrms);
        return;
    }
    default:
        tell("%s: notification %#x", name, of->sn_header.sn_type);
    }
}

static void tell_message(struct end *end, struct msghdr *message, ssize_t length)
{
    char info[200] = "";
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
        if (at->cmsg_level != IPPROTO_SCTP || at->cmsg_type != SCTP_RCVINFO)
            continue;
        struct sctp_rcvinfo of;
        memcpy(&of, CMSG_DATA(at), sizeof of);
        if (!end->has_tsn)
            end->first_tsn = of.rcv_tsn;
        end->has_tsn = 1;
        snprintf(info, sizeof info, " stream %u ssn %u flags %#x ppid %u tsn +%u context %u", of.rcv_sid, of.rcv_ssn,
                 of.rcv_flags, ntohl(of.rcv_ppid), of.rcv_tsn - end->first_tsn, of.rcv_context);
    }
    tell("%s: message of %zd%s%s", end->name, length, message->msg_flags & MSG_EOR ? "" : " in part", info);
}

/* Reads all that there is at an end, until nothing has come for a while. */
static void hear(struct end *end)
{
    static char place[1 << 17];
    char control[512];
    for (int patience = FIRST_MS;; patience = QUIET_MS) {
        struct pollfd ready = {.fd = end->fd, .events = POLLIN};
        if (poll(&ready, 1, patience) == 0)
            return;
        struct iovec bytes = {.iov_base = place, .iov_len = sizeof place};
        struct msghdr message = {
            .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        ssize_t length = recvmsg(end->fd, &message, MSG_DONTWAIT);
        if (length < 0) {
            tell("%s: %s", end->name, strerror(errno));
            return;
        }
        if (length == 0 && !(message.msg_flags & MSG_NOTIFICATION)) {
            tell("%s: end", end->name);
            return;
        }
        if (message.msg_flags & MSG_NOTIFICATION)
            tell_notification(end, (union sctp_notification *)place, length);
        else
            tell_message(end, &message, length);
    }
}

static ssize_t say(struct end *end, int port, const void *bytes, size_t length, struct sctp_sndinfo info)
{
    char control[CMSG_SPACE(sizeof info)] = "";
    struct sockaddr_in to = at(port);
    struct iovec of = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr message = {
        .msg_iov = &of, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (port != 0) {
        message.msg_name = &to;
        message.msg_namelen = sizeof to;
    }
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = IPPROTO_SCTP;
    head->cmsg_type = SCTP_SNDINFO;
    head->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(head), &info, sizeof info);
    ssize_t sent = sendmsg(end->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN)
        tell("%s: sendmsg: %s", end->name, strerror(errno));
    return sent;
}

static struct sctp_sndinfo on(__u16 stream, __u16 flags)
{
    return (struct sctp_sndinfo){.snd_sid = stream, .snd_flags = flags, .snd_ppid = htonl(46), .snd_context = 7};
}

static void messages(void)
{
    struct end caller = open_end("caller", SOCK_SEQPACKET), listener = open_end("listener", SOCK_SEQPACKET);
    static char large[5000];
    bind_end(&listener, 2001, 5);
    bind_end(&caller, 2002, 0);
    /* TSNs count fragments, whose number else follows from the MTU of the loopback. */
    struct sctp_assoc_value most = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = 1000};
    set(caller.fd, SCTP_MAXSEG, &most, sizeof most, "SCTP_MAXSEG");
    say(&caller, 2001, "one", 3, on(0, 0));
    say(&caller, 2001, large, sizeof large, on(1, 0));
    say(&caller, 2001, "two", 3, on(1, SCTP_UNORDERED));
    say(&caller, 2001, "three", 5, on(0, 0));
    hear(&listener);
    hear(&caller);
    say(&listener, 2002, "back", 4, on(9, 0));
    hear(&caller);
    say(&caller, 2001, "", 0, on(0, SCTP_EOF));
    hear(&listener);
    hear(&caller);
}

static void one_to_one(void)
{
    struct end caller = open_end("caller", SOCK_STREAM), listener = open_end("listener", SOCK_STREAM);
    bind_end(&listener, 2003, 5);
    struct sockaddr_in to = at(2003);
    if (connect(caller.fd, (struct sockaddr *)&to, sizeof to) < 0)
        fail("connect");
    struct end accepted = {.name = "accepted", .fd = accept(listener.fd, NULL, NULL)};
    want(accepted.fd);
    say(&caller, 0, "one", 3, on(2, 0));
    hear(&accepted);
    say(&accepted, 0, "back", 4, on(0, 0));
    hear(&caller);
    shutdown(caller.fd, SHUT_WR);
    hear(&accepted);
    hear(&caller);
}

static void abort_by_peer(void)
{
    struct end caller = open_end("caller", SOCK_SEQPACKET), listener = open_end("listener", SOCK_SEQPACKET);
    bind_end(&listener, 2004, 5);
    say(&caller, 2004, "one", 3, on(0, 0));
    hear(&listener);
    hear(&caller);
    say(&caller, 2004, "reason", 6, on(0, SCTP_ABORT));
    hear(&listener);
    hear(&caller);
}

static void refused(void)
{
    struct end caller = open_end("caller", SOCK_SEQPACKET);
    say(&caller, 2005, "nobody", 6, on(3, SCTP_UNORDERED));
    hear(&caller);
}

static void failed(void)
{
    struct end caller = open_end("caller", SOCK_STREAM), listener = open_end("listener", SOCK_STREAM);
    static char large[20000];
    bind_end(&listener, 2006, 5);
    struct sockaddr_in to = at(2006);
    if (connect(caller.fd, (struct sockaddr *)&to, sizeof to) < 0)
        fail("connect");
    int accepted = accept(listener.fd, NULL, NULL);
    for (int count = 0; count < 1000 && say(&caller, 0, large, sizeof large, on(1, 0)) > 0; count++)
        ;
    usleep(QUIET_MS * 1000);
    /* What it has not read makes this an ABORT. */
    close(accepted);
    hear(&caller);
}

static void adaptation(void)
{
    struct end caller = open_end("caller", SOCK_SEQPACKET), listener = open_end("listener", SOCK_SEQPACKET);
    struct sctp_setadaptation of_caller = {0x11223344}, of_listener = {0x55667788};
    set(caller.fd, SCTP_ADAPTATION_LAYER, &of_caller, sizeof of_caller, "SCTP_ADAPTATION_LAYER");
    set(listener.fd, SCTP_ADAPTATION_LAYER, &of_listener, sizeof of_listener, "SCTP_ADAPTATION_LAYER");
    bind_end(&listener, 2007, 5);
    say(&caller, 2007, "one", 3, on(0, 0));
    hear(&listener);
    hear(&caller);
}

static void dry(void)
{
    struct end caller = open_end("caller", SOCK_SEQPACKET), listener = open_end("listener", SOCK_SEQPACKET);
    struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = SCTP_SENDER_DRY_EVENT, .se_on = 1};
    bind_end(&listener, 2008, 5);
    say(&caller, 2008, "one", 3, on(0, 0));
    hear(&listener);
    hear(&caller);
    event.se_assoc_id = caller.association;
    set(caller.fd, SCTP_EVENT, &event, sizeof event, "SCTP_EVENT");
    hear(&caller);
    say(&caller, 2008, "two", 3, on(0, 0));
    hear(&caller);
}

static void streams(void)
{
    struct end caller = open_end("caller", SOCK_SEQPACKET), listener = open_end("listener", SOCK_SEQPACKET);
    struct sctp_assoc_value all = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = 7};
    set(caller.fd, SCTP_ENABLE_STREAM_RESET, &all, sizeof all, "SCTP_ENABLE_STREAM_RESET");
    set(listener.fd, SCTP_ENABLE_STREAM_RESET, &all, sizeof all, "SCTP_ENABLE_STREAM_RESET");
    bind_end(&listener, 2009, 5);
    say(&caller, 2009, "one", 3, on(0, 0));
    hear(&listener);
    hear(&caller);
    struct sctp_add_streams more = {.sas_assoc_id = caller.association, .sas_outstrms = 3};
    set(caller.fd, SCTP_ADD_STREAMS, &more, sizeof more, "SCTP_ADD_STREAMS");
    hear(&listener);
    hear(&caller);
    struct {
        struct sctp_reset_streams of;
        __u16 stream;
    } reset = {{.srs_assoc_id = caller.association, .srs_flags = SCTP_STREAM_RESET_OUTGOING, .srs_number_streams = 1}, 0};
    set(caller.fd, SCTP_RESET_STREAMS, &reset, sizeof reset.of + 2, "SCTP_RESET_STREAMS");
    hear(&listener);
    hear(&caller);
    set(caller.fd, SCTP_RESET_ASSOC, &caller.association, sizeof caller.association, "SCTP_RESET_ASSOC");
    hear(&listener);
    hear(&caller);
}

static void keys(void)
{
    struct end caller = open_end("caller", SOCK_SEQPACKET), listener = open_end("listener", SOCK_SEQPACKET);
    struct sctp_authchunk data = {0};
    struct {
        struct sctp_authkey of;
        char secret[6];
    } key = {{.sca_keynumber = 5, .sca_keylength = 6}, "secret"};
    struct end *ends[] = {&caller, &listener};
    for (int i = 0; i < 2; i++) {
        set(ends[i]->fd, SCTP_AUTH_CHUNK, &data, sizeof data, "SCTP_AUTH_CHUNK");
        set(ends[i]->fd, SCTP_AUTH_KEY, &key, sizeof key.of + 6, "SCTP_AUTH_KEY");
    }
    bind_end(&listener, 2010, 5);
    say(&caller, 2010, "one", 3, on(0, 0));
    hear(&listener);
    hear(&caller);
    struct sctp_authkeyid five = {.scact_assoc_id = caller.association, .scact_keynumber = 5};
    struct sctp_authkeyid zero = {.scact_assoc_id = caller.association, .scact_keynumber = 0};
    set(caller.fd, SCTP_AUTH_DEACTIVATE_KEY, &zero, sizeof zero, "SCTP_AUTH_DEACTIVATE_KEY of the active one");
    set(caller.fd, SCTP_AUTH_ACTIVE_KEY, &five, sizeof five, "SCTP_AUTH_ACTIVE_KEY");
    say(&caller, 2010, "two", 3, on(0, 0));
    hear(&listener);
    hear(&caller);
    set(caller.fd, SCTP_AUTH_DEACTIVATE_KEY, &zero, sizeof zero, "SCTP_AUTH_DEACTIVATE_KEY");
    hear(&caller);
    set(caller.fd, SCTP_AUTH_ACTIVE_KEY, &zero, sizeof zero, "SCTP_AUTH_ACTIVE_KEY of one that is out of use");
    set(caller.fd, SCTP_AUTH_DELETE_KEY, &zero, sizeof zero, "SCTP_AUTH_DELETE_KEY");
    set(caller.fd, SCTP_AUTH_DEACTIVATE_KEY, &zero, sizeof zero, "SCTP_AUTH_DEACTIVATE_KEY of none");
}

static void not_authenticated(void)
{
    struct end caller = open_end("caller", SOCK_SEQPACKET), listener = open_end("listener", SOCK_SEQPACKET);
    struct sctp_assoc_value off = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = 0};
    set(listener.fd, SCTP_ASCONF_SUPPORTED, &off, sizeof off, "SCTP_ASCONF_SUPPORTED");
    set(listener.fd, SCTP_AUTH_SUPPORTED, &off, sizeof off, "SCTP_AUTH_SUPPORTED");
    bind_end(&listener, 2011, 5);
    say(&caller, 2011, "one", 3, on(0, 0));
    hear(&listener);
    hear(&caller);
}

static void given_up(void)
{
    struct end caller = open_end("caller", SOCK_STREAM), listener = open_end("listener", SOCK_STREAM);
    static char large[20000];
    bind_end(&listener, 2012, 5);
    struct sockaddr_in to = at(2012);
    if (connect(caller.fd, (struct sockaddr *)&to, sizeof to) < 0)
        fail("connect");
    int accepted = accept(listener.fd, NULL, NULL);
    struct sctp_default_prinfo soon = {.pr_value = 50, .pr_policy = SCTP_PR_SCTP_TTL};
    for (int count = 0; count < 1000 && say(&caller, 0, large, sizeof large, on(1, 0)) > 0; count++)
        if (count == 0)
            set(caller.fd, SCTP_DEFAULT_PRINFO, &soon, sizeof soon, "SCTP_DEFAULT_PRINFO");
    usleep(QUIET_MS * 1000);
    (void)accepted;
    hear(&caller);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"messages", messages},     {"one-to-one", one_to_one},
    {"abort", abort_by_peer},   {"refused", refused},
    {"failed", failed},         {"adaptation", adaptation},
    {"dry", dry},               {"streams", streams},
    {"keys", keys},             {"not-authenticated", not_authenticated},
    {"given-up", given_up},
};

int main(int count, char **arguments)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (count == 1)
            printf("%s\n", scenarios[i].name);
        else if (strcmp(arguments[1], scenarios[i].name) == 0)
            scenarios[i].run();
    return 0;
}
