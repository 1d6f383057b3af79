"""The papers' labs in real time, with Linux's SCTP at both ends: claims F1, F2, F5, M4 and M7."""

from slantpath_studies.emulated.output import write
from slantpath_studies.emulated.runs import RUNS, Results, plan

ABOUT = "Two of the papers' labs, emulated, with Linux's SCTP (F1, F2, F5, M4, M7)"

__all__ = ["ABOUT", "RUNS", "Results", "plan", "write"]
