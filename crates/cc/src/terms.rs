//! Terms on which a transport has a path governed, and what a controller says of itself, so that either transport may
//! have it by name.

use slantpath_base::DataRate;

use crate::control::CongestionControl;
use crate::cubic::IdleWindow;
use crate::new_reno::AvoidanceIncrease;
use crate::slow_start::SlowStart;

/// Terms on which a transport has a path governed: each controller takes what it has a use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The longest segment, as the transport counts bytes. Not zero.
    pub segment_bytes: u64,
    /// The window before the first acknowledgement.
    pub initial_cwnd_bytes: u64,
    /// The slow start threshold before the first loss; `None` is arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
    /// cwnd never exceeds this.
    pub max_cwnd_bytes: u64,
    /// Rate that the path is known to carry, in such bytes; `None`: to be measured.
    pub known_capacity: Option<DataRate>,
    /// Rule by which the first slow start ends.
    pub slow_start: SlowStart,
    /// By how many segments one acknowledgement may open the window in standard slow start (L of RFC 3465).
    pub byte_counting_limit: u64,
    /// The law of congestion avoidance.
    pub avoidance_increase: AvoidanceIncrease,
    /// True if a CUBIC flow that is losing ground gives way faster.
    pub fast_convergence: bool,
    /// Treatment of CUBIC's window while nothing is sent.
    pub idle_window: IdleWindow,
}

/// A controller that either transport may have by name.
pub(crate) trait Selectable: CongestionControl {
    /// True if it has to learn of each loss at its time, as RACK finds it.
    const NEEDS_LOSS_TIMES: bool = false;
    /// True if a mark slows it down: without, ECN would leave nothing that does.
    const HEEDS_MARKS: bool = true;
    /// True if it makes use of a [capacity](Terms::known_capacity) that is known.
    const READS_CAPACITY: bool = false;

    /// The controller of a new path.
    fn on(terms: &Terms) -> Self;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Segments of 1,000 bytes, ten at the start.
    pub(crate) const TERMS: Terms = Terms {
        segment_bytes: 1_000,
        initial_cwnd_bytes: 10_000,
        initial_ssthresh_bytes: None,
        max_cwnd_bytes: 1 << 24,
        known_capacity: None,
        slow_start: SlowStart::Standard,
        byte_counting_limit: 1,
        avoidance_increase: AvoidanceIncrease::ByteCounting,
        fast_convergence: true,
        idle_window: IdleWindow::Restart,
    };
}
