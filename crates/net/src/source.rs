//! Interface of a network to the source of its changes and of the ways that packets take.

use slantpath_base::{Duration, Instant};
use slantpath_des::Kernel;
use slantpath_wire::Packet;

use crate::address_names::AddressNames;
use crate::conditioner::FlowKey;
use crate::fabric::Receivers;
use crate::graph::NetworkGraph;
use crate::link::{
    Asked, AtHandover, DelayPiece, DropReason, LeftBehind, LinkContact, LinkDirection, SharedPort, SlotRuns,
};
use crate::packets::PacketStore;
use crate::parcel::Parcel;
use crate::script::Change;
use crate::slots::Slots;
use crate::{DestinationId, DirectionId, NodeId, SharedPortId};

/// Changes of the network and next hops. The network calls [`apply`](Self::apply) at each instant that
/// [`next_change`](Self::next_change) names, before anything else of that instant, and asks for a next hop whenever a
/// router has a packet to send on. [`Planned`](crate::Planned) is the source of a plan whose changes are all known.
pub trait Source {
    /// Makes what holds from the start, before any host is asked for packets.
    fn begin(&mut self, _links: &mut Links<'_>) {}

    /// Instant of the next change of the network; [`Instant::FAR_FUTURE`] if there is none.
    fn next_change(&self) -> Instant;

    /// Carries out all that is due by `now`. The next change must then be later.
    fn apply(&mut self, now: Instant, links: &mut Links<'_>);

    /// The direction that a packet for `destination` takes at a router; `None` if no way leads there.
    fn next_hop(&mut self, node: NodeId, destination: DestinationId) -> Option<DirectionId>;

    /// By which direction of the same node a packet goes that is about to be sent by one that [is
    /// steered](Links::steer), and as what it is known from then on: as its destination, or by a
    /// [label](DestinationId::from_index) for it. Without a way it is dropped for want of a contact.
    fn steer(&mut self, leaving: &Leaving<'_>) -> Option<(DirectionId, DestinationId)> {
        Some((leaving.direction, leaving.destination))
    }

    /// Variant of [`steer`](Self::steer) for no certain packet: the way of those that nothing else decides.
    fn leave(
        &mut self,
        direction: DirectionId,
        destination: DestinationId,
    ) -> Option<(DirectionId, DestinationId)> {
        Some((direction, destination))
    }
}

/// A source to which changes can be given that nobody knew of at the start.
pub trait Changeable: Source {
    /// Has a change of `graph` happen at `at`, which is not past: behind those of that instant that are known already.
    fn add_change(&mut self, graph: &NetworkGraph, at: Instant, direction: DirectionId, change: Change);
}

/// A packet that is about to be sent, as a [`Source`] sees it.
pub struct Leaving<'a> {
    pub(crate) direction: DirectionId,
    pub(crate) destination: DestinationId,
    pub(crate) packet: &'a Packet,
    pub(crate) directions: &'a [LinkDirection],
    pub(crate) names: &'a AddressNames,
    pub(crate) now: Instant,
}

impl Leaving<'_> {
    /// Direction by which it would be sent.
    pub const fn direction(&self) -> DirectionId {
        self.direction
    }

    /// Destination that it is bound for, or the label that it has.
    pub const fn destination(&self) -> DestinationId {
        self.destination
    }

    /// Number that all packets of one flow have in common: of the nodes and links that its addresses belong to, of
    /// ports, and of a salt. Fragments have no ports here, so that those of one packet stay together.
    pub fn flow_hash(&self, salt: u64) -> u64 {
        FlowKey::of(self.packet).map_or(salt, |flow| self.names.named(flow).number(salt))
    }

    /// Time that the packet would wait at a direction of its node for what is to be sent before it.
    pub fn wait_at(&self, direction: DirectionId) -> Duration {
        self.directions[direction.index()].wait_at(self.now)
    }
}

/// Load that a direction is to carry, in bytes with what the link puts around each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Number of bytes that were offered to it.
    pub offered_bytes: u64,
    /// Number of bytes that are still to be sent.
    pub backlog_bytes: u64,
}

/// The links of a network in a run, as a [`Source`] changes them.
pub struct Links<'a> {
    pub(crate) directions: &'a mut [LinkDirection],
    pub(crate) shared_ports: &'a mut [SharedPort],
    pub(crate) packets: &'a mut PacketStore,
    pub(crate) kernel: &'a mut Kernel,
    pub(crate) receivers: &'a mut Receivers,
    /// Packets that nodes have to send on once all changes of the instant are made, and the directions that had them.
    pub(crate) handed_over: &'a mut Vec<(NodeId, DirectionId, Parcel)>,
    /// Set once a direction may have gone out of service or come back.
    pub(crate) service_changed: &'a mut bool,
}

impl Links<'_> {
    /// Changes a direction, for packets whose transmission has not begun. One that exists in contacts is taken down
    /// beside them: contacts go on beginning and ending, and it sends again once it has been let to and has one. What a
    /// [shared transmitter](crate::NetworkBuilder::shared_port) is like does not change.
    pub fn change(&mut self, direction: DirectionId, change: Change) {
        let now = self.kernel.now();
        *self.service_changed |=
            matches!(change, Change::BitErrors(_) | Change::Down | Change::Up | Change::Loss(_));
        let Self { directions, shared_ports, packets, .. } = self;
        match directions[direction.index()].shared_port() {
            None => directions[direction.index()].change(now, change, packets),
            Some(port) => {
                shared_ports[port.index()].change(now, direction, change, directions, packets);
                self.reschedule_all_of(port);
            }
        }
        self.reschedule(direction);
    }

    /// Sets the next events of all directions of a shared transmitter anew: what waited there leaves at other times.
    fn reschedule_all_of(&mut self, port: SharedPortId) {
        for &other in self.shared_ports[port.index()].directions() {
            let next = self.directions[other.index()].next_event();
            self.kernel.schedule(Slots::direction(other.index()), next);
        }
    }

    /// Has a direction of a [contact link](crate::NetworkBuilder::contact_link) lead to a node from now on, with the
    /// delay that the pieces say, in the order of their ends. If it leads somewhere already, by its own transmitter, it
    /// changes over: nothing is lost.
    pub fn begin_contact(
        &mut self,
        direction: DirectionId,
        contact: LinkContact,
        delay: impl Iterator<Item = DelayPiece>,
    ) {
        let now = self.kernel.now();
        *self.service_changed = true;
        self.directions[direction.index()].begin_contact(now, contact, delay, self.packets);
        let only = self.directions[direction.index()].only_receiver();
        self.receivers.begin_contact(direction, only);
        if let Some(port) = contact.port {
            self.shared_ports[port.index()].join(direction);
        }
        self.reschedule(direction);
    }

    /// Ends the contact of a direction: what is being transmitted is lost, and what waits at `sender` for it is treated
    /// as `at_handover` says. A [shared transmitter](crate::NetworkBuilder::shared_port) holds nothing: there
    /// [`AtHandover::Held`] is as [`AtHandover::HandedOver`].
    pub fn end_contact(
        &mut self,
        direction: DirectionId,
        sender: NodeId,
        at_handover: AtHandover,
    ) -> LeftBehind {
        let now = self.kernel.now();
        *self.service_changed = true;
        let before = left_behind(&self.directions[direction.index()]);
        let handed_over = match self.directions[direction.index()].shared_port() {
            None => self.directions[direction.index()].end_contact(now, at_handover, self.packets),
            Some(port) => {
                let Self { directions, shared_ports, packets, .. } = self;
                let left = shared_ports[port.index()].leave(now, direction, at_handover, directions, packets);
                self.reschedule_all_of(port);
                left
            }
        };
        self.handed_over.extend(handed_over.into_iter().map(|parcel| (sender, direction, parcel)));
        self.reschedule(direction);
        let after = left_behind(&self.directions[direction.index()]);
        LeftBehind {
            handed_over: after.handed_over - before.handed_over,
            held: after.held - before.held,
            lost: after.lost - before.lost,
        }
    }

    /// Has a contact go on with other pieces of its delay, which are the same up to now: more of them are known.
    pub fn go_on_with_contact(&mut self, direction: DirectionId, delay: impl Iterator<Item = DelayPiece>) {
        self.directions[direction.index()].go_on_with_contact(delay);
    }

    /// Has the source be asked of every packet that is to be sent by a direction [where it goes](Source::steer).
    pub fn steer(&mut self, direction: DirectionId) {
        self.directions[direction.index()].ask(Asked::STEERING);
    }

    /// Has the transmitter of a direction that [sends in frames](crate::SendingConfig::InFrames) have these slots from
    /// `from` on, which is a frame's beginning and not past. What it was to have later no longer holds.
    pub fn allocate(&mut self, direction: DirectionId, from: Instant, bursts: SlotRuns) {
        let now = self.kernel.now();
        self.directions[direction.index()].allocate(now, from, bursts, self.packets);
        self.reschedule(direction);
    }

    /// Load that has been offered to a direction that sends in frames since its counters were started, and what of that
    /// is still to be sent.
    pub fn demand(&mut self, direction: DirectionId) -> Demand {
        let now = self.kernel.now();
        let direction = &mut self.directions[direction.index()];
        let offered = direction.counters.offered;
        Demand {
            offered_bytes: offered.bytes + offered.packets * direction.overhead_bytes(),
            backlog_bytes: direction.backlog_bytes(now),
        }
    }

    fn reschedule(&mut self, direction: DirectionId) {
        let next = self.directions[direction.index()].next_event();
        self.kernel.schedule(Slots::direction(direction.index()), next);
    }

    /// Tells if a direction sends packets at present; of one that exists in contacts, if it would in one.
    pub fn is_up(&self, direction: DirectionId) -> bool {
        self.directions[direction.index()].is_up()
    }

    /// The propagation delay of what leaves at present.
    pub fn delay(&self, direction: DirectionId) -> Duration {
        self.directions[direction.index()].delay_at(self.kernel.now())
    }
}

/// Numbers of packets that the contacts of a direction have left behind so far.
fn left_behind(direction: &LinkDirection) -> LeftBehind {
    let counters = &direction.counters;
    LeftBehind {
        handed_over: counters.handed_over.packets,
        held: counters.held.packets,
        lost: counters.dropped(DropReason::Handover).packets,
    }
}
