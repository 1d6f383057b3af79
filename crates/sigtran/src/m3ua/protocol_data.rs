//! The Protocol Data parameter (RFC 4666, section 3.3.1): an MSU with its label taken apart.

use bytes::Bytes;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::Sls;
use slantpath_wire::Reader;

use crate::common::ParseError;
use crate::m3ua::message::tag;

/// A user part's message and its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolData {
    /// Originating point code.
    pub opc: PointCode,
    /// Destination point code.
    pub dpc: PointCode,
    /// Service indicator, as a whole octet.
    pub service_indicator: u8,
    /// Network indicator.
    pub network_indicator: u8,
    /// Message priority.
    pub priority: u8,
    /// Signalling link selection.
    pub sls: Sls,
    /// The user part's octets.
    pub user_data: Bytes,
}

impl ProtocolData {
    /// Reads the parameter's value; the user part's octets stay where they are.
    pub fn parse(value: &Bytes) -> Result<Self, ParseError> {
        let mut reader = Reader::new(value);
        let invalid = |_| ParseError::InvalidParameterValue(tag::PROTOCOL_DATA);
        let opc = PointCode(reader.u32().map_err(invalid)?);
        let dpc = PointCode(reader.u32().map_err(invalid)?);
        let [service_indicator, network_indicator, priority, sls] = reader.array().map_err(invalid)?;
        let user_data = value.slice_ref(reader.rest());
        Ok(Self { opc, dpc, service_indicator, network_indicator, priority, sls: Sls(sls), user_data })
    }

    /// Appends the parameter's value.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.opc.0.to_be_bytes());
        out.extend_from_slice(&self.dpc.0.to_be_bytes());
        out.extend_from_slice(&[self.service_indicator, self.network_indicator, self.priority, self.sls.0]);
        out.extend_from_slice(&self.user_data);
    }
}
