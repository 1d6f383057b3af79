"""One end of an association of the kernel's SCTP: a source of messages at a steady pace, or a sink.

It imports nothing but the standard library, and runs by ``python3 ends.py`` where the kernel has SCTP.
"""

import argparse
import json
import socket
import struct
import sys
import threading
import time

SCTP = 132
"""The protocol, and the level of its socket options."""
NODELAY, BINDX_ADD = 3, 100
"""Socket options of Linux: ``SCTP_NODELAY``, ``SCTP_SOCKOPT_BINDX_ADD``."""
LONGEST = 65536


def say(what: dict[str, object]) -> None:
    """Print a line of JSON."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def packed(address: str, port: int) -> bytes:
    """Lay an address out as ``struct sockaddr_in``."""
    return struct.pack("=H", socket.AF_INET) + struct.pack(">H4s8x", port, socket.inet_aton(address))


def opened(local: list[str], port: int, receive_buffer: int | None) -> socket.socket:
    """Bind a socket to several addresses."""
    end = socket.socket(socket.AF_INET, socket.SOCK_STREAM, SCTP)
    if receive_buffer:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    end.setsockopt(SCTP, NODELAY, 1)
    end.bind((local[0], port))
    for address in local[1:]:
        end.setsockopt(SCTP, BINDX_ADD, packed(address, port))
    return end


def source(options: argparse.Namespace) -> dict[str, object]:
    """Send messages at instants that were settled before: a socket that blocks delays none that follow."""
    end = opened(options.local, 0, options.receive_buffer)
    end.connect((options.peer, options.port))
    begun = time.monotonic()
    number = 0
    while (due := number * options.every) < options.seconds:
        wait = begun + due - time.monotonic()
        if wait > 0:
            threading.Event().wait(wait)
        end.send(struct.pack(">Q", number).ljust(options.size, b"\0"))
        number += 1
    end.close()
    return {"sent": number}


def sink(options: argparse.Namespace) -> dict[str, object]:
    """Take one association and read until it ends."""
    listening = opened(options.local, options.port, options.receive_buffer)
    listening.listen(1)
    say({"ready": True})
    end, _ = listening.accept()
    messages = octets = 0
    try:
        while octet := end.recv(LONGEST):
            messages += 1
            octets += len(octet)
    except OSError as error:
        return {"received": messages, "octets": octets, "ended": str(error)}
    return {"received": messages, "octets": octets, "ended": "shutdown"}


def main() -> None:
    """Do what the command line says; print what came of it as a line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=("source", "sink"))
    parser.add_argument("--local", nargs="+", required=True)
    parser.add_argument("--peer")
    parser.add_argument("--port", type=int, default=2905)
    parser.add_argument("--every", type=float, default=0.01)
    parser.add_argument("--size", type=int, default=250)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--receive-buffer", type=int)
    options = parser.parse_args()
    say(source(options) if options.role == "source" else sink(options))


if __name__ == "__main__":
    main()
