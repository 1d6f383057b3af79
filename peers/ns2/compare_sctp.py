"""SCTP over satellites in ns-2.35 and here: the same pairs under the same sky.

Points of figure 9, and of figure 14 with one stream.

python peers/ns2/compare_sctp.py [SKY [PLACEMENTS [SECONDS [PAIRS [RATES]]]]]

SKY is iridium, geo, supplemented or two-antennas, RATES a list like 1e-6,1e-5.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa

from slantpath.running import Job, processors, run_jobs
from slantpath.studies.claims import Estimate
from slantpath.studies.sctp_over_satellites import cases
from slantpath.studies.sctp_over_satellites.measures import TABLES, RunFigures
from slantpath.studies.sctp_over_satellites.placements import Placement, Skies, Sky

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
BUFFER_BYTES = cases.LARGEST_BUFFER * 528
"""A segment takes 528 bytes of ns-2's buffer: its chunk."""
DATA_PACKET_BYTES = 560
KILO = 1e-3


HEADERS = ("sky.access.iridium", "sky.isls.iridium", "sky.access.geo", "sky.access.gateways")
"""Links on which ns-2 has headers of 16 bytes."""


FIRST_OF_A_PAIR = 72
NODES_OF_A_PAIR = 6
SECOND_OF_SINK = 4
"""Nodes of ns-2 with GEO satellites beside Iridium: behind 66 and 3 satellites and 3 gateways three for each
end, of which the second is its second antenna."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Of an association, in the mean."""

    throughput_bit_per_s: float
    backup_bit_per_s: float
    """What sources send over geostationary satellites beside Iridium; in ns-2 what of it arrives."""


def theirs(sky: Sky, pairs: int, placement: int, rate: str, seconds: int) -> Figures:
    """Give the figures of ns-2, of all DATA that the sinks receive."""
    drawn = Placement.drawn(placement, None)
    with TemporaryDirectory() as directory:
        places = Path(directory) / "pairs"
        lines = [
            f"{one.latitude_deg} {one.longitude_deg} {other.latitude_deg} {other.longitude_deg}\n"
            for one, other in drawn.pairs[:pairs]
        ]
        places.write_text("".join(lines), encoding="utf-8")
        arguments = [sky.value, places, rate, BUFFER_BYTES, drawn.start_s, seconds, placement + 1]
        command = ["ns", str(HERE / "sctp-sky.tcl"), *map(str, arguments)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as ns:
            assert ns.stdout is not None
            events = (line.split(maxsplit=6) for line in ns.stdout)
            messages = backup_bytes = 0
            for kind, time, _, node, _, size, *_ in events:
                if kind != "r" or float(time) < cases.WARM_UP_S:
                    continue
                messages += size == str(DATA_PACKET_BYTES)
                if (int(node) - FIRST_OF_A_PAIR) % NODES_OF_A_PAIR == SECOND_OF_SINK:
                    backup_bytes += int(size)
        if ns.returncode:
            message = f"ns ended with status {ns.returncode}"
            raise RuntimeError(message)
    per_association = 8 / pairs / (seconds - cases.WARM_UP_S)
    return Figures(messages * cases.SEGMENT_BYTES * per_association, backup_bytes * per_association)


def ours(
    sky: Sky, pairs: int, placements: int, seconds: int, rates: Sequence[str]
) -> dict[tuple[int, str], Figures]:
    """Give the same of our runs, with ns-2's link headers and the first plane over Greenwich at the start."""
    with TemporaryDirectory() as directory:
        skies = Skies(Path(directory), None, {"constellations.iridium.satellites.first_longitude": "0 deg"})
        jobs = {
            Job(
                skies.scenario(
                    number,
                    cases.Case("", sky, {}, pairs).ground,
                    {},
                    {
                        "scenario.duration": f"{seconds} s",
                        **{f"{links}.link_overhead": "16 B" for links in HEADERS},
                        **cases.errors(sky, rate),
                    },
                ),
                number,
                tables=TABLES,
            ): (number, rate)
            for number in range(placements)
            for rate in rates
        }
        figures = {}
        for job, output in run_jobs(jobs):
            flows, links, sky_paths = (pa.table(output[name]) for name in TABLES)
            run = RunFigures.of(flows, links, sky_paths, cases.WARM_UP_S, seconds)
            figures[jobs[job]] = Figures(run.mean_bit_per_s, run.backup_bit_per_s / pairs)
        return figures


def main(
    over: str = "iridium",
    placements: str = "3",
    seconds: str = "360",
    pairs: str = str(cases.PAIRS),
    rates: str = "1e-9,1e-7,1e-6,1e-5,1e-4",
) -> None:
    """Print both, and how they stand to each other."""
    compare(Sky(over), int(placements), int(seconds), int(pairs), rates.split(","))


def compare(sky: Sky, placements: int, seconds: int, pairs: int, rates: Sequence[str]) -> None:
    """Print a table of throughput, and one of the load of GEO satellites where they are a backup."""
    points = [(number, rate) for number in range(placements) for rate in rates]
    with ThreadPoolExecutor(processors()) as pool:
        of_ns = dict(
            zip(points, pool.map(lambda point: theirs(sky, pairs, *point, seconds), points), strict=True)
        )
    of_ours = ours(sky, pairs, placements, seconds, rates)
    measured = ["throughput_bit_per_s"] + ["backup_bit_per_s"] * (sky is Sky.SUPPLEMENTED)
    for of in measured:
        print(f"\n{of.split('_')[0]} of an association\n")
        print("| bit error rate | ns-2.35, kbit/s | ours, kbit/s | ours / ns-2 |\n| --- | --- | --- | --- |")
        for rate in rates:
            both = [
                [float(getattr(given[number, rate], of)) for number in range(placements)]
                for given in (of_ns, of_ours)
            ]
            cells = [Estimate.of(each).text("", KILO, 1).strip() for each in both]
            ratios = [our / their for their, our in zip(*both, strict=True) if their]
            print(f"| {rate} | {cells[0]} | {cells[1]} | {Estimate.of(ratios).text('', 1, 3).strip()} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
