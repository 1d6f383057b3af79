use super::*;
use crate::fragment::cut;
use crate::ip::protocol;
use proptest::prelude::*;

fn header(is_v4: bool, fragmentation: Fragmentation, payload_len: usize) -> IpHeader {
    let [source, destination] = if is_v4 {
        [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from)
    } else {
        [[1_u16; 8], [2; 8]].map(IpAddr::from)
    };
    let payload_len = u16::try_from(payload_len).unwrap();
    let protocol = protocol::SCTP;
    IpHeader { source, destination, protocol, hop_limit: 9, traffic_class: 0, payload_len, fragmentation }
}

/// A packet that may be cut, from its IP header on.
fn packet(is_v4: bool, identification: u16, payload: &[u8]) -> Vec<u8> {
    let fragmentation =
        if is_v4 { Fragmentation::Allowed { identification } } else { Fragmentation::Forbidden };
    let header = header(is_v4, fragmentation, payload.len());
    let mut bytes = vec![0; header.header_len()];
    header.emit(&mut bytes);
    bytes.extend_from_slice(payload);
    bytes
}

/// The fragments of packet number `identification` of these bytes.
fn fragments(is_v4: bool, identification: u16, payload: &[u8], mtu_bytes: u32) -> Vec<Bytes> {
    let whole = packet(is_v4, identification, payload);
    let cut = cut(&whole, mtu_bytes, identification.into()).unwrap();
    cut.iter().map(|packet| packet.tail().clone()).collect()
}

fn take(reassembler: &mut Reassembler, now: Instant, fragment: &[u8]) -> Option<(IpHeader, Bytes)> {
    let (header, header_len) = IpHeader::parse(fragment).unwrap();
    let Fragmentation::Fragment(place) = header.fragmentation else { panic!("{header:?}") };
    reassembler.handle_fragment(now, &header, place, &fragment[header_len..])
}

/// A fragment at a place of IPv4 packet 1, as it may come from anybody.
fn place(reassembler: &mut Reassembler, start: u16, len: usize, is_followed: bool) -> Option<Bytes> {
    let fragment = Fragment { identification: 1, offset_bytes: start, is_followed };
    let header = header(true, Fragmentation::Fragment(fragment), len);
    let whole = reassembler.handle_fragment(Instant::START, &header, fragment, &vec![7; len]);
    whole.map(|(_, payload)| payload)
}

fn held(reassembler: &Reassembler) -> u64 {
    let pieces = reassembler.unfinished.iter().map(|packet| match &packet.progress {
        Progress::GivenUp => 0,
        Progress::Gathering(pieces) => pieces.by_offset.len() as u64,
    });
    pieces.sum()
}

fn assert_sound(reassembler: &Reassembler) {
    let charges = reassembler.unfinished.iter().map(|packet| match &packet.progress {
        Progress::GivenUp => 0,
        Progress::Gathering(pieces) => pieces.charge(),
    });
    assert_eq!(charges.sum::<usize>(), reassembler.charged_bytes());
    assert!(reassembler.charged_bytes() <= BYTES_MAX);
    assert!(reassembler.unfinished() <= PACKETS_MAX);
    let counters = reassembler.counters();
    let dropped: u64 = FragmentDrop::ALL.iter().map(|reason| counters.dropped(*reason)).sum();
    assert_eq!(counters.received, counters.used + dropped + held(reassembler), "{counters:?}");
}

#[test]
fn a_packet_has_sixty_seconds_from_its_first_fragment_on() {
    let parts = fragments(true, 1, &[5; 100], 68);
    assert_eq!(parts.len(), 3);
    let just_before = Instant::START + (TIMEOUT - Duration::from_nanos(1));
    for (last_at, is_whole) in [(just_before, true), (Instant::START + TIMEOUT, false)] {
        let mut reassembler = Reassembler::default();
        assert_eq!(take(&mut reassembler, Instant::START, &parts[0]), None);
        assert_eq!(reassembler.deadline(), Some(Instant::from_millis(60_000)));
        assert_eq!(take(&mut reassembler, Instant::from_millis(59_000), &parts[1]), None);
        assert_eq!(take(&mut reassembler, last_at, &parts[2]).is_some(), is_whole);
        let timed_out = reassembler.counters().dropped(FragmentDrop::TimedOut);
        assert_eq!(timed_out, if is_whole { 0 } else { 2 });
        assert_sound(&reassembler);
    }
}

#[test]
fn a_packet_whose_fragments_overlap_or_contradict_each_other_is_given_up() {
    // Start, length and whether others follow, of a fragment that comes behind 64 to 128, and whether it fits.
    for (start, len, is_followed, fits) in [
        (0, 64, true, true),
        (0, 72, true, false),
        (120, 8, true, false),
        (64, 64, false, false),
        (64, 56, true, false),
        (72, 8, true, false),
        (0, 136, true, false),
        (128, 3, false, true),
    ] {
        let mut reassembler = Reassembler::default();
        assert_eq!(place(&mut reassembler, 64, 64, true), None);
        assert_eq!(place(&mut reassembler, start, len, is_followed), None);
        let overlaps = reassembler.counters().dropped(FragmentDrop::Overlap);
        assert_eq!(overlaps, if fits { 0 } else { 2 }, "{start}, {len}, {is_followed}");
        assert_sound(&reassembler);
    }
}

#[test]
fn nothing_comes_of_a_packet_that_was_given_up() {
    let mut reassembler = Reassembler::default();
    place(&mut reassembler, 0, 16, true);
    place(&mut reassembler, 8, 16, true);
    assert_eq!(place(&mut reassembler, 0, 8, true), None);
    assert_eq!(place(&mut reassembler, 8, 8, false), None);
    assert_eq!(reassembler.counters().dropped(FragmentDrop::Overlap), 4);
    assert_eq!(reassembler.charged_bytes(), 0);
    reassembler.handle_deadline(Instant::START + TIMEOUT);
    assert_eq!(place(&mut reassembler, 0, 8, true), None);
    assert_eq!(reassembler.unfinished(), 1, "its number may be used again");
}

#[test]
fn a_fragment_beyond_the_end_or_a_second_end_gives_the_packet_up() {
    for (start, len, is_followed) in [(16, 8, true), (16, 3, false)] {
        let mut reassembler = Reassembler::default();
        assert_eq!(place(&mut reassembler, 8, 8, false), None);
        assert_eq!(place(&mut reassembler, start, len, is_followed), None);
        assert_eq!(reassembler.counters().dropped(FragmentDrop::Overlap), 2, "{start}");
    }
}

#[test]
fn a_fragment_that_cannot_be_is_malformed() {
    for (start, len, is_followed) in [(0, 7, true), (8, 0, false), (65_528, 8, false), (65_512, 4, false)] {
        let mut reassembler = Reassembler::default();
        assert_eq!(place(&mut reassembler, start, len, is_followed), None);
        assert_eq!(reassembler.counters().dropped(FragmentDrop::Malformed), 1, "{start}, {len}");
    }
    let mut reassembler = Reassembler::default();
    assert_eq!(place(&mut reassembler, 65_512, 3, false), None);
    assert_eq!(reassembler.unfinished(), 1, "65,515 bytes and the header are the most");
}

#[test]
fn an_ipv6_fragment_that_is_a_whole_packet_is_one() {
    let mut reassembler = Reassembler::default();
    let fragment = Fragment { identification: 1, offset_bytes: 0, is_followed: false };
    let header = header(false, Fragmentation::Fragment(fragment), 5);
    let (whole, payload) = reassembler.handle_fragment(Instant::START, &header, fragment, b"hello").unwrap();
    assert_eq!((whole.fragmentation, &payload[..]), (Fragmentation::Forbidden, &b"hello"[..]));
    assert_eq!(reassembler.unfinished(), 0);
}

#[test]
fn a_mark_on_any_fragment_is_on_the_packet() {
    for is_v4 in [true, false] {
        let pieces = fragments(is_v4, 7, &[5; 3_000], 1_280);
        let class_of_whole = |classes: [u8; 3]| {
            let mut reassembler = Reassembler::default();
            let mut whole = None;
            for (piece, class) in pieces.iter().zip(classes) {
                let (mut header, header_len) = IpHeader::parse(piece).unwrap();
                header.traffic_class = class;
                let Fragmentation::Fragment(place) = header.fragmentation else { panic!("{header:?}") };
                whole = reassembler.handle_fragment(Instant::START, &header, place, &piece[header_len..]);
            }
            whole.map(|(header, _)| header.traffic_class)
        };
        assert_eq!(pieces.len(), 3);
        assert_eq!(class_of_whole([0xb8, 0xb8, 0xb8]), Some(0xb8));
        assert_eq!(class_of_whole([0xba, 0xba, 0xba]), Some(0xba));
        assert_eq!(class_of_whole([0xba, 0xbb, 0xba]), Some(0xbb));
        assert_eq!(class_of_whole([0xb9, 0xb9, 0xbb]), Some(0xbb));
        assert_eq!(class_of_whole([0xbb, 0xbb, 0xbb]), Some(0xbb));
        assert_eq!(class_of_whole([0xb8, 0xbb, 0xba]), None, "not all of it may be marked");
    }
}

#[test]
fn the_oldest_packet_makes_room() {
    let mut reassembler = Reassembler::default();
    let parts = |number: u16| fragments(true, number, &[5; 60], 68);
    let count = u16::try_from(PACKETS_MAX).unwrap();
    for number in 0..=count {
        assert_eq!(take(&mut reassembler, Instant::START, &parts(number)[0]), None);
    }
    assert_eq!(reassembler.unfinished(), PACKETS_MAX);
    assert_eq!(reassembler.counters().dropped(FragmentDrop::NoRoom), 1);
    assert!(take(&mut reassembler, Instant::START, &parts(1)[1]).is_some(), "the second is still there");
    assert!(take(&mut reassembler, Instant::START, &parts(0)[1]).is_none(), "the first is not");
}

#[test]
fn the_longest_packet_in_the_smallest_fragments_has_room() {
    let payload = vec![5; 65_515];
    let parts = fragments(true, 1, &payload, 28);
    let mut reassembler = Reassembler::default();
    let mut whole = None;
    for part in &parts {
        whole = whole.or(take(&mut reassembler, Instant::START, part));
    }
    assert_eq!(whole.map(|(_, bytes)| bytes.len()), Some(65_515));
    assert_eq!(reassembler.charged_bytes(), 0);
}

proptest! {
    #[test]
    fn fragments_in_any_order_with_copies_and_losses_are_the_packet_or_nothing(
        is_v4: bool,
        payload in proptest::collection::vec(any::<u8>(), 2_000..4_000),
        (mtu, narrower) in (1_280_u32..1_500, 100_u32..1_280),
        order in proptest::collection::vec(any::<u64>(), 100),
        doubled in 0_usize..100,
        lost in proptest::option::of(0_usize..100),
    ) {
        let mut parts = fragments(is_v4, 3, &payload, mtu);
        if is_v4 {
            let recut = |part: &Bytes| cut(part, narrower, 0).unwrap();
            parts = parts.iter().flat_map(recut).map(|packet| packet.tail().clone()).collect();
        }
        let doubled = parts[doubled % parts.len()].clone();
        let lost = lost.map(|lost| parts.swap_remove(lost % parts.len()));
        let mut sent: Vec<_> = parts.into_iter().chain([doubled]).zip(order).collect();
        sent.sort_by_key(|(_, place)| *place);
        let mut reassembler = Reassembler::default();
        let mut whole = Vec::new();
        for (part, _) in &sent {
            whole.extend(take(&mut reassembler, Instant::START, part));
            assert_sound(&reassembler);
        }
        let was_doubled_only = lost.as_ref().is_some_and(|lost| sent.iter().any(|(part, _)| part == lost));
        if lost.is_none() || was_doubled_only {
            prop_assert_eq!(whole.len(), 1);
            let (header, bytes) = &whole[0];
            prop_assert_eq!(usize::from(header.payload_len), payload.len());
            prop_assert_eq!(&bytes[..], &payload[..]);
            let original = packet(is_v4, 3, &payload);
            let mut written = vec![0; header.header_len()];
            header.emit(&mut written);
            prop_assert_eq!(&written[..], &original[..written.len()]);
        } else {
            prop_assert_eq!(whole.len(), 0);
        }
        reassembler.handle_deadline(Instant::START + TIMEOUT);
        prop_assert_eq!((reassembler.charged_bytes(), reassembler.unfinished()), (0, 0));
    }

    #[test]
    fn whatever_comes_the_bounds_hold_and_every_fragment_is_accounted_for(
        fragments in proptest::collection::vec(
            (0_u32..200, 0_u16..8_192, 0_usize..1_400, any::<bool>(), 0_u64..2_000),
            0..600,
        ),
    ) {
        let mut reassembler = Reassembler::default();
        let mut now = Instant::START;
        for (identification, eighths, len, is_followed, millis) in fragments {
            now += Duration::from_millis(millis);
            let fragment = Fragment { identification, offset_bytes: eighths << 3, is_followed };
            let header = header(true, Fragmentation::Fragment(fragment), len);
            let _ = reassembler.handle_fragment(now, &header, fragment, &vec![1; len]);
            assert_sound(&reassembler);
        }
    }

    #[test]
    fn a_flood_of_long_packets_stays_within_the_bounds(count in 800_u16..1_200, per_packet in 1_u16..40) {
        let mut reassembler = Reassembler::default();
        for number in 0..count {
            let (identification, place) = (u32::from(number / per_packet), number % per_packet);
            let fragment = Fragment { identification, offset_bytes: place * 1_480, is_followed: true };
            let header = header(true, Fragmentation::Fragment(fragment), 1_480);
            let _ = reassembler.handle_fragment(Instant::START, &header, fragment, &[1; 1_480]);
        }
        assert_sound(&reassembler);
        prop_assert!(reassembler.charged_bytes() > 0);
    }
}
