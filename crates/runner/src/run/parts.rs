//! Parts of the delay of a message.

use slantpath_applications::record::SentMessage;
use slantpath_base::{Duration, Instant};
use slantpath_net::Journey;

use crate::columns::{self, Family};

/// Number of parts of a delay.
pub(super) const COUNT: usize = 7;

/// Parts in the order of time but for what happens on links: names and meanings.
pub(super) const PARTS: [(&str, &str); COUNT] = [
    ("sender_wait", "from SEND until the last part of the message has gone out for the first time"),
    ("retransmission", "from then until the packet went out that brought the last part"),
    ("queueing", "in queues of links"),
    ("transmission", "in transmitters of links"),
    ("propagation", "in propagation on links"),
    ("link_repetition", "in repetitions by links (`arq`)"),
    ("receiver_wait", "from the arrival of that packet to the delivery"),
];

/// Columns of the parts whose names end so.
pub(super) fn family(end: &str) -> Family {
    let of = if end == "_mean_s" { "Mean time of messages" } else { "Time of the message" };
    columns::family(PARTS, |(name, meaning)| (format!("{name}{end}"), format!("{of} {meaning}.")))
}

/// The parts of a delay, which make up all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts(pub(super) [Duration; COUNT]);

impl Parts {
    /// Of a message that was delivered, if the journey of the packet is known that brought the last of it.
    pub(super) fn of(sent: &SentMessage, delivered: Instant, journey: Option<Journey>) -> Option<Self> {
        let journey = journey?;
        // A part that is retransmitted may come behind one that has not gone out yet: the rest is not awaited here.
        let gone_out = sent.last_part_transmitted?.min(journey.sent);
        Some(Self([
            gone_out - sent.sent,
            journey.sent - gone_out,
            journey.queueing(),
            journey.transmission,
            journey.propagation,
            journey.repetition,
            delivered - journey.arrived,
        ]))
    }
}

/// Sums of the parts of many delays.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartSums {
    count: u64,
    sums_ns: [u128; COUNT],
}

impl PartSums {
    pub(super) fn add(&mut self, parts: Parts) {
        self.count += 1;
        for (sum, part) in self.sums_ns.iter_mut().zip(parts.0) {
            *sum += u128::from(part.as_nanos());
        }
    }

    /// The mean of each, in seconds.
    pub(super) fn means_s(&self) -> [Option<f64>; COUNT] {
        self.sums_ns.map(|sum| (self.count > 0).then(|| sum as f64 / self.count as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of two parts that was sent at 10 ms and whose last part went out first at 40 ms.
    fn parts(packet_sent: u64) -> Option<[u64; COUNT]> {
        let millis = Instant::from_millis;
        let message = SentMessage {
            size: 100,
            sent: millis(10),
            first_transmitted: Some(millis(15)),
            last_part_transmitted: Some(millis(40)),
            first_path: 0,
            last_path: 0,
            retransmitted: None,
            retransmissions: 0,
        };
        let journey = Journey {
            sent: millis(packet_sent),
            arrived: millis(packet_sent + 100),
            transmission: Duration::from_millis(5),
            propagation: Duration::from_millis(60),
            repetition: Duration::from_millis(15),
        };
        let parts = Parts::of(&message, millis(300), Some(journey))?;
        assert_eq!(
            parts.0.into_iter().fold(Duration::ZERO, |sum, part| sum + part),
            Duration::from_millis(290)
        );
        Some(parts.0.map(Duration::as_millis))
    }

    #[test]
    fn retransmission_begins_when_every_part_has_gone_out() {
        assert_eq!(parts(40), Some([30, 0, 20, 5, 60, 15, 160]));
        assert_eq!(parts(70), Some([30, 30, 20, 5, 60, 15, 130]));
        assert_eq!(parts(30), Some([20, 0, 20, 5, 60, 15, 170]));
    }
}
