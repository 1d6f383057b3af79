//! IUA, the ISDN Q.921 user adaptation layer (RFC 4233): Q.921 ends in a signalling gateway, Q.931 is somewhere else.

mod content;
mod data_link;
mod gateway;
mod machine;
mod parameter;
mod process;
#[cfg(test)]
mod tests;

pub use data_link::{DataLinkIndication, DataLinkRequest};
pub use gateway::{
    SignallingGateway, SignallingGatewayConfig, SignallingGatewayEvent, SignallingGatewayOutput,
};
pub use machine::{DATA_LINK_MACHINE, DataLinkAction, DataLinkInput, DataLinkState};
pub use parameter::{Dlci, IuaParameter, ReleaseReason, TeiStatus, kind};
pub use process::{DataLinkProcess, DataLinkProcessConfig, DataLinkProcessEvent, DataLinkProcessOutput};

use crate::interface::{InterfaceIdentifier, Interfaces};
use crate::message::OwnMessage;
use slantpath_sigtran::asp::{AdaptationLayer, AspMessage, ErrorCode};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit};

/// IUA, as far as its ASPs are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iua;

impl AdaptationLayer for Iua {
    const PAYLOAD_PROTOCOL: u32 = 1;
    const INVALID_SCOPE: ErrorCode = ErrorCode::INVALID_INTERFACE_IDENTIFIER;
    type Scope = Interfaces;
    type Evidence = ();
    type Labels = ();
}

/// A message of IUA.
pub type Message = crate::message::Message<IuaParameter>;

/// A message about a data link.
fn about(interface: &InterfaceIdentifier, dlci: Dlci, kind: MessageKind) -> OwnMessage<IuaParameter> {
    OwnMessage::empty(kind).with_common(interface.to_parameter()).with(IuaParameter::Dlci(dlci))
}

/// The stream of the interface at that place: one each as far as there are streams, and never the first of several.
fn stream_of(at: usize, streams: u16) -> StreamNumber {
    match at.checked_rem(usize::from(streams.saturating_sub(1))) {
        None => StreamNumber(0),
        Some(at) => StreamNumber(u16::try_from(at + 1).unwrap_or(u16::MAX)),
    }
}

/// An ERR of IUA names no interface but in the octets that it quotes (RFC 4233, section 3.3.3.1).
fn transmit(association: AssociationNumber, stream: StreamNumber, mut message: Message) -> Transmit {
    if let Message::Asp(AspMessage::Err { scope, .. }) = &mut message {
        *scope = Interfaces::default();
    }
    let payload_protocol = Iua::PAYLOAD_PROTOCOL;
    Transmit { association, stream, payload_protocol, report: None, octets: message.to_bytes() }
}
