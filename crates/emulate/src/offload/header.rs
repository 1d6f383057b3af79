//! Header of offloads, ten bytes before each frame.

use core::fmt;
use core::num::NonZeroU16;

use super::OffloadError;

/// Length of the header in bytes, without the number of buffers that some devices have behind it.
pub const OFFLOAD_LEN: usize = 10;

/// Work that is left to be done on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// A checksum that is not complete.
    pub checksum: Option<PartialChecksum>,
    /// Cutting into segments.
    pub segmentation: Option<Segmentation>,
    /// Length of all headers, in bytes: a hint on where to copy, which kernels set to more as well. Nothing is
    /// read by it.
    pub header_len: u16,
}

/// Place of a checksum that is not complete: its field holds the sum of the pseudo-header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// First octet of the frame that the checksum covers, up to the end of the packet.
    pub start: u16,
    /// Place of the checksum behind that octet.
    pub offset: u16,
}

/// Segments that a frame is to be cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmentation {
    /// Transport whose segments they are.
    pub kind: SegmentationKind,
    /// Octets of data in each segment but the last, which may have less.
    pub size: NonZeroU16,
}

/// Transport of segments that are to be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentationKind {
    /// TCP over IPv4.
    TcpV4 {
        /// True if the frame has the flag CWR, which only the first segment gets.
        has_ecn: bool,
    },
    /// TCP over IPv6.
    TcpV6 {
        /// True if the frame has the flag CWR, which only the first segment gets.
        has_ecn: bool,
    },
    /// Datagrams of UDP, over either version of IP.
    Udp,
}

impl fmt::Display for SegmentationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TcpV4 { .. } => "TCP over IPv4",
            Self::TcpV6 { .. } => "TCP over IPv6",
            Self::Udp => "UDP",
        })
    }
}

/// Flag "needs checksum"; others tell what was verified.
const NEEDS_CHECKSUM: u8 = 1;

const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_UDP: u8 = 3;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;

impl Offload {
    /// Work on a frame that is ready as it is.
    pub const NONE: Self = Self { checksum: None, segmentation: None, header_len: 0 };

    /// Reads the header off the front of `bytes`, in the machine's own byte order, and returns the frame behind it.
    ///
    /// # Errors
    /// If it is cut off, or asks for what nothing is known of.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), OffloadError> {
        let (header, frame) =
            bytes.split_first_chunk::<OFFLOAD_LEN>().ok_or(OffloadError::ShortHeader { len: bytes.len() })?;
        let [flags, gso_type, h0, h1, g0, g1, s0, s1, o0, o1] = *header;
        let [header_len, size, start, offset] =
            [[h0, h1], [g0, g1], [s0, s1], [o0, o1]].map(u16::from_ne_bytes);
        let checksum = (flags & NEEDS_CHECKSUM != 0).then_some(PartialChecksum { start, offset });
        let has_ecn = gso_type & GSO_ECN != 0;
        let kind = match (gso_type & !GSO_ECN, has_ecn) {
            (GSO_NONE, false) => None,
            (GSO_TCPV4, has_ecn) => Some(SegmentationKind::TcpV4 { has_ecn }),
            (GSO_TCPV6, has_ecn) => Some(SegmentationKind::TcpV6 { has_ecn }),
            (GSO_UDP_L4, false) => Some(SegmentationKind::Udp),
            (GSO_UDP, _) => return Err(OffloadError::UdpFragments),
            _ => return Err(OffloadError::UnknownSegmentation { gso_type }),
        };
        let size = NonZeroU16::new(size);
        let segmentation = match (kind, size) {
            (None, _) => None,
            (Some(kind), Some(size)) => Some(Segmentation { kind, size }),
            (Some(_), None) => return Err(OffloadError::ZeroSegmentSize),
        };
        Ok((Self { checksum, segmentation, header_len }, frame))
    }

    /// Number of packets that a frame of so many octets with this work is cut into.
    pub fn packets_in(&self, frame_len: usize) -> u64 {
        let Some(Segmentation { size, .. }) = self.segmentation else { return 1 };
        let data = frame_len.saturating_sub(self.header_len.into());
        data.div_ceil(size.get().into()).max(1) as u64
    }

    /// The header's octets, in the machine's own byte order.
    pub fn to_bytes(&self) -> [u8; OFFLOAD_LEN] {
        let (flags, PartialChecksum { start, offset }) = match self.checksum {
            Some(checksum) => (NEEDS_CHECKSUM, checksum),
            None => (0, PartialChecksum { start: 0, offset: 0 }),
        };
        let (gso_type, size) = self
            .segmentation
            .map_or((GSO_NONE, 0), |Segmentation { kind, size }| (kind.gso_type(), size.get()));
        let [[h0, h1], [g0, g1], [s0, s1], [o0, o1]] =
            [self.header_len, size, start, offset].map(u16::to_ne_bytes);
        [flags, gso_type, h0, h1, g0, g1, s0, s1, o0, o1]
    }
}

impl SegmentationKind {
    const fn gso_type(self) -> u8 {
        match self {
            Self::TcpV4 { has_ecn } => GSO_TCPV4 | if has_ecn { GSO_ECN } else { 0 },
            Self::TcpV6 { has_ecn } => GSO_TCPV6 | if has_ecn { GSO_ECN } else { 0 },
            Self::Udp => GSO_UDP_L4,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A header whose numbers are written in this machine's byte order.
    fn header(flags: u8, gso_type: u8, numbers: [u16; 4]) -> Vec<u8> {
        let numbers = numbers.map(u16::to_ne_bytes);
        [&[flags, gso_type][..], numbers.as_flattened()].concat()
    }

    fn parsed(flags: u8, gso_type: u8, size: u16) -> Result<Offload, OffloadError> {
        Offload::parse(&header(flags, gso_type, [66, size, 34, 16])).map(|(offload, _)| offload)
    }

    #[test]
    fn every_field_stands_in_its_place() {
        let bytes = [header(1, 0x81, [66, 1_448, 34, 16]), vec![0xab; 3]].concat();
        let (offload, frame) = Offload::parse(&bytes).unwrap();
        let kind = SegmentationKind::TcpV4 { has_ecn: true };
        let expected = Offload {
            checksum: Some(PartialChecksum { start: 34, offset: 16 }),
            segmentation: Some(Segmentation { kind, size: NonZeroU16::new(1_448).unwrap() }),
            header_len: 66,
        };
        assert_eq!((offload, frame), (expected, &[0xab; 3][..]));
        assert_eq!(offload.to_bytes(), bytes[..10]);
        assert_eq!(Offload::NONE.to_bytes(), [0; 10]);
    }

    #[test]
    fn each_kind_has_its_number() {
        let kinds = [0, 1, 4, 5, 0x81, 0x84].map(|gso_type| {
            let offload = parsed(0, gso_type, 9).unwrap();
            assert_eq!(offload.to_bytes()[1], gso_type);
            offload.segmentation.map(|segmentation| segmentation.kind)
        });
        let [v4, v6] =
            [SegmentationKind::TcpV4 { has_ecn: false }, SegmentationKind::TcpV6 { has_ecn: false }];
        let [v4_ecn, v6_ecn] =
            [SegmentationKind::TcpV4 { has_ecn: true }, SegmentationKind::TcpV6 { has_ecn: true }];
        let expected = [None, Some(v4), Some(v6), Some(SegmentationKind::Udp), Some(v4_ecn), Some(v6_ecn)];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_its_reason() {
        for gso_type in [3, 0x83] {
            assert_eq!(parsed(0, gso_type, 9), Err(OffloadError::UdpFragments));
        }
        for gso_type in [2, 6, 0x21, 0x41, 0x80, 0x85, 0xff] {
            assert_eq!(parsed(0, gso_type, 9), Err(OffloadError::UnknownSegmentation { gso_type }));
        }
        for gso_type in [1, 4, 5, 0x81] {
            assert_eq!(parsed(0, gso_type, 0), Err(OffloadError::ZeroSegmentSize));
        }
        assert!(parsed(0, 0, 0).is_ok());
        assert_eq!(Offload::parse(&[0; 9]), Err(OffloadError::ShortHeader { len: 9 }));
    }

    #[test]
    fn a_checksum_is_partial_only_if_a_flag_says_so() {
        assert_eq!(parsed(0, 0, 0).unwrap().checksum, None);
        assert_eq!(parsed(2, 0, 0).unwrap().checksum, None, "verified by the sender");
        assert_eq!(parsed(3, 0, 0).unwrap().checksum, Some(PartialChecksum { start: 34, offset: 16 }));
    }

    proptest! {
        #[test]
        fn a_header_that_is_read_and_written_reads_the_same(bytes: [u8; 10], kind in 0_u8..6, plain: bool) {
            let mut bytes = bytes;
            if plain {
                bytes[1] = bytes[1] & 0x80 | kind;
            }
            if let Ok((offload, rest)) = Offload::parse(&bytes) {
                prop_assert!(rest.is_empty());
                let written = offload.to_bytes();
                prop_assert_eq!(Offload::parse(&written), Ok((offload, &[][..])));
            }
        }
    }

    #[test]
    fn a_frame_is_as_many_packets_as_its_data_fills() {
        let offload = parsed(1, 1, 1_000).unwrap();
        for (data, packets) in [(0, 1), (1, 1), (1_000, 1), (1_001, 2), (3_000, 3)] {
            assert_eq!(offload.packets_in(66 + data), packets, "{data}");
        }
        assert_eq!((offload.packets_in(10), Offload::NONE.packets_in(9_000)), (1, 1));
    }
}
