//! Command `slantpath gateway`: one point or process of a scenario's signalling network, on this machine's network.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::atomic::Ordering;

use slantpath_base::{Duration, Instant, Stream};
use slantpath_gateway::{LinkLoadReport, Seat, SeatAssociation, SeatConfig, SignallingEntity};
use slantpath_live::{
    Carriage, Live, Peer, Program as _, ProgramConfig, SctpConfig, Station, check_addresses, host_of,
};
use slantpath_runner::{EntityEnd, EntityRequest, Scenario};

use super::outputs::{print_machine, say_changes};
use super::server::STOP;
use super::settings::{failed, live, not_opened};
use crate::arguments::GatewayArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::table::TextTable;
use crate::terminal::{self, Visible};

/// Time that links have to leave traffic in order, and then associations to be shut down.
const PATIENCE: Duration = Duration::from_secs(5);
/// Interval at which Ctrl-C is looked for.
const GLANCE: Duration = Duration::from_millis(200);

pub(crate) fn gateway(arguments: &GatewayArguments, out: &mut impl Write) -> Result<(), Failure> {
    let mut overrides = arguments.set.clone();
    overrides.extend(arguments.seed.map(|seed| format!("scenario.seed={seed}")));
    let scenario = Scenario::load(&arguments.scenario, &overrides)?;
    for warning in scenario.warnings() {
        terminal::warn(warning)?;
    }
    let request = scenario.signalling_entity(&arguments.point);
    let request = request.map_err(|error| Failure::Misused(error.to_string()))?;
    let carriage = match arguments.udp {
        None => Carriage::Raw,
        Some(port) => Carriage::Udp { local_port: port, remote_port: port },
    };
    let nodes = addresses_of_nodes(&arguments.at, &scenario)?;
    let associations = associations(&request, &nodes, carriage);
    associations.iter().try_for_each(check_ends)?;
    let own = own_addresses(&associations);
    let loads = loads(&arguments.loads, &request)?;
    check_addresses(&own).map_err(|error| not_opened(&error))?;
    if arguments.check {
        return Ok(tell_plan(&request, &associations, &loads, out)?);
    }
    let ports: BTreeSet<u16> = associations.iter().map(|own| own.port.local_port).collect();
    let config = SeatConfig {
        network: request.network.clone(),
        occupant: request.entity,
        associations,
        loads: loads.values().copied().collect(),
        seed: request.seed,
        patience: PATIENCE,
    };
    let mut host = host_of(&own);
    let stream = Stream::secret(slantpath_live::secret().map_err(failed)?);
    let program = Seat::open(Instant::START, config, &mut host, stream);
    let program = program.map_err(|error| Failure::Failed(error.to_string()))?;
    let opened = Live::open(&live(&own, carriage, ports.into_iter().collect()), Station { host, program });
    let mut live = opened.map_err(|error| not_opened(&error))?;
    writeln!(out, "`{}` is live at {}; Ctrl-C stops", request.name, place(&own, carriage))?;
    out.flush()?;
    let stop = interrupt::flag();
    let mut is_stopped = false;
    while !live.host().program.is_over() {
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut is_stopped, true) {
            live.command(STOP, Station::stop);
        }
        let until = live.now().saturating_add(GLANCE);
        live.step(until).map_err(failed)?;
        say_changes(&mut live);
        say_happenings(&mut live);
    }
    say_happenings(&mut live);
    Ok(tell_report(&mut live, &loads, out)?)
}

/// Writes one line for each happening, which a program reads as well as a person.
fn say_happenings(live: &mut Live<Station<Seat>>) {
    while let Some(happening) = live.host_mut().program.poll_happening() {
        // When nobody listens the work goes on.
        let _ = writeln!(Visible(io::stderr().lock()), "{happening}");
    }
}

/// Addresses that nodes have on the real network, in place of those of the scenario.
fn addresses_of_nodes(
    given: &[String],
    scenario: &Scenario,
) -> Result<BTreeMap<String, Vec<IpAddr>>, Failure> {
    let mut nodes = BTreeMap::new();
    for text in given {
        let wrong = |why: &str| {
            let form = "write `--at NODE=ADDRESS`, and further addresses behind commas";
            Failure::Misused(format!("--at {text}: {why}; {form}"))
        };
        let (node, addresses) = text.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        if scenario.nodes.find(node).is_none() {
            return Err(Failure::Misused(format!("--at {text}: the scenario has no node `{node}`")));
        }
        let addresses: Result<Vec<IpAddr>, _> =
            addresses.split(',').map(|text| text.trim().parse()).collect();
        let addresses = addresses.map_err(|_| wrong("an address is not one of IP"))?;
        check_addresses(&addresses).map_err(|error| Failure::Misused(format!("--at {text}: {error}")))?;
        if nodes.insert(node.to_owned(), addresses).is_some() {
            return Err(wrong("the node has addresses already"));
        }
    }
    Ok(nodes)
}

/// Associations of the entity, with the addresses that nodes have on the real network.
fn associations(
    request: &EntityRequest,
    nodes: &BTreeMap<String, Vec<IpAddr>>,
    carriage: Carriage,
) -> Vec<SeatAssociation> {
    let association = |end: &EntityEnd| {
        let config = &end.own.config;
        let own = nodes.get(&end.own.node).unwrap_or(&config.local_addresses);
        let far = nodes.get(&end.far_node).unwrap_or(&end.peer.addresses);
        let sctp = SctpConfig { trace: false, trace_messages: false, ..(*config.sctp).clone() };
        SeatAssociation {
            name: end.own.name.clone(),
            carried: end.own.end.carried,
            port: ProgramConfig {
                sctp: Box::new(carriage.settings(sctp)),
                local_addresses: own.clone(),
                local_port: config.local_port,
                peer: Some(Peer { addresses: far.clone(), port: end.peer.port }),
            },
            opens: end.opens,
            reopen_after: config.reopen_after,
        }
    };
    request.ends.iter().map(association).collect()
}

/// Refuses an association that nobody could ever open: to the caller itself, or over no common family.
fn check_ends(association: &SeatAssociation) -> Result<(), Failure> {
    let SeatAssociation { name, port: ProgramConfig { local_addresses: own, peer, .. }, .. } = association;
    let far = peer.as_ref().map(|peer| &peer.addresses[..]).unwrap_or_default();
    let why = if let Some(address) = own.iter().find(|address| far.contains(address)) {
        format!("{address} is at both ends")
    } else if !own.iter().any(|own| far.iter().any(|far| own.is_ipv4() == far.is_ipv4())) {
        "one end has addresses of IPv4 alone, and the other of IPv6".to_owned()
    } else {
        return Ok(());
    };
    Err(Failure::Misused(format!("association `{name}`: {why}; give its nodes others by `--at`")))
}

/// Own addresses of all associations, in their order.
fn own_addresses(associations: &[SeatAssociation]) -> Vec<IpAddr> {
    let mut own = Vec::new();
    for address in associations.iter().flat_map(|association| &association.port.local_addresses) {
        if !own.contains(address) {
            own.push(*address);
        }
    }
    own
}

/// Numbers of the loads that are asked for, by name.
fn loads(asked: &[String], request: &EntityRequest) -> Result<BTreeMap<String, usize>, Failure> {
    let number = |name: &String| {
        let number = request.loads.get(name).ok_or_else(|| {
            let known: Vec<&str> = request.loads.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Failure::Misused(format!("`{}` sends no load `{name}`; it sends {known}", request.name))
        })?;
        Ok((name.clone(), *number))
    };
    asked.iter().map(number).collect()
}

fn place(own: &[IpAddr], carriage: Carriage) -> String {
    let addresses: Vec<String> = own.iter().map(IpAddr::to_string).collect();
    match carriage {
        Carriage::Raw => format!("{}, in IP", addresses.join(" and ")),
        Carriage::Udp { local_port, .. } => format!("{}, in UDP port {local_port}", addresses.join(" and ")),
    }
}

/// Prints what would be done.
fn tell_plan(
    request: &EntityRequest,
    associations: &[SeatAssociation],
    loads: &BTreeMap<String, usize>,
    out: &mut impl Write,
) -> io::Result<()> {
    let what = match request.entity {
        SignallingEntity::Point(_) => "signalling point",
        SignallingEntity::Process(_) => "application server process",
    };
    writeln!(out, "{what} `{}` at node `{}`", request.name, request.node)?;
    let text = |addresses: &[IpAddr], port: u16| {
        let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
        format!("{} port {port}", addresses.join(" and "))
    };
    let mut table = TextTable::default();
    table.row(["association", "from", "to", ""].map(str::to_owned));
    for association in associations {
        let ProgramConfig { local_addresses, local_port, peer, .. } = &association.port;
        let peer = peer.as_ref().map_or_else(String::new, |peer| text(&peer.addresses, peer.port));
        let does = if association.opens { "opens it" } else { "waits for it" };
        table.row([association.name.clone(), text(local_addresses, *local_port), peer, does.to_owned()]);
    }
    table.print(4, out)?;
    for name in loads.keys() {
        writeln!(out, "sends load `{name}`")?;
    }
    Ok(())
}

/// Prints the counts at the end.
fn tell_report(
    live: &mut Live<Station<Seat>>,
    loads: &BTreeMap<String, usize>,
    out: &mut impl Write,
) -> io::Result<()> {
    let now = live.now();
    let report = live.host().program.report();
    for (name, counts) in &report.associations {
        writeln!(
            out,
            "association {name}: {} messages sent, {} received; up {} times, lost {} times; thrown away: {} while \
             down, {} for want of room",
            counts.sent,
            counts.received,
            counts.times_up,
            counts.times_lost,
            counts.discarded_down,
            counts.discarded_full,
        )?;
    }
    writeln!(
        out,
        "{} messages came to user parts; {} callers were refused",
        report.arrived, report.strangers
    )?;
    for (name, number) in loads {
        let reports = live.host_mut().program.load_reports(now, *number);
        let sum = |of: fn(&LinkLoadReport) -> u64| reports.iter().map(of).sum::<u64>();
        writeln!(
            out,
            "load {name}: {} messages sent, {} of them refused",
            sum(|link| link.report.sent),
            sum(|link| link.report.refused)
        )?;
    }
    print_machine(live, out)
}
