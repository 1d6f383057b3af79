//! Several addresses on either side (RFC 9260, sections 5.1.2, 5.4 and 6.4).

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::{CookieAck, Heartbeat};
use slantpath_sctp::{
    AssociationId, Chunk, CloseReason, ConnectOptions, Event, Parameter, PathSnapshot, PathState, SctpConfig,
};

use crate::net::{Net, describe, header, parse, v4};

fn paths(net: &Net, host: usize, id: AssociationId) -> Vec<PathSnapshot> {
    net.hosts[host].endpoint.association(id).expect("it is established").path_snapshots(net.now).collect()
}

fn states(net: &Net, host: usize, id: AssociationId) -> Vec<(IpAddr, PathState)> {
    paths(net, host, id).into_iter().map(|path| (path.destination, path.state)).collect()
}

/// Two networks; both hosts are in both.
fn dual_homed() -> (Net, AssociationId, AssociationId) {
    Net::associated(&SctpConfig::default(), [&[v4(1, 1), v4(2, 1)], &[v4(1, 2), v4(2, 2)]])
}

#[test]
fn addresses_that_the_upper_layer_named_are_confirmed_and_the_others_are_probed() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1), v4(2, 1)], 5_000, SctpConfig::default());
    let z = net.add(&[v4(1, 2), v4(2, 2)], 2_905, SctpConfig::default());
    net.listen(z);
    // Only one address of Z is named.
    let options = ConnectOptions {
        local_port: net.hosts[a].port,
        peer_addresses: vec![v4(1, 2)],
        peer_port: 2_905,
        ..ConnectOptions::default()
    };
    let at_a = net.hosts[a].endpoint.connect(net.now, &options).unwrap();
    net.drain(a);
    net.run_until(Instant::from_millis(40));
    let at_z = net.established(z).unwrap();
    assert_eq!(states(&net, a, at_a), [(v4(1, 2), PathState::Active), (v4(2, 2), PathState::Unconfirmed)]);
    assert_eq!(states(&net, z, at_z), [(v4(1, 1), PathState::Active), (v4(2, 1), PathState::Unconfirmed)]);
    net.run_for(Duration::from_secs(10));
    assert_eq!(states(&net, a, at_a), [(v4(1, 2), PathState::Active), (v4(2, 2), PathState::Active)]);
    assert_eq!(states(&net, z, at_z), [(v4(1, 1), PathState::Active), (v4(2, 1), PathState::Active)]);
    // Nothing but HEARTBEATs and their answers went to an address before it was confirmed.
    for sent in net.sent.iter().filter(|sent| sent.route.1 == v4(2, 2) || sent.route.1 == v4(2, 1)) {
        let (_, chunks) = parse(&sent.packet);
        let is_probe = |chunk: &Chunk| matches!(chunk, Chunk::Heartbeat(_) | Chunk::HeartbeatAck(_));
        assert!(chunks.iter().all(is_probe), "{}", describe(&sent.packet));
    }
}

#[test]
fn an_address_that_never_answers_stays_unconfirmed_and_carries_nothing() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, SctpConfig::default());
    // The peer claims an address that nobody has.
    let z = net.add(&[v4(1, 2), v4(9, 9)], 2_905, SctpConfig::default());
    net.listen(z);
    net.cut(v4(1, 1), v4(9, 9));
    let options = ConnectOptions {
        local_port: net.hosts[a].port,
        peer_addresses: vec![v4(1, 2)],
        peer_port: 2_905,
        ..ConnectOptions::default()
    };
    let at_a = net.hosts[a].endpoint.connect(net.now, &options).unwrap();
    net.drain(a);
    net.run_for(Duration::from_secs(300));
    assert_ne!(states(&net, a, at_a)[1].1, PathState::Active);
    assert!(!net.hosts[a].endpoint.set_primary(net.now, at_a, v4(9, 9)));
    let to_stranger: Vec<_> = net.sent.iter().filter(|sent| sent.route.1 == v4(9, 9)).collect();
    assert!(to_stranger.iter().all(|sent| describe(&sent.packet) == "HEARTBEAT"), "{to_stranger:?}");
}

#[test]
fn init_and_init_ack_list_all_addresses_if_there_are_several() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1), v4(2, 1)], 5_000, SctpConfig::default());
    let z = net.add(&[v4(1, 2)], 2_905, SctpConfig::default());
    net.listen(z);
    net.connect(a, z);
    net.run_until(Instant::from_millis(10));
    let listed = |chunks: &[Chunk]| -> Vec<IpAddr> {
        let (Chunk::Init(slantpath_sctp::chunk::Init { parameters, .. })
        | Chunk::InitAck(slantpath_sctp::chunk::InitAck { parameters, .. })) = &chunks[0]
        else {
            panic!("{chunks:?}")
        };
        let addresses = parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Address(address) => Some(*address),
            _ => None,
        });
        addresses.collect()
    };
    assert_eq!(listed(&parse(&net.sent[0].packet).1), [v4(1, 1), v4(2, 1)]);
    assert_eq!(listed(&parse(&net.sent[1].packet).1), [] as [IpAddr; 0]);
    net.connect(z, a);
    let init = net.sent.iter().rev().find(|sent| describe(&sent.packet) == "INIT").unwrap();
    assert_eq!((init.route.0, listed(&parse(&init.packet).1)), (v4(1, 2), vec![]));
}

/// Section 5.1.2, rule D: it is known by an address that it lists; where it came from is not confirmed.
#[test]
fn an_init_ack_from_an_address_that_was_not_named_is_answered_to_the_one_that_was_asked() {
    // The first INIT is answered, or the second.
    for (asked, until_ms) in [(1, 10), (2, 1_010)] {
        let mut net = Net::calm();
        let a = net.add(&[v4(1, 1), v4(2, 1), v4(3, 1)], 5_000, SctpConfig::default());
        let z = net.add(&[v4(1, 2), v4(2, 2), v4(3, 2)], 2_905, SctpConfig::default());
        net.listen(z);
        if asked == 2 {
            net.cut(v4(1, 1), v4(1, 2));
        }
        let options = ConnectOptions {
            local_port: net.hosts[a].port,
            peer_addresses: vec![v4(1, 2), v4(2, 2)],
            peer_port: 2_905,
            ..ConnectOptions::default()
        };
        net.hosts[a].endpoint.connect(net.now, &options).unwrap();
        net.drain(a);
        net.run_until(Instant::from_millis(until_ms));
        net.drop_under_way();
        let init_ack = net.sent.last().unwrap().packet.clone();
        assert_eq!(describe(&init_ack), "INIT-ACK");
        net.inject((v4(3, 2), v4(3, 1)), init_ack);
        let echo = net.sent.last().unwrap();
        let route = (v4(asked, 1), v4(asked, 2));
        assert_eq!((describe(&echo.packet).as_str(), echo.route), ("COOKIE-ECHO", route));
    }
}

/// Section 8.3: REQUEST HEARTBEAT.
#[test]
fn a_heartbeat_that_is_asked_for_is_sent_at_once_to_an_address_of_the_peer() {
    let (mut net, at_a, _) = dual_homed();
    net.run_for(Duration::from_secs(5));
    net.sent.clear();
    assert!(!net.hosts[0].endpoint.request_heartbeat(net.now, at_a, v4(3, 2)));
    assert!(net.hosts[0].endpoint.request_heartbeat(net.now, at_a, v4(2, 2)));
    net.drain(0);
    let sent: Vec<_> = net.sent.iter().map(|sent| (sent.route.1, describe(&sent.packet))).collect();
    assert_eq!(sent, [(v4(2, 2), "HEARTBEAT".to_owned())]);
}

#[test]
fn ipv4_and_ipv6_make_one_association() {
    let six = |last: u8| -> IpAddr { [0xfd00, 0, 0, 0, 0, 0, 0, u16::from(last)].into() };
    let (mut net, at_a, at_z) =
        Net::associated(&SctpConfig::default(), [&[v4(1, 1), six(1)], &[v4(1, 2), six(2)]]);
    net.run_for(Duration::from_secs(10));
    assert_eq!(states(&net, 0, at_a), [(v4(1, 2), PathState::Active), (six(2), PathState::Active)]);
    assert!(net.hosts[0].endpoint.set_primary(net.now, at_a, six(2)));
    net.send(0, at_a, 0, "by IPv6");
    assert_eq!(net.sent.last().unwrap().route, (six(1), six(2)));
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.received(1).len(), 1);
    assert_eq!(states(&net, 1, at_z).len(), 2);
}

#[test]
fn the_primary_address_is_the_one_that_was_asked_for() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1), v4(2, 1)], 5_000, SctpConfig::default());
    let z = net.add(&[v4(1, 2), v4(2, 2)], 2_905, SctpConfig::default());
    net.listen(z);
    let peer_addresses = vec![v4(1, 2), v4(2, 2)];
    let options = ConnectOptions {
        local_port: net.hosts[a].port,
        peer_addresses,
        peer_port: 2_905,
        primary: Some(v4(2, 2)),
        ..ConnectOptions::default()
    };
    let at_a = net.hosts[a].endpoint.connect(net.now, &options).unwrap();
    net.drain(a);
    assert_eq!(
        net.hosts[a].endpoint.path_snapshots(net.now, at_a).count(),
        0,
        "none before it is established"
    );
    net.run_for(Duration::from_secs(1));
    let told: Vec<_> = net.hosts[a].endpoint.path_snapshots(net.now, at_a).collect();
    assert_eq!(told, paths(&net, a, at_a));
    assert_eq!(net.sent[0].route, (v4(2, 1), v4(2, 2)));
    let primary: Vec<_> = paths(&net, a, at_a).into_iter().filter(|path| path.is_primary).collect();
    assert_eq!(primary[0].destination, v4(2, 2));
    assert_eq!(primary[0].srtt, Some(Duration::from_millis(20)), "timed by INIT and INIT ACK");
}

#[test]
fn messages_go_on_over_the_other_network_when_one_fails() {
    let (mut net, at_a, _) = dual_homed();
    net.run_for(Duration::from_secs(5));
    net.events(0);
    for (from, to) in [(v4(1, 1), v4(1, 2)), (v4(1, 2), v4(1, 1))] {
        net.cut(from, to);
    }
    for number in 0..40 {
        net.send(0, at_a, 0, format!("message {number}"));
        net.run_for(Duration::from_secs(5));
    }
    assert_eq!(net.received(1).len(), 40);
    let down = Event::PathChanged { address: v4(1, 2), state: PathState::Inactive };
    assert!(net.events(0).contains(&down));
    net.mend();
    // The RTO of the failed path may have grown to RTO.Max, and HB.interval comes on top.
    net.run_for(Duration::from_secs(200));
    let up = Event::PathChanged { address: v4(1, 2), state: PathState::Active };
    assert!(net.events(0).contains(&up));
}

#[test]
fn an_association_without_any_path_left_is_reported_as_lost() {
    let (mut net, at_a, _) = dual_homed();
    net.run_for(Duration::from_secs(5));
    for network in [1, 2] {
        net.cut(v4(network, 1), v4(network, 2));
    }
    net.events(0);
    net.send(0, at_a, 0, "nobody hears");
    net.run_for(Duration::from_secs(1_000));
    let events = net.events(0);
    assert!(events.ends_with(&[Event::Closed(CloseReason::PeerUnreachable)]), "{events:?}");
    assert!(events.iter().any(|event| matches!(event, Event::SendFailed { .. })), "{events:?}");
}

/// More addresses than are used: one that is not must not make us abort.
#[test]
fn a_packet_from_an_address_that_is_one_too_many_is_dropped_without_an_abort() {
    let config = SctpConfig { max_peer_addresses: 2, heartbeat_interval: None, ..SctpConfig::default() };
    let (mut net, at_a, at_z) =
        Net::associated(&config, [&[v4(1, 1), v4(2, 1), v4(3, 1)], &[v4(1, 2), v4(2, 2), v4(3, 2)]]);
    assert_eq!(states(&net, 1, at_z).len(), 2);
    net.send(0, at_a, 0, "x");
    let (to_z, _) = parse(&net.sent.last().unwrap().packet);
    net.sent.clear();
    let heartbeat = Chunk::Heartbeat(Heartbeat::new(bytes::Bytes::from_static(b"hello")));
    net.inject_chunks((v4(3, 1), v4(3, 2)), to_z, std::slice::from_ref(&heartbeat));
    assert_eq!(net.sent.len(), 0, "{}", net.trace(0));
    // A stranger, though, is told.
    net.inject_chunks((v4(3, 1), v4(3, 2)), header(5_000, 2_905, 1), &[heartbeat]);
    assert_eq!(describe(&net.sent[0].packet), "ABORT(T)[]");
}

#[test]
fn a_cookie_echo_from_an_unconfirmed_address_is_acknowledged_there_with_a_heartbeat() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1), v4(2, 1)], 5_000, SctpConfig::default());
    let z = net.add(&[v4(1, 2), v4(2, 2)], 2_905, SctpConfig::default());
    net.listen(z);
    net.connect(a, z);
    net.run_until(Instant::from_millis(20));
    net.drop_under_way();
    let echo = net.sent.last().unwrap().clone();
    net.inject((v4(2, 1), v4(2, 2)), echo.packet);
    let is_ack = |sent: &&crate::net::Sent| parse(&sent.packet).1.contains(&Chunk::CookieAck(CookieAck));
    let acks: Vec<_> =
        net.sent.iter().filter(is_ack).map(|sent| (sent.route.1, describe(&sent.packet))).collect();
    assert_eq!(acks, [(v4(2, 1), "COOKIE-ACK HEARTBEAT".to_owned())]);
}

/// Sections 8.3 and 11.1: CHANGE HEARTBEAT.
#[test]
fn the_heartbeat_of_one_address_can_be_changed_and_turned_off() {
    let (mut net, at_a, _) = dual_homed();
    net.run_for(Duration::from_secs(5));
    let minute = Some(Duration::from_secs(60));
    assert!(net.hosts[0].endpoint.set_heartbeat_interval(net.now, at_a, v4(1, 2), None));
    assert!(net.hosts[0].endpoint.set_heartbeat_interval(net.now, at_a, v4(2, 2), minute));
    assert!(!net.hosts[0].endpoint.set_heartbeat_interval(net.now, at_a, v4(3, 2), minute));
    net.drain(0);
    net.sent.clear();
    net.run_for(Duration::from_secs(610));
    let probes = |to: IpAddr| {
        let is_probe = |sent: &&crate::net::Sent| sent.route.1 == to && describe(&sent.packet) == "HEARTBEAT";
        net.sent.iter().filter(is_probe).count()
    };
    assert_eq!(probes(v4(1, 2)), 0);
    // One for each minute and RTO of a second, give or take half of that.
    assert!((9..=10).contains(&probes(v4(2, 2))), "{}", probes(v4(2, 2)));
}

#[test]
fn a_thousand_associations_share_an_endpoint() {
    let mut net = Net::calm();
    let config = SctpConfig::default();
    let z = net.add(&[v4(0, 1)], 2_905, config.clone());
    net.listen(z);
    let hosts: Vec<_> = (0..1_000_u16)
        .map(|number| {
            let [high, low] = number.to_be_bytes();
            net.add(&[IpAddr::from([172, 16, high, low])], 5_000, config.clone())
        })
        .collect();
    let ids: Vec<_> = hosts.iter().map(|host| net.connect(*host, z)).collect();
    for (host, id) in hosts.iter().zip(&ids) {
        net.send(*host, *id, 0, format!("from {host}"));
    }
    net.run_for(Duration::from_secs(2));
    assert_eq!(net.hosts[z].endpoint.association_count(), 1_000);
    assert_eq!(net.received(z).len(), 1_000);
    for (host, id) in hosts.iter().zip(&ids) {
        net.shutdown(*host, *id);
    }
    net.run_for(Duration::from_secs(2));
    assert_eq!(net.hosts[z].endpoint.association_count(), 0);
}

#[test]
fn the_cookie_goes_back_to_where_the_init_ack_came_from_with_data_behind_it() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1), v4(2, 1)], 5_000, SctpConfig::default());
    let z = net.add(&[v4(1, 2), v4(2, 2)], 2_905, SctpConfig::default());
    net.listen(z);
    net.cut(v4(1, 1), v4(1, 2));
    let at_a = net.connect(a, z);
    net.send(a, at_a, 0, "first");
    // The INIT to the primary is lost, the one to the alternate leaves after RTO.Initial, and a way takes 10 ms.
    net.run_until(Instant::from_millis(1_029));
    assert_eq!(net.received(z).len(), 0);
    net.run_until(Instant::from_millis(1_030));
    assert_eq!(net.received(z).len(), 1);
    let echo = net.sent.iter().find(|sent| describe(&sent.packet).starts_with("COOKIE-ECHO")).unwrap();
    assert_eq!((echo.at, echo.route), (Instant::from_millis(1_020), (v4(2, 1), v4(2, 2))));
    net.run_for(Duration::from_secs(1));
    let [first, alternate] = &paths(&net, a, at_a)[..] else { panic!() };
    assert_eq!((first.is_primary, first.stats.data_chunks_sent), (false, 0));
    assert_eq!((alternate.stats.data_chunks_sent, alternate.flight_size), (1, 0));
}

#[test]
fn nothing_is_told_after_the_end_when_a_heartbeat_is_overdue_at_the_same_moment() {
    let config = SctpConfig {
        association_max_retrans: 0,
        path_max_retrans: 0,
        heartbeat_interval: None,
        ..SctpConfig::default()
    };
    let (mut net, id, _) = Net::associated(&config, [&[v4(1, 1)], &[v4(1, 2)]]);
    net.cut(v4(1, 1), v4(1, 2));
    assert!(net.hosts[0].endpoint.request_heartbeat(net.now, id, v4(1, 2)));
    net.send(0, id, 0, vec![1; 100]);
    net.run_for(Duration::from_secs(10));
    let events = net.events(0);
    assert!(matches!(events.last(), Some(Event::Closed(CloseReason::PeerUnreachable))), "{events:?}");
    assert_eq!(net.hosts[0].endpoint.association_count(), 0);
}
