"""What is run: cells of two papers, each as a scenario that is both a run and an emulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slantpath_studies import texts
from slantpath_studies.failover import cases as failover
from slantpath_studies.multi_link import cases as multi_link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slantpath import Scenario
    from slantpath.running import Value

FAILURE_S = 10.0
"""When the primary path fails: the RTO of either path has settled by then."""
BEHIND_S = 4.0
"""How long a run goes on behind a failure: four times the longest failover of the paper."""
LOSSY_S = 60.0
"""For how long the source of the lossy laboratory sends."""
REST_S = 5.0
"""For how long a run goes on behind the source: its last message may be retransmitted."""


@dataclass(frozen=True, slots=True)
class Port:
    """An interface of an end: its link and address, and the router that leads to the other end."""

    link: str
    address: str
    remote: str
    """The address of the other end that is reached by it."""
    router: str | None = None


@dataclass(frozen=True, slots=True)
class Laboratory:
    """Two ends with two interfaces each, the first of which leads along the primary path."""

    study: str
    sender: str
    receiver: str
    sending: tuple[Port, Port]
    receiving: tuple[Port, Port]
    message_bytes: int
    interval_s: float
    sysctl: Mapping[str, int]
    """What the kernel of both ends is told, in the names of `net.sctp`."""
    buffers: tuple[int, int] | None = None
    """Bytes of the sender's and the receiver's socket buffers; the kernel's own if absent."""

    @property
    def ports(self) -> Sequence[tuple[str, Port]]:
        """List every port with the node that it belongs to."""
        return [
            *((self.sender, port) for port in self.sending),
            *((self.receiver, port) for port in self.receiving),
        ]


FAILOVER = Laboratory(
    study="failover",
    sender="sep1",
    receiver="sep2",
    sending=(
        Port("entry1", "10.84.1.1", "10.84.3.1", "10.84.1.2"),
        Port("entry2", "10.84.2.1", "10.84.4.1", "10.84.2.2"),
    ),
    receiving=(
        Port("primary", "10.84.3.1", "10.84.1.1", "10.84.3.2"),
        Port("alternate", "10.84.4.1", "10.84.2.1", "10.84.4.2"),
    ),
    message_bytes=250,
    interval_s=0.01,
    # Table 2 of the paper. RTO.Min before RTO.Max: the kernel holds each to the other.
    sysctl={
        "rto_min": 80,
        "rto_max": 250,
        "rto_initial": 250,
        "path_max_retrans": 2,
        "sack_timeout": 40,
        "pf_enable": 0,
    },
)

MULTI_LINK = Laboratory(
    study="multi-link",
    sender="sender",
    receiver="receiver",
    sending=(Port("satellite", "10.84.1.1", "10.84.1.2"), Port("terrestrial", "10.84.2.1", "10.84.2.2")),
    receiving=(Port("satellite", "10.84.1.2", "10.84.1.1"), Port("terrestrial", "10.84.2.2", "10.84.2.1")),
    message_bytes=1_000,
    interval_s=1 / 30,
    # Linux's own values. RTO.Max before RTO.Min: the other laboratory has left smaller ones.
    sysctl={
        "rto_max": 60_000,
        "rto_min": 1_000,
        "rto_initial": 3_000,
        "path_max_retrans": 5,
        "sack_timeout": 200,
        "pf_enable": 0,
    },
    # The scenario's: what gives 52 KByte/s without loss.
    buffers=(64 << 10, 27_000),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of a paper."""

    name: str
    laboratory: Laboratory
    values: Mapping[str, Value]
    duration_s: float
    captured: tuple[str, str]
    """The links by which the sender reaches the primary and the alternate path."""

    @property
    def fails(self) -> bool:
        """Tell if its primary path fails."""
        return self.laboratory is FAILOVER

    def scenario(self) -> Scenario:
        """Give its scenario: ends that programs are, and what is captured."""
        own: dict[str, Value] = {
            "scenario.duration": f"{self.duration_s:g} s",
            "probes.captures": list(self.captured),
            **{
                f"nodes.{node}.kind": "attached"
                for node in (self.laboratory.sender, self.laboratory.receiver)
            },
            **_addresses(self.laboratory),
        }
        return texts.scenario_of(self.laboratory.study).with_values({**self.values, **own})


def _addresses(laboratory: Laboratory) -> dict[str, Value]:
    """Give the links of the ends the addresses of their ports, in the order of the link's ends."""
    if laboratory is MULTI_LINK:
        pairs = zip(laboratory.sending, laboratory.receiving, strict=True)
        return {f"links.{here.link}.addresses": [here.address, there.address] for here, there in pairs}
    entries = {
        f"links.{port.link}.addresses": [port.address, port.router or ""] for port in laboratory.sending
    }
    exits = {
        f"links.{port.link}.addresses": [port.router or "", port.address] for port in laboratory.receiving
    }
    return {**entries, **exits}


def _failing(queue: str, load: str) -> Cell:
    values: dict[str, Value] = {
        **failover.cell(queue, load),
        # The kernel's program sends without the header of M3UA.
        "flows.signalling.adaptation": "none",
        "script": [{"at": f"{FAILURE_S:g} s", "link": "bottleneck1", "action": "down"}],
    }
    return Cell(f"{queue}/{load}", FAILOVER, values, FAILURE_S + BEHIND_S, ("entry1", "entry2"))


LOSSY = Cell(
    "1 % lost",
    MULTI_LINK,
    multi_link.CASES[multi_link.STANDARD],
    LOSSY_S + REST_S,
    ("satellite", "terrestrial"),
)

CELLS: tuple[Cell, ...] = (
    _failing("13", "NONE"),
    _failing("13", "HIGH"),
    *(_failing(queue, load) for queue in ("3", "6") for load in failover.LOADS),
    LOSSY,
)
"""Those without loss first: what is lost takes longest."""
NAMES: Mapping[str, Cell] = {cell.name: cell for cell in CELLS}
