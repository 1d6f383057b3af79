//! Parts of watched journeys, checked by hand.

use slantpath_base::{DataRate, Duration, Probability, Seed};
use slantpath_net::{
    ArqConfig, ArqOrder, Change, DirectionConfig, Journey, Network, NetworkBuilder, SendingConfig, WhileDown,
};
use slantpath_wire::Packet;
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};

use crate::fixture::{Pair, Scripted, address, byte_a_millisecond, clean, millis, packet};

/// Queueing, transmission, propagation and repetition, in milliseconds.
fn parts(journeys: &[Journey]) -> Vec<[u64; 4]> {
    let part = |journey: &Journey| {
        [journey.queueing(), journey.transmission, journey.propagation, journey.repetition]
            .map(Duration::as_millis)
    };
    journeys.iter().map(part).collect()
}

fn config(delay: u64) -> DirectionConfig {
    clean(byte_a_millisecond(), Duration::from_millis(delay), 10)
}

/// Two hosts with a router between them: 10 ms and then 20 ms, the second hop twice as fast.
fn two_hops(second: DirectionConfig, packets: Vec<Packet>) -> Vec<Journey> {
    let mut builder = NetworkBuilder::new();
    let (first, router, last) = (builder.host("first"), builder.router("router"), builder.host("last"));
    let near = builder.link("near", first, router, config(10), config(10));
    let far = builder.link("far", router, last, second, config(20));
    builder.address(near.first(), address(1)).address(far.second(), address(2));
    let graph = builder.build().expect("a sound plan");
    let mut network = Network::new(graph, Seed::new(1, 0), vec![Scripted::default(); 2]);
    network.watch_journeys();
    for packet in packets {
        network.command(first, |host, _| host.send(millis(0), near.first(), packet));
    }
    assert!(network.run_to_rest(1_000));
    network.host(last).journeys.clone()
}

#[test]
fn a_packet_behind_another_waits_where_the_bottleneck_is() {
    let second = DirectionConfig { rate: DataRate::from_bits_per_sec(16_000), ..config(20) };
    let send = |length| packet(address(1), address(2), length, 1);
    let journeys = two_hops(second, vec![send(200), send(100), send(400)]);
    // The second leaves the first hop 100 ms behind the first, and so just when that has left the second hop.
    assert_eq!(parts(&journeys), [[0, 300, 30, 0], [200, 150, 30, 0], [300, 600, 30, 0]]);
    assert_eq!(journeys.iter().map(|journey| journey.sent).collect::<Vec<_>>(), [millis(0); 3]);
    assert_eq!(journeys[2].arrived, millis(930));
}

#[test]
fn a_fragment_has_the_journey_of_its_packet_up_to_the_cut() {
    let header = IpHeader {
        source: address(1),
        destination: address(2),
        protocol: protocol::UDP,
        hop_limit: 64,
        traffic_class: 0,
        payload_len: 160,
        fragmentation: Fragmentation::Allowed { identification: 1 },
    };
    let mut whole = Packet::copied(&[1; 160], slantpath_wire::Checksum::Complete);
    header.emit(whole.prepend(20));
    let second = DirectionConfig { mtu_bytes: 100, ..config(20) };
    // 180 bytes are cut into 100 and 100.
    assert_eq!(parts(&two_hops(second, vec![whole])), [[0, 280, 30, 0], [100, 280, 30, 0]]);
}

/// The first two packets are hit: sent until 100 and 150 ms, they are asked for again at 300 and 350. The third is sent
/// from 260 to 360, the first again until 460, the second until 510.
fn with_repetition(order: ArqOrder) -> Vec<Journey> {
    let sending = SendingConfig::Repeated(ArqConfig { tries: 5, order });
    let config = DirectionConfig { sending, loss: Probability::ALWAYS, ..config(100) };
    let mut pair = Pair::with(&config, Seed::new(1, 0), |builder, link| {
        builder.change(millis(150), link.forward(), Change::Loss(Probability::NEVER));
    });
    pair.network.watch_journeys();
    for (at, length) in [(0, 100), (10, 50), (260, 100)] {
        pair.send(millis(at), length, 1);
    }
    assert!(pair.network.run_to_rest(1_000));
    pair.network.host(pair.second).journeys.clone()
}

#[test]
fn what_a_link_repeats_has_waited_for_its_first_try_and_been_repeated_until_its_last() {
    let journeys = with_repetition(ArqOrder::AsReceived);
    assert_eq!(parts(&journeys), [[0, 100, 100, 0], [0, 100, 100, 360], [90, 50, 100, 360]]);
}

#[test]
fn what_a_link_holds_back_for_order_counts_as_repetition() {
    let journeys = with_repetition(ArqOrder::InOrder);
    assert_eq!(parts(&journeys), [[0, 100, 100, 360], [90, 50, 100, 360], [0, 100, 100, 150]]);
}

#[test]
fn what_a_link_holds_while_it_is_down_has_waited_and_what_is_sent_at_another_rate_takes_that_long() {
    let config = DirectionConfig { while_down: WhileDown::Hold, ..config(100) };
    let mut pair = Pair::with(&config, Seed::new(1, 0), |builder, link| {
        builder.change(millis(0), link.forward(), Change::Down);
        builder.change(millis(400), link.forward(), Change::Rate(DataRate::from_bits_per_sec(16_000)));
        builder.change(millis(500), link.forward(), Change::Up);
    });
    pair.network.watch_journeys();
    pair.send(millis(10), 100, 1);
    pair.send(millis(20), 100, 2);
    assert!(pair.network.run_to_rest(1_000));
    assert_eq!(parts(&pair.network.host(pair.second).journeys), [[490, 50, 100, 0], [530, 50, 100, 0]]);
}

#[test]
fn a_copy_has_a_journey_of_its_own() {
    let config = DirectionConfig { duplication: Probability::ALWAYS, ..config(100) };
    let mut pair = Pair::new(&config);
    pair.network.watch_journeys();
    pair.send(millis(0), 100, 1);
    assert!(pair.network.run_to_rest(1_000));
    assert_eq!(parts(&pair.network.host(pair.second).journeys), [[0, 100, 100, 0]; 2]);
}
