"""The site of the documents: it builds without a warning, and browsers show it from disk and from a server.

Skipped in part where what builds it is not installed, and where there is no browser.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsers import BROWSERS, faults, outside, served, started

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser import Browser

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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("zensical") is None:
        pytest.skip("no zensical: the site is not built (make docs installs it)")
    into = tmp_path_factory.mktemp("site")
    words = [sys.executable, str(ROOT / "website/build.py"), str(into)]
    done = subprocess.run(words, check=False, capture_output=True, encoding="utf-8")  # noqa: S603 - our script
    assert done.returncode == 0, done.stdout + done.stderr
    return into / "html"


@pytest.fixture(scope="module", params=BROWSERS)
def shown(
    request: pytest.FixtureRequest, site: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    assert site.is_dir()
    browser = started(request.param, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.end()


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    yield from served(site)


def staged(root: Path, into: Path, page: str) -> tuple[str, list[str]]:
    """Give a page as the site has it, and the faults of its links."""
    (root / "docs/models").mkdir(parents=True)
    (root / "docs/page.md").write_text(page, encoding="utf-8")
    spec = spec_from_file_location("build", ROOT / "website/build.py")
    assert spec is not None
    assert spec.loader is not None
    build = module_from_spec(spec)
    spec.loader.exec_module(build)
    stage = build.Stage(root, into)
    return stage.staged("docs/page.md"), stage.faults


def test_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path) -> None:
    page = "[here](page.md) [list](models/) [no](no.md)\n```text\n[shown](as-it-is.md)\n```\n"
    text, faults = staged(tmp_path / "root", tmp_path / "into", page)
    assert text.startswith("[here](page.md) [list](models/index.md) [no](no.md)\n")
    assert faults == ["docs/page.md: `no.md` leads nowhere"]


def test_state_diagrams_are_tables_and_files_and_reasons_titles(tmp_path: Path) -> None:
    page = (
        "```mermaid\nstateDiagram-v2\n    [*] --> Idle\n    Idle --> Busy: Call / Ring, StartT1\n```\n"
        "```toml a.toml\n```\n```console (not run: it needs root)\n$ reboot\n```\n"
    )
    text, faults = staged(tmp_path / "root", tmp_path / "into", page)
    assert "| *start* |  | `Idle` |  |\n| `Idle` | Call | `Busy` | Ring, StartT1 |\n" in text
    assert '``` toml title="a.toml"\n' in text
    assert '``` console title="not run by the tests: it needs root"\n$ reboot\n' in text
    assert faults == []


def test_keys_have_a_type_and_their_bound_behind_a_fold(tmp_path: Path) -> None:
    page = (
        "| key | value | default | meaning |\n|---|---|---|---|\n"
        '| `loss` | `"1 %"`, `"1e-6"` | – | Probability. |\n'
        '| `queue` | `"100 packets"`, `"64 KiB"`, `"unlimited"` | required | Room. '
        "At most 10 packets: it is held in memory. Another thing. |\n"
        '| `ends` | a list of: `"250 ms"` | `[]` | Times. |\n| `kept` | `"kept"`, `"lost"` | – | Fate. |\n\n'
        "| column | value | default | meaning |\n|---|---|---|---|\n| `a` | `0.5` | – | At most 1: so. |\n"
    )
    text, faults = staged(tmp_path / "root", tmp_path / "into", page)
    size = '`"unlimited"` or number of packets, as `"100 packets"` or size, as `"64 KiB"`'
    bound = "At most 10 packets: it is held in memory."
    fold = f'<details class="bound"><summary>bound</summary>{bound}</details>'
    assert text.splitlines() == [
        "| key | type | default | meaning |",
        "|---|---|---|---|",
        '| `loss` | share, as `"1 %"` | – | Probability. |',
        f"| `queue` | {size} | required | Room.{fold} Another thing. |",
        '| `ends` | a list of: time, as `"250 ms"` | `[]` | Times. |',
        '| `kept` | `"kept"`, `"lost"` | – | Fate. |',
        "",
        *page.splitlines()[-3:],
    ]
    assert faults == []


def test_every_document_and_every_scenario_has_a_page(site: Path) -> None:
    documents = {*ROOT.glob("docs/**/*.md"), *ROOT.glob("scenarios/*.toml")}
    pages = {file.relative_to(ROOT).with_suffix(".html") for file in documents}
    assert {page for page in pages if not (site / page).exists()} == set()


def test_no_page_names_a_foreign_script_style_or_picture(site: Path) -> None:
    foreign = re.compile(r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=\"?(?:https?:)?//[^\s>]*")
    found = {page.name: foreign.findall(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize("place", ["disk", "server"])
def test_nothing_is_wrong_with_any_kind_of_page(site: Path, shown: Browser, server: str, place: str) -> None:
    found = {}
    for page in LOOKED_AT if place == "disk" else LOOKED_AT[:1]:
        address = (site / page).as_uri() if place == "disk" else f"{server}/{page}"
        found[page] = faults(shown, address, is_long=page == "docs/scenario.html")
    assert {page: faulty for page, faulty in found.items() if faulty} == {}


def test_the_site_is_searched_from_disk(site: Path, shown: Browser) -> None:
    shown.look()
    shown.anew((site / "index.html").as_uri())
    shown.press("k", control=True)
    within = "document.activeElement.shadowRoot"
    shown.until(f"{within} && {within}.activeElement")
    shown.write("handover")
    found = shown.until(f"(({within} || {{}}).textContent || '').match(/[0-9]+ results/)")
    assert int(found[0].split()[0]) > 20
    assert shown.complaints == []
    assert outside(shown, (site / "index.html").as_uri()) == []
