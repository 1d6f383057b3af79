"""Finished runs on disk, so that what was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from slantpath import _native
from slantpath.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slantpath.running import Job, RunOutput


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of one run: the tables that were asked for, and the run's digest."""

    digest: str
    tables: dict[str, pa.Table]


class Store:
    """A directory of finished runs.

    A run is found again only if its scenario, its seed and the engine are the same, byte for byte.
    """

    def __init__(self, directory: Path, tables: Iterable[str] | None) -> None:
        """Keep those tables of every run below ``directory``, or all of them.

        A table that a run does not have, since its scenario has nothing of the kind, is not in its record.
        """
        self.directory = directory
        self.tables = None if tables is None else tuple(tables)

    def find(self, name: str, job: Job) -> Record | None:
        """Give a finished run that was kept under a name, or nothing."""
        try:
            kept = json.loads(self._stamp(name).read_text(encoding="utf-8"))
            if kept["key"] != _key(job) or not self._covered(kept):
                return None
            found = [table for table in kept["tables"] if self.tables is None or table in self.tables]
            tables = {table: pq.read_table(self._path(name, table), partitioning=None) for table in found}
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            return None  # Not there, or not whole: it is run again.
        return Record(kept["digest"], tables)

    def keep(self, name: str, job: Job, output: RunOutput) -> Record:
        """Write a finished run: its tables first, then the stamp that says that they are whole."""
        self._stamp(name).unlink(missing_ok=True)
        every = tuple(output.tables)
        wanted = every if self.tables is None else tuple(table for table in self.tables if table in every)
        for table in wanted:
            output.tables[table].write(self._path(name, table))
        stamp = {
            "key": _key(job),
            "digest": output.digest,
            "tables": wanted,
            "asked": self.tables,
        }
        write_whole(self._stamp(name), json.dumps(stamp).encode())
        return Record(output.digest, {table: pa.table(output.tables[table]) for table in wanted})

    def _covered(self, kept: dict[str, Any]) -> bool:
        """Tell if all tables that are wanted were kept, if the run had them."""
        asked = kept["asked"]
        return asked is None or (self.tables is not None and set(self.tables) <= set(asked))

    def _stamp(self, name: str) -> Path:
        return self.directory / f"{name}.json"

    def _path(self, name: str, table: str) -> Path:
        return self.directory / f"{name}-{table}.parquet"


def _key(job: Job) -> str:
    return f"{engine()} {job.scenario.hash} {job.seed} {job.run}"


@cache
def engine() -> str:
    """Name the engine that makes the runs: the hash of the extension module, whatever its version says."""
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()
