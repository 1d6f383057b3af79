//! What a transport tells its congestion controller, and what it reads back: one trait for TCP and SCTP.
//!
//! Amounts are bytes as the transport counts them: of the stream in TCP, of DATA chunks with their headers in SCTP.

use slantpath_base::{DataRate, Duration, Instant};

use crate::delivery::DeliverySample;

/// A controller of how much may be in flight on one path.
pub trait CongestionControl {
    /// The congestion window in bytes.
    fn cwnd(&self) -> u64;

    /// The slow start threshold in bytes; `u64::MAX` is none.
    fn ssthresh(&self) -> u64;

    /// How fast what the window allows may leave; `None` is at once.
    fn pacing_rate(&self) -> Option<DataRate> {
        None
    }

    /// Data was sent, for the first time or again.
    fn on_sent(&mut self, sent: Sent);

    /// An acknowledgement told of something for the first time.
    fn on_acknowledged(&mut self, acknowledged: &Acknowledged);

    /// A loss was found from acknowledgements, outside of any recovery: one begins.
    fn on_lost(&mut self, congestion: Congestion);

    /// The retransmission timer expired.
    fn on_timed_out(&mut self, timed_out: TimedOut);

    /// The network marked a packet in place of dropping it (RFC 3168), outside of any recovery.
    fn on_marked(&mut self, congestion: Congestion);

    /// Nothing was sent for so many whole retransmission timeouts, at least one, and something will be now.
    fn on_idle(&mut self, timeouts: u64);

    /// The window is no larger than this from now on, lest a burst leave at once.
    fn limit_cwnd(&mut self, at_most: u64);

    /// Follows a change of the longest segment. The window stays.
    fn set_segment_bytes(&mut self, segment_bytes: u64);
}

/// Data was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// How much.
    pub bytes: u64,
    /// What was in flight before it.
    pub in_flight_before: u64,
}

/// What an acknowledgement told for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// When it came.
    pub now: Instant,
    /// Bytes that may open the window: in TCP what was acknowledged cumulatively, in SCTP whatever was sent last to
    /// the path.
    pub bytes: u64,
    /// What was in flight before the acknowledgement.
    pub in_flight_before: u64,
    /// What still is.
    pub in_flight: u64,
    /// Whether everything up to a later point than before is acknowledged now.
    pub advances_cumulative: bool,
    /// Whether a loss was being repaired when it came.
    pub is_recovering: bool,
    /// How long the newest of what it acknowledges took, if that was sent once.
    pub round_trip: Option<Duration>,
    /// The smoothed round-trip time (RFC 6298), once there is one.
    pub smoothed_round_trip: Option<Duration>,
    /// Whether it is the first to acknowledge something sent after the last round began.
    pub starts_round: bool,
    /// How fast data arrived, if it tells.
    pub delivery: Option<DeliverySample>,
}

#[cfg(test)]
impl Acknowledged {
    /// An acknowledgement at `now` of so many bytes, which found so many in flight, outside of any recovery.
    pub(crate) const fn of(now: Instant, bytes: u64, in_flight_before: u64) -> Self {
        Self {
            now,
            bytes,
            in_flight_before,
            in_flight: in_flight_before.saturating_sub(bytes),
            advances_cumulative: true,
            is_recovering: false,
            round_trip: None,
            smoothed_round_trip: None,
            starts_round: false,
            delivery: None,
        }
    }
}

/// A sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// What was in flight before the acknowledgement that showed it.
    pub in_flight: u64,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut {
    /// What was in flight.
    pub in_flight: u64,
    /// Whether the threshold follows.
    pub loss: LossEvent,
}

/// Whether the window has been reduced for a loss before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossEvent {
    /// It has not.
    New,
    /// It has: the same data was found lost or timed out before.
    Known,
}
