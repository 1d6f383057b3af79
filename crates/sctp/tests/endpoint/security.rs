//! Defences against strangers: no state before a valid COOKIE ECHO, verification tags, checksums, cookies (RFC 9260,
//! sections 5.1.3 to 5.1.5, 8.5 and 12.2; Jungmaier et al. 2000, section 2).

use crate::net::{Net, Sent, describe, header, parse, v4};
use proptest::prelude::*;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::{Abort, CookieEcho, Init, InitFields};
use slantpath_sctp::{AssociationId, Cause, Chunk, Event, Parameter, SctpConfig, Tsn, VerificationTag};
use slantpath_wire::{Checksum, Packet};

fn config() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

pub(crate) fn init(tag: u32) -> Chunk {
    let fields = InitFields {
        initiate_tag: VerificationTag(tag),
        a_rwnd: 100_000,
        outbound_streams: 10,
        inbound_streams: 10,
        initial_tsn: Tsn(tag),
    };
    Chunk::Init(Init { fields, parameters: Vec::new() })
}

fn listener() -> Net {
    let mut net = Net::calm();
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    net
}

/// The handshake up to the COOKIE ECHO, which is held back.
fn cookie_echo() -> (Net, Sent) {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    net.connect(a, z);
    net.run_until(Instant::from_millis(20));
    net.drop_under_way();
    let sent = net.sent.last().unwrap().clone();
    assert_eq!(describe(&sent.packet), "COOKIE-ECHO");
    net.sent.clear();
    (net, sent)
}

const Z: usize = 1;

#[test]
fn a_flood_of_inits_leaves_no_state() {
    let mut net = listener();
    for tag in 1..=10_000_u32 {
        let [high, low] = u16::try_from(tag).unwrap().to_be_bytes();
        net.inject_chunks(([172, 16, high, low].into(), v4(1, 2)), header(5_000, 2_905, 0), &[init(tag)]);
    }
    let endpoint = &net.hosts[0].endpoint;
    assert_eq!(endpoint.stats().init_acks_sent, 10_000);
    assert_eq!(endpoint.association_count(), 0);
    // Not even a timer.
    net.drop_under_way();
    assert!(!net.step());
}

#[test]
fn an_init_ack_is_not_much_larger_than_its_init() {
    let mut net = listener();
    net.inject_chunks((v4(1, 1), v4(1, 2)), header(5_000, 2_905, 0), &[init(1)]);
    let init_len = 12 + 20;
    let init_ack_len = net.sent[0].packet.len();
    assert!(init_ack_len <= 4 * init_len, "{init_ack_len} bytes for {init_len}");
}

#[test]
fn the_cookie_comes_back_and_makes_the_association() {
    let (mut net, echo) = cookie_echo();
    assert_eq!(net.hosts[Z].endpoint.association_count(), 0);
    net.inject(echo.route, echo.packet);
    assert_eq!(net.hosts[Z].endpoint.association_count(), 1);
}

#[test]
fn a_cookie_with_any_byte_changed_is_dropped_in_silence() {
    let (mut net, echo) = cookie_echo();
    let (header, chunks) = parse(&echo.packet);
    let [Chunk::CookieEcho(CookieEcho { cookie })] = &chunks[..] else { panic!("{chunks:?}") };
    for byte in 0..cookie.len() {
        let mut forged = cookie.to_vec();
        forged[byte] ^= 1;
        net.inject_chunks(echo.route, header, &[Chunk::CookieEcho(CookieEcho { cookie: forged.into() })]);
    }
    let endpoint = &net.hosts[Z].endpoint;
    assert_eq!(endpoint.association_count(), 0);
    assert_eq!(endpoint.stats().forged_cookies, cookie.len() as u64);
    assert_eq!(net.sent.len(), 0);
}

#[test]
fn a_cookie_in_a_packet_of_other_ports_or_with_another_tag_is_dropped_in_silence() {
    let (mut net, echo) = cookie_echo();
    let (good, chunks) = parse(&echo.packet);
    let mut other_port = good;
    other_port.source_port += 1;
    let mut other_tag = good;
    other_tag.verification_tag.0 ^= 1;
    for header in [other_port, other_tag] {
        net.inject_chunks(echo.route, header, &chunks);
    }
    assert_eq!(net.hosts[Z].endpoint.association_count(), 0);
    assert_eq!(net.hosts[Z].endpoint.stats().forged_cookies, 2);
    assert_eq!(net.sent.len(), 0);
}

#[test]
fn a_cookie_of_another_endpoint_is_dropped_in_silence() {
    let (_, echo) = cookie_echo();
    let mut net = Net::new(99, slantpath_testkit::WireFaults::none(Duration::ZERO));
    net.add(&[v4(1, 1)], 5_000, config());
    net.add(&[v4(1, 2)], 2_905, config());
    net.listen(Z);
    net.inject(echo.route, echo.packet);
    assert_eq!(net.hosts[Z].endpoint.association_count(), 0);
    assert_eq!(net.sent.len(), 0);
}

#[test]
fn a_stale_cookie_is_refused_with_the_measure_of_its_staleness() {
    let (mut net, echo) = cookie_echo();
    // It was made at 10 ms and lives for 60 s.
    let at = |late_ns: u64| Instant::from_nanos(60_010_000_000 + late_ns);
    for (now, expected) in [(at(1), 1), (at(1_000), 1), (at(1_500_000), 1_500), (at(1 << 62), u32::MAX)] {
        net.now = now;
        net.inject(echo.route, echo.packet.clone());
        let (answered, chunks) = parse(&net.sent.last().unwrap().packet);
        let [Chunk::Error(error)] = &chunks[..] else { panic!("{chunks:?}") };
        assert_eq!(error.causes[..], [Cause::StaleCookie { staleness_us: expected }]);
        assert_ne!(answered.verification_tag, VerificationTag::ZERO);
    }
    assert_eq!(net.hosts[Z].endpoint.association_count(), 0);
    assert_eq!(net.hosts[Z].endpoint.stats().stale_cookies, 4);
    net.now = at(0);
    net.inject(echo.route, echo.packet);
    assert_eq!(net.hosts[Z].endpoint.association_count(), 1, "to the last moment it is good");
}

/// A cookie lives for 60 s, and longer by what its INIT asks for, up to as much again.
#[test]
fn a_cookie_lives_longer_by_what_its_init_asks_for_up_to_twice_as_long() {
    for (increment_ms, life_s) in [(0, 60), (1_000, 61), (60_000, 120), (60_001, 120), (u32::MAX, 120)] {
        for (late_ns, is_taken) in [(0, true), (1, false)] {
            let mut net = listener();
            let Chunk::Init(mut init) = init(7) else { panic!() };
            init.parameters.push(Parameter::CookiePreservative { increment_ms });
            let route = (v4(1, 1), v4(1, 2));
            net.inject_chunks(route, header(5_000, 2_905, 0), &[Chunk::Init(init)]);
            let (_, chunks) = parse(&net.sent[0].packet);
            let [Chunk::InitAck(ack)] = &chunks[..] else { panic!("{chunks:?}") };
            let [Parameter::StateCookie(cookie)] = &ack.parameters[..] else { panic!("{ack:?}") };
            net.now = Instant::from_nanos(life_s * 1_000_000_000 + late_ns);
            let echo = Chunk::CookieEcho(CookieEcho { cookie: cookie.clone() });
            net.inject_chunks(route, header(5_000, 2_905, ack.fields.initiate_tag.0), &[echo]);
            assert_eq!(net.hosts[0].endpoint.association_count(), usize::from(is_taken), "{increment_ms} ms");
        }
    }
}

fn associated() -> (Net, AssociationId, AssociationId) {
    Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]])
}

/// A packet with DATA of the association, kept from its receiver.
fn captured_data(net: &mut Net, at_a: AssociationId) -> Sent {
    net.send(0, at_a, 0, vec![7; 300]);
    net.drop_under_way();
    net.sent.drain(..).next_back().unwrap()
}

#[test]
fn a_packet_with_a_wrong_tag_is_dropped_in_silence() {
    let (mut net, at_a, _) = associated();
    let sent = captured_data(&mut net, at_a);
    let (good, chunks) = parse(&sent.packet);
    for bit in 0..32 {
        let mut wrong = good;
        wrong.verification_tag.0 ^= 1 << bit;
        net.inject_chunks(sent.route, wrong, &chunks);
    }
    assert_eq!(net.sent.len(), 0);
    assert_eq!(net.events(Z), []);
    assert_eq!(net.hosts[Z].endpoint.stats().wrong_tags, 32);
    net.inject(sent.route, sent.packet);
    assert_eq!(net.received(Z).len(), 1);
}

#[test]
fn data_with_the_right_tag_from_an_address_that_is_not_the_peers_is_dropped_in_silence() {
    let (mut net, at_a, _) = associated();
    let sent = captured_data(&mut net, at_a);
    let before = net.hosts[Z].endpoint.stats().out_of_the_blue;
    net.inject((v4(1, 77), sent.route.1), sent.packet.clone());
    assert_eq!(net.events(Z), []);
    assert_eq!((net.sent.len(), net.hosts[Z].endpoint.stats().out_of_the_blue), (0, before + 1));
    net.inject(sent.route, sent.packet);
    assert_eq!(net.received(Z).len(), 1);
}

#[test]
fn a_packet_with_a_wrong_checksum_is_dropped_in_silence() {
    let (mut net, at_a, _) = associated();
    let sent = captured_data(&mut net, at_a);
    let bytes = sent.packet.contiguous();
    for byte in 0..bytes.len() {
        let mut broken = bytes.to_vec();
        broken[byte] ^= 0x80;
        net.inject(sent.route, Packet::copied(&broken, Checksum::Complete));
    }
    assert_eq!(net.sent.len(), 0);
    assert_eq!(net.events(Z), []);
    assert_eq!(net.hosts[Z].endpoint.stats().bad_checksums, bytes.len() as u64);
}

/// Section 8.5.1, rule B.
#[test]
fn an_abort_counts_with_our_tag_or_with_the_peers_and_the_t_bit() {
    let abort = |is_tag_reflected| Chunk::Abort(Abort { is_tag_reflected, causes: Vec::new() });
    for (has_own_tag, is_tag_reflected, ends) in
        [(true, false, true), (false, true, true), (true, true, false), (false, false, false)]
    {
        let (mut net, at_a, at_z) = associated();
        let sent = captured_data(&mut net, at_a);
        let (to_z, _) = parse(&sent.packet);
        net.send(Z, at_z, 0, "back");
        let (to_a, _) = parse(&net.sent.last().unwrap().packet);
        let mut header = to_z;
        if !has_own_tag {
            header.verification_tag = to_a.verification_tag;
        }
        net.inject_chunks(sent.route, header, &[abort(is_tag_reflected)]);
        let is_closed = net.events(Z).iter().any(|event| matches!(event, Event::Closed(_)));
        assert_eq!(is_closed, ends, "own tag {has_own_tag}, T {is_tag_reflected}");
    }
}

/// An attacker who sees no packet cannot end an association by guessing.
#[test]
fn blind_aborts_and_restarts_do_nothing() {
    let (mut net, at_a, _) = associated();
    let route = (v4(1, 1), v4(1, 2));
    let abort = Chunk::Abort(Abort { is_tag_reflected: false, causes: Vec::new() });
    for tag in 0..1_000 {
        net.inject_chunks(route, header(5_000, 2_905, tag), std::slice::from_ref(&abort));
    }
    for tag in 1..1_000 {
        net.inject_chunks(route, header(5_000, 2_905, 0), &[init(tag)]);
    }
    net.drop_under_way();
    assert_eq!(net.events(Z), []);
    assert_eq!(net.hosts[Z].endpoint.association_count(), 1);
    net.send(0, at_a, 0, "alive");
    net.run_for(Duration::from_secs(5));
    assert_eq!(net.received(Z).len(), 1);
}

#[test]
fn tags_and_tsns_look_random_and_are_never_zero() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..500 {
        let mut net = Net::new(seed, slantpath_testkit::WireFaults::none(Duration::ZERO));
        let a = net.add(&[v4(1, 1)], 5_000, config());
        let z = net.add(&[v4(1, 2)], 2_905, config());
        net.connect(a, z);
        let (_, chunks) = parse(&net.sent[0].packet);
        let Chunk::Init(init) = &chunks[0] else { panic!("{chunks:?}") };
        assert_ne!(init.fields.initiate_tag, VerificationTag::ZERO);
        seen.insert(init.fields.initiate_tag.0);
        seen.insert(init.fields.initial_tsn.0);
    }
    assert!(seen.len() > 990, "{} of 1,000 are different", seen.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever arrives, in whatever state, nothing panics and a stranger makes no association.
    #[test]
    fn arbitrary_packets_do_no_harm(
        payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 1..8),
        millis in 0_u64..50,
    ) {
        let mut net = Net::calm();
        let a = net.add(&[v4(1, 1)], 5_000, config());
        let z = net.add(&[v4(1, 2)], 2_905, config());
        net.listen(z);
        net.connect(a, z);
        net.run_until(Instant::from_millis(millis));
        for (number, mut payload) in payloads.into_iter().enumerate() {
            // Half of them with the right ports, so that they come further.
            if number % 2 == 0 && payload.len() >= 12 {
                payload[..4].copy_from_slice(&[0x13, 0x88, 0x0b, 0x59]);
            }
            net.inject((v4(1, 1), v4(1, 2)), Packet::copied(&payload, Checksum::Omitted));
        }
        prop_assert!(net.hosts[z].endpoint.association_count() <= 1);
    }
}
