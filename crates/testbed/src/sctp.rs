//! Ports of SCTP of a node: a host with the associations of its ports, whose packets go in IP or in UDP.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use slantpath_base::{Instant, Stream};
use slantpath_interface::{EndSystem as _, InterfaceId};
use slantpath_live::{AssociationsConfig, PortAssociations, ProgramConfig, SctpConfig, SocketId, Station};
use slantpath_relay::HostConfig;
use slantpath_wire::ip::{Fragmentation, IpFields, IpHeader, protocol};
use slantpath_wire::{Checksum, Packet};

/// The first port that is assigned to nobody (RFC 6335, section 6).
pub(crate) const DYNAMIC_FIRST: u16 = 0xc000;

/// Carrier of the packets of such ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SctpCarriage {
    /// IP itself.
    Ip,
    /// UDP (RFC 6951).
    Udp {
        /// The own port.
        local_port: u16,
        /// The port of peers that have not been heard of.
        remote_port: u16,
    },
}

/// Ports of SCTP that share a host.
#[derive(Debug)]
pub struct SctpPorts {
    /// Host with its associations.
    pub station: Station<PortAssociations>,
    /// Own addresses, each a node's.
    addresses: Vec<IpAddr>,
    carriage: SctpCarriage,
    /// Numbers of the ports.
    numbers: Vec<u16>,
    /// UDP ports behind which peers have been heard or are called: by their address and SCTP port.
    udp_ports: BTreeMap<(IpAddr, u16), u16>,
}

/// A packet of such ports that leaves the host.
pub(crate) enum Leaving {
    /// An IP packet by an interface.
    Packet(InterfaceId, Packet),
    /// A datagram of UDP.
    Datagram(SocketAddr, SocketAddr, Packet),
}

impl SctpPorts {
    /// A host with some of a node's addresses, and no port yet.
    pub(crate) fn new(node: &HostConfig, addresses: Vec<IpAddr>, carriage: SctpCarriage) -> Self {
        let own =
            node.interfaces.iter().flat_map(|one| one.addresses.iter().map(|address| (*address, one.id)));
        let of_node: BTreeMap<IpAddr, InterfaceId> = own.collect();
        let placed = addresses.iter().filter_map(|own| Some((*own, *of_node.get(own)?)));
        let mut host = slantpath_live::Host::new(placed.collect());
        for (address, _, place) in &node.reaches {
            if let Some(interface) = node.interfaces.get(*place) {
                // Without an address there, the route is by another one's.
                let _ = host.add_route(*address, interface.id);
            }
        }
        host.route_by_source();
        host.answer_out_of_the_blue();
        let station = Station { host, program: PortAssociations::default() };
        Self { station, addresses, carriage, numbers: Vec::new(), udp_ports: BTreeMap::new() }
    }

    /// Addresses of the host, each with its UDP port, or zero.
    pub fn bound(&self) -> Vec<SocketAddr> {
        let port = match self.carriage {
            SctpCarriage::Ip => 0,
            SctpCarriage::Udp { local_port, .. } => local_port,
        };
        self.addresses.iter().map(|address| SocketAddr::new(*address, port)).collect()
    }

    /// Carrier of the packets.
    pub const fn carriage(&self) -> SctpCarriage {
        self.carriage
    }

    /// Numbers of the ports.
    pub(crate) fn numbers(&self) -> &[u16] {
        &self.numbers
    }

    /// Opens a port.
    pub(crate) fn open(
        &mut self,
        number: u16,
        sctp: SctpConfig,
        associations: AssociationsConfig,
        stream: Stream,
    ) -> SocketId {
        let port = ProgramConfig {
            sctp: Box::new(sctp),
            local_addresses: self.addresses.clone(),
            local_port: number,
            peer: None,
        };
        self.numbers.push(number);
        let Station { host, program } = &mut self.station;
        program.open(associations, &port, host, stream)
    }

    /// Says behind which UDP port a peer is that is being called; `None`: behind the usual one, or where it was heard.
    pub fn set_udp_port(&mut self, addresses: &[IpAddr], port: u16, udp_port: Option<u16>) {
        for address in addresses {
            if let Some(udp_port) = udp_port {
                self.udp_ports.insert((*address, port), udp_port);
            }
        }
    }

    /// Tells if packets to this address and port are for these ports.
    pub(crate) fn takes(&self, address: IpAddr, number: u16) -> bool {
        self.numbers.contains(&number) && self.addresses.contains(&address)
    }

    /// Tells if datagrams to this address and UDP port are for these ports.
    pub(crate) fn takes_datagrams(&self, local: SocketAddr) -> bool {
        matches!(self.carriage, SctpCarriage::Udp { local_port, .. } if local_port == local.port())
            && self.addresses.contains(&local.ip())
    }

    /// Takes an IP packet.
    pub(crate) fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        self.station.handle_packet(now, interface, packet);
    }

    /// Takes a packet of SCTP that has come in UDP.
    pub(crate) fn handle_datagram(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        [remote, local]: [SocketAddr; 2],
        payload: &[u8],
    ) {
        let Some(ports) = payload.first_chunk::<4>() else { return };
        self.udp_ports.insert((remote.ip(), u16::from_be_bytes([ports[0], ports[1]])), remote.port());
        let Ok(payload_len) = u16::try_from(payload.len()) else { return };
        let header = IpHeader {
            source: remote.ip(),
            destination: local.ip(),
            protocol: protocol::SCTP,
            hop_limit: IpFields::default().hop_limit,
            traffic_class: 0,
            payload_len,
            fragmentation: Fragmentation::Forbidden,
        };
        let mut packet = Packet::copied(payload, Checksum::Complete);
        header.emit(packet.prepend(header.header_len()));
        self.station.handle_packet(now, interface, &mut packet);
    }

    /// The next packet that leaves.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Leaving> {
        let mut packet = Packet::default();
        let interface = self.station.poll_transmit(now, &mut packet)?;
        let SctpCarriage::Udp { local_port, remote_port } = self.carriage else {
            return Some(Leaving::Packet(interface, packet));
        };
        packet.complete();
        let bytes = packet.contiguous();
        let (header, header_len) = IpHeader::parse_header(&bytes).ok()?;
        let payload = bytes.slice(header_len..);
        let peer_port = payload.get(2..4).map_or(0, |port| u16::from_be_bytes([port[0], port[1]]));
        let udp_port = self.udp_ports.get(&(header.destination, peer_port)).copied().unwrap_or(remote_port);
        let local = SocketAddr::new(header.source, local_port);
        let remote = SocketAddr::new(header.destination, udp_port);
        Some(Leaving::Datagram(local, remote, Packet::shared(payload, Checksum::Complete)))
    }
}

/// A port from the dynamic ones that `is_free`, from where `stream` begins.
pub(crate) fn free_port(stream: &mut Stream, is_free: impl Fn(u16) -> bool) -> Option<u16> {
    let start = u16::try_from(stream.next_u32() >> 16).unwrap_or_default();
    (0..=u16::MAX - DYNAMIC_FIRST)
        .map(|step| DYNAMIC_FIRST | (start.wrapping_add(step) & !DYNAMIC_FIRST))
        .find(|port| is_free(*port))
}
