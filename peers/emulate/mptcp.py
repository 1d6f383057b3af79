"""One transfer by MPTCP, by `mptcp.py send SECONDS`: `mptcp.py receive SECONDS` tells how many bytes came.

The receiver announces its address at the second link, and the sender opens a second subflow to that.
"""

import contextlib
import socket
import subprocess
import sys
import time

PORT = 5_001
IPPROTO_MPTCP = 262
SETTLES_S = 2.0
"""Time until both subflows have found their rates."""
LAST_WORDS_S = 1.0
SECOND = "10.4.0.1"
"""The receiver's address at the second link."""


def endpoint() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)


def ip(*words: str) -> None:
    subprocess.run(["ip", "mptcp", *words], check=True)


def receive(seconds: float) -> int:
    ip("endpoint", "add", SECOND, "dev", "exit-two", "signal")
    with endpoint() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", PORT))
        listener.listen()
        connection, _ = listener.accept()
        with connection:
            begin = time.monotonic() + SETTLES_S
            received = 0
            while (now := time.monotonic()) < begin + seconds:
                data = connection.recv(1 << 18)
                if now >= begin:
                    received += len(data)
    return received


def send(seconds: float) -> None:
    ip("limits", "set", "subflow", "2", "add_addr_accepted", "2")
    with endpoint() as connection, contextlib.suppress(ConnectionError):
        connection.connect((socket.gethostbyname("far"), PORT))
        # Longer than the receiver counts: with this end all ends.
        end = time.monotonic() + SETTLES_S + seconds + LAST_WORDS_S
        while (left := end - time.monotonic()) > 0:
            connection.settimeout(left)
            with contextlib.suppress(TimeoutError):
                connection.send(bytes(1 << 16))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["receive", seconds]:
            print(receive(float(seconds)), flush=True)
        case ["send", seconds]:
            send(float(seconds))
        case _:
            sys.exit(__doc__)
