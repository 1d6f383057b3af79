//! I-FORWARD-TSN (RFC 8260, section 2.3.1).

use slantpath_wire::{Reader, WireError};

use super::{CHUNK_HEADER_LEN, framing, kind};
use crate::bytes_view::BytesView;
use crate::types::{MessageId, StreamId, Tsn};

/// An I-FORWARD-TSN chunk: what FORWARD TSN is where messages are interleaved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IForwardTsn {
    /// Everything up to here counts as received.
    pub new_cumulative_tsn: Tsn,
    /// Messages that were skipped, by stream.
    pub skipped: Vec<SkippedMessages>,
}

/// The ordered or the unordered messages of a stream, of which some were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedMessages {
    /// Stream of the skipped messages.
    pub stream: StreamId,
    /// U: whether it is the unordered ones.
    pub is_unordered: bool,
    /// The largest number of a message that was skipped there.
    pub message_id: MessageId,
}

/// The U bit, last of the 16 in front of the Message Identifier.
const UNORDERED: u16 = 1;

impl IForwardTsn {
    /// The chunk's length without entries, in bytes.
    pub const FIXED_LEN: usize = CHUNK_HEADER_LEN + 4;
    /// Number of bytes that each entry adds to that.
    pub const ENTRY_LEN: usize = 8;

    /// Appends the chunk with its header.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write(out, kind::I_FORWARD_TSN, 0, |out| {
            out.extend_from_slice(&self.new_cumulative_tsn.0.to_be_bytes());
            for SkippedMessages { stream, is_unordered, message_id } in &self.skipped {
                out.extend_from_slice(&stream.0.to_be_bytes());
                let flags = if *is_unordered { UNORDERED } else { 0 };
                out.extend_from_slice(&flags.to_be_bytes());
                out.extend_from_slice(&message_id.0.to_be_bytes());
            }
        });
    }

    /// Bytes at the end that make no whole entry belong to nobody and are ignored.
    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let new_cumulative_tsn = Tsn(reader.u32()?);
        let (entries, _) = reader.rest().as_chunks::<8>();
        let skipped = entries.iter().map(|&[i0, i1, r0, r1, m0, m1, m2, m3]| SkippedMessages {
            stream: StreamId(u16::from_be_bytes([i0, i1])),
            is_unordered: u16::from_be_bytes([r0, r1]) & UNORDERED != 0,
            message_id: MessageId(u32::from_be_bytes([m0, m1, m2, m3])),
        });
        Ok(Self { new_cumulative_tsn, skipped: skipped.collect() })
    }
}
