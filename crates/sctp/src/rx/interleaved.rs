//! Fragments that say themselves where they belong become messages, and messages ordered streams (RFC 8260, section
//! 2.2.3).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;

use super::held::Held;
use crate::chunk::{DataFlags, FragmentPlace, IData, SkippedMessages};
use crate::event::{Event, PartPlace, ReceivedMessage, ReceivedPart};
use crate::types::{MessageId, Ppid, StreamId};

/// A chunk contradicts another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contradiction;

/// A stream, whether its unordered messages are meant, and a Message Identifier.
type Key = (StreamId, bool, u32);

/// A message of which fragments are missing.
#[derive(Clone, Debug, Default)]
struct Partial {
    ppid: Ppid,
    /// Its fragments that have come and not been passed on, by Fragment Sequence Number, which does not wrap here.
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
    /// Those of which a part may be passed on.
    ready: BTreeSet<Key>,
    /// Which message of a stream is being delivered in parts, of ordered and of unordered ones.
    in_parts: BTreeMap<(StreamId, bool), MessageId>,
    /// Ordered messages that are whole and came too early.
    waiting: BTreeMap<(StreamId, u32), ReceivedMessage>,
    held: Held,
}

impl Partial {
    fn insert(&mut self, chunk: IData) -> Result<(), Contradiction> {
        let IData { flags, ppid, payload, place: FragmentPlace { fragment, .. }, .. } = chunk;
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
            self.ppid = ppid;
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

    /// What waits here.
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
    /// What waits here.
    pub(super) const fn held(&self) -> Held {
        self.held
    }

    /// Streams expect Message Identifier 0 again: those listed; none: all. What is incomplete or waits for its turn
    /// there will never be delivered: its sender has left numbers out.
    pub(super) fn reset(&mut self, listed: &[StreamId], mut deliver: impl FnMut(Event)) {
        let is_meant = |stream: &StreamId| listed.is_empty() || listed.contains(stream);
        self.expected.retain(|stream, _| !is_meant(stream));
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

    /// Whether a whole message can be passed on at once.
    pub(super) fn is_next(&self, chunk: &IData) -> bool {
        chunk.flags.is_unordered() || chunk.place.message_id == self.expected(chunk.stream)
    }

    /// Whether a chunk brings the last of a message that was missing.
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
            let IData { ppid, payload, .. } = chunk;
            return self.order(key, ppid, payload, deliver);
        }
        if !is_unordered && self.waiting.contains_key(&(stream, id.0)) {
            return Err(Contradiction);
        }
        let len = chunk.payload.len();
        let partial = self.partial.entry(key).or_default();
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
            return self.order(key, partial.ppid, payload, deliver);
        }
        self.in_parts.remove(&(stream, is_unordered));
        deliver(Event::ReceivedPart(part_of(key, partial.ppid, payload, PartPlace::Last)));
        if is_unordered {
            // Another one may be delivered in parts now.
            let mut waiting = self.partial.range((stream, true, 0)..=(stream, true, u32::MAX));
            let first = waiting.find(|(_, partial)| partial.ready_len > 0);
            if let Some(key) = first.map(|(key, _)| *key) {
                self.note_ready(key);
            }
        } else {
            self.advance(stream, deliver);
        }
        Ok(())
    }

    /// Whether at least so many bytes of the message that a chunk was of can be passed on.
    pub(super) fn has_ready(&self, key: Key, least: u64) -> bool {
        let is_long = |partial: &Partial| partial.ready_len as u64 >= least;
        self.ready.contains(&key) && self.partial.get(&key).is_some_and(is_long)
    }

    /// Some message of which a part can be passed on.
    pub(super) fn first_ready(&self) -> Option<Key> {
        self.ready.first().copied()
    }

    /// Takes out what there is of an incomplete message, the next part of it.
    pub(super) fn take_part(&mut self, key: Key) -> Option<ReceivedPart> {
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
        Some(part_of(key, partial.ppid, payload, place))
    }

    /// The peer has given messages up: forgets what there is of them, and passes on what has waited behind them.
    pub(super) fn skip(&mut self, skipped: SkippedMessages, mut deliver: impl FnMut(Event)) {
        let SkippedMessages { stream, is_unordered, message_id: last } = skipped;
        if is_unordered {
            for range in raw(last.minus((1 << 31) - 1), last) {
                self.forget(stream, true, range, &mut deliver);
            }
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
        ppid: Ppid,
        payload: Bytes,
        mut deliver: impl FnMut(Event),
    ) -> Result<(), Contradiction> {
        let (stream, is_unordered, id) = key;
        let sequence = MessageId(id).stream_sequence();
        let message = ReceivedMessage { stream, sequence, ppid, payload, is_unordered };
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
}

/// Identifiers from `first` to `last`, both included, as they are sorted.
fn raw(first: MessageId, last: MessageId) -> SmallVec<[RangeInclusive<u32>; 2]> {
    if first.0 <= last.0 {
        SmallVec::from_iter([first.0..=last.0])
    } else {
        SmallVec::from_iter([first.0..=u32::MAX, 0..=last.0])
    }
}

fn part_of(key: Key, ppid: Ppid, payload: Bytes, place: PartPlace) -> ReceivedPart {
    let (stream, is_unordered, id) = key;
    ReceivedPart { stream, sequence: MessageId(id).stream_sequence(), ppid, payload, is_unordered, place }
}

const fn aborted(stream: StreamId, id: MessageId, is_unordered: bool) -> Event {
    Event::PartialDeliveryAborted { stream, sequence: id.stream_sequence(), is_unordered }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{FragmentSequence, Tsn};

    const ORDERED: DataFlags = DataFlags::MIDDLE;

    /// A chunk of so many bytes. Its flags say whether it is unordered, the first or the last of its message.
    fn chunk(stream: u16, flags: DataFlags, id: u32, fragment: u32, len: usize) -> IData {
        IData {
            flags,
            tsn: Tsn(0),
            stream: StreamId(stream),
            place: FragmentPlace { message_id: MessageId(id), fragment: FragmentSequence(fragment) },
            ppid: Ppid(0),
            payload: vec![0; len].into(),
        }
    }

    /// Hands a chunk over and returns what comes of it.
    fn accept(all: &mut Interleaved, chunk: IData) -> Vec<Event> {
        let mut events = Vec::new();
        all.accept(chunk, |event| events.push(event)).expect("it contradicts nothing");
        events
    }

    /// The first fragment of a message.
    fn begin(all: &mut Interleaved, stream: u16, order: DataFlags, id: u32, len: usize) {
        assert_eq!(accept(all, chunk(stream, order.with(DataFlags::BEGINNING), id, 0, len)), []);
    }

    fn whole(stream: u16, order: DataFlags, id: u32) -> IData {
        chunk(stream, order.with(DataFlags::WHOLE), id, 0, 70)
    }

    fn is_message(events: &[Event], id: u16) -> bool {
        matches!(events, [Event::Received(message)] if message.sequence == MessageId(id.into()).stream_sequence())
    }

    fn key(stream: u16, is_unordered: bool, id: u32) -> Key {
        (StreamId(stream), is_unordered, id)
    }

    fn is_held(all: &Interleaved, payload: u64, pieces: u64) -> bool {
        (all.held().payload, all.held().pieces) == (payload, pieces)
    }

    /// Message 0 has been delivered, message 1 is being delivered in parts and has more of it here, message 3 waits.
    fn busy(all: &mut Interleaved, stream: u16) {
        assert!(is_message(&accept(all, whole(stream, ORDERED, 0)), 0));
        begin(all, stream, ORDERED, 1, 100);
        assert_eq!(all.take_part(key(stream, false, 1)).map(|part| part.payload.len()), Some(100));
        assert_eq!(accept(all, chunk(stream, ORDERED, 1, 1, 50)), []);
        assert_eq!(accept(all, whole(stream, ORDERED, 3)), []);
    }

    #[test]
    fn a_reset_forgets_all_that_the_streams_it_lists_hold_and_nothing_else() {
        let mut all = Interleaved::default();
        busy(&mut all, 0);
        busy(&mut all, 1);
        assert!(is_held(&all, 240, 4));
        let mut events = Vec::new();
        all.reset(&[StreamId(1)], |event| events.push(event));
        assert_eq!(events, [aborted(StreamId(1), MessageId(1), false)]);
        assert!(is_held(&all, 120, 2));
        assert_eq!(all.first_ready(), Some(key(0, false, 1)));
        assert!(is_message(&accept(&mut all, whole(1, ORDERED, 0)), 0), "it begins anew");
        assert_eq!(accept(&mut all, whole(0, ORDERED, 0)), [], "it was delivered");
        all.reset(&[], |event| events.push(event));
        assert_eq!(events[1..], [aborted(StreamId(0), MessageId(1), false)]);
        assert!(is_held(&all, 0, 0));
        assert_eq!(all.first_ready(), None);
        assert!(is_message(&accept(&mut all, whole(0, ORDERED, 0)), 0));
    }

    #[test]
    fn unordered_messages_and_the_next_of_a_stream_are_passed_on_at_once() {
        let all = Interleaved::default();
        let next = [whole(0, ORDERED, 0), whole(0, ORDERED, 1), whole(0, DataFlags::UNORDERED, 1)];
        assert_eq!(next.map(|chunk| all.is_next(&chunk)), [true, false, true]);
    }

    #[test]
    fn a_message_is_completed_by_the_one_chunk_of_it_that_is_missing() {
        let mut all = Interleaved::default();
        assert!(is_message(&accept(&mut all, whole(0, ORDERED, 0)), 0));
        let completes = |all: &Interleaved, chunk: IData| all.is_completed_by(&chunk);
        assert!(!completes(&all, whole(0, ORDERED, 0)), "it has been delivered");
        assert!(completes(&all, whole(0, ORDERED, 1)) && completes(&all, whole(0, DataFlags::UNORDERED, 0)));
        begin(&mut all, 0, ORDERED, 2, 10);
        let last = |fragment| chunk(0, DataFlags::ENDING, 2, fragment, 10);
        assert_eq!([1, 2].map(|fragment| completes(&all, last(fragment))), [true, false]);
        assert!(!completes(&all, chunk(0, ORDERED, 2, 1, 10)), "nobody knows how long it is");
        assert_eq!(accept(&mut all, last(2)), []);
        assert!(completes(&all, chunk(0, ORDERED, 2, 1, 10)));
    }

    #[test]
    fn ordered_and_unordered_messages_of_one_number_are_two() {
        let mut all = Interleaved::default();
        assert!(is_message(&accept(&mut all, whole(0, ORDERED, 0)), 0));
        assert!(is_message(&accept(&mut all, whole(0, DataFlags::UNORDERED, 0)), 0));
        assert_eq!(accept(&mut all, whole(0, ORDERED, 0)), [], "it was given up, and is late");
    }

    #[test]
    fn a_fragment_from_half_the_numbers_ahead_contradicts_and_the_one_before_does_not() {
        let insert = |fragment| Partial::default().insert(chunk(0, ORDERED, 0, fragment, 1));
        assert_eq!([(1 << 31) - 1, 1 << 31].map(insert), [Ok(()), Err(Contradiction)]);
    }

    #[test]
    fn what_has_no_beginning_is_not_ready_and_what_has_is_from_its_length_on() {
        let mut all = Interleaved::default();
        assert_eq!(accept(&mut all, chunk(0, ORDERED, 0, 1, 10)), []);
        assert_eq!(all.first_ready(), None);
        begin(&mut all, 0, ORDERED, 0, 10);
        assert_eq!(all.first_ready(), Some(key(0, false, 0)));
        assert_eq!([20, 21].map(|least| all.has_ready(key(0, false, 0), least)), [true, false]);
    }

    #[test]
    fn after_the_last_part_of_an_unordered_message_another_with_a_beginning_is_ready() {
        let mut all = Interleaved::default();
        begin(&mut all, 0, DataFlags::UNORDERED, 0, 10);
        assert!(all.take_part(key(0, true, 0)).is_some());
        assert_eq!(accept(&mut all, chunk(0, DataFlags::UNORDERED, 1, 1, 10)), []);
        begin(&mut all, 0, DataFlags::UNORDERED, 2, 10);
        assert_eq!(all.first_ready(), None, "one at a time");
        let end = chunk(0, DataFlags::UNORDERED.with(DataFlags::ENDING), 0, 1, 10);
        assert!(
            matches!(&accept(&mut all, end)[..], [Event::ReceivedPart(part)] if part.place == PartPlace::Last)
        );
        assert_eq!(all.first_ready(), Some(key(0, true, 2)));
    }

    #[test]
    fn a_skip_of_unordered_messages_reaches_half_the_numbers_back() {
        let mut all = Interleaved::default();
        let last = 7_u32;
        let oldest = last.wrapping_sub((1 << 31) - 1);
        for id in [oldest.wrapping_sub(1), oldest, last, last + 1] {
            begin(&mut all, 0, DataFlags::UNORDERED, id, 10);
        }
        let skipped =
            SkippedMessages { stream: StreamId(0), is_unordered: true, message_id: MessageId(last) };
        all.skip(skipped, |_| ());
        let left: Vec<u32> = all.partial.keys().map(|(.., id)| *id).collect();
        assert_eq!(left, [last + 1, oldest.wrapping_sub(1)]);
        assert!(is_held(&all, 20, 2));
    }

    #[test]
    fn a_skip_of_one_ordered_message_leaves_those_behind_it() {
        let mut all = Interleaved::default();
        begin(&mut all, 0, ORDERED, 0, 10);
        begin(&mut all, 0, ORDERED, 5, 10);
        let skipped = SkippedMessages { stream: StreamId(0), is_unordered: false, message_id: MessageId(0) };
        all.skip(skipped, |_| ());
        assert_eq!(all.partial.keys().copied().collect::<Vec<_>>(), [key(0, false, 5)]);
        assert!(is_held(&all, 10, 1));
    }

    #[test]
    fn the_end_tells_of_each_message_whose_rest_will_never_come() {
        let mut all = Interleaved::default();
        busy(&mut all, 0);
        begin(&mut all, 1, DataFlags::UNORDERED, 4, 10);
        assert!(all.take_part(key(1, true, 4)).is_some());
        let mut events = Vec::new();
        all.finish(|event| events.push(event));
        let told = [aborted(StreamId(0), MessageId(1), false), aborted(StreamId(1), MessageId(4), true)];
        assert_eq!(events, told);
    }
}
