//! The IP layer of a host: which interface a destination is reached by, and the header in front of a segment.

use std::collections::VecDeque;
use std::net::IpAddr;

use rustc_hash::FxHashMap;
use slantpath_interface::InterfaceId;
use slantpath_sctp as sctp;
use slantpath_wire::ip::{Envelope, Fragmentation, IPV4_HEADER_LEN, IpHeader, protocol};
use slantpath_wire::{Checksum, Packet, fragment};

/// The hop limit of what a host sends, unless its transport is set otherwise: it passes 63 routers and so 64 links.
pub const HOP_LIMIT: u8 = 64;

/// A host's addresses and its routes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interfaces {
    addresses: Vec<(IpAddr, InterfaceId)>,
    routes: Vec<Route>,
    /// The place of each destination among the routes.
    by_destination: FxHashMap<IpAddr, usize>,
    /// The place of the route that was taken last: most packets follow one of their kind.
    last: usize,
    /// The fragments of an IPv6 packet that wait behind the first.
    fragments: VecDeque<(InterfaceId, Packet)>,
    fragments_sent: u64,
    elsewhere: Elsewhere,
}

/// Treatment of packets to a destination without a route.
#[derive(Clone, Copy, Debug, Default)]
enum Elsewhere {
    /// They leave by the interface whose address they bear. The number is the identification of the last one that may
    /// be cut.
    BySource { identification: u32 },
    /// They are dropped.
    #[default]
    Nowhere,
}

/// Route to one destination.
#[derive(Clone, Copy, Debug)]
struct Route {
    destination: IpAddr,
    interface: InterfaceId,
    /// The interface's own address of the destination's family.
    source: IpAddr,
    /// Start of the header that nearly every packet to it has.
    start: Start,
    /// The identification of the packet that was last to be sent there and may be cut. Each destination has its own
    /// (RFC 6864, section 4), so that packets to one do not show in those to another.
    identification: u32,
}

/// The IPv4 header of a whole packet from one address to another that no router may cut and whose checksums are left
/// out. What differs from packet to packet is zero.
#[derive(Clone, Copy, Debug)]
enum Start {
    Ipv4([u8; IPV4_HEADER_LEN]),
    /// IPv6 headers are written field by field.
    Ipv6,
}

impl Start {
    fn new(source: IpAddr, destination: IpAddr) -> Self {
        if destination.is_ipv6() {
            return Self::Ipv6;
        }
        let fragmentation = Fragmentation::Forbidden;
        let (protocol, hop_limit, traffic_class, payload_len) = (0, 0, 0, 0);
        let mut octets = [0; IPV4_HEADER_LEN];
        IpHeader { source, destination, protocol, hop_limit, traffic_class, payload_len, fragmentation }
            .emit_unsummed(&mut octets);
        Self::Ipv4(octets)
    }
}

/// A destination that no interface of the host can send to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interface {interface:?} has no address of the family of {destination}")]
pub struct NoSourceAddress {
    /// Destination that no source address was found for.
    pub destination: IpAddr,
    /// The interface towards it.
    pub interface: InterfaceId,
}

impl Interfaces {
    pub(crate) fn new(addresses: Vec<(IpAddr, InterfaceId)>) -> Self {
        Self { addresses, ..Self::default() }
    }

    /// Gives the host another address, at an interface.
    pub(crate) fn add_address(&mut self, address: IpAddr, interface: InterfaceId) {
        if !self.owns(address) {
            self.addresses.push((address, interface));
        }
    }

    #[inline]
    pub(crate) fn owns(&self, address: IpAddr) -> bool {
        self.addresses.iter().any(|(own, _)| *own == address)
    }

    pub(crate) fn reaches(&self, destination: IpAddr) -> bool {
        matches!(self.elsewhere, Elsewhere::BySource { .. }) || self.by_destination.contains_key(&destination)
    }

    /// Has packets to a destination without a route leave by the interface whose address they bear.
    pub(crate) const fn route_by_source(&mut self) {
        self.elsewhere = Elsewhere::BySource { identification: 0 };
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
        if let Some(place) = self.by_destination.get(&destination) {
            let route = &mut self.routes[*place];
            *route = Route { interface, source, start: Start::new(source, destination), ..*route };
        } else {
            self.by_destination.insert(destination, self.routes.len());
            let start = Start::new(source, destination);
            self.routes.push(Route { destination, interface, source, start, identification: 0 });
        }
        Ok(())
    }

    /// Sends what goes to `destination` out by the interface of one of the host's own addresses, and from there.
    /// `false` if it is none, or of another family.
    pub(crate) fn leave_from(&mut self, destination: IpAddr, address: IpAddr) -> bool {
        let own = self.addresses.iter().find(|(own, _)| *own == address);
        own.copied().is_some_and(|(_, interface)| self.add_route(destination, interface).is_ok())
    }

    /// The address of the interface that a packet to `destination` leaves by.
    pub(crate) fn source_towards(&self, destination: IpAddr) -> Option<IpAddr> {
        Some(self.routes[*self.by_destination.get(&destination)?].source)
    }

    /// The interface towards `destination` and the address to send from: `preferred` if that interface has it. A TCP
    /// connection and datagrams keep their address even where packets leave by another interface. `None` if there is
    /// no route.
    //
    //= https://www.rfc-editor.org/rfc/rfc9293#section-3.9.1.1
    //# At all other times, a previous segment has either been sent or received
    //# on this connection, and TCP implementations MUST use the
    //# same local address that was used in those previous segments (MUST-
    //# 45).
    #[inline]
    fn route(
        &mut self,
        destination: IpAddr,
        preferred: IpAddr,
        protocol: u8,
    ) -> Option<(&mut Route, IpAddr)> {
        if self.routes.get(self.last).is_none_or(|route| route.destination != destination) {
            self.last = *self.by_destination.get(&destination)?;
        }
        let route = &mut self.routes[self.last];
        let keeps = route.source == preferred
            || self.addresses.contains(&(preferred, route.interface))
            || protocol != protocol::SCTP && self.addresses.iter().any(|(own, _)| *own == preferred);
        let source = if keeps { preferred } else { route.source };
        Some((route, source))
    }

    /// The interface of a packet, the address that it is sent from, and its identification if it may be cut.
    fn way(
        &mut self,
        destination: IpAddr,
        preferred: IpAddr,
        protocol: u8,
        may_be_cut: bool,
    ) -> Option<(InterfaceId, IpAddr, u32)> {
        if let Some((route, source)) = self.route(destination, preferred, protocol) {
            return Some((route.interface, source, if may_be_cut { route.next_identification() } else { 0 }));
        }
        let Elsewhere::BySource { identification } = &mut self.elsewhere else { return None };
        let (_, interface) = *self.addresses.iter().find(|(own, _)| *own == preferred)?;
        *identification = identification.wrapping_add(u32::from(may_be_cut));
        Some((interface, preferred, *identification))
    }

    /// Puts an IP header in front of a segment, and says which interface the packet leaves by. `None` if there is no
    /// route.
    #[inline]
    pub(crate) fn encapsulate(
        &mut self,
        envelope: &Envelope,
        fragmentation: sctp::IpFragmentation,
        protocol: u8,
        packet: &mut Packet,
    ) -> Option<InterfaceId> {
        match fragmentation {
            sctp::IpFragmentation::Allowed { .. } => {
                self.encapsulate_any(envelope, fragmentation, protocol, packet)
            }
            sctp::IpFragmentation::Forbidden => self.encapsulate_whole(envelope, protocol, packet),
        }
    }

    /// Variant of [`Interfaces::encapsulate`] for a segment that no router may cut.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every segment passes it, most by its first lines")]
    pub(crate) fn encapsulate_whole(
        &mut self,
        envelope: &Envelope,
        protocol: u8,
        packet: &mut Packet,
    ) -> Option<InterfaceId> {
        if let Some(route) = self.routes.get(self.last)
            && route.destination == envelope.destination
            && route.source == envelope.source
            && let Start::Ipv4(start) = &route.start
            && packet.checksum() == Checksum::Omitted
        {
            let total_len = length(packet).saturating_add(20);
            let octets: &mut [u8; IPV4_HEADER_LEN] =
                packet.prepend(IPV4_HEADER_LEN).try_into().expect("as many as were asked for");
            *octets = *start;
            octets[1] = envelope.fields.traffic_class();
            octets[2..4].copy_from_slice(&total_len.to_be_bytes());
            octets[8] = envelope.fields.hop_limit;
            octets[9] = protocol;
            return Some(route.interface);
        }
        self.encapsulate_any(envelope, sctp::IpFragmentation::Forbidden, protocol, packet)
    }

    /// Variant of [`Interfaces::encapsulate`] for a packet that does not follow one of its kind, or whose header
    /// differs from that of nearly all.
    #[inline(never)]
    fn encapsulate_any(
        &mut self,
        envelope: &Envelope,
        fragmentation: sctp::IpFragmentation,
        protocol: u8,
        packet: &mut Packet,
    ) -> Option<InterfaceId> {
        let &Envelope { source, destination, fields: ip } = envelope;
        let allowed = matches!(fragmentation, sctp::IpFragmentation::Allowed { .. });
        let (interface, source, identification) = self.way(destination, source, protocol, allowed)?;
        let payload_len = length(packet);
        let mut header = IpHeader {
            source,
            destination,
            protocol,
            hop_limit: ip.hop_limit,
            traffic_class: ip.traffic_class(),
            payload_len,
            fragmentation: Fragmentation::Forbidden,
        };
        if let sctp::IpFragmentation::Allowed { source_mtu } = fragmentation {
            #[expect(clippy::cast_possible_truncation, reason = "IPv4's numbers are the lower half")]
            let identification_v4 = identification as u16;
            header.fragmentation = Fragmentation::Allowed { identification: identification_v4 };
            prepend(&header, packet);
            if destination.is_ipv6() && packet.len() > source_mtu.into() {
                return self.cut(interface, packet, source_mtu, identification);
            }
        } else {
            prepend(&header, packet);
        }
        Some(interface)
    }

    /// Tells if a fragment is queued to be polled.
    #[inline]
    pub(crate) fn has_fragment(&self) -> bool {
        !self.fragments.is_empty()
    }

    /// Writes the next fragment of a packet whose first one was [given](Self::encapsulate) over `packet`.
    #[inline]
    pub(crate) fn poll_fragment(&mut self, packet: &mut Packet) -> Option<InterfaceId> {
        if self.fragments.is_empty() { None } else { self.take_fragment(packet) }
    }

    #[cold]
    fn take_fragment(&mut self, packet: &mut Packet) -> Option<InterfaceId> {
        let (interface, fragment) = self.fragments.pop_front()?;
        *packet = fragment;
        Some(interface)
    }

    /// Number of fragments that this host has made.
    pub(crate) const fn fragments_sent(&self) -> u64 {
        self.fragments_sent
    }

    //= https://www.rfc-editor.org/rfc/rfc8200#section-4.5
    //# Note: unlike
    //# IPv4, fragmentation in IPv6 is performed only by source nodes, not by
    //# routers along a packet's delivery path
    #[cold]
    fn cut(
        &mut self,
        interface: InterfaceId,
        packet: &mut Packet,
        mtu: u16,
        identification: u32,
    ) -> Option<InterfaceId> {
        // The transport's checksum covers the whole packet: no fragment could be given it later.
        packet.complete();
        let fragments = fragment::cut(&packet.contiguous(), mtu.into(), identification)?;
        self.fragments_sent += fragments.len() as u64;
        self.fragments.extend(fragments.into_iter().map(|fragment| (interface, fragment)));
        self.take_fragment(packet)
    }
}

/// Length of a segment in bytes.
#[inline]
fn length(segment: &Packet) -> u16 {
    u16::try_from(segment.len()).expect("a segment fits an IP packet")
}

/// Puts a header in front of a packet; its checksum is left out with the packet's own.
#[inline]
fn prepend(header: &IpHeader, packet: &mut Packet) {
    let checksum = packet.checksum();
    let octets = packet.prepend(header.header_len());
    match checksum {
        Checksum::Complete => header.emit(octets),
        Checksum::Omitted => header.emit_unsummed(octets),
    };
}

impl Route {
    /// Numbers packets one by one, so that a number comes again as late as it can. IPv4's have the lower half.
    const fn next_identification(&mut self) -> u32 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_wire::ip::{Dscp, Ecn, Fragment, IpFields};

    fn interfaces(own: &str, peer: &str) -> (Interfaces, [IpAddr; 2]) {
        let interface = InterfaceId::new(0);
        let addresses = [own, peer].map(|address| address.parse().unwrap());
        let mut interfaces = Interfaces::new(vec![(addresses[0], interface)]);
        interfaces.add_route(addresses[1], interface).unwrap();
        (interfaces, addresses)
    }

    const FORBIDDEN: sctp::IpFragmentation = sctp::IpFragmentation::Forbidden;

    fn segment([source, destination]: [IpAddr; 2], len: usize) -> (Envelope, Packet) {
        let packet = Packet::shared(vec![1; len].into(), Checksum::Complete);
        (Envelope { source, destination, fields: IpFields::default() }, packet)
    }

    fn headers(
        interfaces: &mut Interfaces,
        (envelope, mut packet): (Envelope, Packet),
        fragmentation: sctp::IpFragmentation,
    ) -> Vec<IpHeader> {
        let mut sent = interfaces.encapsulate(&envelope, fragmentation, protocol::SCTP, &mut packet);
        let mut headers = Vec::new();
        while sent.is_some() {
            headers.push(IpHeader::parse(&packet.contiguous()).unwrap().0);
            sent = interfaces.poll_fragment(&mut packet);
        }
        headers
    }

    #[test]
    fn a_segment_gets_a_header_that_parses() {
        let (mut interfaces, addresses) = interfaces("10.0.0.1", "10.0.0.2");
        let (envelope, mut packet) = segment(addresses, 30);
        interfaces.encapsulate(&envelope, FORBIDDEN, protocol::SCTP, &mut packet).unwrap();
        let bytes = packet.contiguous();
        let (header, len) = IpHeader::parse(&bytes).unwrap();
        assert_eq!([header.source, header.destination], addresses);
        assert_eq!((header.protocol, header.fragmentation), (132, Fragmentation::Forbidden));
        assert_eq!(bytes[len..], [1; 30]);
    }

    #[test]
    fn a_connection_keeps_its_address_where_its_packets_leave_by_another_interface_and_a_path_of_sctp_does_not()
     {
        let [first, second, peer] =
            ["10.0.0.1", "10.0.1.1", "10.9.0.1"].map(|address| address.parse().unwrap());
        let towards = InterfaceId::new(0);
        let mut interfaces = Interfaces::new(vec![(first, towards), (second, InterfaceId::new(1))]);
        interfaces.add_route(peer, towards).unwrap();
        for (protocol, used) in [
            (protocol::TCP, second),
            (protocol::UDP, second),
            (protocol::ICMPV6, second),
            (protocol::SCTP, first),
        ] {
            let (envelope, mut packet) = segment([second, peer], 30);
            let interface = interfaces.encapsulate(&envelope, FORBIDDEN, protocol, &mut packet).unwrap();
            assert_eq!(interface, towards);
            assert_eq!(IpHeader::parse(&packet.contiguous()).unwrap().0.source, used);
        }
    }

    #[test]
    fn where_packets_go_by_their_source_any_destination_is_reached_from_any_own_address() {
        let own: [IpAddr; 2] = ["10.0.0.1", "10.0.1.1"].map(|address| address.parse().unwrap());
        let peer = "192.0.2.7".parse().unwrap();
        let mut interfaces =
            Interfaces::new(vec![(own[0], InterfaceId::new(4)), (own[1], InterfaceId::new(7))]);
        let send = |interfaces: &mut Interfaces, source| {
            let (envelope, mut packet) = segment([source, peer], 30);
            let interface = interfaces.encapsulate(&envelope, FORBIDDEN, protocol::SCTP, &mut packet)?;
            let (header, _) = IpHeader::parse(&packet.contiguous()).unwrap();
            Some((interface.number(), header.source))
        };
        assert_eq!(send(&mut interfaces, own[0]), None);
        interfaces.route_by_source();
        assert_eq!(send(&mut interfaces, own[0]), Some((4, own[0])));
        assert_eq!(send(&mut interfaces, own[1]), Some((7, own[1])));
        assert_eq!(send(&mut interfaces, "10.0.2.1".parse().unwrap()), None, "not the host's own");
    }

    #[test]
    fn a_header_without_checksum_is_the_same_but_for_that() {
        let (mut interfaces, addresses) = interfaces("10.0.0.1", "10.0.0.2");
        let stranger = "10.0.0.9".parse().unwrap();
        for preferred in [addresses[0], stranger] {
            let sent = [Checksum::Complete, Checksum::Omitted].map(|checksum| {
                let fields = IpFields { hop_limit: 9, dscp: Dscp::new(46).unwrap(), ecn: Ecn::Capable0 };
                let envelope = Envelope { source: preferred, destination: addresses[1], fields };
                let mut packet = Packet::copied(&[1; 70], checksum);
                interfaces.encapsulate(&envelope, FORBIDDEN, protocol::TCP, &mut packet).unwrap();
                packet.contiguous().to_vec()
            });
            let [complete, mut omitted] = sent;
            assert_eq!(omitted[10..12], [0, 0]);
            omitted[10..12].copy_from_slice(&complete[10..12]);
            assert_eq!(omitted, complete);
        }
    }

    #[test]
    fn ipv4_packets_that_may_be_cut_are_numbered_and_left_to_the_routers() {
        let (mut interfaces, addresses) = interfaces("10.0.0.1", "10.0.0.2");
        for identification in 1..=2 {
            let allowed = sctp::IpFragmentation::Allowed { source_mtu: 576 };
            let sent = headers(&mut interfaces, segment(addresses, 1_000), allowed);
            let fragmentations: Vec<_> = sent.iter().map(|header| header.fragmentation).collect();
            assert_eq!(fragmentations, [Fragmentation::Allowed { identification }]);
        }
        assert_eq!(interfaces.fragments_sent(), 0);
    }

    #[test]
    fn ipv6_packets_that_are_too_long_are_cut_here() {
        let (mut interfaces, addresses) = interfaces("fd00::1", "fd00::2");
        let allowed = sctp::IpFragmentation::Allowed { source_mtu: 1_300 };
        let sent = headers(&mut interfaces, segment(addresses, 1_260), allowed);
        assert_eq!(sent.len(), 1, "1,300 bytes fit");
        let sent = headers(&mut interfaces, segment(addresses, 1_261), allowed);
        let part = |offset_bytes, is_followed| {
            Fragmentation::Fragment(Fragment { identification: 2, offset_bytes, is_followed })
        };
        let fragmentations: Vec<_> = sent.iter().map(|header| header.fragmentation).collect();
        assert_eq!(fragmentations, [part(0, true), part(1_248, false)]);
        assert_eq!(interfaces.fragments_sent(), 2);
        assert_eq!(headers(&mut interfaces, segment(addresses, 1_400), FORBIDDEN).len(), 1);
    }
}
