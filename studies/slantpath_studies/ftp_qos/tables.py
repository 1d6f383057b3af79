"""The tables of the report."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from slantpath_studies.claims import LEVEL, Estimate
from slantpath_studies.ftp_qos import cases, services
from slantpath_studies.ftp_qos.cases import Sky
from slantpath_studies.ftp_qos.padhye import window_limited
from slantpath_studies.ftp_qos.processor_sharing import mean_throughput
from slantpath_studies.ftp_qos.runs import DELAY, JITTER, LOSS, THROUGHPUT
from slantpath_studies.report import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from slantpath_studies.ftp_qos.cases import Cell
    from slantpath_studies.ftp_qos.measures import RunFigures
    from slantpath_studies.ftp_qos.runs import Measure, Results

KILO = 1e-3
MILLI = 1e3


def grids(results: Results) -> Iterator[tuple[str, Grid]]:
    """Give each table with the name of its file."""
    yield "cells", _cells(results)
    yield "closed-forms", _closed_forms(results)
    yield "lone-session", _lone(results)
    yield "choices", _choices(results)
    yield "balance", _balance(results)
    yield "admission", _admission(results)
    yield "services", _services(results)


def _text(estimate: Estimate, scale: float, decimals: int) -> str:
    return estimate.text("", scale, decimals).strip() if math.isfinite(estimate.mean) else "–"


def _cells(results: Results) -> Grid:
    def row(cell: Cell) -> tuple[str, ...]:
        runs = results.figures(cell.name)

        def nominal(measure: Measure, scale: float, decimals: int) -> str:
            observed = results.observed(cell.nominal, measure.of)
            return f"{scale * np.mean(observed):.{decimals}f}" if observed else "–"

        expected = cases.END_S * cell.rate_per_s * cell.mean_bytes
        return (
            f"{cell.sky.label}, {cell.error_rate}, {cell.size_kb / 1000:g} MB, {cell.per_minute}/min",
            str(len(runs)),
            f"{cell.nominal_load:.2f}" + ("" if cell.has_steady_state else " (no steady state)"),
            _text(Estimate.of([run.offered_bytes / expected for run in runs]), 1, 2),
            _text(results.estimate(cell.name, DELAY), MILLI, 1),
            nominal(DELAY, MILLI, 1),
            _text(results.estimate(cell.name, JITTER), MILLI, 3),
            nominal(JITTER, MILLI, 3),
            f"{1e9 * np.nanmean([run.telescoped_jitter_s for run in runs]):.0f}",
            _text(results.estimate(cell.name, LOSS), 1, 5),
            nominal(LOSS, 1, 5),
            _text(results.estimate(cell.name, THROUGHPUT), KILO, 1),
            nominal(THROUGHPUT, KILO, 1),
            f"{np.mean([run.unfinished for run in runs]):.1f} of {np.mean([run.begun for run in runs]):.0f}",
        )

    return Grid(
        "Every cell",
        "Means of hours, and of hours at nominal load: as many sessions as expected, with sizes that are the "
        "means of "
        "equal shares of the distribution. Delay by equation 1; jitter as mean absolute difference, and by "
        "equation 2 as it "
        "is printed; loss by equation 3; throughput of completed sessions by equation 4.",
        (
            "cell",
            "hours",
            "nominal load",
            "bytes offered / nominal",
            "delay / ms",
            "at nominal load",
            "jitter / ms",
            "at nominal load",
            "equation 2 / ns",
            "loss",
            "at nominal load",
            "throughput / kbit/s",
            "at nominal load",
            "unfinished sessions",
        ),
        [row(cell) for cell in cases.cells(results.extent)],
    )


def _closed_forms(results: Results) -> Grid:
    def mean(cell: Cell, of: str) -> float:
        return float(np.mean([getattr(run, of) for run in results.figures(cell.name)]))

    def row(cell: Cell) -> tuple[str, ...]:
        floor_s = min(run.least_delay_s for run in results.figures(cell.name))
        waits = f"{MILLI * mean(cell, 'waiting_s'):.1f}"
        shared = mean_throughput(cell.sky.line, cell.nominal_load)
        return (
            f"{cell.sky.label}, {cell.error_rate}, {cell.size_kb / 1000:g} MB, {cell.per_minute}/min",
            f"{cell.nominal_load:.2f}",
            f"{mean(cell, 'utilisation'):.2f}",
            f"{MILLI * floor_s:.1f}",
            f"{MILLI * mean(cell, 'delay_s'):.1f}",
            waits,
            f"{KILO * shared:.0f}" if cell.has_steady_state else "–",
            _text(results.estimate(cell.name, THROUGHPUT), KILO, 0),
        )

    of_one_rate = [cell for cell in cases.cells(results.extent) if cell.size_kb in {500, 2_000}]
    return Grid(
        "Beside closed forms",
        "The load that comes in and that which the link to the satellite carries, repetitions and headers "
        "with it; the "
        "shortest delay of any packet; how long a packet waits at the edge and before that link by Little's "
        "law, from "
        "the mean lengths of both queues; and the throughput that capped processor sharing gives in the "
        "steady state, without losses and slow "
        "start.",
        (
            "cell",
            "nominal load",
            "utilisation",
            "least delay / ms",
            "mean delay / ms",
            "waiting, Little / ms",
            "processor sharing / kbit/s",
            "throughput / kbit/s",
        ),
        [row(cell) for cell in of_one_rate],
    )


def _lone(results: Results) -> Grid:
    rows = []
    for sky in Sky:
        for rate in cases.ERROR_RATES:
            runs = results.figures(cases.lone(sky, rate))
            measured = [8 * run.delivered_bytes / cases.END_S for run in runs]
            round_trip_s = float(np.mean([run.delay_s + run.least_delay_s for run in runs]))
            loss = float(np.mean([run.loss for run in runs]))
            model = window_limited(loss, round_trip_s, cases.WINDOW_SEGMENTS, acknowledged=1)
            rows.append(
                (
                    f"{sky.label}, {rate}",
                    f"{MILLI * round_trip_s:.0f}",
                    f"{loss:.5f}",
                    f"{KILO * 8 * cases.SEGMENT_BYTES * model:.0f}",
                    _text(Estimate.of(measured), KILO, 0),
                )
            )
    return Grid(
        "A lone session",
        "One session that never ends, beside the model of Padhye et al. (window of 30 segments, every packet "
        "acknowledged, "
        "its measured loss and delays): data in kbit/s.",
        ("case", "round trip / ms", "loss", "model / kbit/s", "measured / kbit/s"),
        rows,
    )


MEASURED: tuple[tuple[str, Measure], ...] = (
    ("delay", DELAY),
    ("jitter", JITTER),
    ("loss", LOSS),
    ("throughput", THROUGHPUT),
)


def _choices(results: Results) -> Grid:
    places = [(sky, place) for sky in Sky for place in cases.BESIDE]
    beside = results.extent.beside
    rows: list[tuple[str, ...]] = []
    for label, measure in MEASURED:
        rows.append(
            (
                f"{label}, as studied",
                *(
                    f"{np.mean(hours):.4g}"
                    for sky, place in places
                    for hours in [results.observed(cases.cell(sky, place).name, measure.of)[:beside]]
                ),
            )
        )
        for name, one in cases.CHOICES.items():
            ratios = [
                _text(
                    results.ratio(
                        cases.choice(name, cases.cell(sky, place)), cases.cell(sky, place).name, measure.of
                    ),
                    1,
                    2,
                )
                if sky in one.skies
                else "–"
                for sky, place in places
            ]
            rows.append((f"{label}: {one.about}", *ratios))
    return Grid(
        "What the open parameters decide",
        "Each figure as studied, in seconds and bit/s, and with one other choice as a ratio to it, run by "
        f"run, with {LEVEL:.0%} "
        "intervals.",
        (
            "choice",
            *(f"{sky.label}, {rate}, {size / 1000:g} MB, {often}/min" for sky, (rate, size, often) in places),
        ),
        rows,
    )


def _balance(results: Results) -> Grid:
    return Grid(
        "Several links to satellites",
        "With one link of 2 Mbit/s at each end as studied, and with two of them behind an edge of 4 Mbit/s: "
        f"{_WHAT}",
        ("links", *_places()),
        [
            _beside(results, "one link", lambda at: at.name),
            *(
                _beside(results, about, partial(cases.balance, name))
                for name, about in cases.BALANCES.items()
            ),
        ],
    )


def _admission(results: Results) -> Grid:
    return Grid(
        "Admission of sessions",
        f"All sessions may begin as studied, or those that a rule admits: {_WHAT}",
        ("rule", *_places()),
        [
            _beside(results, "all may begin", lambda at: at.name),
            *(
                _beside(results, about, partial(cases.admission, name))
                for name, (about, _) in cases.ADMISSIONS.items()
            ),
        ],
    )


_WHAT = (
    "throughput of completed sessions in kbit/s, their waiting included; delay in ms; jitter in ms; loss; "
    "Mbit delivered "
    "in a second of the hour; sessions that were refused, and that were not over at the end."
)


def _places() -> Iterator[str]:
    for sky in Sky:
        for rate, size, often in cases.BALANCED:
            yield f"{sky.label}, {rate}, {size / 1000:g} MB, {often}/min"


def _beside(results: Results, about: str, case_of: Callable[[Cell], str]) -> tuple[str, ...]:
    """Give what balances and rules do in each of their places."""
    cells = []
    for sky in Sky:
        for place in cases.BALANCED:
            case = case_of(cases.cell(sky, place))

            def mean(of: Callable[[RunFigures], float], scale: float, decimals: int, case: str = case) -> str:
                # The same hours of all: cells have more.
                runs = results.figures(case)[: results.extent.beside]
                observed = [value for value in map(of, runs) if math.isfinite(value)]
                return f"{scale * np.mean(observed):.{decimals}f}" if observed else "–"

            cells.append(
                "; ".join(
                    (
                        mean(THROUGHPUT.of, KILO, 0),
                        mean(DELAY.of, MILLI, 0),
                        mean(JITTER.of, MILLI, 2),
                        mean(LOSS.of, 1, 4),
                        mean(lambda run: 8 * run.delivered_bytes / cases.END_S, 1e-6, 2),
                        mean(lambda run: run.refused, 1, 0),
                        mean(lambda run: run.unfinished, 1, 0),
                    )
                )
            )
    return (about, *cells)


def _services(results: Results) -> Grid:
    rows = []
    for sky, scheduler, links, rule in product(Sky, services.SCHEDULERS, services.LINKS, services.RULES):
        figures = services.estimates(results.of_services(services.name_of(sky, scheduler, links, rule)))
        rows.append(
            (
                sky.label,
                services.SCHEDULERS[scheduler],
                services.LINKS[links],
                services.RULES[rule],
                *(
                    _text(figures[name], shown.scale, shown.decimals)
                    for name, shown in services.SHOWN.items()
                ),
            )
        )
    return Grid(
        "Voice, video, pages and files together",
        "A call, a video stream, readers of pages, and six files of 1 MB a minute at 1e-7. Rules of "
        "admission hold files back alone. Classes: strict priority by DSCP at the edge and before the "
        "satellite.",
        ("sky", "scheduler", "links", "files", *services.SHOWN),
        rows,
    )
