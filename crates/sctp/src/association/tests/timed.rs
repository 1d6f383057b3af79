//! Losses by time (RFC 8985): what has been overtaken on its path, probes, and what is taken back.

use super::*;
use crate::config::{FastRetransmitPath, LossDetection};
use crate::path::{Path, PathState};
use crate::policy::PotentiallyFailed;
use slantpath_base::DataRate;
use slantpath_cc::{Algorithm, CongestionControl};

/// A packet's DATA chunk with a payload of 1,400 bytes.
const P: u64 = 1_416;
/// Half of 20 such chunks and of what the SACK opens that shows the loss.
const HALF: u64 = u64::midpoint(20 * P, 1_468);

fn rack() -> SctpConfig {
    SctpConfig {
        loss_detection: LossDetection::Rack,
        initial_cwnd_bytes: Some(20 * P),
        max_burst: 40,
        ..quiet()
    }
}

/// End 0 has sent so many chunks at 0 s, none of which arrives; the round trip is known to take 100 ms.
fn in_flight(paths: usize, count: u64, config: SctpConfig) -> Wire {
    let mut wire = Wire::new(paths, config);
    for path in wire.ends[0].paths.iter_mut() {
        path.sample_rtt(Duration::from_millis(100));
    }
    wire.decide(|_| is_lost());
    wire.send(0, 0..count, 1_400);
    assert_eq!(wire.log.len() as u64, count);
    wire
}

fn at(wire: &mut Wire, millis: u64) {
    wire.run_until(Instant::from_millis(millis));
}

/// The chunks that end 0 has sent since `before`, counted from 1, by path.
fn sent_since(wire: &Wire, before: usize) -> Vec<(usize, u32)> {
    let number = |tsn| Tsn(tsn).distance_from(Tsn(u32::MAX - 4));
    let sent = wire.log[before..].iter().filter(|sent| sent.from == 0);
    sent.flat_map(|sent| sent.tsns().into_iter().map(move |tsn| (sent.path, number(tsn)))).collect()
}

/// Hands a SACK in at so many milliseconds, and gives what is sent upon it.
fn sacked(wire: &mut Wire, millis: u64, acked: u32, blocks: &[(u16, u16)]) -> Vec<u32> {
    sacked_with(wire, millis, acked, blocks, &[])
}

/// Variant of `sacked` with duplicates, counted from 1.
fn sacked_with(
    wire: &mut Wire,
    millis: u64,
    acked: u32,
    blocks: &[(u16, u16)],
    duplicates: &[u32],
) -> Vec<u32> {
    at(wire, millis);
    let before = wire.log.len();
    let Chunk::Sack(mut sack) = sack(acked, blocks) else { unreachable!("it makes a SACK") };
    sack.duplicates = duplicates.iter().map(|number| Tsn(u32::MAX - 4).plus(*number)).collect();
    wire.inject(0, 0, &[Chunk::Sack(sack)]);
    sent_since(wire, before).into_iter().map(|(_, number)| number).collect()
}

/// Lets the next deadline pass and gives when that was, in milliseconds, and what was sent.
fn deadline(wire: &mut Wire) -> (u64, Vec<u32>) {
    let before = wire.log.len();
    assert!(wire.step(), "a deadline is set");
    let sent = sent_since(wire, before).into_iter().map(|(_, number)| number).collect();
    (wire.now.since_start().as_millis(), sent)
}

fn stats(wire: &Wire) -> (u64, u64, u64) {
    let stats = wire.path(0, 0).stats;
    (stats.retransmissions, stats.timeouts, stats.undone_reductions)
}

#[test]
fn one_chunk_out_of_order_is_waited_for_by_a_quarter_of_a_round_trip() {
    let mut wire = in_flight(1, 4, rack());
    assert_eq!(sacked(&mut wire, 100, 0, &[(2, 2)]), []);
    assert_eq!(deadline(&mut wire), (125, vec![1]));
    assert_eq!(wire.path(0, 0).ssthresh, 10 * P);
    assert!(wire.ends[0].snapshot().is_in_fast_recovery);
    // In time: no loss.
    let mut late = in_flight(1, 4, rack());
    sacked(&mut late, 100, 0, &[(2, 2)]);
    assert_eq!(sacked(&mut late, 124, 2, &[]), []);
    assert_eq!((stats(&late), late.path(0, 0).ssthresh), ((0, 0, 0), u64::from(u32::MAX)));
}

#[test]
fn three_chunks_out_of_order_are_not_waited_for_unless_reordering_has_been_seen() {
    let mut wire = in_flight(1, 8, rack());
    assert_eq!(sacked(&mut wire, 100, 0, &[(2, 3)]), []);
    assert_eq!(sacked(&mut wire, 101, 0, &[(2, 4)]), [1]);
    // The first comes late after all, once: of the next hole a quarter of a round trip is waited for.
    let mut seen = in_flight(1, 8, rack());
    sacked(&mut seen, 100, 0, &[(2, 2)]);
    sacked(&mut seen, 110, 2, &[]);
    assert_eq!(sacked(&mut seen, 111, 2, &[(2, 5)]), []);
    assert_eq!(deadline(&mut seen), (136, vec![3]));
}

#[test]
fn a_retransmission_that_is_lost_goes_again_once_something_sent_after_it_has_arrived() {
    let mut wire = in_flight(1, 20, rack());
    wire.send(0, 20..40, 1_400);
    assert_eq!(sacked(&mut wire, 100, 0, &[(2, 4)]), [1, 21]);
    // What is sent now comes after it, as much as the window allows.
    assert_eq!(sacked(&mut wire, 110, 0, &[(2, 20)]), [22, 23, 24, 25, 26, 27, 28, 29, 30]);
    // Chunk 21 left together with it, and after it in the order of TSNs.
    let again = sacked(&mut wire, 200, 0, &[(2, 21)]);
    assert_eq!(again[0], 1, "{again:?}");
    // It is the same congestion: the window is not reduced again.
    assert_eq!((wire.path(0, 0).ssthresh, stats(&wire)), (HALF, (2, 0, 0)));
}

#[test]
fn a_recovery_lets_out_in_proportion_to_what_arrives() {
    let mut wire = in_flight(1, 20, rack());
    wire.send(0, 20..60, 1_400);
    assert_eq!(sacked(&mut wire, 100, 0, &[(2, 4)]), [1, 21]);
    // Half the window: one packet leaves for two that arrive.
    let sent: Vec<usize> =
        (5..=20).map(|last| sacked(&mut wire, 100 + u64::from(last), 0, &[(2, last)]).len()).collect();
    assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1]);
}

#[test]
fn a_loss_of_what_was_sent_after_a_recovery_began_begins_the_next() {
    let mut wire = in_flight(1, 20, rack());
    wire.send(0, 20..60, 1_400);
    sacked(&mut wire, 100, 0, &[(2, 4)]);
    assert_eq!(sacked(&mut wire, 110, 0, &[(2, 20)]), [22, 23, 24, 25, 26, 27, 28, 29, 30]);
    // Chunk 22 was sent after it began, and is lost.
    let again = sacked(&mut wire, 215, 21, &[(2, 9)]);
    assert_eq!(again[0], 22, "{again:?}");
    assert_eq!(wire.path(0, 0).ssthresh, HALF / 2);
}

#[test]
fn the_loss_of_the_last_chunk_is_found_by_a_probe_after_two_round_trips() {
    let mut wire = in_flight(1, 10, rack());
    assert_eq!(sacked(&mut wire, 100, 9, &[]), []);
    // One packet is in flight, whose SACK may be delayed by 200 ms.
    assert_eq!(deadline(&mut wire), (500, vec![10]));
    assert_eq!(stats(&wire), (1, 0, 0));
    // The probe repaired the loss; what comes after it shows that there was one.
    sacked(&mut wire, 600, 10, &[]);
    assert_eq!(wire.path(0, 0).ssthresh, u64::from(u32::MAX));
    at(&mut wire, 700);
    wire.send(0, 10..11, 1_400);
    sacked(&mut wire, 800, 11, &[]);
    assert!(wire.path(0, 0).ssthresh < u64::from(u32::MAX));
}

#[test]
fn a_probe_whose_both_copies_arrive_shows_no_loss() {
    let mut wire = in_flight(1, 10, rack());
    sacked(&mut wire, 100, 9, &[]);
    deadline(&mut wire);
    sacked(&mut wire, 600, 10, &[]);
    sacked_with(&mut wire, 601, 10, &[], &[10]);
    at(&mut wire, 700);
    wire.send(0, 10..11, 1_400);
    sacked(&mut wire, 800, 11, &[]);
    assert_eq!(wire.path(0, 0).ssthresh, u64::from(u32::MAX));
}

#[test]
fn a_probe_is_new_data_if_there_is_any_and_the_second_is_the_timeout() {
    let mut wire = in_flight(1, 20, rack());
    wire.send(0, 20..22, 1_400);
    // The window is full.
    assert_eq!(deadline(&mut wire), (200, vec![21]));
    assert_eq!(stats(&wire), (0, 0, 0));
    // T3-rtx counts from the probe.
    let (millis, sent) = deadline(&mut wire);
    assert_eq!((millis, sent), (1_200, vec![1]));
    assert_eq!(stats(&wire), (1, 1, 0));
}

#[test]
fn no_probe_is_due_while_something_is_out_of_order_or_repaired() {
    let mut wire = in_flight(1, 4, rack());
    sacked(&mut wire, 100, 0, &[(3, 3)]);
    // Both are lost; nothing has arrived that would let a second packet out.
    assert_eq!(deadline(&mut wire), (125, vec![1]));
    // The next is T3-rtx, which the first chunk's retransmission has restarted.
    let (millis, _) = deadline(&mut wire);
    assert_eq!((millis, stats(&wire).1), (1_125, 1));
}

#[test]
fn what_the_peer_had_already_gives_the_window_back() {
    let mut wire = in_flight(1, 8, rack());
    assert_eq!(sacked(&mut wire, 100, 0, &[(2, 4)]), [1]);
    sacked(&mut wire, 105, 4, &[]);
    assert_eq!(wire.path(0, 0).ssthresh, 10 * P);
    // The first chunk came late, and its repetition in vain.
    sacked_with(&mut wire, 201, 4, &[], &[1]);
    assert_eq!((wire.path(0, 0).ssthresh, wire.path(0, 0).cwnd), (u64::from(u32::MAX), 20 * P));
    assert_eq!(stats(&wire), (1, 0, 1));
    assert!(!wire.ends[0].snapshot().is_in_fast_recovery);
}

#[test]
fn two_repetitions_of_which_one_was_needed_give_nothing_back() {
    let mut wire = in_flight(1, 8, rack());
    assert_eq!(sacked(&mut wire, 100, 0, &[(3, 6)]), [1, 2]);
    sacked(&mut wire, 110, 0, &[(3, 8)]);
    sacked_with(&mut wire, 210, 8, &[], &[2]);
    // Nor does a duplicate of what was not retransmitted.
    assert_eq!((wire.path(0, 0).ssthresh, stats(&wire)), (10 * P, (2, 0, 0)));
}

#[test]
fn a_timeout_while_the_network_still_delivers_is_taken_back() {
    let mut wire = in_flight(1, 8, rack());
    sacked(&mut wire, 100, 4, &[]);
    // The path stops for longer than the timers wait: a probe, then T3-rtx.
    assert_eq!(deadline(&mut wire), (300, vec![8]));
    assert_eq!(deadline(&mut wire), (1_300, vec![5]));
    assert_eq!(wire.path(0, 0).cwnd, P.max(1_468));
    at(&mut wire, 1_400);
    wire.send(0, 8..20, 1_400);
    // It goes on: what was sent once, long before T3-rtx expired, arrives.
    let sent = sacked(&mut wire, 2_000, 6, &[]);
    assert!(!sent.contains(&7) && sent.contains(&9), "{sent:?}");
    assert_eq!((wire.path(0, 0).ssthresh, stats(&wire).2), (u64::from(u32::MAX), 1));
    assert!(wire.path(0, 0).cwnd >= 20 * P);
    assert!(wire.path(0, 0).flight_size > 2 * P, "what was given up is on its way");
}

#[test]
fn a_timeout_after_which_only_the_repetition_arrives_is_a_loss() {
    let mut wire = in_flight(1, 4, rack());
    sacked(&mut wire, 100, 2, &[]);
    assert_eq!(deadline(&mut wire), (300, vec![4]));
    assert_eq!(deadline(&mut wire), (1_300, vec![3]));
    sacked(&mut wire, 1_400, 3, &[]);
    assert_eq!(stats(&wire).2, 0);
    assert_eq!(wire.path(0, 0).ssthresh, 10 * P);
}

#[test]
fn what_was_sent_just_before_a_timeout_and_arrives_after_it_says_nothing() {
    let mut wire = in_flight(1, 1, rack());
    at(&mut wire, 290);
    // The probe for chunk 1 is out; the next chunk leaves shortly before T3-rtx expires.
    let (expires, sent) = loop {
        let next = wire.next_at().unwrap();
        if stats(&wire).0 > 0 && next > Instant::from_millis(1_000) {
            wire.run_until(Instant::from_millis(next.since_start().as_millis() - 20));
            wire.send(0, 1..2, 1_400);
            break deadline(&mut wire);
        }
        wire.step();
    };
    assert_eq!((stats(&wire).1, sent.contains(&1)), (1, true));
    sacked(&mut wire, expires + 90, 0, &[(2, 2)]);
    assert_eq!(stats(&wire).2, 0);
}

#[test]
fn whatever_the_path_delivers_restarts_t3_rtx() {
    let mut wire = in_flight(1, 20, rack());
    assert_eq!(wire.ends[0].paths[PathId(0)].t3_rtx(), Some(Instant::from_secs(1)));
    sacked(&mut wire, 100, 0, &[(3, 3)]);
    assert_eq!(wire.ends[0].paths[PathId(0)].t3_rtx(), Some(Instant::from_millis(1_100)));
    // Nothing new.
    sacked(&mut wire, 110, 0, &[(3, 3)]);
    assert_eq!(wire.ends[0].paths[PathId(0)].t3_rtx(), Some(Instant::from_millis(1_100)));
}

#[test]
fn one_round_trip_is_measured_in_each_whatever_was_sent_again_meanwhile() {
    let mut wire = in_flight(1, 20, rack());
    wire.send(0, 20..40, 1_400);
    let samples = |wire: &Wire| wire.path(0, 0).stats.rtt_samples;
    let before = samples(&wire);
    sacked(&mut wire, 100, 2, &[]);
    sacked(&mut wire, 110, 4, &[]);
    assert_eq!(samples(&wire), before + 1);
    // Chunk 5 goes again before anything that was sent at 100 ms comes back.
    assert_eq!(sacked(&mut wire, 120, 4, &[(2, 5)])[0], 5);
    sacked(&mut wire, 210, 4, &[(2, 18)]);
    assert_eq!(samples(&wire), before + 2);
    sacked(&mut wire, 220, 23, &[]);
    assert_eq!(samples(&wire), before + 2);
}

#[test]
fn a_window_that_has_grown_stays_while_nothing_pauses() {
    let congestion_control = Algorithm::Hybla;
    let mut wire = in_flight(1, 20, SctpConfig { congestion_control, ..rack() });
    wire.send(0, 20..60, 1_400);
    sacked(&mut wire, 100, 2, &[]);
    let cwnd = wire.path(0, 0).cwnd;
    assert!(cwnd > 20 * P, "{cwnd}");
    at(&mut wire, 101);
    wire.send(0, 60..61, 1_400);
    assert_eq!(wire.path(0, 0).cwnd, cwnd);
    sacked(&mut wire, 102, 4, &[]);
    assert!(wire.path(0, 0).cwnd > cwnd);
}

#[test]
fn what_is_held_is_not_asked_for_ever_once_the_peer_has_no_room() {
    let capacity = Some(DataRate::from_bits_per_sec(1_132_800));
    let congestion_control = Algorithm::Backlog;
    let config = SctpConfig { congestion_control, known_capacity: capacity, ..rack() };
    let mut wire = in_flight(1, 20, config);
    wire.send(0, 20..60, 1_400);
    assert_eq!(sacked(&mut wire, 100, 10, &[]), [21, 22, 23]);
    assert_eq!(wire.next_at(), Some(Instant::from_millis(130)));
    let Chunk::Sack(mut closed) = sack(10, &[(2, 2)]) else { unreachable!("it makes a SACK") };
    closed.a_rwnd = 0;
    at(&mut wire, 110);
    wire.inject(0, 0, &[Chunk::Sack(closed)]);
    // Whoever drives it may be late.
    wire.now = Instant::from_millis(135);
    wire.ends[0].handle_deadline(wire.now);
    wire.drain();
    assert!(wire.next_at().unwrap() > wire.now);
}

#[test]
fn a_duplicate_of_what_was_not_outstanding_at_the_reduction_gives_nothing_back() {
    for (duplicate, undone) in [(2, 0), (3, 1), (24, 1), (25, 0)] {
        let mut wire = in_flight(1, 20, rack());
        wire.send(0, 20..60, 1_400);
        assert_eq!(sacked(&mut wire, 100, 2, &[]), [21, 22, 23, 24]);
        assert_eq!(sacked(&mut wire, 101, 2, &[(2, 4)])[0], 3);
        sacked(&mut wire, 110, 20, &[]);
        sacked_with(&mut wire, 210, 24, &[], &[duplicate]);
        assert_eq!(stats(&wire).2, undone, "{duplicate}");
    }
}

#[test]
fn a_window_that_has_grown_beyond_what_it_was_is_not_taken_back() {
    let mut wire = in_flight(1, 8, rack());
    sacked(&mut wire, 100, 0, &[(2, 4)]);
    sacked(&mut wire, 105, 8, &[]);
    let path = &mut wire.ends[0].paths[PathId(0)];
    let grown =
        slantpath_cc::sctp::SctpController::new(slantpath_cc::SctpPolicy::default(), 1_468, 40 * P, 30 * P);
    path.cc = slantpath_cc::Controller::Standard(grown);
    sacked_with(&mut wire, 201, 8, &[], &[1]);
    assert_eq!((wire.path(0, 0).cwnd, wire.path(0, 0).ssthresh, stats(&wire).2), (40 * P, 30 * P, 1));
}

#[test]
fn a_window_that_is_given_back_counts_in_chunks_that_the_path_carries_by_now() {
    let mut wire = in_flight(1, 8, rack());
    sacked(&mut wire, 100, 0, &[(2, 4)]);
    sacked(&mut wire, 105, 8, &[]);
    let destination = wire.ends[0].paths[PathId(0)].destination;
    wire.ends[0].handle_packet_too_big(wire.now, destination, 1_300);
    wire.drain();
    sacked_with(&mut wire, 201, 8, &[], &[1]);
    assert_eq!((wire.path(0, 0).cwnd, stats(&wire).2), (20 * P, 1));
    wire.ends[0].paths[PathId(0)].collapse_window(slantpath_cc::control::LossEvent::New);
    assert_eq!(wire.path(0, 0).cwnd, 1_268);
}

#[test]
fn what_a_full_sack_does_not_tell_of_is_not_lost_however_much_has_overtaken_it() {
    let every_second = |first: u16, count: u16| -> Vec<(u16, u16)> {
        (0..count).map(|n| (first + 2 * n, first + 2 * n)).collect()
    };
    let mut wire = in_flight(1, 80, SctpConfig { initial_cwnd_bytes: Some(80 * P), max_burst: 80, ..rack() });
    let in_flight = |wire: &Wire| wire.path(0, 0).flight_size / P;
    // Sixteen blocks, up to chunk 32: there may be no room for more.
    assert_eq!(sacked(&mut wire, 100, 0, &every_second(2, 16)), [1, 3, 5, 7, 9, 11, 13, 15, 17]);
    assert_eq!(in_flight(&wire), 57);
    // A repetition has overtaken all of the first flight. The SACK tells that chunk 33 is missing, and of none behind.
    assert_eq!(sacked(&mut wire, 200, 2, &every_second(2, 16)), [19]);
    assert_eq!(in_flight(&wire), 55);
    // With room to spare it tells of all: 35 and everything behind is lost.
    let repaired = sacked(&mut wire, 201, 4, &every_second(2, 15));
    assert_eq!(repaired, [21, 23, 25, 27, 29, 31, 33, 35, 36, 37, 38]);
    assert_eq!(in_flight(&wire), 19);
}

#[test]
fn a_second_probe_is_sent_only_once_a_round_trip_has_been_measured() {
    let mut wire = in_flight(1, 10, rack());
    sacked(&mut wire, 100, 9, &[]);
    assert_eq!(deadline(&mut wire), (500, vec![10]));
    // Both copies arrive, which measures nothing.
    sacked_with(&mut wire, 600, 10, &[], &[10]);
    at(&mut wire, 700);
    wire.send(0, 10..11, 1_400);
    // T3-rtx counts from here.
    assert_eq!(deadline(&mut wire), (1_100, vec![]));
    assert_eq!(deadline(&mut wire), (2_100, vec![11]));
    let mut measured = in_flight(1, 10, rack());
    sacked(&mut measured, 100, 9, &[]);
    deadline(&mut measured);
    sacked_with(&mut measured, 600, 10, &[], &[10]);
    at(&mut measured, 700);
    measured.send(0, 10..11, 1_400);
    sacked(&mut measured, 800, 11, &[]);
    at(&mut measured, 900);
    measured.send(0, 11..12, 1_400);
    assert_eq!(deadline(&mut measured), (1_300, vec![12]));
}

#[test]
fn a_later_loss_that_is_found_while_a_recovery_lasts_begins_the_next_at_its_end() {
    let mut wire = in_flight(1, 20, rack());
    wire.send(0, 20..60, 1_400);
    sacked(&mut wire, 100, 0, &[(2, 4)]);
    assert_eq!(sacked(&mut wire, 110, 0, &[(2, 20)]), [22, 23, 24, 25, 26, 27, 28, 29, 30]);
    // Chunk 22 is found lost, while chunk 1 is still missing.
    sacked(&mut wire, 215, 0, &[(2, 21), (23, 30)]);
    assert_eq!(wire.path(0, 0).ssthresh, HALF);
    // Nothing is found lost any more, but the recovery ends with what it was for.
    sacked(&mut wire, 216, 21, &[(2, 9)]);
    assert_eq!(wire.path(0, 0).ssthresh, HALF / 2);
}

#[test]
fn a_timeout_in_a_recovery_is_of_the_same_losses() {
    let mut wire = in_flight(1, 20, rack());
    sacked(&mut wire, 100, 0, &[(2, 4)]);
    let ssthresh = wire.path(0, 0).ssthresh;
    while stats(&wire).1 == 0 {
        wire.step();
    }
    assert_eq!((wire.path(0, 0).ssthresh, wire.path(0, 0).cwnd), (ssthresh, 1_468));
}

#[test]
fn no_probe_is_due_in_a_recovery_in_which_nothing_is_out_of_order() {
    let mut wire = in_flight(1, 20, rack());
    sacked(&mut wire, 100, 0, &[(2, 4)]);
    sacked(&mut wire, 110, 5, &[]);
    // T3-rtx, and not two round trips.
    assert_eq!(wire.next_at(), Some(Instant::from_millis(1_110)));
}

#[test]
fn a_probe_that_was_sent_again_before_a_timeout_says_nothing_of_it() {
    let mut wire = in_flight(1, 4, rack());
    sacked(&mut wire, 100, 2, &[]);
    assert_eq!(deadline(&mut wire), (300, vec![4]));
    assert_eq!(deadline(&mut wire), (1_300, vec![3]));
    // Either copy of chunk 4.
    sacked(&mut wire, 1_310, 2, &[(2, 2)]);
    assert_eq!(stats(&wire).2, 0);
}

#[test]
fn a_probe_repeats_the_last_chunk_where_the_peer_has_no_room_for_more_and_on_another_path() {
    let mut full = in_flight(1, 20, rack());
    full.send(0, 20..22, 1_400);
    let Chunk::Sack(mut closed) = sack(1, &[]) else { unreachable!("it makes a SACK") };
    closed.a_rwnd = 0;
    at(&mut full, 100);
    full.inject(0, 0, &[Chunk::Sack(closed)]);
    assert_eq!(deadline(&mut full), (300, vec![20]));
    let mut other = in_flight(2, 20, rack());
    let second = address(1, 1);
    at(&mut other, 10);
    other.ends[0].set_primary(other.now, second);
    other.send(0, 20..45, 1_400);
    let before = other.log.len();
    assert_eq!(deadline(&mut other), (200, vec![20]));
    assert_eq!(deadline(&mut other), (210, vec![41]));
    assert_eq!(sent_since(&other, before), [(0, 20), (1, 41)]);
}

#[test]
fn each_path_is_told_by_what_was_sent_on_it() {
    let mut wire = in_flight(2, 4, rack());
    let second = address(1, 1);
    wire.ends[0].set_primary(wire.now, second);
    wire.send(0, 4..12, 1_400);
    assert_eq!(sent_since(&wire, 4).iter().map(|(path, _)| *path).collect::<Vec<_>>(), [1; 8]);
    // All of the second path arrives before anything of the first: nothing has been overtaken.
    assert_eq!(sacked(&mut wire, 60, 0, &[(5, 12)]), []);
    assert_eq!(sacked(&mut wire, 100, 1, &[(4, 11)]), []);
    assert_eq!(stats(&wire), (0, 0, 0));
    // Of the first path's own chunks the second is missing.
    assert_eq!(sacked(&mut wire, 100, 1, &[(2, 11)]), []);
    assert_eq!(deadline(&mut wire), (125, vec![2]));
    assert_eq!((wire.path(0, 0).ssthresh, wire.path(0, 1).ssthresh), (10 * P, u64::from(u32::MAX)));
}

#[test]
fn a_fast_retransmission_takes_the_path_of_the_least_delay_if_the_policy_says_so() {
    let config = SctpConfig { fast_retransmit_path: FastRetransmitPath::LowestDelay, ..rack() };
    for (round_trip, expected) in [(50, 1), (99, 1), (101, 0)] {
        let mut wire = in_flight(2, 8, config.clone());
        let path = wire.ends[0].paths.iter_mut().nth(1).unwrap();
        path.rtt = slantpath_cc::RttEstimator::new(config.rto());
        path.sample_rtt(Duration::from_millis(round_trip));
        let before = wire.log.len();
        sacked(&mut wire, 100, 0, &[(2, 4)]);
        assert_eq!(sent_since(&wire, before), [(expected, 1)], "{round_trip} ms");
    }
}

#[test]
fn what_a_peer_revokes_is_lost_at_once() {
    let mut wire = in_flight(1, 8, rack());
    sacked(&mut wire, 100, 0, &[(3, 6)]);
    // Chunk 3 is told of no more.
    assert_eq!(sacked(&mut wire, 101, 1, &[(3, 5)])[..1], [3]);
}

#[test]
fn what_the_controller_paces_waits_for_its_turn() {
    let capacity = Some(DataRate::from_bits_per_sec(1_132_800));
    let congestion_control = Algorithm::Backlog;
    let config = SctpConfig { congestion_control, known_capacity: capacity, ..rack() };
    let mut wire = Wire::new(1, config);
    wire.send(0, 0..40, 1_400);
    at(&mut wire, 400);
    // 1,132,800 bit/s are a packet in ten milliseconds.
    let at_ms: Vec<u64> =
        data_packets(&wire, 0).iter().map(|sent| sent.at.since_start().as_millis()).collect();
    // The first window at once, since no round trip is known; then three in the time of three.
    let expected = [100, 130, 160, 190, 220, 250].into_iter().flat_map(|at| [at; 3]).chain([280, 280]);
    assert_eq!(at_ms, core::iter::repeat_n(0, 20).chain(expected).collect::<Vec<_>>());
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..40).collect::<Vec<_>>());
}

#[test]
fn a_timer_that_is_late_does_not_slow_down_what_is_paced() {
    let capacity = Some(DataRate::from_bits_per_sec(1_132_800));
    let congestion_control = Algorithm::Backlog;
    let config = SctpConfig { congestion_control, known_capacity: capacity, ..rack() };
    let mut wire = Wire::new(1, config);
    wire.send(0, 0..40, 1_400);
    at(&mut wire, 129);
    let before = data_packets(&wire, 0).len();
    // What is due at 130 ms leaves 3 ms later; nine packets have left by 200 ms, as they would have if it had not.
    wire.now = Instant::from_millis(133);
    wire.ends[0].handle_deadline(wire.now);
    wire.drain();
    at(&mut wire, 200);
    let sent = data_packets(&wire, 0);
    let at_ms: Vec<u64> = sent[before..].iter().map(|sent| sent.at.since_start().as_millis()).collect();
    assert_eq!(at_ms, [133, 133, 133, 160, 160, 180, 180, 200, 200]);
}

#[test]
fn a_controller_takes_round_trips_from_the_way_back_that_the_peer_keeps_to() {
    // The path by which the first SACK comes, its gaps, and whether the first path's rate is known then.
    let gap: &[(u16, u16)] = &[(2, 2)];
    for (from, blocks, is_known) in [(0, &[][..], true), (0, gap, true), (1, &[], true), (1, gap, false)] {
        let config = SctpConfig { congestion_control: Algorithm::Backlog, ..rack() };
        let mut wire = Wire::new(2, config);
        wire.decide(|_| is_lost());
        wire.send(0, 0..12, 1_400);
        at(&mut wire, 100);
        wire.inject(0, from, &[sack(1, blocks)]);
        let first = wire.ends[0].paths.iter().next().unwrap();
        assert_eq!(first.cc.pacing_rate().is_some(), is_known, "by path {from}, {blocks:?}");
    }
}

#[test]
fn once_a_path_has_answered_by_itself_no_other_way_back_ends_its_round_trips() {
    let mut path = Path::new(address(1, 0), address(0, 0), PathState::Active, &rack());
    assert!(path.ends_round_trip(false, false));
    assert!(path.ends_round_trip(true, true), "it acknowledges nothing of this path");
    assert!(path.ends_round_trip(false, false));
    path.tally.newly_acked = 1;
    assert!(path.ends_round_trip(true, true));
    assert!(!path.ends_round_trip(false, false));
    assert!(!path.ends_round_trip(false, true));
    assert!(path.ends_round_trip(true, false));
}

#[test]
fn max_burst_limits_nothing_that_is_paced() {
    let capacity = Some(DataRate::from_bits_per_sec(1_132_800));
    let congestion_control = Algorithm::Backlog;
    let config = SctpConfig { congestion_control, known_capacity: capacity, max_burst: 1, ..rack() };
    let mut wire = Wire::new(1, config);
    // No round trip is known yet: one packet, and one for each SACK.
    wire.send(0, 0..4, 1_400);
    assert_eq!(data_packets(&wire, 0).len(), 1);
    at(&mut wire, 400);
    let before = data_packets(&wire, 0).len();
    wire.send(0, 4..20, 1_400);
    assert_eq!(data_packets(&wire, 0).len() - before, 3);
}

/// A packet without a chunk is none (RFC 9260, section 3).
#[test]
fn a_probe_goes_elsewhere_from_a_path_that_is_not_active_any_more() {
    let config = SctpConfig { potentially_failed: PotentiallyFailed::Above(0), ..rack() };
    let mut wire = in_flight(2, 0, config);
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.drain();
    at(&mut wire, 850);
    wire.send(0, 0..1, 1_400);
    at(&mut wire, 1_249);
    assert_eq!(wire.path(0, 0).state, PathState::PotentiallyFailed);
    let before = wire.log.len();
    // Two round trips and the delay of a SACK.
    at(&mut wire, 1_250);
    assert_eq!(sent_since(&wire, before), [(1, 1)]);
    assert_eq!(wire.log[before..].iter().map(|sent| sent.chunks.len()).collect::<Vec<_>>(), [1]);
}
