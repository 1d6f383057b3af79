"""The largest step of load that a gateway carries: the paper's second open question, ΔB_max.

A step begins at 70 % of what is permanent. It is carried if no message is refused in any run. The largest
that is carried, and every smaller one too, is held to equation 5, by which a window decides alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slantpath.files import write_whole
from slantpath.page import Drawing, write_drawings
from slantpath.running import Job
from slantpath_studies.claims import Estimate
from slantpath_studies.report import Grid, Report
from slantpath_studies.soip import cases, figures
from slantpath_studies.soip.findings import WINDOW
from slantpath_studies.soip.measures import RunFigures
from slantpath_studies.soip.runs import Results as OfClaims

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from slantpath.running import Value
    from slantpath.store import Record

ABOUT = "the largest step of load that a window and a queue carry (`soip`, second open question)"
RUNS = 3
PERMANENT_KBIT = 1024
CWNDS = (64_000, 96_000, 128_000, 154_000, 192_000, 384_000)
QUEUES = (200, 8000)
"""Messages that the gateway has room for."""
STEPS_KBIT = tuple(range(200, 901, 50))
"""In signalling bits: beyond 900 of them the terminal has no more to ask for."""
END_S = 120
UNKNOWN = "–"
"""For T_ALL where no look behind the step finds more asked for than there is."""


@dataclass(frozen=True, slots=True)
class Loop:
    """How the access takes a request for more."""

    name: str
    ask_ms: int
    plan_ms: int
    lead_ms: int
    interruption_ms: int

    def values(self) -> Mapping[str, Value]:
        """Give the keys that it sets."""
        return {
            "access.linkway.ask_every": f"{self.ask_ms} ms",
            "access.linkway.plan_every": f"{self.plan_ms} ms",
            "access.linkway.lead": f"{self.lead_ms} ms",
            "links.satellite.access.interruption": f"{self.interruption_ms} ms",
        }


LOOPS = (
    Loop("quick", 100, 500, 0, 0),
    Loop("slow", 100, 1000, 1000, 0),
    Loop("quick, interrupted", 100, 500, 0, cases.INTERRUPTION_MS),
)
FIRST = cases.BEFORE_STEP * cases.PERMANENT_KBIT[PERMANENT_KBIT]
"""Erlang of a link before the step."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A point of the figure."""

    cwnd_bytes: int
    loop: Loop
    queue: int

    def case(self, step_kbit: int) -> cases.Case:
        """Give a step there."""
        return cases.Case(
            f"step/{self.cwnd_bytes}-{self.loop.name}-{self.queue}-{step_kbit}",
            "satellite",
            FIRST,
            ((cases.STEP_S, FIRST + cases.erlang_of(step_kbit * 1e3)),),
            duration_s=END_S,
            values={
                "links.satellite.access.permanent": f"{PERMANENT_KBIT} kbit/s",
                "links.satellite.access.release_after": cases.STEP_RELEASE,
                "sctp.gateway.fixed_cwnd": f"{self.cwnd_bytes} B",
                "sctp.gateway.send_buffer": f"{2 * self.cwnd_bytes} B",
                "signalling.links.trunk.carrier.transmission_queue": self.queue,
                "signalling.links.trunk.carrier.congestion": [[self.queue * 3 // 4, self.queue // 2]],
                "probes.access": True,
                **self.loop.values(),
            },
        )

    def equation_5_kbit(self, allocation_s: float) -> float:
        """Give the step with which equation 5 has the window full; nothing if it is full before."""
        before, room = (
            part * cases.PERMANENT_KBIT[PERMANENT_KBIT] for part in (cases.BEFORE_STEP, 1 - cases.BEFORE_STEP)
        )
        line = cases.LINKS * cases.LINE_BIT_PER_S
        left = 8 * self.cwnd_bytes / WINDOW - before * line * cases.ROUND_TRIP_S
        step = (left + room * line * allocation_s) / (cases.ROUND_TRIP_S + allocation_s)
        if step < room * line:
            # What is permanent carries it.
            step = left / cases.ROUND_TRIP_S
        return max(0.0, step) / 1e3


SETTINGS = tuple(Setting(cwnd, loop, queue) for loop in LOOPS for queue in QUEUES for cwnd in CWNDS)


def _every() -> Iterator[tuple[Setting, int, cases.Case]]:
    for setting in SETTINGS:
        for step in STEPS_KBIT:
            yield setting, step, setting.case(step)


def plan(runs: int, seed: int | None) -> list[tuple[str, Job]]:
    """List the runs of the smallest step; larger ones follow where it is carried."""
    return _jobs([(setting, STEPS_KBIT[0]) for setting in SETTINGS], runs, seed)


def _jobs(steps: Sequence[tuple[Setting, int]], runs: int, seed: int | None) -> list[tuple[str, Job]]:
    return [
        (case.name, Job(scenario, number, seed))
        for setting, step in steps
        for case in (setting.case(step),)
        for scenario in (case.scenario(),)
        for number in range(runs)
    ]


class Results:
    """What the runs gave: messages that were refused, and T_ALL."""

    TABLES = OfClaims.TABLES

    def __init__(self, runs: int, seed: int | None) -> None:
        """Begin without any run."""
        self.runs = runs
        self.seed = seed
        self._cases = {case.name: case for *_, case in _every()}
        self.refused: dict[str, float] = {}
        self._allocations: dict[str, list[float]] = {}

    def add(self, case: str, _run: int, record: Record) -> None:
        """Take a finished run."""
        figures_of = RunFigures.of(self._cases[case], record)
        self.refused[case] = self.refused.get(case, 0.0) + float(figures_of.refused.sum())
        if figures_of.allocation_s is not None:
            self._allocations.setdefault(case, []).append(figures_of.allocation_s)

    def further(self) -> list[tuple[str, Job]]:
        """List the runs of the next step of every setting whose steps have all been carried."""
        return _jobs([each for each in map(self._next, SETTINGS) if each], self.runs, self.seed)

    def _next(self, setting: Setting) -> tuple[Setting, int] | None:
        for step in STEPS_KBIT:
            refused = self.refused.get(setting.case(step).name)
            if refused is None:
                return setting, step
            if refused:
                break
        return None

    def largest_kbit(self, setting: Setting) -> int:
        """Give the largest step that is carried, as every smaller one is; 0 if not even the smallest is."""
        largest = 0
        for step in STEPS_KBIT:
            if self.refused[setting.case(step).name]:
                break
            largest = step
        return largest

    def allocation(self, loop: Loop) -> Estimate:
        """Estimate T_ALL of a loop over all of its steps."""
        own = (setting.case(step).name for setting, step, _ in _every() if setting.loop == loop)
        return Estimate.of([each for name in own for each in self._allocations.get(name, ())])

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the scenario's seed" if self.seed is None else f"seed {self.seed}"
        return f"Runs 0 to {self.runs - 1} of each case under {used}."


def write(out: Path, results: Results) -> tuple[str, list[Path]]:
    """Write the figure, the table and the report; give the table and the files."""
    grid = _grid(results)
    drawn, files = write_drawings(out, [_drawing(results)])
    report = Report(
        title="The largest step of load",
        lead="SS7 over a satellite with capacity on demand: which step of load window and queue carry.",
        findings=(),
        figures=drawn,
        grids=[grid],
        scenarios=[
            (case.name, scenario.hash, scenario.merged())
            for case in (SETTINGS[0].case(STEPS_KBIT[0]),)
            for scenario in (case.scenario(),)
        ],
        seeds=results.seeds(),
    )
    files.append(write_whole(out / "largest-step.md", grid.markdown().encode()))
    files.append(write_whole(out / "report.html", report.html().encode()))
    return grid.markdown(), files


def _grid(results: Results) -> Grid:
    rows: list[Sequence[str]] = []
    for setting in SETTINGS:
        allocation = results.allocation(setting.loop)
        largest = results.largest_kbit(setting)
        rows.append(
            (
                setting.loop.name,
                allocation.text("s", decimals=2) if allocation.runs else UNKNOWN,
                f"{setting.cwnd_bytes:,}",
                f"{setting.queue:,}",
                f"{largest}{' or more' if largest == STEPS_KBIT[-1] else ''}",
                f"{setting.equation_5_kbit(allocation.mean):.0f}" if allocation.runs else UNKNOWN,
            )
        )
    head = ("allocation", "T_ALL", "CWND", "queue", "largest step / kbit/s", "equation 5")
    about = (
        f"PAMA {PERMANENT_KBIT:,}, messages of {cases.OCTETS} octets, a step from {cases.BEFORE_STEP:.0%} "
        f"of PAMA in signalling bits, tried every {STEPS_KBIT[1] - STEPS_KBIT[0]} kbit/s. Carried: no "
        "message refused in any run."
    )
    return Grid("The largest step", about, head, rows)


def _drawing(results: Results) -> Drawing:
    title = "The largest step that is carried."
    caption = "Marks: simulated, by the gateway's queue. Lines: equation 5, which knows none."
    return Drawing("largest-step", title, caption, f"{title} {caption}", _figure(results))


def _figure(results: Results) -> Figure:
    figure, panels = figures.panels(len(LOOPS), 11.0)
    for axes, loop in zip(panels, LOOPS, strict=True):
        allocation = results.allocation(loop)
        windows = [cwnd / 1e3 for cwnd in CWNDS]
        for number, queue in enumerate(QUEUES):
            own = [Setting(cwnd, loop, queue) for cwnd in CWNDS]
            largest = [results.largest_kbit(setting) for setting in own]
            axes.plot(
                windows, largest, linestyle="none", label=f"queue of {queue:,}", **figures.marker(number)
            )
        title = loop.name
        if allocation.runs:
            title += f": T_ALL {allocation.mean:.2f} s"
            fine = np.linspace(CWNDS[0], CWNDS[-1], 100)
            by_equation = [
                min(Setting(int(cwnd), loop, 0).equation_5_kbit(allocation.mean), STEPS_KBIT[-1])
                for cwnd in fine
            ]
            axes.plot(fine / 1e3, by_equation, color="#8a8a94", linestyle=":", label="equation 5")
        axes.set(xlabel="CWND / kB", title=title)
        axes.set_ylim(0, STEPS_KBIT[-1] * 1.05)
    panels[0].set_ylabel("largest step / kbit/s")
    panels[0].legend(fontsize="x-small")
    return figure
