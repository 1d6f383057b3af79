"""What the merged scenario of a run says of its time."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from slantpath.plots.results import UNITS_S

if TYPE_CHECKING:
    from slantpath.report.results import Results


def merged(results: Results) -> dict[str, Any]:
    """Read the merged form; nothing where there is none."""
    try:
        return tomllib.loads(results.text)
    except tomllib.TOMLDecodeError:
        return {}


def start_s(results: Results) -> float:
    """Tell at which instant of its sky a run begins."""
    return _time_s(results, "sky", "start") or 0.0


def duration_s(results: Results) -> float | None:
    """Tell how long a run is, where its scenario says so."""
    return _time_s(results, "scenario", "duration")


def _time_s(results: Results, table: str, key: str) -> float | None:
    """Read a time as the merged form has it."""
    of = merged(results).get(table)
    try:
        number, unit = str(of.get(key) if isinstance(of, dict) else "").split()
        return float(number) * UNITS_S[unit]
    except (ValueError, KeyError):
        return None
