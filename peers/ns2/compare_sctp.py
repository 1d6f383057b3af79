"""SCTP over satellites in ns-2.35 and here: the same pairs under the same sky.

Points of figures 9 and 10, and of figures 11 to 14.

python peers/ns2/compare_sctp.py [SKY [PLACEMENTS [SECONDS [PAIRS [RATES [SEGMENTS [STREAMS]]]]]]]

SKY is iridium, geo, supplemented or two-antennas, RATES a list like 1e-6,1e-5, SEGMENTS one of receive
buffers in segments, STREAMS one of numbers of streams: what each after the first brings is told apart.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
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
CHUNK_BYTES = 528
"""What a segment takes of ns-2's buffer."""
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


@dataclass(frozen=True, slots=True)
class Point:
    """What is compared, under a placement."""

    rate: str
    segments: int
    streams: int


def theirs(sky: Sky, pairs: int, placement: int, point: Point, seconds: int) -> Figures:
    """Give the figures of ns-2, of all DATA that the sinks receive."""
    drawn = Placement.drawn(placement, None)
    with TemporaryDirectory() as directory:
        places = Path(directory) / "pairs"
        lines = [
            f"{one.latitude_deg} {one.longitude_deg} {other.latitude_deg} {other.longitude_deg}\n"
            for one, other in drawn.pairs[:pairs]
        ]
        places.write_text("".join(lines), encoding="utf-8")
        arguments = [sky.value, places, point.rate, point.segments * CHUNK_BYTES, point.streams]
        arguments += [drawn.start_s, seconds, placement + 1]
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
    sky: Sky, pairs: int, placements: int, seconds: int, points: Sequence[Point]
) -> dict[tuple[int, Point], Figures]:
    """Give the same of our runs, with ns-2's link headers and the first plane over Greenwich at the start."""
    with TemporaryDirectory() as directory:
        skies = Skies(Path(directory), None, {"constellations.iridium.satellites.first_longitude": "0 deg"})
        jobs = {
            Job(
                skies.scenario(
                    number,
                    cases.Case("", sky, {}, pairs).ground,
                    {"streams": point.streams},
                    {
                        "scenario.duration": f"{seconds} s",
                        **{f"{links}.link_overhead": "16 B" for links in HEADERS},
                        **cases.errors(sky, point.rate),
                        **cases.buffer(point.segments),
                    },
                ),
                number,
                tables=TABLES,
            ): (number, point)
            for number in range(placements)
            for point in points
        }
        figures = {}
        for job, output in run_jobs(jobs):
            flows, links, sky_paths = (pa.table(output[name]) for name in TABLES)
            run = RunFigures.of(flows, links, sky_paths, cases.WARM_UP_S, seconds)
            figures[jobs[job]] = Figures(run.mean_bit_per_s, run.backup_bit_per_s / pairs)
        return figures


def main(  # noqa: PLR0913, PLR0917 - what a command line gives, in its order
    over: str = "iridium",
    placements: str = "3",
    seconds: str = "360",
    pairs: str = str(cases.PAIRS),
    rates: str = "1e-9,1e-8,1e-7,1e-6,1e-5,1e-4",
    segments: str = str(cases.LARGEST_BUFFER),
    streams: str = "1",
) -> None:
    """Print both, and how they stand to each other."""
    points = [
        Point(rate, int(buffer), int(count))
        for rate, buffer, count in product(rates.split(","), segments.split(","), streams.split(","))
    ]
    compare(Sky(over), int(placements), int(seconds), int(pairs), points)


def compare(sky: Sky, placements: int, seconds: int, pairs: int, points: Sequence[Point]) -> None:
    """Print a table of throughput, and one of the load of GEO satellites where they are a backup."""
    runs = [(number, point) for number in range(placements) for point in points]
    with ThreadPoolExecutor(processors()) as pool:
        of_ns = dict(zip(runs, pool.map(lambda run: theirs(sky, pairs, *run, seconds), runs), strict=True))
    of_ours = ours(sky, pairs, placements, seconds, points)

    def both(point: Point, of: str) -> list[list[float]]:
        return [
            [float(getattr(given[number, point], of)) for number in range(placements)]
            for given in (of_ns, of_ours)
        ]

    measured = ["throughput_bit_per_s"] + ["backup_bit_per_s"] * (sky is Sky.SUPPLEMENTED)
    head = "| bit error rate | segments | streams | ns-2.35, kbit/s | ours, kbit/s | ours / ns-2 |"
    for of in measured:
        print(f"\n{of.split('_')[0]} of an association\n\n{head}\n{'| --- ' * 6}|")
        for point in points:
            values = both(point, of)
            cells = [Estimate.of(each).text("", KILO, 1).strip() for each in values]
            cells.append(ratio(*reversed(values)))
            words = [point.rate, str(point.segments), str(point.streams), *cells]
            print(f"| {' | '.join(words)} |")
    more = [point for point in points if point.streams != points[0].streams]
    if more:
        print("\nwhat streams bring\n\n| bit error rate | segments | streams | ns-2.35 | ours |")
        print(f"{'| --- ' * 5}|")
    for point in more:
        few = both(replace(point, streams=points[0].streams), measured[0])
        many = both(point, measured[0])
        gains = [ratio(with_more, with_few) for with_more, with_few in zip(many, few, strict=True)]
        words = [point.rate, str(point.segments), f"{point.streams} for {points[0].streams}", *gains]
        print(f"| {' | '.join(words)} |")


def ratio(of: Sequence[float], to: Sequence[float]) -> str:
    """Say how the one stands to the other, placement by placement."""
    return (
        Estimate.of([one / other for one, other in zip(of, to, strict=True) if other]).text("", 1, 3).strip()
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
