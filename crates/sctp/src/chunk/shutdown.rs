//! SHUTDOWN, SHUTDOWN ACK and SHUTDOWN COMPLETE (RFC 9260, sections 3.3.8, 3.3.9 and 3.3.13).

use slantpath_wire::{Reader, WireError};

use super::abort::T_BIT;
use super::{framing, kind};
use crate::bytes_view::BytesView;
use crate::types::Tsn;

/// A SHUTDOWN chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shutdown {
    /// Everything up to here has been received.
    pub cumulative_tsn_ack: Tsn,
}

impl Shutdown {
    /// Appends the chunk with its header.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write(out, kind::SHUTDOWN, 0, |out| {
            out.extend_from_slice(&self.cumulative_tsn_ack.0.to_be_bytes());
        });
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        Ok(Self { cumulative_tsn_ack: Tsn(Reader::new(value.as_slice()).u32()?) })
    }
}

/// A SHUTDOWN ACK chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutdownAck;

impl ShutdownAck {
    /// Appends the chunk.
    pub fn write(self, out: &mut Vec<u8>) {
        framing::write(out, kind::SHUTDOWN_ACK, 0, |_| {});
    }
}

/// A SHUTDOWN COMPLETE chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutdownComplete {
    /// The T bit: whether the packet carries the tag of the packet that it answers.
    pub is_tag_reflected: bool,
}

impl ShutdownComplete {
    /// Appends the chunk.
    pub fn write(self, out: &mut Vec<u8>) {
        let flags = if self.is_tag_reflected { T_BIT } else { 0 };
        framing::write(out, kind::SHUTDOWN_COMPLETE, flags, |_| {});
    }

    pub(super) const fn parse(flags: u8) -> Self {
        Self { is_tag_reflected: flags & T_BIT != 0 }
    }
}
