use super::*;
use proptest::prelude::*;

const SEGMENT: u64 = 1_000;
const ROUND_TRIP: Duration = Duration::from_millis(100);

pub(crate) const CONFIG: CubicConfig = CubicConfig {
    segment_bytes: SEGMENT,
    initial_cwnd_bytes: 10 * SEGMENT,
    initial_ssthresh_bytes: None,
    max_cwnd_bytes: 1 << 30,
    slow_start: SlowStart::Standard,
    byte_counting_limit: 1,
    avoidance_increase: AvoidanceIncrease::ByteCounting,
    fast_convergence: true,
    idle_window: IdleWindow::Restart,
};

fn segments(count: u64) -> CubicConfig {
    CubicConfig { initial_cwnd_bytes: count * SEGMENT, ..CONFIG }
}

fn lost(segments: u64) -> Congestion {
    Congestion { in_flight: segments * SEGMENT }
}

fn timed_out(segments: u64, loss: LossEvent) -> TimedOut {
    TimedOut { in_flight: segments * SEGMENT, loss }
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// An acknowledgement of `bytes` at `now`, which found the window full.
fn full(cubic: &Cubic, now: Instant, bytes: u64) -> Acknowledged {
    Acknowledged { smoothed_round_trip: Some(ROUND_TRIP), ..Acknowledged::of(now, bytes, cubic.cwnd()) }
}

fn state(cubic: &Cubic) -> (u64, u64) {
    (cubic.cwnd(), cubic.ssthresh())
}

/// 100 segments in flight have met a loss, and slow start over the threshold is done.
fn after_a_loss() -> Cubic {
    let mut cubic = Cubic::new(segments(100));
    cubic.on_lost(lost(100));
    assert_eq!(state(&cubic), (70_000, 70_000));
    cubic.on_acknowledged(&full(&cubic, at(0), SEGMENT));
    assert_eq!(cubic.cwnd(), 71_000);
    cubic
}

#[test]
fn a_loss_leaves_seven_tenths_of_the_flight_but_two_segments_and_a_mark_one() {
    let mut cubic = Cubic::new(segments(100));
    cubic.on_lost(lost(80));
    assert_eq!(state(&cubic), (56_000, 56_000));
    cubic.on_lost(lost(2));
    assert_eq!(state(&cubic), (2_000, 2_000));
    cubic.on_marked(lost(2));
    assert_eq!(state(&cubic), (1_400, 2_000));
    cubic.on_marked(lost(1));
    assert_eq!(state(&cubic), (1_000, 2_000));
}

#[test]
fn a_loss_never_opens_the_window_however_much_is_unacknowledged() {
    let mut cubic = Cubic::new(segments(100));
    cubic.on_lost(lost(200));
    assert_eq!(state(&cubic), (70_000, 70_000));
    cubic.on_timed_out(timed_out(200, LossEvent::New));
    assert_eq!(state(&cubic), (1_000, 49_000));
}

#[test]
fn the_window_returns_to_its_plateau_after_k_seconds_and_probes_beyond_along_the_cubic() {
    let mut cubic = Cubic::new(segments(1_000));
    cubic.on_lost(lost(1_000));
    cubic.on_acknowledged(&full(&cubic, at(0), SEGMENT));
    // K is the cubic root of (1,000 - 701) / 0.4 segments: 9.076 s. At 100 ms a round trip, Reno stays below.
    cubic.on_acknowledged(&full(&cubic, at(0), 1));
    let k = libm::cbrt(299.0 / 0.4);
    assert!((k - 9.076).abs() < 1e-3);
    let w_cubic = |seconds: f64| (0.4 * libm::pow(seconds - k, 3.0) + 1_000.0) * 1e3;
    let mut now = at(0);
    let mut seen = Vec::new();
    for round in 1..=200_u32 {
        let acks = cubic.cwnd() / SEGMENT;
        for ack in 1..=acks {
            let instant = now + Duration::from_nanos(ROUND_TRIP.as_nanos() * ack / acks);
            cubic.on_acknowledged(&full(&cubic, instant, SEGMENT));
        }
        now += ROUND_TRIP;
        let seconds = f64::from(round) / 10.0;
        // Each acknowledgement goes a window's part of the way to where the cubic will be a round trip later, so that
        // the window lies between its values now and then.
        assert!(cubic.cwnd() as f64 <= w_cubic(seconds + 0.1) + 1.0, "round {round}");
        assert!(cubic.cwnd() as f64 >= w_cubic(seconds - 0.1) - 1.0, "round {round}");
        if round % 20 == 0 {
            seen.push(cubic.cwnd() / SEGMENT);
        }
    }
    // After 2 s, 4 s .. 20 s: steep, flat at 1,000 segments, steep again.
    assert_eq!(seen, [858, 947, 988, 999, 1_000, 1_010, 1_047, 1_132, 1_284, 1_521]);
}

#[test]
fn one_acknowledgement_adds_its_part_of_the_way_to_where_the_cubic_is_a_round_trip_later() {
    let mut cubic = after_a_loss();
    cubic.on_acknowledged(&full(&cubic, at(0), 1));
    let before = cubic.cwnd();
    let k = libm::cbrt(29.0 / 0.4);
    let target = (0.4 * libm::pow(1.1 - k, 3.0) + 100.0) * 1e3;
    let mut once = cubic.clone();
    once.on_acknowledged(&full(&once, at(1_000), SEGMENT));
    let step = 1e3 * (target - before as f64) / before as f64;
    assert!((once.cwnd() as f64 - (before as f64 + step)).abs() <= 1.0, "{} {step}", once.cwnd());
    // Two segments count twice, unless acknowledgements are counted.
    let mut twice = cubic.clone();
    twice.on_acknowledged(&full(&twice, at(1_000), 2 * SEGMENT));
    assert!((twice.cwnd() as f64 - (before as f64 + 2.0 * step)).abs() <= 1.0);
    let mut by_acks = cubic.clone();
    by_acks.config.avoidance_increase = AvoidanceIncrease::PerAck;
    by_acks.on_acknowledged(&full(&by_acks, at(1_000), 2 * SEGMENT));
    assert_eq!(by_acks.cwnd(), once.cwnd());
    // A thousand segments at once go no further than the target.
    cubic.on_acknowledged(&full(&cubic, at(1_000), 1_000 * SEGMENT));
    let reno = 71_000.0 + 1e6 * ALPHA * 1_000.0 / before as f64;
    assert!((cubic.cwnd() as f64 - reno.max(target)).abs() <= 20.0, "{}", cubic.cwnd());
}

#[test]
fn the_increase_of_a_round_trip_is_half_the_window_at_most() {
    let mut cubic = Cubic::new(CubicConfig { initial_ssthresh_bytes: Some(1), ..segments(10) });
    cubic.on_acknowledged(&full(&cubic, at(0), 1));
    // After 60 s the cubic is far beyond: one acknowledgement of ten adds half a segment.
    cubic.on_acknowledged(&full(&cubic, at(60_000), SEGMENT));
    assert_eq!(cubic.cwnd(), 10_500);
}

#[test]
fn with_a_short_round_trip_the_window_grows_as_reno_s_would_on_average() {
    let mut cubic = after_a_loss();
    // One round trip of 1 ms: 71 acknowledgements add 0.53 of a segment, the cubic next to nothing.
    for _ in 0..71 {
        cubic.on_acknowledged(&Acknowledged { smoothed_round_trip: None, ..full(&cubic, at(1), SEGMENT) });
    }
    assert_eq!(cubic.cwnd(), 71_527);
    // Once Reno would have come back to 100 segments, the window grows by a whole one.
    while cubic.cwnd() < 100_000 {
        cubic.on_acknowledged(&Acknowledged { smoothed_round_trip: None, ..full(&cubic, at(1), SEGMENT) });
    }
    let before = cubic.cwnd();
    for _ in 0..100 {
        cubic.on_acknowledged(&Acknowledged { smoothed_round_trip: None, ..full(&cubic, at(1), SEGMENT) });
    }
    assert!((990..=1_000).contains(&(cubic.cwnd() - before)), "{}", cubic.cwnd() - before);
}

#[test]
fn a_flow_that_loses_ground_gives_way_by_fifteen_percent_if_it_may() {
    for (fast_convergence, plateau) in [(true, 59_500.0), (false, 70_000.0)] {
        let mut cubic = Cubic::new(CubicConfig { fast_convergence, ..segments(100) });
        cubic.on_lost(lost(100));
        assert_eq!(cubic.plateau, Some(100_000.0));
        cubic.on_lost(lost(70));
        assert_eq!(cubic.plateau, Some(plateau));
    }
    // At its plateau or above it, it keeps all.
    let mut cubic = Cubic::new(segments(100));
    cubic.plateau = Some(100_000.0);
    cubic.on_lost(lost(100));
    assert_eq!(cubic.plateau, Some(100_000.0));
}

#[test]
fn a_timeout_leaves_one_segment_and_the_next_stage_begins_on_its_plateau() {
    let mut cubic = after_a_loss();
    cubic.on_timed_out(timed_out(50, LossEvent::New));
    assert_eq!(state(&cubic), (1_000, 35_000));
    cubic.on_timed_out(timed_out(1, LossEvent::Known));
    assert_eq!(state(&cubic), (1_000, 35_000));
    cubic.on_timed_out(timed_out(1, LossEvent::New));
    assert_eq!(state(&cubic), (1_000, 2_000));
    // Slow start up to the threshold and one beyond it.
    for _ in 0..2 {
        cubic.on_acknowledged(&full(&cubic, at(10), SEGMENT));
    }
    assert_eq!(cubic.cwnd(), 3_000);
    cubic.on_acknowledged(&full(&cubic, at(20), 1));
    let stage = cubic.stage.unwrap();
    assert_eq!((stage.plateau, stage.plateau_after), (3_000.0, 0.0));
}

#[test]
fn slow_start_adds_what_is_acknowledged_up_to_the_byte_counting_limit() {
    for (byte_counting_limit, after) in [(1, 11_000), (8, 13_500)] {
        let mut cubic = Cubic::new(CubicConfig { byte_counting_limit, ..CONFIG });
        cubic.on_acknowledged(&full(&cubic, at(0), 3_500));
        assert_eq!(cubic.cwnd(), after);
        // One segment after a timeout, until congestion avoidance.
        cubic.on_timed_out(TimedOut { in_flight: 4 * SEGMENT, loss: LossEvent::New });
        cubic.on_acknowledged(&full(&cubic, at(0), 3_500));
        assert_eq!(cubic.cwnd(), 2_000);
        while cubic.is_in_slow_start() {
            cubic.on_acknowledged(&full(&cubic, at(0), SEGMENT));
        }
        cubic.on_acknowledged(&full(&cubic, at(0), 1));
        cubic.limit_cwnd(SEGMENT);
        cubic.on_acknowledged(&full(&cubic, at(0), 3_500));
        assert_eq!(cubic.cwnd(), after - 9_000);
    }
}

#[test]
fn a_window_that_is_not_full_stays_and_the_time_does_not_count() {
    let mut cubic = Cubic::new(CONFIG);
    cubic.on_acknowledged(&Acknowledged::of(at(0), SEGMENT, 9_000));
    assert_eq!(cubic.cwnd(), 10_000);
    cubic.on_acknowledged(&Acknowledged::of(at(0), SEGMENT, 9_001));
    assert_eq!(cubic.cwnd(), 11_000);

    let mut cubic = after_a_loss();
    cubic.on_acknowledged(&full(&cubic, at(0), 1));
    let elapsed = |cubic: &Cubic| cubic.stage.unwrap().elapsed.as_millis();
    cubic.on_acknowledged(&full(&cubic, at(500), SEGMENT));
    let cwnd = cubic.cwnd();
    cubic.on_acknowledged(&Acknowledged::of(at(60_000), SEGMENT, 10_000));
    assert_eq!((elapsed(&cubic), cubic.cwnd()), (500, cwnd));
    // Nothing is in flight for a minute; then the time goes on.
    cubic.on_sent(Sent { now: at(120_000), bytes: SEGMENT, in_flight_before: 0 });
    cubic.on_sent(Sent { now: at(120_050), bytes: SEGMENT, in_flight_before: SEGMENT });
    cubic.on_acknowledged(&full(&cubic, at(120_100), SEGMENT));
    assert_eq!(elapsed(&cubic), 600);
}

#[test]
fn an_idle_window_restarts_in_tcp_and_halves_in_sctp_and_neither_opens_it() {
    let mut tcp = Cubic::new(segments(10));
    tcp.cwnd = 64 * SEGMENT;
    tcp.on_idle(5);
    assert_eq!(state(&tcp), (10_000, u64::MAX));
    tcp.limit_cwnd(SEGMENT);
    tcp.on_idle(1);
    assert_eq!(tcp.cwnd(), 1_000);
    let mut sctp = Cubic::new(CubicConfig { idle_window: IdleWindow::Halve, ..segments(64) });
    sctp.on_idle(2);
    assert_eq!(state(&sctp), (16_000, 64_000));
    sctp.on_idle(9);
    assert_eq!(state(&sctp), (4_000, 16_000));
    sctp.limit_cwnd(SEGMENT);
    sctp.on_idle(9);
    assert_eq!(state(&sctp), (1_000, 16_000));
}

#[test]
fn neither_a_recovery_nor_an_acknowledgement_of_nothing_opens_the_window() {
    let mut cubic = Cubic::new(CONFIG);
    cubic.on_acknowledged(&full(&cubic, at(0), 0));
    cubic.on_acknowledged(&Acknowledged { is_recovering: true, ..full(&cubic, at(0), SEGMENT) });
    assert_eq!((cubic.cwnd(), cubic.stage), (10_000, None));
}

#[test]
fn shorter_segments_begin_a_stage_of_their_own_and_keep_the_window() {
    let mut cubic = after_a_loss();
    cubic.on_acknowledged(&full(&cubic, at(0), 1));
    cubic.set_segment_bytes(500);
    assert_eq!(cubic.stage, None);
    cubic.on_acknowledged(&full(&cubic, at(1), 1));
    assert_eq!(cubic.stage.unwrap().steepness, 200.0);
    assert!((71_000..71_010).contains(&cubic.cwnd()));
}

#[test]
fn a_slow_start_that_longer_round_trips_end_leaves_a_stage_on_its_plateau() {
    let mut cubic = Cubic::new(CubicConfig { slow_start: SlowStart::HyStartPlusPlus, ..CONFIG });
    let round = |cubic: &mut Cubic, round_trip_ms| {
        for ack in 0..8 {
            let round_trip = Some(Duration::from_millis(round_trip_ms));
            let acknowledged =
                Acknowledged { round_trip, starts_round: ack == 0, ..full(cubic, at(0), SEGMENT) };
            cubic.on_acknowledged(&acknowledged);
        }
    };
    round(&mut cubic, 100);
    for _ in 0..5 {
        round(&mut cubic, 120);
    }
    assert_eq!(state(&cubic), (34_000, u64::MAX));
    cubic.on_acknowledged(&Acknowledged { starts_round: true, ..full(&cubic, at(0), SEGMENT) });
    assert_eq!(state(&cubic), (34_250, 34_250));
    assert_eq!((cubic.cwnd_prior, cubic.plateau, cubic.stage), (34_250, None, None));
    cubic.on_acknowledged(&full(&cubic, at(0), SEGMENT));
    cubic.on_acknowledged(&full(&cubic, at(0), 1));
    assert_eq!(cubic.stage.map(|stage| (stage.plateau, stage.plateau_after)), Some((35_250.0, 0.0)));
}

/// The average window, in segments, if one of every `interval` segments is lost, from a loss at `peak` on: where
/// losses are regular it would drift there only slowly.
fn average_window(interval: u64, round_trip_ms: u64, peak: u64) -> f64 {
    let mut cubic = Cubic::new(CubicConfig { fast_convergence: false, ..segments(peak) });
    cubic.on_lost(lost(peak));
    let mut now = Instant::START;
    let round_trip = Duration::from_millis(round_trip_ms);
    let (mut sent, mut losses, mut measured, mut rounds) = (0, 0, 0, 0_u64);
    while losses < 20 {
        let window = cubic.cwnd() / SEGMENT;
        for ack in 1..=window {
            let instant = now + Duration::from_nanos(round_trip.as_nanos() * ack / window);
            let ack =
                Acknowledged { smoothed_round_trip: Some(round_trip), ..full(&cubic, instant, SEGMENT) };
            cubic.on_acknowledged(&ack);
        }
        now += round_trip;
        sent += window;
        if losses >= 8 {
            measured += window;
            rounds += 1;
        }
        if sent >= interval {
            sent -= interval;
            losses += 1;
            cubic.on_lost(Congestion { in_flight: cubic.cwnd() });
        }
    }
    measured as f64 / rounds as f64
}

/// RFC 9438, section 5.1, tables 1 and 2, C = 0.4: where the cubic governs, and where Reno does, whose rows neglect
/// that the window is the larger of the two at each moment.
#[test]
fn the_average_window_under_regular_loss_is_that_of_the_rfc_s_tables() {
    for (interval, round_trip_ms, peak, expected, tolerance) in [
        (10_000, 100, 202, 187.0, 0.01),
        (100_000, 100, 1_139, 1_054.0, 0.01),
        (1_000_000, 100, 6_406, 5_926.0, 0.01),
        (1_000, 100, 45, 38.0, 0.09),
        (10_000, 10, 141, 120.0, 0.03),
        (100_000, 10, 446, 379.0, 0.03),
    ] {
        let error = average_window(interval, round_trip_ms, peak) / expected - 1.0;
        assert!(error.abs() < tolerance, "{interval}, {round_trip_ms} ms: {error}");
    }
}

proptest! {
    #[test]
    fn the_window_stays_between_a_segment_and_its_limit(
        events in proptest::collection::vec((0_u8..8, 0_u64..200_000), 0..300),
        is_sctp in any::<bool>(),
    ) {
        let idle_window = if is_sctp { IdleWindow::Halve } else { IdleWindow::Restart };
        let mut cubic = Cubic::new(CubicConfig { max_cwnd_bytes: 1 << 20, idle_window, ..CONFIG });
        let mut now = Instant::START;
        for (event, amount) in events {
            now += Duration::from_millis(amount / 100);
            match event {
                0 => cubic.on_lost(Congestion { in_flight: amount }),
                1 => cubic.on_timed_out(TimedOut { in_flight: amount, loss: LossEvent::New }),
                2 => cubic.on_marked(Congestion { in_flight: amount }),
                3 => cubic.on_idle(amount % 9 + 1),
                4 => cubic.on_sent(Sent { now, bytes: SEGMENT, in_flight_before: amount % 2 }),
                5 => cubic.on_acknowledged(&Acknowledged::of(now, amount, amount)),
                _ => {
                    let before = cubic.cwnd();
                    cubic.on_acknowledged(&full(&cubic, now, amount));
                    prop_assert!(cubic.cwnd() >= before);
                }
            }
            prop_assert!((SEGMENT..=1 << 20).contains(&cubic.cwnd()));
            prop_assert!(cubic.ssthresh() >= 2 * SEGMENT);
        }
    }
}

#[test]
fn the_window_never_exceeds_its_greatest_size() {
    for initial_ssthresh_bytes in [None, Some(10 * SEGMENT)] {
        let config = CubicConfig { initial_ssthresh_bytes, max_cwnd_bytes: 12 * SEGMENT, ..CONFIG };
        let mut cubic = Cubic::new(config);
        for millis in 0..2_000 {
            cubic.on_acknowledged(&Acknowledged {
                smoothed_round_trip: Some(Duration::from_millis(100)),
                ..Acknowledged::of(Instant::from_millis(millis), SEGMENT, cubic.cwnd())
            });
            assert!(cubic.cwnd() <= 12 * SEGMENT);
        }
        assert_eq!(cubic.cwnd(), 12 * SEGMENT);
    }
}
