"""Paths of a sky and links of a run as traces of TheaterQ, so that another machine's kernel plays them.

TheaterQ is a queueing discipline of Linux that changes rate, delay, loss and limit as a file says (Ottens,
Hielscher and German, "TheaterQ: A Qdisc for Dynamic Network Emulation", arXiv:2510.27057;
github.com/cs7org/TheaterQ). This module writes its simple format: lines of the microseconds for which they
hold, the delay in nanoseconds, the rate in bit/s, the loss as a share of 2^32 - 1, and the limit in packets.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slantpath._native import Table
    from slantpath.running import RunOutput
    from slantpath.sky import TopologyOutput

_U32_MAX = 2**32 - 1
_U64_MAX = 2**64 - 1
_MICROSECONDS = 1_000_000
_NANOSECONDS = 1_000_000_000
_HEAD = "# TheaterQ: keep (us), latency (ns), rate (bit/s), loss (of 4294967295), limit (packets)\n"


def theaterq(
    output: TopologyOutput, path: str, *, rate_bit_per_s: int, loss: float = 0.0, limit: int = 1000
) -> str:
    """Write a path of a topology's answer as a trace of TheaterQ, in its simple format.

    The delay is that of the tables ``legs`` and ``delay``: it steps where the path changes, and every
    ``sample_every`` of the topology between. While there is no path, every packet is lost. A topology knows
    no rate, loss or queue: they are given, and hold all the time. Load the text into
    ``/dev/theaterq:...``, and run it with ``cont HOLD``.
    """
    rate_bit_per_s = _whole("rate", rate_bit_per_s, "20_000_000")
    limit = _whole("limit", limit, "1000")
    _check(rate_bit_per_s, loss, limit)
    known = list(dict.fromkeys(output["legs"]["path"]))
    if path not in known:
        message = f"there is no path {path!r}: paths: {', '.join(str(name) for name in known)}"
        raise ValueError(message)
    steps = list(_steps(output, path))
    lost = round(loss * _U32_MAX)
    lines = [_HEAD]
    latency = 0
    ends = [at for at, _ in steps[1:]] + [_end(output, path)]
    for (at, delay), end in zip(steps, ends, strict=True):
        # Instants are rounded, and not lengths: the trace is as long as the answer.
        keep = round(end * _MICROSECONDS) - round(at * _MICROSECONDS)
        if keep <= 0:
            continue
        latency = latency if delay is None else round(delay * _NANOSECONDS)
        share = _U32_MAX if delay is None else lost
        lines.append(f"{keep},{latency},{rate_bit_per_s},{share},{limit}\n")
    return "".join(lines)


def theaterq_link(output: RunOutput, link: str, direction: str = "forward", *, limit: int = 1000) -> str:
    """Write a direction of a link, as it was in a run, as a trace of TheaterQ in its simple format.

    Rate, delay and loss are those of the table ``link_intervals``, which ``probes.intervals`` asks for. They
    step at ends of intervals, so that a change is in the trace one interval late at most, and without delay
    where it happens as an interval ends. While the link carries nothing, or has no rate at all, every packet
    is lost. Bit errors and losses in bursts are not in the trace. Raises ValueError where the run has no
    intervals, no such link or no rate of it, since antennas of a sky may share their transmitter.
    """
    limit = _whole("limit", limit, "1000")
    if "link_intervals" not in output.tables:
        message = 'the run has no table of intervals: set probes.intervals, like "1 s"'
        raise ValueError(message)
    table = output["link_intervals"]
    known = list(dict.fromkeys(f"{name} {way}" for name, way in zip(*_pair(table), strict=True)))
    if f"{link} {direction}" not in known:
        message = f"there is no direction {direction!r} of a link {link!r}: there are {', '.join(known)}"
        raise ValueError(message)
    own = [pair == (link, direction) for pair in zip(*_pair(table), strict=True)]
    columns = ("start_s", "end_s", "rate_bit_per_s", "delay_s", "loss_ratio")
    states = _of_rows(table, own, *columns)
    lines = [_HEAD]
    latency = 0
    # What an interval began with is what the one before it ended with.
    for (start, end, *_), (_, _, rate, delay, loss) in zip(states, states[:1] + states, strict=False):
        if rate is None:
            message = f"{link} {direction} has no transmitter of its own, and so no rate: write its path"
            raise ValueError(message)
        keep = round((end or 0.0) * _MICROSECONDS) - round((start or 0.0) * _MICROSECONDS)
        latency = latency if delay is None else round(delay * _NANOSECONDS)
        share = _U32_MAX if loss is None or rate < 1 else round(loss * _U32_MAX)
        _check(max(1, round(rate)), share / _U32_MAX, limit)
        lines.append(f"{keep},{latency},{max(1, round(rate))},{share},{limit}\n")
    return "".join(lines)


def _pair(table: Table) -> tuple[list[object], list[object]]:
    """Give the columns that tell directions apart."""
    return list(table["link"]), list(table["direction"])


def _whole(name: str, value: int, example: str) -> int:
    """Give a whole number, be it NumPy's. A float would have a point, which the kernel does not read."""
    try:
        return operator.index(value)
    except TypeError:
        message = f"a {name} of {value!r}: give a whole number, like {example}"
        raise TypeError(message) from None


def _check(rate_bit_per_s: int, loss: float, limit: int) -> None:
    if not 1 <= rate_bit_per_s <= _U64_MAX:
        message = f"a rate of {rate_bit_per_s} bit/s: give 1 or more, like 20_000_000"
        raise ValueError(message)
    if not 0.0 <= loss <= 1.0:
        message = f"a loss of {loss}: give a share from 0 to 1, like 0.01"
        raise ValueError(message)
    if not 1 <= limit <= _U32_MAX:
        message = f"a limit of {limit} packets: give 1 to {_U32_MAX}, like 1000"
        raise ValueError(message)


def _steps(output: TopologyOutput, path: str) -> Iterator[tuple[float, float | None]]:
    """Give each instant from which on a delay holds, in order; the delay is None without a path."""
    samples = _rows(output["delay"], path, "at_s", "delay_s")
    place = 0
    for start, end, delay in _rows(output["legs"], path, "start_s", "end_s", "delay_start_s"):
        if start is None or end is None:
            continue
        yield start, delay
        while place < len(samples):
            at, value = samples[place]
            if at is not None and at >= end:
                break
            place += 1
            if at is not None and at > start and delay is not None and value is not None:
                yield at, value


def _end(output: TopologyOutput, path: str) -> float:
    return max(end for (end,) in _rows(output["legs"], path, "end_s") if end is not None)


def _rows(table: Table, path: str, *columns: str) -> list[tuple[float | None, ...]]:
    """Give numbers of the rows of a path, a tuple a row."""
    return _of_rows(table, [own == path for own in table["path"]], *columns)


def _of_rows(table: Table, own: list[bool], *columns: str) -> list[tuple[float | None, ...]]:
    """Give numbers of some rows, a tuple a row."""
    numbers = [[_number(cell) for cell in table[column]] for column in columns]
    return [row for row, is_own in zip(zip(*numbers, strict=True), own, strict=True) if is_own]


def _number(cell: object) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None
