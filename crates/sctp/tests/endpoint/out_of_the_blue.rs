//! Packets that belong to no association (RFC 9260, section 8.4).

use crate::net::{Net, describe, header, packet_of, parse, v4};
use slantpath_sctp::chunk::{
    Abort, CookieAck, CookieEcho, Data, DataFlags, Error, Heartbeat, Init, InitFields, Sack, Shutdown,
    ShutdownAck, ShutdownComplete,
};
use slantpath_sctp::{Cause, Chunk, Ppid, SctpConfig, StreamId, StreamSequence, Tsn, VerificationTag};
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

/// What an endpoint without associations answers to chunks with tag 0xabcd, or 0 for an INIT alone.
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
        net.run_for(slantpath_base::Duration::from_secs(1));
    }
    assert_eq!(net.sent.len(), 2, "{}", net.trace(0));
}
