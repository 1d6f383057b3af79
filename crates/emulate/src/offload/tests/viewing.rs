use std::net::IpAddr;

use slantpath_wire::ip::Fragment;

use super::*;

/// Frame around an IP packet.
fn framed(packet: &[u8]) -> Vec<u8> {
    let mut header = ETHERNET;
    if packet[0] >> 4 == 6 {
        header[12..].copy_from_slice(&[0x86, 0xdd]);
    }
    [&header[..], packet].concat()
}

/// Packets of a frame that share their bytes; `None` if the frame is to be cut by [`packets`].
fn viewed(offload: Offload, frame: &[u8], mtu_bytes: usize) -> Option<Result<Vec<Packet>, OffloadError>> {
    let (mut found, mut memory) = (Vec::new(), PacketMemory::default());
    let result = views(&offload, frame, mtu_bytes, &mut memory, |packet| found.push(packet))?;
    assert!(result.is_ok() || found.is_empty(), "refused, and yet {found:?}");
    Some(result.map(|()| found))
}

/// Packets as bytes, by the way that copies and sums each.
fn copied(offload: Offload, frame: &[u8], mtu_bytes: usize) -> Result<Vec<Vec<u8>>, OffloadError> {
    let cut = made(offload, DeviceLayer::Ethernet, frame, mtu_bytes)?;
    Ok(cut.iter().map(|frame| frame[14..].to_vec()).collect())
}

fn observed(packets: &[Packet]) -> Vec<Vec<u8>> {
    packets.iter().map(Packet::observed).collect()
}

/// A long segment of TCP, its checksum partial, with the work that is left on it.
fn long(is_v4: bool, flags: u8, data: &[u8]) -> (Offload, Vec<u8>) {
    let mut frame = framed(&Tcp::new(is_v4, u32::MAX - 999, flags, data).packet());
    let checksum = make_partial(&mut frame, 14, 6, if is_v4 { 34 } else { 54 }, 16);
    let kind = if is_v4 { TCPV4 } else { TCPV6 };
    let segmentation = Some(segments(kind, 1_000));
    (Offload { checksum: Some(checksum), segmentation, header_len: 0 }, frame)
}

#[test]
fn segments_share_the_bytes_of_their_frame() {
    for is_v4 in [true, false] {
        let (offload, mut frame) = long(is_v4, ACK | FIN | PSH | CWR, &payload(2_500));
        let found = viewed(offload, &frame, 1_500).unwrap().unwrap();
        assert_eq!(observed(&found), copied(offload, &frame, 1_500).unwrap());
        assert_eq!(found.len(), 3);
        for (one, next) in found.iter().zip(&found[1..]) {
            assert_eq!(one.tail().as_ptr_range().end, next.tail().as_ptr());
            assert_eq!((one.checksum(), one.tail().len()), (Checksum::Omitted, 1_000));
        }
        // Padding is no part of the last.
        frame.extend([9; 5]);
        assert_eq!(observed(&viewed(offload, &frame, 1_500).unwrap().unwrap()), observed(&found));
        let len = found[0].len();
        let too_long = Err(OffloadError::TooLong { len, mtu_bytes: len - 1 });
        assert_eq!(viewed(offload, &frame, len - 1).unwrap(), too_long);
        assert!(viewed(offload, &frame, len).unwrap().is_ok());
    }
}

#[test]
fn packets_one_after_the_other_share_memory() {
    let mut memory = PacketMemory::default();
    let mut starts = Vec::new();
    let mut kept = Vec::new();
    for _ in 0..3 {
        let frame = framed(&udp(true, 1, &payload(500)));
        let made = views(&Offload::NONE, &frame, 1_500, &mut memory, |packet| kept.push(packet));
        assert_eq!(made, Some(Ok(())));
        starts.push(kept.last().unwrap().tail().as_ptr().addr());
    }
    assert_eq!([starts[1] - starts[0], starts[2] - starts[1]], [500, 500]);
    // What fits where headers are written takes no memory beside.
    let short = memory.packet(&udp(true, 1, &payload(80)));
    assert_eq!((short.head().len(), short.tail().len()), (108, 0));
}

#[test]
fn memory_is_used_once_more_when_its_packets_have_gone() {
    let mut memory = PacketMemory::default();
    let packet = udp(true, 1, &payload(1_400));
    let mut places = std::collections::BTreeSet::new();
    for _ in 0..10_000 {
        places.insert(memory.packet(&packet).tail().as_ptr().addr());
    }
    // Ten thousand packets would take 14 MB.
    assert!(places.len() < 100, "{}", places.len());
}

#[test]
fn what_is_no_plain_tcp_or_udp_is_cut_by_the_other_way() {
    let none = |frame: &[u8], offload| assert_eq!(viewed(offload, frame, 65_535), None);
    let plain = framed(&udp(true, 1, &[1; 9]));
    let changed = |change: fn(&mut Vec<u8>)| {
        let mut frame = plain.clone();
        change(&mut frame);
        frame
    };
    assert_eq!(observed(&viewed(Offload::NONE, &plain, 1_500).unwrap().unwrap()), [plain[14..].to_vec()]);
    for frame in [
        changed(|frame| frame[0] = 1),
        changed(|frame| frame[13] = 6),
        changed(|frame| frame[24] ^= 1),
        changed(|frame| frame[14] = 0x65),
        changed(|frame| frame.truncate(30)),
        framed(
            &Tcp { extensions: (60, vec![6, 0, 1, 4, 0, 0, 0, 0]), ..Tcp::new(false, 1, ACK, &[1]) }.packet(),
        ),
        framed(&ip_header(true, 1, &(1, vec![8, 0, 0, 0]), 0).0),
    ] {
        none(&frame, Offload::NONE);
    }
    // A checksum of another packet within, and segments of which nobody says that their checksum may be left out.
    let (offload, frame) = long(true, ACK, &payload(1_500));
    none(&frame, Offload { checksum: Some(PartialChecksum { start: 54, offset: 16 }), ..offload });
    none(&frame, Offload { checksum: Some(PartialChecksum { start: 34, offset: 6 }), ..offload });
    none(&frame, Offload { checksum: None, ..offload });
}

#[test]
fn checksums_that_were_left_out_are_left_to_the_kernel() {
    for (is_v4, start) in [(true, 34), (false, 54)] {
        for (whole, protocol, offset) in [
            (Tcp::new(is_v4, 7, ACK, &[]).packet(), 6, 16),
            (Tcp::new(is_v4, 7, ACK, &payload(300)).packet(), 6, 16),
            (udp(is_v4, 1, &payload(300)), 17, 6),
        ] {
            let mut frame = framed(&whole);
            let checksum = make_partial(&mut frame, 14, protocol, start, offset);
            let offload = Offload { checksum: Some(checksum), ..Offload::NONE };
            let packets = viewed(offload, &frame, 1_500).unwrap().unwrap();
            assert_eq!(packets[0].checksum(), Checksum::Omitted);
            assert_eq!(joined_views(&packets, 65_549), [(offload, frame)]);
        }
    }
    // Those of a simulated host that no device computes are computed here.
    let (header, _) = ip_header(true, 1, &(132, Vec::new()), 16);
    let mut whole = [&header[..], &[7; 16]].concat();
    let packet = Packet::with_tail(&whole[20..], bytes::Bytes::new(), 0, Checksum::Omitted);
    let mut packet = packet;
    packet.prepend(20).copy_from_slice(&whole[..20]);
    checksum::complete(&mut whole);
    assert_eq!(joined_views(&[packet], 65_549), [(Offload::NONE, framed(&whole))]);
}

#[test]
fn a_checksum_of_zero_is_written_as_it_is_in_tcp_by_whoever_completes_it() {
    for (is_v4, start) in [(true, 34), (false, 54)] {
        let segment = |data: [u8; 2]| Tcp::new(is_v4, 7, ACK, &data).packet();
        let is_zero = |packet: &Vec<u8>| packet[start - 14 + 16..start - 14 + 18] == [0, 0];
        let whole = (0..=u16::MAX).map(|data| segment(data.to_be_bytes())).find(is_zero);
        let whole = whole.expect("each sum is met once");
        let mut frame = framed(&whole);
        let checksum = make_partial(&mut frame, 14, 6, start, 16);
        let offload = Offload { checksum: Some(checksum), ..Offload::NONE };
        let seen = observed(&viewed(offload, &frame, 1_500).unwrap().unwrap());
        assert_eq!(seen, slice::from_ref(&whole));
        assert_eq!(copied(offload, &frame, 1_500).unwrap(), [whole]);
    }
}

/// Frames that packets are joined to behind a header of Ethernet.
fn joined_views(packets: &[Packet], max_bytes: usize) -> Vec<(Offload, Vec<u8>)> {
    let headers: Vec<Vec<u8>> =
        packets.iter().map(|packet| framed(&packet.contiguous())[..14].to_vec()).collect();
    let leaving = packets.iter().zip(&headers).map(|(packet, before)| LeavingPacket { before, packet });
    frames_of(leaving, max_bytes)
}

proptest! {
    #[test]
    fn views_are_what_is_cut_with_a_copy(
        is_v4: bool,
        is_udp: bool,
        is_partial: bool,
        is_cut: bool,
        size in 1_u16..600,
        data in prop::collection::vec(any::<u8>(), 0..3_000),
        flags: u8,
        at in 0_usize..80,
        octet: u8,
        mtu_bytes in 60_usize..700,
    ) {
        let whole = if is_udp { udp(is_v4, 0xfffe, &data) } else { Tcp::new(is_v4, 1, flags, &data).packet() };
        let mut frame = framed(&whole);
        let start = if is_v4 { 34 } else { 54 };
        let (kind, protocol, offset) = match (is_udp, is_v4) {
            (true, _) => (SegmentationKind::Udp, 17, 6),
            (false, true) => (TCPV4, 6, 16),
            (false, false) => (TCPV6, 6, 16),
        };
        let partial = make_partial(&mut frame, 14, protocol, start, offset);
        if !is_partial {
            frame = framed(&whole);
        }
        if octet < 50 && at < frame.len() {
            frame[at] ^= octet;
        }
        let offload = Offload {
            checksum: is_partial.then_some(partial),
            segmentation: is_cut.then(|| segments(kind, size)),
            header_len: 0,
        };
        if let Some(found) = viewed(offload, &frame, mtu_bytes) {
            let found = found.map(|packets| observed(&packets));
            // Padding, which is behind some packets, is no part of any.
            let expected = copied(offload, &frame, mtu_bytes).map(|packets| {
                let end = |packet: &Vec<u8>| {
                    let (header, len) = IpHeader::parse(packet).unwrap();
                    packet[..len + usize::from(header.payload_len)].to_vec()
                };
                packets.iter().map(end).collect::<Vec<_>>()
            });
            match (found, expected) {
                (Ok(found), Ok(expected)) => prop_assert_eq!(found, expected),
                // Padding counts as part of a packet there.
                (Ok(_), Err(OffloadError::TooLong { .. })) => {}
                (found, expected) => prop_assert_eq!(found, expected),
            }
        }
    }

    #[test]
    fn views_that_are_joined_and_cut_are_the_same_octets(
        is_v4: bool,
        data in prop::collection::vec(any::<u8>(), 1..6_000),
        flags in prop::sample::select(vec![ACK, ACK | PSH, ACK | CWR, ACK | FIN]),
        max_bytes in 0_usize..5_000,
    ) {
        let (offload, frame) = long(is_v4, flags, &data);
        let packets = viewed(offload, &frame, 1_500).unwrap().unwrap();
        let mut cut = Vec::new();
        for (offload, frame) in joined_views(&packets, max_bytes) {
            prop_assert!(frame.len() <= max_bytes || offload.segmentation.is_none());
            cut.extend(copied(offload, &frame, 1_500).unwrap());
        }
        prop_assert_eq!(cut, observed(&packets));
    }

    #[test]
    fn any_frame_gives_views_or_none(
        header: [u8; 10],
        gso_type in 0_u8..7,
        start in 30_u16..60,
        mut frame: Vec<u8>,
        version in 0_usize..3,
    ) {
        let mut header = header;
        header[1] = header[1] & 0x80 | gso_type;
        header[6..8].copy_from_slice(&start.to_ne_bytes());
        if let Some(kind) = frame.get_mut(12..15) {
            kind.copy_from_slice(&[[8, 0, 0x45], [0x86, 0xdd, 0x60], [0, 0, 0]][version]);
        }
        if let Ok((offload, _)) = Offload::parse(&header) {
            let packets = viewed(offload, &frame, 1_500).and_then(Result::ok).unwrap_or_default();
            let _ = joined_views(&packets, 65_549);
            let _ = PacketMemory::default().packet(&frame);
        }
    }
}

#[test]
fn all_headers_of_ip_lie_in_one_part() {
    for source in [IpAddr::from([10, 0, 0, 1]), "fd00::1".parse().unwrap()] {
        for fragmentation in [
            Fragmentation::Forbidden,
            Fragmentation::Fragment(Fragment { identification: 7, offset_bytes: 1_448, is_followed: true }),
        ] {
            let header = IpHeader {
                source,
                destination: source,
                protocol: 17,
                hop_limit: 9,
                traffic_class: 0,
                payload_len: 1_400,
                fragmentation,
            };
            let mut bytes = vec![0; header.header_len()];
            header.emit(&mut bytes);
            bytes.extend(payload(1_400));
            let packet = PacketMemory::default().packet(&bytes);
            let front = if packet.head().is_empty() { packet.tail() } else { packet.head() };
            assert_eq!(IpHeader::parse_header(front).unwrap(), (header, header.header_len()));
            assert_eq!(packet.observed(), bytes);
        }
    }
}
