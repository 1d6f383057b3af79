"""The tables of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slantpath_studies.claims import Estimate
from slantpath_studies.report import Grid
from slantpath_studies.sctp_over_satellites import cases, switches
from slantpath_studies.sctp_over_satellites.findings import KILO
from slantpath_studies.sctp_over_satellites.placements import Sky

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slantpath_studies.sctp_over_satellites.measures import RunFigures
    from slantpath_studies.sctp_over_satellites.runs import Results


def grids(results: Results) -> Iterator[tuple[str, Grid]]:
    """Give each table with the name of its file."""
    yield "throughput", _throughput(results)
    yield "backup", _backup(results)
    yield "switches", _switches(results)
    yield "returned", _returned(results)
    yield "round-trips", _round_trips(results)
    yield "variants", _variants(results)


def _mean(run: RunFigures) -> float:
    return run.mean_bit_per_s


def _kbit(results: Results, case: str) -> str:
    return results.estimate(case, _mean).text("", KILO, 1).strip()


def _throughput(results: Results) -> Grid:
    rows = [
        (
            f"{cases.NAMES[sky]}, errors on each {where}",
            *(_kbit(results, cases.throughput(sky, rate, where)) for rate in results.extent.error_rates),
        )
        for where in (cases.PER_PATH, cases.PER_LINK)
        for sky in cases.CONFIGURATIONS
    ]
    rows += [
        (
            f"associations that failed of {cases.PAIRS}, {cases.NAMES[sky]}, errors on each {where}",
            *(
                f"{np.mean([run.failed for run in results.figures(cases.throughput(sky, rate, where))]):.1f}"
                for rate in results.extent.error_rates
            ),
        )
        for where in (cases.PER_PATH, cases.PER_LINK)
        for sky in cases.CONFIGURATIONS
    ]
    return Grid(
        "Throughput of an association (figure 9)",
        "In kbit/s against the bit error rate of Iridium; that of the geostationary satellites is 1e-6.",
        ("configuration", *results.extent.error_rates),
        rows,
    )


def _backup(results: Results) -> Grid:
    rows = [
        (
            str(count),
            *(
                results.estimate(cases.backup(count, rate), lambda run: run.backup_bit_per_s)
                .text("", KILO, 1)
                .strip()
                for rate in results.extent.error_rates
            ),
        )
        for count in results.extent.associations
    ]
    return Grid(
        "Load of the geostationary backup (figure 10)",
        "What all sources together send to geostationary satellites, in kbit/s, against the bit error rate "
        "of Iridium.",
        ("associations", *results.extent.error_rates),
        rows,
    )


def _switches(results: Results) -> Grid:
    def gain(switch: switches.Switch, place: str, total: str) -> str:
        pair = switch.pair(place, total)
        if pair is None:
            return "–"
        return results.ratio(*pair, switches.measure(total)).text("", 1, 2).strip()

    rows = [
        (
            switch.feature,
            switch.word or "–",
            *(
                gain(switch, place, total)
                for total in (cases.UNLIMITED, cases.TRANSFER)
                for place in cases.ENVIRONMENTS
            ),
        )
        for switch in switches.SWITCHES
    ]
    labels = [environment.label for environment in cases.ENVIRONMENTS.values()]
    return Grid(
        "Tables V and VI: what each feature is worth",
        "Throughput with the feature over that without, and the same of the pace of a transfer of 64 kB: "
        "above 1, the feature helps. SACK and Fast Recovery cannot be taken out of SCTP, and congestion "
        "avoidance not for good: without it the first loss begins it. More of multihoming is in figure 9, of "
        "streams in figures 11 to 14.",
        (
            "feature",
            "the paper",
            *(f"throughput, {label}" for label in labels),
            *(f"64 kB, {label}" for label in labels),
        ),
        rows,
    )


def _returned(results: Results) -> Grid:
    def share(setting: str, place: str) -> str:
        case = cases.setting(setting, place, cases.UNLIMITED)
        return results.estimate(case, lambda run: run.returned_share).text("", 100, 2).strip()

    return Grid(
        "What delayed SACK saves",
        "What sinks send, in percent of what they deliver: IP packets, above all SACKs.",
        ("SACKs", *(environment.label for environment in cases.ENVIRONMENTS.values())),
        [
            (about, *(share(setting, place) for place in cases.ENVIRONMENTS))
            for about, setting in (("for every second packet", "paper"), ("for each packet", "sack-each"))
        ],
    )


def _round_trips(results: Results) -> Grid:
    rows = []
    for rate in results.extent.error_rates:
        runs = results.figures(cases.throughput(Sky.IRIDIUM, rate))
        slopes = [slope for run in runs for slope in [_slope(run)] if np.isfinite(slope)]
        thirds = [third for run in runs for third in [_thirds(run)] if np.isfinite(third)]
        rows.append(
            (
                rate,
                Estimate.of(slopes).text("", 1, 2).strip() if slopes else "–",
                Estimate.of(thirds).text("", 1, 2).strip() if thirds else "–",
            )
        )
    return Grid(
        "The bias against long round trips",
        "Iridium alone: the exponent b of throughput ~ (round trip of light)^b over the associations of a "
        "placement, and what the third with the shortest round trips gets over the third with the longest.",
        ("bit error rate", "exponent", "shortest over longest"),
        rows,
    )


def _slope(run: RunFigures) -> float:
    good = (run.throughput_bit_per_s > 0) & np.isfinite(run.round_trip_s)
    if good.sum() < 3:  # noqa: PLR2004 - a line through two points says nothing
        return float("nan")
    trip, rate = np.log(run.round_trip_s[good]), np.log(run.throughput_bit_per_s[good])
    return float(np.polyfit(trip, rate, 1)[0])


def _thirds(run: RunFigures) -> float:
    order = np.argsort(run.round_trip_s)
    third = len(order) // 3
    short, long = (run.throughput_bit_per_s[part].mean() for part in (order[:third], order[-third:]))
    return float(short / long) if long else float("nan")


def _variants(results: Results) -> Grid:
    points = [(sky, rate) for sky in cases.CONFIGURATIONS for rate in cases.VARIANT_RATES]

    def ratio(name: str, sky: Sky, rate: str) -> str:
        estimate = results.ratio(cases.variant(name, sky, rate), cases.throughput(sky, rate))
        return estimate.text("", 1, 2).strip()

    return Grid(
        "What the open parameters decide",
        "Throughput of an association as studied in kbit/s, and with one other choice where the paper leaves "
        "one as a ratio to it, placement by placement.",
        ("choice", *(f"{cases.NAMES[sky]}, {rate}" for sky, rate in points)),
        [
            ("as studied", *(_kbit(results, cases.throughput(sky, rate)) for sky, rate in points)),
            *(
                (about, *(ratio(name, sky, rate) for sky, rate in points))
                for name, (about, _) in cases.VARIANTS.items()
            ),
        ],
    )
