//! Packets of real stacks that nobody here wrote.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::collections::BTreeMap;

use bytes::Bytes;
use slantpath_sctp::chunk::kind;
use slantpath_sctp::packet::ParsedPacket;
use slantpath_sctp::{ChecksumPolicy, Chunk, PacketBuilder};
use slantpath_testkit::{pcap, shared};
use slantpath_wire::{Checksum, Packet, WireError};

/// Whatever a shared capture holds from the SCTP header on, as long as IP says that it is.
fn sctp_packets(name: &str) -> Option<Vec<Bytes>> {
    let file = shared::octets(&format!("pcap/{name}"))?;
    let packets: Vec<_> =
        pcap::sctp_packets(&file).into_iter().flatten().map(Bytes::copy_from_slice).collect();
    assert!(!packets.is_empty(), "{name} holds no SCTP packet");
    Some(packets)
}

/// Reads every packet and writes it again. `is_canonical`: its writer did not count the padding of a chunk's
/// last parameter, so that what is written is what was read, byte for byte.
fn read_and_write(name: &str, is_canonical: bool) -> Option<BTreeMap<u8, usize>> {
    let mut counts = BTreeMap::new();
    for (number, bytes) in (1..).zip(sctp_packets(name)?) {
        let packet = Packet::shared(bytes.clone(), Checksum::Complete);
        let parsed = ParsedPacket::parse(&packet).unwrap_or_else(|error| panic!("{name}, {number}: {error}"));
        let chunks: Vec<Chunk> = parsed.chunks().map(Result::unwrap).collect();
        let mut builder = PacketBuilder::default();
        builder.start(parsed.header, usize::MAX);
        for chunk in &chunks {
            *counts.entry(chunk.kind()).or_default() += 1;
            builder.push(chunk);
        }
        let written = builder.finish(ChecksumPolicy::Compute);
        let again: Vec<Chunk> = ParsedPacket::parse(&written).unwrap().chunks().map(Result::unwrap).collect();
        assert_eq!(again, chunks, "{name}, packet {number}");
        if is_canonical {
            assert_eq!(written.contiguous(), bytes, "{name}, packet {number}");
        }
    }
    Some(counts)
}

#[test]
fn every_packet_of_real_associations_is_written_as_it_was_read() {
    for name in ["sctp-keywords.pcap", "forces1.pcap", "forces2.pcap", "forces3.pcap", "decode-sctp-01.pcap"]
    {
        let Some(counts) = read_and_write(name, true) else { return };
        eprintln!("{name}: {counts:?}");
    }
}

/// An old stack, which counts the padding of the last parameter.
#[test]
fn packets_that_are_not_canonical_mean_the_same_when_written_again() {
    let Some(counts) = read_and_write("sctp-test.cap", false) else { return };
    eprintln!("sctp-test.cap: {counts:?}");
    assert!(counts[&kind::DATA] > 10);
}

#[test]
fn a_packet_of_16_143_chunks_is_read_to_its_end() {
    let Some(packets) = sctp_packets("sctp-max-chunks.pcap") else { return };
    let counts: Vec<_> = packets
        .into_iter()
        .map(|bytes| {
            let packet = Packet::shared(bytes, Checksum::Omitted);
            ParsedPacket::parse(&packet).unwrap().chunks().count()
        })
        .collect();
    assert!(counts.contains(&16_143), "{counts:?}");
}

#[test]
fn a_packet_that_is_too_small_is_an_error() {
    let Some(packets) = sctp_packets("sctp-pkt-too-small.pcap") else { return };
    for bytes in packets {
        let packet = Packet::shared(bytes, Checksum::Omitted);
        let refused = ParsedPacket::parse(&packet).map(|parsed| parsed.chunks().count());
        assert!(matches!(refused, Err(WireError::Truncated { .. })), "{refused:?}");
    }
}

/// RFC 2960 had Adler-32 where RFC 3309 put CRC32c.
#[test]
fn an_adler_32_checksum_is_a_bad_checksum() {
    let Some(packets) = sctp_packets("isup.pcap") else { return };
    for bytes in packets {
        let packet = Packet::shared(bytes.clone(), Checksum::Complete);
        assert!(matches!(ParsedPacket::parse(&packet), Err(WireError::BadChecksum { .. })));
        let unverified = Packet::shared(bytes, Checksum::Omitted);
        let parsed = ParsedPacket::parse(&unverified).unwrap();
        let chunks: Vec<Chunk> = parsed.chunks().map(Result::unwrap).collect();
        assert!(chunks.iter().any(|chunk| chunk.kind() == kind::DATA), "{chunks:?}");
    }
}
