"""The failover study: its figures on tables made by hand, and a small version of itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from slantpath import Table
from slantpath.running import run_job
from slantpath.store import Record
from slantpath.studies.claims import Verdict
from slantpath.studies.failover import Results, cases, figures, findings, plan
from slantpath.studies.failover.findings import CalmFigures, RunFigures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STEPS: Sequence[tuple[float, str, str, float | None]] = (
    (29.99, "primary", "T3-rtx restarted", 0.2),
    (30.20, "primary", "T3-rtx expired", 0.2),
    (30.20, "alternate", "retransmitted", None),
    (30.28, "primary", "T3-rtx started", 0.25),
    (30.53, "primary", "T3-rtx expired", 0.25),
    (30.63, "primary", "T3-rtx started", 0.25),
    (30.88, "primary", "T3-rtx expired", 0.25),
    (30.88, "primary", "inactive", None),
    (30.90, "alternate", "new data", None),
)


def timeline() -> pa.Table:
    columns: list[tuple[str, str, Iterable[object]]] = [
        ("at_s", "f64", [step[0] for step in STEPS]),
        ("path", "text", [step[1] for step in STEPS]),
        ("event", "text", [step[2] for step in STEPS]),
        ("rto_s", "f64", [step[3] for step in STEPS]),
    ]
    return pa.table(Table.of("timelines", columns))


def messages(delays_s: Sequence[float | None]) -> pa.Table:
    sent_s = [30.0 + number / 10 for number in range(len(delays_s))]
    delivered_s = [None if delay is None else at + delay for at, delay in zip(sent_s, delays_s, strict=True)]
    columns: list[tuple[str, str, Iterable[object]]] = [
        ("sent_s", "f64", sent_s),
        ("delivered_s", "f64", delivered_s),
        ("delay_s", "f64", list(delays_s)),
    ]
    return pa.table(Table.of("messages", columns))


def test_a_failover_is_read_off_its_timeline() -> None:
    run = RunFigures.of(timeline(), messages([0.9, 0.7, 0.5] + [0.05] * 20))
    assert run.failover_s == pytest.approx(0.90)
    assert run.inactive_s == pytest.approx(0.88)
    assert run.rto_s == pytest.approx(0.2)
    assert run.timeouts == 3
    assert run.restart_s == pytest.approx((0.08 + 0.10) / 2)
    assert run.transfer_s == pytest.approx(0.9)


def test_without_a_failover_there_is_none_to_measure() -> None:
    run = RunFigures.of(timeline().slice(0, 1), messages([0.05] * 5))
    assert math.isnan(run.failover_s)
    assert math.isnan(run.restart_s)
    assert run.timeouts == 0


def test_spurious_failovers_are_counted_by_the_hour() -> None:
    calm = CalmFigures.of(timeline(), messages([0.05] * 5), 120.0)
    assert (calm.failovers, calm.inactive, calm.timeouts) == (30.0, 30.0, 90.0)


def figures_of(failover_s: float, transfer_s: float, restart_s: float = 0.08) -> RunFigures:
    return RunFigures(failover_s, failover_s, transfer_s, 0.24, 3, restart_s, 0)


def test_the_paper_s_numbers_agree() -> None:
    loads = {"NONE": (0.560, 0.50), "LOW": (0.58, 0.51), "MEDIUM": (0.88, 0.65), "HIGH": (0.92, 0.70)}
    observed = {f"13/{load}": [figures_of(*pair)] * 2 for load, pair in loads.items()}
    observed |= {f"{queue}/{load}": [figures_of(0.57, 0.5)] * 2 for queue in "36" for load in cases.LOADS}
    observed |= {f"13/{load}": [figures_of(0.56, 0.5)] * 2 for load in cases.CONSTANT}
    observed[f"{cases.RTO_INITIAL}/{cases.BEST}"] = [figures_of(0.74, 0.6)] * 2
    found = findings.findings(observed)
    assert [finding.claim.number for finding in found] == [f"F{number}" for number in range(1, 9)]
    assert [finding.verdict for finding in found] == [Verdict.AGREES] * 8


def test_figure_5_marks_how_late_the_timer_is_restarted() -> None:
    axes = figures.timeline(timeline(), "one").axes[0]
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["80 ms", "100 ms"]


def test_every_scenario_of_the_study_is_right_and_a_few_of_its_runs_bear_it_out() -> None:
    planned = plan(1, None)
    wanted = {cases.BEST, f"{cases.IDLE}/{cases.WORST}", f"{cases.RECOMMENDED}/{cases.WORST}"}
    results = Results(1, None)
    for case, job in planned:
        if case in wanted:
            output = run_job(job)
            tables = {name: pa.table(output.tables[name]) for name in Results.TABLES}
            results.add(case, job.run, Record(output.digest, tables))
    standard, loaded, recommended = (results.figures(case)[0] for case in sorted(wanted))
    assert standard.timeouts == 3
    assert 0.55 < standard.failover_s < 0.70
    assert standard.failover_s < loaded.failover_s
    assert recommended.failover_s < 0.8
    assert standard.lost == loaded.lost == recommended.lost == 0
