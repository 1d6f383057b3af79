"""What a result directory shows: delay, throughput, windows, queues, signalling, sweeps and traces.

from slantpath.plots import plots, write

write(plots("out/geo"), "out/geo/plots")

Each figure is a function, too, that draws into Axes: ``slantpath.plots.delay("out/geo", ax)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

from slantpath import page
from slantpath.figures import Look, new_figure
from slantpath.plots import kinds, sweeps
from slantpath.plots.drawing import MOST_LINES
from slantpath.plots.functions import (
    association_cwnd,
    association_load,
    association_queue,
    association_wait,
    cdf,
    congestion,
    cwnd,
    delay,
    link_load,
    link_queue,
    link_wait,
    load_delay,
    load_fate,
    outages,
    queue,
    rto,
    signalling_outages,
    sweep,
    throughput,
    tsn,
    window,
)
from slantpath.plots.kinds import KINDS, Kind, missing
from slantpath.plots.results import NothingToDrawError, ResultDirectory
from slantpath.plots.traces import TRACE_KINDS, Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure

    from slantpath.figures import Made
    from slantpath.plots.drawing import Drawn
    from slantpath.plots.results import Results

__all__ = [
    "FORMATS",
    "KINDS",
    "MOST_LINES",
    "TRACE_KINDS",
    "Kind",
    "Look",
    "NothingToDrawError",
    "Plot",
    "ResultDirectory",
    "Trace",
    "association_cwnd",
    "association_load",
    "association_queue",
    "association_wait",
    "cdf",
    "congestion",
    "cwnd",
    "delay",
    "link_load",
    "link_queue",
    "link_wait",
    "load_delay",
    "load_fate",
    "missing",
    "outages",
    "plots",
    "queue",
    "rto",
    "signalling_outages",
    "sweep",
    "throughput",
    "trace_plots",
    "tsn",
    "window",
    "write",
]

FORMATS = ("png", "svg")
ON_REQUEST = ("pdf",)
"""Formats that are written only if they are named."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of results, and the numbers that it shows."""

    drawing: page.Drawing
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Source:
    """What a figure is of: what that is called, what made it, and how the figure looks."""

    name: str
    made: Made | None
    look: Look


def plots(
    directory: Results,
    figures: Iterable[str] | None = None,
    *,
    only: Iterable[tuple[str, str]] = (),
    look: Look | None = None,
    measures: Iterable[str] | None = None,
    over: Sequence[str] = (),
) -> list[Plot]:
    """Draw the figures of a result directory, all that its tables allow if none are named.

    What ``slantpath.run`` or ``slantpath.sweep`` gave serves as well.

    ``only`` keeps the rows in which a column has a value: ``[("flow", "voice"), ("run", "3")]``. ``look`` is
    that of a printed page, or of a style file: ``Look.of("column")``.

    Of a sweep the usual ``measures`` are drawn, or those that are named, ``over`` the axes that are named. If
    measures are named and no figures, nothing else is drawn.

    Raise ``NothingToDrawError`` where there is nothing, and where a figure that was named cannot be drawn.
    """
    results = ResultDirectory.of(directory, tuple(only))
    look = look or Look()
    drawn = []
    chosen = sweeps.usual(results) if measures is None else sweeps.named(results, measures)
    if figures is None or measures is not None:
        drawn += [_of_sweep(results, measure, over, look) for measure in chosen]
    for name in (KINDS if measures is None else ()) if figures is None else figures:
        plot = _plot(results, name, kinds.known(name), look)
        if plot is not None:
            drawn.append(plot)
        elif figures is not None:
            message = f"{name} cannot be drawn: {missing(results, name)}"
            raise NothingToDrawError(message)
    if not drawn:
        message = f"{results.path}: nothing can be drawn: {kinds.nothing(results)}"
        raise NothingToDrawError(message)
    return drawn


def trace_plots(
    path: str | os.PathLike[str],
    figures: Iterable[str] | None = None,
    *,
    association: int | None = None,
    span: tuple[float, float] | None = None,
    look: Look | None = None,
) -> list[Plot]:
    """Draw the figures of a trace that ``--trace`` wrote, all if none are named: those of ``TRACE_KINDS``.

    ``span`` is what is drawn of it, in seconds.

    Raise ``NothingToDrawError`` for what is no trace, and for a figure that a trace does not have.
    """
    look = look or Look()
    trace = Trace.read(path, association, span)
    drawn = []
    for name in TRACE_KINDS if figures is None else figures:
        if name not in TRACE_KINDS:
            message = f"a trace has no figure `{name}`; it has {', '.join(TRACE_KINDS)}"
            raise NothingToDrawError(message)
        with mpl.rc_context(look.whole):
            figure, axes = new_figure(look)
            shown = TRACE_KINDS[name].draw(axes, trace)
        source = _Source(trace.name, trace.made, look)
        drawn.append(_as_plot(source, name, TRACE_KINDS[name].title, shown, figure))
    return drawn


def write(
    drawn: Sequence[Plot],
    out: str | os.PathLike[str],
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write plots as PNG and SVG, or as PDF if it is among the formats; give the files.

    ``slantpath.report`` has them on a page.
    """
    _, files = page.write_drawings(Path(out), (plot.drawing for plot in drawn), formats)
    return files


def _of_sweep(results: ResultDirectory, measure: sweeps.Measure, over: Sequence[str], look: Look) -> Plot:
    with mpl.rc_context(look.whole):
        figure, axes = new_figure(look)
        drawn = sweeps.draw(axes, results, measure, over)
    return _as_plot(_Source(results.name, results.made, look), measure.file, measure.title, drawn, figure)


def _plot(results: ResultDirectory, name: str, kind: Kind, look: Look) -> Plot | None:
    with mpl.rc_context(look.whole):
        figure, axes = new_figure(look)
        drawn = kinds.draw(axes, results, kind)
    if drawn is None:
        return None
    return _as_plot(_Source(results.name, results.made, look), name, kind.title, drawn, figure)


def _as_plot(source: _Source, name: str, title: str, drawn: Drawn, figure: Figure) -> Plot:
    title = title[0].upper() + title[1:]
    words = [f"{title} of {source.name}." if source.name else f"{title}.", *drawn.remarks]
    words += [f"{row[0]}: {', '.join(_said(drawn.head[1:], row[1:]))}." for row in drawn.rows]
    caption = " ".join(drawn.remarks)
    drawing = page.Drawing(name, f"{title}.", caption, " ".join(words), figure, source.look, source.made)
    return Plot(drawing, drawn.head, drawn.rows)


def _said(head: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Give a row of numbers as one would say them: ``median 251 ms``."""
    columns = (column.partition(" / ") for column in head)
    return [f"{name} {cell} {unit}".rstrip() for (name, _, unit), cell in zip(columns, cells, strict=True)]
