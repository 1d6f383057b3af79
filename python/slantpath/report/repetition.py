"""How results are made once more: commands, files, seeds and hashes."""

from __future__ import annotations

import tomllib
from html import escape
from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

from slantpath import Scenario, page
from slantpath.plots.results import printable
from slantpath.report.layout import shortened
from slantpath.report.measures import NONE
from slantpath.report.measures import cell as name_of
from slantpath.report.results import Kind
from slantpath.report.settings import settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slantpath.report.results import Results

    Axes = Sequence[Mapping[str, Sequence[str]]]

UNPROVED = (
    "That these axes mean the same in the merged form was not tried: compare the hashes of the points with "
    "those in manifest.json, or give the sweep's own files again."
)


def repeat(results: Results) -> page.Section:
    """Say how the results are made once more."""
    parts = []
    commands = _commands(results)
    if commands:
        files = [
            setting.value
            for path, setting in settings(results.text).items()
            if path.rpartition(".")[2] == "file" and setting.is_chosen
        ]
        beside = f" beside {', '.join(dict.fromkeys(files))}" if files else ""
        name = results.kind.text_name
        parts.append(f"<p>With the text below as {name}{escape(beside)}:</p><pre>{escape(commands)}</pre>")
    if results.is_emulation:
        about = (
            "Programs do what they do: the run is another one each time. `emulate --record FILE` keeps what "
            "they sent, and `slantpath replay FILE` repeats that, packet for packet."
        )
        parts.append(f"<p>{escape(about)}</p>")
    if results.kind is Kind.SWEEP:
        axes = _axes(results)
        parts.append(f"<p>and this as sweep.toml:</p><pre>{escape(_sweep_file(results, axes))}</pre>")
        if not _is_proved(results, axes):
            parts.append(f"<p>{escape(UNPROVED)}</p>")
    known: list[tuple[str, str | page.Cell]] = [
        (label, page.Cell(escape(results.told(key)), "long"))
        for label, key in (
            ("name", "scenario"),
            ("name", "sweep_of"),
            ("name", "topology"),
            ("version of slantpath", "version"),
            ("hash of the merged scenario", "hash"),
            ("first run", "first_run"),
        )
        if key in results.manifest
    ]
    seeds = sorted(results.seeds())
    if seeds:
        known.append(("seed", ", ".join(map(str, seeds))))
    if known:
        parts.append(page.table("What the results came from.", ("what", "value"), known))
    parts += _digests(results)
    if results.text:
        name = results.kind.text_name
        parts.append(page.scenario(name, results.told("hash")[:12], results.text))
    tables = [
        (name, f"{rows:,}", f"{len(columns)}")
        for name in results.tables()
        for rows, columns in [results.shape(name)]
    ]
    if tables:
        parts.append(page.table("Tables of the directory.", ("table", "rows", "columns"), tables))
    return page.Section("repeat", "How to repeat it", parts)


def _commands(results: Results) -> str:
    match results.kind:
        case Kind.RUN if results.is_emulation:
            return "slantpath emulate scenario.toml --in NODE 'PROGRAM' --out again"
        case Kind.RUN:
            count = len(results.runs())
            reps = f" --reps {count}" if count > 1 else ""
            return f"slantpath run scenario.toml{reps} --out again"
        case Kind.SWEEP:
            return "slantpath sweep sweep.toml --out again"
        case Kind.TOPOLOGY:
            return "slantpath topology topology.toml --out again"
        case _:
            return ""


def _sweep_file(results: Results, axes: Axes) -> str:
    """Write the sweep's file once more, of what the manifest has of it."""
    tables = results.manifest.get("tables")
    lines = [
        "[sweep]",
        'scenario = "scenario.toml"',
        f"repetitions = {results.told('repetitions') or 1}",
        f"first_run = {results.told('first_run') or 0}",
        f"tables = [{', '.join(_quoted(str(name)) for name in tables)}]" if isinstance(tables, list) else "",
    ]
    for axis in axes:
        lines += ["", "[[axis]]"]
        lines += [f"{_quoted(path)} = [{', '.join(map(printable, values))}]" for path, values in axis.items()]
    return "\n".join(lines) + "\n"


def _axes(results: Results) -> Axes:
    """Give the axes of a sweep, for its merged form: that has the rate of a link for each direction."""
    axes = results.manifest.get("axes")
    merged = settings(results.text)
    found = []
    for axis in axes if isinstance(axes, list) else []:
        varied: dict[str, list[str]] = {}
        for path, values in axis.items() if isinstance(axis, dict) else ():
            above, _, key = str(path).rpartition(".")
            ways = [f"{above}.{way}.{key}" for way in ("forward", "reverse")]
            for each in ways if all(way in merged for way in ways) else [str(path)]:
                varied[each] = [str(value) for value in values] if isinstance(values, list) else []
        found.append(varied)
    return found


def doubts(results: Results) -> list[str]:
    """List what the engine finds doubtful in the merged form, as the command that ran it did.

    Nothing of a scenario whose contacts would have to be worked out, or whose traces are not beside it.
    """
    scenario = _parsed(results)
    faults = [] if scenario is None else scenario.warnings
    return [printable("; ".join(line.strip() for line in str(fault).splitlines())) for fault in faults]


def _parsed(results: Results) -> Scenario | None:
    """Read the merged form, unless it has a sky: its contacts take long to work out."""
    if results.kind not in (Kind.RUN, Kind.SWEEP) or "sky.epoch" in settings(results.text):
        return None
    try:
        with catch_warnings():
            simplefilter("ignore")
            return Scenario.parse(results.text, results.kind.text_name, results.path)
    except (OSError, ValueError):
        return None


def _is_proved(results: Results, axes: Axes) -> bool:
    """Tell if the merged form with these axes gives the last point, by its hash."""
    points = {run.get("point"): run.get("hash") for run in results.runs()}
    scenario = _parsed(results)
    numbers = [point for point in points if isinstance(point, int)]
    if scenario is None or not numbers:
        return False
    try:
        values = {
            path: tomllib.loads(f"x = {told[-1]}")["x"]
            for axis in axes
            for path, told in axis.items()
            if told
        }
        with catch_warnings():
            simplefilter("ignore")
            return scenario.with_values(values).hash == points[max(numbers)]
    except (OSError, TypeError, ValueError, RecursionError):
        return False


def _quoted(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _digests(results: Results) -> list[str]:
    rows = [
        (
            *((name_of(run["point"]),) if "point" in run else ()),
            name_of(run.get("run")),
            name_of(run.get("digest")),
            f"{run['events']:,}" if isinstance(run.get("events"), int) else NONE,
        )
        for run in results.runs()
    ]
    if not rows:
        return []
    head = ("point", "run", "digest", "events") if len(rows[0]) > 3 else ("run", "digest", "events")  # noqa: PLR2004
    about = "Digests of the runs: an equal run has an equal one, on any machine."
    return [shortened(about, head, rows, "manifest.json")]
