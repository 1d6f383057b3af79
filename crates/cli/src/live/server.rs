//! `slantpath echo`.

use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::atomic::Ordering;

use serde_json::json;
use slantpath_base::{Duration, Stream};
use slantpath_live::{
    Carriage, ENCAPSULATION_PORT, Echo, EchoConfig, EchoMode, Live, Program, ProgramConfig, Station, host_of,
};

use super::outputs::{Files, machine, print_machine, sctp_mib};
use super::settings::{failed, live, not_opened, place, sctp};
use crate::arguments::EchoArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::terminal::Visible;

/// How long associations have to end in order.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often Ctrl-C is looked for.
const GLANCE: Duration = Duration::from_millis(200);
/// The number of the command to stop, in a record.
pub(super) const STOP: u8 = 1;

pub(crate) fn echo(arguments: &EchoArguments, out: &mut impl Write) -> Result<(), Failure> {
    let carriage = arguments
        .udp
        .map_or(Carriage::Raw, |local_port| Carriage::Udp { local_port, remote_port: ENCAPSULATION_PORT });
    let addresses = addresses(arguments);
    let mut files = Files::create(&arguments.outputs)?;
    let secret = slantpath_live::secret().map_err(failed)?;
    let mut host = host_of(&addresses);
    let config = EchoConfig {
        port: ProgramConfig {
            sctp: Box::new(sctp(&arguments.sctp, carriage)?),
            local_addresses: addresses.clone(),
            local_port: arguments.port,
            peer: None,
        },
        mode: if arguments.discard { EchoMode::Discard } else { EchoMode::Echo },
        associations: arguments.associations,
        patience: PATIENCE,
    };
    let program = Echo::open(config, &mut host, Stream::secret(secret));
    let opened = Live::open(&live(&addresses, carriage, vec![arguments.port]), Station { host, program });
    let mut live = opened.map_err(|error| not_opened(&error))?;
    files.begin(&mut live, secret);
    let udp_port = live.bound().map_err(failed)?.first().map_or(0, std::net::SocketAddr::port);
    let what = if arguments.discard { "discards" } else { "echoes" };
    let place = place(&addresses, arguments.port, carriage, udp_port);
    writeln!(out, "{what} what comes to {place}; Ctrl-C stops")?;
    out.flush()?;
    let stop = interrupt::flag();
    let mut is_stopped = false;
    while !live.host().program.is_over() {
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut is_stopped, true) {
            live.command(STOP, Station::stop);
        }
        let until = live.now().saturating_add(GLANCE);
        live.step(until).map_err(failed)?;
        while let Some(news) = live.host_mut().program.poll_news() {
            // When nobody listens the work goes on.
            let _ = writeln!(Visible(io::stderr().lock()), "{news}");
        }
        files.keep(&mut live)?;
    }
    // What was said last is on its way; the record has it.
    files.keep(&mut live)?;
    let report = *live.host().program.report();
    files.finish(&json!({
        "associations": report.associations,
        "failed": report.failed,
        "messages": report.messages,
        "bytes": report.bytes,
        "echoed": report.echoed,
        "dropped": report.dropped,
        "sctp_mib": sctp_mib(&live),
        "machine": machine(&live),
    }))?;
    writeln!(
        out,
        "{} associations, {} of them failed; {} messages of {} bytes came, {} went back, {} were dropped",
        report.associations, report.failed, report.messages, report.bytes, report.echoed, report.dropped
    )?;
    print_machine(&live, out)?;
    Ok(())
}

/// Where to serve: all of the machine's addresses if nothing was said, but for those that a peer elsewhere cannot use.
fn addresses(arguments: &EchoArguments) -> Vec<IpAddr> {
    if !arguments.addresses.is_empty() {
        return arguments.addresses.clone();
    }
    let is_for_others = |address: &IpAddr| match address {
        IpAddr::V4(address) => !address.is_loopback() && !address.is_link_local(),
        IpAddr::V6(address) => !address.is_loopback() && !address.is_unicast_link_local(),
    };
    let own = slantpath_live::own_addresses();
    let others: Vec<IpAddr> = own.iter().copied().filter(is_for_others).collect();
    // A machine without a network serves itself.
    if others.is_empty() { own.into_iter().filter(IpAddr::is_loopback).collect() } else { others }
}
