//! The IP layer of a host: which interface a destination is reached by, and the header in front of a segment.

use std::net::IpAddr;

use slantpath_net::InterfaceId;
use slantpath_wire::Packet;
use slantpath_wire::ip::IpHeader;

/// The hop limit of every packet that a host sends, as Linux has it.
const HOP_LIMIT: u8 = 64;

/// A host's addresses and its routes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interfaces {
    addresses: Vec<(IpAddr, InterfaceId)>,
    routes: Vec<Route>,
}

/// How one destination is reached.
#[derive(Clone, Copy, Debug)]
struct Route {
    destination: IpAddr,
    interface: InterfaceId,
    /// The interface's own address of the destination's family.
    source: IpAddr,
}

/// A destination that no interface of the host can send to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interface {interface:?} has no address of the family of {destination}")]
pub struct NoSourceAddress {
    /// The destination.
    pub destination: IpAddr,
    /// The interface towards it.
    pub interface: InterfaceId,
}

impl Interfaces {
    pub(crate) fn new(addresses: Vec<(IpAddr, InterfaceId)>) -> Self {
        Self { addresses, routes: Vec::new() }
    }

    pub(crate) fn owns(&self, address: IpAddr) -> bool {
        self.addresses.iter().any(|(own, _)| *own == address)
    }

    /// Sends what goes to `destination` out by `interface`.
    pub(crate) fn add_route(
        &mut self,
        destination: IpAddr,
        interface: InterfaceId,
    ) -> Result<(), NoSourceAddress> {
        let fits = |(address, own): &&(IpAddr, InterfaceId)| {
            *own == interface && address.is_ipv4() == destination.is_ipv4()
        };
        let (source, _) =
            *self.addresses.iter().find(fits).ok_or(NoSourceAddress { destination, interface })?;
        match self.routes.iter_mut().find(|route| route.destination == destination) {
            Some(route) => (route.interface, route.source) = (interface, source),
            None => self.routes.push(Route { destination, interface, source }),
        }
        Ok(())
    }

    /// The interface towards `destination` and the address to send from: `preferred` if that interface has it.
    /// `None` if there is no route. A host has a handful of peers: a list beats a map.
    pub(crate) fn route(&self, destination: IpAddr, preferred: IpAddr) -> Option<(InterfaceId, IpAddr)> {
        let route = self.routes.iter().find(|route| route.destination == destination)?;
        if route.source == preferred || self.addresses.contains(&(preferred, route.interface)) {
            return Some((route.interface, preferred));
        }
        Some((route.interface, route.source))
    }
}

/// Puts an IP header in front of a segment.
pub(crate) fn encapsulate(packet: &mut Packet, protocol: u8, source: IpAddr, destination: IpAddr) {
    let payload_len = u16::try_from(packet.len()).expect("a segment fits an IP packet");
    let header =
        IpHeader { source, destination, protocol, hop_limit: HOP_LIMIT, traffic_class: 0, payload_len };
    header.emit(packet.prepend(header.header_len()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_wire::Checksum;

    #[test]
    fn a_segment_gets_a_header_that_parses() {
        let mut packet = Packet::copied(&[1; 30], Checksum::Complete);
        let (source, destination) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        encapsulate(&mut packet, 132, source, destination);
        let bytes = packet.contiguous();
        let (header, len) = IpHeader::parse(&bytes).unwrap();
        assert_eq!((header.source, header.destination, header.protocol), (source, destination, 132));
        assert_eq!(bytes[len..], [1; 30]);
    }
}
