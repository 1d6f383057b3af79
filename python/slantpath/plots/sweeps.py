"""Figures of a sweep: a measure over one axis, with a line for each value of the others, or over two."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from slantpath.figures import numbers, plain, short
from slantpath.plots import drawing
from slantpath.plots.drawing import MOST_LINES, Drawn
from slantpath.plots.results import NothingToDrawError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from slantpath.plots.results import ResultDirectory

    Numbers = NDArray[np.float64]

SUMMARY = "_summary"
OF_SUMMARIES = ("measure", "mean", "half_width", "low", "high", "runs")
USUAL = {
    "flows": (
        "throughput_bit_per_s",
        "delay_mean_s",
        "delay_p99_s",
        "messages_retransmitted",
        "gap_max_s",
        "failover_max_s",
    ),
    "links": ("utilisation_ratio", "queue_mean_packets"),
    "signalling_load": ("delay_mean_s", "delay_p99_s", "loss_ratio"),
    "signalling_links": ("outage_s",),
    "signalling_service": ("failover_max_s",),
}
"""Measures that are drawn of a table if none is named."""
UNITS = ("_bit_per_s", "_packets", "_bytes", "_ratio", "_s")
WIDE = 30.0
"""Range of an axis from which on it is logarithmic, if it has more than three values."""
BESIDE = 0.3
"""Share of the room of a name over which the points of several lines spread."""
AXES_OF_MAP = 2


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a table of a sweep."""

    table: str
    name: str

    @property
    def file(self) -> str:
        """The name of its figure."""
        return f"{self.table}-{self.name}"

    @property
    def title(self) -> str:
        """What it is, in words."""
        name, _, _ = drawing.unit_of(self.name, 0.0)
        return f"{name} of {self.table}".replace("_", " ")


def tables(results: ResultDirectory) -> list[str]:
    """Give the tables that have means of each point of a sweep."""
    found = []
    for name in results.tables:
        columns = results.columns(name) if name.endswith(SUMMARY) else []
        if set(OF_SUMMARIES) <= set(columns) and any("." in column for column in columns):
            found.append(name.removesuffix(SUMMARY))
    return found


def usual(results: ResultDirectory) -> list[Measure]:
    """Give the measures that are drawn if none is named, of those that there are."""
    found = []
    for table in tables(results):
        there = _measures(results, table)
        found += [Measure(table, name) for name in USUAL.get(table, ()) if name in there]
    return found


def named(results: ResultDirectory, names: Iterable[str]) -> list[Measure]:
    """Find measures by their names, with that of their table before a dot or without it."""
    there = [Measure(table, name) for table in tables(results) for name in _measures(results, table)]
    if not there:
        message = (
            f"{results.path}: there are no means over the points of a sweep: give a directory of "
            "`slantpath sweep --out` whose `tables` have `flows`, `links` or others with keys"
        )
        raise NothingToDrawError(message)
    found = []
    for name in names:
        same = [each for each in there if name in (each.name, f"{each.table}.{each.name}")]
        if len(same) != 1:
            several = [f"{each.table}.{each.name}" for each in same or there]
            columns = dict.fromkeys(each.name for each in there)
            near = [] if same else difflib.get_close_matches(name.rpartition(".")[2], columns)
            what = "is one of several" if same else "is no measure"
            cure = f"did you mean {' or '.join(near)}?" if near else f"name one of {', '.join(several)}"
            message = f"`{printable(name)}` {what}: {cure}"
            raise NothingToDrawError(message)
        found += same
    return found


def _measures(results: ResultDirectory, table: str) -> list[str]:
    """Give the measures of a table of which some point has a mean."""
    found: dict[str, None] = {}
    for rows in results.batches(table + SUMMARY, ("measure", "mean")):
        known = rows.filter(rows.column("mean").is_valid())
        found |= dict.fromkeys(known.column("measure").to_pylist())
    return list(found)


def draw(axes: Axes, results: ResultDirectory, measure: Measure, over: Sequence[str] = ()) -> Drawn:
    """Draw a measure over an axis of the sweep, or over two as a map."""
    table = measure.table + SUMMARY
    columns = results.columns(table)
    rows = results.tables.sources[table].table(results.batches(table, columns), columns)
    rows = rows.filter(pc.equal(rows.column("measure"), measure.name))
    rows = rows.filter(pc.is_valid(rows.column("mean")))
    if not rows.num_rows:
        message = f"`{table}` has no such rows of `{measure.name}`"
        raise NothingToDrawError(message)
    varied = _varied(rows, [column for column in columns if "." in column])
    keys = [
        column
        for column in columns[: columns.index("measure")]
        if "." not in column and len(set(_texts(rows, column))) > 1
    ]
    across = [_axis(varied, name) for name in over] if over else [_longest(rows, varied)]
    if len(across) > AXES_OF_MAP or len(set(across)) != len(across):
        message = f"{measure.name} is drawn over one axis or two, not over {', '.join(over)}"
        raise NothingToDrawError(message)
    largest = float(np.abs(numbers(rows, "high" if _has_bars(rows) else "mean")).max())
    name, unit, unit_name = drawing.unit_of(measure.name, largest)
    label = drawing.with_unit(name.replace("_", " "), unit_name)
    others = [group[0] for group in varied if group[0] not in across] + keys
    if len(across) == AXES_OF_MAP:
        drawn = _map(axes, rows, (across[0], across[1]), others, unit, label)
    else:
        drawn = _lines(axes, rows, across[0], others, unit, label)
    what = f"{results.name}: " if results.name else ""
    drawing.title(axes, f"{what}{measure.title}")
    entries = len(axes.get_legend_handles_labels()[1])
    if entries > 1:
        drawing.legend(axes, entries)
    together = [f"{', '.join(group[1:])} with {group[0]}" for group in varied if len(group) > 1]
    changed = [f"Changed together: {'; '.join(map(printable, together))}."] if together else []
    return replace(drawn, remarks=[*drawn.remarks, *changed])


def _lines(axes: Axes, rows: pa.Table, across: str, others: Sequence[str], unit: float, label: str) -> Drawn:
    groups = _groups(rows, others)
    places, names, axis_name = _places(rows, across)
    axis_unit = axis_name.partition(" / ")[2]
    is_numeric = _is_numeric(rows, across)
    count = min(len(groups), MOST_LINES)
    told: list[Sequence[str]] = []
    for place, (group, at) in enumerate(list(groups.items())[:MOST_LINES]):
        order = at[np.argsort(places[at], kind="stable")]
        mean, low, high = (numbers(rows, column)[order] / unit for column in ("mean", "low", "high"))
        bars = np.where(np.isnan(low), 0.0, mean - low), np.where(np.isnan(high), 0.0, high - mean)
        look = drawing.look(place, len(order)) | {"markevery": 1}
        if not is_numeric:
            # Nothing lies between two names, and bars of one name stand beside each other.
            look["linestyle"] = "none"
        aside = 0.0 if is_numeric else BESIDE * (place - (count - 1) / 2) / count
        axes.errorbar(
            places[order] + aside,
            mean,
            yerr=np.maximum(bars, 0),
            label=plain(group),
            capsize=2.5,
            elinewidth=0.9,
            **look,
        )
        for spot, value, half in zip(order, mean, bars[1], strict=True):
            point = _join(group, f"{names[spot]} {axis_unit}".rstrip())
            told.append((point, short(float(value)), short(float(half))))
    axes.set_xlabel(plain(axis_name))
    axes.set_ylabel(plain(label))
    if is_numeric:
        _scale(axes, places)
    else:
        spots = sorted({(float(place), name) for place, name in zip(places, names, strict=True)})
        axes.set_xticks([place for place, _ in spots], [plain(name) for _, name in spots])
        axes.set_xmargin(0.08)
    drawing.from_zero(axes)
    remarks = [_bars(rows)]
    if len(groups) > MOST_LINES:
        remarks.append(f"The first {MOST_LINES} of {len(groups)} lines; `--only COLUMN=VALUE` chooses.")
    unit_name = label.partition(" / ")[2]
    head = ("point", *(drawing.with_unit(name, unit_name) for name in ("mean", "±")))
    return Drawn(head, told, (), remarks)


def _map(
    axes: Axes, rows: pa.Table, across: tuple[str, str], others: Sequence[str], unit: float, label: str
) -> Drawn:
    groups = _groups(rows, others)
    if len(groups) > 1:
        names = ", ".join(others)
        message = (
            f"a map over two axes has no lines for the values of {names}: "
            f"choose them by `--only COLUMN=VALUE`, or give one axis"
        )
        raise NothingToDrawError(message)
    wide, wide_names, wide_name = _places(rows, across[0])
    high, high_names, high_name = _places(rows, across[1])
    columns, column_of = np.unique(wide, return_inverse=True)
    lines, line_of = np.unique(high, return_inverse=True)
    means = np.full((len(lines), len(columns)), np.nan)
    means[line_of, column_of] = numbers(rows, "mean") / unit
    mesh = axes.pcolormesh(np.arange(len(columns)), np.arange(len(lines)), means, cmap="viridis")
    axes.grid(visible=False)
    middle = (np.nanmin(means) + np.nanmax(means)) / 2
    told: list[Sequence[str]] = []
    half = numbers(rows, "half_width") / unit
    for row in range(rows.num_rows):
        at = int(column_of[row]), int(line_of[row])
        value, error = float(means[at[1], at[0]]), float(half[row])
        text = short(value) if np.isnan(error) else f"{short(value)} ± {short(error)}"
        ink = "white" if value < middle else "black"
        axes.text(*at, text, ha="center", va="center", fontsize="small", color=ink)
        point = (
            f"{names[row]} {name.partition(' / ')[2]}".rstrip()
            for names, name in ((wide_names, wide_name), (high_names, high_name))
        )
        told.append((", ".join(point), text))
    for setter, places, all_places, all_names in (
        (axes.set_xticks, columns, wide, wide_names),
        (axes.set_yticks, lines, high, high_names),
    ):
        named_places = dict(zip(all_places.tolist(), all_names, strict=True))
        setter(range(len(places)), [plain(named_places[place]) for place in places.tolist()])
    axes.set_xlabel(plain(wide_name))
    axes.set_ylabel(plain(high_name))
    axes.figure.colorbar(mesh, ax=axes, label=plain(label))
    return Drawn(("point", label), told, (), [_bars(rows)])


def _varied(rows: pa.Table, paths: Sequence[str]) -> list[list[str]]:
    """Give the paths that differ, those together that change together."""
    groups: list[list[str]] = []
    for path in paths:
        values = _texts(rows, path)
        if len(set(values)) < 2:  # noqa: PLR2004 - one value is no axis
            continue
        for group in groups:
            pairs = set(zip(_texts(rows, group[0]), values, strict=True))
            if len(pairs) == len(set(values)) == len(set(_texts(rows, group[0]))):
                group.append(path)
                break
        else:
            groups.append([path])
    if not groups:
        message = "the rows that were asked for are of one point: there is no axis to draw over"
        raise NothingToDrawError(message)
    return groups


def _axis(varied: Sequence[Sequence[str]], name: str) -> str:
    """Find an axis by its path, with or without unit, or by the end of it."""
    paths = {path: group[0] for group in varied for path in group}
    for same in (
        [path for path in paths if name in (path, _without_unit(path))],
        [path for path in paths if name in (path.rpartition(".")[2], _without_unit(path).rpartition(".")[2])],
    ):
        if len(same) == 1:
            return paths[same[0]]
    there = ", ".join(map(_without_unit, paths))
    message = f"`{printable(name)}` is no axis that varies: name one of {there}"
    raise NothingToDrawError(message)


def _longest(rows: pa.Table, varied: Sequence[Sequence[str]]) -> str:
    """Give the axis of numbers with most values, or the axis with most values if none has numbers."""
    return max(
        (group[0] for group in varied),
        key=lambda path: (_is_numeric(rows, path), len(set(_texts(rows, path)))),
    )


def _groups(rows: pa.Table, others: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Give the rows of each line by what tells it from the others."""
    columns = [_values(rows, column) for column in others]
    found: dict[str, list[int]] = {}
    for row in range(rows.num_rows):
        found.setdefault(", ".join(column[row] for column in columns), []).append(row)
    return {name: np.array(places) for name, places in found.items()}


def _values(rows: pa.Table, column: str) -> list[str]:
    """Write the values of a column as one would say them: ``loss 1 %``."""
    if "." not in column:
        return [printable(text) for text in _texts(rows, column)]
    _, names, label = _places(rows, column)
    name, _, unit = label.rpartition(".")[2].partition(" / ")
    return [f"{name} {value} {unit}".rstrip() for value in names]


def _places(rows: pa.Table, column: str) -> tuple[Numbers, list[str], str]:
    """Give where rows lie along an axis, what is written there, and what the axis is called."""
    if not _is_numeric(rows, column):
        texts = [printable(text) for text in _texts(rows, column)]
        order = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        return np.array([order[text] for text in texts], dtype=np.float64), texts, column
    values = numbers(rows, column)
    name, unit, unit_name = drawing.unit_of(column, float(np.abs(values).max()))
    places = values / unit
    return places, [f"{place:.12g}" for place in places], drawing.with_unit(name, unit_name)


def _scale(axes: Axes, places: Numbers) -> None:
    """Draw an axis over several powers of ten as a logarithmic one."""
    values = np.unique(places)
    if len(values) > 3 and values[0] > 0 and values[-1] / values[0] >= WIDE:  # noqa: PLR2004
        axes.set_xscale("log")
    if len(values) <= MOST_LINES:
        axes.set_xticks(values, [f"{value:.6g}" for value in values])
        axes.minorticks_off()


def _bars(rows: pa.Table) -> str:
    runs = sorted({int(count) for count in numbers(rows, "runs")})
    over = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    if not _has_bars(rows):
        return "One run of each point: there are no intervals."
    return f"Intervals of 99 % over {over} runs of each point."


def _has_bars(rows: pa.Table) -> bool:
    return bool((~np.isnan(numbers(rows, "high"))).all())


def _is_numeric(rows: pa.Table, column: str) -> bool:
    return _kind(rows, column) not in {"string", "bool", "large_string"}


def _kind(rows: pa.Table, column: str) -> str:
    return str(rows.schema.field(column).type)


def _texts(rows: pa.Table, column: str) -> list[str]:
    return ["–" if cell is None else str(cell) for cell in rows.column(column).to_pylist()]


def _without_unit(path: str) -> str:
    for unit in UNITS:
        if path.endswith(unit):
            return path.removesuffix(unit)
    return path


def _join(group: str, point: str) -> str:
    return f"{group} at {point}" if group else point
