//! Order within each stream: messages wait here until their Stream Sequence Number is next.

use std::collections::BTreeMap;

use super::held::Held;
use crate::event::ReceivedMessage;
use crate::types::{StreamId, StreamSequence};

/// A Stream Sequence Number that waits for delivery came under a second TSN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequenceReused;

/// The Stream Sequence Numbers that some neighbouring streams expect.
type Page = Box<[StreamSequence; PAGE_LEN]>;

/// Number of streams that share a page: the peer chooses which streams it uses, and a page is the cost of the least
/// used one.
const PAGE_LEN: usize = 64;

/// Number of streams at hand, with no page: as many as have room where a page would be named. Few associations use
/// more, and of very many each touches less memory.
const FIRST: usize = 4;

/// Expected Stream Sequence Numbers of all streams.
#[derive(Clone, Debug)]
struct Expected {
    first: [StreamSequence; FIRST],
    /// The pages that there are of the streams behind those, by the stream's number divided by [`PAGE_LEN`]. Streams of
    /// one that is missing expect 0.
    pages: BTreeMap<u16, Page>,
}

/// The inbound streams of an association.
#[derive(Clone, Debug)]
pub(crate) struct InboundStreams {
    count: u16,
    expected: Expected,
    /// Messages that came too early.
    waiting: BTreeMap<(StreamId, u16), ReceivedMessage>,
    held: Held,
}

impl InboundStreams {
    /// `count` streams, each expecting Stream Sequence Number 0.
    pub(crate) const fn new(count: u16) -> Self {
        let held = Held { payload: 0, pieces: 0 };
        Self { count, expected: Expected::START, waiting: BTreeMap::new(), held }
    }

    /// Tells if `stream` exists.
    pub(crate) const fn contains(&self, stream: StreamId) -> bool {
        stream.0 < self.count
    }

    /// Payload of the messages that are kept here.
    pub(crate) const fn held(&self) -> Held {
        self.held
    }

    /// The Stream Sequence Number that `stream` delivers next.
    pub(crate) fn expected(&self, stream: StreamId) -> StreamSequence {
        self.expected.get(stream)
    }

    /// Number of streams that there are.
    pub(crate) const fn count(&self) -> u16 {
        self.count
    }

    /// There are so many more streams, each expecting Stream Sequence Number 0.
    pub(crate) const fn add(&mut self, count: u16) {
        self.count = self.count.saturating_add(count);
    }

    /// Streams expect Stream Sequence Number 0 again: those listed; none: all. What waits there for its turn will never
    /// be delivered: its sender has left numbers out.
    pub(crate) fn reset(&mut self, listed: &[StreamId]) {
        if listed.is_empty() {
            self.expected = Expected::START;
            self.waiting.clear();
            self.held = Held::default();
            return;
        }
        for stream in listed {
            if let Some(expected) = self.expected.get_mut(*stream) {
                *expected = StreamSequence(0);
            }
            let of_stream = self.waiting.range((*stream, 0)..=(*stream, u16::MAX));
            for key in of_stream.map(|(key, _)| *key).collect::<Vec<_>>() {
                if let Some(message) = self.waiting.remove(&key) {
                    self.held.release(message.payload.len(), 1);
                }
            }
        }
    }

    /// Tells if no message is kept here.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Counts a message as delivered if it is next in its stream and nothing waits; says whether it is.
    #[inline]
    pub(crate) fn advance_if_next(&mut self, stream: StreamId, sequence: StreamSequence) -> bool {
        // The first message of a page goes the long way and makes it.
        match self.expected.get_mut(stream).filter(|expected| **expected == sequence) {
            Some(expected) => {
                *expected = sequence.next();
                true
            }
            None => false,
        }
    }

    /// Takes in a complete ordered message on an existing stream and passes on, in order, all that may be
    /// delivered.
    pub(crate) fn accept(
        &mut self,
        message: ReceivedMessage,
        mut deliver: impl FnMut(ReceivedMessage),
    ) -> Result<(), SequenceReused> {
        let (stream, sequence) = (message.stream, message.sequence);
        if sequence == self.expected(stream) {
            deliver(message);
            self.advance(stream, deliver);
            return Ok(());
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.6
        //# If DATA chunks arrive out of order of
        //# their Stream Sequence Number, the endpoint MUST hold the received
        //# DATA chunks from delivery to the ULP until they are reordered.
        // A sender may have 2^16 - 1 ordered messages of a stream in flight (section 6.1), so that whatever is
        // not next lies ahead, be it more than half the space.
        self.held.add(message.payload.len());
        match self.waiting.insert((stream, sequence.0), message) {
            None => Ok(()),
            Some(_) => Err(SequenceReused),
        }
    }

    /// The message that `stream` expected has been delivered: passes on those that have waited for that.
    pub(crate) fn advance(&mut self, stream: StreamId, mut deliver: impl FnMut(ReceivedMessage)) {
        let mut next = self.expected(stream).next();
        while let Some(message) = self.take_waiting(stream, next) {
            self.held.release(message.payload.len(), 1);
            deliver(message);
            next = next.next();
        }
        self.expected.set(stream, next);
    }

    /// Messages of an existing stream up to `sequence` that have not come never will: passes on those that have, and
    /// all that has waited behind them.
    pub(crate) fn skip_to(
        &mut self,
        stream: StreamId,
        sequence: StreamSequence,
        mut deliver: impl FnMut(ReceivedMessage),
    ) {
        let expected = self.expected(stream);
        if sequence.is_before(expected) {
            // It was known before.
            return;
        }
        let (first, rest) = if expected.0 <= sequence.0 {
            (expected.0..=sequence.0, None)
        } else {
            (expected.0..=u16::MAX, Some(0..=sequence.0))
        };
        for range in core::iter::once(first).chain(rest) {
            let (from, to) = ((stream, *range.start()), (stream, *range.end()));
            while let Some(key) = self.waiting.range(from..=to).next().map(|(key, _)| *key) {
                let Some(message) = self.waiting.remove(&key) else { return };
                self.held.release(message.payload.len(), 1);
                deliver(message);
            }
        }
        self.expected.set(stream, sequence);
        self.advance(stream, deliver);
    }

    fn take_waiting(&mut self, stream: StreamId, sequence: StreamSequence) -> Option<ReceivedMessage> {
        // As a rule nothing waits.
        if self.waiting.is_empty() { None } else { self.waiting.remove(&(stream, sequence.0)) }
    }
}

impl Expected {
    const START: Self = Self { first: [StreamSequence(0); FIRST], pages: BTreeMap::new() };

    fn get(&self, stream: StreamId) -> StreamSequence {
        if let Some(first) = self.first.get(usize::from(stream.0)) {
            return *first;
        }
        let (page, place) = locate(stream);
        self.pages.get(&page).map_or(StreamSequence(0), |page| page[place])
    }

    /// Expected number of a stream, if its page has been made.
    #[inline]
    fn get_mut(&mut self, stream: StreamId) -> Option<&mut StreamSequence> {
        if let Some(first) = self.first.get_mut(usize::from(stream.0)) {
            return Some(first);
        }
        let (page, place) = locate(stream);
        self.pages.get_mut(&page).map(|page| &mut page[place])
    }

    fn set(&mut self, stream: StreamId, sequence: StreamSequence) {
        if let Some(first) = self.first.get_mut(usize::from(stream.0)) {
            *first = sequence;
            return;
        }
        let (page, place) = locate(stream);
        let page = self.pages.entry(page).or_insert_with(|| Box::new([StreamSequence(0); PAGE_LEN]));
        page[place] = sequence;
    }
}

/// The page of a stream, and its place there.
fn locate(stream: StreamId) -> (u16, usize) {
    let number = usize::from(stream.0);
    let page = u16::try_from(number / PAGE_LEN).expect("a part of a 16-bit number");
    (page, number % PAGE_LEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Ppid, Tsn};
    use bytes::Bytes;
    use proptest::prelude::*;
    use slantpath_wire::ip::IpFields;

    fn message(stream: u16, number: u16) -> ReceivedMessage {
        ReceivedMessage {
            stream: StreamId(stream),
            sequence: StreamSequence(number),
            ppid: Ppid(0),
            tsn: Tsn(number.into()),
            payload: Bytes::copy_from_slice(&number.to_be_bytes()),
            is_unordered: false,
            ip: IpFields::default(),
        }
    }

    fn accept(
        streams: &mut InboundStreams,
        stream: u16,
        number: u16,
    ) -> Result<Vec<ReceivedMessage>, SequenceReused> {
        let mut delivered = Vec::new();
        streams.accept(message(stream, number), |message| delivered.push(message))?;
        Ok(delivered)
    }

    #[test]
    fn one_stream_does_not_hold_up_another() {
        let mut streams = InboundStreams::new(2);
        assert_eq!(accept(&mut streams, 1, 1), Ok(vec![]));
        assert_eq!(accept(&mut streams, 0, 0), Ok(vec![message(0, 0)]));
        assert_eq!(accept(&mut streams, 1, 0), Ok(vec![message(1, 0), message(1, 1)]));
    }

    #[test]
    fn a_sequence_number_under_a_second_tsn_is_refused() {
        let mut streams = InboundStreams::new(1);
        accept(&mut streams, 0, 5).unwrap();
        assert_eq!(accept(&mut streams, 0, 5), Err(SequenceReused));
    }

    #[test]
    fn a_message_may_be_ahead_by_almost_the_whole_space() {
        let mut streams = InboundStreams::new(1);
        assert_eq!(accept(&mut streams, 0, 65_534), Ok(vec![]));
        for number in 0..65_533 {
            accept(&mut streams, 0, number).unwrap();
        }
        assert_eq!(accept(&mut streams, 0, 65_533), Ok(vec![message(0, 65_533), message(0, 65_534)]));
    }

    #[test]
    fn order_holds_when_sequence_numbers_wrap() {
        let mut streams = InboundStreams::new(1);
        for number in 0..65_535 {
            accept(&mut streams, 0, number).unwrap();
        }
        assert_eq!(accept(&mut streams, 0, 0), Ok(vec![]));
        assert_eq!(accept(&mut streams, 0, 65_535), Ok(vec![message(0, 65_535), message(0, 0)]));
    }

    /// Two bytes a stream and a little more, whichever of them the peer uses.
    #[test]
    fn a_stream_costs_a_page_at_most() {
        assert_eq!(size_of::<[StreamSequence; PAGE_LEN]>(), 128);
        let mut streams = InboundStreams::new(u16::MAX);
        accept(&mut streams, 65_534, 0).unwrap();
        assert_eq!(streams.expected.pages.len(), 1);
        for stream in 0..65_534 {
            accept(&mut streams, stream, 0).unwrap();
        }
        assert_eq!(streams.expected.pages.len(), 1_024);
        assert_eq!(accept(&mut streams, 65_534, 1), Ok(vec![message(65_534, 1)]));
        assert_eq!(streams.held(), Held::default());
    }

    #[test]
    fn what_waits_is_counted_until_it_is_delivered() {
        let mut streams = InboundStreams::new(2);
        for number in [2, 1, 5] {
            accept(&mut streams, 1, number).unwrap();
        }
        assert_eq!(streams.held(), Held { payload: 6, pieces: 3 });
        accept(&mut streams, 1, 0).unwrap();
        assert_eq!(streams.held(), Held { payload: 2, pieces: 1 });
    }

    proptest! {
        #[test]
        fn any_order_of_arrival_is_delivered_in_order(order in Just((0_u16..40).collect::<Vec<_>>()).prop_shuffle()) {
            let mut streams = InboundStreams::new(1);
            let mut delivered = Vec::new();
            for number in order {
                delivered.extend(accept(&mut streams, 0, number).unwrap());
            }
            prop_assert_eq!(delivered, (0..40).map(|number| message(0, number)).collect::<Vec<_>>());
        }
    }
}
