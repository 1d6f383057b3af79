"""Running scenarios: one run, or a grid of them on any executor."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slantpath import _native

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from slantpath._native import Scenario, Table

    Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]


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


def run(
    scenario: Scenario,
    *,
    run: int = 0,
    seed: int | None = None,
    captures: Iterable[str] = (),
) -> RunOutput:
    """Run a scenario once.

    ``run`` numbers the replication: every random stream derives from the seed, the number and the component's
    path. ``seed`` replaces the scenario's. ``captures`` names links whose packets are kept as pcapng, besides
    those that the scenario names. Other Python threads go on meanwhile.
    """
    used_seed, digest, tables, captured = _native.run(scenario, run, seed, list(captures))
    return RunOutput(used_seed, run, digest, {table.name: table for table in tables}, captured)


def run_job(job: Job) -> RunOutput:
    """Make the run of a job. It can be sent to another process or machine, and so can its output."""
    return run(job.scenario, run=job.run, seed=job.seed, captures=job.captures)


def run_jobs(
    jobs: Iterable[Job],
    executor: Executor | None = None,
    *,
    workers: int | None = None,
) -> Iterator[tuple[Job, RunOutput]]:
    """Make the runs of many jobs and give each with its output as soon as it is done.

    Any executor of ``concurrent.futures`` serves, a Dask cluster's for example; the default is one thread for
    each processor. If the caller stops early or a run fails, runs that have not begun are given up.
    """
    if executor is None:
        with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as own:
            yield from run_jobs(jobs, own)
        return
    pending: dict[Future[RunOutput], Job] = {}
    waiting = iter(jobs)
    # A window, not everything at once: a grid of many thousands need not be held in memory.
    window = 4 * (os.cpu_count() or 1) + 64
    try:
        while True:
            for job in itertools.islice(waiting, window - len(pending)):
                pending[executor.submit(run_job, job)] = job
            if not pending:
                return
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                job = pending.pop(future)
                yield job, future.result()
    finally:
        for future in pending:
            future.cancel()


def grid_points(grid: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Give every combination of the values of a grid, the last key changing fastest."""
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def sweep(
    scenario: Scenario,
    grid: Mapping[str, Sequence[Value]] | None = None,
    *,
    runs: int = 1,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Table]:
    """Run every point of a grid ``runs`` times and lay the tables of all runs together.

    ``grid`` maps paths of the scenario (``links.satellite.loss``) to the values that they take. Every table
    of the result has these paths and ``run`` as its first columns, and its rows in the order of the grid,
    however the runs were spread. ``progress`` is called with the number of finished and of all runs.
    """
    points = list(grid_points(grid or {}))
    jobs = [
        Job(
            scenario.with_values(point),
            number,
            seed,
            key=tuple((path, as_cell(value)) for path, value in point.items()),
        )
        for point in points
        for number in range(runs)
    ]
    outputs: dict[int, RunOutput] = {}
    places = {id(job): place for place, job in enumerate(jobs)}
    for job, output in run_jobs(jobs, executor):
        outputs[places[id(job)]] = output
        if progress is not None:
            progress(len(outputs), len(jobs))
    stacks: dict[str, list[Table]] = {}
    for place, job in enumerate(jobs):
        for name, table in outputs[place].tables.items():
            stacks.setdefault(name, []).append(table.keyed([*job.key, ("run", job.run)]))
    return {name: _native.Table.stacked(name, parts) for name, parts in stacks.items()}


def as_cell(value: Value) -> str | int | float | bool:
    """Give a value as it stands in a column: lists and tables as TOML, everything else as it is."""
    return value if isinstance(value, str | int | float | bool) else _native.toml_text(value)
