"""The figures of the future work: one parameter at a time, and more than two paths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from slantpath.figures import SERIES, STYLE
from slantpath_studies.multi_link import cases, wider
from slantpath_studies.multi_link.findings import (
    SCENARIO,
    Setting,
    delay_99,
    longest,
    retransmitted_mean,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

    from slantpath_studies.claims import Estimate
    from slantpath_studies.multi_link.findings import RunFigures
    from slantpath_studies.multi_link.runs import Results

BOUNDS: Mapping[str, Callable[[Setting], float]] = {
    cases.TCP: Setting.tcp_bound_s,
    cases.STANDARD: Setting.standard_bound_s,
    cases.MODIFIED: Setting.modified_bound_s,
}
LABELS = {cases.TCP: "TCP", cases.STANDARD: "SCTP", cases.MODIFIED: "SCTP, gap reports over the backup"}
LONGEST_TCP_S = 6.0
"""The mean of TCP may be beyond the figure: it has the wait in the send buffer."""
SETTINGS: Mapping[str, Callable[[float], Setting]] = {
    "loss": lambda _: SCENARIO,
    "delay": lambda ms: replace(SCENARIO, satellite_delay_s=ms / 1e3),
    "source": lambda rate: replace(SCENARIO, message_interval_s=1 / rate),
    "backup-rate": lambda kbit: replace(SCENARIO, backup_rate_bit_per_s=kbit * 1e3),
    "backup-delay": lambda ms: replace(SCENARIO, backup_delay_s=ms / 1e3),
}
"""What the equations take where a parameter has a value."""


def parameters(results: Results) -> Figure:
    """Draw the mean delay of retransmitted messages against each parameter, beside equations 1 to 3."""
    axes_of = [axis for axis in wider.AXES if axis.name in SETTINGS]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 9.6))
        panels = figure.subplots(3, 2)
    for axes, axis in zip(panels.flat, axes_of, strict=False):
        _lines(axes, results, axis, retransmitted_mean)
        for number, transport in enumerate(cases.RANDOM_CASES):
            if transport in axis.transports:
                bounds = [BOUNDS[transport](SETTINGS[axis.name](point.value)) for point in axis.points]
                axes.plot(
                    range(len(bounds)),
                    bounds,
                    linestyle=(0, (1, 2)),
                    linewidth=1.4,
                    color=SERIES[number]["color"],
                    label=f"{LABELS[transport]}: lower bound",
                )
        axes.set_ylabel("mean delay of retransmitted / s", fontsize="small")
        axes.set_ylim(0, min(axes.get_ylim()[1], LONGEST_TCP_S))
    _legend(figure, panels[0, 0], panels[2, 1])
    return figure


def paths(results: Results) -> Figure:
    """Draw delays against the number of backups, without an outage and with two."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 4.2))
        panels = figure.subplots(1, 2)
    of: Sequence[tuple[str, Callable[[Sequence[RunFigures]], Estimate], str]] = (
        ("backups", delay_99, "delay of 99 % is below / s"),
        ("outages", longest, "longest delay of a message / s"),
    )
    for axes, (name, figure_of, label) in zip(panels, of, strict=True):
        axis = next(axis for axis in wider.AXES if axis.name == name)
        _lines(axes, results, axis, figure_of)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.legend(fontsize="small")
    return figure


def _lines(
    axes: Axes, results: Results, axis: wider.Axis, figure_of: Callable[[Sequence[RunFigures]], Estimate]
) -> None:
    for number, transport in enumerate(cases.RANDOM_CASES):
        if transport not in axis.transports:
            continue
        estimates = [
            figure_of(results.figures(wider.name_of(axis, point, transport))) for point in axis.points
        ]
        axes.errorbar(
            range(len(estimates)),
            [each.mean for each in estimates],
            [each.half_width if np.isfinite(each.half_width) else 0.0 for each in estimates],
            label=LABELS[transport],
            capsize=3,
            linewidth=1,
            markersize=5,
            **SERIES[number],
        )
    axes.set_xticks(range(len(axis.points)), [f"{point.value:g}" for point in axis.points])
    axes.set_xlabel(axis.label)


def _legend(figure: Figure, shown: Axes, place: Axes) -> None:
    """Put the legend of a panel into an empty one."""
    place.set_axis_off()
    place.legend(*shown.get_legend_handles_labels(), loc="center", fontsize="small", frameon=False)
    figure.align_ylabels()
