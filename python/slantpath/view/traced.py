"""Traces as charts: TSN over time, windows and timers, and the events that they tell."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from slantpath.plots.results import printable
from slantpath.plots.traces import Trace
from slantpath.view.thinning import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slantpath.plots.traces import Points
    from slantpath.view.blocks import Blocks
    from slantpath.view.events import Events

    Named = Sequence[tuple[str, Points]]


LARGE = frozenset({"retransmitted", "noticed as lost"})
"""Points that are few, and must be seen among many."""


def embed(
    path: Path, name: str, most_cells: int, blocks: Blocks, notes: list[str], events: Events
) -> tuple[list[dict[str, Any]], float]:
    """Embed a trace; give what the page is told of its charts, and when it ends."""
    trace = Trace.read(path)
    about = printable(trace.name)
    charts: list[tuple[str, str, bool, Named]] = [
        (
            "tsn",
            "TSN",
            True,
            [
                ("cumulative TSN acknowledged", trace.cumulative),
                ("sent", trace.first),
                ("noticed as lost", trace.lost),
                ("retransmitted", trace.retransmitted),
            ],
        ),
        ("window", "window_bytes", False, _of_paths(trace, ("cwnd", "flight"))),
        ("timers", "timer_s", False, _of_paths(trace, ("srtt", "rto"))),
    ]
    told = []
    for part, column, points, lines in charts:
        table = _embed(f"{name}-{part}", column, lines, most_cells // len(charts), blocks, notes)
        if table is not None:
            told.append(
                {
                    **table,
                    "points": points,
                    "held": not points,
                    "title": f"{about}: {part if part != 'tsn' else 'TSN'}",
                }
            )
    _tell(trace, about, events)
    if not trace.whole:
        notes.append(f"{about}: the trace is not whole, it ends before its run.")
    return told, trace.span[1]


def _of_paths(trace: Trace, what: Sequence[str]) -> Named:
    return [
        (f"{one} of {path}" if len(trace.paths) > 1 else one, getattr(of, one))
        for path, of in trace.paths.items()
        for one in what
    ]


def _embed(
    name: str, column: str, named: Named, most_cells: int, blocks: Blocks, notes: list[str]
) -> dict[str, Any] | None:
    named = [(label, points) for label, points in named if points.at_s]
    lines = Lines(1, max(most_cells // 2, 1))
    for place, (_, points) in enumerate(named):
        owners = np.full(len(points.at_s), place, dtype=np.int64)
        lines.add(owners, np.asarray(points.at_s), [np.asarray(points.values)])
    owner, at_s, (values,) = lines.rows()
    if not len(at_s):
        return None
    blocks.add(name, {"at": at_s, "c0": values})
    if lines.is_thinned:
        notes.append(f"{name}: {lines.read:,} points are thinned to {len(at_s):,}.")
    starts = np.searchsorted(owner, np.arange(len(named) + 1))
    return {
        "name": name,
        "at": "at_s",
        "rows": len(at_s),
        "thinned": lines.is_thinned,
        "columns": [column],
        "first": column,
        "lines": [
            {
                "label": printable(label),
                "from": int(starts[place]),
                "to": int(starts[place + 1]),
                "large": label in LARGE,
            }
            for place, (label, _) in enumerate(named)
        ],
    }


def _tell(trace: Trace, about: str, events: Events) -> None:
    for path, of in trace.paths.items():
        for at_s, rto in zip(of.timeouts.at_s, of.timeouts.values, strict=True):
            events.add(at_s, "time-out", f"{about}, {path}: T3-rtx expired after {rto:.4g} s")
    for at_s in trace.failovers.at_s:
        events.add(at_s, "failover", f"{about}: new messages leave by another path")
    for (path, state), spans in trace.impaired.items():
        for begin, end in spans:
            events.add(begin, "path", f"{about}, {path}: {state}")
            events.add(end, "path", f"{about}, {path}: no longer {state}")
    for at_s, lost in groupby(
        zip(trace.lost.at_s, trace.lost.values, strict=True), key=lambda point: point[0]
    ):
        numbers = [number for _, number in lost]
        which = f"DATA {min(numbers):,.0f}"
        if len(numbers) > 1:
            which = f"{len(numbers):,} chunks of DATA, {min(numbers):,.0f} to {max(numbers):,.0f},"
        events.add(at_s, "loss", f"{about}: {which} noticed as lost; counted from the first TSN")
