"""Tables of a report that are not longer than can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slantpath import page

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ROWS = 100
"""Rows of one table: the files have the others."""
FIGURE_INCHES = (6.4, 4.4)
"""Size of a figure whose letters can be read on a telephone, too."""


def shortened(
    caption: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str | page.Cell]],
    source: str,
    most: int = MOST_ROWS,
) -> str:
    """Give a table, of a long one the first rows."""
    if len(rows) > most:
        caption = f"{caption} The first {most:,} of {len(rows):,} rows; all are in {source}."
    return page.table(caption, head, rows[:most])
