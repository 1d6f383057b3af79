"""SCTP over satellites in ns-2.35 and here: the same pairs under the same sky, figures 9 and 14 by points.

python peers/ns2/compare_sctp.py [iridium|geo|supplemented|two-antennas [PLACEMENTS [SECONDS [PAIRS]]]]
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from slantpath.running import Job, processors, run_jobs
from slantpath.studies.claims import Estimate
from slantpath.studies.sctp_over_satellites import cases
from slantpath.studies.sctp_over_satellites.measures import TABLES
from slantpath.studies.sctp_over_satellites.placements import Placement, Skies, Sky

HERE = Path(__file__).parent
RATES = ("1e-9", "1e-7", "1e-6", "1e-5", "1e-4")
BUFFER_BYTES = cases.LARGEST_BUFFER * 528
"""A segment takes 528 bytes of ns-2's buffer: its chunk."""
DATA_PACKET_BYTES = 560
KILO = 1e-3


HEADERS = ("sky.access.iridium", "sky.isls.iridium", "sky.access.geo", "sky.access.gateways")
"""Links on which ns-2 has headers of 16 bytes."""


def theirs(sky: Sky, pairs: int, placement: int, rate: str, seconds: int) -> float:
    """Give the mean throughput of an association in ns-2, of all DATA that the sinks receive."""
    drawn = Placement.drawn(placement, None)
    with TemporaryDirectory() as directory:
        places = Path(directory) / "pairs"
        lines = [
            f"{one.latitude_deg} {one.longitude_deg} {other.latitude_deg} {other.longitude_deg}\n"
            for one, other in drawn.pairs[:pairs]
        ]
        places.write_text("".join(lines), encoding="utf-8")
        arguments = [sky.value, places, rate, BUFFER_BYTES, drawn.start_s, seconds, placement + 1]
        command = ["ns", str(HERE / "sctp-sky.tcl"), *map(str, arguments)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as ns:
            assert ns.stdout is not None
            events = (line.split(maxsplit=6) for line in ns.stdout)
            received = sum(
                event[0] == "r" and event[5] == str(DATA_PACKET_BYTES) and float(event[1]) >= cases.WARM_UP_S
                for event in events
            )
        if ns.returncode:
            message = f"ns ended with status {ns.returncode}"
            raise RuntimeError(message)
    return 8 * cases.SEGMENT_BYTES * received / pairs / (seconds - cases.WARM_UP_S)


def ours(sky: Sky, pairs: int, placements: int, seconds: int) -> dict[tuple[int, str], float]:
    """Give the same of our runs, with ns-2's link headers and the first plane over Greenwich at the start."""
    with TemporaryDirectory() as directory:
        skies = Skies(Path(directory), None, {"constellations.iridium.satellites.first_longitude": "0 deg"})
        jobs = {
            Job(
                skies.scenario(
                    number,
                    cases.Case("", sky, {}, pairs).ground,
                    {},
                    {
                        "scenario.duration": f"{seconds} s",
                        **{f"{links}.link_overhead": "16 B" for links in HEADERS},
                        **cases.errors(sky, rate),
                    },
                ),
                number,
                tables=TABLES,
            ): (number, rate)
            for number in range(placements)
            for rate in RATES
        }
        return {
            jobs[job]: sum(float(each or 0) for each in output["flows"]["throughput_bit_per_s"]) / pairs
            for job, output in run_jobs(jobs)
        }


def main(over: str = "iridium", placements: int = 3, seconds: int = 360, pairs: int = cases.PAIRS) -> None:
    """Print both, and how they stand to each other."""
    sky = Sky(over)
    points = [(number, rate) for number in range(placements) for rate in RATES]
    with ThreadPoolExecutor(processors()) as pool:
        of_ns = dict(
            zip(points, pool.map(lambda point: theirs(sky, pairs, *point, seconds), points), strict=True)
        )
    of_ours = ours(sky, pairs, placements, seconds)
    print("| bit error rate | ns-2.35, kbit/s | ours, kbit/s | ours / ns-2 |\n| --- | --- | --- | --- |")
    for rate in RATES:
        cells = [
            Estimate.of([given[number, rate] for number in range(placements)]).text("", KILO, 1).strip()
            for given in (of_ns, of_ours)
        ]
        ratios = [of_ours[number, rate] / of_ns[number, rate] for number in range(placements)]
        print(f"| {rate} | {cells[0]} | {cells[1]} | {Estimate.of(ratios).text('', 1, 3).strip()} |")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
