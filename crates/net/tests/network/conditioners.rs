//! Traffic conditioning: which packets fall under which rule, what they are metered with, and what the receiver sees.

use proptest::prelude::*;
use slantpath_base::{DataRate, DataSize, Duration, Seed};
use slantpath_net::{
    Classifier, Colour, ColourMode, ConditioningAction, ConditioningRule, DirectionConfig, DirectionCounters,
    DropReason, FlowPorts, MeterConfig, MeterScope, TrafficProfile,
};
use slantpath_testkit::Tshark;
use slantpath_wire::ip::{Dscp, IPV4_HEADER_LEN, IpHeader, protocol};
use slantpath_wire::pcapng::{Block, Blocks};
use slantpath_wire::{Checksum, Packet, checksum};

use crate::fixture::{Pair, address, clean, millis, packet};

fn dscp(number: u8) -> Dscp {
    Dscp::new(number).expect("six bits")
}

const AF11: u8 = 10;
const AF12: u8 = 12;
const AF13: u8 = 14;
const EF: u8 = 46;

/// Marks green packets AF11 and yellow ones AF12, and drops red ones.
fn actions() -> [ConditioningAction; 3] {
    [ConditioningAction::Mark(dscp(AF11)), ConditioningAction::Mark(dscp(AF12)), ConditioningAction::Drop]
}

/// One packet of 100 bytes is green and one is yellow; nothing to speak of comes after them.
fn one_of_each(scope: MeterScope) -> TrafficProfile {
    let burst = DataSize::from_bytes(100);
    let meter = MeterConfig::SingleRate {
        committed: DataRate::from_bits_per_sec(1),
        committed_burst: burst,
        excess_burst: burst,
        mode: ColourMode::Blind,
    };
    TrafficProfile { meter, scope }
}

fn rule(name: &str, classifier: Classifier, profile: Option<TrafficProfile>) -> ConditioningRule {
    ConditioningRule { name: name.to_owned(), classifier, profile, actions: actions() }
}

fn config(rules: Vec<ConditioningRule>) -> DirectionConfig {
    let wire = clean(DataRate::from_bits_per_sec(1_000_000_000), Duration::ZERO, 1_000);
    DirectionConfig { conditioner: rules, ..wire }
}

/// A packet of 100 bytes from a port, of a traffic class; its header's checksum holds.
fn of_port(port: u8, class: u8) -> Packet {
    let mut bytes = packet(address(1), address(2), 100, 0).contiguous().to_vec();
    (bytes[1], bytes[IPV4_HEADER_LEN + 1]) = (class, port);
    bytes[10..12].fill(0);
    let sum = checksum::internet([&bytes[..IPV4_HEADER_LEN]]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    Packet::shared(bytes.into(), Checksum::Complete)
}

/// Sends packets of these ports and traffic classes, a millisecond apart, and returns those that arrive, each header
/// whole, with the counters.
fn pass(rules: Vec<ConditioningRule>, sent: &[(u8, u8)]) -> (Vec<(u8, u8)>, DirectionCounters) {
    let mut pair = Pair::with(&config(rules), Seed::new(1, 0), |_, _| {});
    let interface = pair.link.first();
    for (at, &(port, class)) in (0..).zip(sent) {
        let packet = of_port(port, class);
        pair.network.command(pair.first, |host, _| host.send(millis(at), interface, packet));
    }
    assert!(pair.network.run_to_rest(100_000));
    let read = |packet: &Packet| {
        let bytes = packet.contiguous();
        let (header, _) = IpHeader::parse(&bytes).expect("a header whose checksum holds");
        (bytes[IPV4_HEADER_LEN + 1], header.traffic_class)
    };
    let received =
        pair.network.host(pair.second).received.iter().map(|(_, _, packet)| read(packet)).collect();
    (received, *pair.network.counters(pair.link.forward()))
}

#[test]
fn the_codepoint_is_in_the_header_and_what_is_red_is_policed() {
    let rules = vec![rule("all", Classifier::default(), Some(one_of_each(MeterScope::Aggregate)))];
    // ECN is no part of the codepoint, and stays.
    let (received, counters) = pass(rules, &[(1, 2), (2, 3 | EF << 2), (3, 0), (4, 0)]);
    assert_eq!(received, [(1, AF11 << 2 | 2), (2, AF12 << 2 | 3)]);
    assert_eq!(counters.offered.packets, 4);
    assert_eq!(counters.dropped(DropReason::Policed).packets, 2);
    assert_eq!(counters.carried.packets, 2);
    assert_eq!(Colour::ALL.map(|colour| counters.coloured(colour).packets), [1, 1, 2]);
    assert_eq!(counters.marked.packets, 0, "a codepoint is no mark of congestion");
}

#[test]
fn packets_are_metered_with_those_of_their_flow_their_pair_or_their_rule() {
    let sent = [(1, 0), (1, 0), (2, 0), (2, 0)];
    let classes = |scope| {
        let rules = vec![rule("all", Classifier::default(), Some(one_of_each(scope)))];
        pass(rules, &sent).0.iter().map(|&(_, class)| class >> 2).collect::<Vec<_>>()
    };
    assert_eq!(classes(MeterScope::Flow), [AF11, AF12, AF11, AF12]);
    assert_eq!(classes(MeterScope::Pair), [AF11, AF12]);
    assert_eq!(classes(MeterScope::Aggregate), [AF11, AF12]);
    // Two sources are two pairs, and one aggregate.
    let from_two = |scope| {
        let rules = vec![rule("all", Classifier::default(), Some(one_of_each(scope)))];
        let mut pair = Pair::with(&config(rules), Seed::new(1, 0), |_, _| {});
        let interface = pair.link.first();
        for (at, source) in (0..).zip([1, 1, 3, 3]) {
            let packet = packet(address(source), address(2), 100, 0);
            pair.network.command(pair.first, |host, _| host.send(millis(at), interface, packet));
        }
        assert!(pair.network.run_to_rest(1_000));
        pair.network.counters(pair.link.forward()).carried.packets
    };
    assert_eq!([MeterScope::Flow, MeterScope::Pair, MeterScope::Aggregate].map(from_two), [4, 4, 2]);
}

#[test]
fn a_packet_falls_under_the_first_rule_that_holds_for_it() {
    let udp = |port| FlowPorts { protocol: protocol::UDP, ports: [0, port] };
    let by_flow = Classifier { flows: vec![udp(1)], ..Classifier::default() };
    let by_codepoint = Classifier { dscps: vec![dscp(EF)], ..Classifier::default() };
    let marks = |name: &str, classifier, number| ConditioningRule {
        actions: [ConditioningAction::Mark(dscp(number)); 3],
        ..rule(name, classifier, None)
    };
    let rules = vec![marks("flow", by_flow, 8), marks("voice", by_codepoint, 40)];
    let (received, counters) = pass(rules, &[(1, EF << 2), (2, EF << 2), (2, 0)]);
    assert_eq!(received, [(1, 8 << 2), (2, 40 << 2), (2, 0)], "under none it stays as it is");
    assert_eq!(Colour::ALL.map(|colour| counters.coloured(colour).packets), [0; 3], "none was metered");
    let (source, ports) = (vec![address(1)], FlowPorts { protocol: protocol::UDP, ports: [0, 1] });
    let narrow = |sources, destinations, flow| {
        let classifier = Classifier { sources, destinations, flows: vec![flow], dscps: Vec::new() };
        pass(vec![marks("narrow", classifier, 8)], &[(1, 0)]).0[0].1
    };
    assert_eq!(narrow(source.clone(), vec![address(2)], ports), 8 << 2, "ports hold either way");
    assert_eq!(narrow(source.clone(), vec![address(2), address(3)], ports), 8 << 2);
    assert_eq!(narrow(vec![address(2)], vec![], ports), 0);
    assert_eq!(narrow(source.clone(), vec![address(3)], ports), 0);
    assert_eq!(narrow(source.clone(), vec![], FlowPorts { protocol: protocol::TCP, ..ports }), 0);
    assert_eq!(narrow(source, vec![], udp(2)), 0);
}

#[test]
fn a_colour_is_the_drop_precedence_that_a_packet_comes_with() {
    let burst = DataSize::from_bytes(10_000);
    let committed = DataRate::from_bits_per_sec(1);
    let mode = ColourMode::Aware;
    let meter = MeterConfig::SingleRate { committed, committed_burst: burst, excess_burst: burst, mode };
    let profile = TrafficProfile { meter, scope: MeterScope::Aggregate };
    let coloured = |number: u8| {
        let rules = vec![rule("all", Classifier::default(), Some(profile))];
        let counters = pass(rules, &[(1, number << 2)]).1;
        Colour::ALL.into_iter().find(|&colour| counters.coloured(colour).packets == 1)
    };
    for class in 1..=4_u8 {
        let expected = [Some(Colour::Green), Some(Colour::Yellow), Some(Colour::Red)];
        assert_eq!([AF11, AF12, AF13].map(|of_first| coloured(of_first + 8 * (class - 1))), expected);
    }
    assert_eq!([0, EF, 44, 4].map(coloured), [Some(Colour::Green); 4], "no AF codepoint, no precedence");
}

/// Codepoints that a marker at random gives packets of one flow, each of which finds an average of twice the target.
fn colours_of(port: u8, others: &[u8], rules_before: usize) -> Vec<u8> {
    let (committed, window) = (DataRate::from_bits_per_sec(1), Duration::from_secs(1));
    let meter =
        MeterConfig::TimeSlidingWindow { committed, peak: DataRate::from_bits_per_sec(2_000), window };
    let profile = Some(TrafficProfile { meter, scope: MeterScope::Flow });
    let never = |number| {
        let classifier = Classifier { sources: vec![address(9)], ..Classifier::default() };
        rule(&format!("never {number}"), classifier, profile)
    };
    let all = ConditioningRule {
        actions: [AF11, AF12, AF13].map(|number| ConditioningAction::Mark(dscp(number))),
        ..rule("all", Classifier::default(), profile)
    };
    let rules = (0..rules_before).map(never).chain([all]).collect();
    let sent: Vec<(u8, u8)> =
        (0..200).flat_map(|_| others.iter().chain([&port])).map(|&port| (port, 0)).collect();
    let (received, _) = pass(rules, &sent);
    received.into_iter().filter(|&(of, _)| of == port).map(|(_, class)| class >> 2).collect()
}

#[test]
fn flows_and_rules_draw_nothing_of_each_other() {
    // Alone, one packet in 2 ms: so that the instants are the same beside another.
    let alone = colours_of(1, &[9], 0);
    assert_eq!(colours_of(1, &[7], 0), alone);
    assert_eq!(colours_of(1, &[7], 3), alone, "rules of other names draw from other streams");
    assert_ne!(colours_of(2, &[7], 0), alone);
    assert!([AF12, AF13].iter().all(|number| alone.contains(number)), "{alone:?}");
}

proptest! {
    #[test]
    fn every_packet_has_a_colour_and_is_carried_or_policed(
        sent in prop::collection::vec((0_u8..4, any::<u8>()), 1..60),
        scope in prop_oneof![Just(MeterScope::Aggregate), Just(MeterScope::Flow), Just(MeterScope::Pair)],
    ) {
        let rules = vec![rule("all", Classifier::default(), Some(one_of_each(scope)))];
        let (received, counters) = pass(rules, &sent);
        let coloured = Colour::ALL.map(|colour| counters.coloured(colour).packets);
        prop_assert_eq!(coloured.iter().sum::<u64>(), sent.len() as u64);
        prop_assert_eq!(counters.dropped(DropReason::Policed).packets, coloured[2]);
        prop_assert_eq!(received.len() as u64, coloured[0] + coloured[1]);
        for (port, class) in received {
            prop_assert!([AF11, AF12].contains(&(class >> 2)));
            prop_assert!(sent.iter().any(|&(of, before)| of == port && before & 3 == class & 3));
        }
    }
}

#[test]
fn a_capture_shows_the_codepoint_under_a_sound_checksum() {
    let rules = vec![rule("all", Classifier::default(), Some(one_of_each(MeterScope::Aggregate)))];
    let mut pair = Pair::with(&config(rules), Seed::new(1, 0), |_, _| {});
    let capture = pair.network.capture(&[pair.link.forward()]);
    let interface = pair.link.first();
    for at in 0..3 {
        let packet = of_port(1, EF << 2);
        pair.network.command(pair.first, |host, _| host.send(millis(at), interface, packet));
    }
    assert!(pair.network.run_to_rest(1_000));
    let octets = pair.network.take_capture(capture);
    let comments: Vec<Option<String>> = Blocks::new(&octets)
        .filter_map(|block| match block.expect("a sound capture") {
            Block::Packet { comment, .. } => Some(comment),
            _ => None,
        })
        .collect();
    assert_eq!(comments, [None, None, Some("dropped: policed".to_owned())]);
    let tshark = Tshark::of_octets("conditioned", &octets).prefer("ip.check_checksum:TRUE");
    let Some(rows) = tshark.rows(&["ip.dsfield.dscp", "ip.checksum.status"]) else { return };
    let of_dscp: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(of_dscp, ["10", "12", "46"], "what is policed is as it came");
    assert!(rows.iter().all(|row| row[1] == "1"), "every checksum is good: {rows:?}");
}
