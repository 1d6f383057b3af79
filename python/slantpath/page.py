"""Pages of HTML that need nothing beside them, and can be read on a telephone and by a screen reader."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from slantpath.figures import render
from slantpath.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import matplotlib.figure

    from slantpath.figures import Look, Made

STYLE = """
:root { color-scheme: light }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1b1f; background: #fff; overflow-wrap: break-word }
h1 { line-height: 1.2 } h2 { margin-top: 2.5rem } h3 { margin-top: 2rem }
h1, h2, h3, p, li, dd, figcaption { overflow-wrap: anywhere }
p, li, figure, nav { max-width: 52rem } a { color: #1f4e79 } nav ul { columns: 3 12rem; padding-left: 1.2rem }
table { border-collapse: collapse; min-width: 100% }
caption { text-align: left; padding-bottom: .6rem }
caption span { display: block; position: sticky; left: 0; max-width: calc(100vw - 2rem) }
th, td { text-align: left; padding: .35rem .6rem; vertical-align: top }
thead th { border-bottom: 2px solid #1b1b1f } tbody th { font-weight: 400; min-width: 6rem }
tbody th, td { border-bottom: 1px solid #d8d8de }
td.claim { min-width: 15rem }
td.long { min-width: 14rem; overflow-wrap: anywhere } td.why { min-width: 24rem }
td.number { font-variant-numeric: tabular-nums; min-width: 7rem }
.agrees { color: #1a6b3c } .differs { color: #a3311f; font-weight: 600 } .undecided { color: #7a5b00 }
.warnings { border-left: 4px solid #a3311f; padding: .1rem 1rem; background: #fdf3f1 }
.wide { overflow-x: auto; margin-bottom: 1.5rem }
figure { margin: 2rem 0 } figure img { width: 100% } figcaption { color: #55555e }
pre { background: #f4f4f6; padding: 1rem; font-size: 13px; white-space: pre-wrap; overflow-wrap: anywhere }
summary { cursor: pointer; overflow-wrap: anywhere }
@media screen and (max-width: 40rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  table, caption, tbody, tr, th, td { display: block }
  tr { border-bottom: 2px solid #1b1b1f; padding: .4rem 0 }
  tbody th, td { border-bottom: none; padding: .1rem 0; overflow-wrap: anywhere }
  tbody th { font-weight: 600; min-width: 0 }
  tbody th, td { display: grid; grid-template-columns: 10rem 1fr; gap: 0 .8rem }
  tbody th::before, td::before { content: attr(data-label); color: #55555e; font-weight: 400 }
  td.claim, td.long, td.number, td.why { min-width: 0 }
}
@media print {
  @page { size: A4; margin: 14mm 12mm }
  body { font-size: 9.5pt; max-width: none; margin: 0; padding: 0 }
  nav { display: none }
  .wide { overflow: visible }
  table { font-size: 7.5pt; width: 100%; min-width: 0 }
  caption { font-size: 9pt } caption span { position: static; max-width: none }
  thead { display: table-header-group }
  th, td { padding: .6mm 1mm } tbody th, td { overflow-wrap: normal; min-width: 0 }
  tbody th { min-width: 10mm } .breaks, td.claim, td.long { overflow-wrap: anywhere }
  td.claim, td.long, td.number, td.why { min-width: 0 }
  tr, figure { break-inside: avoid } h1, h2, h3, caption, thead { break-after: avoid }
  tbody tr:first-child { break-before: avoid }
  figure { margin: 5mm 0 } figure img { max-height: 110mm; object-fit: contain; object-position: left }
  pre { font-size: 7.5pt }
}
"""
"""On a narrow screen the rows of a table stand one below the other, each cell behind the name of its column.

What is still wider than the screen scrolls in its own box; the page does not. On paper nothing is cut.
"""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure that was drawn, and what it shows."""

    name: str
    """The name of its files, without what follows the dot."""
    title: str
    caption: str
    words: str
    """What can be seen in it, with its numbers, for those who cannot see it."""
    figure: matplotlib.figure.Figure
    look: Look | None = None
    made: Made | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing as a page holds it."""

    title: str
    caption: str
    words: str
    svg: bytes

    def html(self) -> str:
        """Give it with its caption."""
        data = base64.b64encode(self.svg).decode()
        return (
            f'<figure><img alt="{escape(self.words)}" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption><b>{escape(self.title)}</b> {escape(self.caption)}</figcaption></figure>"
        )


def write_drawings(
    out: Path, drawings: Iterable[Drawing], kinds: Sequence[str] = ("png", "svg")
) -> tuple[list[Figure], list[Path]]:
    """Write drawings as files of those kinds; give them as a page wants them, and the files."""
    drawn, files = [], []
    for drawing in drawings:
        rendered = {
            kind: render(
                drawing.figure,
                kind,
                title=drawing.title,
                words=drawing.words,
                look=drawing.look,
                made=drawing.made,
            )
            for kind in dict.fromkeys(("svg", *kinds))
        }
        drawn.append(Figure(drawing.title, drawing.caption, drawing.words, rendered["svg"]))
        files += [write_whole(out / f"{drawing.name}.{kind}", rendered[kind]) for kind in kinds]
    return drawn, files


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading of its own, to which the contents lead."""

    name: str
    """The name by which a link finds it."""
    title: str
    parts: Sequence[str]

    def html(self) -> str:
        """Give the heading and what stands below it."""
        return f'<h2 id="{escape(self.name)}">{escape(self.title)}</h2>\n' + "\n".join(self.parts)


def contents(sections: Iterable[Section]) -> str:
    """Give links to sections of a page."""
    links = "".join(
        f'<li><a href="#{escape(section.name)}">{escape(section.title)}</a></li>' for section in sections
    )
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'


def page(title: str, parts: Iterable[str]) -> str:
    """Give a whole page. Equal parts give equal pages: there is no date in it."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # A server is not asked for an icon.
        '<link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + "\n</main></body></html>\n"
    )


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table that is more than a string: HTML, and its class."""

    html: str
    kind: str = ""


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str | Cell]], label: str | None = None
) -> str:
    """Give a table. The first cell of a row says what the row is about.

    Where it is too wide it scrolls in a box that the keyboard reaches, called by its label or its caption.
    Roles are written out: rows that stand one below the other would be none of a table's for a screen reader.
    """

    def data(label: str, cell: str | Cell) -> str:
        cell = cell if isinstance(cell, Cell) else _broken(cell)
        kind = f' class="{cell.kind}"' if cell.kind else ""
        return f'<td role="cell"{kind} data-label="{escape(label)}"><span>{cell.html}</span></td>'

    def row(first: str | Cell, *others: str | Cell) -> str:
        name = first if isinstance(first, Cell) else _broken(first)
        kind = f' class="{name.kind}"' if name.kind else ""
        cells = "".join(map(data, head[1:], others))
        label = f' data-label="{escape(head[0])}"'
        begin = f'<th role="rowheader" scope="row"{kind}{label}><span>{name.html}</span></th>'
        return f'<tr role="row">{begin}{cells}</tr>'

    columns = "".join(f'<th role="columnheader" scope="col">{_path(cell)}</th>' for cell in head)
    body = "".join(row(*cells) for cells in rows)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(label or caption)}">'
        f'<table role="table"><caption><span>{escape(caption)}</span></caption>'
        f'<thead role="rowgroup"><tr role="row">{columns}</tr></thead>'
        f'<tbody role="rowgroup">{body}</tbody></table></div>'
    )


MOST_LETTERS = 12
"""Letters of a word that is not broken on paper."""


def _broken(text: str) -> Cell:
    """Let a cell break behind dots and underscores of long words, and on paper in what is still long then."""
    if max(map(len, text.split()), default=0) <= MOST_LETTERS:
        return Cell(escape(text))
    parts = re.split(r"\s|(?<=[._])", text)
    return Cell(_path(text), "breaks" if max(map(len, parts)) > MOST_LETTERS else "")


def _path(text: str) -> str:
    """Let a string break behind the dots and underscores of a path."""
    return re.sub(r"([._])(?=[^\W\d])", r"\1<wbr>", escape(text))


def scenario(name: str, digest: str, text: str) -> str:
    """Give a scenario's text, folded away under its name and hash."""
    return (
        f"<details><summary>{escape(name)} <small>({escape(digest)})</small></summary>"
        f"<pre>{escape(text)}</pre></details>"
    )
