"""What is measured in a run: throughput of each association, load of the geostationary links, round trips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from slantpath.figures import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

BITS = 8
TABLES = ("flows", "links", "sky_paths")
"""The tables of a run that the study needs."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What is kept of a run."""

    throughput_bit_per_s: NDArray[np.float64]
    """Of each association."""
    failed: int
    """Associations that were not set up, or broke."""
    transfer_s: NDArray[np.float64]
    """From the setup of each association to its end, not-a-number if it goes on."""
    backup_bit_per_s: float
    """What all sources send over their second antennas: IP packets of DATA, of setup and heartbeats."""
    returned_bit_per_s: float
    """What all sinks send over all their antennas: IP packets of SACKs, of setup and heartbeats."""
    round_trip_s: NDArray[np.float64]
    """Of light alone, of each association's primary path, mean over the run."""

    @classmethod
    def of(
        cls, flows: pa.Table, links: pa.Table, sky_paths: pa.Table, warm_up_s: float, end_s: float
    ) -> RunFigures:
        """Take them from the tables of a run that was measured from the end of its warm-up to its end."""
        names = _texts(flows, "flow")
        link, direction = _texts(links, "link"), _texts(links, "direction")
        # The terminal is the first end of its link.
        of_backup = np.array([name.startswith("sky.source-") and name.endswith(".2") for name in link])
        of_sinks = np.array([name.startswith("sky.sink-") for name in link])

        def sent_bit_per_s(over: NDArray[np.bool_]) -> float:
            carried = numbers(links, "carried_bytes")[over & (direction == "forward")]
            return BITS * float(carried.sum()) / (end_s - warm_up_s)

        return cls(
            throughput_bit_per_s=np.nan_to_num(numbers(flows, "throughput_bit_per_s")),
            failed=sum(failure is not None for failure in flows.column("failure").to_pylist()),
            transfer_s=numbers(flows, "ended_s") - numbers(flows, "connected_s"),
            backup_bit_per_s=sent_bit_per_s(of_backup),
            returned_bit_per_s=sent_bit_per_s(of_sinks),
            round_trip_s=_round_trips(sky_paths, names, end_s),
        )

    @property
    def mean_bit_per_s(self) -> float:
        """The mean throughput of an association, that of one that failed counting for what it delivered."""
        return float(self.throughput_bit_per_s.mean())

    @property
    def returned_share(self) -> float:
        """What all sinks send for each bit that they deliver."""
        delivered = float(self.throughput_bit_per_s.sum())
        return self.returned_bit_per_s / delivered if delivered else 0.0


def _round_trips(sky_paths: pa.Table, flows: NDArray[np.object_], end_s: float) -> NDArray[np.float64]:
    """Give the mean round trip of each flow's first path, by how long each stretch of it lasted."""
    flow, link = _texts(sky_paths, "flow"), _texts(sky_paths, "link")
    at_s, one_way_s = numbers(sky_paths, "at_s"), numbers(sky_paths, "propagation_s")
    means = np.full(len(flows), np.nan)
    for place, name in enumerate(flows):
        rows = np.flatnonzero(flow == name)
        if not rows.size:
            continue
        rows = rows[link[rows] == min(link[rows])]
        lasted_s = np.diff(at_s[rows], append=max(end_s, float(at_s[rows][-1])))
        known = ~np.isnan(one_way_s[rows]) & (lasted_s > 0)
        if known.any():
            means[place] = 2 * np.average(one_way_s[rows][known], weights=lasted_s[known])
    return means


def _texts(table: pa.Table, column: str) -> NDArray[np.object_]:
    return np.array(table.column(column).cast(pa.string()).to_pylist(), dtype=object)
