//! A host: IP below, transports in the middle, applications on top.

use std::net::IpAddr;

use slantpath_base::{Instant, Seed};
use slantpath_net::InterfaceId;
use slantpath_sigtran::transport::{Transmit, TransportInput};
use slantpath_wire::icmp::IcmpMessage;
use slantpath_wire::ip::{Fragment, Fragmentation, IpHeader, protocol};
use slantpath_wire::reassembly::{Reassembler, ReassemblyCounters};
use slantpath_wire::{Checksum, Packet};

use crate::association::{AssociationConfig, AssociationCounters, AssociationEnd};
use crate::flow_end::FlowEnd;
use crate::interfaces::{Interfaces, NoSourceAddress};
use crate::receiver::ReceiverConfig;
use crate::record::{DeliveredMessage, Finality, ReceiverReport, SenderRecords, SenderReport};
use crate::sender::SenderConfig;
use crate::transport::{SegmentReport, TransportConfig};

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
    reassembler: Reassembler,
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
            reassembler: Reassembler::default(),
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

    /// Takes records of the sender of a flow, which forgets them; `None` for a receiver. Nothing of the run changes.
    pub fn take_sender_records(&mut self, id: FlowEndId, finality: Finality) -> Option<SenderRecords> {
        self.flow_ends.get_mut(id.0)?.take_sender_records(finality)
    }

    /// Takes the deliveries that the receiver of a flow has recorded and forgets; `None` for a sender.
    pub fn take_deliveries(&mut self, id: FlowEndId) -> Option<Vec<DeliveredMessage>> {
        self.flow_ends.get_mut(id.0)?.take_deliveries()
    }

    /// What the host threw away.
    pub const fn drops(&self) -> HostDrops {
        self.drops
    }

    /// What has become of the fragments that came in.
    pub const fn reassembly(&self) -> &ReassemblyCounters {
        self.reassembler.counters()
    }

    /// How many fragments the host has made of packets of its own: of IPv6 packets, since IPv4's are cut where the link
    /// is that does not carry them.
    pub const fn fragments_sent(&self) -> u64 {
        self.interfaces.fragments_sent()
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
            while let Some(segment) = association.poll_transmit(now) {
                let sent = self.interfaces.encapsulate(segment, protocol::SCTP);
                if sent.is_some() {
                    return sent;
                }
                self.drops.no_route += 1;
            }
        }
        None
    }

    /// A router has something to say of a packet that this host sent. What follows from it is for the transport.
    fn handle_icmp(&mut self, now: Instant, header: &IpHeader, packet: &Packet) {
        let bytes = packet.contiguous();
        let Ok(message) = IcmpMessage::parse(header, &bytes) else {
            self.drops.bad_header += 1;
            return;
        };
        let Ok((quoted, quoted_len)) = IpHeader::parse_header(message.quote) else { return };
        if let Fragmentation::Fragment(Fragment { offset_bytes: 1.., .. }) = quoted.fragmentation {
            // It has no transport header. The first fragment is as long, and is reported, too.
            return;
        }
        let segment = &message.quote[quoted_len..];
        let Some(port) = port(segment, 0) else { return };
        let quote = bytes.slice_ref(segment);
        let IpHeader { source, destination, .. } = quoted;
        let report = SegmentReport { source, destination, error: message.error, quote };
        if let Some(association) = self.association_at(quoted.protocol, port) {
            association.handle_report(now, report);
        } else if let Some(index) = self.flow_end_at(quoted.protocol, port) {
            self.flow_ends[index].handle_report(now, report);
            self.mark(index);
        }
    }

    /// Takes in a fragment. Gives the packet that is whole by it, without its IP header.
    #[cold]
    fn reassemble(
        &mut self,
        now: Instant,
        header: &IpHeader,
        fragment: Fragment,
        packet: &Packet,
    ) -> Option<(IpHeader, Packet)> {
        let payload = packet.contiguous();
        let (whole, payload) = self.reassembler.handle_fragment(now, header, fragment, &payload)?;
        Some((whole, Packet::shared(payload, packet.checksum())))
    }

    fn mark(&mut self, index: usize) {
        if !self.dirty.contains(&index) {
            self.dirty.push(index);
        }
    }
}

impl slantpath_net::Host for Host {
    fn handle_packet(&mut self, now: Instant, _interface: InterfaceId, mut packet: Packet) {
        let Some((mut header, header_len)) = read_header(&packet) else {
            self.drops.bad_header += 1;
            return;
        };
        if !self.interfaces.owns(header.destination) {
            self.drops.not_ours += 1;
            return;
        }
        packet.strip(header_len);
        if let Fragmentation::Fragment(fragment) = header.fragmentation {
            match self.reassemble(now, &header, fragment, &packet) {
                Some(whole) => (header, packet) = whole,
                None => return,
            }
        }
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
        self.reassembler.handle_deadline(now);
        self.associations.iter_mut().for_each(|association| association.handle_deadline(now));
        for index in 0..self.flow_ends.len() {
            if self.flow_ends[index].deadline().is_some_and(|deadline| deadline <= now) {
                self.flow_ends[index].handle_deadline(now);
                self.mark(index);
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(InterfaceId, Packet)> {
        if let Some(fragment) = self.interfaces.poll_fragment() {
            return Some(fragment);
        }
        if let Some(packet) = self.poll_associations(now) {
            return Some(packet);
        }
        while let Some(&index) = self.dirty.last() {
            while let Some(segment) = self.flow_ends[index].poll_transmit(now) {
                let sent = self.interfaces.encapsulate(segment, self.flow_ends[index].protocol());
                if sent.is_some() {
                    return sent;
                }
                self.drops.no_route += 1;
            }
            self.dirty.pop();
        }
        None
    }

    fn deadline(&self) -> Option<Instant> {
        let associations = self.associations.iter().filter_map(AssociationEnd::deadline);
        let flow_ends = self.flow_ends.iter().filter_map(FlowEnd::deadline);
        flow_ends.chain(associations).chain(self.reassembler.deadline()).min()
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
