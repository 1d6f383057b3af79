"""Tables of an output: found by their names, and shown to a notebook."""

from __future__ import annotations

import difflib
import html
from typing import TYPE_CHECKING, TypeVar

from slantpath._native import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

Thing = TypeVar("Thing")


def named(things: Mapping[str, Thing], name: str, kind: str) -> Thing:
    """Give the thing of that name; say which there are if there is none."""
    if name in things:
        return things[name]
    near = difflib.get_close_matches(name, things, 1)
    cure = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(things)}"
    message = f"there is no {kind} `{name}`; {cure}"
    raise KeyError(message)


class Tables(dict[str, Table]):
    """Tables by their names; one that is not there is told with those that are."""

    def __missing__(self, name: str) -> Table:
        """Say which tables there are."""
        return named(self, name, "table")


def tables_html(title: str, tables: Mapping[str, Table]) -> str:
    """Show the names and the sizes of tables as HTML."""
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{len(table)}</td>"
        f"<td>{html.escape(', '.join(table.column_names))}</td></tr>"
        for name, table in tables.items()
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("table", "rows", "columns"))
    return (
        f"<table><caption>{html.escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
