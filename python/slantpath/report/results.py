"""Result directories of every command, read back: what made them, and the tables that are asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from html import unescape
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from slantpath import versions
from slantpath.plots.results import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

TEXT_MAX = 64 * 1024 * 1024
"""Bytes of the longest text that is read; a figure of a topology has a few."""
READ = (".parquet", ".svg", ".toml")
"""Ends of the names of files that a report is made of; others may be cleared away."""
MOST_DIGITS = 19
"""Digits of a whole number that 64 bits do not hold."""
HEAD = 65_536
"""Bytes of a figure in which its title and description stand."""


class ReportError(Exception):
    """A directory of which no report can be made: which, why, and what helps, in a line."""


class Kind(Enum):
    """The command that left a directory."""

    RUN = "run"
    SWEEP = "sweep"
    TOPOLOGY = "topology"
    STUDY = "study"
    PLAN = "plan"
    LOAD = "load"
    TABLES = "tables"
    """Tables alone, without a manifest: a program wrote them."""

    @property
    def text_name(self) -> str:
        """The file of the merged form."""
        return "topology.toml" if self is Kind.TOPOLOGY else "scenario.toml"


@dataclass(frozen=True, slots=True)
class Results:
    """A directory of results."""

    path: Path
    kind: Kind
    manifest: Mapping[str, Any]
    text: str
    """The merged scenario or topology; empty where there is none."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """What `plan.json` or `load.json` has; empty where there is neither."""

    @classmethod
    def read(cls, path: Path) -> Results:
        """Find out what a directory holds. Tables are read when they are asked for."""
        if not path.is_dir():
            why = "is a file" if path.exists() else "is not there"
            message = f"{path} {why}: give the directory that `slantpath run --out` wrote"
            raise ReportError(message)
        manifest = _manifest(path)
        kind = _kind(path, manifest)
        document: Mapping[str, Any] = {}
        if kind in (Kind.PLAN, Kind.LOAD):
            document = _document(path, kind)
            _refuse_version(path, document)
        needed = [name for name in _names(manifest.get("files")) if name.endswith(READ)]
        missing = [name for name in needed if not (path / name).is_file()]
        if missing:
            message = (
                f"{path}: {printable(missing[0])} is missing, which manifest.json lists"
                f"{_beside(len(missing) - 1)}: give the command that made it again"
            )
            raise ReportError(message)
        return cls(path, kind, manifest, _text(path / kind.text_name), document)

    @property
    def name(self) -> str:
        """What the results are called."""
        for key in ("scenario", "sweep_of", "topology"):
            if key in self.manifest:
                return self.told(key)
        if self.kind in DOCUMENTS:
            return f"{self.label}: {self.kind.value}"
        if self.kind is Kind.STUDY and (path := self.path / "report.html").is_file():
            with path.open("rb") as page:
                title = _element(page.read(HEAD).decode("utf-8", errors="replace"), "h1")
            if title:
                return printable(title)
        return printable(self.path.resolve().name)

    @property
    def label(self) -> str:
        """What the directory is called."""
        return printable(self.path.resolve().name or str(self.path))

    @property
    def version(self) -> str:
        """The version that made them, empty where that is not known."""
        return printable(str(self.manifest.get("version", self.document.get("version", ""))))

    @property
    def asked(self) -> str:
        """The whole question to the planner; empty where there is none."""
        return _text(self.path / "plan.toml") if self.kind is Kind.PLAN else ""

    @property
    def is_behind(self) -> bool:
        """Tell if finished runs wait here for a command that has not written its results."""
        return any((self.path / "unfinished").glob("*"))

    @property
    def is_emulation(self) -> bool:
        """Tell if real programs sent over the network, at the pace of the clock."""
        return self.kind is Kind.RUN and "attached_interfaces" in self.tables()

    def number(self, key: str) -> float:
        """Give a number of the manifest, zero if it has none."""
        value = self.manifest.get(key)
        return float(value) if isinstance(value, int | float) else 0.0

    def told(self, key: str) -> str:
        """Give what the manifest says of something, empty if it says nothing."""
        return printable(str(self.manifest.get(key, "")))

    def runs(self) -> list[Mapping[str, Any]]:
        """Give what the manifest says of each run."""
        runs = self.manifest.get("runs")
        return [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []

    def seeds(self) -> set[int]:
        """Give the seeds from which the runs draw."""
        return {
            int(seed)
            for run in self.runs()
            if isinstance(seed := run.get("seed", self.manifest.get("seed")), int)
        }

    def tables(self) -> list[str]:
        """Name the tables that are there."""
        return sorted(file.stem for file in self.path.glob("*.parquet"))

    def shape(self, table: str) -> tuple[int, list[str]]:
        """Give the number of rows of a table and its columns; no columns if it is not there."""
        path = self.path / f"{table}.parquet"
        if not path.is_file():
            return 0, []
        try:
            with pq.ParquetFile(path) as file:
                return file.metadata.num_rows, list(file.schema_arrow.names)
        except (OSError, pa.ArrowException) as error:
            raise _broken(path, error) from error

    def rows(self, table: str, columns: Iterable[str], most: int | None = None) -> list[dict[str, Any]]:
        """Give rows with those of the columns that the table has, the first ``most``."""
        _, there = self.shape(table)
        names = [name for name in there if name in set(columns)]
        path = self.path / f"{table}.parquet"
        if not names:
            return []
        rows: list[dict[str, Any]] = []
        try:
            # By its path, as in `slantpath.plots`: a thread of Arrow may hold on to a file of Python's.
            with pq.ParquetFile(path, pre_buffer=False) as file:
                for batch in file.iter_batches(most or 65_536, columns=names, use_threads=False):
                    rows += batch.to_pylist()
                    if most is not None and len(rows) >= most:
                        break
        except (OSError, pa.ArrowException) as error:
            raise _broken(path, error) from error
        return rows if most is None else rows[:most]

    def figures(self) -> list[tuple[str, str, bytes]]:
        """Give the figures that lie beside the tables: title, what can be seen, and the SVG."""
        found = []
        for path in sorted(self.path.glob("*.svg")):
            svg = _bounded(path)
            head = svg[:HEAD].decode("utf-8", errors="replace")
            title = _element(head, "dc:title") or path.stem
            found.append((printable(title), printable(_element(head, "dc:description") or title), svg))
        return found

    def texts(self) -> list[tuple[str, str]]:
        """Give the texts that a study wrote, by the names of their files."""
        return [(path.stem, _text(path)) for path in sorted(self.path.glob("*.txt"))]


DOCUMENTS = (Kind.PLAN, Kind.LOAD)
"""Commands whose answer is one document of JSON, called like them."""


def _kind(path: Path, manifest: Mapping[str, Any]) -> Kind:
    _refuse_manifest(path, manifest)
    for key, kind in (("topology", Kind.TOPOLOGY), ("sweep_of", Kind.SWEEP), ("scenario", Kind.RUN)):
        if key in manifest:
            return kind
    for kind in DOCUMENTS:
        if manifest.get("kind") == kind.value or (path / f"{kind.value}.json").is_file():
            return kind
    if manifest:
        message = (
            f"{path}: manifest.json names no scenario, sweep, topology, plan or load: "
            "give the command that made it again"
        )
        raise ReportError(message)
    return _kind_of_files(path)


def _kind_of_files(path: Path) -> Kind:
    if (path / "claims.txt").is_file():
        return Kind.STUDY
    if any(path.glob("*.parquet")):
        return Kind.TABLES
    if (path / "unfinished").is_dir() or (path / "runs").is_dir():
        message = f"{path} holds runs and no results yet: they were interrupted, and the same command goes on"
        raise ReportError(message)
    message = f"{path} holds no results: give a directory that `slantpath run --out` wrote"
    raise ReportError(message)


def _refuse_manifest(path: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse what another program wrote, what is not whole, and what another version wrote."""
    if not manifest:
        return
    if manifest.get("program") != "slantpath":
        message = f"{path}: manifest.json is not of this program: give a directory that `slantpath` wrote"
        raise ReportError(message)
    if "state" in manifest:
        state = printable(str(manifest["state"]))
        message = (
            f"{path} is not whole ({state}): wait for its command, or give it again if it was interrupted"
        )
        raise ReportError(message)
    _refuse_version(path, manifest)


def _manifest(path: Path) -> Mapping[str, Any]:
    file = path / "manifest.json"
    if not file.is_file():
        return {}
    try:
        manifest = json.loads(_bounded(file))
    except (ValueError, RecursionError) as error:
        message = f"{file} is not whole: give the command that made it again"
        raise ReportError(message) from error
    return manifest if isinstance(manifest, dict) and manifest else {"program": None}


def _whole(digits: str) -> int | float:
    """Take a whole number of JSON; one of very many digits is no count, and no number of Arrow's."""
    return int(digits) if len(digits) < MOST_DIGITS else float(digits)


def _document(path: Path, kind: Kind) -> Mapping[str, Any]:
    file = path / f"{kind.value}.json"
    if not file.is_file():
        message = f"{file} is missing: give `slantpath {kind.value}` with this directory as `--out` again"
        raise ReportError(message)
    try:
        document = json.loads(_bounded(file), parse_int=_whole)
    except (ValueError, RecursionError) as error:
        message = f"{file} is not whole: give the command that made it again"
        raise ReportError(message) from error
    if not isinstance(document, dict) or document.get("kind") != kind.value:
        message = f"{file} is none of `slantpath {kind.value}`: give a directory that its `--out` wrote"
        raise ReportError(message)
    return document


def _refuse_version(path: Path, written: Mapping[str, Any]) -> None:
    """Refuse results whose tables this version may misread."""
    why = versions.unread(printable(str(written["version"]))) if "version" in written else None
    if why is not None:
        message = f"{path} {why}"
        raise ReportError(message)


def _names(files: object) -> Sequence[str]:
    """Give the names of files in this directory that a manifest lists."""
    listed = files if isinstance(files, list) else []
    return [
        name for name in listed if isinstance(name, str) and name and "/" not in name and "\0" not in name
    ]


def _beside(others: int) -> str:
    return f", and {others} more" if others else ""


def _broken(path: Path, error: Exception) -> ReportError:
    reason = printable(str(error).splitlines()[0]) if str(error) else "it cannot be read"
    return ReportError(f"{path} is not whole ({reason}): give the command that made it again")


def _bounded(path: Path) -> bytes:
    if path.stat().st_size > TEXT_MAX:
        message = f"{path} has more than {TEXT_MAX // 2**20} MiB: it is none that slantpath wrote"
        raise ReportError(message)
    return path.read_bytes()


def _text(path: Path) -> str:
    return _bounded(path).decode("utf-8", errors="replace") if path.is_file() else ""


def _element(text: str, name: str) -> str:
    """Give what stands in the first element of a name."""
    _, _, behind = text.partition(f"<{name}>")
    inside, end, _ = behind.partition(f"</{name}>")
    return unescape(inside).strip() if end else ""
