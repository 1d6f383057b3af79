"""The runs of the study: which there are, and what they gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slantpath.running import Job
from slantpath_studies.mixed_traffic import cases
from slantpath_studies.mixed_traffic.measures import RunFigures, estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slantpath.store import Record
    from slantpath_studies.claims import Estimate


def plan(runs: int, seed: int | None, extent: cases.Extent = cases.FULL) -> list[tuple[str, Job]]:
    """List every run of the study with the name of its case."""
    return [
        (case.name, Job(scenario, number, seed))
        for case in cases.every(extent).values()
        for scenario in [case.scenario()]
        for number in range(runs if case.is_random else 1)
    ]


class Results:
    """What the runs gave."""

    TABLES = ("messages",)
    """The tables of a run that the study needs."""

    def __init__(self, runs: int, seed: int | None, extent: cases.Extent = cases.FULL) -> None:
        """Begin without any run."""
        self.runs = runs
        self.seed = seed
        self.extent = extent
        self._figures: dict[str, dict[int, RunFigures]] = {}

    def add(self, case: str, run: int, record: Record) -> None:
        """Take a finished run."""
        path = cases.every(self.extent)[case].path
        self._figures.setdefault(case, {})[run] = RunFigures.of(record.tables["messages"], path)

    def figures(self, case: str) -> Sequence[RunFigures]:
        """Give the figures of a case's runs, in the order of their numbers."""
        return [figures for _, figures in sorted(self._figures[case].items())]

    def estimate(self, case: str, of: Callable[[RunFigures], float]) -> Estimate:
        """Estimate a figure of a case; that of one run is taken as it is where all runs are equal."""
        values = [of(run) for run in self.figures(case)]
        return estimate(values, exact=not cases.every(self.extent)[case].is_random)

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the scenario's seed" if self.seed is None else f"seed {self.seed}"
        return (
            f"Runs 0 to {self.runs - 1} of each case with loss under {used}, one of each without: nothing is "
            "drawn at random there. All cases lose packets by the same random streams."
        )
