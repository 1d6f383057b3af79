//! A packet is authenticated as Python's hmac says, and what is not as it should be is passed over (RFC 4895, sections
//! 6.2 and 6.3).

use super::*;
use crate::association::Authentication;
use crate::authentication::tests::hex;
use crate::authentication::{
    AuthenticationConfig, AuthenticationOffer, AuthenticationTerms, ChunkKinds, HmacAlgorithm, SharedKey,
};
use crate::chunk::{Auth, CookieAck, Heartbeat, kind};
use crate::packet::CommonHeader;
use crate::path::DiscoveryState;
use crate::policy::PathMtuDiscovery;

const HEADER: CommonHeader =
    CommonHeader { source_port: 1, destination_port: 2, verification_tag: VerificationTag(3) };

fn terms() -> AuthenticationTerms {
    let peer = AuthenticationOffer::new([1; 32], ChunkKinds::of(&[kind::COOKIE_ACK, kind::ASCONF]));
    AuthenticationTerms { local: AuthenticationOffer::new([2; 32], ChunkKinds::default()), peer }
}

fn config_with(key: &'static [u8]) -> SctpConfig {
    let keys = [(7, SharedKey::new(key))].into_iter().collect();
    SctpConfig {
        authentication: AuthenticationConfig { keys, active_key: 7, ..AuthenticationConfig::default() },
        ..quiet()
    }
}

fn signed(authentication: &Authentication, chunk: &Chunk) -> Vec<u8> {
    let mut builder = PacketBuilder::default();
    builder.start(HEADER, 1_000);
    authentication.reserve(&mut builder);
    assert!(builder.is_empty());
    assert!(builder.push(chunk));
    authentication.sign(&mut builder);
    builder.finish(ChecksumPolicy::Compute).contiguous().to_vec()
}

/// The digest is `hmac.new(b"secret" + shorter + longer, auth + cookie_ack, hashlib.sha256)` in Python, where `shorter`
/// is RANDOM and HMAC-ALGO of who sends, `longer` those of who receives with CHUNKS between them, and `auth` has zeros
/// for its digest.
#[test]
fn the_digest_of_a_packet_is_the_one_that_python_finds() {
    let authentication = Authentication::new(terms(), &config_with(b"secret"));
    let packet = signed(&authentication, &Chunk::CookieAck(CookieAck));
    assert_eq!(packet[12..20], [15, 0, 0, 40, 0, 7, 0, 3]);
    let digest = hex(&packet[20..52]);
    assert_eq!(digest, "ef889109d8e873ef7b20cb73c46ef6b441054f2c08a5d1b6c112bb043aea8cde");
    assert_eq!(packet[52..], [11, 0, 0, 4]);
}

#[test]
fn who_receives_it_believes_it_and_no_packet_that_differs_in_a_bit() {
    let turned = AuthenticationTerms { local: terms().peer, peer: terms().local };
    let receiver = Authentication::new(turned.clone(), &config_with(b"secret"));
    let sender = Authentication::new(terms(), &config_with(b"secret"));
    let packet = signed(&sender, &Chunk::CookieAck(CookieAck));
    let vouches = |receiver: &Authentication, bytes: &[u8]| {
        let packet = Packet::with_tail(&[], bytes.to_vec().into(), 0, slantpath_wire::Checksum::Omitted);
        receiver.vouches_for(&ParsedPacket::parse(&packet).unwrap())
    };
    assert!(vouches(&receiver, &packet));
    assert!(!vouches(&Authentication::new(turned, &config_with(b"secreT")), &packet));
    for bit in 8 * 16..8 * packet.len() {
        let mut changed = packet.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        // A chunk of another type is not read as a COOKIE ACK; the length of the last may only shrink to nothing.
        assert!(!vouches(&receiver, &changed), "bit {bit}");
    }
    assert!(!vouches(&receiver, &[&packet[..12], &packet[52..]].concat()), "not authenticated at all");
}

#[test]
fn a_packet_that_needs_no_authentication_has_no_auth_chunk() {
    let authentication = Authentication::new(terms(), &config_with(b"secret"));
    let shutdown = Chunk::ShutdownAck(crate::chunk::ShutdownAck);
    assert_eq!(signed(&authentication, &shutdown)[12..], [8, 0, 0, 4]);
}

#[test]
fn the_key_that_is_asked_for_is_used_and_else_the_first() {
    let keys = [(7, SharedKey::new(&b"one"[..])), (5, SharedKey::new(&b"two"[..]))];
    for (active_key, expected) in [(7, 7), (5, 5), (6, 5)] {
        let authentication =
            AuthenticationConfig { keys: keys.clone().into(), active_key, ..AuthenticationConfig::default() };
        let config = SctpConfig { authentication, ..quiet() };
        let packet = signed(&Authentication::new(terms(), &config), &Chunk::CookieAck(CookieAck));
        assert_eq!(packet[16..18], [0, expected]);
    }
}

/// Room that DATA has to leave free: AUTH with its digest, if the peer wants DATA of either format authenticated.
#[test]
fn data_leaves_room_for_auth_where_data_is_to_be_authenticated() {
    for (required, hmacs, expected) in [
        (kind::DATA, vec![3, 1], 40),
        (kind::DATA, vec![1, 3], 28),
        (kind::I_DATA, vec![3], 40),
        (kind::SACK, vec![3], 0),
    ] {
        let peer =
            AuthenticationOffer { hmacs, ..AuthenticationOffer::new([1; 32], ChunkKinds::of(&[required])) };
        let authentication = Authentication::new(AuthenticationTerms { peer, ..terms() }, &quiet());
        assert_eq!(authentication.data_overhead(), expected, "{required}");
    }
}

/// Two ends; of each, what it accepts only if it is authenticated.
fn wire(wanted: [&[u8]; 2], config: SctpConfig) -> Wire {
    let offers = [0, 1].map(|end| AuthenticationOffer::new([end as u8; 32], ChunkKinds::of(wanted[end])));
    let tcbs = [0, 1].map(|end| {
        let (local, peer) = (offers[end].clone(), offers[1 - end].clone());
        Tcb { authentication: Some(AuthenticationTerms { local, peer }.into()), ..tcb(end, 1, &config) }
    });
    Wire::with_tcbs(tcbs, [config.clone(), config])
}

/// The packets of end 0: the length of each and the types of its chunks.
fn sent(wire: &Wire) -> Vec<(usize, Vec<u8>)> {
    let packets = wire.log.iter().filter(|sent| sent.from == 0);
    packets.map(|sent| (sent.packet.len(), sent.chunks.iter().map(Chunk::kind).collect())).collect()
}

const AUTHENTICATED_DATA: [u8; 2] = [kind::AUTH, kind::DATA];

#[test]
fn what_fills_a_packet_fills_it_with_or_without_auth() {
    for (required, expected) in [
        (kind::DATA, [(1_480, &AUTHENTICATED_DATA[..]), (1_480, &AUTHENTICATED_DATA)]),
        (kind::SACK, [(1_480, &[kind::DATA][..]), (1_480, &[kind::DATA])]),
    ] {
        let mut wire = wire([&[], &[required]], quiet());
        wire.send(0, 0..1, 4_000);
        let sent = sent(&wire);
        assert_eq!(sent[..2], expected.map(|(len, kinds)| (len, kinds.to_vec())));
        wire.run_to_rest();
        assert_eq!(wire.received(1), [0]);
    }
}

/// Two chunks of 732 bytes behind the common header.
#[test]
fn what_only_control_chunks_need_takes_no_room_from_data() {
    let controls =
        [kind::HEARTBEAT, kind::ABORT, kind::ERROR, kind::ASCONF, kind::ASCONF_ACK, kind::RE_CONFIG];
    let mut wire = wire([&[], &controls], quiet());
    wire.send(0, 0..2, 716);
    assert_eq!(sent(&wire), [(12 + 2 * 732, vec![kind::DATA, kind::DATA])]);
}

#[test]
fn a_control_chunk_that_needs_no_auth_takes_no_room_for_one() {
    let mut wire = wire([&[], &[kind::HEARTBEAT]], quiet());
    wire.hand_in(0, 0, &[Chunk::Heartbeat(Heartbeat::new(vec![1; 4].into()))]);
    wire.send(0, 0..1, 1_440);
    assert_eq!(sent(&wire), [(1_480, vec![kind::HEARTBEAT_ACK, kind::DATA])]);
}

#[test]
fn control_chunks_are_authenticated_if_the_peer_wants_them_so() {
    type Act = fn(&mut Wire);
    let heartbeat: Act = |wire| assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 0)));
    let answer: Act =
        |wire| wire.hand_in(0, 0, &[Chunk::Heartbeat(Heartbeat::new(bytes::Bytes::from_static(b"well?")))]);
    let error: Act =
        |wire| wire.hand_in(0, 0, &[Chunk::Unknown { kind: 0xfe, flags: 0, value: bytes::Bytes::new() }]);
    let abort: Act = |wire| wire.ends[0].abort(wire.now, Cause::UserInitiatedAbort("enough".into()));
    let acts = [
        (kind::HEARTBEAT, heartbeat),
        (kind::HEARTBEAT_ACK, answer),
        (kind::ERROR, error),
        (kind::ABORT, abort),
    ];
    for (required, _) in acts {
        for (kind, act) in acts {
            let mut wire = wire([&[], &[required]], quiet());
            act(&mut wire);
            wire.drain();
            let expected = if kind == required { vec![kind::AUTH, kind] } else { vec![kind] };
            assert_eq!(sent(&wire)[0].1, expected);
        }
    }
}

/// The digest as section 6.2 has it: over AUTH with zeros in its place, and all that follows, padding included.
#[test]
fn the_digest_covers_a_payload_that_is_not_copied_and_its_padding() {
    for len in 1_000..1_004 {
        let mut wire = wire([&[], &[kind::DATA]], quiet());
        wire.send(0, 0..1, len);
        let mut bytes = wire.log[0].packet.contiguous().to_vec();
        assert_eq!(bytes.len(), 12 + 40 + 16 + len.next_multiple_of(4));
        let digest = bytes[20..52].to_vec();
        bytes[20..52].fill(0);
        let key =
            wire.ends[0].tcb.authentication.as_ref().unwrap().association_key(&SharedKey::new(&b""[..]));
        assert_eq!(digest, HmacAlgorithm::Sha256.digest(&key, &[&bytes[12..]]));
        wire.run_to_rest();
        assert_eq!(wire.received(1), [0]);
        assert_eq!(wire.ends[1].snapshot().stats.unauthenticated_chunks, 0);
    }
}

/// Hands end 0 a packet of chunks, some of them AUTH chunks, of which the first with an empty digest is made right.
fn hand_in_signed(wire: &mut Wire, chunks: &[Chunk]) {
    let terms = wire.ends[0].tcb.authentication.as_ref().unwrap();
    let key = terms.association_key(&SharedKey::new(&b""[..]));
    let header = CommonHeader {
        source_port: wire.ends[0].tcb.peer_port,
        destination_port: wire.ends[0].tcb.local_port,
        verification_tag: wire.ends[0].tcb.local_tag,
    };
    let mut bytes = header.write(0).to_vec();
    let mut place = None;
    for chunk in chunks {
        match chunk {
            Chunk::Auth(auth) if auth.digest.is_empty() => {
                place = Some(bytes.len());
                Chunk::Auth(Auth { digest: vec![0; 32].into(), ..auth.clone() }).write(&mut bytes);
            }
            other => other.write(&mut bytes),
        }
    }
    if let Some(place) = place {
        let digest = HmacAlgorithm::Sha256.digest(&key, &[&bytes[place..]]);
        bytes[place + 8..place + 40].copy_from_slice(&digest);
    }
    let packet = Packet::with_tail(&[], bytes.into(), 0, slantpath_wire::Checksum::Omitted);
    let parsed = ParsedPacket::parse(&packet).unwrap();
    wire.ends[0].handle_packet(wire.now, &parsed, address(1, 0), ip::IpFields::default());
    wire.drain();
}

#[test]
fn what_stands_behind_one_right_auth_is_read_and_nothing_else_that_needs_it() {
    let auth = |key, hmac, len| Chunk::Auth(Auth { key, hmac, digest: vec![9; len].into() });
    let right = || auth(0, 3, 0);
    let asks = |number: u8| Chunk::Heartbeat(Heartbeat::new(vec![number; 4].into()));
    // What comes, which HEARTBEATs are answered, and how many chunks count as not authenticated.
    let cases: [(&[Chunk], &[u8], u64); 10] = [
        (&[right(), asks(1), asks(2)], &[1, 2], 0),
        (&[asks(1), right(), asks(2)], &[2], 1),
        (&[asks(1), asks(2)], &[], 2),
        (&[right(), asks(1), auth(0, 3, 32), asks(2)], &[1], 1),
        (&[auth(0, 3, 32), asks(1), asks(2)], &[], 1),
        (&[auth(1, 3, 32), asks(1)], &[], 1),
        (&[auth(0, 3, 20), asks(1)], &[], 1),
        (&[auth(0, 3, 36), asks(1)], &[], 1),
        (&[auth(0, 3, 20)], &[], 1),
        (&[auth(0, 1, 32), asks(1)], &[], 1),
    ];
    for (chunks, answered, dropped) in cases {
        let mut wire = wire([&[kind::HEARTBEAT], &[]], quiet());
        hand_in_signed(&mut wire, chunks);
        let answers = wire.log.iter().flat_map(|sent| &sent.chunks).filter_map(|chunk| match chunk {
            Chunk::HeartbeatAck(ack) => Some(ack.info[0]),
            _ => None,
        });
        assert_eq!(answers.collect::<Vec<_>>(), answered, "{chunks:?}");
        assert_eq!(wire.ends[0].snapshot().stats.unauthenticated_chunks, dropped, "{chunks:?}");
    }
}

#[test]
fn an_association_has_256_keys_at_most_and_any_of_them_may_be_replaced() {
    let key = SharedKey::new(&b"key"[..]);
    let mut wire = wire([&[], &[]], quiet());
    let end = &mut wire.ends[0];
    for id in 1..=255 {
        assert_eq!(end.add_key(id, &key), Ok(()));
    }
    assert_eq!(end.add_key(256, &key), Err(KeyError::TooManyKeys));
    assert_eq!(end.add_key(255, &key), Ok(()));
    assert_eq!(end.delete_key(256), Err(KeyError::NoSuchKey(256)));
    assert_eq!(end.delete_key(255), Ok(()));
    assert_eq!(end.add_key(256, &key), Ok(()));
    assert_eq!(end.activate_key(255), Err(KeyError::NoSuchKey(255)));
    // The others are there still.
    assert_eq!((end.activate_key(256), end.activate_key(1), end.delete_key(256)), (Ok(()), Ok(()), Ok(())));
    let mut plain = Wire::new(1, quiet());
    let results =
        [plain.ends[0].add_key(1, &key), plain.ends[0].activate_key(0), plain.ends[0].delete_key(0)];
    assert_eq!(results, [Err(KeyError::NotSupported); 3]);
}

/// A probe packet that is shorter than it claims to be shows nothing, and one that the peer drops shows the contrary.
#[test]
fn probes_of_the_path_mtu_are_as_long_as_they_claim_and_authenticated_if_the_peer_wants_that() {
    for (required, kinds) in [
        (kind::DATA, &[kind::HEARTBEAT, kind::PAD][..]),
        (kind::HEARTBEAT, &[kind::AUTH, kind::HEARTBEAT, kind::PAD]),
        (kind::PAD, &[kind::AUTH, kind::HEARTBEAT, kind::PAD]),
    ] {
        let config = SctpConfig { path_mtu_discovery: PathMtuDiscovery::Probing, ..quiet() };
        let mut wire = wire([&[], &[required]], config);
        wire.run_until(Instant::from_millis(200));
        let probes: Vec<_> =
            sent(&wire).into_iter().filter(|(_, kinds)| kinds.contains(&kind::PAD)).collect();
        assert_eq!(probes, [(1_180, kinds.to_vec()), (1_480, kinds.to_vec())]);
        assert_eq!(wire.path(0, 0).discovery, Some(DiscoveryState::Complete));
    }
}

/// Checks that the length of a packet as it leaves, not as it might have been, tells of the path MTU.
#[test]
fn a_path_that_swallows_long_packets_is_found_out_where_sacks_are_authenticated_and_data_is_not() {
    let config = SctpConfig { path_mtu_discovery: PathMtuDiscovery::Probing, ..quiet() };
    let mut wire = wire([&[], &[kind::SACK]], config);
    wire.run_until(Instant::from_secs(1));
    wire.decide(|sent| {
        let is_too_long = sent.fragmentation == IpFragmentation::Forbidden && sent.packet.len() > 1_280;
        if is_too_long { is_lost() } else { arrives() }
    });
    wire.send(0, 0..5, 1_452);
    assert_eq!(sent(&wire).last(), Some(&(1_480, vec![kind::DATA])));
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1, 2, 3, 4]);
    assert_eq!(wire.path(0, 0).stats.black_holes, 1);
}

#[test]
fn auth_chunks_count_as_control_chunks_at_both_ends() {
    let mut wire = wire([&[], &[kind::DATA]], quiet());
    wire.send(0, 0..1, 100);
    wire.run_to_rest();
    let [sent, received] = [0, 1].map(|end| wire.ends[end].snapshot().stats);
    assert_eq!((sent.control_chunks_sent, received.control_chunks_received), (1, 1));
    // A SACK, without AUTH.
    assert_eq!((received.control_chunks_sent, sent.control_chunks_received), (1, 1));
}
