//! M3UA messages (RFC 4666, section 3).

use bytes::Bytes;
use slantpath_ss7::PointCode;

use crate::asp::{AdaptationLayer, AspMessage, ErrorCode, Parameters, RoutingContexts};
use crate::common::{self, Frame, MessageKind, MessageParseError, emit_octets, emit_u32, emit_u32_list};
use crate::m3ua::{Data, DeregistrationResult, RegistrationResult, RoutingKey, data};

/// M3UA, as its ASPs see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum M3ua {}

impl AdaptationLayer for M3ua {
    const PAYLOAD_PROTOCOL: u32 = 3;
    const INVALID_SCOPE: ErrorCode = ErrorCode::INVALID_ROUTING_CONTEXT;
    type Scope = RoutingContexts;
    type Evidence = AffectedPlace;
    type Labels = ();
}

/// Evidence of an ERR beside routing contexts (RFC 4666, section 3.8.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffectedPlace {
    /// The network that is unknown, or that the point codes belong to.
    pub network_appearance: Option<u32>,
    /// Point codes, each with a mask of low bits that may be anything.
    pub point_codes: Vec<(u8, PointCode)>,
}

impl Parameters for AffectedPlace {
    fn parse(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        Ok(Self { network_appearance: frame.u32(tag::NETWORK_APPEARANCE)?, point_codes: point_codes(frame)? })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit_u32_list(tag::NETWORK_APPEARANCE, self.network_appearance.as_slice(), out);
        emit_point_codes(&self.point_codes, out);
    }
}

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

/// Why a user part is unavailable, and which (RFC 4666, section 3.4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnavailabilityCause {
    /// 0 unknown, 1 unequipped remote user, 2 inaccessible remote user.
    pub cause: u16,
    /// The MTP3 user: its service indicator.
    pub user: u16,
}

/// Destinations of which the messages of signalling network management speak.
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
    /// Payload data (DATA).
    Data(Data),
    /// Destination unavailable (DUNA).
    Duna(AffectedDestinations),
    /// Destination available (DAVA).
    Dava(AffectedDestinations),
    /// Destination state audit.
    Daud(AffectedDestinations),
    /// Signalling congestion (SCON).
    Scon { affected: AffectedDestinations, concerned: Option<PointCode>, congestion_level: Option<u8> },
    /// Destination user part unavailable.
    Dupu { affected: AffectedDestinations, cause: UnavailabilityCause },
    /// Destination restricted (DRST).
    Drst(AffectedDestinations),
    /// Registration request (REG REQ).
    RegReq { keys: Vec<RoutingKey> },
    /// Registration response (REG RSP).
    RegRsp { results: Vec<RegistrationResult> },
    /// Deregistration request (DEREG REQ).
    DeregReq { routing_contexts: Vec<u32> },
    /// Deregistration response (DEREG RSP).
    DeregRsp { results: Vec<DeregistrationResult> },
    /// ASP state and traffic maintenance, errors and notifications.
    Asp(AspMessage<M3ua>),
}

/// Classes and types (RFC 4666, section 3.1.3).
mod kind {
    use crate::common::MessageKind;

    const fn of(class: u8, kind: u8) -> MessageKind {
        MessageKind { class, kind }
    }

    pub(super) const DUNA: MessageKind = of(2, 1);
    pub(super) const DAVA: MessageKind = of(2, 2);
    pub(super) const DAUD: MessageKind = of(2, 3);
    pub(super) const SCON: MessageKind = of(2, 4);
    pub(super) const DUPU: MessageKind = of(2, 5);
    pub(super) const DRST: MessageKind = of(2, 6);
    pub(super) const REG_REQ: MessageKind = of(9, 1);
    pub(super) const REG_RSP: MessageKind = of(9, 2);
    pub(super) const DEREG_REQ: MessageKind = of(9, 3);
    pub(super) const DEREG_RSP: MessageKind = of(9, 4);
}

impl Message {
    /// Reads a message from its version on.
    pub fn parse(octets: &Bytes) -> Result<Self, MessageParseError> {
        let frame = Frame::parse(octets)?;
        match frame.kind.class {
            0 | 3 | 4 => AspMessage::parse(&frame).map(Self::Asp),
            1 => Data::parse(octets).map(Self::Data),
            2 => Self::parse_network(&frame),
            9 => Self::parse_registration(&frame),
            _ => Err(MessageParseError::UnsupportedClass(frame.kind)),
        }
    }

    fn parse_network(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        let known = [kind::DUNA, kind::DAVA, kind::DAUD, kind::SCON, kind::DUPU, kind::DRST];
        if !known.contains(&frame.kind) {
            return Err(MessageParseError::UnsupportedType(frame.kind));
        }
        if frame.required(common::tag::AFFECTED_POINT_CODE)?.is_empty() {
            return Err(MessageParseError::InvalidParameterValue(common::tag::AFFECTED_POINT_CODE));
        }
        let affected = AffectedDestinations {
            network_appearance: frame.u32(tag::NETWORK_APPEARANCE)?,
            routing_contexts: frame.u32_list(common::tag::ROUTING_CONTEXT)?,
            point_codes: point_codes(frame)?,
            info: frame.octets(common::tag::INFO),
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

    fn parse_registration(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
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
            other => Err(MessageParseError::UnsupportedType(other)),
        }
    }

    /// Gives the class and type of the message.
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::Data(_) => data::KIND,
            Self::Duna(_) => kind::DUNA,
            Self::Dava(_) => kind::DAVA,
            Self::Daud(_) => kind::DAUD,
            Self::Scon { .. } => kind::SCON,
            Self::Dupu { .. } => kind::DUPU,
            Self::Drst(_) => kind::DRST,
            Self::RegReq { .. } => kind::REG_REQ,
            Self::RegRsp { .. } => kind::REG_RSP,
            Self::DeregReq { .. } => kind::DEREG_REQ,
            Self::DeregRsp { .. } => kind::DEREG_RSP,
            Self::Asp(message) => message.kind(),
        }
    }

    /// Appends the message from its version on, parameters in the order of the RFC.
    pub fn emit(&self, out: &mut Vec<u8>) {
        if let Self::Data(data) = self {
            data.write(out);
        } else {
            common::emit(self.kind(), out, |out| self.emit_parameters(out));
        }
    }

    fn emit_parameters(&self, out: &mut Vec<u8>) {
        match self {
            // DATA has a writer of its own.
            Self::Data(_) => {}
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
            Self::RegReq { keys } => keys.iter().for_each(|key| key.emit(out)),
            Self::RegRsp { results } => results.iter().for_each(|result| result.emit(out)),
            Self::DeregReq { routing_contexts } => {
                let octets: Vec<u8> =
                    routing_contexts.iter().flat_map(|context| context.to_be_bytes()).collect();
                emit_octets(common::tag::ROUTING_CONTEXT, &octets, out);
            }
            Self::DeregRsp { results } => results.iter().for_each(|result| result.emit(out)),
            Self::Asp(message) => message.emit_parameters(out),
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
    parse: impl Fn(&[u8]) -> Result<T, MessageParseError>,
) -> Result<Vec<T>, MessageParseError> {
    frame.required(tag)?;
    frame
        .parameters()
        .filter(|parameter| parameter.kind == tag)
        .map(|parameter| parse(parameter.value))
        .collect()
}

fn emit_optional(tag: u16, value: Option<&[u8]>, out: &mut Vec<u8>) {
    if let Some(value) = value {
        emit_octets(tag, value, out);
    }
}

fn point_codes(frame: &Frame<'_>) -> Result<Vec<(u8, PointCode)>, MessageParseError> {
    let numbers = frame.u32_list(common::tag::AFFECTED_POINT_CODE)?;
    Ok(numbers.into_iter().map(|number| ((number >> 24) as u8, PointCode(number & 0xff_ffff))).collect())
}

fn emit_point_codes(codes: &[(u8, PointCode)], out: &mut Vec<u8>) {
    let numbers: Vec<u32> =
        codes.iter().map(|(mask, code)| u32::from(*mask) << 24 | code.0 & 0xff_ffff).collect();
    emit_u32_list(common::tag::AFFECTED_POINT_CODE, &numbers, out);
}

#[cfg(test)]
mod tests;
