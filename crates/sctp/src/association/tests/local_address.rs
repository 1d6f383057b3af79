//! An address of ours, or its link, is back: the paths from there are asked at once, and no more often than they may
//! be.

use super::*;
use crate::event::SendOptions;
use crate::extension::{Extension, Extensions};
use crate::path::PathState;
use crate::reliability::Reliability;

/// HEARTBEATs so seldom that none of their own falls into a test.
fn probing() -> SctpConfig {
    SctpConfig { heartbeat_interval: Some(Duration::from_secs(3_600)), ..quiet() }
}

/// Times at which end 0 has sent HEARTBEATs by a path, in milliseconds.
fn heartbeats(wire: &Wire, path: usize) -> Vec<u64> {
    let is_heartbeat = |sent: &&Sent| {
        let has = sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_)));
        sent.from == 0 && sent.path == path && has
    };
    wire.log.iter().filter(is_heartbeat).map(|sent| (sent.at - Instant::START).as_millis()).collect()
}

/// End 0 learns at some time that one of its addresses is back.
fn back(wire: &mut Wire, millis: u64, path: usize) -> bool {
    wire.run_until(Instant::from_millis(millis));
    let is_any = wire.ends[0].local_address_is_back(wire.now, address(0, path));
    wire.drain();
    is_any
}

#[test]
fn the_paths_from_an_address_that_is_back_are_asked_at_once_and_no_others() {
    let mut wire = Wire::new(3, probing());
    assert!(back(&mut wire, 5_000, 1));
    assert_eq!([0, 1, 2].map(|path| heartbeats(&wire, path)), [vec![], vec![5_000], vec![]]);
    assert!(!back(&mut wire, 6_000, 7), "none of ours");
    wire.run_until(Instant::from_secs(60));
    assert_eq!([0, 1, 2].map(|path| heartbeats(&wire, path).len()), [0, 1, 0]);
}

#[test]
fn a_link_that_comes_and_goes_costs_a_heartbeat_each_rto_initial_and_the_last_return_is_not_forgotten() {
    for is_answered in [false, true] {
        let mut wire = Wire::new(1, SctpConfig { rto_initial: Duration::from_secs(2), ..probing() });
        wire.decide(move |_| if is_answered { arrives() } else { is_lost() });
        for millis in (10_000..=15_500).step_by(100) {
            back(&mut wire, millis, 0);
        }
        wire.run_until(Instant::from_secs(40));
        let sent = heartbeats(&wire, 0);
        if is_answered {
            // From the answer on, which has proved as much.
            assert_eq!(sent, [10_000, 12_100, 14_200, 16_300]);
        } else {
            // The last is not answered within the RTO; the next after that is an hour away.
            assert_eq!(sent, [10_000, 12_000, 14_000, 16_000]);
            assert_eq!(wire.path(0, 0).error_count, 1);
        }
    }
}

#[test]
fn what_may_have_been_lost_with_our_own_link_counts_nothing_and_its_answer_counts() {
    let mut wire = Wire::new(1, probing());
    wire.decide(|sent| {
        // 1.2 s until it is answered.
        if sent.from == 0 { SmallVec::from_slice(&[Duration::from_millis(1_150)]) } else { arrives() }
    });
    back(&mut wire, 5_000, 0);
    back(&mut wire, 5_900, 0);
    wire.run_until(Instant::from_millis(6_199));
    assert_eq!(heartbeats(&wire, 0), [5_000, 6_000]);
    assert_eq!((wire.path(0, 0).error_count, wire.path(0, 0).srtt), (0, None));
    // The answer to the first says nothing once the second is under way.
    wire.run_until(Instant::from_millis(6_999));
    assert_eq!((wire.path(0, 0).error_count, wire.path(0, 0).srtt), (0, None));
    wire.run_until(Instant::from_millis(7_000));
    assert_eq!(wire.path(0, 0).error_count, 1, "the second is late by its own RTO");
    // An answer that comes between the return and the next HEARTBEAT makes that needless.
    let mut wire = Wire::new(1, probing());
    back(&mut wire, 5_000, 0);
    back(&mut wire, 5_050, 0);
    wire.run_until(Instant::from_secs(100));
    assert_eq!(heartbeats(&wire, 0), [5_000]);
    assert_eq!(wire.path(0, 0).srtt, Some(Duration::from_millis(100)));
}

#[test]
fn where_heartbeats_are_off_or_the_association_shuts_down_none_is_sent() {
    let mut wire = Wire::new(1, quiet());
    assert!(back(&mut wire, 5_000, 0));
    wire.run_until(Instant::from_secs(60));
    assert_eq!(heartbeats(&wire, 0), [] as [u64; 0]);
    let mut wire = Wire::new(1, probing());
    wire.decide(|_| is_lost());
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    assert!(!back(&mut wire, 500, 0));
    assert_eq!(heartbeats(&wire, 0), [] as [u64; 0]);
}

/// T3-rtx expires at 1, 3, 7, 15 and 31 s, and then at 63 s.
#[test]
fn what_was_sent_into_the_void_is_sent_again_an_rto_behind_the_answer() {
    for is_told in [false, true] {
        let mut wire = Wire::new(1, probing());
        wire.decide(|_| is_lost());
        wire.send(0, 0..1, 100);
        wire.run_until(Instant::from_secs(40));
        wire.decide(|_| arrives());
        if is_told {
            back(&mut wire, 40_000, 0);
        }
        wire.run_until(Instant::from_secs(100));
        let data = wire.log.iter().filter(|sent| sent.from == 0 && sent.has_data());
        let last = data.map(|sent| (sent.at - Instant::START).as_millis()).max();
        // The answer comes at 40.1 s, and the RTO is RTO.Min by then.
        assert_eq!(last, Some(if is_told { 41_100 } else { 63_000 }), "{is_told}");
        assert_eq!(wire.path(0, 0).state, PathState::Active);
    }
    // Another HEARTBEAT that is answered leaves the timer alone.
    let mut wire = Wire::new(1, probing());
    wire.decide(|_| is_lost());
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(40));
    wire.decide(|_| arrives());
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.drain();
    wire.run_until(Instant::from_millis(62_999));
    let data = wire.log.iter().filter(|sent| sent.from == 0 && sent.has_data());
    assert_eq!(data.count(), 6, "the message, and five times again");
}

/// End 0 learns at some time that one of its addresses has gone.
fn down(wire: &mut Wire, millis: u64, path: usize) -> bool {
    wire.run_until(Instant::from_millis(millis));
    let is_any = wire.ends[0].local_address_is_down(wire.now, address(0, path));
    wire.drain();
    is_any
}

fn states(wire: &Wire) -> Vec<PathState> {
    wire.ends[0].path_snapshots(wire.now).map(|path| path.state).collect()
}

#[test]
fn the_paths_from_an_address_that_has_gone_are_left_at_once_with_what_is_in_flight() {
    let mut wire = Wire::new(2, quiet());
    // What leaves by the first path never arrives, from the beginning.
    wire.decide(|sent| if sent.path == 0 { is_lost() } else { arrives() });
    wire.send(0, 0..3, 1_000);
    let before = wire.log.len();
    let window = wire.path(0, 0).cwnd;
    assert!(down(&mut wire, 300, 0));
    assert_eq!(states(&wire), [PathState::Inactive, PathState::Active]);
    let again: Vec<_> = wire.log[before..].iter().filter(|sent| sent.has_data()).collect();
    assert!(again.iter().all(|sent| sent.path == 1 && sent.at == Instant::from_millis(300)), "{again:?}");
    assert_eq!(again.iter().flat_map(|sent| sent.tsns()).count(), 3);
    let gone = wire.events[0].iter().find(|event| matches!(event, Event::PathChanged { .. }));
    let wanted = Event::PathChanged { address: address(1, 0), state: PathState::Inactive };
    assert_eq!(gone, Some(&wanted));
    // It is told from paths that may work by its errors; nothing counts against the association, no time-out has been,
    // and the window is as it was.
    assert_eq!((wire.path(0, 0).error_count, wire.ends[0].snapshot().error_count), (6, 0));
    assert_eq!((wire.path(0, 0).cwnd, wire.path(0, 0).stats.timeouts), (window, 0));
    let stats = wire.path(0, 1).stats;
    assert_eq!((stats.retransmissions, stats.timeout_retransmissions), (3, 0));
    // New DATA goes by the other as well, and nothing is repeated.
    wire.send(0, 3..20, 1_000);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..20).collect::<Vec<_>>());
    assert_eq!(wire.path(0, 1).stats.timeouts, 0);
    assert!(!down(&mut wire, 20_000, 7), "none of ours");
}

#[test]
fn where_no_other_path_is_active_they_go_on_and_the_last_one_is_not_left() {
    let mut wire = Wire::new(2, quiet());
    wire.send(0, 0..1, 100);
    assert!(down(&mut wire, 10, 0) && down(&mut wire, 20, 1));
    assert_eq!(states(&wire), [PathState::Inactive, PathState::Active]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0]);
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.send(0, 0..1, 100);
    assert!(down(&mut wire, 500, 0));
    assert_eq!((states(&wire), wire.path(0, 0).stats.retransmissions), (vec![PathState::Active], 0));
    wire.decide(|_| arrives());
    wire.run_to_rest();
    assert_eq!(
        wire.log.iter().filter(|sent| sent.has_data()).nth(1).map(|sent| sent.at.as_nanos()),
        Some(1_000_000_000)
    );
}

#[test]
fn a_path_that_was_left_for_its_link_is_back_with_the_answer_to_the_first_heartbeat() {
    let mut wire = Wire::new(2, probing());
    assert!(down(&mut wire, 1_000, 0));
    wire.send(0, 0..1, 100);
    assert!(back(&mut wire, 3_000, 0));
    assert_eq!(heartbeats(&wire, 0), [3_000]);
    wire.run_until(Instant::from_millis(3_100));
    assert_eq!(states(&wire), [PathState::Active, PathState::Active]);
    wire.send(0, 1..2, 100);
    assert_eq!(
        wire.log.iter().rfind(|sent| sent.has_data()).map(|sent| sent.path),
        Some(0),
        "the primary one"
    );
}

#[test]
fn a_closed_window_is_probed_by_the_path_that_is_left() {
    let config = SctpConfig { receive_buffer_bytes: 8_000, ..quiet() };
    let mut wire = Wire::new(2, config);
    wire.ends[1].pause_delivery();
    wire.send(0, 0..20, 1_000);
    wire.run_until(Instant::from_millis(1_500));
    assert!(down(&mut wire, 1_500, 0));
    wire.run_until(Instant::from_secs(30));
    let probes: Vec<_> =
        data_packets(&wire, 0).into_iter().filter(|sent| sent.at > Instant::from_millis(1_499)).collect();
    assert!(probes.len() > 2 && probes.iter().all(|sent| sent.path == 1), "{probes:?}");
    assert_eq!(wire.ends[0].snapshot().error_count, 0);
    wire.ends[1].resume_delivery();
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..20).collect::<Vec<_>>());
}

#[test]
fn of_what_is_in_flight_when_the_peer_has_no_room_one_packet_goes_again() {
    let mut wire = Wire::new(2, quiet());
    wire.decide(|_| is_lost());
    wire.send(0, 0..3, 1_000);
    let Chunk::Sack(sack) = sack(0, &[]) else { unreachable!() };
    wire.inject(0, 1, &[Chunk::Sack(Sack { a_rwnd: 0, ..sack })]);
    let before = wire.log.len();
    assert!(down(&mut wire, 300, 0));
    let again: Vec<_> = wire.log[before..].iter().map(|sent| (sent.path, sent.tsns())).collect();
    assert_eq!(again, [(1, vec![u32::MAX - 3])]);
}

#[test]
fn a_forward_tsn_that_may_have_been_lost_with_the_link_goes_by_another() {
    let extensions = Extensions::of(&[Extension::PartialReliability]);
    let mut wire = Wire::new(2, SctpConfig { extensions, ..quiet() });
    wire.decide(|sent| if sent.path == 0 { is_lost() } else { arrives() });
    let reliability = Reliability::Lifetime(Duration::from_millis(500));
    let options = Some(Box::new(SendOptions { reliability, ..SendOptions::default() }));
    wire.ends[0].send(wire.now, Message { options, ..message(0, 0, 100) }).unwrap();
    wire.drain();
    // T3-rtx expires and the message is given up, which goes to the other path; that goes, too, and the first is back.
    let forwards = |wire: &Wire, from: usize| -> Vec<(usize, u64)> {
        let sent = wire.log[from..].iter().filter(|sent| sent.from == 0);
        let forward =
            sent.filter(|sent| sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::ForwardTsn(_))));
        forward.map(|sent| (sent.path, (sent.at - Instant::START).as_millis())).collect()
    };
    wire.decide(|_| is_lost());
    wire.run_until(Instant::from_millis(1_200));
    let [(first, _)] = forwards(&wire, 0)[..] else { panic!("{:?}", forwards(&wire, 0)) };
    wire.decide(|_| arrives());
    let before = wire.log.len();
    assert!(down(&mut wire, 1_300, first));
    assert_eq!(forwards(&wire, before), [(1 - first, 1_300)]);
    wire.run_to_rest();
    assert_eq!(wire.ends[1].snapshot().stats.forward_tsns_received, 1);
}

#[test]
fn a_trace_says_that_an_address_has_gone_and_is_back_and_what_went_again_for_it() {
    use crate::trace::{LossEvidence, TraceEvent};
    let mut wire = Wire::new(2, SctpConfig { trace: true, ..probing() });
    wire.decide(|sent| if sent.path == 0 { is_lost() } else { arrives() });
    wire.send(0, 0..1, 100);
    down(&mut wire, 200, 0);
    back(&mut wire, 5_000, 0);
    let told: Vec<_> = wire.events[0]
        .iter()
        .filter_map(|event| match event {
            Event::Trace(event) => match **event {
                TraceEvent::LocalLink { source, is_up } => Some((source, Some(is_up))),
                TraceEvent::Lost { address, evidence: LossEvidence::LinkDown, .. } => Some((address, None)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(told, [(address(0, 0), Some(false)), (address(1, 0), None), (address(0, 0), Some(true))]);
}

#[test]
fn what_is_answered_by_another_path_brings_none_back_whose_link_has_gone() {
    let mut wire = Wire::new(2, probing());
    wire.send(0, 0..20, 1_000);
    wire.run_until(Instant::from_secs(5));
    // What leaves by the first path arrives, and is answered later than its link goes, all at once.
    let late = Duration::from_millis(300);
    wire.decide(move |sent| match sent.sack() {
        Some(sack) if matches!(sack.cumulative_tsn_ack, Tsn(17 | 19)) => is_lost(),
        _ if sent.from == 1 => SmallVec::from_slice(&[late]),
        _ => arrives(),
    });
    // As much as a burst lets out, twice.
    wire.send(0, 20..24, 1_000);
    wire.run_until(Instant::from_millis(5_005));
    wire.send(0, 24..28, 1_000);
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.drain();
    assert!(down(&mut wire, 5_010, 0));
    let again = data_packets(&wire, 0).iter().filter(|sent| sent.path == 1).count();
    assert!((1..8).contains(&again), "{again}: not all had a place in the burst");
    wire.run_until(Instant::from_millis(6_500));
    assert_eq!(wire.ends[0].snapshot().outstanding_chunks, 0);
    assert_eq!(wire.path(0, 0).error_count, 6);
    assert_eq!(states(&wire), [PathState::Inactive, PathState::Active]);
    wire.decide(|sent| if sent.from == 0 && sent.path == 0 { is_lost() } else { arrives() });
    wire.send(0, 28..29, 100);
    assert_eq!(wire.log.iter().rfind(|sent| sent.has_data()).map(|sent| sent.path), Some(1));
    // It is back, and says so itself.
    wire.decide(|_| arrives());
    back(&mut wire, 7_000, 0);
    wire.run_until(Instant::from_millis(7_200));
    assert_eq!(states(&wire), [PathState::Active, PathState::Active]);
}

#[test]
fn a_heartbeat_that_has_waited_for_our_own_link_says_nothing_of_the_round_trip() {
    let mut wire = Wire::new(2, probing());
    wire.decide(|sent| {
        // Kept by the system until the link is back.
        let is_kept = sent.from == 0 && sent.at == Instant::from_secs(5);
        if is_kept { SmallVec::from_slice(&[Duration::from_millis(850)]) } else { arrives() }
    });
    down(&mut wire, 4_000, 0);
    wire.run_until(Instant::from_secs(5));
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.drain();
    back(&mut wire, 5_800, 0);
    wire.run_until(Instant::from_millis(5_900));
    assert_eq!((states(&wire)[0], wire.path(0, 0).srtt), (PathState::Active, None));
}

#[test]
fn a_path_without_heartbeats_works_again_when_its_link_is_back() {
    let mut wire = Wire::new(2, quiet());
    assert!(down(&mut wire, 1_000, 0));
    assert_eq!(states(&wire), [PathState::Inactive, PathState::Active]);
    assert!(back(&mut wire, 2_000, 0));
    assert_eq!(states(&wire), [PathState::Active, PathState::Active]);
    assert_eq!((heartbeats(&wire, 0), wire.path(0, 0).error_count), (vec![], 0));
}

#[test]
fn an_address_that_is_confirmed_while_our_own_link_has_gone_works_once_that_is_back() {
    for config in [quiet(), probing()] {
        let mut tcbs = [0, 1].map(|end| tcb(end, 2, &config));
        tcbs[0].peer_addresses[1].is_confirmed = false;
        let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config]);
        assert_eq!(states(&wire), [PathState::Active, PathState::Unconfirmed]);
        assert!(down(&mut wire, 20, 1));
        wire.run_until(Instant::from_millis(500));
        assert_eq!(states(&wire), [PathState::Active, PathState::Inactive], "the HEARTBEAT was answered");
        assert!(back(&mut wire, 2_000, 1));
        wire.run_until(Instant::from_millis(2_500));
        assert_eq!(states(&wire), [PathState::Active, PathState::Active]);
    }
}

#[test]
fn the_last_sack_goes_again_by_the_path_that_is_left_and_so_do_all_others() {
    let mut wire = Wire::new(2, probing());
    wire.run_until(Instant::from_secs(1));
    // What leaves end 0 by its first link never arrives.
    wire.decide(|sent| if sent.from == 0 && sent.path == 0 { is_lost() } else { arrives() });
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    wire.send(1, 0..2, 1_000);
    wire.run_until(Instant::from_millis(1_100));
    let sacks = |wire: &Wire, from: usize| -> Vec<(usize, u64)> {
        let sent = wire.log[from..].iter().filter(|sent| sent.from == 0 && sent.sack().is_some());
        sent.map(|sent| (sent.path, (sent.at - Instant::START).as_millis())).collect()
    };
    assert_eq!(sacks(&wire, 0), [(0, 1_050)]);
    let before = wire.log.len();
    down(&mut wire, 1_200, 0);
    assert_eq!(sacks(&wire, before), [(1, 1_200)]);
    wire.run_until(Instant::from_millis(1_300));
    assert_eq!(wire.ends[1].snapshot().outstanding_chunks, 0, "before T3-rtx");
    // The other end does not know, and sends by the first link still.
    let before = wire.log.len();
    wire.send(1, 2..4, 1_000);
    wire.run_until(Instant::from_millis(1_400));
    assert!(wire.log[before..].iter().any(|sent| sent.from == 1 && sent.path == 0));
    assert_eq!(sacks(&wire, before), [(1, 1_350)]);
    // One that went by the other path is not lost.
    let before = wire.log.len();
    back(&mut wire, 5_000, 0);
    down(&mut wire, 5_100, 0);
    assert_eq!(sacks(&wire, before), []);
}

#[test]
fn the_last_active_path_is_left_once_another_has_answered() {
    let config = probing();
    let mut tcbs = [0, 1].map(|end| tcb(end, 2, &config));
    tcbs[0].peer_addresses[1].is_confirmed = false;
    let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config]);
    wire.decide(|sent| if sent.path == 0 && sent.from == 0 { is_lost() } else { arrives() });
    wire.send(0, 0..3, 1_000);
    assert!(down(&mut wire, 20, 0));
    assert_eq!(states(&wire), [PathState::Active, PathState::Unconfirmed]);
    wire.run_until(Instant::from_millis(400));
    assert_eq!(states(&wire), [PathState::Inactive, PathState::Active], "the HEARTBEAT was answered");
    assert_eq!((wire.received(1), wire.path(0, 0).stats.timeouts), (vec![0, 1, 2], 0));
}
