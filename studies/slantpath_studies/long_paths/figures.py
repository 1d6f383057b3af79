"""The figures of the study: goodput against loss, courses over time, ramps, changes and shares."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.figure import Figure

from slantpath.figures import SERIES, STYLE, numbers, series
from slantpath_studies.long_paths import cases
from slantpath_studies.long_paths.findings import GOODPUT_AIMS, goodput, left_and_taken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from slantpath_studies.long_paths.findings import Observed
    from slantpath_studies.long_paths.runs import Course

FIRST_ROUND_TRIPS = 20
"""Round trips of a ramp that are drawn."""
PACKET_BYTES = 1500
AIM = {"color": "#1b1b1f", "linestyle": "none", "marker": "_", "markersize": 22, "label": "aim"}


def against_loss(observed: Observed) -> Figure:
    """Draw the goodput of each profile against the loss, a panel for each path and transport."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 7.4))
        panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (path, transport) in zip(
        panels.flat, product(cases.PATHS.values(), cases.TRANSPORTS), strict=True
    ):
        axes.plot(range(len(cases.LOSSES)), GOODPUT_AIMS[path.name], **AIM)
        for number, (profile, label) in enumerate(cases.PROFILES.items()):
            estimates = goodput(observed, path, transport, profile)
            axes.errorbar(
                range(len(estimates)),
                [each.mean for each in estimates],
                [each.half_width if np.isfinite(each.half_width) else 0.0 for each in estimates],
                label=label,
                capsize=3,
                linewidth=1,
                markersize=5,
                **SERIES[number],
            )
        axes.set_title(f"{transport.upper()} over {path.label}", fontsize="medium")
        axes.set_xticks(range(len(cases.LOSSES)), list(cases.LOSSES.values()))
        axes.set_ylim(0, 100)
    for axes in panels[1]:
        axes.set_xlabel("loss in each direction")
    for axes in panels[:, 0]:
        axes.set_ylabel("goodput / % of the link")
    _legend_below(figure, panels[0, 0])
    return figure


def courses(shown: Mapping[str, Course]) -> Figure:
    """Draw window and queue of one run of each controller over time."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 9.0))
        panels = figure.subplots(len(shown) // 2, 2, sharex=True, sharey=True)
    for axes, (controller, course) in zip(panels.flat, shown.items(), strict=True):
        at_s, window = numbers(course.flow, "end_s"), numbers(course.flow, "cwnd_bytes")
        axes.plot(at_s, window / cases.GEO.product_bytes, label="cwnd", **series(0, at_s.size))
        ahead = course.link.filter(pc.equal(course.link.column("direction").cast(pa.string()), "forward"))
        at_s, queue = numbers(ahead, "end_s"), numbers(ahead, "queue_mean_packets")
        queued = queue * PACKET_BYTES / cases.GEO.product_bytes
        axes.plot(at_s, queued, label="queue", **series(1, at_s.size))
        axes.set_title(cases.PROFILES[controller], fontsize="medium")
    for axes in panels[-1]:
        axes.set_xlabel("time / s")
    for axes in panels[:, 0]:
        axes.set_ylabel("products")
    _legend_below(figure, panels[0, 0])
    return figure


def by_round_trip(
    delivered_bytes: NDArray[np.float64], interval_s: float, path: cases.Path
) -> NDArray[np.float64]:
    """Give what each round trip from the first arrival on brought, in % of what the link carries in one."""
    begun = int(np.argmax(delivered_bytes > 0))
    width = round(path.round_trip_s / interval_s)
    rounds = delivered_bytes[begun : begun + FIRST_ROUND_TRIPS * width].reshape(-1, width).sum(axis=1)
    return np.asarray(100.0 * rounds / path.product_bytes, dtype=np.float64)


def ramps(rounds: Mapping[tuple[str, str], NDArray[np.float64]]) -> Figure:
    """Draw what the first round trips over GEO brought, by transport and profile, without loss."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 4.6))
        panels = figure.subplots(1, len(cases.TRANSPORTS), sharey=True)
    for axes, transport in zip(panels, cases.TRANSPORTS, strict=True):
        for number, (profile, label) in enumerate(cases.PROFILES.items()):
            brought = rounds[transport, profile]
            axes.plot(
                np.arange(1, brought.size + 1),
                brought,
                label=label,
                linewidth=1,
                markersize=4,
                **SERIES[number],
            )
        axes.axhline(90, color="#55555e", linewidth=1)
        axes.set_title(f"{transport.upper()} over GEO, no loss", fontsize="medium")
        axes.set_xlabel("round trip")
        axes.set_xticks(range(0, FIRST_ROUND_TRIPS + 1, 5))
        # What has waited for a gap comes at once, far above the link's rate: that is no part of the ramp.
        axes.set_ylim(0, 110)
    panels[0].set_ylabel("arrived / % of the link")
    _legend_below(figure, panels[0])
    return figure


def changes(delivered: Mapping[tuple[str, str], tuple[NDArray[np.float64], float]]) -> Figure:
    """Draw what TCP brings second by second while the path changes, a panel for each change."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 11.0))
        panels = figure.subplots(len(cases.CHANGES), 1)
    for axes, change in zip(panels, cases.CHANGES, strict=True):
        for controller in cases.CONTROLLERS:
            brought, interval_s = delivered[change.name, controller]
            width = round(1.0 / interval_s)
            seconds = brought.reshape(-1, width).sum(axis=1) * 8 / 1e6
            axes.plot(
                np.arange(1, seconds.size + 1),
                seconds,
                label=cases.PROFILES[controller],
                **series(_look(controller), seconds.size),
            )
        for at_s in change.at_s:
            axes.axvline(at_s, color="#55555e", linewidth=1)
        axes.set_xlim(change.at_s[0] - 10, min(cases.DURATION_S, change.at_s[1] + 30))
        axes.set_ylim(bottom=0)
        axes.set_title(change.about, fontsize="medium")
        axes.set_ylabel("Mbit/s")
    panels[-1].set_xlabel("time / s")
    _legend_below(figure, panels[0])
    return figure


def shares(observed: Observed) -> Figure:
    """Draw what each controller leaves a rival in each setting, and what it takes itself."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 9.0))
        panels = figure.subplots(len(cases.RIVALS), 1, sharex=True)
    places = np.arange(len(cases.SHARINGS))
    for axes, rival in zip(panels, cases.RIVALS, strict=True):
        for number, controller in enumerate(cases.CONTROLLERS):
            left = [left_and_taken(observed, how, controller, rival)[0].mean for how in cases.SHARINGS]
            look = {**SERIES[_look(controller)], "linestyle": "none", "markersize": 7}
            offset = 0.1 * (number - (len(cases.CONTROLLERS) - 1) / 2)
            axes.plot(places + offset, left, label=cases.PROFILES[controller], **look)
        axes.axhline(50, color="#55555e", linewidth=1)
        axes.set_ylim(0, 100)
        axes.set_ylabel(f"left to {cases.PROFILES[rival]} / % of the link")
    panels[-1].set_xticks(places, [how.about for how in cases.SHARINGS], rotation=30, ha="right", fontsize=8)
    _legend_below(figure, panels[0])
    return figure


def _look(controller: str) -> int:
    """Give a controller the same look in every figure."""
    return list(cases.PROFILES).index(controller)


def _legend_below(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize="small")
