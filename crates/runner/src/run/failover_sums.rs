//! Failovers of a flow, or of a link that carries signalling, added up.

use slantpath_base::{Duration, Instant};

/// Sums over failovers after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FailoverSums {
    /// Failovers of a path that carried nothing.
    pub(super) real: u64,
    /// Failovers of a path that carried packets.
    pub(super) spurious: u64,
    /// Longest time from the failure to the first new message by another path.
    pub(super) longest: Option<Duration>,
}

impl FailoverSums {
    /// Counts a failover from a path or a link that failed at an instant, if it did.
    pub(super) fn add(&mut self, failed: Option<Instant>, at: Instant) {
        match failed {
            Some(failed) => {
                self.real += 1;
                self.longest = self.longest.max(Some(at.saturating_since(failed)));
            }
            None => self.spurious += 1,
        }
    }
}
