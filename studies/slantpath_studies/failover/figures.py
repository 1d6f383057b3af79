"""Figures 4a, 4b and 5 of the paper, and what the answers give against what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from slantpath.figures import STYLE, new_figure, numbers
from slantpath_studies.failover import cases
from slantpath_studies.failover.findings import FAILURE_S, LIMIT_S, MILLI

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slantpath_studies.claims import Estimate

COLOURS = {"3": "#1a6b3c", "6": "#1f4e79", "13": "#b3541e"}
MARKERS = {"3": "s", "6": "^", "13": "o"}
DASHES: dict[str, Any] = {"3": "-", "6": (0, (5, 1.5)), "13": (0, (1, 1))}
SHOWN_BEFORE_S, SHOWN_AFTER_S = 0.1, 0.15
PLACES = {"primary": 1.0, "alternate": 0.0}
COST_COLOURS = ("#55555e", "#1f4e79", "#b3541e", "#1a6b3c")
COST_MARKERS = ("o", "s", "^", "D")
STEPS: dict[str, dict[str, Any]] = {
    "T3-rtx expired": {"marker": "x", "color": "#c22f2f", "markersize": 9},
    "T3-rtx started": {"marker": ">", "color": "#1a6b3c", "markersize": 8},
    "retransmitted": {"marker": "|", "color": "#1f4e79", "markersize": 14},
    "new data": {"marker": "D", "color": "#b3541e", "markersize": 6},
    "inactive": {"marker": "s", "color": "#1b1b1f", "markersize": 7},
}


def against_load(label: str, of: Callable[[str], Estimate], limit_s: float | None) -> Figure:
    """Draw a figure of every cell against the load, one line a queue, for both readings of section 3."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 4.2))
        panels = figure.subplots(1, 2, sharey=True)
        titles = ("cross traffic on both paths", "alternate path idle")
        for axes, prefix, title in zip(panels, ("", f"{cases.IDLE}/"), titles, strict=True):
            for queue in cases.QUEUES:
                estimates = [of(f"{prefix}{queue}/{load}") for load in cases.LOADS]
                axes.errorbar(
                    cases.LOADS,
                    [each.mean * MILLI for each in estimates],
                    [each.half_width * MILLI for each in estimates],
                    label=f"{queue} KB queue",
                    color=COLOURS[queue],
                    marker=MARKERS[queue],
                    linestyle=DASHES[queue],
                    capsize=4,
                    linewidth=1,
                )
            if limit_s is not None:
                axes.axhline(
                    limit_s * MILLI, color="#55555e", linestyle="--", linewidth=1, label="ITU-T's limit"
                )
            axes.set_title(title)
            axes.set_xlabel("cross traffic")
        panels[0].set_ylabel(f"{label} / ms")
        panels[0].set_ylim(bottom=0)
        panels[0].legend(loc="upper left")
    return figure


def failover_times(of: Callable[[str], Estimate]) -> Figure:
    """Figure 4 (a)."""
    return against_load("failover time", of, LIMIT_S)


def transfer_times(of: Callable[[str], Estimate]) -> Figure:
    """Figure 4 (b)."""
    return against_load("largest MSU transfer time", of, None)


def timeline(table: pa.Table, title: str) -> Figure:
    """Figure 5: the steps of one failover on the primary and on the alternate path."""
    figure, axes = new_figure(figsize=(9.0, 3.2))
    at_s = numbers(table, "at_s")
    paths, events = (
        table.column(name).cast(pa.string()).to_numpy(zero_copy_only=False) for name in ("path", "event")
    )
    moved = at_s[(events == "new data") & (paths != "primary") & (at_s >= FAILURE_S)]
    end_s = (float(moved[0]) if moved.size else FAILURE_S + 1.0) + SHOWN_AFTER_S
    shown = (at_s >= FAILURE_S - SHOWN_BEFORE_S) & (at_s <= end_s)
    for event, style in STEPS.items():
        rows = shown & (events == event)
        heights = [PLACES.get(path, 0.5) for path in paths[rows]]
        axes.plot((at_s[rows] - FAILURE_S) * MILLI, heights, linestyle="none", label=event, **style)
    expired = np.flatnonzero(shown & (events == "T3-rtx expired") & (paths == "primary"))
    for place in expired:
        later = np.flatnonzero((events == "T3-rtx started") & (paths == "primary") & (at_s >= at_s[place]))
        if later.size and at_s[later[0]] <= end_s:
            begin, finish = ((at_s[row] - FAILURE_S) * MILLI for row in (place, later[0]))
            axes.annotate(
                "", (finish, 1.18), (begin, 1.18), arrowprops={"arrowstyle": "<->", "color": "#c22f2f"}
            )
            axes.text(
                (begin + finish) / 2,
                1.24,
                f"{finish - begin:.0f} ms",
                ha="center",
                color="#c22f2f",
                fontsize=8,
            )
    axes.axvline(0, color="#55555e", linewidth=1)
    axes.set_yticks(list(PLACES.values()), list(PLACES))
    axes.set_ylim(-0.4, 1.5)
    axes.set_xlabel("time since the failure / ms")
    axes.set_title(title)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=5, fontsize="small")
    return figure


def answers(rows: Sequence[tuple[str, Estimate, Estimate, Sequence[Estimate]]]) -> Figure:
    """Draw what each answer gives, and what it costs where no path fails for good."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 6.4))
        times, costs = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    places = np.arange(len(rows))[::-1]
    loads = (("NONE", 1, "#1a6b3c", "o", 0.15), ("HIGH", 2, "#b3541e", "s", -0.15))
    for label, column, colour, marker, offset in loads:
        estimates: list[Estimate] = [row[column] for row in rows]  # type: ignore[misc]
        times.errorbar(
            [each.mean * MILLI for each in estimates],
            places + offset,
            xerr=[each.half_width * MILLI for each in estimates],
            linestyle="none",
            marker=marker,
            markersize=4,
            capsize=3,
            color=colour,
            label=f"cross traffic {label}",
        )
    times.axvline(LIMIT_S * MILLI, color="#55555e", linestyle="--", linewidth=1, label="ITU-T's limit")
    times.set_yticks(places, [row[0] for row in rows], fontsize=8)
    times.set_xlim(left=0)
    times.set_xlabel("failover time / ms")
    times.legend(loc="upper center", bbox_to_anchor=(0.4, -0.1), ncols=3, fontsize="small")
    for number, disturbance in enumerate(cases.DISTURBANCES):
        counts = [row[3][number] for row in rows]
        costs.errorbar(
            [count.mean for count in counts],
            places,
            xerr=[count.half_width for count in counts],
            linestyle="none",
            marker=COST_MARKERS[number],
            capsize=2,
            color=COST_COLOURS[number],
            fillstyle="none",
            label=disturbance.name,
        )
    costs.set_xscale("symlog", linthresh=1)
    costs.set_xlim(left=-0.2)
    costs.set_xlabel("failovers an hour, no lasting failure")
    costs.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=4, fontsize="small")
    return figure
