//! Measures of a flow of datagrams: what was lost, repeated or overtaken, delays and their jitter.
//!
//! A datagram counts if it was sent after the warm-up. Those are held that were sent last, so that a copy is known as
//! one and a late one has its delay: what is behind by more than [`WINDOW`] numbers counts as lost.

use std::collections::VecDeque;

use slantpath_applications::record::DeliveredMessage;
use slantpath_base::Instant;
use slantpath_results::{Histogram, Precision};

/// Messages behind one that may be lost after which it counts as lost: 44 minutes of telephony, at 50 a second.
pub(super) const WINDOW: usize = 1 << 17;

/// Part of a delay within which percentiles are exact.
const PRECISION: f64 = 0.001;

/// Measures of one flow, which grow as datagrams are sent and come.
#[derive(Clone, Debug)]
pub(super) struct DatagramMeasures {
    /// Number of the first datagram that is held.
    first: u64,
    /// Datagrams from that one on.
    held: VecDeque<Held>,
    pub(super) sent: u64,
    pub(super) delivered: u64,
    pub(super) duplicates: u64,
    pub(super) delays: Histogram,
    pub(super) jitter: Jitter,
    pub(super) reordering: Reordering,
}

/// A datagram of which something may still be heard.
#[derive(Clone, Copy, Debug)]
struct Held {
    sent: Instant,
    has_come: bool,
}

impl DatagramMeasures {
    pub(super) fn new() -> Self {
        Self {
            first: 0,
            held: VecDeque::new(),
            sent: 0,
            delivered: 0,
            duplicates: 0,
            delays: Histogram::new(Precision::within(PRECISION).expect("a thousandth is a precision")),
            jitter: Jitter::default(),
            reordering: Reordering::default(),
        }
    }

    /// Counts datagrams that were sent at these times, their numbers following those before, and those that came, in
    /// the order in which they did.
    pub(super) fn observe(&mut self, sent: &[Instant], delivered: &[DeliveredMessage], warm_up: Instant) {
        for at in sent {
            self.sent += u64::from(*at >= warm_up);
            self.held.push_back(Held { sent: *at, has_come: false });
        }
        for message in delivered {
            let number = u64::from(message.number);
            let place = number.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
            let Some(held) = place.and_then(|place| self.held.get_mut(place)) else { continue };
            if held.sent < warm_up {
                continue;
            }
            let sent = held.sent;
            self.jitter.observe(sent, message.delivered);
            if core::mem::replace(&mut held.has_come, true) {
                self.duplicates += 1;
                continue;
            }
            self.delivered += 1;
            self.delays.record(message.delivered.saturating_since(sent).as_nanos());
            self.reordering.observe(number);
        }
        let beyond = self.held.len().saturating_sub(WINDOW);
        self.held.drain(..beyond);
        self.first += beyond as u64;
        self.reordering.forget_below(self.first);
    }

    /// Number of datagrams that have not come.
    pub(super) const fn lost(&self) -> u64 {
        self.sent - self.delivered
    }
}

/// Interarrival jitter of RTP.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Jitter {
    /// Instants at which the last packet was sent and came.
    last: Option<(Instant, Instant)>,
    current_ns: f64,
    max_ns: f64,
}

impl Jitter {
    /// Takes the next packet in, in the order of arrival and not of numbers (RFC 3550, section 6.4.1): with the
    /// difference D to the packet before it, J = J + (|D| - J) / 16.
    fn observe(&mut self, sent: Instant, came: Instant) {
        let Some((last_sent, last_came)) = self.last.replace((sent, came)) else { return };
        let transit = |sent: Instant, came: Instant| came.saturating_since(sent);
        let (one, other) = (transit(last_sent, last_came), transit(sent, came));
        let difference = one.as_nanos().abs_diff(other.as_nanos());
        self.current_ns += (difference as f64 - self.current_ns) / 16.0;
        self.max_ns = self.max_ns.max(self.current_ns);
    }

    /// The jitter after the last packet, in seconds; `None` before the second.
    pub(super) fn last_s(&self) -> Option<f64> {
        self.last.map(|_| self.current_ns / 1e9)
    }

    /// The greatest that it ever was, in seconds; `None` before the second packet.
    pub(super) fn max_s(&self) -> Option<f64> {
        self.last.map(|_| self.max_ns / 1e9)
    }
}

/// Reordered packets (RFC 4737).
#[derive(Clone, Debug, Default)]
pub(super) struct Reordering {
    /// Number of packets that have come.
    arrivals: u64,
    /// Packets that were in order, by their numbers, with their places among the arrivals: both rise.
    in_order: VecDeque<(u64, u64)>,
    /// Number of reordered packets.
    pub(super) reordered: u64,
    /// Greatest extent of one of them, in packets.
    pub(super) extent_max: u64,
}

impl Reordering {
    /// Counts a packet that has come for the first time: one with a lower number than one before it is reordered
    /// (RFC 4737, section 3.3).
    fn observe(&mut self, number: u64) {
        let place = self.arrivals;
        self.arrivals += 1;
        if self.in_order.back().is_none_or(|(latest, _)| *latest < number) {
            return self.in_order.push_back((number, place));
        }
        self.reordered += 1;
        // Its extent (section 4.2): how much later it came than the first that it should have come before.
        let first = self.in_order.partition_point(|(other, _)| *other < number);
        if let Some((_, overtaken_at)) = self.in_order.get(first) {
            self.extent_max = self.extent_max.max(place - overtaken_at);
        }
    }

    /// Nothing with a lower number than this one comes any more.
    fn forget_below(&mut self, number: u64) {
        while self.in_order.len() > 1 && self.in_order.pop_front_if(|(own, _)| *own < number).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Duration;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn came(messages: &[(u32, u64)]) -> Vec<DeliveredMessage> {
        let message =
            |&(number, ms): &(u32, u64)| DeliveredMessage { number, delivered: at(ms), journey: None };
        messages.iter().map(message).collect()
    }

    #[test]
    fn jitter_follows_the_formula_of_rtp() {
        // Transits of 50, 66, 50, 58 and 58 ms: differences of 16, 16, 8 and 0.
        let mut jitter = Jitter::default();
        let mut steps = Vec::new();
        for (sent, transit) in [(0, 50), (20, 66), (40, 50), (60, 58), (80, 58)] {
            jitter.observe(at(sent), at(sent + transit));
            steps.push((jitter.current_ns / 1e6 * 65_536.0).round() / 65_536.0);
        }
        // J = J + (|D| - J) / 16: 16/16; 1 + 15/16; 1.9375 + 6.0625/16; 2.31640625 - 2.31640625/16.
        assert_eq!(steps, [0.0, 1.0, 1.9375, 2.316_406_25, 2.171_630_859_375]);
        assert_eq!(jitter.max_s(), Some(2.316_406_25e-3));
        assert_eq!(Jitter::default().last_s(), None);
    }

    #[test]
    fn what_comes_behind_a_later_one_is_reordered_by_so_many_places() {
        let mut reordering = Reordering::default();
        // 3 comes two places behind 4; 6 and 7 come one and two places behind 8, 9 is lost.
        for number in [1, 2, 4, 5, 3, 8, 6, 7, 10] {
            reordering.observe(number);
        }
        assert_eq!((reordering.reordered, reordering.extent_max), (3, 2));
        let mut early = Reordering::default();
        for number in [5, 1, 2, 3, 4] {
            early.observe(number);
        }
        assert_eq!((early.reordered, early.extent_max), (4, 4));
    }

    #[test]
    fn each_datagram_counts_once_and_what_was_sent_before_the_warm_up_not_at_all() {
        let mut measures = DatagramMeasures::new();
        let sent = [0, 10, 20, 30].map(at);
        measures.observe(&sent, &came(&[(0, 50), (2, 70), (1, 75), (2, 75), (9, 80)]), at(10));
        let DatagramMeasures { sent, delivered, duplicates, .. } = measures;
        assert_eq!((sent, delivered, duplicates, measures.lost()), (3, 2, 1, 1));
        assert_eq!((measures.reordering.reordered, measures.reordering.extent_max), (1, 1));
        assert_eq!(measures.delays.greatest(), Some(Duration::from_millis(65).as_nanos()));
        assert_eq!(measures.delays.least(), Some(Duration::from_millis(50).as_nanos()));
    }

    #[test]
    fn what_is_held_is_limited() {
        let mut measures = DatagramMeasures::new();
        let sent = vec![at(5); WINDOW + 10];
        measures.observe(&sent, &[], at(0));
        assert_eq!(measures.held.len(), WINDOW);
        measures.observe(&[], &came(&[(9, 50), (10, 50)]), at(0));
        assert_eq!(measures.delivered, 1);
    }
}
