//! What happens at an antenna.

use slantpath_base::Instant;
use slantpath_net::LeftBehind;
use slantpath_orbit::NodeId;
use slantpath_orbit::contact::Cause;

/// An antenna gets its first satellite, or another one, or has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// When.
    pub at: Instant,
    /// The antenna, by its place among those of [`Sky::antennas`](crate::Sky::antennas).
    pub antenna: usize,
    /// The satellite by which it sent until then; none at the start, and after a gap.
    pub from: Option<NodeId>,
    /// The satellite by which it sends from then on; none in a gap.
    pub to: Option<NodeId>,
    /// Why the change came: the end of the old contact if there was one, or the beginning of the new one; where there
    /// is neither, the beginning of the span.
    pub cause: Cause,
    /// What the antenna had left to send.
    pub uplink: LeftBehind,
    /// What satellites had left to send to it.
    pub downlink: LeftBehind,
}
