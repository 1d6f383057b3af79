"""Two ends of a Linux kernel's SCTP with two paths, of which the first fails in silence.

    ends.py DIRECTORY

Runs as root in a guest kernel, which has SCTP, `ip netns` and netem. A namespace sends numbered messages to
another, 20 ms apart. Then the other's interface of the first path goes down, which the sender is not told.
All packets, as the receiver's interfaces see them, are written to DIRECTORY/failover.pcap. It prints what the
ends saw, as JSON:

    established   when the receiver had its association
    failed        when the interface was taken down: just before, and just behind
    arrivals      number of each message, and when it came

All times are seconds of the guest's clock.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

IPPROTO_SCTP = 132
SCTP_NODELAY = 3
SO_TIMESTAMPNS = 35
ETH_P_ALL = 3
IPV4 = 4
PORT = 5000
INTERVAL_S = 0.02
ONE_WAY = "250ms"
BEFORE_S = 2.0
BEHIND_S = 2.5
SETTINGS = {"rto_min": 500, "rto_initial": 1000}


def main() -> None:
    """Be one of the ends, or set both up."""
    match sys.argv[1:]:
        case ["send", peer]:
            send(peer)
        case ["receive", directory]:
            receive(Path(directory))
        case [directory]:
            both(directory)
        case _:
            sys.exit(__doc__)


def both(directory: str) -> None:
    """Run both ends, and fail the first path."""
    for side in "ab":
        run(f"ip netns add {side}")
        run(f"ip -n {side} link set lo up")
        for name, value in SETTINGS.items():
            run(f"ip netns exec {side} sysctl -qw net.sctp.{name}={value}")
    for path in (0, 1):
        run(f"ip link add a{path} netns a type veth peer name b{path} netns b")
        for host, side in enumerate("ab", start=1):
            run(f"ip -n {side} address add 10.84.{path}.{host}/24 dev {side}{path}")
            run(f"ip -n {side} link set {side}{path} up")
            run(f"ip netns exec {side} tc qdisc add dev {side}{path} root netem delay {ONE_WAY}")
    receiver = subprocess.Popen(
        ["ip", "netns", "exec", "b", sys.executable, __file__, "receive", directory],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert receiver.stdout is not None
    receiver.stdout.readline()
    sender = subprocess.Popen(["ip", "netns", "exec", "a", sys.executable, __file__, "send", "10.84.0.2"])
    established = float(receiver.stdout.readline())
    wait(max(0.0, established + BEFORE_S - time.time()))
    before = time.time()
    run("ip -n b link set b0 down")
    failed = [before, time.time()]
    wait(BEHIND_S)
    for end in (sender, receiver):
        end.terminate()
    arrivals = [json.loads(line) for line in receiver.stdout]
    print(json.dumps({"established": established, "failed": failed, "arrivals": arrivals}))


def wait(seconds: float) -> None:
    """Let time pass."""
    threading.Event().wait(seconds)


def run(command: str) -> None:
    """Run a command that has to succeed."""
    subprocess.run(command.split(), check=True)


def send(peer: str) -> None:
    """Send numbered messages until this is ended."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SCTP) as own:
        own.setsockopt(IPPROTO_SCTP, SCTP_NODELAY, 1)
        own.connect((peer, PORT))
        begun = time.time()
        for number in range(1_000_000):
            wait(max(0.0, begun + number * INTERVAL_S - time.time()))
            own.send(struct.pack("!Q", number))


def receive(directory: Path) -> None:
    """Take messages, and say when each came; capture meanwhile."""
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SCTP)
    own.bind(("0.0.0.0", PORT))  # noqa: S104 - all addresses of the namespace
    own.listen()
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    packets.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    file = (directory / "failover.pcap").open("wb", buffering=0)
    # Times in nanoseconds, packets from their IP headers on.
    file.write(struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101))
    threading.Thread(target=capture, args=(packets, file), daemon=True).start()
    print("listening", flush=True)
    peer, _ = own.accept()
    print(time.time(), flush=True)
    while message := peer.recv(64):
        print(json.dumps([*struct.unpack("!Q", message), time.time()]), flush=True)


def capture(packets: socket.socket, file: object) -> None:
    """Write every packet of IPv4 with the time at which the kernel had it."""
    while True:
        with contextlib.suppress(OSError):
            packet, told, *_ = packets.recvmsg(65535, 64)
            seconds, nanoseconds = struct.unpack("qq", told[0][2][:16])
            if packet and packet[0] >> 4 == IPV4:
                head = struct.pack("=IIII", seconds, nanoseconds, len(packet), len(packet))
                file.write(head + packet)


if __name__ == "__main__":
    main()
