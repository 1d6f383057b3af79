"""What is measured in a run: goodput, ramp, reactions to changes, what was lost and what retransmitted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slantpath.figures import numbers
from slantpath_studies.claims import Estimate
from slantpath_studies.long_paths import cases

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

PERCENT = 1e2
BITS = 8
FULL = 0.9
"""The part of what the link carries that a flow has to bring before its ramp is over."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What is kept of a run."""

    interval_s: float
    delivered_bytes: Mapping[str, NDArray[np.float64]]
    """Of each flow in each interval, from the start of the run on."""
    queue_losses: int
    """Packets for which the queue in the direction of the data had no room."""
    sent_again: int
    """Segments or chunks that were sent more than once."""
    needless: int
    """Those of them beyond what was lost on the path: at least so many were repeated in vain."""
    queue_mean_packets: float

    @classmethod
    def of(cls, flow_intervals: pa.Table, links: pa.Table) -> RunFigures:
        """Take them from the tables of a run."""
        names = flow_intervals.column("flow").cast(pa.string())
        delivered = {
            name: numbers(flow_intervals.filter(pc.equal(names, name)), "delivered_bytes")
            for name in sorted(names.unique().to_pylist())
        }
        first = flow_intervals.slice(0, 1)
        interval_s = float(numbers(first, "end_s")[0] - numbers(first, "start_s")[0])
        there = pc.and_(
            pc.equal(links.column("link").cast(pa.string()), "path"),
            pc.equal(links.column("direction").cast(pa.string()), "forward"),
        )
        path = links.filter(there)
        queue_losses, lost = (
            int(numbers(path, f"dropped_{reason}_packets")[0]) for reason in ("queue_full", "loss")
        )
        sent_again = int(numbers(flow_intervals, "retransmissions").sum())
        return cls(
            interval_s,
            delivered,
            queue_losses,
            sent_again,
            max(0, sent_again - queue_losses - lost),
            float(numbers(path, "queue_mean_packets")[0]),
        )

    def goodput(self, rate_bit_per_s: float, from_s: float, to_s: float, flow: str | None = None) -> float:
        """Give what one flow delivered, or all of them, in % of what the link carries."""
        first, end = round(from_s / self.interval_s), round(to_s / self.interval_s)
        chosen = self.delivered_bytes.values() if flow is None else [self.delivered_bytes[flow]]
        delivered = sum(float(one[first:end].sum()) for one in chosen)
        return PERCENT * BITS * delivered / (rate_bit_per_s * (to_s - from_s))

    def steady(self, path: cases.Path) -> float:
        """Give the goodput of the table: from 20 s to the end."""
        return self.goodput(path.rate_bit_per_s, cases.FROM_S, cases.DURATION_S)

    def ramp(self, path: cases.Path) -> float:
        """Give the round trips from the first departure until one has brought nine tenths of the link.

        The handshake is not part of it. It is infinite if that never came.
        """
        (delivered,) = self.delivered_bytes.values()
        begun = np.flatnonzero(delivered)
        if not begun.size:
            return math.inf
        departed_s = int(begun[0]) * self.interval_s - path.round_trip_s / 2
        full_s = self._full(path.rate_bit_per_s, path.round_trip_s, 0.0)
        return (full_s - departed_s) / path.round_trip_s

    def recovered_s(self, rate_bit_per_s: float, after_s: float, within_s: float) -> float:
        """Give the time from a change until one second has brought nine tenths of what the link carries.

        It is infinite if that did not come within the time given.
        """
        full_s = self._full(rate_bit_per_s, 1.0, after_s)
        return full_s - after_s if full_s <= after_s + within_s else math.inf

    def _full(self, rate_bit_per_s: float, length_s: float, after_s: float) -> float:
        """Give the end of the first time of such a length that brought nine tenths."""
        (delivered,) = self.delivered_bytes.values()
        first, width = round(after_s / self.interval_s), round(length_s / self.interval_s)
        so_far = np.concatenate([[0.0], np.cumsum(delivered[first:])])
        enough = np.flatnonzero(so_far[width:] - so_far[:-width] >= FULL * rate_bit_per_s * length_s / BITS)
        return (first + int(enough[0]) + width) * self.interval_s if enough.size else math.inf

    def fairness(self, rate_bit_per_s: float, from_s: float) -> tuple[float, float]:
        """Give Jain's index of the flows, and the least share in % of an equal one."""
        shares = [
            self.goodput(rate_bit_per_s, from_s, cases.DURATION_S, flow) for flow in self.delivered_bytes
        ]
        total = sum(shares)
        if not total:
            return math.nan, math.nan
        index = total**2 / (len(shares) * sum(share**2 for share in shares))
        return index, PERCENT * min(shares) * len(shares) / total


def estimate(values: Sequence[float], *, exact: bool = False) -> Estimate:
    """Estimate a mean. One that is the same in every run, or in which a run says `never`, has no interval."""
    mean = sum(values) / len(values)
    if exact or not math.isfinite(mean):
        return Estimate.exact(mean)
    return Estimate.of(values)
