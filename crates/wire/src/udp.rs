//! UDP (RFC 768): ports, a length and a checksum.

use std::net::IpAddr;

use crate::{Checksum, Reader, WireError, checksum, ip::protocol};

/// The length of a UDP header, in bytes.
pub const UDP_HEADER_LEN: usize = 8;

/// The ports of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpHeader {
    /// Port of the sender; zero if no reply is wanted.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
}

impl UdpHeader {
    /// Reads a datagram that came from `source` to `destination` and returns its payload. The checksum is
    /// verified unless it was omitted or, over IPv4, not sent.
    pub fn parse(
        bytes: &[u8],
        source: IpAddr,
        destination: IpAddr,
        checksum: Checksum,
    ) -> Result<(Self, &[u8]), WireError> {
        let mut reader = Reader::new(bytes);
        let header = Self { source_port: reader.u16()?, destination_port: reader.u16()? };
        let length = reader.u16()?;
        let found = reader.u16()?;
        let Some(payload_len) = usize::from(length).checked_sub(UDP_HEADER_LEN) else {
            return Err(WireError::BadValue { field: "UDP length", value: length.into() });
        };
        let payload = reader.take(payload_len)?;
        let datagram = &bytes[..usize::from(length)];
        if found == 0 && source.is_ipv6() && checksum == Checksum::Complete {
            //= https://www.rfc-editor.org/rfc/rfc8200#section-8.1
            //# IPv6 receivers must discard UDP packets containing a zero checksum
            return Err(WireError::BadValue { field: "UDP checksum", value: 0 });
        }
        if checksum == Checksum::Complete && found != 0 {
            let sum = checksum::with_pseudo_header(source, destination, protocol::UDP, &[datagram]);
            if sum != 0 {
                let found = u32::from(found);
                return Err(WireError::BadChecksum { found, computed: (found + u32::from(sum)) % 0xffff });
            }
        }
        Ok((header, payload))
    }

    /// The header in front of `payload`, which may come in parts of which only the last has an odd length.
    ///
    /// # Panics
    /// If the datagram would be longer than 65,535 bytes.
    pub fn emit(
        &self,
        payload: &[&[u8]],
        source: IpAddr,
        destination: IpAddr,
        checksum: Checksum,
    ) -> [u8; UDP_HEADER_LEN] {
        let length = UDP_HEADER_LEN + payload.iter().map(|part| part.len()).sum::<usize>();
        let length = u16::try_from(length).expect("a datagram is at most 65,535 bytes long");
        let mut header = [0; UDP_HEADER_LEN];
        header[..2].copy_from_slice(&self.source_port.to_be_bytes());
        header[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        header[4..6].copy_from_slice(&length.to_be_bytes());
        if checksum == Checksum::Complete {
            let parts: Vec<&[u8]> = [&header[..]].into_iter().chain(payload.iter().copied()).collect();
            let sum = checksum::with_pseudo_header(source, destination, protocol::UDP, &parts);
            //= https://www.rfc-editor.org/rfc/rfc8200#section-8.1
            //# if that computation yields a result of zero, it must be changed to hex FFFF
            let sum = if sum == 0 { 0xffff } else { sum };
            header[6..8].copy_from_slice(&sum.to_be_bytes());
        }
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn datagram(header: UdpHeader, payload: &[u8], checksum: Checksum) -> Vec<u8> {
        [&header.emit(&[payload], HERE, THERE, checksum)[..], payload].concat()
    }

    #[test]
    fn a_checksum_may_be_missing_over_ipv4_only() {
        let header = UdpHeader { source_port: 1, destination_port: 2 };
        let bytes = datagram(header, &[5; 9], Checksum::Omitted);
        assert!(UdpHeader::parse(&bytes, HERE, THERE, Checksum::Complete).is_ok());
        let v6 = IpAddr::from([1_u16; 8]);
        assert!(UdpHeader::parse(&bytes, v6, v6, Checksum::Complete).is_err());
        assert!(UdpHeader::parse(&bytes, v6, v6, Checksum::Omitted).is_ok());
    }

    proptest! {
        #[test]
        fn datagrams_round_trip(source_port: u16, destination_port: u16, payload: Vec<u8>) {
            let header = UdpHeader { source_port, destination_port };
            let mut bytes = datagram(header, &payload, Checksum::Complete);
            prop_assert_eq!(UdpHeader::parse(&bytes, HERE, THERE, Checksum::Complete), Ok((header, &payload[..])));
            bytes[0] ^= 1;
            prop_assert!(UdpHeader::parse(&bytes, HERE, THERE, Checksum::Complete).is_err());
        }

        #[test]
        fn any_bytes_give_a_datagram_or_an_error(bytes: Vec<u8>) {
            let _ = UdpHeader::parse(&bytes, HERE, THERE, Checksum::Complete);
        }
    }
}
