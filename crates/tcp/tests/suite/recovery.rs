//! Loss recovery, as traces of the window and of what is sent.
//!
//! The segments have 1000 bytes and the round trip takes 100 ms, so that windows and times can be read as
//! segments and round trips.

use slantpath_base::{Duration, Instant};
use slantpath_tcp::{DelayedAck, Event, LossRecovery, TcpConfig, TcpReports, WindowLimit};

use crate::pair::{Pair, data_segments, pattern};

const MSS: u64 = 1_000;
const ROUND_TRIP: Duration = Duration::from_millis(100);

fn sender(initial_segments: u32) -> TcpConfig {
    TcpConfig {
        mss_bytes: 1_000,
        initial_window: slantpath_cc::InitialWindow::Segments(initial_segments),
        ..TcpConfig::default()
    }
}

fn receiver() -> TcpConfig {
    TcpConfig { delayed_ack: DelayedAck::Off, ..TcpConfig::default() }
}

/// A pair whose left side sends `segments`, of which those with the given numbers are lost once.
fn transfer(left: TcpConfig, segments: u64, lost: &[u64]) -> Pair {
    let mut pair = Pair::connected(left, receiver());
    for number in lost {
        pair.rightwards.lose(pair.rightwards.sent() + number);
    }
    pair.write_left(pattern((segments * MSS) as usize));
    pair
}

/// The window in whole segments after each of the next round trips.
fn windows(pair: &mut Pair, round_trips: usize) -> Vec<u64> {
    let one = |_| {
        pair.run_for(ROUND_TRIP);
        pair.left.snapshot().cwnd_bytes / MSS
    };
    (0..round_trips).map(one).collect()
}

/// Numbers of the segments that were sent more than once, in the order of the repetitions.
fn repeated(pair: &Pair) -> Vec<u64> {
    let mut seen = std::collections::BTreeSet::new();
    let segments = data_segments(&pair.left.sent).into_iter();
    segments.filter(|(start, _)| !seen.insert(*start)).map(|(start, _)| u64::from(start) / MSS).collect()
}

fn finish(pair: &mut Pair, segments: u64) {
    pair.run_for(Duration::from_secs(30));
    assert!(pair.right.received == pattern((segments * MSS) as usize));
}

#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    let mut pair = transfer(sender(1), 1_000, &[]);
    assert_eq!(windows(&mut pair, 8), [2, 4, 8, 16, 32, 64, 128, 256]);
}

#[test]
fn slow_start_grows_by_half_each_round_trip_when_acks_are_delayed() {
    let mut pair = Pair::connected(sender(2), TcpConfig::default());
    pair.write_left(pattern(1_000_000));
    assert_eq!(windows(&mut pair, 8), [3, 4, 6, 9, 13, 19, 28, 42]);
}

#[test]
fn beyond_the_threshold_a_segment_is_added_each_round_trip() {
    let left = TcpConfig { initial_ssthresh_bytes: Some(8 * MSS), ..sender(2) };
    let mut pair = transfer(left, 1_000, &[]);
    assert_eq!(windows(&mut pair, 8), [4, 8, 9, 10, 11, 12, 13, 14]);
}

#[test]
fn a_lost_segment_is_repeated_once_and_halves_the_window() {
    for sack in [true, false] {
        let left = TcpConfig { sack, initial_ssthresh_bytes: Some(16 * MSS), ..sender(16) };
        let mut pair = transfer(left, 400, &[3]);
        pair.run_for(ROUND_TRIP * 3);
        let snapshot = pair.left.snapshot();
        assert_eq!(repeated(&pair), [3], "sack {sack}");
        assert_eq!((snapshot.ssthresh_bytes, snapshot.timeouts, snapshot.fast_recoveries), (8 * MSS, 0, 1));
        assert!(!snapshot.is_recovering);
        finish(&mut pair, 400);
        assert_eq!(pair.left.snapshot().retransmissions, 1);
    }
}

#[test]
fn the_first_duplicates_let_new_segments_out_and_the_third_repeats_the_loss() {
    // 10 segments, of which the first is lost: nine duplicates come back.
    let mut pair = transfer(sender(10), 100, &[0]);
    pair.run_for(ROUND_TRIP);
    let sent: Vec<u64> =
        data_segments(&pair.left.sent).iter().skip(10).map(|(start, _)| u64::from(*start) / MSS).collect();
    // Two by limited transmit. The flight is 10 without them, so cwnd is 5; pipe falls below it at the
    // eighth duplicate: 12 in flight, one lost, one repeated, eight SACKed.
    assert_eq!(sent, [10, 11, 0, 12, 13]);
    assert_eq!(pair.left.snapshot().cwnd_bytes, 5 * MSS);
    finish(&mut pair, 100);
}

#[test]
fn without_limited_transmit_duplicates_let_nothing_out() {
    for sack in [true, false] {
        let left = TcpConfig { limited_transmit: false, sack, ..sender(10) };
        let mut pair = transfer(left, 100, &[0]);
        pair.run_for(ROUND_TRIP);
        let sent: Vec<u64> = data_segments(&pair.left.sent)
            .iter()
            .skip(10)
            .map(|(start, _)| u64::from(*start) / MSS)
            .collect();
        assert_eq!(sent[0], 0, "sack {sack}");
        finish(&mut pair, 100);
    }
}

#[test]
fn limited_transmit_saves_a_small_window_from_a_timeout() {
    for (limited_transmit, sack, timeouts) in
        [(true, true, 0), (true, false, 0), (false, true, 1), (false, false, 1)]
    {
        let left = TcpConfig {
            limited_transmit,
            sack,
            window_limit: Some(WindowLimit::Segments(8)),
            initial_ssthresh_bytes: Some(2 * MSS),
            ..sender(3)
        };
        let mut pair = transfer(left, 100, &[0]);
        finish(&mut pair, 100);
        assert_eq!(
            pair.left.snapshot().timeouts,
            timeouts,
            "limited transmit {limited_transmit}, sack {sack}"
        );
    }
}

#[test]
fn sack_repairs_many_losses_of_a_window_in_one_recovery() {
    let lost = [2, 5, 6, 11, 17, 18, 19];
    let mut pair = transfer(TcpConfig { initial_ssthresh_bytes: Some(30 * MSS), ..sender(30) }, 400, &lost);
    pair.run_for(ROUND_TRIP * 4);
    assert_eq!(repeated(&pair), lost);
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.fast_recoveries, snapshot.timeouts, snapshot.is_recovering), (1, 0, false));
    assert_eq!(snapshot.ssthresh_bytes, 15 * MSS);
    finish(&mut pair, 400);
}

#[test]
fn new_reno_repairs_a_loss_each_round_trip() {
    let left = TcpConfig { sack: false, initial_ssthresh_bytes: Some(20 * MSS), ..sender(20) };
    let mut pair = transfer(left, 400, &[2, 8, 14]);
    let counts: Vec<usize> = (0..5)
        .map(|_| {
            pair.run_for(ROUND_TRIP);
            repeated(&pair).len()
        })
        .collect();
    assert_eq!(counts, [1, 2, 3, 3, 3]);
    assert_eq!(repeated(&pair), [2, 8, 14]);
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.fast_recoveries, snapshot.timeouts), (1, 0));
    finish(&mut pair, 400);
}

#[test]
fn reno_halves_the_window_for_each_loss() {
    let left = TcpConfig {
        sack: false,
        loss_recovery: LossRecovery::Reno,
        initial_ssthresh_bytes: Some(32 * MSS),
        ..sender(32)
    };
    let mut pair = transfer(left, 400, &[2, 20]);
    pair.run_for(Duration::from_secs(3));
    let snapshot = pair.left.snapshot();
    assert_eq!(repeated(&pair), [2, 20]);
    assert_eq!(snapshot.fast_recoveries + snapshot.timeouts, 2);
    finish(&mut pair, 400);
}

#[test]
fn a_lost_tail_is_repaired_by_a_timeout_from_one_segment() {
    let mut pair =
        transfer(TcpConfig { initial_ssthresh_bytes: Some(10 * MSS), ..sender(10) }, 10, &[7, 8, 9]);
    let start = pair.now;
    while pair.left.snapshot().timeouts == 0 {
        assert!(pair.step());
    }
    // Restarted by the last ACK, 100 ms after the start; the RTO is its minimum of 1 s.
    assert_eq!(pair.now - start, Duration::from_millis(1_100));
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.cwnd_bytes, snapshot.ssthresh_bytes), (MSS, 2 * MSS));
    assert_eq!(snapshot.rto, Duration::from_secs(2));
    finish(&mut pair, 10);
    assert_eq!(repeated(&pair), [7, 8, 9]);
}

#[test]
fn the_last_segments_of_a_recovery_are_rescued_without_a_timeout() {
    // One is lost in the middle, and the last two of all: SACK never rises above those.
    let left = TcpConfig { initial_ssthresh_bytes: Some(20 * MSS), ..sender(20) };
    let mut pair = transfer(left, 20, &[5, 19]);
    finish(&mut pair, 20);
    assert_eq!((repeated(&pair), pair.left.snapshot().timeouts), (vec![5, 19], 0));
}

#[test]
fn a_lost_repetition_waits_for_the_timeout() {
    // Segment 3 is lost, and so is its repetition: the 21st data segment sent, after two by limited transmit.
    let left = TcpConfig { initial_ssthresh_bytes: Some(16 * MSS), ..sender(16) };
    let mut pair = transfer(left, 200, &[3, 21]);
    finish(&mut pair, 200);
    let snapshot = pair.left.snapshot();
    let first = repeated(&pair);
    assert_eq!((snapshot.timeouts, &first[..2]), (1, &[3, 3][..]), "{first:?}");
}

#[test]
fn each_timeout_doubles_the_next_and_the_threshold_falls_once() {
    let left = TcpConfig { initial_ssthresh_bytes: Some(16 * MSS), ..sender(16) };
    let mut pair = transfer(left, 16, &[]);
    pair.run_for(ROUND_TRIP * 2);
    pair.rightwards.cut();
    pair.write_left(pattern(16_000));
    let start = pair.now;
    let mut times = Vec::new();
    while pair.left.snapshot().timeouts < 5 {
        let before = pair.left.snapshot().timeouts;
        assert!(pair.step());
        if pair.left.snapshot().timeouts > before {
            times.push((pair.now - start).as_millis());
            assert_eq!(pair.left.snapshot().ssthresh_bytes, 8 * MSS);
        }
    }
    assert_eq!(times, [1_000, 3_000, 7_000, 15_000, 31_000]);
    pair.rightwards.mend();
    pair.run_for(Duration::from_secs(120));
    assert_eq!(pair.right.received.len(), 32_000);
    // 31 s were doubled to the maximum, and only repeated segments have been acknowledged since.
    assert_eq!(pair.left.snapshot().rto, Duration::from_secs(60));
    pair.write_left(pattern(1_000));
    pair.run_for(ROUND_TRIP);
    assert_eq!(pair.left.snapshot().rto, Duration::from_secs(1), "a new sample ends the back-off");
}

#[test]
fn repeated_segments_give_no_round_trip_time() {
    let mut pair = transfer(sender(1), 1, &[0]);
    finish(&mut pair, 1);
    let snapshot = pair.left.snapshot();
    assert_eq!(snapshot.timeouts, 1);
    assert_eq!(snapshot.srtt, Some(ROUND_TRIP), "from the handshake");
    assert_eq!(snapshot.rto, Duration::from_secs(2), "still backed off");
}

#[test]
fn the_duplicate_threshold_can_be_chosen() {
    for (duplicate_ack_threshold, expected) in [(3, 0), (8, 1)] {
        let left = TcpConfig { duplicate_ack_threshold, limited_transmit: false, ..sender(8) };
        let mut pair = transfer(left, 8, &[0]);
        finish(&mut pair, 8);
        assert_eq!(pair.left.snapshot().timeouts, expected, "threshold {duplicate_ack_threshold}");
    }
}

#[test]
fn reordering_below_the_threshold_repeats_nothing() {
    let mut pair = transfer(TcpConfig { initial_ssthresh_bytes: Some(16 * MSS), ..sender(16) }, 3, &[]);
    pair.run_for(ROUND_TRIP * 2);
    let faults = slantpath_testkit::WireFaults {
        reordering: slantpath_base::Probability::ALWAYS,
        extra_delay_max: Duration::from_millis(20),
        ..slantpath_testkit::WireFaults::none(ROUND_TRIP / 2)
    };
    pair.write_left(pattern(1_000));
    pair.rightwards.set_faults(faults);
    pair.write_left(pattern(1_000));
    pair.rightwards.set_faults(slantpath_testkit::WireFaults::none(ROUND_TRIP / 2));
    pair.write_left(pattern(2_000));
    pair.run_for(Duration::from_secs(2));
    assert_eq!((pair.left.snapshot().retransmissions, pair.right.received.len()), (0, 7_000));
}

#[test]
fn an_idle_connection_starts_again_from_the_initial_window() {
    for (idle_restart, expected) in [(true, 4), (false, 64)] {
        let left = TcpConfig { idle_restart, ..sender(4) };
        let mut pair = transfer(left, 60, &[]);
        pair.run_for(Duration::from_secs(5));
        assert_eq!(pair.left.snapshot().cwnd_bytes, 64 * MSS);
        pair.write_left(pattern(100_000));
        assert_eq!(pair.left.snapshot().flight_bytes, expected * MSS);
    }
}

#[test]
fn reports_name_what_was_sent_again_and_what_was_acknowledged() {
    let left = TcpConfig {
        reports: TcpReports { acked: true, transmitted: true, arrived: false },
        initial_ssthresh_bytes: Some(8 * MSS),
        ..sender(8)
    };
    let mut pair = transfer(left, 8, &[2]);
    finish(&mut pair, 8);
    let again = pair.left.events.iter().filter_map(|event| match *event {
        Event::Transmitted { start_bytes, end_bytes, transmissions: 2 } => Some((start_bytes, end_bytes)),
        _ => None,
    });
    assert_eq!(again.collect::<Vec<_>>(), [(2_000, 3_000)]);
    let acked = pair.left.events.iter().filter_map(|event| match *event {
        Event::Acked { up_to_bytes } => Some(up_to_bytes),
        _ => None,
    });
    assert_eq!(acked.collect::<Vec<_>>(), [1_000, 2_000, 8_000]);
}

#[test]
fn after_a_timeout_sack_spares_what_has_arrived() {
    // The first and its repetition are lost: after the timeout the rest is known to be there.
    let left = TcpConfig { initial_ssthresh_bytes: Some(10 * MSS), ..sender(10) };
    let mut pair = transfer(left, 10, &[0, 10]);
    finish(&mut pair, 10);
    assert_eq!((repeated(&pair), pair.left.snapshot().timeouts), (vec![0, 0], 1));
    assert!(pair.now > Instant::from_secs(1));
}
