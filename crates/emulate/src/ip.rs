//! Extent of an IP packet within the bytes that hold it, and the place of its transport header.

use slantpath_wire::WireError;
use slantpath_wire::ip::{Fragmentation, IPV6_HEADER_LEN, IpHeader, protocol};

/// Reason for which bytes are no IP packet that can be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IpFault {
    /// A header that is cut off, or that contradicts itself or the bytes that are there.
    #[error("the IP packet is malformed: {0}")]
    Header(#[from] WireError),
    /// An IPv6 packet whose length stands in an option (RFC 2675).
    #[error(
        "the IPv6 packet is a jumbogram; packets of at most 65,575 octets, with their length in the header, are read"
    )]
    Jumbogram,
    /// A packet whose version is not that of the frame around it.
    #[error(
        "a frame of type {ether_type:#06x} holds a packet of IP version {version}; its type names the other version"
    )]
    OtherVersion {
        /// Type of the frame.
        ether_type: u16,
        /// Version in the packet's first four bits.
        version: u8,
    },
}

/// An IP packet's header and its extent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpExtent {
    pub(crate) header: IpHeader,
    /// Length of the header, IPv4's options and a fragment header of IPv6 included.
    pub(crate) header_len: usize,
    /// Length of the packet, without padding behind it.
    pub(crate) len: usize,
}

/// Header behind those of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transport {
    pub(crate) protocol: u8,
    /// Place of its first octet in the packet.
    pub(crate) at: usize,
    /// True if a routing header comes before it: then the pseudo-header has another destination than the IP header
    /// (RFC 8200, section 8.1).
    pub(crate) is_behind_routing: bool,
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const DESTINATION_OPTIONS: u8 = 60;

impl IpExtent {
    /// Reads the header at the front of `bytes`, behind which there may be padding.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, IpFault> {
        if let [first, _, _, _, 0, 0, HOP_BY_HOP, ..] = bytes
            && first >> 4 == 6
        {
            return Err(IpFault::Jumbogram);
        }
        let (header, header_len) = IpHeader::parse_unverified(bytes)?;
        Ok(Self { header, header_len, len: header_len + usize::from(header.payload_len) })
    }

    /// Reads a header whose payload may lie elsewhere.
    pub(crate) fn of_header(bytes: &[u8]) -> Option<Self> {
        let (header, header_len) = IpHeader::parse_header(bytes).ok()?;
        Some(Self { header, header_len, len: header_len + usize::from(header.payload_len) })
    }

    /// Finds the transport behind the headers of IP; `None` in a fragment, and where the extensions end too early.
    /// `packet` is the packet that this was read from.
    pub(crate) fn transport(&self, packet: &[u8]) -> Option<Transport> {
        if let Fragmentation::Fragment(_) = self.header.fragmentation {
            return None;
        }
        let mut transport =
            Transport { protocol: self.header.protocol, at: self.header_len, is_behind_routing: false };
        if self.header.source.is_ipv4() {
            return Some(transport);
        }
        while let HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS = transport.protocol {
            let [next, words, ..] = packet.get(transport.at..)? else { return None };
            transport.is_behind_routing |= transport.protocol == ROUTING;
            transport.protocol = *next;
            transport.at += 8 + usize::from(*words) * 8;
        }
        let is_whole = transport.at <= self.len && transport.protocol != protocol::IPV6_FRAGMENT;
        is_whole.then_some(transport)
    }

    /// Length of the first header alone, without extensions.
    pub(crate) const fn first_header_len(&self) -> usize {
        if self.header.source.is_ipv4() { self.header_len } else { IPV6_HEADER_LEN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv6 packet whose header names `first`, with `behind` behind it.
    fn v6(first: u8, behind: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x60;
        packet[4..6].copy_from_slice(&u16::try_from(behind.len()).unwrap().to_be_bytes());
        packet[6] = first;
        packet.extend_from_slice(behind);
        packet
    }

    fn transport(packet: &[u8]) -> Option<(u8, usize, bool)> {
        let transport = IpExtent::of(packet).unwrap().transport(packet)?;
        Some((transport.protocol, transport.at, transport.is_behind_routing))
    }

    #[test]
    fn the_transport_is_found_behind_extension_headers() {
        let options = |next: u8, words: u8| {
            let mut header = vec![0; 8 + usize::from(words) * 8];
            header[..2].copy_from_slice(&[next, words]);
            header
        };
        assert_eq!(transport(&v6(6, &[0; 20])), Some((6, 40, false)));
        let chain = [options(60, 1), options(17, 0), vec![0; 8]].concat();
        assert_eq!(transport(&v6(0, &chain)), Some((17, 64, false)));
        let routed = [options(60, 0), options(6, 2), vec![0; 20]].concat();
        assert_eq!(transport(&v6(43, &routed)), Some((6, 72, true)));
        // At the very end, and one word beyond it.
        assert_eq!(transport(&v6(60, &options(59, 1))), Some((59, 56, false)));
        let mut beyond = options(59, 1);
        beyond[1] = 2;
        assert_eq!(transport(&v6(60, &beyond)), None);
        assert_eq!(transport(&v6(60, &[6])), None);
    }

    #[test]
    fn a_fragment_has_no_transport() {
        let fragment = [6, 0, 0, 1, 0, 0, 0, 1];
        assert_eq!(transport(&v6(44, &fragment)), None);
        let behind_options = [&[44, 0, 0, 0, 0, 0, 0, 0][..], &fragment].concat();
        assert_eq!(transport(&v6(60, &behind_options)), None);
        let mut v4 = vec![0; 20];
        v4[0] = 0x45;
        v4[3] = 20;
        v4[9] = 6;
        assert_eq!(transport(&v4), Some((6, 20, false)));
        v4[7] = 1;
        assert_eq!(transport(&v4), None);
    }

    #[test]
    fn a_jumbogram_is_told_from_an_empty_packet() {
        assert_eq!(IpExtent::of(&v6(0, &[])).unwrap_err(), IpFault::Jumbogram);
        let empty = IpExtent::of(&v6(59, &[])).unwrap();
        assert_eq!((empty.len, empty.first_header_len()), (40, 40));
        // What would be IPv4's identification and flags decides nothing there.
        let mut v4 = vec![0; 24];
        v4[0] = 0x46;
        v4[3] = 24;
        let extent = IpExtent::of(&v4).unwrap();
        assert_eq!((extent.len, extent.first_header_len()), (24, 24));
    }
}
