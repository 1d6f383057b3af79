"""The figures of the study: those of the paper, and what it leaves open."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from slantpath.figures import SERIES, STYLE
from slantpath_studies.soip import cases
from slantpath_studies.soip.findings import (
    COLLAPSED,
    LENGTHS,
    against_equation_5,
    band,
    band_offered,
    congestion,
    lost,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from slantpath_studies.claims import Estimate
    from slantpath_studies.soip.runs import Results


def panels(count: int, width: float = 9.0) -> tuple[Figure, Sequence[Axes]]:
    """Give a figure with so many panels beside one another."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, 3.6), layout="constrained")
        drawn = figure.subplots(1, count, squeeze=False)
    return figure, drawn[0]


def _line(
    axes: Axes, x: Sequence[float], y: Sequence[Estimate], number: int, label: str, scale: float = 1.0
) -> None:
    axes.errorbar(
        x,
        [each.mean * scale for each in y],
        [_width(each) * scale for each in y],
        label=label,
        capsize=3,
        linewidth=1,
        markersize=5,
        **SERIES[number],
    )


def _width(estimate: Estimate) -> float:
    return estimate.half_width if np.isfinite(estimate.half_width) else 0.0


def start(results: Results) -> Figure:
    """Draw figures 3 to 6: how long the start is congested, and what is sent meanwhile and afterwards."""
    figure, (left, right) = panels(2)
    for number, (erlangs, count) in enumerate(((cases.ERLANGS_MB9, 1), (cases.ERLANGS_MB9_8, 8))):
        own = [cases.mb9(erlang, count) for erlang in erlangs]
        label = "one association" if count == 1 else f"{count} associations"
        _line(left, erlangs, [congestion(results, case) for case in own], number, label)
        after = [band(results, case, 200, 285) for case in own]
        _line(right, erlangs, after, number, f"{label}, afterwards")
        meanwhile = [band(results, case, cases.START_S, cases.START_S + 60) for case in own]
        _line(right, erlangs, meanwhile, number + 2, f"{label}, first minute")
        generated = [band_offered(results, erlang, count) for erlang in erlangs]
        dots = ":" if count == 1 else "-."
        right.plot(erlangs, generated, color="#8a8a94", linestyle=dots, label=f"{label}, generated")
    left.set(xlabel="Erlang a link", ylabel="congestion / s", title="figures 3 and 5")
    right.set(xlabel="Erlang a link", ylabel="Ethernet / kbit/s", title="figures 4 and 6")
    left.legend(fontsize="small")
    right.legend(fontsize="x-small")
    return figure


def emulator(results: Results) -> Figure:
    """Draw figures 7 and 8: loss against the round trip, and the release for satellites."""
    figure, (left, right) = panels(2)
    lines: list[tuple[str, Callable[[int], cases.Case]]] = [
        (f"{octets} octets", partial(cases.emulated, octets=octets)) for octets in LENGTHS
    ]
    lines.append((f"{cases.OCTETS} octets by global title", cases.titled))
    for number, (label, case) in enumerate(lines):
        shares = [lost(results, case(trip), 200, 280) for trip in cases.ROUND_TRIPS_MS]
        _line(left, cases.ROUND_TRIPS_MS, shares, number, label, 100)
    left.set(xlabel="round trip / ms", ylabel="lost / %", title=f"figure 7: MB9, {cases.ERLANG_S5} Erlang")
    left.legend(fontsize="small")
    carried = [band(results, cases.stepped_up(trip), 80, 135) for trip in cases.SAT_ROUND_TRIPS_MS]
    _line(right, cases.SAT_ROUND_TRIPS_MS, carried, 2, "used")
    right.set(xlabel="round trip / ms", ylabel="Ethernet / kbit/s", title="figure 8: MB9-SAT, 0.95 Erlang")
    right.set_ylim(bottom=0)
    return figure


def collapse(results: Results) -> Figure:
    """Draw figure 9: what is used where the load crosses what is permanent, and falls again."""
    figure, both = panels(2)
    for axes, permanent in zip(both, cases.PERMANENT_KBIT, strict=True):
        case = cases.collapse(permanent)
        runs = results.figures(case)
        from_s, to_s = case.judged or (0, 0)
        shares = [run.loss(case, from_s, to_s) for run in runs]
        shown = (
            (
                "used, a run that collapses",
                next((n for n, share in enumerate(shares) if share > COLLAPSED), None),
            ),
            (
                "used, one that does not",
                next((n for n, share in enumerate(shares) if share <= COLLAPSED), None),
            ),
        )
        for number, (label, place) in enumerate(shown):
            if place is None:
                continue
            used = np.convolve(runs[place].ethernet_bit_per_s, np.ones(5) / 5, "same") / 1e3
            times = np.arange(len(used)) * runs[place].interval_s
            axes.plot(times, used, color=SERIES[number]["color"], label=label)
        # 85 s is behind the rise to 95 % of what is permanent, which all runs carry.
        per_message = band(results, case, 85, cases.RISE_S).mean / case.offered(90)
        times = np.arange(0, case.stop_s)
        expected = [case.offered(float(at)) * per_message for at in times]
        axes.plot(times, expected, color="#8a8a94", linestyle=":", label="expected")
        axes.set(xlabel="time / s", ylabel="Ethernet / kbit/s", title=f"figure 9: PAMA {permanent} kbit/s")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize="x-small")
    return figure


def limited(results: Results) -> Figure:
    """Draw figures 11 and 12: a window of 154,000 bytes under a load that rises by steps."""
    figure, three = panels(3, 11.0)
    shown = (
        ("b", "figure 11: case B"),
        ("c", "figure 12: case C, 130 kbit/s"),
        ("250", "figure 12: 1,024, 250 kbit/s"),
    )
    for axes, (name, title) in zip(three, shown, strict=True):
        case = cases.LIMITED[name]
        run = results.figures(case)[0]
        used = np.convolve(run.ethernet_bit_per_s, np.ones(3) / 3, "same") / 1e3
        times = np.arange(len(used)) * run.interval_s
        axes.plot(times, used, color=SERIES[0]["color"], label="used")
        outstanding = axes.twinx()
        outstanding.plot(times, run.outstanding_bytes / 1e3, color=SERIES[1]["color"], linewidth=0.8)
        outstanding.set_ylim(0, 400)
        outstanding.set_ylabel("outstanding / kB", color=SERIES[1]["color"])
        axes.set(xlabel="time / s", ylabel="Ethernet / kbit/s", title=title)
        axes.set_ylim(0, 2500)
    return figure


def growth(results: Results) -> Figure:
    """Draw what is outstanding after a step beside equations 4 and 5."""
    figure, (axes,) = panels(1, 6.5)
    rows = against_equation_5(results)
    for number, plan in enumerate(cases.PLANS_MS):
        own = [row for row in rows if row.plan_ms == plan]
        steps = [row.step_kbit for row in own]
        mean = np.nanmean([row.allocation_s.mean for row in own])
        axes.errorbar(
            steps,
            [row.outstanding_bytes.mean / 1e3 for row in own],
            [_width(row.outstanding_bytes) / 1e3 for row in own],
            label=f"T_ALL {mean:.2f} s",
            linestyle="none",
            capsize=3,
            **marker(number),
        )
        axes.plot(
            steps, [row.equation_5_bytes / 1e3 for row in own], color=SERIES[number]["color"], linewidth=1
        )
    first = [row for row in rows if row.plan_ms == cases.PLANS_MS[0]]
    axes.plot(
        [row.step_kbit for row in first],
        [row.equation_4_bytes / 1e3 for row in first],
        color="#8a8a94",
        linestyle=":",
        label="equation 4",
    )
    axes.set(
        xlabel="step from 70 % of what is permanent / kbit/s",
        ylabel="outstanding at most / kB",
        title="lines: equation 5",
    )
    axes.legend(fontsize="small")
    return figure


def marker(number: int) -> dict[str, Any]:
    """Give the look of single points of a series."""
    return {key: SERIES[number][key] for key in ("color", "marker") if key in SERIES[number]}


def remedies(results: Results) -> Figure:
    """Draw what each change makes of the collapse: what is lost, and the longest delay."""
    figure, (left, right) = panels(2, 10.0)
    names = [*cases.REMEDIES, *cases.SECOND]
    own = [cases.remedy(name) for name in names]
    shares = [lost(results, case, 130, 195) for case in own]
    delays = [results.estimate(case, lambda run: run.delay_max_s) for case in own]
    places = np.arange(len(names))
    for axes, values, scale in ((left, shares, 100), (right, delays, 1)):
        means, widths = [each.mean * scale for each in values], [_width(each) * scale for each in values]
        axes.barh(places, means, xerr=widths, color=SERIES[0]["color"], ecolor="#33333c", capsize=3)
        axes.set_yticks(places, names if axes is left else [""] * len(names))
        axes.invert_yaxis()
    left.set(xlabel="lost / %")
    right.set(xlabel="longest delay / s")
    return figure
