//! Flows between two hosts whose messages are MSUs of M3UA.

use std::net::{IpAddr, Ipv4Addr};

use slantpath_applications::message;
use slantpath_applications::record::{ReceiverReport, SenderReport};
use slantpath_applications::{
    FlowAdaptation, Flows, Host, Measurement, MessageRecords, ReceiverConfig, SenderConfig, WhenBlocked,
    Workload,
};
use slantpath_base::{DataSize, Duration, Instant, Seed};
use slantpath_host::{Peer, Protocol, TransportConfig};
use slantpath_net::{DirectionConfig, Network, NetworkBuilder, QueueConfig, QueueLimit};
use slantpath_sctp::{SctpConfig, SendOptions};
use slantpath_simulation::FLOW_M3UA;

const ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2))];

/// Runs a flow of so many bytes over a link that loses packets on its way there.
fn run(
    [rate, delay, loss]: [&str; 3],
    sctp: &SctpConfig,
    streams: u16,
    (message, total): (u64, u64),
    seed: u64,
) -> (SenderReport, ReceiverReport) {
    let queue = QueueConfig::DropTail(QueueLimit::Packets(1_000));
    let direction = DirectionConfig::new(rate.parse().unwrap(), delay.parse().unwrap(), queue);
    let forward = DirectionConfig { loss: loss.parse().unwrap(), ..direction.clone() };
    let mut builder = NetworkBuilder::new();
    let (from, to) = (builder.host("from"), builder.host("to"));
    let link = builder.link("link", from, to, forward, direction);
    builder.address(link.first(), ADDRESSES[0]).address(link.second(), ADDRESSES[1]);
    let graph = builder.build().unwrap();
    let mut hosts = [0, 1].map(|end: usize| {
        let interface = graph.interfaces(graph.hosts()[end])[0];
        let mut host = Host::new(vec![(ADDRESSES[end], interface)]);
        host.add_route(ADDRESSES[1 - end], interface).unwrap();
        host
    });
    let adaptation = FlowAdaptation::Signalling(&FLOW_M3UA);
    let config = SenderConfig {
        connect: Instant::START,
        start: Instant::START,
        stop: None,
        workload: Workload::Bulk {
            message: DataSize::from_bytes(message),
            total: Some(DataSize::from_bytes(total)),
        },
        when_blocked: WhenBlocked::Wait,
        content: message::Content::Stamped,
        streams,
        unordered: false,
        record_messages: true,
        measurement: Measurement::Off,
        record_timeline: false,
        sample_paths: None,
        options: SendOptions::default(),
        adaptation,
    };
    let receiver = ReceiverConfig {
        content: message::Content::Stamped,
        streams,
        unordered: false,
        may_skip: false,
        records: MessageRecords::TimesAndJourneys,
        read_rate: None,
        adaptation,
    };
    let seed = Seed::new(seed, 0);
    let transport = |end: usize, local_port, peer| TransportConfig {
        protocol: Protocol::Sctp(Box::new(sctp.clone())),
        local_addresses: vec![ADDRESSES[end]],
        local_port,
        peer,
    };
    let peer = Some(Peer { addresses: vec![ADDRESSES[1]], port: 5_000 });
    let from = hosts[0].add_sender(transport(0, 40_000, peer), config, seed, "flows/test");
    let to = hosts[1].add_receiver(transport(1, 5_000, None), receiver, seed, "flows/test");
    let mut network = Network::new(graph, seed, hosts.into());
    network.run_until(Instant::from_secs(200));
    let [sender, receiver] = network.hosts() else { unreachable!("there are two hosts") };
    (sender.sender_report(from).unwrap().clone(), receiver.receiver_report(to).unwrap().clone())
}

#[test]
fn msus_cross_an_association_in_the_order_of_their_link_selections() {
    let link = ["2 Mbit/s", "50 ms", "2 %"];
    let (sent, received) = run(link, &SctpConfig::default(), 4, (270, 270_000), 5);
    assert_eq!(received.messages_delivered, 1_000, "{:?}", sent.failure);
    assert_eq!((received.messages_corrupt, received.messages_out_of_order), (0, 0));
    // INIT and COOKIE ECHO, ASP Up and ASP Active take a round trip each: MSUs may flow after four.
    let connected = sent.connected.unwrap().since_start();
    assert!(connected > Duration::from_millis(400) && connected < Duration::from_secs(5), "{connected}");
}

/// Each message is four times as long as the receive buffer, and delivered in parts.
#[test]
fn msus_longer_than_the_receive_buffer_arrive_whole() {
    let sctp = SctpConfig { receive_buffer_bytes: 16_384, ..SctpConfig::default() };
    let (sent, received) = run(["20 Mbit/s", "20 ms", "1 %"], &sctp, 1, (65_000, 6_500_000), 3);
    assert_eq!(received.messages_delivered, 100, "{:?}", sent.failure);
    assert_eq!((received.messages_corrupt, received.messages_out_of_order), (0, 0));
}
