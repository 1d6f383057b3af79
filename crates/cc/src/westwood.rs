//! TCP Westwood+ (Mascolo, Casetti, Gerla, Sanadidi, Wang 2001; Grieco, Mascolo 2004): a loss leaves what the path has
//! been seen to carry, and not half of what was in flight.
//!
//! Once a round trip, the bytes that arrived since the last time are a sample of the bandwidth, and a low-pass filter
//! smooths it. A loss leaves the threshold BWE * RTTmin: what the path holds at that bandwidth without a queue. So a
//! random loss costs little, since acknowledgements return as fast as before it. A larger window falls to the
//! threshold, as in 2001. In 2004 and in Linux a smaller one rises to it as well; here it stays, lest a loss let a
//! burst out. After a timeout it is one segment. In between the window grows as NewReno's, as far as it is filled.
//!
//! The constants are those of Linux (`net/ipv4/tcp_westwood.c`): a sample takes 50 ms at least, and the filter keeps
//! seven eighths of what it had. It filters once, as the papers do; Linux has two such filters in a row. As there, the
//! least round trip is measured anew after a timeout, since the path may be another one by then.

use slantpath_base::{DataRate, Duration, Instant};

use crate::control::{Acknowledged, Congestion, CongestionControl, LossEvent, Sent, TimedOut};
use crate::delivery::rate_of;
use crate::new_reno::{InitialWindow, NewReno, NewRenoConfig, UnusedWindow};
use crate::terms::{Selectable, Terms};

/// The least time of a sample: acknowledgements of less come in trains, and say little of the rate.
const LEAST_SAMPLE: Duration = Duration::from_millis(50);
/// Part of the bandwidth that a sample makes.
const WEIGHT: u64 = 8;

/// cwnd and ssthresh of one path under Westwood+.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Westwood {
    reno: NewReno,
    segment_bytes: u64,
    /// BWE, from the first sample on.
    bandwidth: Option<DataRate>,
    /// Begin of the sample at hand, and the bytes that had been delivered by then.
    sample_since: Option<(Instant, u64)>,
    round_trip: Option<Duration>,
    /// RTTmin, which the next round trip replaces after a timeout.
    least_round_trip: Option<Duration>,
    is_least_of_before: bool,
}

impl Westwood {
    /// A controller before any transmission, whose window grows by these choices.
    ///
    /// # Panics
    /// If a segment has no bytes.
    pub fn new(config: NewRenoConfig) -> Self {
        Self {
            reno: NewReno::new(config),
            segment_bytes: config.mss_bytes.into(),
            bandwidth: None,
            sample_since: None,
            round_trip: None,
            least_round_trip: None,
            is_least_of_before: false,
        }
    }

    fn measure_round_trip(&mut self, round_trip: Duration) {
        self.round_trip = Some(round_trip);
        let known = self.least_round_trip.filter(|_| !self.is_least_of_before);
        self.least_round_trip = Some(known.map_or(round_trip, |least| least.min(round_trip)));
        self.is_least_of_before = false;
    }

    fn measure_bandwidth(&mut self, now: Instant, delivered: u64) {
        let &mut (since, before) = self.sample_since.get_or_insert((now, delivered));
        let elapsed = now.saturating_since(since);
        let Some(round_trip) = self.round_trip else { return };
        if elapsed <= round_trip.max(LEAST_SAMPLE) {
            return;
        }
        let sample = rate_of(delivered.saturating_sub(before), elapsed);
        self.bandwidth = Some(self.bandwidth.map_or(sample, |bandwidth| filtered(bandwidth, sample)));
        self.sample_since = Some((now, delivered));
    }

    /// The window to which a loss leads: BWE * RTTmin, of two segments at least. `None` before both are known.
    fn held_by_path(&self) -> Option<u64> {
        let held = self.bandwidth?.size_in(self.least_round_trip?).as_bytes();
        Some(held.max(2 * self.segment_bytes))
    }
}

/// The bandwidth after one more sample.
fn filtered(bandwidth: DataRate, sample: DataRate) -> DataRate {
    let [bandwidth, sample] = [bandwidth, sample].map(|rate| u128::from(rate.as_bits_per_sec()));
    let mean = (bandwidth * u128::from(WEIGHT - 1) + sample) / u128::from(WEIGHT);
    DataRate::from_bits_per_sec(u64::try_from(mean).expect("a mean is no more than the greater"))
}

impl Selectable for Westwood {
    fn on(terms: &Terms) -> Self {
        Self::new(NewRenoConfig {
            mss_bytes: u32::try_from(terms.segment_bytes).expect("a segment is shorter than 4 GiB"),
            initial_window: InitialWindow::Bytes(terms.initial_cwnd_bytes),
            initial_ssthresh_bytes: terms.initial_ssthresh_bytes,
            slow_start: terms.slow_start,
            byte_counting_limit: u32::try_from(terms.byte_counting_limit).unwrap_or(u32::MAX),
            avoidance_increase: terms.avoidance_increase,
            unused_window: UnusedWindow::Hold,
            window_limit_bytes: u64::MAX,
            max_cwnd_bytes: terms.max_cwnd_bytes,
        })
    }
}

impl CongestionControl for Westwood {
    fn cwnd(&self) -> u64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn on_sent(&mut self, sent: Sent) {
        self.reno.on_sent(sent);
    }

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        if let Some(round_trip) = acknowledged.round_trip {
            self.measure_round_trip(round_trip);
        }
        // What arrives while a loss is repaired shows the bandwidth as well as anything.
        self.measure_bandwidth(acknowledged.now, acknowledged.counts.delivered);
        self.reno.on_acknowledged(acknowledged);
    }

    fn on_lost(&mut self, congestion: Congestion) {
        let cwnd = self.reno.cwnd();
        self.reno.on_lost(congestion);
        if let Some(threshold) = self.held_by_path() {
            self.reno.resume_at(threshold, cwnd.min(threshold));
        }
    }

    fn on_timed_out(&mut self, timed_out: TimedOut) {
        self.reno.on_timed_out(timed_out);
        if timed_out.loss == LossEvent::New
            && let Some(threshold) = self.held_by_path()
        {
            self.reno.resume_at(threshold, self.reno.cwnd());
        }
        self.is_least_of_before = true;
    }

    fn on_marked(&mut self, congestion: Congestion) {
        self.on_lost(congestion);
    }

    fn on_idle(&mut self, timeouts: u64) {
        self.reno.on_idle(timeouts);
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        self.reno.limit_cwnd(at_most);
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.segment_bytes = segment_bytes;
        self.reno.set_segment_bytes(segment_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::Counts;
    use crate::history::{play, steps};
    use crate::new_reno::AvoidanceIncrease;
    use crate::slow_start::SlowStart;
    use crate::terms::tests::TERMS;
    use proptest::prelude::*;

    /// A path whose acknowledgements come at given instants.
    struct Path {
        westwood: Westwood,
        delivered: u64,
    }

    impl Path {
        fn new() -> Self {
            Self { westwood: Westwood::on(&TERMS), delivered: 0 }
        }

        /// So many bytes are acknowledged at so many milliseconds, with such a round trip, while nothing more is sent.
        fn acknowledge(&mut self, at_ms: u64, bytes: u64, round_trip_ms: Option<u64>) {
            self.delivered += bytes;
            let counts = Counts { delivered: self.delivered, newly_delivered: bytes, ..Counts::default() };
            let round_trip = round_trip_ms.map(Duration::from_millis);
            let acknowledged = Acknowledged::of(Instant::from_millis(at_ms), bytes, 0);
            self.westwood.on_acknowledged(&Acknowledged { round_trip, counts, ..acknowledged });
        }

        fn bandwidth(&self) -> Option<u64> {
            self.westwood.bandwidth.map(DataRate::as_bits_per_sec)
        }

        fn windows(&self) -> (u64, u64) {
            (self.westwood.cwnd(), self.westwood.ssthresh())
        }
    }

    /// A path that carries 800 kbit/s over 100 ms: it holds 10,000 bytes.
    fn measured() -> Path {
        let mut path = Path::new();
        for millis in 0..=11 {
            path.acknowledge(millis * 10, 1_000, Some(100));
        }
        path
    }

    #[test]
    fn a_sample_is_what_arrives_in_more_than_a_round_trip_and_the_first_fills_the_filter() {
        let mut path = Path::new();
        path.acknowledge(0, 1_000, Some(100));
        path.acknowledge(60, 4_000, Some(100));
        path.acknowledge(100, 4_000, Some(100));
        assert_eq!(path.bandwidth(), None, "a round trip has not passed");
        // 10,000 bytes in 101 ms.
        path.acknowledge(101, 2_000, Some(100));
        assert_eq!(path.bandwidth(), Some(792_079));
        // 5,000 bytes in 125 ms are 320 kbit/s, of which an eighth counts.
        path.acknowledge(226, 5_000, Some(100));
        assert_eq!(path.bandwidth(), Some((792_079 * 7 + 320_000) / 8));
    }

    #[test]
    fn a_sample_of_a_short_path_takes_fifty_milliseconds() {
        let mut path = Path::new();
        path.acknowledge(0, 1_000, Some(5));
        path.acknowledge(50, 9_000, Some(5));
        assert_eq!(path.bandwidth(), None);
        path.acknowledge(51, 1_200, Some(5));
        assert_eq!(path.bandwidth(), Some(1_600_000));
    }

    #[test]
    fn without_a_round_trip_there_is_no_sample() {
        let mut path = Path::new();
        path.acknowledge(0, 1_000, None);
        path.acknowledge(900, 1_000, None);
        assert_eq!(path.bandwidth(), None);
        path.westwood.on_lost(Congestion { in_flight: 8_000 });
        assert_eq!(path.windows(), (4_000, 4_000), "half of what was in flight");
    }

    #[test]
    fn a_loss_leaves_what_the_path_holds_and_no_more_than_the_window() {
        let mut path = measured();
        assert_eq!(path.bandwidth(), Some(800_000));
        path.westwood.reno.resume_at(2_000, 24_000);
        path.westwood.on_lost(Congestion { in_flight: 24_000 });
        assert_eq!(path.windows(), (10_000, 10_000));
        path.westwood.limit_cwnd(6_000);
        path.westwood.on_marked(Congestion { in_flight: 6_000 });
        assert_eq!(path.windows(), (6_000, 10_000));
    }

    #[test]
    fn a_loss_on_a_path_that_holds_next_to_nothing_leaves_two_segments() {
        let mut path = Path::new();
        path.acknowledge(0, 1_000, Some(10));
        path.acknowledge(200, 1_000, Some(10));
        path.westwood.on_lost(Congestion { in_flight: 10_000 });
        assert_eq!(path.windows(), (2_000, 2_000));
        path.westwood.set_segment_bytes(400);
        path.westwood.on_lost(Congestion { in_flight: 10_000 });
        assert_eq!(path.windows(), (800, 800), "two of the new length");
    }

    #[test]
    fn a_window_grows_on_the_terms_of_the_transport() {
        let terms = Terms {
            initial_ssthresh_bytes: Some(7_000),
            max_cwnd_bytes: 9_000,
            slow_start: SlowStart::HyStartPlusPlus,
            byte_counting_limit: 2,
            avoidance_increase: AvoidanceIncrease::PerAck,
            ..TERMS
        };
        let expected = NewReno::new(NewRenoConfig {
            initial_window: InitialWindow::Bytes(10_000),
            initial_ssthresh_bytes: Some(7_000),
            max_cwnd_bytes: 9_000,
            slow_start: SlowStart::HyStartPlusPlus,
            byte_counting_limit: 2,
            avoidance_increase: AvoidanceIncrease::PerAck,
            unused_window: UnusedWindow::Hold,
            ..NewRenoConfig::new(1_000)
        });
        assert_eq!(Westwood::on(&terms).reno, expected);
    }

    #[test]
    fn a_timeout_leaves_a_segment_and_the_threshold_of_a_loss_that_is_new() {
        let mut path = measured();
        path.westwood.on_timed_out(TimedOut { in_flight: 3_000, loss: LossEvent::New });
        assert_eq!(path.windows(), (1_000, 10_000));
        path.westwood.bandwidth = Some(DataRate::from_bits_per_sec(400_000));
        path.westwood.on_timed_out(TimedOut { in_flight: 1_000, loss: LossEvent::Known });
        assert_eq!(path.windows(), (1_000, 10_000));
    }

    #[test]
    fn after_a_timeout_the_least_round_trip_is_measured_anew() {
        let mut path = measured();
        let least = |path: &Path| path.westwood.least_round_trip.map(Duration::as_millis);
        path.acknowledge(111, 0, Some(140));
        assert_eq!(least(&path), Some(100));
        path.westwood.on_timed_out(TimedOut { in_flight: 3_000, loss: LossEvent::Known });
        assert_eq!(least(&path), Some(100), "it counts until there is another");
        path.acknowledge(112, 0, Some(140));
        path.acknowledge(113, 0, Some(150));
        assert_eq!(least(&path), Some(140));
    }

    #[test]
    fn what_arrives_while_a_loss_is_repaired_counts_for_the_bandwidth_and_opens_nothing() {
        let mut path = measured();
        let counts = Counts { delivered: path.delivered + 4_000, ..Counts::default() };
        let acknowledged = Acknowledged::of(Instant::from_millis(310), 4_000, 10_000);
        path.westwood.on_acknowledged(&Acknowledged { is_recovering: true, counts, ..acknowledged });
        // 4,000 bytes in 200 ms.
        assert_eq!(path.bandwidth(), Some((800_000 * 7 + 160_000) / 8));
        assert_eq!(path.windows(), (10_000, u64::MAX));
    }

    #[test]
    fn it_grows_as_new_reno_does_and_rests_as_new_reno_does() {
        let mut westwood = Westwood::on(&TERMS);
        let mut reno = NewReno::new(NewRenoConfig {
            initial_window: InitialWindow::Bytes(10_000),
            unused_window: UnusedWindow::Hold,
            ..NewRenoConfig::new(1_000)
        });
        for controller in [&mut westwood as &mut dyn CongestionControl, &mut reno] {
            controller.on_timed_out(TimedOut { in_flight: 30_000, loss: LossEvent::New });
        }
        for millis in 0..200 {
            let acknowledged = Acknowledged::of(Instant::from_millis(millis), 1_000, reno.cwnd());
            westwood.on_acknowledged(&acknowledged);
            reno.on_acknowledged(&acknowledged);
            assert_eq!((westwood.cwnd(), westwood.ssthresh()), (reno.cwnd(), reno.ssthresh()));
        }
        assert_eq!(westwood.cwnd(), 24_000);
        westwood.set_segment_bytes(500);
        westwood.on_idle(1);
        assert_eq!(westwood.cwnd(), 10_000);
        westwood.on_lost(Congestion { in_flight: 1_000 });
        assert_eq!(westwood.cwnd(), 1_000, "two segments of the new length");
    }

    proptest! {
        #[test]
        fn no_history_takes_the_window_out_of_its_bounds(history in steps()) {
            play(&mut Westwood::on(&TERMS), &history, 1_000, 1 << 24);
        }

        #[test]
        fn the_bandwidth_stays_among_its_samples(samples in proptest::collection::vec(any::<u64>(), 1..40)) {
            let rates: Vec<DataRate> = samples.iter().copied().map(DataRate::from_bits_per_sec).collect();
            let last = rates.iter().copied().reduce(filtered).expect("there is one");
            let (least, most) = (samples.iter().min().unwrap(), samples.iter().max().unwrap());
            prop_assert!((*least..=*most).contains(&last.as_bits_per_sec()));
        }
    }
}
