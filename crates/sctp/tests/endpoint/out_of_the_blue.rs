//! Packets that belong to no association (RFC 9260, section 8.4).

use crate::net::{Net, Sent, describe, header, packet_of, parse, v4};
use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::{
    Abort, CookieAck, CookieEcho, Data, DataFlags, Error, Heartbeat, Init, InitFields, Sack, Shutdown,
    ShutdownAck, ShutdownComplete,
};
use slantpath_sctp::{
    Cause, Chunk, CloseReason, Event, Ppid, SctpConfig, StreamId, StreamSequence, Tsn, VerificationTag,
};
use slantpath_wire::ip::Envelope;
use slantpath_wire::{Checksum, Packet};

fn lonely() -> Net {
    let mut net = Net::calm();
    let z = net.add(&[v4(1, 2)], 2_905, SctpConfig::default());
    net.listen(z);
    net
}

fn data() -> Chunk {
    Chunk::Data(Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(1),
        stream: StreamId(0),
        sequence: StreamSequence(0),
        ppid: Ppid(0),
        payload: bytes::Bytes::from_static(b"x"),
    })
}

fn abort() -> Chunk {
    Chunk::Abort(Abort { is_tag_reflected: false, causes: Vec::new() })
}

fn init() -> Chunk {
    let fields = InitFields {
        initiate_tag: VerificationTag(9),
        a_rwnd: 1_500,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
    };
    Chunk::Init(Init { fields, parameters: Vec::new() })
}

/// Answer of an endpoint without associations to chunks with tag 0xabcd, or 0 for an INIT alone.
fn answer_to(tag: u32, chunks: &[Chunk]) -> Option<String> {
    let mut net = lonely();
    net.inject_chunks((v4(1, 1), v4(1, 2)), header(5_000, 2_905, tag), chunks);
    assert!(net.sent.len() <= 1);
    net.sent.first().map(|sent| {
        assert_eq!(sent.route, (v4(1, 2), v4(1, 1)));
        let (answered, chunks) = parse(&sent.packet);
        assert_eq!((answered.source_port, answered.destination_port), (2_905, 5_000));
        let is_init_ack = matches!(chunks[0], Chunk::InitAck(_));
        let expected = if is_init_ack { VerificationTag(9) } else { VerificationTag(tag) };
        assert_eq!(answered.verification_tag, expected, "the tag is reflected");
        describe(&sent.packet)
    })
}

#[test]
fn each_kind_of_packet_gets_the_answer_that_its_rule_says() {
    let sack = Chunk::Sack(Sack {
        cumulative_tsn_ack: Tsn(1),
        a_rwnd: 1,
        gap_ack_blocks: [].into_iter().collect(),
        duplicates: [].into_iter().collect(),
    });
    let heartbeat = Chunk::Heartbeat(Heartbeat::new(bytes::Bytes::from_static(b"hb")));
    let shutdown = Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(1) });
    let shutdown_ack = Chunk::ShutdownAck(ShutdownAck);
    let shutdown_complete = Chunk::ShutdownComplete(ShutdownComplete { is_tag_reflected: false });
    let cookie_ack = Chunk::CookieAck(CookieAck);
    let forged = Chunk::CookieEcho(CookieEcho { cookie: bytes::Bytes::from_static(&[7; 73]) });
    let stale = Chunk::Error(Error::because(Cause::StaleCookie { staleness_us: 0 }));
    let other_error = Chunk::Error(Error::because(Cause::OutOfResource));
    let unknown = Chunk::Unknown { kind: 0x3f, flags: 0, value: bytes::Bytes::new() };

    // 2: ABORT, wherever it stands.
    assert_eq!(answer_to(0xabcd, &[abort()]), None);
    assert_eq!(answer_to(0xabcd, &[other_error.clone(), abort()]), None);
    // 3: INIT, alone and with tag zero.
    assert_eq!(answer_to(0, &[init()]).as_deref(), Some("INIT-ACK"));
    assert_eq!(answer_to(0, &[init(), data()]), None);
    // Section 8.5.1, rule A: tag zero is for an INIT alone.
    assert_eq!(answer_to(0, &[data()]), None);
    assert_eq!(answer_to(0, std::slice::from_ref(&shutdown_ack)), None);
    assert_eq!(answer_to(0xabcd, &[init()]).as_deref(), Some("ABORT(T)[]"));
    // 4: COOKIE ECHO.
    assert_eq!(answer_to(0xabcd, &[forged]), None);
    // 5: SHUTDOWN ACK.
    assert_eq!(answer_to(0xabcd, &[shutdown_ack]).as_deref(), Some("SHUTDOWN-COMPLETE(T)"));
    // 6: SHUTDOWN COMPLETE.
    assert_eq!(answer_to(0xabcd, &[shutdown_complete]), None);
    // 7: COOKIE ACK, or an ERROR with a stale cookie.
    assert_eq!(answer_to(0xabcd, std::slice::from_ref(&cookie_ack)), None);
    assert_eq!(answer_to(0xabcd, &[cookie_ack, data()]), None);
    assert_eq!(answer_to(0xabcd, &[stale]), None);
    // 8: anything else.
    for chunk in [data(), sack, heartbeat, shutdown, other_error, unknown] {
        assert_eq!(answer_to(0xabcd, &[chunk]).as_deref(), Some("ABORT(T)[]"));
    }
}

#[test]
fn a_packet_to_or_from_no_single_host_or_to_another_port_is_dropped() {
    let routes = [([224, 0, 0, 1].into(), v4(1, 2)), ([255; 4].into(), v4(1, 2)), ([0; 4].into(), v4(1, 2))];
    for route in routes {
        let mut net = lonely();
        net.inject_chunks(route, header(5_000, 2_905, 0), &[init()]);
        assert_eq!(net.sent.len(), 0);
        assert_eq!(net.hosts[0].endpoint.stats().misdirected_packets, 1);
    }
    for (from, to) in [(0, 2_905), (5_000, 0), (5_000, 2_904)] {
        let mut net = lonely();
        net.inject_chunks((v4(1, 1), v4(1, 2)), header(from, to, 0), &[init()]);
        assert_eq!(net.sent.len(), 0);
        assert_eq!(net.hosts[0].endpoint.stats().misdirected_packets, 1);
    }
}

#[test]
fn packets_without_a_readable_chunk_are_dropped() {
    let header_alone = packet_of(header(5_000, 2_905, 5), &[]);
    let too_short = Packet::copied(&[0; 7], Checksum::Omitted);
    let mut net = lonely();
    for packet in [header_alone, too_short] {
        net.inject((v4(1, 1), v4(1, 2)), packet);
    }
    assert_eq!(net.sent.len(), 0);
    assert_eq!(net.hosts[0].endpoint.stats().malformed_packets, 2);
}

/// Two endpoints that do not know each other must not abort each other for ever.
#[test]
fn an_answer_out_of_the_blue_is_not_answered_again() {
    let mut net = lonely();
    net.add(&[v4(1, 1)], 5_000, SctpConfig::default());
    for chunk in [data(), Chunk::ShutdownAck(ShutdownAck)] {
        net.inject_chunks((v4(1, 1), v4(1, 2)), header(5_000, 2_905, 77), &[chunk]);
        net.run_for(Duration::from_secs(1));
    }
    assert_eq!(net.sent.len(), 2, "{}", net.trace(0));
}

/// Two hosts with two paths; `A` has sent DATA and heard a SACK, and one of both has shut down. The packet with the
/// DATA, and the one with the SACK, as they went.
fn shut_down_by(who: usize) -> (Net, Sent, Sent) {
    let config = SctpConfig { heartbeat_interval: None, ..SctpConfig::default() };
    let (mut net, at_a, at_z) = Net::associated(&config, [&[v4(1, 1), v4(2, 1)], &[v4(1, 2), v4(2, 2)]]);
    net.send(A, at_a, 0, vec![7; 300]);
    net.run_for(Duration::from_secs(1));
    let [data, sack] = ["DATA(300)", "SACK(0 gaps)"]
        .map(|name| net.sent.iter().find(|sent| describe(&sent.packet) == name).unwrap().clone());
    for host in [A, Z] {
        net.events(host);
    }
    net.sent.clear();
    net.shutdown(who, [at_a, at_z][who]);
    (net, data, sack)
}

const A: usize = 0;
const Z: usize = 1;

/// Hands over again what was sent, from the peer's other address.
fn inject_late(net: &mut Net, sent: &Sent) {
    let (from, to) = if sent.route.0 == v4(1, 1) { (v4(2, 1), v4(2, 2)) } else { (v4(2, 2), v4(2, 1)) };
    net.inject((from, to), sent.packet.clone());
}

#[test]
fn what_comes_late_behind_an_end_in_order_does_not_abort_the_peers() {
    for who in [A, Z] {
        let (mut net, data, sack) = shut_down_by(who);
        // SHUTDOWN is the first packet, SHUTDOWN ACK the second. The third, SHUTDOWN COMPLETE, is overtaken by what
        // answers late packets.
        net.lose(2);
        net.run_for(Duration::from_millis(20));
        assert_eq!(net.events(who).last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
        let before = net.hosts[who].endpoint.stats().out_of_the_blue;
        let late = if who == A { &sack } else { &data };
        for _ in 0..3 {
            inject_late(&mut net, late);
        }
        let (tag, _) = parse(&late.packet);
        for chunk in [Chunk::Heartbeat(Heartbeat::new(bytes::Bytes::from_static(b"hb"))), self::data()] {
            net.inject_chunks(late.route, tag, &[chunk]);
        }
        assert_eq!(net.hosts[who].endpoint.stats().out_of_the_blue, before + 5);
        assert_eq!(net.sent.len(), 3, "{}", net.trace(0));
        // The peer asks once more when its T2-shutdown expires, and is answered.
        net.run_for(Duration::from_secs(5));
        let names: Vec<String> = net.sent[3..].iter().map(|sent| describe(&sent.packet)).collect();
        assert_eq!(names, ["SHUTDOWN-ACK", "SHUTDOWN-COMPLETE(T)"]);
        assert_eq!(net.events(1 - who).last(), Some(&Event::Closed(CloseReason::ShutdownComplete)));
    }
}

#[test]
fn both_ends_are_silent_about_late_packets_and_only_for_a_time() {
    let (mut net, data, sack) = shut_down_by(A);
    net.run_for(Duration::from_secs(1));
    let sent = net.sent.len();
    for late in [&data, &sack] {
        inject_late(&mut net, late);
    }
    assert_eq!(net.sent.len(), sent, "{}", net.trace(sent));
    net.run_for(Duration::from_secs(120));
    for late in [&data, &sack] {
        inject_late(&mut net, late);
    }
    let names: Vec<String> = net.sent[sent..].iter().map(|sent| describe(&sent.packet)).collect();
    assert_eq!(names, ["ABORT(T)[]", "ABORT(T)[]"]);
}

/// The peer may not have heard the ABORT that ended it.
#[test]
fn what_comes_behind_an_abort_is_answered_by_an_abort_again() {
    let config = SctpConfig { heartbeat_interval: None, ..SctpConfig::default() };
    let (mut net, at_a, at_z) = Net::associated(&config, [&[v4(1, 1)], &[v4(1, 2)]]);
    net.lose(0);
    net.abort(Z, at_z, "enough");
    net.send(A, at_a, 0, vec![7; 300]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.events(A).last(), Some(&Event::Closed(CloseReason::PeerAborted(Vec::new()))));
}

/// Whoever has closed its association may let its port go, too.
#[test]
fn what_comes_late_to_a_port_that_was_let_go_is_not_answered_either() {
    let (mut net, _, sack) = shut_down_by(A);
    net.run_for(Duration::from_secs(1));
    let sent = net.sent.len();
    let (source, destination) = sack.route;
    let envelope = Envelope { source, destination, fields: sack.ip };
    for later in [0, 120] {
        net.run_for(Duration::from_secs(later));
        net.hosts[A].endpoint.handle_stray(net.now, &envelope, &sack.packet);
        net.drain(A);
    }
    let names: Vec<String> = net.sent[sent..].iter().map(|sent| describe(&sent.packet)).collect();
    assert_eq!(names, ["ABORT(T)[]"]);
    assert!(net.sent[sent].at >= Instant::from_secs(120));
}
