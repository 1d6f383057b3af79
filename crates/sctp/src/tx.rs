//! The sending half of an association: messages become DATA chunks, chunks stay outstanding until they are
//! acknowledged, and what is lost is retransmitted.
//!
//! The parts: [`send_queue`] holds what has no TSN yet, [`outstanding`] what has one; [`gap_ranges`] and
//! [`missing`] turn a SACK into what is new in it; [`sack`], [`timed`], [`timeout`], [`mark`] and [`too_big`] draw
//! conclusions; [`transmit`] fills packets, [`route`] says where what is new goes; [`room`] is what is left to it where
//! others of the endpoint send, too; [`peer_window`] knows what the receiver has room for.

mod abandon;
mod abandoned;
mod bundling;
mod cutting;
mod flight_order;
mod gap_ranges;
mod mark;
mod missing;
mod moved;
mod non_renegable;
mod outstanding;
mod peer_window;
mod report;
mod room;
mod route;
mod sack;
mod scheduler;
mod send_queue;
mod spread;
mod steps;
mod streams;
mod timed;
mod timeout;
mod too_big;
mod transmit;
mod waiting;

use abandon::Abandonment;
pub(crate) use abandon::AbandonmentCounts;
pub use abandoned::StreamAbandonment;
use bundling::Bundling;
pub(crate) use sack::{SackEffect, SackFault, SackView};
pub(crate) use streams::UnderWay;
pub(crate) use timeout::TimeoutMeaning;
pub(crate) use transmit::Transmission;

use std::collections::VecDeque;

use slantpath_base::{Instant, Timer};
use smallvec::SmallVec;

use crate::config::SctpConfig;
use crate::event::{Event, Message, SendError};
use crate::extension::Extension;
use crate::path::{PathId, Paths};
use crate::tcb::Tcb;
use crate::types::{StreamId, Tsn};
use flight_order::FlightOrder;
use gap_ranges::GapRanges;
use missing::MissingReports;
use non_renegable::NonRenegable;
use outstanding::Outstanding;
use peer_window::PeerWindow;
use report::Reports;
use route::Routing;
use send_queue::SendQueue;
use spread::Spread;
use steps::Steps;

/// Context of the sending half while it handles one input.
pub(crate) struct Turn<'a> {
    pub(crate) now: Instant,
    pub(crate) config: &'a SctpConfig,
    pub(crate) paths: &'a mut Paths,
    pub(crate) events: &'a mut VecDeque<Event>,
    /// True if the association waits for the last acknowledgement.
    pub(crate) is_shutting_down: bool,
}

/// Recovery of the association from losses that gap reports have shown (RFC 9260, section 7.2.4).
#[derive(Clone, Debug, PartialEq, Eq)]
enum Recovery {
    No,
    Fast {
        /// The highest TSN that was outstanding when it began.
        exit: Tsn,
        /// The paths whose windows were reduced when it began.
        halved: SmallVec<[PathId; 2]>,
    },
}

impl Recovery {
    /// Tells if the window of `path` has been reduced for losses among which `tsn` counts.
    fn has_halved(&self, path: PathId, tsn: Tsn) -> bool {
        matches!(self, Self::Fast { exit, halved } if tsn.is_at_or_before(*exit) && halved.contains(&path))
    }
}

/// The packet that may leave although the congestion window is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Urgent {
    No,
    /// A probe for the loss of the last chunks on a path (RFC 8985, section 7).
    LossProbe(PathId),
    /// The first retransmission after a loss was found.
    OnePacket,
}

/// Permission for timed-out DATA to go out as far as windows allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remainder {
    /// Free to go out.
    Free,
    /// One packet may, and then nothing until a SACK acknowledges something.
    AfterSack,
}

/// State of the layer above: waiting for room in the send buffer, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Backlog {
    /// No message has been refused, or room has been announced since.
    #[default]
    Open,
    /// A message has been refused for want of room, at this fill level. Until the buffer holds less there is no news:
    /// who tried again at once, and was refused and told of room at once, would never come to an end.
    Refused {
        /// Fill level of the buffer at that time, in bytes.
        buffered_bytes: u64,
    },
    /// A message has been refused that the buffer has room for: all buffers of the endpoint together have not. The
    /// endpoint says when they have.
    RefusedByAll {
        /// Bytes that it would take.
        wanted: u64,
        /// True once the endpoint knows.
        is_known: bool,
    },
}

/// The sending half.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    queue: SendQueue,
    outstanding: Outstanding,
    flight_order: FlightOrder,
    acked_gaps: GapRanges,
    /// Once an NR-SACK has come.
    non_renegable: Option<Box<NonRenegable>>,
    missing: MissingReports,
    /// Chunks to be retransmitted, ascending. A chunk that was acknowledged since is skipped when it is met.
    lost: VecDeque<Tsn>,
    /// The chunks that are retransmitted in the packet that is being filled; empty otherwise.
    packed: Vec<Tsn>,
    recovery: Recovery,
    urgent: Urgent,
    remainder: Remainder,
    peer_window: PeerWindow,
    bundling: Bundling,
    routing: Routing,
    /// True if a message has named its destination: from then on messages may take several paths side by side.
    has_directed: bool,
    /// State of the paths that share the DATA, where several are used at once.
    spread: Option<Box<Spread>>,
    /// Payload bytes that have been handed over and not been acknowledged.
    buffered_bytes: u64,
    /// The messages that they are of: one counts until all of it is gone.
    buffered_messages: u64,
    /// Greatest number of messages that there may be.
    most_messages: u64,
    /// Most bytes that there may be.
    most_bytes: u64,
    backlog: Backlog,
    steps: Steps,
    reports: Reports,
    /// True if the peer can be told that something will never come.
    may_abandon_sent: bool,
    /// Once a message has been handed over that may be given up.
    abandonment: Option<Box<Abandonment>>,
}

impl Sender {
    pub(crate) fn new(tcb: &Tcb, config: &SctpConfig) -> Self {
        let initial_tsn = tcb.local_initial_tsn;
        let interleaves = tcb.extensions.contain(Extension::Interleaving);
        Self {
            queue: SendQueue::new(config, tcb.outbound_streams, interleaves),
            outstanding: Outstanding::new(initial_tsn, interleaves),
            flight_order: FlightOrder::default(),
            acked_gaps: GapRanges::default(),
            non_renegable: None,
            missing: MissingReports::new(initial_tsn.minus(1)),
            lost: VecDeque::new(),
            packed: Vec::new(),
            recovery: Recovery::No,
            urgent: Urgent::No,
            remainder: Remainder::Free,
            peer_window: PeerWindow::new(tcb.peer_rwnd),
            bundling: Bundling::Idle,
            routing: Routing::new(config),
            has_directed: false,
            spread: Spread::new(config),
            buffered_bytes: 0,
            buffered_messages: 0,
            most_messages: config.most_messages(),
            most_bytes: config.send_buffer_bytes,
            backlog: Backlog::Open,
            steps: Steps::default(),
            reports: Reports::default(),
            may_abandon_sent: tcb.extensions.contain(Extension::PartialReliability),
            abandonment: None,
        }
    }

    /// Takes a message over from the layer above that has no options, while there is none that may be given up.
    #[expect(clippy::inline_always, reason = "a message is large to move")]
    #[inline(always)]
    pub(crate) fn push(&mut self, message: Message, config: &SctpConfig) -> Result<(), SendError> {
        let len = self.check(&message, config)?;
        if self.is_full_for(len) {
            return Err(self.refuse(len, config));
        }
        self.take_in(len);
        self.queue.push(message);
        Ok(())
    }

    /// Takes any message over.
    pub(crate) fn push_special(&mut self, turn: &mut Turn<'_>, message: Message) -> Result<(), SendError> {
        self.admit(turn, &message)?;
        self.push_admitted(turn, message);
        Ok(())
    }

    /// Messages have been refused on behalf of this half: room is to be announced.
    pub(crate) fn expect_room(&mut self, turn: &mut Turn<'_>) {
        self.backlog = Backlog::Refused { buffered_bytes: u64::MAX };
        self.announce_room(turn);
    }

    /// Tells if a message has been refused for want of room and room has not been announced since.
    pub(crate) fn owes_room(&self) -> bool {
        !matches!(self.backlog, Backlog::Open)
    }

    /// Tells if everything handed over has been acknowledged.
    pub(crate) fn is_drained(&self) -> bool {
        self.outstanding.is_empty() && self.queue.is_empty()
    }

    /// Tells if every message handed over has been cut into chunks.
    pub(crate) fn has_no_queue(&self) -> bool {
        self.queue.is_empty()
    }

    /// Tells if chunks are outstanding.
    pub(crate) fn has_outstanding(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// Numbers of the chunks of unordered messages that have been cut, and of the messages that have been fragmented.
    pub(crate) const fn cut_counts(&self) -> (u64, u64) {
        self.queue.cut_counts()
    }

    /// Payload bytes that have been handed over and not been acknowledged.
    pub(crate) const fn buffered_bytes(&self) -> u64 {
        self.buffered_bytes
    }

    /// Chunks that have a TSN and have not been acknowledged cumulatively.
    pub(crate) fn outstanding_chunks(&self) -> usize {
        self.outstanding.len()
    }

    /// Window of the peer beyond what is in flight, in bytes.
    pub(crate) const fn peer_rwnd(&self) -> u64 {
        self.peer_window.rwnd(self.outstanding.in_flight_payload())
    }

    /// Everything up to here has been acknowledged.
    pub(crate) const fn cumulative_ack(&self) -> Tsn {
        self.outstanding.cumulative_ack()
    }

    /// Instant at which the next zero window probe is due, or DATA that waits for more to be bundled with has waited
    /// long enough.
    pub(crate) fn next_deadline(&self) -> Timer {
        self.peer_window.probe_deadline().or_earlier(self.bundling.deadline())
    }

    /// Instant at which the next queued message expires.
    pub(crate) fn next_expiry(&self) -> Option<Instant> {
        self.abandonment.as_ref()?.next_expiry()
    }

    /// Sets the priority or weight of a stream.
    pub(crate) fn set_stream_value(&mut self, stream: StreamId, value: u16) {
        self.queue.set_stream_value(stream, value);
    }

    /// Streams get the priorities and weights that they have in another half.
    pub(crate) fn take_stream_values(&mut self, other: &Self) {
        self.queue.take_stream_values(&other.queue);
    }

    /// Tells if the association is in Fast Recovery.
    pub(crate) const fn in_fast_recovery(&self) -> bool {
        matches!(self.recovery, Recovery::Fast { .. })
    }

    /// Gives up every message that is not acknowledged whole, in the order of their transmission, and says of each
    /// whether something of it was sent.
    pub(crate) fn drain_messages(&mut self, on_received: impl FnMut(u64)) -> Vec<(Message, bool)> {
        self.buffered_bytes = 0;
        self.buffered_messages = 0;
        let mut messages = self.outstanding.drain_messages(on_received);
        let begun = messages.len() + self.queue.begun();
        messages.extend(self.queue.drain());
        messages.into_iter().enumerate().map(|(place, message)| (message, place < begun)).collect()
    }

    /// Tells if the buffer has no room for a message of `len` bytes.
    #[inline]
    fn is_full_for(&self, len: u64) -> bool {
        self.buffered_bytes + len > self.most_bytes || self.buffered_messages >= self.most_messages
    }

    /// Counts a message as handed over.
    #[inline]
    const fn take_in(&mut self, len: u64) {
        self.buffered_bytes += len;
        self.buffered_messages += 1;
    }

    /// Notes that payload has left the buffer; `is_last`: nothing of its message is left.
    fn release(&mut self, payload_len: u64, is_last: bool) {
        self.buffered_bytes = self.buffered_bytes.checked_sub(payload_len).expect("bytes leave once");
        let messages = self.buffered_messages.checked_sub(u64::from(is_last && payload_len > 0));
        self.buffered_messages = messages.expect("a message leaves once");
        debug_assert!(self.buffered_bytes > 0 || self.buffered_messages == 0, "what is left has bytes");
    }
}

#[cfg(test)]
pub(crate) mod tests;
