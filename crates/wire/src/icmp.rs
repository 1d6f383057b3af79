//! The error messages of ICMP (RFC 792) and ICMPv6 (RFC 4443): what a router tells a sender.
//!
//! Both versions say the same things with other numbers; one type stands for both. Of the rest [`echo`] is spoken.

pub mod echo;

use std::net::IpAddr;

use bytes::Bytes;

use crate::ip::{Fragmentation, IpHeader, protocol};
use crate::{Checksum, Packet, Reader, WireError, checksum};

/// The length of a message in front of what it quotes, in bytes.
pub const ICMP_HEADER_LEN: usize = 8;
/// An IPv4 message is kept to the size that every host takes (RFC 1812, section 4.3.2.3).
const LONGEST_V4: usize = 576;
/// An IPv6 message is kept to the least MTU (RFC 4443, section 2.4 c).
const LONGEST_V6: usize = 1_280;

/// Error that an ICMP message reports about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// Packet longer than a link on its way carries: "fragmentation needed" or "packet too big".
    PacketTooBig {
        /// MTU of that link, in bytes; zero in the messages of very old routers.
        mtu_bytes: u32,
    },
    /// A field of its header is wrong.
    ParameterProblem {
        /// The place of the field in the quoted packet, in bytes.
        pointer: u32,
    },
    /// TTL or hop limit used up.
    TimeExceeded,
    /// Packet that cannot be delivered.
    Unreachable(Unreachable),
}

/// Part of a packet's destination that cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// The host does not answer.
    Host,
    /// No route leads there.
    Network,
    /// Nobody listens at the port.
    Port,
    /// The host does not speak the protocol. ICMPv6 says this by a parameter problem.
    Protocol,
}

/// A received error message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpMessage<'a> {
    /// Error that is reported.
    pub error: IcmpError,
    /// The packet that it is about, from its IP header on, as far as it is quoted: read by
    /// [`IpHeader::parse_header`].
    pub quote: &'a [u8],
}

impl<'a> IcmpMessage<'a> {
    /// Reads and verifies what follows the IP header of a packet whose protocol is ICMP or ICMPv6.
    pub fn parse(header: &IpHeader, bytes: &'a [u8]) -> Result<Self, WireError> {
        let is_v4 = header.protocol == protocol::ICMP;
        let mut reader = Reader::new(bytes);
        let [kind, code] = reader.array()?;
        let found = reader.u16()?;
        let rest = reader.u32()?;
        let sum = if is_v4 {
            checksum::internet([bytes])
        } else {
            checksum::with_pseudo_header(header.source, header.destination, header.protocol, &[bytes])
        };
        if sum != 0 {
            let found = u32::from(found);
            return Err(WireError::BadChecksum { found, computed: (found + u32::from(sum)) % 0xffff });
        }
        let error = if is_v4 { error_v4(kind, code, rest) } else { error_v6(kind, code, rest) }?;
        Ok(Self { error, quote: reader.rest() })
    }
}

fn error_v4(kind: u8, code: u8, rest: u32) -> Result<IcmpError, WireError> {
    match (kind, code) {
        (3, 0) => Ok(IcmpError::Unreachable(Unreachable::Network)),
        (3, 1) => Ok(IcmpError::Unreachable(Unreachable::Host)),
        (3, 2) => Ok(IcmpError::Unreachable(Unreachable::Protocol)),
        (3, 3) => Ok(IcmpError::Unreachable(Unreachable::Port)),
        // The next-hop MTU is the lower half (RFC 1191, section 4).
        (3, 4) => Ok(IcmpError::PacketTooBig { mtu_bytes: rest & 0xffff }),
        (11, 0) => Ok(IcmpError::TimeExceeded),
        (12, 0) => Ok(IcmpError::ParameterProblem { pointer: rest >> 24 }),
        _ => Err(unsupported(kind, code)),
    }
}

fn error_v6(kind: u8, code: u8, rest: u32) -> Result<IcmpError, WireError> {
    match (kind, code) {
        (1, 0) => Ok(IcmpError::Unreachable(Unreachable::Network)),
        (1, 3) => Ok(IcmpError::Unreachable(Unreachable::Host)),
        (1, 4) => Ok(IcmpError::Unreachable(Unreachable::Port)),
        (2, 0) => Ok(IcmpError::PacketTooBig { mtu_bytes: rest }),
        (3, 0) => Ok(IcmpError::TimeExceeded),
        (4, 0) => Ok(IcmpError::ParameterProblem { pointer: rest }),
        (4, 1) => Ok(IcmpError::Unreachable(Unreachable::Protocol)),
        _ => Err(unsupported(kind, code)),
    }
}

fn unsupported(kind: u8, code: u8) -> WireError {
    WireError::Unsupported { field: "ICMP type and code", value: u64::from(kind) << 8 | u64::from(code) }
}

impl IcmpError {
    /// Type, code and the four bytes behind the checksum, of ICMP.
    fn encode_v4(self) -> (u8, u8, u32) {
        match self {
            Self::Unreachable(Unreachable::Network) => (3, 0, 0),
            Self::Unreachable(Unreachable::Host) => (3, 1, 0),
            Self::Unreachable(Unreachable::Protocol) => (3, 2, 0),
            Self::Unreachable(Unreachable::Port) => (3, 3, 0),
            Self::PacketTooBig { mtu_bytes } => (3, 4, mtu_bytes.min(0xffff)),
            Self::TimeExceeded => (11, 0, 0),
            Self::ParameterProblem { pointer } => (12, 0, pointer << 24),
        }
    }

    /// Type, code and the four bytes behind the checksum, of ICMPv6.
    fn encode_v6(self) -> (u8, u8, u32) {
        match self {
            Self::Unreachable(Unreachable::Network) => (1, 0, 0),
            Self::Unreachable(Unreachable::Host) => (1, 3, 0),
            Self::Unreachable(Unreachable::Port) => (1, 4, 0),
            Self::PacketTooBig { mtu_bytes } => (2, 0, mtu_bytes),
            Self::TimeExceeded => (3, 0, 0),
            Self::ParameterProblem { pointer } => (4, 0, pointer),
            // Byte 6 of an IPv6 header is the next header.
            Self::Unreachable(Unreachable::Protocol) => (4, 1, 6),
        }
    }

    /// The IP packet by which `from` tells the sender of `about`, or `None` where silence is asked for: about
    /// an error message, about an IPv4 fragment that is not the first, about what is no IP packet, and across versions
    /// of IP.
    pub fn report(self, from: IpAddr, about: &[u8], hop_limit: u8) -> Option<Packet> {
        let (header, header_len) = IpHeader::parse_header(about).ok()?;
        let is_v4 = header.source.is_ipv4();
        if from.is_ipv4() != is_v4 || is_error_message(&header, about.get(header_len..)?) {
            return None;
        }
        // RFC 1122, section 3.2.2.
        if let Fragmentation::Fragment(fragment) = header.fragmentation
            && is_v4
            && fragment.offset_bytes > 0
        {
            return None;
        }
        let longest = if is_v4 { LONGEST_V4 } else { LONGEST_V6 };
        let mut reply = IpHeader {
            source: from,
            destination: header.source,
            protocol: if is_v4 { protocol::ICMP } else { protocol::ICMPV6 },
            hop_limit,
            traffic_class: 0,
            payload_len: 0,
            fragmentation: Fragmentation::Forbidden,
        };
        let quote = &about[..about.len().min(longest - reply.header_len() - ICMP_HEADER_LEN)];
        let (kind, code, rest) = if is_v4 { self.encode_v4() } else { self.encode_v6() };
        let mut message = [kind, code, 0, 0, 0, 0, 0, 0];
        message[4..].copy_from_slice(&rest.to_be_bytes());
        let sum = if is_v4 {
            checksum::internet([&message[..], quote])
        } else {
            checksum::with_pseudo_header(from, header.source, reply.protocol, &[&message, quote])
        };
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        reply.payload_len = u16::try_from(message.len() + quote.len()).expect("at most 1,280 bytes");
        let quote = Bytes::copy_from_slice(quote);
        let mut packet = Packet::with_tail(&message, quote, 0, Checksum::Complete);
        reply.emit(packet.prepend(reply.header_len()));
        Some(packet)
    }
}

/// Tells if a packet is itself an error message, about which none may be sent (RFC 1122, section 3.2.2; RFC 4443,
/// section 2.4 e).
fn is_error_message(header: &IpHeader, payload: &[u8]) -> bool {
    match (header.protocol, payload.first()) {
        (protocol::ICMP, Some(kind)) => matches!(kind, 3 | 4 | 5 | 11 | 12),
        (protocol::ICMPV6, Some(kind)) => *kind < 128,
        (protocol::ICMP | protocol::ICMPV6, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn addresses(is_v4: bool) -> [IpAddr; 3] {
        if is_v4 {
            [[10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 9]].map(IpAddr::from)
        } else {
            [[1_u16; 8], [2; 8], [9; 8]].map(IpAddr::from)
        }
    }

    fn packet(is_v4: bool, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let [source, destination, _] = addresses(is_v4);
        let payload_len = u16::try_from(payload.len()).unwrap();
        let header = IpHeader {
            source,
            destination,
            protocol,
            hop_limit: 9,
            traffic_class: 0,
            payload_len,
            fragmentation: Fragmentation::Forbidden,
        };
        let mut bytes = vec![0; header.header_len()];
        header.emit(&mut bytes);
        bytes.extend_from_slice(payload);
        bytes
    }

    fn any_error() -> impl Strategy<Value = IcmpError> {
        prop_oneof![
            (0_u32..=0xffff).prop_map(|mtu_bytes| IcmpError::PacketTooBig { mtu_bytes }),
            (0_u32..=0xff).prop_map(|pointer| IcmpError::ParameterProblem { pointer }),
            Just(IcmpError::TimeExceeded),
            prop_oneof![
                Just(Unreachable::Host),
                Just(Unreachable::Network),
                Just(Unreachable::Port),
                Just(Unreachable::Protocol),
            ]
            .prop_map(IcmpError::Unreachable),
        ]
    }

    #[test]
    fn no_message_is_sent_about_a_message() {
        let [_, _, router] = addresses(true);
        let error = IcmpError::TimeExceeded;
        let about = packet(true, protocol::UDP, &[0; 20]);
        let message = error.report(router, &about, 64).unwrap().contiguous();
        assert_eq!(error.report(router, &message, 64), None);
        let echo = packet(true, protocol::ICMP, &[8, 0, 0, 0]);
        assert!(error.report(router, &echo, 64).is_some());
        assert_eq!(error.report(addresses(false)[2], &about, 64), None, "no IPv6 router speaks of IPv4");
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let [_, _, router] = addresses(true);
        let about = packet(true, protocol::UDP, &[0; 20]);
        let packet = IcmpError::TimeExceeded.report(router, &about, 64).unwrap().contiguous();
        let (header, len) = IpHeader::parse(&packet).unwrap();
        let mut bytes = packet[len..].to_vec();
        bytes[12] ^= 1;
        assert!(matches!(IcmpMessage::parse(&header, &bytes), Err(WireError::BadChecksum { .. })));
    }

    proptest! {
        #[test]
        fn messages_round_trip(
            error in any_error(),
            is_v4: bool,
            payload in proptest::collection::vec(any::<u8>(), 0..1_400),
        ) {
            let about = packet(is_v4, protocol::SCTP, &payload);
            let [source, _, router] = addresses(is_v4);
            let packet = error.report(router, &about, 64).unwrap().contiguous();
            let longest = if is_v4 { 576 } else { 1_280 };
            prop_assert!(packet.len() <= longest);
            let (header, len) = IpHeader::parse(&packet).unwrap();
            prop_assert_eq!(header.destination, source);
            let message = IcmpMessage::parse(&header, &packet[len..]).unwrap();
            prop_assert_eq!(message.error, error);
            prop_assert!(about.starts_with(message.quote));
            prop_assert!(IpHeader::parse_header(message.quote).is_ok());
        }

        #[test]
        fn any_bytes_give_a_message_or_an_error(bytes: Vec<u8>, is_v4: bool) {
            let protocol = if is_v4 { protocol::ICMP } else { protocol::ICMPV6 };
            let (header, _) = IpHeader::parse_header(&packet(is_v4, protocol, &[])).unwrap();
            let _ = IcmpMessage::parse(&header, &bytes);
            let _ = IcmpError::TimeExceeded.report(addresses(is_v4)[2], &bytes, 1);
        }
    }
}
