"""Finished runs of a study on disk, so that an interrupted study goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from slantpath import _native
from slantpath.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slantpath.running import Job, RunOutput


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of one run: the tables that the study asks for, and the run's digest."""

    digest: str
    tables: dict[str, pa.Table]


class Store:
    """A directory of finished runs.

    A run is found again only if its scenario, its seed and the engine are the same, byte for byte.
    """

    def __init__(self, directory: Path, tables: Iterable[str]) -> None:
        """Keep those tables of every run below ``directory``."""
        self.directory = directory
        self.tables = tuple(tables)

    def find(self, case: str, job: Job) -> Record | None:
        """Give a finished run, or nothing."""
        try:
            kept = json.loads(self._stamp(case, job).read_text())
            if kept["key"] != _key(job):
                return None
            tables = {name: pq.read_table(self._path(case, job, name)) for name in self.tables}
        except (OSError, ValueError, KeyError, pa.ArrowException):
            return None  # Not there, or not whole: it is run again.
        return Record(kept["digest"], tables)

    def keep(self, case: str, job: Job, output: RunOutput) -> Record:
        """Write a finished run: its tables first, then the stamp that says that they are whole."""
        self._stamp(case, job).unlink(missing_ok=True)
        for name in self.tables:
            output.tables[name].write(self._path(case, job, name))
        stamp = json.dumps({"key": _key(job), "digest": output.digest})
        write_whole(self._stamp(case, job), stamp.encode())
        return Record(output.digest, {name: pa.table(output.tables[name]) for name in self.tables})

    def _stamp(self, case: str, job: Job) -> Path:
        return self.directory / case / f"{job.run:03}.json"

    def _path(self, case: str, job: Job, table: str) -> Path:
        return self.directory / case / f"{job.run:03}-{table}.parquet"


def _key(job: Job) -> str:
    return f"{engine()} {job.scenario.hash} {job.seed} {job.run}"


@cache
def engine() -> str:
    """Name the engine that makes the runs: the hash of the extension module, whatever its version says."""
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()
