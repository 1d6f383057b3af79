//! HEARTBEAT and HEARTBEAT ACK (RFC 9260, sections 3.3.5 and 3.3.6).

use bytes::Bytes;
use slantpath_wire::{Reader, WireError, tlv};

use super::{framing, kind};
use crate::bytes_view::BytesView;
use crate::parameter;

/// A HEARTBEAT chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The Heartbeat Info parameter's value, opaque to all but the sender.
    pub info: Bytes,
}

/// A HEARTBEAT ACK chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatAck {
    /// The value that the HEARTBEAT brought.
    pub info: Bytes,
}

impl Heartbeat {
    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        write(out, kind::HEARTBEAT, &self.info);
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        Ok(Self { info: parse(value)? })
    }
}

impl HeartbeatAck {
    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        write(out, kind::HEARTBEAT_ACK, &self.info);
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        Ok(Self { info: parse(value)? })
    }
}

fn write(out: &mut Vec<u8>, kind: u8, info: &[u8]) {
    framing::write_fields(out, kind, 0, |out| {
        tlv::write(out, parameter::kind::HEARTBEAT_INFO, |out| out.extend_from_slice(info));
        tlv::padding(info.len())
    });
}

fn parse(value: BytesView<'_>) -> Result<Bytes, WireError> {
    let mut reader = Reader::new(value.as_slice());
    match tlv::read(&mut reader)? {
        Some(field) if field.kind == parameter::kind::HEARTBEAT_INFO => {
            Ok(value.part(field.value).to_bytes())
        }
        Some(field) => Err(WireError::BadValue { field: "heartbeat info type", value: field.kind.into() }),
        None => Err(WireError::Truncated { wanted: 4, left: 0 }),
    }
}
