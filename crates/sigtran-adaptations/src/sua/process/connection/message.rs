//! Content of the messages of a connection, as they are read and as they are written.

use bytes::Bytes;
use slantpath_sigtran::common::MessageKind;

use crate::message::{CommonParameter, OwnMessage};
use crate::sua::primitive::first;
use crate::sua::process::connection::{Connection, ConnectionId};
use crate::sua::{Address, SccpCause, SequenceNumber, SuaParameter, kind};

/// Kinds of causes (RFC 3868, section 3.10.6).
pub(super) mod cause {
    pub(in super::super) const REFUSAL: u8 = 2;
    pub(in super::super) const RELEASE: u8 = 3;
    pub(in super::super) const RESET: u8 = 4;
    pub(in super::super) const ERROR: u8 = 5;
}

/// Content of a message of a connection beyond its references.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    pub(super) cause: Option<SccpCause>,
    pub(super) class: Option<u8>,
    pub(super) credit: Option<u8>,
    pub(super) data: Option<Bytes>,
    pub(super) destination: Option<Address>,
    /// P(R) of CODA.
    pub(super) received: Option<u8>,
    pub(super) sequence: Option<SequenceNumber>,
    pub(super) source: Option<Address>,
}

impl Content {
    pub(super) fn of(message: &OwnMessage<SuaParameter>) -> Self {
        Self {
            cause: first!(message, SuaParameter::Cause).copied(),
            class: first!(message, SuaParameter::ProtocolClass).map(|class| class & 3),
            credit: first!(message, SuaParameter::Credit).copied(),
            data: first!(message, SuaParameter::Data).cloned(),
            destination: first!(message, SuaParameter::DestinationAddress).cloned(),
            received: first!(message, SuaParameter::ReceiveSequenceNumber).map(|octet| octet >> 1),
            sequence: first!(message, SuaParameter::SequenceNumber).copied(),
            source: first!(message, SuaParameter::SourceAddress).cloned(),
        }
    }

    /// With nothing but a cause of our own.
    pub(super) fn of_cause(kind: u8, value: u8) -> Self {
        Self { cause: Some(SccpCause { kind, value }), ..Self::default() }
    }
}

pub(super) fn about(kind: MessageKind, routing_context: u32) -> OwnMessage<SuaParameter> {
    OwnMessage::empty(kind).with_common(CommonParameter::RoutingContexts(vec![routing_context]))
}

/// A message of a connection with what its format asks for, in the order of the RFC.
pub(super) fn compose(
    kind: MessageKind,
    id: ConnectionId,
    connection: &Connection,
    content: &Content,
) -> OwnMessage<SuaParameter> {
    let mut parameters = Vec::new();
    let own = SuaParameter::SourceReference(id.0);
    let peer = connection.peer.map(SuaParameter::DestinationReference);
    let credit = SuaParameter::Credit(connection.window.credit());
    match kind {
        kind::CORE => {
            parameters.extend([SuaParameter::ProtocolClass(connection.class), own]);
            parameters.extend(content.destination.clone().map(SuaParameter::DestinationAddress));
            parameters.push(SuaParameter::SequenceControl(id.0));
            if connection.has_flow_control() {
                let sequence = SequenceNumber { received: 0, more: false, sent: 0 };
                parameters.push(SuaParameter::SequenceNumber(sequence));
            }
            parameters.extend(content.source.clone().map(SuaParameter::SourceAddress));
            parameters.extend(connection.has_flow_control().then_some(credit));
        }
        kind::COAK => {
            parameters.push(SuaParameter::ProtocolClass(connection.class));
            parameters.extend(peer);
            parameters.extend([own, SuaParameter::SequenceControl(id.0)]);
            parameters.extend(connection.has_flow_control().then_some(credit));
            parameters.extend(connection.calling.clone().map(SuaParameter::DestinationAddress));
        }
        kind::COREF => {
            parameters.extend(peer);
            parameters.extend(content.cause.map(SuaParameter::Cause));
            parameters.extend(connection.calling.clone().map(SuaParameter::DestinationAddress));
        }
        kind::COIT => {
            let (sent, received) =
                if connection.has_flow_control() { connection.window.numbers() } else { (0, 0) };
            let sequence = SequenceNumber { received, more: false, sent };
            parameters.extend([SuaParameter::ProtocolClass(connection.class), own]);
            parameters.extend(peer);
            parameters.extend([SuaParameter::SequenceNumber(sequence), credit]);
        }
        _ => {
            parameters.extend(peer);
            parameters.push(own);
            parameters.extend(content.cause.map(SuaParameter::Cause));
        }
    }
    if matches!(kind, kind::CORE | kind::COAK | kind::COREF | kind::RELRE) {
        parameters.extend(content.data.clone().map(SuaParameter::Data));
    }
    parameters.into_iter().fold(about(kind, connection.routing_context), OwnMessage::with)
}
