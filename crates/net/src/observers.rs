//! Observers of packets: journeys, pairs of hosts, drops and captures, behind one hook.
//!
//! The [store](crate::packets::PacketStore) has them while there are any. A packet is noted where it is sent, where it
//! comes to a link that is captured, and where it is received. What links take is noted of packets whose
//! journeys [are watched](Parcel::is_watched) alone.

use slantpath_base::Instant;
use slantpath_interface::Journey;

use crate::NodeId;
use crate::capture::Captures;
use crate::drops::DroppedPacket;
use crate::host_pairs::HostPairs;
use crate::journeys::Journeys;
use crate::parcel::{Condition, Parcel};

#[derive(Clone, Debug, Default)]
pub(crate) struct Observers {
    /// If journeys are watched.
    pub(crate) journeys: Option<Journeys>,
    /// If packets between hosts are counted.
    pub(crate) host_pairs: Option<HostPairs>,
    pub(crate) captures: Captures,
    /// If drops are recorded: those since they were taken last.
    pub(crate) drops: Option<Vec<DroppedPacket>>,
}

impl Observers {
    /// A packet is given to its first link, by a host to another if there is a pair. Returns it as it goes on.
    pub(crate) fn note_sent(
        &mut self,
        now: Instant,
        parcel: Parcel,
        pair: Option<(NodeId, NodeId)>,
    ) -> Parcel {
        let place = parcel.packet().index();
        if let Some(pairs) = &mut self.host_pairs {
            match pair {
                Some(pair) => pairs.begin(place, now, pair, parcel.length()),
                None => pairs.clear(place),
            }
        }
        match &mut self.journeys {
            Some(journeys) => {
                journeys.begin(place, now);
                parcel.watched()
            }
            None => parcel,
        }
    }

    /// A packet has come to a host. Returns its journey if that was watched.
    pub(crate) fn note_received(&mut self, now: Instant, parcel: Parcel, host: NodeId) -> Option<Journey> {
        let place = parcel.packet().index();
        if let Some(pairs) = &mut self.host_pairs
            && parcel.condition() == Condition::Sound
        {
            pairs.end(place, now, host, parcel.length());
        }
        self.journeys.as_ref().filter(|_| parcel.is_watched()).map(|journeys| journeys.read(place, now))
    }

    /// A packet takes this place that no host has sent.
    pub(crate) fn clear(&mut self, place: usize) {
        if let Some(pairs) = &mut self.host_pairs {
            pairs.clear(place);
        }
    }

    /// A copy or a part of a packet takes a place.
    pub(crate) fn copy(&mut self, of: Parcel, to: usize) {
        let from = of.packet().index();
        if let Some(pairs) = &mut self.host_pairs {
            pairs.copy(from, to);
        }
        if of.is_watched()
            && let Some(journeys) = &mut self.journeys
        {
            journeys.copy(from, to);
        }
    }
}
