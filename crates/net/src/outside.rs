//! Packets that come from outside the simulation, and packets that leave it.
//!
//! An outside node stands for whatever is not simulated: a program, another stack, a recording. A packet that comes
//! from it waits for its instant in the calendar like any other event, behind all others of that instant. So what
//! happens depends on the packets and their instants alone, and whoever keeps both can repeat the run.

use std::collections::VecDeque;

use slantpath_base::Instant;
use slantpath_wire::ethernet::{self, ETHERNET_HEADER_LEN};
use slantpath_wire::ip::IpHeader;
use slantpath_wire::{Checksum, Packet, WireError};

use crate::fabric::{Fabric, length_of};
use crate::graph::NodeKind;
use crate::parcel::{DestinationId, LENGTH_MAX, PacketId, Parcel};
use crate::source::Source;
use crate::{InterfaceId, LinkEnd as _};

/// A packet that has come to an outside node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsidePacket {
    /// Instant at which it came.
    pub at: Instant,
    /// The node's interface that it came to. A report about a packet that the node's own link could not carry comes to
    /// the interface that refused it.
    pub interface: InterfaceId,
    /// Bytes of the packet from the IP header on, or of the frame, every checksum in its place; what a bit error did to
    /// them has been done.
    pub bytes: Vec<u8>,
}

/// Why a packet from outside is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InjectError {
    /// The packet does not begin with a whole IP packet.
    #[error("no IP packet: {0}")]
    NotIp(#[from] WireError),
    /// The bytes are fewer than the header of a frame has.
    #[error("no frame: {len} bytes, of which a header alone has {ETHERNET_HEADER_LEN}")]
    NotFrame {
        /// Number of bytes that there are.
        len: usize,
    },
    /// The interface is not one of an outside node.
    #[error("`{node}` is not outside of the simulation")]
    NotOutside {
        /// The node that has the interface.
        node: String,
    },
    /// The simulation has gone beyond its instant.
    #[error("a packet comes at {at}, but it is {now} already")]
    Past {
        /// Instant of the packet.
        at: Instant,
        /// Present instant of the simulation.
        now: Instant,
    },
}

/// Packets that come from the outside in a run, and that go there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    /// Packets that will come, in the order of time; of one instant in the order in which they were announced.
    coming: VecDeque<Coming>,
    gone: VecDeque<OutsidePacket>,
}

#[derive(Clone, Debug)]
struct Coming {
    at: Instant,
    interface: InterfaceId,
    bytes: Vec<u8>,
}

impl Outside {
    /// Instant at which the next packet comes; [`Instant::FAR_FUTURE`] if none is known of.
    pub(crate) fn next(&self) -> Instant {
        self.coming.front().map_or(Instant::FAR_FUTURE, |coming| coming.at)
    }

    pub(crate) fn poll(&mut self) -> Option<OutsidePacket> {
        self.gone.pop_front()
    }
}

impl Fabric {
    /// Takes note of a packet that will come from outside.
    pub(crate) fn announce(
        &mut self,
        at: Instant,
        interface: InterfaceId,
        mut bytes: Vec<u8>,
    ) -> Result<(), InjectError> {
        let node = &self.graph.nodes[self.graph.node_of(interface).index()];
        if node.kind != NodeKind::Outside {
            return Err(InjectError::NotOutside { node: node.name.clone() });
        }
        let now = self.now();
        if at < now {
            return Err(InjectError::Past { at, now });
        }
        if !self.graph.carries_frames(interface) {
            let (header, header_len) = IpHeader::parse(&bytes)?;
            // What lies behind the packet is a frame's padding.
            bytes.truncate(header_len + usize::from(header.payload_len));
        } else if bytes.len() < ETHERNET_HEADER_LEN {
            return Err(InjectError::NotFrame { len: bytes.len() });
        }
        let place = self.outside.coming.partition_point(|coming| coming.at <= at);
        self.outside.coming.insert(place, Coming { at, interface, bytes });
        self.schedule_outside();
        Ok(())
    }

    pub(crate) fn schedule_outside(&mut self) {
        self.kernel.schedule(self.slots.outside(), self.outside.next());
    }

    /// Lets the packet come whose instant this is. One at a time: what follows from it at the same instant comes before
    /// the next one, however early that was announced.
    #[cold]
    pub(crate) fn let_in(&mut self, source: &mut impl Source) {
        if let Some(Coming { interface, bytes, .. }) = self.outside.coming.pop_front() {
            let packet = Packet::shared(bytes.into(), Checksum::Complete);
            self.kernel.record(self.slots.outside(), length_of(&packet).into());
            let is_frame = self.graph.carries_frames(interface);
            let id = self.packets.insert(packet);
            if is_frame {
                self.send_frame(interface, id, source);
            } else if let Err(refusal) = self.send(interface, id, source)
                && let Some(report) = self.discard_at_sender(refusal)
            {
                self.let_out(interface, report.observed());
            }
        }
        self.schedule_outside();
    }

    /// Puts a frame on its link, which leads to the other end and nowhere else. Nobody is told of one that is refused.
    fn send_frame(&mut self, interface: InterfaceId, id: PacketId, source: &mut impl Source) {
        let frame = self.packets.packet(id).contiguous();
        let length = u32::try_from(ethernet::content_len(&frame)).unwrap_or(LENGTH_MAX).min(LENGTH_MAX);
        let destination = self.graph.interfaces[interface.peer().index()].destination;
        // Nobody looks for it: without an address there is none.
        let destination = destination.unwrap_or(DestinationId(u32::MAX));
        let class = ethernet::traffic_class(&frame);
        let parcel = Parcel::new(id, destination, length, 0, class).as_frame();
        let parcel = self.packets.note_sent(self.now(), parcel, None);
        if self.offer(interface.outbound(), parcel, source).is_err() {
            self.packets.remove(parcel.packet());
        }
    }

    /// A packet has come to an outside node.
    #[cold]
    pub(crate) fn arrive_outside(&mut self, interface: InterfaceId, parcel: Parcel) {
        let bytes = self.unpack(parcel).observed();
        self.packets.remove(parcel.packet());
        self.let_out(interface, bytes);
    }

    fn let_out(&mut self, interface: InterfaceId, bytes: Vec<u8>) {
        let at = self.now();
        self.outside.gone.push_back(OutsidePacket { at, interface, bytes });
    }
}
