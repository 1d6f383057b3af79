//! The header that every chunk starts with (RFC 9260, section 3.2).

use slantpath_wire::{Reader, WireError, tlv};

/// Type, flags and length: the length of a chunk's header in bytes.
pub const CHUNK_HEADER_LEN: usize = 4;

/// The header of a chunk as it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkHeader {
    /// The chunk's type.
    pub(crate) kind: u8,
    /// Chunk flags of the header.
    pub(crate) flags: u8,
    /// Length without padding, header included; at least four bytes.
    pub(crate) len: usize,
}

impl ChunkHeader {
    /// Reads the header at the front of `bytes`.
    #[inline]
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let [kind, flags, high, low] = Reader::new(bytes).array()?;
        let len = usize::from(u16::from_be_bytes([high, low]));
        if len < CHUNK_HEADER_LEN {
            return Err(WireError::BadValue { field: "chunk length", value: len as u64 });
        }
        Ok(Self { kind, flags, len })
    }

    /// The chunk's length with its padding.
    pub(crate) const fn padded_len(self) -> usize {
        self.len + tlv::padding(self.len)
    }
}

/// Appends a chunk with its padding: `write_value` appends the value, the length is filled in behind it.
///
/// # Panics
/// If the chunk is longer than 65,535 bytes.
pub(super) fn write(out: &mut Vec<u8>, kind: u8, flags: u8, write_value: impl FnOnce(&mut Vec<u8>)) {
    write_fields(out, kind, flags, |out| {
        write_value(out);
        0
    });
}

/// Variant of [`write()`] for a value that ends in a TLV: `write_value` returns the number of bytes of padding that
/// follow the TLV.
///
/// # Panics
/// If the chunk is longer than 65,535 bytes.
pub(super) fn write_fields(
    out: &mut Vec<u8>,
    kind: u8,
    flags: u8,
    write_value: impl FnOnce(&mut Vec<u8>) -> usize,
) {
    let start = out.len();
    out.extend_from_slice(&[kind, flags, 0, 0]);
    //= https://www.rfc-editor.org/rfc/rfc9260#section-3.2
    //# However, it does include any padding of variable-
    //# length parameters other than the last parameter in the chunk.
    let last_padding = write_value(out);
    let len = out.len() - start - last_padding;
    let field = u16::try_from(len).expect("a chunk is at most 65,535 bytes long");
    out[start + 2..start + 4].copy_from_slice(&field.to_be_bytes());
    out.resize(start + len + tlv::padding(len), 0);
}
