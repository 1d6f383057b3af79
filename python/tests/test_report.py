"""`slantpath report`: a page of a result directory, or of two with what differs, and what is said of none."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slantpath import Scenario, __version__, _native, mean_interval, page
from slantpath.command import draw
from slantpath.plots.results import NothingToDrawError, ResultDirectory
from slantpath.report import ReportError, command, report
from slantpath.report.measures import with_width
from slantpath.report.settings import choices, differences, settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).parents[2]
FIRST = str(ROOT / "scenarios/first.toml")
NASTY = '<script>alert("1")</script> & \N{RIGHT-TO-LEFT OVERRIDE}x'
EMPTY = frozenset({"br", "img", "link", "meta", "wbr"})


def slantpath(*words: str) -> None:
    assert _native.main(["slantpath", *words], draw) == 0


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six runs each of two scenarios that differ in one value, and of one with another seed."""
    out = tmp_path_factory.mktemp("runs")
    short = ("--reps", "6", "--set", "scenario.duration=20 s")
    slantpath("run", FIRST, *short, "--out", str(out / "clear"))
    slantpath("run", FIRST, *short, "--set", "links.satellite.loss=3 %", "--out", str(out / "lossy"))
    slantpath("run", FIRST, *short, "--seed", "7", "--out", str(out / "other-seed"))
    slantpath("run", FIRST, "--set", "scenario.duration=20 s", "--out", str(out / "single"))
    return out


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sweeps")
    for name, delay in (("near", "20 ms"), ("far", "250 ms")):
        text = f"""
[sweep]
scenario = {json.dumps(FIRST)}
repetitions = 3
[[axis]]
"links.satellite.loss" = ["0 %", "2 %"]
"""
        (out / f"{name}.toml").write_text(text)
        values = ("scenario.duration=10 s", f"links.satellite.delay={delay}")
        extra = [word for value in values for word in ("--set", value)]
        slantpath("sweep", str(out / f"{name}.toml"), *extra, "--out", str(out / name))
    return out


class Page(HTMLParser):
    """What a page consists of: elements, and tables by their captions."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.strings: list[tuple[str, str]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.caption = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "tr":
            self.tables.setdefault(self.caption, []).append([])
        if tag in {"th", "td"}:
            self.tables[self.caption][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        self.strings.append((inside, data))
        if "caption" in self.open:
            self.caption = data
            assert data not in self.tables
            self.tables[data] = []
        elif self.open and ("td" in self.open or "th" in self.open):
            self.tables[self.caption][-1][-1] += data

    def of(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name in tags]

    def table(self, begin: str) -> list[dict[str, str]]:
        """Give the rows of the table whose caption begins so, cells by the heads of their columns."""
        (rows,) = [rows for caption, rows in self.tables.items() if caption.startswith(begin)]
        return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def by_hand(
    directory: Path, tables: Mapping[str, Mapping[str, Sequence[object]]], **manifest: object
) -> Path:
    """Write tables and a manifest as a run does."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, columns in tables.items():
        pq.write_table(pa.table(dict(columns)), directory / f"{name}.parquet")
    whole = {"program": "slantpath", "version": __version__, "scenario": "by-hand", "seed": 1, **manifest}
    (directory / "manifest.json").write_text(json.dumps(whole))
    return directory


def flows(delays_s: Iterable[float], flow: str = "data") -> dict[str, Sequence[object]]:
    delays = list(delays_s)
    return {"run": list(range(len(delays))), "flow": [flow] * len(delays), "delay_mean_s": delays}


def numbered(count: int, **more: object) -> list[dict[str, object]]:
    return [{"run": run, "digest": f"d{run}", **more} for run in range(count)]


def test_a_run_s_report_has_its_measures_settings_figures_and_how_to_repeat_it(runs: Path) -> None:
    html = report(runs / "clear")
    made = Page(html)
    (row,) = made.table("How long messages of each flow took")
    flows_table = pq.read_table(runs / "clear" / "flows.parquet", partitioning=None).to_pydict()
    mean, width = mean_interval([1e3 * delay for delay in flows_table["delay_mean_s"]], 0.99)
    assert row["mean delay / ms"] == with_width(mean, width)
    assert "6 runs of 20 s, seed 1." in html
    (said,) = [data for inside, data in made.strings if inside == "li" and data.startswith("signalling: ")]
    assert "messages delivered, " in said
    assert f", a mean delay of {row['mean delay / ms']} ms, 99 % below" in said
    chosen = {row["setting"]: row for row in made.table("What the scenario sets")}
    assert chosen["links.satellite.forward.loss"] == {
        "setting": "links.satellite.forward.loss",
        "value": "0.01",
        "default": "0",
    }
    assert chosen["links.satellite.forward.rate"]["default"] == "–"
    assert "sctp.default.rto_min" not in chosen
    assert "slantpath run scenario.toml --reps 6 --out again" in html
    known = {row["what"]: row["value"] for row in made.table("What the results came from")}
    manifest = json.loads((runs / "clear" / "manifest.json").read_text())
    assert (known["hash of the merged scenario"], known["seed"]) == (manifest["hash"], "1")
    assert known["version of slantpath"] == __version__
    assert [row["digest"] for row in made.table("Digests")] == [run["digest"] for run in manifest["runs"]]
    assert len(made.of("img")) == 3


def test_equal_results_give_equal_pages(runs: Path) -> None:
    assert report(runs / "single") == report(runs / "single")
    assert report(runs / "clear", runs / "lossy") == report(runs / "clear", runs / "lossy")


def test_the_command_in_a_report_gives_the_same_results(runs: Path, tmp_path: Path) -> None:
    shutil.copy(runs / "other-seed" / "scenario.toml", tmp_path / "scenario.toml")
    (told_command,) = re.findall("<pre>(slantpath run [^<]*)</pre>", report(runs / "other-seed"))
    words = told_command.replace("scenario.toml", str(tmp_path / "scenario.toml")).split()
    slantpath(*words[1:-1], str(tmp_path / "again"))
    ours, theirs = (
        json.loads((path / "manifest.json").read_text()) for path in (tmp_path / "again", runs / "other-seed")
    )
    assert (ours["hash"], ours["runs"]) == (theirs["hash"], theirs["runs"])


def test_the_sweep_file_in_a_report_gives_the_same_points(sweeps: Path, tmp_path: Path) -> None:
    html = report(sweeps / "near")
    sweep_file = next(
        data for inside, data in Page(html).strings if inside == "pre" and data.startswith("[sweep]")
    )
    (tmp_path / "sweep.toml").write_text(sweep_file)
    shutil.copy(sweeps / "near" / "scenario.toml", tmp_path / "scenario.toml")
    slantpath("sweep", str(tmp_path / "sweep.toml"), "--out", str(tmp_path / "again"))
    ours, theirs = (
        json.loads((path / "manifest.json").read_text()) for path in (tmp_path / "again", sweeps / "near")
    )
    assert [run["hash"] for run in ours["runs"]] == [run["hash"] for run in theirs["runs"]]
    assert [run["digest"] for run in ours["runs"]] == [run["digest"] for run in theirs["runs"]]
    assert "was not tried" not in html
    assert [row["values"] for row in Page(html).table("What the sweep varies")] == ["0 %, 2 %"]
    points = [row["satellite.loss_ratio"] for row in Page(html).table("What each flow sent")]
    assert points == ["0", "0.02"]


def test_runs_of_two_directories_are_paired_by_their_numbers(tmp_path: Path) -> None:
    before, after = [0.25, 0.31, 0.22, 0.4], [0.26, 0.33, 0.23, 0.45]
    first = by_hand(tmp_path / "a", {"flows": flows(before)}, runs=numbered(4))
    # The other has them in another order.
    table = {name: list(cells)[::-1] for name, cells in flows(after).items()}
    second = by_hand(tmp_path / "b", {"flows": table}, runs=numbered(4)[::-1])
    (row,) = Page(report(first, second)).table("How long messages of each flow took")
    mean, width = mean_interval([1e3 * (b - a) for a, b in zip(before, after, strict=True)], 0.99)
    assert row["difference"] == f"+{with_width(mean, width)}"
    assert row["in %"] == f"+{100 * mean / 1e3 / (sum(before) / 4):.1f}"
    assert (row["pairs"], row["it is"]) == ("4", "undecided")
    (row,) = Page(report(first, first)).table("How long messages of each flow took")
    assert (row["difference"], row["it is"]) == ("0", "equal")


def test_a_paired_difference_says_its_direction_where_zero_is_outside(tmp_path: Path) -> None:
    first = by_hand(tmp_path / "a", {"flows": flows([0.25, 0.31, 0.22, 0.4])}, runs=numbered(4))
    second = by_hand(tmp_path / "b", {"flows": flows([0.15, 0.2, 0.12, 0.31])}, runs=numbered(4))
    (row,) = Page(report(first, second)).table("How long messages of each flow took")
    assert row["it is"] == "less"
    assert row["difference"].startswith("−100 ± ")
    (row,) = Page(report(second, first)).table("How long messages of each flow took")
    assert row["it is"] == "more"
    alone = by_hand(tmp_path / "c", {"flows": flows([0.1] * 4, "voice")}, runs=numbered(4))
    assert "2 rows are in one of them alone, and are not compared." in report(first, alone)
    assert "are in one of them alone" not in report(first, second)


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        ({"seed": 2, "runs": numbered(4)}, "Their seeds differ"),
        ({"runs": [{"run": run} for run in range(10, 14)]}, "no number of a run in common"),
        ({"runs": numbered(1)}, "one run in common"),
    ],
)
def test_runs_that_do_not_share_their_draws_are_not_paired(
    tmp_path: Path, theirs: dict[str, object], why: str
) -> None:
    delays = [0.25, 0.31, 0.22, 0.4]
    first = by_hand(tmp_path / "a", {"flows": flows(delays)}, runs=numbered(4))
    second = by_hand(tmp_path / "b", {"flows": flows([2 * delay for delay in delays])}, **theirs)
    html = report(first, second)
    assert why in html
    assert "Differences are plain, without intervals." in html
    (row,) = Page(html).table("How long messages of each flow took")
    assert (row["difference"], row["in %"]) == ("+295", "+100.0")
    assert "pairs" not in row


def test_an_emulation_s_report_tells_of_real_programs_and_of_no_flows(tmp_path: Path) -> None:
    interfaces: dict[str, Sequence[object]] = {
        "run": [0, 0],
        "node": ["far", "near"],
        "link": ["link", "link"],
        "packets_in": [19, 20],
        "packets_out": [19, 16],
        "lateness_median_s": [6.7e-5, None],
        "late": [0, 3],
        "lost": [2, 0],
    }
    tables = {"attached_interfaces": interfaces, "flows": flows([])}
    html = report(by_hand(tmp_path / "emulated", tables, runs=numbered(1)))
    first, second = Page(html).table("What passed the interfaces")
    assert (first["node"], first["packets from it"], second["packets to it"]) == ("far", "19", "16")
    assert "3 packets at near, link left later than" in html
    assert "2 packets at far, link were dropped before they were read" in html
    assert "An emulation with real programs, seed 1" in html
    for no_word in ("no flow was asked for", "chance is not parted", "slantpath run scenario.toml"):
        assert no_word not in html
    assert "slantpath emulate scenario.toml" in html


def test_the_settings_of_two_directories_are_told_where_they_differ(runs: Path, sweeps: Path) -> None:
    rows = Page(report(runs / "clear", runs / "lossy")).table("Settings that differ")
    assert [tuple(row.values()) for row in rows] == [
        ("links.satellite.forward.loss", "0.01", "0.03"),
        ("links.satellite.reverse.loss", "0.01", "0.03"),
    ]
    assert "no setting differs" in report(runs / "clear", runs / "clear")
    html = report(sweeps / "near", sweeps / "far")
    rows = Page(html).table("How long messages of each flow took")
    medians = [row for row in rows if row["measure"] == "median / ms"]
    assert [row["it is"] for row in medians] == ["more", "more"]
    assert [row["satellite.loss_ratio"] for row in medians] == ["0", "0.02"]
    assert "a sweep of other settings" in report(runs / "clear", sweeps / "far")


def test_the_figures_of_two_directories_have_axes_of_one_length(tmp_path: Path) -> None:
    from slantpath.plots import plots  # noqa: PLC0415
    from slantpath.report.comparison import _alike  # noqa: PLC0415

    for name, delay in (("a", 0.1), ("b", 0.9)):
        messages: dict[str, Sequence[object]] = {
            "run": [0, 0],
            "flow": ["data", "data"],
            "size_bytes": [100, 100],
            "sent_s": [1.0, 2.0],
            "delivered_s": [1.0 + delay, 2.0 + delay],
            "delay_s": [delay, delay],
        }
        by_hand(tmp_path / name, {"messages": messages})
    both = [plots(tmp_path / name, ["delay"])[0] for name in "ab"]
    tops = [plot.drawing.figure.axes[0].get_ylim()[1] for plot in both]
    _alike(both)
    assert tops[0] < tops[1]
    assert [plot.drawing.figure.axes[0].get_ylim()[1] for plot in both] == [tops[1]] * 2


def test_a_topology_s_report_has_its_paths_and_figures(tmp_path: Path) -> None:
    scenario = str(ROOT / "scenarios/iridium-london-boston.toml")
    slantpath("topology", scenario, "--set", "topology.span=20 min", "--out", str(tmp_path / "sky"))
    html = report(tmp_path / "sky")
    made = Page(html)
    (row,) = made.table("Each path over the whole span")
    assert (row["path"], row["connected / %"]) == ("main", "100")
    figures = sorted((tmp_path / "sky").glob("*.svg"))
    assert len(made.of("img")) == len(figures) > 3
    assert any("One-way delay from london to boston" in str(image["alt"]) for image in made.of("img"))
    assert "slantpath topology topology.toml --out again" in html
    both = report(tmp_path / "sky", tmp_path / "sky")
    assert "no setting differs" in both
    assert len(Page(both).of("img")) == 2 * len(figures)


def test_a_study_s_report_has_the_tables_and_figures_that_it_wrote(tmp_path: Path) -> None:
    (tmp_path / "claims.txt").write_text("for a terminal")
    verdicts = (
        "| # | claim | published | ours | verdict |\n| --- | --- | --- | --- | --- |\n"
        "| M1 | a <claim> | 1 ms | 2 ms | differs |\n\n### What each verdict rests on\n\n"
        "| # | figure | verdict |\n| --- | --- | --- |\n| M1 | delay | agrees |\n"
    )
    (tmp_path / "verdicts.txt").write_text(verdicts)
    svg = (
        "<svg xmlns='http://www.w3.org/2000/svg'><metadata><dc:title>Delay &amp; loss</dc:title>"
        "<dc:description>Line: 5 ms.</dc:description></metadata></svg>"
    )
    (tmp_path / "figure.svg").write_text(svg)
    assert "<h1>test_a_study" in report(tmp_path)
    (tmp_path / "report.html").write_text("<html><h1>Loss &amp; delay</h1>")
    html = report(tmp_path)
    assert "<h1>Loss &amp; delay</h1>" in html
    made = Page(html)
    assert made.table("Claims.") == [
        {"#": "M1", "claim": "a <claim>", "published": "1 ms", "ours": "2 ms", "verdict": "differs"}
    ]
    assert made.table("What each verdict rests on.") == [{"#": "M1", "figure": "delay", "verdict": "agrees"}]
    assert [image["alt"] for image in made.of("img")] == ["Line: 5 ms."]
    assert "<b>Delay &amp; loss</b>" in html
    with pytest.raises(ReportError, match="is of a study: give two that"):
        report(tmp_path, tmp_path)


def test_what_happened_is_listed_with_its_times(tmp_path: Path) -> None:
    failovers: dict[str, Sequence[object]] = {
        "run": [0],
        "flow": ["data"],
        "at_s": [12.5],
        "from_path": ["leo"],
        "to_path": ["geo"],
        "cause": ["link down"],
        "failover_s": [6.25],
    }
    outages: dict[str, Sequence[object]] = {
        "run": [0],
        "from": ["a"],
        "to": ["b"],
        "path": ["leo"],
        "begin_s": [6.25],
        "end_s": pa.array([None], pa.float64()),
    }
    tables: dict[str, Mapping[str, Sequence[object]]] = {
        "failovers": failovers,
        "outages": outages,
        "flows": flows([0.25]),
    }
    directory = by_hand(
        tmp_path, tables, runs=[{"run": 0, "failures": [{"flow": "data", "failure": "lost"}]}]
    )
    (directory / "scenario.toml").write_text('[[script]]\nat = "6 s"\nlink = "leo"\naction = "down"\n')
    made = Page(report(directory))
    (row,) = made.table("Each failover")
    assert (row["at / s"], row["from"], row["to"], row["failover / ms"]) == ("12.500", "leo", "geo", "6,250")
    (row,) = made.table("Times for which a path carried nothing")
    assert (row["begins / s"], row["ends / s"]) == ("6.250", "–")
    assert made.table("What the scenario's script does") == [{"at": "6 s", "event": "link leo, action down"}]
    assert ("li", "Run 0: flow data, failure lost.") in made.strings
    # A table of the script is told in its place.
    script = {"run": [0], "at_s": [6.0], "kind": ["link"], "name": ["leo"], "event": ["down"]}
    pq.write_table(pa.table(script), directory / "script.parquet")
    rows = Page(report(directory)).table("What the scenario's script does")
    assert rows == [{"name": "leo", "kind": "link", "at / s": "6.000", "event": "down"}]


def test_long_tables_are_shortened_and_say_so(tmp_path: Path) -> None:
    many: dict[str, Sequence[object]] = {
        "run": [0] * 300,
        "flow": [f"f{place}" for place in range(300)],
        "delay_mean_s": [0.25] * 300,
    }
    rows = Page(report(by_hand(tmp_path, {"flows": many}))).table("How long messages of each flow took")
    assert (len(rows), rows[-1]["flow"]) == (100, "f99")
    captions = " ".join(Page(report(tmp_path)).tables)
    assert "The first 100 of 300 rows; all are in flows.csv." in captions


def test_every_string_of_a_file_is_escaped(tmp_path: Path) -> None:
    tables: dict[str, Mapping[str, Sequence[object]]] = {
        "flows": {**flows([0.25], NASTY), f"x.{NASTY}": [NASTY]},
        "outages": {"run": [0], "path": [NASTY], "begin_s": [1.0], "cause": [NASTY]},
        "messages": {
            "run": [0],
            "flow": [NASTY],
            "size_bytes": [100],
            "sent_s": [1.0],
            "delivered_s": [2.0],
            "delay_s": [1.0],
        },
    }
    runs = [{"run": NASTY, "digest": NASTY, "failures": [NASTY, {NASTY: NASTY}]}]
    told_of = {
        **dict.fromkeys(("scenario", "hash", "seed"), NASTY),
        "version": f"{__version__}+{NASTY}",
    }
    axes = [{NASTY: [NASTY]}]
    for name in ("a", "b"):
        by_hand(tmp_path / name, tables, **told_of, runs=runs, axes=axes, warnings=[NASTY])
        text = f"[scenario]\nname = {json.dumps(NASTY)}\ndescription = {json.dumps(NASTY)}\n"
        (tmp_path / name / "scenario.toml").write_text(f"{text}[{NASTY}]\n{NASTY} = {name}{NASTY}\n")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "claims.txt").write_text(NASTY)
    for text in (f"| a | verdict |\n|---|---|\n| {NASTY} | {NASTY} |\n# {NASTY}", NASTY):
        (tmp_path / "study" / "verdicts.txt").write_text(text)
        study = report(tmp_path / "study")
        assert "<script" not in study
    for html in (report(tmp_path / "a"), report(tmp_path / "a", tmp_path / "b")):
        made = Page(html)
        assert "<script" not in html
        assert {name for name, _ in made.found} & {"script", "iframe", "object"} == set()
        # The page's own icon, which is none, is the only link.
        assert [of["rel"] for name, of in made.found if name == "link"] == ["icon"]
        assert any('<script>alert("1")' in data for _, data in made.strings)


def test_a_page_needs_nothing_and_is_fit_for_telephones_printers_and_screen_readers(
    runs: Path, sweeps: Path
) -> None:
    for html in (
        report(runs / "clear"),
        report(runs / "clear", runs / "lossy"),
        report(sweeps / "near"),
        report(sweeps / "near", sweeps / "far"),
    ):
        made = Page(html)
        assert re.findall(r'(?:src|href)="(?!data:|#)', html) == []
        assert made.of("html") == [{"lang": "en"}]
        assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in made.of("meta")
        assert len(made.of("title")) == len(made.of("h1")) == len(made.of("main")) == 1
        levels = [int(name[1]) for name, _ in made.found if re.fullmatch(r"h[1-6]", name)]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert all(str(image["alt"]).strip() for image in made.of("img"))
        tables = made.of("table")
        assert len(tables) == len(made.of("caption")) == len(made.of("thead")) == len(made.tables)
        assert {heading.get("scope") for heading in made.of("th")} == {"col", "row"}
        regions = [box["aria-label"] for box in made.of("div") if box.get("role") == "region"]
        assert len(regions) == len(set(regions)) == len(tables)
        # Every cell stands behind the name of its column on a narrow screen.
        cells = [cell for cell in made.of("td", "th") if cell.get("scope") != "col"]
        assert all(cell.get("data-label") for cell in cells)
        names = [attributes["id"] for _, attributes in made.found if "id" in attributes]
        assert len(names) == len(set(names))
        links = [str(link["href"]) for link in made.of("a")]
        assert links == [f"#{name}" for name in names]
    assert "@media print" in page.STYLE
    assert "size: A4" in page.STYLE


def run_command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = command.main(words)
    return status, capsys.readouterr().err


def test_the_command_writes_where_nothing_is_and_overwrites_only_by_force(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(runs / "single", tmp_path / "one")
    shutil.copytree(runs / "single", tmp_path / "two")
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert command.main([one]) == command.DONE
    written = tmp_path / "one" / "report.html"
    assert capsys.readouterr().out == f"{written}\n"
    written.write_text("mine")
    told_error = f"slantpath report: {written} is there: --force overwrites it, --out names another file\n"
    assert run_command(capsys, one) == (command.MISUSED, told_error)
    assert written.read_text() == "mine"
    assert command.main([one, "--force"]) == command.DONE
    assert written.read_text(encoding="utf-8") == report(one)
    assert command.main([one, two]) == command.DONE
    assert (tmp_path / "one" / "report-and-two.html").read_text(encoding="utf-8") == report(one, two)
    assert command.main([one, "--out", str(tmp_path / "deep" / "x.html")]) == command.DONE
    assert (tmp_path / "deep" / "x.html").is_file()
    assert "is a directory: name a file by --out" in run_command(capsys, one, "--out", two)[1]
    (tmp_path / "one" / "claims.txt").write_text("of a study")
    assert f"{written}, the study's own page, is there: --force" in run_command(capsys, one)[1]


def test_each_directory_that_gives_no_report_is_told_in_a_line_with_its_cure(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(directory: Path, *others: str) -> str:
        status, error = run_command(capsys, str(directory), *others, "--out", str(tmp_path / "page.html"))
        assert status == command.MISUSED
        assert not (tmp_path / "page.html").exists()
        assert error.count("\n") == 1
        assert error.startswith("slantpath report: ")
        return error

    assert "is not there: give the directory that" in refused(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    assert "is a file: give the directory that" in refused(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert "holds no results: give a directory that" in refused(tmp_path / "empty")
    (tmp_path / "begun" / "unfinished").mkdir(parents=True)
    assert "were interrupted, and the same command goes on" in refused(tmp_path / "begun")
    half = by_hand(tmp_path / "half", {}, state="being written")
    assert "is not whole (being written): wait for its command, or give it again" in refused(half)
    other = by_hand(tmp_path / "other", {}, program="else")
    assert "manifest.json is not of this program" in refused(other)
    (other / "manifest.json").write_text("{")
    assert "manifest.json is not whole: give the command that made it again" in refused(other)
    (other / "manifest.json").write_text('{"program": "slantpath", "version": "9.1", "answer": 42}')
    assert "is of slantpath 9.1, whose tables may mean something else than those of" in refused(other)
    (other / "manifest.json").write_text(f'{{"program": "slantpath", "version": "{__version__}"}}')
    assert "manifest.json names no scenario, sweep, topology, plan or load: give the" in refused(other)
    shutil.copytree(runs / "single", tmp_path / "cut")
    (tmp_path / "cut" / "links.csv").unlink()
    assert "links.parquet is not whole" not in report(tmp_path / "cut")
    (tmp_path / "cut" / "links.parquet").write_bytes(b"PAR1")
    assert "links.parquet is not whole" in refused(tmp_path / "cut")
    footer = bytes(range(64))
    torn = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    (tmp_path / "cut" / "links.parquet").write_bytes(torn)
    assert "links.parquet is not whole" in refused(tmp_path / "cut")
    assert "links.parquet is not whole" in refused(runs / "single", str(tmp_path / "cut"))
    (tmp_path / "cut" / "links.parquet").unlink()
    assert "links.parquet is missing, which manifest.json lists: give the command" in refused(
        tmp_path / "cut"
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "with_what"),
    [
        ("0.1.7", "0.1.0", None),
        ("0.1.7", "0.1.9-beta", None),
        ("0.1.7", "0.0.9", "0.0"),
        ("0.1.7", "0.2.0", "0.2"),
        ("0.1.7", "1.1.7", "1"),
        ("1.3.0", "1.4.2", None),
        ("1.3.0", "0.3.0", "0.3"),
        ("1.3.0", "2.3.0", "2"),
    ],
)
def test_results_are_read_of_versions_that_write_the_same_form_and_others_refused_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: str, theirs: str, with_what: str | None
) -> None:
    monkeypatch.setattr("slantpath.versions.OURS", ours)
    directory = by_hand(tmp_path, {"flows": flows([0.25])}, version=theirs, runs=numbered(1))
    if with_what is None:
        assert 'id="warnings"' not in report(directory)
        assert ResultDirectory.read(directory).name == "by-hand"
        return
    cure = f"whose tables may mean something else than those of {ours}: give the command that made it anew "
    for read in (report, ResultDirectory.of):
        with pytest.raises((ReportError, NothingToDrawError)) as refused:
            read(directory)
        told_error = (
            f"{directory} is of slantpath {theirs}, {cure}with this version, or read it with slantpath "
        )
        assert str(refused.value) == f"{told_error}{with_what}"


def test_a_version_that_is_none_is_refused(tmp_path: Path) -> None:
    directory = by_hand(tmp_path, {"flows": flows([0.25])}, version="new", runs=numbered(1))
    with pytest.raises(ReportError, match="is of an unknown version, `new`: give the command"):
        report(directory)


def test_two_directories_of_two_versions_are_compared_with_a_warning(tmp_path: Path) -> None:
    first = by_hand(tmp_path / "a", {"flows": flows([0.25])}, runs=numbered(1))
    patched = f"{__version__.rpartition('.')[0]}.99"
    second = by_hand(tmp_path / "b", {"flows": flows([0.25])}, version=patched, runs=numbered(1))
    assert "Two versions of slantpath made them" in report(first, second)
    assert "Two versions of slantpath made them" not in report(first, first)


def test_results_beside_which_a_later_command_was_interrupted_are_told_to_be_earlier(tmp_path: Path) -> None:
    directory = by_hand(tmp_path, {"flows": flows([0.25])}, runs=numbered(1))
    (directory / "unfinished").mkdir()
    assert "these results are of an earlier one" not in report(directory)
    (directory / "unfinished" / "0.run").write_text("")
    assert "these results are of an earlier one. Give the command again, and it goes on." in report(directory)


def test_of_a_run_of_signalling_the_loads_are_told_and_no_flows(tmp_path: Path) -> None:
    nothing = {"run": pa.array([], pa.int64()), "flow": pa.array([], pa.string())}
    load: dict[str, Sequence[object]] = {
        "run": [0, 0],
        "load": ["isup", "isup"],
        "link": [0, 1],
        "sent_messages": [100, 90],
        "lost_messages": [0, 1],
        "delay_p99_s": [0.5, 0.25],
        "loss_verdict": ["inconclusive", "exceeded"],
    }
    html = report(by_hand(tmp_path, {"flows": nothing, "signalling_load": load}, runs=numbered(1)))
    made = Page(html)
    assert [row["99 % below / ms"] for row in made.table("Messages of each signalling load")] == [
        "500",
        "250",
    ]
    assert [row["loss"] for row in made.table("Verdicts")] == ["inconclusive", "exceeded"]
    assert 'id="flows"' not in html


def test_what_the_engine_doubts_stands_among_the_warnings(tmp_path: Path) -> None:
    values = ("sctp.default.rto_min=10 ms", "scenario.duration=5 s")
    slantpath("run", FIRST, *(word for value in values for word in ("--set", value)), "--out", str(tmp_path))
    (warned,) = [
        data for inside, data in Page(report(tmp_path)).strings if inside == "li" and "RTO.Min" in data
    ]
    assert warned.startswith("scenario.toml:")
    assert warned.endswith("; help: let `rto_min` be above `sack_delay`")


def test_tables_without_rows_are_told(tmp_path: Path) -> None:
    nothing = {"run": pa.array([], pa.int64()), "flow": pa.array([], pa.string())}
    html = report(by_hand(tmp_path, {"flows": nothing, "messages": nothing}, runs=numbered(1)))
    assert "The table `flows` has no rows: no flow was asked for. A section `[flows.NAME]`" in html
    assert "nothing can be drawn: `messages` has no such rows: nothing of the kind happened, and a" in html
    other: dict[str, Sequence[object]] = {"run": [0], "flow": ["data"], "sent": [1.0]}
    html = report(by_hand(tmp_path, {"messages": other}, runs=numbered(1)))
    assert f"a table has other columns than those of slantpath {__version__}" in html


def test_a_directory_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = by_hand(tmp_path, {"flows": flows([0.25])}, runs=numbered(1))

    def changed(_: object) -> list[page.Section]:
        by_hand(tmp_path, {"flows": flows([0.5])}, runs=numbered(2))
        return []

    monkeypatch.setattr("slantpath.report.sections", changed)
    with pytest.raises(ReportError, match="has changed while it was read: give the command again"):
        report(directory)


def test_a_merged_form_is_taken_apart_value_by_value() -> None:
    text = '[a]\nb = "x # y \\" z"  # default\nc = [1, 2]\n[[d]]\ne = 1\n[[d]]\ne = 2  # of the preset\n'
    found = {path: (each.value, each.is_chosen) for path, each in settings(text).items()}
    assert found == {
        "a.b": ('x # y " z', False),
        "a.c": ("[1, 2]", True),
        "d.0.e": ("1", True),
        "d.1.e": ("2", False),
    }
    assert differences(text, text.replace("e = 1", "f = 1")) == [("d.0.e", "1", None), ("d.0.f", None, "1")]


def test_choices_are_told_beside_the_defaults_of_their_presets() -> None:
    scenario = Scenario.load(FIRST).with_values({"sctp.default.rto_max": "9 s", "probes.paths": "1 s"})
    chosen = {each.path: (each.value, each.default) for each in choices(scenario.merged())}
    assert chosen["sctp.default.rto_max"] == ("9 s", "60 s")
    assert chosen["probes.paths"] == ("1 s", "off")
    # Written out, but no other than the default.
    same = scenario.with_values({"sctp.default.rto_max": "60 s"})
    assert "sctp.default.rto_max" not in {each.path for each in choices(same.merged())}
    # What is the default elsewhere is none with this preset.
    tuned = scenario.with_values({"sctp.default.preset": "mb9-sat"})
    preset = settings(tuned.merged())["sctp.default.rto_initial"].value
    slow = tuned.with_values({"sctp.default.rto_initial": "1 s"})
    chosen = {each.path: (each.value, each.default) for each in choices(slow.merged())}
    assert preset != "1 s"
    assert chosen["sctp.default.rto_initial"] == ("1 s", preset)
    assert chosen["sctp.default.preset"] == ("mb9-sat", "rfc9260")
