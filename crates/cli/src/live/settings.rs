//! Settings of a live run, made from the flags in the form that the crate below wants.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_base::DataSize;
use slantpath_live::{
    AuthenticationConfig, Binding, Carriage, Extension, IpFields, LiveConfig, OpenError, SctpConfig,
    SharedKey, StreamId,
};
use slantpath_profiles::{Profile, ProfileError};
use slantpath_runner::schema::NamedDscp;
use slantpath_runner::{OwnKinds, read_bounded};

use crate::arguments::{LoadArguments, SctpArguments};
use crate::failure::Failure;
use crate::terminal;

/// SCTP's settings: RFC 9260's, but for what a profile and the flags say, and what the carriage leaves of the path MTU.
/// Associations ask for so many streams unless a profile says.
pub(crate) fn sctp(
    arguments: &SctpArguments,
    carriage: Carriage,
    streams: u16,
) -> Result<SctpConfig, Failure> {
    let profile = resolved(arguments)?;
    profile.warnings().iter().try_for_each(terminal::warn)?;
    let config = carriage.settings(profile.config(streams));
    doubt_zero_checksum(&config, carriage)?;
    let total = arguments.total_send_buffer.map(DataSize::as_bytes);
    Ok(SctpConfig {
        stream_values: stream_values(arguments, &config)?,
        authentication: authentication(arguments, &config)?,
        total_send_buffer_bytes: total.or(config.total_send_buffer_bytes),
        ip: IpFields { dscp: arguments.dscp.map_or(config.ip.dscp, NamedDscp::wire), ..config.ip },
        ..config
    })
}

/// The settings that a scenario has as well: of `--profile` and of all that was given one by one. They may name
/// controllers of the program's own.
pub(crate) fn profile(arguments: &SctpArguments, own: &OwnKinds) -> Result<Profile, Failure> {
    read_profile(arguments, own).map_err(|error| match error {
        ProfileError::Invalid(diagnostics) => Failure::Invalid(diagnostics),
        other => Failure::Misused(format!("--profile: {other}")),
    })
}

/// Variant of [`profile`] for whoever has words of its own for an error.
pub(super) fn read_profile(arguments: &SctpArguments, own: &OwnKinds) -> Result<Profile, ProfileError> {
    match &arguments.resolved {
        Some(resolved) => Ok(resolved.clone()),
        None => Profile::live(arguments.profile.as_deref(), &arguments.assignments(), own.controllers()),
    }
}

/// The settings as the command has read them; where it has not, they name no controller of the program's own.
fn resolved(arguments: &SctpArguments) -> Result<Profile, Failure> {
    profile(arguments, &OwnKinds::none())
}

/// The values of streams, which only some schedulers read.
fn stream_values(arguments: &SctpArguments, config: &SctpConfig) -> Result<BTreeMap<StreamId, u16>, Failure> {
    let values = &arguments.stream_values;
    if !values.is_empty() && !config.stream_scheduling.reads_values() {
        return Err(Failure::Misused(
            "--stream-values say nothing to this scheduler: give --stream-scheduling priority or \
             weighted-fair-queueing, too"
                .to_owned(),
        ));
    }
    let (count, streams) = (values.len(), config.outbound_streams);
    if count > usize::from(streams) {
        let lack = format!("--stream-values: {count} values are more than {streams} streams: give fewer");
        return Err(Failure::Misused(lack));
    }
    Ok((0..).map(StreamId).zip(values.iter().copied()).collect())
}

/// Warns of packets without a checksum. Nothing here carries SCTP in DTLS, so that whoever gives it has to know.
fn doubt_zero_checksum(config: &SctpConfig, carriage: Carriage) -> Result<(), Failure> {
    if config.zero_checksum.is_none() {
        return Ok(());
    }
    let left = match carriage {
        Carriage::Raw => "nothing finds bit errors",
        Carriage::Udp { .. } => "the 16 bits of UDP's checksum alone find bit errors",
    };
    terminal::warn(&format!(
        "zero_checksum = \"dtls\": this command does not carry SCTP in DTLS itself; unless a tunnel does, {left}"
    ))?;
    Ok(())
}

/// The longest shared key, in bytes: RFC 4895 leaves its length open, and none is nearly as long.
const KEY_MAX: u64 = 64 << 10;

/// By which keys chunks are authenticated: those of the profile, or that of a file.
fn authentication(arguments: &SctpArguments, config: &SctpConfig) -> Result<AuthenticationConfig, Failure> {
    let of_profile = config.authentication.clone();
    let Some(path) = &arguments.key else { return Ok(of_profile) };
    if !config.extensions.contain(Extension::Authentication) {
        return Err(Failure::Misused(
            "--key needs --extension authentication, or --require authentication".to_owned(),
        ));
    }
    let secret = read_bounded(path, KEY_MAX)
        .map_err(|error| Failure::Misused(format!("the key in {}: {error}", path.display())))?;
    Ok(AuthenticationConfig { keys: [(1, SharedKey::new(secret))].into(), active_key: 1, ..of_profile })
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
pub(crate) fn not_opened(error: &OpenError) -> Failure {
    match error {
        OpenError::NoAddress | OpenError::NotOurs { .. } | OpenError::Unusable { .. } => {
            Failure::Misused(error.to_string())
        }
        _ => Failure::Failed(error.to_string()),
    }
}

/// Outbound streams that `slantpath load` asks for: those that it sends on, and the usual number at least.
pub(super) fn streams_of_load(arguments: &LoadArguments) -> u16 {
    arguments.streams.max(SctpConfig::default().outbound_streams)
}

/// A failure of the system while a run lasts.
#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
pub(crate) fn failed(error: std::io::Error) -> Failure {
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
    use serde_json::Value;
    use slantpath_base::Duration;
    use slantpath_live::{ErrorDetectionMethod, Extensions, Multipath, PathMtuDiscovery, StreamScheduling};
    use slantpath_profiles::Assignment;

    use super::*;
    use crate::arguments::{Arguments, Command};

    /// The settings of a load with these words, separated by blanks.
    fn of_words(words: &[&str]) -> Result<SctpConfig, String> {
        let line = ["slantpath", "load", "192.0.2.1"].iter().chain(words);
        let parsed = Arguments::try_parse_from(line).map_err(|error| error.to_string())?;
        let Command::Load(said) = parsed.command else { panic!("another command") };
        sctp(&said.sctp, Carriage::Raw, streams_of_load(&said)).map_err(|failure| {
            let mut text = Vec::new();
            failure.report(&mut text).expect("a vector takes everything");
            String::from_utf8(text).expect("a report is text")
        })
    }

    fn of(words: &str) -> Result<SctpConfig, String> {
        of_words(&words.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn each_flag_sets_what_it_names_and_the_rest_is_rfc_9260s() {
        let config = of("--streams 20 --stream-scheduling weighted-fair-queueing \
             --stream-values 3,1 --multipath pooled-v2 --zero-checksum dtls --association-max-retrans 6 \
             --path-max-retrans 3 --max-init-retransmits 4 --send-buffer 64KiB --receive-buffer 32KiB \
             --rto-initial 2s --rto-min 400ms --rto-max 5s --sack-delay 0s --heartbeat 7s --mtu 1300 --probe-mtu \
             --extension nr-sack,interleaving --extension partial-reliability --require stream-reconfiguration \
             --total-send-buffer 2MB --dscp AF41");
        let required = Extensions::of(&[Extension::Reconfiguration]);
        let offered = [Extension::NonRenegableSack, Extension::Interleaving, Extension::PartialReliability];
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
            rto_initial: Duration::from_secs(2),
            rto_min: Duration::from_millis(400),
            rto_max: Duration::from_secs(5),
            sack_delay: Duration::ZERO,
            heartbeat_interval: Some(Duration::from_secs(7)),
            path_mtu_discovery: PathMtuDiscovery::Probing,
            initial_path_mtu: 1_300,
            max_path_mtu: 1_300,
            extensions: Extensions::of(&offered).union(required),
            required_extensions: required,
            timer_granularity: LiveConfig::TIMER_GRANULARITY,
            ..SctpConfig::default()
        };
        assert_eq!(config, Ok(expected));
        let plain = SctpConfig { timer_granularity: LiveConfig::TIMER_GRANULARITY, ..SctpConfig::default() };
        assert_eq!(of(""), Ok(plain));
    }

    /// The arguments of a load with these words.
    fn said(words: &[&str]) -> SctpArguments {
        let parsed = Arguments::try_parse_from(["slantpath", "load", "192.0.2.1"].iter().chain(words));
        let Command::Load(said) = parsed.expect("flags that there are").command else {
            panic!("another command")
        };
        said.sctp
    }

    #[test]
    fn every_key_of_the_declaration_is_set_by_the_flag() {
        let schema = slantpath_profiles::sctp::schema();
        let choices = |schema: &Value| -> Vec<String> {
            let listed =
                |key: &str| schema.pointer(key).and_then(Value::as_array).cloned().unwrap_or_default();
            let all = [listed("/oneOf"), listed("/anyOf"), listed("/items/oneOf")].concat();
            let all = all.iter().filter_map(|one| one["const"].as_str()).map(str::to_owned);
            all.flat_map(|word| [format!("[\"{word}\"]"), word]).collect()
        };
        let plain = [
            "true",
            "false",
            "1",
            "5",
            "20",
            "10 ms",
            "300 ms",
            "2 s",
            "90 s",
            "150",
            "1300 B",
            "3000 B",
            "5 Mbit/s",
            "[\"a\", \"b\"]",
        ];
        // Settings without which others say nothing.
        let contexts: [&[&str]; 7] = [
            &[],
            &["--extension=authentication"],
            &["--probe-mtu"],
            &["--multipath=concurrent"],
            &["--extension=authentication", "--sctp=shared_keys=[\"a\", \"b\"]"],
            &["--extension=dynamic-addresses"],
            &["--sctp=congestion_control=backlog", "--sctp=loss_detection=rack"],
        ];
        let contexts = contexts.map(|words| (said(words), of_words(words).expect("a context is right")));
        let config = |arguments: &SctpArguments| {
            sctp(arguments, Carriage::Raw, SctpConfig::default().outbound_streams)
        };
        for (key, schema) in schema["properties"].as_object().expect("a table has keys") {
            let values = plain.map(str::to_owned).into_iter().chain(choices(schema));
            let values: Vec<_> =
                values.map(|value| said(&[&format!("--sctp={key}={value}")]).settings).collect();
            let is_set = contexts.iter().any(|(context, without)| {
                values.iter().any(|value| {
                    let mut arguments = context.clone();
                    arguments.settings.extend(value.iter().cloned());
                    config(&arguments).is_ok_and(|with| with != *without)
                })
            });
            assert!(is_set, "no --sctp {key}=… makes a difference");
        }
    }

    #[test]
    fn a_flag_is_the_pair_of_its_key() {
        let parsed = Arguments::try_parse_from([
            "slantpath",
            "echo",
            "--mtu=1400",
            "--probe-mtu",
            "--require=nr-sack,interleaving",
            "--sctp",
            " rto_min = 2 s",
            "--rto-min=1 s",
        ]);
        let Command::Echo(said) = parsed.expect("flags that there are").command else {
            panic!("another command")
        };
        let pairs = [
            ("--rto-min", "rto_min", "1 s"),
            ("--mtu", Assignment::PATH_MTU, "1400 B"),
            ("--probe-mtu", "path_mtu_discovery", "probing"),
            ("--require", "required_extensions", "[\"nr-sack\", \"interleaving\"]"),
            ("--sctp rto_min", "rto_min", " 2 s"),
        ];
        assert_eq!(
            said.sctp.assignments(),
            pairs.map(|(name, key, value)| Assignment::new(name, key, value))
        );
        // A pair stands above a flag, wherever it is written.
        assert_eq!(of_words(&["--sctp=rto_min=800 ms", "--rto-min=1 s"]).unwrap().rto_min.as_millis(), 800);
    }

    #[test]
    fn what_is_wrong_with_a_setting_is_told_with_its_place_and_what_would_be_right() {
        for (words, wanted) in [
            ("--sctp rto_mim=1s", "`sctp.default` has no key `rto_mim`"),
            ("--sctp rto_mim=1s", "did you mean `rto_min`?"),
            ("--sctp rto_min=200", "--sctp rto_min:1:1"),
            ("--rto-min 200", "--rto-min:1:1"),
            ("--rto-min 200", "write a time as a string with its unit"),
            ("--sctp rto_min", "write it like `rto_min=200 ms`"),
            ("--sctp =1", "write it like `rto_min=200 ms`"),
        ] {
            let error = of(words).expect_err("a fault");
            assert!(error.contains(wanted), "{words}: {error}");
        }
    }

    #[test]
    fn what_is_required_is_offered_and_a_key_needs_authentication_either_way() {
        let config = of("--extension interleaving --require authentication").unwrap();
        let both = Extensions::of(&[Extension::Interleaving, Extension::Authentication]);
        assert_eq!(config.extensions, both);
        assert_eq!(config.required_extensions, Extensions::of(&[Extension::Authentication]));
        assert_eq!(config.authentication.chunks, AuthenticationConfig::of_data().chunks);
        let error = of("--extension interleaving --key nowhere").unwrap_err();
        assert!(error.contains("--key needs --extension authentication, or --require"), "{error}");
        let error = of("--require authentication --key nowhere").unwrap_err();
        assert!(error.contains("nowhere"), "{error}");
        let key = of("--sctp extensions=[\"authentication\"] --key Cargo.toml").unwrap().authentication;
        assert_eq!((key.active_key, key.keys.len()), (1, 1));
    }

    #[test]
    fn a_profile_says_sctps_settings_and_what_is_given_stands_above_it() {
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
            sctp(&said.sctp, carriage, streams_of_load(&said)).map_err(|failure| format!("{failure:?}"))
        };
        let leo = of(":leo", "--streams 20").unwrap();
        assert_eq!(format!("{:?}", leo.congestion_control), "Cubic");
        assert_eq!((leo.outbound_streams, leo.max_path_mtu), (20, 1_392));
        assert_eq!(leo.timer_granularity, LiveConfig::TIMER_GRANULARITY);
        let geo = of(":geo", "").unwrap();
        assert_eq!((format!("{:?}", geo.loss_detection), geo.outbound_streams), ("Rack".to_owned(), 16));
        let error = of("", "").unwrap_err();
        assert!(error.contains("has several profiles of SCTP: name one of geo, leo"), "{error}");
        let above = of(":leo", "--mtu 1300 --require interleaving --sctp congestion_control=hybla").unwrap();
        assert_eq!(
            (format!("{:?}", above.congestion_control), above.max_path_mtu),
            ("Hybla".to_owned(), 1_292)
        );
        assert_eq!(above.extensions, Extensions::of(&[Extension::Interleaving]));
        std::fs::remove_file(&path).expect("what was written");
    }
}
