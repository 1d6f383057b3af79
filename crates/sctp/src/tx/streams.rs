//! Streams are reset or added (RFC 6525): what is still under way on them, and the numbers that they begin with.

use super::flight_order::FlightOrder;
use super::gap_ranges::GapRanges;
use super::missing::MissingReports;
use super::{Recovery, Remainder, Sender, Turn, Urgent};
use crate::config::SctpConfig;
use crate::event::{Message, SendError};
use crate::path::Paths;
use crate::reliability::Reliability;
use crate::types::{StreamId, Tsn};

/// Before when messages of some streams are under way for certain, so that nobody has to look for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnderWay {
    /// Until so many chunks have been sent that this is the next TSN, or nothing is left to send.
    UntilSent(Tsn),
    /// Until this TSN has been acknowledged.
    UntilAcknowledged(Tsn),
}

impl Sender {
    /// Refuses a message that could not be queued whatever else waits; gives how long it is, in bytes.
    #[inline]
    pub(super) fn check(&self, message: &Message, config: &SctpConfig) -> Result<u64, SendError> {
        let len = message.payload.len() as u64;
        let limit = config.send_buffer_bytes;
        if len == 0 {
            return Err(SendError::Empty);
        }
        if !self.queue.contains_stream(message.stream) {
            let available = self.queue.stream_count();
            return Err(SendError::NoSuchStream { stream: message.stream, available });
        }
        if len > limit {
            return Err(SendError::TooLong { len, limit });
        }
        Ok(len)
    }

    /// There is no room for a message now.
    #[cold]
    pub(super) fn refuse(&mut self, wanted: u64, config: &SctpConfig) -> SendError {
        self.note_refusal(wanted, config);
        let left = self.most_bytes.saturating_sub(self.buffered_bytes);
        SendError::BufferFull { wanted, free: if wanted > left { left } else { 0 } }
    }

    /// Tells if a message could be queued; if so, it counts as handed over.
    pub(crate) fn admit(&mut self, turn: &mut Turn<'_>, message: &Message) -> Result<(), SendError> {
        let len = self.check(message, turn.config)?;
        if self.is_full_for(len) && !self.make_room(turn, reliability_of(message), len) {
            return Err(self.refuse(len, turn.config));
        }
        self.take_in(len);
        Ok(())
    }

    /// Queues a message that has been [admitted](Self::admit).
    pub(crate) fn push_admitted(&mut self, turn: &mut Turn<'_>, message: Message) {
        if message.options.is_some() {
            self.note_destination(&message, turn.config);
        }
        match reliability_of(&message) {
            Reliability::Full => self.queue.push(message),
            reliability => self.push_perishable(turn, message, reliability),
        }
    }

    /// Number of outbound streams.
    pub(crate) const fn stream_count(&self) -> u16 {
        self.queue.stream_count()
    }

    /// The last TSN that has been assigned.
    pub(crate) fn last_assigned_tsn(&self) -> Tsn {
        self.outstanding.highest_sent()
    }

    /// Until when messages of some streams are under way at least; `None`: all have been acknowledged.
    pub(crate) fn under_way(&self, is_meant: impl Fn(StreamId) -> bool) -> Option<UnderWay> {
        if let Some(before) = self.queue.first_on(&is_meant) {
            // Each message in front of it takes a TSN or more.
            return Some(UnderWay::UntilSent(self.outstanding.next_tsn().plus(before.saturating_add(1))));
        }
        self.outstanding.last_on(is_meant).map(UnderWay::UntilAcknowledged)
    }

    /// Tells if the moment `until` has come at which it is to be checked again if something is under way.
    pub(crate) fn has_come(&self, until: UnderWay) -> bool {
        match until {
            UnderWay::UntilSent(tsn) => {
                self.queue.is_empty() || self.outstanding.next_tsn().is_at_or_after(tsn)
            }
            UnderWay::UntilAcknowledged(tsn) => tsn.is_at_or_before(self.outstanding.cumulative_ack()),
        }
    }

    /// Tells if the next ordered message of each of some streams has Stream Sequence Number 0.
    pub(crate) fn begins_anew(&self, is_meant: impl Fn(StreamId) -> bool) -> bool {
        self.queue.begins_anew(is_meant)
    }

    /// The next ordered message of each of some streams has Stream Sequence Number 0.
    pub(crate) fn reset_streams(&mut self, is_meant: impl Fn(StreamId) -> bool) {
        self.queue.reset_numbers(is_meant);
    }

    /// There are so many more streams.
    pub(crate) fn add_streams(&mut self, count: u16) {
        self.queue.add_streams(count);
    }

    /// TSNs go on with `next`, while nothing is outstanding.
    pub(crate) fn restart_numbers(&mut self, next: Tsn, paths: &mut Paths) {
        self.outstanding.restart(next);
        self.flight_order = FlightOrder::default();
        self.acked_gaps = GapRanges::default();
        self.missing = MissingReports::new(next.minus(1));
        self.non_renegable = None;
        self.lost.clear();
        self.recovery = Recovery::No;
        self.urgent = Urgent::No;
        self.remainder = Remainder::Free;
        self.peer_window.end_probe();
        paths.for_each(crate::path::Path::forget_numbers);
    }
}

fn reliability_of(message: &Message) -> Reliability {
    message.options.as_ref().map_or(Reliability::Full, |options| options.reliability)
}
