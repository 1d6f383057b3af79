"""Routing programs of others, whose neighbours come and go as the plan of the sky says."""

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from island import DEAD_S, HELLO_S
from lab import HERE, SCENARIOS, Lab, hold

SCENARIO = SCENARIOS / "emulated-islands.toml"
ISLANDS = ("faial", "pico", "jorge")
START_S = 1585
"""Instant of the sky at which the scenario begins."""
SECONDS = 25
"""Length of a short run: until the constellation is back, and six seconds more."""
SLACK_S = 0.5
"""Time that a program may take beyond its timers, on a machine that does other things."""
GEOSTATIONARY_MS = 480
"""Round trip over the backup at least."""

NUMBER = r"192\.168\.(?P<other>\d)\.1"
CHANGES = {
    "bird-ospf": rf"(?P<at>\S+ \S+) <TRACE> lab: Neighbor {NUMBER} on (?P<way>\w{{3}})\d .* to (?P<to>\S+)",
    "frr-ospf": rf"(?P<at>\S+ \S+) OSPF: .*AdjChg: Nbr {NUMBER},.* on (?P<way>\w{{3}})\d:.* -> (?P<to>\w+)",
    "frr-isis": r"(?P<at>\S+ \S+) ISIS: .*Adjacency to \S+ \((?P<way>\w{3})(?P<other>\d)\).* to (?P<to>\w+),",
}
"""Lines by which each tells that the state of a neighbour has changed."""


class Change(NamedTuple):
    at_s: float
    way: str
    """`leo` or `geo`."""
    other: int
    to: str
    """`up`, `down` or, between these, `heard`."""


class Route(NamedTuple):
    at_s: float
    other: int
    device: str


def seconds(stamp: str) -> float:
    """Read a time in UTC as seconds since 1970."""
    return datetime.fromisoformat(stamp.replace("/", "-")).replace(tzinfo=UTC).timestamp()


def changes(program: str, log: Path, base: float) -> list[Change]:
    states = {"Full": "up", "Up": "up", "Down": "down", "Deleted": "down"}
    found = re.finditer(CHANGES[program], log.read_text())
    return [
        Change(seconds(m["at"]) - base, m["way"], int(m["other"]), states.get(m["to"], "heard"))
        for m in found
    ]


def routes(file: Path, base: float) -> list[Route]:
    found = re.finditer(rf"^\[(\S+)\] {NUMBER} .*?dev (\w+)", file.read_text(), re.MULTILINE)
    return [Route(seconds(m[1]) - base, int(m["other"]), m[3]) for m in found]


def contacts(lab: Lab, island: str) -> Iterator[tuple[float, float]]:
    """List from when to when the island sees the constellation."""
    begin = None
    for row in lab.rows("handovers", link=f"leo-{island}"):
        at_s = float(row["at_s"])
        if begin is not None:
            yield begin, at_s
        begin = at_s if row["to"] else None
    if begin is not None:
        yield begin, float("inf")


def gap(lab: Lab, one: str, other: str) -> tuple[float, float]:
    """Tell when the contact of two islands ends, and when it begins again."""
    (_, one_ends), (one_begins, _) = contacts(lab, one)
    (_, other_ends), (other_begins, _) = contacts(lab, other)
    return min(one_ends, other_ends), max(one_begins, other_begins)


def prove(slantpath: Path, program: str, longer_s: int) -> list[tuple[str, str, str]]:
    """Run three sites; list what is asked of them, the bound and what was found.

    The run begins earlier and ends later by so much each, and the constellation is away longer: BIRD tells
    what has changed five seconds after the last time (MinLSInterval), and FRR when it is told to.
    """
    sky = [f"sky.start={START_S - longer_s} s", f"scenario.duration={60 + longer_s} s"]
    if longer_s:
        sky.append("sky.ground.min_elevation=25.2 deg")
    with Lab(slantpath) as lab:
        changed = [word for one in sky for word in ("--set", one)]
        lab.start([SCENARIO, *changed, *commands(program, lab.directory)])
        lab.stop_at(SECONDS + 2 * longer_s)
        lab.hold_end()
        return judged(lab, program)


def judged(lab: Lab, program: str) -> list[tuple[str, str, str]]:
    lost, back, up, changed, returned = [], [], [], [], []
    for own, island in enumerate(ISLANDS, 1):
        own_changes = changes(program, lab.directory / f"{island}.log", lab.base)
        own_routes = routes(lab.directory / f"{island}.routes", lab.base)
        for other, name in enumerate(ISLANDS, 1):
            if other == own:
                continue
            whom = f"{program}: {name} at {island}"
            ends, begins = gap(lab, island, name)
            near = [one for one in own_changes if (one.way, one.other) == ("leo", other)]
            before = [one.to for one in near if one.at_s < ends]
            hold(before[-1:] == ["up"] and "down" not in before, f"{whom}: before the contact ends: {before}")
            downs = [one.at_s - ends for one in near if one.to == "down" and one.at_s >= ends]
            hold(downs, f"{whom}: not lost")
            after = [one for one in near if one.at_s - ends > downs[0]]
            heard = [one.at_s - begins for one in after if one.to != "down"]
            hold(heard, f"{whom}: not back")
            ups = [one.at_s - begins for one in after if one.to == "up"]
            hold(ups, f"{whom}: not up again")
            far = [one for one in own_changes if (one.way, one.other) == ("geo", other) and one.at_s < begins]
            hold([one.to for one in far][-1:] == ["up"], f"{whom}: over the geostationary satellite: {far}")
            hold("down" not in [one.to for one in far], f"{whom}: lost over the geostationary satellite")
            to = [one for one in own_routes if one.other == other]
            away = [one for one in to if one.at_s >= ends and one.device.startswith("geo")]
            hold(away, f"{whom}: no route over the geostationary satellite: {to}")
            hold(away[0].at_s < begins, f"{whom}: the route changes late: {to}")
            hold(to[-1].device.startswith("leo"), f"{whom}: the route does not come back: {to}")
            lost.append(downs[0])
            back.append(heard[0])
            up.append(ups[0])
            changed.append(away[0].at_s - ends)
            home = [one.at_s for one in to if one.at_s > away[0].at_s and one.device.startswith("leo")]
            returned.append(home[0] - begins)
    hold(min(lost) >= DEAD_S - HELLO_S - SLACK_S, f"{program}: a neighbour is lost {min(lost):.2f} s after")
    hold(max(lost) <= DEAD_S + SLACK_S, f"{program}: a neighbour is lost {max(lost):.2f} s after")
    hold(min(back) >= -SLACK_S, f"{program}: a neighbour is back {min(back):.2f} s after")
    hold(max(back) <= 2 * HELLO_S + SLACK_S, f"{program}: a neighbour is back {max(back):.2f} s after")
    hold(max(changed) <= DEAD_S + HELLO_S + SLACK_S, f"{program}: a route changes {max(changed):.2f} s after")
    backup, near_s = pinged(lab)
    return [
        (f"{program}: a neighbour is lost after its contact has ended", f"{DEAD_S} s", f"{max(lost):.2f} s"),
        (f"{program}: it is back after its contact has begun", f"{2 * HELLO_S} s", f"{max(back):.2f} s"),
        (f"{program}: it is adjacent", "told", f"{max(up):.2f} s"),
        (f"{program}: all routes avoid it", f"{DEAD_S + HELLO_S} s", f"{max(changed):.2f} s"),
        (f"{program}: all routes are back", "told", f"{max(returned):.2f} s"),
        (f"{program}: round trip over the backup, and after", "told", f"{backup:.0f} ms, {near_s:.1f} ms"),
    ]


def pinged(lab: Lab) -> tuple[float, float]:
    """Tell the shortest round trip in ms while the routes lead over the backup, and the last one."""
    text = (lab.directory / f"{ISLANDS[0]}.pings").read_text()
    found = [
        (float(at) - lab.base, float(ms)) for at, ms in re.findall(r"\[([\d.]+)\].* time=([\d.]+) ms", text)
    ]
    ends, begins = gap(lab, ISLANDS[0], ISLANDS[-1])
    backup = [ms for at, ms in found if ends + DEAD_S + HELLO_S + SLACK_S < at < begins]
    hold(backup and min(backup) > GEOSTATIONARY_MS, f"over the backup: {backup}")
    hold(found[-1][1] < GEOSTATIONARY_MS, f"at the end: {found[-3:]}")
    return min(backup), found[-1][1]


def commands(program: str, directory: Path) -> list[str]:
    """List the arguments that start the sites."""
    site = f"'{sys.executable}' '{HERE / 'island.py'}'"
    return [
        word
        for number, island in enumerate(ISLANDS, 1)
        for word in ("--root", island, "--in", island, f"{site} {number} {island} {program} '{directory}'")
    ]
