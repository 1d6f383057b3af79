"""The runs of the study: which there are, and what they gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slantpath.running import Job
from slantpath_studies.failover import cases
from slantpath_studies.failover.findings import CostFigures, RunFigures, by_link, findings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from slantpath import Scenario
    from slantpath.store import Record
    from slantpath_studies.claims import Finding
    from slantpath_studies.failover.findings import Observations

RUNS = 40
"""The paper's repetitions of each cell."""
CHANGE_RUNS = 20
"""Runs for each other choice and each answer."""
LINK_RUNS = 10
"""Runs of every cell for each other link."""
DURATION_S = 120.0
"""What the scenario says."""
COST = "cost"
"""What the cases begin with that measure what an answer costs."""
SHOWN = (cases.WORST, cases.BEST)
"""Cells of which run 0 is drawn step by step."""


def plan(runs: int, seed: int | None) -> list[tuple[str, Job]]:
    """List every run of the study with the name of its case."""

    def jobs(case: str, scenario: Scenario, count: int) -> Iterator[tuple[str, Job]]:
        return ((case, Job(scenario, number, seed)) for number in range(count))

    planned: list[tuple[str, Job]] = []
    for case, values in (cases.CELLS | cases.IDLE_CELLS | cases.CLAIMED).items():
        planned += jobs(case, cases.scenario_of(values), runs)
    fewer = min(runs, CHANGE_RUNS)
    for link in cases.LINKS:
        for case, values in (cases.CELLS | cases.IDLE_CELLS | cases.CLAIMED).items():
            planned += jobs(f"{link.name}/{case}", cases.scenario_of(values, link), min(runs, LINK_RUNS))
    for change in cases.OPEN:
        for cell in cases.BURST_ONLY.get(change.name, cases.OPEN_CELLS):
            scenario = cases.scenario_of((cases.CELLS | cases.IDLE_CELLS)[cell], change)
            planned += jobs(f"{change.name}/{cell}", scenario, fewer)
    for change in cases.ANSWERS:
        for cell in cases.ANSWER_CELLS:
            scenario = cases.scenario_of(cases.CELLS[cell], change)
            planned += jobs(f"{change.name}/{cell}", scenario, fewer)
        for disturbance in cases.DISTURBANCES:
            scenario = cases.scenario_of(cases.CELLS[disturbance.cell], change, disturbance)
            planned += jobs(f"{COST}/{disturbance.name}/{change.name}", scenario, fewer)
    return planned


class Results:
    """What the runs gave: the figures of every run, and the timelines that are drawn."""

    TABLES = ("messages", "timelines")
    """The tables of a run that the study needs."""

    def __init__(self, runs: int, seed: int | None) -> None:
        """Begin without any run."""
        self.runs = runs
        self.seed = seed
        self._figures: dict[str, dict[int, RunFigures]] = {}
        self._costs: dict[str, dict[int, CostFigures]] = {}
        self._timelines: dict[str, pa.Table] = {}

    def add(self, case: str, run: int, record: Record) -> None:
        """Take a finished run."""
        timeline, messages = record.tables["timelines"], record.tables["messages"]
        if case.startswith(f"{COST}/"):
            self._costs.setdefault(case, {})[run] = CostFigures.of(timeline, messages, DURATION_S)
            return
        self._figures.setdefault(case, {})[run] = RunFigures.of(timeline, messages)
        if case in SHOWN and run == 0:
            self._timelines[case] = timeline

    def figures(self, case: str) -> Sequence[RunFigures]:
        """Give the figures of a case's runs, in the order of their numbers."""
        return [figures for _, figures in sorted(self._figures[case].items())]

    def costs(self, disturbance: cases.Disturbance, change: cases.Change) -> Sequence[CostFigures]:
        """Give the figures of the runs in which a disturbance takes the place of the failure."""
        return [
            figures for _, figures in sorted(self._costs[f"{COST}/{disturbance.name}/{change.name}"].items())
        ]

    def timeline(self, case: str) -> pa.Table:
        """Give the timeline of run 0 of a cell that is drawn."""
        return self._timelines[case]

    def findings(self) -> list[Finding]:
        """Hold the runs against the paper's claims."""
        loaded = cases.CELLS | cases.CLAIMED
        return findings(self._claimed("", [case for case in loaded if not case.startswith(f"{cases.IDLE}/")]))

    def by_link(self) -> list[tuple[str, dict[str, str]]]:
        """Give what every claim has on each link that the paper leaves open, with both alternate paths."""
        wanted = cases.CELLS | cases.IDLE_CELLS | cases.CLAIMED
        links = {
            "1 Mbit/s and 25 ms, as studied": "",
            **{link.about: f"{link.name}/" for link in cases.LINKS},
        }
        return [
            (f"{name}, {alternate}", by_link(self._claimed(link, wanted), reading))
            for name, link in links.items()
            for alternate, reading in (("alternate loaded", ""), ("alternate idle", f"{cases.IDLE}/"))
        ]

    def _claimed(self, link: str, wanted: Iterable[str]) -> Observations:
        return {case: self.figures(link + case) for case in wanted}

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the scenario's seed" if self.seed is None else f"seed {self.seed}"
        return (
            f"Runs 0 to {self.runs - 1} of each case under {used}; runs of one number have the same phases "
            f"and bursts in all cases. Other choices, answers: runs 0 to {min(self.runs, CHANGE_RUNS) - 1}; "
            f"other links: runs 0 to {min(self.runs, LINK_RUNS) - 1}."
        )
