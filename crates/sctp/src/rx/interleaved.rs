//! Fragments that say themselves where they belong become messages, and messages ordered streams (RFC 8260, section
//! 2.2.3).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use bytes::{Bytes, BytesMut};
use slantpath_wire::ip::IpFields;
use smallvec::SmallVec;

use super::held::Held;
use crate::chunk::{DataFlags, FragmentPlace, IData, SkippedMessages};
use crate::event::{Event, PartPlace, ReceivedMessage, ReceivedPart};
use crate::types::{MessageId, Ppid, StreamId, Tsn};

/// A chunk contradicts another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contradiction;

/// A stream, whether its unordered messages are meant, and a Message Identifier.
type Key = (StreamId, bool, u32);

/// A message of which fragments are missing.
#[derive(Clone, Debug)]
struct Partial {
    ppid: Ppid,
    /// TSN of the first fragment; of any, while that has not come.
    tsn: Tsn,
    /// Fragments that have come and not been passed on, by Fragment Sequence Number, which does not wrap here.
    fragments: BTreeMap<u64, Bytes>,
    /// The first fragment that has not been passed on.
    next: u64,
    /// The first one that has not come.
    missing: u64,
    /// Payload bytes of those between.
    ready_len: usize,
    last: Option<u64>,
}

/// The messages of an association whose chunks are I-DATA.
#[derive(Clone, Debug, Default)]
pub(super) struct Interleaved {
    /// The ordered message that each stream delivers next, unless it is the first.
    expected: BTreeMap<StreamId, MessageId>,
    partial: BTreeMap<Key, Partial>,
    /// Messages of which a part may be passed on.
    ready: BTreeSet<Key>,
    /// Messages that are being delivered in parts, by stream, of ordered and of unordered ones.
    in_parts: BTreeMap<(StreamId, bool), MessageId>,
    /// The last unordered message of each stream that the peer has given up: fragments of it may still be under way.
    skipped_unordered: BTreeMap<StreamId, MessageId>,
    /// Ordered messages that are whole and came too early.
    waiting: BTreeMap<(StreamId, u32), ReceivedMessage>,
    held: Held,
}

impl Partial {
    fn new(tsn: Tsn) -> Self {
        let (fragments, ppid) = (BTreeMap::new(), Ppid::default());
        Self { ppid, tsn, fragments, next: 0, missing: 0, ready_len: 0, last: None }
    }

    fn insert(&mut self, chunk: IData) -> Result<(), Contradiction> {
        let IData { flags, tsn, ppid, payload, place: FragmentPlace { fragment, .. }, .. } = chunk;
        #[expect(clippy::cast_possible_truncation, reason = "as it was before it wrapped")]
        let ahead = fragment.0.wrapping_sub(self.next as u32);
        let at = self.next + u64::from(ahead);
        //= https://www.rfc-editor.org/rfc/rfc8260#section-2.2.2
        //# The first
        //# fragment MUST have the B bit set.  The last fragment MUST have the E
        //# bit set.  All other fragments MUST NOT have the B or E bit set.
        let is_past = ahead >= 1 << 31;
        let is_misplaced = flags.is_beginning() != (at == 0)
            || self.last.is_some_and(|last| at > last || flags.is_ending())
            || flags.is_ending() && self.fragments.last_key_value().is_some_and(|(highest, _)| *highest > at);
        if is_past || is_misplaced || self.fragments.insert(at, payload).is_some() {
            return Err(Contradiction);
        }
        if flags.is_beginning() {
            (self.ppid, self.tsn) = (ppid, tsn);
        }
        if flags.is_ending() {
            self.last = Some(at);
        }
        while let Some(payload) = self.fragments.get(&self.missing) {
            self.ready_len += payload.len();
            self.missing += 1;
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.last.is_some_and(|last| last < self.missing)
    }

    /// Payload of the fragments that are kept here.
    fn held(&self) -> Held {
        let payload = self.fragments.values().map(|payload| payload.len() as u64).sum();
        Held { payload, pieces: self.fragments.len() as u64 }
    }

    /// Takes out what can be passed on, and says how many pieces that was.
    fn take_ready(&mut self) -> (Bytes, usize) {
        let rest = self.fragments.split_off(&self.missing);
        let pieces = core::mem::replace(&mut self.fragments, rest);
        let mut payload = BytesMut::with_capacity(core::mem::take(&mut self.ready_len));
        for piece in pieces.values() {
            payload.extend_from_slice(piece);
        }
        self.next = self.missing;
        (payload.freeze(), pieces.len())
    }
}

impl Interleaved {
    /// Payload that is kept here.
    pub(super) const fn held(&self) -> Held {
        self.held
    }

    /// Streams expect Message Identifier 0 again: those listed; none: all. What is incomplete or waits for its turn
    /// there will never be delivered: its sender has left numbers out.
    pub(super) fn reset(&mut self, listed: &[StreamId], mut deliver: impl FnMut(Event)) {
        let is_meant = |stream: &StreamId| listed.is_empty() || listed.contains(stream);
        self.expected.retain(|stream, _| !is_meant(stream));
        self.skipped_unordered.retain(|stream, _| !is_meant(stream));
        self.ready.retain(|(stream, ..)| !is_meant(stream));
        let held = &mut self.held;
        self.partial.retain(|(stream, ..), partial| {
            let stays = !is_meant(stream);
            if !stays {
                let Held { payload, pieces } = partial.held();
                held.release(
                    usize::try_from(payload).unwrap_or(usize::MAX),
                    usize::try_from(pieces).unwrap_or(0),
                );
            }
            stays
        });
        self.waiting.retain(|(stream, _), message| {
            let stays = !is_meant(stream);
            if !stays {
                held.release(message.payload.len(), 1);
            }
            stays
        });
        self.in_parts.retain(|(stream, is_unordered), message_id| {
            let stays = !is_meant(stream);
            if !stays {
                let (stream, is_unordered) = (*stream, *is_unordered);
                let sequence = message_id.stream_sequence();
                deliver(Event::PartialDeliveryAborted { stream, sequence, is_unordered });
            }
            stays
        });
    }

    /// Tells if a whole message can be passed on at once.
    pub(super) fn is_next(&self, chunk: &IData) -> bool {
        chunk.flags.is_unordered() || chunk.place.message_id == self.expected(chunk.stream)
    }

    /// Tells if a chunk brings the last missing part of a message.
    pub(super) fn is_completed_by(&self, chunk: &IData) -> bool {
        let IData { stream, flags, place: FragmentPlace { message_id, fragment }, .. } = *chunk;
        if flags.contain(DataFlags::WHOLE) {
            return flags.is_unordered() || !message_id.is_before(self.expected(stream));
        }
        self.partial.get(&(stream, flags.is_unordered(), message_id.0)).is_some_and(|partial| {
            let come = partial.next + partial.fragments.len() as u64;
            #[expect(clippy::cast_possible_truncation, reason = "as it is numbered")]
            let is_behind_all = fragment.0 == come as u32;
            if flags.is_ending() { is_behind_all } else { partial.last == Some(come) }
        })
    }

    fn expected(&self, stream: StreamId) -> MessageId {
        self.expected.get(&stream).copied().unwrap_or(MessageId(0))
    }

    /// Takes in a chunk on an existing stream; passes on what is whole by it and next in its stream.
    pub(super) fn accept(
        &mut self,
        chunk: IData,
        ip: IpFields,
        mut deliver: impl FnMut(Event),
    ) -> Result<(), Contradiction> {
        let (stream, is_unordered, id) = (chunk.stream, chunk.flags.is_unordered(), chunk.place.message_id);
        if !is_unordered && id.is_before(self.expected(stream)) {
            // A message that the peer has given up was skipped while a part of it was still on its way.
            return Ok(());
        }
        let key = (stream, is_unordered, id.0);
        if chunk.flags.contain(DataFlags::WHOLE) {
            if self.partial.contains_key(&key) {
                return Err(Contradiction);
            }
            let IData { tsn, ppid, payload, .. } = chunk;
            return self.order(key, (ppid, tsn), payload, ip, deliver);
        }
        if !is_unordered && self.waiting.contains_key(&(stream, id.0)) {
            return Err(Contradiction);
        }
        if is_unordered && self.is_skipped(stream, id) {
            return Ok(());
        }
        let len = chunk.payload.len();
        let partial = self.partial.entry(key).or_insert_with(|| Partial::new(chunk.tsn));
        partial.insert(chunk)?;
        self.held.add(len);
        if !partial.is_whole() {
            self.note_ready(key);
            return Ok(());
        }
        self.ready.remove(&key);
        let Some(mut partial) = self.partial.remove(&key) else { return Ok(()) };
        let (payload, pieces) = partial.take_ready();
        self.held.release(payload.len(), pieces);
        if self.in_parts.get(&(stream, is_unordered)) != Some(&id) {
            return self.order(key, (partial.ppid, partial.tsn), payload, ip, deliver);
        }
        self.in_parts.remove(&(stream, is_unordered));
        deliver(Event::ReceivedPart(part_of(key, (partial.ppid, partial.tsn), payload, PartPlace::Last, ip)));
        if is_unordered {
            self.note_first_unordered(stream);
        } else {
            self.advance(stream, deliver);
        }
        Ok(())
    }

    /// Tells if at least so many bytes of the message that a chunk was of can be passed on.
    pub(super) fn has_ready(&self, key: Key, least: u64) -> bool {
        let is_long = |partial: &Partial| partial.ready_len as u64 >= least;
        self.ready.contains(&key) && self.partial.get(&key).is_some_and(is_long)
    }

    /// Some message of which a part can be passed on.
    pub(super) fn first_ready(&self) -> Option<Key> {
        self.ready.first().copied()
    }

    /// Takes out what there is of an incomplete message, the next part of it.
    pub(super) fn take_part(&mut self, key: Key, ip: IpFields) -> Option<ReceivedPart> {
        self.ready.remove(&key);
        let partial = self.partial.get_mut(&key)?;
        let place = if partial.next == 0 { PartPlace::First } else { PartPlace::Middle };
        let (payload, pieces) = partial.take_ready();
        self.held.release(payload.len(), pieces);
        let (stream, is_unordered, id) = key;
        self.in_parts.insert((stream, is_unordered), MessageId(id));
        if is_unordered {
            // The others of the stream have to wait: whoever takes the parts could not tell them apart.
            let of_stream = (stream, true, 0)..=(stream, true, u32::MAX);
            while let Some(other) = self.ready.range(of_stream.clone()).next().copied() {
                self.ready.remove(&other);
            }
        }
        let partial = self.partial.get(&key)?;
        Some(part_of(key, (partial.ppid, partial.tsn), payload, place, ip))
    }

    /// The peer has given messages up: forgets what there is of them, and passes on what has waited behind them.
    pub(super) fn skip(&mut self, skipped: SkippedMessages, mut deliver: impl FnMut(Event)) {
        let SkippedMessages { stream, is_unordered, message_id: last } = skipped;
        if is_unordered {
            for range in raw(last.minus((1 << 31) - 1), last) {
                self.forget(stream, true, range, &mut deliver);
            }
            if !self.is_skipped(stream, last) {
                self.skipped_unordered.insert(stream, last);
            }
            self.note_first_unordered(stream);
            return;
        }
        let first = self.expected(stream);
        if last.is_before(first) {
            return;
        }
        for range in raw(first, last) {
            self.forget(stream, false, range.clone(), &mut deliver);
            let (from, to) = ((stream, *range.start()), (stream, *range.end()));
            while let Some(key) = self.waiting.range(from..=to).next().map(|(key, _)| *key) {
                self.deliver_waiting(key, &mut deliver);
            }
        }
        self.expected.insert(stream, last);
        self.advance(stream, deliver);
    }

    /// Tells if an unordered message is one that the peer has given up. A stream sends one after the other, so that of
    /// those before it nothing is missing.
    fn is_skipped(&mut self, stream: StreamId, id: MessageId) -> bool {
        let Some(&last) = self.skipped_unordered.get(&stream) else { return false };
        let is_after = last.is_before(id);
        // What is said of a message must not be taken to be said of one that has its number a few billion later.
        if is_after && id.0.wrapping_sub(last.0) > 1 << 30 {
            self.skipped_unordered.remove(&stream);
        }
        !is_after
    }

    /// The association is over: tells of messages whose rest will never come.
    pub(super) fn finish(&mut self, mut deliver: impl FnMut(Event)) {
        for ((stream, is_unordered), id) in core::mem::take(&mut self.in_parts) {
            deliver(aborted(stream, id, is_unordered));
        }
    }

    fn forget(
        &mut self,
        stream: StreamId,
        is_unordered: bool,
        range: RangeInclusive<u32>,
        mut deliver: impl FnMut(Event),
    ) {
        let (from, to) = ((stream, is_unordered, *range.start()), (stream, is_unordered, *range.end()));
        while let Some(key) = self.partial.range(from..=to).next().map(|(key, _)| *key) {
            let Some(partial) = self.partial.remove(&key) else { return };
            self.ready.remove(&key);
            let Held { payload, pieces } = partial.held();
            self.held.payload -= payload;
            self.held.pieces -= pieces;
            let id = MessageId(key.2);
            if self.in_parts.get(&(stream, is_unordered)) == Some(&id) {
                self.in_parts.remove(&(stream, is_unordered));
                deliver(aborted(stream, id, is_unordered));
            }
        }
    }

    /// A message is whole that is not being delivered in parts.
    fn order(
        &mut self,
        key: Key,
        (ppid, tsn): (Ppid, Tsn),
        payload: Bytes,
        ip: IpFields,
        mut deliver: impl FnMut(Event),
    ) -> Result<(), Contradiction> {
        let (stream, is_unordered, id) = key;
        let sequence = MessageId(id).stream_sequence();
        let message = ReceivedMessage { stream, sequence, ppid, tsn, payload, is_unordered, ip };
        if is_unordered {
            deliver(Event::Received(message));
        } else if MessageId(id) == self.expected(stream) {
            deliver(Event::Received(message));
            self.advance(stream, deliver);
        } else {
            self.held.add(message.payload.len());
            if self.waiting.insert((stream, id), message).is_some() {
                return Err(Contradiction);
            }
        }
        Ok(())
    }

    /// The message that `stream` expected is over: passes on those that have waited for that.
    fn advance(&mut self, stream: StreamId, mut deliver: impl FnMut(Event)) {
        let mut next = self.expected(stream).next();
        while self.deliver_waiting((stream, next.0), &mut deliver) {
            next = next.next();
        }
        self.expected.insert(stream, next);
        self.note_ready((stream, false, next.0));
    }

    fn deliver_waiting(&mut self, key: (StreamId, u32), mut deliver: impl FnMut(Event)) -> bool {
        let Some(message) = self.waiting.remove(&key) else { return false };
        self.held.release(message.payload.len(), 1);
        deliver(Event::Received(message));
        true
    }

    /// Notes whether a part of an incomplete message can be passed on: of ordered ones only the next of its stream
    /// is, of unordered ones only one at a time.
    fn note_ready(&mut self, key: Key) {
        let (stream, is_unordered, id) = key;
        let may_be = if is_unordered {
            self.in_parts.get(&(stream, true)).is_none_or(|in_parts| in_parts.0 == id)
        } else {
            self.expected(stream).0 == id
        };
        if may_be && self.partial.get(&key).is_some_and(|partial| partial.ready_len > 0) {
            self.ready.insert(key);
        }
    }

    /// If no unordered message of a stream is being delivered in parts any more, the next one may be.
    fn note_first_unordered(&mut self, stream: StreamId) {
        let mut waiting = self.partial.range((stream, true, 0)..=(stream, true, u32::MAX));
        let first = waiting.find(|(_, partial)| partial.ready_len > 0);
        if let Some(key) = first.map(|(key, _)| *key) {
            self.note_ready(key);
        }
    }
}

/// Identifiers from `first` to `last`, both included, as they are sorted.
fn raw(first: MessageId, last: MessageId) -> SmallVec<[RangeInclusive<u32>; 2]> {
    if first.0 <= last.0 {
        SmallVec::from_iter([first.0..=last.0])
    } else {
        SmallVec::from_iter([first.0..=u32::MAX, 0..=last.0])
    }
}

fn part_of(
    key: Key,
    (ppid, tsn): (Ppid, Tsn),
    payload: Bytes,
    place: PartPlace,
    ip: IpFields,
) -> ReceivedPart {
    let (stream, is_unordered, id) = key;
    let sequence = MessageId(id).stream_sequence();
    ReceivedPart { stream, sequence, ppid, tsn, payload, is_unordered, place, ip }
}

const fn aborted(stream: StreamId, id: MessageId, is_unordered: bool) -> Event {
    Event::PartialDeliveryAborted { stream, sequence: id.stream_sequence(), is_unordered }
}

#[cfg(test)]
mod tests;
