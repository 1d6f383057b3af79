"""Everything that the study writes: tables, figures and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slantpath.files import write_whole
from slantpath.page import Drawing, write_drawings
from slantpath.studies.report import Grid, Report, write_claims
from slantpath.studies.soip import cases, figures
from slantpath.studies.soip.findings import (
    PERCENT,
    again,
    against_equation_5,
    clears_at,
    congestion,
    findings,
    lost,
    worst,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from slantpath.studies.soip.runs import Results

TIMERS = (
    ("M2PA T7 (Q.703)", 2.0),
    ("changeover T2 (Q.704)", 2.0),
    ("changeback T4, T5 (Q.704)", 1.2),
    ("link test T1 (Q.707)", 12.0),
    ("segmenting T10 (Q.714)", 20.0),
)
"""Timers that wait for an answer, at the most that their standards allow, in seconds."""


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write everything that the study shows; give the table of claims and the files."""
    found = findings(results)
    table, files = write_claims(out, found)
    drawn, written = write_drawings(out, _drawings(results))
    files += written
    grids = list(_grids(results))
    scenarios = [(name, case.scenario()) for name, case in _shown().items()]
    report = Report(
        title="SS7 over IP over a satellite with capacity on demand",
        lead=(
            "Thirty signalling links through two gateways over SCTP over a geostationary satellite: what "
            "the trial of TIM, TILAB and Eutelsat found, what we find, and what it left open."
        ),
        findings=found,
        figures=drawn,
        grids=[grid for _, grid in grids],
        scenarios=[(name, scenario.hash, scenario.merged()) for name, scenario in scenarios],
        seeds=results.seeds(),
    )
    files += [write_whole(out / f"{name}.md", grid.markdown().encode()) for name, grid in grids]
    files.append(write_whole(out / "report.html", report.html().encode()))
    return table, files


def _shown() -> dict[str, cases.Case]:
    return {
        "the first release": cases.mb9(0.36),
        "the release for satellites": cases.collapse(1024, 1000, 1),
        "the emulator": cases.stepped_up(700),
    }


def _drawings(results: Results) -> Iterator[Drawing]:
    for name, title, caption, draw in (
        (
            "start",
            "The first release at the start.",
            "Congestion and band against the load; 99 % intervals.",
            figures.start,
        ),
        (
            "emulator",
            "Over the emulator.",
            "Lasting loss against the round trip; the release for satellites.",
            figures.emulator,
        ),
        (
            "collapse",
            "The collapse.",
            "What arrives as the load crosses what is permanent and falls; run 0.",
            figures.collapse,
        ),
        (
            "limited",
            "A window of 154,000 bytes.",
            "Band and what is outstanding as the load rises by steps; run 0.",
            figures.limited,
        ),
        ("growth", "What a step leaves outstanding.", "Measured, and by equations 4 and 5.", figures.growth),
        (
            "remedies",
            "What prevents the collapse.",
            "PAMA 1,024, 5 % above it, 1 s without service at each change.",
            figures.remedies,
        ),
    ):
        yield Drawing(name, title, caption, f"{title} {caption}", draw(results))


def _grids(results: Results) -> Iterator[tuple[str, Grid]]:
    rows: list[Sequence[str]] = []
    for permanent in cases.PERMANENT_KBIT:
        for interruption in cases.INTERRUPTIONS_MS:
            for rto_max in cases.RTO_MAX_S:
                case = cases.collapse(permanent, interruption, rto_max)
                share = lost(results, case, 130, 195)
                part = clears_at(results, case)
                most = worst(results, case)
                repeated = again(results, case, 130, 195)
                clears = "less than 40 %" if part is None else f"{part:.0%}"
                rows.append(
                    (
                        str(permanent),
                        f"{interruption} ms",
                        f"{rto_max:g} s",
                        share.text("%", PERCENT),
                        repeated.text("%", PERCENT),
                        f"{most[1].text('%', PERCENT)} at {most[0]:.0%}",
                        clears,
                    )
                )
    head: Sequence[str] = (
        "PAMA",
        "interruption",
        "RTO.Max",
        "lost at 105 %",
        "sent again",
        "lost at most",
        "no loss from",
    )
    about = "A fixed window of 384,000 bytes: which settings collapse, and at which part of PAMA it is over."
    yield "collapse", Grid("When a fixed window collapses", about, head, rows)
    yield "bounded", _bounded(results)
    rows = [
        (
            f"{loop} ms",
            f"{step}",
            f"{allocation:.2f} s",
            f"{measured / 1e3:.0f}",
            f"{fourth / 1e3:.0f}",
            f"{fifth / 1e3:.0f}",
            f"{measured / fifth - 1:+.0%}",
        )
        for loop, step, allocation, measured, fourth, fifth in against_equation_5(results)
    ]
    head = (
        "looks and plans",
        "step / kbit/s",
        "T_ALL",
        "OUTSTAND / kB",
        "equation 4",
        "equation 5",
        "measured over 5",
    )
    about = "PAMA 1,024, a step from all of it. T_ALL is measured: from the step to the first packet beyond."
    yield "growth", Grid("What an allocation adds to OUTSTAND", about, head, rows)
    rows = []
    for name in (*cases.REMEDIES, *cases.SECOND):
        case = cases.remedy(name)
        share, part = lost(results, case, 130, 195), clears_at(results, case)
        delay = results.estimate(case, lambda run: run.delay_max_s)
        outages = results.estimate(case, lambda run: float(run.outages))
        expired = ", ".join(timer for timer, most in TIMERS if delay.mean > most) or "none"
        rows.append(
            (
                name,
                share.text("%", PERCENT),
                delay.text("s", decimals=1),
                outages.text("", decimals=1),
                expired,
            )
        )
    head = ("gateway", "lost at 105 %", "longest delay", "links out of service", "timers that it exceeds")
    about = (
        "PAMA 1,024, RTO.Max 1 s unless said otherwise, 1 s without service at each change of an allocation."
    )
    yield "remedies", Grid("What prevents the collapse, and what it costs", about, head, rows)
    yield "beside", _beside(results)
    rows = []
    for name in cases.READINGS:
        case = cases.reading(name)
        outages = results.estimate(case, lambda run: float(run.outages))
        share, time = lost(results, case, 35, 90), congestion(results, case)
        rows.append((name, outages.text("", decimals=1), share.text("%", PERCENT), time.text("s")))
    head = ("T7 runs from", "links out of service", "lost in the first minute", "congestion")
    about = "The first release at 0.30 Erlang, T7 of 2 s: in the trial the link stayed in service."
    yield "t7", Grid("Which T7 the trial can have had", about, head, rows)
    rows = []
    for erlang in cases.ERLANGS_MB9:
        case = cases.mb9(erlang)
        delays = [run.delay_max_s for run in results.figures(case)]
        rows.append(
            (
                f"{erlang:.2f}",
                congestion(results, case).text("s"),
                lost(results, case, 200, 280).text("%", PERCENT),
                f"{np.mean(delays):.1f} s",
            )
        )
    yield (
        "start",
        Grid(
            "The first release by load",
            "One association.",
            ("Erlang", "congestion", "lost after 200 s", "longest delay"),
            rows,
        ),
    )


def _bounded(results: Results) -> Grid:
    rows = []
    shown = [(f"{i} ms", f"{r:g} s", cases.bounded(i, r)) for i, r in cases.BOUNDED]
    shown += [
        ("1000 ms", f"1.25 s, PAMA {permanent}, tested", cases.tested(permanent))
        for permanent in cases.PERMANENT_KBIT
    ]
    for interruption, rto_max, case in shown:
        part, share = worst(results, case)
        clears = clears_at(results, case)
        rows.append(
            (
                interruption,
                rto_max,
                lost(results, case, 130, 195).text("%", PERCENT),
                again(results, case, 130, 195).text("%", PERCENT),
                f"{share.text('%', PERCENT)} at {part:.0%}",
                "less than 40 %" if clears is None else f"{clears:.0%}",
                results.estimate(case, lambda run: float(run.outages)).text("", decimals=1),
            )
        )
    head = (
        "interruption",
        "RTO.Max",
        "lost at 105 %",
        "sent again",
        "lost at most",
        "no loss from",
        "links out of service",
    )
    about = (
        "PAMA 1,024 and 250 kbit/s on demand; and, in the last rows, the first table's with the periodic "
        "link test of Q.707."
    )
    return Grid("The collapse with less on demand, and with link tests", about, head, rows)


def _beside(results: Results) -> Grid:
    rows = []
    for name in cases.BESIDE:
        case = cases.beside(name)
        delay = results.estimate(case, lambda run: run.delay_max_s)
        repeated = results.estimate(case, lambda run: float(run.repeated.sum()))
        rows.append(
            (
                name,
                lost(results, case, 60, 280).text("%", PERCENT),
                delay.text("s", decimals=1),
                repeated.text("chunks"),
            )
        )
    head = ("over the terminals", "lost", "longest delay", "sent again")
    about = (
        "Signalling that fills half of 1,024 kbit/s, allocations that interrupt nothing, RTO.Max 60 s, and "
        "four TCP transfers beside it."
    )
    return Grid("Priority in the terminal", about, head, rows)
