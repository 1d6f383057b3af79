"""What a result directory shows: delay over time, its distribution, throughput, windows and queues.

from slantpath.plots import plots, write

write(plots("out/geo"), "out/geo/plots")
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import matplotlib.ticker
import numpy as np

from slantpath import page
from slantpath.figures import new_figure, numbers, plain, series, short
from slantpath.plots.results import Line, NothingToDrawError, ResultDirectory

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

FORMATS = ("png", "svg")
MOST_LINES = 8
"""Lines of one figure: more cannot be told apart."""
MANY_POINTS = 20_000
"""Points from which on a line of an SVG is an image: as a path it would be larger than its table."""
BINS = 60
"""Intervals in which throughput is counted."""
STEPS = 2_000
"""Steps of a distribution that are drawn."""
SHARES = (0.1, 0.5, 0.9, 0.99, 0.999)
"""Shares of which a distribution's quantiles are told."""
MILLI, KILO = 1e3, 1e3

DrawStyle = Literal["default", "steps-mid", "steps-post"]


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of results, and the numbers that it shows."""

    drawing: page.Drawing
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of figure: of which table, and what makes a run give that table."""

    title: str
    table: str
    own: tuple[str, ...]
    probe: str
    draw: Callable[[Axes, list[Line]], tuple[Sequence[str], list[Sequence[str]]]]
    all_runs: bool = False
    otherwise: Kind | None = None
    """How it is drawn where that table has no rows."""


def plots(
    directory: str | os.PathLike[str],
    figures: Iterable[str] | None = None,
    *,
    only: Iterable[tuple[str, str]] = (),
) -> list[Plot]:
    """Draw the figures of a result directory, all that its tables allow if none are named.

    ``only`` keeps the rows in which a column has a value: ``[("flow", "voice"), ("run", "3")]``. Raise
    ``NothingToDrawError`` where there is nothing, and where a figure that was named cannot be drawn.
    """
    results = ResultDirectory.read(Path(directory), tuple(only))
    drawn = []
    for name in KINDS if figures is None else figures:
        if name not in KINDS:
            message = f"there is no figure `{name}`; there are {', '.join(KINDS)}"
            raise NothingToDrawError(message)
        plot = _plot(results, name, KINDS[name])
        if plot is not None:
            drawn.append(plot)
        elif figures is not None:
            message = f"{name} cannot be drawn: {missing(results, name)}"
            raise NothingToDrawError(message)
    if not drawn:
        reasons = "; ".join(dict.fromkeys(missing(results, name) for name in KINDS))
        message = f"{results.path}: nothing can be drawn: {reasons}"
        raise NothingToDrawError(message)
    return drawn


def missing(results: ResultDirectory, name: str) -> str:
    """Say why a figure is not among those that were drawn."""
    kind = KINDS[name]
    if kind.table in results.tables:
        return f"`{kind.table}` has no such rows"
    other = "" if kind.otherwise is None else f", nor `{kind.otherwise.table}` of `{kind.otherwise.probe}`"
    if results.of_sweep is not None:
        kept = ", ".join(f"`{table}`" for table in results.of_sweep)
        return (
            f"the sweep keeps no table `{kind.table}`{other}, but {kept}: "
            f"name it in `tables` of the sweep's file, and have its scenario ask for it by `{kind.probe}`"
        )
    return f"there is no table `{kind.table}`, which the scenario's `{kind.probe}` asks for{other}"


def write(
    drawn: Sequence[Plot],
    out: str | os.PathLike[str],
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write plots as PNG and SVG; give the files. ``slantpath.report`` has them on a page."""
    _, files = page.write_drawings(Path(out), (plot.drawing for plot in drawn), formats)
    return files


def _plot(results: ResultDirectory, name: str, kind: Kind) -> Plot | None:
    lines, runs = results.lines(kind.table, kind.own, all_runs=kind.all_runs)
    if not lines:
        return None if kind.otherwise is None else _plot(results, name, kind.otherwise)
    shown = lines[:MOST_LINES]
    figure, axes = new_figure()
    head, rows = kind.draw(axes, shown)
    if not rows:
        return None
    axes.set_title(plain(f"{results.name}: {kind.title}"), loc="left")
    axes.set_ylim(bottom=0)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=min(4, len(rows) + 1),
        fontsize="small",
        frameon=False,
    )
    remarks = []
    if len(runs) > 1:
        which = f"All {len(runs)} runs together" if kind.all_runs else f"Run {runs[0]} of {len(runs)} runs"
        remarks.append(f"{which}.")
    if len(lines) > len(shown):
        remarks.append(f"The first {len(shown)} of {len(lines)} lines.")
    title = kind.title[0].upper() + kind.title[1:]
    words = [f"{title} of {results.name}.", *remarks]
    words += [f"{row[0]}: {', '.join(_said(head[1:], row[1:]))}." for row in rows]
    drawing = page.Drawing(name, f"{title}.", " ".join(remarks), " ".join(words), figure)
    return Plot(drawing, head, rows)


def _said(head: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Give a row of numbers as one would say them: ``median 251 ms``."""
    columns = (column.partition(" / ") for column in head)
    return [f"{name} {cell} {unit}".rstrip() for (name, _, unit), cell in zip(columns, cells, strict=True)]


def _draw_delay(axes: Axes, lines: list[Line]) -> tuple[Sequence[str], list[Sequence[str]]]:
    rows: list[Sequence[str]] = []
    lost_s = []
    for place, line in enumerate(lines):
        sent_s, delay_s = numbers(line.rows, "sent_s"), numbers(line.rows, "delay_s")
        _line(axes, sent_s, delay_s * MILLI, line.label, place)
        delivered = delay_s[~np.isnan(delay_s)] * MILLI
        lost_s.append(sent_s[np.isnan(delay_s)])
        spread = ["–"] * 4 if not delivered.size else [short(value) for value in _spread(delivered)]
        rows.append((line.label, f"{len(sent_s):,}", f"{delivered.size:,}", *spread))
    lost = np.concatenate(lost_s)
    if lost.size:
        axes.plot(
            lost,
            np.full(lost.size, 0.015),
            transform=axes.get_xaxis_transform(),
            linestyle="none",
            marker="|",
            color="#1b1b1f",
            label=f"not delivered: {lost.size:,}",
            rasterized=lost.size > MANY_POINTS,
        )
    axes.set_xlabel("time at which the message was sent / s")
    axes.set_ylabel("delivery delay / ms")
    head = ("line", "messages", "delivered", "mean / ms", "median / ms", "99 % below / ms", "largest / ms")
    return head, rows


def _spread(values: Numbers) -> tuple[float, ...]:
    median, high = np.quantile(values, [0.5, 0.99])
    return float(values.mean()), float(median), float(high), float(values.max())


def _draw_distribution(axes: Axes, lines: list[Line]) -> tuple[Sequence[str], list[Sequence[str]]]:
    rows: list[Sequence[str]] = []
    for place, line in enumerate(lines):
        delay_s = numbers(line.rows, "delay_s")
        sorted_ms = np.sort(delay_s[~np.isnan(delay_s)]) * MILLI
        if not sorted_ms.size:
            continue
        steps = np.unique(np.linspace(0, sorted_ms.size - 1, min(STEPS, sorted_ms.size)).astype(np.int64))
        _line(axes, sorted_ms[steps], (steps + 1) / sorted_ms.size, line.label, place, drawstyle="steps-post")
        below = [short(float(value)) for value in np.quantile(sorted_ms, SHARES)]
        rows.append((line.label, f"{sorted_ms.size:,}", *below))
    axes.set_xlabel("delivery delay / ms")
    axes.set_ylabel("share of the delivered messages")
    return ("line", "delivered", *(f"{share * 100:g} % below / ms" for share in SHARES)), rows


def _draw_bins(axes: Axes, lines: list[Line]) -> tuple[Sequence[str], list[Sequence[str]]]:
    rows: list[Sequence[str]] = []
    for place, line in enumerate(lines):
        # Several runs may have counted in one bin.
        from_s, first, which = np.unique(numbers(line.rows, "from_s"), return_index=True, return_inverse=True)
        to_s = numbers(line.rows, "to_s")[first]
        up_to = np.cumsum(np.bincount(which, weights=numbers(line.rows, "messages")))
        count = up_to[-1]
        _line(axes, to_s * MILLI, up_to / count, line.label, place, drawstyle="steps-post")
        bins = np.searchsorted(up_to, [share * (count - 1) for share in SHARES], side="right")
        below = [short(float((from_s[at] + to_s[at]) / 2 * MILLI)) for at in bins]
        rows.append((line.label, f"{int(count):,}", *below))
    axes.set_xlabel("delivery delay / ms")
    axes.set_ylabel("share of the delivered messages")
    return ("line", "delivered", *(f"{share * 100:g} % below / ms" for share in SHARES)), rows


def _draw_throughput(axes: Axes, lines: list[Line]) -> tuple[Sequence[str], list[Sequence[str]]]:
    times = [numbers(line.rows, "delivered_s") for line in lines]
    arrived = [~np.isnan(delivered_s) for delivered_s in times]
    end_s = max(
        (float(at[there].max()) for at, there in zip(times, arrived, strict=True) if there.any()), default=0
    )
    if end_s <= 0:
        return (), []
    width_s = end_s / BINS
    rates = [
        _counted(at[there], numbers(line.rows, "size_bytes")[there] * 8, end_s) / width_s
        for line, at, there in zip(lines, times, arrived, strict=True)
    ]
    scale, unit = _unit(max(float(rate.max()) for rate in rates))
    middles = np.linspace(width_s / 2, end_s - width_s / 2, BINS)
    rows: list[Sequence[str]] = []
    for place, (line, rate) in enumerate(zip(lines, rates, strict=True)):
        _line(axes, middles, rate / scale, line.label, place, drawstyle="steps-mid")
        rows.append(
            (line.label, *(short(float(value) / scale) for value in (rate.mean(), rate.max(), rate.min())))
        )
    axes.set_xlabel(f"time / s, in intervals of {short(width_s)} s")
    axes.set_ylabel(f"delivered / {unit}")
    return ("line", f"mean / {unit}", f"most / {unit}", f"least / {unit}"), rows


def _draw_intervals(axes: Axes, lines: list[Line]) -> tuple[Sequence[str], list[Sequence[str]]]:
    rates = [numbers(line.rows, "throughput_bit_per_s") for line in lines]
    scale, unit = _unit(max(float(rate.max()) for rate in rates))
    rows: list[Sequence[str]] = []
    for place, (line, rate) in enumerate(zip(lines, rates, strict=True)):
        start_s, end_s = numbers(line.rows, "start_s"), numbers(line.rows, "end_s")
        across, up = np.append(start_s, end_s[-1]), np.append(rate, rate[-1]) / scale
        _line(axes, across, up, line.label, place, drawstyle="steps-post")
        mean = np.average(rate, weights=end_s - start_s)
        rows.append((line.label, *(short(float(value) / scale) for value in (mean, rate.max(), rate.min()))))
    axes.set_xlabel("time / s")
    axes.set_ylabel(f"delivered / {unit}")
    return ("line", f"mean / {unit}", f"most / {unit}", f"least / {unit}"), rows


def _counted(at_s: Numbers, amounts: Numbers, end_s: float) -> Numbers:
    sums, _ = np.histogram(at_s, BINS, (0.0, end_s), weights=amounts)
    return np.asarray(sums, dtype=np.float64)


def _unit(bit_per_s: float) -> tuple[float, str]:
    for scale, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bit_per_s >= scale:
            return scale, unit
    return 1.0, "bit/s"


def _draw_window(axes: Axes, lines: list[Line]) -> tuple[Sequence[str], list[Sequence[str]]]:
    axes.set_ylabel("congestion window / kB")
    return _draw_samples(axes, lines, "cwnd_bytes", KILO, "kB")


def _draw_queue(axes: Axes, lines: list[Line]) -> tuple[Sequence[str], list[Sequence[str]]]:
    axes.set_ylabel("queue / packets")
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
    return _draw_samples(axes, lines, "queued_packets", 1.0, "packets")


def _draw_samples(
    axes: Axes, lines: list[Line], column: str, scale: float, unit: str
) -> tuple[Sequence[str], list[Sequence[str]]]:
    rows: list[Sequence[str]] = []
    for place, line in enumerate(lines):
        at_s, values = numbers(line.rows, "at_s"), numbers(line.rows, column) / scale
        _line(axes, at_s, values, line.label, place, drawstyle="steps-post")
        known = values[~np.isnan(values)]
        spread = (
            ["–"] * 3 if not known.size else [short(float(v)) for v in (known.min(), known.max(), known[-1])]
        )
        rows.append((line.label, f"{len(values):,}", *spread))
    axes.set_xlabel("time / s")
    return ("line", "samples", f"least / {unit}", f"most / {unit}", f"last / {unit}"), rows


def _line(
    axes: Axes,
    across: Numbers,
    up: Numbers,
    label: str,
    place: int,
    drawstyle: DrawStyle = "default",
) -> None:
    look = series(place, len(across))
    axes.plot(
        across, up, label=plain(label), rasterized=len(across) > MANY_POINTS, drawstyle=drawstyle, **look
    )


KINDS: dict[str, Kind] = {
    "delay": Kind("delivery delay over time", "messages", ("flow",), "probes.messages", _draw_delay),
    "cdf": Kind(
        "distribution of the delivery delay",
        "messages",
        ("flow",),
        "probes.messages",
        _draw_distribution,
        all_runs=True,
        otherwise=Kind(
            "distribution of the delivery delay",
            "delay_bins",
            ("flow",),
            "probes.delays",
            _draw_bins,
            all_runs=True,
        ),
    ),
    "throughput": Kind(
        "throughput over time",
        "messages",
        ("flow",),
        "probes.messages",
        _draw_throughput,
        otherwise=Kind(
            "throughput over time", "flow_intervals", ("flow",), "probes.intervals", _draw_intervals
        ),
    ),
    "cwnd": Kind("congestion window over time", "paths", ("flow", "path"), "probes.paths", _draw_window),
    "queue": Kind("queues over time", "queues", ("link", "direction"), "probes.queues", _draw_queue),
}
"""The figures by their names, which are those of their files."""
