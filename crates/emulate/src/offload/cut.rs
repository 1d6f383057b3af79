//! Frames made into packets as they would have been on the wire.

use slantpath_wire::checksum;
use slantpath_wire::ethernet::{self, ETHERNET_HEADER_LEN};
use slantpath_wire::ip::protocol;

use super::{
    CWR, DeviceLayer, FIN, LEAST_TCP_SEGMENT, Offload, OffloadError, PSH, PartialChecksum, Parts,
    Segmentation, SegmentationKind, TCP_CHECKSUM, TCP_FLAGS, UDP_CHECKSUM, UDP_HEADER_LEN, ipv4_checksum,
    plus, pseudo_header_sum,
};
use crate::ip::Transport;

/// Most datagrams in one frame (`UDP_MAX_SEGMENTS` of Linux).
const MOST_DATAGRAMS: usize = 128;
/// Length of SCTP's common header, and the place of its checksum.
const SCTP_HEADER_LEN: usize = 12;
const SCTP_CHECKSUM: usize = 8;

/// Makes packets of a frame, each with what stands before the IP header in the frame, and calls `each` with
/// them in order. Their checksums are complete. `buffer` is used for what changes; a frame without work is
/// handed on where it lies.
///
/// A partial checksum is completed from what its field holds, as a device does. A segment gets its own IP
/// identification and sequence number. The flags FIN and PSH are on the last alone, CWR on the first.
///
/// # Errors
/// Before the first call of `each`, if the frame is not what its header says, or a packet would be longer than
/// `mtu_bytes`.
pub fn packets(
    offload: &Offload,
    layer: DeviceLayer,
    frame: &[u8],
    mtu_bytes: usize,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(&[u8]),
) -> Result<(), OffloadError> {
    match (offload.segmentation, offload.checksum) {
        (Some(segmentation), checksum) => {
            Segments::of(segmentation, checksum, layer, frame)?.cut(frame, mtu_bytes, buffer, each)
        }
        (None, Some(checksum)) => {
            let parts = Parts::of(layer, frame)?;
            fits(parts.ip.len, mtu_bytes)?;
            buffer.clear();
            buffer.extend_from_slice(frame);
            complete(checksum, &parts, buffer)?;
            each(buffer);
            Ok(())
        }
        (None, None) => {
            let header_len = match layer {
                DeviceLayer::Ip => 0,
                DeviceLayer::Ethernet => ethernet::content(frame).map_or(ETHERNET_HEADER_LEN, |(_, at)| at),
            };
            let len = frame.len().checked_sub(header_len).ok_or(OffloadError::NoIp { len: frame.len() })?;
            fits(len, mtu_bytes)?;
            each(frame);
            Ok(())
        }
    }
}

pub(super) const fn fits(len: usize, mtu_bytes: usize) -> Result<(), OffloadError> {
    if len > mtu_bytes { Err(OffloadError::TooLong { len, mtu_bytes }) } else { Ok(()) }
}

/// Completes the partial checksum of a frame, in its place.
fn complete(checksum: PartialChecksum, parts: &Parts, frame: &mut [u8]) -> Result<(), OffloadError> {
    let PartialChecksum { start, offset } = checksum;
    let refused = OffloadError::ChecksumPlace { start, offset, len: frame.len() };
    let (start, offset) = (usize::from(start), usize::from(offset));
    // It is a checksum of 16-bit words behind the IP header: of an inner packet as well, if there is one.
    let is_behind_ip = start >= parts.ip_at + parts.ip.first_header_len();
    if !is_behind_ip || offset % 2 != 0 || start + offset + 2 > parts.end() {
        return Err(refused);
    }
    let covered = &mut frame[start..parts.end()];
    // The kernel says "needs checksum" for SCTP's CRC32c, too, where a device computes it, such as veth.
    if let Some(Transport { protocol: protocol::SCTP, at, .. }) = parts.transport {
        if start != parts.ip_at + at || offset != SCTP_CHECKSUM || covered.len() < SCTP_HEADER_LEN {
            return Err(refused);
        }
        let sum = checksum::sctp(covered, &[], 0);
        covered[offset..offset + 4].copy_from_slice(&sum.to_le_bytes());
        return Ok(());
    }
    let sum = checksum::internet([&*covered]);
    // Of an inner packet nobody knows whether it is UDP.
    let is_tcp = parts.transport.is_some_and(|own| {
        own.protocol == protocol::TCP && (parts.ip_at + own.at, TCP_CHECKSUM) == (start, offset)
    });
    let octets = if is_tcp { sum.to_be_bytes() } else { no_zero(sum) };
    covered[offset..offset + 2].copy_from_slice(&octets);
    Ok(())
}

/// The checksum's octets; of the two forms of zero that which does not mean "none" in UDP.
const fn no_zero(sum: u16) -> [u8; 2] {
    if sum == 0 { [0xff; 2] } else { sum.to_be_bytes() }
}

/// A frame that is to be cut.
pub(super) struct Segments {
    parts: Parts,
    kind: SegmentationKind,
    /// Octets of data in each but the last.
    size: usize,
    transport_at: usize,
    payload_at: usize,
    /// Sum of the pseudo-header without a length.
    pseudo: [u8; 2],
}

impl Segments {
    pub(super) fn of(
        Segmentation { kind, size }: Segmentation,
        checksum: Option<PartialChecksum>,
        layer: DeviceLayer,
        frame: &[u8],
    ) -> Result<Self, OffloadError> {
        let parts = Parts::of(layer, frame)?;
        let is_v4 = parts.ip.header.source.is_ipv4();
        let found = match kind {
            SegmentationKind::TcpV4 { .. } => parts.tcp(frame).filter(|_| is_v4),
            SegmentationKind::TcpV6 { .. } => parts.tcp(frame).filter(|_| !is_v4),
            SegmentationKind::Udp => udp(&parts),
        };
        let (transport, transport_at, payload_at) = found
            .filter(|(.., payload_at)| *payload_at < parts.end())
            .ok_or(OffloadError::Transport { kind })?;
        let count = (parts.end() - payload_at).div_ceil(size.get().into());
        let is_too_short = match kind {
            SegmentationKind::Udp => count > MOST_DATAGRAMS,
            _ => usize::from(size.get()) < LEAST_TCP_SEGMENT,
        };
        if is_too_short {
            return Err(OffloadError::TooManySegments { size: size.get(), count });
        }
        let pseudo = match checksum {
            Some(PartialChecksum { start, offset }) => {
                let offset_of_kind = checksum_offset(kind);
                if usize::from(start) != transport_at || usize::from(offset) != offset_of_kind {
                    return Err(OffloadError::ChecksumPlace { start, offset, len: frame.len() });
                }
                let at = transport_at + offset_of_kind;
                // Taking a number off is adding its complement.
                plus([frame[at], frame[at + 1]], !length_of(parts.end() - transport_at))
            }
            // The addresses of the pseudo-header are then in the routing header, and nobody has summed them.
            None if transport.is_behind_routing => return Err(OffloadError::Routed),
            None => pseudo_header_sum(&parts.ip, transport.protocol),
        };
        Ok(Self { parts, kind, size: size.get().into(), transport_at, payload_at, pseudo })
    }

    pub(super) const fn kind(&self) -> SegmentationKind {
        self.kind
    }

    /// Octets of data in each but the last.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    fn cut(
        &self,
        frame: &[u8],
        mtu_bytes: usize,
        buffer: &mut Vec<u8>,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), OffloadError> {
        let (headers, payload) = frame[..self.parts.end()].split_at(self.payload_at);
        fits(self.payload_at - self.parts.ip_at + payload.len().min(self.size), mtu_bytes)?;
        buffer.clear();
        buffer.extend_from_slice(headers);
        let last = payload.len().div_ceil(self.size) - 1;
        for (number, data) in payload.chunks(self.size).enumerate() {
            buffer.truncate(self.payload_at);
            buffer.extend_from_slice(data);
            self.ip_header(frame, number, buffer);
            if self.kind == SegmentationKind::Udp {
                let length = length_of(buffer.len() - self.transport_at);
                buffer[self.transport_at + 4..][..2].copy_from_slice(&length.to_be_bytes());
            } else {
                self.tcp_header(frame, number, number == last, buffer);
            }
            self.checksum(buffer);
            each(buffer);
        }
        Ok(())
    }

    /// Sets what differs from the frame's IP header in that of a segment.
    fn ip_header(&self, frame: &[u8], number: usize, buffer: &mut [u8]) {
        let original = &frame[self.parts.ip_at..];
        let packet = &mut buffer[self.parts.ip_at..];
        let len = packet.len();
        if self.parts.ip.header.source.is_ipv4() {
            packet[2..4].copy_from_slice(&length_of(len).to_be_bytes());
            let identification = u16::from_be_bytes([original[4], original[5]]);
            packet[4..6].copy_from_slice(&identification.wrapping_add(length_of(number)).to_be_bytes());
            let header = &mut packet[..self.parts.ip.header_len];
            let sum = ipv4_checksum(header);
            header[10..12].copy_from_slice(&sum);
        } else {
            let behind = length_of(len - self.parts.ip.first_header_len());
            packet[4..6].copy_from_slice(&behind.to_be_bytes());
        }
    }

    /// Sets what differs from the frame's TCP header in that of a segment.
    fn tcp_header(&self, frame: &[u8], number: usize, is_last: bool, buffer: &mut [u8]) {
        let original = &frame[self.transport_at..self.payload_at];
        let header = &mut buffer[self.transport_at..self.payload_at];
        let first = u32::from_be_bytes([original[4], original[5], original[6], original[7]]);
        #[expect(clippy::cast_possible_truncation, reason = "less than an IP packet's 65,575 octets")]
        let sequence = first.wrapping_add((number * self.size) as u32);
        header[4..8].copy_from_slice(&sequence.to_be_bytes());
        let mut flags = original[TCP_FLAGS];
        if number > 0 {
            flags &= !CWR;
        }
        if !is_last {
            flags &= !(FIN | PSH);
        }
        header[TCP_FLAGS] = flags;
    }

    fn checksum(&self, buffer: &mut [u8]) {
        let segment = &mut buffer[self.transport_at..];
        let pseudo = plus(self.pseudo, length_of(segment.len()));
        let offset = checksum_offset(self.kind);
        segment[offset..offset + 2].fill(0);
        let sum = checksum::internet([&pseudo[..], segment]);
        let sum = if self.kind == SegmentationKind::Udp { no_zero(sum) } else { sum.to_be_bytes() };
        segment[offset..offset + 2].copy_from_slice(&sum);
    }
}

pub(super) const fn checksum_offset(kind: SegmentationKind) -> usize {
    match kind {
        SegmentationKind::TcpV4 { .. } | SegmentationKind::TcpV6 { .. } => TCP_CHECKSUM,
        SegmentationKind::Udp => UDP_CHECKSUM,
    }
}

/// Finds a datagram of UDP: the places of its header and of its data, of which the latter may lie behind the packet.
fn udp(parts: &Parts) -> Option<(Transport, usize, usize)> {
    let transport = parts.transport.filter(|transport| transport.protocol == protocol::UDP)?;
    let at = parts.ip_at + transport.at;
    Some((transport, at, at + UDP_HEADER_LEN))
}

/// A length or a number within an IP packet that was read: its header has 16 bits for it.
#[expect(clippy::cast_possible_truncation, reason = "counted within an IP packet, less IPv6's header")]
pub(super) const fn length_of(octets: usize) -> u16 {
    octets as u16
}
