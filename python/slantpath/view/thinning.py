"""Rows of lines over time, read in batches, and thinned where they are too many to be embedded.

Each line keeps, in each stretch of time, the first row and those with the least and the greatest of each
column. What is drawn of them covers the same pixels, while stretches are narrower than a pixel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Whole = NDArray[np.int64]

FINEST = 4096
"""Stretches of the whole time with which thinning begins, at the least."""


@dataclass(slots=True)
class Lines:
    """Rows that have come so far: whose they are, when, and their values."""

    columns: int
    most: int
    """Rows above which there is thinning."""
    read: int = 0
    """Rows that have come."""
    stretch_s: float = 0.0
    """Length of the stretches; zero while every row is kept."""
    _owner: list[Whole] = field(default_factory=list)
    _at_s: list[Numbers] = field(default_factory=list)
    _values: list[list[Numbers]] = field(default_factory=list)
    _held: int = 0

    def add(self, owner: Whole, at_s: Numbers, values: Sequence[Numbers]) -> None:
        """Take rows: the numbers of their lines, their instants, and their columns."""
        self.read += len(owner)
        known = np.isfinite(at_s)
        if not known.all():
            owner, at_s, values = owner[known], at_s[known], [value[known] for value in values]
        if self.stretch_s:
            owner, at_s, values = self._thin(*_in_order(owner, at_s, values))
        self._owner.append(owner)
        self._at_s.append(at_s)
        self._values.append(list(values))
        self._held += len(owner)
        if self._held > 2 * self.most:
            self._compact()

    def rows(self) -> tuple[Whole, Numbers, list[Numbers]]:
        """Give what was kept, line by line, each in the order of time."""
        owner, at_s, values = self._compact()
        return owner, at_s, list(values)

    @property
    def is_thinned(self) -> bool:
        """Tell if rows were left out."""
        return self.stretch_s > 0

    def _compact(self) -> tuple[Whole, Numbers, Sequence[Numbers]]:
        rows = self._laid_together()
        span = float(np.ptp(rows[1])) if len(rows[1]) else 0.0
        while len(rows[0]) > self.most and span > 0 and self.stretch_s < span:
            lines = max(len(np.unique(rows[0])), 1)
            wanted = max(self.most // (lines * (2 * self.columns + 1)), FINEST // 64)
            self.stretch_s = 2 * self.stretch_s if self.stretch_s else span / max(wanted, FINEST)
            rows = self._thin(*rows)
        self._owner, self._at_s, self._values = [rows[0]], [rows[1]], [list(rows[2])]
        self._held = len(rows[0])
        return rows

    def _laid_together(self) -> tuple[Whole, Numbers, Sequence[Numbers]]:
        if not self._owner:
            empty: Numbers = np.empty(0)
            return np.empty(0, dtype=np.int64), empty, [empty] * self.columns
        values = [np.concatenate([part[place] for part in self._values]) for place in range(self.columns)]
        return _in_order(np.concatenate(self._owner), np.concatenate(self._at_s), values)

    def _thin(
        self, owner: Whole, at_s: Numbers, values: Sequence[Numbers]
    ) -> tuple[Whole, Numbers, Sequence[Numbers]]:
        """Keep the extremes of each stretch of each line; rows come in order."""
        if not len(owner):
            return owner, at_s, values
        stretch = np.floor(at_s / self.stretch_s)
        begins = np.r_[True, (owner[1:] != owner[:-1]) | (stretch[1:] != stretch[:-1])]
        starts = np.flatnonzero(begins)
        number = np.cumsum(begins) - 1
        kept = begins.copy()
        for value in values:
            for extreme in (np.fmin, np.fmax):
                places = np.flatnonzero(value == extreme.reduceat(value, starts)[number])
                whose = number[places]
                kept[places[np.r_[True, whose[1:] != whose[:-1]][: len(places)]]] = True
        return owner[kept], at_s[kept], [value[kept] for value in values]


def _in_order(
    owner: Whole, at_s: Numbers, values: Sequence[Numbers]
) -> tuple[Whole, Numbers, Sequence[Numbers]]:
    order = np.lexsort((at_s, owner))
    return owner[order], at_s[order], [value[order] for value in values]


def shares(cells: Sequence[int], budget: int) -> list[int]:
    """Divide a budget among tables of so many cells: small ones stay whole, large ones have equal shares."""
    left, given = budget, [0] * len(cells)
    for rank, place in enumerate(sorted(range(len(cells)), key=lambda place: cells[place])):
        given[place] = min(cells[place], left // (len(cells) - rank))
        left -= given[place]
    return given
