"""Views as a browser shows them: opened from disk, by keyboard, on a screen and on a telephone.

Skipped where there is no Chromium.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from browser import AXE, CHROMIUM, NO_AXE, Browser, serious_findings
from test_report import by_hand
from test_view import HOSTILE, intervals, topology

from slantpath.view import view

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: views are not opened")

FOCUSED = """(() => {
  const at = document.activeElement;
  return at === document.body ? null
    : `${at.tagName} ${at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent}`;
})()"""
CONTROLS = """[...document.querySelectorAll("button, input, select, summary, [tabindex='0']")]
  .filter((at) => !at.disabled && at.getClientRects().length).length"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.end()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the address of a view of a run under its sky, with names that try to be markup."""
    home = tmp_path_factory.mktemp("page")
    sky = topology(home / "sky", satellite=HOSTILE)
    run = by_hand(home / "run", {"flow_intervals": intervals(40, (HOSTILE, "a", "b"))})
    (run / "scenario.toml").write_text('[scenario]\nduration = "40 s"\n')
    file = home / "view.html"
    file.write_text(view(run, sky=sky), encoding="utf-8")
    return file.as_uri()


def cursor(browser: Browser) -> float:
    return float(browser.evaluate("Number(document.querySelector('input[type=range]').value)"))


def window(browser: Browser) -> str:
    return str(browser.evaluate("document.querySelector('.span').textContent"))


def said(key: str) -> str:
    """Give the expression for a key of the address, which is written once nothing has changed for a while."""
    return f"new URLSearchParams(location.hash.slice(1)).get('{key}')"


def test_a_view_opens_from_disk_without_a_complaint_and_asks_for_nothing(browser: Browser, page: str) -> None:
    browser.look()
    browser.open(page)
    for target in ("[aria-pressed=false]", ".chart button[aria-label^=Save]"):
        browser.evaluate(f"document.querySelector({json.dumps(target)}).click()")
        browser.rest()
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert browser.evaluate("document.querySelectorAll('canvas').length") >= 2
    assert browser.evaluate("typeof hacked") == "undefined"
    assert HOSTILE in browser.evaluate("document.querySelector('.legend').textContent")
    assert browser.evaluate("document.querySelectorAll('img').length") == 0


def test_what_is_drawn_is_there_to_be_seen(browser: Browser, page: str) -> None:
    browser.look()
    browser.open(page)
    count = """new Set(new Uint32Array(document.querySelector("%s").getContext("2d")
      .getImageData(0, 0, 600, 170).data.buffer)).size"""
    assert browser.evaluate(count % ".sky canvas") > 50
    assert browser.evaluate(count % ".plot canvas") > 10


def test_the_address_brings_the_view_back(browser: Browser, page: str) -> None:
    browser.look()
    browser.open(page)
    browser.evaluate("document.querySelector('.events li button').click()")
    browser.evaluate("document.querySelector('[aria-label=\"Show a shorter time\"]').click()")
    browser.evaluate("[...document.querySelectorAll('.switch button')][1].click()")
    browser.evaluate("document.querySelector('.layers input').click()")
    browser.until(said("without"))
    assert cursor(browser) == 30.0
    before = [window(browser), browser.evaluate("location.hash")]
    browser.open(page + str(before[1]))
    assert cursor(browser) == 30.0
    assert [window(browser), browser.evaluate("location.hash")] == before
    pressed = browser.evaluate("document.querySelector('[aria-pressed=true]').textContent")
    assert pressed == "Map"
    assert browser.evaluate("document.querySelector('.layers input').checked") is False
    assert browser.evaluate("document.querySelector('[aria-current]').textContent").startswith("0:30")


def test_charts_and_lines_that_were_chosen_come_back_with_the_address(browser: Browser, page: str) -> None:
    browser.look()
    browser.open(page)
    charts = "[...document.querySelectorAll('.chart h3')].map((at) => at.textContent.trim())"
    lines = "document.querySelector('.chart .legend').textContent"
    count = len(browser.evaluate(charts))
    browser.evaluate("document.querySelector('.adding select').selectedIndex = 0")
    browser.evaluate("document.querySelector('.adding button').click()")
    browser.evaluate("document.querySelector('.chart details').open = true")
    browser.until("document.querySelector('.choices input')")
    browser.evaluate("document.querySelector('.choices input').click()")
    browser.evaluate("document.querySelectorAll('.chart button[aria-label^=Remove]')[1].click()")
    browser.until(f"{said('charts')}?.split('*').length === document.querySelectorAll('.chart').length")
    before = [browser.evaluate(charts), browser.evaluate(lines)]
    assert len(before[0]) == count
    assert HOSTILE not in before[1]
    browser.open(page + str(browser.evaluate("location.hash")))
    assert [browser.evaluate(charts), browser.evaluate(lines)] == before
    assert browser.complaints == []


@pytest.mark.parametrize(
    "address", ["#t=NaN&from=9&to=1", "#t=1e999&turn=a,b&zoom=-4&charts=none~x*~*flow_intervals", "#%%%=&t"]
)
def test_an_address_that_nobody_wrote_shows_the_whole(browser: Browser, page: str, address: str) -> None:
    browser.look()
    browser.open(page + address)
    assert browser.complaints == []
    assert window(browser).startswith("0:00.000 – 0:40")


def test_every_control_is_reached_and_used_by_keyboard(browser: Browser, page: str) -> None:
    browser.look()
    browser.open(page)
    seen: list[str] = []
    for _ in range(browser.evaluate(CONTROLS) + 8):
        browser.press("Tab")
        at = browser.evaluate(FOCUSED)
        if at is None:
            break
        seen.append(at)
    assert len(seen) >= browser.evaluate(CONTROLS)
    assert all(name.split(" ", 1)[1].strip() for name in seen), seen
    browser.evaluate("document.querySelector('input[type=range]').focus()")
    browser.press("ArrowRight")
    browser.rest()
    assert cursor(browser) > 0
    browser.evaluate("document.querySelector('.plot').focus()")
    before = window(browser)
    browser.press("+")
    browser.rest()
    assert window(browser) != before
    at_s = cursor(browser)
    browser.press("ArrowRight")
    browser.rest()
    assert cursor(browser) > at_s
    moved = window(browser)
    browser.press("ArrowRight", shift=True)
    browser.rest()
    assert window(browser) != moved
    browser.evaluate("document.querySelector('.sky canvas').focus()")
    turned = browser.until(said("turn"))
    browser.press("ArrowLeft")
    browser.until(f"{said('turn')} !== '{turned}'")


def test_a_chart_is_kept_as_png_and_as_csv(browser: Browser, page: str, tmp_path: Path) -> None:
    browser.look()
    browser.open(page)
    browser.keep(tmp_path)
    for kind in ("PNG", "CSV"):
        browser.evaluate(f"document.querySelector('.chart button[aria-label$=\"as {kind}\"]').click()")
        while browser.wait("Browser.downloadProgress")["state"] != "completed":
            pass
    (png,) = tmp_path.glob("*.png")
    assert png.read_bytes().startswith(b"\x89PNG")
    (table,) = tmp_path.glob("*.csv")
    lines = table.read_text().splitlines()
    assert lines[0] == "line,end_s,throughput_bit_per_s"
    assert lines[1:5] == [f"{HOSTILE},{row}" for row in ("1,0", "2,1000", "3,2000", "4,")]
    assert len(lines) == 1 + 3 * 40


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(browser: Browser, page: str, width: int) -> None:
    browser.look(width=width)
    browser.open(page)
    wide = browser.evaluate(
        """[...document.querySelectorAll("body *")].filter((at) => at.getClientRects().length
          && at.getBoundingClientRect().right > innerWidth + 1).map((at) => at.outerHTML.slice(0, 90))"""
    )
    assert wide == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.skipif(not AXE.is_file(), reason=NO_AXE)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_axe_has_no_serious_finding(browser: Browser, page: str, width: int, dark: bool) -> None:  # noqa: FBT001
    browser.look(width=width, dark=dark)
    browser.open(page)
    browser.evaluate("document.querySelectorAll('details').forEach((at) => { at.open = true; })")
    browser.rest()
    assert serious_findings(browser) == []
