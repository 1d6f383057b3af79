"""MPTCP over two links, round trips, starts and a flood."""

import contextlib
import os
import re
import select
import signal
import statistics
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab import HERE, VOID, Lab, hold, pause

Row = tuple[str, str, str]
"""A measure, what is asked of it and what was found."""

TWO_LINKS = HERE / "two-links.toml"
LINKS_MBIT_S = {"one": 4, "two": 2}
MPTCP_PART = 0.8
"""Part of both links' rates that arrives as data at least."""
MPTCP_EACH = 0.5
"""Part of its rate that each link carries at least."""
ONE_WAY_MS = 20.0
UNDER_WAY_MAX = 1_500
"""Packets of the flood at its end: a quarter of a second is in flight, and half a megabyte waits."""
OTHERS_MAX = 20
"""Frames of the flooding node that are not of the flood: questions for its neighbour."""
MEMORY_MAX_KB = 200 << 10
GROWTH_MAX_KB = 8 << 10
"""Growth of the memory from the first half of the flood to the second."""


def mptcp(slantpath: Path, seconds: int) -> list[Row]:
    """Make one connection of the kernel's MPTCP over two links of which each node has both."""
    transfer = f"'{sys.executable}' '{HERE / 'mptcp.py'}'"
    with Lab(slantpath) as lab:
        lab.start(
            [
                *(TWO_LINKS, "--root", "near", "--root", "far"),
                *("--in", "far", f"{transfer} receive {seconds}", "--ready", "far:5001"),
                *("--in", "near", f"{transfer} send {seconds}"),
            ]
        )
        lab.wait()
        lab.hold_end()
        received = int(lab.told("far")[-1])
        carried = {name: lab.rows("links", link=name, direction="forward")[0] for name in LINKS_MBIT_S}
    part = 8 * received / (sum(LINKS_MBIT_S.values()) * 1e6 * seconds)
    for name, row in carried.items():
        used = 8 * int(row["carried_bytes"]) / (LINKS_MBIT_S[name] * 1e6 * seconds)
        hold(used > MPTCP_EACH, f"MPTCP: link {name} carried {used:.2f} of what it could")
    hold(part >= MPTCP_PART, f"MPTCP: {part:.3f} of both links")
    return [("MPTCP over two links, data of both rates", f"at least {MPTCP_PART}", f"{part:.3f}")]


def pings(slantpath: Path, count: int, slack_ms: float) -> list[Row]:
    """Hold round trips of `ping` to twice the delay, and to the lateness that the emulation tells."""
    with Lab(slantpath) as lab:
        ping = ["ping", "-i", "0.002", "-c", str(count), "far"]
        lab.start(["--delay", f"{ONE_WAY_MS} ms", "--set", "links.link.family=ipv4", "--", *ping])
        lab.wait()
        lab.hold_end()
        found = sorted(float(ms) for ms in re.findall(r" time=([\d.]+) ms", lab.out))
        doors = lab.rows("attached_interfaces")
    hold(len(found) == count, f"{len(found)} of {count} pings came back")
    least, median, high = found[0], statistics.median(found), found[int(0.99 * count)]

    def late(column: str) -> float:
        # Of the answer, and of the question before it.
        return sum(1e3 * float(door[column]) for door in doors)

    least_bound, median_bound = 2 * ONE_WAY_MS, 2 * ONE_WAY_MS + late("lateness_median_s") + slack_ms
    # The slowest hundredth may have been late at the one door or the other.
    high_bound = 2 * ONE_WAY_MS + late("lateness_p999_s") + 2 * slack_ms
    # `ping` rounds to three digits.
    hold(least >= least_bound - 0.05, f"ping: {least} ms is less than the way takes")
    hold(median <= median_bound, f"ping: a median of {median} ms; lateness allows {median_bound:.2f} ms")
    hold(high <= high_bound, f"ping: 99 % within {high} ms; lateness allows {high_bound:.2f} ms")
    return [
        (f"ping, {count} times: shortest", f"at least {least_bound:.2f} ms", f"{least:.2f} ms"),
        (f"ping, {count} times: median", f"{median_bound:.2f} ms", f"{median:.2f} ms"),
        (f"ping, {count} times: 99 %", f"{high_bound:.2f} ms", f"{high:.2f} ms"),
    ]


def marked(mark: str) -> list[str]:
    """List the processes that have this in their environment, but for this one."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and mark.encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


MOUNTED = re.compile(r"/(etc/(hosts|resolv\.conf)|mnt|run|opt)")
"""Paths at which an emulation mounts something where its programs are."""
DOOR = re.compile(r"n\d+i\d+")
"""Names of interfaces of an emulation."""


def surroundings() -> list[str]:
    """List what looks like an emulation's own on the machine, beside processes."""
    mounts = (line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())
    interfaces = (path.name for path in Path("/sys/class/net").iterdir())
    return sorted([*filter(MOUNTED.fullmatch, mounts), *filter(DOOR.fullmatch, interfaces)])


def starts(slantpath: Path, count: int, together: int) -> list[Row]:
    """Start emulations that end by themselves, by SIGTERM and by SIGKILL in turn: nothing is left of any."""
    before = surroundings()
    mark = f"SLANTPATH_PROOF={uuid.uuid4()}"
    name, value = mark.split("=")
    environment = os.environ | {name: value}

    def one(number: int) -> float:
        begin = time.monotonic()
        ends_by = [None, signal.SIGTERM, signal.SIGKILL][number % 3]
        program = "echo up" if ends_by is None else "echo up; exec sleep 1000"
        command: list[str | Path] = [
            slantpath,
            "emulate",
            "--late",
            "10 s",
            "--in",
            "far",
            program,
            "--",
            "sh",
            "-c",
            program,
        ]
        with subprocess.Popen(
            command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            ups = {process.stdout.readline(), process.stdout.readline()}
            took_s = time.monotonic() - begin
            if ends_by:
                process.send_signal(ends_by)
            _, err = process.communicate(timeout=60)
        # Where near ends by itself, it may do so before far has begun.
        both = {"near: up\n", "far: up\n"}
        hold("near: up\n" in ups if ends_by is None else ups == both, f"start {number}: {ups} {err}")
        expected = {None: 0, signal.SIGTERM: 130, signal.SIGKILL: -signal.SIGKILL}[ends_by]
        hold(process.returncode == expected, f"start {number}: exit status {process.returncode}: {err}")
        return took_s

    with ThreadPoolExecutor(together) as pool:
        took_s = list(pool.map(one, range(count)))
    # Who is killed ends when the kernel comes to it.
    until = time.monotonic() + 10
    while (left := marked(mark)) and time.monotonic() < until:
        for process in left:
            with contextlib.suppress(OSError):
                end = os.pidfd_open(int(process))
                select.select([end], [], [], 1.0)
                os.close(end)
    hold(not left, f"processes are left: {left}")
    after = surroundings()
    hold(after == before, f"left behind: {after}, before: {before}")
    return [
        (f"{count} starts: left behind", "nothing", "nothing"),
        (
            f"{count} starts, {together} at a time: until both programs run, median",
            "told",
            f"{statistics.median(took_s):.2f} s",
        ),
    ]


def memory_kb(mark: str) -> int:
    """Tell the memory of the process that has most of those marked."""
    most = 0
    for process in marked(mark):
        try:
            status = Path(f"/proc/{process}/status").read_text()
        except OSError:
            continue
        most = max(most, *(int(kb) for kb in re.findall(r"VmRSS:\s+(\d+) kB", status)), 0)
    return most


def flood(slantpath: Path, seconds: int) -> list[Row]:
    """Have a program send all it can: memory is bounded, and every packet is accounted for."""
    mark = f"SLANTPATH_PROOF={uuid.uuid4()}"
    name, value = mark.split("=")
    os.environ[name] = value
    program = f"'{sys.executable}' '{HERE / 'flood.py'}' {seconds}"
    with Lab(slantpath) as lab:
        link = [
            "--rate",
            "20 Mbit/s",
            "--delay",
            "250 ms",
            "--queue",
            "500 kB",
            "--set",
            "links.link.family=ipv4",
        ]
        lab.start([*link, "--in", "near", program])
        lab.find_base()
        samples = []
        while lab.process and lab.process.poll() is None:
            samples.append(memory_kb(mark))
            pause(lab.process, 0.5)
        lab.wait()
        hold(lab.status in (0, VOID), f"flood: exit status {lab.status}: {lab.err}")
        door = lab.rows("attached_interfaces", node="near")[0]
        far = lab.rows("attached_interfaces", node="far")[0]
        way = lab.rows("links", link="link", direction="forward")[0]
        sent = int(lab.told("near")[-1])
    came, unread = int(door["packets_in"]), int(door["lost"])
    # What was not read in time makes the run void, and says so.
    hold((lab.status == VOID) == (unread > 0), f"flood: {unread} unread, exit status {lab.status}: {lab.err}")
    hold(
        0 <= came + unread - sent <= OTHERS_MAX,
        f"flood: {sent} were sent, {came} came and {unread} were not read in time",
    )
    dropped, carried = int(way["dropped_queue_full_packets"]), int(way["carried_packets"])
    hold(int(way["offered_packets"]) == came, f"flood: {way} of {came}")
    under_way = came - dropped - carried
    hold(0 <= under_way <= UNDER_WAY_MAX, f"flood: {came} came, {dropped} dropped, {carried} carried")
    hold(dropped > 0, "flood: nothing was dropped")
    half = len(samples) // 2
    grown = max(samples[half:]) - max(samples[:half])
    hold(grown <= GROWTH_MAX_KB, f"flood: {grown} kB more in the second half: {samples}")
    hold(max(samples) <= MEMORY_MAX_KB, f"flood: {max(samples)} kB")
    return [
        (f"flood of {seconds} s: packets a second from the program", "told", f"{sent // seconds}"),
        (f"flood of {seconds} s: sent, and not accounted for", "0", f"{max(0, sent - came - unread)}"),
        (f"flood of {seconds} s: not read in time, which makes the run void", "told", f"{unread}"),
        (f"flood of {seconds} s: packets that reached the program", "told", far["packets_out"]),
        (f"flood of {seconds} s: memory", "200 MB", f"{max(samples) // 1_024} MB"),
    ]
