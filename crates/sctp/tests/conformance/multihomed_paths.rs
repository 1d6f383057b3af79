//! Several paths: which addresses an association has, which of them are confirmed, and how they are probed.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::{Heartbeat, HeartbeatAck, Init, InitAck};
use slantpath_sctp::{Chunk, Event, Parameter, PathState, SctpConfig};

use crate::tester::{Sent, Tester, config, cookie_ack, message, own, packet, peer};

/// The defaults, HEARTBEATs every 30 s included.
fn with_heartbeats() -> SctpConfig {
    SctpConfig::default()
}

/// An association over two networks that the tester has set up, with its second address only listed.
fn passive(config: SctpConfig) -> Tester {
    let mut tester = Tester::with_networks(config, 2);
    tester.listen();
    tester.receive_tagged(0, &[tester.init(vec![Parameter::Address(peer(1))])]);
    let cookie = tester.take_cookie();
    tester.receive(&[cookie]);
    tester.expect("COOKIE-ACK");
    tester.skip_event();
    tester.wait_ms(0);
    tester
}

/// The addresses among parameters.
fn listed(parameters: &[Parameter]) -> Vec<std::net::IpAddr> {
    let address = |parameter: &Parameter| match parameter {
        Parameter::Address(address) => Some(*address),
        _ => None,
    };
    parameters.iter().filter_map(address).collect()
}

#[test]
fn pm_1_an_init_lists_all_own_addresses() {
    let mut tester = Tester::with_networks(config(), 3);
    tester.connect();
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::Init(Init { parameters, .. })] = &chunks[..] else { panic!("no INIT") };
    assert_eq!(listed(parameters), [own(0), own(1), own(2)]);
}

#[test]
fn pm_2_an_init_ack_lists_all_own_addresses() {
    let mut tester = Tester::with_networks(config(), 3);
    tester.listen();
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::InitAck(InitAck { parameters, .. })] = &chunks[..] else { panic!("no INIT ACK") };
    assert_eq!(listed(parameters), [own(0), own(1), own(2)]);
}

#[test]
fn pm_3_addresses_that_the_user_has_named_are_confirmed() {
    let mut tester = Tester::active_over(config(), 2);
    assert_eq!([0, 1].map(|network| tester.path(network).state), [PathState::Active; 2]);
    tester.wait_ms(60_000);
    tester.expect_silence();
}

#[test]
fn pm_4_an_address_that_is_only_listed_gets_nothing_but_heartbeats() {
    let mut tester = passive(config());
    let _unanswered = tester.take_heartbeat(1);
    assert_eq!(tester.path(1).state, PathState::Unconfirmed);
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.expire_after_ms(1_000);
    // What timed out on the only confirmed address goes there again.
    tester.expect_all(&["> 10.0.1.2 HEARTBEAT", "DATA(BE tsn 0 sid 0 ssn 0 len 1000)"]);
    tester.receive(&[tester.sack(0, 100_000, &[])]);
    // DATA from there is acknowledged where it may be.
    tester.receive_over(1, &[message(0, 0)]);
    tester.wait_ms(200);
    tester.expect("SACK(cum 0 rwnd 262144)");
}

#[test]
fn pm_5_the_nonce_of_the_heartbeat_confirms_an_address() {
    let mut tester = passive(config());
    let answer = tester.take_heartbeat(1);
    tester.wait_ms(70);
    tester.receive_over(1, &[answer]);
    tester.expect_path(1, PathState::Active);
    assert_eq!(tester.path(1).srtt, Some(Duration::from_millis(70)));
    tester.wait_ms(60_000);
    tester.expect_silence();
}

#[test]
fn pm_6_an_answer_with_another_nonce_confirms_nothing() {
    let mut tester = passive(config());
    let Chunk::HeartbeatAck(HeartbeatAck { info, others }) = tester.take_heartbeat(1) else { panic!() };
    let mut guessed = info.to_vec();
    guessed[7] ^= 1;
    tester.receive_over(1, &[Chunk::HeartbeatAck(HeartbeatAck { info: guessed.into(), others })]);
    tester.expect_silence();
    assert_eq!(tester.path(1).state, PathState::Unconfirmed);
}

#[test]
fn pm_7_an_address_that_never_answers_does_not_count_against_the_association() {
    let mut tester = passive(SctpConfig { association_max_retrans: 2, path_max_retrans: 2, ..config() });
    tester.expect("> 10.0.1.2 HEARTBEAT");
    for timeout in [1_000, 2_000] {
        tester.expire_after_ms(timeout);
        tester.expect("> 10.0.1.2 HEARTBEAT");
    }
    tester.wait_ms(4_000);
    // Beyond Path.Max.Retrans it is probed no more often than any idle address.
    assert_eq!((tester.path(1).error_count, tester.path(1).state), (3, PathState::Unconfirmed));
    let id = tester.id.unwrap();
    assert_eq!(tester.endpoint.association(id).unwrap().snapshot().error_count, 0);
    tester.expect_alive();
    tester.wait_ms(30_000);
    tester.expect_silence();
    tester.wait_ms(90_000);
    tester.expect("> 10.0.1.2 HEARTBEAT");
}

#[test]
fn pm_8_so_many_addresses_are_probed_in_an_rto_as_hb_max_burst_says() {
    let mut tester = Tester::with_networks(SctpConfig { heartbeat_max_burst: 2, ..config() }, 5);
    tester.listen();
    let listed = (1..5).map(|network| Parameter::Address(peer(network))).collect();
    tester.receive_tagged(0, &[tester.init(listed)]);
    let cookie = tester.take_cookie();
    tester.receive(&[cookie]);
    tester.wait_ms(0);
    tester.expect_all(&["COOKIE-ACK", "> 10.0.1.2 HEARTBEAT", "> 10.0.2.2 HEARTBEAT"]);
    tester.expire_after_ms(1_000);
    let lines: Vec<String> = std::iter::from_fn(|| tester.next_line()).collect();
    assert_eq!(lines[lines.len() - 2..], ["> 10.0.3.2 HEARTBEAT", "> 10.0.4.2 HEARTBEAT"]);
}

#[test]
fn pm_9_an_init_ack_from_another_address_is_answered_there() {
    let mut tester = Tester::with_networks(config(), 2);
    tester.connect();
    tester.skip();
    let init_ack = tester.init_ack(vec![Parameter::Address(peer(0))]);
    tester.receive_over(1, &[init_ack]);
    tester.expect("> 10.0.1.2 COOKIE-ECHO(4)");
    tester.receive_over(1, &[cookie_ack()]);
    assert!(matches!(tester.skip_event(), Event::Established { .. }));
    // New DATA goes to the primary address all the same.
    tester.send(10);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 10)");
}

#[test]
fn pm_10_a_packet_from_an_address_that_is_not_the_peers_is_not_taken() {
    let mut tester = Tester::active_over(config(), 2);
    tester.receive_from([10, 0, 0, 77].into(), own(0), packet(tester.tag.0, &[message(0, 0)]));
    tester.wait_ms(1_000);
    tester.expect_silence();
    assert_eq!(tester.endpoint.stats().out_of_the_blue, 1);
}

#[test]
fn hb_1_an_idle_address_is_probed_after_hb_interval_and_half_to_one_and_a_half_rto() {
    let mut tester = Tester::active_over(with_heartbeats(), 2);
    tester.wait(Duration::from_millis(30_500) - Duration::from_nanos(1));
    tester.expect_silence();
    tester.wait_ms(1_001);
    let mut lines: Vec<String> = std::iter::from_fn(|| tester.next_line()).collect();
    lines.sort();
    assert_eq!(lines, ["> 10.0.1.2 HEARTBEAT", "HEARTBEAT"]);
}

#[test]
fn hb_2_an_address_that_carries_data_is_not_probed() {
    let mut tester = Tester::active_over(with_heartbeats(), 2);
    for sequence in 0..12 {
        tester.wait(Duration::from_secs(10));
        tester.send(10);
        tester.receive(&[tester.sack(sequence, 100_000, &[])]);
        let lines: Vec<String> = std::iter::from_fn(|| tester.next_line()).collect();
        assert!(!lines.contains(&"HEARTBEAT".to_owned()), "{lines:?}");
    }
    assert_eq!(tester.now, Instant::from_secs(120));
}

#[test]
fn hb_3_a_heartbeat_is_answered_to_where_it_came_from() {
    let mut tester = Tester::active_over(config(), 2);
    let info = Bytes::from_static(b"over the second");
    tester.receive_over(1, &[Chunk::Heartbeat(Heartbeat::new(info.clone()))]);
    let Sent { source, destination, chunks, .. } = tester.next_sent();
    assert_eq!((source, destination), (own(1), peer(1)));
    assert_eq!(chunks, [Chunk::HeartbeatAck(HeartbeatAck { info, others: Bytes::new() })]);
}

/// The user has the second address probed.
fn probe(tester: &mut Tester) {
    assert!(tester.endpoint.request_heartbeat(tester.now, tester.id.unwrap(), peer(1)));
    tester.poll();
}

#[test]
fn hb_4_an_answer_measures_the_round_trip_and_clears_the_error_counter() {
    let mut tester = Tester::active_over(with_heartbeats(), 2);
    probe(&mut tester);
    let late = tester.take_heartbeat(1);
    tester.wait_ms(1_000);
    assert_eq!((tester.path(1).error_count, tester.path(1).rto.as_millis()), (1, 2_000));
    // Late, but an answer.
    tester.wait_ms(500);
    tester.receive_over(1, &[late]);
    let path = tester.path(1);
    assert_eq!((path.error_count, path.srtt), (0, Some(Duration::from_millis(1_500))));
    // SRTT and four times half of it: section 6.3.1, rule C2.
    assert_eq!(path.rto.as_millis(), 4_500);
}

#[test]
fn hb_5_heartbeats_without_an_answer_make_an_address_inactive_after_path_max_retrans() {
    let mut tester = Tester::active_over(with_heartbeats(), 2);
    let mut counts = Vec::new();
    while tester.path(1).state == PathState::Active {
        let before = tester.path(1).error_count;
        tester.wait(Duration::from_secs(1));
        while let Some(sent) = tester.take_any() {
            if let (Some(Chunk::Heartbeat(heartbeat)), true) =
                (sent.chunks.first(), sent.destination == peer(0))
            {
                tester.receive(&[Chunk::HeartbeatAck(heartbeat.clone().into_ack())]);
            }
        }
        let after = tester.path(1).error_count;
        if after != before {
            counts.push((after, tester.path(1).rto.as_millis()));
        }
    }
    // Path.Max.Retrans is 5, and each doubles the RTO.
    assert_eq!(counts, [(1, 2_000), (2, 4_000), (3, 8_000), (4, 16_000), (5, 32_000), (6, 60_000)]);
    tester.expect_path(1, PathState::Inactive);
    tester.expect_silence();
    // None of them counts against the association.
    let id = tester.id.unwrap();
    assert_eq!(tester.endpoint.association(id).unwrap().snapshot().error_count, 0);
}

#[test]
fn hb_6_an_inactive_address_is_probed_on_and_an_answer_makes_it_active() {
    let mut tester = Tester::active_over(SctpConfig { path_max_retrans: 0, ..with_heartbeats() }, 2);
    probe(&mut tester);
    let _lost = tester.take_heartbeat(1);
    tester.wait_ms(1_000);
    tester.expect_path(1, PathState::Inactive);
    // HB.interval and one to three of the RTO that is now 2 s.
    tester.wait_ms(33_000);
    let answer = loop {
        let sent = tester.next_sent();
        if sent.destination == peer(1) {
            let Some(Chunk::Heartbeat(heartbeat)) = sent.chunks.into_iter().next() else {
                panic!("no HEARTBEAT")
            };
            break Chunk::HeartbeatAck(heartbeat.into_ack());
        }
    };
    tester.skip();
    tester.receive_over(1, &[answer]);
    tester.expect_path(1, PathState::Active);
}

#[test]
fn hb_7_heartbeats_of_one_address_can_be_turned_off_and_asked_for() {
    let mut tester = Tester::active_over(with_heartbeats(), 2);
    let (now, id) = (tester.now, tester.id.unwrap());
    assert!(tester.endpoint.set_heartbeat_interval(now, id, peer(0), None));
    assert!(tester.endpoint.set_heartbeat_interval(now, id, peer(1), None));
    assert!(!tester.endpoint.set_heartbeat_interval(now, id, [10, 0, 0, 77].into(), None));
    tester.poll();
    tester.wait(Duration::from_secs(600));
    tester.expect_silence();
    probe(&mut tester);
    let _answer = tester.take_heartbeat(1);
    tester.expect_silence();
}
