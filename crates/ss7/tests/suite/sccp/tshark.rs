//! An independent reader judges what we write, and we what it reads out of real captures.

use slantpath_ss7::mtp3::{Msu, RoutingLabel, ServiceInformation, Sls};
use slantpath_ss7::sccp::{
    AddressFormat, Digits, GlobalTitle, LocalReference, Message, OptionalParameters, Parameter, PartyAddress,
    ProtocolClass, Segmentation, SequencingSegmenting, Ssn,
};
use slantpath_ss7::{PointCode, PointCodeFormat};
use slantpath_testkit::{Tshark, pcap, shared, vectors};

use super::net::titled;

fn msu(sccp: &[u8]) -> Vec<u8> {
    msu_as(PointCodeFormat::Itu, sccp)
}

fn msu_as(format: PointCodeFormat, sccp: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let label = RoutingLabel { dpc: PointCode(2), opc: PointCode(1), sls: Sls(3) };
    let service = ServiceInformation::from_octet(0x83);
    Msu { service, label, user_part: sccp }.emit(format, &mut octets);
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
    let file = pcap::write(pcap::MTP3, written);
    let fields = [
        "sccp.message_type",
        "sccp.called.digits",
        "sccp.calling.digits",
        "sccp.called.ssn",
        "sccp.slr",
        "sccp.dlr",
        "sccp.hops",
        "_ws.malformed",
        "_ws.expert.message",
    ];
    let Some(rows) = Tshark::of_octets("sccp-messages", &file).rows(&fields) else { return };
    assert_eq!(rows.len(), 20, "{rows:?}");
    let (digits, calling) = ("491712345678", "33123");
    let expected = (1..=20).map(|kind| {
        let called = matches!(kind, 1 | 9 | 10 | 17..=20);
        let (called, ssn) = if called { (digits, "100") } else { ("", "") };
        let calling = if matches!(kind, 9 | 10 | 17..=20) { calling } else { "" };
        let source = if matches!(kind, 1 | 2 | 4 | 5 | 13 | 14 | 16) { "0x010203" } else { "" };
        let destination = if matches!(kind, 2..=8 | 11..=16) { "0xa0b0c0" } else { "" };
        let hops = if kind >= 17 { "0x09" } else { "" };
        let kind = format!("0x{kind:02x}");
        [&kind, called, calling, ssn, source, destination, hops, "", ""].map(str::to_owned)
    });
    assert_eq!(rows, expected.collect::<Vec<_>>());
}

/// Addresses of ANSI with each part there and not, but for those that say to route on what they lack.
fn ansi_addresses() -> Vec<PartyAddress> {
    let digits = |text: &str| Digits::parse(text).unwrap();
    let titles = [
        None,
        Some(GlobalTitle::with(Some(10), None, None, digits("123456"))),
        Some(GlobalTitle::with(Some(11), Some(1), None, digits("8005551"))),
        Some(GlobalTitle::with(Some(12), Some(6), None, digits("80055512"))),
    ];
    let mut addresses = Vec::new();
    for global_title in titles {
        for ssn in [None, Some(Ssn(8)), Some(Ssn(247))] {
            for point_code in [None, Some(PointCode(0x0001_0203)), Some(PointCode(0x00ff_fe80))] {
                for routes_on_ssn in [false, true] {
                    let is_sound = if routes_on_ssn { ssn.is_some() } else { global_title.is_some() };
                    let global_title = global_title.clone();
                    let address = PartyAddress {
                        routes_on_ssn,
                        national: true,
                        point_code,
                        spare: 0,
                        ssn,
                        global_title,
                    };
                    addresses.extend(is_sound.then_some(address));
                }
            }
        }
    }
    addresses
}

/// One end of a message as tshark prints it: routing, subsystem, point code, translation type, plan, digits.
fn as_tshark_prints(address: &PartyAddress) -> String {
    let attributes = address.global_title.as_ref().map(GlobalTitle::attributes).unwrap_or_default();
    let point_code = address.point_code.map(|code| {
        let [_, network, cluster, member] = code.0.to_be_bytes();
        // The three forms of the one field.
        format!("{network}-{cluster}-{member},{},{:#x}", code.0, code.0)
    });
    [
        format!("0x{:02x}", u8::from(address.routes_on_ssn)),
        address.ssn.map(|ssn| ssn.0.to_string()).unwrap_or_default(),
        point_code.unwrap_or_default(),
        attributes.translation_type.map(|number| format!("0x{number:02x}")).unwrap_or_default(),
        attributes.plan.map(|number| format!("0x{number:02x}")).unwrap_or_default(),
        digits(address),
    ]
    .join(";")
}

#[test]
fn tshark_reads_our_ansi_addresses_as_we_do() {
    let addresses = ansi_addresses();
    assert!(addresses.len() > 30);
    let class = ProtocolClass { class: 0, handling: 0 };
    let mut written = Vec::new();
    for (called, calling) in addresses.iter().zip(addresses.iter().rev()) {
        let message =
            Message::Udt { class, called: called.clone(), calling: calling.clone(), data: vec![1, 2, 3, 4] };
        let mut octets = Vec::new();
        message.emit_as(AddressFormat::Ansi, &mut octets).unwrap();
        written.push(msu_as(PointCodeFormat::Ansi, &octets));
    }
    let fields = ["ri", "ssn", "ansi_pc", "tt", "np", "digits"];
    let mut names: Vec<String> = Vec::new();
    for end in ["called", "calling"] {
        names.extend(fields.map(|field| format!("sccp.{end}.{field}")));
    }
    names.extend(["_ws.malformed", "_ws.expert.message"].map(String::from));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let file = pcap::write(pcap::MTP3, &written);
    let Some(rows) = Tshark::of_octets("sccp-ansi", &file).prefer("mtp3.standard:ANSI").rows(&names) else {
        return;
    };
    let ours: Vec<String> = addresses
        .iter()
        .zip(addresses.iter().rev())
        .map(|(called, calling)| format!("{};{};;", as_tshark_prints(called), as_tshark_prints(calling)))
        .collect();
    assert_eq!(rows.iter().map(|row| row.join(";")).collect::<Vec<_>>(), ours);
}

/// The digits as we read them.
fn digits(address: &PartyAddress) -> String {
    address.global_title.as_ref().map(|title| title.digits().to_string()).unwrap_or_default()
}

#[test]
fn real_captures_decode_and_encode_to_the_same_octets() {
    let Some(path) = shared::path("pcap/sctp-keywords.pcap") else { return };
    let tshark = Tshark::of_file(&path);
    let Some(text) = tshark.print(&["-Y", "sccp", "-T", "json", "-x", "-j", "sccp"]) else { return };
    let messages: Vec<&str> =
        text.split("\"sccp_raw\": [").skip(1).filter_map(|rest| rest.split('"').nth(1)).collect();
    assert_eq!(messages.len(), 3);
    for hex in messages {
        let octets = vectors::octets(hex);
        let mut written = Vec::new();
        Message::parse(&octets).unwrap().emit(&mut written).unwrap();
        assert_eq!(written, octets);
    }
}

#[test]
fn the_addresses_of_the_vectors_read_as_tshark_prints_them() {
    let Some(messages) = vectors::of("sccp") else { return };
    assert!(messages.len() >= 7);
    let file = pcap::write(pcap::MTP3, messages.iter().map(|octets| msu(octets)));
    let fields = [
        "sccp.message_type",
        "sccp.called.digits",
        "sccp.calling.digits",
        "sccp.called.ssn",
        "sccp.calling.ssn",
    ];
    let Some(rows) = Tshark::of_octets("sccp-vectors", &file).rows(&fields) else { return };
    let ours: Vec<_> = messages
        .iter()
        .map(|octets| {
            let Ok(Message::Udt { called, calling, .. }) = Message::parse(octets) else { panic!("UDT") };
            let ssn = |address: &PartyAddress| address.ssn.map_or(String::new(), |ssn| ssn.0.to_string());
            ["0x09".to_owned(), digits(&called), digits(&calling), ssn(&called), ssn(&calling)]
        })
        .collect();
    assert_eq!(rows, ours);
}
