"""What runs and programs of a live case gave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slantpath import mean_interval
from slantpath.figures import numbers
from slantpath.running import Job
from slantpath_studies.soip.measures import ETHERNET_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slantpath.store import Record
    from slantpath_studies.soip.live.cases import LiveCase

LEVEL = 0.95
SETTLE_S = 2
"""From the beginning of the load on, until its band is measured."""
TESTERS = ("tests-a1", "tests-a2", "tests-b1", "tests-b2")
"""Links of the testers, whose clocks begin with their first packets: programs take seconds to start."""
TWO = 2
"""Runs without which chance cannot be told."""


class Interval(NamedTuple):
    """Where a single further run lies."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, observations: Sequence[float]) -> Interval:
        """Give the prediction interval of one run more."""
        if len(observations) < TWO:
            return cls(math.nan, -math.inf, math.inf)
        mean, half_width = mean_interval(list(observations), LEVEL)
        # That of the mean has the deviation over the root of n, that of a run the root of 1 + 1/n of it.
        half_width *= math.sqrt(len(observations) + 1)
        return cls(mean, mean - half_width, mean + half_width)


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """What is compared."""

    lost_percent: float
    """Of all messages of all loads, those that did not arrive in time."""
    band_kbit: float
    """What the left terminal sends on average, frames of Ethernet."""
    late_ms: float = 0
    """Lateness of the packet that left the emulation latest; none in a run."""

    @classmethod
    def of(cls, case: LiveCase, loads: Sequence[pa.Table], intervals: pa.Table) -> LiveFigures:
        """Take them from accounts of loads, and from the intervals of the network's links."""
        sent, delivered = (
            sum(float(np.nansum(numbers(table, column))) for table in loads)
            for column in ("sent_messages", "delivered_messages")
        )
        satellite = _forward(intervals, "satellite")
        starts = numbers(satellite, "start_s")
        begun = [_begun_s(_forward(intervals, link)) for link in TESTERS]
        loaded = (starts >= case.start_s + SETTLE_S + max(begun)) & (starts < case.case.stop_s + min(begun))
        frames = numbers(satellite, "carried_bytes") + ETHERNET_BYTES * numbers(satellite, "carried_packets")
        interval_s = float(starts[1] - starts[0])
        band = float(np.mean(frames[loaded])) * 8 / interval_s / 1e3
        return cls(100 * max(0.0, 1 - delivered / sent) if sent else math.nan, band)


def _forward(intervals: pa.Table, link: str) -> pa.Table:
    """Give the intervals of a link's first direction."""
    is_forward = pc.and_(
        pc.equal(intervals.column("link").cast(pa.string()), link),
        pc.equal(intervals.column("direction").cast(pa.string()), "forward"),
    )
    return intervals.filter(is_forward)


def _begun_s(link: pa.Table) -> float:
    """Give the beginning of the first interval in which a link carried something."""
    starts = numbers(link, "start_s")[numbers(link, "carried_packets") > 0]
    return float(starts[0]) if len(starts) else 0.0


def plan(of: Sequence[LiveCase], runs: int, seed: int | None) -> list[tuple[str, Job]]:
    """List every run with the name of its case."""
    return [
        (case.name, Job(scenario, number, seed))
        for case in of
        for scenario in (case.scenario(),)
        for number in range(runs)
    ]


class Results:
    """What the runs and the programs gave."""

    TABLES = ("link_intervals", "signalling_load")

    def __init__(self, of: Sequence[LiveCase], runs: int, seed: int | None) -> None:
        """Begin without any run."""
        self.cases = of
        self.runs = runs
        self.seed = seed
        self.live: dict[str, LiveFigures] = {}
        self.void: set[str] = set()
        """Cases whose emulation was too late at some time."""
        self.made: dict[str, dict[int, LiveFigures]] = {}

    def add(self, case: str, run: int, record: Record) -> None:
        """Take a finished run."""
        own = next(each for each in self.cases if each.name == case)
        tables = record.tables
        figures = LiveFigures.of(own, [tables["signalling_load"]], tables["link_intervals"])
        self.made.setdefault(case, {})[run] = figures

    def simulated(self, case: LiveCase) -> Sequence[LiveFigures]:
        """Give the figures of a case's runs, in the order of their numbers."""
        return [figures for _, figures in sorted(self.made.get(case.name, {}).items())]

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the scenario's seed" if self.seed is None else f"seed {self.seed}"
        return f"Runs 0 to {self.runs - 1} of each case under {used}; programs draw as run 0 does."
