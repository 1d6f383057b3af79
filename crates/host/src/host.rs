//! A host: IP below, transports in the middle, applications on top.

use std::net::IpAddr;

use slantpath_base::{Instant, Seed};
use slantpath_net::InterfaceId;
use slantpath_sigtran::transport::{Transmit, TransportInput};
use slantpath_wire::icmp::{IcmpError, IcmpMessage};
use slantpath_wire::ip::{IpHeader, protocol};
use slantpath_wire::{Checksum, Packet};

use crate::association::{AssociationConfig, AssociationCounters, AssociationEnd};
use crate::flow_end::FlowEnd;
use crate::interfaces::{Interfaces, NoSourceAddress, encapsulate};
use crate::receiver::ReceiverConfig;
use crate::record::{ReceiverReport, SenderReport};
use crate::sender::SenderConfig;
use crate::transport::TransportConfig;

/// Which of a host's flows is meant: numbers in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowEndId(pub usize);

/// Which of a host's associations is meant: numbers in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssociationEndId(pub usize);

/// Packets that a host threw away, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostDrops {
    /// The IP header does not parse or fails its checksum.
    pub bad_header: u64,
    /// For an address that is not the host's.
    pub not_ours: u64,
    /// For a protocol and port that nobody listens on.
    pub no_port: u64,
    /// To a destination that the host has no route to.
    pub no_route: u64,
}

/// An end system with the flows that start or end at it.
#[derive(Debug)]
pub struct Host {
    interfaces: Interfaces,
    associations: Vec<AssociationEnd>,
    flow_ends: Vec<FlowEnd>,
    /// Flow ends that have something to give since the last drain, each at most once.
    dirty: Vec<usize>,
    drops: HostDrops,
}

impl Host {
    /// A host with these addresses, each at an interface.
    pub fn new(addresses: Vec<(IpAddr, InterfaceId)>) -> Self {
        let interfaces = Interfaces::new(addresses);
        Self {
            interfaces,
            associations: Vec::new(),
            flow_ends: Vec::new(),
            dirty: Vec::new(),
            drops: HostDrops::default(),
        }
    }

    /// Sends what goes to `destination` out by `interface`. Packets to a destination without a route are
    /// dropped and counted.
    pub fn add_route(&mut self, destination: IpAddr, interface: InterfaceId) -> Result<(), NoSourceAddress> {
        self.interfaces.add_route(destination, interface)
    }

    /// Adds a sending end. `seed` and `path` name the flow, from which its streams of chance derive.
    pub fn add_sender(
        &mut self,
        transport: TransportConfig,
        config: SenderConfig,
        seed: Seed,
        path: &str,
    ) -> FlowEndId {
        let streams = ["transport", "workload"].map(|part| seed.stream(&format!("{path}/sender/{part}")));
        self.add(FlowEnd::sender(transport, config, streams))
    }

    /// Adds a receiving end, which listens from the start of the run.
    pub fn add_receiver(
        &mut self,
        transport: TransportConfig,
        config: ReceiverConfig,
        seed: Seed,
        path: &str,
    ) -> FlowEndId {
        let stream = seed.stream(&format!("{path}/receiver/transport"));
        self.add(FlowEnd::receiver(transport, config, stream))
    }

    fn add(&mut self, flow_end: FlowEnd) -> FlowEndId {
        self.flow_ends.push(flow_end);
        let id = self.flow_ends.len() - 1;
        self.dirty.push(id);
        FlowEndId(id)
    }

    /// Adds an end of an association that an adaptation layer drives. `path` names it for its stream of chance.
    pub fn add_association(&mut self, config: AssociationConfig, seed: Seed, path: &str) -> AssociationEndId {
        self.associations.push(AssociationEnd::new(config, seed.stream(path)));
        AssociationEndId(self.associations.len() - 1)
    }

    /// Whether an association has something to tell.
    pub fn has_association_input(&self, id: AssociationEndId) -> bool {
        self.associations.get(id.0).is_some_and(AssociationEnd::has_input)
    }

    /// What an association tells the layer above, oldest first.
    pub fn poll_association(&mut self, id: AssociationEndId) -> Option<TransportInput> {
        self.associations.get_mut(id.0)?.poll_input()
    }

    /// Sends a message on an association, in order on its stream. One that is down throws it away and counts it.
    ///
    /// # Panics
    /// If the host has no such association.
    pub fn send_on_association(&mut self, now: Instant, id: AssociationEndId, transmit: Transmit) {
        self.associations[id.0].send(now, transmit);
    }

    /// Ends an association at once. The end that opened it opens it again.
    ///
    /// # Panics
    /// If the host has no such association.
    pub fn abort_association(&mut self, now: Instant, id: AssociationEndId) {
        self.associations[id.0].abort(now);
    }

    /// Ends an association at once, and leaves it closed until [`Host::reopen_association`].
    ///
    /// # Panics
    /// If the host has no such association.
    pub fn close_association(&mut self, now: Instant, id: AssociationEndId) {
        self.associations[id.0].close(now);
    }

    /// Opens an association that was closed, if this end opens it.
    ///
    /// # Panics
    /// If the host has no such association.
    pub fn reopen_association(&mut self, now: Instant, id: AssociationEndId) {
        self.associations[id.0].open_again(now);
    }

    /// What an association has counted; `None` if there is no such association.
    pub fn association_counters(&self, id: AssociationEndId) -> Option<AssociationCounters> {
        self.associations.get(id.0).map(AssociationEnd::counters)
    }

    /// What the sender of a flow remembers; `None` for a receiver.
    pub fn sender_report(&self, id: FlowEndId) -> Option<&SenderReport> {
        self.flow_ends.get(id.0)?.sender_report()
    }

    /// What the receiver of a flow remembers; `None` for a sender.
    pub fn receiver_report(&self, id: FlowEndId) -> Option<&ReceiverReport> {
        self.flow_ends.get(id.0)?.receiver_report()
    }

    /// What the host threw away.
    pub const fn drops(&self) -> HostDrops {
        self.drops
    }

    /// The flow end at a port. A host has a handful: a list beats a map.
    fn flow_end_at(&self, protocol: u8, port: u16) -> Option<usize> {
        self.flow_ends.iter().position(|end| end.protocol() == protocol && end.port() == port)
    }

    fn association_at(&mut self, protocol: u8, port: u16) -> Option<&mut AssociationEnd> {
        let is_sctp = protocol == protocol::SCTP;
        self.associations.iter_mut().find(|end| is_sctp && end.port() == port)
    }

    /// The next packet of an association.
    fn poll_associations(&mut self, now: Instant) -> Option<(InterfaceId, Packet)> {
        for association in &mut self.associations {
            while let Some(mut segment) = association.poll_transmit(now) {
                match self.interfaces.route(segment.destination, segment.source) {
                    None => self.drops.no_route += 1,
                    Some((interface, source)) => {
                        encapsulate(&mut segment.packet, protocol::SCTP, source, segment.destination);
                        return Some((interface, segment.packet));
                    }
                }
            }
        }
        None
    }

    /// A router has something to say of a packet that this host sent. Only "too big" has consequences: all
    /// else is left to the transports' own timers (RFC 9260, section 10; RFC 5461).
    fn handle_icmp(&mut self, now: Instant, header: &IpHeader, packet: &Packet) {
        let bytes = packet.contiguous();
        let Ok(message) = IcmpMessage::parse(header, &bytes) else {
            self.drops.bad_header += 1;
            return;
        };
        let IcmpError::PacketTooBig { mtu_bytes } = message.error else { return };
        let Ok((quoted, quoted_len)) = IpHeader::parse_header(message.quote) else { return };
        let Some(port) = message.quote.get(quoted_len..).and_then(|segment| port(segment, 0)) else { return };
        if let Some(association) = self.association_at(quoted.protocol, port) {
            let mtu = u16::try_from(mtu_bytes).unwrap_or(u16::MAX);
            association.handle_packet_too_big(now, quoted.destination, mtu);
            return;
        }
        let flow_end = self.flow_end_at(quoted.protocol, port);
        if let Some(index) = flow_end {
            self.flow_ends[index].handle_packet_too_big(now, quoted.destination, mtu_bytes);
            self.mark(index);
        }
    }

    fn mark(&mut self, index: usize) {
        if !self.dirty.contains(&index) {
            self.dirty.push(index);
        }
    }
}

impl slantpath_net::Host for Host {
    fn handle_packet(&mut self, now: Instant, _interface: InterfaceId, mut packet: Packet) {
        let Some((header, header_len)) = read_header(&packet) else {
            self.drops.bad_header += 1;
            return;
        };
        if !self.interfaces.owns(header.destination) {
            self.drops.not_ours += 1;
            return;
        }
        packet.strip(header_len);
        if matches!(header.protocol, protocol::ICMP | protocol::ICMPV6) {
            self.handle_icmp(now, &header, &packet);
            return;
        }
        let segment = if packet.head().is_empty() { &packet.tail()[..] } else { packet.head() };
        let port = port(segment, 2);
        if let Some(association) = port.and_then(|port| self.association_at(header.protocol, port)) {
            association.handle_packet(now, header.source, header.destination, packet);
            return;
        }
        let Some(index) = port.and_then(|port| self.flow_end_at(header.protocol, port)) else {
            self.drops.no_port += 1;
            return;
        };
        self.flow_ends[index].handle_packet(now, header.source, header.destination, packet);
        self.mark(index);
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.associations.iter_mut().for_each(|association| association.handle_deadline(now));
        for index in 0..self.flow_ends.len() {
            if self.flow_ends[index].deadline().is_some_and(|deadline| deadline <= now) {
                self.flow_ends[index].handle_deadline(now);
                self.mark(index);
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(InterfaceId, Packet)> {
        if let Some(packet) = self.poll_associations(now) {
            return Some(packet);
        }
        while let Some(&index) = self.dirty.last() {
            while let Some(mut segment) = self.flow_ends[index].poll_transmit(now) {
                let protocol = self.flow_ends[index].protocol();
                let Some((interface, source)) = self.interfaces.route(segment.destination, segment.source)
                else {
                    self.drops.no_route += 1;
                    continue;
                };
                encapsulate(&mut segment.packet, protocol, source, segment.destination);
                return Some((interface, segment.packet));
            }
            self.dirty.pop();
        }
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let associations = self.associations.iter().filter_map(AssociationEnd::deadline);
        self.flow_ends.iter().filter_map(FlowEnd::deadline).chain(associations).min()
    }
}

/// The header of a packet, if it is right, with its length in bytes.
fn read_header(packet: &Packet) -> Option<(IpHeader, usize)> {
    let octets = if packet.head().is_empty() { &packet.tail()[..] } else { packet.head() };
    let (header, header_len) = IpHeader::parse_header(octets).ok()?;
    if packet.checksum() == Checksum::Complete {
        header.verify(&octets[..header_len]).ok()?;
    }
    (header_len + usize::from(header.payload_len) == packet.len()).then_some((header, header_len))
}

/// The port at an offset of a transport header: source at 0, destination at 2, in SCTP as in TCP.
fn port(segment: &[u8], offset: usize) -> Option<u16> {
    segment.get(offset..offset + 2).map(|octets| u16::from_be_bytes([octets[0], octets[1]]))
}
