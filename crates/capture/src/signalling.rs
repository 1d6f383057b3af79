//! Messages of signalling: the layer that carries one, and the points and the selection that it is of.

use bytes::Bytes;
use slantpath_sigtran::m2pa::{self, Body};
use slantpath_sigtran::m3ua;
use slantpath_ss7::mtp3::Msu;
use slantpath_ss7::{PointCode, PointCodeFormat};

/// Payload protocol identifiers, which old stacks write in the order of their machine.
const PPID_M3UA: u32 = 3;
const PPID_M2PA: u32 = m2pa::PAYLOAD_PROTOCOL;
/// Ports of the two layers, for messages that name no protocol.
const PORT_M3UA: u16 = 2_905;
const PORT_M2PA: u16 = 3_565;
/// Service indicators below are MTP3's own: management and tests.
pub(crate) const FIRST_USER: u8 = 3;

/// Layer that a message came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bearer {
    M2pa,
    M3ua,
    Mtp,
}

impl Bearer {
    /// Layer of a message of SCTP with this payload protocol identifier, between these ports.
    pub(crate) fn of_sctp(ppid: u32, ports: [u16; 2]) -> Option<Self> {
        match if ppid > u32::from(u16::MAX) { ppid.swap_bytes() } else { ppid } {
            PPID_M3UA => Some(Self::M3ua),
            PPID_M2PA => Some(Self::M2pa),
            0 if ports.contains(&PORT_M3UA) => Some(Self::M3ua),
            0 if ports.contains(&PORT_M2PA) => Some(Self::M2pa),
            _ => None,
        }
    }

    /// Name of the layer.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::M2pa => "M2PA",
            Self::M3ua => "M3UA",
            Self::Mtp => "MTP",
        }
    }
}

/// Message of MTP3 or of its users, as far as it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignallingMessage {
    pub(crate) from: PointCode,
    pub(crate) to: PointCode,
    pub(crate) service: u8,
    pub(crate) network: u8,
    pub(crate) sls: u8,
    /// From the service information octet on.
    pub(crate) len: usize,
}

/// A message that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl SignallingMessage {
    /// Reads a message of MTP3, from the service information octet on.
    pub(crate) fn of_msu(octets: &[u8], format: PointCodeFormat) -> Result<Self, Malformed> {
        let msu = Msu::parse(octets, format).map_err(|_| Malformed)?;
        Ok(Self {
            from: msu.label.opc,
            to: msu.label.dpc,
            service: msu.service.indicator.value(),
            network: msu.service.network as u8,
            sls: msu.label.sls.0,
            len: octets.len(),
        })
    }
}

/// Meaning of a message of M2PA or M3UA for what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carriage {
    /// A message of MTP3 or its users.
    Message(SignallingMessage),
    /// The link, or the process at an end, takes no traffic from now on.
    OutOfService,
    /// Matters of the layer itself.
    Other,
}

impl Carriage {
    /// Reads a message of a layer.
    pub(crate) fn of(bearer: Bearer, octets: &Bytes, format: PointCodeFormat) -> Result<Self, Malformed> {
        match bearer {
            Bearer::M2pa => Self::of_m2pa(octets, format),
            Bearer::M3ua => Self::of_m3ua(octets, format),
            Bearer::Mtp => SignallingMessage::of_msu(octets, format).map(Self::Message),
        }
    }

    fn of_m2pa(octets: &Bytes, format: PointCodeFormat) -> Result<Self, Malformed> {
        match m2pa::Message::parse(octets).map_err(|_| Malformed)?.body {
            Body::UserData(data) => SignallingMessage::of_msu(&data.msu, format).map(Self::Message),
            Body::LinkStatus(m2pa::LinkStatus::Alignment | m2pa::LinkStatus::OutOfService) => {
                Ok(Self::OutOfService)
            }
            Body::Acknowledgement | Body::LinkStatus(_) => Ok(Self::Other),
        }
    }

    fn of_m3ua(octets: &Bytes, format: PointCodeFormat) -> Result<Self, Malformed> {
        match octets.get(2..4) {
            Some([1, 1]) => {}
            // ASP Down and ASP Inactive, and their acknowledgements (RFC 4666, section 3.1.2).
            Some([3, 2 | 5] | [4, 2 | 4]) => return Ok(Self::OutOfService),
            _ => return Ok(Self::Other),
        }
        let data = m3ua::Data::parse(octets).map_err(|_| Malformed)?.protocol_data;
        Ok(Self::Message(SignallingMessage {
            from: data.opc,
            to: data.dpc,
            service: data.service_indicator,
            network: data.network_indicator,
            sls: data.sls.0,
            len: 1 + label_len(format) + data.user_data.len(),
        }))
    }
}

/// Octets of a routing label.
pub(crate) const fn label_len(format: PointCodeFormat) -> usize {
    match format {
        PointCodeFormat::Ansi => 7,
        PointCodeFormat::Itu => 4,
        PointCodeFormat::Ttc => 5,
    }
}
