//! AUTH (RFC 4895, section 4.1).

use bytes::Bytes;
use slantpath_wire::{Reader, WireError};

use super::{CHUNK_HEADER_LEN, framing, kind};
use crate::bytes_view::BytesView;

/// An AUTH chunk: authenticates all that follows it in its packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auth {
    /// Shared Key Identifier: which endpoint pair shared key was used.
    pub key: u16,
    /// HMAC Identifier: by which algorithm.
    pub hmac: u16,
    /// Digest (HMAC) of the chunks that follow.
    pub digest: Bytes,
}

impl Auth {
    /// Header and identifiers: the length in bytes of what comes in front of the digest.
    pub(crate) const FIXED_LEN: usize = CHUNK_HEADER_LEN + 4;

    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write(out, kind::AUTH, 0, |out| {
            out.extend_from_slice(&self.key.to_be_bytes());
            out.extend_from_slice(&self.hmac.to_be_bytes());
            out.extend_from_slice(&self.digest);
        });
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let (key, hmac) = (reader.u16()?, reader.u16()?);
        Ok(Self { key, hmac, digest: value.part(reader.rest()).to_bytes() })
    }
}
