"""Claims Q1 to Q5 of the paper, and what our runs say to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from slantpath import _native
from slantpath.studies.claims import LEVEL, Claim, Finding, Verdict, verdict
from slantpath.studies.ftp_qos import cases
from slantpath.studies.ftp_qos.cases import Sky
from slantpath.studies.ftp_qos.runs import DELAY, JITTER, LOSS, THROUGHPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from slantpath.studies.ftp_qos.cases import Cell
    from slantpath.studies.ftp_qos.runs import Measure, Results


@dataclass(frozen=True, slots=True)
class Published:
    """What the paper prints of a cell, over either sky."""

    number: str
    text: str
    measure: Measure
    place: tuple[str, int, int]
    values: dict[Sky, float]
    decimals: int
    unit: str = ""


DELAY_AT_MOST = Published(
    "Q1b",
    "mean packet delay at 10 a minute, 2 MB, 1e-5",
    DELAY,
    cases.MOST,
    {Sky.LEO: 0.2724, Sky.GEO: 0.3651},
    4,
    " s",
)
LOSS_AT_LEAST = Published(
    "Q3",
    "loss at 1 a minute, 500 kB, 1e-7",
    LOSS,
    cases.FEWEST,
    {Sky.LEO: 0.000326, Sky.GEO: 0.000332},
    6,
)
LOSS_AT_MOST = Published(
    "Q4a",
    "loss at 10 a minute, 2 MB, 1e-5",
    LOSS,
    cases.MOST,
    {Sky.LEO: 0.05885, Sky.GEO: 0.060652},
    5,
)
LOSS_BELOW = 0.07
MOST_STEPS = 0.9
"""A line grows if so many of its steps do: the paper's are single runs, and ours have intervals."""


def findings(results: Results) -> list[Finding]:
    """Hold the runs against the claims."""
    return [
        _grows(results, "Q1a", "mean packet delay", DELAY),
        *_published(results, DELAY_AT_MOST),
        _grows(results, "Q2a", "jitter", JITTER),
        _steep(results, "Q2b", "jitter", JITTER),
        _widest(results),
        *_published(results, LOSS_AT_LEAST),
        *_published(results, LOSS_AT_MOST),
        _below(results),
        _falls(results),
        _steep(results, "Q5b", "flow throughput", THROUGHPUT),
        _grows_with_size(results),
    ]


def prediction(observations: Sequence[float]) -> tuple[float, float, float]:
    """Give the mean, and between which values one more observation lies: any after a single one."""
    count = len(observations)
    mean = float(np.mean(observations)) if count else math.nan
    if count < 2:  # noqa: PLR2004 - one says nothing of the next
        return mean, -math.inf, math.inf
    spread = float(np.std(observations, ddof=1))
    half = _native.student_t_quantile((1 + LEVEL) / 2, count - 1) * spread * math.sqrt(1 + 1 / count)
    return mean, mean - half, mean + half


def _published(results: Results, published: Published) -> Iterator[Finding]:
    """Judge a single run of the paper by the prediction interval of single hours of ours."""
    digits = published.decimals
    for sky in Sky:
        at = cases.cell(sky, published.place)
        observed = results.observed(at.name, published.measure.of)
        mean, low, high = prediction(observed)
        at_nominal_load = float(np.mean(results.observed(at.nominal, published.measure.of)))
        loads = np.array([run.offered_bytes for run in results.figures(at.name)])
        expected = cases.END_S * at.rate_per_s * at.mean_bytes
        value = published.values[sky]
        hours = f"{min(observed):.{digits}f} to {max(observed):.{digits}f}"
        between = f"a single hour from {max(low, 0):.{digits}f} to {high:.{digits}f}"
        yield Finding(
            Claim(f"{published.number} {sky.label}", published.text, f"{value}{published.unit}"),
            f"{mean:.{digits}f}{published.unit}, {between if math.isfinite(low) else 'one hour'}",
            verdict(agrees=low <= value <= high) if math.isfinite(low) else Verdict.UNDECIDED,
            f"{len(observed)} hours with {hours}, which offered {loads.min() / expected:.2f} to "
            f"{loads.max() / expected:.2f} of the nominal; at nominal load {at_nominal_load:.{digits}f}",
        )


def _lines(results: Results) -> Iterator[list[Cell]]:
    """Give every line of a figure: its cells by their rates."""
    rates = results.extent.rates_per_minute
    for sky in Sky:
        for error_rate in cases.ERROR_RATES:
            for size in cases.SIZES_KB:
                yield [cases.Cell(sky, error_rate, size, rate) for rate in rates]


def _axes(results: Results) -> dict[str, list[tuple[Cell, Cell]]]:
    """Give neighbours along each axis."""
    lines = list(_lines(results))
    every = [cell for line in lines for cell in line]
    sizes = dict(pairwise(cases.SIZES_KB))
    errors = dict(pairwise(cases.ERROR_RATES))
    return {
        "rate": [pair for line in lines for pair in pairwise(line)],
        "size": [
            (cell, cases.Cell(cell.sky, cell.error_rate, sizes[cell.size_kb], cell.per_minute))
            for cell in every
            if cell.size_kb in sizes
        ],
        "bit error rate": [
            (cell, cases.Cell(cell.sky, errors[cell.error_rate], cell.size_kb, cell.per_minute))
            for cell in every
            if cell.error_rate in errors
        ],
    }


def _mean(results: Results, cell: Cell, measure: Measure) -> float:
    return results.estimate(cell.name, measure).mean


def _rising(results: Results, pairs: Iterable[tuple[Cell, Cell]], measure: Measure) -> float:
    """Give the share of steps at which a mean rises."""
    rises = [_mean(results, one, measure) < _mean(results, next_, measure) for one, next_ in pairs]
    return sum(rises) / len(rises)


def _certainly_rising(results: Results, pairs: Iterable[tuple[Cell, Cell]], measure: Measure) -> str:
    """Say how many of the steps that are wider than the intervals of both ends rise."""
    rises = []
    for one, other in pairs:
        here, there = (results.estimate(cell.name, measure) for cell in (one, other))
        if abs(there.mean - here.mean) > math.hypot(here.half_width, there.half_width):
            rises.append(there.mean > here.mean)
    return f"{sum(rises)} of {len(rises)}"


def _certain_steps(results: Results, measure: Measure, axes: Iterable[str]) -> str:
    every = _axes(results)
    told = ", ".join(f"{_certainly_rising(results, every[axis], measure)} in {axis}" for axis in axes)
    return f"of the steps that are wider than the intervals of both ends rise {told}"


def _grows(results: Results, number: str, what: str, measure: Measure) -> Finding:
    shares = {axis: _rising(results, pairs, measure) for axis, pairs in _axes(results).items()}
    return Finding(
        Claim(number, f"{what} grows with connection rate, file size and bit error rate", "so"),
        ", ".join(f"{share:.0%} of steps in {axis}" for axis, share in shares.items()),
        verdict(agrees=all(share >= MOST_STEPS for share in shares.values())),
        _certain_steps(results, measure, shares),
    )


def _falls(results: Results) -> Finding:
    axes = _axes(results)
    shares = {axis: 1 - _rising(results, axes[axis], THROUGHPUT) for axis in ("rate", "bit error rate")}
    return Finding(
        Claim("Q5a", "flow throughput falls with connection rate and bit error rate", "so"),
        ", ".join(f"{share:.0%} of steps in {axis}" for axis, share in shares.items()),
        verdict(agrees=all(share >= MOST_STEPS for share in shares.values())),
        _certain_steps(results, THROUGHPUT, shares),
    )


def _steep(results: Results, number: str, what: str, measure: Measure) -> Finding:
    """Compare mean slopes before and after six a minute, of lines that come to a load of 1 and others."""
    before: list[float] = []
    after: list[float] = []
    never: list[float] = []
    for line in _lines(results):
        means = {cell.per_minute: _mean(results, cell, measure) for cell in line}
        first, last = line[0].per_minute, line[-1].per_minute
        slopes = [
            abs(means[to] - means[since]) / (to - since) / means[first]
            for since, to in ((first, cases.STEEP_FROM), (cases.STEEP_FROM, last))
        ]
        if line[-1].has_steady_state:
            never.append(slopes[1] / slopes[0] if slopes[0] else math.inf)
        else:
            before.append(slopes[0])
            after.append(slopes[1])
    times = float(np.mean(after) / np.mean(before))
    return Finding(
        Claim(number, f"{what} changes steeply after 6 connections a minute", "so"),
        f"{times:.1f} times as steep as before where the nominal load comes to 1",
        verdict(agrees=times > 1),
        f"where it does not, {np.median(never):.1f} times (median over lines); what the lines cross is not 6 "
        "a minute but the load that the "
        "link carries, at 6.8 a minute of 2 MB and 9.1 of 1.5 MB",
    )


def _widest(results: Results) -> Finding:
    rates = cases.ERROR_RATES
    means = {
        rate: np.mean(
            [
                _mean(results, cell, JITTER)
                for line in _lines(results)
                for cell in line
                if cell.error_rate == rate
            ]
        )
        for rate in rates
    }
    gaps = [float(means[to] - means[since]) for since, to in pairwise(rates)]
    return Finding(
        Claim("Q2c", "the gap in jitter is widest at 1e-5", "so"),
        f"from 1e-6 to 1e-5 {1e6 * gaps[1]:.0f} µs, from 1e-7 to 1e-6 {1e6 * gaps[0]:.0f} µs",
        verdict(agrees=gaps[1] > gaps[0]),
        "the mean absolute difference of delays of packets received one after the other: equation 2 as "
        "printed telescopes to "
        "(last − first delay) / (n − 1), which is some nanoseconds and says nothing",
    )


def _below(results: Results) -> Finding:
    losses = [(_mean(results, cell, LOSS), cell) for line in _lines(results) for cell in line]
    most, where = max(losses)
    return Finding(
        Claim("Q4b", "loss is below 7 % everywhere", "< 0.07"),
        f"{most:.4f} at most",
        verdict(agrees=most < LOSS_BELOW),
        f"in the cell {where.key}",
    )


def _grows_with_size(results: Results) -> Finding:
    few = [rate for rate in results.extent.rates_per_minute if rate <= 2]  # noqa: PLR2004 - the paper's
    pairs = [(one, other) for one, other in _axes(results)["size"] if one.per_minute in few]
    share = _rising(results, pairs, THROUGHPUT)
    by_errors = ", ".join(
        f"{_certainly_rising(results, own, THROUGHPUT)} at {rate}"
        for rate in cases.ERROR_RATES
        for own in [[pair for pair in pairs if pair[0].error_rate == rate]]
    )
    return Finding(
        Claim("Q5c", "flow throughput grows with file size at 1 and 2 a minute", "so"),
        f"{share:.0%} of steps in size",
        verdict(agrees=share >= MOST_STEPS),
        f"of the steps that are wider than the intervals of both ends rise {by_errors}: a longer transfer is "
        "in slow "
        "start for less of its time; with many errors that start, before the first loss, is what was fast",
    )
