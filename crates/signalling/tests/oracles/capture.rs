//! A capture of all samples: a packet each, in the IP and SCTP that our hosts send.

use std::net::{IpAddr, Ipv4Addr};

use slantpath_base::Instant;
use slantpath_sctp::chunk::{self, DataFlags};
use slantpath_sctp::{
    self as sctp, Chunk, CommonHeader, PacketBuilder, Ppid, StreamId, StreamSequence, Tsn, VerificationTag,
};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::pcapng::{Direction, Writer};

use crate::sample::Sample;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

/// The file, a packet for each sample in their order.
pub(crate) fn of(samples: &[Sample]) -> Vec<u8> {
    let mut writer = Writer::new();
    let link = writer.interface("links/signalling");
    for (number, sample) in (0_u16..).zip(samples) {
        let time = Instant::from_millis(number.into());
        writer.packet(link, time, &packet(number, sample), Direction::Outbound, None);
    }
    writer.take()
}

fn packet(number: u16, sample: &Sample) -> Vec<u8> {
    let (port, ppid, payload) = sample.payload();
    let mut builder = PacketBuilder::default();
    let header =
        CommonHeader { source_port: port, destination_port: port, verification_tag: VerificationTag(1) };
    builder.start(header, usize::MAX);
    builder.push(&Chunk::Data(chunk::Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(number.into()),
        stream: StreamId(1),
        sequence: StreamSequence(number),
        ppid: Ppid(ppid),
        payload: payload.into(),
    }));
    let mut packet = builder.finish(sctp::ChecksumPolicy::Compute);
    let header = IpHeader {
        source: HERE,
        destination: THERE,
        protocol: protocol::SCTP,
        hop_limit: 64,
        traffic_class: 0,
        payload_len: packet.len().try_into().unwrap(),
        fragmentation: Fragmentation::Forbidden,
    };
    header.emit(packet.prepend(header.header_len()));
    packet.observed()
}
