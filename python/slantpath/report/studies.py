"""The report of a study's directory: the tables and figures that it wrote."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from slantpath import page
from slantpath.plots.results import printable
from slantpath.report.layout import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slantpath.report.results import Results

FIRST = "verdicts"
"""The text with the claims and what each verdict rests on. ``claims.txt`` is the same for a terminal."""
VERDICTS = {"agrees": "agrees", "met": "agrees", "differs": "differs", "missed": "differs"}
"""How a cell with a verdict looks, by its first word."""


def study_sections(results: Results) -> list[page.Section]:
    """Give the tables of a study, verdicts first, and its figures."""
    texts = dict(results.texts())
    terminal = texts.pop("claims", "")
    parts = []
    for name in sorted(texts, key=lambda name: (name != FIRST, name)):
        title = "Claims" if name == FIRST else _titled(name)
        tables = list(_tables(title, texts[name], f"{name}.txt"))
        if tables:
            parts.append(page.Section(name, title, tables))
    if not parts and terminal:
        parts.append(page.Section("claims", "Claims", [f"<pre>{escape(terminal)}</pre>"]))
    figures = [page.Figure(title, "", words, svg).html() for title, words, svg in results.figures()]
    if figures:
        parts.append(page.Section("figures", "Figures", figures))
    about = (
        "<p><code>slantpath study</code> with the name of the study makes it once more. Its own page, "
        "report.html, has seeds, versions and scenarios.</p>"
    )
    return [*parts, page.Section("repeat", "How to repeat it", [about])]


def _titled(name: str) -> str:
    words = printable(name).replace("-", " ")
    return words[:1].upper() + words[1:]


def _tables(title: str, text: str, source: str) -> Iterator[str]:
    """Give the tables of a text in Markdown, each under the heading before it."""
    heading = title
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([printable(cell.strip()) for cell in line.strip().strip("|").split("|")])
            continue
        if len(rows) > 1:
            yield _table(heading, rows, source)
        rows = []
        if line.startswith("#"):
            heading = printable(line.lstrip("# "))


def _table(heading: str, rows: Sequence[Sequence[str]], source: str) -> str:
    head, _, *body = rows
    filled = [[*row, *[""] * (len(head) - len(row))][: len(head)] for row in body]
    cells = [
        [row[0], *(_cell(label, cell) for label, cell in zip(head[1:], row[1:], strict=True))]
        for row in filled
    ]
    return shortened(f"{heading.rstrip('.')}.", head, cells, source)


def _cell(label: str, cell: str) -> str | page.Cell:
    if label != "verdict":
        return cell
    return page.Cell(escape(cell), VERDICTS.get(cell.partition(" ")[0], "undecided"))
