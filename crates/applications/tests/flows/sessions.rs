//! Sessions: one association or connection after the other, each with a record at either end.

use std::net::IpAddr;

use slantpath_applications::record::{ReceivedSession, SentSession, SessionRecords};
use slantpath_applications::{
    Host, HostSessions, RequestsConfig, SessionArrivals, SessionLoad, SessionSizes, SessionsConfig,
};
use slantpath_base::{DataSize, Duration, Instant, Seed};
use slantpath_host::{Peer, Protocol, TransportConfig};
use slantpath_net::{DirectionConfig, Network, NetworkBuilder, NodeId, QueueConfig, QueueLimit};

use crate::fixture::direction;
use crate::{sctp, tcp};

pub(crate) const PORT: u16 = 5_000;
pub(crate) const MESSAGE: DataSize = DataSize::from_bytes(8_000);

pub(crate) struct World {
    network: Network<Host>,
    from: NodeId,
    to: NodeId,
}

fn drawn(interval_ms: u64, sizes: SessionSizes) -> SessionLoad {
    let arrivals = SessionArrivals::Poisson { mean_interval: Duration::from_millis(interval_ms) };
    SessionLoad::Drawn { arrivals, sizes }
}

fn kilobytes(kilobytes: u64) -> DataSize {
    DataSize::from_bytes(1_000 * kilobytes)
}

/// Transport of one end.
pub(crate) fn transport(
    protocol: &Protocol,
    own: IpAddr,
    local_port: u16,
    peer: Option<Peer>,
) -> TransportConfig {
    TransportConfig { protocol: protocol.clone(), local_addresses: vec![own], local_port, peer }
}

/// A source of sessions for a minute.
pub(crate) fn source(
    transport: TransportConfig,
    load: SessionLoad,
    ports: std::ops::RangeInclusive<u16>,
    requests: Option<RequestsConfig>,
) -> SessionsConfig {
    SessionsConfig {
        transport,
        ports,
        load,
        start: Instant::START,
        stop: Some(Instant::from_secs(60)),
        message: MESSAGE,
        requests,
        admission: None,
    }
}

/// Two hosts and a link, over which sessions go from the first to the second.
fn world(
    protocol: &Protocol,
    link: &DirectionConfig,
    load: SessionLoad,
    ports: std::ops::RangeInclusive<u16>,
) -> World {
    world_of(protocol, link, load, ports, None, Server::Receives)
}

/// Variant of [`world`] in which the first host asks the second.
pub(crate) fn world_asking(
    protocol: &Protocol,
    link: &DirectionConfig,
    load: SessionLoad,
    ports: std::ops::RangeInclusive<u16>,
    requests: RequestsConfig,
) -> World {
    world_of(protocol, link, load, ports, Some(requests), Server::Answers)
}

/// Conduct of the second host towards the sessions that come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Server {
    Answers,
    Receives,
}

/// Variant of [`world`] for any two ends, whether or not they understand each other.
pub(crate) fn world_of(
    protocol: &Protocol,
    link: &DirectionConfig,
    load: SessionLoad,
    ports: std::ops::RangeInclusive<u16>,
    requests: Option<RequestsConfig>,
    server: Server,
) -> World {
    let mut builder = NetworkBuilder::new();
    let (from, to) = (builder.host("from"), builder.host("to"));
    let wire = builder.link("wire", from, to, link.clone(), link.clone());
    let [own, peer] = [1, 2].map(|host| IpAddr::from([10, 0, 0, host]));
    builder.address(wire.first(), own).address(wire.second(), peer);
    let seed = Seed::new(1, 0);
    let (mut sending, mut receiving) =
        (Host::new(vec![(own, wire.first())]), Host::new(vec![(peer, wire.second())]));
    sending.add_route(peer, wire.first()).unwrap();
    receiving.add_route(own, wire.second()).unwrap();
    let opens = transport(protocol, own, 0, Some(Peer { addresses: vec![peer], port: PORT }));
    sending.add_session_source(source(opens, load, ports, requests), seed, "sessions/ftp");
    let accepts = transport(protocol, peer, PORT, None);
    match server {
        Server::Answers => receiving.add_request_server(accepts, MESSAGE, seed, "sessions/ftp"),
        Server::Receives => receiving.add_session_server(accepts, seed, "sessions/ftp"),
    };
    let graph = builder.build().unwrap();
    World { network: Network::new(graph, seed, vec![sending, receiving]), from, to }
}

impl World {
    /// Records of both ends at `end`: of sessions that are over, and of others.
    pub(crate) fn records(&mut self, end: Instant) -> [SessionRecords; 2] {
        self.network.run_until(end);
        let [from, to] = [self.from, self.to].map(|node| {
            let host = self.network.host_mut(node);
            (host.take_sessions(), host.unfinished_sessions(end))
        });
        let join = |mut sent: SessionRecords, received: SessionRecords| {
            assert_eq!((sent.received.len(), received.sent.len()), (0, 0));
            sent.received = received.received;
            sent
        };
        [join(from.0, to.0), join(from.1, to.1)]
    }
}

fn of_port(records: &SessionRecords, port: u16) -> Vec<&ReceivedSession> {
    records.received.iter().filter(|record| record.peer.unwrap().port() == port).collect()
}

fn bytes(sent: &[SentSession]) -> u64 {
    sent.iter().map(|record| record.size.as_bytes()).sum()
}

#[test]
fn every_session_is_over_and_delivered_whole_over_either_transport() {
    for protocol in [tcp(), sctp()] {
        let mut link = direction("10 Mbit/s", "20 ms");
        link.loss = "1 %".parse().unwrap();
        let pareto = SessionSizes::Pareto { mean: kilobytes(100), shape: 1.5 };
        let mut world = world(&protocol, &link, drawn(500, pareto), 20_000..=29_999);
        let [over, others] = world.records(Instant::from_secs(400));
        assert_eq!(others, SessionRecords::default());
        // Two a second for a minute.
        assert!((90..150).contains(&over.sent.len()), "{}", over.sent.len());
        let delivered: u64 = over.received.iter().map(|record| record.bytes_delivered).sum();
        assert_eq!((delivered, over.received.len()), (bytes(&over.sent), over.sent.len()));
        for sent in &over.sent {
            assert_eq!(sent.failure, None);
            assert_eq!(sent.bytes_sent, sent.size.as_bytes());
            let [received] = of_port(&over, sent.port.unwrap())[..] else { panic!("{sent:?}") };
            assert_eq!(received.bytes_delivered, sent.size.as_bytes());
            let (connected, last, ended) =
                (sent.connected.unwrap(), received.last_delivery.unwrap(), sent.ended.unwrap());
            assert!(sent.begun < connected && connected < last && last < ended, "{sent:?} {received:?}");
            // The last byte is known to be there half a round trip after it is.
            assert!(ended - last >= Duration::from_millis(20));
        }
        let numbers: Vec<u32> = {
            let mut numbers: Vec<u32> = over.sent.iter().map(|record| record.number).collect();
            numbers.sort_unstable();
            numbers
        };
        assert!(numbers.iter().copied().eq(0..u32::try_from(over.sent.len()).unwrap()));
        assert!(over.sent.iter().filter_map(|record| record.retransmissions).sum::<u64>() > 50);
    }
}

#[test]
fn a_session_takes_as_long_as_its_bytes_on_an_empty_link() {
    let link = direction("1 Mbit/s", "100 ms");
    let trace = vec![(Duration::from_secs(1), DataSize::from_bytes(1_460))];
    let mut world = world(&tcp(), &link, SessionLoad::Trace(trace.into()), 20_000..=29_999);
    let [over, _] = world.records(Instant::from_secs(10));
    let ([sent], [received]) = (&over.sent[..], &over.received[..]) else { panic!("{over:?}") };
    assert_eq!((sent.begun, sent.retransmissions), (Instant::from_secs(1), Some(0)));
    // SYN and SYN-ACK, of 52 bytes each, take 0.416 ms, and 100 ms each way.
    let connected = Instant::from_secs(1) + Duration::from_micros(2 * 100_416);
    assert_eq!(sent.connected, Some(connected));
    // The ACK, of 40 bytes, goes before the 1,500.
    let delivered = connected + Duration::from_micros(320 + 12_000 + 100_000);
    assert_eq!(received.last_delivery, Some(delivered));
    assert_eq!(received.peer.map(|peer| peer.port()), Some(20_000));
}

#[test]
fn what_is_not_over_at_the_end_is_told_with_what_it_has() {
    let mut link = direction("1 Mbit/s", "100 ms");
    link.queue = QueueConfig::DropTail(QueueLimit::Packets(20));
    // One after the other, of 10 s each, and a third before the first is over.
    let at = |secs| (Duration::from_secs(secs), kilobytes(1_250));
    let mut world =
        world(&tcp(), &link, SessionLoad::Trace(vec![at(0), at(3), at(4)].into()), 20_000..=29_999);
    let [over, others] = world.records(Instant::from_secs(8));
    assert_eq!((over.sent.len(), others.sent.len(), others.received.len()), (0, 3, 3));
    let accepted: Vec<_> = world.network.host_mut(world.to).accepted_sessions().collect();
    let expected = others.received.iter().map(|received| {
        (received.server, received.peer.expect("it has one"), received.accepted.expect("it has come in"))
    });
    assert!(accepted.iter().copied().eq(expected), "{accepted:?}");
    assert_eq!(world.network.host_mut(world.from).accepted_sessions().count(), 0);
    for sent in &others.sent {
        assert_eq!((sent.ended, sent.failure.as_deref()), (None, None));
        let [received] = of_port(&others, sent.port.unwrap())[..] else { panic!("{sent:?}") };
        assert!(received.bytes_delivered > 0 && received.bytes_delivered < 1_250_000);
        assert!(received.bytes_delivered <= sent.bytes_sent);
    }
}

#[test]
fn ports_are_used_again_and_without_one_a_session_fails() {
    for protocol in [tcp(), sctp()] {
        let protocol = match protocol {
            Protocol::Tcp(config) => Protocol::Tcp(Box::new(slantpath_tcp::TcpConfig {
                maximum_segment_lifetime: Duration::from_millis(100),
                ..*config
            })),
            other => other,
        };
        let link = direction("1 Mbit/s", "10 ms");
        let at = |secs, size| (Duration::from_secs(secs), kilobytes(size));
        // Two at once on two ports, one too many, and two when both are over.
        let trace = vec![at(0, 100), at(0, 100), at(1, 100), at(20, 10), at(21, 10)];
        let mut world = world(&protocol, &link, SessionLoad::Trace(trace.into()), 20_000..=20_001);
        let [over, others] = world.records(Instant::from_secs(60));
        assert_eq!(others, SessionRecords::default());
        let mut fates: Vec<(u32, Option<u16>, Option<&str>)> =
            over.sent.iter().map(|sent| (sent.number, sent.port, sent.failure.as_deref())).collect();
        fates.sort_unstable();
        let none = Some("no port is free");
        let refused = over.sent.iter().find(|sent| sent.port.is_none()).expect("one is too many");
        assert_eq!(refused.ended, Some(refused.begun));
        let expected = [(0, Some(20_000), None), (1, Some(20_001), None), (2, None, none)];
        assert_eq!(fates[..3], expected);
        assert_eq!(fates[3..], [(3, Some(20_000), None), (4, Some(20_001), None)]);
        let delivered: u64 = over.received.iter().map(|record| record.bytes_delivered).sum();
        assert_eq!(delivered, 220_000);
    }
}

/// Sets another server up at the port of one.
fn add_server_at_the_same_port(protocol: &Protocol) {
    let link = direction("1 Mbit/s", "10 ms");
    let mut world = world(protocol, &link, SessionLoad::Trace(Vec::new().into()), 20_000..=20_001);
    let own = IpAddr::from([10, 0, 0, 2]);
    let host = world.network.host_mut(world.to);
    host.add_session_server(transport(protocol, own, PORT, None), Seed::new(1, 0), "another");
}

#[test]
#[should_panic(expected = "a socket has a port of its own: Err(InUse(5000))")]
fn a_port_of_sctp_that_sessions_do_not_use_again_is_no_other_sockets() {
    add_server_at_the_same_port(&sctp());
}

#[test]
#[should_panic(expected = "a socket that is set up has a port of its own")]
fn a_port_of_tcp_at_which_one_socket_listens_is_no_other_sockets() {
    add_server_at_the_same_port(&tcp());
}

#[test]
fn a_session_that_nobody_answers_fails_with_the_reason() {
    let mut link = direction("1 Mbit/s", "10 ms");
    link.loss = "100 %".parse().unwrap();
    let trace = vec![(Duration::ZERO, kilobytes(1))];
    let mut world = world(&tcp(), &link, SessionLoad::Trace(trace.into()), 20_000..=20_000);
    let [over, _] = world.records(Instant::from_secs(4_000));
    let [sent] = &over.sent[..] else { panic!("{over:?}") };
    assert_eq!((sent.connected, sent.bytes_sent), (None, 0));
    assert!(sent.failure.as_ref().is_some_and(|failure| !failure.is_empty()), "{sent:?}");
    assert_eq!(over.received, []);
}

#[test]
fn a_host_has_no_more_sockets_than_ports_and_sessions_at_a_time() {
    for protocol in [tcp(), sctp()] {
        let short = match &protocol {
            Protocol::Tcp(config) => Protocol::Tcp(Box::new(slantpath_tcp::TcpConfig {
                maximum_segment_lifetime: Duration::from_millis(100),
                ..**config
            })),
            other => other.clone(),
        };
        // Where a connection is known for two minutes after it has ended, its port is refused to another until then.
        for (protocol, is_short) in [(short, true), (protocol, false)] {
            let link = direction("10 Mbit/s", "10 ms");
            let sizes = SessionSizes::Fixed { size: kilobytes(1) };
            let mut world = world(&protocol, &link, drawn(100, sizes), 20_000..=20_009);
            let [over, others] = world.records(Instant::from_secs(59));
            assert!(others.sent.len() < 10 && over.sent.len() > 500, "{}", over.sent.len());
            let received = over.received.iter().chain(&others.received);
            let delivered: u64 = received.map(|record| record.bytes_delivered).sum();
            let failed = over.sent.iter().filter(|sent| sent.failure.is_some()).count();
            let completed = over.sent.len() - failed;
            assert!(delivered >= 1_000 * completed as u64);
            match &protocol {
                Protocol::Tcp(_) if !is_short => assert_eq!(completed, 10),
                _ => assert_eq!(failed, 0),
            }
            assert_eq!(over.opened.len(), over.sent.len() + others.sent.len());
            for node in [world.from, world.to] {
                let host = world.network.host_mut(node);
                let address = if node == world.from { [10, 0, 0, 1] } else { [10, 0, 0, 2] };
                let transport = transport(&protocol, address.into(), 6_000, None);
                // Sockets are numbered, and places of those that are gone are taken first.
                let next = host.add_session_server(transport, Seed::new(1, 0), "another");
                // Ten connections that are still known keep their places beside those of the ten ports.
                let keeps_known = matches!(protocol, Protocol::Tcp(_)) && !is_short && node == world.from;
                assert!((if keeps_known { 20..25 } else { 1..25 }).contains(&next.0), "{next:?} of {node:?}");
            }
        }
    }
}
