//! An SCTP packet: the common header and an iterator over the chunks behind it (RFC 9260, section 3).

mod builder;
mod outline;

pub(crate) use builder::Seal;
pub use builder::{ChecksumPolicy, PacketBuilder};
pub use outline::{ChunkOutline, PacketOutline, UserDataOutline};

use bytes::Bytes;
use slantpath_wire::{Checksum, Packet, Reader, WireError, checksum, tlv};

use crate::bytes_view::BytesView;
use crate::chunk::framing::ChunkHeader;
use crate::chunk::{CHUNK_HEADER_LEN, Chunk, Data, Sack, kind};
use crate::types::{Tsn, VerificationTag};

/// The length of the common header in bytes.
pub const COMMON_HEADER_LEN: usize = 12;

/// Permission for IP to cut a packet into fragments, which its receiver's IP puts together again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpFragmentation {
    /// Permitted. Routers fragment on IPv4; on IPv6 the source does, and its fragments are to be no longer than this,
    /// IP header included.
    Allowed {
        /// Path MTU as it is known, in bytes.
        source_mtu: u16,
    },
    /// Forbidden ("don't fragment"): a router that cannot pass the packet on says so.
    Forbidden,
}

/// The common header, without its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonHeader {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The receiver's tag, as a rule.
    pub verification_tag: VerificationTag,
}

impl CommonHeader {
    pub(crate) fn write(self, checksum: u32) -> [u8; COMMON_HEADER_LEN] {
        let mut bytes = [0; COMMON_HEADER_LEN];
        bytes[..2].copy_from_slice(&self.source_port.to_be_bytes());
        bytes[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.verification_tag.0.to_be_bytes());
        bytes[8..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The header, and its checksum.
    const fn read(bytes: [u8; COMMON_HEADER_LEN]) -> (Self, u32) {
        let [s0, s1, d0, d1, t0, t1, t2, t3, c0, c1, c2, c3] = bytes;
        let header = Self {
            source_port: u16::from_be_bytes([s0, s1]),
            destination_port: u16::from_be_bytes([d0, d1]),
            verification_tag: VerificationTag(u32::from_be_bytes([t0, t1, t2, t3])),
        };
        (header, u32::from_le_bytes([c0, c1, c2, c3]))
    }
}

/// Place of a received packet's chunks in memory.
#[derive(Clone, Debug)]
enum Layout<'a> {
    /// In one buffer that was made of them, with the common header.
    Joined(Bytes),
    /// In the packet itself.
    Packet {
        /// The inline part or the shared buffer, with the common header.
        view: BytesView<'a>,
        /// The payload of the last DATA chunk, if it lies apart.
        payload: Option<&'a Bytes>,
    },
}

/// A packet whose checksum is right and whose chunks can be read.
#[derive(Clone, Debug)]
pub struct ParsedPacket<'a> {
    /// Ports and tag.
    pub header: CommonHeader,
    layout: Layout<'a>,
}

impl<'a> ParsedPacket<'a> {
    /// Reads the common header of `packet` and verifies its checksum, unless that was omitted.
    ///
    /// Nothing of a bulk payload is copied if it is the packet's tail, or lies with all else in one.
    #[expect(clippy::inline_always, reason = "what it gives is large to move")]
    #[inline(always)]
    pub fn parse(packet: &'a Packet) -> Result<Self, WireError> {
        Self::read(packet, packet.checksum() == Checksum::Complete)
    }

    /// Variant of [`parse`](Self::parse) that does not look at the checksum.
    #[cold]
    pub(crate) fn parse_unverified(packet: &'a Packet) -> Result<Self, WireError> {
        Self::read(packet, false)
    }

    #[expect(clippy::inline_always, reason = "what it gives is large to move")]
    #[inline(always)]
    fn read(packet: &'a Packet, verifies: bool) -> Result<Self, WireError> {
        let layout = if packet.head().is_empty() && packet.padding() == 0 {
            Layout::Packet { view: BytesView::shared(packet.tail()), payload: None }
        } else if packet.tail().is_empty() && packet.padding() == 0 {
            Layout::Packet { view: BytesView::borrowed(packet.head()), payload: None }
        } else if tail_is_payload(packet) {
            Layout::Packet { view: BytesView::borrowed(packet.head()), payload: Some(packet.tail()) }
        } else {
            Layout::Joined(packet.contiguous())
        };
        let (first, tail, padding) = match &layout {
            Layout::Joined(bytes) => (&bytes[..], &[][..], 0),
            Layout::Packet { view, payload } => {
                (view.as_slice(), payload.map_or(&[][..], |payload| &payload[..]), packet.padding())
            }
        };
        let (header, found) = CommonHeader::read(Reader::new(first).array()?);
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.8
        //# 3)  Verify that the calculated CRC32c checksum is the same as the
        //# received CRC32c checksum.
        // An Adler-32 checksum of RFC 2960 does not pass.
        if verifies {
            let computed = checksum::sctp(first, tail, padding);
            if found != computed {
                return Err(WireError::BadChecksum { found, computed });
            }
        }
        Ok(Self { header, layout })
    }

    /// The packet's length in bytes, but for padding at its end that is not kept.
    pub(crate) fn len(&self) -> usize {
        match &self.layout {
            Layout::Joined(bytes) => bytes.len(),
            Layout::Packet { view, payload } => view.len() + payload.map_or(0, Bytes::len),
        }
    }

    /// The chunks, in their order. A chunk that cannot be read gives an error, and the next one follows; after
    /// an error in a chunk's header nothing can follow.
    pub fn chunks(&self) -> Chunks<'_> {
        let (view, payload) = match &self.layout {
            Layout::Joined(bytes) => (BytesView::shared(bytes), None),
            Layout::Packet { view, payload } => (*view, *payload),
        };
        Chunks { view, offset: COMMON_HEADER_LEN, payload }
    }

    /// The types of the chunks, in their order, as far as their headers can be read.
    pub fn chunk_kinds(&self) -> impl Iterator<Item = u8> + '_ {
        let mut chunks = self.chunks();
        core::iter::from_fn(move || chunks.next_header()?.ok().map(|found| found.header.kind))
    }
}

/// Tells if the tail of a packet is exactly the payload of a DATA chunk whose header ends its inline part.
fn tail_is_payload(packet: &Packet) -> bool {
    let head = packet.head();
    let payload_len = packet.tail().len();
    let mut offset = COMMON_HEADER_LEN;
    while let Some(Ok(header)) = head.get(offset..).map(ChunkHeader::parse) {
        let next = offset + header.padded_len();
        if next > head.len() {
            return header.kind == kind::DATA
                && offset + Data::HEADER_LEN == head.len()
                && header.len == Data::HEADER_LEN + payload_len
                && usize::from(packet.padding()) == tlv::padding(payload_len);
        }
        offset = next;
    }
    false
}

/// A chunk that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a chunk of type {kind}: {error}")]
pub struct ChunkError {
    /// The chunk's type.
    pub kind: u8,
    /// Fault of the chunk.
    pub error: WireError,
}

/// A chunk whose header has been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundChunk {
    pub(crate) header: ChunkHeader,
    /// Position at which the chunk starts.
    start: usize,
}

/// Reads one chunk after another; made by [`ParsedPacket::chunks`].
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    view: BytesView<'a>,
    offset: usize,
    payload: Option<&'a Bytes>,
}

impl Chunks<'_> {
    /// Steps over the next chunk, which may then be read.
    #[inline]
    pub(crate) fn next_header(&mut self) -> Option<Result<FoundChunk, ChunkError>> {
        let rest = self.view.as_slice().get(self.offset..).filter(|rest| !rest.is_empty())?;
        let start = self.offset;
        let header = match ChunkHeader::parse(rest) {
            Ok(header) => header,
            Err(error) => {
                self.offset = usize::MAX;
                return Some(Err(ChunkError { kind: rest[0], error }));
            }
        };
        let available = rest.len() + self.payload.map_or(0, Bytes::len);
        if header.len > available {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.10
            //# Partial chunks MUST NOT be placed in an SCTP packet.
            self.offset = usize::MAX;
            let error = WireError::Truncated { wanted: header.len, left: available };
            return Some(Err(ChunkError { kind: header.kind, error }));
        }
        self.offset = start + header.padded_len();
        Some(Ok(FoundChunk { header, start }))
    }

    /// Reads a chunk that has been found.
    pub(crate) fn read(&self, found: FoundChunk) -> Result<Chunk, WireError> {
        match found.header.kind {
            kind::DATA => self.read_data(found, Chunk::Data),
            kind => Chunk::parse(kind, found.header.flags, self.value_of(found)),
        }
    }

    /// Reads the chunk as one whose type is not known.
    pub(crate) fn read_as_unknown(&self, found: FoundChunk) -> Chunk {
        let ChunkHeader { kind, flags, .. } = found.header;
        Chunk::Unknown { kind, flags, value: self.value_of(found).to_bytes() }
    }

    /// Reads a DATA chunk that has been found, and hands it to `take`: to be written once, where that wants it.
    #[expect(clippy::inline_always, reason = "a chunk is large to move")]
    #[inline(always)]
    pub(crate) fn read_data<T>(
        &self,
        found: FoundChunk,
        take: impl FnOnce(Data) -> T,
    ) -> Result<T, WireError> {
        let FoundChunk { header, start } = found;
        let apart = self.payload.filter(|_| start + header.len > self.view.len());
        let end = if apart.is_some() { self.view.len() } else { start + header.len };
        let fields = Reader::new(&self.view.as_slice()[start + CHUNK_HEADER_LEN..end]).array()?;
        let payload = match apart {
            Some(payload) => payload.clone(),
            None => self.view.range(start + Data::HEADER_LEN, start + header.len).to_bytes(),
        };
        Ok(take(Data::from_fields(header.flags, fields, payload)))
    }

    /// All bytes from a chunk that has been found on: of the packet itself, of a payload that lies apart, and how many
    /// of padding at the end are not kept.
    pub(crate) fn bytes_from(&self, found: FoundChunk) -> (&[u8], &[u8], usize) {
        let head = &self.view.as_slice()[found.start..];
        let tail = self.payload.map_or(&[][..], |payload| &payload[..]);
        (head, tail, tlv::padding(head.len() + tail.len()))
    }

    /// Reads a SACK that has been found, if it is one without blocks and duplicates: the cumulative TSN ack and the
    /// window.
    #[inline]
    pub(crate) fn read_plain_sack(&self, found: FoundChunk) -> Option<(Tsn, u32)> {
        Sack::parse_plain(self.value_of(found))
    }

    /// The value of a chunk that lies in one piece.
    fn value_of(&self, found: FoundChunk) -> BytesView<'_> {
        self.view.range(found.start + CHUNK_HEADER_LEN, found.start + found.header.len)
    }
}

impl Iterator for Chunks<'_> {
    type Item = Result<Chunk, ChunkError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = match self.next_header()? {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        Some(self.read(found).map_err(|error| ChunkError { kind: found.header.kind, error }))
    }
}

#[cfg(test)]
mod tests;
