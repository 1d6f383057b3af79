"""Everything that the study writes: tables, figures, the scenarios of a placement, and the report."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from slantpath.files import write_whole
from slantpath.page import Drawing, write_drawings
from slantpath_studies.report import Report, write_claims
from slantpath_studies.sctp_over_satellites import cases, figures, tables
from slantpath_studies.sctp_over_satellites.findings import findings
from slantpath_studies.sctp_over_satellites.placements import Ground, Placement, Skies, Sky

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slantpath_studies.sctp_over_satellites.runs import Results


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write everything that the study shows; give the table of claims and the files."""
    found = findings(results)
    table, files = write_claims(out, found)
    drawn, written = write_drawings(out, _drawings(results))
    files += written
    grids = list(tables.grids(results))
    scenarios, written = _write_scenarios(out, results)
    files += written
    report = Report(
        title="SCTP over Iridium and geostationary satellites",
        lead=(
            "A reproduction of sections V and VI of “SCTP over satellite networks” (NASA grants NAG3-2528 "
            "and NAG3-2922): multihoming, streams, and what each feature is worth."
        ),
        findings=found,
        figures=drawn,
        grids=[grid for _, grid in grids],
        scenarios=scenarios,
        seeds=results.seeds(),
    )
    files += [write_whole(out / f"{name}.txt", grid.markdown().encode()) for name, grid in grids]
    files.append(write_whole(out / "report.html", report.html().encode()))
    return table, files


def _write_scenarios(out: Path, results: Results) -> tuple[list[tuple[str, str, str]], list[Path]]:
    """Write a scenario of each configuration with its sky, under placement 0, for `slantpath run`."""
    told: list[tuple[str, str, str]] = []
    files: list[Path] = []
    length = {"scenario.duration": f"{results.extent.duration_s} s"}
    with TemporaryDirectory(prefix="slantpath-") as directory:
        skies = Skies(Path(directory), results.seed)
        for sky in Sky:
            scenario = skies.scenario(0, Ground(sky, cases.PAIRS), {}, length)
            told.append((cases.NAMES[sky], scenario.hash, scenario.merged()))
            beside = out / "placement-0" / sky.value
            text = Placement.drawn(0, results.seed).topology(sky, cases.PAIRS, {})
            files.append(write_whole(beside / "sky.toml", text.encode()))
            files.append(write_whole(beside / "scenario.toml", scenario.merged().encode()))
    return told, files


def _drawings(results: Results) -> Iterator[Drawing]:
    errors, buffers = "the bit error rate", "the receive buffer in segments"
    yield Drawing(
        "figure-09",
        "Figure 9.",
        "Throughput of an association against the bit error rate of Iridium; means, 99 % intervals.",
        " ".join(
            f"Errors on each {where}. {figures.in_words(figures.throughput_lines(results, where), errors)}"
            for where in (cases.PER_PATH, cases.PER_LINK)
        ),
        figures.throughputs(results),
    )
    yield Drawing(
        "figure-10",
        "Figure 10.",
        "What all sources send to geostationary satellites that are the backup of Iridium.",
        figures.in_words(figures.backup_lines(results), errors),
        figures.backups(results),
    )
    for number, sky in ((11, Sky.IRIDIUM), (12, Sky.GEO)):
        yield Drawing(
            f"figure-{number}",
            f"Figure {number}.",
            f"{cases.NAMES[sky]}: throughput against the buffer, by streams (s) and bit error rate (ε).",
            figures.in_words(figures.buffer_lines(results, sky), buffers),
            figures.against_buffers(results, sky),
        )
    for number, sky in ((13, Sky.IRIDIUM), (14, Sky.GEO)):
        yield Drawing(
            f"figure-{number}",
            f"Figure {number}.",
            f"{cases.NAMES[sky]}: throughput against the bit error rate, by streams (s) and receive buffer.",
            figures.in_words(figures.error_lines(results, sky), errors),
            figures.against_errors(results, sky),
        )
