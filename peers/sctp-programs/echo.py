"""An end of SCTP by Python's own module: one serves and sends back, the other compares what it gets back."""

import os
import socket
import sys

SCTP = 132
MESSAGES = (1, 1_400, 20_000, 4)
"""Lengths, in bytes."""
PATIENCE_S = 20


def made(kind: socket.SocketKind) -> socket.socket:
    one = socket.socket(socket.AF_INET, kind, SCTP)
    one.settimeout(PATIENCE_S)
    return one


def serve(at: tuple[str, int]) -> None:
    listener = made(socket.SOCK_STREAM)
    listener.bind(at)
    listener.listen(5)
    end, _ = listener.accept()
    while message := end.recv(70_000):
        end.sendall(message)
    end.close()


def call(to: tuple[str, int]) -> None:
    end = made(socket.SOCK_STREAM)
    end.connect(to)
    for length in MESSAGES:
        message = os.urandom(length)
        end.sendall(message)
        back = b""
        while len(back) < length:
            back += end.recv(20_000)
        assert back == message, (len(back), length)
    end.close()


def serve_many(at: tuple[str, int]) -> None:
    end = made(socket.SOCK_SEQPACKET)
    end.bind(at)
    end.listen(5)
    for _ in MESSAGES:
        message, peer = end.recvfrom(70_000)
        end.sendto(message, peer)
    # The end of the association tells that all has arrived.
    end.setsockopt(SCTP, 11, b"\0\1")
    while end.recv(70_000):
        break


def call_many(to: tuple[str, int]) -> None:
    end = made(socket.SOCK_SEQPACKET)
    for length in MESSAGES:
        message = os.urandom(length)
        end.sendto(message, to)
        back = b""
        while len(back) < length:
            back += end.recvfrom(70_000)[0]
        assert back == message, (len(back), length)
    end.close()


def main() -> None:
    what, at = sys.argv[1], (sys.argv[2], int(sys.argv[3]))
    {"serve": serve, "call": call, "serve-many": serve_many, "call-many": call_many}[what](at)
    print(f"whole: {sum(MESSAGES)} bytes, back as they went")


if __name__ == "__main__":
    main()
