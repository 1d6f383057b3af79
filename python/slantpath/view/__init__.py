"""A view of a result directory: one HTML file with globe, map, charts and events on one cursor of time.

from slantpath.view import view

Path("geo.html").write_text(view("out/geo"), encoding="utf-8")
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from slantpath.plots.results import NothingToDrawError, printable
from slantpath.report.results import Kind, ReportError, Results
from slantpath.view import charted, skies, traced
from slantpath.view.blocks import CELL_BYTES, Blocks
from slantpath.view.document import document
from slantpath.view.events import Events
from slantpath.view.merged import duration_s, merged, start_s
from slantpath.view.thinning import shares

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["ViewError", "view"]

MOST_BYTES = 100_000_000
"""Bytes of numbers that a page holds; what is more is thinned."""
SHOWN = (Kind.RUN, Kind.SWEEP, Kind.TOPOLOGY, Kind.TABLES)


class ViewError(Exception):
    """A directory that cannot be shown: which, why, and what helps, in a line."""


def view(
    directory: str | os.PathLike[str],
    *,
    traces: Sequence[str | os.PathLike[str]] = (),
    sky: str | os.PathLike[str] | None = None,
    most_bytes: int = MOST_BYTES,
) -> str:
    """Give the page of a result directory, with traces, and with the sky of another directory.

    Traces that lie in the directory (``*.trace``) are taken too. Raise ``ViewError`` where there is nothing
    to show.
    """
    try:
        return _view(Path(directory), [Path(trace) for trace in traces], sky, most_bytes)
    except (ReportError, NothingToDrawError) as error:
        raise ViewError(str(error)) from error


def _view(directory: Path, traces: list[Path], sky: str | os.PathLike[str] | None, most_bytes: int) -> str:
    results = Results.read(directory)
    if results.kind not in SHOWN:
        message = (
            f"{directory} is of `slantpath {results.kind.value}`, which has nothing over time: "
            f"`slantpath report {directory}` shows it"
        )
        raise ViewError(message)
    above = results if sky is None else Results.read(Path(sky))
    offset_s = 0.0 if sky is None else -start_s(results)
    notes: list[str] = []
    files = list(dict.fromkeys([*traces, *sorted(directory.glob("*.trace"))]))
    flows = frozenset(flow for file in files if (flow := traced.flow_of(file)) is not None)
    blocks, events = Blocks(), Events(_known_end_s(results, above, offset_s), flows)
    tables = [(table, 0.0) for table in charted.found(results)]
    if above is not results:
        tables += [(table, offset_s) for table in charted.found(above) if table.name == "delay"]
    given = shares(
        [
            *(table.cells for table, _ in tables),
            *(4 * file.stat().st_size // 100 for file in files),
            skies.cells(above),
        ],
        most_bytes // CELL_BYTES,
    )
    drawn = [
        told
        for (table, offset), most in zip(tables, given, strict=False)
        if (told := charted.embed(table, most, blocks, notes, offset)) is not None
    ]
    end_s = 0.0
    for place, file in enumerate(files):
        of_trace, end = traced.embed(
            file, f"trace-{place + 1}", given[len(tables) + place], blocks, notes, events
        )
        drawn += of_trace
        end_s = max(end_s, end)
    events.read(results)
    if above is not results:
        events.read(above, offset_s)
    shown_sky = skies.embed(above, given[-1], blocks, notes, offset_s)
    if results.kind is not Kind.TOPOLOGY:
        notes += _missing(results, bool(files))
    listed = events.embed(blocks, notes)
    if shown_sky is None and listed is None and not drawn:
        message = f"{directory} holds nothing over time: " + " ".join(notes)
        raise ViewError(message)
    span = _span(events, end_s, blocks, drawn)
    told_of: dict[str, Any] = {
        "title": results.name,
        "about": _about(results, above),
        "notes": notes,
        "epoch": _epoch(results, above, offset_s),
        "span": span,
        "tables": drawn,
        "events": listed,
        "sky": shown_sky,
    }
    return document(results.name, told_of, blocks)


def _missing(results: Results, has_trace: bool) -> list[str]:  # noqa: FBT001 - one question
    """Say which keys would have written what is not there."""
    tables = results.tables()
    said = []
    if not any(name.endswith("_intervals") for name in tables):
        said.append('There are no intervals: `intervals = "1 s"` under [probes] writes them.')
    if "messages" not in tables:
        said.append("There are no messages: `messages = true` under [probes] writes them.")
    if "drops" not in tables:
        said.append("There are no single drops: `drops = true` under [probes] writes them.")
    if not has_trace:
        said.append(
            "There is no trace: `slantpath run --trace FLOW=FILE` writes one, `--trace FILE` shows it."
        )
    return said


def _about(results: Results, above: Results) -> list[str]:
    said = [f"Slantpath {results.version}"] if results.version else []
    if "hash" in results.manifest:
        what = "topology" if results.kind is Kind.TOPOLOGY else "scenario"
        said.append(f"{what} {results.told('hash')[:12]}")
    if "seed" in results.manifest:
        said.append(f"seed {results.told('seed')}")
    if above is not results:
        said.append(f"under the sky of {above.name}")
    return said


def _epoch(results: Results, above: Results, offset_s: float) -> dict[str, Any] | None:
    """Give the date of an instant: the epoch of a topology, or that of a run's sky."""
    if "epoch" in above.manifest:
        return {"date": above.told("epoch"), "at_s": offset_s}
    sky = merged(results).get("sky")
    if isinstance(sky, dict) and isinstance(sky.get("epoch"), str):
        return {"date": printable(sky["epoch"]), "at_s": -start_s(results)}
    return None


def _known_end_s(results: Results, above: Results, offset_s: float) -> float:
    """Tell when the run ends, or the topology; infinity where neither says so."""
    if results.kind is Kind.TOPOLOGY:
        return results.number("span_s") or float("inf")
    if duration := duration_s(results):
        return duration
    return above.number("span_s") + offset_s if "span_s" in above.manifest else float("inf")


def _span(events: Events, end_s: float, blocks: Blocks, drawn: list[dict[str, Any]]) -> list[float]:
    """Give the span of time of the page: what is known of it, or up to the last row."""
    if events.until_s < float("inf"):
        return [0.0, max(events.until_s, end_s)]
    last = max((blocks.last(name) for name in ("events", *(table["name"] for table in drawn))), default=0.0)
    return [0.0, max(last, end_s) or 1.0]
