"""What the paper claims, S1 to S13, and what the runs show of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slantpath_studies.claims import (
    Claim,
    Estimate,
    Finding,
    Kind,
    Part,
    about,
    at_least,
    between,
    none,
    share_text,
)
from slantpath_studies.soip import cases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slantpath_studies.soip.cases import Case
    from slantpath_studies.soip.measures import RunFigures
    from slantpath_studies.soip.runs import Results

START = cases.START_S
NO_LOSS = 0.01
"""Messages on their way when a count begins and ends are about as many."""
PERCENT = 100
WINDOW = 148 / 120
"""Octets of the window for each of a message of 120."""
SETTLE_S = 10
"""After a step of a fall, before it is looked at."""
LONG_S = 240
"""What the paper calls lasting."""
COLLAPSED = 0.2
"""Share of lost messages from which on a run has collapsed: runs without collapse lose a few percent."""
LENGTHS = (60, 120, 270)
"""Octets of the messages of S5."""
ALIKE = 0.05
"""Shares of lost messages that are closer do not differ."""


def findings(results: Results) -> list[Finding]:
    """Give every finding."""
    return [judge(results) for judge in FINDINGS.values()]


def congestion(results: Results, case: Case) -> Estimate:
    """Estimate how long messages are refused after the load has begun."""
    return results.estimate(case, lambda run: run.congested_s(case, START))


def loss_meanwhile(results: Results, case: Case) -> Estimate:
    """Estimate the share that is refused as long as any is."""
    return results.estimate(case, lambda run: _lost_meanwhile(run, case))


def _lost_meanwhile(run: RunFigures, case: Case) -> float:
    congested = run.congested_s(case, START)
    refused = run.between(run.refused, START, START + congested).sum()
    offered = case.offered(START + 1) * congested
    return float(refused / offered) if congested else 0.0


def lost(results: Results, case: Case, from_s: float, to_s: float) -> Estimate:
    """Estimate the share of the offered messages that do not arrive."""
    return results.estimate(case, lambda run: run.loss(case, from_s, to_s))


def band(results: Results, case: Case, from_s: float, to_s: float) -> Estimate:
    """Estimate the band that the terminal uses, in kbit/s of Ethernet."""
    return results.estimate(case, lambda run: run.ethernet_kbit(from_s, to_s))


def again(results: Results, case: Case, from_s: float, to_s: float) -> Estimate:
    """Estimate how many DATA chunks are retransmitted for each that is sent first."""

    def of(run: RunFigures) -> float:
        first = float(run.between(run.handed_over, from_s, to_s).sum())
        return float(run.between(run.repeated, from_s, to_s).sum()) / first if first else 0.0

    return results.estimate(case, of)


def worst(results: Results, case: Case) -> tuple[float, Estimate]:
    """Find at which part of what is permanent most is lost, as the load rises and falls, and how much."""
    spans = [(cases.ABOVE, cases.RISE_S + 30, cases.FALL_S - 5)]
    for number, part in enumerate(cases.FALLS):
        begin = cases.FALL_S + cases.FALL_EVERY_S * number
        spans.append((part, begin + SETTLE_S, begin + cases.FALL_EVERY_S))
    shares = [(part, lost(results, case, from_s, to_s)) for part, from_s, to_s in spans]
    return max(shares, key=lambda each: each[1].mean)


def clears_at(results: Results, case: Case) -> float | None:
    """Find the part of what is permanent at which a collapse is over: the first of the falls without loss."""
    for number, part in enumerate(cases.FALLS):
        begin = cases.FALL_S + cases.FALL_EVERY_S * number
        if lost(results, case, begin + SETTLE_S, begin + cases.FALL_EVERY_S).mean < NO_LOSS:
            return part
    return None


def highest(run: RunFigures, from_s: float, to_s: float) -> float:
    """Give the highest band over ten seconds, in kbit/s."""
    span = round(10 / run.interval_s)
    of = run.between(run.ethernet_bit_per_s, from_s, to_s)
    return float(np.convolve(of, np.ones(span) / span, "valid").max(initial=0.0)) / 1e3


def growth_bytes(run: RunFigures) -> float:
    """Give the most that is outstanding within ten seconds of the step."""
    return float(run.between(run.outstanding_bytes, cases.STEP_S, cases.STEP_S + 10).max(initial=0.0))


def _s1(results: Results) -> Finding:
    claim = Claim(
        "S1", "MB9, one association, 400 to 850 kbit/s: congestion at the start", "up to 70 s, 40-70 % lost"
    )
    light, heavy = cases.mb9(0.14), cases.mb9(0.30)
    first, last = congestion(results, light), congestion(results, heavy)
    share = loss_meanwhile(results, heavy)
    return Finding(
        claim,
        f"{first.text('s')} to {last.text('s')}, {share.text('%', PERCENT)} lost",
        (
            Part("congested, 0.30 Erlang", between(0, 70), last, "s"),
            Part("lost meanwhile, 0.30 Erlang", between(0.4, 0.7), share, "%", PERCENT),
        ),
        "Two packets of 576 octets at the start, no slow start, a queue of 1,000: a hypothesis that fits.",
    )


def _s2(results: Results) -> Finding:
    claim = Claim("S2", "the same above 850 kbit/s", "beyond 240 s")
    bound = band(results, cases.mb9(0.44), 150, 280)
    time = congestion(results, cases.mb9(0.36))
    return Finding(
        claim,
        f"above {bound.text('kbit/s')}: {time.text('s')}, to the end of the load",
        (
            Part("band that a window lets through, 0.44 Erlang", about(850), bound, "kbit/s"),
            Part("congested, 0.36 Erlang", at_least(LONG_S), time, "s"),
        ),
        "64,000 octets over the round trip of 630 ms are the bound; over 700 ms they are 850 kbit/s.",
    )


def band_offered(results: Results, erlang: float, associations: int = 1) -> float:
    """Give what a load is on Ethernet if all of it is carried, from the band of a lighter load."""
    light = cases.mb9(0.26 if associations == 1 else cases.ERLANGS_MB9_8[0], associations)
    per_message = band(results, light, 200, 280).mean / light.offered(250)
    return per_message * cases.messages_per_second(erlang)


def _s3(results: Results) -> Finding:
    claim = Claim("S3", "0.36 Erlang a link, about 1,020 kbit/s", "300 kbit/s for 70 s, then 900")
    case = cases.mb9(0.36)
    during, after = band(results, case, START, START + 70), band(results, case, 150, 280)
    reached = results.estimate(case, lambda run: float(np.argmax(run.cwnd_bytes >= 64_000) - START))  # noqa: PLR2004
    return Finding(
        claim,
        f"{during.text('kbit/s')} on average in {reached.text('s')}, then {after.text('kbit/s')}",
        (
            Part("band in the first 70 s", about(300), during, "kbit/s"),
            Part("band after 150 s", about(900), after, "kbit/s"),
        ),
        "The window opens by one packet a round trip and is open when the paper has it; what rises evenly "
        "from nothing to 900 is 450 on average: the published 300 are unmet.",
    )


def _s4(results: Results) -> Finding:
    claim = Claim("S4", "eight associations", "20-40 s, 5-20 % lost; permanent above 1,900 kbit/s")
    heavy, shared = cases.mb9(0.60, 8), cases.one_queue(0.60)
    times = [congestion(results, case).text("s") for case in (heavy, shared)]
    shares = [loss_meanwhile(results, case) for case in (heavy, shared)]
    runs = results.figures(shared)
    passing = [run for run in runs if not _is_permanent(run, shared)]
    permanent = {erlang: _permanent(results, cases.mb9(erlang, 8)) for erlang in cases.ERLANGS_MB9_8}
    listed = ", ".join(
        f"{kind.occurs} of {kind.runs} at {erlang:.2f} ({share_text(kind.occurs, kind.runs)})"
        for erlang, kind in permanent.items()
        if kind.occurs
    )
    return Finding(
        claim,
        f"{times[0]} with a queue for each, {times[1]} with one queue, "
        f"{shares[1].text('%', PERCENT)} lost at 0.60 Erlang; runs congested to the end: {listed or 'none'}",
        (
            Part(
                "congested, runs at 0.60 Erlang that recover",
                between(20, 40),
                Kind.of([run.congested_s(shared, START) for run in passing], len(runs)),
                "s",
            ),
            Part(
                "lost meanwhile, runs at 0.60 Erlang that recover",
                between(0.05, 0.2),
                Kind.of([_lost_meanwhile(run, shared) for run in passing], len(runs)),
                "%",
                PERCENT,
            ),
            *(
                Part(
                    f"congested, runs at {erlang:.2f} Erlang that do not recover", at_least(LONG_S), kind, "s"
                )
                for erlang, kind in permanent.items()
                if erlang > cases.PERMANENT_FROM
            ),
        ),
        "Associations have four or three of the thirty lines, by their codes: eight windows open eight "
        "times as fast, and the queue of none overflows.",
    )


def _is_permanent(run: RunFigures, case: Case) -> bool:
    return run.congested_s(case, START) > LONG_S


def _permanent(results: Results, case: Case) -> Kind:
    """Tell how many runs are congested to the end, and how long."""
    runs = results.figures(case)
    return Kind.of([run.congested_s(case, START) for run in runs if _is_permanent(run, case)], len(runs))


def _s5(results: Results) -> Finding:
    claim = Claim(
        "S5", "WAN emulator, MB9: congestion against the round trip", "above 600 ms; lengths do not matter"
    )

    def late(case: Case) -> Estimate:
        return lost(results, case, 200, 280)

    def first(octets: int) -> str:
        trips = (t for t in cases.ROUND_TRIPS_MS if late(cases.emulated(t, octets)).mean > NO_LOSS)
        return f"{next(trips, 'no')} ms"

    below, above = 600, 700
    short, usual, long = (late(cases.emulated(above, octets)) for octets in LENGTHS)
    by_title = late(cases.titled(above))
    return Finding(
        claim,
        f"lasting loss from {first(60)} on with 60 octets, {first(120)} with 120, {first(270)} with 270; at "
        f"{above} ms {short.text('%', PERCENT)}, {usual.text('%', PERCENT)} and "
        f"{long.text('%', PERCENT)}; of 120 octets by global title {by_title.text('%', PERCENT)}",
        (
            *(
                Part(
                    f"lost at {trip} ms, {octets} octets",
                    accepted,
                    late(cases.emulated(trip, octets)),
                    "%",
                    PERCENT,
                )
                for octets in LENGTHS
                for trip, accepted in ((below, none(NO_LOSS)), (above, at_least(NO_LOSS)))
            ),
            Part("lost at 700 ms, 60 octets less 270", none(ALIKE), short.less(long), "%", PERCENT),
            Part("lost at 700 ms, by title less by code", none(ALIKE), by_title.less(usual), "%", PERCENT),
        ),
        "One load, 0.349 Erlang, for all. A message takes 28 octets of the window beside its own, so that "
        "short ones fill it at a lesser round trip. By global title more is lost once there is congestion: "
        "SCCP of the gateways holds traffic back then (Q.714, 2.6), and counts it.",
    )


def _s6(results: Results) -> Finding:
    claim = Claim("S6", "MB9-SAT on the emulator, a step to 30 Erlang, 0 to 700 ms", "no congestion")
    shares = {trip: lost(results, cases.stepped_up(trip), 80, 135) for trip in cases.SAT_ROUND_TRIPS_MS}
    return Finding(
        claim,
        f"{max(share.mean for share in shares.values()):.1%} lost at most",
        [Part(f"lost at {trip} ms", none(NO_LOSS), share, "%", PERCENT) for trip, share in shares.items()],
        "Lines are loaded to 0.95, for a line at 1 queues without end before any gateway.",
    )


def _s7(results: Results) -> Finding:
    claim = Claim("S7", "MB9-SAT on the satellite, 5 % above PAMA", "50 % lost; clears at 50 % of PAMA")
    ours: list[str] = []
    parts: list[Part] = []
    for permanent in cases.PERMANENT_KBIT:
        own = _collapse(results, permanent)
        parts += own
        ours.append(
            f"{permanent}: {own[0].told()}, over at {own[1].found.told(' %', PERCENT).split(': ')[-1]}"
        )
    third, over = worst(results, cases.bounded())[1], clears_at(results, cases.bounded())
    without = max(
        lost(results, cases.varied(p, 0, cases.RTO_MAX_S), 130, 195).mean for p in cases.PERMANENT_KBIT
    )
    return Finding(
        claim,
        "; ".join(ours),
        parts,
        "Each message crosses n times, so that what arrives is the whole band over n. Told, not judged: "
        f"with 250 kbit/s on demand PAMA 1,024 loses {third.text('%', PERCENT)}, and it is over at "
        f"{'less than 40 %' if over is None else f'{over:.0%}'}. Without an interruption "
        f"{without:.1%} are lost: it is the cause.",
    )


def _collapse(results: Results, permanent_kbit: int) -> tuple[Part, Part]:
    """Judge the runs that collapse, which the paper shows: what they lose, and where it is over."""
    case = cases.collapse(permanent_kbit)
    from_s, to_s = cases.RISE_S + 30, cases.FALL_S - 5
    runs = results.figures(case)
    collapsed = [run for run in runs if max(run.loss(case, from_s, to_s), *_falls(run, case)) > COLLAPSED]
    lost_most = [max(run.loss(case, from_s, to_s), *_falls(run, case)) for run in collapsed]
    over = [
        next(
            (part for part, share in zip(cases.FALLS, _falls(run, case), strict=True) if share < NO_LOSS), 0.0
        )
        for run in collapsed
    ]
    return (
        Part(f"lost at most, PAMA {permanent_kbit}", about(0.5), Kind.of(lost_most, len(runs)), "%", PERCENT),
        Part(
            f"load at which it is over, PAMA {permanent_kbit}",
            about(0.5),
            Kind.of(over, len(runs)),
            "%",
            PERCENT,
        ),
    )


def _falls(run: RunFigures, case: Case) -> list[float]:
    """Give the share that is lost at each step of the fall."""
    begins = [cases.FALL_S + cases.FALL_EVERY_S * number for number in range(len(cases.FALLS))]
    return [run.loss(case, begin + SETTLE_S, begin + cases.FALL_EVERY_S) for begin in begins]


def _s8(_: Results) -> Finding:
    claim = Claim("S8", "equations 1 to 3: 384,000 bytes, 650 ms", "about 4,600 kbit/s: case A")
    injected = 8 * 384_000 / 0.650 / 1e3
    part = Part("injected band by equation 1", about(4600), Estimate.exact(injected), "kbit/s")
    return Finding(claim, f"{injected:.0f} kbit/s: case A", (part,), "The paper prints 4,600 for 4,726.")


def _s9(results: Results) -> Finding:
    claim = Claim("S9", "154,000 bytes, PAMA 2,048, no DAMA", "650 to 750 ms; 1,910 kbit/s; no collapse")
    case = cases.LIMITED["b"]
    top = results.estimate(case, lambda run: highest(run, cases.STEP_S, case.stop_s))
    light = _round_trip(results, case, START + SETTLE_S, START + cases.STEP_EVERY_S)
    near = _round_trip(results, case, *cases.NEAR_PERMANENT_S)
    repeated = results.estimate(case, lambda run: float(run.repeated.sum()))
    return Finding(
        claim,
        f"{light.text('ms', 1e3)} to {near.text('ms', 1e3)}; {top.text('kbit/s')}; "
        f"{repeated.text('chunks')} retransmitted",
        (
            Part("round trip under 0.68 Erlang", about(0.650), light, "ms", 1e3),
            Part("round trip near PAMA, 0.8675 Erlang", about(0.750), near, "ms", 1e3),
            Part("highest band over 10 s", about(1910), top, "kbit/s"),
            Part("chunks retransmitted", none(1.0), repeated),
        ),
        "A hypothesis: the rise of the trial lies in its terminal, of which the paper says nothing.",
    )


def _round_trip(results: Results, case: Case, from_s: float, to_s: float) -> Estimate:
    return results.estimate(case, lambda run: float(run.between(run.srtt_s, from_s, to_s).mean()))


def _s10(results: Results) -> Finding:
    claim = Claim(
        "S10", "the same with 250 kbit/s of DAMA, steps of 130 kbit/s", "case C; held at 2,100 kbit/s"
    )
    return _held(results, claim, cases.LIMITED["c"])


def _s11(results: Results) -> Finding:
    claim = Claim("S11", "the same with 60 octets", "held around 2,100 kbit/s")
    return _held(results, claim, cases.LIMITED["c-60"])


def _held(results: Results, claim: Claim, case: Case) -> Finding:
    top = results.estimate(case, lambda run: highest(run, cases.STEP_S, case.stop_s))
    last = band(results, case, case.stop_s - 25, case.stop_s)
    repeated = results.estimate(case, lambda run: float(run.repeated.sum()))
    return Finding(
        claim,
        f"{top.text('kbit/s')} at most, {last.text('kbit/s')} at the end; "
        f"{repeated.text('chunks')} retransmitted",
        (
            Part("highest band over 10 s", about(2100), top, "kbit/s"),
            Part("band in the last 25 s", about(2100), last, "kbit/s"),
        ),
    )


def _s12(results: Results) -> Finding:
    claim = Claim("S12", "PAMA 1,024: steps of 190 and of 250 kbit/s", "case B; driven to case A")
    from_s, to_s = 70, 88
    shares = {name: lost(results, cases.LIMITED[name], from_s, to_s) for name in ("190", "250")}
    runs = results.figures(cases.LIMITED["250"])
    collapsed = [loss for run in runs if (loss := run.loss(cases.LIMITED["250"], from_s, to_s)) > COLLAPSED]
    return Finding(
        claim,
        ", ".join(f"{share.text('%', PERCENT)} lost" for share in shares.values()),
        (
            Part("lost behind a step of 190 kbit/s", none(NO_LOSS), shares["190"], "%", PERCENT),
            Part("lost behind a step of 250 kbit/s", about(0.5), Kind.of(collapsed, len(runs)), "%", PERCENT),
        ),
        "The gateway has room for 8,000 messages, of which equation 5 knows nothing. The largest step has a "
        "figure of its own (`--largest-step`).",
    )


def _s13(results: Results) -> Finding:
    claim = Claim(
        "S13", "equation 7: windows of associations add up", "NA = 2 doubles; 8 × 64,000 as 1 × 512,000"
    )

    def over(pair: tuple[int, int], other: tuple[int, int]) -> Estimate:
        runs = [results.figures(cases.associations(*each)) for each in (pair, other)]
        return Estimate.of(
            [one.ethernet_kbit(60, 105) / two.ethernet_kbit(60, 105) for one, two in zip(*runs, strict=False)]
        )

    double, alike = over((2, 64_000), (1, 64_000)), over((8, 16_000), (1, 128_000))
    eight, single = (lost(results, cases.equivalent(*each), 130, 195) for each in cases.EQUIVALENT)
    return Finding(
        claim,
        f"× {double.mean:.2f}; 8 × 16,000 over 1 × 128,000: {alike.mean:.2f}; 5 % above PAMA 8 × 64,000 lose "
        f"{eight.text('%', PERCENT)}, 1 × 512,000 {single.text('%', PERCENT)}",
        (
            Part("band, 2 × 64,000 over 1 × 64,000", about(2), double),
            Part("band, 8 × 16,000 over 1 × 128,000", about(1), alike),
            Part("lost, 8 × 64,000 less 1 × 512,000", none(ALIKE), eight.less(single), "%", PERCENT),
        ),
        "The paper prints 516,000 for 512,000.",
    )


FINDINGS: Mapping[str, Callable[[Results], Finding]] = {
    "S1": _s1,
    "S2": _s2,
    "S3": _s3,
    "S4": _s4,
    "S5": _s5,
    "S6": _s6,
    "S7": _s7,
    "S8": _s8,
    "S9": _s9,
    "S10": _s10,
    "S11": _s11,
    "S12": _s12,
    "S13": _s13,
}
"""The finding of each claim, from the runs."""


@dataclass(frozen=True, slots=True)
class Grown:
    """What a step leaves outstanding, beside equations 4 and 5."""

    plan_ms: int
    step_kbit: int
    allocation_s: Estimate
    outstanding_bytes: Estimate
    equation_4_bytes: float
    equation_5_bytes: float


def against_equation_5(results: Results) -> Sequence[Grown]:
    """Hold what a step leaves outstanding to the equations, for each time between plans and each step."""
    return [_grown(results, plan, step) for plan in cases.PLANS_MS for step in cases.STEPS_KBIT]


def _grown(results: Results, plan_ms: int, step_kbit: int) -> Grown:
    case = cases.growth(plan_ms, step_kbit)
    runs = results.figures(case)
    allocation = Estimate.of([run.allocation_s for run in runs if run.allocation_s is not None])
    before = float(np.mean([run.between(run.outstanding_bytes, 50, cases.STEP_S).mean() for run in runs]))
    # What is outstanding before is load times round trip.
    added, beyond = (bits / 8 * WINDOW for bits in (step_kbit * 1e3, step_kbit * 1e3 - _room_bit_per_s()))
    fourth = before + added * cases.ROUND_TRIP_S
    return Grown(
        plan_ms,
        step_kbit,
        allocation,
        results.estimate(case, growth_bytes),
        fourth,
        fourth + max(0.0, beyond) * allocation.mean,
    )


def _room_bit_per_s() -> float:
    """Give what is left of the permanent band before the step, in signalling bits."""
    return (1 - cases.BEFORE_STEP) * cases.PERMANENT_KBIT[1024] * cases.LINKS * cases.LINE_BIT_PER_S
