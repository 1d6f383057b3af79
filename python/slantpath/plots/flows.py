"""Figures of flows and links: delay, its distribution, throughput, windows and queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.ticker
import numpy as np

from slantpath.figures import numbers, short
from slantpath.plots.drawing import KILO, MILLI, ends, line, rate_unit, spread, ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from slantpath.plots.drawing import Numbers, Told
    from slantpath.plots.results import Line

BINS = 60
"""Intervals in which throughput is counted."""
STEPS = 2_000
"""Steps of a distribution that are drawn."""
SHARES = (0.1, 0.5, 0.9, 0.99, 0.999)
"""Shares of which a distribution's quantiles are told."""


def draw_delay(axes: Axes, lines: list[Line]) -> Told:
    """Draw the delay of each message over the time at which it was sent, and what was not delivered."""
    rows: list[Sequence[str]] = []
    lost_s = []
    for place, each in enumerate(lines):
        sent_s, delay_s = numbers(each.rows, "sent_s"), numbers(each.rows, "delay_s")
        line(axes, sent_s, delay_s * MILLI, each.label, place)
        delivered = delay_s[~np.isnan(delay_s)] * MILLI
        lost_s.append(sent_s[np.isnan(delay_s)])
        told = ["–"] * 4 if not delivered.size else [short(value) for value in spread(delivered)]
        rows.append((each.label, f"{len(sent_s):,}", f"{delivered.size:,}", *told))
    lost = np.concatenate(lost_s)
    if lost.size:
        ticks(axes, lost, f"not delivered: {lost.size:,}")
    axes.set_xlabel("time at which the message was sent / s")
    axes.set_ylabel("delivery delay / ms")
    head = ("line", "messages", "delivered", "mean / ms", "median / ms", "99 % below / ms", "largest / ms")
    return head, rows


def draw_distribution(axes: Axes, lines: list[Line]) -> Told:
    """Draw which share of the messages had at most which delay."""
    rows: list[Sequence[str]] = []
    for place, each in enumerate(lines):
        delay_s = numbers(each.rows, "delay_s")
        sorted_ms = np.sort(delay_s[~np.isnan(delay_s)]) * MILLI
        if not sorted_ms.size:
            continue
        steps = np.unique(np.linspace(0, sorted_ms.size - 1, min(STEPS, sorted_ms.size)).astype(np.int64))
        line(axes, sorted_ms[steps], (steps + 1) / sorted_ms.size, each.label, place, drawstyle="steps-post")
        below = [short(float(value)) for value in np.quantile(sorted_ms, SHARES)]
        rows.append((each.label, f"{sorted_ms.size:,}", *below))
    axes.set_xlabel("delivery delay / ms")
    axes.set_ylabel("share of the delivered messages")
    return ("line", "delivered", *(f"{share * 100:g} % below / ms" for share in SHARES)), rows


def draw_bins(axes: Axes, lines: list[Line]) -> Told:
    """Draw the distribution of delays that were counted in bins."""
    rows: list[Sequence[str]] = []
    for place, each in enumerate(lines):
        # Several runs may have counted in one bin.
        from_s, first, which = np.unique(numbers(each.rows, "from_s"), return_index=True, return_inverse=True)
        to_s = numbers(each.rows, "to_s")[first]
        up_to = np.cumsum(np.bincount(which, weights=numbers(each.rows, "messages")))
        count = up_to[-1]
        line(axes, to_s * MILLI, up_to / count, each.label, place, drawstyle="steps-post")
        bins = np.searchsorted(up_to, [share * (count - 1) for share in SHARES], side="right")
        below = [short(float((from_s[at] + to_s[at]) / 2 * MILLI)) for at in bins]
        rows.append((each.label, f"{int(count):,}", *below))
    axes.set_xlabel("delivery delay / ms")
    axes.set_ylabel("share of the delivered messages")
    return ("line", "delivered", *(f"{share * 100:g} % below / ms" for share in SHARES)), rows


def draw_throughput(axes: Axes, lines: list[Line]) -> Told:
    """Draw how much of messages was delivered in each of ``BINS`` intervals."""
    times = [numbers(each.rows, "delivered_s") for each in lines]
    arrived = [~np.isnan(delivered_s) for delivered_s in times]
    end_s = max(
        (float(at[there].max()) for at, there in zip(times, arrived, strict=True) if there.any()), default=0
    )
    if end_s <= 0:
        return (), []
    width_s = end_s / BINS
    rates = [
        _counted(at[there], numbers(each.rows, "size_bytes")[there] * 8, end_s) / width_s
        for each, at, there in zip(lines, times, arrived, strict=True)
    ]
    scale, unit = rate_unit(max(float(rate.max()) for rate in rates))
    middles = np.linspace(width_s / 2, end_s - width_s / 2, BINS)
    rows: list[Sequence[str]] = []
    for place, (each, rate) in enumerate(zip(lines, rates, strict=True)):
        line(axes, middles, rate / scale, each.label, place, drawstyle="steps-mid")
        rows.append(
            (each.label, *(short(float(value) / scale) for value in (rate.mean(), rate.max(), rate.min())))
        )
    axes.set_xlabel(f"time / s, in intervals of {short(width_s)} s")
    axes.set_ylabel(f"delivered / {unit}")
    return ("line", f"mean / {unit}", f"most / {unit}", f"least / {unit}"), rows


def draw_rates(axes: Axes, lines: list[Line]) -> Told:
    """Draw the throughput of each interval that was counted in the run."""
    rates = [numbers(each.rows, "throughput_bit_per_s") for each in lines]
    scale, unit = rate_unit(max(float(rate.max()) for rate in rates))
    rows: list[Sequence[str]] = []
    for place, (each, rate) in enumerate(zip(lines, rates, strict=True)):
        start_s, end_s = numbers(each.rows, "start_s"), numbers(each.rows, "end_s")
        across, up = np.append(start_s, end_s[-1]), np.append(rate, rate[-1]) / scale
        line(axes, across, up, each.label, place, drawstyle="steps-post")
        mean = np.average(rate, weights=end_s - start_s)
        rows.append((each.label, *(short(float(value) / scale) for value in (mean, rate.max(), rate.min()))))
    axes.set_xlabel("time / s")
    axes.set_ylabel(f"delivered / {unit}")
    return ("line", f"mean / {unit}", f"most / {unit}", f"least / {unit}"), rows


def _counted(at_s: Numbers, amounts: Numbers, end_s: float) -> Numbers:
    sums, _ = np.histogram(at_s, BINS, (0.0, end_s), weights=amounts)
    return np.asarray(sums, dtype=np.float64)


def draw_window(axes: Axes, lines: list[Line]) -> Told:
    """Draw the congestion window of each path."""
    axes.set_ylabel("congestion window / kB")
    return draw_samples(axes, lines, "at_s", "cwnd_bytes", KILO, "kB")


def draw_window_at_ends(axes: Axes, lines: list[Line]) -> Told:
    """Draw the congestion window at the end of each interval."""
    axes.set_ylabel("congestion window / kB")
    return draw_samples(axes, lines, "end_s", "cwnd_bytes", KILO, "kB")


def draw_queue(axes: Axes, lines: list[Line]) -> Told:
    """Draw how many packets wait at each link."""
    axes.set_ylabel("queue / packets")
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
    return draw_samples(axes, lines, "at_s", "queued_packets", 1.0, "packets")


def draw_samples(axes: Axes, lines: list[Line], at: str, column: str, scale: float, unit: str) -> Told:
    """Draw samples of a column, each of which holds until the next one."""
    rows: list[Sequence[str]] = []
    for place, each in enumerate(lines):
        at_s, values = numbers(each.rows, at), numbers(each.rows, column) / scale
        line(axes, at_s, values, each.label, place, drawstyle="steps-post")
        rows.append((each.label, f"{len(values):,}", *ends(values, 3)))
    axes.set_xlabel("time / s")
    return ("line", "samples", f"least / {unit}", f"most / {unit}", f"last / {unit}"), rows
