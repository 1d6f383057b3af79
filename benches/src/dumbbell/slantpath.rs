//! The dumbbell in our own simulator: the crates `net` and `host` without the scenario above them.

use std::net::IpAddr;

use slantpath_applications::message;
use slantpath_applications::{
    FlowAdaptation, Flows, Host, Measurement, MessageRecords, ReceiverConfig, SenderConfig, WhenBlocked,
    Workload,
};
use slantpath_base::{DataRate, DataSize, Duration, Instant, Seed};
use slantpath_host::{Peer, Protocol as Transport, TransportConfig};
use slantpath_net::{DirectionConfig, LinkId, Network, NetworkBuilder, NodeId, QueueConfig, QueueLimit};
use slantpath_sctp::SctpConfig;
use slantpath_tcp::{DelayedAck, TcpConfig};

use super::{Case, Governed, Protocol};

const PORT: u16 = 5000;
const PACKET_BYTES: u64 = 1_500;
const BOTTLENECK_BITS_PER_SEC: u64 = 100_000_000;
const ACCESS_BITS_PER_SEC: u64 = 1_000_000_000;
const ACCESS_DELAY: Duration = Duration::from_millis(1);
/// Between the starts of two flows.
const STAGGER: Duration = Duration::from_millis(10);

/// Builds the case and runs it to its end.
pub fn run(case: &Case) -> Network<Host> {
    let mut network = build(case);
    network.run_until(Instant::from_secs(u64::from(case.seconds)));
    network
}

/// The bandwidth-delay product in packets.
fn queue_packets(case: &Case) -> u32 {
    let bits = BOTTLENECK_BITS_PER_SEC * 2 * u64::from(case.delay_ms) / 1_000;
    let packets = (bits + PACKET_BYTES * 4) / (PACKET_BYTES * 8);
    u32::try_from(packets).expect("a queue of packets")
}

/// More than two windows that fill the path and the queue: the receiver never limits.
fn window_bytes(case: &Case) -> u64 {
    (4 * u64::from(queue_packets(case)) + 1_000) * PACKET_BYTES
}

struct Flow {
    source: NodeId,
    sink: NodeId,
    source_link: LinkId,
    sink_link: LinkId,
}

impl Flow {
    fn address(flow: usize, end: u8) -> IpAddr {
        let [high, low] = u16::try_from(flow).expect("a handful of flows").to_be_bytes();
        IpAddr::from([10, end, high, low])
    }
}

/// Builds the case, and runs nothing of it.
///
/// # Panics
/// If the case has more flows than addresses.
pub fn build(case: &Case) -> Network<Host> {
    let seed = Seed::new(1, 0);
    let mut builder = NetworkBuilder::new();
    let (left, right) = (builder.router("left"), builder.router("right"));
    let direction = |bits_per_sec, delay, packets| {
        let queue = QueueConfig::DropTail(QueueLimit::Packets(packets));
        DirectionConfig::new(DataRate::from_bits_per_sec(bits_per_sec), delay, queue)
    };
    let bottleneck_delay =
        Duration::from_millis(u64::from(case.delay_ms)).saturating_sub(ACCESS_DELAY.saturating_mul(2));
    let bottleneck = direction(BOTTLENECK_BITS_PER_SEC, bottleneck_delay, queue_packets(case));
    builder.link("bottleneck", left, right, bottleneck.clone(), bottleneck);
    let access = direction(ACCESS_BITS_PER_SEC, ACCESS_DELAY, 8 * queue_packets(case) + 2_000);
    let flows: Vec<Flow> = (0..case.flows)
        .map(|flow| {
            let source = builder.host(&format!("source-{flow}"));
            let sink = builder.host(&format!("sink-{flow}"));
            let source_link =
                builder.link(&format!("in-{flow}"), source, left, access.clone(), access.clone());
            let sink_link = builder.link(&format!("out-{flow}"), right, sink, access.clone(), access.clone());
            builder.address(source_link.first(), Flow::address(flow, 1));
            builder.address(sink_link.second(), Flow::address(flow, 2));
            Flow { source, sink, source_link, sink_link }
        })
        .collect();
    let graph = builder.build().expect("a sound plan");
    let hosts = graph.hosts().to_vec();
    let hosts = hosts
        .into_iter()
        .map(|node| {
            let (number, flow) = flows
                .iter()
                .enumerate()
                .find(|(_, flow)| flow.source == node || flow.sink == node)
                .expect("every host has a flow");
            if flow.source == node {
                sender(case, number, flow, seed)
            } else {
                receiver(case, number, flow, seed)
            }
        })
        .collect();
    Network::new(graph, seed, hosts)
}

fn sender(case: &Case, number: usize, flow: &Flow, seed: Seed) -> Host {
    let (here, there) = (Flow::address(number, 1), Flow::address(number, 2));
    let mut host = Host::new(vec![(here, flow.source_link.first())]);
    host.add_route(there, flow.source_link.first()).expect("an address of the family");
    let start = Instant::START + STAGGER.saturating_mul(number as u64);
    let config = SenderConfig {
        connect: start,
        start,
        stop: None,
        workload: Workload::Bulk { message: message(case.protocol), total: None },
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
    };
    let peer = Peer { addresses: vec![there], port: PORT };
    host.add_sender(transport(case, here, Some(peer)), config, seed, &format!("flow/{number}"));
    host
}

fn receiver(case: &Case, number: usize, flow: &Flow, seed: Seed) -> Host {
    let (here, there) = (Flow::address(number, 2), Flow::address(number, 1));
    let mut host = Host::new(vec![(here, flow.sink_link.second())]);
    host.add_route(there, flow.sink_link.second()).expect("an address of the family");
    let config = ReceiverConfig {
        content: message::Content::Pattern,
        streams: 1,
        unordered: false,
        may_skip: false,
        records: MessageRecords::Nothing,
        read_rate: None,
        adaptation: FlowAdaptation::None,
    };
    host.add_receiver(transport(case, here, None), config, seed, &format!("flow/{number}"));
    host
}

/// Size of a message that fills a packet: an SCTP message of one chunk, or 30 TCP segments at a time.
fn message(protocol: Protocol) -> DataSize {
    match protocol {
        Protocol::Sctp => DataSize::from_bytes(1_452),
        Protocol::Tcp => DataSize::from_bytes(30 * 1_460),
    }
}

fn sctp(governed: Governed) -> SctpConfig {
    match governed {
        Governed::ByTheRfcs => SctpConfig::default(),
        Governed::ByTime(congestion_control) => SctpConfig {
            congestion_control,
            loss_detection: slantpath_sctp::LossDetection::Rack,
            ..SctpConfig::default()
        },
    }
}

fn tcp(governed: Governed) -> TcpConfig {
    match governed {
        // As ns's TCPSink/Sack1.
        Governed::ByTheRfcs => TcpConfig { delayed_ack: DelayedAck::Off, ..TcpConfig::default() },
        Governed::ByTime(congestion_control) => TcpConfig {
            congestion_control,
            loss_detection: slantpath_tcp::LossDetection::Rack,
            duplicate_reports: true,
            sack_recovery: slantpath_tcp::SackRecovery::Proportional,
            rtt_sampling: slantpath_tcp::RttSampling::EveryAck,
            ..TcpConfig::default()
        },
    }
}

fn transport(case: &Case, local: IpAddr, peer: Option<Peer>) -> TransportConfig {
    let window = window_bytes(case);
    let protocol = match case.protocol {
        Protocol::Sctp => Transport::Sctp(Box::new(SctpConfig {
            receive_buffer_bytes: u32::try_from(window).expect("a window is 32 bits wide"),
            send_buffer_bytes: 2 * window,
            checksum: slantpath_sctp::ChecksumPolicy::Omit,
            ..sctp(case.governed)
        })),
        Protocol::Tcp => Transport::Tcp(Box::new(TcpConfig {
            receive_buffer_bytes: window,
            send_buffer_bytes: 2 * window,
            checksum: slantpath_tcp::ChecksumPolicy::Omit,
            ..tcp(case.governed)
        })),
    };
    TransportConfig { protocol, local_addresses: vec![local], local_port: PORT, peer }
}

#[cfg(test)]
mod tests {
    use slantpath_cc::Algorithm;
    use slantpath_host::SocketId;

    use super::*;

    fn case(protocol: Protocol) -> Case {
        Case { protocol, governed: Governed::ByTheRfcs, flows: 4, delay_ms: 20, seconds: 10 }
    }

    /// Bytes that all receivers have had, over what the bottleneck could carry.
    fn share_of_bottleneck(case: &Case) -> f64 {
        let network = run(case);
        let reports = network.hosts().iter().filter_map(|host| host.receiver_report(SocketId(0)));
        let bits = 8 * reports.map(|report| report.bytes_delivered).sum::<u64>();
        bits as f64 / (BOTTLENECK_BITS_PER_SEC * u64::from(case.seconds)) as f64
    }

    #[test]
    fn flows_fill_the_bottleneck() {
        for protocol in [Protocol::Sctp, Protocol::Tcp] {
            let share = share_of_bottleneck(&case(protocol));
            assert!((0.85..=1_452.0 / 1_500.0 + 0.01).contains(&share), "{protocol:?}: {share}");
        }
    }

    #[test]
    fn flows_of_each_controller_fill_most_of_it() {
        for protocol in [Protocol::Sctp, Protocol::Tcp] {
            for algorithm in [Algorithm::Standard, Algorithm::Bbr, Algorithm::Backlog] {
                let governed = Governed::ByTime(algorithm);
                let share = share_of_bottleneck(&Case { governed, ..case(protocol) });
                assert!(share > 0.85, "{protocol:?}, {algorithm:?}: {share}");
            }
        }
    }

    #[test]
    fn a_delivered_packet_and_its_acknowledgement_make_three_hops_each() {
        let case = case(Protocol::Tcp);
        let network = run(&case);
        let bottleneck = network.graph().links().next().expect("the first link");
        let [there, back] =
            [bottleneck.forward(), bottleneck.reverse()].map(|d| network.counters(d).carried.packets);
        let dropped = network.counters(bottleneck.forward()).dropped_in_all().packets;
        let expected = 3 * (there + back) + dropped;
        // What is under way at the end has made only some of its hops.
        assert!(
            network.packet_hops().abs_diff(expected) < expected / 100,
            "{} {expected}",
            network.packet_hops()
        );
    }
}
