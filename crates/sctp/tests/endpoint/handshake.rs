//! Setting an association up (RFC 9260, section 5.1).

use crate::net::{self, Net, header, parse, v4};
use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::{Abort, CookieAck, Error, Heartbeat, InitAck, ShutdownAck};
use slantpath_sctp::{
    Acceptance, Cause, Chunk, CloseReason, ConnectError, ConnectOptions, Event, Message, Parameter, Ppid,
    SctpConfig, SendError, StreamId, VerificationTag,
};

fn config() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

/// Two hosts with one address each; the second listens.
fn two() -> (Net, usize, usize) {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    (net, a, z)
}

fn established(outbound_streams: u16, inbound_streams: u16) -> Event {
    Event::Established { outbound_streams, inbound_streams }
}

#[test]
fn four_packets_set_an_association_up() {
    let (mut net, a, z) = two();
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    assert_eq!(
        net.trace(0),
        "0 s 10.0.1.1 > 10.0.1.2 INIT\n\
         10 ms 10.0.1.2 > 10.0.1.1 INIT-ACK\n\
         20 ms 10.0.1.1 > 10.0.1.2 COOKIE-ECHO\n\
         30 ms 10.0.1.2 > 10.0.1.1 COOKIE-ACK\n"
    );
    assert_eq!(net.events(a), [established(16, 16)]);
    assert_eq!(net.events(z), [established(16, 16)]);
    // Figure 4 of the RFC: which tag each packet carries.
    let chunks: Vec<_> = net.sent.iter().map(|sent| parse(&sent.packet)).collect();
    let [(_, init), (_, init_ack)] = [&chunks[0], &chunks[1]].map(|(header, chunks)| (header, chunks));
    let (Chunk::Init(init), Chunk::InitAck(init_ack)) = (&init[0], &init_ack[0]) else {
        panic!("{chunks:?}")
    };
    let tags: Vec<_> = chunks.iter().map(|(header, _)| header.verification_tag).collect();
    let (tag_a, tag_z) = (init.fields.initiate_tag, init_ack.fields.initiate_tag);
    assert_eq!(tags, [VerificationTag::ZERO, tag_a, tag_z, tag_a]);
}

#[test]
fn each_side_sends_on_no_more_streams_than_the_other_takes() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 1, SctpConfig { outbound_streams: 20, inbound_streams: 3, ..config() });
    let z = net.add(&[v4(1, 2)], 1, SctpConfig { outbound_streams: 5, inbound_streams: 7, ..config() });
    net.listen(z);
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.events(a), [established(7, 3)]);
    assert_eq!(net.events(z), [established(3, 7)]);
}

#[test]
fn a_lost_packet_of_the_handshake_is_sent_again_after_rto_initial() {
    for lost in 0..4 {
        let (mut net, a, z) = two();
        net.connect(a, z);
        for packet in 0..lost {
            net.run_until(Instant::from_millis(10 * (packet + 1)));
        }
        net.drop_under_way();
        net.run_for(Duration::from_secs(3));
        assert!(net.events(a).contains(&established(16, 16)), "packet {lost}");
        assert!(net.events(z).contains(&established(16, 16)), "packet {lost}");
        let again = net.sent.iter().find(|sent| sent.at >= Instant::from_secs(1)).unwrap();
        let expected = if lost < 2 { Instant::from_secs(1) } else { Instant::from_millis(1_020) };
        assert_eq!(again.at, expected, "packet {lost}");
    }
}

#[test]
fn init_backs_off_and_gives_up_after_max_init_retransmits() {
    let (mut net, a, z) = two();
    net.cut(v4(1, 1), v4(1, 2));
    let id = net.connect(a, z);
    net.send(a, id, 0, "never");
    net.run_for(Duration::from_secs(600));
    let seconds: Vec<_> = net.sent.iter().map(|sent| sent.at.as_nanos() / 1_000_000_000).collect();
    // 1, 2, 4, … with RTO.Max at 60 s; Max.Init.Retransmits is 8.
    assert_eq!(seconds, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    let packets: Vec<_> = net.sent.iter().map(|sent| sent.packet.contiguous()).collect();
    assert!(packets.iter().all(|packet| *packet == packets[0]), "the same INIT with the same tag");
    let events = net.events(a);
    assert!(
        matches!(&events[0], Event::SendFailed { message, .. } if message.payload == "never"),
        "{events:?}"
    );
    assert_eq!(events[1..], [Event::Closed(CloseReason::PeerUnreachable)]);
    assert_eq!(net.hosts[a].endpoint.association_count(), 0);
}

#[test]
fn cookie_echo_backs_off_and_gives_up_after_max_init_retransmits() {
    let (mut net, a, z) = two();
    net.connect(a, z);
    net.run_until(Instant::from_millis(15));
    net.cut(v4(1, 1), v4(1, 2));
    net.run_for(Duration::from_secs(600));
    assert_eq!(net.sent.len(), 2 + 1 + 8, "{}", net.trace(0));
    assert_eq!(net.events(a), [Event::Closed(CloseReason::PeerUnreachable)]);
    assert_eq!(net.events(z), []);
}

#[test]
fn init_is_repeated_to_the_peers_other_addresses() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1), v4(2, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2), v4(2, 2)], 2_905, config());
    net.listen(z);
    net.cut(v4(1, 1), v4(1, 2));
    net.connect(a, z);
    net.run_for(Duration::from_secs(2));
    let trace = net.trace(0);
    let lines: Vec<_> = trace.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "0 s 10.0.1.1 > 10.0.1.2 INIT",
            "1 s 10.0.2.1 > 10.0.2.2 INIT",
            "1.01 s 10.0.2.2 > 10.0.2.1 INIT-ACK",
            "1.02 s 10.0.2.1 > 10.0.2.2 COOKIE-ECHO",
        ],
        "{trace}"
    );
    net.run_for(Duration::from_secs(2));
    assert!(net.established(a).is_some() && net.established(z).is_some(), "{}", net.trace(0));
}

#[test]
fn a_message_sent_at_once_travels_behind_the_cookie_echo() {
    let (mut net, a, z) = two();
    let id = net.connect(a, z);
    net.send(a, id, 3, "early");
    net.run_until(Instant::from_millis(30));
    assert_eq!(net::describe(&net.sent[2].packet), "COOKIE-ECHO DATA(5)");
    let events = net.events(z);
    assert_eq!(events[0], established(16, 16));
    let Event::Received(message) = &events[1] else { panic!("{events:?}") };
    assert_eq!((message.stream, &message.payload[..]), (StreamId(3), &b"early"[..]));
    net.run_for(Duration::from_secs(1));
    // RFC 9260, section 5.1.5, steps 6 and 7: the first SACK at once, behind the COOKIE ACK.
    assert_eq!(net::describe(&net.sent[3].packet), "COOKIE-ACK SACK(0 gaps)");
    assert_eq!(net.sent.len(), 4, "{}", net.trace(0));
}

#[test]
fn data_behind_a_lost_cookie_echo_is_delivered_once() {
    let (mut net, a, z) = two();
    let id = net.connect(a, z);
    net.send(a, id, 3, "early");
    net.run_until(Instant::from_millis(20));
    net.drop_under_way();
    net.send(a, id, 3, "later");
    net.run_for(Duration::from_secs(20));
    let payloads: Vec<_> = net.received(z).into_iter().map(|message| message.payload).collect();
    assert_eq!(payloads, ["early", "later"]);
}

#[test]
fn shutdown_during_the_handshake_delivers_first() {
    let (mut net, a, z) = two();
    let id = net.connect(a, z);
    net.send(a, id, 0, "last words");
    net.shutdown(a, id);
    let refused = net.hosts[a].endpoint.send(net.now, id, message(0, "more"));
    assert_eq!(refused, Err(SendError::ShuttingDown));
    net.run_for(Duration::from_secs(5));
    let events = net.events(z);
    assert!(events.iter().any(|event| matches!(event, Event::Received(_))), "{events:?}");
    assert_eq!(events.last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
    assert_eq!(net.events(a).last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
}

fn message(stream: u16, payload: &'static str) -> Message {
    let (stream, payload) = (StreamId(stream), Bytes::from_static(payload.as_bytes()));
    Message { stream, ppid: Ppid(0), payload, is_unordered: false, context: 0, options: None }
}

#[test]
fn messages_that_cannot_be_sent_are_refused_before_the_association_is_there() {
    let (mut net, a, z) = two();
    let id = net.connect(a, z);
    let endpoint = &mut net.hosts[a].endpoint;
    let refused = endpoint.send(Instant::START, id, message(16, "x"));
    assert_eq!(refused, Err(SendError::NoSuchStream { stream: StreamId(16), available: 16 }));
    assert_eq!(endpoint.send(Instant::START, id, message(0, "")), Err(SendError::Empty));
}

#[test]
fn a_message_on_a_stream_that_was_not_granted_comes_back() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, SctpConfig { inbound_streams: 2, ..config() });
    net.listen(z);
    let id = net.connect(a, z);
    net.send(a, id, 2, "too high");
    net.send(a, id, 1, "high enough");
    net.run_for(Duration::from_secs(1));
    let events = net.events(a);
    assert!(
        matches!(&events[0], Event::SendFailed { message, .. } if message.stream == StreamId(2)),
        "{events:?}"
    );
    let streams: Vec<_> = net.received(z).into_iter().map(|message| message.stream).collect();
    assert_eq!(streams, [StreamId(1)]);
}

#[test]
fn abort_in_cookie_wait_is_silent_and_in_cookie_echoed_is_not() {
    for (millis, last) in [(5, "INIT"), (25, "ABORT[12]")] {
        let (mut net, a, z) = two();
        let id = net.connect(a, z);
        net.run_until(Instant::from_millis(millis));
        net.abort(a, id, "enough");
        assert_eq!(net::describe(&net.sent.last().unwrap().packet), last);
        let cause = Cause::UserInitiatedAbort(Bytes::from_static(b"enough"));
        assert_eq!(net.events(a), [Event::Closed(CloseReason::Aborted(cause))]);
    }
}

#[test]
fn a_peer_that_does_not_listen_aborts() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.events(a), [Event::Closed(CloseReason::PeerAborted(Vec::new()))]);
}

/// Both cookies were signed while there was room, and while it listened.
#[test]
fn a_cookie_that_comes_when_there_is_no_room_or_nobody_listens_any_more_is_aborted() {
    for (is_full, answer) in [(true, "ABORT[4]"), (false, "ABORT[]")] {
        let mut net = Net::calm();
        let a = net.add(&[v4(1, 1)], 5_000, config());
        let b = net.add(&[v4(1, 3)], 5_000, config());
        let z = net.add(&[v4(1, 2)], 2_905, SctpConfig { max_associations: 1, ..config() });
        net.listen(z);
        if is_full {
            net.connect(a, z);
        }
        net.connect(b, z);
        net.run_until(Instant::from_millis(20));
        let acceptance = if is_full { Acceptance::ByPeer } else { Acceptance::Refused };
        assert!(net.hosts[z].endpoint.listen(2_905, acceptance));
        net.run_until(Instant::from_millis(30));
        assert_eq!(net::describe(&net.sent.last().unwrap().packet), answer);
        assert_eq!(net.hosts[z].endpoint.association_count(), usize::from(is_full));
    }
}

#[test]
fn an_endpoint_that_is_full_aborts_for_lack_of_resources() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let b = net.add(&[v4(1, 3)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, SctpConfig { max_associations: 1, ..config() });
    net.listen(z);
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    net.connect(b, z);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.events(b), [Event::Closed(CloseReason::PeerAborted(vec![Cause::OutOfResource]))]);
    assert!(net.established(a).is_some());
}

#[test]
fn nobody_connects_twice_or_to_nowhere() {
    let (mut net, a, z) = two();
    net.connect(a, z);
    let mut connect = |peer_addresses: &[&str], peer_port, primary: Option<&str>| {
        let options = ConnectOptions {
            local_port: net.hosts[a].port,
            peer_addresses: peer_addresses.iter().map(|text| text.parse().unwrap()).collect(),
            peer_port,
            primary: primary.map(|text| text.parse().unwrap()),
            ..ConnectOptions::default()
        };
        net.hosts[a].endpoint.connect(Instant::START, &options).unwrap_err()
    };
    assert_eq!(connect(&["10.0.1.2"], 2_905, None), ConnectError::AlreadyAssociated(v4(1, 2)));
    assert_eq!(connect(&["10.0.1.9"], 0, None), ConnectError::Unusable { address: v4(1, 9), port: 0 });
    assert_eq!(connect(&[], 7, None), ConnectError::Unreachable);
    assert_eq!(connect(&["fd00::1"], 7, None), ConnectError::Unreachable);
    assert_eq!(connect(&["10.0.1.9"], 7, Some("10.0.1.8")), ConnectError::UnknownPrimary(v4(1, 8)));
    assert!(matches!(connect(&["224.0.0.1"], 7, None), ConnectError::Unusable { .. }));
}

/// Lets an INIT ACK through after a change to it.
fn with_init_ack(change: impl FnOnce(&mut InitAck)) -> (Net, usize) {
    let (mut net, a, z) = two();
    net.connect(a, z);
    net.run_until(Instant::from_millis(10));
    net.drop_under_way();
    let sent = net.sent.last().unwrap().clone();
    let (header, chunks) = parse(&sent.packet);
    let [Chunk::InitAck(init_ack)] = &chunks[..] else { panic!("{chunks:?}") };
    let mut init_ack = init_ack.clone();
    change(&mut init_ack);
    net.inject_chunks(sent.route, header, &[Chunk::InitAck(init_ack)]);
    (net, a)
}

#[test]
fn an_init_ack_without_a_cookie_misses_a_mandatory_parameter() {
    let (mut net, a) = with_init_ack(|init_ack| init_ack.parameters.clear());
    let cause = Cause::MissingMandatoryParameter([7].into_iter().collect());
    assert_eq!(net.events(a), [Event::Closed(CloseReason::Aborted(cause))]);
    assert_eq!(net::describe(&net.sent.last().unwrap().packet), "ABORT[2]");
}

#[test]
fn an_init_ack_with_an_invalid_field_ends_the_association() {
    type Change = fn(&mut InitAck);
    let changes: [(Change, &str); 3] = [
        (|init_ack| init_ack.fields.outbound_streams = 0, "ABORT[7]"),
        (|init_ack| init_ack.fields.inbound_streams = 0, "ABORT[7]"),
        (|init_ack| init_ack.fields.initiate_tag = VerificationTag::ZERO, "ABORT(T)[7]"),
    ];
    for (change, answer) in changes {
        let (mut net, a) = with_init_ack(change);
        let closed = Event::Closed(CloseReason::Aborted(Cause::InvalidMandatoryParameter));
        assert_eq!(net.events(a), [closed]);
        assert_eq!(net::describe(&net.sent.last().unwrap().packet), answer);
    }
}

#[test]
fn an_init_ack_with_too_small_a_window_is_aborted_but_the_setup_goes_on() {
    let (mut net, a) = with_init_ack(|init_ack| init_ack.fields.a_rwnd = 1_499);
    assert_eq!(net::describe(&net.sent.last().unwrap().packet), "ABORT[7]");
    assert_eq!(net.events(a), []);
    net.run_for(Duration::from_secs(3));
    assert_eq!(net.events(a), [established(16, 16)]);
    let (net, _) = with_init_ack(|init_ack| init_ack.fields.a_rwnd = 1_500);
    assert_eq!(net::describe(&net.sent.last().unwrap().packet), "COOKIE-ECHO");
}

/// Section 8.4, rule 5, also with the tag of the association that is being set up.
#[test]
fn a_shutdown_ack_during_a_setup_is_completed_and_the_setup_goes_on() {
    for until_ms in [5, 25] {
        let (mut net, a, z) = two();
        net.connect(a, z);
        net.run_until(Instant::from_millis(until_ms));
        let (_, init) = parse(&net.sent[0].packet);
        let Chunk::Init(init) = &init[0] else { panic!("{init:?}") };
        let tag = init.fields.initiate_tag.0;
        net.inject_chunks(
            (v4(1, 2), v4(1, 1)),
            header(2_905, 5_000, tag),
            &[Chunk::ShutdownAck(ShutdownAck)],
        );
        assert_eq!(net::describe(&net.sent.last().unwrap().packet), "SHUTDOWN-COMPLETE(T)", "{until_ms} ms");
        net.run_for(Duration::from_secs(1));
        assert_eq!(net.events(a), [established(16, 16)]);
    }
}

#[test]
fn an_error_in_cookie_echoed_is_passed_on_and_the_setup_goes_on() {
    let (mut net, a, z) = two();
    net.connect(a, z);
    net.run_until(Instant::from_millis(25));
    let (header, _) = parse(&net.sent[1].packet);
    for causes in [vec![Cause::OutOfResource], vec![]] {
        net.inject_chunks((v4(1, 2), v4(1, 1)), header, &[Chunk::Error(Error { causes })]);
    }
    assert_eq!(net.events(a), [Event::PeerReported(vec![Cause::OutOfResource])]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.events(a), [established(16, 16)]);
}

#[test]
fn a_shutdown_in_cookie_echoed_follows_the_setup() {
    let (mut net, a, z) = two();
    let id = net.connect(a, z);
    net.run_until(Instant::from_millis(25));
    net.shutdown(a, id);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.events(a), [established(16, 16), Event::Closed(CloseReason::ShutdownComplete)]);
}

#[test]
fn before_the_association_is_there_the_send_buffer_takes_as_much_as_it_holds() {
    let (_, a, z) = two();
    let mut net = Net::calm();
    for (host, last) in [(a, 1), (z, 2)] {
        net.add(&[v4(1, last)], 5_000, SctpConfig { send_buffer_bytes: 1_000, ..config() });
        assert_eq!(net.hosts.len(), host + 1);
    }
    for lens in [&[1_000][..], &[400, 600]] {
        let id = net.connect(a, z);
        for len in lens {
            net.send(a, id, 0, vec![7; *len]);
        }
        let refused = net.hosts[a].endpoint.send(net.now, id, of_len(1));
        assert_eq!(refused, Err(SendError::BufferFull { wanted: 1, free: 0 }));
        net.abort(a, id, "enough");
    }
}

#[test]
fn a_heartbeat_in_cookie_echoed_is_answered() {
    let (mut net, a, z) = two();
    net.connect(a, z);
    net.run_until(Instant::from_millis(20));
    let (header, _) = parse(&net.sent[1].packet);
    let probe = Chunk::Heartbeat(Heartbeat::new(Bytes::from_static(b"are you there")));
    net.inject_chunks((v4(1, 2), v4(1, 1)), header, &[probe]);
    assert_eq!(net::describe(&net.sent.last().unwrap().packet), "HEARTBEAT-ACK");
}

#[test]
fn a_cookie_ack_counts_wherever_in_its_packet_it_stands() {
    let probe = Chunk::Heartbeat(Heartbeat::new(Bytes::from_static(b"are you there")));
    let report = Chunk::Error(Error::because(Cause::InvalidStreamIdentifier(StreamId(3))));
    let reported = Event::PeerReported(vec![Cause::InvalidStreamIdentifier(StreamId(3))]);
    for (first, event, answer) in [(probe, None, "HEARTBEAT-ACK"), (report, Some(reported), "COOKIE-ECHO")] {
        let (mut net, a, z) = two();
        net.connect(a, z);
        net.run_until(Instant::from_millis(20));
        net.drop_under_way();
        let (header, _) = parse(&net.sent[1].packet);
        // The peer, which has no association, need not hear of it.
        net.cut(v4(1, 1), v4(1, 2));
        net.inject_chunks((v4(1, 2), v4(1, 1)), header, &[first, Chunk::CookieAck(CookieAck)]);
        let expected: Vec<_> = [established(16, 16)].into_iter().chain(event).collect();
        assert_eq!(net.events(a), expected);
        assert_eq!(net::describe(&net.sent.last().unwrap().packet), answer);
        // T1-cookie has been stopped.
        let sent = net.sent.len();
        net.run_for(Duration::from_secs(10));
        assert_eq!(net.sent.len(), sent, "{}", net.trace(0));
    }
}

/// Section 8.5.1, rule B, before the association is there: our tag without the T bit, or the peer's, as far as it is
/// known, with it.
#[test]
fn an_abort_ends_a_setup_with_our_tag_or_with_the_peers_and_the_t_bit() {
    for is_echoed in [false, true] {
        for (has_own_tag, is_tag_reflected) in [(true, false), (true, true), (false, true), (false, false)] {
            let (mut net, a, z) = two();
            net.connect(a, z);
            net.run_until(Instant::from_millis(if is_echoed { 20 } else { 0 }));
            let (_, init) = parse(&net.sent[0].packet);
            let Chunk::Init(init) = &init[0] else { panic!("{init:?}") };
            let peer_tag = if is_echoed { parse(&net.sent[2].packet).0.verification_tag.0 } else { 4_711 };
            net.drop_under_way();
            let tag = if has_own_tag { init.fields.initiate_tag.0 } else { peer_tag };
            let probe = Chunk::Heartbeat(Heartbeat::new(Bytes::from_static(b"and goodbye")));
            let abort = Chunk::Abort(Abort { is_tag_reflected, causes: Vec::new() });
            // The peer's tag comes in with an ABORT in front only.
            let chunks = if has_own_tag { vec![probe, abort] } else { vec![abort] };
            net.inject_chunks((v4(1, 2), v4(1, 1)), header(2_905, 5_000, tag), &chunks);
            let ends = if has_own_tag { !is_tag_reflected } else { is_tag_reflected && is_echoed };
            let closed = Event::Closed(CloseReason::PeerAborted(Vec::new()));
            let expected = if ends { vec![closed] } else { Vec::new() };
            assert_eq!(net.events(a), expected, "{is_echoed}, own tag {has_own_tag}, T {is_tag_reflected}");
        }
    }
}

#[test]
fn a_cookie_echo_is_repeated_without_data() {
    let (mut net, a, z) = two();
    let id = net.connect(a, z);
    net.send(a, id, 3, "early");
    net.run_until(Instant::from_millis(20));
    net.drop_under_way();
    net.send(a, id, 3, "later");
    net.run_until(Instant::from_millis(1_020));
    assert_eq!(
        net.trace(2).lines().collect::<Vec<_>>(),
        ["20 ms 10.0.1.1 > 10.0.1.2 COOKIE-ECHO DATA(5)", "1.02 s 10.0.1.1 > 10.0.1.2 COOKIE-ECHO"]
    );
}

#[test]
fn a_host_name_in_an_init_ack_is_unresolvable() {
    let name = Parameter::HostNameAddress(Bytes::from_static(b"z\0"));
    let (net, _) = with_init_ack(|init_ack| init_ack.parameters.push(name));
    assert_eq!(net::describe(&net.sent.last().unwrap().packet), "ABORT[5]");
}

#[test]
fn unknown_parameters_of_an_init_ack_are_reported_behind_the_cookie_echo() {
    let unknown = |kind| Parameter::Unknown { kind, value: Bytes::from_static(b"?") };
    let (net, _) = with_init_ack(|init_ack| {
        init_ack.parameters.extend([unknown(0xc001), unknown(0x80f1), unknown(0xc002)]);
    });
    let (_, chunks) = parse(&net.sent.last().unwrap().packet);
    let [Chunk::CookieEcho(_), Chunk::Error(Error { causes })] = &chunks[..] else { panic!("{chunks:?}") };
    let mut both = unknown(0xc001).to_bytes().to_vec();
    both.extend_from_slice(&unknown(0xc002).to_bytes());
    assert_eq!(causes[..], [Cause::UnrecognizedParameters(both.into())]);
}

#[test]
fn unknown_parameters_of_an_init_are_reported_in_the_init_ack() {
    let (mut net, a, z) = two();
    net.connect(a, z);
    net.drop_under_way();
    let sent = net.sent.last().unwrap().clone();
    let (header, chunks) = parse(&sent.packet);
    let [Chunk::Init(init)] = &chunks[..] else { panic!("{chunks:?}") };
    let mut init = init.clone();
    let unknown = Parameter::Unknown { kind: 0xc001, value: Bytes::from_static(b"?") };
    init.parameters.push(unknown.clone());
    net.inject_chunks(sent.route, header, &[Chunk::Init(init)]);
    let (_, chunks) = parse(&net.sent.last().unwrap().packet);
    let [Chunk::InitAck(init_ack)] = &chunks[..] else { panic!("{chunks:?}") };
    let report = Parameter::UnrecognizedParameter(unknown.to_bytes());
    assert!(init_ack.parameters.contains(&report), "{init_ack:?}");
}

#[test]
fn an_init_that_cannot_be_accepted_is_aborted_with_its_own_tag() {
    let fields = |tag: u32| slantpath_sctp::chunk::InitFields {
        initiate_tag: VerificationTag(tag),
        a_rwnd: 1_500,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: slantpath_sctp::Tsn(1),
    };
    let no_outbound = slantpath_sctp::chunk::InitFields { outbound_streams: 0, ..fields(9) };
    let no_inbound = slantpath_sctp::chunk::InitFields { inbound_streams: 0, ..fields(9) };
    let small = slantpath_sctp::chunk::InitFields { a_rwnd: 1_499, ..fields(9) };
    let name = vec![Parameter::HostNameAddress(Bytes::from_static(b"a\0"))];
    let cases = [
        (no_outbound, Vec::new(), Some("ABORT[7]")),
        (no_inbound, Vec::new(), Some("ABORT[7]")),
        (small, Vec::new(), Some("ABORT[7]")),
        (fields(9), name, Some("ABORT[5]")),
        (fields(0), Vec::new(), None),
        (fields(9), Vec::new(), Some("INIT-ACK")),
    ];
    for (fields, parameters, answer) in cases {
        let (mut net, _, _) = two();
        let init = Chunk::Init(slantpath_sctp::chunk::Init { fields, parameters });
        net.inject_chunks((v4(1, 1), v4(1, 2)), header(5_000, 2_905, 0), &[init]);
        let answered = net.sent.last().map(|sent| net::describe(&sent.packet));
        assert_eq!(answered.as_deref(), answer);
        if let Some(sent) = net.sent.last() {
            assert_eq!(parse(&sent.packet).0.verification_tag, VerificationTag(9));
        }
    }
}

#[test]
fn a_stale_cookie_is_fetched_anew_with_a_longer_life() {
    let (mut net, a, z) = two();
    let id = net.connect(a, z);
    net.send(a, id, 0, "patience");
    net.run_until(Instant::from_millis(25));
    net.drop_under_way();
    // The peer says that the cookie came too late.
    let (header, _) = parse(&net.sent[1].packet);
    let stale_by = |staleness_us| Cause::StaleCookie { staleness_us };
    net.inject_chunks((v4(1, 2), v4(1, 1)), header, &[Chunk::Error(Error::because(stale_by(5)))]);
    let (_, chunks) = parse(&net.sent.last().unwrap().packet);
    let [Chunk::Init(init)] = &chunks[..] else { panic!("{chunks:?}") };
    // 5 ms round trip and a second.
    let with = |increment_ms| {
        let families = Parameter::SupportedAddressTypes([5].into_iter().collect());
        [families, Parameter::CookiePreservative { increment_ms }]
    };
    assert_eq!(init.parameters, with(1_005));
    // And once more, 27 ms later: it asks once, for what it knows last.
    net.run_for(Duration::from_millis(27));
    net.drop_under_way();
    net.inject_chunks((v4(1, 2), v4(1, 1)), header, &[Chunk::Error(Error::because(stale_by(5)))]);
    let (_, chunks) = parse(&net.sent.last().unwrap().packet);
    let [Chunk::Init(init)] = &chunks[..] else { panic!("{chunks:?}") };
    assert_eq!(init.parameters, with(1_007));
    net.run_for(Duration::from_secs(1));
    assert!(net.established(a).is_some());
    let payloads: Vec<_> = net.received(z).into_iter().map(|message| message.payload).collect();
    assert_eq!(payloads, ["patience"]);
}

#[test]
fn an_association_whose_cookies_are_always_stale_is_given_up() {
    let (mut net, a, z) = two();
    net.hosts[a].endpoint = {
        let port = slantpath_sctp::PortConfig {
            port: 5_000,
            addresses: vec![v4(1, 1)],
            config: SctpConfig { max_init_retransmits: 2, ..config() },
        };
        let mut endpoint = slantpath_sctp::Endpoint::default();
        endpoint.bind(port, slantpath_base::Seed::new(4, 0).stream("a")).unwrap();
        endpoint
    };
    net.connect(a, z);
    let stale = Chunk::Error(Error::because(Cause::StaleCookie { staleness_us: 0 }));
    for _ in 0..3 {
        net.run_for(Duration::from_millis(22));
        net.drop_under_way();
        let (header, _) = parse(&net.sent.iter().rev().find(|sent| sent.route.1 == v4(1, 1)).unwrap().packet);
        net.inject_chunks((v4(1, 2), v4(1, 1)), header, std::slice::from_ref(&stale));
    }
    assert_eq!(net.events(a), [Event::Closed(CloseReason::StaleCookie)], "{}", net.trace(0));
}

#[test]
fn what_was_refused_before_the_association_is_there_is_followed_by_room() {
    let config = SctpConfig { send_buffer_bytes: 1_000, ..SctpConfig::default() };
    let drained = |events: &[Event]| {
        let free =
            |event: &Event| if let Event::SendBufferDrained { free } = event { Some(*free) } else { None };
        events.iter().filter_map(free).collect::<Vec<_>>()
    };
    // What is queued, and what is refused: with more than half of the buffer full, room comes with the first SACK.
    for (queued, refused, before_sack) in [(600, 500, vec![]), (400, 700, vec![600])] {
        let mut net = Net::calm();
        let a = net.add(&[v4(1, 1)], 5_000, config.clone());
        let z = net.add(&[v4(1, 2)], 2_905, config.clone());
        net.listen(z);
        let at_a = net.connect(a, z);
        net.send(a, at_a, 0, vec![7; queued]);
        let error = net.hosts[a].endpoint.send(net.now, at_a, of_len(refused)).unwrap_err();
        let free = 1_000 - queued as u64;
        assert_eq!(error, SendError::BufferFull { wanted: refused as u64, free });
        let error = net.hosts[a].endpoint.send(net.now, at_a, of_len(1_001)).unwrap_err();
        assert_eq!(error, SendError::TooLong { len: 1_001, limit: 1_000 }, "it will never fit");
        // Four ways of 10 ms: the COOKIE ACK is here, and with it the SACK for what came behind the COOKIE ECHO.
        net.run_until(Instant::from_millis(39));
        assert!(drained(&net.events(a)).is_empty());
        net.run_until(Instant::from_millis(40));
        let events = net.events(a);
        assert!(matches!(events[0], Event::Established { .. }), "{events:?}");
        let expected = if before_sack.is_empty() { vec![1_000] } else { before_sack };
        assert_eq!(drained(&events), expected);
    }
}

#[test]
fn what_was_refused_while_the_cookie_was_on_its_way_is_followed_by_room_even_if_the_cookie_was_stale() {
    let config = SctpConfig { send_buffer_bytes: 1_000, ..SctpConfig::default() };
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config.clone());
    let z = net.add(&[v4(1, 2)], 2_905, config);
    net.listen(z);
    let at_a = net.connect(a, z);
    net.run_until(Instant::from_millis(25));
    net.send(a, at_a, 0, vec![7; 800]);
    assert!(net.hosts[a].endpoint.send(net.now, at_a, of_len(500)).is_err());
    net.run_until(Instant::from_secs(1));
    let events = net.events(a);
    assert!(events.contains(&Event::SendBufferDrained { free: 1_000 }), "{events:?}");
}

/// Refused in COOKIE-WAIT or in COOKIE-ECHOED, and then the cookie is stale.
#[test]
fn what_was_refused_before_a_stale_cookie_is_followed_by_room() {
    for refused_at_ms in [5, 25] {
        let config = SctpConfig { send_buffer_bytes: 1_000, ..SctpConfig::default() };
        let mut net = Net::calm();
        let a = net.add(&[v4(1, 1)], 5_000, config.clone());
        let z = net.add(&[v4(1, 2)], 2_905, config);
        net.listen(z);
        let at_a = net.connect(a, z);
        net.run_until(Instant::from_millis(refused_at_ms));
        net.send(a, at_a, 0, vec![7; 800]);
        assert!(net.hosts[a].endpoint.send(net.now, at_a, of_len(500)).is_err());
        net.run_until(Instant::from_millis(25));
        net.drop_under_way();
        let (header, _) = parse(&net.sent[1].packet);
        let stale = Chunk::Error(Error::because(Cause::StaleCookie { staleness_us: 5 }));
        net.inject_chunks((v4(1, 2), v4(1, 1)), header, &[stale]);
        net.run_until(Instant::from_secs(1));
        let told = net.events(a);
        let room: Vec<_> =
            told.iter().filter(|event| matches!(event, Event::SendBufferDrained { .. })).collect();
        assert_eq!(room, [&Event::SendBufferDrained { free: 1_000 }], "{refused_at_ms} ms");
    }
}

fn of_len(len: usize) -> Message {
    let (stream, ppid) = (StreamId(0), Ppid(0));
    Message { stream, ppid, payload: vec![7; len].into(), is_unordered: false, context: 0, options: None }
}
