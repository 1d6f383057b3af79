//! M3UA messages (RFC 4666, section 3).

use slantpath_ss7::PointCode;

use crate::common::{self, Frame, MessageKind, ParseError, emit_octets, emit_u32, emit_u32_list};
use crate::m3ua::{DeregistrationResult, ProtocolData, RegistrationResult, RoutingKey};

/// Tags of M3UA's own (RFC 4666, section 3.2).
pub(super) mod tag {
    pub(in crate::m3ua) const NETWORK_APPEARANCE: u16 = 0x0200;
    pub(in crate::m3ua) const USER_CAUSE: u16 = 0x0204;
    pub(in crate::m3ua) const CONGESTION: u16 = 0x0205;
    pub(in crate::m3ua) const CONCERNED_DESTINATION: u16 = 0x0206;
    pub(in crate::m3ua) const ROUTING_KEY: u16 = 0x0207;
    pub(in crate::m3ua) const REGISTRATION_RESULT: u16 = 0x0208;
    pub(in crate::m3ua) const DEREGISTRATION_RESULT: u16 = 0x0209;
    pub(in crate::m3ua) const LOCAL_KEY_IDENTIFIER: u16 = 0x020a;
    pub(in crate::m3ua) const DPC: u16 = 0x020b;
    pub(in crate::m3ua) const SERVICE_INDICATORS: u16 = 0x020c;
    pub(in crate::m3ua) const OPC_LIST: u16 = 0x020e;
    pub(in crate::m3ua) const PROTOCOL_DATA: u16 = 0x0210;
    pub(in crate::m3ua) const REGISTRATION_STATUS: u16 = 0x0212;
    pub(in crate::m3ua) const DEREGISTRATION_STATUS: u16 = 0x0213;
}

/// How traffic is shared among the ASPs of an AS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficMode {
    /// One ASP takes all.
    Override = 1,
    /// Active ASPs share it.
    Loadshare = 2,
    /// Each active ASP gets all of it.
    Broadcast = 3,
}

impl TrafficMode {
    pub(super) const fn from_number(number: u32) -> Result<Self, ParseError> {
        match number {
            1 => Ok(Self::Override),
            2 => Ok(Self::Loadshare),
            3 => Ok(Self::Broadcast),
            _ => Err(ParseError::InvalidParameterValue(common::tag::TRAFFIC_MODE)),
        }
    }
}

/// The code of an ERR (RFC 4666, section 3.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

/// Type and information of a NTFY (RFC 4666, section 3.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status {
    /// 1 is a change of AS state, 2 is other.
    pub kind: u16,
    /// What has changed, by type.
    pub information: u16,
}

/// Why a user part is unavailable, and which (RFC 4666, section 3.4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnavailabilityCause {
    /// 0 unknown, 1 unequipped remote user, 2 inaccessible remote user.
    pub cause: u16,
    /// The MTP3 user: its service indicator.
    pub user: u16,
}

/// What the messages of signalling network management speak of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffectedDestinations {
    /// The network of the point codes.
    pub network_appearance: Option<u32>,
    /// Routing contexts concerned.
    pub routing_contexts: Vec<u32>,
    /// Point codes, each with a mask of low bits that may be anything.
    pub point_codes: Vec<(u8, PointCode)>,
    /// Text for people.
    pub info: Option<Vec<u8>>,
}

/// A message, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the parameters of RFC 4666, section 3, by their names")]
pub enum Message {
    /// Payload data.
    Data {
        network_appearance: Option<u32>,
        routing_context: Option<u32>,
        protocol_data: ProtocolData,
        correlation_id: Option<u32>,
    },
    /// Destination unavailable.
    Duna(AffectedDestinations),
    /// Destination available.
    Dava(AffectedDestinations),
    /// Destination state audit.
    Daud(AffectedDestinations),
    /// Signalling congestion.
    Scon { affected: AffectedDestinations, concerned: Option<PointCode>, congestion_level: Option<u8> },
    /// Destination user part unavailable.
    Dupu { affected: AffectedDestinations, cause: UnavailabilityCause },
    /// Destination restricted.
    Drst(AffectedDestinations),
    /// ASP Up.
    AspUp { asp_identifier: Option<u32>, info: Option<Vec<u8>> },
    /// ASP Up Ack.
    AspUpAck { asp_identifier: Option<u32>, info: Option<Vec<u8>> },
    /// ASP Down.
    AspDown { info: Option<Vec<u8>> },
    /// ASP Down Ack.
    AspDownAck { info: Option<Vec<u8>> },
    /// Heartbeat.
    Beat { data: Option<Vec<u8>> },
    /// Heartbeat Ack.
    BeatAck { data: Option<Vec<u8>> },
    /// Registration request.
    RegReq { keys: Vec<RoutingKey> },
    /// Registration response.
    RegRsp { results: Vec<RegistrationResult> },
    /// Deregistration request.
    DeregReq { routing_contexts: Vec<u32> },
    /// Deregistration response.
    DeregRsp { results: Vec<DeregistrationResult> },
    /// ASP Active.
    AspActive { traffic_mode: Option<TrafficMode>, routing_contexts: Vec<u32>, info: Option<Vec<u8>> },
    /// ASP Active Ack.
    AspActiveAck { traffic_mode: Option<TrafficMode>, routing_contexts: Vec<u32>, info: Option<Vec<u8>> },
    /// ASP Inactive.
    AspInactive { routing_contexts: Vec<u32>, info: Option<Vec<u8>> },
    /// ASP Inactive Ack.
    AspInactiveAck { routing_contexts: Vec<u32>, info: Option<Vec<u8>> },
    /// Error.
    Err {
        code: ErrorCode,
        routing_contexts: Vec<u32>,
        network_appearance: Option<u32>,
        point_codes: Vec<(u8, PointCode)>,
        diagnostic: Option<Vec<u8>>,
    },
    /// Notify.
    Ntfy { status: Status, asp_identifier: Option<u32>, routing_contexts: Vec<u32>, info: Option<Vec<u8>> },
}

/// Classes and types (RFC 4666, section 3.1.3).
mod kind {
    use crate::common::MessageKind;

    const fn of(class: u8, kind: u8) -> MessageKind {
        MessageKind { class, kind }
    }

    pub(super) const ERR: MessageKind = of(0, 0);
    pub(super) const NTFY: MessageKind = of(0, 1);
    pub(super) const DATA: MessageKind = of(1, 1);
    pub(super) const DUNA: MessageKind = of(2, 1);
    pub(super) const DAVA: MessageKind = of(2, 2);
    pub(super) const DAUD: MessageKind = of(2, 3);
    pub(super) const SCON: MessageKind = of(2, 4);
    pub(super) const DUPU: MessageKind = of(2, 5);
    pub(super) const DRST: MessageKind = of(2, 6);
    pub(super) const ASP_UP: MessageKind = of(3, 1);
    pub(super) const ASP_DOWN: MessageKind = of(3, 2);
    pub(super) const BEAT: MessageKind = of(3, 3);
    pub(super) const ASP_UP_ACK: MessageKind = of(3, 4);
    pub(super) const ASP_DOWN_ACK: MessageKind = of(3, 5);
    pub(super) const BEAT_ACK: MessageKind = of(3, 6);
    pub(super) const ASP_ACTIVE: MessageKind = of(4, 1);
    pub(super) const ASP_INACTIVE: MessageKind = of(4, 2);
    pub(super) const ASP_ACTIVE_ACK: MessageKind = of(4, 3);
    pub(super) const ASP_INACTIVE_ACK: MessageKind = of(4, 4);
    pub(super) const REG_REQ: MessageKind = of(9, 1);
    pub(super) const REG_RSP: MessageKind = of(9, 2);
    pub(super) const DEREG_REQ: MessageKind = of(9, 3);
    pub(super) const DEREG_RSP: MessageKind = of(9, 4);
}

impl Message {
    /// Reads a message from its version on.
    pub fn parse(octets: &[u8]) -> Result<Self, ParseError> {
        let frame = Frame::parse(octets)?;
        match frame.kind.class {
            0 => Self::parse_management(&frame),
            1 => Self::parse_data(&frame),
            2 => Self::parse_network(&frame),
            3 => Self::parse_asp_state(&frame),
            4 => Self::parse_asp_traffic(&frame),
            9 => Self::parse_registration(&frame),
            _ => Err(ParseError::UnsupportedClass(frame.kind)),
        }
    }

    fn parse_management(frame: &Frame<'_>) -> Result<Self, ParseError> {
        match frame.kind {
            kind::ERR => Ok(Self::Err {
                code: ErrorCode(frame.required_u32(common::tag::ERROR_CODE)?),
                routing_contexts: frame.u32_list(common::tag::ROUTING_CONTEXT)?,
                network_appearance: frame.u32(tag::NETWORK_APPEARANCE)?,
                point_codes: point_codes(frame)?,
                diagnostic: octets(frame, common::tag::DIAGNOSTIC),
            }),
            kind::NTFY => {
                let status = frame.required_u32(common::tag::STATUS)?;
                Ok(Self::Ntfy {
                    status: Status { kind: (status >> 16) as u16, information: (status & 0xffff) as u16 },
                    asp_identifier: frame.u32(common::tag::ASP_IDENTIFIER)?,
                    routing_contexts: frame.u32_list(common::tag::ROUTING_CONTEXT)?,
                    info: octets(frame, common::tag::INFO),
                })
            }
            other => Err(ParseError::UnsupportedType(other)),
        }
    }

    fn parse_data(frame: &Frame<'_>) -> Result<Self, ParseError> {
        if frame.kind != kind::DATA {
            return Err(ParseError::UnsupportedType(frame.kind));
        }
        Ok(Self::Data {
            network_appearance: frame.u32(tag::NETWORK_APPEARANCE)?,
            routing_context: frame.u32(common::tag::ROUTING_CONTEXT)?,
            protocol_data: ProtocolData::parse(frame.required(tag::PROTOCOL_DATA)?)?,
            correlation_id: frame.u32(common::tag::CORRELATION_ID)?,
        })
    }

    fn parse_network(frame: &Frame<'_>) -> Result<Self, ParseError> {
        let known = [kind::DUNA, kind::DAVA, kind::DAUD, kind::SCON, kind::DUPU, kind::DRST];
        if !known.contains(&frame.kind) {
            return Err(ParseError::UnsupportedType(frame.kind));
        }
        if frame.required(common::tag::AFFECTED_POINT_CODE)?.is_empty() {
            return Err(ParseError::InvalidParameterValue(common::tag::AFFECTED_POINT_CODE));
        }
        let affected = AffectedDestinations {
            network_appearance: frame.u32(tag::NETWORK_APPEARANCE)?,
            routing_contexts: frame.u32_list(common::tag::ROUTING_CONTEXT)?,
            point_codes: point_codes(frame)?,
            info: octets(frame, common::tag::INFO),
        };
        match frame.kind {
            kind::DUNA => Ok(Self::Duna(affected)),
            kind::DAVA => Ok(Self::Dava(affected)),
            kind::DAUD => Ok(Self::Daud(affected)),
            kind::DRST => Ok(Self::Drst(affected)),
            kind::SCON => Ok(Self::Scon {
                affected,
                concerned: frame.u32(tag::CONCERNED_DESTINATION)?.map(|code| PointCode(code & 0xff_ffff)),
                congestion_level: frame.u32(tag::CONGESTION)?.map(|level| (level & 0xff) as u8),
            }),
            _ => {
                let cause = frame.required_u32(tag::USER_CAUSE)?;
                let cause =
                    UnavailabilityCause { cause: (cause >> 16) as u16, user: (cause & 0xffff) as u16 };
                Ok(Self::Dupu { affected, cause })
            }
        }
    }

    fn parse_asp_state(frame: &Frame<'_>) -> Result<Self, ParseError> {
        let info = octets(frame, common::tag::INFO);
        let asp_identifier = frame.u32(common::tag::ASP_IDENTIFIER)?;
        match frame.kind {
            kind::ASP_UP => Ok(Self::AspUp { asp_identifier, info }),
            kind::ASP_UP_ACK => Ok(Self::AspUpAck { asp_identifier, info }),
            kind::ASP_DOWN => Ok(Self::AspDown { info }),
            kind::ASP_DOWN_ACK => Ok(Self::AspDownAck { info }),
            kind::BEAT => Ok(Self::Beat { data: octets(frame, common::tag::HEARTBEAT) }),
            kind::BEAT_ACK => Ok(Self::BeatAck { data: octets(frame, common::tag::HEARTBEAT) }),
            other => Err(ParseError::UnsupportedType(other)),
        }
    }

    fn parse_asp_traffic(frame: &Frame<'_>) -> Result<Self, ParseError> {
        let info = octets(frame, common::tag::INFO);
        let routing_contexts = frame.u32_list(common::tag::ROUTING_CONTEXT)?;
        let traffic_mode = frame.u32(common::tag::TRAFFIC_MODE)?.map(TrafficMode::from_number).transpose()?;
        match frame.kind {
            kind::ASP_ACTIVE => Ok(Self::AspActive { traffic_mode, routing_contexts, info }),
            kind::ASP_ACTIVE_ACK => Ok(Self::AspActiveAck { traffic_mode, routing_contexts, info }),
            kind::ASP_INACTIVE => Ok(Self::AspInactive { routing_contexts, info }),
            kind::ASP_INACTIVE_ACK => Ok(Self::AspInactiveAck { routing_contexts, info }),
            other => Err(ParseError::UnsupportedType(other)),
        }
    }

    fn parse_registration(frame: &Frame<'_>) -> Result<Self, ParseError> {
        match frame.kind {
            kind::REG_REQ => Ok(Self::RegReq { keys: all(frame, tag::ROUTING_KEY, RoutingKey::parse)? }),
            kind::REG_RSP => {
                Ok(Self::RegRsp { results: all(frame, tag::REGISTRATION_RESULT, RegistrationResult::parse)? })
            }
            kind::DEREG_REQ => {
                frame.required(common::tag::ROUTING_CONTEXT)?;
                Ok(Self::DeregReq { routing_contexts: frame.u32_list(common::tag::ROUTING_CONTEXT)? })
            }
            kind::DEREG_RSP => Ok(Self::DeregRsp {
                results: all(frame, tag::DEREGISTRATION_RESULT, DeregistrationResult::parse)?,
            }),
            other => Err(ParseError::UnsupportedType(other)),
        }
    }

    /// Which message this is.
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::Data { .. } => kind::DATA,
            Self::Duna(_) => kind::DUNA,
            Self::Dava(_) => kind::DAVA,
            Self::Daud(_) => kind::DAUD,
            Self::Scon { .. } => kind::SCON,
            Self::Dupu { .. } => kind::DUPU,
            Self::Drst(_) => kind::DRST,
            Self::AspUp { .. } => kind::ASP_UP,
            Self::AspUpAck { .. } => kind::ASP_UP_ACK,
            Self::AspDown { .. } => kind::ASP_DOWN,
            Self::AspDownAck { .. } => kind::ASP_DOWN_ACK,
            Self::Beat { .. } => kind::BEAT,
            Self::BeatAck { .. } => kind::BEAT_ACK,
            Self::RegReq { .. } => kind::REG_REQ,
            Self::RegRsp { .. } => kind::REG_RSP,
            Self::DeregReq { .. } => kind::DEREG_REQ,
            Self::DeregRsp { .. } => kind::DEREG_RSP,
            Self::AspActive { .. } => kind::ASP_ACTIVE,
            Self::AspActiveAck { .. } => kind::ASP_ACTIVE_ACK,
            Self::AspInactive { .. } => kind::ASP_INACTIVE,
            Self::AspInactiveAck { .. } => kind::ASP_INACTIVE_ACK,
            Self::Err { .. } => kind::ERR,
            Self::Ntfy { .. } => kind::NTFY,
        }
    }

    /// Appends the message from its version on, parameters in the order of the RFC.
    pub fn emit(&self, out: &mut Vec<u8>) {
        common::emit(self.kind(), out, |out| self.emit_parameters(out));
    }

    fn emit_parameters(&self, out: &mut Vec<u8>) {
        match self {
            Self::Data { network_appearance, routing_context, protocol_data, correlation_id } => {
                emit_u32_list(tag::NETWORK_APPEARANCE, network_appearance.as_slice(), out);
                emit_u32_list(common::tag::ROUTING_CONTEXT, routing_context.as_slice(), out);
                slantpath_wire::tlv::write(out, tag::PROTOCOL_DATA, |out| protocol_data.emit(out));
                emit_u32_list(common::tag::CORRELATION_ID, correlation_id.as_slice(), out);
            }
            Self::Duna(affected) | Self::Dava(affected) | Self::Daud(affected) | Self::Drst(affected) => {
                affected.emit(out);
                emit_optional(common::tag::INFO, affected.info.as_deref(), out);
            }
            Self::Scon { affected, concerned, congestion_level } => {
                affected.emit(out);
                let concerned = concerned.map(|code| code.0);
                emit_u32_list(tag::CONCERNED_DESTINATION, concerned.as_slice(), out);
                emit_u32_list(tag::CONGESTION, congestion_level.map(u32::from).as_slice(), out);
                emit_optional(common::tag::INFO, affected.info.as_deref(), out);
            }
            Self::Dupu { affected, cause } => {
                affected.emit(out);
                emit_u32(tag::USER_CAUSE, u32::from(cause.cause) << 16 | u32::from(cause.user), out);
                emit_optional(common::tag::INFO, affected.info.as_deref(), out);
            }
            Self::AspUp { asp_identifier, info } | Self::AspUpAck { asp_identifier, info } => {
                emit_u32_list(common::tag::ASP_IDENTIFIER, asp_identifier.as_slice(), out);
                emit_optional(common::tag::INFO, info.as_deref(), out);
            }
            Self::AspDown { info } | Self::AspDownAck { info } => {
                emit_optional(common::tag::INFO, info.as_deref(), out);
            }
            Self::Beat { data } | Self::BeatAck { data } => {
                emit_optional(common::tag::HEARTBEAT, data.as_deref(), out);
            }
            Self::RegReq { keys } => keys.iter().for_each(|key| key.emit(out)),
            Self::RegRsp { results } => results.iter().for_each(|result| result.emit(out)),
            Self::DeregReq { routing_contexts } => {
                let octets: Vec<u8> =
                    routing_contexts.iter().flat_map(|context| context.to_be_bytes()).collect();
                emit_octets(common::tag::ROUTING_CONTEXT, &octets, out);
            }
            Self::DeregRsp { results } => results.iter().for_each(|result| result.emit(out)),
            Self::AspActive { traffic_mode, routing_contexts, info }
            | Self::AspActiveAck { traffic_mode, routing_contexts, info } => {
                let mode = traffic_mode.map(|mode| mode as u32);
                emit_u32_list(common::tag::TRAFFIC_MODE, mode.as_slice(), out);
                emit_u32_list(common::tag::ROUTING_CONTEXT, routing_contexts, out);
                emit_optional(common::tag::INFO, info.as_deref(), out);
            }
            Self::AspInactive { routing_contexts, info }
            | Self::AspInactiveAck { routing_contexts, info } => {
                emit_u32_list(common::tag::ROUTING_CONTEXT, routing_contexts, out);
                emit_optional(common::tag::INFO, info.as_deref(), out);
            }
            Self::Err { code, routing_contexts, network_appearance, point_codes, diagnostic } => {
                emit_u32(common::tag::ERROR_CODE, code.0, out);
                emit_u32_list(common::tag::ROUTING_CONTEXT, routing_contexts, out);
                emit_u32_list(tag::NETWORK_APPEARANCE, network_appearance.as_slice(), out);
                emit_point_codes(point_codes, out);
                emit_optional(common::tag::DIAGNOSTIC, diagnostic.as_deref(), out);
            }
            Self::Ntfy { status, asp_identifier, routing_contexts, info } => {
                let status = u32::from(status.kind) << 16 | u32::from(status.information);
                emit_u32(common::tag::STATUS, status, out);
                emit_u32_list(common::tag::ASP_IDENTIFIER, asp_identifier.as_slice(), out);
                emit_u32_list(common::tag::ROUTING_CONTEXT, routing_contexts, out);
                emit_optional(common::tag::INFO, info.as_deref(), out);
            }
        }
    }
}

impl AffectedDestinations {
    fn emit(&self, out: &mut Vec<u8>) {
        emit_u32_list(tag::NETWORK_APPEARANCE, self.network_appearance.as_slice(), out);
        emit_u32_list(common::tag::ROUTING_CONTEXT, &self.routing_contexts, out);
        emit_point_codes(&self.point_codes, out);
    }
}

fn all<T>(
    frame: &Frame<'_>,
    tag: u16,
    parse: impl Fn(&[u8]) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    frame.required(tag)?;
    frame
        .parameters()
        .filter(|parameter| parameter.kind == tag)
        .map(|parameter| parse(parameter.value))
        .collect()
}

fn octets(frame: &Frame<'_>, tag: u16) -> Option<Vec<u8>> {
    frame.value(tag).map(<[u8]>::to_vec)
}

fn emit_optional(tag: u16, value: Option<&[u8]>, out: &mut Vec<u8>) {
    if let Some(value) = value {
        emit_octets(tag, value, out);
    }
}

fn point_codes(frame: &Frame<'_>) -> Result<Vec<(u8, PointCode)>, ParseError> {
    let numbers = frame.u32_list(common::tag::AFFECTED_POINT_CODE)?;
    Ok(numbers.into_iter().map(|number| ((number >> 24) as u8, PointCode(number & 0xff_ffff))).collect())
}

fn emit_point_codes(codes: &[(u8, PointCode)], out: &mut Vec<u8>) {
    let numbers: Vec<u32> =
        codes.iter().map(|(mask, code)| u32::from(*mask) << 24 | code.0 & 0xff_ffff).collect();
    emit_u32_list(common::tag::AFFECTED_POINT_CODE, &numbers, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::m3ua::KeyDestination;
    use proptest::prelude::*;
    use slantpath_ss7::mtp3::Sls;

    fn any_code() -> impl Strategy<Value = PointCode> {
        (0_u32..1 << 24).prop_map(PointCode)
    }

    fn some_octets() -> impl Strategy<Value = Option<Vec<u8>>> {
        proptest::option::of(proptest::collection::vec(any::<u8>(), 0..30))
    }

    fn some_contexts() -> impl Strategy<Value = Vec<u32>> {
        proptest::collection::vec(any::<u32>(), 0..4)
    }

    fn some_mode() -> impl Strategy<Value = Option<TrafficMode>> {
        let modes = vec![TrafficMode::Override, TrafficMode::Loadshare, TrafficMode::Broadcast];
        proptest::option::of(proptest::sample::select(modes))
    }

    fn any_affected() -> impl Strategy<Value = AffectedDestinations> {
        let codes = proptest::collection::vec((any::<u8>(), any_code()), 1..5);
        (any::<Option<u32>>(), some_contexts(), codes, some_octets()).prop_map(
            |(network_appearance, routing_contexts, point_codes, info)| AffectedDestinations {
                network_appearance,
                routing_contexts,
                point_codes,
                info,
            },
        )
    }

    fn any_data() -> impl Strategy<Value = Message> {
        let data = (any::<(u32, u32)>(), any::<[u8; 4]>(), proptest::collection::vec(any::<u8>(), 0..280));
        let data = data.prop_map(|((opc, dpc), [si, ni, mp, sls], user_data)| ProtocolData {
            opc: PointCode(opc),
            dpc: PointCode(dpc),
            service_indicator: si,
            network_indicator: ni,
            priority: mp,
            sls: Sls(sls),
            user_data,
        });
        (any::<[Option<u32>; 3]>(), data).prop_map(
            |([network_appearance, routing_context, correlation_id], protocol_data)| Message::Data {
                network_appearance,
                routing_context,
                protocol_data,
                correlation_id,
            },
        )
    }

    fn any_registration() -> impl Strategy<Value = Message> {
        let destination = (
            any_code(),
            proptest::collection::vec(any::<u8>(), 0..4),
            proptest::collection::vec(any_code(), 0..3),
        )
            .prop_map(|(dpc, service_indicators, opcs)| KeyDestination {
                dpc,
                service_indicators,
                opcs,
            });
        let destinations = proptest::collection::vec(destination, 1..3);
        let key = (any::<u32>(), any::<[Option<u32>; 2]>(), some_mode(), destinations).prop_map(
            |(local_identifier, [routing_context, network_appearance], traffic_mode, destinations)| {
                RoutingKey {
                    local_identifier,
                    routing_context,
                    traffic_mode,
                    network_appearance,
                    destinations,
                }
            },
        );
        let result = any::<[u32; 3]>().prop_map(|[local_identifier, status, routing_context]| {
            RegistrationResult { local_identifier, status, routing_context }
        });
        let deregistered = any::<[u32; 2]>()
            .prop_map(|[routing_context, status]| DeregistrationResult { routing_context, status });
        prop_oneof![
            proptest::collection::vec(key, 1..3).prop_map(|keys| Message::RegReq { keys }),
            proptest::collection::vec(result, 1..3).prop_map(|results| Message::RegRsp { results }),
            some_contexts().prop_map(|routing_contexts| Message::DeregReq { routing_contexts }),
            proptest::collection::vec(deregistered, 1..3).prop_map(|results| Message::DeregRsp { results }),
        ]
    }

    fn any_message() -> impl Strategy<Value = Message> {
        prop_oneof![
            any_data(),
            any_registration(),
            any_affected().prop_map(Message::Duna),
            any_affected().prop_map(Message::Dava),
            any_affected().prop_map(Message::Daud),
            any_affected().prop_map(Message::Drst),
            (any_affected(), proptest::option::of(any_code()), any::<Option<u8>>()).prop_map(
                |(affected, concerned, congestion_level)| Message::Scon {
                    affected,
                    concerned,
                    congestion_level
                }
            ),
            (any_affected(), any::<u16>(), any::<u16>()).prop_map(|(affected, cause, user)| Message::Dupu {
                affected,
                cause: UnavailabilityCause { cause, user }
            }),
            (any::<Option<u32>>(), some_octets())
                .prop_map(|(asp_identifier, info)| Message::AspUp { asp_identifier, info }),
            some_octets().prop_map(|info| Message::AspDown { info }),
            some_octets().prop_map(|data| Message::Beat { data }),
            (some_mode(), some_contexts(), some_octets()).prop_map(
                |(traffic_mode, routing_contexts, info)| {
                    Message::AspActive { traffic_mode, routing_contexts, info }
                }
            ),
            (some_contexts(), some_octets())
                .prop_map(|(routing_contexts, info)| Message::AspInactive { routing_contexts, info }),
            (any::<(u16, u16)>(), any::<Option<u32>>(), some_contexts(), some_octets()).prop_map(
                |((kind, information), asp_identifier, routing_contexts, info)| Message::Ntfy {
                    status: Status { kind, information },
                    asp_identifier,
                    routing_contexts,
                    info
                }
            ),
            (any::<u32>(), some_contexts(), any::<Option<u32>>(), some_octets()).prop_map(
                |(code, routing_contexts, network_appearance, diagnostic)| Message::Err {
                    code: ErrorCode(code),
                    routing_contexts,
                    network_appearance,
                    point_codes: Vec::new(),
                    diagnostic
                }
            ),
        ]
    }

    #[test]
    fn a_message_without_what_it_must_have_names_the_parameter() {
        let duna = [1, 0, 2, 1, 0, 0, 0, 8];
        assert_eq!(
            Message::parse(&duna),
            Err(ParseError::MissingParameter(common::tag::AFFECTED_POINT_CODE))
        );
        let empty = [1, 0, 2, 1, 0, 0, 0, 12, 0, 18, 0, 4];
        assert_eq!(
            Message::parse(&empty),
            Err(ParseError::InvalidParameterValue(common::tag::AFFECTED_POINT_CODE))
        );
        let data = [1, 0, 1, 1, 0, 0, 0, 8];
        assert_eq!(Message::parse(&data), Err(ParseError::MissingParameter(tag::PROTOCOL_DATA)));
    }

    #[test]
    fn unknown_classes_and_types_are_told_apart() {
        let kind = MessageKind { class: 5, kind: 1 };
        assert_eq!(Message::parse(&[1, 0, 5, 1, 0, 0, 0, 8]), Err(ParseError::UnsupportedClass(kind)));
        let kind = MessageKind { class: 3, kind: 9 };
        assert_eq!(Message::parse(&[1, 0, 3, 9, 0, 0, 0, 8]), Err(ParseError::UnsupportedType(kind)));
    }

    proptest! {
        #[test]
        fn messages_round_trip(message in any_message()) {
            let mut octets = Vec::new();
            message.emit(&mut octets);
            prop_assert_eq!(octets.len() % 4, 0);
            prop_assert_eq!(Message::parse(&octets), Ok(message));
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(mut octets: Vec<u8>, class in 0_u8..10, kind in 0_u8..8) {
            let _ = Message::parse(&octets);
            if octets.len() >= 8 {
                let len = u32::try_from(octets.len()).unwrap().to_be_bytes();
                octets[..8].copy_from_slice(&[1, 0, class, kind, len[0], len[1], len[2], len[3]]);
                let _ = Message::parse(&octets);
            }
        }
    }
}
