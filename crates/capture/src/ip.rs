//! Headers of IP with the extensions of IPv6, and fragments put together again.

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_wire::ip::{Fragment, Fragmentation, IpHeader, protocol};
use slantpath_wire::reassembly::{Reassembler, ReassemblyCounters};
use slantpath_wire::udp::UDP_HEADER_LEN;
use slantpath_wire::{Reader, WireError};

/// A packet without its headers of IP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) protocol: u8,
    /// Bytes behind the headers, as far as they were captured.
    pub(crate) payload: Bytes,
    /// Number of bytes that there were.
    pub(crate) len: usize,
}

/// A datagram of UDP without its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UdpDatagram {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    /// Bytes behind the header, as far as they were captured.
    pub(crate) payload: Bytes,
    /// Number of bytes that there were.
    pub(crate) len: usize,
}

/// Port of SCTP in UDP (RFC 6951).
const ENCAPSULATION_PORT: u16 = 9_899;

impl Datagram {
    /// Reads it as one of UDP; `None` if the header is not whole, or lies about its length.
    pub(crate) fn udp(&self) -> Option<UdpDatagram> {
        let mut reader = Reader::new(&self.payload);
        let [source_port, destination_port, length, _] =
            [reader.u16().ok()?, reader.u16().ok()?, reader.u16().ok()?, reader.u16().ok()?];
        let len = usize::from(length).checked_sub(UDP_HEADER_LEN)?;
        let payload = self.payload.slice_ref(reader.rest());
        let payload = payload.slice(..payload.len().min(len));
        (len + UDP_HEADER_LEN <= self.len).then_some(UdpDatagram {
            source_port,
            destination_port,
            payload,
            len,
        })
    }
}

impl Datagram {
    /// The packet of SCTP that it is or carries, as far as it was captured.
    pub(crate) fn sctp(&self) -> Option<Bytes> {
        match self.protocol {
            protocol::SCTP => Some(self.payload.clone()),
            protocol::UDP => self.udp().filter(UdpDatagram::is_sctp).map(|udp| udp.payload),
            _ => None,
        }
    }
}

impl UdpDatagram {
    /// Tells if it carries a packet of SCTP.
    pub(crate) fn is_sctp(&self) -> bool {
        [self.source_port, self.destination_port].contains(&ENCAPSULATION_PORT)
    }
}

/// Reading of an IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Whole(Datagram),
    /// A fragment: its packet is not whole yet.
    Fragment,
    /// Fragment of which not all was captured, so that its packet never becomes whole.
    CutFragment,
    /// Headers that are none, or end too early.
    Malformed,
    /// A header that hides what follows: ESP, or one that nobody has defined.
    Hidden,
}

/// Headers of extensions (RFC 8200, section 4; RFC 4302).
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const ENCAPSULATING_SECURITY: u8 = 50;
const AUTHENTICATION: u8 = 51;
const NO_NEXT_HEADER: u8 = 59;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;

/// Behind the extensions of a header: the protocol, and how many bytes they took.
enum Extensions {
    End { protocol: u8, len: usize },
    Fragment { protocol: u8, fragment: Fragment, len: usize },
    Hidden,
}

/// Reading of what stands behind a header: of a fragment its header as an IPv4 fragment would have it, and its bytes.
enum Behind {
    Read(Read),
    Fragment(IpHeader, Fragment, Bytes),
}

/// Reads IP packets, and puts fragments together within the bounds of a host.
#[derive(Clone, Debug, Default)]
pub(crate) struct IpReader {
    reassembler: Reassembler,
}

impl IpReader {
    pub(crate) fn counters(&self) -> &ReassemblyCounters {
        self.reassembler.counters()
    }

    /// Reads a packet that was captured at `now`.
    pub(crate) fn read(&mut self, now: Instant, packet: &Bytes) -> Read {
        self.packet(now, packet).unwrap_or(Read::Malformed)
    }

    fn packet(&mut self, now: Instant, packet: &Bytes) -> Result<Read, WireError> {
        let (header, header_len) = IpHeader::parse_header(packet)?;
        let behind = packet.slice(header_len.min(packet.len())..);
        // Frames are padded to their least length.
        let captured = behind.slice(..behind.len().min(header.payload_len.into()));
        if let Fragmentation::Fragment(fragment) = header.fragmentation {
            return Ok(self.fragment(now, &header, fragment, &captured));
        }
        Ok(match behind_header(&header, &captured)? {
            Behind::Read(read) => read,
            Behind::Fragment(header, fragment, own) => self.fragment(now, &header, fragment, &own),
        })
    }

    fn fragment(&mut self, now: Instant, header: &IpHeader, fragment: Fragment, captured: &Bytes) -> Read {
        if captured.len() < usize::from(header.payload_len) {
            return Read::CutFragment;
        }
        let fragmentation = Fragmentation::Fragment(fragment);
        let header = IpHeader { fragmentation, ..*header };
        match self.reassembler.handle_fragment(now, &header, fragment, captured) {
            None => Read::Fragment,
            // A packet has one fragment header at most (RFC 8200, section 4.1). A file may nest thousands of them.
            Some((header, payload)) => match behind_header(&header, &payload) {
                Ok(Behind::Read(read)) => read,
                Ok(Behind::Fragment(..)) | Err(_) => Read::Malformed,
            },
        }
    }
}

/// Reads what stands behind a header that is no fragment's, or no longer one's.
fn behind_header(header: &IpHeader, captured: &Bytes) -> Result<Behind, WireError> {
    let len = usize::from(header.payload_len);
    if header.source.is_ipv4() {
        return Ok(Behind::Read(Read::Whole(datagram(header, header.protocol, captured.clone(), len))));
    }
    Ok(match extensions(header.protocol, captured)? {
        Extensions::Hidden => Behind::Read(Read::Hidden),
        Extensions::End { protocol, len: own } => {
            let payload = captured.slice(own..);
            Behind::Read(Read::Whole(datagram(header, protocol, payload, len.saturating_sub(own))))
        }
        Extensions::Fragment { protocol, fragment, len: own } => {
            let payload_len = header.payload_len.saturating_sub(u16::try_from(own).unwrap_or(u16::MAX));
            let header = IpHeader { protocol, payload_len, ..*header };
            Behind::Fragment(header, fragment, captured.slice(own..))
        }
    })
}

const fn datagram(header: &IpHeader, protocol: u8, payload: Bytes, len: usize) -> Datagram {
    Datagram { source: header.source, destination: header.destination, protocol, payload, len }
}

/// Walks the extensions of IPv6, of which each tells its length.
fn extensions(first: u8, bytes: &[u8]) -> Result<Extensions, WireError> {
    let (mut protocol, mut at) = (first, 0);
    loop {
        let rest = &bytes[at..];
        let head = rest.first_chunk::<8>();
        let short = WireError::Truncated { wanted: 8, left: rest.len() };
        let len = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | MOBILITY => {
                8 + usize::from(head.ok_or(short)?[1]) * 8
            }
            AUTHENTICATION => (usize::from(head.ok_or(short)?[1]) + 2) * 4,
            protocol::IPV6_FRAGMENT => {
                let [next, _, high, low, i0, i1, i2, i3] = *head.ok_or(short)?;
                let place = u16::from_be_bytes([high, low]);
                let fragment = Fragment {
                    identification: u32::from_be_bytes([i0, i1, i2, i3]),
                    offset_bytes: place & !7,
                    is_followed: place & 1 != 0,
                };
                return Ok(Extensions::Fragment { protocol: next, fragment, len: at + 8 });
            }
            ENCAPSULATING_SECURITY | NO_NEXT_HEADER => return Ok(Extensions::Hidden),
            protocol => return Ok(Extensions::End { protocol, len: at }),
        };
        if len > rest.len() {
            return Err(WireError::Truncated { wanted: len, left: rest.len() });
        }
        protocol = rest[0];
        at += len;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slantpath_wire::fragment::cut;

    use super::*;
    use crate::packets;

    fn packet(protocol: u8, payload: &[u8], is_v4: bool) -> Bytes {
        let ends: [IpAddr; 2] = if is_v4 {
            [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from)
        } else {
            [[1_u16; 8], [2; 8]].map(IpAddr::from)
        };
        packets::ip(ends, protocol, payload).into()
    }

    fn whole(read: Read) -> (u8, Vec<u8>, usize) {
        let Read::Whole(datagram) = read else { panic!("{read:?}") };
        (datagram.protocol, datagram.payload.to_vec(), datagram.len)
    }

    #[test]
    fn padding_is_no_payload_and_what_was_not_captured_counts() {
        let mut reader = IpReader::default();
        let now = Instant::START;
        let bytes = packet(protocol::SCTP, &[7; 20], true);
        let padded = Bytes::from([&bytes[..], &[0; 9]].concat());
        assert_eq!(whole(reader.read(now, &padded)), (protocol::SCTP, vec![7; 20], 20));
        assert_eq!(whole(reader.read(now, &bytes.slice(..25))), (protocol::SCTP, vec![7; 5], 20));
        assert_eq!(reader.read(now, &bytes.slice(..19)), Read::Malformed);
    }

    #[test]
    fn extensions_of_ipv6_are_passed_over() {
        let mut reader = IpReader::default();
        let hop_by_hop = [DESTINATION_OPTIONS, 0, 1, 4, 0, 0, 0, 0];
        let options = [AUTHENTICATION, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let authentication = [protocol::SCTP, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let payload = [&hop_by_hop[..], &options, &authentication, &[7; 20]].concat();
        let bytes = packet(HOP_BY_HOP, &payload, false);
        assert_eq!(whole(reader.read(Instant::START, &bytes)), (protocol::SCTP, vec![7; 20], 20));
        assert_eq!(reader.read(Instant::START, &bytes.slice(..50)), Read::Malformed);
        let hidden = packet(ENCAPSULATING_SECURITY, &[1; 9], false);
        assert_eq!(reader.read(Instant::START, &hidden), Read::Hidden);
    }

    #[test]
    fn fragments_become_a_packet_unless_one_was_not_captured_whole() {
        for is_v4 in [true, false] {
            let mut reader = IpReader::default();
            let payload: Vec<u8> = (0..2_000_u32).map(|byte| (byte % 251) as u8).collect();
            let fragments = cut(&packet(protocol::UDP, &payload, is_v4), 1_280, 5).unwrap();
            let fragments: Vec<Bytes> = fragments.iter().map(slantpath_wire::Packet::contiguous).collect();
            assert_eq!(reader.read(Instant::START, &fragments[0]), Read::Fragment);
            assert_eq!(reader.read(Instant::START, &fragments[1].slice(..100)), Read::CutFragment);
            let (found, read, len) = whole(reader.read(Instant::START, &fragments[1]));
            assert_eq!((found, len), (protocol::UDP, 2_000));
            assert_eq!(read, payload);
        }
    }

    #[test]
    fn a_fragment_behind_another_extension_is_one() {
        let mut reader = IpReader::default();
        let piece = |place: [u8; 2], payload: &[u8]| {
            let hop_by_hop = [protocol::IPV6_FRAGMENT, 0, 1, 4, 0, 0, 0, 0];
            let fragment = [protocol::SCTP, 0, place[0], place[1], 0, 0, 0, 3];
            packet(HOP_BY_HOP, &[&hop_by_hop[..], &fragment, payload].concat(), false)
        };
        assert_eq!(reader.read(Instant::START, &piece([0, 1], &[1; 8])), Read::Fragment);
        let read = reader.read(Instant::START, &piece([0, 8], &[2; 3]));
        assert_eq!(whole(read), (protocol::SCTP, [&[1; 8][..], &[2; 3]].concat(), 11));
    }

    #[test]
    fn a_packet_has_one_fragment_header_however_many_are_nested() {
        let nested = |count: usize| {
            let mut payload = [protocol::IPV6_FRAGMENT, 0, 0, 0, 0, 0, 0, 3].repeat(count);
            payload[8 * (count - 1)] = protocol::SCTP;
            payload.extend([7; 5]);
            IpReader::default().read(Instant::START, &packet(protocol::IPV6_FRAGMENT, &payload, false))
        };
        assert_eq!(whole(nested(1)), (protocol::SCTP, vec![7; 5], 5));
        for count in [2, 8_000] {
            assert_eq!(nested(count), Read::Malformed);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(packets: Vec<Vec<u8>>, version in 4_u8..7) {
            let mut reader = IpReader::default();
            for mut packet in packets {
                if let Some(first) = packet.first_mut() {
                    *first = *first & 0xf | version << 4;
                }
                let _ = reader.read(Instant::START, &packet.into());
            }
        }
    }
}
