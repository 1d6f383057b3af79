//! Samples of the congestion state of associations and connections.

use slantpath_base::{Duration, Instant};

/// Sample that a probe read of one path of one association or connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSample {
    /// Instant of the sample.
    pub at: Instant,
    /// Number of the path: its place among the peer's addresses.
    pub path: u8,
    /// Congestion window, in bytes.
    pub cwnd_bytes: u64,
    /// Slow-start threshold, in bytes.
    pub ssthresh_bytes: u64,
    /// Bytes sent to this path and not yet acknowledged.
    pub outstanding_bytes: u64,
    /// Retransmission time-out (RTO) of the path.
    pub rto: Duration,
    /// Smoothed round-trip time, once measured.
    pub srtt: Option<Duration>,
}

/// The congestion state of a whole association or connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionSample {
    /// Congestion window of the path to which most is outstanding, of the primary one among equals.
    pub cwnd_bytes: u64,
    /// Bytes sent and not yet acknowledged, on all paths.
    pub outstanding_bytes: u64,
    /// Smoothed round-trip time of the same path as the window, once measured.
    pub srtt: Option<Duration>,
    /// DATA chunks or segments that have been retransmitted since it was up.
    pub retransmissions: u64,
}
