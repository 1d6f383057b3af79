//! Error counters, HEARTBEATs and round trips: what counts against which path, and what clears it.

use super::*;
use crate::policy::{PotentiallyFailed, PrimarySwitchover, RttSampling};
use crate::trace::Unanswered;

fn times(wire: &Wire, path: usize) -> Vec<u64> {
    let is_heartbeat = |sent: &&Sent| {
        sent.from == 0
            && sent.destination == address(1, path)
            && sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_)))
    };
    wire.log.iter().filter(is_heartbeat).map(|sent| sent.at.as_nanos() / 1_000_000).collect()
}

fn errors(wire: &Wire) -> Vec<u32> {
    wire.ends[0].paths.iter().map(|path| path.error_count).collect()
}

/// Two ends between which nothing arrives.
fn cut(paths: usize, config: SctpConfig) -> Wire {
    let mut wire = Wire::new(paths, config);
    wire.decide(|_| is_lost());
    wire
}

#[test]
fn unconfirmed_addresses_are_probed_so_many_at_each_rto() {
    let config = SctpConfig { heartbeat_max_burst: 2, path_max_retrans: 2, ..quiet() };
    let mut tcbs = [0, 1].map(|end| tcb(end, 6, &config));
    for peer in &mut tcbs[0].peer_addresses[1..] {
        peer.is_confirmed = false;
    }
    let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config]);
    wire.decide(|_| is_lost());
    wire.run_until(Instant::from_secs(41));
    let first: Vec<_> = (1..6).map(|path| times(&wire, path)[0]).collect();
    assert_eq!(first, [0, 0, 1_000, 1_000, 2_000]);
    assert_eq!(times(&wire, 0), [] as [u64; 0], "a confirmed one is not probed where HEARTBEATs are off");
    // Each RTO is twice the one before, and with Path.Max.Retrans exceeded HB.interval is waited for.
    assert_eq!(times(&wire, 1), [0, 1_000, 3_000]);
    assert_eq!(wire.path(0, 1).error_count, 3);
    wire.run_until(Instant::from_secs(49));
    assert_eq!(times(&wire, 1).len(), 4);
    assert_eq!(wire.ends[0].error_count, 0);
}

#[test]
fn a_missed_heartbeat_counts_against_the_association_only_on_the_path_of_the_data() {
    let config = SctpConfig { heartbeat_interval: None, ..quiet() };
    for (path, counted) in [(0, 1), (1, 0)] {
        let mut wire = cut(2, config.clone());
        assert!(wire.ends[0].request_heartbeat(wire.now, address(1, path)));
        wire.drain();
        wire.run_until(Instant::from_millis(999));
        assert_eq!((errors(&wire), wire.path(0, path).rto), (vec![0, 0], Duration::from_secs(1)));
        wire.run_until(Instant::from_secs(1));
        assert_eq!(wire.path(0, path).error_count, 1);
        assert_eq!(wire.path(0, path).rto, Duration::from_secs(2), "it is backed off");
        assert_eq!(wire.ends[0].error_count, counted, "path {path}");
        // With HEARTBEATs off it was the only one.
        wire.run_until(Instant::from_secs(200));
        assert_eq!(times(&wire, path), [0]);
    }
}

#[test]
fn a_late_answer_to_a_heartbeat_counts() {
    let mut wire = Wire::new(1, SctpConfig { heartbeat_interval: Some(Duration::from_secs(30)), ..quiet() });
    wire.decide(|sent| {
        if sent.from == 1 { SmallVec::from_slice(&[Duration::from_millis(1_450)]) } else { arrives() }
    });
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.drain();
    wire.run_until(Instant::from_millis(1_499));
    assert_eq!((errors(&wire), wire.ends[0].error_count), (vec![1], 1));
    wire.run_until(Instant::from_millis(1_500));
    assert_eq!((errors(&wire), wire.ends[0].error_count), (vec![0], 0));
    assert_eq!(wire.path(0, 0).srtt, Some(Duration::from_millis(1_500)));
}

#[test]
fn an_answered_heartbeat_clears_the_counter_of_the_association_and_of_its_own_path() {
    let mut wire = cut(2, quiet());
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(1));
    assert_eq!((errors(&wire), wire.ends[0].error_count), (vec![1, 0], 1));
    wire.decide(|sent| if sent.has_data() { is_lost() } else { arrives() });
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 1)));
    wire.drain();
    wire.run_until(Instant::from_millis(1_100));
    assert_eq!((errors(&wire), wire.ends[0].error_count), (vec![1, 0], 0));
}

#[test]
fn data_at_the_beginning_of_a_heartbeat_period_makes_a_heartbeat_needless() {
    for (is_used, from, to) in [(false, 30_500, 31_500), (true, 61_000, 63_000)] {
        let config = SctpConfig { heartbeat_interval: Some(Duration::from_secs(30)), ..quiet() };
        let mut wire = Wire::new(1, config);
        if is_used {
            wire.send(0, 0..1, 100);
        }
        wire.run_until(Instant::from_secs(64));
        let first = times(&wire, 0)[0];
        assert!(first >= from && first <= to, "{is_used}: {first} ms");
    }
}

#[test]
fn heartbeats_leave_at_multiples_of_the_granularity_of_timers_whether_the_last_was_answered_or_not() {
    for is_answered in [true, false] {
        let config = SctpConfig {
            heartbeat_interval: Some(Duration::from_secs(30)),
            timer_granularity: Duration::from_millis(250),
            ..quiet()
        };
        let mut wire = Wire::new(1, config);
        wire.decide(move |_| if is_answered { arrives() } else { is_lost() });
        wire.run_until(Instant::from_secs(100));
        let times = times(&wire, 0);
        assert!(times.len() >= 2 && times.iter().all(|at| at % 250 == 0), "{is_answered}: {times:?}");
        assert!((30_250..=31_500).contains(&times[0]), "{is_answered}: {times:?}");
    }
}

#[test]
fn a_missed_heartbeat_on_a_failing_path_with_data_in_flight_counts_nothing() {
    let config = SctpConfig {
        potentially_failed: PotentiallyFailed::Above(0),
        heartbeat_interval: Some(Duration::from_secs(30)),
        ..quiet()
    };
    let mut wire = cut(1, config);
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.drain();
    wire.run_until(Instant::from_millis(1_500));
    assert_eq!((wire.path(0, 0).state, errors(&wire)), (PathState::PotentiallyFailed, vec![1]));
    // T3-rtx expires at 3.5 s, the HEARTBEAT at 3 s.
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_millis(3_499));
    assert_eq!((errors(&wire), wire.path(0, 0).rto), (vec![1], Duration::from_secs(2)));
    assert_eq!(times(&wire, 0), [0, 1_000, 3_000]);
    wire.run_until(Instant::from_millis(3_500));
    assert_eq!((errors(&wire), wire.path(0, 0).rto), (vec![2], Duration::from_secs(4)));
}

#[test]
fn a_path_that_starts_to_fail_while_a_heartbeat_is_awaited_gets_no_other() {
    let config = SctpConfig {
        potentially_failed: PotentiallyFailed::Above(0),
        heartbeat_interval: Some(Duration::from_secs(30)),
        ..quiet()
    };
    let mut wire = cut(1, config);
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_millis(500));
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.drain();
    wire.run_until(Instant::from_secs(1));
    assert_eq!(wire.path(0, 0).state, PathState::PotentiallyFailed);
    wire.run_until(Instant::from_millis(1_600));
    assert_eq!(times(&wire, 0), [500, 1_500]);
}

#[test]
fn the_counter_of_a_dead_path_stops_at_ten_times_what_makes_it_inactive() {
    let mut wire = cut(2, SctpConfig { path_max_retrans: 2, ..quiet() });
    let now = wire.now;
    for count in 1..=35 {
        wire.ends[0].count_error(now, PathId(1), Unanswered::Heartbeat, false);
        assert_eq!(errors(&wire), [0, count.min(30)]);
    }
}

#[test]
fn only_the_primarys_own_failures_take_its_rank() {
    let config = SctpConfig {
        potentially_failed: PotentiallyFailed::Above(0),
        primary_switchover: PrimarySwitchover::Above(2),
        ..quiet()
    };
    let mut wire = cut(3, config);
    let now = wire.now;
    wire.ends[0].count_error(now, PathId(0), Unanswered::Heartbeat, false);
    for _ in 0..3 {
        wire.ends[0].count_error(now, PathId(2), Unanswered::Heartbeat, false);
    }
    assert_eq!(errors(&wire), [1, 0, 3]);
    assert!(wire.path(0, 0).is_primary, "new DATA goes elsewhere, and returns");
    wire.ends[0].count_error(now, PathId(0), Unanswered::Heartbeat, false);
    assert!(wire.path(0, 0).is_primary);
    wire.ends[0].count_error(now, PathId(0), Unanswered::Heartbeat, false);
    assert!(wire.path(0, 1).is_primary);
}

#[test]
fn a_lone_primary_keeps_its_rank_and_nothing_is_told() {
    let config = SctpConfig { primary_switchover: PrimarySwitchover::Above(5), ..quiet() };
    let mut wire = cut(1, config);
    for _ in 0..8 {
        let now = wire.now;
        wire.ends[0].count_error(now, PathId(0), Unanswered::Heartbeat, false);
    }
    wire.drain();
    let inactive = Event::PathChanged { address: address(1, 0), state: PathState::Inactive };
    assert_eq!(wire.events[0], [inactive]);
}

#[test]
fn of_inactive_paths_with_as_many_errors_the_next_in_turn_is_taken() {
    let mut wire = Wire::new(3, quiet());
    let paths = &mut wire.ends[0].paths;
    for path in paths.iter_mut() {
        (path.state, path.error_count) = (PathState::Inactive, 6);
    }
    let next = |paths: &Paths| [0, 1, 2].map(|last| paths.alternate_to(PathId(last)).0);
    assert_eq!(next(paths), [1, 2, 0]);
    paths[PathId(2)].error_count = 5;
    assert_eq!(next(paths), [2, 2, 2], "unless one has fewer");
}

#[test]
fn a_failing_path_is_preferred_to_inactive_ones_however_few_their_errors() {
    let mut wire = Wire::new(3, quiet());
    let paths = &mut wire.ends[0].paths;
    let states = [PathState::Inactive, PathState::PotentiallyFailed, PathState::Inactive];
    for (path, (state, errors)) in paths.iter_mut().zip(states.into_iter().zip([1, 3, 2])) {
        (path.state, path.error_count) = (state, errors);
    }
    assert_eq!([0, 1, 2].map(|last| paths.alternate_to(PathId(last)).0), [1, 1, 1]);
}

#[test]
fn an_acknowledgement_of_what_went_to_one_address_only_clears_its_counter_though_it_was_sent_twice() {
    let mut wire = cut(1, quiet());
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(1));
    assert_eq!(errors(&wire), [1]);
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(errors(&wire), [0]);
}

#[test]
fn what_went_to_two_addresses_stays_ambiguous_when_it_is_sent_again_to_the_last() {
    let mut wire = cut(2, quiet());
    wire.send(0, 0..1, 1_452);
    // To the second path, back, and to the second again.
    for (at, path, expected) in [(1, 1, [1, 0]), (2, 0, [1, 1]), (4, 1, [2, 1])] {
        wire.run_until(Instant::from_secs(at));
        assert_eq!((wire.log.last().unwrap().path, errors(&wire)), (path, expected.to_vec()));
    }
    // Its packet is too big there: it goes out once more, to the same address.
    wire.ends[0].handle_packet_too_big(wire.now, address(1, 1), 1_300);
    wire.drain();
    assert_eq!(wire.log.iter().map(|sent| sent.path).collect::<Vec<_>>(), [0, 1, 0, 1, 1]);
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(errors(&wire), [2, 1]);
}

#[test]
fn one_unambiguous_chunk_among_those_acknowledged_is_enough() {
    let mut wire = cut(2, quiet());
    assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
    wire.send(0, 0..2, 1_452);
    assert!(wire.ends[0].set_primary(wire.now, address(1, 0)));
    wire.send(0, 2..3, 1_452);
    wire.run_until(Instant::from_millis(100));
    wire.inject(0, 1, &[sack(1, &[])]);
    // T3-rtx of the second path runs until 1.1 s now: chunk 3 joins chunk 2 there.
    wire.run_until(Instant::from_secs(1));
    assert_eq!(wire.log.last().map(|sent| sent.path), Some(1));
    wire.ends[0].paths[PathId(1)].error_count = 1;
    wire.inject(0, 1, &[sack(3, &[])]);
    assert_eq!(errors(&wire), [1, 0]);
}

/// RFC 9260, section 6.3.1: only what is retransmitted at or before the TSN that is timed spoils the measurement.
#[test]
fn a_retransmission_of_what_follows_does_not_spoil_a_measurement() {
    let mut wire = cut(2, quiet());
    wire.send(0, 0..1, 1_452);
    assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
    wire.send(0, 1..2, 1_452);
    wire.run_until(Instant::from_millis(20));
    wire.ends[0].handle_packet_too_big(wire.now, address(1, 1), 1_300);
    wire.drain();
    assert_eq!(wire.path(0, 1).stats.retransmissions, 1);
    wire.run_until(Instant::from_millis(100));
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(wire.path(0, 0).srtt, Some(Duration::from_millis(100)));
    wire.inject(0, 1, &[sack(2, &[])]);
    assert_eq!(wire.path(0, 1).srtt, None, "but its own does");
}

#[test]
fn a_shutdown_sends_no_heartbeats_whoever_asks_for_them() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|sent| if sent.from == 1 { is_lost() } else { arrives() });
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    assert!(wire.ends[0].set_heartbeat_interval(wire.now, address(1, 0), Some(Duration::from_millis(100))));
    wire.run_until(Instant::from_secs(5));
    assert_eq!(times(&wire, 0), [] as [u64; 0]);
}

#[test]
fn a_round_trip_is_measured_by_the_sacks_that_the_policy_trusts() {
    use RttSampling::{AnySack, GapFreeSackOnDataPath, SackOnDataPath};
    let gap: &[(u16, u16)] = &[(2, 2)];
    for (rtt_sampling, from, blocks, is_taken) in [
        (AnySack, 1, gap, true),
        (SackOnDataPath, 1, &[], false),
        (SackOnDataPath, 0, gap, true),
        (GapFreeSackOnDataPath, 1, &[], false),
        (GapFreeSackOnDataPath, 0, gap, false),
        (GapFreeSackOnDataPath, 0, &[], true),
    ] {
        let mut wire = cut(2, SctpConfig { rtt_sampling, ..quiet() });
        wire.send(0, 0..3, 1_452);
        wire.run_until(Instant::from_millis(100));
        wire.inject(0, from, &[sack(1, blocks)]);
        let taken = is_taken.then_some(Duration::from_millis(100));
        assert_eq!(wire.path(0, 0).srtt, taken, "{rtt_sampling:?} by path {from}, {blocks:?}");
    }
}

#[test]
fn a_sack_by_a_path_that_is_not_trusted_does_not_use_the_round_trip_of_a_window_up() {
    use crate::config::LossDetection;
    let config = SctpConfig {
        rtt_sampling: RttSampling::SackOnDataPath,
        loss_detection: LossDetection::Rack,
        ..quiet()
    };
    let mut wire = cut(2, config);
    wire.send(0, 0..3, 1_400);
    wire.run_until(Instant::from_millis(60));
    wire.inject(0, 1, &[sack(1, &[])]);
    assert_eq!(wire.path(0, 0).srtt, None);
    wire.run_until(Instant::from_millis(100));
    wire.inject(0, 0, &[sack(2, &[])]);
    assert_eq!(wire.path(0, 0).srtt, Some(Duration::from_millis(100)));
}

#[test]
fn the_path_of_least_delay_is_an_active_one() {
    let mut wire = Wire::new(3, quiet());
    let paths = &mut wire.ends[0].paths;
    assert_eq!(paths.lowest_delay(), None);
    for (path, delay) in [(0, 30), (1, 10), (2, 20)] {
        paths[PathId(path)].sample_rtt(Duration::from_millis(delay));
    }
    assert_eq!(paths.lowest_delay(), Some(PathId(1)));
    paths[PathId(1)].state = PathState::Inactive;
    assert_eq!(paths.lowest_delay(), Some(PathId(2)));
}

#[test]
fn heartbeats_that_were_set_end_with_the_shutdown_on_either_side() {
    for peer_began in [false, true] {
        let interval = Some(Duration::from_millis(100));
        let mut wire = cut(2, SctpConfig { heartbeat_interval: interval, ..quiet() });
        if peer_began {
            let end = crate::chunk::Shutdown { cumulative_tsn_ack: Tsn(u32::MAX - 4) };
            wire.inject(0, 0, &[Chunk::Shutdown(end)]);
        } else {
            wire.ends[0].shutdown(wire.now);
            wire.drain();
        }
        wire.run_until(Instant::from_secs(30));
        assert_eq!([0, 1].map(|path| times(&wire, path).len()), [0, 0], "the peer began: {peer_began}");
    }
}

#[test]
fn a_sack_that_says_nothing_new_clears_no_counter_unless_it_answers_a_probe() {
    let mut wire = cut(1, quiet());
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(1));
    assert_eq!(wire.ends[0].error_count, 1);
    wire.inject(0, 0, &[sack(0, &[])]);
    assert_eq!((wire.ends[0].error_count, errors(&wire)), (1, vec![1]));
}

#[test]
fn a_probe_that_a_gap_block_acknowledged_is_answered_no_second_time() {
    let closed = |acked, blocks: &[(u16, u16)]| {
        let Chunk::Sack(told) = sack(acked, blocks) else { unreachable!() };
        Chunk::Sack(Sack { a_rwnd: 0, ..told })
    };
    let mut wire = cut(2, quiet());
    wire.send(0, 0..3, 100);
    assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
    wire.send(0, 3..4, 100);
    wire.run_until(Instant::from_millis(200));
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 1)));
    wire.drain();
    // T3-rtx of path 0 starts anew, so that of path 1 expires first: chunk 4 probes the closed window.
    wire.run_until(Instant::from_millis(500));
    wire.inject(0, 0, &[closed(1, &[])]);
    wire.run_until(Instant::from_millis(1_100));
    assert_eq!(wire.path(0, 1).stats.timeouts, 1);
    wire.inject(0, 0, &[closed(2, &[(2, 2)])]);
    assert_eq!(wire.ends[0].error_count, 0);
    // The HEARTBEAT times out.
    wire.run_until(Instant::from_millis(1_300));
    assert_eq!((wire.ends[0].error_count, wire.path(0, 0).stats.timeouts), (1, 0));
    wire.inject(0, 0, &[closed(2, &[(2, 2)])]);
    assert_eq!(wire.ends[0].error_count, 1);
}

#[test]
fn where_anything_seeks_the_least_delay_paths_are_probed_that_the_handshake_has_not_measured() {
    use crate::config::{FastRetransmitPath, SackPath};
    let sacks = SctpConfig { sack_path: SackPath::GapReportsOnLowestDelay, ..quiet() };
    let repeats = SctpConfig { fast_retransmit_path: FastRetransmitPath::LowestDelay, ..quiet() };
    let measured = Some(Duration::from_millis(80));
    let cases = [
        (&sacks, None, [1, 1]),
        (&sacks, measured, [0, 1]),
        (&repeats, None, [1, 1]),
        (&repeats, measured, [0, 1]),
        (&quiet(), None, [0, 0]),
    ];
    for (config, round_trip, probed) in cases {
        let tcbs = [0, 1].map(|end| Tcb { round_trip, ..tcb(end, 2, config) });
        let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config.clone()]);
        wire.run_until(Instant::from_millis(10));
        assert_eq!([0, 1].map(|path| times(&wire, path).len()), probed, "{round_trip:?}");
    }
}

#[test]
fn a_path_that_sacks_leave_because_of_what_came_twice_is_asked_at_once_whether_it_is_broken() {
    let mut wire = Wire::new(2, SctpConfig { heartbeat_interval: Some(Duration::from_secs(30)), ..quiet() });
    // Past what the handshake leaves to be probed.
    wire.run_until(Instant::from_millis(10_000));
    wire.log.clear();
    let sends_three = |wire: &mut Wire| {
        for context in 0..3 {
            wire.ends[1].send(wire.now, message(0, context, 100)).unwrap();
            wire.drain();
        }
        wire.run_until(wire.now + Duration::from_millis(300));
        let sack = wire.log.iter().rev().find(|sent| sent.from == 0 && sent.sack().is_some());
        sack.expect("a SACK").path
    };
    let probes = |wire: &Wire| {
        let is_probe = |sent: &&Sent| sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_)));
        let own = wire.log.iter().filter(|sent| sent.from == 0);
        own.filter(is_probe).map(|sent| sent.path).collect::<Vec<_>>()
    };
    assert_eq!((sends_three(&mut wire), probes(&wire)), (0, vec![]));
    // What came first comes again by the other path, as by a needless retransmission.
    for _ in 0..2 {
        wire.inject(0, 1, &[data(6, b"again")]);
        assert_eq!(wire.log.last().unwrap().path, 1);
    }
    assert_eq!(probes(&wire), [0], "asked once");
    // A round trip later there is an answer.
    wire.run_until(wire.now + Duration::from_millis(100));
    assert_eq!((sends_three(&mut wire), probes(&wire)), (0, vec![0]));
}
