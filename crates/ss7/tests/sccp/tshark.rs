//! An independent reader judges what we write, and we what it reads out of real captures.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use slantpath_ss7::mtp3::{Msu, RoutingLabel, ServiceInformation, Sls};
use slantpath_ss7::sccp::{
    Digits, GlobalTitle, LocalReference, Message, OptionalParameters, Parameter, PartyAddress, ProtocolClass,
    Segmentation, SequencingSegmenting, Ssn,
};
use slantpath_ss7::{PointCode, PointCodeFormat};

use crate::net::titled;

/// What tshark prints; `None`, loudly, where it is not installed.
fn tshark(capture: &Path, arguments: &[&str]) -> Option<String> {
    let Ok(output) = Command::new("tshark").arg("-r").arg(capture).args(arguments).output() else {
        assert!(std::env::var_os("CI").is_none(), "tshark is missing: apt-get install tshark");
        writeln!(std::io::stderr(), "SKIPPED: tshark is not installed").expect("stderr is open");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// A capture of MTP3 messages (link type 141).
fn capture(name: &str, messages: &[Vec<u8>]) -> PathBuf {
    let mut file = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 141].map(u32::to_le_bytes).concat();
    for (second, octets) in (0_u32..).zip(messages) {
        let len = u32::try_from(octets.len()).unwrap();
        file.extend([second, 0, len, len].map(u32::to_le_bytes).concat());
        file.extend_from_slice(octets);
    }
    let path = std::env::temp_dir().join(format!("slantpath-{name}-{}.pcap", std::process::id()));
    std::fs::write(&path, file).unwrap();
    path
}

fn msu(sccp: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let label = RoutingLabel { dpc: PointCode(2), opc: PointCode(1), sls: Sls(3) };
    let service = ServiceInformation::from_octet(0x83);
    Msu { service, label, user_part: sccp }.emit(PointCodeFormat::Itu, &mut octets);
    octets
}

fn one_of_each() -> Vec<Message> {
    let (source, destination) = (LocalReference(0x0001_0203), LocalReference(0x00a0_b0c0));
    let class = |class| ProtocolClass { class, handling: 0 };
    let called = || titled("491712345678", Ssn(100));
    let calling = || {
        let title = GlobalTitle::Nature { nature: 4, digits: Digits::parse("33123").unwrap(), filler: 0 };
        PartyAddress { ssn: Some(Ssn(101)), global_title: Some(title), ..PartyAddress::default() }
    };
    let parameter = |name, value: &[u8]| Parameter { name, value: value.to_vec() };
    let segmentation =
        Segmentation { first: true, in_sequence: true, remaining: 1, reference: LocalReference(7) };
    let optional = || {
        OptionalParameters(vec![
            parameter(Parameter::SEGMENTATION, &segmentation.emit()),
            parameter(Parameter::IMPORTANCE, &[5]),
        ])
    };
    let with_data = || OptionalParameters(vec![parameter(Parameter::DATA, b"hello")]);
    let sequencing = SequencingSegmenting { send: 5, receive: 6, more: false };
    let data = || vec![1, 2, 3, 4];
    let hop_counter = 9;
    vec![
        Message::Cr { source, class: class(3), called: called(), optional: with_data() },
        Message::Cc { destination, source, class: class(3), optional: with_data() },
        Message::Cref { destination, cause: 3, optional: with_data() },
        Message::Rlsd { destination, source, cause: 0, optional: OptionalParameters::default() },
        Message::Rlc { destination, source },
        Message::Dt1 { destination, more: true, data: data() },
        Message::Dt2 { destination, sequencing, data: data() },
        Message::Ak { destination, receive: 5, credit: 8 },
        Message::Udt { class: class(0), called: called(), calling: calling(), data: data() },
        Message::Udts { cause: 1, called: called(), calling: calling(), data: data() },
        Message::Ed { destination, data: data() },
        Message::Ea { destination },
        Message::Rsr { destination, source, cause: 2 },
        Message::Rsc { destination, source },
        Message::Err { destination, cause: 1 },
        Message::It { destination, source, class: class(3), sequencing, credit: 8 },
        Message::Xudt {
            class: class(1),
            hop_counter,
            called: called(),
            calling: calling(),
            data: data(),
            optional: OptionalParameters(vec![parameter(Parameter::IMPORTANCE, &[5])]),
        },
        Message::Xudts {
            cause: 12,
            hop_counter,
            called: called(),
            calling: calling(),
            data: data(),
            optional: optional(),
        },
        Message::Ludt {
            class: class(1),
            hop_counter,
            called: called(),
            calling: calling(),
            data: vec![7; 600],
            optional: OptionalParameters(vec![parameter(Parameter::IMPORTANCE, &[5])]),
        },
        Message::Ludts {
            cause: 12,
            hop_counter,
            called: called(),
            calling: calling(),
            data: vec![7; 600],
            optional: OptionalParameters(vec![parameter(Parameter::IMPORTANCE, &[5])]),
        },
    ]
}

#[test]
fn tshark_reads_every_message_of_ours_without_complaint() {
    let messages = one_of_each();
    let written = messages.iter().map(|message| {
        let mut octets = Vec::new();
        message.emit(&mut octets).unwrap();
        msu(&octets)
    });
    let path = capture("sccp-messages", &written.collect::<Vec<_>>());
    let fields = [
        "-T",
        "fields",
        "-E",
        "separator=;",
        "-e",
        "sccp.message_type",
        "-e",
        "sccp.called.digits",
        "-e",
        "sccp.calling.digits",
        "-e",
        "sccp.called.ssn",
        "-e",
        "sccp.slr",
        "-e",
        "sccp.dlr",
        "-e",
        "sccp.hops",
        "-e",
        "_ws.malformed",
        "-e",
        "_ws.expert.message",
    ];
    let Some(text) = tshark(&path, &fields) else { return };
    std::fs::remove_file(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 20, "{text}");
    let (digits, calling) = ("491712345678", "33123");
    let expected = (1..=20).map(|kind| {
        let called = matches!(kind, 1 | 9 | 10 | 17..=20);
        let (called, ssn) = if called { (digits, "100") } else { ("", "") };
        let calling = if matches!(kind, 9 | 10 | 17..=20) { calling } else { "" };
        let source = if matches!(kind, 1 | 2 | 4 | 5 | 13 | 14 | 16) { "0x010203" } else { "" };
        let destination = if matches!(kind, 2..=8 | 11..=16) { "0xa0b0c0" } else { "" };
        let hops = if kind >= 17 { "0x09" } else { "" };
        format!("0x{kind:02x};{called};{calling};{ssn};{source};{destination};{hops};;")
    });
    assert_eq!(lines, expected.collect::<Vec<_>>());
}

/// The digits as we read them.
fn digits(address: &PartyAddress) -> String {
    address.global_title.as_ref().map(|title| title.digits().to_string()).unwrap_or_default()
}

#[test]
fn real_captures_decode_and_encode_to_the_same_octets() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pcap/sctp-keywords.pcap");
    if !path.exists() {
        writeln!(std::io::stderr(), "SKIPPED: there are no shared captures here").expect("stderr is open");
        return;
    }
    let Some(text) = tshark(&path, &["-Y", "sccp", "-T", "json", "-x", "-j", "sccp"]) else { return };
    let messages: Vec<&str> =
        text.split("\"sccp_raw\": [").skip(1).filter_map(|rest| rest.split('"').nth(1)).collect();
    assert_eq!(messages.len(), 3);
    for hex in messages {
        let octets = octets(hex);
        let mut written = Vec::new();
        Message::parse(&octets).unwrap().emit(&mut written).unwrap();
        assert_eq!(written, octets);
    }
}

fn octets(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn the_addresses_of_the_vectors_read_as_tshark_prints_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pcap/hex-vectors.tsv");
    let Ok(vectors) = std::fs::read_to_string(&path) else {
        writeln!(std::io::stderr(), "SKIPPED: there are no shared vectors here").expect("stderr is open");
        return;
    };
    let messages: Vec<Vec<u8>> = vectors
        .lines()
        .filter(|line| line.starts_with("sccp\t"))
        .map(|line| octets(line.rsplit('\t').next().unwrap()))
        .collect();
    assert!(messages.len() >= 7);
    let path = capture("sccp-vectors", &messages.iter().map(|octets| msu(octets)).collect::<Vec<_>>());
    let fields = [
        "-T",
        "fields",
        "-E",
        "separator=;",
        "-E",
        "occurrence=f",
        "-e",
        "sccp.message_type",
        "-e",
        "sccp.called.digits",
        "-e",
        "sccp.calling.digits",
        "-e",
        "sccp.called.ssn",
        "-e",
        "sccp.calling.ssn",
    ];
    let Some(text) = tshark(&path, &fields) else { return };
    std::fs::remove_file(&path).unwrap();
    let ours: Vec<String> = messages
        .iter()
        .map(|octets| {
            let Ok(Message::Udt { called, calling, .. }) = Message::parse(octets) else { panic!("UDT") };
            let ssn = |address: &PartyAddress| address.ssn.map_or(String::new(), |ssn| ssn.0.to_string());
            format!("0x09;{};{};{};{}", digits(&called), digits(&calling), ssn(&called), ssn(&calling))
        })
        .collect();
    assert_eq!(text.lines().collect::<Vec<_>>(), ours);
}
