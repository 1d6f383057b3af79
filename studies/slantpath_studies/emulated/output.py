"""Everything that the study writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slantpath.files import write_whole
from slantpath_studies.emulated import cases
from slantpath_studies.emulated.findings import KBYTE, MILLI, TICK_S
from slantpath_studies.report import Grid, Report, write_claims

if TYPE_CHECKING:
    from pathlib import Path

    from slantpath_studies.claims import Estimate
    from slantpath_studies.emulated.runs import Results

SHOWN = (cases.WORST, cases.LOSSY)
"""Cells whose scenario the report has."""


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write everything that the study shows; give the table of claims and the files."""
    found = results.findings()
    table, files = write_claims(out, found)
    beside = side_by_side(results)
    report = Report(
        title="The papers' labs with a real kernel",
        lead=(
            "Two of the papers' networks, emulated in real time, with Linux's SCTP at both ends: "
            "what the papers published, what the simulation gives, and what the kernel does."
        ),
        findings=found,
        grids=[beside],
        scenarios=[
            (name, twin.hash, twin.merged())
            for name, twin in ((name, cases.CELLS[name].twin()) for name in SHOWN)
        ],
        seeds=results.seeds(),
    )
    files.append(write_whole(out / "beside.txt", beside.markdown().encode()))
    files.append(write_whole(out / "report.html", report.html().encode()))
    return table, files


def side_by_side(results: Results) -> Grid:
    """Lay out every figure: simulated, of the kernel, and the difference."""
    real, simulated = results.real(), results.simulated()
    rows = [
        _row(f"failover time, {cell}", "ms", MILLI, simulated.failover(cell), real.failover(cell), TICK_S)
        for cell in cases.FAILOVERS
    ]
    rows.append(
        _row(
            "delay of retransmitted messages",
            "ms",
            MILLI,
            simulated.retransmitted(),
            real.retransmitted(),
            TICK_S,
        )
    )
    rows.append(_row("throughput", "KByte/s", KBYTE, simulated.throughput(), real.throughput(), 0.0))
    return Grid(
        "Simulated and real",
        f"Means and 99 % intervals. The guests' timers tick every {TICK_S * MILLI:.0f} ms: "
        "a smaller difference is none.",
        ("figure", "simulated", "Linux", "difference"),
        rows,
    )


def _row(
    figure: str, unit: str, scale: float, simulated: Estimate, real: Estimate, tick: float
) -> tuple[str, ...]:
    apart = real.less(simulated)
    certain = abs(apart.mean) > max(apart.half_width, tick)
    told = apart.text(unit, scale, 1 if unit == "KByte/s" else 0) if certain else "none that is certain"
    decimals = 1 if unit == "KByte/s" else 0
    return (figure, simulated.text(unit, scale, decimals), real.text(unit, scale, decimals), told)
