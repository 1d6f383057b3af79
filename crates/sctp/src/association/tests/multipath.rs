//! New DATA over several paths at once (CMT-SCTP).

use super::*;
use crate::config::LossDetection;
use crate::event::SendOptions;
use crate::policy::Multipath;

fn spread(policy: Multipath) -> SctpConfig {
    SctpConfig {
        multipath: policy,
        initial_cwnd_bytes: Some(4 * 1_468),
        receive_buffer_bytes: 1 << 20,
        send_buffer_bytes: 4 << 20,
        ..quiet()
    }
}

/// Delays packets to path 1 by so much more than packets to path 0.
fn slow_second(wire: &mut Wire, extra: Duration) {
    wire.decide(move |sent| SmallVec::from_slice(&[if sent.path == 1 { DELAY + extra } else { DELAY }]));
}

fn paths_of(wire: &Wire) -> Vec<usize> {
    data_packets(wire, 0).iter().map(|sent| sent.path).collect()
}

#[test]
fn packets_take_the_paths_in_turn_as_long_as_their_windows_have_room() {
    let mut wire = Wire::new(2, spread(Multipath::Concurrent));
    wire.send(0, 0..12, 1_400);
    assert_eq!(paths_of(&wire), [1, 0, 1, 0, 1, 0, 1, 0]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..12).collect::<Vec<_>>());
    assert_eq!([0, 1].map(|path| wire.path(0, path).flight_size), [0, 0]);
}

#[test]
fn one_path_is_used_where_the_other_has_failed_or_is_not_confirmed() {
    let config = spread(Multipath::Concurrent);
    let mut tcbs = [0, 1].map(|end| tcb(end, 2, &config));
    tcbs[0].peer_addresses[1].is_confirmed = false;
    let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config]);
    wire.send(0, 0..4, 1_400);
    assert_eq!(paths_of(&wire), [0; 4]);
    wire.run_to_rest();
    wire.send(0, 4..8, 1_400);
    assert!(paths_of(&wire)[4..].contains(&1), "{:?}", paths_of(&wire));
}

#[test]
fn a_message_for_an_address_goes_there_and_nowhere_else() {
    let mut wire = Wire::new(2, spread(Multipath::Concurrent));
    for context in 0..6 {
        let options = SendOptions { destination: Some(address(1, 0)), ..SendOptions::default() };
        let message = Message { options: Some(Box::new(options)), ..message(0, context, 1_400) };
        wire.ends[0].send(wire.now, message).unwrap();
    }
    wire.drain();
    assert_eq!(paths_of(&wire), [0; 4]);
    wire.run_to_rest();
    assert_eq!(paths_of(&wire), [0; 6]);
}

/// The retransmissions after 60 messages of which none is lost and path 1 has 90 ms more, and the SACKs that it took.
fn over_unequal_paths(config: SctpConfig) -> (u64, usize, u64) {
    let mut wire = Wire::new(2, config);
    slow_second(&mut wire, Duration::from_millis(90));
    wire.send(0, 0..200, 1_400);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..200).collect::<Vec<_>>());
    let again = [0, 1].map(|path| wire.path(0, path).stats.retransmissions);
    let sacks = wire.log.iter().filter(|sent| sent.from == 1 && sent.sack().is_some()).count();
    (again[0] + again[1], sacks, wire.path(0, 0).cwnd)
}

#[test]
fn paths_of_different_delay_do_not_take_each_other_for_lost() {
    for loss_detection in [LossDetection::MissIndications, LossDetection::Rack] {
        let config = SctpConfig { loss_detection, ..spread(Multipath::Concurrent) };
        let (again, sacks, cwnd) = over_unequal_paths(config);
        assert_eq!(again, 0, "{loss_detection:?}");
        // One for two packets, though holes are all that there is.
        assert!((100..120).contains(&sacks), "{sacks} SACKs, {loss_detection:?}");
        // The window opens although the other path holds up the cumulative ack.
        assert!(cwnd > 20_000, "{cwnd}, {loss_detection:?}");
    }
}

#[test]
fn a_window_that_waits_for_a_cumulative_ack_waits_for_that_of_its_own_path() {
    let mut config = spread(Multipath::Concurrent);
    config.congestion.growth = slantpath_cc::sctp::CwndGrowth::CumulativeAdvance;
    let (again, _, cwnd) = over_unequal_paths(config);
    assert!(again == 0 && cwnd > 20_000, "{again} retransmissions, {cwnd} bytes");
}

#[test]
fn a_loss_is_found_by_what_was_sent_to_its_own_path_and_closes_that_window_alone() {
    for loss_detection in [LossDetection::MissIndications, LossDetection::Rack] {
        let mut wire = Wire::new(2, SctpConfig { loss_detection, ..spread(Multipath::Concurrent) });
        let mut lost = None;
        wire.decide(move |sent| {
            let is_meant = sent.from == 0 && sent.path == 0 && sent.has_data() && lost.is_none();
            if is_meant {
                lost = Some(sent.tsns());
            }
            if is_meant { is_lost() } else { arrives() }
        });
        wire.send(0, 0..60, 1_400);
        wire.run_to_rest();
        assert_eq!(wire.received(1), (0..60).collect::<Vec<_>>());
        let [first, second] = [0, 1].map(|path| wire.path(0, path));
        assert_eq!((first.stats.timeouts, first.stats.retransmissions), (0, 1), "{loss_detection:?}");
        assert_eq!((second.stats.timeouts, second.stats.retransmissions), (0, 0), "{loss_detection:?}");
        assert!(first.ssthresh <= 16 * 1_468 && second.ssthresh == u64::from(u32::MAX), "{loss_detection:?}");
        assert!(!wire.ends[0].snapshot().is_in_fast_recovery);
    }
}

#[test]
fn what_timed_out_takes_the_other_path_and_what_is_new_too() {
    let mut wire = Wire::new(2, SctpConfig { path_max_retrans: 0, ..spread(Multipath::Concurrent) });
    wire.decide(|sent| if sent.path == 1 { is_lost() } else { arrives() });
    wire.send(0, 0..40, 1_400);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..40).collect::<Vec<_>>());
    assert_eq!(wire.path(0, 1).state, PathState::Inactive);
}

#[test]
fn a_path_with_a_wide_window_fills_no_more_than_its_part_of_the_buffer() {
    let in_flight = |split_buffers: bool| {
        let config = SctpConfig {
            split_buffers,
            receive_buffer_bytes: 40_000,
            initial_cwnd_bytes: Some(100_000),
            max_burst: u32::MAX,
            ..spread(Multipath::Concurrent)
        };
        let mut wire = Wire::new(2, config);
        wire.decide(|_| is_lost());
        let narrow = wire.ends[0].paths.iter_mut().next().unwrap();
        slantpath_cc::CongestionControl::limit_cwnd(&mut narrow.cc, 6_000);
        wire.send(0, 0..60, 1_400);
        [0, 1].map(|path| wire.path(0, path).flight_size)
    };
    // The DATA chunk headers do not count against buffers.
    assert_eq!(in_flight(true), [5 * 1_416, 14 * 1_416]);
    assert_eq!(in_flight(false), [5 * 1_416, 23 * 1_416]);
}

#[test]
fn pooled_windows_open_together_as_one() {
    let opened = |policy| {
        let mut wire = Wire::new(2, spread(policy));
        wire.send(0, 0..60, 1_400);
        wire.run_to_rest();
        wire.path(0, 0).cwnd + wire.path(0, 1).cwnd - 8 * 1_468
    };
    let [alone, first, second] =
        [Multipath::Concurrent, Multipath::PooledV1, Multipath::PooledV2].map(opened);
    assert!(alone > first + first / 2 && alone > second + second / 2, "{alone}, {first}, {second} bytes");
}
