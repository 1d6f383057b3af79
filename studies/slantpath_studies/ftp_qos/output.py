"""Everything that the study writes: tables, figures, its scenarios, and the report."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from slantpath.errors import ScenarioWarning
from slantpath.files import write_whole
from slantpath.page import Drawing, write_drawings
from slantpath_studies import texts
from slantpath_studies.ftp_qos import cases, figures, tables
from slantpath_studies.ftp_qos.findings import findings
from slantpath_studies.ftp_qos.runs import DELAY, JITTER, LOSS, STUDY, THROUGHPUT, Scenarios
from slantpath_studies.report import Report, write_claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slantpath_studies.ftp_qos.runs import Results


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
        title="FTP sessions and DiffServ over LEO and GEO",
        lead=(
            "A reproduction of “End-to-End QoS Evaluation of IP over LEO/GEO Satellites Constellations for "
            "FTP” (Audah, Sun and "
            "Cruickshank), and of what it leaves for later."
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
    """Write the cell of the largest load over each sky, for `slantpath run`."""
    told: list[tuple[str, str, str]] = []
    files: list[Path] = []
    with TemporaryDirectory(prefix="slantpath-") as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        scenarios = Scenarios(Path(directory), results.seed)
        for sky in cases.Sky:
            case = cases.every(results.extent)[cases.cell(sky, cases.MOST).name]
            scenario = scenarios.of(case, 0)
            told.append((sky.label, scenario.hash, scenario.merged()))
            beside = out / "scenarios"
            name = f"{sky.value}-sky.toml"
            files.append(write_whole(beside / name, texts.text_of(STUDY, name).encode()))
            files.append(write_whole(beside / f"{sky.value}.toml", scenario.merged().encode()))
    return told, files


def _drawings(results: Results) -> Iterator[Drawing]:
    listed = (
        (2, "Mean packet delay", DELAY, "delay / ms", "ms", 1e3, 0),
        (3, "Mean absolute difference of delays", JITTER, "jitter / ms", "ms", 1e3, 2),
        (4, "Packet loss", LOSS, "loss / %", "%", 1e2, 2),
        (5, "Throughput of a completed session", THROUGHPUT, "throughput / kbit/s", "kbit/s", 1e-3, 0),
    )
    for number, what, measure, label, unit, scale, decimals in listed:
        yield Drawing(
            f"figure-{number:02}",
            f"Figure {number}.",
            f"{what} against new connections a minute, by mean file size and bit error rate; means, 99 % "
            "intervals.",
            figures.in_words(results, measure, unit, scale, decimals),
            figures.against_rate(results, measure, label, scale),
        )
    yield Drawing(
        "services",
        "Voice, video, pages and files.",
        "What each service gets with one and with two links, under rules that admit files; means, 99 % "
        "intervals.",
        "Four charts of points: delay of voice and of video, time of a page, rate of a file.",
        figures.of_services(results),
    )
