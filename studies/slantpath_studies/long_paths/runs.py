"""The runs of the study: which there are, and what they gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slantpath.running import Job
from slantpath_studies.long_paths import cases
from slantpath_studies.long_paths.measures import RunFigures, estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from slantpath.store import Record
    from slantpath_studies.claims import Estimate

RUNS = cases.TABLE_RUNS
"""Runs of each cell of the table in which something is drawn at random."""


def plan(runs: int, seed: int | None) -> list[tuple[str, Job]]:
    """List every run of the study with the name of its case."""
    return [
        (case.name, Job(scenario, number, seed))
        for case in cases.every().values()
        for number, scenario in enumerate(case.scenarios(runs_of(case, runs)))
    ]


def runs_of(case: cases.Case, runs: int) -> int:
    """Give a case as many runs as were asked for, in the ratio that the study has."""
    return 1 if case.most_runs == 1 else max(1, runs * case.most_runs // RUNS)


@dataclass(frozen=True, slots=True)
class Course:
    """One run of which a figure shows the course."""

    flow: pa.Table
    link: pa.Table


SHOWN = {
    controller: cases.table(cases.GEO.name, "tcp", controller, "1e-3") for controller in cases.CONTROLLERS
}
"""The cases of which run 0 is drawn over time, one of each controller."""


class Results:
    """What the runs gave: the figures of every run, and the courses that are drawn."""

    TABLES = ("flow_intervals", "link_intervals", "links")
    """The tables of a run that the study needs."""

    def __init__(self, runs: int, seed: int | None) -> None:
        """Begin without any run."""
        self.runs = runs
        self.seed = seed
        self._figures: dict[str, dict[int, RunFigures]] = {}
        self._courses: dict[str, Course] = {}

    def add(self, case: str, run: int, record: Record) -> None:
        """Take a finished run."""
        flow, link = record.tables["flow_intervals"], record.tables["link_intervals"]
        self._figures.setdefault(case, {})[run] = RunFigures.of(flow, record.tables["links"])
        if run == 0 and case in SHOWN.values():
            self._courses[case] = Course(flow, link)

    def figures(self, case: str) -> Sequence[RunFigures]:
        """Give the figures of a case's runs, in the order of their numbers."""
        return [figures for _, figures in sorted(self._figures[case].items())]

    def estimate(self, case: str, of: Callable[[RunFigures], float]) -> Estimate:
        """Estimate a figure of a case; that of one run is taken as it is where all runs are equal."""
        values = [of(run) for run in self.figures(case)]
        return estimate(values, exact=cases.every()[case].most_runs == 1)

    def course(self, controller: str) -> Course:
        """Give the run of a controller that is drawn over time."""
        return self._courses[SHOWN[controller]]

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the scenario's seed" if self.seed is None else f"seed {self.seed}"
        beside, default = (
            max(1, self.runs * most // RUNS) for most in (cases.BESIDE_RUNS, cases.DEFAULT_RUNS)
        )
        return (
            f"Runs 0 to {self.runs - 1} of each cell of the table under {used}, runs 0 to {default - 1} of "
            f"NewReno and CUBIC beside another flow over LEO, runs 0 to {beside - 1} of other cases; one "
            "where nothing is drawn at random. All cases draw from the same random streams."
        )
