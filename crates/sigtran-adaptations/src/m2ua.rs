//! M2UA, the MTP2 user adaptation layer (RFC 3331): an MTP2 that ends in a signalling gateway serves an MTP3
//! somewhere else.

mod gateway;
mod machine;
mod parameter;
mod process;
#[cfg(test)]
mod tests;

pub use gateway::{
    InterfaceTexts, LinkConfig, RegistrationPolicy, SignallingGateway, SignallingGatewayConfig,
    SignallingGatewayEvent, SignallingGatewayOutput,
};
pub use machine::{
    GATEWAY_LINK_MACHINE, GatewayLinkAction, GatewayLinkInput, LinkStatus, PROCESS_LINK_MACHINE,
    ProcessLinkAction, ProcessLinkInput,
};
pub use parameter::{
    Action, DeregistrationResult, LinkEvent, LinkKey, LinkState, M2uaParameter, RegistrationResult, kind,
};
pub use process::{LinkProcess, LinkProcessConfig, LinkProcessEvent, LinkProcessOutput};

use crate::interface::{InterfaceIdentifier, Interfaces};
use crate::message::OwnMessage;
use slantpath_sigtran::asp::{AdaptationLayer, ErrorCode};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit};

/// M2UA, as far as its ASPs are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct M2ua;

impl AdaptationLayer for M2ua {
    const PAYLOAD_PROTOCOL: u32 = 2;
    const INVALID_SCOPE: ErrorCode = ErrorCode::INVALID_INTERFACE_IDENTIFIER;
    type Scope = Interfaces;
    type Evidence = ();
    type Labels = ();
}

/// A message of M2UA.
pub type Message = crate::message::Message<M2uaParameter>;

/// Outcomes of a registration (RFC 3331, section 3.3.4.2).
pub mod registration_status {
    /// Success: "Successfully Registered".
    pub const SUCCESS: u32 = 0;
    /// Error - Unknown.
    pub const UNKNOWN: u32 = 1;
    /// Error - Invalid SDLI.
    pub const INVALID_DATA_LINK: u32 = 2;
    /// Error - Invalid SDTI.
    pub const INVALID_TERMINAL: u32 = 3;
    /// Error - Invalid Link Key.
    pub const INVALID_LINK_KEY: u32 = 4;
    /// Error - Permission Denied.
    pub const PERMISSION_DENIED: u32 = 5;
    /// Error - Overlapping (Non-unique) Link Key.
    pub const OVERLAPPING: u32 = 6;
    /// Error - Link Key not Provisioned.
    pub const NOT_PROVISIONED: u32 = 7;
    /// Error - Insufficient Resources.
    pub const INSUFFICIENT_RESOURCES: u32 = 8;
}

/// Outcomes of a deregistration (RFC 3331, section 3.3.4.4).
pub mod deregistration_status {
    /// Success: "Successfully De-registered".
    pub const SUCCESS: u32 = 0;
    /// Error - Unknown.
    pub const UNKNOWN: u32 = 1;
    /// Error - Invalid Interface Identifier.
    pub const INVALID_INTERFACE: u32 = 2;
    /// Error - Permission Denied.
    pub const PERMISSION_DENIED: u32 = 3;
    /// Error - Not Registered.
    pub const NOT_REGISTERED: u32 = 4;
}

/// A message about an interface.
fn about(interface: &InterfaceIdentifier, kind: MessageKind) -> OwnMessage<M2uaParameter> {
    OwnMessage::empty(kind).with_common(interface.to_parameter())
}

/// The stream of the link at that place: one each as far as there are streams, and never the first of several.
fn stream_of(at: usize, streams: u16) -> StreamNumber {
    let traffic = usize::from(streams.saturating_sub(1));
    match at.checked_rem(traffic) {
        None => StreamNumber(0),
        Some(at) => StreamNumber(u16::try_from(at + 1).unwrap_or(u16::MAX)),
    }
}

fn transmit(association: AssociationNumber, stream: StreamNumber, message: &Message) -> Transmit {
    let payload_protocol = M2ua::PAYLOAD_PROTOCOL;
    Transmit { association, stream, payload_protocol, report: None, octets: message.to_bytes() }
}
