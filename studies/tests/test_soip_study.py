"""The study of SS7 over a satellite with capacity on demand: its measures, and a small version of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from slantpath.running import Job, run_job
from slantpath.store import Record
from slantpath_studies import command
from slantpath_studies.claims import Verdict
from slantpath_studies.soip import Results, cases, findings, largest_step, plan, write
from slantpath_studies.soip.measures import RunFigures

if TYPE_CHECKING:
    from pathlib import Path


def run(case: cases.Case) -> RunFigures:
    output = run_job(Job(case.scenario(), 0, None))
    tables = {name: pa.table(output.tables[name]) for name in Results.TABLES if name in output.tables}
    return RunFigures.of(case, Record(output.digest, tables))


def figures(case: cases.Case, *, carried: float = 1.0, refused_until_s: float = 0.0) -> RunFigures:
    """Figures of a run in which so much of the load arrives, and messages are refused until then."""
    interval_s = 0.1 if case.name.startswith("growth") else 1.0
    times = np.arange(0, case.duration_s, interval_s)
    offered = np.array([case.offered(at) for at in times]) * interval_s
    flat = np.ones(len(times))
    return RunFigures(
        interval_s=interval_s,
        refused=np.where((times >= cases.START_S) & (times < refused_until_s), offered / 2, 0.0),
        arrived=carried * offered,
        repeated=0.0 * flat,
        handed_over=offered,
        cwnd_bytes=64_000 * flat,
        outstanding_bytes=60_000 * flat,
        ethernet_bit_per_s=1e6 * flat,
        srtt_s=0.65 * flat,
        outages=0,
        delay_max_s=1.0,
        allocation_s=1.0,
    )


class Made(Results):
    """Results without runs."""

    def __init__(self, **of: RunFigures) -> None:
        super().__init__(2, None)
        self.of = of

    def figures(self, case: cases.Case) -> list[RunFigures]:
        return [self.of.get(case.name, figures(case))] * 2


def test_the_plan_has_every_case_so_many_times() -> None:
    jobs = plan(2, 7)
    assert len(jobs) == sum(max(2, 2 * case.runs // 3) for case in cases.every().values())
    assert {job.seed for _, job in jobs} == {7}
    assert len({name for name, _ in jobs}) == len(cases.every()) > 100


def test_a_load_is_what_its_steps_and_its_ramp_say() -> None:
    case = cases.collapse(1024)
    full = cases.PERMANENT_KBIT[1024]
    for at, part in ((29, 0), (31, 0.3), (57.5, 0.625), (90, 0.95), (150, 1.05), (205, 0.9), (355, 0.4)):
        assert case.erlang_at(at) == pytest.approx(full * part), at
    assert case.erlang_at(case.stop_s) == 0
    assert cases.messages_per_second(0.5, 100) == pytest.approx(1200)
    assert cases.erlang_of(960_000) == pytest.approx(0.5)


def test_loss_and_congestion_are_counted_from_the_load() -> None:
    case = cases.mb9(0.30)
    half = figures(case, carried=0.5, refused_until_s=70)
    assert half.loss(case, 100, 200) == pytest.approx(0.5)
    assert half.congested_s(case, cases.START_S) == pytest.approx(40)
    assert figures(case).congested_s(case, cases.START_S) == 0
    assert half.ethernet_kbit(50, 60) == pytest.approx(1000)
    made = Made(**{case.name: half})
    assert findings.loss_meanwhile(made, case).mean == pytest.approx(0.5)
    assert findings.congestion(made, case).mean == pytest.approx(40)


def test_a_collapse_clears_at_the_first_fall_without_loss() -> None:
    case = cases.collapse(2048)
    collapsed = figures(case, carried=0.5)
    assert findings.clears_at(Made(**{case.name: collapsed}), case) is None
    arrived = collapsed.arrived.copy()
    fifth = cases.FALL_S + 4 * cases.FALL_EVERY_S
    arrived[fifth:] *= 2
    cleared = figures(case)
    cleared.arrived[: len(arrived)] = arrived
    assert findings.clears_at(Made(**{case.name: cleared}), case) == pytest.approx(0.5)


def test_everything_is_written_whatever_was_measured(tmp_path: Path) -> None:
    table, files = write(tmp_path, Made())
    assert all(file.is_file() for file in files)
    assert "S13" in table
    assert {file.name for file in files} >= {
        "collapse.md",
        "growth.md",
        "remedies.md",
        "report.html",
        "start.png",
    }


def test_a_fixed_window_collapses_where_service_is_interrupted_and_not_otherwise() -> None:
    variants = {
        "collapses": cases.collapse(1024),
        "uninterrupted": cases.varied(1024, 0, cases.RTO_MAX_S),
        "patient": cases.varied(1024, cases.INTERRUPTION_MS, 60),
    }
    measured = {name: run(case).loss(case, 130, 195) for name, case in variants.items()}
    # Each message crosses three times, in full packets of nine, which have 50 octets of headers.
    carried = 2_150_000 / 8 / (148 + 50 / 9) / 3
    offered = cases.messages_per_second(cases.ABOVE * cases.PERMANENT_KBIT[1024])
    assert measured["collapses"] == pytest.approx(1 - carried / offered, abs=0.05)
    assert measured["uninterrupted"] < 0.02
    assert measured["patient"] < 0.02


def test_no_claim_has_settings_of_its_own() -> None:
    own = "links.satellite.access."
    fixed = {f"{own}release_after", f"{own}interruption", "sctp.gateway.rto_max"}
    varied = {"varied", "released", "remedy", "growth"}
    for name, case in cases.every().items():
        if not any(name.startswith(kind) for kind in varied):
            assert not fixed & set(case.values), name
    merged = cases.collapse(1024).scenario().merged()
    for setting in ('interruption = "700 ms"', 'release_after = "300 s"', 'rto_max = "1.25 s"'):
        assert setting in merged


def test_an_allocation_lasts_from_the_request_until_a_look_finds_more() -> None:
    case = cases.growth(cases.PLANS_MS[0], 200)
    allocation_s = run(case).allocation_s
    # Two hops of 270 ms and 40 ms of processing at least; a plan of 100 ms, a frame and a look at most.
    assert allocation_s is not None
    assert 0.58 <= allocation_s <= 0.58 + 0.1 + 0.04 + 0.1 + 1e-9


def test_the_window_of_equation_5_is_full_with_its_largest_step() -> None:
    setting = largest_step.Setting(154_000, largest_step.LOOPS[0], 200)
    allocation_s = 1.5
    step = setting.equation_5_kbit(allocation_s) * 1e3
    permanent = cases.PERMANENT_KBIT[1024] * cases.LINKS * cases.LINE_BIT_PER_S
    before = cases.BEFORE_STEP * permanent
    beyond = before + step - permanent
    outstanding = (before + step) * cases.ROUND_TRIP_S + beyond * allocation_s
    assert outstanding * 148 / 120 / 8 == pytest.approx(154_000)
    # What is permanent carries a small step: then nothing waits for an allocation.
    small = largest_step.Setting(60_000, largest_step.LOOPS[0], 200)
    carried = before + small.equation_5_kbit(allocation_s) * 1e3
    assert before < carried < permanent
    assert carried * cases.ROUND_TRIP_S * 148 / 120 / 8 == pytest.approx(60_000)
    # A window that is full before the step leaves none.
    assert largest_step.Setting(20_000, largest_step.LOOPS[0], 200).equation_5_kbit(1.5) == 0


def test_a_larger_step_is_tried_where_all_smaller_ones_were_carried() -> None:
    results = largest_step.Results(2, None)
    first, second, *_ = largest_step.STEPS_KBIT
    carried, refused = largest_step.SETTINGS[:2]
    for setting in largest_step.SETTINGS:
        results.refused[setting.case(first).name] = float(setting is refused)
    planned = [(name, job.run) for name, job in results.further()]
    assert len(planned) == 2 * (len(largest_step.SETTINGS) - 1)
    assert planned[:2] == [(carried.case(second).name, 0), (carried.case(second).name, 1)]
    assert (results.largest_kbit(refused), {name for name, _ in planned} & {refused.case(second).name}) == (
        0,
        set(),
    )
    for step in largest_step.STEPS_KBIT:
        for setting in largest_step.SETTINGS:
            results.refused[setting.case(step).name] = 0.0
    assert results.further() == []


def test_the_largest_steps_are_written_with_their_equation(tmp_path: Path) -> None:
    results = largest_step.Results(1, None)
    names = [setting.case(step).name for setting in largest_step.SETTINGS for step in largest_step.STEPS_KBIT]
    results.refused = dict.fromkeys(names, 0.0)
    results.refused[largest_step.SETTINGS[0].case(largest_step.STEPS_KBIT[1]).name] = 3.0
    table, files = largest_step.write(tmp_path, results)
    assert {file.name for file in files} >= {"largest-step.md", "largest-step.png", "report.html"}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert len(rows) == len(largest_step.SETTINGS)
    # One that loses nothing may carry more than was tried.
    assert [row[4] for row in rows[:2]] == [str(largest_step.STEPS_KBIT[0]), "900 or more"]
    # T_ALL that no run has is not made up, nor is what follows from it.
    assert {(row[1], row[5]) for row in rows} == {(largest_step.UNKNOWN, largest_step.UNKNOWN)}


def test_a_study_without_the_figure_of_the_largest_step_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["failover", "--largest-step"])
    assert "--largest-step is for soip" in capsys.readouterr().err


def test_the_largest_step_is_the_last_before_one_that_is_refused() -> None:
    results = largest_step.Results(1, None)
    setting = largest_step.SETTINGS[0]
    results.refused = dict.fromkeys((setting.case(step).name for step in largest_step.STEPS_KBIT), 0.0)
    assert results.largest_kbit(setting) == largest_step.STEPS_KBIT[-1]
    results.refused[setting.case(largest_step.STEPS_KBIT[2]).name] = 1.0
    assert results.largest_kbit(setting) == largest_step.STEPS_KBIT[1]
    results.refused[setting.case(largest_step.STEPS_KBIT[0]).name] = 1.0
    assert results.largest_kbit(setting) == 0


def test_the_first_release_opens_its_window_in_seventy_seconds() -> None:
    case = cases.mb9(0.36)
    made = run(case)
    assert made.cwnd_bytes.max() == 64_000
    assert 55 < np.argmax(made.cwnd_bytes >= 64_000) - cases.START_S < 75
    assert made.ethernet_kbit(150, 280) == pytest.approx(930, rel=0.05)


def test_two_windows_carry_twice_as_much() -> None:
    one, two = (run(cases.associations(count, 64_000)).ethernet_kbit(60, 105) for count in (1, 2))
    assert two / one == pytest.approx(2, rel=0.07)


def test_the_numbers_of_a_formula_are_judged_as_such() -> None:
    found = {finding.claim.number: finding for finding in findings.findings(Made())}
    assert found["S8"].verdict is Verdict.AGREES
    assert found["S8"].ours == "4726 kbit/s: case A"
