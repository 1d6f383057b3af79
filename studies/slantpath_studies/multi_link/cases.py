"""What is run: the scenario of section 4.2, and what is changed in it for each curve and each claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slantpath_studies import texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slantpath import Scenario
    from slantpath.running import Value

TCP = "tcp"
STANDARD = "sctp"
MODIFIED = "sctp-modified"
TCP_BULK = "tcp-bulk"
STANDARD_BULK = "sctp-bulk"

_BULK: Mapping[str, Value] = {
    "links.satellite.loss": "0 %",
    "flows.data.application": {"kind": "bulk", "message_size": "1000 B", "total": "unlimited"},
}
_TRANSPORTS: Mapping[str, Mapping[str, Value]] = {
    TCP: {"flows.data.transport": "tcp", "flows.data.profile": "sack"},
    STANDARD: {"flows.data.profile": "standard"},
    MODIFIED: {"flows.data.profile": "modified"},
}

CASES: Mapping[str, Mapping[str, Value]] = {
    **_TRANSPORTS,
    TCP_BULK: {**_TRANSPORTS[TCP], **_BULK},
    STANDARD_BULK: {**_TRANSPORTS[STANDARD], **_BULK},
}
"""What each case changes in the scenario. Only the first three draw anything at random."""

RANDOM_CASES = (TCP, STANDARD, MODIFIED)


@dataclass(frozen=True, slots=True)
class Variant:
    """One other choice for a parameter that the paper leaves open."""

    name: str
    about: str
    values: Mapping[str, Value] = field(default_factory=dict)


def _sctp(**values: Value) -> dict[str, Value]:
    return {
        f"sctp.{profile}.{key}": value
        for profile in ("standard", "modified")
        for key, value in values.items()
    }


VARIANTS: tuple[Variant, ...] = (
    Variant(
        "interval-30ms",
        "a message every 30 ms, as in the paper's arithmetic, not 30 KByte/s",
        {
            "flows.data.application": {
                "kind": "constant-rate",
                "message_size": "1000 B",
                "interval": "30 ms",
            }
        },
    ),
    Variant(
        "loss-one-way",
        "only the direction of the data loses packets",
        {"links.satellite.reverse.loss": "0 %"},
    ),
    Variant(
        "window-64k",
        "receive buffers of 64 KiB, not 27 kB",
        {**_sctp(receive_buffer="64 KiB"), "tcp.sack.receive_buffer": "64 KiB"},
    ),
    Variant(
        "send-buffer-32k",
        "send buffers of 32 KiB, not 64 KiB",
        {**_sctp(send_buffer="32 KiB"), "tcp.sack.send_buffer": "32 KiB"},
    ),
    Variant(
        "three-reports",
        "three reports of a loss, as the RFCs of today have it, not four",
        {**_sctp(fast_retransmit_threshold=3), "tcp.sack.duplicate_ack_threshold": 3},
    ),
    Variant(
        "tcp-of-today",
        "TCP with segments of 1460 bytes that counts acknowledged bytes",
        {"tcp.sack.mss": "1460 B", "tcp.sack.avoidance_increase": "byte-counting"},
    ),
    Variant(
        "cwnd-halved",
        "each fast retransmission of SCTP halves cwnd, as the RFCs demand",
        _sctp(fast_retransmit_window="halve"),
    ),
    Variant(
        "cwnd-halved-sack-each",
        "halved, and each packet is acknowledged",
        _sctp(fast_retransmit_window="halve", sack_frequency=1),
    ),
    Variant(
        "cwnd-halved-any-growth",
        "halved, and any new acknowledgement opens the window",
        _sctp(fast_retransmit_window="halve", cwnd_growth="any-new-acknowledgement"),
    ),
    Variant(
        "cwnd-halved-loss-one-way",
        "halved, and only the direction of the data loses packets",
        {**_sctp(fast_retransmit_window="halve"), "links.satellite.reverse.loss": "0 %"},
    ),
    Variant(
        "cwnd-halved-half-loss",
        "halved, and 0.5 % are lost, not 1 %",
        {**_sctp(fast_retransmit_window="halve"), "links.satellite.loss": "0.5 %"},
    ),
)


def scenario() -> Scenario:
    """Give the scenario of the study as it is compiled in."""
    return texts.scenario_of("multi-link")


def scenario_of(case: str, variant: Variant | None = None) -> Scenario:
    """Give the scenario of a case, with another choice for an open parameter if one is given."""
    values = dict(CASES[case])
    if variant is not None:
        values.update(variant.values)
    return scenario().with_values(values)
