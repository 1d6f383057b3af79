//! Fragments become messages (RFC 9260, section 6.9).
//!
//! The fragments of one message bear consecutive TSNs, the first with the B bit, the last with the E bit. So
//! a message under reassembly is a run of consecutive TSNs. Runs lie in a tree by their first one: the peer chooses in
//! which order they come, and how many there are.

use std::collections::{BTreeMap, VecDeque};

use bytes::{Bytes, BytesMut};
use slantpath_wire::ip::IpFields;

use super::held::Held;
use super::tsn_tracker::Position;
use crate::event::{PartPlace, ReceivedMessage, ReceivedPart};
use crate::types::{Ppid, StreamId, StreamSequence, Tsn};

/// Description in a fragment of the message that it is part of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading {
    pub(crate) stream: StreamId,
    /// Without meaning if unordered.
    pub(crate) sequence: StreamSequence,
    pub(crate) ppid: Ppid,
    /// TSN of the fragment; of a message, that of its first.
    pub(crate) tsn: Tsn,
    pub(crate) is_unordered: bool,
}

/// A DATA chunk that is part of a message.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) at: Position,
    pub(crate) heading: Heading,
    pub(crate) is_beginning: bool,
    pub(crate) is_ending: bool,
    pub(crate) payload: Bytes,
}

/// Neighbouring fragments contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FragmentsDisagree;

/// Result of a new fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    /// The run that starts here has grown and is still incomplete.
    Grown(Position),
    /// The end of the message that is being delivered in parts.
    LastPart(ReceivedPart),
    /// A message is whole.
    Message(ReceivedMessage),
}

/// Consecutive fragments of one message, not all of them yet. Of a message that is being delivered in parts, the last
/// fragment that has been passed on still counts, so that its neighbour can be held against it.
#[derive(Clone, Debug)]
struct Run {
    heading: Heading,
    has_beginning: bool,
    has_ending: bool,
    last: Position,
    /// Payload of `pieces`, in bytes.
    payload_len: usize,
    /// The payloads that have not been passed on.
    pieces: VecDeque<Bytes>,
    /// Number of pieces that were moved from one queue to another, which is the cost of joins.
    #[cfg(test)]
    moved_pieces: usize,
}

/// The messages under reassembly of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// By their first position; never two that could be joined.
    runs: BTreeMap<Position, Run>,
    /// Position of the start of the run whose message is being delivered in parts.
    in_parts: Option<Position>,
    held: Held,
    /// Messages that have become whole.
    finished: u64,
    /// True if the peer may have given a message up before its last fragment got a TSN: another one may then begin
    /// where the fragments of the first break off.
    may_break_off: bool,
}

impl Reassembly {
    /// Of a peer that may or may not give messages up.
    //
    // RFC 3758, section 3.5, has all TSNs of a fragmented message abandoned together and says nothing of fragments
    // that have no TSN yet. Linux lets them fall, and the next message begins at once.
    pub(crate) fn new(may_break_off: bool) -> Self {
        Self { may_break_off, ..Self::default() }
    }

    /// TSNs begin anew: no fragment that is known will be part of a whole message. What was agreed, and what has been
    /// counted, stays. Gives the message of which a part has been passed on.
    pub(crate) fn restart(&mut self) -> Option<Heading> {
        let in_parts = self.message_in_parts();
        *self = Self { finished: self.finished, ..Self::new(self.may_break_off) };
        in_parts
    }

    /// Payload of the fragments that are kept here.
    pub(crate) const fn held(&self) -> Held {
        self.held
    }

    /// Number of messages that have become whole.
    pub(crate) const fn finished(&self) -> u64 {
        self.finished
    }

    /// Tells if no fragment is known, nor a message of which a part has been passed on.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Checks that a whole message at `at` does not lie inside another one.
    pub(crate) fn check_whole(&self, at: Position) -> Result<(), FragmentsDisagree> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let ends_before = self.run_before(at).is_none_or(|(_, run)| run.has_ending || self.may_break_off);
        let begins_after = self.runs.get(&at.next()).is_none_or(|run| run.has_beginning);
        if ends_before && begins_after { Ok(()) } else { Err(FragmentsDisagree) }
    }

    /// Tells if two neighbours are of one message. If a boundary lies between them, both must say so.
    const fn is_one_message(&self, ends: bool, begins: bool) -> Result<bool, FragmentsDisagree> {
        match (ends, begins) {
            (false, false) => Ok(true),
            (true, true) => Ok(false),
            (false, true) if self.may_break_off => Ok(false),
            _ => Err(FragmentsDisagree),
        }
    }

    /// Takes in a fragment that is not a whole message and that has not come before.
    pub(crate) fn insert(&mut self, fragment: Fragment, ip: IpFields) -> Result<Inserted, FragmentsDisagree> {
        let at = fragment.at;
        let before = self.run_before(at);
        let after = self.runs.get(&at.next());
        let joined_before = match before {
            Some((first, run)) => {
                self.is_one_message(run.has_ending, fragment.is_beginning)?.then_some(first)
            }
            None => None,
        };
        let joins_after = match after {
            Some(run) => self.is_one_message(fragment.is_ending, run.has_beginning)?,
            None => false,
        };
        self.held.add(fragment.payload.len());
        let mut first = at;
        let mut run = Run::new(fragment);
        if joins_after {
            let after = self.runs.remove(&at.next()).ok_or(FragmentsDisagree)?;
            run.join(after)?;
        }
        if let Some(before) = joined_before {
            let mut front = self.runs.remove(&before).ok_or(FragmentsDisagree)?;
            front.join(run)?;
            (first, run) = (before, front);
        }
        if !(run.has_beginning && run.has_ending) {
            self.runs.insert(first, run);
            return Ok(Inserted::Grown(first));
        }
        self.finished += 1;
        self.held.release(run.payload_len, run.pieces.len());
        let Heading { stream, sequence, ppid, tsn, is_unordered } = run.heading;
        let payload = run.take_payload();
        Ok(if self.in_parts == Some(first) {
            self.in_parts = None;
            let place = PartPlace::Last;
            Inserted::LastPart(ReceivedPart { stream, sequence, ppid, tsn, payload, is_unordered, place, ip })
        } else {
            Inserted::Message(ReceivedMessage { stream, sequence, ppid, tsn, payload, is_unordered, ip })
        })
    }

    /// Forgets every message that begins at or before `last` and is not whole: the peer has given it up. Gives the one
    /// that was being delivered in parts, if it is among them.
    pub(crate) fn forget_up_to(&mut self, last: Position) -> Option<Heading> {
        let mut aborted = None;
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.6
        //# The receiver MUST
        //# remove any partially reassembled message, which is still missing one
        //# or more TSNs earlier than or equal to the new cumulative TSN point.
        // What has arrived of it up to there was given up with the rest: the point is never within a message that
        // goes on.
        while let Some(entry) = self.runs.first_entry().filter(|entry| *entry.key() <= last) {
            let (first, run) = entry.remove_entry();
            self.held.release(run.payload_len, run.pieces.len());
            if self.in_parts == Some(first) {
                self.in_parts = None;
                aborted = Some(run.heading);
            }
        }
        aborted
    }

    /// Position of the start of the run whose message is being delivered in parts.
    pub(crate) const fn in_parts(&self) -> Option<Position> {
        self.in_parts
    }

    /// The message that is being delivered in parts.
    pub(crate) fn message_in_parts(&self) -> Option<Heading> {
        Some(self.runs.get(&self.in_parts?)?.heading)
    }

    /// Position of the start of the first run.
    pub(crate) fn first_run(&self) -> Option<Position> {
        self.runs.first_key_value().map(|(first, _)| *first)
    }

    /// The message that starts with the run at `first`, and how many bytes of it wait; `None` if the run has no
    /// beginning.
    pub(crate) fn beginning_at(&self, first: Position) -> Option<(Heading, usize)> {
        let run = self.runs.get(&first).filter(|run| run.has_beginning)?;
        Some((run.heading, run.payload_len))
    }

    /// Takes out what there is of the incomplete message that starts with the run at `first`, the next part of it.
    pub(crate) fn take_part(&mut self, first: Position, ip: IpFields) -> Option<ReceivedPart> {
        let mut run = self.runs.remove(&first)?;
        let place = if self.in_parts == Some(first) { PartPlace::Middle } else { PartPlace::First };
        self.held.release(run.payload_len, run.pieces.len());
        let Heading { stream, sequence, ppid, tsn, is_unordered } = run.heading;
        let payload = run.take_payload();
        self.in_parts = Some(run.last);
        self.runs.insert(run.last, run);
        Some(ReceivedPart { stream, sequence, ppid, tsn, payload, is_unordered, place, ip })
    }

    /// The run that ends right before `at`, and where it starts.
    fn run_before(&self, at: Position) -> Option<(Position, &Run)> {
        let (first, run) = self.runs.range(..at).next_back()?;
        (run.last.next() == at).then_some((*first, run))
    }
}

impl Heading {
    /// Tells if two fragments may be of one message. Their protocol identifiers may differ: that of the first counts.
    fn agrees(self, other: Self) -> bool {
        self.stream == other.stream
            && self.is_unordered == other.is_unordered
            && (self.is_unordered || self.sequence == other.sequence)
    }
}

impl Run {
    fn new(fragment: Fragment) -> Self {
        Self {
            heading: fragment.heading,
            has_beginning: fragment.is_beginning,
            has_ending: fragment.is_ending,
            last: fragment.at,
            payload_len: fragment.payload.len(),
            pieces: VecDeque::from([fragment.payload]),
            #[cfg(test)]
            moved_pieces: 0,
        }
    }

    /// Joins the run that follows to this one. The shorter queue moves, so that no order of arrival makes many joins
    /// dear.
    fn join(&mut self, mut back: Self) -> Result<(), FragmentsDisagree> {
        if !self.heading.agrees(back.heading) {
            return Err(FragmentsDisagree);
        }
        if self.pieces.len() < back.pieces.len() {
            #[cfg(test)]
            {
                self.moved_pieces += self.pieces.len();
            }
            while let Some(piece) = self.pieces.pop_back() {
                back.pieces.push_front(piece);
            }
            self.pieces = back.pieces;
        } else {
            #[cfg(test)]
            {
                self.moved_pieces += back.pieces.len();
            }
            self.pieces.append(&mut back.pieces);
        }
        #[cfg(test)]
        {
            self.moved_pieces += back.moved_pieces;
        }
        self.has_ending = back.has_ending;
        self.last = back.last;
        self.payload_len += back.payload_len;
        Ok(())
    }

    fn take_payload(&mut self) -> Bytes {
        let mut payload = BytesMut::with_capacity(self.payload_len);
        for piece in self.pieces.drain(..) {
            payload.extend_from_slice(&piece);
        }
        self.pieces = VecDeque::new();
        self.payload_len = 0;
        payload.freeze()
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "numbers in tests are small")]
mod tests {
    use super::*;

    use proptest::prelude::*;
    use slantpath_wire::ip::{Dscp, Ecn};

    const IP: IpFields = IpFields { hop_limit: 9, dscp: Dscp::DEFAULT, ecn: Ecn::NotCapable };

    /// The fragments of a message of `len` fragments that starts at `first`.
    fn fragments(first: u64, len: u32, stream: u16, sequence: u16, is_unordered: bool) -> Vec<Fragment> {
        (0..len)
            .map(|index| Fragment {
                at: Position(first + u64::from(index)),
                heading: Heading {
                    stream: StreamId(stream),
                    sequence: StreamSequence(sequence),
                    ppid: Ppid(7),
                    tsn: Tsn(first as u32 + index),
                    is_unordered,
                },
                is_beginning: index == 0,
                is_ending: index + 1 == len,
                payload: Bytes::from(vec![sequence as u8, index as u8]),
            })
            .collect()
    }

    #[test]
    fn fragments_in_any_order_make_the_message() {
        let [first, middle, last] = fragments(9, 3, 4, 9, false).try_into().unwrap();
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.insert(last, IP), Ok(Inserted::Grown(Position(11))));
        assert_eq!(reassembly.insert(first, IP), Ok(Inserted::Grown(Position(9))));
        assert_eq!(reassembly.held(), Held { payload: 4, pieces: 2 });
        let Ok(Inserted::Message(message)) = reassembly.insert(middle, IP) else { panic!("{reassembly:?}") };
        assert_eq!(reassembly.held(), Held::default());
        assert_eq!(message.payload[..], [9, 0, 9, 1, 9, 2]);
        assert_eq!((message.stream, message.sequence), (StreamId(4), StreamSequence(9)));
        assert!(reassembly.runs.is_empty());
    }

    #[test]
    fn fragments_of_different_streams_in_one_message_are_refused() {
        let mut reassembly = Reassembly::default();
        let [first, mut second] = fragments(5, 2, 0, 0, false).try_into().unwrap();
        second.heading.stream = StreamId(1);
        reassembly.insert(first, IP).unwrap();
        assert_eq!(reassembly.insert(second, IP), Err(FragmentsDisagree));
    }

    #[test]
    fn a_whole_message_inside_another_is_refused() {
        let mut reassembly = Reassembly::default();
        let [first, _, last] = fragments(5, 3, 0, 0, false).try_into().unwrap();
        reassembly.insert(last, IP).unwrap();
        assert_eq!(reassembly.check_whole(Position(6)), Err(FragmentsDisagree));
        assert_eq!(reassembly.check_whole(Position(8)), Ok(()));
        reassembly.insert(first, IP).unwrap();
        assert_eq!(reassembly.check_whole(Position(6)), Err(FragmentsDisagree));
        assert_eq!(reassembly.check_whole(Position(4)), Ok(()));
    }

    #[test]
    fn a_beginning_inside_a_message_is_refused() {
        let mut reassembly = Reassembly::default();
        let [first, mut second, _] = fragments(5, 3, 0, 0, false).try_into().unwrap();
        second.is_beginning = true;
        reassembly.insert(first, IP).unwrap();
        assert_eq!(reassembly.insert(second, IP), Err(FragmentsDisagree));
    }

    /// The peer gave a message up when its third fragment had no TSN yet: the next one begins there.
    #[test]
    fn where_messages_may_be_given_up_another_begins_where_one_breaks_off() {
        let [first, second, _] = fragments(5, 3, 0, 0, false).try_into().unwrap();
        let next = fragments(7, 2, 0, 1, false);
        for order in [[0, 1, 2, 3], [2, 3, 0, 1], [2, 1, 0, 3], [1, 2, 3, 0]] {
            let mut reassembly = Reassembly::new(true);
            let all = [&first, &second, &next[0], &next[1]];
            let mut whole = Vec::new();
            for index in order {
                if let Inserted::Message(message) = reassembly.insert(all[index].clone(), IP).unwrap() {
                    whole.push(message.payload);
                }
            }
            assert_eq!(whole, [&[1, 0, 1, 1][..]], "{order:?}");
            assert_eq!(reassembly.held(), Held { payload: 4, pieces: 2 });
            assert_eq!(reassembly.check_whole(Position(7)), Ok(()));
            assert!(reassembly.forget_up_to(Position(6)).is_none());
            assert_eq!(reassembly.held(), Held::default());
        }
        // No message goes on behind its end, and none inside one that others have around it.
        let mut reassembly = Reassembly::new(true);
        reassembly.insert(next[1].clone(), IP).unwrap();
        let beyond = Fragment { at: Position(9), ..second.clone() };
        assert_eq!(reassembly.insert(beyond, IP), Err(FragmentsDisagree));
        assert_eq!(reassembly.check_whole(Position(7)), Err(FragmentsDisagree));
    }

    /// Checks the fields in which two neighbours may not differ, and those in which they may.
    #[test]
    fn neighbours_agree_on_stream_order_and_number_and_the_first_names_the_protocol() {
        let heading = fragments(5, 1, 0, 3, false)[0].heading;
        let cases = [
            (Heading { sequence: StreamSequence(4), ..heading }, false, false),
            (Heading { is_unordered: true, ..heading }, false, false),
            (Heading { stream: StreamId(1), ..heading }, false, false),
            (Heading { ppid: Ppid(8), ..heading }, false, true),
            (Heading { sequence: StreamSequence(4), is_unordered: true, ..heading }, true, true),
        ];
        for (other, is_first_unordered, agrees) in cases {
            for is_second_first in [false, true] {
                let [mut first, mut second] = fragments(5, 2, 0, 3, is_first_unordered).try_into().unwrap();
                second.heading = other;
                first.heading.ppid = Ppid(1);
                let mut order = [first, second];
                if is_second_first {
                    order.reverse();
                }
                let mut reassembly = Reassembly::default();
                let [one, two] = order;
                reassembly.insert(one, IP).unwrap();
                match reassembly.insert(two, IP) {
                    Ok(Inserted::Message(message)) if agrees => assert_eq!(message.ppid, Ppid(1)),
                    outcome => {
                        assert!(outcome == Err(FragmentsDisagree) && !agrees, "{other:?}: {outcome:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_message_is_taken_in_parts_and_its_neighbours_are_still_held_against_it() {
        let all = fragments(5, 6, 2, 9, false);
        let mut reassembly = Reassembly::default();
        for index in [0, 1, 3] {
            reassembly.insert(all[index].clone(), IP).unwrap();
        }
        let part = reassembly.take_part(Position(5), IP).unwrap();
        assert_eq!((&part.payload[..], part.place), (&[9, 0, 9, 1][..], PartPlace::First));
        assert_eq!((part.stream, part.sequence), (StreamId(2), StreamSequence(9)));
        assert_eq!(reassembly.held(), Held { payload: 2, pieces: 1 });
        assert_eq!(reassembly.check_whole(Position(7)), Err(FragmentsDisagree));
        let mut again = reassembly.clone();
        let beginning = Fragment { is_beginning: true, ..all[2].clone() };
        assert_eq!(again.insert(beginning, IP), Err(FragmentsDisagree));

        assert_eq!(reassembly.insert(all[2].clone(), IP), Ok(Inserted::Grown(Position(6))));
        assert_eq!(reassembly.beginning_at(Position(6)).unwrap().1, 4);
        let part = reassembly.take_part(Position(6), IP).unwrap();
        assert_eq!((&part.payload[..], part.place), (&[9, 2, 9, 3][..], PartPlace::Middle));
        assert_eq!(reassembly.insert(all[5].clone(), IP), Ok(Inserted::Grown(Position(10))));
        let Ok(Inserted::LastPart(part)) = reassembly.insert(all[4].clone(), IP) else {
            panic!("{reassembly:?}")
        };
        assert_eq!((&part.payload[..], part.place), (&[9, 4, 9, 5][..], PartPlace::Last));
        assert_eq!((reassembly.held(), reassembly.in_parts()), (Held::default(), None));
        assert!(reassembly.runs.is_empty());
    }

    /// Every second fragment from the back, each then joined to a long run behind it: appending the run to the
    /// fragment before it would move 8 million pieces.
    #[test]
    fn no_order_of_fragments_makes_joining_them_dear() {
        let len = 8_000;
        let all = fragments(0, len, 0, 0, false);
        let mut reassembly = Reassembly::default();
        for pair in (1..len as usize - 1).rev().collect::<Vec<_>>().chunks(2) {
            for index in pair.iter().rev() {
                reassembly.insert(all[*index].clone(), IP).unwrap();
            }
        }
        let [run] = &reassembly.runs.values().collect::<Vec<_>>()[..] else { panic!("{reassembly:?}") };
        assert_eq!(run.moved_pieces, len as usize - 3, "each is moved once");
    }

    proptest! {
        #[test]
        fn messages_come_out_whole_whatever_the_order(
            initial in 0_u64..1 << 40,
            lengths in proptest::collection::vec(2_u32..6, 1..8),
            seed in any::<u64>(),
        ) {
            let mut all = Vec::new();
            let mut at = initial;
            for (number, len) in lengths.iter().enumerate() {
                all.extend(fragments(at, *len, number as u16 % 2, number as u16, number % 3 == 0));
                at += u64::from(*len);
            }
            let mut stream = slantpath_base::Seed::new(seed, 0).stream("order");
            for index in (1..all.len()).rev() {
                all.swap(index, stream.below(index as u64 + 1) as usize);
            }
            let mut reassembly = Reassembly::default();
            let mut whole = Vec::new();
            for fragment in all {
                if let Inserted::Message(message) = reassembly.insert(fragment, IP).unwrap() {
                    whole.push(message);
                }
            }
            prop_assert_eq!(whole.len(), lengths.len());
            for message in whole {
                let number = message.sequence.0;
                let len = lengths[usize::from(number)] as u8;
                let expected: Vec<u8> = (0..len).flat_map(|index| [number as u8, index]).collect();
                prop_assert_eq!(&message.payload[..], &expected[..]);
            }
        }
    }
}
