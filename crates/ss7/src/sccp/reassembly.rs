//! Segments of XUDT and LUDT put together again (Q.714, section 4.1.1.2.3); those of SUA's CLDT too.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant, StateMachine, Transition};

use crate::PointCode;
use crate::sccp::{LocalReference, ReturnCause, Segmentation};

/// States of the reassembly of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReassemblyState {
    /// Nothing has come.
    Idle,
    /// Segments are missing.
    InProgress,
}

/// Events that a reassembly reacts to. Conditions on a segment are part of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReassemblyInput {
    /// The first of several segments.
    FirstSegment,
    /// The last segment, and it is the next.
    LastSegment,
    /// A segment that is the next and not the last.
    NextSegment,
    /// Expiry of T(reass).
    ReassemblyExpired,
    /// A segment that is not the next, or whose message has not begun.
    UnexpectedSegment,
}

/// Actions of a reassembly's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReassemblyAction {
    /// Keep the segment.
    Append,
    /// Hand the message to the user.
    Deliver,
    /// Throw away what there is, and return the first segment if that was asked for.
    Fail,
    /// Count the segment and throw it away.
    Ignore,
    /// Start the timer T(reass).
    StartReassembly,
    /// Stop the timer T(reass).
    StopReassembly,
}

use ReassemblyAction as Do;
use ReassemblyInput as On;
use ReassemblyState::{Idle, InProgress};

type Row = Transition<ReassemblyState, On, Do>;

const fn row(from: ReassemblyState, on: On, to: ReassemblyState, actions: &'static [Do]) -> Row {
    Transition { from, on, to, actions }
}

/// Reassembly of one message.
pub static REASSEMBLY: StateMachine<ReassemblyState, On, Do> = StateMachine {
    name: "Reassembly of a connectionless message",
    source: "Q.714, section 4.1.1.2.3",
    initial: Idle,
    transitions: &[
        row(Idle, On::FirstSegment, InProgress, &[Do::StartReassembly, Do::Append]),
        row(Idle, On::UnexpectedSegment, Idle, &[Do::Ignore]),
        row(InProgress, On::NextSegment, InProgress, &[Do::Append]),
        row(InProgress, On::LastSegment, Idle, &[Do::StopReassembly, Do::Append, Do::Deliver]),
        row(InProgress, On::FirstSegment, Idle, &[Do::StopReassembly, Do::Fail]),
        row(InProgress, On::UnexpectedSegment, Idle, &[Do::StopReassembly, Do::Fail]),
        row(InProgress, On::ReassemblyExpired, Idle, &[Do::Fail]),
    ],
};

/// Limits of what is kept for reassembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyLimits {
    /// Messages that are put together at one time.
    pub messages: usize,
    /// Octets of all of them.
    pub octets: usize,
}

impl Default for ReassemblyLimits {
    /// Room for a thousand messages of the longest kind.
    fn default() -> Self {
        Self { messages: 1_024, octets: 1_024 * 3_952 }
    }
}

/// Key that tells the messages of many senders apart: their origin, the calling address, the reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) origin: PointCode,
    /// The octets of the calling party address.
    pub(super) calling: Vec<u8>,
    pub(super) reference: u32,
}

impl Key {
    pub(super) fn new(
        origin: PointCode,
        calling: Vec<u8>,
        LocalReference(reference): LocalReference,
    ) -> Self {
        Self { origin, calling, reference }
    }
}

/// A message of which segments are missing. `T` is what its first segment came with.
#[derive(Clone, Debug)]
struct Partial<T> {
    first: T,
    first_len: usize,
    data: Vec<u8>,
    remaining: u8,
    expires: Instant,
}

/// Outcomes of a segment, or of a deadline. `T` is what the first segment came with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reassembled<T> {
    /// The message is whole: what its first segment came with, and its data.
    Complete(T, Vec<u8>),
    /// Message that will not be whole: what its first segment came with and held, and why.
    Failed(T, Vec<u8>, ReturnCause),
    /// The segment belongs to no message.
    Ignored,
    /// More is to come.
    Kept,
}

/// All messages that are being put together. `K` tells those of many senders apart, `T` is what is kept of a first
/// segment beside its data.
#[derive(Clone, Debug)]
pub struct Reassembly<K, T> {
    limits: ReassemblyLimits,
    partial: BTreeMap<K, Partial<T>>,
    octets: usize,
}

impl<K: Clone + Ord, T> Reassembly<K, T> {
    /// Nothing yet, and never more than that.
    pub const fn new(limits: ReassemblyLimits) -> Self {
        Self { limits, partial: BTreeMap::new(), octets: 0 }
    }

    /// Takes a segment, to which others may come within `timer` if it is a first one; `first` is kept then.
    pub fn segment(
        &mut self,
        now: Instant,
        timer: Duration,
        key: &K,
        segmentation: Segmentation,
        first: T,
        data: &[u8],
    ) -> Reassembled<T> {
        let (state, input) = match self.partial.get(key) {
            None if segmentation.first => (Idle, On::FirstSegment),
            None => (Idle, On::UnexpectedSegment),
            Some(_) if segmentation.first => (InProgress, On::FirstSegment),
            Some(partial) if segmentation.remaining.checked_add(1) != Some(partial.remaining) => {
                (InProgress, On::UnexpectedSegment)
            }
            Some(_) if segmentation.remaining == 0 => (InProgress, On::LastSegment),
            Some(_) => (InProgress, On::NextSegment),
        };
        let has_room = self.octets + data.len() <= self.limits.octets
            && (state == InProgress || self.partial.len() < self.limits.messages);
        if input != On::UnexpectedSegment && !(has_room || input == On::FirstSegment && state == InProgress) {
            // Of a message that has no room at all the first segment goes back; of one that outgrows it, its own.
            return match self.take(key) {
                Some(partial) => partial.failed(ReturnCause::NO_REASSEMBLY),
                None => Reassembled::Failed(first, data.to_vec(), ReturnCause::NO_REASSEMBLY),
            };
        }
        let Some(row) = REASSEMBLY.next(state, input) else { return Reassembled::Ignored };
        let mut result = Reassembled::Kept;
        let mut first = Some(first);
        for action in row.actions {
            match action {
                Do::StartReassembly => {
                    let Some(first) = first.take() else { continue };
                    let expires = now + timer;
                    let remaining = segmentation.remaining;
                    let partial =
                        Partial { first, first_len: data.len(), data: Vec::new(), remaining, expires };
                    self.partial.insert(key.clone(), partial);
                }
                Do::Append => {
                    if let Some(partial) = self.partial.get_mut(key) {
                        partial.data.extend_from_slice(data);
                        partial.remaining = segmentation.remaining;
                        self.octets += data.len();
                    }
                }
                // The timer belongs to what is being put together, and ends with it.
                Do::StopReassembly => {}
                Do::Deliver => {
                    if let Some(partial) = self.take(key) {
                        result = Reassembled::Complete(partial.first, partial.data);
                    }
                }
                Do::Fail => {
                    if let Some(partial) = self.take(key) {
                        result = partial.failed(ReturnCause::ERROR_IN_MESSAGE_TRANSPORT);
                    }
                }
                Do::Ignore => result = Reassembled::Ignored,
            }
        }
        result
    }

    fn take(&mut self, key: &K) -> Option<Partial<T>> {
        let partial = self.partial.remove(key)?;
        self.octets -= partial.data.len();
        Some(partial)
    }

    /// Gives the next instant at which the time of a message is over.
    pub fn deadline(&self) -> Option<Instant> {
        self.partial.values().map(|partial| partial.expires).min()
    }

    /// One message whose time is over, if there is any.
    pub fn take_expired(&mut self, now: Instant) -> Option<Reassembled<T>> {
        let (key, _) = self.partial.iter().find(|(_, partial)| partial.expires <= now)?;
        let key = key.clone();
        self.take(&key).map(|partial| partial.failed(ReturnCause::ERROR_IN_MESSAGE_TRANSPORT))
    }

    /// Octets that are kept.
    pub const fn octets(&self) -> usize {
        self.octets
    }
}

impl<T> Partial<T> {
    fn failed(mut self, cause: ReturnCause) -> Reassembled<T> {
        self.data.truncate(self.first_len);
        Reassembled::Failed(self.first, self.data, cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::START;

    fn take(
        reassembly: &mut Reassembly<Key, ()>,
        reference: u32,
        first: bool,
        remaining: u8,
        data: &[u8],
    ) -> Reassembled<()> {
        let reference = LocalReference(reference);
        let segmentation = Segmentation { first, in_sequence: false, remaining, reference };
        let key = Key::new(PointCode(1), vec![2], reference);
        reassembly.segment(NOW, Duration::from_secs(10), &key, segmentation, (), data)
    }

    #[test]
    fn segments_in_order_make_the_message() {
        let mut all = Reassembly::new(ReassemblyLimits::default());
        assert_eq!(take(&mut all, 1, true, 2, b"ab"), Reassembled::Kept);
        assert_eq!(take(&mut all, 2, true, 1, b"12"), Reassembled::Kept);
        assert_eq!(take(&mut all, 1, false, 1, b"cd"), Reassembled::Kept);
        assert_eq!(take(&mut all, 2, false, 0, b"3"), Reassembled::Complete((), b"123".into()));
        assert_eq!(take(&mut all, 1, false, 0, b"e"), Reassembled::Complete((), b"abcde".into()));
        assert_eq!(all.octets(), 0);
    }

    #[test]
    fn a_gap_ends_the_message_with_its_first_segment() {
        let mut all = Reassembly::new(ReassemblyLimits::default());
        take(&mut all, 1, true, 3, b"ab");
        take(&mut all, 1, false, 2, b"cd");
        let failed = Reassembled::Failed((), b"ab".into(), ReturnCause::ERROR_IN_MESSAGE_TRANSPORT);
        assert_eq!(take(&mut all, 1, false, 0, b"ef"), failed);
        assert_eq!(take(&mut all, 1, false, 0, b"ef"), Reassembled::Ignored);
        assert_eq!(all.octets(), 0);
    }

    #[test]
    fn what_has_no_room_is_not_kept() {
        let mut all = Reassembly::new(ReassemblyLimits { messages: 1, octets: 4 });
        assert_eq!(take(&mut all, 1, true, 2, b"ab"), Reassembled::Kept);
        let refused = Reassembled::Failed((), b"xy".into(), ReturnCause::NO_REASSEMBLY);
        assert_eq!(take(&mut all, 2, true, 1, b"xy"), refused);
        let outgrown = Reassembled::Failed((), b"ab".into(), ReturnCause::NO_REASSEMBLY);
        assert_eq!(take(&mut all, 1, false, 1, b"cde"), outgrown);
        assert_eq!(all.octets(), 0);
    }

    #[test]
    fn time_ends_a_message() {
        let mut all = Reassembly::new(ReassemblyLimits::default());
        take(&mut all, 1, true, 2, b"ab");
        let due = all.deadline().unwrap();
        assert_eq!(all.take_expired(NOW), None);
        let failed = Reassembled::Failed((), b"ab".into(), ReturnCause::ERROR_IN_MESSAGE_TRANSPORT);
        assert_eq!(all.take_expired(due), Some(failed));
        assert_eq!(all.deadline(), None);
    }

    #[test]
    fn the_table_is_whole() {
        assert_eq!(REASSEMBLY.ambiguous(), None);
        assert_eq!(REASSEMBLY.unreachable(), []);
    }
}
