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
    /// Other parameters, as they came: nothing is known of them but that they are sent back.
    pub others: Bytes,
}

/// A HEARTBEAT ACK chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatAck {
    /// The value that the HEARTBEAT brought.
    pub info: Bytes,
    /// TLVs besides the Heartbeat Information that the HEARTBEAT brought.
    pub others: Bytes,
}

impl Heartbeat {
    /// A HEARTBEAT with nothing but its info.
    pub const fn new(info: Bytes) -> Self {
        Self { info, others: Bytes::new() }
    }

    /// Makes the HEARTBEAT ACK that answers it.
    pub fn into_ack(self) -> HeartbeatAck {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //# The receiver of the HEARTBEAT chunk SHOULD immediately respond with a
        //# HEARTBEAT ACK chunk that contains the Heartbeat Information TLV,
        //# together with any other received TLVs, copied unchanged from the
        //# received HEARTBEAT chunk.
        HeartbeatAck { info: self.info, others: self.others }
    }

    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        write(out, kind::HEARTBEAT, &self.info, &self.others);
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let (info, others) = parse(value)?;
        Ok(Self { info, others })
    }
}

impl HeartbeatAck {
    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        write(out, kind::HEARTBEAT_ACK, &self.info, &self.others);
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let (info, others) = parse(value)?;
        Ok(Self { info, others })
    }
}

fn write(out: &mut Vec<u8>, kind: u8, info: &[u8], others: &[u8]) {
    framing::write_fields(out, kind, 0, |out| {
        tlv::write(out, parameter::kind::HEARTBEAT_INFO, |out| out.extend_from_slice(info));
        out.extend_from_slice(others);
        if others.is_empty() { tlv::padding(info.len()) } else { 0 }
    });
}

fn parse(value: BytesView<'_>) -> Result<(Bytes, Bytes), WireError> {
    let mut reader = Reader::new(value.as_slice());
    match tlv::read(&mut reader)? {
        Some(field) if field.kind == parameter::kind::HEARTBEAT_INFO => {
            Ok((value.part(field.value).to_bytes(), value.part(reader.rest()).to_bytes()))
        }
        Some(field) => Err(WireError::BadValue { field: "heartbeat info type", value: field.kind.into() }),
        None => Err(WireError::Truncated { wanted: 4, left: 0 }),
    }
}
