//! Choices that one seed draws: the extensions that there are, the settings of both ends, and the faults between them.

use core::num::NonZeroU32;
use std::collections::BTreeSet;
use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Stream};
use slantpath_cc::BackOff;
use slantpath_sctp::chunk::kind;
use slantpath_sctp::{
    Algorithm, AuthenticationConfig, ErrorDetectionMethod, Extension, Extensions, FastRetransmitPath,
    FirstSack, LossDetection, Multipath, NewDataAfterTimeout, PathMtuDiscovery, PotentiallyFailed,
    PrimarySwitchover, RetransmissionAfterTimeout, RttSampling, SackPath, SctpConfig, SharedKey, StreamId,
    StreamScheduling,
};

/// Number of streams each way to begin with.
pub(crate) const STREAMS: u16 = 4;
/// Number of networks that there are.
pub(crate) const NETWORKS: u8 = 3;
/// From when on nothing is lost, late or damaged any more, so that whoever does not finish has hung.
pub(crate) const CLEARS: Instant = Instant::from_secs(150);

/// Something beyond RFC 9260 that a case has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Feature {
    Authentication,
    DynamicAddresses,
    Destination,
    Ecn,
    Interleaving,
    Multipath,
    NonRenegableSack,
    PartialReliability,
    PathMtuDiscovery,
    Reconfiguration,
    SackImmediately,
    ZeroChecksum,
}

impl Feature {
    pub(crate) const ALL: [Self; 12] = [
        Self::Authentication,
        Self::DynamicAddresses,
        Self::Destination,
        Self::Ecn,
        Self::Interleaving,
        Self::Multipath,
        Self::NonRenegableSack,
        Self::PartialReliability,
        Self::PathMtuDiscovery,
        Self::Reconfiguration,
        Self::SackImmediately,
        Self::ZeroChecksum,
    ];

    /// Extension that both ends have to know for it.
    const fn extension(self) -> Option<Extension> {
        match self {
            Self::Authentication => Some(Extension::Authentication),
            Self::DynamicAddresses => Some(Extension::DynamicAddresses),
            Self::Interleaving => Some(Extension::Interleaving),
            Self::NonRenegableSack => Some(Extension::NonRenegableSack),
            Self::PartialReliability => Some(Extension::PartialReliability),
            Self::Reconfiguration => Some(Extension::Reconfiguration),
            Self::Destination
            | Self::Ecn
            | Self::Multipath
            | Self::PathMtuDiscovery
            | Self::SackImmediately
            | Self::ZeroChecksum => None,
        }
    }
}

/// Report of a router about a packet that is too long for its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Router {
    Silent,
    Truthful,
    /// The link is said to carry this little, of whatever packet, too long or not.
    Lying(u16),
}

/// Faults of the network.
#[derive(Clone, Debug)]
pub(crate) struct Weather {
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    /// A packet takes up to so much longer than others.
    pub(crate) jitter: Duration,
    pub(crate) bit_errors: f64,
    /// The share of packets that are marked of those that may be.
    pub(crate) marks: f64,
    /// Time during which the first network is down.
    pub(crate) outage: (Instant, Instant),
    /// From when on the first network carries no longer packets than this, IP header included, unless they may be cut.
    pub(crate) narrow: Option<(Instant, u16)>,
    pub(crate) router: Router,
    /// Rate at which somebody between the ends sends packets that neither of them has sent.
    pub(crate) forgeries: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Features of the ends, each by itself.
    pub(crate) features: [BTreeSet<Feature>; 2],
    pub(crate) configs: [SctpConfig; 2],
    /// In how many networks each end has an address to begin with.
    pub(crate) networks: [u8; 2],
    pub(crate) is_ipv6: bool,
    pub(crate) weather: Weather,
    /// Number of actions of the users.
    pub(crate) acts: u64,
    /// True if the network is such that no association may end in it but in order.
    pub(crate) is_survivable: bool,
}

impl Case {
    pub(crate) fn draw(stream: &mut Stream) -> Self {
        let features = features(stream);
        let has = |feature| features.iter().all(|of_end| of_end.contains(&feature));
        let has_any = |feature| features.iter().any(|of_end: &BTreeSet<_>| of_end.contains(&feature));
        let outage_at = Instant::from_millis(stream.below(8_000));
        let outage = match stream.below(3) {
            0 => Duration::from_millis(stream.below(20_000)),
            _ => Duration::ZERO,
        };
        let is_ipv6 = stream.below(4) == 0;
        // A router of IPv6 cuts nothing, and every link carries 1,280 bytes.
        let narrow = if is_ipv6 { [1_400, 1_280] } else { [1_300, 900] };
        let is_probing = has(Feature::PathMtuDiscovery);
        let weather = Weather {
            loss: pick(stream, &[0.0, 0.01, 0.05, 0.3]),
            duplication: pick(stream, &[0.0, 0.05, 0.3]),
            jitter: Duration::from_millis(pick(stream, &[1, 20, 120])),
            // Without checksums what lies below SCTP has to find errors: it drops what is damaged, as loss does.
            bit_errors: if has_any(Feature::ZeroChecksum) { 0.0 } else { pick(stream, &[0.0, 0.0, 0.03]) },
            marks: pick(stream, &[0.0, 0.05, 0.5]),
            outage: (outage_at, outage_at + outage),
            narrow: (is_probing && stream.below(2) == 0)
                .then(|| (Instant::from_millis(stream.below(8_000)), pick(stream, &narrow))),
            router: match stream.below(if is_probing { 4 } else { 1 }) {
                0 | 1 => Router::Silent,
                2 => Router::Truthful,
                _ => Router::Lying(u16::try_from(20 + stream.below(1_500)).expect("small")),
            },
            forgeries: pick(stream, &[0.0, 0.05]),
        };
        let max_retrans = pick(stream, &[10, 30]);
        let has_streams_of_keys = stream.below(2) == 0;
        let configs = [0, 1].map(|end| {
            let config = config(stream, &features[end], max_retrans);
            // Whoever wants nothing but what is authenticated comes to no association with a peer that cannot.
            let wants_all = has(Feature::Authentication) && has_streams_of_keys;
            SctpConfig { authentication: authentication(stream, wants_all), ..config }
        });
        let is_calm = weather.loss <= 0.05;
        let is_survivable = is_calm && (outage.is_zero() || max_retrans == 30);
        let networks = [0, 1].map(|_| 1 + u8::try_from(stream.below(2)).expect("small"));
        let acts = 60 + stream.below(100);
        Self { features, configs, networks, is_ipv6, weather, acts, is_survivable }
    }

    /// Tells if both ends have the feature.
    pub(crate) fn has(&self, feature: Feature) -> bool {
        self.features.iter().all(|of_end| of_end.contains(&feature))
    }

    /// Tells if addresses may change in the view of an end.
    pub(crate) fn may_change_addresses(&self, end: usize) -> bool {
        self.has(Feature::DynamicAddresses)
            && (self.has(Feature::Authentication) || self.configs[end].unauthenticated_addresses)
    }

    /// Tells if packets may be without a checksum.
    pub(crate) fn omits_checksums(&self) -> bool {
        self.configs[0].zero_checksum.is_some()
            && self.configs[0].zero_checksum == self.configs[1].zero_checksum
    }

    /// The chunks that an end accepts only if they are authenticated.
    pub(crate) fn is_wanted(&self, by: usize, kind: u8) -> bool {
        self.has(Feature::Authentication)
            && (self.configs[by].authentication.chunks.contains(&kind)
                || self.features[by].contains(&Feature::DynamicAddresses)
                    && matches!(kind, kind::ASCONF | kind::ASCONF_ACK))
    }

    /// The address of an end in a network.
    pub(crate) fn address(&self, network: u8, end: usize) -> IpAddr {
        let host = if end == 0 { 1 } else { 2 };
        if self.is_ipv6 {
            [0xfd00, 0, 0, network.into(), 0, 0, 0, host].into()
        } else {
            [10, 0, network, u8::try_from(host).expect("small")].into()
        }
    }
}

pub(crate) fn pick<T: Copy>(stream: &mut Stream, choices: &[T]) -> T {
    choices[usize::try_from(stream.below(choices.len() as u64)).expect("a place")]
}

/// One alone, or each or not (Groce et al., "Swarm testing", 2012); now and then an end does not know one.
fn features(stream: &mut Stream) -> [BTreeSet<Feature>; 2] {
    let chosen: BTreeSet<Feature> = match stream.below(3) {
        0 => [pick(stream, &Feature::ALL)].into(),
        _ => Feature::ALL.into_iter().filter(|_| stream.below(2) == 0).collect(),
    };
    [(); 2].map(|()| {
        let is_complete = stream.below(4) > 0;
        chosen.iter().copied().filter(|_| is_complete || stream.below(4) > 0).collect()
    })
}

/// Types of chunks that an end accepts only if they are authenticated, and its keys.
fn authentication(stream: &mut Stream, wants_all: bool) -> AuthenticationConfig {
    let kinds = [
        kind::DATA,
        kind::SACK,
        kind::HEARTBEAT,
        kind::HEARTBEAT_ACK,
        kind::ABORT,
        kind::SHUTDOWN,
        kind::SHUTDOWN_ACK,
        kind::ERROR,
        kind::COOKIE_ECHO,
        kind::COOKIE_ACK,
        kind::ECNE,
        kind::CWR,
        kind::NR_SACK,
        kind::PAD,
        kind::RE_CONFIG,
        kind::FORWARD_TSN,
        kind::I_DATA,
        kind::I_FORWARD_TSN,
    ];
    let share = if wants_all { pick(stream, &[0, 1, 2, 4]) } else { 0 };
    let chunks = kinds.into_iter().filter(|_| stream.below(4) < share).collect();
    let keys = [(0, SharedKey::new(&b"first"[..])), (1, SharedKey::new(&b"second"[..]))].into();
    AuthenticationConfig {
        chunks,
        keys,
        active_key: pick(stream, &[0, 1]),
        ..AuthenticationConfig::default()
    }
}

fn config(stream: &mut Stream, features: &BTreeSet<Feature>, max_retrans: u32) -> SctpConfig {
    let has = |feature| features.contains(&feature);
    let extensions: Vec<Extension> = features.iter().filter_map(|feature| feature.extension()).collect();
    let method = pick(stream, &[1, 1, 1, 7]);
    SctpConfig {
        extensions: Extensions::of(&extensions),
        unauthenticated_addresses: pick(stream, &[true, true, false]),
        zero_checksum: NonZeroU32::new(method)
            .map(ErrorDetectionMethod)
            .filter(|_| has(Feature::ZeroChecksum)),
        ecn: has(Feature::Ecn),
        multipath: if has(Feature::Multipath) {
            pick(stream, &[Multipath::Concurrent, Multipath::PooledV1, Multipath::PooledV2])
        } else {
            Multipath::Off
        },
        split_buffers: pick(stream, &[false, true]),
        path_mtu_discovery: if has(Feature::PathMtuDiscovery) {
            PathMtuDiscovery::Probing
        } else {
            PathMtuDiscovery::Off
        },
        pmtu_raise_timer: Duration::from_secs(pick(stream, &[5, 600])),
        outbound_streams: STREAMS,
        inbound_streams: STREAMS,
        heartbeat_interval: Some(Duration::from_secs(1 + stream.below(30))),
        association_max_retrans: max_retrans,
        first_sack: pick(stream, &[FirstSack::AtOnce, FirstSack::AsAnyOther]),
        sack_frequency: pick(stream, &[1, 2, 4]),
        bundling_delay: Duration::from_millis(pick(stream, &[0, 0, 5])),
        receive_buffer_bytes: pick(stream, &[5_000, 20_000, 64_000, 1 << 20]),
        partial_delivery_point_bytes: pick(stream, &[None, Some(2_000)]),
        send_buffer_bytes: pick(stream, &[100_000, 1 << 20]),
        sack_path: pick(stream, &[SackPath::ArrivalPath, SackPath::GapReportsOnLowestDelay]),
        rtt_sampling: pick(
            stream,
            &[RttSampling::AnySack, RttSampling::GapFreeSackOnDataPath, RttSampling::SackOnDataPath],
        ),
        fast_retransmit_path: pick(
            stream,
            &[FastRetransmitPath::Alternate, FastRetransmitPath::LowestDelay, FastRetransmitPath::SamePath],
        ),
        stream_scheduling: pick(
            stream,
            &[
                StreamScheduling::FirstComeFirstServed,
                StreamScheduling::RoundRobin,
                StreamScheduling::RoundRobinPerPacket,
                StreamScheduling::Priority,
                StreamScheduling::FairCapacity,
                StreamScheduling::WeightedFairQueueing,
            ],
        ),
        stream_values: (0..STREAMS)
            .map(|of| (StreamId(of), u16::try_from(stream.below(4)).expect("small")))
            .collect(),
        back_off: pick(stream, &[BackOff::Double, BackOff::Percent(150)]),
        new_data_after_timeout: pick(
            stream,
            &[
                NewDataAfterTimeout::AssociationWindow,
                NewDataAfterTimeout::PathWindow,
                NewDataAfterTimeout::RetransmissionsFirst,
            ],
        ),
        retransmission_after_timeout: pick(
            stream,
            &[RetransmissionAfterTimeout::OnePacket, RetransmissionAfterTimeout::Window],
        ),
        potentially_failed: pick(
            stream,
            &[PotentiallyFailed::Off, PotentiallyFailed::Above(0), PotentiallyFailed::Above(2)],
        ),
        primary_switchover: pick(stream, &[PrimarySwitchover::Off, PrimarySwitchover::Above(5)]),
        loss_detection: pick(stream, &[LossDetection::MissIndications, LossDetection::Rack]),
        congestion_control: pick(
            stream,
            &[
                Algorithm::Standard,
                Algorithm::Cubic,
                Algorithm::Backlog,
                Algorithm::Bbr,
                Algorithm::Bbr3,
                Algorithm::Hybla,
                Algorithm::Westwood,
            ],
        ),
        trace_messages: true,
        report_acknowledged: true,
        ..SctpConfig::default()
    }
}
