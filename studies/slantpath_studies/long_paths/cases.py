"""What is run: the scenario of the study, and what each case changes in it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from slantpath_studies import texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slantpath import Scenario
    from slantpath.running import Value

TRANSPORTS = ("tcp", "sctp")
PROFILES: Mapping[str, str] = {
    "plain": "RFC, losses by count",
    "new-reno": "NewReno",
    "cubic": "CUBIC",
    "cubic-hystart": "CUBIC, HyStart++",
    "cubic-train": "CUBIC, HyStart",
    "hybla": "Hybla",
    "bbr": "BBR",
    "bbr3": "BBRv3",
    "backlog": "Backlog",
}
"""The profiles of the scenario, and what tables call them. Over SCTP NewReno is the window of RFC 9260."""
CONTROLLERS = ("new-reno", "cubic", "hybla", "bbr", "bbr3", "backlog")
"""Those that are compared beside the table, all with losses found by time."""
RIVALS = ("new-reno", "cubic")
DEFAULT = "new-reno"
"""What a flow has that names none."""

_MESSAGE: Mapping[str, str] = {"tcp": "1460 B", "sctp": "1452 B"}
"""What fills a packet of 1,500 bytes."""


@dataclass(frozen=True, slots=True)
class Path:
    """One of the two paths of the table."""

    name: str
    label: str
    rate_bit_per_s: float
    round_trip_s: float
    interval_s: float
    """A part of the round trip, and of the 20 s from which on goodput counts."""
    far_round_trip_s: float
    """Of one of two flows that share the path, where their round trips are not equal."""
    shared_s: tuple[float, float]
    """From when to when shares beside a rival count, and where the run ends. The rival begins at 0, the other
    within a second after 10 s."""

    @property
    def product_bytes(self) -> int:
        """The bandwidth-delay product."""
        return round(self.rate_bit_per_s * self.round_trip_s / 8)

    def values(self, queue: float = 1.0) -> dict[str, Value]:
        """Give the link without any loss, with a queue of so many products."""
        return {
            "links.path.rate": f"{self.rate_bit_per_s / 1e6:g} Mbit/s",
            "links.path.delay": _ms(self.round_trip_s / 2),
            "links.path.queue": f"{round(queue * self.product_bytes)} B",
            "links.path.loss": "0 %",
            "probes.intervals": "1 s",
        }


GEO = Path("geo", "GEO, 10 Mbit/s, 560 ms", 10e6, 0.560, 0.080, 1.120, (100, 900))
"""Far is as far again, as over a second satellite. A NewReno flow needs minutes there to come back from one
reduction, so that shares count for longer."""
LEO = Path("leo", "LEO, 50 Mbit/s, 50 ms", 50e6, 0.050, 0.025, 0.200, (30, 120))
PATHS = {path.name: path for path in (GEO, LEO)}

LOSSES: Mapping[str, str] = {"0": "0 %", "1e-3": "0.1 %", "1e-2": "1 %"}
"""The losses of the table, in both directions."""

DURATION_S = 120.0
"""What the scenario says."""
FROM_S = 20.0
"""Goodput counts from here on."""

TABLE_RUNS = 5
"""Runs of a cell of the table in which something is drawn at random."""
BESIDE_RUNS = 3
"""Runs of all other cases in which something is drawn, but for the next."""
DEFAULT_RUNS = 10
"""Runs over LEO beside a rival of the two between which the default is chosen. What a CUBIC flow has beside
another differs from run to run, from 42 to 58 % of the link in one place, and two means are compared."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is run under one name."""

    name: str
    values: Mapping[str, Value]
    most_runs: int = 1
    """One where nothing is drawn at random: all runs are equal then."""
    bursts: Bursts | None = None

    def scenarios(self, runs: int) -> list[Scenario]:
        """Give the scenario of each run: the same for all, but for bursts, which are drawn anew for each."""
        if self.bursts is None:
            return [scenario().with_values(self.values)] * runs
        return [
            scenario().with_values({**self.values, "script": self.bursts.script(run)}) for run in range(runs)
        ]


@dataclass(frozen=True, slots=True)
class Bursts:
    """A channel of Gilbert and Elliott in time: nothing passes in its bad state, all in its good one."""

    loss: float
    """The share of time that it is bad, which is the mean loss of traffic that keeps the link busy."""
    mean_s: float
    """Mean of the time that it stays bad; times in both states are exponential."""

    def script(self, run: int) -> list[dict[str, Value]]:
        """Give the changes of both directions for a run of that number."""
        return [step for direction in ("forward", "reverse") for step in self._direction(direction, run)]

    def _direction(self, direction: str, run: int) -> Iterator[dict[str, Value]]:
        draws = random.Random(f"{self.loss}/{self.mean_s}/{direction}/{run}")  # noqa: S311 - a model's chance
        good_s = self.mean_s * (1 - self.loss) / self.loss

        def drawn_us(mean_s: float) -> int:
            return 1 + int(-math.log(1 - draws.random()) * mean_s * 1e6)

        at_us = drawn_us(good_s)
        while at_us < DURATION_S * 1e6:
            for loss, stay_s in (("100 %", self.mean_s), ("0 %", good_s)):
                yield {
                    "at": f"{at_us} us",
                    "link": "path",
                    "direction": direction,
                    "action": "set",
                    "loss": loss,
                }
                at_us += drawn_us(stay_s)


BURST_LOSS = "1e-2"
"""The cell of the table to whose mean loss that of the bursts is equal."""
_BURST_PACKETS = 10

QUEUES = ("0.1", "4")
"""Queues in products, beside the one of the table."""

REORDER: Mapping[str, Value] = {"links.path.reorder": "5 %", "links.path.reorder_delay": "10 ms"}


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happens to the path twice, so that it is at the end as it was at the start."""

    name: str
    about: str
    path: Path
    at_s: tuple[float, float]
    steps: tuple[Mapping[str, Value], Mapping[str, Value]]
    rates_bit_per_s: tuple[float, float]
    """What the link carries after either."""
    values: Mapping[str, Value] = field(default_factory=dict)

    def script(self) -> list[dict[str, Value]]:
        """Give both changes."""
        return [
            {"at": f"{at_s:g} s", "link": "path", "action": "set", **step}
            for at_s, step in zip(self.at_s, self.steps, strict=True)
        ]


def _fade(path: Path) -> Change:
    steps: tuple[Mapping[str, Value], Mapping[str, Value]] = ({"loss": "100 %"}, {"loss": "0 %"})
    about = "nothing passes for 3 s"
    return Change(
        f"fade-{path.name}", f"{path.name.upper()}: {about}", path, (60, 63), steps, (0, path.rate_bit_per_s)
    )


def _capacity(path: Path) -> Change:
    mbit = path.rate_bit_per_s / 1e6
    steps: tuple[Mapping[str, Value], Mapping[str, Value]] = (
        {"rate": f"{2 * mbit:g} Mbit/s"},
        {"rate": f"{mbit:g} Mbit/s"},
    )
    return Change(
        f"capacity-{path.name}",
        f"{path.name.upper()}: {mbit:g}, {2 * mbit:g} and {mbit:g} Mbit/s",
        path,
        (50, 85),
        steps,
        (2 * path.rate_bit_per_s, path.rate_bit_per_s),
    )


HANDOVER = Change(
    "handover",
    "LEO: the round trip becomes 120 ms, and 40 ms again",
    LEO,
    (50, 85),
    ({"delay": "60 ms"}, {"delay": "20 ms"}),
    (LEO.rate_bit_per_s, LEO.rate_bit_per_s),
    {"links.path.delay": "20 ms", "links.path.queue": "250000 B"},
)
AFTER_S = 20.0
"""The time after a change whose goodput is told."""
CHANGES = (HANDOVER, _fade(GEO), _fade(LEO), _capacity(GEO), _capacity(LEO))

FLOWS = (2, 5, 20)
"""Flows of one controller on one path."""
FLOWS_FROM_S = 60.0
"""Their shares count from here on."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """How a controller meets a rival on a path that loses nothing but what its queue cannot hold."""

    transport: str
    rival_transport: str
    queue: str = "1"
    """In products of the path."""
    far: str = "neither"
    """Which of the two has the path's longer round trip: `neither`, `own` or `rival`."""
    path: Path = LEO

    @property
    def name(self) -> str:
        """What its cases are kept under."""
        where = "" if self.path is LEO else f"{self.path.name}-"
        return f"{where}{self.transport}-{self.rival_transport}-queue-{self.queue}-far-{self.far}"

    @property
    def about(self) -> str:
        """Say it in a few words."""
        far = _ms(self.path.far_round_trip_s)
        trips = {"neither": "", "own": f", own RTT {far}", "rival": f", the rival's RTT {far}"}
        return (
            f"{self.transport.upper()} beside {self.rival_transport.upper()}, "
            f"queue {self.queue}{trips[self.far]}"
        )

    def values(self, controller: str, rival: str) -> dict[str, Value]:
        """Give what it changes in the scenario."""
        own_end, rival_end = ("far-" if self.far == who else "" for who in ("own", "rival"))
        values: dict[str, Value] = {
            **self.path.values(float(self.queue)),
            **_flow(self.transport, controller),
            "flows.data.from": f"{own_end}left",
            "flows.data.to": f"{own_end}right",
            "flows.data.start": "10 s",
            "flows.data.start_jitter": "1 s",
            "flows.rival": {
                "transport": self.rival_transport,
                "profile": rival,
                "from": f"{rival_end}left",
                "to": f"{rival_end}right",
                "application": _bulk(self.rival_transport),
            },
        }
        if self.path.shared_s[1] != DURATION_S:
            values["scenario.duration"] = f"{self.path.shared_s[1]:g} s"
        return values if self.far == "neither" else {**values, **_far_hosts(self.path)}


SHARINGS = (
    *(
        Sharing(*transports, queue)
        for transports in product(TRANSPORTS, TRANSPORTS)
        for queue in ("1", "0.1")
    ),
    *(Sharing(one, one, "1", far) for one in TRANSPORTS for far in ("own", "rival")),
)
"""Over LEO, where the claim is judged."""
SHARINGS_GEO = (
    *(Sharing(one, one, queue, path=GEO) for one in TRANSPORTS for queue in ("1", "0.1")),
    *(Sharing(one, one, "1", far, GEO) for one in TRANSPORTS for far in ("own", "rival")),
)
"""Over GEO. Which transport carries the rival hardly matters over LEO, and is left out."""
SHARINGS_OF: Mapping[str, tuple[Sharing, ...]] = {LEO.name: SHARINGS, GEO.name: SHARINGS_GEO}


def table(path: str, transport: str, profile: str, loss: str) -> str:
    """Name a cell of the table."""
    return f"table/{path}/{transport}/{profile}/{loss}"


def bursts(path: str, transport: str, profile: str) -> str:
    """Name the case with losses in bursts."""
    return f"bursts/{path}/{transport}/{profile}"


def reordering(path: str, transport: str, profile: str) -> str:
    """Name the case in which packets overtake each other."""
    return f"reordering/{path}/{transport}/{profile}"


def queue(path: str, transport: str, profile: str, products: str) -> str:
    """Name the case with another queue."""
    return f"queue/{path}/{transport}/{profile}/{products}"


def change(name: str, transport: str, profile: str) -> str:
    """Name the case of a change."""
    return f"change/{name}/{transport}/{profile}"


def flows(path: str, transport: str, profile: str, count: int) -> str:
    """Name the case with several flows of a kind."""
    return f"flows/{path}/{transport}/{profile}/{count}"


def sharing(how: Sharing, profile: str, rival: str) -> str:
    """Name the case beside a rival."""
    return f"sharing/{how.name}/{profile}/{rival}"


@cache
def every() -> Mapping[str, Case]:
    """Give every case of the study by its name."""
    return {case.name: case for case in (*_table(), *_beside(), *_changes(), *_sharings())}


def _table() -> Iterator[Case]:
    for path, transport, profile, (loss, percent) in product(
        PATHS.values(), TRANSPORTS, PROFILES, LOSSES.items()
    ):
        values = {
            **path.values(),
            **_flow(transport, profile),
            "links.path.loss": percent,
            "probes.intervals": _ms(path.interval_s),
        }
        runs = 1 if loss == "0" else TABLE_RUNS
        yield Case(table(path.name, transport, profile, loss), values, runs)


def _beside() -> Iterator[Case]:
    for path, transport, profile in product(PATHS.values(), TRANSPORTS, CONTROLLERS):
        named = (path.name, transport, profile)
        flow = _flow(transport, profile)
        burst_s = _BURST_PACKETS * 1500 * 8 / path.rate_bit_per_s
        yield Case(bursts(*named), {**path.values(), **flow}, BESIDE_RUNS, Bursts(float(BURST_LOSS), burst_s))
        yield Case(reordering(*named), {**path.values(), **flow, **REORDER}, BESIDE_RUNS)
        for products in QUEUES:
            yield Case(queue(*named, products), {**path.values(float(products)), **flow})
        for count in FLOWS:
            values: dict[str, Value] = {
                **path.values(),
                **flow,
                "flows.data.count": count,
                "flows.data.start_jitter": "5 s",
            }
            yield Case(flows(*named, count), values, BESIDE_RUNS)


def _changes() -> Iterator[Case]:
    for one, transport, profile in product(CHANGES, TRANSPORTS, CONTROLLERS):
        values: dict[str, Value] = {
            **one.path.values(),
            **_flow(transport, profile),
            **one.values,
            "script": one.script(),
            "probes.intervals": "200 ms",
        }
        yield Case(change(one.name, transport, profile), values)


def _sharings() -> Iterator[Case]:
    for how, profile, rival in product((*SHARINGS, *SHARINGS_GEO), CONTROLLERS, RIVALS):
        is_of_default = how.path is LEO and profile in {DEFAULT, "cubic"}
        runs = DEFAULT_RUNS if is_of_default else BESIDE_RUNS
        yield Case(sharing(how, profile, rival), how.values(profile, rival), runs)


def _flow(transport: str, profile: str) -> dict[str, Value]:
    return {
        "flows.data.transport": transport,
        "flows.data.profile": profile,
        "flows.data.application": _bulk(transport),
    }


def _bulk(transport: str) -> Mapping[str, Value]:
    return {"kind": "bulk", "message_size": _MESSAGE[transport], "total": "unlimited"}


def _far_hosts(path: Path) -> dict[str, Value]:
    """Put the path between two routers, with two hosts beside it whose way to it is longer."""
    further = _ms((path.far_round_trip_s - path.round_trip_s) / 2)
    access: Mapping[str, Value] = {"rate": "1 Gbit/s", "queue": "unlimited"}
    near: Mapping[str, Value] = {**access, "delay": "0 ms"}
    return {
        "nodes.west": {"kind": "router"},
        "nodes.east": {"kind": "router"},
        "nodes.far-left": {"kind": "host"},
        "nodes.far-right": {"kind": "host"},
        "links.path.ends": ["west", "east"],
        "links.left-access": {"ends": ["left", "west"], **near},
        "links.right-access": {"ends": ["east", "right"], **near},
        "links.far-left-access": {"ends": ["far-left", "west"], **access, "delay": further},
        "links.far-right-access": {"ends": ["east", "far-right"], **near},
    }


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:g} ms"


def scenario() -> Scenario:
    """Give the scenario of the study as it is compiled in."""
    return texts.scenario_of("long-paths")
