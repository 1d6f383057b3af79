//! Headers of links: from a frame to what it carries.

use core::fmt;

use bytes::Bytes;

/// Type of a link, by the number that files of captures have for it (LINKTYPE_…, tcpdump.org/linktypes.html).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u32);

impl LinkType {
    const NULL: Self = Self(0);
    const ETHERNET: Self = Self(1);
    /// Numbers of raw IP: that of files, and those of systems that write their own.
    const RAW: [Self; 3] = [Self(12), Self(14), Self(101)];
    const LOOP: Self = Self(108);
    const LINUX_COOKED: Self = Self(113);
    const MTP2_WITH_HEADER: Self = Self(139);
    const MTP2: Self = Self(140);
    const MTP3: Self = Self(141);
    const IPV4: Self = Self(228);
    const IPV6: Self = Self(229);
    const LINUX_COOKED_2: Self = Self(276);

    const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::NULL => "BSD loopback",
            Self::ETHERNET => "Ethernet",
            Self(12 | 14 | 101) => "raw IP",
            Self(105) => "IEEE 802.11",
            Self::LOOP => "OpenBSD loopback",
            Self::LINUX_COOKED => "Linux cooked capture",
            Self(127) => "IEEE 802.11 with radiotap",
            Self::MTP2_WITH_HEADER => "MTP2 with a pseudo-header",
            Self::MTP2 => "MTP2",
            Self::MTP3 => "MTP3",
            Self(142) => "SCCP",
            Self(147..=162) => "a user's own",
            Self::IPV4 => "raw IPv4",
            Self::IPV6 => "raw IPv6",
            Self(248) => "SCTP",
            Self(252) => "Wireshark's upper PDUs",
            Self::LINUX_COOKED_2 => "Linux cooked capture v2",
            Self(_) => return None,
        })
    }

    /// Link types that are read, in words.
    pub const READ: &'static str =
        "Ethernet, raw IP, Linux cooked capture (v1, v2), BSD loopback, MTP2 and MTP3";
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

/// Content of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// An IP packet, perhaps with padding behind it.
    Ip(Bytes),
    /// Signal unit of MTP2, with or without its check bits.
    Mtp2 {
        /// Line that it went over, and direction, as far as the capture tells them.
        line: u32,
        /// From the sequence numbers on.
        octets: Bytes,
    },
    /// Message of MTP3, from the service information octet on.
    Mtp3(Bytes),
    /// Neither: address resolution, for example.
    Other,
    /// A frame of a link that is not read.
    OtherLink,
    /// Frame that ends within its own header.
    Short,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Tags of a virtual LAN: of customers, of providers (QinQ), and the one that was in use before.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// Most tags that are passed over: two are usual.
const TAGS_MAX: usize = 8;

/// Takes a frame's header off.
pub(crate) fn carried(link: LinkType, frame: &Bytes) -> Carried {
    let behind = |at: usize| (frame.len() > at).then(|| frame.slice(at..));
    let ip = |at: usize| behind(at).map_or(Carried::Short, Carried::Ip);
    match link {
        LinkType::ETHERNET => by_type(frame, 12),
        LinkType::LINUX_COOKED => by_type(frame, 14),
        // The type comes first, the rest of the header behind it.
        LinkType::LINUX_COOKED_2 => match frame.first_chunk() {
            Some(kind) if frame.len() > 20 => of_type(u16::from_be_bytes(*kind), frame, 20),
            _ => Carried::Short,
        },
        LinkType::NULL | LinkType::LOOP => match frame.get(4).map(|first| first >> 4) {
            Some(4 | 6) => ip(4),
            Some(_) => Carried::Other,
            None => Carried::Short,
        },
        LinkType::IPV4 | LinkType::IPV6 => ip(0),
        link if LinkType::RAW.contains(&link) => ip(0),
        LinkType::MTP2 => behind(0).map_or(Carried::Short, |octets| Carried::Mtp2 { line: 0, octets }),
        // Sent or received, annex A of Q.703 or not, and two octets for the number of the line.
        LinkType::MTP2_WITH_HEADER => match (frame.first_chunk::<4>(), behind(4)) {
            (Some([sent, _, high, low]), Some(octets)) => {
                let line = 1 << 24 | u32::from(*sent) << 16 | u32::from(u16::from_be_bytes([*high, *low]));
                Carried::Mtp2 { line, octets }
            }
            _ => Carried::Short,
        },
        LinkType::MTP3 => behind(0).map_or(Carried::Short, Carried::Mtp3),
        _ => Carried::OtherLink,
    }
}

/// Reads the type of what follows at `at`.
fn by_type(frame: &Bytes, at: usize) -> Carried {
    match frame.get(at..at + 2) {
        Some(kind) => of_type(u16::from_be_bytes([kind[0], kind[1]]), frame, at + 2),
        None => Carried::Short,
    }
}

/// Passes over tags, of which each has two octets of its own and the type that follows.
fn of_type(kind: u16, frame: &Bytes, at: usize) -> Carried {
    let (mut kind, mut at) = (kind, at);
    for _ in 0..TAGS_MAX {
        if !TAGS.contains(&kind) {
            break;
        }
        let Some(next) = frame.get(at + 2..at + 4) else { return Carried::Short };
        kind = u16::from_be_bytes([next[0], next[1]]);
        at += 4;
    }
    match kind {
        IPV4 | IPV6 if frame.len() > at => Carried::Ip(frame.slice(at..)),
        IPV4 | IPV6 => Carried::Short,
        _ => Carried::Other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ethernet(types: &[u16], payload: &[u8]) -> Bytes {
        let mut frame = vec![0; 12];
        for (place, kind) in types.iter().enumerate() {
            if place > 0 {
                frame.extend_from_slice(&[0, 7]);
            }
            frame.extend_from_slice(&kind.to_be_bytes());
        }
        frame.extend_from_slice(payload);
        frame.into()
    }

    #[test]
    fn an_ip_packet_is_found_behind_every_header() {
        let ip = Carried::Ip(Bytes::from_static(&[0x45, 1]));
        let of = |link: u32, frame: &Bytes| carried(LinkType(link), frame);
        let behind = |header: &[u8]| Bytes::from([header, &[0x45, 1]].concat());
        assert_eq!(of(1, &ethernet(&[IPV4], &[0x45, 1])), ip);
        assert_eq!(of(1, &ethernet(&[0x8100, IPV6], &[0x45, 1])), ip);
        assert_eq!(of(1, &ethernet(&[0x88a8, 0x8100, IPV4], &[0x45, 1])), ip);
        for link in [12, 101, 228, 229] {
            assert_eq!(of(link, &behind(&[])), ip);
        }
        let mut cooked = [0; 16];
        cooked[14] = 8;
        assert_eq!(of(113, &behind(&cooked)), ip);
        let mut cooked = [0; 20];
        cooked[0] = 8;
        assert_eq!(of(276, &behind(&cooked)), ip);
        assert_eq!(of(0, &behind(&[2, 0, 0, 0])), ip);
    }

    #[test]
    fn other_frames_are_told_apart() {
        let of = |link: u32, frame: &Bytes| carried(LinkType(link), frame);
        assert_eq!(of(1, &ethernet(&[0x0806], &[1])), Carried::Other);
        assert_eq!(of(1, &ethernet(&[IPV4], &[])), Carried::Short);
        assert_eq!(of(1, &ethernet(&[0x8100], &[])), Carried::Short);
        assert_eq!(of(1, &ethernet(&[0x8100; 40], &[1])), Carried::Other);
        assert_eq!(of(147, &ethernet(&[IPV4], &[1])), Carried::OtherLink);
        let octets = Bytes::from_static(&[1, 2, 3]);
        assert_eq!(of(140, &octets), Carried::Mtp2 { line: 0, octets: octets.clone() });
        assert_eq!(of(141, &octets), Carried::Mtp3(octets.clone()));
        let headed = Bytes::from_static(&[1, 0, 0, 9, 1, 2, 3]);
        assert_eq!(of(139, &headed), Carried::Mtp2 { line: 0x0101_0009, octets });
    }

    proptest! {
        #[test]
        fn any_frame_is_one_of_these(link in prop_oneof![0_u32..300, any::<u32>()], frame: Vec<u8>) {
            let _ = carried(LinkType(link), &frame.into());
        }
    }
}
