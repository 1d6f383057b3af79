//! Changes that management makes to a network while it runs.

use super::{AspId, PointId, Side, SignallingLinkId};
use crate::management::{LinkEndChange, PointChange, ProcessChange};

/// Something that is done to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagementChange {
    /// To a link as a whole.
    Link(SignallingLinkId, LinkChange),
    /// To a link at one of its ends.
    LinkEnd(SignallingLinkId, Side, LinkEndChange),
    /// To a point.
    Point(PointId, PointChange),
    /// To an application server process.
    Process(AspId, ProcessChange),
}

/// Something that is done to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// Management at both ends brings it into service.
    Activate,
    /// Management at both ends takes it out of service: traffic changes over in order.
    Deactivate,
    /// The line of the link breaks; both terminals find no unit any more. An association breaks with the paths below
    /// it.
    Fail,
    /// The line of the link works again.
    Restore,
}
