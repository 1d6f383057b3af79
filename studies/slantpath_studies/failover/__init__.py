"""Failover of a signalling association under cross traffic: claims F1 to F8.

K.-J. Grinnemo, A. Brunstrom, "Impact of Traffic Load on SCTP Failovers in SIGTRAN", ICN 2005, LNCS 3420.
"""

from slantpath_studies.failover.output import write
from slantpath_studies.failover.runs import RUNS, Results, plan

ABOUT = "Failover of an M3UA association under cross traffic (F1-F8)"

__all__ = ["ABOUT", "RUNS", "Results", "plan", "write"]
