"""Result directories as the command leaves them: their tables, and what tells lines of a figure apart.

Tables are read in batches, and of those the columns that a figure shows: a run may have millions of messages.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from slantpath import versions
from slantpath.figures import Made

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from slantpath.running import RunOutput

    Results: TypeAlias = str | os.PathLike[str] | "ResultDirectory" | Mapping[str, Any] | RunOutput

ROWS = 65_536
"""Rows that are read at a time."""
UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
"""Units of time as scenarios write them."""


class NothingToDrawError(Exception):
    """A directory that holds no results, or none that were asked for."""


@dataclass(frozen=True, slots=True)
class Line:
    """The rows of a table that belong together, and what they are called."""

    label: str
    rows: pa.Table


@dataclass(frozen=True)
class Source:
    """A table on the disk or in memory, of which what is asked for is read."""

    origin: Path | pa.Table

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns and their types."""
        if not isinstance(self.origin, Path):
            return self.origin.schema
        try:
            return pq.read_schema(self.origin)
        except pa.ArrowException as error:
            message = f"{self.origin} is not whole: {error}"
            raise NothingToDrawError(message) from error

    def batches(self, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
        """Give the rows in batches, with those columns in the order of the table."""
        names = [name for name in self.schema.names if name in columns]
        if not isinstance(self.origin, Path):
            yield from self.origin.select(names).to_batches(ROWS)
            return
        # A few names in many rows: each is held once.
        named = [name for name in names if pa.types.is_string(self.schema.field(name).type)]
        try:
            # By its path, not by a file of Python's: a thread of Arrow may hold on to what it read, and free
            # it when Python has ended. Without threads and ahead of time, a batch is all that is held.
            with pq.ParquetFile(self.origin, read_dictionary=named, pre_buffer=False) as file:
                yield from file.iter_batches(ROWS, columns=names, use_threads=False)
        except pa.ArrowException as error:
            message = f"{self.origin} is not whole: {error}"
            raise NothingToDrawError(message) from error

    def read(self, columns: Collection[str] | None = None) -> pa.Table:
        """Give all rows, with those columns or with all."""
        names = [name for name in self.schema.names if columns is None or name in columns]
        return self.table(self.batches(names), names)

    def table(self, batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> pa.Table:
        """Lay batches together, as a table of those columns, each of the type that it has in the table."""
        schema = pa.schema([self.schema.field(name) for name in names])
        return pa.Table.from_batches(
            [
                pa.RecordBatch.from_arrays(
                    [_of_type(batch.column(field.name), field.type) for field in schema], schema=schema
                )
                for batch in batches
            ],
            schema,
        )


class Tables(Mapping[str, pa.Table]):
    """Tables by their names; one is read when it is asked for."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        """Take where the tables lie."""
        self.sources = sources

    def __getitem__(self, name: str) -> pa.Table:
        """Read a table."""
        return self.sources[name].read()

    def __iter__(self) -> Iterator[str]:
        """Give the names."""
        return iter(self.sources)

    def __len__(self) -> int:
        """Count the tables."""
        return len(self.sources)

    def __contains__(self, name: object) -> bool:
        """Tell if there is such a table, without reading it."""
        return name in self.sources


@dataclass(frozen=True, slots=True)
class ResultDirectory:
    """The tables of one or more runs, and what they came from."""

    path: Path
    manifest: Mapping[str, Any]
    tables: Tables
    only: Sequence[tuple[str, str]] = field(default=())
    """Columns and the values that they must have."""

    @classmethod
    def read(cls, path: Path, only: Sequence[tuple[str, str]] = ()) -> ResultDirectory:
        """Find what ``slantpath run --out`` or ``slantpath sweep --out`` wrote."""
        if not path.is_dir():
            message = f"{path} is no directory of results: give one of `slantpath run --out` or `sweep --out`"
            raise NothingToDrawError(message)
        manifest = _manifest(path)
        if "state" in manifest:
            state = printable(str(manifest["state"]))
            message = f"{path} is not whole ({state}): its command is at work, or was ended; give it again"
            raise NothingToDrawError(message)
        why = versions.unread(printable(str(manifest["version"]))) if "version" in manifest else None
        if why is not None:
            message = f"{path} {why}"
            raise NothingToDrawError(message)
        if "topology" in manifest:
            message = f"{path} holds the answer of `slantpath topology`, whose figures lie beside its tables"
            raise NothingToDrawError(message)
        found = {file.stem: Source(file) for file in sorted(path.glob("*.parquet"))}
        document = next((name for name in ("plan", "load") if (path / f"{name}.json").is_file()), None)
        if document is not None and not found:
            message = f"{path} is of `slantpath {document}`: `slantpath report {path}` has all that it holds"
            raise NothingToDrawError(message)
        if not found and (path / "claims.txt").is_file():
            message = f"{path} is of a study, which has drawn its figures beside its tables"
            raise NothingToDrawError(message)
        if not found and ((path / "unfinished").is_dir() or (path / "runs").is_dir()):
            message = (
                f"{path} holds runs and no results yet: they were interrupted, and the same command goes on"
            )
            raise NothingToDrawError(message)
        if not manifest and not found:
            message = f"{path} holds no results: give a directory that `slantpath run --out` wrote"
            raise NothingToDrawError(message)
        return cls(path, manifest, Tables(found), _known(only, found))

    @classmethod
    def of(cls, results: Results, only: Sequence[tuple[str, str]] = ()) -> ResultDirectory:
        """Take a directory, or the tables of a run or a sweep that Python has in memory."""
        if isinstance(results, ResultDirectory):
            wanted = _known([*results.only, *only], results.tables.sources)
            return cls(results.path, results.manifest, results.tables, wanted)
        if isinstance(results, (str, os.PathLike)):
            return cls.read(Path(results), only)
        tables = results if isinstance(results, Mapping) else results.tables
        found = {name: Source(pa.table(table)) for name, table in tables.items()}
        return cls(Path(), {"scenario": ""}, Tables(found), _known(only, found))

    @property
    def name(self) -> str:
        """What the results are called."""
        return printable(
            str(self.manifest.get("scenario", self.manifest.get("sweep_of", self.path.resolve().name)))
        )

    @property
    def made(self) -> Made | None:
        """What made the results: program, scenario, hash and seed, as far as a manifest has them."""
        if "version" not in self.manifest:
            return None
        known = [f"{key} {self.manifest[key]}" for key in ("hash", "seed") if key in self.manifest]
        source = printable(", ".join([self.name, *known]))
        return Made(printable(f"Slantpath {self.manifest['version']}"), source)

    @property
    def of_sweep(self) -> tuple[str, ...] | None:
        """The tables that a sweep keeps; None of what is no sweep's."""
        tables = self.manifest.get("tables")
        if "sweep_of" not in self.manifest or not isinstance(tables, list):
            return None
        return tuple(printable(str(table)) for table in tables)

    @property
    def end_s(self) -> float | None:
        """Tell when a run ends, if its scenario lies beside its tables."""
        if not any(isinstance(source.origin, Path) for source in self.tables.sources.values()):
            return None
        try:
            text = (self.path / "scenario.toml").read_text(encoding="utf-8")
            number, unit = tomllib.loads(text)["scenario"]["duration"].split()
            return float(number) * UNITS_S[unit]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def columns(self, table: str) -> list[str]:
        """Give the columns of a table; none of one that is not there."""
        source = self.tables.sources.get(table)
        return [] if source is None else list(source.schema.names)

    def batches(
        self, table: str, columns: Collection[str], run: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Give the rows that were asked for, in batches of those columns; of one run, or of all."""
        source = self.tables.sources.get(table)
        if source is None:
            return
        limits = [(column, value) for column, value in self.only if column in source.schema.names]
        needed = {*columns, *(column for column, _ in limits), *(() if run is None else ("run",))}
        for read in source.batches(needed):
            rows = read if run is None else read.filter(pc.equal(read.column("run"), run))
            for column, value in limits:
                rows = rows.filter(pc.equal(pc.cast(rows.column(column), pa.string()), value))
            if rows.num_rows:
                yield rows

    def rows(self, table: str) -> pa.Table | None:
        """Give the rows of a table that were asked for."""
        source = self.tables.sources.get(table)
        if source is None:
            return None
        names = source.schema.names
        return source.table(self.batches(table, names), names)

    def runs(self, table: str) -> list[int]:
        """Give the numbers of the runs of which a table has rows that were asked for."""
        if "run" not in self.columns(table):
            return []
        found: set[int] = set()
        for rows in self.batches(table, ["run"]):
            found.update(pc.unique(rows.column("run")).to_pylist())
        return sorted(found)

    def lines(
        self,
        table: str,
        own: Sequence[str],
        columns: Collection[str] | None = None,
        *,
        all_runs: bool = False,
    ) -> tuple[list[Line], list[int]]:
        """Tell the lines of a table apart, by its ``own`` columns and by those of a sweep before them.

        Only the first run is taken unless ``all_runs`` are to be one line, and only the ``columns`` that are
        named. Give the lines, and the numbers of all the runs that there are.
        """
        names = self.columns(table)
        if own[0] not in names:
            return [], []
        wanted = [name for name in names if columns is None or name in columns]
        runs = self.runs(table)
        # Paths of a scenario have dots, columns of tables have none.
        keys = [column for column in names if "." in column] + list(own)
        groups: dict[tuple[str | None, ...], list[pa.RecordBatch]] = {}
        for rows in self.batches(table, {*keys, *wanted}, runs[0] if runs and not all_runs else None):
            for key, part in _split(rows, keys):
                groups.setdefault(key, []).append(part.select(wanted))
        told = [place for place, key in enumerate(keys) if len({group[place] for group in groups}) > 1] or [
            keys.index(own[0])
        ]
        lines = []
        for group, parts in groups.items():
            label = ", ".join(
                str(group[place])
                if keys[place] in own
                else f"{keys[place].rpartition('.')[2]} {group[place]}"
                for place in told
            )
            lines.append(Line(printable(label), _joined(parts)))
        return lines, runs


def _known(only: Sequence[tuple[str, str]], found: Mapping[str, Source]) -> tuple[tuple[str, str], ...]:
    """Refuse a column that no table has."""
    if not only:
        return ()
    columns = {column for source in found.values() for column in source.schema.names}
    for column, _ in only:
        if column not in columns:
            message = f"no table has a column `{column}`; there are {', '.join(sorted(columns))}"
            raise NothingToDrawError(message)
    return tuple(only)


def _of_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)


def _joined(parts: Sequence[pa.RecordBatch]) -> pa.Table:
    """Lay batches together; names may have other numbers in each."""
    return pa.Table.from_batches(parts).unify_dictionaries()


def _split(
    rows: pa.RecordBatch, keys: Sequence[str]
) -> Iterator[tuple[tuple[str | None, ...], pa.RecordBatch]]:
    """Split rows by the values of columns, in the order in which these first come."""
    code = np.zeros(rows.num_rows, dtype=np.int64)
    for key in keys:
        column = rows.column(key)
        coded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
        # A missing value is one of its own.
        number = pc.fill_null(pc.cast(coded.indices, pa.int64()), len(coded.dictionary))
        _, code = np.unique(code * (len(coded.dictionary) + 1) + np.asarray(number), return_inverse=True)
    _, first, group = np.unique(code, return_index=True, return_inverse=True)
    for place in np.argsort(first, kind="stable"):
        at = int(first[place])
        values = tuple(_cell(rows.column(key), at) for key in keys)
        yield values, rows if len(first) == 1 else rows.filter(pa.array(group == place))


def _cell(column: pa.Array, at: int) -> str | None:
    cell = column.slice(at, 1)
    if pa.types.is_dictionary(cell.type):
        cell = cell.dictionary_decode()
    value = pc.cast(cell, pa.string())[0].as_py()
    return None if value is None else str(value)


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
