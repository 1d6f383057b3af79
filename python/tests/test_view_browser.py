"""Views as browsers show them: from disk and from a server, by keyboard, on a screen and on a telephone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import pytest
from browser import DRAWN
from browsers import BROWSERS, faults, outside, served, started
from test_report import by_hand
from test_view import HOSTILE, intervals, topology

from slantpath.view import view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser import Browser

FOCUSED = """(() => {
  const at = document.activeElement;
  return at === document.body ? null
    : `${at.tagName} ${at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent}`;
})()"""
MARKS = """[...document.querySelectorAll('.chart')].map((at) => [
  at.querySelector('h3').textContent.split(' ')[0],
  Number(at.querySelector('.plot').dataset.marks)])"""
SIZE = """((at) => [at.clientWidth, at.clientHeight])(document.querySelector('.u-over'))"""
COLOURS = """new Set(new Uint32Array(document.querySelector(".plot canvas").getContext("2d")
  .getImageData(200, 20, 400, 100).data.buffer)).size"""
DRAWS = """[document.querySelector('.sky canvas'), ...document.querySelectorAll('.plot')].filter(
  (at) => at.dataset.draws).map((at) => Number(at.dataset.draws))"""


@pytest.fixture(scope="module", params=BROWSERS)
def browser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = started(request.param, tmp_path_factory.mktemp("browser"))
    yield opened
    opened.end()


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


@pytest.fixture(scope="module")
def server(page: str) -> Iterator[str]:
    yield from served(Path(url2pathname(urlsplit(page).path)).parent)


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
    assert outside(browser, page) == []
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


def test_controls_are_used_by_keyboard(browser: Browser, page: str) -> None:
    browser.look()
    browser.open(page)
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


def test_a_chart_is_kept_as_png_and_as_csv(browser: Browser, page: str) -> None:
    browser.look()
    browser.open(page)
    for kind in ("PNG", "CSV"):
        browser.evaluate(f"document.querySelector('.chart button[aria-label$=\"as {kind}\"]').click()")
    assert browser.saved("*flow_intervals*.png").read_bytes().startswith(b"\x89PNG")
    lines = browser.saved("*flow_intervals*.csv").read_text().splitlines()
    assert lines[0] == "line,end_s,throughput_bit_per_s"
    assert lines[1:5] == [f"{HOSTILE},{row}" for row in ("1,0", "2,1000", "3,2000", "4,")]
    assert len(lines) == 1 + 3 * 40


@pytest.mark.parametrize("place", ["disk", "server"])
def test_nothing_is_wrong_with_a_view(browser: Browser, page: str, server: str, place: str) -> None:
    address = page if place == "disk" else f"{server}/{page.rpartition('/')[2]}"
    assert faults(browser, address, ready=DRAWN) == []


def test_many_rows_are_drawn_as_the_pixels_that_they_cover(browser: Browser, tmp_path: Path) -> None:
    """A line has a bar in each column and a point one dot in each place, however many rows there are."""
    rows = 200_000
    at = np.arange(rows) / 1_000
    up_and_down = np.where(np.arange(rows) % 2, 1e3, 2e3)
    run = by_hand(
        tmp_path / "run",
        {
            "flow_intervals": {
                "run": np.zeros(rows, dtype=np.uint64),  # type: ignore[dict-item]
                "flow": ["data"] * rows,
                "start_s": at,  # type: ignore[dict-item]
                "end_s": at + 1e-3,  # type: ignore[dict-item]
                "throughput_bit_per_s": up_and_down,  # type: ignore[dict-item]
            },
            "messages": {
                "run": np.zeros(rows, dtype=np.uint64),  # type: ignore[dict-item]
                "flow": ["data"] * rows,
                "delivered_s": at,  # type: ignore[dict-item]
                "delay_s": np.arange(rows) * 0.618_034 % 1,  # type: ignore[dict-item]
            },
        },
    )
    file = tmp_path / "many.html"
    file.write_text(view(run), encoding="utf-8")
    browser.look()
    browser.open(file.as_uri())
    marks = dict(browser.evaluate(MARKS))
    wide, tall = browser.evaluate(SIZE)
    assert 0.9 * wide < marks["throughput"] <= wide + 2
    assert 0.5 * wide * tall < marks["delay"] <= wide * tall
    # Two colours and what lies between them: the bars are there to be seen.
    assert browser.evaluate(COLOURS) > 2


def test_a_pan_draws_each_chart_once_a_frame_and_the_sky_not_at_all(browser: Browser, page: str) -> None:
    browser.look()
    browser.open(page)
    browser.evaluate("document.querySelector('[aria-label=\"Show a shorter time\"]').click()")
    browser.rest()
    before = browser.evaluate(DRAWS)
    for _ in range(3):
        # Both clicks come before the next frame.
        click = "document.querySelector('[aria-label=\"Show what comes after\"]').click();"
        browser.evaluate(f"{click}{click}")
        browser.rest()
    after = browser.evaluate(DRAWS)
    charts = len(before) - 1
    assert [now - then for then, now in zip(before, after, strict=True)] == [0, *[3] * charts]
