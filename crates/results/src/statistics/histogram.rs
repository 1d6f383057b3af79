//! Histograms of whole numbers whose bins are as narrow as a relative precision asks for.
//!
//! Each power of two is divided into equally many bins (log-linear, as in HdrHistogram by G. Tene), so that a bin is
//! narrow beside the numbers in it, whatever their size, and as few bins as the numbers spread over are held.

use core::ops::RangeInclusive;

use super::quantile::{Place, between};

/// Distance within which a number that a histogram gives lies from the one that was recorded, as a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision {
    /// Each power of two has two to this number of bins.
    bits: u32,
}

/// Most bits that tell the bins of a power of two apart: 65,536 bins.
const BITS_MAX: u32 = 16;

impl Precision {
    /// The coarsest precision that is within a ratio; `None` if the ratio is finer than 1 to 131,072, or not a number
    /// above zero.
    pub fn within(ratio: f64) -> Option<Self> {
        // The middle of a bin is at most half a bin away from what is in it.
        (0..=BITS_MAX).map(|bits| Self { bits }).find(|precision| precision.ratio() <= ratio)
    }

    /// The ratio that is kept.
    pub fn ratio(self) -> f64 {
        1.0 / f64::from(2_u32 << self.bits)
    }

    /// The bin that a number is in.
    const fn bin(self, number: u64) -> usize {
        let shift = (number | 1).ilog2().saturating_sub(self.bits);
        #[expect(clippy::cast_possible_truncation, reason = "at most 2 to the power of 17")]
        let place = (number >> shift) as usize;
        ((shift as usize) << self.bits) + place
    }

    /// The numbers that are in a bin.
    const fn numbers(self, bin: usize) -> RangeInclusive<u64> {
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let shift = (bin >> self.bits).saturating_sub(1) as u32;
        let least = ((bin - ((shift as usize) << self.bits)) as u64) << shift;
        least..=least + ((1 << shift) - 1)
    }
}

/// A bin of a histogram, and how many of what was recorded are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The numbers that it is for.
    pub numbers: RangeInclusive<u64>,
    /// Number of values that were recorded.
    pub count: u64,
}

/// Counts of recorded numbers, to a precision; and their count, sum, sum of squares and extremes exactly. The merged
/// histogram of two parts of a sample does not depend on how the sample was parted, nor on any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    precision: Precision,
    /// The bin that the first of the counts is of.
    first: usize,
    /// Of the bins from the first to the last in which there is something.
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    /// Beyond what 128 bits hold it stays there: the variance is then too small.
    squares: u128,
    least: u64,
    greatest: u64,
}

impl Histogram {
    /// An empty one.
    pub const fn new(precision: Precision) -> Self {
        Self {
            precision,
            first: 0,
            counts: Vec::new(),
            count: 0,
            sum: 0,
            squares: 0,
            least: u64::MAX,
            greatest: 0,
        }
    }

    /// Records a number.
    pub fn record(&mut self, number: u64) {
        let bin = self.precision.bin(number);
        self.cover(bin, bin);
        self.counts[bin - self.first] += 1;
        self.count += 1;
        self.sum += u128::from(number);
        self.squares = self.squares.saturating_add(u128::from(number) * u128::from(number));
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
    }

    /// Adds what another one has recorded.
    ///
    /// # Panics
    /// If it has another precision.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.precision, other.precision, "histograms of one precision are merged");
        let Some(last) = other.counts.len().checked_sub(1) else { return };
        self.cover(other.first, other.first + last);
        let from = other.first - self.first;
        for (count, more) in self.counts[from..].iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// Makes room for bins.
    fn cover(&mut self, from: usize, to: usize) {
        if self.counts.is_empty() {
            self.first = from;
        }
        if from < self.first {
            self.counts.splice(0..0, core::iter::repeat_n(0, self.first - from));
            self.first = from;
        }
        if to - self.first >= self.counts.len() {
            self.counts.resize(to - self.first + 1, 0);
        }
    }

    /// Distance within which its numbers lie from what was recorded.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    /// Number of values that were recorded.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their mean, if there is one.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The root of their unbiased variance, if there are two.
    pub fn standard_deviation(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        // About the whole number below the mean, in whole numbers: nothing cancels.
        let count = u128::from(self.count);
        let (near, rest) = (self.sum / count, self.sum % count);
        let about_near = self.squares.saturating_sub(near * (self.sum + rest));
        let distance = rest as f64 / count as f64;
        let squares = about_near as f64 - distance * distance * count as f64;
        Some(libm::sqrt(squares.max(0.0) / (self.count - 1) as f64))
    }

    /// The least number.
    pub fn least(&self) -> Option<u64> {
        (self.count > 0).then_some(self.least)
    }

    /// The greatest number.
    pub fn greatest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.greatest)
    }

    /// Gives, within the precision, what [`Quantiles::at`](super::Quantiles::at) would give of the numbers themselves.
    ///
    /// # Panics
    /// If `share` does not lie between 0 and 1.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        assert!((0.0..=1.0).contains(&share), "a share lies between 0 and 1");
        let last = usize::try_from(self.count.checked_sub(1)?).unwrap_or(usize::MAX);
        let Place { below, part } = Place::of(share, last);
        let [low, high] = [below, (below + 1).min(last)].map(|rank| self.ranked(rank as u64));
        Some(between(low, high, part))
    }

    /// The number of a rank, counted from zero.
    fn ranked(&self, rank: u64) -> f64 {
        let mut before = 0;
        let bin = self.bins().find(|bin| {
            before += bin.count;
            rank < before
        });
        // The extremes are known, and nothing lies beyond them.
        bin.map_or(self.greatest as f64, |bin| {
            let (low, high) = bin.numbers.into_inner();
            (low as f64 + (high - low) as f64 / 2.0).clamp(self.least as f64, self.greatest as f64)
        })
    }

    /// The bins in which there is something, from the least numbers to the greatest.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        let all = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        all.map(|(bin, count)| Bin { numbers: self.precision.numbers(bin), count: *count })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Moments, Quantiles};

    fn recorded(precision: Precision, sample: &[u64]) -> Histogram {
        let mut histogram = Histogram::new(precision);
        for number in sample {
            histogram.record(*number);
        }
        histogram
    }

    #[test]
    fn a_precision_is_the_coarsest_that_is_within_the_ratio() {
        let bits = |ratio| Precision::within(ratio).map(|precision| precision.bits);
        assert_eq!([0.5, 0.499, 0.01, 0.001].map(bits), [Some(0), Some(1), Some(6), Some(9)]);
        assert_eq!(
            [1.0 / 131_072.0, 1e-6, 0.0, -1.0, f64::NAN].map(bits),
            [Some(16), None, None, None, None]
        );
        assert_eq!(Precision::within(0.01).unwrap().ratio(), 1.0 / 128.0);
    }

    #[test]
    fn bins_follow_each_other_without_a_gap_and_hold_what_is_put_into_them() {
        for bits in [0, 1, 3] {
            let precision = Precision { bits };
            let mut next = 0;
            for bin in 0.. {
                let (low, high) = precision.numbers(bin).into_inner();
                assert_eq!(low, next, "bin {bin} with {bits} bits");
                assert_eq!((precision.bin(low), precision.bin(high)), (bin, bin), "{bits} bits");
                let Some(following) = high.checked_add(1) else { break };
                next = following;
            }
            assert_eq!(precision.bin(u64::MAX) + 1, (65 - bits as usize) << bits);
        }
    }

    #[test]
    fn a_histogram_holds_the_bins_that_its_numbers_spread_over() {
        let precision = Precision::within(0.01).unwrap();
        let histogram = recorded(precision, &[1_000_000_000, 500_000_000, 600_000_000]);
        assert_eq!(histogram.counts.len(), precision.bin(1_000_000_000) - precision.bin(500_000_000) + 1);
        assert!(histogram.counts.len() <= 65);
        let bins: Vec<Bin> = histogram.bins().collect();
        assert_eq!(bins.len(), 3);
        assert_eq!(bins[0], Bin { numbers: 499_122_176..=503_316_479, count: 1 });
    }

    #[test]
    fn deviations_of_large_numbers_do_not_cancel() {
        let precision = Precision::within(0.01).unwrap();
        let year = 366 * 86_400 * 1_000_000_000_u64;
        let histogram = recorded(precision, &[year + 4, year + 7, year + 13, year + 16]);
        assert_eq!(histogram.standard_deviation(), Some(libm::sqrt(30.0)));
        assert_eq!((histogram.least(), histogram.greatest()), (Some(year + 4), Some(year + 16)));
        let one = recorded(precision, &[7]);
        assert_eq!((one.standard_deviation(), one.mean()), (None, Some(7.0)));
        assert_eq!((Histogram::new(precision).mean(), Histogram::new(precision).quantile(0.5)), (None, None));
    }

    fn samples(lengths: core::ops::Range<usize>) -> impl Strategy<Value = Vec<u64>> {
        let delay = prop_oneof![0_u64..300, 200_000_000_u64..2_000_000_000, 0..=u64::from(u32::MAX) << 20];
        proptest::collection::vec(delay, lengths)
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sample_within_the_precision(
            sample in samples(1..200),
            ratio in 1e-5..0.2_f64,
            shares in proptest::collection::vec(0.0..=1.0_f64, 1..5),
        ) {
            let precision = Precision::within(ratio).unwrap();
            let histogram = recorded(precision, &sample);
            let exact = Quantiles::of(sample.iter().map(|number| *number as f64));
            for share in shares.into_iter().chain([0.0, 0.5, 0.999, 1.0]) {
                let (ours, wanted) = (histogram.quantile(share).unwrap(), exact.at(share).unwrap());
                prop_assert!((ours - wanted).abs() <= ratio * wanted * (1.0 + 1e-9), "{ours} for {wanted} at {share}");
            }
        }

        #[test]
        fn moments_are_those_of_the_sample(sample in samples(2..200)) {
            let histogram = recorded(Precision::within(0.1).unwrap(), &sample);
            let exact: Moments = sample.iter().map(|number| *number as f64).collect();
            let greatest = exact.greatest().unwrap();
            prop_assert_eq!(histogram.count(), exact.count());
            prop_assert!((histogram.mean().unwrap() - exact.mean().unwrap()).abs() <= 1e-12 * greatest);
            let [ours, wanted] = [histogram.standard_deviation(), exact.standard_deviation()].map(Option::unwrap);
            prop_assert!((ours - wanted).abs() <= 1e-9 * greatest, "{ours} for {wanted}");
            prop_assert_eq!(histogram.least().map(|least| least as f64), exact.least());
        }

        #[test]
        fn parts_merged_are_the_whole(one in samples(0..60), other in samples(0..60), ratio in 1e-3..0.2_f64) {
            let precision = Precision::within(ratio).unwrap();
            let mut merged = recorded(precision, &one);
            merged.merge(&recorded(precision, &other));
            let whole: Vec<u64> = one.into_iter().chain(other).collect();
            prop_assert_eq!(merged, recorded(precision, &whole));
        }
    }
}
