//! Group AS of TS 102 369: how an association is set up.

use std::collections::BTreeSet;
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_sctp::chunk::{InitAck, InitFields};
use slantpath_sctp::{Cause, Chunk, CloseReason, Event, Parameter, SctpConfig, VerificationTag};

use crate::tester::{PEER_TAG, Sent, Tester, config, cookie_ack, own, packet, peer};

const INIT: &str = "[tag 0] INIT(rwnd 262144 os 16 mis 2048 [12])";
const INIT_ACK: &str = "INIT-ACK(rwnd 262144 os 4 mis 2048 [7])";

fn established(outbound_streams: u16, inbound_streams: u16) -> Event {
    Event::Established { outbound_streams, inbound_streams }
}

#[test]
fn v_1_1_1_the_endpoint_sets_an_association_up() {
    let mut tester = Tester::new(config());
    tester.connect();
    tester.expect(INIT);
    tester.receive(&[tester.init_ack(Vec::new())]);
    tester.expect("COOKIE-ECHO(4)");
    tester.expect_silence();
    tester.receive(&[cookie_ack()]);
    tester.expect_event(&established(4, 4));
    tester.expect_alive();
}

#[test]
fn v_1_1_2_the_endpoint_lets_an_association_be_set_up() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let answer = tester.next_sent();
    assert_eq!(tester.describe(&answer), INIT_ACK);
    tester.expect_silence();
    assert_eq!(tester.endpoint.association_count(), 0);
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let cookie = tester.take_cookie();
    tester.receive(&[cookie]);
    tester.expect("COOKIE-ACK");
    tester.expect_event(&established(4, 4));
    tester.expect_alive();
}

#[test]
fn i_1_2_1_an_init_that_is_not_answered_is_sent_again_when_t1_init_expires() {
    let mut tester = Tester::new(config());
    tester.connect();
    tester.expect(INIT);
    let first = tester.tag;
    tester.expire_after_ms(1_000);
    tester.expect(INIT);
    assert_eq!(tester.tag, first, "the same INIT");
    tester.receive(&[tester.init_ack(Vec::new())]);
    tester.expect("COOKIE-ECHO(4)");
    tester.receive(&[cookie_ack()]);
    tester.expect_event(&established(4, 4));
    tester.expect_alive();
}

#[test]
fn i_1_2_2_a_cookie_echo_that_is_not_answered_is_sent_again_when_t1_cookie_expires() {
    let mut tester = Tester::cookie_echoed(config());
    tester.expire_after_ms(1_000);
    tester.expect("COOKIE-ECHO(4)");
    tester.receive(&[cookie_ack()]);
    tester.expect_event(&established(4, 4));
    tester.expect_alive();
}

/// Each timeout is twice the last, up to RTO.Max of 60 s; Max.Init.Retransmits is 8.
const BACK_OFF_MS: [u64; 8] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];

#[test]
fn i_1_3_1_after_max_init_retransmits_the_endpoint_sends_no_init_any_more() {
    let mut tester = Tester::new(config());
    tester.connect();
    tester.expect(INIT);
    for timeout in BACK_OFF_MS {
        tester.expire_after_ms(timeout);
        tester.expect(INIT);
    }
    tester.expire_after_ms(60_000);
    tester.expect_end(CloseReason::PeerUnreachable);
    tester.wait_ms(600_000);
    tester.expect_silence();
}

#[test]
fn i_1_3_2_after_max_init_retransmits_the_endpoint_sends_no_cookie_echo_any_more() {
    let mut tester = Tester::cookie_echoed(config());
    for timeout in BACK_OFF_MS {
        tester.expire_after_ms(timeout);
        tester.expect("COOKIE-ECHO(4)");
    }
    tester.expire_after_ms(60_000);
    tester.expect_end(CloseReason::PeerUnreachable);
    tester.wait_ms(600_000);
    tester.expect_silence();
}

#[test]
fn i_1_4_an_init_takes_nothing_of_what_limits_associations() {
    let mut tester = Tester::listening(SctpConfig { max_associations: 1, ..config() });
    let mut cookies = Vec::new();
    for host in 2..=251 {
        let init = packet(0, &[tester.init(Vec::new())]);
        tester.receive_from(IpAddr::from([10, 0, 0, host]), own(0), init);
        let tag = tester.tag;
        cookies.push((host, tag, tester.take_cookie()));
        assert_eq!(tester.endpoint.association_count(), 0);
    }
    let (host, tag, cookie) = cookies.swap_remove(100);
    tester.receive_from(IpAddr::from([10, 0, 0, host]), own(0), packet(tag.0, &[cookie]));
    tester.expect("> 10.0.0.102 COOKIE-ACK");
    tester.expect_event(&established(4, 4));
    // There is room for no other.
    let (host, tag, cookie) = cookies.swap_remove(0);
    tester.receive_from(IpAddr::from([10, 0, 0, host]), own(0), packet(tag.0, &[cookie]));
    tester.expect("ABORT cause 4");
    tester.expect_silence();
    assert_eq!(tester.endpoint.association_count(), 1);
}

/// Of so many tags none comes twice, and each bit is set in about half of them.
fn assert_random(tags: &[VerificationTag]) {
    let distinct: BTreeSet<u32> = tags.iter().map(|tag| tag.0).collect();
    assert_eq!(distinct.len(), tags.len());
    assert!(!distinct.contains(&0));
    for bit in 0..32 {
        let set = distinct.iter().filter(|tag| *tag >> bit & 1 == 1).count();
        assert!((400..=600).contains(&set), "bit {bit} is set in {set} of 1,000");
    }
}

#[test]
fn v_1_5_1_the_initiate_tags_of_inits_are_random() {
    let mut tester = Tester::new(config());
    let mut tags = Vec::new();
    for _ in 0..1_000 {
        tester.connect();
        tester.expect(INIT);
        tags.push(tester.tag);
        assert!(tester.endpoint.abort(tester.now, tester.id.unwrap(), Bytes::new()));
        tester.poll();
        tester.skip();
    }
    assert_random(&tags);
}

#[test]
fn v_1_5_2_the_initiate_tags_of_init_acks_are_random() {
    let mut tester = Tester::listening(config());
    let mut tags = Vec::new();
    for peer_tag in 1..=1_000 {
        tester.offer.initiate_tag = VerificationTag(peer_tag);
        tester.receive_tagged(0, &[tester.init(Vec::new())]);
        tags.push(tester.tag);
        tester.skip();
    }
    assert_random(&tags);
}

/// The parameters that an INIT may have, but for a host name.
fn any_parameters() -> Vec<Parameter> {
    vec![
        Parameter::Address(peer(0)),
        Parameter::CookiePreservative { increment_ms: 1_000 },
        Parameter::SupportedAddressTypes([5, 6].into_iter().collect()),
    ]
}

#[test]
fn v_1_6_1_an_init_with_any_optional_parameters_is_accepted() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(any_parameters())]);
    let cookie = tester.take_cookie();
    tester.receive(&[cookie]);
    tester.expect("COOKIE-ACK");
    tester.expect_event(&established(4, 4));
    tester.expect_alive();
}

#[test]
fn v_1_6_2_an_init_ack_with_any_optional_parameters_is_accepted() {
    let mut tester = Tester::cookie_wait(config());
    // The standard lets an INIT ACK have no Cookie Preservative and no Supported Address Types; both change nothing.
    tester.receive(&[tester.init_ack(any_parameters())]);
    tester.expect("COOKIE-ECHO(4)");
    tester.receive(&[cookie_ack()]);
    tester.expect_event(&established(4, 4));
    tester.expect_alive();
}

#[test]
fn v_1_7_1_fewer_inbound_streams_of_an_init_bound_the_outbound_streams() {
    let mut tester = Tester::listening(config());
    tester.offer = InitFields { outbound_streams: 100, inbound_streams: 1, ..tester.offer };
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let answer = tester.next_sent();
    assert_eq!(tester.describe(&answer), "INIT-ACK(rwnd 262144 os 1 mis 2048 [7])");
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let cookie = tester.take_cookie();
    tester.receive(&[cookie]);
    tester.expect("COOKIE-ACK");
    tester.expect_event(&established(1, 100));
    tester.expect_alive();
}

#[test]
fn i_1_7_2_an_init_without_outbound_streams_is_aborted() {
    let mut tester = Tester::listening(config());
    tester.offer.outbound_streams = 0;
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    tester.expect("ABORT cause 7");
    tester.expect_silence();
    assert_eq!(tester.endpoint.association_count(), 0);
}

#[test]
fn v_1_7_3_fewer_inbound_streams_of_an_init_ack_bound_the_outbound_streams() {
    let mut tester = Tester::new(SctpConfig { outbound_streams: 2, inbound_streams: 1, ..config() });
    tester.offer = InitFields { outbound_streams: 1, inbound_streams: 1, ..tester.offer };
    tester.connect();
    tester.expect("[tag 0] INIT(rwnd 262144 os 2 mis 1 [12])");
    tester.receive(&[tester.init_ack(Vec::new())]);
    tester.expect("COOKIE-ECHO(4)");
    tester.receive(&[cookie_ack()]);
    tester.expect_event(&established(1, 1));
    tester.expect_alive();
}

#[test]
fn i_1_7_4_an_init_ack_without_outbound_streams_is_aborted() {
    let mut tester = Tester::cookie_wait(config());
    tester.offer.outbound_streams = 0;
    tester.receive(&[tester.init_ack(Vec::new())]);
    tester.expect("ABORT cause 7");
    tester.expect_end(CloseReason::Aborted(Cause::InvalidMandatoryParameter));
    tester.wait_ms(600_000);
    tester.expect_silence();
}

#[test]
fn v_1_7_5_two_streams_each_way_are_supported() {
    let mut tester = Tester::listening(SctpConfig { outbound_streams: 2, inbound_streams: 2, ..config() });
    tester.offer = InitFields { outbound_streams: 2, inbound_streams: 2, ..tester.offer };
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::InitAck(InitAck { fields, .. })] = &chunks[..] else { panic!("no INIT ACK") };
    assert_eq!((fields.outbound_streams, fields.inbound_streams), (2, 2));
    tester.set_up();
    tester.expect_alive();
}

/// An INIT with an unknown parameter in front of an address that proves whether what follows is read: the parameters
/// that are reported, and how many addresses the association has.
fn unknown_parameter(kind: u16) -> (Vec<Parameter>, usize) {
    let mut tester = Tester::listening(config());
    let unknown = Parameter::Unknown { kind, value: Bytes::from_static(&[1, 2, 3, 4]) };
    let parameters = vec![unknown, Parameter::Address(peer(1))];
    tester.receive_tagged(0, &[tester.init(parameters.clone())]);
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::InitAck(init_ack)] = &chunks[..] else { panic!("no INIT ACK") };
    let reported = init_ack.parameters.iter().filter(|parameter| parameter.kind() == 8).cloned();
    let reported = reported.collect();
    tester.receive_tagged(0, &[tester.init(parameters)]);
    let cookie = tester.take_cookie();
    tester.receive(&[cookie]);
    // With a HEARTBEAT behind it to an address that is not confirmed.
    tester.expect("COOKIE-ACK");
    assert_eq!(tester.skip_event(), established(4, 4));
    let addresses = tester.endpoint.peer(tester.id.unwrap()).unwrap().addresses.len();
    (reported, addresses)
}

fn report(kind: u16) -> Vec<Parameter> {
    let unknown = Parameter::Unknown { kind, value: Bytes::from_static(&[1, 2, 3, 4]) };
    vec![Parameter::UnrecognizedParameter(unknown.to_bytes())]
}

#[test]
fn i_1_8_1_an_unknown_parameter_of_an_init_with_bits_11_is_reported_and_skipped() {
    assert_eq!(unknown_parameter(0xffff), (report(0xffff), 2));
}

#[test]
fn i_1_8_2_an_unknown_parameter_of_an_init_with_bits_00_ends_its_reading() {
    assert_eq!(unknown_parameter(0x3fff), (Vec::new(), 1));
}

#[test]
fn i_1_8_3_an_unknown_parameter_of_an_init_with_bits_01_is_reported_and_ends_its_reading() {
    assert_eq!(unknown_parameter(0x7fff), (report(0x7fff), 1));
}

#[test]
fn i_1_8_4_an_unknown_parameter_of_an_init_with_bits_10_is_skipped() {
    assert_eq!(unknown_parameter(0xbfff), (Vec::new(), 2));
}

#[test]
fn o_1_9_1_an_init_with_known_addresses_is_answered_and_the_association_stays() {
    let mut tester = Tester::passive(config());
    let tag = tester.tag;
    tester.offer.initiate_tag = VerificationTag(PEER_TAG + 1);
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let Sent { tag: answered, chunks, .. } = tester.next_sent();
    let [Chunk::InitAck(InitAck { fields, .. })] = &chunks[..] else { panic!("no INIT ACK") };
    assert_eq!(answered, VerificationTag(PEER_TAG + 1));
    assert_ne!(fields.initiate_tag, tag);
    tester.expect_alive();
}

#[test]
fn o_1_9_2_an_init_with_new_addresses_is_aborted_and_the_association_stays() {
    let mut tester = Tester::passive(config());
    tester.offer.initiate_tag = VerificationTag(PEER_TAG + 1);
    let address = Parameter::Address(peer(1));
    tester.receive_tagged(0, &[tester.init(vec![address.clone()])]);
    let Sent { tag, chunks, .. } = tester.next_sent();
    assert_eq!(tag, VerificationTag(PEER_TAG + 1));
    let [Chunk::Abort(abort)] = &chunks[..] else { panic!("no ABORT") };
    assert_eq!(abort.causes, [Cause::RestartWithNewAddresses(address.to_bytes())]);
    assert!(!abort.is_tag_reflected);
    tester.expect_alive();
}

/// The peer's addresses in a tester whose association has just been set up.
fn addresses(tester: &Tester) -> Vec<IpAddr> {
    tester.endpoint.peer(tester.id.unwrap()).unwrap().addresses.to_vec()
}

#[test]
fn v_1_10_1_without_addresses_in_the_init_its_source_is_the_peers_address() {
    let tester = Tester::passive(config());
    assert_eq!(addresses(&tester), [peer(0)]);
}

#[test]
fn v_1_10_2_without_addresses_in_the_init_ack_its_source_is_the_peers_address() {
    let tester = Tester::active(config());
    assert_eq!(addresses(&tester), [peer(0)]);
}

#[test]
fn v_1_11_1_addresses_in_the_init_and_its_source_are_the_peers_addresses() {
    let mut tester = Tester::with_networks(config(), 3);
    tester.listen();
    let listed = vec![Parameter::Address(peer(1)), Parameter::Address(peer(2))];
    tester.receive_tagged(0, &[tester.init(listed)]);
    let cookie = tester.take_cookie();
    tester.receive(&[cookie]);
    // Each address that is only listed is probed, one per RTO (HB.Max.Burst), before anything else goes there.
    tester.wait_ms(0);
    tester.expect_all(&["COOKIE-ACK", "> 10.0.1.2 HEARTBEAT"]);
    assert_eq!(addresses(&tester), [peer(0), peer(1), peer(2)]);
    tester.expire_after_ms(1_000);
    tester.expect_all(&["> 10.0.1.2 HEARTBEAT", "> 10.0.2.2 HEARTBEAT"]);
}

#[test]
fn v_1_11_2_addresses_in_the_init_ack_and_its_source_are_the_peers_addresses() {
    let mut tester = Tester::with_networks(config(), 2);
    tester.networks = 1;
    tester.connect();
    tester.expect("[tag 0] INIT(rwnd 262144 os 16 mis 2048 [5, 5, 12])");
    tester.receive(&[tester.init_ack(vec![Parameter::Address(peer(1))])]);
    tester.expect("COOKIE-ECHO(4)");
    tester.receive(&[cookie_ack()]);
    tester.wait_ms(0);
    tester.expect("> 10.0.1.2 HEARTBEAT");
    tester.expect_event(&established(4, 4));
    tester.expect_silence();
    assert_eq!(addresses(&tester), [peer(0), peer(1)]);
}

fn host_name() -> Parameter {
    Parameter::HostNameAddress(Bytes::from_static(b"a.b\0"))
}

#[test]
fn v_1_12_1_an_init_with_a_host_name_is_aborted() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(vec![host_name()])]);
    let Sent { tag, chunks, .. } = tester.next_sent();
    let [Chunk::Abort(abort)] = &chunks[..] else { panic!("no ABORT") };
    assert_eq!((tag, &abort.causes[..]), (VerificationTag(PEER_TAG), &[unresolvable()][..]));
    tester.expect_silence();
    assert_eq!(tester.endpoint.association_count(), 0);
}

fn unresolvable() -> Cause {
    Cause::UnresolvableAddress(host_name().to_bytes())
}

#[test]
fn i_1_12_2_an_init_ack_with_a_host_name_is_aborted() {
    let mut tester = Tester::cookie_wait(config());
    tester.receive(&[tester.init_ack(vec![host_name()])]);
    tester.expect("ABORT cause 5");
    tester.expect_end(CloseReason::Aborted(unresolvable()));
    tester.wait_ms(600_000);
    tester.expect_silence();
}

#[test]
fn v_1_13_1_an_init_whose_supported_address_types_include_the_one_in_use_is_accepted() {
    let mut tester = Tester::listening(config());
    let types = Parameter::SupportedAddressTypes([5].into_iter().collect());
    tester.receive_tagged(0, &[tester.init(vec![types])]);
    tester.expect(INIT_ACK);
    tester.expect_silence();
}

#[test]
fn i_1_13_2_an_init_over_an_address_type_that_it_does_not_list_is_accepted_all_the_same() {
    let mut tester = Tester::listening(config());
    let types = Parameter::SupportedAddressTypes([6].into_iter().collect());
    tester.receive_tagged(0, &[tester.init(vec![types])]);
    let cookie = tester.take_cookie();
    tester.receive(&[cookie]);
    tester.expect("COOKIE-ACK");
    tester.expect_event(&established(4, 4));
    tester.expect_alive();
}

#[test]
fn i_1_14_1_an_init_with_initiate_tag_zero_begins_nothing() {
    let mut tester = Tester::listening(config());
    tester.offer.initiate_tag = VerificationTag::ZERO;
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    // RFC 9260, section 3.3.2: in silence. RFC 2960 wanted an ABORT, whose tag could only have been zero.
    tester.wait(Duration::from_secs(600));
    tester.expect_silence();
    assert_eq!(tester.endpoint.association_count(), 0);
    assert_eq!(tester.endpoint.stats().malformed_packets, 1);
    tester.offer.initiate_tag = VerificationTag(PEER_TAG);
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    tester.expect(INIT_ACK);
}

#[test]
fn i_1_14_2_an_init_ack_with_initiate_tag_zero_ends_the_association() {
    let mut tester = Tester::cookie_wait(config());
    let VerificationTag(tag) = tester.tag;
    tester.offer.initiate_tag = VerificationTag::ZERO;
    tester.receive(&[tester.init_ack(Vec::new())]);
    tester.expect(&format!("[tag {tag}] ABORT(T) cause 7"));
    tester.expect_end(CloseReason::Aborted(Cause::InvalidMandatoryParameter));
    tester.wait_ms(600_000);
    tester.expect_silence();
}

#[test]
fn i_1_15_an_init_is_sent_again_to_the_other_addresses_of_the_peer() {
    let mut tester = Tester::with_networks(config(), 2);
    tester.connect();
    let init = "[tag 0] INIT(rwnd 262144 os 16 mis 2048 [5, 5, 12])";
    tester.expect(init);
    for (timeout, network) in [(1_000, 1), (1_000, 0), (2_000, 1), (2_000, 0)] {
        tester.expire_after_ms(timeout);
        let to = if network == 1 { "> 10.0.1.2 " } else { "" };
        tester.expect(&format!("{to}{init}"));
    }
    // The second address answers.
    let init_ack = tester.init_ack(vec![Parameter::Address(peer(0))]);
    tester.receive_over(1, &[init_ack]);
    tester.expect("> 10.0.1.2 COOKIE-ECHO(4)");
    tester.expect_silence();
}
