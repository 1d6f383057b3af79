//! Packets and events of the endpoint itself, which go before those of its associations.

use std::collections::VecDeque;
use std::net::IpAddr;

use slantpath_wire::Packet;
use slantpath_wire::ip::{Envelope, IpFields};

use super::AssociationId;
use crate::association::Departing;
use crate::chunk::Chunk;
use crate::event::Event;
use crate::packet::{ChecksumPolicy, CommonHeader, IpFragmentation, PacketBuilder};
use crate::path::LEAST_MTU_V6;
use crate::types::VerificationTag;

/// The port that speaks, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    pub(super) port: u16,
    pub(super) checksum: ChecksumPolicy,
    pub(super) ip: IpFields,
}

/// Output that waits to be polled.
#[derive(Debug)]
enum Waiting {
    Event(AssociationId, Event),
    Packet(Departing, Packet),
}

/// Packets and events that wait to be polled.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    builder: PacketBuilder,
    waiting: VecDeque<Waiting>,
    packets_sent: u64,
    control_chunks_sent: u64,
}

impl Outbox {
    /// Builder of all packets of the endpoint, one after the other.
    #[inline]
    pub(super) const fn builder(&mut self) -> &mut PacketBuilder {
        &mut self.builder
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The oldest if that is a packet, which is moved to `place`.
    #[cold]
    pub(super) fn pop_packet(&mut self, place: &mut Packet) -> Option<Departing> {
        match self.waiting.pop_front_if(|waiting| matches!(waiting, Waiting::Packet(..)))? {
            Waiting::Packet(departing, packet) => {
                *place = packet;
                Some(departing)
            }
            Waiting::Event(..) => None,
        }
    }

    /// The oldest if that is an event.
    #[cold]
    pub(super) fn pop_event(&mut self) -> Option<(AssociationId, Event)> {
        match self.waiting.pop_front_if(|waiting| matches!(waiting, Waiting::Event(..)))? {
            Waiting::Event(id, event) => Some((id, event)),
            Waiting::Packet(..) => None,
        }
    }

    /// Packets that have been sent from here.
    pub(super) const fn packets_sent(&self) -> u64 {
        self.packets_sent
    }

    /// Chunks in them that are not DATA.
    pub(super) const fn control_chunks_sent(&self) -> u64 {
        self.control_chunks_sent
    }

    /// So many chunks that are not DATA go into the next packet.
    pub(super) const fn count_control_chunks(&mut self, count: usize) {
        self.control_chunks_sent += count as u64;
    }

    pub(super) fn push_event(&mut self, id: AssociationId, event: Event) {
        self.waiting.push_back(Waiting::Event(id, event));
    }

    /// Sends chunks in a packet of their own.
    pub(super) fn transmit(
        &mut self,
        sender: Sender,
        source: IpAddr,
        destination: IpAddr,
        peer_port: u16,
        tag: VerificationTag,
        chunks: &[Chunk],
    ) {
        self.count_control_chunks(chunks.len());
        self.transmit_with(sender, source, destination, peer_port, tag, usize::MAX, |builder| {
            for chunk in chunks {
                builder.push(chunk);
            }
        });
    }

    /// Sends what `fill` puts into a packet of at most `max_len` bytes.
    #[expect(clippy::too_many_arguments, reason = "they are the packet's header")]
    pub(super) fn transmit_with(
        &mut self,
        sender: Sender,
        source: IpAddr,
        destination: IpAddr,
        peer_port: u16,
        tag: VerificationTag,
        max_len: usize,
        fill: impl FnOnce(&mut PacketBuilder),
    ) {
        let header =
            CommonHeader { source_port: sender.port, destination_port: peer_port, verification_tag: tag };
        self.builder.start(header, max_len);
        fill(&mut self.builder);
        let packet = self.builder.finish(sender.checksum);
        self.packets_sent += 1;
        // Nothing is known of the path, and nobody would send the packet in another form.
        let fragmentation = IpFragmentation::Allowed { source_mtu: LEAST_MTU_V6 };
        let envelope = Envelope { source, destination, fields: sender.ip };
        self.waiting.push_back(Waiting::Packet(Departing { envelope, fragmentation }, packet));
    }
}
