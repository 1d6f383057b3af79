"""Everything that the study writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slantpath.files import write_whole
from slantpath_studies.claims import LEVEL
from slantpath_studies.emulated.cases import CELLS
from slantpath_studies.emulated.findings import findings, rows
from slantpath_studies.report import Grid, Report, write_claims

if TYPE_CHECKING:
    from pathlib import Path

    from slantpath_studies.emulated.runs import Results


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write the claims, the table of every cell and the report; give the claims and the files."""
    found = findings(results)
    table, files = write_claims(out, found)
    grid = Grid(
        "Cells",
        f"Means with {LEVEL:.0%} intervals. A single run: the interval in which one more simulated run lies.",
        (
            "cell",
            "figure",
            "simulated",
            "a single run",
            "kernel",
            "of these within",
            "kernel less simulated",
            "latest packet / ms",
        ),
        rows(results),
    )
    files.append(write_whole(out / "cells.txt", grid.markdown().encode()))
    report = Report(
        title="Two papers' laboratories with Linux's SCTP",
        lead=(
            "The ends of K.-J. Grinnemo, A. Brunstrom (2005) and of A. Jungmaier and others (2001) "
            "are a kernel's SCTP. The network between them is emulated. "
            "The simulation has the same scenario, with the papers' stacks."
        ),
        findings=found,
        grids=[grid],
        scenarios=[
            (cell.name, scenario.hash, scenario.merged())
            for cell, scenario in ((cell, cell.scenario()) for cell in CELLS if cell.name in results.kernel)
        ],
        seeds=results.seeds(),
    )
    files.append(write_whole(out / "report.html", report.html().encode()))
    return table, files
