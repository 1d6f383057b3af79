//! A direction that exists while contacts last, each of which may lead to another node.
//!
//! Everything about a packet is settled when its first bit is sent, the node that receives it, too: which one that is
//! follows from its departure, since contacts of one direction come one after another. So a packet in flight arrives
//! where it was sent, whatever has become of the contact.

use slantpath_base::{Duration, Instant};

use crate::link::LinkDirection;
use crate::link::contact_delay::DelayPiece;
use crate::link::counters::DropReason;
use crate::link::lane::Outlet;
use crate::link::outage::AtHandover;
use crate::packets::PacketStore;
use crate::parcel::Parcel;
use crate::script::Change;
use crate::{NodeId, SharedPortId};

/// Receiver and transmitter of a direction for a time, see [`Links::begin_contact`](crate::Links::begin_contact).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkContact {
    /// The node that receives.
    pub receiver: NodeId,
    /// The transmitter, if others send by it, too; else the direction's own.
    pub port: Option<SharedPortId>,
}

/// Fates of the packets that a contact left behind at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Packets that their node sends on.
    pub handed_over: u64,
    /// Packets that wait for the next contact.
    pub held: u64,
    /// Packets that were dropped, with the one that was being transmitted.
    pub lost: u64,
}

/// The contacts of a direction. It sends while it has one, unless a script has taken it down: both go their own ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    has_contact: bool,
    is_taken_down: bool,
    /// From which departure on which node receives, in the order of time. What no packet can ask for any more is
    /// forgotten when the next contact begins.
    landings: Vec<(Instant, NodeId)>,
    pub(crate) shared: Option<SharedPortId>,
    /// Time that transmitters that others share have taken, or will take, to send packets of this direction.
    shared_busy: Duration,
}

impl Contacts {
    /// Tells if it has a contact.
    pub(crate) const fn has_contact(&self) -> bool {
        self.has_contact
    }

    /// Receiver of what is sent from now on.
    pub(crate) fn present_receiver(&self) -> Option<NodeId> {
        self.landings.last().map(|&(_, node)| node)
    }

    /// Ends the contact of a transmitter that others share.
    pub(crate) fn leave_shared_port(&mut self) {
        self.shared = None;
        self.has_contact = false;
    }

    /// Counts the time that a shared transmitter takes to send a packet.
    pub(crate) fn add_shared_busy(&mut self, time: Duration) {
        self.shared_busy += time;
    }

    /// Takes back what was counted of a packet that is not sent, or not to its end. The count may have been started
    /// anew since.
    pub(crate) fn remove_shared_busy(&mut self, time: Duration) {
        self.shared_busy = self.shared_busy.saturating_sub(time);
    }

    /// Receiver of what left at an instant.
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
        self.look_at_parts();
    }

    /// The transmitter that serves the present contact, if others send by it, too.
    #[inline]
    pub(crate) fn shared_port(&self) -> Option<SharedPortId> {
        self.contacts.as_ref()?.shared
    }

    /// Tells if a script has taken the direction down.
    #[inline]
    pub(crate) fn is_taken_down(&self) -> bool {
        self.contacts.as_ref().is_some_and(|contacts| contacts.is_taken_down)
    }

    /// Takes a direction of contacts down as a script asks, or lets it send again: at once in a contact, and in the
    /// next one if there is none. Its own transmitter serves it; one that others share takes its packets back before.
    pub(crate) fn change_service(&mut self, now: Instant, change: Change, packets: &mut PacketStore) {
        let Self { lane, port, counters, contacts, .. } = self;
        let Some(contacts) = contacts else { return };
        match change {
            Change::Down => contacts.is_taken_down = true,
            Change::Up => contacts.is_taken_down = false,
            _ => return,
        }
        port.refuse_as(if contacts.is_taken_down { DropReason::Down } else { DropReason::NoContact });
        if !contacts.has_contact || contacts.shared.is_some() || contacts.is_taken_down != port.is_up() {
            return;
        }
        let mut outlet = Outlet { lane, counters, packets };
        if contacts.is_taken_down {
            return port.go_down(now, &mut outlet);
        }
        let waiting = port.withdraw_waiting(now, &mut outlet);
        port.go_up(now, &mut outlet);
        for parcel in waiting {
            port.send_again(now, parcel, &mut outlet);
        }
    }

    /// Time for which shared transmitters have sent packets of this direction up to `now`, where the present one takes
    /// `time_to_send` for a packet of a length.
    pub(crate) fn shared_busy(&self, now: Instant, time_to_send: impl Fn(u32) -> Duration) -> Duration {
        let Some(contacts) = &self.contacts else { return Duration::ZERO };
        contacts.shared_busy.saturating_sub(self.shared_busy_to_come(now, time_to_send))
    }

    /// Starts the count of it anew.
    pub(crate) fn restart_shared_busy(&mut self, now: Instant, time_to_send: impl Fn(u32) -> Duration) {
        let to_come = self.shared_busy_to_come(now, time_to_send);
        if let Some(contacts) = &mut self.contacts {
            contacts.shared_busy = to_come;
        }
    }

    /// Part of the shared transmitters' time that is counted before it has elapsed.
    fn shared_busy_to_come(&self, now: Instant, time_to_send: impl Fn(u32) -> Duration) -> Duration {
        self.lane
            .leaving_after(now)
            .fold(Duration::ZERO, |sum, (departure, length)| sum + time_to_send(length).min(departure - now))
    }

    /// Takes the packet back that a shared transmitter is sending for the direction, which no longer has it.
    pub(crate) fn cut_off_shared(&mut self, now: Instant, packets: &mut PacketStore) -> Vec<Parcel> {
        let Self { lane, counters, contacts, .. } = self;
        let cut_off = lane.take_back_departing(now, counters, packets);
        if let Some(contacts) = contacts {
            for (departure, _) in &cut_off {
                contacts.remove_shared_busy(*departure - now);
            }
        }
        cut_off.into_iter().map(|(_, parcel)| parcel).collect()
    }

    /// Receiver of the packet that was taken off last.
    #[inline]
    pub(crate) fn receiver_of_last(&self) -> Option<NodeId> {
        self.contacts.as_ref()?.receiver(self.lane.last_departure())
    }

    /// Receiver of whatever is taken off, if that does not depend on when it left.
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
        contact: LinkContact,
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
        contacts.has_contact = true;
        outlet.lane.set_contact_delay(delay);
        if contact.port.is_none() && !port.is_up() && !contacts.is_taken_down {
            port.go_up(now, &mut outlet);
        }
        for parcel in waiting {
            port.send_again(now, parcel, &mut outlet);
        }
        self.look_at_parts();
    }

    /// Has a contact go on with other pieces of its delay.
    pub(crate) fn go_on_with_contact(&mut self, delay: impl Iterator<Item = DelayPiece>) {
        self.lane.set_contact_delay(delay);
    }

    /// Ends the contact of the direction's own transmitter. Returns the packets that its node has to send on.
    pub(crate) fn end_contact(
        &mut self,
        now: Instant,
        at_handover: AtHandover,
        packets: &mut PacketStore,
    ) -> Vec<Parcel> {
        let Self { lane, port, counters, contacts, .. } = self;
        if let Some(contacts) = contacts {
            contacts.has_contact = false;
        }
        let handed_over = port.end_contact(now, at_handover, &mut Outlet { lane, counters, packets });
        self.look_at_parts();
        handed_over
    }
}
