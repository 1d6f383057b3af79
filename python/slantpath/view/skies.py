"""A sky as a page draws it: nodes and their places, contacts, and the paths over them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slantpath.plots.results import Source, printable
from slantpath.view.merged import duration_s, merged

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from slantpath.report.results import Results
    from slantpath.view.blocks import Blocks

    Numbers = NDArray[np.float64]

PLACE = ("latitude_deg", "longitude_deg", "altitude_km")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "map_nodes": ("node", "kind", *PLACE),
    "map_journeys": ("site", "at_s", *PLACE),
    "positions": ("satellite", "at_s", *PLACE),
    "contacts": ("kind", "a", "b", "start_s", "end_s"),
    "legs": ("path", "leg", "start_s", "end_s", "delay_start_s"),
    "hops": ("path", "leg", "hop", "from", "to"),
    "handovers": ("at_s", "site", "from_satellite", "to_satellite"),
}
"""Columns without which a table is none of a sky's."""
OF_A_RUN: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "map_nodes": ("sky_nodes", ("node", "kind", *PLACE)),
    "positions": ("sky_positions", ("node", "at_s", *PLACE)),
    "contacts": ("sky_contacts", ("kind", "a", "b", "start_s", "end_s")),
    "handovers": ("handovers", ("at_s", "site", "from", "to")),
}
"""The same tables of a run: their names there, and the names of these columns."""
NEEDED = {
    "positions": '`positions_every = "30 s"` under [topology] writes them',
    "contacts": "`slantpath topology --out` writes them",
    "legs": "a path under [paths] of the topology writes them",
}
NO_SKY = (
    'There is no sky here: a run under one writes it with `sky = "10 s"` under [probes], and '
    "`slantpath topology --out` without a run. `--sky DIR` shows it beside another run."
)


def cells(results: Results) -> int:
    """Count the numbers of the places of satellites."""
    return sum(results.shape(name)[0] for name in ("positions", "sky_positions")) * (len(PLACE) + 1)


def embed(
    results: Results, most_cells: int, blocks: Blocks, notes: list[str], offset_s: float = 0.0
) -> dict[str, Any] | None:
    """Embed what there is of a sky; give what the page is told of it, and note what would write the rest."""
    there = set(results.tables())
    if not there & {"positions", "map_nodes", "sky_nodes"}:
        notes.append(NO_SKY)
        return None
    nodes, number = _nodes(results)
    if "sky_nodes" not in there:
        for table, cure in NEEDED.items():
            if not _has(results, table):
                notes.append(f"{table}: there are none; {cure}.")
    moving = _positions(results, most_cells, blocks, notes, number, nodes, offset_s)
    if not moving and nodes:
        notes.append("Satellites stand where they are at `map.at`: without their positions none moves.")
    _journeys(results, blocks, number, nodes, offset_s)
    if not nodes:
        return None
    return {
        "nodes": nodes,
        "moving": moving,
        "contacts": _contacts(results, blocks, number, offset_s),
        "paths": _paths(results, blocks, number, offset_s),
        "switches": _switches(results, blocks, number, offset_s),
    }


def _found(results: Results, table: str) -> tuple[str, tuple[str, ...]] | None:
    """Find a table by its name and columns of a topology, or by those of a run."""
    for name, wanted in ((table, COLUMNS[table]), OF_A_RUN.get(table, (table, COLUMNS[table]))):
        rows, columns = results.shape(name)
        if rows > 0 and set(wanted) <= set(columns):
            return name, wanted
    return None


def _has(results: Results, table: str) -> bool:
    return _found(results, table) is not None


def _place(place: Sequence[float | None]) -> list[float] | None:
    """Give a place that is known, as a page can tell it."""
    known = [value for value in place if value is not None and np.isfinite(value)]
    return known if len(known) == len(PLACE) else None


def _read(results: Results, table: str, columns: Collection[str]) -> pa.Table:
    """Read a table that there is, with the names of its columns of a topology."""
    found = _found(results, table)
    if found is None:
        raise KeyError(table)
    name, wanted = found
    own = dict(zip(COLUMNS[table], wanted, strict=True))
    read = Source(results.path / f"{name}.parquet").read({own.get(column, column) for column in columns})
    called = {there: here for here, there in own.items()}
    return read.rename_columns([called.get(column, column) for column in read.column_names])


def _nodes(results: Results) -> tuple[list[dict[str, Any]], dict[str, int]]:
    nodes: list[dict[str, Any]] = []
    number: dict[str, int] = {}
    if _has(results, "map_nodes"):
        for row in _read(results, "map_nodes", ("node", "kind", "constellation", *PLACE)).to_pylist():
            number[row["node"]] = len(nodes)
            nodes.append(
                {
                    "name": printable(row["node"]),
                    "kind": row["kind"],
                    "of": printable(row.get("constellation") or ""),
                    "place": _place([row[key] for key in PLACE]),
                }
            )
    return nodes, number


def _positions(  # noqa: PLR0913, PLR0917 - what is embedded, and where it goes
    results: Results,
    most_cells: int,
    blocks: Blocks,
    notes: list[str],
    number: dict[str, int],
    nodes: list[dict[str, Any]],
    offset_s: float,
) -> bool:
    found = _found(results, "positions")
    if found is None:
        return False
    table, (whose_column, *_) = found
    rows, _ = results.shape(table)
    every = max(-(-rows * (len(PLACE) + 1) // max(most_cells, 1)), 1)
    parts: list[tuple[Numbers, ...]] = []
    instants: dict[float, int] = {}
    for batch in Source(results.path / f"{table}.parquet").batches({whose_column, "at_s", *PLACE}):
        at_s = np.asarray(batch.column("at_s"), dtype=np.float64)
        if every > 1:
            for instant in np.unique(at_s):
                instants.setdefault(float(instant), len(instants))
            wanted = np.array([instants[float(instant)] % every == 0 for instant in at_s])
            kept, at_s = batch.filter(pa.array(wanted)), at_s[wanted]
        else:
            kept = batch
        names = kept.column(whose_column)
        coded = names if pa.types.is_dictionary(names.type) else pc.dictionary_encode(names)
        whose = []
        for name in coded.dictionary.to_pylist():
            if name not in number:
                number[name] = len(nodes)
                nodes.append({"name": printable(name), "kind": "satellite", "of": "", "place": None})
            whose.append(number[name])
        owner = np.asarray(whose, dtype=np.float64)[np.asarray(coded.indices)] if whose else np.empty(0)
        parts.append((owner, at_s, *(np.asarray(kept.column(key), dtype=np.float64) for key in PLACE)))
    owner, at_s, *places = (np.concatenate([part[place] for part in parts]) for place in range(5))
    order = np.lexsort((at_s, owner))
    owner = owner[order]
    starts = np.searchsorted(owner, np.arange(len(nodes) + 1))
    for place, node in enumerate(nodes):
        if starts[place + 1] > starts[place]:
            node["rows"] = [int(starts[place]), int(starts[place + 1])]
    # Half a metre is enough for places, and halves them.
    columns = {key: column[order].astype(np.float32) for key, column in zip(PLACE, places, strict=True)}
    blocks.add("positions", {"at": at_s[order] + offset_s, **columns})
    if every > 1:
        notes.append(f"positions: every {every}. instant of {rows:,} rows is kept.")
    return True


def _journeys(
    results: Results,
    blocks: Blocks,
    number: dict[str, int],
    nodes: list[dict[str, Any]],
    offset_s: float,
) -> None:
    """Embed the corners of the ways of sites that travel."""
    if not _has(results, "map_journeys"):
        return
    rows = _read(results, "map_journeys", ("site", "at_s", *PLACE)).to_pylist()
    rows = sorted((row for row in rows if row["site"] in number), key=lambda row: number[row["site"]])
    for place, row in enumerate(rows):
        of = nodes[number[row["site"]]].setdefault("way", [place, place])
        of[1] = place + 1
    blocks.add(
        "journeys",
        {
            "at": np.array([row["at_s"] + offset_s for row in rows]),
            **{key: np.array([float(row[key]) for row in rows]) for key in PLACE},
        },
    )


def _coded(column: pa.ChunkedArray, number: dict[str, int]) -> Numbers:
    return np.array([number.get(name, -1) for name in column.to_pylist()], dtype=np.float64)


def _contacts(results: Results, blocks: Blocks, number: dict[str, int], offset_s: float) -> int:
    if not _has(results, "contacts"):
        return 0
    table = _read(results, "contacts", ("kind", "a", "b", "start_s", "end_s"))
    kinds = {"ground": 0.0, "inter-satellite": 1.0, "terrestrial": 2.0}
    columns = {
        "a": _coded(table["a"], number),
        "b": _coded(table["b"], number),
        "start": np.asarray(table["start_s"], dtype=np.float64) + offset_s,
        "end": np.asarray(table["end_s"], dtype=np.float64) + offset_s,
        "kind": np.array([kinds.get(kind, 1.0) for kind in table["kind"].to_pylist()]),
    }
    known = (columns["a"] >= 0) & (columns["b"] >= 0)
    blocks.add("contacts", {name: column[known] for name, column in columns.items()})
    return int(known.sum())


def _switches(results: Results, blocks: Blocks, number: dict[str, int], offset_s: float) -> int:
    """Embed handovers of the ends of paths."""
    if not _has(results, "handovers"):
        return 0
    wanted = COLUMNS["handovers"]
    rows, _ = results.shape("handovers")
    table = _read(results, "handovers", wanted)
    switches = {
        "at": np.asarray(table["at_s"], dtype=np.float64) + offset_s,
        **{
            name: _coded(table[column], number)
            for name, column in zip(("site", "from", "to"), wanted[1:], strict=True)
        },
    }
    order = np.argsort(switches["at"], kind="stable")
    blocks.add("switches", {name: column[order] for name, column in switches.items()})
    return rows


def _paths(results: Results, blocks: Blocks, number: dict[str, int], offset_s: float) -> list[dict[str, Any]]:
    """Embed stretches with one path, and the links of each."""
    if "sky_paths" in results.tables():
        legs, hops = _paths_of_run(results)
    elif _has(results, "legs") and _has(results, "hops"):
        legs = _read(results, "legs", ("path", "leg", "start_s", "end_s", "delay_start_s")).to_pylist()
        hops = _read(results, "hops", ("path", "leg", "hop", "from", "to")).to_pylist()
    else:
        return []
    names = list(dict.fromkeys(leg["path"] for leg in legs))
    place = {(leg["path"], leg["leg"]): at for at, leg in enumerate(legs)}
    hops = [
        hop
        for hop in hops
        if (hop["path"], hop["leg"]) in place and hop["from"] in number and hop["to"] in number
    ]
    hops.sort(key=lambda hop: (place[hop["path"], hop["leg"]], hop["hop"]))
    owner = np.array([place[hop["path"], hop["leg"]] for hop in hops], dtype=np.float64)
    first = np.searchsorted(owner, np.arange(len(legs) + 1)).astype(np.float64)
    delays = [leg["delay_start_s"] for leg in legs]
    blocks.add(
        "legs",
        {
            "path": np.array([float(names.index(leg["path"])) for leg in legs]),
            "start": np.array([leg["start_s"] + offset_s for leg in legs]),
            "end": np.array([leg["end_s"] + offset_s for leg in legs]),
            "first": first[:-1],
            "last": first[1:],
            "delay": np.array([np.nan if delay is None else delay for delay in delays]),
        },
    )
    blocks.add(
        "hops",
        {
            "from": np.array([float(number[hop["from"]]) for hop in hops]),
            "to": np.array([float(number[hop["to"]]) for hop in hops]),
        },
    )
    return [{"name": printable(name)} for name in names]


def _paths_of_run(results: Results) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Give the legs and hops of the paths of a run's flows, each of which holds until the next."""
    columns = {"at_s", "flow", "link", "satellites", "propagation_s"}
    rows = Source(results.path / "sky_paths.parquet").read(columns).to_pylist()
    flows = merged(results).get("flows", {})
    hosts = merged(results).get("nodes", {})

    def site(node: str) -> str:
        return str(hosts.get(node, {}).get("site", node))

    end_s = duration_s(results) or max((row["at_s"] for row in rows), default=0.0)
    of: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of.setdefault(f"{row['flow']} to {row['link']}", []).append(row)
    legs, hops = [], []
    for path, own in of.items():
        own.sort(key=lambda row: row["at_s"])
        for leg, (row, after) in enumerate(zip(own, [*own[1:], None], strict=True)):
            legs.append(
                {
                    "path": path,
                    "leg": leg,
                    "start_s": row["at_s"],
                    "end_s": after["at_s"] if after else end_s,
                    "delay_start_s": row["propagation_s"],
                }
            )
            flow = flows.get(row["flow"], {})
            between = [] if row["satellites"] is None else row["satellites"].split(" > ")
            way = [site(flow.get("from")), *between, site(flow.get("to"))] if between else []
            hops += [
                {"path": path, "leg": leg, "hop": hop, "from": here, "to": there}
                for hop, (here, there) in enumerate(pairwise(way))
            ]
    return legs, hops
