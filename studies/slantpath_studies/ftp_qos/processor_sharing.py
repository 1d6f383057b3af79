"""Capped processor sharing: all sessions under way share a link alike, and none gets more than a cap.

What TCP connections with one round trip and one largest window do on average, without losses and slow start:
on the arrivals of a run it tells how much of what was measured chance brought, and its closed form is what a
session can hope for.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BITS = 8


@dataclass(frozen=True, slots=True)
class Line:
    """What sessions share."""

    capacity_bit_per_s: float
    cap_bit_per_s: float
    """The most that one session gets."""

    @property
    def servers(self) -> float:
        """How many sessions fill the link."""
        return self.capacity_bit_per_s / self.cap_bit_per_s


@dataclass(frozen=True, slots=True)
class Shared:
    """What sharing gave until its end."""

    throughput_bit_per_s: NDArray[np.float64]
    """Of each session that was completed."""
    full_share: float
    """The share of all bytes that were sent while the link was full."""
    carried_bytes: float

    @property
    def mean_bit_per_s(self) -> float:
        """The mean throughput of a session that was completed; not-a-number if none was."""
        return float(self.throughput_bit_per_s.mean()) if self.throughput_bit_per_s.size else math.nan


def share(line: Line, begun_s: NDArray[np.float64], size_bytes: NDArray[np.float64], end_s: float) -> Shared:
    """Share the line among sessions, in the order of their beginnings, until the end.

    Each session's rate is min(cap, capacity / n). What one session has been given since the start, had it
    always been there, grows at that rate for all: a session is over when it has grown by its size (virtual
    time).
    """
    under_way: list[tuple[float, float, float]] = []
    throughputs: list[float] = []
    now_s = given = full_bytes = all_bytes = 0.0

    def go_on(until_s: float) -> None:
        nonlocal now_s, given, full_bytes, all_bytes
        while under_way and now_s < until_s:
            count = len(under_way)
            rate = min(line.cap_bit_per_s, line.capacity_bit_per_s / count) / BITS
            over, begun, size = under_way[0]
            ends_s = now_s + (over - given) / rate
            until = min(ends_s, until_s)
            sent = rate * count * (until - now_s)
            all_bytes += sent
            if count >= line.servers:
                full_bytes += sent
            if ends_s <= until_s:
                heapq.heappop(under_way)
                given = over
                throughputs.append(BITS * size / (ends_s - begun))
            else:
                given += rate * (until - now_s)
            now_s = until
        now_s = until_s

    for begun, size in zip(begun_s, size_bytes, strict=True):
        go_on(min(float(begun), end_s))
        if begun >= end_s:
            break
        heapq.heappush(under_way, (given + float(size), float(begun), float(size)))
    go_on(end_s)
    share_when_full = full_bytes / all_bytes if all_bytes else 0.0
    return Shared(np.array(throughputs), share_when_full, all_bytes)


def drawn(
    rate_per_s: float, mean_bytes: float, shape: float, end_s: float, chance: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw the beginnings of a Poisson process until the end, and sizes of a Pareto distribution."""
    count = chance.poisson(rate_per_s * end_s)
    begun_s = np.sort(chance.uniform(0.0, end_s, count))
    return begun_s, pareto_quantile(chance.uniform(size=count), mean_bytes, shape)


def pareto_quantile(share: NDArray[np.float64], mean: float, shape: float) -> NDArray[np.float64]:
    """Give the sizes below which these shares lie."""
    return mean * (shape - 1) / shape * (1 - share) ** (-1 / shape)


def pareto_strata(count: int, mean: float, shape: float) -> NDArray[np.float64]:
    """Give the mean sizes of so many equal shares of the distribution: their mean is exactly its own.

    The mean of what lies between the shares u and v is m/(1 − 1/a) ((1−u)^(1−1/a) − (1−v)^(1−1/a)) / (v − u),
    m being the least size and a the shape.
    """
    above = 1 - np.arange(count + 1) / count
    return mean * count * -np.diff(above ** (1 - 1 / shape))


def mean_throughput(line: Line, load: float) -> float:
    """Give the size of a session over its mean duration in the steady state; 0 at a load of 1 or more.

    Sessions come as a Poisson process and have sizes of any distribution. The chance that n are under way is
    proportional to the product over k = 1 … n of a / min(k, R), where R sessions fill the line and a is R
    times the load, and a session stays as long as Little's law says: Cohen, "The Multiple Phase Service
    Network with Generalized Processor Sharing", Acta Informatica 12, 1979.
    """
    if load >= 1:
        return 0.0
    offered = line.servers * load
    # Up to the last number of sessions that the cap limits, one by one; behind it a geometric series.
    last = math.floor(line.servers)
    weight, weights, under_way = 1.0, 1.0, 0.0
    for count in range(1, last + 1):
        weight *= offered / count
        weights += weight
        under_way += count * weight
    behind = weight * load / (1 - load)
    weights += behind
    under_way += behind * (last + 1 / (1 - load))
    return offered * line.cap_bit_per_s * weights / under_way
