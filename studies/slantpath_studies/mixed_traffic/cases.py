"""What is run: the scenario of the study, and what each case changes in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from slantpath_studies import texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slantpath import Scenario
    from slantpath.running import Value

SIGNALLING, TELEMETRY, FILES = KINDS = ("signalling", "telemetry", "files")
SIZES: Mapping[str, int] = {SIGNALLING: 100, TELEMETRY: 200, FILES: 65_536}
"""Bytes of a message, by which the kinds are told apart in the results."""
FILE_MESSAGES = 16
DURATION_S, FROM_S, TO_S = 120.0, 20.0, 100.0
"""The run, and when messages count that are sent: slow start is over, and 20 s are left to arrive in."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path of the study."""

    name: str
    label: str
    rate_bit_per_s: float
    round_trip_s: float
    useful_s: float
    """Time for which telemetry is of use: two round trips over LEO, less than a retransmission over GEO."""
    files_load: float = 0.85
    """What files offer, of the link."""

    @property
    def product_bytes(self) -> int:
        """The bandwidth-delay product."""
        return round(self.rate_bit_per_s * self.round_trip_s / 8)

    @property
    def lifetime(self) -> str:
        """How long telemetry is of use, as a scenario has it."""
        return f"{self.useful_s * 1e3:g} ms"

    @property
    def small_buffer(self) -> str:
        """Four products, of which SCTP says that there is room again once half is free."""
        return f"{4 * max(self.product_bytes, SIZES[FILES])} B"

    def link(self) -> dict[str, Value]:
        """Give the link with a queue of one product."""
        return {
            "links.path.rate": f"{self.rate_bit_per_s / 1e6:g} Mbit/s",
            "links.path.delay": f"{self.round_trip_s / 2 * 1e3:g} ms",
            "links.path.queue": f"{self.product_bytes} B",
        }

    def kinds(self) -> dict[str, dict[str, Value]]:
        """Give the messages of each kind, all on streams of their own."""
        file_bits = FILE_MESSAGES * SIZES[FILES] * 8
        files_s = file_bits / (self.files_load * self.rate_bit_per_s)
        return {
            SIGNALLING: {"stream": 0, "message_size": f"{SIZES[SIGNALLING]} B", "interval": "100 ms"},
            TELEMETRY: {"stream": 1, "message_size": f"{SIZES[TELEMETRY]} B", "interval": "50 ms"},
            FILES: {
                "stream": 2,
                "message_size": f"{SIZES[FILES]} B",
                "messages": FILE_MESSAGES,
                "interval": f"{round(files_s * 1e3)} ms",
            },
        }


GEO_2 = Path("geo-2", "GEO, 2 Mbit/s, 560 ms", 2e6, 0.560, 0.4)
GEO_10 = Path("geo-10", "GEO, 10 Mbit/s, 560 ms", 10e6, 0.560, 0.4)
LEO_10 = Path("leo-10", "LEO, 10 Mbit/s, 50 ms", 10e6, 0.050, 0.1)
GEO_2_LIGHT = replace(GEO_2, name="geo-2-light", label="GEO, 2 Mbit/s, 560 ms, files 10 %", files_load=0.1)
PATHS = {path.name: path for path in (GEO_2, GEO_10, LEO_10, GEO_2_LIGHT)}

LOSSES: Mapping[str, str] = {"0": "0 %", "1e-3": "0.1 %", "1e-2": "1 %"}
"""In both directions."""

CONTROLLERS: Mapping[str, tuple[str, Mapping[str, Value]]] = {
    "rfc9260": ("the controller of RFC 9260", {}),
    "backlog": (
        "Backlog",
        {"sctp.default.congestion_control": "backlog", "sctp.default.loss_detection": "rack"},
    ),
}
"""What tables call each, and the keys that choose it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to send the three kinds."""

    name: str
    label: str
    extensions: tuple[str, ...] = ()
    scheduling: str = "first-come-first-served"
    values: tuple[int, ...] = ()
    """Priorities or weights of the streams."""
    telemetry: Mapping[str, Value] = field(default_factory=dict)
    """When telemetry is given up; a lifetime of `useful` is that of the path."""
    one_stream: bool = False
    unordered: tuple[str, ...] = ()
    """Kinds that may overtake others of their stream."""
    associations: int = 1
    has_small_buffer: bool = False


_PR, _I_DATA = "partial-reliability", "interleaving"
_PRIORITIES, _WEIGHTS = (0, 1, 2), (4, 4, 1)
_USEFUL: Mapping[str, Value] = {"lifetime": "useful"}

SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("one-stream", "one stream", one_stream=True),
        Setting("streams", "a stream each"),
        Setting("streams-rr", "a stream each, round robin", scheduling="round-robin"),
        Setting("streams-priority", "a stream each, priority", scheduling="priority", values=_PRIORITIES),
        Setting("unordered", "a stream each, signalling and telemetry unordered", unordered=KINDS[:2]),
        Setting("idata-fcfs", "I-DATA, first come first served", (_I_DATA,)),
        Setting("idata-rr", "I-DATA, round robin", (_I_DATA,), "round-robin"),
        Setting("idata-rr-packet", "I-DATA, round robin per packet", (_I_DATA,), "round-robin-per-packet"),
        Setting("idata-priority", "I-DATA, priority", (_I_DATA,), "priority", _PRIORITIES),
        Setting("idata-fair", "I-DATA, fair capacity", (_I_DATA,), "fair-capacity"),
        Setting("idata-wfq", "I-DATA, weights 4, 4, 1", (_I_DATA,), "weighted-fair-queueing", _WEIGHTS),
        Setting("pr-lifetime", "PR-SCTP, lifetime", (_PR,), telemetry=_USEFUL),
        Setting("pr-once", "PR-SCTP, no retransmission", (_PR,), telemetry={"max_retransmissions": 0}),
        Setting("small-buffer", "a stream each, small send buffer", has_small_buffer=True),
        Setting(
            "pr-priority",
            "PR-SCTP, priority, small send buffer",
            (_PR,),
            telemetry={"priority": 1},
            has_small_buffer=True,
        ),
        Setting(
            "both", "I-DATA, priority; PR-SCTP, lifetime", (_I_DATA, _PR), "priority", _PRIORITIES, _USEFUL
        ),
        Setting(
            "both-once",
            "I-DATA, priority; PR-SCTP, no retransmission",
            (_I_DATA, _PR),
            "priority",
            _PRIORITIES,
            {"max_retransmissions": 0},
        ),
        Setting(
            "both-unordered",
            "the same with lifetime, telemetry unordered",
            (_I_DATA, _PR),
            "priority",
            _PRIORITIES,
            _USEFUL,
            unordered=(TELEMETRY,),
        ),
        Setting("three", "three associations", associations=3),
        Setting(
            "three-lifetime",
            "three associations; PR-SCTP, lifetime",
            (_PR,),
            telemetry=_USEFUL,
            associations=3,
        ),
    )
}
"""The ways that are compared, in the order of the tables."""


@dataclass(frozen=True, slots=True)
class Part:
    """A path with a controller, and what is run there."""

    path: str
    controller: str
    losses: tuple[str, ...] = tuple(LOSSES)
    settings: tuple[str, ...] = tuple(SETTINGS)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run."""

    runs: int
    """Runs of a case in which something is drawn at random."""
    parts: tuple[Part, ...]


COMPARED = (
    "one-stream",
    "streams",
    "streams-priority",
    "idata-fcfs",
    "idata-priority",
    "pr-lifetime",
    "both",
    "both-unordered",
    "three",
    "three-lifetime",
)
"""Settings that are run everywhere."""
LIGHT = Part("geo-2-light", "backlog", ("1e-2",), ("idata-priority", "both", "both-unordered"))
"""The same with few losses of files."""
FULL = Extent(
    5,
    (
        Part("geo-2", "backlog"),
        Part("geo-2", "rfc9260"),
        Part("leo-10", "backlog"),
        Part("geo-10", "backlog", settings=COMPARED),
        Part("leo-10", "rfc9260", settings=COMPARED),
        LIGHT,
    ),
)
QUICK = Extent(
    2,
    (
        Part("geo-2", "backlog", ("0", "1e-2")),
        Part("geo-2", "rfc9260", ("0", "1e-2"), ("streams", "idata-priority", "three")),
        LIGHT,
    ),
)


@dataclass(frozen=True, slots=True)
class Case:
    """What is run under one name."""

    name: str
    path: Path
    loss: str
    controller: str
    setting: Setting

    @property
    def is_random(self) -> bool:
        """Whether anything is drawn at random: all runs are equal otherwise."""
        return self.loss != "0"

    def scenario(self) -> Scenario:
        """Give its scenario."""
        return scenario().with_values(self.values())

    def values(self) -> dict[str, Value]:
        """Give what it changes in the scenario of the study."""
        setting = self.setting
        values: dict[str, Value] = {
            **self.path.link(),
            **CONTROLLERS[self.controller][1],
            "links.path.loss": LOSSES[self.loss],
            "sctp.default.extensions": list(setting.extensions),
            "sctp.default.stream_scheduling": setting.scheduling,
        }
        if setting.has_small_buffer:
            values["sctp.default.send_buffer"] = self.path.small_buffer
        kinds = self._kinds()
        if setting.associations == 1:
            values["flows.terminal.application"] = {"kind": "mixed", "classes": kinds}
            if setting.values:
                values["flows.terminal.stream_values"] = list(setting.values)
            return values
        for flow, kind in zip(("terminal", *KINDS[1:]), KINDS, strict=True):
            alone: dict[str, Value] = {
                "transport": "sctp",
                "from": "terminal",
                "to": "centre",
                "end": f"{TO_S + 5:g} s",
                "application": {"kind": "mixed", "classes": {kind: {**kinds[kind], "stream": 0}}},
            }
            values[f"flows.{flow}"] = alone
        return values

    def _kinds(self) -> dict[str, dict[str, Value]]:
        kinds = self.path.kinds()
        for key, value in self.setting.telemetry.items():
            kinds[TELEMETRY][key] = self.path.lifetime if value == "useful" else value
        for kind in self.setting.unordered:
            kinds[kind]["unordered"] = True
        if self.setting.one_stream:
            for messages in kinds.values():
                messages["stream"] = 0
        return kinds


def name(path: str, controller: str, setting: str, loss: str) -> str:
    """Name a case."""
    return f"{path}/{controller}/{setting}/{loss}"


@cache
def every(extent: Extent = FULL) -> Mapping[str, Case]:
    """Give every case of the study by its name."""
    return {case.name: case for case in _cases(extent)}


def _cases(extent: Extent) -> Iterator[Case]:
    for part in extent.parts:
        for setting, loss in product(part.settings, part.losses):
            named = name(part.path, part.controller, setting, loss)
            yield Case(named, PATHS[part.path], loss, part.controller, SETTINGS[setting])


def scenario() -> Scenario:
    """Give the scenario of the study as it is compiled in."""
    return texts.scenario_of("mixed-traffic")
