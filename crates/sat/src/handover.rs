//! Changes of the satellite of an antenna.

use slantpath_base::Instant;
use slantpath_net::LeftBehind;
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::contact::ContactCause;

/// An antenna gets its first satellite, or another one, or has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AntennaHandover {
    /// Instant of the handover.
    pub at: Instant,
    /// The antenna, by its place among those of [`Sky::antennas`](crate::Sky::antennas).
    pub antenna: usize,
    /// The satellite by which it sent until then; none at the start, and after a gap.
    pub from: Option<ContactNodeId>,
    /// The satellite by which it sends from then on; none in a gap.
    pub to: Option<ContactNodeId>,
    /// Why the change came: the end of the old contact if there was one, or the beginning of the new one; where there
    /// is neither, the beginning of the span.
    pub cause: ContactCause,
    /// Packets that the antenna had left to send.
    pub uplink: LeftBehind,
    /// Packets that satellites had left to send to it.
    pub downlink: LeftBehind,
}
