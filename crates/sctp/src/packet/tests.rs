use proptest::prelude::*;

use super::*;
use crate::chunk::tests::{any_chunk, any_data};
use crate::chunk::{CookieAck, DataFlags, ShutdownAck};
use crate::types::{Ppid, StreamId, StreamSequence, Tsn};

const HEADER: CommonHeader =
    CommonHeader { source_port: 2_905, destination_port: 7, verification_tag: VerificationTag(0xdead_beef) };

fn data(tsn: u32, payload: Vec<u8>) -> Data {
    Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(tsn),
        stream: StreamId(1),
        sequence: StreamSequence(2),
        ppid: Ppid(3),
        payload: payload.into(),
    }
}

fn built(chunks: &[Chunk], policy: ChecksumPolicy) -> Packet {
    let mut builder = PacketBuilder::default();
    builder.start(HEADER, usize::MAX);
    for chunk in chunks {
        assert!(builder.push(chunk));
    }
    builder.finish(policy)
}

fn read(packet: &Packet) -> Vec<Chunk> {
    let parsed = ParsedPacket::parse(packet).unwrap();
    assert_eq!(parsed.header, HEADER);
    let chunks: Vec<_> = parsed.chunks().map(Result::unwrap).collect();
    assert!(parsed.chunk_kinds().eq(chunks.iter().map(Chunk::kind)));
    chunks
}

#[test]
fn a_large_last_payload_travels_uncopied_from_sender_to_receiver() {
    let mut builder = PacketBuilder::default();
    builder.start(HEADER, 1_500);
    let data = data(1, vec![7; 1_023]);
    assert!(builder.push(&Chunk::CookieAck(CookieAck)));
    assert!(builder.push_data(&data));
    assert_eq!(builder.len(), 12 + 4 + 16 + 1_024);
    let packet = builder.finish(ChecksumPolicy::Compute);
    assert_eq!(packet.len(), 12 + 4 + 16 + 1_024);
    assert_eq!(ParsedPacket::parse(&packet).unwrap().len(), 12 + 4 + 16 + 1_023);
    assert_eq!(packet.tail().as_ptr(), data.payload.as_ptr());
    let chunks = read(&packet);
    let [Chunk::CookieAck(_), Chunk::Data(received)] = &chunks[..] else { panic!("{chunks:?}") };
    assert_eq!(received.payload.as_ptr(), data.payload.as_ptr());
    assert_eq!(received, &data);
}

#[test]
fn a_contiguous_packet_is_not_copied_either() {
    let whole = built(&[Chunk::Data(data(1, vec![7; 500]))], ChecksumPolicy::Compute).contiguous();
    let packet = Packet::shared(whole.clone(), Checksum::Complete);
    assert_eq!(ParsedPacket::parse(&packet).unwrap().len(), 12 + 16 + 500);
    let chunks = read(&packet);
    let [Chunk::Data(received)] = &chunks[..] else { panic!("{chunks:?}") };
    assert_eq!(received.payload.as_ptr(), whole[28..].as_ptr());
}

#[test]
fn a_payload_that_lies_inline_is_copied_and_keeps_nothing_else() {
    let packet = built(&[Chunk::Data(data(1, vec![7; 20]))], ChecksumPolicy::Compute);
    let parsed = ParsedPacket::parse(&packet).unwrap();
    assert_eq!((packet.tail().len(), parsed.len()), (0, 12 + 16 + 20));
    let Some(Ok(Chunk::Data(received))) = parsed.chunks().next() else { panic!() };
    assert!(received.payload.is_unique());
}

#[test]
fn every_cut_of_a_packet_reads_the_same_whether_its_padding_is_kept_or_not() {
    let unknown = |len: usize| Chunk::Unknown { kind: 0x81, flags: 0, value: vec![1; len].into() };
    let packets = [
        vec![Chunk::Data(data(1, vec![7; 41]))],
        vec![Chunk::Data(data(1, vec![7; 10])), Chunk::Data(data(2, vec![8; 30]))],
        vec![Chunk::CookieAck(CookieAck), Chunk::Data(data(1, vec![7; 299]))],
        vec![Chunk::Data(data(1, vec![7; 4])), unknown(33)],
        vec![unknown(12), unknown(50)],
    ];
    for chunks in packets {
        let whole = built(&chunks, ChecksumPolicy::Compute).contiguous();
        let padding = whole.iter().rev().take_while(|byte| **byte == 0).count();
        for kept in 0..=padding {
            let end = whole.len() - padding + kept;
            for cut in 0..=end.min(88) {
                let padding = u8::try_from(padding - kept).unwrap();
                let packet =
                    Packet::with_tail(&whole[..cut], whole.slice(cut..end), padding, Checksum::Complete);
                assert_eq!(read(&packet), chunks, "cut at {cut}, {padding} bytes of padding left out");
            }
        }
    }
}

#[test]
fn a_chunk_that_does_not_fit_leaves_the_packet_as_it_was() {
    let mut builder = PacketBuilder::default();
    builder.start(HEADER, 100);
    assert!(builder.push_data(&data(1, vec![1; 60])));
    assert_eq!(builder.room(), 12);
    assert!(!builder.push_data(&data(2, vec![2; 1])));
    let mut exact = PacketBuilder::default();
    exact.start(HEADER, 12 + 40);
    assert!(exact.push_data(&data(1, vec![1; 4])) && exact.push_data(&data(2, vec![2; 4])));
    assert!(!builder.push(&Chunk::Unknown { kind: 0x81, flags: 0, value: vec![0; 9].into() }));
    assert!(builder.push(&Chunk::ShutdownAck(ShutdownAck)));
    let packet = builder.finish(ChecksumPolicy::Omit);
    assert_eq!(read(&packet), [Chunk::Data(data(1, vec![1; 60])), Chunk::ShutdownAck(ShutdownAck)]);
}

proptest! {
    /// A short packet, one with a payload behind it, a copied one and a shared one follow each other in one place.
    #[test]
    fn a_packet_is_the_same_whatever_it_is_written_over(
        packets in proptest::collection::vec(proptest::collection::vec(0_usize..700, 1..4), 1..8),
    ) {
        let mut builder = PacketBuilder::default();
        let mut place = Packet::default();
        for payloads in packets {
            let chunks: Vec<_> = payloads.iter().map(|len| Chunk::Data(data(1, vec![7; *len]))).collect();
            builder.start(HEADER, usize::MAX);
            for chunk in &chunks {
                let Chunk::Data(data) = chunk else { unreachable!() };
                assert!(builder.push_data(data));
            }
            builder.finish_over(Seal::Sum, &mut place);
            prop_assert_eq!(&place, &built(&chunks, ChecksumPolicy::Compute));
            // IP's header, which the next packet must not keep.
            place.prepend(20).fill(0x45);
        }
    }
}

fn bundle(builder: &mut PacketBuilder, chunks: u32) -> Bytes {
    builder.start(HEADER, 1_480);
    for tsn in 0..chunks {
        assert!(builder.push_data(&data(tsn, vec![7; 100])));
    }
    builder.finish(ChecksumPolicy::Compute).tail().clone()
}

#[test]
fn a_bundle_is_written_where_another_lay_that_was_dropped() {
    // Of any length that is not held inline.
    for chunks in [1, 2, 4, 8, 12] {
        let mut builder = PacketBuilder::default();
        let place = bundle(&mut builder, chunks).as_ptr();
        let held = bundle(&mut builder, chunks);
        assert_eq!(held.as_ptr(), place);
        assert_ne!(bundle(&mut builder, chunks).as_ptr(), place);
        assert_eq!(held.len(), 12 + 116 * chunks as usize);
    }
}

/// Whoever keeps a piece of a received packet keeps all of its buffer.
#[test]
fn a_bundle_lies_in_a_buffer_that_is_at_most_twice_as_long() {
    let mut builder = PacketBuilder::default();
    for chunks in 1..=12 {
        let bytes = bundle(&mut builder, chunks);
        builder.forget_buffers();
        let buffer = bytes.try_into_mut().expect("nobody else holds it");
        assert!(buffer.capacity() <= 2 * buffer.len(), "{} bytes for {}", buffer.capacity(), buffer.len());
    }
}

#[test]
fn a_flipped_bit_fails_the_checksum_unless_it_was_omitted() {
    let packet = built(&[Chunk::Data(data(1, vec![7; 300]))], ChecksumPolicy::Compute);
    let whole = packet.contiguous();
    for byte in 0..whole.len() {
        let mut broken = whole.to_vec();
        broken[byte] ^= 0x10;
        let broken = Packet::copied(&broken, Checksum::Complete);
        assert!(matches!(ParsedPacket::parse(&broken), Err(WireError::BadChecksum { .. })), "byte {byte}");
    }
    let omitted = built(&[Chunk::Data(data(1, vec![7; 300]))], ChecksumPolicy::Omit);
    assert_eq!(omitted.contiguous()[8..12], [0; 4]);
    assert!(ParsedPacket::parse(&omitted).is_ok());
}

#[test]
fn a_partial_chunk_ends_the_packet_with_an_error() {
    let mut bytes = built(&[Chunk::CookieAck(CookieAck)], ChecksumPolicy::Omit).contiguous().to_vec();
    bytes.extend([0, 3, 0, 40, 1, 2, 3, 4]);
    let packet = Packet::copied(&bytes, Checksum::Omitted);
    let parsed = ParsedPacket::parse(&packet).unwrap();
    let chunks: Vec<_> = parsed.chunks().collect();
    let error = ChunkError { kind: kind::DATA, error: WireError::Truncated { wanted: 40, left: 8 } };
    assert_eq!(chunks, [Ok(Chunk::CookieAck(CookieAck)), Err(error)]);
}

#[test]
fn a_broken_chunk_does_not_hide_the_next() {
    let mut bytes = HEADER.write(0).to_vec();
    bytes.extend([7, 0, 0, 4, 11, 0, 0, 4]);
    let packet = Packet::copied(&bytes, Checksum::Omitted);
    let parsed = ParsedPacket::parse(&packet).unwrap();
    let chunks: Vec<_> = parsed.chunks().collect();
    assert!(matches!(chunks[..], [Err(ChunkError { kind: 7, .. }), Ok(Chunk::CookieAck(_))]), "{chunks:?}");
}

#[test]
fn a_packet_shorter_than_its_header_is_refused() {
    for len in 0..COMMON_HEADER_LEN {
        let packet = Packet::copied(&vec![0; len], Checksum::Omitted);
        assert!(matches!(ParsedPacket::parse(&packet), Err(WireError::Truncated { .. })), "{len}");
    }
}

fn any_packet() -> impl Strategy<Value = Vec<Chunk>> {
    let last = proptest::option::of(any_data(1_400).prop_map(Chunk::Data));
    (proptest::collection::vec(any_chunk(), 0..4), last)
        .prop_map(|(chunks, last)| chunks.into_iter().chain(last).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packets_round_trip_however_they_are_held(chunks in any_packet()) {
        for policy in [ChecksumPolicy::Compute, ChecksumPolicy::Omit] {
            let packet = built(&chunks, policy);
            prop_assert_eq!(read(&packet), chunks.clone());
            let whole = Packet::shared(packet.contiguous(), packet.checksum());
            prop_assert_eq!(read(&whole), chunks.clone());
        }
    }

    #[test]
    fn any_cut_of_a_packet_into_head_and_tail_reads_the_same(chunks in any_packet(), cut in 0..=88_usize) {
        let whole = built(&chunks, ChecksumPolicy::Compute).contiguous();
        let cut = cut.min(whole.len());
        let packet = Packet::with_tail(&whole[..cut], whole.slice(cut..), 0, Checksum::Complete);
        prop_assert_eq!(read(&packet), chunks);
    }

    #[test]
    fn any_bytes_give_chunks_or_errors(
        head in proptest::collection::vec(any::<u8>(), 0..88),
        tail in proptest::collection::vec(any::<u8>(), 0..300),
        padding in 0_u8..4,
    ) {
        let packet = Packet::with_tail(&head, tail.into(), padding, Checksum::Omitted);
        if let Ok(parsed) = ParsedPacket::parse(&packet) {
            prop_assert!(parsed.chunks().count() <= packet.len());
        }
    }
}
