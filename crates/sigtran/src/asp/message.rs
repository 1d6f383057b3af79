//! The messages of classes 0, 3 and 4 (RFC 4666, sections 3.5, 3.7 and 3.8), which differ between layers in what they
//! concern only.

use crate::asp::{AdaptationLayer, ErrorCode, Parameters, Status, TrafficMode};
use crate::common::{Frame, MessageKind, MessageParseError, emit_octets, emit_u32, emit_u32_list, tag};

/// A message about ASPs and application servers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the parameters of RFC 4666, section 3, by their names")]
pub enum AspMessage<L: AdaptationLayer> {
    /// ASP Up.
    AspUp { asp_identifier: Option<u32>, info: Option<Vec<u8>> },
    /// ASP Up Ack.
    AspUpAck { asp_identifier: Option<u32>, info: Option<Vec<u8>> },
    /// ASP Down.
    AspDown { info: Option<Vec<u8>> },
    /// ASP Down Ack.
    AspDownAck { info: Option<Vec<u8>> },
    /// Heartbeat (BEAT) message.
    Beat { data: Option<Vec<u8>> },
    /// Heartbeat Ack (BEAT ACK).
    BeatAck { data: Option<Vec<u8>> },
    /// ASP Active.
    AspActive { traffic_mode: Option<TrafficMode>, scope: L::Scope, labels: L::Labels, info: Option<Vec<u8>> },
    /// ASP Active Ack.
    AspActiveAck { traffic_mode: Option<TrafficMode>, scope: L::Scope, info: Option<Vec<u8>> },
    /// ASP Inactive.
    AspInactive { scope: L::Scope, info: Option<Vec<u8>> },
    /// ASP Inactive Ack.
    AspInactiveAck { scope: L::Scope, info: Option<Vec<u8>> },
    /// Error (ERR) message.
    Err { code: ErrorCode, scope: L::Scope, evidence: L::Evidence, diagnostic: Option<Vec<u8>> },
    /// Notify (NTFY) message.
    Ntfy { status: Status, asp_identifier: Option<u32>, scope: L::Scope, info: Option<Vec<u8>> },
}

/// Classes and types (RFC 4666, section 3.1.2).
#[expect(missing_docs, reason = "each is the message of RFC 4666, section 3, of that name")]
pub mod kind {
    use crate::common::MessageKind;

    const fn of(class: u8, kind: u8) -> MessageKind {
        MessageKind { class, kind }
    }

    pub const ERR: MessageKind = of(0, 0);
    pub const NTFY: MessageKind = of(0, 1);
    pub const ASP_UP: MessageKind = of(3, 1);
    pub const ASP_DOWN: MessageKind = of(3, 2);
    pub const BEAT: MessageKind = of(3, 3);
    pub const ASP_UP_ACK: MessageKind = of(3, 4);
    pub const ASP_DOWN_ACK: MessageKind = of(3, 5);
    pub const BEAT_ACK: MessageKind = of(3, 6);
    pub const ASP_ACTIVE: MessageKind = of(4, 1);
    pub const ASP_INACTIVE: MessageKind = of(4, 2);
    pub const ASP_ACTIVE_ACK: MessageKind = of(4, 3);
    pub const ASP_INACTIVE_ACK: MessageKind = of(4, 4);
}

/// Octets of the offending message that an ERR quotes.
const DIAGNOSTIC_LEN: usize = 40;

impl<L: AdaptationLayer> AspMessage<L> {
    /// An ERR about a message.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
    //# For this error,
    //# the Diagnostic Information parameter MUST be included with the first
    //# 40 octets of the offending message.
    pub fn error(code: ErrorCode, scope: L::Scope, offending: &[u8]) -> Self {
        let quoted = &offending[..offending.len().min(DIAGNOSTIC_LEN)];
        let diagnostic = (!quoted.is_empty()).then(|| quoted.to_vec());
        Self::Err { code, scope, evidence: L::Evidence::default(), diagnostic }
    }

    /// Reads a frame of class 0, 3 or 4; any other class is told as unsupported.
    pub fn parse(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        match frame.kind.class {
            0 => Self::parse_management(frame),
            3 => Self::parse_state(frame),
            4 => Self::parse_traffic(frame),
            _ => Err(MessageParseError::UnsupportedClass(frame.kind)),
        }
    }

    fn parse_management(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        match frame.kind {
            kind::ERR => Ok(Self::Err {
                code: ErrorCode(frame.required_u32(tag::ERROR_CODE)?),
                scope: L::Scope::parse(frame)?,
                evidence: L::Evidence::parse(frame)?,
                diagnostic: frame.octets(tag::DIAGNOSTIC),
            }),
            kind::NTFY => Ok(Self::Ntfy {
                status: Status::from_number(frame.required_u32(tag::STATUS)?),
                asp_identifier: frame.u32(tag::ASP_IDENTIFIER)?,
                scope: L::Scope::parse(frame)?,
                info: frame.octets(tag::INFO),
            }),
            other => Err(MessageParseError::UnsupportedType(other)),
        }
    }

    fn parse_state(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        let info = frame.octets(tag::INFO);
        let data = frame.octets(tag::HEARTBEAT);
        let asp_identifier = frame.u32(tag::ASP_IDENTIFIER)?;
        match frame.kind {
            kind::ASP_UP => Ok(Self::AspUp { asp_identifier, info }),
            kind::ASP_UP_ACK => Ok(Self::AspUpAck { asp_identifier, info }),
            kind::ASP_DOWN => Ok(Self::AspDown { info }),
            kind::ASP_DOWN_ACK => Ok(Self::AspDownAck { info }),
            kind::BEAT => Ok(Self::Beat { data }),
            kind::BEAT_ACK => Ok(Self::BeatAck { data }),
            other => Err(MessageParseError::UnsupportedType(other)),
        }
    }

    fn parse_traffic(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        let info = frame.octets(tag::INFO);
        let scope = L::Scope::parse(frame)?;
        let traffic_mode = frame.u32(tag::TRAFFIC_MODE)?.map(TrafficMode::from_number).transpose()?;
        match frame.kind {
            kind::ASP_ACTIVE => {
                Ok(Self::AspActive { traffic_mode, scope, labels: L::Labels::parse(frame)?, info })
            }
            kind::ASP_ACTIVE_ACK => Ok(Self::AspActiveAck { traffic_mode, scope, info }),
            kind::ASP_INACTIVE => Ok(Self::AspInactive { scope, info }),
            kind::ASP_INACTIVE_ACK => Ok(Self::AspInactiveAck { scope, info }),
            other => Err(MessageParseError::UnsupportedType(other)),
        }
    }

    /// Gives the class and type of the message.
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::AspUp { .. } => kind::ASP_UP,
            Self::AspUpAck { .. } => kind::ASP_UP_ACK,
            Self::AspDown { .. } => kind::ASP_DOWN,
            Self::AspDownAck { .. } => kind::ASP_DOWN_ACK,
            Self::Beat { .. } => kind::BEAT,
            Self::BeatAck { .. } => kind::BEAT_ACK,
            Self::AspActive { .. } => kind::ASP_ACTIVE,
            Self::AspActiveAck { .. } => kind::ASP_ACTIVE_ACK,
            Self::AspInactive { .. } => kind::ASP_INACTIVE,
            Self::AspInactiveAck { .. } => kind::ASP_INACTIVE_ACK,
            Self::Err { .. } => kind::ERR,
            Self::Ntfy { .. } => kind::NTFY,
        }
    }

    /// Appends the parameters, in the order of the RFC; [`crate::common::emit`] writes the header before them.
    pub fn emit_parameters(&self, out: &mut Vec<u8>) {
        match self {
            Self::AspUp { asp_identifier, info } | Self::AspUpAck { asp_identifier, info } => {
                emit_u32_list(tag::ASP_IDENTIFIER, asp_identifier.as_slice(), out);
                emit_optional(tag::INFO, info.as_deref(), out);
            }
            Self::AspDown { info } | Self::AspDownAck { info } => {
                emit_optional(tag::INFO, info.as_deref(), out);
            }
            Self::Beat { data } | Self::BeatAck { data } => {
                emit_optional(tag::HEARTBEAT, data.as_deref(), out);
            }
            Self::AspActive { traffic_mode, scope, labels, info } => {
                emit_traffic_mode(*traffic_mode, out);
                scope.emit(out);
                labels.emit(out);
                emit_optional(tag::INFO, info.as_deref(), out);
            }
            Self::AspActiveAck { traffic_mode, scope, info } => {
                emit_traffic_mode(*traffic_mode, out);
                scope.emit(out);
                emit_optional(tag::INFO, info.as_deref(), out);
            }
            Self::AspInactive { scope, info } | Self::AspInactiveAck { scope, info } => {
                scope.emit(out);
                emit_optional(tag::INFO, info.as_deref(), out);
            }
            Self::Err { code, scope, evidence, diagnostic } => {
                emit_u32(tag::ERROR_CODE, code.0, out);
                scope.emit(out);
                evidence.emit(out);
                emit_optional(tag::DIAGNOSTIC, diagnostic.as_deref(), out);
            }
            Self::Ntfy { status, asp_identifier, scope, info } => {
                emit_u32(tag::STATUS, status.to_number(), out);
                emit_u32_list(tag::ASP_IDENTIFIER, asp_identifier.as_slice(), out);
                scope.emit(out);
                emit_optional(tag::INFO, info.as_deref(), out);
            }
        }
    }

    /// Appends the whole message from its version on.
    pub fn emit(&self, out: &mut Vec<u8>) {
        crate::common::emit(self.kind(), out, |out| self.emit_parameters(out));
    }
}

fn emit_traffic_mode(mode: Option<TrafficMode>, out: &mut Vec<u8>) {
    emit_u32_list(tag::TRAFFIC_MODE, mode.map(|mode| mode as u32).as_slice(), out);
}

fn emit_optional(tag: u16, value: Option<&[u8]>, out: &mut Vec<u8>) {
    if let Some(value) = value {
        emit_octets(tag, value, out);
    }
}
