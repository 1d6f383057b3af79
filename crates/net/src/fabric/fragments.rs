//! Packets that are longer than a link carries: cut, or refused.

use slantpath_wire::fragment;

use crate::DirectionId;
use crate::fabric::Fabric;
use crate::header;
use crate::link::{Asked, DropReason};
use crate::parcel::Parcel;

impl Fabric {
    /// Puts the fragments of a packet that is longer than a link carries on it, or refuses it as a whole if it must not
    /// be cut: its bytes then stay in the store.
    #[cold]
    pub(super) fn offer_too_long(&mut self, id: DirectionId, parcel: Parcel) -> Result<(), DropReason> {
        let mtu_bytes = self.directions[id.index()].mtu_bytes();
        let packet = self.packets.packet_mut(parcel.packet());
        header::write(packet, parcel);
        let fragments = if !parcel.is_frame() && header::may_be_cut(packet) {
            // A transport's checksum covers the whole packet: no fragment could be given it later.
            packet.complete();
            fragment::cut(&packet.contiguous(), mtu_bytes, 0)
        } else {
            None
        };
        let Some(fragments) = fragments else {
            let refusal = Err(DropReason::Mtu);
            let now = self.kernel.now();
            self.directions[id.index()].refuse_too_long(now, parcel, &mut self.packets);
            if self.directions[id.index()].asked().has(Asked::CAPTURES) {
                self.packets.note_offered(self.kernel.now(), id, parcel, refusal);
            }
            return Err(DropReason::Mtu);
        };
        self.directions[id.index()].counters.fragmented.add(parcel.length());
        for fragment in fragments {
            let length = u32::try_from(fragment.len()).expect("shorter than the packet");
            self.directions[id.index()].counters.fragments.add(length);
            let packet = self.packets.insert_part(fragment, parcel);
            let part = parcel.with_packet(packet).with_length(length);
            // One that finds no room is counted, and the others go on: no router knows that they are useless now.
            if self.put_on(id, part).is_err() {
                self.packets.remove(part.packet());
            }
        }
        self.packets.remove(parcel.packet());
        Ok(())
    }
}
