//! Chunks that break a rule, each with the answer that the rule asks for.

use super::*;
use crate::chunk::{Data, DataFlags};

#[test]
fn data_without_payload_aborts_with_its_tsn() {
    let mut wire = Wire::new(1, quiet());
    wire.inject(0, 0, &[data(6, b"")]);
    let reason = CloseReason::Aborted(Cause::NoUserData(Tsn(6)));
    assert_eq!(wire.events[0], [Event::Closed(reason)]);
    assert!(matches!(&wire.log.last().unwrap().chunks[..], [Chunk::Abort(_)]));
}

#[test]
fn data_on_an_unknown_stream_is_acknowledged_reported_and_dropped() {
    let mut wire = Wire::new(1, quiet());
    let Chunk::Data(chunk) = data(6, b"lost") else { unreachable!() };
    let chunk = Data { stream: StreamId(4), flags: chunk.flags.with(DataFlags::IMMEDIATE), ..chunk };
    wire.inject(0, 0, &[Chunk::Data(chunk)]);
    let [Chunk::Error(error), Chunk::Sack(sack)] = &wire.log[0].chunks[..] else { panic!("{:?}", wire.log) };
    assert_eq!(error.causes, [Cause::InvalidStreamIdentifier(StreamId(4))]);
    assert_eq!(sack.cumulative_tsn_ack, Tsn(6));
    assert!(wire.received(0).is_empty() && wire.events[0].is_empty());
}

#[test]
fn acknowledging_what_was_never_sent_aborts() {
    let mut wire = Wire::new(1, quiet());
    wire.inject(0, 0, &[sack(0, &[])]);
    assert!(wire.events[0].is_empty());
    wire.inject(0, 0, &[sack(0, &[(2, 2)])]);
    assert!(matches!(wire.events[0][..], [Event::Closed(CloseReason::Aborted(_))]));
}

#[test]
fn duplicates_are_acknowledged_at_once_and_listed() {
    let mut wire = Wire::new(1, quiet());
    wire.inject(0, 0, &[data(6, b"once")]);
    assert!(wire.log.is_empty(), "the first may wait");
    wire.inject(0, 0, &[data(6, b"once")]);
    let sack = wire.log[0].sack().unwrap();
    assert_eq!((sack.cumulative_tsn_ack, &sack.duplicates[..]), (Tsn(6), &[Tsn(6)][..]));
    assert_eq!(wire.events[0].len(), 1, "delivered once");
}

#[test]
fn an_unknown_chunk_is_skipped_or_reported_as_its_bits_say() {
    let mut wire = Wire::new(1, quiet());
    let unknown = |kind| Chunk::Unknown { kind, flags: 0, value: bytes::Bytes::from_static(b"what") };
    wire.inject(0, 0, &[unknown(0x81), unknown(0x3f), data(6, b"never read")]);
    assert!(wire.log.is_empty() && wire.events[0].is_empty());
    wire.inject(0, 0, &[unknown(0xc5), data(6, b"read")]);
    assert_eq!(wire.events[0].len(), 1);
    let Chunk::Error(error) = &wire.log[0].chunks[0] else { panic!("{:?}", wire.log) };
    assert_eq!(error.causes, [Cause::UnrecognizedChunkType(unknown(0xc5).to_bytes())]);
}
