//! Frames of TCP and UDP made into packets that share their bytes, whose checksums are left out until somebody looks.

use bytes::{Bytes, BytesMut};
use slantpath_wire::ethernet::ETHERNET_HEADER_LEN;
use slantpath_wire::ethernet::ether_type::{IPV4, IPV6};
use slantpath_wire::ip::{IpHeader, protocol};
use slantpath_wire::{Checksum, Packet};

use super::cut::{Segments, checksum_offset, fits, length_of};
use super::{
    CWR, DeviceLayer, FIN, Offload, OffloadError, PSH, SegmentationKind, TCP_CHECKSUM, TCP_FLAGS,
    TCP_HEADER_LEN, UDP_CHECKSUM, UDP_HEADER_LEN, ipv4_checksum, plus, pseudo_header_sum,
};
use crate::ip::IpExtent;

/// Bytes of a piece of memory that packets share. A packet that waits for long keeps its piece from being used for
/// others: so it is no larger.
const PIECE_BYTES: usize = 16 << 10;

/// Memory for packets that come: those that come one after the other share a piece of it. A piece whose packets are all
/// gone is used for the next.
#[derive(Debug, Default)]
pub struct PacketMemory {
    piece: BytesMut,
}

impl PacketMemory {
    /// Bytes copied into shared memory.
    fn keep(&mut self, bytes: &[u8]) -> Bytes {
        if bytes.len() >= PIECE_BYTES / 2 {
            return Bytes::copy_from_slice(bytes);
        }
        if self.piece.capacity() < bytes.len() && !self.piece.try_reclaim(PIECE_BYTES) {
            self.piece = BytesMut::with_capacity(PIECE_BYTES);
        }
        self.piece.extend_from_slice(bytes);
        self.piece.split().freeze()
    }

    /// An IP packet, copied: its headers where the network writes to them, its data in shared memory.
    pub fn packet(&mut self, bytes: &[u8]) -> Packet {
        let ip = IpExtent::of_header(bytes).filter(|ip| ip.first_header_len() <= Packet::HEADROOM);
        let Some(ip_len) = ip.map(|ip| ip.first_header_len()).filter(|len| *len <= bytes.len()) else {
            return Packet::shared(self.keep(bytes), Checksum::Complete);
        };
        // All headers of IP lie in one part: behind the first there may be that of a fragment.
        let headers_end = IpHeader::parse_header(bytes).map_or(ip_len, |(_, len)| len);
        if !(ip_len..=ip_len + Packet::HEAD_CAPACITY).contains(&headers_end) {
            return Packet::shared(self.keep(bytes), Checksum::Complete);
        }
        self.with_headers(bytes, ip_len, headers_end, Checksum::Complete)
    }

    /// A frame that passes as it is, copied.
    pub fn frame(&mut self, bytes: &[u8]) -> Packet {
        Packet::shared(self.keep(bytes), Checksum::Complete)
    }

    /// A packet whose headers end at `payload_at`.
    fn with_headers(&mut self, bytes: &[u8], ip_len: usize, payload_at: usize, checksum: Checksum) -> Packet {
        let is_short = bytes.len() - ip_len <= Packet::HEAD_CAPACITY;
        let inline_end = if is_short { bytes.len() } else { payload_at };
        let (inline, data) = bytes.split_at(inline_end);
        let data = if is_short { Bytes::new() } else { self.keep(data) };
        packet_of(&inline[..ip_len], &inline[ip_len..], data, checksum)
    }
}

fn packet_of(ip: &[u8], behind: &[u8], data: Bytes, checksum: Checksum) -> Packet {
    let mut packet = Packet::with_tail(behind, data, 0, checksum);
    packet.prepend(ip.len()).copy_from_slice(ip);
    packet
}

/// A frame of TCP or UDP, as nearly all are: headers of IP without extensions, options or fragments.
struct Plain<'a> {
    ip: IpExtent,
    protocol: u8,
    /// The packet without padding.
    packet: &'a [u8],
    /// Place of the data in it.
    payload_at: usize,
}

impl<'a> Plain<'a> {
    fn of(frame: &'a [u8]) -> Option<Self> {
        let (header, behind) = frame.split_first_chunk::<ETHERNET_HEADER_LEN>()?;
        let is_v4 = match u16::from_be_bytes([header[12], header[13]]) {
            IPV4 => true,
            IPV6 => false,
            _ => return None,
        };
        let ip = IpExtent::of(behind).ok()?;
        let transport = ip.transport(behind)?;
        let is_to_group = header[0] & 1 != 0;
        let is_plain = ip.header.source.is_ipv4() == is_v4
            && transport.at == ip.header_len
            && ip.header_len <= Packet::HEADROOM;
        if is_to_group || !is_plain {
            return None;
        }
        // What is wrong in a header stays wrong.
        if is_v4 && behind[10..12] != ipv4_checksum(&behind[..ip.header_len]) {
            return None;
        }
        let packet = &behind[..ip.len];
        let header_len = match transport.protocol {
            protocol::TCP => {
                let header = packet.get(transport.at..)?.first_chunk::<TCP_HEADER_LEN>()?;
                usize::from(header[12] >> 4) * 4
            }
            protocol::UDP => UDP_HEADER_LEN,
            _ => return None,
        };
        let is_whole = header_len >= UDP_HEADER_LEN && transport.at + header_len <= packet.len();
        is_whole.then_some(Self {
            ip,
            protocol: transport.protocol,
            packet,
            payload_at: transport.at + header_len,
        })
    }
}

/// Makes packets of a frame of TCP or UDP, and calls `each` with them in order. Their data lies in `memory`, where
/// packets of one frame share it; checksums that were left to do are [omitted](Checksum::Omitted). With
/// [completed](Packet::complete) checksums they are what [`packets()`](super::packets()) makes.
///
/// `None` if the frame is no such frame: then that is to be asked.
///
/// # Errors
/// Those of [`packets()`](super::packets()), before the first call of `each`.
pub fn views(
    offload: &Offload,
    frame: &[u8],
    mtu_bytes: usize,
    memory: &mut PacketMemory,
    each: impl FnMut(Packet),
) -> Option<Result<(), OffloadError>> {
    let plain = Plain::of(frame)?;
    let mut each = each;
    if let Some(partial) = offload.checksum {
        let place = if plain.protocol == protocol::TCP { TCP_CHECKSUM } else { UDP_CHECKSUM };
        let start = ETHERNET_HEADER_LEN + plain.ip.header_len;
        let transport = &plain.packet[plain.ip.header_len..];
        // It is left out for good, so what the field holds has to be what it stands for.
        let sum = plus(pseudo_header_sum(&plain.ip, plain.protocol), length_of(transport.len()));
        if (usize::from(partial.start), usize::from(partial.offset)) != (start, place)
            || transport[place..place + 2] != sum
        {
            return None;
        }
    }
    match (offload.segmentation, offload.checksum) {
        (None, checksum) => {
            if let Err(error) = fits(plain.packet.len(), mtu_bytes) {
                return Some(Err(error));
            }
            let state = if checksum.is_some() { Checksum::Omitted } else { Checksum::Complete };
            each(memory.with_headers(plain.packet, plain.ip.header_len, plain.payload_at, state));
        }
        // Segments without a sum: nobody has said that their checksum may be left out.
        (Some(_), None) => return None,
        (Some(segmentation), checksum) => {
            let segments = match Segments::of(segmentation, checksum, DeviceLayer::Ethernet, frame) {
                Ok(segments) => segments,
                Err(error) => return Some(Err(error)),
            };
            let longest = plain.packet.len().min(plain.payload_at + segments.size());
            if let Err(error) = fits(longest, mtu_bytes) {
                return Some(Err(error));
            }
            cut(&plain, &segments, memory, each);
        }
    }
    Some(Ok(()))
}

/// Cuts a frame whose segments are known to be right.
fn cut(plain: &Plain<'_>, segments: &Segments, memory: &mut PacketMemory, mut each: impl FnMut(Packet)) {
    let (headers, payload) = plain.packet.split_at(plain.payload_at);
    let ip_len = plain.ip.header_len;
    let mut buffer = [0; Packet::HEADROOM + Packet::HEAD_CAPACITY];
    let template = &mut buffer[..headers.len()];
    template.copy_from_slice(headers);
    let (ip, transport) = template.split_at_mut(ip_len);
    let place = checksum_offset(segments.kind());
    transport[place..place + 2].fill(0);
    let identification = u16::from_be_bytes([ip[4], ip[5]]);
    let first = u32::from_be_bytes([transport[4], transport[5], transport[6], transport[7]]);
    let flags = headers[ip_len..].get(TCP_FLAGS).copied().unwrap_or(0);
    let is_v4 = plain.ip.header.source.is_ipv4();
    let mut data = memory.keep(payload);
    let size = segments.size();
    let last = payload.len().div_ceil(size) - 1;
    for number in 0..=last {
        let own = data.split_to(size.min(data.len()));
        let len = transport.len() + own.len();
        if is_v4 {
            ip[2..4].copy_from_slice(&length_of(ip_len + len).to_be_bytes());
            ip[4..6].copy_from_slice(&identification.wrapping_add(length_of(number)).to_be_bytes());
            // It is part of what is left out.
            ip[10..12].fill(0);
        } else {
            ip[4..6].copy_from_slice(&length_of(len).to_be_bytes());
        }
        if segments.kind() == SegmentationKind::Udp {
            transport[4..6].copy_from_slice(&length_of(len).to_be_bytes());
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "less than an IP packet's 65,575 octets")]
            let sequence = first.wrapping_add((number * size) as u32);
            transport[4..8].copy_from_slice(&sequence.to_be_bytes());
            let not_first = if number > 0 { CWR } else { 0 };
            let not_last = if number < last { FIN | PSH } else { 0 };
            transport[TCP_FLAGS] = flags & !(not_first | not_last);
        }
        each(packet_of(ip, transport, own, Checksum::Omitted));
    }
}
