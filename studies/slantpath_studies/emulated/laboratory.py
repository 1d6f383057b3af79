"""A guest kernel that has SCTP, both ends of it behind ports of an emulation."""

from __future__ import annotations

import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from slantpath.errors import RunError
from slantpath_studies import texts
from slantpath_studies.emulated.cases import LOSSY_S
from slantpath_studies.emulated.measures import (
    Figures,
    Message,
    data_of,
    failover_s,
    lossy,
    sent_again,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slantpath_studies.emulated.cases import Cell, Laboratory

ROOT = texts.FILES.parent
SCRIPTS = Path(os.environ.get("SLANTPATH_LINUX_SCTP", ROOT / "../shared/peers/linux-sctp"))
"""The scripts that start a guest kernel: they are no part of the project."""
UP = ROOT / "peers/user-mode-linux/up"
ENDS = Path(__file__).with_name("ends.py")
TAPS = ("sp0", "sp1", "sp2", "sp3")
"""The guest's ports, as the machine calls them: two of the sender, then two of the receiver."""
VOID = 3
"""Exit status of an emulation that was late."""
REAL_TIME = ("chrt", "--rr", "1")
"""The guest's clock is this machine's: nothing else may stop it. The emulation's thread goes first."""
FIRST_PORT = 5_000
UP_S = 5.0
"""When the first DATA has left at the latest: the guest may be slow to start a program."""
TRIES = 5
PATIENCE_S = 30.0
"""For how long a program may be silent before something is wrong."""


class Guest:
    """A guest kernel with two namespaces, an end in each, and the machine's namespace with its ports."""

    def __init__(self) -> None:
        """Look for all that it needs; say what is missing."""
        missing = [
            told
            for told, is_there in (
                ("Linux and root", sys.platform == "linux" and os.geteuid() == 0),
                (f"the scripts of a guest kernel at {SCRIPTS}", (SCRIPTS / "up").exists()),
                ("a checkout of the project", UP.exists()),
                ("`ip` (apt-get install iproute2)", shutil.which("ip") is not None),
                ("`chrt` (apt-get install util-linux)", shutil.which("chrt") is not None),
            )
            if not is_there
        ]
        if missing:
            message = f"the kernel's SCTP needs {' and '.join(missing)}"
            raise RunError(message)
        self.name = f"study-{os.getpid()}"
        self._laboratory: Laboratory | None = None
        self._port = FIRST_PORT

    def __enter__(self) -> Self:
        """Start it."""
        ports = [f"{tap},-,-" for tap in TAPS]
        said = subprocess.run(
            [*REAL_TIME, UP, SCRIPTS, self.name, self.name, *ports],
            capture_output=True,
            text=True,
            check=False,
        )
        if said.returncode:
            message = f"the guest kernel does not start: {said.stderr}"
            raise RunError(message)
        self.shell("ip netns add a; ip netns add b")
        for place, side in enumerate("aabb"):
            self.shell(f"ip link set vec{place} netns {side}; ip -n {side} link set vec{place} up")
        return self

    def __exit__(self, *_: object) -> None:
        """End it; nothing of it is left."""
        subprocess.run([SCRIPTS / "down", self.name], capture_output=True, check=False)

    def shell(self, line: str) -> None:
        """Run a line of the shell in the guest, which has to succeed."""
        said = subprocess.run(
            [SCRIPTS / "run-in-guest", self.name, "sh", "-ec", line],
            capture_output=True,
            text=True,
            check=False,
        )
        if said.returncode:
            message = f"in the guest kernel, {line}: {said.stderr}"
            raise RunError(message)

    def become(self, laboratory: Laboratory) -> None:
        """Give both ends the addresses, routes and settings of a laboratory."""
        if self._laboratory is laboratory:
            return
        self._laboratory = laboratory
        lines = []
        for place, (_, port) in enumerate(laboratory.ports):
            side = "aabb"[place]
            at = f"-n {side}"
            lines += [
                # Its routes go with it.
                f"ip {at} link set vec{place} down",
                f"ip {at} address flush dev vec{place}",
                f"ip {at} link set vec{place} up",
                f"ip {at} address add {port.address}/24 dev vec{place}",
            ]
            if port.router is not None:
                network = port.remote.rpartition(".")[0] + ".0/24"
                lines.append(f"ip {at} route replace {network} via {port.router} dev vec{place}")
        lines += [
            f"ip netns exec {side} sysctl -qw net.sctp.{key}={value}"
            for side in "ab"
            for key, value in laboratory.sysctl.items()
        ]
        self.shell("; ".join(lines))

    def port(self) -> int:
        """Give a port that no association of an earlier run has."""
        self._port += 1
        return self._port

    def start(self, side: str, *arguments: object) -> subprocess.Popen[str]:
        """Start an end in a namespace of the guest."""
        command: list[str | Path] = ["ip", "netns", "exec", side, sys.executable, ENDS]
        command += map(str, arguments)
        return subprocess.Popen(
            [SCRIPTS / "run-in-guest", self.name, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def measure(guest: Guest, cell: Cell, seed: int, late: str) -> Figures:
    """Emulate a cell with the guest's ends; a run that was void is made again."""
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as place:
            figures = _emulate(guest, cell, seed, late, Path(place))
        if figures is not None:
            return figures
    message = f"{cell.name}: void {TRIES} times, for what left or began too late: this machine is too busy"
    raise RunError(message)


def _emulate(guest: Guest, cell: Cell, seed: int, late: str, place: Path) -> Figures | None:
    laboratory = cell.laboratory
    guest.become(laboratory)
    sending, receiving = laboratory.buffers or (0, 0)
    port = guest.port()
    messages: list[Message] = []
    times: list[float] = []
    with _ended(guest.start("b", "receive", port, receiving)) as receiver:
        lines = iter(receiver.stdout or ())
        if next(lines, "") != "listening\n":
            _failed("the receiver does not begin", receiver)
        reader = threading.Thread(target=_read, args=(lines, messages, times), daemon=True)
        reader.start()
        with _ended(_emulation(guest, cell, seed, late, place)) as emulation:
            control = _Control(place / "control", emulation)
            seconds = LOSSY_S if not cell.fails else cell.duration_s
            sender = guest.start(
                "a",
                *("send", laboratory.sending[0].remote, port, laboratory.message_bytes),
                *(laboratory.interval_s, seconds, sending),
            )
            with _ended(sender):
                while (at_s := control.at_s()) < cell.duration_s:
                    with suppress(subprocess.TimeoutExpired):
                        emulation.wait(timeout=min(cell.duration_s - at_s + 0.01, 1.0))
            control.ask({"stop": {}})
            errors = emulation.communicate(timeout=PATIENCE_S)[1]
            if emulation.returncode not in {0, VOID}:
                message = f"{cell.name}: {errors}"
                raise RunError(message)
            _close(sender)
    reader.join(PATIENCE_S)
    _close(receiver)
    if emulation.returncode == VOID:
        return None
    out = place / "out"
    primary, alternate = (
        data_of((out / f"{link}.pcapng").read_bytes(), here.address, port)
        for link, here in zip(cell.captured, laboratory.sending, strict=True)
    )
    if min((sent.at_s for sent in (*primary, *alternate)), default=math.inf) > UP_S:
        return None
    figures: dict[str, float] = {"late_max_s": _late_max_s(out)}
    if cell.fails:
        figures["failover_s"] = failover_s(primary, alternate)
    else:
        again = sent_again(sorted([*primary, *alternate]))
        took_s = times[-1] - times[0] + messages[0].delay_s if messages else math.nan
        figures.update(lossy(messages, again, laboratory.message_bytes, took_s))
    return Figures(**figures)  # type: ignore[arg-type] # `again` is whole


def _emulation(guest: Guest, cell: Cell, seed: int, late: str, place: Path) -> subprocess.Popen[str]:
    laboratory = cell.laboratory
    devices: dict[str, dict[str, str]] = {}
    for tap, (node, port) in zip(TAPS, laboratory.ports, strict=True):
        devices.setdefault(node, {})[port.link] = tap
    scenario = cell.scenario().with_values({f"nodes.{node}.device": links for node, links in devices.items()})
    file = place / "cell.toml"
    file.write_text(scenario.merged(), encoding="utf-8")
    command = [
        *("ip", "netns", "exec", guest.name, *_slantpath(), "emulate", file),
        *("--seed", str(seed), "--late", late, "--out", place / "out", "--control", place / "control"),
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _slantpath() -> Sequence[str | Path]:
    """Give the command that belongs to this library."""
    return [sys.executable, "-m", "slantpath"]


class _Control:
    """Asks an emulation that runs."""

    def __init__(self, path: Path, emulation: subprocess.Popen[str]) -> None:
        self._path = path
        self._emulation = emulation

    def ask(self, command: Mapping[str, object]) -> Mapping[str, float]:
        if sys.platform == "win32":
            message = "the kernel's SCTP needs Linux"
            raise RunError(message)
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self._path))
            control.sendall(json.dumps(command).encode() + b"\n")
            answer = json.loads(control.makefile().readline())
        if "ok" not in answer:
            message = f"the emulation refuses {command}: {answer}"
            raise RunError(message)
        return answer["ok"] or {}

    def at_s(self) -> float:
        """Give the instant of the run, once it has begun."""
        until = time.monotonic() + PATIENCE_S
        while True:
            if self._emulation.poll() is not None:
                _failed("the emulation has ended", self._emulation)
            try:
                return float(self.ask({"status": {}})["at_s"])
            except (OSError, ValueError) as error:
                if time.monotonic() > until:
                    message = f"the emulation does not answer: {error}"
                    raise RunError(message) from error
                with suppress(subprocess.TimeoutExpired):
                    self._emulation.wait(timeout=0.05)


class _ended:  # noqa: N801 - a context, written as one
    """A program that is ended when the context is."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __enter__(self) -> subprocess.Popen[str]:
        return self._process

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def _close(process: subprocess.Popen[str]) -> None:
    """Close the pipes of a program that has ended."""
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _failed(told: str, process: subprocess.Popen[str]) -> None:
    process.kill()
    message = f"{told}: {process.communicate()[1]}"
    raise RunError(message)


def _read(lines: Iterator[str], messages: list[Message], times: list[float]) -> None:
    for line in lines:
        number, sent_s, arrived_s = json.loads(line)
        messages.append(Message(number, arrived_s - sent_s))
        times.append(arrived_s)


def _late_max_s(out: Path) -> float:
    """Read how late a packet left at most."""
    head, *rows = (out / "attached_interfaces.csv").read_text().splitlines()
    place = head.split(",").index("lateness_max_s")
    # An interface that nothing left by has no figure.
    return max((float(late) for row in rows if (late := row.split(",")[place])), default=0.0)
