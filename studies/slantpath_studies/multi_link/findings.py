"""Claims M1 to M9 of the paper, and what our runs say to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slantpath.figures import numbers
from slantpath_studies.claims import (
    TOLERANCE,
    Accepted,
    Claim,
    Estimate,
    Extreme,
    Finding,
    Part,
    Role,
    about,
)
from slantpath_studies.multi_link import cases

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
    "M8": Claim("M8", "greatest throughput without loss, SCTP and TCP", "52 KByte/s", Role.INPUT),
    "M9": Claim("M9", "TCP's delivery delay at 1 % loss while nothing is lost (figure 8)", "about 250 ms"),
}

WAIT = "that is without the wait in the sender for cwnd"

NEAR = 40
"""Messages: more than are sent while one is lost, retransmitted and acknowledged."""

SETTLED = 200
"""The messages before are of slow start."""
SECOND = 30
"""Messages in a second."""
CALM_S = 0.250
"""D', to which the paper has TCP's delay reduce where nothing is lost."""

MILLI = 1e3
PERCENT = 1e2
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


EXACT = 0.002
"""As a part: the paper gives whole milliseconds."""

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
    calm_s: float
    """The least median delay over a second of messages, behind slow start: what figure 8 shows."""
    calm_share: float
    """Share of those messages that are delivered within a tenth of the published 250 ms."""
    delay_99_s: float
    """The delay below which are 99 % of the delivered messages."""
    longest_s: float
    """The longest delay of a delivered message."""
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
            calm_s=_calm(delay_s[SETTLED:]),
            calm_share=_mean((np.abs(delay_s[SETTLED:] / CALM_S - 1) <= TOLERANCE).astype(np.float64)),
            delay_99_s=float(np.quantile(delay_s[delivered], 0.99)) if delivered.any() else math.nan,
            longest_s=float(delay_s[delivered].max(initial=0.0)),
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


def _calm(delay_s: NDArray[np.float64]) -> float:
    """Give the least median over a second of messages; one that was not delivered is late."""
    if delay_s.size < SECOND:
        return math.nan
    waits = np.where(np.isnan(delay_s), np.inf, delay_s)
    return float(np.median(np.lib.stride_tricks.sliding_window_view(waits, SECOND), axis=1).min())


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
        _calm_delay(runs[cases.TCP]),
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


def delay_99(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the delay below which are 99 % of the messages."""
    return Estimate.of([run.delay_99_s for run in runs])


def longest(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the longest delay of a run."""
    return Estimate.of([run.longest_s for run in runs])


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
    # The formulas are about one loss at a time: of two close together one may be recovered sooner.
    isolated_s = min((run.isolated_least_s for run in runs), default=math.inf)
    least_s = min(run.lost_least_s for run in runs)
    remark = (
        f"{paper_s * MILLI:.1f} ms with the paper's dt = 30 ms, {scenario_s * MILLI:.1f} ms with the "
        f"scenario's {SCENARIO.message_interval_s * MILLI:.1f} ms; the least delay of a lost message without "
        f"another loss near it was {isolated_s * MILLI:.1f} ms in {len(runs)} runs, "
        f"of any {least_s * MILLI:.1f} ms"
    )
    return Finding(
        CLAIMS[number],
        f"{scenario_s * MILLI:.0f} ms, least {isolated_s * MILLI:.0f} ms",
        (
            Part(
                "formula with the paper's dt", about(published_s, EXACT), Estimate.exact(paper_s), "ms", MILLI
            ),
            Part(
                "least delay of an isolated loss, all runs",
                Accepted(scenario_s, about(published_s).high),
                Extreme(isolated_s, len(runs)),
                "ms",
                MILLI,
            ),
        ),
        remark,
    )


def _mean_delay(number: str, published_s: float, runs: Sequence[RunFigures]) -> Finding:
    estimate = retransmitted_mean(runs)
    remark = f"{recovery_mean(runs).text('ms', MILLI)} from the first transmission on, {WAIT}"
    part = Part("mean delay of retransmitted messages", about(published_s), estimate, "ms", MILLI)
    return Finding(CLAIMS[number], estimate.text("ms", MILLI), (part,), remark)


def _improvement(standard: Sequence[RunFigures], modified: Sequence[RunFigures]) -> Finding:
    estimate = improvement(standard, modified)
    from_first = recovery_improvement(standard, modified).text("ms", MILLI)
    remark = f"the paper computes 225 ms; {from_first} from the first transmission on, {WAIT}"
    part = Part("M4 less M5, run by run", about(0.238), estimate, "ms", MILLI)
    return Finding(CLAIMS["M6"], estimate.text("ms", MILLI), (part,), remark)


def _throughput(sctp: Sequence[RunFigures], tcp: Sequence[RunFigures]) -> Finding:
    return _both("M7", (throughput(sctp), 29e3), (throughput(tcp), 18e3))


def _greatest_throughput(sctp: Sequence[RunFigures], tcp: Sequence[RunFigures]) -> Finding:
    # Nothing is drawn at random without loss: one run is all runs.
    ours_sctp, ours_tcp = (Estimate.exact(runs[0].throughput_bytes_per_s) for runs in (sctp, tcp))
    remark = "an input: the window of 27 kB was chosen to give it"
    return _both("M8", (ours_sctp, 52e3), (ours_tcp, 52e3), remark)


def _both(
    number: str, sctp: tuple[Estimate, float], tcp: tuple[Estimate, float], remark: str = ""
) -> Finding:
    """Hold a throughput of each transport to the published one."""
    ours = f"{sctp[0].text('', KBYTE, 1).strip()} and {tcp[0].text('KByte/s', KBYTE, 1)}"
    parts = [
        Part(f"throughput, {name}", about(published), estimate, "KByte/s", KBYTE)
        for name, (estimate, published) in (("SCTP", sctp), ("TCP", tcp))
    ]
    return Finding(CLAIMS[number], ours, parts, remark)


def calm(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the delay of the calmest second."""
    return Estimate.of([run.calm_s for run in runs if math.isfinite(run.calm_s)])


def calm_share(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the share of messages that are delivered within a tenth of D'."""
    return Estimate.of([run.calm_share for run in runs])


def _calm_delay(tcp: Sequence[RunFigures]) -> Finding:
    estimate = calm(tcp)
    return Finding(
        CLAIMS["M9"],
        f"{estimate.text('ms', MILLI)} in the calmest second",
        (Part("median delay in the calmest second, TCP at 1 % loss", about(CALM_S), estimate, "ms", MILLI),),
        f"{calm_share(tcp).text('%', PERCENT, 1)} of the messages behind slow start are delivered within a "
        "tenth of 250 ms",
    )
