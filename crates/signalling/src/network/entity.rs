//! Entities of a network that a driver may have by themselves.

use super::{AspId, PointId};

/// Entity of a signalling network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignallingEntity {
    /// A signalling point, with the gateway that it may have.
    Point(PointId),
    /// An application server process.
    Process(AspId),
}
