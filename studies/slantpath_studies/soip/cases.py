"""What is run: the gateways of the trial, one of two paths between them, and what each case changes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from slantpath import Scenario
from slantpath.errors import ScenarioWarning
from slantpath_studies import texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slantpath.running import Value

LINKS = 30
LINE_BIT_PER_S = 64_000
START_S = 30
"""When the load begins: lines and associations are aligned by then."""
GIVE_UP_S = 10
ROUND_TRIP_S = 0.65
"""Of the satellite, with half a frame's wait in each direction."""
LOADS = ("a1", "a2", "b1", "b2")
OCTETS = 120
QUEUE_MB9 = 1000
"""The transmission queue of the first release is not published; the second has 8,000."""

ERLANGS_MB9 = (0.14, 0.18, 0.22, 0.26, 0.30, 0.33, 0.36, 0.40, 0.44)
JUDGED_MB9 = (0.14, 0.30, 0.36, 0.44)
"""Loads at which S1 to S3 are judged."""
ERLANGS_MB9_8 = (0.36, 0.44, 0.52, 0.60, 0.64, 0.68, 0.72)
JUDGED_MB9_8 = 0.60
"""The load at which what S4 says of the start is judged."""
PERMANENT_FROM = 0.64
"""Erlang a link, above which S4 has lasting congestion."""
ERLANG_S5 = 0.349
"""One load for all lengths and both ways of routing: of 120 octets the window suffices up to 620 ms."""
ROUND_TRIPS_MS = (100, 300, 500, 600, 650, 700)
JUDGED_TRIPS_MS = (600, 700)
"""Round trips at which S5 is judged."""
SAT_ROUND_TRIPS_MS = (10, 200, 400, 600, 700)

RUNS = 3
"""Runs of a case, unless it says otherwise: arrivals are drawn at random."""
RUNS_ALIKE = 6
"""Of a case whose mean is judged, and whose runs differ by a fraction of what the claim tolerates."""
RUNS_JUDGED = 12
"""Of any other case whose mean is judged."""
RUNS_CLOSE = 30
"""Of a case whose mean lies so near a bound that those do not decide."""
RUNS_DECIDED = 48
"""Of one window of 512,000 bytes (S13): forty runs leave it undecided, and say that 46 would decide."""
RUNS_SHARE = 40
"""Of a load at which runs fall into two kinds: the share of one has a binomial interval."""

PERMANENT_KBIT = {2048: 0.800, 1024: 0.378}
"""What is permanent, and the Erlang of a link whose messages of 120 octets fill it, as measured."""
INTERRUPTION_MS = 700
RTO_MAX_S = 1.25
RELEASE_S = 300
"""The paper does not give these three. They are those of `satellite.toml` and `gateways.toml`, and hold for
the whole study: no claim has others. What they move is shown beside the claims."""
INTERRUPTIONS_MS = (0, 500, INTERRUPTION_MS, 1000)
PATIENT_S = 1.5
"""The least RTO.Max of those that are tried with which nothing collapses. It is tried with the study's own
interruption alone: 60 s stands for it with the others."""
RTO_MAXIMA_S = (RTO_MAX_S, PATIENT_S, 60)
VARIED = tuple(
    (interruption, rto_max)
    for interruption in INTERRUPTIONS_MS
    for rto_max in RTO_MAXIMA_S
    if rto_max != PATIENT_S or interruption == INTERRUPTION_MS
)
"""Interruptions in ms and values of RTO.Max in s of the collapse."""
RELEASES_S = (10, RELEASE_S)
ABOVE = 1.05
"""The load of the collapse, in parts of what is permanent."""
RISE_S = 100
"""When the load crosses what is permanent."""
FALL_S = 200
"""From when on it falls again, step by step."""
FALLS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
FALL_EVERY_S = 30

STEPS_KBIT = (300, 400, 500, 600)
"""Steps of load, in signalling bits: they begin well below what is permanent."""
PLANS_MS = (100, 700, 1500)
"""Time between plans: with it the time that an allocation takes."""
LOOK_MS = 100
"""Time between looks of a terminal where that time is measured."""
BELOW = 0.95
"""The load before the collapse, in parts of what is permanent."""
BEFORE_STEP = 0.7
"""Where a step begins, in parts of what is permanent: peaks of the load ask for no more then."""
STEP_RELEASE = "10 s"
"""What the start of the load asks for is given back before the step."""


def _associations(count: int) -> Mapping[str, Value]:
    """Give so many associations that share the window, the buffer and the queue of one."""
    return {
        "signalling.links.trunk.count": count,
        "sctp.gateway.fixed_cwnd": f"{384_000 // count} B",
        "sctp.gateway.send_buffer": f"{768_000 // count} B",
        "signalling.links.trunk.carrier.transmission_queue": 8000 // count,
        "signalling.links.trunk.carrier.congestion": [[6000 // count, 4000 // count]],
    }


STANDARD: Mapping[str, Value] = {
    "sctp.gateway.preset": "rfc9260",
    "sctp.gateway.send_buffer": "256 KiB",
    "sctp.gateway.rto_max": "60 s",
}
"""A gateway by RFC 9260, section 16."""
REMEDIES: Mapping[str, Mapping[str, Value]] = {
    "fixed": {},
    "2 associations of 192,000": _associations(2),
    "4 associations of 96,000": _associations(4),
    "8 associations of 48,000": _associations(8),
    "fixed 154000": {"sctp.gateway.fixed_cwnd": "154000 B", "sctp.gateway.send_buffer": "308000 B"},
    "fixed, RTO.Max 60 s": {"sctp.gateway.rto_max": "60 s"},
    "fixed, RTO as planned": {
        "sctp.gateway.rto_min": "2.2 s",
        "sctp.gateway.rto_initial": "2.2 s",
        "sctp.gateway.rto_max": "10 s",
    },
    "RFC 9260": STANDARD,
    "CUBIC, RACK": {
        **STANDARD,
        "sctp.gateway.congestion_control": "cubic",
        "sctp.gateway.loss_detection": "rack",
    },
    "BBR, RACK": {
        **STANDARD,
        "sctp.gateway.congestion_control": "bbr",
        "sctp.gateway.loss_detection": "rack",
    },
    "Backlog, RACK": {
        **STANDARD,
        "sctp.gateway.congestion_control": "backlog",
        "sctp.gateway.loss_detection": "rack",
    },
}
"""What the gateways do where a fixed window collapses."""
SECOND: Mapping[str, Mapping[str, Value]] = {
    "two terminals": {},
    "two terminals, SCTP-PF": {"sctp.gateway.potentially_failed_max_retrans": 0},
    "two terminals, SCTP-PF, PMR 2": {
        "sctp.gateway.potentially_failed_max_retrans": 0,
        "sctp.gateway.path_max_retrans": 2,
    },
}
"""The same with a second path, over terminals and capacity of its own: what RFC 7829 adds."""
BESIDE: Mapping[str, tuple[str, Mapping[str, Value]]] = {
    "signalling alone": ("satellite", {}),
    "files beside it, one queue": ("satellite+data", {}),
    "files beside it, priority in the terminal": (
        "satellite+data",
        {
            "nodes.sg-a.dscp": "CS6",
            "nodes.sg-b.dscp": "CS6",
            "links.satellite.discipline": {"kind": "priority"},
        },
    ),
}
"""Who sends over the terminals beside the gateways: the path, and what it changes."""
BOUNDED_KBIT = 1274
"""What a terminal of 1,024 kbit/s may have at most, with 250 kbit/s on demand."""
MB9_MOST_KBIT = 2198
"""What the terminals may have with the first release: 150 kbit/s beyond what is permanent."""
TITLES: Mapping[str, tuple[str, str, str]] = {
    "a1": ("sg-a", "31", "tester-b1"),
    "a2": ("sg-a", "32", "tester-b2"),
    "b1": ("sg-b", "11", "tester-a1"),
    "b2": ("sg-b", "12", "tester-a2"),
}
"""Who translates the titles of a load, how they begin, and where they lead."""

READINGS = ("given", "hand-over", "first-transmission", "last-acknowledgement")
"""From when on T7 of M2PA runs."""


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario of the study."""

    name: str
    path: str
    """``satellite`` or ``emulator``, and what stands beside it after ``+``: ``data``, ``second``."""
    erlang: float
    """At the start."""
    steps: Sequence[tuple[float, float]] = ()
    """Time and Erlang of each change."""
    ramp: tuple[float, float, float] | None = None
    """Before them: time, length and Erlang of a rise."""
    octets: int = OCTETS
    duration_s: float = 300
    values: Mapping[str, Value] = field(default_factory=dict)
    judged: tuple[float, float] | None = None
    """From when to when its loss decides whether there are more runs."""
    runs: int = RUNS

    def scenario(self) -> Scenario:
        """Give the scenario."""
        return self.scenario_over(_base(self.path))

    def scenario_over(self, base: Scenario) -> Scenario:
        """Give the scenario in another lab of the same names."""
        values: dict[str, Value] = {"scenario.duration": f"{self.duration_s:g} s"}
        for load in LOADS:
            of = f"signalling.load.{load}"
            values[f"{of}.erlang_per_link"] = self.erlang
            values[f"{of}.lengths"] = [self.octets]
            changes: list[Value] = [{"at": f"{at:g} s", "erlang_per_link": to} for at, to in self.steps]
            if self.ramp:
                at, over, to = self.ramp
                changes.insert(0, {"at": f"{at:g} s", "over": f"{over:g} s", "erlang_per_link": to})
            if changes:
                values[f"{of}.steps"] = changes
        with warnings.catch_warnings():
            # Over a satellite one loss lets timers of Q.704 expire that it allows 1.2 s.
            warnings.simplefilter("ignore", ScenarioWarning)
            return base.with_values(values | dict(self.values))

    @property
    def stop_s(self) -> float:
        """When the load ends."""
        return self.duration_s - GIVE_UP_S

    def erlang_at(self, at_s: float) -> float:
        """Give the load of a link at a time."""
        erlang = self.erlang if START_S <= at_s < self.stop_s else 0.0
        if self.ramp and erlang:
            begin, over, to = self.ramp
            erlang += (to - erlang) * min(1.0, max(0.0, (at_s - begin) / over))
        for begin, to in self.steps:
            if begin <= at_s < self.stop_s:
                erlang = to
        return erlang

    def offered(self, at_s: float) -> float:
        """Give the messages a second that are offered in one direction."""
        return messages_per_second(self.erlang_at(at_s), self.octets)


def messages_per_second(erlang: float, octets: int = OCTETS) -> float:
    """Give the messages a second of all links together."""
    return LINKS * LINE_BIT_PER_S * erlang / 8 / octets


def erlang_of(bit_per_s: float) -> float:
    """Give the load of a link of so much signalling in all."""
    return bit_per_s / LINKS / LINE_BIT_PER_S


@cache
def _base(path: str) -> Scenario:
    names = ("gateways", *path.split("+"))
    text = "\n".join(texts.text_of("soip", f"{name}.toml") for name in names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        return Scenario.parse(text, f"studies/soip/{path}.toml")


MB9: Mapping[str, Value] = {
    "sctp.gateway.preset": "mb9",
    "signalling.links.trunk.carrier.transmission_queue": QUEUE_MB9,
    "signalling.links.trunk.carrier.congestion": [[750, 500]],
}


SATELLITE_MB9: Mapping[str, Value] = {
    **MB9,
    "links.satellite.access.most": f"{MB9_MOST_KBIT} kbit/s",
}


def mb9(erlang: float, associations: int = 1) -> Case:
    """Give the first release over the satellite."""
    name = f"mb9-{associations}/{erlang:.2f}"
    values = {**SATELLITE_MB9, "signalling.links.trunk.count": associations}
    judged = associations == 1 and erlang in JUDGED_MB9
    share = associations > 1 and erlang > PERMANENT_FROM
    runs = RUNS_SHARE if share else RUNS_JUDGED if judged else RUNS
    return Case(name, "satellite", erlang, values=values, runs=runs)


def one_queue(erlang: float) -> Case:
    """Give eight associations of the first release that share the transmission queue of one."""
    case = mb9(erlang, 8)
    values: dict[str, Value] = {
        **case.values,
        "signalling.links.trunk.carrier.transmission_queue": QUEUE_MB9 // 8,
        "signalling.links.trunk.carrier.congestion": [[93, 62]],
    }
    runs = RUNS_CLOSE if erlang == JUDGED_MB9_8 else RUNS
    return Case(f"mb9-8q/{erlang:.2f}", case.path, erlang, values=values, runs=runs)


def emulated(round_trip_ms: int, octets: int) -> Case:
    """Give the first release over the emulator, with the same load in bits for each length."""
    values: dict[str, Value] = {**MB9, "wan_emulators.satellite.round_trip": f"{round_trip_ms - 4:g} ms"}
    name = f"emulated-{octets}/{round_trip_ms}"
    runs = RUNS_ALIKE if round_trip_ms in JUDGED_TRIPS_MS else RUNS
    return Case(name, "emulator", ERLANG_S5, octets=octets, values=values, runs=runs)


def titled(round_trip_ms: int) -> Case:
    """Give the same with messages of 120 octets by global title, which the gateways translate."""
    case = emulated(round_trip_ms, 120)
    values: dict[str, Value] = dict(case.values)
    values["signalling.translations"] = [
        {"at": at, "digits": f"{digits}*", "to": [to], "to_subsystem": 6}
        for at, digits, to in TITLES.values()
    ]
    for load, (at, digits, _) in TITLES.items():
        values[f"signalling.points.tester-{load}.subsystems"] = [6]
        of = f"signalling.load.{load}"
        values |= {
            f"{of}.routing": "global-title",
            f"{of}.translator": at,
            f"{of}.called": [f"{digits}123", f"{digits}456"],
            f"{of}.subsystem": 6,
        }
    runs = RUNS_JUDGED if round_trip_ms in JUDGED_TRIPS_MS else RUNS
    return Case(f"titled/{round_trip_ms}", case.path, case.erlang, values=values, runs=runs)


def stepped_up(round_trip_ms: int) -> Case:
    """Give the release for satellites over the emulator, the load rising at once to nearly 30 Erlang."""
    values = {"wan_emulators.satellite.round_trip": f"{round_trip_ms - 4:g} ms"}
    return Case(
        f"stepped/{round_trip_ms}",
        "emulator",
        0.2,
        ((60, 0.95),),
        duration_s=150,
        values=values,
        runs=RUNS_ALIKE,
    )


def collapse(permanent_kbit: int, runs: int = RUNS_SHARE) -> Case:
    """Give the release for satellites, the load crossing what is permanent, and falling again."""
    full = PERMANENT_KBIT[permanent_kbit]
    falls = tuple((FALL_S + FALL_EVERY_S * number, full * part) for number, part in enumerate(FALLS))
    return Case(
        f"collapse/{permanent_kbit}",
        "satellite",
        full * 0.3,
        ((RISE_S, full * ABOVE), *falls),
        ramp=(35, 45, full * BELOW),
        duration_s=FALL_S + FALL_EVERY_S * len(FALLS) + GIVE_UP_S,
        judged=(RISE_S + 30, FALL_S - 5),
        runs=runs,
        values={"links.satellite.access.permanent": f"{permanent_kbit} kbit/s"},
    )


def _like(case: Case, name: str, values: Mapping[str, Value], path: str | None = None) -> Case:
    return replace(case, name=name, path=path or case.path, values=dict(case.values) | dict(values))


def varied(permanent_kbit: int, interruption_ms: int, rto_max_s: float) -> Case:
    """Give the collapse with another interruption, or another RTO.Max."""
    if (interruption_ms, rto_max_s) == (INTERRUPTION_MS, RTO_MAX_S):
        return collapse(permanent_kbit)
    values = {
        "links.satellite.access.interruption": f"{interruption_ms} ms",
        "sctp.gateway.rto_max": f"{rto_max_s:g} s",
    }
    name = f"varied-{permanent_kbit}/{interruption_ms}-{rto_max_s:g}"
    return _like(collapse(permanent_kbit, RUNS), name, values)


def released(permanent_kbit: int, release_s: int) -> Case:
    """Give the collapse where capacity is given back sooner."""
    if release_s == RELEASE_S:
        return collapse(permanent_kbit)
    values = {"links.satellite.access.release_after": f"{release_s} s"}
    return _like(collapse(permanent_kbit, RUNS), f"released-{permanent_kbit}/{release_s}", values)


def bounded() -> Case:
    """Give the collapse where the terminal of 1,024 kbit/s has 250 kbit/s on demand, and no more."""
    values = {"links.satellite.access.most": f"{BOUNDED_KBIT} kbit/s"}
    return _like(collapse(1024, RUNS), "bounded", values)


def tested(permanent_kbit: int) -> Case:
    """Give the collapse with the periodic test of Q.707, whose answer waits like everything."""
    values = {f"signalling.points.{gateway}.periodic_link_test": "used" for gateway in ("sg-a", "sg-b")}
    return _like(collapse(permanent_kbit, RUNS), f"tested/{permanent_kbit}", values)


def limited(
    name: str, permanent_kbit: int, most_kbit: int, octets: int, erlangs: Sequence[float], runs: int
) -> Case:
    """Give a window of 154,000 bytes, the load rising by steps."""
    steps = tuple(
        (START_S + STEP_EVERY_S * number, erlang) for number, erlang in enumerate(erlangs) if number
    )
    return Case(
        f"limited/{name}",
        "satellite",
        erlangs[0],
        steps,
        octets=octets,
        duration_s=START_S + STEP_EVERY_S * len(erlangs) + GIVE_UP_S,
        runs=runs,
        values={
            "sctp.gateway.fixed_cwnd": "154000 B",
            "sctp.gateway.send_buffer": "308000 B",
            "links.satellite.access.permanent": f"{permanent_kbit} kbit/s",
            "links.satellite.access.most": f"{most_kbit} kbit/s",
        },
    )


def rising(first: float, step: float, count: int) -> Sequence[float]:
    """Give so many loads that rise by equal steps."""
    return tuple(round(first + step * number, 4) for number in range(count))


STEP_EVERY_S = 30
"""Time between the steps of a load that rises."""
# 270 octets fill 2,048 kbit/s at 0.88 Erlang, 1,024 at 0.43; 60 octets 2,048 at 0.67.
LIMITED: Mapping[str, Case] = {
    case.name.removeprefix("limited/"): case
    for case in (
        limited("b", 2048, 2048, 270, rising(0.68, 0.0625, 6), RUNS_JUDGED),
        limited("c", 2048, 2298, 270, rising(0.68, 0.0677, 6), RUNS_JUDGED),
        limited("c-60", 2048, 2298, 60, rising(0.52, 0.0677, 6), RUNS_JUDGED),
        limited("190", 1024, 2150, 270, (0.42, 0.42 + 0.099), RUNS_CLOSE),
        limited("250", 1024, 2150, 270, (0.42, 0.42 + 0.13), RUNS_SHARE),
    )
}
NEAR_PERMANENT_S = (START_S + 3 * STEP_EVERY_S + 10, START_S + 4 * STEP_EVERY_S)
"""When the load of case ``b`` is nearest below what is permanent: 0.8675 Erlang."""


def associations(count: int, cwnd_bytes: int) -> Case:
    """Give windows of several associations over the emulator, under a load that none of them carries."""
    erlang = 0.95
    values = _windows(count, cwnd_bytes)
    return Case(f"associations/{count}-{cwnd_bytes}", "emulator", erlang, duration_s=120, values=values)


def _windows(count: int, cwnd_bytes: int) -> Mapping[str, Value]:
    return {
        "signalling.links.trunk.count": count,
        "sctp.gateway.fixed_cwnd": f"{cwnd_bytes} B",
        "sctp.gateway.send_buffer": f"{2 * cwnd_bytes} B",
    }


ASSOCIATIONS = ((1, 64_000), (2, 64_000), (8, 16_000), (1, 128_000))
EQUIVALENT = ((8, 64_000), (1, 512_000))
"""Windows of which the paper says that they are alike (it prints 516,000)."""


def equivalent(count: int, cwnd_bytes: int) -> Case:
    """Give such windows over the satellite, 5 % above what is permanent; the load does not fall again."""
    risen = replace(collapse(2048), duration_s=FALL_S + GIVE_UP_S)
    risen = replace(risen, steps=[step for step in risen.steps if step[0] < FALL_S])
    # Several windows lose the same in every run. Of one, as many runs as decide.
    risen = replace(risen, runs=RUNS_JUDGED if count > 1 else RUNS_DECIDED)
    return _like(risen, f"equivalent/{count}-{cwnd_bytes}", _windows(count, cwnd_bytes))


def growth(plan_ms: int, step_kbit: int) -> Case:
    """Give a step beyond what is permanent where plans are made so often, and no change interrupts."""
    first = BEFORE_STEP * PERMANENT_KBIT[1024]
    return Case(
        f"growth/{plan_ms}-{step_kbit}",
        "satellite",
        first,
        ((STEP_S, first + erlang_of(step_kbit * 1e3)),),
        duration_s=90,
        values={
            "links.satellite.access.permanent": "1024 kbit/s",
            "links.satellite.access.interruption": "0 s",
            "links.satellite.access.release_after": STEP_RELEASE,
            "access.linkway.ask_every": f"{LOOK_MS} ms",
            "access.linkway.plan_every": f"{plan_ms} ms",
            "probes.intervals": "100 ms",
            "probes.access": True,
        },
        runs=9,
    )


STEP_S = 60
"""When the step comes."""


def remedy(name: str) -> Case:
    """Give what collapses, with something changed."""
    values, path = (SECOND[name], "satellite+second") if name in SECOND else (REMEDIES[name], "satellite")
    return _like(collapse(1024, RUNS), f"remedy/{name}", values, path)


def beside(name: str) -> Case:
    """Give signalling that fills a half of what is permanent, with files beside it."""
    path, values = BESIDE[name]
    half = PERMANENT_KBIT[1024] / 2
    values = {"links.satellite.access.permanent": "1024 kbit/s", **values}
    return Case(f"beside/{name}", path, half, values=values)


def reading(name: str) -> Case:
    """Give the start of the first release under a load that it carries in the end, T7 read otherwise."""
    case = mb9(0.30)
    return Case(
        f"t7/{name}",
        case.path,
        case.erlang,
        values=dict(case.values)
        | {"signalling.links.trunk.carrier.t7_from": name, "signalling.links.trunk.carrier.t7": "2 s"},
    )


@cache
def every() -> Mapping[str, Case]:
    """Give every case by its name."""
    return {case.name: case for case in _all()}


def _all() -> Iterator[Case]:
    yield from (mb9(erlang) for erlang in ERLANGS_MB9)
    yield from (mb9(erlang, 8) for erlang in ERLANGS_MB9_8)
    yield from (one_queue(erlang) for erlang in ERLANGS_MB9_8)
    yield from (emulated(trip, octets) for octets in (60, 270) for trip in ROUND_TRIPS_MS)
    yield from (emulated(trip, 120) for trip in ROUND_TRIPS_MS)
    yield from (titled(trip) for trip in ROUND_TRIPS_MS)
    yield from (stepped_up(trip) for trip in SAT_ROUND_TRIPS_MS)
    yield from (collapse(permanent) for permanent in PERMANENT_KBIT)
    yield from (
        varied(permanent, interruption, rto_max)
        for permanent in PERMANENT_KBIT
        for interruption, rto_max in VARIED
    )
    yield from (released(permanent, release) for permanent in PERMANENT_KBIT for release in RELEASES_S)
    yield bounded()
    yield from (tested(permanent) for permanent in PERMANENT_KBIT)
    yield from LIMITED.values()
    yield from (associations(*pair) for pair in ASSOCIATIONS)
    yield from (equivalent(*pair) for pair in EQUIVALENT)
    yield from (growth(plan, step) for plan in PLANS_MS for step in STEPS_KBIT)
    yield from (remedy(name) for name in (*REMEDIES, *SECOND))
    yield from (beside(name) for name in BESIDE)
    yield from (reading(name) for name in READINGS)
