"""The gateways of the trial as programs over an emulated satellite, beside paper and simulation."""

from functools import partial
from types import SimpleNamespace

from slantpath_studies.soip.live import cases
from slantpath_studies.soip.live.labs import make
from slantpath_studies.soip.live.output import write
from slantpath_studies.soip.live.runs import Results, plan


def _study(of: tuple[cases.LiveCase, ...], runs: int) -> SimpleNamespace:
    return SimpleNamespace(
        ABOUT="SS7 over an emulated satellite: paper, simulation and programs side by side",
        RUNS=runs,
        Results=partial(Results, of),
        plan=partial(plan, of),
        make=make,
        write=write,
    )


FULL = _study(cases.FULL, 20)
QUICK = _study(cases.QUICK, 3)
"""One case of a few seconds, which shows no more than that all of it works."""

__all__ = ["FULL", "QUICK"]
