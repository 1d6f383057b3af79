//! The average over time of a value that changes in steps: a queue's length, a window.

use slantpath_base::{Duration, Instant};

use super::moments::WeightedMean;

/// Averages a step function of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeWeighted {
    since: Instant,
    value: f64,
    mean: WeightedMean,
    least: f64,
    greatest: f64,
}

impl TimeWeighted {
    /// Begins at `now` with `value`. Beginning at the end of the warm-up leaves the warm-up out.
    pub fn new(now: Instant, value: f64) -> Self {
        Self { since: now, value, mean: WeightedMean::default(), least: value, greatest: value }
    }

    /// The value changes to `value` at `now`.
    ///
    /// # Panics
    /// If `now` is before the last change.
    pub fn set(&mut self, now: Instant, value: f64) {
        self.hold(now);
        self.value = value;
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// The average from the beginning to `now`; the present value if no time has passed.
    ///
    /// # Panics
    /// If `now` is before the last change.
    pub fn mean(mut self, now: Instant) -> f64 {
        self.hold(now);
        self.mean.mean().unwrap_or(self.value)
    }

    /// The least value so far.
    pub const fn least(&self) -> f64 {
        self.least
    }

    /// The greatest value so far.
    pub const fn greatest(&self) -> f64 {
        self.greatest
    }

    fn hold(&mut self, now: Instant) {
        let held: Duration = now - self.since;
        self.mean.push(self.value, held.as_nanos() as f64);
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_as_long_as_it_lasts() {
        let mut queue = TimeWeighted::new(Instant::from_secs(10), 0.0);
        queue.set(Instant::from_secs(11), 4.0);
        queue.set(Instant::from_secs(11), 6.0);
        queue.set(Instant::from_secs(13), 1.0);
        assert!((queue.mean(Instant::from_secs(14)) - 13.0 / 4.0).abs() < 1e-12);
        assert_eq!((queue.least(), queue.greatest()), (0.0, 6.0));
    }

    #[test]
    fn before_time_passes_the_mean_is_the_value() {
        assert_eq!(TimeWeighted::new(Instant::START, 3.0).mean(Instant::START), 3.0);
    }

    #[test]
    #[should_panic(expected = "time runs backwards")]
    fn time_does_not_run_backwards() {
        TimeWeighted::new(Instant::from_secs(1), 0.0).set(Instant::START, 1.0);
    }
}
