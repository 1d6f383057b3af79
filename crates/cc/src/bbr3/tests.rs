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

    /// Departure of a segment that leaves now with so many segments in flight.
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
    let due = path.bbr.probe.due;
    path.until(State::Refill);
    let late = Instant::from_millis(path.now).saturating_since(due);
    assert!(late > Duration::ZERO && late <= Duration::from_millis(100), "within a round: {late:?}");
    path.round(100, 100, 100);
    assert_eq!((path.bbr.state, path.bbr.gains()), (State::Up, (125, 9)));
    for _ in 0..2 {
        path.round(110, 110, 110);
        assert_eq!(path.bbr.state, State::Up);
    }
    path.round(110, 110, 110);
    assert_eq!((path.bbr.state, path.bbr.gains()), (State::Down, (90, 8)));
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
    assert_eq!(path.bbr.with_headroom, 169_150);
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
        assert!(matches!(path.bbr.state, State::ProbeRtt(ProbeRtt::Held { .. })));
    }
    path.round(50, 101, 50);
    path.round(50, 100, 50);
    assert_eq!(path.bbr.state, State::Cruise);
    assert_eq!(path.bbr.model.rate(), 8_000_000, "what arrived in ProbeRTT says nothing");
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

/// A controller without a model yet, in such a state.
fn fresh(state: State) -> Bbr3 {
    Bbr3 { state, ..Bbr3::new(CONFIG) }
}

/// One whose pipe is full, with a rate of 1 Mbyte/s and 100 ms: 100 segments.
fn full(state: State) -> Bbr3 {
    let mut bbr = Path::cruising().bbr;
    bbr.state = state;
    bbr
}

/// Acknowledgement whose newest segment was sent when 5,000 bytes had been delivered, with 10,000 in flight.
fn after_five_segments(is_application_limited: bool, lost: u64) -> Acknowledged {
    let mut meter = DeliveryMeter::default();
    let first = meter.depart(Instant::from_millis(1), true, SEGMENT);
    meter.deliver(5 * SEGMENT, &first);
    meter.read(Instant::from_millis(50), None);
    if is_application_limited {
        meter.limit_by_application(10 * SEGMENT);
    }
    let departure = meter.depart(Instant::from_millis(50), false, 10 * SEGMENT);
    meter.lose(lost, &first);
    meter.deliver(SEGMENT, &departure);
    let reading = meter.read(Instant::from_millis(150), None);
    Acknowledged {
        delivery: reading.sample,
        counts: reading.counts,
        in_flight: 7 * SEGMENT,
        ..Acknowledged::of(Instant::from_millis(150), SEGMENT, 8 * SEGMENT)
    }
}

const PROBE_RTT: State = State::ProbeRtt(ProbeRtt::Falling);
const ALL: [State; 7] = [
    State::Startup,
    State::Drain { since_round: 0 },
    State::Down,
    State::Cruise,
    State::Refill,
    State::Up,
    PROBE_RTT,
];

#[test]
fn four_states_are_the_cycle_of_probes_and_three_probe() {
    assert_eq!(ALL.map(|state| fresh(state).is_in_probe_bw()), [false, false, true, true, true, true, false]);
    assert_eq!(ALL.map(|state| fresh(state).is_probing()), [true, false, false, false, true, true, false]);
    assert_eq!(
        ALL.map(|state| fresh(state).gains()),
        [(277, 8), (50, 8), (90, 8), (100, 8), (100, 8), (125, 9), (100, 2)]
    );
}

#[test]
fn the_window_is_full_if_it_was_so_in_this_round_or_the_last_one() {
    let is_full = |was_full| Bbr3 { was_full, ..Bbr3::new(CONFIG) }.is_window_full();
    assert_eq!(
        [[false, false], [true, false], [false, true], [true, true]].map(is_full),
        [false, true, true, true]
    );
}

#[test]
fn a_window_has_room_for_three_quanta_and_two_segments_more_where_it_goes_up() {
    assert_eq!([0, 6_001].map(|bytes| fresh(State::Cruise).with_room(bytes)), [6_000, 6_001]);
    assert_eq!(fresh(State::Up).with_room(0), 8_000);
    assert_eq!(fresh(State::Up).least_window(), 4_000);
    assert_eq!([fresh(State::Startup).ssthresh(), full(State::Cruise).ssthresh()], [u64::MAX, 100_000]);
    assert_eq!([fresh(State::Startup).send_quantum(), full(State::Cruise).send_quantum()], [2_000, 2_000]);
    let mut fast = Bbr3::new(CONFIG);
    fast.set_rate(DataRate::from_bits_per_sec(80_000_000));
    assert_eq!(fast.send_quantum(), 10_000);
    fast.set_segment_bytes(6_000);
    assert_eq!(fast.send_quantum(), 12_000);
}

#[test]
fn startup_ends_with_a_round_of_recovery_that_has_lost_too_much_six_times() {
    let state = |ends_loss_round, recovery, losses_in_round, is_loss_high| {
        let mut bbr = Bbr3 { recovery, ..Bbr3::new(CONFIG) };
        bbr.model.sample.ends_loss_round = ends_loss_round;
        bbr.model.losses_in_round = losses_in_round;
        bbr.model.sample.is_loss_high = is_loss_high;
        bbr.model.latest_in_flight = 12_000;
        bbr.check_startup();
        (bbr.state, bbr.long_term)
    };
    let ended = (State::Drain { since_round: 0 }, 12_000);
    let stays = (State::Startup, u64::MAX);
    assert_eq!(state(true, Recovery::Repairing, 6, true), ended);
    assert_eq!(state(true, Recovery::Repairing, 7, true), ended);
    assert_eq!(state(false, Recovery::Repairing, 6, true), stays);
    assert_eq!(state(true, Recovery::Open, 6, true), stays);
    assert_eq!(state(true, Recovery::Repairing, 5, true), stays);
    assert_eq!(state(true, Recovery::Repairing, 6, false), stays);
}

#[test]
fn the_bound_rises_by_twice_as_much_each_round_of_a_probe() {
    let mut bbr = Bbr3 { cwnd: 80_000, ..Bbr3::new(CONFIG) };
    let slopes = [0; 8].map(|_| {
        bbr.raise_slope();
        bbr.probe.acked_per_segment
    });
    assert_eq!(slopes, [80_000, 40_000, 20_000, 10_000, 5_000, 2_500, 1_250, 1_000]);
}

#[test]
fn the_bound_rises_with_what_arrives_while_it_fills_the_window() {
    let raised = |was_full, cwnd, starts_round| {
        let mut bbr = Bbr3 { was_full: [was_full, false], cwnd, long_term: 50_000, ..Bbr3::new(CONFIG) };
        (bbr.probe.acked_per_segment, bbr.probe.up_acked) = (2_000, 500);
        bbr.model.sample.starts_round = starts_round;
        bbr.probe_upward(4_000);
        (bbr.long_term, bbr.probe.up_acked, bbr.probe.up_rounds)
    };
    assert_eq!([50_000, 60_000].map(|cwnd| raised(true, cwnd, false)), [(52_000, 500, 0); 2]);
    assert_eq!(raised(true, 50_000, true), (52_000, 500, 1));
    assert_eq!(raised(false, 50_000, false), (50_000, 500, 0));
    assert_eq!(raised(true, 49_999, false), (50_000, 500, 0));
}

#[test]
fn the_bound_is_at_least_what_was_in_flight_without_too_much_loss() {
    let bound = |state, long_term, lost| {
        let mut bbr = Bbr3 { state, long_term, was_full: [true, false], cwnd: 10_000, ..Bbr3::new(CONFIG) };
        bbr.probe.acked_per_segment = 1_000;
        assert!(!bbr.adapt_long_term(&after_five_segments(false, lost)));
        bbr.long_term
    };
    assert_eq!(bound(State::Cruise, 9_000, 200), 10_000);
    assert_eq!(bound(State::Cruise, 9_000, 201), 9_000);
    assert_eq!(bound(State::Cruise, u64::MAX, 0), u64::MAX);
    assert_eq!(bound(State::Up, 9_000, 200), 11_000);
}

#[test]
fn the_next_probe_is_due_two_to_three_seconds_after_the_last_one() {
    let waits = [1, 2, 3].map(|secs| {
        let mut bbr = Bbr3 { now: Instant::from_secs(secs), ..full(State::Up) };
        bbr.start_down();
        bbr.probe.due.saturating_since(Instant::from_secs(secs))
    });
    let longest = PROBE_TIME + Duration::from_secs(1);
    assert!(waits.iter().all(|wait| (PROBE_TIME..longest).contains(wait)), "{waits:?}");
    assert!(waits[0] != waits[1] && waits[1] != waits[2], "{waits:?}");
}

#[test]
fn the_headroom_is_a_segment_at_least_and_it_and_the_growth_of_reno_follow_how_long_that_is() {
    let mut bbr = Bbr3::new(CONFIG);
    let mut with_headroom = |long_term| {
        bbr.set_long_term(long_term);
        bbr.with_headroom
    };
    let long_terms = [100_000, 6_000, 4_500, u64::MAX - 1, u64::MAX];
    let expected = [85_000, 5_000, 4_000, (u64::MAX - 1) - (u64::MAX - 1) / 100 * 15, u64::MAX];
    assert_eq!(long_terms.map(&mut with_headroom), expected);
    with_headroom(8_000);
    bbr.set_segment_bytes(1_500);
    assert_eq!((bbr.long_term, bbr.with_headroom), (8_000, 6_500));
    bbr.count_rounds(4);
    bbr.set_segment_bytes(1_000);
    assert_eq!(bbr.probe.reno_in_flight, 5_000);
}

#[test]
fn a_probe_comes_when_a_flow_of_reno_would_have_grown_as_much() {
    let is_time = |cwnd, rounds, waited: u64| {
        let mut bbr = Bbr3 { cwnd, now: Instant::from_millis(5_000 + waited), ..full(State::Cruise) };
        bbr.probe.due = Instant::from_millis(5_000);
        bbr.count_rounds(rounds);
        bbr.is_time_to_probe()
    };
    assert_eq!([9, 10].map(|rounds| is_time(10_000, rounds, 0)), [false, true]);
    assert_eq!([62, 63].map(|rounds| is_time(90_000, rounds, 0)), [false, true]);
    assert_eq!([0, 1].map(|waited| is_time(90_000, 0, waited)), [false, true]);
}

#[test]
fn the_way_up_ends_at_the_bound_that_was_too_high_or_where_the_rate_does_not_grow() {
    let ends = |last, cwnd, is_now, was_full, long_term| {
        let mut bbr = Bbr3 { cwnd, long_term, was_full: [was_full, false], ..full(State::Up) };
        bbr.probe.last = last;
        bbr.model.pipe.is_now = is_now;
        let ends = bbr.is_time_to_go_down(&after_five_segments(false, 0), 1);
        (ends, bbr.probe.last, bbr.model.pipe.is_now)
    };
    let (high, unbounded) = (LastProbe::TooHigh, LastProbe::Unbounded);
    let precautionary = LastProbe::Precautionary { was_too_high: false };
    // 7,000 are in flight.
    assert_eq!(ends(high, 5_000, false, false, 7_000), (true, precautionary, false));
    assert_eq!(ends(high, 5_000, false, false, 7_001), (false, high, false));
    assert_eq!(ends(unbounded, 5_000, false, false, 7_000), (false, unbounded, false));
    assert_eq!(ends(high, 5_000, true, false, 9_000), (true, unbounded, true));
    // A window that the bound holds is why the rate does not grow.
    assert_eq!(ends(high, 9_000, true, true, 9_000), (false, high, false));
    assert_eq!(ends(high, 8_999, true, true, 9_000), (true, unbounded, true));
    assert_eq!(ends(high, 9_000, true, false, 9_000), (true, unbounded, true));
}

#[test]
fn the_pipe_is_refilled_until_a_round_begins() {
    let mut bbr = full(State::Refill);
    bbr.model.sample.starts_round = false;
    bbr.cycle(&after_five_segments(false, 0));
    assert_eq!(bbr.state, State::Refill);
    bbr.model.sample.starts_round = true;
    bbr.cycle(&after_five_segments(false, 0));
    assert_eq!((bbr.state, bbr.probe.acked_per_segment), (State::Up, bbr.cwnd));
}

#[test]
fn a_bound_is_seven_tenths_of_the_target_at_least() {
    let bound = |in_flight, is_limited| {
        let mut bbr = full(State::Cruise);
        bbr.bound(in_flight, is_limited);
        bbr.long_term
    };
    assert_eq!(
        [(1_000, false), (80_000, false), (1_000, true)].map(|(bytes, is)| bound(bytes, is)),
        [70_000, 80_000, u64::MAX]
    );
}

#[test]
fn probe_rtt_falls_to_half_the_product_and_marks_what_is_in_flight() {
    let probe = |in_flight, newly_delivered| {
        let mut bbr = Bbr3 { is_restarting: true, ..full(PROBE_RTT) };
        let mut acknowledged = Acknowledged { in_flight, ..after_five_segments(false, 0) };
        acknowledged.counts.newly_delivered = newly_delivered;
        bbr.check_probe_rtt(&acknowledged, false);
        (bbr.state == PROBE_RTT, bbr.limited_until, bbr.is_restarting)
    };
    assert_eq!(probe(50_001, 0), (true, 56_001, true));
    assert_eq!(probe(50_000, 1), (false, 56_000, false));
}

#[test]
fn the_round_that_probe_rtt_lasts_begins_once_it_holds() {
    let after = |before, in_flight| {
        let mut bbr = full(State::ProbeRtt(before));
        bbr.model.round_ends_at = u64::MAX;
        bbr.check_probe_rtt(&Acknowledged { in_flight, ..after_five_segments(false, 0) }, false);
        bbr.model.round_ends_at < u64::MAX
    };
    let held = ProbeRtt::Held { until: Instant::from_millis(60_000), has_lasted_a_round: false };
    assert!(!after(ProbeRtt::Falling, 50_001));
    assert!(after(ProbeRtt::Falling, 50_000));
    assert!(!after(held, 50_000));
}

#[test]
fn probe_rtt_lasts_for_a_round_however_long_that_is() {
    let after = |has_lasted_a_round, starts_round| {
        let held = State::ProbeRtt(ProbeRtt::Held { until: Instant::from_millis(1), has_lasted_a_round });
        let mut bbr = Bbr3 { now: Instant::from_millis(1_000), ..full(held) };
        bbr.model.sample.starts_round = starts_round;
        bbr.check_probe_rtt(&after_five_segments(false, 0), false);
        matches!(bbr.state, State::ProbeRtt(_))
    };
    assert_eq!(
        [(false, false), (false, true), (true, false)].map(|(has, starts)| after(has, starts)),
        [true, false, false]
    );
}

#[test]
fn probe_rtt_is_over_after_its_time() {
    let after = |nanos| {
        let until = Instant::from_millis(1_000);
        let held = State::ProbeRtt(ProbeRtt::Held { until, has_lasted_a_round: true });
        let mut bbr = Bbr3 { now: until + Duration::from_nanos(nanos), cwnd: 1, ..full(held) };
        bbr.prior_cwnd = 30_000;
        bbr.leave_probe_rtt();
        (bbr.state == State::Cruise, bbr.cwnd)
    };
    assert_eq!([0, 1].map(after), [(false, 1), (true, 30_000)]);
}

#[test]
fn the_window_to_come_back_to_is_that_before_all_recoveries_and_probes() {
    let saved = |recovery, state| {
        let mut bbr = Bbr3 { cwnd: 20_000, prior_cwnd: 50_000, recovery, ..fresh(state) };
        bbr.save_cwnd();
        bbr.prior_cwnd
    };
    assert_eq!(saved(Recovery::Open, State::Startup), 20_000);
    assert_eq!(saved(Recovery::Repairing, State::Startup), 50_000);
    assert_eq!(saved(Recovery::Open, PROBE_RTT), 50_000);
}

#[test]
fn until_the_pipe_is_full_the_pace_only_rises() {
    let paced = |bbr: Bbr3, pacing: Option<u64>| {
        let mut bbr = Bbr3 {
            pacing: pacing.map(|bits| Pacing::new(DataRate::from_bits_per_sec(bits), SEGMENT, 2 * SEGMENT)),
            paced_by: (0, 0),
            ..bbr
        };
        bbr.pace(UNIT);
        bbr.pacing_rate().map(DataRate::as_bits_per_sec)
    };
    let filling = || {
        let mut bbr = full(State::Startup);
        bbr.model.pipe.is_reached = false;
        bbr
    };
    assert_eq!(paced(full(State::Cruise), Some(9_000_000)), Some(7_920_000));
    assert_eq!(paced(full(State::Cruise), None), Some(7_920_000));
    assert_eq!(paced(filling(), Some(9_000_000)), Some(9_000_000));
    assert_eq!(paced(filling(), Some(7_000_000)), Some(7_920_000));
    assert_eq!(paced(filling(), None), None);
    let mut empty = fresh(State::Cruise);
    empty.model.pipe.is_reached = true;
    assert_eq!(paced(empty, Some(7_000_000)), Some(7_000_000));
}

#[test]
fn a_path_without_a_rate_is_paced_by_the_first_window() {
    let mut path = Path::new();
    path.round(10, 100, 10);
    // 2.77 windows in a round trip, of which the rate that was measured lacks a hundredth part.
    assert_eq!(path.bbr.pacing_rate(), Some(DataRate::from_bits_per_sec(2_216_000)));
}

#[test]
fn a_window_grows_by_what_arrives_up_to_its_target() {
    let grown = |is_reached, cwnd, delivered| {
        let mut bbr = Bbr3 { cwnd, ..Bbr3::new(CONFIG) };
        bbr.model.pipe.is_reached = is_reached;
        let mut acknowledged = after_five_segments(false, 0);
        acknowledged.counts.delivered = delivered;
        bbr.set_cwnd(&acknowledged, WINDOW_UNIT);
        bbr.cwnd()
    };
    assert_eq!([8_000, 9_500, 20_000].map(|cwnd| grown(true, cwnd, 20_000)), [9_000, 10_000, 10_000]);
    assert_eq!([9_999, 10_000].map(|cwnd| grown(false, cwnd, 20_000)), [10_999, 10_000]);
    assert_eq!([9_999, 10_000].map(|delivered| grown(false, 20_000, delivered)), [21_000, 20_000]);
    assert_eq!(grown(true, 1_000, 20_000), 4_000);
}

#[test]
fn the_window_is_full_if_less_than_a_segment_more_would_fit() {
    let is_full = |in_flight_before| {
        let mut bbr = Bbr3::new(CONFIG);
        bbr.on_sent(Sent { now: Instant::START, bytes: 2_000, in_flight_before });
        bbr.was_full
    };
    assert_eq!(
        [0, 7_000, 7_001, 9_000].map(is_full),
        [[false, false], [false, false], [false, true], [false, true]]
    );
}

#[test]
fn sending_into_an_empty_path_is_a_restart_unless_something_is_repaired() {
    let restarts = |recovery, in_flight_before| {
        let mut bbr = Bbr3 { recovery, ..full(State::Up) };
        bbr.on_sent(Sent { now: Instant::from_secs(9), bytes: SEGMENT, in_flight_before });
        (bbr.is_restarting, bbr.pacing_rate().map(DataRate::as_bits_per_sec))
    };
    let before = full(State::Up).pacing_rate().map(DataRate::as_bits_per_sec);
    assert_eq!(restarts(Recovery::Open, 0), (true, Some(7_920_000)));
    assert_eq!([restarts(Recovery::Open, 1), restarts(Recovery::Repairing, 0)], [(false, before); 2]);
}

#[test]
fn what_arrives_after_a_restart_counts_the_rounds_and_ends_it() {
    let mut path = Path::cruising();
    let rounds = path.bbr.probe.rounds;
    for _ in 0..3 {
        path.round(100, 100, 100);
    }
    assert_eq!(path.bbr.probe.rounds, rounds + 3);
}

#[test]
fn the_first_loss_of_a_round_saves_what_a_spurious_one_gives_back() {
    let mut path = Path::cruising();
    path.bbr.long_term = 90_000;
    let departure = path.depart(100);
    path.lose(1, &departure);
    assert_eq!(path.bbr.undo.long_term, 90_000);
    path.bbr.long_term = 80_000;
    path.lose(1, &departure);
    assert_eq!(path.bbr.undo.long_term, 90_000);
    path.bbr.on_lost(Congestion { in_flight: 100 * SEGMENT });
    assert_eq!(path.bbr.recovery, Recovery::Repairing);
    path.bbr.on_spurious(Instant::from_millis(path.now));
    assert_eq!((path.bbr.long_term, path.bbr.recovery), (90_000, Recovery::Open));
}

#[test]
fn a_spurious_loss_gives_back_the_state_that_it_ended() {
    let after = |ended, state| {
        let mut bbr = full(state);
        bbr.undo.state = Some(ended);
        bbr.on_spurious(Instant::from_secs(9));
        (bbr.state, bbr.model.pipe.is_reached)
    };
    let drain = State::Drain { since_round: 0 };
    assert_eq!(after(State::Startup, drain), (State::Startup, false));
    assert_eq!(after(State::Startup, State::Startup), (State::Startup, true));
    assert_eq!(after(State::Startup, PROBE_RTT), (PROBE_RTT, false));
    assert_eq!(after(State::Up, State::Down), (State::Refill, true));
    assert_eq!(after(State::Up, State::Up), (State::Up, true));
    assert_eq!(after(State::Up, PROBE_RTT), (PROBE_RTT, true));
}

#[test]
fn it_rules_recoveries_and_follows_limits_and_segments() {
    let mut bbr = Bbr3::new(CONFIG);
    assert!(bbr.rules_recovery());
    bbr.limit_cwnd(7_000);
    bbr.set_segment_bytes(1_500);
    assert_eq!((bbr.cwnd(), bbr.send_quantum()), (7_000, 3_000));
}

#[test]
fn a_probe_that_has_stopped_ends_a_cycle_of_rates_unless_its_sample_is_limited() {
    let rate_after = |is_limited| {
        let mut bbr = full(State::Down);
        bbr.model.advance_rates();
        bbr.model.observe(&after_five_segments(false, 0), || false, 10_000);
        bbr.probe.acks = AckPhase::Stopping;
        bbr.model.sample.starts_round = true;
        bbr.adapt_long_term(&after_five_segments(is_limited, 0));
        bbr.model.rate()
    };
    assert_eq!([false, true].map(rate_after), [80_000, 8_000_000]);
}

proptest! {
    #[test]
    fn no_history_takes_the_window_out_of_its_bounds(history in steps()) {
        play(&mut Bbr3::new(CONFIG), &history, SEGMENT, 1 << 24);
    }
}
