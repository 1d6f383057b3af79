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
        let Place { below, part } = Place::of(share, last);
        Some(between(self.sorted[below], self.sorted[(below + 1).min(last)], part))
    }

    /// Number of observations.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }
}

/// Place at which a share of a sample ends: behind an observation, by a part of the way to the next one.
pub(super) struct Place {
    pub(super) below: usize,
    pub(super) part: f64,
}

impl Place {
    /// Among observations that are numbered from 0 to `last`.
    pub(super) fn of(share: f64, last: usize) -> Self {
        let place = share * last as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 ≤ place ≤ last")]
        let below = libm::floor(place) as usize;
        Self { below, part: place - below as f64 }
    }
}

pub(super) fn between(low: f64, high: f64, part: f64) -> f64 {
    // An infinite neighbour must not meet a weight of zero.
    if part == 0.0 || low == high { low } else { low + (high - low) * part }
}

/// Gives what [`Quantiles::at`] gives for each share, of a sample that is too long to be held: `each` goes over its
/// `count` observations in any order, as often as it is called. Observations are whole numbers, of which `value` gives
/// what they stand for; it never falls while they grow.
pub fn quantiles_in_passes<E>(
    count: usize,
    shares: &[f64],
    value: impl Fn(u64) -> f64,
    mut each: impl FnMut(&mut dyn FnMut(u64)) -> Result<(), E>,
) -> Result<Vec<Option<f64>>, E> {
    let Some(last) = count.checked_sub(1) else { return Ok(vec![None; shares.len()]) };
    let places: Vec<Place> = shares.iter().map(|share| Place::of(*share, last)).collect();
    let ranks = places.iter().flat_map(|place| [place.below, (place.below + 1).min(last)]);
    let mut wanted: Vec<Ranked> = ranks.map(|rank| Ranked { digits: 0, rank: rank as u64 }).collect();
    for shift in [48, 32, 16, 0] {
        let mut counts = vec![vec![0_u64; 1 << DIGIT_BITS]; wanted.len()];
        each(&mut |observation| {
            let digits = observation >> shift;
            for (ranked, counts) in wanted.iter().zip(&mut counts) {
                if digits >> DIGIT_BITS == ranked.digits {
                    counts[(digits & DIGIT_MASK) as usize] += 1;
                }
            }
        })?;
        for (ranked, counts) in wanted.iter_mut().zip(&counts) {
            ranked.narrow(counts);
        }
    }
    let values: Vec<f64> = wanted.iter().map(|ranked| value(ranked.digits)).collect();
    let pairs = values.as_chunks::<2>().0.iter().zip(&places);
    Ok(pairs.map(|([low, high], place)| Some(between(*low, *high, place.part))).collect())
}

/// Bits of an observation that one pass finds.
const DIGIT_BITS: u32 = 16;
const DIGIT_MASK: u64 = (1 << DIGIT_BITS) - 1;

/// An observation that is looked for.
struct Ranked {
    /// Upper bits of the observation, as far as they are known.
    digits: u64,
    /// Number of observations with these upper bits that stand before it.
    rank: u64,
}

impl Ranked {
    /// Finds the next digit, of which `counts` says how often each occurs.
    fn narrow(&mut self, counts: &[u64]) {
        let mut digit = 0;
        for count in counts {
            if self.rank < *count {
                break;
            }
            self.rank -= count;
            digit += 1;
        }
        self.digits = self.digits << DIGIT_BITS | digit;
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
        fn a_sample_that_is_read_in_passes_has_the_same_quantiles(
            sample in proptest::collection::vec(prop_oneof![0_u64..5, 60_000_u64..200_000, any::<u64>()], 0..40),
            shares in proptest::collection::vec(0.0..=1.0_f64, 1..3),
        ) {
            let value = |observation: u64| observation as f64 / 1e9;
            let whole = Quantiles::of(sample.iter().map(|observation| value(*observation)));
            let passes = quantiles_in_passes(sample.len(), &shares, value, |each| {
                for observation in &sample {
                    each(*observation);
                }
                Ok::<_, ()>(())
            });
            let wanted: Vec<_> = shares.iter().map(|share| whole.at(*share)).collect();
            prop_assert_eq!(passes, Ok(wanted));
        }

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
