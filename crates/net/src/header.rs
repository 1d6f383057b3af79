//! The few fields of an IP header that the network itself reads and writes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use slantpath_wire::ip::{IPV4_HEADER_LEN, IPV6_HEADER_LEN};
use slantpath_wire::{Checksum, Packet, checksum, ethernet, fragment};

use crate::parcel::Parcel;

/// An address as one number, which is compared in one go. IPv4 addresses have ones before them: as an IPv6
/// address that would be a group's, which no host has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct AddressKey(u128);

impl AddressKey {
    const IPV4: u128 = !0 << 32;

    pub(crate) fn ipv4(octets: [u8; 4]) -> Self {
        Self(Self::IPV4 | u128::from(u32::from_be_bytes(octets)))
    }

    pub(crate) fn ipv6(octets: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(octets))
    }

    pub(crate) const fn octets(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Address that the key stands for.
    pub(crate) fn address(self) -> IpAddr {
        #[expect(clippy::cast_possible_truncation, reason = "the address is in the low 32 bits")]
        let low = self.0 as u32;
        if self.0 & Self::IPV4 == Self::IPV4 {
            Ipv4Addr::from_bits(low).into()
        } else {
            Ipv6Addr::from_bits(self.0).into()
        }
    }
}

/// Fields that the network reads off a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) destination: AddressKey,
    pub(crate) hop_limit: u8,
    pub(crate) traffic_class: u8,
}

/// Reads a packet's header, or `None` if it starts with none of IP.
#[inline]
pub(crate) fn parse(packet: &Packet) -> Option<Header> {
    match read(packet.head()) {
        Some(header) => Some(header),
        None => parse_elsewhere(packet),
    }
}

/// A header that lies across head and tail would be odd, but is none the less one.
#[cold]
fn parse_elsewhere(packet: &Packet) -> Option<Header> {
    read(packet.tail()).or_else(|| read(&packet.contiguous()))
}

#[inline]
fn read(bytes: &[u8]) -> Option<Header> {
    match bytes.first()? >> 4 {
        4 => {
            let header: &[u8; IPV4_HEADER_LEN] = bytes.first_chunk()?;
            let destination = AddressKey::ipv4([header[16], header[17], header[18], header[19]]);
            Some(Header { destination, hop_limit: header[8], traffic_class: header[1] })
        }
        6 => {
            let header: &[u8; IPV6_HEADER_LEN] = bytes.first_chunk()?;
            let destination = AddressKey::ipv6(*header.last_chunk()?);
            let traffic_class = header[0] << 4 | header[1] >> 4;
            Some(Header { destination, hop_limit: header[7], traffic_class })
        }
        _ => None,
    }
}

/// Tells if a router may cut a packet into fragments.
pub(crate) fn may_be_cut(packet: &Packet) -> bool {
    let first = if packet.head().is_empty() { packet.tail() } else { packet.head() };
    fragment::may_be_cut_on_its_way(first)
}

/// Writes what a packet has come to into its header: the hop limit and the traffic class, or of a frame the class.
#[inline]
pub(crate) fn write(packet: &mut Packet, parcel: Parcel) {
    if parcel.is_frame() {
        write_into_frame(packet, parcel.traffic_class());
    } else {
        update(packet, parcel.hop_limit(), parcel.traffic_class());
    }
}

#[cold]
fn write_into_frame(packet: &mut Packet, traffic_class: u8) {
    let frame = packet.contiguous();
    if ethernet::traffic_class(&frame) != traffic_class {
        let mut frame = frame.to_vec();
        ethernet::set_traffic_class(&mut frame, traffic_class);
        *packet = Packet::shared(frame.into(), Checksum::Complete);
    }
}

/// Writes the hop limit and the traffic class that a packet has come to into its header.
#[inline]
fn update(packet: &mut Packet, hop_limit: u8, traffic_class: u8) {
    let checksum = packet.checksum();
    if packet.head().len() >= IPV4_HEADER_LEN {
        patch(packet.head_mut(), hop_limit, traffic_class, checksum);
    } else {
        update_elsewhere(packet, hop_limit, traffic_class, checksum);
    }
}

#[cold]
fn update_elsewhere(packet: &mut Packet, hop_limit: u8, traffic_class: u8, checksum: Checksum) {
    let differs = |header: Header| header.hop_limit != hop_limit || header.traffic_class != traffic_class;
    if parse(packet).is_some_and(differs) {
        let mut bytes = packet.contiguous().to_vec();
        patch(&mut bytes, hop_limit, traffic_class, checksum);
        *packet = Packet::shared(bytes.into(), checksum);
    }
}

#[inline]
fn patch(bytes: &mut [u8], hop_limit: u8, traffic_class: u8, checksum: Checksum) {
    match bytes.first().map_or(0, |first| first >> 4) {
        4 if bytes.len() >= IPV4_HEADER_LEN => {
            if bytes[1] != traffic_class {
                patch_ipv4(bytes, 1, traffic_class, checksum);
            }
            patch_ipv4(bytes, 8, hop_limit, checksum);
        }
        6 if bytes.len() >= IPV6_HEADER_LEN => {
            if bytes[0] << 4 | bytes[1] >> 4 != traffic_class {
                bytes[0] = bytes[0] & 0xf0 | traffic_class >> 4;
                bytes[1] = bytes[1] & 0x0f | traffic_class << 4;
            }
            bytes[7] = hop_limit;
        }
        _ => {}
    }
}

/// Writes an octet of an IPv4 header, and what that does to the checksum.
#[inline]
fn patch_ipv4(bytes: &mut [u8], at: usize, octet: u8, checksum: Checksum) {
    let word = |bytes: &[u8]| u16::from_be_bytes([bytes[at & !1], bytes[at | 1]]);
    let old = word(bytes);
    bytes[at] = octet;
    let new = word(bytes);
    if checksum == Checksum::Complete && new != old {
        let sum = checksum::updated(u16::from_be_bytes([bytes[10], bytes[11]]), old, new);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};

    fn header(version: u8, hop_limit: u8, traffic_class: u8) -> IpHeader {
        let (source, destination) = if version == 4 {
            (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]))
        } else {
            (IpAddr::from([1_u16; 8]), IpAddr::from([2_u16; 8]))
        };
        IpHeader {
            source,
            destination,
            protocol: protocol::UDP,
            hop_limit,
            traffic_class,
            payload_len: 20,
            fragmentation: Fragmentation::Forbidden,
        }
    }

    proptest! {
        #[test]
        fn a_patched_header_is_the_one_that_would_have_been_sent(
            version in prop_oneof![Just(4_u8), Just(6)],
            before: u8,
            after: u8,
            traffic_class: u8,
            class_after: u8,
            inline: bool,
        ) {
            let mut packet = Packet::copied(&[7; 20], Checksum::Complete);
            let header_before = header(version, before, traffic_class);
            header_before.emit(packet.prepend(header_before.header_len()));
            if !inline {
                packet = Packet::shared(packet.contiguous(), Checksum::Complete);
            }
            let found = parse(&packet).map(|it| (it.destination.address(), it.hop_limit, it.traffic_class));
            prop_assert_eq!(found, Some((header_before.destination, before, traffic_class)));
            update(&mut packet, after, class_after);
            let parsed = IpHeader::parse(&packet.contiguous()).map(|(header, _)| header);
            prop_assert_eq!(parsed, Ok(header(version, after, class_after)));
        }

        #[test]
        fn any_bytes_have_a_destination_or_none(bytes: Vec<u8>, hop_limit: u8, traffic_class: u8) {
            let mut packet = Packet::copied(&bytes, Checksum::Complete);
            let _ = parse(&packet);
            update(&mut packet, hop_limit, traffic_class);
            prop_assert_eq!(packet.len(), bytes.len());
        }
    }
}
