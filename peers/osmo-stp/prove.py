#!/usr/bin/env python3
"""osmo-stp on Linux's SCTP at the other end of `slantpath gateway`, judged.

    peers/osmo-stp/prove.py               all of it, some two minutes
    peers/osmo-stp/prove.py --short       what every change passes, a quarter of a minute
    peers/osmo-stp/prove.py --only udp    those whose name begins so

It needs root, /dev/net/tun, osmo-stp, tshark, User-Mode Linux and the scripts that start its guest. Where one
is missing it says so, and has proved nothing.
"""

import argparse
import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE.parents[2] / "shared/peers/linux-sctp"
UP = HERE.parent / "user-mode-linux/up"
PATIENCE = 30.0
"""Seconds after which a line that does not come is missed."""
ASPS = ("boston", "paris", "turin")
PATHS = ("10.91.1", "10.91.2")
NUMBERS = itertools.count(1)
HOLDER = """
import signal, socket
kept = [socket.socket(f, socket.SOCK_RAW, 132) for f in (socket.AF_INET, socket.AF_INET6)]
print(flush=True)
signal.pause()
"""
"""Somebody for protocol 132 in the namespace: else its kernel answers that there is nobody."""
TURIN = """
[nodes.turin]
kind = "host"

[links.south]
ends = ["stp", "turin"]
rate = "100 Mbit/s"
delay = "1 ms"

[signalling.asps.turin]

[signalling.associations.third]
gateway = "stp"
asp = "turin"
"""
"""A third process, which shares the application server of the second."""
LOAD = """
[[signalling.routes]]
from = "exchange"
to = "register"
via = "stp"

[signalling.load.through]
from = "exchange"
to = ["register"]
links = 16
erlang_per_link = 0.1
lengths = [60]
start = "500 ms"
"""
"""A load from the SS7 network."""


class FailedError(Exception):
    """What was asked does not hold."""


class MissingError(Exception):
    """What the proof needs is not here."""


def hold(condition: object, told: str) -> None:
    """Fail with these words unless it holds."""
    if not condition:
        raise FailedError(told)


def let_pass(seconds: float) -> None:
    """Let time pass, which is part of what is measured."""
    threading.Event().wait(seconds)


class Program:
    """A program with its output in a file."""

    def __init__(self, log: Path, command: Sequence[str | Path], where: Path) -> None:
        self.log = log
        with log.open("w") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, cwd=where)

    def said(self) -> str:
        return self.log.read_text()

    def until(self, words: str, times: int = 1) -> None:
        """Wait until it has said so, so many times."""
        end = time.monotonic() + PATIENCE
        while self.said().count(words) < times:
            hold(
                time.monotonic() < end, f"{self.log.name} never said `{words}` {times} times:\n{self.said()}"
            )
            hold(self.process.poll() is None, f"{self.log.name} has ended:\n{self.said()}")
            let_pass(0.02)

    def end(self, how: int = signal.SIGTERM) -> str:
        """End it, and give all that it has said."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=PATIENCE)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        return self.said()


class Lab:
    """A guest with two links to a namespace in which our points are."""

    def __init__(self, slantpath: Path, *, udp: bool = False, door: str = "") -> None:
        self.slantpath = slantpath.resolve()
        self.udp = udp
        self.door = door
        self.stp_host = 4 if door else 2
        self.name = f"osmo-{os.getpid()}-{next(NUMBERS)}"
        self.programs: list[Program] = []
        self.captures: list[Path] = []

    def __enter__(self) -> Self:
        self._directory = tempfile.TemporaryDirectory(prefix="slantpath-osmo-stp-")
        self.directory = Path(self._directory.name)
        links = []
        for number, path in enumerate(PATHS):
            six = path.replace("10.", "fd").replace(".", ":")
            ours = "+".join(f"{path}.{host}/24+{six}::{host}/64" for host in (1, 3, 4))
            links.append(f"o{os.getpid() % 100_000}{'ab'[number]},{ours},{path}.2/24+{six}::2/64")
        environment = dict(os.environ, GUEST_LIFE="600")
        up = [UP, SCRIPTS, self.name, self.name, *links]
        begun = subprocess.run(up, env=environment, capture_output=True, text=True, check=False)
        if begun.returncode:
            raise MissingError(f"no guest: {begun.stderr.strip()}")
        holder = [*self.within(), sys.executable, "-c", HOLDER]
        self.program("holder", holder).until("\n")
        if self.udp:
            self.guest("sysctl -qw net.sctp.udp_port=9899 net.sctp.encap_port=9899")
            # A burst that the guest's kernel leaves to its driver to cut gets lost there if it is in UDP.
            self.guest("ip link set vec0 gso_max_size 1400; ip link set vec1 gso_max_size 1400")
        return self

    def __exit__(self, *_: object) -> None:
        for program in reversed(self.programs):
            program.end()
        subprocess.run([SCRIPTS / "down", self.name], check=False)
        if kept := os.environ.get("KEEP"):
            shutil.copytree(self.directory, kept, dirs_exist_ok=True)
        self._directory.cleanup()

    def within(self) -> list[str]:
        return ["ip", "netns", "exec", self.name]

    def program(self, name: str, command: Sequence[str | Path]) -> Program:
        log = self.directory / f"{len(self.programs)}-{name}.log"
        self.programs.append(Program(log, command, self.directory))
        return self.programs[-1]

    def guest(self, line: str) -> str:
        command = [SCRIPTS / "run-in-guest", self.name, "sh", "-c", line]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def stp(self, text: str) -> Program:
        """Start osmo-stp with this configuration."""
        return self.other("osmo-stp", "cs7 instance 0\n" + text)

    def other(self, name: str, text: str) -> Program:
        """Start a program of others in the guest, or here by a door, with this configuration."""
        log = "log stderr\n logging filter all 1\n logging color 0\n logging level set-all info\n"
        file = self.directory / f"{name}.cfg"
        file.write_text(log + "line vty\n no login\n" + text)
        place: list[str | Path] = [SCRIPTS / "run-in-guest", self.name]
        if self.door:
            own = [f"--address={path}.{self.stp_host}" for path in PATHS]
            place = [*self.within(), self.slantpath, "sctp", "--door", self.door, *own, "--"]
        other = self.program(name, [*place, name, "-c", file])
        other.until("Available via telnet")
        return other

    def lab(self, more: str = "") -> None:
        (self.directory / "lab.toml").write_text((HERE / "lab.toml").read_text() + more)

    def ours(self, point: str, *flags: str, sixth: bool = False) -> Program:
        """Start a point of ours; over IPv6 on the second path if asked for."""
        text = (self.directory / "lab.toml").read_text()
        at: list[str] = []
        for node, host in {"stp": self.stp_host, "boston": 1, "paris": 3, "turin": 4, "exchange": 4}.items():
            if f"\n{node}.kind" in text or f"[nodes.{node}]" in text:
                second = f"fd91:2::{host}" if sixth else f"{PATHS[1]}.{host}"
                at += ["--at", f"{node}={PATHS[0]}.{host},{second}"]
        return self.point(point, *at, *flags)

    def point(self, point: str, *flags: str) -> Program:
        """Start a point of ours, with its capture."""
        capture = self.directory / f"{len(self.programs)}-{point}.pcapng"
        self.captures.append(capture)
        carriage = ["--udp=9899"] if self.udp else []
        command = [*self.within(), self.slantpath, "gateway", "lab.toml", "--point", point, *carriage]
        return self.program(point, [*command, "--capture", capture, *flags])

    def judge(self) -> int:
        """Have tshark read every message of every capture, and count those of M3UA."""
        return judge(self.captures)


def read_capture(capture: Path, chosen: str, *more: str) -> str:
    """Give what tshark says of the packets of a capture that a filter chooses."""
    prefer = ["-o", "sctp.checksum:CRC 32c", "-o", "sctp.reassembly:TRUE"]
    command = ["tshark", "-r", capture, *prefer, "-Y", chosen, *more]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def judge(captures: Sequence[Path]) -> int:
    """Have tshark read every message of captures, and count those of M3UA."""
    faults = (
        "_ws.malformed",
        "sctp.checksum.status == 0",
        "m3ua && _ws.expert.severity >= 0x00800000",
        "sctp.data_payload_proto_id == 3 && !m3ua && !sctp.retransmission",
    )
    wrong = " || ".join(f"({fault})" for fault in faults)
    # It takes most of its time to begin.
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda capture: read_capture(capture, wrong), captures)
        versions = pool.map(
            lambda own: read_capture(own, "m3ua", "-T", "fields", "-e", "m3ua.version"), captures
        )
        for capture, fault in zip(captures, found, strict=True):
            hold(not fault, f"{capture.name}: tshark finds fault:\n{fault[:2_000]}")
        count = sum(version.count("1") for version in versions)
    hold(count, "no capture has a message of M3UA")
    return count


def figure(said: str, words: str) -> int:
    """Read the number in front of these words."""
    found = re.search(rf"(\d+) {words}", said)
    hold(found, f"no `{words}`:\n{said}")
    return int(found[1]) if found else 0


def load(said: str) -> tuple[int, int]:
    """Messages that a load has sent, and those of them that were refused."""
    found = re.search(r"load \w+: (\d+) messages sent, (\d+) of them refused", said)
    hold(found, f"no account of a load:\n{said}")
    return (int(found[1]), int(found[2])) if found else (0, 0)


def sixes(listen: str) -> str:
    """Lines of osmo-stp for an address of IPv6 in place of the second one of IPv4."""
    return listen.replace(f"local-ip {PATHS[1]}.2", "local-ip fd91:2::2")


def listens(ports: Sequence[int], *, dynamic: bool = False) -> str:
    """Ports at which osmo-stp waits for processes."""
    more = "  accept-asp-connections dynamic-permitted\n" if dynamic else ""
    own = "".join(f"  local-ip {path}.2\n" for path in PATHS)
    return "".join(f" listen m3ua {port}\n{own}{more}" for port in ports)


def process(number: int, *, sixth: bool = False) -> str:
    """One of our processes, as osmo-stp is told of it."""
    host = (1, 3, 4)[number]
    port = 2905 + number
    second = f"fd91:2::{host}" if sixth else f"{PATHS[1]}.{host}"
    return (
        f" asp {ASPS[number]} {port} {port} m3ua\n"
        f"  local-ip {PATHS[0]}.2\n  local-ip {PATHS[1]}.2\n"
        f"  remote-ip {PATHS[0]}.{host}\n  remote-ip {second}\n  role sg\n  sctp-role server\n"
    )


def servers(mode: str, of_switch: Sequence[str]) -> str:
    """Configure the application servers, and routes to them."""
    asps = "".join(f"  asp {asp}\n" for asp in of_switch)
    return (
        " as register m3ua\n  asp boston\n  routing-key 100 3.20.1\n  traffic-mode override\n"
        f" as switch m3ua\n{asps}  routing-key 200 3.20.2\n  traffic-mode {mode}\n"
        " route-table system\n  update route 3.20.1 7.255.7 linkset register\n"
        "  update route 3.20.2 7.255.7 linkset switch\n"
    )


STATIC = " point-code 2.15.3\n"
DYNAMIC = " point-code 2.15.3\n xua rkm routing-key-allocation dynamic-permitted\n"


def load_through(lab: Lab, seconds: float, *, sixth: bool = False) -> str:
    """Load osmo-stp from one process of ours to another one; nothing is lost."""
    paris = lab.ours("paris", sixth=sixth)
    paris.until("server=switch event=asp-active")
    boston = lab.ours("boston", "--load", "there", sixth=sixth)
    paris.until("event=first-message")
    let_pass(seconds)
    sent, _ = load(boston.end())
    said = paris.end()
    arrived = figure(said, "messages came to user parts")
    hold(sent and arrived == sent, f"{arrived} of {sent} messages arrived:\n{said}")
    judged = lab.judge()
    return f"{sent} messages sent, as many arrived; tshark took {judged} messages of M3UA"


def gateway(
    slantpath: Path, seconds: float, *, sixth: bool = False, udp: bool = False, door: str = ""
) -> str:
    """osmo-stp as SG: two application servers, each with a process of ours."""
    with Lab(slantpath, udp=udp, door=door) as lab:
        lab.lab()
        text = (
            STATIC
            + process(0, sixth=sixth)
            + process(1, sixth=sixth)
            + servers("override", ["paris"])
            + listens((2905, 2906))
        )
        if door:
            for path in PATHS:
                text = text.replace(f"local-ip {path}.2\n", f"local-ip {path}.{lab.stp_host}\n")
        lab.stp(sixes(text) if sixth else text)
        return load_through(lab, seconds, sixth=sixth)


def registered(slantpath: Path, seconds: float) -> str:
    """osmo-stp as SG that knows nobody: our processes register their routing keys."""
    with Lab(slantpath) as lab:
        text = (HERE / "lab.toml").read_text().replace("dpc = ", 'registration = "dynamic"\ndpc = ')
        (lab.directory / "lab.toml").write_text(text)
        lab.stp(DYNAMIC + listens((2905, 2906), dynamic=True))
        said = load_through(lab, seconds)
        told = "".join(program.said() for program in lab.programs)
        hold(told.count("event=registered") == len(("boston", "paris")), f"not both were registered:\n{told}")
        return said


def shared(slantpath: Path, seconds: float, mode: str) -> str:
    """osmo-stp as SG: two processes of ours for one application server; the first leaves under load."""
    with Lab(slantpath) as lab:
        lab.lab(TURIN)
        both = 'signalling.application_servers.switch.asps=["paris", "turin"]'
        flags = ["--set", both, "--set", f'signalling.application_servers.switch.traffic_mode="{mode}"']
        asps = "".join(process(number) for number in range(3))
        lab.stp(STATIC + asps + servers(mode, ["paris", "turin"]) + listens((2905, 2906, 2907)))
        paris = lab.ours("paris", *flags)
        paris.until("server=switch event=asp-active")
        turin = lab.ours("turin", *flags)
        turin.until("server=switch event=asp-active" if mode == "loadshare" else "event=association-up")
        boston = lab.ours("boston", *flags, "--load", "there")
        paris.until("event=first-message")
        let_pass(seconds)
        of_first = figure(paris.end(), "messages came to user parts")
        let_pass(seconds)
        sent, _ = load(boston.end())
        of_second = figure(turin.end(), "messages came to user parts")
        lost = sent - of_first - of_second
        hold(of_first and of_second, f"{of_first} and {of_second} messages arrived at the two")
        # What osmo-stp had given to an association that ended, or discards while no process is active.
        hold(0 <= lost <= sent // 10, f"{lost} of {sent} messages are lost")
        judged = lab.judge()
        arrived = f"{of_first} and {of_second} of {sent} messages arrived at the two, {lost} were lost"
        return f"{arrived}; tshark took {judged} messages of M3UA"


def restarted(slantpath: Path, seconds: float) -> str:
    """osmo-stp is killed under load and started once more."""
    with Lab(slantpath) as lab:
        lab.lab()
        text = STATIC + process(0) + process(1) + servers("override", ["paris"]) + listens((2905, 2906))
        lab.stp(text)
        paris = lab.ours("paris")
        paris.until("server=switch event=asp-active")
        boston = lab.ours("boston", "--load", "there")
        paris.until("event=first-message")
        let_pass(seconds)
        lab.guest("kill -9 $(pidof osmo-stp)")
        for ours in (boston, paris):
            ours.until("event=association-down")
        lab.stp(text)
        for ours in (boston, paris):
            ours.until("event=asp-active", times=2)
        boston.until("event=destination-available", times=2)
        let_pass(seconds)
        sent, refused = load(boston.end())
        arrived = figure(paris.end(), "messages came to user parts")
        hold(arrived <= sent - refused, f"{arrived} of {sent - refused} messages arrived")
        lost = sent - refused - arrived
        return (
            f"{sent} messages sent, {refused} refused meanwhile, {lost} lost with it; {lab.judge()} of M3UA"
        )


def processes(slantpath: Path, seconds: float) -> str:
    """osmo-stp as two processes of our gateway; what comes to them it hands to a process of ours."""
    with Lab(slantpath) as lab:
        lab.lab(LOAD)
        own = f"  local-ip {PATHS[0]}.2\n  local-ip {PATHS[1]}.2\n"
        up = "".join(
            f" asp up-{port} {port} {port + 10} m3ua\n{own}"
            f"  remote-ip {PATHS[0]}.1\n  remote-ip {PATHS[1]}.1\n"
            "  role asp\n  sctp-role client\n"
            for port in (2905, 2906)
        )
        down = (
            process(0)
            .replace(f"{PATHS[0]}.1\n", f"{PATHS[0]}.3\n")
            .replace(f"{PATHS[1]}.1\n", f"{PATHS[1]}.3\n")
        )
        text = (
            " point-code 2.15.5\n" + up + down + " as up m3ua\n  asp up-2905\n  asp up-2906\n"
            "  routing-key 100 3.20.1\n  traffic-mode loadshare\n"
            " as down m3ua\n  asp boston\n  routing-key 300 3.20.1\n  traffic-mode override\n"
            " route-table system\n  update route 3.20.1 7.255.7 linkset down\n" + listens((2905,))
        )
        guest = ["--at", f"boston={PATHS[0]}.2,{PATHS[1]}.2", "--at", f"paris={PATHS[0]}.2,{PATHS[1]}.2"]
        ours = ["--at", f"stp={PATHS[0]}.1,{PATHS[1]}.1", "--at", f"exchange={PATHS[0]}.4,{PATHS[1]}.4"]
        sets = ['asps=["boston", "paris"]', 'traffic_mode="loadshare"']
        of_register = [f"--set=signalling.application_servers.register.{value}" for value in sets]
        stp = lab.point("stp", *guest, *ours, *of_register)
        lab.stp(text)
        other = ["--at", f"stp={PATHS[0]}.2,{PATHS[1]}.2", "--at", f"boston={PATHS[0]}.3,{PATHS[1]}.3"]
        boston = lab.point(
            "boston", *other, "--set=signalling.application_servers.register.routing_context=300"
        )
        for association in ("first", "second"):
            stp.until(f"association={association} server=register event=asp-active")
        boston.until("server=register event=asp-active")
        exchange = lab.point("exchange", *guest, *ours, *of_register, "--load", "through")
        boston.until("event=first-message")
        let_pass(seconds)
        sent, _ = load(exchange.end())
        let_pass(1)
        arrived = figure(boston.end(), "messages came to user parts")
        hold(sent and arrived == sent, f"{arrived} of {sent} messages arrived:\n{stp.said()}")
        return f"{sent} messages sent, as many arrived; tshark took {lab.judge()} messages of M3UA"


BSC = """
cs7 instance 0
 point-code 0.23.3
 asp bsc 2905 2915 m3ua
{addresses}  role asp
  sctp-role client
 as bsc m3ua
  asp bsc
  routing-key 100 0.23.3
 sccp-address msc
  routing-indicator PC
  point-code 0.23.1
network
 network country code 1
 mobile network code 1
msc 0
 msc-addr msc
"""
"""osmo-bsc, whose MSC is behind our gateway."""
MSC = """
cs7 instance 0
 point-code 0.23.1
 asp msc 2906 2916 m3ua
{addresses}  role asp
  sctp-role client
 as msc m3ua
  asp msc
  routing-key 200 0.23.1
network
 network country code 1
 mobile network code 1
"""
"""osmo-msc, behind the same."""


def reset(slantpath: Path) -> str:
    """osmo-bsc and osmo-msc reset each other by SCCP over M3UA, through our gateway."""
    missing = [name for name in ("osmo-bsc", "osmo-msc") if shutil.which(name) is None]
    if missing:
        message = f"apt-get install {' '.join(missing)}"
        raise MissingError(message)
    with Lab(slantpath) as lab:
        lab.lab()
        codes = {"register": "0-23-3", "switch": "0-23-1"}
        flags = [f'--set=signalling.points.{point}.point_code="{code}"' for point, code in codes.items()]
        hosts = {"exchange": 4, "stp": 1, "boston": 2, "paris": 2}
        flags += [f"--at={node}={PATHS[0]}.{host},{PATHS[1]}.{host}" for node, host in hosts.items()]
        stp = lab.point("stp", *flags)
        stp.until("Ctrl-C stops")
        addresses = "".join(f"  local-ip {path}.2\n  remote-ip {path}.1\n" for path in PATHS)
        lab.other("osmo-msc", MSC.format(addresses=addresses))
        stp.until("server=switch event=asp-active")
        bsc = lab.other("osmo-bsc", BSC.format(addresses=addresses))
        stp.until("server=register event=asp-active")
        # Asked first before its process is active, the MSC is asked anew after ten seconds.
        bsc.until("RESET ACK from MSC")
        stp.end()
        # BSSMAP's messages of 3GPP TS 48.008, section 3.2.2.1.
        counts = [
            len(read_capture(lab.captures[0], f"m3ua && gsm_a.bssmap.msgtype == {kind}").splitlines())
            for kind in (0x30, 0x31)
        ]
        hold(all(counts), f"{counts[0]} times RESET, {counts[1]} times its acknowledgement:\n{bsc.said()}")
        return f"{counts[0]} RESET, {counts[1]} RESET ACK; tshark took {lab.judge()} messages of M3UA"


PROOFS: dict[str, Callable[[Path], str]] = {
    "gateway": lambda slantpath: gateway(slantpath, 5),
    "ipv6": lambda slantpath: gateway(slantpath, 5, sixth=True),
    "udp": lambda slantpath: gateway(slantpath, 5, udp=True),
    "preload": lambda slantpath: gateway(slantpath, 5, door="preload"),
    "notify": lambda slantpath: gateway(slantpath, 5, door="notify"),
    "registered": lambda slantpath: registered(slantpath, 5),
    "loadshare": lambda slantpath: shared(slantpath, 3, "loadshare"),
    "override": lambda slantpath: shared(slantpath, 3, "override"),
    "processes": lambda slantpath: processes(slantpath, 5),
    "restarted": lambda slantpath: restarted(slantpath, 3),
    "reset": reset,
}
SHORT: dict[str, Callable[[Path], str]] = {
    "gateway": lambda slantpath: gateway(slantpath, 1, sixth=True),
    "registered": lambda slantpath: registered(slantpath, 1),
    "processes": lambda slantpath: processes(slantpath, 1),
}


def lacks() -> str | None:
    """Say what is missing here."""
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        return "a guest kernel needs root and /dev/net/tun"
    if not SCRIPTS.exists():
        return "there is no shared peers/linux-sctp here"
    missing = [name for name in ("osmo-stp", "tshark") if shutil.which(name) is None]
    return f"apt-get install {' '.join(missing)}" if missing else None


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--slantpath", type=Path, default=HERE / "../../target/release/slantpath")
    arguments.add_argument("--short", action="store_true", help="fewer, and shorter")
    arguments.add_argument("--only", default="", help="the beginning of names of proofs")
    options = arguments.parse_args()
    if reason := lacks():
        print(f"SKIPPED: {reason}", file=sys.stderr)
        return
    failed = []
    proofs = SHORT if options.short else PROOFS

    def one(name: str) -> None:
        try:
            print(f"{name}: {proofs[name](options.slantpath)}", flush=True)
        except MissingError as error:
            print(f"SKIPPED: {error}", file=sys.stderr)
        except FailedError as error:
            failed.append(name)
            print(f"{name}: FAILED: {error}", file=sys.stderr)

    # Those that are short wait most of their time.
    with ThreadPoolExecutor(len(proofs) if options.short else 1) as pool:
        list(pool.map(one, [name for name in proofs if name.startswith(options.only)]))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
