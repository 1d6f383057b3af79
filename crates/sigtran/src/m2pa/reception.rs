//! Reception from the peer: which message is next, what is held, and what the peer is told to have arrived.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::m2pa::SequenceNumber;

/// Messages from the peer.
#[derive(Clone, Debug)]
pub(super) struct Reception {
    /// The number of the last message received in sequence, held or delivered.
    received: SequenceNumber,
    /// The last that was delivered, which is what the peer is told, and what changeover is told.
    delivered: SequenceNumber,
    held: VecDeque<Bytes>,
    /// Acknowledgement to the peer: due or sent.
    acknowledgement: Acknowledgement,
    /// True if the backward sequence number was unreasonable, for each of the last two, newest first.
    unreasonable: [bool; 2],
    flushed: Flushed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acknowledgement {
    Due,
    Sent,
}

/// Flush by MTP3 since the outage began: messages that come until its end are then discarded as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flushed {
    No,
    UntilRecovery,
}

impl Reception {
    pub(super) const fn new() -> Self {
        Self {
            received: SequenceNumber::BEFORE_FIRST,
            delivered: SequenceNumber::BEFORE_FIRST,
            held: VecDeque::new(),
            acknowledgement: Acknowledgement::Sent,
            unreasonable: [false; 2],
            flushed: Flushed::No,
        }
    }

    /// Gives the backward sequence number that the peer is told, and changeover.
    pub(super) const fn backward(&self) -> SequenceNumber {
        self.delivered
    }

    /// Tells whether User Data with this number is the next; an acknowledgement alone repeats the last.
    pub(super) fn is_in_sequence(&self, fsn: SequenceNumber, has_data: bool) -> bool {
        fsn == if has_data { self.received.next() } else { self.received }
    }

    /// The next message was delivered.
    pub(super) fn deliver(&mut self) {
        self.received = self.received.next();
        self.delivered = self.received;
        self.acknowledgement = Acknowledgement::Due;
    }

    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// The next message is kept for later.
    pub(super) fn hold(&mut self, msu: Bytes) {
        self.received = self.received.next();
        self.held.push_back(msu);
    }

    /// Takes the held messages for delivery now.
    pub(super) fn release_held(&mut self) -> VecDeque<Bytes> {
        if !self.held.is_empty() {
            self.delivered = self.received;
            self.acknowledgement = Acknowledgement::Due;
        }
        core::mem::take(&mut self.held)
    }

    /// Goes back to what was delivered, as the peer is told at the end of an outage; says how many were thrown away.
    pub(super) fn rewind(&mut self) -> u64 {
        let count = self.held.len() as u64;
        self.held.clear();
        self.received = self.delivered;
        self.flushed = Flushed::No;
        count
    }

    /// MTP3 has flushed during its outage; says how many were thrown away.
    pub(super) fn flush(&mut self) -> u64 {
        let count = self.held.len() as u64;
        self.held.clear();
        self.flushed = Flushed::UntilRecovery;
        count
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.flushed == Flushed::UntilRecovery
    }

    pub(super) fn owes_acknowledgement(&self) -> bool {
        self.acknowledgement == Acknowledgement::Due
    }

    /// The peer is being told.
    pub(super) fn acknowledged(&mut self) {
        self.acknowledgement = Acknowledgement::Sent;
    }

    /// Notes a backward sequence number; says whether two of the last three were unreasonable (Q.703, section 5.3.2).
    pub(super) fn note_backward(&mut self, is_unreasonable: bool) -> bool {
        let [last, before] = self.unreasonable;
        self.unreasonable = [is_unreasonable, last];
        is_unreasonable && (last || before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_not_told_until_it_is_delivered() {
        let mut reception = Reception::new();
        reception.deliver();
        reception.acknowledged();
        reception.hold(Bytes::from_static(&[1; 3]));
        assert_eq!((reception.backward().number(), reception.owes_acknowledgement()), (0, false));
        assert_eq!(reception.release_held().len(), 1);
        assert_eq!((reception.backward().number(), reception.owes_acknowledgement()), (1, true));
    }

    #[test]
    fn two_unreasonable_numbers_of_three_are_too_many() {
        let mut reception = Reception::new();
        let noted = [true, false, false, true, false, true].map(|bad| reception.note_backward(bad));
        assert_eq!(noted, [false, false, false, false, false, true]);
        let mut reception = Reception::new();
        assert_eq!([true, true].map(|bad| reception.note_backward(bad)), [false, true]);
    }

    #[test]
    fn an_acknowledgement_alone_repeats_the_last_number() {
        let mut reception = Reception::new();
        reception.deliver();
        let number = |number| SequenceNumber::new(number).unwrap();
        assert!(reception.is_in_sequence(number(0), false) && reception.is_in_sequence(number(1), true));
        assert!(!reception.is_in_sequence(number(1), false) && !reception.is_in_sequence(number(0), true));
    }
}
