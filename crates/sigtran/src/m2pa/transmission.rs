//! The transmit and retransmit buffers: what waits, what is unacknowledged, and what is handed back for changeover.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};

use crate::m2pa::{CongestionThreshold, SequenceNumber, T7From};

/// Messages to the peer.
#[derive(Clone, Debug)]
pub(super) struct Transmission {
    waiting: VecDeque<Waiting>,
    /// Number of the waiting messages, first of all, that were sent before.
    waiting_again: usize,
    outstanding: VecDeque<Outstanding>,
    /// The number of the last message sent, if none is to be retransmitted.
    last_sent: SequenceNumber,
    /// The number of the last message that the peer may have taken: later than `last_sent` where messages that wait to
    /// be retransmitted may have arrived the first time.
    last_at_peer: SequenceNumber,
    /// The last that the peer is known to have taken.
    acknowledged: SequenceNumber,
    /// Instant at which the peer last took some.
    acknowledged_at: Instant,
    /// From when MTP3 gave what the peer has taken until that was known, all together.
    acknowledged_after: Duration,
    congestion_status: u8,
}

/// A message to send now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sending {
    pub(super) fsn: SequenceNumber,
    pub(super) msu: Bytes,
    /// True if it is retransmitted.
    pub(super) is_again: bool,
}

#[derive(Clone, Debug)]
struct Waiting {
    given_at: Instant,
    msu: Bytes,
}

#[derive(Clone, Debug)]
struct Outstanding {
    fsn: SequenceNumber,
    given_at: Instant,
    /// Instant at which it was handed over to the association.
    sent_at: Instant,
    /// Instant at which the association sent it first, if it has been asked to say.
    transmitted_at: Option<Instant>,
    /// True if it is retransmitted.
    is_again: bool,
    msu: Bytes,
}

/// A backward sequence number of a message that was not sent, or that was acknowledged before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreasonable;

impl Transmission {
    pub(super) const fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            waiting_again: 0,
            outstanding: VecDeque::new(),
            last_sent: SequenceNumber::BEFORE_FIRST,
            last_at_peer: SequenceNumber::BEFORE_FIRST,
            acknowledged: SequenceNumber::BEFORE_FIRST,
            acknowledged_at: Instant::START,
            acknowledged_after: Duration::ZERO,
            congestion_status: 0,
        }
    }

    /// Gives the number of messages that wait or are unacknowledged.
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.outstanding.len()
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// Gives the number of messages that were never sent, or are to be retransmitted.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// From when on the oldest message is unacknowledged, as T7 counts it.
    pub(super) fn unacknowledged_from(&self, reading: T7From) -> Option<Instant> {
        let oldest = self.outstanding.front();
        match reading {
            T7From::Given => {
                let waiting = self.waiting.front().map(|message| message.given_at);
                oldest.map(|message| message.given_at).or(waiting)
            }
            T7From::HandOver => oldest.map(|message| message.sent_at),
            T7From::FirstTransmission => oldest.and_then(|message| message.transmitted_at),
            T7From::LastAcknowledgement => oldest.map(|message| message.sent_at.max(self.acknowledged_at)),
        }
    }

    /// The association has sent this message for the first time. One that is not outstanding any more was acknowledged,
    /// or is to be retransmitted.
    pub(super) fn note_transmitted(&mut self, now: Instant, fsn: SequenceNumber) {
        let Some(front) = self.outstanding.front() else { return };
        let at = usize::try_from(fsn.distance_from(front.fsn)).unwrap_or(usize::MAX);
        if let Some(message) = self.outstanding.get_mut(at) {
            message.transmitted_at.get_or_insert(now);
        }
    }

    /// The association is lost, and has never sent this message nor any after it: they wait as if they had not been
    /// handed over. One that is retransmitted may have arrived before.
    pub(super) fn take_back(&mut self, fsn: SequenceNumber) {
        let Some(front) = self.outstanding.front() else { return };
        let at = usize::try_from(fsn.distance_from(front.fsn)).unwrap_or(usize::MAX);
        if self.waiting_again > 0 {
            return;
        }
        while self.outstanding.len() > at
            && let Some(Outstanding { given_at, msu, .. }) =
                self.outstanding.pop_back_if(|message| !message.is_again)
        {
            self.waiting.push_front(Waiting { given_at, msu });
        }
        self.last_sent = self.outstanding.back().map_or(self.acknowledged, |message| message.fsn);
        self.last_at_peer = self.last_sent;
    }

    pub(super) const fn last_sent(&self) -> SequenceNumber {
        self.last_sent
    }

    pub(super) fn push(&mut self, now: Instant, msu: Bytes) {
        self.waiting.push_back(Waiting { given_at: now, msu });
    }

    /// Takes the next message to send, and keeps it until it is acknowledged.
    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.1
    //# Nevertheless, M2PA SHALL retain transmitted User Data messages in a
    //# retransmit queue until they are acknowledged.
    pub(super) fn send_next(&mut self, now: Instant, outstanding_max: usize) -> Option<Sending> {
        if self.outstanding.len() >= outstanding_max {
            return None;
        }
        let Waiting { given_at, msu } = self.waiting.pop_front()?;
        let is_again = self.waiting_again > 0;
        self.waiting_again = self.waiting_again.saturating_sub(1);
        let fsn = self.last_sent.next();
        if self.last_at_peer == self.last_sent {
            self.last_at_peer = fsn;
        }
        self.last_sent = fsn;
        let kept = msu.clone();
        self.outstanding.push_back(Outstanding {
            fsn,
            given_at,
            sent_at: now,
            transmitted_at: None,
            is_again,
            msu: kept,
        });
        Some(Sending { fsn, msu, is_again })
    }

    /// Lets go of what the peer has taken; says how many.
    pub(super) fn acknowledge(&mut self, now: Instant, bsn: SequenceNumber) -> Result<u64, Unreasonable> {
        let before = self.acknowledged;
        let taken = bsn.distance_from(before);
        if taken > self.last_at_peer.distance_from(before) {
            return Err(Unreasonable);
        }
        self.acknowledged = bsn;
        if taken > 0 {
            self.acknowledged_at = now;
        }
        let mut count = 0;
        while let Some(message) = self.outstanding.front()
            && message.fsn.distance_from(before) <= taken
        {
            self.acknowledged_after += now.saturating_since(message.given_at);
            self.outstanding.pop_front();
            count += 1;
        }
        // It had arrived the first time, and need not be retransmitted.
        while self.last_sent.distance_from(before) < taken {
            self.last_sent = self.last_sent.next();
            if let Some(message) = self.waiting.pop_front() {
                self.acknowledged_after += now.saturating_since(message.given_at);
                count += 1;
            }
            self.waiting_again = self.waiting_again.saturating_sub(1);
        }
        Ok(count)
    }

    /// From when MTP3 gave what the peer has taken until that was known, all together.
    pub(super) const fn acknowledged_after(&self) -> Duration {
        self.acknowledged_after
    }

    /// Goes on after the last message that the peer says it has taken, at the end of an outage: what is unacknowledged
    /// waits again, for the peer throws away what is still under way. Says how many were taken.
    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.4
    //# M2PA (at both the LPO and RPO ends) uses the BSN value in the
    //# received Link Status Ready message to resynchronize its sequence
    //# numbers, if this is required by MTP2.
    pub(super) fn resynchronize(&mut self, now: Instant, bsn: SequenceNumber) -> Result<u64, Unreasonable> {
        let taken = self.send_again_after(now, bsn)?;
        self.last_at_peer = bsn;
        Ok(taken)
    }

    /// Variant of `resynchronize` at alignment: the peer may take what is still in flight, and then discards what is
    /// retransmitted.
    pub(super) fn send_again_after(
        &mut self,
        now: Instant,
        bsn: SequenceNumber,
    ) -> Result<u64, Unreasonable> {
        let taken = self.acknowledge(now, bsn)?;
        self.waiting_again += self.outstanding.len();
        while let Some(message) = self.outstanding.pop_back() {
            self.waiting.push_front(Waiting { given_at: message.given_at, msu: message.msu });
        }
        self.last_sent = bsn;
        Ok(taken)
    }

    /// Throws everything away; says how many. Numbers go on.
    pub(super) fn flush(&mut self) -> u64 {
        let count = self.len() as u64;
        self.waiting.clear();
        self.waiting_again = 0;
        self.outstanding.clear();
        self.last_sent = self.last_at_peer;
        count
    }

    /// Throws everything away and numbers anew; says how many.
    pub(super) fn reset(&mut self) -> u64 {
        let count = self.flush();
        self.last_sent = SequenceNumber::BEFORE_FIRST;
        self.last_at_peer = SequenceNumber::BEFORE_FIRST;
        self.acknowledged = SequenceNumber::BEFORE_FIRST;
        count
    }

    /// Hands back what was sent after `fsnc`, then what was never sent; says how many had been taken. A number that
    /// was not sent, or was acknowledged before the last, hands back only the latter.
    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.3
    //# If M2PA receives a Retrieval
    //# Request and FSNC request with no FSNC value, or with an invalid FSNC,
    //# then M2PA SHALL retrieve from its buffers and deliver to MTP3 in
    //# order:
    pub(super) fn retrieve_after(&mut self, now: Instant, fsnc: Option<SequenceNumber>) -> (u64, Vec<Bytes>) {
        let taken = fsnc.and_then(|fsnc| self.acknowledge(now, fsnc).ok());
        let sent = if taken.is_some() { self.outstanding.drain(..) } else { self.outstanding.drain(..0) };
        self.waiting_again = 0;
        let waiting = self.waiting.drain(..).map(|message| message.msu);
        let messages = sent.map(|message| message.msu).chain(waiting).collect();
        (taken.unwrap_or(0), messages)
    }

    /// The congestion status, if it has changed (Q.704, section 3.8.2).
    pub(super) fn new_congestion_status(&mut self, thresholds: &[CongestionThreshold]) -> Option<u8> {
        let len = self.len();
        let reached = thresholds.iter().take_while(|threshold| len >= threshold.onset).count();
        let kept = thresholds.iter().take_while(|threshold| len > threshold.abatement).count();
        let status = usize::from(self.congestion_status).clamp(reached, kept.max(reached));
        let status = u8::try_from(status).expect("there are at most three thresholds");
        (status != self.congestion_status).then(|| {
            self.congestion_status = status;
            status
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: u32) -> SequenceNumber {
        SequenceNumber::new(number).unwrap()
    }

    /// Messages 0 to 4 sent, 5 and 6 waiting.
    fn five_sent() -> Transmission {
        let mut transmission = Transmission::new();
        for octet in 0..7 {
            transmission.push(Instant::START, Bytes::copy_from_slice(&[octet; 3]));
        }
        while transmission.send_next(Instant::START, 5).is_some() {}
        transmission
    }

    fn firsts(messages: &[Bytes]) -> Vec<u8> {
        messages.iter().map(|msu| msu[0]).collect()
    }

    #[test]
    fn an_acknowledgement_lets_go_of_all_up_to_it() {
        let mut transmission = five_sent();
        assert_eq!(transmission.acknowledge(Instant::START, number(2)), Ok(3));
        assert_eq!((transmission.outstanding(), transmission.len()), (2, 4));
        assert_eq!(transmission.acknowledge(Instant::START, number(2)), Ok(0));
        assert_eq!(transmission.acknowledge(Instant::START, number(1)), Err(Unreasonable));
        assert_eq!(transmission.acknowledge(Instant::START, number(5)), Err(Unreasonable));
        assert_eq!(transmission.acknowledge(Instant::START, SequenceNumber::BEFORE_FIRST), Err(Unreasonable));
    }

    #[test]
    fn the_time_until_messages_are_taken_counts_from_when_they_were_given() {
        let at = Instant::from_millis;
        let mut transmission = Transmission::new();
        for millis in [0, 10, 30] {
            transmission.push(at(millis), Bytes::from_static(&[7; 3]));
        }
        while transmission.send_next(at(40), 5).is_some() {}
        assert_eq!(transmission.acknowledge(at(100), number(1)), Ok(2));
        assert_eq!(transmission.acknowledged_after(), Duration::from_millis(190));
        // What waits again has arrived the first time.
        assert_eq!(transmission.send_again_after(at(150), number(1)), Ok(0));
        assert_eq!(transmission.acknowledge(at(200), number(2)), Ok(1));
        transmission.reset();
        assert_eq!(transmission.acknowledged_after(), Duration::from_millis(190 + 170));
    }

    #[test]
    fn numbers_wrap_in_flight() {
        let mut transmission = five_sent();
        transmission.last_sent = number(2);
        transmission.last_at_peer = number(2);
        transmission.acknowledged = number(0x00ff_fffd);
        for (message, fsn) in transmission.outstanding.iter_mut().zip([0x00ff_fffe, 0x00ff_ffff, 0, 1, 2]) {
            message.fsn = number(fsn);
        }
        assert_eq!(transmission.acknowledge(Instant::START, number(0)), Ok(3));
        assert_eq!(transmission.acknowledge(Instant::START, number(2)), Ok(2));
    }

    #[test]
    fn what_the_peer_has_not_taken_is_sent_again_with_the_same_numbers() {
        let mut transmission = five_sent();
        assert_eq!(transmission.resynchronize(Instant::START, number(2)), Ok(3));
        let again = transmission.send_next(Instant::START, 5).unwrap();
        assert_eq!((again.fsn, again.msu[0], again.is_again), (number(3), 3, true));
    }

    #[test]
    fn what_arrived_the_first_time_is_not_sent_again() {
        let mut transmission = five_sent();
        assert_eq!(transmission.send_again_after(Instant::START, number(1)), Ok(2));
        assert_eq!(transmission.acknowledge(Instant::START, number(3)), Ok(2));
        let again = transmission.send_next(Instant::START, 5).unwrap();
        assert_eq!((again.fsn, again.msu[0], again.is_again), (number(4), 4, true));
        assert_eq!(transmission.acknowledge(Instant::START, number(5)), Err(Unreasonable));
    }

    #[test]
    fn what_is_sent_again_may_have_arrived_the_first_time_with_all_behind_it() {
        let mut transmission = five_sent();
        assert_eq!(transmission.send_again_after(Instant::START, number(1)), Ok(2));
        assert_eq!(transmission.send_next(Instant::START, 5).unwrap().fsn, number(2));
        assert_eq!(transmission.acknowledge(Instant::START, number(4)), Ok(3));
        let next = transmission.send_next(Instant::START, 5).unwrap();
        assert_eq!((next.fsn, next.msu[0], next.is_again), (number(5), 5, false));
    }

    #[test]
    fn what_is_given_after_a_retrieval_is_not_sent_again() {
        let mut transmission = five_sent();
        assert_eq!(transmission.send_again_after(Instant::START, number(1)), Ok(2));
        let (_, messages) = transmission.retrieve_after(Instant::START, Some(number(1)));
        assert_eq!(firsts(&messages), [2, 3, 4, 5, 6]);
        transmission.push(Instant::START, Bytes::from_static(b"new"));
        assert!(!transmission.send_next(Instant::START, 5).unwrap().is_again);
    }

    #[test]
    fn what_is_flushed_after_an_outage_leaves_its_numbers_to_what_follows() {
        let mut transmission = five_sent();
        assert_eq!(transmission.resynchronize(Instant::START, number(2)), Ok(3));
        assert_eq!(transmission.flush(), 4);
        transmission.push(Instant::START, Bytes::from_static(b"new"));
        let next = transmission.send_next(Instant::START, 5).unwrap();
        assert_eq!((next.fsn, next.is_again), (number(3), false));
    }

    #[test]
    fn what_the_peer_may_have_taken_keeps_its_numbers_when_it_is_flushed() {
        let mut transmission = five_sent();
        assert_eq!(transmission.send_again_after(Instant::START, number(1)), Ok(2));
        assert_eq!(transmission.flush(), 5);
        assert_eq!(transmission.last_sent(), number(4));
        transmission.push(Instant::START, Bytes::from_static(b"new"));
        let next = transmission.send_next(Instant::START, 5).unwrap();
        assert_eq!((next.fsn, next.is_again), (number(5), false));
    }

    #[test]
    fn retrieval_after_a_number_hands_back_what_followed_and_what_waits() {
        let (taken, messages) = five_sent().retrieve_after(Instant::START, Some(number(3)));
        assert_eq!((taken, firsts(&messages)), (4, vec![4, 5, 6]));
    }

    #[test]
    fn retrieval_after_no_or_an_impossible_number_hands_back_what_waits() {
        for fsnc in [None, Some(number(9))] {
            let mut transmission = five_sent();
            let (taken, messages) = transmission.retrieve_after(Instant::START, fsnc);
            assert_eq!((taken, firsts(&messages), transmission.len()), (0, vec![5, 6], 5));
        }
    }

    #[test]
    fn what_the_association_never_sent_is_handed_back_without_a_number() {
        let mut transmission = five_sent();
        assert_eq!(transmission.acknowledge(Instant::START, number(0)), Ok(1));
        transmission.take_back(number(3));
        transmission.take_back(number(4));
        assert_eq!((transmission.outstanding(), transmission.last_sent()), (2, number(2)));
        let (_, messages) = transmission.clone().retrieve_after(Instant::START, Some(number(1)));
        assert_eq!(firsts(&messages), [2, 3, 4, 5, 6]);
        let (_, messages) = transmission.retrieve_after(Instant::START, None);
        assert_eq!(firsts(&messages), [3, 4, 5, 6]);
    }

    #[test]
    fn what_may_have_arrived_the_first_time_is_not_taken_back() {
        let mut transmission = five_sent();
        assert_eq!(transmission.send_again_after(Instant::START, number(1)), Ok(2));
        transmission.take_back(number(2));
        while transmission.send_next(Instant::START, 4).is_some() {}
        // Messages 2 to 4 for the second time, 5 for the first.
        transmission.take_back(number(3));
        let (_, messages) = transmission.retrieve_after(Instant::START, None);
        assert_eq!(firsts(&messages), [5, 6]);
    }

    #[test]
    fn congestion_has_hysteresis() {
        let thresholds =
            [CongestionThreshold { onset: 4, abatement: 2 }, CongestionThreshold { onset: 6, abatement: 5 }];
        let mut transmission = five_sent();
        assert_eq!(transmission.new_congestion_status(&thresholds), Some(2));
        transmission.acknowledge(Instant::START, number(0)).unwrap();
        assert_eq!((transmission.len(), transmission.new_congestion_status(&thresholds)), (6, None));
        transmission.acknowledge(Instant::START, number(1)).unwrap();
        assert_eq!((transmission.len(), transmission.new_congestion_status(&thresholds)), (5, Some(1)));
        transmission.acknowledge(Instant::START, number(3)).unwrap();
        assert_eq!((transmission.len(), transmission.new_congestion_status(&thresholds)), (3, None));
        transmission.acknowledge(Instant::START, number(4)).unwrap();
        assert_eq!((transmission.len(), transmission.new_congestion_status(&thresholds)), (2, Some(0)));
    }
}
