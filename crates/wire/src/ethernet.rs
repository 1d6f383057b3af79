//! Frames of Ethernet (IEEE 802.3), with or without tags of a virtual LAN (IEEE 802.1Q): the place of what they carry,
//! and the class that they ask for.

use crate::checksum;

/// The length of a frame's header without tags, in bytes.
pub const ETHERNET_HEADER_LEN: usize = 14;
/// The length of both addresses, behind which the type or the first tag stands, in bytes.
pub const ETHERNET_ADDRESSES_LEN: usize = 12;
/// The length of a header with as many tags as are passed over, in bytes.
pub const ETHERNET_HEADER_MAX: usize = ETHERNET_HEADER_LEN + TAGS_MAX * TAG_LEN;

/// Types of what a frame carries.
pub mod ether_type {
    /// ARP (RFC 826).
    pub const ARP: u16 = 0x0806;
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
}

/// Tags of customers, of providers, and the one of providers that was in use before.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const TAG_LEN: usize = 4;
/// Most tags that are passed over: two are usual.
const TAGS_MAX: usize = 8;
/// The bits of ECN in a traffic class.
const ECN: u8 = 3;
/// Bits of a traffic class below the three that are a priority code point.
const BELOW_PRIORITY: u8 = 5;

/// Finds what a frame carries: its type, behind all tags, and the place of the first octet. `None` if the frame ends
/// within its header, or has more tags than anybody uses.
pub fn content(frame: &[u8]) -> Option<(u16, usize)> {
    let places = (ETHERNET_ADDRESSES_LEN..).step_by(TAG_LEN).take(TAGS_MAX + 1);
    for at in places {
        let kind = u16::from_be_bytes(*frame.get(at..)?.first_chunk()?);
        if !TAGS.contains(&kind) {
            return Some((kind, at + 2));
        }
    }
    None
}

/// The length of what a frame carries: behind its header and all its tags.
pub fn content_len(frame: &[u8]) -> usize {
    frame.len() - content(frame).map_or(ETHERNET_HEADER_LEN.min(frame.len()), |(_, at)| at)
}

/// The place of the IP packet that a frame carries.
pub fn ip_at(frame: &[u8]) -> Option<usize> {
    let is_ip = |kind| matches!(kind, ether_type::IPV4 | ether_type::IPV6);
    content(frame).filter(|(kind, _)| is_ip(*kind)).map(|(_, at)| at)
}

/// Class of a frame, as an IP header has it: of a frame with a tag the priority code point of the outermost one is its
/// class selector, else its IP packet has it. Bits of ECN are the packet's in any case; 0 where nothing is said.
pub fn traffic_class(frame: &[u8]) -> u8 {
    let of_packet = ip_at(frame).and_then(|at| class_of_ip(&frame[at..])).unwrap_or(0);
    match priority(frame) {
        Some(priority) => priority << BELOW_PRIORITY | of_packet & ECN,
        None => of_packet,
    }
}

/// Writes a class into a frame where [`traffic_class`] reads it, as far as there is a place for it. The checksum of an
/// IPv4 header goes with it.
pub fn set_traffic_class(frame: &mut [u8], class: u8) {
    let has_tag = priority(frame).is_some();
    if has_tag {
        let octet = &mut frame[ETHERNET_HEADER_LEN];
        *octet = *octet & (0xff >> 3) | class & !(0xff >> 3);
    }
    let Some(at) = ip_at(frame) else { return };
    let packet = &mut frame[at..];
    let Some(own) = class_of_ip(packet) else { return };
    let class = if has_tag { own & !ECN | class & ECN } else { class };
    if class == own {
        return;
    }
    if packet[0] >> 4 == 6 {
        packet[0] = packet[0] & 0xf0 | class >> 4;
        packet[1] = packet[1] & 0x0f | class << 4;
        return;
    }
    let [before, after] = [own, class].map(|class| u16::from_be_bytes([packet[0], class]));
    packet[1] = class;
    if let Some(field) = packet.get_mut(10..12) {
        let sum = checksum::updated(u16::from_be_bytes([field[0], field[1]]), before, after);
        field.copy_from_slice(&sum.to_be_bytes());
    }
}

/// Priority code point of the outermost tag, if there is one.
fn priority(frame: &[u8]) -> Option<u8> {
    let kind = u16::from_be_bytes(*frame.get(ETHERNET_ADDRESSES_LEN..)?.first_chunk()?);
    TAGS.contains(&kind).then(|| frame.get(ETHERNET_HEADER_LEN).map(|first| first >> BELOW_PRIORITY))?
}

/// Traffic class of an IP packet, by the version that it says.
fn class_of_ip(packet: &[u8]) -> Option<u8> {
    let [first, second] = *packet.first_chunk()?;
    match first >> 4 {
        4 => Some(second),
        6 => Some(first << 4 | second >> 4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    const TAG: [u8; 4] = [0x81, 0x00, 0xbf, 0xff];
    const PROVIDER: [u8; 4] = [0x88, 0xa8, 0x20, 0x00];
    /// An IPv4 header of class EF with ECT(0), its checksum in place.
    const V4: [u8; 20] = [0x45, 0xba, 0, 20, 0, 1, 0, 0, 64, 17, 0x66, 0x1c, 10, 0, 0, 1, 10, 0, 0, 2];

    fn v6(class: u8) -> Vec<u8> {
        let mut packet = vec![0x60 | class >> 4, class << 4 | 7];
        packet.resize(40, 1);
        packet
    }

    fn frame(tags: &[[u8; 4]], kind: u16, content: &[u8]) -> Vec<u8> {
        [&ADDRESSES[..], tags.as_flattened(), &kind.to_be_bytes(), content].concat()
    }

    #[test]
    fn content_lies_behind_all_tags() {
        for tags in [&[][..], &[TAG], &[PROVIDER, TAG]] {
            let tagged = frame(tags, ether_type::IPV4, &V4);
            let at = 14 + 4 * tags.len();
            assert_eq!((content(&tagged), content_len(&tagged)), (Some((ether_type::IPV4, at)), 20));
            assert_eq!(ip_at(&tagged), Some(at));
        }
        assert_eq!(content(&frame(&[TAG; 8], 7, &[])), Some((7, 46)));
        assert_eq!(content(&frame(&[TAG; 9], 7, &[])), None);
        assert_eq!((content(&ADDRESSES), content_len(&ADDRESSES)), (None, 0));
        assert_eq!(ip_at(&frame(&[], ether_type::ARP, &V4)), None);
    }

    #[test]
    fn the_class_is_of_the_tag_or_of_the_packet_and_ecn_of_the_packet() {
        assert_eq!(checksum::internet([&V4[..]]), 0);
        let class = |tags: &[[u8; 4]], kind, content: &[u8]| traffic_class(&frame(tags, kind, content));
        assert_eq!(class(&[], ether_type::IPV4, &V4), 0xba);
        assert_eq!(class(&[TAG], ether_type::IPV4, &V4), 0xa2);
        assert_eq!(class(&[PROVIDER, TAG], ether_type::IPV4, &V4), 0x22);
        assert_eq!(class(&[], ether_type::IPV6, &v6(0x2b)), 0x2b);
        assert_eq!(class(&[TAG], ether_type::ARP, &V4), 0xa0);
        assert_eq!(class(&[], ether_type::ARP, &V4), 0);
    }

    #[test]
    fn a_class_is_written_where_it_was_read() {
        let mut marked = frame(&[], ether_type::IPV4, &V4);
        set_traffic_class(&mut marked, 0xbb);
        assert_eq!((marked[15], checksum::internet([&marked[14..]])), (0xbb, 0));
        let mut tagged = frame(&[TAG], ether_type::IPV6, &v6(0x2a));
        set_traffic_class(&mut tagged, 0xc3);
        // The tag has a new priority and its other bits; the packet has its DSCP, and a new mark.
        assert_eq!((&tagged[14..16], &tagged[18..20]), (&[0xdf, 0xff][..], &[0x62, 0xb7][..]));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_class_that_is_written_back_without_a_change(
            mut frame: Vec<u8>,
            kinds in prop::collection::vec(prop::sample::select(vec![0x0800_u16, 0x86dd, 0x8100, 0x88a8, 7]), 1..4),
            class: u8,
        ) {
            for (at, kind) in (12..).step_by(4).zip(kinds) {
                if let Some(field) = frame.get_mut(at..at + 2) {
                    field.copy_from_slice(&kind.to_be_bytes());
                }
            }
            let len = frame.len();
            prop_assert!(content_len(&frame) <= len);
            let (before, own) = (frame.clone(), traffic_class(&frame));
            set_traffic_class(&mut frame, own);
            prop_assert_eq!(&frame, &before);
            set_traffic_class(&mut frame, class);
            prop_assert_eq!(frame.len(), len);
            prop_assert_eq!(frame.get(..12), before.get(..12));
            if frame.len() > 60 && ip_at(&frame).is_some_and(|at| class_of_ip(&frame[at..]).is_some()) {
                let kept = if priority(&frame).is_some() { 0b1110_0011 } else { 0xff };
                prop_assert_eq!(traffic_class(&frame), class & kept);
            }
        }
    }
}
