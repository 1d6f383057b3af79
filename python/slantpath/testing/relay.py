"""Programs as they are over an emulated network, in real time: `slantpath emulate --relay` as a context."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

from slantpath.errors import VoidRunError
from slantpath.testing.failing import is_failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

Address = tuple[str, int]

ENDS_WITHIN_S = 10
"""How long the command has to end in good order."""
VOID = 3
"""Its exit status if the machine was too busy."""
RELAY = re.compile(r"relay: (?P<host>\S+):(?P<port>\d+) \((?P<protocol>tcp|udp)\) ")


class Relayed:
    """An emulation that runs, with ports of this machine that lead through it."""

    def __init__(self, arguments: Sequence[str], ports: int) -> None:
        """Hold how it is started: `relayed` makes one."""
        self._arguments = list(arguments)
        self._count = ports
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._is_up = threading.Event()
        self._lines: list[str] = []
        self.addresses: list[Address] = []
        """The address and port of each relay."""
        self.void: str | None = None
        """Why the run says nothing from some instant on; None if it kept the pace."""
        self.late: list[str] = []
        """What the command said of lateness, a line for each end."""

    @property
    def address(self) -> Address:
        """The address and port of the first relay."""
        return self.addresses[0]

    @property
    def port(self) -> int:
        """The port of the first relay."""
        return self.addresses[0][1]

    @property
    def said(self) -> str:
        """All that the command has said."""
        return "\n".join(self._lines)

    def __repr__(self) -> str:
        """Say where it is."""
        return f"<Relayed {', '.join(f'{host}:{port}' for host, port in self.addresses)}>"

    def __enter__(self) -> Self:
        """Start the command, and wait until its ports are open."""
        self._process = subprocess.Popen(  # noqa: S603 - it is this package's command
            [sys.executable, "-m", "slantpath", "emulate", *self._arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()
        try:
            self._is_up.wait()
        except BaseException:
            # Whoever is interrupted leaves no emulation behind.
            self._process.kill()
            raise
        if len(self.addresses) < self._count:
            self._process.wait()
            self._close(self._process, self._reader)
            message = f"slantpath emulate did not start:\n{self.said}"
            raise RuntimeError(message)
        return self

    def _read(self, process: subprocess.Popen[str]) -> None:
        for text in process.stderr or ():
            line = text.rstrip("\n")
            self._lines.append(line)
            if (found := RELAY.match(line)) is not None:
                self.addresses.append((found["host"].strip("[]"), int(found["port"])))
                if len(self.addresses) == self._count:
                    self._is_up.set()
        self._is_up.set()

    @staticmethod
    def _close(process: subprocess.Popen[str], reader: threading.Thread) -> None:
        reader.join()
        if process.stderr is not None:
            process.stderr.close()

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the command. A run that was void is an error, or a note at what failed in the block."""
        if self._process is None or self._reader is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            status = self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._close(self._process, self._reader)
        self.late = [line for line in self._lines if " late" in line]
        if status == VOID:
            void = [line for line in self._lines if "void: " in line]
            self.void = void[-1].partition("void: ")[2] if void else "the machine was busy"
        if failure is None and self.void is not None:
            message = f"the run is void, and says nothing of the program: {self.void}"
            raise VoidRunError(message)
        if failure is not None and is_failure(failure):
            if self.void is not None:
                failure.add_note(f"slantpath: void run, perhaps no fault of the program: {self.void}")
            failure.add_note(f"slantpath: slantpath emulate {' '.join(self._arguments)}\n{self.said}")


def relayed(  # noqa: PLR0913 - each is a flag of the command
    relay: str | Sequence[str],
    scenario: str | os.PathLike[str] | None = None,
    *,
    delay: str | None = None,
    rate: str | None = None,
    loss: str | None = None,
    queue: str | None = None,
    seed: int | None = None,
    late: str | None = None,
    spin: str | None = None,
    values: Mapping[str, object] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Relayed:
    """Run an emulation beside the block, which gives ports of this machine that lead through the network.

    ``relay`` is where to, or several: a port of this machine where a server listens, ``"8000"`` or
    ``"8000/udp"``; or what ``slantpath emulate --relay`` takes. ``scenario`` is the path or the text of a
    scenario with attached nodes, which a relay then names: ``"0:phone:station:8000"``. Without it there are
    two places with a link, whose ``delay``, ``rate``, ``loss`` and ``queue`` are given.

    A packet that left more than ``late`` (5 ms) after the model's instant makes the run void: the end of the
    block raises a `VoidRunError`, or notes it at what has failed.
    """
    relays = [relay] if isinstance(relay, str) else list(relay)
    arguments: list[str] = []
    if scenario is not None:
        arguments.append(os.fspath(_file_of(scenario)))
    flags = {"delay": delay, "rate": rate, "loss": loss, "queue": queue, "late": late, "spin": spin}
    for flag, value in flags.items():
        if value is not None:
            arguments += [f"--{flag}", value]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    from slantpath._native import toml_text  # noqa: PLC0415 - it costs what a test need not pay

    for path, setting in (values or {}).items():
        arguments += ["--set", f"{path}={toml_text(setting)}"]
    if out is not None:
        arguments += ["--out", os.fspath(out)]
    for one in relays:
        short = re.fullmatch(r"(\d+)(/udp)?", one)
        arguments += ["--relay", f"0:far:{one}" if short and scenario is None else one]
    return Relayed(arguments, len(relays))


def _file_of(scenario: str | os.PathLike[str]) -> Path:
    if isinstance(scenario, str) and "\n" in scenario:
        file = Path(tempfile.mkdtemp(prefix="slantpath-relayed-")) / "scenario.toml"
        file.write_text(scenario, encoding="utf-8")
        return file
    return Path(scenario)
