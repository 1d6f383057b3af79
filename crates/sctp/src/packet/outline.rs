//! An outline of a packet: its chunks as they lie in bytes that may end early, as a capture keeps them.
//!
//! A host never looks at such a packet. Nothing is copied: chunks of DATA are told by their fixed fields and the length
//! that their header gives, others are read when they are asked for.

use slantpath_wire::{Reader, WireError};

use super::{COMMON_HEADER_LEN, CommonHeader};
use crate::bytes_view::BytesView;
use crate::chunk::framing::ChunkHeader;
use crate::chunk::{CHUNK_HEADER_LEN, Chunk, Data, DataFlags, FragmentPlace, IData, kind};
use crate::types::{Ppid, StreamId, Tsn};

/// The chunks of a packet, in their order, as far as its bytes reach. Its checksum is not looked at.
#[derive(Clone, Debug)]
pub struct PacketOutline<'a> {
    /// Ports and tag.
    pub header: CommonHeader,
    rest: &'a [u8],
}

impl<'a> PacketOutline<'a> {
    /// Reads the common header.
    ///
    /// # Errors
    /// If the bytes end within it.
    pub fn parse(packet: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(packet);
        let (header, _) = CommonHeader::read(reader.array::<COMMON_HEADER_LEN>()?);
        Ok(Self { header, rest: reader.rest() })
    }
}

impl<'a> Iterator for PacketOutline<'a> {
    type Item = Result<ChunkOutline<'a>, WireError>;

    /// After an error nothing can follow.
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let header = match ChunkHeader::parse(self.rest) {
            Ok(header) => header,
            Err(error) => {
                self.rest = &[];
                return Some(Err(error));
            }
        };
        let value = &self.rest[CHUNK_HEADER_LEN..header.len.min(self.rest.len()).max(CHUNK_HEADER_LEN)];
        self.rest = self.rest.get(header.padded_len()..).unwrap_or_default();
        Some(Ok(ChunkOutline { header, value }))
    }
}

/// A chunk, of which perhaps only the front is there.
#[derive(Clone, Copy, Debug)]
pub struct ChunkOutline<'a> {
    header: ChunkHeader,
    value: &'a [u8],
}

/// User data of a message, as DATA or I-DATA tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserDataOutline<'a> {
    /// Beginning, ending, unordered, immediate.
    pub flags: DataFlags,
    /// The chunk's number.
    pub tsn: Tsn,
    /// The stream that it belongs to.
    pub stream: StreamId,
    /// Payload Protocol Identifier; zero where I-DATA has none.
    pub ppid: Ppid,
    /// Place in the message, which I-DATA alone tells.
    pub place: Option<FragmentPlace>,
    /// Length of the user data, in bytes.
    pub len: usize,
    /// User data as far as it is there.
    pub bytes: &'a [u8],
}

impl<'a> ChunkOutline<'a> {
    /// Type of the chunk.
    pub const fn kind(&self) -> u8 {
        self.header.kind
    }

    /// Tells if the bytes of the packet did not end within it.
    pub const fn is_whole(&self) -> bool {
        self.value.len() + CHUNK_HEADER_LEN == self.header.len
    }

    /// User data, if it is a chunk of such.
    ///
    /// # Errors
    /// If the chunk is too short for its fixed fields, or the bytes end within them.
    pub fn user_data(&self) -> Result<Option<UserDataOutline<'a>>, WireError> {
        let fields = match self.header.kind {
            kind::DATA => Data::HEADER_LEN - CHUNK_HEADER_LEN,
            kind::I_DATA => IData::HEADER_LEN - CHUNK_HEADER_LEN,
            _ => return Ok(None),
        };
        let short = WireError::Truncated { wanted: fields, left: self.value.len() };
        let (fixed, bytes) = self.value.split_at_checked(fields).ok_or(short)?;
        let len = self.header.len - CHUNK_HEADER_LEN - fields;
        // The fixed fields alone: nothing is copied for a payload that is not handed in.
        let (flags, tsn, stream, ppid, place) = match self.read(fixed)? {
            Chunk::Data(data) => (data.flags, data.tsn, data.stream, data.ppid, None),
            Chunk::IData(data) => (data.flags, data.tsn, data.stream, data.ppid, Some(data.place)),
            _ => return Ok(None),
        };
        Ok(Some(UserDataOutline { flags, tsn, stream, ppid, place, len, bytes }))
    }

    /// The chunk itself, copied.
    ///
    /// # Errors
    /// If it is malformed, or the bytes of the packet end within it.
    pub fn chunk(&self) -> Result<Chunk, WireError> {
        if !self.is_whole() {
            let wanted = self.header.len - CHUNK_HEADER_LEN;
            return Err(WireError::Truncated { wanted, left: self.value.len() });
        }
        self.read(self.value)
    }

    fn read(&self, value: &[u8]) -> Result<Chunk, WireError> {
        Chunk::parse(self.header.kind, self.header.flags, BytesView::borrowed(value))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::HeartbeatAck;
    use crate::types::{FragmentSequence, MessageId, StreamSequence};

    fn packet(chunks: &[Chunk]) -> Vec<u8> {
        let mut bytes = vec![0, 7, 0, 9, 0, 0, 0, 5, 0, 0, 0, 0];
        for chunk in chunks {
            chunk.write(&mut bytes);
        }
        bytes
    }

    fn data(payload: &[u8]) -> Data {
        Data {
            flags: DataFlags::WHOLE,
            tsn: Tsn(8),
            stream: StreamId(2),
            sequence: StreamSequence(1),
            ppid: Ppid(3),
            payload: Bytes::copy_from_slice(payload),
        }
    }

    #[test]
    fn user_data_of_a_packet_that_was_cut_has_its_length_all_the_same() {
        let bytes = packet(&[Chunk::Data(data(&[1; 5])), Chunk::Data(data(&[2; 100]))]);
        let outline = PacketOutline::parse(&bytes[..70]).unwrap();
        assert_eq!((outline.header.source_port, outline.header.verification_tag.0), (7, 5));
        let chunks: Vec<_> = outline.map(Result::unwrap).collect();
        let told: Vec<_> = chunks.iter().map(|chunk| chunk.user_data().unwrap().unwrap()).collect();
        assert_eq!(chunks.iter().map(ChunkOutline::is_whole).collect::<Vec<_>>(), [true, false]);
        assert_eq!(
            told.iter().map(|data| (data.len, data.bytes.len())).collect::<Vec<_>>(),
            [(5, 5), (100, 18)]
        );
        assert_eq!((told[1].tsn, told[1].stream, told[1].ppid), (Tsn(8), StreamId(2), Ppid(3)));
        assert!(chunks[1].chunk().is_err());
        assert_eq!(chunks[0].chunk(), Ok(Chunk::Data(data(&[1; 5]))));
    }

    #[test]
    fn interleaved_data_tells_its_place() {
        let place = FragmentPlace { message_id: MessageId(4), fragment: FragmentSequence(6) };
        let Data { flags: _, tsn, stream, sequence: _, ppid: _, payload } = data(&[1; 7]);
        let flags = DataFlags::MIDDLE;
        let chunk = Chunk::IData(IData { flags, tsn, stream, place, ppid: Ppid(0), payload });
        let bytes = packet(&[chunk]);
        let mut outline = PacketOutline::parse(&bytes).unwrap();
        let told = outline.next().unwrap().unwrap().user_data().unwrap().unwrap();
        assert_eq!((told.place, told.len), (Some(place), 7));
    }

    #[test]
    fn other_chunks_are_read_when_they_are_asked_for() {
        let ack =
            Chunk::HeartbeatAck(HeartbeatAck { info: Bytes::from_static(&[9; 4]), others: Bytes::new() });
        let bytes = packet(&[ack.clone(), Chunk::Data(data(&[1]))]);
        let chunks: Vec<_> = PacketOutline::parse(&bytes).unwrap().map(Result::unwrap).collect();
        assert_eq!((chunks[0].chunk(), chunks[0].user_data()), (Ok(ack), Ok(None)));
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_chunks_or_an_error(bytes: Vec<u8>) {
            for chunk in PacketOutline::parse(&bytes).into_iter().flatten().flatten() {
                let _ = (chunk.user_data(), chunk.chunk());
            }
        }
    }
}
