//! Numbers by which a host's sources of sessions are known.

/// Identifier of a source of a host: numbers in the order in which the sources were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionSourceId(pub u32);
