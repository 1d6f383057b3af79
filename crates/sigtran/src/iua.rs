//! IUA, the ISDN Q.921 user adaptation layer (RFC 4233): Q.921 ends in a signalling gateway, Q.931 is somewhere else.

mod parameter;

pub use parameter::{Dlci, IuaParameter, ReleaseReason, TeiStatus, kind};

use crate::asp::{Adaptation, ErrorCode};
use crate::interface::Interfaces;

/// IUA, as far as its ASPs are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iua;

impl Adaptation for Iua {
    const PAYLOAD_PROTOCOL: u32 = 1;
    const INVALID_SCOPE: ErrorCode = ErrorCode::INVALID_INTERFACE_IDENTIFIER;
    type Scope = Interfaces;
    type Evidence = ();
}

/// A message of IUA.
pub type Message = crate::message::Message<IuaParameter>;
