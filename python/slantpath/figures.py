"""Figures as functions of a table: any Arrow table, ours or a file that was read back."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

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

WIDTHS: dict[str, tuple[float, float, float]] = {"column": (3.5, 2.6, 7.0), "page": (7.2, 4.0, 9.0)}
"""Width and height in inches, and size of letters in points, of figures of a journal's page."""
PRINTED_DPI = 300.0
"""Pixels an inch of a figure of a page."""


@dataclass(frozen=True, slots=True)
class Look:
    """Look of figures beyond the common style: parameters of Matplotlib, and pixels an inch."""

    rc: Mapping[Any, Any] = field(default_factory=dict)
    dpi: float = 150.0

    @classmethod
    def of(cls, width: str | None = None, style: str | os.PathLike[str] | None = None) -> Look:
        """Take a width of a page's, and a style file of Matplotlib's or the name of one of its styles.

        A width that is none is a ``KeyError``, a style that cannot be used a ``ValueError`` or ``OSError``.
        """
        rc: dict[Any, Any] = {}
        if width is not None:
            rc["font.size"] = WIDTHS[width][2]
        if style is not None:
            rc |= _style(style)
        dpi = PRINTED_DPI if width is not None else 150.0
        if isinstance(rc.get("savefig.dpi"), (int, float)):
            dpi = float(rc["savefig.dpi"])
        if width is not None:
            rc["figure.figsize"] = WIDTHS[width][:2]
        return cls(rc, dpi)

    @property
    def whole(self) -> dict[Any, Any]:
        """Give all parameters, those of the common style with them."""
        return {**STYLE, **self.rc, "svg.hashsalt": STYLE["svg.hashsalt"]}


def _style(style: str | os.PathLike[str]) -> dict[Any, Any]:
    # Not at the top: it reads every style that is installed.
    import matplotlib.style  # noqa: PLC0415

    if not Path(style).is_file() and style in matplotlib.style.library:
        return dict(matplotlib.style.library[str(style)])
    return dict(mpl.rc_params_from_file(style, fail_on_error=True, use_default_template=False))


@dataclass(frozen=True, slots=True)
class Made:
    """What made the results that a figure shows, for whoever finds its file alone."""

    program: str
    """Program and version."""
    source: str
    """Scenario, hash and seed."""


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


def new_figure(look: Look | None = None, **size: Any) -> tuple[Figure, Axes]:  # noqa: ANN401
    """Make an empty figure in the common style, free of any window system."""
    with mpl.rc_context((look or Look()).whole):
        figure = Figure(**size)
        return figure, figure.subplots()


NO_DATE: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
    "svg": {"Date": None},
}
KEYS: dict[str, tuple[str, str, str, str]] = {
    "pdf": ("Title", "Subject", "Creator", "Keywords"),
    "png": ("Title", "Description", "Software", "Source"),
    "svg": ("Title", "Description", "Creator", "Source"),
}
"""Names that formats have for a title, for words about a figure, for what made it, and of what."""


def render(
    figure: Figure,
    kind: str,
    *,
    title: str = "",
    words: str = "",
    look: Look | None = None,
    made: Made | None = None,
) -> bytes:
    """Give a figure as the bytes of a PNG, SVG or PDF file; equal figures give equal bytes.

    The file carries ``title``, ``words`` that say what can be seen, and what has ``made`` the results.
    """
    out = BytesIO()
    look = look or Look()
    told = (title, words, *(("", "") if made is None else (made.program, made.source)))
    metadata = NO_DATE[kind] | {name: text for name, text in zip(KEYS[kind], told, strict=True) if text}
    with mpl.rc_context(look.whole):
        lay_out(figure)
        figure.savefig(out, format=kind, dpi=look.dpi, metadata=metadata)
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
