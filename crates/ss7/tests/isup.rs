//! ISUP messages that nobody on this project wrote: they decode, re-encode octet for octet, and say what tshark prints.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::isup::{CalledPartyNumber, CallingPartyNumber, Message, ParameterCode};
use slantpath_ss7::mtp2::SignalUnit;
use slantpath_ss7::mtp3::Msu;

/// A shared file, or `None`, loudly.
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pcap").join(name);
    if !path.exists() {
        writeln!(std::io::stderr(), "SKIPPED: there is no shared {name} here").expect("stderr is open");
        return None;
    }
    Some(path)
}

fn assert_re_encodes(octets: &[u8]) -> Message {
    let message = Message::parse(octets).unwrap_or_else(|error| panic!("{octets:02x?}: {error}"));
    let mut emitted = Vec::new();
    message.emit(&mut emitted).unwrap();
    assert_eq!(emitted, octets, "{message:?}");
    message
}

#[test]
fn isup_vectors_re_encode() {
    let Some(path) = shared("hex-vectors.tsv") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut count = 0;
    for line in text.lines().filter(|line| line.starts_with("isup\t")) {
        let hex = line.rsplit('\t').next().unwrap().as_bytes();
        let octets: Vec<u8> = hex
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect();
        assert_re_encodes(&octets);
        count += 1;
    }
    assert_eq!(count, 7);
}

/// Units of a little-endian pcapng file of link type MTP2, without their check bits.
fn units(file: &[u8]) -> Vec<&[u8]> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let (mut at, mut units) = (0, Vec::new());
    while at < file.len() {
        if word(at) == 6 {
            units.push(&file[at + 28..at + 26 + word(at + 20)]);
        }
        at += word(at + 4);
    }
    units
}

/// What tshark prints of every packet, a line each.
fn tshark(path: &Path) -> Option<String> {
    let fields =
        ["mtp3.opc", "mtp3.dpc", "mtp3.sls", "isup.cic", "isup.message_type", "isup.called", "isup.calling"];
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-T", "fields", "-E", "separator=;"]);
    for field in fields {
        command.args(["-e", field]);
    }
    match command.output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).unwrap()),
        Ok(output) => panic!("tshark: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{error}: apt-get install tshark");
            writeln!(std::io::stderr(), "SKIPPED: there is no tshark here").expect("stderr is open");
            None
        }
    }
}

#[test]
fn captured_calls_read_as_tshark_prints_them() {
    let Some(path) = shared("isup_load_generator.pcap") else { return };
    let Some(printed) = tshark(&path) else { return };
    let file = std::fs::read(&path).unwrap();
    let mut ours = String::new();
    for octets in units(&file) {
        let SignalUnit::Message { body, .. } = SignalUnit::parse(octets).unwrap() else {
            panic!("a message")
        };
        let msu = Msu::parse(&body, PointCodeFormat::Itu).unwrap();
        let message = assert_re_encodes(msu.user_part);
        let called = message.value(ParameterCode::CALLED_PARTY_NUMBER);
        let called = called.map(|value| CalledPartyNumber::parse(value).unwrap().digits.to_string());
        let calling = message.value(ParameterCode::CALLING_PARTY_NUMBER);
        let calling = calling.map(|value| CallingPartyNumber::parse(value).unwrap().digits.to_string());
        let label = msu.label;
        writeln!(
            ours,
            "{};{};{};{};{};{};{}",
            label.opc.0,
            label.dpc.0,
            label.sls.0,
            message.circuit.0,
            message.kind.0,
            called.unwrap_or_default(),
            calling.unwrap_or_default(),
        )
        .unwrap();
    }
    assert_eq!(ours.lines().count(), 5_265);
    for (ours, theirs) in ours.lines().zip(printed.lines()) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(printed.lines().count(), 5_265);
}
