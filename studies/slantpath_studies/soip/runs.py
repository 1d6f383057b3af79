"""The runs of the study: which there are, and what they gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slantpath.running import Job
from slantpath_studies.claims import Estimate
from slantpath_studies.soip import cases
from slantpath_studies.soip.measures import RunFigures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slantpath.store import Record

RUNS = cases.RUNS
RUNS_MOST = 9
"""Runs of a case whose interval is wide: a collapse begins or does not."""
WIDE = 0.1
"""The half of an interval of a loss beyond which there are more."""


def plan(runs: int, seed: int | None) -> list[tuple[str, Job]]:
    """List every run of the study with the name of its case."""
    return [
        (name, Job(scenario, number, seed))
        for name, case in cases.every().items()
        for scenario in (case.scenario(),)
        for number in range(made_of(case, runs))
    ]


def made_of(case: cases.Case, runs: int) -> int:
    """Give how many runs a case has, where one that says nothing of it has so many."""
    return max(runs, case.runs * runs // cases.RUNS)


class Results:
    """What the runs gave."""

    TABLES = (
        "access",
        "association_intervals",
        "link_intervals",
        "signalling_events",
        "signalling_link_intervals",
        "signalling_load",
    )
    """The tables of a run that the study needs."""

    def __init__(self, runs: int, seed: int | None) -> None:
        """Begin without any run."""
        self.runs = runs
        self.seed = seed
        self._figures: dict[str, dict[int, RunFigures]] = {}

    def add(self, case: str, run: int, record: Record) -> None:
        """Take a finished run."""
        self._figures.setdefault(case, {})[run] = RunFigures.of(cases.every()[case], record)

    def further(self) -> list[tuple[str, Job]]:
        """List the runs of cases whose loss is not known well enough, in the order of their numbers."""
        jobs = []
        for name, figures in self._figures.items():
            case = cases.every()[name]
            made, most = len(figures), RUNS_MOST * self.runs // RUNS
            if made >= most or case.judged is None:
                continue
            from_s, to_s = case.judged
            share = Estimate.of([run.loss(case, from_s, to_s) for run in self.figures(case)])
            if not share.half_width <= WIDE:
                scenario = case.scenario()
                jobs += [
                    (name, Job(scenario, number, self.seed)) for number in range(made, min(2 * made, most))
                ]
        return jobs

    def figures(self, case: cases.Case) -> Sequence[RunFigures]:
        """Give the figures of a case's runs, in the order of their numbers."""
        return [figures for _, figures in sorted(self._figures[case.name].items())]

    def estimate(self, case: cases.Case, of: Callable[[RunFigures], float]) -> Estimate:
        """Estimate a figure of a case."""
        return Estimate.of([of(run) for run in self.figures(case)])

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the scenario's seed" if self.seed is None else f"seed {self.seed}"
        every = "All cases draw from the same random streams."
        share = f"{made_of(cases.collapse(1024), self.runs)} where runs fall into two kinds"
        return f"Runs from 0 on of each case under {used}: {self.runs} at least, {share}. {every}"
