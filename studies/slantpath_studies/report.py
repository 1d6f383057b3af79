"""The report of a study: one HTML file that needs nothing beside it."""

from __future__ import annotations

import platform
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

import matplotlib as mpl
import pyarrow as pa

from slantpath import __version__, page
from slantpath.files import write_whole
from slantpath_studies.claims import LEVEL, RULE, Verdict, as_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from slantpath_studies.claims import Finding


RESTS_ON = "| # | figure | accepted | ours | verdict |"
"""The head of the table of a page from which its verdicts can be made again."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of the report."""

    title: str
    about: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Lay it out as Markdown, without its title."""
        rows = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


@dataclass(slots=True)
class Report:
    """What a study has to say."""

    title: str
    lead: str
    findings: Sequence[Finding]
    figures: list[page.Figure] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    scenarios: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, hash and merged text of each scenario that was run."""
    seeds: str = ""
    against: str = "published"
    """What the findings are held to, as it heads their column."""
    about_claims: str = f"What the paper claims, and what we found. {RULE}"

    def html(self) -> str:
        """Give the whole page. Equal studies give equal pages: there is no date in it."""
        made = page.table("What made it", ("what", "version"), versions().items())
        grids = [rests_on(self.findings), *self.grids]
        scenarios = [page.scenario(*scenario) for scenario in self.scenarios]
        sections = [
            page.Section("claims", "Claims", [self._claims()]),
            *(self._grid(f"table-{place}", grid) for place, grid in enumerate(grids, 1)),
            page.Section("figures", "Figures", [figure.html() for figure in self.figures]),
            page.Section("repeat", "How it was made", [f"<p>{escape(self.seeds)}</p>", made]),
            page.Section("scenarios", "Scenarios", scenarios),
        ]
        head = f"<h1>{escape(self.title)}</h1><p>{escape(self.lead)}</p>"
        return page.page(self.title, [head, page.contents(sections), *(each.html() for each in sections)])

    def _claims(self) -> str:
        def row(finding: Finding) -> Sequence[str | page.Cell]:
            remark = f"<br><small>{escape(finding.remark)}</small>" if finding.remark else ""
            undecided = finding.verdict in {Verdict.UNDECIDED, Verdict.NOT_MEASURED}
            mark = "agrees" if finding.verdict.good else "undecided" if undecided else "differs"
            return (
                finding.claim.number,
                page.Cell(escape(finding.claim.text) + remark, "claim"),
                page.Cell(escape(finding.claim.published), "number"),
                page.Cell(escape(finding.ours), "number"),
                page.Cell(escape(finding.judged()), mark),
            )

        return page.table(
            self.about_claims,
            ("number", "claim", self.against, f"ours, {LEVEL:.0%} interval", "verdict"),
            map(row, self.findings),
            "Claims",
        )

    @staticmethod
    def _grid(name: str, grid: Grid) -> page.Section:
        return page.Section(name, grid.title, [page.table(grid.about, grid.head, grid.rows, grid.title)])


def rests_on(findings: Sequence[Finding]) -> Grid:
    """Lay out every figure of every claim: its verdict can be recomputed from its row."""
    return Grid(
        "What each verdict rests on",
        RULE,
        ("#", "figure", "accepted", "ours", "verdict"),
        [
            (finding.claim.number, part.figure, part.accepted_text(), part.told(), part.outcome.text())
            for finding in findings
            for part in finding.parts
        ],
    )


def write_claims(
    out: Path, findings: Sequence[Finding], against: str = "published"
) -> tuple[str, list[Path]]:
    """Write the claims for a terminal, and for the page of the study; give the former and the files."""
    table = as_text(findings, against)
    claims = Grid(
        "Claims",
        "",
        ("#", "claim", against, "ours", "verdict"),
        [
            (each.claim.number, each.claim.text, each.claim.published, each.ours, each.judged())
            for each in findings
        ],
    )
    page_text = f"{claims.markdown()}\n### What each verdict rests on\n\n{rests_on(findings).markdown()}"
    return table, [
        write_whole(out / "claims.txt", table.encode()),
        write_whole(out / "verdicts.txt", page_text.encode()),
    ]


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its name only when all is written; an error leaves nothing behind."""
    out = BytesIO()
    yield out
    write_whole(path, out.getvalue())


def versions() -> dict[str, str]:
    """Name everything whose version the results may depend on."""
    return {
        "slantpath": __version__,
        "Python": platform.python_version(),
        "matplotlib": mpl.__version__,
        "pyarrow": pa.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
    }
