//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers, without options and extension headers.

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
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// SCTP.
    pub const SCTP: u8 = 132;
}

/// The length of an IPv4 header without options, in bytes.
pub const IPV4_HEADER_LEN: usize = 20;
/// The length of an IPv6 header, in bytes.
pub const IPV6_HEADER_LEN: usize = 40;

/// What an IP header says. IPv4 packets are sent with "don't fragment"; fragments are refused on receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    /// Where the packet comes from.
    pub source: IpAddr,
    /// Where it goes; of the same version as `source`.
    pub destination: IpAddr,
    /// What follows the header, one of [`protocol`].
    pub protocol: u8,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// DSCP and ECN, the former TOS octet or the traffic class.
    pub traffic_class: u8,
    /// Bytes behind the header.
    pub payload_len: u16,
}

impl IpHeader {
    /// How many bytes [`emit`](Self::emit) writes.
    pub const fn header_len(&self) -> usize {
        match self.source {
            IpAddr::V4(_) => IPV4_HEADER_LEN,
            IpAddr::V6(_) => IPV6_HEADER_LEN,
        }
    }

    /// Reads the header of a packet and checks its version, lengths and checksum. Returns it with its length
    /// in bytes, IPv4 options included.
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
                // Identification zero is right for atomic datagrams (RFC 6864, section 4.1); DF is set.
                header[4..12].copy_from_slice(&[0, 0, 0x40, 0, self.hop_limit, self.protocol, 0, 0]);
                header[12..16].copy_from_slice(&source.octets());
                header[16..20].copy_from_slice(&destination.octets());
                let sum = internet([&*header]);
                header[10..12].copy_from_slice(&sum.to_be_bytes());
                IPV4_HEADER_LEN
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let header = &mut buffer[..IPV6_HEADER_LEN];
                let first = 6 << 28 | u32::from(self.traffic_class) << 20;
                header[..4].copy_from_slice(&first.to_be_bytes());
                header[4..6].copy_from_slice(&self.payload_len.to_be_bytes());
                header[6] = self.protocol;
                header[7] = self.hop_limit;
                header[8..24].copy_from_slice(&source.octets());
                header[24..40].copy_from_slice(&destination.octets());
                IPV6_HEADER_LEN
            }
            (source, destination) => panic!("a packet from {source} to {destination} mixes IP versions"),
        }
    }
}

fn parse_v4(bytes: &[u8]) -> Result<(IpHeader, usize), WireError> {
    let mut reader = Reader::new(bytes);
    let [version_ihl, traffic_class] = reader.array()?;
    let header_len = usize::from(version_ihl & 0xf) * 4;
    if header_len < IPV4_HEADER_LEN {
        return Err(WireError::BadValue { field: "IHL", value: u64::from(version_ihl & 0xf) });
    }
    let total_len = reader.u16()?;
    let _identification = reader.u16()?;
    let fragment = reader.u16()?;
    // More fragments, or an offset.
    if fragment & 0x3fff != 0 {
        return Err(WireError::Unsupported { field: "fragment", value: fragment.into() });
    }
    let [hop_limit, protocol, _, _] = reader.array()?;
    let source = Ipv4Addr::from(reader.array::<4>()?);
    let destination = Ipv4Addr::from(reader.array::<4>()?);
    reader.take(header_len - IPV4_HEADER_LEN)?;
    let Some(payload_len) = usize::from(total_len).checked_sub(header_len) else {
        return Err(WireError::BadValue { field: "total length", value: total_len.into() });
    };
    #[expect(clippy::cast_possible_truncation, reason = "less than the 16-bit total length")]
    let payload_len = payload_len as u16;
    let (source, destination) = (source.into(), destination.into());
    Ok((IpHeader { source, destination, protocol, hop_limit, traffic_class, payload_len }, header_len))
}

fn parse_v6(bytes: &[u8]) -> Result<(IpHeader, usize), WireError> {
    let mut reader = Reader::new(bytes);
    let first = reader.u32()?;
    let traffic_class = (first >> 20 & 0xff) as u8;
    let payload_len = reader.u16()?;
    let [protocol, hop_limit] = reader.array()?;
    let source = Ipv6Addr::from(reader.array::<16>()?).into();
    let destination = Ipv6Addr::from(reader.array::<16>()?).into();
    Ok((IpHeader { source, destination, protocol, hop_limit, traffic_class, payload_len }, IPV6_HEADER_LEN))
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
        (addresses, any::<u8>(), any::<u8>(), any::<u8>(), 0_u16..1_500).prop_map(
            |((source, destination), protocol, hop_limit, traffic_class, payload_len)| IpHeader {
                source,
                destination,
                protocol,
                hop_limit,
                traffic_class,
                payload_len,
            },
        )
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
    fn a_fragment_is_refused() {
        let mut bytes = [0; 20];
        bytes[0] = 0x45;
        bytes[3] = 20;
        bytes[6] = 0x20;
        let refused = IpHeader::parse_unverified(&bytes);
        assert_eq!(refused, Err(WireError::Unsupported { field: "fragment", value: 0x2000 }));
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
