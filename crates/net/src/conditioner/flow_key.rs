//! To which flow a packet belongs.

use slantpath_wire::ip::{IPV4_HEADER_LEN, IPV6_HEADER_LEN, protocol};
use slantpath_wire::{Packet, ethernet};

use crate::header::AddressKey;
use crate::parcel::Parcel;

/// Key that tells flows apart: addresses, protocol and, where the protocol has them, ports. Fragments have none, so
/// that all those of a packet belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct FlowKey {
    pub(crate) source: AddressKey,
    pub(crate) destination: AddressKey,
    pub(crate) protocol: u8,
    /// Source and destination, or zeros.
    pub(crate) ports: [u16; 2],
}

impl FlowKey {
    /// The flow of a packet in a network; `None` of a frame that carries none of IP.
    pub(crate) fn of_parcel(parcel: Parcel, packet: &Packet) -> Option<Self> {
        if !parcel.is_frame() {
            return Self::of(packet);
        }
        let frame = packet.contiguous();
        Self::read(&frame[ethernet::ip_at(&frame)?..], &[])
    }

    /// The flow of an IP packet; `None` if the bytes are none.
    pub(crate) fn of(packet: &Packet) -> Option<Self> {
        match (packet.head(), packet.tail()) {
            ([], whole) => Self::read(whole, &[]),
            (head, tail) => Self::read(head, tail),
        }
    }

    /// By which its random stream is named.
    pub(crate) fn name(&self) -> [u8; 37] {
        let mut name = [0; 37];
        name[..16].copy_from_slice(&self.source.octets());
        name[16..32].copy_from_slice(&self.destination.octets());
        name[32] = self.protocol;
        name[33..35].copy_from_slice(&self.ports[0].to_be_bytes());
        name[35..].copy_from_slice(&self.ports[1].to_be_bytes());
        name
    }

    /// Number of the flow and a salt: its bits are mixed well, so that of two salts each gives the greater one to half
    /// of all flows.
    pub(crate) fn number(&self, salt: u64) -> u64 {
        let name = self.name();
        name.chunks(8).fold(mix(salt), |hash, bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            mix(hash ^ u64::from_le_bytes(word))
        })
    }

    /// Reads an IP header. The ports lie behind it, or in `tail` if nothing does.
    fn read(bytes: &[u8], tail: &[u8]) -> Option<Self> {
        match bytes.first()? >> 4 {
            4 => {
                let header: &[u8; IPV4_HEADER_LEN] = bytes.first_chunk()?;
                let header_len = usize::from(header[0] & 0x0f) * 4;
                // More fragments, or an offset.
                let is_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
                let [.., s0, s1, s2, s3, d0, d1, d2, d3] = *header;
                Some(Self {
                    source: AddressKey::ipv4([s0, s1, s2, s3]),
                    destination: AddressKey::ipv4([d0, d1, d2, d3]),
                    protocol: header[9],
                    ports: if is_fragment {
                        NO_PORTS
                    } else {
                        ports(header[9], bytes.get(header_len..)?, tail)
                    },
                })
            }
            6 => {
                let (header, after) = bytes.split_first_chunk::<IPV6_HEADER_LEN>()?;
                let [source, destination] = [&header[8..24], &header[24..]]
                    .map(|address| AddressKey::ipv6(address.try_into().expect("16 bytes")));
                Some(Self { source, destination, protocol: header[6], ports: ports(header[6], after, tail) })
            }
            _ => None,
        }
    }
}

const NO_PORTS: [u16; 2] = [0, 0];

fn ports(of: u8, after: &[u8], tail: &[u8]) -> [u16; 2] {
    let payload = if after.is_empty() { tail } else { after };
    let has_ports = matches!(of, protocol::SCTP | protocol::TCP | protocol::UDP);
    match payload.first_chunk::<4>() {
        Some(&[a, b, c, d]) if has_ports => [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])],
        _ => NO_PORTS,
    }
}

/// Every bit of the outcome hangs on every bit of the number: the finisher of `SplitMix64` (Steele, Lea and
/// Flood, 2014).
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_wire::Checksum;
    use slantpath_wire::ip::{Fragment, Fragmentation, IpHeader};
    use std::net::IpAddr;

    fn header(version: u8, of: u8) -> IpHeader {
        let (source, destination) = if version == 4 {
            (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]))
        } else {
            (IpAddr::from([1_u16; 8]), IpAddr::from([2_u16; 8]))
        };
        IpHeader {
            source,
            destination,
            protocol: of,
            hop_limit: 64,
            traffic_class: 0,
            payload_len: 20,
            fragmentation: Fragmentation::Forbidden,
        }
    }

    fn packet(header: &IpHeader, payload: &[u8]) -> Packet {
        let mut packet = Packet::copied(payload, Checksum::Complete);
        header.emit(packet.prepend(header.header_len()));
        packet
    }

    const PAYLOAD: [u8; 20] =
        [0x4e, 0x20, 0x9c, 0x40, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];

    #[test]
    fn the_number_of_a_flow_is_of_all_that_tells_it_apart_and_of_the_salt() {
        let flow = FlowKey {
            source: AddressKey::ipv4([10, 0, 0, 1]),
            destination: AddressKey::ipv4([10, 0, 0, 2]),
            protocol: protocol::UDP,
            ports: [80, 258],
        };
        let others = [
            FlowKey { source: AddressKey::ipv4([10, 0, 0, 3]), ..flow },
            FlowKey { destination: AddressKey::ipv4([10, 0, 0, 3]), ..flow },
            FlowKey { protocol: protocol::TCP, ..flow },
            FlowKey { ports: [81, 258], ..flow },
            FlowKey { ports: [80, 259], ..flow },
        ];
        for other in others {
            assert_ne!(flow.number(0), other.number(0), "{other:?}");
        }
        assert_ne!(flow.number(0), flow.number(1));
    }

    #[test]
    fn of_two_salts_each_is_the_greater_for_half_of_all_flows() {
        let is_first = |port: &u16| {
            let flow = FlowKey { ports: [*port, 80], ..FlowKey::default() };
            flow.number(0) > flow.number(1)
        };
        let count = (0..1_000).filter(is_first).count();
        // Four standard deviations of a fair coin.
        assert!(count.abs_diff(500) < 64, "{count}");
    }

    #[test]
    fn a_flow_has_the_addresses_the_protocol_and_the_ports_of_its_packets() {
        for version in [4, 6] {
            for (of, ports) in [
                (protocol::SCTP, [20_000, 40_000]),
                (protocol::TCP, [20_000, 40_000]),
                (protocol::UDP, [20_000, 40_000]),
                (protocol::ICMP, [0, 0]),
            ] {
                let header = header(version, of);
                let packet = packet(&header, &PAYLOAD);
                let key = FlowKey::of(&packet).expect("an IP packet");
                assert_eq!(
                    (key.source.address(), key.destination.address()),
                    (header.source, header.destination)
                );
                assert_eq!((key.protocol, key.ports), (of, ports));
                let whole = Packet::shared(packet.contiguous(), Checksum::Complete);
                assert_eq!(FlowKey::of(&whole), Some(key), "wherever its bytes lie");
            }
        }
    }

    #[test]
    fn all_fragments_of_a_packet_belong_together() {
        let fragment = |offset_bytes, is_followed| {
            let mut header = header(4, protocol::UDP);
            header.fragmentation =
                Fragmentation::Fragment(Fragment { identification: 7, offset_bytes, is_followed });
            FlowKey::of(&packet(&header, &PAYLOAD)).expect("an IP packet")
        };
        let (first, last) = (fragment(0, true), fragment(40, false));
        assert_eq!((first, first.ports), (last, [0, 0]));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_flow_or_none(bytes: Vec<u8>, tail: Vec<u8>) {
            let _ = FlowKey::of(&Packet::copied(&bytes, Checksum::Complete));
            let _ = FlowKey::of(&Packet::shared(tail.into(), Checksum::Complete));
        }
    }
}
