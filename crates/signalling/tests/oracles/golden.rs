//! Our messages as they are kept: layer, our name, tshark's name, octets. `SLANTPATH_UPDATE=1` writes the file anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use slantpath_testkit::page;

use crate::sample::Sample;
use crate::{adaptation, capture, tshark, units, user_parts};

pub(crate) fn samples() -> Vec<Sample> {
    [adaptation::samples(), user_parts::samples()].concat()
}

const FILE: &str = "crates/signalling/tests/oracles/messages.tsv";

/// The file, given what tshark calls each message.
fn table(samples: &[Sample], names: &[String]) -> String {
    let mut table = String::from("#layer\tname\ttshark\thex\n");
    for (sample, name) in samples.iter().zip(names) {
        write!(table, "{}\t{}\t{name}\t", sample.layer, sample.name).unwrap();
        sample.octets.iter().for_each(|octet| write!(table, "{octet:02x}").unwrap());
        table.push('\n');
    }
    table
}

/// The column with tshark's names.
pub(crate) fn names() -> Vec<String> {
    let kept = std::fs::read_to_string(page::path(FILE)).unwrap_or_default();
    kept.lines().skip(1).map(|line| line.split('\t').nth(2).unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_message_is_written_as_it_was() {
    let samples = [samples(), units::samples()].concat();
    let names = if page::is_update() {
        let of_capture = tshark::names(&capture::of(&self::samples()));
        [of_capture, units::names()].map(|names| names.expect("tshark is needed to write the table")).concat()
    } else {
        names()
    };
    assert_eq!(names.len(), samples.len());
    page::hold(FILE, &table(&samples, &names));
}

#[test]
fn every_layer_is_there_with_all_its_messages() {
    let samples = [samples(), units::samples()].concat();
    let count = |layer| {
        let names: BTreeSet<_> =
            samples.iter().filter(|sample| sample.layer == layer).map(|sample| &sample.name).collect();
        names.len()
    };
    let expected = [
        ("m3ua", 23),
        ("m2ua", 31),
        ("sua", 35),
        ("iua", 26),
        ("m2pa", 11),
        ("sccp", 20),
        ("scmg", 6),
        ("isup", 46),
        ("tcap", 5),
        ("mtp3", 31),
        ("mtp2", 8),
    ];
    assert_eq!(expected.map(|(layer, _)| (layer, count(layer))), expected);
}
