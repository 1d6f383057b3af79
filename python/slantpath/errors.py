"""What goes wrong, as Python exceptions."""

from __future__ import annotations

import sys
import warnings

Place = tuple[str, int | None, int | None, str, str | None]
"""File, line, column, what is wrong, what would be right."""


SHOWN = 20
"""How many faults the text of an error has; ``faults`` has all."""


class LiveError(Exception):
    """An endpoint that cannot be opened or used any more, or a message that cannot be sent."""


class AssociationLost(LiveError):  # noqa: N818 - it is what has happened
    """An association that was aborted, or whose peer does not answer: the text says which."""


class ScenarioError(ValueError):
    """A scenario that cannot be run: where the fault stands, what it is, and what would be right.

    Several faults of one scenario are reported together: ``faults`` holds them all, in the order of the file;
    ``file``, ``line``, ``wrong`` and ``right`` are those of the first. Faults of values that ``with_values``
    laid over a file have that name for a file, and no line.
    """

    def __init__(self, faults: list[Place]) -> None:
        """Take faults as (file, line, column, what is wrong, what would be right)."""
        self.faults = [Fault(*fault) for fault in faults]
        shown = [str(fault) for fault in self.faults[:SHOWN]]
        if len(self.faults) > SHOWN:
            shown.append(f"and {len(self.faults) - SHOWN} more")
        super().__init__("\n".join(shown))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[list[Place]]]:
        """Pickle by the faults, so that the error survives its way back from another process."""
        return (ScenarioError, ([fault.as_tuple() for fault in self.faults],))

    @property
    def file(self) -> str:
        """The file of the first fault."""
        return self.faults[0].file

    @property
    def line(self) -> int | None:
        """The line of the first fault, from 1; None for a value that Python laid over the file."""
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
    """One fault of a scenario, or one doubt about it."""

    def __init__(
        self, file: str, line: int | None, column: int | None, wrong: str, right: str | None
    ) -> None:
        """Take the place, what is wrong there and what would be right."""
        self.file = file
        self.line = line
        self.column = column
        self.wrong = wrong
        self.right = right

    def as_tuple(self) -> Place:
        """Give back what it was made of."""
        return (self.file, self.line, self.column, self.wrong, self.right)

    def __str__(self) -> str:
        """Give the fault as the command prints it."""
        place = self.file if self.line is None else f"{self.file}:{self.line}:{self.column}"
        text = f"{place}: {self.wrong}"
        return text if self.right is None else f"{text}\n  help: {self.right}"


class RunError(RuntimeError):
    """A run that could not be made, though its scenario is right."""


class StuckError(RuntimeError):
    """A program in virtual time that cannot go on: the text says which of its tasks wait, and for what."""


class TooLateError(AssertionError):
    """A message that came later than it was allowed to, in a test: the text says which and when."""


class VoidRunError(RuntimeError):
    """An emulation that was later than allowed: it says nothing of the program. The text has the reason."""


class InUseError(RunError):
    """A directory that another command, or another call, writes into."""


class ScenarioWarning(UserWarning):
    """A scenario or topology that runs, and is probably a mistake; the command prints the same warnings."""


def warn(text: str) -> None:
    """Warn at the line that called the library, whatever of the library lies between."""
    level = 1
    frame = sys._getframe(level)  # noqa: SLF001 - warnings.warn counts its callers the same way
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "slantpath":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, ScenarioWarning, stacklevel=level + 1)
