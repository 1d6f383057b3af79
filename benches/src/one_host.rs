//! Two hosts and one link, with ever more flows of the same total load: what a flow costs that is there and has little
//! to do.

use std::net::IpAddr;

use slantpath_applications::message;
use slantpath_applications::{
    FlowAdaptation, Flows, Host, HostSessions, Measurement, SenderConfig, WhenBlocked, Workload,
};
use slantpath_base::{DataRate, DataSize, Duration, Instant, Seed};
use slantpath_host::{Peer, Protocol as Transport, TransportConfig};
use slantpath_net::{DirectionConfig, Network, NetworkBuilder, QueueConfig, QueueLimit};

use crate::dumbbell::Protocol;

const ADDRESSES: [[u8; 4]; 2] = [[10, 0, 0, 1], [10, 0, 0, 2]];
/// Senders have one port each from here on.
const SENDER_PORTS: u16 = 20_000;
const RECEIVER_PORT: u16 = 5_000;
const MESSAGE_BYTES: u64 = 1_000;
/// Between two messages of all flows together.
const SPACING: Duration = Duration::from_micros(100);
/// In which all flows connect, evenly.
const OPENING: Duration = Duration::from_secs(5);

/// Case of many flows to one host.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Protocol of all flows.
    pub protocol: Protocol,
    /// Number of flows, all to one port.
    pub flows: u16,
}

/// The network when all flows are there and send.
pub fn opened(case: Case) -> Network<Host> {
    let mut network = build(case);
    network.run_until(Instant::START + OPENING + Duration::from_secs(2));
    network
}

/// The network before its run. Flows connect during [`OPENING`]; from there on one of them after the other sends a
/// message.
fn build(case: Case) -> Network<Host> {
    let seed = Seed::new(1, 0);
    let mut builder = NetworkBuilder::new();
    let nodes = [builder.host("left"), builder.host("right")];
    let direction = || {
        let queue = QueueConfig::DropTail(QueueLimit::Packets(100_000));
        DirectionConfig::new(DataRate::from_bits_per_sec(1_000_000_000), Duration::from_millis(5), queue)
    };
    let link = builder.link("link", nodes[0], nodes[1], direction(), direction());
    let addresses = ADDRESSES.map(IpAddr::from);
    builder.address(link.first(), addresses[0]).address(link.second(), addresses[1]);
    let graph = builder.build().expect("a sound plan");
    let host = |own: usize, interface| {
        let mut host = Host::new(vec![(addresses[own], interface)]);
        host.add_route(addresses[1 - own], interface).expect("an address of the family");
        host
    };
    let mut hosts = [host(0, link.first()), host(1, link.second())];
    hosts[1].add_session_server(transport(case, addresses[1], RECEIVER_PORT, None), seed, "server");
    for flow in 0..case.flows {
        let peer = Peer { addresses: vec![addresses[1]], port: RECEIVER_PORT };
        let transport = transport(case, addresses[0], SENDER_PORTS + flow, Some(peer));
        hosts[0].add_sender(transport, sender(case, flow), seed, &format!("flows/{flow}"));
    }
    Network::new(graph, seed, hosts.into())
}

fn sender(case: Case, flow: u16) -> SenderConfig {
    let share = Duration::from_nanos(OPENING.as_nanos() / u64::from(case.flows) * u64::from(flow));
    let interval = SPACING.saturating_mul(u64::from(case.flows));
    SenderConfig {
        connect: Instant::START + share,
        start: Instant::START + OPENING + Duration::from_secs(1) + SPACING.saturating_mul(u64::from(flow)),
        stop: None,
        workload: Workload::ConstantRate { message: DataSize::from_bytes(MESSAGE_BYTES), interval },
        when_blocked: WhenBlocked::Wait,
        content: message::Content::Pattern,
        streams: 1,
        unordered: false,
        record_messages: false,
        measurement: Measurement::Off,
        record_timeline: false,
        sample_paths: None,
        options: slantpath_sctp::SendOptions::default(),
        adaptation: FlowAdaptation::None,
    }
}

fn transport(case: Case, local: IpAddr, local_port: u16, peer: Option<Peer>) -> TransportConfig {
    let protocol = match case.protocol {
        Protocol::Sctp => Transport::Sctp(Box::new(slantpath_sctp::SctpConfig {
            checksum: slantpath_sctp::ChecksumPolicy::Omit,
            ..Default::default()
        })),
        Protocol::Tcp => Transport::Tcp(Box::new(slantpath_tcp::TcpConfig {
            checksum: slantpath_tcp::ChecksumPolicy::Omit,
            ..Default::default()
        })),
    };
    TransportConfig { protocol, local_addresses: vec![local], local_port, peer }
}
