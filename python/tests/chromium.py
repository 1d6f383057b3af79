"""Chromium, driven over its own protocol through a pipe: no driver, and no Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from browser import Browser, Talk

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
READS, WRITES = 3, 4
"""The descriptors by which Chromium hears and tells."""
CODES = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowRight": 39}
TEXTS = {"Enter": "\r", " ": " "}
SHIFT, CONTROL = 8, 2


class Chromium(Browser):
    """A Chromium of the machine."""

    def __init__(self, home: Path) -> None:
        """Start it, with its files in a directory of its own."""
        super().__init__(home)
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
        self._talk = Talk(self._tells, self._hears, b"\0")
        self._session: str | None = None
        self._is_loaded = False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(home))

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Ask for something; give its answer."""
        message: dict[str, object] = {"method": method, "params": parameters}
        if self._session is not None and not method.startswith(("Target", "Browser")):
            message["sessionId"] = self._session
        number = self._talk.ask(message)
        while (told := self._talk.next()).get("id") != number:
            self._take(told)
        if "error" in told:
            raise AssertionError(told["error"])
        result: dict[str, Any] = told["result"]
        return result

    def _take(self, told: dict[str, Any]) -> None:
        method, of = told.get("method"), told.get("params", {})
        if method == "Page.loadEventFired":
            self._is_loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(of["exceptionDetails"].get("exception", of)))
        elif method == "Log.entryAdded" or (
            method == "Runtime.consoleAPICalled" and of["type"] in ("error", "warning")
        ):
            self.complaints.append(json.dumps(of))
        elif method == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - as the browser's
        told = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            raise AssertionError(told["exceptionDetails"])
        return told["result"].get("value")

    def look(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
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
        self._is_loaded = False
        self.call("Page.navigate", url=url)
        while not self._is_loaded:
            self._take(self._talk.next())
        # A page of another place is another process, which has no keys until it is in front.
        self.call("Page.bringToFront")

    def press(self, key: str, *, shift: bool = False, control: bool = False) -> None:
        text = "" if control else TEXTS.get(key, key if len(key) == 1 else "")
        about: dict[str, object] = {
            "key": key,
            "code": f"Key{key.upper()}" if len(key) == 1 and key.isalpha() else "",
            "windowsVirtualKeyCode": CODES.get(
                key, ord(key.upper()) if key.isalpha() and len(key) == 1 else 0
            ),
            "modifiers": SHIFT * shift + CONTROL * control,
        }
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def end(self) -> None:
        os.close(self._tells)
        os.close(self._hears)
        self._process.terminate()
        self._process.wait()
