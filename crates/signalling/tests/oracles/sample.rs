//! One message of ours: what it is, and what carries it in a capture.

use bytes::Bytes;
use slantpath_sigtran::m2pa;
use slantpath_sigtran::m3ua::{self, ProtocolData};
use slantpath_ss7::mtp3::{Msu, NetworkIndicator, RoutingLabel, ServiceIndicator, ServiceInformation, Sls};
use slantpath_ss7::sccp::{self, PartyAddress, ProtocolClass, Ssn};
use slantpath_ss7::{PointCode, PointCodeFormat};

pub(crate) const OPC: PointCode = PointCode(257);
pub(crate) const DPC: PointCode = PointCode(92);
pub(crate) const SLS: Sls = Sls(5);

/// A subsystem that nobody gave a meaning: what a reader finds in its messages is ours, and no guess at MAP.
pub(crate) const FREE_SUBSYSTEM: Ssn = Ssn(200);

/// A message that our encoder wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The layer, by its name in lower case.
    pub(crate) layer: &'static str,
    /// Name that we give the message.
    pub(crate) name: String,
    /// The message alone.
    pub(crate) octets: Vec<u8>,
}

impl Sample {
    pub(crate) fn new(layer: &'static str, name: impl Into<String>, octets: impl Into<Vec<u8>>) -> Self {
        Self { layer, name: name.into(), octets: octets.into() }
    }

    /// Content that an association carries: its port, its payload protocol identifier (RFC 4666, section 1.4.1, and its
    /// like in the others) and the octets of one DATA chunk.
    pub(crate) fn payload(&self) -> (u16, u32, Vec<u8>) {
        let octets = self.octets.clone();
        match self.layer {
            "iua" => (9_900, 1, octets),
            "m2ua" => (2_904, 2, octets),
            "m3ua" => (2_905, 3, octets),
            "sua" => (14_001, 4, octets),
            "m2pa" => (3_565, m2pa::PAYLOAD_PROTOCOL, octets),
            "isup" => (2_905, 3, over_m3ua(ServiceIndicator::ISUP, octets)),
            "sccp" => (2_905, 3, over_m3ua(ServiceIndicator::SCCP, octets)),
            "scmg" => (2_905, 3, over_sccp(Ssn(1), octets)),
            "tcap" => (2_905, 3, over_sccp(FREE_SUBSYSTEM, octets)),
            "mtp3" => (3_565, m2pa::PAYLOAD_PROTOCOL, over_m2pa(octets)),
            other => panic!("{other} is not carried by SCTP"),
        }
    }
}

/// A unitdata message between two subsystems of that number.
pub(crate) fn unitdata(ssn: Ssn, data: Vec<u8>) -> Vec<u8> {
    let address = |code| PartyAddress {
        routes_on_ssn: true,
        point_code: Some(code),
        ssn: Some(ssn),
        ..PartyAddress::default()
    };
    let class = ProtocolClass { class: 0, handling: 0 };
    let message = sccp::Message::Udt { class, called: address(DPC), calling: address(OPC), data };
    let mut octets = Vec::new();
    message.emit(&mut octets).unwrap();
    octets
}

/// An MSU of the national network between the two signalling points.
pub(crate) fn msu(indicator: ServiceIndicator, user_part: &[u8]) -> Vec<u8> {
    let service = ServiceInformation { indicator, network: NetworkIndicator::National, priority: 0 };
    let label = RoutingLabel { dpc: DPC, opc: OPC, sls: SLS };
    let mut octets = Vec::new();
    Msu { service, label, user_part }.emit(PointCodeFormat::Itu, &mut octets);
    octets
}

pub(crate) fn over_m3ua(indicator: ServiceIndicator, user_data: Vec<u8>) -> Vec<u8> {
    let protocol_data = ProtocolData {
        opc: OPC,
        dpc: DPC,
        service_indicator: indicator.value(),
        network_indicator: 2,
        priority: 0,
        sls: SLS,
        user_data: user_data.into(),
    };
    let data = m3ua::Data {
        network_appearance: None,
        routing_context: Some(7),
        protocol_data,
        correlation_id: None,
    };
    let mut octets = Vec::new();
    m3ua::Message::Data(data).emit(&mut octets);
    octets
}

fn over_sccp(ssn: Ssn, data: Vec<u8>) -> Vec<u8> {
    over_m3ua(ServiceIndicator::SCCP, unitdata(ssn, data))
}

fn over_m2pa(msu: Vec<u8>) -> Vec<u8> {
    let body =
        m2pa::Body::UserData(m2pa::UserData { priority: m2pa::Priority::default(), msu: Bytes::from(msu) });
    let none = m2pa::SequenceNumber::BEFORE_FIRST;
    let mut octets = Vec::new();
    m2pa::Message { bsn: none, fsn: none.next(), body }.emit(&mut octets);
    octets
}
