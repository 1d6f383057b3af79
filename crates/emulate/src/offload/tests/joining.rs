use super::*;

/// Packets of a flow, each with so many octets and these flags.
fn flow(is_v4: bool, packets: &[(usize, u8)]) -> Vec<Vec<u8>> {
    let mut sequence = u32::MAX - 500;
    let mut flow = Vec::new();
    for (number, (len, flags)) in packets.iter().enumerate() {
        let identification = 0xfffe_u16.wrapping_add(number as u16);
        flow.push(Tcp { identification, ..Tcp::new(is_v4, sequence, *flags, &payload(*len)) }.packet());
        sequence = sequence.wrapping_add(*len as u32);
    }
    flow
}

/// Numbers of packets that are joined to each frame, which are the same octets when they are cut.
fn runs(packets: &[Vec<u8>], max_bytes: usize) -> Vec<usize> {
    let mut rest = packets;
    let mut runs = Vec::new();
    for (offload, frame) in joined(DeviceLayer::Ip, packets, max_bytes) {
        let cut = made(offload, DeviceLayer::Ip, &frame, 65_535).unwrap();
        assert_eq!(cut, rest[..cut.len()]);
        assert_eq!(cut.len() > 1, offload != Offload::NONE);
        runs.push(cut.len());
        rest = &rest[cut.len()..];
    }
    assert!(rest.is_empty());
    runs
}

#[test]
fn a_run_of_packets_is_one_frame_with_a_partial_checksum() {
    let packets = flow(true, &[(1_000, ACK | CWR), (1_000, ACK), (10, ACK | PSH)]);
    let [(offload, frame)] = joined(DeviceLayer::Ip, &packets, 65_535).try_into().unwrap();
    let data = [payload(1_000), payload(1_000), payload(10)].concat();
    let whole = Tcp { identification: 0xfffe, ..Tcp::new(true, u32::MAX - 500, ACK | CWR | PSH, &data) };
    let mut expected = whole.packet();
    let checksum = make_partial(&mut expected, 0, 6, 20, 16);
    let kind = SegmentationKind::TcpV4 { has_ecn: true };
    assert_eq!(frame, expected);
    assert_eq!(
        offload,
        Offload { checksum: Some(checksum), segmentation: Some(segments(kind, 1_000)), header_len: 52 }
    );
    let [(offload, frame)] =
        joined(DeviceLayer::Ip, &flow(false, &[(9, ACK), (9, ACK)]), 65_535).try_into().unwrap();
    let data = [payload(9), payload(9)].concat();
    let mut expected = Tcp::new(false, u32::MAX - 500, ACK, &data).packet();
    let checksum = make_partial(&mut expected, 0, 6, 40, 16);
    assert_eq!(frame, expected);
    assert_eq!(
        offload,
        Offload { checksum: Some(checksum), segmentation: Some(segments(TCPV6, 9)), header_len: 72 }
    );
}

#[test]
fn a_run_ends_where_its_packets_say_so() {
    for is_v4 in [true, false] {
        let runs = |packets: &[(usize, u8)]| runs(&flow(is_v4, packets), 65_535);
        assert_eq!(runs(&[(100, ACK); 5]), [5]);
        assert_eq!(runs(&[(100, ACK), (100, ACK | PSH), (100, ACK), (100, ACK)]), [2, 2]);
        assert_eq!(runs(&[(100, ACK), (100, ACK | FIN), (100, ACK)]), [2, 1]);
        assert_eq!(runs(&[(100, ACK | PSH), (100, ACK)]), [1, 1]);
        assert_eq!(runs(&[(100, ACK | FIN), (100, ACK)]), [1, 1]);
        assert_eq!(runs(&[(100, ACK), (99, ACK), (99, ACK)]), [2, 1]);
        assert_eq!(runs(&[(100, ACK), (101, ACK)]), [1, 1]);
        assert_eq!(runs(&[(8, ACK), (8, ACK)]), [2]);
        assert_eq!(runs(&[(7, ACK), (7, ACK)]), [1, 1]);
        assert_eq!(runs(&[(100, ACK | CWR), (100, ACK), (100, ACK | CWR), (100, ACK)]), [2, 2]);
        assert_eq!(runs(&[(100, ACK | 0x40), (100, ACK | 0x40), (100, ACK)]), [2, 1]);
        assert_eq!(runs(&[(100, ACK), (0, ACK), (100, ACK)]), [1, 1, 1]);
        for flag in [0x02, 0x04, 0x20] {
            assert_eq!(runs(&[(100, ACK | flag), (100, ACK | flag)]), [1, 1], "{flag:#x}");
        }
        assert_eq!(runs(&[(100, 0), (100, 0)]), [1, 1]);
    }
    assert_eq!(runs(&[], 65_535), [0; 0]);
}

#[test]
fn a_frame_has_no_more_octets_than_it_may() {
    let packets = flow(true, &[(1_000, ACK); 4]);
    assert_eq!(runs(&packets, 3_052), [3, 1]);
    assert_eq!(runs(&packets, 3_051), [2, 2]);
    assert_eq!(runs(&packets, 0), [1; 4]);
    for is_v4 in [true, false] {
        let long = flow(is_v4, &[(1_400, ACK); 50]);
        let headers = if is_v4 { 52 } else { 72 };
        let most = (65_535 - headers) / 1_400;
        assert_eq!(runs(&long, usize::MAX), [most, 50 - most]);
    }
    // To the octet: 1,091 × 60 and the headers are 65,512.
    assert_eq!(runs(&flow(true, &[(1_091, ACK); 61]), usize::MAX), [60, 1]);
    let mut exact = vec![(1_091, ACK); 60];
    exact.push((23, ACK));
    assert_eq!(runs(&flow(true, &exact), usize::MAX), [61]);
    let framed: Vec<Vec<u8>> =
        flow(true, &exact).iter().map(|packet| [&ETHERNET[..], packet].concat()).collect();
    assert_eq!(joined(DeviceLayer::Ethernet, &framed, usize::MAX).len(), 1);
    exact[60].0 = 24;
    assert_eq!(runs(&flow(true, &exact), usize::MAX), [60, 1]);
}

#[test]
fn packets_whose_headers_differ_stay_apart() {
    let second = |is_v4, change: &dyn Fn(&mut Vec<u8>)| {
        let mut packets = flow(is_v4, &[(100, ACK), (100, ACK)]);
        change(&mut packets[1]);
        checksum::complete(&mut packets[1]);
        runs(&packets, 65_535)
    };
    for is_v4 in [true, false] {
        let tcp = if is_v4 { 20 } else { 40 };
        assert_eq!(second(is_v4, &|_| {}), [2]);
        // Class, TTL, addresses; ports, sequence, acknowledgment, window, urgent pointer, options.
        let mut places: Vec<usize> = if is_v4 { vec![1, 5, 6, 8, 13, 17] } else { vec![1, 3, 7, 9, 30] };
        places.extend([0, 2, 4, 7, 8, 11, 14, 15, 18, 19, 27, 31].map(|at| tcp + at));
        for at in places {
            assert_eq!(second(is_v4, &|packet| packet[at] ^= 0x40), [1, 1], "octet {at}");
        }
        // Flags beside the header's length, as those of accurate ECN.
        assert_eq!(second(is_v4, &|packet| packet[tcp + 12] |= 1), [1, 1]);
    }
}

#[test]
fn a_packet_with_a_wrong_checksum_or_padding_stays_alone() {
    let packets = flow(true, &[(100, ACK); 3]);
    for (at, bit) in [(10, 1), (36, 1), (37, 0x80), (60, 2)] {
        let mut damaged = packets.clone();
        damaged[1][at] ^= bit;
        assert_eq!(runs(&damaged, 65_535), [1, 1, 1], "octet {at}");
        let mut damaged = packets.clone();
        damaged[0][at] ^= bit;
        assert_eq!(runs(&damaged, 65_535), [1, 2], "octet {at}");
    }
    let mut padded = packets;
    padded[1].push(0);
    assert_eq!(runs(&padded, 65_535), [1, 1, 1]);
    // Padding that the checksum does not notice: it takes off what the length puts on.
    *padded[1].last_mut().unwrap() = 0xff;
    padded[1].push(0xfd);
    assert_eq!(runs(&padded, 65_535), [1, 1, 1]);
}

#[test]
fn other_packets_are_handed_on_in_their_order() {
    let [a, b, c] = flow(true, &[(100, ACK); 3]).try_into().unwrap();
    let other = udp(true, 1, &[1, 2]);
    let packets = [a, b, other, c];
    assert_eq!(runs(&packets, 65_535), [2, 1, 1]);
    let frames = joined(DeviceLayer::Ip, &packets, 65_535);
    assert_eq!(frames[1], (Offload::NONE, packets[2].clone()));
    assert_eq!(joined(DeviceLayer::Ip, &[Vec::new()], 65_535), [(Offload::NONE, Vec::new())]);
}

prop_compose! {
    /// Packets of which many continue the one before, and some differ in one field.
    fn a_flow()(
        is_v4: bool,
        sequence: u32,
        mut identification: u16,
        mss in 1_usize..40,
        packets in prop::collection::vec((0_u8..40, any::<u8>(), 0_usize..40, any::<u8>()), 0..30),
    ) -> Vec<Vec<u8>> {
        let mut sequence = sequence;
        packets
            .iter()
            .map(|(what, octet, len, flags)| {
                let mut tcp = Tcp { identification, ..Tcp::new(is_v4, sequence, ACK, &vec![*octet; mss]) };
                match what {
                    0 => tcp.flags = *flags,
                    1 => tcp.flags |= PSH,
                    2 => tcp.flags |= CWR,
                    3 | 4 => tcp.payload.resize(*len, 1),
                    5 => tcp.options.clear(),
                    6 => tcp.sequence ^= 1 << (octet % 32),
                    7 => tcp.identification ^= 1 << (octet % 16),
                    8 => tcp.extensions = if is_v4 { tcp.extensions } else { (60, vec![6, 0, 1, 4, 0, 0, 0, 0]) },
                    _ => {}
                }
                sequence = tcp.sequence.wrapping_add(tcp.payload.len() as u32);
                identification = tcp.identification.wrapping_add(1);
                let mut packet = tcp.packet();
                if *what == 9 {
                    let at = *len % packet.len();
                    packet[at] ^= octet;
                }
                packet
            })
            .collect()
    }
}

proptest! {
    #[test]
    fn packets_that_are_joined_and_cut_are_the_same_octets(packets in a_flow(), max_bytes in 0_usize..400) {
        let frames = joined(DeviceLayer::Ip, &packets, max_bytes);
        let mut cut = Vec::new();
        for (offload, frame) in &frames {
            prop_assert!(frame.len() <= max_bytes || *offload == Offload::NONE);
            let bytes = offload.to_bytes();
            prop_assert_eq!(Offload::parse(&bytes), Ok((*offload, &[][..])));
            cut.extend(made(*offload, DeviceLayer::Ip, frame, 65_535).unwrap());
        }
        prop_assert_eq!(cut, packets);
    }

    #[test]
    fn frames_that_are_joined_and_cut_are_the_same_octets(packets in a_flow(), tags in 0_usize..3) {
        let header = |packet: &[u8]| {
            let kind = if packet[0] >> 4 == 4 { [0x08, 0x00] } else { [0x86, 0xdd] };
            [&ETHERNET[..12], &[0x81, 0, 0, 1].repeat(tags), &kind].concat()
        };
        let frames: Vec<Vec<u8>> = packets.iter().map(|packet| [header(packet), packet.clone()].concat()).collect();
        let mut cut = Vec::new();
        for (offload, frame) in joined(DeviceLayer::Ethernet, &frames, 65_549) {
            cut.extend(made(offload, DeviceLayer::Ethernet, &frame, 65_535).unwrap());
        }
        prop_assert_eq!(cut, frames);
    }

    #[test]
    fn segments_have_all_data_and_right_checksums(
        is_v4: bool,
        is_udp: bool,
        is_partial: bool,
        size in 8_u16..600,
        data in prop::collection::vec(any::<u8>(), 1..1_000),
    ) {
        let (mut frame, kind, start, offset, header_len) = match (is_udp, is_v4) {
            (true, _) => (udp(is_v4, 1, &data), SegmentationKind::Udp, 0, 6, 8),
            (false, true) => (Tcp::new(true, 1, ACK, &data).packet(), TCPV4, 0, 16, 32),
            (false, false) => (Tcp::new(false, 1, ACK, &data).packet(), TCPV6, 0, 16, 32),
        };
        let start = start + if is_v4 { 20 } else { 40 };
        let protocol = if is_udp { 17 } else { 6 };
        let partial = make_partial(&mut frame, 0, protocol, start, offset);
        let checksum = is_partial.then_some(partial);
        let offload = Offload { checksum, segmentation: Some(segments(kind, size)), header_len: 0 };
        let mut found = Vec::new();
        for packet in made(offload, DeviceLayer::Ip, &frame, 65_535).unwrap() {
            let (header, ip_len) = IpHeader::parse(&packet).unwrap();
            prop_assert_eq!(ip_len + usize::from(header.payload_len), packet.len());
            let mut completed = packet.clone();
            checksum::complete(&mut completed);
            prop_assert_eq!(&completed, &packet);
            found.extend_from_slice(&packet[start + header_len..]);
        }
        prop_assert_eq!(found, data);
    }

    #[test]
    fn any_bytes_and_any_header_give_packets_or_an_error(
        header: [u8; 10],
        gso_type in 0_u8..7,
        is_ethernet: bool,
        is_plain: bool,
        start in 0_u16..80,
        mut frame: Vec<u8>,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        base in a_flow(),
    ) {
        if let Some(base) = base.first() {
            frame.splice(0..0, base.iter().copied());
        }
        if is_ethernet {
            frame.splice(0..0, ETHERNET);
        }
        for (at, octet) in changes {
            if !frame.is_empty() {
                let at = at.index(frame.len());
                frame[at] = octet;
            }
        }
        let mut header = header;
        if is_plain {
            header[1] = gso_type;
            header[6..8].copy_from_slice(&start.to_ne_bytes());
            header[8..10].copy_from_slice(&16_u16.to_ne_bytes());
        }
        let layer = if is_ethernet { DeviceLayer::Ethernet } else { DeviceLayer::Ip };
        if let Ok((offload, _)) = Offload::parse(&header)
            && let Ok(packets) = made(offload, layer, &frame, 1_500)
        {
            prop_assert!(packets.len() <= frame.len().div_ceil(8).max(128));
        }
        let _ = joined(layer, &[frame], 9_000);
    }
}
