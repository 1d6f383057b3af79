"""SCTP over satellites in ns-2.35 and here: the same pairs under the same sky.

Points of figures 9 and 10, and of figures 11 to 14.

python peers/ns2/compare_sctp.py [SKY [PLACEMENTS [SECONDS [PAIRS
    [RATES [SEGMENTS [STREAMS [ERRORS [TIMEOUTS]]]]]]]]]

SKY is iridium, geo, supplemented or two-antennas; or one of two in which ours does what ns-2 does and the
study does not: twins, whose two antennas may hold the same satellite, and geo-shared, whose satellites have
one transmitter for terminals and the gateway. RATES is a list like 1e-6,1e-5, SEGMENTS one of receive buffers
in segments, STREAMS one of numbers of streams: what each after the first brings is told apart. ERRORS is path
(what arrives at terminals) or link (what arrives at satellites, too). TIMEOUTS is studied, or alike: behind
a time-out ours sends what ns-2 sends, one packet and nothing new before all that was lost, with messages that
fill the unit of its window as ns-2's do, and ns-2's primary path stays the primary path, as ours does.
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
from slantpath_studies.claims import Estimate
from slantpath_studies.sctp_over_satellites import cases
from slantpath_studies.sctp_over_satellites.measures import TABLES, RunFigures
from slantpath_studies.sctp_over_satellites.placements import Placement, Skies, Sky

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slantpath.running import Value

HERE = Path(__file__).parent
CHUNK_BYTES = 528
"""What a segment takes of ns-2's buffer."""
DATA_PACKET_BYTES = 560
KILO = 1e-3


STUDIED, ALIKE = "studied", "alike"


HEADERS = ("sky.access.iridium", "sky.isls.iridium", "sky.access.geo", "sky.access.gateways")
"""Links on which ns-2 has headers of 16 bytes."""


TWINS, GEO_SHARED = "twins", "geo-shared"
TABLES_OF_TWIN = """
[sky.access.twin]
constellation = "twin"
rate = "1.5 Mbit/s"
queue = "50 packets"
link_overhead = "16 B"
uplink = { bit_error_rate = 0.0 }

[sky.isls.twin]
constellation = "twin"
rate = "25 Mbit/s"
queue = "50 packets"
link_overhead = "16 B"
"""


FIRST_OF_A_PAIR = 72
NODES_OF_A_PAIR = 6
SECOND_OF_SINK = 4
"""Nodes of ns-2 with GEO satellites beside Iridium: behind 66 and 3 satellites and 3 gateways three for each
end, of which the second is its second antenna."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Of an association, in the mean."""

    throughput_bit_per_s: float
    """Of messages of the study's size, as many as there are."""
    backup_bit_per_s: float
    """What sources send over geostationary satellites beside Iridium; in ns-2 what of it arrives."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same for all points of a table."""

    over: str
    """A sky, or one of ours alone."""
    pairs: int
    seconds: int
    timeouts: str = STUDIED

    @property
    def message_bytes(self) -> int:
        """What a message of ours has."""
        return cases.UNIT_BYTES if self.timeouts == ALIKE else cases.SEGMENT_BYTES

    @property
    def flow(self) -> dict[str, Value]:
        """What our flows have other than the study's."""
        return cases.bulk(self.message_bytes) if self.timeouts == ALIKE else {}

    @property
    def sky(self) -> Sky:
        """What antennas are for."""
        return {TWINS: Sky.TWO_ANTENNAS, GEO_SHARED: Sky.GEO}.get(self.over) or Sky(self.over)

    @property
    def per_association(self) -> float:
        """Bits in a second of one, for each byte of all in the time that is measured."""
        return 8 / self.pairs / (self.seconds - cases.WARM_UP_S)

    def topology(self) -> dict[str, Value]:
        """Give what our sky has other than the study's: its first plane begins over Greenwich, as ns-2's."""
        changes: dict[str, Value] = {"constellations.iridium.satellites.first_longitude": "0 deg"}
        if self.over == TWINS:
            changes |= twin(self.pairs)
        return changes

    def values(self, point: Point) -> dict[str, Value]:
        """Give what our scenario has other than the study's: ns-2's link headers, and a point's values."""
        errors = cases.errors(self.sky, point.rate, point.errors)
        values: dict[str, Value] = {
            "scenario.duration": f"{self.seconds} s",
            **{f"{links}.link_overhead": "16 B" for links in HEADERS},
            **errors,
            **cases.buffer(point.segments, self.message_bytes),
        }
        if self.over == TWINS:
            values |= {links.replace("iridium", "twin"): rate for links, rate in errors.items()}
        if self.over == GEO_SHARED:
            values |= {"sky.access.gateways.sites": []}
        if self.timeouts == ALIKE:
            values |= cases.AFTER_TIMEOUTS
        return values


@dataclass(frozen=True, slots=True)
class Point:
    """What is compared, under a placement."""

    rate: str
    segments: int
    streams: int
    errors: str
    """Per path or link."""


def theirs(setting: Setting, placement: int, point: Point) -> Figures:
    """Give the figures of ns-2, of all DATA that the sinks receive."""
    drawn = Placement.drawn(placement, None)
    with TemporaryDirectory() as directory:
        places = Path(directory) / "pairs"
        lines = [
            f"{one.latitude_deg} {one.longitude_deg} {other.latitude_deg} {other.longitude_deg}\n"
            for one, other in drawn.pairs[: setting.pairs]
        ]
        places.write_text("".join(lines), encoding="utf-8")
        arguments = [setting.sky.value, places, point.rate, point.errors, point.segments * CHUNK_BYTES]
        arguments += [point.streams, drawn.start_s, setting.seconds, placement + 1]
        arguments += ["stays" if setting.timeouts == ALIKE else "changes"]
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
    each = setting.per_association
    return Figures(messages * cases.SEGMENT_BYTES * each, backup_bytes * each)


def twin(pairs: int) -> dict[str, Value]:
    """Put a second Iridium into the places of the first, which second antennas have for themselves."""
    antennas: Value = [{"constellation": "iridium"}, {"constellation": "twin"}]
    satellites: Value = {
        "kind": "preset",
        "preset": "iridium",
        "perturbation": "none",
        "first_longitude": "0 deg",
    }
    terminals = [f"{end}-{number:02}" for number in range(pairs) for end in ("source", "sink")]
    return {
        "constellations.twin.satellites": satellites,
        **{f"sites.{terminal}.antennas": antennas for terminal in terminals},
    }


def ours(setting: Setting, placements: int, points: Sequence[Point]) -> dict[tuple[int, Point], Figures]:
    """Give the same of our runs."""
    ground = cases.Case("", setting.sky, {}, setting.pairs).ground
    tables = TABLES_OF_TWIN if setting.over == TWINS else ""
    with TemporaryDirectory() as directory:
        skies = Skies(Path(directory), None, setting.topology(), tables)
        jobs = {
            Job(
                skies.scenario(
                    number, ground, {"streams": point.streams, **setting.flow}, setting.values(point)
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
            run = RunFigures.of(flows, links, sky_paths, cases.WARM_UP_S, setting.seconds)
            messages_bit_per_s = run.mean_bit_per_s * cases.SEGMENT_BYTES / setting.message_bytes
            figures[jobs[job]] = Figures(messages_bit_per_s, run.backup_bit_per_s / setting.pairs)
        return figures


def main(  # noqa: PLR0913, PLR0917 - what a command line gives, in its order
    over: str = "iridium",
    placements: str = "3",
    seconds: str = "360",
    pairs: str = str(cases.PAIRS),
    rates: str = "1e-9,1e-8,1e-7,1e-6,1e-5,1e-4",
    segments: str = str(cases.LARGEST_BUFFER),
    streams: str = "1",
    errors: str = cases.PER_PATH,
    timeouts: str = STUDIED,
) -> None:
    """Print both, and how they stand to each other."""
    if errors not in {cases.PER_PATH, cases.PER_LINK}:
        sys.exit(f"ERRORS is {cases.PER_PATH} or {cases.PER_LINK}, not {errors}")
    if timeouts not in {STUDIED, ALIKE}:
        sys.exit(f"TIMEOUTS is {STUDIED} or {ALIKE}, not {timeouts}")
    points = [
        Point(rate, int(buffer), int(count), errors)
        for rate, buffer, count in product(rates.split(","), segments.split(","), streams.split(","))
    ]
    compare(Setting(over, int(pairs), int(seconds), timeouts), int(placements), points)


def compare(setting: Setting, placements: int, points: Sequence[Point]) -> None:
    """Print a table of throughput, and one of the load of GEO satellites where they are a backup."""
    runs = [(number, point) for number in range(placements) for point in points]
    with ThreadPoolExecutor(processors()) as pool:
        given = pool.map(lambda run: theirs(setting, *run), runs)
        of_ns = dict(zip(runs, given, strict=True))
    of_ours = ours(setting, placements, points)

    def both(point: Point, of: str) -> list[list[float]]:
        return [
            [float(getattr(given[number, point], of)) for number in range(placements)]
            for given in (of_ns, of_ours)
        ]

    measured = ["throughput_bit_per_s"] + ["backup_bit_per_s"] * (setting.sky is Sky.SUPPLEMENTED)
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
