"""What a paper claims or an aim asks for, what the runs give, and the verdict: one rule for all studies.

A claim has figures. Of each there are accepted values, and what the runs give with its 99 % interval. A
figure *agrees* if the whole interval lies within what is accepted, *differs* if all of it lies outside, and
is *undecided* otherwise. Noise is never rewarded: a wide interval decides nothing. A claim differs if any of
its figures does, and agrees if all do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, Protocol

from slantpath import mean_interval, student_t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.99
"""Confidence level of every interval of the studies."""
TOLERANCE = 0.1
"""How far from a published value agrees, as a part of it, unless the claim says otherwise: what is published
has an interval of its own, is rounded, and was mostly measured once."""
TWO = 2
"""Runs without which chance cannot be told."""
MOST_RUNS = 10_000_000
"""More runs than anybody makes: so near to a bound nothing is decided."""
MOST_STEPS = 0.9
"""A line grows if so many of its certain steps do."""
NO_WIDER = 1.5
"""How wide the interval of a single run may be, of what it is when the distribution is known, to agree."""

RULE = (
    f"A figure agrees if its whole {LEVEL:.0%} interval lies within what is accepted: a published value and "
    f"{TOLERANCE:.0%} of it on either side unless the table says otherwise, a bound as it stands. It differs "
    "if all of the interval lies outside, and is undecided otherwise. A claim differs if any of its figures "
    "does, and agrees if all do. A paper's single run is held to the distribution of single runs (prediction "
    "interval). Where runs fall into two kinds, the share of the paper's has its interval by Clopper and "
    "Pearson, and the figure within it is judged. Of the steps of a line those count that are wider than the "
    f"intervals of both ends together: {MOST_STEPS:.0%} must go as claimed, and more than a coin gives."
)


class Verdict(StrEnum):
    """What our finding says to a claim."""

    AGREES = "agrees"
    DIFFERS = "differs"
    MET = "met"
    """Of an aim, as the next."""
    MISSED = "missed"
    UNDECIDED = "undecided"
    """Too little was run to say."""
    NOT_MEASURED = "not measured"

    @property
    def good(self) -> bool:
        """Tell if it is what the claim hopes for."""
        return self in {Verdict.AGREES, Verdict.MET}


class Role(StrEnum):
    """What a claim is to the study."""

    AIM = "aim"
    """Of the project, not of a paper: it is met or missed."""
    INPUT = "input"
    """A parameter was chosen so that it holds."""
    MEASURED = "measured"
    NOT_MEASURED = "not measured"
    """The study cannot: the finding says why."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that can be checked: of a paper, or an aim."""

    number: str
    text: str
    published: str
    """What the paper found, or what is aimed at."""
    role: Role = Role.MEASURED


@dataclass(frozen=True, slots=True)
class Accepted:
    """Between which values a figure bears its claim out."""

    low: float
    high: float
    strict: bool = False
    """The bounds themselves are not among them."""

    def contains(self, low: float, high: float) -> bool:
        """Tell if all of an interval lies within."""
        if self.strict:
            return self.low < low and high < self.high
        return self.low <= low and high <= self.high

    def excludes(self, low: float, high: float) -> bool:
        """Tell if all of an interval lies outside, on one side."""
        if self.strict:
            return high <= self.low or low >= self.high
        return high < self.low or low > self.high

    def room(self, value: float) -> float:
        """Give the distance to the nearer bound."""
        return min(abs(value - self.low), abs(value - self.high))

    def text(self, scale: float = 1.0) -> str:
        """Give it in words: ``828 to 1012``, ``at least 850``."""
        low, high = (digits(bound * scale, 5) for bound in (self.low, self.high))
        if self.low == self.high:
            return low
        if math.isinf(self.high):
            return f"{'more than' if self.strict else 'at least'} {low}"
        if math.isinf(self.low):
            return f"{'less than' if self.strict else 'at most'} {high}"
        return f"{low} to {high}"


def about(published: float, tolerance: float = TOLERANCE) -> Accepted:
    """Accept a published value, and a part of it on either side."""
    return between(published, published, tolerance)


def between(low: float, high: float, tolerance: float = TOLERANCE) -> Accepted:
    """Accept a published range, widened by a part of each end."""
    return Accepted(low - tolerance * abs(low), high + tolerance * abs(high))


def none(amount: float) -> Accepted:
    """Accept nothing: what is no more than an absolute amount either way."""
    return Accepted(-amount, amount)


def at_least(bound: float) -> Accepted:
    """Accept what is not below a bound. A bound is not widened."""
    return Accepted(bound, math.inf)


def at_most(bound: float) -> Accepted:
    """Accept what is not above a bound."""
    return Accepted(-math.inf, bound)


def more_than(bound: float) -> Accepted:
    """Accept what is above a bound."""
    return Accepted(bound, math.inf, strict=True)


def less_than(bound: float) -> Accepted:
    """Accept what is below a bound."""
    return Accepted(-math.inf, bound, strict=True)


GROWS = Accepted(MOST_STEPS, 1.0)
"""Of the share of certain steps that go as claimed."""


class Outcome(NamedTuple):
    """The verdict on a figure, and how many runs would give one where it is undecided."""

    verdict: Verdict
    runs: int | None = None

    def text(self) -> str:
        """Give it in words."""
        return f"{self.verdict} ({self.runs:,} runs would decide)" if self.runs else str(self.verdict)


UNDECIDED = Outcome(Verdict.UNDECIDED)


class Evidence(Protocol):
    """What the runs give of a figure."""

    def judged(self, accepted: Accepted) -> Outcome:
        """Hold it to what is accepted."""

    def told(self, unit: str, scale: float) -> str:
        """Give it in words from which the verdict can be recomputed."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over independent runs, and half the width of its confidence interval."""

    mean: float
    half_width: float
    runs: int

    @classmethod
    def of(cls, observations: Sequence[float]) -> Estimate:
        """Estimate from one observation a run; from none nothing is known."""
        if not observations:
            return cls(math.nan, math.inf, 0)
        mean, half_width = mean_interval(list(observations), LEVEL)
        return cls(mean, half_width, len(observations))

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """Take a value without chance: a formula's, or that of a run that draws nothing at random."""
        return cls(value, 0.0, 1)

    @property
    def low(self) -> float:
        """The lower end of the interval; of a mean that is infinite there is no other."""
        return self.mean if math.isinf(self.mean) else self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean if math.isinf(self.mean) else self.mean + self.half_width

    def less(self, other: Estimate, times: float = 1.0) -> Estimate:
        """Estimate by how much it is more than another so many times, as if they were independent."""
        width = math.hypot(self.half_width, times * other.half_width)
        return Estimate(self.mean - times * other.mean, width, min(self.runs, other.runs))

    def text(self, unit: str, scale: float = 1.0, decimals: int = 0) -> str:
        """Give the estimate with its interval: ``771 ± 4 ms``."""
        mean = f"{self.mean * scale:.{decimals}f}"
        if self.half_width == 0:
            return f"{mean} {unit}"
        width = "?" if math.isinf(self.half_width) else f"{self.half_width * scale:.{decimals}f}"
        return f"{mean} ± {width} {unit}"

    def judged(self, accepted: Accepted) -> Outcome:
        """Hold the interval to what is accepted."""
        if accepted.contains(self.low, self.high):
            return Outcome(Verdict.AGREES)
        if accepted.excludes(self.low, self.high):
            return Outcome(Verdict.DIFFERS)
        return Outcome(Verdict.UNDECIDED, self._runs_for(accepted.room(self.mean)))

    def _runs_for(self, half_width: float) -> int | None:
        """Give the fewest runs whose interval is so narrow, if they deviate as these did."""
        if self.runs < TWO or not half_width > 0 or not math.isfinite(self.half_width):
            return None
        deviation = self.half_width * math.sqrt(self.runs) / _student(self.runs)
        few, many = TWO, 2 * TWO
        while _student(many) * deviation / math.sqrt(many) > half_width:
            few, many = many, 2 * many
            if many > MOST_RUNS:
                return None
        while few < many:
            middle = (few + many) // 2
            if _student(middle) * deviation / math.sqrt(middle) > half_width:
                few = middle + 1
            else:
                many = middle
        return many

    def told(self, unit: str, scale: float) -> str:
        """Give mean, half width and runs."""
        if not self.runs:
            return "no run has it"
        mean = _beside(self.mean * scale, self.half_width * scale)
        if self.half_width == 0 and self.runs == 1:
            return f"{mean}{unit} (exact)"
        width = "?" if math.isinf(self.half_width) else digits(self.half_width * scale, 3)
        return f"{mean} ± {width}{unit} ({_runs(self.runs)})"


@dataclass(frozen=True, slots=True)
class SingleRuns:
    """Between which values one more run lies: what a paper's single run is held to (Student's t)."""

    mean: float
    half_width: float
    runs: int

    @classmethod
    def of(cls, observations: Sequence[float]) -> SingleRuns:
        """Predict from one observation a run: anything after a single one."""
        interval = Estimate.of(observations)
        # One more observation deviates by itself, and the mean of the others beside it.
        return cls(interval.mean, interval.half_width * math.sqrt(interval.runs + 1), interval.runs)

    def judged(self, accepted: Accepted) -> Outcome:
        """Tell if a published run, its low and high the same, is one of these."""
        if accepted.excludes(self.mean - self.half_width, self.mean + self.half_width):
            return Outcome(Verdict.DIFFERS)
        needed = runs_of_a_distribution()
        # With a few runs everything lies within: that says nothing.
        return Outcome(Verdict.AGREES) if self.runs >= needed else Outcome(Verdict.UNDECIDED, needed)

    def told(self, unit: str, scale: float) -> str:
        """Give mean, half width and runs, and the smallest deviation that would have been seen."""
        mean = _beside(self.mean * scale, self.half_width * scale)
        if math.isinf(self.half_width):
            return f"a single run {mean} ± ?{unit} ({_runs(self.runs)})"
        width = digits(self.half_width * scale, 3)
        shown = f"; a mean {digits(100 * self.half_width / abs(self.mean), 2)} % off would show"
        return f"a single run {mean} ± {width}{unit} ({_runs(self.runs)}{shown if self.mean else ''})"


def runs_of_a_distribution() -> int:
    """Give from how many runs on the interval of one more is nearly as narrow as it can be."""
    known = NormalDist().inv_cdf((1 + LEVEL) / 2)
    runs = TWO
    while _student(runs) * math.sqrt(1 + 1 / runs) > NO_WIDER * known:
        runs += 1
    return runs


@dataclass(frozen=True, slots=True)
class Kind:
    """A figure within the kind of runs that the paper shows, where runs fall into two."""

    within: Estimate
    occurs: int
    """Runs of that kind."""
    runs: int

    @classmethod
    def of(cls, within: Sequence[float], runs: int) -> Kind:
        """Estimate the figure from the runs of the kind, of so many."""
        return cls(Estimate.of(within), len(within), runs)

    def judged(self, accepted: Accepted) -> Outcome:
        """Hold the figure within the kind to what is accepted; it differs if the kind does not occur."""
        if self.runs < TWO:
            return UNDECIDED
        if not self.occurs:
            return Outcome(Verdict.DIFFERS)
        verdict, needed = self.within.judged(accepted)
        return Outcome(verdict, None if needed is None else math.ceil(needed * self.runs / self.occurs))

    def told(self, unit: str, scale: float) -> str:
        """Give the share of the kind and the figure within."""
        share = f"{self.occurs} of {_runs(self.runs)} ({share_text(self.occurs, self.runs)})"
        return f"{share}: {self.within.told(unit, scale)}" if self.occurs else share


@dataclass(frozen=True, slots=True)
class Steps:
    """How many steps of a line are certain, and how many of those go as claimed.

    A step is certain if it is wider than the intervals of both its ends together: those of a flat line are
    noise and count for nothing.
    """

    rising: int
    certain: int
    every: int

    @classmethod
    def of(cls, steps: Sequence[tuple[Estimate, Estimate]]) -> Steps:
        """Count the steps from one estimate to the next that rise."""
        rises = [there.mean > here.mean for here, there in steps if is_certain(here, there)]
        return cls(sum(rises), len(rises), len(steps))

    def falling(self) -> Steps:
        """Count those that fall instead."""
        return Steps(self.certain - self.rising, self.certain, self.every)

    def judged(self, accepted: Accepted) -> Outcome:
        """Hold the share to what is accepted: it must also be more than a coin gives, or surely less."""
        if not self.certain:
            return UNDECIDED
        low, high = share_interval(self.rising, self.certain)
        if accepted.contains(*(2 * [self.rising / self.certain])) and low > 1 / 2:
            return Outcome(Verdict.AGREES)
        return Outcome(Verdict.DIFFERS) if accepted.excludes(low, high) else UNDECIDED

    def told(self, _unit: str, _scale: float) -> str:
        """Give the counts."""
        return f"{self.rising} of {self.certain} certain steps ({self.every} in all)"


@dataclass(frozen=True, slots=True)
class Extreme:
    """The least of all runs, held to a lower bound: one below refutes it, and more runs may come closer."""

    value: float
    runs: int

    def judged(self, accepted: Accepted) -> Outcome:
        """Hold the value to the bound, and to how near it must come; none was seen if it is infinite."""
        if self.value < accepted.low:
            return Outcome(Verdict.DIFFERS)
        if self.value > accepted.high or not math.isfinite(self.value):
            return UNDECIDED
        return Outcome(Verdict.AGREES) if self.runs >= TWO else Outcome(Verdict.UNDECIDED, TWO)

    def told(self, unit: str, scale: float) -> str:
        """Give the value and the runs."""
        return f"{digits(self.value * scale, 5)}{unit} at least ({_runs(self.runs)})"


@dataclass(frozen=True, slots=True)
class Part:
    """A figure of a claim: what is accepted of it, and what the runs give."""

    figure: str
    accepted: Accepted
    found: Evidence
    unit: str = ""
    scale: float = 1.0

    @property
    def outcome(self) -> Outcome:
        """The verdict on it."""
        return self.found.judged(self.accepted)

    def accepted_text(self) -> str:
        """Give what is accepted, with its unit."""
        unit = "" if isinstance(self.found, Steps) else self.unit
        return f"{self.accepted.text(self.scale)}{unit and ' ' + unit}"

    def told(self) -> str:
        """Give what the runs have."""
        return self.found.told(self.unit and " " + self.unit, self.scale)


@dataclass(frozen=True, slots=True)
class Finding:
    """What we found about a claim: the verdict follows from its parts."""

    claim: Claim
    ours: str
    parts: Sequence[Part]
    remark: str = ""

    @property
    def verdict(self) -> Verdict:
        """What the parts say together."""
        return combined([part.outcome.verdict for part in self.parts], self.claim.role)

    def judged(self) -> str:
        """Give the verdict with what a reader needs beside it."""
        runs = max((part.outcome.runs or 0 for part in self.parts), default=0)
        if self.verdict is Verdict.UNDECIDED and runs:
            return Outcome(self.verdict, runs).text()
        return f"{self.verdict} (input)" if self.claim.role is Role.INPUT else str(self.verdict)


def combined(verdicts: Sequence[Verdict], role: Role = Role.MEASURED) -> Verdict:
    """Give the verdict on a claim from those on its figures."""
    if not verdicts:
        return Verdict.NOT_MEASURED
    good, bad = (Verdict.MET, Verdict.MISSED) if role is Role.AIM else (Verdict.AGREES, Verdict.DIFFERS)
    if Verdict.DIFFERS in verdicts:
        return bad
    return good if all(each is Verdict.AGREES for each in verdicts) else Verdict.UNDECIDED


def is_certain(here: Estimate, there: Estimate) -> bool:
    """Tell if two estimates lie farther apart than their intervals together."""
    return abs(there.mean - here.mean) > math.hypot(here.half_width, there.half_width)


def share_interval(count: int, of: int) -> tuple[float, float]:
    """Give the interval of a share, by Clopper and Pearson."""
    tail = (1 - LEVEL) / 2
    low = 0.0 if count == 0 else _share_at(lambda share: _at_least(count, of, share) < tail)
    high = 1.0 if count == of else _share_at(lambda share: 1 - _at_least(count + 1, of, share) > tail)
    return low, high


def share_text(count: int, of: int) -> str:
    """Give the interval of a share in percent."""
    low, high = share_interval(count, of)
    return f"{100 * low:.0f} to {100 * high:.0f} %"


class _Below(Protocol):
    def __call__(self, share: float, /) -> bool: ...


def _share_at(is_below: _Below) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def _at_least(count: int, of: int, share: float) -> float:
    """Give the probability that so many or more of some have what a share has."""
    if share in {0.0, 1.0}:
        return float(share == 1.0 or count == 0)
    return math.fsum(
        math.exp(
            math.lgamma(of + 1)
            - math.lgamma(each + 1)
            - math.lgamma(of - each + 1)
            + each * math.log(share)
            + (of - each) * math.log1p(-share)
        )
        for each in range(count, of + 1)
    )


def _student(runs: int) -> float:
    return student_t_quantile((1 + LEVEL) / 2, runs - 1)


def digits(value: float, count: int) -> str:
    """Give a number with so many digits that count, and no exponent."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    return f"{value:.{max(0, count - 1 - math.floor(math.log10(abs(value))))}f}"


def _beside(value: float, half_width: float) -> str:
    """Give a number to the last digit of its half width."""
    if half_width == 0 or not math.isfinite(half_width):
        return digits(value, 5)
    return f"{value:.{max(0, 2 - math.floor(math.log10(half_width)))}f}"


def _runs(count: int) -> str:
    return f"{count} run" if count == 1 else f"{count} runs"


def as_text(findings: Sequence[Finding], against: str = "published") -> str:
    """Lay the findings out for a terminal; ``against`` is what they are held to."""
    head = ("", "claim", against, f"ours ({LEVEL:.0%} interval)", "verdict")
    rows = [
        head,
        *((f.claim.number, f.claim.text, f.claim.published, f.ours, f.judged()) for f in findings),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    lines.insert(1, "  ".join("─" * width for width in widths))
    remarks = [f"{f.claim.number}: {f.remark}" for f in findings if f.remark]
    return "\n".join([*lines, "", *remarks] if remarks else lines) + "\n"
