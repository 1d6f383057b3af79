//! A packet is authenticated as Python's hmac says (RFC 4895, section 6.2).

use super::*;
use crate::association::Authentication;
use crate::authentication::tests::hex;
use crate::authentication::{
    AuthenticationConfig, AuthenticationOffer, AuthenticationTerms, ChunkKinds, SharedKey,
};
use crate::chunk::{CookieAck, kind};
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
