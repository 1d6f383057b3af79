"""Grounds on which a program of others runs: a guest kernel, and the two doors of `slantpath sctp`."""

import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE.parents[2] / "shared/peers/linux-sctp"
UP = HERE.parent / "user-mode-linux/up"

LOOPBACK = ("127.0.0.1", "::1")


class MissingError(Exception):
    """What a proof needs is not here."""


class Outcome(NamedTuple):
    """All that a program has said, and its exit status."""

    said: str
    status: int


class Ground(Protocol):
    """A place for a program."""

    name: str
    wants_static: bool

    def run(self, command: Sequence[str], where: Path, patience_s: float = 120) -> Outcome: ...


def take(command: Sequence[str | Path], where: Path, patience_s: float) -> Outcome:
    """Run a command to its end; one that hangs is ended with all that it has started."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        program = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd=where,
            start_new_session=True,
            # A case that is broken ends its program by a fault on purpose.
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),  # noqa: PLW1509
        )
        try:
            status = program.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGTERM)
            try:
                program.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(program.pid, signal.SIGKILL)
                program.wait()
            status = -1
        said.seek(0)
        return Outcome(said.read(), status)


class Door:
    """A door of `slantpath sctp`, over the loopback and in UDP."""

    def __init__(self, slantpath: Path, name: str, addresses: Sequence[str] = LOOPBACK) -> None:
        self.slantpath = slantpath.resolve()
        self.name = name
        self.addresses = addresses
        self.wants_static = name == "notify"

    def run(self, command: Sequence[str], where: Path, patience_s: float = 120) -> Outcome:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        at = [*(f"--address={own}" for own in self.addresses), f"--listen-udp={port}", f"--udp={port}"]
        line = [self.slantpath, "sctp", *at, "--door", self.name, "--", *command]
        return take(line, where, patience_s)


class Guest:
    """Linux's own SCTP, over the loopback of a guest kernel."""

    name = "guest"
    wants_static = False

    def __init__(self, guest: str) -> None:
        self._guest = guest

    def run(self, command: Sequence[str], where: Path, patience_s: float = 120) -> Outcome:
        bounded = ["timeout", "--kill-after=5", str(int(patience_s)), *command]
        return take([SCRIPTS / "run-in-guest", self._guest, *bounded], where, patience_s + 30)

    def allow_extensions(self, *, are_on: bool) -> None:
        """Have later sockets offer all extensions, or those of Linux's defaults."""
        keys = ("auth_enable", "addip_enable", "reconf_enable", "intl_enable")
        values = [f"net.sctp.{key}={int(are_on)}" for key in keys]
        self.run(["sysctl", "-qw", *values], HERE)


@contextlib.contextmanager
def guest() -> Iterator[Guest]:
    """Start a guest kernel, which has its loopback alone to speak over."""
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        raise MissingError("a guest kernel needs root and /dev/net/tun")
    if not SCRIPTS.exists() or shutil.which("linux.uml") is None:
        raise MissingError("a guest kernel needs user-mode-linux and the shared peers/linux-sctp")
    name = f"programs-{os.getpid()}"
    link = f"q{os.getpid() % 100_000},10.93.1.1/24,10.93.1.2/24"
    environment = dict(os.environ, GUEST_LIFE="1800")
    up = [UP, SCRIPTS, name, name, link]
    begun = subprocess.run(up, env=environment, capture_output=True, text=True, check=False)
    if begun.returncode:
        raise MissingError(f"no guest: {begun.stderr.strip()}")
    try:
        yield Guest(name)
    finally:
        subprocess.run([SCRIPTS / "down", name], check=False)
