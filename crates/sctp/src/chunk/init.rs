//! INIT and INIT ACK (RFC 9260, sections 3.3.2 and 3.3.3).

use slantpath_wire::{Reader, WireError};

use super::{framing, kind};
use crate::bytes_view::BytesView;
use crate::parameter::{self, Parameter};
use crate::types::{Tsn, VerificationTag};

/// Fields with which both INIT and INIT ACK begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitFields {
    /// The tag that the sender wants to see in every packet.
    pub initiate_tag: VerificationTag,
    /// The sender's receive buffer in bytes.
    pub a_rwnd: u32,
    /// Number of streams that the sender wishes to send on.
    pub outbound_streams: u16,
    /// Number of streams that the sender lets the peer send on.
    pub inbound_streams: u16,
    /// The number of its first DATA chunk.
    pub initial_tsn: Tsn,
}

impl InitFields {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.initiate_tag.0.to_be_bytes());
        out.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.extend_from_slice(&self.outbound_streams.to_be_bytes());
        out.extend_from_slice(&self.inbound_streams.to_be_bytes());
        out.extend_from_slice(&self.initial_tsn.0.to_be_bytes());
    }

    fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            initiate_tag: VerificationTag(reader.u32()?),
            a_rwnd: reader.u32()?,
            outbound_streams: reader.u16()?,
            inbound_streams: reader.u16()?,
            initial_tsn: Tsn(reader.u32()?),
        })
    }
}

/// An INIT chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    /// The fixed fields.
    pub fields: InitFields,
    /// Addresses, supported address types, cookie preservative, and what is unknown.
    pub parameters: Vec<Parameter>,
}

/// An INIT ACK chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitAck {
    /// The fixed fields.
    pub fields: InitFields,
    /// The cookie, addresses, unrecognized parameters, and what is unknown.
    pub parameters: Vec<Parameter>,
}

impl Init {
    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        write(out, kind::INIT, &self.fields, &self.parameters);
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let (fields, parameters) = parse(value)?;
        Ok(Self { fields, parameters })
    }
}

impl InitAck {
    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        write(out, kind::INIT_ACK, &self.fields, &self.parameters);
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let (fields, parameters) = parse(value)?;
        Ok(Self { fields, parameters })
    }
}

fn write(out: &mut Vec<u8>, kind: u8, fields: &InitFields, parameters: &[Parameter]) {
    framing::write_fields(out, kind, 0, |out| {
        fields.write(out);
        parameter::write_all(parameters, out)
    });
}

fn parse(value: BytesView<'_>) -> Result<(InitFields, Vec<Parameter>), WireError> {
    let mut reader = Reader::new(value.as_slice());
    let fields = InitFields::parse(&mut reader)?;
    let parameters = parameter::parse_all(value.part(reader.rest()))?;
    Ok((fields, parameters))
}
