#!/usr/bin/env python3
"""How fast a view of a million packets is: the first picture, and pans over points and over lines.

`python python/view/speed.py` needs Chromium, and a machine that has nothing else to do. It fails where the
first picture takes more than 3 s, or 99 % of the pans more than 100 ms. `make bench` runs it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import slantpath
from slantpath.view import view

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import CHROMIUM, Chromium

ROWS = 1_000_000
SPAN_S = 600.0
PANS = 200
FIRST_MOST_MS = 3_000.0
PAN_MOST_MS = 100.0
PAN = """new Promise((done) => {
  const begin = performance.now();
  document.querySelector('[aria-label="Show what %s"]').click();
  // The frame draws the charts; behind it a message comes once that is done.
  requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { const end = performance.now();
      performance.measure("pan", { start: begin, end }); done(end - begin); };
    port2.postMessage(0); });
})"""
MARKS = "[...document.querySelectorAll('.plot')].reduce((sum, at) => sum + Number(at.dataset.marks ?? 0), 0)"


def tables(kind: str) -> dict[str, dict[str, object]]:
    """Make a million rows of one kind."""
    chance = np.random.default_rng(1)
    at = np.sort(chance.uniform(0, SPAN_S, ROWS))
    common: dict[str, object] = {"run": np.zeros(ROWS, dtype=np.uint64), "flow": ["data"] * ROWS}
    if kind == "points":
        delays = 0.25 + chance.exponential(0.05, ROWS)
        columns = {
            "delivered_s": at,
            "delay_s": delays,
            "retransmission_s": np.zeros(ROWS),
            "queueing_s": delays / 2,
        }
        return {"messages": {**common, **columns}}
    walk = np.abs(np.cumsum(chance.normal(0, 1e3, ROWS)))
    columns = {"start_s": at - 1e-3, "end_s": at, "throughput_bit_per_s": walk, "delay_mean_s": walk / 1e6}
    return {"flow_intervals": {**common, **columns}}


def page(home: Path, kind: str) -> Path:
    """Write a view of them."""
    run = home / kind
    run.mkdir()
    for name, columns in tables(kind).items():
        pq.write_table(pa.table(columns), run / f"{name}.parquet")
    manifest = {"program": "slantpath", "version": slantpath.__version__, "scenario": kind, "seed": 1}
    (run / "manifest.json").write_text(json.dumps(manifest))
    file = home / f"{kind}.html"
    file.write_text(view(run), encoding="utf-8")
    return file


def worked_ms(browser: Chromium) -> float:
    """Give the processor time of the page's thread."""
    metrics = browser.call("Performance.getMetrics")["metrics"]
    return 1e3 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def measured(browser: Chromium, file: Path) -> dict[str, float]:
    """Open a view, and pan to and fro in it: times in milliseconds, and marks that were drawn."""
    browser.call("Performance.enable", timeDomain="threadTicks")
    browser.open(file.as_uri())
    opened = worked_ms(browser)
    drawn = browser.evaluate("performance.getEntriesByName('first chart')[0]?.startTime")
    for _ in range(2):
        browser.evaluate("document.querySelector('[aria-label=\"Show a shorter time\"]').click()")
        browser.rest()
    before = worked_ms(browser)
    pans = [browser.evaluate(PAN % ("comes after", "was before")[number // 2 % 2]) for number in range(PANS)]
    middle, most = (float(np.percentile(pans, share)) for share in (50, 99))
    return {
        "first": drawn,
        "its processor time": opened,
        "median pan": middle,
        "99 % of pans": most,
        "processor time of a pan": (worked_ms(browser) - before) / PANS,
        "marks": browser.evaluate(MARKS),
    }


def main() -> int:
    """Measure, and tell."""
    if CHROMIUM is None:
        print("not measured: there is no Chromium (apt-get install chromium)")
        return 1
    is_slow = False
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        files = {kind: page(home, kind) for kind in ("points", "lines")}
        for kind, file in files.items():
            browser = Chromium(home)
            try:
                browser.look()
                told = measured(browser, file)
            finally:
                browser.end()
            size = file.stat().st_size / 1e6
            words = ", ".join(f"{name} {value:.1f}" for name, value in told.items())
            print(f"{ROWS:,} {kind}, {size:.0f} MB: {words} (ms, but for marks)")
            is_slow |= told["first"] > FIRST_MOST_MS or told["99 % of pans"] > PAN_MOST_MS
    return 1 if is_slow else 0


if __name__ == "__main__":
    sys.exit(main())
