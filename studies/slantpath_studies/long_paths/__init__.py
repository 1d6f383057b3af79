"""Every congestion controller of both transports over GEO and LEO: L1 to L15 are this project's own aims."""

from slantpath_studies.long_paths.output import write
from slantpath_studies.long_paths.runs import RUNS, Results, plan

ABOUT = "every congestion controller over GEO and LEO: loss, changes, fairness (L1-L15)"

__all__ = ["ABOUT", "RUNS", "Results", "plan", "write"]
