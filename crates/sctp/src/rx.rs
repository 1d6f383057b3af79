//! The receiving half of an association: which TSNs have arrived, when to acknowledge them, and how
//! fragments become messages and messages an ordered stream again.

mod ack_schedule;
mod held;
mod i_data;
mod interleaved;
mod reassembly;
mod reconfiguration;
mod skip;
mod streams;
#[cfg(test)]
mod tests;
mod tsn_tracker;

use std::collections::VecDeque;

use slantpath_base::{Instant, Timer};
use slantpath_wire::ip::IpFields;
use smallvec::SmallVec;

use crate::chunk::{Data, DataFlags, GapAckBlock, Sack};
use crate::config::{FirstSack, SctpConfig};
use crate::event::{Event, ReceivedMessage};
use crate::extension::{Extension, Extensions};
use crate::path::PathId;
use crate::reconfiguration::StreamsChanged;
use crate::types::{StreamId, StreamSequence, Tsn};
use ack_schedule::{AckSchedule, Brought};
use held::{Held, to_keep};
use interleaved::Interleaved;

use reassembly::{Fragment, Heading, Inserted, Reassembly};
use streams::InboundStreams;
use tsn_tracker::{Arrival, Position, TsnTracker};

/// Fault of a DATA chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataFault {
    /// Stream that does not exist; the chunk is acknowledged and dropped.
    InvalidStream(StreamId),
    /// Chunk without payload, which ends the association.
    NoUserData(Tsn),
    /// The receive buffer is full of what can never be delivered, which ends the association.
    NoRoomForMessage,
    /// Contradiction to another chunk, which ends the association.
    Contradiction(&'static str),
}

/// State of delivery: messages are passed on as they arrive, or held back.
#[derive(Clone, Debug)]
enum Delivery {
    Flowing,
    /// The layer above has asked to wait: messages and parts of messages, in their order.
    Paused {
        waiting: VecDeque<Event>,
        held: Held,
    },
}

/// Counts of DATA chunks that did not come one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Oddities {
    /// Chunks that came behind a gap.
    pub(crate) ahead: u64,
    /// Chunks that had come before.
    pub(crate) duplicates: u64,
}

/// The receiving half.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    tracker: TsnTracker,
    reassembly: Reassembly,
    streams: InboundStreams,
    /// In place of the two, if chunks are I-DATA.
    interleaved: Option<Box<Interleaved>>,
    schedule: AckSchedule,
    delivery: Delivery,
    capacity: u64,
    /// So much of a message is passed on before its end has come.
    partial_delivery_point: u64,
    last_advertised: u32,
    /// Rest of the window that was advertised last, in bytes. Data that [`Self::count_at_once`] takes is left out: it
    /// comes while the whole buffer is free, where nothing depends on this.
    promised: u64,
    /// True if it is to be reported when a message has arrived whole.
    traces_arrivals: bool,
    /// Kinds of DATA that the packet at hand has brought so far.
    brought: Brought,
    /// Chunks that came behind a gap, and chunks that had come before.
    oddities: Oddities,
    /// The path that the last DATA came on.
    data_path: Option<PathId>,
    /// IP header fields of the last packet whose data did not pass at once: all data that is kept or reassembled has
    /// come in such packets.
    ip: IpFields,
}

impl Receiver {
    /// Fewer free bytes than these, a packet's worth, are not offered anew.
    const SILLY_WINDOW: u64 = 1_452;

    pub(crate) fn new(
        initial_tsn: Tsn,
        inbound_streams: u16,
        extensions: Extensions,
        config: &SctpConfig,
    ) -> Self {
        Self {
            tracker: TsnTracker::new(initial_tsn),
            reassembly: Reassembly::new(extensions.contain(Extension::PartialReliability)),
            streams: InboundStreams::new(inbound_streams),
            interleaved: extensions.contain(Extension::Interleaving).then(Box::default),
            schedule: match config.first_sack {
                FirstSack::AtOnce => AckSchedule::Fresh,
                FirstSack::AsAnyOther => AckSchedule::Nothing,
            },
            delivery: Delivery::Flowing,
            capacity: u64::from(config.receive_buffer_bytes),
            partial_delivery_point: config
                .partial_delivery_point_bytes
                .unwrap_or(config.receive_buffer_bytes / 2)
                .into(),
            last_advertised: config.receive_buffer_bytes,
            promised: config.receive_buffer_bytes.into(),
            traces_arrivals: config.trace_arrivals,
            brought: Brought::default(),
            oddities: Oddities::default(),
            data_path: None,
            ip: IpFields::default(),
        }
    }

    /// Takes in a DATA chunk of a packet of `packet_len` bytes, whose IP header says `ip`, and passes on what has
    /// become ready.
    #[expect(clippy::inline_always, reason = "a chunk is large to move")]
    #[inline(always)]
    pub(crate) fn on_data(
        &mut self,
        data: Data,
        packet_len: usize,
        from: Option<PathId>,
        ip: IpFields,
        mut deliver: impl FnMut(Event),
    ) -> Result<(), DataFault> {
        self.data_path = from.or(self.data_path);
        self.brought.immediate |= data.flags.is_immediate();
        if data.payload.is_empty() {
            return Err(DataFault::NoUserData(data.tsn));
        }
        if self.count_at_once(&data) {
            deliver(Event::Received(message_of(data, ip)));
            return Ok(());
        }
        self.ip = ip;
        self.on_any_data(data, packet_len, deliver)
    }

    /// Variant of [`on_data`](Self::on_data) for a chunk of any kind that has user data.
    #[inline(never)]
    fn on_any_data(
        &mut self,
        data: Data,
        packet_len: usize,
        mut deliver: impl FnMut(Event),
    ) -> Result<(), DataFault> {
        let arrival = self.tracker.classify(data.tsn);
        match arrival {
            Arrival::Duplicate => {
                self.tracker.record_duplicate(data.tsn);
                self.oddities.duplicates += 1;
                self.brought.duplicate_or_dropped = true;
                return Ok(());
            }
            Arrival::OutOfReach => {
                self.brought.duplicate_or_dropped = true;
                return Ok(());
            }
            Arrival::Next | Arrival::Ahead => {
                let is_whole = data.flags.contain(DataFlags::WHOLE);
                if !self.has_room(arrival, data.tsn, data.payload.len(), is_whole)? {
                    self.brought.duplicate_or_dropped = true;
                    return Ok(());
                }
            }
        }
        self.oddities.ahead += u64::from(arrival == Arrival::Ahead);
        let at = self.tracker.record(data.tsn);
        self.count_received(data.payload.len());
        if !self.streams.contains(data.stream) {
            return Err(DataFault::InvalidStream(data.stream));
        }
        let grown = self.accept(data, at, packet_len, &mut deliver)?;
        self.deliver_part(grown, deliver);
        // Nothing is dropped that comes next, so that a buffer that is far too full by now has been filled with
        // messages whose turn never comes.
        if !self.is_paused() && self.size_with(self.held()) > self.limit() + u64::from(u16::MAX) {
            return Err(DataFault::NoRoomForMessage);
        }
        Ok(())
    }

    /// Counts a chunk as received and its message as delivered, and says so, if it is a whole message that comes next
    /// while nothing is missing, nothing kept and nothing more to say: what most are, and what no rule for gaps,
    /// fragments and full buffers bears on.
    fn count_at_once(&mut self, data: &Data) -> bool {
        let is_plain = data.tsn == self.tracker.cumulative().next()
            && data.flags.contain(DataFlags::WHOLE)
            && self.capacity > 0
            && !self.is_paused()
            && !self.traces_arrivals
            && !self.tracker.has_gaps()
            && self.reassembly.is_empty()
            && self.streams.contains(data.stream)
            && self.streams.holds_nothing()
            && (data.flags.is_unordered() || self.streams.advance_if_next(data.stream, data.sequence));
        if is_plain {
            self.tracker.advance();
            self.brought.new = true;
        }
        is_plain
    }

    /// Counts a chunk with so many bytes of payload as received, and as sent into the window that was advertised.
    const fn count_received(&mut self, payload_len: usize) {
        self.promised = self.promised.saturating_sub(payload_len as u64);
        self.brought.new = true;
    }

    /// A packet has been processed to its end: decides when to acknowledge it.
    #[expect(clippy::inline_always, reason = "each packet passes it once")]
    #[inline(always)]
    pub(crate) fn on_packet_end(&mut self, now: Instant, config: &SctpConfig) -> bool {
        let brought = core::mem::take(&mut self.brought);
        // Where several paths are used at once holes are what is to be expected (DAC: Iyengar et al. 2006, section
        // III.C).
        let has_gaps = self.tracker.has_gaps() && !config.multipath.is_on();
        self.schedule.on_packet(now, brought, has_gaps, config);
        brought.any()
    }

    /// The time has come to look at the delay of a SACK.
    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        self.schedule.handle_deadline(now);
    }

    /// Instant at which a delayed SACK falls due.
    pub(crate) const fn next_deadline(&self) -> Timer {
        self.schedule.deadline()
    }

    /// Tells if a SACK could be bundled with a packet that leaves now.
    pub(crate) const fn is_ack_owed(&self) -> bool {
        self.schedule.is_owed()
    }

    /// Tells if a SACK must leave now.
    pub(crate) const fn is_ack_due(&self) -> bool {
        self.schedule.is_due()
    }

    /// An address of the peer is deleted.
    pub(crate) fn forget_path(&mut self, path: PathId) {
        self.data_path = self.data_path.filter(|last| *last != path);
    }

    /// The path that the last DATA came on, if it came from a known address.
    pub(crate) const fn data_path(&self) -> Option<PathId> {
        self.data_path
    }

    /// Tells if TSNs are missing or came twice, which a cumulative acknowledgement does not tell.
    pub(crate) fn has_gaps_or_duplicates(&self) -> bool {
        self.has_gaps() || !self.tracker.duplicates().is_empty()
    }

    /// Tells if TSNs are missing in front of received ones.
    pub(crate) fn has_gaps(&self) -> bool {
        self.tracker.has_gaps()
    }

    /// Everything up to here has been received.
    pub(crate) const fn cumulative_tsn(&self) -> Tsn {
        self.tracker.cumulative()
    }

    /// Payload bytes that wait for order, for fragments or for the layer above.
    pub(crate) fn buffered_bytes(&self) -> u64 {
        self.held().payload
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
        let mut sack = Sack {
            cumulative_tsn_ack: self.tracker.cumulative(),
            a_rwnd: self.advertise(),
            gap_ack_blocks: SmallVec::new(),
            duplicates: SmallVec::new(),
        };
        if self.has_gaps_or_duplicates() {
            let blocks = self.tracker.gap_blocks().take(entries);
            sack.gap_ack_blocks.extend(blocks.map(|(start, end)| GapAckBlock { start, end }));
            let left = entries.saturating_sub(self.tracker.gap_block_count());
            sack.duplicates.extend(self.tracker.duplicates().iter().copied().take(left));
            self.tracker.clear_duplicates();
        }
        self.schedule = AckSchedule::Nothing;
        sack
    }

    /// Takes the SACK if it is one without blocks and duplicates, as most are: the cumulative TSN ack and the window.
    #[inline]
    pub(crate) fn take_plain_sack(&mut self) -> Option<(Tsn, u32)> {
        if self.has_gaps_or_duplicates() {
            return None;
        }
        let a_rwnd = self.advertise();
        self.schedule = AckSchedule::Nothing;
        Some((self.tracker.cumulative(), a_rwnd))
    }

    /// The SHUTDOWN that goes out says all that a SACK would.
    pub(crate) fn waive_sack(&mut self) {
        self.schedule = AckSchedule::Nothing;
    }

    /// Holds back messages, which then fill the receive buffer.
    pub(crate) fn pause(&mut self) {
        if !self.is_paused() {
            self.delivery = Delivery::Paused { waiting: VecDeque::new(), held: Held::default() };
        }
    }

    /// Messages that have come in fragments, whole.
    pub(crate) const fn messages_reassembled(&self) -> u64 {
        self.reassembly.finished()
    }

    /// Chunks that came behind a gap, and chunks that had come before.
    pub(crate) const fn oddities(&self) -> Oddities {
        self.oddities
    }

    /// Tells if messages are held back.
    pub(crate) const fn is_paused(&self) -> bool {
        matches!(self.delivery, Delivery::Paused { .. })
    }

    /// Passes on what was held back.
    pub(crate) fn resume(&mut self, mut deliver: impl FnMut(Event)) {
        if self.is_paused() {
            self.release(&mut deliver);
            self.deliver_part(None, &mut deliver);
            self.deliver_interleaved_parts(deliver);
            self.update_window();
        }
    }

    /// Passes on the first message that was held back, and goes on holding back if more were.
    pub(crate) fn deliver_next(&mut self, mut deliver: impl FnMut(Event)) {
        while let Delivery::Paused { waiting, held } = &mut self.delivery
            && waiting.len() > 1
            && let Some(event) = waiting.pop_front()
        {
            // Resets of streams are not counted.
            if !matches!(event, Event::StreamsChanged(_)) {
                held.release(event.payload_len(), 1);
            }
            let ends_message = event.ends_message();
            deliver(event);
            if ends_message {
                return self.update_window();
            }
        }
        self.resume(deliver);
    }

    /// The association is over: passes on what was held back, and tells of a message whose rest will never come.
    pub(crate) fn finish(&mut self, mut deliver: impl FnMut(Event)) {
        self.release(&mut deliver);
        if let Some(Heading { stream, sequence, is_unordered, .. }) = self.reassembly.message_in_parts() {
            deliver(Event::PartialDeliveryAborted { stream, sequence, is_unordered });
        }
        if let Some(interleaved) = &mut self.interleaved {
            interleaved.finish(deliver);
        }
    }

    fn release(&mut self, deliver: impl FnMut(Event)) {
        if let Delivery::Paused { waiting, .. } = core::mem::replace(&mut self.delivery, Delivery::Flowing) {
            waiting.into_iter().for_each(deliver);
        }
    }

    /// Tells if the window has opened much since the last SACK.
    pub(crate) fn has_opened_window(&self) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
        //# One way to achieve this is to send a window update
        //# only if the window can be increased by at least a quarter of the
        //# receive buffer size of the association.
        let gain = u64::from(self.a_rwnd()).saturating_sub(self.last_advertised.into());
        gain >= self.capacity / 4
    }

    /// Sends a SACK if that is so.
    fn update_window(&mut self) {
        if self.has_opened_window() {
            self.schedule = AckSchedule::Due;
        }
    }

    /// Payload that waits for order, for fragments or for the layer above.
    fn held(&self) -> Held {
        let paused = match &self.delivery {
            Delivery::Flowing => Held::default(),
            Delivery::Paused { held, .. } => *held,
        };
        let own = self.reassembly.held() + self.streams.held() + paused;
        match &self.interleaved {
            None => own,
            Some(interleaved) => own + interleaved.held(),
        }
    }

    /// Cost of `held`, and of the gaps between what has been received, in bytes.
    fn size_with(&self, held: Held) -> u64 {
        held.size() + self.tracker.size()
    }

    /// Limit of the cost of the receive buffer, in bytes: data that fills gaps may take it to twice its size, and as
    /// much again goes to the cost of keeping it.
    const fn limit(&self) -> u64 {
        4 * self.capacity
    }

    /// The free bytes. What keeping short chunks costs beyond their payload may take as much room as payload may, and
    /// counts from there on.
    fn free(&self) -> u64 {
        let held = self.held();
        let free = self.capacity.saturating_sub(held.payload);
        free.min((2 * self.capacity).saturating_sub(self.size_with(held)))
    }

    /// Tells if so many free bytes are too few to be worth a packet.
    fn is_silly(&self, free: u64) -> bool {
        free < Self::SILLY_WINDOW.min(self.capacity / 2)
    }

    /// Window to advertise: the free bytes, but while these are too few to be worth a packet nothing that the peer was
    /// not told of before (RFC 1122, section 4.2.3.3). Data for a window that it was told of may be in flight, and that
    /// window is not taken back.
    fn a_rwnd(&self) -> u32 {
        let free = self.free();
        let offered = if self.is_silly(free) { free.min(self.promised) } else { free };
        u32::try_from(offered).unwrap_or(u32::MAX)
    }

    /// Gives the window to advertise in a SACK that leaves, and notes it.
    fn advertise(&mut self) -> u32 {
        self.last_advertised = self.a_rwnd();
        self.promised = self.last_advertised.into();
        self.last_advertised
    }

    /// Tells if a new chunk may be kept.
    fn has_room(
        &self,
        arrival: Arrival,
        tsn: Tsn,
        payload_len: usize,
        is_whole: bool,
    ) -> Result<bool, DataFault> {
        if self.a_rwnd() > 0 {
            return Ok(true);
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
        //# When the receiver's advertised window is 0, the receiver MUST drop
        //# any new incoming DATA chunk with a TSN larger than the largest TSN
        //# received so far.
        if self.tracker.is_highest(tsn) {
            // Nothing is missing, nobody was asked to wait, and no part of a message can be passed on: what fills
            // the buffer will never be.
            let is_hopeless = arrival == Arrival::Next && !self.is_paused() && !is_whole;
            return if is_hopeless { Err(DataFault::NoRoomForMessage) } else { Ok(false) };
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
        //= type=exception
        //= reason=Nothing acknowledged is dropped; what fills a gap may take the buffer to twice its size.
        //# the receiver
        //# SHOULD drop the largest TSN held for reordering and accept the new
        //# incoming DATA chunk.
        let mut held = self.held();
        held.add(payload_len);
        let is_bounded = held.payload <= 2 * self.capacity && self.size_with(held) <= self.limit();
        // What comes next is passed on, with all that has waited for it.
        Ok(is_bounded || arrival == Arrival::Next && !self.is_paused())
    }

    /// Takes in a new chunk; says where the run starts that has grown by it.
    fn accept(
        &mut self,
        data: Data,
        at: Position,
        packet_len: usize,
        mut deliver: impl FnMut(Event),
    ) -> Result<Option<Position>, DataFault> {
        if data.flags.contain(DataFlags::WHOLE) {
            self.reassembly.check_whole(at).map_err(|_| DISAGREE)?;
            let mut message = message_of(data, self.ip);
            let is_next = message.is_unordered || message.sequence == self.streams.expected(message.stream);
            if self.is_paused() || !is_next {
                message.payload = to_keep(message.payload, packet_len);
            }
            self.order(message, deliver)?;
            return Ok(None);
        }
        let Data { flags, tsn, stream, sequence, ppid, payload } = data;
        let is_unordered = flags.is_unordered();
        let fragment = Fragment {
            at,
            heading: Heading { stream, sequence, ppid, tsn, is_unordered },
            is_beginning: flags.is_beginning(),
            is_ending: flags.is_ending(),
            payload: to_keep(payload, packet_len),
        };
        match self.reassembly.insert(fragment, self.ip).map_err(|_| DISAGREE)? {
            Inserted::Grown(run) => return Ok(Some(run)),
            Inserted::Message(message) => self.order(message, deliver)?,
            Inserted::LastPart(part) => {
                self.trace_arrival(stream, sequence, is_unordered, &mut deliver);
                self.delivery.pass_on(Event::ReceivedPart(part), &mut deliver);
                if !is_unordered {
                    let delivery = &mut self.delivery;
                    let pass_on = |message| delivery.pass_on(Event::Received(message), &mut deliver);
                    self.streams.advance(stream, pass_on);
                }
            }
        }
        Ok(None)
    }

    fn trace_arrival(
        &self,
        stream: StreamId,
        sequence: StreamSequence,
        is_unordered: bool,
        mut deliver: impl FnMut(Event),
    ) {
        if self.traces_arrivals {
            deliver(Event::Arrived { stream, sequence, is_unordered });
        }
    }

    fn order(&mut self, message: ReceivedMessage, mut deliver: impl FnMut(Event)) -> Result<(), DataFault> {
        self.trace_arrival(message.stream, message.sequence, message.is_unordered, &mut deliver);
        let delivery = &mut self.delivery;
        let mut pass_on = |message| delivery.pass_on(Event::Received(message), &mut deliver);
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.6
        //# When an endpoint receives a DATA chunk with the U flag set to 1, it
        //# bypasses the ordering mechanism and immediately deliver the data to
        //# the upper layer (after reassembly if the user data is fragmented by
        //# the data sender).
        if message.is_unordered {
            pass_on(message);
            return Ok(());
        }
        let is_in_parts = |heading: Heading| {
            !heading.is_unordered && heading.stream == message.stream && heading.sequence == message.sequence
        };
        if self.reassembly.message_in_parts().is_some_and(is_in_parts) {
            return Err(REUSED);
        }
        self.streams.accept(message, pass_on).map_err(|_| REUSED)
    }

    /// Passes on a part of an incomplete message if that is long enough, or fills the buffer: the message that is in
    /// parts already, or else the one that the run at `grown` begins, or the first of all.
    fn deliver_part(&mut self, grown: Option<Position>, mut deliver: impl FnMut(Event)) {
        if self.is_paused() {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.9
        //# If the data receiver runs out of buffer space while still waiting for
        //# more fragments to complete the reassembly of the message, it SHOULD
        //# dispatch part of its inbound message through a partial delivery API
        //# (see Section 11), freeing some of its receive buffer space so that
        //# the rest of the message can be received.
        let is_full = self.is_silly(self.free());
        let candidates = match self.reassembly.in_parts() {
            Some(run) => [Some(run), None],
            None => [grown, self.reassembly.first_run().filter(|_| is_full)],
        };
        let is_ready = |run: &Position| {
            self.reassembly.beginning_at(*run).is_some_and(|(heading, waiting)| {
                let is_next =
                    heading.is_unordered || heading.sequence == self.streams.expected(heading.stream);
                is_next && waiting > 0 && (is_full || waiting as u64 >= self.partial_delivery_point)
            })
        };
        let Some(run) = candidates.into_iter().flatten().find(is_ready) else { return };
        if let Some(part) = self.reassembly.take_part(run, self.ip) {
            deliver(Event::ReceivedPart(part));
            self.update_window();
        }
    }
}

/// Makes the message of a chunk that holds a whole one.
fn message_of(data: Data, ip: IpFields) -> ReceivedMessage {
    let Data { flags, tsn, stream, sequence, ppid, payload } = data;
    ReceivedMessage { stream, sequence, ppid, tsn, payload, is_unordered: flags.is_unordered(), ip }
}

impl Delivery {
    fn pass_on(&mut self, event: Event, mut deliver: impl FnMut(Event)) {
        match self {
            Self::Flowing => deliver(event),
            Self::Paused { waiting, held } => {
                held.add(event.payload_len());
                waiting.push_back(event);
            }
        }
    }

    fn tell(&mut self, change: StreamsChanged, mut deliver: impl FnMut(Event)) {
        if let Self::Paused { waiting, .. } = self
            && let Some(last) = waiting.back_mut()
        {
            // Resets without a message between them are one to who reads: so there are no more of them than messages,
            // for which the buffer is a bound.
            let change = match last {
                Event::StreamsChanged(last) => last.absorb(change),
                _ => Some(change),
            };
            waiting.extend(change.map(Event::StreamsChanged));
        } else {
            deliver(Event::StreamsChanged(change));
        }
    }
}

const DISAGREE: DataFault = DataFault::Contradiction("neighbouring fragments disagree about their message");
const REUSED: DataFault = DataFault::Contradiction("a stream sequence number was used twice");
