"""What is measured in a run: bands, windows, queues and losses of the left gateway over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slantpath.figures import numbers
from slantpath_studies.soip.cases import STEP_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slantpath.store import Record
    from slantpath_studies.soip.cases import Case

ETHERNET_BYTES = 18
BEGUN_S = 35
"""Links are aligned for good by then."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What is kept of a run, each array by intervals."""

    interval_s: float
    refused: NDArray[np.float64]
    """Messages that the transmission queue had no room for."""
    arrived: NDArray[np.float64]
    """Messages that M2PA gave to MTP3 at the right gateway."""
    repeated: NDArray[np.float64]
    """DATA chunks that were retransmitted."""
    handed_over: NDArray[np.float64]
    """Messages given to SCTP, those of M2PA itself among them."""
    cwnd_bytes: NDArray[np.float64]
    outstanding_bytes: NDArray[np.float64]
    ethernet_bit_per_s: NDArray[np.float64]
    """What the terminal sends, frames of Ethernet."""
    srtt_s: NDArray[np.float64]
    outages: int
    """How often the links of M2PA were out of service under load."""
    delay_max_s: float
    allocation_s: float | None
    """T_ALL: from the request of the left terminal for more, after the step, until it had more."""

    @classmethod
    def of(cls, case: Case, record: Record) -> RunFigures:
        """Take them from the tables of a run."""
        associations = _where(record.tables["association_intervals"], host="sg-a")
        links = record.tables["signalling_link_intervals"]
        left, right = (_trunks(links, point) for point in ("sg-a", "sg-b"))
        satellite = _where(record.tables["link_intervals"], link="satellite", direction="forward")
        starts = numbers(satellite, "start_s")
        interval_s = float(starts[1] - starts[0])
        frames = numbers(satellite, "carried_bytes") + ETHERNET_BYTES * numbers(satellite, "carried_packets")

        def summed(table: pa.Table, column: str) -> NDArray[np.float64]:
            places = np.rint(numbers(table, "start_s") / interval_s).astype(int)
            values = np.nan_to_num(numbers(table, column))
            return np.bincount(places, values, minlength=len(starts))[: len(starts)].astype(np.float64)

        events = record.tables["signalling_events"]
        lost = pc.and_(
            pc.equal(events.column("event").cast(pa.string()), "unavailable"),
            pc.starts_with(pc.fill_null(events.column("link").cast(pa.string()), ""), "trunk"),
        )
        outages = [at for at in numbers(events.filter(lost), "at_s") if BEGUN_S < at < case.stop_s]
        delays = np.nan_to_num(numbers(record.tables["signalling_load"], "delay_max_s"))
        count = max(1, len(set(associations.column("association").cast(pa.string()).to_pylist())))
        return cls(
            interval_s=interval_s,
            refused=summed(left, "refused_messages"),
            arrived=summed(right, "received_messages"),
            repeated=summed(associations, "retransmissions"),
            handed_over=summed(associations, "sent_messages"),
            cwnd_bytes=summed(associations, "cwnd_bytes"),
            outstanding_bytes=summed(associations, "outstanding_bytes"),
            ethernet_bit_per_s=8 * frames / interval_s,
            srtt_s=summed(associations, "srtt_s") / count,
            outages=len(outages),
            delay_max_s=float(delays.max(initial=0.0)),
            allocation_s=_allocation_s(record.tables.get("access")),
        )

    def between(self, values: NDArray[np.float64], from_s: float, to_s: float) -> NDArray[np.float64]:
        """Give the part of an array that lies between two times."""
        return values[round(from_s / self.interval_s) : round(to_s / self.interval_s)]

    def ethernet_kbit(self, from_s: float, to_s: float) -> float:
        """Give the mean band that the terminal uses."""
        return float(self.between(self.ethernet_bit_per_s, from_s, to_s).mean()) / 1e3

    def congested_s(self, case: Case, from_s: float) -> float:
        """Give the time from the beginning of a load to the last message for which there was no room."""
        refused = np.flatnonzero(self.between(self.refused, from_s, case.stop_s))
        return float((refused[-1] + 1) * self.interval_s) if len(refused) else 0.0

    def loss(self, case: Case, from_s: float, to_s: float) -> float:
        """Give the share of the offered messages that did not arrive; what is on its way counts."""
        offered = sum(case.offered(at) for at in np.arange(from_s, to_s, self.interval_s)) * self.interval_s
        return max(0.0, 1.0 - float(self.between(self.arrived, from_s, to_s).sum()) / offered)


def _where(table: pa.Table, **texts: str) -> pa.Table:
    for column, text in texts.items():
        table = table.filter(pc.equal(table.column(column).cast(pa.string()), text))
    return table


def _trunks(table: pa.Table, point: str) -> pa.Table:
    own = _where(table, point=point)
    return own.filter(pc.starts_with(own.column("link").cast(pa.string()), "trunk"))


def _allocation_s(access: pa.Table | None) -> float | None:
    """Find the time from the first request for more behind the step until a look finds more."""
    if access is None or not len(access):
        return None
    left = _where(access, link="satellite", direction="forward")
    at, asked, had = (numbers(left, column) for column in ("at_s", "asked_bit_per_s", "allocated_bit_per_s"))
    behind = np.flatnonzero((at >= STEP_S) & (asked > had))
    if not len(behind):
        return None
    requested = behind[0]
    more = np.flatnonzero(had[requested:] > had[requested])
    return float(at[requested + more[0]] - at[requested]) if len(more) else None
