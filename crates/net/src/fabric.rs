//! Everything of a network but its hosts: links, routers and the packets on them.

mod fragments;
mod receivers;
mod report;
mod steer;

use slantpath_base::{Instant, Seed};
use slantpath_des::Kernel;
use slantpath_wire::ip::IpHeader;
use slantpath_wire::{Checksum, Packet, ethernet};

use crate::address_names::AddressNames;
use crate::graph::NetworkGraph;
use crate::header::{self, AddressKey};
use crate::link::{Asked, DirectionConfig, DropReason, LinkDirection, Offered, SharedPort};
use crate::outside::Outside;
use crate::packets::PacketStore;
use crate::parcel::{Condition, DestinationId, Fate, LENGTH_MAX, PacketId, Parcel};
use crate::slots::Slots;
use crate::source::{Links, Source};
use crate::ways::WatchedWays;
use crate::{DirectionId, InterfaceId, LinkEnd, NodeId};
use receivers::Receiver;
pub(crate) use receivers::Receivers;

/// Length of a packet in bytes. Lengths beyond that of any IP packet are cut to one that is too long for any link.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "no more than 24 bits")]
pub(crate) fn length_of(packet: &Packet) -> u32 {
    packet.len().min(LENGTH_MAX as usize) as u32
}

/// A packet that its sender's own link has refused. Its bytes are in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub(crate) interface: InterfaceId,
    pub(crate) parcel: Parcel,
    pub(crate) reason: DropReason,
}

/// A packet for a host.
pub(crate) struct Delivery {
    pub(crate) host: usize,
    pub(crate) interface: InterfaceId,
    pub(crate) parcel: Parcel,
}

#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    pub(crate) kernel: Kernel,
    pub(crate) slots: Slots,
    pub(crate) graph: NetworkGraph,
    pub(crate) directions: Vec<LinkDirection>,
    receivers: Receivers,
    pub(crate) shared_ports: Vec<SharedPort>,
    /// Packets that a contact's end has given back to their nodes, while changes are made.
    handed_over: Vec<(NodeId, DirectionId, Parcel)>,
    pub(crate) packets: PacketStore,
    /// Names of addresses by which flows are told apart; empty where none are.
    names: AddressNames,
    /// The destination that each interface sent to last: most packets follow one of their kind.
    last_resolved: Vec<Option<(AddressKey, DestinationId)>>,
    pub(crate) outside: Outside,
    pub(crate) packet_hops: u64,
    /// True if a direction may have gone out of service or come back since the ways were looked at.
    service_changed: bool,
    /// Ways that somebody watches.
    pub(crate) watched_ways: Option<Box<WatchedWays>>,
}

impl Fabric {
    pub(crate) fn new(graph: NetworkGraph, seed: Seed) -> Self {
        let direction = |(index, config)| {
            #[expect(clippy::cast_possible_truncation, reason = "numbered by 32 bits")]
            let id = DirectionId(index as u32);
            let path = graph.direction_path(id);
            LinkDirection::new(id, config, seed, &path)
        };
        let mut directions: Vec<_> = graph.directions.iter().enumerate().map(direction).collect();
        for direction in graph.contact_links.iter().flat_map(|link| [link.forward(), link.reverse()]) {
            directions[direction.index()].await_contacts();
        }
        let shared_port = |(name, config): &(String, DirectionConfig)| SharedPort::new(config, seed, name);
        let shared_ports = graph.shared_ports.iter().map(shared_port).collect();
        // A sky tells flows apart to spread them over antennas.
        let has_a_sky = !graph.contact_links.is_empty();
        let names = if has_a_sky || graph.directions.iter().any(DirectionConfig::tells_flows_apart) {
            graph.address_names()
        } else {
            AddressNames::default()
        };
        for direction in &mut directions {
            direction.name_addresses(&names);
        }
        let slots = Slots { directions: directions.len(), hosts: graph.hosts.len() };
        let kernel = Kernel::new(slots.host(0), slots.count());
        Self {
            kernel,
            slots,
            last_resolved: vec![None; directions.len()],
            directions,
            receivers: Receivers::new(&graph),
            shared_ports,
            handed_over: Vec::new(),
            packets: PacketStore::default(),
            names,
            outside: Outside::new(&graph),
            packet_hops: 0,
            service_changed: false,
            watched_ways: None,
            graph,
        }
    }

    /// Takes a packet from a node at the edge, which has been written into the store. One that the node's own link
    /// refuses comes back, for the node to be [told](Self::discard_at_sender).
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "every packet passes it once, and the parcel stays in registers"
    )]
    pub(crate) fn send(
        &mut self,
        interface: InterfaceId,
        id: PacketId,
        source: &mut impl Source,
    ) -> Result<(), Refusal> {
        let direction = interface.outbound();
        let packet = self.packets.packet(id);
        let length = length_of(packet);
        let target = header::parse(packet).and_then(|header| {
            self.resolve(interface, header.destination).map(|destination| (destination, header))
        });
        let Some((destination, header)) = target else {
            self.end_unreachable(direction, Parcel::new(id, DestinationId::from_index(0), length, 0, 0));
            return Ok(());
        };
        let mut parcel = Parcel::new(id, destination, length, header.hop_limit, header.traffic_class);
        if self.packets.is_observed() {
            parcel = self.note_sent(interface, parcel);
        }
        self.offer(direction, parcel, source).map_err(|reason| Refusal { interface, parcel, reason })
    }

    #[inline(never)]
    fn note_sent(&mut self, interface: InterfaceId, parcel: Parcel) -> Parcel {
        let [from, to] = [interface, self.graph.interface_of(parcel.destination())]
            .map(|interface| self.graph.node_of(interface));
        // What goes to somebody outside, or to a router, would never be seen to arrive.
        let pair = self.graph.host_place(to).map(|_| (from, to));
        self.packets.note_sent(self.kernel.now(), parcel, pair)
    }

    /// Ends a packet at its sender, since it is addressed to nobody.
    #[cold]
    fn end_unreachable(&mut self, direction: DirectionId, parcel: Parcel) {
        let counters = &mut self.directions[direction.index()].counters;
        counters.offered.add(parcel.length());
        counters.drop(self.kernel.now(), DropReason::Unreachable, parcel, &mut self.packets);
        self.packets.remove(parcel.packet());
    }

    #[inline]
    fn resolve(&mut self, interface: InterfaceId, key: AddressKey) -> Option<DestinationId> {
        let last = &mut self.last_resolved[interface.index()];
        match *last {
            Some((resolved, destination)) if resolved == key => Some(destination),
            _ => {
                let destination = self.graph.destination(key.address())?;
                *last = Some((key, destination));
                Some(destination)
            }
        }
    }

    /// Puts a packet on a link, in fragments if need be: the one way in. If it is refused, its bytes stay in the store.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every packet passes it on each hop")]
    pub(crate) fn offer(
        &mut self,
        id: DirectionId,
        parcel: Parcel,
        source: &mut impl Source,
    ) -> Result<(), DropReason> {
        let direction = &mut self.directions[id.index()];
        if !direction.is_plain_for(parcel.length()) {
            return self.offer_asked(id, parcel, source);
        }
        match direction.offer_plainly(self.kernel.now(), parcel) {
            Offered::Behind => {}
            Offered::Next(arrival) => self.kernel.schedule(Slots::direction(id.index()), arrival),
            Offered::NoRoom => {
                return Err(direction.refuse_for_room(self.kernel.now(), parcel, &mut self.packets));
            }
        }
        Ok(())
    }

    /// Variant of [`offer`](Self::offer) for a packet that is too long, or for which something is asked of the link.
    #[inline(never)]
    fn offer_asked(
        &mut self,
        id: DirectionId,
        parcel: Parcel,
        source: &mut impl Source,
    ) -> Result<(), DropReason> {
        let direction = &self.directions[id.index()];
        if direction.asked().has(Asked::STEERING) || !direction.carries(parcel.length()) {
            return self.offer_with_care(id, parcel, source);
        }
        self.put_on(id, parcel)
    }

    /// Puts a packet on a link that is no longer than it carries, with all that the link is asked for.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "where anything is asked for, every packet passes it on each hop"
    )]
    fn put_on(&mut self, id: DirectionId, parcel: Parcel) -> Result<(), DropReason> {
        let Self { kernel, directions, packets, .. } = self;
        let (now, direction) = (kernel.now(), &mut directions[id.index()]);
        let asked = direction.asked();
        if asked.has(Asked::MORE_THAN_PLAIN) {
            return self.put_on_by_rule(id, parcel);
        }
        let next_before = direction.next_arrival();
        let outcome = direction.offer_and_observe(now, parcel, packets);
        let next = direction.next_arrival();
        if next != next_before {
            kernel.schedule(Slots::direction(id.index()), next);
        }
        if asked.has(Asked::CAPTURES) {
            packets.note_offered(now, id, parcel, outcome.map(|fate| parcel.with_fate(fate)));
        }
        outcome.map(|_| ())
    }

    /// Variant of [`put_on`](Self::put_on) for a direction that is asked for [more than the plain
    /// rule](Asked::MORE_THAN_PLAIN).
    #[inline(never)]
    fn put_on_by_rule(&mut self, id: DirectionId, parcel: Parcel) -> Result<(), DropReason> {
        let Self { kernel, directions, packets, shared_ports, .. } = self;
        let (now, direction) = (kernel.now(), &mut directions[id.index()]);
        let next_before = direction.next_event();
        let outcome =
            direction.condition(now, parcel, packets).and_then(|parcel| match direction.shared_port() {
                None => direction.offer(now, parcel, packets),
                Some(port) => shared_ports[port.index()].offer(now, parcel, direction, packets),
            });
        let next = direction.next_event();
        if next != next_before {
            kernel.schedule(Slots::direction(id.index()), next);
        }
        if direction.asked().has(Asked::CAPTURES) {
            packets.note_offered(now, id, parcel, outcome);
        }
        outcome.map(|_| ())
    }

    /// Lets the event of a direction happen that is due. A packet that arrives for a host is returned; a router
    /// sends it on.
    #[inline]
    pub(crate) fn run_direction(&mut self, index: usize, source: &mut impl Source) -> Option<Delivery> {
        #[expect(clippy::cast_possible_truncation, reason = "numbered by 32 bits")]
        let id = DirectionId(index as u32);
        let direction = &mut self.directions[index];
        let Some(mut parcel) = direction.handle_event(self.kernel.now(), &mut self.packets) else {
            self.kernel.schedule_again(Slots::direction(index), direction.next_event());
            return None;
        };
        self.kernel.schedule_again(Slots::direction(index), direction.next_event());
        self.packet_hops += 1;
        if parcel.is_plain() {
            direction.count_plain_arrival(parcel);
            self.kernel.record(Slots::direction(index), parcel.digest_word());
        } else {
            parcel = self.meet_fate(id, parcel, source)?;
        }
        let (receiver, interface) = self.receivers.of_last(id, &self.directions[index]);
        match receiver {
            Receiver::Host(host) => return Some(Delivery { host: host as usize, interface, parcel }),
            Receiver::Outside => self.arrive_outside(interface, parcel),
            Receiver::Router(node) => self.forward(node, id, parcel, source),
            Receiver::Repeater(node) => self.send_on(node, id, parcel, source),
            Receiver::HostOfContact(_) | Receiver::OfContact => unreachable!("a contact leads to a node"),
        }
        None
    }

    /// Carries out what a link or one before it did to a packet, which comes to light where the packet arrives. Returns
    /// the packet if it is still to be received or sent on.
    #[inline(never)]
    fn meet_fate(&mut self, id: DirectionId, mut parcel: Parcel, source: &mut impl Source) -> Option<Parcel> {
        self.packets.end_hop(self.kernel.now(), parcel);
        if parcel.is_plain_but_watched() {
            self.directions[id.index()].count_plain_arrival(parcel);
            self.kernel.record(Slots::direction(id.index()), parcel.digest_word());
            return Some(parcel);
        }
        parcel = self.directions[id.index()].count_arrival(self.kernel.now(), parcel, &mut self.packets);
        self.kernel.record(Slots::direction(id.index()), parcel.digest_word());
        match parcel.fate() {
            Fate::Arrives => {}
            Fate::Damaged => parcel = self.damage(id.index(), parcel),
            Fate::Lost | Fate::Undecodable => {
                self.packets.remove(parcel.packet());
                return None;
            }
        }
        match (self.receivers.of_last(id, &self.directions[id.index()]).0, parcel.condition()) {
            (Receiver::Router(node), Condition::Damaged) => match self.read_again(parcel) {
                Ok(parcel) => Some(parcel),
                Err(reason) => {
                    self.end_at_router(node, id, parcel, reason, source);
                    None
                }
            },
            _ => Some(parcel),
        }
    }

    /// The packet of a parcel that has arrived, its hop limit and traffic class written into it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is called from one place")]
    pub(crate) fn unpack(&mut self, parcel: Parcel) -> &mut Packet {
        let packet = self.packets.packet_mut(parcel.packet());
        header::write(packet, parcel);
        packet
    }

    /// Routes a packet that came in from direction `from`.
    #[inline]
    fn forward(&mut self, node: NodeId, from: DirectionId, parcel: Parcel, source: &mut impl Source) {
        match next_hop(node, parcel, source) {
            Ok((direction, parcel)) => {
                if let Err(reason) = self.offer(direction, parcel, source) {
                    self.discard(node, from, parcel, reason, direction, source);
                }
            }
            Err(reason) => self.end_at_router(node, from, parcel, reason, source),
        }
    }

    /// Sends a packet on without a hop: from a repeater, or from a node to which a contact's end has given it back.
    #[inline(never)]
    fn send_on(&mut self, node: NodeId, from: DirectionId, parcel: Parcel, source: &mut impl Source) {
        let Some(direction) = source.next_hop(node, parcel.destination()) else {
            return self.end_at_router(node, from, parcel, DropReason::Unreachable, source);
        };
        if let Err(reason) = self.offer(direction, parcel, source) {
            self.discard(node, from, parcel, reason, direction, source);
        }
    }

    /// Ends a packet that a router cannot send on, whatever the link is like that it would take.
    #[cold]
    fn end_at_router(
        &mut self,
        node: NodeId,
        from: DirectionId,
        parcel: Parcel,
        reason: DropReason,
        source: &mut impl Source,
    ) {
        let counters = &mut self.directions[from.index()].counters;
        counters.drop(self.kernel.now(), reason, parcel, &mut self.packets);
        self.discard(node, from, parcel, reason, from, source);
    }

    /// Breaks the bytes of a packet that a bit error has met, all checksums in place as on the wire.
    #[cold]
    fn damage(&mut self, index: usize, parcel: Parcel) -> Parcel {
        let packet = self.packets.packet_mut(parcel.packet());
        header::write(packet, parcel);
        let mut bytes = packet.observed();
        // Of a frame, whose header is no part of its length, what it carries is hit.
        let header_len = if parcel.is_frame() { bytes.len() - ethernet::content_len(&bytes) } else { 0 };
        self.directions[index].damage(parcel, &mut bytes[header_len..]);
        *packet = Packet::shared(bytes.into(), Checksum::Complete);
        if parcel.is_frame() {
            let traffic_class = ethernet::traffic_class(&packet.contiguous());
            return parcel.with_traffic_class(traffic_class).with_condition(Condition::Damaged);
        }
        // What the error made of the header is not written over.
        let header = header::parse(packet);
        let traffic_class = header.map_or(parcel.traffic_class(), |header| header.traffic_class);
        parcel.with_traffic_class(traffic_class).with_condition(Condition::Damaged)
    }

    /// A router's reading of a packet that may say anything by now.
    #[cold]
    fn read_again(&mut self, parcel: Parcel) -> Result<Parcel, DropReason> {
        let packet = self.packets.packet_mut(parcel.packet());
        header::write(packet, parcel);
        let (header, _) = IpHeader::parse(&packet.contiguous()).map_err(|_| DropReason::BitError)?;
        let destination = self.graph.destination(header.destination);
        let destination = destination.ok_or(DropReason::Unreachable)?;
        let parcel = parcel.with_destination(destination).with_hop_limit(header.hop_limit);
        Ok(parcel.with_traffic_class(header.traffic_class))
    }

    /// Lets the source make what holds from the start, and schedules its first change.
    pub(crate) fn start(&mut self, source: &mut impl Source) {
        source.begin(&mut self.links());
        self.kernel.schedule(Slots::SOURCE, source.next_change());
    }

    pub(crate) fn links(&mut self) -> Links<'_> {
        let Self {
            kernel, directions, receivers, shared_ports, packets, handed_over, service_changed, ..
        } = self;
        Links { directions, shared_ports, packets, kernel, receivers, handed_over, service_changed }
    }

    /// Carries out the changes that are due now.
    pub(crate) fn apply_changes(&mut self, source: &mut impl Source) {
        let now = self.kernel.now();
        source.apply(now, &mut self.links());
        for (node, from, parcel) in core::mem::take(&mut self.handed_over) {
            self.send_on(node, from, parcel, source);
        }
        self.kernel.schedule(Slots::SOURCE, source.next_change());
        if core::mem::take(&mut self.service_changed) && self.watched_ways.is_some() {
            self.look_at_ways(source);
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.kernel.now()
    }
}

/// Counts a hop down and looks the next direction up.
#[inline]
fn next_hop(
    node: NodeId,
    parcel: Parcel,
    source: &mut impl Source,
) -> Result<(DirectionId, Parcel), DropReason> {
    //= https://www.rfc-editor.org/rfc/rfc8200#section-3
    //# When forwarding, the packet is discarded if Hop Limit was zero when received or is decremented to
    //# zero.
    //
    //= https://www.rfc-editor.org/rfc/rfc791#section-3.1
    //# If this field contains the value zero, then the datagram must be destroyed.
    let hop_limit = parcel.hop_limit().saturating_sub(1);
    if hop_limit == 0 {
        return Err(DropReason::HopLimit);
    }
    let direction = source.next_hop(node, parcel.destination()).ok_or(DropReason::Unreachable)?;
    Ok((direction, parcel.with_hop_limit(hop_limit)))
}
