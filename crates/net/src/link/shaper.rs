//! Shaping (RFC 2475, section 2.3.3.3): packets wait until a bucket of tokens has as many as they have bytes.

use slantpath_base::{DataRate, DataSize, Duration, Instant};

/// A bucket of tokens that packets take before they are sent. It begins full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperConfig {
    /// Rate at which tokens come, one for each byte of an IP packet; not zero.
    pub rate: DataRate,
    /// Size of the bucket; no less than the longest packet.
    pub burst: DataSize,
}

/// The bucket in a run. Tokens are counted in bits times 10⁹, of which each nanosecond brings as many as the rate has
/// bits a second: nothing is rounded.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
    rate: DataRate,
    depth: u128,
    level: u128,
    /// Instant for which the level is noted.
    at: Instant,
}

const TOKEN: u128 = 8 * 1_000_000_000;

impl Shaper {
    pub(crate) fn new(config: ShaperConfig) -> Self {
        let depth = u128::from(config.burst.as_bytes()) * TOKEN;
        Self { rate: config.rate, depth, level: depth, at: Instant::START }
    }

    /// Rate at which tokens come.
    pub(crate) const fn rate(&self) -> DataRate {
        self.rate
    }

    /// The level at `now`, which is not before the last packet was let go.
    fn level_at(&self, now: Instant) -> u128 {
        let come = u128::from(now.saturating_since(self.at).as_nanos()) * self.bits_a_second();
        self.depth.min(self.level + come)
    }

    /// Takes the tokens of a packet of `length` bytes; or says when there will be enough, if no other takes them.
    pub(crate) fn take(&mut self, now: Instant, length: u32) -> Result<(), Instant> {
        let (level, wanted) = (self.level_at(now), u128::from(length) * TOKEN);
        match level.checked_sub(wanted) {
            Some(left) => {
                (self.level, self.at) = (left, now);
                Ok(())
            }
            None => Err(now.saturating_add(self.until(wanted - level))),
        }
    }

    /// Time that packets of so many bytes wait in all, apart from the link's own rate.
    pub(crate) fn wait(&self, now: Instant, bytes: u64) -> Duration {
        self.until((u128::from(bytes) * TOKEN).saturating_sub(self.level_at(now)))
    }

    fn bits_a_second(&self) -> u128 {
        u128::from(self.rate.as_bits_per_sec())
    }

    fn until(&self, lacking: u128) -> Duration {
        let nanos = lacking.div_ceil(self.bits_a_second().max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One byte a microsecond, and 3,000 at once.
    fn shaper() -> Shaper {
        Shaper::new(ShaperConfig {
            rate: DataRate::from_bits_per_sec(8_000_000),
            burst: DataSize::from_bytes(3_000),
        })
    }

    fn micros(micros: u64) -> Instant {
        Instant::START + Duration::from_micros(micros)
    }

    #[test]
    fn a_burst_passes_and_what_exceeds_it_waits_for_its_tokens() {
        let mut shaper = shaper();
        assert_eq!([1_500, 1_500].map(|length| shaper.take(micros(10), length)), [Ok(()), Ok(())]);
        assert_eq!(shaper.take(micros(10), 1_500), Err(micros(1_510)));
        assert_eq!(shaper.take(micros(1_509), 1_500), Err(micros(1_510)));
        assert_eq!(shaper.take(micros(1_510), 1_500), Ok(()));
        assert_eq!(shaper.take(micros(1_510), 1), Err(micros(1_511)));
        // It is full again after 3 ms, and holds no more later.
        assert_eq!(shaper.wait(micros(4_509), 3_000), Duration::from_micros(1));
        assert_eq!(shaper.wait(micros(4_510), 3_000), Duration::ZERO);
        assert_eq!(shaper.wait(micros(900_000), 5_000), Duration::from_millis(2));
    }

    proptest! {
        #[test]
        fn whatever_comes_no_more_leaves_than_the_bucket_and_its_rate_allow_and_no_later(
            rate in 1_000_u64..1_000_000_000,
            packets in prop::collection::vec((0_u64..3_000_000, 20_u32..1_500), 1..60),
        ) {
            let config = ShaperConfig {
                rate: DataRate::from_bits_per_sec(rate),
                burst: DataSize::from_bytes(4_000),
            };
            let mut shaper = Shaper::new(config);
            let (mut now, mut sent) = (Instant::START, Vec::new());
            for (gap, length) in packets {
                now += Duration::from_nanos(gap);
                if let Err(later) = shaper.take(now, length) {
                    prop_assert!(later > now);
                    // A nanosecond earlier there are too few.
                    let mut earlier = shaper.clone();
                    prop_assert_eq!(earlier.take(later - Duration::from_nanos(1), length), Err(later));
                    now = later;
                    prop_assert_eq!(shaper.take(now, length), Ok(()));
                }
                sent.push((now, length));
            }
            for (first, (start, _)) in sent.iter().enumerate() {
                let mut bits = 0;
                for (end, length) in &sent[first..] {
                    bits += u128::from(*length) * TOKEN;
                    let come = u128::from((*end - *start).as_nanos()) * u128::from(rate);
                    prop_assert!(bits <= 4_000 * TOKEN + come);
                }
            }
        }
    }
}
