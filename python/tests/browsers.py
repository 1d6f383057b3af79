"""The browsers that tests open pages in, and all that is to be right in each page that one of them opens.

`SLANTPATH_BROWSERS` names them, Chromium alone if it is absent: `make acceptance` has Firefox, too.
"""

from __future__ import annotations

import functools
import json
import os
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import firefox
import pytest
from chromium import CHROMIUM, Chromium
from firefox import Firefox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser import Browser

BROWSERS = os.environ.get("SLANTPATH_BROWSERS", "chromium").split()
SCREENS = [(1280, False), (390, True)]
"""Widths in pixels of CSS, a desk's and a telephone's, and the system's choice of dark."""
AXE = Path(__file__).parents[1] / "view" / "node_modules" / "axe-core" / "axe.min.js"
"""What checks the accessibility of a page, if the packages of `python/view` are here."""
NO_AXE = "no axe-core (npm ci in python/view): accessibility is not checked"
CONTROLS = """[...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex='0']")].filter((at) =>
  !at.disabled && at.tabIndex >= 0 && at.getClientRects().length
  && at.checkVisibility({ visibilityProperty: true })
  && !(at.type === "radio" && !at.checked))"""
"""Controls that are in sight. Of radio buttons the tabulator comes to the chosen one alone."""
NAMELESS = """[...reached].filter((at) => !(at.getAttribute("aria-label") ?? at.getAttribute("title")
  ?? at.labels?.[0]?.textContent ?? at.textContent).trim() && !at.querySelector("svg[aria-label], img[alt]"))
  .map((at) => at.outerHTML.slice(0, 90))"""
WIDER = """[...document.querySelectorAll("body *")].filter((at) => at.getClientRects().length
  && at.getBoundingClientRect().right > innerWidth + 1 && !at.closest(".wide, pre, [data-wide], svg"))
  .map((at) => at.outerHTML.slice(0, 90))"""
TABS_MORE = 12
"""Presses of the tabulator beside one a control: what scrolls takes one, too, and so does the browser."""


def started(name: str, home: Path) -> Browser:
    """Start a browser, or say loudly that there is none."""
    if name == "firefox":
        lacks = firefox.missing()
        if lacks is not None:
            pytest.skip(lacks)
        return Firefox(home)
    if CHROMIUM is None:
        pytest.skip("no Chromium: pages are not opened")
    return Chromium(home)


def served(directory: Path) -> Iterator[str]:
    """Serve a directory at this machine alone; give the address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(directory)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def faults(browser: Browser, url: str, *, ready: str = "true", is_long: bool = False) -> list[str]:
    """Give all that is wrong with a page: on a screen and on a telephone, light and dark.

    Of a long one, such as the reference with its thousand folds, keys and accessibility are left out.
    """
    return [
        f"{width} px: {fault}"
        for width, dark in SCREENS
        for fault in _faults_at(browser, url, width=width, dark=dark, ready=ready, is_long=is_long)
    ]


def _faults_at(
    browser: Browser, url: str, *, width: int, dark: bool, ready: str, is_long: bool
) -> Iterator[str]:
    browser.look(width=width, dark=dark)
    browser.anew(url)
    browser.until(ready)
    browser.evaluate("document.querySelectorAll('details').forEach((at) => { at.open = true; })")
    browser.rest()
    if browser.evaluate("document.documentElement.scrollWidth") > width:
        yield f"it is wider than the screen: {browser.evaluate(WIDER)[:3]}"
    if not is_long:
        yield from (f"no key comes to {control}" for control in unreached(browser))
        yield from (f"it has no name: {control}" for control in browser.evaluate(NAMELESS))
        if AXE.is_file():
            yield from serious_findings(browser)
    yield from (f"complains: {complaint}" for complaint in browser.complaints)
    yield from (f"asks for {request}" for request in outside(browser, url))


def unreached(browser: Browser) -> list[str]:
    """Give the controls that the tabulator does not come to."""
    browser.evaluate(
        "window.reached = new Set(); addEventListener('focusin', (event) => reached.add(event.target), true)"
    )
    for _ in range(browser.evaluate(f"{CONTROLS}.length") + TABS_MORE):
        browser.press("Tab")
    missed: list[str] = browser.evaluate(
        f"{CONTROLS}.filter((at) => !reached.has(at)).map((at) => at.outerHTML.slice(0, 90))"
    )
    return missed


def outside(browser: Browser, url: str) -> list[str]:
    """Give what the page asked for from elsewhere than where it is."""
    home = urlsplit(url)
    places = {(home.scheme, home.netloc)}
    known = {"data", "blob", "about"}
    asked = [(request, urlsplit(request)) for request in browser.requests]
    return [
        request for request, at in asked if at.scheme not in known and (at.scheme, at.netloc) not in places
    ]


def serious_findings(browser: Browser) -> list[str]:
    """Give what axe-core finds serious or critical in the page that is shown."""
    browser.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
    # It would read style sheets from disk, which browsers refuse.
    told = browser.evaluate("axe.run({ preload: false }).then((told) => JSON.stringify(told.violations))")
    return [
        f"{one['id']}: {[node['html'][:90] for node in one['nodes']][:3]}"
        for one in json.loads(told)
        if one["impact"] in ("serious", "critical")
    ]
