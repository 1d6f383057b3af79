"""Tables that are charts over time: each line of them by what tells it apart, each column a chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slantpath.plots.results import Source, printable
from slantpath.view.thinning import Lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from slantpath.report.results import Results
    from slantpath.view.blocks import Blocks

    Numbers = NDArray[np.float64]
    Key = tuple[str | None, ...]

MOST_LINES = 500
"""Lines of a table that are embedded."""
TIMES = ("start_s", "end_s", "at_s")
OF_ITS_OWN: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "messages": ("delivered_s", ("delay_s", "retransmission_s", "queueing_s", "receiver_wait_s")),
    "delay": ("at_s", ("delay_s", "hops")),
    "sky_paths": ("at_s", ("propagation_s", "satellite_count")),
    "access": (
        "at_s",
        ("asked_bit_per_s", "allocated_bit_per_s", "backlog_bytes", "offered_bytes", "requests", "collided"),
    ),
}
"""Other tables than those of intervals: their instants, and the columns that are charts."""
FIRST = (
    "throughput_bit_per_s",
    "utilisation_ratio",
    "delay_mean_s",
    "delay_s",
    "propagation_s",
    "allocated_bit_per_s",
)
"""Columns with which a chart begins, the most telling one first."""
TITLES = {"delay": "paths under the sky"}
"""Names of tables whose own name says too little."""
POINTS = frozenset({"messages"})
"""Tables whose rows are points, and not joined by lines."""
HELD = frozenset({"sky_paths"})
"""Tables whose rows hold until the next one."""


@dataclass(frozen=True, slots=True)
class Charted:
    """A table that is drawn over time."""

    name: str
    source: Source
    at: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    rows: int

    @property
    def cells(self) -> int:
        """Count the numbers that are embedded of it if nothing is left out."""
        return self.rows * (len(self.values) + 1)


def found(results: Results) -> list[Charted]:
    """Find the tables of a directory that are charts."""
    charts = []
    for name in results.tables():
        rows, columns = results.shape(name)
        if not rows or not (name.endswith("_intervals") or name in OF_ITS_OWN):
            continue
        source = Source(results.path / f"{name}.parquet")
        kinds = {column.name: column.type for column in source.schema}
        at, own = OF_ITS_OWN.get(name, ("end_s", ()))
        keys = tuple(
            column
            for column in columns
            if "." in column or (pa.types.is_string(kinds[column]) and not column.endswith("_path"))
        )
        if name == "sky_paths":
            keys = tuple(key for key in keys if key != "satellites")
        wanted = own or tuple(
            column for column in columns if column not in (*keys, *TIMES, "run") and _is_number(kinds[column])
        )
        values = tuple(column for column in wanted if column in kinds)
        if at in kinds and _is_number(kinds[at]) and values:
            charts.append(Charted(name, source, at, keys, values, rows))
    return charts


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def embed(
    charted: Charted, most_cells: int, blocks: Blocks, notes: list[str], offset_s: float = 0.0
) -> dict[str, Any] | None:
    """Embed a table, thinned to so many cells; give what the page is told of it."""
    lines = Lines(len(charted.values), max(most_cells // (len(charted.values) + 1), 1))
    number: dict[Key, int] = {}
    run: Any = None
    others = left_out = 0
    has_run = "run" in charted.source.schema.names
    wanted = {*charted.keys, *charted.values, charted.at, *(("run",) if has_run else ())}
    for read in charted.source.batches(wanted):
        batch = read
        if has_run and batch.num_rows:
            run = batch.column("run")[0].as_py() if run is None else run
            batch = batch.filter(pc.equal(batch.column("run"), run))
            others += read.num_rows - batch.num_rows
        if not batch.num_rows:
            continue
        owner = _owners(batch, charted.keys, number)
        is_kept = owner < MOST_LINES
        left_out += int((~is_kept).sum())
        at_s = _numbers(batch.column(charted.at)) + offset_s
        values = [_numbers(batch.column(name)) for name in charted.values]
        lines.add(owner[is_kept], at_s[is_kept], [value[is_kept] for value in values])
    owner, at_s, values = lines.rows()
    if not len(at_s):
        return None
    blocks.add(charted.name, {"at": at_s, **{f"c{place}": value for place, value in enumerate(values)}})
    if lines.is_thinned:
        notes.append(
            f"{charted.name}: {lines.read:,} rows are thinned to {len(at_s):,}; "
            f"of every {lines.stretch_s:.3g} s each line keeps its least and greatest values."
        )
    if others:
        notes.append(f"{charted.name}: run {run} is shown, other runs ({others:,} rows) are not.")
    if left_out:
        notes.append(f"{charted.name}: {MOST_LINES} of {len(number):,} lines are shown; the first ones.")
    starts = np.searchsorted(owner, np.arange(min(len(number), MOST_LINES) + 1))
    told = [place for place in range(len(charted.keys)) if len({key[place] for key in number}) > 1] or list(
        range(min(len(charted.keys), 1))
    )
    return {
        "name": charted.name,
        "title": TITLES.get(charted.name, charted.name.replace("_", " ")),
        "at": charted.at,
        "rows": len(at_s),
        "thinned": lines.is_thinned,
        "points": charted.name in POINTS,
        "held": charted.name in HELD,
        "columns": list(charted.values),
        "first": _first(charted.values),
        "lines": [
            {
                "label": _label(key, charted.keys, told) or charted.name,
                "from": int(starts[place]),
                "to": int(starts[place + 1]),
            }
            for key, place in number.items()
            if place < MOST_LINES
        ],
    }


def _first(values: Sequence[str]) -> str:
    return next((name for name in FIRST if name in values), values[0])


def _label(key: Key, names: Sequence[str], told: Sequence[int]) -> str:
    parts = [
        f"{names[place].rpartition('.')[2]} {key[place]}" if "." in names[place] else str(key[place])
        for place in told
    ]
    return printable(", ".join(parts))


def _owners(batch: pa.RecordBatch, keys: Sequence[str], number: dict[Key, int]) -> NDArray[np.int64]:
    """Give the number of the line of each row; lines that were not seen before have the next numbers."""
    code = np.zeros(batch.num_rows, dtype=np.int64)
    for key in keys:
        column = batch.column(key)
        coded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
        indices = np.asarray(pc.fill_null(pc.cast(coded.indices, pa.int64()), len(coded.dictionary)))
        _, code = np.unique(code * (len(coded.dictionary) + 1) + indices, return_inverse=True)
    _, first, group = np.unique(code, return_index=True, return_inverse=True)
    owners = np.empty(len(first), dtype=np.int64)
    for place in np.argsort(first, kind="stable"):
        at = int(first[place])
        key_of = tuple(_told(batch.column(key)[at].as_py()) for key in keys)
        owners[place] = number.setdefault(key_of, len(number))
    return owners[group]


def _told(value: object) -> str | None:
    return None if value is None else str(value)


def _numbers(column: pa.Array) -> Numbers:
    """Give numbers, NaN where one is missing."""
    cast: Numbers = np.asarray(
        pc.fill_null(pc.cast(column, pa.float64(), safe=False), float("nan")), dtype=np.float64
    )
    return cast
