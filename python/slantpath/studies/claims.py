"""What a paper claims or an aim asks for, what we found, and whether that bears it out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from slantpath import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.99
"""Confidence level of every interval of the studies."""

TOLERANCE = 0.05
"""How far a published value may lie outside our interval and still agree: it has an unknown interval of its
own, is rounded, and was mostly measured once."""


class Verdict(StrEnum):
    """Whether our finding bears a claim out."""

    AGREES = "agrees"
    DIFFERS = "differs"
    MET = "met"
    """Of an aim, as the next."""
    MISSED = "missed"
    UNDECIDED = "undecided"
    """Too little was run to say."""

    @property
    def good(self) -> bool:
        """Whether it is what the claim hopes for."""
        return self in {Verdict.AGREES, Verdict.MET}


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that can be checked: of a paper, or an aim."""

    number: str
    text: str
    published: str
    """What the paper found, or what is aimed at."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over independent runs, and half the width of its confidence interval."""

    mean: float
    half_width: float
    runs: int

    @classmethod
    def of(cls, observations: Sequence[float]) -> Estimate:
        """Estimate from one observation a run."""
        mean, half_width = _native.mean_interval(list(observations), LEVEL)
        return cls(mean, half_width, len(observations))

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """Take a value without chance: a formula's, or that of a run that draws nothing at random."""
        return cls(value, 0.0, 1)

    def text(self, unit: str, scale: float = 1.0, decimals: int = 0) -> str:
        """Give the estimate with its interval: ``771 ± 4 ms``."""
        mean = f"{self.mean * scale:.{decimals}f}"
        if self.half_width == 0:
            return f"{mean} {unit}"
        width = "?" if math.isinf(self.half_width) else f"{self.half_width * scale:.{decimals}f}"
        return f"{mean} ± {width} {unit}"

    def agrees_with(self, published: float) -> bool:
        """Tell whether a published value lies in the interval, widened by the tolerance."""
        return abs(self.mean - published) <= self.half_width + TOLERANCE * abs(published)


@dataclass(frozen=True, slots=True)
class Finding:
    """What we found about a claim."""

    claim: Claim
    ours: str
    verdict: Verdict
    remark: str = ""


def verdict(*, agrees: bool) -> Verdict:
    """Name the outcome of a check."""
    return Verdict.AGREES if agrees else Verdict.DIFFERS


def as_text(findings: Sequence[Finding], against: str = "published") -> str:
    """Lay the findings out for a terminal; ``against`` is what they are held to."""
    head = ("", "claim", against, f"ours ({LEVEL:.0%} interval)", "verdict")
    rows = [
        head,
        *((f.claim.number, f.claim.text, f.claim.published, f.ours, f.verdict.value) for f in findings),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    lines.insert(1, "  ".join("─" * width for width in widths))
    remarks = [f"{f.claim.number}: {f.remark}" for f in findings if f.remark]
    return "\n".join([*lines, "", *remarks] if remarks else lines) + "\n"
