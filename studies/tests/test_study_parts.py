"""The parts of a study on tables made by hand: claims, findings, figures, report, files and bar."""

from __future__ import annotations

import io
import math
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.container import ErrorbarContainer

from slantpath import Table
from slantpath.figures import SERIES, new_figure, render, series
from slantpath.files import write_whole
from slantpath.page import Figure
from slantpath_studies.claims import Claim, Estimate, Finding, Part, Verdict, about, as_text
from slantpath_studies.failover import figures as failover_figures
from slantpath_studies.failover import words
from slantpath_studies.multi_link import cases, figures, findings, wider
from slantpath_studies.multi_link.findings import RunFigures
from slantpath_studies.progress import Progress
from slantpath_studies.report import Grid, Report, whole_file

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from matplotlib.axes import Axes

CLAIM = Claim("M4", "mean delay", "765 ms")
DIFFERS = Part("mean delay", about(0.765), Estimate(0.9, 0.004, 20), "ms", 1e3)


def messages(delays_s: list[float | None], again: AbstractSet[int] = frozenset()) -> Table:
    count = len(delays_s)
    return Table.of(
        "messages",
        [
            ("flow", "text", ["data"] * count),
            ("number", "u64", range(count)),
            ("size_bytes", "u64", [1_000] * count),
            ("sent_s", "f64", [1.0 + number / 30 for number in range(count)]),
            ("first_transmitted_s", "f64", [1.1 + number / 30 for number in range(count)]),
            (
                "delivered_s",
                "f64",
                [
                    None if delay is None else 1.0 + number / 30 + delay
                    for number, delay in enumerate(delays_s)
                ],
            ),
            ("delay_s", "f64", delays_s),
            (
                "retransmitted_s",
                "f64",
                [1.5 + number / 30 if number in again else None for number in range(count)],
            ),
            (
                "last_path",
                "text",
                ["terrestrial" if number in again else "satellite" for number in range(count)],
            ),
            ("transmissions", "u64", [2 if number in again else 1 for number in range(count)]),
        ],
    )


def test_an_estimate_is_told_with_its_interval() -> None:
    estimate = Estimate.of([0.760, 0.764, 0.762])
    assert estimate.text("ms", 1e3, 1) == f"762.0 ± {estimate.half_width * 1e3:.1f} ms"
    assert Estimate.exact(2.0).text("s") == "2 s"
    assert Estimate.of([2.0]).text("s") == "2 ± ? s"


def test_the_table_of_claims_is_aligned_and_ends_in_remarks() -> None:
    table = as_text([Finding(CLAIM, "771 ± 4 ms", [], "queueing on the backup")])
    lines = table.splitlines()
    assert lines[0].split() == ["claim", "published", "ours", "(99%", "interval)", "verdict"]
    assert lines[2].index("771") == lines[0].index("ours")
    assert lines[-1] == "M4: queueing on the backup"


def test_a_run_is_summed_up_over_delivered_messages_only() -> None:
    run = RunFigures.of(pa.table(messages([0.25, 0.75, 0.25, None, 0.51], {1, 3, 4})), duration_s=3.0)
    assert run.retransmitted == 2
    assert run.retransmitted_mean_s == pytest.approx(0.63)
    assert run.recovery_mean_s == pytest.approx(0.53)
    # The last one arrived too soon after its retransmission to be of it: it was not lost.
    assert run.lost_least_s == pytest.approx(0.75)
    assert run.isolated_least_s == math.inf
    # So few messages have no second behind slow start.
    assert math.isnan(run.calm_s)
    assert run.longest_s == pytest.approx(0.75)
    assert run.delay_99_s == pytest.approx(0.7428)
    assert run.throughput_bytes_per_s == pytest.approx(4_000 / 2.0)


def figures_of(retransmitted_s: float, throughput: float) -> RunFigures:
    least_s = retransmitted_s - 0.02
    return RunFigures(
        50, retransmitted_s, retransmitted_s, least_s, least_s, 0.256, 0.2, 0.9, 1.1, throughput
    )


OBSERVED = {
    cases.TCP: [figures_of(0.92, 18.01e3), figures_of(0.93, 18.0e3)],
    cases.STANDARD: [figures_of(0.7645, 29.01e3), figures_of(0.7655, 29.0e3)],
    cases.MODIFIED: [figures_of(0.5265, 29.01e3), figures_of(0.5275, 29.0e3)],
    cases.TCP_BULK: [figures_of(0.0, 52e3)],
    cases.STANDARD_BULK: [figures_of(0.0, 52e3)],
}


def test_every_claim_gets_a_finding_and_the_paper_s_numbers_agree() -> None:
    found = findings.findings(OBSERVED)
    assert [finding.claim.number for finding in found] == [f"M{number}" for number in range(1, 10)]
    assert [finding.verdict for finding in found] == [Verdict.AGREES] * 9
    assert found[5].ours == "238 ms"


def test_a_minimum_below_its_bound_differs() -> None:
    observed = {**OBSERVED, cases.STANDARD: [figures_of(0.66, 29e3)] * 2}
    found = {finding.claim.number: finding for finding in findings.findings(observed)}
    assert found["M2"].verdict is Verdict.DIFFERS
    assert "640.0 ms" in found["M2"].remark
    assert found["M4"].verdict is Verdict.DIFFERS


def test_a_second_is_calm_if_nothing_is_lost_in_it_behind_slow_start() -> None:
    delays: list[float | None] = [0.25] * findings.SETTLED + [0.9] * 100 + [0.26] * 20 + [None] * 80
    assert RunFigures.of(pa.table(messages(delays)), 60.0).calm_s == pytest.approx(0.26)
    assert RunFigures.of(pa.table(messages(delays)), 60.0).calm_share == pytest.approx(0.1)
    assert RunFigures.of(pa.table(messages([*delays[:-100], *[0.9] * 100])), 60.0).calm_s == pytest.approx(
        0.9
    )


def test_a_single_run_of_what_is_random_is_undecided_and_its_page_is_written() -> None:
    found = findings.findings({case: runs[:1] for case, runs in OBSERVED.items()})
    assert {finding.claim.number: finding.verdict for finding in found} == {
        **{f"M{number}": Verdict.UNDECIDED for number in range(1, 10)},
        "M8": Verdict.AGREES,
    }
    assert "± ?" in as_text(found)


def test_figures_show_every_message_and_mark_those_sent_again() -> None:
    delays: list[float | None] = [0.25] * 5_000
    delays[4_470] = 0.75
    delays[4_480] = 0.24
    table = pa.table(messages(delays, {4_470}))
    figure = figures.delay_of_standard_sctp(table)
    axes = figure.axes[0]
    every, marked = axes.lines[0], axes.lines[1]
    assert axes.get_xlabel() == "message number"
    assert axes.get_ylabel() == "delivery delay / ms"
    assert len(np.asarray(every.get_xdata())) == 5_000
    assert np.asarray(marked.get_xdata()).tolist() == [4_470]
    assert np.asarray(marked.get_ydata()).tolist() == [750]
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["all messages", "retransmitted", "mean of those: 750 ms"]

    detail = figures.detail_of_tcp_and_sctp(table, table).axes[0]
    assert np.asarray(detail.lines[0].get_xdata()).tolist() == list(range(4_400, 4_560))

    modified = figures.delay_of_modified_sctp(table, table).axes[0].get_legend()
    assert modified is not None
    assert modified.get_texts()[-1].get_text() == "mean of those, standard SCTP: 750 ms"


def test_equal_figures_are_equal_files() -> None:
    table = pa.table(messages([0.25, 0.26, 0.75], {2}))
    for kind in ("svg", "png"):
        one, other = (render(figures.delay_of_tcp_and_sctp(table, table), kind) for _ in range(2))
        assert one == other
    assert b"<svg" in render(figures.delay_of_tcp_and_sctp(table, table), "svg")


def report() -> Report:
    return Report(
        title="A <study>",
        lead="lead",
        findings=[Finding(CLAIM, "771 ± 4 ms", [DIFFERS], "because & why")],
        figures=[Figure("Figure 7.", "caption", "Line chart. TCP: 3 <messages>.", b"<svg/>")],
        grids=[Grid("Sensitivity", "about", ("choice", "M4"), [("a & b", "1")])],
        scenarios=[("sctp", "abc", 'rate = "1 Mbit/s"')],
        seeds="Runs 0 to 19",
    )


def test_the_report_holds_everything_and_needs_nothing_beside_it() -> None:
    html = report().html()
    for text in ("A &lt;study&gt;", "771 ± 4 ms", "because &amp; why", "a &amp; b", "Runs 0 to 19"):
        assert text in html
    assert "rate = &quot;1 Mbit/s&quot;" in html
    assert re.findall(r'(?:src|href)="(?!data:|#)', html) == []
    assert html == report().html()


class Elements(HTMLParser):
    """Collects what a page consists of."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_the_report_can_be_read_on_a_telephone_and_by_a_screen_reader() -> None:
    elements = Elements(report().html())
    assert elements.of("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in elements.of("meta")
    assert [image["alt"] for image in elements.of("img")] == ["Line chart. TCP: 3 <messages>."]
    # The contents lead to each heading below the title, in order.
    headings = [str(heading["id"]) for heading in elements.of("h2")]
    assert headings == ["claims", "table-1", "table-2", "figures", "repeat", "scenarios"]
    assert [link["href"] for link in elements.of("a")] == [f"#{name}" for name in headings]
    assert len(elements.of("nav")) == 1
    tables = len(elements.of("table"))
    assert tables == len(elements.of("caption")) == len(elements.of("thead")) == 4
    scopes = [heading.get("scope") for heading in elements.of("th")]
    # Five columns of claims and of what they rest on, two of the grid, two of versions; a claim, its figure,
    # a choice and five versions.
    assert sorted(map(str, scopes)) == ["col"] * 14 + ["row"] * 8
    # What is wider than the screen scrolls in a box of its own, which the keyboard reaches and a name tells.
    boxes = [box for box in elements.of("div") if box.get("class") == "wide"]
    assert len(boxes) == tables
    assert all(box["tabindex"] == "0" and box["role"] == "region" and box["aria-label"] for box in boxes)


def test_a_figure_s_files_carry_what_it_shows() -> None:
    figure, _ = new_figure()
    svg = render(figure, "svg", title="Figure 7.", words="TCP: 3 messages.")
    assert b"<title>Figure 7.</title>" in svg
    assert b"TCP: 3 messages." in svg
    assert b"TCP: 3 messages." in render(figure, "png", words="TCP: 3 messages.")


def test_delays_are_told_in_numbers() -> None:
    delays: list[float | None] = [*[0.25] * 99, 0.75]
    told = figures.delays_in_words("TCP", pa.table(messages([*delays, None])))
    assert told == (
        "TCP: 101 messages, 1 not delivered, delays from 250 to 750 ms, half of them below 250 ms and "
        "99 % below 255 ms."
    )
    assert figures.delays_in_words("TCP", pa.table(messages([None]))) == "TCP: 1 messages, none delivered."


def looks(axes: Axes) -> list[tuple[object, object]]:
    """Dashes and mark of each line with a label, which do not need colours."""
    lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    return [(line.get_linestyle(), line.get_marker()) for line in lines]


def test_lines_are_told_apart_without_colour() -> None:
    for key in ("color", "linestyle", "marker"):
        assert len({str(look[key]) for look in SERIES}) == len(SERIES)
    assert series(0, 600)["markevery"] == (0, 50)
    assert series(4, 600)["markevery"] == (22, 50)
    constant: list[float | None] = [0.25] * 4_000
    table = pa.table(messages(constant))
    for figure in (figures.delay_of_tcp_and_sctp(table, table), figures.detail_of_tcp_and_sctp(table, table)):
        found = looks(figure.axes[0])
        assert len(set(found)) == len(found) == 2


def test_every_figure_of_the_failover_study_tells_its_lines_apart_without_colour() -> None:
    estimate = Estimate.exact(1.0)
    rows = [("as it is", estimate, estimate, [estimate] * 4)]
    for figure in (failover_figures.failover_times(lambda _: estimate), failover_figures.answers(rows)):
        for axes in figure.axes:
            bars = [bar for bar in axes.containers if isinstance(bar, ErrorbarContainer)]
            marks = [bar.lines[0].get_marker() for bar in bars]
            assert len(set(marks)) == len(marks) > 1
    told = words.against_load("failover time", lambda _: estimate, 0.8)
    assert told.startswith(
        "Two line charts of the failover time in ms against cross traffic, with ITU-T's limit of 800"
    )
    assert told.count("13 KB queue: NONE 1000, ") == 2
    events = [
        ("T3-rtx expired", 30.2),
        ("retransmitted", 30.2),
        ("retransmitted", 30.2),
        ("T3-rtx expired", 30.5),
    ]
    steps = pa.table(
        {"at_s": [at for _, at in events], "event": [event for event, _ in events], "path": ["primary"] * 4}
    )
    assert words.timeline(steps) == (
        "Steps of one failover, in time since the failure: T3-rtx expired on the primary path 2 times from "
        "200 to 500 ms; retransmitted on the primary path 2 times at 200 ms."
    )
    assert words.answers(rows).endswith("(load, loss, jumps, flaps). as it is: 1000 and 1000; 1, 1, 1, 1.")


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "deep" / "report.html", b"old")

    def fail() -> None:
        with whole_file(path) as out:
            out.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_shows_what_is_done_and_found() -> None:
    out = Terminal()
    with Progress(4, "runs", out) as progress:
        progress.resume(2)
        assert progress.remaining_s() is None
        progress.advance()
        assert progress.remaining_s() is not None
        progress.advance()
    last = out.getvalue().rsplit("\r", 1)[1]
    assert last == "█" * 30 + " 4/4 runs\x1b[K\n"


def test_without_a_terminal_a_line_a_tenth_is_written() -> None:
    out = io.StringIO()
    with Progress(100, "runs", out) as progress:
        for _ in range(100):
            progress.advance()
    lines = out.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[-1] == "100/100 runs"


def test_each_wider_point_changes_its_own_parameter_and_the_study_s_own_value_changes_nothing() -> None:
    hashes = {name: scenario.hash for name, scenario in wider.every().items()}
    assert len(hashes) == sum(len(axis.points) * len(axis.transports) for axis in wider.AXES)
    as_studied = {case: cases.scenario_of(case).hash for case in cases.RANDOM_CASES}
    same = {name for name, value in hashes.items() if value in as_studied.values()}
    own = {"loss": "1", "delay": "250", "source": "30", "backup-rate": "128", "backup-delay": "25"}
    transports = {axis.name: axis.transports for axis in wider.AXES}
    assert same == {
        f"wider-{axis}-{value}/{each}" for axis, value in own.items() for each in transports[axis]
    }
