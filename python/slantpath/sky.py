"""Topologies: which path, delay and handover there is between sites under a sky of satellites."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slantpath import _native
from slantpath._native import Topology
from slantpath.errors import warn
from slantpath.tables import named, tables_html

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from slantpath._native import Table


@dataclass(frozen=True, slots=True)
class TopologyOutput:
    """The answer to a topology."""

    name: str
    hash: str
    """Equal for equal topologies: the hash of the merged form."""
    tables: Mapping[str, Table]
    warnings: tuple[str, ...] = ()
    """Element sets that are used further from their epoch than is wise."""

    def __getitem__(self, table: str) -> Table:
        """Give the table of that name."""
        return named(self.tables, table, "table")

    def _repr_html_(self) -> str:
        """Show which tables there are to a notebook."""
        return tables_html(self.name, self.tables)


def topology(source: Topology | str | os.PathLike[str], *, workers: int = 0) -> TopologyOutput:
    """Work the answer of a topology out: contacts, paths, handovers, coverage and gaps.

    ``source`` is a ``Topology``, the path of a topology file, or the text of one. ``workers`` is the number
    of threads, 0 for one on each processor; the answer does not depend on it. Other Python threads go on
    meanwhile.
    """
    checked = as_topology(source)
    tables, warnings = _native.follow(checked, workers)
    for warning in warnings:
        warn(warning)
    return TopologyOutput(
        checked.name, checked.hash, {table.name: table for table in tables}, tuple(warnings)
    )


def as_topology(source: Topology | str | os.PathLike[str]) -> Topology:
    """Give a topology as it is, from its text, or from its file. A string has more than one line."""
    if isinstance(source, Topology):
        return source
    if isinstance(source, str) and "\n" in source:
        return Topology.parse(source)
    return Topology.load(Path(source))
