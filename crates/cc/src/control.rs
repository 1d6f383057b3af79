//! Reports of a transport to its congestion controller, and the values that it reads back: one trait for TCP and SCTP.
//!
//! Amounts are bytes as the transport counts them: of the stream in TCP, of DATA chunks with their headers in SCTP.

use slantpath_base::{DataRate, DataSize, Duration, Instant};

use crate::delivery::{Counts, DeliverySample, LostSegment};

/// A controller of how much may be in flight on one path, and of how fast it leaves.
///
/// An acknowledgement is told in this order: [`on_acknowledged`](Self::on_acknowledged), what it shows to be lost
/// ([`on_segment_lost`](Self::on_segment_lost), once a segment), then the recovery that it begins
/// ([`on_lost`](Self::on_lost)) or ends ([`on_recovered`](Self::on_recovered)).
pub trait CongestionControl {
    /// The congestion window in bytes.
    fn cwnd(&self) -> u64;

    /// The slow start threshold in bytes; `u64::MAX` is none.
    fn ssthresh(&self) -> u64;

    /// Rate at which the data that the window allows may leave; `None` is at once.
    fn pacing_rate(&self) -> Option<DataRate> {
        None
    }

    /// Number of bytes that may leave together before the pacing rate makes the next wait.
    fn send_quantum(&self) -> u64 {
        u64::MAX
    }

    /// Spacing of so many bytes, which follows from the rate and the quantum; `None` is at once.
    fn spacing(&self, bytes: u64) -> Option<Spacing> {
        self.pacing_rate().map(|rate| Spacing::at(rate, bytes, self.send_quantum()))
    }

    /// Tells if [`cwnd`](Self::cwnd) holds while a loss is repaired, too: the transport then neither inflates it nor
    /// reduces it in proportion.
    fn rules_recovery(&self) -> bool {
        false
    }

    /// Data was sent, for the first time or again.
    fn on_sent(&mut self, sent: Sent);

    /// An acknowledgement told of something for the first time.
    fn on_acknowledged(&mut self, acknowledged: &Acknowledged);

    /// A segment is taken for lost, by acknowledgements or by a timeout, in whatever state the path is.
    fn on_segment_lost(&mut self, _: &LostSegment) {}

    /// A loss was found from acknowledgements, outside of any recovery: one begins.
    fn on_lost(&mut self, congestion: Congestion);

    /// Everything is acknowledged that was in flight when a recovery began, or a timeout came.
    fn on_recovered(&mut self, _: Instant) {}

    /// Data that was taken for lost since the last recovery or timeout began has arrived after all.
    fn on_spurious(&mut self, _: Instant) {}

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

/// Spacing in time of data that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing {
    /// Time that the data takes at the pacing rate.
    pub gap: Duration,
    /// Lead over the rate that data may have before the next has to wait: the time that the quantum takes.
    pub lead: Duration,
}

impl Spacing {
    /// Spacing of so many bytes at a rate, of which a quantum in bytes may leave together.
    pub fn at(rate: DataRate, bytes: u64, quantum: u64) -> Self {
        let [gap, lead] = [bytes, quantum].map(|bytes| rate.time_to_send(DataSize::from_bytes(bytes)));
        Self { gap, lead }
    }
}

/// Data was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Instant of the transmission.
    pub now: Instant,
    /// Number of bytes that were sent.
    pub bytes: u64,
    /// Bytes in flight before it.
    pub in_flight_before: u64,
}

/// News in an acknowledgement: all that it told for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// Instant at which it came.
    pub now: Instant,
    /// Bytes that may open the window: in TCP what was acknowledged cumulatively, in SCTP whatever was sent last to
    /// the path.
    pub bytes: u64,
    /// Bytes in flight before the acknowledgement.
    pub in_flight_before: u64,
    /// Bytes still in flight after it.
    pub in_flight: u64,
    /// True if everything up to a later point than before is acknowledged now.
    pub advances_cumulative: bool,
    /// True if a loss was being repaired when it came, or it told of a mark: no reason to open the window.
    pub is_recovering: bool,
    /// Round-trip time of the newest segment that it acknowledges, if that was sent once.
    pub round_trip: Option<Duration>,
    /// The smoothed round-trip time (RFC 6298), once there is one.
    pub smoothed_round_trip: Option<Duration>,
    /// True if it is the first to acknowledge something sent after the last round began.
    pub starts_round: bool,
    /// Sample of the rate at which data arrived, if it gives one.
    pub delivery: Option<DeliverySample>,
    /// Counts of the bytes that have been delivered and lost.
    pub counts: Counts,
}

#[cfg(test)]
impl Acknowledged {
    /// An acknowledgement at `now` of so many bytes, which found so many in flight, outside of any recovery.
    pub(crate) fn of(now: Instant, bytes: u64, in_flight_before: u64) -> Self {
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
            counts: Counts::default(),
        }
    }
}

/// A sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// Bytes in flight before the acknowledgement that showed it.
    pub in_flight: u64,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut {
    /// Bytes in flight when the timer expired.
    pub in_flight: u64,
    /// Novelty of the loss, which decides if the threshold follows.
    pub loss: LossEvent,
}

/// Novelty of a loss: whether the window has been reduced for it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossEvent {
    /// Loss for which the window has not been reduced.
    New,
    /// Loss for which it has been reduced: the same data was found lost or timed out before.
    Known,
}
