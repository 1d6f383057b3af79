#!/usr/bin/env python3
"""Programs of others over `slantpath sctp`, each against itself and against the same on Linux's SCTP.

    peers/sctp-programs/programs.py                     all of it
    peers/sctp-programs/programs.py --only iperf3       lines whose name begins so
    peers/sctp-programs/programs.py --without-guest     both ends of ours alone: no root, no guest kernel
    peers/sctp-programs/programs.py --out programs.csv  results as a table

A guest's kernel needs root, /dev/net/tun, User-Mode Linux and the scripts that start its guest.
Programs that are not installed are left out.
"""

import argparse
import contextlib
import csv
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Self

from line import OWN, FailedError, Line
from lines import LINES

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE.parents[2] / "shared/peers/linux-sctp"
UP = HERE.parent / "user-mode-linux/up"
PATIENCE = 40.0
"""Seconds that one try of a client may take."""
READY = 15.0
"""Seconds in which a server has to be there."""
HOLDER = """
import signal, socket
kept = [socket.socket(f, socket.SOCK_RAW, 132) for f in (socket.AF_INET, socket.AF_INET6)]
print(flush=True)
signal.pause()
"""
"""Somebody for protocol 132 in the namespace: else its kernel answers that there is nobody."""
KERNEL = "kernel"
DOORS = ("preload", "notify")
COLUMNS = {
    (KERNEL, KERNEL): "guest",
    ("preload", "preload"): "preload",
    ("notify", "notify"): "notify",
    ("preload", KERNEL): "preload to guest",
    (KERNEL, "preload"): "guest to preload",
    ("notify", KERNEL): "notify to guest",
    (KERNEL, "notify"): "guest to notify",
    ("preload", OWN): "preload to a stack of its own",
    ("notify", OWN): "notify to a stack of its own",
}
"""Columns of the table, by the client's end and the server's."""
SENT_BYTES = 300_000


@dataclass(frozen=True)
class End:
    """Where one of the two programs runs, and by which addresses it is known."""

    prefix: tuple[str, ...]
    addresses: tuple[str, str]
    udp: int = 0
    """Own UDP port, on the loopback."""


@dataclass(frozen=True)
class Result:
    """What became of a line between two ends."""

    line: Line
    client: str
    server: str
    told: str
    is_held: bool


def let_pass(seconds: float) -> None:
    threading.Event().wait(seconds)


def free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


class Guest:
    """A guest's kernel with two links to a namespace, in which our ends are."""

    def __init__(self) -> None:
        self.name = f"programs-{os.getpid()}"

    def __enter__(self) -> Self:
        links = []
        for number, path in enumerate(("10.92.1", "10.92.2")):
            links.append(f"p{os.getpid() % 100_000}{'ab'[number]},{path}.1/24,{path}.2/24")
        environment = dict(os.environ, GUEST_LIFE="3600", GUEST_MEM="512M")
        up = [UP, SCRIPTS, self.name, self.name, *links]
        subprocess.run(up, env=environment, check=True)
        within = ["ip", "netns", "exec", self.name]
        self.holder = subprocess.Popen([*within, sys.executable, "-c", HOLDER], stdout=subprocess.PIPE)
        assert self.holder.stdout is not None
        self.holder.stdout.readline()
        self.within = within
        return self

    def __exit__(self, *_: object) -> None:
        self.holder.kill()
        self.holder.wait()
        subprocess.run([SCRIPTS / "down", self.name], check=False)

    def kernel(self) -> End:
        run = str(SCRIPTS / "run-in-guest")
        return End((run, self.name), ("10.92.1.2", "10.92.2.2"))

    def ours(self, slantpath: Path, door: str) -> End:
        addresses = ("10.92.1.1", "10.92.2.1")
        at = itertools.chain.from_iterable(("--address", address) for address in addresses)
        sctp = (str(slantpath), "sctp", "--door", door, *at, "--")
        return End((*self.within, *sctp), addresses)


def ours_alone(slantpath: Path, door: str, *, is_one: bool) -> tuple[End, End]:
    """Two ends on the loopback, each with a daemon of its own: or one that is both."""
    ports = [free_port(socket.SOCK_DGRAM) for _ in range(2)]
    if is_one:
        ports[1] = ports[0]
    ends = []
    for number, addresses in enumerate((("127.0.0.1", "127.0.0.3"), ("127.0.0.2", "127.0.0.4"))):
        own, peer = ports[number], ports[1 - number]
        at = itertools.chain.from_iterable(("--address", address) for address in addresses)
        carriage = (f"--listen-udp={own}", f"--udp={peer}")
        ends.append(End((str(slantpath), "sctp", "--door", door, *carriage, *at, "--"), addresses, own))
    return ends[0], ends[1]


def pairs(line: Line, slantpath: Path, guest: Guest | None) -> Iterator[tuple[str, str, End, End]]:
    """All pairs of client and server, by their names."""
    for door in DOORS:
        server, client = ours_alone(slantpath, door, is_one=not line.server)
        yield door, door, client, server
        yield door, OWN, client, replace(server, prefix=())
    if guest is not None:
        for door in DOORS:
            yield door, KERNEL, guest.ours(slantpath, door), guest.kernel()
            yield KERNEL, door, guest.kernel(), guest.ours(slantpath, door)
        yield KERNEL, KERNEL, guest.kernel(), guest.kernel()


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program, if it has not ended by itself."""
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=3)
            return


def start(at: End, text: str, where: Path, out: IO[bytes]) -> subprocess.Popen[bytes]:
    command: Sequence[str] = (*at.prefix, "sh", "-c", text)
    return subprocess.Popen(command, cwd=where, stdin=subprocess.DEVNULL, stdout=out, stderr=out)


def run(line: Line, client: End, server: End, where: Path) -> str:
    """Run a line between two ends, and give what its judge says."""
    (where / "sent").write_bytes(os.urandom(SENT_BYTES))
    words = {
        "server": server.addresses[0],
        "server2": server.addresses[1],
        "client": client.addresses[0],
        "client2": client.addresses[1],
        "port": str(free_port(socket.SOCK_STREAM)),
        "server_udp": str(server.udp),
        "client_udp": str(client.udp),
        "here": str(HERE),
        "python": sys.executable,
    }
    line.prepare(where, words)
    with (where / "server.out").open("wb") as server_out:
        serving = start(server, line.server.format(**words), where, server_out) if line.server else None
        try:
            begun = time.monotonic()
            while True:
                with (where / "client.out").open("wb") as client_out:
                    calling = start(client, line.client.format(**words), where, client_out)
                    try:
                        status = calling.wait(timeout=PATIENCE)
                    except subprocess.TimeoutExpired:
                        end(calling)
                        raise FailedError("the client did not come to its end") from None
                if status == 0 or time.monotonic() - begun > READY or serving is None:
                    break
                let_pass(0.3)
            if status:
                raise FailedError(f"the client ended with status {status}")
            if serving is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    serving.wait(timeout=0.5 if line.is_stopped else PATIENCE)
        finally:
            if serving is not None:
                end(serving)
    return line.judge(where)


def tried(line: Line, names: tuple[str, str], client: End, server: End, kept: Path | None) -> Result:
    directory = Path(tempfile.mkdtemp(prefix="slantpath-sctp-programs-"))
    try:
        return Result(line, *names, run(line, client, server, directory), is_held=True)
    except FailedError as error:
        return Result(line, *names, str(error), is_held=False)
    finally:
        if kept is not None:
            place = kept / f"{line.name.replace(' ', '_').replace('/', '-')}-{names[0]}-{names[1]}"
            shutil.copytree(directory, place, dirs_exist_ok=True)
        shutil.rmtree(directory, ignore_errors=True)


def table(results: Sequence[Result]) -> Iterator[list[str]]:
    """Tell of each line what was compared, and if it was the same between each two ends."""
    yield ["line", "compared", *COLUMNS.values()]
    for name, of_line in itertools.groupby(results, key=lambda one: one.line.name):
        of = {(one.client, one.server): one for one in of_line}
        compared = next((one.told for one in of.values() if one.is_held), "")
        cells = (of.get(ends) for ends in COLUMNS)
        yield [
            name,
            compared,
            *("" if one is None else "same" if one.is_held else f"failed: {one.told}" for one in cells),
        ]


def lacks_guest() -> str | None:
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        return "a guest kernel needs root and /dev/net/tun"
    if not SCRIPTS.exists():
        return "there is no shared peers/linux-sctp here"
    return None


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--slantpath", type=Path, default=HERE / "../../target/release/slantpath")
    arguments.add_argument("--only", default="", help="the beginning of names of lines")
    arguments.add_argument("--client", default="", help="the client's end: preload, notify or kernel")
    arguments.add_argument("--server", default="", help="the server's end: preload, notify or kernel")
    arguments.add_argument("--without-guest", action="store_true")
    arguments.add_argument("--out", type=Path, help="a table of the results")
    arguments.add_argument("--keep", type=Path, help="a directory for what the programs wrote")
    options = arguments.parse_args()
    reason = lacks_guest()
    if reason and not options.without_guest:
        print(f"SKIPPED: against the kernel: {reason}", file=sys.stderr)
    results: list[Result] = []
    with contextlib.ExitStack() as stack:
        guest = None if reason or options.without_guest else stack.enter_context(Guest())
        for line in (line for line in LINES if line.name.startswith(options.only)):
            if missing := line.lacks():
                print(f"SKIPPED: {line.name}: {missing}", file=sys.stderr)
                continue
            for *names, client, server in pairs(line, options.slantpath.resolve(), guest):
                is_wanted = names[0].startswith(options.client) and names[1].startswith(options.server)
                if not is_wanted or not line.applies(*names):
                    continue
                result = tried(line, (names[0], names[1]), client, server, options.keep)
                results.append(result)
                held = "" if result.is_held else "FAILED: "
                print(f"{line.name}: {names[0]} to {names[1]}: {held}{result.told}", flush=True)
    if options.out:
        with options.out.open("w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(table(results))
    failed = [one for one in results if not one.is_held and (one.client, one.server) != (KERNEL, KERNEL)]
    if failed:
        sys.exit(f"failed: {len(failed)} of {len(results)}")


if __name__ == "__main__":
    main()
