"""A program in a guest whose kernel has SCTP.

`guest.py serve` listens on port 5000, echoes what one peer sends until it closes, and prints how many
messages these were. `guest.py call ADDRESS MESSAGES` sends so many of any bytes to that port, reads them
back and prints the SHA-256 of what it sent and of what came.
"""

import hashlib
import random
import socket
import sys
import threading

SCTP = 132
SCTP_NODELAY = 3
PORT = 5_000
LENGTHS = (1, 1_000, 1_452, 4_000)


def serve() -> None:
    """Echo one association."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, SCTP) as listener:
        listener.bind(("0.0.0.0", PORT))
        listener.listen()
        print("ready", flush=True)
        connection, _ = listener.accept()
    connection.setsockopt(SCTP, SCTP_NODELAY, 1)
    count = 0
    with connection:
        while message := connection.recv(65_536):
            connection.sendall(message)
            count += 1
    print(count, flush=True)


def call(address: str, messages: int) -> None:
    """Send messages and read as many back."""
    source = random.Random(7)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, SCTP) as connection:
        connection.connect((address, PORT))
        sent = hashlib.sha256()
        back = hashlib.sha256()

        def read() -> None:
            for _ in range(messages):
                back.update(connection.recv(65_536))

        reader = threading.Thread(target=read)
        reader.start()
        for number in range(messages):
            message = source.randbytes(LENGTHS[number % len(LENGTHS)])
            sent.update(message)
            connection.sendall(message)
        reader.join()
    print(sent.hexdigest(), back.hexdigest(), flush=True)


if sys.argv[1] == "serve":
    serve()
else:
    call(sys.argv[2], int(sys.argv[3]))
