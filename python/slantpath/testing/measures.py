"""What came at hosts, and how long it took: of each datagram, message and stretch of a stream."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slantpath.errors import TooLateError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from slantpath.testing.network import Network

    Address = tuple[str, int]

NANOSECONDS = 10**9
SHOWN = 10
"""How many late messages are told."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Something that has come."""

    protocol: str
    """``tcp``, ``udp`` or ``sctp``."""
    source: Address
    """Address and port of the sender."""
    destination: Address
    """Address and port that it came to."""
    sent: float
    """When it was handed over to be sent, in seconds of simulated time."""
    arrived: float
    """When it had come, all of it."""
    length: int
    """How many bytes it has."""

    @property
    def delay(self) -> float:
        """How long it took, in seconds."""
        return self.arrived - self.sent


class Measures:
    """What was sent and has not come, and what has come."""

    def __init__(self, network: Network) -> None:
        """Begin with nothing."""
        self.deliveries: list[Delivery] = []
        self._network = network
        self._sent: dict[Hashable, deque[tuple[float, int]]] = {}

    def wrote(self, source: Address, destination: Address, data: bytes) -> None:
        """Note what a connection was given to send."""
        key = ("tcp", source, destination)
        self._sent.setdefault(key, deque()).append((self._network.now, len(data)))

    def read(self, source: Address, destination: Address, length: int) -> None:
        """Note what has come of a connection: each stretch that was written has come with its last byte."""
        waiting = self._sent.get(("tcp", source, destination))
        while waiting and length > 0:
            sent, rest = waiting[0]
            if length < rest:
                waiting[0] = (sent, rest - length)
                return
            length -= rest
            waiting.popleft()
            self._came("tcp", source, destination, sent, rest)

    def _came(self, protocol: str, source: Address, destination: Address, sent: float, length: int) -> None:
        now = self._network.now
        self.deliveries.append(Delivery(protocol, source, destination, sent, now, length))

    def check(self, limit_ns: int, to: str | None, protocol: str | None) -> None:
        """Raise if anything was later."""
        limit = limit_ns / NANOSECONDS
        late = [one for one in self.deliveries if self._counts(one, to, protocol) and one.delay > limit]
        if late:
            lines = [f"\n  {self._told(one)}" for one in late[:SHOWN]]
            more = f"\n  and {len(late) - SHOWN} more" if len(late) > SHOWN else ""
            message = (
                f"{len(late)} of {len(self.deliveries)} came later than {limit:g} s:{''.join(lines)}{more}"
            )
            raise TooLateError(message)

    def _counts(self, one: Delivery, to: str | None, protocol: str | None) -> bool:
        if protocol is not None and one.protocol != protocol:
            return False
        host = self._network.host_of(one.destination[0])
        return to is None or (host is not None and host.name == to)

    def _told(self, one: Delivery) -> str:
        ends = [f"{address}:{port}" for address, port in (one.source, one.destination)]
        times = f"sent at {one.sent:.6f} s, came at {one.arrived:.6f} s, after {one.delay:.6f} s"
        return f"{one.length} bytes of {one.protocol} from {ends[0]} to {ends[1]}: {times}"

    def as_csv(self) -> str:
        """Give all that has come as a table."""
        rows = ["protocol,source,destination,sent_s,arrived_s,length_bytes\n"]
        for one in self.deliveries:
            ends = ",".join(f"{address}:{port}" for address, port in (one.source, one.destination))
            rows.append(f"{one.protocol},{ends},{one.sent:.9f},{one.arrived:.9f},{one.length}\n")
        return "".join(rows)
