"""Messages over pysctp, one-to-many at the server: one end sends back what it gets, the other compares."""

import os
import socket
import sys

import sctp

LENGTHS = (1, 1_400, 20_000, 4)
STREAMS = (0, 3, 1, 9)
PPID = 46


def serve(at: tuple[str, int]) -> None:
    end = sctp.sctpsocket_udp(socket.AF_INET)
    end.events.data_io = True
    end.bindx([at])
    end.listen(5)
    for _ in LENGTHS:
        source, _, message, info = end.sctp_recv(70_000)
        end.sctp_send(message, to=source, stream=info.stream, ppid=info.ppid)
    # Its peer has all, and says so by its end.
    end.events.shutdown = True
    end.events.association = True
    end.sctp_recv(70_000)
    end.close()


def call(to: tuple[str, int]) -> None:
    end = sctp.sctpsocket_tcp(socket.AF_INET)
    end.events.data_io = True
    end.connect(to)
    for length, stream in zip(LENGTHS, STREAMS, strict=True):
        message = os.urandom(length)
        end.sctp_send(message, stream=stream, ppid=socket.htonl(PPID))
        _, _, back, info = end.sctp_recv(70_000)
        assert (back == message, info.stream) == (True, stream), (len(back), length, info.stream)
        assert socket.ntohl(info.ppid) == PPID, info.ppid
    end.close()
    print(f"whole: {sum(LENGTHS)} bytes on their streams, back as they went")


if __name__ == "__main__":
    {"serve": serve, "call": call}[sys.argv[1]]((sys.argv[2], int(sys.argv[3])))
