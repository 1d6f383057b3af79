//! The host of programs, opened by the carrier that this machine permits.

use std::net::IpAddr;

use slantpath_daemon::{Daemon, DaemonConfig};
use slantpath_live::{
    Binding, Carriage, ENCAPSULATION_PORT, LiveConfig, OpenError, SctpConfig, check_addresses,
};

use super::usual;
use crate::arguments::ProgramArguments;
use crate::failure::Failure;
use crate::live::settings::{failed, not_opened, sctp};

/// Daemon that is open, and what is said of it.
pub(super) struct Opened {
    pub(super) daemon: Daemon,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) sctp: SctpConfig,
    /// Secret of which all its chance comes.
    pub(super) secret: [u8; 32],
    /// Own UDP port; 0 on raw sockets.
    pub(super) udp_port: u16,
    /// Line that tells how SCTP is carried, and why.
    pub(super) line: String,
}

/// Opens the host at its addresses: on raw sockets if they are permitted and nothing else was asked for, else in UDP.
pub(super) fn open(arguments: &ProgramArguments) -> Result<Opened, Failure> {
    let (addresses, binding) = addresses(arguments);
    check_addresses(&addresses).map_err(|error| not_opened(&error))?;
    let secret = slantpath_live::secret().map_err(failed)?;
    let open = |carriage| -> Result<Result<(Daemon, SctpConfig), OpenError>, Failure> {
        let settings = settings(arguments, carriage, arguments.trace.is_some())?;
        let live = LiveConfig {
            addresses: addresses.clone(),
            binding,
            carriage,
            ports: Vec::new(),
            socket_buffer_bytes: LiveConfig::SOCKET_BUFFER_BYTES,
        };
        let opened = Daemon::open(DaemonConfig { live, sctp: settings.clone(), secret });
        Ok(opened.map(|daemon| (daemon, settings)))
    };
    let is_udp_wanted = arguments.udp.is_some() || arguments.listen_udp.is_some();
    let mut why = "as was asked for";
    if !is_udp_wanted {
        match open(Carriage::Raw)? {
            Ok((daemon, sctp)) => {
                let line = format!("SCTP in IP, on raw sockets, at {}", list(&addresses));
                return Ok(Opened { daemon, addresses, sctp, secret, udp_port: 0, line });
            }
            Err(OpenError::NoPrivilege { .. }) => why = "since raw sockets need CAP_NET_RAW",
            Err(OpenError::KernelSctp) => {
                why = "since this kernel's own SCTP would answer on raw sockets, too";
            }
            Err(error) => return Err(not_opened(&error)),
        }
    }
    let remote_port = arguments.udp.unwrap_or(ENCAPSULATION_PORT);
    let in_udp = |local_port| open(Carriage::Udp { local_port, remote_port });
    let mut opened = in_udp(arguments.listen_udp.unwrap_or(ENCAPSULATION_PORT))?;
    if arguments.listen_udp.is_none() && matches!(opened, Err(OpenError::PortInUse { .. })) {
        opened = in_udp(0)?;
    }
    let (mut daemon, sctp) = opened.map_err(|error| not_opened(&error))?;
    let own_port = daemon.live().bound().map_err(failed)?.first().map_or(0, std::net::SocketAddr::port);
    let peers =
        if remote_port == own_port { String::new() } else { format!(", to port {remote_port} of peers") };
    let line = format!("SCTP in UDP port {own_port}{peers}, {why}, at {}", list(&addresses));
    Ok(Opened { daemon, addresses, sctp, secret, udp_port: own_port, line })
}

/// Settings of SCTP that a program has not chosen itself.
fn settings(arguments: &ProgramArguments, carriage: Carriage, trace: bool) -> Result<SctpConfig, Failure> {
    let streams = usual::outbound_streams(&arguments.sctp);
    Ok(SctpConfig { trace, ..sctp(&arguments.sctp, carriage, streams)? })
}

/// Settings of a run that is repeated, whose own UDP port was this one, or 0 on raw sockets.
pub(crate) fn repeated_settings(
    arguments: &ProgramArguments,
    udp_port: u16,
    trace: bool,
) -> Result<SctpConfig, Failure> {
    let carriage = match udp_port {
        0 => Carriage::Raw,
        local_port => Carriage::Udp { local_port, remote_port: ENCAPSULATION_PORT },
    };
    settings(arguments, carriage, trace)
}

/// Addresses that programs have: all of the machine's but those of a link alone, and those that come later. By those of
/// the loopback they reach one another.
fn addresses(arguments: &ProgramArguments) -> (Vec<IpAddr>, Binding) {
    if !arguments.addresses.is_empty() {
        return (arguments.addresses.clone(), Binding::Listed);
    }
    let others = slantpath_live::addresses_for_others();
    let loopback = slantpath_live::own_addresses().into_iter().filter(IpAddr::is_loopback);
    let binding = if others.is_empty() { Binding::Listed } else { Binding::AllOfMachine };
    (others.into_iter().chain(loopback).collect(), binding)
}

fn list(addresses: &[IpAddr]) -> String {
    addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(", ")
}
