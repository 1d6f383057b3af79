"""A table of cases: what each of them has become on each ground."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

DOORS = ("preload", "notify")
GROUNDS = ("guest", *DOORS)
PASSED = "pass"
NEVER = "never"
"""Word of a case that a door never passes; others turn on which of two packets is first."""


class Case(NamedTuple):
    """Name of a case: the program, and the case within it."""

    program: str
    case: str


class Missed(NamedTuple):
    """A case that a door does not pass."""

    suite: str
    program: str
    case: str
    door: str


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

    def missed(self, grounds: Iterable[str]) -> set[Missed]:
        """Find the cases that a door does not pass: of those that Linux passes, or of all without it."""
        ran = set(grounds)
        return {
            Missed(self.suite, case.program, case.case, door)
            for case, of in self._results.items()
            if "guest" not in ran or of.get("guest") == PASSED
            for door in DOORS
            if door in ran and of.get(door) != PASSED
        }

    def told(self, missed: Missed) -> str:
        """Tell of a case that a door does not pass."""
        result = self._results[Case(missed.program, missed.case)].get(missed.door, "absent")
        return f"{self.suite}: {missed.program} {missed.case}: {missed.door}: {result}"

    def has(self, missed: Missed) -> bool:
        """Tell if a case has come up in this run."""
        return missed.suite == self.suite and Case(missed.program, missed.case) in self._results


def known(file: Path) -> dict[Missed, str]:
    """Read the cases that are known not to pass by a door, each with the word that says if it ever does."""
    with file.open(newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        return {Missed(suite, *of): when for suite, *of, when in rows}
