//! Transmission control (Q.703, sections 5.2, 6.2 to 6.4): new messages, repetitions, acknowledgements.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};

use super::config::ErrorCorrection;
use super::receiver::{TwoOfThree, Verdict};
use super::unit::octets_on_line;

/// Most messages without an acknowledgement: the numbers of 7 bits allow no more.
const WINDOW: usize = 127;

/// Meanings of a received backward sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acknowledgement {
    /// Nothing newly acknowledged.
    Nothing,
    /// Messages were acknowledged.
    Progress,
    /// The unit is not to be read: its number is outside the window, harmless so far, or that of the last unit was.
    Unreasonable,
    /// The second one in three.
    Abnormal,
}

/// A message for the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sending {
    pub(super) fsn: u8,
    pub(super) body: Bytes,
    pub(super) is_first: bool,
}

/// One direction's sending half.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    correction: ErrorCorrection,
    waiting: VecDeque<Given>,
    unacknowledged: VecDeque<Given>,
    octets_unacknowledged: usize,
    /// The number of the last message sent for the first time.
    last_sent: u8,
    fib: bool,
    /// The next of the unacknowledged to be repeated.
    cursor: usize,
    /// Repetition goes before new messages: asked for, or forced.
    is_repeating: bool,
    abnormal: TwoOfThree,
    history: History,
}

/// A message, and when level 3 gave it.
#[derive(Clone, Debug)]
struct Given {
    at: Instant,
    body: Bytes,
}

/// Counts of a sending half and of those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct History {
    pub(super) forced_retransmissions: u64,
    /// Messages that the peer has accepted.
    pub(super) acknowledged: u64,
    /// From when level 3 gave them until that was known, all together.
    pub(super) acknowledged_after: Duration,
}

impl Sender {
    pub(super) fn new(correction: ErrorCorrection) -> Self {
        Self {
            correction,
            waiting: VecDeque::new(),
            unacknowledged: VecDeque::new(),
            octets_unacknowledged: 0,
            last_sent: 127,
            fib: true,
            cursor: 0,
            is_repeating: false,
            abnormal: TwoOfThree::default(),
            history: History::default(),
        }
    }

    /// A new half that goes on counting from an old one's.
    pub(super) fn with_history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// Tells if this number would acknowledge something.
    pub(super) fn would_progress(&self, bsn: u8) -> bool {
        usize::from(self.last_sent.wrapping_sub(bsn) & 0x7f) < self.unacknowledged.len()
    }

    pub(super) const fn fsn(&self) -> u8 {
        self.last_sent
    }

    pub(super) const fn fib(&self) -> bool {
        self.fib
    }

    pub(super) const fn history(&self) -> History {
        self.history
    }

    /// Messages in both buffers.
    pub(super) fn queued(&self) -> usize {
        self.waiting.len() + self.unacknowledged.len()
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn has_unacknowledged(&self) -> bool {
        !self.unacknowledged.is_empty()
    }

    pub(super) fn queue(&mut self, now: Instant, body: Bytes) {
        self.waiting.push_back(Given { at: now, body });
    }

    /// Tells if `next` has a message to send.
    pub(super) fn has_next(&self) -> bool {
        let may_repeat = self.is_repeating || self.correction != ErrorCorrection::Basic;
        may_repeat && self.has_unacknowledged() || !self.waiting.is_empty() && self.has_room()
    }

    fn has_room(&self) -> bool {
        self.unacknowledged.len() < WINDOW
    }

    /// The next message for the line.
    pub(super) fn next(&mut self) -> Option<Sending> {
        if self.is_repeating {
            return self.repeat();
        }
        if self.has_room()
            && let Some(given) = self.waiting.pop_front()
        {
            self.last_sent = self.last_sent.wrapping_add(1) & 0x7f;
            let body = given.body.clone();
            self.octets_unacknowledged += octets_on_line(body.len());
            self.unacknowledged.push_back(given);
            self.force_if_full();
            return Some(Sending { fsn: self.last_sent, body, is_first: true });
        }
        if self.correction == ErrorCorrection::Basic { None } else { self.repeat() }
    }

    fn repeat(&mut self) -> Option<Sending> {
        let body = self.unacknowledged.get(self.cursor)?.body.clone();
        let behind =
            u8::try_from(self.unacknowledged.len() - 1 - self.cursor).expect("the window is 127 messages");
        self.cursor += 1;
        // A forced cycle starts again until the window is below both thresholds.
        if self.cursor == self.unacknowledged.len() {
            self.is_repeating &= self.is_full();
            self.cursor = 0;
        }
        Some(Sending { fsn: self.last_sent.wrapping_sub(behind) & 0x7f, body, is_first: false })
    }

    fn is_full(&self) -> bool {
        match self.correction {
            ErrorCorrection::Basic => false,
            ErrorCorrection::PreventiveCyclic { messages, octets } => {
                self.unacknowledged.len() >= messages || self.octets_unacknowledged >= octets
            }
        }
    }

    fn force_if_full(&mut self) {
        if self.is_full() {
            self.is_repeating = true;
            self.cursor = 0;
            self.history.forced_retransmissions += 1;
        }
    }

    /// The peer has accepted all messages up to this number.
    pub(super) fn acknowledge(&mut self, now: Instant, bsn: u8) -> Acknowledgement {
        let unacknowledged = self.unacknowledged.len();
        let outstanding = usize::from(self.last_sent.wrapping_sub(bsn) & 0x7f);
        match self.abnormal.judge(outstanding > unacknowledged) {
            Verdict::Read => {}
            Verdict::Discard => return Acknowledgement::Unreasonable,
            Verdict::Failure => return Acknowledgement::Abnormal,
        }
        let count = unacknowledged - outstanding;
        for Given { at, body } in self.unacknowledged.drain(..count) {
            self.octets_unacknowledged -= octets_on_line(body.len());
            self.history.acknowledged_after += now.saturating_since(at);
        }
        self.history.acknowledged += count as u64;
        self.cursor = self.cursor.saturating_sub(count);
        self.is_repeating &= match self.correction {
            ErrorCorrection::Basic => self.has_unacknowledged(),
            ErrorCorrection::PreventiveCyclic { .. } => self.is_full(),
        };
        if count > 0 { Acknowledgement::Progress } else { Acknowledgement::Nothing }
    }

    /// Follows the peer's indicator bit; whether it asked for a repetition.
    pub(super) fn follow_indicator(&mut self, bib: bool) -> bool {
        if self.correction != ErrorCorrection::Basic || bib == self.fib {
            return false;
        }
        self.fib = bib;
        self.cursor = 0;
        self.is_repeating = self.has_unacknowledged();
        true
    }

    /// Takes all messages after this number out, oldest first; `None` if it is not one of the window.
    pub(super) fn take_after(&mut self, fsn: u8) -> Option<Vec<Bytes>> {
        let outstanding = usize::from(self.last_sent.wrapping_sub(fsn) & 0x7f);
        let skip = self.unacknowledged.len().checked_sub(outstanding)?;
        let taken = self.unacknowledged.drain(..).skip(skip);
        let mut messages: Vec<Bytes> = taken.map(|given| given.body).collect();
        self.octets_unacknowledged = 0;
        self.cursor = 0;
        messages.append(&mut self.take_waiting());
        Some(messages)
    }

    /// Takes out what was never sent.
    pub(super) fn take_waiting(&mut self) -> Vec<Bytes> {
        self.waiting.drain(..).map(|given| given.body).collect()
    }

    /// Throws both buffers away and goes on from what the peer has accepted; how many messages that were.
    pub(super) fn flush(&mut self) -> usize {
        let count = self.queued();
        let outstanding = u8::try_from(self.unacknowledged.len()).expect("the window is 127 messages");
        self.last_sent = self.last_sent.wrapping_sub(outstanding) & 0x7f;
        self.waiting.clear();
        self.unacknowledged.clear();
        self.octets_unacknowledged = 0;
        self.cursor = 0;
        self.is_repeating = false;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(correction: ErrorCorrection, count: u8) -> Sender {
        let mut sender = Sender::new(correction);
        for number in 0..count {
            sender.queue(Instant::START, Bytes::copy_from_slice(&[number; 10]));
        }
        sender
    }

    fn numbers(sender: &mut Sender, count: usize) -> Vec<u8> {
        (0..count).filter_map(|_| sender.next().map(|sending| sending.fsn)).collect()
    }

    #[test]
    fn an_inverted_indicator_repeats_all_that_is_not_acknowledged() {
        let mut sender = with(ErrorCorrection::Basic, 4);
        assert_eq!(numbers(&mut sender, 3), [0, 1, 2]);
        assert_eq!(sender.acknowledge(Instant::START, 0), Acknowledgement::Progress);
        assert!(sender.follow_indicator(false));
        assert_eq!(numbers(&mut sender, 9), [1, 2, 3]);
    }

    #[test]
    fn a_repetition_that_is_asked_for_again_begins_anew() {
        let mut sender = with(ErrorCorrection::Basic, 4);
        assert_eq!(numbers(&mut sender, 4), [0, 1, 2, 3]);
        assert!(sender.follow_indicator(false));
        assert_eq!(numbers(&mut sender, 2), [0, 1]);
        assert!(sender.follow_indicator(true));
        assert_eq!(numbers(&mut sender, 9), [0, 1, 2, 3]);
    }

    #[test]
    fn no_more_than_127_messages_are_without_an_acknowledgement() {
        let mut sender = with(ErrorCorrection::Basic, 200);
        assert_eq!(numbers(&mut sender, 200).len(), 127);
        assert_eq!(sender.acknowledge(Instant::START, 9), Acknowledgement::Progress);
        assert_eq!(numbers(&mut sender, 200).len(), 10);
    }

    #[test]
    fn idle_time_repeats_cyclically() {
        let mut sender = with(ErrorCorrection::PreventiveCyclic { messages: 127, octets: 10_000 }, 2);
        assert_eq!(numbers(&mut sender, 7), [0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(sender.acknowledge(Instant::START, 0), Acknowledgement::Progress);
        assert_eq!(numbers(&mut sender, 2), [1, 1]);
    }

    #[test]
    fn an_acknowledgement_leaves_the_round_where_it_is() {
        let mut sender = with(ErrorCorrection::PreventiveCyclic { messages: 127, octets: 10_000 }, 5);
        assert_eq!(numbers(&mut sender, 7), [0, 1, 2, 3, 4, 0, 1]);
        assert_eq!(sender.acknowledge(Instant::START, 0), Acknowledgement::Progress);
        assert_eq!(numbers(&mut sender, 5), [2, 3, 4, 1, 2]);
    }

    #[test]
    fn a_full_window_forces_a_cycle_before_new_messages() {
        let mut sender = with(ErrorCorrection::PreventiveCyclic { messages: 3, octets: 10_000 }, 5);
        assert_eq!(numbers(&mut sender, 8), [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(sender.acknowledge(Instant::START, 0), Acknowledgement::Progress);
        assert_eq!(numbers(&mut sender, 1), [3]);
        assert_eq!(sender.history().forced_retransmissions, 2);
    }

    #[test]
    fn a_number_outside_the_window_is_abnormal_the_second_time() {
        let mut sender = with(ErrorCorrection::Basic, 2);
        numbers(&mut sender, 2);
        assert_eq!(sender.acknowledge(Instant::START, 5), Acknowledgement::Unreasonable);
        assert_eq!(sender.acknowledge(Instant::START, 1), Acknowledgement::Unreasonable);
        assert_eq!(sender.clone().acknowledge(Instant::START, 5), Acknowledgement::Abnormal);
        assert_eq!(sender.acknowledge(Instant::START, 1), Acknowledgement::Progress);
        assert_eq!(sender.acknowledge(Instant::START, 5), Acknowledgement::Unreasonable);
    }

    #[test]
    fn retrieval_gives_what_the_peer_has_not_got_and_what_was_never_sent() {
        let mut sender = with(ErrorCorrection::Basic, 4);
        numbers(&mut sender, 3);
        let first = |messages: Vec<Bytes>| messages.iter().map(|body| body[0]).collect::<Vec<_>>();
        assert_eq!(sender.clone().take_after(0).map(first), Some(vec![1, 2, 3]));
        assert_eq!(sender.take_after(77), None);
        assert_eq!(first(sender.take_waiting()), [3]);
    }

    #[test]
    fn what_is_acknowledged_is_counted_with_the_time_since_it_was_given() {
        let at = Instant::from_millis;
        let mut sender = Sender::new(ErrorCorrection::Basic);
        for millis in [0, 10, 30] {
            sender.queue(at(millis), Bytes::from_static(&[7; 10]));
        }
        numbers(&mut sender, 3);
        sender.acknowledge(at(100), 1);
        let counted = |sender: &Sender| (sender.history().acknowledged, sender.history().acknowledged_after);
        assert_eq!(counted(&sender), (2, Duration::from_millis(190)));
        sender.acknowledge(at(200), 1);
        assert_eq!(counted(&sender), (2, Duration::from_millis(190)));
        sender.flush();
        let sender = Sender::new(ErrorCorrection::Basic).with_history(sender.history());
        assert_eq!(counted(&sender), (2, Duration::from_millis(190)));
    }
}
