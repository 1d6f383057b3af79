"""Where associations are: random pairs of places on the ground, and the sky over them at a random time."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from slantpath import Scenario, Topology
from slantpath_studies import texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from slantpath.running import Value

STUDY = "sctp-over-satellites"
MOST_PAIRS = 40
LATITUDES_DEG = (-40.0, 70.0)
LATEST_START_S = 86_400
DEFAULT_SEED = 1
"""What the scenario says."""

SLOTS_DEG: Mapping[str, float] = {"geo-west": -90.0, "geo-middle": 30.0, "geo-east": 150.0}
GATEWAYS = ("gateway-east", "gateway-middle", "gateway-west")


class Sky(StrEnum):
    """What the terminals have antennas for."""

    GEO = "geo"
    """One for the nearest geostationary satellite."""
    IRIDIUM = "iridium"
    """One for Iridium."""
    SUPPLEMENTED = "supplemented"
    """One for Iridium, the primary path, and one for the nearest geostationary satellite."""
    TWO_ANTENNAS = "two-antennas"
    """Two for Iridium, which never hold the same satellite."""

    @property
    def is_multihomed(self) -> bool:
        """Whether terminals have two antennas."""
        return self in {Sky.SUPPLEMENTED, Sky.TWO_ANTENNAS}

    def antennas(self, longitude_deg: float) -> list[dict[str, Value]]:
        """Give the antennas of a terminal, that of the primary path first."""
        iridium: dict[str, Value] = {"constellation": "iridium"}
        geo: dict[str, Value] = {"constellation": nearest_slot(longitude_deg), "min_elevation": "0 deg"}
        match self:
            case Sky.GEO:
                return [geo]
            case Sky.IRIDIUM:
                return [iridium]
            case Sky.SUPPLEMENTED:
                return [iridium, geo]
            case Sky.TWO_ANTENNAS:
                return [iridium, iridium]


def nearest_slot(longitude_deg: float) -> str:
    """Name the geostationary constellation whose satellite is nearest in longitude."""

    def apart_deg(slot: str) -> float:
        return abs((longitude_deg - SLOTS_DEG[slot] + 180.0) % 360.0 - 180.0)

    return min(SLOTS_DEG, key=apart_deg)


@dataclass(frozen=True, slots=True)
class Place:
    """A place on the ground, in whole hundredths of a degree."""

    latitude_deg: float
    longitude_deg: float


@dataclass(frozen=True, slots=True)
class Placement:
    """Pairs of places between which associations are, and when the run begins."""

    pairs: tuple[tuple[Place, Place], ...]
    start_s: int

    @classmethod
    def drawn(
        cls, number: int, seed: int | None, latitudes_deg: tuple[float, float] = LATITUDES_DEG
    ) -> Placement:
        """Draw the placement of that number. Configurations share it, and fewer pairs are its first ones."""
        draws = random.Random(f"{DEFAULT_SEED if seed is None else seed}/{number}")  # noqa: S311 - a model's chance

        def place() -> Place:
            return Place(round(draws.uniform(*latitudes_deg), 2), round(draws.uniform(-180.0, 180.0), 2))

        pairs = tuple((place(), place()) for _ in range(MOST_PAIRS))
        return cls(pairs, draws.randrange(LATEST_START_S))

    def terminals(self, pairs: int) -> Iterator[tuple[str, Place]]:
        """Name the terminals of the first pairs."""
        for number, (source, sink) in enumerate(self.pairs[:pairs]):
            yield f"source-{number:02}", source
            yield f"sink-{number:02}", sink

    def topology(self, sky: Sky, pairs: int, changes: Mapping[str, Value]) -> str:
        """Give the text of the sky over this placement."""
        base = Topology.parse(texts.text_of(STUDY, "sky.toml"), "sky.toml")
        sites: dict[str, Value] = {
            gateway: {
                "latitude": "0 deg",
                "longitude": f"{longitude:g} deg",
                "antennas": [{"constellation": slot, "min_elevation": "0 deg"}],
            }
            for slot, longitude in SLOTS_DEG.items()
            for gateway in [slot.replace("geo", "gateway")]
        }
        for name, place in self.terminals(pairs):
            sites[name] = {
                "latitude": f"{place.latitude_deg:g} deg",
                "longitude": f"{place.longitude_deg:g} deg",
                "antennas": sky.antennas(place.longitude_deg),
            }
        return base.with_values({"sites": sites, **changes}).merged()

    def nodes(self, pairs: int) -> dict[str, Value]:
        """Give the table of nodes."""
        routers = {gateway: {"kind": "router", "site": gateway} for gateway in GATEWAYS}
        return {
            **routers,
            **{name: {"kind": "host", "site": name} for name, _ in self.terminals(pairs)},
        }


FLOW: Mapping[str, Value] = {
    "transport": "sctp",
    "profile": "paper",
    "start": "500 ms",
    "start_jitter": "1 s",
    "content": "pattern",
    "application": {"kind": "bulk", "message_size": "512 B", "total": "unlimited"},
}
"""What the scenario says of its one flow, but for its ends."""


def flows(sky: Sky, pairs: int, changes: Mapping[str, Value]) -> dict[str, Value]:
    """Give the table of flows, one for each pair, with the same changes to each."""
    first = ".1" if sky.is_multihomed else ""
    return {
        f"pair-{number:02}": {
            "from": f"source-{number:02}",
            "to": f"sink-{number:02}",
            "primary": f"sky.sink-{number:02}{first}",
            **FLOW,
            **changes,
        }
        for number in range(pairs)
    }


@dataclass(frozen=True, slots=True)
class Ground:
    """Whose sky it is: how many pairs of terminals with which antennas, and where."""

    sky: Sky
    pairs: int
    latitudes_deg: tuple[float, float] = LATITUDES_DEG
    mask_deg: float | None = None
    """The least elevation of Iridium, where it is another than in the study's sky."""

    @property
    def topology(self) -> Mapping[str, Value]:
        """Give what it changes in the study's sky."""
        return {} if self.mask_deg is None else {"ground.min_elevation": f"{self.mask_deg:g} deg"}


class Skies:
    """The scenarios of placements. Their skies lie in a directory that stands while scenarios are made."""

    def __init__(
        self,
        directory: Path,
        seed: int | None,
        topology: Mapping[str, Value] | None = None,
        tables: str = "",
    ) -> None:
        """Begin with none; ``topology`` is what is changed in each sky, and scenarios have further tables."""
        self._directory = directory
        self._seed = seed
        self._topology = topology or {}
        self._tables = tables
        self._bases: dict[tuple[int, Ground], Scenario] = {}

    def scenario(
        self, number: int, ground: Ground, flow: Mapping[str, Value], values: Mapping[str, Value]
    ) -> Scenario:
        """Give the scenario of a placement with changes to each flow, and other values."""
        if (number, ground) not in self._bases:
            self._bases[number, ground] = self._base(number, ground)
        changed: dict[str, Value] = dict(values)
        if flow:
            changed["flows"] = flows(ground.sky, ground.pairs, flow)
        return self._bases[number, ground].with_values(changed)

    def _base(self, number: int, ground: Ground) -> Scenario:
        placement = Placement.drawn(number, self._seed, ground.latitudes_deg)
        beside = self._directory / f"{len(self._bases)}"
        beside.mkdir()
        sky = placement.topology(ground.sky, ground.pairs, {**ground.topology, **self._topology})
        (beside / "sky.toml").write_text(sky, encoding="utf-8")
        text = texts.text_of(STUDY, "scenario.toml") + self._tables
        return Scenario.parse(text, "scenario.toml", beside).with_values(
            {
                "sky.start": f"{placement.start_s} s",
                "nodes": placement.nodes(ground.pairs),
                "flows": flows(ground.sky, ground.pairs, {}),
            }
        )
