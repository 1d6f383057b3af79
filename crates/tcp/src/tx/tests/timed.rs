//! Checks of the sending half where losses are found by time (RFC 8985). Round trips take 100 ms at first.

use super::*;
use crate::config::LossDetection;

fn rack() -> TcpConfig {
    TcpConfig {
        loss_detection: LossDetection::Rack,
        sack_recovery: SackRecovery::Proportional,
        rtt_sampling: RttSampling::EveryAck,
        ..TcpConfig::default()
    }
}

/// Segments that were sent, and the instant at which something is due in milliseconds.
fn sent(row: Row) -> (Vec<u64>, Option<u64>) {
    (row.3, row.4)
}

fn duplicates(trace: &Trace) -> (u64, u64, u64) {
    let Counters { retransmissions, fast_recoveries, undone, .. } = trace.tx.counters();
    (retransmissions, fast_recoveries, undone)
}

#[test]
fn one_segment_out_of_order_is_waited_for_by_a_quarter_of_a_round_trip() {
    let mut trace = Trace::started(rack(), 4, 5);
    assert_eq!(sent(trace.at(100).sack(0, &[(1, 2)])), (vec![4], Some(125)));
    // In time: no loss.
    let mut late = Trace::started(rack(), 4, 5);
    late.at(100).sack(0, &[(1, 2)]);
    late.at(124).ack(2);
    assert_eq!(duplicates(&late), (0, 0, 0));
    assert_eq!(sent(trace.timeout()), (vec![0], Some(1_125)));
    assert_eq!(duplicates(&trace), (1, 1, 0));
}

#[test]
fn three_segments_out_of_order_are_not_waited_for_unless_reordering_has_been_seen() {
    let mut trace = Trace::started(rack(), 8, 100);
    assert_eq!(sent(trace.at(100).sack(0, &[(1, 3)])), (vec![8, 9], Some(125)));
    assert_eq!(sent(trace.at(101).sack(0, &[(1, 4)])).0, vec![0]);
    // The first comes late after all, once: of the next hole a quarter of a round trip is waited for.
    let mut seen = Trace::started(rack(), 8, 100);
    seen.at(100).sack(0, &[(1, 2)]);
    seen.at(110).ack(2);
    let (resent, due) = sent(seen.at(111).sack(2, &[(3, 7)]));
    assert!(!resent.contains(&2), "{resent:?}");
    assert_eq!(due, Some(136));
}

#[test]
fn a_repetition_that_is_lost_is_sent_again_once_something_sent_after_it_has_arrived() {
    let mut trace = Trace::started(rack(), 8, 100);
    trace.at(100).sack(0, &[(1, 2)]);
    assert_eq!(sent(trace.at(101).sack(0, &[(1, 4)])).0, [0]);
    trace.at(102).sack(0, &[(1, 8)]);
    // What was sent at 100 and 102 arrives; the repetition of 101 does not.
    let (resent, _) = sent(trace.at(203).sack(0, &[(1, 9)]));
    assert!(!resent.contains(&0), "{resent:?}");
    let next = trace.tx.nxt() / MSS;
    let (resent, _) = sent(trace.at(204).sack(0, &[(1, next)]));
    assert_eq!(resent[0], 0);
    assert_eq!(trace.fast_recoveries(), 1);
}

#[test]
fn the_loss_of_the_last_segment_is_found_by_a_probe_after_two_round_trips() {
    let mut trace = Trace::started(rack(), 10, 10);
    assert_eq!(sent(trace.at(100).ack(9)), (vec![], Some(500)));
    assert_eq!(sent(trace.timeout()), (vec![9], Some(1_500)));
    // The probe repaired the loss; what comes after it shows that there was one.
    trace.at(600).ack(10);
    let cwnd = trace.tx.cwnd();
    trace.at(700).write(1);
    trace.at(800).ack(11);
    assert!(trace.tx.cwnd() < cwnd, "{} is not less than {cwnd}", trace.tx.cwnd());
    assert_eq!(trace.tx.counters().timeouts, 0);
}

#[test]
fn a_probe_for_one_segment_waits_for_the_ack_that_the_peer_may_hold_back() {
    for (max_ack_delay_ms, due) in [(0, 300), (25, 325), (200, 500)] {
        let config = TcpConfig { max_ack_delay: Duration::from_millis(max_ack_delay_ms), ..rack() };
        let mut trace = Trace::started(config, 10, 10);
        assert_eq!(sent(trace.at(100).ack(9)).1, Some(due), "one segment, {max_ack_delay_ms} ms");
        let mut trace = Trace::started(config, 10, 10);
        assert_eq!(sent(trace.at(100).ack(8)).1, Some(300), "two segments, {max_ack_delay_ms} ms");
    }
}

#[test]
fn a_probe_is_never_due_at_the_instant_that_it_is_set_at() {
    let mut trace = Trace::started(rack(), 10, 30);
    // A round trip that took no time.
    trace.ack(10);
    assert!(trace.tx.deadline().is_some_and(|deadline| deadline > trace.now), "{:?}", trace.tx.deadline());
}

#[test]
fn a_probe_whose_both_copies_arrive_shows_no_loss() {
    for duplicate in [&[(9, 10)][..], &[]] {
        let mut trace = Trace::started(rack(), 10, 10);
        trace.at(100).ack(9);
        trace.timeout();
        trace.at(600).ack(10);
        let cwnd = trace.tx.cwnd();
        trace.at(601).sack(10, duplicate);
        trace.at(700).write(1);
        trace.at(800).ack(11);
        assert!(trace.tx.cwnd() >= cwnd, "{duplicate:?}");
    }
}

#[test]
fn a_probe_is_new_data_if_there_is_any() {
    let mut trace = Trace::started(rack(), 4, 100);
    // Four are on their way and the window is full: two round trips are not known, so that one second is waited.
    assert_eq!(trace.row().4, Some(1_000));
    trace.at(100).ack(4);
    let flight = trace.tx.nxt() / MSS;
    let (probe, due) = sent(trace.timeout());
    assert_eq!((probe, due), (vec![flight], Some(1_300)));
    assert_eq!(trace.tx.counters().retransmissions, 0);
}

#[test]
fn a_second_probe_waits_for_a_round_trip_to_be_measured() {
    let mut trace = Trace::started(rack(), 10, 10);
    trace.at(100).ack(9);
    trace.timeout();
    // Nothing comes: the next is the retransmission timer.
    let (resent, _) = sent(trace.timeout());
    assert_eq!((resent, trace.tx.counters().timeouts), (vec![9], 1));
}

#[test]
fn what_the_peer_had_already_gives_the_window_back() {
    let mut trace = Trace::started(rack(), 8, 100);
    let before = trace.tx.cwnd();
    trace.at(100).sack(0, &[(1, 4)]);
    assert_eq!(duplicates(&trace), (1, 1, 0));
    trace.at(105).ack(4);
    assert!(trace.tx.ssthresh() < u64::MAX);
    // The first segment came late, and its repetition in vain.
    trace.at(201).sack(4, &[(0, 1)]);
    assert_eq!(duplicates(&trace), (1, 1, 1));
    assert_eq!(trace.tx.ssthresh(), u64::MAX);
    assert!(trace.tx.cwnd() >= before);
    assert!(!trace.tx.is_recovering());
}

/// Eight segments leave at 0; the first is taken for lost and goes again at 100.
fn repeated_at_100() -> Trace {
    let mut trace = Trace::started(rack(), 8, 100);
    assert_eq!(sent(trace.at(100).echo(0, &[(1, 4)], 0)).0[0], 0);
    assert_eq!(duplicates(&trace), (1, 1, 0));
    trace
}

#[test]
fn an_echo_from_before_a_repetition_gives_the_window_back_at_once() {
    let mut trace = repeated_at_100();
    let before = Trace::started(rack(), 8, 100).tx.cwnd();
    // The original has come, late; no duplicate has been reported yet.
    trace.at(105).echo(4, &[], 99);
    assert_eq!(duplicates(&trace), (1, 1, 1));
    assert_eq!(trace.tx.ssthresh(), u64::MAX);
    assert!(trace.tx.cwnd() >= before, "{}", trace.tx.cwnd());
    assert!(!trace.tx.is_recovering());
    // It is the reordering that RFC 8985 waits for: of the next hole a quarter of a round trip.
    let (resent, due) = sent(trace.at(111).sack(4, &[(5, 8)]));
    assert!(!resent.contains(&4), "{resent:?}");
    assert_eq!(due, Some(136));
    // The report of the duplicate that follows has nothing to take back any more.
    trace.at(201).sack(4, &[(0, 1)]);
    assert_eq!(duplicates(&trace).2, 1);
}

#[test]
fn an_echo_of_the_repetition_or_of_the_same_tick_gives_nothing_back() {
    for echoed in [100, 101] {
        let mut trace = repeated_at_100();
        trace.at(205).echo(4, &[], echoed);
        assert_eq!(duplicates(&trace).2, 0, "{echoed}");
        assert!(trace.tx.ssthresh() < u64::MAX);
    }
}

#[test]
fn an_old_echo_that_does_not_answer_the_first_repetition_first_gives_nothing_back() {
    // A duplicate acknowledgement echoes what came in order last: that is old and says nothing.
    let mut trace = repeated_at_100();
    trace.at(105).echo(0, &[(1, 5)], 0);
    assert_eq!(duplicates(&trace).2, 0);
    // Nor does one of what comes behind the repetition, once that has been answered.
    trace.at(206).echo(1, &[], 100);
    trace.at(207).echo(5, &[], 0);
    assert_eq!(duplicates(&trace).2, 0);
    // Without timestamps nothing can be told.
    let mut without = repeated_at_100();
    without.at(105).ack(4);
    assert_eq!(duplicates(&without).2, 0);
}

#[test]
fn an_echo_from_before_a_timeout_takes_it_back_with_the_first_acknowledgement() {
    let mut trace = Trace::started(rack(), 4, 4);
    trace.at(100).ack(2);
    trace.timeout();
    trace.timeout();
    assert_eq!(trace.tx.counters().timeouts, 1);
    // The first that was retransmitted: what F-RTO needs, something that went once, has not come.
    trace.now += Duration::from_millis(1);
    trace.echo(3, &[], 0);
    assert_eq!((trace.tx.counters().undone, trace.tx.ssthresh()), (1, u64::MAX));
    assert!(!trace.tx.is_recovering());
}

#[test]
fn a_window_that_has_grown_beyond_what_it_was_is_not_taken_back() {
    let mut trace = Trace::started(rack(), 8, 100);
    trace.at(100).sack(0, &[(1, 4)]);
    trace.at(105).ack(4);
    let larger = TcpConfig { initial_window: InitialWindow::Segments(40), ..rack() };
    trace.tx.control = larger.controller(1_000);
    let cwnd = trace.tx.control.cwnd();
    assert_eq!(cwnd, 40_000);
    trace.at(201).sack(4, &[(0, 1)]);
    assert_eq!((trace.tx.control.cwnd(), duplicates(&trace)), (cwnd, (1, 1, 1)));
}

#[test]
fn two_repetitions_of_which_one_was_needed_give_nothing_back() {
    let mut trace = Trace::started(rack(), 8, 8);
    trace.at(100).sack(0, &[(2, 6)]);
    trace.at(110).sack(0, &[(2, 8)]);
    assert_eq!(duplicates(&trace), (2, 1, 0));
    trace.at(210).sack(8, &[(1, 2)]);
    assert_eq!(duplicates(&trace), (2, 1, 0));
    assert!(trace.tx.ssthresh() < u64::MAX);
}

#[test]
fn a_timeout_while_the_network_still_delivers_is_taken_back() {
    let mut trace = Trace::started(rack(), 8, 100);
    trace.at(100).ack(4);
    let cwnd = trace.tx.cwnd();
    // The path stops for longer than the timer waits: a probe, then the timeout.
    trace.timeout();
    trace.timeout();
    assert_eq!((trace.tx.cwnd(), trace.tx.counters().timeouts), (MSS, 1));
    // It goes on: what was sent once before the timeout arrives.
    assert_eq!(sent(trace.at(2_000).ack(6)), (vec![14], Some(2_200)), "new data alone");
    assert!(trace.tx.cwnd() >= cwnd, "{}", trace.tx.cwnd());
    assert_eq!((trace.tx.ssthresh(), trace.tx.counters().undone), (u64::MAX, 1));
    assert!(!trace.tx.is_recovering());
}

#[test]
fn a_timeout_after_which_only_the_repetition_arrives_is_a_loss() {
    let mut trace = Trace::started(rack(), 4, 4);
    trace.at(100).ack(2);
    trace.timeout();
    trace.timeout();
    let at = trace.now;
    trace.now = at + Duration::from_millis(100);
    trace.sack(3, &[]);
    assert_eq!(trace.tx.counters().undone, 0);
    assert!(trace.tx.ssthresh() < u64::MAX);
}

#[test]
fn a_loss_of_what_was_sent_after_a_recovery_began_begins_the_next() {
    let mut trace = Trace::started(rack(), 10, 100);
    trace.at(100).sack(0, &[(1, 5)]);
    let point = trace.tx.recover.unwrap().get() / MSS;
    trace.at(110).sack(0, &[(1, 10)]);
    let next = trace.tx.nxt() / MSS;
    assert!(next > point + 1, "{next} {point}");
    // The first segment after the point is lost as well.
    trace.at(215).sack(0, &[(point + 1, next), (1, point)]);
    assert_eq!(trace.fast_recoveries(), 1);
    // It has been retransmitted already, so that the next recovery begins with nothing to repeat.
    assert_eq!(trace.at(220).sack(point, &[(point + 1, next)]).3, []);
    assert_eq!(trace.fast_recoveries(), 2);
}

/// A segment is lost that was sent after a recovery began. Returns the recovery's point and what is sent next.
fn with_a_later_loss() -> (Trace, u64, u64) {
    let mut trace = Trace::started(rack(), 20, 100);
    trace.at(100).sack(0, &[(1, 5)]);
    let point = trace.tx.recover.unwrap().get() / MSS;
    trace.at(110).sack(0, &[(1, 20)]);
    let next = trace.tx.nxt() / MSS;
    assert!(next > point + 6, "{next} {point}");
    trace.at(215).sack(0, &[(point + 1, next - 2), (1, point)]);
    assert_eq!(trace.fast_recoveries(), 1);
    (trace, point, next)
}

#[test]
fn a_recovery_that_begins_for_another_loss_covers_what_was_lost_before() {
    // Which is found as the first recovery ends.
    let (mut trace, point, next) = with_a_later_loss();
    trace.at(220).sack(point, &[(point + 1, next - 2), (next - 1, next)]);
    assert_eq!((trace.fast_recoveries(), trace.tx.is_recovering()), (2, true));
    let point = trace.tx.recover.unwrap().get() / MSS;
    trace.at(320).ack(point - 1);
    trace.at(330).ack(point);
    assert_eq!((trace.fast_recoveries(), trace.tx.is_recovering()), (2, false));
    // By a timeout.
    let (mut trace, ..) = with_a_later_loss();
    while trace.tx.counters().timeouts == 0 {
        trace.timeout();
    }
    let next = trace.tx.nxt() / MSS;
    trace.at(10_000).ack(next);
    trace.at(10_001).write(2);
    let next = trace.tx.nxt() / MSS;
    trace.at(10_100).ack(next - 1);
    assert_eq!((trace.fast_recoveries(), trace.tx.is_recovering()), (1, false));
}

#[test]
fn a_closed_window_is_probed_by_its_own_timer() {
    let mut trace = Trace::started(rack(), 4, 10);
    trace.take(4, &[], 0, true);
    trace.row();
    let probes = [trace.timeout().3, trace.timeout().3];
    assert_eq!(probes, [[4], [4]].map(|probe| probe.to_vec()));
}

#[test]
fn segments_that_are_cut_anew_keep_their_order_of_departure() {
    let mut trace = Trace::started(rack(), 4, 8);
    trace.at(100).sack(0, &[(3, 4)]);
    trace.segment = 500;
    trace.tx.reduce_mss(trace.now, 500);
    let row = trace.row();
    assert_eq!(row.3[..6], [0, 1, 2, 3, 4, 5]);
    assert_eq!(trace.at(200).ack(8).2, trace.tx.pipe());
    trace.at(300).ack(16);
    assert_eq!((trace.tx.pipe(), trace.tx.flight()), (0, 0));
}

/// Eight segments, of which two have arrived and the last has been retransmitted as a probe: the timer has expired.
fn timed_out() -> Trace {
    let mut trace = Trace::started(rack(), 8, 8);
    trace.at(100).ack(2);
    assert_eq!(trace.timeout().3, [7]);
    assert_eq!((trace.timeout().3, trace.now), (vec![2], Instant::from_millis(1_300)));
    trace
}

#[test]
fn after_a_timeout_that_was_in_error_what_is_lost_goes_first_and_not_what_was_sent_again() {
    let mut trace = timed_out();
    assert_eq!(sent(trace.at(1_310).sack(2, &[(4, 5)])), (vec![], Some(1_335)));
    assert_eq!(trace.tx.counters().undone, 1);
    assert_eq!(trace.timeout().3, [3]);
}

#[test]
fn no_probe_is_due_while_something_is_out_of_order() {
    let mut trace = timed_out();
    // All but the first, which was sent after them.
    assert_eq!(sent(trace.at(1_310).sack(2, &[(3, 8)])), (vec![], Some(3_300)));
    assert!(!trace.tx.is_recovering());
}

#[test]
fn no_probe_is_due_while_a_loss_is_repaired() {
    let mut trace = timed_out();
    assert_eq!(sent(trace.at(1_400).ack(3)), (vec![3, 4], Some(3_400)));
    assert!(trace.tx.is_recovering());
}

#[test]
fn a_probe_repeats_the_last_segment_if_the_peers_window_holds_no_more() {
    for (window, expected) in [(8_000, 9), (8_999, 9), (9_000, 10)] {
        let mut trace = Trace::started(TcpConfig { nagle: false, ..rack() }, 8, 100);
        trace.take(2, &[], 8_000, true);
        assert_eq!(trace.row().3, [8, 9]);
        trace.take(2, &[], window, true);
        assert_eq!(trace.timeout().3, [expected], "{window}");
    }
}

#[test]
fn a_second_probe_is_sent_only_once_a_round_trip_has_been_measured() {
    let started = || {
        let mut trace = Trace::started(rack(), 10, 10);
        trace.at(100).ack(9);
        assert_eq!(trace.timeout().3, [9]);
        // Both copies arrive, which measures nothing.
        trace.at(600).ack(10);
        trace.at(601).ack(10);
        assert_eq!(sent(trace.at(700).write(1)), (vec![10], Some(1_100)));
        trace
    };
    let mut unmeasured = started();
    assert_eq!(sent(unmeasured.timeout()), (vec![], Some(2_100)));
    let mut measured = started();
    measured.at(800).ack(11);
    assert_eq!(sent(measured.at(900).write(1)), (vec![11], Some(1_300)));
    assert_eq!(sent(measured.timeout()), (vec![11], Some(2_300)));
}

#[test]
fn a_recovery_that_begins_reduces_the_window_for_what_a_probe_would_tell() {
    let mut trace = Trace::started(rack(), 10, 10);
    trace.at(100).ack(5);
    assert_eq!(trace.timeout().3, [9]);
    assert_eq!(trace.at(500).sack(5, &[(6, 10)]).3, [5]);
    trace.at(600).ack(10);
    trace.at(700).write(1);
    trace.at(800).ack(11);
    assert_eq!((trace.tx.ssthresh(), trace.tx.cwnd()), (2_500, 2_500));
}

#[test]
fn what_was_sent_into_a_closed_window_goes_again_as_soon_as_it_opens() {
    let mut trace = Trace::started(rack(), 4, 10);
    trace.take(4, &[], 0, true);
    trace.row();
    assert_eq!(sent(trace.timeout()), (vec![4], Some(3_000)));
    trace.at(1_500).take(4, &[], 0, true);
    assert_eq!(sent(trace.row()), (vec![], Some(3_000)), "it is still closed");
    trace.at(1_600).take(4, &[], WINDOW, true);
    // The one byte of the probe, and what follows it.
    assert_eq!(trace.row().3, [4, 4, 5, 6, 7]);
}

#[test]
fn a_duplicate_between_two_timeouts_is_no_progress() {
    let mut trace = Trace::started(rack(), 10, 10);
    trace.at(100).ack(2);
    trace.timeout();
    assert_eq!(trace.timeout().1, 4_000);
    trace.at(2_000).ack(2);
    assert_eq!((trace.timeout().1, trace.tx.counters().timeouts), (4_000, 2));
    assert_eq!(trace.tx.timeouts_in_a_row, 2);
}

#[test]
fn what_is_lost_up_to_the_point_of_a_recovery_begins_no_other() {
    // Of the repetition itself.
    let mut repeated = Trace::started(rack(), 8, 100);
    repeated.at(100).sack(0, &[(1, 2)]);
    repeated.at(101).sack(0, &[(1, 4)]);
    repeated.at(102).sack(0, &[(1, 8)]);
    repeated.at(203).sack(0, &[(1, 9)]);
    let next = repeated.tx.nxt() / MSS;
    assert_eq!(repeated.at(204).sack(0, &[(1, next)]).3[0], 0);
    let next = repeated.tx.nxt() / MSS;
    // One is left in flight, so that a recovery might begin.
    repeated.at(304).ack(next - 1);
    assert_eq!((repeated.fast_recoveries(), repeated.tx.is_recovering()), (1, false));
    // Of the last segment before the point.
    let mut last = Trace::started(rack(), 8, 100);
    last.at(100).sack(0, &[(1, 4)]);
    last.at(101).sack(0, &[(1, 7)]);
    assert_eq!(last.at(201).sack(0, &[(8, 10), (1, 7)]).3[..2], [0, 7]);
    let next = last.tx.nxt() / MSS;
    last.at(310).ack(next - 1);
    assert_eq!((last.fast_recoveries(), last.tx.is_recovering()), (1, false));
}

#[test]
fn as_many_duplicates_as_repetitions_give_the_window_back() {
    let mut trace = Trace::started(rack(), 8, 8);
    trace.at(100).sack(0, &[(1, 3), (4, 7)]);
    trace.at(110).sack(0, &[(1, 3), (4, 8)]);
    trace.at(120).ack(8);
    trace.at(210).sack(8, &[(0, 1)]);
    assert_eq!(duplicates(&trace), (2, 1, 0));
    trace.at(211).sack(8, &[(3, 4)]);
    assert_eq!(duplicates(&trace), (2, 1, 1));
}

#[test]
fn the_last_segment_before_a_reduction_counts_among_the_duplicates() {
    let mut trace = Trace::started(rack(), 8, 8);
    trace.at(100).sack(0, &[(1, 7)]);
    // The repetition has overtaken the last.
    assert_eq!(trace.at(200).ack(7).3, [7]);
    trace.at(210).sack(8, &[(0, 1)]);
    trace.at(300).sack(8, &[(7, 8)]);
    assert_eq!(duplicates(&trace), (2, 1, 1));
}

#[test]
fn a_duplicate_of_what_was_not_in_flight_at_the_reduction_gives_nothing_back() {
    for duplicate in [(0, 1), (1, 3), (8, 9), (9, 10)] {
        let mut trace = Trace::started(rack(), 6, 100);
        trace.at(100).ack(2);
        let to = trace.tx.nxt() / MSS;
        assert_eq!((trace.at(200).sack(2, &[(3, 8)]).3[0], to), (2, 9));
        let next = trace.tx.nxt() / MSS;
        assert_eq!(next, 10);
        trace.at(310).ack(10);
        trace.at(320).sack(10, &[duplicate]);
        let expected = u64::from(duplicate == (8, 9));
        assert_eq!(trace.tx.counters().undone, expected, "{duplicate:?}");
    }
}

#[test]
fn nothing_is_given_back_once_segments_have_been_cut_anew() {
    let mut trace = Trace::started(rack(), 8, 8);
    trace.at(100).sack(0, &[(1, 8)]);
    trace.segment = 500;
    trace.tx.reduce_mss(trace.now, 500);
    assert_eq!(trace.row().3, [0, 1]);
    for at in 0..3 {
        trace.at(200 + at).sack(16, &[(0, 1)]);
    }
    assert_eq!(duplicates(&trace), (3, 1, 0));
}

#[test]
fn a_window_that_is_given_back_counts_in_segments_that_the_path_carries_by_now() {
    let mut trace = Trace::started(rack(), 8, 8);
    trace.at(100).sack(0, &[(1, 8)]);
    assert_eq!(trace.at(200).ack(8).2, 0);
    trace.tx.reduce_mss(trace.now, 500);
    trace.at(210).sack(8, &[(0, 1)]);
    assert_eq!((trace.tx.cwnd(), duplicates(&trace)), (8_000, (1, 1, 1)));
    trace.write(1);
    trace.timeout();
    trace.timeout();
    assert_eq!(trace.tx.cwnd(), 500);
}

#[test]
fn the_first_block_reports_a_duplicate_below_the_acknowledgement_or_within_the_second_block() {
    let ranges = |blocks: &[(u64, u64)]| -> Vec<Range> {
        blocks.iter().map(|&(start, end)| Range { start, end }).collect()
    };
    for (blocks, is_duplicate) in [
        (&[][..], false),
        (&[(0, 10)], true),
        (&[(5, 11)], false),
        (&[(20, 30)], false),
        (&[(20, 30), (20, 30)], true),
        (&[(20, 30), (19, 31)], true),
        (&[(20, 30), (21, 31)], false),
        (&[(20, 30), (19, 29)], false),
        (&[(20, 30), (40, 50)], false),
    ] {
        let sacked = ranges(blocks);
        let input = Acknowledgement {
            ack: 10,
            sequence: 0,
            window: WINDOW,
            sacked: &sacked,
            is_pure: true,
            is_echo: false,
            echoed_rtt: None,
        };
        let expected = sacked.first().copied().filter(|_| is_duplicate);
        assert_eq!(super::super::timed::duplicate_report(&input), expected, "{blocks:?}");
    }
}

#[test]
fn what_the_controller_paces_waits_for_its_turn() {
    let config = TcpConfig { congestion_control: Algorithm::Bbr, ..rack() };
    let mut trace = Trace::started(config, 10, 100);
    assert_eq!(sent(trace.at(100).ack(10)), (vec![10, 11], Some(106)));
    assert_eq!(sent(trace.timeout()), (vec![12, 13], Some(113)));
    // A loss changes nothing of this.
    assert_eq!(sent(trace.at(300).sack(10, &[(11, 14)])).0, [10, 14]);
    assert_eq!(trace.fast_recoveries(), 1);
}

#[test]
fn a_timer_that_is_late_does_not_slow_down_what_is_paced() {
    let config = TcpConfig { congestion_control: Algorithm::Bbr, ..rack() };
    let mut trace = Trace::started(config, 10, 100);
    assert_eq!(sent(trace.at(100).ack(10)), (vec![10, 11], Some(106)));
    trace.at(109);
    assert_eq!(trace.tx.handle_deadline(trace.now), Endurance::Lasts);
    assert_eq!(sent(trace.row()), (vec![12, 13], Some(113)), "as if it had expired in time");
}

#[test]
fn the_least_window_gets_its_threshold_back() {
    let mut trace = Trace::started(rack(), 2, 2);
    trace.at(100).sack(0, &[(1, 2)]);
    assert_eq!(trace.timeout().3, [0]);
    trace.at(130).ack(2);
    trace.at(225).sack(2, &[(0, 1)]);
    assert_eq!((trace.tx.cwnd(), trace.tx.ssthresh(), trace.tx.counters().undone), (2_000, u64::MAX, 1));
}
