"""Everything that the study writes: tables, figures, captures and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from slantpath.figures import short
from slantpath.files import write_whole
from slantpath.page import Drawing, write_drawings
from slantpath.running import run
from slantpath_studies.multi_link import cases, figures, wider, wider_figures
from slantpath_studies.multi_link.findings import (
    KBYTE,
    MILLI,
    PERCENT,
    calm,
    calm_share,
    delay_99,
    longest,
    recovery_improvement,
    recovery_mean,
    retransmitted_mean,
    throughput,
)
from slantpath_studies.report import Grid, Report, whole_file, write_claims

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from slantpath_studies.multi_link.runs import Results

LINKS = ("satellite", "terrestrial")


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write everything that the study shows; give the table of claims and the files."""
    found = results.findings()
    table, files = write_claims(out, found)
    files += [*_write_messages(out, results), *_write_captures(out, results)]
    drawn, written = write_drawings(out, _drawings(results))
    files += written
    grids = [_sensitivity(results), _wider(results)]
    scenarios = {case: cases.scenario_of(case) for case in cases.CASES}
    report = Report(
        title="SCTP over a satellite link with a terrestrial backup",
        lead=(
            "A reproduction of section 4 of A. Jungmaier, E. P. Rathgeb, M. Schopp, M. Tüxen, “SCTP – A "
            "Multi-link End-to-end Protocol for IP-based Networks” (2001)."
        ),
        findings=found,
        figures=drawn,
        grids=grids,
        scenarios=[(case, scenario.hash, scenario.merged()) for case, scenario in scenarios.items()],
        seeds=results.seeds(),
    )
    files += [
        write_whole(out / name, grid.markdown().encode())
        for name, grid in zip(("choices.txt", "wider.txt"), grids, strict=True)
    ]
    files.append(write_whole(out / "report.html", report.html().encode()))
    return table, files


def _write_messages(out: Path, results: Results) -> list[Path]:
    messages = results.all_messages()
    parquet, csv = out / "messages.parquet", out / "messages.csv"
    with whole_file(parquet) as sink:
        pq.write_table(messages, sink)
    with whole_file(csv) as sink:
        pa_csv.write_csv(messages, sink)
    return [parquet, csv]


def _write_captures(out: Path, results: Results) -> list[Path]:
    output = run(cases.scenario_of(cases.MODIFIED), seed=results.seed, captures=LINKS)
    return [
        write_whole(out / f"{cases.MODIFIED}-{link}.pcapng", capture)
        for link, capture in sorted(output.captures.items())
    ]


def _drawings(results: Results) -> Iterator[Drawing]:
    tcp, standard, modified = (results.messages(case) for case in cases.RANDOM_CASES)
    lines = "Line chart of the delivery delay of each message. "
    yield Drawing(
        "figure-07",
        "Figure 7.",
        "Delivery delay of each message over TCP and over SCTP; run 0.",
        f"{lines}{figures.delays_in_words('TCP', tcp)} {figures.delays_in_words('SCTP', standard)}",
        figures.delay_of_tcp_and_sctp(tcp, standard),
    )
    first = figures.first_of_detail(tcp)
    shown = [messages.slice(first, figures.STRETCH) for messages in (tcp, standard)]
    yield Drawing(
        "figure-08",
        "Figure 8.",
        "A calm stretch of figure 7.",
        f"{lines}From message {first:,} on: {figures.delays_in_words('TCP', shown[0])} "
        f"{figures.delays_in_words('SCTP', shown[1])}",
        figures.detail_of_tcp_and_sctp(tcp, standard),
    )
    yield Drawing(
        "figure-09",
        "Figure 9.",
        "Standard SCTP, retransmitted messages marked; run 0.",
        f"{lines}{_in_words('Standard SCTP', standard)}",
        figures.delay_of_standard_sctp(standard),
    )
    yield Drawing(
        "figure-10",
        "Figure 10.",
        "SCTP with gap reports over the backup link, retransmitted messages marked; run 0.",
        f"{lines}{_in_words('SCTP with gap reports over the backup link', modified)} With standard SCTP the "
        f"mean of those was {short(figures.retransmitted_mean_s(standard) * MILLI)} ms.",
        figures.delay_of_modified_sctp(modified, standard),
    )
    yield Drawing(
        "wider",
        "A wider range of parameters.",
        f"Mean delay of retransmitted messages, one parameter varied at a time; {wider.RUNS} runs of each "
        "point, 99 % intervals. Dashed: equations 1 to 3, which are lower bounds.",
        "Five line charts of the mean delay of retransmitted messages.",
        wider_figures.parameters(results),
    )
    yield Drawing(
        "paths",
        "More than two paths.",
        "Backups that lose 1 % as well: without an outage, and where the satellite link is down for a minute "
        f"and the first backup for another; {wider.RUNS} runs of each point, 99 % intervals.",
        "Two line charts of the delay below which are 99 % of the messages, and of the longest delay.",
        wider_figures.paths(results),
    )


def _in_words(label: str, messages: pa.Table) -> str:
    mean_ms = figures.retransmitted_mean_s(messages) * MILLI
    return (
        f"{figures.delays_in_words(label, messages)} Mean of those sent more than once: {short(mean_ms)} ms."
    )


def _sensitivity(results: Results) -> Grid:
    rows = [("as studied", *_row(results, ""))]
    rows += [(variant.about, *_row(results, f"{variant.name}/")) for variant in cases.VARIANTS]
    return Grid(
        "What the open parameters decide",
        "Each line makes one other choice where the paper leaves one, for all cases alike.",
        (
            "choice",
            "M4 / ms",
            "M5 / ms",
            "M4 from first transmission / ms",
            "M5 so",
            "M6 so",
            "SCTP / KByte/s",
            "TCP / KByte/s",
            "M9 / ms",
            "M9, share of messages",
        ),
        rows,
    )


def _row(results: Results, prefix: str) -> Sequence[str]:
    tcp, standard, modified = (results.figures(prefix + case) for case in cases.RANDOM_CASES)
    return (
        retransmitted_mean(standard).text("", MILLI),
        retransmitted_mean(modified).text("", MILLI),
        recovery_mean(standard).text("", MILLI),
        recovery_mean(modified).text("", MILLI),
        recovery_improvement(standard, modified).text("", MILLI),
        throughput(standard).text("", KBYTE, 1),
        throughput(tcp).text("", KBYTE, 1),
        calm(tcp).text("", MILLI),
        calm_share(tcp).text("%", PERCENT, 1),
    )


def _wider(results: Results) -> Grid:
    rows = []
    for axis in wider.AXES:
        for point in axis.points:
            for transport in axis.transports:
                runs = results.figures(wider.name_of(axis, point, transport))
                rows.append(
                    (
                        axis.label,
                        f"{point.value:g}",
                        transport,
                        retransmitted_mean(runs).text("", MILLI),
                        recovery_mean(runs).text("", MILLI),
                        delay_99(runs).text("", MILLI),
                        longest(runs).text("", decimals=1),
                        throughput(runs).text("", KBYTE, 1),
                    )
                )
    return Grid(
        "A wider range of parameters, and more than two paths",
        "One parameter at a time. The other values are those of the study.",
        (
            "parameter",
            "value",
            "transport",
            "mean delay of retransmitted messages / ms",
            "from first transmission / ms",
            "99 % below / ms",
            "longest delay / s",
            "throughput / KByte/s",
        ),
        rows,
    )
