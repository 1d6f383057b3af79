//! Command `slantpath load`.

use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use slantpath_base::{DataSize, Duration, Stream};
use slantpath_instruments::{LoadClient, LoadClientConfig, LoadReport, WhenBlocked, Workload};
use slantpath_live::{
    Carriage, Extension, Live, Peer, Program, ProgramConfig, Reliability, SctpConfig, SctpSendOptions,
    Station, check_addresses, host_of, source_towards,
};
use slantpath_runner::OwnKinds;

use super::kept_load::{KeptLoad, SECONDS_MOST, Second};
use super::like::{Like, in_use};
use super::outputs::{About, Files, machine, print_machine, say_changes, sctp_associations, sctp_mib};
use super::server::STOP;
use super::settings::{failed, live, not_opened, place, profile, sctp, streams_of_load};
use crate::arguments::LoadArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::table::TextTable;
use crate::terminal::{self, Visible};

/// Time for which answers, and the end of associations, are waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// Interval at which Ctrl-C is looked for.
const GLANCE: Duration = Duration::from_millis(200);
/// Interval at which the progress of the work is printed.
const BETWEEN_LINES: Duration = Duration::from_secs(1);
const QUANTILES: [&str; 6] = ["p50", "p90", "p95", "p99", "p999", "max"];

pub(crate) fn load(
    arguments: &LoadArguments,
    own: &OwnKinds,
    command: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let like = Like::read(arguments, own)?;
    let arguments = &match &like {
        Some(like) => like.arguments(arguments)?,
        None => resolved(arguments, own)?,
    };
    let carriage = carriage(arguments);
    let addresses = addresses(arguments)?;
    reaches(&addresses, &arguments.peers)?;
    knows_destination(arguments)?;
    let first_port = arguments.own_port.unwrap_or_else(port_of_process);
    let last_port = last_port(arguments, first_port)?;
    let is_traced = arguments.outputs.trace.is_some();
    let config = config(arguments, like.as_ref(), &addresses, first_port, is_traced)?;
    if like.is_none() {
        doubt_reliability(arguments, &config.port.sctp)?;
        doubt_paths(arguments, &config.port.sctp)?;
    }
    // Found fit before anything is sent.
    let kept = arguments.out.as_ref().map(|path| KeptLoad::open(path)).transpose()?;
    let mut files = Files::create(&arguments.outputs)?;
    let secret = slantpath_live::secret().map_err(failed)?;
    let simulated = like.as_ref().map(|like| like.simulate(&config)).transpose()?;
    let sizes = sizes(&config);
    let sctp = config.port.sctp.clone();
    let station = station(config, secret);
    let config = live(&addresses, carriage, (first_port..=last_port).collect());
    let mut live = Live::open(&config, station).map_err(|error| not_opened(&error))?;
    let about = About {
        command,
        addresses: &addresses,
        first_port,
        like: like.as_ref().map(Like::hash),
        sctp: &sctp,
        profile: arguments.sctp.resolved.as_ref(),
    };
    files.begin(&mut live, secret, &about)?;
    let stop = interrupt::flag();
    let mut is_stopped = false;
    // Why a file was given up, which ends the run in order.
    let mut unwritten = None;
    let mut said = (BETWEEN_LINES, (0, 0));
    let mut each_second = Vec::new();
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
        if live.now().since_start() >= said.0 {
            let progress = live.host().program.progress();
            let (sent, back) = (progress.0 - said.1.0, progress.1 - said.1.1);
            let seconds = said.0.as_nanos() / 1_000_000_000;
            let _ = writeln!(io::stderr(), "{seconds} s: {sent} messages sent, {back} back");
            if each_second.len() < SECONDS_MOST {
                each_second.push(Second { at_s: live.now().since_start().as_secs_f64(), sent, back });
            }
            said = (said.0 + BETWEEN_LINES, progress);
        }
        if let Err(failure) = files.keep(&mut live) {
            unwritten.get_or_insert(failure);
            stop.store(true, Ordering::Relaxed);
        }
    }
    let now = live.now();
    let Station { host, program } = live.host_mut();
    let report = program.report(host, now);
    let udp_port = arguments.udp.unwrap_or(0);
    let place = place(&arguments.peers, arguments.port, carriage, udp_port);
    let kinds = like.as_ref().map_or_else(<&[String]>::default, Like::kinds);
    let mut summary = summary(&report, kinds);
    summary["settings"] = json!(arguments.sctp.resolved.as_ref().map(|profile| profile.table().settings()));
    // A load like a flow says it beside what the simulated one has used.
    let offers = like.is_none() && (!sctp.extensions.is_empty() || sctp.zero_checksum.is_some());
    summary["sctp_mib"] = sctp_mib(&live);
    summary["machine"] = machine(&live);
    if let Some((like, simulated)) = like.as_ref().zip(simulated.as_ref()) {
        summary["like"] = like.place();
        summary["simulated"] = self::summary(simulated, kinds);
    }
    let mut print_all = || -> io::Result<()> {
        print(&report, &place, &sizes, arguments, offers, out)?;
        if let Some((like, simulated)) = like.as_ref().zip(simulated.as_ref()) {
            like.print(&report, simulated, out)?;
        }
        print_machine(&live, out)
    };
    // What was measured is kept wherever it can be: where a file cannot be written it is printed, and the reverse.
    let printed = print_all();
    files.finish(&mut live, &summary)?;
    if let Some(kept) = kept {
        kept.write(command, &report, &each_second, &summary)?;
    }
    printed?;
    if let Some(failure) = unwritten {
        return Err(failure);
    }
    if is_stopped {
        return Err(Failure::Interrupted("stopped before the end".to_owned()));
    }
    if let Some(first) = report.failures.first() {
        let count = report.failures.len();
        let all = arguments.associations;
        return Err(Failure::Flows(format!("{count} of {all} associations failed: {first}")));
    }
    let given_up = report.abandoned;
    let is_unanswered = !arguments.one_way && report.echoed + given_up < report.sent;
    if is_unanswered {
        let missing = report.sent - report.echoed - given_up;
        return Err(Failure::Flows(format!("{missing} messages did not come back")));
    }
    Ok(())
}

/// The arguments, with the profile that they come to.
fn resolved(arguments: &LoadArguments, own: &OwnKinds) -> Result<LoadArguments, Failure> {
    let mut arguments = arguments.clone();
    arguments.sctp.resolved = Some(profile(&arguments.sctp, own)?);
    Ok(arguments)
}

fn carriage(arguments: &LoadArguments) -> Carriage {
    arguments.udp.map_or(Carriage::Raw, |remote_port| Carriage::Udp {
        local_port: arguments.own_udp.unwrap_or(0),
        remote_port,
    })
}

/// A host with the client, whose chance comes from a secret.
pub(super) fn station(config: LoadClientConfig, secret: [u8; 32]) -> Station<LoadClient> {
    let mut host = host_of(&config.port.local_addresses);
    let program = LoadClient::open(config, &mut host, Stream::secret(secret));
    Station { host, program }
}

/// The client, as the flags or the flow say.
pub(super) fn config(
    arguments: &LoadArguments,
    like: Option<&Like>,
    addresses: &[IpAddr],
    local_port: u16,
    is_traced: bool,
) -> Result<LoadClientConfig, Failure> {
    last_port(arguments, local_port)?;
    check_addresses(&arguments.peers).map_err(|error| not_opened(&error))?;
    check_addresses(addresses).map_err(|error| not_opened(&error))?;
    let mut sctp = match like {
        Some(like) => like.sctp(carriage(arguments)),
        None => sctp(&arguments.sctp, carriage(arguments), streams_of_load(arguments))?,
    };
    sctp.trace = is_traced;
    let message = DataSize::from_bytes(arguments.size.into());
    let buffer = DataSize::from_bytes(sctp.send_buffer_bytes);
    if like.is_none() && buffer < message {
        return Err(Failure::Misused(format!(
            "a send buffer of {buffer} never holds a message of {message}: give {message} or more, or a smaller --size"
        )));
    }
    let (workload, options) = match (like, arguments.rate) {
        (Some(like), _) => like.messages_to(&arguments.peers),
        (None, None) => (Workload::Bulk { message, total: None }, options(arguments)),
        (None, Some(rate)) => {
            let interval = Duration::from_secs_f64(1.0 / rate);
            (Workload::ConstantRate { message, interval }, options(arguments))
        }
    };
    let is_endless = like.is_none() && arguments.count.is_none() && arguments.duration.is_none();
    Ok(LoadClientConfig {
        port: ProgramConfig {
            sctp: Box::new(sctp),
            local_addresses: addresses.to_vec(),
            local_port,
            peer: Some(Peer { addresses: arguments.peers.clone(), port: arguments.port }),
        },
        associations: arguments.associations,
        workload,
        draws: like.map_or_else(Vec::new, Like::draws),
        when_blocked: like.map_or(WhenBlocked::Queue, Like::when_blocked),
        streams: arguments.streams,
        is_unordered: arguments.unordered,
        options,
        messages: arguments.count,
        duration: if is_endless { Some(Duration::from_secs(10)) } else { arguments.duration },
        is_echoed: !arguments.one_way,
        waits_for_all: false,
        patience: PATIENCE,
    })
}

/// Options that the flags set for all messages.
fn options(arguments: &LoadArguments) -> SctpSendOptions {
    let reliability = match (arguments.lifetime, arguments.max_retransmissions) {
        (Some(lifetime), _) => Reliability::Lifetime(lifetime),
        (None, Some(most)) => Reliability::Retransmissions(most),
        (None, None) => Reliability::Full,
    };
    SctpSendOptions {
        reliability,
        sack_immediately: arguments.sack_immediately,
        destination: arguments.destination,
    }
}

/// The own addresses: those from which the routes lead to the peers, if nothing was said.
fn addresses(arguments: &LoadArguments) -> Result<Vec<IpAddr>, Failure> {
    check_addresses(&arguments.peers).map_err(|error| not_opened(&error))?;
    if !arguments.addresses.is_empty() {
        check_addresses(&arguments.addresses).map_err(|error| not_opened(&error))?;
        return Ok(arguments.addresses.clone());
    }
    let mut addresses = Vec::new();
    for &peer in &arguments.peers {
        let unreachable = |error| Failure::Failed(format!("there is no route to {peer}: {error}"));
        let source = source_towards(peer).map_err(unreachable)?;
        if !addresses.contains(&source) {
            addresses.push(source);
        }
    }
    Ok(addresses)
}

/// The own port of the last association.
fn last_port(arguments: &LoadArguments, first: u16) -> Result<u16, Failure> {
    let ports = arguments.associations;
    let last = first.checked_add(ports - 1).filter(|_| first != 0);
    last.ok_or_else(|| Failure::Misused(format!("there are no {ports} ports from {first} on")))
}

/// Checks that there is an own address for each of the server's: without one for the first nothing can begin, and
/// another of the server's addresses without one is no path.
fn reaches(addresses: &[IpAddr], peers: &[IpAddr]) -> Result<(), Failure> {
    for (place, peer) in peers.iter().enumerate() {
        if addresses.iter().any(|own| own.is_ipv4() == peer.is_ipv4()) {
            continue;
        }
        let version = if peer.is_ipv4() { 4 } else { 6 };
        let lack = format!("no --address is of IPv{version}, so that none leads to {peer}");
        if place == 0 {
            return Err(Failure::Misused(lack));
        }
        terminal::warn(&format!("{lack}: it is no path"))?;
    }
    Ok(())
}

/// Refuses messages to an address that is none of the server's.
fn knows_destination(arguments: &LoadArguments) -> Result<(), Failure> {
    let Some(other) = arguments.destination.filter(|wanted| !arguments.peers.contains(wanted)) else {
        return Ok(());
    };
    let peers: Vec<_> = arguments.peers.iter().map(ToString::to_string).collect();
    Err(Failure::Misused(format!(
        "--destination {other} is none of the server's addresses, {}: name it among them, too",
        peers.join(" ")
    )))
}

/// Warns where messages will not be given up although that was asked for.
fn doubt_reliability(arguments: &LoadArguments, sctp: &SctpConfig) -> Result<(), Failure> {
    let asked = match (arguments.lifetime, arguments.max_retransmissions) {
        (Some(_), _) => "--lifetime",
        (None, Some(_)) => "--max-retransmissions",
        (None, None) => return Ok(()),
    };
    if !sctp.extensions.contain(Extension::PartialReliability) {
        let lack =
            "without --extension partial-reliability, at both ends, what has been sent once is not given up";
        terminal::warn(&format!("{asked}: {lack}"))?;
    }
    Ok(())
}

/// Warns where several paths are asked for and there is one.
fn doubt_paths(arguments: &LoadArguments, sctp: &SctpConfig) -> Result<(), Failure> {
    if sctp.multipath.is_on() && arguments.peers.len() == 1 {
        let name = sctp.multipath.name();
        terminal::warn(&format!(
            "multipath = \"{name}\": one address of the server makes one path; name others, too"
        ))?;
    }
    Ok(())
}

/// A port that another process hardly has.
fn port_of_process() -> u16 {
    const FIRST: u32 = 20_000;
    u16::try_from(FIRST + std::process::id() % 30_000).unwrap_or(20_000)
}

/// Length of messages, in words.
fn sizes(config: &LoadClientConfig) -> String {
    match config.workload.sizes().map(|sizes| sizes.map(DataSize::as_bytes)) {
        Some([shortest, longest]) if shortest < longest => format!("{shortest} to {longest} bytes"),
        Some([all, _]) => format!("{all} bytes"),
        None => String::new(),
    }
}

fn latency(mean: Option<Duration>, quantiles: Option<[Duration; 6]>) -> Value {
    let mut latency = json!({"mean_s": mean.map(Duration::as_secs_f64)});
    for (place, name) in QUANTILES.iter().enumerate() {
        latency[format!("{name}_s")] = json!(quantiles.map(|all| all[place].as_secs_f64()));
    }
    latency
}

/// Results of the measurement, with the kinds of messages by these names.
fn summary(report: &LoadReport, kinds: &[String]) -> Value {
    let paths = report.paths.iter().map(|path| {
        json!({
            "source": path.source,
            "destination": path.destination,
            "state": path.state,
            "is_primary": path.is_primary,
            "srtt_s": path.srtt.map(Duration::as_secs_f64),
            "rto_s": path.rto.as_secs_f64(),
            "cwnd_bytes": path.cwnd_bytes,
            "mtu_bytes": path.mtu_bytes,
            "data_chunks": path.data_chunks,
            "retransmissions": path.retransmissions,
        })
    });
    let events = report.path_events.iter();
    let events =
        events.map(|(at, address, what)| json!({"at_s": at.as_secs_f64(), "path": address, "event": what}));
    let mut summary = json!({
        "setup_s": report.setup.map(Duration::as_secs_f64),
        "sent": report.sent,
        "sent_bytes": report.sent_bytes,
        "echoed": report.echoed,
        "echoed_bytes": report.echoed_bytes,
        "foreign": report.foreign,
        "abandoned": report.abandoned,
        "unacknowledged": report.unacknowledged,
        "zero_checksum": report.omits_checksums,
        "extensions": report.extensions.iter().map(Extension::name).collect::<Vec<_>>(),
        "span_s": report.span.as_secs_f64(),
        "throughput_bit_per_s": report.throughput_bit_per_s,
        "latency": latency(report.latency_mean, report.latency),
        "longest_gap_s": report.longest_gap.map(|(gap, _)| gap.as_secs_f64()),
        "longest_gap_at_s": report.longest_gap.map(|(_, at)| at.as_secs_f64()),
        "failovers": report.failovers,
        "longest_failover_s": report.longest_failover.map(|(time, _)| time.as_secs_f64()),
        "longest_failover_at_s": report.longest_failover.map(|(_, at)| at.as_secs_f64()),
        "path_events": events.collect::<Vec<_>>(),
        "paths": paths.collect::<Vec<_>>(),
        "sctp_associations": sctp_associations(&report.associations),
        "failures": report.failures,
    });
    for (name, kind) in kinds.iter().zip(&report.kinds) {
        summary["kinds"][name] = json!({
            "sent": kind.sent,
            "echoed": kind.echoed,
            "latency": latency(kind.latency_mean, kind.latency),
        });
    }
    summary
}

fn print(
    report: &LoadReport,
    place: &str,
    sizes: &str,
    arguments: &LoadArguments,
    offers: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let millis = |time: Duration| format!("{:.3}", time.as_millis_f64());
    let setup =
        report.setup.map_or_else(|| "never up".to_owned(), |setup| format!("up after {} ms", millis(setup)));
    let count = arguments.associations;
    let noun = if count == 1 { "association" } else { "associations" };
    writeln!(out, "{count} {noun} with {place}, {setup}\n")?;
    let mut table = TextTable::default();
    table.row(["", "sent", "back", "messages/s", "throughput", "longest gap", "began at"].map(str::to_owned));
    table.row(["", "messages", "messages", "", "Mbit/s", "ms", "s"].map(str::to_owned));
    let counted = if arguments.one_way { report.sent } else { report.echoed };
    let rate = if report.span.is_zero() { 0.0 } else { counted as f64 / report.span.as_secs_f64() };
    let (gap, at) = report.longest_gap.map_or_else(
        || ("–".to_owned(), "–".to_owned()),
        |(gap, at)| (millis(gap), format!("{:.3}", at.as_secs_f64())),
    );
    table.row([
        sizes.to_owned(),
        report.sent.to_string(),
        report.echoed.to_string(),
        format!("{rate:.0}"),
        format!("{:.3}", report.throughput_bit_per_s / 1e6),
        gap,
        at,
    ]);
    table.print(1, out)?;
    if let (Some(quantiles), Some(mean)) = (report.latency, report.latency_mean) {
        let mut table = TextTable::default();
        table
            .row(["latency", "mean", "50 %", "90 %", "95 %", "99 %", "99.9 %", "at most"].map(str::to_owned));
        let cells = std::iter::once(mean).chain(quantiles).map(millis);
        table.row(std::iter::once("ms".to_owned()).chain(cells));
        writeln!(out)?;
        table.print(1, out)?;
    }
    if report.failovers > 0 {
        let noun = if report.failovers == 1 { "failover" } else { "failovers" };
        let longest = report.longest_failover.map_or_else(String::new, |(time, at)| {
            format!(
                ", the longest {} ms after the last packet that was answered, at {:.3} s",
                millis(time),
                at.as_secs_f64()
            )
        });
        writeln!(out, "\n{} {noun}{longest}", report.failovers)?;
    }
    if report.unacknowledged > 0 {
        let ended = "when its association ended, and may have arrived or not";
        writeln!(out, "\n{} of the messages sent had not been acknowledged {ended}", report.unacknowledged)?;
    }
    print_extensions(report, arguments, offers, out)?;
    print_paths(report, out)?;
    writeln!(out)
}

/// Prints the extensions in use, if any were offered, and the number of messages that were given up.
fn print_extensions(
    report: &LoadReport,
    arguments: &LoadArguments,
    offers: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    if offers {
        writeln!(out, "\nextensions in use: {}", in_use(report))?;
    }
    if arguments.lifetime.is_some() || arguments.max_retransmissions.is_some() || report.abandoned > 0 {
        writeln!(out, "{} messages were given up", report.abandoned)?;
    }
    Ok(())
}

fn print_paths(report: &LoadReport, out: &mut impl Write) -> io::Result<()> {
    if report.paths.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut table = TextTable::default();
    table.row(
        ["path from", "to", "state", "round trip", "RTO", "cwnd", "MTU", "sent", "retransmitted"]
            .map(str::to_owned),
    );
    table.row(["", "", "", "ms", "ms", "bytes", "bytes", "chunks", "chunks"].map(str::to_owned));
    let millis = |time: Duration| format!("{:.3}", time.as_millis_f64());
    for path in &report.paths {
        let state = if path.is_primary { format!("{}, primary", path.state) } else { path.state.to_owned() };
        table.row([
            path.source.to_string(),
            path.destination.to_string(),
            state,
            path.srtt.map_or_else(|| "–".to_owned(), millis),
            millis(path.rto),
            path.cwnd_bytes.to_string(),
            path.mtu_bytes.to_string(),
            path.data_chunks.to_string(),
            path.retransmissions.to_string(),
        ]);
    }
    table.print(3, out)
}
