//! A real capture of a signalling link: every unit decodes, its check bits fit, and it re-encodes byte for byte.

use std::io::Write as _;
use std::path::Path;

use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp2::{SignalUnit, frame_check};
use slantpath_ss7::mtp3::{Msu, ServiceIndicator};

/// Enhanced packet blocks of a little-endian pcapng file.
fn packets(file: &[u8]) -> Vec<&[u8]> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let (mut at, mut packets) = (0, Vec::new());
    while at < file.len() {
        let (kind, len) = (word(at), word(at + 4));
        if kind == 6 {
            packets.push(&file[at + 28..at + 28 + word(at + 20)]);
        }
        at += len;
    }
    packets
}

#[test]
fn the_captured_link_re_encodes_with_its_check_bits() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pcap/isup_load_generator.pcap");
    let Ok(file) = std::fs::read(path) else {
        writeln!(std::io::stderr(), "SKIPPED: there is no shared capture here").unwrap();
        return;
    };
    let packets = packets(&file);
    assert_eq!(packets.len(), 5_265);
    for octets in packets {
        let (unit, check) = octets.split_at(octets.len() - 2);
        assert_eq!(frame_check(unit), check);
        let parsed = SignalUnit::parse(unit).unwrap();
        let mut emitted = Vec::new();
        parsed.emit(&mut emitted);
        assert_eq!(emitted, unit);
        let SignalUnit::Message { body, .. } = parsed else { panic!("the capture has messages only") };
        let msu = Msu::parse(&body, PointCodeFormat::Itu).unwrap();
        assert_eq!(msu.service.indicator, ServiceIndicator::ISUP);
        let mut emitted = Vec::new();
        msu.emit(PointCodeFormat::Itu, &mut emitted);
        assert_eq!(emitted, body);
    }
}
