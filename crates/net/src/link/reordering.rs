//! Packets that overtake each other.

use slantpath_base::{Duration, Probability};

/// Random extra delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// The chance of each packet to be delayed.
    pub probability: Probability,
    /// The most that it is delayed by; less is as likely.
    pub extra_delay_max: Duration,
}

impl Reordering {
    /// Packets keep their order.
    pub const NONE: Self = Self { probability: Probability::NEVER, extra_delay_max: Duration::ZERO };
}
