//! The messages of SUA's own classes (RFC 3868, sections 3.2 to 3.4 and 3.8).

use slantpath_sigtran::asp::{ErrorCode, kind as asp_kind};
use slantpath_sigtran::common::tag as common_tag;
use slantpath_ss7::sccp::MOST_SEGMENTS;

use super::address;
use super::parameter::{kind, tag};
use crate::message::{MessageFormat, OwnMessage};
use crate::sua::SuaParameter;

const CONTEXT: &[u16] = &[common_tag::ROUTING_CONTEXT];
const CLASS: &[u16] = &[tag::PROTOCOL_CLASS];
const SOURCE: &[u16] = &[tag::SOURCE_ADDRESS];
const DESTINATION: &[u16] = &[tag::DESTINATION_ADDRESS];
const SOURCE_REFERENCE: &[u16] = &[tag::SOURCE_REFERENCE];
const DESTINATION_REFERENCE: &[u16] = &[tag::DESTINATION_REFERENCE];
const CAUSE: &[u16] = &[tag::CAUSE];
const CONTROL: &[u16] = &[tag::SEQUENCE_CONTROL];
const DATA: &[u16] = &[tag::DATA];
const AFFECTED: &[u16] = &[common_tag::AFFECTED_POINT_CODE];

/// Tags of the parameters that every message of network management may have.
const MANAGEMENT: &[u16] =
    &[common_tag::ROUTING_CONTEXT, address::tag::SUBSYSTEM, tag::SMI, common_tag::INFO];

/// Gives the fault of a message that has every parameter of its row: it lacks one that it must have in class 3 alone,
/// or with another one (RFC 3868, notes to sections 3.3.2, 3.3.3, 3.3.4 and 3.3.11), or says that more segments follow
/// than may.
pub(super) fn fault(message: &OwnMessage<SuaParameter>) -> Option<ErrorCode> {
    let has = |tag: u16| message.parameters.iter().any(|parameter| parameter.tag() == tag);
    let is_of_class_3 = message
        .own()
        .any(|parameter| matches!(parameter, SuaParameter::ProtocolClass(class) if class & 3 == 3));
    let wanted: &[u16] = match message.kind {
        kind::CORE | kind::COIT if is_of_class_3 => &[tag::SEQUENCE_NUMBER, tag::CREDIT],
        kind::COAK if is_of_class_3 => &[tag::CREDIT],
        kind::CODA if has(tag::RECEIVE_SEQUENCE_NUMBER) => &[tag::CREDIT],
        _ => &[],
    };
    //= https://www.rfc-editor.org/rfc/rfc3868#section-3.10.23
    //# bits 1-7: indicate the number of remaining segments, value between 0
    //# and 15
    let has_too_many = message.own().any(|parameter| {
        matches!(parameter, SuaParameter::Segmentation(part) if usize::from(part.remaining) >= MOST_SEGMENTS)
    });
    if wanted.iter().any(|tag| !has(*tag)) {
        Some(ErrorCode::MISSING_PARAMETER)
    } else {
        has_too_many.then_some(ErrorCode::INVALID_PARAMETER_VALUE)
    }
}

pub(super) const FORMATS: &[MessageFormat] = &[
    MessageFormat::new(
        kind::CLDT,
        "CLDT",
        &[CONTEXT, CLASS, SOURCE, DESTINATION, CONTROL, DATA],
        &[
            tag::HOP_COUNT,
            tag::IMPORTANCE,
            tag::MESSAGE_PRIORITY,
            common_tag::CORRELATION_ID,
            tag::SEGMENTATION,
        ],
    ),
    MessageFormat::new(
        kind::CLDR,
        "CLDR",
        &[CONTEXT, CAUSE, SOURCE, DESTINATION],
        &[
            tag::HOP_COUNT,
            tag::IMPORTANCE,
            tag::MESSAGE_PRIORITY,
            common_tag::CORRELATION_ID,
            tag::SEGMENTATION,
            tag::DATA,
        ],
    ),
    MessageFormat::new(
        kind::CORE,
        "CORE",
        &[CONTEXT, CLASS, SOURCE_REFERENCE, DESTINATION, CONTROL],
        &[
            tag::SEQUENCE_NUMBER,
            tag::SOURCE_ADDRESS,
            tag::HOP_COUNT,
            tag::IMPORTANCE,
            tag::MESSAGE_PRIORITY,
            tag::CREDIT,
            tag::DATA,
        ],
    ),
    MessageFormat::new(
        kind::COAK,
        "COAK",
        &[CONTEXT, CLASS, DESTINATION_REFERENCE, SOURCE_REFERENCE, CONTROL],
        &[
            tag::CREDIT,
            tag::SOURCE_ADDRESS,
            tag::IMPORTANCE,
            tag::MESSAGE_PRIORITY,
            tag::DESTINATION_ADDRESS,
            tag::DATA,
        ],
    ),
    MessageFormat::new(
        kind::COREF,
        "COREF",
        &[CONTEXT, DESTINATION_REFERENCE, CAUSE],
        &[tag::SOURCE_ADDRESS, tag::DESTINATION_ADDRESS, tag::IMPORTANCE, tag::DATA],
    ),
    MessageFormat::new(
        kind::RELRE,
        "RELRE",
        &[CONTEXT, DESTINATION_REFERENCE, SOURCE_REFERENCE, CAUSE],
        &[tag::IMPORTANCE, tag::DATA],
    ),
    MessageFormat::new(
        kind::RELCO,
        "RELCO",
        &[CONTEXT, DESTINATION_REFERENCE, SOURCE_REFERENCE],
        &[tag::IMPORTANCE],
    ),
    MessageFormat::new(kind::RESRE, "RESRE", &[CONTEXT, DESTINATION_REFERENCE, SOURCE_REFERENCE, CAUSE], &[]),
    MessageFormat::new(kind::RESCO, "RESCO", &[CONTEXT, DESTINATION_REFERENCE, SOURCE_REFERENCE], &[]),
    MessageFormat::new(
        kind::CODT,
        "CODT",
        &[CONTEXT, DESTINATION_REFERENCE, DATA],
        &[tag::SEQUENCE_NUMBER, tag::MESSAGE_PRIORITY, common_tag::CORRELATION_ID],
    ),
    MessageFormat::new(
        kind::CODA,
        "CODA",
        &[CONTEXT, DESTINATION_REFERENCE],
        &[tag::RECEIVE_SEQUENCE_NUMBER, tag::CREDIT],
    ),
    MessageFormat::new(kind::COERR, "COERR", &[CONTEXT, DESTINATION_REFERENCE, CAUSE], &[]),
    MessageFormat::new(
        kind::COIT,
        "COIT",
        &[CONTEXT, CLASS, SOURCE_REFERENCE, DESTINATION_REFERENCE],
        &[tag::SEQUENCE_NUMBER, tag::CREDIT],
    ),
    MessageFormat::new(kind::DUNA, "DUNA", &[AFFECTED], MANAGEMENT),
    MessageFormat::new(kind::DAVA, "DAVA", &[AFFECTED], MANAGEMENT),
    MessageFormat::new(
        kind::DAUD,
        "DAUD",
        &[AFFECTED],
        &[common_tag::ROUTING_CONTEXT, address::tag::SUBSYSTEM, tag::USER_CAUSE, common_tag::INFO],
    ),
    MessageFormat::new(kind::SCON, "SCON", &[AFFECTED, &[tag::CONGESTION_LEVEL]], MANAGEMENT),
    MessageFormat::new(
        kind::DUPU,
        "DUPU",
        &[AFFECTED, &[tag::USER_CAUSE]],
        &[common_tag::ROUTING_CONTEXT, common_tag::INFO],
    ),
    MessageFormat::new(kind::DRST, "DRST", &[AFFECTED], MANAGEMENT),
    MessageFormat::new(
        kind::REGISTRATION_REQUEST,
        "REG REQ",
        &[&[tag::ROUTING_KEY]],
        &[tag::ASP_CAPABILITIES],
    ),
    MessageFormat::new(kind::REGISTRATION_RESPONSE, "REG RSP", &[&[tag::REGISTRATION_RESULT]], &[]),
    MessageFormat::new(kind::DEREGISTRATION_REQUEST, "DEREG REQ", &[CONTEXT], &[]),
    MessageFormat::new(kind::DEREGISTRATION_RESPONSE, "DEREG RSP", &[&[tag::DEREGISTRATION_RESULT]], &[]),
];

/// ASP traffic maintenance and management where routing contexts name the traffic.
pub(super) const CONTEXT_MAINTENANCE: &[MessageFormat] = &[
    MessageFormat::new(
        asp_kind::ASP_ACTIVE,
        "ASP Active",
        &[],
        &[
            common_tag::TRAFFIC_MODE,
            common_tag::ROUTING_CONTEXT,
            tag::TID_LABEL,
            tag::DRN_LABEL,
            common_tag::INFO,
        ],
    ),
    // The table of RFC 3868, section 3.6.2, calls the routing context mandatory; section 4.3.4.3 asks for it only
    // where the request had one.
    MessageFormat::new(
        asp_kind::ASP_ACTIVE_ACK,
        "ASP Active Ack",
        &[],
        &[common_tag::TRAFFIC_MODE, common_tag::ROUTING_CONTEXT, common_tag::INFO],
    ),
    MessageFormat::new(
        asp_kind::ASP_INACTIVE,
        "ASP Inactive",
        &[],
        &[common_tag::ROUTING_CONTEXT, common_tag::INFO],
    ),
    MessageFormat::new(
        asp_kind::ASP_INACTIVE_ACK,
        "ASP Inactive Ack",
        &[],
        &[common_tag::ROUTING_CONTEXT, common_tag::INFO],
    ),
    MessageFormat::new(
        asp_kind::ERR,
        "ERR",
        &[&[common_tag::ERROR_CODE]],
        &[
            common_tag::ROUTING_CONTEXT,
            tag::NETWORK_APPEARANCE,
            common_tag::AFFECTED_POINT_CODE,
            common_tag::DIAGNOSTIC,
        ],
    ),
    MessageFormat::new(
        asp_kind::NTFY,
        "NTFY",
        &[&[common_tag::STATUS]],
        &[common_tag::ASP_IDENTIFIER, common_tag::ROUTING_CONTEXT, common_tag::INFO],
    ),
];
