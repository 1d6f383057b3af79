use core::num::NonZeroU16;
use core::slice;

use proptest::prelude::*;
use slantpath_wire::ip::{Fragmentation, IpHeader};
use slantpath_wire::{Checksum, Packet, WireError};

use super::*;

mod joining;
mod kernel;
mod viewing;

const ETHERNET: [u8; 14] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
const ACK: u8 = 0x10;
const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];

/// A packet of TCP that is written from the first octet to the last, independently of what is tested.
#[derive(Clone, Debug)]
struct Tcp {
    is_v4: bool,
    identification: u16,
    sequence: u32,
    flags: u8,
    options: Vec<u8>,
    /// Extension headers of IPv6, the last of which names TCP, and the number of the first.
    extensions: (u8, Vec<u8>),
    payload: Vec<u8>,
}

impl Tcp {
    fn new(is_v4: bool, sequence: u32, flags: u8, payload: &[u8]) -> Self {
        Self {
            is_v4,
            identification: 0xffff,
            sequence,
            flags,
            options: TIMESTAMPS.to_vec(),
            extensions: (6, Vec::new()),
            payload: payload.to_vec(),
        }
    }

    /// The IP packet with all its checksums.
    fn packet(&self) -> Vec<u8> {
        let mut segment = vec![0x30, 0x39, 0x00, 0x50];
        segment.extend_from_slice(&self.sequence.to_be_bytes());
        segment.extend_from_slice(&[
            9,
            9,
            9,
            9,
            0x50 + ((self.options.len() as u8 / 4) << 4),
            self.flags,
            1,
            2,
        ]);
        segment.extend_from_slice(&[0, 0, 0, 0]);
        segment.extend_from_slice(&self.options);
        segment.extend_from_slice(&self.payload);
        let (header, addresses) = ip_header(self.is_v4, self.identification, &self.extensions, segment.len());
        let sum = checksum::with_pseudo_header(addresses[0], addresses[1], 6, &[&segment]);
        segment[16..18].copy_from_slice(&sum.to_be_bytes());
        [header, segment].concat()
    }
}

fn ip_header(
    is_v4: bool,
    identification: u16,
    (first, extensions): &(u8, Vec<u8>),
    len: usize,
) -> (Vec<u8>, [std::net::IpAddr; 2]) {
    let addresses = if is_v4 {
        [[10, 0, 0, 1], [10, 0, 0, 2]].map(Into::into)
    } else {
        [[0xfd01; 8], [0xfd02; 8]].map(Into::into)
    };
    let header = IpHeader {
        source: addresses[0],
        destination: addresses[1],
        protocol: *first,
        hop_limit: 63,
        traffic_class: 0x2a,
        payload_len: u16::try_from(extensions.len() + len).unwrap(),
        fragmentation: if is_v4 {
            Fragmentation::Allowed { identification }
        } else {
            Fragmentation::Forbidden
        },
    };
    let mut bytes = vec![0; header.header_len()];
    header.emit(&mut bytes);
    bytes.extend_from_slice(extensions);
    (bytes, addresses)
}

/// A packet of UDP with all its checksums.
fn udp(is_v4: bool, identification: u16, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap().to_be_bytes();
    let mut datagram = [&[0x30, 0x39, 0x00, 0x35, length[0], length[1], 0, 0], payload].concat();
    let (header, addresses) = ip_header(is_v4, identification, &(17, Vec::new()), datagram.len());
    let sum = checksum::with_pseudo_header(addresses[0], addresses[1], 17, &[&datagram]);
    datagram[6..8].copy_from_slice(&if sum == 0 { 0xffff } else { sum }.to_be_bytes());
    [header, datagram].concat()
}

/// Replaces the checksum at `start + offset` by the sum of the pseudo-header, as a kernel does.
fn make_partial(
    packet: &mut [u8],
    ip_at: usize,
    protocol: u8,
    start: usize,
    offset: usize,
) -> PartialChecksum {
    let (header, _) = IpHeader::parse(&packet[ip_at..]).unwrap();
    let len = packet.len() - start;
    // Zeros instead of the segment add nothing to the sum.
    let sum = !checksum::with_pseudo_header(header.source, header.destination, protocol, &[&vec![0; len]]);
    packet[start + offset..start + offset + 2].copy_from_slice(&sum.to_be_bytes());
    PartialChecksum { start: start as u16, offset: offset as u16 }
}

fn segments(kind: SegmentationKind, size: u16) -> Segmentation {
    Segmentation { kind, size: NonZeroU16::new(size).unwrap() }
}

const TCPV4: SegmentationKind = SegmentationKind::TcpV4 { has_ecn: false };
const TCPV6: SegmentationKind = SegmentationKind::TcpV6 { has_ecn: false };

fn made(
    offload: Offload,
    layer: DeviceLayer,
    frame: &[u8],
    mtu_bytes: usize,
) -> Result<Vec<Vec<u8>>, OffloadError> {
    let (mut made, mut buffer) = (Vec::new(), vec![0xee; 7]);
    let result = packets(&offload, layer, frame, mtu_bytes, &mut buffer, |packet| made.push(packet.to_vec()));
    assert!(result.is_ok() || made.is_empty(), "refused, and yet {made:?}");
    result.map(|()| made)
}

fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 % 251) as u8).collect()
}

/// Frames that `packets` are joined to, each with its work.
fn joined(layer: DeviceLayer, packets: &[Vec<u8>], max_bytes: usize) -> Vec<(Offload, Vec<u8>)> {
    let header_len = |frame: &Vec<u8>| match layer {
        DeviceLayer::Ip => 0,
        DeviceLayer::Ethernet => ethernet::content(frame).map_or(0, |(_, at)| at),
    };
    let split: Vec<(&[u8], Packet)> = packets
        .iter()
        .map(|frame| (&frame[..header_len(frame)], Packet::from(frame[header_len(frame)..].to_vec())))
        .collect();
    frames_of(split.iter().map(|(before, packet)| LeavingPacket { before, packet }), max_bytes)
}

/// Frames that `leaving` are joined to, each with its work.
fn frames_of<'a>(
    leaving: impl Iterator<Item = LeavingPacket<'a>>,
    max_bytes: usize,
) -> Vec<(Offload, Vec<u8>)> {
    let mut frames = Vec::new();
    join(leaving, max_bytes, |offload, pieces, packets| {
        assert_eq!(pieces[0][..], offload.to_bytes());
        let frame = pieces[1..].iter().flat_map(|piece| piece.iter().copied()).collect::<Vec<u8>>();
        if offload.segmentation.is_some() {
            assert_eq!(packets, offload.packets_in(frame.len()));
        } else {
            assert_eq!(packets, 1);
        }
        frames.push((*offload, frame));
    });
    frames
}

#[test]
fn segments_of_tcp_over_ipv4_are_cut_as_its_stack_would_have_sent_them() {
    let data = payload(2_500);
    let all = ACK | FIN | PSH | CWR | 0x40;
    let mut frame = Tcp::new(true, u32::MAX - 999, all, &data).packet();
    let checksum = make_partial(&mut frame, 0, 6, 20, 16);
    let kind = SegmentationKind::TcpV4 { has_ecn: true };
    let offload =
        Offload { checksum: Some(checksum), segmentation: Some(segments(kind, 1_000)), header_len: 9_999 };
    let segment = |identification, sequence, flags, payload: &[u8]| {
        Tcp { identification, ..Tcp::new(true, sequence, flags, payload) }.packet()
    };
    let expected = [
        segment(0xffff, u32::MAX - 999, ACK | CWR | 0x40, &data[..1_000]),
        segment(0, 0, ACK | 0x40, &data[1_000..2_000]),
        segment(1, 1_000, ACK | FIN | PSH | 0x40, &data[2_000..]),
    ];
    assert_eq!(made(offload, DeviceLayer::Ip, &frame, 1_052).unwrap(), expected);
    assert_eq!(
        made(offload, DeviceLayer::Ip, &frame, 1_051),
        Err(OffloadError::TooLong { len: 1_052, mtu_bytes: 1_051 })
    );
    // A frame of one segment that is shorter than the others would be.
    let short = segment(7, 7, ACK, &data[..10]);
    let complete = Offload { checksum: None, ..offload };
    assert_eq!(made(complete, DeviceLayer::Ip, &short, 62).unwrap(), slice::from_ref(&short));
    // A kernel may leave the checksum complete, or hand over what is padded.
    assert_eq!(made(complete, DeviceLayer::Ip, &frame, 1_500).unwrap(), expected);
    frame.extend([0; 3]);
    assert_eq!(made(offload, DeviceLayer::Ip, &frame, 1_500).unwrap(), expected);
}

#[test]
fn options_of_ipv4_are_copied_to_each_segment() {
    let data = payload(20);
    let with_option = |identification, sequence, payload: &[u8]| {
        let plain = Tcp { identification, ..Tcp::new(true, sequence, ACK, payload) }.packet();
        let mut packet = [&plain[..20], &[0x94, 4, 0, 0], &plain[20..]].concat();
        packet[0] = 0x46;
        packet[3] += 4;
        packet[10..12].fill(0);
        let sum = checksum::internet([&packet[..24]]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    };
    let offload = Offload { segmentation: Some(segments(TCPV4, 10)), ..Offload::NONE };
    assert_eq!(
        made(offload, DeviceLayer::Ip, &with_option(5, 7, &data), 1_500).unwrap(),
        [with_option(5, 7, &data[..10]), with_option(6, 17, &data[10..])]
    );
}

#[test]
fn segments_of_tcp_over_ipv6_keep_their_extension_headers() {
    let data = payload(1_999);
    let extensions = (0, [[60, 0, 1, 4, 0, 0, 0, 0], [6, 0, 1, 4, 0, 0, 0, 0]].concat());
    let segment = |sequence, flags, payload: &[u8]| {
        Tcp { extensions: extensions.clone(), ..Tcp::new(false, sequence, flags, payload) }.packet()
    };
    let mut frame = segment(100, ACK | PSH, &data);
    let checksum = make_partial(&mut frame, 0, 6, 56, 16);
    let offload =
        Offload { checksum: Some(checksum), segmentation: Some(segments(TCPV6, 1_000)), header_len: 0 };
    let expected = [segment(100, ACK, &data[..1_000]), segment(1_100, ACK | PSH, &data[1_000..])];
    assert_eq!(made(offload, DeviceLayer::Ip, &frame, 1_500).unwrap(), expected);
    assert_eq!(
        made(Offload { checksum: None, ..offload }, DeviceLayer::Ip, &frame, 1_500).unwrap(),
        expected
    );
}

#[test]
fn behind_a_routing_header_the_sum_in_the_checksum_names_the_last_destination() {
    let data = payload(30);
    let last = [7; 16];
    let routing = [&[6, 2, 0, 1, 0, 0, 0, 0][..], &last].concat();
    let segment = |sequence, payload: &[u8]| {
        let mut packet =
            Tcp { extensions: (43, routing.clone()), ..Tcp::new(false, sequence, ACK, payload) }.packet();
        packet[80..82].fill(0);
        let source = std::net::IpAddr::from([0xfd01; 8]);
        let sum = checksum::with_pseudo_header(source, last.into(), 6, &[&packet[64..]]);
        packet[80..82].copy_from_slice(&sum.to_be_bytes());
        packet
    };
    let mut frame = segment(1, &data);
    let offload = Offload { segmentation: Some(segments(TCPV6, 15)), ..Offload::NONE };
    assert_eq!(made(offload, DeviceLayer::Ip, &frame, 1_500), Err(OffloadError::Routed));
    let len = frame.len() - 64;
    let source = std::net::IpAddr::from([0xfd01; 8]);
    let sum = !checksum::with_pseudo_header(source, last.into(), 6, &[&vec![0; len]]);
    frame[80..82].copy_from_slice(&sum.to_be_bytes());
    let offload = Offload { checksum: Some(PartialChecksum { start: 64, offset: 16 }), ..offload };
    assert_eq!(
        made(offload, DeviceLayer::Ip, &frame, 1_500).unwrap(),
        [segment(1, &data[..15]), segment(16, &data[15..])]
    );
    // What cannot be told to be right is not joined.
    let packets = [segment(1, &data[..15]), segment(16, &data[15..])];
    assert_eq!(joined(DeviceLayer::Ip, &packets, 65_535).len(), 2);
}

#[test]
fn datagrams_of_udp_are_cut_with_their_own_lengths() {
    for is_v4 in [true, false] {
        let data = payload(25);
        let mut frame = udp(is_v4, 8, &data);
        let start = frame.len() - 33;
        let checksum = make_partial(&mut frame, 0, 17, start, 6);
        let kind = SegmentationKind::Udp;
        let offload =
            Offload { checksum: Some(checksum), segmentation: Some(segments(kind, 10)), header_len: 0 };
        let expected =
            [udp(is_v4, 8, &data[..10]), udp(is_v4, 9, &data[10..20]), udp(is_v4, 10, &data[20..])];
        assert_eq!(made(offload, DeviceLayer::Ip, &frame, 1_500).unwrap(), expected);
        assert_eq!(
            made(Offload { checksum: None, ..offload }, DeviceLayer::Ip, &frame, 1_500).unwrap(),
            expected
        );
    }
}

/// A payload of two octets for which the checksum of a datagram is zero, which is written as 0xffff.
fn of_checksum_zero() -> Vec<u8> {
    let found = (0..=u16::MAX).map(u16::to_be_bytes).find(|data| udp(true, 1, data)[26..28] == [0xff, 0xff]);
    found.expect("each sum is met once").to_vec()
}

#[test]
fn a_checksum_of_zero_is_written_as_its_other_form() {
    let data = of_checksum_zero();
    let whole = udp(true, 1, &data);
    let mut frame = whole.clone();
    let checksum = make_partial(&mut frame, 0, 17, 20, 6);
    let offload = Offload { checksum: Some(checksum), ..Offload::NONE };
    assert_eq!(made(offload, DeviceLayer::Ip, &frame, 1_500).unwrap(), slice::from_ref(&whole));
    let cut = Offload { segmentation: Some(segments(SegmentationKind::Udp, 2)), ..offload };
    assert_eq!(made(cut, DeviceLayer::Ip, &frame, 1_500).unwrap(), [whole]);
}

#[test]
fn a_partial_checksum_is_completed_up_to_the_packets_end() {
    for (is_v4, start) in [(true, 34), (false, 54)] {
        let mut header = ETHERNET;
        if !is_v4 {
            header[12..].copy_from_slice(&[0x86, 0xdd]);
        }
        let whole = [&header[..], &Tcp::new(is_v4, 3, ACK, &payload(33)).packet()].concat();
        let mut frame = whole.clone();
        let checksum = make_partial(&mut frame, 14, 6, start, 16);
        let offload = Offload { checksum: Some(checksum), ..Offload::NONE };
        assert_eq!(made(offload, DeviceLayer::Ethernet, &frame, 1_500).unwrap(), slice::from_ref(&whole));
        assert_eq!(
            made(offload, DeviceLayer::Ethernet, &frame, whole.len() - 14).unwrap(),
            slice::from_ref(&whole)
        );
        let len = whole.len() - 14;
        assert_eq!(
            made(offload, DeviceLayer::Ethernet, &frame, len - 1),
            Err(OffloadError::TooLong { len, mtu_bytes: len - 1 })
        );
        // Padding is no part of the packet, and stays.
        let pad = [0xaa; 9];
        let padded = made(offload, DeviceLayer::Ethernet, &[&frame[..], &pad].concat(), len).unwrap();
        assert_eq!(padded, [[&whole[..], &pad].concat()]);
    }
}

#[test]
fn a_partial_checksum_within_another_packet_is_completed() {
    // A TCP packet in IPv4 in IPv4: the outer header is no business of the checksum.
    let inner = Tcp::new(true, 3, ACK, &payload(10)).packet();
    let (outer, _) = ip_header(true, 1, &(4, Vec::new()), inner.len());
    let whole = [&outer[..], &inner].concat();
    let mut frame = whole.clone();
    let checksum = make_partial(&mut frame, 20, 6, 40, 16);
    let offload = Offload { checksum: Some(checksum), ..Offload::NONE };
    assert_eq!(made(offload, DeviceLayer::Ip, &frame, 1_500).unwrap(), [whole]);
}

#[test]
fn a_partial_checksum_of_sctp_is_a_crc() {
    let (header, _) = ip_header(true, 1, &(132, Vec::new()), 28);
    let mut whole = [&header[..], &[0x12; 8], &[0; 4], &[3, 0, 0, 16], &[7; 12]].concat();
    let bare = whole.clone();
    checksum::complete(&mut whole);
    assert_ne!(bare, whole);
    let partial = |start, offset| {
        let offload = Offload { checksum: Some(PartialChecksum { start, offset }), ..Offload::NONE };
        made(offload, DeviceLayer::Ip, &bare, 1_500)
    };
    assert_eq!(partial(20, 8).unwrap(), [whole]);
    assert_eq!(partial(24, 8), Err(OffloadError::ChecksumPlace { start: 24, offset: 8, len: 48 }));
    assert_eq!(partial(20, 6), Err(OffloadError::ChecksumPlace { start: 20, offset: 6, len: 48 }));
    let (header, _) = ip_header(true, 1, &(132, Vec::new()), 11);
    let short = [&header[..], &[0; 11]].concat();
    let offload = Offload { checksum: Some(PartialChecksum { start: 20, offset: 8 }), ..Offload::NONE };
    assert_eq!(
        made(offload, DeviceLayer::Ip, &short, 1_500),
        Err(OffloadError::ChecksumPlace { start: 20, offset: 8, len: 31 })
    );
}

#[test]
fn tags_of_a_virtual_lan_stay_before_each_packet() {
    let data = payload(32);
    let tagged = |identification, sequence, payload: &[u8]| {
        let packet = Tcp { identification, ..Tcp::new(true, sequence, ACK, payload) }.packet();
        [&ETHERNET[..12], &[0x88, 0xa8, 0, 1, 0x81, 0x00, 0, 2, 0x08, 0x00], &packet].concat()
    };
    let mut frame = tagged(5, 1, &data);
    let checksum = make_partial(&mut frame, 22, 6, 42, 16);
    let offload =
        Offload { checksum: Some(checksum), segmentation: Some(segments(TCPV4, 16)), header_len: 0 };
    let expected = [tagged(5, 1, &data[..16]), tagged(6, 17, &data[16..])];
    assert_eq!(made(offload, DeviceLayer::Ethernet, &frame, 68).unwrap(), expected);
    assert!(made(offload, DeviceLayer::Ethernet, &frame, 67).is_err());
    assert_eq!(
        joined(DeviceLayer::Ethernet, &expected, 65_535),
        [(Offload { header_len: 74, ..offload }, frame)]
    );
}

#[test]
fn a_frame_without_work_is_handed_on_where_it_lies() {
    let frame = [&ETHERNET[..], &[0xff; 50]].concat();
    let mut buffer = Vec::new();
    let each = |packet: &[u8]| assert_eq!(packet.as_ptr(), frame.as_ptr());
    packets(&Offload::NONE, DeviceLayer::Ethernet, &frame, 50, &mut buffer, each).unwrap();
    assert_eq!(buffer.capacity(), 0);
    assert_eq!(
        made(Offload::NONE, DeviceLayer::Ethernet, &frame, 49),
        Err(OffloadError::TooLong { len: 50, mtu_bytes: 49 })
    );
    let mut tagged = frame.clone();
    tagged[12..14].copy_from_slice(&[0x81, 0x00]);
    assert!(
        made(Offload::NONE, DeviceLayer::Ethernet, &tagged, 46).is_ok(),
        "a tag is no part of what the MTU limits"
    );
    assert!(made(Offload::NONE, DeviceLayer::Ip, &frame, 64).is_ok());
    assert!(made(Offload::NONE, DeviceLayer::Ip, &frame, 63).is_err());
    assert_eq!(
        made(Offload::NONE, DeviceLayer::Ethernet, &frame[..13], 50),
        Err(OffloadError::NoIp { len: 13 })
    );
}

#[test]
fn a_checksum_whose_place_is_a_lie_is_refused() {
    let frame = Tcp::new(true, 1, ACK, &payload(10)).packet();
    let len = frame.len();
    let place = |segmentation, start, offset| {
        let offload =
            Offload { checksum: Some(PartialChecksum { start, offset }), segmentation, header_len: 0 };
        made(offload, DeviceLayer::Ip, &[&frame[..], &[0; 8]].concat(), 1_500)
    };
    let refused = |start, offset| Err(OffloadError::ChecksumPlace { start, offset, len: len + 8 });
    let end = u16::try_from(len).unwrap();
    assert!(place(None, 20, end - 22).is_ok());
    for (start, offset) in [(20, end - 20), (19, 16), (0, 16), (20, 17), (end - 1, 0), (u16::MAX, u16::MAX)] {
        assert_eq!(place(None, start, offset), refused(start, offset));
    }
    assert!(place(Some(segments(TCPV4, 8)), 20, 16).is_ok());
    for (start, offset) in [(22, 16), (20, 14), (u16::MAX, 16)] {
        assert_eq!(place(Some(segments(TCPV4, 8)), start, offset), refused(start, offset));
    }
}

#[test]
fn segments_that_the_packet_does_not_hold_are_refused() {
    let cut = |kind, size, frame: &[u8]| {
        made(
            Offload { segmentation: Some(segments(kind, size)), ..Offload::NONE },
            DeviceLayer::Ip,
            frame,
            1_500,
        )
    };
    let v4 = Tcp::new(true, 1, ACK, &payload(32)).packet();
    let v6 = Tcp::new(false, 1, ACK, &payload(32)).packet();
    let datagram = udp(true, 1, &payload(32));
    let refused = |kind| Err(OffloadError::Transport { kind });
    assert!(cut(TCPV4, 8, &v4).is_ok() && cut(TCPV6, 8, &v6).is_ok());
    for (kind, frame) in [
        (TCPV4, &v6),
        (TCPV6, &v4),
        (TCPV4, &datagram),
        (SegmentationKind::Udp, &v4),
        (SegmentationKind::Udp, &v6),
    ] {
        assert_eq!(cut(kind, 8, frame), refused(kind), "{kind}");
    }
    for data_offset in [0x40, 0xf0] {
        // One octet less than the longest header.
        let mut frame = Tcp::new(true, 1, ACK, &payload(27)).packet();
        frame[32] = data_offset;
        assert_eq!(cut(TCPV4, 8, &frame), refused(TCPV4), "a header of {data_offset:#x}");
    }
    let mut fragment = v4.clone();
    fragment[6] = 0x20;
    assert_eq!(cut(TCPV4, 8, &fragment), refused(TCPV4));
    let empty = Tcp::new(true, 1, ACK, &[]).packet();
    assert_eq!(cut(TCPV4, 8, &empty), refused(TCPV4));
    assert_eq!(cut(SegmentationKind::Udp, 8, &udp(true, 1, &[])), refused(SegmentationKind::Udp));
    let mut short = udp(true, 1, &[]);
    short.pop();
    short[3] -= 1;
    assert_eq!(cut(SegmentationKind::Udp, 8, &short), refused(SegmentationKind::Udp));
    assert_eq!(
        cut(TCPV4, 8, &v4[..v4.len() - 1]),
        Err(OffloadError::Ip(IpFault::Header(WireError::Truncated { wanted: 64, left: 63 })))
    );
    let offload = Offload { segmentation: Some(segments(TCPV4, 8)), ..Offload::NONE };
    let mut frame = [&ETHERNET[..], &v4].concat();
    assert!(made(offload, DeviceLayer::Ethernet, &frame, 1_500).is_ok());
    frame[13] = 6;
    assert_eq!(
        made(offload, DeviceLayer::Ethernet, &frame, 1_500),
        Err(OffloadError::NoIp { len: frame.len() })
    );
}

#[test]
fn the_number_of_segments_is_limited() {
    let cut = |kind, size, frame: &[u8]| {
        made(
            Offload { segmentation: Some(segments(kind, size)), ..Offload::NONE },
            DeviceLayer::Ip,
            frame,
            1_500,
        )
        .map(|packets| packets.len())
    };
    let tcp = Tcp::new(true, 1, ACK, &payload(64)).packet();
    assert_eq!(cut(TCPV4, 8, &tcp), Ok(8));
    assert_eq!(cut(TCPV4, 7, &tcp), Err(OffloadError::TooManySegments { size: 7, count: 10 }));
    assert_eq!(cut(SegmentationKind::Udp, 1, &udp(false, 1, &payload(128))), Ok(128));
    let refused = OffloadError::TooManySegments { size: 1, count: 129 };
    assert_eq!(cut(SegmentationKind::Udp, 1, &udp(false, 1, &payload(129))), Err(refused));
}
