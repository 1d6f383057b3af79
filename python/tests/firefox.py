"""Firefox, driven by puppeteer over WebDriver BiDi: `python/view/firefox.mjs` has it, a line a message."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from browser import Browser, Talk

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
NODE = shutil.which("node")
DRIVER = Path(__file__).parents[1] / "view" / "firefox.mjs"
PUPPETEER = DRIVER.parent / "node_modules" / "puppeteer-core"


def missing() -> str | None:
    """Tell what is lacking to drive Firefox, and what brings it."""
    if FIREFOX is None:
        return "no Firefox: apt-get install firefox-esr"
    if NODE is None or not PUPPETEER.is_dir():
        return "no puppeteer drives Firefox: apt-get install nodejs npm, and make view-packages"
    return None


class Firefox(Browser):
    """A Firefox of the machine: one process while the system is light, and one while it is dark.

    It takes the system's choice when it starts, and later no other.
    """

    def __init__(self, home: Path) -> None:
        """Start it, with its downloads in a directory."""
        super().__init__(home)
        self._started: dict[bool, tuple[subprocess.Popen[bytes], Talk]] = {}
        self._is_dark = False

    def _ask(self, act: str, *values: object) -> Any:  # noqa: ANN401 - values of JavaScript
        if self._is_dark not in self._started:
            words = [
                str(NODE),
                str(DRIVER),
                str(FIREFOX),
                str(self.home),
                "dark" if self._is_dark else "light",
            ]
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
            assert process.stdin is not None
            assert process.stdout is not None
            talk = Talk(process.stdin.fileno(), process.stdout.fileno(), b"\n")
            self._started[self._is_dark] = (process, talk)
        _, talk = self._started[self._is_dark]
        number = talk.ask({"act": act, "values": values})
        while (told := talk.next()).get("id") != number:
            for key, kept in (("complaint", self.complaints), ("request", self.requests)):
                if key in told:
                    kept.append(told[key])
        if "error" in told:
            raise AssertionError(told["error"])
        return told.get("value")

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - as the browser's
        return self._ask("evaluate", expression)

    def look(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self._is_dark = dark
        self._ask("look", width, height)

    def load(self, url: str) -> None:
        self._ask("load", url)

    def press(self, key: str, *, shift: bool = False, control: bool = False) -> None:
        held = [name for name, is_held in (("Shift", shift), ("Control", control)) if is_held]
        self._ask("press", "Space" if key == " " else key, held)

    def end(self) -> None:
        for process, _ in self._started.values():
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            process.wait()
            process.stdout.close()
