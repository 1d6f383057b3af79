//! Fragments become messages (RFC 9260, section 6.9).
//!
//! The fragments of one message bear consecutive TSNs, the first with the B bit, the last with the E bit. So
//! a message under reassembly is a run of consecutive TSNs, and what has arrived is a short list of runs.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::event::ReceivedMessage;
use crate::types::{Ppid, StreamId, StreamSequence, Tsn};

/// A DATA chunk that is part of a message.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) tsn: Tsn,
    pub(crate) stream: StreamId,
    pub(crate) sequence: StreamSequence,
    pub(crate) ppid: Ppid,
    pub(crate) is_unordered: bool,
    pub(crate) is_beginning: bool,
    pub(crate) is_ending: bool,
    pub(crate) payload: Bytes,
}

/// Neighbouring fragments contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FragmentsDisagree;

/// Consecutive fragments of one message, not all of them yet.
#[derive(Clone, Debug)]
struct Run {
    first: Tsn,
    stream: StreamId,
    sequence: StreamSequence,
    ppid: Ppid,
    is_unordered: bool,
    has_beginning: bool,
    has_ending: bool,
    payload_len: usize,
    pieces: VecDeque<Bytes>,
}

/// The messages under reassembly of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// Ascending by TSN; never two that could be joined.
    runs: Vec<Run>,
}

impl Reassembly {
    /// Checks that a whole message numbered `tsn` does not lie inside another one.
    pub(crate) fn check_whole(&self, tsn: Tsn) -> Result<(), FragmentsDisagree> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let index = self.runs.partition_point(|run| run.first.is_before(tsn));
        let ends_before = index == 0 || self.runs[index - 1].end() != tsn || self.runs[index - 1].has_ending;
        let next = self.runs.get(index);
        let begins_after = next.is_none_or(|run| run.first != tsn.next() || run.has_beginning);
        if ends_before && begins_after { Ok(()) } else { Err(FragmentsDisagree) }
    }

    /// Takes in a fragment that is not a whole message and that has not come before; gives the message that
    /// it completes.
    pub(crate) fn insert(
        &mut self,
        fragment: Fragment,
    ) -> Result<Option<ReceivedMessage>, FragmentsDisagree> {
        let index = self.runs.partition_point(|run| run.first.is_before(fragment.tsn));
        let follows = index > 0 && self.runs[index - 1].end() == fragment.tsn;
        let precedes = self.runs.get(index).is_some_and(|run| run.first == fragment.tsn.next());

        // Where a boundary lies between two neighbours, both must say so.
        let joins_before = follows && !fragment.is_beginning;
        let joins_after = precedes && !fragment.is_ending;
        if follows && fragment.is_beginning != self.runs[index - 1].has_ending
            || precedes && fragment.is_ending != self.runs[index].has_beginning
        {
            return Err(FragmentsDisagree);
        }
        let index = match (joins_before, joins_after) {
            (true, true) => {
                let after = self.runs.remove(index);
                self.runs[index - 1].push_back(fragment)?;
                self.runs[index - 1].append(after)?;
                index - 1
            }
            (true, false) => {
                self.runs[index - 1].push_back(fragment)?;
                index - 1
            }
            (false, true) => {
                self.runs[index].push_front(fragment)?;
                index
            }
            (false, false) => {
                self.runs.insert(index, Run::new(fragment));
                index
            }
        };
        let run = &self.runs[index];
        if !(run.has_beginning && run.has_ending) {
            return Ok(None);
        }
        let run = self.runs.remove(index);
        let (stream, sequence, ppid, is_unordered) = (run.stream, run.sequence, run.ppid, run.is_unordered);
        Ok(Some(ReceivedMessage { stream, sequence, ppid, is_unordered, payload: run.concatenate() }))
    }
}

impl Run {
    fn new(fragment: Fragment) -> Self {
        Self {
            first: fragment.tsn,
            stream: fragment.stream,
            sequence: fragment.sequence,
            ppid: fragment.ppid,
            is_unordered: fragment.is_unordered,
            has_beginning: fragment.is_beginning,
            has_ending: fragment.is_ending,
            payload_len: fragment.payload.len(),
            pieces: VecDeque::from([fragment.payload]),
        }
    }

    /// The TSN behind the last fragment.
    fn end(&self) -> Tsn {
        self.first.plus(u32::try_from(self.pieces.len()).expect("a run lies within the TSN space"))
    }

    fn agrees(&self, stream: StreamId, sequence: StreamSequence, is_unordered: bool) -> bool {
        self.stream == stream
            && self.is_unordered == is_unordered
            && (is_unordered || self.sequence == sequence)
    }

    fn push_back(&mut self, fragment: Fragment) -> Result<(), FragmentsDisagree> {
        if !self.agrees(fragment.stream, fragment.sequence, fragment.is_unordered) {
            return Err(FragmentsDisagree);
        }
        self.has_ending = fragment.is_ending;
        self.payload_len += fragment.payload.len();
        self.pieces.push_back(fragment.payload);
        Ok(())
    }

    fn push_front(&mut self, fragment: Fragment) -> Result<(), FragmentsDisagree> {
        if !self.agrees(fragment.stream, fragment.sequence, fragment.is_unordered) {
            return Err(FragmentsDisagree);
        }
        self.first = fragment.tsn;
        self.has_beginning = fragment.is_beginning;
        self.ppid = fragment.ppid;
        self.payload_len += fragment.payload.len();
        self.pieces.push_front(fragment.payload);
        Ok(())
    }

    fn append(&mut self, mut after: Self) -> Result<(), FragmentsDisagree> {
        if !self.agrees(after.stream, after.sequence, after.is_unordered) {
            return Err(FragmentsDisagree);
        }
        self.has_ending = after.has_ending;
        self.payload_len += after.payload_len;
        self.pieces.append(&mut after.pieces);
        Ok(())
    }

    fn concatenate(self) -> Bytes {
        let mut payload = BytesMut::with_capacity(self.payload_len);
        for piece in &self.pieces {
            payload.extend_from_slice(piece);
        }
        payload.freeze()
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "numbers in tests are small")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The fragments of a message of `len` fragments that starts at `first`.
    fn fragments(first: Tsn, len: u32, stream: u16, sequence: u16, is_unordered: bool) -> Vec<Fragment> {
        (0..len)
            .map(|index| Fragment {
                tsn: first.plus(index),
                stream: StreamId(stream),
                sequence: StreamSequence(sequence),
                ppid: Ppid(7),
                is_unordered,
                is_beginning: index == 0,
                is_ending: index + 1 == len,
                payload: Bytes::from(vec![sequence as u8, index as u8]),
            })
            .collect()
    }

    #[test]
    fn fragments_in_any_order_make_the_message() {
        let [first, middle, last] = fragments(Tsn(u32::MAX), 3, 4, 9, false).try_into().unwrap();
        let mut reassembly = Reassembly::default();
        assert_eq!(reassembly.insert(last), Ok(None));
        assert_eq!(reassembly.insert(first), Ok(None));
        let message = reassembly.insert(middle).unwrap().unwrap();
        assert_eq!(message.payload[..], [9, 0, 9, 1, 9, 2]);
        assert_eq!((message.stream, message.sequence), (StreamId(4), StreamSequence(9)));
        assert!(reassembly.runs.is_empty());
    }

    #[test]
    fn fragments_of_different_streams_in_one_message_are_refused() {
        let mut reassembly = Reassembly::default();
        let [first, mut second] = fragments(Tsn(5), 2, 0, 0, false).try_into().unwrap();
        second.stream = StreamId(1);
        reassembly.insert(first).unwrap();
        assert_eq!(reassembly.insert(second), Err(FragmentsDisagree));
    }

    #[test]
    fn a_whole_message_inside_another_is_refused() {
        let mut reassembly = Reassembly::default();
        let [first, _, last] = fragments(Tsn(5), 3, 0, 0, false).try_into().unwrap();
        reassembly.insert(last).unwrap();
        assert_eq!(reassembly.check_whole(Tsn(6)), Err(FragmentsDisagree));
        assert_eq!(reassembly.check_whole(Tsn(8)), Ok(()));
        reassembly.insert(first).unwrap();
        assert_eq!(reassembly.check_whole(Tsn(6)), Err(FragmentsDisagree));
        assert_eq!(reassembly.check_whole(Tsn(4)), Ok(()));
    }

    #[test]
    fn a_beginning_inside_a_message_is_refused() {
        let mut reassembly = Reassembly::default();
        let [first, mut second, _] = fragments(Tsn(5), 3, 0, 0, false).try_into().unwrap();
        second.is_beginning = true;
        reassembly.insert(first).unwrap();
        assert_eq!(reassembly.insert(second), Err(FragmentsDisagree));
    }

    proptest! {
        #[test]
        fn messages_come_out_whole_whatever_the_order(
            initial: u32,
            lengths in proptest::collection::vec(2_u32..6, 1..8),
            seed in any::<u64>(),
        ) {
            let mut all = Vec::new();
            let mut tsn = Tsn(initial);
            for (number, len) in lengths.iter().enumerate() {
                all.extend(fragments(tsn, *len, number as u16 % 2, number as u16, number % 3 == 0));
                tsn = tsn.plus(*len);
            }
            let mut stream = slantpath_base::Seed::new(seed, 0).stream("order");
            for index in (1..all.len()).rev() {
                all.swap(index, stream.below(index as u64 + 1) as usize);
            }
            let mut reassembly = Reassembly::default();
            let mut whole = Vec::new();
            for fragment in all {
                whole.extend(reassembly.insert(fragment).unwrap());
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
