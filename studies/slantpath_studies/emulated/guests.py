"""Two Linux kernels as the machines of a lab: guests whose Ethernet devices the emulated network attaches.

They run by scripts that are not part of this package: ``up``, ``run-in-guest`` and ``down``.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from slantpath.errors import RunError
from slantpath_studies.emulated.captured import Association
from slantpath_studies.emulated.cases import FAR, NEAR, PATHS, Cell, router_before

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

NAMESPACE = "slantpath-study"
"""Where the devices of the guests stand."""
ENDS = Path(__file__).with_name("ends.py")
"""The program in the guests."""
VOID = 3
"""Exit status of an emulation that was not in time."""
BEGIN_S, END_S = 30.0, 10.0
"""How long the network and the programs may take to begin, and to end."""
_SOURCE, _SINK = "spsource", "spsink"
_KERNEL = {
    "rto_initial": 3000,
    "rto_min": 1000,
    "rto_max": 60_000,
    "path_max_retrans": 5,
    "sack_timeout": 200,
    "association_max_retrans": 10,
    "hb_interval": 30_000,
}
"""What Linux begins with, below ``net.sctp``."""


class VoidError(Exception):
    """A packet was handed over too late: the run says nothing."""


class Guests:
    """Two guests, in a network namespace of their own. What begins with them ends with them."""

    def __init__(self, scripts: Path) -> None:
        """Take the directory of the scripts; ``RunError`` says what it lacks."""
        self._scripts = scripts
        for script in ("up", "run-in-guest", "down"):
            if not os.access(scripts / script, os.X_OK):
                message = (
                    f"{scripts} has no program `{script}`: --guests is the directory of the guests' scripts"
                )
                raise RunError(message)
        self._left = ExitStack()

    def __enter__(self) -> Self:
        """Start both."""
        for name, addresses in ((_SOURCE, NEAR), (_SINK, FAR)):
            interfaces = [
                f"{device},-,{address}/24" for device, address in zip(_devices(name), addresses, strict=True)
            ]
            _done([str(self._scripts / "up"), name, NAMESPACE, *interfaces])
            self._left.callback(_done, [str(self._scripts / "down"), name])
        for name, own, others in ((_SOURCE, NEAR, FAR), (_SINK, FAR, NEAR)):
            for place, (address, other) in enumerate(zip(own, others, strict=True)):
                self._in(
                    name, "ip", "route", "add", other, "via", router_before(address), "dev", f"vec{place}"
                )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End both."""
        self._left.close()

    def run(self, cell: Cell, seed: int, out: Path) -> Association:
        """Emulate a cell once, with its results in ``out``; raise `VoidError` if a packet was late."""
        for name in (_SOURCE, _SINK):
            # What an earlier cell has set goes back to what RFC 9260 and the kernel have.
            for key, value in (_KERNEL | dict(cell.kernel)).items():
                self._in(name, "sysctl", "-qw", f"net.sctp.{key}={value}")
        lab = out.with_suffix(".toml")
        lab.write_text(cell.lab(_devices_of(cell)).merged(), encoding="utf-8")
        with ExitStack() as begun:
            network = begun.enter_context(self._network(cell, lab, seed, out))
            common = ("--size", str(cell.size), *_words("--receive-buffer", cell.receive_buffer))
            sink = begun.enter_context(self._program(_SINK, "sink", "--local", *FAR, *common))
            _say(sink)
            source = begun.enter_context(
                self._program(
                    *(_SOURCE, "source", "--local", *NEAR, "--peer", FAR[0], *common),
                    *("--every", repr(cell.every_s), "--seconds", repr(cell.seconds)),
                )
            )
            for program in (source, sink):
                program.wait(cell.seconds + BEGIN_S)
            network.send_signal(signal.SIGINT)
            status = network.wait(END_S)
        if status == VOID:
            raise VoidError
        near, far = (
            {path: out / f"{link}.pcapng" for path, link in zip(PATHS, machine.links, strict=True)}
            for machine in (cell.near, cell.far)
        )
        return Association.of(near, far, {socket.inet_aton(address) for address in NEAR})

    @contextmanager
    def _network(self, cell: Cell, lab: Path, seed: int, out: Path) -> Iterator[subprocess.Popen[str]]:
        with tempfile.TemporaryDirectory() as directory:
            control = Path(directory) / "control"
            links = (*cell.near.links, *cell.far.links)
            command = [
                *("ip", "netns", "exec", NAMESPACE, sys.executable, "-m", "slantpath", "emulate", str(lab)),
                *("--seed", str(seed), "--out", str(out), "--control", str(control)),
                *(word for link in links for word in ("--pcap", link)),
            ]
            with _running(command) as process:
                until_s = time.monotonic() + BEGIN_S
                while not control.exists():
                    if process.poll() is not None or time.monotonic() > until_s:
                        message = f"the network of {lab} does not begin: {_error(process)}"
                        raise RunError(message)
                    threading.Event().wait(0.02)
                yield process

    def _program(self, guest: str, *words: str) -> AbstractContextManager[subprocess.Popen[str]]:
        return _running([str(self._scripts / "run-in-guest"), guest, "python3", str(ENDS), *words])

    def _in(self, guest: str, *words: str) -> None:
        _done([str(self._scripts / "run-in-guest"), guest, *words])


def _devices(guest: str) -> tuple[str, str]:
    return f"{guest}0", f"{guest}1"


def _devices_of(cell: Cell) -> dict[str, str]:
    return {
        link: device
        for guest, machine in ((_SOURCE, cell.near), (_SINK, cell.far))
        for link, device in zip(machine.links, _devices(guest), strict=True)
    }


def _words(name: str, value: int | None) -> tuple[str, ...]:
    return () if value is None else (name, str(value))


@contextmanager
def _running(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(END_S)
            if process.poll() is None:
                process.kill()


def _error(process: subprocess.Popen[str]) -> str:
    process.kill()
    return (process.communicate()[1] or "").strip() or "it says nothing"


def _say(process: subprocess.Popen[str]) -> None:
    """Wait for a program's first line."""
    if process.stdout is None or not process.stdout.readline():
        message = f"a guest's program does not begin: {_error(process)}"
        raise RunError(message)


def _done(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"`{' '.join(command)}` fails: {(done.stderr or done.stdout).strip()}"
        raise RunError(message)
