//! Lateness with which deadlines were served.

use crate::Duration;
use hdrhistogram::Histogram;

/// The time between a deadline and the call that serves it, over a run.
#[derive(Clone, Debug)]
pub struct Lateness {
    nanos: Histogram<u64>,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { nanos: Histogram::new_with_max(LONGEST_NANOS, 2).expect("two digits are possible") }
    }
}

impl Lateness {
    /// Counts a deadline that was served so late.
    pub fn record(&mut self, late: Duration) {
        self.nanos.saturating_record(late.as_nanos());
    }

    /// Number of deadlines that were served.
    pub fn served(&self) -> u64 {
        self.nanos.len()
    }

    /// Lateness within which a share of all deadlines, from 0 to 1, was served.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.nanos.value_at_quantile(share))
    }

    /// Longest lateness of all deadlines.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.nanos.max())
    }
}

/// An hour: longer ones count as that.
const LONGEST_NANOS: u64 = 3_600_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_served_late_shows_in_the_tail() {
        let mut lateness = Lateness::default();
        for micros in 1..=100 {
            lateness.record(Duration::from_micros(micros));
        }
        assert_eq!(
            (lateness.served(), lateness.quantile(0.5).as_micros(), lateness.max().as_micros()),
            (100, 50, 100)
        );
    }
}
