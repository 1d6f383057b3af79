"""Figures as functions of a table: any Arrow table, ours or a file that was read back."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.figsize": (8.0, 4.2),
    "font.size": 10.0,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "slantpath",
}
"""How every figure looks; the salt makes equal figures equal files."""

SERIES: tuple[dict[str, Any], ...] = (
    {"color": "#1f4e79", "linestyle": "-", "marker": "o"},
    {"color": "#b3541e", "linestyle": (0, (5, 1.5)), "marker": "s"},
    {"color": "#1a6b3c", "linestyle": (0, (6, 1.5, 1, 1.5)), "marker": "^"},
    {"color": "#7a3b8f", "linestyle": (0, (1, 1)), "marker": "D"},
    {"color": "#c22f2f", "linestyle": (0, (3, 1, 1, 1, 1, 1)), "marker": "v"},
    {"color": "#55555e", "linestyle": (0, (8, 3)), "marker": "X"},
    {"color": "#0f7c85", "linestyle": (0, (2, 2)), "marker": "P"},
    {"color": "#8a6d00", "linestyle": (0, (1, 3)), "marker": "*"},
    {"color": "#c2478c", "linestyle": (0, (4, 1, 1, 1)), "marker": "h"},
)
"""Lines that are told apart by colour, by dashes and by marks: in print, and by those who see few colours."""

MARKS = 12
"""Marks along a line of many points."""


def series(number: int, points: int) -> dict[str, Any]:
    """Give the look of a line of so many points: marks in places of its own among those of its neighbours."""
    step = max(1, points // MARKS)
    first = step * (number % len(SERIES)) // len(SERIES)
    return {**SERIES[number % len(SERIES)], "markevery": (first, step), "markersize": 5.0, "linewidth": 1.0}


def numbers(table: Any, column: str) -> NDArray[np.float64]:  # noqa: ANN401 - whatever speaks Arrow
    """Take a column of numbers, not-a-number where a cell is missing."""
    cells = pa.table(table).column(column).cast(pa.float64())
    return np.asarray(cells.to_numpy(zero_copy_only=False), dtype=np.float64)


def plain(text: str) -> str:
    """Give a name to be drawn as it is: matplotlib takes dollars for formulas, and hides a first _."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def short(value: float) -> str:
    """Write a number with three digits that matter, or more before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def delivery_delay(axes: Axes, messages: Any, label: str, **line: Any) -> None:  # noqa: ANN401
    """Draw the delivery delay of each message against its number."""
    axes.plot(numbers(messages, "number"), numbers(messages, "delay_s") * 1e3, label=label, **line)
    axes.set_xlabel("message number")
    axes.set_ylabel("delivery delay / ms")


def new_figure(**size: Any) -> tuple[Figure, Axes]:  # noqa: ANN401
    """Make an empty figure in the common style, free of any window system."""
    with mpl.rc_context(STYLE):
        figure = Figure(**size)
        return figure, figure.subplots()


def render(figure: Figure, kind: str, *, title: str = "", words: str = "") -> bytes:
    """Give a figure as the bytes of a PNG or SVG file; equal figures give equal bytes.

    The file carries ``title``, and ``words`` that say what can be seen.
    """
    out = BytesIO()
    metadata: dict[str, str | None] = {"Date": None} if kind == "svg" else {"Software": None}
    metadata |= {name: text for name, text in (("Title", title), ("Description", words)) if text}
    with mpl.rc_context(STYLE):
        lay_out(figure)
        figure.savefig(out, format=kind, dpi=150, metadata=metadata)
    return out.getvalue()


def lay_out(figure: Figure) -> None:
    """Give the parts of a figure their places, once for every file that is made of it.

    What solves the layout does not give the same last digits in every process, nor at a second drawing.
    """
    if isinstance(figure.get_layout_engine(), PlaceHolderLayoutEngine):
        return
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        place = axes.get_position(original=True)
        axes.set_position(tuple(round(side, 6) for side in place.bounds), which="original")


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG and as SVG, beside each other under one name."""
    for kind in ("png", "svg"):
        path.with_suffix(f".{kind}").write_bytes(render(figure, kind))
