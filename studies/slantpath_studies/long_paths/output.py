"""Everything that the study writes: tables, figures, a page a controller, and the report."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from slantpath.files import write_whole
from slantpath.page import Drawing, write_drawings
from slantpath_studies.claims import RULE
from slantpath_studies.long_paths import cases, figures, pages, tables, words
from slantpath_studies.long_paths.findings import findings
from slantpath_studies.report import Report, write_claims

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from slantpath_studies.long_paths.runs import Results

AGAINST = "aim"


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write everything that the study shows; give the table of claims and the files."""
    found = findings(results)
    table, files = write_claims(out, found, AGAINST)
    drawn, written = write_drawings(out, _drawings(results))
    files += written
    grids = list(tables.grids(results))
    scenario = cases.scenario()
    report = Report(
        title="Long paths: every congestion controller over GEO and LEO",
        lead=(
            "What each congestion controller of TCP and SCTP makes of long paths with loss, reordering and "
            "changes, what it costs other flows, and what the project aims at."
        ),
        findings=found,
        figures=drawn,
        grids=[grid for _, grid in grids],
        scenarios=[("as it is", scenario.hash, scenario.merged())],
        seeds=results.seeds(),
        against=AGAINST,
        about_claims=f"What the project aims at, and what we found; an aim that agrees is met. {RULE}",
    )
    files += [write_whole(out / f"{name}.txt", grid.markdown().encode()) for name, grid in grids]
    files += [
        write_whole(out / "controllers" / f"{name}.md", text.encode())
        for name, text in pages.pages([grid for _, grid in grids])
    ]
    files.append(write_whole(out / "report.html", report.html().encode()))
    return table, files


def _drawings(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "goodput",
        "Goodput against loss.",
        "From 20 to 120 s, means and 99 % intervals; an aim for each loss.",
        words.against_loss(results),
        figures.against_loss(results),
    )
    shown = {controller: results.course(controller) for controller in cases.CONTROLLERS}
    yield Drawing(
        "courses",
        "Window and queue.",
        "TCP over GEO that loses one packet in a thousand; run 0.",
        words.courses(shown),
        figures.courses(shown),
    )
    rounds = {}
    for transport, profile in product(cases.TRANSPORTS, cases.PROFILES):
        run = results.figures(cases.table(cases.GEO.name, transport, profile, "0"))[0]
        (delivered,) = run.delivered_bytes.values()
        rounds[transport, profile] = figures.by_round_trip(delivered, run.interval_s, cases.GEO)
    yield Drawing(
        "ramps",
        "Ramps.",
        "What each round trip brings, from the first arrival on; the line is at nine tenths. What has waited "
        "for a gap comes at once, above the frame.",
        words.ramps(rounds),
        figures.ramps(rounds),
    )
    followed = {}
    for change, controller in product(cases.CHANGES, cases.CONTROLLERS):
        run = results.figures(cases.change(change.name, "tcp", controller))[0]
        (delivered,) = run.delivered_bytes.values()
        followed[change.name, controller] = (delivered, run.interval_s)
    yield Drawing(
        "changes",
        "Changes.",
        "What TCP brings each second while the path changes, at the vertical lines.",
        words.changes(followed),
        figures.changes(followed),
    )
    yield Drawing(
        "shares",
        "Shares.",
        "What each controller leaves a NewReno or CUBIC flow that was there before; half is fair.",
        words.shares(results),
        figures.shares(results),
    )
