"""Kinds of figures: of which table each is drawn, and what makes a run give that table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from slantpath.figures import numbers
from slantpath.plots import drawing, flows, signalling
from slantpath.plots.drawing import MOST_LINES, Drawn
from slantpath.plots.marks import mark
from slantpath.plots.results import NothingToDrawError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from matplotlib.axes import Axes

    from slantpath.plots.drawing import Told
    from slantpath.plots.results import Line, ResultDirectory


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of figure: of which table, and what makes a run give that table."""

    title: str
    table: str
    own: tuple[str, ...]
    """Columns that tell its lines apart."""
    columns: tuple[str, ...]
    """Columns that it shows."""
    probe: str
    draw: Callable[[Axes, list[Line]], Told] | None = None
    whole: Callable[[Axes, ResultDirectory], Drawn | None] | None = None
    """How it is drawn if not line by line."""
    all_runs: bool = False
    over_time: bool = True
    highest_of: str = ""
    """Column by which lines are chosen where there are too many: those that reach highest."""
    otherwise: Kind | None = None
    """How it is drawn where that table has no rows."""
    of_signalling: bool = False


def draw(axes: Axes, results: ResultDirectory, kind: Kind) -> Drawn | None:
    """Draw one kind of figure into axes; nothing where its table has no rows."""
    drawn = _drawn(axes, results, kind)
    if drawn is None:
        return None if kind.otherwise is None else draw(axes, results, kind.otherwise)
    remarks = list(drawn.remarks)
    if len(drawn.runs) > 1:
        count = len(drawn.runs)
        which = f"All {count} runs together" if kind.all_runs else f"Run {drawn.runs[0]} of {count} runs"
        remarks.insert(0, f"{which}.")
    if kind.over_time:
        marked = mark(axes, results, drawn.runs[0] if drawn.runs else None, kind.table)
        if marked:
            remarks.append(f"Marked: {'; '.join(marked)}.")
    name = f"{results.name}: " if results.name else ""
    drawing.title(axes, f"{name}{kind.title}")
    entries = len(axes.get_legend_handles_labels()[1])
    if entries:
        drawing.legend(axes, entries)
    return replace(drawn, remarks=remarks)


def _drawn(axes: Axes, results: ResultDirectory, kind: Kind) -> Drawn | None:
    if kind.draw is None:
        return None if kind.whole is None else kind.whole(axes, results)
    lines, runs = results.lines(kind.table, kind.own, kind.columns, all_runs=kind.all_runs)
    if not lines:
        return None
    shown, remarks = lines[:MOST_LINES], []
    if len(lines) > MOST_LINES and kind.highest_of:
        tops = [np.nanmax(np.append(numbers(each.rows, kind.highest_of), -np.inf)) for each in lines]
        highest = sorted(sorted(range(len(lines)), key=lambda place: -tops[place])[:MOST_LINES])
        shown = [lines[place] for place in highest]
        remarks = [f"The {len(shown)} of {len(lines)} lines that reach highest."]
    elif len(lines) > MOST_LINES:
        remarks = [f"The first {len(shown)} of {len(lines)} lines."]
    head, rows = kind.draw(axes, shown)
    if not rows:
        return None
    if axes.get_yscale() == "linear":
        drawing.from_zero(axes)
    return Drawn(head, rows, runs, remarks)


def missing(results: ResultDirectory, name: str) -> str:
    """Say why a figure is not among those that were drawn."""
    kind = KINDS[name]
    if kind.table in results.tables:
        return f"`{kind.table}` has no such rows{_cure(results)}"
    other = "" if kind.otherwise is None else f", nor `{kind.otherwise.table}` of `{kind.otherwise.probe}`"
    if results.of_sweep is not None:
        kept = ", ".join(f"`{table}`" for table in results.of_sweep)
        return (
            f"the sweep keeps no table `{kind.table}`{other}, but {kept}: "
            f"name it in `tables` of the sweep's file, and have its scenario ask for it by `{kind.probe}`"
        )
    return f"there is no table `{kind.table}`, which the scenario's `{kind.probe}` asks for{other}"


def _cure(results: ResultDirectory) -> str:
    """Say what may give rows to a table that has none."""
    if results.only:
        chosen = ", ".join(f"{column}={value}" for column, value in results.only)
        return f" with {chosen}: leave `--only` out, or name another value"
    return ": nothing of the kind happened, and a longer run may have some"


def nothing(results: ResultDirectory) -> str:
    """Say what would have written tables of which something can be drawn."""
    there = dict.fromkeys(f"`{kind.table}`" for kind in KINDS.values() if kind.table in results.tables)
    if there:
        return f"{', '.join(there)} {'has' if len(there) == 1 else 'have'} no such rows{_cure(results)}"
    asks: dict[str, list[str]] = {}
    for name, kind in KINDS.items():
        asks.setdefault(kind.probe, []).append(name)
    told = "; ".join(
        f"`{probe}` for {', '.join(names)}" for probe, names in asks.items() if probe.startswith("probes.")
    )
    where = "" if results.of_sweep is None else ", and `tables` of the sweep's file are to name the tables"
    return f"it has no table of any figure; a scenario asks for them by {told}{where}"


def left_out(results: ResultDirectory, drawn: Collection[str]) -> list[str]:
    """Say of the figures that were not drawn why, but for those of signalling where there is none."""
    if results.of_sweep is not None and drawn:
        asked = ", ".join(
            f"`{name}`"
            for name in dict.fromkeys(kind.table for kind in KINDS.values() if not kind.of_signalling)
        )
        return [f"Figures of single runs need {asked} among the `tables` of the sweep's file."]
    has_signalling = any(table.startswith("signalling") for table in results.tables)
    reasons: dict[str, list[str]] = {}
    for name, kind in KINDS.items():
        if name not in drawn and (has_signalling or not kind.of_signalling):
            reasons.setdefault(missing(results, name), []).append(f"`{name}`")
    return [f"No figure {', '.join(names)}: {reason}." for reason, names in reasons.items()]


def known(name: str) -> Kind:
    """Give the kind of figure of a name."""
    if name not in KINDS:
        message = f"there is no figure `{name}`; there are {', '.join(KINDS)}"
        raise NothingToDrawError(message)
    return KINDS[name]


def _at_links(
    title: str, column: str, how: Callable[[Axes, list[Line]], Told], *, others: tuple[str, ...] = ()
) -> dict[str, Kind]:
    """Give the kinds of figures of the ends of signalling links, and of associations."""
    columns = ("start_s", "end_s", column, *others)
    link = Kind(
        f"{title} of signalling links",
        "signalling_link_intervals",
        ("link", "point"),
        columns,
        "probes.intervals",
        how,
        highest_of=column,
        of_signalling=True,
    )
    association = replace(
        link,
        title=f"{title} of associations",
        table="association_intervals",
        own=("association", "host"),
    )
    return {"link": link, "association": association}


_waits = _at_links("waits", "acknowledgement_delay_mean_s", signalling.draw_waits)
_queues = _at_links("queues", "queued_messages", signalling.draw_queues)
_loads = _at_links("throughput", "throughput_bit_per_s", flows.draw_rates)

KINDS: dict[str, Kind] = {
    "delay": Kind(
        "delivery delay over time",
        "messages",
        ("flow",),
        ("sent_s", "delay_s"),
        "probes.messages",
        flows.draw_delay,
    ),
    "cdf": Kind(
        "distribution of the delivery delay",
        "messages",
        ("flow",),
        ("delay_s",),
        "probes.messages",
        flows.draw_distribution,
        all_runs=True,
        over_time=False,
        otherwise=Kind(
            "distribution of the delivery delay",
            "delay_bins",
            ("flow",),
            ("from_s", "to_s", "messages"),
            "probes.delays",
            flows.draw_bins,
            all_runs=True,
            over_time=False,
        ),
    ),
    "throughput": Kind(
        "throughput over time",
        "messages",
        ("flow",),
        ("delivered_s", "size_bytes"),
        "probes.messages",
        flows.draw_throughput,
        otherwise=Kind(
            "throughput over time",
            "flow_intervals",
            ("flow",),
            ("start_s", "end_s", "throughput_bit_per_s"),
            "probes.intervals",
            flows.draw_rates,
        ),
    ),
    "cwnd": Kind(
        "congestion window over time",
        "paths",
        ("flow", "path"),
        ("at_s", "cwnd_bytes"),
        "probes.paths",
        flows.draw_window,
        otherwise=Kind(
            "congestion window over time",
            "flow_intervals",
            ("flow",),
            ("end_s", "cwnd_bytes"),
            "probes.intervals",
            flows.draw_window_at_ends,
        ),
    ),
    "queue": Kind(
        "queues over time",
        "queues",
        ("link", "direction"),
        ("at_s", "queued_packets"),
        "probes.queues",
        flows.draw_queue,
    ),
    "outages": Kind(
        "outages of paths",
        "outages",
        ("path",),
        ("begin_s", "end_s"),
        "[[script]]",
        whole=signalling.draw_path_outages,
    ),
    "load-delay": Kind(
        "delays of signalling loads",
        "signalling_load",
        ("load",),
        (
            "link",
            "delivered_messages",
            *(f"delay_{name}_s" for name in ("min", "mean", "p50", "p95", "p99", "max")),
        ),
        "[signalling]",
        signalling.draw_delays,
        over_time=False,
        highest_of="delay_max_s",
        of_signalling=True,
    ),
    "load-fate": Kind(
        "what became of the messages of signalling loads",
        "signalling_load",
        ("load",),
        ("sent_messages", "refused_messages", *(f"{fate}_messages" for fate in signalling.FATES)),
        "[signalling]",
        signalling.draw_fates,
        over_time=False,
        of_signalling=True,
    ),
    "link-wait": _waits["link"],
    "link-queue": _queues["link"],
    "link-load": _loads["link"],
    "association-wait": _waits["association"],
    "association-queue": _queues["association"],
    "association-load": _loads["association"],
    "association-cwnd": Kind(
        "congestion window of associations",
        "association_paths",
        ("association", "host", "path"),
        ("at_s", "cwnd_bytes"),
        "probes.paths",
        flows.draw_window,
        highest_of="cwnd_bytes",
        of_signalling=True,
    ),
    "congestion": Kind(
        "congestion of signalling links and of M3UA",
        "signalling_events",
        ("link", "point"),
        ("at_s", "congestion_status"),
        "[signalling]",
        whole=signalling.draw_congestion,
        of_signalling=True,
    ),
    "signalling-outages": Kind(
        "signalling out of service",
        "signalling_events",
        ("link", "point"),
        ("at_s", "event"),
        "[signalling]",
        whole=signalling.draw_outages,
        of_signalling=True,
    ),
}
"""The figures by their names, which are those of their files."""
