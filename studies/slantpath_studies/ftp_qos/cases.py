"""What is run: the cells of the paper, other choices for what it leaves open, and its future work."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from slantpath_studies.ftp_qos.processor_sharing import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slantpath.running import Value

END_S = 3_600
SHAPE = 1.27
SEGMENT_BYTES, PACKET_BYTES, LINK_BYTES = 536, 576, 592
"""Data of a segment, its IP packet, and what that takes on a link to a satellite."""
LINK_BIT_PER_S = 2e6
WINDOW_SEGMENTS = 30


class Sky(StrEnum):
    """What carries the sessions."""

    LEO = "leo"
    GEO = "geo"

    @property
    def constellation(self) -> str:
        """The table of its links in the scenario."""
        return {"leo": "iridium", "geo": "euroskyway"}[self.value]

    @property
    def label(self) -> str:
        """What pages call it."""
        return self.name

    @property
    def line(self) -> Line:
        """The link as sessions share it: their data, and at most a window each round trip."""
        round_trip_s = {"leo": 0.19, "geo": 0.525}[self.value]
        capacity = LINK_BIT_PER_S * SEGMENT_BYTES / LINK_BYTES
        return Line(capacity, WINDOW_SEGMENTS * SEGMENT_BYTES * 8 / round_trip_s)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """A point of a line of the paper's figures."""

    sky: Sky
    error_rate: str
    size_kb: int
    """The mean size of a file in units of 1,000 bytes."""
    per_minute: int

    @property
    def name(self) -> str:
        """The name of its case."""
        return f"cells/{self.key}"

    @property
    def nominal(self) -> str:
        """The name of the case of the same cell at nominal load."""
        return f"nominal/{self.key}"

    @property
    def key(self) -> str:
        """Its part of the names of cases."""
        return f"{self.sky.value}/{self.error_rate}/{self.size_kb}-kB/{self.per_minute}-a-minute"

    @property
    def rate_per_s(self) -> float:
        """How many sessions begin."""
        return self.per_minute / 60

    @property
    def mean_bytes(self) -> float:
        """The mean size of a file."""
        return 1e3 * self.size_kb

    @property
    def nominal_load(self) -> float:
        """What sessions bring on average, over what the link to the satellite carries of data."""
        return 8 * self.rate_per_s * self.mean_bytes / self.sky.line.capacity_bit_per_s

    @property
    def has_steady_state(self) -> bool:
        """Whether a longer run would settle."""
        return self.nominal_load < 1

    def values(self) -> dict[str, Value]:
        """Give what its scenario changes."""
        return {
            "sessions.ftp.arrivals": {"kind": "poisson", "mean_interval": f"{60 / self.per_minute:.9f} s"},
            "sessions.ftp.sizes.mean": f"{self.size_kb} kB",
            **errors(self.sky, self.error_rate),
        }


def errors(sky: Sky, rate: str) -> dict[str, Value]:
    """Give the bit error rate at the terminals that receive."""
    return {f"sky.access.{sky.constellation}.downlink.bit_error_rate": rate}


ERROR_RATES = ("1e-7", "1e-6", "1e-5")
SIZES_KB = (500, 1_000, 1_500, 2_000)
FEWEST, MOST = ("1e-7", 500, 1), ("1e-5", 2_000, 10)
"""The ends of the paper's ranges, of which it prints numbers."""
STEEP_FROM = 6
"""New connections a minute after which the paper's lines are steep."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run."""

    runs: int
    """Runs of a cell at most."""
    first: int
    """Runs of each cell before its intervals are looked at."""
    beside: int
    """Runs of a case beside the cells at most."""
    rates_per_minute: tuple[int, ...]


FULL = Extent(runs=400, first=5, beside=5, rates_per_minute=tuple(range(1, 11)))
QUICK = Extent(runs=1, first=1, beside=1, rates_per_minute=(1, 6, 10))


def cell(sky: Sky, place: tuple[str, int, int]) -> Cell:
    """Give a cell of a sky."""
    return Cell(sky, *place)


def cells(extent: Extent) -> list[Cell]:
    """List the cells."""
    return [Cell(*each) for each in product(Sky, ERROR_RATES, SIZES_KB, extent.rates_per_minute)]


@dataclass(frozen=True, slots=True)
class Case:
    """What is run under one name."""

    name: str
    sky: Sky
    values: Mapping[str, Value]
    topology: Mapping[str, Value] = field(default_factory=dict)
    """What is changed in the sky."""
    cell: Cell | None = None
    """The cell that it is, if it has as many runs as its intervals need."""
    at_nominal_load: Cell | None = None
    """The cell whose sessions carry sizes that have the nominal mean."""


BESIDE = (("1e-7", 500, 1), ("1e-6", 1_000, 6), ("1e-5", 2_000, 10))
"""Where other choices are compared."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Another choice for something that the paper leaves open."""

    about: str
    values: Mapping[str, Value]
    skies: tuple[Sky, ...] = tuple(Sky)


def _meter(**changes: Value) -> dict[str, Value]:
    return {f"links.edge.forward.conditioners.ftp.{key}": value for key, value in changes.items()}


_RED: Mapping[str, Value] = {"min": "30 packets", "max": "90 packets", "max_probability": "10 %"}
_DIFFSERV: Mapping[str, Value] = {
    "kind": "rio-c",
    "weight": 0.002,
    "typical_packet": "576 B",
    "low": _RED,
    "medium": _RED,
    "high": _RED,
}

CHOICES: Mapping[str, Choice] = {
    "seam": Choice(
        "the sky six hours later, its seam not between the cities", {"sky.start": "6 h"}, (Sky.LEO,)
    ),
    "edge-on-uplink": Choice(
        "the DiffServ queue on the link to the satellite, a fast one before it",
        {
            "links.edge.rate": "10 Mbit/s",
            "sky.access.{}.uplink": {
                "bit_error_rate": 0.0,
                "queue": "100 packets",
                "discipline": _DIFFSERV,
            },
        },
    ),
    "no-header": Choice(
        "no header on links to and between satellites", {"sky.access.{}.link_overhead": "0 B"}
    ),
    "errors-per-link": Choice(
        "errors on each link, up and down", {"sky.access.{}.uplink.bit_error_rate": "{rate}"}
    ),
    "meter-per-flow": Choice("a meter for each connection, as the paper says", _meter(per="flow")),
    "no-diffserv": Choice("no meter and no early drops", {"links.edge.forward": {"queue": "99 packets"}}),
    "delayed-acks": Choice(
        "every second segment acknowledged, after 200 ms at last", {"tcp.paper.delayed_ack": "200 ms"}
    ),
    "rto-min-1s": Choice("a least RTO of 1 s (RFC 6298)", {"tcp.paper.rto_min": "1 s"}),
    "sack": Choice("SACK", {"tcp.paper.sack": True}),
}


def choice(name: str, at: Cell) -> str:
    """Name the case of another choice."""
    return f"choices/{name}/{at.key}"


def lone(sky: Sky, rate: str) -> str:
    """Name the case of one endless session."""
    return f"lone/{sky.value}/{rate}"


BALANCES: Mapping[str, str] = {
    "per-flow": "two links at each end, each connection on one",
    "per-packet": "the same, packets in turn",
    "by-backlog": "the same, each packet where it waits least",
}
BALANCED = (("1e-7", 2_000, 6), ("1e-7", 2_000, 10), ("1e-5", 2_000, 10))
"""Where links are balanced and sessions admitted."""


def balance(name: str, at: Cell) -> str:
    """Name the case of a balance."""
    return f"balance/{name}/{at.key}"


ADMISSIONS: Mapping[str, tuple[str, Mapping[Sky, Mapping[str, Value]]]] = {
    "ten": (
        "ten sessions at a time, others wait",
        {sky: {"max_sessions": 10, "otherwise": "wait", "max_waiting": 1_000} for sky in Sky},
    ),
    "ten-refuse": (
        "ten sessions at a time, others are refused",
        {sky: {"max_sessions": 10} for sky in Sky},
    ),
    "by-delay": (
        "round trips of 350 ms at most over LEO and 650 ms over GEO, others wait",
        {
            sky: {"max_round_trip": limit, "otherwise": "wait", "max_waiting": 1_000}
            for sky, limit in ((Sky.LEO, "350 ms"), (Sky.GEO, "650 ms"))
        },
    ),
    "by-throughput": (
        "185 kbit/s each at least over LEO and 100 over GEO, others wait",
        {
            sky: {"min_throughput": least, "otherwise": "wait", "max_waiting": 1_000}
            for sky, least in ((Sky.LEO, "185 kbit/s"), (Sky.GEO, "100 kbit/s"))
        },
    ),
}
"""Which sessions may begin: what each rule is about, and the rule over either sky."""


def admission(name: str, at: Cell) -> str:
    """Name the case of a rule of admission."""
    return f"admission/{name}/{at.key}"


@cache
def every(extent: Extent) -> Mapping[str, Case]:
    """Give every case by its name."""
    listed = (*_cells(extent), *_nominal(extent), *_choices(), *_lone(), *_balances(), *_admissions())
    return {case.name: case for case in listed}


def _cells(extent: Extent) -> Iterator[Case]:
    for each in cells(extent):
        yield Case(each.name, each.sky, each.values(), cell=each)


def _nominal(extent: Extent) -> Iterator[Case]:
    for each in cells(extent):
        yield Case(each.nominal, each.sky, each.values(), at_nominal_load=each)


def _choices() -> Iterator[Case]:
    for (name, one), place in product(CHOICES.items(), BESIDE):
        for sky in one.skies:
            at = cell(sky, place)
            values = {
                key.replace("{}", sky.constellation): at.error_rate if value == "{rate}" else value
                for key, value in one.values.items()
            }
            yield Case(choice(name, at), sky, {**at.values(), **values})


def _lone() -> Iterator[Case]:
    for sky, rate in product(Sky, ERROR_RATES):
        session: dict[str, Value] = {
            "sessions.ftp.arrivals": {"kind": "constant", "interval": "2 h"},
            "sessions.ftp.sizes": {"kind": "fixed", "size": "10 GB"},
        }
        yield Case(lone(sky, rate), sky, {**session, **errors(sky, rate)})


def _balances() -> Iterator[Case]:
    for sky, place in product(Sky, BALANCED):
        at = cell(sky, place)
        wide: dict[str, Value] = {"links.edge.rate": "4 Mbit/s"}
        for name in BALANCES:
            balanced: dict[str, Value] = {
                "nodes.terminal.balance": name,
                "nodes.client.balance": name,
                **wide,
            }
            yield Case(balance(name, at), sky, {**at.values(), **balanced}, topology=two_antennas(sky))


def two_antennas(sky: Sky) -> dict[str, Value]:
    """Give both cities two antennas, of which each holds a satellite of its own."""
    cities: dict[str, Value] = {f"sites.{city}.antennas": 2 for city in ("london", "boston")}
    if sky is Sky.GEO:
        slots = ["-36 deg", "36 deg", "108 deg", "180 deg", "-108 deg", "-30 deg"]
        cities["constellations.euroskyway.satellites"] = {"kind": "slots", "longitudes": slots}
    return cities


def _admissions() -> Iterator[Case]:
    for (name, (_, rules)), sky, place in product(ADMISSIONS.items(), Sky, BALANCED):
        at = cell(sky, place)
        values: dict[str, Value] = {"sessions.ftp.admission": rules[sky]}
        yield Case(admission(name, at), sky, {**at.values(), **values})
