"""SS7 through signalling gateways over a satellite with capacity on demand: claims S1 to S13, and beyond."""

from slantpath_studies.soip import largest_step, live
from slantpath_studies.soip.output import write
from slantpath_studies.soip.runs import RUNS, Results, plan

ABOUT = "SS7 over a satellite with capacity on demand: windows, collapse, remedies (S1-S13)"

__all__ = ["ABOUT", "RUNS", "Results", "largest_step", "live", "plan", "write"]
