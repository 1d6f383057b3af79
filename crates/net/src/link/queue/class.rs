//! Packets that wait for each other: one queue of a transmitter that may have several.

use std::collections::VecDeque;

use slantpath_base::Instant;

use crate::link::admission::{CongestionSignal, QueueLimit};
use crate::link::counters::DropReason;
use crate::link::lane::Outlet;
use crate::link::queue::codel::{CoDel, Departing};
use crate::parcel::Parcel;

/// Packets with the instants at which they came, first in, first out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    queue: VecDeque<(Instant, Parcel)>,
    bytes: u64,
}

impl Class {
    pub(crate) fn push(&mut self, now: Instant, parcel: Parcel) {
        self.queue.push_back((now, parcel));
        self.bytes += u64::from(parcel.length());
    }

    pub(crate) fn pop(&mut self) -> Option<(Instant, Parcel)> {
        let (since, parcel) = self.queue.pop_front()?;
        self.bytes -= u64::from(parcel.length());
        Some((since, parcel))
    }

    /// The packet that leaves next.
    pub(crate) fn head(&self) -> Option<Parcel> {
        self.queue.front().map(|&(_, parcel)| parcel)
    }

    pub(crate) fn packets(&self) -> u64 {
        self.queue.len() as u64
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Tells if a limit of this class admits a packet, beside one that has left the class and still waits.
    pub(crate) fn admits(&self, limit: QueueLimit, held: Option<Parcel>, arrival: Parcel) -> bool {
        let held_bytes = held.map_or(0, |held| u64::from(held.length()));
        let packets = self.packets() + u64::from(held.is_some());
        limit.admits(packets, self.bytes + held_bytes, arrival.length())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// All of them, in their order.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Parcel> + use<> {
        core::mem::take(self).queue.into_iter().map(|(_, parcel)| parcel)
    }

    /// The packet that leaves next by the law of `CoDel`. Others before it are marked or dropped as `signal` says;
    /// these are counted, and gone.
    pub(crate) fn pop_by(
        &mut self,
        law: &mut CoDel,
        signal: CongestionSignal,
        at: Instant,
        outlet: &mut Outlet<'_>,
    ) -> Option<Parcel> {
        let take = || {
            let (since, parcel) = self.pop()?;
            Some((parcel, Departing { sojourn: at - since, bytes_behind: self.bytes }))
        };
        law.dequeue(at, take, |parcel: Parcel| {
            if let Some(marked) = signal.mark(parcel) {
                if marked != parcel {
                    outlet.counters.marked.add(marked.length());
                }
                return Some(marked);
            }
            outlet.drop_accepted(at, parcel, DropReason::CoDel);
            None
        })
    }
}
