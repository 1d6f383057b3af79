//! Packets from host to host, their delays and how these change: sums that are kept only if somebody asks for them.

use slantpath_base::{Duration, Instant};

use crate::NodeId;
use crate::link::PacketCount;

/// Counts and delays of the packets that one host sent to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPair {
    /// Handed to a link, or refused by it.
    pub sent: PacketCount,
    /// Of those, what has arrived with every bit as it was sent. A copy that a link made counts as well, and each
    /// fragment of a packet that a router cut.
    pub received: PacketCount,
    /// Of what was received: one-way delays, from when a packet was handed to its first link to its arrival.
    pub delays: Delays,
}

/// Statistics of a sequence of delays. The mean of all is theirs in RFC 7679; the changes are those of RFC 3393 between
/// packets that arrive one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    count: u64,
    sum_ns: u128,
    changes_ns: u128,
    first_and_last: Option<(Duration, Duration)>,
    least_and_most: Option<(Duration, Duration)>,
}

impl Delays {
    fn add(&mut self, delay: Duration) {
        self.count += 1;
        self.sum_ns += u128::from(delay.as_nanos());
        let (first, last) = self.first_and_last.unwrap_or((delay, delay));
        self.changes_ns += u128::from(last.as_nanos().abs_diff(delay.as_nanos()));
        self.first_and_last = Some((first, delay));
        let (least, most) = self.least_and_most.unwrap_or((delay, delay));
        self.least_and_most = Some((least.min(delay), most.max(delay)));
    }

    /// The mean in seconds, of one at least.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }

    /// The mean absolute difference in seconds between a delay and the one before, of two at least.
    pub fn change_mean_s(&self) -> Option<f64> {
        (self.count > 1).then(|| self.changes_ns as f64 / (self.count - 1) as f64 / 1e9)
    }

    /// The first and the last.
    pub const fn first_and_last(&self) -> Option<(Duration, Duration)> {
        self.first_and_last
    }

    /// The shortest and the longest.
    pub const fn least_and_most(&self) -> Option<(Duration, Duration)> {
        self.least_and_most
    }
}

/// By the places of packets in their store.
#[derive(Clone, Debug)]
pub(crate) struct HostPairs {
    /// Packets that were sent before are not counted.
    since: Instant,
    /// Sending host, receiving host and sending instant of the packet of a place; `None` if it is not from host to
    /// host.
    packets: Vec<Option<Sent>>,
    /// Pairs of hosts with their counts, sorted.
    pairs: Vec<(Key, HostPair)>,
}

/// A sender and a receiver.
type Key = (NodeId, NodeId);

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    key: Key,
}

impl HostPairs {
    pub(crate) const fn new(since: Instant) -> Self {
        Self { since, packets: Vec::new(), pairs: Vec::new() }
    }

    /// A host sends a packet.
    pub(crate) fn begin(&mut self, place: usize, now: Instant, key: (NodeId, NodeId), length: u32) {
        self.put(place, Some(Sent { at: now, key }));
        self.pair(key).sent.add(length);
    }

    fn put(&mut self, place: usize, sent: Option<Sent>) {
        if self.packets.len() <= place {
            self.packets.resize(place + 1, None);
        }
        self.packets[place] = sent;
    }

    /// A packet takes this place that no host has sent.
    pub(crate) fn clear(&mut self, place: usize) {
        if let Some(sent) = self.packets.get_mut(place) {
            *sent = None;
        }
    }

    /// A copy or a part of a packet takes a place.
    pub(crate) fn copy(&mut self, from: usize, to: usize) {
        self.put(to, self.packets.get(from).copied().flatten());
    }

    /// A packet has come to a host, and is as it was sent.
    pub(crate) fn end(&mut self, place: usize, now: Instant, host: NodeId, length: u32) {
        let sent = self.packets.get(place).copied().flatten();
        if let Some(Sent { at, key }) = sent.filter(|sent| sent.at >= self.since && sent.key.1 == host) {
            let pair = self.pair(key);
            pair.received.add(length);
            pair.delays.add(now - at);
        }
    }

    fn pair(&mut self, key: Key) -> &mut HostPair {
        let place = self.pairs.binary_search_by_key(&key, |(key, _)| *key).unwrap_or_else(|place| {
            self.pairs.insert(place, (key, HostPair::default()));
            place
        });
        &mut self.pairs[place].1
    }

    /// Forgets what was counted. What is under way is not counted any more.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.since = now;
        self.pairs.clear();
    }

    pub(crate) fn all(&self) -> &[(Key, HostPair)] {
        &self.pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE_TO_TWO: (NodeId, NodeId) = (NodeId(1), NodeId(2));

    fn millis(count: u64) -> Instant {
        Instant::from_millis(count)
    }

    fn only(pairs: &HostPairs) -> HostPair {
        let [(ONE_TO_TWO, pair)] = pairs.all() else { panic!("one pair: {:?}", pairs.all()) };
        *pair
    }

    #[test]
    fn delays_are_averaged_and_so_is_how_much_each_differs_from_the_one_before() {
        let mut pairs = HostPairs::new(Instant::START);
        for (place, (sent, arrived)) in [(0, 30), (10, 20), (20, 70)].into_iter().enumerate() {
            pairs.begin(place, millis(sent), ONE_TO_TWO, 100);
            pairs.end(place, millis(arrived), NodeId(2), 100);
        }
        // 30, 10 and 50 ms.
        let delays = only(&pairs).delays;
        assert_eq!(delays.mean_s(), Some(0.03));
        assert_eq!(delays.change_mean_s(), Some(0.03));
        let [least, first, most] = [10, 30, 50].map(Duration::from_millis);
        assert_eq!(delays.first_and_last(), Some((first, most)));
        assert_eq!(delays.least_and_most(), Some((least, most)));
    }

    #[test]
    fn of_nothing_there_is_no_mean_and_of_one_delay_no_change() {
        let mut delays = Delays::default();
        assert_eq!((delays.mean_s(), delays.change_mean_s()), (None, None));
        delays.add(Duration::from_millis(5));
        assert_eq!((delays.mean_s(), delays.change_mean_s()), (Some(0.005), None));
    }

    #[test]
    fn what_somebody_else_gets_or_a_router_sends_is_not_received() {
        let mut pairs = HostPairs::new(Instant::START);
        pairs.begin(7, millis(0), ONE_TO_TWO, 100);
        pairs.end(7, millis(1), NodeId(3), 100);
        pairs.clear(7);
        pairs.end(7, millis(2), NodeId(2), 100);
        assert_eq!(only(&pairs).sent, PacketCount { packets: 1, bytes: 100 });
        assert_eq!(only(&pairs).received, PacketCount::default());
    }

    #[test]
    fn a_copy_arrives_as_the_packet_that_it_was_made_of() {
        let mut pairs = HostPairs::new(Instant::START);
        pairs.begin(0, millis(0), ONE_TO_TWO, 100);
        pairs.copy(0, 9);
        pairs.end(9, millis(5), NodeId(2), 60);
        assert_eq!(only(&pairs).received, PacketCount { packets: 1, bytes: 60 });
    }

    #[test]
    fn what_was_sent_before_a_restart_counts_neither_as_sent_nor_as_received() {
        let mut pairs = HostPairs::new(Instant::START);
        pairs.begin(0, millis(0), ONE_TO_TWO, 100);
        pairs.restart(millis(1));
        pairs.begin(1, millis(1), ONE_TO_TWO, 100);
        pairs.end(0, millis(5), NodeId(2), 100);
        pairs.end(1, millis(6), NodeId(2), 100);
        let pair = only(&pairs);
        assert_eq!((pair.sent.packets, pair.received.packets), (1, 1));
        assert_eq!(pair.delays.mean_s(), Some(0.005));
    }
}
