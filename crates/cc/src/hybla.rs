//! TCP Hybla (Caini, Firrincieli 2004): a window that grows in time as that of a connection with a round trip of 25 ms
//! does, however long its own is.
//!
//! With rho the ratio of the two round trips, slow start adds `2^rho - 1` segments for each that is acknowledged and
//! congestion avoidance `rho^2 / cwnd`, so that it is the rate that grows as the reference's, not the window. What so
//! large steps would send at once is paced, as the paper asks: a window in a round trip, of which the least is taken: a
//! smoothed one stays as long as a fade has made it until something has been sent once again. A loss halves the window,
//! as NewReno's. There is no threshold before the first loss unless the transport sets one: HyStart++ or the loss ends
//! slow start.
//!
//! Beyond the paper, rho is at most 24 and a segment adds two in slow start at most: over a geostationary satellite
//! `2^rho - 1` would add four million for the first. From two on the window triples each round.

use slantpath_base::{DataRate, Duration};

use crate::control::{Acknowledged, Congestion, CongestionControl, LossEvent, Sent, TimedOut};
use crate::delivery::rate_of;
use crate::slow_start::{Arrival, Departure, Opening, SlowStart, Verdict};
use crate::terms::{Selectable, Terms};

/// RTT0: the round trip of the reference connection.
const REFERENCE: Duration = Duration::from_millis(25);
/// The greatest rho: 600 ms against 25.
const GREATEST_RATIO: u64 = 24 * UNIT;
/// rho in eighths, as Linux counts it.
const UNIT: u64 = 8;
/// Greatest addition of one acknowledged segment in slow start, in segments.
const GREATEST_STEP: u64 = 2;
/// 2^rho - 1 in parts of `STEP_UNIT`, for rho of 1, 9/8 and so on; what follows is more than the greatest step.
const STEPS: [u64; 5] = [256, 302, 353, 408, 468];
const STEP_UNIT: u64 = 256;

/// The choices of one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HyblaConfig {
    /// The longest segment, as the transport counts bytes. Not zero.
    pub segment_bytes: u64,
    /// The window before the first acknowledgement.
    pub initial_cwnd_bytes: u64,
    /// The slow start threshold before the first loss; `None` is arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
    /// cwnd never exceeds this.
    pub max_cwnd_bytes: u64,
    /// Rule by which the first slow start ends.
    pub slow_start: SlowStart,
}

/// cwnd and ssthresh of one path under Hybla.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hybla {
    config: HyblaConfig,
    cwnd: u64,
    ssthresh: u64,
    opening: Opening,
    /// Acknowledged bytes times rho squared that have not made a segment yet.
    counted: u128,
    least_round_trip: Option<Duration>,
    round_trip: Option<Duration>,
}

impl Hybla {
    /// A controller before any transmission.
    ///
    /// # Panics
    /// If a segment has no bytes.
    pub fn new(config: HyblaConfig) -> Self {
        assert!(config.segment_bytes > 0, "a segment carries at least one byte");
        Self {
            config,
            cwnd: config.initial_cwnd_bytes.max(config.segment_bytes).min(config.max_cwnd_bytes),
            ssthresh: config.initial_ssthresh_bytes.unwrap_or(u64::MAX),
            opening: Opening::new(config.slow_start, Departure::Paced),
            counted: 0,
            least_round_trip: None,
            round_trip: None,
        }
    }

    /// rho in eighths: never less than one, since a shorter path is no worse than the reference.
    fn ratio(&self) -> u64 {
        let round_trip = self.least_round_trip.unwrap_or(REFERENCE);
        (round_trip.as_nanos() / (REFERENCE.as_nanos() / UNIT)).clamp(UNIT, GREATEST_RATIO)
    }

    /// By how much so many acknowledged bytes open the window in slow start.
    fn slow_start_step(&self, bytes: u64) -> u64 {
        let segment = self.config.segment_bytes;
        let plain = self.opening.growth(bytes, segment, bytes.min(2 * segment));
        let eighths = usize::try_from(self.ratio() - UNIT).expect("a ratio has its bound");
        let times = STEPS.get(eighths).copied().unwrap_or(GREATEST_STEP * STEP_UNIT);
        plain.saturating_mul(times) / STEP_UNIT
    }

    fn avoid(&mut self, bytes: u64) {
        let segment = u128::from(self.config.segment_bytes);
        let ratio = u128::from(self.ratio());
        // A window of acknowledged bytes adds rho squared segments.
        self.counted += u128::from(bytes) * ratio * ratio;
        let each = u128::from(self.cwnd) * u128::from(UNIT * UNIT);
        if self.counted >= each {
            let steps = self.counted / each;
            self.counted -= steps * each;
            // At most a window more in a round trip, as slow start.
            let grown = (steps * segment).min(u128::from(bytes));
            self.grow(u64::try_from(grown).expect("no more than was acknowledged"));
        }
    }

    fn grow(&mut self, bytes: u64) {
        self.cwnd = self.cwnd.saturating_add(bytes).min(self.config.max_cwnd_bytes);
    }

    fn reduce(&mut self, in_flight: u64) {
        self.opening.end();
        self.ssthresh = (in_flight.min(self.cwnd) / 2).max(2 * self.config.segment_bytes);
        self.counted = 0;
    }
}

impl Selectable for Hybla {
    fn on(terms: &Terms) -> Self {
        let &Terms {
            segment_bytes,
            initial_cwnd_bytes,
            initial_ssthresh_bytes,
            max_cwnd_bytes,
            slow_start,
            ..
        } = terms;
        Self::new(HyblaConfig {
            segment_bytes,
            initial_cwnd_bytes,
            initial_ssthresh_bytes,
            max_cwnd_bytes,
            slow_start,
        })
    }
}

impl CongestionControl for Hybla {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        // What is repeated after a fade measures no round trip (Karn), and at the smoothed one from before, which
        // counts what was reported late, too little would be in flight for the window to grow.
        let round_trip = self.least_round_trip.or(self.round_trip)?;
        // A quarter more than the window in a round trip, twice as much in slow start, so that the window limits.
        let quarters = if self.cwnd < self.ssthresh { 8 } else { 5 };
        Some(rate_of(self.cwnd.saturating_mul(quarters) / 4, round_trip))
    }

    fn send_quantum(&self) -> u64 {
        2 * self.config.segment_bytes
    }

    fn on_sent(&mut self, _: Sent) {}

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        self.round_trip = acknowledged.smoothed_round_trip.or(acknowledged.round_trip).or(self.round_trip);
        if let Some(round_trip) = acknowledged.round_trip {
            self.least_round_trip =
                Some(self.least_round_trip.map_or(round_trip, |least| least.min(round_trip)));
        }
        if acknowledged.is_recovering || acknowledged.bytes == 0 {
            return;
        }
        let is_full = acknowledged.in_flight_before + 2 * self.config.segment_bytes > self.cwnd;
        if self.cwnd < self.ssthresh {
            if is_full || acknowledged.in_flight_before >= self.cwnd / 2 {
                self.grow(self.slow_start_step(acknowledged.bytes));
            }
            if self.opening.observe(Arrival::of(acknowledged), self.cwnd, self.config.segment_bytes)
                == Verdict::Over
            {
                self.ssthresh = self.cwnd;
            }
        } else if is_full || acknowledged.in_flight_before >= self.cwnd / 4 * 3 {
            self.avoid(acknowledged.bytes);
        }
    }

    fn on_lost(&mut self, congestion: Congestion) {
        self.reduce(congestion.in_flight);
        self.cwnd = self.ssthresh;
    }

    fn on_timed_out(&mut self, timed_out: TimedOut) {
        if timed_out.loss == LossEvent::New {
            self.reduce(timed_out.in_flight);
        }
        self.cwnd = self.config.segment_bytes;
    }

    fn on_marked(&mut self, congestion: Congestion) {
        self.on_lost(congestion);
    }

    fn on_idle(&mut self, _: u64) {
        self.cwnd = self.cwnd.min(self.config.initial_cwnd_bytes.max(self.config.segment_bytes));
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        self.cwnd = self.cwnd.min(at_most);
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.config.segment_bytes = segment_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{play, steps};
    use proptest::prelude::*;
    use slantpath_base::Instant;

    const CONFIG: HyblaConfig = HyblaConfig {
        segment_bytes: 1_000,
        initial_cwnd_bytes: 10_000,
        initial_ssthresh_bytes: None,
        max_cwnd_bytes: 1 << 24,
        slow_start: SlowStart::Standard,
    };

    fn acknowledged(bytes: u64, in_flight: u64, round_trip_ms: u64) -> Acknowledged {
        let round_trip = Some(Duration::from_millis(round_trip_ms));
        Acknowledged { round_trip, ..Acknowledged::of(Instant::START, bytes, in_flight) }
    }

    /// By how many segments a window of 100 acknowledged segments opens in congestion avoidance.
    fn opened_by_a_window(round_trip_ms: u64) -> u64 {
        let mut hybla = Hybla::new(HyblaConfig {
            initial_cwnd_bytes: 100_000,
            initial_ssthresh_bytes: Some(2_000),
            ..CONFIG
        });
        // One segment more sets the ratio.
        for _ in 0..100 {
            hybla.on_acknowledged(&acknowledged(1_000, 1 << 30, round_trip_ms));
        }
        (hybla.cwnd() - 100_000) / 1_000
    }

    #[test]
    fn a_window_opens_by_the_square_of_the_ratio_in_a_round_trip_and_no_more_than_doubles() {
        // The window grows while it is acknowledged, so that the last segments count for less.
        assert_eq!([1, 25, 50, 100, 250].map(opened_by_a_window), [1, 1, 3, 14, 73]);
    }

    #[test]
    fn slow_start_adds_one_segment_for_each_up_to_the_reference_and_two_beyond() {
        let step = |round_trip_ms| {
            let mut hybla = Hybla::new(CONFIG);
            hybla.on_acknowledged(&acknowledged(1_000, 10_000, round_trip_ms));
            hybla.cwnd() - 10_000
        };
        assert_eq!([10, 25, 50, 560].map(step), [1_000, 1_000, 2_000, 2_000]);
        // 2^rho - 1 with rho of 9/8, 5/4, 11/8, 3/2 and 13/8.
        assert_eq!([29, 32, 35, 38, 41].map(step), [1_179, 1_378, 1_593, 1_828, 2_000]);
    }

    #[test]
    fn a_loss_halves_the_window_and_a_timeout_leaves_a_segment() {
        let mut hybla = Hybla::new(CONFIG);
        hybla.on_lost(Congestion { in_flight: 8_000 });
        assert_eq!((hybla.cwnd(), hybla.ssthresh()), (4_000, 4_000));
        hybla.on_timed_out(TimedOut { in_flight: 4_000, loss: LossEvent::Known });
        assert_eq!((hybla.cwnd(), hybla.ssthresh()), (1_000, 4_000));
        hybla.on_timed_out(TimedOut { in_flight: 9_000, loss: LossEvent::New });
        assert_eq!(hybla.ssthresh(), 2_000);
    }

    #[test]
    fn it_is_paced_at_a_quarter_more_than_the_window_in_a_round_trip() {
        let mut hybla = Hybla::new(HyblaConfig { initial_ssthresh_bytes: Some(2_000), ..CONFIG });
        assert_eq!(hybla.pacing_rate(), None);
        hybla.on_acknowledged(&acknowledged(0, 10_000, 100));
        assert_eq!(hybla.pacing_rate(), Some(DataRate::from_bits_per_sec(1_000_000)));
    }

    #[test]
    fn a_round_trip_that_was_long_once_does_not_slow_the_pace() {
        let mut hybla = Hybla::new(HyblaConfig { initial_ssthresh_bytes: Some(2_000), ..CONFIG });
        for millis in [100, 4_800] {
            let smoothed_round_trip = Some(Duration::from_millis(millis));
            hybla.on_acknowledged(&Acknowledged { smoothed_round_trip, ..acknowledged(0, 10_000, millis) });
            assert_eq!(hybla.pacing_rate(), Some(DataRate::from_bits_per_sec(1_000_000)), "{millis}");
        }
    }

    /// A window of so many bytes, with such a threshold, that found so much in flight when 1,000 bytes arrived.
    fn after_one(cwnd: u64, ssthresh: Option<u64>, in_flight: u64) -> Hybla {
        let initial = HyblaConfig { initial_cwnd_bytes: cwnd, initial_ssthresh_bytes: ssthresh, ..CONFIG };
        let mut hybla = Hybla::new(initial);
        hybla.on_acknowledged(&acknowledged(1_000, in_flight, 25));
        hybla
    }

    #[test]
    fn a_window_grows_if_half_of_it_is_used_in_slow_start_and_three_quarters_afterwards() {
        let grown = |cwnd, in_flight| after_one(cwnd, None, in_flight).cwnd() - cwnd;
        assert_eq!([4_999, 5_000].map(|in_flight| grown(10_000, in_flight)), [0, 1_000]);
        // Or if two segments more would not fit.
        assert_eq!([1_000, 1_001].map(|in_flight| grown(3_000, in_flight)), [0, 1_000]);
        let counts = |cwnd, in_flight| after_one(cwnd, Some(2_000), in_flight).counted > 0;
        assert_eq!([7_499, 7_500].map(|in_flight| counts(10_000, in_flight)), [false, true]);
        assert_eq!([1_000, 1_001].map(|in_flight| counts(3_000, in_flight)), [false, true]);
    }

    #[test]
    fn slow_start_ends_where_the_window_is_the_threshold() {
        let hybla = after_one(10_000, Some(10_000), 10_000);
        assert_eq!((hybla.cwnd(), hybla.ssthresh(), hybla.counted), (10_000, 10_000, 64_000));
        assert_eq!(after_one(10_000, None, 10_000).ssthresh(), u64::MAX);
    }

    #[test]
    fn an_acknowledgement_of_many_segments_counts_for_two_in_slow_start_and_for_what_it_is_worth_afterwards()
    {
        let mut hybla = Hybla::new(CONFIG);
        hybla.on_acknowledged(&acknowledged(5_000, 10_000, 25));
        assert_eq!(hybla.cwnd(), 12_000);
        hybla = Hybla::new(HyblaConfig { initial_ssthresh_bytes: Some(2_000), ..CONFIG });
        hybla.on_acknowledged(&acknowledged(10_000, 10_000, 25));
        assert_eq!((hybla.cwnd(), hybla.counted), (11_000, 0));
    }

    #[test]
    fn nothing_grows_while_a_loss_is_repaired() {
        let mut hybla = Hybla::new(CONFIG);
        hybla.on_acknowledged(&Acknowledged { is_recovering: true, ..acknowledged(1_000, 10_000, 25) });
        assert_eq!(hybla.cwnd(), 10_000);
    }

    #[test]
    fn twice_the_window_is_paced_in_slow_start() {
        let rate = |ssthresh| {
            let mut hybla = Hybla::new(HyblaConfig { initial_ssthresh_bytes: ssthresh, ..CONFIG });
            hybla.on_acknowledged(&acknowledged(0, 10_000, 100));
            hybla.pacing_rate().map(DataRate::as_bits_per_sec)
        };
        assert_eq!([None, Some(10_000)].map(rate), [Some(1_600_000), Some(1_000_000)]);
    }

    #[test]
    fn marks_pauses_limits_and_segments_change_the_window_as_they_do_newrenos() {
        let mut hybla = Hybla::new(HyblaConfig { initial_ssthresh_bytes: Some(2_000), ..CONFIG });
        hybla.cwnd = 40_000;
        hybla.on_marked(Congestion { in_flight: 40_000 });
        assert_eq!((hybla.cwnd(), hybla.ssthresh()), (20_000, 20_000));
        hybla.limit_cwnd(15_000);
        assert_eq!(hybla.cwnd(), 15_000);
        hybla.on_idle(1);
        assert_eq!((hybla.cwnd(), hybla.send_quantum()), (10_000, 2_000));
        hybla.set_segment_bytes(1_500);
        assert_eq!(hybla.send_quantum(), 3_000);
    }

    proptest! {
        #[test]
        fn no_history_takes_the_window_out_of_its_bounds(history in steps()) {
            play(&mut Hybla::new(CONFIG), &history, 1_000, 1 << 24);
        }
    }
}
