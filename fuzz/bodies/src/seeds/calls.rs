//! Whole calls, dialogues and sessions of signalling, message by message, by our own encoders.

use bytes::Bytes;
use slantpath_sigtran_adaptations::interface::InterfaceIdentifier;
use slantpath_sigtran_adaptations::iua::{self, Dlci, IuaParameter, ReleaseReason, TeiStatus};
use slantpath_sigtran_adaptations::message::OwnMessage;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp2::{self, Header, SignalUnit};
use slantpath_ss7::sccp::{
    self, Affected, Digits, GlobalTitle, PartyAddress, ProtocolClass, ScmgMessage, Ssn,
};
use slantpath_user_parts::isup::{
    self, CalledPartyNumber, CallingPartyNumber, CircuitIdentification, MessageType, ParameterCode,
};
use slantpath_user_parts::tcap::{self, AbortCause, Code, Component, Problem, TransactionId};

use super::Seeds;

pub(super) fn keep(seeds: &mut Seeds) {
    isup(seeds);
    tcap(seeds);
    iua(seeds);
    mtp2(seeds);
    sccp_node(seeds);
}

fn digits(text: &str) -> Digits {
    Digits::parse(text).expect("they are digits")
}

/// A call from its first message to its last, with what may come between, and circuits in groups.
fn isup(seeds: &mut Seeds) {
    use ParameterCode as Code;
    let mut called = Vec::new();
    let number = CalledPartyNumber {
        nature: 4,
        internal_not_allowed: true,
        plan: 1,
        digits: digits("49171234567f"),
        spare: 0,
        filler: 0,
    };
    number.emit(&mut called);
    seeds.keep("isup", "called-number", &called);
    let mut calling = Vec::new();
    let number = CallingPartyNumber {
        nature: 3,
        is_incomplete: false,
        plan: 1,
        presentation: 1,
        screening: 3,
        digits: digits("30123456789"),
        filler: 0,
    };
    number.emit(&mut calling);
    seeds.keep("isup", "calling-number", &calling);
    let iam: &[(Code, &[u8])] = &[
        (Code::NATURE_OF_CONNECTION, &[0x10]),
        (Code::FORWARD_CALL, &[0x60, 1]),
        (Code::CALLING_PARTY_CATEGORY, &[10]),
        (Code::TRANSMISSION_MEDIUM, &[3]),
        (Code::CALLED_PARTY_NUMBER, &called),
    ];
    let with_calling: &[(Code, &[u8])] =
        &[(Code::CALLING_PARTY_NUMBER, &calling), (Code::USER_TO_USER, &[0x55; 40])];
    let range: &[(Code, &[u8])] = &[(Code::RANGE_AND_STATUS, &[9, 0xff, 3])];
    let group: &[(Code, &[u8])] = &[(Code::GROUP_SUPERVISION, &[1]), (Code::RANGE_AND_STATUS, &[9, 0xff, 3])];
    let cause: &[(Code, &[u8])] = &[(Code::CAUSE, &[0x80, 0x90])];
    let none: &[(Code, &[u8])] = &[];
    for (name, kind, mandatory, optional) in [
        ("call-iam", MessageType::IAM, iam, Some(with_calling)),
        ("call-sam", MessageType::SAM, &[(Code::SUBSEQUENT_NUMBER, &[0x80, 0x21, 3][..])], None),
        ("call-cot", MessageType::COT, &[(Code::CONTINUITY, &[1][..])], None),
        ("call-acm", MessageType::ACM, &[(Code::BACKWARD_CALL, &[0x16, 4][..])], None),
        ("call-cpg", MessageType::CPG, &[(Code::EVENT, &[1][..])], Some(with_calling)),
        ("call-anm", MessageType::ANM, none, None),
        ("call-sus", MessageType::SUS, &[(Code::SUSPEND_RESUME, &[1][..])], None),
        ("call-res", MessageType::RES, &[(Code::SUSPEND_RESUME, &[1][..])], None),
        ("call-rel", MessageType::REL, cause, Some(with_calling)),
        ("call-rlc", MessageType::RLC, none, None),
        ("group-reset", MessageType::GRS, &range[..1], None),
        ("group-blocking", MessageType::CGB, group, None),
        ("confusion", MessageType::CFN, cause, None),
    ] {
        let parameters = |list: &[(Code, &[u8])]| {
            let parameter = |(code, value): &(Code, &[u8])| isup::Parameter {
                code: *code,
                value: Bytes::copy_from_slice(value),
            };
            list.iter().map(parameter).collect::<Vec<_>>()
        };
        let message = isup::Message {
            circuit: CircuitIdentification(0x123),
            spare: 0,
            kind,
            mandatory: parameters(mandatory),
            optional: optional.map(parameters),
        };
        let mut out = Vec::new();
        message.emit(&mut out).expect("its parameters are those of its type");
        seeds.keep("isup", name, out);
    }
}

/// A dialogue of three invocations, each with another outcome, and each message by itself.
fn tcap(seeds: &mut Seeds) {
    let (ours, theirs) = (TransactionId::new(0x0102_0304), TransactionId { value: 9, octets: 1 });
    let parameter = || Bytes::from_static(&[0x30, 4, 0x80, 2, 0x21, 0x43]);
    let invoke =
        |invoke, linked, operation| Component::Invoke { invoke, linked, operation, parameter: parameter() };
    let global = Code::Global(Bytes::from_static(&[4, 0, 0, 1]));
    let dialogue = Some(Bytes::from_static(&[
        0x6b, 0x14, 0x28, 0x12, 6, 7, 0, 0x11, 0x86, 5, 1, 1, 1, 0xa0, 7, 0x60, 5, 0x80, 3, 7, 0x80, 0,
    ]));
    let begin = tcap::Message::Begin {
        originating: ours,
        dialogue: dialogue.clone(),
        components: vec![
            invoke(1, None, Code::Local(45)),
            invoke(2, None, global),
            invoke(3, None, Code::Local(-1)),
        ],
    };
    let result = || Some((Code::Local(45), parameter()));
    let onward = tcap::Message::Continue {
        originating: theirs,
        destination: ours,
        dialogue,
        components: vec![
            Component::ReturnResultNotLast { invoke: 1, result: result() },
            Component::ReturnError { invoke: 2, error: Code::Local(27), parameter: parameter() },
            invoke(7, Some(3), Code::Local(46)),
        ],
    };
    let end = tcap::Message::End {
        destination: ours,
        dialogue: None,
        components: vec![
            Component::ReturnResultLast { invoke: 1, result: result() },
            Component::ReturnResultLast { invoke: 4, result: None },
            Component::Reject { invoke: Some(3), problem: Problem { kind: 1, code: 2 } },
            Component::Reject { invoke: None, problem: Problem { kind: 0, code: 0 } },
        ],
    };
    let cause = Some(AbortCause::RESOURCE_LIMITATION);
    let abort = tcap::Message::Abort { destination: theirs, cause, dialogue: None };
    let alone =
        tcap::Message::Unidirectional { dialogue: None, components: vec![invoke(1, None, Code::Local(59))] };
    let mut session = Vec::new();
    for (name, message) in [
        ("begin-three", begin),
        ("continue", onward),
        ("end", end),
        ("p-abort", abort),
        ("unidirectional", alone),
    ] {
        let mut out = Vec::new();
        message.emit(&mut out);
        seeds.keep("tcap", name, &out);
        // The body takes messages apart at this octet.
        session.extend(out);
        session.push(0xff);
    }
    seeds.keep("tcap", "dialogue", session);
}

/// Everything of a data link from its establishment to its release, over interfaces by number and by name.
fn iua(seeds: &mut Seeds) {
    let number = || InterfaceIdentifier::Integer(5).to_parameter();
    let text = || InterfaceIdentifier::Text(Bytes::from_static(b"basic-rate-5")).to_parameter();
    let setup = IuaParameter::ProtocolData(Bytes::from_static(&[
        8, 1, 1, 5, 4, 3, 0x80, 0x90, 0xa3, 0x18, 1, 0x83, 0x70, 6, 0x81, b'1', b'2', b'3', b'4', b'5',
    ]));
    let reason = IuaParameter::ReleaseReason;
    for (name, kind, parameter) in [
        ("establish-request", iua::kind::ESTABLISH_REQUEST, None),
        ("establish-confirm", iua::kind::ESTABLISH_CONFIRM, None),
        ("establish-indication", iua::kind::ESTABLISH_INDICATION, None),
        ("data-indication", iua::kind::DATA_INDICATION, Some(setup.clone())),
        ("unit-data-request", iua::kind::UNIT_DATA_REQUEST, Some(setup.clone())),
        ("unit-data-indication", iua::kind::UNIT_DATA_INDICATION, Some(setup)),
        ("release-indication", iua::kind::RELEASE_INDICATION, Some(reason(ReleaseReason::Physical))),
        ("release-confirm", iua::kind::RELEASE_CONFIRM, None),
        ("tei-status-request", iua::kind::TEI_STATUS_REQUEST, None),
        (
            "tei-status-confirm",
            iua::kind::TEI_STATUS_CONFIRM,
            Some(IuaParameter::TeiStatus(TeiStatus::Assigned)),
        ),
        (
            "tei-status-indication",
            iua::kind::TEI_STATUS_INDICATION,
            Some(IuaParameter::TeiStatus(TeiStatus::Unassigned)),
        ),
    ] {
        for (end, interface) in [("", number()), ("-text", text())] {
            let dlci = IuaParameter::Dlci(Dlci { sapi: 16, tei: 127 });
            let message = OwnMessage::empty(kind).with_common(interface).with(dlci);
            let message = parameter.iter().cloned().fold(message, OwnMessage::with);
            seeds.keep_message("iua", &format!("{name}{end}"), message);
        }
    }
}

/// Step in which the body reads a unit: after a pause whose square is milliseconds, with these two octets of sequence
/// numbers.
fn heard(status: Option<u8>, pause: u8, numbers: [u8; 2]) -> [u8; 4] {
    let what = status.map_or(10, |status| 22 + 24 * status);
    [what, pause, numbers[0], numbers[1]]
}

/// A link that aligns, carries, is asked to repeat, is busy, out of its processor, and fails; the same in an emergency;
/// and units of every kind.
fn mtp2(seeds: &mut Seeds) {
    const FIRST: [u8; 2] = [0xff, 0xff];
    // What is heard: out of alignment, then the proving period, of which the pause makes T4.
    let aligned = |proving: u8, t4: u8| {
        [[0, 0, 0, 0], heard(Some(0), 1, FIRST), heard(Some(proving), 1, FIRST), heard(None, t4, FIRST)]
    };
    let transmit = [7, 1, 0, 0];
    let carried = [
        heard(None, 1, FIRST),
        transmit,
        transmit,
        transmit,
        // The first is acknowledged, then the others are asked for again.
        heard(None, 3, [0x80, 0xff]),
        heard(None, 3, [0x00, 0xff]),
        heard(None, 9, [0x02, 0xff]),
        heard(Some(5), 1, [0x02, 0xff]),
        transmit,
        heard(None, 20, [0x03, 0xff]),
        [8, 2, 0, 0],
        [8, 1, 0, 0],
        heard(Some(4), 1, [0x03, 0xff]),
        [3, 1, 0, 0],
        [4, 1, 0, 0],
        heard(None, 1, [0x03, 0xff]),
        [9, 1, 0, 0],
        heard(Some(3), 1, [0x03, 0xff]),
        [6, 3, 0, 0],
        [5, 0, 0, 0],
        [1, 0, 0, 0],
    ];
    seeds.keep("mtp2", "aligned-and-carried", [&aligned(1, 91)[..], &carried].concat().concat());
    let emergency = [&[[2, 0, 0, 0]][..], &aligned(2, 23), &carried].concat().concat();
    seeds.keep("mtp2", "emergency", emergency);
    let again = [&aligned(1, 91)[..], &carried, &aligned(1, 91), &carried].concat().concat();
    seeds.keep("mtp2", "twice", again);
    let header = Header { bsn: 126, bib: true, fsn: 127, fib: false };
    let message = |octets: usize| {
        let body = (0..octets).map(|octet| u8::try_from(octet % 251).expect("below 251")).collect();
        SignalUnit::Message { header, spare: 0, body }
    };
    for (name, unit) in [
        ("unit-fill-in", SignalUnit::FillIn(header)),
        ("unit-busy", SignalUnit::Status(header, mtp2::LinkStatus::Busy)),
        ("unit-shortest", message(3)),
        ("unit-62", message(62)),
        ("unit-longest", message(273)),
    ] {
        let mut out = Vec::new();
        unit.emit(&mut out);
        seeds.keep("mtp2", name, out);
    }
}

/// Titles that are translated, segments that are put together, and a neighbour's subsystem that goes and comes.
fn sccp_node(seeds: &mut Seeds) {
    let six = PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(6)), ..PartyAddress::default() };
    let title = GlobalTitle::with(Some(0), Some(1), Some(4), digits("49171234567"));
    let titled = PartyAddress { ssn: Some(Ssn(6)), global_title: Some(title), ..PartyAddress::default() };
    let management = PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(1)), ..PartyAddress::default() };
    let unitdata = |called: &PartyAddress, data: &[u8]| sccp::Message::Udt {
        class: ProtocolClass { class: 1, handling: 8 },
        called: called.clone(),
        calling: six.clone(),
        data: data.to_vec(),
    };
    let segment = |first: bool, remaining: u8| {
        let reference = sccp::LocalReference(0x03_02_01);
        let segmentation = sccp::Segmentation { first, in_sequence: true, remaining, reference };
        let value = segmentation.emit().to_vec();
        let segmentation = sccp::Parameter { name: sccp::Parameter::SEGMENTATION, value };
        sccp::Message::Xudt {
            class: ProtocolClass { class: 1, handling: 0 },
            hop_counter: 12,
            called: six.clone(),
            calling: titled.clone(),
            data: vec![0x55; 100],
            optional: sccp::OptionalParameters(vec![segmentation]),
        }
    };
    let octets = |message: &sccp::Message| {
        let mut out = Vec::new();
        message.emit(&mut out).expect("short");
        out
    };
    let told = |message: fn(Affected) -> ScmgMessage| {
        let mut data = Vec::new();
        message(Affected { ssn: Ssn(6), point_code: PointCode(2), multiplicity: 0 }).emit(&mut data);
        octets(&unitdata(&management, &data))
    };
    let session = |steps: &[(u8, Vec<u8>)]| {
        let record = |(kind, bytes): &(u8, Vec<u8>)| {
            [&[*kind, u8::try_from(bytes.len()).expect("short")][..], bytes].concat()
        };
        steps.iter().flat_map(record).collect::<Vec<u8>>()
    };
    let translated = octets(&unitdata(&titled, &[1; 40]));
    seeds.keep(
        "sccp_node",
        "titles",
        session(&[
            (0, vec![0]),
            (11, translated.clone()),
            (11, translated.clone()),
            (8, vec![0]),
            (11, translated.clone()),
            (8, vec![1]),
            (11, translated),
        ]),
    );
    seeds.keep(
        "sccp_node",
        "segments",
        session(&[
            (0, vec![0]),
            (11, octets(&segment(true, 2))),
            (11, octets(&segment(false, 1))),
            (11, octets(&segment(false, 0))),
            (11, octets(&segment(true, 1))),
            (7, vec![60]),
            (11, octets(&segment(false, 0))),
        ]),
    );
    seeds.keep(
        "sccp_node",
        "management",
        session(&[
            (0, vec![0]),
            (11, told(ScmgMessage::Ssp)),
            (7, vec![30]),
            (11, told(ScmgMessage::Sst)),
            (11, told(ScmgMessage::Ssa)),
            (0, vec![1]),
            (10, vec![0]),
            (7, vec![60]),
            (8, vec![3]),
            (8, vec![2]),
        ]),
    );
}
