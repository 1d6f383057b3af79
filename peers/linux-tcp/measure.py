#!/usr/bin/env python3
"""What the TCP of this machine's kernel does over satellite links: one line of CSV for each transfer.

    sudo peers/linux-tcp/measure.py --out kernel.csv               every point, about an hour and a half
    sudo peers/linux-tcp/measure.py --only geo/bbr --parallel 2    those whose name begins so, to the terminal
    sudo peers/linux-tcp/measure.py --check                        one of eight seconds a controller, judged

Transfers that are in the file already are not made again. One that was void, since a packet left too late,
is repeated. Needs root, for buffers of 8 MiB and a real-time priority, and the module of each controller.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PATHS = {
    # Rate in Mbit/s, one way in ms, queue in bytes, seconds, lateness in ms that makes one void. A pause
    # of the machine that is shorter than what Linux adds to a round trip before it times out changes little.
    "geo": (10, 280, 700_000, 100, 60),
    "geo-short-queue": (10, 280, 175_000, 100, 60),
    "leo": (50, 25, 312_500, 40, 25),
    # Short enough for every change. How late the machine was is not judged.
    "check": (20, 25, 125_000, 8, 10_000),
}
SEEDS = {0.0: 1, 0.001: 6, 0.01: 3}
BY_CHANCE = ("geo", "cubic", 0.0)
"""Where Linux does one of two things though nothing is lost by chance, so that it is made several times."""
TIMES = 4
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
    "late_p999_ms",
]
VOID = 3
"""Exit status of an emulation that was late."""
TRIES = 10
CONTROLS = ("reno", "cubic", "bbr")
SLOWER, FASTER = 0.3, 0.1
"""Parts by which a short transfer may differ from that of ours. A busy machine slows it down."""


class Transfer(NamedTuple):
    path: str
    control: str
    loss: float
    seed: int

    @property
    def name(self) -> str:
        return f"{self.path}/{self.control}/{self.loss:g}/{self.seed}"

    @property
    def network(self) -> list[str]:
        """List what makes the laboratory that of this transfer."""
        rate, one_way, queue, seconds, _ = PATHS[self.path]
        control = {"reno": "new-reno"}.get(self.control, self.control)
        return [
            f"scenario.seed={self.seed}",
            # The transfer counts from when the sender is connected.
            f"scenario.duration={1_000 * seconds + 2 * one_way} ms",
            f"links.chance.loss={self.loss:g}",
            f"links.satellite.rate={rate} Mbit/s",
            f"links.satellite.delay={one_way} ms",
            f"links.satellite.queue={queue} B",
            f"tcp.linux.congestion_control={control}",
            f"tcp.linux.slow_start={'hystart' if control == 'cubic' else 'standard'}",
        ]


class Outcome(NamedTuple):
    goodput_percent: float
    retransmissions: int
    dropped: int
    lost: int
    mean_wait_ms: float
    late_p999_ms: float
    """Lateness that one of a thousand packets exceeded when it left the emulator."""


def transfers() -> list[Transfer]:
    """List every transfer that belongs to the comparison."""
    return [
        Transfer(path, control, loss, seed)
        for path in PATHS
        for control in CONTROLS
        for loss, seeds in SEEDS.items()
        if path != "check" and (path != "geo-short-queue" or loss == 0)
        for seed in range(1, 1 + (TIMES if (path, control, loss) == BY_CHANCE else seeds))
    ]


def table(directory: Path, name: str, **keys: str) -> dict[str, str]:
    """Read the row of a table that has these values."""
    with (directory / f"{name}.csv").open() as file:
        return next(row for row in csv.DictReader(file) if all(row[key] == keys[key] for key in keys))


def setting(network: list[str]) -> list[str]:
    return [word for one in network for word in ("--set", one)]


def measure(slantpath: Path, transfer: Transfer) -> Outcome:
    """Make one transfer by the programs of `bulk.py`, and if it was void another one."""
    rate, one_way, _, seconds, late = PATHS[transfer.path]
    bulk = f"'{sys.executable}' '{HERE / 'bulk.py'}'"
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as out:
            command: list[str | Path] = [slantpath, "emulate", HERE / "lab.toml", *setting(transfer.network)]
            command += ["--late", f"{late} ms", "--out", out]
            # The receiver's connection begins when the sender's first acknowledgement has crossed the link.
            receive = f"{bulk} receive {seconds - one_way / 1_000}"
            command += ["--in", "far", receive, "--ready", "far:5001"]
            command += ["--in", "near", f"{bulk} send {transfer.control} {seconds} far"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert process.stderr is not None
            errors = []
            for line in process.stderr:
                errors.append(line)
                if line.startswith("warning: void"):
                    # The rest would tell nothing.
                    process.terminate()
            told, _ = process.communicate()
            if process.returncode == VOID:
                print(f"{transfer.name}: {errors[-1]}", end="", file=sys.stderr)
                continue
            if process.returncode:
                raise RuntimeError(f"{transfer.name}: {told}{''.join(errors)}")
            numbers = dict(line.split(": ") for line in told.splitlines() if line[-1:].isdigit())
            directory = Path(out)
            satellite = table(directory, "links", link="satellite", direction="forward")
            chance = table(directory, "links", link="chance", direction="forward")
            late_s = [table(directory, "attached_interfaces", node=node) for node in ("near", "far")]
        # Packets a second of those that passed, and how many waited on the mean: Little's law.
        carried_bytes = float(satellite["carried_bytes"])
        packets = int(satellite["carried_packets"])
        run_s = 8 * carried_bytes / float(satellite["throughput_bit_per_s"])
        return Outcome(
            goodput_percent=round(800 * int(numbers["far"]) / (seconds * rate * 1e6), 2),
            retransmissions=int(numbers["near"]),
            dropped=int(satellite["dropped_queue_full_packets"]),
            lost=int(chance["dropped_loss_packets"]),
            mean_wait_ms=round(1e3 * float(satellite["queue_mean_packets"]) * run_s / packets, 1),
            late_p999_ms=round(1e3 * max(float(row["lateness_p999_s"]) for row in late_s), 2),
        )
    raise RuntimeError(f"{transfer.name}: void {TRIES} times: this machine is too busy")


def ours(slantpath: Path, transfer: Transfer) -> float:
    """Make the same transfer in virtual time, with ours; give its goodput in percent."""
    rate, _, _, seconds, _ = PATHS[transfer.path]
    with tempfile.TemporaryDirectory() as out:
        command: list[str | Path] = [
            slantpath,
            "run",
            HERE / "lab.toml",
            *setting(transfer.network),
            "--json",
            "--out",
            out,
        ]
        subprocess.run(command, capture_output=True, check=True)
        flow = table(Path(out), "flows", flow="bulk")
    return 800 * float(flow["delivered_bytes"]) / (seconds * rate * 1e6)


def check(slantpath: Path) -> None:
    """Hold one short transfer of each controller to ours. A machine that is late is no reason to fail."""
    wanted = [Transfer("check", control, 0.001, 1) for control in CONTROLS]
    with ThreadPoolExecutor(len(wanted)) as pool:
        for transfer, kernel in zip(
            wanted, pool.map(lambda one: measure(slantpath, one), wanted), strict=True
        ):
            goodput = ours(slantpath, transfer)
            print(f"{transfer.name}: {json.dumps(kernel._asdict())}, ours {goodput:.1f} %")
            assert (1 - SLOWER) * goodput <= kernel.goodput_percent <= (1 + FASTER) * goodput, transfer


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--slantpath", type=Path, default=HERE / "../../target/release/slantpath")
    arguments.add_argument("--out", type=Path, help="the file of results, which grows")
    arguments.add_argument("--only", default="", help="the beginning of names, path/control/loss/seed")
    arguments.add_argument("--parallel", type=int, default=1, help="transfers at a time")
    arguments.add_argument("--check", action="store_true", help="one short transfer a controller, judged")
    options = arguments.parse_args()
    if options.check:
        check(options.slantpath)
        return
    done = set()
    if options.out and options.out.exists():
        with options.out.open() as file:
            done = {tuple(row[:4]) for row in csv.reader(file)}
    wanted = [t for t in transfers() if t.name.startswith(options.only) and tuple(map(str, t)) not in done]
    out = options.out.open("a", newline="") if options.out else sys.stdout
    rows = csv.writer(out, lineterminator="\n")
    if not done:
        rows.writerow(COLUMNS)
    with ThreadPoolExecutor(options.parallel) as pool:
        outcomes = pool.map(lambda one: measure(options.slantpath, one), wanted)
        for count, (transfer, outcome) in enumerate(zip(wanted, outcomes, strict=True), 1):
            rows.writerow([*transfer, *outcome])
            out.flush()
            print(f"{count} of {len(wanted)} transfers", file=sys.stderr)


if __name__ == "__main__":
    main()
