//! Scope of the messages of a layer: the application servers that they concern.

use core::fmt::Debug;

use crate::common::{self, Frame, MessageParseError, emit_u32_list};

/// Parameters that stand in messages together.
pub trait Parameters: Clone + Debug + Default + PartialEq + Eq {
    /// Reads them out of a frame; what is absent is left out.
    fn parse(frame: &Frame<'_>) -> Result<Self, MessageParseError>;

    /// Appends them in the order of the layer's RFC.
    fn emit(&self, out: &mut Vec<u8>);
}

/// No parameters at all.
impl Parameters for () {
    fn parse(_frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        Ok(())
    }

    fn emit(&self, _out: &mut Vec<u8>) {}
}

/// The application servers that a message names.
pub trait Scope: Parameters {
    /// Key that names one application server.
    type Key: Clone + Debug + PartialEq + Eq + PartialOrd + Ord;

    /// A scope that names these and no others.
    fn of(keys: &[Self::Key]) -> Self;

    /// Tells whether nothing is named: the message then concerns all application servers of the ASP.
    fn is_empty(&self) -> bool;

    /// Gives the configured keys that are named, in the order of `configured`; and the part of the scope that no
    /// configured key answers to, empty if there is none.
    fn select<'a>(&self, configured: impl Iterator<Item = &'a Self::Key>) -> (Vec<Self::Key>, Self)
    where
        Self::Key: 'a;
}

/// An adaptation layer, as far as its ASPs are concerned.
pub trait AdaptationLayer: Copy + Debug + PartialEq + Eq {
    /// Payload protocol identifier of the layer in SCTP's DATA chunks.
    const PAYLOAD_PROTOCOL: u32;
    /// The code of an ERR about a scope that is not configured.
    const INVALID_SCOPE: crate::asp::ErrorCode;
    /// Application servers that ASPTM messages, NTFY and ERR concern.
    type Scope: Scope;
    /// Further parameters at which an ERR of the layer may point.
    type Evidence: Parameters;
    /// By what an ASP of a loadshare says, as it becomes active, which traffic is its own: labels in SUA.
    type Labels: Parameters;
}

/// Routing contexts, of M3UA and SUA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutingContexts(pub Vec<u32>);

impl Parameters for RoutingContexts {
    fn parse(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        frame.u32_list(common::tag::ROUTING_CONTEXT).map(Self)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        emit_u32_list(common::tag::ROUTING_CONTEXT, &self.0, out);
    }
}

impl Scope for RoutingContexts {
    type Key = u32;

    fn of(keys: &[u32]) -> Self {
        Self(keys.to_vec())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn select<'a>(&self, configured: impl Iterator<Item = &'a u32>) -> (Vec<u32>, Self) {
        let found: Vec<u32> = configured.copied().filter(|context| self.0.contains(context)).collect();
        let unknown = self.0.iter().copied().filter(|context| !found.contains(context)).collect();
        (found, Self(unknown))
    }
}
