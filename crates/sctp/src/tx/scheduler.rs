//! Messages that wait on several streams, and which stream is served next (RFC 8260, section 3).
//!
//! Streams that have something to send stand in one order, so that a chunk costs no more than finding places in trees,
//! whatever the number of streams and messages. Each message can be taken out of the middle.

use std::collections::{BTreeMap, BTreeSet};

use super::cutting::{Cut, InProgress, MessageNumbers};
use crate::event::Message;
use crate::policy::StreamScheduling;
use crate::types::{StreamId, Tsn};

/// Rank of a stream: the least is served first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    key: u64,
    /// Among equal keys, who has waited longest.
    turn: u64,
}

/// Queue of one stream.
#[derive(Clone, Debug, Default)]
struct StreamQueue {
    /// By the order in which they were handed over.
    messages: BTreeMap<u64, Message>,
    in_progress: Option<InProgress>,
    /// Rank of the stream while it has something to send.
    rank: Rank,
    /// Payload bytes that have been taken since it was given its rank.
    served: u64,
    /// The virtual time at which its share of what it has sent ends.
    finish: u64,
}

/// The queues of all streams.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    scheduling: StreamScheduling,
    /// True if a message may be begun while one of another stream has not been cut to its end.
    interleaves: bool,
    /// Queues of the streams that have been used. They are as many as there are streams at most.
    streams: BTreeMap<StreamId, StreamQueue>,
    /// Streams that have something to send.
    order: BTreeSet<(Rank, StreamId)>,
    /// Priority or weight of the streams that have been given one.
    values: BTreeMap<StreamId, u16>,
    arrivals: u64,
    turns: u64,
    virtual_time: u64,
    /// The stream that goes on until its message ends, or the packet.
    current: Option<StreamId>,
    /// The stream that the packet at hand is for, if it may be for one only.
    packet_of: Option<StreamId>,
}

/// Virtual time that a byte takes on a stream of weight 1.
const BYTE: u64 = 1 << 16;

impl StreamQueue {
    fn is_empty(&self) -> bool {
        self.in_progress.is_none() && self.messages.is_empty()
    }

    fn next_rest(&self) -> usize {
        match &self.in_progress {
            Some(current) => current.rest(),
            None => self.messages.values().next().map_or(0, |message| message.payload.len()),
        }
    }

    /// Number of the next message in the order in which messages were handed over.
    fn next_arrival(&self) -> u64 {
        match &self.in_progress {
            Some(current) => current.arrival(),
            None => self.messages.keys().next().copied().unwrap_or(u64::MAX),
        }
    }
}

impl Scheduler {
    pub(super) fn new(scheduling: StreamScheduling, interleaves: bool) -> Self {
        Self {
            scheduling,
            // Its order leaves nothing to interleave.
            interleaves: interleaves && scheduling != StreamScheduling::FirstComeFirstServed,
            streams: BTreeMap::new(),
            order: BTreeSet::new(),
            values: BTreeMap::new(),
            arrivals: 0,
            turns: 0,
            virtual_time: 0,
            current: None,
            packet_of: None,
        }
    }

    /// The priorities and weights of the streams that have been given one.
    pub(super) fn values(&self) -> impl Iterator<Item = (StreamId, u16)> + '_ {
        self.values.iter().map(|(stream, value)| (*stream, *value))
    }

    /// Sets the priority or weight of a stream.
    pub(super) fn set_value(&mut self, stream: StreamId, value: u16) {
        self.values.insert(stream, value);
        if self.scheduling == StreamScheduling::Priority
            && let Some(queue) = self.streams.get_mut(&stream)
            && self.order.remove(&(queue.rank, stream))
        {
            queue.rank.key = value.into();
            self.order.insert((queue.rank, stream));
        }
    }

    /// Tells if something is queued on some streams.
    pub(super) fn has_on(&self, is_meant: impl Fn(StreamId) -> bool) -> bool {
        self.streams.iter().any(|(stream, queue)| !queue.is_empty() && is_meant(*stream))
    }

    /// Appends a message to its stream, and says which it is of all.
    pub(super) fn push(&mut self, message: Message) -> u64 {
        let stream = message.stream;
        let arrival = self.arrivals;
        self.arrivals += 1;
        let queue = self.streams.entry(stream).or_default();
        let was_empty = queue.is_empty();
        queue.messages.insert(arrival, message);
        if was_empty {
            self.rank(stream);
        }
        arrival
    }

    /// Puts in front what another queue has begun.
    pub(super) fn resume(&mut self, mut in_progress: InProgress) {
        in_progress.set_arrival(self.arrivals);
        self.arrivals += 1;
        let stream = in_progress.stream();
        self.streams.entry(stream).or_default().in_progress = Some(in_progress);
        self.rank(stream);
        self.current = Some(stream);
    }

    /// Length of the rest of the next message, in bytes; zero: there is none.
    pub(super) fn next_rest(&self) -> usize {
        let next = self.next_stream().and_then(|stream| self.streams.get(&stream));
        next.map_or(0, StreamQueue::next_rest)
    }

    /// The message that is next, or whose next fragment is.
    pub(super) fn next_message(&self) -> Option<&Message> {
        let queue = self.streams.get(&self.next_stream()?)?;
        queue.in_progress.as_ref().map(InProgress::message).or_else(|| queue.messages.values().next())
    }

    /// Tells if the next DATA may go into the packet that holds what was taken last.
    pub(super) fn may_follow(&self) -> bool {
        self.packet_of.is_none() || self.packet_of == self.next_stream()
    }

    /// Nothing follows in the packet at hand.
    pub(super) fn end_packet(&mut self) {
        let Some(stream) = self.packet_of.take() else { return };
        let is_in_message = self.streams.get(&stream).is_some_and(|queue| queue.in_progress.is_some());
        if self.current == Some(stream) && (self.interleaves || !is_in_message) {
            self.end_turn(stream);
        }
    }

    /// Cuts the next chunk, of at most `max_payload` bytes of payload, and numbers it `tsn`.
    pub(super) fn take(&mut self, max_payload: usize, tsn: Tsn, numbers: &mut MessageNumbers) -> Option<Cut> {
        let stream = self.next_stream()?;
        let queue = self.streams.get_mut(&stream)?;
        self.virtual_time = self.virtual_time.max(queue.rank.key);
        if queue.in_progress.is_none() {
            let (arrival, message) = queue.messages.pop_first()?;
            queue.in_progress = Some(InProgress::begin(message, arrival, numbers));
        }
        let cut = queue.in_progress.as_mut()?.cut(max_payload, tsn);
        queue.served += cut.data.payload.len() as u64;
        let is_over = cut.data.flags.is_ending();
        if is_over {
            queue.in_progress = None;
        }
        if self.scheduling == StreamScheduling::RoundRobinPerPacket {
            self.packet_of = Some(stream);
            if queue.is_empty() {
                self.end_turn(stream);
            } else {
                self.current = Some(stream);
            }
        } else if is_over || self.interleaves {
            self.end_turn(stream);
        } else {
            self.current = Some(stream);
        }
        Some(cut)
    }

    /// Takes a message out of which nothing has been cut.
    pub(super) fn remove(&mut self, stream: StreamId, arrival: u64) -> Option<Message> {
        let queue = self.streams.get_mut(&stream)?;
        let message = queue.messages.remove(&arrival)?;
        let is_first_come = self.scheduling == StreamScheduling::FirstComeFirstServed;
        if queue.is_empty() || is_first_come && self.current != Some(stream) {
            self.end_turn(stream);
        }
        Some(message)
    }

    /// Drops what has not been cut of the message in progress on a stream; gives its last fragment, without payload.
    pub(super) fn drop_rest(&mut self, stream: StreamId, tsn: Tsn) -> Option<(Cut, usize)> {
        let queue = self.streams.get_mut(&stream)?;
        let mut current = queue.in_progress.take()?;
        let dropped = current.drop_rest(tsn);
        self.end_turn(stream);
        Some(dropped)
    }

    /// Lengths of the queued messages in bytes: a message that has been begun is as long as its rest.
    pub(super) fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.streams.values().flat_map(|queue| {
            let begun = queue.in_progress.as_ref().map(InProgress::rest);
            begun.into_iter().chain(queue.messages.values().map(|message| message.payload.len()))
        })
    }

    /// Number of messages of which a part has been cut.
    pub(super) fn begun(&self) -> usize {
        self.streams.values().filter(|queue| queue.in_progress.is_some()).count()
    }

    /// Takes out all messages: those in progress first, then the others as they would be served.
    pub(super) fn drain(&mut self) -> Vec<Message> {
        let begun = self.streams.values_mut().filter_map(|queue| queue.in_progress.take());
        let mut messages: Vec<Message> = begun.map(InProgress::into_message).collect();
        self.current = None;
        while let Some((_, stream)) = self.order.first().copied() {
            let next = self.streams.get_mut(&stream).and_then(|queue| {
                let (_, message) = queue.messages.pop_first()?;
                queue.served += message.payload.len() as u64;
                Some(message)
            });
            messages.extend(next);
            self.end_turn(stream);
        }
        messages
    }

    fn next_stream(&self) -> Option<StreamId> {
        self.current.or_else(|| self.order.first().map(|(_, stream)| *stream))
    }

    /// A stream has been served as far as it goes now: its next turn comes after those of others.
    fn end_turn(&mut self, stream: StreamId) {
        if self.current == Some(stream) {
            self.current = None;
        }
        let Some(queue) = self.streams.get_mut(&stream) else { return };
        self.order.remove(&(queue.rank, stream));
        let weight = match self.scheduling {
            StreamScheduling::WeightedFairQueueing => self.values.get(&stream).copied().unwrap_or(1).max(1),
            _ => 1,
        };
        let share = core::mem::take(&mut queue.served).saturating_mul(BYTE) / u64::from(weight);
        if share > 0 {
            queue.finish = queue.rank.key.saturating_add(share);
        }
        if !queue.is_empty() {
            self.rank(stream);
        }
    }

    /// Gives a stream that has something to send its place in the order.
    fn rank(&mut self, stream: StreamId) {
        let Some(queue) = self.streams.get_mut(&stream) else { return };
        let key = match self.scheduling {
            StreamScheduling::FirstComeFirstServed => queue.next_arrival(),
            StreamScheduling::RoundRobin | StreamScheduling::RoundRobinPerPacket => 0,
            //= https://www.rfc-editor.org/rfc/rfc8260#section-3.4
            //# Streams having a
            //# higher priority will be scheduled first and when multiple streams
            //# have the same priority, the scheduling between them is implementation
            //# dependent.
            // They take turns.
            StreamScheduling::Priority => self.values.get(&stream).copied().unwrap_or(0).into(),
            //= https://www.rfc-editor.org/rfc/rfc8260#section-3.6
            //# If the weight of stream S1 is n times the weight of stream
            //# S2, the scheduler should assign to stream S1 n times the capacity it
            //# assigns to stream S2.
            // Start-time fair queueing: Goyal, Vin, Cheng 1997, section 2. What has waited for nothing begins now.
            StreamScheduling::FairCapacity | StreamScheduling::WeightedFairQueueing => {
                self.virtual_time.max(queue.finish)
            }
        };
        self.turns += 1;
        queue.rank = Rank { key, turn: self.turns };
        self.order.insert((queue.rank, stream));
    }
}

#[cfg(test)]
mod tests;
