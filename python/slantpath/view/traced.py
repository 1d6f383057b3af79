"""Traces as charts: TSN over time, windows and timers, and the events that they tell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from slantpath.plots.results import printable
from slantpath.plots.traces import Trace
from slantpath.view import explained
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
    explained.tell(path, flow_of(path) or about, events, notes)
    if not trace.whole:
        notes.append(f"{about}: the trace is not whole, it ends before its run.")
    return told, trace.span[1]


def flow_of(path: Path) -> str | None:
    """Tell the flow of which a trace is, if its header names one."""
    with path.open("rb") as lines:
        try:
            origin = json.loads(lines.readline())["origin"]
            return str(origin["flow"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return None


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
