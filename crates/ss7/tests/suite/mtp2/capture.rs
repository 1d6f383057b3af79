//! A real capture of a signalling link: every unit decodes, its check bits fit, and it re-encodes byte for byte.

use std::collections::BTreeMap;

use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::load::Lengths;
use slantpath_ss7::mtp2::{SignalUnit, frame_check};
use slantpath_ss7::mtp3::{Msu, ServiceIndicator};
use slantpath_testkit::{pcap, shared};

#[test]
fn the_captured_link_re_encodes_with_its_check_bits() {
    let Some(file) = shared::octets("pcap/isup_load_generator.pcap") else { return };
    let packets = pcap::read_pcapng(&file);
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

/// The distribution that loads may take is that of the capture, whose units come without their flag.
#[test]
fn the_lengths_of_isup_calls_are_those_of_the_capture() {
    let Some(file) = shared::octets("pcap/isup_load_generator.pcap") else { return };
    let mut captured = BTreeMap::<usize, f64>::new();
    for octets in pcap::read_pcapng(&file) {
        *captured.entry(octets.len() + 1).or_default() += 1.0;
    }
    assert_eq!(Lengths::isup_calls(), Lengths::Mix(captured.into_iter().collect()));
}
