//! Settings of an endpoint and its associations.

mod check;

pub use check::{ConfigFinding, LimitingBuffer, Severity};

use std::collections::BTreeMap;

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_cc::sctp::{CwndGrowth, FastRetransmitWindow, WindowPolicy};
use slantpath_cc::{Algorithm, BackOff, RtoConfig, SctpPolicy};
use slantpath_wire::ip::{Ecn, IpFields};

use crate::authentication::{AuthenticationConfig, ChunkKinds};
use crate::cause::Cause;
use crate::chunk::kind;
use crate::extension::{Extension, Extensions};
use crate::packet::ChecksumPolicy;
use crate::parameter::Parameter;
use crate::policy::{
    FailoverThresholds, Multipath, NewDataAfterTimeout, PathMtuDiscovery, PotentiallyFailed,
    PrimarySwitchover, RetransmissionAfterTimeout, RttSampling, StreamScheduling,
};
use crate::reconfiguration::ReconfigurationPolicy;
use crate::types::StreamId;
use crate::zero_checksum::ErrorDetectionMethod;

/// The settings of every association of an endpoint. The defaults are those of RFC 9260, section 16, where it
/// names any; all may be changed before the endpoint is made.
#[expect(clippy::struct_excessive_bools, reason = "each is a report that somebody wants or does not")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SctpConfig {
    /// RTO.Initial: the RTO of a path without a measurement.
    pub rto_initial: Duration,
    /// RTO.Min.
    pub rto_min: Duration,
    /// RTO.Max.
    pub rto_max: Duration,
    /// Change of the RTO at an expiry.
    pub back_off: BackOff,
    /// Max.Burst: how many packets one event may release at most, where the controller does not pace.
    pub max_burst: u32,
    /// RTO.Alpha is 1 / 2^this: the weight of a measurement in SRTT.
    pub rto_alpha_shift: u32,
    /// RTO.Beta is 1 / 2^this: the weight of a deviation in RTTVAR.
    pub rto_beta_shift: u32,
    /// Valid.Cookie.Life: how long a state cookie is taken back.
    pub valid_cookie_life: Duration,
    /// Association.Max.Retrans: how many consecutive retransmissions, over all paths, the peer may leave
    /// unanswered before it counts as lost.
    pub association_max_retrans: u32,
    /// Path.Max.Retrans: the same for one path, which then counts as inactive.
    pub path_max_retrans: u32,
    /// PotentiallyFailed.Max.Retrans: whether, and after how many consecutive retransmissions, a path is passed over
    /// before it counts as inactive.
    pub potentially_failed: PotentiallyFailed,
    /// True if the layer above is told of paths that are potentially failed. RFC 7829, section 3.2, recommends that it
    /// can be kept ignorant of them.
    pub expose_potentially_failed: bool,
    /// Primary.Switchover.Max.Retrans: whether, and after how many consecutive retransmissions, another path becomes
    /// the primary one.
    pub primary_switchover: PrimarySwitchover,
    /// Number of packets with timed-out DATA that go out at once.
    pub retransmission_after_timeout: RetransmissionAfterTimeout,
    /// Condition for new DATA to a path after T3-rtx has expired there.
    pub new_data_after_timeout: NewDataAfterTimeout,
    /// Max.Init.Retransmits: how often INIT, and then COOKIE ECHO, are repeated.
    pub max_init_retransmits: u32,
    /// HB.interval: how long a path may be idle before it is probed, on top of its RTO. `None`: never; a path
    /// that is not confirmed is probed all the same.
    pub heartbeat_interval: Option<Duration>,
    /// HB.Max.Burst: how many paths may be probed at one time.
    pub heartbeat_max_burst: u32,
    /// SACK.Delay: how long an acknowledgement may be held back, at most 500 ms.
    pub sack_delay: Duration,
    /// A SACK that is held back, and a HEARTBEAT to an idle path, leave at a multiple of this time, up to so much
    /// before SACK.Delay or the period of HEARTBEATs is over, so that those of many associations leave together: a
    /// host with a real clock is woken once for them. Zero: when it is over.
    pub timer_granularity: Duration,
    /// After how many packets with DATA an acknowledgement is sent at once. RFC 9260, section 6.2: 2.
    pub sack_frequency: u32,
    /// Delay of the SACK for the first DATA of an association. RFC 9260, section 5.1: none.
    pub first_sack: FirstSack,
    /// Time for which new DATA that fills no packet waits for more to be bundled with. RFC 9260 has none: nothing,
    /// unless chosen; signalling gateways have some milliseconds.
    pub bundling_delay: Duration,
    /// Path that a SACK takes.
    pub sack_path: SackPath,
    /// Method by which losses are found.
    pub loss_detection: LossDetection,
    /// After how many miss indications in a row a DATA chunk is fast retransmitted; where losses are found by time, how
    /// many chunks out of order mean a loss at once as long as no reordering has been seen. RFC 9260, section 7.2.4: 3;
    /// RFC 2960, and with it Jungmaier, Rathgeb, Schopp, Tüxen 2000, section 3.3.1: 4.
    pub fast_retransmit_threshold: u32,
    /// Path that a fast retransmission takes.
    pub fast_retransmit_path: FastRetransmitPath,
    /// From which SACKs a round-trip time is taken.
    pub rtt_sampling: RttSampling,
    /// Algorithm that governs the window of a path. One that is not RFC 9260's takes no more than slow start and the
    /// byte counting limit from `congestion`, if it has such; a fixed window is fixed whatever this says.
    pub congestion_control: Algorithm,
    /// Capacity that a path is known to have, in bits of DATA chunks a second; only [`Algorithm::Backlog`] reads it.
    /// `None`: it is measured.
    pub known_capacity: Option<DataRate>,
    /// True if a CUBIC path that is losing ground gives way faster (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// The policy of RFC 9260's own controller.
    pub congestion: SctpPolicy,
    /// The initial cwnd in bytes; `None` is RFC 9260, section 7.2.1.
    pub initial_cwnd_bytes: Option<u64>,
    /// The initial ssthresh in bytes: slow start ends there even without a loss. `None` is RFC 9260, section 7.2.1:
    /// arbitrarily high. BBR and [`Algorithm::Backlog`] have none.
    pub initial_ssthresh_bytes: Option<u64>,
    /// Rule that chooses the stream to be served next.
    pub stream_scheduling: StreamScheduling,
    /// The priority or weight of outbound streams, if `stream_scheduling` reads it. None has one unless given.
    pub stream_values: BTreeMap<StreamId, u16>,
    /// T5-shutdown-guard: how long a shutdown may take. RFC 9260, section 9.2: five times RTO.Max, which
    /// `None` stands for.
    pub shutdown_guard: Option<Duration>,
    /// True if every transmission of a DATA chunk is reported as an event.
    pub trace_messages: bool,
    /// True if it is reported as an event when a message has arrived whole, which may be before it is passed on.
    pub trace_arrivals: bool,
    /// True if every start, stop and expiry of T3-rtx is reported as an event.
    pub trace_timers: bool,
    /// True if the reasons for decisions are reported as events, too ([`TraceEvent`](crate::TraceEvent)). With the
    /// reports above and below they make a trace: [`SctpConfig::traced`] asks for all of them, and this needs those of
    /// timers.
    pub trace: bool,
    /// True if every message that the peer has acknowledged is reported as an event.
    pub report_acknowledged: bool,
    /// The receive buffer in bytes, advertised as a_rwnd; at least 1,500.
    pub receive_buffer_bytes: u32,
    /// Number of bytes of a message that may wait for the rest before they are delivered as a part of it (RFC 6458,
    /// section 8.1.21). `None`: half the receive buffer, so that the window never closes for the sake of one message.
    /// More than the receive buffer counts as the buffer.
    pub partial_delivery_point_bytes: Option<u32>,
    /// The send buffer in bytes of payload, messages in flight included; a message that does not fit is refused. So
    /// that short messages do not take many times as much, it holds a message for each 60 bytes of it at most, or 64.
    pub send_buffer_bytes: u64,
    /// Limit on what all associations of the endpoint together hold to be sent, in bytes; each counts with its
    /// payload, or with 60 bytes for each of its messages, if that is more. Beyond it a message is refused, and who was
    /// refused first hears first of room. `None`: 256 MiB, which is what a small machine can spare and fills 256
    /// buffers of the default, or four send buffers if that is more. Never less than 3,840; one association cannot hold
    /// more, either.
    pub total_send_buffer_bytes: Option<u64>,
    /// Number of outbound streams that are asked for.
    pub outbound_streams: u16,
    /// Number of inbound streams that the peer may have.
    pub inbound_streams: u16,
    /// The path MTU that a path starts with, in bytes, IP header included. RFC 9260, section 7.3, wants it
    /// discovered; until then this holds.
    pub initial_path_mtu: u16,
    /// Use of several paths at once for new DATA. Default: none, as RFC 9260 has it.
    pub multipath: Multipath,
    /// True if each of several paths that are used at once may fill no more than its part of the buffers. Default:
    /// true; it means nothing to an association that uses one at a time.
    pub split_buffers: bool,
    /// Method by which the path MTU is found. Default: by ICMP alone.
    pub path_mtu_discovery: PathMtuDiscovery,
    /// BASE_PLPMTU: the size that is expected to pass everywhere, in bytes, IP header included. RFC 8899, section
    /// 5.1.2: 1,200; on IPv6 1,280 at least. Without discovery it says nothing, nor do the next three.
    pub base_path_mtu: u16,
    /// MAX_PLPMTU: the largest size that is probed, in bytes, IP header included: the MTU of the interface. 1,500:
    /// that of most.
    pub max_path_mtu: u16,
    /// MAX_PROBES: after how many probes without an answer a size counts as too large, and after how many losses of
    /// long packets in a row the path counts as a black hole for them. RFC 8899, section 5.1.2: 3.
    pub max_probes: u32,
    /// PMTU_RAISE_TIMER: how long a path MTU below the maximum is kept before a larger one is looked for again. RFC
    /// 8899, section 5.1.1: 600 s.
    pub pmtu_raise_timer: Duration,
    /// Presence of checksums in packets.
    pub checksum: ChecksumPolicy,
    /// Method that finds errors below SCTP as well as the checksum would: packets are taken without one, and sent
    /// without one to a peer that says the same (RFC 9653). Default: none, so that every packet has its checksum.
    pub zero_checksum: Option<ErrorDetectionMethod>,
    /// True if ECN is offered and accepted (RFC 4960, appendix A): once both ends have agreed, the network may mark
    /// packets with new DATA in place of dropping them, and a mark reduces the window as a loss would. RFC 9260 has
    /// taken it out. The ECN field of `ip` is then not used. Default: false.
    pub ecn: bool,
    /// The extensions that are offered and accepted; each is used once both ends have agreed. Default: none, as in RFC
    /// 9260 by itself.
    pub extensions: Extensions,
    /// Members of `extensions` without which there is no association: a peer with which one of them cannot be agreed on
    /// is aborted, and told which. Default: none.
    pub required_extensions: Extensions,
    /// Requests of a peer to change streams that are carried out, where that extension is used.
    pub reconfiguration: ReconfigurationPolicy,
    /// Keys, and what is accepted only if it is authenticated, where that extension is used.
    pub authentication: AuthenticationConfig,
    /// True if dynamic addresses are used with a peer that does not authenticate chunks. RFC 5061, section 4.2.7, wants
    /// both; in a closed network nobody forges packets, and other stacks have such a switch. Default: false.
    pub unauthenticated_addresses: bool,
    /// Adaptation Code Point that tells the peer of the layer above (RFC 5061, section 4.2.6). `None`: nothing is told.
    pub adaptation_layer: Option<u32>,
    /// Fields of the IP header of every packet. Default: 64 hops, best effort, no ECN.
    pub ip: IpFields,
    /// Number of associations that the endpoint holds at most; beyond that an INIT is answered with "out of resource".
    pub max_associations: usize,
    /// Number of addresses of a peer that are used at most; any others that an INIT or INIT ACK lists are left out.
    pub max_peer_addresses: usize,
}

/// Time at which the first DATA chunk of an association is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstSack {
    /// As any other: after SACK.Delay, or with the next packet.
    //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1
    //= type=exception
    //= reason=Only where it is asked for: for results of before that rule was kept.
    //# After the reception of the first DATA chunk in an association, the
    //# endpoint MUST immediately respond with a SACK chunk to acknowledge
    //# the DATA chunk.
    AsAnyOther,
    /// At once: RFC 9260, section 5.1, and RFC 2960, section 5.1, before it.
    #[default]
    AtOnce,
}

/// Address of the peer that a SACK is sent to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SackPath {
    /// RFC 9260, section 6.4: the address that the DATA came from.
    #[default]
    ArrivalPath,
    /// Jungmaier, Rathgeb, Schopp, Tüxen 2000, section 4.4: a SACK with gap reports takes the path with the
    /// lowest delay, any other the path of the DATA.
    GapReportsOnLowestDelay,
}

/// Address of the peer that a DATA chunk is sent to when it is fast retransmitted. A chunk that timed out takes another
/// path either way (RFC 9260, section 6.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastRetransmitPath {
    /// RFC 2960, section 6.4, and Jungmaier, Rathgeb, Schopp, Tüxen 2000, section 3.4.3: an active address other
    /// than the one that the chunk was last sent to, if there is one.
    Alternate,
    /// The active address with the least smoothed round-trip time: what is missing arrives first there.
    LowestDelay,
    /// RFC 9260, section 6.4: the address that the original was sent to.
    #[default]
    SamePath,
}

impl Default for SctpConfig {
    fn default() -> Self {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-16
        //# RTO.Initial: 1 second
        Self {
            rto_initial: Duration::from_secs(1),
            rto_min: Duration::from_secs(1),
            rto_max: Duration::from_secs(60),
            back_off: BackOff::default(),
            max_burst: 4,
            rto_alpha_shift: 3,
            rto_beta_shift: 2,
            valid_cookie_life: Duration::from_secs(60),
            association_max_retrans: 10,
            path_max_retrans: 5,
            potentially_failed: PotentiallyFailed::default(),
            expose_potentially_failed: true,
            primary_switchover: PrimarySwitchover::default(),
            retransmission_after_timeout: RetransmissionAfterTimeout::default(),
            new_data_after_timeout: NewDataAfterTimeout::default(),
            max_init_retransmits: 8,
            heartbeat_interval: Some(Duration::from_secs(30)),
            heartbeat_max_burst: 1,
            sack_delay: Duration::from_millis(200),
            timer_granularity: Duration::ZERO,
            sack_frequency: 2,
            first_sack: FirstSack::default(),
            bundling_delay: Duration::ZERO,
            sack_path: SackPath::default(),
            loss_detection: LossDetection::MissIndications,
            fast_retransmit_threshold: 3,
            fast_retransmit_path: FastRetransmitPath::default(),
            rtt_sampling: RttSampling::default(),
            congestion_control: Algorithm::Standard,
            known_capacity: None,
            fast_convergence: true,
            congestion: SctpPolicy::default(),
            initial_cwnd_bytes: None,
            initial_ssthresh_bytes: None,
            stream_scheduling: StreamScheduling::default(),
            stream_values: BTreeMap::new(),
            shutdown_guard: None,
            trace_messages: false,
            trace_arrivals: false,
            trace_timers: false,
            trace: false,
            report_acknowledged: false,
            // Not in the RFC: two bandwidth-delay products of 10 Mbit/s over 100 ms, in round numbers.
            receive_buffer_bytes: 256 * 1_024,
            partial_delivery_point_bytes: None,
            send_buffer_bytes: 1_024 * 1_024,
            total_send_buffer_bytes: None,
            outbound_streams: 16,
            inbound_streams: 2_048,
            initial_path_mtu: 1_500,
            multipath: Multipath::default(),
            split_buffers: true,
            path_mtu_discovery: PathMtuDiscovery::default(),
            base_path_mtu: 1_200,
            max_path_mtu: 1_500,
            max_probes: 3,
            pmtu_raise_timer: Duration::from_secs(600),
            checksum: ChecksumPolicy::default(),
            zero_checksum: None,
            ecn: false,
            extensions: Extensions::NONE,
            required_extensions: Extensions::NONE,
            reconfiguration: ReconfigurationPolicy::default(),
            authentication: AuthenticationConfig::default(),
            unauthenticated_addresses: false,
            adaptation_layer: None,
            ip: IpFields::default(),
            max_associations: 65_536,
            max_peer_addresses: 16,
        }
    }
}

impl SctpConfig {
    /// Parameter which announces that packets without a checksum are taken.
    pub(crate) fn zero_checksum_parameter(&self) -> Option<Parameter> {
        self.zero_checksum.map(|method| Parameter::ZeroChecksumAcceptable { method: method.0.get() })
    }

    /// Turns on every report that a trace is made of.
    #[must_use]
    pub fn traced(self) -> Self {
        Self { trace: true, trace_messages: true, trace_timers: true, report_acknowledged: true, ..self }
    }

    /// IP header fields of packets that may not be marked.
    #[inline]
    pub(crate) fn ip_fields(&self) -> IpFields {
        if self.ecn { IpFields { ecn: Ecn::NotCapable, ..self.ip } } else { self.ip }
    }

    /// Gives the instant at which something that is to wait for `delay` from `now` on leaves: at the last multiple of
    /// the granularity of timers that is not too late, if there is one.
    pub(crate) fn coarse_deadline(&self, now: Instant, delay: Duration) -> Instant {
        let latest = now + delay;
        let beyond = latest.as_nanos().checked_rem(self.timer_granularity.as_nanos()).unwrap_or(0);
        let multiple = Instant::from_nanos(latest.as_nanos() - beyond);
        if multiple > now { multiple } else { latest }
    }

    /// RFC 2960 of 2000, where it differs from RFC 9260: RTO.Initial (section 14), no
    /// Max.Burst, the initial cwnd (7.2.1), which
    /// SACKs open the window (7.2.1), the fourth report of a loss (7.2.4), over the alternate path (6.4).
    pub fn rfc2960() -> Self {
        let config = Self::default();
        Self {
            rto_initial: Duration::from_secs(3),
            max_burst: u32::MAX,
            initial_cwnd_bytes: Some(2 * u64::from(config.initial_path_mtu)),
            congestion: SctpPolicy { growth: CwndGrowth::CumulativeAdvance, ..SctpPolicy::default() },
            fast_retransmit_threshold: 4,
            fast_retransmit_path: FastRetransmitPath::Alternate,
            ..config
        }
    }

    /// An RFC 2960 stack as in Jungmaier, Rathgeb, Schopp, Tüxen 2000, sections 4.3 and 4.4.1: the fourth report
    /// of a loss triggers a retransmission, over the alternate path and without effect on the window of the
    /// primary.
    pub fn multi_link_standard() -> Self {
        Self {
            congestion: SctpPolicy {
                growth: CwndGrowth::CumulativeAdvance,
                fast_retransmit: FastRetransmitWindow::Keep,
                ..SctpPolicy::default()
            },
            fast_retransmit_threshold: 4,
            fast_retransmit_path: FastRetransmitPath::Alternate,
            ..Self::default()
        }
    }

    /// Settings of the same paper's modification, section 4.4.2: SACKs with gap reports take the path with the lowest
    /// delay and time nothing.
    pub fn multi_link_modified() -> Self {
        Self {
            sack_path: SackPath::GapReportsOnLowestDelay,
            rtt_sampling: RttSampling::GapFreeSackOnDataPath,
            ..Self::multi_link_standard()
        }
    }

    /// A signalling gateway of 2004 (Cisco ITP, release MB9) as the study of SS7 over satellites found it: cwnd
    /// "growing from initial value to 64000 Bytes". That it begins with two packets of 576 bytes, and without slow
    /// start, is no more than a hypothesis that its figure 3 fits (`studies/soip`); the rest is RFC 2960's.
    pub fn mb9() -> Self {
        const MTU: u16 = 576;
        const MOST: u64 = 64_000;
        let initial = 2 * u64::from(MTU);
        Self {
            initial_path_mtu: MTU,
            initial_cwnd_bytes: Some(initial),
            initial_ssthresh_bytes: Some(initial),
            congestion: SctpPolicy {
                growth: CwndGrowth::CumulativeAdvance,
                max_cwnd: Some(MOST),
                ..SctpPolicy::default()
            },
            // What waits does so above SCTP, in the transmission queue, but for what keeps the window full: the layer
            // above is told of room when half of it is there.
            send_buffer_bytes: 2 * MOST,
            ..Self::rfc2960()
        }
    }

    /// Settings of the same gateway's special release for satellites, MB9-SAT: a cwnd of 384,000 bytes from the start,
    /// which neither grows nor is reduced by a timeout or a fast retransmission, so that a timeout retransmits a whole
    /// window.
    pub fn mb9_sat() -> Self {
        const CWND: u64 = 384_000;
        Self {
            congestion: SctpPolicy {
                growth: CwndGrowth::CumulativeAdvance,
                window: WindowPolicy::Fixed { cwnd: CWND },
                ..SctpPolicy::default()
            },
            receive_buffer_bytes: 1_024 * 1_024,
            send_buffer_bytes: 2 * CWND,
            ..Self::rfc2960()
        }
    }

    /// The settings of each path's RTO estimator.
    pub fn rto(&self) -> RtoConfig {
        RtoConfig {
            initial: self.rto_initial,
            min: self.rto_min,
            max: self.rto_max,
            alpha_inverse: 1 << self.rto_alpha_shift,
            beta_inverse: 1 << self.rto_beta_shift,
            back_off: self.back_off,
            ..RtoConfig::sctp()
        }
    }

    /// The extensions that are used with a peer that has offered these.
    pub(crate) fn agreed(&self, offered: Extensions) -> Extensions {
        let both = self.extensions.and(offered);
        //= https://www.rfc-editor.org/rfc/rfc5061#section-4.2.7
        //# An implementation supporting this
        //# extension MUST list the ASCONF,the ASCONF-ACK, and the AUTH chunks in
        //# its INIT and INIT-ACK parameters.
        if both.contain(Extension::Authentication) || self.unauthenticated_addresses {
            both
        } else {
            both.without(Extension::DynamicAddresses)
        }
    }

    /// Number of messages that the send buffer holds at most: the record kept of each takes more than the payload of a
    /// short one.
    pub(crate) const fn most_messages(&self) -> u64 {
        let messages = self.send_buffer_bytes / SHORT_MESSAGE;
        if messages < LEAST_MESSAGES { LEAST_MESSAGES } else { messages }
    }

    /// Most that one association takes of the endpoint's total, in bytes.
    pub(crate) fn most_held(&self) -> u64 {
        self.send_buffer_bytes.max(LEAST_MESSAGES * SHORT_MESSAGE)
    }

    /// Most that all associations of an endpoint with these settings hold together, in bytes.
    pub(crate) fn total_send_buffer(&self) -> u64 {
        const TOTAL: u64 = 256 * 1_024 * 1_024;
        let total = self.total_send_buffer_bytes;
        let total = total.unwrap_or_else(|| TOTAL.max(self.send_buffer_bytes.saturating_mul(4)));
        total.max(LEAST_MESSAGES * SHORT_MESSAGE)
    }

    /// The extensions that are required, and not agreed on with a peer that has offered these.
    pub(crate) fn lacking(&self, offered: Extensions) -> Extensions {
        self.required_extensions.minus(self.agreed(offered))
    }

    /// Tells if there may be an association with a peer that has offered these extensions; if not, gives the cause that
    /// it is told.
    pub(crate) fn admit(&self, offered: Extensions) -> Result<(), Cause> {
        let lacking = self.lacking(offered);
        if lacking.is_empty() {
            return Ok(());
        }
        Err(Cause::UserInitiatedAbort(format!("{REQUIRED}: {lacking}").into()))
    }

    /// The chunks that are accepted only if they are authenticated.
    pub(crate) fn authenticated_chunks(&self) -> ChunkKinds {
        let mut kinds = self.authentication.chunks.clone();
        // RFC 5061, section 4.2.7, wants them authenticated.
        if self.extensions.contain(Extension::DynamicAddresses) {
            kinds.extend([kind::ASCONF, kind::ASCONF_ACK]);
        }
        ChunkKinds::of(&kinds)
    }

    /// The thresholds of each path's error counter.
    pub const fn thresholds(&self) -> FailoverThresholds {
        FailoverThresholds {
            path_max_retrans: self.path_max_retrans,
            potentially_failed: self.potentially_failed,
            primary_switchover: self.primary_switchover,
        }
    }
}

/// Words to a peer that does not offer what has to be agreed on.
const REQUIRED: &str = "required and not offered";

/// Method by which losses are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossDetection {
    /// By miss indications (RFC 9260, section 7.2.4).
    #[default]
    MissIndications,
    /// By time, on each path by itself: a chunk is lost if one that was sent there after it has arrived and a
    /// reordering window has passed. A probe shows the loss of the last chunks, what was retransmitted without need is
    /// taken back, and the window of a recovery shrinks in proportion (RFC 8985, 5682, 3708, 6937).
    Rack,
}

/// A message counts as one of so many bytes at least: what is kept of each takes more than the payload of a short one.
const SHORT_MESSAGE: u64 = 60;

/// Number of short messages that the least send buffer holds.
const LEAST_MESSAGES: u64 = 64;

/// Bytes that so much payload in so many messages takes of what a send buffer may hold.
pub(crate) fn held(payload_bytes: u64, messages: u64) -> u64 {
    payload_bytes.max(messages * SHORT_MESSAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_of_2000_differs_as_its_rfc_and_its_paper_say() {
        let today = SctpConfig::default();
        let rfc2960 = SctpConfig::rfc2960();
        assert_eq!((rfc2960.rto_initial, rfc2960.rto_min), (Duration::from_secs(3), today.rto_min));
        assert_eq!((rfc2960.max_burst, rfc2960.initial_cwnd_bytes), (u32::MAX, Some(3_000)));
        let standard = SctpConfig::multi_link_standard();
        for config in [&rfc2960, &standard] {
            assert_eq!(config.congestion.growth, CwndGrowth::CumulativeAdvance);
            assert_eq!(config.fast_retransmit_threshold, 4);
            assert_eq!(config.fast_retransmit_path, FastRetransmitPath::Alternate);
        }
        assert_eq!(rfc2960.congestion.fast_retransmit, FastRetransmitWindow::Halve);
        assert_eq!(standard.congestion.fast_retransmit, FastRetransmitWindow::Keep);
        assert_eq!((standard.rto_initial, standard.initial_cwnd_bytes), (today.rto_initial, None));
        let modified = SctpConfig::multi_link_modified();
        assert_eq!(modified.sack_path, SackPath::GapReportsOnLowestDelay);
        assert_eq!(modified.rtt_sampling, RttSampling::GapFreeSackOnDataPath);
        assert_eq!(modified.congestion, standard.congestion);
    }

    #[test]
    fn what_may_wait_leaves_at_multiples_of_the_granularity_and_never_too_late() {
        let leaves = |at_us: u64, granularity_ms: u64| {
            let timer_granularity = Duration::from_millis(granularity_ms);
            let config = SctpConfig { timer_granularity, ..SctpConfig::default() };
            let now = Instant::from_nanos(at_us * 1_000);
            config.coarse_deadline(now, Duration::from_millis(200)).as_nanos() / 1_000
        };
        assert_eq!([1, 3_999, 4_000, 4_001].map(|at| leaves(at, 4)), [200_000, 200_000, 204_000, 204_000]);
        assert_eq!([1, 3_999].map(|at| leaves(at, 0)), [200_001, 203_999]);
        // No multiple of such a time lies between: then the delay counts.
        assert_eq!([1, 299_999, 300_000].map(|at| leaves(at, 300)), [200_001, 300_000, 500_000]);
    }

    #[test]
    fn the_rto_of_a_path_follows_every_setting() {
        let config = SctpConfig {
            rto_initial: Duration::from_millis(300),
            rto_min: Duration::from_millis(200),
            rto_max: Duration::from_millis(900),
            rto_alpha_shift: 4,
            rto_beta_shift: 1,
            ..SctpConfig::default()
        };
        let rto = config.rto();
        assert_eq!([rto.initial, rto.min, rto.max].map(Duration::as_millis), [300, 200, 900]);
        assert_eq!((rto.alpha_inverse, rto.beta_inverse), (16, 2));
    }
}
