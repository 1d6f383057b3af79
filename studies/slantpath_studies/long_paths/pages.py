"""A page for each controller: what it is, and all that the tables of the study say of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from slantpath_studies.long_paths import cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slantpath_studies.report import Grid

ABOUT: Mapping[str, str] = {
    "new-reno": (
        "Half the window at a loss, a packet a round trip after it: RFC 5681 and 6582, and over "
        "SCTP RFC 9260, section 7.2. A loss is congestion to it: one in a thousand packets leaves "
        'it a tenth of a long path. `congestion_control = "new-reno"` for TCP and `"rfc9260"` for '
        "SCTP, the defaults."
    ),
    "cubic": (
        "Seven tenths of the window at a loss, then a cubic of the time since, back to where the "
        "loss was and beyond: RFC 9438. Its growth hardly depends on the round trip where windows "
        'are large, but each loss is still congestion. `congestion_control = "cubic"`; '
        '`slow_start = "hystart++"` makes the ramp shorter; with `"hystart-long-path"` it ends at about half '
        "of what the path holds, before the queue is full, and the cubic takes 20 to 40 round trips more."
    ),
    "hybla": (
        "Grows in time as a connection of 25 ms would: Caini and Firrincieli 2004. It is soon at "
        "the link's rate, and keeps the queue full with the losses that this brings. "
        '`congestion_control = "hybla"`.'
    ),
    "bbr": (
        "Paces at the greatest rate at which data arrived in ten rounds, whatever is lost: BBR "
        "version 1, as in Linux. Losses do not slow it, and neither do the flows beside it. "
        '`congestion_control = "bbr"` with `loss_detection = "rack"`.'
    ),
    "bbr3": (
        "BBR bounded by loss: more than 2 % in a probe sets what may be in flight "
        "(draft-ietf-ccwg-bbr). Gentler to queues than version 1, and slower where the path "
        'itself loses a percent. `congestion_control = "bbr3"` with `loss_detection = "rack"`.'
    ),
    "backlog": (
        "Keeps a few packets waiting at the bottleneck, by their delay; a loss has no place in it "
        "below a tenth. Of this project, for links of one's own: where the queue is too short to "
        'show a delay it cannot tell that it is not alone. `congestion_control = "backlog"` with '
        '`loss_detection = "rack"`.'
    ),
}
"""What each controller is, and the keys that choose it."""


def pages(grids: Sequence[Grid]) -> Iterator[tuple[str, str]]:
    """Give each controller's name with its page in Markdown."""
    for controller, about in ABOUT.items():
        label = cases.PROFILES[controller]
        parts = [f"# {label} over long paths", about]
        for grid in grids:
            part = _of(grid, label)
            parts += [f"## {part.title}", part.about, part.markdown().rstrip()]
        yield controller, "\n\n".join(parts) + "\n"


def _of(grid: Grid, label: str) -> Grid:
    """Keep what a table says of one controller, whose rows or column it has."""
    if grid.head[0] == "controller":
        return replace(grid, head=grid.head[1:], rows=[row[1:] for row in grid.rows if row[0] == label])
    column = list(grid.head).index(label)
    return replace(
        grid, head=(grid.head[0], grid.head[column]), rows=[(row[0], row[column]) for row in grid.rows]
    )
