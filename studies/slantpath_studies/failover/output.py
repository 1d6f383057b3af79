"""Everything that the study writes: tables, figures and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.csv as pa_csv

from slantpath.files import write_whole
from slantpath.page import Drawing, write_drawings
from slantpath_studies.claims import Estimate
from slantpath_studies.failover import cases, figures, words
from slantpath_studies.failover.findings import (
    CLAIMS,
    LIMIT_S,
    MILLI,
    WARM_UP_S,
    CostFigures,
    estimate,
    failover,
    failover_s,
    median,
    restart,
    rto,
    transfer,
    transfer_s,
)
from slantpath_studies.failover.runs import SHOWN
from slantpath_studies.report import Grid, Report, whole_file, write_claims

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from slantpath_studies.failover.runs import Results

    Costs = Sequence[CostFigures]

PERCENT = 1e2


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write everything that the study shows; give the table of claims and the files."""
    found = results.findings()
    table, files = write_claims(out, found)
    files += _write_timelines(out, results)
    drawn, written = write_drawings(out, _drawings(results))
    files += written
    grids = [_cells(results), _links(results), _open(results), _answers(results)]
    grids += [_costs(results, disturbance) for disturbance in cases.DISTURBANCES]
    report = Report(
        title="Failover of an M3UA association under cross traffic",
        lead=(
            "A reproduction of K.-J. Grinnemo, A. Brunstrom, “Impact of Traffic Load on SCTP Failovers in "
            "SIGTRAN” (2005), and answers to what it asks."
        ),
        findings=found,
        figures=drawn,
        grids=grids,
        scenarios=[
            (case, scenario.hash, scenario.merged())
            for case, scenario in ((case, cases.scenario_of(cases.CELLS[case])) for case in SHOWN)
        ],
        seeds=results.seeds(),
    )
    files += [
        write_whole(out / f"{grid.title.split()[0].lower()}.txt", grid.markdown().encode()) for grid in grids
    ]
    files.append(write_whole(out / "report.html", report.html().encode()))
    return table, files


def _write_timelines(out: Path, results: Results) -> list[Path]:
    files = []
    for case in SHOWN:
        path = out / f"timeline-{case.replace('/', '-')}.csv"
        with whole_file(path) as sink:
            pa_csv.write_csv(results.timeline(case), sink)
        files.append(path)
    return files


def _drawings(results: Results) -> Iterator[Drawing]:
    def failover_of(case: str) -> Estimate:
        return failover(results.figures(case))

    def transfer_of(case: str) -> Estimate:
        return transfer(results.figures(case))

    yield Drawing(
        "figure-04a",
        "Figure 4 (a).",
        "Failover time against cross traffic, means and 99 % intervals.",
        words.against_load("failover time", failover_of, LIMIT_S),
        figures.failover_times(failover_of),
    )
    yield Drawing(
        "figure-04b",
        "Figure 4 (b).",
        "Largest MSU transfer time during the failover.",
        words.against_load("largest transfer time", transfer_of, None),
        figures.transfer_times(transfer_of),
    )
    for number, case in enumerate(SHOWN):
        yield Drawing(
            f"figure-05{'ab'[number]}",
            f"Figure 5, {case.split('/')[1]}.",
            "Management of T3-rtx during one failover, 13 KByte queue; run 0.",
            words.timeline(results.timeline(case)),
            figures.timeline(results.timeline(case), f"One failover, queue/load {case}"),
        )
    rows = [
        (
            change.about,
            failover_of(f"{change.name}/{cases.BEST}"),
            failover_of(f"{change.name}/{cases.WORST}"),
            [
                Estimate.of([run.failovers for run in results.costs(disturbance, change)])
                for disturbance in cases.DISTURBANCES
            ],
        )
        for change in cases.ANSWERS
    ]
    yield Drawing(
        "answers",
        "Answers.",
        "What each answer gives, and what it costs.",
        words.answers(rows),
        figures.answers(rows),
    )


def _row(results: Results, case: str) -> Sequence[str]:
    runs = results.figures(case)
    times = []
    for of in (failover_s, transfer_s):
        times += [_ms(estimate(runs, of)), f"{median(runs, of) * MILLI:.0f}"]
    return (*times, _ms(rto(runs)), _ms(restart(runs)))


def _ms(figure: Estimate) -> str:
    return figure.text("", MILLI).strip()


def _cells(results: Results) -> Grid:
    rows = [(case, *_row(results, case)) for case in (*cases.CELLS, *cases.IDLE_CELLS)]
    return Grid(
        "Cells of figure 4",
        "Over the runs of each cell in ms; restart is the mean delay of T3-rtx at a timeout.",
        (
            "queue/load",
            "failover, mean",
            "median",
            "largest transfer, mean",
            "median",
            "RTO at the failure",
            "restart",
        ),
        rows,
    )


def _links(results: Results) -> Grid:
    rows = results.by_link()
    return Grid(
        "Links that the paper leaves open",
        "Every claim on each link, with its verdict; the queues of 3, 6 and 13 KByte are the paper's.",
        ("claim", *(name for name, _ in rows)),
        [(number, *(told[number] for _, told in rows)) for number in CLAIMS],
    )


def _open(results: Results) -> Grid:
    def cell(prefix: str, case: str) -> str:
        return failover(results.figures(prefix + case)).text("", MILLI).strip()

    shown = ("3/HIGH", "6/HIGH", "13/NONE", "13/MEDIUM", "13/HIGH", f"{cases.IDLE}/13/HIGH")
    rows: list[Sequence[str]] = [("as studied", *(cell("", case) for case in shown))]
    idle = (*shown[:-1], cases.WORST)
    rows.append(("alternate path idle", *(cell(f"{cases.IDLE}/", case) for case in idle)))
    for change in cases.OPEN:
        made = cases.BURST_ONLY.get(change.name, cases.OPEN_CELLS)
        rows.append(
            (change.about, *(cell(f"{change.name}/", case) if case in made else "" for case in shown))
        )
    return Grid(
        "Open parameters and what they decide",
        "Failover time in ms. Each line makes one other choice where the paper leaves one.",
        ("choice", *shown),
        rows,
    )


def _answers(results: Results) -> Grid:
    rows = []
    for change in cases.ANSWERS:
        times = []
        for cell in cases.ANSWER_CELLS:
            runs = results.figures(f"{change.name}/{cell}")
            times += [_ms(failover(runs)), f"{median(runs, failover_s) * MILLI:.0f}", _ms(transfer(runs))]
        rows.append((change.about, *times))
    return Grid(
        "Answers to the paper's questions",
        "Times in ms with a queue of 13 KByte.",
        (
            "setting",
            "failover, NONE",
            "median",
            "largest transfer, NONE",
            "failover, HIGH",
            "median",
            "largest transfer, HIGH",
        ),
        rows,
    )


def _costs(results: Results, disturbance: cases.Disturbance) -> Grid:
    rows = []
    for change in cases.ANSWERS:
        runs = results.costs(disturbance, change)

        def text(of: Callable[[CostFigures], float], scale: float = 1.0, runs: Costs = runs) -> str:
            return Estimate.of([of(run) for run in runs]).text("", scale).strip()

        rows.append(
            (
                change.about,
                text(lambda run: run.failovers),
                text(lambda run: run.inactive),
                text(lambda run: run.timeouts),
                Estimate.of([run.again for run in runs]).text("", PERCENT, 1).strip(),
                text(lambda run: run.transfer_p99_s, MILLI),
                text(lambda run: run.transfer_max_s, MILLI),
                str(sum(run.lost for run in runs)),
            )
        )
    starts = [run.at_start > 0 for change in cases.ANSWERS for run in results.costs(disturbance, change)]
    return Grid(
        f"Cost-{disturbance.name} of the answers: {disturbance.about}",
        "No path fails for good. Counts are of an hour and leave out the first "
        f"{WARM_UP_S:.0f} s of each run, in which {sum(starts)} of {len(starts)} runs failed over.",
        (
            "setting",
            "failovers an hour",
            "declared inactive an hour",
            "timeouts an hour",
            "retransmitted, %",
            "99 % transferred within, ms",
            "largest transfer, ms",
            "lost",
        ),
        rows,
    )
