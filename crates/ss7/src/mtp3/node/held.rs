//! Messages on their way through a node.

use bytes::Bytes;

use crate::PointCode;
use crate::mtp3::node::id::LinkSetId;

/// Origins of a message that is routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A user part of this point.
    Local,
    /// A failed link gave it back.
    Retrieved,
    /// Another point, over a link set.
    Transit { from: LinkSetId, opc: PointCode },
}

/// A message on its way through, perhaps waiting.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// The count under which it was accepted, or that it was accepted before.
    pub(super) stamp: u64,
    /// Place of the message among those that are held.
    pub(super) order: u64,
    pub(super) destination: u32,
    pub(super) sls: u8,
    pub(super) origin: Origin,
    pub(super) octets: Bytes,
}
