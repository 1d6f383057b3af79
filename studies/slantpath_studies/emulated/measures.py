"""What a run shows, read from captures of the sender's links: of a simulation as of a kernel."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from slantpath_studies.emulated.cases import FAILURE_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ETHERNET, RAW = 1, 101
"""Link types of a capture."""
SECTION, INTERFACE, ENHANCED = 0x0A0D0D0A, 1, 6
"""Types of a block of pcapng."""
LITTLE = 0x1A2B3C4D
IF_TSRESOL, END = 9, 0
MICROSECONDS = 6
POWER_OF_TWO = 0x80
IPV4, SCTP = 4, 132
IPV4_HEADER, SCTP_HEADER, CHUNK_HEADER = 20, 12, 4
"""Bytes of each, without options."""
DATA = 0
BLOCK_FRAME = 12
"""Bytes of a block of pcapng around its body."""


class Sent(NamedTuple):
    """A DATA chunk that the sender has handed to a link."""

    at_s: float
    tsn: int


class Message(NamedTuple):
    """A message that has come."""

    number: int
    delay_s: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run shows."""

    failover_s: float = math.nan
    """From the failure to the first new DATA on the alternate path."""
    again_delay_s: float = math.nan
    """Mean delay, from SEND to delivery, of the messages that were sent again."""
    again: int = 0
    """Messages that were sent again."""
    throughput_byte_per_s: float = math.nan
    """User data that came, over the time from the first SEND to the last delivery."""
    late_max_s: float = 0.0
    """How late a packet left the emulation at most."""

    def text(self) -> str:
        """Give it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Read what `text` gave."""
        return cls(**json.loads(text))


def failover_s(primary: Sequence[Sent], alternate: Sequence[Sent]) -> float:
    """Measure from the failure to the first DATA that is new on the alternate path; nan if there is none."""
    steps = sorted([*((sent, False) for sent in primary), *((sent, True) for sent in alternate)])
    newest: int | None = None
    for sent, by_alternate in steps:
        is_new = newest is None or _is_behind(newest, sent.tsn)
        if is_new and by_alternate and sent.at_s > FAILURE_S:
            return sent.at_s - FAILURE_S
        if is_new:
            newest = sent.tsn
    return math.nan


def sent_again(sent: Sequence[Sent]) -> set[int]:
    """List the messages that were sent more than once, numbered from 0: each is one chunk, in order."""
    if not sent:
        return set()
    first = sent[0].tsn
    counts: dict[int, int] = {}
    for each in sent:
        number = (each.tsn - first) % (1 << 32)
        counts[number] = counts.get(number, 0) + 1
    return {number for number, count in counts.items() if count > 1}


def lossy(messages: Sequence[Message], again: set[int], size: int, took_s: float) -> Mapping[str, float]:
    """Give the figures of a run that loses packets, as `Figures` names them."""
    delays = [message.delay_s for message in messages if message.number in again]
    return {
        "again": len(delays),
        "again_delay_s": sum(delays) / len(delays) if delays else math.nan,
        "throughput_byte_per_s": size * len(messages) / took_s if took_s > 0 else math.nan,
    }


def data_of(capture: bytes, source: str, port: int | None = None) -> list[Sent]:
    """List the DATA chunks that an address has sent, in the order of the capture.

    With a port only those to it: an association of an earlier run may still retransmit.
    """
    address = bytes(int(part) for part in source.split("."))
    found = []
    for at_s, packet in packets(capture):
        if (
            len(packet) < IPV4_HEADER
            or packet[0] >> 4 != IPV4
            or packet[9] != SCTP
            or packet[12:16] != address
        ):
            continue
        segment = packet[4 * (packet[0] & 15) :]
        if len(segment) >= SCTP_HEADER and port in {None, struct.unpack_from("!H", segment, 2)[0]}:
            found += [Sent(at_s, tsn) for tsn in _tsns(segment)]
    return found


def packets(capture: bytes) -> Iterator[tuple[float, bytes]]:
    """List the packets of a pcapng file (little-endian), from their IP headers on, with their instants."""
    links: list[tuple[int, float]] = []
    at = 0
    while at + BLOCK_FRAME <= len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if length < BLOCK_FRAME or at + length > len(capture):
            break
        body = capture[at + 8 : at + length - 4]
        if kind == SECTION:
            links = []
            if struct.unpack_from("<I", body)[0] != LITTLE:
                message = "a capture of another byte order"
                raise ValueError(message)
        elif kind == INTERFACE:
            links.append((struct.unpack_from("<H", body)[0], _resolution(body[8:])))
        elif kind == ENHANCED:
            place, high, low, captured = struct.unpack_from("<IIII", body)
            link, resolution_s = links[place]
            packet = body[20 : 20 + captured]
            yield ((high << 32) + low) * resolution_s, packet[14:] if link == ETHERNET else packet
        at += length


def _resolution(options: bytes) -> float:
    """Give the seconds of a unit of an interface's time."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("<HH", options, at)
        if code == END:
            break
        if code == IF_TSRESOL:
            value = options[at + 4]
            return 2.0 ** -(value & ~POWER_OF_TWO) if value & POWER_OF_TWO else 10.0**-value
        at += 4 + (length + 3) // 4 * 4
    return 10.0**-MICROSECONDS


def _tsns(packet: bytes) -> Iterator[int]:
    at = SCTP_HEADER
    while at + CHUNK_HEADER <= len(packet):
        kind, _, length = struct.unpack_from("!BBH", packet, at)
        if length < CHUNK_HEADER:
            return
        if kind == DATA and at + 8 <= len(packet):
            yield struct.unpack_from("!I", packet, at + 4)[0]
        at += (length + 3) // 4 * 4


def _is_behind(former: int, tsn: int) -> bool:
    """Tell if a TSN comes after another one (serial number arithmetic)."""
    return 0 < (tsn - former) % (1 << 32) < 1 << 31
