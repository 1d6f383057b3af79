//! `[tcp.<profile>]`: a configuration of TCP.

use slantpath_base::{DataSize, Duration};
use slantpath_cc::new_reno::{AvoidanceIncrease, UnusedWindow};
use slantpath_cc::{Algorithm, InitialWindow, NamedAlgorithm, RtoConfig, TCP_STANDARD};
use slantpath_reader::{Setting, choice, policy, section, word_or};
use slantpath_tcp::{
    self as tcp, DelayedAck, LossRecovery, SackRecovery, TcpConfig, TcpReports, WindowLimit,
};
use slantpath_wire::ip::IpFields;

use crate::bounds::{BUFFER, BYTE_COUNTING, PACKETS, RATE, REPETITIONS, SEGMENT, TCP_WINDOW, TIMER};
use crate::congestion::{Capacity, ControllerChoice, SlowStartChoice, TransportControl};
use crate::interval::Interval;

section! {
    /// A configuration of TCP.
    pub struct TcpProfile {
        /// Bytes of data in a full segment. 1460 fits an MTU of 1500 with IPv4; IPv6 takes 20 more.
        mss: Setting<DataSize> = DataSize::from_bytes(rfc().mss_bytes.into()), at most SEGMENT;
        /// A limit of the sender's own on what is unacknowledged: the window of older studies.
        window_limit: Setting<Limit> = Limit::Off, at most BUFFER;
        /// Send buffer; a message that does not fit waits in the application.
        send_buffer: Setting<DataSize> = DataSize::from_bytes(rfc().send_buffer_bytes), at most BUFFER;
        /// Receive buffer; sets the window that is advertised and its scale.
        receive_buffer: Setting<DataSize> = DataSize::from_bytes(rfc().receive_buffer_bytes), at most TCP_WINDOW;
        /// Longest time for which every second segment's acknowledgement may be held back; `off` acknowledges each at
        /// once.
        delayed_ack: Setting<Interval> = delayed_ack(rfc().delayed_ack), at most TIMER;
        /// Offers and accepts SACK (RFC 2018).
        sack: Setting<bool> = rfc().sack;
        /// Offers and accepts timestamps (RFC 7323, section 3).
        timestamps: Setting<bool> = rfc().timestamps;
        /// Offers and accepts window scaling (RFC 7323, section 2).
        window_scaling: Setting<bool> = rfc().window_scaling;
        /// Offers and accepts ECN: the network may then mark packets in place of dropping them, if a `discipline` has
        /// `ecn = true`, and a mark closes the window as a loss does (RFC 3168).
        ecn: Setting<bool> = rfc().ecn;
        /// Recovery from a loss when the peer has no SACK.
        loss_recovery: Setting<LossRecoveryChoice> = LossRecoveryChoice::of(rfc().loss_recovery);
        /// Effect of a loss on the window while it is repaired with SACK.
        sack_recovery: Setting<SackRecoveryChoice> = SackRecoveryChoice::of(rfc().sack_recovery);
        /// Method by which losses are found with SACK.
        loss_detection: Setting<LossDetectionChoice> = LossDetectionChoice::of(rfc().loss_detection);
        /// Longest time for which the peer is taken to hold back the ACK of a single segment, with
        /// `loss_detection = "rack"`: a loss probe for one waits so much longer (RFC 8985, section 7.2).
        max_ack_delay: Setting<Duration> = rfc().max_ack_delay, at most TIMER;
        /// Reports data that comes twice in the first SACK block (RFC 2883).
        duplicate_reports: Setting<bool> = rfc().duplicate_reports;
        /// Sends new segments on the first two duplicate ACKs (RFC 3042).
        limited_transmit: Setting<bool> = rfc().limited_transmit;
        /// Algorithm that governs the congestion window.
        congestion_control: Setting<CongestionControlChoice> =
            CongestionControlChoice::of(rfc().congestion_control);
        /// Capacity that the path is known to have, in bits of data a second, for `congestion_control = "backlog"`.
        known_capacity: Setting<Capacity> = Capacity::Measured, at most RATE;
        /// Lets a CUBIC connection that is losing ground give way faster (RFC 9438, section 4.7).
        fast_convergence: Setting<bool> = rfc().fast_convergence;
        /// Condition on which the first slow start ends.
        slow_start: Setting<SlowStartChoice> = SlowStartChoice::of(rfc().slow_start);
        /// Segments by which one ACK may open the window in slow start, `L` of RFC 3465; after a time-out it is 1.
        byte_counting_limit: Setting<u32> = rfc().byte_counting_limit, at most BYTE_COUNTING;
        /// The window of a new connection, unless `initial_cwnd` gives a size.
        initial_window: Setting<InitialWindowRule> = InitialWindowRule::Rfc6928;
        /// The window of a new connection as a size.
        initial_cwnd: Setting<InitialCwnd> = InitialCwnd::Rule, at most BUFFER;
        /// Slow start ends here even without a loss.
        initial_ssthresh: Setting<Limit> =
            Limit::from(rfc().initial_ssthresh_bytes.map(DataSize::from_bytes)), at most BUFFER;
        /// The law of congestion avoidance.
        avoidance_increase: Setting<AvoidanceIncreaseChoice> =
            AvoidanceIncreaseChoice::of(rfc().avoidance_increase);
        /// Treatment of a window that the sender did not fill, with `congestion_control = "new-reno"`.
        unused_window: Setting<UnusedWindowChoice> = UnusedWindowChoice::of(rfc().unused_window);
        /// Lets cwnd fall back to the initial window when nothing was sent for one RTO (RFC 5681, 4.1).
        idle_restart: Setting<bool> = rfc().idle_restart;
        /// The retransmission time-out before the first measurement (RFC 6298).
        rto_initial: Setting<Duration> = rfc().rto.initial, at most TIMER;
        /// The least retransmission time-out (RFC 6298).
        rto_min: Setting<Duration> = rfc().rto.min, at most TIMER;
        /// The greatest retransmission time-out (RFC 6298).
        rto_max: Setting<Duration> = rfc().rto.max, at most TIMER;
        /// The clock's granularity, which imitates a system that measures in ticks.
        clock_granularity: Setting<Duration> = rfc().rto.granularity, at most TIMER;
        /// Segments that are timed.
        rtt_sampling: Setting<RttSamplingChoice> = RttSamplingChoice::of(rfc().rtt_sampling);
        /// Duplicate ACKs, or segments' worth of SACKed data, that mean a loss.
        duplicate_ack_threshold: Setting<u32> = rfc().duplicate_ack_threshold, at most PACKETS;
        /// Lets a small segment wait while anything is unacknowledged (RFC 896).
        nagle: Setting<bool> = rfc().nagle;
        /// Number of times that a SYN is retransmitted before the attempt fails.
        syn_retransmission_limit: Setting<u32> = rfc().syn_retransmission_limit, at most REPETITIONS;
        /// Number of times in a row that data is retransmitted by time-out before the connection fails.
        data_retransmission_limit: Setting<u32> = rfc().data_retransmission_limit, at most REPETITIONS;
        /// The maximum segment lifetime; TIME-WAIT lasts two.
        maximum_segment_lifetime: Setting<Duration> = rfc().maximum_segment_lifetime, at most TIMER;
    }
}

fn rfc() -> TcpConfig {
    TcpConfig::default()
}

const fn delayed_ack(policy: DelayedAck) -> Interval {
    match policy {
        DelayedAck::EverySecondSegment { timeout } => Interval::Every(timeout),
        DelayedAck::Off => Interval::Off,
    }
}

word_or! {
    /// A limit in bytes.
    pub enum Limit {
        /// No limit at all.
        Off = "off",
        /// This many bytes.
        Bytes(DataSize) like "64 KiB",
    }
}

word_or! {
    /// The window of a new connection as a size.
    pub enum InitialCwnd {
        /// As `initial_window` says.
        Rule = "rule",
        /// This many bytes.
        Bytes(DataSize) like "2920 B",
    }
}

choice! {
    /// The window of a new connection.
    pub enum InitialWindowRule {
        /// At most two segments: RFC 2581, section 3.1.
        Rfc2581 = "rfc2581",
        /// min(4 MSS, max(2 MSS, 4380 bytes)): RFC 3390.
        Rfc3390 = "rfc3390",
        /// Two to four segments by their size: RFC 5681, section 3.1.
        Rfc5681 = "rfc5681",
        /// min(10 MSS, max(2 MSS, 14600 bytes)): RFC 6928.
        Rfc6928 = "rfc6928",
    }
}

policy! {
    /// Condition that ends a fast recovery when there is no SACK.
    pub struct LossRecoveryChoice of LossRecovery {
        /// All that was outstanding at its start has been acknowledged: RFC 6582.
        NewReno = "new-reno",
        /// The first ACK of new data: RFC 5681, section 3.2.
        Reno = "reno",
    }
}

policy! {
    /// Effect of a loss on the window while it is repaired with SACK.
    pub struct SackRecoveryChoice of SackRecovery {
        /// Shrinks the window in proportion to what arrives: Proportional Rate Reduction, RFC 6937.
        Proportional = "prr",
        /// Reduces the window at once: RFC 6675.
        Rfc6675 = "rfc6675",
    }
}

policy! {
    /// Method by which losses are found with SACK.
    pub struct LossDetectionChoice of tcp::LossDetection {
        /// By time, with loss probes; what was repeated without need is taken back: RFC 8985.
        Rack = "rack",
        /// By what has arrived beyond them: RFC 6675.
        Rfc6675 = "rfc6675",
    }
}

/// Algorithm that governs the congestion window.
pub type CongestionControlChoice = ControllerChoice<NewReno>;

/// Owner of the controller that TCP alone has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewReno;

impl TransportControl for NewReno {
    const OWN: NamedAlgorithm = NamedAlgorithm {
        algorithm: Algorithm::Standard,
        name: TCP_STANDARD,
        about: &["One segment a round trip, half the window at a loss: RFC 5681."],
    };
}

policy! {
    /// The law of congestion avoidance.
    pub struct AvoidanceIncreaseChoice of AvoidanceIncrease {
        /// One segment whenever a whole window has been acknowledged: RFC 5681, section 3.1. CUBIC counts an
        /// acknowledgement of two segments twice, as Linux does.
        ByteCounting = "byte-counting",
        /// SMSS² / cwnd for each ACK of new data: RFC 5681, equation 3, as ns-2 does. CUBIC counts each once: RFC 9438,
        /// section 4.4.
        PerAck = "per-ack",
    }
}

policy! {
    /// Treatment of a window that the sender did not fill.
    pub struct UnusedWindowChoice of UnusedWindow {
        /// Lets the window grow all the same: RFC 5681 by its letter.
        Grow = "grow",
        /// Keeps the window, since nothing has shown that the network can carry more (the idea of RFC 2861).
        Hold = "hold",
    }
}

policy! {
    /// Segments that give a round-trip time. A retransmitted one never does.
    pub struct RttSamplingChoice of tcp::RttSampling {
        /// The newest segment of each ACK.
        EveryAck = "every-ack",
        /// One at a time: RFC 6298, section 3.
        OncePerRoundTrip = "once-per-round-trip",
    }
}

impl TcpProfile {
    /// Configuration of a connection.
    pub fn config(&self) -> TcpConfig {
        TcpConfig {
            ip: IpFields::default(),
            mss_bytes: u32::try_from(self.mss.as_bytes()).unwrap_or(u32::MAX),
            window_limit: self.window_limit.quantity().map(|limit| WindowLimit::Bytes(limit.as_bytes())),
            send_buffer_bytes: self.send_buffer.as_bytes(),
            receive_buffer_bytes: self.receive_buffer.as_bytes(),
            delayed_ack: match *self.delayed_ack {
                Interval::Every(timeout) => DelayedAck::EverySecondSegment { timeout },
                Interval::Off => DelayedAck::Off,
            },
            sack: *self.sack,
            timestamps: *self.timestamps,
            window_scaling: *self.window_scaling,
            loss_recovery: self.loss_recovery.policy(),
            sack_recovery: self.sack_recovery.policy(),
            loss_detection: self.loss_detection.policy(),
            max_ack_delay: *self.max_ack_delay,
            duplicate_reports: *self.duplicate_reports,
            limited_transmit: *self.limited_transmit,
            congestion_control: self.congestion_control.policy(),
            known_capacity: self.known_capacity.quantity(),
            fast_convergence: *self.fast_convergence,
            ecn: *self.ecn,
            slow_start: self.slow_start.policy(),
            byte_counting_limit: *self.byte_counting_limit,
            initial_window: match (*self.initial_cwnd, *self.initial_window) {
                (InitialCwnd::Bytes(size), _) => InitialWindow::Bytes(size.as_bytes()),
                (InitialCwnd::Rule, InitialWindowRule::Rfc2581) => InitialWindow::Rfc2581,
                (InitialCwnd::Rule, InitialWindowRule::Rfc3390) => InitialWindow::Rfc3390,
                (InitialCwnd::Rule, InitialWindowRule::Rfc5681) => InitialWindow::Rfc5681,
                (InitialCwnd::Rule, InitialWindowRule::Rfc6928) => InitialWindow::Rfc6928,
            },
            initial_ssthresh_bytes: self.initial_ssthresh.quantity().map(DataSize::as_bytes),
            avoidance_increase: self.avoidance_increase.policy(),
            unused_window: self.unused_window.policy(),
            idle_restart: *self.idle_restart,
            rto: RtoConfig {
                initial: *self.rto_initial,
                min: *self.rto_min,
                max: *self.rto_max,
                granularity: *self.clock_granularity,
                ..RtoConfig::tcp()
            },
            rtt_sampling: self.rtt_sampling.policy(),
            duplicate_ack_threshold: *self.duplicate_ack_threshold,
            nagle: *self.nagle,
            syn_retransmission_limit: *self.syn_retransmission_limit,
            data_retransmission_limit: *self.data_retransmission_limit,
            maximum_segment_lifetime: *self.maximum_segment_lifetime,
            // Links complete a checksum before they damage or capture a packet: nobody sees it missing.
            checksum: tcp::ChecksumPolicy::Omit,
            // The host asks for what its records need.
            reports: TcpReports::default(),
        }
    }
}
