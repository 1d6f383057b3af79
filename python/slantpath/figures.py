"""Figures as functions of a table: any Arrow table, ours or a file that was read back."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

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


def numbers(table: Any, column: str) -> NDArray[np.float64]:  # noqa: ANN401 - whatever speaks Arrow
    """Take a column of numbers, not-a-number where a cell is missing."""
    cells = pa.table(table).column(column).cast(pa.float64())
    return np.asarray(cells.to_numpy(zero_copy_only=False), dtype=np.float64)


def delivery_delay(axes: Axes, messages: Any, label: str, **line: Any) -> None:  # noqa: ANN401
    """Draw the delivery delay of each message against its number."""
    axes.plot(numbers(messages, "number"), numbers(messages, "delay_s") * 1e3, label=label, **line)
    axes.set_xlabel("message number")
    axes.set_ylabel("delivery delay / ms")


def mark_retransmitted(axes: Axes, messages: Any, label: str, **marker: Any) -> None:  # noqa: ANN401
    """Mark the messages that were sent more than once."""
    again = numbers(messages, "transmissions") > 1
    axes.plot(
        numbers(messages, "number")[again],
        numbers(messages, "delay_s")[again] * 1e3,
        linestyle="none",
        label=label,
        **marker,
    )


def new_figure(**size: Any) -> tuple[Figure, Axes]:  # noqa: ANN401
    """Make an empty figure in the common style, free of any window system."""
    with mpl.rc_context(STYLE):
        figure = Figure(**size)
        return figure, figure.subplots()


def render(figure: Figure, kind: str) -> bytes:
    """Give a figure as the bytes of a PNG or SVG file; equal figures give equal bytes."""
    out = BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(STYLE):
        figure.savefig(out, format=kind, dpi=150, metadata=metadata)
    return out.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG and as SVG, beside each other under one name."""
    for kind in ("png", "svg"):
        path.with_suffix(f".{kind}").write_bytes(render(figure, kind))
