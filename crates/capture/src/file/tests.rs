use proptest::prelude::*;
use slantpath_testkit::pcap;
use slantpath_wire::pcapng::{Direction, Writer};

use super::*;

/// All frames of a file, and the error that ends it.
fn read(file: &[u8]) -> (Vec<CapturedFrame>, Option<CaptureError>) {
    let mut reader = match CaptureReader::open(file) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut frames = Vec::new();
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, None),
            Err(error) => {
                assert!(matches!(reader.next_frame(), Ok(None)), "nothing follows an error");
                return (frames, Some(error));
            }
        }
    }
}

fn whole(file: &[u8]) -> Vec<CapturedFrame> {
    let (frames, error) = read(file);
    assert!(error.is_none(), "{error:?}");
    frames
}

/// Number, time in nanoseconds, bytes, and length on the link.
fn told(frames: &[CapturedFrame]) -> Vec<(u64, u64, Vec<u8>, u32)> {
    let tell = |frame: &CapturedFrame| {
        let nanos = frame.time.unwrap_or_default().as_nanos();
        (frame.number, nanos, frame.bytes.to_vec(), frame.original_len)
    };
    frames.iter().map(tell).collect()
}

fn classic(magic: u32, to_bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let words = [magic, 0x0004_0002, 0, 0, 65_535, 1 | 0xf000_0000, 3, 5, 2, 60];
    let mut file = words.map(to_bytes).concat();
    file.extend([7, 8]);
    file
}

#[test]
fn classic_files_are_read_in_each_order_and_unit() {
    for (magic, nanos) in [(MICROSECONDS, 3_000_005_000), (NANOSECONDS, 3_000_000_005)] {
        for to_bytes in [u32::to_le_bytes, u32::to_be_bytes] {
            let frames = whole(&classic(magic, to_bytes));
            assert_eq!(told(&frames), [(1, nanos, vec![7, 8], 60)]);
            assert_eq!(frames[0].link, LinkType(1));
        }
    }
}

/// A block of a big-endian section.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut block = kind.to_be_bytes().to_vec();
    let length = u32::try_from(body.len().next_multiple_of(4) + 12).unwrap().to_be_bytes();
    block.extend(length);
    block.extend_from_slice(body);
    block.resize(block.len().next_multiple_of(4), 0);
    block.extend(length);
    block
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn section() -> Vec<u8> {
    block(SECTION_HEADER, &words(&[BYTE_ORDER_MAGIC, 0x0001_0000, u32::MAX, u32::MAX]))
}

/// Ethernet, with a limit of 6 bytes a packet.
fn interface() -> Vec<u8> {
    block(INTERFACE_DESCRIPTION, &words(&[0x0001_0000, 6]))
}

#[test]
fn every_kind_of_packet_block_is_read_in_sections_of_either_order() {
    let mut file = section();
    file.extend(interface());
    file.extend(block(4, &vec![0; 900_000]));
    file.extend(block(ENHANCED_PACKET, &[words(&[0, 0, 5, 3, 9]), vec![1, 2, 3, 0]].concat()));
    file.extend(block(OBSOLETE_PACKET, &[words(&[0, 0, 6, 1, 1]), vec![4]].concat()));
    file.extend(block(SIMPLE_PACKET, &[words(&[20]), vec![5; 6]].concat()));
    let mut writer = Writer::new();
    let raw = writer.interface("a");
    writer.packet(raw, Instant::from_nanos(77), &[9; 5], Direction::Inbound, Some("hm"));
    file.extend(writer.take());
    let frames = whole(&file);
    let expected = [
        (1, 5_000, vec![1, 2, 3], 9),
        (2, 6_000, vec![4], 1),
        (3, 0, vec![5; 6], 20),
        (4, 77, vec![9; 5], 5),
    ];
    assert_eq!(told(&frames), expected);
    assert_eq!(frames[2].time, None);
    let places: Vec<_> = frames.iter().map(|frame| (frame.interface, frame.link.0)).collect();
    assert_eq!(places, [(0, 1), (0, 1), (0, 1), (1, 101)]);
}

#[test]
fn errors_say_where_a_file_is_wrong() {
    let error = |file: &[u8]| read(file).1.map_or_else(String::new, |error| error.to_string());
    assert_eq!(error(b""), "the file is empty");
    assert_eq!(error(b"ab"), "at byte 0: the file ends after 2 of 4 bytes, before frame 0 is whole");
    assert_eq!(error(&[0x1f, 0x8b, 8, 0]), "it is no capture: it begins with the bytes [1f, 8b, 08, 00]");
    let classic = classic(MICROSECONDS, u32::to_le_bytes);
    let cut = "at byte 24: the file ends after 17 of 18 bytes, before frame 1 is whole";
    assert_eq!(error(&classic[..41]), cut);
    let mut long = classic;
    long[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
    let wanted = "at byte 24: frame 1 has 4294967295 bytes, and no more than 16777216 can be there";
    assert_eq!(error(&long), wanted);

    let start = [section(), interface()].concat();
    let with = |more: &[u8]| error(&[&start[..], more].concat());
    assert_eq!(start.len(), 48);
    let packet = |interface: u32, len: u32| {
        block(ENHANCED_PACKET, &[words(&[interface, 0, 5, len, 9]), vec![1, 2, 3, 0]].concat())
    };
    assert_eq!(with(&packet(0, 4)), "");
    assert_eq!(with(&packet(1, 3)), "at byte 48: frame 1 is of interface 1, and 1 are described before it");
    assert_eq!(with(&packet(0, 5)), "at byte 48: frame 1 has 5 bytes, and no more than 4 can be there");
    assert_eq!(with(&words(&[6, 10, 0])), "at byte 48: a block of 10 bytes, which cannot be");
    assert_eq!(with(&words(&[6, 16, 0, 20])), "at byte 48: a block of 16 bytes, which cannot be");
    assert_eq!(with(&block(ENHANCED_PACKET, &[0; 8])), "at byte 48: a block of 20 bytes, which cannot be");
    let cut = "at byte 48: the file ends after 20 of 36 bytes, before frame 1 is whole";
    assert_eq!(with(&packet(0, 4)[..20]), cut);
    let order = block(SECTION_HEADER, &words(&[5, 0, 0, 0]));
    assert_eq!(with(&order), "at byte 48: a section in no order of bytes (0x00000005)");
    let clock = block(INTERFACE_DESCRIPTION, &words(&[0x0001_0000, 6, 0x0009_0001, 0x7f00_0000]));
    assert_eq!(with(&clock), "at byte 48: an interface counts time in units of its own (0x7f)");
}

#[test]
fn a_stream_that_comes_in_small_pieces_is_read_alike() {
    struct Pieces<'a>(&'a [u8]);
    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let len = self.0.len().min(3).min(buffer.len());
            buffer[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }
    let file = pcap::write(1, (0..50_u8).map(|len| vec![len; usize::from(len)]));
    let mut reader = CaptureReader::open(Pieces(&file)).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        frames.push(frame);
    }
    assert_eq!(frames, whole(&file));
    assert_eq!((frames.len(), reader.frames(), reader.offset()), (50, 50, file.len() as u64));
}

proptest! {
    #[test]
    fn any_bytes_end_in_frames_or_an_error(start in 0_usize..3, bytes: Vec<u8>) {
        let head = [Vec::new(), section(), [section(), interface()].concat()][start].clone();
        let _ = read(&[head, bytes].concat());
    }

    #[test]
    fn a_broken_file_ends_in_frames_or_an_error(
        is_classic: bool,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut: prop::sample::Index,
    ) {
        let mut file = if is_classic {
            pcap::write(1, [[1_u8; 40], [2; 40]])
        } else {
            let mut writer = Writer::new();
            let interface = writer.interface("a");
            for _ in 0..2 {
                writer.packet(interface, Instant::START, &[1; 40], Direction::Outbound, Some("x"));
            }
            writer.take()
        };
        for (place, value) in changes {
            let place = place.index(file.len());
            file[place] = value;
        }
        let cut = cut.index(file.len() + 1);
        for file in [&file[..], &file[..cut]] {
            let (frames, _) = read(file);
            let bytes: usize = frames.iter().map(|frame| frame.bytes.len()).sum();
            prop_assert!(bytes <= file.len());
        }
    }
}
