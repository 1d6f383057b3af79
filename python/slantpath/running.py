"""Running scenarios: one run, or a grid of them on any executor."""

from __future__ import annotations

import itertools
import os
import sys
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from slantpath import _native
from slantpath._native import Scenario, Stop
from slantpath.errors import warn
from slantpath.files import locked
from slantpath.tables import Tables, named, tables_html

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from slantpath._native import Table
    from slantpath.controllers import Controller

    Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]

Key = TypeVar("Key")
Made = TypeVar("Made")
ResultT_co = TypeVar("ResultT_co", covariant=True)


class Work(Protocol[ResultT_co]):
    """Work that can be stopped from another thread of its process."""

    def __call__(self, stop: Stop | None = None) -> ResultT_co:
        """Do it."""


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
        return named(self.tables, table, "table")

    def _repr_html_(self) -> str:
        """Show which tables there are to a notebook."""
        return tables_html(f"run {self.run}, seed {self.seed}", self.tables)


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
    scenario: Scenario | str | os.PathLike[str],
    *,
    run: int = 0,
    seed: int | None = None,
    captures: str | Iterable[str] = (),
    controllers: Mapping[str, type[Controller]] | None = None,
) -> RunOutput:
    """Run a scenario once.

    ``scenario`` is a ``Scenario``, the path of a scenario file, or the text of one. ``run`` numbers the
    replication: every random stream derives from the seed, the number and the component's path. ``seed``
    replaces the scenario's. ``captures`` names a link, or several, whose packets are kept as pcapng, besides
    those that the scenario names. ``controllers`` are classes that derive from ``Controller``, by the names
    that the scenario has for them. Other Python threads go on meanwhile; Ctrl-C ends the run.
    """
    return run_until(as_scenario(scenario, controllers), run, seed, names(captures), None)


def as_scenario(
    source: Scenario | str | os.PathLike[str], controllers: Mapping[str, type[Controller]] | None = None
) -> Scenario:
    """Give a scenario as it is, from its text, or from its file. A string has more than one line."""
    own = None if controllers is None else dict(controllers)
    if isinstance(source, Scenario):
        return source if own is None else source.with_controllers(own)
    if isinstance(source, str) and "\n" in source:
        return Scenario.parse(source, controllers=own)
    return Scenario.load(Path(source), controllers=own)


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
    asked = ((job, _Run(job)) for job in jobs)
    yield from _each(asked, executor, workers)


@dataclass(frozen=True, slots=True)
class _Run:
    """Work of a job, in this process or another."""

    job: Job

    def __call__(self, stop: Stop | None = None) -> RunOutput:
        return run_job_until(self.job, stop)


def _each(
    asked: Iterable[tuple[Key, Work[Made]]], executor: Executor | None, workers: int | None
) -> Generator[tuple[Key, Made], None, None]:
    """Do work on an executor, and give what came of each piece, by its key, as soon as it is done."""
    if executor is None:
        with ThreadPoolExecutor(processors() if workers is None else workers) as own:
            yield from _each(asked, own, None)
        return
    stop = Stop()
    # Only threads of this process can hear it.
    heard = (stop,) if isinstance(executor, ThreadPoolExecutor) else ()
    pending: dict[Future[Made], Key] = {}
    waiting = iter(asked)
    # A window, not everything at once: a grid of many thousands need not be held in memory.
    window = 4 * processors() + 64
    try:
        while True:
            for key, work in itertools.islice(waiting, window - len(pending)):
                pending[executor.submit(work, *heard)] = key
            if not pending:
                return
            # Not for ever: where a wait cannot be interrupted, Ctrl-C is heard in between.
            done, _ = wait(pending, timeout=HEARD_WITHIN_S, return_when=FIRST_COMPLETED)
            for future in done:
                key = pending.pop(future)
                yield key, future.result()
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


def sweep(  # noqa: PLR0913 - what a sweep file has, and where it runs
    scenario: Scenario | str | os.PathLike[str],
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
    controllers: Mapping[str, type[Controller]] | None = None,
) -> dict[str, Table]:
    """Run every point of a grid ``runs`` times and lay the tables of all runs together.

    ``scenario`` and ``controllers`` are what `run` takes. ``grid`` maps paths of it
    (``links.satellite.loss``) to the values that they take. Every table of the result has these paths and
    ``run`` as its first columns, with the unit behind a path whose values have one
    (``links.satellite.loss_ratio``). Its rows stand in the order of the grid, however the runs were spread.
    Tables whose rows have keys have means over the runs of each point: ``flows_summary``. ``tables`` names
    those that are wanted, all if absent. ``progress`` is called with the number of finished and of all runs.

    Grid, runs and files are those of ``slantpath sweep``. With ``out``, each finished run is kept in that
    directory at once, and the tables are written there as Parquet and CSV, with a manifest. Either of both
    goes on where the other was interrupted. Another call that writes into it is refused meanwhile, with an
    ``InUseError``; files of others that results are called like, with a ``FileExistsError``.
    """
    if runs < 1:
        message = f"{runs} runs of each point are none"
        raise ValueError(message)
    for path, values in (grid or {}).items():
        if isinstance(values, str):
            message = f"{path} takes a list of values, not a string: [{values!r}]"
            raise TypeError(message)
    base = as_scenario(scenario, controllers)
    if seed is not None:
        base = base.with_values({"scenario.seed": seed})
    axes = {path: list(values) for path, values in (grid or {}).items()}
    wanted = None if tables is None else list(names(tables))
    whole = _native.Sweep(base, axes, runs, first_run, wanted)
    if out is None:
        joined = whole.join(_made(whole, None, executor, workers, progress))
    else:
        with locked(Path(out)):
            directory = _native.SweepDirectory(out)
            _made(whole, directory, executor, workers, progress)
            joined = directory.write(whole)
    found = Tables((table.name, table) for table in joined)
    for name in wanted or ():
        if name not in found:
            warn(f"no run gives the table `{name}`: the scenario does not ask for it")
    return found


def _made(
    sweep: _native.Sweep,
    directory: _native.SweepDirectory | None,
    executor: Executor | None,
    workers: int | None,
    progress: Callable[[int, int], None] | None,
    done: int = 0,
) -> list[bytes]:
    """Make the runs that a directory does not have yet, and keep them there, or give them in their order.

    The first ``done`` were made before.
    """
    made: dict[int, bytes] = {}
    jobs = range(done, len(sweep))
    missing = [job for job in jobs if directory is None or not directory.is_kept(sweep, job)]
    done = len(sweep) - len(missing)
    if progress is not None and done:
        progress(done, len(sweep))
    asked = ((job, _Made(*sweep.job(job), sweep.tables)) for job in missing)
    with closing(_each(asked, executor, workers)) as finished:
        for job, run in finished:
            if directory is None:
                made[job] = run
            else:
                directory.keep(sweep, job, run)
            done += 1
            if progress is not None:
                progress(done, len(sweep))
    return [made[job] for job in sorted(made)]


MOST_RUNS = 10_000
"""Runs that a precision is given at most, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Share of runs that kept a limit, with its exact interval of 99 % (Clopper and Pearson)."""

    flow: str
    """Name of the flow, or of an end of signalling with its kind: ``link atlantic@london``."""
    limit: str
    """The limit as it was asked for."""
    runs_within: int
    runs: int
    """Runs in which the flow has the measure, or failed."""
    low: float
    high: float

    @property
    def share(self) -> float:
        """Give the share of the runs that were made."""
        return self.runs_within / self.runs


@dataclass(frozen=True, slots=True)
class Replication:
    """Runs of one scenario, as many as a precision took."""

    tables: Mapping[str, Table]
    """The tables of all runs, with ``run`` as their first column, and means over the runs."""
    runs: int
    until: str
    is_reached: bool
    within: tuple[Kept, ...]
    """Of each limit, and each flow or end of signalling with its measure: in how many runs it was kept."""

    def __getitem__(self, table: str) -> Table:
        """Give the table of that name."""
        return named(self.tables, table, "table")


def replicate(  # noqa: PLR0913 - what the command has, and where it runs
    scenario: Scenario | str | os.PathLike[str],
    until: str,
    *,
    within: str | Iterable[str] = (),
    most: int = MOST_RUNS,
    first_run: int = 0,
    seed: int | None = None,
    tables: str | Iterable[str] | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    controllers: Mapping[str, type[Controller]] | None = None,
) -> Replication:
    """Make as many runs of a scenario as a precision takes, by the rule of ``slantpath run --until``.

    ``until`` is the precision of a mean, ``"failover ± 5 %"`` or ``"gap ± 20 ms"``; ``within`` a limit, or
    several: ``"failover 2 s"``. A measure is one of delay, failover, gap, late and throughput, or a column of
    numbers of ``flows``. Failovers are those of signalling, too, by the table ``signalling_service``. At
    most ``most`` runs are made. Where they do not reach the precision, and where nothing has the measure, a
    warning says so, and ``is_reached`` is false.

    The other arguments are those of `sweep`; the tables are what it gives of a single point.
    """
    if most < 1:
        message = f"{most} runs are none"
        raise ValueError(message)
    question, limits = _native.Until(until), [_native.Within(limit) for limit in names(within)]
    base = as_scenario(scenario, controllers)
    if seed is not None:
        base = base.with_values({"scenario.seed": seed})
    kept = None if tables is None else list(names(tables))
    asked = None if kept is None else list(dict.fromkeys((*kept, *_MEASURED)))
    made: list[bytes] = []
    found: dict[str, Table] = {}
    wanted = question.wanted(0, [])
    while wanted is not None and len(made) < min(wanted, most):
        whole = _native.Sweep(base, {}, min(wanted, most), first_run, asked)
        made += _made(whole, None, executor, workers, progress, done=len(made))
        found = {table.name: table for table in whole.join(made)}
        wanted = question.wanted(len(made), list(_known(found, question.column)))
    if wanted is None:
        warn(f"`{question.words}`: {question.unmeasured(len(made))}")
    elif wanted > len(made):
        warn(f"`{question.words}` is not reached by {len(made)} runs: some {wanted} would do, by `most`")
    shares: list[Kept] = []
    for limit in limits:
        kept_limit = list(_shares(found, limit))
        if not kept_limit:
            warn(f"`{limit.words}`: {limit.unmeasured(len(made))}")
        shares += kept_limit
    if kept is not None:
        unasked = {name for name in _MEASURED if name not in kept}
        found = {name: table for name, table in found.items() if name.removesuffix("_summary") not in unasked}
    return Replication(found, len(made), question.words, wanted == len(made), tuple(shares))


_MEASURED = ("flows", "signalling_service")
"""Tables whose rows have measures, in columns that are called alike."""


def _measured(tables: Mapping[str, Table], column: str) -> Iterable[tuple[str, float | None, bool]]:
    """Give of each flow and end of signalling, in each run: its name, its value, and whether it failed."""
    flows, service = (tables.get(name) for name in _MEASURED)
    if flows is not None:
        for flow, value, failure in zip(flows["flow"], flows[column], flows["failure"], strict=True):
            yield str(flow), None if value is None else float(value), failure is not None
    if service is not None and column in service.column_names:
        keys = (service[key] for key in ("kind", "name", "point"))
        for kind, name, point, value in zip(*keys, service[column], strict=True):
            yield f"{kind} {name}@{point}", None if value is None else float(value), False


def _known(tables: Mapping[str, Table], column: str) -> Iterable[list[float]]:
    """Give the values that each flow and each end of signalling has of a column, in the order of the runs."""
    values: dict[str, list[float]] = {}
    for subject, value, _ in _measured(tables, column):
        known = values.setdefault(subject, [])
        if value is not None:
            known.append(value)
    return values.values()


def _shares(tables: Mapping[str, Table], limit: _native.Within) -> Iterable[Kept]:
    """Tell of each that has the measure of a limit in how many runs it was kept."""
    runs: dict[str, list[tuple[float | None, bool]]] = {}
    for subject, value, has_failed in _measured(tables, limit.column):
        runs.setdefault(subject, []).append((value, has_failed))
    for subject, each in runs.items():
        share = limit.share(each)
        if share is not None:
            yield Kept(subject, limit.words, *share)


@dataclass(frozen=True, slots=True)
class _Made:
    """Work of a run whose tables come back as bytes, in this process or another."""

    scenario: Scenario
    run: int
    tables: list[str]

    def __call__(self, stop: Stop | None = None) -> bytes:
        return _native.made(self.scenario, self.run, self.tables, stop)
