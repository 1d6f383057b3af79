//! M2UA, the MTP2 user adaptation layer (RFC 3331): an MTP2 that ends in a signalling gateway serves an MTP3
//! somewhere else.

mod parameter;

pub use parameter::{
    Action, DeregistrationResult, LinkEvent, LinkKey, LinkState, M2uaParameter, RegistrationResult, kind,
};

use crate::asp::{Adaptation, ErrorCode};
use crate::interface::Interfaces;

/// M2UA, as far as its ASPs are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct M2ua;

impl Adaptation for M2ua {
    const PAYLOAD_PROTOCOL: u32 = 2;
    const INVALID_SCOPE: ErrorCode = ErrorCode::INVALID_INTERFACE_IDENTIFIER;
    type Scope = Interfaces;
    type Evidence = ();
}

/// A message of M2UA.
pub type Message = crate::message::Message<M2uaParameter>;
