//! Messages that are given up before the peer has them, and telling it so (RFC 3758, section 3.5; RFC 7496).
//!
//! Nothing of this exists before the first message with another reliability than full. What is given up stays in the
//! list of outstanding chunks, out of flight, until the peer acknowledges past it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slantpath_base::Instant;

use super::abandoned::{Abandoned, StreamAbandonment};
use super::outstanding::ChunkState;
use super::{Sender, Turn};
use crate::chunk::{Chunk, ForwardTsn, FragmentPlace, IForwardTsn, SkippedMessages, SkippedStream};
use crate::event::{Event, Message};
use crate::path::PathId;
use crate::reliability::{Reliability, ReliabilityPolicy};
use crate::types::{MessageId, StreamId, Tsn};

/// Numbers of messages that were given up, and of FORWARD TSN chunks that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AbandonmentCounts {
    pub(crate) unsent: u64,
    pub(crate) sent: u64,
    pub(crate) forward_tsns: u64,
}

/// A message that may be given up.
#[derive(Clone, Debug)]
struct Perishable {
    /// As it was given, but for its options.
    message: Message,
    limit: Limit,
    /// The numbers of its chunks that have not been acknowledged cumulatively, ascending.
    chunks: VecDeque<u64>,
    /// True if its last fragment has been cut.
    is_cut: bool,
}

/// Limit at which the message is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Expiry(Instant),
    Retransmissions(u32),
    Priority(u32),
}

impl Limit {
    const fn policy(self) -> ReliabilityPolicy {
        match self {
            Self::Expiry(_) => ReliabilityPolicy::Lifetime,
            Self::Retransmissions(_) => ReliabilityPolicy::Retransmissions,
            Self::Priority(_) => ReliabilityPolicy::Priority,
        }
    }
}

/// The last FORWARD TSN, until the peer has acknowledged what it says.
#[derive(Clone, Copy, Debug)]
struct Announced {
    /// The number of the chunk that it goes up to.
    point: u64,
    at: Instant,
    path: PathId,
    /// True if a FORWARD TSN before it went to another path.
    is_ambiguous: bool,
    /// True if it is to be repeated.
    repeats: bool,
}

/// Messages that may be given up, and the record of those that were.
#[derive(Clone, Debug, Default)]
pub(super) struct Abandonment {
    /// Messages that wait to be sent, or to be sent whole, and those that have been, by the order in which they were
    /// handed over.
    messages: BTreeMap<u64, Perishable>,
    /// Of those that have not been cut to the end, when each expires.
    expiries: BTreeSet<(Instant, u64)>,
    /// Of those of which nothing has been cut, the priority of each.
    priorities: BTreeSet<(u32, u64)>,
    /// Payload bytes of the latter: where they are too few to make room, they are not walked through.
    priority_bytes: u64,
    /// The message of each outstanding chunk that may be given up, by the chunk's number.
    message_of: BTreeMap<u64, u64>,
    /// The number of the chunk at the Advanced.Peer.Ack.Point.
    advanced_peer_ack_point: u64,
    /// Up to there: what was skipped on each stream, ordered and unordered, and the number of the last chunk of it.
    skipped: BTreeMap<(StreamId, bool), (MessageId, u64)>,
    announced: Option<Announced>,
    /// True if the point may advance, or has to be told.
    is_due: bool,
    abandoned: Abandoned,
    /// FORWARD TSN and I-FORWARD-TSN chunks that were sent.
    forward_tsns: u64,
}

impl Abandonment {
    /// Assigns the announcement on one path to another, since an address is deleted, and repeats it: the timer of that
    /// path has been removed with it.
    pub(super) fn replace_path(&mut self, from: PathId, to: PathId) {
        if let Some(announced) = self.announced.as_mut().filter(|announced| announced.path == from) {
            announced.path = to;
            announced.is_ambiguous = true;
            announced.repeats = true;
            self.is_due = true;
        }
    }

    /// Tells if something may have to be told although neither window nor queue has changed.
    pub(super) const fn is_due(&self) -> bool {
        self.is_due
    }

    /// Instant at which the next message expires that has not been cut to its end.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.expiries.first().map(|(at, _)| *at)
    }

    /// The message that a lost chunk makes given up in place of being retransmitted.
    fn doomed(&self, now: Instant, number: u64, transmissions: u32) -> Option<u64> {
        let arrival = *self.message_of.get(&number)?;
        let is_over = match self.messages.get(&arrival)?.limit {
            //= https://www.rfc-editor.org/rfc/rfc3758#section-4.1
            //# TR4) Before transmitting or retransmitting a message for which a TSN
            //# is already assigned, the SCTP sender MUST evaluate the lifetime
            //# of the message.
            Limit::Expiry(at) => at <= now,
            //= https://www.rfc-editor.org/rfc/rfc7496#section-3.1
            //# The sender MUST
            //# abandon a user message if the number of retransmissions of any of the
            //# DATA chunks of the user message would exceed the provided limit.
            Limit::Retransmissions(limit) => transmissions > limit,
            Limit::Priority(_) => false,
        };
        is_over.then_some(arrival)
    }

    fn forget(&mut self, arrival: u64) -> Option<Perishable> {
        let perishable = self.messages.remove(&arrival)?;
        self.forget_waiting(arrival, &perishable);
        Some(perishable)
    }

    /// Removes a message that waits no more from those ordered by expiry or priority.
    fn forget_waiting(&mut self, arrival: u64, perishable: &Perishable) {
        match perishable.limit {
            Limit::Expiry(at) => {
                self.expiries.remove(&(at, arrival));
            }
            Limit::Priority(priority) => {
                if self.priorities.remove(&(priority, arrival)) {
                    self.priority_bytes -= perishable.message.payload.len() as u64;
                }
            }
            Limit::Retransmissions(_) => {}
        }
    }
}

impl Sender {
    /// Tells if messages have been handed over that may be given up.
    #[inline]
    pub(crate) const fn abandons(&self) -> bool {
        self.abandonment.is_some()
    }

    /// Counts of messages that were given up, and of FORWARD TSN chunks that were sent.
    pub(crate) fn abandonment_counts(&self) -> AbandonmentCounts {
        self.abandonment.as_ref().map_or_else(AbandonmentCounts::default, |abandonment| {
            let [unsent, sent] = abandonment.abandoned.total();
            AbandonmentCounts { unsent, sent, forward_tsns: abandonment.forward_tsns }
        })
    }

    /// Counts of messages that were given up, by stream and policy.
    pub(crate) fn abandoned_by_stream(&self) -> impl Iterator<Item = StreamAbandonment> + '_ {
        self.abandonment.iter().flat_map(|abandonment| abandonment.abandoned.by_stream())
    }

    /// Takes over a message that is not to be sent whatever happens.
    #[cold]
    pub(super) fn push_perishable(&mut self, turn: &Turn<'_>, message: Message, reliability: Reliability) {
        let limit = match reliability {
            Reliability::Lifetime(lifetime) => Limit::Expiry(turn.now.saturating_add(lifetime)),
            Reliability::Retransmissions(limit) if self.may_abandon_sent => Limit::Retransmissions(limit),
            Reliability::Priority(priority) if self.may_abandon_sent => Limit::Priority(priority),
            Reliability::Full | Reliability::Retransmissions(_) | Reliability::Priority(_) => {
                return self.queue.push(message);
            }
        };
        let kept = Message { options: None, ..message.clone() };
        let arrival = self.queue.push_perishable(message);
        let abandonment = self.abandonment.get_or_insert_default();
        match limit {
            Limit::Expiry(at) => {
                abandonment.expiries.insert((at, arrival));
            }
            Limit::Priority(priority) => {
                abandonment.priorities.insert((priority, arrival));
                abandonment.priority_bytes += kept.payload.len() as u64;
            }
            Limit::Retransmissions(_) => {}
        }
        let perishable = Perishable { message: kept, limit, chunks: VecDeque::new(), is_cut: false };
        abandonment.messages.insert(arrival, perishable);
    }

    /// Gives messages up that have expired, or count for less than one with `reliability`, so that `wanted` bytes more
    /// fit into the send buffer. `false` if they do not.
    #[cold]
    pub(super) fn make_room(&mut self, turn: &mut Turn<'_>, reliability: Reliability, wanted: u64) -> bool {
        if self.abandonment.is_none() {
            return false;
        }
        self.abandon_expired(turn);
        let limit = self.most_bytes;
        //= https://www.rfc-editor.org/rfc/rfc7496#section-3.2
        //# User messages sent reliably are
        //# considered to have a priority higher than all messages sent with the
        //# Priority Policy.
        let least = match reliability {
            Reliability::Priority(priority) => priority.checked_add(1),
            Reliability::Full | Reliability::Lifetime(_) | Reliability::Retransmissions(_) => Some(0),
        };
        let missing = (self.buffered_bytes + wanted).saturating_sub(limit);
        let surplus = usize::from(self.buffered_messages >= self.most_messages);
        let (Some(least), Some(abandonment)) = (least, &self.abandonment) else {
            return missing == 0 && surplus == 0;
        };
        if missing > abandonment.priority_bytes {
            return false;
        }
        let mut doomed = Vec::new();
        let mut freed = 0;
        for &(_, arrival) in abandonment.priorities.range((least, 0)..).rev() {
            if freed >= missing && doomed.len() >= surplus {
                break;
            }
            freed += abandonment.messages.get(&arrival).map_or(0, |it| it.message.payload.len() as u64);
            doomed.push(arrival);
        }
        if freed < missing || doomed.len() < surplus {
            return false;
        }
        for arrival in doomed {
            self.abandon(turn, arrival);
        }
        true
    }

    /// A chunk of a message that may be given up has been cut, and numbered.
    pub(super) fn note_perishable_cut(&mut self, arrival: u64, tsn: Tsn, is_ending: bool) {
        let number = self.outstanding.number(tsn);
        let Some(abandonment) = &mut self.abandonment else { return };
        let Some(mut perishable) = abandonment.messages.remove(&arrival) else { return };
        perishable.is_cut = is_ending;
        let is_for_good = !self.may_abandon_sent || matches!(perishable.limit, Limit::Priority(_));
        if is_for_good || is_ending {
            abandonment.forget_waiting(arrival, &perishable);
        }
        if is_for_good {
            return;
        }
        perishable.chunks.push_back(number);
        abandonment.message_of.insert(number, arrival);
        abandonment.messages.insert(arrival, perishable);
    }

    /// Gives up what is due to be, and says what the peer is to be told of it and by which path.
    pub(crate) fn settle_abandonment(&mut self, turn: &mut Turn<'_>) -> Option<(PathId, Chunk)> {
        self.abandonment.as_ref()?;
        self.abandon_expired(turn);
        while let Some(arrival) = self.doomed_next(turn.now) {
            self.abandon(turn, arrival);
        }
        self.announce_room(turn);
        self.advance_peer_ack_point(turn);
        self.forward(turn)
    }

    /// The message that is given up in place of sending the next lost chunk again.
    pub(super) fn doomed_next(&mut self, now: Instant) -> Option<u64> {
        self.abandonment.as_ref()?;
        let (tsn, transmissions) = self.next_lost().map(|chunk| (chunk.data.tsn, chunk.transmissions))?;
        self.doomed(now, tsn, transmissions)
    }

    /// The message that is given up in place of sending a chunk again that has been sent so many times.
    pub(super) fn doomed(&self, now: Instant, tsn: Tsn, transmissions: u32) -> Option<u64> {
        self.abandonment.as_ref()?.doomed(now, self.outstanding.number(tsn), transmissions)
    }

    /// Gives up every message that has expired and not been cut to its end.
    pub(crate) fn abandon_expired(&mut self, turn: &mut Turn<'_>) {
        //= https://www.rfc-editor.org/rfc/rfc3758#section-4.1
        //# If it is expired, the
        //# SCTP sender MUST NOT assign a TSN to that message, but instead,
        //# SHOULD issue a notification to the upper layer and abandon the
        //# message.
        while let Some(&(at, arrival)) = self.abandonment.as_ref().and_then(|all| all.expiries.first())
            && at <= turn.now
        {
            self.abandon(turn, arrival);
        }
    }

    fn abandon(&mut self, turn: &mut Turn<'_>, arrival: u64) {
        let Some(abandonment) = &mut self.abandonment else { return };
        let Some(perishable) = abandonment.forget(arrival) else { return };
        let Perishable { message, limit, chunks, is_cut } = perishable;
        let policy = limit.policy();
        for number in &chunks {
            abandonment.message_of.remove(number);
        }
        // Its first fragments may have been acknowledged, and its rest still wait.
        let unsent = if is_cut { None } else { self.queue.remove(message.stream, arrival) };
        let was_sent = unsent.is_none();
        abandonment.abandoned.count(message.stream, policy, was_sent);
        if let Some(unsent) = unsent {
            self.release(unsent.payload.len() as u64, true);
        } else {
            //= https://www.rfc-editor.org/rfc/rfc3758#section-3.5
            //# A3) When a TSN is "abandoned", if it is part of a fragmented message,
            //# all other TSN's within that fragmented message MUST be abandoned
            //# at the same time.
            for number in chunks {
                self.abandon_chunk(turn, self.outstanding.tsn_of(number));
            }
            if !is_cut {
                self.abandon_rest(turn, message.stream);
            }
            for id in turn.paths.ids() {
                self.settle_flight(turn, id);
            }
        }
        turn.events.push_back(Event::Abandoned { message, policy, was_sent });
    }

    //= https://www.rfc-editor.org/rfc/rfc3758#section-3.5
    //# When a data chunk is "abandoned", the sender MUST treat the data
    //# chunk as being finally acked and no longer outstanding.
    fn abandon_chunk(&mut self, turn: &mut Turn<'_>, tsn: Tsn) {
        let Some(chunk) = self.outstanding.find(tsn) else { return };
        let (state, id, wire_len) = (chunk.state, chunk.path, chunk.wire_len());
        let (payload_len, kept_len) = (chunk.payload_len(), chunk.kept_len());
        let is_last = chunk.data.flags.is_ending();
        let path = &mut turn.paths[id];
        match state {
            ChunkState::Abandoned => return,
            ChunkState::Acked => {
                if let Some(timing) = &mut path.timing {
                    timing.on_in_order();
                }
            }
            ChunkState::InFlight => path.on_chunk_left(wire_len),
            ChunkState::Lost(_) => {}
        }
        path.forget_probe(tsn);
        self.outstanding.abandon(tsn);
        self.release(kept_len, is_last);
        if let Some(spread) = &mut self.spread {
            spread.remove(id, payload_len);
        }
        if let Some(abandonment) = &mut self.abandonment {
            abandonment.is_due = true;
        }
    }

    /// Gives up what has not been cut of a message. A TSN that is never sent stands for it: the peer may have
    /// acknowledged all that was, and could not be told otherwise that nothing follows.
    fn abandon_rest(&mut self, turn: &mut Turn<'_>, stream: StreamId) {
        let tsn = self.outstanding.next_tsn();
        let Some((cut, rest)) = self.queue.drop_rest(stream, tsn) else { return };
        self.release(rest as u64, true);
        let id = turn.paths.current();
        let departure = turn.paths[id].delivery.depart(turn.now, false, 0);
        let place = self.outstanding.interleaves().then_some(cut.place);
        self.outstanding.push(cut.data, cut.context, id, departure, place);
        self.abandon_placeholder(tsn);
    }

    fn abandon_placeholder(&mut self, tsn: Tsn) {
        self.outstanding.abandon(tsn);
        if let Some(abandonment) = &mut self.abandonment {
            abandonment.is_due = true;
        }
    }

    /// A chunk has been acknowledged cumulatively, and is about to leave the list.
    pub(super) fn note_perishable_acknowledged(&mut self, turn: &mut Turn<'_>, tsn: Tsn) {
        let number = self.outstanding.number(tsn);
        let (Some(abandonment), Some(chunk)) = (&mut self.abandonment, self.outstanding.find(tsn)) else {
            return;
        };
        if chunk.state == ChunkState::Abandoned {
            let key = (chunk.data.stream, chunk.data.flags.is_unordered());
            if abandonment.skipped.get(&key).is_some_and(|(_, last)| *last == number) {
                abandonment.skipped.remove(&key);
            }
            // The answer to a FORWARD TSN shows that its path works, as that to DATA does.
            if let Some(announced) = abandonment.announced.filter(|announced| !announced.is_ambiguous)
                && !chunk.is_ambiguous
                && chunk.path == announced.path
            {
                turn.paths[announced.path].tally.is_unambiguous = true;
            }
        } else if let Some(arrival) = abandonment.message_of.remove(&number)
            && let Some(perishable) = abandonment.messages.get_mut(&arrival)
        {
            // It is the lowest.
            perishable.chunks.pop_front();
            if perishable.chunks.is_empty() && perishable.is_cut {
                abandonment.messages.remove(&arrival);
            }
        }
    }

    /// A SACK has been processed.
    pub(super) fn settle_announced(&mut self, turn: &mut Turn<'_>) {
        let acknowledged = self.outstanding.number(self.outstanding.cumulative_ack());
        let Some(abandonment) = &mut self.abandonment else { return };
        abandonment.is_due = true;
        let Some(announced) = &mut abandonment.announced else { return };
        if announced.point <= acknowledged {
            abandonment.announced = None;
            turn.paths.for_each(|path| path.awaits_forward_ack = false);
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.5
        //# IMPLEMENTATION NOTE: An implementation may wish to limit the
        //# number of duplicate FORWARD TSN chunks it sends by either only
        //# sending a duplicate FORWARD TSN every other SACK or waiting a
        //# full RTT before sending a duplicate FORWARD TSN.
        let path = &turn.paths[announced.path];
        let round_trip = path.rtt.srtt().unwrap_or_else(|| path.rtt.rto());
        announced.repeats |= turn.now.saturating_since(announced.at) > round_trip;
    }

    /// T3-rtx of `path` has expired.
    pub(super) fn repeat_announced(&mut self, turn: &mut Turn<'_>, path: PathId) {
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.5
        //# A5) Any time the T3-rtx timer expires, on any destination, the sender
        //# SHOULD try to advance the "Advanced.Peer.Ack.Point" by following
        //# the procedures outlined in C2 - C5.
        turn.paths[path].awaits_forward_ack = false;
        if let Some(abandonment) = &mut self.abandonment {
            abandonment.is_due = true;
            if let Some(announced) = &mut abandonment.announced {
                announced.repeats = true;
            }
        }
    }

    fn advance_peer_ack_point(&mut self, turn: &Turn<'_>) {
        let acknowledged = self.outstanding.number(self.outstanding.cumulative_ack());
        let interleaves = self.outstanding.interleaves();
        let (entry_len, fixed_len) = if interleaves {
            (IForwardTsn::ENTRY_LEN, IForwardTsn::FIXED_LEN)
        } else {
            (ForwardTsn::STREAM_LEN, ForwardTsn::FIXED_LEN)
        };
        let most = turn.paths.amdcs().saturating_sub(fixed_len) / entry_len;
        let Some(abandonment) = &mut self.abandonment else { return };
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.5
        //# If (Advanced.Peer.Ack.Point < SackCumAck), then update
        //# Advanced.Peer.Ack.Point to be equal to SackCumAck.
        let mut point = abandonment.advanced_peer_ack_point.max(acknowledged);
        loop {
            let tsn = self.outstanding.tsn_of(point + 1);
            let found = self.outstanding.find(tsn).filter(|chunk| chunk.state == ChunkState::Abandoned);
            let Some(chunk) = found else { break };
            let is_unordered = chunk.data.flags.is_unordered();
            //= https://www.rfc-editor.org/rfc/rfc3758#section-3.2
            //# This field MUST NOT report TSN's corresponding
            //# to DATA chunks that are marked as unordered.
            if interleaves || !is_unordered {
                let key = (chunk.data.stream, is_unordered);
                //= https://www.rfc-editor.org/rfc/rfc3758#section-3.5
                //# If the total size of the
                //# FORWARD TSN does NOT fit in a single MTU, then the sender of
                //# the FORWARD TSN SHOULD lower the Advanced.Peer.Ack.Point to
                //# the last TSN that will fit in a single MTU.
                if abandonment.skipped.len() >= most && !abandonment.skipped.contains_key(&key) {
                    break;
                }
                let FragmentPlace { message_id, .. } = self.outstanding.place(tsn);
                abandonment.skipped.insert(key, (message_id, point + 1));
            }
            point += 1;
        }
        abandonment.advanced_peer_ack_point = point;
    }

    /// The chunk that tells the peer of the point, if that is due.
    fn forward(&mut self, turn: &mut Turn<'_>) -> Option<(PathId, Chunk)> {
        let acknowledged = self.outstanding.number(self.outstanding.cumulative_ack());
        let interleaves = self.outstanding.interleaves();
        let abandonment = self.abandonment.as_mut()?;
        abandonment.is_due = false;
        let point = abandonment.advanced_peer_ack_point;
        let announced = abandonment.announced;
        let is_due = announced.is_none_or(|announced| announced.point < point || announced.repeats);
        if point <= acknowledged || !is_due {
            return None;
        }
        let path = turn.paths.current();
        let is_ambiguous =
            announced.is_some_and(|announced| announced.is_ambiguous || announced.path != path);
        abandonment.announced = Some(Announced { point, at: turn.now, path, is_ambiguous, repeats: false });
        abandonment.forward_tsns += 1;
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.5
        //# C5) If a FORWARD TSN is sent, the sender MUST assure that at
        //# least one T3-rtx timer is running.
        turn.paths[path].awaits_forward_ack = true;
        turn.paths[path].start_t3_rtx(turn.now);
        let new_cumulative_tsn = self.outstanding.tsn_of(point);
        let entries = abandonment.skipped.iter();
        let chunk = if interleaves {
            let skipped = entries.map(|(&(stream, is_unordered), &(message_id, _))| SkippedMessages {
                stream,
                is_unordered,
                message_id,
            });
            Chunk::IForwardTsn(IForwardTsn { new_cumulative_tsn, skipped: skipped.collect() })
        } else {
            let skipped = entries.map(|(&(stream, _), (message_id, _))| SkippedStream {
                stream,
                sequence: message_id.stream_sequence(),
            });
            Chunk::ForwardTsn(ForwardTsn { new_cumulative_tsn, skipped: skipped.collect() })
        };
        Some((path, chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_by_a_path_that_goes_may_have_been_told_by_another() {
        for (gone, expected) in [(1, (2, true)), (0, (1, false))] {
            let announced = Announced {
                point: 5,
                at: Instant::START,
                path: PathId(1),
                is_ambiguous: false,
                repeats: false,
            };
            let mut abandonment = Abandonment { announced: Some(announced), ..Abandonment::default() };
            abandonment.replace_path(PathId(gone), PathId(2));
            let announced = abandonment.announced.unwrap();
            assert_eq!((announced.path.0, announced.is_ambiguous), expected);
            assert_eq!((announced.repeats, abandonment.is_due), (expected.1, expected.1));
        }
    }
}
