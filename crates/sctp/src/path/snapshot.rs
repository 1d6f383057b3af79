//! Reports about a path: its status at one moment (RFC 9260, section 11.1.8), its counts, and its metrics in a trace.

use std::net::IpAddr;

use slantpath_base::{DataRate, Duration, Instant};

use slantpath_cc::{CongestionControl, Controller};

use super::{DiscoveryState, Path, PathId, PathState};
use crate::trace::{PathMetrics, WindowCause};

/// Counts of a path since the association was established.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathStats {
    /// Packets sent, of any kind.
    pub packets_sent: u64,
    /// DATA chunks sent, retransmissions included.
    pub data_chunks_sent: u64,
    /// DATA chunks that were retransmitted here.
    pub retransmissions: u64,
    /// DATA chunks among these that were retransmitted because T3-rtx had expired, of whatever path.
    pub timeout_retransmissions: u64,
    /// Expirations of T3-rtx.
    pub timeouts: u64,
    /// Round-trip times taken.
    pub rtt_samples: u64,
    /// Reductions of the window because the peer has told of a mark of congestion.
    pub mark_reductions: u64,
    /// Reductions of the window that were in error and have been taken back.
    pub undone_reductions: u64,
    /// Probe packets sent to find the path MTU.
    pub mtu_probes: u64,
    /// Number of times that the path was found to drop long packets without a report.
    pub black_holes: u64,
}

impl PathStats {
    /// Adds the counts of another path.
    #[must_use]
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            packets_sent: self.packets_sent + other.packets_sent,
            data_chunks_sent: self.data_chunks_sent + other.data_chunks_sent,
            retransmissions: self.retransmissions + other.retransmissions,
            timeout_retransmissions: self.timeout_retransmissions + other.timeout_retransmissions,
            timeouts: self.timeouts + other.timeouts,
            rtt_samples: self.rtt_samples + other.rtt_samples,
            mark_reductions: self.mark_reductions + other.mark_reductions,
            undone_reductions: self.undone_reductions + other.undone_reductions,
            mtu_probes: self.mtu_probes + other.mtu_probes,
            black_holes: self.black_holes + other.black_holes,
        }
    }
}

/// A path at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathSnapshot {
    /// Number of the path.
    pub path: PathId,
    /// The peer's address.
    pub destination: IpAddr,
    /// Our address on the path.
    pub source: IpAddr,
    /// State that tells if the path may carry data.
    pub state: PathState,
    /// True if this is the primary path.
    pub is_primary: bool,
    /// The smoothed round-trip time, once measured.
    pub srtt: Option<Duration>,
    /// The retransmission timeout, backed off as it may be.
    pub rto: Duration,
    /// The rate at which DATA chunks last arrived at the peer, headers included.
    pub delivery_rate: Option<DataRate>,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes.
    pub ssthresh: u64,
    /// Progress towards the next increase in congestion avoidance, in bytes; none with CUBIC.
    pub partial_bytes_acked: u64,
    /// Bytes outstanding to this address.
    pub flight_size: u64,
    /// Retransmissions and HEARTBEATs in a row without an answer.
    pub error_count: u32,
    /// The path MTU in bytes.
    pub mtu: u16,
    /// State of its path MTU discovery; `None`: probe packets do not look for it.
    pub discovery: Option<DiscoveryState>,
    /// Counts since the association was established.
    pub stats: PathStats,
}

impl Path {
    /// Metrics of the path for a trace.
    pub(crate) fn metrics(&self, is_primary: bool) -> PathMetrics {
        PathMetrics {
            address: self.destination,
            source: self.source,
            state: self.state,
            is_primary,
            cause: WindowCause::Unchanged,
            cwnd: self.cwnd(),
            ssthresh: self.cc.ssthresh(),
            flight_size: self.flight_size,
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
            error_count: self.error_count,
            mtu: self.mtu,
        }
    }

    pub(crate) fn snapshot(&self, now: Instant, path: PathId, is_primary: bool) -> PathSnapshot {
        // The decay of an idle window is reckoned when somebody asks for it.
        let mut cc = self.cc.clone();
        let periods = self.idle_periods(now);
        if periods > 0 {
            cc.on_idle(periods);
        }
        PathSnapshot {
            path,
            destination: self.destination,
            source: self.source,
            state: self.state,
            is_primary,
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
            delivery_rate: self.delivery.latest().map(|sample| sample.rate()),
            cwnd: self.recovery_window().unwrap_or(cc.cwnd()),
            ssthresh: cc.ssthresh(),
            partial_bytes_acked: match &cc {
                Controller::Standard(standard) => standard.partial_bytes_acked(),
                _ => 0,
            },
            flight_size: self.flight_size,
            error_count: self.error_count,
            mtu: self.mtu,
            discovery: self.discovery.as_ref().map(|discovery| discovery.state()),
            stats: self.stats(),
        }
    }

    /// Counts of the path.
    pub(crate) fn stats(&self) -> PathStats {
        PathStats {
            mtu_probes: self.discovery.as_ref().map_or(0, |discovery| discovery.probes_sent),
            black_holes: self.discovery.as_ref().map_or(0, |discovery| discovery.black_holes),
            ..self.stats
        }
    }
}
