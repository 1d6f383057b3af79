//! Ports of one host, and what their associations do not share.

use std::sync::Arc;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_sctp::chunk::AddressChange;
use slantpath_sctp::{
    Acceptance, AssociationId, BindError, Chunk, ConnectError, ConnectOptions, Endpoint, Extension,
    Extensions, Input, Output, PortConfig, SctpConfig,
};
use slantpath_wire::Packet;
use slantpath_wire::icmp::{IcmpError, Unreachable};
use slantpath_wire::ip::{Dscp, Ecn, IpFields};

use crate::net::{Net, describe, parse, v4};

fn config() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

/// Two hosts with one address each.
fn net() -> (Net, usize, usize) {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    (net, a, z)
}

/// Options to connect from an own port to host `host` of network 1, which may be none.
fn to(local_port: u16, host: u8) -> ConnectOptions {
    ConnectOptions {
        local_port,
        peer_addresses: vec![v4(1, host)],
        peer_port: 2_905,
        ..ConnectOptions::default()
    }
}

/// An endpoint with these ports, alone.
fn alone(ports: &[u16], config: &SctpConfig) -> Endpoint {
    let mut endpoint = Endpoint::default();
    for port in ports {
        let stream = Seed::new(1, 0).stream(&format!("port {port}"));
        let port = PortConfig { port: *port, addresses: vec![v4(1, 1)], config: config.clone() };
        endpoint.bind(port, stream).unwrap();
    }
    endpoint
}

/// The packets that an endpoint sends before it waits.
fn sent(now: Instant, endpoint: &mut Endpoint) -> Vec<String> {
    let (mut packets, mut packet) = (Vec::new(), Packet::default());
    loop {
        match endpoint.poll_output(now, &mut packet) {
            Output::Transmit { .. } => packets.push(describe(&packet)),
            Output::Event(..) => {}
            Output::Wait(_) => return packets,
        }
    }
}

#[test]
fn associations_of_one_port_have_settings_and_chance_of_their_own() {
    let init_beside = |others: usize| {
        let (mut net, a, z) = net();
        let others: Vec<usize> =
            (3_u8..).take(others).map(|host| net.add(&[v4(1, host)], 7, config())).collect();
        for other in others {
            net.connect(a, other);
        }
        let options = ConnectOptions {
            local_port: net.hosts[a].port,
            peer_addresses: vec![v4(1, 2)],
            peer_port: net.hosts[z].port,
            config: Some(Arc::new(SctpConfig { outbound_streams: 3, ..config() })),
            stream: Some(Seed::new(9, 0).stream("this association")),
            ..ConnectOptions::default()
        };
        net.hosts[a].endpoint.connect(net.now, &options).unwrap();
        net.drain(a);
        let (_, chunks) = parse(&net.sent.last().unwrap().packet);
        let [Chunk::Init(init)] = &chunks[..] else { panic!("{chunks:?}") };
        init.clone()
    };
    let alone = init_beside(0);
    assert_eq!(alone.fields.outbound_streams, 3);
    assert_eq!(init_beside(2), alone);
}

#[test]
fn a_port_is_bound_once_before_anybody_connects_from_it() {
    let (mut net, a, z) = net();
    let port = |port| PortConfig { port, addresses: vec![v4(1, 1)], config: config() };
    let stream = Seed::new(1, 0).stream("port");
    let options = ConnectOptions {
        local_port: 99,
        peer_addresses: vec![v4(1, 2)],
        peer_port: net.hosts[z].port,
        ..ConnectOptions::default()
    };
    let now = net.now;
    let endpoint = &mut net.hosts[a].endpoint;
    assert_eq!(endpoint.bind(port(5_000), stream.clone()), Err(BindError::InUse(5_000)));
    assert_eq!(endpoint.connect(now, &options), Err(ConnectError::NotBound(99)));
    assert!(!endpoint.listen(99, Acceptance::ByPeer));
    endpoint.bind(port(99), stream).unwrap();
    assert!(endpoint.connect(now, &options).is_ok());
}

#[test]
fn what_an_accepted_association_draws_is_no_matter_of_others_of_its_port() {
    let probe_beside = |others: usize| {
        let (mut net, a, z) = net();
        net.listen(z);
        let others: Vec<usize> =
            (3_u8..).take(others).map(|host| net.add(&[v4(1, host)], 7, config())).collect();
        for other in others {
            net.connect(other, z);
        }
        net.run_until(Instant::from_secs(1));
        net.hosts[z].events.clear();
        net.connect(a, z);
        net.run_until(Instant::from_secs(2));
        let at_z = net.established(z).unwrap();
        let now = net.now;
        assert!(net.hosts[z].endpoint.request_heartbeat(now, at_z, v4(1, 1)));
        net.drain(z);
        let (_, mut chunks) = parse(&net.sent.last().unwrap().packet);
        let Some(Chunk::Heartbeat(probe)) = chunks.pop() else { panic!("{chunks:?}") };
        probe
    };
    assert_eq!(probe_beside(2), probe_beside(0));
}

#[test]
fn ports_of_one_number_have_addresses_callers_and_associations_of_their_own() {
    let now = Instant::START;
    let mut endpoint = alone(&[2_905], &config());
    let first = endpoint.port(2_905).unwrap();
    let beside = PortConfig { port: 2_905, addresses: vec![v4(2, 1)], config: config() };
    let second = endpoint.bind_beside(beside, Seed::new(2, 0).stream("beside"));
    let mut caller = alone(&[5_000], &config());
    caller.connect(now, &to(5_000, 1)).unwrap();
    let mut packet = Packet::default();
    assert!(matches!(caller.poll_output(now, &mut packet), Output::Transmit { .. }));
    let answers = |endpoint: &mut Endpoint| {
        [1, 2, 3].map(|network| {
            let (source, destination) = (v4(network, 9), v4(network, 1));
            let ip = IpFields::default();
            endpoint.handle_input(now, Input::Packet { source, destination, ip, packet: packet.clone() });
            sent(now, endpoint).first().map(|answer| answer.split(['(', '[']).next().unwrap().to_owned())
        })
    };
    let (refused, taken) = (Some("ABORT".to_owned()), Some("INIT-ACK".to_owned()));
    assert_eq!(answers(&mut endpoint), [refused.clone(), refused.clone(), None]);
    endpoint.refuse_misdirected();
    endpoint.listen_at(second, Acceptance::ByPeer);
    assert_eq!(answers(&mut endpoint), [refused.clone(), taken.clone(), refused.clone()]);
    endpoint.listen_at(second, Acceptance::Refused);
    assert!(endpoint.listen(2_905, Acceptance::ByPeer));
    assert_eq!(answers(&mut endpoint), [taken, refused.clone(), refused]);
    // One peer has an association with each.
    let options = |own| ConnectOptions { own, ..to(2_905, 5) };
    let ids = [Some(first), Some(second)].map(|own| endpoint.connect(now, &options(own)).unwrap());
    assert_eq!(ids.map(|id| endpoint.port_of(id)), [Some(first), Some(second)]);
    let again = endpoint.connect(now, &options(Some(second)));
    assert_eq!(again, Err(ConnectError::AlreadyAssociated(v4(1, 5))));
}

#[test]
fn a_report_about_a_packet_ends_the_association_of_the_port_at_its_source() {
    let now = Instant::START;
    for (reported, network) in [(0, 1), (1, 2)] {
        let mut endpoint = alone(&[2_905], &config());
        let first = endpoint.port(2_905).unwrap();
        let beside = PortConfig { port: 2_905, addresses: vec![v4(2, 1)], config: config() };
        let second = endpoint.bind_beside(beside, Seed::new(2, 0).stream("beside"));
        let mut inits = Vec::new();
        let ids = [first, second].map(|own| {
            let id = endpoint.connect(now, &ConnectOptions { own: Some(own), ..to(2_905, 5) }).unwrap();
            let mut packet = Packet::default();
            assert!(matches!(endpoint.poll_output(now, &mut packet), Output::Transmit { .. }));
            inits.push(packet.contiguous());
            id
        });
        let (source, destination) = (v4(network, 1), v4(1, 5));
        let error = IcmpError::Unreachable(Unreachable::Protocol);
        let quote = inits[reported].clone();
        endpoint.handle_input(now, Input::Icmp { source, destination, error, quote });
        let left = ids.map(|id| endpoint.port_of(id).is_some());
        assert_eq!(left, [reported == 1, reported == 0]);
    }
}

#[test]
fn an_association_has_a_place_of_its_own_and_the_port_that_it_was_begun_from() {
    let now = Instant::START;
    let mut endpoint = alone(&[5_000, 99], &config());
    let ids = [to(5_000, 2), to(99, 2), to(5_000, 3)].map(|options| endpoint.connect(now, &options).unwrap());
    let ports = |endpoint: &Endpoint| ids.map(|id| endpoint.local_port(id));
    assert_eq!(ids.map(AssociationId::index), [0, 1, 2]);
    assert_eq!(ports(&endpoint), [Some(5_000), Some(99), Some(5_000)]);
    assert!(endpoint.abort(now, ids[1], Bytes::new()));
    assert_eq!(ports(&endpoint), [Some(5_000), None, Some(5_000)]);
    sent(now, &mut endpoint);
    // Its end has been told: the place is free, its number is not used again.
    let next = endpoint.connect(now, &to(5_000, 4)).unwrap();
    assert_eq!((next.index(), next == ids[1], endpoint.local_port(next)), (1, false, Some(5_000)));
}

#[test]
fn a_message_says_what_the_ip_header_of_its_packet_said() {
    let (mut net, a, z) = net();
    net.listen(z);
    let at_a = net.connect(a, z);
    net.run_until(Instant::from_secs(1));
    net.send(a, at_a, 0, "marked");
    let packet = net.sent.last().unwrap().packet.clone();
    let ip = IpFields { hop_limit: 9, dscp: Dscp::new(46).unwrap(), ecn: Ecn::Capable0 };
    let now = net.now;
    let endpoint = &mut net.hosts[z].endpoint;
    endpoint.handle_input(now, Input::Packet { source: v4(1, 1), destination: v4(1, 2), ip, packet });
    let mut packet = Packet::default();
    let message = loop {
        match endpoint.poll_output(now, &mut packet) {
            Output::Event(_, slantpath_sctp::Event::Received(message)) => break message,
            Output::Wait(_) => panic!("no message has come"),
            _ => {}
        }
    };
    assert_eq!((&message.payload[..], message.ip), (&b"marked"[..], ip));
}

#[test]
fn an_endpoint_is_idle_once_what_follows_has_been_polled() {
    let now = Instant::START;
    let mut endpoint = alone(&[5_000], &config());
    assert!(endpoint.is_idle());
    endpoint.connect(now, &to(5_000, 2)).unwrap();
    // The INIT, and then the association's deadline.
    assert!(!endpoint.is_idle());
    let mut packet = Packet::default();
    assert!(matches!(endpoint.poll_output(now, &mut packet), Output::Transmit { .. }));
    assert!(!endpoint.is_idle());
    assert!(matches!(endpoint.poll_output(now, &mut packet), Output::Wait(_)));
    assert!(endpoint.is_idle());
    // An INIT, which is answered without an association.
    let mut stranger = alone(&[2_905], &config());
    stranger.connect(now, &ConnectOptions { peer_port: 5_000, ..to(2_905, 3) }).unwrap();
    let Output::Transmit { source, ip, .. } = stranger.poll_output(now, &mut packet) else {
        panic!("no INIT")
    };
    endpoint.handle_input(now, Input::Packet { source, destination: v4(1, 1), ip, packet });
    assert!(!endpoint.is_idle());
    assert_eq!(sent(now, &mut endpoint), ["ABORT[]"]);
    assert!(endpoint.is_idle());
}

#[test]
fn what_is_due_is_done_once_and_for_the_association_alone_that_it_is_due_for() {
    let mut endpoint = alone(&[5_000], &config());
    let start = Instant::START;
    assert_eq!(endpoint.deadline(), None);
    let first = endpoint.connect(start, &to(5_000, 2)).unwrap();
    assert_eq!(sent(start, &mut endpoint), ["INIT"]);
    // T1-init.
    let due = Instant::from_secs(1);
    assert_eq!(endpoint.deadline(), Some(due));
    assert_eq!(endpoint.take_due(Instant::from_millis(999)), None);
    endpoint.handle_due(Instant::from_millis(999), first);
    assert!(endpoint.is_idle(), "nobody has said that it is due");
    assert_eq!([endpoint.take_due(due), endpoint.take_due(due)], [Some(first), None]);
    for expected in [&["INIT"][..], &[]] {
        endpoint.handle_due(due, first);
        assert_eq!(sent(due, &mut endpoint), expected);
    }
    // Another takes its place.
    assert!(endpoint.abort(due, first, Bytes::new()));
    assert_eq!(sent(due, &mut endpoint), [""; 0]);
    let second = endpoint.connect(due, &to(5_000, 3)).unwrap();
    assert_eq!(second.index(), first.index());
    assert_eq!(sent(due, &mut endpoint), ["INIT"]);
    let due = Instant::from_secs(2);
    assert_eq!(endpoint.take_due(due), Some(second));
    for (id, expected) in [(first, &[][..]), (second, &["INIT"])] {
        endpoint.handle_due(due, id);
        assert_eq!(sent(due, &mut endpoint), expected);
    }
}

#[test]
fn an_association_that_has_ended_leaves_room_for_another_of_its_port() {
    let now = Instant::START;
    let mut endpoint = alone(&[5_000, 99], &SctpConfig { max_associations: 2, ..config() });
    let first = endpoint.connect(now, &to(5_000, 2)).unwrap();
    endpoint.connect(now, &to(5_000, 3)).unwrap();
    let connect =
        |endpoint: &mut Endpoint, options| endpoint.connect(now, &options).map(AssociationId::index);
    assert_eq!(connect(&mut endpoint, to(5_000, 4)), Err(ConnectError::TooManyAssociations));
    assert_eq!(connect(&mut endpoint, to(99, 4)), Ok(2));
    assert!(endpoint.abort(now, first, Bytes::new()));
    sent(now, &mut endpoint);
    assert_eq!(connect(&mut endpoint, to(5_000, 4)), Ok(0));
    assert_eq!(connect(&mut endpoint, to(5_000, 5)), Err(ConnectError::TooManyAssociations));
}

#[test]
fn an_address_that_a_port_is_given_during_a_setup_is_no_part_of_the_association_until_it_is_added() {
    for late in [0, 1] {
        let extensions = Extensions::of(&[Extension::DynamicAddresses]);
        let config = SctpConfig { extensions, unauthenticated_addresses: true, ..SctpConfig::default() };
        let mut net = Net::calm();
        let addresses = [[v4(1, 1)], [v4(2, 2)]];
        for own in &addresses {
            net.add(own, 5_000, config.clone());
        }
        net.listen(1);
        let id = net.connect(0, 1);
        // The INIT ACK is on its way, and then a COOKIE ECHO.
        net.run_for(Duration::from_millis(15));
        // Nearer to the other host than the one that it knows.
        let new = if late == 0 { v4(2, 9) } else { v4(1, 9) };
        net.add_address(late, new);
        net.run_for(Duration::from_secs(1));
        let other = net.established(1).expect("an association");
        for (host, id) in [(0, id), (1, other)] {
            net.send(host, id, 0, "hello");
        }
        net.run_for(Duration::from_secs(1));
        assert!(net.sent.iter().all(|sent| sent.route.0 != new), "{}", net.trace(0));
        assert_eq!([0, 1].map(|host| net.received(host).len()), [1, 1]);
        let id = [id, other][late];
        net.change_addresses(late, id, &[AddressChange::Add(new)]);
        net.run_for(Duration::from_secs(1));
        let id = [other, [id, other][0]][late];
        assert_eq!(net.hosts[1 - late].endpoint.peer(id).unwrap().addresses, [addresses[late][0], new]);
    }
}

#[test]
fn an_init_comes_again_from_an_address_that_it_tells() {
    let mut net = Net::calm();
    net.add(&[v4(1, 1)], 5_000, SctpConfig::default());
    net.add(&[v4(2, 2)], 5_000, SctpConfig::default());
    net.connect(0, 1);
    net.drop_under_way();
    net.add_address(0, v4(2, 9));
    net.listen(1);
    net.run_for(Duration::from_secs(5));
    assert!(net.established(1).is_some());
    assert!(net.sent.iter().all(|sent| sent.route.0 != v4(2, 9)), "{}", net.trace(0));
}
