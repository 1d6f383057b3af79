"""The sections of a report of one directory."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from slantpath import __version__, page
from slantpath.figures import render
from slantpath.plots import plots
from slantpath.plots.results import NothingToDrawError, printable
from slantpath.report.layout import FIGURE_INCHES, MOST_ROWS, shortened
from slantpath.report.measures import (
    FLOWS,
    LEVEL,
    NONE,
    OTHERS,
    SKY,
    Sheet,
    group,
    key_name,
    number,
    told,
    unit,
)
from slantpath.report.measures import cell as name_of
from slantpath.report.repetition import doubts, repeat
from slantpath.report.results import Kind
from slantpath.report.settings import choices, items, settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from slantpath.plots import Plot
    from slantpath.report.measures import Group
    from slantpath.report.results import Results

MOST_SETTINGS = 400
MOST_SAID = 6
"""Flows or paths of which the first lines of a report tell."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of a table that are shown as they are."""

    name: str
    title: str
    table: str
    columns: tuple[tuple[str, str], ...]
    """The columns in their order, and what they are called."""
    about: str


LISTINGS: tuple[Listing, ...] = (
    Listing(
        "attached",
        "Attached nodes",
        "attached_interfaces",
        (
            ("node", "node"),
            ("link", "link"),
            ("packets_in", "packets from it"),
            ("packets_out", "packets to it"),
            ("lateness_median_s", "late, median"),
            ("lateness_p99_s", "late, 99 %"),
            ("lateness_p999_s", "late, 99.9 %"),
            ("lateness_max_s", "late, most"),
            ("late", "too late"),
            ("overtaken", "overtaken"),
            ("refused", "refused"),
            ("lost", "lost"),
        ),
        "What passed the interfaces of real programs, and how much later than the scenario says it left.",
    ),
    Listing(
        "failovers",
        "Failovers",
        "failovers",
        (
            ("flow", "flow"),
            ("run", "run"),
            ("at_s", "at"),
            ("from_path", "from"),
            ("to_path", "to"),
            ("cause", "cause"),
            ("failover_s", "failover"),
            ("first_timeout_s", "first time-out"),
            ("decision_s", "decision"),
            ("first_arrival_s", "first arrival"),
        ),
        "Each failover: from the failure of a path to the first new message by another, and its parts.",
    ),
    Listing(
        "signalling-failovers",
        "Failovers of signalling",
        "signalling_failovers",
        (
            ("point", "point"),
            ("run", "run"),
            ("at_s", "at"),
            ("from", "from"),
            ("to", "to"),
            ("cause", "cause"),
            ("failover_s", "failover"),
            ("unavailable_s", "out of service"),
        ),
        "From the failure of a signalling link or an ASP to the first message of its traffic by another.",
    ),
    Listing(
        "outages",
        "Outages",
        "outages",
        (
            ("path", "path"),
            ("run", "run"),
            ("from", "from"),
            ("to", "to"),
            ("begin_s", "begins"),
            ("end_s", "ends"),
            ("cause", "cause"),
            ("link", "link"),
        ),
        "Times for which a path carried nothing. One without an end lasted until the run ended.",
    ),
    Listing(
        "handovers",
        "Handovers",
        "handovers",
        (
            ("link", "antenna"),
            ("site", "site"),
            ("path", "path"),
            ("run", "run"),
            ("at_s", "at"),
            ("from", "from"),
            ("from_satellite", "from"),
            ("to", "to"),
            ("to_satellite", "to"),
            ("cause", "cause"),
            ("interruption_s", "interruption"),
            ("delay_before_s", "delay before"),
            ("delay_after_s", "delay after"),
        ),
        "Changes from one satellite to the next.",
    ),
    Listing(
        "verdicts",
        "What Q.706 asks of signalling",
        "signalling_load",
        (
            ("load", "load"),
            ("run", "run"),
            ("link", "link"),
            ("loss_verdict", "loss"),
            ("missequence_verdict", "out of sequence"),
            ("unavailability_verdict", "unavailability"),
        ),
        "Verdicts on each link of a load: kept, exceeded, or inconclusive after so many messages.",
    ),
    Listing(
        "gaps",
        "Gaps",
        "gaps",
        (("name", "name"), ("of", "of"), ("start_s", "begins"), ("end_s", "ends"), ("duration_s", "lasts")),
        "Times without a path, or without a satellite.",
    ),
    Listing(
        "script",
        "Script",
        "script",
        (
            ("name", "name"),
            ("kind", "kind"),
            ("run", "run"),
            ("at_s", "at"),
            ("part", "part"),
            ("event", "event"),
        ),
        "What the scenario's script does, and when.",
    ),
    Listing(
        "commands",
        "What associations were told",
        "association_commands",
        (
            ("flow", "flow"),
            ("run", "run"),
            ("at_s", "at"),
            ("end", "end"),
            ("action", "action"),
            ("streams", "streams"),
            ("took_s", "took"),
            ("outcome", "outcome"),
        ),
        "Commands of scripts, and what came of them.",
    ),
)


def sections(results: Results) -> list[page.Section]:
    """Give all that one directory has to say."""
    measured = [*flow_sections(results), *other_sections(results)]
    parts = [
        *measured,
        *listings(results),
        *events(results),
        figures(results),
        *chosen(results),
        repeat(results),
    ]
    remarks = warnings(results)
    return [*([page.Section("warnings", "Warnings", [warned(remarks)])] if remarks else []), *parts]


def lead(results: Results) -> str:
    """Say in a few lines what was run."""
    description = settings(results.text).get(
        "topology.description" if results.kind is Kind.TOPOLOGY else "scenario.description"
    )
    lines = [f"<p>{escape(description.value)}</p>"] if description is not None and description.value else []
    said = "".join(f"<li>{escape(each)}</li>" for each in in_words(results))
    return "\n".join([*lines, f"<p>{escape(_made(results))}</p>", *([f"<ul>{said}</ul>"] if said else [])])


def in_words(results: Results) -> Iterator[str]:
    """Say of each flow or path what came out; of many, and of the points of a sweep, nothing."""
    if results.kind is Kind.TOPOLOGY:
        yield from _sentences(results, SKY, PATH_WORDS)
    elif results.kind is not Kind.SWEEP:
        yield from _sentences(results, FLOWS, FLOW_WORDS)


FLOW_WORDS = (
    ("messages_delivered", "{} of "),
    ("messages_sent", "{} messages delivered"),
    ("throughput_bit_per_s", ", {}"),
    ("delay_mean_s", ", a mean delay of {}"),
    ("delay_p99_s", ", 99 % below {}"),
    ("gap_max_s", ", a longest gap of {}"),
    ("failovers", ", failovers: {}"),
    ("failover_max_s", ", the longest of {}"),
)
PATH_WORDS = (
    ("connected_ratio", "there is a path in {} of the time"),
    ("longest_gap_s", ", the longest gap has {}"),
    ("delay_mean_s", ", a mean delay of {}"),
    ("delay_max_s", ", at most {}"),
    ("handovers", ", handovers: {}"),
)
"""What is said of a column; of one that has no value, nothing."""


def _sentences(results: Results, sheets: Sequence[Sheet], words: Sequence[tuple[str, str]]) -> Iterator[str]:
    told_of: dict[str, dict[str, str]] = {}
    for sheet in sheets:
        found = group(results, sheet)
        for key, runs in found.values.items() if found is not None else ():
            for place, measure in enumerate(sheet.measures):
                values = [value for each in runs.values() if (value := each[place]) is not None]
                if values:
                    in_unit = unit(measure.columns, values)
                    text = f"{told(values, in_unit.scale)} {in_unit.name}".rstrip()
                    told_of.setdefault(key[0], {}).setdefault(measure.columns, text)
    if len(told_of) <= MOST_SAID:
        for name, known in told_of.items():
            said = "".join(form.format(known[column]) for column, form in words if column in known)
            if said:
                yield f"{name}: {said.removeprefix(', ')}."


def _made(results: Results) -> str:
    chosen_settings = settings(results.text)
    runs = results.runs()
    match results.kind:
        case Kind.RUN if results.is_emulation:
            return (
                f"An emulation with real programs, seed {results.told('seed')}: packets had the delays and "
                "losses that the scenario says, but for the lateness below."
            )
        case Kind.RUN:
            span = chosen_settings.get("scenario.duration")
            lasting = f" of {span.value}" if span is not None else ""
            count = f"{len(runs)} run{'' if len(runs) == 1 else 's'}{lasting}, seed {results.told('seed')}"
            intervals = (
                f" Means are over runs, with intervals of {LEVEL:.0%}."
                if len(runs) > 1
                else " A single run: chance is not parted from what the settings do."
            )
            return f"{count}.{intervals}"
        case Kind.SWEEP:
            points = {run.get("point") for run in runs}
            return (
                f"{len(points)} points, {len(runs)} runs in all. Means of each point are over its runs, with "
                f"intervals of {LEVEL:.0%}. Runs of one number draw the same random numbers at every point."
            )
        case Kind.TOPOLOGY:
            hours = results.number("span_s") / 3600
            return (
                f"{number(results.number('satellites'))} satellites, "
                f"{number(hours)} hours from {results.told('epoch')}."
            )
        case _:
            return "Tables without a manifest: what made them is not known."


def warnings(results: Results) -> list[str]:
    """List what whoever reads the results should know first."""
    found = []
    if results.is_behind:
        found.append(
            "Finished runs wait in unfinished/ for a command that was interrupted, or is at work: these "
            "results are of an earlier one. Give the command again, and it goes on."
        )
    told_warnings = results.manifest.get("warnings")
    found += [printable(str(each)) for each in told_warnings] if isinstance(told_warnings, list) else []
    for run in results.runs():
        failures = run.get("failures")
        for failure in failures if isinstance(failures, list) else []:
            found.append(f"Run {name_of(run.get('run'))}: {_failure(failure)}.")
    found += _of_flows(results)
    found += _of_attached(results)
    found += doubts(results)
    return list(dict.fromkeys(found))


def _failure(failure: object) -> str:
    if isinstance(failure, dict):
        return ", ".join(f"{printable(str(key))} {name_of(value)}" for key, value in failure.items())
    return printable(str(failure))


def _of_flows(results: Results) -> Iterator[str]:
    counts = {"messages_corrupt": "messages came with other bytes than were sent"}
    sums: dict[str, int] = {}
    for row in results.rows("flows", ["flow", *counts]):
        for column in counts:
            sums[column] = sums.get(column, 0) + int(row.get(column) or 0)
    for column, about in counts.items():
        if sums.get(column):
            yield f"{sums[column]:,} {about} (column {column} of flows)."


def _of_attached(results: Results) -> Iterator[str]:
    counts = {
        "late": "left later than `--late` allows",
        "lost": "were dropped before they were read",
    }
    for row in results.rows("attached_interfaces", ["node", "link", *counts]):
        for column, about in counts.items():
            if row.get(column):
                yield (
                    f"{int(row[column]):,} packets at {name_of(row.get('node'))}, {name_of(row.get('link'))} "
                    f"{about}: the emulation is void from the first of them on."
                )


def warned(remarks: Sequence[str]) -> str:
    """Give warnings as a list."""
    shown = [f"<li>{escape(each)}</li>" for each in remarks[:MOST_ROWS]]
    more = len(remarks) - len(shown)
    rest = f"<li>and {more:,} more</li>" if more > 0 else ""
    return f'<div class="warnings"><ul>{"".join(shown)}{rest}</ul></div>'


def flow_sections(results: Results) -> list[page.Section]:
    """Give the measures of flows."""
    if results.kind is Kind.TOPOLOGY:
        return []
    rows, columns = results.shape("flows")
    if not columns:
        kept = ", ".join(results.tables()) or "none"
        cure = (
            " Name it in `tables` of the sweep's file and give the command anew."
            if results.kind is Kind.SWEEP
            else ""
        )
        about = f"There is no table `flows` here; there are {kept}.{cure}"
        return [page.Section("flows", "Flows", [f"<p>{escape(about)}</p>"])]
    if not rows and (results.shape("signalling_load")[0] or results.is_emulation):
        return []
    if not rows:
        about = (
            "The table `flows` has no rows: no flow was asked for. A section `[flows.NAME]` of the scenario "
            "asks for one; give the command anew then."
        )
        return [page.Section("flows", "Flows", [f"<p>{escape(about)}</p>"])]
    parts = [part for sheet in FLOWS if (part := measured(results, sheet, sheet.about))]
    return [page.Section("flows", "Flows", parts)]


def other_sections(results: Results) -> Iterator[page.Section]:
    """Give the measures of links, of signalling, and of what else there is."""
    for sheet in SKY if results.kind is Kind.TOPOLOGY else OTHERS:
        part = measured(results, sheet, sheet.about)
        if part:
            yield page.Section(sheet.name, sheet.title, [part])


def measured(results: Results, sheet: Sheet, caption: str) -> str:
    """Lay out the measures of a sheet, a row for each thing; nothing where nothing was measured."""
    found = group(results, sheet)
    if found is None:
        return ""
    head, rows = laid_out(sheet, found)
    if len(head) <= len(found.keys):
        return ""
    about = [caption]
    if found.runs() > 1:
        about.append(f"Means over {found.runs()} runs ± half the {LEVEL:.0%} interval.")
    return shortened(" ".join(about), head, rows, f"{sheet.table}.csv")


def laid_out(sheet: Sheet, found: Group) -> tuple[list[str], list[list[str]]]:
    """Give head and rows of a sheet, without columns that say nothing."""
    head = [key_name(key) for key in found.keys]
    rows = [list(key) for key in found.values]
    for place, measure in enumerate(sheet.measures):
        column = [[values[place] for values in runs.values()] for runs in found.values.values()]
        known = [value for values in column for value in values if value is not None]
        if not known or (measure.is_quiet and not any(known)):
            continue
        in_unit = unit(measure.columns, known)
        head.append(in_unit.head(measure.label))
        for row, values in zip(rows, column, strict=True):
            row.append(told(values, in_unit.scale))
    return head, rows


def listings(results: Results) -> Iterator[page.Section]:
    """Give the rows of what happened: failovers, outages, handovers."""
    for listing in LISTINGS:
        count, columns = results.shape(listing.table)
        if not count:
            continue
        own = [column for column, _ in listing.columns]
        axes = [column for column in columns if "." in column]
        rows = results.rows(listing.table, [*axes, *own], MOST_ROWS)
        runs = {row.get("run") for row in rows}
        shown = [
            (column, label)
            for column, label in (*((axis, key_name(axis)) for axis in axes), *listing.columns)
            if column in columns and (column != "run" or len(runs) > 1)
        ]
        head, cells = _listed(shown, rows)
        caption = listing.about
        if count > len(rows):
            caption = f"{caption} The first {len(rows):,} of {count:,} rows; all are in {listing.table}.csv."
        yield page.Section(listing.name, listing.title, [page.table(caption, head, cells)])


INSTANTS = ("at_s", "begin_s", "end_s", "start_s")


def _listed(
    shown: Sequence[tuple[str, str]], rows: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[list[str]]]:
    head = []
    cells: list[list[str]] = [[] for _ in rows]
    for column, label in shown:
        values = [row.get(column) for row in rows]
        known = [value for value in values if isinstance(value, float)]
        if column in INSTANTS:
            head.append(f"{label} / s")
            told_cells = [f"{value:,.3f}" if isinstance(value, float) else NONE for value in values]
        elif known and "." not in column:
            in_unit = unit(column, known)
            head.append(in_unit.head(label))
            told_cells = [
                number(value * in_unit.scale) if isinstance(value, float) else NONE for value in values
            ]
        else:
            head.append(label)
            told_cells = [name_of(value) for value in values]
        for row, text in zip(cells, told_cells, strict=True):
            row.append(text)
    return head, cells


def events(results: Results) -> list[page.Section]:
    """Give the events of the scenario's script, where no table has them."""
    script = items(results.text, "script")
    if not script or results.kind is Kind.TOPOLOGY or results.shape("script")[0]:
        return []
    rows = [
        (
            event.pop("at", NONE),
            ", ".join(f"{key} {value}" for key, value in event.items()),
        )
        for event in script
    ]
    about = "What the scenario's script does, and when."
    return [page.Section("script", "Script", [shortened(about, ("at", "event"), rows, "scenario.toml")])]


def figures(results: Results) -> page.Section:
    """Give the figures: those that lie beside the tables, or drawn of these."""
    beside = [page.Figure(title, "", words, svg).html() for title, words, svg in _beside(results)]
    parts = beside or list(drawn(results))
    return page.Section("figures", "Figures", parts)


def _beside(results: Results) -> Iterable[tuple[str, str, bytes]]:
    return results.figures() if results.kind is Kind.TOPOLOGY else ()


def drawn(results: Results) -> Iterator[str]:
    """Draw every figure that the tables allow, with the numbers that it shows."""
    found, why = plotted(results)
    if why:
        yield f"<p>{escape(why)}</p>"
    while found:
        plot = found.pop(0)
        drawing = plot.drawing
        drawing.figure.set_size_inches(*FIGURE_INCHES)
        svg = render(drawing.figure, "svg", title=drawing.title, words=drawing.words)
        yield page.Figure(drawing.title, drawing.caption, drawing.words, svg).html()
        yield page.table(f"{drawing.title.rstrip('.')} in numbers.", plot.head, plot.rows)


def plotted(results: Results) -> tuple[list[Plot], str]:
    """Draw the figures of a directory; say why there is none."""
    try:
        return plots(results.path), ""
    except NothingToDrawError as error:
        return [], printable(str(error))
    except (KeyError, ValueError) as error:
        why = printable(" ".join(str(part) for part in error.args))
        return [], f"No figure: a table has other columns than those of slantpath {__version__} ({why})."


def chosen(results: Results) -> list[page.Section]:
    """Give the settings that differ from defaults."""
    if not results.text:
        return []
    found = choices(results.text)
    axes = results.manifest.get("axes")
    parts = []
    if isinstance(axes, list):
        varied = [
            (printable(str(path)), ", ".join(printable(_unquoted(str(value))) for value in values))
            for axis in axes
            if isinstance(axis, dict)
            for path, values in axis.items()
            if isinstance(values, list)
        ]
        parts.append(page.table("What the sweep varies.", ("setting", "values"), varied))
    source = results.kind.text_name
    if all(each.default is None for each in found):
        pairs = [(each.path, each.value) for each in found]
        parts.append(shortened("What the file sets.", ("setting", "value"), pairs, source, MOST_SETTINGS))
    else:
        rows = [(each.path, each.value, NONE if each.default is None else each.default) for each in found]
        about = "What the scenario sets otherwise than the default; a dash where a key has no default."
        parts.append(shortened(about, ("setting", "value", "default"), rows, source, MOST_SETTINGS))
    return [page.Section("settings", "Settings", parts)]


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
