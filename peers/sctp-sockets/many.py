#!/usr/bin/env python3
"""Many SCTP sockets with many associations, in one program: `slantpath sctp -- peers/sctp-sockets/many.py`.

One-to-many sockets at ports of their own send to the next ones around a ring, so that each pair of them has
an association. Each message is answered to where it came from, and all answers are counted. What each step
took is told on the error stream, and `--out` has it as a table.
"""

from __future__ import annotations

import argparse
import csv
import resource
import selectors
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SCTP = 132
Name = tuple[str, int]
QUESTION = b"question"
ANSWER = b"answer"
PATIENCE_S = 60.0
"""Time in which something has to come."""
SPARE_FILES = 64
"""Files of a program beside its sockets."""


def allow(files: int) -> None:
    """Raise the limit of open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < files:
        sys.exit(f"{files} open files are needed, and {hard} are allowed: raise the limit (`ulimit -Hn`)")
    if soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))


def messages(
    selector: selectors.BaseSelector, count: int, use: Callable[[socket.socket, bytes, Name], None]
) -> None:
    """Receive so many messages."""
    came = 0
    while came < count:
        ready = selector.select(PATIENCE_S)
        if not ready:
            sys.exit(f"{came} of {count} messages have come")
        for key, _ in ready:
            end = key.fileobj
            assert isinstance(end, socket.socket)
            try:
                message, peer = end.recvfrom(100)
            except BlockingIOError:
                continue
            use(end, message, peer)
            came += 1


def main() -> None:
    """Open the sockets, and have them reach one another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sockets", type=int, default=1_000)
    parser.add_argument("--associations", type=int, default=10_000)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--out", type=Path)
    words = parser.parse_args()
    count, each = words.sockets, words.associations // words.sockets
    assert 0 < 2 * each < count, "a ring in which no two sockets meet twice"
    allow(count + SPARE_FILES)
    rows: list[tuple[str, int, str]] = []
    begun = time.monotonic()

    def done(step: str, number: int) -> None:
        nonlocal begun
        now = time.monotonic()
        rows.append((step, number, f"{now - begun:.2f}"))
        print(f"{step}: {number} in {now - begun:.2f} s", file=sys.stderr)
        begun = now

    ends = [socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET, SCTP) for _ in range(count)]
    done("sockets opened", count)
    for end in ends:
        end.bind((words.address, 0))
        end.listen(count)
        end.settimeout(0)
    names = [end.getsockname() for end in ends]
    assert len(set(names)) == count, "each has a port of its own"
    done("ports bound, and listened at", count)
    selector = selectors.DefaultSelector()
    for end in ends:
        selector.register(end, selectors.EVENT_READ)

    counts = {QUESTION: 0, ANSWER: 0}

    def take(end: socket.socket, message: bytes, peer: Name) -> None:
        counts[message] += 1
        if message == QUESTION:
            end.sendto(ANSWER, peer)

    for step in range(1, each + 1):
        for place, end in enumerate(ends):
            end.sendto(QUESTION, names[(place + step) % count])
        # Not all at once: the packets of a step are as many as a buffer of the machine holds.
        messages(selector, 2 * count, take)
        assert counts == {QUESTION: step * count, ANSWER: step * count}, counts
    done("associations, with a message each way", count * each)
    for end in ends:
        selector.unregister(end)
        end.close()
    done("sockets closed", count)
    if words.out:
        with words.out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("step", "number", "seconds"), *rows])
    print("whole")


if __name__ == "__main__":
    main()
