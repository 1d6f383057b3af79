//! Parameters and messages of M2UA (RFC 3331, section 3).

use bytes::Bytes;
use slantpath_sigtran::asp::kind as asp_kind;
use slantpath_sigtran::common::{MessageKind, MessageParseError, emit_u32, tag as common_tag};

use crate::interface::{self, INTERFACES, InterfaceIdentifier};
use crate::m2ua::M2ua;
use crate::message::{
    MessageFormat, STATE_MAINTENANCE, StreamRule, Vocabulary, interface_tag, nested, number,
};

/// Tags of M2UA's own (RFC 3331, section 3.1.6).
pub(super) mod tag {
    pub(in crate::m2ua) const PROTOCOL_DATA: u16 = 0x0300;
    pub(in crate::m2ua) const PROTOCOL_DATA_TTC: u16 = 0x0301;
    pub(in crate::m2ua) const STATE_REQUEST: u16 = 0x0302;
    pub(in crate::m2ua) const STATE_EVENT: u16 = 0x0303;
    pub(in crate::m2ua) const CONGESTION_STATUS: u16 = 0x0304;
    pub(in crate::m2ua) const DISCARD_STATUS: u16 = 0x0305;
    pub(in crate::m2ua) const ACTION: u16 = 0x0306;
    pub(in crate::m2ua) const SEQUENCE_NUMBER: u16 = 0x0307;
    pub(in crate::m2ua) const RETRIEVAL_RESULT: u16 = 0x0308;
    pub(in crate::m2ua) const LINK_KEY: u16 = 0x0309;
    pub(in crate::m2ua) const LOCAL_LINK_KEY: u16 = 0x030a;
    pub(in crate::m2ua) const TERMINAL: u16 = 0x030b;
    pub(in crate::m2ua) const DATA_LINK: u16 = 0x030c;
    pub(in crate::m2ua) const REGISTRATION_RESULT: u16 = 0x030d;
    pub(in crate::m2ua) const REGISTRATION_STATUS: u16 = 0x030e;
    pub(in crate::m2ua) const DEREGISTRATION_RESULT: u16 = 0x030f;
    pub(in crate::m2ua) const DEREGISTRATION_STATUS: u16 = 0x0310;
}

/// Classes and types (RFC 3331, sections 3.1.3 and 3.1.4).
#[expect(missing_docs, reason = "each is the message of RFC 3331 of that name")]
pub mod kind {
    use slantpath_sigtran::common::MessageKind;

    const fn of(class: u8, kind: u8) -> MessageKind {
        MessageKind { class, kind }
    }

    pub const DATA: MessageKind = of(6, 1);
    pub const ESTABLISH_REQUEST: MessageKind = of(6, 2);
    pub const ESTABLISH_CONFIRM: MessageKind = of(6, 3);
    pub const RELEASE_REQUEST: MessageKind = of(6, 4);
    pub const RELEASE_CONFIRM: MessageKind = of(6, 5);
    pub const RELEASE_INDICATION: MessageKind = of(6, 6);
    pub const STATE_REQUEST: MessageKind = of(6, 7);
    pub const STATE_CONFIRM: MessageKind = of(6, 8);
    pub const STATE_INDICATION: MessageKind = of(6, 9);
    pub const RETRIEVAL_REQUEST: MessageKind = of(6, 10);
    pub const RETRIEVAL_CONFIRM: MessageKind = of(6, 11);
    pub const RETRIEVAL_INDICATION: MessageKind = of(6, 12);
    pub const RETRIEVAL_COMPLETE_INDICATION: MessageKind = of(6, 13);
    pub const CONGESTION_INDICATION: MessageKind = of(6, 14);
    pub const DATA_ACKNOWLEDGE: MessageKind = of(6, 15);
    pub const REGISTRATION_REQUEST: MessageKind = of(10, 1);
    pub const REGISTRATION_RESPONSE: MessageKind = of(10, 2);
    pub const DEREGISTRATION_REQUEST: MessageKind = of(10, 3);
    pub const DEREGISTRATION_RESPONSE: MessageKind = of(10, 4);
}

/// Operation that a State Request asks of a link (RFC 3331, section 3.3.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkState {
    /// Local processor outage.
    LpoSet = 0x0,
    /// Local processor outage recovered.
    LpoClear = 0x1,
    /// Request for emergency alignment.
    EmergencySet = 0x2,
    /// Request for normal alignment.
    EmergencyClear = 0x3,
    /// Clear the receive, transmit and retransmit queues.
    FlushBuffers = 0x4,
    /// Continue after an outage.
    Continue = 0x5,
    /// Clear the retransmit queue.
    ClearRetransmission = 0x6,
    /// Tell the state of the link.
    Audit = 0x7,
    /// Congestion is cleared.
    CongestionClear = 0x8,
    /// Congestion: accept messages.
    CongestionAccept = 0x9,
    /// Congestion: discard messages.
    CongestionDiscard = 0xa,
}

impl LinkState {
    /// Every state, by its value.
    pub const ALL: [Self; 11] = [
        Self::LpoSet,
        Self::LpoClear,
        Self::EmergencySet,
        Self::EmergencyClear,
        Self::FlushBuffers,
        Self::Continue,
        Self::ClearRetransmission,
        Self::Audit,
        Self::CongestionClear,
        Self::CongestionAccept,
        Self::CongestionDiscard,
    ];
}

/// Event that a State Indication tells of a link (RFC 3331, section 3.3.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkEvent {
    /// The remote end has entered processor outage.
    RpoEnter = 0x1,
    /// The remote end has left processor outage.
    RpoExit = 0x2,
    /// The link has entered local processor outage.
    LpoEnter = 0x3,
    /// The link has left local processor outage.
    LpoExit = 0x4,
}

impl LinkEvent {
    /// Every event, by its value less one.
    pub const ALL: [Self; 4] = [Self::RpoEnter, Self::RpoExit, Self::LpoEnter, Self::LpoExit];
}

/// Item that a Retrieval Request asks for (RFC 3331, section 3.3.1.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The backward sequence number.
    RetrieveBsn = 0x1,
    /// The messages of the transmit and retransmit queues.
    RetrieveMessages = 0x2,
}

/// One link that an ASP wants to serve (RFC 3331, section 3.3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkKey {
    /// By which the response is matched.
    pub local: u32,
    /// The signalling data terminal.
    pub terminal: u32,
    /// The signalling data link.
    pub data_link: u32,
}

/// Outcome of the registration of a link key (RFC 3331, section 3.3.4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrationResult {
    /// From the request.
    pub local: u32,
    /// 0 is success; see [`super::registration_status`].
    pub status: u32,
    /// Identifier that the link has from now on; 0 if the registration failed.
    pub interface: InterfaceIdentifier,
}

/// Outcome of a deregistration (RFC 3331, section 3.3.4.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeregistrationResult {
    /// From the request.
    pub interface: InterfaceIdentifier,
    /// 0 is success; see [`super::deregistration_status`].
    pub status: u32,
}

/// A parameter of M2UA's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum M2uaParameter {
    /// Action of a retrieval.
    Action(Action),
    /// Congestion Status: 0 none, to 3.
    CongestionStatus(u32),
    /// De-Registration Result.
    DeregistrationResult(DeregistrationResult),
    /// Discard Status: 0 none, to 3.
    DiscardStatus(u32),
    /// Link Key parameter.
    LinkKey(LinkKey),
    /// Protocol Data 1: a message from its service information octet on.
    ProtocolData(Bytes),
    /// Protocol Data 2: a message of TTC from its length indicator on.
    ProtocolDataTtc(Bytes),
    /// Registration Result parameter.
    RegistrationResult(RegistrationResult),
    /// Retrieval Result: 0 success, 1 failure.
    RetrievalResult(u32),
    /// Sequence Number, of 7 or of 24 bits.
    SequenceNumber(u32),
    /// State Event parameter.
    StateEvent(LinkEvent),
    /// State Request parameter.
    StateRequest(LinkState),
}

/// One of the values that a table has, by its place.
fn one_of<T: Copy>(tag: u16, table: &[T], at: u32) -> Result<T, MessageParseError> {
    let found = usize::try_from(at).ok().and_then(|at| table.get(at));
    found.copied().ok_or(MessageParseError::InvalidParameterValue(tag))
}

/// Congestion and discard status run from 0 to 3.
fn level(tag: u16, value: &[u8]) -> Result<u32, MessageParseError> {
    match number(tag, value)? {
        level @ 0..=3 => Ok(level),
        _ => Err(MessageParseError::InvalidParameterValue(tag)),
    }
}

/// The 32-bit parameters inside a parameter, by the given tags, and the interface identifier.
fn parts<const N: usize>(
    tag: u16,
    tags: [u16; N],
    value: &[u8],
) -> Result<([Option<u32>; N], Option<InterfaceIdentifier>), MessageParseError> {
    let (mut found, mut interface) = ([None; N], None);
    for field in nested(tag, value) {
        let field = field?;
        if let Some(at) = tags.iter().position(|tag| *tag == field.kind) {
            found[at] = Some(number(field.kind, field.value)?);
        } else if let Some(identifier) = InterfaceIdentifier::read(field.kind, field.value)? {
            interface = Some(identifier);
        }
    }
    Ok((found, interface))
}

impl Vocabulary for M2uaParameter {
    const FORMATS: &'static [&'static [MessageFormat]] =
        &[FORMATS, STATE_MAINTENANCE, TRAFFIC_MAINTENANCE, interface::MANAGEMENT];
    const CARRIES_ANY: bool = false;
    type Layer = M2ua;

    fn is_own(_kind: MessageKind) -> bool {
        false
    }

    fn stream_rule(kind: MessageKind) -> StreamRule {
        if kind.class == kind::DATA.class { StreamRule::Traffic } else { StreamRule::Any }
    }

    fn tag(&self) -> u16 {
        match self {
            Self::Action(_) => tag::ACTION,
            Self::CongestionStatus(_) => tag::CONGESTION_STATUS,
            Self::DeregistrationResult(_) => tag::DEREGISTRATION_RESULT,
            Self::DiscardStatus(_) => tag::DISCARD_STATUS,
            Self::LinkKey(_) => tag::LINK_KEY,
            Self::ProtocolData(_) => tag::PROTOCOL_DATA,
            Self::ProtocolDataTtc(_) => tag::PROTOCOL_DATA_TTC,
            Self::RegistrationResult(_) => tag::REGISTRATION_RESULT,
            Self::RetrievalResult(_) => tag::RETRIEVAL_RESULT,
            Self::SequenceNumber(_) => tag::SEQUENCE_NUMBER,
            Self::StateEvent(_) => tag::STATE_EVENT,
            Self::StateRequest(_) => tag::STATE_REQUEST,
        }
    }

    fn read(tag: u16, value: &[u8]) -> Result<Option<Self>, MessageParseError> {
        let parameter = match tag {
            tag::ACTION => match number(tag, value)? {
                1 => Self::Action(Action::RetrieveBsn),
                2 => Self::Action(Action::RetrieveMessages),
                _ => return Err(MessageParseError::InvalidParameterValue(tag)),
            },
            tag::CONGESTION_STATUS => Self::CongestionStatus(level(tag, value)?),
            tag::DEREGISTRATION_RESULT => {
                let ([status], interface) = parts(tag, [tag::DEREGISTRATION_STATUS], value)?;
                Self::DeregistrationResult(DeregistrationResult {
                    interface: interface
                        .ok_or(MessageParseError::MissingParameter(interface_tag::INTEGER))?,
                    status: status.ok_or(MessageParseError::MissingParameter(tag::DEREGISTRATION_STATUS))?,
                })
            }
            tag::DISCARD_STATUS => Self::DiscardStatus(level(tag, value)?),
            tag::LINK_KEY => {
                let tags = [tag::LOCAL_LINK_KEY, tag::TERMINAL, tag::DATA_LINK];
                let ([local, terminal, data_link], _) = parts(tag, tags, value)?;
                Self::LinkKey(LinkKey {
                    local: local.ok_or(MessageParseError::MissingParameter(tag::LOCAL_LINK_KEY))?,
                    terminal: terminal.ok_or(MessageParseError::MissingParameter(tag::TERMINAL))?,
                    data_link: data_link.ok_or(MessageParseError::MissingParameter(tag::DATA_LINK))?,
                })
            }
            tag::PROTOCOL_DATA => Self::ProtocolData(Bytes::copy_from_slice(value)),
            tag::PROTOCOL_DATA_TTC => Self::ProtocolDataTtc(Bytes::copy_from_slice(value)),
            tag::REGISTRATION_RESULT => {
                let tags = [tag::LOCAL_LINK_KEY, tag::REGISTRATION_STATUS];
                let ([local, status], interface) = parts(tag, tags, value)?;
                Self::RegistrationResult(RegistrationResult {
                    local: local.ok_or(MessageParseError::MissingParameter(tag::LOCAL_LINK_KEY))?,
                    status: status.ok_or(MessageParseError::MissingParameter(tag::REGISTRATION_STATUS))?,
                    interface: interface
                        .ok_or(MessageParseError::MissingParameter(interface_tag::INTEGER))?,
                })
            }
            tag::RETRIEVAL_RESULT => match number(tag, value)? {
                result @ 0..=1 => Self::RetrievalResult(result),
                _ => return Err(MessageParseError::InvalidParameterValue(tag)),
            },
            tag::SEQUENCE_NUMBER => Self::SequenceNumber(number(tag, value)?),
            tag::STATE_EVENT => {
                let at = number(tag, value)?.wrapping_sub(1);
                Self::StateEvent(one_of(tag, &LinkEvent::ALL, at)?)
            }
            tag::STATE_REQUEST => Self::StateRequest(one_of(tag, &LinkState::ALL, number(tag, value)?)?),
            _ => return Ok(None),
        };
        Ok(Some(parameter))
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Action(action) => out.extend_from_slice(&(*action as u32).to_be_bytes()),
            Self::CongestionStatus(number)
            | Self::DiscardStatus(number)
            | Self::RetrievalResult(number)
            | Self::SequenceNumber(number) => out.extend_from_slice(&number.to_be_bytes()),
            Self::DeregistrationResult(result) => {
                result.interface.emit(out);
                emit_u32(tag::DEREGISTRATION_STATUS, result.status, out);
            }
            Self::LinkKey(key) => {
                emit_u32(tag::LOCAL_LINK_KEY, key.local, out);
                emit_u32(tag::TERMINAL, key.terminal, out);
                emit_u32(tag::DATA_LINK, key.data_link, out);
            }
            Self::ProtocolData(octets) | Self::ProtocolDataTtc(octets) => out.extend_from_slice(octets),
            Self::RegistrationResult(result) => {
                emit_u32(tag::LOCAL_LINK_KEY, result.local, out);
                emit_u32(tag::REGISTRATION_STATUS, result.status, out);
                result.interface.emit(out);
            }
            Self::StateEvent(event) => out.extend_from_slice(&(*event as u32).to_be_bytes()),
            Self::StateRequest(state) => out.extend_from_slice(&(*state as u32).to_be_bytes()),
        }
    }
}

const HEADER: &[u16] = &[interface_tag::INTEGER, interface_tag::TEXT];
const DATA: &[u16] = &[tag::PROTOCOL_DATA, tag::PROTOCOL_DATA_TTC];

const MODE_AND_INTERFACES: &[u16] = &[
    common_tag::TRAFFIC_MODE,
    interface_tag::INTEGER,
    interface_tag::RANGE,
    interface_tag::TEXT,
    common_tag::INFO,
];

/// ASP traffic maintenance, where the mode may be left to configuration.
const TRAFFIC_MAINTENANCE: &[MessageFormat] = &[
    MessageFormat::new(asp_kind::ASP_ACTIVE, "ASP Active", &[], MODE_AND_INTERFACES),
    MessageFormat::new(asp_kind::ASP_ACTIVE_ACK, "ASP Active Ack", &[], MODE_AND_INTERFACES),
    MessageFormat::new(asp_kind::ASP_INACTIVE, "ASP Inactive", &[], INTERFACES),
    MessageFormat::new(asp_kind::ASP_INACTIVE_ACK, "ASP Inactive Ack", &[], INTERFACES),
];

/// Every message (RFC 3331, section 3.3).
const FORMATS: &[MessageFormat] = &[
    MessageFormat::new(kind::DATA, "Data", &[HEADER, DATA], &[common_tag::CORRELATION_ID]),
    MessageFormat::new(kind::ESTABLISH_REQUEST, "Establish Request", &[HEADER], &[]),
    MessageFormat::new(kind::ESTABLISH_CONFIRM, "Establish Confirm", &[HEADER], &[]),
    MessageFormat::new(kind::RELEASE_REQUEST, "Release Request", &[HEADER], &[]),
    MessageFormat::new(kind::RELEASE_CONFIRM, "Release Confirm", &[HEADER], &[]),
    MessageFormat::new(kind::RELEASE_INDICATION, "Release Indication", &[HEADER], &[]),
    MessageFormat::new(kind::STATE_REQUEST, "State Request", &[HEADER, &[tag::STATE_REQUEST]], &[]),
    MessageFormat::new(kind::STATE_CONFIRM, "State Confirm", &[HEADER, &[tag::STATE_REQUEST]], &[]),
    MessageFormat::new(kind::STATE_INDICATION, "State Indication", &[HEADER, &[tag::STATE_EVENT]], &[]),
    MessageFormat::new(
        kind::RETRIEVAL_REQUEST,
        "Retrieval Request",
        &[HEADER, &[tag::ACTION]],
        &[tag::SEQUENCE_NUMBER],
    ),
    MessageFormat::new(
        kind::RETRIEVAL_CONFIRM,
        "Retrieval Confirm",
        &[HEADER, &[tag::ACTION], &[tag::RETRIEVAL_RESULT]],
        &[tag::SEQUENCE_NUMBER],
    ),
    MessageFormat::new(kind::RETRIEVAL_INDICATION, "Retrieval Indication", &[HEADER, DATA], &[]),
    MessageFormat::new(kind::RETRIEVAL_COMPLETE_INDICATION, "Retrieval Complete Indication", &[HEADER], DATA),
    MessageFormat::new(
        kind::CONGESTION_INDICATION,
        "Congestion Indication",
        &[HEADER, &[tag::CONGESTION_STATUS]],
        &[tag::DISCARD_STATUS],
    ),
    MessageFormat::new(
        kind::DATA_ACKNOWLEDGE,
        "Data Acknowledge",
        &[HEADER, &[common_tag::CORRELATION_ID]],
        &[],
    ),
    MessageFormat::new(kind::REGISTRATION_REQUEST, "REG REQ", &[&[tag::LINK_KEY]], &[]),
    MessageFormat::new(kind::REGISTRATION_RESPONSE, "REG RSP", &[&[tag::REGISTRATION_RESULT]], &[]),
    MessageFormat::new(kind::DEREGISTRATION_REQUEST, "DEREG REQ", &[HEADER], &[]),
    MessageFormat::new(kind::DEREGISTRATION_RESPONSE, "DEREG RSP", &[&[tag::DEREGISTRATION_RESULT]], &[]),
];

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::m2ua::Message;
    use crate::message::tests::{any_message, assert_formats_are_sound, assert_round_trip, assert_total};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn any_interface() -> impl Strategy<Value = InterfaceIdentifier> {
        prop_oneof![
            any::<u32>().prop_map(InterfaceIdentifier::Integer),
            vec(any::<u8>(), 1..9).prop_map(|text| InterfaceIdentifier::Text(text.into())),
        ]
    }

    fn any_own() -> impl Strategy<Value = M2uaParameter> {
        let octets = || vec(any::<u8>(), 0..20).prop_map(Bytes::from);
        prop_oneof![
            select(vec![Action::RetrieveBsn, Action::RetrieveMessages]).prop_map(M2uaParameter::Action),
            (0_u32..4).prop_map(M2uaParameter::CongestionStatus),
            (any_interface(), any::<u32>()).prop_map(|(interface, status)| {
                M2uaParameter::DeregistrationResult(DeregistrationResult { interface, status })
            }),
            (0_u32..4).prop_map(M2uaParameter::DiscardStatus),
            any::<(u32, u32, u32)>().prop_map(|(local, terminal, data_link)| {
                M2uaParameter::LinkKey(LinkKey { local, terminal, data_link })
            }),
            octets().prop_map(M2uaParameter::ProtocolData),
            octets().prop_map(M2uaParameter::ProtocolDataTtc),
            (any::<u32>(), any::<u32>(), any_interface()).prop_map(|(local, status, interface)| {
                M2uaParameter::RegistrationResult(RegistrationResult { local, status, interface })
            }),
            (0_u32..2).prop_map(M2uaParameter::RetrievalResult),
            any::<u32>().prop_map(M2uaParameter::SequenceNumber),
            select(LinkEvent::ALL.to_vec()).prop_map(M2uaParameter::StateEvent),
            select(LinkState::ALL.to_vec()).prop_map(M2uaParameter::StateRequest),
        ]
    }

    #[test]
    fn every_message_is_in_one_table_once() {
        assert_formats_are_sound::<M2uaParameter>();
    }

    #[test]
    fn values_stand_at_their_place_in_the_tables() {
        for (at, state) in (0_u32..).zip(LinkState::ALL) {
            assert_eq!(state as u32, at);
        }
        for (at, event) in (1_u32..).zip(LinkEvent::ALL) {
            assert_eq!(event as u32, at);
        }
    }

    #[test]
    fn a_state_that_nobody_defined_is_an_invalid_value() {
        let octets = [1, 0, 6, 7, 0, 0, 0, 24, 0, 1, 0, 8, 0, 0, 0, 1, 3, 2, 0, 8, 0, 0, 0xab, 0xcd];
        assert_eq!(
            Message::parse(&octets),
            Err(MessageParseError::InvalidParameterValue(tag::STATE_REQUEST))
        );
    }

    #[test]
    fn a_message_without_its_header_lacks_a_parameter() {
        let octets = [1, 0, 6, 2, 0, 0, 0, 8];
        assert!(Message::parse(&octets).is_ok());
        assert_eq!(
            Message::receive(&octets),
            Err(MessageParseError::MissingParameter(interface_tag::INTEGER))
        );
    }

    #[test]
    fn a_traffic_mode_in_asp_up_is_unexpected() {
        let octets = [1, 0, 3, 1, 0, 0, 0, 16, 0, 0x0b, 0, 8, 0, 0, 0, 9];
        assert_eq!(
            Message::receive(&octets),
            Err(MessageParseError::UnexpectedParameter(common_tag::TRAFFIC_MODE))
        );
    }

    proptest! {
        #[test]
        fn messages_round_trip(message in any_message(any_own())) {
            assert_round_trip(&message);
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(class in 0_u8..12, kind in 0_u8..18, rest: Vec<u8>) {
            assert_total::<M2uaParameter>(class, kind, &rest);
        }
    }
}
