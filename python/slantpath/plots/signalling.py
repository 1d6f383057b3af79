"""Figures of signalling: delays of loads, waits, queues and traffic of links and associations, outages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.ticker
import numpy as np

from slantpath.figures import numbers, plain, short
from slantpath.plots.drawing import INK, MILLI, Drawn, colour, ends, line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from slantpath.plots.drawing import Told
    from slantpath.plots.results import Line, ResultDirectory

OUT, NOT_YET = "#d98c8c", "#d4d4da"
SHADES = ("#f2c08a", "#d9752b", "#7f2a12")
"""Colours of the levels of congestion."""
MOST_BARS = 24
"""Lines of a figure of outages; of more, those without an outage are left out."""
WIDE = 30.0
"""Range of delays from which on they are drawn on a logarithmic axis."""
FATES = ("delivered", "late", "lost", "outstanding")
"""What becomes of a message; those that a layer refused are among the lost."""


def draw_delays(axes: Axes, lines: list[Line]) -> Told:
    """Draw the delays of each load, link by link: from least to largest, with quantiles."""
    looks = (
        ("delay_p50_s", "o", "median"),
        ("delay_p95_s", "^", "95 % below"),
        ("delay_p99_s", "s", "99 % below"),
    )
    rows: list[Sequence[str]] = []
    names: list[tuple[float, str]] = []
    lows: list[float] = []
    highs: list[float] = []
    at = 0
    for place, each in enumerate(lines):
        known = ~np.isnan(numbers(each.rows, "delay_mean_s"))
        links = numbers(each.rows, "link")[known]
        if not links.size:
            continue
        across = np.arange(at, at + links.size, dtype=np.float64)
        low, high, mean, worst = (
            numbers(each.rows, f"delay_{name}_s")[known] * MILLI for name in ("min", "max", "mean", "p99")
        )
        lows.append(float(low.min()))
        highs.append(float(high.max()))
        delivered = numbers(each.rows, "delivered_messages")[known]
        axes.vlines(across, low, high, color=colour(place), alpha=0.6, linewidth=1.2)
        for number, (column, marker, name) in enumerate(looks):
            values = numbers(each.rows, column)[known] * MILLI
            axes.plot(
                across,
                values,
                linestyle="none",
                marker=marker,
                markersize=5.0 - number,
                color=colour(place),
                label=name if at == 0 else None,
            )
        names.append((float(across.mean()), each.label))
        at += links.size + 1
        average = float(np.average(mean, weights=np.maximum(delivered, 1e-9)))
        told = (average, float(worst.max()), float(high.max()))
        rows.append((each.label, f"{links.size:,}", f"{int(delivered.sum()):,}", *map(short, told)))
    axes.set_xticks([middle for middle, _ in names], [plain(name) for _, name in names])
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("load, its links side by side")
    axes.set_ylabel("delay, from least to largest / ms")
    if rows and max(highs) > WIDE * min(lows) > 0:
        axes.set_yscale("log")
    head = ("load", "links", "delivered", "mean / ms", "99 % below on the worst link / ms", "largest / ms")
    return head, rows


def draw_fates(axes: Axes, lines: list[Line]) -> Told:
    """Draw what became of the messages of each load."""
    sums = np.array(
        [[numbers(each.rows, f"{fate}_messages").sum() for fate in FATES] for each in lines], dtype=np.float64
    )
    sent = np.array([numbers(each.rows, "sent_messages").sum() for each in lines])
    shares = sums / np.maximum(sent, 1)[:, None] * 100
    across = np.arange(len(lines), dtype=np.float64)
    below = np.zeros(len(lines))
    for number, fate in enumerate(FATES):
        if sums[:, number].any():
            hatch = ("", "..", "//", "xx")[number]
            axes.bar(
                across,
                shares[:, number],
                bottom=below,
                width=0.6,
                color=colour((0, 1, 4, 5)[number]),
                hatch=hatch,
                edgecolor="white",
                linewidth=0.5,
                label=fate,
                zorder=3,
            )
        below = below + shares[:, number]
    axes.set_xticks(across, [plain(each.label) for each in lines])
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("load")
    axes.set_ylabel("share of the messages sent / %")
    rows: list[Sequence[str]] = []
    for each, messages, count in zip(lines, sent, sums, strict=True):
        refused = numbers(each.rows, "refused_messages").sum()
        cells = (messages, *count, refused)
        rows.append((each.label, *(f"{int(cell):,}" for cell in cells)))
    return ("load", "sent", *FATES, "refused by a layer below"), rows


def draw_waits(axes: Axes, lines: list[Line]) -> Told:
    """Draw the mean time until a message was acknowledged, in each interval."""
    axes.set_ylabel("until acknowledged, mean / ms")
    return _intervals(axes, lines, "acknowledgement_delay_mean_s", MILLI, "ms")


def draw_queues(axes: Axes, lines: list[Line]) -> Told:
    """Draw how many messages wait at the end of each interval."""
    axes.set_ylabel("messages that wait")
    axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
    return _intervals(axes, lines, "queued_messages", 1.0, "messages")


def _intervals(axes: Axes, lines: list[Line], column: str, scale: float, unit: str) -> Told:
    rows: list[Sequence[str]] = []
    for place, each in enumerate(lines):
        values = numbers(each.rows, column) * scale
        if np.isnan(values).all():
            continue
        end_s = numbers(each.rows, "end_s")
        line(axes, end_s, values, each.label, place)
        rows.append((each.label, f"{np.count_nonzero(~np.isnan(values)):,}", *ends(values, 3)))
    axes.set_xlabel("time / s, at the ends of intervals")
    return ("line", "intervals", f"least / {unit}", f"most / {unit}", f"last / {unit}"), rows


CONGESTION = (
    ("signalling_events", ("link", "point"), "congestion_status"),
    ("signalling_server_events", ("destination", "process"), "congestion_level"),
)
"""Tables that tell of congestion: what tells their lines apart, and the column of its status or level."""


def draw_congestion(axes: Axes, results: ResultDirectory) -> Drawn | None:
    """Draw the congestion of each link, and of each destination behind M3UA, as each end heard of it."""
    found: list[tuple[Line, str]] = []
    runs: list[int] = []
    for table, own, column in CONGESTION:
        lines, of_runs = results.lines(table, own, ("at_s", "event", column))
        found += [(each, column) for each in lines]
        runs = runs or of_runs
    end_s = _end_s(results, [each for each, _ in found])
    rows: list[Sequence[str]] = []
    for each, column in found:
        status = numbers(each.rows, column)
        known = ~np.isnan(status)
        if not known.any():
            continue
        place = len(rows)
        begin_s, status = numbers(each.rows, "at_s")[known], status[known]
        length_s = np.diff(np.append(begin_s, end_s))
        rows.append(
            (
                each.label,
                f"{len(status):,}",
                short(float(status.max())),
                short(float(length_s[status > 0].sum())),
            )
        )
        for number, shade in enumerate(SHADES, 1):
            at = status >= number if number == len(SHADES) else status == number
            if at.any() and place < MOST_BARS:
                bars = list(zip(begin_s[at], begin_s[at] + length_s[at], strict=True))
                _bar(axes, place, bars, f"status or level {number}", color=shade)
    if not rows:
        return None
    _names(axes, [row[0] for row in rows[:MOST_BARS]], end_s)
    remarks = [f"The first {MOST_BARS} of {len(rows)} lines."] if len(rows) > MOST_BARS else []
    return Drawn(("line", "changes", "highest", "congested / s"), rows[:MOST_BARS], runs, remarks)


@dataclass(frozen=True, slots=True)
class Spans:
    """What was out of service, and when."""

    label: str
    out: tuple[tuple[float, float], ...]
    """From when to when, in seconds."""
    not_yet_s: float = 0.0
    """Time until it first was in service."""


def draw_outages(axes: Axes, results: ResultDirectory) -> Drawn | None:
    """Draw when each end of a signalling link, association and application server was out of service."""
    found: list[Spans] = []
    runs: list[int] = []
    events: list[tuple[str, tuple[str, str], tuple[str, ...], tuple[str, ...]]] = [
        ("signalling_events", ("link", "point"), ("available",), ("unavailable",)),
        ("signalling_server_events", ("association", "process"), ("association-up",), ("association-down",)),
        (
            "signalling_server_events",
            ("application_server", "process"),
            ("as-active",),
            ("as-pending", "as-inactive", "as-down"),
        ),
    ]
    read = [(results.lines(table, own, ("at_s", "event")), up, down) for table, own, up, down in events]
    end_s = _end_s(results, [each for (lines, _), _, _ in read for each in lines])
    for (lines, of_runs), up, down in read:
        runs = runs or of_runs
        found += [each for each in (_spans(one, end_s, up, down) for one in lines) if each is not None]
    return _bars(axes, found, runs, end_s) if found else None


def draw_path_outages(axes: Axes, results: ResultDirectory) -> Drawn | None:
    """Draw when each path between two hosts carried nothing."""
    lines, runs = results.lines("outages", ("path", "from", "to"), ("begin_s", "end_s"))
    begins = [numbers(each.rows, "begin_s") for each in lines]
    ends_ = [numbers(each.rows, "end_s") for each in lines]
    known = [float(np.nanmax(at)) for at in (*begins, *ends_) if not np.isnan(at).all()]
    end_s = max([results.end_s or 0.0, *known], default=0.0)
    found = [
        Spans(
            each.label,
            tuple(
                (float(begin), end_s if np.isnan(end) else float(end))
                for begin, end in zip(begin_s, until_s, strict=True)
            ),
        )
        for each, begin_s, until_s in zip(lines, begins, ends_, strict=True)
    ]
    return _bars(axes, found, runs, end_s) if found else None


def _end_s(results: ResultDirectory, lines: Sequence[Line]) -> float:
    """Tell when the run ends, or the last event where that is not known."""
    last = max((float(numbers(each.rows, "at_s").max()) for each in lines), default=0.0)
    return max(results.end_s or 0.0, last)


def _spans(each: Line, end_s: float, up: Sequence[str], down: Sequence[str]) -> Spans | None:
    """Read of events when something was out of service, after it first was in service."""
    since: float | None = None
    first: float | None = None
    out = []
    events = [str(event) for event in each.rows.column("event").to_pylist()]
    for at, event in zip(numbers(each.rows, "at_s"), events, strict=True):
        if event in up:
            if since is not None:
                out.append((since, float(at)))
            first = float(at) if first is None else first
            since = None
        elif event in down and since is None and first is not None:
            since = float(at)
    if since is not None:
        out.append((since, end_s))
    return None if first is None else Spans(each.label, tuple(out), first)


def _bars(axes: Axes, found: Sequence[Spans], runs: list[int], end_s: float) -> Drawn:
    shown = list(found)
    if len(shown) > MOST_BARS:
        shown = ([each for each in found if each.out] or list(found))[:MOST_BARS]
    rows: list[Sequence[str]] = []
    for place, each in enumerate(shown):
        if each.not_yet_s:
            _bar(axes, place, [(0.0, each.not_yet_s)], "not yet in service", color=NOT_YET)
        if each.out:
            _bar(axes, place, each.out, "out of service", color=OUT, edgecolor=INK)
        lengths = [end - begin for begin, end in each.out]
        rows.append((each.label, f"{len(lengths):,}", short(sum(lengths)), short(max(lengths, default=0.0))))
    _names(axes, [each.label for each in shown], end_s)
    left = len(found) - len(shown)
    remarks = [f"{left} of {len(found)} lines are left out, those without an outage first."] if left else []
    return Drawn(("line", "outages", "together / s", "longest / s"), rows, runs, remarks)


def _names(axes: Axes, names: Sequence[str], end_s: float) -> None:
    """Name the bars, from above, over the time of a run."""
    axes.set_yticks(range(len(names)), [plain(name) for name in names], fontsize="x-small")
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0.0, end_s)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("time / s")


def _bar(
    axes: Axes,
    place: int,
    out: Sequence[tuple[float, float]],
    label: str,
    **how: Any,  # noqa: ANN401 - of a patch
) -> None:
    told = label in axes.get_legend_handles_labels()[1]
    bars = [(begin, end - begin) for begin, end in out]
    axes.broken_barh(bars, (place - 0.3, 0.6), linewidth=0.4, zorder=3, label=None if told else label, **how)
