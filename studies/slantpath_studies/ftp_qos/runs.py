"""The runs of the study: which there are, how many each cell needs, and what they gave."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from slantpath import Scenario, Topology, student_t_quantile
from slantpath.errors import ScenarioWarning
from slantpath.running import Job
from slantpath_studies import texts
from slantpath_studies.claims import LEVEL, Estimate
from slantpath_studies.ftp_qos import cases, services
from slantpath_studies.ftp_qos.measures import TABLES, RunFigures
from slantpath_studies.ftp_qos.processor_sharing import drawn, pareto_strata, share
from slantpath_studies.ftp_qos.services import ServiceFigures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slantpath.running import Value
    from slantpath.store import Record
    from slantpath_studies.ftp_qos.cases import Case, Cell, Extent, Sky

STUDY = "ftp-qos"
DEFAULT_SEED = 1
"""What the scenarios say."""
RELATIVE = 0.05
"""Half the width of the intervals of delay, jitter and throughput, as a part of the mean."""
ABSOLUTE_LOSS = 0.002
LEAST_FOR_A_CONTROL = 8
"""Fewer runs tell too little of how measurement and model hang together."""
DRAWINGS = 1_000
"""Of the model, for its mean: its own interval is a small part of the runs'."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a run, and what the model has that goes with it."""

    name: str
    of: Callable[[RunFigures], float]
    control: Callable[[RunFigures], float]
    wanted: Callable[[float], float]
    """How wide its interval may be at most on either side of a mean."""


MEASURES = (
    Measure(
        "delay", lambda run: run.delay_s, lambda run: run.controls.full_share, lambda mean: RELATIVE * mean
    ),
    Measure(
        "jitter", lambda run: run.jitter_s, lambda run: run.controls.full_share, lambda mean: RELATIVE * mean
    ),
    Measure("loss", lambda run: run.loss, lambda run: run.controls.full_share, lambda _: ABSOLUTE_LOSS),
    Measure(
        "throughput",
        lambda run: run.throughput_bit_per_s,
        lambda run: run.controls.throughput_bit_per_s,
        lambda mean: RELATIVE * mean,
    ),
)
DELAY, JITTER, LOSS, THROUGHPUT = MEASURES


class Scenarios:
    """The scenarios of cases. Files that they name lie in a directory that stands while they are made."""

    def __init__(self, directory: Path, seed: int | None) -> None:
        """Begin with none."""
        self._directory = directory
        self._seed = DEFAULT_SEED if seed is None else seed
        self._bases: dict[tuple[Sky, str], Scenario] = {}

    def of(self, case: Case, number: int) -> Scenario:
        """Give the scenario of a case's run of that number."""
        base = self._base(case.sky, case.topology)
        if case.at_nominal_load is None:
            return base.with_values(case.values)
        errors = cases.errors(case.sky, case.at_nominal_load.error_rate)
        session: dict[str, Value] = {
            "transport": "tcp",
            "profile": "paper",
            "from": "server",
            "to": "client",
            "arrivals": {"kind": "trace", "file": self._trace(case.at_nominal_load, number)},
            "message_size": "536 B",
        }
        return base.with_values({"sessions": {"ftp": session}, **errors})

    def _base(self, sky: Sky, topology: Mapping[str, Value]) -> Scenario:
        key = (sky, repr(topology))
        if key not in self._bases:
            # Each sky in a directory of its own: it is read anew with every change of values.
            beside = self._directory / f"{len(self._bases)}"
            beside.mkdir()
            name = f"{sky.value}-sky.toml"
            text = Topology.parse(texts.text_of(STUDY, name), name).with_values(topology).merged()
            (beside / name).write_text(text, encoding="utf-8")
            file = f"{sky.value}.toml"
            self._bases[key] = Scenario.parse(texts.text_of(STUDY, file), file, beside)
        return self._bases[key]

    def _trace(self, cell: Cell, number: int) -> str:
        """Write sessions whose sizes are the means of equal shares of the distribution, in random order."""
        begun_s, sizes = at_nominal_load(cell, self._seed, number)
        lines = [f"{at:.6f} s,{size} B\n" for at, size in zip(begun_s, sizes, strict=True)]
        path = self._directory / f"{cell.per_minute}-{cell.size_kb}-{number}.csv"
        path.write_text("".join(lines), encoding="utf-8")
        return f"../{path.name}"


def at_nominal_load(cell: Cell, seed: int, number: int) -> tuple[Sequence[float], Sequence[int]]:
    """Give beginnings and sizes of sessions that are as many as expected, and bring what is expected."""
    count = 60 * cell.per_minute
    chance = np.random.default_rng([seed, number, count])
    begun_s = np.sort(chance.uniform(0.0, cases.END_S, count))
    sizes = np.maximum(np.round(chance.permutation(pareto_strata(count, cell.mean_bytes, cases.SHAPE))), 1)
    return begun_s.tolist(), sizes.astype(int).tolist()


@cache
def every(extent: Extent) -> Mapping[str, Case]:
    """Give every case by its name."""
    return {case.name: case for case in (*cases.every(extent).values(), *services.every())}


def plan(runs: int, seed: int | None, extent: Extent = cases.FULL) -> list[tuple[str, Job]]:
    """List the first runs of each cell, and all of what stands beside the cells."""
    first = min(runs, extent.first)
    listed = [
        (case, number)
        for number in range(max(first, min(runs, extent.beside)))
        for case in every(extent).values()
        if number < (first if case.cell else min(runs, extent.beside))
    ]
    return _jobs(listed, seed)


def _jobs(listed: Sequence[tuple[Case, int]], seed: int | None) -> list[tuple[str, Job]]:
    with TemporaryDirectory(prefix="slantpath-") as directory, warnings.catch_warnings():
        # Loads that no link can carry are the paper's: the tables mark them.
        warnings.simplefilter("ignore", ScenarioWarning)
        scenarios = Scenarios(Path(directory), seed)
        return [(case.name, Job(scenarios.of(case, number), number, seed)) for case, number in listed]


class Results:
    """What the runs gave."""

    TABLES = tuple(sorted({*TABLES, *services.TABLES}))

    def __init__(self, runs: int, seed: int | None, extent: Extent = cases.FULL) -> None:
        """Begin without any run."""
        self.runs = runs
        self.seed = seed
        self.extent = extent
        self._figures: dict[str, dict[int, RunFigures]] = {}
        self._services: dict[str, dict[int, ServiceFigures]] = {}
        self._control_means: dict[tuple[Sky, int, int, str], float] = {}

    def add(self, case: str, run: int, record: Record) -> None:
        """Take a finished run."""
        if case.startswith("services/"):
            delays, requests, sessions = (record.tables[name] for name in services.TABLES)
            self._services.setdefault(case, {})[run] = ServiceFigures.of(delays, requests, sessions)
            return
        host_pairs, links, sessions = (record.tables[name] for name in TABLES)
        line = every(self.extent)[case].sky.line
        self._figures.setdefault(case, {})[run] = RunFigures.of(host_pairs, links, sessions, line)

    def further(self) -> list[tuple[str, Job]]:
        """List the runs that cells still need for their intervals: none once all have them, or the most."""
        listed = []
        for case in every(self.extent).values():
            if case.cell is None:
                continue
            made = len(self._figures[case.name])
            listed += [(case, number) for number in range(made, min(self.runs, self._needed(case, made)))]
        # Run by run, so that all cells have about as many when it is interrupted.
        listed.sort(key=lambda each: each[1])
        return _jobs(listed, self.seed)

    def _needed(self, case: Case, made: int) -> int:
        """Say how many runs a cell needs as far as is known now: no more than twice as many as it has."""
        needed = made
        for measure in MEASURES:
            estimate = self.estimate(case.name, measure)
            wanted = measure.wanted(estimate.mean)
            if estimate.half_width > wanted:
                times = (
                    (estimate.half_width / wanted) ** 2
                    if wanted and math.isfinite(estimate.half_width)
                    else 2
                )
                needed = max(needed, math.ceil(made * min(times, 2)), made + 1)
        return needed

    def figures(self, case: str) -> Sequence[RunFigures]:
        """Give the figures of a case's runs, in their order."""
        return [figures for _, figures in sorted(self._figures[case].items())]

    def of_services(self, case: str) -> Sequence[ServiceFigures]:
        """Give the figures of runs in which services share the links, in their order."""
        return [figures for _, figures in sorted(self._services[case].items())]

    def observed(self, case: str, of: Callable[[RunFigures], float]) -> list[float]:
        """Give a figure of a case's runs, of those that have it."""
        return [value for run in self.figures(case) for value in [of(run)] if math.isfinite(value)]

    def estimate(self, case: str, measure: Measure) -> Estimate:
        """Estimate a figure of a case; for cells with enough runs the model's part of chance is taken out.

        With the control variate x, whose mean m is known, y − b (x − m) has the mean of y, and with b from
        the runs the least variance: Lavenberg and Welch, "A Perspective on the Use of Control Variables to
        Increase the Efficiency of Monte Carlo Simulations", Management Science 27(3), 1981, whose interval
        loses a degree of freedom.
        """
        cell = every(self.extent)[case].cell
        pairs = [
            (y, x)
            for run in self.figures(case)
            for y, x in [(measure.of(run), measure.control(run))]
            if math.isfinite(y) and math.isfinite(x)
        ]
        if not pairs:
            return Estimate(math.nan, math.inf, 0)
        values = [y for y, _ in pairs]
        plain = Estimate.of(values)
        if cell is None or len(pairs) < LEAST_FOR_A_CONTROL:
            return plain
        return controlled(np.array(pairs), self.control_mean(cell, measure), plain)

    def control_mean(self, cell: Cell, measure: Measure) -> float:
        """Give the mean of a measure's control over many drawings of arrivals and sizes."""
        control = "throughput" if measure is THROUGHPUT else "full share"
        # Errors are not a part of the model.
        load = (cell.sky, cell.size_kb, cell.per_minute)
        key = (*load, control)
        if key not in self._control_means:
            chance = np.random.default_rng([cell.per_minute, cell.size_kb])
            shared = [
                share(
                    cell.sky.line,
                    *drawn(cell.rate_per_s, cell.mean_bytes, cases.SHAPE, cases.END_S, chance),
                    cases.END_S,
                )
                for _ in range(DRAWINGS)
            ]
            throughputs = [each.mean_bit_per_s for each in shared if math.isfinite(each.mean_bit_per_s)]
            self._control_means[*load, "throughput"] = float(np.mean(throughputs))
            self._control_means[*load, "full share"] = float(np.mean([each.full_share for each in shared]))
        return self._control_means[key]

    def ratio(self, case: str, to: str, of: Callable[[RunFigures], float]) -> Estimate:
        """Estimate how a figure of a case stands to that of another, run by run on the same arrivals."""
        pairs = zip(self.figures(case), self.figures(to), strict=False)
        ratios = [of(one) / of(other) for one, other in pairs if of(other)]
        finite = [ratio for ratio in ratios if math.isfinite(ratio)]
        return Estimate.of(finite) if finite else Estimate(math.nan, math.inf, 0)

    def seeds(self) -> str:
        """Say from what every random draw derives."""
        used = "the scenario's seed" if self.seed is None else f"seed {self.seed}"
        made = [len(self._figures[case.name]) for case in every(self.extent).values() if case.cell]
        return (
            f"{min(made)} to {max(made)} runs of each cell, {sum(made)} in all, and "
            f"{min(self.runs, self.extent.beside)} of "
            f"everything else, numbered from 0 under {used}; each begins empty and ends after {cases.END_S} "
            "s. Runs of "
            "one number have the same arrivals at the same rate, and the same sizes but for their mean."
        )


def controlled(
    pairs: np.ndarray[tuple[int, int], np.dtype[np.float64]], known_mean: float, plain: Estimate
) -> Estimate:
    """Estimate the mean of the first column with the second as control, or plainly if that is narrower."""
    values, controls = pairs[:, 0], pairs[:, 1]
    spread = controls - controls.mean()
    total = float(spread @ spread)
    count = len(values)
    if total <= 0:
        return plain
    slope = float(spread @ values) / total
    moved = values - slope * (controls - known_mean)
    residual = values - values.mean() - slope * spread
    # The variance of the adjusted mean, with the slope's own error.
    variance = (
        float(residual @ residual) / (count - 2) * (1 / count + (controls.mean() - known_mean) ** 2 / total)
    )
    half = student_t_quantile((1 + LEVEL) / 2, count - 2) * math.sqrt(variance)
    if half >= plain.half_width:
        return plain
    return Estimate(float(moved.mean()), half, count)
