"""The failover study: its figures on tables made by hand, and a small version of itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from slantpath import Table
from slantpath.running import run_job
from slantpath.store import Record
from slantpath_studies.claims import Verdict, combined
from slantpath_studies.failover import Results, cases, figures, findings, plan
from slantpath_studies.failover.findings import (
    LAST,
    WARM_UP_S,
    CostFigures,
    RunFigures,
    median,
    with_median,
)

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


def timeline(steps: Sequence[tuple[float, str, str, float | None]] = STEPS) -> pa.Table:
    columns: list[tuple[str, str, Iterable[object]]] = [
        ("at_s", "f64", [step[0] for step in steps]),
        ("path", "text", [step[1] for step in steps]),
        ("event", "text", [step[2] for step in steps]),
        ("rto_s", "f64", [step[3] for step in steps]),
    ]
    return pa.table(Table.of("timelines", columns))


def messages(
    delays_s: Sequence[float | None],
    first_s: float = 30.0,
    transmissions: Sequence[int] | None = None,
) -> pa.Table:
    sent_s = [first_s + number / 10 for number in range(len(delays_s))]
    delivered_s = [None if delay is None else at + delay for at, delay in zip(sent_s, delays_s, strict=True)]
    columns: list[tuple[str, str, Iterable[object]]] = [
        ("sent_s", "f64", sent_s),
        ("delivered_s", "f64", delivered_s),
        ("delay_s", "f64", list(delays_s)),
        ("transmissions", "u64", transmissions or [1] * len(delays_s)),
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


def test_what_happens_without_a_lasting_failure_is_counted_by_the_hour_and_the_start_apart() -> None:
    start = [(0.9, "primary", "T3-rtx expired", 0.25), (0.95, "alternate", "new data", None)]
    delays = messages([0.05] * (LAST + 2) + [0.9])
    cost = CostFigures.of(timeline([*start, *STEPS]), delays, WARM_UP_S + 120.0)
    assert (cost.failovers, cost.inactive, cost.timeouts, cost.at_start) == (30.0, 30.0, 90.0, 1)
    assert cost.transfer_max_s == 0.9
    assert cost.transfer_p99_s == 0.05
    assert cost.lost == 0


def test_messages_of_the_warm_up_and_those_cut_off_at_the_end_are_left_out_of_the_cost() -> None:
    delays: list[float | None] = [0.9, None, *[0.05] * 98, *[None] * LAST]
    early = CostFigures.of(timeline(), messages(delays, first_s=WARM_UP_S - 0.15), 120.0)
    assert (early.transfer_max_s, early.lost) == (0.05, 0)
    later = CostFigures.of(timeline(), messages(delays, first_s=WARM_UP_S), 120.0)
    assert (later.transfer_max_s, later.lost) == (0.9, 1)


def test_messages_that_are_sent_again_are_a_share_of_all() -> None:
    cost = CostFigures.of(timeline(), messages([0.05] * 8, transmissions=[1, 1, 1, 2, 1, 1, 3, 1]), 120.0)
    assert cost.again == 0.25


def figures_of(
    failover_s: float, transfer_s: float, restart_s: float = 0.08, rto_s: float = 0.24
) -> RunFigures:
    return RunFigures(failover_s, failover_s, transfer_s, rto_s, 3, restart_s, 0)


def test_the_median_stands_beside_the_mean_and_leaves_out_runs_without_a_failover() -> None:
    runs = [figures_of(value, 0.5) for value in (0.5, 0.6, 1.9, math.nan)]
    assert median(runs, findings.failover_s) == 0.6
    assert with_median(runs[:3], findings.failover_s).startswith("1000 ± ")
    assert with_median(runs[:3], findings.failover_s).endswith(" ms, median 600")


def test_f1_asks_for_the_published_rto_too() -> None:
    def verdict_of(rto_s: float) -> Verdict:
        worst = {cases.WORST: [figures_of(0.92, 0.70, rto_s=rto_s)] * 2}
        _, parts = findings.CHECKS["F1"](worst, "")
        return combined([part.outcome.verdict for part in parts])

    assert [verdict_of(rto_s) for rto_s in (0.24, 0.203)] == [Verdict.AGREES, Verdict.DIFFERS]


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
