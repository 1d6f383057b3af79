"""The runs of the study: simulated ones, and those with the kernel's SCTP in real time."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from slantpath.files import write_whole
from slantpath.running import Job, run_jobs
from slantpath_studies.emulated.cases import CELLS
from slantpath_studies.emulated.laboratory import Guest, measure
from slantpath_studies.emulated.measures import (
    Figures,
    Message,
    data_of,
    failover_s,
    lossy,
    sent_again,
)
from slantpath_studies.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slantpath.running import RunOutput
    from slantpath_studies.emulated.cases import Cell

RUNS = 5
"""Runs of a cell with the kernel's SCTP."""
SIMULATED_RUNS = 20
SEED = 2026
LATE = "5 ms"
"""Lateness of a packet from which on a run is made again."""


class Results(NamedTuple):
    """The figures of every run, by the name of its cell."""

    kernel: dict[str, list[Figures]]
    simulated: dict[str, list[Figures]]
    seed: int

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        kernel, simulated = (max(map(len, of.values()), default=0) for of in (self.kernel, self.simulated))
        return (
            f"Seeds {self.seed} to {self.seed + simulated - 1} for the simulation; the kernel's runs have "
            f"the first {kernel}. Chance and the phases of the cross traffic are those of the seed."
        )


Asked = tuple[str, int]
"""The name of a cell, and a seed."""


def make(
    out: Path,
    cells: Sequence[Cell] = CELLS,
    *,
    runs: tuple[int, int] = (RUNS, SIMULATED_RUNS),
    workers: int | None = None,
    seed: int = SEED,
    late: str = LATE,
) -> Results:
    """Make every run that is not found finished below ``out``.

    ``runs`` are those of a cell with the kernel, and simulated ones: these on so many threads at once.
    """
    of_kernel, of_simulation = (range(seed, seed + count) for count in runs)
    simulated = _simulate(out / "simulated", cells, of_simulation, workers)
    kernel = _emulate(out / "kernel", cells, of_kernel, late)
    return Results(_by_cell(kernel), _by_cell(simulated), seed)


def _simulate(kept: Path, cells: Sequence[Cell], seeds: range, workers: int | None) -> dict[Asked, Figures]:
    figures = _found(kept, cells, seeds)
    asked = {Job(cell.scenario(), 0, at): (cell, at) for cell, at in _missing(figures, cells, seeds)}
    with Progress(len(figures), "simulated runs") as progress:
        progress.resume(len(figures) - len(asked))
        with closing(run_jobs(asked, workers=workers)) as made:
            for job, output in made:
                cell, at = asked[job]
                figures[cell.name, at] = _keep(kept, cell, at, _of_run(cell, output))
                progress.advance()
    return _whole(figures)


def _emulate(kept: Path, cells: Sequence[Cell], seeds: range, late: str) -> dict[Asked, Figures]:
    figures = _found(kept, cells, seeds)
    missing = _missing(figures, cells, seeds)
    if missing:
        with Progress(len(figures), "runs with the kernel's SCTP") as progress, Guest() as guest:
            progress.resume(len(figures) - len(missing))
            for cell, at in missing:
                figures[cell.name, at] = _keep(kept, cell, at, measure(guest, cell, at, late))
                progress.advance()
    return _whole(figures)


def _of_run(cell: Cell, output: RunOutput) -> Figures:
    """Measure a simulated run as one with the kernel."""
    ports = zip(cell.captured, cell.laboratory.sending, strict=True)
    primary, alternate = (data_of(output.captures[link], port.address) for link, port in ports)
    if cell.fails:
        return Figures(failover_s=failover_s(primary, alternate))
    table = pa.table(output["messages"]).to_pydict()
    rows = list(zip(table["sent_s"], table["delivered_s"], strict=True))
    came = [
        (Message(number, came_s - sent_s), came_s)
        for number, (sent_s, came_s) in enumerate(rows)
        if came_s is not None
    ]
    again = sent_again(sorted([*primary, *alternate]))
    took_s = max(came_s for _, came_s in came) - min(sent_s for sent_s, _ in rows)
    figures = lossy([message for message, _ in came], again, cell.laboratory.message_bytes, took_s)
    return Figures(**figures)  # type: ignore[arg-type] # `again` is whole


def _file(kept: Path, cell: Cell, seed: int) -> Path:
    return kept / cell.name.replace("/", "-").replace(" ", "-") / f"{cell.scenario().hash[:16]}-{seed}.json"


def _found(kept: Path, cells: Sequence[Cell], seeds: range) -> dict[Asked, Figures | None]:
    """Give the figures of each run that is asked for, if it is finished."""
    found: dict[Asked, Figures | None] = {}
    for cell in cells:
        for seed in seeds:
            file = _file(kept, cell, seed)
            found[cell.name, seed] = Figures.of_text(file.read_text("utf-8")) if file.exists() else None
    return found


def _missing(
    figures: Mapping[Asked, Figures | None], cells: Sequence[Cell], seeds: range
) -> list[tuple[Cell, int]]:
    return [(cell, seed) for cell in cells for seed in seeds if figures[cell.name, seed] is None]


def _keep(kept: Path, cell: Cell, seed: int, figures: Figures) -> Figures:
    file = _file(kept, cell, seed)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, figures.text().encode())
    return figures


def _whole(figures: Mapping[Asked, Figures | None]) -> dict[Asked, Figures]:
    return {asked: found for asked, found in figures.items() if found is not None}


def _by_cell(figures: Mapping[Asked, Figures]) -> dict[str, list[Figures]]:
    cells: dict[str, list[Figures]] = {}
    for (name, _), found in figures.items():
        cells.setdefault(name, []).append(found)
    return cells
