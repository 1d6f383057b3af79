//! DATA (RFC 9260, section 3.3.1).

use bytes::Bytes;
use slantpath_wire::{Reader, WireError, tlv};

use super::{framing, kind};
use crate::bytes_view::BytesView;
use crate::types::{Ppid, StreamId, StreamSequence, Tsn};

/// The flags of a DATA chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataFlags(u8);

impl DataFlags {
    /// E: the last fragment of a message.
    pub const ENDING: Self = Self(1);
    /// B: the first fragment of a message.
    pub const BEGINNING: Self = Self(2);
    /// U: the message is not ordered within its stream.
    pub const UNORDERED: Self = Self(4);
    /// I: the sender wishes the SACK at once (RFC 7053).
    pub const IMMEDIATE: Self = Self(8);
    /// B and E: a message that is not fragmented.
    pub const WHOLE: Self = Self(3);
    /// Neither: a fragment from the middle of an ordered message.
    pub const MIDDLE: Self = Self(0);

    /// These flags and those.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Tells if all of `other` are set.
    pub const fn contain(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags as they are written.
    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    /// As they are read: the others are reserved.
    pub(super) const fn of_bits(bits: u8) -> Self {
        Self(bits & 0xf)
    }

    /// Tells if B is set.
    pub const fn is_beginning(self) -> bool {
        self.contain(Self::BEGINNING)
    }

    /// Tells if E is set.
    pub const fn is_ending(self) -> bool {
        self.contain(Self::ENDING)
    }

    /// Tells if U is set.
    pub const fn is_unordered(self) -> bool {
        self.contain(Self::UNORDERED)
    }

    /// Tells if I is set.
    pub const fn is_immediate(self) -> bool {
        self.contain(Self::IMMEDIATE)
    }
}

/// A DATA chunk: a message or a fragment of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Beginning, ending, unordered, immediate.
    pub flags: DataFlags,
    /// The chunk's number.
    pub tsn: Tsn,
    /// The stream that it belongs to.
    pub stream: StreamId,
    /// The message's number in its stream; without meaning if unordered.
    pub sequence: StreamSequence,
    /// Payload Protocol Identifier, for the layer above.
    pub ppid: Ppid,
    /// User data. Empty only in a chunk that breaks the protocol.
    pub payload: Bytes,
}

impl Data {
    /// The chunk's length without payload: its header and its fixed fields, in bytes.
    pub const HEADER_LEN: usize = 16;

    /// The length of a chunk with a payload of `payload_len` bytes, padding included.
    pub const fn wire_len(payload_len: usize) -> usize {
        Self::HEADER_LEN + payload_len + tlv::padding(payload_len)
    }

    /// Appends the chunk without payload and padding, its length field included.
    ///
    /// # Panics
    /// If the payload is longer than 65,519 bytes.
    pub(crate) fn write_header(&self, out: &mut Vec<u8>) {
        let len = u16::try_from(Self::HEADER_LEN + self.payload.len()).expect("a payload fits into a chunk");
        let mut header = [0; Self::HEADER_LEN];
        header[0] = kind::DATA;
        header[1] = self.flags.0;
        header[2..4].copy_from_slice(&len.to_be_bytes());
        header[4..8].copy_from_slice(&self.tsn.0.to_be_bytes());
        header[8..10].copy_from_slice(&self.stream.0.to_be_bytes());
        header[10..12].copy_from_slice(&self.sequence.0.to_be_bytes());
        header[12..16].copy_from_slice(&self.ppid.0.to_be_bytes());
        out.extend_from_slice(&header);
    }

    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If the payload is longer than 65,519 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_header(out);
        out.extend_from_slice(&self.payload);
        out.resize(out.len() + tlv::padding(self.payload.len()), 0);
    }

    #[inline]
    pub(crate) fn parse(flags: u8, value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let fields = reader.array()?;
        Ok(Self::from_fields(flags, fields, value.part(reader.rest()).to_bytes()))
    }

    /// From the fixed fields behind the chunk header, and the payload, wherever that lies.
    #[inline]
    pub(crate) fn from_fields(flags: u8, fields: [u8; 12], payload: Bytes) -> Self {
        let [t0, t1, t2, t3, i0, i1, n0, n1, p0, p1, p2, p3] = fields;
        Self {
            flags: DataFlags::of_bits(flags),
            tsn: Tsn(u32::from_be_bytes([t0, t1, t2, t3])),
            stream: StreamId(u16::from_be_bytes([i0, i1])),
            sequence: StreamSequence(u16::from_be_bytes([n0, n1])),
            ppid: Ppid(u32::from_be_bytes([p0, p1, p2, p3])),
            payload,
        }
    }
}

const _: () = assert!(Data::HEADER_LEN == framing::CHUNK_HEADER_LEN + 12);
