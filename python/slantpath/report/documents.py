"""Reports of answers that are one document of JSON: of the planner, and of a live load."""

from __future__ import annotations

import math
import shlex
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from slantpath import page
from slantpath.figures import STYLE, new_figure, render
from slantpath.plots import drawing
from slantpath.plots.marks import FAILOVER, SCRIPT
from slantpath.plots.results import printable
from slantpath.report.layout import FIGURE_INCHES, MOST_ROWS, shortened
from slantpath.report.measures import NONE, cell
from slantpath.report.results import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from slantpath.report.results import Results

    Entries = dict[str, Mapping[str, Any]]

UNITS: dict[str, Sequence[tuple[float, str]]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "bit/s": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")),
}
"""Larger and smaller units of one, the largest first."""
MOST_DIGITS, MEASURED_DIGITS = 10, 5
"""Digits of a number, and of one that was measured."""
INSTANTS = ("end_s", "at_s", "start_s", "begin_s", "second")
"""Columns that tell when a row of `seconds` was, the best one first."""


def document_sections(results: Results) -> list[page.Section]:
    """Give all that the document of a plan or of a load has to say."""
    is_plan = results.kind is Kind.PLAN
    parts = []
    entries = _answers(results) if is_plan else _named(results.document.get("summary"))
    title = "Answers" if is_plan else "Summary"
    about = "What the planner answers, and why." if is_plan else "What was measured."
    if entries:
        table = _entries(about, entries, f"{results.kind.value}.json", None if is_plan else MEASURED_DIGITS)
        parts.append(page.Section("answers", title, [table]))
    else:
        parts.append(page.Section("answers", title, [f"<p>{escape(_nothing(results))}</p>"]))
    inputs = _inputs(results)
    if inputs:
        given = "What was asked, defaults too." if is_plan else "What the load was."
        parts.append(page.Section("inputs", "Question", [_entries(given, inputs, "plan.json")]))
    simulated = results.document.get("simulated")
    if isinstance(simulated, dict):
        verified = list(_simulated(simulated))
        parts.append(page.Section("simulated", "What a simulation measured", verified))
    failovers = _rows(results.document, "failovers")
    if failovers:
        listed = _listing("Each failover: when it ended, and how long it took.", failovers, "load.json")
        parts.append(page.Section("failovers", "Failovers", [listed]))
    report = results.document.get("report")
    measured = report if isinstance(report, dict) else {}
    events = _rows(measured, "path_events")
    if events:
        told = _listing("Changes of paths, as the load heard of them.", events, "load.json")
        parts.append(page.Section("path-events", "Events of paths", [told]))
    paths = _rows(measured, "paths")
    if paths:
        told = _listing("Each path at the end of the load.", paths, "load.json")
        parts.append(page.Section("paths", "Paths", [told]))
    seconds = _rows(results.document, "seconds")
    if seconds:
        marks = (("failovers", failovers, FAILOVER), ("events of paths", events, SCRIPT))
        drawn = list(_drawn(results, seconds, marks))
        listed = _listing("What was measured second by second.", seconds, "load.json")
        parts.append(page.Section("seconds", "Over time", [*drawn, listed]))
    return parts


def differences(first: Results, second: Results, names: tuple[str, str]) -> list[page.Section]:
    """Give what differs in the questions and the answers of two documents of one command."""
    parts = []
    for name, what, both in (
        ("inputs", "Question", (_inputs(first), _inputs(second))),
        ("answers", "Answer", (_all_answers(first), _all_answers(second))),
    ):
        title = f"What differs in the {what.lower()}"
        ours, theirs = both
        rows = [
            (printable(key), *(_value(each) for each in pair), _change(*pair))
            for key in dict.fromkeys((*ours, *theirs))
            if _differ(pair := (ours.get(key), theirs.get(key)))
        ]
        if not ours and not theirs:
            continue
        if rows:
            about = f"{what}: values that differ. A dash: there is no such value."
            table = shortened(about, ("name", *names, "difference in %"), rows, "the documents of both")
            parts.append(page.Section(name, title, [table]))
        else:
            parts.append(page.Section(name, title, ["<p>Nothing differs.</p>"]))
    return parts


def document_lead(results: Results) -> str:
    """Say in a line what was done."""
    words = {Kind.PLAN: "The answer of the planner.", Kind.LOAD: "A load on a real network."}
    return f"<p>{escape(words[results.kind])}</p>"


def document_origin(results: Results) -> page.Section:
    """Say how a document is made once more."""
    command = results.document.get("command")
    told = printable(shlex.join(map(str, command)) if isinstance(command, list) else str(command or ""))
    if told and told.partition(" ")[0] != "slantpath":
        told = f"slantpath {told}"
    parts = [f"<p>Into another directory:</p><pre>{escape(told)}</pre>"] if told else []
    if results.asked:
        words = "<p>Or, with the text below as plan.toml:</p>"
        parts.append(f"{words}<pre>slantpath plan plan.toml --out again</pre>")
    rows: list[tuple[str, str | page.Cell]] = [
        ("command", f"slantpath {results.kind.value}"),
        ("version of slantpath", results.version or NONE),
    ]
    rows += [
        ("hash of the scenario", page.Cell(escape(printable(str(results.document["hash"]))), "long"))
        for key in ("hash",)
        if key in results.document
    ]
    parts.append(page.table("What the results came from.", ("what", "value"), rows))
    for name, what, text in (
        ("plan.toml", "the question", results.asked),
        ("scenario.toml", "a scenario with these settings", results.text),
    ):
        if text:
            parts.append(page.scenario(name, what, text))
    return page.Section("repeat", "How to repeat it", parts)


def document_warnings(results: Results) -> list[str]:
    """List what the command doubted."""
    found = results.document.get("warnings")
    return [_sentence(each) for each in found] if isinstance(found, list) else []


def _nothing(results: Results) -> str:
    if results.kind is Kind.PLAN:
        return (
            "The document has no answers: the warnings say which demand cannot be met; "
            "relax it and give the command anew."
        )
    return "The document has no summary: the load ended before it was up. Give the command anew."


def _sentence(value: object) -> str:
    if isinstance(value, dict):
        told = "; ".join(f"{key} {cell(each)}" for key, each in value.items())
        return printable(told)
    return printable(" ".join(str(value).split()))


def _named(found: object) -> Entries:
    """Take a list of entries by their names; those of equal name are numbered."""
    entries: Entries = {}
    for each in found if isinstance(found, list) else []:
        if isinstance(each, dict):
            name = str(each.get("name", ""))
            count = sum(name == known.get("name") for known in entries.values())
            entries[f"{name} ({count + 1})" if count else name] = each
    return entries


def _answers(results: Results) -> Entries:
    return _named(results.document.get("answers"))


def _all_answers(results: Results) -> Entries:
    return _answers(results) if results.kind is Kind.PLAN else _named(results.document.get("summary"))


def _inputs(results: Results) -> Entries:
    found = results.document.get("inputs")
    entries = found.items() if isinstance(found, dict) else ()
    return {str(name): each if isinstance(each, dict) else {"value": each} for name, each in entries}


LONG = {"meaning": "long", "why": "why"}
"""Columns of sentences, and the classes of their cells."""


def _bounds(entry: Mapping[str, Any]) -> str:
    """Tell the bounds of a value, to four digits."""
    least, most = (
        _value({"value": float(f"{bound:.4g}"), "unit": entry.get("unit")})
        if isinstance(bound := entry.get(key), int | float) and not isinstance(bound, bool)
        else ""
        for key in ("least", "most")
    )
    if least and most:
        return f"{least} to {most}"
    return f"at least {least}" if least else f"at most {most}" if most else NONE


def _entries(about: str, entries: Entries, source: str, digits: int | None = None) -> str:
    """Lay out entries, a row each, without columns that say nothing; values to so many digits, or all."""
    words = [key for key in LONG if any(each.get(key) for each in entries.values())]
    is_bounded = any(_bounds(each) != NONE for each in entries.values())
    rows: list[list[str | page.Cell]] = [
        [
            printable(name),
            page.Cell(escape(_value(each, digits)), "number"),
            *([_bounds(each)] if is_bounded else []),
            *(page.Cell(escape(_sentence(each.get(key) or NONE)), LONG[key]) for key in words),
        ]
        for name, each in entries.items()
    ]
    return shortened(about, ("name", "value", *(["allowed"] if is_bounded else []), *words), rows, source)


def _differ(pair: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]) -> bool:
    """Tell if two entries differ in more than their words."""
    return _value(pair[0]) != _value(pair[1])


def _change(ours: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None) -> str:
    """Tell by how much a number has changed, in percent."""
    if ours is None or theirs is None or ours.get("unit") != theirs.get("unit"):
        return NONE
    a, b = ours.get("value"), theirs.get("value")
    if isinstance(a, bool) or not isinstance(a, int | float) or not isinstance(b, int | float) or a == 0:
        return NONE
    share = 100 * (b - a) / abs(a)
    return f"{'−' if share < 0 else '+'}{abs(share):.1f}"


def _value(entry: Mapping[str, Any] | None, digits: int | None = None) -> str:
    """Tell a value with its unit, to so many digits, or to all that it has."""
    if entry is None:
        return NONE
    value, unit = entry.get("value"), printable(str(entry.get("unit") or ""))
    match value:
        case None:
            return NONE
        case bool():
            return "yes" if value else "no"
        case int() | float() if math.isfinite(value):
            scale, unit = next(
                (step for step in UNITS.get(unit, ()) if abs(value) >= step[0] * (1 - 1e-12)), (1.0, unit)
            )
            return f"{_digits(value / scale, digits or MOST_DIGITS)} {unit}".rstrip()
        case list():
            return f"{', '.join(map(cell, value)) or NONE} {unit}".rstrip()
        case _:
            return f"{cell(value)} {unit}".rstrip()


def _digits(value: float, digits: int) -> str:
    if value == round(value) and abs(value) < 10.0**MOST_DIGITS:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def _simulated(found: Mapping[str, Any]) -> Iterator[str]:
    """Give what `--verify` measured of each promise, and of each run."""
    if isinstance(held := found.get("held"), bool):
        yield f"<p>{'All promises are kept.' if held else 'Not all promises are kept.'}</p>"
    for name, about in (("promises", "Each promise, and if it is kept."), ("runs", "Each run.")):
        if rows := _rows(found, name):
            yield _listing(about, rows, "plan.json")


def _rows(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = document.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _listing(about: str, rows: Sequence[Mapping[str, Any]], source: str) -> str:
    columns = dict.fromkeys(str(key) for row in rows for key in row)
    head = [_head(column) for column in columns]
    cells = [[_cell(row.get(column)) for column in columns] for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        about = f"{about} The first {MOST_ROWS:,} of {len(rows):,} rows; all are in {source}."
    return page.table(about, head, cells)


UNIT_ENDS = (
    ("_bit_per_s", "bit/s"),
    ("_per_s", "1/s"),
    ("_s", "s"),
    ("_bytes", "B"),
    ("_messages", "messages"),
)


def _head(column: str) -> str:
    """Call a column by its name, with the unit that ends it behind a stroke."""
    for end, unit in UNIT_ENDS:
        if column.endswith(end):
            return f"{printable(column.removesuffix(end).replace('_', ' '))} / {unit}"
    return printable(column.replace("_", " "))


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.6g}" if isinstance(value, float) else cell(value)


def _numbers(rows: Sequence[Mapping[str, Any]], column: str) -> NDArray[np.float64]:
    cells = [row.get(column) for row in rows]
    return np.asarray(
        [float(each) if isinstance(each, int | float) else math.nan for each in cells], dtype=np.float64
    )


def _instants(events: Sequence[Mapping[str, Any]]) -> list[float]:
    at_s = _numbers(events, "at_s")
    return [float(at) for at in at_s[np.isfinite(at_s)]]


GROUPS = (
    ("Times second by second", "time / ms", "_s", 1e3),
    ("Rates second by second", "rate / kbit/s", "_bit_per_s", 1e-3),
    ("Messages second by second", "messages", "_messages", 1.0),
    ("Counts second by second", "count", "", 1.0),
)
"""Figures of columns over time by the ends of their names: title, axis and scale."""


def _drawn(
    results: Results,
    rows: Sequence[Mapping[str, Any]],
    marks: Sequence[tuple[str, Sequence[Mapping[str, Any]], str]],
) -> Iterator[str]:
    """Draw the columns of numbers over time, those of one unit together, with marks where things happened."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    when = next((column for column in INSTANTS if column in columns), None)
    if when is None:
        return
    groups: dict[int, list[str]] = {}
    for column in columns:
        if column not in INSTANTS and not np.isnan(_numbers(rows, column)).all():
            ends = [number for number, (_, _, end, _) in enumerate(GROUPS) if column.endswith(end)]
            group = 1 if 1 in ends else ends[0]
            groups.setdefault(group, []).append(column)
    at_s = _numbers(rows, when)
    changes = [(name, _instants(events), colour) for name, events, colour in marks]
    marked = "; ".join(f"{name}: {len(when):,}" for name, when, _ in changes if when)
    for group, chosen in sorted(groups.items()):
        title, axis, end, scale = GROUPS[group]
        told = []
        with mpl.rc_context(STYLE):
            figure, axes = new_figure()
            figure.set_size_inches(*FIGURE_INCHES)
            for place, column in enumerate(chosen[: drawing.MOST_LINES]):
                label = column.removesuffix(end).replace("_", " ")
                values = _numbers(rows, column) * scale
                drawing.line(axes, at_s, values, label, place)
                told.append((printable(label), *drawing.ends(values, 3)))
            for name, happened, colour in changes:
                for place, at in enumerate(happened[:MOST_ROWS]):
                    told_of = f"{name}: {len(happened):,}" if place == 0 else None
                    axes.axvline(at, color=colour, linestyle="--", linewidth=0.9, zorder=0.8, label=told_of)
            drawing.from_zero(axes)
            axes.set_xlabel("time / s")
            axes.set_ylabel(axis)
            drawing.title(axes, f"{results.label}: {title.lower()}")
            drawing.legend(axes, len(axes.get_legend_handles_labels()[1]))
        lines = " ".join(f"{name}: least {low}, most {high}, last {last}." for name, low, high, last in told)
        words = f"{title} of {results.name}. {axis}. {lines}"
        if marked:
            words = f"{words} Marked: {marked}."
        svg = render(figure, "svg", title=f"{title}.", words=words)
        caption = f"Marked: {marked}." if marked else ""
        yield page.Figure(f"{title}.", caption, words, svg).html()
        yield page.table(f"{title} in numbers, {axis}.", ("line", "least", "most", "last"), told)
