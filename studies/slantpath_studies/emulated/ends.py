"""An end of a laboratory, in a kernel that has SCTP: it sends or takes numbered messages.

    ends.py send PEER PORT BYTES INTERVAL_S SECONDS BUFFER    until that is over, or it is ended
    ends.py receive PORT BUFFER                               a line a message: number, sent, arrived

A message begins with its number and the time of its SEND. All times are seconds of the kernel's clock, which
both ends share. A buffer of 0 is the kernel's own.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time

IPPROTO_SCTP = 132
SCTP_NODELAY = 3
HEAD = struct.Struct("!Qd")


def main() -> None:
    """Be one of the ends."""
    match sys.argv[1:]:
        case ["send", peer, port, size, interval_s, seconds, buffer]:
            send((peer, int(port)), int(size), float(interval_s), float(seconds), int(buffer))
        case ["receive", port, buffer]:
            receive(int(port), int(buffer))
        case _:
            sys.exit(__doc__)


def send(peer: tuple[str, int], size: int, interval_s: float, seconds: float, buffer: int) -> None:
    """Send a message each interval; where the socket has no room the next ones wait."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SCTP) as own:
        own.setsockopt(IPPROTO_SCTP, SCTP_NODELAY, 1)
        if buffer:
            # The kernel doubles it, for its own records.
            own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer // 2)
        own.connect(peer)
        begun = time.time()
        for number in range(int(seconds / interval_s)):
            due = begun + number * interval_s
            threading.Event().wait(max(0.0, due - time.time()))
            own.send(HEAD.pack(number, time.time()).ljust(size, b"\0"))


def receive(port: int, buffer: int) -> None:
    """Take messages of one peer, and say when each came."""
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SCTP)
    if buffer:
        # The kernel doubles it, and announces half.
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    own.bind(("0.0.0.0", port))  # noqa: S104 - all addresses of the namespace
    own.listen()
    print("listening", flush=True)
    peer, _ = own.accept()
    while message := peer.recv(65_536):
        number, sent = HEAD.unpack_from(message)
        print(json.dumps([number, sent, time.time()]), flush=True)


if __name__ == "__main__":
    main()
