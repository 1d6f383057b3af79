//! Messages of SCTP, put together from the fragments of one direction, of which each comes once.
//!
//! Sizes suffice but for SIGTRAN: of its messages the bytes are kept until they are whole.

use std::collections::BTreeMap;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sctp::{StreamId, UserDataOutline};

/// Most fragments, and most bytes of messages, that wait for others in one direction.
const WAITING_MAX: usize = 4_096;
const BYTES_MAX: usize = 1 << 20;

/// A whole message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Instant at which its first fragment was sent first.
    pub(crate) at: Instant,
    pub(crate) len: usize,
    pub(crate) stream: StreamId,
    pub(crate) ppid: u32,
    pub(crate) is_unordered: bool,
    /// Bytes of it, if they were asked for and captured.
    pub(crate) bytes: Option<Bytes>,
}

/// Group of fragments that belong together, and the place in it: of DATA its TSN, of I-DATA its number in the
/// message.
type Key = (u64, u32);

/// Consecutive fragments. They are kept by the first one's key.
#[derive(Clone, Debug)]
struct Run {
    at: Instant,
    len: usize,
    ppid: u32,
    stream: StreamId,
    is_unordered: bool,
    /// True if the message begins, and if it ends with them.
    begins: bool,
    ends: bool,
    /// Number of the fragment that would follow.
    next: u32,
    bytes: Option<Vec<u8>>,
}

/// Puts the messages of one direction together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    runs: BTreeMap<Key, Run>,
    /// Keys of runs by the fragment that would follow them.
    by_next: BTreeMap<Key, u32>,
    kept_bytes: usize,
    /// Messages, or parts of them, that were given up.
    given_up: u64,
}

impl Messages {
    /// Takes a fragment that was sent at `at` for the first time. Gives the message that it completes. `keeps_bytes`
    /// tells by the protocol identifier whether the bytes are wanted.
    pub(crate) fn take(
        &mut self,
        at: Instant,
        data: &UserDataOutline<'_>,
        keeps_bytes: bool,
        share: impl FnOnce(&[u8]) -> Bytes,
    ) -> Option<Message> {
        let flags = data.flags;
        let has_all = data.bytes.len() == data.len;
        if flags.is_beginning() && flags.is_ending() {
            return Some(Message {
                at,
                len: data.len,
                stream: data.stream,
                ppid: data.ppid.0,
                is_unordered: flags.is_unordered(),
                bytes: (keeps_bytes && has_all).then(|| share(data.bytes)),
            });
        }
        let (group, number) = match data.place {
            None => (0, data.tsn.0),
            Some(place) => {
                let stream = u64::from(data.stream.0) << 32 | u64::from(place.message_id.0);
                (1 << 63 | u64::from(flags.is_unordered()) << 62 | stream, place.fragment.0)
            }
        };
        let run = Run {
            at,
            len: data.len,
            ppid: data.ppid.0,
            stream: data.stream,
            is_unordered: flags.is_unordered(),
            begins: flags.is_beginning(),
            ends: flags.is_ending(),
            next: number.wrapping_add(1),
            bytes: (keeps_bytes && has_all && self.kept_bytes + data.len <= BYTES_MAX)
                .then(|| data.bytes.to_vec()),
        };
        self.join(group, number, run)
    }

    /// Messages of which fragments are missing.
    pub(crate) fn incomplete(&self) -> u64 {
        self.given_up + self.runs.len() as u64
    }

    fn join(&mut self, group: u64, number: u32, run: Run) -> Option<Message> {
        let (mut first, mut run) = (number, run);
        if !run.begins
            && let Some(start) = self.by_next.remove(&(group, number))
            && let Some(before) = self.forget(group, start)
        {
            if before.ends {
                // Fragments that contradict each other: both are no message.
                self.given_up += 2;
                return None;
            }
            (first, run) = (start, before.followed_by(run));
        }
        if !run.ends
            && let Some(after) = self.runs.get(&(group, run.next)).filter(|after| !after.begins)
        {
            let (start, next) = (run.next, after.next);
            self.by_next.remove(&(group, next));
            if let Some(after) = self.forget(group, start) {
                run = run.followed_by(after);
            }
        }
        if run.begins && run.ends {
            let Run { at, len, ppid, stream, is_unordered, bytes, .. } = run;
            return Some(Message { at, len, stream, ppid, is_unordered, bytes: bytes.map(Bytes::from) });
        }
        if let Some(other) = self.forget(group, first) {
            // One number for two fragments, which no sender makes.
            self.by_next.remove(&(group, other.next));
            self.given_up += 1;
        }
        self.kept_bytes += run.bytes.as_ref().map_or(0, Vec::len);
        self.by_next.insert((group, run.next), first);
        self.runs.insert((group, first), run);
        if self.runs.len() > WAITING_MAX
            && let Some((&(group, start), oldest)) = self.runs.first_key_value()
        {
            let next = oldest.next;
            self.by_next.remove(&(group, next));
            self.forget(group, start);
            self.given_up += 1;
        }
        None
    }

    fn forget(&mut self, group: u64, start: u32) -> Option<Run> {
        let run = self.runs.remove(&(group, start))?;
        self.kept_bytes -= run.bytes.as_ref().map_or(0, Vec::len);
        Some(run)
    }
}

impl Run {
    fn followed_by(self, after: Self) -> Self {
        let bytes = match (self.bytes, after.bytes) {
            (Some(mut bytes), Some(more)) => {
                bytes.extend_from_slice(&more);
                Some(bytes)
            }
            _ => None,
        };
        let at = if self.begins { self.at } else { self.at.min(after.at) };
        Self { at, len: self.len + after.len, ends: after.ends, next: after.next, bytes, ..self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slantpath_sctp::chunk::{DataFlags, FragmentPlace};
    use slantpath_sctp::{FragmentSequence, MessageId, Ppid, Tsn};

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn piece(tsn: u32, flags: DataFlags, bytes: &[u8], place: Option<(u32, u32)>) -> UserDataOutline<'_> {
        let place = place.map(|(message, fragment)| FragmentPlace {
            message_id: MessageId(message),
            fragment: FragmentSequence(fragment),
        });
        UserDataOutline {
            flags,
            tsn: Tsn(tsn),
            stream: StreamId(1),
            ppid: Ppid(3),
            place,
            len: bytes.len(),
            bytes,
        }
    }

    fn take(messages: &mut Messages, millis: u64, data: &UserDataOutline<'_>) -> Option<Message> {
        messages.take(at(millis), data, true, Bytes::copy_from_slice)
    }

    #[test]
    fn a_message_has_the_instant_of_its_first_fragment_in_whatever_order_they_come() {
        let pieces = [
            piece(u32::MAX, DataFlags::BEGINNING, b"ab", None),
            piece(0, DataFlags::MIDDLE, b"c", None),
            piece(1, DataFlags::ENDING, b"def", None),
        ];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1]] {
            let mut messages = Messages::default();
            let mut whole = None;
            for place in order {
                assert!(whole.is_none());
                whole = take(&mut messages, [5, 3, 4][place], &pieces[place]);
            }
            let whole = whole.expect("all pieces are there");
            assert_eq!((whole.at, whole.len, whole.bytes.as_deref()), (at(5), 6, Some(&b"abcdef"[..])));
            assert_eq!((messages.incomplete(), messages.kept_bytes, messages.by_next.len()), (0, 0, 0));
        }
    }

    #[test]
    fn interleaved_messages_are_told_apart_and_what_is_not_whole_is_counted() {
        let mut messages = Messages::default();
        assert_eq!(take(&mut messages, 1, &piece(1, DataFlags::BEGINNING, b"a", Some((0, 0)))), None);
        assert_eq!(take(&mut messages, 2, &piece(2, DataFlags::BEGINNING, b"bb", Some((1, 0)))), None);
        let first = take(&mut messages, 3, &piece(3, DataFlags::ENDING, b"c", Some((0, 1)))).unwrap();
        assert_eq!((first.at, first.len), (at(1), 2));
        assert_eq!(messages.incomplete(), 1);
    }

    #[test]
    fn waiting_fragments_are_limited() {
        let mut messages = Messages::default();
        for tsn in 0..10_000 {
            take(&mut messages, 1, &piece(tsn * 2, DataFlags::BEGINNING, &[0; 300], None));
        }
        assert_eq!((messages.runs.len(), messages.incomplete()), (WAITING_MAX, 10_000));
        assert!(messages.kept_bytes <= BYTES_MAX && messages.by_next.len() <= WAITING_MAX);
    }

    proptest! {
        #[test]
        fn any_fragments_end_in_messages_or_are_counted(
            pieces in proptest::collection::vec((0_u32..30, 0_u8..4, any::<Option<(u8, u8)>>()), 0..200),
        ) {
            let mut messages = Messages::default();
            for (tsn, bits, place) in pieces {
                let mut flags = DataFlags::MIDDLE;
                for (bit, flag) in [(1, DataFlags::BEGINNING), (2, DataFlags::ENDING)] {
                    if bits & bit > 0 {
                        flags = flags.with(flag);
                    }
                }
                let place = place.map(|(message, fragment)| (u32::from(message % 3), u32::from(fragment % 5)));
                let whole = take(&mut messages, 1, &piece(tsn, flags, b"xy", place));
                if let Some(whole) = whole {
                    prop_assert_eq!(whole.bytes.unwrap().len(), whole.len);
                }
                prop_assert!(messages.kept_bytes <= BYTES_MAX && messages.by_next.len() <= messages.runs.len());
            }
            let held: usize = messages.runs.values().filter_map(|run| run.bytes.as_ref()).map(Vec::len).sum();
            prop_assert_eq!(held, messages.kept_bytes);
        }
    }
}
