//! COOKIE ECHO and COOKIE ACK (RFC 9260, sections 3.3.11 and 3.3.12).

use bytes::Bytes;

use super::{framing, kind};
use crate::bytes_view::BytesView;

/// A COOKIE ECHO chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CookieEcho {
    /// The cookie of the INIT ACK, as it came.
    pub cookie: Bytes,
}

impl CookieEcho {
    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write(out, kind::COOKIE_ECHO, 0, |out| out.extend_from_slice(&self.cookie));
    }

    pub(super) fn parse(value: BytesView<'_>) -> Self {
        Self { cookie: value.to_bytes() }
    }
}

/// A COOKIE ACK chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieAck;

impl CookieAck {
    /// Appends the chunk.
    pub fn write(self, out: &mut Vec<u8>) {
        framing::write(out, kind::COOKIE_ACK, 0, |_| {});
    }
}
