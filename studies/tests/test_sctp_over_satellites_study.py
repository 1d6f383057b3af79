"""The study of SCTP over satellites: placements, what is taken from tables, claims, and a few of its runs."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from slantpath import Scenario, Table
from slantpath.running import run_job
from slantpath.store import Record
from slantpath_studies import command
from slantpath_studies.claims import Verdict
from slantpath_studies.sctp_over_satellites import cases, figures, switches, tables
from slantpath_studies.sctp_over_satellites.findings import findings
from slantpath_studies.sctp_over_satellites.measures import RunFigures
from slantpath_studies.sctp_over_satellites.output import write
from slantpath_studies.sctp_over_satellites.placements import Ground, Placement, Sky, flows, nearest_slot
from slantpath_studies.sctp_over_satellites.runs import Results, plan, runs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


def table(name: str, columns: Sequence[tuple[str, str, Iterable[object]]]) -> pa.Table:
    return pa.table(Table.of(name, columns))


def test_a_placement_is_drawn_of_seed_and_number_alone_and_fewer_pairs_are_its_first() -> None:
    first = Placement.drawn(0, None)
    assert first == Placement.drawn(0, 1)
    assert first != Placement.drawn(1, None)
    assert first != Placement.drawn(0, 2)
    assert (first.pairs[0][0].latitude_deg, first.pairs[0][0].longitude_deg) == (59.71, -42.74)
    places = [place for pair in first.pairs for place in pair]
    assert len(places) == 80
    assert all(-40 <= place.latitude_deg <= 70 for place in places)
    north = Placement.drawn(0, None, cases.NORTH_DEG)
    assert all(50 <= place.latitude_deg <= 70 for pair in north.pairs for place in pair)
    assert list(first.terminals(2)) == list(first.terminals(3))[:4]


def test_figures_9_and_10_and_claim_n4_have_as_many_placements_as_were_asked_for_or_more() -> None:
    every = cases.every(cases.FULL)

    def placements(sky: Sky, rate: str, where: str) -> int:
        return runs_of(every[cases.throughput(sky, rate, where)], 40, cases.FULL)

    two, one = Sky.TWO_ANTENNAS, Sky.IRIDIUM
    assert [placements(two, rate, cases.PER_PATH) for rate in ("1e-6", "1e-5")] == [40, 120]
    assert [placements(one, rate, cases.PER_PATH) for rate in ("1e-6", "1e-5")] == [40, 40]
    assert [placements(one, rate, cases.PER_LINK) for rate in ("1e-6", "1e-5")] == [40, 200]
    loads = [runs_of(every[cases.backup(10, rate)], 40, cases.FULL) for rate in ("1e-5", "1e-4")]
    assert loads == [40, 160]
    assert runs_of(every[cases.BACKUP_AFTER_TIMEOUTS], 40, cases.FULL) == 160
    assert placements(Sky.SUPPLEMENTED, "1e-4", cases.PER_PATH) == 160
    assert runs_of(every[cases.BACKUP_BY_BYTES], 40, cases.FULL) == 40

    def streams(count: int, segments: int, rate: str) -> int:
        return runs_of(every[cases.streams(Sky.GEO, count, segments, rate)], 40, cases.FULL)

    assert [streams(count, 8, "1e-5") for count in (1, 2, 4)] == [40, 6, 40]
    assert [streams(4, segments, "1e-5") for segments in (4, 8, 16, 40)] == [6, 40, 6, 40]
    assert [streams(1, 40, rate) for rate in ("1e-6", "1e-5", "1e-4")] == [6, 40, 40]
    assert runs_of(every[cases.streams(Sky.IRIDIUM, 1, 4, "1e-5")], 2, cases.FULL) == 2


def test_terminals_take_the_geostationary_satellite_that_is_nearest_in_longitude() -> None:
    longitudes = (-179.0, -149.0, -31.0, -29.0, 89.0, 91.0)
    slots = ("geo-east", "geo-west", "geo-west", "geo-middle", "geo-middle", "geo-east")
    assert tuple(map(nearest_slot, longitudes)) == slots
    assert Sky.SUPPLEMENTED.antennas(100.0) == [
        {"constellation": "iridium"},
        {"constellation": "geo-east", "min_elevation": "0 deg"},
    ]


def test_a_mask_is_the_least_elevation_of_all_but_geostationary_satellites() -> None:
    def ground_of_topology(mask_deg: float | None) -> object:
        ground = Ground(Sky.IRIDIUM, 1, mask_deg=mask_deg)
        text = Placement.drawn(0, None).topology(ground.sky, ground.pairs, ground.topology)
        return tomllib.loads(text)["ground"]["min_elevation"]

    assert [ground_of_topology(mask) for mask in (None, 0.0)] == ["8.2 deg", "0 deg"]
    masks = {case.mask_deg for case in cases.every(cases.FULL).values() if case.name.startswith("low-mask/")}
    assert masks == {cases.LOW_MASK_DEG}


def test_the_primary_path_is_that_of_the_first_antenna() -> None:
    def primary(sky: Sky) -> object:
        flow = flows(sky, 1, {})["pair-00"]
        assert isinstance(flow, dict)
        return flow["primary"]

    assert [primary(sky) for sky in (Sky.IRIDIUM, Sky.SUPPLEMENTED)] == ["sky.sink-00", "sky.sink-00.1"]


def test_a_run_is_read_off_its_tables() -> None:
    ends = [f"source-00.{antenna}" for antenna in (1, 2, 2)] + [f"sink-00.{antenna}" for antenna in (2, 1, 1)]
    figures_of_run = RunFigures.of(
        table(
            "flows",
            [
                ("flow", "text", ["pair-00", "pair-01"]),
                ("throughput_bit_per_s", "f64", [2_000.0, None]),
                ("failure", "text", [None, "the peer does not answer"]),
                ("connected_s", "f64", [1.0, 1.5]),
                ("ended_s", "f64", [4.0, None]),
            ],
        ),
        table(
            "links",
            [
                ("link", "text", [f"sky.{end}" for end in ends]),
                ("direction", "text", ["forward", "forward", "reverse", "forward", "forward", "reverse"]),
                ("carried_bytes", "u64", [9_000, 500, 70, 6, 30, 8_000]),
            ],
        ),
        table(
            "sky_paths",
            [
                ("at_s", "f64", [0.0, 0.0, 30.0, 40.0]),
                ("flow", "text", ["pair-00", "pair-00", "pair-00", "pair-00"]),
                ("link", "text", ["sky.sink-00.1", "sky.sink-00.2", "sky.sink-00.1", "sky.sink-00.1"]),
                ("propagation_s", "f64", [0.1, 0.25, None, 0.2]),
            ],
        ),
        40.0,
        100.0,
    )
    assert figures_of_run.mean_bit_per_s == 1_000.0
    assert figures_of_run.failed == 1
    np.testing.assert_equal(figures_of_run.transfer_s, [3.0, np.nan])
    assert figures_of_run.backup_bit_per_s == 500 * 8 / 60
    assert figures_of_run.returned_bit_per_s == 36 * 8 / 60
    assert figures_of_run.returned_share == 36 * 8 / 60 / 2_000
    # 30 s of 0.1 s one way, none for 10 s, and 60 s of 0.2 s.
    np.testing.assert_allclose(figures_of_run.round_trip_s, [2 * (30 * 0.1 + 60 * 0.2) / 90, np.nan])


def one_run(
    bit_per_s: float, backup_bit_per_s: float = 0.0, transfer_s: float = 1.0, returned_bit_per_s: float = 0.0
) -> RunFigures:
    each = np.full(3, bit_per_s)
    trips = np.array([0.05, 0.1, 0.2])
    return RunFigures(each, 0, np.full(3, transfer_s), backup_bit_per_s, returned_bit_per_s, trips)


PUBLISHED: Mapping[Sky, Mapping[str, float]] = {
    Sky.IRIDIUM: {"1e-9": 800, "1e-6": 500, "1e-5": 150, "1e-4": 2},
    Sky.SUPPLEMENTED: {"1e-9": 790, "1e-6": 300, "1e-5": 140, "1e-4": 30},
    Sky.TWO_ANTENNAS: {"1e-9": 810, "1e-6": 550, "1e-5": 200, "1e-4": 4},
}


class AsPublished(Results):
    """Runs that are as the paper has them, but for what a test changes."""

    def __init__(self, of: Callable[[cases.Case, RunFigures], RunFigures] = lambda _, run: run) -> None:
        super().__init__(2, None, cases.QUICK)
        for name, case in cases.every(cases.QUICK).items():
            self._figures[name] = {run: of(case, as_published(case)) for run in range(2)}


def as_published(case: cases.Case) -> RunFigures:
    kind, *_, rate = case.name.split("/")
    if case.name in {cases.BACKUP_BY_BYTES, cases.ALONE_BY_BYTES}:
        return one_run(1e3, 30 * 7.5e3)
    if case.name == cases.BACKUP_AFTER_TIMEOUTS:
        return one_run(1e3, 30 * 6e3)
    if kind == "setting":
        settings = {switch.without for switch in switches.SWITCHES if switch.is_recommended}
        good = case.name.rsplit("/", 1)[1] not in settings - {"paper"}
        better = case.name.endswith("limit-2")
        return one_run(1e3 * (1 + good + better))
    if kind == "streams":
        count, segments = case.name.split("/")[2:4]
        helps = segments == "8" and float(rate) >= 1e-5 and count != "1"
        return one_run(1e3 * (1 + helps))
    load = 30 * 10e3 if rate == "1e-4" else 1.0
    return one_run(1e3 * PUBLISHED[case.sky][rate], load)


def test_what_explains_n1d_and_n2_is_said_beside_them() -> None:
    def changed(case: cases.Case, run: RunFigures) -> RunFigures:
        if case.name == cases.ALONE_BY_BYTES:
            return one_run(2e3)
        if case.name == cases.low_mask(Sky.TWO_ANTENNAS, "1e-5"):
            return one_run(75e3)
        return run

    reasons = {finding.claim.number: finding.remark for finding in findings(AsPublished(changed))}
    assert "with 0.50 of the throughput of Iridium alone" in reasons["N2"]
    assert "10.0 at 1e-4; 6.0 there with what ns-2 sends behind a time-out" in reasons["N2"]
    assert "0.50 (1e-5), and with such" in reasons["N1d"].split("down to the horizon ")[1]


def test_the_paper_s_numbers_agree() -> None:
    found = findings(AsPublished())
    assert [finding.claim.number for finding in found] == [
        *("N1a", "N1b", "N1c", "N1d", "N2", "N3a", "N3b", "N4", "N5")
    ]
    assert {finding.claim.number for finding in found if finding.verdict is not Verdict.AGREES} == set()


@pytest.mark.parametrize(
    ("prefix", "factor", "claims"),
    [
        ("throughput/path/supplemented/1e-9", 0.8, {"N1a"}),
        ("throughput/path/supplemented/1e-6", 2.0, {"N1b"}),
        ("throughput/path/supplemented/1e-4", 0.1, {"N1c"}),
        ("throughput/path/two-antennas/1e-5", 0.5, {"N1d"}),
        ("streams/iridium/4/8/1e-9", 1.1, {"N3a"}),
        ("streams/geo/4/8/1e-5", 0.4, {"N3b", "N4"}),
        ("streams/geo/4/40/1e-5", 1.5, {"N4"}),
        ("setting/", 1.0, set()),
    ],
)
def test_each_claim_is_held_against_its_own_runs(prefix: str, factor: float, claims: set[str]) -> None:
    def change(case: cases.Case, run: RunFigures) -> RunFigures:
        if not case.name.startswith(prefix):
            return run
        return one_run(run.mean_bit_per_s * factor, run.backup_bit_per_s)

    found = findings(AsPublished(change))
    assert {finding.claim.number for finding in found if finding.verdict is not Verdict.AGREES} == claims


def test_a_backup_that_carries_twice_what_the_paper_has_differs() -> None:
    def change(_: cases.Case, run: RunFigures) -> RunFigures:
        return one_run(run.mean_bit_per_s, 2 * run.backup_bit_per_s)

    found = {finding.claim.number: finding for finding in findings(AsPublished(change))}
    assert found["N2"].verdict is Verdict.DIFFERS
    assert found["N2"].ours == "20.0 kbit/s"
    assert "where that is the chance that a byte is wrong, and not a bit, 15.0" in found["N2"].remark


def test_a_feature_without_a_certain_gain_is_named() -> None:
    def change(case: cases.Case, run: RunFigures) -> RunFigures:
        return one_run(1e3) if case.name.startswith("setting/") else run

    found = {finding.claim.number: finding for finding in findings(AsPublished(change))}
    assert (found["N5"].ours, found["N5"].verdict) == ("2 of 8", Verdict.DIFFERS)
    assert "fast retransmit" in found["N5"].remark


def test_a_transfer_that_takes_half_the_time_has_twice_the_pace() -> None:
    fast, slow = one_run(1e3, transfer_s=2.0), one_run(1e3, transfer_s=4.0)
    pace = switches.measure(cases.TRANSFER)
    assert (pace(fast), pace(slow)) == (0.5, 0.25)
    assert switches.measure(cases.UNLIMITED)(slow) == 1e3
    unfinished = one_run(1e3, transfer_s=np.nan)
    assert pace(unfinished) == 0.0


def test_the_bias_is_the_exponent_of_the_round_trip() -> None:
    def change(_: cases.Case, run: RunFigures) -> RunFigures:
        trips = np.array([0.05, 0.1, 0.2])
        return RunFigures(1e4 / trips, 0, trips, run.backup_bit_per_s, 0.0, trips)

    grids = dict(tables.grids(AsPublished(change)))
    assert grids["round-trips"].rows[0] == ("1e-9", "-1.00", "4.00")


def test_what_sinks_send_is_told_for_what_they_deliver() -> None:
    def change(case: cases.Case, run: RunFigures) -> RunFigures:
        is_each = case.name.endswith("/unlimited/sack-each")
        return one_run(run.mean_bit_per_s, returned_bit_per_s=run.mean_bit_per_s * (0.3 if is_each else 0.15))

    rows = dict(tables.grids(AsPublished(change)))["returned"].rows
    assert rows == [("for every second packet", *["5.00"] * 4), ("for each packet", *["10.00"] * 4)]


def test_another_choice_stands_as_a_ratio_to_what_is_studied() -> None:
    def change(case: cases.Case, run: RunFigures) -> RunFigures:
        return one_run(run.mean_bit_per_s / 2) if case.name.startswith("variant/threshold-4") else run

    rows = {row[0]: row[1:] for row in dict(tables.grids(AsPublished(change)))["variants"].rows}
    assert rows["as studied"][0] == "500.0"
    about, _ = cases.VARIANTS["threshold-4"]
    assert set(rows.pop(about)) == {"0.50"}
    assert {cell for about, row in rows.items() if about != "as studied" for cell in row} == {"1.00"}


def test_every_line_of_the_figures_has_its_places() -> None:
    results = AsPublished()
    (_, places, estimates), *_ = figures.throughput_lines(results, cases.PER_PATH)
    assert places == [1e-9, 1e-6, 1e-5, 1e-4]
    assert [estimate.mean for estimate in estimates] == [8e5, 5e5, 1.5e5, 2e3]
    assert [line[0] for line in figures.buffer_lines(results, Sky.GEO)] == [
        "s = 1, ε = 1e-5",
        "s = 4, ε = 1e-5",
    ]


def test_the_study_writes_its_claims_figures_tables_and_a_scenario_of_each_configuration(
    tmp_path: Path,
) -> None:
    told, files = write(tmp_path, AsPublished())
    assert told.count("agrees") == 9
    names = [file.relative_to(tmp_path).as_posix() for file in files]
    assert [name for name in names if name.endswith(".png")] == [
        f"figure-{number:02}.png" for number in range(9, 15)
    ]
    assert [name for name in names if name.startswith("placement-0/")] == [
        f"placement-0/{sky}/{name}.toml" for sky in Sky for name in ("sky", "scenario")
    ]
    again = Scenario.load(tmp_path / "placement-0" / "geo" / "scenario.toml")
    assert again.hash in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "switches.txt").read_text(encoding="utf-8").count("| recommended |") == 8


def test_a_backup_is_measured_where_there_is_something_to_back_up() -> None:
    rows = {row[0]: row[2:] for row in dict(tables.grids(AsPublished()))["switches"].rows}
    geo = [environment.sky is Sky.GEO for environment in cases.ENVIRONMENTS.values()]
    assert [cell == "–" for cell in rows[switches.MULTIHOMING.feature]] == 2 * geo
    assert all("–" not in cells for name, cells in rows.items() if name != switches.MULTIHOMING.feature)
    backed_up = cases.every(cases.FULL)[cases.setting("backed-up", "iridium-clear", cases.UNLIMITED)]
    assert backed_up.sky is Sky.SUPPLEMENTED


def test_quick_is_for_studies_that_have_a_quick_form(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["multi-link", "--quick"])
    assert "--quick is for ftp-qos, mixed-traffic, sctp-over-satellites" in capsys.readouterr().err


def test_every_scenario_of_the_study_is_right_and_a_few_of_its_runs_bear_it_out() -> None:
    # Of a case with more placements than one the first.
    planned = dict(reversed(plan(1, None, cases.QUICK)))
    assert set(planned) == set(cases.every(cases.QUICK))
    wanted = [cases.throughput(sky, "1e-4") for sky in cases.CONFIGURATIONS]
    results = Results(1, None, cases.QUICK)
    for case in [*wanted, cases.setting("tcp-each", "geo-clear", cases.TRANSFER)]:
        job = planned[case]
        output = run_job(job)
        record = Record(output.digest, {name: pa.table(output.tables[name]) for name in Results.TABLES})
        results.add(case, job.run, record)
    alone, backed, twice = (results.figures(case)[0] for case in wanted)
    # At this rate a packet in three is damaged on Iridium, and one in 200 over GEO.
    assert backed.mean_bit_per_s > 3 * alone.mean_bit_per_s
    assert twice.mean_bit_per_s < backed.mean_bit_per_s
    assert alone.backup_bit_per_s == 0.0
    assert backed.backup_bit_per_s > 5e3 * cases.PAIRS
    assert alone.round_trip_s.tolist() == backed.round_trip_s.tolist()
    # The first antenna is at times late to take over what the second holds.
    np.testing.assert_allclose(twice.round_trip_s, alone.round_trip_s, rtol=0.2)
    assert not np.isnan(alone.round_trip_s).any()
    transfer = results.figures(cases.setting("tcp-each", "geo-clear", cases.TRANSFER))[0]
    assert transfer.transfer_s.min() > 6 * transfer.round_trip_s.min()
