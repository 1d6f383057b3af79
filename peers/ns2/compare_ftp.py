"""FTP sessions over LEO and GEO in ns-2.35 and here: the same arrivals and sizes, cell by cell.

python peers/ns2/compare_ftp.py [RUNS [SECONDS]]
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from slantpath.errors import ScenarioWarning
from slantpath.figures import numbers
from slantpath.running import Job, run_job
from slantpath_studies.ftp_qos import cases
from slantpath_studies.ftp_qos.cases import Sky
from slantpath_studies.ftp_qos.findings import DELAY_AT_MOST, LOSS_AT_LEAST, LOSS_AT_MOST
from slantpath_studies.ftp_qos.measures import RunFigures
from slantpath_studies.ftp_qos.runs import Scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from slantpath_studies.ftp_qos.cases import Cell


HERE = Path(__file__).parent
SKIES = {Sky.LEO: 66, Sky.GEO: 1}
"""How many satellites ns-2 has: London's terminal comes next, then Boston's, then the server."""
WITHOUT_EDGE = {
    "links.edge": {"ends": ["edge", "terminal"], "rate": "1000 Gbit/s", "delay": "0 s"},
    "links.server": {"ends": ["server", "edge"], "rate": "1000 Gbit/s", "delay": "0 s"},
}
"""Ours has a host and two routers in any case; here they take no time."""


@dataclass
class Measured:
    """The figures that both have."""

    delay_s: float
    jitter_s: float
    loss: float
    throughput_bit_per_s: float
    completed: int


@dataclass(frozen=True)
class Peer:
    """A run of ns-2."""

    cell: Cell
    sessions: Path
    seconds: int
    edge: int = 1
    seed: int = 1

    def output(self, trace: int) -> Iterable[str]:
        """Give what it prints, line by line."""
        command = ["ns", str(HERE / "ftp-qos.tcl"), self.cell.sky.value, str(self.sessions)]
        command += [self.cell.error_rate, *map(str, (self.edge, self.seconds, self.seed, trace))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as ns:
            assert ns.stdout is not None
            yield from ns.stdout
        if ns.returncode:
            message = f"ns ended with status {ns.returncode}"
            raise RuntimeError(message)


def theirs(peer: Peer) -> Measured:
    """Take the same figures from ns-2's trace."""
    client = SKIES[peer.cell.sky] + 1
    server = client + 1
    listed = peer.sessions.read_text(encoding="utf-8").splitlines()
    sizes = [math.ceil(int(line.split()[1]) / cases.SEGMENT_BYTES) for line in listed]
    sent_s: dict[str, float] = {}
    first_s: dict[int, float] = {}
    last_s: dict[int, float] = {}
    packets: dict[int, set[str]] = {}
    sent = received = 0
    delays = changes = 0.0
    before = None
    for line in peer.output(trace=1):
        event, at, source, target, kind, size, _, flow, _, _, number, uid = line.split()[:12]
        if kind != "tcp":
            continue
        if event == "+" and int(source) == server:
            sent_s[uid] = float(at)
            first_s.setdefault(int(flow), float(at))
            sent += 1
        elif event == "r" and int(target) == client:
            delay = float(at) - sent_s.pop(uid)
            delays += delay
            changes += abs(delay - before) if before is not None else 0.0
            before = delay
            received += 1
            last_s[int(flow)] = float(at)
            if int(size) > cases.PACKET_BYTES - cases.SEGMENT_BYTES:
                packets.setdefault(int(flow), set()).add(number)
    if not received:
        message = f"nothing came in {peer.seconds} s: a cell of one session a minute wants some minutes"
        raise RuntimeError(message)
    throughputs = [
        8 * cases.PACKET_BYTES * sizes[flow] / (last_s[flow] - first_s[flow])
        for flow, numbers_seen in packets.items()
        if len(numbers_seen) >= sizes[flow]
    ]
    return Measured(
        delays / received,
        changes / (received - 1),
        1 - received / sent,
        float(np.mean(throughputs)),
        len(throughputs),
    )


def ours(job: Job, sky: Sky, sessions: Path) -> Measured:
    """Make our run, and leave its sessions for ns-2 to repeat."""
    output = run_job(job)
    table = pa.table(output["sessions"])
    begun_s, size_bytes = numbers(table, "begun_s"), numbers(table, "size_bytes")
    lines = [f"{at:.9f} {int(size)}\n" for at, size in zip(begun_s, size_bytes, strict=True)]
    sessions.write_text("".join(lines), encoding="utf-8")
    figures = RunFigures.of(
        *(pa.table(output[name]) for name in ("host_pairs", "links", "sessions")), sky.line
    )
    done = figures.begun - figures.unfinished
    return Measured(figures.delay_s, figures.jitter_s, figures.loss, figures.throughput_bit_per_s, done)


COLUMNS: Sequence[tuple[str, Callable[[Measured], float], float, int]] = (
    ("delay / ms", lambda each: each.delay_s, 1e3, 1),
    ("jitter / ms", lambda each: each.jitter_s, 1e3, 2),
    ("loss", lambda each: each.loss, 1, 5),
    ("throughput / kbit/s", lambda each: each.throughput_bit_per_s, 1e-3, 1),
    ("completed", lambda each: each.completed, 1, 1),
)


PRINTED = {"delay / ms": (DELAY_AT_MOST,), "loss": (LOSS_AT_LEAST, LOSS_AT_MOST)}
"""What the paper prints of single hours, by column."""


def paper(sky: Sky, place: tuple[str, int, int]) -> Sequence[str]:
    """Give the paper's row of a cell; none if it prints nothing of it."""
    row = []
    for name, _, scale, decimals in COLUMNS:
        values = (each.values[sky] for each in PRINTED.get(name, ()) if each.place == place)
        row.append(next((f"{scale * value:.{decimals}f}" for value in values), "–"))
    return row if any(cell != "–" for cell in row) else ()


def main(runs: int = 3, seconds: int = cases.END_S) -> None:
    """Print both side by side, then how long the heaviest hour takes either."""
    warnings.simplefilter("ignore", ScenarioWarning)
    print("| cell | of | " + " | ".join(name for name, *_ in COLUMNS) + " |\n" + "| --- " * 7 + "|")
    with TemporaryDirectory() as directory:
        sessions = Path(directory) / "sessions"
        scenarios = Scenarios(Path(directory), None)
        length = {"scenario.duration": f"{seconds} s"}
        for sky in Sky:
            for place in cases.BESIDE:
                cell = cases.cell(sky, place)
                scenario = scenarios.of(cases.every(cases.FULL)[cell.name], 0).with_values(length)
                if row := paper(sky, place):
                    print(f"| {cell.key} | paper | " + " | ".join(row) + " |", flush=True)
                of_ours, of_ns = [], []
                for number in range(runs):
                    of_ours.append(ours(Job(scenario, number), sky, sessions))
                    of_ns.append(theirs(Peer(cell, sessions, seconds, seed=number + 1)))
                for name, made in (("ns-2.35", of_ns), ("ours", of_ours)):
                    cells = (
                        f"{scale * np.mean([of(each) for each in made]):.{decimals}f}"
                        for _, of, scale, decimals in COLUMNS
                    )
                    print(f"| {cell.key} | {name} | " + " | ".join(cells) + " |", flush=True)
        print("\n| heaviest hour | ns-2.35, CPU s | ours, CPU s | ratio |\n| --- | --- | --- | --- |")
        for sky in Sky:
            cell = cases.cell(sky, ("1e-7", 2_000, 10))
            case = cases.every(cases.FULL)[cell.name]
            for edge, values in ((0, WITHOUT_EDGE), (1, {})):
                scenario = scenarios.of(case, 0).with_values({**length, **values})
                begun_s = time.process_time()
                ours(Job(scenario, 0), sky, sessions)
                own_s = time.process_time() - begun_s
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                for _ in Peer(cell, sessions, seconds, edge).output(trace=0):
                    pass
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                ns_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                what = f"{sky.label}, {'with' if edge else 'without'} the wired edge"
                print(f"| {what} | {ns_s:.1f} | {own_s:.1f} | {ns_s / own_s:.1f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
