"""SCTP and TCP over a lossy satellite link with a terrestrial backup: claims M1 to M9.

A. Jungmaier, E. P. Rathgeb, M. Schopp, M. Tüxen, "SCTP - A Multi-link End-to-end Protocol for IP-based
Networks", AEÜ International Journal of Electronics and Communications 55(1), 2001.
"""

from slantpath_studies.multi_link.output import write
from slantpath_studies.multi_link.runs import RUNS, Results, plan

ABOUT = "SCTP and TCP over a lossy satellite link with a terrestrial backup (M1-M9)"

__all__ = ["ABOUT", "RUNS", "Results", "plan", "write"]
