//! Bundles chunks into a packet.

use bytes::Bytes;
use slantpath_wire::{Checksum, Packet, checksum, tlv};

use super::{COMMON_HEADER_LEN, CommonHeader};
use crate::chunk::{Chunk, Data};

/// Whether packets are sent with their checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumPolicy {
    /// Computes the CRC32c of every packet: on real networks, and wherever bits may flip.
    #[default]
    Compute,
    /// Leaves it zero and marks the packet so; whoever observes the bytes fills it in. For simulations.
    Omit,
}

/// A payload from this length on is not copied into its packet.
const UNCOPIED_FROM: usize = 200;

/// Collects chunks of one packet. One builder serves for packet after packet and keeps its buffer.
#[derive(Clone, Debug, Default)]
pub struct PacketBuilder {
    header: Option<CommonHeader>,
    /// The common header's place and all chunks, but for a payload held back.
    bytes: Vec<u8>,
    /// The payload of the last chunk, a DATA chunk, until it is known whether it stays the last.
    payload: Bytes,
    max_len: usize,
}

impl PacketBuilder {
    /// Starts a packet of at most `max_len` bytes, the common header included. Chunks of a packet that was
    /// started before and not finished are dropped.
    pub fn start(&mut self, header: CommonHeader, max_len: usize) {
        self.header = Some(header);
        self.bytes.clear();
        self.bytes.resize(COMMON_HEADER_LEN, 0);
        self.payload = Bytes::new();
        self.max_len = max_len;
    }

    /// The length of the packet so far, in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len() + self.payload.len() + tlv::padding(self.payload.len())
    }

    /// Whether it holds no chunk yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= COMMON_HEADER_LEN
    }

    /// How many bytes of chunks it still takes.
    pub fn room(&self) -> usize {
        self.max_len.saturating_sub(self.len())
    }

    /// Bundles a DATA chunk, and returns whether it fitted.
    pub fn push_data(&mut self, data: &Data) -> bool {
        if Data::wire_len(data.payload.len()) > self.room() {
            return false;
        }
        self.settle();
        data.write_header(&mut self.bytes);
        self.payload = data.payload.clone();
        true
    }

    /// Bundles a chunk of any kind, and returns whether it fitted. The first chunk of a packet always fits,
    /// so that what is too large for one packet is at least tried.
    pub fn push(&mut self, chunk: &Chunk) -> bool {
        if let Chunk::Data(data) = chunk
            && !self.is_empty()
        {
            return self.push_data(data);
        }
        self.settle();
        let before = self.bytes.len();
        chunk.write(&mut self.bytes);
        let fits = self.bytes.len() <= self.max_len || before == COMMON_HEADER_LEN;
        if !fits {
            self.bytes.truncate(before);
        }
        fits
    }

    /// Copies the payload that was held back: it is not the last chunk.
    fn settle(&mut self) {
        let payload = core::mem::take(&mut self.payload);
        self.bytes.extend_from_slice(&payload);
        self.bytes.resize(self.bytes.len() + tlv::padding(payload.len()), 0);
    }

    /// The packet. The builder is then ready for the next.
    ///
    /// # Panics
    /// If no packet was started.
    pub fn finish(&mut self, policy: ChecksumPolicy) -> Packet {
        let header = self.header.take().expect("a packet was started");
        let is_split = self.payload.len() >= UNCOPIED_FROM && self.bytes.len() <= Packet::HEAD_CAPACITY;
        if !is_split {
            self.settle();
        }
        let payload = core::mem::take(&mut self.payload);
        let padding = &[0; 3][..tlv::padding(payload.len())];
        self.bytes[..COMMON_HEADER_LEN].copy_from_slice(&header.write(0));
        let state = match policy {
            ChecksumPolicy::Compute => {
                let sum = checksum::crc32c([&self.bytes[..], &payload, padding]);
                self.bytes[8..COMMON_HEADER_LEN].copy_from_slice(&sum.to_le_bytes());
                Checksum::Complete
            }
            ChecksumPolicy::Omit => Checksum::Omitted,
        };
        if is_split {
            #[expect(clippy::cast_possible_truncation, reason = "at most 3")]
            let padding = padding.len() as u8;
            Packet::with_tail(&self.bytes, payload, padding, state)
        } else {
            Packet::copied(&self.bytes, state)
        }
    }
}
