"""The tables of the study: of each path and controller what every setting gives each kind of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slantpath_studies.mixed_traffic import cases
from slantpath_studies.mixed_traffic.measures import RunFigures, in_words
from slantpath_studies.report import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from slantpath_studies.mixed_traffic.runs import Results

MILLI = 1e3


def _median(kind: str) -> Callable[[RunFigures], float]:
    return lambda run: run.delays[kind].median_s


def _p99(kind: str) -> Callable[[RunFigures], float]:
    return lambda run: run.delays[kind].p99_s


def _max(kind: str) -> Callable[[RunFigures], float]:
    return lambda run: run.delays[kind].max_s


DELAY_COLUMNS: tuple[tuple[str, Callable[[RunFigures], float]], ...] = (
    ("signalling, median", _median(cases.SIGNALLING)),
    ("99 %", _p99(cases.SIGNALLING)),
    ("at most", _max(cases.SIGNALLING)),
    ("telemetry, median", _median(cases.TELEMETRY)),
    ("99 %", _p99(cases.TELEMETRY)),
    ("at most", _max(cases.TELEMETRY)),
    ("files, median", _median(cases.FILES)),
    ("99 %", _p99(cases.FILES)),
    ("at most", _max(cases.FILES)),
)
"""Columns of the table of delays, in ms."""

USE_COLUMNS: tuple[tuple[str, Callable[[RunFigures], float]], ...] = (
    ("telemetry in time", lambda run: run.in_time),
    ("sent in vain", lambda run: run.wasted),
    (
        "not delivered",
        lambda run: 1e2 * run.delays[cases.TELEMETRY].undelivered / run.delays[cases.TELEMETRY].sent,
    ),
    ("goodput of files", lambda run: run.goodput),
)
"""Columns of the table of use, in %."""


def grids(results: Results) -> Iterator[tuple[str, Grid]]:
    """Give each table with the name of its file."""
    for part in results.extent.parts:
        path, (controller, _) = cases.PATHS[part.path], cases.CONTROLLERS[part.controller]
        where = f"{path.label}, {controller}: loss {' / '.join(part.losses)}"
        yield (
            f"delays-{part.path}-{part.controller}",
            Grid(
                f"Delays over {where}",
                "In ms, from SEND to delivery, of what was sent from 20 to 100 s. `never`: a run ended "
                "before, 20 s later. Of telemetry only what was delivered counts.",
                ("setting", *(head for head, _ in DELAY_COLUMNS)),
                [
                    (
                        cases.SETTINGS[setting].label,
                        *(_cell(results, part, setting, of, MILLI, 0) for _, of in DELAY_COLUMNS),
                    )
                    for setting in part.settings
                ],
            ),
        )
        yield (
            f"use-{part.path}-{part.controller}",
            Grid(
                f"What is of use over {where}",
                f"Telemetry that came within {path.lifetime}, that was sent without coming in time (copies "
                "included), and that never came, in % of what was offered; what files brought, in % of the "
                f"link, of which they offer {path.files_load:.0%}.",
                ("setting", *(head for head, _ in USE_COLUMNS)),
                [
                    (
                        cases.SETTINGS[setting].label,
                        *(_cell(results, part, setting, of, 1.0, 1) for _, of in USE_COLUMNS),
                    )
                    for setting in part.settings
                ],
            ),
        )


def _cell(
    results: Results,
    part: cases.Part,
    setting: str,
    of: Callable[[RunFigures], float],
    scale: float,
    decimals: int,
) -> str:
    """Write the estimates for the losses in a line."""
    named = (cases.name(part.path, part.controller, setting, loss) for loss in part.losses)
    return " / ".join(in_words(results.estimate(case, of), scale, decimals) for case in named)
