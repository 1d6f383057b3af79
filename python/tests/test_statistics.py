"""The engine's statistics, seen from Python."""

from __future__ import annotations

import math
import statistics

import pytest

import slantpath


def test_the_interval_of_a_mean_is_students() -> None:
    sample = [0.771, 0.765, 0.768, 0.770]
    mean, half_width = slantpath.mean_interval(sample, level=0.99)
    assert mean == pytest.approx(statistics.mean(sample))
    assert half_width == pytest.approx(5.8409 * statistics.stdev(sample) / 2, rel=1e-4)


def test_one_observation_says_nothing_about_the_spread() -> None:
    assert slantpath.mean_interval([3.0]) == (3.0, math.inf)


def test_what_has_no_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one observation"):
        slantpath.mean_interval([])
    with pytest.raises(ValueError, match="between 0 and 1, not at 99"):
        slantpath.mean_interval([1.0], level=99)
    with pytest.raises(ValueError, match="at least one observation"):
        slantpath.quantile([], 0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        slantpath.quantile([1.0], 1.5)


def test_quantiles_interpolate() -> None:
    assert slantpath.quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
