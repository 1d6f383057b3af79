"""Reports of every kind as browsers show them: from disk and a server, on a screen and on a telephone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browsers import AXE, BROWSERS, NO_AXE, faults, served, started
from test_report import FIRST, by_hand, flows, numbered, slantpath
from test_report_documents import LOAD, PLAN, written
from test_view import topology

from slantpath.report import report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from browser import Browser

KINDS = ("comparison", "load", "plan", "run", "study", "sweep", "topology")
VERDICTS = "| # | claim | ours | verdict |\n| --- | --- | --- | --- |\n| M1 | a <claim> | 2 ms | differs |\n"
SVG = (
    "<svg xmlns='http://www.w3.org/2000/svg'><metadata><dc:title>Delay</dc:title>"
    "<dc:description>Line: 5 ms.</dc:description></metadata></svg>"
)


@pytest.fixture(scope="module", params=BROWSERS)
def browser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = started(request.param, tmp_path_factory.mktemp("browser"))
    yield opened
    opened.end()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report of each kind."""
    home = tmp_path_factory.mktemp("reports")
    slantpath("run", FIRST, "--set", "scenario.duration=20 s", "--out", str(home / "a-run"))
    axes: dict[str, Sequence[object]] = {"run": [0, 1], "links.ground.loss_ratio": [0.0, 0.01]}
    sweeps = [
        by_hand(home / name, {"flows": {**flows([mean, 0.3]), **axes}}, runs=numbered(2))
        for name, mean in (("a-sweep", 0.25), ("another", 0.2))
    ]
    study = home / "a-study"
    study.mkdir()
    (study / "verdicts.txt").write_text(VERDICTS)
    (study / "claims.txt").write_text("of a study")
    (study / "figure.svg").write_text(SVG)
    pages = {
        "comparison": report(*sweeps),
        "load": report(written(home / "a-load", LOAD)),
        "plan": report(written(home / "a-plan", PLAN)),
        "run": report(home / "a-run"),
        "study": report(study),
        "sweep": report(sweeps[0]),
        "topology": report(topology(home / "a-topology")),
    }
    for kind, html in pages.items():
        (home / f"{kind}.html").write_text(html, encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def server(reports: Path) -> Iterator[str]:
    yield from served(reports)


@pytest.mark.skipif(not AXE.is_file(), reason=NO_AXE)
def test_accessibility_is_checked() -> None:
    assert "axe.run" in AXE.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["disk", "server"])
def test_nothing_is_wrong_with_a_report(
    browser: Browser, reports: Path, server: str, place: str, kind: str
) -> None:
    address = (reports / f"{kind}.html").as_uri() if place == "disk" else f"{server}/{kind}.html"
    assert faults(browser, address) == []
