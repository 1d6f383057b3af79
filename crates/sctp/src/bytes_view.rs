//! Received bytes that know whether they can be shared.

use bytes::Bytes;

/// A part of a packet: where the packet's buffer is shared, an owned piece of it costs no copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BytesView<'a> {
    bytes: &'a [u8],
    /// The buffer that `bytes` lies in, if there is one.
    shared: Option<&'a Bytes>,
}

impl<'a> BytesView<'a> {
    /// Bytes that only exist for the moment: owning a piece of them copies it.
    pub(crate) const fn borrowed(bytes: &'a [u8]) -> Self {
        Self { bytes, shared: None }
    }

    /// The whole of a shared buffer.
    pub(crate) fn shared(buffer: &'a Bytes) -> Self {
        Self { bytes: buffer, shared: Some(buffer) }
    }

    /// Bytes of the view.
    pub(crate) const fn as_slice(self) -> &'a [u8] {
        self.bytes
    }

    /// Number of bytes in the view.
    pub(crate) const fn len(self) -> usize {
        self.bytes.len()
    }

    /// View of other bytes of the same buffer.
    pub(crate) const fn part(self, bytes: &'a [u8]) -> Self {
        Self { bytes, shared: self.shared }
    }

    /// View of the bytes from `start` to before `end`.
    ///
    /// # Panics
    /// If that is not inside.
    pub(crate) fn range(self, start: usize, end: usize) -> Self {
        self.part(&self.bytes[start..end])
    }

    /// The bytes as an owned piece.
    pub(crate) fn to_bytes(self) -> Bytes {
        match self.shared {
            // Where it lies in the buffer; what is empty may lie anywhere.
            Some(buffer) if !self.bytes.is_empty() => {
                let start = self.bytes.as_ptr().addr() - buffer.as_ptr().addr();
                buffer.slice(start..start + self.bytes.len())
            }
            Some(_) => Bytes::new(),
            None => Bytes::copy_from_slice(self.bytes),
        }
    }
}

/// Number of bytes of padding at the end of `field`: one TLV, or nothing.
pub(crate) fn trailing_padding(field: &[u8]) -> usize {
    match field {
        [_, _, high, low, ..] => field.len() - usize::from(u16::from_be_bytes([*high, *low])),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_a_shared_buffer_lies_in_it_and_an_empty_one_may_lie_anywhere() {
        let buffer = Bytes::from(vec![1, 2, 3, 4]);
        let view = BytesView::shared(&buffer);
        let piece = view.range(1, 3).to_bytes();
        assert_eq!((&piece[..], piece.as_ptr()), (&[2, 3][..], buffer[1..].as_ptr()));
        assert!(view.part(&[]).to_bytes().is_empty());
    }
}
