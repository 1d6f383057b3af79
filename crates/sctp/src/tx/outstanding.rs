//! Chunks that have a TSN and have not been acknowledged cumulatively.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_cc::delivery::Departure;

use crate::chunk::{Data, DataFlags, FragmentPlace, IData};
use crate::event::Message;
use crate::path::PathId;
use crate::types::{FragmentSequence, MessageId, StreamId, Tsn};

/// Way in which a chunk was found to be lost; it decides the path of the retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nobody knows: it goes again to show whether the last chunks were lost.
    Probed,
    /// Gap reports said so, or what was sent after it has arrived.
    Reported,
    /// The peer had no room for it, and has some now.
    Refused,
    /// The link of our address has gone.
    LinkDown,
    /// T3-rtx expired.
    TimedOut,
    /// Packet that was longer than a link on the way carries, as ICMP has told.
    TooBig,
}

/// State of an outstanding chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkState {
    /// On its way, as far as we know.
    InFlight,
    /// Acknowledged by a Gap Ack Block, which the peer may still revoke.
    Acked,
    /// To be retransmitted.
    Lost(Loss),
    /// Given up for good: its payload is gone, and it only keeps its TSN until that is acknowledged (RFC 3758).
    Abandoned,
}

impl ChunkState {
    /// Tells if the chunk is in flight: the question that is asked most often.
    #[inline]
    pub(crate) const fn is_in_flight(self) -> bool {
        matches!(self, Self::InFlight)
    }
}

/// An outstanding chunk.
#[derive(Clone, Debug)]
pub(crate) struct OutstandingChunk {
    pub(crate) data: Data,
    pub(crate) context: u64,
    /// Path that it was sent on last.
    pub(crate) path: PathId,
    pub(crate) state: ChunkState,
    /// Record of its last transmission: the instant, and what had been delivered to the path by then.
    pub(crate) departure: Departure,
    pub(crate) missing_reports: u8,
    pub(crate) transmissions: u32,
    /// The least MTU with which the packet passes that it was sent in last, in bytes.
    pub(crate) needed_mtu: u16,
    /// True if it has been sent to more than one address: nobody can tell which of them an acknowledgement is for.
    pub(crate) is_ambiguous: bool,
    /// Length of its payload when it was sent, which may have been [given back](Outstanding::free) since.
    payload_len: u32,
    wire_len: u32,
}

impl OutstandingChunk {
    /// Bytes that it takes in a packet, padding included.
    pub(crate) fn wire_len(&self) -> u64 {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2
        //# When calculating one of
        //# these variables, the length of the DATA chunk, including the padding,
        //# SHOULD be used.
        self.wire_len.into()
    }

    pub(crate) fn payload_len(&self) -> u64 {
        self.payload_len.into()
    }

    /// Tells if its payload has been given back: the peer has it for good.
    pub(crate) const fn is_freed(&self) -> bool {
        self.data.payload.is_empty() && self.payload_len > 0
    }

    /// Payload bytes that it keeps in the send buffer.
    pub(crate) fn kept_len(&self) -> u64 {
        self.data.payload.len() as u64
    }
}

const FITS: &str = "a chunk is at most 65,535 bytes long";

/// Bytes that a chunk with such a payload takes in a packet, padding included: DATA, or I-DATA.
#[inline]
pub(super) const fn wire_len(payload_len: usize, is_i_data: bool) -> usize {
    let header_len = if is_i_data { IData::HEADER_LEN } else { Data::HEADER_LEN };
    Data::wire_len(payload_len) - Data::HEADER_LEN + header_len
}

/// All outstanding chunks: chunk `i` has TSN `cumulative ack + 1 + i`.
#[derive(Clone, Debug)]
pub(crate) struct Outstanding {
    cumulative_ack: Tsn,
    /// Number of chunks that have been acknowledged cumulatively.
    acknowledged: u64,
    chunks: VecDeque<OutstandingChunk>,
    in_flight_payload: u64,
    acked_payload: u64,
    /// The messages of which several fragments are outstanding, by the TSN of the last.
    fragmented: VecDeque<(Tsn, Bytes)>,
    /// Positions of the chunks in their streams, if they are I-DATA.
    #[expect(
        clippy::box_collection,
        reason = "most chunks are DATA, and ask each time whether there are any"
    )]
    places: Option<Box<VecDeque<FragmentPlace>>>,
    header_len: usize,
}

impl Outstanding {
    /// Half the space of Stream Sequence Numbers, so that a receiver which compares them serially (section 1.6)
    /// keeps the order even if all belong to one stream. It also keeps the limits of section 6.1 and lies
    /// within the 16-bit offsets of Gap Ack Blocks.
    pub(crate) const LIMIT: usize = i16::MAX as usize;

    /// `interleaves`: whether the chunks are I-DATA.
    pub(crate) fn new(initial_tsn: Tsn, interleaves: bool) -> Self {
        Self {
            cumulative_ack: initial_tsn.minus(1),
            acknowledged: 0,
            chunks: VecDeque::new(),
            in_flight_payload: 0,
            acked_payload: 0,
            fragmented: VecDeque::new(),
            places: interleaves.then(Box::default),
            header_len: if interleaves { IData::HEADER_LEN } else { Data::HEADER_LEN },
        }
    }

    pub(crate) const fn cumulative_ack(&self) -> Tsn {
        self.cumulative_ack
    }

    /// The TSN of the next new chunk.
    pub(crate) fn next_tsn(&self) -> Tsn {
        #[expect(clippy::cast_possible_truncation, reason = "at most LIMIT chunks")]
        let len = self.chunks.len() as u32;
        self.cumulative_ack.plus(len + 1)
    }

    /// The highest TSN that has been sent.
    pub(crate) fn highest_sent(&self) -> Tsn {
        self.next_tsn().minus(1)
    }

    /// `tsn`, which is acknowledged by the last SACK at most, counted from 1 without wrapping.
    pub(crate) fn number(&self, tsn: Tsn) -> u64 {
        self.acknowledged + u64::from(tsn.distance_from(self.cumulative_ack))
    }

    /// The TSN of a chunk by its [`number`](Self::number).
    #[expect(clippy::cast_possible_truncation, reason = "TSNs wrap")]
    pub(crate) fn tsn_of(&self, number: u64) -> Tsn {
        self.cumulative_ack.plus(number.wrapping_sub(self.acknowledged) as u32)
    }

    /// Tells if the chunks are I-DATA.
    pub(crate) const fn interleaves(&self) -> bool {
        self.places.is_some()
    }

    /// Length of the header that precedes the payload of a chunk in a packet, in bytes.
    pub(crate) const fn header_len(&self) -> usize {
        self.header_len
    }

    /// Position of an outstanding chunk: of DATA its Stream Sequence Number.
    pub(crate) fn place(&self, tsn: Tsn) -> FragmentPlace {
        let index = self.index(tsn);
        let told = self.places.as_ref().zip(index).and_then(|(places, index)| places.get(index).copied());
        told.unwrap_or_else(|| {
            let sequence = index.and_then(|index| self.chunks.get(index)).map_or(0, |it| it.data.sequence.0);
            FragmentPlace { message_id: MessageId(sequence.into()), fragment: FragmentSequence(0) }
        })
    }

    /// The number of the next new chunk.
    pub(crate) fn next_number(&self) -> u64 {
        self.number(self.next_tsn())
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.chunks.len() >= Self::LIMIT
    }

    /// Payload bytes of the chunks in flight.
    pub(crate) const fn in_flight_payload(&self) -> u64 {
        self.in_flight_payload
    }

    /// Payload bytes of the chunks that Gap Ack Blocks have acknowledged.
    pub(crate) const fn acked_payload(&self) -> u64 {
        self.acked_payload
    }

    /// The chunk numbered `tsn`, if it is outstanding.
    pub(crate) fn find(&self, tsn: Tsn) -> Option<&OutstandingChunk> {
        self.chunks.get(self.index(tsn)?)
    }

    /// The chunk numbered `tsn`, if it is outstanding.
    pub(crate) fn find_mut(&mut self, tsn: Tsn) -> Option<&mut OutstandingChunk> {
        let index = self.index(tsn)?;
        self.chunks.get_mut(index)
    }

    /// The next chunk is the last fragment of `message`, which is kept as it was given, in case that it fails.
    pub(crate) fn keep_fragmented(&mut self, tsn: Tsn, message: Bytes) {
        self.fragmented.push_back((tsn, message));
    }

    /// Appends a chunk that has been cut with [`next_tsn`](Self::next_tsn) and goes out to `path`. `place` is set if it
    /// is I-DATA.
    #[expect(clippy::inline_always, reason = "a chunk is large to move")]
    #[expect(clippy::cast_possible_truncation, reason = "a chunk is at most 65,535 bytes long")]
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        data: Data,
        context: u64,
        path: PathId,
        departure: Departure,
        place: Option<FragmentPlace>,
    ) -> &OutstandingChunk {
        debug_assert_eq!(data.tsn, self.next_tsn());
        debug_assert_eq!(place.is_some(), self.interleaves());
        if let Some(place) = place {
            self.places.get_or_insert_default().push_back(place);
        }
        let payload_len = data.payload.len();
        let wire_len = wire_len(payload_len, place.is_some());
        debug_assert!(wire_len <= usize::from(u16::MAX) + 3, "{FITS}");
        let chunk = OutstandingChunk {
            data,
            context,
            path,
            state: ChunkState::InFlight,
            departure,
            missing_reports: 0,
            transmissions: 1,
            needed_mtu: 0,
            is_ambiguous: false,
            payload_len: payload_len as u32,
            wire_len: wire_len as u32,
        };
        self.in_flight_payload += payload_len as u64;
        self.chunks.push_back_mut(chunk)
    }

    /// The chunks from the one at `index` on are in a packet that passes with an MTU of `needed_mtu`.
    pub(crate) fn set_needed_mtu_from(&mut self, index: usize, needed_mtu: u16) {
        let mut index = index;
        while let Some(chunk) = self.chunks.get_mut(index) {
            chunk.needed_mtu = needed_mtu;
            index += 1;
        }
    }

    /// The TSN of the last chunk on some streams.
    pub(crate) fn last_on(&self, is_meant: impl Fn(StreamId) -> bool) -> Option<Tsn> {
        let mut chunks = self.chunks.iter().rev();
        chunks.find(|chunk| is_meant(chunk.data.stream)).map(|chunk| chunk.data.tsn)
    }

    /// Iterates over all outstanding chunks.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut OutstandingChunk> {
        self.chunks.iter_mut()
    }

    /// TSNs go on with `next`.
    pub(crate) fn restart(&mut self, next: Tsn) {
        debug_assert!(self.chunks.is_empty(), "a chunk keeps its TSN");
        self.cumulative_ack = next.minus(1);
    }

    /// The lowest chunk.
    pub(crate) fn first(&self) -> Option<&OutstandingChunk> {
        self.chunks.front()
    }

    /// Takes off the lowest chunk, which has been acknowledged cumulatively.
    #[expect(clippy::inline_always, reason = "each chunk passes it once, and is large to move")]
    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        let Some(chunk) = self.chunks.front() else { return };
        let (state, payload_len) = (chunk.state, chunk.payload_len());
        // Dropped where it lies.
        self.chunks.pop_front();
        self.cumulative_ack = self.cumulative_ack.next();
        self.acknowledged += 1;
        if let Some(places) = &mut self.places {
            places.pop_front();
        }
        if state.is_in_flight() {
            self.in_flight_payload -= payload_len;
        } else if let Some(total) = self.total_of(state) {
            *total -= payload_len;
        }
        if self.fragmented.front().is_some_and(|(tsn, _)| *tsn == self.cumulative_ack) {
            self.fragmented.pop_front();
        }
    }

    /// Moves a chunk into another state and returns it; `None` if it is not outstanding.
    pub(crate) fn set_state(&mut self, tsn: Tsn, state: ChunkState) -> Option<&mut OutstandingChunk> {
        let index = self.index(tsn)?;
        let chunk = self.chunks.get_mut(index)?;
        let payload_len = chunk.payload_len();
        let before = core::mem::replace(&mut chunk.state, state);
        if let Some(total) = self.total_of(before) {
            *total -= payload_len;
        }
        if let Some(total) = self.total_of(state) {
            *total += payload_len;
        }
        self.chunks.get_mut(index)
    }

    /// Gives back the payload of an acknowledged chunk, which the peer has for good, and says how long it was; `None`
    /// if it has been given back, or the chunk is not acknowledged.
    pub(crate) fn free(&mut self, tsn: Tsn) -> Option<u64> {
        let chunk = self.find_mut(tsn).filter(|chunk| chunk.state == ChunkState::Acked)?;
        let payload = core::mem::take(&mut chunk.data.payload);
        if payload.is_empty() { None } else { Some(payload.len() as u64) }
    }

    /// Gives a chunk up.
    pub(crate) fn abandon(&mut self, tsn: Tsn) {
        let header_len = self.header_len;
        if let Some(chunk) = self.set_state(tsn, ChunkState::Abandoned) {
            chunk.data.payload = Bytes::new();
            chunk.payload_len = 0;
            chunk.wire_len = u32::try_from(header_len).expect(FITS);
        }
    }

    /// The TSNs of the chunks in flight to `path` whose packets do not pass with an MTU of `mtu`.
    pub(crate) fn too_big_for(&self, path: PathId, mtu: u16) -> impl Iterator<Item = Tsn> + '_ {
        let is_meant = move |chunk: &&OutstandingChunk| {
            chunk.path == path && chunk.state.is_in_flight() && chunk.needed_mtu > mtu
        };
        self.chunks.iter().filter(is_meant).map(|chunk| chunk.data.tsn)
    }

    /// Total in which the payload of chunks in `state` is counted.
    const fn total_of(&mut self, state: ChunkState) -> Option<&mut u64> {
        match state {
            ChunkState::InFlight => Some(&mut self.in_flight_payload),
            ChunkState::Acked => Some(&mut self.acked_payload),
            ChunkState::Abandoned | ChunkState::Lost(_) => None,
        }
    }

    /// Empties the queue: the messages that are not acknowledged whole, as they were given. Says which others there
    /// were that the peer has for good.
    pub(crate) fn drain_messages(&mut self, mut on_received: impl FnMut(u64)) -> Vec<Message> {
        let mut messages = Vec::new();
        for chunk in self.chunks.drain(..) {
            // Of a message in one chunk that the peer has for good there is nothing to be given up.
            let is_received = chunk.is_freed() && chunk.data.flags.contain(DataFlags::WHOLE);
            if is_received {
                on_received(chunk.context);
            }
            let Data { flags, stream, ppid, payload, .. } = chunk.data;
            if !flags.is_ending() || is_received {
                continue;
            }
            // What was given up has been told of.
            let is_told = chunk.state == ChunkState::Abandoned;
            let payload = match self.fragmented.pop_front() {
                Some((tsn, whole)) if tsn == chunk.data.tsn => whole,
                Some(later) => {
                    self.fragmented.push_front(later);
                    payload
                }
                None => payload,
            };
            if is_told {
                continue;
            }
            let is_unordered = flags.is_unordered();
            messages.push(Message {
                stream,
                ppid,
                payload,
                is_unordered,
                context: chunk.context,
                options: None,
            });
        }
        (self.in_flight_payload, self.acked_payload) = (0, 0);
        messages
    }

    /// Place of `tsn` in the list, which may be behind the end; `None` if it has been acknowledged cumulatively.
    fn index(&self, tsn: Tsn) -> Option<usize> {
        tsn.is_after(self.cumulative_ack).then(|| tsn.distance_from(self.cumulative_ack) as usize - 1)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::types::{Ppid, StreamId, StreamSequence};
    use slantpath_base::Instant;
    use slantpath_cc::delivery::DeliveryMeter;

    /// Chunks from `first` on: the path of each, and whether it is in flight.
    pub(in crate::tx) fn with_states(first: Tsn, states: &[(u8, bool)]) -> Outstanding {
        let mut outstanding = Outstanding::new(first, false);
        for (path, is_in_flight) in states {
            let tsn = outstanding.next_tsn();
            let data = Data {
                flags: DataFlags::WHOLE,
                tsn,
                stream: StreamId(0),
                sequence: StreamSequence(0),
                ppid: Ppid(0),
                payload: Bytes::from_static(b"x"),
            };
            let departure = DeliveryMeter::default().depart(Instant::START, true, 1);
            outstanding.push(data, 0, PathId((*path).into()), departure, None);
            if !is_in_flight {
                outstanding.set_state(tsn, ChunkState::Lost(Loss::TimedOut));
            }
        }
        outstanding
    }
}
