"""What is measured in a run: delay, jitter, loss and throughput by the paper's equations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from slantpath.figures import numbers
from slantpath_studies.ftp_qos import cases
from slantpath_studies.ftp_qos.processor_sharing import share

if TYPE_CHECKING:
    from slantpath_studies.ftp_qos.processor_sharing import Line

BITS = 8
TABLES = ("host_pairs", "links", "sessions")
"""The tables of a run that the study needs."""
SERVER, CLIENT = "server", "client"


@dataclass(frozen=True, slots=True)
class Controls:
    """What capped processor sharing makes of the same arrivals and sizes, whose mean is known."""

    throughput_bit_per_s: float
    full_share: float
    carried_bytes: float


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What is kept of a run."""

    delay_s: float
    """Equation 1: the mean over all packets that the client received."""
    jitter_s: float
    """The mean absolute difference of delays of packets received one after the other."""
    telescoped_jitter_s: float
    """Equation 2 as it is printed, in which all delays cancel but the last and the first."""
    least_delay_s: float
    loss: float
    """Equation 3: of the packets that the server sent, the part that the client did not receive."""
    throughput_bit_per_s: float
    """Equation 4: the mean over completed sessions of packet bytes over time from the first packet, a SYN, to
    the last; not-a-number if none was completed."""
    begun: int
    refused: int
    unfinished: int
    offered_bytes: float
    """The sizes of all sessions that began."""
    delivered_bytes: float
    utilisation: float
    """Of the link to the satellite."""
    waiting_packets: float
    """The mean of the queues at the edge and before that link."""
    waiting_s: float
    """By Little's law: how long a packet waits there."""
    controls: Controls

    @classmethod
    def of(cls, host_pairs: pa.Table, links: pa.Table, sessions: pa.Table, line: Line) -> RunFigures:
        """Take them from the tables of a run that began empty and ended after an hour."""
        sent, received, delay_s, change_s, first_s, last_s, least_s = _pair(host_pairs)
        begun_s, size_bytes = numbers(sessions, "begun_s"), numbers(sessions, "size_bytes")
        last_delivery_s = numbers(sessions, "last_delivery_s")
        delivered = numbers(sessions, "delivered_bytes")
        over = delivered >= size_bytes
        refused = _texts(sessions, "outcome") == "refused"
        packet_bytes = delivered[over] * cases.PACKET_BYTES / cases.SEGMENT_BYTES
        throughputs = BITS * packet_bytes / (last_delivery_s[over] - begun_s[over])
        waiting_packets, waiting_s, utilisation = _queues(links)
        shared = share(line, begun_s, size_bytes, cases.END_S)
        return cls(
            delay_s=delay_s,
            jitter_s=change_s,
            telescoped_jitter_s=(last_s - first_s) / (received - 1) if received > 1 else math.nan,
            least_delay_s=least_s,
            loss=1 - received / sent if sent else math.nan,
            throughput_bit_per_s=float(throughputs.mean()) if throughputs.size else math.nan,
            begun=len(begun_s),
            refused=int(refused.sum()),
            unfinished=int((~over & ~refused).sum()),
            offered_bytes=float(size_bytes.sum()),
            delivered_bytes=float(delivered.sum()),
            utilisation=utilisation,
            waiting_packets=waiting_packets,
            waiting_s=waiting_s,
            controls=Controls(shared.mean_bit_per_s, shared.full_share, shared.carried_bytes),
        )


def _pair(host_pairs: pa.Table) -> tuple[float, ...]:
    """Give the row of packets from server to client; zeros and not-a-numbers if no session began."""
    columns = ("sent_packets", "received_packets")
    delays = ("delay_mean_s", "delay_change_mean_s", "delay_first_s", "delay_last_s", "delay_min_s")
    here = (_texts(host_pairs, "from") == SERVER) & (_texts(host_pairs, "to") == CLIENT)
    if not here.any():
        return (0.0, 0.0, *(math.nan for _ in delays))
    return tuple(float(numbers(host_pairs, column)[here][0]) for column in (*columns, *delays))


def _queues(links: pa.Table) -> tuple[float, float, float]:
    """Give how many packets wait at edge and uplink, how long each does, and the use of the uplink."""
    forward = _texts(links, "direction") == "forward"
    link = _texts(links, "link")
    waiting = numbers(links, "queue_mean_packets")
    passed = numbers(links, "carried_packets")
    # A terminal with several antennas has a link of each.
    uplinks = np.array([name == "sky.london" or name.startswith("sky.london.") for name in link]) & forward
    edge = (link == "edge") & forward
    queues = [(float(np.nansum(waiting[each])), float(passed[each].sum())) for each in (edge, uplinks)]
    waiting_s = sum(mean * cases.END_S / count for mean, count in queues if count)
    utilisation = float(numbers(links, "utilisation_ratio")[uplinks].mean())
    return sum(mean for mean, _ in queues), waiting_s, utilisation


def _texts(table: pa.Table, column: str) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    return np.array(table.column(column).cast(pa.string()).to_pylist(), dtype=object)
