#!/usr/bin/env python3
"""Suites of others on the sockets of `slantpath sctp`, beside the same on Linux's SCTP in a guest kernel.

    peers/sctp-programs/prove.py --out peers/sctp-programs    all of it, some minutes, with its tables
    peers/sctp-programs/prove.py --short                      ten func_tests by both doors, some seconds
    peers/sctp-programs/prove.py --only go                    a suite alone

What Linux passes is to pass by both doors, but for the cases of `open.csv`. One of these that is said never
to pass, and does, is to be taken out of it. Where something is missing it says so, and has not proved that.
Suites are fetched and built in a directory of their own, which is thrown away unless it is named (`--build`).
"""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from grounds import HERE, Door, Ground, MissingError, guest
from suites import func_tests, go_tests, notifications, python_tests, rfc6458
from table import NEVER, Case, Table, known

T = TypeVar("T")
Results = dict[str, Mapping[Case, str]]


class Work(NamedTuple):
    """Grounds on which a suite runs, the directory in which it is built, and programs that were named."""

    grounds: Sequence[Ground]
    build: Path
    names: Sequence[str]

    def everywhere(self, run: Callable[[Ground], T]) -> dict[str, T]:
        """Run it on all grounds at once: most of the time they wait."""
        with ThreadPoolExecutor(len(self.grounds)) as pool:
            found = pool.map(run, self.grounds)
            return dict(zip((ground.name for ground in self.grounds), found, strict=True))

    def built(self, build: Callable[[Path, bool], Path], what: str) -> dict[bool, Path]:
        """Build it as the grounds want it: linked with the C library, and static."""
        return {
            is_static: build(self.build / f"{what}-{'static' if is_static else 'linked'}", is_static)
            for is_static in {ground.wants_static for ground in self.grounds}
        }


def of_func_tests(work: Work) -> Results:
    sources = func_tests.fetch(work.build)
    names = work.names or func_tests.programs(sources)
    built = work.built(
        lambda into, is_static: func_tests.build(sources, into, names, is_static=is_static), "func-tests"
    )
    return dict(work.everywhere(lambda ground: func_tests.run(ground, built[ground.wants_static], names)))


def of_python(work: Work) -> Results:
    prepared = python_tests.prepare(work.build / "python")
    return dict(work.everywhere(lambda ground: python_tests.run(ground, prepared)))


def of_go(work: Work) -> Results:
    # A static program has one door.
    static = work._replace(grounds=[ground for ground in work.grounds if ground.name != "preload"])
    built = go_tests.build(work.build / "go")
    return dict(static.everywhere(lambda ground: go_tests.run(ground, built)))


def of_rfc6458(work: Work) -> Results:
    built = work.built(lambda into, is_static: rfc6458.build(into, is_static=is_static), "rfc6458")
    told = work.everywhere(lambda ground: rfc6458.run(ground, built[ground.wants_static]))
    return {name: rfc6458.results(lines, told.get("guest", [])) for name, lines in told.items()}


def of_notifications(work: Work) -> Results:
    if all(ground.name != "guest" for ground in work.grounds):
        raise MissingError("notifications are held against those of a guest kernel")
    built = work.built(
        lambda into, is_static: notifications.build(into, is_static=is_static), "notifications"
    )
    told = work.everywhere(lambda ground: notifications.run(ground, built[ground.wants_static]))
    return {name: notifications.results(lines, told["guest"]) for name, lines in told.items()}


SUITES: dict[str, Callable[[Work], Results]] = {
    "func_tests": of_func_tests,
    "python": of_python,
    "go": of_go,
    "rfc6458": of_rfc6458,
    "notifications": of_notifications,
}


def prove(suite: str, work: Work, out: Path | None) -> list[str]:
    """Run a suite, and give what a door has missed."""
    try:
        results = SUITES[suite](work)
    except MissingError as error:
        print(f"SKIPPED: {suite}: {error}", file=sys.stderr)
        return []
    table = Table(suite)
    for ground, of in results.items():
        table.put(ground, of)
    if out is not None:
        table.write(out, results)
    print(f"{suite}: " + ", ".join(f"{ground} {table.count(ground)}" for ground in results), flush=True)
    missed, open_ones = table.missed(results), known(HERE / "open.csv")
    never = {one for one, when in open_ones.items() if when == NEVER}
    passed = [one for one in never - missed if table.has(one) and one.door in results]
    return [
        *(table.told(one) for one in sorted(missed - open_ones.keys())),
        *(f"{suite}: {one.program} {one.case}: {one.door} passes: take it out of open.csv" for one in passed),
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--slantpath", type=Path, default=HERE / "../../target/release/slantpath")
    arguments.add_argument("--short", action="store_true", help="ten func_tests, without a guest kernel")
    arguments.add_argument("--only", action="append", choices=SUITES, help="a suite alone; may be repeated")
    arguments.add_argument("--programs", default="", help="func_tests alone, with commas between")
    arguments.add_argument("--no-guest", action="store_true", help="the doors alone")
    arguments.add_argument("--out", type=Path, help="directory of the tables")
    arguments.add_argument("--build", type=Path, help="directory in which suites are built, and stay")
    options = arguments.parse_args()
    suites = ["func_tests"] if options.short else options.only or list(SUITES)
    names = options.programs.split(",") if options.programs else func_tests.SHORT if options.short else ()
    with contextlib.ExitStack() as ends:
        temporary = options.build or ends.enter_context(
            tempfile.TemporaryDirectory(prefix="slantpath-programs-")
        )
        grounds: list[Ground] = [Door(options.slantpath, name) for name in ("preload", "notify")]
        if not options.short and not options.no_guest:
            try:
                grounds.insert(0, ends.enter_context(guest()))
            except MissingError as error:
                print(f"SKIPPED: Linux's own SCTP: {error}", file=sys.stderr)
        work = Work(grounds, Path(temporary).resolve(), names)
        missed = [line for suite in suites for line in prove(suite, work, options.out)]
    if missed:
        sys.exit("\n".join([*missed, f"failed: {len(missed)} cases"]))


if __name__ == "__main__":
    main()
