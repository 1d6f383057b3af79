#!/usr/bin/env python3
"""Carries IP packets between a test and a Linux kernel's TCP or SCTP, and tells the test the time.

`relay.py tcp send|receive BYTES ECN` opens a TUN device in a network namespace of its own: the peer is
the kernel of this machine, with `net.ipv4.tcp_ecn=ECN`. `relay.py sctp send|receive BYTES ECN SCRIPTS`
starts a guest by the scripts in that folder (User-Mode Linux), with `net.sctp.ecn_enable=ECN`: the peer
is its kernel. In either, a program sends so many bytes to the test (10.82.0.1), or receives until the
test closes. Needs root.

On standard output comes a line, `up` or `skip` with the reason. Then the test asks and the relay
answers, in numbers of the machine's byte order. A question: how long to wait in ns (8 bytes), how many
packets are for the kernel (4) and each of those, after its length (4). An answer: the time since the
start in ns (8), how many packets have come from the kernel (4) and each of those, after its length (4).
When standard input ends, lines say what the program received and what the kernel has counted.
"""

import ctypes
import fcntl
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
CLONE_NEWNET = 0x40000000
PROTOCOLS = {"tcp": socket.IPPROTO_TCP, "sctp": 132}
OURS = "10.82.0.1"
KERNEL = "10.82.0.2"
PORT = 5_000
MESSAGE_BYTES = 1_000
"""Of what the kernel sends by SCTP."""
PACKETS_MAX = 64
"""In one answer."""
PATIENCE_S = 5


def transfer(protocol: str, what: str, count: int) -> None:
    """Be the program that uses the kernel's transport."""
    if what == "receive":
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTOCOLS[protocol]) as listener:
            listener.bind((KERNEL, PORT))
            listener.listen()
            print("ready", flush=True)
            connection, _ = listener.accept()
    else:
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTOCOLS[protocol])
        print("ready", flush=True)
        connection.connect((OURS, PORT))
        if protocol == "tcp":
            connection.sendall(bytes(count))
            connection.shutdown(socket.SHUT_WR)
        else:
            for _ in range(count // MESSAGE_BYTES):
                connection.send(bytes(MESSAGE_BYTES))
    received = 0
    with connection:
        if what == "receive" or protocol == "tcp":
            while data := connection.recv(1 << 16):
                received += len(data)
    print("received", received, flush=True)


def command(*words: str) -> None:
    subprocess.run(words, check=True, stdout=sys.stderr)


def enter(namespace: str) -> None:
    """Make a network namespace, which what this process opens from now on belongs to."""
    command("ip", "netns", "add", namespace)
    with Path("/run/netns", namespace).open() as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    command("ip", "link", "set", "lo", "up")


class Kernel:
    """The peer: how packets come to it and from it, and how commands run beside it."""

    def __init__(self, protocol: str, ecn: str, scripts: str) -> None:
        self.name = f"ecn{os.getpid()}"
        self.scripts = Path(scripts)
        self.number = PROTOCOLS[protocol]
        enter(self.name)
        if protocol == "tcp":
            self.open_tun(ecn)
        else:
            self.open_guest(ecn)

    def open_tun(self, ecn: str) -> None:
        self.prefix: list[str] = []
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", b"tun0", IFF_TUN_NO_PI))
        settings = {
            "net.ipv6.conf.tun0.disable_ipv6": "1",
            "net.ipv4.tcp_congestion_control": "reno",
            "net.ipv4.tcp_ecn": ecn,
            "net.ipv4.tcp_ecn_fallback": "0",
            "net.ipv4.tcp_no_metrics_save": "1",
        }
        command("sysctl", "-qw", *(f"{key}={value}" for key, value in settings.items()))
        command("ip", "addr", "add", KERNEL, "peer", OURS, "dev", "tun0")
        command("ip", "link", "set", "tun0", "up", "mtu", "1500", "txqueuelen", "20000")
        self.source = tun
        self.receive: Callable[[], bytes] = lambda: os.read(tun, 1 << 16)
        self.send: Callable[[bytes], object] = lambda packet: os.write(tun, packet)

    def open_guest(self, ecn: str) -> None:
        # A raw socket keeps this machine's kernel from answering what it has no SCTP for.
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, self.number)
        raw.setsockopt(socket.IPPROTO_IP, socket.IP_HDRINCL, 1)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        raw.setblocking(False)  # noqa: FBT003
        self.prefix = [str(self.scripts / "run-in-guest"), self.name]
        up = Path(__file__).parent.parent / "user-mode-linux/up"
        command(str(up), str(self.scripts), self.name, self.name, f"tap0,{OURS}/24,{KERNEL}/24")
        command(*self.prefix, "sysctl", "-qw", f"net.sctp.ecn_enable={ecn}")
        self.source = raw.fileno()
        self.receive = lambda: raw.recv(1 << 16)
        self.send = lambda packet: raw.sendto(packet, (KERNEL, 0))

    def counters(self) -> dict[str, int]:
        """Read what the kernel has counted, by the names of /proc/net/netstat and /proc/net/snmp."""
        files = ["/proc/net/netstat", "/proc/net/snmp"]
        text = subprocess.run(
            [*self.prefix, "cat", *files], check=True, capture_output=True, text=True
        ).stdout
        lines = text.splitlines()
        counts = {}
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            table = names.split(":")[0]
            for name, value in zip(names.split()[1:], values.split()[1:], strict=True):
                counts[table + name] = int(value)
        return counts

    def end(self) -> None:
        if self.prefix:
            command(str(self.scripts / "down"), self.name)
        command("ip", "netns", "del", self.name)


def read_exactly(count: int) -> bytes:
    return sys.stdin.buffer.read(count)


def relay(kernel: Kernel) -> None:
    """Answer until standard input ends."""
    start = time.monotonic_ns()
    poll = select.poll()
    poll.register(kernel.source, select.POLLIN)
    while head := read_exactly(12):
        wait_ns, count = struct.unpack("=QI", head)
        for _ in range(count):
            (length,) = struct.unpack("=I", read_exactly(4))
            kernel.send(read_exactly(length))
        poll.poll(-(-wait_ns // 1_000_000))
        packets: list[bytes] = []
        while len(packets) < PACKETS_MAX:
            try:
                packet = kernel.receive()
            except BlockingIOError:
                break
            # What this machine itself says, ICMP among it, is not the peer's.
            if packet[0] >> 4 == 4 and packet[9] == kernel.number:  # noqa: PLR2004
                packets.append(packet)
        answer = [struct.pack("=QI", time.monotonic_ns() - start, len(packets))]
        for packet in packets:
            answer += [struct.pack("=I", len(packet)), packet]
        sys.stdout.buffer.write(b"".join(answer))
        sys.stdout.buffer.flush()


def main() -> None:
    protocol, what, count, ecn, scripts = [*sys.argv[1:], ""][:5]
    missing = [
        reason
        for reason, is_there in [
            ("the kernel as a peer needs root", os.geteuid() == 0),
            ("there is no /dev/net/tun", Path("/dev/net/tun").exists()),
            ("there is no `ip` (iproute2)", shutil.which("ip")),
            ("there is no linux.uml (user-mode-linux)", protocol == "tcp" or shutil.which("linux.uml")),
        ]
        if not is_there
    ]
    if missing:
        print("skip", "; ".join(missing), flush=True)
        return
    kernel = Kernel(protocol, ecn, scripts)
    try:
        words = [
            *kernel.prefix,
            sys.executable,
            str(Path(__file__).resolve()),
            "program",
            protocol,
            what,
            count,
        ]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as program:
            try:
                assert program.stdout is not None
                if program.stdout.readline() != "ready\n":
                    raise RuntimeError("the program that uses the kernel's transport did not start")
                print("up", flush=True)
                relay(kernel)
                print(program.communicate(timeout=PATIENCE_S)[0], end="")
                for name, value in kernel.counters().items():
                    print(name, value)
            finally:
                program.terminate()
    finally:
        kernel.end()


if __name__ == "__main__":
    if sys.argv[1] == "program":
        transfer(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
