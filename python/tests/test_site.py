"""The site of the documents: it builds without a warning, and a browser shows it from disk.

Skipped where what builds it is not installed, and the browser's part where there is no Chromium.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import CHROMIUM, Browser

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
LOOKED_AT = (
    "index.html",
    "docs/tutorial.html",
    "docs/scenario.html",
    "docs/machines/mtp3.html",
    "scenarios/first.html",
    "studies/failover/index.html",
)
"""A page of each kind. A page takes half a second."""

pytestmark = pytest.mark.skipif(
    find_spec("zensical") is None, reason="no zensical: the site is not built (make docs installs it)"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("site")
    words = [sys.executable, str(ROOT / "website/build.py"), str(into)]
    done = subprocess.run(words, check=False, capture_output=True, encoding="utf-8")  # noqa: S603 - our script
    assert done.returncode == 0, done.stdout + done.stderr
    return into / "html"


@pytest.fixture(scope="module")
def shown(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert site.is_dir()
    if CHROMIUM is None:
        pytest.skip("no Chromium: the site is not shown")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.end()


def test_every_document_and_every_scenario_has_a_page(site: Path) -> None:
    documents = {*ROOT.glob("docs/**/*.md"), *ROOT.glob("scenarios/*.toml")}
    pages = {file.relative_to(ROOT).with_suffix(".html") for file in documents}
    pages.discard(Path("docs/do/README.html"))
    assert {page for page in pages if not (site / page).exists()} == set()


def test_no_page_names_a_foreign_script_style_or_picture(site: Path) -> None:
    foreign = re.compile(r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=\"?(?:https?:)?//[^\s>]*")
    found = {page.name: foreign.findall(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}
    assert {name: names for name, names in found.items() if names} == {}


def test_pages_from_disk_ask_for_nothing_outside_and_fit_a_telephone(site: Path, shown: Browser) -> None:
    shown.look(width=390, height=800)
    wide = {}
    for page in LOOKED_AT:
        shown.load((site / page).as_uri())
        width = shown.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wide[page] = width
    assert wide == {}
    assert shown.complaints == []
    assert {address.partition(":")[0] for address in shown.requests} <= {"file", "data", "blob"}


def test_the_site_is_searched_from_disk(site: Path, shown: Browser) -> None:
    shown.look()
    shown.load((site / "index.html").as_uri())
    for kind in ("keyDown", "keyUp"):
        shown.call(
            "Input.dispatchKeyEvent", type=kind, key="k", code="KeyK", modifiers=2, windowsVirtualKeyCode=75
        )
    within = "document.activeElement.shadowRoot"
    shown.until(f"{within} && {within}.activeElement")
    shown.call("Input.insertText", text="handover")
    found = shown.until(f"(({within} || {{}}).textContent || '').match(/[0-9]+ results/)")
    assert int(found[0].split()[0]) > 20
    assert shown.complaints == []
    assert {address.partition(":")[0] for address in shown.requests} <= {"file", "data", "blob"}
