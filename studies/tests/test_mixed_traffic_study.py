"""The study of mixed traffic: measures on messages made by hand, its claims on runs, and what it writes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from slantpath import Table
from slantpath.running import run_jobs
from slantpath.store import Record
from slantpath_studies.claims import Estimate, Verdict
from slantpath_studies.mixed_traffic import QUICK, Results, cases, findings, plan, tables, write
from slantpath_studies.mixed_traffic.cases import FILES, GEO_2, SIGNALLING, SIZES, TELEMETRY
from slantpath_studies.mixed_traffic.measures import Delays, RunFigures, estimate, in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

Message = tuple[str, float, float | None, int]
"""Its kind, when it was sent, its delay if it came, and how often it was sent."""


def messages(rows: Sequence[Message]) -> pa.Table:
    columns: list[tuple[str, str, Iterable[object]]] = [
        ("size_bytes", "u64", [SIZES[kind] for kind, *_ in rows]),
        ("sent_s", "f64", [sent for _, sent, *_ in rows]),
        ("delivered_s", "f64", [None if delay is None else sent + delay for _, sent, delay, _ in rows]),
        ("delay_s", "f64", [delay for *_, delay, _ in rows]),
        ("transmissions", "u64", [times for *_, times in rows]),
    ]
    return pa.table(Table.of("messages", columns))


def test_only_what_is_sent_in_the_time_that_counts_is_measured() -> None:
    rows = [(SIGNALLING, 19.9, 9.0, 1), (SIGNALLING, 20.0, 0.3, 1), (SIGNALLING, 99.9, 0.5, 2)]
    run = RunFigures.of(messages([*rows, (SIGNALLING, 100.0, 9.0, 1)]), GEO_2)
    assert run.delays[SIGNALLING] == Delays(2, 0, 0.5, 0.5, 0.5)
    assert run.signalling_s.tolist() == [0.3, 0.5]


def test_what_must_arrive_and_does_not_takes_for_ever_and_what_may_be_given_up_counts_in_no_delay() -> None:
    rows = [(kind, 30.0, delay, 1) for kind in cases.KINDS for delay in (0.3, 0.4, None)]
    run = RunFigures.of(messages(rows), GEO_2)
    assert run.delays[TELEMETRY] == Delays(3, 1, 0.4, 0.4, 0.4)
    assert run.delays[FILES] == Delays(3, 1, 0.4, math.inf, math.inf)
    assert run.signalling_s.tolist() == [0.3, 0.4, math.inf]


def test_telemetry_is_in_time_while_it_is_of_use_and_all_copies_of_other_telemetry_are_in_vain() -> None:
    late = [(TELEMETRY, 50.0, 0.41, 2), (TELEMETRY, 50.0, None, 3), (TELEMETRY, 50.0, None, 0)]
    run = RunFigures.of(messages([(TELEMETRY, 50.0, 0.4, 2), *late]), GEO_2)
    assert (run.in_time, run.wasted) == (25.0, 125.0)


def test_goodput_is_what_comes_of_files_in_the_time_that_counts() -> None:
    rows = [(FILES, 15.0, 5.0, 1), (FILES, 90.0, 9.9, 1), (FILES, 90.0, 10.0, 1), (FILES, 1.0, 2.0, 1)]
    run = RunFigures.of(messages(rows), GEO_2)
    assert run.goodput == pytest.approx(100 * 2 * 8 * 65_536 / 80 / 2e6)


def test_an_estimate_says_never_where_a_run_does_and_none_where_nothing_came() -> None:
    assert in_words(estimate([0.3, math.inf], exact=False)) == "never"
    assert in_words(estimate([math.nan], exact=True)) == "none"
    assert in_words(estimate([0.25], exact=True), 1e3) == "250"
    assert in_words(estimate([1.0, 3.0], exact=False), 1.0, 1).startswith("2.0 ± ")


def test_every_case_has_a_scenario_without_a_warning_and_no_two_of_them_are_equal() -> None:
    scenarios = {case.name: case.scenario() for case in cases.every().values()}
    assert [name for name, scenario in scenarios.items() if scenario.warnings] == []
    assert len({scenario.hash for scenario in scenarios.values()}) == len(scenarios)


def test_every_run_is_planned_once_and_only_one_where_nothing_is_drawn() -> None:
    planned = [(name, job.run) for name, job in plan(3, None)]
    assert len(planned) == len(set(planned))
    assert len(planned) == sum(3 if case.is_random else 1 for case in cases.every().values())
    # What a quick study runs, the whole one does, too.
    assert cases.every(cases.QUICK).items() <= cases.every().items()


class ByHand:
    """Observations of which each case has one run, made by a function of its name."""

    def __init__(self, run_of: Callable[[str, str], RunFigures]) -> None:
        self.run_of = run_of

    def estimate(self, case: str, of: Callable[[RunFigures], float], /) -> Estimate:
        path, controller, setting, loss = case.split("/")
        return Estimate.exact(of(self.run_of(setting, f"{path}/{controller}/{loss}")))


def figures_of(
    *,
    signalling_s: float = 0.3,
    longest_s: float | None = None,
    telemetry_s: float = 0.3,
    in_time: float = 90.0,
    wasted: float = 5.0,
    undelivered: int = 0,
) -> RunFigures:
    longest_s = signalling_s if longest_s is None else longest_s
    delays = {
        SIGNALLING: Delays(800, undelivered, signalling_s, signalling_s, longest_s),
        TELEMETRY: Delays(1_600, 0, telemetry_s, telemetry_s, telemetry_s),
        FILES: Delays(272, 0, 3.0, 3.0, 3.0),
    }
    return RunFigures(delays, in_time, wasted, 85.0, np.array([signalling_s]))


EXPECTED = {
    "one-stream": figures_of(signalling_s=2.0, telemetry_s=2.0),
    "streams": figures_of(signalling_s=2.0, telemetry_s=2.0, in_time=20.0, wasted=75.0),
    "streams-rr": figures_of(telemetry_s=2.1),
    "streams-priority": figures_of(longest_s=0.3 + 0.19),
    "idata-fcfs": figures_of(signalling_s=2.0, telemetry_s=2.0),
    "pr-lifetime": figures_of(wasted=25.0),
    "both": figures_of(in_time=80.0),
    "both-unordered": figures_of(in_time=98.0),
}
"""What claims want, with nothing to spare where that can be said; all other settings are alike."""


def as_expected(setting: str, where: str) -> RunFigures:
    """Give runs as each claim wants them."""
    if where.startswith("geo-2/rfc9260"):
        return figures_of(signalling_s=0.43, in_time=78.1 if setting == "three" else 60.0)
    if where.startswith("geo-2-light"):
        return figures_of(in_time=85.0 if setting == "both" else 90.0)
    return EXPECTED.get(setting, figures_of())


def missed(run_of: Callable[[str, str], RunFigures]) -> list[str]:
    found = findings.findings(ByHand(run_of))
    return [finding.claim.number for finding in found if finding.verdict is Verdict.MISSED]


def test_runs_as_they_are_expected_meet_every_claim_and_each_is_missed_by_itself() -> None:
    assert missed(as_expected) == []

    def but(setting: str, run: RunFigures, where: str = "geo-2/backlog") -> list[str]:
        return missed(lambda s, w: run if s == setting and w.startswith(where) else as_expected(s, w))

    slow = figures_of(signalling_s=2.0, telemetry_s=2.0)
    assert but("one-stream", figures_of(signalling_s=2.1)) == ["K1"]
    assert but("streams-priority", figures_of(longest_s=0.3 + 0.18)) == ["K2"]
    assert but("idata-wfq", figures_of(signalling_s=0.39)) == ["K3"]
    assert but("idata-fcfs", figures_of(signalling_s=1.8)) == ["K4"]
    assert but("streams-rr", slow) == ["K5"]
    assert but("idata-rr", figures_of(telemetry_s=0.5)) == ["K5"]
    assert but("pr-lifetime", figures_of(wasted=25.1)) == ["K6"]
    assert but("both-unordered", figures_of(in_time=97.9)) == ["K8"]
    assert but("both", figures_of(in_time=84.9), "geo-2-light") == ["K9"]
    assert but("idata-priority", figures_of(signalling_s=0.41, in_time=60.0), "geo-2/rfc9260") == ["K10"]
    assert but("three", figures_of(undelivered=1)) == ["K12"]
    assert but("three", figures_of(in_time=77.9), "geo-2/rfc9260") == ["K13"]
    assert but("three", figures_of(in_time=99.1)) == ["K13"]
    assert "K7" in but("both", figures_of(in_time=90.1))


@pytest.fixture(scope="module")
def made() -> Results:
    """Make the quick study once, with one run of each case."""
    results = Results(1, None, cases.QUICK)
    names = {job: name for name, job in plan(1, None, cases.QUICK)}
    for job, output in run_jobs(names):
        kept = {name: pa.table(output.tables[name]) for name in Results.TABLES}
        results.add(names[job], job.run, Record(output.digest, kept))
    return results


def test_the_runs_of_the_quick_study_miss_no_claim_and_one_run_with_losses_decides_none(
    made: Results,
) -> None:
    found = findings.findings(made)
    assert [(each.claim.number, each.ours) for each in found if each.verdict is Verdict.MISSED] == []
    undecided = {each.claim.number for each in found if each.verdict is Verdict.UNDECIDED}
    assert undecided == {"K6", "K7", "K8", "K9", "K11", "K12", "K13"}


def test_everything_is_written(made: Results, tmp_path: Path) -> None:
    table, files = write(tmp_path, made)
    assert table.splitlines()[0].split()[:2] == ["claim", "expected"]
    names = {file.name for file in files}
    drawn = ("signalling", "in-time", "in-vain", "goodput", "spread")
    assert {f"{name}.{kind}" for name in drawn for kind in ("png", "svg")} < names
    assert {"claims.txt", "report.html", "delays-geo-2-backlog.txt", "use-geo-2-light-backlog.txt"} < names
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert html.count("<figure>") == len(drawn)
    grid = dict(tables.grids(made))["use-geo-2-backlog"]
    assert [row[0] for row in grid.rows] == [setting.label for setting in cases.SETTINGS.values()]
    assert grid.title == "What is of use over GEO, 2 Mbit/s, 560 ms, Backlog: loss 0 / 1e-2"


def test_the_quick_study_has_fewer_runs() -> None:
    assert len(QUICK.plan(QUICK.RUNS, None)) < len(plan(cases.FULL.runs, None)) / 5
