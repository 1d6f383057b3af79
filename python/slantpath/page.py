"""Pages of HTML that need nothing beside them, and can be read on a telephone and by a screen reader."""

from __future__ import annotations

import base64
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
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { line-height: 1.2 } h2 { margin-top: 2.5rem }
table { border-collapse: collapse; min-width: 100% }
caption { text-align: left; padding-bottom: .6rem }
caption span { display: block; position: sticky; left: 0; max-width: calc(100vw - 2rem) }
th, td { text-align: left; padding: .35rem .6rem; vertical-align: top }
thead th { border-bottom: 2px solid #1b1b1f } tbody th { font-weight: 400 }
tbody th, td { border-bottom: 1px solid #d8d8de }
td.claim { min-width: 15rem }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap }
.agrees { color: #1a6b3c } .differs { color: #a3311f; font-weight: 600 } .undecided { color: #7a5b00 }
.wide { overflow-x: auto }
figure { margin: 2rem 0 } figure img { width: 100%; min-width: 38rem } figcaption { color: #55555e }
pre { background: #f4f4f6; padding: 1rem; overflow-x: auto; font-size: 13px }
summary { cursor: pointer; overflow-wrap: anywhere }
"""
"""A table or figure that is wider than the screen scrolls in its own box; the page does not."""


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
        """Give it with its caption; on a narrow screen it can be scrolled sideways."""
        data = base64.b64encode(self.svg).decode()
        return (
            f"<figure>{_box(self.title)}"
            f'<img alt="{escape(self.words)}" src="data:image/svg+xml;base64,{data}"></div>'
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


def page(title: str, parts: Iterable[str]) -> str:
    """Give a whole page. Equal parts give equal pages: there is no date in it."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + "\n</main></body></html>\n"
    )


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table that is more than a string: HTML, and its class."""

    html: str
    kind: str = ""


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str | Cell]]) -> str:
    """Give a table. The first cell of a row says what the row is about."""

    def data(cell: str | Cell) -> str:
        cell = cell if isinstance(cell, Cell) else Cell(escape(cell))
        kind = f' class="{cell.kind}"' if cell.kind else ""
        return f"<td{kind}>{cell.html}</td>"

    def row(first: str | Cell, *others: str | Cell) -> str:
        name = first.html if isinstance(first, Cell) else escape(first)
        return f'<tr><th scope="row">{name}</th>{"".join(map(data, others))}</tr>'

    columns = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(row(*cells) for cells in rows)
    return (
        f"{_box(caption)}<table><caption><span>{escape(caption)}</span></caption>"
        f"<thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def scenario(name: str, digest: str, text: str) -> str:
    """Give a scenario's text, folded away under its name and hash."""
    return (
        f"<details><summary>{escape(name)} <small>({escape(digest)})</small></summary>"
        f"<pre>{escape(text)}</pre></details>"
    )


def _box(label: str) -> str:
    """Begin what scrolls sideways where it is too wide; the keyboard can reach it."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(label)}">'
