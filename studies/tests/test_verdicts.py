"""The rule of verdicts: what agrees, what differs, and what is undecided."""

from __future__ import annotations

import math

import pytest

from slantpath import student_t_quantile
from slantpath_studies.claims import (
    GROWS,
    Accepted,
    Claim,
    Estimate,
    Extreme,
    Finding,
    Kind,
    Outcome,
    Part,
    Role,
    SingleRuns,
    Steps,
    Verdict,
    about,
    at_least,
    at_most,
    between,
    combined,
    less_than,
    more_than,
    none,
    runs_of_a_distribution,
    share_interval,
)
from slantpath_studies.report import rests_on

AGREES, DIFFERS, UNDECIDED = Verdict.AGREES, Verdict.DIFFERS, Verdict.UNDECIDED


def verdict(estimate: Estimate, accepted: Accepted) -> Verdict:
    return estimate.judged(accepted).verdict


def test_a_published_value_is_accepted_within_a_tenth_and_a_range_within_a_tenth_of_each_end() -> None:
    assert about(920) == Accepted(828, 1012)
    assert about(-50) == Accepted(-55, -45)
    assert about(1.0, 0.03) == Accepted(0.97, 1.03)
    assert between(40, 70) == Accepted(36, 77)
    assert none(0.05) == Accepted(-0.05, 0.05)
    assert (at_least(850), at_most(800)) == (Accepted(850, math.inf), Accepted(-math.inf, 800))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (828, 1012, AGREES),
        (900, 940, AGREES),
        (827.9, 940, UNDECIDED),
        (900, 1012.1, UNDECIDED),
        (700, 828, UNDECIDED),
        (700, 827.9, DIFFERS),
        (1012.1, 1100, DIFFERS),
        (700, 1100, UNDECIDED),
    ],
)
def test_the_whole_interval_must_lie_within_what_is_accepted_or_outside(
    low: float, high: float, expected: Verdict
) -> None:
    assert verdict(Estimate((low + high) / 2, (high - low) / 2, 40), about(920)) is expected


def test_a_single_run_that_draws_at_random_decides_nothing() -> None:
    for published in (1.0, 1e9):
        assert Estimate.of([1.0]).judged(about(published)) == Outcome(UNDECIDED)
    assert verdict(Estimate.exact(1.0), about(1.05)) is AGREES
    assert verdict(Estimate.exact(1.0), about(1e9)) is DIFFERS
    assert Estimate.of([]).judged(about(1.0)) == Outcome(UNDECIDED)


def test_noise_is_not_rewarded() -> None:
    assert Estimate(1221, 13942, 2).judged(about(920)) == Outcome(UNDECIDED, 19)
    assert verdict(Estimate(1640, 556, 3), about(2100)) is UNDECIDED
    assert verdict(Estimate(1643, 131, 9), about(2100)) is DIFFERS


def test_the_number_of_runs_that_would_decide_follows_from_the_deviation() -> None:
    estimate = Estimate.of([8.0, 12.0, 9.0, 13.0])
    deviation = math.sqrt(sum((each - 10.5) ** 2 for each in (8, 12, 9, 13)) / 3)
    _, runs = estimate.judged(about(10.0))
    assert runs is not None

    def half_width(count: int) -> float:
        return student_t_quantile(0.995, count - 1) * deviation / math.sqrt(count)

    # The mean lies 0.5 below the upper bound of 11.
    assert half_width(runs) <= 0.5 < half_width(runs - 1)
    # At the bound itself no number of runs decides.
    assert Estimate(11.0, 2.0, 9).judged(about(10.0)) == Outcome(UNDECIDED)


def test_what_must_be_more_is_not_equal() -> None:
    assert verdict(Estimate.exact(1.0), at_least(1.0)) is AGREES
    assert verdict(Estimate.exact(1.0), more_than(1.0)) is DIFFERS
    assert verdict(Estimate.exact(1.0), less_than(1.0)) is DIFFERS
    assert verdict(Estimate(1.1, 0.1, 5), more_than(1.0)) is UNDECIDED
    assert (more_than(1.0).text(), at_most(1.0).text()) == ("more than 1.0000", "at most 1.0000")


def test_a_mean_that_is_infinite_misses_a_bound() -> None:
    never = Estimate(math.inf, math.nan, 6)
    assert verdict(never, at_most(8.0)) is DIFFERS
    assert verdict(never, at_least(8.0)) is AGREES


def test_a_paper_s_single_run_is_held_to_the_distribution_of_single_runs() -> None:
    def judged(observations: list[float], published: float) -> Outcome:
        return SingleRuns.of(observations).judged(Accepted(published, published))

    wide = [0.20, 0.25, 0.22, 0.28, 0.21, 0.26, 0.24, 0.23]
    assert judged(wide, 0.27) == Outcome(AGREES)
    assert judged(wide, 0.40) == Outcome(DIFFERS)
    # Two runs predict everything: that agrees with nothing.
    assert judged(wide[:2], 0.27) == Outcome(UNDECIDED, 8)
    assert judged(wide[:1], 9.9) == Outcome(UNDECIDED, 8)
    assert judged([0.200, 0.201, 0.202], 0.27) == Outcome(DIFFERS)


def test_the_interval_of_one_more_run_is_that_of_student() -> None:
    single = SingleRuns.of([1.0, 3.0])
    half = student_t_quantile(0.995, 1) * math.sqrt(2) * math.sqrt(1.5)
    assert (single.mean, single.half_width, single.runs) == pytest.approx((2.0, half, 2))
    assert "off would show" in single.told(" s", 1.0)


def test_a_distribution_is_known_from_eight_runs_on() -> None:
    assert runs_of_a_distribution() == 8


def test_of_two_kinds_of_runs_the_figure_is_judged_within_the_one_that_is_published() -> None:
    kind = Kind.of([0.49, 0.50, 0.51], 9)
    assert kind.judged(about(0.5)) == Outcome(UNDECIDED, 12)
    assert Kind.of([0.499, 0.500, 0.501], 9).judged(about(0.5)) == Outcome(AGREES)
    assert Kind.of([0.299, 0.300, 0.301], 9).judged(about(0.5)) == Outcome(DIFFERS)
    assert Kind.of([], 9).judged(about(0.5)) == Outcome(DIFFERS)
    assert Kind.of([0.5], 9).judged(about(0.5)) == Outcome(UNDECIDED)
    assert Kind.of([], 1).judged(about(0.5)) == Outcome(UNDECIDED)
    assert kind.told(" %", 100).startswith("3 of 9 runs (4 to 78 %): ")


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(0, 9, 0.0, 0.4450), (9, 9, 0.5550, 1.0), (3, 9, 0.0415, 0.7809), (1, 2, 0.0025, 0.9975)],
)
def test_a_share_has_the_interval_of_clopper_and_pearson(
    count: int, of: int, low: float, high: float
) -> None:
    assert share_interval(count, of) == pytest.approx((low, high), abs=1e-4)


def steps(*ends: tuple[float, float], half_width: float = 0.1) -> Steps:
    return Steps.of([(Estimate(a, half_width, 5), Estimate(b, half_width, 5)) for a, b in ends])


def test_only_certain_steps_say_whether_a_line_grows() -> None:
    rise, fall, flat = (1.0, 2.0), (2.0, 1.0), (1.0, 0.95)
    assert steps(*[rise] * 8, *[flat] * 20).judged(GROWS) == Outcome(AGREES)
    assert steps(*[rise] * 7, *[flat] * 20).judged(GROWS) == Outcome(UNDECIDED)
    assert steps(*[rise] * 18, fall).judged(GROWS) == Outcome(AGREES)
    assert steps(*[rise] * 8, fall).judged(GROWS) == Outcome(UNDECIDED)
    assert steps(*[fall] * 3).judged(GROWS) == Outcome(DIFFERS)
    assert steps(*[fall] * 8).falling().judged(GROWS) == Outcome(AGREES)
    assert steps(*[flat] * 50).judged(GROWS) == Outcome(UNDECIDED)
    # A step of exactly both intervals together is not certain.
    assert steps((0.0, math.hypot(0.5, 0.5)), half_width=0.5).certain == 0


def test_one_run_below_a_bound_refutes_it_and_one_run_above_does_not_bear_it_out() -> None:
    bound = Accepted(0.883, 0.957)
    assert Extreme(0.882, 1).judged(bound) == Outcome(DIFFERS)
    assert Extreme(0.894, 1).judged(bound) == Outcome(UNDECIDED, 2)
    assert Extreme(0.894, 2).judged(bound) == Outcome(AGREES)
    assert Extreme(1.2, 20).judged(bound) == Outcome(UNDECIDED)
    assert Extreme(math.inf, 20).judged(bound) == Outcome(UNDECIDED)


def test_a_claim_differs_if_any_figure_does_and_agrees_if_all_do() -> None:
    assert combined([AGREES, AGREES]) is AGREES
    assert combined([AGREES, UNDECIDED]) is UNDECIDED
    assert combined([UNDECIDED, DIFFERS, AGREES]) is DIFFERS
    assert combined([]) is Verdict.NOT_MEASURED
    assert combined([AGREES], Role.AIM) is Verdict.MET
    assert combined([DIFFERS], Role.AIM) is Verdict.MISSED
    assert combined([UNDECIDED], Role.AIM) is UNDECIDED


def test_a_finding_says_how_many_runs_would_decide_and_what_was_put_in() -> None:
    few = Part("delay", about(10.0), Estimate.of([8.0, 12.0, 9.0, 13.0]), "ms")
    exact = Part("throughput", about(52e3), Estimate.exact(51e3), "KByte/s", 1e-3)
    undecided = Finding(Claim("X1", "a delay", "10 ms"), "", [few, exact])
    needed = few.outcome.runs
    assert undecided.judged() == f"undecided ({needed} runs would decide)"
    assert Finding(Claim("X2", "a throughput", "52", Role.INPUT), "", [exact]).judged() == "agrees (input)"
    assert Finding(Claim("X3", "security", "so", Role.NOT_MEASURED), "", []).judged() == "not measured"
    assert rests_on([undecided]).rows == [
        ("X1", "delay", "9.0000 to 11.000 ms", f"{few.told()}", f"undecided ({needed} runs would decide)"),
        ("X1", "throughput", "46.800 to 57.200 KByte/s", "51.000 KByte/s (exact)", "agrees"),
    ]


def test_an_estimate_is_told_so_that_its_verdict_can_be_made_again() -> None:
    assert Estimate(1.2744, 0.1123, 40).told(" ms", 1e3) == "1274 ± 112 ms (40 runs)"
    assert Estimate(0.5, 0.00012, 3).told("", 1.0) == "0.500000 ± 0.000120 (3 runs)"
    assert Estimate.of([2.0]).told(" s", 1.0) == "2.0000 ± ? s (1 run)"
    assert Estimate.of([]).told(" s", 1.0) == "no run has it"
