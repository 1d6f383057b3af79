//! Cutting a packet into fragments (RFC 791, section 3.2; RFC 8200, section 4.5).

use crate::ip::{Fragment, Fragmentation, IPV6_HEADER_LEN, IpHeader};
use crate::{Checksum, Packet};

/// Cuts an IP packet with all its checksums in place into packets of at most `mtu_bytes`. `identification` tells the
/// fragments of an IPv6 packet from those of others; an IPv4 packet has its own, and so has a fragment that is cut
/// again.
///
/// `None` if that may not be ("don't fragment"; an IPv6 fragment) or cannot: bytes that are no packet, IPv4 options,
/// an MTU without room for eight bytes.
pub fn cut(packet: &[u8], mtu_bytes: u32, identification: u32) -> Option<Vec<Packet>> {
    let (header, header_len) = IpHeader::parse_unverified(packet).ok()?;
    let whole = Fragment { identification, offset_bytes: 0, is_followed: false };
    let original = match header.fragmentation {
        Fragmentation::Allowed { identification } => {
            Fragment { identification: identification.into(), ..whole }
        }
        Fragmentation::Fragment(fragment) if header.source.is_ipv4() => fragment,
        Fragmentation::Forbidden if header.source.is_ipv6() => whole,
        Fragmentation::Forbidden | Fragmentation::Fragment(_) => return None,
    };
    let mut piece = IpHeader { fragmentation: Fragmentation::Fragment(original), ..header };
    if header_len != header.header_len() {
        return None;
    }
    //= https://www.rfc-editor.org/rfc/rfc8200#section-4.5
    //# Each complete fragment, except possibly the
    //# last ("rightmost") one, is an integer multiple of 8 octets long.
    let room = usize::try_from(mtu_bytes).ok()?.checked_sub(piece.header_len())? & !7;
    if room == 0 {
        return None;
    }
    let payload = &packet[header_len..header_len + usize::from(header.payload_len)];
    let mut fragments = Vec::with_capacity(payload.len().div_ceil(room));
    let mut offset = usize::from(original.offset_bytes);
    let mut rest = payload;
    while !rest.is_empty() {
        let (own, behind) = rest.split_at(room.min(rest.len()));
        piece.fragmentation = Fragmentation::Fragment(Fragment {
            offset_bytes: u16::try_from(offset).ok()?,
            is_followed: original.is_followed || !behind.is_empty(),
            ..original
        });
        piece.payload_len = u16::try_from(own.len()).ok()?;
        let mut bytes = vec![0; piece.header_len()];
        piece.emit(&mut bytes);
        bytes.extend_from_slice(own);
        fragments.push(Packet::shared(bytes.into(), Checksum::Complete));
        offset += own.len();
        rest = behind;
    }
    Some(fragments)
}

/// Tells if a router may cut the packet that starts with these bytes: IPv4 without "don't fragment".
pub fn may_be_cut_on_its_way(packet: &[u8]) -> bool {
    let is_v4 = packet.first().is_some_and(|first| first >> 4 == 4);
    is_v4 && packet.get(6).is_some_and(|flags| flags & 0x40 == 0)
}

const _: () =
    assert!(IPV6_HEADER_LEN == Packet::HEADROOM, "a fragment's header needs more, and is no headroom");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::protocol;
    use std::net::IpAddr;

    fn packet(is_v4: bool, fragmentation: Fragmentation, payload: &[u8]) -> Vec<u8> {
        let [source, destination] = if is_v4 {
            [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from)
        } else {
            [[1_u16; 8], [2; 8]].map(IpAddr::from)
        };
        let header = IpHeader {
            source,
            destination,
            protocol: protocol::SCTP,
            hop_limit: 9,
            traffic_class: 3,
            payload_len: u16::try_from(payload.len()).unwrap(),
            fragmentation,
        };
        let mut bytes = vec![0; header.header_len()];
        header.emit(&mut bytes);
        bytes.extend_from_slice(payload);
        bytes
    }

    /// Offset, length, whether others follow, identification.
    fn places(fragments: &[Packet]) -> Vec<(u16, u16, bool, u32)> {
        let place = |packet: &Packet| {
            let (header, _) = IpHeader::parse(packet.tail()).unwrap();
            assert_eq!((header.hop_limit, header.traffic_class, header.protocol), (9, 3, protocol::SCTP));
            let Fragmentation::Fragment(fragment) = header.fragmentation else { panic!("{header:?}") };
            (fragment.offset_bytes, header.payload_len, fragment.is_followed, fragment.identification)
        };
        fragments.iter().map(place).collect()
    }

    const ALLOWED: Fragmentation = Fragmentation::Allowed { identification: 77 };

    #[test]
    fn an_ipv4_packet_is_cut_at_multiples_of_eight_and_its_fragments_again() {
        let whole = packet(true, ALLOWED, &[5; 1_000]);
        let fragments = cut(&whole, 521, 1).unwrap();
        assert_eq!(places(&fragments), [(0, 496, true, 77), (496, 496, true, 77), (992, 8, false, 77)]);
        assert!(fragments.iter().all(|fragment| fragment.len() <= 521));
        let again = cut(fragments[1].tail(), 300, 1).unwrap();
        assert_eq!(places(&again), [(496, 280, true, 77), (776, 216, true, 77)]);
        let last = cut(fragments[2].tail(), 68, 1).unwrap();
        assert_eq!(places(&last), [(992, 8, false, 77)]);
    }

    #[test]
    fn an_ipv6_packet_is_cut_by_its_source_alone() {
        let whole = packet(false, Fragmentation::Forbidden, &[5; 1_400]);
        let fragments = cut(&whole, 1_280, 0x1_0001).unwrap();
        assert_eq!(places(&fragments), [(0, 1_232, true, 0x1_0001), (1_232, 168, false, 0x1_0001)]);
        assert_eq!(fragments[0].len(), 1_280);
        assert!(!may_be_cut_on_its_way(&whole));
        assert!(cut(fragments[0].tail(), 1_000, 2).is_none());
    }

    #[test]
    fn what_must_not_or_cannot_be_cut_is_not() {
        let whole = packet(true, Fragmentation::Forbidden, &[5; 100]);
        assert!(!may_be_cut_on_its_way(&whole));
        assert!(cut(&whole, 68, 1).is_none());
        let whole = packet(true, ALLOWED, &[5; 100]);
        assert!(may_be_cut_on_its_way(&whole));
        assert!(cut(&whole, 27, 1).is_none(), "no room for eight bytes");
        assert!(cut(&whole[..60], 68, 1).is_none(), "the packet is not whole");
        let mut with_options = whole;
        with_options[0] = 0x46;
        assert!(cut(&with_options, 68, 1).is_none());
        assert!(!may_be_cut_on_its_way(&[0x45; 6]));
    }
}
