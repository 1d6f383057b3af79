//! `[sctp.<profile>]`: a configuration of SCTP, named as in RFC 9260, section 16.

use std::collections::BTreeMap;

use slantpath_base::{DataSize, Duration};
use slantpath_cc::sctp::{CwndGrowth, FastRetransmitWindow, SctpPolicy, WindowPolicy};
use slantpath_cc::{BackOff, NamedAlgorithm, SCTP_STANDARD};
use slantpath_reader::{Json, MergedOutput, Setting, WriteFields as _, choice, policy, section, word_or};
use slantpath_sctp::{
    self as sctp, Algorithm, Extension, Extensions, FastRetransmitPath, FirstSack, Multipath,
    NewDataAfterTimeout, PathMtuDiscovery, PotentiallyFailed, PrimarySwitchover, ReconfigurationPolicy,
    RetransmissionAfterTimeout, SackPath, SctpConfig, StreamScheduling,
};
use slantpath_wire::ip::IpFields;

use crate::bounds::{
    ADDRESSES, BACK_OFF_PERCENT, BUFFER, PACKET, PACKETS, RATE, REPETITIONS, SACK_DELAY, SCTP_WINDOW, SHIFT,
    TIMER,
};
use crate::congestion::{Capacity, ControllerChoice, SlowStartChoice, TransportControl};
use crate::interval::Interval;
use crate::sctp::authentication::AuthenticatedChunk;
use crate::sctp::error_detection::ErrorDetection;
use crate::sctp::threshold::Threshold;
use crate::tcp::schema::Limit;

section! {
    /// A configuration of SCTP. Names and defaults are those of RFC 9260, section 16.
    pub struct SctpProfile {
        /// Source of the defaults of the other keys.
        preset: Setting<SctpPreset> = SctpPreset::Rfc9260;
        /// RTO.Initial: the retransmission time-out of a path without a measurement.
        rto_initial: Setting<Duration> = preset.config().rto_initial, at most TIMER;
        /// RTO.Min: the least retransmission time-out.
        rto_min: Setting<Duration> = preset.config().rto_min, at most TIMER;
        /// RTO.Max: the greatest retransmission time-out.
        rto_max: Setting<Duration> = preset.config().rto_max, at most TIMER;
        /// Factor by which an expiry lengthens the RTO, in percent: 200 doubles it (section 6.3.3), 100 leaves it.
        rto_back_off_percent: Setting<u32> = back_off_percent(preset.config().back_off), at most BACK_OFF_PERCENT;
        /// RTO.Alpha is 1 / 2^this: the weight of a measurement in SRTT.
        rto_alpha_shift: Setting<u32> = preset.config().rto_alpha_shift, at most SHIFT;
        /// RTO.Beta is 1 / 2^this: the weight of a deviation in RTTVAR.
        rto_beta_shift: Setting<u32> = preset.config().rto_beta_shift, at most SHIFT;
        /// From which SACKs a round-trip time is taken.
        rtt_sampling: Setting<RttSamplingChoice> = RttSamplingChoice::of(preset.config().rtt_sampling);
        /// Max.Burst: packets that one event may release, unless the controller paces; `off`: no limit, as in RFC 2960.
        max_burst: Setting<Threshold> = burst(preset.config().max_burst), at most PACKETS;
        /// Method by which losses are found.
        loss_detection: Setting<LossDetectionChoice> = LossDetectionChoice::of(preset.config().loss_detection);
        /// Offers and accepts ECN: the network may then mark packets in place of dropping them, if a `discipline` has
        /// `ecn = true`, and a mark closes the window as a loss does (RFC 4960, appendix A).
        ecn: Setting<bool> = preset.config().ecn;
        /// Extensions of RFC 9260 that are offered and accepted; each is used between two hosts that both list it. None
        /// unless written.
        extensions: Option<Setting<Vec<ExtensionChoice>>>;
        /// Extensions of `extensions` without which there is no association: a host that does not offer one of them is
        /// aborted, and told which. None unless written.
        required_extensions: Option<Setting<Vec<ExtensionChoice>>>;
        /// Uses dynamic addresses without authentication, as in a closed network where nobody forges packets; RFC 5061
        /// wants both. No unless written.
        unauthenticated_addresses: Option<Setting<bool>>;
        /// With the extension `authentication`: the chunks that each end accepts only if they are authenticated. None
        /// unless written, but for those that `dynamic-addresses` wants.
        authenticated_chunks: Option<Setting<Vec<AuthenticatedChunk>>>;
        /// Secrets that both ends share, numbered from 0 on, with the extension `authentication`. If absent, a key is
        /// used that whoever has seen the handshake knows as well (RFC 4895, section 6.1).
        shared_keys: Option<Setting<Vec<String>>>;
        /// Number of the key by which what is sent is authenticated at first, with the extension `authentication`. 0 if
        /// absent.
        active_key: Option<Setting<u16>>;
        /// Method that finds errors in place of the checksum: packets are sent without one to a peer that says the
        /// same, and taken without one (RFC 9653). Every packet has one if absent.
        zero_checksum: Option<Setting<ErrorDetection>>;
        /// Algorithm that governs the congestion window of a path.
        congestion_control: Setting<CongestionControlChoice> =
            CongestionControlChoice::of(preset.config().congestion_control);
        /// Capacity that the path is known to have, in bits of DATA chunks a second, for `congestion_control =
        /// "backlog"`.
        known_capacity: Setting<Capacity> = Capacity::Measured, at most RATE;
        /// Lets a CUBIC path that is losing ground give way faster (RFC 9438, section 4.7).
        fast_convergence: Setting<bool> = preset.config().fast_convergence;
        /// Condition on which the first slow start of a path ends.
        slow_start: Setting<SlowStartChoice> = SlowStartChoice::of(preset.config().congestion.slow_start);
        /// Initial cwnd of a path: that of RFC 9260, section 7.2.1, or a size.
        initial_cwnd: Setting<InitialCwnd> =
            InitialCwnd::from(preset.config().initial_cwnd_bytes.map(DataSize::from_bytes)), at most BUFFER;
        /// Initial ssthresh of a path: slow start ends here even without a loss; `off`: arbitrarily high, as RFC 9260,
        /// section 7.2.1, recommends. BBR and `backlog` have none.
        initial_ssthresh: Setting<Limit> =
            Limit::from(preset.config().initial_ssthresh_bytes.map(DataSize::from_bytes)), at most BUFFER;
        /// Largest cwnd. 64,000 bytes with the preset `mb9`, else without a limit, if absent.
        max_cwnd: Option<Setting<DataSize>>, at most BUFFER;
        /// A cwnd that neither grows nor shrinks, for links whose capacity is reserved.
        fixed_cwnd: Setting<FixedCwnd> = FixedCwnd::from(fixed_cwnd(preset.config().congestion.window)), at most BUFFER;
        /// Packets by which one SACK may open the window in slow start, `L`. RFC 3465 allows 2.
        byte_counting_limit: Setting<u32> = preset.config().congestion.byte_counting_limit, at most PACKETS;
        /// Acknowledgements that may open the window, with `congestion_control = "rfc9260"`.
        cwnd_growth: Setting<CwndGrowthChoice> = CwndGrowthChoice::of(preset.config().congestion.growth);
        /// Miss indications in a row after which a chunk is fast retransmitted (section 7.2.4). With
        /// `loss_detection = "rack"`: chunks out of order that mean a loss at once, as long as no reordering was seen.
        fast_retransmit_threshold: Setting<u32> = preset.config().fast_retransmit_threshold, at most PACKETS;
        /// Effect of a fast retransmission on the window of the path that the chunk was lost on, with
        /// `congestion_control = "rfc9260"`.
        fast_retransmit_window: Setting<FastRetransmitWindowChoice> =
            FastRetransmitWindowChoice::of(preset.config().congestion.fast_retransmit);
        /// Path that a fast retransmission takes.
        fast_retransmit_path: Setting<FastRetransmitPathChoice> =
            FastRetransmitPathChoice::of(preset.config().fast_retransmit_path);
        /// Valid.Cookie.Life: how long a state cookie is taken back.
        valid_cookie_life: Setting<Duration> = preset.config().valid_cookie_life, at most TIMER;
        /// Association.Max.Retrans: consecutive retransmissions over all paths after which the peer is lost.
        association_max_retrans: Setting<u32> = preset.config().association_max_retrans, at most REPETITIONS;
        /// Path.Max.Retrans: consecutive retransmissions after which a path is inactive.
        path_max_retrans: Setting<u32> = preset.config().path_max_retrans, at most REPETITIONS;
        /// PotentiallyFailed.Max.Retrans: consecutive retransmissions after which a path is passed over before it is
        /// inactive (RFC 7829, section 3).
        potentially_failed_max_retrans: Setting<Threshold> =
            potentially_failed(preset.config().potentially_failed), at most REPETITIONS;
        /// Primary.Switchover.Max.Retrans: consecutive retransmissions after which another path becomes the primary
        /// one (RFC 7829, section 5).
        primary_switchover_max_retrans: Setting<Threshold> =
            primary_switchover(preset.config().primary_switchover), at most REPETITIONS;
        /// Number of packets of what timed out that go out at once.
        retransmission_after_timeout: Setting<RetransmissionAfterTimeoutChoice> =
            RetransmissionAfterTimeoutChoice::of(preset.config().retransmission_after_timeout);
        /// Condition for which new DATA to a path waits after T3-rtx has expired there, and so the time at which the
        /// timer is restarted.
        new_data_after_timeout: Setting<NewDataAfterTimeoutChoice> =
            NewDataAfterTimeoutChoice::of(preset.config().new_data_after_timeout);
        /// Max.Init.Retransmits: how often INIT, and then COOKIE ECHO, are repeated.
        max_init_retransmits: Setting<u32> = preset.config().max_init_retransmits, at most REPETITIONS;
        /// HB.interval: how long a path may be idle before it is probed, on top of its RTO.
        hb_interval: Setting<Interval> = Interval::from(preset.config().heartbeat_interval), at most TIMER;
        /// HB.Max.Burst: how many paths may be probed at one time.
        hb_max_burst: Setting<u32> = preset.config().heartbeat_max_burst, at most ADDRESSES;
        /// SACK.Delay: how long an acknowledgement may be held back, at most 500 ms.
        sack_delay: Setting<Duration> = preset.config().sack_delay, at most SACK_DELAY;
        /// After how many packets with DATA an acknowledgement is sent at once (section 6.2).
        sack_frequency: Setting<u32> = preset.config().sack_frequency, at most PACKETS;
        /// Time at which the first DATA of an association is acknowledged.
        first_sack: Setting<FirstSackChoice> = FirstSackChoice::of(preset.config().first_sack);
        /// Longest time for which new DATA that fills no packet waits for more to be bundled with. It does not if
        /// absent.
        bundling_delay: Option<Setting<Duration>>, at most TIMER;
        /// Path that a SACK takes.
        sack_path: Setting<SackPathChoice> = SackPathChoice::of(preset.config().sack_path);
        /// T5-shutdown-guard: how long a shutdown may take.
        shutdown_guard: Setting<ShutdownGuard> = ShutdownGuard::from(preset.config().shutdown_guard), at most TIMER;
        /// Order in which streams are served.
        stream_scheduling: Setting<StreamSchedulingChoice> =
            StreamSchedulingChoice::of(preset.config().stream_scheduling);
        /// Receive buffer, advertised as a_rwnd.
        receive_buffer: Setting<DataSize> =
            DataSize::from_bytes(preset.config().receive_buffer_bytes.into()), at most SCTP_WINDOW;
        /// Send buffer, messages in flight included; a message that does not fit waits in the application.
        send_buffer: Setting<DataSize> = DataSize::from_bytes(preset.config().send_buffer_bytes), at most BUFFER;
        /// Inbound streams that the peer may have.
        inbound_streams: Setting<u16> = preset.config().inbound_streams;
        /// Path MTU that a path starts with, IP header included.
        initial_path_mtu: Setting<DataSize> =
            DataSize::from_bytes(preset.config().initial_path_mtu.into()), at most PACKET;
        /// Use of several paths at once for new DATA. One at a time if absent.
        multipath: Option<Setting<MultipathChoice>>;
        /// With `multipath`, whether each path may fill no more than its part of the buffers. It may fill no more if
        /// absent.
        split_buffers: Option<Setting<bool>>;
        /// Method by which the path MTU is found. By ICMP alone if absent.
        path_mtu_discovery: Option<Setting<PathMtuDiscoveryChoice>>;
        /// With `path_mtu_discovery = "probing"`, BASE_PLPMTU: the size that is expected to pass everywhere, IP header
        /// included. 1,200 bytes if absent; on IPv6 1,280 at least.
        base_path_mtu: Option<Setting<DataSize>>, at most PACKET;
        /// MAX_PLPMTU, with `path_mtu_discovery = "probing"`: the largest size that is probed, as the first link of the
        /// path has it. 1,500 bytes if absent.
        max_path_mtu: Option<Setting<DataSize>>, at most PACKET;
        /// MAX_PROBES, with `path_mtu_discovery = "probing"`: probes without an answer after which a size counts as too
        /// large, and losses of long packets in a row after which the path is probed anew. 3 if absent.
        max_probes: Option<Setting<u32>>, at most REPETITIONS;
        /// PMTU_RAISE_TIMER, with `path_mtu_discovery = "probing"`: the time for which a path MTU is kept before a
        /// larger one is looked for. 600 s if absent.
        pmtu_raise_timer: Option<Setting<Duration>>, at most TIMER;
        /// Addresses of a peer that are used at most.
        max_peer_addresses: Setting<u32> =
            u32::try_from(preset.config().max_peer_addresses).unwrap_or(u32::MAX), at most ADDRESSES;
    }
}

choice! {
    /// A configuration with a name.
    pub enum SctpPreset {
        /// A signalling gateway of 2004, Cisco ITP in release MB9: cwnd grows from two packets of 576 bytes to 64,000
        /// bytes, without slow start (`studies/soip`).
        Mb9 = "mb9",
        /// Release MB9 for satellites of the gateway of `mb9`: a cwnd of 384,000 bytes that neither grows nor shrinks,
        /// and is retransmitted as a whole by a time-out.
        Mb9Sat = "mb9-sat",
        /// Jungmaier, Rathgeb, Schopp, Tüxen 2000, section 4.4.2: the standard stack of section 4.4.1 with
        /// SACKs that report gaps on the path of the lowest delay.
        MultiLinkModified = "multi-link-modified",
        /// RFC 2960 stack of the paper of `multi-link-modified`: the fourth report of a loss triggers a retransmission,
        /// over the alternate path.
        MultiLinkStandard = "multi-link-standard",
        /// RFC 2960 of 2000, where it differs: RTO.Initial of 3 s, an initial cwnd of two packets, the fourth report of
        /// a loss triggers a retransmission, over the alternate path.
        Rfc2960 = "rfc2960",
        /// Values that RFC 9260 recommends.
        Rfc9260 = "rfc9260",
    }
}

impl SctpPreset {
    /// Configuration that gives keys their defaults.
    pub fn config(self) -> SctpConfig {
        match self {
            Self::Mb9 => SctpConfig::mb9(),
            Self::Mb9Sat => SctpConfig::mb9_sat(),
            Self::MultiLinkModified => SctpConfig::multi_link_modified(),
            Self::MultiLinkStandard => SctpConfig::multi_link_standard(),
            Self::Rfc2960 => SctpConfig::rfc2960(),
            Self::Rfc9260 => SctpConfig::default(),
        }
    }
}

const fn back_off_percent(back_off: BackOff) -> u32 {
    match back_off {
        BackOff::Double => 200,
        BackOff::Percent(percent) => percent,
    }
}

/// RFC 2960 knows no Max.Burst.
const fn burst(limit: u32) -> Threshold {
    if limit == u32::MAX { Threshold::Off } else { Threshold::Above(limit) }
}

const fn potentially_failed(policy: PotentiallyFailed) -> Threshold {
    match policy {
        PotentiallyFailed::Above(limit) => Threshold::Above(limit),
        PotentiallyFailed::Off => Threshold::Off,
    }
}

const fn primary_switchover(policy: PrimarySwitchover) -> Threshold {
    match policy {
        PrimarySwitchover::Above(limit) => Threshold::Above(limit),
        PrimarySwitchover::Off => Threshold::Off,
    }
}

fn fixed_cwnd(policy: WindowPolicy) -> Option<DataSize> {
    match policy {
        WindowPolicy::Adaptive => None,
        WindowPolicy::Fixed { cwnd } => Some(DataSize::from_bytes(cwnd)),
    }
}

word_or! {
    /// Initial cwnd of a path.
    pub enum InitialCwnd {
        /// min(4 PMTU, max(2 PMTU, 4404 bytes)): section 7.2.1.
        Rfc9260 = "rfc9260",
        /// This many bytes.
        Bytes(DataSize) like "3000 B",
    }
}

word_or! {
    /// A cwnd that neither grows nor shrinks.
    pub enum FixedCwnd {
        /// Slow start and congestion avoidance.
        Off = "off",
        /// This many bytes.
        Bytes(DataSize) like "154 kB",
    }
}

word_or! {
    /// Duration of the T5-shutdown-guard timer.
    pub enum ShutdownGuard {
        /// Five times RTO.Max: section 9.2.
        Rfc9260 = "rfc9260",
        /// Duration that is given.
        After(Duration) like "300 s",
    }
}

/// Algorithm that governs the congestion window of a path.
pub type CongestionControlChoice = ControllerChoice<Rfc9260>;

/// Owner of the controller that SCTP alone has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rfc9260;

impl TransportControl for Rfc9260 {
    const OWN: NamedAlgorithm = NamedAlgorithm {
        algorithm: Algorithm::Standard,
        name: SCTP_STANDARD,
        about: &["NewReno, as SCTP has it: RFC 9260, section 7.2."],
    };
}

policy! {
    /// Method by which losses are found.
    pub struct LossDetectionChoice of sctp::LossDetection {
        /// By miss indications: RFC 9260, section 7.2.4.
        MissIndications = "rfc9260",
        /// By time, on each path by itself, with loss probes; the window of a recovery shrinks in proportion, and what
        /// was retransmitted without need is taken back: RFC 8985, 6937, 3708 and 5682.
        Rack = "rack",
    }
}

policy! {
    /// Address of the peer to which a SACK is sent.
    pub struct SackPathChoice of SackPath {
        /// The address that the DATA came from: RFC 9260, section 6.4.
        ArrivalPath = "arrival-path",
        /// With gap reports the path of the lowest delay, otherwise that of the DATA: Jungmaier, Rathgeb,
        /// Schopp, Tüxen 2000, section 4.4.
        GapReportsOnLowestDelay = "gap-reports-on-lowest-delay",
    }
}

policy! {
    /// Time at which the first DATA of an association is acknowledged.
    pub struct FirstSackChoice of FirstSack {
        /// After `sack_delay` or with the next packet, as any other.
        AsAnyOther = "as-any-other",
        /// At once: RFC 9260, section 5.1.
        AtOnce = "at-once",
    }
}

policy! {
    /// Effect of a fast retransmission on the window of the path that the chunk was lost on.
    pub struct FastRetransmitWindowChoice of FastRetransmitWindow {
        /// Halves the window: RFC 9260, section 7.2.3.
        Halve = "halve",
        /// Keeps the window, which no RFC allows: Jungmaier, Rathgeb, Schopp, Tüxen 2000, section 4.3.
        Keep = "keep",
    }
}

policy! {
    /// Path that a fast retransmission takes.
    pub struct FastRetransmitPathChoice of FastRetransmitPath {
        /// An active path other than that of the last transmission, if there is one: RFC 2960, section 6.4.
        Alternate = "alternate",
        /// The active path with the least smoothed round-trip time.
        LowestDelay = "lowest-delay",
        /// The path of the original: RFC 9260, section 6.4.
        SamePath = "same-path",
    }
}

policy! {
    /// From which SACKs a round-trip time is taken. Karn's rule holds in any case.
    pub struct RttSamplingChoice of sctp::RttSampling {
        /// Any that acknowledges the timed DATA: RFC 9260, section 6.3.1.
        AnySack = "any-sack",
        /// Only one without gap reports that comes from the address that the DATA was sent to: Jungmaier,
        /// Rathgeb, Schopp, Tüxen 2000, section 4.4.2.
        GapFreeSackOnDataPath = "gap-free-sack-on-data-path",
        /// Only one that comes from the address that the DATA was sent to.
        SackOnDataPath = "sack-on-data-path",
    }
}

policy! {
    /// Number of packets of what timed out that go out at once.
    pub struct RetransmissionAfterTimeoutChoice of RetransmissionAfterTimeout {
        /// One, and the rest when a SACK arrives: Grinnemo, Brunstrom 2005, section 4, footnote 3.
        OnePacket = "one-packet",
        /// As many as the window of their path has room for: RFC 9260, section 6.3.3.
        Window = "window",
    }
}

policy! {
    /// Condition for which new DATA to a path waits while what timed out there is retransmitted over another one.
    pub struct NewDataAfterTimeoutChoice of NewDataAfterTimeout {
        /// Until less is outstanding in the whole association than the path's cwnd: Grinnemo, Brunstrom 2005,
        /// section 4.
        AssociationWindow = "association-window",
        /// Nothing but the path's own window: RFC 9260, section 6.1, rule B.
        PathWindow = "path-window",
        /// Until all that is lost has been retransmitted: RFC 9260, section 6.1, rule C, to the letter.
        RetransmissionsFirst = "retransmissions-first",
    }
}

policy! {
    /// Acknowledgements that may open the window.
    pub struct CwndGrowthChoice of CwndGrowth {
        /// Any newly acknowledged DATA outside of fast recovery: RFC 9260, section 7.2.1.
        AnyNewAcknowledgement = "any-new-acknowledgement",
        /// Only a SACK that advances the Cumulative TSN Ack Point: RFC 2960 and 4960, section 7.2.1.
        CumulativeAdvance = "cumulative-advance",
    }
}

policy! {
    /// Order in which streams are served, message by message, or chunk by chunk with the extension `interleaving`: RFC
    /// 8260, section 3.
    pub struct StreamSchedulingChoice of StreamScheduling {
        /// In the order in which the messages were handed over.
        FirstComeFirstServed = "first-come-first-served",
        /// Each stream in turn.
        RoundRobin = "round-robin",
        /// Each stream in turn, and a packet holds chunks of one stream only.
        RoundRobinPerPacket = "round-robin-per-packet",
        /// The streams with the highest priority in turn: the lowest of `stream_values` in the flow.
        Priority = "priority",
        /// Each stream that has something to send gets the same share.
        FairCapacity = "fair-capacity",
        /// Each gets a share by its weight: that of `stream_values` in the flow, or 1.
        WeightedFairQueueing = "weighted-fair-queueing",
    }
}

policy! {
    /// An extension of RFC 9260 that both ends have to know.
    pub struct ExtensionChoice of Extension {
        /// Messages may be given up that have become useless: RFC 3758.
        PartialReliability = "partial-reliability",
        /// SACKs tell what will not be thrown away any more, which then leaves the send buffer:
        /// draft-natarajan-tsvwg-sctp-nrsack.
        NonRenegableSack = "nr-sack",
        /// Fragments of messages of different streams take turns: RFC 8260, section 2.
        Interleaving = "interleaving",
        /// Streams may be reset and added: RFC 6525.
        Reconfiguration = "stream-reconfiguration",
        /// Chunks may be authenticated: RFC 4895.
        Authentication = "authentication",
        /// Addresses may be added and deleted while an association lives: RFC 5061. It needs `authentication` as well,
        /// or `unauthenticated_addresses`.
        DynamicAddresses = "dynamic-addresses",
    }
}

policy! {
    /// Use of several paths at once for new DATA.
    pub struct MultipathChoice of Multipath {
        /// The primary path, or another one if that is not active: RFC 9260, section 6.4.
        Off = "off",
        /// All active ones, each with a window of its own: CMT-SCTP, Iyengar, Amer, Stewart 2006.
        Concurrent = "concurrent",
        /// All active ones, with windows pooled by their ssthresh: CMT/RPv1, Dreibholz et al. 2010. Wants
        /// `congestion_control = "rfc9260"`.
        PooledV1 = "pooled-v1",
        /// All active ones, with windows pooled by their rates: CMT/RPv2, Dreibholz et al. 2011.
        PooledV2 = "pooled-v2",
    }
}

policy! {
    /// Method by which the path MTU is found.
    pub struct PathMtuDiscoveryChoice of PathMtuDiscovery {
        /// Begins with `initial_path_mtu` and follows ICMP downwards: RFC 9260, section 7.3.
        Off = "icmp",
        /// Probe packets look for it, ICMP tells them where: RFC 8899. `initial_path_mtu` says nothing then.
        Probing = "probing",
    }
}

/// A size of a packet as a configuration has it.
fn packet_bytes(size: Option<&Setting<DataSize>>, default: u16) -> u16 {
    size.map_or(default, |size| u16::try_from(size.as_bytes()).unwrap_or(u16::MAX))
}

/// The extensions of a list.
fn set_of(listed: Option<&Setting<Vec<ExtensionChoice>>>) -> Extensions {
    let listed = listed.into_iter().flat_map(|listed| listed.iter());
    listed.fold(Extensions::NONE, |set, choice| set.with(choice.policy()))
}

impl SctpProfile {
    /// The value of every key, as a JSON object of the declaration's names. Quantities are texts, as in a scenario.
    /// Secrets, `shared_keys` and the number of the active one, are left out: what is written may be shown to others.
    pub fn settings(&self) -> Json {
        let mut output = MergedOutput::default();
        self.write_fields(&mut output);
        let mut settings = output.json();
        settings.retain(|key, _| !["shared_keys", "active_key"].contains(&key.as_str()));
        Json::Object(settings)
    }

    /// Use of several paths at once for new DATA.
    pub fn multipath(&self) -> Multipath {
        self.multipath.map_or_else(Multipath::default, |choice| choice.policy())
    }

    /// Method by which the path MTU is found.
    pub fn path_mtu_discovery(&self) -> PathMtuDiscovery {
        self.path_mtu_discovery.map_or_else(PathMtuDiscovery::default, |choice| choice.policy())
    }

    /// Tells whether dynamic addresses are used without authentication.
    pub fn allows_unauthenticated_addresses(&self) -> bool {
        self.unauthenticated_addresses.as_ref().is_some_and(|allows| **allows)
    }

    /// The extensions that the profile lists.
    pub fn extensions(&self) -> Extensions {
        set_of(self.extensions.as_ref())
    }

    /// Configuration of an endpoint whose associations ask for this many streams.
    pub fn config(&self, outbound_streams: u16) -> SctpConfig {
        SctpConfig {
            ip: IpFields::default(),
            rto_initial: *self.rto_initial,
            rto_min: *self.rto_min,
            rto_max: *self.rto_max,
            back_off: match *self.rto_back_off_percent {
                200 => BackOff::Double,
                percent => BackOff::Percent(percent),
            },
            max_burst: match *self.max_burst {
                Threshold::Above(limit) => limit,
                Threshold::Off => u32::MAX,
            },
            rto_alpha_shift: *self.rto_alpha_shift,
            rto_beta_shift: *self.rto_beta_shift,
            valid_cookie_life: *self.valid_cookie_life,
            association_max_retrans: *self.association_max_retrans,
            path_max_retrans: *self.path_max_retrans,
            potentially_failed: match *self.potentially_failed_max_retrans {
                Threshold::Above(limit) => PotentiallyFailed::Above(limit),
                Threshold::Off => PotentiallyFailed::Off,
            },
            // The host tells them apart.
            expose_potentially_failed: true,
            primary_switchover: match *self.primary_switchover_max_retrans {
                Threshold::Above(limit) => PrimarySwitchover::Above(limit),
                Threshold::Off => PrimarySwitchover::Off,
            },
            retransmission_after_timeout: self.retransmission_after_timeout.policy(),
            new_data_after_timeout: self.new_data_after_timeout.policy(),
            max_init_retransmits: *self.max_init_retransmits,
            heartbeat_interval: self.hb_interval.quantity(),
            heartbeat_max_burst: *self.hb_max_burst,
            sack_delay: *self.sack_delay,
            // Simulated time wakes nobody.
            timer_granularity: Duration::ZERO,
            sack_frequency: *self.sack_frequency,
            first_sack: self.first_sack.policy(),
            bundling_delay: self.bundling_delay.map(|delay| *delay).unwrap_or_default(),
            sack_path: self.sack_path.policy(),
            fast_retransmit_threshold: *self.fast_retransmit_threshold,
            fast_retransmit_path: self.fast_retransmit_path.policy(),
            rtt_sampling: self.rtt_sampling.policy(),
            loss_detection: self.loss_detection.policy(),
            congestion_control: self.congestion_control.policy(),
            known_capacity: self.known_capacity.quantity(),
            fast_convergence: *self.fast_convergence,
            ecn: *self.ecn,
            extensions: self.extensions(),
            required_extensions: set_of(self.required_extensions.as_ref()),
            unauthenticated_addresses: self.allows_unauthenticated_addresses(),
            authentication: self.authentication(),
            // No key of a scenario asks for these.
            reconfiguration: ReconfigurationPolicy::default(),
            adaptation_layer: None,
            congestion: SctpPolicy {
                slow_start: self.slow_start.policy(),
                byte_counting_limit: *self.byte_counting_limit,
                growth: self.cwnd_growth.policy(),
                fast_retransmit: self.fast_retransmit_window.policy(),
                max_cwnd: self
                    .max_cwnd
                    .map_or(self.preset.config().congestion.max_cwnd, |most| Some(most.as_bytes())),
                window: match *self.fixed_cwnd {
                    FixedCwnd::Off => WindowPolicy::Adaptive,
                    FixedCwnd::Bytes(size) => WindowPolicy::Fixed { cwnd: size.as_bytes() },
                },
            },
            initial_cwnd_bytes: self.initial_cwnd.quantity().map(DataSize::as_bytes),
            initial_ssthresh_bytes: self.initial_ssthresh.quantity().map(DataSize::as_bytes),
            stream_scheduling: self.stream_scheduling.policy(),
            // The flow knows its streams.
            stream_values: BTreeMap::new(),
            shutdown_guard: self.shutdown_guard.quantity(),
            // The host asks for what its records need.
            trace_messages: false,
            trace_arrivals: false,
            trace_timers: false,
            trace: false,
            report_acknowledged: false,
            receive_buffer_bytes: u32::try_from(self.receive_buffer.as_bytes()).unwrap_or(u32::MAX),
            partial_delivery_point_bytes: self.preset.config().partial_delivery_point_bytes,
            send_buffer_bytes: self.send_buffer.as_bytes(),
            outbound_streams,
            inbound_streams: *self.inbound_streams,
            initial_path_mtu: u16::try_from(self.initial_path_mtu.as_bytes()).unwrap_or(u16::MAX),
            multipath: self.multipath(),
            split_buffers: self.split_buffers.is_none_or(|split| *split),
            path_mtu_discovery: self.path_mtu_discovery(),
            base_path_mtu: packet_bytes(self.base_path_mtu.as_ref(), self.preset.config().base_path_mtu),
            max_path_mtu: packet_bytes(self.max_path_mtu.as_ref(), self.preset.config().max_path_mtu),
            max_probes: self.max_probes.map_or(self.preset.config().max_probes, |probes| *probes),
            pmtu_raise_timer: self
                .pmtu_raise_timer
                .map_or(self.preset.config().pmtu_raise_timer, |timer| *timer),
            // Links complete a checksum before they damage or capture a packet: nobody sees it missing, unless it is to
            // be missing.
            checksum: match self.zero_checksum {
                Some(_) => sctp::ChecksumPolicy::Compute,
                None => sctp::ChecksumPolicy::Omit,
            },
            zero_checksum: self.error_detection(),
            max_associations: self.preset.config().max_associations,
            total_send_buffer_bytes: self.preset.config().total_send_buffer_bytes,
            max_peer_addresses: *self.max_peer_addresses as usize,
        }
    }
}
