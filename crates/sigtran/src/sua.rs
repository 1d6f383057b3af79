//! SUA, the SCCP user adaptation layer (RFC 3868): subsystems at IP hosts that reach SS7, and each other, with
//! SCCP's service.

mod address;
mod format;
mod parameter;

pub use address::{Address, AddressPart, GlobalTitle, RoutingIndicator, indicator};
pub use parameter::{
    AddressRange, Cause, DeregistrationResult, Label, RegistrationResult, RoutingKey, Segmentation,
    SequenceNumber, SuaParameter, kind,
};

use slantpath_ss7::PointCode;

use crate::asp::{Adaptation, ErrorCode, Parameters, RoutingContexts};
use crate::common::{Frame, ParseError, emit_u32_list, tag};

/// SUA, as far as its ASPs are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sua;

impl Adaptation for Sua {
    const PAYLOAD_PROTOCOL: u32 = 4;
    const INVALID_SCOPE: ErrorCode = ErrorCode::INVALID_ROUTING_CONTEXT;
    type Scope = RoutingContexts;
    type Evidence = ErrorEvidence;
}

/// What an ERR of SUA points at (RFC 3868, section 3.7.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorEvidence {
    /// The network that is not configured, or whose destination is not told.
    pub network_appearance: Option<u32>,
    /// Destinations that are not told, each with a number of low bits that may be anything.
    pub point_codes: Vec<(u8, PointCode)>,
}

impl Parameters for ErrorEvidence {
    fn parse(frame: &Frame<'_>) -> Result<Self, ParseError> {
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
