"""The gateways of the trial as programs: cases, intervals and tables, and a lab of a few seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from slantpath_studies import command
from slantpath_studies.soip.live import FULL, QUICK, cases, labs, runs
from slantpath_studies.soip.live.output import write
from slantpath_studies.soip.live.runs import Interval, LiveFigures, Results

if TYPE_CHECKING:
    from pathlib import Path


def test_ten_cases_have_a_lab_for_programs_and_the_network_between_them() -> None:
    names = [case.name for case in cases.FULL]
    assert len(names) == len(set(names)) == 10
    for case in (*cases.FULL, *cases.QUICK):
        lab, network = case.scenario().merged(), case.network().merged()
        assert "[signalling.links.trunk]" in lab
        assert "signalling" not in network
        assert network.count('kind = "attached"') == len(labs.NODES)
        # What stands between the terminals is the same.
        own = [
            "\n".join(part for part in text.split("\n[") if part.startswith(("links.satellite", "wan_em")))
            for text in (lab, network)
        ]
        assert own[0]
        assert own[0] == own[1]
    assert len(FULL.plan(20, None)) == 200
    assert FULL.RUNS == 20


def test_a_prediction_interval_is_wider_than_that_of_the_mean_and_has_one_run_more() -> None:
    # Of 1 to 5: deviation 1.5811, t of 0.975 with 4 degrees 2.7764, and the root of 1 + 1/5.
    interval = Interval.of([1, 2, 3, 4, 5])
    assert interval.mean == 3
    assert interval.high - 3 == pytest.approx(2.7764 * 1.5811 * 1.0954, rel=1e-4)
    assert interval.low == pytest.approx(6 - interval.high)
    assert Interval.of([1]).high == float("inf")


def _figures(case: cases.LiveCase, delivered: list[int], begun_s: float = 0) -> LiveFigures:
    loads = [pa.table({"sent_messages": [100, 100], "delivered_messages": delivered})]
    starts = [float(at) for at in range(int(case.duration_s))]
    is_loaded = [case.start_s + begun_s <= at < case.case.stop_s + begun_s for at in starts]
    # A tester's first packets come with its program; its link's other direction says nothing of that.
    testers = [(link, way) for link in runs.TESTERS for way in ("forward", "reverse")]
    early = [way == "reverse" for _, way in testers]
    intervals = pa.table(
        {
            "link": ["satellite"] * len(starts) + [link for link, _ in testers for _ in (0, 1)],
            "direction": ["forward"] * len(starts) + [way for _, way in testers for _ in (0, 1)],
            "start_s": [*starts, *(at for _ in testers for at in (0.0, begun_s))],
            # Nothing before the load, and 125,000 bytes a second with it: with frames 1,144 kbit/s.
            "carried_bytes": [125_000 * loaded for loaded in is_loaded] + [0] * 2 * len(testers),
            "carried_packets": [1_000 * loaded for loaded in is_loaded]
            + [packets for is_early in early for packets in (int(is_early), 1)],
        }
    )
    return LiveFigures.of(case, loads, intervals)


def test_what_is_lost_and_the_band_are_those_under_load() -> None:
    figures = _figures(cases.FULL[0], [90, 70])
    assert figures.lost_percent == pytest.approx(20)
    assert figures.band_kbit == pytest.approx(1_144)
    # Programs that start three seconds late have their load so much later.
    assert _figures(cases.FULL[0], [90, 70], 3).band_kbit == pytest.approx(1_144)


def test_the_table_says_what_lies_in_its_interval_and_what_is_void(tmp_path: Path) -> None:
    first, second, third = cases.FULL[:3]
    results = Results((first, second, third), 3, None)
    for case in (first, second, third):
        results.made[case.name] = {run: LiveFigures(10 + run / 10, 1_000 + run) for run in range(3)}
    results.live = {first.name: LiveFigures(10.2, 1_001, 3.25), second.name: LiveFigures(12, 1_001)}
    results.void = {second.name}
    table, files = write(tmp_path, results)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert [row[-1] for row in rows] == ["both", "band; void: the emulation was late", "not run"]
    assert rows[0][1:4] == ["no congestion", "10.1 (9.6 to 10.6) %", "10.2 %"]
    assert [row[6] for row in rows] == ["3.2 ms", "0.0 ms", "–"]
    assert {file.name for file in files} == {"live.md", "report.html"}


def test_a_lab_is_found_again_only_if_it_was_in_time_and_is_the_same(tmp_path: Path) -> None:
    (case,) = cases.QUICK
    assert labs.finished(tmp_path, case) is None
    directory = tmp_path / case.name
    directory.mkdir(parents=True)
    (directory / "done.json").write_text(json.dumps({"key": "another"}))
    assert labs.finished(tmp_path, case) is None
    # The stamp is right, and the tables are gone.
    (directory / "done.json").write_text(json.dumps({"key": labs.key_of(case)}))
    assert labs.finished(tmp_path, case) is None


def test_other_studies_have_no_programs(capsys: pytest.CaptureFixture[str]) -> None:
    for words, told in (
        (["failover", "--live"], "--live is for soip"),
        (["soip", "--quick"], "--quick is for"),
    ):
        with pytest.raises(SystemExit):
            command.main(words)
        assert told in capsys.readouterr().err


def test_programs_over_an_emulated_network_give_a_table_that_is_found_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = [sys.executable, "-m", "slantpath", "emulate", "--", "true"]
    ended = subprocess.run(trial, capture_output=True, check=False)  # noqa: S603 - our own program
    if sys.platform != "linux" or ended.returncode:
        pytest.skip("no emulation can be made here")
    words = ["soip", "--live", "--quick", "--out", str(tmp_path)]
    assert command.main(words) == command.DONE, capsys.readouterr().err
    first = capsys.readouterr()
    assert "labs of programs" in first.err
    row = [cell.strip() for cell in first.out.splitlines()[3].strip("|").split("|")]
    assert row[:2] == ["S5 in short", "nothing"]
    assert row[3].endswith("%")
    assert float(row[5].removesuffix(" kbit/s")) > 0
    assert float(row[6].removesuffix(" ms")) > 0
    if "void" not in row[-1]:
        assert command.main(words) == command.DONE
        again = capsys.readouterr()
        assert "labs of programs" not in again.err
        assert again.out == first.out
    assert QUICK.RUNS == 3
