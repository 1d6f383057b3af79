//! Parameters and messages of IUA (RFC 4233, section 3).

use bytes::Bytes;
use slantpath_sigtran::asp::{ErrorCode, kind as asp_kind};
use slantpath_sigtran::common::{MessageKind, MessageParseError, tag as common_tag};

use crate::interface::{self, INTERFACES};
use crate::iua::Iua;
use crate::message::{MessageFormat, STATE_MAINTENANCE, StreamRule, Vocabulary, interface_tag, number};

/// Tags of IUA's own (RFC 4233, section 3.1.5).
mod tag {
    pub(super) const DLCI: u16 = 0x0005;
    pub(super) const PROTOCOL_DATA: u16 = 0x000e;
    pub(super) const RELEASE_REASON: u16 = 0x000f;
    pub(super) const TEI_STATUS: u16 = 0x0010;
}

/// Classes and types of IUA's own (RFC 4233, section 3.1.2).
#[expect(missing_docs, reason = "each is the message of RFC 4233 of that name")]
pub mod kind {
    use slantpath_sigtran::common::MessageKind;

    const fn of(class: u8, kind: u8) -> MessageKind {
        MessageKind { class, kind }
    }

    pub const TEI_STATUS_REQUEST: MessageKind = of(0, 2);
    pub const TEI_STATUS_CONFIRM: MessageKind = of(0, 3);
    pub const TEI_STATUS_INDICATION: MessageKind = of(0, 4);
    //= https://www.rfc-editor.org/rfc/rfc5133#section-3
    //# Terminal Endpoint Identifier (TEI) Query messages MUST be encoded
    //# with a message type of 8 instead of 5 as described in [RFC4233].
    pub const TEI_QUERY_REQUEST: MessageKind = of(0, 8);
    pub const DATA_REQUEST: MessageKind = of(5, 1);
    pub const DATA_INDICATION: MessageKind = of(5, 2);
    pub const UNIT_DATA_REQUEST: MessageKind = of(5, 3);
    pub const UNIT_DATA_INDICATION: MessageKind = of(5, 4);
    pub const ESTABLISH_REQUEST: MessageKind = of(5, 5);
    pub const ESTABLISH_CONFIRM: MessageKind = of(5, 6);
    pub const ESTABLISH_INDICATION: MessageKind = of(5, 7);
    pub const RELEASE_REQUEST: MessageKind = of(5, 8);
    pub const RELEASE_CONFIRM: MessageKind = of(5, 9);
    pub const RELEASE_INDICATION: MessageKind = of(5, 10);
}

/// Data link connection identifier: one data link on a D channel (RFC 4233, section 3.2, figure 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dlci {
    /// Service access point identifier, 6 bits.
    pub sapi: u8,
    /// Terminal endpoint identifier, 7 bits.
    pub tei: u8,
}

impl Dlci {
    /// The service access point of call control, which Q.931 has.
    pub(super) const CALL_CONTROL: u8 = 0;

    /// The data link for call control of a terminal endpoint.
    pub const fn call_control(tei: u8) -> Self {
        Self { sapi: Self::CALL_CONTROL, tei }
    }
}

/// Why a data link is released (RFC 4233, section 3.3.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReleaseReason {
    /// Release by management.
    Management = 0,
    /// An alarm of the physical layer; in indications only.
    Physical = 1,
    /// Release, and answer the far end's attempts with DM.
    DisconnectedMode = 2,
    /// Any other reason.
    Other = 3,
}

impl ReleaseReason {
    /// Every reason, by its value.
    pub const ALL: [Self; 4] = [Self::Management, Self::Physical, Self::DisconnectedMode, Self::Other];
}

/// Status of a terminal endpoint: assigned or not (RFC 4233, section 3.3.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TeiStatus {
    /// Q.921 considers it assigned.
    Assigned = 0,
    /// Q.921 considers it not assigned.
    Unassigned = 1,
}

/// A parameter of IUA's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IuaParameter {
    /// DLCI.
    Dlci(Dlci),
    /// A message of Q.921's user.
    ProtocolData(Bytes),
    /// Release Reason parameter.
    ReleaseReason(ReleaseReason),
    /// TEI Status.
    TeiStatus(TeiStatus),
}

impl Vocabulary for IuaParameter {
    const FORMATS: &'static [&'static [MessageFormat]] =
        &[FORMATS, STATE_MAINTENANCE, TRAFFIC_MAINTENANCE, interface::MANAGEMENT];
    const CARRIES_ANY: bool = false;
    type Layer = Iua;

    fn is_own(kind: MessageKind) -> bool {
        kind.class == 0 && kind != asp_kind::ERR && kind != asp_kind::NTFY
    }

    fn stream_rule(kind: MessageKind) -> StreamRule {
        if kind.class == kind::DATA_REQUEST.class { StreamRule::Traffic } else { StreamRule::Any }
    }

    /// IUA has no code beyond 0x0f: other faults are protocol errors (RFC 4233, section 3.3.3.1).
    fn error_code(code: ErrorCode) -> ErrorCode {
        if code > ErrorCode::INVALID_ASP_IDENTIFIER { ErrorCode::PROTOCOL_ERROR } else { code }
    }

    fn tag(&self) -> u16 {
        match self {
            Self::Dlci(_) => tag::DLCI,
            Self::ProtocolData(_) => tag::PROTOCOL_DATA,
            Self::ReleaseReason(_) => tag::RELEASE_REASON,
            Self::TeiStatus(_) => tag::TEI_STATUS,
        }
    }

    fn read(tag: u16, value: &[u8]) -> Result<Option<Self>, MessageParseError> {
        let invalid = MessageParseError::InvalidParameterValue(tag);
        let parameter = match tag {
            tag::DLCI => {
                // The last two octets are spare.
                let [service, terminal, ..] = number(tag, value)?.to_be_bytes();
                if service & 1 != 0 || terminal & 1 == 0 {
                    return Err(invalid);
                }
                Self::Dlci(Dlci { sapi: service >> 2, tei: terminal >> 1 })
            }
            tag::PROTOCOL_DATA => Self::ProtocolData(Bytes::copy_from_slice(value)),
            tag::RELEASE_REASON => {
                let reason = usize::try_from(number(tag, value)?).ok();
                let reason = reason.and_then(|at| ReleaseReason::ALL.get(at).copied());
                Self::ReleaseReason(reason.ok_or(invalid)?)
            }
            tag::TEI_STATUS => match number(tag, value)? {
                0 => Self::TeiStatus(TeiStatus::Assigned),
                1 => Self::TeiStatus(TeiStatus::Unassigned),
                _ => return Err(invalid),
            },
            _ => return Ok(None),
        };
        Ok(Some(parameter))
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Dlci(Dlci { sapi, tei }) => out.extend_from_slice(&[sapi << 2, tei << 1 | 1, 0, 0]),
            Self::ProtocolData(octets) => out.extend_from_slice(octets),
            Self::ReleaseReason(reason) => out.extend_from_slice(&(*reason as u32).to_be_bytes()),
            Self::TeiStatus(status) => out.extend_from_slice(&(*status as u32).to_be_bytes()),
        }
    }
}

const INTERFACE: &[u16] = &[interface_tag::INTEGER, interface_tag::TEXT];
const DLCI: &[u16] = &[tag::DLCI];
const DATA: &[u16] = &[tag::PROTOCOL_DATA];
const REASON: &[u16] = &[tag::RELEASE_REASON];
const STATUS: &[u16] = &[tag::TEI_STATUS];

/// ASP traffic maintenance, where the mode must be said.
const TRAFFIC_MAINTENANCE: &[MessageFormat] = &[
    MessageFormat::new(asp_kind::ASP_ACTIVE, "ASP Active", &[&[common_tag::TRAFFIC_MODE]], INTERFACES),
    MessageFormat::new(
        asp_kind::ASP_ACTIVE_ACK,
        "ASP Active Ack",
        &[&[common_tag::TRAFFIC_MODE]],
        INTERFACES,
    ),
    MessageFormat::new(asp_kind::ASP_INACTIVE, "ASP Inactive", &[], INTERFACES),
    MessageFormat::new(asp_kind::ASP_INACTIVE_ACK, "ASP Inactive Ack", &[], INTERFACES),
];

/// Every message of IUA's own (RFC 4233, sections 3.3.1, 3.3.3.3 and 3.3.3.4).
const FORMATS: &[MessageFormat] = &[
    MessageFormat::new(kind::TEI_STATUS_REQUEST, "TEI Status Request", &[INTERFACE, DLCI], &[]),
    MessageFormat::new(kind::TEI_STATUS_CONFIRM, "TEI Status Confirm", &[INTERFACE, DLCI, STATUS], &[]),
    MessageFormat::new(kind::TEI_STATUS_INDICATION, "TEI Status Indication", &[INTERFACE, DLCI, STATUS], &[]),
    MessageFormat::new(kind::TEI_QUERY_REQUEST, "TEI Query Request", &[INTERFACE, DLCI], &[]),
    MessageFormat::new(kind::DATA_REQUEST, "Data Request", &[INTERFACE, DLCI, DATA], &[]),
    MessageFormat::new(kind::DATA_INDICATION, "Data Indication", &[INTERFACE, DLCI, DATA], &[]),
    MessageFormat::new(kind::UNIT_DATA_REQUEST, "Unit Data Request", &[INTERFACE, DLCI, DATA], &[]),
    MessageFormat::new(kind::UNIT_DATA_INDICATION, "Unit Data Indication", &[INTERFACE, DLCI, DATA], &[]),
    MessageFormat::new(kind::ESTABLISH_REQUEST, "Establish Request", &[INTERFACE, DLCI], &[]),
    MessageFormat::new(kind::ESTABLISH_CONFIRM, "Establish Confirm", &[INTERFACE, DLCI], &[]),
    MessageFormat::new(kind::ESTABLISH_INDICATION, "Establish Indication", &[INTERFACE, DLCI], &[]),
    MessageFormat::new(kind::RELEASE_REQUEST, "Release Request", &[INTERFACE, DLCI, REASON], &[]),
    MessageFormat::new(kind::RELEASE_CONFIRM, "Release Confirm", &[INTERFACE, DLCI], &[]),
    MessageFormat::new(kind::RELEASE_INDICATION, "Release Indication", &[INTERFACE, DLCI, REASON], &[]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iua::Message;
    use crate::message::tests::{any_message, assert_formats_are_sound, assert_round_trip, assert_total};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn any_own() -> impl Strategy<Value = IuaParameter> {
        prop_oneof![
            (0_u8..64, 0_u8..128).prop_map(|(sapi, tei)| IuaParameter::Dlci(Dlci { sapi, tei })),
            vec(any::<u8>(), 0..20).prop_map(|octets| IuaParameter::ProtocolData(octets.into())),
            select(ReleaseReason::ALL.to_vec()).prop_map(IuaParameter::ReleaseReason),
            select(vec![TeiStatus::Assigned, TeiStatus::Unassigned]).prop_map(IuaParameter::TeiStatus),
        ]
    }

    #[test]
    fn every_message_is_in_one_table_once() {
        assert_formats_are_sound::<IuaParameter>();
        for (at, reason) in (0_u32..).zip(ReleaseReason::ALL) {
            assert_eq!(reason as u32, at);
        }
    }

    #[test]
    fn the_example_of_the_rfc_reads_as_tei_64() {
        let expected = Ok(Some(IuaParameter::Dlci(Dlci { sapi: 0, tei: 64 })));
        assert_eq!(IuaParameter::read(tag::DLCI, &[0, 0x81, 0, 0]), expected);
    }

    #[test]
    fn asp_active_needs_its_traffic_mode() {
        let expected = Err(MessageParseError::MissingParameter(slantpath_sigtran::common::tag::TRAFFIC_MODE));
        assert_eq!(Message::receive(&[1, 0, 4, 1, 0, 0, 0, 8]), expected);
    }

    proptest! {
        #[test]
        fn messages_round_trip(message in any_message(any_own())) {
            assert_round_trip(&message);
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(class in 0_u8..12, kind in 0_u8..12, rest: Vec<u8>) {
            assert_total::<IuaParameter>(class, kind, &rest);
        }
    }
}
