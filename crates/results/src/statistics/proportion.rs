//! A share of trials, and how far the true one may lie from it.

use super::student::incomplete_beta;

/// A share of independent trials with its exact interval (Clopper and Pearson, Biometrika 26(4), 1934).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportion {
    /// Trials that succeeded.
    pub successes: u64,
    /// Number of all trials.
    pub trials: u64,
    /// Least share that the trials allow.
    pub low: f64,
    /// Greatest share that they allow.
    pub high: f64,
}

impl Proportion {
    /// Interval of this level, for example 0.99. `None` without a trial, or if more succeeded than were made.
    ///
    /// # Panics
    /// If `level` does not lie between 0 and 1, ends excluded.
    pub fn new(successes: u64, trials: u64, level: f64) -> Option<Self> {
        assert!(level > 0.0 && level < 1.0, "a level lies between 0 and 1");
        if trials == 0 || successes > trials {
            return None;
        }
        let tail = (1.0 - level) / 2.0;
        let (hits, misses) = (successes as f64, (trials - successes) as f64);
        // The chance of at least so many successes is I(p; hits, misses + 1): it grows with p.
        let low = if successes == 0 {
            0.0
        } else {
            solve(|share| incomplete_beta(share, hits, misses + 1.0) >= tail)
        };
        let high = if successes == trials {
            1.0
        } else {
            solve(|share| incomplete_beta(share, hits + 1.0, misses) >= 1.0 - tail)
        };
        Some(Self { successes, trials, low, high })
    }

    /// Share of trials that succeeded.
    pub fn share(&self) -> f64 {
        self.successes as f64 / self.trials as f64
    }
}

/// The share from which on something holds that holds of 1 and not of 0.
fn solve(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return high;
        }
        if holds(middle) { high = middle } else { low = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Of none or all of 30 the bounds are powers: 1 - 0.005^(1/30).
        for (successes, trials, level, low, high) in [
            (97, 100, 0.95, 0.914_824_07, 0.993_770_15),
            (5, 10, 0.95, 0.187_086_03, 0.812_913_97),
            (0, 30, 0.99, 0.0, 0.161_893_90),
            (30, 30, 0.99, 0.838_106_10, 1.0),
        ] {
            let found = Proportion::new(successes, trials, level).unwrap();
            let near = |value: f64, wanted: f64| (value - wanted).abs() < 1e-6;
            assert!(near(found.low, low) && near(found.high, high), "{found:?}");
        }
        assert_eq!(Proportion::new(0, 0, 0.99), None);
        assert_eq!(Proportion::new(2, 1, 0.99), None);
        assert!((Proportion::new(1, 4, 0.99).unwrap().share() - 0.25).abs() < 1e-12);
    }

    /// Whatever the share is, the interval holds it at least as often as its level says.
    #[test]
    fn intervals_cover_the_share_as_often_as_they_say() {
        let trials = 40_u32;
        for share in [0.01, 0.1, 0.37, 0.5, 0.93, 0.99] {
            let mut chance = libm::pow(1.0 - share, f64::from(trials));
            let mut covered = 0.0;
            for successes in 0..=trials {
                let found = Proportion::new(successes.into(), trials.into(), 0.99).unwrap();
                if (found.low..=found.high).contains(&share) {
                    covered += chance;
                }
                chance *= f64::from(trials - successes) / f64::from(successes + 1) * share / (1.0 - share);
            }
            assert!((0.99..1.000_001).contains(&covered), "{share}: {covered}");
        }
    }
}
