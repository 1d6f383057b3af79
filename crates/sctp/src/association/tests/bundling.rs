//! Bundling of retransmissions with each other, and of new DATA behind them. Counted from 1, as in the tables.

use super::*;
use crate::config::FastRetransmitPath;
use crate::packet::CommonHeader;
use crate::policy::NewDataAfterTimeout;
use slantpath_cc::CongestionControl;
use slantpath_cc::sctp::{SctpPolicy, WindowPolicy};

/// PMDCS.
const P: u64 = 1_468;

/// An end whose packets vanish, with a window of 10 PMDCS at the start and bursts without limit.
fn end(paths: usize, config: &SctpConfig) -> Wire {
    let config = SctpConfig { initial_cwnd_bytes: Some(10 * P), max_burst: u32::MAX, ..config.clone() };
    let mut wire = Wire::new(paths, config);
    wire.decide(|_| is_lost());
    wire
}

/// SACKs of no chunk but those up to `stop` from `start` on, one more each: three reports of what lies before.
fn report(wire: &mut Wire, start: u16, windows: [u32; 3]) {
    for (stop, a_rwnd) in (start..).zip(windows) {
        let Chunk::Sack(told) = sack(0, &[(start, stop)]) else { unreachable!() };
        wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd, ..told })]);
    }
}

/// The path and the chunks of each packet since.
fn packets(wire: &Wire, before: usize) -> Vec<(usize, Vec<u32>)> {
    let number = |tsn: u32| Tsn(tsn).distance_from(Tsn(u32::MAX - 4));
    let packets = wire.log[before..].iter().filter(|sent| sent.has_data());
    packets.map(|sent| (sent.path, sent.tsns().into_iter().map(number).collect())).collect()
}

#[test]
fn the_shortest_chunk_takes_the_last_room_of_a_packet() {
    let mut wire = end(1, &quiet());
    for (context, len) in [(0, 1_432), (1, 4)] {
        let message = message(0, context, len);
        let payload = message.payload.slice(..len);
        wire.ends[0].send(wire.now, Message { payload, ..message }).unwrap();
    }
    wire.drain();
    assert_eq!(packets(&wire, 0), [(0, vec![1, 2])]);
}

#[test]
fn new_data_does_not_ride_with_a_fast_retransmission_where_cwnd_is_full() {
    let mut wire = end(1, &quiet());
    wire.send(0, 0..1, 100);
    // The first two reports let two more out each; a short one is next when the third comes.
    wire.send(0, 1..15, 1_452);
    wire.send(0, 15..16, 100);
    report(&mut wire, 2, [100_000; 3]);
    assert_eq!(packets(&wire, wire.log.len() - 1), [(0, vec![1])]);
    assert_eq!(wire.path(0, 0).flight_size, 11 * P + 116);
    assert_eq!(wire.ends[0].snapshot().outstanding_chunks, 15);
}

#[test]
fn new_data_rides_with_a_fast_retransmission_only_if_the_window_of_the_association_has_room() {
    use NewDataAfterTimeout::{AssociationWindow, PathWindow};
    for (policy, last) in [(AssociationWindow, vec![1]), (PathWindow, vec![1, 14])] {
        let mut wire = end(2, &SctpConfig { new_data_after_timeout: policy, ..quiet() });
        wire.send(0, 0..1, 100);
        wire.send(0, 1..4, 1_452);
        assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
        wire.send(0, 4..11, 1_452);
        assert!(wire.ends[0].set_primary(wire.now, address(1, 0)));
        let full = 10 * P as u32;
        for (stop, a_rwnd) in [(2, full), (3, full), (4, full)] {
            // One is acknowledged, and one follows; the last that follows is short.
            let (context, len) = if stop < 4 { (9 + u64::from(stop), 1_452) } else { (13, 100) };
            if stop == 4 {
                // It waits for the window of the peer, not for cwnd.
                let Chunk::Sack(told) = sack(0, &[(2, 3)]) else { unreachable!() };
                wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd: 0, ..told })]);
            }
            wire.send(0, context..context + 1, len);
            let Chunk::Sack(told) = sack(0, &[(2, stop)]) else { unreachable!() };
            wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd: a_rwnd + 10_000, ..told })]);
        }
        assert_eq!(packets(&wire, wire.log.len() - 1), [(0, last)], "{policy:?}");
    }
}

#[test]
fn new_data_rides_before_what_is_lost_elsewhere_unless_retransmissions_come_first() {
    use NewDataAfterTimeout::{PathWindow, RetransmissionsFirst};
    let cases = [
        (PathWindow, vec![(0, vec![1, 7, 8]), (1, vec![2])]),
        (RetransmissionsFirst, vec![(0, vec![1]), (1, vec![2]), (0, vec![7, 8])]),
    ];
    for (policy, expected) in cases {
        let mut wire = end(2, &SctpConfig { new_data_after_timeout: policy, ..quiet() });
        wire.send(0, 0..1, 100);
        assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
        wire.send(0, 1..2, 100);
        assert!(wire.ends[0].set_primary(wire.now, address(1, 0)));
        wire.send(0, 2..6, 1_452);
        let before = wire.log.len();
        for (stop, a_rwnd) in [(3, 0), (4, 0), (5, 100_000)] {
            let Chunk::Sack(told) = sack(0, &[(3, stop)]) else { unreachable!() };
            wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd, ..told })]);
            if stop == 3 {
                wire.send(0, 6..8, 100);
            }
        }
        assert_eq!(packets(&wire, before), expected, "{policy:?}");
    }
}

#[test]
fn new_data_does_not_overtake_what_is_lost_and_goes_the_same_way() {
    let mut wire = end(1, &quiet());
    wire.send(0, 0..1, 100);
    wire.send(0, 1..5, 1_452);
    let before = wire.log.len();
    for (stop, a_rwnd) in [(3, 0), (4, 0), (5, 100_000)] {
        let Chunk::Sack(told) = sack(0, &[(3, stop)]) else { unreachable!() };
        wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd, ..told })]);
        if stop == 3 {
            wire.send(0, 5..7, 100);
        }
    }
    assert_eq!(packets(&wire, before), [(0, vec![1]), (0, vec![2]), (0, vec![6, 7])]);
}

#[test]
fn new_data_does_not_ride_with_what_is_sent_again_elsewhere() {
    let config = SctpConfig { fast_retransmit_path: FastRetransmitPath::Alternate, ..quiet() };
    let mut wire = end(2, &config);
    wire.send(0, 0..4, 100);
    let before = wire.log.len();
    for (stop, a_rwnd) in [(2, 0), (3, 0), (4, 100_000)] {
        let Chunk::Sack(told) = sack(0, &[(2, stop)]) else { unreachable!() };
        wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd, ..told })]);
        if stop == 2 {
            wire.send(0, 4..6, 100);
        }
    }
    assert_eq!(packets(&wire, before), [(1, vec![1]), (0, vec![5, 6])]);
}

#[test]
fn a_fast_retransmission_does_not_stay_on_a_path_that_is_not_active() {
    for (state, path) in [(PathState::Active, 0), (PathState::PotentiallyFailed, 1), (PathState::Inactive, 1)]
    {
        let mut wire = end(2, &quiet());
        wire.send(0, 0..1, 1_452);
        assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
        wire.send(0, 1..4, 1_452);
        wire.ends[0].paths[PathId(0)].state = state;
        report(&mut wire, 2, [100_000; 3]);
        assert_eq!(packets(&wire, wire.log.len() - 1), [(path, vec![1])], "{state:?}");
    }
}

#[test]
fn no_packet_takes_along_more_than_may_be_outstanding() {
    let window = WindowPolicy::Fixed { cwnd: 1 << 30 };
    let congestion = SctpPolicy { window, ..SctpPolicy::default() };
    let buffers = SctpConfig { receive_buffer_bytes: 1 << 30, send_buffer_bytes: 1 << 30, ..quiet() };
    let mut wire = end(1, &SctpConfig { congestion, ..buffers });
    // 61 chunks of 24 bytes make a packet.
    wire.send(0, 0..61 * 540, 8);
    assert_eq!(32_767, 61 * 537 + 10, "the last packet is not full");
    assert_eq!(wire.ends[0].snapshot().outstanding_chunks, 32_767);
}

#[test]
fn only_the_last_chunk_before_a_shutdown_asks_to_be_acknowledged_at_once() {
    let mut wire = end(1, &quiet());
    wire.send(0, 0..10, 1_452);
    wire.send(0, 10..13, 1_452);
    wire.ends[0].shutdown(wire.now);
    let before = wire.log.len();
    wire.inject(0, 0, &[sack(10, &[])]);
    let flags = wire.log[before..].iter().flat_map(|sent| &sent.chunks).filter_map(|chunk| match chunk {
        Chunk::Data(data) => Some(data.flags.is_immediate()),
        _ => None,
    });
    assert_eq!(flags.collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn once_the_queue_is_empty_it_is_the_application_that_limits_the_rate() {
    let is_limited = |wire: &Wire| {
        let mut meter = wire.ends[0].paths[PathId(0)].delivery.clone();
        meter.depart(Instant::START, false, 1).is_application_limited()
    };
    let mut wire = end(1, &quiet());
    wire.send(0, 0..13, 1_452);
    wire.inject(0, 0, &[sack(1, &[])]);
    assert!(!is_limited(&wire), "the window is full, and a message waits");
    wire.inject(0, 0, &[sack(10, &[])]);
    assert!(is_limited(&wire));
}

#[test]
fn a_sack_that_is_due_goes_before_data_that_leaves_it_no_room() {
    let mut wire = end(1, &quiet());
    wire.hand_in(0, 0, &[data(6, b"one")]);
    wire.hand_in(0, 0, &[data(7, b"two")]);
    wire.send(0, 0..1, 1_452);
    let chunks: Vec<_> = wire.log.iter().map(|sent| (sent.sack().is_some(), sent.tsns().len())).collect();
    assert_eq!(chunks, [(true, 0), (false, 1)]);
}

#[test]
fn a_packet_without_data_is_no_part_of_a_burst() {
    let mut wire = Wire::new(1, SctpConfig { initial_cwnd_bytes: Some(10 * P), max_burst: 1, ..quiet() });
    wire.decide(|_| is_lost());
    // Two packets have come: each begins a burst of one.
    wire.hand_in(0, 0, &[data(6, b"one")]);
    wire.hand_in(0, 0, &[data(7, b"two")]);
    wire.send(0, 0..3, 1_452);
    let chunks: Vec<_> = wire.log.iter().map(|sent| (sent.sack().is_some(), sent.tsns().len())).collect();
    assert_eq!(chunks, [(true, 0), (false, 1), (false, 1)]);
}

#[test]
fn flight_and_windows_count_headers_and_padding() {
    let mut wire = end(1, &quiet());
    for (context, len, flight) in [(0, 101, 120), (1, 102, 240), (2, 103, 360), (3, 104, 480), (4, 105, 604)]
    {
        wire.send(0, context..context + 1, len);
        assert_eq!(wire.path(0, 0).flight_size, flight, "{len} bytes");
    }
}

#[test]
fn half_a_send_buffer_is_room_again() {
    let mut wire = end(1, &SctpConfig { send_buffer_bytes: 4_000, ..quiet() });
    wire.send(0, 0..4, 1_000);
    assert!(wire.ends[0].send(wire.now, message(0, 4, 8)).is_err());
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(wire.events[0], [], "3,000 bytes are left");
    wire.inject(0, 0, &[sack(2, &[])]);
    assert_eq!(wire.events[0], [Event::SendBufferDrained { free: 2_000 }]);
}

#[test]
fn an_advance_outside_of_fast_recovery_counts_only_what_lies_before_the_newest() {
    let mut wire = end(1, &quiet());
    wire.send(0, 0..10, 1_452);
    let before = wire.log.len();
    // Chunk 4 has one report, then acknowledgements of what lies before it.
    for told in [sack(0, &[(5, 5)]), sack(1, &[(4, 4)]), sack(2, &[(3, 3)]), sack(3, &[(2, 2)])] {
        wire.inject(0, 0, &[told]);
    }
    assert_eq!(packets(&wire, before), []);
    assert!(!wire.ends[0].snapshot().is_in_fast_recovery);
}

#[test]
fn a_report_in_fast_recovery_that_advances_nothing_counts_only_what_lies_before_the_newest() {
    let mut wire = end(1, &quiet());
    wire.send(0, 0..10, 1_452);
    report(&mut wire, 2, [100_000; 3]);
    assert!(wire.ends[0].snapshot().is_in_fast_recovery);
    let before = wire.log.len();
    // Chunks 7 to 9 have one report, then acknowledgements of what lies before them.
    for blocks in [[(2, 4), (10, 10)], [(2, 5), (10, 10)], [(2, 6), (10, 10)]] {
        wire.inject(0, 0, &[sack(0, &blocks)]);
    }
    assert_eq!(packets(&wire, before), []);
    assert_eq!(wire.path(0, 0).flight_size, 4 * P);
}

#[test]
fn an_idle_window_decays_once_for_each_rto_and_not_while_anything_is_in_flight() {
    let mut wire = end(1, &SctpConfig { initial_cwnd_bytes: None, ..quiet() });
    let path = &mut wire.ends[0].paths[PathId(0)];
    let standard = slantpath_cc::sctp::SctpController::new(SctpPolicy::default(), P, 64 * P, 1 << 20);
    path.cc = slantpath_cc::Controller::Standard(standard);
    path.on_data_packet(Instant::START);
    for (at_ms, windows) in [(999, 64), (2_500, 16), (2_500, 16), (2_999, 16), (3_000, 8)] {
        path.decay_when_idle(Instant::from_millis(at_ms));
        assert_eq!(path.cc.cwnd(), windows * P, "{at_ms} ms");
    }
    path.on_chunk_sent(Instant::from_secs(3), Tsn(1), P, 1);
    path.decay_when_idle(Instant::from_secs(60));
    assert_eq!(path.cc.cwnd(), 8 * P);
    path.on_chunk_left(P);
}

#[test]
fn a_chunk_that_departs_counts_in_what_is_in_flight() {
    let mut wire = end(1, &quiet());
    let path = &mut wire.ends[0].paths[PathId(0)];
    let departures =
        [1, 2, 3].map(|tsn| path.on_chunk_sent(Instant::from_secs(1), Tsn(tsn), P, 1).in_flight());
    assert_eq!(departures, [P, 2 * P, 3 * P]);
    path.on_chunk_left(3 * P);
}

#[test]
fn a_sack_that_acknowledges_nothing_lets_no_second_packet_out_after_a_timeout() {
    let window = WindowPolicy::Fixed { cwnd: 4 * P };
    let congestion = SctpPolicy { window, ..SctpPolicy::default() };
    let mut wire = end(1, &SctpConfig { congestion, ..quiet() });
    wire.send(0, 0..1, 1_452);
    wire.run_until(Instant::from_secs(1));
    let before = wire.log.len();
    wire.send(0, 1..3, 1_452);
    wire.inject(0, 0, &[sack(0, &[])]);
    assert_eq!(packets(&wire, before), []);
    wire.inject(0, 0, &[sack(1, &[])]);
    assert_eq!(packets(&wire, before), [(0, vec![2]), (0, vec![3])]);
}

#[test]
fn a_message_is_reported_as_acknowledged_with_its_last_fragment() {
    let mut wire = end(1, &SctpConfig { report_acknowledged: true, ..quiet() });
    wire.send(0, 7..8, 3_000);
    wire.inject(0, 0, &[sack(2, &[])]);
    assert_eq!(wire.events[0], []);
    wire.inject(0, 0, &[sack(3, &[])]);
    assert_eq!(wire.events[0], [Event::Acknowledged { context: 7 }]);
}

#[test]
fn new_data_waits_where_the_window_of_the_association_is_just_full() {
    use NewDataAfterTimeout::AssociationWindow;
    let config = SctpConfig { new_data_after_timeout: AssociationWindow, ..quiet() };
    for (count, follows) in [(9, 1), (10, 0)] {
        let mut wire = end(2, &config);
        wire.send(0, 0..count, 1_452);
        assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
        let before = wire.log.len();
        wire.send(0, count..count + 1, 1_452);
        assert_eq!(packets(&wire, before).len(), follows, "{count} in flight elsewhere");
    }
}

#[test]
fn a_sack_that_may_wait_does_not_displace_data() {
    let mut wire = end(1, &quiet());
    wire.inject(0, 0, &[data(6, b"one")]);
    wire.send(0, 0..2, 1_452);
    let chunks: Vec<_> = wire.log.iter().map(|sent| (sent.sack().is_some(), sent.tsns().len())).collect();
    assert_eq!(chunks, [(false, 1), (false, 1)]);
    // Behind less it finds room.
    wire.send(0, 2..3, 100);
    assert!(wire.log[2].sack().is_some() && wire.log[2].has_data());
}

#[test]
fn data_behind_a_cookie_echo_begins_the_time_from_which_a_window_decays() {
    for (messages, windows) in [(0, 20), (1, 10)] {
        let mut wire = Wire::new(1, SctpConfig { initial_cwnd_bytes: Some(20 * P), ..quiet() });
        wire.decide(|_| is_lost());
        for context in 0..messages {
            wire.ends[0].send(wire.now, message(0, context, 100)).unwrap();
        }
        let mut builder = PacketBuilder::default();
        let header =
            CommonHeader { source_port: 1, destination_port: 2, verification_tag: VerificationTag(3) };
        builder.start(header, 1_480);
        wire.ends[0].bundle_data(wire.now, &mut builder, address(1, 0));
        assert_eq!(builder.is_empty(), messages == 0);
        wire.inject(0, 0, &[sack(messages as u32, &[])]);
        wire.run_until(Instant::from_millis(1_999));
        assert_eq!((wire.log.len(), wire.path(0, 0).cwnd), (0, windows * P), "{messages} messages");
    }
}
