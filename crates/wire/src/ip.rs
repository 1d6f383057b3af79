//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers, without options and with no extension header but that of fragments.

mod fields;

pub use fields::{Dscp, Ecn, Envelope, IpFields};

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::checksum::internet;
use crate::{Reader, WireError};

/// Protocol numbers that this stack speaks or quotes.
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6's fragment header, which names the protocol behind it (RFC 8200, section 4.5).
    pub const IPV6_FRAGMENT: u8 = 44;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// SCTP.
    pub const SCTP: u8 = 132;
}

/// The length of an IPv4 header without options, in bytes.
pub const IPV4_HEADER_LEN: usize = 20;
/// The length of an IPv6 header, in bytes.
pub const IPV6_HEADER_LEN: usize = 40;

/// The length of the header that an IPv6 fragment has behind the other, in bytes.
pub const IPV6_FRAGMENT_HEADER_LEN: usize = 8;

/// State of a packet as to fragments: one of them itself, or whole, with or without leave to be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragmentation {
    /// Whole; routers may cut it. Only IPv4 says so: an IPv6 packet is cut by its source or by nobody.
    Allowed {
        /// Number that tells its fragments from those of other packets.
        identification: u16,
    },
    /// Whole, and no router may cut it ("don't fragment").
    Forbidden,
    /// Itself a fragment.
    Fragment(Fragment),
}

/// Place of a fragment in its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Number that tells the fragments of a packet from those of others; of 16 bits in IPv4.
    pub identification: u32,
    /// Length of the part of the packet that lies before it, in bytes, without IP headers: a multiple of eight.
    pub offset_bytes: u16,
    /// True if other fragments follow it ("more fragments").
    pub is_followed: bool,
}

/// Fields of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    /// Address of the packet's sender.
    pub source: IpAddr,
    /// Address to which the packet goes; of the same version as `source`.
    pub destination: IpAddr,
    /// Protocol that follows the header, or an IPv6 fragment's two, one of [`protocol`].
    pub protocol: u8,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// DSCP and ECN, the former TOS octet or the traffic class.
    pub traffic_class: u8,
    /// Bytes behind the header, or an IPv6 fragment's two.
    pub payload_len: u16,
    /// State as to fragments: one of them, or whole.
    pub fragmentation: Fragmentation,
}

impl IpHeader {
    /// Number of bytes that [`emit`](Self::emit) writes.
    pub const fn header_len(&self) -> usize {
        match (self.source, self.fragmentation) {
            (IpAddr::V4(_), _) => IPV4_HEADER_LEN,
            (IpAddr::V6(_), Fragmentation::Fragment(_)) => IPV6_HEADER_LEN + IPV6_FRAGMENT_HEADER_LEN,
            (IpAddr::V6(_), _) => IPV6_HEADER_LEN,
        }
    }

    /// Reads the header of a packet and checks its version, lengths and checksum. Returns it with its length
    /// in bytes, IPv4 options and IPv6's fragment header included.
    pub fn parse(packet: &[u8]) -> Result<(Self, usize), WireError> {
        let (header, header_len) = Self::parse_unverified(packet)?;
        header.verify(&packet[..header_len])?;
        Ok((header, header_len))
    }

    /// Checks the checksum in the octets that this header was read from; IPv6 has none.
    pub fn verify(&self, octets: &[u8]) -> Result<(), WireError> {
        let sum = if self.source.is_ipv4() { internet([octets]) } else { 0 };
        if sum == 0 {
            return Ok(());
        }
        let found = octets.get(10..12).map_or(0, |field| u32::from(u16::from_be_bytes([field[0], field[1]])));
        // One's complement: what the field should have held is found + sum.
        Err(WireError::BadChecksum { found, computed: (found + u32::from(sum)) % 0xffff })
    }

    /// Like [`parse`](Self::parse), for packets whose checksums were omitted.
    pub fn parse_unverified(packet: &[u8]) -> Result<(Self, usize), WireError> {
        let (header, header_len) = Self::parse_header(packet)?;
        let left = packet.len() - header_len;
        if left < usize::from(header.payload_len) {
            return Err(WireError::Truncated { wanted: usize::from(header.payload_len), left });
        }
        Ok((header, header_len))
    }

    /// Reads a header alone, whose payload need not be in `bytes`: as quoted by ICMP, or held elsewhere.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a call would write the header to memory, to be read again at once"
    )]
    pub fn parse_header(bytes: &[u8]) -> Result<(Self, usize), WireError> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => parse_v4(bytes),
            Some(6) => parse_v6(bytes),
            Some(version) => Err(WireError::Unsupported { field: "IP version", value: version.into() }),
            None => Err(WireError::Truncated { wanted: 1, left: 0 }),
        }
    }

    /// Writes the header with its checksum into the front of `buffer` and returns its length.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`header_len`](Self::header_len) or the addresses differ in version.
    pub fn emit(&self, buffer: &mut [u8]) -> usize {
        let header_len = self.emit_unsummed(buffer);
        if self.source.is_ipv4() {
            let sum = internet([&buffer[..header_len]]);
            buffer[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        header_len
    }

    /// Variant of [`emit`](Self::emit) with zero for IPv4's checksum, for a packet whose [checksums are
    /// omitted](crate::Checksum::Omitted).
    ///
    /// # Panics
    /// As [`emit`](Self::emit).
    #[inline]
    pub fn emit_unsummed(&self, buffer: &mut [u8]) -> usize {
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let header = &mut buffer[..IPV4_HEADER_LEN];
                let total = self.payload_len.saturating_add(20);
                header[..4].copy_from_slice(&[
                    0x45,
                    self.traffic_class,
                    (total >> 8) as u8,
                    (total & 0xff) as u8,
                ]);
                let [id_high, id_low, flags_high, flags_low] = self.fragmentation.ipv4_words();
                let rest = [id_high, id_low, flags_high, flags_low, self.hop_limit, self.protocol, 0, 0];
                header[4..12].copy_from_slice(&rest);
                header[12..16].copy_from_slice(&source.octets());
                header[16..20].copy_from_slice(&destination.octets());
                IPV4_HEADER_LEN
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let header_len = self.header_len();
                let header = &mut buffer[..header_len];
                let first = 6 << 28 | u32::from(self.traffic_class) << 20;
                header[..4].copy_from_slice(&first.to_be_bytes());
                header[4..6].copy_from_slice(&self.payload_len.to_be_bytes());
                header[6] = self.protocol;
                header[7] = self.hop_limit;
                header[8..24].copy_from_slice(&source.octets());
                header[24..40].copy_from_slice(&destination.octets());
                if let Fragmentation::Fragment(fragment) = self.fragmentation {
                    let behind = self.payload_len.saturating_add(8);
                    header[4..6].copy_from_slice(&behind.to_be_bytes());
                    header[6] = protocol::IPV6_FRAGMENT;
                    let [place_high, place_low] =
                        (fragment.offset_bytes & !7 | u16::from(fragment.is_followed)).to_be_bytes();
                    header[40..44].copy_from_slice(&[self.protocol, 0, place_high, place_low]);
                    header[44..48].copy_from_slice(&fragment.identification.to_be_bytes());
                }
                header_len
            }
            (source, destination) => panic!("a packet from {source} to {destination} mixes IP versions"),
        }
    }
}

impl Fragmentation {
    /// IPv4's identification, and its flags with the offset.
    const fn ipv4_words(self) -> [u8; 4] {
        let (identification, flags) = match self {
            Self::Allowed { identification } => (identification, 0),
            // Identification zero is right for atomic datagrams (RFC 6864, section 4.1).
            Self::Forbidden => (0, DONT_FRAGMENT),
            Self::Fragment(Fragment { identification, offset_bytes, is_followed }) => {
                let flag = if is_followed { MORE_FRAGMENTS } else { 0 };
                ((identification & 0xffff) as u16, offset_bytes >> 3 | flag)
            }
        };
        let ([high, low], [flags_high, flags_low]) = (identification.to_be_bytes(), flags.to_be_bytes());
        [high, low, flags_high, flags_low]
    }
}

const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;

#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would write the header to memory, to be read again at once")]
fn parse_v4(bytes: &[u8]) -> Result<(IpHeader, usize), WireError> {
    let mut reader = Reader::new(bytes);
    let [
        version_ihl,
        traffic_class,
        total_high,
        total_low,
        id_high,
        id_low,
        flags_high,
        flags_low,
        hop_limit,
        protocol,
        _,
        _,
        s0,
        s1,
        s2,
        s3,
        d0,
        d1,
        d2,
        d3,
    ] = reader.array::<IPV4_HEADER_LEN>()?;
    let header_len = usize::from(version_ihl & 0xf) * 4;
    if header_len < IPV4_HEADER_LEN {
        return Err(WireError::BadValue { field: "IHL", value: u64::from(version_ihl & 0xf) });
    }
    let [total_len, identification, flags] =
        [[total_high, total_low], [id_high, id_low], [flags_high, flags_low]].map(u16::from_be_bytes);
    let is_followed = flags & MORE_FRAGMENTS != 0;
    let offset_bytes = flags << 3;
    let fragmentation = if is_followed || offset_bytes != 0 {
        let identification = identification.into();
        Fragmentation::Fragment(Fragment { identification, offset_bytes, is_followed })
    } else if flags & DONT_FRAGMENT != 0 {
        Fragmentation::Forbidden
    } else {
        Fragmentation::Allowed { identification }
    };
    let [source, destination] = [[s0, s1, s2, s3], [d0, d1, d2, d3]].map(Ipv4Addr::from);
    reader.take(header_len - IPV4_HEADER_LEN)?;
    let Some(payload_len) = usize::from(total_len).checked_sub(header_len) else {
        return Err(WireError::BadValue { field: "total length", value: total_len.into() });
    };
    #[expect(clippy::cast_possible_truncation, reason = "less than the 16-bit total length")]
    let payload_len = payload_len as u16;
    let (source, destination) = (source.into(), destination.into());
    let header =
        IpHeader { source, destination, protocol, hop_limit, traffic_class, payload_len, fragmentation };
    Ok((header, header_len))
}

fn parse_v6(bytes: &[u8]) -> Result<(IpHeader, usize), WireError> {
    let mut reader = Reader::new(bytes);
    let first = reader.u32()?;
    let traffic_class = (first >> 20 & 0xff) as u8;
    let payload_len = reader.u16()?;
    let [protocol, hop_limit] = reader.array()?;
    let source = Ipv6Addr::from(reader.array::<16>()?).into();
    let destination = Ipv6Addr::from(reader.array::<16>()?).into();
    let fragmentation = Fragmentation::Forbidden;
    let header =
        IpHeader { source, destination, protocol, hop_limit, traffic_class, payload_len, fragmentation };
    if protocol == protocol::IPV6_FRAGMENT {
        return Ok((parse_v6_fragment(header, reader)?, IPV6_HEADER_LEN + IPV6_FRAGMENT_HEADER_LEN));
    }
    Ok((header, IPV6_HEADER_LEN))
}

/// Reads the header behind that of an IPv6 fragment.
#[cold]
fn parse_v6_fragment(header: IpHeader, mut reader: Reader<'_>) -> Result<IpHeader, WireError> {
    let [protocol, _] = reader.array()?;
    let place = reader.u16()?;
    let identification = reader.u32()?;
    let Some(payload_len) = header.payload_len.checked_sub(8) else {
        return Err(WireError::BadValue { field: "payload length", value: header.payload_len.into() });
    };
    let fragment = Fragment { identification, offset_bytes: place & !7, is_followed: place & 1 != 0 };
    Ok(IpHeader { protocol, payload_len, fragmentation: Fragmentation::Fragment(fragment), ..header })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn any_header() -> impl Strategy<Value = IpHeader> {
        let addresses = prop_oneof![
            any::<(u32, u32)>().prop_map(|(a, b)| (Ipv4Addr::from(a).into(), Ipv4Addr::from(b).into())),
            any::<(u128, u128)>().prop_map(|(a, b)| (Ipv6Addr::from(a).into(), Ipv6Addr::from(b).into())),
        ];
        (addresses, any::<u8>(), any::<u8>(), any::<u8>(), 0_u16..1_500, any_fragmentation()).prop_map(
            |((source, destination), protocol, hop_limit, traffic_class, payload_len, fragmentation)| {
                let is_v4 = IpAddr::is_ipv4(&source);
                // What IPv6 has no words for, and a protocol that is none.
                let fragmentation = match fragmentation {
                    Fragmentation::Allowed { .. } if !is_v4 => Fragmentation::Forbidden,
                    Fragmentation::Fragment(fragment) if is_v4 => Fragmentation::Fragment(Fragment {
                        identification: fragment.identification & 0xffff,
                        ..fragment
                    }),
                    fragmentation => fragmentation,
                };
                let protocol = if protocol == protocol::IPV6_FRAGMENT { 0 } else { protocol };
                IpHeader {
                    source,
                    destination,
                    protocol,
                    hop_limit,
                    traffic_class,
                    payload_len,
                    fragmentation,
                }
            },
        )
    }

    fn any_fragmentation() -> impl Strategy<Value = Fragmentation> {
        prop_oneof![
            any::<u16>().prop_map(|identification| Fragmentation::Allowed { identification }),
            Just(Fragmentation::Forbidden),
            // An IPv4 fragment that is all of its packet reads as a whole one.
            (any::<u32>(), 1_u16..0x2000, any::<bool>()).prop_map(
                |(identification, eighths, is_followed)| {
                    let offset_bytes = eighths << 3;
                    Fragmentation::Fragment(Fragment { identification, offset_bytes, is_followed })
                }
            ),
        ]
    }

    #[test]
    fn a_flipped_bit_fails_the_ipv4_checksum() {
        let header = IpHeader {
            source: Ipv4Addr::new(10, 0, 0, 1).into(),
            destination: Ipv4Addr::new(10, 0, 0, 2).into(),
            protocol: protocol::SCTP,
            hop_limit: 64,
            traffic_class: 0,
            payload_len: 0,
            fragmentation: Fragmentation::Forbidden,
        };
        let mut bytes = [0; IPV4_HEADER_LEN];
        header.emit(&mut bytes);
        assert_eq!(IpHeader::parse(&bytes), Ok((header, IPV4_HEADER_LEN)));
        for bit in 0..8 {
            let mut broken = bytes;
            broken[8] ^= 1 << bit;
            assert!(matches!(IpHeader::parse(&broken), Err(WireError::BadChecksum { .. })), "bit {bit}");
        }
    }

    #[test]
    fn the_words_of_fragmentation_are_those_of_the_standards() {
        let mut header = IpHeader {
            source: Ipv4Addr::new(10, 0, 0, 1).into(),
            destination: Ipv4Addr::new(10, 0, 0, 2).into(),
            protocol: protocol::SCTP,
            hop_limit: 64,
            traffic_class: 0,
            payload_len: 16,
            fragmentation: Fragmentation::Forbidden,
        };
        let mut bytes = [0; 48];
        let first = Fragment { identification: 0x1234, offset_bytes: 0, is_followed: true };
        let last = Fragment { identification: 0x1234, offset_bytes: 1_480, is_followed: false };
        for (fragmentation, words) in [
            (Fragmentation::Forbidden, [0, 0, 0x40, 0]),
            (Fragmentation::Allowed { identification: 0x1234 }, [0x12, 0x34, 0, 0]),
            (Fragmentation::Fragment(first), [0x12, 0x34, 0x20, 0]),
            (Fragmentation::Fragment(last), [0x12, 0x34, 0, 185]),
        ] {
            header.fragmentation = fragmentation;
            assert_eq!(header.emit(&mut bytes), 20);
            assert_eq!(bytes[4..8], words, "{fragmentation:?}");
        }
        header.source = IpAddr::from([1_u16; 8]);
        header.destination = IpAddr::from([2_u16; 8]);
        assert_eq!(header.emit(&mut bytes), 48);
        // The payload length counts the fragment header; the protocol stands in the second header.
        assert_eq!(bytes[4..7], [0, 24, 44]);
        assert_eq!(bytes[40..], [132, 0, 0x05, 0xc8, 0, 0, 0x12, 0x34]);
    }

    #[test]
    fn an_ipv6_fragment_without_room_for_its_header_is_refused() {
        let mut bytes = [0; 48];
        (bytes[0], bytes[5], bytes[6]) = (0x60, 7, 44);
        let refused = IpHeader::parse_header(&bytes);
        assert_eq!(refused, Err(WireError::BadValue { field: "payload length", value: 7 }));
        assert_eq!(IpHeader::parse_header(&bytes[..47]), Err(WireError::Truncated { wanted: 4, left: 3 }));
    }

    proptest! {
        #[test]
        fn headers_round_trip(header in any_header()) {
            let mut bytes = vec![0; header.header_len() + usize::from(header.payload_len)];
            let header_len = header.emit(&mut bytes);
            prop_assert_eq!(IpHeader::parse(&bytes), Ok((header, header_len)));
        }

        #[test]
        fn any_bytes_give_a_header_or_an_error(bytes: Vec<u8>) {
            let _ = IpHeader::parse(&bytes);
        }
    }
}
