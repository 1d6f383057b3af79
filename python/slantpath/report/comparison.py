"""Two directories beside each other: what differs in their settings, and in what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from slantpath import page
from slantpath.figures import render
from slantpath.report.documents import differences as document_differences
from slantpath.report.documents import document_warnings
from slantpath.report.layout import FIGURE_INCHES, MOST_ROWS, shortened
from slantpath.report.measures import (
    FLOWS,
    LEVEL,
    NONE,
    OTHERS,
    SKY,
    group,
    interval,
    key_name,
    number,
    told,
    unit,
    with_width,
)
from slantpath.report.parts import MOST_SETTINGS, plotted, warned, warnings
from slantpath.report.results import DOCUMENTS, Kind, ReportError
from slantpath.report.settings import differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slantpath.plots import Plot
    from slantpath.report.measures import Group, Measure, Sheet, Unit
    from slantpath.report.results import Results


@dataclass(frozen=True, slots=True)
class Pair:
    """Two directories of one kind, and what they are called on the page."""

    first: Results
    second: Results
    names: tuple[str, str]
    remark: str
    """Why differences have no interval; empty if they have."""


def compared(first: Results, second: Results) -> str:
    """Give the page of two directories."""
    pair = _paired(first, second)
    a, b = pair.names
    title = f"{a} and {b}"
    if first.document:
        parts = [*document_differences(first, second, pair.names), _sources(pair)]
    else:
        parts = [*_settings(pair), *_measured(pair), *_figures(pair), _sources(pair)]
    remarks = [
        f"{name}: {each}"
        for name, one in zip(pair.names, (first, second), strict=True)
        for each in (*document_warnings(one), *warnings(one))
    ]
    if first.version != second.version:
        remarks.insert(
            0,
            "Two versions of slantpath made them, and may differ. Give both commands with one version.",
        )
    if remarks:
        parts.insert(0, page.Section("warnings", "Warnings", [warned(remarks)]))
    head = f"<h1>{escape(title)}</h1>\n<p>{escape(_about(pair))}</p>"
    return page.page(title, [head, page.contents(parts), *(part.html() for part in parts)])


def _paired(first: Results, second: Results) -> Pair:
    for results in (first, second):
        if results.kind is Kind.STUDY:
            message = f"{results.path} is of a study: give two that `slantpath run` or `sweep` wrote"
            raise ReportError(message)
    alone = {Kind.TOPOLOGY, *DOCUMENTS}
    if first.kind is not second.kind and alone & {first.kind, second.kind}:
        message = (
            f"{first.path} is of `{first.kind.value}` and {second.path} of `{second.kind.value}`: "
            "give two directories of one command"
        )
        raise ReportError(message)
    names = (first.label, second.label)
    if names[0] == names[1]:
        names = (str(first.path), str(second.path))
    if names[0] == names[1]:
        names = (f"{names[0]} (first)", f"{names[1]} (second)")
    return Pair(first, second, names, _unpaired(first, second))


CANNOT_BE_PAIRED = {
    Kind.TOPOLOGY: "No chance is in a topology.",
    Kind.PLAN: "No chance is in a plan.",
    Kind.LOAD: "Loads on real networks have no runs in common.",
}


def _unpaired(first: Results, second: Results) -> str:
    """Say why runs of both cannot be paired; nothing if they can."""
    if first.kind in CANNOT_BE_PAIRED:
        return CANNOT_BE_PAIRED[first.kind]
    seeds = first.seeds(), second.seeds()
    if not all(seeds):
        return "What seeds the runs have is not known, so no run of one is paired with a run of the other."
    if seeds[0] != seeds[1] or len(seeds[0]) > 1:
        return (
            "Their seeds differ, so no run of one is paired with a run of the other: "
            "give both the same seed, and chance is parted from the settings."
        )
    common = _numbers(first) & _numbers(second)
    if len(common) > 1:
        return ""
    if common:
        return "They have one run in common, and one difference has no interval: give both `--reps 20`."
    return "They have no number of a run in common: give both the same `first_run`."


def _numbers(results: Results) -> set[object]:
    return {run.get("run") for run in results.runs()}


def _about(pair: Pair) -> str:
    a, b = pair.names
    begin = f"Differences are {b} less {a}."
    if pair.remark:
        return f"{begin} {pair.remark} Differences are plain, without intervals."
    return (
        f"{begin} Runs of one number have the same seed and draw the same random numbers, so they are "
        f"paired. Each difference is the mean over such pairs ± half its {LEVEL:.0%} interval. It tells of a "
        "difference if zero is outside. Of a hundred intervals one leaves the truth outside by chance."
    )


def _settings(pair: Pair) -> Iterator[page.Section]:
    parts = []
    axes = [one.manifest.get("axes") for one in (pair.first, pair.second)]
    if axes[0] != axes[1]:
        parts.append("<p>The axes of the sweeps differ: points are paired where both have them.</p>")
    if not (pair.first.text and pair.second.text):
        parts.append("<p>The merged scenario of one of them is not there: settings are not compared.</p>")
    else:
        found = differences(pair.first.text, pair.second.text)
        rows = [(path, NONE if a is None else a, NONE if b is None else b) for path, a, b in found]
        if rows:
            about = "Settings that differ, defaults too. A dash: there is no such key."
            parts.append(shortened(about, ("setting", *pair.names), rows, "the merged forms", MOST_SETTINGS))
        else:
            parts.append("<p>The merged forms are equal: no setting differs.</p>")
    yield page.Section("settings", "What differs in settings", parts)


def _measured(pair: Pair) -> Iterator[page.Section]:
    sheets: Sequence[Sheet] = SKY if pair.first.kind is Kind.TOPOLOGY else (*FLOWS, *OTHERS)
    anything = False
    for sheet in sheets:
        ours, theirs = group(pair.first, sheet), group(pair.second, sheet)
        if ours is None and theirs is None:
            continue
        anything = True
        if ours is None or theirs is None:
            name = pair.names[1 if theirs is None else 0]
            there = pair.names[0 if theirs is None else 1]
            about = f"{there} has the table {sheet.table}, {name} has none with rows."
            yield page.Section(sheet.name, sheet.title, [f"<p>{escape(about)}</p>"])
            continue
        parts = _table(pair, sheet, ours, theirs)
        if parts:
            yield page.Section(sheet.name, sheet.title, parts)
    if not anything:
        about = "<p>Neither has a table of flows, links or what else is compared.</p>"
        yield page.Section("measures", "Measures", [about])


def _table(pair: Pair, sheet: Sheet, ours: Group, theirs: Group) -> list[str]:
    if ours.keys != theirs.keys:
        return [
            "<p>Their rows are of other things: one is a sweep of other settings. They are not compared.</p>"
        ]
    common = [key for key in ours.values if key in theirs.values]
    alone = len(ours.values) + len(theirs.values) - 2 * len(common)
    rows: list[tuple[str | page.Cell, ...]] = []
    for key in common:
        a, b = ours.values[key], theirs.values[key]
        for place, measure in enumerate(sheet.measures):
            first = {run: values[place] for run, values in a.items()}
            second = {run: values[place] for run, values in b.items()}
            row = _row(measure, first, second, is_paired=not pair.remark)
            if row is not None:
                rows.append((*key, *row))
    parts = []
    if rows:
        a_name, b_name = pair.names
        head = (*map(key_name, ours.keys), "measure", a_name, b_name, "difference", "in %", "pairs", "it is")
        if pair.remark:
            head = head[:-2]
            rows = [row[:-2] for row in rows]
        parts.append(
            shortened(f"{sheet.about} What differs.", head, rows, f"{sheet.table}.csv of both", 3 * MOST_ROWS)
        )
    if alone or not common:
        parts.append(f"<p>{alone:,} rows are in one of them alone, and are not compared.</p>")
    return parts


def _row(
    measure: Measure, first: dict[int, float | None], second: dict[int, float | None], *, is_paired: bool
) -> tuple[str | page.Cell, ...] | None:
    ours = [value for value in first.values() if value is not None]
    theirs = [value for value in second.values() if value is not None]
    if (not ours and not theirs) or (measure.is_quiet and not any((*ours, *theirs))):
        return None
    in_unit = unit(measure.columns, (*ours, *theirs))
    shown = (in_unit.head(measure.label), told(ours, in_unit.scale), told(theirs, in_unit.scale))
    if not ours or not theirs:
        return (*shown, NONE, NONE, NONE, NONE)
    if not is_paired:
        a, b = interval(ours)[0], interval(theirs)[0]
        change = (b - a) * in_unit.scale
        return (*shown, _signed(number(abs(change)), change), _relative(b - a, a), NONE, NONE)
    pairs = [
        (mine, other)
        for run, mine in first.items()
        if mine is not None and (other := second.get(run)) is not None
    ]
    return (*shown, *_difference(pairs, in_unit))


def _difference(pairs: Sequence[tuple[float, float]], in_unit: Unit) -> tuple[str | page.Cell, ...]:
    """Tell the mean difference of pairs, what it is of the first, and what follows."""
    if not pairs:
        return (NONE, NONE, "0", NONE)
    mean, width = interval([b - a for a, b in pairs])
    before = interval([a for a, _ in pairs])[0]
    count = f"{len(pairs)}"
    scaled = mean * in_unit.scale
    if width is None:
        told_change = _signed(number(abs(scaled)), scaled)
        if len(pairs) == 1:
            return (told_change, _relative(mean, before), count, page.Cell("one pair", "undecided"))
        verdict = "equal" if mean == 0 else _direction(mean)
        return (
            told_change,
            _relative(mean, before),
            count,
            page.Cell(verdict, "" if mean == 0 else "differs"),
        )
    told_change = _signed(with_width(abs(scaled), width * in_unit.scale), scaled)
    if abs(mean) > width:
        return (told_change, _relative(mean, before), count, page.Cell(_direction(mean), "differs"))
    return (told_change, _relative(mean, before), count, page.Cell("undecided", "undecided"))


def _direction(mean: float) -> str:
    return "more" if mean > 0 else "less"


def _signed(text: str, value: float) -> str:
    """Put the sign before a number that was told without one."""
    return f"{'−' if value < 0 else '+' if value > 0 else ''}{text}"


def _relative(change: float, before: float) -> str:
    if before == 0:
        return NONE
    share = 100 * change / abs(before)
    return _signed(f"{abs(share):.1f}", round(share, 1))


def _figures(pair: Pair) -> Iterator[page.Section]:
    """Give the figures of both, each kind with axes of the same length."""
    if pair.first.kind is Kind.TOPOLOGY:
        parts = [
            page.Figure(f"{name}: {title}", "", words, svg).html()
            for name, one in zip(pair.names, (pair.first, pair.second), strict=True)
            for title, words, svg in one.figures()
        ]
    else:
        ours, theirs = (
            {plot.drawing.name: plot for plot in plotted(one)[0]} for one in (pair.first, pair.second)
        )
        parts = []
        for name in dict.fromkeys((*ours, *theirs)):
            both = [ours.get(name), theirs.get(name)]
            _alike([plot for plot in both if plot is not None])
            for label, plot in zip(pair.names, both, strict=True):
                if plot is not None:
                    parts.append(_figure(label, plot))
    if parts:
        yield page.Section("figures", "Figures", parts)


def _alike(found: Sequence[Plot]) -> None:
    """Give figures of one kind axes of one length, if each has one pair of axes."""
    all_axes = [plot.drawing.figure.axes for plot in found]
    if any(len(axes) != 1 for axes in all_axes):
        return
    for get, put in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
        limits = [getattr(axes[0], get)() for axes in all_axes]
        for axes in all_axes:
            getattr(axes[0], put)(min(low for low, _ in limits), max(high for _, high in limits))


def _figure(label: str, plot: Plot) -> str:
    drawing = plot.drawing
    drawing.figure.set_size_inches(*FIGURE_INCHES)
    title = f"{label}: {drawing.title[:1].lower()}{drawing.title[1:]}"
    svg = render(drawing.figure, "svg", title=title, words=drawing.words)
    return page.Figure(title, drawing.caption, f"{label}. {drawing.words}", svg).html()


def _sources(pair: Pair) -> page.Section:
    keys = (
        ("name", "scenario"),
        ("name", "sweep_of"),
        ("name", "topology"),
        ("version of slantpath", "version"),
        ("hash of the merged form", "hash"),
        ("seed", "seed"),
        ("repetitions", "repetitions"),
    )
    rows: list[tuple[str | page.Cell, ...]] = [
        (label, *(page.Cell(escape(one.told(key) or NONE), "long") for one in (pair.first, pair.second)))
        for label, key in keys
        if key in pair.first.manifest or key in pair.second.manifest
    ]
    if pair.first.document:
        rows = [("version of slantpath", pair.first.version or NONE, pair.second.version or NONE)]
    else:
        rows.append(("runs", f"{len(pair.first.runs())}", f"{len(pair.second.runs())}"))
    table = page.table("What the results came from.", ("what", *pair.names), rows)
    texts = [
        page.scenario(f"{name}: merged form", one.told("hash")[:12], one.text)
        for name, one in zip(pair.names, (pair.first, pair.second), strict=True)
        if one.text
    ]
    about = "<p>The report of each directory alone says how it is made once more.</p>"
    return page.Section("repeat", "Where it comes from", [about, table, *texts])
