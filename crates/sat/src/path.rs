//! By which satellites packets go from one node to another, over time.

use slantpath_base::{Duration, Instant};
use slantpath_net::{DestinationId, InterfaceId, NodeId};
use slantpath_orbit::NodeId as Body;

/// A way whose path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The interface by which packets leave their host.
    pub leaving: InterfaceId,
    /// Where they are bound for.
    pub destination: DestinationId,
    /// The node there.
    pub to: NodeId,
}

/// A way gets another path, or loses the one that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// When.
    pub at: Instant,
    /// The way, in the order in which they were given.
    pub way: usize,
    /// The satellites, and the sites that relay; nothing if no path leads there.
    pub path: Option<Vec<Body>>,
    /// The propagation delay of the whole way at that instant.
    pub delay: Duration,
    /// How many satellites and relaying sites it has in common with the other of two ways that are to be disjoint.
    pub shared: Option<u32>,
}

/// A way, and the path that it has.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    pub(crate) way: Way,
    pub(crate) path: Option<Vec<Body>>,
    pub(crate) shared: Option<u32>,
}
