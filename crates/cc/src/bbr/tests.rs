use super::*;
use crate::control::LossEvent;
use crate::delivery::DeliveryMeter;
use crate::history::{play, steps};
use proptest::prelude::*;

const SEGMENT: u64 = 1_000;
const CONFIG: BbrConfig =
    BbrConfig { segment_bytes: SEGMENT, initial_cwnd_bytes: 10 * SEGMENT, max_cwnd_bytes: 1 << 24 };

/// A path of 1 Mbyte/s and 100 ms, whose product is 100 segments: one acknowledgement a round trip.
struct Path {
    bbr: Bbr,
    meter: DeliveryMeter,
    now: u64,
}

impl Path {
    fn new() -> Self {
        Self { bbr: Bbr::new(CONFIG), meter: DeliveryMeter::default(), now: 1_000 }
    }

    /// A round trip of so many milliseconds in which so many segments arrive; so many are in flight afterwards.
    fn round(&mut self, segments: u64, millis: u64, in_flight_after: u64) {
        let departure = self.meter.depart(Instant::from_millis(self.now), true, segments * SEGMENT);
        self.now += millis;
        self.meter.deliver(segments * SEGMENT, &departure);
        let now = Instant::from_millis(self.now);
        let round_trip = Some(Duration::from_millis(millis));
        let reading = self.meter.read(now, round_trip);
        self.bbr.on_acknowledged(&Acknowledged {
            round_trip,
            smoothed_round_trip: round_trip,
            in_flight: in_flight_after * SEGMENT,
            starts_round: reading.starts_round,
            delivery: reading.sample,
            counts: reading.counts,
            ..Acknowledged::of(now, segments * SEGMENT, segments * SEGMENT)
        });
    }

    /// In ProbeBW, with the product known.
    fn cruising() -> Self {
        let mut path = Self::new();
        for segments in [10, 30, 90, 100, 100, 100] {
            path.round(segments, 100, segments);
        }
        path
    }
}

#[test]
fn the_pipe_is_full_after_three_rounds_that_bring_less_than_a_quarter_more() {
    let mut path = Path::new();
    for segments in [10, 20, 40, 50, 60, 61] {
        path.round(segments, 100, 200);
        assert_eq!(path.bbr.mode, Mode::Startup);
    }
    // 50 are a quarter more than 40, but 60, 61 and 62 are not so much more than 50.
    path.round(62, 100, 200);
    assert_eq!(path.bbr.mode, Mode::Drain);
    // 88 / 256 of 62 segments a round trip, less a hundredth part.
    assert_eq!(path.bbr.pacing_rate(), Some(DataRate::from_bits_per_sec(1_687_950)));
    path.round(62, 100, 69);
    assert_eq!(path.bbr.mode, Mode::Drain, "62 and three quanta of two");
    path.round(62, 100, 68);
    assert!(matches!(path.bbr.mode, Mode::ProbeBw { .. }));
}

#[test]
fn startup_paces_at_the_rate_that_doubles_what_is_sent_and_never_slower_than_before() {
    let mut path = Path::new();
    assert_eq!(path.bbr.pacing_rate(), None);
    path.round(10, 100, 10);
    // 739 / 256 of 800 kbit/s, less a hundredth part.
    assert_eq!(path.bbr.pacing_rate(), Some(DataRate::from_bits_per_sec(2_286_281)));
    path.round(5, 100, 10);
    assert_eq!(path.bbr.pacing_rate(), Some(DataRate::from_bits_per_sec(2_286_281)));
}

#[test]
fn probe_bw_goes_round_eight_phases_of_a_round_trip() {
    let mut path = Path::cruising();
    while !matches!(path.bbr.mode, Mode::ProbeBw { phase: 0, .. }) {
        path.round(100, 101, 100);
    }
    // The faster phase lasts until it has brought a quarter more into flight, or a loss.
    path.round(100, 101, 100);
    assert!(matches!(path.bbr.mode, Mode::ProbeBw { phase: 0, .. }));
    let gains: Vec<_> = (0..9)
        .map(|_| {
            path.round(136, 136, 136);
            path.bbr.gains().0
        })
        .collect();
    assert_eq!(gains, [192, 256, 256, 256, 256, 256, 256, 320, 192]);
    // The slower one ends as soon as the queue is gone.
    assert_eq!(path.bbr.gains(), (192, CWND_GAIN));
    path.round(100, 90, 100);
    assert_eq!(path.bbr.gains().0, UNIT);
}

#[test]
fn probe_rtt_leaves_four_segments_for_200_ms_every_ten_seconds() {
    let mut path = Path::cruising();
    let cwnd = path.bbr.cwnd();
    let seen_at = path.bbr.least_round_trip.unwrap().1;
    while !matches!(path.bbr.mode, Mode::ProbeRtt(_)) {
        path.round(120, 120, 100);
    }
    let waited = Instant::from_millis(path.now).saturating_since(seen_at);
    assert!(waited > ROUND_TRIP_TIME && waited <= ROUND_TRIP_TIME + Duration::from_millis(120));
    assert_eq!(path.bbr.cwnd(), 4 * SEGMENT);
    path.round(4, 100, 4);
    path.round(4, 100, 4);
    assert_eq!(
        path.bbr.mode,
        Mode::ProbeRtt(Dip::Held {
            until: Instant::from_millis(path.now - 100) + PROBE_RTT_TIME,
            has_lasted_a_round: true
        })
    );
    path.round(4, 101, 4);
    assert!(matches!(path.bbr.mode, Mode::ProbeBw { .. }));
    assert!(path.bbr.cwnd() >= cwnd, "{} {cwnd}", path.bbr.cwnd());
    assert_eq!(
        path.bbr.rate(),
        DataRate::from_bits_per_sec(8_000_000),
        "what arrived in the dip says nothing"
    );
}

#[test]
fn the_greatest_rate_is_remembered_for_ten_rounds() {
    let mut path = Path::cruising();
    let mut rounds = 0;
    while path.bbr.rate() == DataRate::from_bits_per_sec(8_000_000) {
        path.round(50, 100, 50);
        rounds += 1;
    }
    assert_eq!((rounds, path.bbr.rate()), (11, DataRate::from_bits_per_sec(4_000_000)));
}

#[test]
fn a_recovery_sends_as_much_as_arrives_for_a_round_and_ends_with_the_window_before_it() {
    let mut path = Path::cruising();
    let cwnd = path.bbr.cwnd();
    let departure = path.meter.depart(Instant::from_millis(path.now), false, 100 * SEGMENT);
    path.bbr.on_segment_lost(&path.meter.lose(10 * SEGMENT, &departure));
    path.bbr.on_lost(Congestion { in_flight: 100 * SEGMENT });
    assert_eq!(path.bbr.cwnd(), 90 * SEGMENT);
    path.bbr.on_recovered(Instant::from_millis(path.now));
    assert_eq!(path.bbr.cwnd(), cwnd);
}

#[test]
fn a_timeout_leaves_one_segment_and_the_model_stays() {
    let mut path = Path::cruising();
    let rate = path.bbr.rate();
    path.bbr.on_timed_out(TimedOut { in_flight: 100 * SEGMENT, loss: LossEvent::New });
    assert_eq!((path.bbr.cwnd(), path.bbr.rate()), (SEGMENT, rate));
    path.bbr.on_spurious(Instant::from_millis(path.now));
    assert!(path.bbr.cwnd() > 200 * SEGMENT);
}

#[test]
fn a_quantum_is_a_millisecond_of_the_rate_and_two_segments_at_least_but_for_slow_paths() {
    let quantum = |megabits: u64| {
        let mut bbr = Bbr::new(CONFIG);
        bbr.pacing = Some(DataRate::from_bits_per_sec(megabits * 1_000_000));
        bbr.send_quantum()
    };
    assert_eq!([1, 10, 80, 10_000].map(quantum), [1_000, 2_000, 9_000, 65_000]);
}

proptest! {
    #[test]
    fn no_history_takes_the_window_out_of_its_bounds(history in steps()) {
        play(&mut Bbr::new(CONFIG), &history, SEGMENT, 1 << 24);
    }
}
