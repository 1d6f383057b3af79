"""A program that sends datagrams to `far` as fast as it can: `flood.py SECONDS` tells how many."""

import socket
import sys
import time

data = bytes(1_000)
sent = 0
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flood:
    flood.connect((socket.gethostbyname("far"), 9))
    # Until its neighbour has answered, the kernel keeps a few datagrams and drops the rest.
    flood.settimeout(30)
    sent += 1
    try:
        flood.send(data)
        flood.recv(1)
    except ConnectionRefusedError:
        flood.settimeout(None)
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        for _ in range(100):
            try:
                flood.send(data)
            except (BlockingIOError, ConnectionRefusedError):
                # Its own buffer is full, or nobody listens at the other end.
                continue
            sent += 1
print(sent, flush=True)
