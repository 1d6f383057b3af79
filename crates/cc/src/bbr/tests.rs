use super::*;
use crate::control::LossEvent;
use crate::delivery::DeliveryMeter;
use crate::history::{play, steps};
use crate::probe_rtt::PROBE_RTT_TIME;
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
    let seen_at = path.bbr.least_round_trip.at;
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
        Mode::ProbeRtt(ProbeRtt::Held {
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
        "what arrived in ProbeRTT says nothing"
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
        bbr.set_rate(DataRate::from_bits_per_sec(megabits * 1_000_000));
        bbr.send_quantum()
    };
    assert_eq!([1, 10, 80, 10_000].map(quantum), [1_000, 2_000, 9_000, 65_000]);
}

#[test]
fn a_time_is_scattered_as_splitmix64_does() {
    assert_eq!(
        [0, 1, 1_000_000_007].map(|nanos| scattered(Instant::START + Duration::from_nanos(nanos))),
        [0xe220_a839_7b1d_cdaf, 0x910a_2dec_8902_5cc1, 0x0116_6638_885f_5f0e]
    );
}

#[test]
fn any_phase_may_be_the_first_but_the_slow_one() {
    let mut bbr = Bbr::new(CONFIG);
    let mut seen = [0; 8];
    for nanos in 0..700 {
        bbr.enter_probe_bw(Instant::START + Duration::from_nanos(nanos));
        let Mode::ProbeBw { phase, .. } = bbr.mode else { panic!("another mode") };
        seen[phase] += 1;
    }
    assert_eq!(seen.map(|count| count > 0), [true, false, true, true, true, true, true, true]);
}

/// Acknowledgement whose newest segment was sent when 5,000 bytes had been delivered.
fn after_five_segments(is_application_limited: bool) -> Acknowledged {
    let mut meter = DeliveryMeter::default();
    let first = meter.depart(Instant::from_millis(1), true, SEGMENT);
    meter.deliver(5 * SEGMENT, &first);
    meter.read(Instant::from_millis(50), None);
    if is_application_limited {
        meter.limit_by_application(10 * SEGMENT);
    }
    let departure = meter.depart(Instant::from_millis(50), false, 10 * SEGMENT);
    meter.deliver(SEGMENT, &departure);
    let reading = meter.read(Instant::from_millis(150), None);
    Acknowledged {
        delivery: reading.sample,
        counts: reading.counts,
        in_flight: 7 * SEGMENT,
        ..Acknowledged::of(Instant::from_millis(150), SEGMENT, 8 * SEGMENT)
    }
}

#[test]
fn what_was_sent_in_probe_rtt_or_while_the_application_paused_is_limited() {
    let is_limited =
        |until_delivered, is_paused| is_limited(&after_five_segments(is_paused), until_delivered);
    assert_eq!([0, 4_999, 5_000, 5_001].map(|until| is_limited(until, false)), [false, false, false, true]);
    assert!(is_limited(0, true));
}

#[test]
fn a_limited_sample_counts_only_if_it_is_as_great_and_says_nothing_of_the_pipe() {
    let rate_after = |known: u64| {
        let mut bbr = Bbr { limited_until: 6_000, rounds: 20, ..Bbr::new(CONFIG) };
        bbr.rates.update(RATE_ROUNDS, 1, known);
        bbr.update_rate(&after_five_segments(false));
        bbr.rates.get()
    };
    let sample = after_five_segments(false).delivery.unwrap().rate().as_bits_per_sec();
    assert_eq!(sample, 80_000);
    assert_eq!([79_999, 80_000, 80_001].map(rate_after), [80_000, 80_000, 80_001]);
    let filling = Pipe::Filling { rate: 1, rounds: 2 };
    let pipe_after = |is_paused, starts_round| {
        let mut bbr = Bbr { pipe: filling, ..Bbr::new(CONFIG) };
        bbr.update_pipe(&after_five_segments(is_paused), starts_round);
        bbr.pipe
    };
    let all = [(true, true), (false, false), (false, true)];
    assert_eq!(all.map(|(is_paused, starts)| pipe_after(is_paused, starts)), [filling, filling, Pipe::Full]);
}

#[test]
fn a_recovery_conserves_for_a_round() {
    let mut path = Path::cruising();
    path.bbr.on_lost(Congestion { in_flight: 100 * SEGMENT });
    assert_eq!(path.bbr.recovery, Recovery::Conserving);
    path.round(100, 100, 100);
    assert_eq!(path.bbr.recovery, Recovery::Growing);
    // As much as arrives.
    let mut bbr = Bbr { cwnd: 5_000, recovery: Recovery::Conserving, ..Bbr::new(CONFIG) };
    bbr.set_cwnd(&after_five_segments(false), UNIT);
    assert_eq!(bbr.cwnd(), 8_000);
}

#[test]
fn what_is_lost_in_a_recovery_leaves_the_window_at_once_and_no_room_to_fill() {
    let mut path = Path::cruising();
    let cwnd = path.bbr.cwnd();
    let departure = path.meter.depart(Instant::from_millis(path.now), false, 100 * SEGMENT);
    let lost = path.meter.lose(SEGMENT, &departure);
    path.bbr.on_segment_lost(&lost);
    assert_eq!(path.bbr.cwnd(), cwnd, "the reduction follows");
    path.bbr.on_lost(Congestion { in_flight: 100 * SEGMENT });
    assert_eq!(path.bbr.cwnd(), 99 * SEGMENT);
    for recovery in [Recovery::Conserving, Recovery::Growing] {
        let mut bbr = Bbr { cwnd: 3 * SEGMENT, recovery, ..Bbr::new(CONFIG) };
        bbr.on_segment_lost(&lost);
        assert_eq!(bbr.cwnd(), 2 * SEGMENT);
        // Nor once more when the next acknowledgement comes.
        bbr.on_acknowledged(&Acknowledged::of(Instant::from_millis(150), 0, 0));
        assert_eq!((bbr.cwnd(), bbr.newly_lost), (2 * SEGMENT, 0));
        bbr.on_segment_lost(&lost);
        bbr.on_segment_lost(&lost);
        assert_eq!(bbr.cwnd(), SEGMENT);
    }
}

#[test]
fn aggregation_is_what_arrives_beyond_what_the_rate_explains_in_five_to_ten_rounds() {
    let mut bbr = Bbr { cwnd: 1 << 20, ..Bbr::new(CONFIG) };
    // 1,000 bytes a millisecond.
    bbr.rates.update(RATE_ROUNDS, 1, 8_000_000);
    bbr.aggregation.since = Instant::from_millis(1_000);
    let mut arrive = |millis: u64, newly_delivered, has_sample: bool, starts_round| {
        let mut acknowledged =
            Acknowledged { now: Instant::from_millis(millis), ..after_five_segments(false) };
        acknowledged.counts.newly_delivered = newly_delivered;
        acknowledged.delivery = acknowledged.delivery.filter(|_| has_sample);
        bbr.update_aggregation(&acknowledged, starts_round);
        (bbr.aggregation.acked, bbr.aggregation.greatest)
    };
    assert_eq!(arrive(1_010, 15_000, true, false), (15_000, [15_000, 0]));
    assert_eq!(arrive(1_020, 5_000, true, false), (20_000, [15_000, 0]));
    assert_eq!(arrive(1_021, 20_000, true, false), (40_000, [29_000, 0]));
    assert_eq!(arrive(1_021, 20_000, false, false), (40_000, [29_000, 0]));
    assert_eq!(arrive(1_099, 0, true, false), (40_000, [29_000, 0]));
    for round in 1..5 {
        assert_eq!(arrive(1_021, 1, true, true).1, [29_000 + round, 0]);
    }
    assert_eq!(arrive(1_040, 1, true, true), (40_005, [10_005, 29_004]));
}

#[test]
fn a_phase_lasts_longer_than_a_round_trip() {
    let phase_after = |phase, millis: u64, in_flight, newly_lost| {
        let mut bbr = Bbr {
            mode: Mode::ProbeBw { phase, since: Instant::from_millis(1_000) },
            least_round_trip: LeastRoundTrip::measured(
                Duration::from_millis(100),
                Instant::from_millis(1_000),
            ),
            newly_lost,
            ..Bbr::new(CONFIG)
        };
        bbr.update_phase(&Acknowledged::of(Instant::from_millis(1_000 + millis), 0, in_flight));
        let Mode::ProbeBw { phase, .. } = bbr.mode else { panic!("another mode") };
        phase
    };
    assert_eq!([50, 100, 101].map(|millis| phase_after(2, millis, 0, 0)), [2, 2, 3]);
    // The fast one, until it has filled the path or lost something: without a rate three quanta and two segments do.
    assert_eq!([0, 7_999, 8_000].map(|in_flight| phase_after(0, 101, in_flight, 0)), [0, 0, 1]);
    assert_eq!([(100, 1), (101, 1)].map(|(millis, lost)| phase_after(0, millis, 0, lost)), [0, 1]);
}

#[test]
fn a_round_trip_is_stale_after_more_than_ten_seconds_and_only_a_shorter_one_takes_its_place() {
    let after = |millis, round_trip| {
        let at = Instant::from_millis(1_000);
        let mut bbr = Bbr {
            least_round_trip: LeastRoundTrip::measured(Duration::from_millis(100), at),
            ..Bbr::new(CONFIG)
        };
        let now = Instant::from_millis(millis);
        let round_trip = Some(Duration::from_millis(round_trip));
        bbr.update_round_trip(&Acknowledged { round_trip, ..Acknowledged::of(now, 0, 0) }, false);
        let LeastRoundTrip { round_trip: least, at } = bbr.least_round_trip;
        (least.as_millis(), at.since_start().as_millis(), matches!(bbr.mode, Mode::ProbeRtt(_)))
    };
    assert_eq!(after(2_000, 99), (99, 2_000, false));
    assert_eq!(after(2_000, 100), (100, 1_000, false));
    assert_eq!(after(2_000, 101), (100, 1_000, false));
    assert_eq!(after(11_000, 101), (100, 1_000, false));
    assert_eq!(after(11_001, 101), (101, 11_001, true));
}

#[test]
fn probe_rtt_marks_what_is_in_flight() {
    let mut bbr = Bbr { mode: Mode::ProbeRtt(ProbeRtt::Falling), is_restarting: true, ..Bbr::new(CONFIG) };
    let mut acknowledged = after_five_segments(false);
    acknowledged.counts.newly_delivered = 0;
    bbr.update_round_trip(&acknowledged, false);
    assert_eq!((bbr.limited_until, bbr.is_restarting), (6_000 + 7_000, true));
    acknowledged.counts.newly_delivered = 1;
    bbr.update_round_trip(&acknowledged, false);
    assert!(!bbr.is_restarting);
}

#[test]
fn the_round_that_probe_rtt_lasts_begins_once_it_holds() {
    let after = |before, in_flight| {
        let mut bbr = Bbr { mode: Mode::ProbeRtt(before), round_ends_at: u64::MAX, ..Bbr::new(CONFIG) };
        let acknowledged = Acknowledged { in_flight, ..after_five_segments(false) };
        bbr.update_round_trip(&acknowledged, false);
        (bbr.round_ends_at == acknowledged.counts.delivered, bbr.round_ends_at == u64::MAX)
    };
    let window = Bbr::new(CONFIG).least_window();
    let held = ProbeRtt::Held { until: Instant::from_millis(60_000), has_lasted_a_round: false };
    assert_eq!(after(ProbeRtt::Falling, window + 1), (false, true));
    assert_eq!(after(ProbeRtt::Falling, window), (true, false));
    assert_eq!(after(held, window), (false, true));
}

#[test]
fn probe_rtt_lasts_for_a_round_however_long_that_is() {
    let after = |has_lasted_a_round, starts_round| {
        let until = Instant::from_millis(1);
        let mode = Mode::ProbeRtt(ProbeRtt::Held { until, has_lasted_a_round });
        let mut bbr = Bbr { mode, ..Bbr::new(CONFIG) };
        let acknowledged = Acknowledged { now: Instant::from_millis(1_000), ..after_five_segments(false) };
        bbr.update_round_trip(&acknowledged, starts_round);
        matches!(bbr.mode, Mode::ProbeRtt(_))
    };
    assert_eq!(
        [(false, false), (false, true), (true, false)].map(|(has, starts)| after(has, starts)),
        [true, false, false]
    );
}

#[test]
fn the_window_to_come_back_to_is_that_before_all_recoveries_and_probes() {
    let saved = |recovery, mode| {
        let mut bbr = Bbr { cwnd: 20_000, prior_cwnd: 50_000, recovery, mode, ..Bbr::new(CONFIG) };
        bbr.save_cwnd();
        bbr.prior_cwnd
    };
    assert_eq!(saved(Recovery::Open, Mode::Startup), 20_000);
    assert_eq!(saved(Recovery::Growing, Mode::Startup), 50_000);
    assert_eq!(saved(Recovery::Open, Mode::ProbeRtt(ProbeRtt::Falling)), 50_000);
}

#[test]
fn until_the_pipe_is_full_the_pace_only_rises() {
    let paced = |rate: u64, pipe, pacing: Option<u64>| {
        let pacing = pacing.map(|bits| Pacing::new(DataRate::from_bits_per_sec(bits), SEGMENT, 2 * SEGMENT));
        let mut bbr = Bbr { pacing, pipe, ..Bbr::new(CONFIG) };
        bbr.rates.update(RATE_ROUNDS, 1, rate);
        bbr.pace(UNIT);
        bbr.pacing_rate().map(DataRate::as_bits_per_sec)
    };
    let filling = Pipe::Filling { rate: 0, rounds: 0 };
    assert_eq!(paced(1_000_000, Pipe::Full, Some(2_000_000)), Some(990_000));
    assert_eq!(paced(1_000_000, filling, Some(2_000_000)), Some(2_000_000));
    assert_eq!(paced(1_000_000, filling, Some(900_000)), Some(990_000));
    assert_eq!(paced(1_000_000, filling, None), None);
    assert_eq!(paced(0, Pipe::Full, Some(900_000)), Some(900_000));
}

#[test]
fn a_window_grows_by_what_arrives_up_to_its_target() {
    let grown = |pipe, cwnd, delivered| {
        let mut bbr = Bbr { cwnd, pipe, ..Bbr::new(CONFIG) };
        let mut acknowledged = after_five_segments(false);
        acknowledged.counts.delivered = delivered;
        bbr.set_cwnd(&acknowledged, UNIT);
        bbr.cwnd()
    };
    let filling = Pipe::Filling { rate: 0, rounds: 0 };
    // Ten segments, and three quanta of two.
    assert_eq!([9_000, 15_500, 20_000].map(|cwnd| grown(Pipe::Full, cwnd, 20_000)), [10_000, 16_000, 16_000]);
    assert_eq!([15_999, 16_000].map(|cwnd| grown(filling, cwnd, 20_000)), [16_999, 16_000]);
    assert_eq!([9_999, 10_000].map(|delivered| grown(filling, 20_000, delivered)), [21_000, 20_000]);
}

#[test]
fn room_is_three_quanta_and_two_segments_more_where_the_rate_is_probed() {
    let mut bbr = Bbr::new(CONFIG);
    assert_eq!((bbr.with_room(10_000), bbr.with_room(10_001)), (16_000, 18_000));
    bbr.mode = Mode::ProbeBw { phase: 0, since: Instant::START };
    assert_eq!(bbr.with_room(10_000), 18_000);
    assert_eq!(Path::cruising().bbr.ssthresh(), 106_000);
}

#[test]
fn a_quantum_is_two_segments_where_the_rate_is_not_known_or_not_slow() {
    let mut bbr = Bbr::new(CONFIG);
    assert_eq!(bbr.send_quantum(), 2_000);
    let mut quantum = |bits| {
        bbr.set_rate(DataRate::from_bits_per_sec(bits));
        bbr.send_quantum()
    };
    assert_eq!([1_199_999, 1_200_000, 1_199_999].map(&mut quantum), [1_000, 2_000, 1_000]);
    bbr.set_segment_bytes(1_500);
    assert_eq!(bbr.send_quantum(), 1_500);
}

#[test]
fn sending_into_an_empty_path_is_a_restart_unless_something_is_repaired() {
    let restarts = |recovery, in_flight_before| {
        let mut bbr = Bbr { recovery, ..Bbr::new(CONFIG) };
        bbr.on_sent(Sent { now: Instant::from_millis(9), bytes: SEGMENT, in_flight_before });
        (bbr.is_restarting, bbr.aggregation.since)
    };
    let not = (false, Instant::START);
    assert_eq!(restarts(Recovery::Open, 0), (true, Instant::from_millis(9)));
    assert_eq!([restarts(Recovery::Open, 1), restarts(Recovery::Growing, 0)], [not; 2]);
}

#[test]
fn it_rules_recoveries_and_follows_limits_and_segments() {
    let mut bbr = Bbr::new(CONFIG);
    assert!(bbr.rules_recovery());
    bbr.limit_cwnd(7_000);
    bbr.set_segment_bytes(1_500);
    assert_eq!((bbr.cwnd(), bbr.send_quantum()), (7_000, 3_000));
}

#[test]
fn the_gains_are_those_of_linux() {
    let gains = |mode| Bbr { mode, ..Bbr::new(CONFIG) }.gains();
    let phase = |phase| gains(Mode::ProbeBw { phase, since: Instant::START });
    let others = [Mode::Startup, Mode::Drain, Mode::ProbeRtt(ProbeRtt::Falling)].map(gains);
    assert_eq!(others, [(739, 739), (88, 739), (256, 256)]);
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 6, 7].map(|number| phase(number).0),
        [320, 192, 256, 256, 256, 256, 256, 256]
    );
    assert_eq!(phase(0).1, 512);
}

proptest! {
    #[test]
    fn no_history_takes_the_window_out_of_its_bounds(history in steps()) {
        play(&mut Bbr::new(CONFIG), &history, SEGMENT, 1 << 24);
    }
}

#[test]
fn the_window_with_room_is_of_whole_pairs_of_segments_however_long_they_have_become() {
    let mut bbr = Bbr::new(CONFIG);
    let rooms = |bbr: &mut Bbr| [10_000, 10_001, 10_000].map(|bytes| bbr.with_known_room(bytes));
    bbr.quantum = 1_000;
    assert_eq!(rooms(&mut bbr), [14_000; 3]);
    assert_eq!([11_000, 11_001].map(|bytes| bbr.with_known_room(bytes)), [14_000, 16_000]);
    bbr.mode = Mode::ProbeBw { phase: 0, since: Instant::START };
    assert_eq!(bbr.with_known_room(11_001), 18_000);
    bbr.set_segment_bytes(1_500);
    bbr.quantum = 1_000;
    assert_eq!(bbr.with_known_room(11_001), 18_000);
    assert_eq!((bbr.with_known_room(12_000), bbr.with_room(12_000)), (18_000, 18_000));
}
