"""The planner: which settings carry signalling over a path, why, and with what margin."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slantpath import _native
from slantpath.tables import named

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, with the sentence that is its reason."""

    name: str
    value: float
    unit: str
    """``"s"``, ``"B"``, ``"bit/s"`` or nothing."""
    least: float | None
    most: float | None
    margin: float | None
    """How far the value lies from the nearer bound, as a part of it."""
    reason: str
    sensitivity: Mapping[str, float]
    """By how many percent it changes if a quantity is a tenth larger."""


@dataclass(frozen=True, slots=True)
class Impossible:
    """A demand that nothing meets."""

    concerns: str
    """The setting or key that stands in the way, such as ``m2pa.t7`` or ``path.loss``."""
    breaks: str
    """The promise that is broken."""
    demand: str
    why: str
    possible: str


@dataclass(frozen=True, slots=True)
class Promise:
    """What the settings keep, as ``slantpath plan --verify`` measures it."""

    name: str
    """Such as ``loss``, ``delay`` or ``m2pa.t7``."""
    measure: str
    """What is measured."""
    most: float
    """What it must not exceed: a share, a number, or seconds."""
    expected_least: float
    expected_most: float
    standing: str
    """``"given"``, ``"open"`` or ``"refused"``."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer of the planner."""

    case: str
    """The working case: ``"A"``, ``"B"`` or ``"C"``."""
    case_reason: str
    load_bit_per_s: float
    ethernet_bit_per_s: float
    injected_most_bit_per_s: float
    largest_step_bit_per_s: float
    settings: Mapping[str, Setting]
    promises: tuple[Promise, ...]
    impossible: tuple[Impossible, ...]
    scenario: str
    """A scenario with these settings, which :func:`slantpath.run` takes."""

    def __getitem__(self, setting: str) -> float:
        """Give the value of a setting, such as ``"sctp.rto_min"`` in seconds."""
        return named(self.settings, setting, "setting").value


def plan(source: str | os.PathLike[str] | None = None, values: Mapping[str, object] | None = None) -> Plan:
    """Work out which settings carry signalling over a path.

    ``source`` is the path of a file or its text; ``values`` are laid over it, or stand alone:
    ``{"path.round_trip": "650 ms", "band.permanent": "2048 kbit/s", ...}``. What cannot be asked raises
    ``ScenarioError`` with every fault.
    """
    if source is None:
        text, name = "", "values"
    elif isinstance(source, str) and "\n" in source:
        text, name = source, "<text>"
    else:
        text, name = Path(source).read_text(encoding="utf-8"), str(source)
    answer, scenario = _native.plan(text, name, dict(values or {}))
    known = json.loads(answer)
    settings = {setting["name"]: _setting(setting) for setting in known["settings"]}
    return Plan(
        case=known["case"],
        case_reason=known["case_reason"],
        load_bit_per_s=known["load_bit_per_s"],
        ethernet_bit_per_s=known["ethernet_bit_per_s"],
        injected_most_bit_per_s=known["injected_most_bit_per_s"],
        largest_step_bit_per_s=known["largest_step_bit_per_s"],
        settings=settings,
        promises=tuple(Promise(**one) for one in known["promises"]),
        impossible=tuple(Impossible(**one) for one in known["impossible"]),
        scenario=scenario,
    )


def _setting(known: dict[str, Any]) -> Setting:
    changes = {one["of"]: one["change_percent"] for one in known.pop("sensitivity")}
    return Setting(**known, sensitivity=changes)
