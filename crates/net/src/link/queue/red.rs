//! Random early detection: drops before a queue is full, so that senders slow down one by one.
//!
//! After S. Floyd and V. Jacobson: Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM
//! Transactions on Networking 1(4), 1993. The average queue decides, an exponentially weighted one over
//! arrivals; between two thresholds the chance to be dropped grows linearly, and the distance from one drop to
//! the next is uniform instead of geometric.
//!
//! Packets may be told apart by their drop precedence (RFC 2597). With *weighted* RED each precedence has its
//! thresholds over one average. With *RIO-C* (D. Clark and W. Fang: Explicit Allocation of Best-Effort Packet
//! Delivery Service, IEEE/ACM Transactions on Networking 6(4), 1998; *coupled*, since the averages overlap)
//! each also has an average of its own, of the packets that wait with its precedence or a lower one.

use std::collections::VecDeque;

use slantpath_base::{Instant, Probability, Seed, Stream};

use crate::link::admission::{CongestionSignal, QueueLimit, Waiting};
use crate::link::counters::DropReason;
use crate::link::service::Service;
use crate::parcel::Parcel;

/// A queue that drops early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Limit of what may be queued whatever the average.
    pub limit: QueueLimit,
    /// In which unit queues and thresholds are measured.
    pub measure: QueueMeasure,
    /// Assignment of thresholds to packets.
    pub precedence: Precedence,
    /// The weight of the queue that an arrival sees in the average: in 0..=1.
    pub weight: f64,
    /// The length of a typical packet. So many of them as could have been sent while the transmitter was idle
    /// are taken to have met an empty queue. Where queues are measured in bytes, longer packets are dropped as
    /// much more often than it.
    pub typical_bytes: u32,
    /// Treatment of packets from the upper threshold on.
    pub beyond_max: BeyondMax,
    /// Treatment of a packet that is chosen below the upper threshold. From there on it is dropped in any case.
    pub signal: CongestionSignal,
}

/// The unit of a queue's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueMeasure {
    /// In bytes, from the IP header on.
    Bytes,
    /// In packets.
    Packets,
}

/// Assignment of thresholds to packets. There are three drop precedences, the lowest first: those of the assured
/// forwarding classes (RFC 2597). What has no class is dropped first if it is best effort (DSCP 0), and last if it is
/// anything else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Precedence {
    /// Each has its own, and an average of the packets that wait with its precedence or a lower one: RIO-C.
    Coupled([RedThresholds; 3]),
    /// All have the same: RED.
    Ignored(RedThresholds),
    /// Each has its own over one average: WRED.
    Weighted([RedThresholds; 3]),
}

/// Averages at which early drops begin and end, in the unit of the [measure](RedConfig::measure).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedThresholds {
    /// From this average on packets are dropped early.
    pub min: u64,
    /// From this average on all of them; more than `min`.
    pub max: u64,
    /// The chance to be dropped just below `max`.
    pub max_probability: Probability,
}

/// Treatment of packets while the average is at the upper threshold or above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeyondMax {
    /// Every packet is dropped, as published.
    Drop,
    /// The chance to be dropped grows on, to one at twice the threshold ("gentle", S. Floyd, 2000).
    Gentle,
}

/// A [`RedConfig`] with its averages.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    config: RedConfig,
    stream: Stream,
    /// By precedence; only that of the highest unless they are coupled.
    averages: [f64; LEVELS],
    /// Packets that came since the last one was dropped or marked.
    since_drop: [u64; LEVELS],
    /// Queued packets by precedence, if the averages are coupled.
    shares: Shares,
}

const LEVELS: usize = 3;
const HIGHEST: usize = LEVELS - 1;

/// Treatment of a packet at an average.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Zone {
    Early(f64),
    Forced,
    Pass,
}

impl Red {
    /// One that draws from a stream of its own named after `path`.
    pub(crate) fn of(config: RedConfig, seed: Seed, path: &str) -> Self {
        Self::new(config, seed.stream(&format!("{path}/red")))
    }

    fn new(config: RedConfig, stream: Stream) -> Self {
        Self { config, stream, averages: [0.0; LEVELS], since_drop: [0; LEVELS], shares: Shares::default() }
    }

    /// Returns a packet as it joins what waits, or says why it may not.
    pub(crate) fn admit(
        &mut self,
        now: Instant,
        mut parcel: Parcel,
        waiting: Waiting,
        service: &Service,
    ) -> Result<Parcel, DropReason> {
        let level = drop_precedence(parcel.traffic_class());
        self.update_averages(now, level, waiting, service);
        let (thresholds, average) = match &self.config.precedence {
            Precedence::Coupled(levels) => (levels[level], self.averages[level]),
            Precedence::Ignored(thresholds) => (*thresholds, self.averages[HIGHEST]),
            Precedence::Weighted(levels) => (levels[level], self.averages[HIGHEST]),
        };
        let counted = if matches!(self.config.precedence, Precedence::Ignored(_)) { HIGHEST } else { level };
        match zone(thresholds, self.config.beyond_max, average) {
            Zone::Early(probability) if self.chooses_early(counted, probability, parcel.length()) => {
                //= https://www.rfc-editor.org/rfc/rfc3168#section-7
                //# During periods where the average queue size exceeds an upper threshold, and
                //# therefore the potential packet marking rate would be high, our
                //# recommendation is that routers drop packets rather then set the CE
                //# codepoint in packet headers.
                let signal =
                    if average < thresholds.max as f64 { self.config.signal } else { CongestionSignal::Drop };
                parcel = signal.mark(parcel).ok_or(DropReason::Early)?;
            }
            Zone::Early(_) => {}
            Zone::Forced => {
                self.since_drop[counted] = 0;
                return Err(DropReason::Forced);
            }
            Zone::Pass => self.since_drop[counted] = 0,
        }
        if waiting.is_idle() || self.config.limit.admits(waiting.packets, waiting.bytes, parcel.length()) {
            self.readmit(waiting.start, parcel);
            Ok(parcel)
        } else {
            Err(DropReason::QueueFull)
        }
    }

    /// Notes a packet that has been admitted and will be sent from `start` on.
    pub(crate) fn readmit(&mut self, start: Instant, parcel: Parcel) {
        if matches!(self.config.precedence, Precedence::Coupled(_)) {
            self.shares.add(start, drop_precedence(parcel.traffic_class()), parcel.length());
        }
    }

    /// Of what waits until it is [told](Self::readmit) otherwise, the first packet leaves.
    pub(crate) fn note_departure(&mut self) {
        self.shares.advance_one();
    }

    /// Forgets what waits, for it to be [admitted](Self::readmit) anew.
    pub(crate) fn forget_waiting(&mut self) {
        self.shares = Shares::default();
    }

    fn update_averages(&mut self, now: Instant, level: usize, waiting: Waiting, service: &Service) {
        if let Some(idle_since) = waiting.idle_since {
            let typical = service.time_to_send(self.config.typical_bytes).as_nanos().max(1);
            let unseen = now.saturating_since(idle_since).as_nanos() / typical;
            let decay = libm::pow(1.0 - self.config.weight, unseen as f64);
            self.averages = self.averages.map(|average| average * decay);
        }
        let measure = |packets: u64, bytes: u64| match self.config.measure {
            QueueMeasure::Bytes => bytes as f64,
            QueueMeasure::Packets => packets as f64,
        };
        let weight = self.config.weight;
        if matches!(self.config.precedence, Precedence::Coupled(_)) {
            self.shares.advance(now);
            for level in level..LEVELS {
                let (packets, bytes) = self.shares.up_to(level);
                let average = &mut self.averages[level];
                *average += weight * (measure(packets, bytes) - *average);
            }
        } else {
            let average = &mut self.averages[HIGHEST];
            *average += weight * (measure(waiting.packets, waiting.bytes) - *average);
        }
    }

    /// Draws whether a packet is dropped or marked whose chance would be `probability` on its own. With `n` packets
    /// since the last one the chance is p / (1 − n p): so the distance between them is uniform in 1..=1/p (the paper's
    /// method 2).
    fn chooses_early(&mut self, level: usize, probability: f64, length: u32) -> bool {
        let probability = match self.config.measure {
            QueueMeasure::Bytes => {
                probability * f64::from(length) / f64::from(self.config.typical_bytes.max(1))
            }
            QueueMeasure::Packets => probability,
        };
        let left = 1.0 - self.since_drop[level] as f64 * probability;
        let is_chosen = self.stream.uniform() * left < probability;
        self.since_drop[level] = if is_chosen { 0 } else { self.since_drop[level] + 1 };
        is_chosen
    }
}

fn zone(thresholds: RedThresholds, beyond_max: BeyondMax, average: f64) -> Zone {
    let RedThresholds { min, max, max_probability } = thresholds;
    let (min, max, max_probability) = (min as f64, max as f64, max_probability.as_f64());
    if average < min {
        Zone::Pass
    } else if average < max {
        Zone::Early(max_probability * (average - min) / (max - min))
    } else if beyond_max == BeyondMax::Gentle && average < 2.0 * max {
        Zone::Early(max_probability + (1.0 - max_probability) * (average - max) / max)
    } else {
        Zone::Forced
    }
}

//= https://www.rfc-editor.org/rfc/rfc2597#section-6
//# The RECOMMENDED values of the AF codepoints are as follows: AF11 = '
//# 001010', AF12 = '001100', AF13 = '001110', AF21 = '010010', AF22 = '
//# 010100', AF23 = '010110', AF31 = '011010', AF32 = '011100', AF33 = '
//# 011110', AF41 = '100010', AF42 = '100100', and AF43 = '100110'.
fn drop_precedence(traffic_class: u8) -> usize {
    let dscp = traffic_class >> 2;
    match (dscp >> 3, dscp & 7) {
        (0, 0) | (1..=4, 6) => 2,
        (1..=4, 4) => 1,
        _ => 0,
    }
}

/// Number of packets and bytes queued of each precedence, in a queue whose packets are sent in the order in which they
/// came.
#[derive(Clone, Debug, Default)]
struct Shares {
    /// Start of transmission, precedence and length of each packet.
    waiting: VecDeque<(Instant, usize, u32)>,
    packets: [u64; LEVELS],
    bytes: [u64; LEVELS],
}

impl Shares {
    fn add(&mut self, start: Instant, level: usize, length: u32) {
        self.waiting.push_back((start, level, length));
        self.packets[level] += 1;
        self.bytes[level] += u64::from(length);
    }

    fn advance(&mut self, now: Instant) {
        while self.waiting.front().is_some_and(|(start, ..)| *start <= now) {
            self.advance_one();
        }
    }

    fn advance_one(&mut self) {
        if let Some((_, level, length)) = self.waiting.pop_front() {
            self.packets[level] -= 1;
            self.bytes[level] -= u64::from(length);
        }
    }

    /// Packets and bytes of a precedence and of those below it.
    fn up_to(&self, level: usize) -> (u64, u64) {
        (self.packets[..=level].iter().sum(), self.bytes[..=level].iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::PacketStore;
    use crate::parcel::DestinationId;
    use slantpath_base::DataRate;
    use slantpath_wire::{Checksum, Packet};

    const AF11: u8 = 10 << 2;
    const AF12: u8 = 12 << 2;
    const BEST_EFFORT: u8 = 0;

    fn thresholds(min: u64, max: u64, max_probability: f64) -> RedThresholds {
        RedThresholds { min, max, max_probability: Probability::new(max_probability).unwrap() }
    }

    fn config(precedence: Precedence) -> RedConfig {
        RedConfig {
            limit: QueueLimit::Packets(1_000),
            measure: QueueMeasure::Packets,
            precedence,
            weight: 0.002,
            typical_bytes: 1_000,
            beyond_max: BeyondMax::Drop,
            signal: CongestionSignal::Drop,
        }
    }

    fn red(config: RedConfig) -> Red {
        Red::new(config, Seed::new(1, 0).stream("links/wire/forward/queue"))
    }

    fn parcel(length: u32, traffic_class: u8) -> Parcel {
        let packet = PacketStore::default().insert(Packet::copied(&[], Checksum::Complete));
        Parcel::new(packet, DestinationId(0), length, 64, traffic_class)
    }

    /// 1,000 bytes take a millisecond.
    fn service() -> Service {
        Service::new(DataRate::from_bits_per_sec(8_000_000), 0)
    }

    fn busy(packets: u64) -> Waiting {
        Waiting { packets, bytes: 1_000 * packets, idle_since: None, start: Instant::FAR_FUTURE }
    }

    /// The numbers of packets that came from one drop to the next, as long as the queue stays as it is.
    fn distances(red: &mut Red, waiting: Waiting, parcel: Parcel, drops: usize) -> Vec<usize> {
        let mut distances = Vec::new();
        let mut since = 0;
        while distances.len() < drops {
            since += 1;
            match red.admit(Instant::START, parcel, waiting, &service()) {
                Ok(admitted) => assert_eq!(admitted, parcel),
                Err(reason) => {
                    assert_eq!(reason, DropReason::Early);
                    distances.push(since);
                    since = 0;
                }
            }
        }
        distances
    }

    #[test]
    fn the_distance_between_drops_is_uniform_up_to_one_over_the_probability() {
        // Half way between the thresholds the chance is 0.05: distances of 1 to 20.
        let mut red = red(config(Precedence::Ignored(thresholds(5, 15, 0.1))));
        red.averages[HIGHEST] = 10.0;
        let distances = distances(&mut red, busy(10), parcel(1_000, BEST_EFFORT), 20_000);
        let mut counts = [0_u32; 20];
        for distance in distances {
            counts[distance - 1] += 1;
        }
        // Each of 20 in 20,000 draws: 1,000 on average, with a standard deviation of 31.
        for (distance, count) in (1..).zip(counts) {
            assert!((877..=1_123).contains(&count), "{count} distances of {distance}");
        }
        let chi_squared: f64 =
            counts.iter().map(|&count| (f64::from(count) - 1_000.0).powi(2) / 1_000.0).sum();
        // The 99.9 % point with 19 degrees of freedom.
        assert!(chi_squared < 43.8, "{chi_squared}");
    }

    #[test]
    fn the_average_of_a_burst_is_that_of_the_papers_equation() {
        // Section IV: after a burst of L packets into an empty queue the average is
        // L + 1 + ((1 − w)^(L + 1) − 1) / w.
        let mut red = red(config(Precedence::Ignored(thresholds(50, 150, 0.1))));
        let burst = 100;
        for packets in 1..=burst {
            let offered = parcel(1_000, BEST_EFFORT);
            assert_eq!(red.admit(Instant::START, offered, busy(packets), &service()), Ok(offered));
        }
        let (w, l) = (0.002, burst as f64);
        let exact = l + 1.0 + (libm::pow(1.0 - w, l + 1.0) - 1.0) / w;
        assert!((red.averages[HIGHEST] - exact).abs() < 1e-9, "{} is not {exact}", red.averages[HIGHEST]);
    }

    #[test]
    fn an_idle_transmitter_lets_the_average_fall_by_the_packets_that_it_could_have_sent() {
        let mut red = red(config(Precedence::Ignored(thresholds(50, 150, 0.1))));
        red.averages[HIGHEST] = 40.0;
        let now = Instant::from_millis(350);
        let idle = Waiting { packets: 0, bytes: 0, idle_since: Some(Instant::from_millis(100)), start: now };
        let offered = parcel(1_000, BEST_EFFORT);
        assert_eq!(red.admit(now, offered, idle, &service()), Ok(offered));
        // 250 packets of 1 ms, and the one that came, met an empty queue.
        let exact = 40.0 * 0.998_f64.powi(251);
        assert!((red.averages[HIGHEST] - exact).abs() < 1e-9, "{} is not {exact}", red.averages[HIGHEST]);
    }

    #[test]
    fn from_the_upper_threshold_on_all_packets_are_dropped_or_ever_more() {
        let (lower, upper) = (thresholds(5, 15, 0.125), BeyondMax::Drop);
        assert_eq!(zone(lower, upper, 4.999), Zone::Pass);
        assert_eq!(zone(lower, upper, 5.0), Zone::Early(0.0));
        assert_eq!(zone(lower, upper, 12.5), Zone::Early(0.093_75));
        assert_eq!(zone(lower, upper, 15.0), Zone::Forced);
        assert_eq!(zone(lower, BeyondMax::Gentle, 15.0), Zone::Early(0.125));
        assert_eq!(zone(lower, BeyondMax::Gentle, 22.5), Zone::Early(0.5625));
        assert_eq!(zone(lower, BeyondMax::Gentle, 30.0), Zone::Forced);
    }

    #[test]
    fn a_full_queue_and_a_high_average_have_names_of_their_own() {
        let limited = RedConfig {
            limit: QueueLimit::Packets(20),
            ..config(Precedence::Ignored(thresholds(5, 15, 0.1)))
        };
        let mut red = red(limited);
        let offered = parcel(1_000, BEST_EFFORT);
        assert_eq!(red.admit(Instant::START, offered, busy(19), &service()), Ok(offered));
        assert_eq!(red.admit(Instant::START, offered, busy(20), &service()), Err(DropReason::QueueFull));
        red.averages[HIGHEST] = 15.5;
        assert_eq!(red.admit(Instant::START, offered, busy(19), &service()), Err(DropReason::Forced));
    }

    #[test]
    fn measured_in_bytes_long_packets_are_dropped_as_much_more_often() {
        let bytes = RedConfig {
            measure: QueueMeasure::Bytes,
            ..config(Precedence::Ignored(thresholds(5_000, 15_000, 0.1)))
        };
        for (length, mean) in [(1_000, 10.5), (250, 40.5)] {
            let mut red = red(bytes);
            red.averages[HIGHEST] = 10_000.0;
            let distances = distances(&mut red, busy(10), parcel(length, BEST_EFFORT), 20_000);
            // Uniform in 1..=n: the mean is (n + 1) / 2, its deviation over 20,000 draws below 1 % of it.
            let found = distances.iter().sum::<usize>() as f64 / 20_000.0;
            assert!((found - mean).abs() < 0.04 * mean, "{length} bytes: {found} is not {mean}");
        }
    }

    #[test]
    fn weighted_thresholds_share_one_average() {
        let levels = [thresholds(40, 80, 0.02), thresholds(20, 40, 0.1), thresholds(5, 20, 0.5)];
        let mut red = red(config(Precedence::Weighted(levels)));
        red.averages[HIGHEST] = 20.0;
        let mut admit = |class| red.admit(Instant::START, parcel(1_000, class), busy(20), &service());
        assert_eq!(admit(BEST_EFFORT), Err(DropReason::Forced));
        assert_eq!(admit(AF12), Ok(parcel(1_000, AF12)), "its chance starts at zero here");
        assert_eq!(admit(AF11), Ok(parcel(1_000, AF11)));
        assert_eq!(red.averages[HIGHEST], 20.0);
    }

    #[test]
    fn coupled_averages_count_what_waits_with_their_precedence_or_a_lower_one() {
        let levels = [thresholds(40, 80, 0.02), thresholds(20, 40, 0.1), thresholds(10, 20, 0.5)];
        let mut red = red(RedConfig { weight: 0.5, ..config(Precedence::Coupled(levels)) });
        let mut admit = |at: u64, class, packets, start: u64| {
            let waiting = Waiting {
                packets,
                bytes: 1_000 * packets,
                idle_since: None,
                start: Instant::from_millis(start),
            };
            red.admit(Instant::from_millis(at), parcel(1_000, class), waiting, &service())
        };
        // Two of the lowest precedence, one in the middle, and then one of the highest that sees all three.
        for (class, packets, start) in [(AF11, 0, 1), (AF11, 1, 2), (AF12, 2, 3), (BEST_EFFORT, 3, 4)] {
            assert_eq!(admit(0, class, packets, start), Ok(parcel(1_000, class)));
        }
        assert_eq!(red.averages, [0.5, 1.25, 2.125]);
        // Two of them have left: 1 and 1 with the middle one and below, 2 in all.
        let later = Waiting { packets: 2, bytes: 2_000, idle_since: None, start: Instant::from_millis(5) };
        let offered = parcel(1_000, AF12);
        assert_eq!(red.admit(Instant::from_millis(2), offered, later, &service()), Ok(offered));
        assert_eq!(red.averages, [0.5, 1.125, 2.0625]);
    }

    #[test]
    fn where_it_may_a_packet_is_marked_as_another_would_be_dropped() {
        const ECT: u8 = 2;
        let marking = RedConfig {
            signal: CongestionSignal::Mark,
            ..config(Precedence::Ignored(thresholds(5, 15, 0.1)))
        };
        // What happens to each of a row of packets at an average.
        let outcomes = |config: RedConfig, average: f64, class: u8| -> Vec<Result<u8, DropReason>> {
            let mut red = red(config);
            (0..60)
                .map(|_| {
                    red.averages[HIGHEST] = average;
                    let admitted = red.admit(Instant::START, parcel(1_000, class), busy(10), &service());
                    admitted.map(Parcel::traffic_class)
                })
                .collect()
        };
        let not_capable = outcomes(marking, 10.0, BEST_EFFORT);
        assert_eq!(
            not_capable,
            outcomes(RedConfig { signal: CongestionSignal::Drop, ..marking }, 10.0, ECT - 2)
        );
        let dropped = not_capable.iter().filter(|&&it| it == Err(DropReason::Early)).count();
        assert!(dropped >= 3, "{dropped}");
        for capable in [ECT, 1, 3] {
            let expected: Vec<_> =
                not_capable.iter().map(|it| if it.is_ok() { Ok(capable) } else { Ok(3) }).collect();
            assert_eq!(outcomes(marking, 10.0, capable), expected);
        }
        assert_eq!(outcomes(marking, 16.0, ECT), [Err(DropReason::Forced); 60]);
        let gentle = outcomes(RedConfig { beyond_max: BeyondMax::Gentle, ..marking }, 20.0, ECT);
        let dropped = gentle.iter().filter(|&&it| it == Err(DropReason::Early)).count();
        assert!(dropped >= 20 && !gentle.contains(&Ok(3)), "{gentle:?}");
    }

    #[test]
    fn a_packet_that_was_to_be_marked_is_dropped_for_want_of_room() {
        let config = RedConfig {
            signal: CongestionSignal::Mark,
            limit: QueueLimit::Packets(10),
            ..config(Precedence::Ignored(thresholds(5, 15, 1.0)))
        };
        let mut red = red(config);
        red.averages[HIGHEST] = 14.999;
        assert_eq!(
            red.admit(Instant::START, parcel(1_000, 2), busy(10), &service()),
            Err(DropReason::QueueFull)
        );
    }

    #[test]
    fn a_packets_precedence_is_that_of_assured_forwarding() {
        for class in 1..=4 {
            for precedence in 1..=3_u8 {
                let dscp = class << 3 | precedence << 1;
                assert_eq!(drop_precedence(dscp << 2), usize::from(precedence) - 1, "AF{class}{precedence}");
            }
        }
        let expedited = 46 << 2;
        assert_eq!([0, expedited, 0xe0, 3].map(drop_precedence), [2, 0, 0, 2], "ECN is no part of it");
    }

    #[test]
    fn what_waits_is_forgotten_and_admitted_anew() {
        let levels = [thresholds(40, 80, 0.02); 3];
        let mut red = red(config(Precedence::Coupled(levels)));
        for start in 1..4 {
            red.readmit(Instant::from_millis(start), parcel(1_000, AF11));
        }
        red.forget_waiting();
        red.readmit(Instant::from_millis(9), parcel(500, AF12));
        assert_eq!([0, 1, 2].map(|level| red.shares.up_to(level)), [(0, 0), (1, 500), (1, 500)]);
        red.shares.advance(Instant::from_millis(9));
        assert_eq!(red.shares.up_to(HIGHEST), (0, 0));
    }
}
