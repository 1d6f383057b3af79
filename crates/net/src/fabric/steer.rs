//! Packets of which the source of a run says where they go when they are about to be sent.

use crate::DirectionId;
use crate::fabric::Fabric;
use crate::link::{Asked, DropReason};
use crate::parcel::Parcel;
use crate::source::{Leaving, Source};

impl Fabric {
    /// Puts a packet on a link that does not take it at once: the source chooses another, or it is too long.
    #[inline(never)]
    pub(super) fn offer_with_care(
        &mut self,
        id: DirectionId,
        parcel: Parcel,
        source: &mut impl Source,
    ) -> Result<(), DropReason> {
        let (id, parcel) = if self.directions[id.index()].asked().has(Asked::STEERING) {
            let leaving = Leaving {
                direction: id,
                destination: parcel.destination(),
                packet: self.packets.packet(parcel.packet()),
                directions: &self.directions,
                names: &self.names,
                now: self.kernel.now(),
            };
            let Some((direction, destination)) = source.steer(&leaving) else {
                let counters = &mut self.directions[id.index()].counters;
                counters.offered.add(parcel.length());
                counters.drop(self.kernel.now(), DropReason::NoContact, parcel, &mut self.packets);
                return Err(DropReason::NoContact);
            };
            (direction, parcel.with_destination(destination))
        } else {
            (id, parcel)
        };
        if self.directions[id.index()].carries(parcel.length()) {
            self.put_on(id, parcel)
        } else {
            self.offer_too_long(id, parcel)
        }
    }
}
