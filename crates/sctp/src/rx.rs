//! The receiving half of an association: which TSNs have arrived, when to acknowledge them, and how
//! fragments become messages and messages an ordered stream again.

mod ack_schedule;
mod reassembly;
mod streams;
mod tsn_tracker;

use std::collections::VecDeque;

use slantpath_base::Instant;

use crate::chunk::{Data, GapAckBlock, Sack};
use crate::config::SctpConfig;
use crate::event::ReceivedMessage;
use crate::path::PathId;
use crate::types::{StreamId, Tsn};
use ack_schedule::{AckSchedule, Brought};
use reassembly::{Fragment, Reassembly};
use streams::InboundStreams;
use tsn_tracker::{Arrival, TsnTracker};

/// What is wrong with a DATA chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataFault {
    /// It names a stream that does not exist; it is acknowledged and dropped.
    InvalidStream(StreamId),
    /// It has no payload, which ends the association.
    NoUserData(Tsn),
    /// It starts or goes on with a message that the receive buffer cannot hold, which ends the association.
    NoRoomForMessage,
    /// It contradicts another one, which ends the association.
    Contradiction(&'static str),
}

/// Whether messages are passed on as they arrive.
#[derive(Clone, Debug)]
enum Delivery {
    Flowing,
    /// The layer above has asked to wait.
    Paused(VecDeque<ReceivedMessage>),
}

/// The receiving half.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    tracker: TsnTracker,
    reassembly: Reassembly,
    streams: InboundStreams,
    schedule: AckSchedule,
    delivery: Delivery,
    capacity: u64,
    /// Payload bytes that have arrived and not been passed on.
    buffered_bytes: u64,
    last_advertised: u32,
    /// What the packet at hand has brought so far.
    brought: Brought,
    /// The path that the last DATA came on.
    data_path: Option<PathId>,
}

impl Receiver {
    /// Below this many free bytes, a packet's worth, the window counts as closed.
    const SILLY_WINDOW: u64 = 1_452;

    pub(crate) fn new(initial_tsn: Tsn, inbound_streams: u16, config: &SctpConfig) -> Self {
        Self {
            tracker: TsnTracker::new(initial_tsn),
            reassembly: Reassembly::default(),
            streams: InboundStreams::new(inbound_streams),
            schedule: AckSchedule::default(),
            delivery: Delivery::Flowing,
            capacity: u64::from(config.receive_buffer_bytes),
            buffered_bytes: 0,
            last_advertised: config.receive_buffer_bytes,
            brought: Brought::default(),
            data_path: None,
        }
    }

    /// Takes in a DATA chunk and passes on what has become ready.
    pub(crate) fn on_data(
        &mut self,
        data: Data,
        from: Option<PathId>,
        deliver: impl FnMut(ReceivedMessage),
    ) -> Result<(), DataFault> {
        self.data_path = from.or(self.data_path);
        self.brought.immediate |= data.flags.is_immediate();
        if data.payload.is_empty() {
            return Err(DataFault::NoUserData(data.tsn));
        }
        match self.tracker.classify(data.tsn) {
            Arrival::Duplicate => {
                self.tracker.record_duplicate(data.tsn);
                self.brought.duplicate_or_dropped = true;
                return Ok(());
            }
            Arrival::OutOfReach => {
                self.brought.duplicate_or_dropped = true;
                return Ok(());
            }
            arrival @ (Arrival::Next | Arrival::Ahead) => {
                if !self.has_room(arrival, &data)? {
                    self.brought.duplicate_or_dropped = true;
                    return Ok(());
                }
            }
        }
        self.tracker.record(data.tsn);
        self.brought.new = true;
        if !self.streams.contains(data.stream) {
            return Err(DataFault::InvalidStream(data.stream));
        }
        self.accept(data, deliver)
    }

    /// A packet has been processed to its end: decides when to acknowledge it.
    pub(crate) fn on_packet_end(&mut self, now: Instant, config: &SctpConfig) -> bool {
        let brought = core::mem::take(&mut self.brought);
        self.schedule.on_packet(now, brought, self.tracker.has_gaps(), config);
        brought.any()
    }

    /// The time has come to look at the delay of a SACK.
    pub(crate) fn on_deadline(&mut self, now: Instant) {
        self.schedule.on_deadline(now);
    }

    /// When a delayed SACK falls due.
    pub(crate) const fn next_deadline(&self) -> Option<Instant> {
        self.schedule.deadline()
    }

    /// Whether a SACK could ride on a packet that leaves now.
    pub(crate) const fn is_ack_owed(&self) -> bool {
        self.schedule.is_owed()
    }

    /// Whether a SACK must leave now.
    pub(crate) const fn is_ack_due(&self) -> bool {
        self.schedule.is_due()
    }

    /// The path that the last DATA came on, if it came from a known address.
    pub(crate) const fn data_path(&self) -> Option<PathId> {
        self.data_path
    }

    /// Whether TSNs are missing or came twice, which a cumulative acknowledgement does not tell.
    pub(crate) fn has_gaps_or_duplicates(&self) -> bool {
        self.has_gaps() || !self.tracker.duplicates().is_empty()
    }

    /// Whether TSNs are missing in front of received ones.
    pub(crate) fn has_gaps(&self) -> bool {
        self.tracker.has_gaps()
    }

    /// Everything up to here has been received.
    pub(crate) const fn cumulative_tsn(&self) -> Tsn {
        self.tracker.cumulative()
    }

    /// Payload bytes that wait for order, for fragments or for the layer above.
    pub(crate) const fn buffered_bytes(&self) -> u64 {
        self.buffered_bytes
    }

    /// The length of a SACK that tells all, in bytes.
    pub(crate) fn sack_len(&self) -> usize {
        Sack::FIXED_LEN + 4 * (self.tracker.gap_block_count() + self.tracker.duplicates().len())
    }

    /// The SACK to send, in at most `max_len` bytes; nothing is owed afterwards.
    pub(crate) fn take_sack(&mut self, max_len: usize) -> Sack {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.7
        //# This single SACK chunk MUST report the Gap Ack Blocks from the lowest
        //# to highest TSNs, within the size limit set by the PMTU, and leave the
        //# remaining highest TSN numbers unacknowledged.
        let entries = max_len.saturating_sub(Sack::FIXED_LEN) / 4;
        let blocks = self.tracker.gap_blocks().take(entries);
        let gap_ack_blocks = blocks.map(|(start, end)| GapAckBlock { start, end }).collect();
        let left = entries.saturating_sub(self.tracker.gap_block_count());
        let sack = Sack {
            cumulative_tsn_ack: self.tracker.cumulative(),
            a_rwnd: self.a_rwnd(),
            gap_ack_blocks,
            duplicates: self.tracker.duplicates().iter().copied().take(left).collect(),
        };
        self.last_advertised = sack.a_rwnd;
        self.tracker.clear_duplicates();
        self.schedule = AckSchedule::Nothing;
        sack
    }

    /// The SHUTDOWN that goes out says all that a SACK would.
    pub(crate) fn waive_sack(&mut self) {
        self.schedule = AckSchedule::Nothing;
    }

    /// Holds back messages, which then fill the receive buffer.
    pub(crate) fn pause(&mut self) {
        if matches!(self.delivery, Delivery::Flowing) {
            self.delivery = Delivery::Paused(VecDeque::new());
        }
    }

    /// Passes on what was held back.
    pub(crate) fn resume(&mut self, mut deliver: impl FnMut(ReceivedMessage)) {
        let Delivery::Paused(messages) = core::mem::replace(&mut self.delivery, Delivery::Flowing) else {
            return;
        };
        for message in messages {
            self.buffered_bytes -= message.payload.len() as u64;
            deliver(message);
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
        //# One way to achieve this is to send a window update
        //# only if the window can be increased by at least a quarter of the
        //# receive buffer size of the association.
        let gain = u64::from(self.a_rwnd()).saturating_sub(self.last_advertised.into());
        if gain >= self.capacity / 4 {
            self.schedule = AckSchedule::Due;
        }
    }

    /// What to advertise: the free bytes, or nothing while they are too few to be worth a packet (RFC 1122,
    /// section 4.2.3.3).
    fn a_rwnd(&self) -> u32 {
        let free = self.capacity.saturating_sub(self.buffered_bytes);
        let least = Self::SILLY_WINDOW.min(self.capacity / 2);
        if free < least { 0 } else { u32::try_from(free).unwrap_or(u32::MAX) }
    }

    /// Whether a new chunk may be kept.
    fn has_room(&self, arrival: Arrival, data: &Data) -> Result<bool, DataFault> {
        if self.a_rwnd() > 0 {
            return Ok(true);
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
        //# When the receiver's advertised window is 0, the receiver MUST drop
        //# any new incoming DATA chunk with a TSN larger than the largest TSN
        //# received so far.
        let is_highest = data.tsn.is_after(self.tracker.highest());
        if is_highest {
            // Nothing is missing and nobody was asked to wait: what fills the buffer is a message that does
            // not fit into it, and would never be complete.
            let is_hopeless = arrival == Arrival::Next
                && matches!(&self.delivery, Delivery::Flowing)
                && !data.flags.contain(crate::chunk::DataFlags::WHOLE);
            return if is_hopeless { Err(DataFault::NoRoomForMessage) } else { Ok(false) };
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
        //= type=exception
        //= reason=Nothing acknowledged is dropped; what fills a gap may take the buffer to twice its size.
        //# the receiver
        //# SHOULD drop the largest TSN held for reordering and accept the new
        //# incoming DATA chunk.
        let is_bounded = self.buffered_bytes + data.payload.len() as u64 <= 2 * self.capacity;
        Ok(is_bounded || arrival == Arrival::Next)
    }

    fn accept(&mut self, data: Data, deliver: impl FnMut(ReceivedMessage)) -> Result<(), DataFault> {
        let flags = data.flags;
        self.buffered_bytes += data.payload.len() as u64;
        if flags.is_beginning() && flags.is_ending() {
            self.reassembly.check_whole(data.tsn).map_err(|_| DISAGREE)?;
            let message = ReceivedMessage {
                stream: data.stream,
                sequence: data.sequence,
                ppid: data.ppid,
                payload: data.payload,
                is_unordered: flags.is_unordered(),
            };
            return self.order(message, deliver);
        }
        let fragment = Fragment {
            tsn: data.tsn,
            stream: data.stream,
            sequence: data.sequence,
            ppid: data.ppid,
            is_unordered: flags.is_unordered(),
            is_beginning: flags.is_beginning(),
            is_ending: flags.is_ending(),
            payload: data.payload,
        };
        match self.reassembly.insert(fragment).map_err(|_| DISAGREE)? {
            Some(message) => self.order(message, deliver),
            None => Ok(()),
        }
    }

    fn order(
        &mut self,
        message: ReceivedMessage,
        mut deliver: impl FnMut(ReceivedMessage),
    ) -> Result<(), DataFault> {
        let (buffered, delivery) = (&mut self.buffered_bytes, &mut self.delivery);
        let mut pass_on = |message: ReceivedMessage| match delivery {
            Delivery::Flowing => {
                *buffered -= message.payload.len() as u64;
                deliver(message);
            }
            Delivery::Paused(messages) => messages.push_back(message),
        };
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.6
        //# When an endpoint receives a DATA chunk with the U flag set to 1, it
        //# bypasses the ordering mechanism and immediately deliver the data to
        //# the upper layer (after reassembly if the user data is fragmented by
        //# the data sender).
        if message.is_unordered {
            pass_on(message);
            return Ok(());
        }
        let accepted = self.streams.accept(message, pass_on);
        accepted.map_err(|_| DataFault::Contradiction("a stream sequence number was used twice"))
    }
}

const DISAGREE: DataFault = DataFault::Contradiction("neighbouring fragments disagree about their message");
