//! Store of the bytes of packets, with what is observed of them.

use slantpath_base::Instant;
use slantpath_interface::Journey;
use slantpath_wire::Packet;

use crate::drops::DroppedPacket;
use crate::link::{DropReason, Transmission};
use crate::observers::Observers;
use crate::parcel::{PacketId, Parcel};
use crate::{DirectionId, NodeId};

/// The bytes of all packets in the network. Places are reused, the last one first, so that a run in its
/// steady state allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketStore {
    places: Vec<Packet>,
    free: Vec<PacketId>,
    /// If anything is observed.
    observers: Option<Box<Observers>>,
}

impl PacketStore {
    /// The packet in the place that is used next, to be written over. What is written there is kept once the place has
    /// been [taken](Self::take_vacant).
    #[inline]
    pub(crate) fn vacant(&mut self) -> &mut Packet {
        let id = match self.free.last() {
            Some(&id) => id,
            None => self.add_place(),
        };
        &mut self.places[id.index()]
    }

    #[cold]
    fn add_place(&mut self) -> PacketId {
        let id = u32::try_from(self.places.len()).expect("fewer than 2^32 packets are under way");
        let id = PacketId::new(id);
        self.places.push(Packet::default());
        self.free.push(id);
        id
    }

    /// Takes the [vacant](Self::vacant) place, which must have been asked for.
    #[inline]
    pub(crate) fn take_vacant(&mut self) -> PacketId {
        self.free.pop().expect("a vacant place")
    }

    /// A packet that no host sends, but a router, a link or somebody outside.
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        *self.vacant() = packet;
        let id = self.take_vacant();
        if let Some(observers) = &mut self.observers {
            observers.clear(id.index());
        }
        id
    }

    /// A packet that a link makes of another, which counts as the other.
    pub(crate) fn insert_part(&mut self, packet: Packet, of: Parcel) -> PacketId {
        let id = self.insert(packet);
        if let Some(observers) = &mut self.observers {
            observers.copy(of, id.index());
        }
        id
    }

    /// Tells if anything is observed of packets.
    #[inline]
    pub(crate) const fn is_observed(&self) -> bool {
        self.observers.is_some()
    }

    /// Observers of packets, if there are any.
    pub(crate) fn observers(&self) -> Option<&Observers> {
        self.observers.as_deref()
    }

    /// Observers of packets, for another to be added or asked.
    pub(crate) fn observers_mut(&mut self) -> &mut Observers {
        self.observers.get_or_insert_default()
    }

    /// Notes that a packet is given to its first link: by a host to another, or without a pair to something else.
    /// Returns it as it goes on.
    pub(crate) fn note_sent(
        &mut self,
        now: Instant,
        parcel: Parcel,
        pair: Option<(NodeId, NodeId)>,
    ) -> Parcel {
        match &mut self.observers {
            Some(observers) => observers.note_sent(now, parcel, pair),
            None => parcel,
        }
    }

    /// Notes what has come of a packet that was offered to a direction which is captured.
    #[cold]
    pub(crate) fn note_offered(
        &mut self,
        now: Instant,
        direction: DirectionId,
        offered: Parcel,
        outcome: Result<Parcel, DropReason>,
    ) {
        if let Some(observers) = &mut self.observers {
            let packet = &mut self.places[offered.packet().index()];
            observers.captures.record(now, direction, offered, outcome, packet);
        }
    }

    /// Notes that a link sends a packet for the first time, and when it will be at the far end.
    #[inline]
    pub(crate) fn note_hop(&mut self, parcel: Parcel, transmission: Transmission, arrival: Instant) {
        if parcel.is_watched()
            && let Some(Observers { journeys: Some(journeys), .. }) = self.observers.as_deref_mut()
        {
            journeys.note_hop(parcel.packet().index(), transmission, arrival);
        }
    }

    /// Variant of [`note_hop`](Self::note_hop) for a link that retransmits the packet.
    pub(crate) fn note_repetition(&mut self, parcel: Parcel, transmission: Transmission, arrival: Instant) {
        if parcel.is_watched()
            && let Some(Observers { journeys: Some(journeys), .. }) = self.observers.as_deref_mut()
        {
            journeys.note_repetition(parcel.packet().index(), transmission, arrival);
        }
    }

    /// Notes that a packet has come to the far end of a link.
    #[inline]
    pub(crate) fn end_hop(&mut self, now: Instant, parcel: Parcel) {
        if parcel.is_watched()
            && let Some(Observers { journeys: Some(journeys), .. }) = self.observers.as_deref_mut()
        {
            journeys.end_hop(parcel.packet().index(), now);
        }
    }

    /// Notes that a packet goes no further on a direction. Its bytes are still here.
    #[cold]
    pub(crate) fn note_drop(
        &mut self,
        now: Instant,
        direction: DirectionId,
        reason: DropReason,
        parcel: Parcel,
    ) {
        if let Some(Observers { drops: Some(drops), .. }) = self.observers.as_deref_mut() {
            let packet = &self.places[parcel.packet().index()];
            drops.push(DroppedPacket::new(now, direction, reason, parcel, packet));
        }
    }

    /// Notes that a packet has come to a host. Returns its journey if that was watched.
    pub(crate) fn note_received(&mut self, now: Instant, parcel: Parcel, host: NodeId) -> Option<Journey> {
        self.observers.as_mut()?.note_received(now, parcel, host)
    }

    /// Forgets a packet. Its place is the next to be used.
    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) {
        // What it shares with others is let go now, and not when the place is needed.
        drop(self.places[id.index()].take_tail());
        self.free.push(id);
    }

    #[inline]
    pub(crate) fn packet(&self, id: PacketId) -> &Packet {
        &self.places[id.index()]
    }

    #[inline]
    pub(crate) fn packet_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.places[id.index()]
    }

    /// Number of packets that are under way.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
