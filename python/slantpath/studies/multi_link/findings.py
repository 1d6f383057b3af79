"""Claims M1 to M9 of the paper, and what our runs say to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slantpath.figures import numbers
from slantpath.studies.claims import Claim, Estimate, Finding, verdict
from slantpath.studies.multi_link import cases

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLAIMS = {
    "M1": Claim("M1", "least delay of a lost message, TCP: 3D' + 4dt", "870 ms"),
    "M2": Claim("M2", "least delay of a lost message, SCTP: 2D' + D'' + 4dt + te''", "708 ms"),
    "M3": Claim("M3", "the same, gap reports over the backup: D' + 2D'' + 4dt + te''", "483 ms"),
    "M4": Claim("M4", "mean delay of retransmitted messages, SCTP", "765 ms"),
    "M5": Claim("M5", "the same, gap reports over the backup", "527 ms"),
    "M6": Claim("M6", "improvement, M4 - M5", "238 ms"),
    "M7": Claim("M7", "mean throughput at 1 % loss, SCTP and TCP", "29 and 18 KByte/s"),
    "M8": Claim("M8", "greatest throughput without loss, SCTP and TCP", "52 KByte/s"),
    "M9": Claim("M9", "median delivery delay without loss, SCTP and TCP", "about 250 ms"),
}

WAIT = "that is without the wait in the sender for cwnd"

NEAR = 40
"""Messages: more than are sent while one is lost, retransmitted and acknowledged."""

MILLI = 1e3
KBYTE = 1e-3
"""KByte are 1,000 bytes here: at that size a message takes the paper's 62.5 ms on the backup link."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The numbers of the scenario that the paper's formulas need."""

    satellite_delay_s: float
    backup_delay_s: float
    backup_rate_bit_per_s: float
    message_bits: float
    message_interval_s: float

    @property
    def emission_s(self) -> float:
        """Time to emit a message on the backup link, without any header: the paper's te''."""
        return self.message_bits / self.backup_rate_bit_per_s

    def tcp_bound_s(self) -> float:
        """Equation (1)."""
        return 3 * self.satellite_delay_s + 4 * self.message_interval_s

    def standard_bound_s(self) -> float:
        """Equation (2)."""
        return (
            2 * self.satellite_delay_s + self.backup_delay_s + 4 * self.message_interval_s + self.emission_s
        )

    def modified_bound_s(self) -> float:
        """Equation (3)."""
        return (
            self.satellite_delay_s + 2 * self.backup_delay_s + 4 * self.message_interval_s + self.emission_s
        )


ROUNDING_S = 0.001
"""The paper gives whole milliseconds."""

PAPER = Setting(0.250, 0.025, 128e3, 8e3, 0.030)
"""The paper's own arithmetic: 870, 707.5 and 482.5 ms."""
SCENARIO = Setting(0.250, 0.025, 128e3, 8e3, 1 / 30)
"""The scenario's: 1,000 bytes at 30,000 bytes a second."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What the claims need to know of one run."""

    retransmitted: int
    """Messages that were sent more than once and delivered."""
    retransmitted_mean_s: float
    """Their mean delay, from SEND."""
    recovery_mean_s: float
    """Their mean delay from the first transmission: without the wait for the window."""
    lost_least_s: float
    """The least delay of a message that only its retransmission delivered."""
    isolated_least_s: float
    """The same of those without another loss near them, which is what the formulas are about."""
    median_s: float
    """Median delay of all messages: slow start does not weigh in it."""
    throughput_bytes_per_s: float

    @classmethod
    def of(cls, messages: pa.Table, duration_s: float) -> RunFigures:
        """Take them from the messages of one run."""
        delay_s = numbers(messages, "delay_s")
        delivered = ~np.isnan(delay_s)
        again = delivered & (numbers(messages, "transmissions") > 1)
        lost = again & _delivered_by_retransmission(messages)
        recovery_s = numbers(messages, "delivered_s") - numbers(messages, "first_transmitted_s")
        begin_s = float(numbers(messages, "sent_s")[0])
        delivered_bytes = float(numbers(messages, "size_bytes")[delivered].sum())
        return cls(
            retransmitted=int(again.sum()),
            retransmitted_mean_s=_mean(delay_s[again]),
            recovery_mean_s=_mean(recovery_s[again]),
            lost_least_s=_least(delay_s[lost]),
            isolated_least_s=_least(delay_s[lost & _isolated(again)]),
            median_s=float(np.median(delay_s[delivered])),
            throughput_bytes_per_s=delivered_bytes / (duration_s - begin_s),
        )


def _delivered_by_retransmission(messages: pa.Table) -> NDArray[np.bool_]:
    """Tell which messages the last transmission delivered, not an earlier one that was merely late."""
    over_satellite = pc.equal(messages.column("last_path").cast(pa.string()), "satellite").to_numpy()
    link_delay_s = np.where(over_satellite, SCENARIO.satellite_delay_s, SCENARIO.backup_delay_s)
    waited_s = numbers(messages, "delivered_s") - numbers(messages, "retransmitted_s")
    return np.asarray(waited_s >= link_delay_s)


def _isolated(marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which messages have no other marked one near them."""
    places = np.flatnonzero(marked)
    far = np.diff(places, prepend=-NEAR, append=marked.size + NEAR) > NEAR
    isolated = np.zeros(marked.size, dtype=np.bool_)
    isolated[places] = far[:-1] & far[1:]
    return isolated


def _least(sample: NDArray[np.float64]) -> float:
    return float(sample.min()) if sample.size else float("inf")


def _mean(sample: NDArray[np.float64]) -> float:
    return float(sample.mean()) if sample.size else float("nan")


Observations = Mapping[str, Sequence[RunFigures]]
"""The runs of each case, in the order of their numbers."""


def findings(runs: Observations) -> list[Finding]:
    """Hold the runs against the claims."""
    return [
        _bound("M1", PAPER.tcp_bound_s(), SCENARIO.tcp_bound_s(), 0.870, runs[cases.TCP]),
        _bound("M2", PAPER.standard_bound_s(), SCENARIO.standard_bound_s(), 0.708, runs[cases.STANDARD]),
        _bound("M3", PAPER.modified_bound_s(), SCENARIO.modified_bound_s(), 0.483, runs[cases.MODIFIED]),
        _mean_delay("M4", 0.765, runs[cases.STANDARD]),
        _mean_delay("M5", 0.527, runs[cases.MODIFIED]),
        _improvement(runs[cases.STANDARD], runs[cases.MODIFIED]),
        _throughput(runs[cases.STANDARD], runs[cases.TCP]),
        _greatest_throughput(runs[cases.STANDARD_BULK], runs[cases.TCP_BULK]),
        _lossless_delay(runs[cases.STANDARD_LOSSLESS], runs[cases.TCP_LOSSLESS]),
    ]


def retransmitted_mean(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the mean delay of retransmitted messages. A run without any says nothing."""
    return Estimate.of([run.retransmitted_mean_s for run in runs if run.retransmitted])


def recovery_mean(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the same from the first transmission on."""
    return Estimate.of([run.recovery_mean_s for run in runs if run.retransmitted])


def throughput(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the mean throughput."""
    return Estimate.of([run.throughput_bytes_per_s for run in runs])


def improvement(standard: Sequence[RunFigures], modified: Sequence[RunFigures]) -> Estimate:
    """Estimate M4 - M5 from pairs of runs that lost the same packets first."""
    pairs = [(s, m) for s, m in zip(standard, modified, strict=True) if s.retransmitted and m.retransmitted]
    return Estimate.of([s.retransmitted_mean_s - m.retransmitted_mean_s for s, m in pairs])


def recovery_improvement(standard: Sequence[RunFigures], modified: Sequence[RunFigures]) -> Estimate:
    """Estimate the same from the first transmission on."""
    pairs = [(s, m) for s, m in zip(standard, modified, strict=True) if s.retransmitted and m.retransmitted]
    return Estimate.of([s.recovery_mean_s - m.recovery_mean_s for s, m in pairs])


def _bound(
    number: str, paper_s: float, scenario_s: float, published_s: float, runs: Sequence[RunFigures]
) -> Finding:
    least_s = min(run.lost_least_s for run in runs)
    isolated_s = min(run.isolated_least_s for run in runs)
    holds = abs(paper_s - published_s) < ROUNDING_S and least_s >= scenario_s
    remark = (
        f"{paper_s * MILLI:.1f} ms with the paper's dt = 30 ms, {scenario_s * MILLI:.1f} ms with the "
        f"scenario's {SCENARIO.message_interval_s * MILLI:.1f} ms; the least delay of a lost message in "
        f"{len(runs)} runs was {least_s * MILLI:.1f} ms, of one without another loss near it "
        f"{isolated_s * MILLI:.1f} ms"
    )
    ours = f"{scenario_s * MILLI:.0f} ms, least {least_s * MILLI:.0f} ms"
    return Finding(CLAIMS[number], ours, verdict(agrees=holds), remark)


def _mean_delay(number: str, published_s: float, runs: Sequence[RunFigures]) -> Finding:
    estimate = retransmitted_mean(runs)
    agrees = estimate.agrees_with(published_s)
    remark = f"{recovery_mean(runs).text('ms', MILLI)} from the first transmission on, {WAIT}"
    return Finding(CLAIMS[number], estimate.text("ms", MILLI), verdict(agrees=agrees), remark)


def _improvement(standard: Sequence[RunFigures], modified: Sequence[RunFigures]) -> Finding:
    estimate = improvement(standard, modified)
    agrees = estimate.agrees_with(0.238)
    from_first = recovery_improvement(standard, modified).text("ms", MILLI)
    remark = f"the paper computes 225 ms; {from_first} from the first transmission on, {WAIT}"
    return Finding(CLAIMS["M6"], estimate.text("ms", MILLI), verdict(agrees=agrees), remark)


def _throughput(sctp: Sequence[RunFigures], tcp: Sequence[RunFigures]) -> Finding:
    ours_sctp, ours_tcp = throughput(sctp), throughput(tcp)
    agrees = ours_sctp.agrees_with(29e3) and ours_tcp.agrees_with(18e3)
    ours = f"{ours_sctp.text('', KBYTE, 1).strip()} and {ours_tcp.text('KByte/s', KBYTE, 1)}"
    return Finding(CLAIMS["M7"], ours, verdict(agrees=agrees))


def _greatest_throughput(sctp: Sequence[RunFigures], tcp: Sequence[RunFigures]) -> Finding:
    # Nothing is drawn at random without loss: one run is all runs.
    ours_sctp, ours_tcp = (Estimate.exact(runs[0].throughput_bytes_per_s) for runs in (sctp, tcp))
    agrees = ours_sctp.agrees_with(52e3) and ours_tcp.agrees_with(52e3)
    ours = f"{ours_sctp.text('', KBYTE, 1).strip()} and {ours_tcp.text('KByte/s', KBYTE, 1)}"
    return Finding(CLAIMS["M8"], ours, verdict(agrees=agrees))


def _lossless_delay(sctp: Sequence[RunFigures], tcp: Sequence[RunFigures]) -> Finding:
    ours_sctp, ours_tcp = (Estimate.exact(runs[0].median_s) for runs in (sctp, tcp))
    agrees = ours_sctp.agrees_with(0.250) and ours_tcp.agrees_with(0.250)
    ours = f"{ours_sctp.mean * MILLI:.1f} and {ours_tcp.mean * MILLI:.1f} ms"
    return Finding(CLAIMS["M9"], ours, verdict(agrees=agrees))
