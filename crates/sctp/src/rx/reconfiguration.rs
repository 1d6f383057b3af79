//! Streams that the peer sends on are reset or added, and TSNs begin anew (RFC 6525).

use super::Receiver;
use super::ack_schedule::AckSchedule;
use super::reassembly::Heading;
use crate::event::Event;
use crate::reconfiguration::StreamsChanged;
use crate::types::{StreamId, Tsn};

impl Receiver {
    /// Number of streams that the peer may send on.
    pub(crate) const fn stream_count(&self) -> u16 {
        self.streams.count()
    }

    /// There are so many more.
    pub(crate) const fn add_streams(&mut self, count: u16) {
        self.streams.add(count);
    }

    /// Says that streams begin anew, behind all that has come before and nobody has read yet.
    pub(crate) fn tell(&mut self, change: StreamsChanged, deliver: impl FnMut(Event)) {
        self.delivery.tell(change, deliver);
    }

    /// Streams expect Stream Sequence Number 0 again: those listed; none: all.
    pub(crate) fn reset_streams(&mut self, listed: &[StreamId], mut deliver: impl FnMut(Event)) {
        self.streams.reset(listed);
        if let Some(interleaved) = &mut self.interleaved {
            // Behind the parts that a reader who pauses has not been given yet.
            let delivery = &mut self.delivery;
            interleaved.reset(listed, |event| delivery.pass_on(event, &mut deliver));
        }
    }

    /// The peer's next TSN is `next`, and all streams begin anew. What is incomplete will never be complete.
    pub(crate) fn restart_numbers(&mut self, next: Tsn, mut deliver: impl FnMut(Event)) {
        if let Some(Heading { stream, sequence, is_unordered, .. }) = self.reassembly.restart() {
            let aborted = Event::PartialDeliveryAborted { stream, sequence, is_unordered };
            self.delivery.pass_on(aborted, &mut deliver);
        }
        self.tracker.restart(next);
        self.reset_streams(&[], deliver);
        self.schedule = AckSchedule::Nothing;
    }

    /// A SACK leaves at once, whatever has come.
    pub(crate) const fn acknowledge_at_once(&mut self) {
        self.schedule = AckSchedule::Due;
    }
}
