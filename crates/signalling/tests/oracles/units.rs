//! Every signal unit of MTP2, with its check bits, in a capture of that link type.

use slantpath_ss7::mtp2::{self, Header, SignalUnit, frame_check};
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_testkit::{Tshark, pcap};

use crate::golden;
use crate::sample::{FREE_SUBSYSTEM, Sample, msu, unitdata};
use crate::user_parts::begin;

const HEADER: Header = Header { bsn: 127, bib: true, fsn: 5, fib: false };

/// Units between their flags, without check bits.
pub(crate) fn samples() -> Vec<Sample> {
    let body = msu(ServiceIndicator::SCCP, &unitdata(FREE_SUBSYSTEM, begin()));
    let units = [
        ("FISU", SignalUnit::FillIn(HEADER)),
        ("SIO", SignalUnit::Status(HEADER, mtp2::LinkStatus::OutOfAlignment)),
        ("SIN", SignalUnit::Status(HEADER, mtp2::LinkStatus::Normal)),
        ("SIE", SignalUnit::Status(HEADER, mtp2::LinkStatus::Emergency)),
        ("SIOS", SignalUnit::Status(HEADER, mtp2::LinkStatus::OutOfService)),
        ("SIPO", SignalUnit::Status(HEADER, mtp2::LinkStatus::ProcessorOutage)),
        ("SIB", SignalUnit::Status(HEADER, mtp2::LinkStatus::Busy)),
        ("MSU", SignalUnit::Message { header: HEADER, spare: 0, body: body.into() }),
    ];
    let sample = |(name, unit): (&str, SignalUnit)| {
        let mut octets = Vec::new();
        unit.emit(&mut octets);
        assert_eq!(SignalUnit::parse(&octets).as_ref(), Ok(&unit));
        Sample::new("mtp2", name, octets)
    };
    units.map(sample).into()
}

fn read(fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let framed =
        samples().into_iter().map(|Sample { octets, .. }| [&octets[..], &frame_check(&octets)].concat());
    Tshark::of_octets("units", &pcap::write(pcap::MTP2, framed))
        .prefer("mtp2.capture_contains_frame_check_sequence:TRUE")
        .rows(fields)
}

/// Names that tshark gives each unit.
pub(crate) fn names() -> Option<Vec<String>> {
    Some(read(&["_ws.col.Info"])?.into_iter().map(|row| row.concat()).collect())
}

#[test]
fn every_unit_has_the_name_that_tshark_gives_it() {
    let Some(names) = names() else { return };
    let kept = golden::names();
    assert_eq!(names, kept[kept.len() - names.len()..]);
}

#[test]
fn tshark_reads_numbers_lengths_and_check_bits() {
    let fields = [
        "mtp2.bsn",
        "mtp2.bib",
        "mtp2.fsn",
        "mtp2.fib",
        "mtp2.li",
        "mtp2.fcs_16.status",
        "_ws.malformed",
        "_ws.expert.severity",
    ];
    let Some(rows) = read(&fields) else { return };
    for (sample, row) in samples().iter().zip(rows) {
        let length = (sample.octets[2] & 0x3f).to_string();
        let expected = ["127", "1", "5", "0", &length, "1", "", ""];
        assert_eq!(row, expected, "{sample:?}");
    }
}
