use super::*;
use crate::control::LossEvent;
use crate::delivery::DeliveryMeter;
use crate::history::{play, steps};
use proptest::prelude::*;
use slantpath_base::{Duration, Instant};

const SEGMENT: u64 = 1_000;
const CONFIG: BacklogConfig = BacklogConfig {
    segment_bytes: SEGMENT,
    initial_cwnd_bytes: 10 * SEGMENT,
    max_cwnd_bytes: 1 << 30,
    capacity: None,
};

/// One acknowledgement of a segment that left with so many segments in flight, and took so long.
fn round(control: &mut Backlog, meter: &mut DeliveryMeter, now: u64, in_flight: u64, millis: u64) {
    let departure = meter.depart(Instant::from_millis(now - millis), false, in_flight * SEGMENT);
    meter.deliver(SEGMENT, &departure);
    let round_trip = Some(Duration::from_millis(millis));
    let reading = meter.read(Instant::from_millis(now), round_trip);
    control.on_acknowledged(&Acknowledged {
        round_trip,
        starts_round: true,
        delivery: reading.sample,
        counts: reading.counts,
        ..Acknowledged::of(Instant::from_millis(now), SEGMENT, in_flight * SEGMENT)
    });
}

/// A path of 100 ms whose window has settled for a product of so many segments.
fn settled(segments: u64) -> (Backlog, DeliveryMeter) {
    let (mut control, mut meter) = (Backlog::new(CONFIG), DeliveryMeter::default());
    round(&mut control, &mut meter, 1_000, 10, 100);
    control.settle(segments * SEGMENT);
    (control, meter)
}

#[test]
fn the_backlog_is_led_to_the_root_of_the_product() {
    let (mut control, mut meter) = settled(100);
    assert_eq!(control.cwnd(), 110_000);
    // 132 in flight for 120 ms: 22 of them wait, and 10 are to.
    round(&mut control, &mut meter, 2_000, 132, 120);
    assert_eq!(control.cwnd(), 120_000);
    // All the window waits for longer than a quarter of it: it falls at once.
    round(&mut control, &mut meter, 3_000, 200, 200);
    assert_eq!(control.cwnd(), 110_000);
    // Halfway while there is little to correct.
    round(&mut control, &mut meter, 4_000, 100, 110);
    assert_eq!((control.cwnd(), control.ssthresh()), (104_954, 104_954));
}

#[test]
fn a_window_that_finds_no_queue_opens_by_twice_as_much_each_round_and_less_boldly_where_something_was_lost() {
    let (mut control, mut meter) = settled(100);
    let mut windows = Vec::new();
    for now in 2..7 {
        let in_flight = control.cwnd() / SEGMENT;
        round(&mut control, &mut meter, now * 1_000, in_flight, 100);
        windows.push(control.cwnd() / SEGMENT);
    }
    assert_eq!(windows, [130, 162, 202, 252, 315]);
    let departure = meter.depart(Instant::from_secs(7), false, 315 * SEGMENT);
    meter.lose(SEGMENT / 8, &departure);
    round(&mut control, &mut meter, 8_000, 315, 100);
    assert_eq!(control.cwnd() / SEGMENT, 315 + 19);
}

#[test]
fn loss_lowers_the_target_and_leaves_the_window_until_it_exceeds_a_tenth() {
    let (mut control, mut meter) = settled(100);
    let mut lose = |control: &mut Backlog, now: u64, bytes: u64| {
        let departure = meter.depart(Instant::from_millis(now - 1), false, 110 * SEGMENT);
        meter.lose(bytes, &departure);
        let in_flight = control.cwnd() / SEGMENT;
        round(control, &mut meter, now, in_flight, 104);
        (control.cwnd(), control.target)
    };
    // One byte in nine, but a quarter of that counts: 105,769 are not of the queue.
    assert_eq!(lose(&mut control, 2_000, 125), (112_769, 7_000));
    let (_, target) = lose(&mut control, 3_000, 125);
    assert_eq!(target, 4_900);
    let before = control.cwnd();
    let (after, _) = lose(&mut control, 4_000, 1_000);
    assert!(after < before * 8 / 10, "{after} of {before}");
}

#[test]
fn a_path_that_has_become_shorter_counts_at_once() {
    let (mut control, mut meter) = settled(100);
    for now in [2_000, 3_000] {
        round(&mut control, &mut meter, now, 110, 110);
    }
    control.config.capacity = Some(DataRate::from_bits_per_sec(8_000_000));
    round(&mut control, &mut meter, 4_000, 110, 40);
    // 1 Mbyte/s for 40 ms, and the root of 40.
    assert_eq!(control.cwnd(), 46_000);
}

#[test]
fn a_path_that_has_become_longer_counts_once_a_smaller_window_has_taken_as_long() {
    let (mut control, mut meter) = settled(100);
    round(&mut control, &mut meter, 2_000, 110, 110);
    round(&mut control, &mut meter, 3_000, 110, 300);
    assert_eq!(control.path.base(), Some(Duration::from_millis(100)));
    round(&mut control, &mut meter, 4_000, 50, 300);
    assert_eq!(control.path.base(), Some(Duration::from_millis(300)));
    // Had it waited for itself, it would have taken half as long.
    let (mut control, mut meter) = settled(100);
    round(&mut control, &mut meter, 3_000, 110, 300);
    round(&mut control, &mut meter, 4_000, 50, 150);
    assert_eq!(control.path.base(), Some(Duration::from_millis(100)));
}

#[test]
fn a_timeout_leaves_one_segment_and_what_arrives_after_it_seven_tenths_of_the_window() {
    let (mut control, mut meter) = settled(100);
    for loss in [LossEvent::New, LossEvent::Known] {
        control.on_timed_out(TimedOut { in_flight: 110 * SEGMENT, loss });
        assert_eq!(control.cwnd(), SEGMENT);
    }
    round(&mut control, &mut meter, 9_000, 1, 100);
    assert_eq!(control.cwnd(), 77_000);
    assert_eq!(control.path.loss(), 0, "what the timeout gave up is not the path's loss");
}

#[test]
fn what_was_sent_before_a_silence_tells_neither_a_round_trip_nor_a_loss_of_the_path() {
    let (mut control, mut meter) = settled(100);
    // The last of it leaves at 1.9 s, and the first of what is repeated, before anything has arrived.
    let before =
        [1_900, 3_000].map(|millis| meter.depart(Instant::from_millis(millis), false, 110 * SEGMENT));
    control.on_timed_out(TimedOut { in_flight: 110 * SEGMENT, loss: LossEvent::New });
    let arrive = |control: &mut Backlog, meter: &mut DeliveryMeter, departure, now, round_trip| {
        let round_trip = Some(Duration::from_millis(round_trip));
        meter.deliver(SEGMENT, departure);
        let reading = meter.read(Instant::from_millis(now), round_trip);
        control.on_acknowledged(&Acknowledged {
            round_trip,
            starts_round: true,
            counts: reading.counts,
            ..Acknowledged::of(Instant::from_millis(now), SEGMENT, 10 * SEGMENT)
        });
    };
    arrive(&mut control, &mut meter, &before[0], 4_900, 3_000);
    assert_eq!((control.cwnd(), control.path.round_trip()), (77_000, Some(Duration::from_millis(100))));
    // What the silence has swallowed is found lost now.
    let after = meter.depart(Instant::from_millis(4_900), false, 77 * SEGMENT);
    control.on_segment_lost(&meter.lose(100 * SEGMENT, &before[1]));
    arrive(&mut control, &mut meter, &after, 5_000, 100);
    assert_eq!((control.path.loss(), control.path.has_lost()), (0, false));
    // What is sent afterwards counts.
    let later = meter.depart(Instant::from_millis(5_000), false, 77 * SEGMENT);
    control.on_segment_lost(&meter.lose(SEGMENT, &later));
    arrive(&mut control, &mut meter, &later, 5_100, 100);
    assert_eq!(control.path.loss(), (1 << 16) / 2 / 4);
}

#[test]
fn a_mark_is_congestion() {
    let (mut control, _) = settled(100);
    control.on_marked(Congestion { in_flight: 110 * SEGMENT });
    // Seven tenths, and the root of that.
    assert_eq!(control.cwnd(), 77_000 + 8_000);
}

#[test]
fn a_known_capacity_is_used_after_one_round_trip_and_never_exceeded() {
    let rate = DataRate::from_bits_per_sec(8_000_000);
    let mut control = Backlog::new(BacklogConfig { capacity: Some(rate), ..CONFIG });
    let mut meter = DeliveryMeter::default();
    assert_eq!((control.cwnd(), control.pacing_rate()), (10_000, None));
    round(&mut control, &mut meter, 1_000, 10, 100);
    assert_eq!((control.cwnd(), control.pacing_rate()), (110_000, Some(rate)));
}

#[test]
fn a_stale_round_trip_is_looked_for_by_emptying_the_queue_for_one_round() {
    let (mut control, mut meter) = settled(100);
    let mut now = 1_000;
    while !matches!(control.mode, Mode::Draining { .. }) {
        now += 320;
        round(&mut control, &mut meter, now, 110, 110);
    }
    assert_eq!(now, 1_000 + 32 * 320, "after 32 rounds and 10 s");
    // The product without a 32nd part and the target.
    assert_eq!(control.cwnd(), 96_875 - 10_000);
    round(&mut control, &mut meter, now + 320, 86, 100);
    assert_eq!(control.cwnd(), 110_000);
}

#[test]
fn the_target_is_a_quarter_of_a_segment_at_least_and_rises_by_a_segment() {
    let (mut control, mut meter) = settled(100);
    for second in 2..14 {
        let departure = meter.depart(Instant::from_millis(second * 1_000 - 1), false, SEGMENT);
        meter.lose(1, &departure);
        round(&mut control, &mut meter, second * 1_000, 110, 110);
    }
    assert_eq!(control.target, 250);
    round(&mut control, &mut meter, 20_000, 110, 110);
    assert_eq!(control.target, 1_250);
}

#[test]
fn a_window_is_four_segments_at_least() {
    let (mut control, _) = settled(0);
    assert_eq!(control.cwnd(), 4_000);
    control.settle(1_000);
    assert_eq!(control.cwnd(), 4_000);
}

/// A window that has found a train of ten segments at 1 Mbyte/s, on a path of 100 ms.
fn opened() -> (Backlog, DeliveryMeter) {
    let (mut control, mut meter) = (Backlog::new(CONFIG), DeliveryMeter::default());
    for now in (1_100..1_110).chain([1_205]) {
        let sent_at = if now < 1_200 { 1_000 } else { 1_105 };
        acknowledge(&mut control, &mut meter, sent_at, now);
    }
    (control, meter)
}

fn acknowledge(control: &mut Backlog, meter: &mut DeliveryMeter, sent_at: u64, now: u64) {
    let departure = meter.depart(Instant::from_millis(sent_at), false, 10 * SEGMENT);
    meter.deliver(SEGMENT, &departure);
    let round_trip = Some(Duration::from_millis(now - sent_at));
    let reading = meter.read(Instant::from_millis(now), round_trip);
    control.on_acknowledged(&Acknowledged {
        round_trip,
        counts: reading.counts,
        ..Acknowledged::of(Instant::from_millis(now), SEGMENT, 10 * SEGMENT)
    });
}

#[test]
fn the_window_doubles_until_it_is_what_the_train_has_shown() {
    let (mut control, mut meter) = opened();
    assert_eq!((control.cwnd(), control.ssthresh()), (21_000, u64::MAX));
    for now in 1..79 {
        acknowledge(&mut control, &mut meter, 1_200 + now, 1_300 + now);
    }
    assert_eq!((control.cwnd(), control.ssthresh()), (99_000, u64::MAX));
    acknowledge(&mut control, &mut meter, 1_290, 1_390);
    assert_eq!((control.cwnd(), control.ssthresh()), (110_000, 110_000));
}

#[test]
fn half_the_window_is_what_the_path_holds_where_a_queue_shows_and_no_segment_tells_of_it() {
    let (mut control, mut meter) = opened();
    control.round = Round::default();
    meter.limit_by_application(10 * SEGMENT);
    for now in 1..4 {
        acknowledge(&mut control, &mut meter, 1_200 + now, 1_320 + now);
        assert_eq!(control.cwnd(), (21 + now) * SEGMENT);
    }
    acknowledge(&mut control, &mut meter, 1_210, 1_330);
    assert_eq!(control.cwnd(), 12_000 + 3_000);
}

#[test]
fn an_opening_that_loses_more_than_a_tenth_ends_with_half_the_window() {
    let after = |lost| {
        let (mut control, mut meter) = (Backlog::new(CONFIG), DeliveryMeter::default());
        let departure = meter.depart(Instant::from_millis(900), false, 10 * SEGMENT);
        meter.deliver(2 * SEGMENT, &departure);
        meter.lose(lost, &departure);
        round(&mut control, &mut meter, 1_000, 10, 100);
        (control.cwnd(), control.ssthresh())
    };
    // A quarter of two fifths counts.
    assert_eq!([2_000, 2_010].map(after), [(13_000, u64::MAX), (8_500, 8_500)]);
}

#[test]
fn congestion_reduces_the_window_to_seven_tenths() {
    let (mut control, mut meter) = settled(100);
    let departure = meter.depart(Instant::from_millis(1_900), false, SEGMENT);
    meter.lose(4 * SEGMENT, &departure);
    round(&mut control, &mut meter, 2_000, 110, 104);
    assert_eq!(control.cwnd(), 112_769 * 7 / 10);
}

#[test]
fn the_window_follows_the_backlog_in_steps() {
    let after = |product, base, in_flight, millis| {
        let (mut control, mut meter) = (Backlog::new(CONFIG), DeliveryMeter::default());
        round(&mut control, &mut meter, 1_000, 10, base);
        control.settle(product * SEGMENT);
        round(&mut control, &mut meter, 2_000, in_flight, millis);
        control.cwnd()
    };
    // Half the target is a backlog.
    assert_eq!(after(100, 100, 105, 105), 110_000);
    // A backlog of a quarter is led there halfway, and a step up is one step.
    assert_eq!(after(200, 90, 200, 120), 185_500);
    assert_eq!(after(100, 100, 200, 105), 121_000);
}

#[test]
fn an_empty_queue_leaves_two_segments_of_a_short_path() {
    let (mut control, _) = settled(100);
    control.round = Round::of(3 * SEGMENT, Duration::from_millis(100));
    control.drain();
    assert_eq!(control.cwnd(), 2_000);
}

#[test]
fn a_sixteenth_more_than_the_window_in_a_round_trip_is_paced_in_quanta_of_two_segments() {
    let (mut control, _) = settled(100);
    assert_eq!(control.pacing_rate(), Some(DataRate::from_bits_per_sec(9_350_000)));
    assert_eq!(control.send_quantum(), 2_000);
    control.set_segment_bytes(1_500);
    assert_eq!(control.send_quantum(), 3_000);
}

#[test]
fn after_a_pause_the_window_opens_by_its_target_again() {
    let (mut control, mut meter) = settled(100);
    control.on_idle(1);
    round(&mut control, &mut meter, 2_000, 110, 100);
    assert_eq!(control.cwnd(), 120_000);
}

/// Rounds of 160 ms, of which 60 wait.
fn queue(control: &mut Backlog, meter: &mut DeliveryMeter, rounds: u64) {
    for number in 0..rounds {
        round(control, meter, 10_000 + 200 * number, 100, 160);
    }
}

#[test]
fn with_others_that_keep_a_queue_the_window_is_cubics() {
    let (mut control, mut meter) = settled(100);
    let departure = meter.depart(Instant::from_millis(1_900), false, SEGMENT);
    meter.lose(1, &departure);
    queue(&mut control, &mut meter, 15);
    assert!(control.rules_recovery());
    queue(&mut control, &mut meter, 1);
    assert!(!control.rules_recovery());
    assert!(matches!(control.mode, Mode::Competing { rounds: 0, .. }));
    assert_eq!(control.cwnd(), control.crowd.window_held());
    control.limit_cwnd(100_000);
    assert_eq!(control.cwnd(), 100_000);
    control.on_lost(Congestion { in_flight: 100_000 });
    assert_eq!(control.cwnd(), 70_000);
}

#[test]
fn after_64_rounds_of_cubic_a_loss_makes_the_window_yield_for_four() {
    let compete = |rounds| {
        let (mut control, mut meter) = settled(100);
        control.compete();
        queue(&mut control, &mut meter, rounds);
        control.on_lost(Congestion { in_flight: control.cwnd() });
        (control, meter)
    };
    assert!(matches!(compete(63).0.mode, Mode::Competing { rounds: 63, .. }));
    let (mut control, mut meter) = compete(64);
    let before = control.cwnd();
    for expected in [4, 3, 2, 1] {
        assert!(matches!(control.mode, Mode::Yielding { rounds_left, .. } if rounds_left == expected));
        queue(&mut control, &mut meter, 1);
    }
    assert!(matches!(control.mode, Mode::Competing { rounds: 0, .. }));
    assert_eq!(control.cwnd(), before);
    // Where the queue is gone, the flow is alone again.
    let (mut control, mut meter) = compete(64);
    round(&mut control, &mut meter, 90_000, 100, 105);
    assert!(matches!(control.mode, Mode::Steady { .. }));
}

#[test]
fn cubic_is_told_of_pauses() {
    let after = |pauses: bool| {
        let (mut control, mut meter) = settled(100);
        control.compete();
        round(&mut control, &mut meter, 2_000, 120, 160);
        if pauses {
            control.on_sent(Sent { now: Instant::from_secs(9), bytes: SEGMENT, in_flight_before: 0 });
        }
        round(&mut control, &mut meter, 9_160, 120, 160);
        control.cwnd()
    };
    // Of 7.16 s the seven in which nothing was in flight do not count.
    assert_eq!([true, false].map(after), [110_018, 110_509]);
}

proptest! {
    #[test]
    fn no_history_takes_the_window_out_of_its_bounds(
        history in steps(), capacity in proptest::option::of(64_000_u64..1 << 33),
    ) {
        let capacity = capacity.map(DataRate::from_bits_per_sec);
        let config = BacklogConfig { max_cwnd_bytes: 1 << 24, capacity, ..CONFIG };
        play(&mut Backlog::new(config), &history, SEGMENT, 1 << 24);
    }
}
