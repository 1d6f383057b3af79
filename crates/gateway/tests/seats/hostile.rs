//! Bad input at a live seat: on the wire comes what the standards prescribe, and it is counted.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_gateway::SignallingEntity;
use slantpath_sctp::SctpConfig;
use slantpath_signalling::network::{AspId, LinkCarrier, NetworkConfig, PointId};
use slantpath_sigtran::asp::{AspMessage, ErrorCode, RoutingContexts, TrafficMode};
use slantpath_sigtran::common::{self, MessageKind};
use slantpath_sigtran::m2pa;
use slantpath_sigtran::m3ua::{self, AffectedDestinations, ProtocolData};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{NetworkIndicator, Sls};
use slantpath_ss7::sccp::gtt::{
    Conditions, DigitPattern, Entity, Group, RouteOn, Rule, Sharing, TitleChange, Translator,
};
use slantpath_ss7::sccp::{
    self, Digits, GlobalTitle, NodeConfig, OptionalParameters, PartyAddress, ProtocolClass, Ssn,
};

use super::fixture::{code, lab_of_m3ua, sctp};
use super::peer::{Bench, M2PA, M3UA, TesterAt, octets_of};

const EXCHANGE: usize = 0;
const GATEWAY: usize = 1;
const BEHIND: usize = 2;
const CONTEXT: u32 = 100;
const ISUP: u8 = 5;
const SCCP: u8 = 3;

fn config() -> NetworkConfig {
    lab_of_m3ua().config().0
}

fn gateway() -> SignallingEntity {
    SignallingEntity::Point(PointId(GATEWAY))
}

/// A gateway with a process of the tester's, whose association is up.
fn bench(config: &NetworkConfig) -> Bench {
    let mut bench = Bench::new(config, gateway(), TesterAt::Calling(M3UA), None);
    bench.run_until(Instant::from_secs(1));
    bench
}

fn up() -> m3ua::Message {
    m3ua::Message::Asp(AspMessage::AspUp { asp_identifier: None, info: None })
}

fn active(context: u32, traffic_mode: Option<TrafficMode>) -> m3ua::Message {
    let scope = RoutingContexts(vec![context]);
    m3ua::Message::Asp(AspMessage::AspActive { traffic_mode, scope, labels: (), info: None })
}

/// The process of the tester's is active from now on.
fn activate(bench: &mut Bench) {
    bench.tell(&up());
    bench.tell(&active(CONTEXT, None));
    bench.go_on(1);
    assert_eq!(bench.status().application_servers[0].state, Some("active"));
    bench.told();
}

fn data(opc: PointCode, dpc: PointCode, service: u8, sls: u8, user_data: Bytes) -> m3ua::Message {
    let protocol_data = ProtocolData {
        opc,
        dpc,
        service_indicator: service,
        network_indicator: 0,
        priority: 0,
        sls: Sls(sls),
        user_data,
    };
    let routing_context = Some(CONTEXT);
    m3ua::Message::Data(m3ua::Data {
        network_appearance: None,
        routing_context,
        protocol_data,
        correlation_id: None,
    })
}

fn octets(count: usize) -> Bytes {
    vec![7; count].into()
}

/// Codes of the ERRs among messages.
fn errors(told: &[m3ua::Message]) -> Vec<ErrorCode> {
    let code = |message: &m3ua::Message| match message {
        m3ua::Message::Asp(AspMessage::Err { code, .. }) => Some(*code),
        _ => None,
    };
    told.iter().filter_map(code).collect()
}

fn count(bench: &mut Bench, layer: &str, name: &str) -> u64 {
    bench.status().counters[layer][name]
}

#[test]
fn a_process_that_says_nothing_has_no_traffic_and_its_association_stays() {
    let mut bench = bench(&config());
    bench.go_on(600);
    assert!(bench.is_up());
    assert_eq!(bench.told(), []);
    assert_eq!(bench.status().application_servers[0].state, Some("down"));
}

#[test]
fn a_gateway_that_says_nothing_is_asked_at_each_t_ack() {
    let asp = SignallingEntity::Process(AspId(0));
    let mut bench = Bench::new(&config(), asp, TesterAt::Called, None);
    bench.run_until(Instant::from_secs(60));
    let told = bench.told();
    // T(ack) is two seconds.
    assert!((28..=31).contains(&told.len()), "{}", told.len());
    assert!(
        told.iter().all(|message| matches!(message, m3ua::Message::Asp(AspMessage::AspUp { .. }))),
        "{told:?}"
    );
    assert_ne!(bench.status().application_servers[0].processes[0].state, "active");
}

#[test]
fn a_link_whose_far_end_says_nothing_never_carries_traffic() {
    let mut bench = Bench::new(&config(), gateway(), TesterAt::Calling(M2PA), None);
    bench.run_until(Instant::from_secs(120));
    assert!(!bench.status().links[0].is_available);
    let heard = bench.heard();
    assert!(!heard.is_empty());
    for message in heard {
        assert_eq!((message.payload_protocol, message.stream), (5, 0));
        let message = m2pa::Message::parse(&message.payload).unwrap();
        let m2pa::Body::LinkStatus(status) = &message.body else { panic!("{message:?}") };
        let is_waiting = matches!(status, m2pa::LinkStatus::Alignment | m2pa::LinkStatus::OutOfService);
        assert!(is_waiting, "{status:?}");
    }
}

#[test]
fn what_a_process_says_wrongly_is_answered_by_the_err_of_the_standard() {
    let mut bench = bench(&config());
    let of_version = |version: u8| {
        let mut message = octets_of(&up()).to_vec();
        message[0] = version;
        Bytes::from(message)
    };
    let raw = |class: u8, kind: u8| {
        let mut message = Vec::new();
        common::emit(MessageKind { class, kind }, &mut message, |_| {});
        Bytes::from(message)
    };
    let (_, last) = (bench.told(), bench.streams() - 1);
    assert!(last > 1);
    let data = |code: PointCode| octets_of(&data(code, PointCode(1), ISUP, 0, octets(8)));
    let own = data(code(BEHIND));
    // Of 24 bits, where 14 are in a label.
    let other_variant = data(PointCode(1 << 14 | 3));
    let mode = |mode| octets_of(&active(CONTEXT, Some(mode)));
    let cases = [
        (0, of_version(2), ErrorCode::INVALID_VERSION),
        (0, raw(7, 1), ErrorCode::UNSUPPORTED_MESSAGE_CLASS),
        (0, raw(3, 9), ErrorCode::UNSUPPORTED_MESSAGE_TYPE),
        (0, octets_of(&active(CONTEXT, None)), ErrorCode::UNEXPECTED_MESSAGE),
    ];
    for (stream, octets, code) in cases {
        let before = count(&mut bench, "m3ua", "errors_sent");
        assert!(bench.say(stream, 3, &octets));
        bench.go_on(1);
        assert_eq!(errors(&bench.told()), [code], "{octets:?}");
        assert_eq!(count(&mut bench, "m3ua", "errors_sent"), before + 1);
    }
    bench.tell(&up());
    bench.go_on(1);
    bench.told();
    for (octets, code) in [
        (mode(TrafficMode::Loadshare), ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE),
        (mode(TrafficMode::Broadcast), ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE),
        (octets_of(&active(999, None)), ErrorCode::INVALID_ROUTING_CONTEXT),
    ] {
        assert!(bench.say(0, 3, &octets));
        bench.go_on(1);
        assert_eq!(errors(&bench.told()), [code], "{octets:?}");
    }
    // Of one that is not active the standard lets it be passed over.
    assert!(bench.say(1, 3, &own));
    bench.go_on(1);
    assert_eq!(bench.told(), []);
    let dropped = bench.status().discards["m3ua"].clone();
    assert_eq!(dropped.values().sum::<u64>(), 1, "{dropped:?}");
    activate(&mut bench);
    assert!(bench.say(0, 3, &own));
    bench.go_on(1);
    assert_eq!(errors(&bench.told()), [ErrorCode::INVALID_STREAM_IDENTIFIER]);
    assert!(bench.say(last, 3, &other_variant));
    bench.go_on(1);
    assert_eq!(errors(&bench.told()).len(), 1);
    // It still serves.
    assert_eq!(bench.status().application_servers[0].state, Some("active"));
    assert_eq!(bench.status().counters["mtp3"]["transferred"], 0);
}

#[test]
fn m3ua_on_the_protocol_identifier_of_another_is_passed_over_in_silence_and_counted() {
    let mut bench = bench(&config());
    for other in [2, 4, 5, 46] {
        assert!(bench.say(0, other, &octets_of(&up())));
    }
    bench.go_on(1);
    assert_eq!(bench.told(), []);
    assert_eq!(bench.status().discards["m3ua"]["payload-protocol"], 4);
    // A sender that gives none is understood.
    assert!(bench.say(0, 0, &octets_of(&up())));
    bench.go_on(1);
    assert!(!bench.told().is_empty());
}

#[test]
fn no_message_leaves_on_a_stream_that_the_peer_has_not_agreed_to() {
    for inbound_streams in [2, 5] {
        let own = SctpConfig { inbound_streams, ..*sctp() };
        let at = TesterAt::Calling(M3UA);
        let mut bench = Bench::with_sctp(&config(), gateway(), at, None, own);
        bench.run_until(Instant::from_secs(1));
        activate(&mut bench);
        for sls in 0..16 {
            // From one of its own points to itself: what it hears came through the gateway.
            bench.tell(&data(code(EXCHANGE), code(BEHIND), ISUP, sls, octets(8)));
        }
        bench.go_on(1);
        let heard = bench.heard();
        assert_eq!(heard.len(), 16);
        let streams: Vec<u16> = heard.iter().map(|message| message.stream).collect();
        assert!(streams.iter().all(|stream| (1..inbound_streams).contains(stream)), "{streams:?}");
    }
}

/// A flood costs an answer for each message, and nothing of what others have.
#[test]
fn floods_of_asp_up_and_daud_are_answered_one_by_one_and_traffic_goes_on() {
    const MANY: usize = 5_000;
    let mut bench = bench(&config());
    bench.flood(MANY, &up());
    bench.go_on(5);
    let is_ack = |message: &m3ua::Message| matches!(message, m3ua::Message::Asp(AspMessage::AspUpAck { .. }));
    assert_eq!(bench.told().iter().filter(|message| is_ack(message)).count(), MANY);
    activate(&mut bench);
    let point_codes = std::iter::once((14, PointCode(0))).chain([(0, code(EXCHANGE)); 20]).collect();
    let everything = AffectedDestinations { point_codes, ..AffectedDestinations::default() };
    bench.flood(MANY, &m3ua::Message::Daud(everything));
    bench.go_on(5);
    let told = bench.told();
    let is_answer =
        |message: &&m3ua::Message| matches!(message, m3ua::Message::Duna(_) | m3ua::Message::Dava(_));
    assert_eq!(told.iter().filter(is_answer).count(), told.len());
    // Of destinations that are reached and of those that are not, once for each audit.
    assert!((MANY..=2 * MANY + 1).contains(&told.len()), "{}", told.len());
    assert_eq!(bench.status().associations[1].waiting, 0);
    bench.tell(&data(code(EXCHANGE), code(BEHIND), ISUP, 3, octets(8)));
    bench.go_on(1);
    assert!(matches!(bench.told()[..], [m3ua::Message::Data(_)]));
}

fn title(digits: &str) -> PartyAddress {
    let title = GlobalTitle::with(Some(0), Some(1), Some(4), Digits::parse(digits).unwrap());
    PartyAddress { ssn: Some(Ssn(6)), global_title: Some(title), ..PartyAddress::default() }
}

/// The gateway sends titles on to the point behind it, which sends them back: a hop less each time.
#[test]
fn a_title_that_circles_ends_by_the_hop_counter_and_is_returned() {
    let mut config = config();
    let rule = Rule {
        name: "on".to_owned(),
        digits: DigitPattern::parse("49*").unwrap(),
        conditions: Conditions::default(),
        change: TitleChange::default(),
        group: "on".to_owned(),
    };
    let onward =
        Entity { point_code: code(BEHIND), ssn: Some(Ssn(6)), routing: RouteOn::GlobalTitle, weight: 1 };
    let group = Group { name: "on".to_owned(), sharing: Sharing::Dominant, entities: vec![onward] };
    let mut node = NodeConfig::new(code(GATEWAY), NetworkIndicator::International);
    node.translator = Translator::new(vec![rule], vec![group]).unwrap();
    config.points[GATEWAY].sccp = Some(node);
    config.m3ua.servers[0].services = vec![SCCP];
    let mut bench = bench(&config);
    activate(&mut bench);
    let mut own = title("33177");
    (own.point_code, own.routes_on_ssn) = (Some(code(BEHIND)), true);
    // Handling 8: return on error.
    let class = ProtocolClass { class: 0, handling: 8 };
    let xudt = sccp::Message::Xudt {
        class,
        hop_counter: 15,
        called: title("49171"),
        calling: own,
        data: vec![1, 2, 3],
        optional: OptionalParameters::default(),
    };
    let mut said = Vec::new();
    xudt.emit(&mut said).unwrap();
    bench.tell(&data(code(BEHIND), code(GATEWAY), SCCP, 0, said.into()));
    let (mut passes, mut cause) = (0, None);
    for _ in 0..100 {
        bench.go_on(1);
        for message in bench.told() {
            let m3ua::Message::Data(came) = message else { continue };
            let user_data = came.protocol_data.user_data;
            match sccp::Message::parse(&user_data).unwrap() {
                sccp::Message::Xudts { cause: why, .. } | sccp::Message::Udts { cause: why, .. } => {
                    cause = Some(why);
                }
                _ => {
                    passes += 1;
                    bench.tell(&data(code(BEHIND), code(GATEWAY), SCCP, 0, user_data));
                }
            }
        }
    }
    assert!((2..=15).contains(&passes), "{passes}");
    // Q.713, section 3.12: hop counter violation.
    assert_eq!(cause, Some(0x0c));
    assert_eq!(bench.status().titles["point-1"].untranslated.values().sum::<u64>(), 0);
    assert_eq!(count(&mut bench, "sccp", "returned"), 1);
}

#[test]
fn messages_beyond_what_a_link_takes_are_told_of_and_each_is_counted() {
    const MANY: usize = 10_000;
    let config = config();
    let point = SignallingEntity::Point(PointId(EXCHANGE));
    let slow = Some((config.clone(), point, "1 Mbit/s".parse().unwrap()));
    let mut bench = Bench::new(&config, gateway(), TesterAt::Calling(M3UA), slow);
    // The normal proving period takes half a minute.
    bench.run_until(Instant::from_secs(60));
    assert!(bench.status().links[0].is_available);
    activate(&mut bench);
    bench.flood(MANY, &data(code(BEHIND), code(EXCHANGE), ISUP, 0, octets(200)));
    bench.go_on(120);
    let told = bench.told();
    let congested = |message: &m3ua::Message| match message {
        m3ua::Message::Scon { affected, .. } => affected.point_codes.contains(&(0, code(EXCHANGE))),
        _ => false,
    };
    assert_eq!(errors(&told), []);
    let arrived = bench.exchange().report().arrived;
    let discards = bench.status().discards;
    let discarded = discards["m2pa"]["buffer-full"];
    assert!(discarded > 0 && arrived > 100, "{arrived} {discarded}");
    assert_eq!(arrived + discarded, MANY as u64, "{:?}", bench.status().discards);
    assert!(bench.status().links[0].is_available, "the link itself is sound");
    assert!(told.iter().any(congested), "{told:?}");
    // A reload has the link go and come anew, with counts of its own.
    let mut next = config.clone();
    let LinkCarrier::Association(m2pa) = &mut next.links[0].carrier else { unreachable!("it has no line") };
    m2pa.timers.t7 = Duration::from_secs(1);
    bench.reload(&next);
    bench.go_on(120);
    let status = bench.status();
    assert_eq!(status.links[0].state, "available");
    assert!(status.links[0].sent_msus < 100, "{:?}", status.links[0]);
    assert_eq!(status.discards["m2pa"]["buffer-full"], discarded, "what was discarded stays so");
}

/// A full send buffer of 1 MiB takes 8 s to leave. T7 of 2 s counts it from the hand-over on, and not from the
/// first transmission on, which SCTP tells.
#[test]
fn a_link_of_a_large_send_buffer_stays_up_where_t7_counts_from_the_first_transmission() {
    for (t7_from, stays) in [(m2pa::T7From::HandOver, false), (m2pa::T7From::FirstTransmission, true)] {
        let mut config = config();
        let LinkCarrier::Association(own) = &mut config.links[0].carrier else {
            unreachable!("it has no line")
        };
        own.t7_from = t7_from;
        let point = SignallingEntity::Point(PointId(EXCHANGE));
        let slow = (config.clone(), point, "1 Mbit/s".parse().unwrap());
        let mut trunk = SctpConfig { send_buffer_bytes: 1 << 20, trace_messages: stays, ..*sctp() };
        // Else messages wait in the network, once they have been sent.
        trunk.congestion.max_cwnd = Some(50_000);
        let mut bench = Bench::with_trunk(&config, gateway(), slow, trunk);
        // The normal proving period takes half a minute.
        bench.run_until(Instant::from_secs(60));
        assert!(bench.status().links[0].is_available);
        activate(&mut bench);
        bench.flood(4_000, &data(code(BEHIND), code(EXCHANGE), ISUP, 0, octets(200)));
        let mut has_stayed = true;
        for _ in 0..10 {
            bench.go_on(1);
            has_stayed &= bench.status().links[0].is_available;
        }
        assert_eq!(has_stayed, stays, "{t7_from:?}");
        assert!(!stays || bench.exchange().report().arrived == 4_000, "{:?}", bench.status().discards);
    }
}

/// The test of a link shows that a point at its other end is another one than is meant (Q.707, section 2.2).
#[test]
fn a_link_to_a_point_with_the_code_of_this_one_carries_no_traffic() {
    let config = config();
    let mut other = config.clone();
    let exchange = &mut other.points[EXCHANGE].mtp3;
    exchange.point_code = code(GATEWAY);
    exchange.link_sets[0].adjacent = PointCode(9);
    exchange.destinations.clear();
    let point = SignallingEntity::Point(PointId(EXCHANGE));
    let exchange = Some((other, point, "1 Mbit/s".parse().unwrap()));
    let mut bench = Bench::new(&config, gateway(), TesterAt::Calling(M3UA), exchange);
    bench.run_until(Instant::from_secs(120));
    assert!(!bench.status().links[0].is_available);
    assert!(!bench.status().routes.iter().any(|route| route.is_accessible), "{:?}", bench.status().routes);
    assert_eq!(bench.seat().report().arrived, 0);
}
