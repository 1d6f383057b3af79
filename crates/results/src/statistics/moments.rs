//! Count, mean, variance and extremes in one pass, and the interval that they give.

use super::student::student_t_quantile;

/// Moments of a sample, updated one observation at a time without cancellation
/// (Welford, Technometrics 4(3), 1962; merged after Chan, Golub and LeVeque, 1979).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    /// Sum of the squared distances to the mean.
    squares: f64,
    least: f64,
    greatest: f64,
}

/// A mean and how far the true one may lie from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// The sample's mean.
    pub mean: f64,
    /// Half of the interval's width; infinite while one observation tells nothing of the spread.
    pub half_width: f64,
    /// The confidence level, for example 0.99.
    pub level: f64,
    /// Number of independent observations on which it rests.
    pub count: u64,
}

/// A mean of observations that count unequally.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WeightedMean {
    weight: f64,
    mean: f64,
}

impl Moments {
    /// Adds an observation.
    pub fn push(&mut self, observation: f64) {
        (self.least, self.greatest) = match self.count {
            0 => (observation, observation),
            _ => (self.least.min(observation), self.greatest.max(observation)),
        };
        self.count += 1;
        let distance = observation - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (observation - self.mean);
    }

    /// The moments of both samples together.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        if self.count == 0 {
            return other;
        }
        if other.count == 0 {
            return self;
        }
        let (ours, theirs) = (self.count as f64, other.count as f64);
        let distance = other.mean - self.mean;
        Self {
            count: self.count + other.count,
            mean: self.mean + distance * (theirs / (ours + theirs)),
            squares: self.squares + other.squares + distance * distance * (ours * theirs / (ours + theirs)),
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
        }
    }

    /// Number of observations.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The mean, if there is an observation.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The unbiased variance, if there are two observations.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }

    /// The root of [`Moments::variance`].
    pub fn standard_deviation(&self) -> Option<f64> {
        self.variance().map(libm::sqrt)
    }

    /// The least observation.
    pub fn least(&self) -> Option<f64> {
        (self.count > 0).then_some(self.least)
    }

    /// The greatest observation.
    pub fn greatest(&self) -> Option<f64> {
        (self.count > 0).then_some(self.greatest)
    }

    /// The interval that holds the true mean with probability `level`, if the observations are independent
    /// and their mean is normal: mean ± t(1 − (1 − level)/2, n − 1)·s/√n. Nothing without an observation.
    ///
    /// # Panics
    /// If `level` does not lie between 0 and 1.
    pub fn interval(&self, level: f64) -> Option<ConfidenceInterval> {
        assert!(level > 0.0 && level < 1.0, "a confidence level lies between 0 and 1");
        let mean = self.mean()?;
        let half_width = self.standard_deviation().map_or(f64::INFINITY, |deviation| {
            let t = student_t_quantile(f64::midpoint(1.0, level), (self.count - 1) as f64);
            t * deviation / libm::sqrt(self.count as f64)
        });
        Some(ConfidenceInterval { mean, half_width, level, count: self.count })
    }
}

impl Extend<f64> for Moments {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, observations: I) {
        for observation in observations {
            self.push(observation);
        }
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(observations: I) -> Self {
        let mut moments = Self::default();
        moments.extend(observations);
        moments
    }
}

impl ConfidenceInterval {
    /// The lower end.
    pub fn low(&self) -> f64 {
        self.mean - self.half_width
    }

    /// The upper end.
    pub fn high(&self) -> f64 {
        self.mean + self.half_width
    }

    /// Tells whether `value` lies inside, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low()..=self.high()).contains(&value)
    }
}

impl WeightedMean {
    /// Adds an observation that counts `weight` times.
    ///
    /// # Panics
    /// If the weight is negative or not a number.
    pub fn push(&mut self, observation: f64, weight: f64) {
        assert!(weight >= 0.0, "a weight is not negative");
        if weight > 0.0 {
            self.weight += weight;
            self.mean += (observation - self.mean) * (weight / self.weight);
        }
    }

    /// The mean, if anything had a weight.
    pub fn mean(&self) -> Option<f64> {
        (self.weight > 0.0).then_some(self.mean)
    }

    /// The sum of the weights.
    pub const fn weight(&self) -> f64 {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_observation_has_a_mean_and_an_infinite_interval() {
        let interval = Moments::from_iter([3.0]).interval(0.99).unwrap();
        assert_eq!((interval.mean, interval.half_width), (3.0, f64::INFINITY));
        assert_eq!(Moments::default().interval(0.99), None);
    }

    #[test]
    fn the_interval_is_the_textbooks() {
        // Ten weighings of NIST's check standard have s = 1; t(0.975, 9) = 2.262157163.
        let moments: Moments =
            [9.0, 10.0, 11.0, 9.0, 11.0, 10.0, 9.0, 11.0, 10.0, 10.0].into_iter().collect();
        let interval = moments.interval(0.95).unwrap();
        let expected = 2.262_157_163 * libm::sqrt(6.0 / 9.0) / libm::sqrt(10.0);
        assert!((interval.half_width - expected).abs() < 1e-8);
        assert!(interval.contains(10.0) && !interval.contains(11.0));
    }

    #[test]
    fn a_large_offset_does_not_cancel() {
        let moments: Moments = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0].into_iter().collect();
        assert_eq!(moments.variance(), Some(30.0));
    }

    #[test]
    fn a_weight_of_zero_counts_for_nothing() {
        let mut mean = WeightedMean::default();
        mean.push(5.0, 0.0);
        assert_eq!(mean.mean(), None);
        mean.push(1.0, 3.0);
        mean.push(5.0, 1.0);
        assert_eq!(mean.mean(), Some(2.0));
    }

    /// The share of 95 % intervals that hold the true mean is 95 %, within five of its own deviations.
    #[test]
    fn the_interval_covers_the_true_mean_as_often_as_it_says() {
        let mut stream = slantpath_base::Seed::new(7, 0).stream("coverage");
        let runs: u32 = 4_000;
        let covered = (0..runs)
            .filter(|_| {
                let sample: Moments =
                    (0..8).map(|_| (0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0).collect();
                sample.interval(0.95).unwrap().contains(0.0)
            })
            .count();
        let expected = 0.95 * f64::from(runs);
        let deviation = libm::sqrt(f64::from(runs) * 0.95 * 0.05);
        assert!((covered as f64 - expected).abs() < 5.0 * deviation, "{covered} of {runs}");
    }

    proptest! {
        #[test]
        fn merging_halves_gives_the_whole(
            left in proptest::collection::vec(-1e6..1e6, 0..50),
            right in proptest::collection::vec(-1e6..1e6, 0..50),
        ) {
            let merged = Moments::from_iter(left.clone()).merged(Moments::from_iter(right.clone()));
            let whole: Moments = left.into_iter().chain(right).collect();
            prop_assert_eq!(merged.count(), whole.count());
            prop_assert_eq!((merged.least(), merged.greatest()), (whole.least(), whole.greatest()));
            if let (Some(ours), Some(theirs)) = (merged.mean(), whole.mean()) {
                prop_assert!((ours - theirs).abs() <= 1e-6);
            }
            if let (Some(ours), Some(theirs)) = (merged.variance(), whole.variance()) {
                prop_assert!((ours - theirs).abs() <= 1e-9 * theirs.max(1.0));
            }
        }

        #[test]
        fn equal_weights_give_the_plain_mean(sample in proptest::collection::vec(-1e3..1e3, 1..50)) {
            let mut weighted = WeightedMean::default();
            for observation in &sample {
                weighted.push(*observation, 2.5);
            }
            let plain = Moments::from_iter(sample).mean().unwrap();
            prop_assert!((weighted.mean().unwrap() - plain).abs() < 1e-9);
        }
    }
}
