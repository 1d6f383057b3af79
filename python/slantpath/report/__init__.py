"""A report of a result directory, or of two beside each other: one HTML file that needs nothing beside it.

from slantpath.report import report

Path("geo.html").write_text(report("out/geo"), encoding="utf-8")
Path("both.html").write_text(report("out/geo", "out/leo"), encoding="utf-8")
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from slantpath import page
from slantpath.report.comparison import compared
from slantpath.report.documents import (
    document_lead,
    document_origin,
    document_sections,
    document_warnings,
)
from slantpath.report.parts import lead, sections, warned, warnings
from slantpath.report.results import Kind, ReportError, Results
from slantpath.report.studies import study_sections

if TYPE_CHECKING:
    import os

__all__ = ["ReportError", "report"]


def report(directory: str | os.PathLike[str], other: str | os.PathLike[str] | None = None) -> str:
    """Give the page of a result directory; with another one, what differs between both.

    Raise ``ReportError`` where a directory holds no results, or half of them.
    """
    results = Results.read(Path(directory))
    if other is not None:
        second = Results.read(Path(other))
        text = compared(results, second)
        _refuse_changed(second)
    elif results.kind is Kind.STUDY:
        text = _page(results.name, "<p>A study, as its files have it.</p>", study_sections(results))
    elif results.document:
        text = _page(results.name, document_lead(results), _of_document(results))
    else:
        text = _page(results.name, lead(results), sections(results))
    _refuse_changed(results)
    return text


def _page(title: str, about: str, parts: list[page.Section]) -> str:
    head = f"<h1>{escape(title)}</h1>\n{about}"
    return page.page(title, [head, page.contents(parts), *(part.html() for part in parts)])


def _of_document(results: Results) -> list[page.Section]:
    remarks = [*document_warnings(results), *warnings(results)]
    parts = [*document_sections(results), document_origin(results)]
    return [*([page.Section("warnings", "Warnings", [warned(remarks)])] if remarks else []), *parts]


def _refuse_changed(results: Results) -> None:
    """Refuse what another command has replaced while it was read."""
    if Results.read(results.path) != results:
        message = f"{results.path} has changed while it was read: give the command again"
        raise ReportError(message)
