//! Timers that run, in the order in which they expire.

use slantpath_base::Instant;
use std::collections::{BTreeMap, BTreeSet};

use crate::PointCode;
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::timers::Mtp3Timer;

/// A running timer: what it belongs to and which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Destination(u32, Mtp3Timer),
    Diversion(u32, Mtp3Timer),
    Link(Mtp3LinkId, Mtp3Timer),
    LinkSet(LinkSetId, Mtp3Timer),
    Node(Mtp3Timer),
    /// T10: the route to a destination over a link set.
    Route(u32, LinkSetId),
    /// T8: transfer prohibited for a destination has just been sent to an adjacent point in answer to a message.
    Prohibited(u32, LinkSetId),
    /// T8, of a point code behind this point.
    ServedProhibited(PointCode, LinkSetId),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    deadlines: BTreeMap<Key, Instant>,
    order: BTreeSet<(Instant, Key)>,
}

impl Schedule {
    pub(super) fn start(&mut self, key: Key, deadline: Instant) {
        self.stop(key);
        self.deadlines.insert(key, deadline);
        self.order.insert((deadline, key));
    }

    pub(super) fn stop(&mut self, key: Key) {
        if let Some(deadline) = self.deadlines.remove(&key) {
            self.order.remove(&(deadline, key));
        }
    }

    pub(super) fn is_running(&self, key: Key) -> bool {
        self.deadlines.contains_key(&key)
    }

    /// The timers that run, with their deadlines.
    pub(super) fn running(&self) -> impl Iterator<Item = (Key, Instant)> {
        self.deadlines.iter().map(|(key, deadline)| (*key, *deadline))
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.order.first().map(|(deadline, _)| *deadline)
    }

    /// Stops and returns the timer that expired first by `now`; among equal deadlines the lowest key.
    pub(super) fn take_expired(&mut self, now: Instant) -> Option<Key> {
        let &(deadline, key) = self.order.first()?;
        if deadline > now {
            return None;
        }
        self.stop(key);
        Some(key)
    }
}
