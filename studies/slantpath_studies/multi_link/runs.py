"""The runs of the study: which there are, and what they gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from slantpath.running import Job
from slantpath_studies.multi_link import cases, wider
from slantpath_studies.multi_link.findings import RunFigures, findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slantpath import Scenario
    from slantpath.store import Record
    from slantpath_studies.claims import Finding

RUNS = 40
"""Runs of each case."""
VARIANT_RUNS = 6
"""Runs for each other choice of an open parameter: its effect is to be seen, not measured to a percent."""

DURATION_S = 300.0
"""What the scenario says."""


def plan(runs: int, seed: int | None) -> list[tuple[str, Job]]:
    """List every run of the study with the name of its case."""

    def jobs(case: str, scenario: Scenario, count: int) -> Iterator[tuple[str, Job]]:
        return ((case, Job(scenario, number, seed)) for number in range(count))

    planned: list[tuple[str, Job]] = []
    for case in cases.CASES:
        planned += jobs(case, cases.scenario_of(case), runs if case in cases.RANDOM_CASES else 1)
    for variant in cases.VARIANTS:
        for case in cases.RANDOM_CASES:
            scenario = cases.scenario_of(case, variant)
            planned += jobs(f"{variant.name}/{case}", scenario, min(runs, VARIANT_RUNS))
    for case, scenario in wider.every().items():
        planned += jobs(case, scenario, min(runs, wider.RUNS))
    return planned


class Results:
    """What the runs gave: the figures of every run, and every message of the cases themselves."""

    TABLES = ("messages",)
    """The tables of a run that the study needs."""

    def __init__(self, runs: int, seed: int | None) -> None:
        """Begin without any run."""
        self.runs = runs
        self.seed = seed
        self._figures: dict[str, dict[int, RunFigures]] = {}
        self._messages: dict[tuple[str, int], pa.Table] = {}

    def add(self, case: str, run: int, record: Record) -> None:
        """Take a finished run."""
        messages = record.tables["messages"]
        self._figures.setdefault(case, {})[run] = RunFigures.of(messages, DURATION_S)
        if case in cases.CASES:
            self._messages[case, run] = messages

    def figures(self, case: str) -> Sequence[RunFigures]:
        """Give the figures of a case's runs, in the order of their numbers."""
        return [figures for _, figures in sorted(self._figures[case].items())]

    def messages(self, case: str, run: int = 0) -> pa.Table:
        """Give the messages of one run."""
        return self._messages[case, run]

    def all_messages(self) -> pa.Table:
        """Give the messages of every run of every case, with columns that tell which."""
        parts = []
        for (case, run), messages in sorted(self._messages.items()):
            rows = messages.num_rows
            keyed = messages.add_column(0, "run", pa.array([run] * rows, pa.uint64()))
            parts.append(_plain_texts(keyed.add_column(0, "case", pa.array([case] * rows, pa.string()))))
        return pa.concat_tables(parts)

    def findings(self) -> list[Finding]:
        """Hold the runs against the paper's claims."""
        return findings({case: self.figures(case) for case in cases.CASES})

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the scenario's seed" if self.seed is None else f"seed {self.seed}"
        return (
            f"Runs 0 to {self.runs - 1} of each case under {used}; all cases lose packets by the same random "
            f"streams. Other choices of open parameters: runs 0 to {min(self.runs, VARIANT_RUNS) - 1}; "
            f"other values of parameters and more paths: runs 0 to {min(self.runs, wider.RUNS) - 1}."
        )


def _plain_texts(table: pa.Table) -> pa.Table:
    """Replace dictionary-coded texts by plain ones: their dictionaries differ from run to run."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(place).cast(pa.string())
            table = table.set_column(place, pa.field(field.name, pa.string()), plain)
    return table
