//! IP packets for the tests of this crate.

use std::net::IpAddr;

use slantpath_wire::ip::{Fragmentation, IpHeader};

/// A packet from the first end to the second; of IPv4 it may be cut.
pub(crate) fn ip([source, destination]: [IpAddr; 2], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let payload_len = u16::try_from(payload.len()).unwrap();
    let fragmentation = match source {
        IpAddr::V4(_) => Fragmentation::Allowed { identification: 4 },
        IpAddr::V6(_) => Fragmentation::Forbidden,
    };
    let (hop_limit, traffic_class) = (9, 0);
    let header =
        IpHeader { source, destination, protocol, hop_limit, traffic_class, payload_len, fragmentation };
    let mut bytes = vec![0; header.header_len()];
    header.emit(&mut bytes);
    bytes.extend_from_slice(payload);
    bytes
}

/// A datagram of UDP without a checksum.
pub(crate) fn udp([source, destination]: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(8 + payload.len()).unwrap();
    let mut bytes = [source, destination, len, 0].map(u16::to_be_bytes).concat();
    bytes.extend_from_slice(payload);
    bytes
}
