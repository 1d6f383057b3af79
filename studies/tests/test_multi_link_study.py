"""The study of several links, its scenario and its command."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from slantpath.files import locked
from slantpath_studies import command, multi_link
from slantpath_studies.multi_link import cases
from slantpath_studies.multi_link.findings import PAPER, SCENARIO
from slantpath_studies.multi_link.runs import DURATION_S

if TYPE_CHECKING:
    from pathlib import Path


def test_the_study_knows_the_numbers_of_its_scenario() -> None:
    merged = tomllib.loads(cases.scenario().merged())
    assert merged["scenario"]["duration"] == f"{DURATION_S:.0f} s"
    satellite, backup = merged["links"]["satellite"], merged["links"]["terrestrial"]
    assert satellite["forward"]["delay"] == f"{SCENARIO.satellite_delay_s * 1e3:.0f} ms"
    assert satellite["forward"]["loss"] == satellite["reverse"]["loss"] == "0.01"
    assert backup["forward"]["delay"] == f"{SCENARIO.backup_delay_s * 1e3:.0f} ms"
    assert backup["forward"]["rate"] == f"{SCENARIO.backup_rate_bit_per_s / 1e3:.0f} kbit/s"
    application = merged["flows"]["data"]["application"]
    assert application["message_size"] == f"{SCENARIO.message_bits / 8e3:.0f} kB"
    assert application["rate"] == f"{SCENARIO.message_bits / SCENARIO.message_interval_s / 1e3:.0f} kbit/s"


def test_the_paper_s_formulas_give_the_paper_s_numbers() -> None:
    assert round(PAPER.tcp_bound_s() * 1e3) == 870
    assert PAPER.standard_bound_s() * 1e3 == pytest.approx(708, abs=0.6)
    assert PAPER.modified_bound_s() * 1e3 == pytest.approx(483, abs=0.6)


def test_the_study_writes_everything_and_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["multi-link", "--runs", "2", "--out", str(tmp_path)]
    assert command.main(arguments) == command.DONE
    first = capsys.readouterr()
    assert " s.\n" in first.err
    assert "found finished" not in first.err
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert f" take {written / 1e6:.0f} MB.\n" in first.err
    for number in range(1, 10):
        assert f"\nM{number} " in first.out
    for name in (
        "messages.parquet",
        "messages.csv",
        "report.html",
        "claims.txt",
        "figure-07.png",
        "figure-10.svg",
    ):
        assert (tmp_path / name).stat().st_size > 0
        assert name in first.out
    for link in ("satellite", "terrestrial"):
        assert (tmp_path / f"sctp-modified-{link}.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    report = (tmp_path / "report.html").read_bytes()
    figures = {path: path.read_bytes() for path in tmp_path.glob("figure-*")}
    assert len(figures) > 4
    for path in figures:
        path.unlink()

    # An interrupted study: two runs are lost, one is damaged.
    (tmp_path / "runs" / "sctp" / "000.json").unlink()
    (tmp_path / "runs" / "tcp" / "001-messages.parquet").write_bytes(b"PAR1")
    kept = (tmp_path / "runs" / "sctp" / "001-messages.parquet").stat().st_mtime_ns
    assert command.main(arguments) == command.DONE
    second = capsys.readouterr()
    assert second.out == first.out
    assert " found finished.\n" in second.err
    assert (tmp_path / "report.html").read_bytes() == report
    assert {path: path.read_bytes() for path in tmp_path.glob("figure-*")} == figures
    assert (tmp_path / "runs" / "sctp" / "001-messages.parquet").stat().st_mtime_ns == kept


def test_the_study_s_plan_has_all_runs_of_every_case() -> None:
    plan = multi_link.plan(20, None)
    assert [case for case, _ in plan].count(cases.STANDARD) == 20
    assert [case for case, _ in plan].count(cases.TCP_BULK) == 1
    assert len({(case, job.run) for case, job in plan}) == len(plan)


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--seed", "-1", "-1 is no whole number from 0 to 18446744073709551615"),
        ("--seed", "18446744073709551616", "is no whole number"),
        ("--seed", "x", "x is no whole number"),
        ("--runs", "0", "0 is no whole number from 1 to 10000"),
        ("--runs", "1000000000", "is no whole number"),
        ("--jobs", "100000", "is no whole number"),
    ],
)
def test_a_number_that_means_nothing_is_refused(
    option: str, value: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(["multi-link", f"{option}={value}"])
    assert caught.value.code == command.MISUSED
    assert told in capsys.readouterr().err


def test_a_wrong_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(["multi-lin"])
    assert caught.value.code == command.MISUSED
    assert "multi-link" in capsys.readouterr().err
    assert command.main([]) == command.DONE
    assert "multi-link" in capsys.readouterr().out


def test_a_directory_that_another_command_writes_into_is_refused(tmp_path: Path) -> None:
    with locked(tmp_path):
        assert command.main(["multi-link", "--out", str(tmp_path)]) == command.MISUSED
