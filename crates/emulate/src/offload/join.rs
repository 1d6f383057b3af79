//! Packets of one TCP flow joined to a frame that a kernel takes as one.

use core::num::NonZeroU16;

use slantpath_wire::checksum;

use super::{
    CWR, DeviceLayer, FIN, LEAST_TCP_SEGMENT, Offload, PSH, PartialChecksum, Parts, Segmentation,
    SegmentationKind, TCP_CHECKSUM, TCP_FLAGS, ipv4_checksum, plus, pseudo_header_sum,
};

/// SYN, RST and URG, which belong to one packet and to no run of them.
const NOT_OF_A_RUN: u8 = 0x02 | 0x04 | 0x20;
const ACK: u8 = 0x10;
/// Most octets in an IP packet, as IPv4 counts them; IPv6's own header comes on top there, and is not used.
const MOST_OCTETS: usize = 65_535;

/// Joins runs of packets, which leave together, to frames of at most `max_bytes`, and calls `each` with each
/// frame and the work that is left on it. What cannot be joined comes alone and as it is, in its order.
/// `buffer` is used for frames.
///
/// A run is data of one TCP flow, in order, whose headers differ in sequence number and IP identification
/// alone. A packet that is shorter than those before it, or has PSH or FIN, is the last of its run.
/// [`packets()`](super::packets()) of a frame are the packets that it was joined of. So a packet with a wrong
/// checksum, as after a bit error, stays alone.
pub fn join<'a>(
    layer: DeviceLayer,
    packets: impl IntoIterator<Item = &'a [u8]>,
    max_bytes: usize,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(&Offload, &[u8]),
) {
    let mut open: Option<Run<'a>> = None;
    for packet in packets {
        let segment = Segment::of(layer, packet);
        if let (Some(run), Some(segment)) = (&mut open, &segment)
            && run.is_continued_by(segment, max_bytes)
        {
            run.take(segment, buffer);
            continue;
        }
        if let Some(run) = open.take() {
            run.close(buffer, &mut each);
        }
        match segment {
            Some(segment) => open = Some(Run::new(segment)),
            None => each(&Offload::NONE, packet),
        }
    }
    if let Some(run) = open {
        run.close(buffer, &mut each);
    }
}

/// A packet of TCP with data, which a run may begin or go on with.
#[derive(Clone, Copy, Debug)]
struct Segment<'a> {
    frame: &'a [u8],
    parts: Parts,
    transport_at: usize,
    payload_at: usize,
    /// Places of the checksum, and the length of all headers, as a header of offloads has them.
    checksum: PartialChecksum,
    header_len: u16,
    flags: u8,
}

impl<'a> Segment<'a> {
    /// Reads a packet; `None` if it is to stay alone.
    fn of(layer: DeviceLayer, frame: &'a [u8]) -> Option<Self> {
        let parts = Parts::of(layer, frame).ok()?;
        let (transport, transport_at, payload_at) = parts.tcp(frame)?;
        let flags = frame[transport_at + TCP_FLAGS];
        let is_plain = flags & ACK != 0 && flags & NOT_OF_A_RUN == 0;
        let has_data = payload_at < frame.len() && parts.end() == frame.len();
        if !is_plain || !has_data {
            return None;
        }
        let ip = &frame[parts.ip_at..];
        if parts.ip.header.source.is_ipv4() && ip[10..12] != ipv4_checksum(&ip[..parts.ip.header_len]) {
            return None;
        }
        let segment = &frame[transport_at..];
        let (before, behind) = segment.split_at(TCP_CHECKSUM);
        let length = u16::try_from(segment.len()).ok()?;
        let pseudo = plus(pseudo_header_sum(&parts.ip, transport.protocol), length);
        let sum = checksum::internet([&pseudo[..], before, &behind[2..]]);
        if behind[..2] != sum.to_be_bytes() {
            return None;
        }
        let [start, offset] = [transport_at, TCP_CHECKSUM].map(u16::try_from);
        let checksum = PartialChecksum { start: start.ok()?, offset: offset.ok()? };
        let header_len = u16::try_from(payload_at).ok()?;
        Some(Self { frame, parts, transport_at, payload_at, checksum, header_len, flags })
    }

    fn payload(&self) -> &'a [u8] {
        &self.frame[self.payload_at..]
    }

    fn sequence(&self) -> u32 {
        self.frame[self.transport_at + 4..].first_chunk().map_or(0, |octets| u32::from_be_bytes(*octets))
    }

    const fn is_v4(&self) -> bool {
        self.parts.ip.header.source.is_ipv4()
    }

    /// Identification of IPv4.
    fn identification(&self) -> u16 {
        self.frame[self.parts.ip_at + 4..].first_chunk().map_or(0, |octets| u16::from_be_bytes(*octets))
    }

    /// Tells if the headers are equal but for what differs from packet to packet of a run.
    fn has_headers_of(&self, other: &Self) -> bool {
        if (self.payload_at, self.transport_at, self.parts.ip_at, self.is_v4())
            != (other.payload_at, other.transport_at, other.parts.ip_at, other.is_v4())
        {
            return false;
        }
        let (ip, tcp) = (self.parts.ip_at, self.transport_at);
        // Length, identification and checksum; length.
        let [first, second] = if self.is_v4() { [2..6, 10..12] } else { [4..6, 4..6] };
        let differing = [
            ip + first.start..ip + first.end,
            ip + second.start..ip + second.end,
            tcp + 4..tcp + 8,
            tcp + TCP_FLAGS..tcp + TCP_FLAGS + 1,
            tcp + TCP_CHECKSUM..tcp + TCP_CHECKSUM + 2,
        ];
        let mut at = 0;
        let mut is_equal = true;
        for range in differing {
            is_equal &= at >= range.start || self.frame[at..range.start] == other.frame[at..range.start];
            at = range.end;
        }
        is_equal && self.frame[at..self.payload_at] == other.frame[at..other.payload_at]
    }
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
    fn new(first: Segment<'a>) -> Self {
        let payload_len = first.payload().len();
        let is_complete = first.flags & (PSH | FIN) != 0 || payload_len < LEAST_TCP_SEGMENT;
        Self { first, count: 1, payload_len, last_flags: first.flags, is_complete }
    }

    fn is_continued_by(&self, segment: &Segment<'_>, max_bytes: usize) -> bool {
        let first = &self.first;
        let joined = first.payload_at + self.payload_len + segment.payload().len();
        let differing_flags = first.flags ^ segment.flags;
        // CWR is the first packet's alone, and may end with it.
        let fits_in_flags = segment.flags & CWR == 0 && differing_flags & !(PSH | FIN | CWR) == 0;
        #[expect(clippy::cast_possible_truncation, reason = "held within the octets of a packet below")]
        let (octets_before, packets_before) = (self.payload_len as u32, self.count as u16);
        !self.is_complete
            && fits_in_flags
            && joined <= max_bytes
            && joined - first.parts.ip_at <= MOST_OCTETS
            && segment.payload().len() <= first.payload().len()
            && segment.sequence() == first.sequence().wrapping_add(octets_before)
            && (!segment.is_v4()
                || segment.identification() == first.identification().wrapping_add(packets_before))
            && segment.has_headers_of(first)
    }

    fn take(&mut self, segment: &Segment<'_>, buffer: &mut Vec<u8>) {
        if self.count == 1 {
            buffer.clear();
            buffer.extend_from_slice(self.first.frame);
        }
        buffer.extend_from_slice(segment.payload());
        self.count += 1;
        self.payload_len += segment.payload().len();
        self.last_flags = segment.flags;
        self.is_complete =
            segment.flags & (PSH | FIN) != 0 || segment.payload().len() < self.first.payload().len();
    }

    fn close(self, buffer: &mut [u8], each: &mut impl FnMut(&Offload, &[u8])) {
        let Segment { frame, parts, transport_at, payload_at: _, checksum, header_len, flags } = self.first;
        let size = u16::try_from(self.first.payload().len()).ok().and_then(NonZeroU16::new);
        let Some(size) = size.filter(|_| self.count > 1) else {
            each(&Offload::NONE, frame);
            return;
        };
        let ip = &mut buffer[parts.ip_at..];
        let length = |octets: usize| u16::try_from(octets).expect("a run has at most 65,535 octets");
        let ip_len = length(ip.len());
        if self.first.is_v4() {
            ip[2..4].copy_from_slice(&ip_len.to_be_bytes());
            let header = &mut ip[..parts.ip.header_len];
            let sum = ipv4_checksum(header);
            header[10..12].copy_from_slice(&sum);
        } else {
            let behind = length(usize::from(ip_len) - parts.ip.first_header_len());
            ip[4..6].copy_from_slice(&behind.to_be_bytes());
        }
        let segment = &mut buffer[transport_at..];
        let segment_len = length(segment.len());
        segment[TCP_FLAGS] = flags | self.last_flags;
        let pseudo = plus(pseudo_header_sum(&parts.ip, slantpath_wire::ip::protocol::TCP), segment_len);
        segment[TCP_CHECKSUM..TCP_CHECKSUM + 2].copy_from_slice(&pseudo);
        let has_ecn = flags & CWR != 0;
        let kind = if self.first.is_v4() {
            SegmentationKind::TcpV4 { has_ecn }
        } else {
            SegmentationKind::TcpV6 { has_ecn }
        };
        let segmentation = Some(Segmentation { kind, size });
        let offload = Offload { checksum: Some(checksum), segmentation, header_len };
        each(&offload, buffer);
    }
}
