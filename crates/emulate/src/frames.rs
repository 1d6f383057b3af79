//! Frames of Ethernet: their kinds, tags of a virtual LAN, and the header around an IP packet.

use core::fmt;

use slantpath_wire::ethernet::ETHERNET_HEADER_LEN;
use slantpath_wire::ethernet::ether_type::{ARP, IPV4, IPV6};
use slantpath_wire::ip::{IPV6_HEADER_LEN, protocol};

use crate::ip::{IpExtent, IpFault};

/// An address of the link layer (IEEE 802, 48 bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// Tells if it names a group of stations: multicast, or broadcast.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for octet in self.0 {
            write!(f, "{separator}{octet:02x}")?;
            separator = ":";
        }
        Ok(())
    }
}

/// Kind of a frame on an interface that carries IP alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind<'a> {
    /// An IP packet to one station, without the padding of the frame: to be carried.
    Ip {
        /// From the IP header to the last octet that its length counts.
        packet: &'a [u8],
    },
    /// An IP packet that cannot be carried: to be dropped and counted.
    Malformed(IpFault),
    /// An IP packet to a group of stations of the link: to be dropped and counted.
    Multicast,
    /// ARP, or a message of neighbour discovery: to be [answered](crate::neighbours::answer), and never carried.
    Neighbour,
    /// Anything else, tagged frames among it: to be dropped and counted.
    Other,
}

/// Two addresses, behind which the type or the first tag stands.
const ADDRESSES_LEN: usize = 12;
/// Messages of neighbour discovery (RFC 4861, section 4): router solicitation to redirect.
const NEIGHBOUR_DISCOVERY: core::ops::RangeInclusive<u8> = 133..=137;

/// Tells the kind of a frame on an interface that carries IP alone.
pub fn classify(frame: &[u8]) -> FrameKind<'_> {
    let Some((header, behind)) = frame.split_first_chunk::<ETHERNET_HEADER_LEN>() else {
        return FrameKind::Other;
    };
    let ether_type = u16::from_be_bytes([header[12], header[13]]);
    match ether_type {
        ARP => return FrameKind::Neighbour,
        IPV4 | IPV6 => {}
        _ => return FrameKind::Other,
    }
    let extent = match of_type(ether_type, behind) {
        Ok(extent) => extent,
        Err(fault) => return FrameKind::Malformed(fault),
    };
    let packet = &behind[..extent.len];
    let is_icmpv6 = extent.header.source.is_ipv6() && extent.header.protocol == protocol::ICMPV6;
    // In a fragment the number of its protocol stands there, 58: neighbours void fragments (RFC 6980).
    if is_icmpv6 && packet.get(IPV6_HEADER_LEN).is_some_and(|kind| NEIGHBOUR_DISCOVERY.contains(kind)) {
        return FrameKind::Neighbour;
    }
    if header[0] & 1 != 0 {
        return FrameKind::Multicast;
    }
    FrameKind::Ip { packet }
}

/// Reads the packet in a frame of this type, which is IPv4's or IPv6's.
fn of_type(ether_type: u16, bytes: &[u8]) -> Result<IpExtent, IpFault> {
    let extent = IpExtent::of(bytes)?;
    if extent.header.source.is_ipv4() != (ether_type == IPV4) {
        return Err(IpFault::OtherVersion { ether_type, version: bytes[0] >> 4 });
    }
    Ok(extent)
}

/// The frame with the tag that the kernel took out of it: `tpid` is the tag's type, `tci` its priority and number.
/// `None` if the frame ends within its addresses.
///
/// Places in an [`Offload`](crate::Offload) count from a frame without the tag: it comes in after them.
pub fn with_vlan_tag(frame: &[u8], tpid: u16, tci: u16) -> Option<Vec<u8>> {
    let (addresses, behind) = frame.split_at_checked(ADDRESSES_LEN)?;
    let ([t0, t1], [c0, c1]) = (tpid.to_be_bytes(), tci.to_be_bytes());
    Some([addresses, &[t0, t1, c0, c1], behind].concat())
}

/// Tells if the kernel counts a frame as dropped that a packet socket has: one of a virtual LAN that is not on the
/// machine (`has_tag`, which it took out), and of no protocol of its own. Of others the socket is the one to whom it
/// goes.
pub fn is_counted_as_dropped(frame: &[u8], has_tag: bool) -> bool {
    let kind = frame.get(ADDRESSES_LEN..).and_then(|behind| behind.first_chunk());
    let has_protocol = kind.is_some_and(|kind| matches!(u16::from_be_bytes(*kind), ARP | IPV4 | IPV6));
    has_tag && !has_protocol
}

/// Header of a frame around an IP packet; `None` if the packet has the version of neither.
pub fn ethernet(
    destination: MacAddress,
    source: MacAddress,
    packet: &[u8],
) -> Option<[u8; ETHERNET_HEADER_LEN]> {
    let ether_type = match packet.first()? >> 4 {
        4 => IPV4,
        6 => IPV6,
        _ => return None,
    };
    let mut header = [0; ETHERNET_HEADER_LEN];
    header[..6].copy_from_slice(&destination.0);
    header[6..12].copy_from_slice(&source.0);
    header[12..].copy_from_slice(&ether_type.to_be_bytes());
    Some(header)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slantpath_wire::WireError;
    use slantpath_wire::udp::UdpHeader;
    use slantpath_wire::{Checksum, checksum};

    use super::*;

    const HERE: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const THERE: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
    const ALL: MacAddress = MacAddress([0xff; 6]);

    /// An IPv4 packet of UDP with two octets, of class EF, complete.
    fn v4() -> Vec<u8> {
        let (from, to) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let header = UdpHeader { source_port: 1, destination_port: 2 };
        let datagram = header.emit(&[&[7, 8]], from, to, Checksum::Complete);
        let head = [0x45, 0xb8, 0, 30, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let mut packet = [&head[..], &datagram, &[7, 8]].concat();
        checksum::complete(&mut packet);
        packet
    }

    /// An IPv6 packet with `payload`, of the class 0b0010_1001.
    fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x62, 0x90, 0, 0, 0, u8::try_from(payload.len()).unwrap(), next, 255];
        packet.extend_from_slice(&[0xfd; 32]);
        packet.extend_from_slice(payload);
        packet
    }

    fn framed(destination: MacAddress, packet: &[u8]) -> Vec<u8> {
        [&ethernet(destination, HERE, packet).unwrap()[..], packet].concat()
    }

    #[test]
    fn padding_behind_a_packet_is_lost() {
        let (v4, v6) = (v4(), v6(17, &[1; 8]));
        for packet in [&v4, &v6] {
            let mut frame = framed(THERE, packet);
            assert_eq!(classify(&frame), FrameKind::Ip { packet });
            frame.resize(90, 0xaa);
            assert_eq!(classify(&frame), FrameKind::Ip { packet });
        }
    }

    #[test]
    fn the_header_of_a_frame_is_destination_source_and_type() {
        assert_eq!(ethernet(THERE, HERE, &v4()), Some([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]));
        assert_eq!(ethernet(THERE, HERE, &v6(6, &[])).unwrap()[12..], [0x86, 0xdd]);
        assert_eq!(ethernet(THERE, HERE, &[0x55; 40]), None);
        assert_eq!(ethernet(THERE, HERE, &[]), None);
        assert_eq!(THERE.to_string(), "02:00:00:00:00:02");
    }

    #[test]
    fn what_concerns_the_link_alone_is_not_carried() {
        let mut arp = framed(ALL, &v4());
        arp[12..14].copy_from_slice(&[0x08, 0x06]);
        assert_eq!(classify(&arp), FrameKind::Neighbour);
        for kind in [133, 134, 135, 136, 137] {
            assert_eq!(classify(&framed(THERE, &v6(58, &[kind, 0, 0, 0]))), FrameKind::Neighbour);
        }
        for (kind, packet) in [132, 138].map(|kind| (kind, v6(58, &[kind, 0, 0, 0]))) {
            assert_eq!(classify(&framed(THERE, &packet)), FrameKind::Ip { packet: &packet }, "{kind}");
        }
        // The number of neighbour discovery in another protocol.
        let packet = v6(17, &[135, 0, 0, 0]);
        assert_eq!(classify(&framed(THERE, &packet)), FrameKind::Ip { packet: &packet });
        // And in IPv4, behind 20 octets of options.
        let mut packet = v4();
        packet.splice(20..20, [0; 20]);
        packet[..10].copy_from_slice(&[0x4a, 0, 0, 50, 0, 0, 0, 0, 64, 58]);
        packet[40] = 135;
        assert_eq!(classify(&framed(THERE, &packet)), FrameKind::Ip { packet: &packet });
        for group in [ALL, MacAddress([0x01, 0x00, 0x5e, 0, 0, 1]), MacAddress([0x33, 0x33, 0, 0, 0, 1])] {
            assert_eq!(classify(&framed(group, &v4())), FrameKind::Multicast, "{group}");
        }
    }

    #[test]
    fn other_frames_are_told_apart() {
        for kind in [[0x88, 0xcc], [0x00, 0x26], [0x81, 0x00], [0x88, 0x64]] {
            let mut frame = framed(THERE, &v4());
            frame[12..14].copy_from_slice(&kind);
            assert_eq!(classify(&frame), FrameKind::Other);
        }
        assert_eq!(classify(&framed(THERE, &v4())[..13]), FrameKind::Other);
    }

    #[test]
    fn a_packet_that_contradicts_itself_has_a_typed_reason() {
        let fault = |change: fn(&mut Vec<u8>), packet: Vec<u8>| {
            let mut frame = framed(THERE, &packet);
            change(&mut frame);
            match classify(&frame) {
                FrameKind::Malformed(fault) => fault,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            fault(|frame| frame[14] = 0x44, v4()),
            IpFault::Header(WireError::BadValue { field: "IHL", value: 4 })
        );
        assert_eq!(
            fault(|frame| frame[14] = 0x4f, v4()),
            IpFault::Header(WireError::Truncated { wanted: 40, left: 10 })
        );
        assert_eq!(
            fault(|frame| frame[17] = 31, v4()),
            IpFault::Header(WireError::Truncated { wanted: 11, left: 10 })
        );
        assert_eq!(
            fault(|frame| frame[17] = 19, v4()),
            IpFault::Header(WireError::BadValue { field: "total length", value: 19 })
        );
        assert_eq!(
            fault(|frame| frame.truncate(14), v4()),
            IpFault::Header(WireError::Truncated { wanted: 1, left: 0 })
        );
        assert_eq!(fault(|frame| frame[19] = 0, v6(0, &[0; 8])), IpFault::Jumbogram);
        assert_eq!(
            fault(|frame| frame[12..14].copy_from_slice(&[0x86, 0xdd]), v4()),
            IpFault::OtherVersion { ether_type: 0x86dd, version: 4 }
        );
        assert_eq!(
            fault(|frame| frame[12..14].copy_from_slice(&[0x08, 0x00]), v6(17, &[])),
            IpFault::OtherVersion { ether_type: 0x0800, version: 6 }
        );
    }

    #[test]
    fn a_kernel_drops_what_is_behind_a_tag_and_not_of_ip_and_its_neighbours() {
        let frame = |kind: [u8; 2]| [&[0; 12][..], &kind].concat();
        let dropped = |kind| [false, true].map(|has_tag| is_counted_as_dropped(&frame(kind), has_tag));
        assert_eq!([[8, 0], [8, 6], [0x86, 0xdd]].map(dropped), [[false; 2]; 3]);
        assert_eq!([[0x88, 0xcc], [0x81, 0], [0, 46]].map(dropped), [[false, true]; 3]);
        assert!(is_counted_as_dropped(&frame([8, 0])[..13], true));
    }

    #[test]
    fn a_tag_stands_between_the_addresses_and_the_type() {
        let frame = framed(THERE, &v4());
        let tagged = with_vlan_tag(&frame, 0x8100, 0xa064).unwrap();
        assert_eq!(tagged[..12], frame[..12]);
        assert_eq!(tagged[12..18], [0x81, 0x00, 0xa0, 0x64, 0x08, 0x00]);
        assert_eq!(tagged[18..], frame[14..]);
        assert_eq!(with_vlan_tag(&frame[..12], 0x8100, 1).map(|tagged| tagged.len()), Some(16));
        assert_eq!(with_vlan_tag(&frame[..11], 0x8100, 1), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_classified(mut frame: Vec<u8>, kind in prop::sample::select(vec![ARP, IPV4, IPV6, 0x8100])) {
            if let Some(field) = frame.get_mut(12..14) {
                field.copy_from_slice(&kind.to_be_bytes());
            }
            if let FrameKind::Ip { packet } = classify(&frame) {
                prop_assert!(frame[ETHERNET_HEADER_LEN..].starts_with(packet));
            }
            let _ = ethernet(HERE, THERE, &frame);
        }

        #[test]
        fn a_tagged_frame_without_its_tag_is_the_frame(frame: Vec<u8>, tpid: u16, tci: u16) {
            let tagged = with_vlan_tag(&frame, tpid, tci);
            prop_assert_eq!(tagged.is_some(), frame.len() >= 12);
            if let Some(mut tagged) = tagged {
                tagged.drain(12..16);
                prop_assert_eq!(tagged, frame);
            }
        }

        #[test]
        fn a_framed_packet_is_found(payload in prop::collection::vec(any::<u8>(), 1..100), padding in 0_usize..60) {
            let packet = v6(17, &payload);
            let mut frame = framed(THERE, &packet);
            frame.resize(frame.len() + padding, 0);
            prop_assert_eq!(classify(&frame), FrameKind::Ip { packet: &packet });
        }
    }
}
