//! Reports on packets that go no further: their senders may be told by ICMP.

use std::net::{IpAddr, Ipv4Addr};

use slantpath_wire::Packet;
use slantpath_wire::icmp::{IcmpError, Unreachable};

use crate::fabric::{Fabric, Refusal, length_of};
use crate::header;
use crate::link::DropReason;
use crate::parcel::Parcel;
use crate::source::Source;
use crate::{DirectionId, InterfaceId, LinkEnd, NodeId};

/// The hop limit of a router's own packets.
const HOP_LIMIT: u8 = 64;
/// The source of IPv4 messages of a router without an IPv4 address (RFC 7600, section 4.8).
const DUMMY_ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 8);

impl Fabric {
    /// Ends a packet that its own sender could not put on the link, and returns what the sender is told.
    pub(crate) fn discard_at_sender(&mut self, refusal: Refusal) -> Option<Packet> {
        let Refusal { interface, parcel, reason } = refusal;
        let Some(error) = self.error_of(reason, interface.outbound()) else {
            self.packets.remove(parcel.packet());
            return None;
        };
        let about = self.packets.packet(parcel.packet()).observed();
        self.packets.remove(parcel.packet());
        let node = self.graph.node_of(interface);
        error.report(self.address_for(node, interface, &about)?, &about, HOP_LIMIT)
    }

    /// Ends a packet that came to a router from direction `from` and could not go on to `next`, and sends its
    /// sender a message if there is one for the reason.
    #[cold]
    pub(crate) fn discard(
        &mut self,
        node: NodeId,
        from: DirectionId,
        parcel: Parcel,
        reason: DropReason,
        next: DirectionId,
        source: &mut impl Source,
    ) {
        let Some(error) = self.error_of(reason, next) else {
            self.packets.remove(parcel.packet());
            return;
        };
        let about = self.unpack(parcel).observed();
        self.packets.remove(parcel.packet());
        if let Some(address) = self.address_for(node, from.receiver(), &about)
            && let Some(report) = error.report(address, &about, HOP_LIMIT)
        {
            self.send_from_router(node, report, source);
        }
    }

    /// Error that a sender is told about a drop. A router does not know of most, and reports no congestion.
    fn error_of(&self, reason: DropReason, next: DirectionId) -> Option<IcmpError> {
        match reason {
            DropReason::HopLimit => Some(IcmpError::TimeExceeded),
            DropReason::Mtu if !self.graph.direction(next).is_mtu_reported => None,
            DropReason::Mtu => {
                let mtu_bytes = self.directions[next.index()].mtu_bytes();
                Some(IcmpError::PacketTooBig { mtu_bytes })
            }
            DropReason::Unreachable => Some(IcmpError::Unreachable(Unreachable::Network)),
            DropReason::BitError
            | DropReason::CoDel
            | DropReason::Down
            | DropReason::Early
            | DropReason::Forced
            | DropReason::GivenUp
            | DropReason::Handover
            | DropReason::HeaderContext
            | DropReason::Loss
            | DropReason::NoContact
            | DropReason::Policed
            | DropReason::QueueFull => None,
        }
    }

    /// The address by which a node speaks about a packet: of the interface that the packet concerns, or else
    /// any of its own.
    fn address_for(&self, node: NodeId, interface: InterfaceId, about: &[u8]) -> Option<IpAddr> {
        let is_v4 = about.first()? >> 4 == 4;
        let own = self.graph.interfaces(node).iter().copied();
        let mut addresses =
            [interface].into_iter().chain(own).flat_map(|interface| self.graph.addresses(interface));
        let address = addresses.find(|address| address.is_ipv4() == is_v4).copied();
        address.or(is_v4.then_some(DUMMY_ADDRESS.into()))
    }

    /// Sends a packet that a router made. One that cannot leave is dropped without another word.
    fn send_from_router(&mut self, node: NodeId, packet: Packet, source: &mut impl Source) {
        let Some(header) = header::parse(&packet) else { return };
        let Some(destination) = self.graph.destination(header.destination.address()) else { return };
        let Some(direction) = source.next_hop(node, destination) else { return };
        let length = length_of(&packet);
        let id = self.packets.insert(packet);
        let parcel = Parcel::new(id, destination, length, header.hop_limit, header.traffic_class);
        let parcel = self.packets.note_sent(self.now(), parcel, None);
        if self.offer(direction, parcel, source).is_err() {
            self.packets.remove(parcel.packet());
        }
    }
}
