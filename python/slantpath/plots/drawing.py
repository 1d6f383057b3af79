"""What all figures have in common: how lines look, how many points they have, and units for axes."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine

from slantpath.figures import plain, series, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Told = tuple[Sequence[str], list[Sequence[str]]]
    """Names of columns and rows: what a figure shows, in numbers."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn: its numbers, of which runs, and what is to be said of it."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    runs: Sequence[int] = ()
    remarks: Sequence[str] = ()


DrawStyle = Literal["default", "steps-mid", "steps-post"]

MOST_POINTS = 10_000
"""Points of a line of which all are drawn."""
BLOCKS = 2_000
"""Parts of a longer line, of each of which the first, last, least and largest point are drawn.

They are narrower than what a printer can draw, so that the figure is the same."""
MOST_LINES = 8
"""Lines of one figure: more cannot be told apart."""
INK = "#1b1b1f"
MILLI, KILO = 1e3, 1e3


def line(
    axes: Axes, across: Numbers, up: Numbers, label: str, place: int, drawstyle: DrawStyle = "default"
) -> None:
    """Draw a line, the ``place``-th of its figure."""
    across, up = thinned(across, up)
    axes.plot(across, up, label=plain(label), drawstyle=drawstyle, **look(place, len(across)))


def look(place: int, points: int) -> dict[str, Any]:
    """Give how a line looks: ours, but for what a style sheet that is in force sets otherwise."""
    ours = series(place, points)
    ours["markersize"] *= mpl.rcParams["font.size"] / 10
    now, default = mpl.rcParams, mpl.rcParamsDefault
    if now["axes.prop_cycle"] != default["axes.prop_cycle"]:
        cycle = list(now["axes.prop_cycle"])
        ours |= cycle[place % len(cycle)]
    if now["lines.linewidth"] != default["lines.linewidth"]:
        ours["linewidth"] = now["lines.linewidth"]
    if now["lines.markersize"] != default["lines.markersize"]:
        ours["markersize"] = now["lines.markersize"]
    return ours


def colour(place: int) -> Any:  # noqa: ANN401 - whatever Matplotlib takes for one
    """Give the colour of what is the ``place``-th of its figure."""
    return look(place, 1)["color"]


def thinned(across: Numbers, up: Numbers) -> tuple[Numbers, Numbers]:
    """Leave out points of a long line that could not be seen."""
    points = len(up)
    if points <= MOST_POINTS:
        return across, up
    width = -(-points // BLOCKS)
    blocks = -(-points // width)
    padded = np.full(blocks * width, np.nan)
    padded[:points] = up
    block = padded.reshape(blocks, width)
    unknown = np.isnan(block)
    first = np.arange(blocks) * width
    least = first + np.where(unknown, np.inf, block).argmin(axis=1)
    most = first + np.where(unknown, -np.inf, block).argmax(axis=1)
    last = np.minimum(first + width, points) - 1
    kept = np.unique(np.concatenate([first, least, most, last]))
    return across[kept], up[kept]


def apart(at: Numbers) -> Numbers:
    """Leave out marks that would lie on others."""
    if len(at) <= BLOCKS:
        return at
    low, high = float(at.min()), float(at.max())
    block = np.floor((at - low) / max(high - low, 1e-9) * BLOCKS)
    return at[np.unique(block, return_index=True)[1]]


def ticks(axes: Axes, at: Numbers, label: str) -> None:
    """Mark instants along the lower edge."""
    shown = apart(at)
    axes.plot(
        shown,
        np.full(shown.size, 0.015),
        transform=axes.get_xaxis_transform(),
        linestyle="none",
        marker="|",
        color=INK,
        label=label,
    )


def title(axes: Axes, text: str) -> None:
    """Give a title, in as many lines as the width needs."""
    width, _ = _inches(axes)
    size = float(mpl.rcParams["font.size"])
    axes.set_title(plain(textwrap.fill(text, int(width * 100 / size))), loc="left")


def legend(axes: Axes, entries: int) -> None:
    """Put the legend below, in as many columns as the width has room for; within Axes among others."""
    figure = axes.figure
    if len(figure.axes) > 1 or not isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        axes.legend(loc="best", fontsize="small")
        return
    width, height = _inches(axes)
    size = float(mpl.rcParams["font.size"])
    columns = max(1, min(int(width / 1.7 * 10 / size), entries))
    # Below the ticks and the axis's label; the axes have what title, labels and legend leave of the height.
    rows = -(-entries // columns)
    below = (9 + 2.2 * size) / max(72 * height - (6.7 + 1.3 * rows) * size, 4 * size)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -below),
        ncols=columns,
        fontsize="small",
        frameon=False,
    )


def from_zero(axes: Axes) -> None:
    """Let the upward axis begin at zero, and leave room above."""
    axes.dataLim.update_from_data_y([0.0], ignore=False)
    axes.autoscale_view(scalex=False)
    axes.set_ylim(bottom=0)


def _inches(axes: Axes) -> tuple[float, float]:
    figure = axes.figure
    return float(figure.bbox.width / figure.dpi), float(figure.bbox.height / figure.dpi)


def spread(values: Numbers) -> tuple[float, ...]:
    """Give mean, median, what 99 % do not exceed, and the largest."""
    median, high = np.quantile(values, [0.5, 0.99])
    return float(values.mean()), float(median), float(high), float(values.max())


def ends(values: Numbers, count: int) -> list[str]:
    """Write the least, the most and the last of numbers as far as they are known, or as many dashes."""
    known = values[~np.isnan(values)]
    if not known.size:
        return ["–"] * count
    return [short(float(value)) for value in (known.min(), known.max(), known[-1])[:count]]


def rate_unit(bit_per_s: float) -> tuple[float, str]:
    """Give the unit in which a rate is read most easily, and how much it is."""
    for scale, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bit_per_s >= scale:
            return scale, unit
    return 1.0, "bit/s"


def unit_of(column: str, largest: float) -> tuple[str, float, str]:
    """Give what a column is called without its unit, how much its unit is, and how that is called."""
    if column.endswith("_bit_per_s"):
        scale, unit = rate_unit(largest)
        return column.removesuffix("_bit_per_s"), scale, unit
    for suffix, scale, unit in (
        ("_ratio", 0.01, "%"),
        ("_bytes", KILO, "kB"),
        ("_packets", 1.0, "packets"),
        ("_messages", 1.0, "messages"),
    ):
        if column.endswith(suffix):
            large = suffix != "_bytes" or largest >= KILO
            return column.removesuffix(suffix), *((scale, unit) if large else (1.0, "B"))
    if column.endswith("_s"):
        scale, unit = (1.0, "s") if largest >= 10 else (1 / MILLI, "ms")  # noqa: PLR2004
        return column.removesuffix("_s"), scale, unit
    return column, 1.0, ""


def with_unit(name: str, unit: str) -> str:
    """Write what an axis shows."""
    return f"{name} / {unit}" if unit else name
