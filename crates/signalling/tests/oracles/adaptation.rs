//! Every message of M3UA, M2UA, SUA, IUA and M2PA, each with every parameter that its format allows.

use bytes::Bytes;
use slantpath_sigtran::asp::{AspMessage, ErrorCode, RoutingContexts, Status, TrafficMode};
use slantpath_sigtran::common::{emit, emit_octets, emit_u32, tag};
use slantpath_sigtran::m2pa;
use slantpath_sigtran::m3ua::{
    self, AffectedDestinations, AffectedPlace, DeregistrationStatus, KeyDestination, ProtocolData,
    RegistrationStatus, UnavailabilityCause,
};
use slantpath_sigtran_adaptations::iua::IuaParameter;
use slantpath_sigtran_adaptations::m2ua::M2uaParameter;
use slantpath_sigtran_adaptations::message::{self, Vocabulary};
use slantpath_sigtran_adaptations::sua::SuaParameter;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::ServiceIndicator;

use crate::sample::{DPC, FREE_SUBSYSTEM, OPC, SLS, Sample, msu, unitdata};
use crate::user_parts::begin;

const CONTEXT: u32 = 7;
const INFO: &[u8] = b"test";

pub(crate) fn samples() -> Vec<Sample> {
    let mut samples = m3ua();
    samples.extend(of_tables::<M2uaParameter>("m2ua", m2ua_value));
    samples.extend(of_tables::<SuaParameter>("sua", sua_value));
    samples.extend(of_tables::<IuaParameter>("iua", iua_value));
    samples.extend(m2pa());
    samples
}

fn m3ua() -> Vec<Sample> {
    let affected = || AffectedDestinations {
        network_appearance: Some(1),
        routing_contexts: vec![CONTEXT],
        point_codes: vec![(0, PointCode(300)), (2, PointCode(304))],
        info: Some(INFO.to_vec()),
    };
    let key = m3ua::RoutingKey {
        local_identifier: 1,
        routing_context: Some(CONTEXT),
        traffic_mode: Some(TrafficMode::Loadshare as u32),
        network_appearance: Some(1),
        destinations: vec![KeyDestination {
            dpc: DPC,
            service_indicators: vec![3, 5],
            opcs: vec![OPC, PointCode(300)],
        }],
        others: Vec::new(),
    };
    let result = m3ua::RegistrationResult {
        local_identifier: 1,
        status: RegistrationStatus::REGISTERED,
        routing_context: CONTEXT,
    };
    let gone =
        m3ua::DeregistrationResult { routing_context: CONTEXT, status: DeregistrationStatus::DEREGISTERED };
    let protocol_data = ProtocolData {
        opc: OPC,
        dpc: DPC,
        service_indicator: ServiceIndicator::SCCP.value(),
        network_indicator: 2,
        priority: 0,
        sls: SLS,
        user_data: unitdata(FREE_SUBSYSTEM, begin()).into(),
    };
    let data = m3ua::Data {
        network_appearance: Some(1),
        routing_context: Some(CONTEXT),
        protocol_data,
        correlation_id: Some(9),
    };
    let mut messages = vec![
        ("DATA", m3ua::Message::Data(data)),
        ("DUNA", m3ua::Message::Duna(affected())),
        ("DAVA", m3ua::Message::Dava(affected())),
        ("DAUD", m3ua::Message::Daud(affected())),
        (
            "SCON",
            m3ua::Message::Scon { affected: affected(), concerned: Some(OPC), congestion_level: Some(2) },
        ),
        (
            "DUPU",
            m3ua::Message::Dupu {
                affected: AffectedDestinations { point_codes: vec![(0, DPC)], ..affected() },
                cause: UnavailabilityCause { cause: 1, user: 3 },
            },
        ),
        ("DRST", m3ua::Message::Drst(affected())),
        ("REG REQ", m3ua::Message::RegReq { keys: vec![key] }),
        ("REG RSP", m3ua::Message::RegRsp { results: vec![result] }),
        ("DEREG REQ", m3ua::Message::DeregReq { routing_contexts: vec![CONTEXT] }),
        ("DEREG RSP", m3ua::Message::DeregRsp { results: vec![gone] }),
    ];
    messages
        .extend(m3ua_maintenance().into_iter().map(|(name, message)| (name, m3ua::Message::Asp(message))));
    let sample = |(name, message): (&str, m3ua::Message)| {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        assert_eq!(m3ua::Message::parse(&Bytes::from(octets.clone())).as_ref(), Ok(&message));
        Sample::new("m3ua", name, octets)
    };
    messages.into_iter().map(sample).collect()
}

fn m3ua_maintenance() -> Vec<(&'static str, AspMessage<m3ua::M3ua>)> {
    let info = || Some(INFO.to_vec());
    let scope = || RoutingContexts(vec![CONTEXT]);
    let (asp_identifier, traffic_mode) = (Some(2), Some(TrafficMode::Override));
    let data = || Some(vec![1, 2, 3, 4]);
    let evidence = AffectedPlace { network_appearance: Some(1), point_codes: vec![(0, DPC)] };
    let code = ErrorCode::DESTINATION_STATUS_UNKNOWN;
    vec![
        ("ASP Up", AspMessage::AspUp { asp_identifier, info: info() }),
        ("ASP Up Ack", AspMessage::AspUpAck { asp_identifier, info: info() }),
        ("ASP Down", AspMessage::AspDown { info: info() }),
        ("ASP Down Ack", AspMessage::AspDownAck { info: info() }),
        ("BEAT", AspMessage::Beat { data: data() }),
        ("BEAT Ack", AspMessage::BeatAck { data: data() }),
        ("ASP Active", AspMessage::AspActive { traffic_mode, scope: scope(), labels: (), info: info() }),
        ("ASP Active Ack", AspMessage::AspActiveAck { traffic_mode, scope: scope(), info: info() }),
        ("ASP Inactive", AspMessage::AspInactive { scope: scope(), info: info() }),
        ("ASP Inactive Ack", AspMessage::AspInactiveAck { scope: scope(), info: info() }),
        ("ERR", AspMessage::Err { code, scope: scope(), evidence, diagnostic: Some(vec![1, 0, 2, 3]) }),
        (
            "NTFY",
            AspMessage::Ntfy { status: Status::AS_ACTIVE, asp_identifier, scope: scope(), info: info() },
        ),
    ]
}

/// Every message that the layer's tables have, with all parameters of its row: read as a receiver does, and written.
fn of_tables<V: Vocabulary + 'static>(layer: &'static str, value: fn(u16) -> Vec<u8>) -> Vec<Sample> {
    let sample = |format: &message::MessageFormat| {
        let first = format.mandatory.iter().map(|choices| choices[0]);
        let tags: Vec<u16> = first.chain(format.optional.iter().copied()).collect();
        let mut octets = Vec::new();
        emit(format.kind, &mut octets, |out| {
            for tag in &tags {
                emit_octets(*tag, &value(*tag), out);
            }
        });
        let message = message::Message::<V>::receive(&octets)
            .unwrap_or_else(|error| panic!("{}: {error}", format.name));
        let written = message.to_bytes();
        // In another order at most: nothing is lost.
        assert_eq!(written.len(), octets.len(), "{message:?}");
        assert_eq!(message::Message::receive(&written).as_ref(), Ok(&message));
        Sample::new(layer, message.name(), written)
    };
    message::Message::<V>::formats().map(sample).collect()
}

fn number(number: u32) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

fn parts(parts: &[(u16, u32)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (tag, value) in parts {
        emit_u32(*tag, *value, &mut out);
    }
    out
}

/// Interface identifiers, and what the messages about ASPs have in every layer.
fn common_value(tag: u16) -> Vec<u8> {
    match tag {
        1 => number(5),
        3 => b"link-5".to_vec(),
        8 => [number(10), number(12)].concat(),
        tag::INFO => INFO.to_vec(),
        tag::ROUTING_CONTEXT => number(CONTEXT),
        tag::DIAGNOSTIC | tag::HEARTBEAT => vec![1, 2, 3, 4],
        tag::TRAFFIC_MODE => number(TrafficMode::Loadshare as u32),
        tag::ERROR_CODE => number(ErrorCode::PROTOCOL_ERROR.0),
        tag::STATUS => number(Status::AS_ACTIVE.to_number()),
        tag::ASP_IDENTIFIER => number(2),
        tag::AFFECTED_POINT_CODE => [number(300), number(0x0200_0130)].concat(),
        tag::CORRELATION_ID => number(9),
        other => panic!("no example of parameter {other:#06x}"),
    }
}

fn m2ua_value(tag: u16) -> Vec<u8> {
    match tag {
        0x0300 => msu(ServiceIndicator::SCCP, &unitdata(FREE_SUBSYSTEM, begin())),
        0x0301 => ttc_unit(),
        0x0302 | 0x0304 => number(2),
        0x0303 | 0x0305 | 0x0306 => number(1),
        0x0307 => number(99),
        0x0308 => number(0),
        0x0309 => parts(&[(0x030a, 1), (0x030b, 2), (0x030c, 3)]),
        0x030d => parts(&[(0x030a, 1), (0x030e, 0), (1, 5)]),
        0x030f => parts(&[(1, 5), (0x0310, 0)]),
        other => common_value(other),
    }
}

/// A message of TTC, from its length indicator on.
fn ttc_unit() -> Vec<u8> {
    [&[0][..], &msu(ServiceIndicator::SCCP, &unitdata(FREE_SUBSYSTEM, begin()))].concat()
}

/// An address by point code and subsystem, or by global title.
fn address(is_titled: bool) -> Vec<u8> {
    let mut out = if is_titled { vec![0, 1, 0, 5] } else { vec![0, 2, 0, 3] };
    if is_titled {
        // Indicator 4, eleven digits, type 0, plan E.164, international.
        emit_octets(0x8001, &[0, 0, 0, 4, 11, 0, 1, 4, 0x94, 0x21, 0x43, 0x65, 0x87, 0x09], &mut out);
    } else {
        emit_u32(0x8002, DPC.0, &mut out);
    }
    emit_u32(0x8003, FREE_SUBSYSTEM.0.into(), &mut out);
    out
}

fn sua_value(tag: u16) -> Vec<u8> {
    match tag {
        0x0014 => parts(&[(0x0018, 1), (0x0016, 0), (tag::ROUTING_CONTEXT, CONTEXT)]),
        0x0015 => parts(&[(tag::ROUTING_CONTEXT, CONTEXT), (0x0017, 0)]),
        0x0101 => number(12),
        0x0102 => address(true),
        0x0103 => address(false),
        0x0104 => number(0x0001_0203),
        0x0105 => number(0x0004_0506),
        // A return cause: a subsystem has failed.
        0x0106 => number(0x0103),
        0x0107 => number(0x0402),
        0x0108 | 0x0116 => number(4),
        0x0109 => number(0x000f_0003),
        0x010a => number(10),
        0x010b => begin(),
        0x010c => number(0x0001_0003),
        0x010d | 0x0112 | 0x0114 => number(1),
        0x010e => {
            let mut key =
                parts(&[(0x0018, 1), (tag::ROUTING_CONTEXT, CONTEXT), (tag::TRAFFIC_MODE, 2), (0x010d, 1)]);
            emit_octets(0x0102, &address(true), &mut key);
            emit_octets(0x0103, &address(false), &mut key);
            key
        }
        0x010f | 0x0110 => number(0x0f0c_0001),
        0x0113 => number(3),
        0x0115 => number(0),
        0x0117 => number(0x8000_0102),
        0x0118 => number(2),
        0x8003 => number(FREE_SUBSYSTEM.0.into()),
        other => common_value(other),
    }
}

fn iua_value(tag: u16) -> Vec<u8> {
    match tag {
        0x0005 => vec![0, 0x81, 0, 0],
        // Q.931's STATUS ENQUIRY.
        0x000e => vec![8, 1, 5, 0x75],
        0x000f | 0x0010 => number(0),
        other => common_value(other),
    }
}

fn m2pa() -> Vec<Sample> {
    let filler = || Bytes::from_static(&[0x55; 24]);
    let user_data = m2pa::UserData {
        priority: m2pa::Priority::default(),
        msu: msu(ServiceIndicator::SCCP, &unitdata(FREE_SUBSYSTEM, begin())).into(),
    };
    let status = m2pa::Body::LinkStatus;
    let bodies = [
        ("User Data", m2pa::Body::UserData(user_data)),
        ("Acknowledgement", m2pa::Body::Acknowledgement),
        ("Alignment", status(m2pa::LinkStatus::Alignment)),
        ("Proving Normal", status(m2pa::LinkStatus::ProvingNormal(filler()))),
        ("Proving Emergency", status(m2pa::LinkStatus::ProvingEmergency(filler()))),
        ("Ready", status(m2pa::LinkStatus::Ready)),
        ("Processor Outage", status(m2pa::LinkStatus::ProcessorOutage)),
        ("Processor Recovered", status(m2pa::LinkStatus::ProcessorRecovered)),
        ("Busy", status(m2pa::LinkStatus::Busy)),
        ("Busy Ended", status(m2pa::LinkStatus::BusyEnded)),
        ("Out of Service", status(m2pa::LinkStatus::OutOfService)),
    ];
    let none = m2pa::SequenceNumber::BEFORE_FIRST;
    let sample = |(name, body): (&str, m2pa::Body)| {
        let fsn = if matches!(body, m2pa::Body::UserData(_)) { none.next() } else { none };
        let message = m2pa::Message { bsn: none, fsn, body };
        let mut octets = Vec::new();
        message.emit(&mut octets);
        assert_eq!(m2pa::Message::parse(&Bytes::from(octets.clone())).as_ref(), Ok(&message));
        Sample::new("m2pa", name, octets)
    };
    bodies.into_iter().map(sample).collect()
}
