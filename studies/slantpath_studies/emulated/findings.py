"""What the papers claim, and what the kernel's SCTP does in their laboratories."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from slantpath_studies.claims import (
    Accepted,
    Claim,
    Estimate,
    Finding,
    Part,
    SingleRuns,
    about,
    less_than,
)
from slantpath_studies.emulated.cases import LOSSY, NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slantpath_studies.emulated.measures import Figures
    from slantpath_studies.emulated.runs import Results

MILLI, KILO = 1e3, 1e-3
RESTS_ON: Mapping[str, Sequence[str]] = {
    "F1": ["13/HIGH"],
    "F2": ["13/NONE"],
    "F5": [name for name in NAMES if name[0] in "36"],
    "M4": [LOSSY.name],
    "M7": [LOSSY.name],
}
"""Cells that each claim rests on. It is not judged where one of them was not run."""

CLAIMS = {
    "F1": Claim("F1", "failover time, HIGH, 13 KB queue", "920 ms"),
    "F2": Claim("F2", "failover time, NONE, 13 KB queue", "about 560 ms"),
    "F5": Claim("F5", "3 and 6 KB: failover time at every load", "< 800 ms"),
    "M4": Claim("M4", "mean delay of retransmitted messages, SCTP", "765 ms"),
    "M7": Claim("M7", "mean throughput at 1 % loss, SCTP", "29 KByte/s"),
}


def failover_s(run: Figures) -> float:
    """Give the failover time of a run."""
    return run.failover_s


def again_delay_s(run: Figures) -> float:
    """Give the mean delay of the messages of a run that were sent again."""
    return run.again_delay_s


def throughput(run: Figures) -> float:
    """Give the throughput of a run in bytes a second."""
    return run.throughput_byte_per_s


def estimate(runs: Sequence[Figures], of: Callable[[Figures], float]) -> Estimate:
    """Estimate a figure from the runs that have it."""
    return Estimate.of([value for value in map(of, runs) if not math.isnan(value)])


def parts(figures: Mapping[str, Sequence[Figures]], number: str) -> list[Part]:
    """Give what a claim rests on."""

    def failover(name: str, accepted: Accepted) -> Part:
        return Part(f"failover time, {name}", accepted, estimate(figures[name], failover_s), "ms", MILLI)

    lossy = figures.get(LOSSY.name, [])
    match number:
        case "F1":
            return [failover("13/HIGH", about(0.920))]
        case "F2":
            return [failover("13/NONE", about(0.560))]
        case "F5":
            return [failover(name, less_than(0.800)) for name in RESTS_ON["F5"]]
        case "M4":
            return [
                Part(
                    "mean delay of retransmitted messages",
                    about(0.765),
                    estimate(lossy, again_delay_s),
                    "ms",
                    MILLI,
                )
            ]
        case _:
            return [Part("throughput", about(29e3), estimate(lossy, throughput), "KByte/s", KILO)]


def findings(results: Results) -> list[Finding]:
    """Hold what the kernel does to what the papers have."""
    return [
        Finding(claim, "; ".join(part.told() for part in found), found)
        for number, claim in CLAIMS.items()
        if set(RESTS_ON[number]) <= results.kernel.keys()
        for found in [parts(results.kernel, number)]
    ]


def rows(results: Results) -> list[Sequence[str]]:
    """Lay every figure out: of the simulation, of the kernel, and how they compare."""
    wanted = [(name, "failover time", failover_s, "ms", MILLI) for name, cell in NAMES.items() if cell.fails]
    wanted += [
        (LOSSY.name, "delay of retransmitted messages", again_delay_s, "ms", MILLI),
        (LOSSY.name, "throughput", throughput, "KByte/s", KILO),
    ]
    return [
        _row(results, name, figure, of, unit, scale)
        for name, figure, of, unit, scale in wanted
        if name in results.kernel
    ]


def _row(
    results: Results, name: str, figure: str, of: Callable[[Figures], float], unit: str, scale: float
) -> Sequence[str]:
    simulated, kernel = (estimate(runs[name], of) for runs in (results.simulated, results.kernel))
    single = SingleRuns.of([of(run) for run in results.simulated[name] if not math.isnan(of(run))])
    values = [of(run) for run in results.kernel[name]]
    within = sum(abs(value - single.mean) <= single.half_width for value in values)
    apart = kernel.less(simulated)
    return (
        name,
        figure,
        simulated.text(unit, scale, 1),
        f"{(single.mean - single.half_width) * scale:.1f} to {(single.mean + single.half_width) * scale:.1f}",
        kernel.text(unit, scale, 1),
        f"{within} of {len(values)}",
        apart.text(unit, scale, 1),
        f"{max(run.late_max_s for run in results.kernel[name]) * MILLI:.1f}",
    )
