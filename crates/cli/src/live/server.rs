//! Command `slantpath echo`.

use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::atomic::Ordering;

use serde_json::json;
use slantpath_base::{Duration, Stream};
use slantpath_instruments::{Echo, EchoConfig, EchoMode};
use slantpath_live::{
    Binding, Carriage, ENCAPSULATION_PORT, Live, LiveConfig, Program, ProgramConfig, SctpConfig, Station,
    check_addresses, host_of,
};
use slantpath_runner::OwnKinds;

use super::outputs::{About, Files, machine, print_machine, say_changes, sctp_mib};
use super::settings::{failed, live, not_opened, place, profile, sctp};
use crate::arguments::EchoArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::terminal::Visible;

/// Time that associations have to end in order.
const PATIENCE: Duration = Duration::from_secs(5);
/// Interval at which Ctrl-C is looked for.
const GLANCE: Duration = Duration::from_millis(200);
/// The number of the command to stop, in a record.
pub(super) const STOP: u8 = 1;
/// The number of the command by which a gateway is ordered something, in a record.
pub(super) const ORDER: u8 = 2;

pub(crate) fn echo(
    arguments: &EchoArguments,
    own: &OwnKinds,
    command: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut arguments = arguments.clone();
    let profile = profile(&arguments.sctp, own)?;
    arguments.sctp.resolved = Some(profile.clone());
    let arguments = &arguments;
    let carriage = carriage(arguments);
    let (addresses, binding) = addresses(arguments);
    let config = config(arguments, &addresses, arguments.outputs.trace.is_some())?;
    let mut files = Files::create(&arguments.outputs)?;
    let secret = slantpath_live::secret().map_err(failed)?;
    let sctp = config.port.sctp.clone();
    let station = station(config, secret);
    let config = LiveConfig { binding, ..live(&addresses, carriage, vec![arguments.port]) };
    let opened = Live::open(&config, station);
    let mut live = opened.map_err(|error| not_opened(&error))?;
    let about = About {
        command,
        addresses: &addresses,
        first_port: arguments.port,
        like: None,
        sctp: &sctp,
        profile: Some(&profile),
    };
    files.begin(&mut live, secret, &about)?;
    let udp_port = live.bound().map_err(failed)?.first().map_or(0, std::net::SocketAddr::port);
    let what = if arguments.discard { "discards" } else { "echoes" };
    let place = place(&addresses, arguments.port, carriage, udp_port);
    writeln!(out, "{what} what comes to {place}; Ctrl-C stops")?;
    out.flush()?;
    let stop = interrupt::flag();
    let mut is_stopped = false;
    // Why a file was given up, which ends the run in order.
    let mut unwritten = None;
    while !live.host().program.is_over() {
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut is_stopped, true) {
            live.command(STOP, Station::stop);
        }
        let until = live.now().saturating_add(GLANCE);
        live.step(until).map_err(failed)?;
        say_changes(&mut live);
        while let Some(news) = live.host_mut().program.poll_news() {
            // When nobody listens the work goes on.
            let _ = writeln!(Visible(io::stderr().lock()), "{news}");
        }
        if let Err(failure) = files.keep(&mut live) {
            unwritten.get_or_insert(failure);
            stop.store(true, Ordering::Relaxed);
        }
    }
    // What was said last is on its way; the record has it.
    let report = *live.host().program.report();
    let summary = json!({
        "associations": report.associations,
        "authenticated": report.authenticated,
        "failed": report.failed,
        "messages": report.messages,
        "bytes": report.bytes,
        "echoed": report.echoed,
        "dropped": report.dropped,
        "settings": profile.table().settings(),
        "sctp_mib": sctp_mib(&live),
        "machine": machine(&live),
    });
    let mut print = || -> io::Result<()> {
        writeln!(
            out,
            "associations: {}, of which {} failed; {} messages of {} bytes came, {} went back, {} were dropped",
            report.associations, report.failed, report.messages, report.bytes, report.echoed, report.dropped
        )?;
        print_machine(&live, out)
    };
    // What has come is told wherever it can be: where a file cannot be written it is printed, and the reverse.
    let printed = print();
    files.finish(&mut live, &summary)?;
    printed?;
    unwritten.map_or(Ok(()), Err)
}

const fn carriage(arguments: &EchoArguments) -> Carriage {
    match arguments.udp {
        None => Carriage::Raw,
        Some(local_port) => Carriage::Udp { local_port, remote_port: ENCAPSULATION_PORT },
    }
}

/// The server, as the flags say.
pub(super) fn config(
    arguments: &EchoArguments,
    addresses: &[IpAddr],
    is_traced: bool,
) -> Result<EchoConfig, Failure> {
    check_addresses(addresses).map_err(|error| not_opened(&error))?;
    let sctp = SctpConfig {
        trace: is_traced,
        ..sctp(&arguments.sctp, carriage(arguments), SctpConfig::default().outbound_streams)?
    };
    Ok(EchoConfig {
        port: ProgramConfig {
            sctp: Box::new(sctp),
            local_addresses: addresses.to_vec(),
            local_port: arguments.port,
            peer: None,
        },
        mode: if arguments.discard { EchoMode::Discard } else { EchoMode::Echo },
        associations: arguments.associations,
        patience: PATIENCE,
    })
}

/// A host with the server, whose chance comes from a secret.
pub(super) fn station(config: EchoConfig, secret: [u8; 32]) -> Station<Echo> {
    let mut host = host_of(&config.port.local_addresses);
    let program = Echo::open(config, &mut host, Stream::secret(secret));
    Station { host, program }
}

/// Addresses to serve at: all of the machine's if none was given, except those of a link alone, and those that come
/// later. Those of the loopback are told to nobody elsewhere.
fn addresses(arguments: &EchoArguments) -> (Vec<IpAddr>, Binding) {
    if !arguments.addresses.is_empty() {
        return (arguments.addresses.clone(), Binding::Listed);
    }
    let others = slantpath_live::addresses_for_others();
    let loopback = slantpath_live::own_addresses().into_iter().filter(IpAddr::is_loopback);
    // A machine without a network serves itself.
    let binding = if others.is_empty() { Binding::Listed } else { Binding::AllOfMachine };
    (others.into_iter().chain(loopback).collect(), binding)
}
