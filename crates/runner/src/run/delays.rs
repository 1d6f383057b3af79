//! Delays of a flow's messages as they are delivered, without a record of each.

use std::collections::VecDeque;

use slantpath_applications::record::DeliveredMessage;
use slantpath_base::{Duration, Instant};
use slantpath_results::{Histogram, Precision};

use super::datagrams::WINDOW;

/// The delays of a flow. Held are the times at which messages were sent that have not been delivered.
#[derive(Clone, Debug)]
pub(super) struct FlowDelays {
    /// The number of the first of `sent`.
    first: u64,
    /// Instants at which messages were sent; `None` for those that were delivered.
    sent: VecDeque<Option<Instant>>,
    /// True if a message may never be delivered: it is held for [`WINDOW`] later ones, and no longer.
    may_lose: bool,
    /// Of messages sent after the warm-up, if delays are counted so.
    histogram: Option<Histogram>,
    deadline: Option<Deadline>,
    interval: IntervalDelays,
}

/// Count of messages, sent after the warm-up, that came too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deadline {
    after: Duration,
    missed: u64,
}

/// The delays of the messages that were delivered in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IntervalDelays {
    count: u64,
    sum_ns: u128,
    pub(super) max: Option<Duration>,
}

impl IntervalDelays {
    fn add(&mut self, delay: Duration) {
        self.count += 1;
        self.sum_ns += u128::from(delay.as_nanos());
        self.max = self.max.max(Some(delay));
    }

    pub(super) fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }
}

impl FlowDelays {
    pub(super) fn new(precision: Option<Precision>, deadline: Option<Duration>, may_lose: bool) -> Self {
        Self {
            first: 0,
            sent: VecDeque::new(),
            may_lose,
            histogram: precision.map(Histogram::new),
            deadline: deadline.map(|after| Deadline { after, missed: 0 }),
            interval: IntervalDelays::default(),
        }
    }

    /// The next messages were sent at these times, and those were delivered.
    pub(super) fn observe(&mut self, sent: Vec<Instant>, delivered: &[DeliveredMessage], warm_up: Instant) {
        self.sent.extend(sent.into_iter().map(Some));
        for message in delivered {
            // What was never sent, or is delivered again, has no delay.
            let place = u64::from(message.number).checked_sub(self.first);
            let place = place.and_then(|place| usize::try_from(place).ok());
            let sent = place.and_then(|place| self.sent.get_mut(place)).and_then(Option::take);
            let Some(sent) = sent else { continue };
            let delay = message.delivered.saturating_since(sent);
            self.interval.add(delay);
            if sent < warm_up {
                continue;
            }
            if let Some(histogram) = &mut self.histogram {
                histogram.record(delay.as_nanos());
            }
            if let Some(deadline) = &mut self.deadline {
                deadline.missed += u64::from(delay > deadline.after);
            }
        }
        let lost = if self.may_lose { self.sent.len().saturating_sub(WINDOW) } else { 0 };
        self.first += lost as u64;
        let lost = self.sent.drain(..lost).flatten().filter(|sent| *sent >= warm_up).count() as u64;
        if let Some(deadline) = &mut self.deadline {
            deadline.missed += lost;
        }
        while self.sent.pop_front_if(|sent| sent.is_none()).is_some() {
            self.first += 1;
        }
    }

    /// The delays of the interval that ends; another one begins.
    pub(super) fn end_interval(&mut self) -> IntervalDelays {
        std::mem::take(&mut self.interval)
    }

    /// Messages, sent after the warm-up, that missed their deadline by now, delivered or not; `None` if there is no
    /// deadline.
    pub(super) fn late(&self, warm_up: Instant, now: Instant) -> Option<u64> {
        let Deadline { after, missed } = self.deadline?;
        let is_late = |sent: &&Instant| **sent >= warm_up && now.saturating_since(**sent) > after;
        Some(missed + self.sent.iter().flatten().filter(is_late).count() as u64)
    }

    pub(super) const fn histogram(&self) -> Option<&Histogram> {
        self.histogram.as_ref()
    }

    /// Number of instants that are held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.sent.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(times: &[u64]) -> Vec<Instant> {
        times.iter().map(|time| Instant::from_millis(*time)).collect()
    }

    fn delivered(messages: &[(u32, u64)]) -> Vec<DeliveredMessage> {
        let message = |(number, at): &(u32, u64)| DeliveredMessage {
            number: *number,
            delivered: Instant::from_millis(*at),
            journey: None,
        };
        messages.iter().map(message).collect()
    }

    #[test]
    fn a_message_is_held_until_it_is_delivered_and_counts_once() {
        let mut delays = FlowDelays::new(Precision::within(0.01), None, false);
        let warm_up = Instant::from_millis(10);
        delays.observe(millis(&[5, 10, 20]), &delivered(&[(1, 110), (2, 100), (7, 100)]), warm_up);
        assert_eq!(delays.held(), 3);
        assert_eq!(
            delays.end_interval(),
            IntervalDelays { count: 2, sum_ns: 180_000_000, max: Some(Duration::from_millis(100)) }
        );
        // The one before the warm-up counts for the interval alone, and what comes again for nothing.
        delays.observe(millis(&[30]), &delivered(&[(0, 205), (2, 205), (0, 206), (1, 206)]), warm_up);
        assert_eq!(delays.held(), 1);
        assert_eq!(delays.end_interval().max, Some(Duration::from_millis(200)));
        assert_eq!(delays.end_interval(), IntervalDelays::default());
        let histogram = delays.histogram().unwrap();
        assert_eq!((histogram.count(), histogram.greatest()), (2, Some(100_000_000)));
    }

    #[test]
    fn a_message_is_late_behind_its_deadline_delivered_or_not() {
        let warm_up = Instant::from_millis(10);
        let late = |delays: &FlowDelays, now| delays.late(warm_up, Instant::from_millis(now));
        let mut delays = FlowDelays::new(None, Some(Duration::from_millis(50)), false);
        // One before the warm-up, one in time, one a millisecond late, and two that do not come.
        delays.observe(millis(&[5, 10, 11, 20, 60]), &delivered(&[(0, 90), (1, 60), (2, 62)]), warm_up);
        assert_eq!([60, 70, 71, 110, 111].map(|now| late(&delays, now).unwrap()), [1, 1, 2, 2, 3]);
        delays.observe(millis(&[]), &delivered(&[(3, 120)]), warm_up);
        assert_eq!(late(&delays, 120), Some(3));
        assert_eq!(late(&FlowDelays::new(Precision::within(0.01), None, false), 120), None);
    }

    #[test]
    fn what_may_be_lost_is_held_for_so_many_later_ones_and_is_late_then() {
        let sent: Vec<Instant> = (0..WINDOW as u64 + 2).map(Instant::from_millis).collect();
        for (may_lose, held) in [(true, WINDOW - 1), (false, WINDOW + 2)] {
            let mut delays = FlowDelays::new(None, Some(Duration::from_secs(86_400)), may_lose);
            // All but the third are still to come when it does: the first two are too far behind.
            delays.observe(sent.clone(), &delivered(&[(2, 10)]), Instant::from_millis(1));
            assert_eq!(delays.held(), held);
            // One of the two was sent before the warm-up.
            assert_eq!(delays.late(Instant::from_millis(1), Instant::from_millis(10)), Some(may_lose.into()));
            delays.observe(Vec::new(), &delivered(&[(0, 20), (3, 20)]), Instant::from_millis(1));
            assert_eq!(delays.end_interval().count, if may_lose { 2 } else { 3 });
        }
    }
}
