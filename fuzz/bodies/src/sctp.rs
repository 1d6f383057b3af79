//! SCTP packets with their chunks, parameters and error causes.

use bytes::Bytes;
use slantpath_sctp::packet::ChunkError;
use slantpath_sctp::{Chunk, ParsedPacket};
use slantpath_wire::{Checksum, Packet, WireError};

const COMMON_HEADER_LEN: usize = 12;

/// The first byte says where the packet is cut into an inline part and a shared part: however it lies in memory,
/// it reads the same. A chunk that is read is written as one that reads the same.
pub fn packet(data: &[u8]) {
    let Some((&cut, bytes)) = data.split_first() else { return };
    let cut = usize::from(cut).min(Packet::HEAD_CAPACITY).min(bytes.len());
    let bytes = Bytes::copy_from_slice(bytes);
    let whole = Packet::shared(bytes.clone(), Checksum::Omitted);
    let split = Packet::with_tail(&bytes[..cut], bytes.slice(cut..), 0, Checksum::Omitted);
    let chunks = chunks(&whole);
    assert_eq!(chunks, self::chunks(&split));
    for chunk in chunks.into_iter().flatten().flatten() {
        let mut written = vec![0; COMMON_HEADER_LEN];
        chunk.write(&mut written);
        let reread = self::chunks(&Packet::shared(written.into(), Checksum::Omitted));
        assert_eq!(reread, Ok(vec![Ok(chunk)]));
    }
    // With the checksum as it is: hardly ever right, never a panic.
    let _verified = ParsedPacket::parse(&Packet::shared(bytes, Checksum::Complete));
}

fn chunks(packet: &Packet) -> Result<Vec<Result<Chunk, ChunkError>>, WireError> {
    Ok(ParsedPacket::parse(packet)?.chunks().collect())
}
