"""A headless browser that tests drive, whichever it is, and what its page told of itself meanwhile."""

from __future__ import annotations

import json
import os
import select
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_S = 60
"""Time for which a browser may be silent while something is waited for."""
DRAWN = """document.querySelector("[data-ready]") && [...document.querySelectorAll(".chart")].every(
  (chart) => chart.getBoundingClientRect().top > innerHeight || chart.querySelector("canvas"))"""
"""Tells if a view has read what it holds, and drawn the charts that are in sight."""


class Talk:
    """Messages of JSON through two pipes, each with an end: questions by number, and what is told unasked."""

    def __init__(self, tells: int, hears: int, end: bytes) -> None:
        """Take the descriptors of both pipes, and the byte that ends a message."""
        self._tells, self._hears, self._end = tells, hears, end
        self._buffer = b""
        self._number = 0

    def ask(self, message: dict[str, object]) -> int:
        """Send a message under a new number, which is given."""
        self._number += 1
        os.write(self._tells, json.dumps({"id": self._number, **message}).encode() + self._end)
        return self._number

    def next(self) -> dict[str, Any]:
        """Wait for a message."""
        while self._end not in self._buffer:
            if not select.select([self._hears], [], [], PATIENCE_S)[0]:
                message = f"the browser has said nothing for {PATIENCE_S} s"
                raise AssertionError(message)
            read = os.read(self._hears, 1 << 20)
            if not read:
                message = "the browser has ended"
                raise AssertionError(message)
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(self._end)
        told: dict[str, Any] = json.loads(line)
        return told


class Browser(ABC):
    """A browser with one page. What the page complained of, and what it asked for, is kept."""

    def __init__(self, home: Path) -> None:
        """Begin with a page of which nothing is known; downloads go into a directory."""
        self.home = home
        self.complaints: list[str] = []
        self.requests: list[str] = []

    @abstractmethod
    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - values of JavaScript
        """Evaluate an expression in the page, and what it promises; give its value."""

    @abstractmethod
    def look(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Take the size of a screen, and the system's choice of dark or light."""

    @abstractmethod
    def load(self, url: str) -> None:
        """Open a page, and wait until it is loaded."""

    @abstractmethod
    def press(self, key: str, *, shift: bool = False, control: bool = False) -> None:
        """Press a key."""

    @abstractmethod
    def end(self) -> None:
        """End it."""

    def write(self, text: str) -> None:
        """Press the keys of a word."""
        for key in text:
            self.press(key)

    def until(self, expression: str) -> Any:  # noqa: ANN401 - values of JavaScript
        """Give the value of an expression once it is true, of which there are 20 s."""
        return self.evaluate(
            "new Promise((resolve, reject) => { const end = Date.now() + 20000; const look = () => {"
            f"const value = {expression}; if (value) resolve(value);"
            " else if (Date.now() > end) reject('not within 20 s'); else setTimeout(look, 20); }; look(); })"
        )

    def anew(self, url: str) -> None:
        """Open a page as if nothing had been open before."""
        # A page whose address changes behind `#` alone would not be loaded anew.
        self.load("about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.load(url)

    def open(self, url: str) -> None:
        """Open a view, and wait until it is drawn."""
        self.anew(url)
        self.until(DRAWN)
        self.rest()

    def rest(self) -> None:
        """Let the page draw what was asked for, which it does at the next frame."""
        self.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        )

    def saved(self, pattern: str) -> Path:
        """Give the file of such a name that the page has the browser keep, once it is whole."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = [file for file in self.home.glob(pattern) if file.stat().st_size]
            if found and not [*self.home.glob("*.part"), *self.home.glob("*.crdownload")]:
                return found[0]
            self.rest()
        message = f"no {pattern} is kept within {PATIENCE_S} s"
        raise AssertionError(message)
