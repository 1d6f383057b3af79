"""Claims M4, M7, F1, F2 and F5 once more: of the papers, of the simulation, and of the kernel's SCTP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slantpath.figures import numbers
from slantpath_studies.claims import Claim, Estimate, Finding, Part, about, less_than
from slantpath_studies.emulated import cases
from slantpath_studies.failover.findings import LIMIT_S
from slantpath_studies.multi_link.findings import RunFigures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from slantpath_studies.emulated.captured import Association

CLAIMS = {
    "F1": Claim("F1", "failover time, HIGH, 13 KB queue", "920 ms"),
    "F2": Claim("F2", "failover time, NONE, 13 KB queue", "about 560 ms"),
    "F5": Claim("F5", "3 and 6 KB: failover time at every load", "< 800 ms"),
    "M4": Claim("M4", "mean delay of retransmitted messages", "765 ms"),
    "M7": Claim("M7", "mean throughput at 1 % loss", "29 KByte/s"),
}
MILLI = 1e3
KBYTE = 1e-3
TICK_S = 0.010
"""The guests' timers: what differs by less is no finding."""


@dataclass(frozen=True, slots=True)
class Failover:
    """Figures of a run in which the primary path fails."""

    failover_s: float
    """From the failure to the first new message on the other path; NaN if there was none."""

    @classmethod
    def simulated(cls, failovers: pa.Table) -> Failover:
        """Take it from the tables of a run."""
        times = numbers(failovers, "failover_s")
        return cls(float(times[0]) if times.size else math.nan)

    @classmethod
    def emulated(cls, association: Association) -> Failover:
        """Take it from what the captures show."""
        known = -1
        for sent in association.sent:
            if sent.number > known:
                if sent.at_s >= cases.FAILURE_S and sent.path != cases.PATHS[0]:
                    return cls(sent.at_s - cases.FAILURE_S)
                known = sent.number
        return cls(math.nan)


@dataclass(frozen=True, slots=True)
class Transfer:
    """Figures of a run over a link that loses packets."""

    retransmitted_mean_s: float
    """Mean delay of the messages that were sent more than once, from the instant at which each was due."""
    throughput_bytes_per_s: float

    @classmethod
    def simulated(cls, messages: pa.Table) -> Transfer:
        """Take them from the tables of a run."""
        figures = RunFigures.of(messages, cases.LOSS_S)
        return cls(figures.retransmitted_mean_s, figures.throughput_bytes_per_s)

    @classmethod
    def emulated(cls, association: Association, cell: cases.Cell) -> Transfer:
        """Take them from what the captures show."""
        begin_s = association.begin_s(cell.every_s)
        again = association.retransmitted() & association.delivered_s.keys()
        delays = [association.delivered_s[number] - begin_s - number * cell.every_s for number in again]
        # As a run counts it: what has come while the source sent.
        end_s = begin_s + cell.seconds
        delivered = sum(at_s <= end_s for at_s in association.delivered_s.values())
        return cls(
            math.fsum(delays) / len(delays) if delays else math.nan, delivered * cell.size / cell.seconds
        )


@dataclass(frozen=True, slots=True)
class Observations:
    """The figures of every run, in the order of their numbers: of one clock."""

    failovers: Mapping[str, Sequence[Failover]]
    transfers: Sequence[Transfer]

    def failover(self, cell: str) -> Estimate:
        """Estimate a cell's failover time over the runs that failed over."""
        return Estimate.of([run.failover_s for run in self.failovers[cell] if not math.isnan(run.failover_s)])

    def slowest(self) -> str:
        """Name the cell of claim F5 that fails over last."""
        return max(
            (cell for cell in self.failovers if cell.split("/")[0] in cases.SMALL),
            key=lambda cell: self.failover(cell).mean,
        )

    def retransmitted(self) -> Estimate:
        """Estimate the mean delay of retransmitted messages."""
        return Estimate.of(
            [run.retransmitted_mean_s for run in self.transfers if not math.isnan(run.retransmitted_mean_s)]
        )

    def throughput(self) -> Estimate:
        """Estimate the throughput."""
        return Estimate.of([run.throughput_bytes_per_s for run in self.transfers])


def findings(real: Observations, simulated: Observations) -> list[Finding]:
    """Hold the kernel's runs against the claims; each remark has what the simulation gives."""

    def time(number: str, cell: str, published: float) -> Finding:
        ours = real.failover(cell)
        part = Part(f"failover time, {cell}", about(published), ours, "ms", MILLI)
        return Finding(
            CLAIMS[number],
            ours.text("ms", MILLI),
            (part,),
            f"simulated {simulated.failover(cell).text('ms', MILLI)}",
        )

    slowest, later = real.slowest(), simulated.slowest()
    small = [cell for cell in real.failovers if cell.split("/")[0] in cases.SMALL]
    delay, rate = real.retransmitted(), real.throughput()
    return [
        time("F1", cases.WORST, 0.920),
        time("F2", cases.BEST, 0.560),
        Finding(
            CLAIMS["F5"],
            f"at most {real.failover(slowest).text('ms', MILLI)} ({slowest})",
            [
                Part(f"failover time, {cell}", less_than(LIMIT_S), real.failover(cell), "ms", MILLI)
                for cell in small
            ],
            f"simulated at most {simulated.failover(later).text('ms', MILLI)} ({later})",
        ),
        Finding(
            CLAIMS["M4"],
            delay.text("ms", MILLI),
            (Part("mean delay", about(0.765), delay, "ms", MILLI),),
            f"simulated {simulated.retransmitted().text('ms', MILLI)}",
        ),
        Finding(
            CLAIMS["M7"],
            rate.text("KByte/s", KBYTE, 1),
            (Part("throughput", about(29e3), rate, "KByte/s", KBYTE),),
            f"simulated {simulated.throughput().text('KByte/s', KBYTE, 1)}",
        ),
    ]
