"""The runs of the study: which there are, and what they gave."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from slantpath.running import Job
from slantpath_studies.claims import Estimate
from slantpath_studies.sctp_over_satellites import cases
from slantpath_studies.sctp_over_satellites.measures import TABLES, RunFigures
from slantpath_studies.sctp_over_satellites.placements import Skies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slantpath.store import Record
    from slantpath_studies.sctp_over_satellites.cases import Case, Extent


def runs_of(case: Case, runs: int, extent: Extent) -> int:
    """Give a case as many placements as were asked for, and most cases beside figures 9 and 10 fewer."""
    return case.times * runs or min(runs, extent.beside)


def plan(runs: int, seed: int | None, extent: Extent = cases.FULL) -> list[tuple[str, Job]]:
    """List every run of the study with the name of its case: run n is under placement n."""
    length = {"scenario.duration": f"{extent.duration_s} s"}
    every = cases.every(extent).values()
    with TemporaryDirectory(prefix="slantpath-") as directory:
        skies = Skies(Path(directory), seed)
        return [
            (case.name, Job(scenario, number, seed))
            for number in range(max(runs_of(case, runs, extent) for case in every))
            for case in every
            if number < runs_of(case, runs, extent)
            for scenario in [skies.scenario(number, case.ground, case.flow, {**length, **case.values})]
        ]


class Results:
    """What the runs gave."""

    TABLES = TABLES

    def __init__(self, runs: int, seed: int | None, extent: Extent = cases.FULL) -> None:
        """Begin without any run."""
        self.runs = runs
        self.seed = seed
        self.extent = extent
        self._figures: dict[str, dict[int, RunFigures]] = {}

    def add(self, case: str, run: int, record: Record) -> None:
        """Take a finished run."""
        flows, links, sky_paths = (record.tables[name] for name in TABLES)
        figures = RunFigures.of(flows, links, sky_paths, cases.WARM_UP_S, self.extent.duration_s)
        self._figures.setdefault(case, {})[run] = figures

    def figures(self, case: str) -> Sequence[RunFigures]:
        """Give the figures of a case's runs, in the order of their placements."""
        return [figures for _, figures in sorted(self._figures[case].items())]

    def estimate(self, case: str, of: Callable[[RunFigures], float]) -> Estimate:
        """Estimate a figure of a case over placements."""
        return Estimate.of([of(run) for run in self.figures(case)])

    def ratio(
        self, case: str, to: str, of: Callable[[RunFigures], float] = lambda run: run.mean_bit_per_s
    ) -> Estimate:
        """Estimate how a figure of a case stands to that of another, placement by placement."""
        pairs = zip(self.figures(case), self.figures(to), strict=False)
        return Estimate.of([of(one) / of(other) for one, other in pairs if of(other)])

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the scenario's seed" if self.seed is None else f"seed {self.seed}"
        beside = min(self.runs, self.extent.beside)
        return (
            f"Placements 0 to {self.runs - 1} for figures 9 and 10 and for what claim N4 is about, two to "
            "six times as many at points of them that differ most from one to the next, "
            f"0 to {beside - 1} for everything else, under {used}; "
            f"{self.extent.duration_s - cases.WARM_UP_S} s measured after {cases.WARM_UP_S} s. In a "
            "placement all cases have the same pairs of places, times and random streams."
        )
