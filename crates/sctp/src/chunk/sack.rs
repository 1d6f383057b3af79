//! SACK (RFC 9260, section 3.3.4).

use slantpath_wire::{Reader, WireError};
use smallvec::SmallVec;

use super::{CHUNK_HEADER_LEN, kind};
use crate::bytes_view::BytesView;
use crate::types::Tsn;

/// A run of received TSNs behind a gap, as offsets from the cumulative TSN ack; both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapAckBlock {
    /// Offset of the first.
    pub start: u16,
    /// Offset of the last.
    pub end: u16,
}

/// A SACK chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sack {
    /// Everything up to here has been received.
    pub cumulative_tsn_ack: Tsn,
    /// Bytes left in the receiver's buffer.
    pub a_rwnd: u32,
    /// Blocks of TSNs that have been received beyond that.
    pub gap_ack_blocks: SmallVec<[GapAckBlock; 8]>,
    /// Each TSN as often as it came again since the last SACK.
    pub duplicates: SmallVec<[Tsn; 4]>,
}

impl Sack {
    /// The chunk's length without blocks and duplicates, in bytes. Each of them takes four more.
    pub const FIXED_LEN: usize = CHUNK_HEADER_LEN + 12;

    /// The length of the chunk, in bytes; it needs no padding.
    pub fn wire_len(&self) -> usize {
        Self::FIXED_LEN + 4 * (self.gap_ack_blocks.len() + self.duplicates.len())
    }

    /// Appends the chunk with its header.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        let len = u16::try_from(self.wire_len()).expect("a chunk is at most 65,535 bytes long");
        // Both counts are below the length, which fits.
        #[expect(clippy::cast_possible_truncation, reason = "less than the 16-bit length")]
        let (blocks, duplicates) = (self.gap_ack_blocks.len() as u16, self.duplicates.len() as u16);
        out.extend_from_slice(&fixed(len, self.cumulative_tsn_ack, self.a_rwnd, blocks, duplicates));
        if (blocks, duplicates) == (0, 0) {
            return;
        }
        for block in &self.gap_ack_blocks {
            let [s0, s1] = block.start.to_be_bytes();
            let [e0, e1] = block.end.to_be_bytes();
            out.extend_from_slice(&[s0, s1, e0, e1]);
        }
        for tsn in &self.duplicates {
            out.extend_from_slice(&tsn.0.to_be_bytes());
        }
    }

    /// Appends a chunk without blocks and duplicates.
    #[inline]
    pub(crate) fn write_plain(cumulative_tsn_ack: Tsn, a_rwnd: u32, out: &mut Vec<u8>) {
        #[expect(clippy::cast_possible_truncation, reason = "16")]
        let len = Self::FIXED_LEN as u16;
        out.extend_from_slice(&fixed(len, cumulative_tsn_ack, a_rwnd, 0, 0));
    }

    /// The cumulative TSN ack and the window of a chunk without blocks and duplicates; `None`: it is another, or none.
    #[inline]
    pub(crate) fn parse_plain(value: BytesView<'_>) -> Option<(Tsn, u32)> {
        let [t0, t1, t2, t3, w0, w1, w2, w3, 0, 0, 0, 0] = *value.as_slice().first_chunk()? else {
            return None;
        };
        Some((Tsn(u32::from_be_bytes([t0, t1, t2, t3])), u32::from_be_bytes([w0, w1, w2, w3])))
    }

    pub(crate) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let [t0, t1, t2, t3, w0, w1, w2, w3, b0, b1, d0, d1] = reader.array()?;
        let cumulative_tsn_ack = Tsn(u32::from_be_bytes([t0, t1, t2, t3]));
        let a_rwnd = u32::from_be_bytes([w0, w1, w2, w3]);
        let blocks = usize::from(u16::from_be_bytes([b0, b1]));
        let duplicates = usize::from(u16::from_be_bytes([d0, d1]));
        let (words, _) = reader.take(4 * blocks)?.as_chunks::<4>();
        let gap_ack_blocks = words
            .iter()
            .map(|&[s0, s1, e0, e1]| GapAckBlock {
                start: u16::from_be_bytes([s0, s1]),
                end: u16::from_be_bytes([e0, e1]),
            })
            .collect();
        let (words, _) = reader.take(4 * duplicates)?.as_chunks::<4>();
        let duplicates = words.iter().map(|&word| Tsn(u32::from_be_bytes(word))).collect();
        // Bytes behind the duplicates belong to nobody and are ignored.
        Ok(Self { cumulative_tsn_ack, a_rwnd, gap_ack_blocks, duplicates })
    }
}

/// Gives the part of the chunk in front of the blocks.
#[inline]
fn fixed(
    len: u16,
    cumulative_tsn_ack: Tsn,
    a_rwnd: u32,
    blocks: u16,
    duplicates: u16,
) -> [u8; Sack::FIXED_LEN] {
    let mut fixed = [0; Sack::FIXED_LEN];
    fixed[0] = kind::SACK;
    fixed[2..4].copy_from_slice(&len.to_be_bytes());
    fixed[4..8].copy_from_slice(&cumulative_tsn_ack.0.to_be_bytes());
    fixed[8..12].copy_from_slice(&a_rwnd.to_be_bytes());
    fixed[12..14].copy_from_slice(&blocks.to_be_bytes());
    fixed[14..16].copy_from_slice(&duplicates.to_be_bytes());
    fixed
}
