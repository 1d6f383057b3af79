"""How late `slantpath.testing.relayed` hands packets over: 2,000 datagrams and their echoes, 2 ms apart.

It fails if 99 % are later than 5 ms, which an idle machine keeps. `make bench` runs it.
"""

from __future__ import annotations

import re
import select
import socket
import sys
import threading
import time

from slantpath import testing

COUNT = 2_000
APART_S = 0.002
MOST_MS = 5.0
UNITS = {"us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3}


def echo(server: socket.socket) -> None:
    """Answer whoever sends."""
    while True:
        data, sender = server.recvfrom(2_000)
        if data == b"end":
            return
        server.sendto(data, sender)


def taken(client: socket.socket, until_s: float) -> int:
    """Take what comes up to an instant, and count it."""
    count = 0
    while (left_s := until_s - time.monotonic()) > 0:
        if select.select([client], [], [], left_s)[0]:
            client.recv(100)
            count += 1
    return count


def main() -> int:
    """Measure, and tell."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    answering = threading.Thread(target=echo, args=(server,))
    answering.start()
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    came = 0
    path = testing.relayed(f"{server.getsockname()[1]}/udp", delay="20 ms", late="1 s")
    with path:
        for number in range(COUNT):
            client.sendto(b"%d" % number, path.address)
            came += taken(client, time.monotonic() + APART_S)
        came += taken(client, time.monotonic() + 1)
    client.sendto(b"end", server.getsockname())
    answering.join()
    client.close()
    server.close()
    print(f"{came} of {COUNT} came back")
    shares = []
    for line in path.late:
        print(line)
        found = re.search(r"([\d.]+) (\S+) \(99 %\)", line)
        if found is not None:
            shares.append(float(found[1]) * UNITS[found[2]])
    return 0 if shares and max(shares) <= MOST_MS else 1


if __name__ == "__main__":
    sys.exit(main())
