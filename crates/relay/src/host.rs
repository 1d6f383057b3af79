//! Host in the place of an attached node: IP with fragments and echoes, UDP, and one TCP.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_emulate::MacAddress;
use slantpath_emulate::frames::{FrameKind, classify, ethernet};
use slantpath_interface::InterfaceId;
use slantpath_tcp as tcp;
use slantpath_wire::icmp::echo::{EchoHeader, EchoKind};
use slantpath_wire::icmp::{IcmpError, IcmpMessage};
use slantpath_wire::ip::{Envelope, Fragmentation, IpFields, IpHeader, protocol};
use slantpath_wire::reassembly::Reassembler;
use slantpath_wire::udp::{UDP_HEADER_LEN, UdpHeader};
use slantpath_wire::{Checksum, Packet, fragment};

/// An attached node, for which a host stands.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Name of the node.
    pub name: String,
    /// Interfaces of the node.
    pub interfaces: Vec<HostInterface>,
    /// Addresses of all other nodes that it reaches, with their names, and the place of the interface that leads there.
    pub reaches: Vec<(IpAddr, String, usize)>,
}

/// An interface of such a node.
#[derive(Clone, Debug)]
pub struct HostInterface {
    /// Number of the interface in the network.
    pub id: InterfaceId,
    /// Addresses of the interface.
    pub addresses: Vec<IpAddr>,
    /// Largest IP packet of its link, in bytes.
    pub mtu_bytes: u32,
    /// True if its link carries frames, and false if it carries IP packets.
    pub carries_frames: bool,
}

/// A datagram that has come to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivedDatagram {
    /// Own address and port.
    pub local: SocketAddr,
    /// Sender's address and port.
    pub remote: SocketAddr,
    /// Number by which its sender tells it from others; IPv6 has none.
    pub identification: Option<u16>,
    /// Bytes of the datagram.
    pub payload: Bytes,
}

/// Why a datagram is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsentDatagram {
    /// No interface leads to its destination.
    #[error("no way leads there")]
    NoRoute,
    /// No IP packet is as long.
    #[error("it is longer than an IP packet may be")]
    TooLong,
}

/// Least MTU of a link that carries IPv6.
const IPV6_MTU_MIN: u32 = 1_280;
/// Least MTU of a link that carries IPv4 that is believed.
const IPV4_MTU_MIN: u32 = 576;
/// Greatest length behind the header of IPv4, and behind that of IPv6.
const PAYLOAD_MAX: [usize; 2] = [65_535 - 20, 65_535];

/// A host with the addresses of an attached node.
#[derive(Debug)]
pub struct RelayHost {
    config: HostConfig,
    /// Place of the interface towards each address.
    routes: BTreeMap<IpAddr, usize>,
    /// Largest packet on the way to an address, where a router has said that it is less than that of the first link.
    path_mtus: BTreeMap<IpAddr, u32>,
    /// TCP of the host.
    pub tcp: tcp::Endpoint,
    reassembler: Reassembler,
    leaving: VecDeque<(InterfaceId, Packet)>,
    identification: u32,
}

impl RelayHost {
    /// Node for which it stands.
    pub const fn config(&self) -> &HostConfig {
        &self.config
    }

    /// A host of which nobody has asked anything.
    pub fn new(config: HostConfig) -> Self {
        let places = 0..config.interfaces.len();
        let reaches = config.reaches.iter().filter(|(_, _, place)| places.contains(place));
        let routes = reaches.map(|(address, _, place)| (*address, *place)).collect();
        Self {
            config,
            routes,
            path_mtus: BTreeMap::new(),
            tcp: tcp::Endpoint::default(),
            reassembler: Reassembler::default(),
            leaving: VecDeque::new(),
            identification: 0,
        }
    }

    /// Name of its node.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// First address of a node that this host reaches.
    pub fn address_of(&self, node: &str) -> Option<IpAddr> {
        let mut reaches = self.config.reaches.iter();
        reaches
            .find(|(address, name, _)| name == node && self.source_towards(*address).is_some())
            .map(|(address, ..)| *address)
    }

    /// Own address from which a packet to `destination` leaves.
    pub fn source_towards(&self, destination: IpAddr) -> Option<IpAddr> {
        let interface = self.config.interfaces.get(*self.routes.get(&destination)?)?;
        interface.addresses.iter().copied().find(|own| own.is_ipv4() == destination.is_ipv4())
    }

    /// TCP's settings for connections of this host: a segment fits the link of each of its interfaces.
    pub fn tcp_config(&self, config: &tcp::TcpConfig) -> tcp::TcpConfig {
        let mtu = self.config.interfaces.iter().map(|interface| interface.mtu_bytes).min();
        let is_v6 = self.config.interfaces.iter().flat_map(|own| &own.addresses).any(IpAddr::is_ipv6);
        let headers = if is_v6 { 40 + 20 } else { 20 + 20 };
        let room = mtu.map_or(config.mss_bytes, |mtu| mtu.saturating_sub(headers).max(1));
        tcp::TcpConfig { mss_bytes: config.mss_bytes.min(room), ..*config }
    }

    /// Tells if an address is one of this host.
    pub fn owns(&self, address: IpAddr) -> bool {
        self.config.interfaces.iter().any(|interface| interface.addresses.contains(&address))
    }

    /// Takes a packet, or a frame, that has come by an interface. Gives the datagram that it has brought.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        packet: Packet,
    ) -> Option<ArrivedDatagram> {
        let own = self.config.interfaces.iter().find(|own| own.id == interface)?;
        let mut packet = if own.carries_frames { out_of_frame(&packet)? } else { packet };
        let front = if packet.head().is_empty() { &packet.tail()[..] } else { packet.head() };
        let (mut header, header_len) = IpHeader::parse_header(front).ok()?;
        if packet.checksum() == Checksum::Complete {
            header.verify(front.get(..header_len)?).ok()?;
        }
        if !self.owns(header.destination) {
            return None;
        }
        packet.strip(header_len);
        if let Fragmentation::Fragment(fragment) = header.fragmentation {
            let payload = packet.contiguous();
            let (whole, payload) = self.reassembler.handle_fragment(now, &header, fragment, &payload)?;
            (header, packet) = (whole, Packet::shared(payload, packet.checksum()));
        }
        let IpHeader { source, destination, .. } = header;
        let identification = match header.fragmentation {
            Fragmentation::Allowed { identification } => Some(identification),
            Fragmentation::Forbidden | Fragmentation::Fragment(_) => None,
        };
        match header.protocol {
            protocol::TCP => {
                let envelope = Envelope { source, destination, fields: IpFields::of(&header) };
                self.tcp.handle_packet(now, None, &envelope, &mut packet);
                None
            }
            protocol::UDP => {
                let bytes = packet.contiguous();
                let (ports, payload) =
                    UdpHeader::parse(&bytes, source, destination, packet.checksum()).ok()?;
                Some(ArrivedDatagram {
                    local: SocketAddr::new(destination, ports.destination_port),
                    remote: SocketAddr::new(source, ports.source_port),
                    identification,
                    payload: bytes.slice_ref(payload),
                })
            }
            protocol::ICMP | protocol::ICMPV6 => {
                self.handle_icmp(now, &header, &packet);
                None
            }
            _ => None,
        }
    }

    /// Answers an echo request, and believes what a router says of packets that were too long.
    fn handle_icmp(&mut self, now: Instant, header: &IpHeader, packet: &Packet) {
        let bytes = packet.contiguous();
        if let Ok(Some((echo, data))) = EchoHeader::parse(header, &bytes) {
            if echo.kind == EchoKind::Request {
                let [source, destination] = [header.destination, header.source];
                let data = bytes.slice_ref(data);
                let reply = EchoHeader { kind: EchoKind::Reply, ..echo }.packet(data, source, destination);
                let envelope = Envelope { source, destination, fields: IpFields::default() };
                // Nobody waits for an answer that has no way.
                let _ = self.send(&envelope, header.protocol, reply, true);
            }
            return;
        }
        let Ok(IcmpMessage { error: IcmpError::PacketTooBig { mtu_bytes }, quote }) =
            IcmpMessage::parse(header, &bytes)
        else {
            return;
        };
        let Ok((quoted, quoted_len)) = IpHeader::parse_header(quote) else { return };
        let IpHeader { source, destination, .. } = quoted;
        // It has to be about a packet that this host can have sent.
        if !self.owns(source) || !self.routes.contains_key(&destination) {
            return;
        }
        if quoted.protocol == protocol::TCP {
            let quote = bytes.slice_ref(&quote[quoted_len..]);
            self.tcp.handle_input(now, tcp::Input::PacketTooBig { source, destination, mtu_bytes, quote });
        } else {
            let least = if destination.is_ipv4() { IPV4_MTU_MIN } else { IPV6_MTU_MIN };
            let known = self.path_mtus.entry(destination).or_insert(u32::MAX);
            *known = (*known).min(mtu_bytes.max(least));
        }
    }

    /// Sends a datagram. One that is longer than the path carries leaves in fragments.
    ///
    /// # Errors
    /// If it cannot leave.
    pub fn send_datagram(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        payload: Bytes,
    ) -> Result<(), UnsentDatagram> {
        let (source, destination) = (local.ip(), remote.ip());
        if UDP_HEADER_LEN + payload.len() > PAYLOAD_MAX[usize::from(destination.is_ipv6())] {
            return Err(UnsentDatagram::TooLong);
        }
        let ports = UdpHeader { source_port: local.port(), destination_port: remote.port() };
        let header = ports.emit(&[&payload], source, destination, Checksum::Complete);
        let packet = Packet::with_tail(&header, payload, 0, Checksum::Complete);
        let envelope = Envelope { source, destination, fields: IpFields::default() };
        self.send(&envelope, protocol::UDP, packet, true)
    }

    /// Number of the datagram that was sent last, as IPv4 carries it.
    #[expect(clippy::cast_possible_truncation, reason = "IPv4's numbers are the lower half")]
    pub const fn identification(&self) -> u16 {
        self.identification as u16
    }

    /// Puts the header of IP in front of what a transport sends, and has it leave.
    ///
    /// # Errors
    /// If it cannot leave.
    pub fn send(
        &mut self,
        envelope: &Envelope,
        protocol: u8,
        mut packet: Packet,
        may_be_cut: bool,
    ) -> Result<(), UnsentDatagram> {
        let &Envelope { source, destination, fields } = envelope;
        let place = self.routes.get(&destination).ok_or(UnsentDatagram::NoRoute)?;
        let interface = self.config.interfaces.get(*place).ok_or(UnsentDatagram::NoRoute)?;
        self.identification = self.identification.wrapping_add(u32::from(may_be_cut));
        let fragmentation = if may_be_cut && destination.is_ipv4() {
            #[expect(clippy::cast_possible_truncation, reason = "IPv4's numbers are the lower half")]
            Fragmentation::Allowed { identification: self.identification as u16 }
        } else {
            Fragmentation::Forbidden
        };
        let header = IpHeader {
            source,
            destination,
            protocol,
            hop_limit: fields.hop_limit,
            traffic_class: fields.traffic_class(),
            payload_len: u16::try_from(packet.len()).map_err(|_| UnsentDatagram::TooLong)?,
            fragmentation,
        };
        if packet.checksum() == Checksum::Complete {
            header.emit(packet.prepend(header.header_len()));
        } else {
            header.emit_unsummed(packet.prepend(header.header_len()));
        }
        let (id, carries_frames) = (interface.id, interface.carries_frames);
        let mtu = self
            .path_mtus
            .get(&destination)
            .map_or(interface.mtu_bytes, |mtu| (*mtu).min(interface.mtu_bytes));
        let is_long = u32::try_from(packet.len()).is_ok_and(|len| len > mtu);
        let packets = if may_be_cut && is_long {
            packet.complete();
            let fragments = fragment::cut(&packet.contiguous(), mtu, self.identification);
            fragments.ok_or(UnsentDatagram::TooLong)?
        } else {
            vec![packet]
        };
        for packet in packets {
            let packet = if carries_frames { in_frame(packet, [source, destination]) } else { Some(packet) };
            self.leaving.extend(packet.map(|packet| (id, packet)));
        }
        Ok(())
    }

    /// The next packet, or frame, to leave.
    pub fn poll_packet(&mut self) -> Option<(InterfaceId, Packet)> {
        self.leaving.pop_front()
    }

    /// Does what is due by `now`.
    pub fn handle_deadline(&mut self, now: Instant) {
        self.reassembler.handle_deadline(now);
        self.tcp.handle_input(now, tcp::Input::Deadline);
    }

    /// Instant at which [`handle_deadline`](Self::handle_deadline) is to be called.
    pub fn deadline(&self) -> Option<Instant> {
        [self.tcp.deadline(), self.reassembler.deadline()].into_iter().flatten().min()
    }
}

/// The IP packet in a frame. Others that may come, such as ARP, are nobody's: both ends know each other.
pub fn out_of_frame(frame: &Packet) -> Option<Packet> {
    let bytes = frame.contiguous();
    match classify(&bytes) {
        FrameKind::Ip { packet } => Some(Packet::shared(bytes.slice_ref(packet), frame.checksum())),
        _ => None,
    }
}

/// An IP packet in a frame.
pub fn in_frame(mut packet: Packet, [source, destination]: [IpAddr; 2]) -> Option<Packet> {
    packet.complete();
    let header = ethernet(mac_of(destination), mac_of(source), &packet.contiguous())?;
    let mut bytes = Vec::with_capacity(header.len() + packet.len());
    bytes.extend_from_slice(&header);
    packet.write_to(&mut bytes);
    Some(Packet::shared(bytes.into(), Checksum::Complete))
}

/// MAC address of the host that has an IP address, by which both ends find each other without asking: one that is
/// administered locally.
fn mac_of(address: IpAddr) -> MacAddress {
    let low = match address {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(address) => {
            let [.., a, b, c, d] = address.octets();
            [a, b, c, d]
        }
    };
    MacAddress([2, 0, low[0], low[1], low[2], low[3]])
}
