//! Packets that come from outside the simulation, and packets that leave it.
//!
//! An outside node stands for whatever is not simulated: a program, another stack, a recording. A packet that comes
//! from it waits for its instant in the calendar like any other event, behind all others of that instant. So what
//! happens depends on the packets and their instants alone, and whoever keeps both can repeat the run.

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant};
use slantpath_wire::ethernet::{self, ETHERNET_HEADER_LEN};
use slantpath_wire::ip::IpHeader;
use slantpath_wire::{Checksum, Packet, WireError};

use crate::fabric::{Fabric, length_of};
use crate::graph::{NetworkGraph, NodeKind};
use crate::parcel::{DestinationId, LENGTH_MAX, PacketId, Parcel};
use crate::slots::Slots;
use crate::source::Source;
use crate::{DirectionId, InterfaceId, LinkEnd as _};

/// A packet that has come to an outside node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsidePacket {
    /// Instant at which it came.
    pub at: Instant,
    /// The node's interface that it came to. A report about a packet that the node's own link could not carry comes to
    /// the interface that refused it.
    pub interface: InterfaceId,
    /// The packet from the IP header on, or the frame, as its sender made it: checksums that were left out there are
    /// left out here, and [`Packet::observed`] has them. What a bit error did has been done.
    pub packet: Packet,
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
    /// Directions that lead to outside nodes.
    leading_out: Vec<DirectionId>,
    /// Packets that will come, in the order of time; of one instant in the order in which they were announced.
    coming: VecDeque<Coming>,
    gone: VecDeque<OutsidePacket>,
}

#[derive(Clone, Debug)]
struct Coming {
    at: Instant,
    interface: InterfaceId,
    packet: Packet,
}

/// Directions to outside nodes that are looked at between two events, at most: with more, each event counts.
const LEADING_OUT_MOST: usize = 64;
/// Part of a delay that it may lose while a packet is on its way, as satellites move.
const SHRINKING_PART: u64 = 8;

impl Outside {
    pub(crate) fn new(graph: &NetworkGraph) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "numbered by 32 bits")]
        let all = (0..graph.directions.len()).map(|index| DirectionId(index as u32));
        let leads_out = |id: &DirectionId| {
            let node = graph.node_of(id.receiver());
            graph.nodes[node.index()].kind == NodeKind::Outside
        };
        let leading_out = all.filter(leads_out).collect();
        Self { leading_out, ..Self::default() }
    }

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
        mut packet: Packet,
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
            cut_to_length(&mut packet)?;
        } else if packet.len() < ETHERNET_HEADER_LEN {
            return Err(InjectError::NotFrame { len: packet.len() });
        }
        let is_last = self.outside.coming.back().is_none_or(|last| last.at <= at);
        let coming = Coming { at, interface, packet };
        if is_last {
            self.outside.coming.push_back(coming);
        } else {
            let place = self.outside.coming.partition_point(|coming| coming.at <= at);
            self.outside.coming.insert(place, coming);
        }
        self.schedule_outside();
        Ok(())
    }

    /// Time after an event in which nothing of it comes to an outside node, since the last link is before it. It is
    /// zero if that is not known.
    pub(crate) fn quiet(&self) -> Duration {
        let leading_out = &self.outside.leading_out;
        if leading_out.len() > LEADING_OUT_MOST {
            return Duration::ZERO;
        }
        // What has no contact carries nothing before a change.
        let carrying =
            leading_out.iter().map(|id| &self.directions[id.index()]).filter(|link| link.outage().is_none());
        let least = carrying.map(|link| link.delay_at(self.now())).min().unwrap_or(Duration::ZERO);
        least.saturating_sub(least / SHRINKING_PART)
    }

    /// Instant before which nothing comes to an outside node and nothing changes, if no packet comes from there. The
    /// next event at the latest, and [`quiet`](Self::quiet) or `most` later if it happens within the network.
    pub(crate) fn next_outside(&mut self, most: Duration) -> Option<Instant> {
        let next = self.kernel.next_event()?;
        let later = next.saturating_add(self.quiet().min(most));
        if later == next {
            return Some(next);
        }
        let leading_out = self.outside.leading_out.iter().map(|id| Slots::direction(id.index()));
        let slots = leading_out.chain([Slots::SOURCE, self.slots.outside()]);
        Some(slots.map(|slot| self.kernel.deadline(slot)).fold(later, Instant::min))
    }

    pub(crate) fn schedule_outside(&mut self) {
        self.kernel.schedule(self.slots.outside(), self.outside.next());
    }

    /// Lets the packet come whose instant this is. One at a time: what follows from it at the same instant comes before
    /// the next one, however early that was announced.
    #[cold]
    pub(crate) fn let_in(&mut self, source: &mut impl Source) {
        if let Some(Coming { interface, packet, .. }) = self.outside.coming.pop_front() {
            self.kernel.record(self.slots.outside(), length_of(&packet).into());
            let is_frame = self.graph.carries_frames(interface);
            let id = self.packets.insert(packet);
            if is_frame {
                self.send_frame(interface, id, source);
            } else if let Err(refusal) = self.send(interface, id, source)
                && let Some(report) = self.discard_at_sender(refusal)
            {
                self.let_out(interface, report);
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
        let packet = std::mem::take(self.unpack(parcel));
        self.packets.remove(parcel.packet());
        self.let_out(interface, packet);
    }

    fn let_out(&mut self, interface: InterfaceId, packet: Packet) {
        let at = self.now();
        self.outside.gone.push_back(OutsidePacket { at, interface, packet });
    }
}

/// Takes off what lies behind the packet that its header tells of: a frame's padding. All of the header lies in one of
/// the packet's parts.
fn cut_to_length(packet: &mut Packet) -> Result<(), WireError> {
    let front = if packet.head().is_empty() { &packet.tail()[..] } else { packet.head() };
    let (header, header_len) = IpHeader::parse_header(front)?;
    if packet.checksum() == Checksum::Complete {
        header.verify(&front[..header_len])?;
    }
    let (len, wanted) = (packet.len(), usize::from(header.payload_len));
    let left = len - header_len;
    if left < wanted {
        return Err(WireError::Truncated { wanted, left });
    }
    if left > wanted {
        *packet = Packet::shared(packet.contiguous().slice(..header_len + wanted), packet.checksum());
    }
    Ok(())
}
