//! Scenarios of an association in order, rule by rule.

use super::*;
use crate::chunk::{Data, DataFlags, GapAckBlock, Sack, Shutdown, ShutdownAck};
use crate::config::FastRetransmitPath;
use crate::path::PathState;
use crate::types::StreamSequence;

/// Loses the first transmission of the given TSNs, counted from the first of end 0.
fn lose_first(wire: &mut Wire, lost: &'static [u32]) {
    let mut seen = std::collections::BTreeSet::new();
    wire.decide(move |sent| {
        let mut fate = arrives();
        if sent.from == 0 {
            for tsn in sent.tsns() {
                let number = Tsn(tsn).distance_from(Tsn(u32::MAX - 3));
                if lost.contains(&number) && seen.insert(number) {
                    fate = is_lost();
                }
            }
        }
        fate
    });
}

fn data_packets(wire: &Wire, from: usize) -> Vec<&Sent> {
    wire.log.iter().filter(|sent| sent.from == from && sent.has_data()).collect()
}

#[test]
fn messages_arrive_once_and_in_order() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..200, 1_024);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..200).collect::<Vec<_>>());
    assert_eq!(wire.ends[0].snapshot().send_buffered, 0);
    assert!(wire.log.iter().filter(|sent| sent.has_data()).count() == 200);
}

#[test]
fn small_messages_share_packets() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..100, 100);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..100).collect::<Vec<_>>());
    // The first leaves alone only if it is sent alone; all were handed over at one moment, 12 to a packet.
    assert_eq!(data_packets(&wire, 0).len(), 9);
}

#[test]
fn a_long_message_is_fragmented_and_reassembled() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..3, 50_000);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1, 2]);
}

#[test]
fn initial_window_lets_three_full_chunks_out() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..20, 1_452);
    assert_eq!(data_packets(&wire, 0).len(), 3);
}

#[test]
fn one_packet_may_exceed_the_window() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..20, 1_200);
    // 1,216 * 4 = 4,864: the fourth starts inside the 4,404 bytes.
    assert_eq!(data_packets(&wire, 0).len(), 4);
}

#[test]
fn every_second_packet_is_acknowledged_and_a_lone_one_after_200_ms() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..3, 1_400);
    wire.run_to_rest();
    let sacks: Vec<_> = wire.log.iter().filter(|sent| sent.from == 1).map(|sent| sent.at).collect();
    assert_eq!(sacks, [Instant::from_millis(50), Instant::from_millis(250)]);
}

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

/// A SACK for end 0 whose cumulative ack is `acked` of its chunks, with blocks as offsets from that.
fn sack(acked: u32, blocks: &[(u16, u16)]) -> Chunk {
    Chunk::Sack(Sack {
        cumulative_tsn_ack: Tsn(u32::MAX - 4).plus(acked),
        a_rwnd: 100_000,
        gap_ack_blocks: blocks.iter().map(|&(start, end)| GapAckBlock { start, end }).collect(),
        duplicates: SmallVec::new(),
    })
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
fn timed_out_data_goes_to_the_alternate_path() {
    let mut wire = Wire::new(2, quiet());
    wire.decide(|sent| if sent.path == 0 { is_lost() } else { arrives() });
    wire.send(0, 0..1, 100);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0]);
    let paths: Vec<_> = data_packets(&wire, 0).iter().map(|sent| sent.path).collect();
    assert_eq!(paths, [0, 1]);
    assert_eq!(wire.path(0, 0).error_count, 1);
    assert_eq!(wire.ends[0].snapshot().error_count, 0, "the peer has answered");
}

#[test]
fn fast_retransmit_stays_or_changes_path_as_the_policy_says() {
    for (policy, path) in [(FastRetransmitPath::SamePath, 0), (FastRetransmitPath::Alternate, 1)] {
        let mut wire = Wire::new(2, SctpConfig { fast_retransmit_path: policy, ..quiet() });
        lose_first(&mut wire, &[1]);
        wire.send(0, 0..8, 1_000);
        wire.run_to_rest();
        assert_eq!(wire.received(1), (0..8).collect::<Vec<_>>());
        let again =
            data_packets(&wire, 0).into_iter().filter(|sent| sent.tsns() == [u32::MAX - 2]).nth(1).unwrap();
        assert_eq!(again.path, path, "{policy:?}");
    }
}

#[test]
fn a_path_fails_after_path_max_retrans_and_recovers_with_a_heartbeat() {
    let config = SctpConfig { heartbeat_interval: Some(Duration::from_secs(5)), ..quiet() };
    let mut wire = Wire::new(2, config);
    let broken = std::rc::Rc::new(std::cell::Cell::new(true));
    let is_broken = std::rc::Rc::clone(&broken);
    wire.decide(move |sent| if sent.path == 0 && is_broken.get() { is_lost() } else { arrives() });
    for context in 0..300 {
        wire.send(0, context..context + 1, 500);
        let next = wire.now + Duration::from_millis(1_000);
        wire.run_until(next);
    }
    assert_eq!(wire.received(1), (0..300).collect::<Vec<_>>());
    assert_eq!(wire.path(0, 0).state, PathState::Inactive);
    assert!(wire.events[0].contains(&Event::PathChanged { address: address(1, 0), is_active: false }));
    let last = data_packets(&wire, 0).last().unwrap().path;
    assert_eq!(last, 1, "new data takes the path that works");
    broken.set(false);
    let later = wire.now + Duration::from_secs(300);
    wire.run_until(later);
    assert_eq!(wire.path(0, 0).state, PathState::Active);
    assert!(wire.events[0].contains(&Event::PathChanged { address: address(1, 0), is_active: true }));
    wire.send(0, 300..301, 500);
    assert_eq!(data_packets(&wire, 0).last().unwrap().path, 0, "and back to the primary");
}

#[test]
fn an_unconfirmed_address_carries_nothing_but_heartbeats_until_it_answers() {
    let config = quiet();
    let mut tcbs = [0, 1].map(|end| tcb(end, 2, &config));
    for tcb in &mut tcbs {
        tcb.peer_addresses[1].is_confirmed = false;
    }
    let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config]);
    wire.decide(
        |sent| if sent.path == 1 && sent.at < Instant::from_secs(10) { is_lost() } else { arrives() },
    );
    assert_eq!(wire.path(0, 1).state, PathState::Unconfirmed);
    wire.run_until(Instant::from_secs(5));
    for sent in wire.log.iter().filter(|sent| sent.path == 1) {
        assert!(
            sent.chunks.iter().all(|chunk| matches!(chunk, Chunk::Heartbeat(_) | Chunk::HeartbeatAck(_)))
        );
    }
    assert!(!wire.ends[0].set_primary(wire.now, address(1, 1)));
    wire.run_until(Instant::from_secs(200));
    assert_eq!(wire.path(0, 1).state, PathState::Active);
    assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
    assert_eq!(wire.ends[0].snapshot().error_count, 0, "probing does not count against the association");
}

#[test]
fn the_sack_goes_where_the_data_came_from() {
    let mut wire = Wire::new(2, quiet());
    assert!(wire.ends[0].set_primary(Instant::START, address(1, 1)));
    wire.send(0, 0..2, 500);
    wire.run_to_rest();
    assert!(wire.log.iter().all(|sent| sent.path == 1), "{:?}", wire.log);
}

#[test]
fn gap_reports_take_the_path_with_the_lowest_delay_and_time_nothing() {
    let config = SctpConfig {
        heartbeat_interval: Some(Duration::from_secs(30)),
        checksum: ChecksumPolicy::Omit,
        ..SctpConfig::multi_link_modified()
    };
    let mut wire = Wire::new(2, config);
    let delay = |path: usize| Duration::from_millis(if path == 0 { 250 } else { 25 });
    wire.decide(move |sent| SmallVec::from_slice(&[delay(sent.path)]));
    for end in [0, 1] {
        for path in [0, 1] {
            assert!(wire.ends[end].request_heartbeat(Instant::START, address(1 - end, path)));
        }
    }
    wire.drain();
    wire.run_until(Instant::from_secs(1));
    let mut count = 0;
    wire.decide(move |sent| {
        count += u32::from(sent.from == 0 && sent.has_data());
        if sent.from == 0 && count == 20 { is_lost() } else { SmallVec::from_slice(&[delay(sent.path)]) }
    });
    for context in 0..60 {
        wire.send(0, context..context + 1, 1_024);
        let next = wire.now + Duration::from_millis(33);
        wire.run_until(next);
    }
    wire.run_until(Instant::from_secs(10));
    assert_eq!(wire.received(1), (0..60).collect::<Vec<_>>());
    for sent in wire.log.iter().filter(|sent| sent.from == 1) {
        if let Some(sack) = sent.sack() {
            assert_eq!(sent.path, usize::from(!sack.gap_ack_blocks.is_empty()), "{sack:?}");
        }
    }
    assert_eq!(data_packets(&wire, 0).iter().filter(|sent| sent.path == 1).count(), 1);
    let srtt = wire.path(0, 0).srtt.unwrap();
    assert!(srtt >= Duration::from_millis(500), "{srtt}: no SACK that came over the short path was timed");
}

/// When the retransmission of a message lost on the satellite link leaves, after the message itself left. The
/// links are those of the paper, without their rates; messages leave every 33 ms.
fn time_to_retransmission(preset: fn() -> SctpConfig) -> Duration {
    let delay = |sent: &Sent| Duration::from_millis(if sent.path == 0 { 250 } else { 25 });
    let config = SctpConfig { checksum: ChecksumPolicy::Omit, initial_cwnd_bytes: Some(100_000), ..preset() };
    let mut wire = Wire::new(2, config);
    wire.decide(move |sent| SmallVec::from_slice(&[delay(sent)]));
    wire.run_until(Instant::from_secs(1));
    let mut count = 0;
    wire.decide(move |sent| {
        count += u32::from(sent.from == 0 && sent.has_data());
        if count == 40 && sent.from == 0 { is_lost() } else { SmallVec::from_slice(&[delay(sent)]) }
    });
    for context in 0..80 {
        wire.send(0, context..context + 1, 1_024);
        let next = wire.now + Duration::from_millis(33);
        wire.run_until(next);
    }
    wire.run_until(Instant::from_secs(10));
    assert_eq!(wire.received(1), (0..80).collect::<Vec<_>>());
    let lost = Tsn(u32::MAX - 3).plus(39).0;
    let sent: Vec<_> = data_packets(&wire, 0).into_iter().filter(|sent| sent.tsns() == [lost]).collect();
    let [first, again] = sent[..] else { panic!("{sent:?}") };
    assert_eq!((first.path, again.path), (0, 1));
    again.at - first.at
}

#[test]
fn retransmissions_leave_when_the_multi_link_paper_says() {
    // Equation 2 without the way of the retransmission: four intervals, there and back over the satellite.
    let standard = time_to_retransmission(SctpConfig::multi_link_standard);
    assert_eq!(standard, Duration::from_millis(4 * 33 + 2 * 250));
    // Equation 3: back over the short link.
    let modified = time_to_retransmission(SctpConfig::multi_link_modified);
    assert_eq!(modified, Duration::from_millis(4 * 33 + 250 + 25));
}

#[test]
fn a_closed_window_is_probed_with_back_off_and_costs_no_path() {
    let config = SctpConfig { receive_buffer_bytes: 8_000, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.ends[1].pause_delivery();
    wire.send(0, 0..20, 1_000);
    wire.run_until(Instant::from_secs(400));
    assert!(wire.events[0].is_empty(), "{:?}", wire.events[0]);
    let probes: Vec<_> = data_packets(&wire, 0).iter().map(|sent| sent.at).collect();
    let gaps: Vec<_> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.last().unwrap() >= &Duration::from_secs(50), "{gaps:?}");
    assert_eq!(wire.ends[0].snapshot().error_count, 0);
    wire.ends[1].resume_delivery();
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..20).collect::<Vec<_>>());
}

#[test]
fn a_window_update_opens_a_closed_window_at_once() {
    let config = SctpConfig { receive_buffer_bytes: 8_000, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.ends[1].pause_delivery();
    wire.send(0, 0..20, 1_000);
    wire.run_until(Instant::from_millis(800));
    wire.ends[1].resume_delivery();
    wire.drain();
    wire.run_until(Instant::from_millis(1_500));
    assert!(wire.received(1).len() > 10, "{:?}", wire.received(1));
}

#[test]
fn a_message_larger_than_the_receive_buffer_is_reported_not_waited_for() {
    let config = SctpConfig { receive_buffer_bytes: 8_000, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.send(0, 0..1, 20_000);
    wire.run_to_rest();
    assert_eq!(wire.events[1].last(), Some(&Event::Closed(CloseReason::Aborted(Cause::OutOfResource))));
    assert!(matches!(wire.events[0].last(), Some(Event::Closed(CloseReason::PeerAborted(_)))));
}

#[test]
fn shutdown_delivers_what_is_queued_on_both_sides() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..50, 1_000);
    wire.send(1, 100..150, 1_000);
    wire.ends[0].shutdown(wire.now);
    assert_eq!(wire.ends[0].send(wire.now, message(0, 1, 10)), Err(SendError::ShuttingDown));
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..50).collect::<Vec<_>>());
    assert_eq!(wire.received(0), (100..150).collect::<Vec<_>>());
    for end in [0, 1] {
        assert_eq!(wire.events[end].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)), "end {end}");
    }
}

#[test]
fn the_last_chunk_of_a_shutdown_asks_for_its_sack_at_once() {
    let mut wire = Wire::new(1, quiet());
    wire.ends[0].send(wire.now, message(0, 0, 100)).unwrap();
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(
        wire.now,
        Instant::from_millis(5 * 50),
        "DATA, SACK, SHUTDOWN, SHUTDOWN ACK, SHUTDOWN COMPLETE"
    );
}

#[test]
fn a_sack_rides_on_data_that_goes_the_same_way() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_millis(60));
    wire.send(1, 1..2, 100);
    let [Chunk::Sack(_), Chunk::Data(_)] = &wire.log.last().unwrap().chunks[..] else {
        panic!("{:?}", wire.log)
    };
    wire.run_to_rest();
    assert_eq!(wire.log.iter().filter(|sent| sent.from == 1).count(), 1);
}

#[test]
fn an_abort_reaches_the_peer_with_its_reason_and_is_not_answered() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..9, 1_000);
    let cause = Cause::UserInitiatedAbort(bytes::Bytes::from_static(b"enough"));
    wire.ends[0].abort(wire.now, cause.clone());
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.events[0].last(), Some(&Event::Closed(CloseReason::Aborted(cause.clone()))));
    assert_eq!(wire.events[1].last(), Some(&Event::Closed(CloseReason::PeerAborted(vec![cause]))));
    assert!(matches!(wire.log.iter().rfind(|sent| sent.from == 0).unwrap().chunks[..], [Chunk::Abort(_)]));
    let failed = wire.events[0].iter().filter(|event| matches!(event, Event::SendFailed { .. })).count();
    assert_eq!(failed, 9);
}

#[test]
fn a_failed_message_comes_back_as_it_was_given() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.send(0, 0..1, 10_000);
    wire.send(0, 1..2, 10);
    let given = [message(0, 0, 10_000), message(0, 1, 10)];
    assert_eq!(wire.ends[0].clone().into_unacknowledged(), given);
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(wire.ends[0].clone().into_unacknowledged(), given, "one fragment is not the message");
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
fn both_may_shut_down_at_the_same_time() {
    let mut wire = Wire::new(1, quiet());
    for end in [0, 1] {
        wire.ends[end].shutdown(wire.now);
    }
    wire.drain();
    wire.run_to_rest();
    for end in [0, 1] {
        assert_eq!(wire.events[end].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)), "end {end}");
    }
}

#[test]
fn a_lost_shutdown_is_repeated_by_t2() {
    let mut wire = Wire::new(1, quiet());
    let mut count = 0;
    wire.decide(move |_| {
        count += 1;
        if count == 1 { is_lost() } else { arrives() }
    });
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.events[0].last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
    assert_eq!(wire.log[1].at, Instant::from_secs(1));
}

#[test]
fn the_guard_ends_a_shutdown_that_never_does() {
    let config = SctpConfig { shutdown_guard: Some(Duration::from_secs(30)), ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.now, Instant::from_secs(30));
    assert!(matches!(wire.events[0].last(), Some(Event::Closed(CloseReason::Aborted(_)))));
}

#[test]
fn data_in_shutdown_sent_is_answered_with_shutdown_at_once() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    let before = wire.log.len();
    let first = 6;
    wire.inject(0, 0, &[data(first + 1, b"behind a gap")]);
    let [answer] = &wire.log[before..] else { panic!("{:?}", &wire.log[before..]) };
    assert!(matches!(&answer.chunks[..], [Chunk::Sack(_), Chunk::Shutdown(_)]), "{:?}", answer.chunks);
    wire.inject(0, 0, &[data(first, b"the gap")]);
    let answer = wire.log.last().unwrap();
    let expected = Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(first).plus(1) });
    assert_eq!(answer.chunks, [expected]);
}

fn data(tsn: u32, payload: &'static [u8]) -> Chunk {
    Chunk::Data(Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(tsn),
        stream: StreamId(0),
        sequence: StreamSequence((tsn - 6) as u16),
        ppid: Ppid(0),
        payload: bytes::Bytes::from_static(payload),
    })
}

#[test]
fn data_without_payload_aborts_with_its_tsn() {
    let mut wire = Wire::new(1, quiet());
    wire.inject(0, 0, &[data(6, b"")]);
    let reason = CloseReason::Aborted(Cause::NoUserData(Tsn(6)));
    assert_eq!(wire.events[0], [Event::Closed(reason)]);
    assert!(matches!(&wire.log.last().unwrap().chunks[..], [Chunk::Abort(_)]));
}

#[test]
fn data_on_an_unknown_stream_is_acknowledged_reported_and_dropped() {
    let mut wire = Wire::new(1, quiet());
    let Chunk::Data(chunk) = data(6, b"lost") else { unreachable!() };
    let chunk = Data { stream: StreamId(4), flags: chunk.flags.with(DataFlags::IMMEDIATE), ..chunk };
    wire.inject(0, 0, &[Chunk::Data(chunk)]);
    let [Chunk::Error(error), Chunk::Sack(sack)] = &wire.log[0].chunks[..] else { panic!("{:?}", wire.log) };
    assert_eq!(error.causes, [Cause::InvalidStreamIdentifier(StreamId(4))]);
    assert_eq!(sack.cumulative_tsn_ack, Tsn(6));
    assert!(wire.received(0).is_empty() && wire.events[0].is_empty());
}

#[test]
fn acknowledging_what_was_never_sent_aborts() {
    let mut wire = Wire::new(1, quiet());
    wire.inject(0, 0, &[sack(0, &[])]);
    assert!(wire.events[0].is_empty());
    wire.inject(0, 0, &[sack(0, &[(2, 2)])]);
    assert!(matches!(wire.events[0][..], [Event::Closed(CloseReason::Aborted(_))]));
}

#[test]
fn duplicates_are_acknowledged_at_once_and_listed() {
    let mut wire = Wire::new(1, quiet());
    wire.inject(0, 0, &[data(6, b"once")]);
    assert!(wire.log.is_empty(), "the first may wait");
    wire.inject(0, 0, &[data(6, b"once")]);
    let sack = wire.log[0].sack().unwrap();
    assert_eq!((sack.cumulative_tsn_ack, &sack.duplicates[..]), (Tsn(6), &[Tsn(6)][..]));
    assert_eq!(wire.events[0].len(), 1, "delivered once");
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
fn a_shutdown_ack_out_of_season_changes_nothing() {
    let mut wire = Wire::new(1, quiet());
    wire.inject(0, 0, &[Chunk::ShutdownAck(ShutdownAck)]);
    assert_eq!(wire.ends[0].state(), AssociationState::Established);
    assert!(wire.log.is_empty() && wire.events[0].is_empty());
}

#[test]
fn the_send_buffer_has_a_limit_and_says_when_there_is_room_again() {
    let mut wire = Wire::new(1, SctpConfig { send_buffer_bytes: 5_000, ..quiet() });
    wire.send(0, 0..5, 1_000);
    let full = SendError::BufferFull { wanted: 1_000, free: 0 };
    assert_eq!(wire.ends[0].send(wire.now, message(0, 5, 1_000)), Err(full));
    let long = SendError::TooLong { len: 5_001, limit: 5_000 };
    assert_eq!(wire.ends[0].send(wire.now, message(0, 5, 5_001)), Err(long));
    let stream = SendError::NoSuchStream { stream: StreamId(4), available: 4 };
    assert_eq!(wire.ends[0].send(wire.now, message(4, 5, 10)), Err(stream));
    wire.run_to_rest();
    assert!(matches!(wire.events[0][..], [Event::SendBufferDrained { .. }]), "{:?}", wire.events[0]);
}

#[test]
fn every_transmission_is_traced_with_its_path_and_number() {
    let config = SctpConfig { trace_messages: true, report_acknowledged: true, ..quiet() };
    let mut wire = Wire::new(2, config);
    wire.decide(|sent| if sent.path == 0 { is_lost() } else { arrives() });
    wire.send(0, 7..8, 100);
    wire.run_to_rest();
    let tsn = Tsn(u32::MAX - 3);
    let traced =
        |destination, transmission| Event::Transmitted { context: 7, tsn, destination, transmission };
    let acknowledged = Event::Acknowledged { context: 7 };
    assert_eq!(wire.events[0], [traced(address(1, 0), 1), traced(address(1, 1), 2), acknowledged]);
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
fn a_smaller_mtu_is_obeyed_by_what_is_cut_afterwards() {
    let mut wire = Wire::new(2, quiet());
    wire.ends[0].handle_packet_too_big(wire.now, address(1, 1), 600);
    wire.send(0, 0..4, 1_400);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1, 2, 3]);
    let longest =
        data_packets(&wire, 0).iter().flat_map(|sent| &sent.chunks).map(|chunk| chunk.to_bytes().len()).max();
    assert!(longest <= Some(600 - 32), "chunks fit every path: {longest:?}");
}

#[test]
fn one_burst_is_at_most_four_packets() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..100, 1_400);
    wire.run_to_rest();
    let soon = wire.now + Duration::from_millis(10);
    wire.run_until(soon);
    let before = wire.log.len();
    wire.send(0, 100..150, 1_400);
    assert_eq!(wire.log.len() - before, 4);
    wire.run_to_rest();
    assert_eq!(wire.received(1).len(), 150);
}

#[test]
fn a_heartbeat_comes_back_to_where_it_came_from() {
    let mut wire = Wire::new(2, quiet());
    wire.inject(
        0,
        1,
        &[Chunk::Heartbeat(crate::chunk::Heartbeat { info: bytes::Bytes::from_static(b"opaque") })],
    );
    let [answer] = &wire.log[..] else { panic!("{:?}", wire.log) };
    assert_eq!(answer.destination, address(1, 1));
    let Chunk::HeartbeatAck(ack) = &answer.chunks[0] else { panic!("{answer:?}") };
    assert_eq!(&ack.info[..], b"opaque");
}

#[test]
fn an_unknown_chunk_is_skipped_or_reported_as_its_bits_say() {
    let mut wire = Wire::new(1, quiet());
    let unknown = |kind| Chunk::Unknown { kind, flags: 0, value: bytes::Bytes::from_static(b"what") };
    wire.inject(0, 0, &[unknown(0x80), unknown(0x3f), data(6, b"never read")]);
    assert!(wire.log.is_empty() && wire.events[0].is_empty());
    wire.inject(0, 0, &[unknown(0xc1), data(6, b"read")]);
    assert_eq!(wire.events[0].len(), 1);
    let Chunk::Error(error) = &wire.log[0].chunks[0] else { panic!("{:?}", wire.log) };
    assert_eq!(error.causes, [Cause::UnrecognizedChunkType(unknown(0xc1).to_bytes())]);
}
