"""The paper's future work: a wider range of parameters, and more than two paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slantpath_studies.multi_link import cases

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slantpath import Scenario
    from slantpath.running import Value

RUNS = 12
"""Runs of each point."""

BACKUP_DELAY_MS = 25
BACKUP_RATE_KBIT = 128
MOST_BACKUPS = 3
DOWN_S = ((100, 160), (120, 180))
"""When the satellite link is down, and when the first backup is."""


@dataclass(frozen=True, slots=True)
class Point:
    """A value of a parameter."""

    value: float
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter that is varied while all else stays as the study has it."""

    name: str
    label: str
    """With its unit."""
    points: Sequence[Point]
    transports: Sequence[str] = field(default=cases.RANDOM_CASES)


def _source(kbyte_per_s: float) -> Mapping[str, Value]:
    return {
        "flows.data.application": {
            "kind": "constant-rate",
            "message_size": "1000 B",
            "rate": f"{8 * kbyte_per_s:g} kbit/s",
        }
    }


def _backups(count: int, *, is_down: bool) -> Mapping[str, Value]:
    """Give so many backups beside the satellite link, which lose as much as it does."""
    values: dict[str, Value] = {"links.terrestrial.loss": "1 %"}
    for number in range(2, count + 1):
        values[f"links.backup-{number}"] = {
            "ends": ["sender", "receiver"],
            "rate": f"{BACKUP_RATE_KBIT} kbit/s",
            "delay": f"{BACKUP_DELAY_MS} ms",
            "loss": "1 %",
            "queue": "50 packets",
        }
    if is_down:
        values["script"] = [
            {"at": f"{at} s", "link": link, "action": action}
            for link, times in zip(("satellite", "terrestrial"), DOWN_S, strict=True)
            for at, action in zip(times, ("down", "up"), strict=True)
        ]
    return values


AXES: Sequence[Axis] = (
    Axis(
        "loss",
        "loss of the satellite link / %",
        [Point(loss, {"links.satellite.loss": f"{loss:g} %"}) for loss in (0.1, 0.3, 1.0, 2.0, 5.0)],
    ),
    Axis(
        "delay",
        "one-way delay of the satellite link / ms",
        [Point(delay, {"links.satellite.delay": f"{delay} ms"}) for delay in (25, 50, 125, 250, 400)],
    ),
    Axis(
        "source",
        "rate of the source / KByte/s",
        [Point(rate, _source(rate)) for rate in (5, 10, 20, 30, 40, 50)],
    ),
    Axis(
        "backup-rate",
        "rate of the backup / kbit/s",
        [Point(rate, {"links.terrestrial.rate": f"{rate} kbit/s"}) for rate in (32, 64, 128, 256, 1024)],
        (cases.STANDARD, cases.MODIFIED),
    ),
    Axis(
        "backup-delay",
        "one-way delay of the backup / ms",
        [Point(delay, {"links.terrestrial.delay": f"{delay} ms"}) for delay in (5, 25, 100, 250, 400)],
        (cases.STANDARD, cases.MODIFIED),
    ),
    Axis(
        "backups",
        "backups that lose 1 % themselves",
        [Point(count, _backups(count, is_down=False)) for count in range(1, MOST_BACKUPS + 1)],
        (cases.STANDARD, cases.MODIFIED),
    ),
    Axis(
        "outages",
        "backups, two links down one after the other",
        [Point(count, _backups(count, is_down=True)) for count in range(1, MOST_BACKUPS + 1)],
        (cases.STANDARD, cases.MODIFIED),
    ),
)


def name_of(axis: Axis, point: Point, transport: str) -> str:
    """Name the case of a point."""
    return f"wider-{axis.name}-{point.value:g}/{transport}"


def every() -> Mapping[str, Scenario]:
    """Give the scenario of every point by its name."""
    return {
        name_of(axis, point, transport): cases.scenario().with_values(
            {**cases.CASES[transport], **point.values}
        )
        for axis in AXES
        for point in axis.points
        for transport in axis.transports
    }
