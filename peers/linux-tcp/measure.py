#!/usr/bin/env python3
"""What the TCP of this machine's kernel does over satellite links: one line of CSV for each transfer.

    sudo peers/linux-tcp/measure.py --out kernel.csv               every point, about an hour and a half
    sudo peers/linux-tcp/measure.py --only geo/bbr --parallel 2    those whose name begins so, to the terminal

Transfers that are in the file already are not made again. Needs root and the module of each congestion
control.
"""

import argparse
import csv
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from link import Link

PATHS = {
    # Rate in bit/s, one way in s, queue in bytes, seconds.
    "geo": (10e6, 0.28, 700_000, 100),
    "geo-short-queue": (10e6, 0.28, 175_000, 100),
    "leo": (50e6, 0.025, 312_500, 40),
}
SEEDS = {0.0: 1, 0.001: 6, 0.01: 3}
COLUMNS = [
    "path",
    "control",
    "loss",
    "seed",
    "goodput_percent",
    "retransmissions",
    "dropped",
    "lost",
    "mean_wait_ms",
]


class Transfer(NamedTuple):
    path: str
    control: str
    loss: float
    seed: int

    @property
    def name(self) -> str:
        return f"{self.path}/{self.control}/{self.loss:g}/{self.seed}"


def transfers() -> list[Transfer]:
    """List every transfer that belongs to the comparison."""
    return [
        Transfer(path, control, loss, seed)
        for path in PATHS
        for control in ("reno", "cubic", "bbr")
        for loss, seeds in SEEDS.items()
        if path != "geo-short-queue" or loss == 0
        for seed in range(1, seeds + 1)
    ]


def bulk(namespace: str, *words: str) -> subprocess.Popen[str]:
    """Start one end of a transfer."""
    command = [
        "ip",
        "netns",
        "exec",
        namespace,
        sys.executable,
        str(Path(__file__).with_name("bulk.py")),
        *words,
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def measure(transfer: Transfer, place: int) -> list[object]:
    """Make one transfer, in namespaces that are named after `place`."""
    rate, one_way, queue, seconds = PATHS[transfer.path]
    with Link(f"sltcp{place}", rate, one_way, transfer.loss, queue, transfer.seed) as link:
        # The receiver's connection begins when the sender's first acknowledgement has crossed the link.
        receiver = bulk(link.right, "receive", str(seconds - one_way))
        assert receiver.stdout is not None
        if receiver.stdout.readline() != "listening\n":
            raise RuntimeError(f"{transfer.name}: nobody listens")
        sender = bulk(link.left, "send", transfer.control, str(seconds), link.right_address)
        sent_again, _ = sender.communicate()
        received, _ = receiver.communicate()
    counts = link.counts
    return [
        *transfer,
        f"{800 * int(received) / (seconds * rate):.2f}",
        int(sent_again),
        counts["dropped"][0],
        counts["lost"][0],
        f"{1_000 * counts['wait_s'][0] / counts['passed'][0]:.1f}",
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--out", type=Path, help="the file of results, which grows")
    arguments.add_argument("--only", default="", help="the beginning of names, path/control/loss/seed")
    arguments.add_argument("--parallel", type=int, default=1, help="transfers at a time")
    options = arguments.parse_args()
    done = set()
    if options.out and options.out.exists():
        with options.out.open() as file:
            done = {tuple(row[:4]) for row in csv.reader(file)}
    wanted = [t for t in transfers() if t.name.startswith(options.only) and tuple(map(str, t)) not in done]
    out = options.out.open("a", newline="") if options.out else sys.stdout
    rows = csv.writer(out, lineterminator="\n")
    if not done:
        rows.writerow(COLUMNS)
    free = list(range(options.parallel))

    def one(transfer: Transfer) -> list[object]:
        place = free.pop()
        try:
            return measure(transfer, place)
        finally:
            free.append(place)

    with ThreadPoolExecutor(options.parallel) as pool:
        for count, row in enumerate(pool.map(one, wanted), 1):
            rows.writerow(row)
            out.flush()
            print(f"{count} of {len(wanted)} transfers", file=sys.stderr)


if __name__ == "__main__":
    main()
