//! Events of the paths of a sender: the steps of a failover, one by one.

use slantpath_base::Instant;
use slantpath_host::PathEventKind;

/// Something that has happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEvent {
    /// Instant of the event.
    pub at: Instant,
    /// The path, an index into [`SenderReport::paths`](crate::record::SenderReport::paths).
    pub path: u8,
    /// Kind of the event.
    pub kind: PathEventKind,
}
