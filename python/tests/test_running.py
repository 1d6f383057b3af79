"""Runs from Python: equal for equal inputs, on any executor, while other threads go on."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from test_scenario import SMALL

import slantpath
from slantpath import Job, RunError, Scenario
from slantpath.studies import command, multi_link
from slantpath.studies.multi_link import cases

if TYPE_CHECKING:
    from collections.abc import Callable

GRID: dict[str, list[Any]] = {"links.wire.loss": ["0 %", "5 %"], "flows.data.streams": [1, 2]}


@pytest.fixture
def small() -> Scenario:
    return Scenario.parse(SMALL)


def test_equal_runs_are_equal_and_others_are_not(small: Scenario) -> None:
    lossy = small.with_values({"links.wire.loss": "5 %"})
    one, same = (slantpath.run(lossy, run=3) for _ in range(2))
    assert one.digest == same.digest
    assert one.tables == same.tables
    assert slantpath.run(lossy, run=4).digest != one.digest
    assert slantpath.run(lossy, run=3, seed=99).digest != one.digest
    assert slantpath.run(lossy, run=3, seed=99).seed == 99


def test_a_run_gives_every_message(small: Scenario) -> None:
    messages = pa.table(slantpath.run(small)["messages"])
    assert messages.column("number").to_pylist() == list(range(messages.num_rows))
    assert messages.num_rows > 150
    delays = [delay for delay in messages.column("delay_s").to_pylist() if delay is not None]
    assert min(delays) > 0.010


def test_a_link_can_be_captured(small: Scenario) -> None:
    captures = slantpath.run(small, captures=["wire"]).captures
    assert list(captures) == ["wire"]
    assert captures["wire"][:4] == b"\x0a\x0d\x0d\x0a"
    with pytest.raises(RunError, match="there is no link `wir` to capture; links: wire"):
        slantpath.run(small, captures=["wir"])


class OneByOne(Executor):
    """Does the work when it is asked for."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - it belongs to the future
            future.set_exception(error)
        return future


def test_a_sweep_is_the_same_on_any_executor(small: Scenario) -> None:
    expected = slantpath.sweep(small, GRID, runs=2, executor=OneByOne())
    assert slantpath.sweep(small, GRID, runs=2) == expected
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as executor:
        assert slantpath.sweep(small, GRID, runs=2, executor=executor) == expected
    flows = expected["flows"]
    assert flows.column_names[:3] == ["links.wire.loss", "flows.data.streams", "run"]
    assert flows["links.wire.loss"] == ["0 %"] * 4 + ["5 %"] * 4
    assert flows["flows.data.streams"] == [1, 1, 2, 2] * 2
    assert flows["run"] == [0, 1] * 4


def test_a_sweep_tells_its_progress(small: Scenario) -> None:
    told: list[tuple[int, int]] = []
    slantpath.sweep(small, GRID, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 4) for done in range(1, 5)]


def test_an_error_of_one_run_ends_the_sweep(small: Scenario) -> None:
    jobs = [Job(small, run, captures=("nowhere",)) for run in range(100)]
    with ThreadPoolExecutor(2) as executor, pytest.raises(RunError, match="nowhere"):
        list(slantpath.run_jobs(jobs, executor))


def test_other_threads_go_on_while_the_engine_runs() -> None:
    """A run of a second or so: a thread that counts beside it must count most of the time."""
    long = cases.scenario().with_values({"scenario.duration": "3000 s"})
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.002):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    slantpath.run(long)
    end = time.monotonic()
    done.set()
    thread.join()
    during = [at for at in ticks if begin < at < end]
    longest = max(after - before for before, after in zip([begin, *during], [*during, end], strict=True))
    assert longest < 0.5 * (end - begin)


def test_the_study_writes_everything_and_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["multi-link", "--runs", "2", "--out", str(tmp_path)]
    assert command.main(arguments) == command.DONE
    first = capsys.readouterr()
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

    # An interrupted study: two runs are lost, one is damaged.
    (tmp_path / "runs" / "sctp" / "000.json").unlink()
    (tmp_path / "runs" / "tcp" / "001-messages.parquet").write_bytes(b"PAR1")
    kept = (tmp_path / "runs" / "sctp" / "001-messages.parquet").stat().st_mtime_ns
    assert command.main(arguments) == command.DONE
    assert capsys.readouterr().out == first.out
    assert (tmp_path / "report.html").read_bytes() == report
    assert (tmp_path / "runs" / "sctp" / "001-messages.parquet").stat().st_mtime_ns == kept


def test_the_study_s_plan_has_all_runs_of_every_case() -> None:
    plan = multi_link.plan(20, None)
    assert [case for case, _ in plan].count(cases.STANDARD) == 20
    assert [case for case, _ in plan].count(cases.TCP_BULK) == 1
    assert len({(case, job.run) for case, job in plan}) == len(plan)


def test_a_wrong_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(["multi-lin"])
    assert caught.value.code == command.MISUSED
    assert "multi-link" in capsys.readouterr().err
    assert command.main([]) == command.DONE
    assert "multi-link" in capsys.readouterr().out


def test_the_installed_command_is_the_rust_program(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[scenario]\n")
    slantpath_command = Path(sys.executable).parent / "slantpath"
    if not slantpath_command.exists():
        pytest.skip("slantpath is not installed beside this Python")
    refused = subprocess.run(  # noqa: S603 - our own program
        [slantpath_command, "run", tmp_path / "bad.toml"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "bad.toml" in refused.stderr
