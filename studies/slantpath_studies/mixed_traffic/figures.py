"""The figures of the study: a mark for each loss of a setting, and how the delays of signalling spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from slantpath.figures import SERIES, STYLE, series
from slantpath_studies.mixed_traffic import cases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from slantpath_studies.mixed_traffic.measures import RunFigures
    from slantpath_studies.mixed_traffic.runs import Results


def by_setting(
    results: Results,
    parts: Sequence[cases.Part],
    of: Callable[[RunFigures], float],
    label: str,
    *,
    logarithmic: bool = False,
) -> Figure:
    """Draw a figure of every setting, a panel for each part and a mark for each loss."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.2 * len(parts) + 3.4, 6.4))
        panels = np.atleast_1d(figure.subplots(1, len(parts), sharey=True))
    for axes, part in zip(panels, parts, strict=True):
        for number, loss in enumerate(part.losses):
            estimates = [
                results.estimate(cases.name(part.path, part.controller, setting, loss), of)
                for setting in part.settings
            ]
            at = np.arange(len(estimates)) + 0.22 * (number - (len(part.losses) - 1) / 2)
            known = [i for i, each in enumerate(estimates) if np.isfinite(each.mean)]
            look = SERIES[number]
            axes.errorbar(
                [estimates[i].mean for i in known],
                at[known],
                xerr=[_shown(estimates[i].half_width) for i in known],
                linestyle="none",
                color=look["color"],
                marker=look["marker"],
                markersize=4.5,
                capsize=2,
                linewidth=0.8,
                label=f"loss {cases.LOSSES[loss]}",
            )
        path, (controller, _) = cases.PATHS[part.path], cases.CONTROLLERS[part.controller]
        axes.set_title(f"{path.label},\n{controller}", fontsize="small")
        axes.set_yticks(range(len(part.settings)), [cases.SETTINGS[name].label for name in part.settings])
        axes.set_xlabel(label)
        if logarithmic:
            axes.set_xscale("log")
        else:
            axes.set_xlim(left=0)
    panels[0].invert_yaxis()
    _legend_below(figure, panels[0])
    return figure


def _shown(half_width: float) -> float:
    return half_width if np.isfinite(half_width) else 0.0


def spread(delays: Mapping[str, NDArray[np.float64]], path: cases.Path) -> Figure:
    """Draw which share of signalling was delivered after which time, in one run of each setting."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.0, 4.6))
        axes = figure.subplots()
    for number, (setting, delay_s) in enumerate(delays.items()):
        came = delay_s[np.isfinite(delay_s)]
        share = np.arange(1, came.size + 1) / delay_s.size
        axes.plot(came, share, label=cases.SETTINGS[setting].label, **series(number, came.size))
    axes.axvline(path.round_trip_s / 2, color="#55555e", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("delay / s; the line is at the delay of the path")
    axes.set_ylabel("share of signalling")
    _legend_below(figure, axes)
    return figure


def _legend_below(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")
