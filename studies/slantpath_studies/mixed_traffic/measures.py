"""What is measured in a run: delays of each kind, what of telemetry is of use, and the goodput of files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slantpath.figures import numbers
from slantpath_studies.claims import Estimate
from slantpath_studies.mixed_traffic import cases

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

PERCENT = 1e2
BITS = 8


@dataclass(frozen=True, slots=True)
class Delays:
    """The delays of a kind of messages in a run, in seconds."""

    sent: int
    undelivered: int
    """Given up, or not delivered when the run ended."""
    median_s: float
    p99_s: float
    max_s: float

    @classmethod
    def of(cls, delay_s: NDArray[np.float64], *, may_be_missing: bool) -> Delays:
        """Take them; what is missing has taken for ever, unless it may be missing: then it counts in none."""
        missing = np.isnan(delay_s)
        counted = delay_s[~missing] if may_be_missing else np.where(missing, math.inf, delay_s)
        if not counted.size:
            return cls(delay_s.size, int(missing.sum()), math.nan, math.nan, math.nan)
        median_s, p99_s = np.quantile(counted, (0.5, 0.99), method="higher")
        return cls(delay_s.size, int(missing.sum()), float(median_s), float(p99_s), float(counted.max()))


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What is kept of a run."""

    delays: Mapping[str, Delays]
    in_time: float
    """Telemetry that came while it was of use, in % of what was offered."""
    wasted: float
    """Telemetry that was sent and did not come in time, copies included, in % of what was offered."""
    goodput: float
    """What files brought, in % of the link."""
    signalling_s: NDArray[np.float64]
    """The delays of signalling in ascending order, which a figure draws."""

    @classmethod
    def of(cls, messages: pa.Table, path: cases.Path) -> RunFigures:
        """Take them from the messages of a run that were sent in the time that counts."""
        size, sent_s, delivered_s, delay_s, transmissions = (
            numbers(messages, column)
            for column in ("size_bytes", "sent_s", "delivered_s", "delay_s", "transmissions")
        )
        counts = (sent_s >= cases.FROM_S) & (sent_s < cases.TO_S)
        of_kind = {kind: counts & (size == cases.SIZES[kind]) for kind in cases.KINDS}
        delays = {
            kind: Delays.of(delay_s[chosen], may_be_missing=kind == cases.TELEMETRY)
            for kind, chosen in of_kind.items()
        }
        telemetry = of_kind[cases.TELEMETRY]
        is_useful = delay_s[telemetry] <= path.useful_s
        in_vain = transmissions[telemetry][~is_useful].sum()
        offered = max(1, int(telemetry.sum()))
        came = (size == cases.SIZES[cases.FILES]) & (delivered_s >= cases.FROM_S) & (delivered_s < cases.TO_S)
        brought = BITS * cases.SIZES[cases.FILES] * int(came.sum()) / (cases.TO_S - cases.FROM_S)
        signalling_s = delay_s[of_kind[cases.SIGNALLING]]
        return cls(
            delays,
            PERCENT * float(is_useful.sum()) / offered,
            PERCENT * float(in_vain) / offered,
            PERCENT * brought / path.rate_bit_per_s,
            np.sort(np.where(np.isnan(signalling_s), math.inf, signalling_s)),
        )


def estimate(values: Sequence[float], *, exact: bool) -> Estimate:
    """Estimate a mean. One that is the same in every run, or in which a run says `never`, has no interval."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Estimate.exact(math.nan)
    mean = sum(known) / len(known)
    if exact or not math.isfinite(mean):
        return Estimate.exact(mean)
    return Estimate.of(known)


def in_words(value: Estimate, scale: float = 1.0, decimals: int = 0) -> str:
    """Write an estimate without its unit; `never` if a run has not seen it, `none` if there is nothing."""
    if math.isnan(value.mean):
        return "none"
    return value.text("", scale, decimals).strip() if math.isfinite(value.mean) else "never"
