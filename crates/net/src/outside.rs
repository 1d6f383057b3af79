//! Packets that come from outside the simulation, and packets that leave it.
//!
//! An outside node stands for whatever is not simulated: a program, another stack, a recording. A packet that comes
//! from it waits for its instant in the calendar like any other event, behind all others of that instant, and is
//! taken into the record then. So what happens depends on the packets and their instants alone, and the record
//! repeats the run.

use std::collections::VecDeque;

use slantpath_base::Instant;
use slantpath_wire::ip::IpHeader;
use slantpath_wire::pcapng::{Block, Blocks, CaptureInterface, Direction, Writer};
use slantpath_wire::{Checksum, Packet, WireError};

use crate::fabric::{Fabric, length_of};
use crate::graph::{NetworkGraph, NodeKind};
use crate::parcel::Parcel;
use crate::source::Source;
use crate::{InterfaceId, LinkEnd};

/// A packet that has come to an outside node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsidePacket {
    /// Instant at which it came.
    pub at: Instant,
    /// The node's interface that it came to. A report about a packet that the node's own link could not carry comes to
    /// the interface that refused it.
    pub interface: InterfaceId,
    /// Bytes of the packet from the IP header on, every checksum in its place; what a bit error did to them has been
    /// done.
    pub bytes: Vec<u8>,
}

/// Why a packet from outside is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InjectError {
    /// The packet does not begin with a whole IP packet.
    #[error("no IP packet: {0}")]
    NotIp(#[from] WireError),
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

/// Why a record cannot be repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The record is no capture that can be read.
    #[error("not a record: {0}")]
    Unreadable(#[from] WireError),
    /// The record names an interface that the network does not have.
    #[error("the network has no interface `{name}`")]
    UnknownInterface {
        /// Name of the interface.
        name: String,
    },
    /// A packet in it is not taken.
    #[error("packet {number}: {error}")]
    Refused {
        /// Number of the packet, counted from 1 among those from outside.
        number: usize,
        /// Reason for which it is not taken.
        error: InjectError,
    },
}

/// Packets that come from the outside in a run, that go there, and the record of both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    /// Packets that will come, in the order of time; of one instant in the order in which they were announced.
    coming: VecDeque<Coming>,
    gone: VecDeque<OutsidePacket>,
    record: Option<Record>,
}

#[derive(Clone, Debug)]
struct Coming {
    at: Instant,
    interface: InterfaceId,
    bytes: Vec<u8>,
}

/// The record of all that has passed, as a capture.
#[derive(Clone, Debug)]
struct Record {
    writer: Writer,
    interfaces: Vec<(InterfaceId, CaptureInterface)>,
}

impl Record {
    fn packet(&mut self, interface: InterfaceId, at: Instant, bytes: &[u8], direction: Direction) {
        let found = self.interfaces.iter().find(|(own, _)| *own == interface);
        if let Some((_, named)) = found {
            self.writer.packet(*named, at, bytes, direction, None);
        }
    }
}

impl Outside {
    /// Instant at which the next packet comes; [`Instant::FAR_FUTURE`] if none is known of.
    pub(crate) fn next(&self) -> Instant {
        self.coming.front().map_or(Instant::FAR_FUTURE, |coming| coming.at)
    }

    pub(crate) fn poll(&mut self) -> Option<OutsidePacket> {
        self.gone.pop_front()
    }

    pub(crate) fn start_record(&mut self, graph: &NetworkGraph) {
        let mut writer = Writer::new();
        let outside = graph.nodes.iter().filter(|node| node.kind == NodeKind::Outside);
        let interfaces = outside.flat_map(|node| node.interfaces.iter().copied());
        let interfaces =
            interfaces.map(|interface| (interface, writer.interface(&name_of(graph, interface)))).collect();
        self.record = Some(Record { writer, interfaces });
    }

    pub(crate) fn take_record(&mut self) -> Vec<u8> {
        self.record.as_mut().map(|record| record.writer.take()).unwrap_or_default()
    }
}

/// An interface is called as the direction into which it sends.
fn name_of(graph: &NetworkGraph, interface: InterfaceId) -> String {
    graph.direction_path(interface.outbound())
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
        let (header, header_len) = IpHeader::parse(&bytes)?;
        // What lies behind the packet is a frame's padding.
        bytes.truncate(header_len + usize::from(header.payload_len));
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
        let now = self.now();
        if let Some(Coming { interface, bytes, .. }) = self.outside.coming.pop_front() {
            if let Some(record) = &mut self.outside.record {
                record.packet(interface, now, &bytes, Direction::Inbound);
            }
            let packet = Packet::shared(bytes.into(), Checksum::Complete);
            self.kernel.record(self.slots.outside(), length_of(&packet).into());
            let id = self.packets.insert(packet);
            if let Err(refusal) = self.send(interface, id, source)
                && let Some(report) = self.discard_at_sender(refusal)
            {
                self.let_out(interface, report.observed());
            }
        }
        self.schedule_outside();
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
        if let Some(record) = &mut self.outside.record {
            record.packet(interface, at, &bytes, Direction::Outbound);
        }
        self.outside.gone.push_back(OutsidePacket { at, interface, bytes });
    }

    /// Takes note of all packets of a record that came from outside; gives how many there are.
    pub(crate) fn announce_record(&mut self, record: &[u8]) -> Result<usize, RecordError> {
        let mut interfaces = Vec::new();
        let mut number = 0;
        for block in Blocks::new(record) {
            match block? {
                Block::Interface { name } => {
                    let name = name.unwrap_or_default();
                    let own = self.graph.nodes.iter().flat_map(|node| &node.interfaces);
                    let found = own.copied().find(|interface| name_of(&self.graph, *interface) == name);
                    interfaces.push(found.ok_or(RecordError::UnknownInterface { name })?);
                }
                Block::Packet { interface, time, bytes, direction: Some(Direction::Inbound), .. } => {
                    number += 1;
                    let place = usize::try_from(interface).unwrap_or(usize::MAX);
                    let interface = *interfaces.get(place).ok_or_else(|| RecordError::UnknownInterface {
                        name: format!("number {interface}"),
                    })?;
                    self.announce(time, interface, bytes.to_vec())
                        .map_err(|error| RecordError::Refused { number, error })?;
                }
                Block::Other(_) | Block::Packet { .. } | Block::Section => {}
            }
        }
        Ok(number)
    }
}
