//! The kernel: the calendar, the present and the digest of what has happened.

use slantpath_base::{Instant, RunDigest};

use crate::Calendar;

/// State of a run.
#[derive(Clone, Debug)]
pub struct Kernel {
    now: Instant,
    calendar: Calendar,
    digest: RunDigest,
    events: u64,
}

impl Kernel {
    /// A run at its start, with `slots` idle components, of which the first `prompt` are expected to be due
    /// soon after they are scheduled.
    pub fn new(prompt: usize, slots: usize) -> Self {
        Self {
            now: Instant::START,
            calendar: Calendar::new(prompt, slots),
            digest: RunDigest::default(),
            events: 0,
        }
    }

    /// Present instant of the run.
    #[inline]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Number of events that have happened.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// The digest of all that was [recorded](Self::record).
    pub const fn digest(&self) -> RunDigest {
        self.digest
    }

    /// Takes an event of the present into the digest.
    #[inline]
    pub fn record(&mut self, component: usize, detail: u64) {
        self.digest.record(self.now, component, detail);
    }

    /// Sets when component `slot` is due; [`Instant::FAR_FUTURE`] for never.
    #[inline]
    pub fn schedule(&mut self, slot: usize, deadline: Instant) {
        debug_assert!(deadline >= self.now, "slot {slot} is due at {deadline}, before {}", self.now);
        self.calendar.set(slot, deadline);
    }

    /// Variant of [`schedule`](Self::schedule) for the component whose event is happening.
    #[inline]
    pub fn schedule_again(&mut self, slot: usize, deadline: Instant) {
        debug_assert!(deadline >= self.now, "slot {slot} is due at {deadline}, before {}", self.now);
        self.calendar.set_again(slot, deadline);
    }

    /// Instant at which component `slot` is due; [`Instant::FAR_FUTURE`] for never.
    pub fn deadline(&self, slot: usize) -> Instant {
        self.calendar.deadline(slot)
    }

    /// Instant of the next event, if there is one.
    #[inline]
    pub fn next_event(&mut self) -> Option<Instant> {
        self.calendar.next_due().map(|(time, _)| time)
    }

    /// Moves time to the next event and returns its component, which must be scheduled anew. `None` once
    /// nothing is due up to and including `end`; time then stands at `end`.
    #[inline]
    pub fn advance(&mut self, end: Instant) -> Option<usize> {
        match self.calendar.next_due() {
            Some((time, slot)) if time <= end => {
                assert!(time >= self.now, "slot {slot} was due at {time}, which is over");
                self.now = time;
                self.events += 1;
                Some(slot)
            }
            _ => {
                self.now = self.now.max(end);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stops_at_the_end_and_goes_on_from_there() {
        let mut kernel = Kernel::new(1, 2);
        kernel.schedule(1, Instant::from_secs(3));
        assert_eq!(kernel.advance(Instant::from_secs(2)), None);
        assert_eq!(kernel.now(), Instant::from_secs(2));
        assert_eq!(kernel.advance(Instant::from_secs(3)), Some(1));
        assert_eq!(kernel.now(), Instant::from_secs(3));
        assert_eq!(kernel.next_event(), Some(Instant::from_secs(3)), "its owner has to schedule it anew");
        kernel.schedule(1, Instant::FAR_FUTURE);
        assert_eq!(kernel.next_event(), None);
        assert_eq!(kernel.events(), 1);
    }
}
