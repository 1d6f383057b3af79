use super::*;
use crate::control::LossEvent;
use crate::delivery::{DeliveryMeter, Departure};
use crate::history::{play, steps};
use proptest::prelude::*;

const SEGMENT: u64 = 1_000;
const CONFIG: BbrConfig =
    BbrConfig { segment_bytes: SEGMENT, initial_cwnd_bytes: 10 * SEGMENT, max_cwnd_bytes: 1 << 24 };

/// A path whose rounds are of one acknowledgement each.
struct Path {
    bbr: Bbr3,
    meter: DeliveryMeter,
    now: u64,
}

impl Path {
    fn new() -> Self {
        Self { bbr: Bbr3::new(CONFIG), meter: DeliveryMeter::default(), now: 1_000 }
    }

    /// What leaves now with so many segments in flight.
    fn depart(&mut self, in_flight: u64) -> Departure {
        self.meter.depart(Instant::from_millis(self.now), true, in_flight * SEGMENT)
    }

    /// A round trip of so many milliseconds in which so many segments arrive; so many are in flight afterwards.
    fn round(&mut self, segments: u64, millis: u64, in_flight_after: u64) {
        let departure = self.depart(segments);
        self.arrive(&departure, segments, millis, in_flight_after);
    }

    fn arrive(&mut self, departure: &Departure, segments: u64, millis: u64, in_flight_after: u64) {
        self.now += millis;
        self.meter.deliver(segments * SEGMENT, departure);
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

    fn lose(&mut self, segments: u64, departure: &Departure) {
        for _ in 0..segments {
            self.bbr.on_segment_lost(&self.meter.lose(SEGMENT, departure));
        }
    }

    /// Cruising with a product of 100 segments.
    fn cruising() -> Self {
        let mut path = Self::new();
        for segments in [10, 30, 90, 100, 100, 100] {
            path.round(segments, 100, segments);
        }
        assert_eq!(path.bbr.state, State::Cruise, "nothing waited to be drained");
        path
    }

    /// Until a state begins, with a product of 100 segments.
    fn until(&mut self, state: State) {
        for _ in 0..100 {
            if self.bbr.state == state {
                return;
            }
            let in_flight = if matches!(self.bbr.state, State::ProbeRtt(_)) { 50 } else { 100 };
            self.round(100, 100, in_flight);
        }
        panic!("it stays in {:?}", self.bbr.state);
    }
}

#[test]
fn startup_ends_after_three_rounds_that_bring_less_than_a_quarter_more_and_drain_with_the_queue() {
    let mut path = Path::new();
    for segments in [10, 20, 40, 50, 60, 61] {
        path.round(segments, 100, 200);
        assert_eq!(path.bbr.state, State::Startup);
    }
    path.round(62, 100, 200);
    assert!(matches!(path.bbr.state, State::Drain { .. }));
    // Half of 62 segments a round trip, less a hundredth part.
    assert_eq!(path.bbr.pacing_rate(), Some(DataRate::from_bits_per_sec(2_455_200)));
    path.round(62, 100, 63);
    assert!(matches!(path.bbr.state, State::Drain { .. }));
    path.round(62, 100, 62);
    assert_eq!(path.bbr.state, State::Cruise);
}

#[test]
fn drain_lasts_three_rounds_at_most() {
    let mut path = Path::new();
    for segments in [10, 30, 60, 60, 60, 60] {
        path.round(segments, 100, 200);
    }
    for _ in 0..4 {
        assert!(matches!(path.bbr.state, State::Drain { .. }));
        path.round(60, 100, 200);
    }
    assert_eq!(path.bbr.state, State::Down);
}

#[test]
fn a_probe_comes_after_two_to_three_seconds_refills_for_a_round_and_ends_when_the_rate_does_not_grow() {
    let mut path = Path::cruising();
    let began = path.bbr.probe.since;
    path.until(State::Refill);
    let waited = Instant::from_millis(path.now).saturating_since(began);
    assert!(waited > PROBE_TIME && waited <= PROBE_TIME + Duration::from_millis(1_100), "{waited:?}");
    path.round(100, 100, 100);
    assert_eq!((path.bbr.state, path.bbr.gains()), (State::Up, (125, 225)));
    for _ in 0..2 {
        path.round(110, 110, 110);
        assert_eq!(path.bbr.state, State::Up);
    }
    path.round(110, 110, 110);
    assert_eq!((path.bbr.state, path.bbr.gains()), (State::Down, (90, 200)));
    assert_eq!(path.bbr.long_term, u64::MAX, "nothing was lost");
}

#[test]
fn a_probe_that_loses_more_than_a_fiftieth_part_sets_the_bound_and_the_next_one_only_goes_up_to_it() {
    let mut path = Path::cruising();
    path.until(State::Up);
    let departure = path.depart(200);
    path.lose(4, &departure);
    assert_eq!(path.bbr.state, State::Up, "4 of 200 are a fiftieth part");
    path.lose(1, &departure);
    assert_eq!((path.bbr.state, path.bbr.long_term), (State::Down, 199 * SEGMENT));
    assert_eq!(path.bbr.probe.last, LastProbe::TooHigh);
    // Headroom of 15 %.
    assert_eq!(path.bbr.with_headroom(), 169_150);
    path.until(State::Up);
    path.round(110, 100, 199);
    assert_eq!(path.bbr.state, State::Down);
    // A round without loss, and the next probe follows at once, without that precaution.
    path.round(100, 100, 100);
    assert_eq!((path.bbr.state, path.bbr.probe.last), (State::Refill, LastProbe::Unbounded));
}

#[test]
fn a_loss_outside_of_a_probe_lowers_the_rate_to_what_is_delivered_and_by_three_tenths_at_most() {
    let lowered_by = |segments: u64| {
        let mut path = Path::cruising();
        // The round that ends with the first loss was as fast as those before it.
        for _ in 0..2 {
            let departure = path.depart(100);
            path.lose(1, &departure);
            path.arrive(&departure, segments, 100, 80);
        }
        (path.bbr.model.rate() / 80_000, path.bbr.model.short_term_in_flight / SEGMENT)
    };
    assert_eq!([98, 90, 20].map(|segments| lowered_by(segments).0), [98, 90, 70]);
    // Twice three tenths of the window, which aggregation had made 300 segments.
    assert_eq!(lowered_by(20).1, 147);
}

#[test]
fn what_was_in_flight_when_losses_crossed_the_threshold_is_found_within_the_segment() {
    // 2 % of 100,000 are 2,000: with 1,500 lost before, 510 of this one cross it.
    assert_eq!(model::in_flight_at_loss(110_000, 11_500, 10_000), 100_000 + 510);
    assert_eq!(model::in_flight_at_loss(110_000, 15_000, 10_000), 100_000);
}

#[test]
fn probe_rtt_halves_what_is_in_flight_for_200_ms_every_five_seconds() {
    let mut path = Path::cruising();
    let seen = Instant::from_millis(1_100);
    while !matches!(path.bbr.state, State::ProbeRtt(_)) && path.now < 9_000 {
        path.round(110, 110, 100);
    }
    let waited = Instant::from_millis(path.now).saturating_since(seen);
    assert!(waited > Duration::from_secs(5) && waited <= Duration::from_millis(5_110), "{waited:?}");
    assert_eq!(path.bbr.cwnd(), 50 * SEGMENT);
    for _ in 0..2 {
        path.round(50, 100, 50);
        assert!(matches!(path.bbr.state, State::ProbeRtt(Dip::Held { .. })));
    }
    path.round(50, 101, 50);
    path.round(50, 100, 50);
    assert_eq!(path.bbr.state, State::Cruise);
    assert_eq!(path.bbr.model.rate(), 8_000_000, "what arrived in the dip says nothing");
}

#[test]
fn what_a_spurious_loss_has_bounded_is_given_back() {
    let mut path = Path::cruising();
    path.until(State::Up);
    let departure = path.depart(200);
    path.lose(5, &departure);
    path.bbr.on_lost(Congestion { in_flight: 200 * SEGMENT });
    assert_eq!(path.bbr.state, State::Down);
    path.bbr.on_spurious(Instant::from_millis(path.now));
    assert_eq!((path.bbr.state, path.bbr.long_term), (State::Refill, u64::MAX));
}

#[test]
fn a_timeout_leaves_one_segment_and_its_end_the_window_before_it() {
    let mut path = Path::cruising();
    let cwnd = path.bbr.cwnd();
    path.bbr.on_timed_out(TimedOut { in_flight: 100 * SEGMENT, loss: LossEvent::New });
    assert_eq!(path.bbr.cwnd(), SEGMENT);
    path.bbr.on_recovered(Instant::from_millis(path.now));
    assert_eq!(path.bbr.cwnd(), cwnd);
}

proptest! {
    #[test]
    fn no_history_takes_the_window_out_of_its_bounds(history in steps()) {
        play(&mut Bbr3::new(CONFIG), &history, SEGMENT, 1 << 24);
    }
}
