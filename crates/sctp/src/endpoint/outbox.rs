//! What the endpoint itself has to say, before its associations have their turn.

use std::collections::VecDeque;
use std::net::IpAddr;

use slantpath_wire::Packet;

use super::{AssociationId, Output};
use crate::chunk::Chunk;
use crate::event::Event;
use crate::packet::{ChecksumPolicy, CommonHeader, Fragmentation, PacketBuilder};
use crate::path::LEAST_MTU_V6;
use crate::types::VerificationTag;

/// Packets and events that wait to be polled.
#[derive(Debug)]
pub(super) struct Outbox {
    port: u16,
    checksum: ChecksumPolicy,
    builder: PacketBuilder,
    outputs: VecDeque<Output>,
}

impl Outbox {
    pub(super) fn new(port: u16, checksum: ChecksumPolicy) -> Self {
        Self { port, checksum, builder: PacketBuilder::default(), outputs: VecDeque::new() }
    }

    /// The oldest.
    pub(super) fn pop(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    pub(super) fn push_event(&mut self, id: AssociationId, event: Event) {
        self.outputs.push_back(Output::Event(id, event));
    }

    /// Sends chunks in a packet of their own.
    pub(super) fn transmit(
        &mut self,
        source: IpAddr,
        destination: IpAddr,
        peer_port: u16,
        tag: VerificationTag,
        chunks: &[Chunk],
    ) {
        self.transmit_with(source, destination, peer_port, tag, usize::MAX, |builder| {
            for chunk in chunks {
                builder.push(chunk);
            }
        });
    }

    /// Sends what `fill` puts into a packet of at most `max_len` bytes.
    pub(super) fn transmit_with(
        &mut self,
        source: IpAddr,
        destination: IpAddr,
        peer_port: u16,
        tag: VerificationTag,
        max_len: usize,
        fill: impl FnOnce(&mut PacketBuilder),
    ) {
        let header =
            CommonHeader { source_port: self.port, destination_port: peer_port, verification_tag: tag };
        self.builder.start(header, max_len);
        fill(&mut self.builder);
        let packet: Packet = self.builder.finish(self.checksum);
        // Nothing is known of the path, and nobody would send the packet in another form.
        let fragmentation = Fragmentation::Allowed { source_mtu: LEAST_MTU_V6 };
        self.outputs.push_back(Output::Transmit { source, destination, packet, fragmentation });
    }
}
