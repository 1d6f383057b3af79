"""The study of FTP sessions over LEO and GEO: models, what tables give, runs that are needed, claims."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from slantpath import Table
from slantpath.running import run_job
from slantpath.store import Record
from slantpath_studies import command
from slantpath_studies.claims import Estimate, Verdict
from slantpath_studies.ftp_qos import cases, services, tables
from slantpath_studies.ftp_qos.cases import Cell, Sky
from slantpath_studies.ftp_qos.findings import findings
from slantpath_studies.ftp_qos.measures import Controls, RunFigures
from slantpath_studies.ftp_qos.output import write
from slantpath_studies.ftp_qos.padhye import window_limited
from slantpath_studies.ftp_qos.processor_sharing import (
    Line,
    drawn,
    mean_throughput,
    pareto_quantile,
    pareto_strata,
    share,
)
from slantpath_studies.ftp_qos.runs import DELAY, LOSS, Results, at_nominal_load, controlled, plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SMALL = cases.Extent(runs=3, first=2, beside=1, rates_per_minute=(1, 6, 10))
LEAST = cases.cell(Sky.LEO, cases.FEWEST)
ADMITTED = cases.admission("ten-refuse", cases.cell(Sky.GEO, cases.BALANCED[1]))


def table(name: str, columns: Sequence[tuple[str, str, Iterable[object]]]) -> pa.Table:
    return pa.table(Table.of(name, columns))


def test_sessions_that_share_a_line_are_over_when_their_shares_say_so() -> None:
    # 8 kbit/s, 6 kbit/s for one at most. From 0 s alone: 750 B/s; from 2 s on two get 500 B/s each.
    shared = share(Line(8e3, 6e3), np.array([0.0, 2.0]), np.array([2_500.0, 4_000.0]), 100.0)
    # The first has 1,500 bytes at 2 s, 2,500 at 4 s; the second 1,000 then, and 3,000 more in another 4 s.
    assert shared.throughput_bit_per_s == pytest.approx([8 * 2_500 / 4, 8 * 4_000 / 6])
    assert shared.carried_bytes == pytest.approx(6_500)
    assert shared.full_share == pytest.approx(2_000 / 6_500)
    early = share(Line(8e3, 6e3), np.array([0.0, 2.0, 7.0]), np.array([2_500.0, 4_000.0, 1.0]), 5.0)
    assert early.throughput_bit_per_s == pytest.approx([8 * 2_500 / 4])
    assert early.carried_bytes == pytest.approx(1_500 + 2_000 + 750)
    none = share(Line(8e3, 6e3), np.array([]), np.array([]), 5.0)
    assert math.isnan(none.mean_bit_per_s)
    assert none.full_share == 0


@pytest.mark.parametrize(("servers", "load"), [(1.0, 0.5), (3.0, 0.6), (2.5, 0.6)])
def test_sharing_takes_as_long_on_average_as_its_closed_form_says(servers: float, load: float) -> None:
    line, size = Line(2e6, 2e6 / servers), 1e6
    chance = np.random.default_rng(1)
    begun_s = np.cumsum(chance.exponential(8 * size / (load * line.capacity_bit_per_s), 100_000))
    shared = share(line, begun_s, np.full(begun_s.shape, size), float(begun_s[-1]))
    mean_s = float((8 * size / shared.throughput_bit_per_s).mean())
    assert 8 * size / mean_s == pytest.approx(mean_throughput(line, load), rel=0.02)


def test_without_a_cap_sharing_is_plain_and_alone_a_session_gets_its_cap() -> None:
    assert mean_throughput(Line(2e6, 4e6), 0.25) == pytest.approx(1.5e6)
    assert mean_throughput(Line(2e6, 2e6), 0.25) == pytest.approx(1.5e6)
    assert mean_throughput(Line(2e6, 1e5), 1e-6) == pytest.approx(1e5)
    assert mean_throughput(Line(2e6, 1e6), 1.0) == 0
    # Two servers, a = 1: weights 1, 1 and 1/2 with a half each further one; one is served and a third waits.
    assert mean_throughput(Line(2e6, 1e6), 0.5) == pytest.approx(0.75e6)


def test_sizes_have_the_distribution_and_those_at_nominal_load_its_mean() -> None:
    assert pareto_quantile(np.array([0.0, 0.5]), 2e6, 1.27) == pytest.approx(
        [2e6 * 0.27 / 1.27, 2e6 * 0.27 / 1.27 * 2 ** (1 / 1.27)]
    )
    strata = pareto_strata(600, 2e6, 1.27)
    assert strata.mean() == pytest.approx(2e6)
    edges = pareto_quantile(np.arange(600) / 600, 2e6, 1.27)
    assert (edges <= strata).all()
    assert (strata[:-1] <= edges[1:]).all()
    begun_s, sizes = at_nominal_load(cases.cell(Sky.LEO, cases.MOST), 1, 0)
    assert len(begun_s) == len(sizes) == 600
    assert np.mean(sizes) == pytest.approx(2e6, rel=1e-6)
    assert begun_s == sorted(begun_s)
    assert begun_s != at_nominal_load(cases.cell(Sky.LEO, cases.MOST), 1, 1)[0]
    begun, drawn_sizes = drawn(1.0, 2e6, 3.0, 10_000, np.random.default_rng(1))
    assert len(begun) == pytest.approx(10_000, rel=0.05)
    assert drawn_sizes.mean() == pytest.approx(2e6, rel=0.05)


def test_a_lone_connection_sends_a_window_a_round_trip_or_less_with_losses() -> None:
    assert window_limited(0, 0.5, 30, 1) == 60
    assert window_limited(1e-6, 0.5, 30, 1) == pytest.approx(60, rel=0.01)
    # The approximation 1/(R sqrt(2bp/3) + T0 min(1, 3 sqrt(3bp/8)) p (1 + 32 p²)) is within a few per cent.
    p, trip = 0.02, 0.2
    near = 1 / (trip * math.sqrt(2 * p / 3) + 0.4 * min(1, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p))
    assert window_limited(p, trip, 1_000, 1, 0.4) == pytest.approx(near, rel=0.2)
    assert window_limited(p, trip, 1_000, 2, 0.4) < window_limited(p, trip, 1_000, 1, 0.4)


def test_a_control_takes_out_what_it_explains() -> None:
    chance = np.random.default_rng(2)
    controls = chance.normal(3.0, 1.0, 40)
    values = 10 + 2 * controls + chance.normal(0, 0.1, 40)
    plain = Estimate.of(values.tolist())
    better = controlled(np.column_stack([values, controls]), 3.0, plain)
    assert abs(better.mean - 16) < better.half_width < plain.half_width / 5
    useless = controlled(np.column_stack([values, np.full(40, 1.0)]), 1.0, plain)
    assert useless == plain
    assert controlled(np.column_stack([values, chance.normal(size=40)]), 50.0, plain) == plain


def host_pairs(sent: int = 4, received: int = 3) -> pa.Table:
    return table(
        "host_pairs",
        [
            ("from", "text", ["client", "server"]),
            ("to", "text", ["server", "client"]),
            ("sent_packets", "u64", [9, sent]),
            ("received_packets", "u64", [9, received]),
            ("delay_mean_s", "f64", [9.0, 0.2]),
            ("delay_change_mean_s", "f64", [9.0, 0.05]),
            ("delay_first_s", "f64", [9.0, 0.1]),
            ("delay_last_s", "f64", [9.0, 0.3]),
            ("delay_min_s", "f64", [9.0, 0.1]),
        ],
    )


LINKS = table(
    "links",
    [
        ("link", "text", ["edge", "edge", "server", "sky.london", "sky.boston"]),
        ("direction", "text", ["forward", "reverse", "forward", "forward", "forward"]),
        ("queue_mean_packets", "f64", [2.0, 100.0, 100.0, 3.0, 100.0]),
        ("carried_packets", "u64", [3_600, 1, 1, 1_800, 1]),
        ("utilisation_ratio", "f64", [0.1, 0.2, 0.3, 0.5, 0.6]),
    ],
)
SESSIONS = table(
    "sessions",
    [
        ("begun_s", "f64", [1.0, 2.0, 3.0, 4.0]),
        ("size_bytes", "u64", [53_600, 107_200, 1_000, 1_000]),
        ("last_delivery_s", "f64", [2.0, 3_000.0, None, None]),
        ("delivered_bytes", "u64", [53_600, 100_000, 0, 0]),
        ("outcome", "text", ["completed", "unfinished", "unfinished", "refused"]),
    ],
)


def test_figures_are_those_of_the_equations() -> None:
    figures = RunFigures.of(host_pairs(), LINKS, SESSIONS, Sky.LEO.line)
    assert figures.delay_s == 0.2
    assert figures.jitter_s == 0.05
    assert figures.telescoped_jitter_s == pytest.approx((0.3 - 0.1) / 2)
    assert figures.loss == pytest.approx(0.25)
    # 100 packets of 576 bytes in a second; the other two are not completed.
    assert figures.throughput_bit_per_s == pytest.approx(8 * 57_600)
    assert (figures.begun, figures.refused, figures.unfinished) == (4, 1, 2)
    assert (figures.offered_bytes, figures.delivered_bytes) == (162_800, 153_600)
    assert figures.waiting_packets == pytest.approx(5)
    assert figures.waiting_s == pytest.approx(2 + 6)
    assert figures.utilisation == pytest.approx(0.5)
    assert figures.controls.carried_bytes == pytest.approx(162_800)
    none = RunFigures.of(host_pairs().slice(0, 1), LINKS, SESSIONS.slice(0, 0), Sky.LEO.line)
    assert math.isnan(none.loss)
    assert math.isnan(none.throughput_bit_per_s)


def test_a_cell_is_named_by_what_it_is_and_knows_its_load() -> None:
    most = cases.cell(Sky.GEO, cases.MOST)
    assert most.name == "cells/geo/1e-5/2000-kB/10-a-minute"
    assert most.nominal_load == pytest.approx(10 / 60 * 2e6 * 8 / (2e6 * 536 / 592))
    assert not most.has_steady_state
    assert cases.cell(Sky.GEO, ("1e-5", 2_000, 6)).has_steady_state
    assert len(cases.cells(cases.FULL)) == 240
    assert len({cell.name for cell in cases.cells(cases.FULL)}) == 240


def made(delay_s: float, loss: float = 0.01, throughput: float = 1e5, full_share: float = 0.5) -> RunFigures:
    """Give figures of a run that nobody made."""
    return RunFigures(
        delay_s=delay_s,
        jitter_s=delay_s / 100,
        telescoped_jitter_s=1e-9,
        least_delay_s=0.1,
        loss=loss,
        throughput_bit_per_s=throughput,
        begun=10,
        refused=0,
        unfinished=1,
        offered_bytes=1e6,
        delivered_bytes=9e5,
        utilisation=0.5,
        waiting_packets=1.0,
        waiting_s=0.01,
        controls=Controls(throughput, full_share, 1e6),
    )


class Given(Results):
    """Results of runs that are given and not made."""

    def give(self, case: str, figures: Sequence[RunFigures]) -> None:
        self._figures[case] = dict(enumerate(figures))

    def give_services(self, case: str, figures: Sequence[services.ServiceFigures]) -> None:
        self._services[case] = dict(enumerate(figures))


def results_that_grow(extent: cases.Extent = SMALL) -> Given:
    """Give results in which everything is as the paper claims."""
    results = Given(extent.runs, None, extent)
    for name, case in cases.every(extent).items():
        at = case.cell or case.at_nominal_load
        growth = 1.0
        if at is not None:
            steps = at.per_minute if at.per_minute <= 6 else 6 + 5 * (at.per_minute - 6)
            wide = {"1e-7": 1.0, "1e-6": 1.1, "1e-5": 1.5}[at.error_rate]
            growth = (1 + 0.02 * steps) * (1 + at.size_kb / 1e5) * wide
        base = made(0.18 * growth, 0.03 * growth, 3e5 / growth * (1 + 1e-3 * (at.size_kb if at else 0)))
        results.give(name, [base, replace(base, delay_s=1.00001 * base.delay_s)])
    for case in services.every():
        each = services.ServiceFigures({"voice": 0.2, "video": 0.3}, 1.25, 4.0, 2e5, 350)
        results.give_services(case.name, [each, replace(each, page_s=1.35)])
    return results


def test_claims_are_borne_out_by_what_is_as_they_say_and_not_by_the_contrary() -> None:
    found = {finding.claim.number: finding for finding in findings(results_that_grow())}
    expected = {"Q1a", "Q2a", "Q2b", "Q2c", "Q4b", "Q5a", "Q5b", "Q5c"}
    assert {number for number in expected if found[number].verdict is Verdict.AGREES} == expected
    results = results_that_grow()
    for name, case in cases.every(SMALL).items():
        if case.cell:
            results.give(
                name,
                [made(1 / run.delay_s, 0.1, 1e9 / run.throughput_bit_per_s) for run in results.figures(name)],
            )
    found = {finding.claim.number: finding for finding in findings(results)}
    assert {number for number in expected if found[number].verdict is Verdict.DIFFERS} == expected - {
        "Q5b",
        "Q2b",
    }


def test_a_published_hour_is_judged_by_hours_and_not_by_their_mean() -> None:
    results = results_that_grow()
    at = cases.cell(Sky.LEO, cases.MOST)

    def judged(delays_s: Sequence[float]) -> Verdict:
        results.give(at.name, [made(delay_s) for delay_s in delays_s])
        return {finding.claim.number: finding.verdict for finding in findings(results)}["Q1b LEO"]

    assert judged([0.20, 0.25, 0.22, 0.28, 0.21, 0.26, 0.24, 0.23]) is Verdict.AGREES
    assert judged([0.20, 0.25, 0.22, 0.28, 0.21, 0.26]) is Verdict.UNDECIDED
    assert judged([0.200, 0.201, 0.202, 0.199, 0.200, 0.201]) is Verdict.DIFFERS
    assert judged([0.2]) is Verdict.UNDECIDED


def test_a_cell_gets_as_many_runs_as_its_intervals_need_and_no_more_than_asked_for() -> None:
    results = results_that_grow()
    assert results.further() == []
    results.give(LEAST.name, [made(0.1), made(0.2)])
    assert [(case, job.run) for case, job in results.further()] == [(LEAST.name, 2)]
    results.give(LEAST.name, [made(0.1), made(0.2), made(0.3)])
    assert results.further() == []
    lossy = Given(400, None, SMALL)
    for name in cases.every(SMALL):
        lossy.give(name, results_that_grow().figures(name))
    lossy.give(LEAST.name, [made(0.1, loss) for loss in (0.01, 0.0101, 0.02)])
    assert [job.run for _, job in lossy.further()] == [3, 4, 5]


def test_a_mean_is_taken_with_its_control_once_there_are_enough_hours() -> None:
    results = Given(400, None, SMALL)
    known = results.control_mean(LEAST, DELAY)
    assert 0 <= known < 0.2
    shares = [known + offset for offset in (-0.05, -0.02, -0.01, 0.0, 0.01, 0.03, 0.04, 0.2)]
    hours = [made(0.1 + one + 1e-4 * (place % 3), full_share=one) for place, one in enumerate(shares)]
    results.give(LEAST.name, hours[:7])
    assert results.estimate(LEAST.name, DELAY).mean == np.mean([run.delay_s for run in hours[:7]])
    results.give(LEAST.name, hours)
    assert results.estimate(LEAST.name, DELAY).mean == pytest.approx(0.1 + known, abs=2e-4)
    assert results.estimate(LEAST.name, LOSS).mean == pytest.approx(0.01)


def test_services_are_summed_up_flow_by_flow_page_by_page_and_file_by_file() -> None:
    delays = table("delays", [("flow", "text", ["video", "voice"]), ("delay_p99_s", "f64", [0.3, 0.2])])
    requests = table("requests", [("response_s", "f64", [1.0, None, 2.0, 6.0])])
    sessions = table(
        "sessions",
        [
            ("sessions", "text", ["ftp", "web", "ftp", "ftp"]),
            ("begun_s", "f64", [1.0, 0.0, 2.0, 3.0]),
            ("size_bytes", "u64", [1_000, 10, 4_000, 5_000]),
            ("delivered_bytes", "u64", [1_000, 10, 4_000, 4_999]),
            ("ended_s", "f64", [3.0, 9.0, 4.0, None]),
        ],
    )
    run = services.ServiceFigures.of(delays, requests, sessions)
    assert run.delay_99_s == {"voice": 0.2, "video": 0.3}
    assert run.page_s == 2.0
    assert run.page_95_s == pytest.approx(5.6)
    # 8 kbit in two seconds, 32 kbit in two seconds; the third is not over.
    assert run.file_bit_per_s == pytest.approx(1e4)
    assert run.files == 2


def test_services_change_one_thing_at_a_time() -> None:
    by_name = {case.name: case for case in services.every()}
    assert len(by_name) == 2 * 2 * 3 * 3
    for sky in Sky:
        plain = by_name[services.name_of(sky, "one-queue", "one", "all")]
        assert not plain.topology
        for scheduler, links, rule, key in (
            ("classes", "one", "all", "links.edge.forward.discipline"),
            ("one-queue", "by-backlog", "all", "nodes.terminal.balance"),
            ("one-queue", "one", "by-delay", "sessions.ftp.admission"),
        ):
            other = by_name[services.name_of(sky, scheduler, links, rule)]
            assert key in other.values.keys() - plain.values.keys()
            assert dict(plain.values).items() <= dict(other.values).items()


def test_the_study_writes_its_tables_and_figures(tmp_path: Path) -> None:
    text, files = write(tmp_path, results_that_grow())
    assert "Q4a GEO" in text
    assert {
        "figure-02.svg",
        "figure-05.png",
        "report.html",
        "cells.txt",
        "balance.txt",
        "services.svg",
        "services.txt",
        "admission.txt",
        "leo.toml",
    } <= {file.name for file in files}
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "no steady state" in report
    assert (tmp_path / "scenarios" / "geo-sky.toml").exists()
    grids = dict(tables.grids(results_that_grow()))
    assert len(grids["cells"].rows) == 2 * 3 * 4 * 3
    assert len(grids["choices"].rows) == 4 * (1 + len(cases.CHOICES))


def test_a_session_alone_does_what_its_model_says_and_cells_of_one_number_share_their_arrivals() -> None:
    wanted = {
        LEAST.name,
        LEAST.nominal,
        Cell(Sky.GEO, "1e-5", 500, 1).name,
        cases.lone(Sky.GEO, "1e-7"),
        cases.balance("per-packet", cases.cell(Sky.GEO, cases.BALANCED[0])),
    }
    wanted.add(ADMITTED)
    results = Results(1, None, SMALL)
    begun: dict[str, object] = {}
    for case, job in plan(1, None, SMALL):
        if case in wanted:
            output = run_job(job)
            begun[case] = output["sessions"]["begun_s"]
            kept = {name: pa.table(output.tables[name]) for name in Results.TABLES if name in output.tables}
            results.add(case, job.run, Record(output.digest, kept))
    assert set(begun) == wanted
    assert begun[LEAST.name] == begun[Cell(Sky.GEO, "1e-5", 500, 1).name]
    (leo,), (geo,) = results.figures(LEAST.name), results.figures(Cell(Sky.GEO, "1e-5", 500, 1).name)
    assert 0.08 < leo.least_delay_s < leo.delay_s < 0.15
    assert 0.26 < geo.least_delay_s < geo.delay_s < 0.3
    # Eight bits of 576 bytes: 4.6 %.
    assert geo.loss == pytest.approx(1 - (1 - 1e-5) ** (8 * 576), rel=0.1)
    (nominal,) = results.figures(LEAST.nominal)
    assert nominal.begun == 60
    assert nominal.offered_bytes == pytest.approx(60 * 500_000)
    (lone,) = results.figures(cases.lone(Sky.GEO, "1e-7"))
    model = window_limited(lone.loss, 2 * lone.least_delay_s, 30, 1)
    assert lone.delivered_bytes / 3_600 / 536 == pytest.approx(model, rel=0.1)
    (balanced,) = results.figures(cases.balance("per-packet", cases.cell(Sky.GEO, cases.BALANCED[0])))
    assert balanced.unfinished < balanced.begun / 10
    (admitted,) = results.figures(ADMITTED)
    assert admitted.refused > 0
    assert admitted.unfinished <= 10


def test_the_study_can_be_asked_for_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    assert "ftp-qos" in capsys.readouterr().out
