"""The figures of the study: those of the paper, and what it leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from slantpath.figures import SERIES, STYLE
from slantpath.studies.soip import cases
from slantpath.studies.soip.findings import (
    against_equation_5,
    band,
    band_offered,
    congestion,
    lost,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from slantpath.studies.claims import Estimate
    from slantpath.studies.soip.runs import Results


def _panels(count: int, width: float = 9.0) -> tuple[Figure, Sequence[Axes]]:
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, 3.6), layout="constrained")
        panels = figure.subplots(1, count, squeeze=False)
    return figure, panels[0]


def _line(
    axes: Axes, x: Sequence[float], y: Sequence[Estimate], number: int, label: str, scale: float = 1.0
) -> None:
    axes.errorbar(
        x,
        [each.mean * scale for each in y],
        [each.half_width * scale if np.isfinite(each.half_width) else 0.0 for each in y],
        label=label,
        capsize=3,
        linewidth=1,
        markersize=5,
        **SERIES[number],
    )


def start(results: Results) -> Figure:
    """Draw figures 3 to 6: how long the start is congested, and what is sent meanwhile and afterwards."""
    figure, (left, right) = _panels(2)
    for number, (erlangs, count) in enumerate(((cases.ERLANGS_MB9, 1), (cases.ERLANGS_MB9_8, 8))):
        own = [cases.mb9(erlang, count) for erlang in erlangs]
        label = "one association" if count == 1 else f"{count} associations"
        _line(left, erlangs, [congestion(results, case) for case in own], number, label)
        after = [band(results, case, 200, 285) for case in own]
        _line(right, erlangs, after, number, f"{label}, afterwards")
        meanwhile = [band(results, case, cases.START_S, cases.START_S + 60) for case in own]
        _line(right, erlangs, meanwhile, number + 2, f"{label}, first minute")
    every = sorted({*cases.ERLANGS_MB9, *cases.ERLANGS_MB9_8})
    right.plot(every, [band_offered(results, erlang) for erlang in every], color="#8a8a94", label="generated")
    left.set(xlabel="Erlang a link", ylabel="congestion / s", title="figures 3 and 5")
    right.set(xlabel="Erlang a link", ylabel="Ethernet / kbit/s", title="figures 4 and 6")
    left.legend(fontsize="small")
    right.legend(fontsize="x-small")
    return figure


def emulator(results: Results) -> Figure:
    """Draw figures 7 and 8: loss against the round trip, and the release for satellites."""
    figure, (left, right) = _panels(2)
    for number, octets in enumerate((60, 270)):
        shares = [lost(results, cases.emulated(trip, octets), 200, 280) for trip in cases.ROUND_TRIPS_MS]
        _line(left, cases.ROUND_TRIPS_MS, shares, number, f"{octets} octets", 100)
    left.set(xlabel="round trip / ms", ylabel="lost / %", title="figure 7: MB9, 850 kbit/s")
    left.legend(fontsize="small")
    carried = [band(results, cases.stepped_up(trip), 80, 135) for trip in cases.SAT_ROUND_TRIPS_MS]
    _line(right, cases.SAT_ROUND_TRIPS_MS, carried, 2, "used")
    right.set(xlabel="round trip / ms", ylabel="Ethernet / kbit/s", title="figure 8: MB9-SAT, 0.95 Erlang")
    right.set_ylim(bottom=0)
    return figure


def collapse(results: Results) -> Figure:
    """Draw figure 9: what is used where the load crosses what is permanent, and falls again."""
    figure, panels = _panels(2)
    for axes, permanent in zip(panels, cases.PERMANENT_KBIT, strict=True):
        for number, (interruption, rto_max, label) in enumerate(
            ((0, 1, "no interruption"), (1000, 60, "1 s, RTO.Max 60 s"), (1000, 1, "1 s, RTO.Max 1 s"))
        ):
            case = cases.collapse(permanent, interruption, rto_max)
            run = results.figures(case)[0]
            arrived = np.convolve(run.arrived, np.ones(5) / 5, "same")
            axes.plot(
                np.arange(len(arrived)) * run.interval_s, arrived, color=SERIES[number]["color"], label=label
            )
        case = cases.collapse(permanent, 0, 1)
        times = np.arange(0, case.stop_s)
        axes.plot(times, [case.offered(at) for at in times], color="#8a8a94", linestyle=":", label="offered")
        axes.set(xlabel="time / s", ylabel="messages / s", title=f"figure 9: PAMA {permanent} kbit/s")
        axes.set_ylim(bottom=0)
    panels[0].legend(fontsize="x-small")
    return figure


def limited(results: Results) -> Figure:
    """Draw figures 11 and 12: a window of 154,000 bytes under a load that rises by steps."""
    figure, panels = _panels(3, 11.0)
    shown = (
        ("b", "figure 11: case B"),
        ("c", "figure 12: case C, 130 kbit/s"),
        ("250", "figure 12: 1,024, 250 kbit/s"),
    )
    for axes, (name, title) in zip(panels, shown, strict=True):
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
    figure, (axes,) = _panels(1, 6.5)
    rows = against_equation_5(results)
    for number, loop in enumerate(cases.LOOPS_MS):
        own = [row for row in rows if row[0] == loop]
        steps = [row[1] for row in own]
        mean = np.nanmean([row[2] for row in own])
        axes.plot(
            steps,
            [row[3] / 1e3 for row in own],
            label=f"T_ALL {mean:.1f} s",
            linestyle="none",
            **_marker(number),
        )
        axes.plot(steps, [row[5] / 1e3 for row in own], color=SERIES[number]["color"], linewidth=1)
    first = [row for row in rows if row[0] == cases.LOOPS_MS[0]]
    axes.plot(
        [row[1] for row in first],
        [row[4] / 1e3 for row in first],
        color="#8a8a94",
        linestyle=":",
        label="equation 4",
    )
    axes.set(
        xlabel="step beyond what is permanent / kbit/s",
        ylabel="outstanding at most / kB",
        title="lines: equation 5",
    )
    axes.legend(fontsize="small")
    return figure


def _marker(number: int) -> dict[str, Any]:
    return {key: SERIES[number][key] for key in ("color", "marker") if key in SERIES[number]}


def remedies(results: Results) -> Figure:
    """Draw what each change makes of the collapse: what is lost, and the longest delay."""
    figure, (left, right) = _panels(2, 10.0)
    names = list(cases.REMEDIES)
    own = [cases.remedy(name) for name in names]
    shares = [lost(results, case, 130, 195) for case in own]
    delays = [results.estimate(case, lambda run: run.delay_max_s) for case in own]
    places = np.arange(len(names))
    for axes, values, scale in ((left, shares, 100), (right, delays, 1)):
        axes.barh(places, [each.mean * scale for each in values], color=SERIES[0]["color"])
        axes.set_yticks(places, names if axes is left else [""] * len(names))
        axes.invert_yaxis()
    left.set(xlabel="lost / %")
    right.set(xlabel="longest delay / s")
    return figure
