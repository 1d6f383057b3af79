//! What flags say of a live run, as the crate below wants it.

use std::net::IpAddr;

use slantpath_live::{
    AuthenticationConfig, Carriage, Extension, Extensions, LiveConfig, OpenError, PathMtuDiscovery,
    SctpConfig, Severity, SharedKey,
};

use crate::arguments::SctpArguments;
use crate::failure::Failure;
use crate::terminal;

/// SCTP's settings: RFC 9260's, but for what flags say, and what the carriage leaves of the path MTU.
pub(super) fn sctp(arguments: &SctpArguments, carriage: Carriage) -> Result<SctpConfig, Failure> {
    let default = SctpConfig::default();
    let overhead = u16::try_from(carriage.overhead_bytes()).unwrap_or_default();
    let config = SctpConfig {
        rto_initial: arguments.rto_initial.unwrap_or(default.rto_initial),
        rto_min: arguments.rto_min.unwrap_or(default.rto_min),
        rto_max: arguments.rto_max.unwrap_or(default.rto_max),
        path_max_retrans: arguments.path_max_retrans.unwrap_or(default.path_max_retrans),
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
        extensions: Extensions::of(&arguments.extensions),
        authentication: authentication(arguments)?,
        ..default
    };
    for finding in config.check() {
        match finding.severity() {
            Severity::Error => return Err(Failure::Misused(finding.to_string())),
            Severity::Warning => terminal::warn(&finding)?,
        }
    }
    Ok(config)
}

/// By which keys chunks are authenticated, and which: DATA, as most is.
fn authentication(arguments: &SctpArguments) -> Result<AuthenticationConfig, Failure> {
    if !arguments.extensions.contains(&Extension::Authentication) {
        return match &arguments.key {
            Some(_) => Err(Failure::Misused("--key needs --extension authentication".to_owned())),
            None => Ok(AuthenticationConfig::default()),
        };
    }
    let of_data = AuthenticationConfig::of_data();
    let Some(path) = &arguments.key else { return Ok(of_data) };
    let secret = std::fs::read(path)
        .map_err(|error| Failure::Misused(format!("the key in {}: {error}", path.display())))?;
    Ok(AuthenticationConfig { keys: [(1, SharedKey::new(secret))].into(), active_key: 1, ..of_data })
}

pub(super) fn live(addresses: &[IpAddr], carriage: Carriage, ports: Vec<u16>) -> LiveConfig {
    LiveConfig {
        addresses: addresses.to_vec(),
        carriage,
        ports,
        socket_buffer_bytes: LiveConfig::SOCKET_BUFFER_BYTES,
    }
}

/// What cannot be opened because of what was asked for is the user's to mend.
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
