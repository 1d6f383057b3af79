"""Pages as a browser lays them out: nothing is wider than a screen, a telephone or a sheet of A4.

Skipped where there is no Chromium.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pytest
from chromium import CHROMIUM, Chromium
from test_report import by_hand, numbered
from test_report_documents import LOAD, PLAN, written

from slantpath.report import report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

WIDTHS = {"screen": 1265, "telephone": 390, "paper": 703}
"""Pixels of CSS: a window of 1280 less its scroll bar, a telephone, and A4 less its margins."""
WIDER = """
Object.fromEntries([...document.querySelectorAll("iframe")].map((frame) => {
  const page = frame.contentDocument, width = page.documentElement.clientWidth;
  const wider = [...page.querySelectorAll("body *")]
    .filter((part) => getComputedStyle(part).display !== "inline")
    .filter((part) => part.getBoundingClientRect().right > width + 1
      || part.scrollWidth > part.clientWidth + 1)
    // Heads that only a screen reader sees are not laid out.
    .filter((part) => !part.closest("thead")
      || getComputedStyle(part.closest("thead")).position !== "absolute")
    .map((part) => `${part.tagName} ${part.textContent.slice(0, 40)}`);
  return [frame.name, wider];
}))
"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: pages are not laid out")


def laid_out(pages: Mapping[str, str], tmp_path: Path) -> dict[str, list[str]]:
    """Give by page and medium what is wider than its page."""
    frames = []
    for name, html in pages.items():
        for medium, width in WIDTHS.items():
            # What holds for paper, as if it held for the screen.
            shown = html.replace("@media print", "@media all") if medium == "paper" else html
            about = f'name="{name} {medium}" style="width: {width}px; height: 9000px; border: 0"'
            frames.append(f'<iframe {about} srcdoc="{escape(shown)}"></iframe>')
    file = tmp_path / "frames.html"
    file.write_text(f"<!doctype html>{''.join(frames)}", encoding="utf-8")
    browser = Chromium(tmp_path)
    try:
        browser.load(file.as_uri())
        found: dict[str, list[str]] = browser.evaluate(WIDER)
    finally:
        browser.end()
    assert len(found) == len(pages) * len(WIDTHS)
    return found


def test_nothing_is_wider_than_its_page(tmp_path: Path) -> None:
    runs = range(3)
    axes: dict[str, Sequence[object]] = {
        "run": [*runs],
        "sctp.default.path_max_retrans": [0, 2, 4],
        "links.ground.loss_ratio": [0.01] * 3,
        "links.satellite.loss_ratio": [0.01] * 3,
        "flow": ["telemetry"] * 3,
    }
    flows = {
        **axes,
        **{f"messages_{name}": [35_980] * 3 for name in ("sent", "delivered", "retransmitted")},
        **{f"delay_{name}_s": [1.0, 1.1, 1.3] for name in ("mean", "median", "p99", "max")},
        **{name: [4.0, 4.4, 4.8] for name in ("gap_max_s", "failover_max_s", "throughput_bit_per_s")},
    }
    failovers = {
        **axes,
        **{name: ["satellite"] * 3 for name in ("from_path", "to_path", "cause")},
        **{
            f"{name}_s": [61.616] * 3
            for name in ("at", "failover", "first_timeout", "decision", "first_arrival")
        },
    }
    sweep = by_hand(tmp_path / "sweep", {"flows": flows, "failovers": failovers}, runs=numbered(3))
    other = by_hand(tmp_path / "other", {"flows": flows, "failovers": failovers}, runs=numbered(3))
    pages = {
        "sweep": report(sweep),
        "two": report(sweep, other),
        "plan": report(written(tmp_path / "plan", PLAN)),
        "load": report(written(tmp_path / "load", LOAD)),
    }
    assert {name: parts for name, parts in laid_out(pages, tmp_path).items() if parts} == {}
