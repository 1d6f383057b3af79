"""What the study's figures show, in words and numbers, for those who cannot see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from slantpath.figures import numbers
from slantpath_studies.failover import cases
from slantpath_studies.failover.figures import SHOWN_AFTER_S, SHOWN_BEFORE_S, STEPS
from slantpath_studies.failover.findings import FAILURE_S, MILLI

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slantpath_studies.claims import Estimate


def against_load(label: str, of: Callable[[str], Estimate], limit_s: float | None) -> str:
    """Say how a figure of every cell goes with the load."""
    limit = "" if limit_s is None else f", with ITU-T's limit of {limit_s * MILLI:.0f} ms"
    said = [f"Two line charts of the {label} in ms against cross traffic{limit}."]
    for prefix, title in (
        ("", "With cross traffic on both paths"),
        (f"{cases.IDLE}/", "Alternate path idle"),
    ):
        lines = []
        for queue in cases.QUEUES:
            means = [of(f"{prefix}{queue}/{load}").mean * MILLI for load in cases.LOADS]
            values = ", ".join(f"{load} {mean:.0f}" for load, mean in zip(cases.LOADS, means, strict=True))
            lines.append(f"{queue} KB queue: {values}")
        said.append(f"{title}: {'; '.join(lines)}.")
    return " ".join(said)


def timeline(table: pa.Table) -> str:
    """Say when each step of a failover came, counted from the failure."""
    at_s = numbers(table, "at_s")
    paths, events = (
        table.column(name).cast(pa.string()).to_numpy(zero_copy_only=False) for name in ("path", "event")
    )
    moved = at_s[(events == "new data") & (paths != "primary") & (at_s >= FAILURE_S)]
    end_s = (float(moved[0]) if moved.size else FAILURE_S + 1.0) + SHOWN_AFTER_S
    shown = (at_s >= FAILURE_S - SHOWN_BEFORE_S) & (at_s <= end_s)
    said = []
    for event in STEPS:
        for path in ("primary", "alternate"):
            found = (at_s[shown & (events == event) & (paths == path)] - FAILURE_S) * MILLI
            if found.size:
                first, last = f"{found[0]:.0f}", f"{found[-1]:.0f}"
                count = f"{found.size} times " if found.size > 1 else ""
                times = f"{count}at {first} ms" if first == last else f"{count}from {first} to {last} ms"
                said.append(f"{event} on the {path} path {times}")
    return f"Steps of one failover, in time since the failure: {'; '.join(said) or 'none'}."


def answers(rows: Sequence[tuple[str, Estimate, Estimate, Sequence[Estimate]]]) -> str:
    """Say what each answer gives and costs."""
    said = []
    for about, none, high, costs in rows:
        counts = ", ".join(f"{cost.mean:.0f}" for cost in costs)
        said.append(f"{about}: {none.mean * MILLI:.0f} and {high.mean * MILLI:.0f}; {counts}")
    kinds = ", ".join(disturbance.name for disturbance in cases.DISTURBANCES)
    return (
        "Failover time in ms of each setting without and with high cross traffic, and failovers an hour "
        f"where no path fails for good ({kinds}). {'. '.join(said)}."
    )
