//! NR-SACK (draft-natarajan-tsvwg-sctp-nrsack, section 3; draft-tuexen-tsvwg-sctp-multipath, section 5): a SACK that
//! tells what has been received for good.

use slantpath_wire::{Reader, WireError};
use smallvec::SmallVec;

use super::{CHUNK_HEADER_LEN, GapAckBlock, kind};
use crate::bytes_view::BytesView;
use crate::types::Tsn;

/// An NR-SACK chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NrSack {
    /// Everything up to here has been received.
    pub cumulative_tsn_ack: Tsn,
    /// Bytes left in the receiver's buffer.
    pub a_rwnd: u32,
    /// Blocks of TSNs that have been received beyond that and may still be dropped.
    pub gap_ack_blocks: SmallVec<[GapAckBlock; 8]>,
    /// Blocks of TSNs that have been received beyond that and will not be dropped: the sender need not keep them.
    pub non_renegable_blocks: SmallVec<[GapAckBlock; 8]>,
    /// Each TSN as often as it came again since the last SACK.
    pub duplicates: SmallVec<[Tsn; 4]>,
}

impl NrSack {
    /// The chunk's length without blocks and duplicates, in bytes. Each of them takes four more.
    pub const FIXED_LEN: usize = CHUNK_HEADER_LEN + 16;

    /// The length of the chunk, in bytes; it needs no padding.
    pub fn wire_len(&self) -> usize {
        let entries = self.gap_ack_blocks.len() + self.non_renegable_blocks.len() + self.duplicates.len();
        Self::FIXED_LEN + 4 * entries
    }

    /// Appends the chunk with its header.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        super::framing::write(out, kind::NR_SACK, 0, |out| {
            out.extend_from_slice(&self.cumulative_tsn_ack.0.to_be_bytes());
            out.extend_from_slice(&self.a_rwnd.to_be_bytes());
            let counts =
                [self.gap_ack_blocks.len(), self.non_renegable_blocks.len(), self.duplicates.len(), 0];
            for count in counts {
                let count = u16::try_from(count).expect("a chunk is at most 65,535 bytes long");
                out.extend_from_slice(&count.to_be_bytes());
            }
            for block in self.gap_ack_blocks.iter().chain(&self.non_renegable_blocks) {
                out.extend_from_slice(&block.start.to_be_bytes());
                out.extend_from_slice(&block.end.to_be_bytes());
            }
            for tsn in &self.duplicates {
                out.extend_from_slice(&tsn.0.to_be_bytes());
            }
        });
    }

    pub(crate) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let cumulative_tsn_ack = Tsn(reader.u32()?);
        let a_rwnd = reader.u32()?;
        let [gaps, non_renegable, duplicates, _reserved] =
            [reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?];
        let gap_ack_blocks = blocks(&mut reader, gaps)?;
        let non_renegable_blocks = blocks(&mut reader, non_renegable)?;
        let (words, _) = reader.take(4 * usize::from(duplicates))?.as_chunks::<4>();
        let duplicates = words.iter().map(|&word| Tsn(u32::from_be_bytes(word))).collect();
        Ok(Self { cumulative_tsn_ack, a_rwnd, gap_ack_blocks, non_renegable_blocks, duplicates })
    }
}

fn blocks(reader: &mut Reader<'_>, count: u16) -> Result<SmallVec<[GapAckBlock; 8]>, WireError> {
    let (words, _) = reader.take(4 * usize::from(count))?.as_chunks::<4>();
    let block = |&[s0, s1, e0, e1]: &[u8; 4]| GapAckBlock {
        start: u16::from_be_bytes([s0, s1]),
        end: u16::from_be_bytes([e0, e1]),
    };
    Ok(words.iter().map(block).collect())
}
