"""The throughput of a TCP connection that loses packets, whose window is limited."""

from __future__ import annotations

import math


def window_limited(
    loss: float, round_trip_s: float, window: float, acknowledged: float, timeout_s: float | None = None
) -> float:
    """Give packets per second by Padhye, Firoiu, Towsley and Kurose.

    "Modeling TCP Reno Performance: A Simple Model and Its Empirical Validation", IEEE/ACM ToN 8(2), 2000,
    equations 31 and 32: the full model and not its approximation. ``loss`` is the chance that a packet is
    lost if the one before it was not, ``window`` the most packets outstanding, ``acknowledged`` how many
    an acknowledgement stands for, ``timeout_s`` the first retransmission time-out: two round trips if
    absent.
    """
    if loss <= 0:
        return window / round_trip_s
    first_timeout_s = 2 * round_trip_s if timeout_s is None else timeout_s
    p, b = loss, acknowledged
    middle = (2 + b) / (3 * b)
    unlimited = middle + math.sqrt(8 * (1 - p) / (3 * b * p) + middle**2)
    backed_off: float = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6

    def by_timeout(size: float) -> float:
        """Give the chance that a loss at this window ends in a time-out."""
        if size <= 0:
            return 1.0
        sent = (1 - (1 - p) ** 3) * (1 + (1 - p) ** 3 * (1 - (1 - p) ** max(size - 3, 0)))
        return float(min(1.0, sent / (1 - (1 - p) ** size)))

    if unlimited < window:
        chance = by_timeout(unlimited)
        packets = (1 - p) / p + unlimited + chance / (1 - p)
        time_s = round_trip_s * (b / 2 * unlimited + 1) + chance * backed_off * first_timeout_s / (1 - p)
    else:
        chance = by_timeout(window)
        packets = (1 - p) / p + window + chance / (1 - p)
        rounds = b / 8 * window + (1 - p) / (p * window) + 2
        time_s = round_trip_s * rounds + chance * backed_off * first_timeout_s / (1 - p)
    return float(packets / time_s)
