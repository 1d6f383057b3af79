"""What goes wrong, as Python exceptions."""

from __future__ import annotations


class ScenarioError(ValueError):
    """A scenario that cannot be run: where the fault stands, what it is, and what would be right.

    Several faults of one scenario are reported together: ``faults`` holds them all, in the order of the file;
    ``file``, ``line``, ``wrong`` and ``right`` are those of the first.
    """

    def __init__(self, faults: list[tuple[str, int, int, str, str | None]]) -> None:
        """Take faults as (file, line, column, what is wrong, what would be right)."""
        self.faults = [Fault(*fault) for fault in faults]
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[list[tuple[str, int, int, str, str | None]]]]:
        """Pickle by the faults, so that the error survives its way back from another process."""
        return (ScenarioError, ([fault.as_tuple() for fault in self.faults],))

    @property
    def file(self) -> str:
        """The file of the first fault."""
        return self.faults[0].file

    @property
    def line(self) -> int:
        """The line of the first fault, from 1."""
        return self.faults[0].line

    @property
    def wrong(self) -> str:
        """What is wrong there."""
        return self.faults[0].wrong

    @property
    def right(self) -> str | None:
        """What would be right, if that can be told."""
        return self.faults[0].right


class Fault:
    """One fault of a scenario."""

    def __init__(self, file: str, line: int, column: int, wrong: str, right: str | None) -> None:
        """Take the place, what is wrong there and what would be right."""
        self.file = file
        self.line = line
        self.column = column
        self.wrong = wrong
        self.right = right

    def as_tuple(self) -> tuple[str, int, int, str, str | None]:
        """Give back what it was made of."""
        return (self.file, self.line, self.column, self.wrong, self.right)

    def __str__(self) -> str:
        """Give the fault as the command prints it."""
        text = f"{self.file}:{self.line}:{self.column}: {self.wrong}"
        return text if self.right is None else f"{text}\n  help: {self.right}"


class RunError(RuntimeError):
    """A run that could not be made, though its scenario is right."""
