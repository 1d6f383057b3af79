"""FTP sessions and DiffServ over LEO and GEO satellites: claims Q1 to Q5, figures 2 to 5, and future work.

Audah, Sun and Cruickshank, "End-to-End QoS Evaluation of IP over LEO/GEO Satellites Constellations for FTP".
"""

from functools import partial
from types import SimpleNamespace

from slantpath_studies.ftp_qos import cases
from slantpath_studies.ftp_qos.output import write
from slantpath_studies.ftp_qos.runs import Results, plan

ABOUT = "FTP sessions and DiffServ over LEO and GEO (Q1-Q5)"
RUNS = cases.FULL.runs

QUICK = SimpleNamespace(
    ABOUT=ABOUT,
    RUNS=cases.QUICK.runs,
    Results=partial(Results, extent=cases.QUICK),
    plan=partial(plan, extent=cases.QUICK),
    write=write,
)
"""The same with fewer rates and one run of each cell."""

__all__ = ["ABOUT", "QUICK", "RUNS", "Results", "plan", "write"]
