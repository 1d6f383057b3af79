//! Timers: one in one word, and a fixed table of them, one slot a kind.

use crate::Instant;

/// Instant at which something is due, if anything is. A timer is half as large as an option, of which a connection or a
/// path has several, and the earlier of two is the lesser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer(Instant);

impl Timer {
    /// Nothing is due.
    pub const OFF: Self = Self(Instant::FAR_FUTURE);

    /// Due at that instant.
    pub const fn set(at: Instant) -> Self {
        Self(at)
    }

    /// Instant at which it is due, if it is.
    #[inline]
    pub fn at(self) -> Option<Instant> {
        (self != Self::OFF).then_some(self.0)
    }

    /// Tells if nothing is due.
    #[inline]
    pub fn is_off(self) -> bool {
        self == Self::OFF
    }

    /// Tells if its time has come.
    #[inline]
    pub fn is_due(self, now: Instant) -> bool {
        !self.is_off() && self.0 <= now
    }

    /// The earlier of two.
    #[must_use]
    #[inline]
    pub fn or_earlier(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

impl From<Option<Instant>> for Timer {
    #[inline]
    fn from(at: Option<Instant>) -> Self {
        at.map_or(Self::OFF, Self)
    }
}

/// `N` timers, each stopped or running to a deadline. Kinds are the caller's enum, as indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerTable<const N: usize>([Option<Instant>; N]);

impl<const N: usize> Default for TimerTable<N> {
    fn default() -> Self {
        Self([None; N])
    }
}

impl<const N: usize> TimerTable<N> {
    /// Starts or restarts a timer.
    pub fn start(&mut self, timer: usize, deadline: Instant) {
        self.0[timer] = Some(deadline);
    }

    /// Stops a timer; stopping a stopped one does nothing.
    pub fn stop(&mut self, timer: usize) {
        self.0[timer] = None;
    }

    /// Instant at which a timer expires, if it runs.
    pub fn deadline(&self, timer: usize) -> Option<Instant> {
        self.0[timer]
    }

    /// Tells if a timer runs.
    pub fn is_running(&self, timer: usize) -> bool {
        self.0[timer].is_some()
    }

    /// The earliest deadline of all.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.0.iter().copied().flatten().min()
    }

    /// Stops and returns the timer that expired first by `now`; among equal deadlines the lowest index.
    pub fn take_expired(&mut self, now: Instant) -> Option<usize> {
        let due = |slot: &(usize, Option<Instant>)| slot.1.is_some_and(|deadline| deadline <= now);
        let (timer, _) = self.0.iter().copied().enumerate().filter(due).min_by_key(|slot| slot.1)?;
        self.0[timer] = None;
        Some(timer)
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

    #[test]
    fn timers_expire_in_the_order_of_their_deadlines() {
        let mut timers = TimerTable::<3>::default();
        timers.start(0, Instant::from_millis(20));
        timers.start(1, Instant::from_millis(10));
        timers.start(2, Instant::from_millis(30));
        assert_eq!(timers.next_deadline(), Some(Instant::from_millis(10)));
        assert_eq!(timers.take_expired(Instant::from_millis(9)), None);
        assert_eq!(timers.take_expired(Instant::from_millis(25)), Some(1));
        assert_eq!(timers.take_expired(Instant::from_millis(25)), Some(0));
        assert_eq!(timers.take_expired(Instant::from_millis(25)), None);
        timers.stop(2);
        assert_eq!(timers.next_deadline(), None);
    }

    #[test]
    fn a_restart_moves_the_deadline() {
        let mut timers = TimerTable::<1>::default();
        timers.start(0, Instant::from_millis(10));
        timers.start(0, Instant::from_millis(50));
        assert_eq!(timers.take_expired(Instant::from_millis(40)), None);
        assert_eq!(timers.deadline(0), Some(Instant::from_millis(50)));
    }
}
