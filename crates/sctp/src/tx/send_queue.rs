//! Messages that have no TSN yet: which one is next, and its cutting into fragments.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::chunk::{Data, DataFlags};
use crate::config::SctpConfig;
use crate::event::Message;
use crate::policy::StreamScheduling;
use crate::types::{StreamId, StreamSequence, Tsn};

use super::cutting::{Cut, InProgress, MessageNumbers, last_flags, next_sequence};
use super::scheduler::Scheduler;

/// The send queue of an association.
#[derive(Clone, Debug)]
pub(crate) struct SendQueue {
    /// Messages as they were handed over.
    messages: VecDeque<Message>,
    /// Fragments of one message bear consecutive TSNs, so it is finished before another is begun.
    in_progress: Option<InProgress>,
    /// In place of the two, which stay empty then: messages in an order of streams, or some that may be taken out.
    scheduler: Option<Box<Scheduler>>,
    /// Length of the rest of the next message, in bytes; zero: there is none. Asked several times a packet.
    next_rest: usize,
    numbers: MessageNumbers,
    stream_count: u16,
    /// Chunks of unordered messages, and messages in fragments, that have been cut.
    cut_counts: (u64, u64),
}

impl SendQueue {
    /// `interleaves`: whether chunks say where in their messages they belong (RFC 8260).
    pub(crate) fn new(config: &SctpConfig, stream_count: u16, interleaves: bool) -> Self {
        let scheduler = match config.stream_scheduling {
            StreamScheduling::FirstComeFirstServed => None,
            scheduling => Some(Box::new(Scheduler::new(scheduling, interleaves))),
        };
        let numbers = if interleaves {
            MessageNumbers::Identifiers(Vec::new())
        } else {
            MessageNumbers::Sequences(Vec::new())
        };
        let mut queue = Self {
            messages: VecDeque::new(),
            in_progress: None,
            scheduler,
            next_rest: 0,
            numbers,
            stream_count,
            cut_counts: (0, 0),
        };
        for (stream, value) in &config.stream_values {
            queue.set_stream_value(*stream, *value);
        }
        queue
    }

    /// Numbers of the chunks of unordered messages that have been cut, and of the messages that have been fragmented.
    pub(crate) const fn cut_counts(&self) -> (u64, u64) {
        self.cut_counts
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

    /// Least number of messages that leave before the first one on some streams has left, not counting that; `None` if
    /// there is none.
    pub(crate) fn first_on(&self, is_meant: impl Fn(StreamId) -> bool) -> Option<u32> {
        let place = match (&self.scheduler, &self.in_progress) {
            (Some(scheduler), _) => scheduler.has_on(is_meant).then_some(0)?,
            (None, Some(current)) if is_meant(current.stream()) => 0,
            (None, _) => self.messages.iter().position(|message| is_meant(message.stream))?,
        };
        Some(u32::try_from(place).unwrap_or(u32::MAX / 4))
    }

    /// Tells if no message has been numbered on some streams since they began.
    pub(crate) fn begins_anew(&self, is_meant: impl Fn(StreamId) -> bool) -> bool {
        self.numbers.begin_anew(is_meant)
    }

    /// Some streams begin anew.
    pub(crate) fn reset_numbers(&mut self, is_meant: impl Fn(StreamId) -> bool) {
        self.numbers.reset(is_meant);
    }

    /// There are so many more streams.
    pub(crate) const fn add_streams(&mut self, count: u16) {
        self.stream_count = self.stream_count.saturating_add(count);
    }

    /// Sets what a stream's priority or weight is; without meaning where streams have none.
    pub(super) fn set_stream_value(&mut self, stream: StreamId, value: u16) {
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.set_value(stream, value);
            self.next_rest = scheduler.next_rest();
        }
    }

    /// Streams get the priorities and weights that they have in another queue.
    pub(super) fn take_stream_values(&mut self, other: &Self) {
        for (stream, value) in other.scheduler.iter().flat_map(|scheduler| scheduler.values()) {
            self.set_stream_value(stream, value);
        }
    }

    /// Appends a message on an existing stream.
    #[expect(clippy::inline_always, reason = "a message is large to move")]
    #[inline(always)]
    pub(crate) fn push(&mut self, message: Message) {
        match &mut self.scheduler {
            None => {
                if self.next_rest == 0 {
                    self.next_rest = message.payload.len();
                }
                self.messages.push_back(message);
            }
            Some(scheduler) => {
                scheduler.push(message);
                self.next_rest = scheduler.next_rest();
            }
        }
    }

    /// Appends one that may be taken out again, and says which it is of all.
    pub(super) fn push_perishable(&mut self, message: Message) -> u64 {
        let scheduler = self.scheduler();
        let arrival = scheduler.push(message);
        self.next_rest = scheduler.next_rest();
        arrival
    }

    /// Takes out a message of which nothing has been cut.
    pub(super) fn remove(&mut self, stream: StreamId, arrival: u64) -> Option<Message> {
        let scheduler = self.scheduler();
        let message = scheduler.remove(stream, arrival);
        self.next_rest = scheduler.next_rest();
        message
    }

    /// Drops what has not been cut of the message in progress on a stream; gives its last fragment, without payload,
    /// and how many bytes it had.
    pub(super) fn drop_rest(&mut self, stream: StreamId, tsn: Tsn) -> Option<(Cut, usize)> {
        let scheduler = self.scheduler();
        let dropped = scheduler.drop_rest(stream, tsn);
        self.next_rest = scheduler.next_rest();
        dropped
    }

    /// The queue as one whose messages can be taken out.
    fn scheduler(&mut self) -> &mut Scheduler {
        self.scheduler.get_or_insert_with(|| {
            let mut scheduler = Scheduler::new(StreamScheduling::FirstComeFirstServed, false);
            if let Some(in_progress) = self.in_progress.take() {
                scheduler.resume(in_progress);
            }
            for message in self.messages.drain(..) {
                scheduler.push(message);
            }
            Box::new(scheduler)
        })
    }

    /// The payload length of the chunk that [`take_any`](Self::take_any) would cut; `None` if there is nothing to
    /// send.
    #[inline]
    pub(crate) fn next_len(&self, max_payload: usize) -> Option<usize> {
        if self.is_empty() { None } else { Some(self.next_rest.min(max_payload)) }
    }

    /// The address that the message is for that is next, if it is for a certain one.
    pub(crate) fn next_destination(&self) -> Option<IpAddr> {
        self.next_message()?.options.as_ref()?.destination
    }

    /// The number of the message of which the next chunk is.
    pub(crate) fn next_context(&self) -> Option<u64> {
        self.next_message().map(|message| message.context)
    }

    /// Stream and sequence number, of an identifier its last 16 bits, of the ordered message of which the next chunk
    /// is. `None` for one that may overtake others.
    pub(crate) fn next_number(&self) -> Option<(StreamId, StreamSequence)> {
        let message = self.next_message().filter(|message| !message.is_unordered)?;
        let next = self.numbers.peek(message.stream);
        // One that has been begun has its number already.
        let is_begun = self.next_rest != message.payload.len();
        Some((message.stream, StreamSequence(next.0.wrapping_sub(u16::from(is_begun)))))
    }

    fn next_message(&self) -> Option<&Message> {
        match &self.scheduler {
            None => self.in_progress.as_ref().map(InProgress::message).or_else(|| self.messages.front()),
            Some(scheduler) => scheduler.next_message(),
        }
    }

    /// Tells if the queued DATA fills so many bytes of chunks with headers of `header_len`, or nearly so.
    pub(crate) fn fills(&self, bytes: usize, header_len: usize) -> bool {
        let wire_len = |len: usize| Data::wire_len(len) - Data::HEADER_LEN + header_len;
        let left = |left: usize, len: usize| left.checked_sub(wire_len(len));
        let left_over = match &self.scheduler {
            None => {
                let begun = self.in_progress.as_ref().map(InProgress::rest);
                let lengths = self.messages.iter().map(|message| message.payload.len());
                begun.into_iter().chain(lengths).try_fold(bytes, left)
            }
            Some(scheduler) => scheduler.lengths().try_fold(bytes, left),
        };
        left_over.is_none_or(|left| left < wire_len(1))
    }

    /// Takes the next message, whole, as the DATA chunk numbered `tsn`, with its context: what most chunks are. `None`
    /// says nothing: [`take_any`](Self::take_any) cuts whatever is next.
    #[inline]
    pub(crate) fn take_whole(&mut self, max_payload: usize, tsn: Tsn) -> Option<(Data, u64)> {
        if self.next_rest > max_payload || self.in_progress.is_some() {
            return None;
        }
        let MessageNumbers::Sequences(sequences) = &mut self.numbers else { return None };
        // With a scheduler there is none here.
        let message = self.messages.pop_front()?;
        self.next_rest = self.messages.front().map_or(0, |next| next.payload.len());
        let sequence = next_sequence(sequences, message.stream, message.is_unordered);
        if message.is_unordered {
            self.cut_counts.0 += 1;
        }
        Some(whole(message, sequence, tsn))
    }

    /// Cuts the next chunk, of at most `max_payload` bytes of payload, and numbers it `tsn`.
    pub(crate) fn take_any(&mut self, max_payload: usize, tsn: Tsn) -> Option<Cut> {
        let cut = self.cut(max_payload, tsn)?;
        let flags = cut.data.flags;
        self.cut_counts.0 += u64::from(flags.is_unordered());
        self.cut_counts.1 += u64::from(flags.is_beginning() && !flags.is_ending());
        Some(cut)
    }

    fn cut(&mut self, max_payload: usize, tsn: Tsn) -> Option<Cut> {
        if let Some(scheduler) = &mut self.scheduler {
            let cut = scheduler.take(max_payload, tsn, &mut self.numbers);
            self.next_rest = scheduler.next_rest();
            return cut;
        }
        if self.in_progress.is_none() {
            let message = self.messages.pop_front()?;
            self.in_progress = Some(InProgress::begin(message, 0, &mut self.numbers));
        }
        let cut = self.in_progress.as_mut()?.cut(max_payload, tsn);
        if cut.data.flags.is_ending() {
            self.in_progress = None;
        }
        self.next_rest = match &self.in_progress {
            Some(current) => current.rest(),
            None => self.messages.front().map_or(0, |next| next.payload.len()),
        };
        Some(cut)
    }

    /// Tells if the next DATA may go into the packet that holds what was taken last.
    #[inline]
    pub(super) fn may_follow(&self) -> bool {
        self.scheduler.as_ref().is_none_or(|scheduler| scheduler.may_follow())
    }

    /// Nothing follows in the packet at hand.
    #[inline]
    pub(super) fn end_packet(&mut self) {
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.end_packet();
            self.next_rest = scheduler.next_rest();
        }
    }

    /// Number of messages of which a part has been cut: [`drain`](Self::drain) gives them first.
    pub(crate) fn begun(&self) -> usize {
        match &self.scheduler {
            None => usize::from(self.in_progress.is_some()),
            Some(scheduler) => scheduler.begun(),
        }
    }

    /// Empties the queue: the message in progress first.
    pub(crate) fn drain(&mut self) -> Vec<Message> {
        self.next_rest = 0;
        match &mut self.scheduler {
            None => {
                let begun = self.in_progress.take().map(InProgress::into_message);
                begun.into_iter().chain(self.messages.drain(..)).collect()
            }
            Some(scheduler) => scheduler.drain(),
        }
    }
}

#[inline]
fn whole(message: Message, sequence: StreamSequence, tsn: Tsn) -> (Data, u64) {
    let flags = last_flags(&message).with(DataFlags::WHOLE);
    let Message { stream, ppid, payload, context, .. } = message;
    (Data { flags, tsn, stream, sequence, ppid, payload }, context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::SendOptions;
    use crate::types::Ppid;
    use bytes::Bytes;

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

    fn queue_of(stream_scheduling: StreamScheduling, streams: u16) -> SendQueue {
        SendQueue::new(&SctpConfig { stream_scheduling, ..SctpConfig::default() }, streams, false)
    }

    fn contexts(scheduling: StreamScheduling) -> Vec<u64> {
        let mut queue = queue_of(scheduling, 3);
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
        let mut queue = queue_of(StreamScheduling::RoundRobin, 2);
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
        let mut queue = queue_of(StreamScheduling::FirstComeFirstServed, 1);
        let options = Some(Box::new(SendOptions { sack_immediately: true, ..SendOptions::default() }));
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
        let mut queue = queue_of(StreamScheduling::FirstComeFirstServed, 1);
        for is_unordered in [false, true, false] {
            queue.push(Message { is_unordered, ..message(0, 0, 1) });
        }
        let chunks: Vec<_> = (0..3).map(|_| queue.take_any(10, Tsn(0)).unwrap().data).collect();
        assert_eq!((chunks[0].sequence.0, chunks[2].sequence.0), (0, 1));
        assert_eq!([0, 1, 2].map(|at: usize| chunks[at].flags.is_unordered()), [false, true, false]);
    }
}
