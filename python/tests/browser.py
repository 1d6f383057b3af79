"""A tab of a headless Chromium, driven over a pipe: what it says, asks for and lays out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader, RawIOBase
    from pathlib import Path

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


class Tab:
    """The tab of a browser: its console's `complaints`, and `requests` for addresses."""

    def __init__(self, commands: RawIOBase, answers: BufferedReader) -> None:
        self.commands = commands
        self.answers = answers
        self.number = 0
        self.session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.loaded = False
        targets = self.ask("Target.getTargets")["targetInfos"]
        target = next(target for target in targets if target["type"] == "page")
        attached = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Log", "Network", "Page", "Runtime"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command, and give its answer."""
        self.number += 1
        message: dict[str, object] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        while True:
            heard = self.hear()
            if heard.get("id") == self.number:
                assert "error" not in heard, heard
                answer: dict[str, Any] = heard["result"]
                return answer

    def hear(self) -> dict[str, Any]:
        """Read a message, and keep what an event tells."""
        read = bytearray()
        while (byte := self.answers.read(1)) != b"\0":
            assert byte, "the browser has ended"
            read += byte
        message: dict[str, Any] = json.loads(read)
        of = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(str(of["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if of["type"] in ("error", "warning"):
                self.complaints.append(str(of["args"]))
            case "Log.entryAdded" if of["entry"]["level"] in ("error", "warning"):
                self.complaints.append(f"{of['entry']['text']} {of['entry'].get('url', '')}")
            case "Network.requestWillBeSent":
                self.requests.append(of["request"]["url"])
            case "Page.loadEventFired":
                self.loaded = True
        return message

    def open(self, address: str) -> None:
        """Go to an address, and wait until it is loaded."""
        self.loaded = False
        self.ask("Page.navigate", url=address)
        while not self.loaded:
            self.hear()

    def size(self, width: int, height: int) -> None:
        """Lay pages out for a screen of these pixels."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def value(self, script: str) -> Any:  # noqa: ANN401 - whatever the script gives
        """Give the value of a script, or of its promise."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, script: str) -> Any:  # noqa: ANN401 - whatever the script gives
        """Give the value of a script once it is true: it is asked before each picture for at most 20 s."""
        return self.value(
            "new Promise((resolve, reject) => { const end = Date.now() + 20000; const look = () => {"
            f"const value = {script}; if (value) resolve(value);"
            " else if (Date.now() > end) reject('not within 20 s'); else setTimeout(look, 20); }; look(); })"
        )


@contextmanager
def tab(profile: Path) -> Iterator[Tab]:
    """Start a browser, and end it."""
    (from_us, commands), (answers, to_us) = os.pipe(), os.pipe()
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    # The browser reads commands from descriptor 3 and writes answers to 4.
    line = f'exec "$0" "$@" 3<&{from_us} 4>&{to_us}'
    words = ["bash", "-c", line, str(BROWSER), *flags, "--remote-debugging-pipe", "about:blank"]
    with (
        os.fdopen(commands, "wb", buffering=0) as told,
        os.fdopen(answers, "rb") as heard,
        subprocess.Popen(words, pass_fds=(from_us, to_us), stderr=subprocess.DEVNULL) as browser,  # noqa: S603
    ):
        os.close(from_us)
        os.close(to_us)
        try:
            yield Tab(told, heard)
        finally:
            browser.terminate()
