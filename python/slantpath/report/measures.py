"""Measures of the things of a run, such as flows and links: their means over runs, and how they are told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import fmean
from typing import TYPE_CHECKING, Any

from slantpath import mean_interval
from slantpath.figures import short
from slantpath.plots.results import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slantpath.report.results import Results

LEVEL = 0.99
"""Probability with which an interval holds the mean."""
NONE = "–"
DECIMALS = 9
"""Decimals of a number at most."""
LEAST = 0.001
"""Smaller numbers are told as such: nothing that is measured in these units depends on them."""
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of numbers, or the sum of all whose names match a pattern."""

    columns: str
    label: str
    is_quiet: bool = False
    """Left out where it is zero throughout."""

    def of(self, row: Mapping[str, Any]) -> float | None:
        """Take its value of a row; None where cells are missing."""
        cells = [
            float(cell)
            for column, cell in row.items()
            if fnmatchcase(column, self.columns) and isinstance(cell, int | float)
        ]
        known = [cell for cell in cells if math.isfinite(cell)]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Sheet:
    """Measures of one table that are shown together."""

    name: str
    title: str
    about: str
    """A sentence that heads the table."""
    table: str
    keys: tuple[str, ...]
    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The things of a sheet, in their order, with the values of each measure, run by run."""

    keys: tuple[str, ...]
    """Columns that name a thing: those of a sweep, and those of the sheet."""
    values: Mapping[Key, Mapping[int, Sequence[float | None]]]
    """By the cells of these columns and the number of the run: a value of each measure."""

    def runs(self) -> int:
        """Count the runs of the thing that has most."""
        return max((len(runs) for runs in self.values.values()), default=0)


def group(results: Results, sheet: Sheet) -> Group | None:
    """Read the values of a sheet; None where its table is not there or has no rows."""
    rows, columns = results.shape(sheet.table)
    if not rows or sheet.keys[0] not in columns:
        return None
    before = columns[: columns.index(sheet.keys[0])]
    keys = (*(column for column in before if column != "run"), *sheet.keys)
    wanted = [
        column for column in columns if any(fnmatchcase(column, each.columns) for each in sheet.measures)
    ]
    values: dict[Key, dict[int, Sequence[float | None]]] = {}
    for row in results.rows(sheet.table, {*keys, "run", *wanted}):
        key = tuple(cell(row.get(column)) for column in keys)
        values.setdefault(key, {})[int(row.get("run") or 0)] = [each.of(row) for each in sheet.measures]
    return Group(keys, values)


def cell(value: object) -> str:
    """Tell a value that names something."""
    if value is None:
        return NONE
    return f"{value:.10g}" if isinstance(value, float) else printable(str(value))


def key_name(column: str) -> str:
    """Call a column of a sweep by the end of its path."""
    return ".".join(printable(column).split(".")[-2:])


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit in which a column is told."""

    name: str
    scale: float

    def head(self, label: str) -> str:
        """Give the head of a column."""
        return f"{label} / {self.name}" if self.name else label


def unit(column: str, values: Iterable[float | None]) -> Unit:
    """Choose a unit for a column by the end of its name, and by how large its values are."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    steps: Sequence[tuple[float, str, float]]
    if column.endswith("bit_per_s"):
        steps = ((1e9, "Gbit/s", 1e-9), (1e6, "Mbit/s", 1e-6), (1e3, "kbit/s", 1e-3), (0, "bit/s", 1))
    elif column.endswith("_bytes"):
        steps = ((1e9, "GB", 1e-9), (1e6, "MB", 1e-6), (1e4, "kB", 1e-3), (0, "B", 1))
    elif column.endswith("_s"):
        steps = ((10, "s", 1), (0, "ms", 1e3))
    elif column.endswith(("_ratio", "_share")):
        steps = ((0, "%", 100),)
    elif column.endswith("_packets"):
        steps = ((0, "packets", 1),)
    else:
        steps = ((0, "", 1),)
    _, name, scale = next(step for step in steps if largest >= step[0])
    return Unit(name, scale)


def told(values: Iterable[float | None], scale: float) -> str:
    """Tell the mean of the values of several runs with its interval, or the value of a single one."""
    known = [value * scale for value in values if value is not None]
    if not known:
        return NONE
    mean, width = interval(known)
    return number(mean) if width is None else with_width(mean, width)


def interval(values: Sequence[float]) -> tuple[float, float | None]:
    """Give the mean of values and half the width of its interval; None of one value, and of equal ones."""
    if len(values) == 1 or min(values) == max(values):
        return fmean(values[:1]), None
    return mean_interval(values, LEVEL)


def number(value: float) -> str:
    """Tell a number: a whole one with all its digits, others with three that matter."""
    if 0 < value < LEAST:
        return f"< {LEAST}"
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else short(value)  # noqa: PLR2004


def with_width(mean: float, width: float) -> str:
    """Tell a mean to the digits that its interval leaves it."""
    decimals = min(DECIMALS, max(0, 1 - math.floor(math.log10(width)))) if width > 0 else DECIMALS
    return f"{mean:,.{decimals}f} ± {width:,.{decimals}f}"


FLOWS: tuple[Sheet, ...] = (
    Sheet(
        "delivery",
        "Delivery",
        "What each flow sent, what arrived, and how fast.",
        "flows",
        ("flow",),
        (
            Measure("messages_sent", "sent messages"),
            Measure("messages_delivered", "delivered"),
            Measure("messages_retransmitted", "retransmitted"),
            Measure("messages_late", "too late"),
            Measure("messages_abandoned", "given up", is_quiet=True),
            Measure("messages_corrupt", "corrupt", is_quiet=True),
            Measure("messages_out_of_order", "out of order", is_quiet=True),
            Measure("delivered_bytes", "delivered data"),
            Measure("throughput_bit_per_s", "throughput"),
        ),
    ),
    Sheet(
        "delays",
        "Delays and gaps",
        "How long messages of each flow took, and the longest time without a new one.",
        "flows",
        ("flow",),
        (
            Measure("delay_mean_s", "mean delay"),
            Measure("delay_median_s", "median"),
            Measure("delay_p99_s", "99 % below"),
            Measure("delay_max_s", "largest"),
            Measure("retransmitted_delay_mean_s", "mean of retransmitted"),
            Measure("gap_max_s", "longest gap"),
        ),
    ),
    Sheet(
        "failover-times",
        "Failovers of flows",
        "How often each flow went over to another path, and for how long nothing new left.",
        "flows",
        ("flow",),
        (
            Measure("failovers", "failovers"),
            Measure("spurious_failovers", "spurious"),
            Measure("failover_max_s", "longest failover"),
        ),
    ),
)
OTHERS: tuple[Sheet, ...] = (
    Sheet(
        "sessions",
        "Sessions",
        "Sessions of each table: how many came to their end, and in which time.",
        "session_sources",
        ("sessions",),
        (
            Measure("begun_sessions", "begun"),
            Measure("completed_sessions", "completed"),
            Measure("failed_sessions", "failed"),
            Measure("unfinished_sessions", "unfinished"),
            Measure("retransmissions", "retransmissions"),
            Measure("throughput_mean_bit_per_s", "mean throughput"),
            Measure("duration_mean_s", "mean duration"),
        ),
    ),
    Sheet(
        "requests",
        "Requests",
        "Requests of sessions, and how long their answers took.",
        "request_sources",
        ("sessions",),
        (
            Measure("asked_requests", "asked"),
            Measure("answered_requests", "answered"),
            Measure("response_mean_s", "mean response"),
            Measure("response_p50_s", "median"),
            Measure("response_p99_s", "99 % below"),
        ),
    ),
    Sheet(
        "signalling",
        "Signalling loads",
        "Messages of each signalling load, and how long they took.",
        "signalling_load",
        ("load", "link"),
        (
            Measure("sent_messages", "sent messages"),
            Measure("delivered_messages", "delivered"),
            Measure("late_messages", "late", is_quiet=True),
            Measure("lost_messages", "lost"),
            Measure("refused_messages", "refused", is_quiet=True),
            Measure("repeated_messages", "repeated", is_quiet=True),
            Measure("out_of_sequence_messages", "out of sequence", is_quiet=True),
            Measure("delay_mean_s", "mean delay"),
            Measure("delay_p99_s", "99 % below"),
            Measure("delay_max_s", "largest"),
            Measure("unavailable_s", "unavailable"),
        ),
    ),
    Sheet(
        "signalling-links",
        "Signalling links",
        "Each end of a signalling link.",
        "signalling_links",
        ("link", "point"),
        (
            Measure("sent_messages", "sent messages"),
            Measure("repeated_messages", "retransmitted"),
            Measure("discarded_messages", "discarded", is_quiet=True),
            Measure("times_unavailable", "times unavailable"),
            Measure("outage_s", "outage"),
            Measure("outage_max_s", "longest outage"),
        ),
    ),
    Sheet(
        "signalling-service",
        "Failovers of signalling links and ASPs",
        "How often the traffic of each end went to another link, ASP or path, and how long that took.",
        "signalling_service",
        ("point", "kind", "name"),
        (
            Measure("failovers", "failovers"),
            Measure("spurious_failovers", "spurious"),
            Measure("failover_max_s", "longest failover"),
        ),
    ),
    Sheet(
        "mtp3-links",
        "MTP3: changeovers",
        "Each signalling link as MTP3 at its point sees it.",
        "mtp3_links",
        ("point", "link"),
        (
            Measure("failures", "failures"),
            Measure("changeovers", "changeovers"),
            Measure("changebacks", "changebacks"),
            Measure("times_congested", "times congested"),
            Measure("congested_s", "congested"),
            Measure("unavailable_s", "unavailable"),
        ),
    ),
    Sheet(
        "associations",
        "Associations of M3UA",
        "Each end of an association.",
        "signalling_associations",
        ("association", "at"),
        (
            Measure("data_sent_messages", "DATA sent"),
            Measure("data_received_messages", "DATA received"),
            Measure("times_up", "times up"),
            Measure("times_lost", "times lost"),
        ),
    ),
    Sheet(
        "links",
        "Links",
        "Each direction of a link: what it was given, what it lost, and how much it was used.",
        "links",
        ("link", "direction"),
        (
            Measure("offered_packets", "offered"),
            Measure("carried_packets", "carried"),
            Measure("dropped_*_packets", "dropped in all"),
            Measure("dropped_queue_full_packets", "queue full", is_quiet=True),
            Measure("damaged_packets", "damaged", is_quiet=True),
            Measure("throughput_bit_per_s", "throughput"),
            Measure("utilisation_ratio", "used"),
            Measure("queue_mean_packets", "mean queue"),
            Measure("queue_max_packets", "longest queue"),
        ),
    ),
    Sheet(
        "antennas",
        "Antennas",
        "Each antenna: changes of its satellite, and packets that waited meanwhile.",
        "antennas",
        ("link", "site"),
        (
            Measure("handovers", "handovers"),
            Measure("*_lost_packets", "lost"),
            Measure("uplink_held_packets", "held"),
            Measure("downlink_handed_over_packets", "handed over"),
        ),
    ),
    Sheet(
        "availability",
        "Availability of paths",
        "Each path between hosts: when it carried nothing.",
        "host_paths",
        ("from", "to", "path"),
        (
            Measure("outages", "outages"),
            Measure("outage_s", "outage"),
            Measure("outage_max_s", "longest outage"),
            Measure("available_share", "available"),
        ),
    ),
)
SKY: tuple[Sheet, ...] = (
    Sheet(
        "paths",
        "Paths",
        "Each path over the whole span.",
        "summary",
        ("path", "from", "to"),
        (
            Measure("connected_ratio", "connected"),
            Measure("gaps", "gaps"),
            Measure("longest_gap_s", "longest gap"),
            Measure("delay_min_s", "least delay"),
            Measure("delay_mean_s", "mean delay"),
            Measure("delay_max_s", "largest delay"),
            Measure("hops_min", "fewest hops"),
            Measure("hops_max", "most hops"),
            Measure("path_changes", "changes"),
            Measure("handovers", "handovers"),
        ),
    ),
    Sheet(
        "coverage",
        "Coverage of sites",
        "Each site: when a satellite was in view.",
        "coverage",
        ("site",),
        (
            Measure("covered_ratio", "covered"),
            Measure("gaps", "gaps"),
            Measure("longest_gap_s", "longest gap"),
            Measure("passes", "passes"),
            Measure("satellites", "satellites"),
        ),
    ),
)
