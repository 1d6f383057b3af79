//! PAD (RFC 4820, section 3): bytes that make a packet longer and mean nothing.

use super::{CHUNK_HEADER_LEN, framing, kind};
use crate::bytes_view::BytesView;

/// A PAD chunk. Its bytes are not kept: nobody reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pad {
    /// Number of bytes of padding behind the header.
    pub padding_len: u16,
}

impl Pad {
    /// The chunk that takes `wire_len` bytes of a packet, a multiple of four; `None` if none does.
    pub(crate) fn of_wire_len(wire_len: usize) -> Option<Self> {
        let padding_len = wire_len.checked_sub(CHUNK_HEADER_LEN)?;
        let fits = wire_len.is_multiple_of(4) && u16::try_from(wire_len).is_ok();
        Some(Self { padding_len: u16::try_from(padding_len).ok()? }).filter(|_| fits)
    }

    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write(out, kind::PAD, 0, |out| out.resize(out.len() + usize::from(self.padding_len), 0));
    }

    //= https://www.rfc-editor.org/rfc/rfc4820#section-3
    //# The Padding Data MUST be ignored by
    //# the receiver.
    pub(super) fn parse(value: BytesView<'_>) -> Self {
        // A chunk's length has 16 bits.
        Self { padding_len: u16::try_from(value.len()).unwrap_or(u16::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_of_every_length_in_words_fills_it_exactly() {
        for words in 1..400 {
            let mut out = Vec::new();
            Pad::of_wire_len(4 * words).unwrap().write(&mut out);
            assert_eq!(out.len(), 4 * words);
            assert_eq!((out[0], out[1]), (0x84, 0));
        }
        assert_eq!([0, 3, 5, 70_000].map(Pad::of_wire_len), [None; 4]);
    }
}
