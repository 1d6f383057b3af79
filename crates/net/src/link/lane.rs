//! A lane: the far part of a direction, from the transmitter to the node that receives.
//!
//! It carries what a port has sent: the channel decides what becomes of a packet, propagation when it
//! arrives. A lane knows nothing of the port that feeds it, so that a port can change from one to another:
//! what has been sent arrives where it was sent.

use slantpath_base::{Duration, Instant, Probability};

use crate::link::channel::Channel;
use crate::link::contact_delay::{ContactDelay, DelayPiece};
use crate::link::counters::{DirectionCounters, DirectionTally, DropReason};
use crate::link::flight::{Flight, Transit};
use crate::link::outage::AtHandover;
use crate::link::propagation::{Delay, Propagation};
use crate::link::service::Transmission;
use crate::packets::PacketStore;
use crate::parcel::{Fate, Parcel, Role};
use crate::script::Change;

/// Lane that a port sends into, with the counters and packets that it needs to do so.
pub(crate) struct Outlet<'a> {
    pub(crate) lane: &'a mut Lane,
    pub(crate) counters: &'a mut DirectionTally,
    pub(crate) packets: &'a mut PacketStore,
}

impl Outlet<'_> {
    /// [Carries](Lane::carry) a packet.
    pub(crate) fn carry(&mut self, transmission: Transmission, parcel: Parcel) -> Fate {
        self.lane.carry(transmission, parcel, self.counters, self.packets)
    }

    /// [Takes packets back](Lane::take_back).
    pub(crate) fn take_back(&mut self, departure: Instant) -> Vec<Parcel> {
        self.lane.take_back(departure, self.counters, self.packets)
    }

    /// Drops packets that waited when a contact ended, or returns them; they are counted.
    pub(crate) fn give_up(
        &mut self,
        now: Instant,
        waiting: Vec<Parcel>,
        at_handover: AtHandover,
    ) -> Vec<Parcel> {
        if at_handover == AtHandover::Lost {
            self.drop_all(now, waiting, DropReason::Handover);
            return Vec::new();
        }
        for parcel in &waiting {
            self.counters.handed_over.add(parcel.length());
        }
        waiting
    }

    /// Drops packets that were accepted.
    pub(crate) fn drop_all(
        &mut self,
        now: Instant,
        dropped: impl IntoIterator<Item = Parcel>,
        reason: DropReason,
    ) {
        for parcel in dropped {
            self.drop_accepted(now, parcel, reason);
        }
    }

    /// Drops a packet that was accepted.
    pub(crate) fn drop_accepted(&mut self, now: Instant, parcel: Parcel, reason: DropReason) {
        self.counters.drop(now, reason, parcel, self.packets);
        self.packets.remove(parcel.packet());
    }
}

/// Outcome of sending a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Instant at which the packet is at the far end.
    pub(crate) arrival: Instant,
    /// True if an error has hit it.
    pub(crate) is_hit: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Lane {
    flight: Flight,
    propagation: Propagation,
    /// True if the channel does nothing to packets at present, so that they need not ask it.
    is_clean: bool,
    channel: Box<Channel>,
    /// Instant at which the packet that has arrived last left the transmitter.
    last_departure: Instant,
    /// Reason of the drop of a packet that does not arrive.
    lost_as: DropReason,
}

impl Lane {
    /// A lane of this first delay. Packets that the channel loses are counted as dropped for `lost_as`.
    pub(crate) fn new(delay: &Delay, channel: Channel, lost_as: DropReason) -> Self {
        Self {
            flight: Flight::default(),
            propagation: Propagation::new(delay),
            is_clean: channel.is_clean(),
            channel: Box::new(channel),
            last_departure: Instant::START,
            lost_as,
        }
    }

    /// Carries a packet.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "where anything is asked for, every packet passes it on each hop"
    )]
    pub(crate) fn carry(
        &mut self,
        transmission: Transmission,
        parcel: Parcel,
        counters: &mut DirectionCounters,
        packets: &mut PacketStore,
    ) -> Fate {
        if self.is_clean {
            let arrival = self.propagation.arrival(transmission.end);
            packets.note_hop(parcel, transmission, arrival);
            self.flight.insert(arrival, transmission.end, parcel);
            return Fate::Arrives;
        }
        self.carry_through_channel(transmission, parcel, counters, packets)
    }

    /// Sends a packet that the link repeats or decompresses. It is not put on its way.
    pub(crate) fn attempt(&mut self, transmission: Transmission, parcel: Parcel) -> Attempt {
        let arrival = self.propagation.arrival(transmission.end);
        if self.is_clean {
            return Attempt { arrival, is_hit: false };
        }
        let fate = self.channel.fate(parcel, transmission, self.last_departure);
        if fate == Fate::Damaged {
            self.channel.forget(parcel.packet());
        }
        Attempt { arrival, is_hit: fate != Fate::Arrives }
    }

    /// Puts a packet on its way that was [sent](Self::attempt) before.
    pub(crate) fn land(&mut self, transit: Transit) {
        self.flight.insert(transit.arrival, transit.departure, transit.parcel);
    }

    /// Tells if the channel does nothing to packets at present.
    pub(crate) const fn is_clean(&self) -> bool {
        self.is_clean
    }

    /// Tells if the channel lets no packet through.
    pub(crate) fn loses_all(&self) -> bool {
        !self.is_clean && self.channel.loses_all()
    }

    /// Variant of [`carry`](Self::carry) for a channel that [does nothing](Self::is_clean). Returns when the packet
    /// arrives, if it is the next that does.
    #[inline]
    pub(crate) fn carry_plainly(&mut self, departure: Instant, parcel: Parcel) -> Option<Instant> {
        let arrival = self.propagation.arrival(departure);
        self.flight.insert(arrival, departure, parcel).then_some(arrival)
    }

    #[inline(never)]
    fn carry_through_channel(
        &mut self,
        transmission: Transmission,
        mut parcel: Parcel,
        counters: &mut DirectionCounters,
        packets: &mut PacketStore,
    ) -> Fate {
        let departure = transmission.end;
        let arrival = self.propagation.arrival(departure);
        // What has arrived left before now, and nothing is sent before now.
        parcel = parcel.with_fate(self.channel.fate(parcel, transmission, self.last_departure));
        let delayed = arrival.saturating_add(self.channel.extra_delay());
        packets.note_hop(parcel, transmission, delayed);
        self.flight.insert(delayed, departure, parcel);
        if parcel.fate() == Fate::Arrives && self.channel.duplicates() {
            let packet = packets.insert_part(packets.packet(parcel.packet()).clone(), parcel);
            let copy = parcel.with_packet(packet).with_role(Role::Copy);
            let delayed = arrival.saturating_add(self.channel.extra_delay());
            packets.note_hop(copy, transmission, delayed);
            counters.duplicated.add(parcel.length());
            self.flight.insert(delayed, departure, copy);
        }
        parcel.fate()
    }

    /// Instant at which the next packet arrives at the far end; [`Instant::FAR_FUTURE`] if none does.
    #[inline]
    pub(crate) const fn next_arrival(&self) -> Instant {
        self.flight.next_arrival()
    }

    /// Takes the packet off that arrives next, for it to be [counted](Self::count_arrival).
    #[inline]
    pub(crate) fn take_arrival(&mut self) -> Option<Parcel> {
        let transit = self.flight.take_next()?;
        self.last_departure = transit.departure;
        Some(transit.parcel)
    }

    /// Instant at which the packet that was [taken off](Self::take_arrival) last left the transmitter.
    pub(crate) const fn last_departure(&self) -> Instant {
        self.last_departure
    }

    /// First and last of the instants at which packets that are under way left the transmitter, or will.
    pub(crate) fn departures(&self) -> Option<(Instant, Instant)> {
        let widen = |(first, last): (Instant, Instant), at: Instant| (first.min(at), last.max(at));
        let mut departures = self.flight.departures();
        let first = departures.next()?;
        Some(departures.fold((first, first), widen))
    }

    /// Instants at which packets leave the transmitter after `now`, each packet once, with its length.
    pub(crate) fn leaving_after(&self, now: Instant) -> impl Iterator<Item = (Instant, u32)> {
        let leaving = self.flight.iter().filter(move |transit| transit.departure > now);
        let originals = leaving.filter(|transit| transit.parcel.role() == Role::Original);
        originals.map(|transit| (transit.departure, transit.parcel.length()))
    }

    /// Counts a packet that has arrived. From here on a copy is a packet like any other.
    pub(crate) fn count_arrival(
        &self,
        now: Instant,
        parcel: Parcel,
        counters: &mut DirectionTally,
        packets: &mut PacketStore,
    ) -> Parcel {
        match parcel.fate() {
            Fate::Lost => counters.drop(now, self.lost_as, parcel, packets),
            Fate::Damaged => {
                counters.carried.add(parcel.length());
                counters.damaged.add(parcel.length());
            }
            Fate::Arrives => counters.carried.add(parcel.length()),
            Fate::Undecodable => counters.drop(now, DropReason::HeaderContext, parcel, packets),
        }
        parcel.with_role(Role::Original)
    }

    /// Takes packets back that leave the transmitter after `departure`, as if they had not been sent, in the
    /// order in which they would: their copies are undone.
    pub(crate) fn take_back(
        &mut self,
        departure: Instant,
        counters: &mut DirectionCounters,
        packets: &mut PacketStore,
    ) -> Vec<Parcel> {
        let taken = self.take_back_departing(departure, counters, packets);
        taken.into_iter().map(|(_, parcel)| parcel).collect()
    }

    /// Variant of [`take_back`](Self::take_back) that gives each packet with the instant at which it would have left.
    pub(crate) fn take_back_departing(
        &mut self,
        departure: Instant,
        counters: &mut DirectionCounters,
        packets: &mut PacketStore,
    ) -> Vec<(Instant, Parcel)> {
        let mut originals = Vec::new();
        let taken = self.flight.take_departing_after(departure);
        self.propagation.take_back(self.flight.departures());
        for Transit { departure, parcel, .. } in taken {
            if parcel.fate() == Fate::Damaged {
                self.channel.forget(parcel.packet());
            }
            match parcel.role() {
                Role::Copy => {
                    counters.duplicated.remove(parcel.length());
                    packets.remove(parcel.packet());
                }
                Role::Original => originals.push((departure, parcel.with_fate(Fate::Arrives))),
            }
        }
        originals
    }

    /// Flips the bits of a packet whose fate it was to be damaged.
    pub(crate) fn damage(&mut self, parcel: Parcel, bytes: &mut [u8]) {
        self.channel.damage(parcel.packet(), bytes);
    }

    /// The delay of what leaves at an instant.
    pub(crate) fn delay_at(&self, departure: Instant) -> Duration {
        self.propagation.delay_at(departure)
    }

    /// The chance of a packet that leaves at present to vanish.
    pub(crate) const fn loss(&self) -> Probability {
        self.channel.loss()
    }

    /// Changes what is done to what is carried from now on, if the change is one of a lane.
    pub(crate) fn change(&mut self, change: Change) {
        match change {
            Change::BitErrors(probability) => self.channel.set_bit_errors(probability),
            Change::Delay(delay) => self.propagation = Propagation::Constant(delay),
            Change::Duplication(probability) => self.channel.set_duplication(probability),
            Change::Loss(probability) => self.channel.set_loss(probability),
            Change::Reordering(reordering) => self.channel.set_reordering(reordering),
            Change::Down | Change::Rate(_) | Change::Up => {}
        }
        self.is_clean = self.channel.is_clean();
    }

    /// Has what is carried from now on take as long as a contact's pieces say.
    pub(crate) fn set_contact_delay(&mut self, pieces: impl Iterator<Item = DelayPiece>) {
        if let Propagation::Contact(delay) = &mut self.propagation {
            return delay.replace(pieces);
        }
        let mut delay = ContactDelay::default();
        delay.replace(pieces);
        self.propagation = Propagation::Contact(delay);
    }
}
