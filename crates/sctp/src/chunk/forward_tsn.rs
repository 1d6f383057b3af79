//! FORWARD TSN (RFC 3758, section 3.2).

use slantpath_wire::{Reader, WireError};

use super::{CHUNK_HEADER_LEN, framing, kind};
use crate::bytes_view::BytesView;
use crate::types::{StreamId, StreamSequence, Tsn};

/// A FORWARD TSN chunk: what has not arrived by now need not be waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardTsn {
    /// Everything up to here counts as received.
    pub new_cumulative_tsn: Tsn,
    /// The streams on which ordered messages were skipped.
    pub skipped: Vec<SkippedStream>,
}

/// A stream on which messages were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedStream {
    /// Stream of the skipped messages.
    pub stream: StreamId,
    /// The largest number of a message that was skipped there.
    pub sequence: StreamSequence,
}

impl ForwardTsn {
    /// The chunk's length without streams, in bytes.
    pub const FIXED_LEN: usize = CHUNK_HEADER_LEN + 4;
    /// Number of bytes that each stream adds to that.
    pub const STREAM_LEN: usize = 4;

    /// Appends the chunk with its header.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write(out, kind::FORWARD_TSN, 0, |out| {
            out.extend_from_slice(&self.new_cumulative_tsn.0.to_be_bytes());
            for SkippedStream { stream, sequence } in &self.skipped {
                let [i0, i1] = stream.0.to_be_bytes();
                let [n0, n1] = sequence.0.to_be_bytes();
                out.extend_from_slice(&[i0, i1, n0, n1]);
            }
        });
    }

    /// Bytes at the end that make no whole entry belong to nobody and are ignored.
    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let new_cumulative_tsn = Tsn(reader.u32()?);
        let (words, _) = reader.rest().as_chunks::<4>();
        let skipped = words.iter().map(|&[i0, i1, n0, n1]| SkippedStream {
            stream: StreamId(u16::from_be_bytes([i0, i1])),
            sequence: StreamSequence(u16::from_be_bytes([n0, n1])),
        });
        Ok(Self { new_cumulative_tsn, skipped: skipped.collect() })
    }
}
