//! Path MTU discovery over paths that carry less than the interfaces (RFC 8899).

use super::*;
use crate::path::{DiscoveryState, PathState};
use crate::policy::PathMtuDiscovery;

fn probing() -> SctpConfig {
    SctpConfig { path_mtu_discovery: PathMtuDiscovery::Probing, ..quiet() }
}

/// Length of the IP packet, in bytes.
fn len_of(sent: &Sent) -> usize {
    sent.packet.len() + if sent.destination.is_ipv6() { 40 } else { 20 }
}

fn is_probe(sent: &Sent) -> bool {
    sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::Pad(_)))
}

/// The probe packets of end 0: how long they are.
fn probes(wire: &Wire) -> Vec<usize> {
    wire.log.iter().filter(|sent| sent.from == 0 && is_probe(sent)).map(len_of).collect()
}

/// Loses in silence what end 0 sends with "don't fragment" and more than so many bytes.
fn swallow(wire: &mut Wire, mtu_bytes: usize) {
    wire.decide(move |sent| {
        let is_too_big =
            sent.from == 0 && sent.fragmentation == IpFragmentation::Forbidden && len_of(sent) > mtu_bytes;
        if is_too_big { is_lost() } else { arrives() }
    });
}

fn found(wire: &Wire, path: usize) -> (Option<DiscoveryState>, u16) {
    let path = wire.path(0, path);
    (path.discovery, path.mtu)
}

#[test]
fn a_path_without_an_obstacle_is_known_after_two_probes_which_carry_nothing_else() {
    let mut wire = Wire::new(2, probing());
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Base), 1_200));
    wire.run_until(Instant::from_millis(100));
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Searching), 1_200));
    wire.run_until(Instant::from_millis(200));
    assert_eq!([0, 1].map(|path| found(&wire, path)), [(Some(DiscoveryState::Complete), 1_500); 2]);
    let told = too_big::told_of_mtu(&wire).into_iter().map(|(_, mtu, before)| (mtu, before));
    assert_eq!(told.collect::<Vec<_>>(), [(1_500, 1_200); 2]);
    assert_eq!(probes(&wire), [1_200, 1_200, 1_500, 1_500]);
    for sent in wire.log.iter().filter(|sent| is_probe(sent)) {
        assert!(matches!(sent.chunks[..], [Chunk::Heartbeat(_), Chunk::Pad(_)]), "{:?}", sent.chunks);
        assert_eq!(sent.fragmentation, IpFragmentation::Forbidden);
    }
    // Nothing larger is there to be found, so that nothing is left to happen.
    wire.run_to_rest();
    wire.send(0, 0..1, 1_452);
    assert_eq!(wire.log.last().map(len_of), Some(1_500));
    assert_eq!(wire.path(0, 0).srtt, Some(DELAY * 2));
}

#[test]
fn a_path_that_swallows_long_packets_is_searched_until_little_can_be_gained() {
    let mut wire = Wire::new(1, probing());
    swallow(&mut wire, 1_300);
    wire.send(0, 0..40, 1_400);
    wire.run_until(Instant::from_secs(30));
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_296));
    assert_eq!(
        probes(&wire),
        [1_200, 1_500, 1_500, 1_500, 1_348, 1_348, 1_348, 1_272, 1_308, 1_308, 1_308, 1_288, 1_296]
    );
    // No probe that is lost costs any window or counts against the path, and no message waited for one.
    let path = wire.path(0, 0);
    assert_eq!((path.stats.timeouts, path.stats.retransmissions, path.error_count), (0, 0, 0));
    assert_eq!(wire.received(1).len(), 40);
}

#[test]
fn icmp_leads_the_search_to_the_size_that_it_reports() {
    for (paths_mtu, is_v6) in [(1_300, false), (1_300, true)] {
        let mut wire = if is_v6 { six() } else { Wire::new(1, probing()) };
        swallow(&mut wire, paths_mtu);
        wire.run_until(Instant::from_millis(110));
        let destination = wire.log[0].destination;
        wire.ends[0].handle_packet_too_big(wire.now, destination, 1_300);
        wire.drain();
        wire.run_until(Instant::from_millis(210));
        assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_300));
        assert_eq!(probes(&wire), [if is_v6 { 1_280 } else { 1_200 }, 1_500, 1_300]);
        // Neither an increase nor what was known is of use.
        for mtu in [1_300, 1_400, 9_000] {
            wire.ends[0].handle_packet_too_big(wire.now, destination, mtu);
        }
        assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_300));
    }
}

fn six() -> Wire {
    let address = |end: usize| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1 + end as u16]);
    let config = probing();
    let tcbs = [0, 1].map(|end| Tcb {
        local_addresses: [address(end)].into_iter().collect(),
        peer_addresses: [PeerAddress { address: address(1 - end), is_confirmed: true }].into_iter().collect(),
        primary: address(1 - end),
        ..tcb(end, 1, &config)
    });
    Wire::with_tcbs(tcbs, [config.clone(), config])
}

#[test]
fn a_path_that_shrinks_in_silence_is_noticed_by_three_losses_of_long_packets_in_a_row() {
    let mut wire = Wire::new(1, probing());
    wire.run_until(Instant::from_secs(1));
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_500));
    swallow(&mut wire, 1_300);
    wire.send(0, 0..4, 1_400);
    // T3-rtx expires after 1, 2 and 4 s.
    wire.run_until(Instant::from_millis(7_999));
    assert_eq!((found(&wire, 0).1, wire.received(1).len()), (1_500, 0));
    wire.run_until(Instant::from_millis(8_100));
    assert_eq!(wire.path(0, 0).stats.black_holes, 1);
    // What is too long for one packet is cut by IP.
    let allowed = IpFragmentation::Allowed { source_mtu: 1_200 };
    assert!(wire.log.iter().any(|sent| len_of(sent) == 1_448 && sent.fragmentation == allowed));
    wire.run_until(Instant::from_secs(40));
    assert_eq!(
        (found(&wire, 0), wire.received(1)),
        ((Some(DiscoveryState::Complete), 1_296), vec![0, 1, 2, 3])
    );
}

#[test]
fn losses_of_short_packets_and_scattered_losses_of_long_ones_leave_the_path_mtu() {
    let mut wire =
        Wire::new(1, SctpConfig { loss_detection: crate::config::LossDetection::Rack, ..probing() });
    wire.run_until(Instant::from_secs(1));
    let mut count = 0;
    wire.decide(move |sent| {
        count += u32::from(sent.has_data());
        if sent.has_data() && count.is_multiple_of(4) { is_lost() } else { arrives() }
    });
    for round in 0..40 {
        wire.send(0, 10 * round..10 * round + 10, 1_452);
        let next = wire.now + Duration::from_millis(200);
        wire.run_until(next);
    }
    wire.run_until(Instant::from_secs(100));
    assert_eq!((found(&wire, 0).1, wire.path(0, 0).stats.black_holes), (1_500, 0));
    assert_eq!(wire.received(1).len(), 400);
    let mut wire = Wire::new(1, probing());
    wire.run_until(Instant::from_secs(1));
    wire.decide(|sent| if sent.from == 0 && sent.has_data() { is_lost() } else { arrives() });
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(20));
    assert_eq!((wire.path(0, 0).stats.timeouts, found(&wire, 0).1), (4, 1_500));
}

#[test]
fn a_path_that_shrinks_below_the_base_size_is_noticed_by_packets_no_longer_than_that() {
    let mut wire = Wire::new(1, probing());
    wire.run_until(Instant::from_secs(1));
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_500));
    swallow(&mut wire, 1_000);
    // One chunk of 1,148 bytes in a packet of 1,180. T3-rtx expires after 1, 2 and 4 s.
    wire.send(0, 0..1, 1_132);
    wire.run_until(Instant::from_millis(7_999));
    assert_eq!((wire.path(0, 0).stats.black_holes, found(&wire, 0).1), (0, 1_500));
    wire.run_until(Instant::from_millis(8_001));
    assert_eq!(
        (wire.path(0, 0).stats.black_holes, found(&wire, 0)),
        (1, (Some(DiscoveryState::Base), 1_200))
    );
    wire.run_until(Instant::from_secs(400));
    assert_eq!((found(&wire, 0), wire.received(1)), ((Some(DiscoveryState::Error), 576), vec![0]));
}

#[test]
fn what_fits_the_least_size_tells_nothing_of_the_path_mtu() {
    for (payload, black_holes) in [(528, 0), (532, 1)] {
        let mut wire = Wire::new(1, probing());
        wire.run_until(Instant::from_secs(1));
        wire.decide(|sent| if sent.from == 0 && sent.has_data() { is_lost() } else { arrives() });
        wire.send(0, 0..1, payload);
        wire.run_until(Instant::from_secs(9));
        assert_eq!(wire.path(0, 0).stats.black_holes, black_holes, "{payload} bytes");
    }
}

#[test]
fn short_packets_that_arrive_do_not_hide_that_long_ones_are_lost() {
    let mut wire = Wire::new(1, probing());
    wire.run_until(Instant::from_secs(1));
    swallow(&mut wire, 1_300);
    wire.send(0, 0..1, 1_400);
    for number in 1..40 {
        wire.send(0, number..number + 1, 900);
        let next = wire.now + Duration::from_millis(200);
        wire.run_until(next);
    }
    assert_eq!(wire.path(0, 0).stats.black_holes, 1);
    wire.run_until(Instant::from_secs(60));
    assert_eq!((found(&wire, 0), wire.received(1).len()), ((Some(DiscoveryState::Complete), 1_296), 40));
}

#[test]
fn a_path_that_counts_as_inactive_at_once_is_searched_all_the_same() {
    let config = SctpConfig {
        path_max_retrans: 0,
        association_max_retrans: 20,
        heartbeat_interval: Some(Duration::from_secs(1)),
        ..probing()
    };
    for (carried, expected) in
        [(1_300, (Some(DiscoveryState::Complete), 1_296)), (900, (Some(DiscoveryState::Error), 576))]
    {
        let mut wire = Wire::new(1, config.clone());
        wire.run_until(Instant::from_secs(1));
        swallow(&mut wire, carried);
        for round in 0..60 {
            wire.send(0, round..round + 1, 1_400);
            let next = wire.now + Duration::from_secs(1);
            wire.run_until(next);
        }
        wire.run_until(Instant::from_secs(120));
        assert_eq!((found(&wire, 0), wire.received(1).len()), (expected, 60), "{carried} bytes");
    }
}

#[test]
fn a_path_that_fails_in_the_error_state_is_probed_as_soon_as_it_works_again() {
    let config = SctpConfig {
        heartbeat_interval: Some(Duration::from_secs(1)),
        association_max_retrans: 1_000,
        ..probing()
    };
    let mut wire = Wire::new(1, config);
    wire.run_until(Instant::from_secs(1));
    swallow(&mut wire, 700);
    wire.send(0, 0..4, 1_400);
    wire.run_until(Instant::from_secs(100));
    assert_eq!((found(&wire, 0), wire.received(1).len()), ((Some(DiscoveryState::Error), 576), 4));
    wire.decide(|_| is_lost());
    wire.run_until(Instant::from_secs(1_000));
    let path = (wire.path(0, 0).state, found(&wire, 0));
    assert_eq!(path, (PathState::Inactive, (Some(DiscoveryState::Error), 576)));
    let before = probes(&wire).len();
    wire.decide(|_| arrives());
    wire.run_until(Instant::from_secs(1_200));
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_500));
    assert_eq!(probes(&wire)[before..], [1_200, 1_500]);
}

#[test]
fn a_path_that_does_not_carry_the_base_size_is_used_in_fragments_until_it_does() {
    let mut wire = Wire::new(1, probing());
    wire.run_until(Instant::from_secs(1));
    swallow(&mut wire, 700);
    wire.send(0, 0..4, 1_400);
    wire.run_until(Instant::from_secs(60));
    assert_eq!((found(&wire, 0), wire.received(1)), ((Some(DiscoveryState::Error), 576), vec![0, 1, 2, 3]));
    wire.send(0, 4..5, 1_400);
    assert_eq!(wire.log.last().unwrap().fragmentation, IpFragmentation::Allowed { source_mtu: 576 });
    let before = probes(&wire).len();
    wire.run_until(Instant::from_secs(1_200));
    let after = probes(&wire).len();
    assert!(after - before < 10, "{after} probes, ever less often");
    wire.decide(|_| arrives());
    wire.run_until(Instant::from_secs(2_000));
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Error), 576), "nothing has been sent");
    wire.send(0, 5..6, 100);
    wire.run_until(Instant::from_secs(2_010));
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_500));
}

#[test]
fn what_is_lost_while_the_base_size_is_probed_does_not_keep_a_path_from_being_used_in_fragments() {
    let heartbeat_interval = Some(Duration::from_secs(1));
    let mut wire = Wire::new(1, SctpConfig { heartbeat_interval, ..probing() });
    wire.run_until(Instant::from_secs(1));
    swallow(&mut wire, 900);
    // What the first window does not hold is cut for the base size: T3-rtx and PROBE_TIMER expire together.
    wire.send(0, 0..10, 3_000);
    wire.run_until(Instant::from_secs(200));
    assert_eq!((found(&wire, 0), wire.path(0, 0).stats.black_holes), ((Some(DiscoveryState::Error), 576), 1));
    assert_eq!(wire.received(1), (0..10).collect::<Vec<_>>());
}

#[test]
fn a_closed_window_that_is_probed_with_long_packets_is_no_black_hole() {
    let mut wire = Wire::new(1, SctpConfig { receive_buffer_bytes: 20_000, ..probing() });
    wire.run_until(Instant::from_secs(1));
    wire.ends[1].pause_delivery();
    wire.send(0, 0..40, 1_452);
    wire.run_until(Instant::from_secs(300));
    let path = wire.path(0, 0);
    assert!(path.stats.timeouts >= 5, "the window was probed {} times", path.stats.timeouts);
    assert_eq!((found(&wire, 0), path.stats.black_holes), ((Some(DiscoveryState::Complete), 1_500), 0));
    wire.ends[1].resume_delivery();
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.received(1).len(), 40);
}

#[test]
fn icmp_may_report_less_than_the_base_size_but_not_less_than_any_link_carries() {
    let mut wire = Wire::new(1, probing());
    swallow(&mut wire, 1_000);
    wire.run_until(Instant::from_millis(10));
    let destination = wire.log[0].destination;
    for lie in [0, 67] {
        wire.ends[0].handle_packet_too_big(wire.now, destination, lie);
        assert_eq!(found(&wire, 0), (Some(DiscoveryState::Base), 1_200));
    }
    wire.ends[0].handle_packet_too_big(wire.now, destination, 1_000);
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Error), 576));
    wire.drain();
    wire.run_until(Instant::from_millis(200));
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_000));
    let mut wire = six();
    wire.run_until(Instant::from_secs(1));
    let destination = wire.log[0].destination;
    wire.ends[0].handle_packet_too_big(wire.now, destination, 1_279);
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_500));
}

#[test]
fn a_larger_path_mtu_is_looked_for_when_the_raise_timer_expires_and_data_is_sent() {
    let mut wire = Wire::new(1, probing());
    swallow(&mut wire, 1_300);
    wire.run_until(Instant::from_secs(30));
    let completed = probes(&wire).len();
    wire.decide(|_| arrives());
    wire.run_until(Instant::from_secs(1_000));
    assert_eq!(probes(&wire).len(), completed, "nothing has been sent");
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(1_700));
    assert_eq!(found(&wire, 0), (Some(DiscoveryState::Complete), 1_500));
    assert_eq!(probes(&wire).len(), completed + 1);
}

#[test]
fn an_address_is_probed_once_it_is_confirmed_and_again_when_it_has_failed() {
    let config =
        SctpConfig { path_max_retrans: 1, heartbeat_interval: Some(Duration::from_secs(1)), ..probing() };
    let mut tcbs = [0, 1].map(|end| tcb(end, 2, &config));
    for tcb in &mut tcbs {
        tcb.peer_addresses[1].is_confirmed = false;
    }
    let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config]);
    assert_eq!(found(&wire, 1), (Some(DiscoveryState::Disabled), 1_200));
    wire.run_until(Instant::from_secs(2));
    assert_eq!(found(&wire, 1), (Some(DiscoveryState::Complete), 1_500));
    wire.decide(|sent| if sent.path == 1 { is_lost() } else { arrives() });
    wire.run_until(Instant::from_secs(20));
    assert_eq!(found(&wire, 1).0, Some(DiscoveryState::Disabled));
    wire.decide(|_| arrives());
    wire.run_until(Instant::from_secs(60));
    assert_eq!(found(&wire, 1), (Some(DiscoveryState::Complete), 1_500));
}
