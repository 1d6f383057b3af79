//! Settings of one connection. The defaults are the RFCs'.

use slantpath_base::{DataRate, Duration};
use slantpath_cc::cubic::IdleWindow;
use slantpath_cc::new_reno::{AvoidanceIncrease, UnusedWindow};
use slantpath_cc::{
    self as cc, Algorithm, Controller, InitialWindow, NewRenoConfig, RtoConfig, SlowStart, Terms,
};
use slantpath_wire::ip::IpFields;

/// The choices of one connection, or of all that a listener accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own, on or off")]
pub struct TcpConfig {
    /// Bytes of data in a full segment, unless the peer asks for less (RFC 9293, section 3.7.1). The default
    /// fits an Ethernet frame: 1500 less 40 bytes of headers.
    pub mss_bytes: u32,
    /// A limit of the sender's own on what is unacknowledged, beside cwnd and the peer's window: the `window`
    /// of older studies, which stands for the peer's buffer. Default: none.
    pub window_limit: Option<WindowLimit>,
    /// Bytes that may wait to be acknowledged or sent. [`Event::Writable`](crate::Event::Writable) comes when
    /// half of them are free again. Default: 4 MiB, room for a geostationary path at 50 Mbit/s.
    pub send_buffer_bytes: u64,
    /// Bytes that the receiver has room for; sets the window that is advertised and its scale. Default: 4 MiB.
    pub receive_buffer_bytes: u64,
    /// Times at which data is acknowledged. Default: every second segment, or after 200 ms.
    pub delayed_ack: DelayedAck,
    /// Use of SACK, offered and accepted if true (RFC 2018). Default: yes.
    pub sack: bool,
    /// Use of timestamps, offered and accepted if true (RFC 7323, section 3). Default: no; the studies' stacks had
    /// none, and their ten bytes would be missing from every segment.
    pub timestamps: bool,
    /// Use of window scaling, offered and accepted if true (RFC 7323, section 2). Default: yes.
    pub window_scaling: bool,
    /// End of a fast recovery when the peer has no SACK. Default: NewReno (RFC 6582).
    pub loss_recovery: LossRecovery,
    /// Reduction of the window while a loss is repaired with SACK. Default: RFC 6675.
    pub sack_recovery: SackRecovery,
    /// Rule that finds losses with SACK. Default: by the data that has arrived beyond them (RFC 6675).
    pub loss_detection: LossDetection,
    /// Longest time for which the peer is taken to hold back the ACK of a single segment (TLP.max_ack_delay of
    /// RFC 8985, section 7.2): a loss probe for one waits so much longer. Default: 200 ms.
    pub max_ack_delay: Duration,
    /// True if data that comes twice is reported in the first SACK block (RFC 2883). Default: no.
    pub duplicate_reports: bool,
    /// True if new segments are sent on the first two duplicate ACKs (RFC 3042). Default: yes.
    pub limited_transmit: bool,
    /// Algorithm that governs the window. Default: RFC 5681.
    pub congestion_control: Algorithm,
    /// Rate that the path is known to carry, in bits of data a second; only [`Algorithm::Backlog`] reads it. Default:
    /// to be measured.
    pub known_capacity: Option<DataRate>,
    /// True if a CUBIC flow that is losing ground gives way faster. Default: yes (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// Rule by which the first slow start ends. Default: by a loss or the threshold (RFC 5681).
    pub slow_start: SlowStart,
    /// By how many segments one ACK may open the window in slow start, where no timeout has begun it: 1 or 2, L of
    /// RFC 3465. Default: 1 (RFC 5681).
    pub byte_counting_limit: u32,
    /// The window of a new connection. Default: RFC 6928.
    pub initial_window: InitialWindow,
    /// Slow start ends here even without a loss. Default: no such bound.
    pub initial_ssthresh_bytes: Option<u64>,
    /// The law of congestion avoidance. Default: counting bytes (RFC 5681, section 3.1).
    pub avoidance_increase: AvoidanceIncrease,
    /// Treatment of a window that the application leaves unused. Default: it grows (RFC 5681). CUBIC's never does.
    pub unused_window: UnusedWindow,
    /// True if cwnd falls back to the initial window when nothing was sent for one RTO. Default: yes (RFC 5681, section
    /// 4.1).
    pub idle_restart: bool,
    /// The retransmission timeout's constants. Default: RFC 6298, at least 1 s.
    pub rto: RtoConfig,
    /// Choice of the segments that are timed. Default: one a round trip (RFC 6298, section 3).
    pub rtt_sampling: RttSampling,
    /// Duplicate ACKs, or segments' worth of SACKed data, that mean a loss. Default: 3 (RFC 5681, RFC 6675).
    pub duplicate_ack_threshold: u32,
    /// True if a small segment is held back while anything is unacknowledged (RFC 896). Default: no; the studies'
    /// sources count on every message being sent at once.
    pub nagle: bool,
    /// Number of times that a SYN is retransmitted before the attempt fails. Default: 7, which at 1 s, 2 s .. outlasts
    /// the three minutes of RFC 9293, section 3.8.3.
    pub syn_retransmission_limit: u32,
    /// Number of times in a row that data is retransmitted by timeout before the connection fails. Default: 15, well
    /// past the 100 s of RFC 9293, section 3.8.3.
    pub data_retransmission_limit: u32,
    /// The maximum segment lifetime; TIME-WAIT lasts two. Default: 2 min (RFC 9293, section 3.4.2).
    pub maximum_segment_lifetime: Duration,
    /// Treatment of the checksums of packets that are sent. Default: always computed.
    pub checksum: ChecksumPolicy,
    /// Use of ECN, offered and accepted if true (RFC 3168): once both ends have agreed, the network may mark new data
    /// in place of dropping it, and a mark reduces the window as a loss would. The ECN field of `ip` is then not used.
    /// Default: no; the studies' stacks had none.
    pub ecn: bool,
    /// Fields of the IP header of every packet. Default: 64 hops, best effort, no ECN.
    pub ip: IpFields,
    /// Events that a connection reports beyond those that every application needs. Default: none.
    pub reports: TcpReports,
}

impl Default for TcpConfig {
    fn default() -> Self {
        let congestion = NewRenoConfig::new(1_460);
        Self {
            mss_bytes: congestion.mss_bytes,
            window_limit: None,
            send_buffer_bytes: 4 << 20,
            receive_buffer_bytes: 4 << 20,
            delayed_ack: DelayedAck::EverySecondSegment { timeout: Duration::from_millis(200) },
            sack: true,
            timestamps: false,
            window_scaling: true,
            loss_recovery: LossRecovery::NewReno,
            sack_recovery: SackRecovery::Rfc6675,
            loss_detection: LossDetection::Rfc6675,
            max_ack_delay: Duration::from_millis(200),
            duplicate_reports: false,
            limited_transmit: true,
            congestion_control: Algorithm::Standard,
            known_capacity: None,
            fast_convergence: true,
            slow_start: SlowStart::Standard,
            byte_counting_limit: congestion.byte_counting_limit,
            initial_window: congestion.initial_window,
            initial_ssthresh_bytes: congestion.initial_ssthresh_bytes,
            avoidance_increase: congestion.avoidance_increase,
            unused_window: congestion.unused_window,
            idle_restart: true,
            rto: RtoConfig::tcp(),
            rtt_sampling: RttSampling::OncePerRoundTrip,
            duplicate_ack_threshold: 3,
            nagle: false,
            syn_retransmission_limit: 7,
            data_retransmission_limit: 15,
            maximum_segment_lifetime: Duration::from_secs(120),
            checksum: ChecksumPolicy::Complete,
            ecn: false,
            ip: IpFields::default(),
            reports: TcpReports::default(),
        }
    }
}

impl TcpConfig {
    /// The congestion controller of a connection with segments of `mss_bytes`.
    pub(crate) fn controller(&self, mss_bytes: u32) -> Controller<cc::NewReno> {
        let new_reno = self.new_reno(mss_bytes);
        let terms = Terms {
            segment_bytes: u64::from(mss_bytes),
            initial_cwnd_bytes: self.initial_window.bytes(mss_bytes),
            initial_ssthresh_bytes: self.initial_ssthresh_bytes,
            max_cwnd_bytes: new_reno.max_cwnd_bytes,
            known_capacity: self.known_capacity,
            slow_start: self.slow_start,
            byte_counting_limit: self.byte_counting_limit.into(),
            avoidance_increase: self.avoidance_increase,
            fast_convergence: self.fast_convergence,
            idle_window: IdleWindow::Restart,
        };
        Controller::of(self.congestion_control, &terms, || cc::NewReno::new(new_reno))
    }

    fn new_reno(&self, mss_bytes: u32) -> NewRenoConfig {
        NewRenoConfig {
            mss_bytes,
            initial_window: self.initial_window,
            initial_ssthresh_bytes: self.initial_ssthresh_bytes,
            slow_start: self.slow_start,
            byte_counting_limit: self.byte_counting_limit,
            avoidance_increase: self.avoidance_increase,
            unused_window: self.unused_window,
            window_limit_bytes: self.window_limit_bytes(mss_bytes),
            ..NewRenoConfig::new(mss_bytes)
        }
    }

    /// The sender's own limit in bytes, one segment at least; `u64::MAX` is none.
    pub(crate) fn window_limit_bytes(&self, mss_bytes: u32) -> u64 {
        self.window_limit.map_or(u64::MAX, |limit| limit.bytes(mss_bytes).max(mss_bytes.into()))
    }

    /// The shift that lets 16 bits express the receive buffer, at most 14 (RFC 7323, section 2.3).
    pub(crate) fn window_shift(&self) -> u8 {
        if !self.window_scaling {
            return 0;
        }
        (0..14).find(|shift| self.receive_buffer_bytes >> shift <= 0xffff).unwrap_or(14)
    }
}

/// A limit on unacknowledged data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowLimit {
    /// In bytes.
    Bytes(u64),
    /// In full segments.
    Segments(u32),
}

impl WindowLimit {
    /// The limit in bytes for segments of at most `mss_bytes`.
    pub fn bytes(self, mss_bytes: u32) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Segments(segments) => u64::from(segments) * u64::from(mss_bytes),
        }
    }
}

/// Times at which in-order data is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every second segment, or when the older of two has waited this long: less than half a second (RFC 9293,
    /// section 3.8.6.3). Out-of-order data is acknowledged at once.
    EverySecondSegment {
        /// The longest wait.
        timeout: Duration,
    },
    /// Each segment at once.
    Off,
}

/// Condition that ends a fast recovery when there is no SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRecovery {
    /// All that was outstanding at its start has been acknowledged; each partial ACK retransmits the next hole
    /// (RFC 6582).
    NewReno,
    /// The first ACK of new data (RFC 5681, section 3.2).
    Reno,
}

/// Course of the window while a loss is repaired with SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackRecovery {
    /// Window that shrinks in proportion to the data that arrives (RFC 6937, with the slow start reduction bound).
    Proportional,
    /// Window that falls at once: nothing is sent until less is in the network (RFC 6675).
    Rfc6675,
}

/// Rule that finds losses with SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By time: a segment is lost if one that was sent after it has arrived and a reordering window has passed; a
    /// probe shows the loss of the last segments, and what was repeated without need is undone (RFC 8985 and 2883).
    Rack,
    /// By count: so many segments beyond it have arrived (RFC 6675).
    Rfc6675,
}

/// Segments that give a round-trip time. A retransmitted one never does (Karn).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSampling {
    /// The newest segment of each ACK.
    EveryAck,
    /// One at a time.
    OncePerRoundTrip,
}

/// Treatment of the checksums of packets that are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumPolicy {
    /// Checksums are computed.
    Complete,
    /// They are left to whoever observes the bytes, as by offload to hardware.
    Omit,
}

/// Events for those who study a connection rather than use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpReports {
    /// [`Event::Acked`](crate::Event::Acked) whenever more of the stream has been acknowledged.
    pub acked: bool,
    /// [`Event::Transmitted`](crate::Event::Transmitted) for each segment with data.
    pub transmitted: bool,
    /// [`Event::Arrived`](crate::Event::Arrived) for each segment with data that has not come before.
    pub arrived: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_reno_begins_as_the_connection_is_to_begin() {
        let starts = [SlowStart::Standard, SlowStart::HyStartPlusPlus];
        let begun = starts.map(|slow_start| TcpConfig { slow_start, ..TcpConfig::default() }.new_reno(1_000));
        assert_eq!(begun.map(|config| config.slow_start), starts);
        let limits = [1, 2];
        let begun = limits.map(|byte_counting_limit| {
            TcpConfig { byte_counting_limit, ..TcpConfig::default() }.new_reno(1_000)
        });
        assert_eq!(begun.map(|config| config.byte_counting_limit), limits);
    }
}
