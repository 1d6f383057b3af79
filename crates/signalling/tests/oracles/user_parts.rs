//! Every message of SCCP, its management, ISUP, TCAP, and of MTP3's management and test.

use bytes::Bytes;
use slantpath_ss7::mtp3::{
    ChangebackCode, Fsn, ManagementLayout, ManagementMessage as M, ServiceIndicator, SignallingDataLink, Slc,
    TestMessage,
};
use slantpath_ss7::sccp::{
    Affected, Digits, GlobalTitle, LocalReference, OptionalParameters, PartyAddress, ProtocolClass,
    ScmgMessage, SequencingSegmenting, Ssn,
};
use slantpath_ss7::{PointCode, sccp};
use slantpath_user_parts::isup::{
    self, CalledPartyNumber, CallingPartyNumber, CircuitIdentification, MessageType, ParameterCode as P,
};
use slantpath_user_parts::tcap::{self, AbortCause, Code, Component, Problem, TransactionId};

use crate::sample::{DPC, FREE_SUBSYSTEM, OPC, SLS, Sample, msu};

pub(crate) fn samples() -> Vec<Sample> {
    [sccp(), scmg(), isup(), tcap(), mtp3()].concat()
}

fn sccp() -> Vec<Sample> {
    let (destination, source) = (LocalReference(0x01_0203), LocalReference(0x04_0506));
    let class = |class| ProtocolClass { class, handling: 0 };
    let digits = Digits::parse("49123456789").unwrap();
    let title =
        GlobalTitle::TranslationPlanNature { translation_type: 0, plan: 1, nature: 4, digits, filler: 0 };
    let called = || PartyAddress {
        ssn: Some(FREE_SUBSYSTEM),
        global_title: Some(title.clone()),
        ..PartyAddress::default()
    };
    let calling = || PartyAddress {
        routes_on_ssn: true,
        point_code: Some(OPC),
        ssn: Some(FREE_SUBSYSTEM),
        ..PartyAddress::default()
    };
    let parameter = |name, value: &[u8]| sccp::Parameter { name, value: value.to_vec() };
    let data_part = || OptionalParameters(vec![parameter(sccp::Parameter::DATA, &[1, 2, 3])]);
    let segmentation =
        sccp::Segmentation { first: true, in_sequence: true, remaining: 1, reference: source }.emit();
    let segmented = || {
        OptionalParameters(vec![
            parameter(sccp::Parameter::SEGMENTATION, &segmentation),
            parameter(sccp::Parameter::IMPORTANCE, &[3]),
        ])
    };
    let data = vec![1, 2, 3];
    let sequencing = SequencingSegmenting { send: 1, receive: 2, more: false };
    let hop_counter = 12;
    let credited = || {
        let mut optional = data_part();
        optional.0.insert(0, parameter(sccp::Parameter::CREDIT, &[10]));
        optional
    };
    let messages = [
        ("CR", sccp::Message::Cr { source, class: class(3), called: called(), optional: credited() }),
        ("CC", sccp::Message::Cc { destination, source, class: class(3), optional: credited() }),
        ("CREF", sccp::Message::Cref { destination, cause: 3, optional: data_part() }),
        ("RLSD", sccp::Message::Rlsd { destination, source, cause: 3, optional: data_part() }),
        ("RLC", sccp::Message::Rlc { destination, source }),
        ("DT1", sccp::Message::Dt1 { destination, more: false, data: data.clone() }),
        ("DT2", sccp::Message::Dt2 { destination, sequencing, data: data.clone() }),
        ("AK", sccp::Message::Ak { destination, receive: 2, credit: 10 }),
        ("UDT", sccp::Message::Udt { class: class(0), called: called(), calling: calling(), data: begin() }),
        ("UDTS", sccp::Message::Udts { cause: 1, called: called(), calling: calling(), data: begin() }),
        ("ED", sccp::Message::Ed { destination, data }),
        ("EA", sccp::Message::Ea { destination }),
        ("RSR", sccp::Message::Rsr { destination, source, cause: 1 }),
        ("RSC", sccp::Message::Rsc { destination, source }),
        ("ERR", sccp::Message::Err { destination, cause: 1 }),
        ("IT", sccp::Message::It { destination, source, class: class(3), sequencing, credit: 10 }),
        (
            "XUDT",
            sccp::Message::Xudt {
                class: class(1),
                hop_counter,
                called: called(),
                calling: calling(),
                data: begin(),
                optional: segmented(),
            },
        ),
        (
            "XUDTS",
            sccp::Message::Xudts {
                cause: 1,
                hop_counter,
                called: called(),
                calling: calling(),
                data: begin(),
                optional: segmented(),
            },
        ),
        (
            "LUDT",
            sccp::Message::Ludt {
                class: class(1),
                hop_counter,
                called: called(),
                calling: calling(),
                data: begin(),
                optional: segmented(),
            },
        ),
        (
            "LUDTS",
            sccp::Message::Ludts {
                cause: 1,
                hop_counter,
                called: called(),
                calling: calling(),
                data: begin(),
                optional: segmented(),
            },
        ),
    ];
    let sample = |(name, message): (&str, sccp::Message)| {
        let mut octets = Vec::new();
        message.emit(&mut octets).unwrap();
        assert_eq!(sccp::Message::parse(&octets).as_ref(), Ok(&message));
        Sample::new("sccp", name, octets)
    };
    messages.into_iter().map(sample).collect()
}

fn scmg() -> Vec<Sample> {
    let affected = Affected { ssn: Ssn(8), point_code: DPC, multiplicity: 0 };
    let messages = [
        ("SSA", ScmgMessage::Ssa(affected)),
        ("SSP", ScmgMessage::Ssp(affected)),
        ("SST", ScmgMessage::Sst(affected)),
        ("SOR", ScmgMessage::Sor(affected)),
        ("SOG", ScmgMessage::Sog(affected)),
        ("SSC", ScmgMessage::Ssc(affected, 3)),
    ];
    let sample = |(name, message): (&str, ScmgMessage)| {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        assert_eq!(ScmgMessage::parse(&octets), Ok(message));
        Sample::new("scmg", name, octets)
    };
    messages.map(sample).into()
}

/// Contents that a mandatory parameter of the message may have.
fn isup_value(kind: MessageType, code: P) -> Vec<u8> {
    let digits = || Digits::parse("4912345678").unwrap();
    match code {
        P::NATURE_OF_CONNECTION | P::CONTINUITY | P::FACILITY | P::GROUP_SUPERVISION | P::SUSPEND_RESUME => {
            vec![0]
        }
        P::FORWARD_CALL => vec![0x20, 1],
        P::CALLING_PARTY_CATEGORY => vec![0x0a],
        P::TRANSMISSION_MEDIUM => vec![3],
        P::CALLED_PARTY_NUMBER => {
            let number = CalledPartyNumber {
                nature: 4,
                internal_not_allowed: true,
                plan: 1,
                digits: digits(),
                spare: 0,
                filler: 0,
            };
            let mut value = Vec::new();
            number.emit(&mut value);
            value
        }
        P::SUBSEQUENT_NUMBER => vec![0x80, 0x09],
        P::INFORMATION_REQUEST | P::INFORMATION => vec![1, 0],
        P::BACKWARD_CALL => vec![0x16, 0x14],
        P::CAUSE => vec![0x80, 0x90],
        P::EVENT => vec![1],
        P::USER_TO_USER => vec![4, b'h', b'i'],
        // A range of eight circuits, with a status where the message gives one for each.
        P::RANGE_AND_STATUS => match kind {
            MessageType::GRS | MessageType::CQM | MessageType::CQR => vec![7],
            _ => vec![7, 0xff],
        },
        // Transient, idle, and so on: one octet for each circuit of the range.
        P::CIRCUIT_STATE => vec![0x0c; 8],
        other => panic!("no example of parameter {:#04x}", other.0),
    }
}

fn isup() -> Vec<Sample> {
    let mut samples = Vec::new();
    for kind in (0..=u8::MAX).map(MessageType) {
        let Some(name) = kind.name() else { continue };
        let circuit = CircuitIdentification(0x123);
        let mut message = isup::Message { circuit, spare: 0, kind, mandatory: Vec::new(), optional: None };
        let mut octets = Vec::new();
        // The message says itself which parameter it misses.
        while let Err(error) = message.emit(&mut octets) {
            let isup::EmitError::Missing(code) = error else { panic!("{name}: {error}") };
            message.mandatory.push(isup::Parameter { code, value: isup_value(kind, code).into() });
            octets.clear();
        }
        if kind == MessageType::IAM {
            let digits = Digits::parse("498912345").unwrap();
            let number = CallingPartyNumber {
                nature: 4,
                is_incomplete: false,
                plan: 1,
                presentation: 0,
                screening: 3,
                digits,
                filler: 0,
            };
            let mut value = Vec::new();
            number.emit(&mut value);
            let value = Bytes::from(value);
            message.optional = Some(vec![isup::Parameter { code: P::CALLING_PARTY_NUMBER, value }]);
            octets.clear();
            message.emit(&mut octets).unwrap();
        }
        assert_eq!(isup::Message::parse(&octets).as_ref(), Ok(&message));
        samples.push(Sample::new("isup", name, octets));
    }
    samples
}

/// The dialogue portion's EXTERNAL about a protocol data unit of the dialogue: of a structured dialogue or not
/// (Q.773, section 4.2.3).
fn dialogue(is_structured: bool, unit: &[u8]) -> Bytes {
    let len = |octets: &[u8]| u8::try_from(octets.len()).unwrap();
    let syntax = [6, 7, 0, 0x11, 0x86, 5, 1, if is_structured { 1 } else { 2 }, 1];
    let single = [&[0xa0, len(unit)], unit].concat();
    let contents = [&syntax[..], &single].concat();
    Bytes::from([&[0x28, len(&contents)], &contents[..]].concat())
}

/// Version 1, and an application context that nobody has.
const OPENING: &[u8] = &[0x80, 2, 7, 0x80, 0xa1, 5, 6, 3, 0x2a, 3, 4];

fn request(is_structured: bool) -> Bytes {
    let unit = [&[0x60, 11], OPENING].concat();
    dialogue(is_structured, &unit)
}

/// Accepted: the result, and who says so.
fn response() -> Bytes {
    let result = [0xa2, 3, 2, 1, 0, 0xa3, 5, 0xa1, 3, 2, 1, 0];
    dialogue(true, &[&[0x61, 23], OPENING, &result].concat())
}

fn invoke(invoke: i8, linked: Option<i8>) -> Component {
    Component::Invoke {
        invoke,
        linked,
        operation: Code::Local(45),
        parameter: Bytes::from_static(&[0x30, 0]),
    }
}

/// A dialogue's first message.
pub(crate) fn begin() -> Vec<u8> {
    let originating = TransactionId::new(0x0102_0304);
    let mut octets = Vec::new();
    tcap::Message::Begin { originating, dialogue: Some(request(true)), components: vec![invoke(1, None)] }
        .emit(&mut octets);
    octets
}

fn tcap() -> Vec<Sample> {
    let (originating, destination) = (TransactionId::new(0x0506_0708), TransactionId::new(0x0102_0304));
    let result = || Some((Code::Local(45), Bytes::from_static(&[0x30, 0])));
    let error = Component::ReturnError { invoke: 2, error: Code::Local(34), parameter: Bytes::new() };
    let reject = Component::Reject { invoke: Some(3), problem: Problem { kind: 1, code: 1 } };
    let lost = Component::Reject { invoke: None, problem: Problem { kind: 0, code: 2 } };
    let global = Component::Invoke {
        invoke: 4,
        linked: None,
        operation: Code::Global(Bytes::from_static(&[0x2a, 3, 4])),
        parameter: Bytes::new(),
    };
    let abort = dialogue(true, &[0x64, 3, 0x80, 1, 0]);
    let messages = [
        (
            "Begin",
            tcap::Message::Begin {
                originating: destination,
                dialogue: Some(request(true)),
                components: vec![invoke(1, None)],
            },
        ),
        (
            "Continue",
            tcap::Message::Continue {
                originating,
                destination,
                dialogue: Some(response()),
                components: vec![
                    Component::ReturnResultNotLast { invoke: 1, result: result() },
                    invoke(2, Some(1)),
                ],
            },
        ),
        (
            "Continue",
            tcap::Message::Continue {
                originating,
                destination,
                dialogue: None,
                components: vec![error, reject, global],
            },
        ),
        (
            "End",
            tcap::Message::End {
                destination,
                dialogue: None,
                components: vec![Component::ReturnResultLast { invoke: 1, result: result() }],
            },
        ),
        (
            "End",
            tcap::Message::End {
                destination,
                dialogue: None,
                components: vec![Component::ReturnResultLast { invoke: 1, result: None }, lost],
            },
        ),
        (
            "Abort",
            tcap::Message::Abort {
                destination,
                cause: Some(AbortCause::UNRECOGNIZED_TRANSACTION),
                dialogue: None,
            },
        ),
        ("Abort", tcap::Message::Abort { destination, cause: None, dialogue: Some(abort) }),
        (
            "Unidirectional",
            tcap::Message::Unidirectional {
                dialogue: Some(request(false)),
                components: vec![invoke(1, None)],
            },
        ),
    ];
    let sample = |(name, message): (&str, tcap::Message)| {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        assert_eq!(tcap::Message::parse(&octets).as_ref(), Ok(&message));
        Sample::new("tcap", name, octets)
    };
    messages.into_iter().map(sample).collect()
}

/// MSUs of management and test, as ITU-T has them; ANSI's own are held to tshark beside their codec.
fn mtp3() -> Vec<Sample> {
    let code = PointCode(300);
    let messages = [
        ("COO", M::Coo(Fsn(99))),
        ("COA", M::Coa(Fsn(100))),
        ("XCO", M::Xco(Fsn(0x12_3456))),
        ("XCA", M::Xca(Fsn(0x65_4321))),
        ("CBD", M::Cbd(ChangebackCode(200))),
        ("CBA", M::Cba(ChangebackCode(201))),
        ("ECO", M::Eco),
        ("ECA", M::Eca),
        ("RCT", M::Rct),
        ("TFC", M::Tfc(code, 2)),
        ("TFP", M::Tfp(code)),
        ("TFR", M::Tfr(code)),
        ("TFA", M::Tfa(code)),
        ("RST", M::Rst(code)),
        ("RSR", M::Rsr(code)),
        ("LIN", M::Lin),
        ("LUN", M::Lun),
        ("LIA", M::Lia),
        ("LUA", M::Lua),
        ("LID", M::Lid),
        ("LFU", M::Lfu),
        ("LLT", M::Llt),
        ("LRT", M::Lrt),
        ("TRA", M::Tra),
        ("DLC", M::Dlc(SignallingDataLink(0xabc))),
        ("CSS", M::Css),
        ("CNS", M::Cns),
        ("CNP", M::Cnp),
        ("UPU", M::Upu { destination: code, user: 3, cause: 1 }),
    ];
    let (layout, slc) = (ManagementLayout::Itu, Slc(SLS.0));
    let mut samples = Vec::new();
    for (name, message) in messages {
        let mut user_part = Vec::new();
        message.emit(layout, slc, &mut user_part);
        assert_eq!(M::parse(&user_part, layout, SLS), Ok((message, slc)));
        samples.push(Sample::new("mtp3", name, msu(ServiceIndicator::MANAGEMENT, &user_part)));
    }
    for (name, message) in [("SLTM", TestMessage::Sltm(b"abc")), ("SLTA", TestMessage::Slta(b"abc"))] {
        let mut user_part = Vec::new();
        message.emit(layout, slc, &mut user_part);
        samples.push(Sample::new("mtp3", name, msu(ServiceIndicator::TEST, &user_part)));
    }
    samples
}
