//! Packets from outside: when they come, what is refused, and that the same packets repeat a run.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_net::{
    Change, DirectionConfig, DropReason, GraphError, InjectError, LinkId, Network, NetworkBuilder, NodeId,
    OutsidePacket,
};
use slantpath_wire::WireError;
use slantpath_wire::ip::protocol;

use crate::fixture::{Scripted, address, byte_a_millisecond, clean, millis, packet, tag};

/// An outside node with address 1, a router, a host with address 2.
struct Edge {
    network: Network<Scripted>,
    host: NodeId,
    access: LinkId,
    core: LinkId,
}

impl Edge {
    fn new(config: &DirectionConfig) -> Self {
        let mut builder = NetworkBuilder::new();
        let (outside, router, host) =
            (builder.outside("tun"), builder.router("router"), builder.host("host"));
        let access = builder.link("access", outside, router, config.clone(), config.clone());
        let core = builder.link("core", router, host, config.clone(), config.clone());
        builder.address(access.first(), address(1)).address(core.second(), address(2));
        let network =
            Network::new(builder.build().expect("a sound plan"), Seed::new(1, 0), vec![Scripted::default()]);
        Self { network, host, access, core }
    }

    fn inject(&mut self, at: Instant, length: usize, tag: u8) -> Result<(), InjectError> {
        self.network.inject(at, self.access.first(), from_outside(length, tag))
    }

    /// Tags of what the host has got, with the instants.
    fn received(&self) -> Vec<(Instant, u8)> {
        self.network.host(self.host).received.iter().map(|(at, _, packet)| (*at, tag(packet))).collect()
    }

    fn send(&mut self, at: Instant, length: usize, tag: u8) {
        let packet = packet(address(2), address(1), length, tag);
        let interface = self.core.second();
        self.network.command(self.host, |host, _| host.send(at, interface, packet));
    }

    fn gone(&mut self) -> Vec<OutsidePacket> {
        std::iter::from_fn(|| self.network.poll_outside()).collect()
    }
}

fn from_outside(length: usize, tag: u8) -> Vec<u8> {
    packet(address(1), address(2), length, tag).contiguous().to_vec()
}

/// A byte takes a millisecond, and then 10 ms.
fn slow() -> DirectionConfig {
    clean(byte_a_millisecond(), Duration::from_millis(10), 10)
}

#[test]
fn a_packet_from_outside_takes_the_way_of_a_host_and_what_is_for_outside_comes_out() {
    let mut edge = Edge::new(&slow());
    edge.inject(millis(5), 100, 7).unwrap();
    edge.send(millis(20), 40, 8);
    edge.network.run_until(millis(1_000));
    assert_eq!(edge.received(), [(millis(5 + 110 + 110), 7)]);
    let mut arrived = packet(address(2), address(1), 40, 8).contiguous().to_vec();
    // The router has counted its hop.
    arrived[8] -= 1;
    arrived[10] += 1;
    let gone = edge.gone();
    assert_eq!(
        gone,
        [OutsidePacket { at: millis(20 + 50 + 50), interface: edge.access.first(), packet: arrived.into() }]
    );
    assert_eq!(edge.gone(), []);
}

/// The last link takes 10 ms, of which an eighth may go.
#[test]
fn who_waits_for_what_comes_out_lets_events_within_pile_up_for_less_than_the_last_link_takes() {
    let mut edge = Edge::new(&slow());
    edge.network.run_until(Instant::START);
    assert_eq!(edge.network.quiet(), Duration::from_micros(8_750));
    edge.send(millis(20), 40, 8);
    let next = |edge: &mut Edge, most: u64| edge.network.next_outside(Duration::from_millis(most)).unwrap();
    assert_eq!(
        [0, 3, 1_000].map(|most| next(&mut edge, most).as_nanos()),
        [20_000_000, 23_000_000, 28_750_000]
    );
    // It is at the router at 70 ms, which is within.
    edge.network.run_until(millis(28));
    assert_eq!(next(&mut edge, 3), millis(73));
    edge.network.run_until(millis(73));
    assert_eq!(next(&mut edge, 3), millis(120), "it comes out");
    edge.inject(millis(80), 40, 1).unwrap();
    assert_eq!(next(&mut edge, 3), millis(80), "and one comes in");
    let (at, direction) = (millis(78), edge.core.forward());
    edge.network.change(at, direction, Change::Delay(Duration::ZERO));
    assert_eq!(next(&mut edge, 3), at, "a change comes first");
}

#[test]
fn packets_of_one_instant_come_in_the_order_in_which_they_were_injected_and_others_in_that_of_time() {
    let mut edge = Edge::new(&slow());
    for (at, tag) in [(30, 3), (10, 1), (30, 4), (20, 2)] {
        edge.inject(millis(at), 20 + 1, tag).unwrap();
    }
    edge.network.run_until(millis(1_000));
    let tags: Vec<u8> = edge.received().into_iter().map(|(_, tag)| tag).collect();
    assert_eq!(tags, [1, 2, 3, 4]);
}

#[test]
fn what_cannot_come_is_refused_and_nothing_happens() {
    let mut edge = Edge::new(&slow());
    edge.network.run_until(millis(100));
    let past = InjectError::Past { at: millis(99), now: millis(100) };
    assert_eq!(edge.inject(millis(99), 40, 1), Err(past));
    let inside = edge.network.inject(millis(200), edge.core.second(), from_outside(40, 1));
    assert_eq!(inside, Err(InjectError::NotOutside { node: "host".to_owned() }));
    let mut cut = from_outside(40, 1);
    cut.pop();
    let cut = edge.network.inject(millis(200), edge.access.first(), cut);
    assert_eq!(cut, Err(InjectError::NotIp(WireError::Truncated { wanted: 20, left: 19 })));
    edge.network.run_until(millis(1_000));
    assert_eq!((edge.received(), edge.network.events()), (vec![], 0));
    // The present is no past.
    edge.inject(millis(1_000), 40, 1).unwrap();
    edge.network.run_until(millis(2_000));
    assert_eq!(edge.received(), [(millis(1_100), 1)]);
}

#[test]
fn a_frame_padding_is_cut_off() {
    let mut edge = Edge::new(&slow());
    let mut padded = from_outside(40, 1);
    padded.extend([0; 6]);
    edge.network.inject(millis(0), edge.access.first(), padded).unwrap();
    edge.network.run_until(millis(1_000));
    assert_eq!(edge.network.host(edge.host).received[0].2.len(), 40);
}

#[test]
fn what_is_too_long_is_reported_to_the_outside_and_what_is_for_nobody_is_counted() {
    let mut config = slow();
    config.mtu_bytes = 100;
    let mut edge = Edge::new(&config);
    edge.inject(millis(5), 101, 1).unwrap();
    let astray = packet(address(1), address(9), 40, 1).contiguous().to_vec();
    edge.network.inject(millis(6), edge.access.first(), astray).unwrap();
    edge.network.run_until(millis(1_000));
    let gone = edge.gone();
    assert_eq!((gone.len(), gone[0].at, gone[0].interface), (1, millis(5), edge.access.first()));
    assert_eq!(gone[0].packet.observed()[9], protocol::ICMP);
    let counters = edge.network.counters(edge.access.forward());
    assert_eq!(counters.dropped(DropReason::Mtu).packets, 1);
    assert_eq!(counters.dropped(DropReason::Unreachable).packets, 1);
}

/// A network that loses, damages, doubles and reorders, and in which a packet may take no time at all.
fn rough() -> DirectionConfig {
    let mut config = clean(DataRate::from_bits_per_sec(100_000_000_000), Duration::ZERO, 3);
    config.mtu_bytes = 600;
    config.loss = "10 %".parse().expect("a probability");
    config.bit_errors = "1e-4".parse().expect("a probability");
    config
}

/// Answers what comes: each packet goes back to its sender.
fn answer(edge: &mut Edge, seen: &mut usize) {
    let interface = edge.core.second();
    let now = edge.network.now();
    edge.network.command(edge.host, |host, _| {
        for place in *seen..host.received.len() {
            let length = host.received[place].2.len();
            host.send(now, interface, packet(address(2), address(1), length.max(28), 9));
        }
        *seen = host.received.len();
    });
}

proptest! {
    /// Packets come while the simulation goes on, several at an instant, some announced before their time; then all of
    /// them are known from the start.
    #[test]
    fn the_same_packets_at_the_same_instants_repeat_a_run(
        packets in proptest::collection::vec((0_u64..3, 0_u64..4, 28_usize..900), 1..40),
        rough_link: bool,
    ) {
        let config = if rough_link { rough() } else { slow() };
        let mut live = Edge::new(&config);
        let mut came = Vec::new();
        for (number, (wait, ahead, length)) in packets.iter().enumerate() {
            let until = live.network.now() + Duration::from_millis(*wait * 7);
            live.network.run_until(until);
            let (at, tag) = (until + Duration::from_millis(*ahead * 7), u8::try_from(number).unwrap());
            came.push((at, *length, tag));
            live.inject(at, *length, tag).unwrap();
        }
        live.network.run_until(millis(5_000));

        let mut again = Edge::new(&config);
        for (at, length, tag) in came {
            again.inject(at, length, tag).unwrap();
        }
        again.network.run_until(millis(5_000));
        prop_assert_eq!(again.network.digest(), live.network.digest());
        prop_assert_eq!(again.network.events(), live.network.events());
        prop_assert_eq!(&again.network.host(again.host).received, &live.network.host(live.host).received);
        prop_assert_eq!(again.gone(), live.gone());
    }

    /// Whoever runs the network only when something may come out has each packet at its instant, and the same run.
    #[test]
    fn what_comes_out_is_not_passed_over_by_who_waits_for_that_alone(
        packets in proptest::collection::vec((0_u64..300, 28_usize..900), 1..40),
        answered in proptest::collection::vec((0_u64..300, 28_usize..900), 1..20),
        rough_link: bool,
    ) {
        let config = if rough_link { rough() } else { slow() };
        let mut edges = [Edge::new(&config), Edge::new(&config)];
        for edge in &mut edges {
            edge.network.run_until(Instant::START);
            for (number, (at, length)) in (0..).zip(&answered) {
                edge.send(millis(*at), *length, number);
            }
            for (number, (at, length)) in (0..).zip(&packets) {
                edge.inject(millis(*at), *length, number).unwrap();
            }
        }
        let [waiting, other] = &mut edges;
        let (mut gone, mut turns) = (Vec::new(), 0);
        while let Some(at) = waiting.network.next_outside(Duration::from_millis(5)) {
            prop_assert!(waiting.network.next_event().is_some_and(|next| next <= at));
            waiting.network.run_until(at);
            turns += 1;
            for packet in waiting.gone() {
                prop_assert_eq!(packet.at, at);
                gone.push(packet);
            }
        }
        other.network.run_until(waiting.network.now());
        prop_assert_eq!(waiting.network.digest(), other.network.digest());
        prop_assert_eq!(gone, other.gone());
        prop_assert!(turns <= other.network.events());
    }

    #[test]
    fn whatever_comes_from_outside_is_carried_or_refused(
        packets in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..80),
                (28_usize..900, 0_usize..28, any::<u8>()).prop_map(|(length, place, octet)| {
                    let mut bytes = from_outside(length, 1);
                    bytes[place] = octet;
                    // The header's checksum is right again, so that what it says is believed.
                    bytes[10..12].fill(0);
                    let sum = slantpath_wire::checksum::internet([&bytes[..20]]);
                    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
                    bytes
                }),
            ],
            0..30,
        ),
    ) {
        let mut edge = Edge::new(&rough());
        let (mut taken, mut seen) = (0, 0);
        for bytes in packets {
            let now = edge.network.now();
            taken += u64::from(edge.network.inject(now, edge.access.first(), bytes).is_ok());
            edge.network.run_until(now + Duration::from_millis(1));
            answer(&mut edge, &mut seen);
        }
        edge.network.run_until(millis(1_000));
        let counters = edge.network.counters(edge.access.forward());
        let counted = counters.offered.packets - counters.fragments.packets + counters.fragmented.packets;
        prop_assert_eq!(counted, taken);
        prop_assert_eq!(edge.network.packets_under_way(), 0);
    }
}

#[test]
fn a_network_behind_an_outside_node_gets_what_is_for_its_addresses() {
    let config = slow();
    let mut builder = NetworkBuilder::new();
    let (far, near) = (builder.outside("far"), builder.outside("near"));
    let (router, host) = (builder.router("router"), builder.host("host"));
    let links = [("far", far), ("near", near), ("core", host)]
        .map(|(name, node)| builder.link(name, node, router, config.clone(), config.clone()));
    builder.prefix(links[0].first(), "10.0.0.0/8".parse().unwrap());
    builder.prefix(links[1].first(), "10.7.0.0/16".parse().unwrap());
    builder.address(links[2].first(), address(2));
    let mut network =
        Network::new(builder.build().expect("a sound plan"), Seed::new(1, 0), vec![Scripted::default()]);
    for (tag, destination) in (1..).zip(["10.9.0.1", "10.7.0.1", "11.0.0.1"]) {
        let packet = packet(address(2), destination.parse().unwrap(), 100, tag);
        network.command(host, |host, _| host.send(millis(0), links[2].first(), packet));
    }
    network.run_until(millis(1_000));
    let gone: Vec<_> = std::iter::from_fn(|| network.poll_outside()).collect();
    let places: Vec<_> = gone
        .iter()
        .map(|packet| {
            (packet.interface, Ipv4Addr::from_octets(packet.packet.observed()[16..20].try_into().unwrap()))
        })
        .collect();
    assert_eq!(places, [(links[0].first(), [10, 9, 0, 1].into()), (links[1].first(), [10, 7, 0, 1].into())]);
    let counters = network.counters(links[2].forward());
    assert_eq!(counters.dropped(DropReason::Unreachable).packets, 1);
}

#[test]
fn a_prefix_lies_behind_one_outside_node() {
    let config = slow();
    let build = |prefixes: [&str; 2], is_outside: bool| {
        let mut builder = NetworkBuilder::new();
        let node = if is_outside { builder.outside("tun") } else { builder.host("tun") };
        let router = builder.router("router");
        let link = builder.link("access", node, router, config.clone(), config.clone());
        for prefix in prefixes {
            builder.prefix(link.first(), prefix.parse().unwrap());
        }
        builder.build().map(|_| ())
    };
    assert_eq!(build(["10.0.0.0/8", "10.0.0.0/9"], true), Ok(()));
    let prefix = "10.0.0.1/8".parse().unwrap();
    let node = "tun".to_owned();
    assert_eq!(
        build(["10.0.0.0/8", "10.0.0.1/8"], true),
        Err(GraphError::PrefixTaken { prefix, node: node.clone() })
    );
    assert_eq!(build(["10.0.0.1/8", "11.0.0.0/8"], false), Err(GraphError::NotOutside { prefix, node }));
}

#[test]
fn what_a_host_sends_to_somebody_outside_is_of_no_pair_of_hosts() {
    let mut edge = Edge::new(&clean(byte_a_millisecond(), Duration::from_millis(5), 9));
    edge.network.count_host_pairs();
    edge.send(Instant::START, 40, 1);
    edge.network.run_until(millis(1_000));
    assert_eq!(edge.gone().len(), 1);
    assert_eq!(edge.network.host_pairs(), []);
}
