//! Roots that cannot be overlooked: a march whose steps are bounded by the greatest curvature.
//!
//! From a point with value f and slope f′, a function whose second derivative never exceeds M in size keeps
//! its sign for at least h = (f′ + √(f′² + 2 M f)) / M (for f > 0). Steps of that length pass over quiet
//! stretches in minutes, close in on a root quadratically, and pass over no pair of roots however short, down
//! to the resolution at which they stop shrinking.

/// A function's value and slope at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) value: f64,
    pub(crate) slope: f64,
}

/// The least step, seconds: two roots closer than this may be overlooked.
pub(crate) const RESOLUTION: f64 = 2e-4;
/// A crossing is located to this, seconds.
const PRECISION: f64 = 1e-7;

/// The intervals of `from..to` in which a function is not negative, in order. `curvature_max` bounds its
/// second derivative.
pub(crate) fn positive_intervals(
    mut f: impl FnMut(f64) -> Sample,
    curvature_max: f64,
    (from, to): (f64, f64),
) -> Vec<(f64, f64)> {
    let mut intervals = Vec::new();
    let mut march = March { f: &mut f, curvature: curvature_max, to };
    let mut here = from;
    let mut sample = (march.f)(here);
    while here < to {
        let began = here;
        let positive = sample.value >= 0.0;
        (here, sample) = march.next_crossing(here, sample);
        if positive {
            intervals.push((began, here));
        }
    }
    intervals
}

/// The first time after `from` at which a function is not negative, if it is before `to`.
pub(crate) fn first_positive(
    mut f: impl FnMut(f64) -> Sample,
    curvature_max: f64,
    (from, to): (f64, f64),
) -> Option<f64> {
    let sample = f(from);
    if sample.value >= 0.0 {
        return Some(from);
    }
    let (at, sample) = March { f: &mut f, curvature: curvature_max, to }.next_crossing(from, sample);
    (sample.value >= 0.0).then_some(at)
}

struct March<'f, F> {
    f: &'f mut F,
    curvature: f64,
    to: f64,
}

impl<F: FnMut(f64) -> Sample> March<'_, F> {
    /// The next time at which the sign differs from that at `here`, with a sample just beyond it; or the end.
    fn next_crossing(&mut self, mut here: f64, mut sample: Sample) -> (f64, Sample) {
        let positive = sample.value >= 0.0;
        let sign = if positive { 1.0 } else { -1.0 };
        loop {
            let (value, slope) = (sign * sample.value, sign * sample.slope);
            let safe =
                (slope + (slope * slope + 2.0 * self.curvature * value.max(0.0)).sqrt()) / self.curvature;
            let next = (here + safe.max(RESOLUTION)).min(self.to);
            let beyond = (self.f)(next);
            if (beyond.value >= 0.0) != positive {
                return self.close_in((here, sample), (next, beyond), positive);
            }
            if next >= self.to {
                return (self.to, beyond);
            }
            (here, sample) = (next, beyond);
        }
    }

    /// Bisection between two points of different sign, by the secant where that stays well inside.
    fn close_in(
        &mut self,
        mut left: (f64, Sample),
        mut right: (f64, Sample),
        positive: bool,
    ) -> (f64, Sample) {
        while right.0 - left.0 > PRECISION {
            let width = right.0 - left.0;
            let secant = left.0 + width * left.1.value / (left.1.value - right.1.value);
            // Half a precision to the far side, so that both ends close in on the root.
            let guess = if secant - left.0 < 0.5 * width {
                secant + 0.4 * PRECISION
            } else {
                secant - 0.4 * PRECISION
            };
            let inside = guess > left.0 && guess < right.0 && width < 1.0;
            let middle = if inside { guess } else { left.0 + 0.5 * width };
            let sample = (self.f)(middle);
            if (sample.value >= 0.0) == positive {
                left = (middle, sample);
            } else {
                right = (middle, sample);
            }
            if right.0 - left.0 > 0.5 * width {
                // The secant crawls along a curve: take the half as well.
                let middle = 0.5 * (left.0 + right.0);
                let sample = (self.f)(middle);
                if (sample.value >= 0.0) == positive {
                    left = (middle, sample);
                } else {
                    right = (middle, sample);
                }
            }
        }
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sines_are_cut_where_they_cross(
            amplitude in 0.1..10.0_f64, rate in 1e-3..0.1_f64, phase in 0.0..6.2_f64, share in -0.999..0.999_f64,
        ) {
            let level = amplitude * share;
            let f = |t: f64| {
                let (sine, cosine) = libm::sincos(rate * t + phase);
                Sample { value: amplitude * sine - level, slope: amplitude * rate * cosine }
            };
            let mut calls = 0;
            let counted = |t: f64| { calls += 1; f(t) };
            let found = positive_intervals(counted, amplitude * rate * rate, (0.0, 2_000.0));
            for &(start, end) in &found {
                for t in [start, end].into_iter().filter(|t| (1e-3..1_999.999).contains(t)) {
                    prop_assert!(f(t).value.abs() <= amplitude * rate * 2e-7);
                }
            }
            // Against the closed form: the length of time above the level.
            let dense = 200_000;
            let above = (0..dense).filter(|&k| f((f64::from(k) + 0.5) * 0.01).value >= 0.0).count() as f64 * 0.01;
            let sum: f64 = found.iter().map(|(start, end)| end - start).sum();
            prop_assert!((sum - above).abs() < 0.05 * (1.0 + found.len() as f64), "{sum} {above}");
            let turns = 2_000.0 * rate / 6.0 + 2.0;
            prop_assert!(f64::from(calls) < 60.0 * turns, "{calls} calls for {turns} turns");
        }
    }

    #[test]
    fn a_bump_of_half_a_millisecond_is_not_overlooked() {
        // 1e-7 − (t − 500.00123)² · 1.6 is positive for 0.5 ms; the curvature bound is ten times too wide.
        let f = |t: f64| {
            let x = t - 500.001_23;
            Sample { value: 1e-7 - 1.6 * x * x, slope: -3.2 * x }
        };
        let found = positive_intervals(f, 32.0, (0.0, 1_000.0));
        assert_eq!(found.len(), 1);
        assert!((found[0].1 - found[0].0 - 5e-4).abs() < 1e-6);
    }

    #[test]
    fn a_function_that_never_changes_costs_a_few_steps() {
        let mut calls = 0;
        let f = |_| {
            calls += 1;
            Sample { value: 1.0, slope: 0.0 }
        };
        assert_eq!(positive_intervals(f, 1e-6, (0.0, 5_000.0)), vec![(0.0, 5_000.0)]);
        assert!(calls < 6);
    }
}
