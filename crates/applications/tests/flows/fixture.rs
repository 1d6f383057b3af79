//! Two hosts and the links between them.

use std::net::{IpAddr, Ipv4Addr};

use slantpath_applications::message::Content;
use slantpath_applications::record::{ReceiverReport, SenderReport};
use slantpath_applications::{
    FlowAdaptation, Flows, Host, Measurement, MessageRecords, ReceiverConfig, SenderConfig, WhenBlocked,
    Workload,
};
use slantpath_base::{DataSize, Duration, Instant, Seed};
use slantpath_host::{Peer, Protocol, TransportConfig};
use slantpath_net::{
    Change, DirectionConfig, Network, NetworkBuilder, NetworkGraph, QueueConfig, QueueLimit,
};
use slantpath_sctp::SendOptions;

/// A link of the given rate and delay whose queue is never full.
pub(crate) fn direction(rate: &str, delay: &str) -> DirectionConfig {
    let queue = QueueConfig::DropTail(QueueLimit::Packets(1_000));
    DirectionConfig::new(rate.parse().unwrap(), delay.parse().unwrap(), queue)
}

/// The addresses of the ends of link `index`.
pub(crate) fn addresses(index: usize) -> [IpAddr; 2] {
    let subnet = u8::try_from(index).unwrap();
    [1, 2].map(|host| Ipv4Addr::new(10, 0, subnet, host).into())
}

/// A sender that records everything and starts at once.
pub(crate) fn sender(workload: Workload) -> SenderConfig {
    SenderConfig {
        connect: Instant::START,
        start: Instant::START,
        stop: None,
        workload,
        when_blocked: WhenBlocked::Wait,
        content: Content::Stamped,
        streams: 1,
        unordered: false,
        record_messages: true,
        measurement: Measurement::Off,
        record_timeline: false,
        sample_paths: Some(Duration::ZERO),
        options: SendOptions::default(),
        adaptation: FlowAdaptation::None,
    }
}

pub(crate) fn constant_rate(message_bytes: u64, interval: &str) -> Workload {
    Workload::ConstantRate {
        message: DataSize::from_bytes(message_bytes),
        interval: interval.parse().unwrap(),
    }
}

pub(crate) fn bulk(message_bytes: u64, total_bytes: u64) -> Workload {
    Workload::Bulk {
        message: DataSize::from_bytes(message_bytes),
        total: Some(DataSize::from_bytes(total_bytes)),
    }
}

/// Reports of both ends of the flow, and the network as the run left it.
pub(crate) struct Outcome {
    pub(crate) sent: SenderReport,
    pub(crate) received: ReceiverReport,
    pub(crate) network: Network<Host>,
}

/// Runs one flow from a first host to a second one over these links, forward and back.
pub(crate) fn run(
    links: &[[DirectionConfig; 2]],
    protocol: Protocol,
    config: SenderConfig,
    seed: Seed,
    end: Duration,
) -> Outcome {
    run_over(graph(links, &[]), protocol, config, seed, end)
}

/// Variant of [`run`] in which the first link's way forward changes.
pub(crate) fn run_changed(
    links: &[[DirectionConfig; 2]],
    changes: &[(Instant, Change)],
    protocol: Protocol,
    config: SenderConfig,
    end: Duration,
) -> Outcome {
    run_over(graph(links, changes), protocol, config, Seed::new(1, 0), end)
}

fn run_over(
    graph: NetworkGraph,
    protocol: Protocol,
    config: SenderConfig,
    seed: Seed,
    end: Duration,
) -> Outcome {
    let links = graph.interfaces(graph.hosts()[0]).len();
    let [from, to] = [0, 1].map(|end: usize| {
        let interface = |index: usize| graph.interfaces(graph.hosts()[end])[index];
        let own = (0..links).map(|index| (addresses(index)[end], interface(index)));
        let mut host = Host::new(own.collect());
        for index in 0..links {
            host.add_route(addresses(index)[1 - end], interface(index)).unwrap();
        }
        host
    });
    let own = |end: usize| (0..links).map(|index| addresses(index)[end]).collect::<Vec<_>>();
    let receiver = ReceiverConfig {
        content: config.content,
        streams: config.streams,
        unordered: config.unordered,
        may_skip: false,
        records: if config.record_messages {
            MessageRecords::TimesAndJourneys
        } else {
            MessageRecords::Nothing
        },
        read_rate: None,
        adaptation: config.adaptation,
    };
    let mut hosts = [from, to];
    let peer = Some(Peer { addresses: own(1), port: 5_000 });
    let transport =
        TransportConfig { protocol: protocol.clone(), local_addresses: own(0), local_port: 40_000, peer };
    let sender_id = hosts[0].add_sender(transport, config, seed, "flows/test");
    let transport = TransportConfig { protocol, local_addresses: own(1), local_port: 5_000, peer: None };
    let receiver_id = hosts[1].add_receiver(transport, receiver, seed, "flows/test");
    let mut network = Network::new(graph, seed, hosts.into());
    network.run_until(Instant::START.saturating_add(end));
    Outcome {
        sent: network.hosts()[0].sender_report(sender_id).unwrap().clone(),
        received: network.hosts()[1].receiver_report(receiver_id).unwrap().clone(),
        network,
    }
}

fn graph(links: &[[DirectionConfig; 2]], changes: &[(Instant, Change)]) -> NetworkGraph {
    let mut builder = NetworkBuilder::new();
    let (from, to) = (builder.host("from"), builder.host("to"));
    for (index, [forward, backward]) in links.iter().enumerate() {
        let link = builder.link(&format!("link{index}"), from, to, forward.clone(), backward.clone());
        let [first, second] = addresses(index);
        builder.address(link.first(), first).address(link.second(), second);
        for &(at, change) in changes.iter().filter(|_| index == 0) {
            builder.change(at, link.forward(), change);
        }
    }
    builder.build().unwrap()
}
