//! The Protocol Data parameter (RFC 4666, section 3.3.1): an MSU with its label taken apart.

use bytes::{BufMut, Bytes};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{RoutingLabel, ServiceIndicator, ServiceInformation, Sls};
use slantpath_ss7::transfer::Transfer;
use slantpath_wire::Reader;

use crate::common::MessageParseError;
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
    /// Network indicator, as a whole octet.
    pub network_indicator: u8,
    /// Message priority, as a whole octet.
    pub priority: u8,
    /// Signalling link selection.
    pub sls: Sls,
    /// The user part's octets.
    pub user_data: Bytes,
}

impl ProtocolData {
    /// Reads the parameter's value; the user part's octets stay where they are.
    pub fn parse(value: &Bytes) -> Result<Self, MessageParseError> {
        let mut reader = Reader::new(value);
        let invalid = |_| MessageParseError::InvalidParameterValue(tag::PROTOCOL_DATA);
        let opc = PointCode(reader.u32().map_err(invalid)?);
        let dpc = PointCode(reader.u32().map_err(invalid)?);
        let [service_indicator, network_indicator, priority, sls] = reader.array().map_err(invalid)?;
        let user_data = value.slice_ref(reader.rest());
        Ok(Self { opc, dpc, service_indicator, network_indicator, priority, sls: Sls(sls), user_data })
    }

    /// Appends the parameter's value.
    pub fn write(&self, out: &mut impl BufMut) {
        out.put_u32(self.opc.0);
        out.put_u32(self.dpc.0);
        out.put_slice(&[self.service_indicator, self.network_indicator, self.priority, self.sls.0]);
        out.put_slice(&self.user_data);
    }

    /// The message as the message transfer part gives it to its users; `None` if service or network indicator do not
    /// fit their bits.
    pub fn to_transfer(&self) -> Option<Transfer> {
        let indicator = ServiceIndicator::new(self.service_indicator)?;
        let fits = self.network_indicator < 4 && self.priority < 4;
        let octet = self.network_indicator << 6 | self.priority << 4 | indicator.value();
        fits.then(|| Transfer {
            service: ServiceInformation::from_octet(octet),
            label: RoutingLabel { dpc: self.dpc, opc: self.opc, sls: self.sls },
            user_data: self.user_data.clone(),
        })
    }
}

impl From<Transfer> for ProtocolData {
    fn from(transfer: Transfer) -> Self {
        let Transfer { service, label, user_data } = transfer;
        Self {
            opc: label.opc,
            dpc: label.dpc,
            service_indicator: service.indicator.value(),
            network_indicator: service.network as u8,
            priority: service.priority & 3,
            sls: label.sls,
            user_data,
        }
    }
}
