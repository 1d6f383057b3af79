//! An address of ours, or its link, is back: the paths from there are asked at once, and no more often than they may be.

use super::*;
use crate::path::PathState;

/// HEARTBEATs so seldom that none of their own falls into a test.
fn probing() -> SctpConfig {
    SctpConfig { heartbeat_interval: Some(Duration::from_secs(3_600)), ..quiet() }
}

/// When end 0 has sent HEARTBEATs by a path, in milliseconds.
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
