//! Rules that hold for every packet that leaves an end.

use std::net::IpAddr;

use slantpath_sctp::Chunk;
use slantpath_sctp::chunk::{DataFlags, kind};
use slantpath_sctp::packet::ParsedPacket;
use slantpath_wire::{Checksum, Packet};

use crate::case::{Case, Feature};
use crate::world::{End, World, place};

/// Holds a packet to the rules, counts what is in it, and gives the types of its chunks.
pub(crate) fn check(world: &mut World, from: usize, packet: &Packet) -> Vec<u8> {
    let is_without_checksum = packet.contiguous()[8..12] == [0; 4];
    let unverified = unverified(packet);
    let parsed = ParsedPacket::parse(&unverified).expect("a packet that can be read");
    let chunks: Vec<Chunk> = parsed.chunks().map(|chunk| chunk.expect("a chunk that can be read")).collect();
    let kinds: Vec<u8> = parsed.chunk_kinds().collect();
    assert!(!kinds.is_empty(), "a packet without chunks");
    let (case, end) = (&world.case, &world.ends[from]);
    let association = end.id.and_then(|id| end.endpoint.association(id));
    if is_without_checksum {
        assert!(case.omits_checksums(), "no checksum, though nobody has agreed to that: {kinds:?}");
        let sets_up = |kind: &u8| {
            matches!(
                *kind,
                kind::INIT | kind::INIT_ACK | kind::COOKIE_ECHO | kind::ASCONF | kind::SHUTDOWN_ACK
            )
        };
        assert!(!kinds.iter().any(sets_up), "no checksum: {kinds:?}");
    } else {
        assert!(ParsedPacket::parse(packet).is_ok(), "a wrong checksum: {kinds:?}");
    }
    // What answers packets of no association has nothing of one.
    let is_of_association = association.is_some() && !matches!(kinds[0], kind::INIT | kind::INIT_ACK);
    if is_of_association {
        check_authentication(case, from, &kinds);
    }
    check_kinds(case, from, &kinds);
    for chunk in &chunks {
        check_data(end, chunk);
    }
    let data = kinds.iter().filter(|kind| matches!(**kind, kind::DATA | kind::I_DATA)).count() as u64;
    let end = &mut world.ends[from];
    end.zero_checksums_out += u64::from(is_without_checksum);
    end.transmitted[0] += 1;
    end.transmitted[1] += data;
    end.transmitted[2] += kinds.len() as u64 - data;
    kinds
}

/// Copy of a packet, to be read whatever its checksum is.
pub(crate) fn unverified(packet: &Packet) -> Packet {
    Packet::shared(packet.contiguous(), Checksum::Omitted)
}

/// Checks that chunks that the peer accepts only if they are authenticated stand behind an AUTH chunk, and that there
/// is none without need.
fn check_authentication(case: &Case, from: usize, kinds: &[u8]) {
    let auth = kinds.iter().position(|kind| *kind == kind::AUTH);
    let wanted = kinds.iter().position(|kind| case.is_wanted(1 - from, *kind));
    match (auth, wanted) {
        (None, None) => {}
        (Some(auth), Some(wanted)) => assert!(auth < wanted, "{kinds:?}"),
        _ => panic!("AUTH is missing or not needed: {kinds:?}"),
    }
}

/// An address is used by no packet of an association once it has been deleted. What an end is told comes behind what it
/// sends at the same moment, so that all of that is looked at together.
pub(crate) fn check_routes(end: &End, routes: &[(IpAddr, IpAddr, Vec<u8>)]) {
    if end.id.and_then(|id| end.endpoint.association(id)).is_none() {
        return;
    }
    for (source, destination, kinds) in routes {
        // It answers where it was asked.
        if kinds[0] == kind::INIT_ACK {
            continue;
        }
        // One that is added again may be the only one from which that can be asked for.
        let is_deleted = end.deleted.contains(source) && !end.adding.contains(source);
        assert!(!is_deleted, "{kinds:?} leaves from {source}, which has been deleted");
        let is_forgotten = end.forgotten.contains(destination);
        assert!(!is_forgotten, "{kinds:?} goes to {destination}, which the peer has deleted");
    }
}

/// Chunks of an extension are sent where both ends have agreed on it.
fn check_kinds(case: &Case, from: usize, kinds: &[u8]) {
    let interleaves = case.has(Feature::Interleaving);
    let abandons = case.has(Feature::PartialReliability);
    for kind in kinds {
        let is_allowed = match *kind {
            kind::DATA => !interleaves,
            kind::I_DATA => interleaves,
            kind::NR_SACK => case.has(Feature::NonRenegableSack),
            kind::FORWARD_TSN => abandons && !interleaves,
            kind::I_FORWARD_TSN => abandons && interleaves,
            kind::RE_CONFIG => case.has(Feature::Reconfiguration),
            kind::AUTH => case.has(Feature::Authentication),
            kind::ASCONF | kind::ASCONF_ACK => case.may_change_addresses(from),
            kind::ECNE | kind::CWR => case.has(Feature::Ecn),
            kind::PAD => case.features[from].contains(&Feature::PathMtuDiscovery),
            _ => true,
        };
        assert!(is_allowed, "chunk type {kind} without agreement: {kinds:?}");
    }
}

/// Each chunk of a message has what its user asked for.
fn check_data(end: &End, chunk: &Chunk) {
    let (flags, payload): (_, &[u8]) = match chunk {
        Chunk::Data(data) => (data.flags, &data.payload),
        Chunk::IData(data) => (data.flags, &data.payload),
        _ => return,
    };
    if let Some(number) = payload.first_chunk().filter(|_| flags.contain(DataFlags::WHOLE)) {
        let given = &end.given[place(u64::from_be_bytes(*number))];
        assert_eq!(given.is_unordered, flags.is_unordered());
        assert!(flags.is_immediate() || !given.sack_immediately, "the I bit is missing");
    }
}
