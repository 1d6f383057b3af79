//! Loss is found and repaired; windows and timers follow (RFC 9260, sections 6.3 and 7.2).

use super::*;

#[test]
fn sack_with_gap_blocks_triggers_fast_retransmit_after_three_reports() {
    let mut wire = Wire::new(1, quiet());
    lose_first(&mut wire, &[0]);
    wire.send(0, 0..8, 1_000);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..8).collect::<Vec<_>>());
    let again: Vec<_> =
        data_packets(&wire, 0).into_iter().filter(|sent| sent.tsns() == [u32::MAX - 3]).collect();
    assert_eq!(again.len(), 2, "sent twice");
    // The other three of the first flight arrive at 50 ms, and each reports the gap.
    assert_eq!(again[1].at, Instant::from_millis(100));
    assert_eq!(wire.path(0, 0).stats.timeouts, 0);
    assert_eq!(wire.path(0, 0).ssthresh, 4 * 1_468);
}

/// End 0 has sent ten chunks, none of which arrives.
fn ten_in_flight(threshold: u32) -> Wire {
    let config = SctpConfig { initial_cwnd_bytes: Some(20_000), max_burst: 10, ..quiet() };
    let mut wire = Wire::new(1, SctpConfig { fast_retransmit_threshold: threshold, ..config });
    wire.decide(|_| is_lost());
    wire.send(0, 0..10, 1_400);
    assert_eq!(wire.log.len(), 10);
    wire
}

#[test]
fn four_reports_are_needed_if_the_policy_says_so() {
    for threshold in [3, 4] {
        let mut wire = ten_in_flight(threshold);
        for report in 1..threshold {
            wire.inject(0, 0, &[sack(0, &[(2, 1 + report as u16)])]);
            assert_eq!(wire.log.len(), 10, "report {report} of {threshold}");
        }
        wire.inject(0, 0, &[sack(0, &[(2, 1 + threshold as u16)])]);
        assert_eq!(wire.log.len(), 11);
        assert_eq!(wire.log[10].tsns(), [u32::MAX - 3]);
    }
}

#[test]
fn only_what_lies_before_the_highest_newly_acknowledged_tsn_counts_as_missing() {
    let mut wire = ten_in_flight(3);
    wire.inject(0, 0, &[sack(0, &[(2, 2), (10, 10)])]);
    // Chunk 4 arrives: chunks 1 and 3 lie before it, chunks 5 to 9 do not.
    wire.inject(0, 0, &[sack(0, &[(2, 2), (4, 4), (10, 10)])]);
    wire.inject(0, 0, &[sack(0, &[(2, 2), (4, 5), (10, 10)])]);
    let again: Vec<_> = wire.log[10..].iter().flat_map(Sent::tsns).collect();
    assert_eq!(again, [u32::MAX - 3, u32::MAX - 1], "chunk 1 and chunk 3");
}

#[test]
fn a_repeated_sack_counts_nothing() {
    let mut wire = ten_in_flight(3);
    for _ in 0..10 {
        wire.inject(0, 0, &[sack(0, &[(2, 2)])]);
    }
    assert_eq!(wire.log.len(), 10);
}

#[test]
fn what_was_fast_retransmitted_is_not_fast_retransmitted_again() {
    let mut wire = ten_in_flight(3);
    for end in 2..=10 {
        wire.inject(0, 0, &[sack(0, &[(2, end)])]);
    }
    assert_eq!(wire.log.len(), 11);
    assert_eq!(wire.path(0, 0).stats.timeouts, 0);
}

#[test]
fn in_fast_recovery_a_cumulative_advance_counts_all_that_is_missing() {
    let mut wire = ten_in_flight(3);
    // Chunks 1 and 8 are missing; chunk 8 has had one report when recovery begins.
    wire.inject(0, 0, &[sack(0, &[(2, 3)])]);
    wire.inject(0, 0, &[sack(0, &[(2, 5)])]);
    wire.inject(0, 0, &[sack(0, &[(2, 7), (9, 9)])]);
    assert!(wire.ends[0].snapshot().is_in_fast_recovery);
    assert_eq!(wire.log.len(), 11);
    // The retransmission is acknowledged; no TSN behind chunk 8 is newly acknowledged.
    wire.inject(0, 0, &[sack(6, &[(3, 3)])]);
    wire.inject(0, 0, &[sack(7, &[(2, 2)])]);
    assert_eq!(wire.log[11..].iter().flat_map(Sent::tsns).collect::<Vec<_>>(), [3]);
}

#[test]
fn an_old_sack_is_dropped() {
    let mut wire = ten_in_flight(3);
    wire.inject(0, 0, &[sack(5, &[])]);
    let before = wire.path(0, 0);
    wire.inject(0, 0, &[sack(3, &[(2, 4)])]);
    assert_eq!(wire.path(0, 0), before);
}

#[test]
fn the_window_does_not_grow_in_fast_recovery() {
    let mut wire = ten_in_flight(3);
    for end in 2..=4 {
        wire.inject(0, 0, &[sack(0, &[(2, end)])]);
    }
    let cwnd = wire.path(0, 0).cwnd;
    wire.inject(0, 0, &[sack(0, &[(2, 8)])]);
    wire.inject(0, 0, &[sack(9, &[])]);
    assert_eq!(wire.path(0, 0).cwnd, cwnd);
    assert!(wire.ends[0].snapshot().is_in_fast_recovery, "the exit point is chunk 10");
    wire.inject(0, 0, &[sack(10, &[])]);
    assert!(!wire.ends[0].snapshot().is_in_fast_recovery);
}

#[test]
fn fast_recovery_halves_the_window_once_however_many_are_lost() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..40, 1_000);
    wire.run_to_rest();
    let before = wire.path(0, 0).cwnd;
    let mut dropped = 0;
    wire.decide(move |sent| {
        if sent.from == 0 && sent.has_data() && dropped < 3 {
            dropped += 1;
            return is_lost();
        }
        arrives()
    });
    wire.send(0, 40..60, 1_000);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..60).collect::<Vec<_>>());
    let after = wire.path(0, 0);
    assert_eq!(after.ssthresh, (before / 2).max(4 * 1_468));
    assert_eq!(after.stats.timeouts, 0);
}

#[test]
fn a_lost_last_packet_is_repeated_after_one_rto() {
    let mut wire = Wire::new(1, quiet());
    lose_first(&mut wire, &[0]);
    wire.send(0, 0..1, 100);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0]);
    let times: Vec<_> = data_packets(&wire, 0).iter().map(|sent| sent.at).collect();
    assert_eq!(times, [Instant::START, Instant::from_secs(1)]);
    assert_eq!(wire.path(0, 0).cwnd, 1_468);
    assert_eq!(wire.path(0, 0).rto, Duration::from_secs(2), "Karn: no round trip of a retransmission");
}

#[test]
fn timeouts_back_off_until_the_association_gives_up() {
    let mut wire = Wire::new(1, SctpConfig { association_max_retrans: 3, ..quiet() });
    wire.decide(|_| is_lost());
    wire.send(0, 0..2, 100);
    wire.run_to_rest();
    let times: Vec<_> =
        data_packets(&wire, 0).iter().map(|sent| sent.at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(times, [0, 1, 3, 7]);
    assert_eq!(wire.now, Instant::from_secs(15));
    let failed = wire.events[0].iter().filter(|event| matches!(event, Event::SendFailed { .. })).count();
    assert_eq!(failed, 2);
    assert_eq!(wire.events[0].last(), Some(&Event::Closed(CloseReason::PeerUnreachable)));
}

#[test]
fn after_a_timeout_one_packet_at_a_time_until_something_is_acknowledged() {
    let mut wire = Wire::new(1, quiet());
    let mut count = 0;
    wire.decide(move |sent| {
        count += u32::from(sent.from == 0);
        if sent.from == 0 && count <= 4 { is_lost() } else { arrives() }
    });
    wire.send(0, 0..12, 1_200);
    wire.run_until(Instant::from_millis(1_050));
    assert_eq!(data_packets(&wire, 0).len(), 5, "four lost, one repeated");
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..12).collect::<Vec<_>>());
}

#[test]
fn round_trips_are_timed_once_a_round_and_never_on_what_was_sent_twice() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..4, 1_000);
    wire.run_to_rest();
    assert_eq!(wire.path(0, 0).stats.rtt_samples, 1);
    assert_eq!(wire.path(0, 0).srtt, Some(Duration::from_millis(100)));
    lose_first(&mut wire, &[4]);
    wire.send(0, 4..5, 1_000);
    wire.run_to_rest();
    assert_eq!(wire.path(0, 0).stats.rtt_samples, 1);
    wire.send(0, 5..7, 1_000);
    wire.run_to_rest();
    assert_eq!(wire.path(0, 0).stats.rtt_samples, 2);
}

#[test]
fn the_window_opens_by_one_chunk_a_sack_in_slow_start() {
    let mut wire = ten_in_flight(3);
    let config = wire.path(0, 0);
    assert_eq!((config.cwnd, config.flight_size), (20_000, 14_160));
    wire.inject(0, 0, &[sack(2, &[])]);
    assert_eq!(wire.path(0, 0).cwnd, 20_000, "it was not full");
    wire.send(0, 10..20, 1_400);
    assert!(wire.path(0, 0).flight_size >= 20_000);
    wire.inject(0, 0, &[sack(4, &[])]);
    assert_eq!(wire.path(0, 0).cwnd, 21_468, "two chunks were acknowledged, one PMDCS counts");
}

#[test]
fn a_revoked_gap_report_is_sent_again() {
    let mut wire = ten_in_flight(3);
    wire.inject(0, 0, &[sack(0, &[(2, 3)])]);
    assert_eq!(wire.path(0, 0).flight_size, 8 * 1_416);
    // Chunk 3 has been thrown away, as the cumulative ack shows when it moves to chunk 2.
    wire.inject(0, 0, &[sack(2, &[])]);
    assert_eq!(wire.path(0, 0).flight_size, 8 * 1_416);
    wire.inject(0, 0, &[sack(2, &[(2, 2)])]);
    wire.inject(0, 0, &[sack(2, &[(2, 3)])]);
    let again: Vec<_> = wire.log[10..].iter().flat_map(Sent::tsns).collect();
    assert_eq!(again, [u32::MAX - 1], "the revocation counted as the first of three reports");
}

#[test]
fn a_sack_that_was_overtaken_revokes_nothing() {
    let mut wire = ten_in_flight(3);
    wire.inject(0, 0, &[sack(1, &[(2, 4)])]);
    let before = wire.path(0, 0);
    wire.inject(0, 0, &[sack(1, &[(2, 2)])]);
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(wire.path(0, 0), before);
    assert_eq!(wire.log.len(), 10);
}

#[test]
fn an_idle_window_decays() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..300, 1_400);
    wire.run_to_rest();
    let busy = wire.path(0, 0).cwnd;
    assert!(busy > 20 * 1_468, "{busy}");
    wire.now += Duration::from_millis(2_500);
    assert_eq!(wire.path(0, 0).cwnd, busy / 4);
    wire.now += Duration::from_secs(100);
    assert_eq!(wire.path(0, 0).cwnd, 4 * 1_468);
}

#[test]
fn a_loss_that_fast_recovery_has_answered_halves_ssthresh_no_second_time_when_t3_rtx_expires() {
    let mut wire = ten_in_flight(3);
    for end in 2..=4 {
        wire.inject(0, 0, &[sack(0, &[(2, end)])]);
    }
    let halved = wire.path(0, 0);
    assert_eq!((halved.cwnd, halved.ssthresh), (10_000, 10_000));
    // The retransmission is lost as well.
    wire.run_until(Instant::from_millis(999));
    assert_eq!(wire.path(0, 0), halved);
    wire.run_until(Instant::from_secs(1));
    let expired = wire.path(0, 0);
    assert_eq!((expired.cwnd, expired.ssthresh, expired.stats.timeouts), (1_468, 10_000, 1));
    assert!(!wire.ends[0].snapshot().is_in_fast_recovery);
    // Fast Recovery is over: the next expiry is a loss of its own.
    wire.run_until(Instant::from_secs(3));
    let expired = wire.path(0, 0);
    assert_eq!((expired.cwnd, expired.ssthresh, expired.stats.timeouts), (1_468, 4 * 1_468, 2));
}

#[test]
fn t3_rtx_halves_ssthresh_for_a_loss_that_fast_recovery_knows_nothing_of() {
    use crate::config::FastRetransmitPath;
    let config = SctpConfig { initial_cwnd_bytes: Some(40_000), max_burst: 30, ..quiet() };
    let mut wire = Wire::new(2, SctpConfig { fast_retransmit_path: FastRetransmitPath::Alternate, ..config });
    wire.decide(|_| is_lost());
    wire.send(0, 0..10, 1_400);
    for end in [2, 3, 10] {
        wire.inject(0, 0, &[sack(0, &[(2, end)])]);
    }
    // Chunk 1 is on the alternate, the exit point is chunk 10, and chunk 11 is all that the primary has in flight.
    wire.send(0, 10..11, 1_400);
    let (primary, alternate) = (wire.path(0, 0), wire.path(0, 1));
    assert_eq!((primary.flight_size, primary.ssthresh), (1_416, 20_000));
    assert_eq!((alternate.flight_size, alternate.ssthresh), (1_416, u64::from(u32::MAX)));
    wire.run_until(Instant::from_secs(1));
    assert!(wire.ends[0].snapshot().outstanding_chunks == 11);
    assert_eq!(wire.path(0, 0).ssthresh, 10_000, "chunk 11 is lost as well");
    assert_eq!(wire.path(0, 1).ssthresh, 20_000, "the window of the alternate was not halved before");
}

#[test]
fn what_t3_rtx_has_sent_again_is_not_fast_retransmitted_for_reports_of_its_first_copy() {
    let mut wire = ten_in_flight(3);
    wire.inject(0, 0, &[sack(0, &[(2, 2)])]);
    wire.run_until(Instant::from_secs(1));
    for end in 3..=8 {
        wire.inject(0, 0, &[sack(0, &[(2, end)])]);
    }
    let copies = wire.log.iter().flat_map(Sent::tsns).filter(|tsn| *tsn == u32::MAX - 3).count();
    assert_eq!(copies, 2);
    assert!(!wire.ends[0].snapshot().is_in_fast_recovery);
}

#[test]
fn a_loss_that_proves_none_leaves_no_packet_that_may_ignore_the_window() {
    let config = SctpConfig { initial_cwnd_bytes: Some(20 * 1_468), max_burst: 99, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    wire.send(0, 0..40, 1_452);
    wire.inject(0, 0, &[sack(0, &[(2, 2)])]);
    wire.inject(0, 0, &[sack(0, &[(2, 3)])]);
    // The third report of chunk 1, and before its retransmission leaves, its acknowledgement.
    wire.hand_in(0, 0, &[sack(0, &[(2, 4)])]);
    wire.inject(0, 0, &[sack(4, &[])]);
    assert!(wire.ends[0].snapshot().is_in_fast_recovery);
    let before = wire.log.len();
    assert_eq!(before, 24);
    // Chunk 5 is lost as well, and has to wait until less is in flight.
    for stop in [2, 3, 4] {
        wire.inject(0, 0, &[sack(4, &[(2, stop)])]);
    }
    let path = wire.path(0, 0);
    assert_eq!((path.flight_size, path.cwnd), (16 * 1_468, 23 * 1_468 / 2));
    assert_eq!(wire.log.len(), before);
}

#[test]
fn what_one_sack_could_not_revoke_is_sent_again_when_t3_rtx_expires() {
    let config = SctpConfig { initial_cwnd_bytes: Some(1 << 20), max_burst: 200, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    wire.send(0, 0..100, 1_000);
    wire.inject(0, 0, &[sack(0, &[(2, 99)])]);
    assert_eq!(wire.path(0, 0).flight_size, 2 * 1_016);
    // All of it has been thrown away; 32 are taken back at once.
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(wire.path(0, 0).flight_size, 33 * 1_016);
    wire.run_until(Instant::from_secs(1));
    wire.decide(|_| arrives());
    let first = Chunk::Data(Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(u32::MAX - 3),
        stream: StreamId(0),
        sequence: StreamSequence(0),
        ppid: Ppid(46),
        payload: message(0, 0, 1_000).payload,
    });
    wire.inject(1, 0, &[first]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..100).collect::<Vec<_>>());
}

#[test]
fn a_shutdown_reports_nothing_missing() {
    let mut wire = ten_in_flight(3);
    for stop in [2, 3, 4] {
        wire.inject(0, 0, &[sack(0, &[(2, stop)])]);
    }
    // Chunk 6 has two reports.
    wire.inject(0, 0, &[sack(0, &[(2, 5), (7, 7)])]);
    wire.inject(0, 0, &[sack(0, &[(2, 5), (7, 8)])]);
    assert!(wire.ends[0].snapshot().is_in_fast_recovery);
    let before = wire.path(0, 0).flight_size;
    wire.inject(
        0,
        0,
        &[Chunk::Shutdown(crate::chunk::Shutdown { cumulative_tsn_ack: Tsn(u32::MAX - 4).plus(5) })],
    );
    // It acknowledges chunk 1, which was retransmitted; the others have been by blocks.
    assert_eq!(wire.path(0, 0).flight_size, before - 1_416);
    assert_eq!(data_packets(&wire, 0).len(), 11);
}

#[test]
fn an_expiry_begins_a_burst_of_its_own() {
    use crate::policy::RetransmissionAfterTimeout;
    let config = SctpConfig {
        initial_cwnd_bytes: Some(20 * 1_468),
        retransmission_after_timeout: RetransmissionAfterTimeout::Window,
        ..quiet()
    };
    let mut wire = Wire::new(2, config);
    wire.decide(|_| is_lost());
    wire.send(0, 0..4, 1_452);
    wire.run_until(Instant::from_millis(500));
    assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
    // Max.Burst, 4, is used up there.
    wire.send(0, 4..9, 1_452);
    assert_eq!(wire.log.len(), 8);
    // What was lost on the first path goes to the second.
    wire.run_until(Instant::from_secs(1));
    let again: Vec<_> = wire.log[8..].iter().map(|sent| (sent.path, sent.tsns().len())).collect();
    assert_eq!(again, [(1, 1); 4]);
}

#[test]
fn what_is_outstanding_tells_how_fast_it_arrives() {
    let config = SctpConfig { initial_cwnd_bytes: Some(4 * 1_016), max_burst: 10, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    wire.send(0, 0..20, 1_000);
    let mut rate_after = |at, acked, blocks: &[(u16, u16)]| {
        wire.run_until(Instant::from_millis(at));
        wire.inject(0, 0, &[sack(acked, blocks)]);
        wire.path(0, 0).delivery_rate.map(slantpath_base::DataRate::as_bits_per_sec)
    };
    // One chunk of 1,016 bytes in 100 ms, two in 110, and so on.
    let burst = [100, 110, 120, 130].map(|at| rate_after(at, (at as u32 - 90) / 10, &[]));
    assert_eq!(burst, [81_280, 147_781, 203_200, 250_092].map(Some));
    // Chunk 5 left at 100 ms, when the first had arrived; four have since.
    assert_eq!(rate_after(200, 5, &[]), Some(4 * 81_280));
    // Chunk 6 is missing; chunk 7 left at 110 ms, when two had arrived.
    assert_eq!(rate_after(220, 5, &[(2, 2)]), Some(4 * 1_016 * 8_000 / 110));
}

#[test]
fn after_a_pause_the_rate_is_that_of_what_is_sent_then() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    let rates = [(0, 0), (1_000, 1)].map(|(at, chunk)| {
        wire.run_until(Instant::from_millis(at));
        wire.send(0, chunk..chunk + 1, 1_000);
        wire.run_until(Instant::from_millis(at + 100));
        wire.inject(0, 0, &[sack(chunk as u32 + 1, &[])]);
        wire.path(0, 0).delivery_rate.map(slantpath_base::DataRate::as_bits_per_sec)
    });
    assert_eq!(rates, [Some(1_016 * 8_000 / 100); 2]);
}

/// Of four chunks that the window lets out, so many are written at first, and 20 more before the first SACK.
#[test]
fn a_rate_is_the_applications_only_if_the_window_stood_open_with_nothing_to_send() {
    let is_limited = |chunks| {
        let config = SctpConfig { initial_cwnd_bytes: Some(4 * 1_016), max_burst: 10, ..quiet() };
        let mut wire = Wire::new(1, config);
        wire.decide(|_| is_lost());
        wire.send(0, 0..chunks, 1_000);
        wire.run_until(Instant::from_millis(50));
        wire.send(0, chunks..chunks + 20, 1_000);
        for (at, acked) in [(100, 1), (200, 6)] {
            wire.run_until(Instant::from_millis(at));
            wire.inject(0, 0, &[sack(acked, &[])]);
        }
        wire.ends[0].paths[PathId(0)].delivery.latest().unwrap().is_application_limited
    };
    assert_eq!([3, 4, 100].map(is_limited), [true, false, false]);
}

#[test]
fn what_was_sent_twice_tells_no_round_trip_and_an_early_acknowledgement_of_it_no_rate() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.send(0, 0..1, 1_000);
    wire.run_until(Instant::from_millis(100));
    wire.inject(0, 0, &[sack(1, &[])]);
    let before = wire.path(0, 0);
    assert_eq!(before.delivery_rate.map(slantpath_base::DataRate::as_bits_per_sec), Some(81_280));
    wire.send(0, 1..2, 1_000);
    let expiry = wire.now + before.rto;
    wire.run_until(expiry);
    assert_eq!(wire.path(0, 0).stats.retransmissions, 1);
    // The first copy has arrived after all: 10 ms are less than any round trip.
    wire.run_until(expiry + Duration::from_millis(10));
    wire.inject(0, 0, &[sack(2, &[])]);
    assert_eq!(wire.path(0, 0).flight_size, 0);
    assert_eq!(wire.path(0, 0).delivery_rate, before.delivery_rate);
}

#[test]
fn longer_round_trips_end_the_first_slow_start_if_the_policy_says_so() {
    use slantpath_cc::SlowStart;
    use slantpath_cc::sctp::SctpPolicy;
    const CHUNK: u64 = 1_468;
    let last_growth = |slow_start, second_round_trip_ms: u64| {
        let congestion = SctpPolicy { slow_start, ..SctpPolicy::default() };
        let window = Some(8 * CHUNK);
        let mut wire =
            Wire::new(1, SctpConfig { initial_cwnd_bytes: window, congestion, max_burst: 99, ..quiet() });
        wire.decide(|_| is_lost());
        wire.send(0, 0..60, 1_452);
        // Each SACK lets two chunks out, which are acknowledged in the next round.
        wire.run_until(Instant::from_millis(100));
        (1..=8).for_each(|acked| wire.inject(0, 0, &[sack(acked, &[])]));
        wire.run_until(Instant::from_millis(100 + second_round_trip_ms));
        (9..=16).for_each(|acked| wire.inject(0, 0, &[sack(acked, &[])]));
        assert_eq!(wire.path(0, 0).cwnd, 24 * CHUNK);
        wire.inject(0, 0, &[sack(17, &[])]);
        wire.path(0, 0).cwnd - 24 * CHUNK
    };
    // From an eighth more on, RFC 9406 opens the window by a quarter of what is acknowledged.
    assert_eq!(last_growth(SlowStart::HyStartPlusPlus, 112), CHUNK);
    assert_eq!(last_growth(SlowStart::HyStartPlusPlus, 113), CHUNK / 4);
    assert_eq!(last_growth(SlowStart::Standard, 113), CHUNK);
}

#[test]
fn cubic_leaves_seven_tenths_of_the_flight_after_a_loss_and_one_chunk_after_a_timeout() {
    let cubic = SctpConfig { congestion_control: slantpath_cc::Algorithm::Cubic, ..quiet() };
    let mut wire = Wire::new(1, SctpConfig { initial_cwnd_bytes: Some(20_000), max_burst: 10, ..cubic });
    wire.decide(|_| is_lost());
    wire.send(0, 0..10, 1_400);
    for end in 2..=4 {
        wire.inject(0, 0, &[sack(0, &[(2, end)])]);
    }
    // Eight chunks were in flight before the third report.
    let window = |wire: &Wire| (wire.path(0, 0).cwnd, wire.path(0, 0).ssthresh);
    assert_eq!(window(&wire), (7_929, 7_929));
    wire.run_until(Instant::from_millis(1_500));
    assert_eq!(window(&wire), (1_468, 7_929), "Fast Recovery has reduced the threshold for the same loss");
    assert_eq!(wire.path(0, 0).partial_bytes_acked, 0);
}

#[test]
fn a_fixed_window_stays_fixed_whatever_governs_the_others() {
    use slantpath_cc::sctp::{SctpPolicy, WindowPolicy};
    let congestion = SctpPolicy { window: WindowPolicy::Fixed { cwnd: 9_000 }, ..SctpPolicy::default() };
    let cubic = SctpConfig { congestion_control: slantpath_cc::Algorithm::Cubic, congestion, ..quiet() };
    assert_eq!(Wire::new(1, cubic).path(0, 0).cwnd, 9_000);
}
