"""A table of cases: what each of them has become on each ground."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

GROUNDS = ("guest", "preload", "notify")
PASSED = "pass"


class Case(NamedTuple):
    """Name of a case: the program, and the case within it."""

    program: str
    case: str


class Table:
    """Results of a suite."""

    def __init__(self, suite: str) -> None:
        self.suite = suite
        self._results: dict[Case, dict[str, str]] = {}

    def put(self, ground: str, results: Mapping[Case, str]) -> None:
        """Take in the results of a ground."""
        for case, result in results.items():
            self._results.setdefault(case, {})[ground] = result

    def rows(self, grounds: Iterable[str]) -> list[list[str]]:
        """Lines of the table: a case that a ground never came to is absent there."""
        ran = set(grounds)
        return [
            [*case, *(of.get(ground, "absent") if ground in ran else "" for ground in GROUNDS)]
            for case, of in self._results.items()
        ]

    def write(self, directory: Path, grounds: Iterable[str]) -> None:
        with (directory / f"{self.suite}.csv").open("w", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow([*Case._fields, *GROUNDS])
            lines.writerows(self.rows(grounds))

    def count(self, ground: str) -> int:
        """Count the cases that have passed on a ground."""
        return sum(of.get(ground) == PASSED for of in self._results.values())

    def missed(self, grounds: Iterable[str]) -> list[str]:
        """Tell of cases that a door does not pass: those that Linux passes, or all where Linux was not asked."""
        ran = set(grounds)
        return [
            f"{self.suite}: {case.program} {case.case}: {door} {of.get(door, 'absent')}"
            for case, of in self._results.items()
            if "guest" not in ran or of.get("guest") == PASSED
            for door in ("preload", "notify")
            if door in ran and of.get(door) != PASSED
        ]
