//! Settings of a live run, made from the flags in the form that the crate below wants.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_base::DataSize;
use slantpath_live::{
    AuthenticationConfig, Binding, Carriage, ErrorDetectionMethod, Extension, Extensions, IpFields,
    LiveConfig, OpenError, PathMtuDiscovery, SctpConfig, Severity, SharedKey, StreamId, StreamScheduling,
};
use slantpath_profiles::{Profile, ProfileError};
use slantpath_runner::read_bounded;
use slantpath_runner::schema::Dscp;

use crate::arguments::{ErrorDetection, SctpArguments};
use crate::failure::Failure;
use crate::terminal;

impl SctpArguments {
    /// Extensions that are offered, required or not.
    pub(crate) fn offered(&self) -> Extensions {
        Extensions::of(&self.extensions).union(Extensions::of(&self.required))
    }
}

/// SCTP's settings: RFC 9260's, but for what flags say, and what the carriage leaves of the path MTU. So many streams
/// are sent on at least.
pub(super) fn sctp(
    arguments: &SctpArguments,
    carriage: Carriage,
    streams: u16,
) -> Result<SctpConfig, Failure> {
    if let Some(place) = &arguments.profile {
        let profile = profile(place)?;
        profile.warnings().iter().try_for_each(terminal::warn)?;
        let default = SctpConfig::default().outbound_streams;
        return Ok(besides(arguments, carriage.settings(profile.config(default.max(streams)))));
    }
    let default = SctpConfig::default();
    let overhead = u16::try_from(carriage.overhead_bytes()).unwrap_or_default();
    let config = SctpConfig {
        rto_initial: arguments.rto_initial.unwrap_or(default.rto_initial),
        rto_min: arguments.rto_min.unwrap_or(default.rto_min),
        rto_max: arguments.rto_max.unwrap_or(default.rto_max),
        path_max_retrans: arguments.path_max_retrans.unwrap_or(default.path_max_retrans),
        association_max_retrans: arguments.association_max_retrans.unwrap_or(default.association_max_retrans),
        max_init_retransmits: arguments.max_init_retransmits.unwrap_or(default.max_init_retransmits),
        heartbeat_interval: arguments.heartbeat.or(default.heartbeat_interval),
        sack_delay: arguments.sack_delay.unwrap_or(default.sack_delay),
        timer_granularity: LiveConfig::TIMER_GRANULARITY,
        initial_path_mtu: arguments.mtu.unwrap_or(default.initial_path_mtu) - overhead,
        max_path_mtu: arguments.mtu.unwrap_or(default.max_path_mtu) - overhead,
        path_mtu_discovery: if arguments.probe_mtu {
            PathMtuDiscovery::Probing
        } else {
            default.path_mtu_discovery
        },
        outbound_streams: default.outbound_streams.max(streams),
        send_buffer_bytes: arguments.send_buffer.map_or(default.send_buffer_bytes, DataSize::as_bytes),
        receive_buffer_bytes: arguments
            .receive_buffer
            .and_then(|size| u32::try_from(size.as_bytes()).ok())
            .unwrap_or(default.receive_buffer_bytes),
        stream_scheduling: arguments.stream_scheduling.unwrap_or(default.stream_scheduling),
        stream_values: stream_values(arguments)?,
        multipath: arguments.multipath.unwrap_or(default.multipath),
        zero_checksum: zero_checksum(arguments, carriage)?,
        extensions: arguments.offered(),
        required_extensions: Extensions::of(&arguments.required),
        authentication: authentication(arguments)?,
        ..default
    };
    let (values, streams) = (config.stream_values.len(), config.outbound_streams);
    if values > usize::from(streams) {
        let lack = format!("--stream-values: {values} values are more than {streams} streams: give fewer");
        return Err(Failure::Misused(lack));
    }
    for finding in config.check() {
        match finding.severity() {
            Severity::Error => return Err(Failure::Misused(finding.to_string())),
            Severity::Warning => terminal::warn(&finding)?,
        }
    }
    Ok(besides(arguments, config))
}

/// Adds the settings that are no profile's.
fn besides(arguments: &SctpArguments, config: SctpConfig) -> SctpConfig {
    let total = arguments.total_send_buffer.map(DataSize::as_bytes);
    SctpConfig {
        total_send_buffer_bytes: total.or(config.total_send_buffer_bytes),
        ip: IpFields { dscp: arguments.dscp.map_or(config.ip.dscp, Dscp::wire), ..config.ip },
        ..config
    }
}

/// The profile of a scenario that `FILE[:NAME]` says.
pub(super) fn profile(place: &str) -> Result<Profile, Failure> {
    Profile::load(place).map_err(|error| match error {
        ProfileError::Invalid(diagnostics) => Failure::Invalid(diagnostics),
        other => Failure::Misused(format!("--profile: {other}")),
    })
}

/// The values of streams, which only some schedulers read.
fn stream_values(arguments: &SctpArguments) -> Result<BTreeMap<StreamId, u16>, Failure> {
    let values = &arguments.stream_values;
    if !values.is_empty() && !arguments.stream_scheduling.is_some_and(StreamScheduling::reads_values) {
        return Err(Failure::Misused(
            "--stream-values say nothing to this scheduler: give --stream-scheduling priority or \
             weighted-fair-queueing, too"
                .to_owned(),
        ));
    }
    Ok((0..).map(StreamId).zip(values.iter().copied()).collect())
}

/// Method that replaces the checksum, if one was given. Nothing here carries SCTP in DTLS, so that whoever gives it has
/// to know.
fn zero_checksum(
    arguments: &SctpArguments,
    carriage: Carriage,
) -> Result<Option<ErrorDetectionMethod>, Failure> {
    let Some(ErrorDetection::Dtls) = arguments.zero_checksum else { return Ok(None) };
    let left = match carriage {
        Carriage::Raw => "nothing finds bit errors",
        Carriage::Udp { .. } => "the 16 bits of UDP's checksum alone find bit errors",
    };
    terminal::warn(&format!(
        "--zero-checksum dtls: this command does not carry SCTP in DTLS itself; unless a tunnel does, {left}"
    ))?;
    Ok(Some(ErrorDetectionMethod::DTLS))
}

/// The longest shared key, in bytes: RFC 4895 leaves its length open, and none is nearly as long.
const KEY_MAX: u64 = 64 << 10;

/// By which keys chunks are authenticated, and which: DATA, as most is.
fn authentication(arguments: &SctpArguments) -> Result<AuthenticationConfig, Failure> {
    if !arguments.offered().contain(Extension::Authentication) {
        return match &arguments.key {
            Some(_) => Err(Failure::Misused(
                "--key needs --extension authentication, or --require authentication".to_owned(),
            )),
            None => Ok(AuthenticationConfig::default()),
        };
    }
    let of_data = AuthenticationConfig::of_data();
    let Some(path) = &arguments.key else { return Ok(of_data) };
    let secret = read_bounded(path, KEY_MAX)
        .map_err(|error| Failure::Misused(format!("the key in {}: {error}", path.display())))?;
    Ok(AuthenticationConfig { keys: [(1, SharedKey::new(secret))].into(), active_key: 1, ..of_data })
}

pub(super) fn live(addresses: &[IpAddr], carriage: Carriage, ports: Vec<u16>) -> LiveConfig {
    LiveConfig {
        addresses: addresses.to_vec(),
        binding: Binding::Listed,
        carriage,
        ports,
        socket_buffer_bytes: LiveConfig::SOCKET_BUFFER_BYTES,
    }
}

/// Sorts an error of opening: if the cause is in what was asked for, the user has to mend it, as a misuse; any other is
/// a failure.
pub(super) fn not_opened(error: &OpenError) -> Failure {
    match error {
        OpenError::NoAddress | OpenError::NotOurs { .. } | OpenError::Unusable { .. } => {
            Failure::Misused(error.to_string())
        }
        _ => Failure::Failed(error.to_string()),
    }
}

/// A failure of the system while a run lasts.
#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
pub(super) fn failed(error: std::io::Error) -> Failure {
    Failure::Failed(format!("the network: {error}"))
}

/// Addresses and a port, as they are written in one line.
pub(super) fn place(addresses: &[IpAddr], port: u16, carriage: Carriage, udp_port: u16) -> String {
    let texts: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
    let within = match carriage {
        Carriage::Raw => "IP".to_owned(),
        Carriage::Udp { .. } => format!("UDP port {udp_port}"),
    };
    format!("{}, SCTP port {port} in {within}", texts.join(" and "))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use slantpath_base::Duration;
    use slantpath_live::Multipath;

    use super::*;
    use crate::arguments::{Arguments, Command};

    #[test]
    fn each_flag_sets_what_it_names_and_the_rest_is_rfc_9260s() {
        let line = "slantpath load 192.0.2.1 --streams 20 --stream-scheduling weighted-fair-queueing \
                    --stream-values 3,1 --multipath pooled-v2 --zero-checksum dtls --association-max-retrans 6 \
                    --path-max-retrans 3 --max-init-retransmits 4 --send-buffer 64KiB --receive-buffer 32KiB \
                    --rto-min 400ms --sack-delay 0s --total-send-buffer 2MB --dscp AF41";
        let parsed = Arguments::try_parse_from(line.split_whitespace()).expect("flags that there are");
        let Command::Load(said) = parsed.command else { panic!("another command") };
        let config = sctp(&said.sctp, Carriage::Raw, said.streams).expect("settings that can be");
        let expected = SctpConfig {
            outbound_streams: 20,
            stream_scheduling: StreamScheduling::WeightedFairQueueing,
            stream_values: [(StreamId(0), 3), (StreamId(1), 1)].into(),
            multipath: Multipath::PooledV2,
            zero_checksum: Some(ErrorDetectionMethod::DTLS),
            association_max_retrans: 6,
            path_max_retrans: 3,
            max_init_retransmits: 4,
            send_buffer_bytes: 65_536,
            total_send_buffer_bytes: Some(2_000_000),
            ip: IpFields { dscp: slantpath_live::Dscp::new(34).expect("of six bits"), ..IpFields::default() },
            receive_buffer_bytes: 32_768,
            rto_min: Duration::from_millis(400),
            sack_delay: Duration::ZERO,
            timer_granularity: LiveConfig::TIMER_GRANULARITY,
            ..SctpConfig::default()
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn what_is_required_is_offered_and_a_key_needs_authentication_either_way() {
        let of = |flags: &str| {
            let line = format!("slantpath echo {flags}");
            let parsed = Arguments::try_parse_from(line.split_whitespace()).expect("flags that there are");
            let Command::Echo(said) = parsed.command else { panic!("another command") };
            sctp(&said.sctp, Carriage::Raw, 1).map_err(|failure| format!("{failure:?}"))
        };
        let config = of("--extension interleaving --require authentication").unwrap();
        let both = Extensions::of(&[Extension::Interleaving, Extension::Authentication]);
        assert_eq!(config.extensions, both);
        assert_eq!(config.required_extensions, Extensions::of(&[Extension::Authentication]));
        assert_eq!(config.authentication.chunks, AuthenticationConfig::of_data().chunks);
        let error = of("--extension interleaving --key nowhere").unwrap_err();
        assert!(error.contains("--key needs --extension authentication, or --require"), "{error}");
        let error = of("--require authentication --key nowhere").unwrap_err();
        assert!(error.contains("nowhere"), "{error}");
    }

    #[test]
    fn a_profile_says_all_of_sctps_settings_and_no_flag_stands_beside_it() {
        let path = std::env::temp_dir().join(format!("slantpath-profile-{}.toml", std::process::id()));
        let text = "[sctp.leo]\ncongestion_control = \"cubic\"\nmax_path_mtu = \"1400 B\"\n\
                    path_mtu_discovery = \"probing\"\n[sctp.geo]\nloss_detection = \"rack\"\n";
        std::fs::write(&path, text).expect("a directory for what lasts shortly");
        let of = |name: &str, flags: &str| {
            let line = format!("slantpath load 192.0.2.1 --profile {}{name} {flags}", path.display());
            let parsed =
                Arguments::try_parse_from(line.split_whitespace()).map_err(|error| error.to_string())?;
            let Command::Load(said) = parsed.command else { panic!("another command") };
            let carriage = Carriage::Udp { local_port: 0, remote_port: 9 };
            sctp(&said.sctp, carriage, said.streams).map_err(|failure| format!("{failure:?}"))
        };
        let leo = of(":leo", "--streams 20").unwrap();
        assert_eq!(format!("{:?}", leo.congestion_control), "Cubic");
        assert_eq!((leo.outbound_streams, leo.max_path_mtu), (20, 1_392));
        assert_eq!(leo.timer_granularity, LiveConfig::TIMER_GRANULARITY);
        let geo = of(":geo", "").unwrap();
        assert_eq!((format!("{:?}", geo.loss_detection), geo.outbound_streams), ("Rack".to_owned(), 16));
        let error = of("", "").unwrap_err();
        assert!(error.contains("has several profiles of SCTP: name one of geo, leo"), "{error}");
        for flag in ["--rto-min 1s", "--extension interleaving", "--require interleaving", "--mtu 1400"] {
            let error = of(":leo", flag).unwrap_err();
            assert!(error.contains("cannot be used with"), "{error}");
        }
        std::fs::remove_file(&path).expect("what was written");
    }
}
