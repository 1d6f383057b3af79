//! Number of independent observations that a wanted precision takes.

use super::moments::Moments;
use super::student::student_t_quantile;

/// Half width that the interval of a mean is to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WantedPrecision {
    /// In the unit of the observations.
    Absolute(f64),
    /// Part of the mean.
    Relative(f64),
}

/// Rule that says how many observations are enough. It makes a first sample, asks that for the number that the wanted
/// interval takes (Stein, Annals of Mathematical Statistics 16(3), 1945), and looks again when those are made. Few
/// looks keep the level of the interval: it is not judged after each observation, where it would end on a narrow one by
/// luck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRule {
    /// Half width that is wanted.
    pub precision: WantedPrecision,
    /// Confidence level of the interval.
    pub level: f64,
}

impl StoppingRule {
    /// Observations of the first sample. A variance is known to a quarter then.
    pub const FIRST: u64 = 30;
    /// Greatest growth of the sample between two looks, since the first variance may be far from the true one.
    const GROWTH: u64 = 8;

    /// Number of observations in all that is to be made next, after those of which these are the moments; as many as
    /// there are if they are enough.
    pub fn wanted(&self, moments: &Moments) -> u64 {
        let count = moments.count();
        if count < Self::FIRST {
            return Self::FIRST;
        }
        let (Some(mean), Some(deviation)) = (moments.mean(), moments.standard_deviation()) else {
            return count;
        };
        if deviation == 0.0 {
            return count;
        }
        let most = count.saturating_mul(Self::GROWTH);
        let half_width = match self.precision {
            WantedPrecision::Absolute(width) => width,
            WantedPrecision::Relative(part) => part * mean.abs(),
        };
        let t = student_t_quantile(f64::midpoint(1.0, self.level), (count - 1) as f64);
        let needed = t * deviation / half_width;
        let needed = libm::ceil(needed * needed);
        if needed <= count as f64 {
            return count;
        }
        // No sample is larger than the machine counts to: the cast saturates. A half width of zero gives infinity.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number saturates"
        )]
        let needed = needed as u64;
        needed.clamp(count + 1, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(precision: WantedPrecision) -> StoppingRule {
        StoppingRule { precision, level: 0.99 }
    }

    fn moments(observations: impl IntoIterator<Item = f64>) -> Moments {
        let mut moments = Moments::default();
        moments.extend(observations);
        moments
    }

    #[test]
    fn a_first_sample_is_made_in_any_case_and_says_how_many_are_needed() {
        let precision = WantedPrecision::Absolute(0.1);
        assert_eq!(rule(precision).wanted(&moments([1.0; 29])), 30);
        assert_eq!(rule(precision).wanted(&moments([1.0; 30])), 30);
        // Deviation 1.017; t(0.995, 29) = 2.756: (2.756 * 1.017 / 0.1)² = 786.
        let coins = (0..30).map(|number| f64::from(number % 2) * 2.0);
        assert_eq!(rule(WantedPrecision::Absolute(0.2)).wanted(&moments(coins.clone())), 197);
        // The mean is 1: the same as a part of it. Of more than eight times as many it is not sure yet.
        assert_eq!(rule(WantedPrecision::Relative(0.2)).wanted(&moments(coins.clone())), 197);
        assert_eq!(rule(WantedPrecision::Relative(0.1)).wanted(&moments(coins)), 240);
    }

    #[test]
    fn a_mean_of_zero_has_no_relative_precision_and_the_sample_only_grows() {
        let signs = (0..30).map(|number| f64::from(number % 2) * 2.0 - 1.0);
        assert_eq!(rule(WantedPrecision::Relative(0.5)).wanted(&moments(signs)), 240);
    }

    /// A generator that is good enough to draw samples from: splitmix64.
    struct Draws(u64);

    impl Draws {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// Share of experiments whose interval holds the true mean, of experiments that end by the rule.
    fn coverage(precision: WantedPrecision, truth: f64, draw: impl Fn(&mut Draws) -> f64) -> f64 {
        let experiments = 2_000;
        let mut draws = Draws(7);
        let mut covered = 0;
        for _ in 0..experiments {
            let mut moments = Moments::default();
            loop {
                let wanted = rule(precision).wanted(&moments);
                if wanted == moments.count() {
                    break;
                }
                while moments.count() < wanted {
                    moments.push(draw(&mut draws));
                }
            }
            let interval = moments.interval(0.99).unwrap();
            let width = match precision {
                WantedPrecision::Absolute(width) => width,
                WantedPrecision::Relative(part) => part * interval.mean.abs(),
            };
            assert!(interval.half_width <= width * 1.000_001, "{interval:?}");
            covered += u32::from((interval.low()..=interval.high()).contains(&truth));
        }
        f64::from(covered) / f64::from(experiments)
    }

    /// 2,000 experiments tell a share of 0.99 to within 0.006 (three deviations and more).
    #[test]
    fn intervals_that_end_by_the_rule_hold_the_true_mean_as_often_as_they_say() {
        use WantedPrecision::{Absolute, Relative};
        let normal = |draws: &mut Draws| {
            let radius = libm::sqrt(-2.0 * libm::log(1.0 - draws.next()));
            10.0 + radius * libm::cos(core::f64::consts::TAU * draws.next())
        };
        let exponential = |draws: &mut Draws| -libm::log(1.0 - draws.next());
        // As failovers are that wait for one time-out or for two.
        let of_two_kinds = |draws: &mut Draws| if draws.next() < 0.3 { 3.0 } else { 1.0 };
        for (found, case) in [
            (coverage(Absolute(0.2), 10.0, normal), "normal"),
            (coverage(Relative(0.1), 1.0, exponential), "exponential"),
            (coverage(Relative(0.05), 1.6, of_two_kinds), "of two kinds"),
        ] {
            assert!(found >= 0.984, "{case}: {found}");
        }
    }
}
