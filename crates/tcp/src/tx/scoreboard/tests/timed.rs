//! Checks of the scoreboard where losses are found by time. One segment is sent each millisecond; all arrives after
//! 100.

use super::super::timed::Overtaken;
use super::*;

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// A board with so many segments in flight.
fn timed(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    board.time_losses(3);
    for segment in 0..segments {
        board.push(MSS, at(segment));
    }
    board
}

/// An acknowledgement that SACKs these ranges.
fn sack(board: &mut Scoreboard, now: u64, ranges: &[Range]) {
    board.begin_ack(at(now));
    for range in ranges {
        board.sack(*range);
    }
    board.end_ack(false);
}

/// Segments that are found lost at `now`, and the length of each.
fn overtaken(board: &mut Scoreboard, now: u64) -> (Overtaken, Vec<u64>) {
    let mut lost = Vec::new();
    let round_trip = Some(Duration::from_millis(100));
    let found = board.detect_overtaken(at(now), round_trip, false, |segment| lost.push(segment.bytes));
    (found, lost)
}

/// The timer expires: how long each lost segment is.
fn time_out(board: &mut Scoreboard, now: u64) -> Vec<u64> {
    let mut lost = Vec::new();
    board.on_timeout(at(now), None, |segment| lost.push(segment.bytes));
    lost
}

/// The starts of the segments that are retransmitted at `now`.
fn again(board: &mut Scoreboard, now: u64) -> Vec<u64> {
    repeat_lost(board, at(now)).into_iter().map(|range| range.start).collect()
}

#[test]
fn what_is_overtaken_is_lost_with_its_length_and_where_it_ends() {
    let mut board = timed(8);
    sack(&mut board, 107, &[range(3, 6)]);
    let expected = Overtaken { count: 3 * MSS, end: 3 * MSS, next_at: None };
    assert_eq!(overtaken(&mut board, 107), (expected, vec![MSS; 3]));
    assert_eq!(board.pipe(), 2 * MSS);
    assert_eq!(again(&mut board, 107), [0, 100, 200]);
    assert_eq!((board.pipe(), board.next_lost()), (5 * MSS, None));
}

#[test]
fn one_that_is_overtaken_waits_for_a_quarter_of_the_least_round_trip() {
    let mut board = timed(4);
    sack(&mut board, 102, &[range(2, 3)]);
    let waiting = |next_at| Overtaken { count: 0, end: 0, next_at: Some(at(next_at)) };
    assert_eq!(overtaken(&mut board, 102), (waiting(125), vec![]));
    let first = Overtaken { count: MSS, end: MSS, next_at: Some(at(126)) };
    assert_eq!(overtaken(&mut board, 125), (first, vec![MSS]));
}

#[test]
fn what_is_acknowledged_no_longer_counts_as_out_of_order() {
    let mut board = timed(8);
    sack(&mut board, 103, &[range(1, 4)]);
    overtaken(&mut board, 103);
    assert_eq!(again(&mut board, 103), [0]);
    board.begin_ack(at(203));
    board.acknowledge(4 * MSS);
    board.end_ack(false);
    sack(&mut board, 204, &[range(5, 6)]);
    let (found, _) = overtaken(&mut board, 204);
    assert_eq!((found.count, found.next_at.is_some()), (0, true), "one is not three");
}

#[test]
fn a_reported_duplicate_widens_the_window_for_sixteen_recoveries() {
    let mut board = timed(4);
    board.on_duplicate_reported();
    sack(&mut board, 102, &[range(2, 3)]);
    assert_eq!(overtaken(&mut board, 102).0.next_at, Some(at(150)));
    for _ in 0..15 {
        board.on_recovery_ended();
    }
    assert_eq!(overtaken(&mut board, 102).0.next_at, Some(at(150)));
    board.on_recovery_ended();
    assert_eq!(overtaken(&mut board, 102).0.next_at, Some(at(125)));
}

#[test]
fn the_first_original_is_the_lowest_of_what_an_acknowledgement_tells_of() {
    for ranges in [[range(1, 3), range(5, 6)], [range(5, 6), range(1, 3)]] {
        let mut board = timed(8);
        sack(&mut board, 105, &ranges);
        assert_eq!(board.first_original(), Some(2 * MSS), "{ranges:?}");
        sack(&mut board, 106, &ranges);
        assert_eq!(board.first_original(), None, "nothing new");
    }
}

#[test]
fn what_is_lost_and_arrives_after_all_is_not_sent_again() {
    let mut board = timed(8);
    sack(&mut board, 107, &[range(4, 8)]);
    overtaken(&mut board, 107);
    board.begin_ack(at(108));
    board.acknowledge(2 * MSS);
    board.end_ack(false);
    sack(&mut board, 109, &[range(3, 4)]);
    assert_eq!(again(&mut board, 109), [200]);
    assert_eq!(board.pipe(), MSS);
}

#[test]
fn a_timeout_takes_the_first_for_lost_and_what_was_sent_a_round_trip_ago() {
    let mut board = timed(4);
    board.push(60, at(950));
    sack(&mut board, 101, &[range(1, 2)]);
    assert_eq!(time_out(&mut board, 1_000), [MSS; 3]);
    assert_eq!(board.pipe(), 60);
    assert_eq!(again(&mut board, 1_000), [0, 200, 300]);
    assert_eq!(board.pipe(), 360);
    // The first counts however lately it was sent.
    assert_eq!(time_out(&mut board, 1_001), [MSS]);
    assert_eq!((board.pipe(), again(&mut board, 1_001)), (260, vec![0]));
}

#[test]
fn a_timeout_at_which_the_round_trip_has_just_passed_takes_a_segment_for_lost() {
    for (now, expected) in [(1_099, 1), (1_100, 2)] {
        let mut board = timed(1);
        sack(&mut board, 100, &[]);
        board.push(MSS, at(2));
        board.push(MSS, at(1_000));
        board.begin_ack(at(100));
        board.acknowledge(MSS);
        board.end_ack(false);
        assert_eq!(time_out(&mut board, now).len(), expected, "{now}");
    }
}

#[test]
fn what_a_peer_has_reneged_on_waits_to_be_sent_again() {
    let mut board = timed(6);
    sack(&mut board, 104, &[range(1, 3), range(4, 5)]);
    board.acknowledge(MSS);
    board.push(MSS, at(1_000));
    assert_eq!(board.pipe(), 3 * MSS);
    time_out(&mut board, 1_050);
    assert_eq!(board.pipe(), MSS, "the last is on its way");
    assert_eq!(again(&mut board, 1_050), [100, 200, 300, 400, 500]);
    assert_eq!(board.pipe(), 6 * MSS);
    sack(&mut board, 1_150, &[range(4, 5)]);
    assert_eq!(board.pipe(), 5 * MSS, "it may SACK anew");
}

#[test]
fn what_is_not_lost_after_all_is_in_flight_again() {
    let mut board = timed(6);
    board.acknowledge(50);
    sack(&mut board, 103, &[range(3, 4)]);
    time_out(&mut board, 1_000);
    assert_eq!(board.pipe(), 0);
    board.restore_lost();
    assert_eq!((board.pipe(), board.next_lost()), (450, None));
}

#[test]
fn segments_that_are_too_long_are_cut_anew_and_others_keep_their_state() {
    let mut board = timed(4);
    board.push(50, at(4));
    board.push(60, at(5));
    sack(&mut board, 103, &[range(1, 2)]);
    assert!(!board.recut(100, 510), "nothing is too long");
    assert_eq!(board.pipe(), 410);
    assert!(board.recut(60, 510));
    // The fifth and sixth are on their way, the second has arrived.
    assert_eq!(board.pipe(), 110);
    assert_eq!(again(&mut board, 110), [0, 60, 200, 260, 300, 360]);
    assert_eq!(board.pipe(), 410);
}

#[test]
fn short_segments_that_are_lost_stay_lost_when_others_are_cut() {
    let mut board = Scoreboard::default();
    board.time_losses(3);
    for len in [50, 50, 100, 50, 50, 50] {
        board.push(len, at(0));
    }
    sack(&mut board, 100, &[Range { start: 50, end: 100 }, Range { start: 200, end: 350 }]);
    assert_eq!(overtaken(&mut board, 100).1, [50, 100]);
    assert!(board.recut(60, 350));
    assert_eq!((board.pipe(), again(&mut board, 100)), (0, vec![0, 100, 160]));
}
