//! Messages that nobody on this project wrote decode and re-encode byte for byte.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::io::Write as _;
use std::path::Path;

use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp3::{Msu, ServiceIndicator};
use slantpath_ss7::sccp::Message;

/// The messages of one protocol in the shared vectors; none, loudly, where the file is missing.
fn vectors(protocol: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pcap/hex-vectors.tsv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        writeln!(std::io::stderr(), "SKIPPED: there are no shared vectors here").expect("stderr is open");
        return Vec::new();
    };
    let messages: Vec<Vec<u8>> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.strip_prefix(protocol)?.strip_prefix('\t')?.rsplit('\t').next())
        .map(|hex| {
            let digits: Vec<u8> =
                hex.bytes().map(|b| u8::try_from(char::from(b).to_digit(16).unwrap()).unwrap()).collect();
            digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
        })
        .collect();
    assert!(!messages.is_empty(), "the shared vectors have no {protocol}");
    messages
}

fn assert_sccp_round_trips(octets: &[u8]) {
    let message = Message::parse(octets).unwrap_or_else(|error| panic!("{octets:02x?}: {error}"));
    let mut emitted = Vec::new();
    message.emit(&mut emitted).unwrap();
    assert_eq!(emitted, octets, "{message:?}");
}

#[test]
fn sccp_vectors_re_encode() {
    for octets in vectors("sccp") {
        assert_sccp_round_trips(&octets);
    }
}

#[test]
fn mtp3_vectors_re_encode() {
    for octets in vectors("mtp3") {
        let msu = Msu::parse(&octets, PointCodeFormat::Itu).unwrap();
        let mut emitted = Vec::new();
        msu.emit(PointCodeFormat::Itu, &mut emitted);
        assert_eq!(emitted, octets);
        if msu.service.indicator == ServiceIndicator::SCCP {
            assert_sccp_round_trips(msu.user_part);
        }
    }
}
