//! Bundles chunks into a packet.

use bytes::Bytes;
use slantpath_wire::{Checksum, Packet, PacketBuffers, checksum, tlv};

use super::{COMMON_HEADER_LEN, CommonHeader};
use crate::chunk::framing::ChunkHeader;
use crate::chunk::{Auth, Chunk, Data, FragmentPlace, IData, Sack};
use crate::types::Tsn;

/// Choice to send packets with their checksum or without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumPolicy {
    /// Computes the CRC32c of every packet: on real networks, and wherever bits may flip.
    #[default]
    Compute,
    /// Leaves it zero and marks the packet so; whoever observes the bytes fills it in. For simulations.
    Omit,
}

/// Value that is put in place of a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// Nothing yet: whoever observes the packet computes it.
    None,
    /// The CRC32c.
    Sum,
    /// Zero, which the receiver takes.
    Zero,
}

impl From<ChecksumPolicy> for Seal {
    fn from(policy: ChecksumPolicy) -> Self {
        match policy {
            ChecksumPolicy::Compute => Self::Sum,
            ChecksumPolicy::Omit => Self::None,
        }
    }
}

/// A payload from this length on is not copied into its packet.
const UNCOPIED_FROM: usize = 200;

/// Collects chunks of one packet. One builder serves for packet after packet and keeps its buffer.
#[derive(Clone, Debug, Default)]
pub struct PacketBuilder {
    is_started: bool,
    /// The common header, with a checksum of zero, and all chunks, but for a payload held back.
    bytes: Vec<u8>,
    /// The payload of the last chunk, a DATA chunk, until it is known whether it stays the last.
    payload: Option<Bytes>,
    max_len: usize,
    /// Length of the AUTH chunk that stands in front of all others, in bytes.
    auth_len: usize,
    /// For packets of several chunks that are too long to be held inline.
    buffers: PacketBuffers,
}

impl PacketBuilder {
    /// Starts a packet of at most `max_len` bytes, the common header included. Chunks of a packet that was
    /// started before and not finished are dropped.
    pub fn start(&mut self, header: CommonHeader, max_len: usize) {
        self.is_started = true;
        self.bytes.clear();
        self.bytes.extend_from_slice(&header.write(0));
        self.payload = None;
        self.max_len = max_len;
        self.auth_len = 0;
    }

    /// Lets the packet be so long instead, in bytes, the common header included.
    pub(crate) const fn set_max_len(&mut self, max_len: usize) {
        self.max_len = max_len;
    }

    /// The length of the packet so far, in bytes.
    pub fn len(&self) -> usize {
        let payload_len = self.payload.as_ref().map_or(0, Bytes::len);
        self.bytes.len() + payload_len + tlv::padding(payload_len)
    }

    /// Tells if the packet holds no chunk yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= COMMON_HEADER_LEN + self.auth_len
    }

    /// Number of bytes of chunks that the packet still takes.
    pub fn room(&self) -> usize {
        self.max_len.saturating_sub(self.len())
    }

    /// Bundles a DATA chunk, and returns whether it fitted.
    #[expect(clippy::inline_always, reason = "each chunk passes it once")]
    #[inline(always)]
    pub fn push_data(&mut self, data: &Data) -> bool {
        let fits = Data::wire_len(data.payload.len()) <= self.room();
        if fits {
            self.put_data(data);
        }
        fits
    }

    /// Bundles a DATA chunk that fits, or is the first.
    #[expect(clippy::inline_always, reason = "each chunk passes it once")]
    #[inline(always)]
    pub(crate) fn put_data(&mut self, data: &Data) {
        self.settle();
        data.write_header(&mut self.bytes);
        self.payload = Some(data.payload.clone());
    }

    /// Variant of [`put_data`](Self::put_data) for I-DATA, which tells the fragment's place.
    pub(crate) fn put_i_data(&mut self, data: &Data, place: FragmentPlace) {
        self.settle();
        IData::write_header_of(data, place, &mut self.bytes);
        self.payload = Some(data.payload.clone());
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
        let fits = self.bytes.len() <= self.max_len || before == COMMON_HEADER_LEN + self.auth_len;
        if !fits {
            self.bytes.truncate(before);
        }
        fits
    }

    /// Bundles a SACK, and returns whether it fitted; as the first chunk it always does.
    pub(crate) fn push_sack(&mut self, sack: &Sack) -> bool {
        let fits = self.is_empty() || sack.wire_len() <= self.room();
        if fits {
            self.settle();
            sack.write(&mut self.bytes);
        }
        fits
    }

    /// Bundles a SACK without blocks and duplicates, which fits or is the first chunk.
    #[inline]
    pub(crate) fn put_plain_sack(&mut self, cumulative_tsn_ack: Tsn, a_rwnd: u32) {
        self.settle();
        Sack::write_plain(cumulative_tsn_ack, a_rwnd, &mut self.bytes);
    }

    /// Puts an AUTH chunk whose digest is zero in front of all others, before there is any.
    pub(crate) fn reserve_auth(&mut self, auth: &Auth) {
        debug_assert!(self.is_empty(), "it stands in front of all others");
        auth.write(&mut self.bytes);
        self.auth_len = self.bytes.len() - COMMON_HEADER_LEN;
    }

    /// Fills the digest of the AUTH chunk in, if there is one and a chunk behind it needs that; if none does, takes it
    /// out. Returns whether the packet has one.
    pub(crate) fn sign(
        &mut self,
        is_needed: impl Fn(u8) -> bool,
        digest: impl FnOnce(&[&[u8]]) -> Bytes,
    ) -> bool {
        self.waive_auth(is_needed);
        if core::mem::take(&mut self.auth_len) == 0 {
            return false;
        }
        let payload = self.payload.as_deref().unwrap_or_default();
        let padding = &[0; 3][..tlv::padding(payload.len())];
        let digest = digest(&[&self.bytes[COMMON_HEADER_LEN..], payload, padding]);
        let start = COMMON_HEADER_LEN + Auth::FIXED_LEN;
        self.bytes[start..start + digest.len()].copy_from_slice(&digest);
        true
    }

    /// Tells if the packet holds a chunk of such a type.
    pub(crate) fn holds(&self, is_meant: impl Fn(u8) -> bool) -> bool {
        let mut at = COMMON_HEADER_LEN;
        while let Some(Ok(header)) = self.bytes.get(at..).map(ChunkHeader::parse) {
            if is_meant(header.kind) {
                return true;
            }
            at += header.padded_len();
        }
        false
    }

    /// Takes the AUTH chunk out that has been reserved, if there is one, unless a chunk behind it needs it.
    pub(crate) fn waive_auth(&mut self, is_needed: impl Fn(u8) -> bool) {
        let first = COMMON_HEADER_LEN + self.auth_len;
        let mut at = first;
        while let Some(Ok(header)) = self.bytes.get(at..).map(ChunkHeader::parse) {
            if is_needed(header.kind) {
                return;
            }
            at += header.padded_len();
        }
        self.bytes.drain(COMMON_HEADER_LEN..first);
        self.auth_len = 0;
    }

    /// Copies the payload that was held back: it is not the last chunk.
    #[inline]
    fn settle(&mut self) {
        if self.payload.is_some() {
            self.copy_payload();
        }
    }

    fn copy_payload(&mut self) {
        if let Some(payload) = self.payload.take() {
            self.bytes.extend_from_slice(&payload);
            self.bytes.extend_from_slice(&[0; 3][..tlv::padding(payload.len())]);
        }
    }

    /// The packet. The builder is then ready for the next.
    ///
    /// # Panics
    /// If no packet was started.
    pub fn finish(&mut self, policy: ChecksumPolicy) -> Packet {
        let mut packet = Packet::default();
        self.finish_over(policy.into(), &mut packet);
        packet
    }

    /// Writes the packet over `packet`, whatever that is. The builder is then ready for the next.
    ///
    /// # Panics
    /// If no packet was started.
    #[expect(clippy::inline_always, reason = "each packet passes it once")]
    #[inline(always)]
    pub(crate) fn finish_over(&mut self, seal: Seal, packet: &mut Packet) {
        assert!(core::mem::take(&mut self.is_started), "a packet was started");
        let has_room = self.bytes.len() <= Packet::HEAD_CAPACITY;
        let tail = self.payload.take_if(|payload| has_room && payload.len() >= UNCOPIED_FROM);
        self.settle();
        let tail = tail.unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, reason = "at most 3")]
        let padding = tlv::padding(tail.len()) as u8;
        let state = self.seal(seal, &tail, padding);
        let bytes = &self.bytes[..];
        if bytes.len() <= Packet::HEAD_CAPACITY {
            packet.compose(tail, padding, state, |head, _| {
                head[..bytes.len()].copy_from_slice(bytes);
                bytes.len()
            });
        } else {
            packet.compose(self.buffers.copied([bytes]), 0, state, |_, _| 0);
        }
    }

    /// Gives back the memory of packets that have been dropped: nothing is under way.
    #[inline]
    pub(crate) fn forget_buffers(&mut self) {
        if !self.buffers.is_empty() {
            self.buffers.clear();
        }
    }

    /// Fills in the checksum of what has been written and what follows it, if that is wanted.
    #[expect(clippy::inline_always, reason = "each packet passes it once")]
    #[inline(always)]
    fn seal(&mut self, seal: Seal, tail: &[u8], padding: u8) -> Checksum {
        match seal {
            Seal::Sum => {
                let sum = checksum::sctp(&self.bytes, tail, padding);
                self.bytes[8..COMMON_HEADER_LEN].copy_from_slice(&sum.to_le_bytes());
                Checksum::Complete
            }
            Seal::Zero => Checksum::Complete,
            Seal::None => Checksum::Omitted,
        }
    }
}
