"""Runs from Python: equal for equal inputs, on any executor, while other threads go on."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_scenario import SMALL

import slantpath
from slantpath import InUseError, Job, RunError, Scenario, ScenarioError, ScenarioWarning, _native, running
from slantpath.files import locked

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
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


def test_a_scenario_may_be_a_file_or_its_text(small: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    digests = {slantpath.run(source).digest for source in (small, SMALL, file, str(file))}
    assert len(digests) == 1
    assert slantpath.sweep(file, GRID, tables="flows") == slantpath.sweep(small, GRID, tables="flows")


def test_a_table_that_is_not_there_is_said(small: Scenario) -> None:
    output = slantpath.run(small)
    with pytest.raises(KeyError, match="did you mean `messages`"):
        output["messagez"]
    with pytest.raises(KeyError, match="there are flows, "):
        output["nothing like it"]
    swept = slantpath.sweep(small, tables="flows")
    with pytest.raises(KeyError, match="there is no table `flow`; did you mean `flows`"):
        swept["flow"]
    shown = output._repr_html_()
    assert all(f"<td>{name}</td>" in shown for name in output.tables)


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
    assert slantpath.run(small, captures="wire").captures == captures
    assert slantpath.running.run_job(Job(small, captures="wire")).captures == captures  # type: ignore[arg-type]
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
    assert flows.column_names[:3] == ["links.wire.loss_ratio", "flows.data.streams", "run"]
    assert flows["links.wire.loss_ratio"] == [0.0] * 4 + [0.05] * 4
    assert flows["flows.data.streams"] == [1, 1, 2, 2] * 2
    assert flows["run"] == [0, 1] * 4


def test_a_sweep_tells_its_progress(small: Scenario) -> None:
    told: list[tuple[int, int]] = []
    slantpath.sweep(small, GRID, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 4) for done in range(1, 5)]


def test_a_sweep_gives_the_tables_that_it_is_asked_for(small: Scenario) -> None:
    whole = slantpath.sweep(small, GRID)
    flows = slantpath.sweep(small, GRID, tables="flows")
    assert flows == {name: whole[name] for name in ("flows", "flows_summary")}
    both = slantpath.sweep(small, GRID, tables=["links", "flows"])
    assert set(both) == {"links", "links_summary", "flows", "flows_summary"}
    with pytest.raises(ScenarioError, match="there is no table `flow`"):
        slantpath.sweep(small, GRID, tables="flow")
    with pytest.warns(
        ScenarioWarning, match="no run gives the table `queues`: the scenario does not ask for it"
    ):
        assert slantpath.sweep(small, tables="queues") == {}


def test_a_sweep_numbers_its_runs_from_the_first(small: Scenario) -> None:
    later = slantpath.sweep(small, runs=1, first_run=1)
    assert later["flows"]["run"] == [1]
    both = slantpath.sweep(small, runs=2)
    assert both["flows"]["throughput_bit_per_s"][1:] == later["flows"]["throughput_bit_per_s"]


def test_a_sweep_of_no_run_is_refused(small: Scenario) -> None:
    with pytest.raises(ValueError, match="0 runs of each point are none"):
        slantpath.sweep(small, GRID, runs=0)


def test_a_text_is_no_list_of_values(small: Scenario) -> None:
    with pytest.raises(TypeError, match=r"links\.wire\.loss takes a list of values, not a string: \['5 %'\]"):
        slantpath.sweep(small, {"links.wire.loss": "5 %"})


def test_an_interrupted_sweep_goes_on_where_it_was(small: Scenario, tmp_path: Path) -> None:
    expected = slantpath.sweep(small, GRID, runs=2)

    def interrupt(done: int, _: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        slantpath.sweep(small, GRID, runs=2, out=tmp_path, executor=OneByOne(), progress=interrupt)
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").glob("*.run")}
    assert len(finished) == 5

    told: list[tuple[int, int]] = []
    tables = slantpath.sweep(
        small, GRID, runs=2, out=tmp_path, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(5, 8), (6, 8), (7, 8), (8, 8)]
    assert tables == expected
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    for name, table in expected.items():
        assert pa.table(table).num_rows == pq.read_table(tmp_path / f"{name}.parquet").num_rows
        assert (tmp_path / f"{name}.csv").read_text().startswith("links.wire.loss_ratio,flows.data.streams,")
    # Another seed is another sweep; fewer tables of the same are found.
    other = slantpath.sweep(small, GRID, runs=2, seed=7, out=tmp_path)
    assert other["messages"] != expected["messages"]
    told.clear()
    slantpath.sweep(
        small, GRID, runs=2, out=tmp_path, tables="flows", progress=lambda done, _: told.append((done, 8))
    )
    assert told == [(8, 8)]


def test_a_directory_that_another_call_writes_into_is_refused(small: Scenario, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for part in (".flows.csv.0.partial", "runs/.a.json.12.partial"):
        (tmp_path / part).write_text("of a killed process")
    with locked(tmp_path):
        assert [path.name for path in (tmp_path / "runs").iterdir()] == []
        with pytest.raises(InUseError, match="another command writes into it"):
            slantpath.sweep(small, out=tmp_path)
    slantpath.sweep(small, tables="flows", out=tmp_path)
    tables = ["flows.csv", "flows.parquet", "flows_summary.csv", "flows_summary.parquet"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *tables,
        "manifest.json",
        "runs",
        "scenario.toml",
    ]


SWEEP = """
[sweep]
scenario = "small.toml"
repetitions = 2
tables = ["flows", "links"]

[[axis]]
"links.wire.loss" = ["0 %", "5 %"]

[[axis]]
"flows.data.streams" = [1, 2]
"""


def by_the_command(file: Path, out: Path) -> None:
    """Make a sweep in a process of its own, as a user does."""
    entry = "import sys, slantpath_command; sys.exit(slantpath_command.main())"
    words = [sys.executable, "-c", entry, "sweep", str(file), "--out", str(out)]
    subprocess.run(words, check=True, capture_output=True, timeout=120)  # noqa: S603 - our own interpreter


def test_the_command_and_a_call_finish_what_the_other_began(small: Scenario, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    by_command, by_call = tmp_path / "command", tmp_path / "call"
    by_the_command(file, by_command)

    def interrupt(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    call = partial(slantpath.sweep, small, GRID, runs=2, tables=["flows", "links"])
    with pytest.raises(KeyboardInterrupt):
        call(out=by_call, progress=interrupt)
    assert len(list((by_call / "runs").iterdir())) >= 3
    by_the_command(file, by_call)
    files = sorted(path.name for path in by_command.iterdir())
    assert files == sorted(path.name for path in by_call.iterdir())
    for name in files:
        if name != "runs":
            assert (by_command / name).read_bytes() == (by_call / name).read_bytes(), name
    # The other way round: of the runs of the command, three are left, and a call makes the others.
    runs = sorted((by_command / "runs").iterdir())
    for run in runs[3:]:
        run.unlink()
    told: list[tuple[int, int]] = []
    tables = call(out=by_command, progress=lambda done, whole: told.append((done, whole)))
    assert told == [(done, 8) for done in range(3, 9)]
    assert tables == call()
    for name in files:
        if name != "runs":
            assert (by_command / name).read_bytes() == (by_call / name).read_bytes(), name


def test_files_of_others_in_a_directory_of_results_are_left_alone(small: Scenario, tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("mine")
    with pytest.raises(FileExistsError, match=r"flows\.csv is there, no manifest\.json says"):
        slantpath.sweep(small, tables="flows", out=tmp_path)
    assert (tmp_path / "flows.csv").read_text() == "mine"


def test_tables_that_were_not_asked_for_are_made_by_another_sweep(small: Scenario, tmp_path: Path) -> None:
    slantpath.sweep(small, tables="flows", out=tmp_path)
    told: list[tuple[int, int]] = []
    tables = slantpath.sweep(
        small,
        tables=["flows", "hosts"],
        out=tmp_path,
        progress=lambda done, whole: told.append((done, whole)),
    )
    assert told == [(1, 1)]
    assert len(tables["hosts"]["host"]) == 2


FORKED = """
import os, sys, time
from pathlib import Path
from slantpath.files import locked

with locked(Path(sys.argv[1])):
    worker = os.fork()
    if worker == 0:
        # Not before it has let go of its copy, which it does as it begins.
        print(os.getpid(), flush=True)
        sys.stdin.read()
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_worker_that_outlives_its_process_does_not_hold_the_directory(tmp_path: Path) -> None:
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", FORKED, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdin is not None
        assert first.stdout is not None
        worker = int(first.stdout.readline())
        assert first.wait() == 0
        os.kill(worker, 0)
        with locked(tmp_path):
            assert [path.name for path in tmp_path.iterdir()] == [".slantpath.lock"]
        first.stdin.close()
    assert list(tmp_path.iterdir()) == []


def test_processors_are_counted_where_affinity_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither macOS nor Windows has `os.sched_getaffinity`."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(sys, "version_info", (3, 11))
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert running.processors() == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert running.processors() == 1


def test_the_default_sweep_needs_nothing_of_linux(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = slantpath.sweep(small, runs=2)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert slantpath.sweep(small, runs=2) == expected


INTERRUPTED = """
import signal, threading
from concurrent.futures import ThreadPoolExecutor
import slantpath

scenario = slantpath.Scenario.load({scenario!r}).with_values({{"scenario.duration": "1000000 s"}})
threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "call",
    [
        "slantpath.run(scenario)",
        "slantpath.sweep(scenario, runs=3)",
        "slantpath.sweep(scenario, runs=3, executor=ThreadPoolExecutor(2))",
    ],
)
def test_ctrl_c_is_heard_while_the_engine_runs(call: str) -> None:
    """A run of a month would otherwise go on for hours: the process ends, by KeyboardInterrupt and soon."""
    text = INTERRUPTED.format(scenario=str(ROOT / "studies/multi-link/scenario.toml"), call=call)
    ended = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.stdout == "interrupted\n", ended.stderr


SITES = 6
SKY = """
[scenario]
name = "sky"
duration = "{duration}"
[nodes]
a = {{ kind = "host", site = "s0" }}
b = {{ kind = "host", site = "s1" }}
[sky]
epoch = "2026-03-01T00:00:00Z"
ground.min_elevation = "25 deg"
constellations.leo.satellites = {{ kind = "preset", preset = "starlink-shell-1" }}
[sky.access.all]
rate = "10 Mbit/s"
[sky.isls.all]
rate = "10 Mbit/s"
[sctp.default]
[flows.f]
transport = "sctp"
from = "a"
to = "b"
application = {{ kind = "bulk", message_size = "500 B", total = "1 kB" }}
[sky.sites]
""" + "\n".join(
    f's{number} = {{{{ latitude = "{40 + number} deg", longitude = "{10 * number} deg",'
    ' antennas = [{{ constellation = "leo" }}] }}'
    for number in range(SITES)
)

INTERRUPTED_SKY = """
import signal, threading
import slantpath

scenario = slantpath.Scenario.parse({text!r})
stages = []

def heed(made, sites):
    stages.append(made)
    if made == 0:
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()

try:
    scenario.with_values({{"scenario.duration": "60 d", "sky.ground.min_elevation": "30 deg"}}, progress=heed)
except KeyboardInterrupt:
    print("interrupted at", stages)
"""


def test_a_sky_that_other_values_change_is_given_up_at_the_next_site() -> None:
    """Whoever is told of the progress may stop it: no site is begun any more."""
    scenario = Scenario.parse(SKY.format(duration="10 min"))
    stages: list[tuple[int, int]] = []
    scenario.with_values({"sky.ground.min_elevation": "30 deg"}, progress=lambda *made: stages.append(made))
    assert stages == [(made, SITES) for made in range(SITES + 1)]
    stages.clear()

    def stop(made: int, sites: int) -> None:
        stages.append((made, sites))
        if made == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scenario.with_values({"sky.ground.min_elevation": "31 deg"}, progress=stop)
    assert stages == [(0, SITES), (1, SITES)]


def test_ctrl_c_is_heard_in_the_middle_of_a_site() -> None:
    """Two months of the first of six sites take most of a minute: the second is never begun."""
    text = INTERRUPTED_SKY.format(text=SKY.format(duration="10 min"))
    ended = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.stdout == "interrupted at [0]\n", ended.stderr


INTERRUPTED_GRID = """
import signal, threading
import slantpath

scenario = slantpath.Scenario.parse({text!r})
threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
try:
    slantpath.sweep(scenario, {{"scenario.duration": ["60 d", "90 d"]}})
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_is_heard_while_the_points_of_a_grid_are_checked() -> None:
    """The contacts of either point take minutes."""
    text = INTERRUPTED_GRID.format(text=SKY.format(duration="10 min"))
    ended = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.stdout == "interrupted\n", ended.stderr


def test_the_runs_of_a_point_share_its_scenario(small: Scenario) -> None:
    sweep = _native.Sweep(small, GRID, 2, 0, None)
    jobs = [sweep.job(job) for job in range(len(sweep))]
    assert [run for _, run in jobs] == [0, 1] * 4
    assert [len({id(scenario) for scenario, _ in jobs[at : at + 2]}) for at in range(0, 8, 2)] == [1] * 4
    assert len({scenario.hash for scenario, _ in jobs}) == 4
    assert jobs[2][0] == small.with_values({"links.wire.loss": "0 %", "flows.data.streams": 2})
    with pytest.raises(IndexError, match="job 8 of 8"):
        sweep.job(8)


def test_an_error_of_one_run_ends_the_sweep(small: Scenario) -> None:
    jobs = [Job(small, run, captures=("nowhere",)) for run in range(100)]
    with ThreadPoolExecutor(2) as executor, pytest.raises(RunError, match="nowhere"):
        list(slantpath.run_jobs(jobs, executor))


def test_other_threads_go_on_while_the_engine_runs() -> None:
    """A run of a second or so: a thread that counts beside it must count most of the time."""
    study = Scenario.load(ROOT / "studies/multi-link/scenario.toml")
    long = study.with_values({"scenario.duration": "3000 s"})
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
