"""What is run: two papers' labs, with a machine attached at each end of the association."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slantpath.errors import ScenarioWarning
from slantpath_studies import texts
from slantpath_studies.failover import cases as failover
from slantpath_studies.multi_link import cases as multi_link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slantpath import Scenario
    from slantpath.running import Value

PATHS = ("primary", "alternate")
FAILURE_S = 15.0
"""Instant of the failure: some ten seconds after the source has begun."""
RUN_S = 60.0
"""How long a twin is run whose path fails: every failover is over by then."""
LOSS_S = 100.0
"""How long a source sends over a link that loses packets."""
NEAR = ("10.11.0.2", "10.12.0.2")
FAR = ("10.21.0.2", "10.22.0.2")
"""The machines' addresses, in the order of their paths. The routers before them end in 1."""


def router_before(address: str) -> str:
    """Give the address of the router before a machine's."""
    return address.rpartition(".")[0] + ".1"


@dataclass(frozen=True, slots=True)
class Machine:
    """An attached node: its links and addresses, in the order of the paths."""

    node: str
    links: tuple[str, str]
    addresses: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Cell:
    """A network, the machines at its two ends, and what the one sends to the other."""

    study: str
    """The study whose scenario it is."""
    values: Mapping[str, Value]
    """What it changes there, whether run or emulated."""
    near: Machine
    far: Machine
    seconds: float
    every_s: float
    size: int
    """Octets of a message, behind the header of the DATA chunk."""
    receive_buffer: int | None
    kernel: Mapping[str, int] = field(default_factory=dict)
    """Settings below ``net.sctp`` at both machines."""

    def twin(self) -> Scenario:
        """Give the scenario that is run, with simulated hosts in place of the machines."""
        return self._scenario({})

    def lab(self, devices: Mapping[str, str]) -> Scenario:
        """Give the scenario that is emulated, with the Ethernet device of each of the machines' links."""
        attached: dict[str, Value] = {}
        for machine in (self.near, self.far):
            node = {link: devices[link] for link in machine.links}
            attached[f"nodes.{machine.node}"] = {"kind": "attached", "device": node}
        return self._scenario(attached)

    def _scenario(self, values: Mapping[str, Value]) -> Scenario:
        with warnings.catch_warnings():
            # What RTO.Min at the peer's SACK delay costs is one of the papers' questions.
            warnings.filterwarnings(
                "ignore", r"(?s).*RTO\.Min of .* is not above SACK\.Delay", ScenarioWarning
            )
            return texts.scenario_of(self.study).with_values({**self.values, **values})


def _addressed(near: Machine, far: Machine) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for link, address in zip(near.links, near.addresses, strict=True):
        values[f"links.{link}.addresses"] = [address, router_before(address)]
    for link, address in zip(far.links, far.addresses, strict=True):
        values[f"links.{link}.addresses"] = [router_before(address), address]
    return values


_SEPS = (Machine("sep1", ("entry1", "entry2"), NEAR), Machine("sep2", ("primary", "alternate"), FAR))
_M3UA = 34
"""What M3UA puts around an MSU of 250 octets in the study's packets."""


def _failover(queue: str, load: str) -> Cell:
    return Cell(
        "failover",
        {
            **failover.cell(queue, load),
            **_addressed(*_SEPS),
            "scenario.duration": f"{RUN_S:g} s",
            "script": [{"at": f"{FAILURE_S:g} s", "link": "bottleneck1", "action": "down"}],
        },
        *_SEPS,
        seconds=FAILURE_S + 10,
        every_s=0.01,
        size=250 + _M3UA,
        receive_buffer=None,
        # Table 2 of the paper, as Linux calls it.
        kernel={"rto_initial": 250, "rto_min": 80, "rto_max": 250, "path_max_retrans": 2, "sack_timeout": 40},
    )


_HOSTS = (Machine("sender", ("entry1", "entry2"), NEAR), Machine("receiver", ("exit1", "exit2"), FAR))
_ROUTERS = ("west1", "east1", "west2", "east2")


def _multi_link() -> Cell:
    access: Mapping[str, Value] = {"rate": "100 Mbit/s", "delay": "0 ms"}
    return Cell(
        "multi-link",
        {
            **multi_link.CASES[multi_link.STANDARD],
            **{f"nodes.{router}": {"kind": "router"} for router in _ROUTERS},
            "links.satellite.ends": ["west1", "east1"],
            "links.terrestrial.ends": ["west2", "east2"],
            **{f"links.entry{path}": {"ends": ["sender", f"west{path}"], **access} for path in "12"},
            **{f"links.exit{path}": {"ends": [f"east{path}", "receiver"], **access} for path in "12"},
            **_addressed(*_HOSTS),
            "flows.data.primary": "exit1",
            "scenario.duration": f"{LOSS_S:g} s",
        },
        *_HOSTS,
        seconds=LOSS_S,
        every_s=1 / 30,
        size=1000,
        receive_buffer=27_000,
    )


SMALL = ("3", "6")
"""The queues of claim F5."""
WORST, BEST = failover.WORST, failover.BEST
FAILOVERS: Mapping[str, Cell] = {
    cell: _failover(*cell.split("/"))
    for cell in (WORST, BEST, *(f"{queue}/{load}" for queue in SMALL for load in failover.LOADS))
}
LOSSY = "1 % loss"
CELLS: Mapping[str, Cell] = {**FAILOVERS, LOSSY: _multi_link()}
LOADS = failover.LOADS
