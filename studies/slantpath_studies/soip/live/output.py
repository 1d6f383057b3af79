"""The table of paper, simulation and programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from slantpath.files import write_whole
from slantpath_studies.report import Grid, Report
from slantpath_studies.soip.live.runs import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slantpath_studies.soip.live.cases import LiveCase
    from slantpath_studies.soip.live.runs import Results

HEAD = (
    "case",
    "paper",
    "lost, simulated",
    "lost, live",
    "band, simulated",
    "band, live",
    "latest packet",
    "live in the interval",
)


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write the table and the report; give the table and the files."""
    grid = Grid(
        "Paper, simulation and programs",
        f"Means of {results.runs} runs with the 95 % prediction interval of one more; one live run. Lost is "
        "of all messages, band the mean of what the left terminal sends under load, in frames of Ethernet. "
        "The latest packet left the emulation so much after its instant.",
        HEAD,
        [_row(results, case) for case in results.cases],
    )
    report = Report(
        title="SS7 over an emulated satellite",
        lead="The gateways of the trial as programs, beside the simulation and the paper.",
        findings=(),
        grids=[grid],
        scenarios=[
            (case.name, scenario.hash, scenario.merged())
            for case in results.cases
            for scenario in (case.scenario(),)
        ],
        seeds=results.seeds(),
    )
    files = [write_whole(out / "live.md", grid.markdown().encode())]
    files.append(write_whole(out / "report.html", report.html().encode()))
    return grid.markdown(), files


def _row(results: Results, case: LiveCase) -> Sequence[str]:
    runs, live = results.simulated(case), results.live.get(case.name)
    lost, band = (Interval.of([getattr(run, name) for run in runs]) for name in ("lost_percent", "band_kbit"))
    cells = [case.claim, case.paper, _told(lost, "%", 1)]
    if live is None:
        return [*cells, "–", _told(band, "kbit/s", 0), "–", "–", "not run"]
    within = [
        _is_within(lost, live.lost_percent, 1),
        _is_within(band, live.band_kbit, 0),
    ]
    verdict = "both" if all(within) else "lost" if within[0] else "band" if within[1] else "neither"
    if case.name in results.void:
        verdict += "; void: the emulation was late"
    return [
        *cells,
        f"{live.lost_percent:.1f} %",
        _told(band, "kbit/s", 0),
        f"{live.band_kbit:.0f} kbit/s",
        f"{live.late_ms:.1f} ms",
        verdict,
    ]


def _told(interval: Interval, unit: str, decimals: int) -> str:
    mean, low, high = (f"{value:.{decimals}f}" for value in interval)
    if math.isnan(interval.mean):
        return "–"
    return f"{mean} ({low} to {high}) {unit}"


def _is_within(interval: Interval, value: float, decimals: int) -> bool:
    """Tell if a value is in an interval, as far as the table tells them."""
    return round(interval.low, decimals) <= round(value, decimals) <= round(interval.high, decimals)
