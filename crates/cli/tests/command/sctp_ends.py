"""Ends of processes and descriptors, as programs with SCTP sockets meet them. The first word names the case."""

import contextlib
import ctypes
import errno
import os
import select
import signal
import socket
import struct
import sys
import threading

SCTP = 132
HERE = "127.0.0.1"


def opened():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, SCTP)


def listening():
    listener = opened()
    listener.bind((HERE, 0))
    listener.listen(16)
    return listener


def connected():
    """Both ends of an association, of this process."""
    listener = listening()
    caller = opened()
    caller.connect(listener.getsockname())
    accepted, _ = listener.accept()
    listener.close()
    return caller, accepted


def whole(end, length):
    parts = []
    while length > 0:
        part = end.recv(length)
        assert part, "an end too early"
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def in_child(work):
    """Run something in a child, which ends without a word; give its process."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print("child:", repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return child


def waited(child, expected=0):
    _, status = os.waitpid(child, 0)
    assert status == expected, status


def ends_in_order(end):
    assert end.recv(100) == b"", "an end in order"


def ends_by_its_own_word(end):
    """As on Linux: who has shut an association down is told so by a receive that would wait."""
    try:
        end.recv(100)
        raise AssertionError("the end is no error")
    except OSError as error:
        assert error.errno == errno.ENOTCONN, error
    end.setblocking(False)
    assert end.recv(100) == b"", "it does not wait"


def fork_after_accept():
    caller, accepted = connected()

    def serve():
        caller.close()
        while message := accepted.recv(70_000):
            accepted.sendall(message)

    child = in_child(serve)
    accepted.close()
    for message in (b"one", os.urandom(50_000), b"last"):
        caller.sendall(message)
        assert whole(caller, len(message)) == message
    caller.shutdown(socket.SHUT_WR)
    waited(child)
    ends_by_its_own_word(caller)


def threads():
    caller, accepted = connected()
    each, count = 200, 4
    came, lock = set(), threading.Lock()

    def send(thread):
        for number in range(each):
            caller.sendall(struct.pack("!II", thread, number) + bytes(300))

    def receive():
        while message := accepted.recv(70_000):
            assert len(message) == 308, len(message)
            with lock:
                came.add(struct.unpack("!II", message[:8]))

    receivers = [threading.Thread(target=receive) for _ in range(count)]
    senders = [threading.Thread(target=send, args=(thread,)) for thread in range(count)]
    for thread in receivers + senders:
        thread.start()
    for thread in senders:
        thread.join()
    caller.shutdown(socket.SHUT_WR)
    for thread in receivers:
        thread.join()
    assert len(came) == each * count, len(came)


def execute():
    """The one end outlives another program's start, the other is closed by it."""
    [kept, kept_peer], [closed, closed_peer] = connected(), connected()
    child = os.fork()
    if child == 0:
        kept_peer.close()
        closed_peer.close()
        os.set_inheritable(kept.fileno(), True)
        os.execv(sys.executable, [sys.executable, sys.argv[0], "executed", str(kept.fileno()), str(closed.fileno())])
    kept.close()
    closed.close()
    assert whole(kept_peer, 6) == b"passed"
    kept_peer.sendall(b"back")
    waited(child)
    ends_in_order(kept_peer)


def executed():
    kept = socket.socket(socket.AF_INET, socket.SOCK_STREAM, SCTP, fileno=int(sys.argv[2]))
    try:
        os.fstat(int(sys.argv[3]))
        sys.exit("it is closed by the start of a program")
    except OSError as error:
        assert error.errno == errno.EBADF
    kept.sendall(b"passed")
    assert whole(kept, 4) == b"back"
    kept.close()


def executed_away():
    """A process that has made a socket becomes another program, which has it no more."""
    listener = listening()
    name = listener.getsockname()
    child = os.fork()
    if child == 0:
        listener.close()
        caller = opened()
        caller.connect(name)
        caller.sendall(b"last")
        os.execv("/bin/true", ["true"])
    accepted, _ = listener.accept()
    assert whole(accepted, 4) == b"last"
    ends_in_order(accepted)
    waited(child)


def passed_on():
    caller, accepted = connected()
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def serve():
        caller.close()
        accepted.close()
        _, [number], _, _ = socket.recv_fds(there, 10, 1)
        got = socket.socket(socket.AF_INET, socket.SOCK_STREAM, SCTP, fileno=number)
        got.sendall(whole(got, 5)[::-1])
        got.close()

    child = in_child(serve)
    socket.send_fds(here, [b"x"], [accepted.fileno()])
    accepted.close()
    caller.sendall(b"hello")
    assert whole(caller, 5) == b"olleh"
    waited(child)
    ends_in_order(caller)


def small_buffer():
    caller, accepted = connected()
    message = os.urandom(1_000)
    caller.sendall(message)
    caller.sendall(b"next")
    came, flags = [], []
    for _ in range(4):
        part, _, told, _ = accepted.recvmsg(300)
        came.append(part)
        flags.append(bool(told & socket.MSG_EOR))
    assert b"".join(came) == message and [len(part) for part in came] == [300, 300, 300, 100]
    assert flags == [False, False, False, True], flags
    assert accepted.recv(300) == b"next"
    # What is left of a message is for whichever process reads next.
    caller.sendall(message)
    assert accepted.recv(600) == message[:600]

    def read():
        assert select.select([accepted], [], [], 10)[0], "the rest is told of"
        assert accepted.recv(600) == message[600:]

    waited(in_child(read))


def nobody():
    bound = opened()
    bound.bind((HERE, 0))
    name = bound.getsockname()
    caller = opened()
    caller.setblocking(False)
    assert caller.connect_ex(name) == errno.EINPROGRESS
    waiting = select.poll()
    waiting.register(caller, select.POLLOUT)
    [(_, told)] = waiting.poll(10_000)
    assert told & select.POLLOUT, told
    assert caller.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED
    assert caller.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0


def killed():
    """The association of a killed program is aborted, whatever was under way."""
    caller, accepted = connected()
    closed, told = os.pipe()

    def hang():
        caller.close()
        os.read(closed, 1)
        accepted.sendall(b"here")
        signal.pause()

    child = in_child(hang)
    accepted.close()
    os.write(told, b"x")
    assert whole(caller, 4) == b"here"
    os.kill(child, signal.SIGKILL)
    waited(child, signal.SIGKILL)
    try:
        caller.recv(10)
        sys.exit("no ABORT has come")
    except ConnectionResetError:
        pass


def exits():
    """`_exit`, `close_range` and `closefrom` end an association in order, and so does the end of `main`."""
    c = ctypes.CDLL(None)

    def close_range(end):
        assert c.close_range(end.fileno(), end.fileno(), 0) == 0
        signal.pause()

    def leave(_):
        os._exit(0)

    def replaced(end):
        os.dup2(os.open("/dev/null", os.O_RDONLY), end.fileno())
        signal.pause()

    for close in (close_range, leave, replaced):
        caller, accepted = connected()

        def end(caller=caller, accepted=accepted, close=close):
            caller.close()
            accepted.sendall(b"last")
            close(accepted)

        child = in_child(end)
        accepted.close()
        assert whole(caller, 4) == b"last"
        ends_in_order(caller)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def of_status(process, name):
    with open(f"/proc/{process}/status") as status:
        for line in status:
            if line.startswith(name):
                return line.split()[1:]
    return []


def parent(process):
    return int(of_status(process, "PPid:")[0])


def named(process):
    with open(f"/proc/{process}/cmdline", "rb") as line:
        return line.read().split(b"\0")


def ancestor(command):
    """Give the process above this one that runs a command of slantpath."""
    process = parent(os.getpid())
    while command not in named(process)[1:2]:
        process = parent(process)
    return process


def daemon_killed():
    """Reads end, writes are reset, and nothing hangs."""
    caller, accepted = connected()
    caller.sendall(b"last")
    assert whole(accepted, 4) == b"last"
    os.kill(ancestor(b"sctp"), signal.SIGKILL)
    # Where something was under way to the daemon, the kernel says so once.
    with contextlib.suppress(ConnectionResetError):
        assert caller.recv(10) == b""
    for _ in range(3):
        try:
            caller.send(b"nobody")
            sys.exit("nobody takes it")
        except ConnectionResetError:
            pass
    for ask in (opened, accepted.getpeername, lambda: accepted.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)):
        try:
            ask()
            sys.exit("nobody answers")
        except OSError:
            pass
    caller.close()
    accepted.close()


def notifier_killed():
    caller, _accepted = connected()
    print("up", flush=True)
    os.kill(ancestor(b"sctp-notifier"), signal.SIGKILL)
    with contextlib.suppress(OSError):
        caller.recv(10)
    signal.pause()


def bad_input():
    """Wrong lengths, pointers, families and descriptors: Linux's errors, and all others go on."""
    c = ctypes.CDLL(None, use_errno=True)
    caller, accepted = connected()
    end = opened()

    def fails(expected, call, *words):
        result = call(*words)
        told = ctypes.get_errno()
        assert (result, told) == (-1, expected), (call.__name__, words, result, errno.errorcode.get(told, told))

    def name(family=socket.AF_INET, port=0, address=HERE):
        return struct.pack("=HH4s8x", family, socket.htons(port), socket.inet_aton(address))

    low, number = ctypes.c_void_p(8), ctypes.c_int(0)
    fd, free = caller.fileno(), end.fileno()
    for call in (c.bind, c.connect):
        fails(errno.EINVAL, call, free, name(), 3)
        fails(errno.EINVAL, call, free, name(socket.AF_UNIX, 9), 16)
        fails(errno.EFAULT, call, free, low, 16)
        fails(errno.EINVAL, call, free, name(), 4_096)
    fails(errno.EADDRNOTAVAIL, c.bind, free, name(address="192.0.2.1"), 16)
    fails(errno.EINVAL, c.setsockopt, fd, SCTP, 3, b"\1", 1)
    fails(errno.EFAULT, c.setsockopt, fd, SCTP, 3, low, 4)
    fails(errno.EINVAL, c.setsockopt, fd, SCTP, 3, b"\1\0\0\0", -1)
    fails(errno.ENOPROTOOPT, c.setsockopt, fd, SCTP, 9_999, b"\1\0\0\0", 4)
    fails(errno.ENOPROTOOPT, c.getsockopt, fd, SCTP, 9_999, ctypes.byref(number), ctypes.byref(ctypes.c_int(4)))
    fails(errno.EFAULT, c.getsockopt, fd, SCTP, 3, ctypes.byref(number), low)
    fails(errno.EFAULT, c.getsockopt, fd, SCTP, 3, low, ctypes.byref(ctypes.c_int(4)))
    fails(errno.EINVAL, c.getsockopt, fd, SCTP, 3, ctypes.byref(number), ctypes.byref(ctypes.c_int(-1)))
    fails(errno.EFAULT, c.send, fd, low, 10, 0)
    fails(errno.EFAULT, c.sendmsg, fd, low, 0)
    fails(errno.EFAULT, c.getsockname, fd, low, ctypes.byref(ctypes.c_int(16)))
    fails(errno.EINVAL, c.shutdown, fd, 9)
    fails(errno.EINVAL, c.accept, fd, None, None)
    caller.sendall(b"one")
    select.select([accepted], [], [], 10)
    fails(errno.EFAULT, c.recv, accepted.fileno(), low, 10, socket.MSG_PEEK)
    # Control messages that are cut, too long, or lie anywhere; one that is right may lie anywhere, too.
    data = ctypes.create_string_buffer(b"two")
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(data), 3)

    def message(control, length):
        return struct.pack("@PIPNPNi4x", 0, 0, ctypes.addressof(vector), 1, control, length, 0)

    place = ctypes.create_string_buffer(128)
    sndinfo = struct.pack("@NiiHHIIi", 32, SCTP, 2, 0, 0, 7, 0, 0)
    for length, told, at in ((16, 15, 0), (32, 4_000, 0), (32, 17, 0), (32, 0, 8), (32, 2**63, 1)):
        ctypes.memmove(ctypes.addressof(place) + at, struct.pack("@N", told) + sndinfo[8:], 32)
        fails(errno.EINVAL, c.sendmsg, fd, message(ctypes.addressof(place) + at, length), 0)
    fails(errno.EFAULT, c.sendmsg, fd, message(8, 32), 0)
    ctypes.memmove(ctypes.addressof(place) + 1, sndinfo, 32)
    assert c.sendmsg(fd, message(ctypes.addressof(place) + 1, 32), 0) == 3, errno.errorcode[ctypes.get_errno()]
    assert whole(accepted, 6) == b"onetwo"
    end.close()
    for call, words in (
        (c.send, (b"x", 1, 0)),
        (c.recv, (place, 1, 0)),
        (c.listen, (1,)),
        (c.bind, (name(), 16)),
        (c.getsockopt, (SCTP, 3, ctypes.byref(number), ctypes.byref(ctypes.c_int(4)))),
        (c.close, ()),
    ):
        fails(errno.EBADF, call, free, *words)
    accepted.sendall(b"as before")
    assert whole(caller, 9) == b"as before"


def low_port():
    """A port that needs a privilege: the rights of the program tell, and no other's."""
    c = ctypes.CDLL(None, use_errno=True)
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start") as told:
        port = int(told.read()) - 1
    if port < 1:
        return

    def by_bind(end):
        name = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton(HERE))
        return c.bind(end.fileno(), name, len(name))

    def by_bindx(end):
        name = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton(HERE))
        return c.setsockopt(end.fileno(), SCTP, 100, name, len(name))

    def binds(expected):
        for bind in (by_bind, by_bindx):
            with opened() as end:
                told = errno.errorcode[ctypes.get_errno()] if bind(end) else None
                assert told == expected, (bind.__name__, told)

    header = struct.pack("=Ii", 0x2008_0522, 0)
    sets = ctypes.create_string_buffer(24)
    assert c.capget(header, sets) == 0
    effective, *others = struct.unpack("=6I", sets.raw)
    if effective & 1 << 10:
        binds(None)
        assert c.capset(header, struct.pack("=6I", effective & ~(1 << 10), *others)) == 0
    binds("EACCES")
    with opened() as end:
        end.bind((HERE, 0))


globals()[sys.argv[1]]()
if sys.argv[1] != "executed":
    print("whole", flush=True)
