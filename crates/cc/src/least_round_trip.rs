//! The least round trip that was measured, and when.

use slantpath_base::{Duration, Instant};

/// Each acknowledgement asks, so that having none is no case of its own: it is a round trip that everything is shorter
/// than, and that never grows old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeastRoundTrip {
    pub(crate) round_trip: Duration,
    pub(crate) at: Instant,
}

impl LeastRoundTrip {
    /// Before anything was measured.
    pub(crate) const NONE: Self = Self { round_trip: Duration::MAX, at: Instant::FAR_FUTURE };

    /// One of so long, measured then.
    pub(crate) const fn measured(round_trip: Duration, at: Instant) -> Self {
        Self { round_trip, at }
    }

    /// Duration of the least round trip, if there is one.
    #[inline]
    pub(crate) fn known(self) -> Option<Duration> {
        (self != Self::NONE).then_some(self.round_trip)
    }

    /// Tells if `round_trip` is shorter.
    #[inline]
    pub(crate) fn is_above(self, round_trip: Duration) -> bool {
        round_trip < self.round_trip
    }

    /// Tells if `other` is shorter.
    #[inline]
    pub(crate) fn is_above_that_of(self, other: Self) -> bool {
        self.is_above(other.round_trip)
    }

    /// Tells if it was measured longer ago than `age`.
    #[inline]
    pub(crate) fn is_older_than(self, age: Duration, now: Instant) -> bool {
        now.saturating_since(self.at) > age
    }

    /// Counts the least round trip as measured now.
    pub(crate) const fn renew(&mut self, now: Instant) {
        if self.at.as_nanos() < Instant::FAR_FUTURE.as_nanos() {
            self.at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn none_is_longer_than_any_and_never_old() {
        let mut none = LeastRoundTrip::NONE;
        assert!(none.is_above(Duration::from_secs(1_000_000)) && none.known().is_none());
        assert!(!none.is_older_than(Duration::ZERO, Instant::from_secs(1_000_000)));
        assert!(!none.is_above_that_of(none));
        none.renew(Instant::from_secs(3));
        assert_eq!(none, LeastRoundTrip::NONE, "there is nothing to renew");
    }

    #[test]
    fn one_is_old_when_its_time_has_passed_and_not_when_it_ends() {
        let mut least = LeastRoundTrip::measured(Duration::from_millis(20), Instant::from_secs(4));
        assert_eq!(least.known(), Some(Duration::from_millis(20)));
        assert_eq!([19, 20].map(|millis| least.is_above(Duration::from_millis(millis))), [true, false]);
        assert!(LeastRoundTrip::NONE.is_above_that_of(least));
        let is_old = |least: LeastRoundTrip, nanos| least.is_older_than(SECOND, Instant::from_nanos(nanos));
        assert_eq!([5_000_000_000, 5_000_000_001].map(|nanos| is_old(least, nanos)), [false, true]);
        least.renew(Instant::from_secs(5));
        assert!(!is_old(least, 6_000_000_000));
    }
}
