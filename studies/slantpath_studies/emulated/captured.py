"""An association as the captures at its two ends show it: what was sent, and what has arrived.

A capture has the instants of the emulated network: neither end's clock is read. The messages are those of one
stream, in order, each in one DATA chunk.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

BLOCK, ETHERNET_HEADER, CHUNK = 12, 14, 4
"""The least of a block of pcapng, an Ethernet header, the header of a chunk: octets."""
VERSION_4 = 4
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
"""Blocks of pcapng that are read; others are passed over."""
ETHERNET, RAW_IP = 1, 101
"""Link types."""
IPV4, IPV6, SCTP = 0x0800, 0x86DD, 132
DATA = 0
"""The chunk type."""
END = 3
"""Flags of a DATA chunk that holds a whole message: B and E."""
PREFIX = 16
"""What a DATA chunk has before its message."""
RESOLUTION = 9
"""The option of an interface that says in which unit its instants are."""
MODULUS = 2**32


class Packet(NamedTuple):
    """An SCTP packet of a capture."""

    at_s: float
    source: bytes
    """The address, 4 or 16 bytes."""
    chunks: bytes
    """All behind the common header."""


class Sent(NamedTuple):
    """A DATA chunk on its way, seen at one end."""

    at_s: float
    path: str
    number: int
    """Its message's, counted from 0."""


def packets(capture: Path) -> Iterator[Packet]:
    """Read the SCTP packets of a capture, in the order of the file.

    Raises ``ValueError`` if the file is no capture of Ethernet or of IP as pcapng.
    """
    octets = capture.read_bytes()
    interfaces: list[tuple[int, float]] = []
    place = 0
    while place + BLOCK <= len(octets):
        kind, length = struct.unpack_from("<II", octets, place)
        if place == 0 and kind != SECTION:
            message = f"{capture} is no pcapng file"
            raise ValueError(message)
        if length < BLOCK or place + length > len(octets):
            return
        body = octets[place + 8 : place + length - 4]
        if kind == INTERFACE:
            interfaces.append((struct.unpack_from("<H", body)[0], _unit(body[8:])))
        elif kind == PACKET:
            interface, high, low, captured = struct.unpack_from("<IIII", body)
            link_type, unit = interfaces[interface]
            found = _sctp(link_type, body[20 : 20 + captured])
            if found is not None:
                yield Packet(((high << 32) | low) * unit, *found)
        place += length


def _unit(options: bytes) -> float:
    place = 0
    while place + 4 <= len(options):
        code, length = struct.unpack_from("<HH", options, place)
        if code == RESOLUTION:
            power = options[place + 4]
            return math.ldexp(1, -(power & 0x7F)) if power & 0x80 else 10.0**-power
        if code == 0:
            break
        place += 4 + (length + 3) // 4 * 4
    return 1e-6


def _sctp(link_type: int, frame: bytes) -> tuple[bytes, bytes] | None:
    if link_type == ETHERNET:
        if len(frame) < ETHERNET_HEADER or struct.unpack_from(">H", frame, 12)[0] not in {IPV4, IPV6}:
            return None
        frame = frame[ETHERNET_HEADER:]
    elif link_type != RAW_IP:
        message = f"link type {link_type} is not read: only Ethernet (1) and IP (101) are"
        raise ValueError(message)
    if not frame:
        return None
    if frame[0] >> 4 == VERSION_4:
        header = (frame[0] & 15) * 4
        length = struct.unpack_from(">H", frame, 2)[0]
        protocol, source = frame[9], frame[12:16]
    else:
        header, length = 40, 40 + struct.unpack_from(">H", frame, 4)[0]
        protocol, source = frame[6], frame[8:24]
    return (source, frame[header + 12 : length]) if protocol == SCTP else None


def tsns(chunks: bytes) -> Iterator[int]:
    """List the TSNs of a packet's DATA chunks."""
    place = 0
    while place + 4 <= len(chunks):
        kind, flags, length = struct.unpack_from(">BBH", chunks, place)
        if length < CHUNK:
            return
        if kind == DATA and length >= PREFIX and flags & END == END:
            yield struct.unpack_from(">I", chunks, place + 4)[0]
        place += (length + 3) // 4 * 4


@dataclass(frozen=True, slots=True)
class Association:
    """One direction of an association: what was sent, and when it arrived."""

    sent: Sequence[Sent]
    """In the order of their instants, at the sender."""
    delivered_s: Mapping[int, float]
    """Instant at which each message and all before it had arrived."""

    @classmethod
    def of(cls, near: Mapping[str, Path], far: Mapping[str, Path], sources: set[bytes]) -> Association:
        """Read the captures of both ends, one for each path by its name, given the sender's addresses."""
        sent = _data(near, sources)
        if not sent:
            return cls([], {})
        first = sent[0].number
        numbered = [one._replace(number=(one.number - first) % MODULUS) for one in sent]
        arrived: dict[int, float] = {}
        for one in _data(far, sources):
            arrived.setdefault((one.number - first) % MODULUS, one.at_s)
        delivered: dict[int, float] = {}
        latest, number = 0.0, 0
        while number in arrived:
            latest = max(latest, arrived[number])
            delivered[number] = latest
            number += 1
        return cls(numbered, delivered)

    def begin_s(self, every_s: float) -> float:
        """Give the instant of message 0 of a steady source: no message is sent before it is made."""
        return min(one.at_s - one.number * every_s for one in self.sent)

    def retransmitted(self) -> set[int]:
        """Name the messages that were sent more than once."""
        seen: set[int] = set()
        again: set[int] = set()
        for one in self.sent:
            (again if one.number in seen else seen).add(one.number)
        return again


def _data(captures: Mapping[str, Path], sources: set[bytes]) -> list[Sent]:
    return sorted(
        (
            Sent(packet.at_s, path, tsn)
            for path, capture in captures.items()
            for packet in packets(capture)
            if packet.source in sources
            for tsn in tsns(packet.chunks)
        ),
        key=lambda one: one.at_s,
    )
