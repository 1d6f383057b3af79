//! ASCONF and ASCONF-ACK (RFC 5061, sections 4.1 and 4.2).

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::serial_number;
use slantpath_wire::{Reader, WireError, tlv};

use super::{framing, kind};
use crate::bytes_view::{BytesView, trailing_padding};
use crate::cause::{self, Cause};
use crate::parameter::{self, Parameter};

serial_number! {
    /// Serial number of an ASCONF: counts those of one end (RFC 5061, section 4.1.1).
    pub struct AsconfSerial(u32)
}

/// Types of the parameters (RFC 5061, tables 2 and 3).
mod parameter_kind {
    /// Add IP Address.
    pub(super) const ADD_ADDRESS: u16 = 0xc001;
    /// Delete IP Address.
    pub(super) const DELETE_ADDRESS: u16 = 0xc002;
    /// Error Cause Indication.
    pub(super) const ERROR_CAUSE_INDICATION: u16 = 0xc003;
    /// Set Primary IP Address.
    pub(super) const SET_PRIMARY: u16 = 0xc004;
    /// Success Indication (RFC 5061, section 4.2.5).
    pub(super) const SUCCESS_INDICATION: u16 = 0xc005;
}

/// An ASCONF chunk: the sender changes its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asconf {
    /// Serial number of the ASCONF.
    pub serial: AsconfSerial,
    /// An address that belongs to the association: it identifies it where the packet's source does not.
    pub address: IpAddr,
    /// Changes that are asked for.
    pub requests: Vec<AsconfRequest>,
}

/// Request in an ASCONF, with its correlation identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsconfRequest {
    /// Copied into what answers it.
    pub correlation: u32,
    /// Change that is asked for.
    pub change: AddressChange,
}

/// A change of the sender's addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressChange {
    /// The address is one of the sender's from now on; a wildcard address is the packet's source.
    Add(IpAddr),
    /// Address that is none of the sender's any more; a wildcard address means all but the packet's source.
    Delete(IpAddr),
    /// The receiver should send there.
    SetPrimary(IpAddr),
    /// A request that is not known here.
    Unknown {
        /// Parameter type of the request.
        kind: u16,
        /// Bytes behind the correlation identifier.
        value: Bytes,
    },
}

/// An ASCONF-ACK chunk: answers an ASCONF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsconfAck {
    /// The number of the ASCONF.
    pub serial: AsconfSerial,
    /// Responses to the requests of the ASCONF. Requests that are not mentioned have been done, unless one in front of
    /// them failed.
    pub responses: Vec<AsconfResponse>,
}

/// Outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsconfResponse {
    /// Correlation identifier of the request.
    pub correlation: u32,
    /// Why it was not done; nothing: it was.
    pub causes: Vec<Cause>,
}

impl Asconf {
    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write_fields(out, kind::ASCONF, 0, |out| {
            out.extend_from_slice(&self.serial.0.to_be_bytes());
            Parameter::Address(self.address).write(out);
            for request in &self.requests {
                request.write(out);
            }
            // Addresses are whole words; what is not known may be anything.
            self.requests.last().map_or(0, AsconfRequest::padding)
        });
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let serial = AsconfSerial(reader.u32()?);
        //= https://www.rfc-editor.org/rfc/rfc5061#section-4.1.1
        //# This field contains an address parameter, either IPv6 or IPv4, from
        //# [RFC4960].
        let address = match tlv::read(&mut reader)? {
            Some(field) => address_of(field.kind, field.value)?,
            None => return Err(WireError::Truncated { wanted: 8, left: 0 }),
        };
        let mut requests = Vec::new();
        while let Some(field) = tlv::read(&mut reader)? {
            requests.push(AsconfRequest::parse(field.kind, value.part(field.value))?);
        }
        Ok(Self { serial, address, requests })
    }
}

impl AsconfRequest {
    fn write(&self, out: &mut Vec<u8>) {
        let (kind, address) = match &self.change {
            AddressChange::Add(address) => (parameter_kind::ADD_ADDRESS, address),
            AddressChange::Delete(address) => (parameter_kind::DELETE_ADDRESS, address),
            AddressChange::SetPrimary(address) => (parameter_kind::SET_PRIMARY, address),
            AddressChange::Unknown { kind, value } => {
                return tlv::write(out, *kind, |out| {
                    out.extend_from_slice(&self.correlation.to_be_bytes());
                    out.extend_from_slice(value);
                });
            }
        };
        tlv::write(out, kind, |out| {
            out.extend_from_slice(&self.correlation.to_be_bytes());
            Parameter::Address(*address).write(out);
        });
    }

    fn padding(&self) -> usize {
        match &self.change {
            AddressChange::Unknown { value, .. } => tlv::padding(value.len()),
            AddressChange::Add(_) | AddressChange::Delete(_) | AddressChange::SetPrimary(_) => 0,
        }
    }

    /// The request with header and padding, as an error report quotes it.
    pub(crate) fn to_bytes(&self) -> Bytes {
        let mut out = Vec::new();
        self.write(&mut out);
        out.into()
    }

    fn parse(kind: u16, value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let correlation = reader.u32()?;
        let change = match kind {
            parameter_kind::ADD_ADDRESS => AddressChange::Add(read_address(&mut reader)?),
            parameter_kind::DELETE_ADDRESS => AddressChange::Delete(read_address(&mut reader)?),
            parameter_kind::SET_PRIMARY => AddressChange::SetPrimary(read_address(&mut reader)?),
            kind => AddressChange::Unknown { kind, value: value.part(reader.rest()).to_bytes() },
        };
        Ok(Self { correlation, change })
    }
}

impl AsconfAck {
    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write_fields(out, kind::ASCONF_ACK, 0, |out| {
            out.extend_from_slice(&self.serial.0.to_be_bytes());
            let mut last = out.len();
            for AsconfResponse { correlation, causes } in &self.responses {
                last = out.len();
                if causes.is_empty() {
                    tlv::write(out, parameter_kind::SUCCESS_INDICATION, |out| {
                        out.extend_from_slice(&correlation.to_be_bytes());
                    });
                } else {
                    tlv::write(out, parameter_kind::ERROR_CAUSE_INDICATION, |out| {
                        out.extend_from_slice(&correlation.to_be_bytes());
                        cause::write_all(causes, out);
                    });
                }
            }
            trailing_padding(&out[last..])
        });
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let serial = AsconfSerial(reader.u32()?);
        let mut responses = Vec::new();
        while let Some(field) = tlv::read(&mut reader)? {
            let mut inner = Reader::new(field.value);
            let correlation = inner.u32()?;
            let causes = match field.kind {
                parameter_kind::SUCCESS_INDICATION => Vec::new(),
                parameter_kind::ERROR_CAUSE_INDICATION => {
                    let causes = cause::parse_all(value.part(inner.rest()))?;
                    if causes.is_empty() {
                        return Err(WireError::Truncated { wanted: 4, left: 0 });
                    }
                    causes
                }
                kind => return Err(WireError::BadValue { field: "ASCONF response", value: kind.into() }),
            };
            responses.push(AsconfResponse { correlation, causes });
        }
        Ok(Self { serial, responses })
    }
}

fn read_address(reader: &mut Reader<'_>) -> Result<IpAddr, WireError> {
    match tlv::read(reader)? {
        Some(field) => address_of(field.kind, field.value),
        None => Err(WireError::Truncated { wanted: 8, left: 0 }),
    }
}

fn address_of(kind: u16, value: &[u8]) -> Result<IpAddr, WireError> {
    let mut reader = Reader::new(value);
    let address = match kind {
        parameter::kind::IPV4_ADDRESS => IpAddr::from(reader.array::<4>()?),
        parameter::kind::IPV6_ADDRESS => IpAddr::from(reader.array::<16>()?),
        kind => return Err(WireError::BadValue { field: "address parameter", value: kind.into() }),
    };
    if reader.is_empty() {
        Ok(address)
    } else {
        Err(WireError::BadValue { field: "parameter length", value: value.len() as u64 + 4 })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cause::tests::any_cause;
    use crate::parameter::tests::any_bytes;
    use proptest::prelude::*;

    fn any_address() -> impl Strategy<Value = IpAddr> {
        prop_oneof![any::<[u8; 4]>().prop_map(IpAddr::from), any::<[u8; 16]>().prop_map(IpAddr::from)]
    }

    pub(crate) fn any_asconf() -> impl Strategy<Value = Asconf> {
        let change = prop_oneof![
            any_address().prop_map(AddressChange::Add),
            any_address().prop_map(AddressChange::Delete),
            any_address().prop_map(AddressChange::SetPrimary),
            (0xc010_u16.., any_bytes(20)).prop_map(|(kind, value)| AddressChange::Unknown { kind, value }),
        ];
        let request =
            (any::<u32>(), change).prop_map(|(correlation, change)| AsconfRequest { correlation, change });
        (any::<u32>(), any_address(), proptest::collection::vec(request, 0..5)).prop_map(
            |(serial, address, requests)| Asconf { serial: AsconfSerial(serial), address, requests },
        )
    }

    pub(crate) fn any_asconf_ack() -> impl Strategy<Value = AsconfAck> {
        let response = (any::<u32>(), proptest::collection::vec(any_cause(), 0..3))
            .prop_map(|(correlation, causes)| AsconfResponse { correlation, causes });
        (any::<u32>(), proptest::collection::vec(response, 0..4))
            .prop_map(|(serial, responses)| AsconfAck { serial: AsconfSerial(serial), responses })
    }

    #[test]
    fn an_asconf_that_adds_an_ipv4_address_takes_32_bytes() {
        let add = AddressChange::Add([192, 0, 2, 9].into());
        let asconf = Asconf {
            serial: AsconfSerial(7),
            address: [192, 0, 2, 1].into(),
            requests: vec![AsconfRequest { correlation: 1, change: add }],
        };
        let mut out = Vec::new();
        asconf.write(&mut out);
        let bytes = [
            0xc1, 0, 0, 32, 0, 0, 0, 7, 0, 5, 0, 8, 192, 0, 2, 1, 0xc0, 1, 0, 16, 0, 0, 0, 1, 0, 5, 0, 8,
            192, 0, 2, 9,
        ];
        assert_eq!(out, bytes);
    }

    #[test]
    fn a_host_name_in_place_of_an_address_is_refused() {
        let value = [0, 0, 0, 7, 0, 11, 0, 8, b'a', b'b', b'c', 0];
        assert!(Asconf::parse(BytesView::borrowed(&value)).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_give_an_asconf_or_an_error(bytes: Vec<u8>) {
            let _ = Asconf::parse(BytesView::borrowed(&bytes));
            let _ = AsconfAck::parse(BytesView::borrowed(&bytes));
        }
    }
}
