//! Drops, one by one: which packet went no further, where and why. They are recorded only if somebody asks.

use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_wire::ip::protocol;
use slantpath_wire::{Packet, ethernet};

use crate::DirectionId;
use crate::conditioner::FlowKey;
use crate::link::DropReason;
use crate::parcel::Parcel;

/// A packet that went no further, and what its own header says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedPacket {
    /// Instant at which it was dropped; of one that was lost on the way, that at which it would have arrived.
    pub time: Instant,
    /// Direction among whose counters the drop is.
    pub direction: DirectionId,
    /// Reason of the drop.
    pub reason: DropReason,
    /// Length in bytes, from the IP header on.
    pub bytes: u32,
    /// Addresses, protocol and ports; `None` of bytes that are no IP.
    pub flow: Option<DroppedFlow>,
    /// TSN of the first chunk of data, if it is a packet of SCTP that has one.
    pub tsn: Option<u32>,
}

/// The flow of a packet that was dropped, by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedFlow {
    /// Address of the sender.
    pub source: IpAddr,
    /// Address that it was for.
    pub destination: IpAddr,
    /// Number of the protocol (IANA).
    pub protocol: u8,
    /// Ports of the sender and of the receiver. A fragment has none, nor a protocol without them.
    pub ports: Option<[u16; 2]>,
}

impl DroppedPacket {
    pub(crate) fn new(
        time: Instant,
        direction: DirectionId,
        reason: DropReason,
        parcel: Parcel,
        packet: &Packet,
    ) -> Self {
        let key = FlowKey::of_parcel(parcel, packet);
        let flow = key.map(|FlowKey { source, destination, protocol, ports }| DroppedFlow {
            source: source.address(),
            destination: destination.address(),
            protocol,
            ports: (ports != [0, 0]).then_some(ports),
        });
        let is_whole = flow.is_some_and(|flow| flow.protocol == protocol::SCTP && flow.ports.is_some());
        let tsn = if is_whole { tsn_of(parcel, packet) } else { None };
        Self { time, direction, reason, bytes: parcel.length(), flow, tsn }
    }
}

/// The TSN of the first chunk of data in a packet of SCTP that is no fragment.
fn tsn_of(parcel: Parcel, packet: &Packet) -> Option<u32> {
    let bytes = packet.contiguous();
    let ip = &bytes[if parcel.is_frame() { ethernet::ip_at(&bytes)? } else { 0 }..];
    let header_len = match ip.first()? >> 4 {
        4 => usize::from(ip[0] & 0x0f) * 4,
        _ => slantpath_wire::ip::IPV6_HEADER_LEN,
    };
    let mut chunks = ip.get(header_len + COMMON_HEADER_LEN..)?;
    while let [kind, _flags, high, low, value @ ..] = chunks {
        if matches!(*kind, DATA | I_DATA) {
            return value.first_chunk().copied().map(u32::from_be_bytes);
        }
        let length = usize::from(u16::from_be_bytes([*high, *low])).max(4);
        chunks = chunks.get(length.next_multiple_of(4)..)?;
    }
    None
}

/// Ports, verification tag and checksum of SCTP.
const COMMON_HEADER_LEN: usize = 12;
/// Type of a chunk of data (RFC 9260, section 3.3.1).
const DATA: u8 = 0;
/// Type of a chunk of data whose messages may interleave (RFC 8260, section 2.1).
const I_DATA: u8 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parcel::{DestinationId, PacketId};
    use proptest::prelude::*;
    use slantpath_wire::Checksum;
    use slantpath_wire::ip::{Fragment, Fragmentation, IpHeader};

    /// A SACK of 16 bytes, and a chunk of data behind it.
    fn payload(data: u8) -> Vec<u8> {
        let mut bytes = vec![0x4e, 0x20, 0x9c, 0x40, 1, 2, 3, 4, 5, 6, 7, 8];
        bytes.extend([3, 0, 0, 14, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0]);
        bytes.extend([data, 3, 0, 20, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
        bytes
    }

    fn dropped(is_ipv4: bool, of: u8, fragmentation: Fragmentation, payload: &[u8]) -> DroppedPacket {
        let (source, destination) = addresses(is_ipv4);
        let payload_len = u16::try_from(payload.len()).expect("short");
        let traffic_class = 0;
        let header = IpHeader {
            source,
            destination,
            protocol: of,
            hop_limit: 64,
            traffic_class,
            payload_len,
            fragmentation,
        };
        let mut packet = Packet::copied(payload, Checksum::Complete);
        header.emit(packet.prepend(header.header_len()));
        noted(&packet)
    }

    fn addresses(is_ipv4: bool) -> (IpAddr, IpAddr) {
        if is_ipv4 {
            (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]))
        } else {
            (IpAddr::from([1_u16; 8]), IpAddr::from([2_u16; 8]))
        }
    }

    fn noted(packet: &Packet) -> DroppedPacket {
        let length = u32::try_from(packet.len()).expect("short");
        let parcel = Parcel::new(PacketId::new(0), DestinationId(0), length, 64, 0);
        DroppedPacket::new(Instant::START, DirectionId(3), DropReason::Loss, parcel, packet)
    }

    #[test]
    fn a_drop_tells_addresses_ports_and_the_first_tsn() {
        for is_ipv4 in [true, false] {
            let (source, destination) = addresses(is_ipv4);
            for (of, data, ports, tsn) in [
                (protocol::SCTP, DATA, Some([20_000, 40_000]), Some(0x1234_5678)),
                (protocol::SCTP, I_DATA, Some([20_000, 40_000]), Some(0x1234_5678)),
                (protocol::SCTP, 4, Some([20_000, 40_000]), None),
                (protocol::UDP, DATA, Some([20_000, 40_000]), None),
                (protocol::ICMP, DATA, None, None),
            ] {
                let drop = dropped(is_ipv4, of, Fragmentation::Forbidden, &payload(data));
                assert_eq!(drop.flow, Some(DroppedFlow { source, destination, protocol: of, ports }));
                assert_eq!((drop.tsn, drop.direction, drop.reason), (tsn, DirectionId(3), DropReason::Loss));
            }
        }
    }

    #[test]
    fn a_fragment_has_neither_ports_nor_a_tsn() {
        let fragment = Fragment { identification: 7, offset_bytes: 0, is_followed: true };
        let drop = dropped(true, protocol::SCTP, Fragmentation::Fragment(fragment), &payload(DATA));
        assert_eq!((drop.flow.and_then(|flow| flow.ports), drop.tsn), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_drop(bytes: Vec<u8>, chunks: Vec<u8>, is_ipv4: bool) {
            let _ = noted(&Packet::copied(&bytes, Checksum::Complete));
            let payload = [&payload(DATA)[..12], &chunks].concat();
            let _ = dropped(is_ipv4, protocol::SCTP, Fragmentation::Forbidden, &payload);
        }
    }
}
