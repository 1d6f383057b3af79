"""Claims F1 to F8 of the paper, and what our runs say to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slantpath.figures import numbers
from slantpath_studies.claims import (
    Claim,
    Estimate,
    Finding,
    Part,
    about,
    combined,
    less_than,
    more_than,
    none,
)
from slantpath_studies.failover import cases

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLAIMS = {
    "F1": Claim("F1", "failover time, HIGH, 13 KB queue", "920 ms (RTO 240 ms)"),
    "F2": Claim("F2", "failover time, NONE, 13 KB queue", "about 560 ms"),
    "F3": Claim("F3", "13 KB: HIGH over NONE, failover and largest transfer time", "> +50 %, almost +40 %"),
    "F4": Claim("F4", "13 KB: failover time at MEDIUM and HIGH", "well above 850 ms"),
    "F5": Claim("F5", "3 and 6 KB: failover time at every load; at 3 KB", "< 800 ms; no effect of load"),
    "F6": Claim(
        "F6", "13 KB: constant-rate cross traffic below capacity, over NONE", "no significant effect"
    ),
    "F7": Claim("F7", "delay of T3-rtx's restart at each timeout, HIGH, 13 KB", "about 80 ms"),
    "F8": Claim("F8", "RTO.Initial 80 ms, not 250, at NONE, 13 KB", "+180 ms, +32 %"),
}

FAILURE_S = 30.0
"""What the scenario says."""
WINDOW_S = 20.0
"""Every failover is over by then, or does not happen."""
PRIMARY = "primary"
MILLI = 1e3
PERCENT = 1e2
TOLERABLE = 0.05
"""A change of so small a part is no effect."""
LIMIT_S = 0.800
"""ITU-T's limit for a changeover."""
MORE_THAN, ALMOST = 0.50, 0.40
"""F3."""
WELL_ABOVE_S = 0.850
"""F4."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What the claims need to know of one run."""

    failover_s: float
    """From the failure to the first new message on another path."""
    inactive_s: float
    """From the failure to the notification that the primary path is inactive."""
    transfer_s: float
    """Largest transfer time of an MSU during the failover."""
    rto_s: float
    """RTO of the primary path at its first timeout after the failure."""
    timeouts: int
    """Timeouts of the primary path until the failover."""
    restart_s: float
    """Mean delay between such a timeout and the next start of the timer."""
    lost: int
    """MSUs that never arrived although their flow went on."""

    @classmethod
    def of(cls, timeline: pa.Table, messages: pa.Table) -> RunFigures:
        """Take them from the timeline and the messages of one run."""
        steps = _steps(timeline, FAILURE_S, FAILURE_S + WINDOW_S)
        first = [at for at, path, event, _ in steps if event == "new data" and path != PRIMARY]
        inactive = [at for at, path, event, _ in steps if event == "inactive" and path == PRIMARY]
        end_s = min([*first, FAILURE_S + WINDOW_S])
        expired = [
            (at, rto)
            for at, path, event, rto in steps
            if event == "T3-rtx expired" and path == PRIMARY and at <= end_s
        ]
        started = [at for at, path, event, _ in steps if event == "T3-rtx started" and path == PRIMARY]
        delays = [
            min((at for at in started if at >= expiry), default=math.nan) - expiry
            for expiry, _ in expired[:-1]
        ]
        return cls(
            failover_s=first[0] - FAILURE_S if first else math.nan,
            inactive_s=inactive[0] - FAILURE_S if inactive else math.nan,
            transfer_s=_largest_transfer(messages, end_s),
            rto_s=expired[0][1] if expired else math.nan,
            timeouts=len(expired),
            restart_s=float(np.nanmean(delays)) if delays and not np.isnan(delays).all() else math.nan,
            lost=int(np.isnan(numbers(messages, "delivered_s")[:-LAST]).sum()),
        )


LAST = 400
"""Messages that the end of the run may have cut off."""


def _steps(timeline: pa.Table, begin_s: float, end_s: float) -> list[tuple[float, str, str, float]]:
    at_s = numbers(timeline, "at_s")
    begin, end = np.searchsorted(at_s, (begin_s, end_s))
    rows = timeline.slice(int(begin), int(end - begin))
    texts = [rows.column(name).cast(pa.string()).to_pylist() for name in ("path", "event")]
    return list(zip(at_s[begin:end].tolist(), *texts, numbers(rows, "rto_s").tolist(), strict=True))


def _largest_transfer(messages: pa.Table, end_s: float) -> float:
    sent_s, delivered_s = numbers(messages, "sent_s"), numbers(messages, "delivered_s")
    during = (delivered_s >= FAILURE_S) & (sent_s <= end_s)
    return float((delivered_s - sent_s)[during].max()) if during.any() else math.nan


WARM_UP_S = 10.0
"""What happens before is that of the start: slow start, and an RTO that has seen few round trips."""


@dataclass(frozen=True, slots=True)
class CostFigures:
    """What a run shows in which no path fails for good. Counts are of an hour, without the warm-up."""

    failovers: float
    """Times that new data moved to another path."""
    inactive: float
    """Times that the primary path was declared inactive."""
    timeouts: float
    """Expirations of T3-rtx on the primary path."""
    again: float
    """Share of the messages that were transmitted more than once."""
    transfer_p99_s: float
    transfer_max_s: float
    lost: int
    """MSUs that never arrived although their flow went on."""
    at_start: int
    """Failovers during the warm-up, as a count."""

    @classmethod
    def of(cls, timeline: pa.Table, messages: pa.Table, duration_s: float) -> CostFigures:
        """Take them from one run."""
        paths, events = (timeline.column(name).cast(pa.string()) for name in ("path", "event"))
        primary = pc.equal(paths, PRIMARY)
        is_warm = pc.greater_equal(timeline.column("at_s"), WARM_UP_S)

        def count(event: str, where: pa.ChunkedArray) -> int:
            return int(pc.sum(pc.and_(pc.equal(events, event), where)).as_py() or 0)

        def an_hour(event: str, on_primary: pa.ChunkedArray) -> float:
            return count(event, pc.and_(on_primary, is_warm)) * 3600 / (duration_s - WARM_UP_S)

        elsewhere = pc.invert(primary)
        measured = messages.filter(pc.greater_equal(messages.column("sent_s"), WARM_UP_S))
        delays: NDArray[np.float64] = numbers(measured, "delay_s")
        return cls(
            failovers=an_hour("new data", elsewhere),
            inactive=an_hour("inactive", primary),
            timeouts=an_hour("T3-rtx expired", primary),
            again=float((numbers(measured, "transmissions") > 1).mean()),
            transfer_p99_s=float(np.nanquantile(delays, 0.99)),
            transfer_max_s=float(np.nanmax(delays)),
            lost=int(np.isnan(delays[:-LAST]).sum()),
            at_start=count("new data", pc.and_(elsewhere, pc.invert(is_warm))),
        )


Observations = Mapping[str, Sequence[RunFigures]]
"""The runs of each case, in the order of their numbers."""


def estimate(runs: Sequence[RunFigures], of: Callable[[RunFigures], float]) -> Estimate:
    """Estimate a figure over the runs that have it."""
    return Estimate.of([value for value in map(of, runs) if not math.isnan(value)])


def failover_s(run: RunFigures) -> float:
    """Give the failover time."""
    return run.failover_s


def transfer_s(run: RunFigures) -> float:
    """Give the largest transfer time during the failover."""
    return run.transfer_s


def failover(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the failover time."""
    return estimate(runs, failover_s)


def transfer(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the largest transfer time during the failover."""
    return estimate(runs, transfer_s)


def median(runs: Sequence[RunFigures], of: Callable[[RunFigures], float]) -> float:
    """Give the median over the runs that have a figure: the mean of a skewed distribution lies above it."""
    return float(np.nanmedian([of(run) for run in runs]))


def with_median(runs: Sequence[RunFigures], of: Callable[[RunFigures], float]) -> str:
    """Give mean, interval and median in milliseconds."""
    return f"{estimate(runs, of).text('ms', MILLI)}, median {median(runs, of) * MILLI:.0f}"


def rto(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate the RTO at the failure."""
    return estimate(runs, lambda run: run.rto_s)


def restart(runs: Sequence[RunFigures]) -> Estimate:
    """Estimate how late T3-rtx is restarted."""
    return estimate(runs, lambda run: run.restart_s)


def increase(
    runs: Sequence[RunFigures], base: Sequence[RunFigures], of: Callable[[RunFigures], float]
) -> Estimate:
    """Estimate by which part a figure grows, from runs of one number, whose random streams are the same."""
    pairs = [(of(one), of(other)) for one, other in zip(runs, base, strict=True)]
    return Estimate.of([one / other - 1 for one, other in pairs if not math.isnan(one + other)])


def percent(change: Estimate) -> str:
    """Give a change in percent."""
    return change.text("%", PERCENT) if change.mean < 0 else f"+{change.text('%', PERCENT)}"


def findings(runs: Observations) -> list[Finding]:
    """Hold the runs against the claims; each remark tells the same of an idle alternate path."""
    found = []
    for number, claim in CLAIMS.items():
        ours, parts = CHECKS[number](runs, "")
        remark = ""
        if any(case.startswith(f"{cases.IDLE}/") for case in runs) and number in WITH_IDLE:
            other, beside = CHECKS[number](runs, f"{cases.IDLE}/")
            remark = f"with an idle alternate path {other}: {_together(beside)}"
        found.append(Finding(claim, ours, parts, remark))
    return found


def by_link(runs: Observations, reading: str) -> dict[str, str]:
    """Give what each claim has in another reading, and the verdict on that."""
    told = {}
    for number, check in CHECKS.items():
        ours, parts = check(runs, reading)
        told[number] = f"{ours}: {_together(parts)}"
    return told


def _together(parts: Sequence[Part]) -> str:
    return combined([part.outcome.verdict for part in parts]).value


Checked = tuple[str, Sequence[Part]]
"""What we have in words, and the figures that the verdict rests on."""


def _time(figure: str, seconds: Estimate, published: float) -> Part:
    return Part(figure, about(published), seconds, "ms", MILLI)


def _f1(runs: Observations, reading: str) -> Checked:
    worst = runs[reading + cases.WORST]
    ours = f"{with_median(worst, failover_s)} (RTO {rto(worst).text('ms', MILLI)})"
    return ours, (
        _time("failover time, 13/HIGH", failover(worst), 0.920),
        _time("RTO at the failure, 13/HIGH", rto(worst), 0.240),
    )


def _f2(runs: Observations, reading: str) -> Checked:
    best = runs[reading + cases.BEST]
    return with_median(best, failover_s), (_time("failover time, 13/NONE", failover(best), 0.560),)


def _f3(runs: Observations, reading: str) -> Checked:
    worst, best = runs[reading + cases.WORST], runs[reading + cases.BEST]
    time, largest = increase(worst, best, failover_s), increase(worst, best, transfer_s)
    return f"{percent(time)}, {percent(largest)}", (
        Part("failover time, HIGH over NONE", more_than(MORE_THAN), time, "%", PERCENT),
        Part("largest transfer time, HIGH over NONE", about(ALMOST), largest, "%", PERCENT),
    )


def _f4(runs: Observations, reading: str) -> Checked:
    both = {load: runs[f"{reading}13/{load}"] for load in ("MEDIUM", "HIGH")}
    ours = " and ".join(with_median(each, failover_s) for each in both.values())
    return ours, [
        Part(f"failover time, 13/{load}", more_than(WELL_ABOVE_S), failover(each), "ms", MILLI)
        for load, each in both.items()
    ]


def _f5(runs: Observations, reading: str) -> Checked:
    small = {
        f"{queue}/{load}": runs[f"{reading}{queue}/{load}"] for queue in ("3", "6") for load in cases.LOADS
    }
    slowest = max(small, key=lambda case: failover(small[case]).mean)
    at_3 = {load: increase(small[f"3/{load}"], small["3/NONE"], failover_s) for load in cases.LOADS[1:]}
    most = max(at_3.values(), key=lambda change: change.mean)
    ours = f"at most {with_median(small[slowest], failover_s)} ({slowest}); {percent(most)} at most"
    return ours, (
        *(
            Part(f"failover time, {case}", less_than(LIMIT_S), failover(each), "ms", MILLI)
            for case, each in small.items()
        ),
        *(_no_effect(f"failover time, 3/{load} over 3/NONE", change) for load, change in at_3.items()),
    )


def _f6(runs: Observations, reading: str) -> Checked:
    best = runs[reading + cases.BEST]
    changes = {load: increase(runs[f"{reading}13/{load}"], best, failover_s) for load in cases.CONSTANT}
    return ", ".join(map(percent, changes.values())), [
        _no_effect(f"failover time, 13/{load} over 13/NONE", change) for load, change in changes.items()
    ]


def _no_effect(figure: str, change: Estimate) -> Part:
    return Part(figure, none(TOLERABLE), change, "%", PERCENT)


def _f7(runs: Observations, reading: str) -> Checked:
    ours = restart(runs[reading + cases.WORST])
    return ours.text("ms", MILLI), (_time("delay of the restart, 13/HIGH", ours, 0.080),)


def _f8(runs: Observations, reading: str) -> Checked:
    link = reading.removesuffix(f"{cases.IDLE}/")
    low, best = runs[f"{link}{cases.RTO_INITIAL}/{cases.BEST}"], runs[link + cases.BEST]
    added = Estimate.of(
        [
            one.failover_s - other.failover_s
            for one, other in zip(low, best, strict=True)
            if not math.isnan(one.failover_s + other.failover_s)
        ]
    )
    part = increase(low, best, failover_s)
    return f"+{added.text('ms', MILLI)}, {percent(part)}", (
        _time("added to the failover time, 13/NONE", added, 0.180),
        Part("the same as a part of it", about(0.32), part, "%", PERCENT),
    )


CHECKS: Mapping[str, Callable[[Observations, str], Checked]] = {
    "F1": _f1,
    "F2": _f2,
    "F3": _f3,
    "F4": _f4,
    "F5": _f5,
    "F6": _f6,
    "F7": _f7,
    "F8": _f8,
}
WITH_IDLE = ("F1", "F3", "F4", "F5", "F6", "F7")
"""Claims for which it matters whether the alternate path is loaded."""
