//! A direction that exists while contacts last, each of which may lead to another node.
//!
//! Everything about a packet is settled when its first bit is sent, the node that receives it, too: which one that is
//! follows from its departure, since contacts of one direction come one after another. So a packet in flight arrives
//! where it was sent, whatever has become of the contact.

use slantpath_base::{Duration, Instant};

use crate::link::LinkDirection;
use crate::link::contact_delay::DelayPiece;
use crate::link::lane::Outlet;
use crate::parcel::{PacketStore, Parcel};
use crate::{NodeId, SharedPortId};

/// Where a direction leads for a time, see [`Links::begin_contact`](crate::Links::begin_contact).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The node that receives.
    pub receiver: NodeId,
    /// The transmitter, if others send by it, too; else the direction's own.
    pub port: Option<SharedPortId>,
}

/// What becomes of packets that wait for a transmitter when its contact ends. The one that is being sent is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtHandover {
    /// They are given back to their node, which sends them on by the routes that hold then.
    HandedOver,
    /// They go on waiting, for the next contact. What comes before it waits or is dropped as
    /// [`WhileDown`](crate::WhileDown) says.
    Held,
    /// They are dropped.
    Lost,
}

/// What became of the packets that a contact left behind at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Packets that their node sends on.
    pub handed_over: u64,
    /// Packets that wait for the next contact.
    pub held: u64,
    /// Packets that were dropped, with the one that was being transmitted.
    pub lost: u64,
}

/// The contacts of a direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    /// From which departure on which node receives, in the order of time. What no packet can ask for any more is
    /// forgotten when the next contact begins.
    landings: Vec<(Instant, NodeId)>,
    pub(crate) shared: Option<SharedPortId>,
}

impl Contacts {
    /// Who receives what left at an instant.
    #[inline]
    fn receiver(&self, departure: Instant) -> Option<NodeId> {
        self.landings.iter().rev().find(|&&(from, _)| from <= departure).map(|&(_, node)| node)
    }
}

impl LinkDirection {
    /// Has the direction exist in contacts only: there is none yet.
    pub(crate) fn await_contacts(&mut self) {
        self.port.await_contact(Instant::START);
        self.contacts = Some(Box::default());
        self.choose_way();
    }

    /// The transmitter that serves the present contact, if others send by it, too.
    #[inline]
    pub(crate) fn shared_port(&self) -> Option<SharedPortId> {
        self.contacts.as_ref()?.shared
    }

    /// Who receives the packet that was taken off last.
    #[inline]
    pub(crate) fn receiver_of_last(&self) -> Option<NodeId> {
        self.contacts.as_ref()?.receiver(self.lane.last_departure())
    }

    /// Who receives whatever is taken off, if that does not depend on when it left.
    pub(crate) fn only_receiver(&self) -> Option<NodeId> {
        let landings = &self.contacts.as_ref()?.landings;
        let &(_, node) = landings.first()?;
        landings.iter().all(|&(_, other)| other == node).then_some(node)
    }

    /// Begins a contact. What is being transmitted over one that goes on until now arrives where that one leads; what
    /// waits is sent over the new one.
    pub(crate) fn begin_contact(
        &mut self,
        now: Instant,
        contact: Contact,
        delay: impl Iterator<Item = DelayPiece>,
        packets: &mut PacketStore,
    ) {
        let Self { lane, port, counters, contacts, .. } = self;
        let contacts = contacts.get_or_insert_default();
        let mut outlet = Outlet { lane, counters, packets };
        let waiting = port.withdraw_waiting(now, &mut outlet);
        port.change_receiver(now, outlet.lane);
        let mut from = now;
        if let Some((first, last)) = outlet.lane.departures() {
            from = from.max(last + Duration::from_nanos(1));
            let needed = contacts.landings.partition_point(|&(from, _)| from <= first);
            contacts.landings.drain(..needed.saturating_sub(1));
        } else {
            contacts.landings.clear();
        }
        contacts.landings.push((from, contact.receiver));
        contacts.shared = contact.port;
        outlet.lane.set_contact_delay(delay);
        if contact.port.is_none() && !port.is_up() {
            port.go_up(now, &mut outlet);
        }
        for parcel in waiting {
            port.send_again(now, parcel, &mut outlet);
        }
        self.choose_way();
    }

    /// Ends the contact of the direction's own transmitter. Returns the packets that its node has to send on.
    pub(crate) fn end_contact(
        &mut self,
        now: Instant,
        at_handover: AtHandover,
        packets: &mut PacketStore,
    ) -> Vec<Parcel> {
        let Self { lane, port, counters, .. } = self;
        let handed_over = port.end_contact(now, at_handover, &mut Outlet { lane, counters, packets });
        self.choose_way();
        handed_over
    }
}
