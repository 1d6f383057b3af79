"""Signalling, telemetry and files over one association and a satellite: what extensions do for each."""

from functools import partial
from types import SimpleNamespace

from slantpath_studies.mixed_traffic import cases
from slantpath_studies.mixed_traffic.output import write
from slantpath_studies.mixed_traffic.runs import Results, plan

ABOUT = "signalling, telemetry and files over one association: I-DATA, schedulers, PR-SCTP (K1-K13)"
RUNS = cases.FULL.runs

QUICK = SimpleNamespace(
    ABOUT=ABOUT,
    RUNS=cases.QUICK.runs,
    Results=partial(Results, extent=cases.QUICK),
    plan=partial(plan, extent=cases.QUICK),
    write=write,
)
"""The same over one path with one controller, in fewer runs."""

__all__ = ["ABOUT", "QUICK", "RUNS", "Results", "plan", "write"]
