//! A host that sends what it was told to and keeps what it gets, and the networks that tests need.

use std::collections::VecDeque;
use std::net::IpAddr;

use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_net::{
    DirectionConfig, EndSystem, InterfaceId, Journey, LinkId, Network, NetworkBuilder, NodeId, QueueConfig,
    QueueLimit,
};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::{Checksum, Packet};

/// Sends at set times; keeps what arrives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scripted {
    pub(crate) to_send: VecDeque<(Instant, InterfaceId, Packet)>,
    pub(crate) received: Vec<(Instant, InterfaceId, Packet)>,
    /// Of a network that watches them.
    pub(crate) journeys: Vec<Journey>,
}

impl EndSystem for Scripted {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        self.received.push((now, interface, std::mem::take(packet)));
    }

    fn note_journey(&mut self, journey: Journey) {
        self.journeys.push(journey);
    }

    fn handle_deadline(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        let (_, interface, sent) = self.to_send.pop_front_if(|(at, _, _)| *at <= now)?;
        *packet = sent;
        Some(interface)
    }

    fn deadline(&self) -> Option<Instant> {
        self.to_send.front().map(|(at, _, _)| *at)
    }
}

impl Scripted {
    pub(crate) fn send(&mut self, at: Instant, interface: InterfaceId, packet: Packet) {
        self.to_send.push_back((at, interface, packet));
    }

    pub(crate) fn arrivals(&self) -> Vec<Instant> {
        self.received.iter().map(|&(at, _, _)| at).collect()
    }
}

/// The address of host `number`.
pub(crate) fn address(number: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, number])
}

/// An IP packet of `length` bytes in all whose first payload byte is `tag`.
pub(crate) fn packet(source: IpAddr, destination: IpAddr, length: usize, tag: u8) -> Packet {
    packet_with(source, destination, length, tag, 64)
}

/// Packet from the first host to the second with the traffic class `class`.
pub(crate) fn packet_of_class(class: u8, length: usize, tag: u8) -> Packet {
    let mut bytes = packet(address(1), address(2), length, tag).contiguous().to_vec();
    // The header's checksum goes unread by links that damage nothing.
    bytes[1] = class;
    Packet::shared(bytes.into(), Checksum::Complete)
}

pub(crate) fn packet_with(
    source: IpAddr,
    destination: IpAddr,
    length: usize,
    tag: u8,
    hop_limit: u8,
) -> Packet {
    let header_len = if source.is_ipv4() { 20 } else { 40 };
    let mut payload = vec![0; length - header_len];
    if let Some(first) = payload.first_mut() {
        *first = tag;
    }
    let payload_len = u16::try_from(payload.len()).expect("a short packet");
    let protocol = protocol::UDP;
    let header = IpHeader {
        source,
        destination,
        protocol,
        hop_limit,
        traffic_class: 0,
        payload_len,
        fragmentation: Fragmentation::Forbidden,
    };
    let mut packet = Packet::shared(payload.into(), Checksum::Complete);
    header.emit(packet.prepend(header_len));
    packet
}

/// The first payload byte of an IPv4 packet.
pub(crate) fn tag(packet: &Packet) -> u8 {
    packet.contiguous()[20]
}

/// 8 kbit/s: a byte takes a millisecond.
pub(crate) fn byte_a_millisecond() -> DataRate {
    DataRate::from_bits_per_sec(8_000)
}

pub(crate) fn clean(rate: DataRate, delay: Duration, queue_packets: u32) -> DirectionConfig {
    DirectionConfig::new(rate, delay, QueueConfig::DropTail(QueueLimit::Packets(queue_packets)))
}

/// Two hosts and the link between them.
pub(crate) struct Pair {
    pub(crate) network: Network<Scripted>,
    pub(crate) first: NodeId,
    pub(crate) second: NodeId,
    pub(crate) link: LinkId,
}

impl Pair {
    /// Host 1 and host 2, joined by a link that is alike in both directions.
    pub(crate) fn new(config: &DirectionConfig) -> Self {
        Self::with(config, Seed::new(1, 0), |_, _| {})
    }

    pub(crate) fn with(
        config: &DirectionConfig,
        seed: Seed,
        more: impl FnOnce(&mut NetworkBuilder, LinkId),
    ) -> Self {
        let mut builder = NetworkBuilder::new();
        let (first, second) = (builder.host("first"), builder.host("second"));
        let link = builder.link("wire", first, second, config.clone(), config.clone());
        builder.address(link.first(), address(1)).address(link.second(), address(2));
        more(&mut builder, link);
        let graph = builder.build().expect("a sound plan");
        let hosts = vec![Scripted::default(); graph.hosts().len()];
        let network = Network::new(graph, seed, hosts);
        Self { network, first, second, link }
    }

    /// Host 1 sends a packet of `length` bytes to host 2.
    pub(crate) fn send(&mut self, at: Instant, length: usize, tag: u8) {
        let packet = packet(address(1), address(2), length, tag);
        let interface = self.link.first();
        self.network.command(self.first, |host, _| host.send(at, interface, packet));
    }
}

pub(crate) fn millis(millis: u64) -> Instant {
    Instant::from_millis(millis)
}
