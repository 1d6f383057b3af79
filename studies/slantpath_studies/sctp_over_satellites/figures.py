"""Figures 9 to 14 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from slantpath.figures import SERIES, STYLE, new_figure
from slantpath_studies.sctp_over_satellites import cases
from slantpath_studies.sctp_over_satellites.findings import KILO

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from slantpath_studies.claims import Estimate
    from slantpath_studies.sctp_over_satellites.measures import RunFigures
    from slantpath_studies.sctp_over_satellites.placements import Sky
    from slantpath_studies.sctp_over_satellites.runs import Results

Line = tuple[str, list[float], list["Estimate"]]
"""What a line is called, its places along the axis, and what it shows there."""


def throughputs(results: Results) -> Figure:
    """Figure 9: throughput against the error rate of Iridium, for errors on paths and on links."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 4.2))
        panels = figure.subplots(1, 2, sharey=True)
        for axes, where in zip(panels, (cases.PER_PATH, cases.PER_LINK), strict=True):
            draw(axes, throughput_lines(results, where))
            axes.set_title(f"errors on each {where}")
            axes.set_xscale("log")
            axes.set_xlabel("bit error rate of Iridium")
        panels[0].set_ylabel("throughput of an association / kbit/s")
        panels[0].set_ylim(bottom=0)
        panels[0].legend(loc="upper right")
    return figure


def throughput_lines(results: Results, where: str) -> list[Line]:
    """Give the lines of figure 9."""
    rates = results.extent.error_rates
    return [
        (
            cases.NAMES[sky],
            list(map(float, rates)),
            [results.estimate(cases.throughput(sky, rate, where), _mean) for rate in rates],
        )
        for sky in cases.CONFIGURATIONS
    ]


def backups(results: Results) -> Figure:
    """Figure 10: the load of the geostationary backup."""
    figure, axes = new_figure()
    draw(axes, backup_lines(results))
    axes.set_xscale("log")
    axes.set_xlabel("bit error rate of Iridium")
    axes.set_ylabel("load of GEO / kbit/s")
    axes.legend(loc="upper left")
    return figure


def backup_lines(results: Results) -> list[Line]:
    """Give the lines of figure 10."""
    rates = results.extent.error_rates
    return [
        (
            f"{count} associations",
            list(map(float, rates)),
            [results.estimate(cases.backup(count, rate), lambda run: run.backup_bit_per_s) for rate in rates],
        )
        for count in results.extent.associations
    ]


def against_buffers(results: Results, sky: Sky) -> Figure:
    """Figures 11 and 12: throughput against the receive buffer."""
    figure, axes = new_figure()
    draw(axes, buffer_lines(results, sky))
    axes.set_xlabel("receive buffer / segments")
    axes.set_ylabel("throughput of an association / kbit/s")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left")
    return figure


def buffer_lines(results: Results, sky: Sky) -> list[Line]:
    """Give the lines of figure 11 or 12."""
    extent = results.extent
    return [
        (
            f"s = {count}, ε = {rate}",
            list(map(float, extent.buffers)),
            [
                results.estimate(cases.streams(sky, count, segments, rate), _mean)
                for segments in extent.buffers
            ],
        )
        for rate in extent.stream_error_rates
        for count in extent.streams
    ]


def against_errors(results: Results, sky: Sky) -> Figure:
    """Figures 13 and 14: throughput against the error rate."""
    figure, axes = new_figure()
    draw(axes, error_lines(results, sky))
    axes.set_xscale("log")
    axes.set_xlabel(f"bit error rate of {cases.NAMES[sky]}")
    axes.set_ylabel("throughput of an association / kbit/s")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper right")
    return figure


def error_lines(results: Results, sky: Sky) -> list[Line]:
    """Give the lines of figure 13 or 14."""
    extent = results.extent
    return [
        (
            f"s = {count}, buffer of {segments}",
            list(map(float, extent.error_rates)),
            [
                results.estimate(cases.streams(sky, count, segments, rate), _mean)
                for rate in extent.error_rates
            ],
        )
        for segments in (cases.SMALL_BUFFER, cases.LARGEST_BUFFER)
        for count in sorted({1, extent.streams[-1]})
    ]


def in_words(lines: Sequence[Line], axis: str) -> str:
    """Say what lines in kbit/s show."""
    return " ".join(_line_in_words(line, axis) for line in lines)


def _line_in_words(line: Line, axis: str) -> str:
    name, places, estimates = line

    def points() -> Iterator[str]:
        for place, estimate in zip(places, estimates, strict=True):
            yield f"{estimate.mean * KILO:.1f} at {place:g}"

    return f"{name}, kbit/s against {axis}: {', '.join(points())}."


def draw(axes: Axes, lines: Sequence[Line]) -> None:
    """Draw lines with their intervals, in kbit/s."""
    for number, (name, places, estimates) in enumerate(lines):
        axes.errorbar(
            places,
            [each.mean * KILO for each in estimates],
            [min(each.half_width, each.mean) * KILO for each in estimates],
            label=name,
            capsize=3,
            markersize=4.0,
            linewidth=1.0,
            **SERIES[number % len(SERIES)],
        )


def _mean(run: RunFigures) -> float:
    return run.mean_bit_per_s
