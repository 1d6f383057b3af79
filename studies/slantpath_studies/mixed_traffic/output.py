"""Everything that the study writes: tables, figures and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slantpath.files import write_whole
from slantpath.page import Drawing, write_drawings
from slantpath_studies.claims import RULE
from slantpath_studies.mixed_traffic import cases, figures, tables, words
from slantpath_studies.mixed_traffic.findings import MANY, findings
from slantpath_studies.report import Report, write_claims

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from slantpath_studies.mixed_traffic.measures import RunFigures
    from slantpath_studies.mixed_traffic.runs import Results

AGAINST = "expected"
SPREAD = ("one-stream", "streams", "streams-rr", "streams-priority", "idata-fcfs", "idata-priority", "three")
"""Settings of which the figure shows how delays spread."""


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write everything that the study shows; give the table of claims and the files."""
    found = findings(results)
    table, files = write_claims(out, found, AGAINST)
    drawn, written = write_drawings(out, _drawings(results))
    files += written
    grids = list(tables.grids(results))
    scenario = cases.scenario()
    report = Report(
        title="Mixed traffic: signalling, telemetry and files over one association",
        lead=(
            "What delay each kind of messages gets over a satellite, what of telemetry is of use, and what "
            "files bring: with plain SCTP, with I-DATA and each scheduler, with PR-SCTP, and with three "
            "associations."
        ),
        findings=found,
        figures=drawn,
        grids=[grid for _, grid in grids],
        scenarios=[("as it is", scenario.hash, scenario.merged())],
        seeds=results.seeds(),
        against=AGAINST,
        about_claims=f"What is expected of each extension, and what we found; what agrees is met. {RULE}",
    )
    files += [write_whole(out / f"{name}.txt", grid.markdown().encode()) for name, grid in grids]
    files.append(write_whole(out / "report.html", report.html().encode()))
    return table, files


def _drawings(results: Results) -> Iterator[Drawing]:
    parts = [part for part in results.extent.parts if len(part.settings) == len(cases.SETTINGS)]
    shown: tuple[tuple[str, str, Callable[[RunFigures], float], str, bool], ...] = (
        ("signalling", "Signalling.", lambda run: run.delays[cases.SIGNALLING].p99_s, "99 % delay / s", True),
        ("in-time", "Telemetry in time.", lambda run: run.in_time, "in time / %", False),
        (
            "in-vain",
            "Telemetry in vain.",
            lambda run: run.wasted,
            "sent in vain / % of what was offered",
            False,
        ),
        ("goodput", "Goodput of files.", lambda run: run.goodput, "goodput / % of the link", False),
    )
    for name, title, of, label, logarithmic in shown:
        yield Drawing(
            name,
            title,
            "Means and 99 % intervals. What is missing was not over when the run ended.",
            words.by_setting(results, parts, of, label),
            figures.by_setting(results, parts, of, label, logarithmic=logarithmic),
        )
    delays = {
        setting: results.figures(cases.name("geo-2", "backlog", setting, MANY))[0].signalling_s
        for setting in SPREAD
    }
    yield Drawing(
        "spread",
        "How the delays of signalling spread.",
        "GEO, 2 Mbit/s, Backlog, a loss of 1 %; run 0.",
        words.spread(delays),
        figures.spread(delays, cases.GEO_2),
    )
