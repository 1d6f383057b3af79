"""What is run: configurations, errors, buffers, streams and settings of SCTP, each a case."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from slantpath_studies.sctp_over_satellites.placements import LATITUDES_DEG, Ground, Sky

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slantpath.running import Value

PAIRS = 30
"""Associations, but for figure 10 and the switches."""
SEGMENT_BYTES = 512
LARGEST_BUFFER = 40
"""Segments of receive buffer: the most of table IV, which figures 9 and 10 take."""
SMALL_BUFFER = 8

PER_PATH, PER_LINK = "path", "link"
"""Where errors strike: at the terminal that receives, or on each link to and between satellites."""

NAMES: Mapping[Sky, str] = {
    Sky.IRIDIUM: "Iridium",
    Sky.SUPPLEMENTED: "Iridium and GEO",
    Sky.TWO_ANTENNAS: "Iridium, two antennas",
    Sky.GEO: "GEO",
}
CONFIGURATIONS = (Sky.IRIDIUM, Sky.SUPPLEMENTED, Sky.TWO_ANTENNAS)
"""Those of figure 9."""


HIGH_ERROR_RATES = ("1e-5", "1e-4")
"""Where streams matter, by the paper."""
TIMES: Mapping[tuple[str, Sky, str], int] = {
    (PER_PATH, Sky.SUPPLEMENTED, "1e-4"): 4,
    (PER_PATH, Sky.TWO_ANTENNAS, "1e-5"): 3,
    (PER_LINK, Sky.IRIDIUM, "1e-5"): 5,
    (PER_LINK, Sky.SUPPLEMENTED, "1e-5"): 2,
    (PER_LINK, Sky.TWO_ANTENNAS, "1e-6"): 2,
    (PER_LINK, Sky.TWO_ANTENNAS, "1e-5"): 6,
}
"""How many times as many placements points of figure 9 have that differ most from one to the next: with 40 of
all others half the width of every interval is about 5 % at most."""
TIMES_OF_LOAD: Mapping[str, int] = {"1e-4": 4}
"""The same of points of figure 10, where time-outs decide how often a path is given up."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run."""

    placements: int
    """Of figures 9 and 10, and of what claim N4 is about."""
    beside: int
    """Runs of all other cases at most."""
    duration_s: int
    error_rates: tuple[str, ...]
    associations: tuple[int, ...]
    buffers: tuple[int, ...]
    streams: tuple[int, ...]
    stream_error_rates: tuple[str, ...]
    """Of figures 11 and 12, which have every buffer."""


FULL = Extent(
    placements=13,
    beside=6,
    duration_s=360,
    error_rates=("1e-9", "1e-8", "1e-7", "1e-6", "1e-5", "1e-4"),
    associations=(10, 20, 30, 40),
    buffers=(4, 8, 16, 40),
    streams=(1, 2, 4),
    stream_error_rates=("1e-7", "1e-5"),
)
QUICK = Extent(
    placements=3,
    beside=2,
    duration_s=160,
    error_rates=("1e-9", "1e-6", "1e-5", "1e-4"),
    associations=(10, 30),
    buffers=(8, 40),
    streams=(1, 4),
    stream_error_rates=("1e-5",),
)
WARM_UP_S = 60


@dataclass(frozen=True, slots=True)
class Case:
    """What is run under one name."""

    name: str
    sky: Sky
    values: Mapping[str, Value]
    pairs: int = PAIRS
    flow: Mapping[str, Value] = field(default_factory=dict)
    """Changes to each flow."""
    times: int = 0
    """How many times as many placements it has as were asked for. Zero: as most cases have."""
    latitudes_deg: tuple[float, float] = LATITUDES_DEG
    """Where its terminals are."""
    mask_deg: float | None = None
    """From which elevation on they have Iridium, where that is another."""

    @property
    def ground(self) -> Ground:
        """The terminals below its sky."""
        return Ground(self.sky, self.pairs, self.latitudes_deg, self.mask_deg)


def errors(sky: Sky, rate: str, where: str = PER_PATH) -> dict[str, Value]:
    """Give the bit error rate of what the primary path leads over: of Iridium, or of GEO satellites."""
    if sky is Sky.GEO:
        links = ["sky.access.geo.downlink"]
        if where == PER_LINK:
            links += ["sky.access.geo.uplink", "sky.access.gateways.uplink", "sky.access.gateways.downlink"]
    else:
        links = ["sky.access.iridium.downlink"]
        if where == PER_LINK:
            links += ["sky.access.iridium.uplink", "sky.isls.iridium"]
    return {f"{link}.bit_error_rate": rate for link in links}


def buffer(segments: int, segment_bytes: int = SEGMENT_BYTES) -> dict[str, Value]:
    """Give the receive buffer of so many segments."""
    return {"sctp.paper.receive_buffer": f"{segments * segment_bytes} B"}


def throughput(sky: Sky, rate: str, where: str = PER_PATH) -> str:
    """Name a point of figure 9."""
    return f"throughput/{where}/{sky.value}/{rate}"


def backup(associations: int, rate: str) -> str:
    """Name a point of figure 10. With 30 associations it is one of figure 9."""
    if associations == PAIRS:
        return throughput(Sky.SUPPLEMENTED, rate)
    return f"backup/{associations}/{rate}"


BACKUP_BY_BYTES, ALONE_BY_BYTES = "backup/bytes", "alone/bytes"
"""The point of figure 10 at 1e-4 as the chance that a byte is wrong, not a bit; and Iridium alone there."""
BACKUP_AFTER_TIMEOUTS = "backup/after-timeouts"
"""The point of figure 10 at 1e-4 where sources do behind a time-out what ns-2's do."""
BYTE_ERRORS = "1.25e-5"
"""A byte is wrong with a chance of 1e-4 if a bit is with this one."""


UNIT_BYTES = 528
"""A message that fills the unit of the window, 544 bytes, with its chunk, as one of ns-2's fills its own:
only one is sent behind a time-out."""
AFTER_TIMEOUTS: Mapping[str, Value] = {
    "sctp.paper.retransmission_after_timeout": "one-packet",
    "sctp.paper.new_data_after_timeout": "retransmissions-first",
}
"""Nothing new before all that was lost, and of that one packet until a SACK comes: as in ns-2."""


def bulk(message_bytes: int) -> dict[str, Value]:
    """Give flows messages of another size, without end."""
    application = {"kind": "bulk", "message_size": f"{message_bytes} B", "total": "unlimited"}
    return {"application": application}


def streams(sky: Sky, count: int, segments: int, rate: str) -> str:
    """Name a point of figures 11 to 14."""
    return f"streams/{sky.value}/{count}/{segments}/{rate}"


def _repeating(*, in_order: bool) -> dict[str, Value]:
    """Have satellites of Iridium send again what an error hits: transmitters that terminals share cannot."""
    access = "sky.access.iridium"
    arq: dict[str, Value] = {"tries": 8, "in_order": in_order}
    return {f"{access}.shared_downlink": False, f"{access}.downlink.arq": arq}


def _compressing(*, losses_survived: int) -> dict[str, Value]:
    """Have links to and from satellites of Iridium compress headers, with the refreshes of RFC 2507."""
    access = "sky.access.iridium"
    headers: dict[str, Value] = {"header": "32 B", "compressed": "6 B", "losses_survived": losses_survived}
    return {
        f"{access}.shared_downlink": False,
        f"{access}.uplink.header_compression": headers,
        f"{access}.downlink.header_compression": headers,
    }


VARIANTS: Mapping[str, tuple[str, Mapping[str, Value]]] = {
    "same-path": (
        "what is fast retransmitted takes the path of the original (RFC 9260)",
        {"sctp.paper.fast_retransmit_path": "same-path"},
    ),
    "threshold-4": (
        "the fourth report of a loss counts, not the third (RFC 2960)",
        {"sctp.paper.fast_retransmit_threshold": 4},
    ),
    "buffer-128": ("a receive buffer of 128 segments, ns-2's default, not of 40", buffer(128)),
    "own-downlinks": (
        "a satellite has a transmitter for each terminal, not one for all",
        {"sky.access.iridium.shared_downlink": False, "sky.access.geo.shared_downlink": False},
    ),
    "link-arq": (
        "the same, which retransmits what an error hits, up to 8 times, and keeps order",
        _repeating(in_order=True),
    ),
    "link-arq-as-received": ("the same, which does not keep order", _repeating(in_order=False)),
    "headers-by-context": (
        "the same, which compresses 32 bytes of IP and SCTP to 6, by a context that an error loses",
        _compressing(losses_survived=0),
    ),
    "headers-over-gaps": (
        "the same, whose context outlives a thousand losses in a row",
        _compressing(losses_survived=1_000),
    ),
    "lost-at-handover": (
        "what waits at a handover is lost, not kept",
        {"sky.access.iridium.at_handover": "lost"},
    ),
}
"""Other choices for what the paper leaves open: what each is about, and what it changes."""
VARIANT_RATES = ("1e-6", "1e-5")

NORTH_DEG = (50.0, 70.0)
"""Where two satellites of Iridium or more are in sight most of the time."""


def variant(name: str, sky: Sky, rate: str) -> str:
    """Name a point of figure 9 with another choice."""
    return f"variant/{name}/{sky.value}/{rate}"


def north(sky: Sky, rate: str) -> str:
    """Name a point of figure 9 with all terminals in the north."""
    return f"north/{sky.value}/{rate}"


def north_same_path(rate: str) -> str:
    """Name the point of two antennas whose fast retransmissions take the path of the original."""
    return f"north/two-antennas-same-path/{rate}"


LOW_MASK_DEG = 0.0
"""Above which a second satellite of Iridium nearly always is."""


def low_mask(sky: Sky, rate: str) -> str:
    """Name a point of figure 9 with a mask at the horizon."""
    return f"low-mask/{sky.value}/{rate}"


def low_mask_same_path(rate: str) -> str:
    """Name the point of two antennas whose fast retransmissions take the path of the original."""
    return f"low-mask/two-antennas-same-path/{rate}"


@dataclass(frozen=True, slots=True)
class Setting:
    """A way to set SCTP, of which a switch has two or more."""

    values: Mapping[str, Value] = field(default_factory=dict)
    flow: Mapping[str, Value] = field(default_factory=dict)
    message: str = "512 B"
    backed_up: bool = False
    """Whether a second antenna has GEO as backup, which there is for Iridium alone."""

    def sky(self, environment: Environment) -> Sky | None:
        """Give the sky that it has in an environment, if it can be had there."""
        if not self.backed_up:
            return environment.sky
        return Sky.SUPPLEMENTED if environment.sky is Sky.IRIDIUM else None


_WHOLE_BUFFER = "65536 B"


def _early(*, marks: bool) -> dict[str, Value]:
    """Have queues drop early, or mark, on the ground and in the sky: between 5 and 15 packets, as in ns-2."""
    red: dict[str, Value] = {
        "kind": "red",
        "min": "5 packets",
        "max": "15 packets",
        "gentle": True,
        "ecn": marks,
    }
    tables = ("sky.access.iridium", "sky.access.geo", "sky.access.gateways")
    return {**{f"{table}.discipline": red for table in tables}, "sctp.paper.ecn": marks}


_WHOLE_PACKETS: Mapping[str, Value] = {
    "sctp.paper.initial_path_mtu": "1500 B",
    "sctp.paper.initial_cwnd": "2904 B",
}
_DISCOVERY: Mapping[str, Value] = {
    "sctp.paper.path_mtu_discovery": "probing",
    "sctp.paper.initial_cwnd": "2904 B",
}
_SACK_EACH: Mapping[str, Value] = {"sctp.paper.sack_frequency": 1}

SETTINGS: Mapping[str, Setting] = {
    "paper": Setting(),
    "fragments": Setting(message="1452 B"),
    "whole-packets": Setting(_WHOLE_PACKETS, message="1452 B"),
    "discovery": Setting(_DISCOVERY, message="1452 B"),
    "whole-packets-sack-each": Setting({**_WHOLE_PACKETS, **_SACK_EACH}, message="1452 B"),
    "discovery-sack-each": Setting({**_DISCOVERY, **_SACK_EACH}, message="1452 B"),
    "fixed-window": Setting({"sctp.paper.fixed_cwnd": _WHOLE_BUFFER}),
    "whole-window": Setting({"sctp.paper.initial_cwnd": _WHOLE_BUFFER}),
    "late-avoidance": Setting({"sctp.paper.initial_ssthresh": _WHOLE_BUFFER}),
    "timeouts-only": Setting({"sctp.paper.fast_retransmit_threshold": 1_000_000}),
    "sack-each": Setting(_SACK_EACH),
    "cwnd-1": Setting({"sctp.paper.initial_cwnd": "512 B"}),
    "cwnd-4": Setting({"sctp.paper.initial_cwnd": "2048 B"}),
    "cwnd-10": Setting({"sctp.paper.initial_cwnd": "5120 B"}),
    "limit-2": Setting({"sctp.paper.byte_counting_limit": 2}),
    "buffer-40": Setting(buffer(40)),
    "buffer-512": Setting(buffer(512)),
    "small-buffer": Setting(buffer(SMALL_BUFFER)),
    "small-buffer-4-streams": Setting(buffer(SMALL_BUFFER), flow={"streams": 4}),
    "backed-up": Setting(backed_up=True),
    "early-drops": Setting(_early(marks=False)),
    "early-marks": Setting(_early(marks=True)),
    "tcp-once": Setting(flow={"transport": "tcp", "profile": "once"}),
    "tcp-each": Setting(flow={"transport": "tcp", "profile": "each"}),
}
"""What is set beside the paper's SCTP, with a larger buffer, which does not hide everything else."""
SETTING_BUFFER = 128
SETTING_PAIRS = 6
"""Few, so that what limits is SCTP and not the satellites that 30 share."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Where switches are measured."""

    label: str
    sky: Sky
    rate: str


ENVIRONMENTS: Mapping[str, Environment] = {
    "iridium-clear": Environment("Iridium 1e-9", Sky.IRIDIUM, "1e-9"),
    "iridium-errors": Environment("Iridium 1e-6", Sky.IRIDIUM, "1e-6"),
    "geo-clear": Environment("GEO 1e-9", Sky.GEO, "1e-9"),
    "geo-errors": Environment("GEO 1e-6", Sky.GEO, "1e-6"),
}
UNLIMITED, TRANSFER = "unlimited", "64 kB"
"""What a source has to send: the throughput of the one is measured, the time that the other takes."""


def setting(name: str, environment: str, total: str) -> str:
    """Name the case of a setting."""
    return f"setting/{environment}/{total.replace(' ', '-')}/{name}"


@cache
def every(extent: Extent) -> Mapping[str, Case]:
    """Give every case by its name."""
    listed = (
        *_throughputs(extent),
        *_backups(extent),
        *_streams(extent),
        *_variants(),
        *_north(),
        *_low_mask(),
        *_settings(),
    )
    return {case.name: case for case in listed}


def _throughputs(extent: Extent) -> Iterator[Case]:
    for where, sky, rate in product((PER_PATH, PER_LINK), CONFIGURATIONS, extent.error_rates):
        times = TIMES.get((where, sky, rate), 1)
        yield Case(throughput(sky, rate, where), sky, errors(sky, rate, where), times=times)


def _backups(extent: Extent) -> Iterator[Case]:
    for associations, rate in product(extent.associations, extent.error_rates):
        if associations != PAIRS:
            sky = Sky.SUPPLEMENTED
            times = TIMES_OF_LOAD.get(rate, 1)
            yield Case(backup(associations, rate), sky, errors(sky, rate), associations, times=times)
    for name, sky in ((BACKUP_BY_BYTES, Sky.SUPPLEMENTED), (ALONE_BY_BYTES, Sky.IRIDIUM)):
        yield Case(name, sky, errors(sky, BYTE_ERRORS), times=1)
    sky, rate = Sky.SUPPLEMENTED, extent.error_rates[-1]
    values = {**errors(sky, rate), **buffer(LARGEST_BUFFER, UNIT_BYTES), **AFTER_TIMEOUTS}
    yield Case(BACKUP_AFTER_TIMEOUTS, sky, values, flow=bulk(UNIT_BYTES), times=TIMES_OF_LOAD[rate])


def _streams(extent: Extent) -> Iterator[Case]:
    buffers = product(extent.buffers, extent.stream_error_rates)
    rates = product((SMALL_BUFFER, LARGEST_BUFFER), extent.error_rates)
    points = sorted({*buffers, *rates})
    for sky, count, (segments, rate) in product((Sky.IRIDIUM, Sky.GEO), extent.streams, points):
        # Two streams are a line of figures 11 and 12 alone.
        if count in {1, extent.streams[-1]} or (
            rate in extent.stream_error_rates and segments in extent.buffers
        ):
            values = {**errors(sky, rate), **buffer(segments)}
            name = streams(sky, count, segments, rate)
            # What claim N4 is about: a few percent decide it.
            claimed = segments in {SMALL_BUFFER, LARGEST_BUFFER} and count in {1, extent.streams[-1]}
            times = int(claimed and rate in HIGH_ERROR_RATES)
            yield Case(name, sky, values, flow={"streams": count}, times=times)


def _variants() -> Iterator[Case]:
    for name, sky, rate in product(VARIANTS, CONFIGURATIONS, VARIANT_RATES):
        _, values = VARIANTS[name]
        yield Case(variant(name, sky, rate), sky, {**errors(sky, rate), **values})


def _north() -> Iterator[Case]:
    two = Sky.TWO_ANTENNAS
    _, same_path = VARIANTS["same-path"]
    for rate in VARIANT_RATES:
        for sky in (Sky.IRIDIUM, two):
            yield Case(north(sky, rate), sky, errors(sky, rate), latitudes_deg=NORTH_DEG)
        values = {**errors(two, rate), **same_path}
        yield Case(north_same_path(rate), two, values, latitudes_deg=NORTH_DEG)


def _low_mask() -> Iterator[Case]:
    one, two = Sky.IRIDIUM, Sky.TWO_ANTENNAS
    _, same_path = VARIANTS["same-path"]
    for rate in VARIANT_RATES:
        for sky in (one, two):
            yield Case(low_mask(sky, rate), sky, errors(sky, rate), mask_deg=LOW_MASK_DEG)
        values = {**errors(two, rate), **same_path}
        yield Case(low_mask_same_path(rate), two, values, mask_deg=LOW_MASK_DEG)


def _settings() -> Iterator[Case]:
    for (name, one), (place, environment), total in product(
        SETTINGS.items(), ENVIRONMENTS.items(), (UNLIMITED, TRANSFER)
    ):
        sky = one.sky(environment)
        if sky is None:
            continue
        values = {**errors(sky, environment.rate), **buffer(SETTING_BUFFER), **one.values}
        application: dict[str, Value] = {"kind": "bulk", "message_size": one.message, "total": total}
        flow: dict[str, Value] = {**one.flow, "application": application}
        yield Case(setting(name, place, total), sky, values, SETTING_PAIRS, flow)
