//! Packets of one TCP flow joined to a frame that a kernel takes as one, and the sums of checksums that are left to it.

use core::num::NonZeroU16;
use std::io::IoSlice;

use slantpath_wire::ip::protocol;
use slantpath_wire::{Checksum, Packet, checksum};

use super::{
    CWR, FIN, LEAST_TCP_SEGMENT, Offload, PSH, PartialChecksum, Segmentation, SegmentationKind, TCP_CHECKSUM,
    TCP_FLAGS, TCP_HEADER_LEN, UDP_CHECKSUM, UDP_HEADER_LEN, ipv4_checksum, plus, pseudo_header_sum,
};
use crate::ip::IpExtent;

/// SYN, RST and URG, which belong to one packet and to no run of them.
const NOT_OF_A_RUN: u8 = 0x02 | 0x04 | 0x20;
const ACK: u8 = 0x10;
/// Most octets in an IP packet, as IPv4 counts them; IPv6's own header comes on top there, and is not used.
const MOST_OCTETS: usize = 65_535;
/// Longest headers that are written anew, from those of the link on.
const HEADERS_MAX: usize = 192;
/// Padding that a packet of a simulated host may end in.
const PADDING: [u8; 3] = [0; 3];

/// A packet that leaves, and what stands before its IP header on the link.
#[derive(Clone, Copy, Debug)]
pub struct LeavingPacket<'a> {
    /// Header of the link, tags among it.
    pub before: &'a [u8],
    /// Packet from the IP header on.
    pub packet: &'a Packet,
}

/// Joins runs of packets, which leave together, to frames of at most `max_bytes`, and calls `each` with each frame in
/// pieces, the work that is left on it, and the number of its packets. The first piece is the
/// [header](Offload::to_bytes) of that work. What cannot be joined comes alone, in its order. Data is not copied.
///
/// A run is data of one TCP flow, in order, whose headers differ in sequence number and IP identification
/// alone. A packet that is shorter than those before it, or has PSH or FIN, is the last of its run.
/// [`packets()`](super::packets()) of a frame are the packets that it was joined of. So a packet with a wrong
/// checksum, as after a bit error, stays alone. [Omitted](Checksum::Omitted) checksums of TCP and UDP are left to the
/// kernel, which computes them where somebody sees them.
pub fn join<'a>(
    packets: impl IntoIterator<Item = LeavingPacket<'a>>,
    max_bytes: usize,
    mut each: impl FnMut(&Offload, &[IoSlice<'_>], u64),
) {
    let mut open: Option<Run<'a>> = None;
    let mut data: Vec<&'a [u8]> = Vec::new();
    for leaving in packets {
        let segment = Segment::of(leaving);
        if let (Some(run), Some(segment)) = (&mut open, &segment)
            && run.is_continued_by(segment, max_bytes)
        {
            run.take(segment, &mut data);
            continue;
        }
        if let Some(run) = open.take() {
            run.close(&data, &mut each);
        }
        match segment {
            Some(segment) => open = Some(Run::new(segment, &mut data)),
            None => alone(leaving, &mut each),
        }
    }
    if let Some(run) = open {
        run.close(&data, &mut each);
    }
}

/// Hands on a packet that is no part of a run.
fn alone(leaving: LeavingPacket<'_>, each: &mut impl FnMut(&Offload, &[IoSlice<'_>], u64)) {
    let LeavingPacket { before, packet } = leaving;
    if packet.checksum() == Checksum::Omitted {
        if let Some(left) = LeftToKernel::of(packet)
            && before.len() + left.header_len <= HEADERS_MAX
        {
            return left.hand_on(before, packet, each);
        }
        let mut whole = packet.clone();
        whole.complete();
        return as_it_is(before, &whole, each);
    }
    as_it_is(before, packet, each);
}

fn as_it_is(before: &[u8], packet: &Packet, each: &mut impl FnMut(&Offload, &[IoSlice<'_>], u64)) {
    let offload = Offload::NONE;
    let padding = &PADDING[..usize::from(packet.padding()).min(PADDING.len())];
    let work = offload.to_bytes();
    let pieces = [&work[..], before, packet.head(), packet.tail(), padding].map(IoSlice::new);
    each(&offload, &pieces, 1);
}

/// The part of a packet that begins with its headers, and what is behind that.
fn parts(packet: &Packet) -> (&[u8], &[u8]) {
    if packet.head().is_empty() { (packet.tail(), &[]) } else { (packet.head(), packet.tail()) }
}

/// A packet of TCP or UDP whose checksum the kernel is to compute.
struct LeftToKernel {
    ip: IpExtent,
    protocol: u8,
    /// Place of the checksum behind the IP header, and the length of all headers.
    offset: usize,
    header_len: usize,
}

impl LeftToKernel {
    fn of(packet: &Packet) -> Option<Self> {
        let (front, _) = parts(packet);
        let ip = IpExtent::of_header(front)?;
        let transport = ip.transport(front)?;
        // Behind extension headers nobody has said that it was left out.
        if transport.at != ip.header_len || ip.len != packet.len() || packet.padding() != 0 {
            return None;
        }
        let (offset, header_len) = match transport.protocol {
            protocol::TCP => (TCP_CHECKSUM, TCP_HEADER_LEN),
            protocol::UDP => (UDP_CHECKSUM, UDP_HEADER_LEN),
            _ => return None,
        };
        let header_len = ip.header_len + header_len;
        (header_len <= front.len()).then_some(Self { ip, protocol: transport.protocol, offset, header_len })
    }

    fn hand_on(&self, before: &[u8], packet: &Packet, each: &mut impl FnMut(&Offload, &[IoSlice<'_>], u64)) {
        let (front, rest) = parts(packet);
        let mut headers = [0; HEADERS_MAX];
        let headers = &mut headers[..before.len() + self.header_len];
        headers[..before.len()].copy_from_slice(before);
        let ip = &mut headers[before.len()..];
        ip.copy_from_slice(&front[..self.header_len]);
        if self.ip.header.source.is_ipv4() {
            let sum = ipv4_checksum(&ip[..self.ip.header_len]);
            ip[10..12].copy_from_slice(&sum);
        }
        let length = narrow(self.ip.len - self.ip.header_len);
        let sum = plus(pseudo_header_sum(&self.ip, self.protocol), length);
        let field = self.ip.header_len + self.offset;
        ip[field..field + 2].copy_from_slice(&sum);
        let start = narrow(before.len() + self.ip.header_len);
        let checksum = Some(PartialChecksum { start, offset: narrow(self.offset) });
        let offload = Offload { checksum, segmentation: None, header_len: 0 };
        let work = offload.to_bytes();
        let pieces = [&work[..], headers, &front[self.header_len..], rest].map(IoSlice::new);
        each(&offload, &pieces, 1);
    }
}

/// A packet of TCP with data, which a run may begin or go on with.
#[derive(Clone, Copy, Debug)]
struct Segment<'a> {
    leaving: LeavingPacket<'a>,
    /// The part that has all headers.
    front: &'a [u8],
    /// Data that is not in that part.
    rest: &'a [u8],
    ip: IpExtent,
    transport_at: usize,
    payload_at: usize,
    flags: u8,
}

impl<'a> Segment<'a> {
    /// Reads a packet; `None` if it is to stay alone.
    fn of(leaving: LeavingPacket<'a>) -> Option<Self> {
        let LeavingPacket { before, packet } = leaving;
        let (front, rest) = parts(packet);
        let ip = IpExtent::of_header(front)?;
        let transport = ip.transport(front).filter(|transport| transport.protocol == protocol::TCP)?;
        let header = front.get(transport.at..)?.first_chunk::<TCP_HEADER_LEN>()?;
        let header_len = usize::from(header[12] >> 4) * 4;
        let payload_at = transport.at + header_len;
        let flags = header[TCP_FLAGS];
        let is_plain = flags & ACK != 0 && flags & NOT_OF_A_RUN == 0 && header_len >= TCP_HEADER_LEN;
        let has_data = payload_at <= front.len() && payload_at < ip.len && packet.padding() == 0;
        let has_room = before.len() + payload_at <= HEADERS_MAX;
        if !is_plain || !has_data || !has_room || ip.len != packet.len() {
            return None;
        }
        let is_right = match packet.checksum() {
            Checksum::Omitted => transport.at == ip.header_len,
            Checksum::Complete => {
                let has_right_header =
                    !ip.header.source.is_ipv4() || front[10..12] == ipv4_checksum(&front[..ip.header_len]);
                has_right_header && has_right_sum(&ip, &front[transport.at..], rest)
            }
        };
        let segment = Self { leaving, front, rest, ip, transport_at: transport.at, payload_at, flags };
        is_right.then_some(segment)
    }

    fn payload_len(&self) -> usize {
        self.ip.len - self.payload_at
    }

    fn payload(&self) -> impl Iterator<Item = &'a [u8]> {
        [&self.front[self.payload_at..], self.rest].into_iter().filter(|part| !part.is_empty())
    }

    fn sequence(&self) -> u32 {
        self.front[self.transport_at + 4..].first_chunk().map_or(0, |octets| u32::from_be_bytes(*octets))
    }

    const fn is_v4(&self) -> bool {
        self.ip.header.source.is_ipv4()
    }

    /// Identification of IPv4.
    fn identification(&self) -> u16 {
        self.front[4..].first_chunk().map_or(0, |octets| u16::from_be_bytes(*octets))
    }

    /// Tells if the headers are equal but for what differs from packet to packet of a run.
    fn has_headers_of(&self, other: &Self) -> bool {
        if (self.payload_at, self.transport_at, self.is_v4(), self.leaving.before)
            != (other.payload_at, other.transport_at, other.is_v4(), other.leaving.before)
        {
            return false;
        }
        let tcp = self.transport_at;
        // Length, identification and checksum; length.
        let [first, second] = if self.is_v4() { [2..6, 10..12] } else { [4..6, 4..6] };
        let differing = [
            first,
            second,
            tcp + 4..tcp + 8,
            tcp + TCP_FLAGS..tcp + TCP_FLAGS + 1,
            tcp + TCP_CHECKSUM..tcp + TCP_CHECKSUM + 2,
        ];
        let mut at = 0;
        let mut is_equal = true;
        for range in differing {
            is_equal &= at >= range.start || self.front[at..range.start] == other.front[at..range.start];
            at = range.end;
        }
        is_equal && self.front[at..self.payload_at] == other.front[at..other.payload_at]
    }
}

/// Verifies the checksum of a segment of TCP in two parts.
fn has_right_sum(ip: &IpExtent, front: &[u8], rest: &[u8]) -> bool {
    let (before, behind) = front.split_at(TCP_CHECKSUM);
    let pseudo = plus(pseudo_header_sum(ip, protocol::TCP), narrow(front.len() + rest.len()));
    // Only the last part may have an odd length.
    let (even, odd) = behind[2..].split_at((behind.len() - 2) & !1);
    let sum = match (odd, rest) {
        (&[last], &[first, ref rest @ ..]) => {
            checksum::internet([&pseudo[..], before, even, &[last, first], rest])
        }
        _ => checksum::internet([&pseudo[..], before, even, odd, rest]),
    };
    behind[..2] == sum.to_be_bytes()
}

/// Packets that are to be one frame.
struct Run<'a> {
    first: Segment<'a>,
    /// Number of packets.
    count: usize,
    payload_len: usize,
    /// Flags of the last packet.
    last_flags: u8,
    /// True if no packet may follow.
    is_complete: bool,
}

impl<'a> Run<'a> {
    fn new(first: Segment<'a>, data: &mut Vec<&'a [u8]>) -> Self {
        let payload_len = first.payload_len();
        let is_complete = first.flags & (PSH | FIN) != 0 || payload_len < LEAST_TCP_SEGMENT;
        data.clear();
        data.extend(first.payload());
        Self { first, count: 1, payload_len, last_flags: first.flags, is_complete }
    }

    fn is_continued_by(&self, segment: &Segment<'_>, max_bytes: usize) -> bool {
        let first = &self.first;
        let joined = first.payload_at + self.payload_len + segment.payload_len();
        let differing_flags = first.flags ^ segment.flags;
        // CWR is the first packet's alone, and may end with it.
        let fits_in_flags = segment.flags & CWR == 0 && differing_flags & !(PSH | FIN | CWR) == 0;
        #[expect(clippy::cast_possible_truncation, reason = "held within the octets of a packet below")]
        let (octets_before, packets_before) = (self.payload_len as u32, self.count as u16);
        !self.is_complete
            && fits_in_flags
            && first.leaving.before.len() + joined <= max_bytes
            && joined <= MOST_OCTETS
            && segment.payload_len() <= first.payload_len()
            && segment.sequence() == first.sequence().wrapping_add(octets_before)
            && (!segment.is_v4()
                || segment.identification() == first.identification().wrapping_add(packets_before))
            && segment.has_headers_of(first)
    }

    fn take(&mut self, segment: &Segment<'a>, data: &mut Vec<&'a [u8]>) {
        data.extend(segment.payload());
        self.count += 1;
        self.payload_len += segment.payload_len();
        self.last_flags = segment.flags;
        self.is_complete =
            segment.flags & (PSH | FIN) != 0 || segment.payload_len() < self.first.payload_len();
    }

    fn close(self, data: &[&[u8]], each: &mut impl FnMut(&Offload, &[IoSlice<'_>], u64)) {
        let Segment {
            leaving: LeavingPacket { before, .. }, front, ip, transport_at, payload_at, flags, ..
        } = self.first;
        let size = u16::try_from(self.first.payload_len()).ok().and_then(NonZeroU16::new);
        let Some(size) = size.filter(|_| self.count > 1) else {
            return alone(self.first.leaving, each);
        };
        let mut headers = [0; HEADERS_MAX];
        let headers = &mut headers[..before.len() + payload_at];
        headers[..before.len()].copy_from_slice(before);
        let packet = &mut headers[before.len()..];
        packet.copy_from_slice(&front[..payload_at]);
        let len = payload_at + self.payload_len;
        if self.first.is_v4() {
            packet[2..4].copy_from_slice(&narrow(len).to_be_bytes());
            let sum = ipv4_checksum(&packet[..ip.header_len]);
            packet[10..12].copy_from_slice(&sum);
        } else {
            packet[4..6].copy_from_slice(&narrow(len - ip.first_header_len()).to_be_bytes());
        }
        let segment = &mut packet[transport_at..];
        segment[TCP_FLAGS] = flags | self.last_flags;
        let pseudo = plus(pseudo_header_sum(&ip, protocol::TCP), narrow(len - transport_at));
        segment[TCP_CHECKSUM..TCP_CHECKSUM + 2].copy_from_slice(&pseudo);
        let has_ecn = flags & CWR != 0;
        let kind = if self.first.is_v4() {
            SegmentationKind::TcpV4 { has_ecn }
        } else {
            SegmentationKind::TcpV6 { has_ecn }
        };
        let offload = Offload {
            checksum: Some(PartialChecksum {
                start: narrow(before.len() + transport_at),
                offset: narrow(TCP_CHECKSUM),
            }),
            segmentation: Some(Segmentation { kind, size }),
            header_len: narrow(before.len() + payload_at),
        };
        let work = offload.to_bytes();
        let pieces = [&work[..], headers].into_iter().chain(data.iter().copied()).map(IoSlice::new);
        each(&offload, &pieces.collect::<Vec<_>>(), self.count as u64);
    }
}

/// A length or place within a run, which has at most 65,535 octets.
#[expect(clippy::cast_possible_truncation, reason = "no longer than a run may be")]
const fn narrow(octets: usize) -> u16 {
    octets as u16
}
