//! Clocks: how virtual time keeps step with the real one, or does not.

use slantpath_base::{Duration, Instant};

/// Paces a run. The kernel asks before it moves time.
pub trait Clock {
    /// Returns once `deadline` may happen.
    fn synchronize(&mut self, deadline: Instant) -> Synchronization;
}

/// Relation of an event to the clock that paced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronization {
    /// The event happens that long after it should have.
    Late(Duration),
    /// The event happens when it should.
    OnTime,
}

/// The clock of a simulation: every event may happen at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeRunning;

impl Clock for FreeRunning {
    #[inline]
    fn synchronize(&mut self, _deadline: Instant) -> Synchronization {
        Synchronization::OnTime
    }
}
