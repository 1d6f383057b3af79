//! A pacing rate with what it comes to for a segment and for a quantum: reckoned when it is set, and not whenever a
//! segment leaves.

use slantpath_base::{DataRate, DataSize};

use crate::control::Spacing;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pacing {
    rate: DataRate,
    segment_bytes: u64,
    of_segment: Spacing,
}

impl Pacing {
    /// A rate at which segments of so many bytes leave, and a quantum of so many together.
    pub(crate) fn new(rate: DataRate, segment_bytes: u64, quantum: u64) -> Self {
        Self { rate, segment_bytes, of_segment: Spacing::at(rate, segment_bytes, quantum) }
    }

    pub(crate) const fn rate(&self) -> DataRate {
        self.rate
    }

    /// Spacing of so many bytes.
    #[inline]
    pub(crate) fn spacing(&self, bytes: u64) -> Spacing {
        if bytes == self.segment_bytes { self.of_segment } else { self.spacing_of_other(bytes) }
    }

    #[cold]
    fn spacing_of_other(&self, bytes: u64) -> Spacing {
        Spacing { gap: self.rate.time_to_send(DataSize::from_bytes(bytes)), ..self.of_segment }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Duration;

    #[test]
    fn segments_and_what_is_none_are_spaced_by_the_rate() {
        let pacing = Pacing::new(DataRate::from_bits_per_sec(8_000_000), 1_000, 3_000);
        let spacing = |micros| Spacing { gap: Duration::from_micros(micros), lead: Duration::from_millis(3) };
        assert_eq!(
            [0, 999, 1_000, 1_001].map(|bytes| pacing.spacing(bytes)),
            [0, 999, 1_000, 1_001].map(spacing)
        );
    }
}
