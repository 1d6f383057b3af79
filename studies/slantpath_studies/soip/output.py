"""Everything that the study writes: tables, figures and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slantpath.files import write_whole
from slantpath.page import Drawing, write_drawings
from slantpath_studies.report import Grid, Report, write_claims
from slantpath_studies.soip import cases, figures
from slantpath_studies.soip.findings import (
    COLLAPSED,
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

    from slantpath_studies.claims import Estimate
    from slantpath_studies.soip.runs import Results

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
        "the release for satellites": cases.collapse(1024),
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
            "Band that is used as the load crosses what is permanent and falls.",
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
            "PAMA 1,024, 5 % above it; 99 % intervals.",
            figures.remedies,
        ),
    ):
        yield Drawing(name, title, caption, f"{title} {caption}", draw(results))


def _grids(results: Results) -> Iterator[tuple[str, Grid]]:
    yield "collapse", _collapse(results)
    yield "bounded", _bounded(results)
    yield "growth", _growth(results)
    yield "remedies", _remedies(results)
    yield "timers", _timers(results)
    yield "beside", _beside(results)
    rows: list[Sequence[str]] = []
    for name in cases.READINGS:
        case = cases.reading(name)
        outages = results.estimate(case, lambda run: float(run.outages))
        share, time = lost(results, case, 35, 90), congestion(results, case)
        rows.append((name, outages.text("", decimals=1), share.text("%", PERCENT), time.text("s")))
    head: Sequence[str] = ("T7 runs from", "links out of service", "lost in the first minute", "congestion")
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


def _collapse(results: Results) -> Grid:
    rows = [
        _fallen(results, (str(permanent), f"{interruption} ms", f"{rto_max:g} s"), case)
        for permanent in cases.PERMANENT_KBIT
        for interruption, rto_max in cases.VARIED
        for case in (cases.varied(permanent, interruption, rto_max),)
    ]
    about = (
        f"A fixed window of 384,000 bytes. The study's own settings are {cases.INTERRUPTION_MS} ms and "
        f"{cases.RTO_MAX_S:g} s, and {cases.RELEASE_S} s until capacity is given back."
    )
    return Grid("When a fixed window collapses", about, ("PAMA", "interruption", "RTO.Max", *FALLEN), rows)


def _bounded(results: Results) -> Grid:
    shown = [
        (f"{permanent}, given back after {release} s", cases.released(permanent, release))
        for permanent in cases.PERMANENT_KBIT
        for release in cases.RELEASES_S
    ]
    shown.append(("1024, 250 kbit/s on demand and no more", cases.bounded()))
    shown += [
        (f"{permanent}, with the link test of Q.707", cases.tested(permanent))
        for permanent in cases.PERMANENT_KBIT
    ]
    rows = [_fallen(results, (label,), case) for label, case in shown]
    about = "The study's own settings but for what the first column says."
    return Grid("The collapse with other settings", about, ("PAMA", *FALLEN), rows)


FALLEN = (
    "runs",
    "collapsed",
    "lost at 105 %",
    "retransmitted",
    "lost at most",
    "no loss from",
    "out of service",
)
"""What a table of the collapse says of a case; the last is how often links are taken out of service."""


def _fallen(results: Results, head: Sequence[str], case: cases.Case) -> Sequence[str]:
    runs = results.figures(case)
    count = sum(run.loss(case, 130, 195) > COLLAPSED for run in runs)
    part, share = worst(results, case)
    clears = clears_at(results, case)
    return (
        *head,
        str(len(runs)),
        str(count),
        lost(results, case, 130, 195).text("%", PERCENT),
        again(results, case, 130, 195).text("%", PERCENT),
        f"{share.text('%', PERCENT)} at {part:.0%}",
        "less than 40 %" if clears is None else f"{clears:.0%}",
        results.estimate(case, lambda run: float(run.outages)).text("", decimals=1).strip(),
    )


def _growth(results: Results) -> Grid:
    rows = [
        (
            f"{row.plan_ms} ms",
            f"{row.step_kbit}",
            row.allocation_s.text("s", decimals=2),
            row.outstanding_bytes.text("", 1e-3).strip(),
            f"{row.equation_4_bytes / 1e3:.0f}",
            f"{row.equation_5_bytes / 1e3:.0f}",
            f"{row.outstanding_bytes.mean / row.equation_5_bytes - 1:+.0%}",
        )
        for row in against_equation_5(results)
    ]
    head = (
        "plans every",
        "step / kbit/s",
        "T_ALL",
        "OUTSTAND / kB",
        "equation 4",
        "equation 5",
        "measured over 5",
    )
    about = (
        "PAMA 1,024, a step from 70 % of it, no interruption. T_ALL is the table `access`'s: from the first "
        "request for more behind the step until a look finds more, every 100 ms."
    )
    return Grid("What an allocation adds to OUTSTAND", about, head, rows)


def _remedies(results: Results) -> Grid:
    rows = []
    for name in (*cases.REMEDIES, *cases.SECOND):
        case = cases.remedy(name)
        outages = results.estimate(case, lambda run: float(run.outages))
        rows.append(
            (
                name,
                lost(results, case, 130, 195).text("%", PERCENT),
                _delay(results, case).text("s", decimals=1),
                outages.text("", decimals=1).strip(),
            )
        )
    head = ("gateway", "lost at 105 %", "longest delay", "links out of service")
    about = "PAMA 1,024, the study's own settings but for what the first column says."
    return Grid("What prevents the collapse, and what it costs", about, head, rows)


def _delay(results: Results, case: cases.Case) -> Estimate:
    return results.estimate(case, lambda run: run.delay_max_s)


def _timers(results: Results) -> Grid:
    rows = []
    for permanent in cases.PERMANENT_KBIT:
        for interruption in cases.INTERRUPTIONS_MS:
            case = cases.varied(permanent, interruption, cases.RTO_MAXIMA_S[-1])
            delay = _delay(results, case)
            expired = ", ".join(timer for timer, most in TIMERS if delay.mean > most) or "none"
            share = lost(results, case, 130, 195).text("%", PERCENT)
            rows.append((str(permanent), f"{interruption} ms", share, delay.text("s", decimals=1), expired))
    head = ("PAMA", "interruption", "lost at 105 %", "longest delay", "timers that it exceeds")
    about = f"RTO.Max of {cases.RTO_MAXIMA_S[-1]} s, the study's own settings but for what is said."
    return Grid("Which timers an allocation lets expire", about, head, rows)


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
    head = ("over the terminals", "lost", "longest delay", "retransmitted")
    about = "Signalling that fills half of 1,024 kbit/s, and four TCP transfers beside it."
    return Grid("Priority in the terminal", about, head, rows)
