"""The runs of the study: simulated ones, and as many emulated ones as the clock allows."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from slantpath.errors import RunError
from slantpath.files import write_whole
from slantpath.running import Job
from slantpath_studies.emulated import cases
from slantpath_studies.emulated.findings import Failover, Observations, Transfer, findings
from slantpath_studies.emulated.guests import Guests, VoidError
from slantpath_studies.progress import Progress

if TYPE_CHECKING:
    from pathlib import Path

    from slantpath.store import Record
    from slantpath_studies.claims import Finding
    from slantpath_studies.emulated.captured import Association

RUNS = 5
"""Emulated runs of a cell."""
SIMULATED = 4
"""Simulated runs for each emulated one: they cost seconds."""
ATTEMPTS = 3
"""How often a run is made until no packet of it is late."""


def plan(runs: int, seed: int | None) -> list[tuple[str, Job]]:
    """List every simulated run with the name of its cell."""
    return [
        (name, Job(scenario, number, seed))
        for name, scenario in ((name, cell.twin()) for name, cell in cases.CELLS.items())
        for number in range(SIMULATED * runs)
    ]


class Results:
    """The figures of every run, simulated and emulated."""

    TABLES = ("failovers", "messages")
    """The tables of a run that the study needs."""

    def __init__(self, runs: int, seed: int | None) -> None:
        """Begin without any run."""
        self.runs = runs
        self.seed = seed
        self.void = 0
        """Emulated runs that were made anew, since a packet was late."""
        self._simulated: dict[str, dict[int, Failover | Transfer]] = {}
        self._emulated: dict[str, dict[int, Failover | Transfer]] = {}

    def add(self, case: str, run: int, record: Record) -> None:
        """Take a finished simulated run."""
        of = Transfer.simulated(record.tables["messages"]) if case == cases.LOSSY else None
        self._simulated.setdefault(case, {})[run] = of or Failover.simulated(record.tables["failovers"])

    def emulate(self, out: Path, scripts: Path) -> None:
        """Make every emulated run that is not found finished below ``out``, by the guests of ``scripts``."""
        directory = out / "emulated"
        directory.mkdir(parents=True, exist_ok=True)
        files = {
            (name, run): directory / f"{file_of(name, run)}.json"
            for run in range(self.runs)
            for name in cases.CELLS
        }
        missing = [key for key, file in files.items() if not file.exists()]
        with Progress(len(files), "emulated runs") as progress:
            progress.resume(len(files) - len(missing))
            if missing:
                with Guests(scripts) as guests:
                    for name, run in missing:
                        association = self._emulate(guests, name, run, files[name, run].with_suffix(""))
                        figures = figures_of(name, association)
                        write_whole(files[name, run], json.dumps(asdict(figures)).encode())
                        progress.advance()
        for (name, run), file in files.items():
            kind = Transfer if name == cases.LOSSY else Failover
            self._emulated.setdefault(name, {})[run] = kind(**json.loads(file.read_bytes()))

    def _emulate(self, guests: Guests, name: str, run: int, out: Path) -> Association:
        seed = run if self.seed is None else self.seed + run
        for _ in range(ATTEMPTS):
            try:
                return guests.run(cases.CELLS[name], seed, out)
            except VoidError:
                self.void += 1
        message = f"{name}: packets were late in {ATTEMPTS} runs of {ATTEMPTS}; is the machine busy?"
        raise RunError(message)

    def real(self) -> Observations:
        """Give what the kernel did."""
        return _observations(self._emulated)

    def simulated(self) -> Observations:
        """Give what the simulated hosts did."""
        return _observations(self._simulated)

    def findings(self) -> list[Finding]:
        """Hold the kernel's runs against the papers' claims."""
        return findings(self.real(), self.simulated())

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the number of the run" if self.seed is None else f"{self.seed} and the number of the run"
        return (
            f"Emulated: {self.runs} runs of each cell, whose seed is {used}; {self.void} were made anew, "
            f"since a packet was late. Simulated: runs 0 to {SIMULATED * self.runs - 1} of each."
        )


def file_of(name: str, run: int) -> str:
    """Name the files of an emulated run."""
    return f"{name.replace('/', '-').replace(' % ', '-percent-')}-{run}"


def figures_of(name: str, association: Association) -> Failover | Transfer:
    """Take the figures of an emulated run."""
    if name == cases.LOSSY:
        return Transfer.emulated(association, cases.CELLS[name])
    return Failover.emulated(association)


def _observations(runs: dict[str, dict[int, Failover | Transfer]]) -> Observations:
    ordered = {name: [of for _, of in sorted(numbered.items())] for name, numbered in runs.items()}
    return Observations(
        {
            name: [of for of in each if isinstance(of, Failover)]
            for name, each in ordered.items()
            if name != cases.LOSSY
        },
        [of for of in ordered.get(cases.LOSSY, ()) if isinstance(of, Transfer)],
    )
