//! Messages that nobody on this project wrote decode, and re-encode to the same parameters. Their order may
//! differ: the RFC lets a sender choose it, and one of the vectors has the routing context last.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::io::Write as _;
use std::path::Path;

use slantpath_sigtran::common::Frame;
use slantpath_sigtran::m3ua::Message;

/// The messages of one protocol in the shared vectors; none, loudly, where the file is missing.
fn vectors(protocol: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pcap/hex-vectors.tsv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        writeln!(std::io::stderr(), "SKIPPED: there are no shared vectors here").expect("stderr is open");
        return Vec::new();
    };
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16).unwrap()).unwrap();
    let messages: Vec<Vec<u8>> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.strip_prefix(protocol)?.strip_prefix('\t')?.rsplit('\t').next())
        .map(|hex| hex.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect())
        .collect();
    assert!(!messages.is_empty(), "the shared vectors have no {protocol}");
    messages
}

/// The parameters of a message, in order of tag and value.
fn parameters(octets: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let frame = Frame::parse(octets).unwrap();
    let mut parameters: Vec<_> = frame.parameters().map(|p| (p.kind, p.value.to_vec())).collect();
    parameters.sort();
    parameters
}

#[test]
fn m3ua_vectors_re_encode() {
    for octets in vectors("m3ua") {
        let message = Message::parse(&octets).unwrap_or_else(|error| panic!("{octets:02x?}: {error}"));
        let mut emitted = Vec::new();
        message.emit(&mut emitted);
        assert_eq!(emitted.len(), octets.len(), "{message:?}");
        assert_eq!(parameters(&emitted), parameters(&octets), "{message:?}");
    }
}
