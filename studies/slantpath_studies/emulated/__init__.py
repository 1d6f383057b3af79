"""Two papers' laboratories with a real kernel's SCTP, emulated: claims F1, F2, F5, M4 and M7."""

from slantpath_studies.emulated.output import write
from slantpath_studies.emulated.runs import RUNS, SEED, SIMULATED_RUNS, make

ABOUT = "Linux's SCTP in the laboratories of two papers, emulated (F1, F2, F5, M4, M7)"

__all__ = ["ABOUT", "RUNS", "SEED", "SIMULATED_RUNS", "make", "write"]
