"""What is run live: ten of the study's cases, in a lab whose every point can be a program."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from slantpath import Scenario
from slantpath.errors import ScenarioWarning
from slantpath_studies import texts
from slantpath_studies.soip import cases
from slantpath_studies.soip.cases import Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slantpath.running import Value

NETWORK = ("access.", "links.", "wan_emulators.", "probes.", "scenario.")
"""How keys begin that are the network's: the emulation has these alone."""
ROUND_TRIPS_MS = (550, 600, 650, 700)
LAST_WITHOUT_MS = 600
"""Above it the paper has congestion."""
SAT_ROUND_TRIPS_MS = (0, 700)
PARTS = (0.9, 1.05)
"""Loads of S7, in parts of what is permanent."""
ERLANGS_S9 = (0.68, 0.8675)
"""Loads of S9: well below what is permanent, and near it."""
PERMANENT_KBIT = 2048


@dataclass(frozen=True, slots=True)
class LiveCase:
    """A case, with what the paper says of it."""

    case: Case
    claim: str
    paper: str
    start_s: float = cases.START_S
    """When the load begins, after the start of the programs."""

    @property
    def name(self) -> str:
        """The case's name."""
        return self.case.name

    @property
    def duration_s(self) -> float:
        """How long it takes, as a run and live."""
        return self.case.duration_s

    def scenario(self) -> Scenario:
        """Give what is simulated, and what the programs read."""
        loads: dict[str, Value] = {}
        for load in cases.LOADS:
            loads[f"signalling.load.{load}.start"] = f"{self.start_s:g} s"
            loads[f"signalling.load.{load}.stop"] = f"{self.case.stop_s:g} s"
        return self.case.scenario_over(_with(_text("live", self.case.path), loads))

    def network(self) -> Scenario:
        """Give what is emulated: the network alone, with nobody at the gateways and testers yet."""
        values = {key: value for key, value in self.case.values.items() if key.startswith(NETWORK)}
        values["scenario.duration"] = f"{self.duration_s:g} s"
        return _with(_text("emulated", self.case.path), values)


def _with(scenario: Scenario, values: Mapping[str, Value]) -> Scenario:
    with warnings.catch_warnings():
        # As in the study's own cases.
        warnings.simplefilter("ignore", ScenarioWarning)
        return scenario.with_values(dict(values))


@cache
def _text(lab: str, path: str) -> Scenario:
    text = "\n".join(texts.text_of("soip", f"{name}.toml") for name in (lab, path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        return Scenario.parse(text, f"studies/soip/{lab}.toml")


def _named(case: Case, name: str) -> Case:
    return replace(case, name=f"live/{name}")


def _s5(round_trip_ms: int) -> LiveCase:
    paper = "no congestion" if round_trip_ms <= LAST_WITHOUT_MS else "congestion"
    case = _named(cases.emulated(round_trip_ms, cases.OCTETS), f"s5-{round_trip_ms}")
    return LiveCase(case, f"S5, {round_trip_ms} ms", paper)


def _s6(round_trip_ms: int) -> LiveCase:
    case = cases.stepped_up(round_trip_ms)
    # The two LANs have 4 ms, where the paper's emulator has none.
    values = {"wan_emulators.satellite.round_trip": f"{max(0, round_trip_ms - 4):g} ms"}
    case = replace(case, values=values)
    return LiveCase(_named(case, f"s6-{round_trip_ms}"), f"S6, {round_trip_ms} ms", "no congestion")


def _s7(part: float) -> LiveCase:
    full = cases.PERMANENT_KBIT[PERMANENT_KBIT]
    steps = ((cases.RISE_S, full * part),) if part > 1 else ()
    case = Case(
        f"live/s7-{part * 100:.0f}",
        "satellite",
        full * 0.3,
        steps,
        ramp=(35, 45, full * min(part, cases.BELOW)),
        duration_s=cases.FALL_S + cases.GIVE_UP_S,
        values={"links.satellite.access.permanent": f"{PERMANENT_KBIT} kbit/s"},
    )
    paper = "50 % lost" if part > 1 else "no congestion"
    return LiveCase(case, f"S7, {part:.0%} of PAMA", paper)


def _s9(erlang: float) -> LiveCase:
    case = replace(cases.LIMITED["b"], erlang=erlang, steps=(), duration_s=150)
    return LiveCase(
        _named(case, f"s9-{erlang:g}"), f"S9, {erlang:g} Erlang", "no collapse, 1,910 kbit/s at most"
    )


FULL = (
    *(_s5(trip) for trip in ROUND_TRIPS_MS),
    *(_s6(trip) for trip in SAT_ROUND_TRIPS_MS),
    *(_s7(part) for part in PARTS),
    *(_s9(erlang) for erlang in ERLANGS_S9),
)


def _quick() -> LiveCase:
    case = _named(cases.emulated(600, cases.OCTETS), "quick")
    values = {**case.values, "signalling.links.trunk.carrier.proving": "omitted"} | {
        f"signalling.links.{load}.carrier.proving": "omitted" for load in cases.LOADS
    }
    # What two packets in a round trip carry.
    case = replace(case, erlang=0.01, duration_s=24, values=values)
    return LiveCase(case, "S5 in short", "nothing", start_s=4)


QUICK = (_quick(),)
