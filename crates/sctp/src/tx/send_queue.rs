//! Messages that have no TSN yet: which one is next, and its cutting into fragments.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use crate::chunk::{Data, DataFlags};
use crate::event::Message;
use crate::policy::StreamScheduling;
use crate::types::{StreamId, StreamSequence, Tsn};

/// A chunk that has just been cut, and what belongs to it but does not go on the wire.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) data: Data,
    pub(crate) context: u64,
    /// With the last of several fragments: the message as it was given, in case that it fails.
    pub(crate) whole: Option<Bytes>,
}

/// Messages in the order in which they will be sent.
#[derive(Clone, Debug)]
enum Waiting {
    FirstCome(VecDeque<Message>),
    RoundRobin {
        streams: BTreeMap<StreamId, VecDeque<Message>>,
        /// Streams with messages, the next one first.
        turns: VecDeque<StreamId>,
    },
}

/// A message some of whose fragments have been cut.
#[derive(Clone, Debug)]
struct InProgress {
    message: Message,
    sequence: StreamSequence,
    offset: usize,
}

/// The send queue of an association.
#[derive(Clone, Debug)]
pub(crate) struct SendQueue {
    waiting: Waiting,
    /// Fragments of one message bear consecutive TSNs, so it is finished before another is begun.
    in_progress: Option<InProgress>,
    /// How long the rest of the message is that is next, in bytes; zero: there is none. Asked several times a packet.
    next_rest: usize,
    /// The next Stream Sequence Number of each stream, as far as they have been used.
    sequences: Vec<StreamSequence>,
    stream_count: u16,
}

impl SendQueue {
    pub(crate) fn new(scheduling: StreamScheduling, stream_count: u16) -> Self {
        let waiting = match scheduling {
            StreamScheduling::FirstComeFirstServed => Waiting::FirstCome(VecDeque::new()),
            StreamScheduling::RoundRobin => {
                Waiting::RoundRobin { streams: BTreeMap::new(), turns: VecDeque::new() }
            }
        };
        Self { waiting, in_progress: None, next_rest: 0, sequences: Vec::new(), stream_count }
    }

    pub(crate) const fn stream_count(&self) -> u16 {
        self.stream_count
    }

    pub(crate) const fn contains_stream(&self, stream: StreamId) -> bool {
        stream.0 < self.stream_count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.next_rest == 0
    }

    /// How many messages at least leave before the first one on some streams has left, not counting that; `None` if
    /// there is none.
    pub(crate) fn first_on(&self, is_meant: impl Fn(StreamId) -> bool) -> Option<u32> {
        if self.in_progress.as_ref().is_some_and(|current| is_meant(current.message.stream)) {
            return Some(0);
        }
        let place = match &self.waiting {
            Waiting::FirstCome(messages) => messages.iter().position(|message| is_meant(message.stream))?,
            Waiting::RoundRobin { streams, .. } => {
                streams.keys().any(|stream| is_meant(*stream)).then_some(0)?
            }
        };
        Some(u32::try_from(place).unwrap_or(u32::MAX / 4))
    }

    /// Whether no ordered message has been cut on some streams since they began.
    pub(crate) fn begins_anew(&self, is_meant: impl Fn(StreamId) -> bool) -> bool {
        let mut streams = (0_u16..).map(StreamId).zip(&self.sequences);
        streams.all(|(stream, next)| *next == StreamSequence(0) || !is_meant(stream))
    }

    /// Some streams begin anew.
    pub(crate) fn reset_sequences(&mut self, is_meant: impl Fn(StreamId) -> bool) {
        for (stream, next) in (0_u16..).map(StreamId).zip(&mut self.sequences) {
            if is_meant(stream) {
                *next = StreamSequence(0);
            }
        }
    }

    /// There are so many more streams.
    pub(crate) const fn add_streams(&mut self, count: u16) {
        self.stream_count = self.stream_count.saturating_add(count);
    }

    /// Appends a message on an existing stream.
    pub(crate) fn push(&mut self, message: Message) {
        if self.is_empty() {
            self.next_rest = message.payload.len();
        }
        match &mut self.waiting {
            Waiting::FirstCome(messages) => messages.push_back(message),
            Waiting::RoundRobin { streams, turns } => push_in_turn(streams, turns, message),
        }
    }

    /// The payload length of the chunk that [`take_any`](Self::take_any) would cut; `None` if there is nothing to send.
    #[inline]
    pub(crate) fn next_len(&self, max_payload: usize) -> Option<usize> {
        if self.is_empty() { None } else { Some(self.next_rest.min(max_payload)) }
    }

    /// Whether what waits fills so many bytes of DATA chunks, or as good as.
    pub(crate) fn fills(&self, bytes: usize) -> bool {
        let left = |left: usize, message: &Message| left.checked_sub(Data::wire_len(message.payload.len()));
        let begun = self.in_progress.as_ref().map(|current| current.message.payload.len() - current.offset);
        let Some(left_over) = bytes.checked_sub(begun.map_or(0, Data::wire_len)) else { return true };
        let fits = match &self.waiting {
            Waiting::FirstCome(messages) => messages.iter().try_fold(left_over, left),
            Waiting::RoundRobin { streams, .. } => streams.values().flatten().try_fold(left_over, left),
        };
        fits.is_none_or(|left| left < Data::wire_len(1))
    }

    /// Takes the next message, whole, as the chunk numbered `tsn`, with its context: what most chunks are. `None` says
    /// nothing: [`take_any`](Self::take_any) cuts whatever is next.
    #[inline]
    pub(crate) fn take_whole(&mut self, max_payload: usize, tsn: Tsn) -> Option<(Data, u64)> {
        if self.next_rest > max_payload || self.in_progress.is_some() {
            return None;
        }
        let Waiting::FirstCome(messages) = &mut self.waiting else { return None };
        let message = messages.pop_front()?;
        self.next_rest = messages.front().map_or(0, |next| next.payload.len());
        let sequence = self.next_sequence(message.stream, message.is_unordered);
        Some(whole(message, sequence, tsn))
    }

    /// Cuts the next chunk, of at most `max_payload` bytes of payload, and numbers it `tsn`.
    pub(crate) fn take_any(&mut self, max_payload: usize, tsn: Tsn) -> Option<Cut> {
        let cut = self.cut(max_payload, tsn);
        self.next_rest = match &self.in_progress {
            Some(current) => current.message.payload.len() - current.offset,
            None => self.waiting.front().map_or(0, |next| next.payload.len()),
        };
        cut
    }

    fn cut(&mut self, max_payload: usize, tsn: Tsn) -> Option<Cut> {
        if self.in_progress.is_none() {
            let message = self.waiting.pop()?;
            let sequence = self.next_sequence(message.stream, message.is_unordered);
            if message.payload.len() <= max_payload {
                let (data, context) = whole(message, sequence, tsn);
                return Some(Cut { data, context, whole: None });
            }
            self.in_progress = Some(InProgress { message, sequence, offset: 0 });
        }
        self.take_fragment(max_payload, tsn)
    }

    /// The same for the message in progress.
    fn take_fragment(&mut self, max_payload: usize, tsn: Tsn) -> Option<Cut> {
        let mut current = self.in_progress.take()?;
        let len = current.message.payload.len();
        let start = current.offset;
        let end = len.min(start + max_payload);
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.9
        //# 3)  The transmitter MUST also set the B/E bits of the first DATA
        //# chunk in the series to 10, the B/E bits of the last DATA chunk in
        //# the series to 01, and the B/E bits of all other DATA chunks in
        //# the series to 00.
        let mut flags = if end == len {
            last_flags(&current.message).with(DataFlags::ENDING)
        } else {
            unordered_flag(current.message.is_unordered)
        };
        if start == 0 {
            flags = flags.with(DataFlags::BEGINNING);
        }
        let data = Data {
            flags,
            tsn,
            stream: current.message.stream,
            sequence: current.sequence,
            ppid: current.message.ppid,
            payload: current.message.payload.slice(start..end),
        };
        let context = current.message.context;
        if end == len {
            return Some(Cut { data, context, whole: Some(current.message.payload) });
        }
        current.offset = end;
        self.in_progress = Some(current);
        Some(Cut { data, context, whole: None })
    }

    /// Empties the queue: the message in progress first.
    pub(crate) fn drain(&mut self) -> Vec<Message> {
        let mut messages: Vec<_> =
            self.in_progress.take().map(|current| current.message).into_iter().collect();
        while let Some(message) = self.waiting.pop() {
            messages.push(message);
        }
        self.next_rest = 0;
        messages
    }

    #[inline]
    fn next_sequence(&mut self, stream: StreamId, is_unordered: bool) -> StreamSequence {
        let index = usize::from(stream.0);
        if index >= self.sequences.len() {
            self.sequences.resize(index + 1, StreamSequence(0));
        }
        let sequence = self.sequences[index];
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.5
        //# For unordered user
        //# messages, the Stream Sequence Number MUST NOT be changed.
        if !is_unordered {
            self.sequences[index] = sequence.next();
        }
        sequence
    }
}

impl Waiting {
    #[inline]
    fn front(&self) -> Option<&Message> {
        match self {
            Self::FirstCome(messages) => messages.front(),
            Self::RoundRobin { streams, turns } => first_in_turn(streams, turns),
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Message> {
        match self {
            Self::FirstCome(messages) => messages.pop_front(),
            Self::RoundRobin { streams, turns } => pop_in_turn(streams, turns),
        }
    }
}

// Few take turns: these stand apart from what every message passes.

#[inline(never)]
fn push_in_turn(
    streams: &mut BTreeMap<StreamId, VecDeque<Message>>,
    turns: &mut VecDeque<StreamId>,
    message: Message,
) {
    let messages = streams.entry(message.stream).or_default();
    if messages.is_empty() {
        turns.push_back(message.stream);
    }
    messages.push_back(message);
}

#[inline(never)]
fn first_in_turn<'a>(
    streams: &'a BTreeMap<StreamId, VecDeque<Message>>,
    turns: &VecDeque<StreamId>,
) -> Option<&'a Message> {
    streams.get(turns.front()?)?.front()
}

#[inline(never)]
fn pop_in_turn(
    streams: &mut BTreeMap<StreamId, VecDeque<Message>>,
    turns: &mut VecDeque<StreamId>,
) -> Option<Message> {
    let stream = turns.pop_front()?;
    let messages = streams.get_mut(&stream)?;
    let message = messages.pop_front();
    if messages.is_empty() {
        streams.remove(&stream);
    } else {
        turns.push_back(stream);
    }
    message
}

#[inline]
fn whole(message: Message, sequence: StreamSequence, tsn: Tsn) -> (Data, u64) {
    let flags = last_flags(&message).with(DataFlags::WHOLE);
    let Message { stream, ppid, payload, context, .. } = message;
    (Data { flags, tsn, stream, sequence, ppid, payload }, context)
}

/// The flags of a message's last chunk, but for its place in the message.
#[inline]
fn last_flags(message: &Message) -> DataFlags {
    let flags = unordered_flag(message.is_unordered);
    //= https://www.rfc-editor.org/rfc/rfc7053#section-5.1
    //# The application requests to set the I bit of the last DATA chunk
    //# of a user message when providing the user message to the SCTP
    //# implementation
    match &message.options {
        Some(options) if options.sack_immediately => flags.with(DataFlags::IMMEDIATE),
        _ => flags,
    }
}

const fn unordered_flag(is_unordered: bool) -> DataFlags {
    if is_unordered { DataFlags::UNORDERED } else { DataFlags::MIDDLE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::SendOptions;
    use crate::types::Ppid;

    fn message(stream: u16, context: u64, len: usize) -> Message {
        let payload = Bytes::from(vec![7; len]);
        Message {
            stream: StreamId(stream),
            ppid: Ppid(0),
            payload,
            is_unordered: false,
            context,
            options: None,
        }
    }

    fn contexts(scheduling: StreamScheduling) -> Vec<u64> {
        let mut queue = SendQueue::new(scheduling, 3);
        for (stream, context) in [(0, 0), (0, 1), (0, 2), (1, 10), (2, 20), (1, 11)] {
            queue.push(message(stream, context, 10));
        }
        core::iter::from_fn(|| queue.take_any(100, Tsn(0))).map(|cut| cut.context).collect()
    }

    #[test]
    fn first_come_is_first_served() {
        assert_eq!(contexts(StreamScheduling::FirstComeFirstServed), [0, 1, 2, 10, 20, 11]);
    }

    #[test]
    fn round_robin_takes_one_message_of_each_stream_in_turn() {
        assert_eq!(contexts(StreamScheduling::RoundRobin), [0, 10, 20, 1, 11, 2]);
    }

    #[test]
    fn a_long_message_is_cut_into_fragments_that_share_its_number() {
        let mut queue = SendQueue::new(StreamScheduling::RoundRobin, 2);
        queue.push(message(1, 7, 25));
        queue.push(message(0, 8, 5));
        let mut announced = Vec::new();
        let cuts: Vec<_> = (0..4)
            .map(|tsn| {
                announced.push(queue.next_len(10).unwrap());
                queue.take_any(10, Tsn(tsn)).unwrap()
            })
            .collect();
        let flags = [DataFlags::BEGINNING, DataFlags::MIDDLE, DataFlags::ENDING, DataFlags::WHOLE];
        assert_eq!(cuts.iter().map(|cut| cut.data.flags).collect::<Vec<_>>(), flags);
        assert_eq!(cuts.iter().map(|cut| cut.data.payload.len()).collect::<Vec<_>>(), [10, 10, 5, 5]);
        assert_eq!((announced, queue.next_len(10)), (vec![10, 10, 5, 5], None));
        assert_eq!(cuts[2].whole.as_ref().map(Bytes::len), Some(25));
        assert!(cuts[..3].iter().all(|cut| cut.data.sequence == StreamSequence(0)));
        assert!(queue.is_empty());
    }

    #[test]
    fn an_immediate_acknowledgement_is_asked_for_with_the_last_fragment() {
        let mut queue = SendQueue::new(StreamScheduling::FirstComeFirstServed, 1);
        let options = Some(Box::new(SendOptions { sack_immediately: true }));
        for (len, flags) in [(10, vec![true]), (25, vec![false, false, true])] {
            queue.push(Message { options: options.clone(), ..message(0, 0, len) });
            queue.push(message(0, 0, 1));
            let chunks = (0..flags.len()).map(|_| queue.take_any(10, Tsn(0)).unwrap().data);
            assert_eq!(chunks.map(|data| data.flags.is_immediate()).collect::<Vec<_>>(), flags);
            assert!(!queue.take_any(10, Tsn(0)).unwrap().data.flags.is_immediate());
        }
    }

    #[test]
    fn unordered_messages_do_not_count_in_their_stream() {
        let mut queue = SendQueue::new(StreamScheduling::FirstComeFirstServed, 1);
        for is_unordered in [false, true, false] {
            queue.push(Message { is_unordered, ..message(0, 0, 1) });
        }
        let chunks: Vec<_> = (0..3).map(|_| queue.take_any(10, Tsn(0)).unwrap().data).collect();
        assert_eq!((chunks[0].sequence.0, chunks[2].sequence.0), (0, 1));
        assert_eq!([0, 1, 2].map(|at: usize| chunks[at].flags.is_unordered()), [false, true, false]);
    }
}
