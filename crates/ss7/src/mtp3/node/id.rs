//! Numbers of the links and link sets of a node.

/// A link of a node: its number in the order of the configuration, link set by link set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mtp3LinkId(pub u16);

/// A link set of a node: its number in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkSetId(pub u16);
