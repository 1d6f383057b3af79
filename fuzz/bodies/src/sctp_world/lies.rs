//! Packets that neither end has sent.

use slantpath_sctp::chunk::{self, DataFlags, GapAckBlock, Sack};
use slantpath_sctp::{
    self as sctp, Chunk, CommonHeader, PacketBuilder, Ppid, StreamId, StreamSequence, Tsn, VerificationTag,
};
use slantpath_wire::ip::IpFields;
use slantpath_wire::{Checksum, Packet};

use super::settings::STREAMS;
use super::{PORT, World, address};

impl World {
    /// The tag that an end wants to see, and what has come to it.
    fn known(&self, end: usize) -> Option<(VerificationTag, Tsn, Tsn)> {
        let association = self.ends[end].endpoint.association(self.ends[end].id?)?;
        let snapshot = association.snapshot();
        Some((association.local_tag(), snapshot.cumulative_tsn_received, snapshot.cumulative_tsn_acked))
    }

    fn inject(&mut self, end: usize, network: u8, chunks: &[Chunk]) {
        let Some((tag, ..)) = self.known(end) else { return };
        let header = CommonHeader { source_port: PORT, destination_port: PORT, verification_tag: tag };
        let mut builder = PacketBuilder::default();
        builder.start(header, usize::MAX);
        for chunk in chunks {
            builder.push(chunk);
        }
        let packet = builder.finish(sctp::ChecksumPolicy::Omit);
        self.arrive(end, network, packet);
    }

    fn arrive(&mut self, end: usize, network: u8, packet: Packet) {
        let (source, destination) = (address(network & 1, 1 - end), address(network & 1, end));
        self.input(end, sctp::Input::Packet { source, destination, ip: IpFields::default(), packet });
    }

    /// A DATA chunk near to what is expected.
    pub(super) fn inject_data(&mut self, step: &[u8]) {
        let end = usize::from(step[1] & 1);
        let Some((_, received, _)) = self.known(end) else { return };
        let flags = [DataFlags::MIDDLE, DataFlags::BEGINNING, DataFlags::ENDING, DataFlags::WHOLE];
        let unordered = if step[1] & 8 == 0 { DataFlags::MIDDLE } else { DataFlags::UNORDERED };
        let data = chunk::Data {
            flags: flags[usize::from(step[1] >> 1 & 3)].with(unordered),
            tsn: received.plus(u32::from(step[2] % 32)),
            stream: StreamId(u16::from(step[1] >> 4) % (STREAMS + 1)),
            sequence: StreamSequence(u16::from(step[2] >> 5)),
            ppid: Ppid(0),
            payload: vec![step[3]; usize::from(step[3]) * 8].into(),
        };
        self.inject(end, step[1] >> 7, &[Chunk::Data(data)]);
    }

    /// A SACK near to what has been acknowledged, with blocks.
    pub(super) fn inject_sack(&mut self, step: &[u8], blocks: &[u8]) {
        let end = usize::from(step[1] & 1);
        let Some((_, _, acked)) = self.known(end) else { return };
        let block = |pair: &[u8]| GapAckBlock { start: pair[0].into(), end: pair[1].into() };
        let sack = Sack {
            cumulative_tsn_ack: acked.plus(u32::from(step[2] % 8)).minus(u32::from(step[1] >> 6)),
            a_rwnd: u32::from(step[3]) * 100,
            gap_ack_blocks: blocks.chunks_exact(2).map(block).collect(),
            duplicates: [].into_iter().collect(),
        };
        self.inject(end, step[1] >> 1, &[Chunk::Sack(sack)]);
    }

    /// Chunks as they are, behind a header with the tag of the end, with zero, or with any.
    pub(super) fn inject_raw(&mut self, end: usize, how: u8, raw: &[u8]) {
        let tag = match how % 4 {
            0 => 0,
            1 => u32::from(how),
            _ => self.known(end).map_or(0, |(tag, ..)| tag.0),
        };
        let mut bytes = Vec::new();
        bytes.extend(PORT.to_be_bytes());
        bytes.extend(PORT.to_be_bytes());
        bytes.extend(tag.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(raw);
        self.arrive(end, how >> 2, Packet::copied(&bytes, Checksum::Omitted));
    }
}
