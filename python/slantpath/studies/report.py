"""The report of a study: one HTML file that needs nothing beside it."""

from __future__ import annotations

import base64
import platform
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import matplotlib as mpl
import pyarrow as pa

from slantpath import _native
from slantpath.figures import render
from slantpath.files import write_whole
from slantpath.studies.claims import LEVEL, TOLERANCE, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import matplotlib.figure

    from slantpath.studies.claims import Finding

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { line-height: 1.2 } h2 { margin-top: 2.5rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .35rem .6rem; vertical-align: top }
th { border-bottom: 2px solid #1b1b1f } td { border-bottom: 1px solid #d8d8de }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap }
.agrees { color: #1a6b3c } .differs { color: #a3311f; font-weight: 600 }
figure { margin: 2rem 0 } figure img { width: 100% } figcaption { color: #55555e }
pre { background: #f4f4f6; padding: 1rem; overflow-x: auto; font-size: 13px } summary { cursor: pointer }
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn figure and what it shows."""

    title: str
    caption: str
    svg: bytes


def write_figures(
    out: Path, drawings: Iterable[tuple[str, str, str, matplotlib.figure.Figure]]
) -> tuple[list[Figure], list[Path]]:
    """Write drawings as PNG and SVG; give them as a report wants them, and the files.

    Each comes with the name of its files, its title and its caption.
    """
    drawn, files = [], []
    for name, title, caption, drawing in drawings:
        svg = render(drawing, "svg")
        drawn.append(Figure(title, caption, svg))
        files.append(write_whole(out / f"{name}.png", render(drawing, "png")))
        files.append(write_whole(out / f"{name}.svg", svg))
    return drawn, files


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of the report."""

    title: str
    about: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(slots=True)
class Report:
    """What a study has to say."""

    title: str
    lead: str
    findings: Sequence[Finding]
    figures: list[Figure] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    scenarios: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, hash and merged text of each scenario that was run."""
    seeds: str = ""

    def html(self) -> str:
        """Give the whole page. Equal studies give equal pages: there is no date in it."""
        parts = [
            f"<h1>{escape(self.title)}</h1><p>{escape(self.lead)}</p>",
            self._claims(),
            *(self._grid(grid) for grid in self.grids),
            "<h2>Figures</h2>",
            *(self._figure(figure) for figure in self.figures),
            "<h2>How it was made</h2>",
            f"<p>{escape(self.seeds)}</p>",
            _rows(("what", "version"), list(versions().items())),
            "<h2>Scenarios</h2>",
            *(self._scenario(*scenario) for scenario in self.scenarios),
        ]
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head>\n<body>\n"
            + "\n".join(parts)
            + "\n</body></html>\n"
        )

    def _claims(self) -> str:
        def row(finding: Finding) -> str:
            remark = f"<br><small>{escape(finding.remark)}</small>" if finding.remark else ""
            mark = "agrees" if finding.verdict is Verdict.AGREES else "differs"
            return (
                f"<tr><td>{finding.claim.number}</td><td>{escape(finding.claim.text)}{remark}</td>"
                f'<td class="number">{escape(finding.claim.published)}</td>'
                f'<td class="number">{escape(finding.ours)}</td>'
                f'<td class="{mark}">{escape(finding.verdict.value)}</td></tr>'
            )

        rows = "".join(row(finding) for finding in self.findings)
        return (
            "<h2>Claims</h2><table><tr><th></th><th>claim</th><th>published</th>"
            f"<th>ours, {LEVEL:.0%} interval</th><th>verdict</th></tr>{rows}</table>"
            "<p>A value agrees if the published one lies in our interval widened by "
            f"{TOLERANCE:.0%} of it.</p>"
        )

    @staticmethod
    def _grid(grid: Grid) -> str:
        return f"<h2>{escape(grid.title)}</h2><p>{escape(grid.about)}</p>{_rows(grid.head, grid.rows)}"

    @staticmethod
    def _figure(figure: Figure) -> str:
        data = base64.b64encode(figure.svg).decode()
        return (
            f'<figure><img alt="{escape(figure.title)}" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption><b>{escape(figure.title)}</b> {escape(figure.caption)}</figcaption></figure>"
        )

    @staticmethod
    def _scenario(name: str, digest: str, text: str) -> str:
        return (
            f"<details><summary>{escape(name)} <small>({escape(digest)})</small></summary>"
            f"<pre>{escape(text)}</pre></details>"
        )


def versions() -> dict[str, str]:
    """Name everything whose version the results may depend on."""
    return {
        "slantpath": _native.VERSION,
        "Python": platform.python_version(),
        "matplotlib": mpl.__version__,
        "pyarrow": pa.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
    }


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{body}</table>"
