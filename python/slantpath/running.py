"""Running scenarios: one run, or a grid of them on any executor."""

from __future__ import annotations

import itertools
import os
import sys
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slantpath import _native
from slantpath._native import Stop
from slantpath.files import locked

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from slantpath._native import Scenario, Table

    Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]

HEARD_WITHIN_S = 0.2
"""How soon Ctrl-C is heard where a wait for runs cannot be interrupted."""


@dataclass(frozen=True, slots=True)
class RunOutput:
    """What one run gave."""

    seed: int
    run: int
    digest: str
    """Equal for equal runs: a hash over every event of the run."""
    tables: Mapping[str, Table]
    captures: Mapping[str, bytes] = field(default_factory=dict)
    """A pcapng file for each captured link."""

    def __getitem__(self, table: str) -> Table:
        """Give the table of that name."""
        return self.tables[table]


@dataclass(frozen=True, slots=True)
class Job:
    """One run to be made: a scenario, the number of the run, and what tells it from the others."""

    scenario: Scenario
    run: int = 0
    seed: int | None = None
    captures: tuple[str, ...] = ()
    key: tuple[tuple[str, str | int | float | bool], ...] = ()
    tables: tuple[str, ...] | None = None
    """Names of the tables that are wanted; all if None."""


def run(
    scenario: Scenario,
    *,
    run: int = 0,
    seed: int | None = None,
    captures: str | Iterable[str] = (),
) -> RunOutput:
    """Run a scenario once.

    ``run`` numbers the replication: every random stream derives from the seed, the number and the component's
    path. ``seed`` replaces the scenario's. ``captures`` names a link, or several, whose packets are kept as
    pcapng, besides those that the scenario names. Other Python threads go on meanwhile; Ctrl-C ends the run.
    """
    return run_until(scenario, run, seed, names(captures), None)


def run_job(job: Job) -> RunOutput:
    """Make the run of a job. It can be sent to another process or machine, and so can its output."""
    return run_job_until(job, None)


def run_until(
    scenario: Scenario, number: int, seed: int | None, captures: Sequence[str], stop: Stop | None
) -> RunOutput:
    """Make a run unless it is stopped first, from another thread or by Ctrl-C."""
    used_seed, digest, tables, captured = _native.run(scenario, number, seed, captures, stop)
    return RunOutput(used_seed, number, digest, {table.name: table for table in tables}, captured)


def run_job_until(job: Job, stop: Stop | None) -> RunOutput:
    """Make the run of a job unless it is stopped first, and keep the tables that it wants."""
    output = run_until(job.scenario, job.run, job.seed, names(job.captures), stop)
    if job.tables is None:
        return output
    for name in job.tables:
        if name not in output.tables:
            given = ", ".join(output.tables)
            message = f"the run gives no table `{name}`; it gives {given}"
            raise ValueError(message)
    return replace(output, tables={name: output.tables[name] for name in job.tables})


def run_jobs(
    jobs: Iterable[Job],
    executor: Executor | None = None,
    *,
    workers: int | None = None,
) -> Generator[tuple[Job, RunOutput], None, None]:
    """Make the runs of many jobs and give each with its output as soon as it is done.

    Any executor of ``concurrent.futures`` serves, a Dask cluster's for example; the default is ``workers``
    threads, one for each processor if absent. If the caller stops early, a run fails or Ctrl-C comes, runs
    that have not begun are given up, and those on threads of this process end at once.
    """
    if executor is None:
        with ThreadPoolExecutor(processors() if workers is None else workers) as own:
            yield from run_jobs(jobs, own)
        return
    stop = Stop()
    make: Callable[[Job], RunOutput] = run_job
    if isinstance(executor, ThreadPoolExecutor):
        # Only threads of this process can hear it.
        make = partial(run_job_until, stop=stop)
    pending: dict[Future[RunOutput], Job] = {}
    waiting = iter(jobs)
    # A window, not everything at once: a grid of many thousands need not be held in memory.
    window = 4 * processors() + 64
    try:
        while True:
            for job in itertools.islice(waiting, window - len(pending)):
                pending[executor.submit(make, job)] = job
            if not pending:
                return
            # Not for ever: where a wait cannot be interrupted, Ctrl-C is heard in between.
            done, _ = wait(pending, timeout=HEARD_WITHIN_S, return_when=FIRST_COMPLETED)
            for future in done:
                job = pending.pop(future)
                yield job, future.result()
    finally:
        stop.set()
        for future in pending:
            future.cancel()


def processors() -> int:
    """Count the processors that this process may use, as far as the system tells."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        # Neither macOS nor Windows has it.
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Take one name, or several."""
    return (given,) if isinstance(given, str) else tuple(given)


def grid_points(grid: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Give every combination of the values of a grid, the last key changing fastest."""
    for path, values in grid.items():
        if isinstance(values, str):
            message = f"{path} takes a list of values, not a text: [{values!r}]"
            raise TypeError(message)
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def sweep(  # noqa: PLR0913 - what a sweep file has, and where it runs
    scenario: Scenario,
    grid: Mapping[str, Sequence[Value]] | None = None,
    *,
    runs: int = 1,
    first_run: int = 0,
    seed: int | None = None,
    tables: str | Iterable[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Table]:
    """Run every point of a grid ``runs`` times and lay the tables of all runs together.

    ``grid`` maps paths of the scenario (``links.satellite.loss``) to the values that they take. Every table
    of the result has these paths and ``run`` as its first columns, and its rows in the order of the grid,
    however the runs were spread. ``tables`` names those that are wanted, all if absent. ``progress`` is
    called with the number of finished and of all runs.

    With ``out``, each finished run is kept in that directory at once, the same call goes on where an earlier
    one was interrupted, and the joined tables are written there as Parquet and CSV. Another call that writes
    into it is refused meanwhile, with an ``InUseError``.
    """
    wanted = None if tables is None else names(tables)
    jobs = plan(Job(scenario, first_run, seed, tables=wanted), grid or {}, runs)
    if out is None:
        return _swept(jobs, None, executor, workers, progress)
    with locked(Path(out)):
        return _swept(jobs, Kept(Path(out), wanted), executor, workers, progress)


def _swept(
    jobs: Sequence[Job],
    kept: Kept | None,
    executor: Executor | None,
    workers: int | None,
    progress: Callable[[int, int], None] | None,
) -> dict[str, Table]:
    outputs: dict[int, Mapping[str, Table]] = {}
    if kept is not None:
        outputs.update(kept.found(jobs))
        if progress is not None and outputs:
            progress(len(outputs), len(jobs))
    places = {id(job): place for place, job in enumerate(jobs) if place not in outputs}
    missing = [job for job in jobs if id(job) in places]
    with closing(run_jobs(missing, executor, workers=workers)) as made:
        for job, output in made:
            outputs[places[id(job)]] = output.tables
            if kept is not None:
                kept.keep(job, output)
            if progress is not None:
                progress(len(outputs), len(jobs))
    stacks: dict[str, list[Table]] = {}
    for place, job in enumerate(jobs):
        for name, table in outputs[place].items():
            stacks.setdefault(name, []).append(table.keyed([*job.key, ("run", job.run)]))
    joined = {name: _native.Table.stacked(name, parts) for name, parts in stacks.items()}
    if kept is not None:
        kept.write(joined)
    return joined


def plan(first: Job, grid: Mapping[str, Sequence[Value]], runs: int) -> list[Job]:
    """List the runs of every point of a grid, numbered from that of a first one on."""
    if runs < 1:
        message = f"{runs} runs of each point are none"
        raise ValueError(message)
    jobs = []
    for point in grid_points(grid):
        scenario = first.scenario.with_values(point)
        key = tuple((path, as_cell(value)) for path, value in point.items())
        numbers = range(first.run, first.run + runs)
        jobs += [replace(first, scenario=scenario, run=number, key=key) for number in numbers]
    return jobs


class Kept:
    """The directory of a sweep: its finished runs, and in the end its tables."""

    def __init__(self, directory: Path, tables: tuple[str, ...] | None) -> None:
        """Keep those tables of each run, or all."""
        # Not at the top: pyarrow is slow to load, and only sweeps that are kept need it.
        from slantpath import store  # noqa: PLC0415

        self._directory = directory
        self._store = store.Store(directory / "runs", tables)
        self._name_of, self._as_table = store.name_of, store.as_table

    def found(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Mapping[str, Table]]]:
        """Give the tables of each job whose run was finished earlier, by its place."""
        for place, job in enumerate(jobs):
            record = self._store.find(self._name_of(job), job)
            if record is not None:
                yield place, {name: self._as_table(name, table) for name, table in record.tables.items()}

    def keep(self, job: Job, output: RunOutput) -> None:
        """Keep a finished run."""
        self._store.keep(self._name_of(job), job, output)

    def write(self, tables: Mapping[str, Table]) -> None:
        """Write the joined tables."""
        self._directory.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            for kind in ("parquet", "csv"):
                table.write(self._directory / f"{name}.{kind}")


def as_cell(value: Value) -> str | int | float | bool:
    """Give a value as it stands in a column: lists and tables as TOML, everything else as it is."""
    return value if isinstance(value, str | int | float | bool) else _native.toml_text(value)
