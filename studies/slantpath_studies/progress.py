"""A bar that shows how far a long job is, and when it will be done."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from types import TracebackType

WIDTH = 30


class Progress:
    """Shows ``done`` of ``total`` on a terminal as a bar, elsewhere as one line a tenth."""

    def __init__(self, total: int, what: str, out: TextIO | None = None) -> None:
        """Begin at nothing done of ``total`` things called ``what``."""
        self.total = total
        self.what = what
        self.done = 0
        self._resumed = 0
        self._out = sys.stderr if out is None else out
        self._is_live = self._out.isatty()
        self._started = time.monotonic()
        self._shown_tenth = -1

    def __enter__(self) -> Self:
        """Show the empty bar."""
        self._show()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the bar's line."""
        if self._is_live:
            self._out.write("\n")
            self._out.flush()

    def resume(self, done: int) -> None:
        """Count what an earlier call had finished; it says nothing about the pace."""
        self.done += done
        self._resumed += done
        self._show()

    def advance(self) -> None:
        """One more is done."""
        self.done += 1
        self._show()

    def remaining_s(self) -> float | None:
        """How long the rest will take at the pace so far, once there is a pace."""
        made = self.done - self._resumed
        if made == 0:
            return None
        return (time.monotonic() - self._started) / made * (self.total - self.done)

    def _show(self) -> None:
        remaining = self.remaining_s()
        eta = "" if remaining is None or self.done == self.total else f", {remaining:.0f} s left"
        if self._is_live:
            filled = WIDTH * self.done // max(self.total, 1)
            bar = "█" * filled + "·" * (WIDTH - filled)
            self._out.write(f"\r{bar} {self.done}/{self.total} {self.what}{eta}\x1b[K")
            self._out.flush()
            return
        tenth = 10 * self.done // max(self.total, 1)
        if tenth > self._shown_tenth:
            self._shown_tenth = tenth
            self._out.write(f"{self.done}/{self.total} {self.what}{eta}\n")
            self._out.flush()
