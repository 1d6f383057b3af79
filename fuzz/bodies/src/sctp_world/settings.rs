//! Settings of both ends, read from the beginning and the end of an input.

use slantpath_base::Duration;
use slantpath_sctp::chunk::kind;
use slantpath_sctp::{
    self as sctp, Algorithm, AuthenticationConfig, ErrorDetectionMethod, Extension, Extensions, Multipath,
    PathMtuDiscovery, PotentiallyFailed, SctpConfig, SharedKey, StreamId, StreamScheduling,
};

/// Number of streams each way to begin with.
pub(super) const STREAMS: u16 = 4;
/// First byte of a first step that gives the offers of each end.
const OFFERS: u8 = 0xff;

/// The settings of an input, and its steps of four bytes each.
pub(super) struct Settings<'a> {
    /// In how many networks both ends have an address to begin with.
    pub(super) networks: u8,
    pub(super) configs: [SctpConfig; 2],
    pub(super) steps: &'a [u8],
}

impl<'a> Settings<'a> {
    /// The first byte is bits: two networks, and what [`config`] makes of them. The bytes behind the last step say
    /// more. If the first step begins with [`OFFERS`], each end has extensions of its own.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let (&options, rest) = data.split_first()?;
        let common = config(options, rest.chunks_exact(4).remainder());
        let (configs, steps) = match *rest {
            [OFFERS, first, second, authenticated, ref steps @ ..] => {
                (offers(&common, [first, second], authenticated), steps)
            }
            _ => ([common.clone(), common], rest),
        };
        Some(Self { networks: 1 + (options & 1), configs, steps })
    }
}

/// The settings of an endpoint. `more` is up to three bytes, of which each missing one is zero: the scheduler, what is
/// offered beyond the extensions, and the congestion control.
fn config(options: u8, more: &[u8]) -> SctpConfig {
    let is_set = |bit: u8| options >> bit & 1 == 1;
    let [scheduler, offered, control] = [0, 1, 2].map(|place| more.get(place).copied().unwrap_or(0));
    let default = SctpConfig::default();
    let schedulers = [
        StreamScheduling::FirstComeFirstServed,
        StreamScheduling::RoundRobin,
        StreamScheduling::RoundRobinPerPacket,
        StreamScheduling::Priority,
        StreamScheduling::FairCapacity,
        StreamScheduling::WeightedFairQueueing,
    ];
    let controls = [
        Algorithm::Standard,
        Algorithm::Cubic,
        Algorithm::Hybla,
        Algorithm::Bbr,
        Algorithm::Bbr3,
        Algorithm::Backlog,
        Algorithm::Westwood,
    ];
    let multipaths = [Multipath::Off, Multipath::Concurrent, Multipath::PooledV1, Multipath::PooledV2];
    let keys = [(0, SharedKey::new(&b"first"[..])), (1, SharedKey::new(&b"second"[..]))].into();
    SctpConfig {
        stream_values: (0..STREAMS).map(|stream| (StreamId(stream), stream)).collect(),
        congestion_control: controls[usize::from(control) % controls.len()],
        multipath: multipaths[usize::from(offered & 3)],
        path_mtu_discovery: if offered & 4 == 0 { PathMtuDiscovery::Off } else { PathMtuDiscovery::Probing },
        zero_checksum: (offered & 8 != 0).then_some(ErrorDetectionMethod::DTLS),
        heartbeat_interval: is_set(7).then_some(Duration::from_secs(30)),
        loss_detection: if is_set(1) {
            sctp::LossDetection::Rack
        } else {
            sctp::LossDetection::MissIndications
        },
        ecn: is_set(2),
        receive_buffer_bytes: if is_set(3) { 3_000 } else { default.receive_buffer_bytes },
        potentially_failed: if is_set(4) { PotentiallyFailed::Above(0) } else { PotentiallyFailed::Off },
        stream_scheduling: schedulers[(usize::from(scheduler) + usize::from(is_set(5))) % schedulers.len()],
        extensions: if is_set(6) { Extensions::of(&Extension::ALL) } else { Extensions::NONE },
        authentication: AuthenticationConfig { keys, ..default.authentication.clone() },
        outbound_streams: STREAMS,
        send_buffer_bytes: 50_000,
        report_acknowledged: true,
        ..default
    }
}

/// Settings for each end, with its own offers: a bit for each extension, one for addresses that change without
/// authentication, and one that turns round whether packets may be without a checksum. `authenticated` has four bits
/// for each end: what that accepts only if it is authenticated.
fn offers(common: &SctpConfig, ends: [u8; 2], authenticated: u8) -> [SctpConfig; 2] {
    let extensions = ends.map(|bits| {
        let offered = Extension::ALL.into_iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        Extensions::of(&offered.map(|(_, extension)| extension).collect::<Vec<_>>())
    });
    // Whoever wants anything authenticated comes to no association with a peer that cannot.
    let may_want = extensions[0].and(extensions[1]).contain(Extension::Authentication);
    [0, 1].map(|end| {
        let wanted = if may_want { authenticated >> (4 * end) & 0x0f } else { 0 };
        let omits = common.zero_checksum.is_some() != (ends[end] & 0x80 != 0);
        SctpConfig {
            extensions: extensions[end],
            unauthenticated_addresses: ends[end] & 0x40 != 0,
            zero_checksum: omits.then_some(ErrorDetectionMethod::DTLS),
            authentication: AuthenticationConfig { chunks: kinds(wanted), ..common.authentication.clone() },
            ..common.clone()
        }
    })
}

/// The types of chunks that four bits stand for.
fn kinds(wanted: u8) -> Vec<u8> {
    let sets: [&[u8]; 4] = [
        &[kind::DATA, kind::I_DATA],
        &[kind::SACK, kind::NR_SACK],
        &[kind::FORWARD_TSN, kind::I_FORWARD_TSN, kind::RE_CONFIG],
        &[
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
            kind::PAD,
        ],
    ];
    let chosen = sets.iter().enumerate().filter(|(bit, _)| wanted >> bit & 1 == 1);
    chosen.flat_map(|(_, set)| set.iter().copied()).collect()
}
