"""A headless Chromium that tests drive over its own protocol, through a pipe: no driver, and no Node."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
READS, WRITES = 3, 4
"""The descriptors by which Chromium hears and tells."""
PATIENCE_S = 60
"""Time for which a browser may be silent while something is waited for."""
DRAWN = """document.querySelector("[data-ready]") && [...document.querySelectorAll(".chart")].every(
  (chart) => chart.getBoundingClientRect().top > innerHeight || chart.querySelector("canvas"))"""
"""Tells if a view has read what it holds, and drawn the charts that are in sight."""


class Browser:
    """A browser with one page. What the page complained of, and what it asked for, is kept."""

    def __init__(self, home: Path) -> None:
        """Start it, with its files in a directory of its own."""
        hears, self._tells = os.pipe()
        self._hears, tells = os.pipe()
        words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        shell = f'exec {READS}<&{hears} {WRITES}>&{tells}; exec "$@"'
        self._process = subprocess.Popen(  # noqa: S603 - a browser of the machine
            ["/bin/bash", "-c", shell, "bash", str(CHROMIUM), *words, f"--user-data-dir={home / 'profile'}"],
            pass_fds=(hears, tells),
            stderr=subprocess.DEVNULL,
        )
        for end in (hears, tells):
            os.close(end)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.keep(home)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Ask for something; give its answer."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None and not method.startswith(("Target", "Browser")):
            message["sessionId"] = self._session
        os.write(self._tells, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._number:
                if "error" in told:
                    raise AssertionError(told["error"])
                result: dict[str, Any] = told["result"]
                return result
            self._take(told)

    def wait(self, method: str) -> dict[str, Any]:
        """Wait until something happens; give what is told of it. What was told since the last wait counts."""
        while True:
            for place, told in enumerate(self._events):
                if told["method"] == method:
                    del self._events[: place + 1]
                    parameters: dict[str, Any] = told["params"]
                    return parameters
            self._take(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._hears], [], [], PATIENCE_S)[0]:
                message = f"the browser has said nothing for {PATIENCE_S} s"
                raise AssertionError(message)
            read = os.read(self._hears, 1 << 20)
            if not read:
                message = "the browser has ended"
                raise AssertionError(message)
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\0")
        told: dict[str, Any] = json.loads(line)
        return told

    def _take(self, told: dict[str, Any]) -> None:
        method, of = told.get("method"), told.get("params", {})
        if method is not None:
            self._events.append(told)
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(of["exceptionDetails"].get("exception", of)))
        elif method == "Log.entryAdded" or (
            method == "Runtime.consoleAPICalled" and of["type"] in ("error", "warning")
        ):
            self.complaints.append(json.dumps(of))
        elif method == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - values of JavaScript
        """Evaluate an expression in the page, and what it promises; give its value."""
        told = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            raise AssertionError(told["exceptionDetails"])
        return told["result"].get("value")

    def until(self, expression: str) -> Any:  # noqa: ANN401 - values of JavaScript
        """Give the value of an expression once it is true, of which there are 20 s."""
        return self.evaluate(
            "new Promise((resolve, reject) => { const end = Date.now() + 20000; const look = () => {"
            f"const value = {expression}; if (value) resolve(value);"
            " else if (Date.now() > end) reject('not within 20 s'); else setTimeout(look, 20); }; look(); })"
        )

    def look(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Take the size of a screen, and the system's choice of dark or light."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def load(self, url: str) -> None:
        """Open a page, and wait until it is loaded."""
        self._events.clear()
        self.call("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def open(self, url: str) -> None:
        """Open a view, and wait until it is drawn."""
        # A view whose address changes behind `#` alone would not be loaded anew.
        self.load("about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.load(url)
        self.until(DRAWN)
        self.rest()

    def rest(self) -> None:
        """Let the page draw what was asked for, which it does at the next frame."""
        self.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        )

    def keep(self, directory: Path) -> None:
        """Have downloads go into a directory."""
        self.call(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(directory), eventsEnabled=True
        )

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key."""
        code = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowRight": 39}.get(key, 0)
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        about = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def end(self) -> None:
        """End it."""
        os.close(self._tells)
        os.close(self._hears)
        self._process.terminate()
        self._process.wait()


AXE = Path(__file__).parents[1] / "view" / "node_modules" / "axe-core" / "axe.min.js"
"""What checks the accessibility of a page, if the packages of `python/view` are here."""
NO_AXE = "no axe-core (npm ci in python/view): accessibility is not checked"


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
