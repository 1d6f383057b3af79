"""SCTP over Iridium and geostationary satellites: claims N1 to N5, figures 9 to 14, tables V and VI.

The paper "SCTP over satellite networks" (NASA grants NAG3-2528 and NAG3-2922), which follows RFC 2960.
"""

from functools import partial
from types import SimpleNamespace

from slantpath_studies.sctp_over_satellites import cases
from slantpath_studies.sctp_over_satellites.output import write
from slantpath_studies.sctp_over_satellites.runs import Results, plan

ABOUT = "SCTP over Iridium and geostationary satellites (N1-N5)"
RUNS = cases.FULL.placements

QUICK = SimpleNamespace(
    ABOUT=ABOUT,
    RUNS=cases.QUICK.placements,
    Results=partial(Results, extent=cases.QUICK),
    plan=partial(plan, extent=cases.QUICK),
    write=write,
)
"""The same with fewer placements, points and seconds."""

__all__ = ["ABOUT", "QUICK", "RUNS", "Results", "plan", "write"]
