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


@dataclass(frozen=True, slots=True)
class Undelivered:
    """Something of TCP or SCTP that has not come; a datagram of UDP may be lost."""

    protocol: str
    source: Address
    destination: Address
    sent: float
    length: int


class Measures:
    """What was sent and has not come, and what has come."""

    def __init__(self, network: Network) -> None:
        """Begin with nothing."""
        self.deliveries: list[Delivery] = []
        self._network = network
        self._streams: dict[tuple[Address, Address], deque[tuple[float, int]]] = {}
        self._lost: list[Undelivered] = []
        self._datagrams: dict[Hashable, deque[float]] = {}
        self._messages: dict[tuple[Address, Address, int, bool], deque[tuple[float, bytes]]] = {}

    def _is_measured(self, destination: Address) -> bool:
        """Tell if it is heard of when something has come there: of simulated nodes it is not."""
        return self._network.host_of(destination[0]) is not None

    # TCP: by the place in the stream.

    def wrote(self, source: Address, destination: Address, data: bytes) -> None:
        """Note what a connection was given to send."""
        if not self._is_measured(destination):
            return
        waiting = self._streams.setdefault((source, destination), deque())
        waiting.append((self._network.now, len(data)))

    def read(self, source: Address, destination: Address, length: int) -> None:
        """Note what has come of a connection: each stretch that was written has come with its last byte."""
        waiting = self._streams.get((source, destination))
        while waiting and length > 0:
            sent, rest = waiting[0]
            if length < rest:
                waiting[0] = (sent, rest - length)
                return
            length -= rest
            waiting.popleft()
            self._came("tcp", source, destination, sent, rest)

    def began(self, one: Address, other: Address) -> None:
        """Note that a connection is called: what has not come of an earlier one of its ends never will."""
        for ends in ((one, other), (other, one)):
            waiting = self._streams.pop(ends, ())
            self._lost += [Undelivered("tcp", *ends, sent, length) for sent, length in waiting]

    # UDP: by the number of the packet, where IP has one, else by its content.

    def sent_datagram(self, source: Address, destination: Address, number: int | None, data: bytes) -> None:
        """Note a datagram that leaves."""
        if not self._is_measured(destination):
            return
        key = (source, destination, data if number is None else number)
        now = self._network.now
        if number is None:
            self._datagrams.setdefault(key, deque()).append(now)
        else:
            # The number begins anew after 65,536 of them.
            self._datagrams[key] = deque([now])

    def came_datagram(self, source: Address, destination: Address, number: int | None, data: bytes) -> None:
        """Note a datagram that has come; the second of a pair is not counted."""
        waiting = self._datagrams.get((source, destination, data if number is None else number))
        if waiting:
            self._came("udp", source, destination, waiting.popleft(), len(data))

    # SCTP: by the order of its stream, without those that were given up.

    def sent_message(
        self, ends: tuple[Address, Address], stream: int, data: bytes, *, unordered: bool
    ) -> None:
        """Note a message that was taken to be sent."""
        source, destination = map(self._first, ends)
        if not self._is_measured(destination):
            return
        waiting = self._messages.setdefault((source, destination, stream, unordered), deque())
        waiting.append((self._network.now, data))

    def came_message(
        self, ends: tuple[Address, Address], stream: int, data: bytes, *, unordered: bool
    ) -> None:
        """Note a message that was received."""
        source, destination = map(self._first, ends)
        waiting = self._messages.get((source, destination, stream, unordered))
        if not waiting:
            return
        place = next((place for place, (_, sent) in enumerate(waiting) if sent == data), None)
        if place is None:
            return
        sent_at, _ = waiting[place]
        if unordered:
            del waiting[place]
        else:
            for _ in range(place + 1):
                waiting.popleft()
        self._came("sctp", source, destination, sent_at, len(data))

    def _first(self, end: Address) -> Address:
        """Give the first address of a host by any of them: an association has several."""
        host = self._network.host_of(end[0])
        return (host.address if host else end[0], end[1])

    def _came(self, protocol: str, source: Address, destination: Address, sent: float, length: int) -> None:
        now = self._network.now
        self.deliveries.append(Delivery(protocol, source, destination, sent, now, length))

    def undelivered(self) -> list[Undelivered]:
        """Give what of TCP and SCTP has not come."""
        found = list(self._lost)
        for ends, waiting in self._streams.items():
            found += [Undelivered("tcp", *ends, sent, length) for sent, length in waiting]
        for (source, destination, *_), messages in self._messages.items():
            found += [Undelivered("sctp", source, destination, sent, len(data)) for sent, data in messages]
        return found

    def check(self, limit_ns: int, to: str | None, protocol: str | None) -> None:
        """Raise if anything was later, or has not come for as long."""
        limit, now = limit_ns / NANOSECONDS, self._network.now
        counted = [one for one in self.deliveries if self._counts(one, to, protocol)]
        late = [self._told(one) for one in counted if one.delay > limit]
        missing = [one for one in self.undelivered() if self._counts(one, to, protocol)]
        missed = [self._told_missing(one, now) for one in missing if now - one.sent > limit]
        if late or missed:
            lines = [f"\n  {line}" for line in (*late, *missed)][:SHOWN]
            more = len(late) + len(missed) - len(lines)
            rest = f"\n  and {more} more" if more else ""
            message = (
                f"{len(late)} of {len(counted)} came later than {limit:g} s, "
                f"{len(missed)} have not come:{''.join(lines)}{rest}"
            )
            raise TooLateError(message)

    def _counts(self, one: Delivery | Undelivered, to: str | None, protocol: str | None) -> bool:
        if protocol is not None and one.protocol != protocol:
            return False
        host = self._network.host_of(one.destination[0])
        return to is None or (host is not None and host.name == to)

    def _told(self, one: Delivery) -> str:
        times = f"sent at {one.sent:.6f} s, came at {one.arrived:.6f} s, after {one.delay:.6f} s"
        return f"{_named(one)}: {times}"

    def _told_missing(self, one: Undelivered, now: float) -> str:
        return f"{_named(one)}: sent at {one.sent:.6f} s, not there {now - one.sent:.6f} s later"

    def as_csv(self) -> str:
        """Give all that has come as a table."""
        rows = ["protocol,source,destination,sent_s,arrived_s,length_bytes\n"]
        for one in self.deliveries:
            ends = ",".join(f"{address}:{port}" for address, port in (one.source, one.destination))
            rows.append(f"{one.protocol},{ends},{one.sent:.9f},{one.arrived:.9f},{one.length}\n")
        return "".join(rows)


def _named(one: Delivery | Undelivered) -> str:
    ends = [f"{address}:{port}" for address, port in (one.source, one.destination)]
    return f"{one.length} bytes of {one.protocol} from {ends[0]} to {ends[1]}"
