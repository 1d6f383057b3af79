//! A timer in one word.

use slantpath_base::Instant;

/// When something is due, if anything is: half as long as an option, of which a connection has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timer(Instant);

impl Timer {
    /// Nothing is due.
    pub(super) const OFF: Self = Self(Instant::FAR_FUTURE);

    pub(super) const fn set(at: Instant) -> Self {
        Self(at)
    }

    #[inline]
    pub(super) fn at(self) -> Option<Instant> {
        (self != Self::OFF).then_some(self.0)
    }

    #[inline]
    pub(super) fn is_off(self) -> bool {
        self == Self::OFF
    }

    #[inline]
    pub(super) fn is_due(self, now: Instant) -> bool {
        !self.is_off() && self.0 <= now
    }

    /// The earlier of two.
    #[inline]
    pub(super) fn or_earlier(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

impl From<Option<Instant>> for Timer {
    #[inline]
    fn from(at: Option<Instant>) -> Self {
        at.map_or(Self::OFF, Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_is_off_is_never_due_and_no_earlier_than_another() {
        let set = Timer::set(Instant::from_secs(1));
        assert_eq!((Timer::OFF.at(), set.at()), (None, Some(Instant::from_secs(1))));
        assert_eq!([Timer::OFF.is_off(), set.is_off()], [true, false]);
        assert!(!Timer::OFF.is_due(Instant::FAR_FUTURE));
        assert_eq!([0, 1, 2].map(|now| set.is_due(Instant::from_secs(now))), [false, true, true]);
        assert_eq!((Timer::OFF.or_earlier(set), set.or_earlier(Timer::OFF)), (set, set));
        assert_eq!((Timer::from(None), Timer::from(Some(Instant::from_secs(1)))), (Timer::OFF, set));
    }
}
