"""Claims N1 to N5 of the paper, and what our runs say to them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from slantpath_studies.claims import Claim, Estimate, Finding, Part, about, at_least, less_than, more_than
from slantpath_studies.sctp_over_satellites import cases, switches
from slantpath_studies.sctp_over_satellites.cases import throughput
from slantpath_studies.sctp_over_satellites.placements import Sky

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slantpath_studies.claims import Accepted
    from slantpath_studies.sctp_over_satellites.measures import RunFigures
    from slantpath_studies.sctp_over_satellites.runs import Results

CLAIMS = {
    "N1a": Claim("N1a", "few errors (up to 1e-8): Iridium with GEO as backup against Iridium alone", "alike"),
    "N1b": Claim("N1b", "1e-7 to 1e-5: the same", "less"),
    "N1c": Claim("N1c", "1e-4: Iridium with GEO as backup against the better of the others", "highest"),
    "N1d": Claim("N1d", "up to 1e-5: two antennas for Iridium against one", "highest"),
    "N2": Claim(
        "N2", "load of GEO as backup for an association at 1e-4, growing with errors", "about 10 kbit/s"
    ),
    "N3a": Claim(
        "N3a", "below 1e-7: most streams against one, with 8 and with 40 segments of buffer", "no effect"
    ),
    "N3b": Claim("N3b", "1e-5 and more, small buffers: most streams against one", "more"),
    "N4": Claim(
        "N4", "1e-5 and more: streams matter with 8 segments of buffer, and not with the largest", "so"
    ),
    "N5": Claim("N5", "what tables V and VI recommend is worth having somewhere", "all"),
}
ALIKE = 0.1
"""Two lines of a printed figure that are closer are alike."""
NO_EFFECT = 0.03
KILO = 1e-3
PUBLISHED_BACKUP_BIT_PER_S = 10e3


def findings(results: Results) -> list[Finding]:
    """Hold the runs against the claims."""
    return [
        *_configurations(results),
        _backup(results),
        *_streams(results),
        _switches(results),
    ]


def _configurations(results: Results) -> Iterable[Finding]:
    one, both, two = cases.CONFIGURATIONS
    rates = results.extent.error_rates
    few = [rate for rate in rates if float(rate) <= 1e-8]  # noqa: PLR2004 - the paper's bounds, as below
    some = [rate for rate in rates if 1e-7 <= float(rate) <= 1e-5]  # noqa: PLR2004
    most = rates[-1]

    def ratios(sky: Sky, to: Sky, among: Sequence[str]) -> dict[str, Estimate]:
        return {rate: results.ratio(throughput(sky, rate), throughput(to, rate)) for rate in among}

    alike = ratios(both, one, few)
    yield Finding(
        CLAIMS["N1a"],
        _listed(alike),
        _ratios("with GEO over Iridium alone", about(1.0, ALIKE), alike),
    )
    less = ratios(both, one, some)
    removed = {
        name: _listed(
            {
                rate: results.ratio(cases.variant(name, both, rate), cases.variant(name, one, rate))
                for rate in cases.VARIANT_RATES
            }
        )
        for name in ("buffer-128", "same-path")
    }
    yield Finding(
        CLAIMS["N1b"],
        _listed(less),
        _ratios("with GEO over Iridium alone", less_than(1.0), less),
        "while a retransmission crosses the geostationary satellite the receive buffer fills and closes the "
        f"window: with a buffer of 128 segments {removed['buffer-128']}, with fast retransmissions over "
        f"Iridium {removed['same-path']}",
    )
    means = {sky: results.estimate(throughput(sky, most), _mean).mean for sky in (one, two)}
    better = max(means, key=lambda sky: means[sky])
    highest = ratios(both, better, [most])
    yield Finding(
        CLAIMS["N1c"],
        _listed(highest),
        _ratios("with GEO over the better of the others", more_than(1.0), highest),
    )
    more = ratios(two, one, [*few, *some])
    north = {
        rate: results.ratio(cases.north(two, rate), cases.north(one, rate)) for rate in cases.VARIANT_RATES
    }
    same = {
        rate: results.ratio(cases.north_same_path(rate), cases.north(one, rate))
        for rate in cases.VARIANT_RATES
    }
    low = {
        rate: results.ratio(cases.low_mask(two, rate), cases.low_mask(one, rate))
        for rate in cases.VARIANT_RATES
    }
    low_same = {
        rate: results.ratio(cases.low_mask_same_path(rate), cases.low_mask(one, rate))
        for rate in cases.VARIANT_RATES
    }
    yield Finding(
        CLAIMS["N1d"],
        _listed(more),
        _ratios("two antennas over one", more_than(1.0), more),
        "near the equator one satellite is in sight for much of the time, and what is retransmitted to the "
        f"second antenna waits for its next one; with all terminals between 50° and 70° N {_listed(north)}, "
        f"and with fast retransmissions on the path of the original {_listed(same)}; with satellites down to "
        f"the horizon {_listed(low)}, and with such retransmissions {_listed(low_same)}",
    )


def _backup(results: Results) -> Finding:
    rates = results.extent.error_rates
    loads = [
        results.estimate(cases.backup(cases.PAIRS, rate), lambda run: run.backup_bit_per_s / cases.PAIRS)
        for rate in rates
    ]
    per_link = results.estimate(
        throughput(Sky.SUPPLEMENTED, rates[-1], cases.PER_LINK),
        lambda run: run.backup_bit_per_s / cases.PAIRS,
    )
    by_bytes = results.estimate(cases.BACKUP_BY_BYTES, lambda run: run.backup_bit_per_s / cases.PAIRS)
    highest = results.ratio(cases.BACKUP_BY_BYTES, cases.ALONE_BY_BYTES)
    after = results.estimate(cases.BACKUP_AFTER_TIMEOUTS, lambda run: run.backup_bit_per_s / cases.PAIRS)
    listed = ", ".join(
        f"{load.text('', KILO, 1).strip()} at {rate}" for rate, load in zip(rates, loads, strict=True)
    )
    return Finding(
        CLAIMS["N2"],
        loads[-1].text("kbit/s", KILO, 1),
        (
            Part(
                f"load of GEO for an association at {rates[-1]}",
                about(PUBLISHED_BACKUP_BIT_PER_S),
                loads[-1],
                "kbit/s",
                KILO,
            ),
            *(
                Part(f"load at {rate} less that at {before}", at_least(0.0), next_.less(one), "kbit/s", KILO)
                for (before, one), (rate, next_) in pairwise(zip(rates, loads, strict=True))
            ),
        ),
        f"IP packets of all kinds that a source sends to its geostationary satellite; in kbit/s {listed}; "
        f"{after.text('', KILO, 1).strip()} there with what ns-2 sends behind a time-out; "
        f"with errors on each link {per_link.text('', KILO, 1).strip()} at {rates[-1]}; where that is the "
        f"chance that a byte is wrong, and not a bit, {by_bytes.text('', KILO, 1).strip()}, with "
        f"{highest.text('', 1, 2).strip()} of the throughput of Iridium alone",
    )


STREAMS_OVER = (Sky.IRIDIUM, Sky.GEO)


def _gain(results: Results, sky: Sky, segments: int, rate: str) -> Estimate:
    """Estimate what most streams bring over one."""
    most = results.extent.streams[-1]
    return results.ratio(cases.streams(sky, most, segments, rate), cases.streams(sky, 1, segments, rate))


def with_small_buffers(results: Results) -> Finding:
    """Judge claim N3b."""
    small = min(results.extent.buffers)
    more = {
        f"{cases.NAMES[sky]} {segments}": _gain(results, sky, segments, "1e-5")
        for sky in STREAMS_OVER
        for segments in sorted({small, cases.SMALL_BUFFER})
    }
    return Finding(
        CLAIMS["N3b"], _listed(more, 3), _ratios("most streams over one at 1e-5", more_than(1.0), more)
    )


def _streams(results: Results) -> Iterable[Finding]:
    rates = results.extent.error_rates
    low = [rate for rate in rates if float(rate) < 1e-7]  # noqa: PLR2004
    high = [rate for rate in rates if rate in cases.HIGH_ERROR_RATES]
    none_of = {
        f"{cases.NAMES[sky]}, {segments} segments, {rate}": _gain(results, sky, segments, rate)
        for sky in STREAMS_OVER
        for rate in low
        for segments in (cases.SMALL_BUFFER, cases.LARGEST_BUFFER)
    }
    widest = max(none_of.items(), key=lambda item: abs(item[1].mean - 1))
    yield Finding(
        CLAIMS["N3a"],
        f"{widest[1].text('', 1, 3).strip()} at most",
        _ratios("most streams over one", about(1.0, NO_EFFECT), none_of),
        f"the ratio that is farthest from 1: {widest[0]}",
    )
    yield with_small_buffers(results)
    small_gain = {
        f"{cases.NAMES[sky]} {rate}": _gain(results, sky, cases.SMALL_BUFFER, rate)
        for sky in STREAMS_OVER
        for rate in high
    }
    large_gain = {
        f"{cases.NAMES[sky]} {rate}": _gain(results, sky, cases.LARGEST_BUFFER, rate)
        for sky in STREAMS_OVER
        for rate in high
    }
    yield Finding(
        CLAIMS["N4"],
        _listed(small_gain, 3),
        (
            *_ratios(f"most streams over one, {cases.SMALL_BUFFER} segments", more_than(1.0), small_gain),
            *_ratios(
                f"most streams over one, {cases.LARGEST_BUFFER} segments", about(1.0, ALIKE), large_gain
            ),
        ),
        f"with {cases.LARGEST_BUFFER} segments {_listed(large_gain, 3)}",
    )


def _switches(results: Results) -> Finding:
    extent = results.extent
    most = extent.error_rates[-1]
    gains = {
        switch: [
            results.ratio(*pair, switches.measure(total))
            for place in cases.ENVIRONMENTS
            for total in (cases.UNLIMITED, cases.TRANSFER)
            for pair in [switch.pair(place, total)]
            if pair is not None
        ]
        for switch in switches.SWITCHES
        if switch.is_recommended
    }
    gains[switches.MULTIHOMING].append(
        results.ratio(throughput(Sky.SUPPLEMENTED, most), throughput(Sky.IRIDIUM, most))
    )
    gains[switches.MULTISTREAMING].append(
        results.ratio(
            cases.streams(Sky.IRIDIUM, extent.streams[-1], cases.SMALL_BUFFER, "1e-5"),
            cases.streams(Sky.IRIDIUM, 1, cases.SMALL_BUFFER, "1e-5"),
        )
    )
    best = {switch.feature: _surest(own) for switch, own in gains.items()}
    not_worth = [feature for feature, own in best.items() if not own.low > 1]
    return Finding(
        CLAIMS["N5"],
        f"{len(gains) - len(not_worth)} of {len(gains)}",
        _ratios("with the feature over without, where that is surest", more_than(1.0), best),
        f"no gain is certain of: {', '.join(not_worth)}" if not_worth else "the table of switches has each",
    )


def _mean(run: RunFigures) -> float:
    return run.mean_bit_per_s


def _ratios(figure: str, accepted: Accepted, ratios: Mapping[str, Estimate]) -> list[Part]:
    """Make a part of each ratio."""
    return [Part(f"{figure}, {name}", accepted, ratio) for name, ratio in ratios.items()]


def _surest(ratios: Sequence[Estimate]) -> Estimate:
    """Give the ratio that is most certainly above 1, or else may be."""
    certain = max(ratios, key=lambda ratio: ratio.low)
    return certain if certain.low > 1 else max(ratios, key=lambda ratio: ratio.high)


def _listed(ratios: Mapping[str, Estimate], decimals: int = 2) -> str:
    return ", ".join(f"{ratio.text('', 1, decimals).strip()} ({name})" for name, ratio in ratios.items())
