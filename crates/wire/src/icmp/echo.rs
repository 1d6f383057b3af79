//! Echo requests and replies of ICMP (RFC 792) and ICMPv6 (RFC 4443, section 4): the messages of ping.

use std::net::IpAddr;

use bytes::Bytes;

use super::ICMP_HEADER_LEN;
use crate::ip::{IpHeader, protocol};
use crate::{Checksum, Packet, Reader, WireError, checksum};

/// Direction of an echo message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoKind {
    /// Answer to a request, with the same data.
    Reply,
    /// Request for an answer.
    Request,
}

/// Header of an echo message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoHeader {
    /// Direction of the message.
    pub kind: EchoKind,
    /// Number of the one who asks, which stands for a port.
    pub identifier: u16,
    /// Number of the request among those of the identifier.
    pub sequence: u16,
}

impl EchoHeader {
    /// Reads what follows the IP header of a packet whose protocol is ICMP or ICMPv6, with the data behind it; `None`
    /// if it is another message than an echo.
    ///
    /// # Errors
    /// Why an echo message is none: it is cut off, or its checksum is wrong.
    pub fn parse<'a>(header: &IpHeader, bytes: &'a [u8]) -> Result<Option<(Self, &'a [u8])>, WireError> {
        let is_v4 = header.protocol == protocol::ICMP;
        let mut reader = Reader::new(bytes);
        let kind = match (is_v4, reader.array()?) {
            (true, [0, 0]) | (false, [129, 0]) => EchoKind::Reply,
            (true, [8, 0]) | (false, [128, 0]) => EchoKind::Request,
            _ => return Ok(None),
        };
        let found = reader.u16()?;
        let (identifier, sequence) = (reader.u16()?, reader.u16()?);
        let sum = sum(is_v4, header.source, header.destination, &[bytes]);
        if sum != 0 {
            let found = u32::from(found);
            return Err(WireError::BadChecksum { found, computed: (found + u32::from(sum)) % 0xffff });
        }
        Ok(Some((Self { kind, identifier, sequence }, reader.rest())))
    }

    /// The message with this data, from `source` to `destination`, without an IP header. Its checksum is in its place.
    pub fn packet(&self, data: Bytes, source: IpAddr, destination: IpAddr) -> Packet {
        let is_v4 = destination.is_ipv4();
        let kind = match (is_v4, self.kind) {
            (true, EchoKind::Reply) => 0,
            (true, EchoKind::Request) => 8,
            (false, EchoKind::Reply) => 129,
            (false, EchoKind::Request) => 128,
        };
        let [i0, i1] = self.identifier.to_be_bytes();
        let [s0, s1] = self.sequence.to_be_bytes();
        let mut message: [u8; ICMP_HEADER_LEN] = [kind, 0, 0, 0, i0, i1, s0, s1];
        let sum = sum(is_v4, source, destination, &[&message, &data]);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        Packet::with_tail(&message, data, 0, Checksum::Complete)
    }
}

/// ICMPv6's checksum covers the addresses, too.
fn sum(is_v4: bool, source: IpAddr, destination: IpAddr, parts: &[&[u8]]) -> u16 {
    if is_v4 {
        checksum::internet(parts.iter().copied())
    } else {
        checksum::with_pseudo_header(source, destination, protocol::ICMPV6, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::Fragmentation;
    use proptest::prelude::*;

    fn header(is_v4: bool) -> IpHeader {
        let addresses = if is_v4 {
            [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from)
        } else {
            [[1_u16; 8], [2; 8]].map(IpAddr::from)
        };
        IpHeader {
            source: addresses[0],
            destination: addresses[1],
            protocol: if is_v4 { protocol::ICMP } else { protocol::ICMPV6 },
            hop_limit: 9,
            traffic_class: 0,
            payload_len: 0,
            fragmentation: Fragmentation::Forbidden,
        }
    }

    #[test]
    fn other_messages_are_no_echoes() {
        assert_eq!(EchoHeader::parse(&header(true), &[11, 0, 0, 0, 0, 0, 0, 0]), Ok(None));
        // A request of ICMP is nothing in ICMPv6.
        assert_eq!(EchoHeader::parse(&header(false), &[8, 0, 0, 0, 0, 0, 0, 0]), Ok(None));
    }

    proptest! {
        #[test]
        fn echoes_round_trip_and_a_flipped_bit_is_noticed(
            is_v4: bool,
            is_reply: bool,
            identifier: u16,
            sequence: u16,
            data: Vec<u8>,
            at: prop::sample::Index,
            bit in 0_u8..8,
        ) {
            let kind = if is_reply { EchoKind::Reply } else { EchoKind::Request };
            let echo = EchoHeader { kind, identifier, sequence };
            let header = header(is_v4);
            let packet = echo.packet(data.clone().into(), header.source, header.destination);
            let mut bytes = packet.contiguous().to_vec();
            prop_assert_eq!(EchoHeader::parse(&header, &bytes), Ok(Some((echo, &data[..]))));
            let at = 2 + at.index(bytes.len() - 2);
            bytes[at] ^= 1 << bit;
            prop_assert!(EchoHeader::parse(&header, &bytes).is_err());
        }

        #[test]
        fn any_bytes_give_an_echo_or_nothing_or_an_error(bytes: Vec<u8>, is_v4: bool) {
            let _ = EchoHeader::parse(&header(is_v4), &bytes);
        }
    }
}
