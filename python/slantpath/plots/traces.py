"""Figures of a trace: TSNs that were sent, lost and retransmitted, windows and timers over time."""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slantpath.figures import Made, plain, short
from slantpath.plots import drawing
from slantpath.plots.drawing import KILO, MILLI, MOST_LINES, Drawn
from slantpath.plots.marks import FAILOVER, OUTAGE
from slantpath.plots.results import NothingToDrawError, printable

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Span = tuple[float, float]

NS = 1e-9
TSNS = 1 << 32
IMPAIRED = {"potentially-failed": 0.1, "inactive": 0.22}
"""States of a path that are marked, and how dark."""
NO_SSTHRESH = 0xFFFF_FFFF
"""A slow-start threshold that was never set."""


@dataclass(slots=True)
class Points:
    """Instants, and what was so from then on or happened then."""

    at_s: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def add(self, at_s: float, value: float) -> None:
        """Add an instant."""
        self.at_s.append(at_s)
        self.values.append(value)

    def within(self, span: Span) -> tuple[Numbers, Numbers]:
        """Give those within a span."""
        at_s, values = np.asarray(self.at_s), np.asarray(self.values)
        first, last = np.searchsorted(at_s, span[0], "left"), np.searchsorted(at_s, span[1], "right")
        return at_s[first:last], values[first:last]

    def held(self, span: Span) -> tuple[Numbers, Numbers]:
        """Give what holds within a span, each until the next: from its beginning and until its end."""
        at_s, values = self.within(span)
        before = int(np.searchsorted(np.asarray(self.at_s), span[0], "left"))
        if before:
            at_s, values = np.append(span[0], at_s), np.append(self.values[before - 1], values)
        return (np.append(at_s, span[1]), np.append(values, values[-1])) if at_s.size else (at_s, values)


@dataclass(slots=True)
class PathTrace:
    """What governs a path, as it changed."""

    cwnd: Points = field(default_factory=Points)
    ssthresh: Points = field(default_factory=Points)
    flight: Points = field(default_factory=Points)
    srtt: Points = field(default_factory=Points)
    rto: Points = field(default_factory=Points)
    timeouts: Points = field(default_factory=Points)


@dataclass(slots=True)
class Trace:
    """What a trace tells of one association, as far as figures show it."""

    name: str
    made: Made | None
    first: Points = field(default_factory=Points)
    """TSNs that were sent for the first time, counted from the first one of all."""
    retransmitted: Points = field(default_factory=Points)
    lost: Points = field(default_factory=Points)
    acknowledged: Points = field(default_factory=Points)
    """Highest TSN of each message that was acknowledged."""
    cumulative: Points = field(default_factory=Points)
    """Cumulative TSN of each SACK, counted like those that were sent."""
    gap_blocks: Points = field(default_factory=Points)
    """Gap blocks of each SACK."""
    a_rwnd: Points = field(default_factory=Points)
    """Window of the peer that each SACK told, in bytes."""
    peer_rwnd: Points = field(default_factory=Points)
    paths: dict[str, PathTrace] = field(default_factory=dict)
    failovers: Points = field(default_factory=Points)
    impaired: dict[tuple[str, str], list[tuple[float, float | None]]] = field(default_factory=dict)
    """Times for which each path was potentially failed or inactive: by the path and the state."""
    span: Span = (0.0, float("inf"))
    """What is drawn, in seconds."""
    whole: bool = False
    _tsns: dict[int, int] = field(default_factory=dict)
    _start: int | None = None

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], association: int | None = None, span: Span | None = None
    ) -> Trace:
        """Read a trace that ``--trace`` wrote: of its first association, or of the one that is named.

        ``span`` is what is drawn of it, in seconds, all if absent.
        """
        path = Path(path)
        records = _records(path)
        _, header = next(records, (0, {}))
        if "slantpath_trace" not in header:
            message = f"{path} is no trace: give a file that `slantpath run --trace FLOW=FILE` wrote"
            raise NothingToDrawError(message)
        trace = cls(*_named(path, header))
        chosen, end_s = association, 0.0
        for number, record in records:
            if record.get("event") == "end":
                trace.whole = True
            if "association" not in record or "t_ns" not in record:
                continue
            chosen = record["association"] if chosen is None else chosen
            if record["association"] != chosen:
                continue
            try:
                end_s = record["t_ns"] * NS
                trace.take(record)
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                event = printable(str(record.get("event")))
                message = f"{path}:{number}: `{event}` has not the fields of docs/trace.md: {error}"
                raise NothingToDrawError(message) from error
        trace.span = (0.0, end_s) if span is None else (span[0], min(span[1], end_s))
        if not trace.first.within(trace.span)[0].size:
            which = "" if association is None else f" for association {association}"
            when = "" if span is None else f" from {span[0]:g} s to {span[1]:g} s"
            message = f"{path} has no record of DATA that was sent{which}{when}"
            raise NothingToDrawError(message)
        return trace

    def take(self, record: dict[str, Any]) -> None:
        """Take a record of the association."""
        at_s = record["t_ns"] * NS
        taken = _TAKEN.get(record.get("event", ""))
        if taken is not None:
            taken(self, at_s, record)

    def number_of(self, tsn: int) -> int:
        """Count a TSN from the first one of all; TSNs begin anew after 2^32."""
        if self._start is None:
            self._start = tsn
        distance = (tsn - self._start) % TSNS
        return distance if distance < TSNS // 2 else distance - TSNS

    def _sent(self, at_s: float, record: dict[str, Any]) -> None:
        number = self.number_of(record["tsn"])
        points = self.first if record["transmission"] == 1 else self.retransmitted
        points.add(at_s, number)
        message = record.get("message")
        if message is not None:
            self._tsns[message] = max(number, self._tsns.get(message, number))

    def _lost(self, at_s: float, record: dict[str, Any]) -> None:
        self.lost.add(at_s, self.number_of(record["tsn"]))

    def _acknowledged(self, at_s: float, record: dict[str, Any]) -> None:
        number = self._tsns.pop(record.get("message", -1), None)
        if number is not None:
            self.acknowledged.add(at_s, number)

    def _sack(self, at_s: float, record: dict[str, Any]) -> None:
        self.cumulative.add(at_s, self.number_of(record["cumulative_tsn"]))
        self.gap_blocks.add(at_s, record["gap_blocks"])
        self.a_rwnd.add(at_s, record["a_rwnd_bytes"])

    def _path(self, at_s: float, record: dict[str, Any]) -> None:
        path = self.paths.setdefault(printable(str(record["path"])), PathTrace())
        path.cwnd.add(at_s, record["cwnd_bytes"])
        ssthresh = record["ssthresh_bytes"]
        path.ssthresh.add(at_s, ssthresh if ssthresh < NO_SSTHRESH else np.nan)
        path.flight.add(at_s, record["flight_bytes"])
        path.srtt.add(at_s, record["srtt_ns"] * NS if record.get("srtt_ns") is not None else np.nan)
        path.rto.add(at_s, record["rto_ns"] * NS)

    def _waiting(self, at_s: float, record: dict[str, Any]) -> None:
        self.peer_rwnd.add(at_s, record["peer_rwnd_bytes"])

    def _timer(self, at_s: float, record: dict[str, Any]) -> None:
        if record["change"] == "expired":
            path = self.paths.setdefault(printable(str(record["path"])), PathTrace())
            path.timeouts.add(at_s, (record.get("rto_ns") or 0) * NS)

    def _failed_over(self, at_s: float, _: dict[str, Any]) -> None:
        self.failovers.add(at_s, 0.0)

    def _path_changed(self, at_s: float, record: dict[str, Any]) -> None:
        path, state = printable(str(record["path"])), record["state"]
        for each in IMPAIRED:
            spans = self.impaired.setdefault((path, each), [])
            is_open = bool(spans) and spans[-1][1] is None
            if each == state and not is_open:
                spans.append((at_s, None))
            elif each != state and is_open:
                spans[-1] = (spans[-1][0], at_s)


_TAKEN: dict[str, Callable[[Trace, float, dict[str, Any]], None]] = {
    "sent": Trace._sent,  # noqa: SLF001 - its own
    "lost": Trace._lost,  # noqa: SLF001
    "acknowledged": Trace._acknowledged,  # noqa: SLF001
    "sack": Trace._sack,  # noqa: SLF001
    "path": Trace._path,  # noqa: SLF001
    "waiting": Trace._waiting,  # noqa: SLF001
    "t3_rtx": Trace._timer,  # noqa: SLF001
    "failed_over": Trace._failed_over,  # noqa: SLF001
    "path_changed": Trace._path_changed,  # noqa: SLF001
}
"""Events that figures show."""


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                message = f"{path}:{number}: no line of JSON, as a trace has them: {error}"
                raise NothingToDrawError(message) from error
            if not isinstance(record, dict):
                message = f"{path}:{number}: not a record of a trace, which is an object of JSON"
                raise NothingToDrawError(message)
            yield number, record


def _named(path: Path, header: dict[str, Any]) -> tuple[str, Made | None]:
    origin = header.get("origin")
    origin = origin if isinstance(origin, dict) else {}
    flow = origin.get("flow")
    scenario = Path(str(origin.get("scenario", path.name))).stem
    name = printable(f"{scenario}, flow {flow}" if flow is not None else scenario)
    known = [f"{key} {origin[key]}" for key in ("hash", "seed", "run") if key in origin]
    program = printable(f"Slantpath {header.get('program', '')}".rstrip())
    return name, Made(program, printable(", ".join([name, *known])))


def draw_tsns(axes: Axes, trace: Trace) -> Drawn:
    """Draw the TSN of each DATA chunk when it was sent, lost, retransmitted and acknowledged."""
    at_s, sent = trace.first.within(trace.span)
    drawing.line(axes, at_s, sent, "sent", 0)
    axes.lines[-1].set_marker("none")
    _draw_acknowledgements(axes, trace)
    for points, marker, place, name in (
        (trace.lost, "x", 4, "lost"),
        (trace.retransmitted, "o", 1, "retransmitted"),
    ):
        when_s, which = points.within(trace.span)
        if when_s.size:
            axes.plot(
                when_s,
                which,
                linestyle="none",
                marker=marker,
                markersize=4.0,
                markerfacecolor="none",
                color=drawing.colour(place),
                label=f"{name}: {when_s.size:,}",
                rasterized=when_s.size > drawing.MOST_POINTS,
            )
    axes.set_ylabel("TSN, counted from the first")
    counts = [trace.first, trace.lost, trace.retransmitted, trace.acknowledged]
    head = ["trace", "DATA chunks sent", "counted as lost", "retransmitted", "messages acknowledged"]
    cells = [f"{points.within(trace.span)[0].size:,}" for points in counts]
    if trace.cumulative.at_s:
        blocks = trace.gap_blocks.within(trace.span)[1]
        head += ["SACKs", "with gap blocks", "most gap blocks of one"]
        cells += [f"{blocks.size:,}", f"{np.count_nonzero(blocks):,}", f"{int(blocks.max(initial=0)):,}"]
    row = (trace.name, *cells)
    return _finished(axes, trace, "TSNs over time", Drawn(head, [row]), is_from_zero=False)


def _draw_acknowledgements(axes: Axes, trace: Trace) -> None:
    """Draw the cumulative TSN of SACKs and where they had gap blocks; without SACKs, the messages."""
    at_s, cumulative = trace.cumulative.held(trace.span)
    if at_s.size:
        drawing.line(axes, at_s, cumulative, "cumulative TSN of SACKs", 2, "steps-post")
        axes.lines[-1].set_marker("none")
        sacks_s, blocks = trace.gap_blocks.within(trace.span)
        with_gaps = blocks > 0
        if with_gaps.any():
            axes.plot(
                sacks_s[with_gaps],
                trace.cumulative.within(trace.span)[1][with_gaps],
                linestyle="none",
                marker="|",
                markersize=5.0,
                color=drawing.colour(3),
                label=f"SACKs with gap blocks: {np.count_nonzero(with_gaps):,}",
                rasterized=np.count_nonzero(with_gaps) > drawing.MOST_POINTS,
            )
        return
    at_s, acknowledged = trace.acknowledged.within(trace.span)
    if at_s.size:
        highest = np.maximum.accumulate(acknowledged)
        drawing.line(axes, at_s, highest, "highest acknowledged", 2, "steps-post")
        axes.lines[-1].set_marker("none")


def draw_windows(axes: Axes, trace: Trace) -> Drawn:
    """Draw the congestion window and slow-start threshold of each path, and the room that the peer has."""
    rows: list[Sequence[str]] = []
    for place, (name, path) in enumerate(list(trace.paths.items())[:MOST_LINES]):
        at_s, cwnd = path.cwnd.held(trace.span)
        if not at_s.size:
            continue
        drawing.line(axes, at_s, cwnd / KILO, f"cwnd of {name}", place, "steps-post")
        threshold_s, ssthresh = path.ssthresh.held(trace.span)
        if not np.isnan(ssthresh).all():
            axes.plot(
                *drawing.thinned(threshold_s, ssthresh / KILO),
                label=plain(f"ssthresh of {name}"),
                drawstyle="steps-post",
                linestyle=":",
                linewidth=0.9,
                color=drawing.colour(place),
            )
        flight = path.flight.held(trace.span)[1] / KILO
        rows.append((name, f"{at_s.size:,}", *drawing.ends(cwnd / KILO, 3), short(float(flight.max()))))
    top = max((float(np.nanmax(line.get_ydata())) for line in axes.lines), default=0.0)
    remarks = []
    for points, label, dashes in (
        (trace.a_rwnd, "window of the peer", (0, (6, 2))),
        (trace.peer_rwnd, "room of the peer", (0, (1, 2))),
    ):
        at_s, room = points.held(trace.span)
        if room.size and float(room.min()) / KILO <= 2 * top:
            # A window of the peer's that is far above all others would press them flat.
            axes.plot(
                *drawing.thinned(at_s, room / KILO),
                label=label,
                drawstyle="steps-post",
                linewidth=0.9,
                linestyle=dashes,
                color=drawing.INK,
            )
            axes.set_ylim(top=2 * top)
        elif room.size:
            remarks.append(f"The {label} is above the axis: {short(float(room.min()) / KILO)} kB at least.")
    axes.set_ylabel("window / kB")
    head = ("path", "changes", "least cwnd / kB", "most / kB", "last / kB", "most outstanding / kB")
    return _finished(axes, trace, "windows over time", Drawn(head, rows, (), remarks))


def draw_timers(axes: Axes, trace: Trace) -> Drawn:
    """Draw the smoothed round-trip time and the RTO of each path, and when T3-rtx expired."""
    rows: list[Sequence[str]] = []
    for place, (name, path) in enumerate(list(trace.paths.items())[:MOST_LINES]):
        at_s, srtt = path.srtt.held(trace.span)
        if at_s.size and not np.isnan(srtt).all():
            drawing.line(axes, at_s, srtt * MILLI, f"SRTT of {name}", place, "steps-post")
        rto = path.rto.held(trace.span)[1] * MILLI
        axes.plot(
            *drawing.thinned(at_s, rto),
            label=plain(f"RTO of {name}"),
            drawstyle="steps-post",
            linestyle=":",
            linewidth=0.9,
            color=drawing.colour(place),
        )
        timeouts_s, timeouts = path.timeouts.within(trace.span)
        if timeouts_s.size:
            axes.plot(
                timeouts_s,
                timeouts * MILLI,
                linestyle="none",
                marker="x",
                markersize=4.0,
                color=drawing.colour(place),
                label=plain(f"T3-rtx of {name} expired: {timeouts_s.size:,}"),
            )
        rows.append((name, *drawing.ends(srtt * MILLI, 3), *drawing.ends(rto, 2), f"{timeouts_s.size:,}"))
    axes.set_ylabel("time / ms")
    head = (
        "path",
        "least SRTT / ms",
        "most / ms",
        "last / ms",
        "least RTO / ms",
        "most RTO / ms",
        "T3-rtx expired",
    )
    return _finished(
        axes, trace, "round-trip times and RTO over time", Drawn(head, rows), shows_timeouts=True
    )


def _timeouts(trace: Trace) -> list[Numbers]:
    """Give the instants within the span at which T3-rtx of each path expired."""
    return [path.timeouts.within(trace.span)[0] for path in trace.paths.values()]


def _finished(
    axes: Axes,
    trace: Trace,
    title: str,
    drawn: Drawn,
    *,
    is_from_zero: bool = True,
    shows_timeouts: bool = False,
) -> Drawn:
    """Mark what happened to paths, and name the axes."""
    if is_from_zero:
        drawing.from_zero(axes)
    marked = []
    for (path, state), spans in trace.impaired.items():
        name = f"{path} {state.replace('-', ' ')}"
        shown = [
            (begin, end)
            for begin, end in spans
            if begin < trace.span[1] and (end is None or end > trace.span[0])
        ]
        for place, (begin, end) in enumerate(shown):
            axes.axvspan(
                max(begin, trace.span[0]),
                trace.span[1] if end is None else min(end, trace.span[1]),
                color=OUTAGE,
                alpha=IMPAIRED[state],
                linewidth=0,
                zorder=0.5,
                label=plain(name) if place == 0 else None,
            )
        if shown:
            marked.append(f"{name}: {len(shown):,}")
    failovers = trace.failovers.within(trace.span)[0]
    for place, at in enumerate(drawing.apart(failovers) if failovers.size else failovers):
        axes.axvline(
            at,
            color=FAILOVER,
            linestyle=(0, (4, 2)),
            linewidth=0.9,
            zorder=0.8,
            label=f"failovers: {failovers.size:,}" if place == 0 else None,
        )
    if failovers.size:
        marked.append(f"failovers: {failovers.size:,}")
    if not shows_timeouts:
        expired = np.sort(np.concatenate([np.zeros(0), *_timeouts(trace)]))
        if expired.size:
            drawing.ticks(axes, expired, f"T3-rtx expired: {expired.size:,}")
            marked.append(f"T3-rtx expired: {expired.size:,}")
    axes.set_xlabel("time / s")
    drawing.title(axes, f"{trace.name}: {title}")
    drawing.legend(axes, len(axes.get_legend_handles_labels()[1]))
    remarks = [*drawn.remarks, *([f"Marked: {'; '.join(marked)}."] if marked else [])]
    if not trace.whole:
        remarks.append("The trace is not whole: it has no end.")
    return Drawn(drawn.head, drawn.rows, (), remarks)


@dataclass(frozen=True, slots=True)
class TraceKind:
    """One kind of figure of a trace."""

    title: str
    draw: Callable[[Axes, Trace], Drawn]


TRACE_KINDS: dict[str, TraceKind] = {
    "tsn": TraceKind("TSNs over time", draw_tsns),
    "window": TraceKind("windows over time", draw_windows),
    "rto": TraceKind("round-trip times and RTO over time", draw_timers),
}
"""The figures of a trace by their names."""
