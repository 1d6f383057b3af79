//! Lateness of departures: the time between the instant at which a packet was to leave and that at which it left.

use slantpath_base::{Duration, Lateness};

/// Lateness of all departures, and how many of them were later than a limit.
#[derive(Clone, Debug)]
pub struct DepartureLateness {
    lateness: Lateness,
    limit: Duration,
    later: u64,
}

/// Lateness of departures in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DepartureSummary {
    /// Number of departures.
    pub count: u64,
    /// Lateness within which half of them were.
    pub median: Duration,
    /// Lateness within which 99 % of them were.
    pub p99: Duration,
    /// Lateness within which 99.9 % of them were.
    pub p99_9: Duration,
    /// Longest lateness of all.
    pub max: Duration,
    /// Number of departures later than the limit.
    pub later_than_limit: u64,
}

impl DepartureLateness {
    /// No departure yet. Those that are later than `limit` will be counted.
    pub fn new(limit: Duration) -> Self {
        Self { lateness: Lateness::default(), limit, later: 0 }
    }

    /// Counts a departure that was so late.
    pub fn record(&mut self, late: Duration) {
        self.lateness.record(late);
        self.later += u64::from(late > self.limit);
    }

    /// Lateness in a few numbers, each to two digits, but for the count beyond the limit, which is exact.
    pub fn summary(&self) -> DepartureSummary {
        DepartureSummary {
            count: self.lateness.served(),
            median: self.lateness.quantile(0.5),
            p99: self.lateness.quantile(0.99),
            p99_9: self.lateness.quantile(0.999),
            max: self.lateness.max(),
            later_than_limit: self.later,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_told_from_the_middle() {
        let mut departures = DepartureLateness::new(Duration::from_micros(990));
        for micros in 1..=1_000 {
            departures.record(Duration::from_micros(micros));
        }
        departures.record(Duration::from_millis(80));
        let summary = departures.summary();
        assert_eq!((summary.count, summary.later_than_limit), (1_001, 11));
        let about = |found: Duration, micros: u64| {
            let error = found.abs_diff(Duration::from_micros(micros));
            assert!(error <= Duration::from_micros(micros / 100), "{found}, not {micros} us");
        };
        about(summary.median, 501);
        about(summary.p99, 991);
        about(summary.p99_9, 1_000);
        about(summary.max, 80_000);
    }

    #[test]
    fn what_is_as_late_as_the_limit_is_not_later() {
        let mut departures = DepartureLateness::new(Duration::from_micros(5));
        departures.record(Duration::from_micros(5));
        assert_eq!(departures.summary().later_than_limit, 0);
        departures.record(Duration::from_nanos(5_001));
        assert_eq!(departures.summary().later_than_limit, 1);
        // Longer than an hour counts as an hour.
        departures.record(Duration::MAX);
        assert!(departures.summary().max.abs_diff(Duration::from_secs(3_600)) < Duration::from_secs(60));
        assert_eq!(departures.summary().later_than_limit, 2);
    }

    #[test]
    fn before_the_first_departure_all_is_zero() {
        let summary = DepartureLateness::new(Duration::ZERO).summary();
        assert_eq!((summary.count, summary.max, summary.median), (0, Duration::ZERO, Duration::ZERO));
    }
}
