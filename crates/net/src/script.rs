//! Changes of the network: most at times that were fixed beforehand, some that somebody makes while it runs.

use slantpath_base::{DataRate, Duration, Instant, Probability};

use crate::DirectionId;
use crate::link::Reordering;

/// A change of one direction of a link. It holds for packets whose transmission has not begun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Another bit error rate.
    BitErrors(Probability),
    /// Another propagation delay.
    Delay(Duration),
    /// Nothing is sent any more; the packet in transmission is lost.
    Down,
    /// Another chance of duplication.
    Duplication(Probability),
    /// Another loss rate.
    Loss(Probability),
    /// Another data rate.
    Rate(DataRate),
    /// Another extra delay.
    Reordering(Reordering),
    /// Packets are retransmitted.
    Up,
}

/// The changes of a run, in the order of time; those of one instant in the order in which they were declared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    changes: Vec<(Instant, DirectionId, Change)>,
    done: usize,
}

impl Script {
    pub(crate) fn new(mut changes: Vec<(Instant, DirectionId, Change)>) -> Self {
        changes.sort_by_key(|&(at, _, _)| at);
        Self { changes, done: 0 }
    }

    /// Takes a change in that is still to come: behind all others of its instant.
    pub(crate) fn insert(&mut self, at: Instant, direction: DirectionId, change: Change) {
        let coming = &self.changes[self.done..];
        let place = self.done + coming.partition_point(|&(other, _, _)| other <= at);
        self.changes.insert(place, (at, direction, change));
    }

    /// Instant of the next change; [`Instant::FAR_FUTURE`] after the last.
    pub(crate) fn next_change(&self) -> Instant {
        self.changes.get(self.done).map_or(Instant::FAR_FUTURE, |&(at, _, _)| at)
    }

    /// Takes the next change that is due by `now`.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<(DirectionId, Change)> {
        let &(at, direction, change) = self.changes.get(self.done)?;
        if at > now {
            return None;
        }
        self.done += 1;
        Some((direction, change))
    }
}
