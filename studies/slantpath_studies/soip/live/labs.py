"""Labs of programs over an emulated network: several side by side, each as long as its case."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.compute as pc
import pyarrow.csv as pc_csv

from slantpath.errors import RunError
from slantpath.files import write_whole
from slantpath.store import engine
from slantpath_studies.progress import Progress
from slantpath_studies.soip.live.runs import LiveFigures

if TYPE_CHECKING:
    from pathlib import Path

    from slantpath_studies.soip.live.cases import LiveCase
    from slantpath_studies.soip.live.runs import Results

SIDE_BY_SIDE = 3
"""Labs at once, unless it is said otherwise."""
VOID = 3
"""Status of an emulation that was too late at some time."""
LATE_MS = 100
"""Lateness of a packet from which on a lab says nothing: a third of the shortest timer there, RTO.Min."""
ENDS_S = 20
"""What starting and ending take beside a case's own time, at most."""
LOADS = {
    "tester-a1": ("a1", "b1"),
    "tester-a2": ("a2", "b2"),
    "tester-b1": ("b1", "a1"),
    "tester-b2": ("b2", "a2"),
}
"""What each tester sends, and what it receives."""
NODES = ("sg-a", "sg-b", *LOADS)


class _Files(NamedTuple):
    """What a lab reads, and what its result depends on."""

    directory: Path
    lab: Path
    network: Path
    key: str


class Labs:
    """Programs that run, so that all of them can be ended."""

    def __init__(self) -> None:
        """Begin with none."""
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_over = False

    def run(self, command: list[str], log: Path, patience_s: float) -> int:
        """Run a command to its end; give its status."""
        with log.open("wb") as said:
            with self._lock:
                if self._is_over:
                    return -signal.SIGTERM
                process = subprocess.Popen(  # noqa: S603 - our own program
                    command, stdout=said, stderr=said, stdin=subprocess.DEVNULL
                )
                self._running.add(process)
            try:
                return process.wait(timeout=patience_s)
            except subprocess.TimeoutExpired:
                process.terminate()
                return process.wait()
            finally:
                with self._lock:
                    self._running.discard(process)

    def end(self) -> None:
        """End what runs; nothing begins any more."""
        with self._lock:
            self._is_over = True
            for process in self._running:
                process.terminate()


def make(out: Path, results: Results, at_once: int | None) -> None:
    """Run every case live that is not found finished below ``out``."""
    at_once = min(at_once or SIDE_BY_SIDE, SIDE_BY_SIDE)
    waiting: list[LiveCase] = []
    for case in results.cases:
        figures = finished(out, case)
        if figures is None:
            waiting.append(case)
        else:
            results.live[case.name] = figures
    # The longest first: the others fill what is left.
    waiting.sort(key=lambda case: -case.duration_s)
    total_s = sum(case.duration_s + ENDS_S for case in waiting)
    lasts_s = max([total_s / at_once, *(case.duration_s + ENDS_S for case in waiting)])
    if waiting:
        told = (
            f"{len(waiting)} labs of programs, {at_once} at a time, each as long as its case: about "
            f"{lasts_s / 60:.0f} minutes in all. Ctrl-C ends them; what is finished is kept.\n"
        )
        sys.stderr.write(told)
    labs = Labs()
    with ThreadPoolExecutor(at_once) as pool, Progress(len(results.cases), "labs") as progress:
        progress.resume(len(results.cases) - len(waiting))
        futures: dict[Future[tuple[LiveFigures, bool]], LiveCase] = {
            # Files are written here: warnings are kept back for one thread at a time alone.
            pool.submit(_live, labs, case, _written(out, case), results.seed): case
            for case in waiting
        }
        try:
            left = set(futures)
            while left:
                done, left = wait(left, return_when=FIRST_COMPLETED)
                for future in done:
                    name = futures[future].name
                    results.live[name], is_void = future.result()
                    results.void |= {name} if is_void else set()
                    progress.advance()
        finally:
            for future in futures:
                future.cancel()
            labs.end()


def _directory(out: Path, case: LiveCase) -> Path:
    return out / case.name


def key_of(case: LiveCase) -> str:
    """Name all that a lab's result depends on."""
    return f"{engine()} {case.scenario().hash} {case.network().hash}"


def finished(out: Path, case: LiveCase) -> LiveFigures | None:
    """Give what a lab gave, if it was finished and in time."""
    directory = _directory(out, case)
    try:
        kept = json.loads((directory / "done.json").read_text(encoding="utf-8"))
        return _figures(directory, case) if kept == {"key": key_of(case)} else None
    except (OSError, ValueError, KeyError):
        return None  # Not there, or not whole: it is run again.


def _figures(directory: Path, case: LiveCase) -> LiveFigures:
    loads = []
    for tester, (_, received) in LOADS.items():
        # What a tester sends has its account at the other one.
        table = pc_csv.read_csv(directory / tester / "signalling_load.csv")
        loads.append(table.filter(pc.equal(table.column("load"), received)))
    network = directory / "network"
    lateness = pc_csv.read_csv(network / "attached_interfaces.csv").column("lateness_max_s")
    figures = LiveFigures.of(case, loads, pc_csv.read_csv(network / "link_intervals.csv"))
    return replace(figures, late_ms=float(pc.max(lateness).as_py()) * 1e3)


def _written(out: Path, case: LiveCase) -> _Files:
    """Write what a lab reads, of which nothing is finished any more."""
    directory = _directory(out, case)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "done.json").unlink(missing_ok=True)
    files = _Files(directory, directory / "lab.toml", directory / "network.toml", key_of(case))
    write_whole(files.lab, case.scenario().merged().encode())
    write_whole(files.network, case.network().merged().encode())
    return files


def _live(labs: Labs, case: LiveCase, files: _Files, seed: int | None) -> tuple[LiveFigures, bool]:
    """Run a case as programs; tell if the emulation was too late at some time."""
    directory, lab, network, log = files.directory, files.lab, files.network, files.directory / "log.txt"
    own = [sys.executable, "-m", "slantpath"]
    seeds = [] if seed is None else ["--seed", str(seed)]

    def program(node: str) -> str:
        if node not in LOADS:
            return shlex.join([*own, "gateway", str(lab), "--point", node])
        sends, receives = LOADS[node]
        flags = [f"--send={sends}", f"--receive={receives}"]
        told = shlex.join(
            [*own, "traffic", str(lab), *flags, *seeds, "--out", str((directory / node).resolve())]
        )
        # The last program's end is the emulation's: the accounts of the other testers are not cut off.
        return f"{told}; sleep 4" if node == NODES[-1] else told

    command = [*own, "emulate", str(network), "--out", str(directory / "network")]
    command += ["--late", f"{LATE_MS} ms"]
    command += [word for node in NODES for word in ("--root", node)]
    command += [word for node in NODES for word in ("--in", node, program(node))]
    status = labs.run(command, log, case.duration_s + 4 * ENDS_S)
    if status not in {0, VOID}:
        message = f"{case.name}: the emulation ended with status {status}; {log} has what was said"
        raise RunError(message)
    figures = _figures(directory, case)
    if status == 0:
        write_whole(directory / "done.json", json.dumps({"key": files.key}).encode())
    return figures, status == VOID
