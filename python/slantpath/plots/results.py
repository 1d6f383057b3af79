"""Result directories as the command leaves them: their tables, and what tells lines of a figure apart."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TABLES = ("delay_bins", "flow_intervals", "messages", "paths", "queues")
"""Tables that figures are drawn of."""


class NothingToDrawError(Exception):
    """A directory that holds no results, or none that were asked for."""


@dataclass(frozen=True, slots=True)
class Line:
    """The rows of a table that belong together, and what they are called."""

    label: str
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class ResultDirectory:
    """The tables of one or more runs, read back, and what they came from."""

    path: Path
    manifest: Mapping[str, Any]
    tables: Mapping[str, pa.Table]
    only: Sequence[tuple[str, str]] = field(default=())
    """Columns and the values that they must have."""

    @classmethod
    def read(cls, path: Path, only: Sequence[tuple[str, str]] = ()) -> ResultDirectory:
        """Read what ``slantpath run --out`` or ``slantpath sweep --out`` wrote."""
        if not path.is_dir():
            message = f"{path} is no directory of results: give one that `slantpath run --out` wrote"
            raise NothingToDrawError(message)
        manifest = _manifest(path)
        if "state" in manifest:
            state = printable(str(manifest["state"]))
            message = f"{path} is not whole ({state}): its command is at work, or was ended; give it again"
            raise NothingToDrawError(message)
        if "topology" in manifest:
            message = f"{path} holds the answer of `slantpath topology`, whose figures lie beside its tables"
            raise NothingToDrawError(message)
        tables = {name: _table(path / f"{name}.parquet") for name in TABLES}
        found = {name: table for name, table in tables.items() if table is not None}
        if not manifest and not found:
            message = f"{path} holds no results: give a directory that `slantpath run --out` wrote"
            raise NothingToDrawError(message)
        columns = {column for table in found.values() for column in table.column_names}
        for column, _ in only:
            if column not in columns:
                message = f"no table has a column `{column}`; there are {', '.join(sorted(columns))}"
                raise NothingToDrawError(message)
        return cls(path, manifest, found, tuple(only))

    @property
    def name(self) -> str:
        """What the results are called."""
        return printable(
            str(self.manifest.get("scenario", self.manifest.get("sweep_of", self.path.resolve().name)))
        )

    @property
    def of_sweep(self) -> tuple[str, ...] | None:
        """The tables that a sweep keeps; None of what is no sweep's."""
        tables = self.manifest.get("tables")
        if "sweep_of" not in self.manifest or not isinstance(tables, list):
            return None
        return tuple(printable(str(table)) for table in tables)

    def rows(self, table: str) -> pa.Table | None:
        """Give the rows of a table that were asked for."""
        rows = self.tables.get(table)
        for column, value in self.only:
            if rows is not None and column in rows.column_names:
                rows = rows.filter(pc.equal(pc.cast(rows.column(column), pa.string()), value))
        return rows

    def lines(
        self, table: str, own: Sequence[str], *, all_runs: bool = False
    ) -> tuple[list[Line], list[int]]:
        """Tell the lines of a table apart, by its ``own`` columns and by those of a sweep before them.

        Only the first run is taken unless ``all_runs`` are to be one line. Give the lines, and the numbers of
        all the runs that there are.
        """
        rows = self.rows(table)
        if rows is None or not rows.num_rows:
            return [], []
        before = rows.column_names[: rows.column_names.index(own[0])]
        runs: list[int] = []
        if "run" in before:
            runs = sorted(pc.unique(rows.column("run")).to_pylist())
            if not all_runs:
                rows = rows.filter(pc.equal(rows.column("run"), runs[0]))
        keys = [column for column in before if column != "run"] + list(own)
        plain = rows
        for column in keys:
            place = plain.column_names.index(column)
            plain = plain.set_column(place, column, pc.cast(plain.column(column), pa.string()))
        groups = plain.group_by(keys, use_threads=False).aggregate([]).to_pylist()
        told = [key for key in keys if len({group[key] for group in groups}) > 1] or [own[0]]
        lines = []
        for group in groups:
            chosen = None
            for key in keys:
                same = (
                    pc.is_null(plain.column(key))
                    if group[key] is None
                    else pc.equal(plain.column(key), group[key])
                )
                chosen = same if chosen is None else pc.and_kleene(chosen, same)
            label = ", ".join(
                str(group[key]) if key in own else f"{key.rpartition('.')[2]} {group[key]}" for key in told
            )
            lines.append(Line(printable(label), rows.filter(chosen)))
        return lines, runs


def printable(text: str) -> str:
    """Give a name without what would move a terminal's cursor or turn its text around."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        message = f"{path / 'manifest.json'} is not whole: {error}"
        raise NothingToDrawError(message) from error
    return manifest if isinstance(manifest, dict) else {}


def _table(path: Path) -> pa.Table | None:
    try:
        # A file, not a data set: a directory called `run=3` on the way must not become a column. By its
        # path, not by a file of Python's: a thread of Arrow may hold on to what it read, and free it when
        # Python has ended.
        return pq.read_table(path, partitioning=None)
    except FileNotFoundError:
        return None
    except pa.ArrowException as error:
        message = f"{path} is not whole: {error}"
        raise NothingToDrawError(message) from error
