//! SUA, the SCCP user adaptation layer (RFC 3868): subsystems at IP hosts that reach SS7, and each other, with
//! SCCP's service.

mod address;
mod connection;
mod format;
mod gateway;
mod label;
mod parameter;
mod primitive;
mod process;
mod status;
#[cfg(test)]
mod tests;

pub use address::{Address, AddressPart, RoutingIndicator, SuaGlobalTitle, indicator};
pub use connection::{CONNECTION_MACHINE, ConnectionAction, ConnectionInput, ConnectionState};
pub use gateway::{
    RegistrationPolicy, SignallingGateway, SignallingGatewayConfig, SignallingGatewayEvent,
    SignallingGatewayOutput,
};
pub use label::Labels;
pub use parameter::{
    AddressRange, DeregistrationResult, Label, RegistrationResult, RoutingKey, SccpCause, Segmentation,
    SequenceNumber, SuaParameter, kind,
};
pub use primitive::{Unitdata, UnitdataNotice, return_cause};
pub use process::{
    ConnectRequest, ConnectionConfig, ConnectionEvent, ConnectionId, SegmentationConfig, UserProcess,
    UserProcessConfig, UserProcessEvent, UserProcessOutput,
};
pub use status::{Availability, Destination, DestinationChange};

use bytes::Bytes;
use slantpath_ss7::PointCode;

use slantpath_sigtran::asp::{AdaptationLayer, ErrorCode, Parameters, RoutingContexts};
use slantpath_sigtran::common::{Frame, MessageParseError, emit_u32_list, tag};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit};

/// SUA, as far as its ASPs are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sua;

impl AdaptationLayer for Sua {
    const PAYLOAD_PROTOCOL: u32 = 4;
    const INVALID_SCOPE: ErrorCode = ErrorCode::INVALID_ROUTING_CONTEXT;
    type Scope = RoutingContexts;
    type Evidence = ErrorEvidence;
    type Labels = Labels;
}

/// Evidence of an ERR of SUA (RFC 3868, section 3.7.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorEvidence {
    /// The network that is not configured, or whose destination is not told.
    pub network_appearance: Option<u32>,
    /// Destinations that are not told, each with a number of low bits that may be anything.
    pub point_codes: Vec<(u8, PointCode)>,
}

impl Parameters for ErrorEvidence {
    fn parse(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        let split = |number: u32| (number.to_be_bytes()[0], PointCode(number & 0x00ff_ffff));
        Ok(Self {
            network_appearance: frame.u32(parameter::tag::NETWORK_APPEARANCE)?,
            point_codes: frame.u32_list(tag::AFFECTED_POINT_CODE)?.into_iter().map(split).collect(),
        })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit_u32_list(parameter::tag::NETWORK_APPEARANCE, self.network_appearance.as_slice(), out);
        let codes: Vec<u32> = self
            .point_codes
            .iter()
            .map(|(mask, code)| u32::from(*mask) << 24 | code.0 & 0x00ff_ffff)
            .collect();
        emit_u32_list(tag::AFFECTED_POINT_CODE, &codes, out);
    }
}

/// A message of SUA.
pub type Message = crate::message::Message<SuaParameter>;

/// Outcomes of a registration (RFC 3868, section 3.9.22).
pub mod registration_status {
    /// Success: "Successfully Registered".
    pub const SUCCESS: u32 = 0;
    /// Error - Unknown.
    pub const UNKNOWN: u32 = 1;
    /// Error - Invalid Destination Address.
    pub const INVALID_DESTINATION: u32 = 2;
    /// Error - Invalid Network Appearance.
    pub const INVALID_NETWORK_APPEARANCE: u32 = 3;
    /// Error - Invalid Routing Key.
    pub const INVALID_KEY: u32 = 4;
    /// Error - Permission Denied.
    pub const PERMISSION_DENIED: u32 = 5;
    /// Error - Cannot Support Unique Routing.
    pub const NOT_UNIQUE: u32 = 6;
    /// Error - Routing Key not Currently Provisioned.
    pub const NOT_PROVISIONED: u32 = 7;
    /// Error - Insufficient Resources.
    pub const INSUFFICIENT_RESOURCES: u32 = 8;
    /// Error - Unsupported RK parameter Field.
    pub const UNSUPPORTED_PARAMETER: u32 = 9;
    /// Error - Unsupported/Invalid Traffic Mode Type.
    pub const INVALID_TRAFFIC_MODE: u32 = 10;
    /// Error - Routing Key Change Refused.
    pub const CHANGE_REFUSED: u32 = 11;
}

/// Outcomes of a deregistration (RFC 3868, section 3.9.23).
pub mod deregistration_status {
    /// Success: "Successfully Deregistered".
    pub const SUCCESS: u32 = 0;
    /// Error - Unknown.
    pub const UNKNOWN: u32 = 1;
    /// Error - Invalid Routing Context.
    pub const INVALID_ROUTING_CONTEXT: u32 = 2;
    /// Error - Permission Denied.
    pub const PERMISSION_DENIED: u32 = 3;
    /// Error - Not Registered.
    pub const NOT_REGISTERED: u32 = 4;
    /// Error - ASP Currently Active for Routing Context.
    pub const CURRENTLY_ACTIVE: u32 = 5;
}

/// The stream of a flow: by its sequence control or reference, and never the first of several.
fn stream_of(flow: u32, streams: u16) -> StreamNumber {
    match flow.checked_rem(u32::from(streams.saturating_sub(1))) {
        None => StreamNumber(0),
        Some(at) => StreamNumber(u16::try_from(at + 1).unwrap_or(u16::MAX)),
    }
}

fn transmit(association: AssociationNumber, stream: StreamNumber, octets: Bytes) -> Transmit {
    Transmit { association, stream, payload_protocol: Sua::PAYLOAD_PROTOCOL, report: None, octets }
}
