"""Two network namespaces of Linux joined by a satellite link in user space. Needs root.

    with Link("geo1", rate_bit_per_s=10e6, one_way_s=0.28, loss=0.001, queue_bytes=700_000, seed=1) as link:
        subprocess.run(["ip", "netns", "exec", link.left, "ping", "-c", "3", link.right_address])
    print(link.counts)

Each direction has a loss by chance, a queue that drops its tail, a transmitter and a delay. Which packets are
lost depends on the seed and on how many came before, so that another stack can be given the same losses. The
link runs in a process of its own and ends with the `with`.
"""

import fcntl
import heapq
import json
import os
import select
import struct
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Self

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
WORD = (1 << 64) - 1


def is_lost(seed: int, end: int, number: int, loss: float) -> bool:
    """Tell whether the packet of this number that left this end is lost: SplitMix64 of the three."""
    z = ((seed << 40) + (end << 39) + number + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & WORD
    return (z ^ z >> 31) >> 11 < loss * (1 << 53)


@dataclass
class Link:
    """What joins the two namespaces, `left` and `right`."""

    name: str
    rate_bit_per_s: float
    one_way_s: float
    loss: float
    queue_bytes: int
    seed: int
    counts: dict[str, list[float]] = field(default_factory=dict)
    """After the link has ended: `passed`, `dropped` (by the queue), `lost` (by chance) and `wait_s` (of the
    packets that passed, summed up), from left to right and back."""

    @property
    def left(self) -> str:
        return f"{self.name}-left"

    @property
    def right(self) -> str:
        return f"{self.name}-right"

    @property
    def right_address(self) -> str:
        return "10.9.0.2"

    def __enter__(self) -> Self:
        settings = [self.name, self.rate_bit_per_s, self.one_way_s, self.loss, self.queue_bytes, self.seed]
        self._process = subprocess.Popen(
            [sys.executable, __file__, *map(str, settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "up\n":
            raise RuntimeError(f"the link {self.name} did not come up: it needs root and /dev/net/tun")
        return self

    def __exit__(self, *_: object) -> None:
        answer, _ = self._process.communicate()
        for namespace in (self.left, self.right):
            subprocess.run(["ip", "netns", "del", namespace], check=False)
        if answer:
            self.counts = json.loads(answer)


def open_end(name: str, end: int) -> int:
    """Make a namespace with one interface; return the other side of that."""
    namespace = f"{name}-{('left', 'right')[end]}"
    interface = f"{name}{end}"
    subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL, check=False)

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)

    ip("netns", "add", namespace)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", interface.encode(), IFF_TUN_NO_PI))
    ip("link", "set", interface, "netns", namespace)
    ip("-n", namespace, "addr", "add", f"10.9.0.{1 + end}", "peer", f"10.9.0.{2 - end}", "dev", interface)
    ip("-n", namespace, "link", "set", interface, "up", "mtu", "1500", "txqueuelen", "20000")
    ip("-n", namespace, "link", "set", "lo", "up")
    buffers = ["net.ipv4.tcp_rmem=4096 131072 33554432", "net.ipv4.tcp_wmem=4096 131072 33554432"]
    ip("netns", "exec", namespace, "sysctl", "-qw", *buffers)
    return tun


def run(name: str, rate: float, one_way: float, loss: float, queue: int, seed: int) -> None:
    """Carry packets until standard input ends."""
    tuns = [open_end(name, end) for end in range(2)]
    numbers = [0, 0]
    free_at = [0.0, 0.0]
    flight: list[tuple[float, int, int, bytes]] = []
    counts: dict[str, list[float]] = {kind: [0, 0] for kind in ("passed", "dropped", "lost", "wait_s")}
    poll = select.poll()
    for source in (*tuns, 0):
        poll.register(source, select.POLLIN | select.POLLHUP)
    print("up", flush=True)
    while True:
        now = time.monotonic()
        while flight and flight[0][0] <= now:
            _, _, end, packet = heapq.heappop(flight)
            os.write(tuns[end], packet)
        wait_ms = max(0.0, (flight[0][0] - now) * 1_000) if flight else 1_000
        for source, _ in poll.poll(wait_ms):
            if source == 0:
                print(json.dumps(counts))
                return
            end = tuns.index(source)
            while True:
                try:
                    packet = os.read(source, 2_000)
                except BlockingIOError:
                    break
                now = time.monotonic()
                numbers[end] += 1
                if is_lost(seed, end, numbers[end] - 1, loss):
                    counts["lost"][end] += 1
                    continue
                starts_at = max(free_at[end], now)
                if (starts_at - now) * rate / 8 > queue:
                    counts["dropped"][end] += 1
                    continue
                counts["wait_s"][end] += starts_at - now
                free_at[end] = starts_at + len(packet) * 8 / rate
                counts["passed"][end] += 1
                heapq.heappush(flight, (free_at[end] + one_way, numbers[end], 1 - end, packet))


if __name__ == "__main__":
    name, rate, one_way, loss, queue, seed = sys.argv[1:]
    run(name, float(rate), float(one_way), float(loss), int(queue), int(seed))
