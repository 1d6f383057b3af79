"""One bulk transfer of TCP, in two processes that each run in a place of their own.

`bulk.py receive SECONDS` prints how many bytes had come so long after the connection, `bulk.py send CONTROL
SECONDS ADDRESS` how many segments were retransmitted.
"""

import contextlib
import socket
import struct
import sys
import time

PORT = 5_001
BUFFER_BYTES = 8 << 20
# Linux's numbers, for which Python has no names.
SO_SNDBUFFORCE = 32
SO_RCVBUFFORCE = 33
TOTAL_RETRANS_AT = 100
"""Where `tcpi_total_retrans` stands in `struct tcp_info`."""


def receive(seconds: float) -> None:
    """Accept one connection and tell how many bytes it brings in so many seconds."""
    with socket.create_server(("", PORT)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        print("listening", flush=True)
        connection, _ = listener.accept()
        end = time.monotonic() + seconds
        received = 0
        buffer = bytearray(1 << 20)
        with connection:
            while (left := end - time.monotonic()) > 0:
                connection.settimeout(left)
                try:
                    received += connection.recv_into(buffer)
                except (TimeoutError, ConnectionResetError):
                    break
        print(received, flush=True)


def send(control: str, seconds: float, address: str) -> int:
    """Send for so many seconds and return how many segments were retransmitted."""
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        connection.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES)
        # A reset ends it: nobody waits for what is in flight.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.connect((address, PORT))
        end = time.monotonic() + seconds
        data = bytes(1 << 16)
        while (left := end - time.monotonic()) > 0:
            connection.settimeout(left)
            try:
                connection.send(data)
            except (TimeoutError, BrokenPipeError, ConnectionResetError):
                # Or the other end, whose time began when it was there, has ended already.
                break
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        again = int(struct.unpack_from("I", info, TOTAL_RETRANS_AT)[0])
    # With this end all ends: the other has to have told its count. Until then a connection to it stays open.
    with contextlib.suppress(OSError), socket.create_connection((address, PORT), timeout=10) as waiting:
        waiting.recv(1)
    return again


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["receive", seconds]:
            receive(float(seconds))
        case ["send", control, seconds, address]:
            print(send(control, float(seconds), address))
        case _:
            sys.exit(__doc__)
