//! Medians and percentiles of a whole sample.

/// A sample in order, of which any quantile can be asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantiles {
    sorted: Vec<f64>,
}

impl Quantiles {
    /// The sample, sorted; what is not a number is left out.
    pub fn of(sample: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = sample.into_iter().filter(|observation| !observation.is_nan()).collect();
        sorted.sort_by(f64::total_cmp);
        Self { sorted }
    }

    /// The value below which a share of the sample lies, between two neighbours by linear interpolation
    /// (Hyndman and Fan, The American Statistician 50(4), 1996, definition 7). Nothing of an empty sample.
    ///
    /// # Panics
    /// If `share` does not lie between 0 and 1.
    pub fn at(&self, share: f64) -> Option<f64> {
        assert!((0.0..=1.0).contains(&share), "a share lies between 0 and 1");
        let last = self.sorted.len().checked_sub(1)?;
        let place = share * last as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 ≤ place ≤ last")]
        let below = libm::floor(place) as usize;
        let (low, high) = (self.sorted[below], self.sorted[(below + 1).min(last)]);
        let part = place - below as f64;
        // An infinite neighbour must not meet a weight of zero.
        Some(if part == 0.0 || low == high { low } else { low + (high - low) * part })
    }

    /// How many observations there are.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }
}

/// One quantile of a sample; see [`Quantiles::at`].
pub fn quantile(sample: impl IntoIterator<Item = f64>, share: f64) -> Option<f64> {
    Quantiles::of(sample).at(share)
}

/// The median of a sample.
pub fn median(sample: impl IntoIterator<Item = f64>) -> Option<f64> {
    quantile(sample, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_interpolate_between_neighbours() {
        let sample = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(sample), Some(2.5));
        assert_eq!(quantile(sample, 0.0), Some(1.0));
        assert_eq!(quantile(sample, 0.25), Some(1.75));
        assert_eq!(quantile(sample, 1.0), Some(4.0));
        assert_eq!(median([]), None);
        assert_eq!(median([f64::NAN, 1.0]), Some(1.0));
        assert_eq!(quantile([1.0, f64::INFINITY], 0.0), Some(1.0));
    }

    proptest! {
        #[test]
        fn quantiles_grow_with_the_share_and_stay_inside_the_sample(
            sample in proptest::collection::vec(-1e9..1e9, 1..60),
            low in 0.0..=1.0_f64,
            high in 0.0..=1.0_f64,
        ) {
            let (low, high) = (low.min(high), low.max(high));
            let quantiles = Quantiles::of(sample);
            let at = |share| quantiles.at(share).unwrap();
            prop_assert!(at(0.0) <= at(low) && at(low) <= at(high) && at(high) <= at(1.0));
        }
    }
}
