//! By which satellites packets go from one node to another, over time.

use slantpath_base::{Duration, Instant};
use slantpath_net::Way;
use slantpath_orbit::ContactNodeId;

/// A way gets its first path, or another one, or has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// Instant of the change.
    pub at: Instant,
    /// The way, in the order in which they were given.
    pub way: usize,
    /// The satellites, and the sites that relay; nothing if no path leads there.
    pub path: Option<Vec<ContactNodeId>>,
    /// The propagation delay of the whole way at that instant.
    pub delay: Duration,
    /// Number of satellites and relaying sites that it has in common with the other of two ways that are to be
    /// disjoint.
    pub shared: Option<u32>,
}

/// A way, and what was found on it last: its path, if there is one, and how much that shares with the other of two
/// ways.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    pub(crate) way: Way,
    pub(crate) seen: Option<(Option<Vec<ContactNodeId>>, Option<u32>)>,
}
