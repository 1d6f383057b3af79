//! Offloads: work that a kernel leaves to its device, and that a network of real packets needs done.
//!
//! A Linux device hands over frames whose checksum is partial, and segments of TCP or UDP that are longer than
//! any packet. A header of ten bytes before each (`struct virtio_net_hdr`, section 5.1.6 of virtio 1.2) says
//! so. [`packets()`] makes of them the packets that would have been on the wire. [`views()`] makes the same of TCP and
//! UDP without a copy for each and without checksums. [`join()`] is the reverse, so that a receiving kernel has less
//! work.
//!
//! UDP_L4 is cut as well; `GSO_UDP`, which stands for IP fragments, is refused: a kernel writes it only to a
//! device that has asked for it (`TUN_F_UFO`), and nothing here asks.

mod cut;
mod header;
mod join;
mod views;

use slantpath_wire::ip::protocol;
use slantpath_wire::{checksum, ethernet};

use crate::ip::{IpExtent, IpFault, Transport};

pub use cut::packets;
pub use header::{OFFLOAD_LEN, Offload, PartialChecksum, Segmentation, SegmentationKind};
pub use join::{LeavingPacket, join};
pub use views::{PacketMemory, views};

/// Layer whose bytes a device carries: 2 (TAP, a packet socket) or 3 (TUN).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceLayer {
    /// Frames of Ethernet, with or without tags of a virtual LAN.
    Ethernet,
    /// IP packets alone.
    Ip,
}

/// Reason for which a frame cannot be made into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OffloadError {
    /// A place of the checksum that is not within the packet, or not where the transport has its checksum.
    #[error(
        "the checksum is to be at octet {start} + {offset} of a frame of {len} octets, where this packet has none"
    )]
    ChecksumPlace {
        /// First octet that the checksum covers.
        start: u16,
        /// Place of the checksum behind it.
        offset: u16,
        /// Length of the frame.
        len: usize,
    },
    /// A frame to be worked on that is no whole IP packet.
    #[error(transparent)]
    Ip(#[from] IpFault),
    /// A frame that ends within its own header, or that has work to be done and carries no IP packet.
    #[error("a frame of {len} octets carries no IP packet that a checksum or segments would be of")]
    NoIp {
        /// Length of the frame.
        len: usize,
    },
    /// A header of offloads that is cut off.
    #[error("a header of offloads has {OFFLOAD_LEN} octets, and {len} are there")]
    ShortHeader {
        /// Number of octets that are there.
        len: usize,
    },
    /// Segments behind a routing header, of which no checksum says where they go.
    #[error("segments behind a routing header need a partial checksum, whose sum has the last destination")]
    Routed,
    /// A packet longer than the interface's MTU.
    #[error("a packet of {len} octets is longer than the interface's MTU of {mtu_bytes}")]
    TooLong {
        /// Length of the packet, from the IP header on.
        len: usize,
        /// MTU of the interface.
        mtu_bytes: usize,
    },
    /// Segments so short that headers would be most of what is sent.
    #[error(
        "segments of {size} octets would make {count} packets; TCP's have at least 8 octets, UDP's number at most 128"
    )]
    TooManySegments {
        /// Length of a segment.
        size: u16,
        /// Number of segments.
        count: usize,
    },
    /// Segments of a transport that the packet does not have: another protocol, a fragment, a header cut off.
    #[error("segments of {kind} are to be cut, and the packet holds no whole header of it with data behind")]
    Transport {
        /// Segments that the header of offloads names.
        kind: SegmentationKind,
    },
    /// IP fragments of UDP (`GSO_UDP`), which no device here asks for.
    #[error("fragments of UDP (GSO_UDP) are to be cut, which the device has not offered; it offers UDP_L4")]
    UdpFragments,
    /// Kind of segmentation that nothing is known of.
    #[error(
        "segmentation {gso_type:#04x} is unknown; TCPv4 (1), TCPv6 (4), each with ECN (0x80), and UDP_L4 (5) are known"
    )]
    UnknownSegmentation {
        /// Value of the header's field.
        gso_type: u8,
    },
    /// Segments without a length.
    #[error("segments of no octets are to be cut; a segmentation needs a size of at least 1")]
    ZeroSegmentSize,
}

/// Place of the checksum in a header of TCP.
const TCP_CHECKSUM: usize = 16;
const TCP_HEADER_LEN: usize = 20;
const UDP_HEADER_LEN: usize = 8;
/// Place of the checksum in a header of UDP.
const UDP_CHECKSUM: usize = 6;
/// Place of the octet with TCP's flags.
const TCP_FLAGS: usize = 13;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;
/// Fewest octets in a segment of TCP, but for the last: Linux has never less (`TCP_MIN_SND_MSS`, less the
/// longest options).
const LEAST_TCP_SEGMENT: usize = 8;

/// An IP packet in a frame, or alone.
#[derive(Clone, Copy, Debug)]
struct Parts {
    /// Place of the IP header in the frame.
    ip_at: usize,
    ip: IpExtent,
    transport: Option<Transport>,
}

impl Parts {
    fn of(layer: DeviceLayer, frame: &[u8]) -> Result<Self, OffloadError> {
        let no_ip = OffloadError::NoIp { len: frame.len() };
        let ip_at = match layer {
            DeviceLayer::Ip => 0,
            DeviceLayer::Ethernet => ethernet::ip_at(frame).ok_or(no_ip)?,
        };
        let packet = frame.get(ip_at..).ok_or(no_ip)?;
        let ip = IpExtent::of(packet)?;
        Ok(Self { ip_at, ip, transport: ip.transport(packet) })
    }

    /// Place behind the packet's last octet.
    const fn end(&self) -> usize {
        self.ip_at + self.ip.len
    }

    /// Finds a segment of TCP: the places of its header and of its data, of which the latter may lie behind the packet.
    fn tcp(&self, frame: &[u8]) -> Option<(Transport, usize, usize)> {
        let transport = self.transport.filter(|transport| transport.protocol == protocol::TCP)?;
        let at = self.ip_at + transport.at;
        let header = frame.get(at..)?.first_chunk::<TCP_HEADER_LEN>()?;
        let header_len = usize::from(header[12] >> 4) * 4;
        (header_len >= TCP_HEADER_LEN).then_some((transport, at, at + header_len))
    }
}

/// The sum of a pseudo-header without a length, as two octets that are summed with the segment's.
fn pseudo_header_sum(ip: &IpExtent, protocol: u8) -> [u8; 2] {
    let header = ip.header;
    let sum = checksum::with_pseudo_header(header.source, header.destination, protocol, &[]);
    (!sum).to_be_bytes()
}

/// The sum of two octets and a length, in one's complement.
fn plus(sum: [u8; 2], length: u16) -> [u8; 2] {
    (!checksum::internet([&sum[..], &length.to_be_bytes()])).to_be_bytes()
}

/// The checksum of IPv4 in a header, whatever its field holds.
fn ipv4_checksum(header: &[u8]) -> [u8; 2] {
    checksum::internet([&header[..10], &header[12..]]).to_be_bytes()
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "the packets of tests are short")]
mod tests;
