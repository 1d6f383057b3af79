"""Figures 2 to 5 of the paper, and one of services that share the links."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from slantpath.figures import SERIES, STYLE
from slantpath_studies.ftp_qos import cases, services
from slantpath_studies.ftp_qos.cases import Cell, Sky

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from slantpath_studies.ftp_qos.runs import Measure, Results

MARKERS = {"1e-7": "s", "1e-6": "x", "1e-5": "+"}
"""The paper's."""


def against_rate(results: Results, measure: Measure, label: str, scale: float) -> Figure:
    """Draw a figure of the paper: twelve lines against new connections a minute, over LEO and over GEO."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 4.4))
        panels = figure.subplots(1, 2, sharey=True)
        for axes, sky in zip(panels, Sky, strict=True):
            _panel(axes, results, sky, measure, scale)
            axes.set_title(sky.label)
            axes.set_xlabel("new connections / min")
        panels[0].set_ylabel(label)
        panels[0].set_ylim(bottom=0)
        figure.legend(handles=_legend(), loc="outside lower center", ncols=4, fontsize=8)
    return figure


def _panel(axes: Axes, results: Results, sky: Sky, measure: Measure, scale: float) -> None:
    rates = results.extent.rates_per_minute
    for look, size in zip(SERIES, cases.SIZES_KB, strict=False):
        for error_rate in cases.ERROR_RATES:
            cells = [Cell(sky, error_rate, size, rate) for rate in rates]
            estimates = [results.estimate(cell.name, measure) for cell in cells]
            means = [scale * each.mean for each in estimates]
            widths = [scale * each.half_width if each.half_width < each.mean else 0.0 for each in estimates]
            axes.errorbar(
                rates,
                means,
                widths,
                color=look["color"],
                marker=MARKERS[error_rate],
                markersize=4.5,
                linewidth=0.8,
                elinewidth=0.5,
            )
            # Without a steady state a longer run gives other values: a ring says so.
            beyond = [place for place, cell in enumerate(cells) if not cell.has_steady_state]
            axes.plot(
                [rates[place] for place in beyond],
                [means[place] for place in beyond],
                linestyle="none",
                marker="o",
                markersize=9,
                markerfacecolor="none",
                markeredgecolor="#9a9aa2",
                markeredgewidth=0.7,
            )


def _legend() -> list[Line2D]:
    sizes = [
        Line2D([], [], color=look["color"], label=f"{size / 1000:g} MB")
        for look, size in zip(SERIES, cases.SIZES_KB, strict=False)
    ]
    errors = [
        Line2D([], [], color="#1b1b1f", linestyle="none", marker=marker, label=f"bit error rate {rate}")
        for rate, marker in MARKERS.items()
    ]
    ring = Line2D(
        [],
        [],
        linestyle="none",
        marker="o",
        markersize=9,
        markerfacecolor="none",
        markeredgecolor="#9a9aa2",
        label="nominal load 1 or more",
    )
    return [*sizes, *errors, ring]


def in_words(results: Results, measure: Measure, unit: str, scale: float, decimals: int) -> str:
    """Say what a figure shows at the ends of its lines."""
    first, last = results.extent.rates_per_minute[0], results.extent.rates_per_minute[-1]

    def mean(sky: Sky, error_rate: str, size: int, rate: int) -> str:
        return (
            f"{scale * results.estimate(Cell(sky, error_rate, size, rate).name, measure).mean:.{decimals}f}"
        )

    lines = (
        f"{sky.label}, {size / 1000:g} MB, {error_rate}: {mean(sky, error_rate, size, first)} to "
        f"{mean(sky, error_rate, size, last)}"
        for sky in Sky
        for size in cases.SIZES_KB
        for error_rate in cases.ERROR_RATES
    )
    return f"From {first} to {last} new connections a minute, in {unit}: {'; '.join(lines)}."


def of_services(results: Results) -> Figure:
    """Draw what each service gets for each scheduler, number of links and rule of admission."""
    places = list(product(services.LINKS, services.RULES))
    shown = [name for name in services.SHOWN if "95" not in name and "hour" not in name]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 8.4))
        panels = figure.subplots(2, 2, sharex=True)
        for axes, name in zip(panels.flat, shown, strict=True):
            for look, (sky, scheduler) in zip(SERIES, product(Sky, services.SCHEDULERS), strict=False):
                found = [
                    services.estimates(results.of_services(services.name_of(sky, scheduler, *place)))[name]
                    for place in places
                ]
                scale = services.SHOWN[name].scale
                axes.errorbar(
                    range(len(places)),
                    [scale * each.mean for each in found],
                    [scale * each.half_width if np.isfinite(each.half_width) else 0.0 for each in found],
                    label=f"{sky.label}, {services.SCHEDULERS[scheduler]}",
                    color=look["color"],
                    marker=look["marker"],
                    markersize=5,
                    linestyle="none",
                    elinewidth=0.8,
                )
            axes.set_ylabel(name)
            axes.set_yscale("log")
        for axes in panels[1]:
            axes.set_xticks(
                range(len(places)),
                [f"{services.LINKS[links]}; {services.RULES[rule]}" for links, rule in places],
                rotation=60,
                ha="right",
                fontsize=8,
            )
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    return figure
