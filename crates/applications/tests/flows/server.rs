//! A port to which one peer connects, or any number of them.

use std::net::IpAddr;

use slantpath_applications::message::Content;
use slantpath_applications::{
    FlowAdaptation, Flows, Host, HostSessions, MessageRecords, ReceiverConfig, SenderConfig, Workload,
};
use slantpath_base::{DataSize, Duration, Instant, Seed};
use slantpath_host::{Peer, Protocol, SocketId, TransportConfig};
use slantpath_net::{DirectionConfig, LinkId, Network, NetworkBuilder, NodeId};

use slantpath_wire::icmp::IcmpError;
use slantpath_wire::ip::{Dscp, Ecn, Fragmentation, IpFields, IpHeader, protocol};

use crate::fixture::{direction, sender};
use crate::{sctp, tcp};

const PORT: u16 = 5_000;
const FIRST_PORT: u16 = 20_000;

/// The addresses of the ends of a link: of IPv4 on the first, of IPv6 on the second, so that an association over one
/// has no path over the other.
fn addresses(link: usize) -> [IpAddr; 2] {
    let texts = [["10.0.0.1", "10.0.0.2"], ["fd00::1", "fd00::2"]];
    texts[link].map(|text| text.parse().unwrap())
}

fn receiver() -> ReceiverConfig {
    ReceiverConfig {
        content: Content::Stamped,
        streams: 1,
        unordered: false,
        may_skip: false,
        records: MessageRecords::Times,
        read_rate: None,
        adaptation: FlowAdaptation::None,
    }
}

/// With a receive buffer of 100 kB.
fn cramped(protocol: Protocol) -> Protocol {
    let receive_buffer_bytes = 100_000;
    match protocol {
        Protocol::Sctp(config) => {
            Protocol::Sctp(Box::new(slantpath_sctp::SctpConfig { receive_buffer_bytes, ..*config }))
        }
        Protocol::Tcp(config) => Protocol::Tcp(Box::new(slantpath_tcp::TcpConfig {
            receive_buffer_bytes: receive_buffer_bytes.into(),
            ..*config
        })),
        other => other,
    }
}

fn bulk(message_bytes: u64, messages: u64) -> SenderConfig {
    let message = DataSize::from_bytes(message_bytes);
    let total = Some(DataSize::from_bytes(message_bytes * messages));
    SenderConfig { sample_paths: None, ..sender(Workload::Bulk { message, total }) }
}

/// Two hosts and links between them; the second host serves one port, for one peer or for any number of them.
struct World {
    hosts: [Host; 2],
    builder: NetworkBuilder,
    nodes: [NodeId; 2],
    links: Vec<LinkId>,
    server: SocketId,
    protocol: Protocol,
    seed: Seed,
}

impl World {
    /// With a receiver for one peer.
    fn new(protocol: Protocol, links: &[DirectionConfig]) -> Self {
        Self::with(protocol, links, Some(receiver()))
    }

    /// With a server for any number of peers.
    fn serving(protocol: Protocol, links: &[DirectionConfig]) -> Self {
        Self::with(protocol, links, None)
    }

    fn with(protocol: Protocol, links: &[DirectionConfig], receiver: Option<ReceiverConfig>) -> Self {
        let seed = Seed::new(1, 0);
        let mut builder = NetworkBuilder::new();
        let nodes = [builder.host("from"), builder.host("to")];
        let mut own = [Vec::new(), Vec::new()];
        let mut ids = Vec::new();
        for (index, config) in links.iter().enumerate() {
            let name = format!("link{index}");
            let link = builder.link(&name, nodes[0], nodes[1], config.clone(), config.clone());
            for (end, interface) in [link.first(), link.second()].into_iter().enumerate() {
                builder.address(interface, addresses(index)[end]);
                own[end].push((addresses(index)[end], interface));
            }
            ids.push(link);
        }
        let mut hosts = own.clone().map(Host::new);
        for (index, link) in ids.iter().enumerate() {
            hosts[0].add_route(addresses(index)[1], link.first()).unwrap();
            hosts[1].add_route(addresses(index)[0], link.second()).unwrap();
        }
        let local_addresses = own[1].iter().map(|(address, _)| *address).collect();
        let transport = Self::transport(&protocol, local_addresses, PORT, None);
        let server = match receiver {
            Some(receiver) => hosts[1].add_receiver(transport, receiver, seed, "server"),
            None => hosts[1].add_session_server(transport, seed, "server"),
        };
        Self { hosts, builder, nodes, links: ids, server, protocol, seed }
    }

    fn transport(
        protocol: &Protocol,
        local_addresses: Vec<IpAddr>,
        local_port: u16,
        peer: Option<Peer>,
    ) -> TransportConfig {
        TransportConfig { protocol: protocol.clone(), local_addresses, local_port, peer }
    }

    /// A sender over one of the links.
    fn add_sender(&mut self, number: u16, link: usize, config: SenderConfig) -> SocketId {
        let [here, there] = addresses(link);
        let peer = Peer { addresses: vec![there], port: PORT };
        let transport = Self::transport(&self.protocol, vec![here], FIRST_PORT + number, Some(peer));
        self.hosts[0].add_sender(transport, config, self.seed, &format!("flows/{number}"))
    }

    fn network(self) -> (Network<Host>, [NodeId; 2], Vec<LinkId>, SocketId) {
        let Self { hosts, builder, nodes, links, server, seed, .. } = self;
        (Network::new(builder.build().unwrap(), seed, hosts.into()), nodes, links, server)
    }
}

#[test]
fn ten_thousand_connections_to_one_port_each_have_their_own_messages() {
    const CONNECTIONS: u16 = 10_000;
    for protocol in [sctp(), tcp()] {
        let mut link = direction("1 Gbit/s", "5 ms");
        link.queue = slantpath_net::QueueConfig::DropTail(slantpath_net::QueueLimit::Packets(100_000));
        let mut world = World::serving(protocol, &[link]);
        let senders: Vec<SocketId> = (0..CONNECTIONS)
            .map(|number| {
                // Their sizes tell them apart, and they overlap in time.
                let start = Instant::START.saturating_add(Duration::from_micros(50 * u64::from(number)));
                let config = bulk(100 + u64::from(number) % 400, 1 + u64::from(number) % 3);
                world.add_sender(number, 0, SenderConfig { connect: start, start, ..config })
            })
            .collect();
        let (mut network, [from, to], _, server) = world.network();
        network.run_until(Instant::from_secs(20));
        let over = network.host_mut(to).take_sessions();
        let mut delivered: Vec<(u16, u64)> = Vec::new();
        for received in over.received {
            assert_eq!(received.server, server);
            delivered.push((received.peer.unwrap().port(), received.bytes_delivered));
        }
        let sent: Vec<(u16, u64)> = senders
            .iter()
            .zip(FIRST_PORT..)
            .map(|(id, port)| {
                let report = network.host(from).sender_report(*id).unwrap();
                assert_eq!(report.failure, None);
                (port, report.bytes_sent)
            })
            .collect();
        delivered.sort_unstable();
        assert_eq!(sent, delivered);
        assert_eq!(network.host(to).drops(), slantpath_host::HostDrops::default());
    }
}

/// The packets of the first link with so many flows beside the first on another link.
fn first_link_beside(protocol: Protocol, others: u16) -> Vec<u8> {
    let mut links = [direction("2 Mbit/s", "50 ms"), direction("2 Mbit/s", "30 ms")];
    for link in &mut links {
        link.loss = "3 %".parse().unwrap();
    }
    let mut world = World::serving(protocol, &links);
    // The others come first and in between: whoever draws from what they share draws otherwise for it.
    for number in 1..=others {
        let config = bulk(700, 200);
        let start = Instant::from_millis(10 * u64::from(number - 1));
        world.add_sender(number, 1, SenderConfig { connect: start, start, ..config });
    }
    let start = Instant::from_millis(15);
    world.add_sender(0, 0, SenderConfig { connect: start, start, ..bulk(900, 400) });
    let (mut network, _, links, _) = world.network();
    let capture = network.capture(&[links[0].forward(), links[0].reverse()]);
    // Long enough for heartbeats, whose times are drawn.
    network.run_until(Instant::from_secs(120));
    network.take_capture(capture)
}

#[test]
fn a_flow_beside_another_on_the_same_hosts_and_port_changes_no_bit_of_it() {
    for protocol in [sctp(), tcp()] {
        let alone = first_link_beside(protocol.clone(), 0);
        assert!(alone.len() > 400 * 900);
        for others in [1, 3] {
            assert!(first_link_beside(protocol.clone(), others) == alone, "beside {others}");
        }
    }
}

#[test]
fn a_reader_that_pauses_closes_the_window_and_goes_on_where_it_stopped() {
    for protocol in [sctp(), tcp()] {
        let protocol = match protocol {
            Protocol::Sctp(config) => Protocol::Sctp(Box::new(slantpath_sctp::SctpConfig {
                receive_buffer_bytes: 100_000,
                ..*config
            })),
            Protocol::Tcp(config) => {
                Protocol::Tcp(Box::new(slantpath_tcp::TcpConfig { receive_buffer_bytes: 100_000, ..*config }))
            }
            other => other,
        };
        let mut world = World::new(protocol, &[direction("8 Mbit/s", "10 ms")]);
        let config = SenderConfig { sample_paths: Some(Duration::ZERO), ..bulk(1_000, 2_000) };
        world.add_sender(0, 0, config);
        let (mut network, [_, to], links, socket) = world.network();
        network.run_until(Instant::from_millis(500));
        assert!(network.command(to, |host, now| host.pause(now, socket)));
        let delivered =
            |network: &Network<Host>| network.host(to).receiver_report(socket).unwrap().messages_delivered;
        let at_pause = delivered(&network);
        assert!((300..600).contains(&at_pause), "{at_pause}");
        let sent_bytes = |network: &Network<Host>| network.counters(links[0].forward()).offered.bytes;
        network.run_until(Instant::from_secs(2));
        assert_eq!(delivered(&network), at_pause);
        let after = sent_bytes(&network);
        // With headers of 4 or 5 %.
        let unread = after - at_pause * 1_000;
        assert!((95_000..145_000).contains(&unread), "a buffer's worth came: {unread}");
        // But for probes of the window nothing more comes.
        network.run_until(Instant::from_secs(10));
        assert!(sent_bytes(&network) - after < 12_000, "{}", sent_bytes(&network) - after);
        assert!(network.command(to, |host, now| host.resume(now, socket)));
        let resumed = delivered(&network);
        network.run_until(Instant::from_secs(40));
        assert!(resumed >= at_pause);
        let report = network.host(to).receiver_report(socket).unwrap();
        assert_eq!((report.messages_delivered, report.messages_out_of_order), (2_000, 0));
    }
}

#[test]
fn a_receiver_that_reads_slowly_slows_the_sender_down_to_its_rate() {
    for protocol in [sctp(), tcp()] {
        let receiver = ReceiverConfig { read_rate: Some("1 Mbit/s".parse().unwrap()), ..receiver() };
        let protocol = cramped(protocol);
        let mut world = World::with(protocol, &[direction("8 Mbit/s", "10 ms")], Some(receiver));
        world.add_sender(0, 0, bulk(1_000, 2_000));
        let (mut network, [_, to], _, socket) = world.network();
        network.run_until(Instant::from_secs(8));
        let delivered =
            |network: &Network<Host>| network.host(to).receiver_report(socket).unwrap().bytes_delivered;
        // A megabyte in 8 s, and what it is busy with: at most a buffer that SCTP hands over at once.
        let at_half = delivered(&network);
        assert!((990_000..1_110_000).contains(&at_half), "{at_half}");
        network.run_until(Instant::from_secs(20));
        let report = network.host(to).receiver_report(socket).unwrap();
        assert_eq!((report.messages_delivered, report.messages_out_of_order), (2_000, 0));
        let last = report.last_delivery.unwrap();
        assert!((Instant::from_millis(14_500)..Instant::from_millis(16_100)).contains(&last), "{last}");
    }
}

#[test]
fn what_a_header_says_is_set_by_one_end_and_told_to_the_other() {
    let ip = IpFields { hop_limit: 9, dscp: Dscp::new(46).unwrap(), ecn: Ecn::Capable0 };
    let Protocol::Tcp(config) = tcp() else { unreachable!() };
    let mut world = World::new(tcp(), &[direction("8 Mbit/s", "10 ms")]);
    world.protocol = Protocol::Tcp(Box::new(slantpath_tcp::TcpConfig { ip, ..*config }));
    let sender = world.add_sender(0, 0, bulk(1_000, 10));
    let (mut network, [from, to], _, socket) = world.network();
    network.run_until(Instant::from_millis(90));
    assert_eq!(network.host(to).received_ip(socket), Some(ip));
    assert_eq!(network.host(from).received_ip(sender), Some(IpFields::default()));
}

#[test]
fn a_report_about_a_packet_that_the_host_cannot_have_sent_is_dropped_and_counted() {
    let mut world = World::new(tcp(), &[direction("8 Mbit/s", "10 ms")]);
    world.add_sender(0, 0, bulk(1_000, 10));
    let [own, peer] = addresses(0);
    let unrelated: IpAddr = [192, 0, 2, 1].into();
    let (mut network, [from, _], links, _) = world.network();
    network.run_until(Instant::from_millis(100));
    for (source, destination, forged) in [(own, peer, 0), (unrelated, peer, 1), (own, unrelated, 2)] {
        let quoted = IpHeader {
            source,
            destination,
            protocol: protocol::TCP,
            hop_limit: 60,
            traffic_class: 0,
            payload_len: 28,
            fragmentation: Fragmentation::Forbidden,
        };
        let mut about = vec![0; quoted.header_len()];
        quoted.emit(&mut about);
        about.extend(FIRST_PORT.to_be_bytes());
        about.extend([0; 26]);
        let error = IcmpError::PacketTooBig { mtu_bytes: 600 };
        let mut report = error.report(unrelated, &about, 64).map(|mut report| {
            // Whoever forges addresses the host itself.
            let (header, len) = IpHeader::parse_header(&report.contiguous()).unwrap();
            report.strip(len);
            let header = IpHeader { destination: own, ..header };
            header.emit(report.prepend(header.header_len()));
            report
        });
        let interface = links[0].first();
        network.command(from, |host, now| {
            slantpath_net::EndSystem::handle_packet(host, now, interface, report.as_mut().unwrap());
        });
        assert_eq!(network.host(from).drops().forged_reports, forged);
    }
}
