"""Gain of two antennas to Iridium over one, with one cause taken away at a time: claim N1d.

    python studies/sctp-over-satellites/two_antennas.py [PLACEMENTS] [PAIRS] [SECONDS]

Second antennas never hold the satellite of the first in the study. Here they may: they have a second Iridium
in the places of the first. What is retransmitted and lost again is found without a time-out by RACK, or by
frequent heartbeats.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa

from slantpath.running import Job, run_jobs
from slantpath_studies.claims import Estimate
from slantpath_studies.report import Grid
from slantpath_studies.sctp_over_satellites import cases
from slantpath_studies.sctp_over_satellites.measures import TABLES, RunFigures
from slantpath_studies.sctp_over_satellites.placements import Ground, Skies, Sky

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slantpath.running import Value

RATES = ("1e-6", "1e-5", "3e-5", "1e-4")
TABLES_OF_TWIN = """
[sky.access.twin]
constellation = "twin"
rate = "1.5 Mbit/s"
queue = "50 packets"
link_overhead = "4 B"
uplink = { bit_error_rate = 0.0 }

[sky.isls.twin]
constellation = "twin"
rate = "25 Mbit/s"
queue = "50 packets"
link_overhead = "4 B"
"""
RACK: Mapping[str, Value] = {"sctp.paper.loss_detection": "rack"}
HEARTBEATS: Mapping[str, Value] = {"sctp.paper.hb_interval": "10 ms"}
SETTINGS: Mapping[str, tuple[bool, Mapping[str, Value]]] = {
    "as studied": (False, {}),
    "never the same satellite, RACK": (False, RACK),
    "never the same satellite, a heartbeat every 10 ms": (False, HEARTBEATS),
    "may hold the same satellite": (True, {}),
    "may hold the same satellite, RACK": (True, RACK),
    "may hold the same satellite, a heartbeat every 10 ms": (True, HEARTBEATS),
}
"""If second antennas may hold the satellite of the first, and what is set beside that, for one alike."""


def twin(pairs: int) -> dict[str, Value]:
    """Put a second Iridium into the places of the first, which second antennas have for themselves."""
    antennas: Value = [{"constellation": "iridium"}, {"constellation": "twin"}]
    terminals = [f"{end}-{number:02}" for number in range(pairs) for end in ("source", "sink")]
    return {
        "constellations.twin.satellites": {"kind": "preset", "preset": "iridium", "perturbation": "none"},
        **{f"sites.{terminal}.antennas": antennas for terminal in terminals},
    }


def measured(placements: int, pairs: int, seconds: int) -> dict[tuple[str, Sky, str], list[float]]:
    """Give the throughput of an association for each setting, antennas and rate, placement by placement."""
    jobs: dict[Job, list[tuple[str, Sky, str]]] = {}
    with TemporaryDirectory() as directory:
        plain, twins = Path(directory) / "plain", Path(directory) / "twins"
        for each in (plain, twins):
            each.mkdir()
        skies = {False: Skies(plain, None), True: Skies(twins, None, twin(pairs), TABLES_OF_TWIN)}
        for number in range(placements):
            for name, (may_share, values) in SETTINGS.items():
                for sky in (Sky.IRIDIUM, Sky.TWO_ANTENNAS):
                    for rate in RATES:
                        shares = may_share and sky is Sky.TWO_ANTENNAS
                        errors = cases.errors(sky, rate)
                        if shares:
                            errors |= {key.replace("iridium", "twin"): rate for key in errors}
                        changes = {"scenario.duration": f"{seconds} s", **errors, **values}
                        scenario = skies[shares].scenario(number, Ground(sky, pairs), {}, changes)
                        jobs.setdefault(Job(scenario, number, tables=TABLES), []).append((name, sky, rate))
        found: dict[tuple[str, Sky, str], dict[int, float]] = {}
        for job, output in run_jobs(jobs):
            tables = [pa.table(output[name]) for name in TABLES]
            run = RunFigures.of(tables[0], tables[1], tables[2], cases.WARM_UP_S, seconds)
            for key in jobs[job]:
                found.setdefault(key, {})[job.run] = run.mean_bit_per_s
    return {key: [value for _, value in sorted(runs.items())] for key, runs in found.items()}


def main(placements: str = "13", pairs: str = "30", seconds: str = "360") -> None:
    """Print two antennas over one, placement by placement."""
    throughputs = measured(int(placements), int(pairs), int(seconds))
    rows = []
    for name in SETTINGS:
        ratios = []
        for rate in RATES:
            two, one = (throughputs[name, sky, rate] for sky in (Sky.TWO_ANTENNAS, Sky.IRIDIUM))
            ratios.append(
                Estimate.of([a / b for a, b in zip(two, one, strict=True) if b]).text("", 1, 2).strip()
            )
        rows.append((name, *ratios))
    print(Grid("", "", ("two antennas over one", *RATES), rows).markdown())


if __name__ == "__main__":
    main(*sys.argv[1:])
