"""The command ``slantpath study NAME``."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from slantpath.errors import InUseError, RunError
from slantpath.files import locked
from slantpath.running import run_jobs
from slantpath.store import Store
from slantpath_studies import (
    emulated,
    failover,
    ftp_qos,
    long_paths,
    mixed_traffic,
    multi_link,
    sctp_over_satellites,
    soip,
)
from slantpath_studies.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slantpath.running import Job
    from slantpath.store import Record

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
MOST = 10_000
"""Runs of a case, and runs at once: beyond it intervals say nothing new, and a plan fills the memory."""


class Results(Protocol):
    """What a study collects from its runs."""

    @property
    def TABLES(self) -> Sequence[str]:  # noqa: N802 - a constant of the class
        """The tables of a run that it needs."""

    def add(self, case: str, run: int, record: Record, /) -> None:
        """Take a finished run."""

    def seeds(self) -> str:
        """Say from what every random draw derives."""


@runtime_checkable
class Adaptive(Results, Protocol):
    """Results that tell whether more runs are needed."""

    def further(self) -> list[tuple[str, Job]]:
        """List the runs that are needed beside those that were added, each with the name of its case."""


@runtime_checkable
class Live(Protocol):
    """Study whose cases are run as programs, too."""

    def make(self, out: Path, results: Any, at_once: int | None, /) -> None:  # noqa: ANN401 - its own Results
        """Run the programs of every case, as many cases at once as is said."""


class Study(Protocol):
    """What there is of each study."""

    @property
    def ABOUT(self) -> str:  # noqa: N802 - a constant of a module, as the next
        """What it is about, in a line."""

    @property
    def RUNS(self) -> int:  # noqa: N802
        """Runs of a case."""

    def plan(self, runs: int, seed: int | None, /) -> list[tuple[str, Job]]:
        """List every run with the name of its case."""

    Results: Any
    """What its runs gave, made of their number and the seed."""

    def write(self, out: Path, results: Any, /) -> tuple[str, list[Path]]:  # noqa: ANN401 - its own Results
        """Write what it shows; give the table of claims and the files."""


STUDIES: dict[str, Study] = {
    "failover": failover,
    "ftp-qos": ftp_qos,
    "long-paths": long_paths,
    "mixed-traffic": mixed_traffic,
    "multi-link": multi_link,
    "sctp-over-satellites": sctp_over_satellites,
    "soip": soip,
}
EMULATED = "emulated"
"""A study whose runs take as long as they last: a kernel's own protocol over an emulated network."""
NAMES = (*STUDIES, EMULATED)
QUICK: dict[str, Study] = {
    "ftp-qos": ftp_qos.QUICK,
    "mixed-traffic": mixed_traffic.QUICK,
    "sctp-over-satellites": sctp_over_satellites.QUICK,
}
"""Studies that can be made with fewer cases and shorter runs."""
LARGEST_STEP: dict[str, Study] = {"soip": soip.largest_step}
"""Studies with a figure of the largest step of load, which takes runs of its own."""

LIVE: dict[str, Study] = {"soip": soip.live.FULL}
"""Studies whose cases are run as programs over an emulated network, beside the simulation."""
QUICK_LIVE: dict[str, Study] = {"soip": soip.live.QUICK}


def main(arguments: Sequence[str]) -> int:
    """Run a study with the arguments behind ``slantpath study``; give the exit status."""
    options = _options(arguments)
    if isinstance(sys.stdout, TextIOWrapper):
        # A console of another encoding shows a question mark for a dash, and no traceback.
        sys.stdout.reconfigure(errors="replace")
    if options.name is None:
        for name, study in STUDIES.items():
            print(f"{name:20} {study.ABOUT}")
        print(f"{EMULATED:20} {emulated.ABOUT}")
        return DONE
    form, studies = _form(options)
    out: Path = options.out or Path("out") / f"{options.name}{form}"
    try:
        with locked(out):
            if options.name == EMULATED:
                pace, seeds, table, files = _emulate(options, out)
            else:
                pace, seeds, table, files = _make(studies[options.name], options, out)
    except InUseError as error:
        print(f"slantpath study {options.name}: {error}", file=sys.stderr)
        return MISUSED
    except KeyboardInterrupt:
        print(f"interrupted: what is finished is kept in {out}, the same command goes on", file=sys.stderr)
        return INTERRUPTED
    except (OSError, RunError) as error:
        print(f"slantpath study {options.name}: {error}", file=sys.stderr)
        return FAILED
    # What differs from one call to the next stays out of the standard output.
    print(pace, file=sys.stderr)
    print(f"\n{table}\n{seeds}\n\nWritten to {out.resolve()}:")
    for file in files:
        print(f"  {file.relative_to(out).as_posix()}")
    print(f"That and the runs, which the next call finds, take {_megabytes(out):.0f} MB.", file=sys.stderr)
    return DONE


def _make(study: Study, options: argparse.Namespace, out: Path) -> tuple[str, str, str, list[Path]]:
    """Make a study; say how long that took, what it draws from, and give the claims and the files."""
    runs = options.runs or study.RUNS
    results = study.Results(runs, options.seed)
    pace = collect(study.plan(runs, options.seed), results, out, options.jobs)
    while isinstance(results, Adaptive) and (more := results.further()):
        pace = collect(more, results, out, options.jobs)
    if isinstance(study, Live):
        study.make(out, results, options.jobs)
    return pace, results.seeds(), *study.write(out, results)


def _emulate(options: argparse.Namespace, out: Path) -> tuple[str, str, str, list[Path]]:
    """Make the study of emulations; give what `_make` gives."""
    begun_s = time.monotonic()
    results = emulated.make(
        out,
        runs=(options.runs or emulated.RUNS, emulated.SIMULATED_RUNS),
        workers=options.jobs,
        seed=emulated.SEED if options.seed is None else options.seed,
    )
    pace = f"{time.monotonic() - begun_s:.0f} s."
    return pace, results.seeds(), *emulated.write(out, results)


def _form(options: argparse.Namespace) -> tuple[str, dict[str, Study]]:
    """Give the form of a study that is asked for: how its directory is called, and which studies have it."""
    if options.live:
        return ("-live-quick", QUICK_LIVE) if options.quick else ("-live", LIVE)
    if options.quick:
        return "-quick", QUICK
    return ("-largest-step", LARGEST_STEP) if options.largest_step else ("", STUDIES)


def _megabytes(directory: Path) -> float:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) / 1e6


def collect(plan: Sequence[tuple[str, Job]], results: Results, out: Path, workers: int | None) -> str:
    """Make every run of a plan that is not found finished below ``out``; say how long that took."""
    begun_s = time.monotonic()
    store = Store(out / "runs", results.TABLES)
    # Cases may share runs: what differs between them need not show in each.
    waiting: dict[Job, list[str]] = {}
    with Progress(len(plan), "runs") as progress:
        for case, job in plan:
            record = store.find(_name(case, job), job)
            if record is None:
                waiting.setdefault(job, []).append(case)
            else:
                results.add(case, job.run, record)
                progress.resume(1)
        with closing(run_jobs(waiting, workers=workers)) as made:
            for job, output in made:
                for case in waiting[job]:
                    results.add(case, job.run, store.keep(_name(case, job), job, output))
                    progress.advance()
    found = len(plan) - sum(map(len, waiting.values()))
    others = f", {found} found finished" if found else ""
    return f"{len(waiting)} runs made in {time.monotonic() - begun_s:.1f} s{others}."


def _name(case: str, job: Job) -> str:
    return f"{case}/{job.run:03}"


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="slantpath study",
        description="Make a study: run its scenarios, check its claims, draw its figures.",
        epilog="Without a name: the list of studies. An interrupted study goes on where it stopped. "
        "Another value than its own is another question: in a checkout, "
        "slantpath run studies/NAME/FILE.toml --set PATH=VALUE.",
    )
    parser.add_argument("name", nargs="?", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_true", help=f"fewer cases, shorter runs: {', '.join(QUICK)}")
    form.add_argument(
        "--largest-step",
        action="store_true",
        help=f"the largest step of load that is carried, in place of the claims: {', '.join(LARGEST_STEP)}",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="cases as programs over an emulated network, in real time, beside the simulation and the paper: "
        f"{', '.join(LIVE)}; with --quick one of a few seconds",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write; out/NAME if absent")
    parser.add_argument(
        "--runs", type=_count, metavar="N", help="runs of each case; as the study says if absent"
    )
    parser.add_argument("--seed", type=_seed, metavar="N", help="in place of the scenario's")
    parser.add_argument("--jobs", type=_count, metavar="N", help="runs at once; all processors if absent")
    options = parser.parse_args(arguments)
    if options.live and options.largest_step:
        parser.error("--live and --largest-step exclude each other")
    if options.live and options.name not in LIVE:
        parser.error(f"--live is for {', '.join(LIVE)}")
    if options.quick and not options.live and options.name not in QUICK:
        parser.error(f"--quick is for {', '.join(QUICK)}")
    if options.largest_step and options.name not in LARGEST_STEP:
        parser.error(f"--largest-step is for {', '.join(LARGEST_STEP)}")
    return options


def _count(text: str) -> int:
    return _whole(text, 1, MOST)


def _seed(text: str) -> int:
    return _whole(text, 0, 2**64 - 1)


def _whole(text: str, least: int, most: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        message = f"{text} is no whole number from {least} to {most}"
        raise argparse.ArgumentTypeError(message)
    return number
