//! Rate, delay and loss of a direction at an instant.

use slantpath_base::{DataRate, Duration, Probability};

/// Rate, delay and loss of a direction for packets that come at an instant, whatever waits before them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarriageTerms {
    /// Rate at which packets leave in the long run: in frames that of the slots that it has, and no more than a shaper
    /// lets through.
    pub rate: DataRate,
    /// Propagation of what leaves.
    pub delay: Duration,
    /// The chance of a packet to vanish, apart from bit errors and bursts.
    pub loss: Probability,
    /// False while nothing is carried: it is down, without a contact, or loses all.
    pub is_carrying: bool,
}
