"""Events on an axis of time: outages, failovers, handovers, and what a script does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from slantpath.figures import numbers, plain
from slantpath.plots.drawing import BLOCKS, INK, apart
from slantpath.plots.results import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from matplotlib.axes import Axes

    from slantpath.plots.results import ResultDirectory

NAMED = 12
"""Events of a script that are told one by one."""
APART = 0.04
"""Share of an axis that two names on one side of their lines are apart at least."""
FAILOVER, OUTAGE, HANDOVER, SCRIPT = "#c22f2f", "#8a8a94", "#0f7c85", "#7a3b8f"


def mark(axes: Axes, results: ResultDirectory, run: int | None, shown: str = "") -> list[str]:
    """Mark the events of a run, as far as its tables have them; say what was marked.

    The table that is ``shown`` itself is left out.
    """
    words = []
    for name, draw in _TABLES.items():
        rows = None if name == shown else _rows(results, name, run)
        if rows is not None and rows.num_rows:
            words += draw(axes, rows)
    return words


def _rows(results: ResultDirectory, name: str, run: int | None) -> pa.Table | None:
    """Give a table's rows of one run; none where a sweep has them of several points."""
    columns = results.columns(name)
    source = results.tables.sources.get(name)
    if source is None:
        return None
    found = source.table(results.batches(name, columns, run if "run" in columns else None), columns)
    axes = [column for column in columns if "." in column]
    several = any(len(found.column(column).unique()) > 1 for column in axes)
    return None if several else found


def _outages(axes: Axes, rows: pa.Table) -> list[str]:
    begin_s, end_s = numbers(rows, "begin_s"), numbers(rows, "end_s")
    last = max(float(axes.get_xlim()[1]), float(np.nanmax(np.concatenate([begin_s, end_s]))))
    paths = sorted({printable(str(path)) for path in rows.column("path").to_pylist()})
    label = f"outage of {paths[0]}" if len(paths) == 1 else f"outages of {len(paths)} paths"
    for place, (begin, end) in enumerate(zip(begin_s, np.where(np.isnan(end_s), last, end_s), strict=True)):
        axes.axvspan(
            begin,
            end,
            color=OUTAGE,
            alpha=0.22,
            linewidth=0,
            zorder=0.5,
            label=plain(label) if place == 0 else None,
        )
    return [_counted(rows.num_rows, "outage", f" of {', '.join(paths)}")]


def _failovers(axes: Axes, rows: pa.Table, more: str = "") -> list[str]:
    at_s = numbers(rows, "at_s")
    for place, at in enumerate(apart(at_s)):
        axes.axvline(
            at,
            color=FAILOVER,
            linestyle=(0, (4, 2)),
            linewidth=0.9,
            zorder=0.8,
            label=_counted(len(at_s), "failover", more) if place == 0 else None,
        )
    return [_counted(len(at_s), "failover", more)]


def _signalling_failovers(axes: Axes, rows: pa.Table) -> list[str]:
    return _failovers(axes, rows, " of signalling")


def _handovers(axes: Axes, rows: pa.Table) -> list[str]:
    # The first row of an antenna says what it holds when the run begins.
    at_s = numbers(rows, "at_s")
    at_s = np.unique(at_s[at_s > 0])
    if not at_s.size:
        return []
    _edge(axes, at_s, "v", HANDOVER, _counted(len(at_s), "handover"))
    return [_counted(len(at_s), "handover")]


def _script(axes: Axes, rows: pa.Table) -> list[str]:
    at_s = numbers(rows, "at_s")
    names = [
        printable(f"{name} {part}: {event}" if part else f"{name}: {event}")
        for name, part, event in zip(
            *(rows.column(column).to_pylist() for column in ("name", "part", "event")), strict=True
        )
    ]
    for place, at in enumerate(apart(at_s)):
        axes.axvline(
            at,
            color=SCRIPT,
            linestyle=(0, (1, 1.5)),
            linewidth=1.0,
            zorder=0.8,
            label=_counted(len(at_s), "event", " of the script") if place == 0 else None,
        )
    told = [f"{name} at {at:g} s" for name, at in zip(names, at_s, strict=True)]
    if len(told) > NAMED:
        return [_counted(len(at_s), "event", " of the script")]
    low, high = axes.get_xlim()
    left = right = -float("inf")
    for at, name in sorted(zip(at_s.tolist(), names, strict=True)):
        if at - left > APART * (high - low):
            left, side = at, "right"
        elif at - right > APART * (high - low):
            right, side = at, "left"
        else:
            continue
        axes.text(
            at,
            0.98,
            plain(name),
            transform=axes.get_xaxis_transform(),
            rotation=90,
            color=SCRIPT,
            fontsize="xx-small",
            horizontalalignment=side,
            verticalalignment="top",
            clip_on=True,
        )
    return told


def _edge(axes: Axes, at_s: Any, marker: str, colour: str, label: str) -> None:  # noqa: ANN401 - numbers
    shown = at_s if len(at_s) <= BLOCKS else apart(at_s)
    axes.plot(
        shown,
        np.full(len(shown), 0.985),
        transform=axes.get_xaxis_transform(),
        linestyle="none",
        marker=marker,
        markersize=4.0,
        color=colour,
        markeredgecolor=INK,
        markeredgewidth=0.3,
        label=label,
    )


def _counted(count: int, what: str, more: str = "") -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}{more}"


_TABLES: dict[str, Callable[[Axes, pa.Table], list[str]]] = {
    "outages": _outages,
    "failovers": _failovers,
    "signalling_failovers": _signalling_failovers,
    "handovers": _handovers,
    "script": _script,
}
"""Tables of events, and how their rows are marked."""
