"""The study of long paths: measures and aims on tables made by hand, its scenarios, and what it writes."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from slantpath import Table
from slantpath.running import Job, run_job
from slantpath.store import Record
from slantpath_studies.claims import Estimate, Verdict
from slantpath_studies.long_paths import Results, cases, figures, findings, plan, tables, write
from slantpath_studies.long_paths.cases import GEO, LEO
from slantpath_studies.long_paths.measures import RunFigures, estimate
from slantpath_studies.long_paths.runs import runs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from slantpath import Scenario


def flow_intervals(
    delivered: Mapping[str, Sequence[int]], again: int = 0, interval_s: float = 1.0
) -> pa.Table:
    flows = sorted(delivered)
    rows = [(flow, at) for at in range(len(delivered[flows[0]])) for flow in flows]
    columns: list[tuple[str, str, Iterable[object]]] = [
        ("flow", "text", [flow for flow, _ in rows]),
        ("start_s", "f64", [at * interval_s for _, at in rows]),
        ("end_s", "f64", [(at + 1) * interval_s for _, at in rows]),
        ("delivered_bytes", "u64", [delivered[flow][at] for flow, at in rows]),
        ("retransmissions", "u64", [again, *[0] * (len(rows) - 1)]),
        ("cwnd_bytes", "u64", [14_600] * len(rows)),
    ]
    return pa.table(Table.of("flow_intervals", columns))


def links(queue_full: int = 0, loss: int = 0) -> pa.Table:
    columns: list[tuple[str, str, Iterable[object]]] = [
        ("link", "text", ["access", "path", "path"]),
        ("direction", "text", ["forward", "forward", "reverse"]),
        ("dropped_queue_full_packets", "u64", [500, queue_full, 700]),
        ("dropped_loss_packets", "u64", [500, loss, 700]),
        ("queue_mean_packets", "f64", [9.0, 2.5, 9.0]),
    ]
    return pa.table(Table.of("links", columns))


def link_intervals(intervals: int) -> pa.Table:
    columns: list[tuple[str, str, Iterable[object]]] = [
        ("direction", "text", ["forward", "reverse"] * intervals),
        ("end_s", "f64", [float(at // 2 + 1) for at in range(2 * intervals)]),
        ("queue_mean_packets", "f64", [3.0] * (2 * intervals)),
    ]
    return pa.table(Table.of("link_intervals", columns))


def of_flow(delivered: Sequence[int], interval_s: float = 1.0) -> RunFigures:
    return RunFigures.of(flow_intervals({"data": delivered}, interval_s=interval_s), links())


def test_goodput_counts_what_arrived_in_the_time_given_and_of_the_flows_given() -> None:
    run = RunFigures.of(flow_intervals({"a": [9, 1_000, 250, 9], "b": [9, 0, 500, 9]}), links())
    assert run.goodput(10_000, 1.0, 3.0) == 70.0
    assert run.goodput(10_000, 1.0, 3.0, "a") == 50.0
    assert run.goodput(10_000, 2.0, 3.0, "b") == 40.0


def test_the_goodput_of_the_table_begins_after_20_s() -> None:
    full = round(GEO.rate_bit_per_s / 8)
    assert of_flow([full] * 20 + [full // 2] * 100).steady(GEO) == 50.0


def test_a_ramp_lasts_until_a_round_trip_has_brought_nine_tenths_and_begins_with_the_first_departure() -> (
    None
):
    # Seven intervals are a round trip; what arrives in interval 14 departed half a round trip before.
    full = GEO.product_bytes // 7
    brought = [0] * 14 + [full // 2] * 7 + [full] * 20
    # 0.9 of seven: six whole intervals and a half have to be among the last seven, at the end of interval 26.
    assert of_flow(brought, GEO.interval_s).ramp(GEO) == pytest.approx((27 - 14 + 3.5) / 7)
    assert of_flow(brought[:26], GEO.interval_s).ramp(GEO) == math.inf
    assert of_flow([0] * 40, GEO.interval_s).ramp(GEO) == math.inf


def test_a_change_is_over_when_a_second_has_brought_nine_tenths() -> None:
    run = of_flow([125] * 10 + [0] * 3 + [56, 57, 112, 125, 125], interval_s=0.5)
    # 1,000 bit/s: 112.5 bytes a second are nine tenths.
    assert run.recovered_s(1_000, 5.0, 4.0) == 2.5
    assert run.recovered_s(1_000, 5.0, 2.5) == 2.5
    assert run.recovered_s(1_000, 5.0, 2.0) == math.inf
    assert run.recovered_s(4_000, 5.0, 4.0) == math.inf


def test_what_was_repeated_beyond_the_losses_of_the_path_was_repeated_in_vain() -> None:
    run = RunFigures.of(flow_intervals({"data": [1, 1]}, again=12), links(queue_full=4, loss=3))
    assert (run.queue_losses, run.sent_again, run.needless, run.queue_mean_packets) == (4, 12, 5, 2.5)
    less = RunFigures.of(flow_intervals({"data": [1, 1]}, again=6), links(queue_full=4, loss=3))
    assert less.needless == 0


def test_fairness_is_jain_s_index_and_the_least_share_of_an_equal_one() -> None:
    run = RunFigures.of(flow_intervals({"a": [7] * 60 + [300] * 60, "b": [7] * 60 + [100] * 60}), links())
    index, least = run.fairness(8_000, 60.0)
    assert index == pytest.approx(0.8)
    assert least == pytest.approx(50.0)


def test_an_estimate_says_never_where_one_run_does_and_has_no_interval_where_all_runs_are_equal() -> None:
    assert estimate([3.0], exact=True) == Estimate.exact(3.0)
    assert estimate([3.0, math.inf]) == Estimate.exact(math.inf)
    assert estimate([3.0, 5.0]).mean == 4.0
    assert estimate([3.0, 5.0]).half_width > 0
    assert findings.slashed([Estimate.exact(96.44), Estimate.exact(math.inf)]) == "96.4 / never"


def figures_of(
    path: cases.Path, percent: float, *, ramp: int = 8, queue_losses: int = 0, needless: int = 0
) -> RunFigures:
    """Make a run of constant goodput that is reached in the round trip of that number."""
    width = round(path.round_trip_s / path.interval_s)
    delivered = np.full(round(cases.DURATION_S / path.interval_s), percent / 100 * path.product_bytes / width)
    delivered[: (ramp - 1) * width] = 1
    return RunFigures(path.interval_s, {"data": delivered}, queue_losses, 0, needless, 0.0)


class ByHand:
    """Observations of which each case has one run, made by a function of its name."""

    def __init__(self, run_of: Callable[[Sequence[str]], RunFigures]) -> None:
        self.run_of = run_of

    def estimate(self, case: str, of: Callable[[RunFigures], float], /) -> Estimate:
        return Estimate.exact(of(self.run_of(case.split("/"))))


AIMED = {"geo": {"0": 95.01, "1e-3": 94.01, "1e-2": 90.01}, "leo": {"0": 96.01, "1e-3": 95.01, "1e-2": 90.01}}


def at_the_aims(case: Sequence[str]) -> RunFigures:
    """Meet every aim with nothing to spare."""
    kind, *rest = case
    if kind == "table":
        path, _, profile, loss = rest
        lost = 100 if profile == "bbr" else 10
        return figures_of(cases.PATHS[path], AIMED[path][loss], ramp=7, queue_losses=lost)
    if kind == "sharing":
        return sharing(50, 50)
    return figures_of(GEO, 50.0)


def sharing(left: float, taken: float) -> RunFigures:
    second = LEO.rate_bit_per_s / 8 / 100
    shares = {"data": np.full(120, taken * second), "rival": np.full(120, left * second)}
    return RunFigures(1.0, shares, 0, 0, 0, 0.0)


def verdicts(run_of: Callable[[Sequence[str]], RunFigures]) -> dict[str, Verdict]:
    found = findings.findings(ByHand(run_of))
    return {finding.claim.number: finding.verdict for finding in found}


def missed(run_of: Callable[[Sequence[str]], RunFigures]) -> list[str]:
    return [number for number, verdict in verdicts(run_of).items() if verdict is Verdict.MISSED]


def test_runs_that_reach_every_aim_meet_them() -> None:
    assert verdicts(at_the_aims) == {f"L{number}": Verdict.MET for number in range(1, 16)}


def test_each_aim_is_missed_by_itself() -> None:
    def with_cell(cell: str, run: RunFigures) -> Callable[[Sequence[str]], RunFigures]:
        return lambda case: run if "/".join(case) == cell else at_the_aims(case)

    slow = figures_of(GEO, 93.9, ramp=7, queue_losses=10)
    assert missed(with_cell("table/geo/tcp/backlog/1e-3", slow)) == ["L1"]
    late = figures_of(LEO, 96.01, ramp=8, queue_losses=10)
    assert missed(with_cell("table/leo/tcp/backlog/0", late)) == ["L10"]
    lossy = figures_of(GEO, 90.01, ramp=7, queue_losses=11)
    assert missed(with_cell("table/geo/sctp/backlog/1e-2", lossy)) == ["L7"]
    twice = figures_of(LEO, 50.0, needless=1)
    assert missed(with_cell("reordering/leo/sctp/hybla", twice)) == ["L13"]
    # Others may miss what only the controller of choice is held to.
    assert missed(with_cell("table/leo/sctp/cubic/1e-2", slow)) == []


def left_less(how: cases.Sharing, controller: str, percent: float) -> Callable[[Sequence[str]], RunFigures]:
    """Leave a CUBIC flow so much in one place, and meet every aim with nothing to spare elsewhere."""
    there = cases.sharing(how, controller, "cubic").split("/")
    return lambda case: sharing(percent, 40) if list(case) == there else at_the_aims(case)


@pytest.mark.parametrize(
    ("controller", "how", "aims"),
    [
        ("backlog", cases.SHARINGS[0], ["L14"]),
        ("backlog", cases.SHARINGS_GEO[0], []),
        ("new-reno", cases.SHARINGS[0], ["L15"]),
        ("new-reno", cases.SHARINGS_GEO[0], ["L15"]),
        ("hybla", cases.SHARINGS[0], []),
    ],
)
def test_a_controller_is_worse_to_others_where_it_leaves_less_than_cubic_does(
    controller: str, how: cases.Sharing, aims: Sequence[str]
) -> None:
    assert missed(left_less(how, controller, 47.5)) == []
    assert missed(left_less(how, controller, 47.4)) == aims


def test_what_is_said_of_the_default_names_where_it_leaves_least() -> None:
    how = cases.SHARINGS[3]
    found = findings.findings(ByHand(left_less(how, "new-reno", 10.0)))[-1]
    assert found.ours == ("in 39 of 40, least 20% of it, TCP beside SCTP, queue 0.1, CUBIC")
    assert found.remark.startswith("there 10.0 % by NewReno, 50.0 % by CUBIC")
    others = findings.findings(ByHand(left_less(how, "hybla", 10.0)))[-2]
    assert "Hybla in 23 of 24, at worst 20% of it, TCP beside SCTP, queue 0.1, CUBIC" in others.remark
    assert others.ours == "Backlog in 24 of 24"


def test_the_table_of_a_path_has_the_aims_what_others_measured_and_every_profile() -> None:
    grid = tables.numbers(ByHand(at_the_aims), GEO)
    assert grid.rows[0] == ("aim", "", "≥ 95 / 94 / 90", "≤ 8", "a tenth of BBR's")
    assert ("Linux 6.18, TCP bbr, whole run", "", "86 / 88 / 84", "", "850 to 1,230") in grid.rows
    assert ("BBR", "SCTP", "95.0 / 94.0 / 90.0", "7.5 / 7.5 / 7.5", "100 / 100 / 100") in grid.rows
    assert len(grid.rows) == 7 + len(cases.TRANSPORTS) * len(cases.PROFILES)


def test_bursts_last_as_long_as_they_should_and_are_drawn_anew_for_each_run_and_direction() -> None:
    bursts = cases.every()[cases.bursts("geo", "tcp", "cubic")].bursts
    assert bursts is not None
    one, other = cases.every()[cases.bursts("geo", "tcp", "cubic")].scenarios(2)
    assert one.hash != other.hash
    script = bursts.script(0)
    assert script == bursts.script(0)
    directions = {
        name: [step for step in script if step["direction"] == name] for name in ("forward", "reverse")
    }
    assert directions["forward"][0]["at"] != directions["reverse"][0]["at"]
    assert script[0]["at"] != bursts.script(1)[0]["at"]
    assert [step["loss"] for step in directions["forward"][:4]] == ["100 %", "0 %"] * 2
    lengths_s = []
    for run in range(40):
        at_s = [int(str(step["at"]).split()[0]) / 1e6 for step in bursts.script(run)]
        lengths_s += [end - begin for begin, end in zip(at_s[::2], at_s[1::2], strict=True)]
    # Ten packets of 1.2 ms; the mean of some 8,000 exponential times has a deviation of 1.1 %.
    assert np.mean(lengths_s) == pytest.approx(0.012, rel=0.05)
    assert sum(lengths_s) / (40 * 2 * cases.DURATION_S) == pytest.approx(0.01, rel=0.05)


def test_every_case_has_a_scenario_without_a_warning_and_no_two_of_them_are_equal() -> None:
    scenarios: dict[str, Scenario] = {case.name: case.scenarios(1)[0] for case in cases.every().values()}
    # Each case uses one of the profiles of the file.
    doubts = {
        name: [doubt for doubt in scenario.warnings if "is used by nothing" not in str(doubt)]
        for name, scenario in scenarios.items()
    }
    assert [name for name, told in doubts.items() if told] == []
    assert len({scenario.hash for scenario in scenarios.values()}) == len(scenarios)


def test_cases_have_runs_in_the_ratio_of_the_study_and_one_where_nothing_is_drawn() -> None:
    def count(runs: int, case: str) -> int:
        return runs_of(cases.every()[case], runs)

    assert count(5, cases.table("geo", "tcp", "bbr", "1e-2")) == 5
    assert count(10, cases.table("geo", "tcp", "bbr", "0")) == 1
    assert count(5, cases.reordering("geo", "tcp", "bbr")) == 3
    assert count(1, cases.reordering("geo", "tcp", "bbr")) == 1
    over_leo, over_geo = cases.SHARINGS[0], cases.SHARINGS_GEO[0]
    assert [count(5, cases.sharing(over_leo, each, "cubic")) for each in cases.CONTROLLERS] == [
        10,
        10,
        3,
        3,
        3,
        3,
    ]
    assert count(5, cases.sharing(over_geo, "new-reno", "cubic")) == 3


def test_every_run_is_planned_once() -> None:
    planned = [(name, job.run) for name, job in plan(2, None)]
    assert len(planned) == len(set(planned))
    assert len(planned) == sum(runs_of(case, 2) for case in cases.every().values())


def test_a_short_run_of_the_study_is_read_as_it_was_made() -> None:
    case = cases.every()[cases.table("geo", "sctp", "backlog", "0")]
    output = run_job(Job(case.scenarios(1)[0].with_values({"scenario.duration": "8 s"})))
    results = Results(1, None)
    made = {name: pa.table(output.tables[name]) for name in Results.TABLES}
    results.add(case.name, 0, Record(output.digest, made))
    (run,) = results.figures(case.name)
    assert run.interval_s == 0.08
    assert run.goodput(GEO.rate_bit_per_s, 6.72, 8.0) == pytest.approx(96.8, abs=0.1)
    assert 4.0 < run.ramp(GEO) < 10.0
    assert (run.queue_losses, run.needless) == (0, 0)


@pytest.mark.parametrize("path", [GEO, LEO])
def test_a_flow_over_far_hosts_has_the_longer_round_trip(path: cases.Path) -> None:
    how = next(how for how in cases.SHARINGS_OF[path.name] if how.far == "own")
    case = cases.every()[cases.sharing(how, "bbr", "cubic")]
    output = run_job(Job(case.scenarios(1)[0].with_values({"scenario.duration": "15 s"})))
    intervals = pa.table(output["flow_intervals"]).to_pylist()
    least = {
        flow: min(row["srtt_s"] for row in intervals if row["flow"] == flow and row["srtt_s"])
        for flow in ("data", "rival")
    }
    assert path.far_round_trip_s <= least["data"] < 2 * path.far_round_trip_s
    assert path.round_trip_s <= least["rival"] < 2.4 * path.round_trip_s


def test_shares_count_until_the_end_of_a_run() -> None:
    for how in (*cases.SHARINGS, *cases.SHARINGS_GEO):
        case = cases.every()[cases.sharing(how, "bbr", "cubic")]
        assert f'duration = "{how.path.shared_s[1]:g} s"' in case.scenarios(1)[0].merged()


@cache
def made_by_hand(interval_s: float, flows: tuple[str, ...]) -> dict[str, pa.Table]:
    """Make a run in which each flow brings 7.2 Mbit/s."""
    count = round(cases.DURATION_S / interval_s)
    delivered = {flow: [round(900_000 * interval_s)] * count for flow in flows}
    return {
        "flow_intervals": flow_intervals(delivered, again=3, interval_s=interval_s),
        "link_intervals": link_intervals(count),
        "links": links(loss=3),
    }


def test_everything_is_written(tmp_path: Path) -> None:
    results = Results(1, None)
    for name in cases.every():
        kind, path, *_ = name.split("/")
        interval_s = cases.PATHS[path].interval_s if kind == "table" else 0.2
        flows = ("data", "rival") if kind == "sharing" else ("data",)
        results.add(name, 0, Record("d", made_by_hand(interval_s, flows)))
    table, files = write(tmp_path / "one", results)
    assert table.splitlines()[0].split()[:2] == ["claim", "aim"]
    names = {file.name for file in files}
    drawn = ("goodput", "courses", "ramps", "changes", "shares")
    assert {f"{name}.{kind}" for name in drawn for kind in ("png", "svg")} < names
    assert {
        "claims.txt",
        "report.html",
        "numbers-geo.txt",
        "shares-cubic.txt",
        "shares-geo-cubic.txt",
    } < names
    pages = {file.stem: file.read_text(encoding="utf-8") for file in files if file.suffix == ".md"}
    assert set(pages) == set(cases.CONTROLLERS)
    assert "| TCP | 72.0 / 72.0 ± ? / 72.0 ± ? | never / never / never | 0 / 0 ± ? / 0 ± ? |" in pages["bbr3"]
    assert "| setting | BBRv3 |" in pages["bbr3"]
    assert not any(label in pages["bbr3"] for label in ("| Hybla", "Linux", "| BBR |"))
    html = (tmp_path / "one" / "report.html").read_text(encoding="utf-8")
    assert html.count("<figure>") == len(drawn)
    assert "an aim that agrees is met" in html
    assert '<td role="cell" class="differs" data-label="verdict"><span>missed</span></td>' in html
    assert '<td role="cell" class="undecided" data-label="verdict"><span>undecided' in html
    assert (tmp_path / "one" / "changes.txt").read_text(encoding="utf-8").startswith("| controller |")
    # 72 % of 10 Mbit/s in every second.
    rows = (tmp_path / "one" / "numbers-geo.txt").read_text(encoding="utf-8")
    assert "| Hybla | TCP | 72.0 / 72.0 ± ? / 72.0 ± ? | never / never / never | 0 / 0 ± ? / 0 ± ? |" in rows


def test_lines_of_a_figure_are_told_apart_without_colour() -> None:
    rounds = {
        (transport, profile): np.arange(20.0) for transport in cases.TRANSPORTS for profile in cases.PROFILES
    }
    for axes in figures.ramps(rounds).axes:
        lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
        looks = {(str(line.get_linestyle()), line.get_marker()) for line in lines}
        assert len(lines) == len(looks) == len(cases.PROFILES)


def test_a_round_trip_of_a_ramp_is_counted_from_the_first_arrival() -> None:
    full = LEO.product_bytes
    delivered = np.array([0, 0, 0, full / 4, full / 4, *[full / 2] * 50])
    rounds = figures.by_round_trip(delivered, LEO.interval_s, LEO)
    assert rounds.tolist() == [50.0, *[100.0] * 19]
