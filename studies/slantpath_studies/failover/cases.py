"""What is run: the scenario of section 3, its cells, other choices, answers to the paper's questions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slantpath.errors import ScenarioWarning
from slantpath_studies import texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slantpath import Scenario
    from slantpath.running import Value

QUEUES = ("3", "6", "13")
"""The router's queue in KBytes: half, one and two bandwidth-delay products."""
LOADS = ("NONE", "LOW", "MEDIUM", "HIGH")
WORST = "13/HIGH"
BEST = "13/NONE"

IDLE = "idle"
"""The reading of section 3 in which no cross traffic meets the retransmissions on the alternate path."""

_NOTHING: Mapping[str, Value] = {"kind": "bulk", "message_size": "1000 B", "total": "1000 B"}
_UNLIMITED: Mapping[str, Value] = {"kind": "bulk", "message_size": "1000 B", "total": "unlimited"}


def _bursts(size: str, interval: str, jitter: str) -> Mapping[str, Value]:
    return {
        "kind": "bursts",
        "message_size": "1000 B",
        "burst_size": size,
        "interval": interval,
        "jitter": jitter,
    }


def _constant(rate: str) -> Mapping[str, Value]:
    return {"kind": "constant-rate", "message_size": "1000 B", "rate": rate}


TRAFFIC: Mapping[str, Mapping[str, Value]] = {
    "NONE": _NOTHING,
    "LOW": _bursts("4 kB", "200 ms", "100 ms"),
    "MEDIUM": _bursts("8 kB", "100 ms", "50 ms"),
    "HIGH": _UNLIMITED,
    "CBR-LOW": _constant("160 kbit/s"),
    "CBR-MEDIUM": _constant("640 kbit/s"),
}
"""Table 1, and the same means at constant rate. The bursts' intervals vary by a half: without that they
lock in phase with the round trips that the stack measures."""

CONSTANT = ("CBR-LOW", "CBR-MEDIUM")


def cell(queue: str, load: str, *, idle: bool = False) -> dict[str, Value]:
    """Give what a cell of figure 4 changes in the scenario."""
    return {
        "links.bottleneck1.forward.queue": f"{queue} kB",
        "links.bottleneck2.forward.queue": f"{queue} kB",
        "flows.cross1.application": TRAFFIC[load],
        "flows.cross2.application": TRAFFIC["NONE" if idle else load],
    }


CELLS: dict[str, Mapping[str, Value]] = {
    f"{queue}/{load}": cell(queue, load) for queue in QUEUES for load in LOADS
}
IDLE_CELLS: dict[str, Mapping[str, Value]] = {
    f"{IDLE}/{queue}/{load}": cell(queue, load, idle=True) for queue in QUEUES for load in LOADS
}

RTO_INITIAL = "rto-initial-80"
_RTO_INITIAL: Mapping[str, Value] = {"sctp.signalling.rto_initial": "80 ms"}

CLAIMED: dict[str, Mapping[str, Value]] = {
    **{f"13/{load}": cell("13", load) for load in CONSTANT},
    **{f"{IDLE}/13/{load}": cell("13", load, idle=True) for load in CONSTANT},
    f"{RTO_INITIAL}/{BEST}": {**cell("13", "NONE"), **_RTO_INITIAL},
}
"""What single claims need besides the cells."""


@dataclass(frozen=True, slots=True)
class Change:
    """Another choice for what the paper leaves open, or an answer to what it asks."""

    name: str
    about: str
    values: Mapping[str, Value] = field(default_factory=dict)


def _links(rate: str, delay: str) -> dict[str, Value]:
    links = ("bottleneck1", "bottleneck2")
    return {
        **{f"links.{link}.rate": rate for link in links},
        **{f"links.{link}.delay": delay for link in links},
    }


def _sctp(**values: Value) -> dict[str, Value]:
    return {f"sctp.signalling.{key}": value for key, value in values.items()}


def _source(size: str) -> dict[str, Value]:
    source: Mapping[str, Value] = {"kind": "constant-rate", "message_size": size, "rate": "200 kbit/s"}
    return {"flows.signalling.application": source}


LINKS: tuple[Change, ...] = (
    Change("link-1250", "1.25 Mbit/s and 20 ms", _links("1.25 Mbit/s", "20 ms")),
    Change("link-1600", "1.6 Mbit/s and 15 ms", _links("1.6 Mbit/s", "15 ms")),
    Change("link-20ms", "1 Mbit/s and 20 ms", _links("1 Mbit/s", "20 ms")),
)
"""Links of which the paper's queues are about a half, one and two bandwidth-delay products, beside the one
that is studied: it states neither rate nor delay. All claims are judged on each."""

OPEN: tuple[Change, ...] = (
    Change("msu-100", "MSUs of 100 bytes, not 250", _source("100 B")),
    Change("msu-500", "MSUs of 500 bytes", _source("500 B")),
    Change("plain-sctp", "without M3UA", {"flows.signalling.adaptation": "none"}),
    Change(
        "far-failure",
        "the link behind the far router fails, not the one between the routers",
        {"script": [{"at": "30 s", "link": "primary", "action": "down"}]},
    ),
    Change(
        "lockstep",
        "bursts at exact intervals",
        {"flows.cross1.application.jitter": "0 s", "flows.cross2.application.jitter": "0 s"},
    ),
    Change(
        "full-packets",
        "cross traffic in packets of 1,500 bytes",
        {
            "flows.cross1.application.message_size": "1448 B",
            "flows.cross2.application.message_size": "1448 B",
        },
    ),
    Change(
        "window-retransmission",
        "what timed out goes out as the window admits, not one packet a round",
        _sctp(retransmission_after_timeout="window"),
    ),
)
"""Other choices for what the paper leaves open."""

OPEN_CELLS = ("3/HIGH", "6/HIGH", BEST, WORST, f"{IDLE}/{WORST}")
BURST_ONLY: Mapping[str, tuple[str, ...]] = {
    "lockstep": ("13/MEDIUM",),
    "full-packets": ("3/HIGH", "6/HIGH", WORST, f"{IDLE}/{WORST}"),
}
"""Choices that concern some cells only."""

AT_ONCE = _sctp(new_data_after_timeout="path-window")
RECOMMENDED = "recommended"


def _third_path() -> dict[str, Value]:
    access: Mapping[str, Value] = {"rate": "100 Mbit/s", "delay": "0 ms"}
    return {
        "nodes.router5": {"kind": "router"},
        "nodes.router6": {"kind": "router"},
        "links.bottleneck3": {
            "ends": ["router5", "router6"],
            "rate": "1 Mbit/s",
            "delay": "25 ms",
            "queue": "13 kB",
        },
        "links.entry3": {"ends": ["sep1", "router5"], **access},
        "links.third": {"ends": ["router6", "sep2"], **access},
    }


ANSWERS: tuple[Change, ...] = (
    Change("as-measured", "as in the paper"),
    Change("back-off-150", "RTO back-off to 150 %, not 200 %", _sctp(rto_back_off_percent=150)),
    Change("back-off-100", "no RTO back-off", _sctp(rto_back_off_percent=100)),
    Change("at-once", "T3-rtx restarted at once", AT_ONCE),
    Change(
        "rtx-first",
        "T3-rtx restarted after the retransmissions",
        _sctp(new_data_after_timeout="retransmissions-first"),
    ),
    Change("pf-0", "SCTP-PF, PFMR 0", _sctp(potentially_failed_max_retrans=0)),
    Change("pf-1", "SCTP-PF, PFMR 1", _sctp(potentially_failed_max_retrans=1)),
    *(
        Change(f"pmr-{pmr}", f"Path.Max.Retrans {pmr}, not 2", _sctp(path_max_retrans=pmr))
        for pmr in (0, 1, 3, 4, 5)
    ),
    Change("rto-min-40", "RTO.Min 40 ms, not 80", _sctp(rto_min="40 ms")),
    Change("rto-min-160", "RTO.Min 160 ms", _sctp(rto_min="160 ms")),
    Change("rto-min-250", "RTO.Min 250 ms", _sctp(rto_min="250 ms")),
    Change("three-paths", "a third path, idle", _third_path()),
    Change(
        "pf-0-three-paths",
        "a third path, SCTP-PF with PFMR 0",
        {**_third_path(), **_sctp(potentially_failed_max_retrans=0)},
    ),
    Change(
        RECOMMENDED,
        "recommended: PFMR 0, Path.Max.Retrans 5, RFC 9260's rules",
        {
            **AT_ONCE,
            **_sctp(
                potentially_failed_max_retrans=0,
                path_max_retrans=5,
                retransmission_after_timeout="window",
            ),
        },
    ),
)
"""What the paper asks for, and what each would give."""

ANSWER_CELLS = (BEST, WORST)


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What happens to paths that do not fail for good: where quick failover can cost something."""

    name: str
    about: str
    cell: str
    """The queue and the load."""
    values: Mapping[str, Value]
    """What it changes in the scenario; the failure is taken out."""


LOSSY, JUMPING, FLAPPING = "loss", "jumps", "flaps"
_EVERY_S, _UNTIL_S = 10, 120


def _script(*steps: tuple[str, Mapping[str, Value]]) -> dict[str, Value]:
    """Give a script of steps on the primary path, each so long after every tenth second."""
    begins = range(_EVERY_S, _UNTIL_S, _EVERY_S)
    return {
        "script": [
            {"at": f"{begin}.{after} s", "link": "bottleneck1", **step}
            for begin in begins
            for after, step in steps
        ]
    }


DISTURBANCES: tuple[Disturbance, ...] = (
    Disturbance("load", "HIGH load, nothing else", WORST, {"script": []}),
    Disturbance(
        LOSSY,
        "no load, both paths lose 3 % of the packets in each direction",
        BEST,
        {"script": [], "links.bottleneck1.loss": "3 %", "links.bottleneck2.loss": "3 %"},
    ),
    Disturbance(
        JUMPING,
        "no load, the delay of the primary path is 150 ms, not 25, for one second in ten",
        BEST,
        _script(
            ("0", {"action": "set", "delay": "150 ms"}),
            ("999", {"action": "set", "delay": "25 ms"}),
        ),
    ),
    Disturbance(
        FLAPPING,
        "no load, the primary path is down for 150 ms every ten seconds",
        BEST,
        _script(("0", {"action": "down"}), ("15", {"action": "up"})),
    ),
)


def scenario() -> Scenario:
    """Give the scenario of the study as it is compiled in."""
    return texts.scenario_of("failover")


def scenario_of(
    values: Mapping[str, Value], change: Change | None = None, disturbance: Disturbance | None = None
) -> Scenario:
    """Give the scenario of a cell, with a change, and with a disturbance in place of the failure."""
    merged = {**values, **(change.values if change else {}), **(disturbance.values if disturbance else {})}
    with warnings.catch_warnings():
        # What RTO.Min at the peer's SACK delay costs is one of the study's questions.
        warnings.filterwarnings("ignore", r"(?s).*RTO\.Min of .* is not above SACK\.Delay", ScenarioWarning)
        return scenario().with_values(merged)
