//! One direction between two protocol objects.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_base::{DataRate, DataSize, Duration, Instant, Probability, Stream};

use crate::Mangle;

/// Faults of a wire: each befalls a packet by chance and on its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireFaults {
    /// Time that every packet takes.
    pub delay: Duration,
    /// The chance to vanish.
    pub loss: Probability,
    /// The chance to arrive twice; the copy takes its own time.
    pub duplication: Probability,
    /// The chance to take longer, so that later packets overtake.
    pub reordering: Probability,
    /// By how much longer at most; less is as likely.
    pub extra_delay_max: Duration,
    /// The chance to arrive with one flipped bit.
    pub corruption: Probability,
}

impl WireFaults {
    /// A wire that only takes its time.
    pub const fn none(delay: Duration) -> Self {
        Self {
            delay,
            loss: Probability::NEVER,
            duplication: Probability::NEVER,
            reordering: Probability::NEVER,
            extra_delay_max: Duration::ZERO,
            corruption: Probability::NEVER,
        }
    }
}

/// Bottleneck that sends one packet after the other, behind a queue that drops a packet for which it has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bottleneck {
    /// Rate at which packets are sent.
    pub rate: DataRate,
    /// Largest amount of data that is queued, with the packet that is being sent.
    pub queue: DataSize,
}

/// One direction between two protocol objects, carrying packets of type `T`.
#[derive(Clone, Debug)]
pub struct Wire<T> {
    faults: WireFaults,
    bottleneck: Option<Bottleneck>,
    /// Instant at which everything that has entered the bottleneck will have been sent.
    idle_from: Instant,
    /// Packets that found its queue full.
    dropped: u64,
    /// Packets that went through it, and how long they waited together until they were sent.
    waited: (u64, Duration),
    stream: Stream,
    state: State,
    /// By arrival, then by order of sending.
    under_way: BTreeMap<(Instant, u64), T>,
    sent: u64,
    to_lose: BTreeSet<u64>,
    entered: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Cut,
    Whole,
}

impl<T: Mangle> Wire<T> {
    /// A wire whose faults are drawn from `stream`.
    pub const fn new(faults: WireFaults, stream: Stream) -> Self {
        Self {
            faults,
            bottleneck: None,
            idle_from: Instant::START,
            dropped: 0,
            waited: (0, Duration::ZERO),
            stream,
            state: State::Whole,
            under_way: BTreeMap::new(),
            sent: 0,
            to_lose: BTreeSet::new(),
            entered: 0,
        }
    }

    /// Other faults from now on; what is under way keeps its own.
    pub fn set_faults(&mut self, faults: WireFaults) {
        self.faults = faults;
    }

    /// Puts a bottleneck in front of the wire.
    pub fn narrow(&mut self, bottleneck: Bottleneck) {
        self.bottleneck = Some(bottleneck);
    }

    /// Loses what is sent from now on. What is under way still arrives.
    pub fn cut(&mut self) {
        self.state = State::Cut;
    }

    /// Carries again what is sent from now on.
    pub fn mend(&mut self) {
        self.state = State::Whole;
    }

    /// Loses the packet that is sent as number `ordinal`, counted from zero over the whole life of the wire.
    pub fn lose(&mut self, ordinal: u64) {
        self.to_lose.insert(ordinal);
    }

    /// Number of packets sent, whatever became of them: the ordinal of the next.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Number of packets that found the queue of the bottleneck full.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Mean time that a packet waited in the queue of the bottleneck, of those that it did not drop.
    pub fn mean_wait(&self) -> Duration {
        let (packets, time) = self.waited;
        time / packets.max(1)
    }

    /// Sends a packet.
    pub fn send(&mut self, now: Instant, mut packet: T) {
        let ordinal = self.sent;
        self.sent += 1;
        let is_lost = self.stream.happens(self.faults.loss);
        if self.to_lose.remove(&ordinal) || self.state == State::Cut || is_lost {
            return;
        }
        if self.stream.happens(self.faults.duplication) {
            let copy = packet.clone();
            self.enter(now, copy);
        }
        if self.stream.happens(self.faults.corruption) && packet.bits() > 0 {
            let bit = self.stream.below(packet.bits());
            packet.flip(bit);
        }
        self.enter(now, packet);
    }

    fn enter(&mut self, now: Instant, packet: T) {
        let Some(departure) = self.departure(now, &packet) else { return };
        let extra = if self.stream.happens(self.faults.reordering) {
            self.stream.duration_between(Duration::ZERO, self.faults.extra_delay_max)
        } else {
            Duration::ZERO
        };
        self.under_way.insert((departure + self.faults.delay + extra, self.entered), packet);
        self.entered += 1;
    }

    /// Instant at which the last bit of a packet leaves the bottleneck, unless the queue is full.
    fn departure(&mut self, now: Instant, packet: &T) -> Option<Instant> {
        let Some(Bottleneck { rate, queue }) = self.bottleneck else { return Some(now) };
        let size = DataSize::from_bytes(packet.bits() / 8);
        let starts = self.idle_from.max(now);
        let wait = starts.saturating_since(now);
        let waiting = rate.size_in(wait);
        if waiting.as_bytes() + size.as_bytes() > queue.as_bytes() {
            self.dropped += 1;
            return None;
        }
        self.waited = (self.waited.0 + 1, self.waited.1 + wait);
        self.idle_from = starts + rate.time_to_send(size);
        Some(self.idle_from)
    }

    /// Instant at which the next packet arrives, if one does.
    pub fn next_arrival(&self) -> Option<Instant> {
        self.under_way.keys().next().map(|&(arrival, _)| arrival)
    }

    /// The next packet that has arrived by `now`.
    pub fn receive(&mut self, now: Instant) -> Option<T> {
        let first = self.under_way.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// Tells if nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Seed;

    const DELAY: Duration = Duration::from_millis(10);

    fn wire(faults: WireFaults) -> Wire<Vec<u8>> {
        Wire::new(faults, Seed::new(1, 0).stream("wire"))
    }

    fn half() -> Probability {
        Probability::new(0.5).unwrap()
    }

    /// Sends a packet a millisecond, a byte 0, 1, … each, and collects what arrives, when.
    fn carried(wire: &mut Wire<Vec<u8>>, packets: u8) -> Vec<(Instant, u8)> {
        for number in 0..packets {
            wire.send(Instant::from_millis(number.into()), vec![number]);
        }
        let mut carried = Vec::new();
        while let Some(now) = wire.next_arrival() {
            while let Some(packet) = wire.receive(now) {
                carried.push((now, packet[0]));
            }
        }
        carried
    }

    #[test]
    fn a_wire_without_faults_only_takes_its_time() {
        let mut wire = wire(WireFaults::none(DELAY));
        let expected: Vec<_> = (0..5_u8).map(|n| (Instant::from_millis(10 + u64::from(n)), n)).collect();
        assert_eq!(carried(&mut wire, 5), expected);
        assert!(wire.is_empty());
    }

    #[test]
    fn a_chosen_packet_is_lost_and_no_other() {
        let mut wire = wire(WireFaults::none(DELAY));
        wire.lose(2);
        let numbers: Vec<u8> = carried(&mut wire, 5).into_iter().map(|(_, number)| number).collect();
        assert_eq!(numbers, [0, 1, 3, 4]);
    }

    #[test]
    fn a_cut_wire_delivers_what_was_under_way() {
        let mut wire = wire(WireFaults::none(DELAY));
        wire.send(Instant::START, vec![1]);
        wire.cut();
        wire.send(Instant::START, vec![2]);
        wire.mend();
        wire.send(Instant::START, vec![3]);
        let now = Instant::START + DELAY;
        assert_eq!(
            [wire.receive(now), wire.receive(now), wire.receive(now)],
            [Some(vec![1]), Some(vec![3]), None]
        );
    }

    #[test]
    fn a_bottleneck_sends_one_after_the_other_and_drops_what_does_not_fit() {
        let mut wire = wire(WireFaults::none(DELAY));
        // A packet of one byte takes 4 ms, and less than four may wait.
        let rate = DataRate::from_bits_per_sec(2_000);
        wire.narrow(Bottleneck { rate, queue: DataSize::from_bytes(3) });
        let at = |millis| Instant::from_millis(millis);
        let expected = vec![(at(14), 0), (at(18), 1), (at(22), 2), (at(26), 3), (at(30), 5), (at(34), 9)];
        assert_eq!((carried(&mut wire, 10), wire.dropped()), (expected, 4));
        // They waited 0, 3, 6, 9, 11 and 11 ms.
        assert_eq!(wire.mean_wait(), Duration::from_micros(40_000) / 6);
    }

    #[test]
    fn faults_happen_and_happen_alike_for_one_seed() {
        let faults = WireFaults {
            delay: DELAY,
            loss: half(),
            duplication: half(),
            reordering: half(),
            extra_delay_max: DELAY,
            corruption: half(),
        };
        let once = carried(&mut wire(faults), 200);
        assert_eq!(once, carried(&mut wire(faults), 200));
        let numbers: Vec<u8> = once.iter().map(|&(_, number)| number).collect();
        assert!(numbers.len() > 100 && numbers.len() < 200, "half are lost, half of the rest doubled");
        assert!(!numbers.is_sorted());
    }

    #[test]
    fn corruption_flips_one_bit() {
        let mut wire = wire(WireFaults { corruption: Probability::ALWAYS, ..WireFaults::none(DELAY) });
        wire.send(Instant::START, vec![0; 20]);
        let packet = wire.receive(Instant::START + DELAY).unwrap();
        assert_eq!(packet.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    }
}
