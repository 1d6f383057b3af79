//! Gateways, ASPs, associations and application servers: names that exist, keys that do not contradict each other,
//! traffic that somebody takes.

use std::sync::Arc;

use slantpath_profiles::default::{self, DEFAULT_PROFILE};
use slantpath_reader::{Fault, Faults, Named, Place, Setting, Tables, Written};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::Function;

use crate::below::PacketNetwork;
use crate::names::point;
use crate::names::{Unresolved, asp_node, code, gateway_point, gateways_of, is_served, link_sets, resolved};
use crate::schema::{
    ApplicationServer, Association, Load, ServerTrafficMode, Signalling, SignallingAction, SignallingEvent,
};
use crate::server::build::traffic_key;
use slantpath_profiles::default::name_of;
use slantpath_profiles::sctp::SctpProfile;
use slantpath_reader::resolve;

use crate::names::node_of;

/// Tells whether every table of this part could be read.
pub(crate) fn all_whole(signalling: &Signalling<Written>) -> bool {
    signalling.gateways.all_whole()
        && signalling.asps.all_whole()
        && signalling.associations.all_whole()
        && signalling.application_servers.all_whole()
}

pub(crate) fn names(
    signalling: &Signalling<Written>,
    below: &dyn PacketNetwork,
    sctp: &Tables<SctpProfile>,
    faults: &mut Faults,
) {
    let before = faults.len();
    gateways(signalling, faults);
    for (name, asp) in signalling.asps.iter() {
        let place = asp.node.as_ref().map_or_else(|| asp.place(), Setting::place);
        if !below.has_node(asp_node(signalling, name)) {
            let message =
                format!("no host runs ASP `{name}`: there is no node `{}`", asp_node(signalling, name));
            let help =
                format!("name a host as `node` in `[signalling.asps.{name}]`, or add `[nodes.{name}]`");
            faults.report(place, Fault::new(message).help(help));
        }
    }
    associations(signalling, below, sctp, faults);
    for (name, server) in signalling.application_servers.iter() {
        server_names(signalling, name, server, faults);
    }
    // A name that was misspelt leaves another one without use.
    if faults.len() == before {
        unused(signalling, faults);
    }
}

fn gateways(signalling: &Signalling<Written>, faults: &mut Faults) {
    let tables: Vec<_> = signalling.gateways.iter().collect();
    for (number, (name, gateway)) in tables.iter().enumerate() {
        let place = gateway.point.as_ref().map_or_else(|| gateway.place(), Setting::place);
        let at = gateway_point(signalling, name);
        let Some(table) = signalling.points.find(at) else {
            point(signalling, at, place, faults);
            continue;
        };
        if link_sets(signalling, at).is_empty() {
            let message = format!("gateway `{name}` has no SS7 side: no link ends at its point `{at}`");
            let help = format!(
                "join it to a point of SS7: `[signalling.links.<name>]` with `\"{at}\"` in `between`"
            );
            faults.report(place, Fault::new(message).help(help));
        } else if table.function.policy() == Function::EndPoint {
            let message = format!(
                "gateway `{name}` transfers between SS7 and its application servers, and its point `{at}` is an `{}`",
                *table.function
            );
            let help = format!("write `function = \"transfer-point\"` in `[signalling.points.{at}]`");
            faults.report(table.function.place(), Fault::new(message).help(help));
        }
        if let Some((first, _)) =
            tables[..number].iter().find(|(other, _)| gateway_point(signalling, other) == at)
        {
            let message = format!("gateways `{first}` and `{name}` both have point `{at}`");
            faults.report(place, Fault::new(message).help("give each a point of its own"));
        }
    }
}

fn associations(
    signalling: &Signalling<Written>,
    below: &dyn PacketNetwork,
    sctp: &Tables<SctpProfile>,
    faults: &mut Faults,
) {
    let tables: Vec<_> = signalling.associations.iter().collect();
    for (number, (name, table)) in tables.iter().enumerate() {
        let gateway = resolve(&signalling.gateways, &table.gateway, "gateway", table.gateway.place(), faults);
        let asp = resolve(&signalling.asps, &table.asp, "ASP", table.asp.place(), faults);
        if let Some(profile) = &*table.profile {
            resolve(sctp, profile, "SCTP profile", profile.place(), faults);
        }
        if gateway.is_none() || asp.is_none() {
            continue;
        }
        let at = gateway_point(signalling, &table.gateway);
        let node = node_of(signalling, at);
        if signalling.points.find(at).is_some() && !below.has_node(&node) {
            let message = format!(
                "no host carries the associations of gateway `{}`: there is no node `{}`",
                *table.gateway, *node
            );
            let help = format!("name a host as `node` in `[signalling.points.{at}]`, or add `[nodes.{at}]`");
            faults.report(table.gateway.place(), Fault::new(message).help(help));
        }
        if *node == asp_node(signalling, &table.asp) {
            let message =
                format!("gateway `{}` and ASP `{}` are both on node `{}`", *table.gateway, *table.asp, *node);
            faults.report(table.asp.place(), Fault::new(message).help("an association joins two hosts"));
        }
        if let Some(primary) = &*table.primary {
            below.must_end_at(primary, &node, faults);
        }
        let is_same =
            |other: &Association<Written>| *other.gateway == *table.gateway && *other.asp == *table.asp;
        if let Some((first, _)) = tables[..number].iter().find(|(_, other)| is_same(other)) {
            let message = format!(
                "associations `{first}` and `{name}` both join gateway `{}` and ASP `{}`",
                *table.gateway, *table.asp
            );
            let help = "one association has several paths already: keep one of the two";
            faults.report(table.place(), Fault::new(message).help(help));
        }
    }
}

fn server_names(
    signalling: &Signalling<Written>,
    name: &str,
    server: &Named<ApplicationServer>,
    faults: &mut Faults,
) {
    point(signalling, &server.dpc, server.dpc.place(), faults);
    for opc in &*server.opc {
        point(signalling, opc, server.opc.place(), faults);
    }
    if let Some((_, links)) = link_sets(signalling, &server.dpc).first() {
        let link = links.first().copied().unwrap_or_default();
        let message = format!(
            "`{}` has MTP3 with link `{link}`, and application server `{name}` puts its users above M3UA",
            *server.dpc
        );
        let help = "let `dpc` be a point without links, or remove the link";
        faults.report(server.dpc.place(), Fault::new(message).help(help));
    }
    for si in server.si.iter().filter(|si| !(3..=15).contains(*si)) {
        let message = format!("service indicator {si} is MTP3's own and comes to no application server");
        faults.report(
            server.si.place(),
            Fault::new(message).help("write 3 to 15, of which 3 is SCCP's and 5 ISUP's"),
        );
    }
    if server.asps.is_empty() {
        let message = format!("application server `{name}` has no ASP: nobody gets its messages");
        faults.report(
            server.asps.place(),
            Fault::new(message).help("name one of `[signalling.asps]` in `asps`"),
        );
    }
    for (number, asp) in server.asps.iter().enumerate() {
        resolve(&signalling.asps, asp, "ASP", server.asps.place(), faults);
        if server.asps[..number].contains(asp) {
            let fault = Fault::new(format!("ASP `{asp}` is listed twice")).help("remove one of them");
            faults.report(server.asps.place(), fault);
        }
    }
    traffic_mode(name, server, faults);
}

fn traffic_mode(name: &str, server: &ApplicationServer, faults: &mut Faults) {
    let (needed, asps) = (usize::from(*server.needed_active), server.asps.len());
    let place = server.needed_active.place();
    if needed == 0 {
        let fault = Fault::new("traffic needs an active ASP").help("let `needed_active` be 1 or more");
        faults.report(place, fault);
    } else if needed > 1 && *server.traffic_mode == ServerTrafficMode::Override {
        let message = format!(
            "application server `{name}` waits for {needed} active ASPs, and traffic mode `{}` has one at a time",
            *server.traffic_mode
        );
        let help = "write `traffic_mode = \"loadshare\"`, or let `needed_active` be 1";
        faults.report(place, Fault::new(message).help(help));
    } else if needed > asps && asps > 0 {
        let message = format!("application server `{name}` waits for {needed} active ASPs and has {asps}");
        faults.report(place, Fault::new(message).help("lower `needed_active`, or name more ASPs"));
    }
    if asps == 1 && *server.traffic_mode != ServerTrafficMode::Override {
        let message =
            format!("application server `{name}` has traffic mode `{}` and one ASP", *server.traffic_mode);
        let help = "name more ASPs, or write `traffic_mode = \"override\"`";
        faults.warn(server.traffic_mode.place(), Fault::new(message).help(help));
    }
}

/// Reports application servers, ASPs and others that have no part in anything.
fn unused(signalling: &Signalling<Written>, faults: &mut Faults) {
    for (name, server) in signalling.application_servers.iter() {
        let lacks = |asp: &&String| !signalling.associations.iter().any(|(_, own)| *own.asp == **asp);
        for asp in server.asps.iter().filter(lacks) {
            let message =
                format!("ASP `{asp}` of application server `{name}` has no association to a gateway");
            let help = format!("add `[signalling.associations.<name>]` with `asp = \"{asp}\"`");
            faults.report(server.asps.place(), Fault::new(message).help(help));
        }
    }
    for (name, asp) in signalling.asps.iter() {
        if !signalling.application_servers.iter().any(|(_, server)| server.asps.iter().any(|own| own == name))
        {
            let message = format!("ASP `{name}` serves no application server");
            let help = "name it in `asps` of `[signalling.application_servers.<name>]`, or remove it";
            faults.report(asp.place(), Fault::new(message).help(help));
        }
    }
    for (name, gateway) in signalling.gateways.iter() {
        if !signalling.associations.iter().any(|(_, own)| *own.gateway == name) {
            let message = format!("gateway `{name}` has no association to an ASP");
            let help = format!("add `[signalling.associations.<name>]` with `gateway = \"{name}\"`");
            faults.report(gateway.place(), Fault::new(message).help(help));
        }
    }
}

/// An event that names an ASP: what can happen to one, and to nothing else at once.
pub(crate) fn event(signalling: &Signalling<Written>, event: &SignallingEvent, faults: &mut Faults) {
    use SignallingAction::{Activate, Deactivate, Fail, Restore};
    let Some(asp) = &event.asp else { return };
    resolve(&signalling.asps, asp, "ASP", asp.place(), faults);
    let keys = [
        ("link", event.link.as_ref().map(Setting::place)),
        ("point", event.point.as_ref().map(Setting::place)),
        ("subsystem", event.subsystem.as_ref().map(Setting::place)),
    ];
    for (key, place) in keys {
        if let Some(place) = place {
            let message =
                format!("an event happens to an ASP or to something else, and this has `asp` and `{key}`");
            faults.report(place, Fault::new(message).help("write two events"));
        }
    }
    if !matches!(*event.action, Activate | Deactivate | Fail | Restore) {
        let message = format!("`{}` does not happen to an ASP", *event.action);
        let help = "write \"activate\", \"deactivate\", \"fail\" or \"restore\"";
        faults.report(event.action.place(), Fault::new(message).help(help));
    }
}

/// Writes down what is left to names and to defaults.
pub(crate) fn complete(
    signalling: &mut Signalling<Written>,
    below: &dyn PacketNetwork,
    sctp: &mut Tables<SctpProfile>,
    faults: &mut Faults,
) {
    let mut primaries = Vec::new();
    let mut uses_default = None;
    for (_, table) in signalling.associations.iter() {
        if table.profile.is_none() {
            uses_default = Some(table.place());
        }
        let node = node_of(signalling, gateway_point(signalling, &table.gateway));
        let asp = asp_node(signalling, &table.asp);
        let links = below.links_of(&node);
        let direct = links.iter().find(|link| below.ends_at(link, asp));
        let primary = direct.or(links.first()).map(|link| (*link).to_owned());
        if primary.is_none() {
            let message = format!("node `{}` has no link that could carry the association", *node);
            let help = "join it by a table `[links.<name>]`";
            faults.report(table.gateway.place(), Fault::new(message).help(help));
        }
        primaries.push(primary);
    }
    if let Some(place) = uses_default {
        default::add(sctp, place);
    }
    let places: Vec<Place> = signalling.associations.iter().map(|(_, table)| table.place()).collect();
    for (((_, table), primary), place) in signalling.associations.iter_mut().zip(primaries).zip(places) {
        table.settings.resolve(sctp.find(name_of(table.profile.as_ref())).cloned().map(Arc::new));
        table.profile.get_or_insert_with(|| Setting::default(DEFAULT_PROFILE.to_owned(), place));
        let why = "the gateway's link to the ASP, or its first";
        let derived = primary.map(|name| Setting::derived(name, why, place));
        table.primary = table.primary.take().or(derived).into();
    }
    let places: Vec<Place> = signalling.gateways.iter().map(|(_, table)| table.place()).collect();
    for ((name, table), place) in signalling.gateways.iter_mut().zip(places) {
        table.point.get_or_insert_with(|| Setting::derived(name.to_owned(), "its own name", place));
    }
    let places: Vec<Place> = signalling.asps.iter().map(|(_, table)| table.place()).collect();
    for ((name, table), place) in signalling.asps.iter_mut().zip(places) {
        table.node.get_or_insert_with(|| Setting::derived(name.to_owned(), "its own name", place));
    }
}

/// Called when names are right: numbers and keys that must differ, networks that must agree.
pub(crate) fn check(signalling: &Signalling, faults: &mut Faults) {
    let servers: Vec<_> = signalling.application_servers.iter().collect();
    for (number, (name, server)) in servers.iter().enumerate() {
        for (first, other) in &servers[..number] {
            pair(signalling, (first, other), (name, server), faults);
        }
        one_network(signalling, name, server, faults);
        code_of_its_own(signalling, server, faults);
    }
    ranges(signalling, faults);
}

fn pair(
    signalling: &Signalling,
    (first, other): (&str, &ApplicationServer),
    (name, server): (&str, &ApplicationServer),
    faults: &mut Faults,
) {
    if *other.routing_context == *server.routing_context {
        let message = format!(
            "application servers `{first}` and `{name}` both have routing context {}",
            *server.routing_context
        );
        faults.report(server.routing_context.place(), Fault::new(message).help("give each its own"));
    }
    let (ours, theirs) = (gateways_of(signalling, server), gateways_of(signalling, other));
    let Some(shared) = ours.intersection(&theirs).next() else { return };
    if server.network_appearance != other.network_appearance {
        let text = |server: &ApplicationServer| {
            server.network_appearance.map_or_else(|| "none".to_owned(), |network| network.to_string())
        };
        let message = format!(
            "`{first}` has network appearance {} and `{name}` has {}, and gateway `{shared}` is in one network",
            text(other),
            text(server)
        );
        let place = server.network_appearance.as_ref().map_or_else(|| server.dpc.place(), Setting::place);
        faults.report(
            place,
            Fault::new(message).help("let both be of one network, or at gateways of their own"),
        );
    } else if let Some(true) = resolved(overlap(signalling, server, other), faults) {
        let message = format!(
            "a message may match the routing keys of `{first}` ({}) and of `{name}` ({}) at gateway `{shared}`",
            key_text(other),
            key_text(server)
        );
        let help = "let their `si` or their `opc` have nothing in common";
        faults.report(server.dpc.place(), Fault::new(message).help(help));
    }
}

fn overlap(
    signalling: &Signalling,
    one: &ApplicationServer,
    other: &ApplicationServer,
) -> Result<bool, Unresolved> {
    Ok(traffic_key(signalling, one)?.overlaps(&traffic_key(signalling, other)?))
}

/// A routing key as people write it.
fn key_text(server: &ApplicationServer) -> String {
    let list = |name: &str, items: Vec<String>| match items.as_slice() {
        [] => format!("any {name}"),
        items => format!("{name} {}", items.join(", ")),
    };
    let si = list("SI", server.si.iter().map(u8::to_string).collect());
    format!("DPC {}, {}, {si}", *server.dpc, list("OPC", server.opc.to_vec()))
}

/// The gateway, its application servers' points and their origins write point codes alike.
fn one_network(signalling: &Signalling, name: &str, server: &ApplicationServer, faults: &mut Faults) {
    let Some(own) = signalling.points.find(&server.dpc) else { return };
    for gateway in gateways_of(signalling, server) {
        let at = gateway_point(signalling, gateway);
        let Some(point) = signalling.points.find(at) else { continue };
        if *point.format != *own.format || *point.network != *own.network {
            let message = format!(
                "application server `{name}` is of network `{}` ({}), and gateway `{gateway}` of `{}` ({})",
                *own.network, *own.format, *point.network, *point.format
            );
            let help = format!("let `{at}` and `{}` have one `format` and one `network`", *server.dpc);
            faults.report(server.dpc.place(), Fault::new(message).help(help));
        }
    }
}

/// No other point has the code of a point behind a gateway: MTP3 sees only those that it knows.
fn code_of_its_own(signalling: &Signalling, server: &ApplicationServer, faults: &mut Faults) {
    let Some(point) = signalling.points.find(&server.dpc) else { return };
    let own: PointCode = point.code.0;
    let mut others = signalling.points.iter().filter(|(name, _)| *name != *server.dpc);
    if let Some((other, _)) = others.find(|(_, other)| other.code.0 == own) {
        let format = point.format.policy();
        let message = format!(
            "`{other}` and `{}` both have point code {} ({})",
            *server.dpc,
            own.display(format),
            own.0
        );
        faults
            .report(point.point_code.place(), Fault::new(message).help("give every point a code of its own"));
    }
}

fn ranges(signalling: &Signalling, faults: &mut Faults) {
    if signalling.application_servers.is_empty() || !faults.is_empty() {
        return;
    }
    let error_of = |result: Result<(), slantpath_sigtran::asp::ConfigError>| result.err();
    for (name, table) in signalling.gateways.iter() {
        let config = slantpath_sigtran::m3ua::SgpConfig {
            gateway: slantpath_sigtran::asp::GatewayConfig {
                recovery: *table.t_r,
                heartbeat: table.t_beat.map(|beat| *beat),
                ..Default::default()
            },
            queue: table.queue_limits(),
            ..Default::default()
        };
        if let Some(error) = error_of(slantpath_sigtran::m3ua::Sgp::new(config).map(drop)) {
            let place = place_of(
                &error,
                &[
                    ("T(r)", Some(table.t_r.place())),
                    ("T(beat)", table.t_beat.as_ref().map(Setting::place)),
                    ("queue", Some(table.queue.place())),
                ],
            );
            faults.report(place.unwrap_or_else(|| table.place()), fault_of(name, &error));
        }
    }
    for (name, table) in signalling.asps.iter() {
        let config = slantpath_sigtran::m3ua::AspConfig {
            process: slantpath_sigtran::asp::ProcessConfig {
                acknowledgement: *table.t_ack,
                heartbeat: table.t_beat.map(|beat| *beat),
                ..Default::default()
            },
            gateways: vec![slantpath_sigtran::transport::AssociationNumber(0)],
            audit: *table.audit,
            ..Default::default()
        };
        if let Some(error) = error_of(slantpath_sigtran::m3ua::Asp::new(config).map(drop)) {
            let place = place_of(
                &error,
                &[
                    ("T(ack)", Some(table.t_ack.place())),
                    ("T(beat)", table.t_beat.as_ref().map(Setting::place)),
                    ("audit", Some(table.audit.place())),
                ],
            );
            faults.report(place.unwrap_or_else(|| table.place()), fault_of(name, &error));
        }
    }
}

/// The place of the value that an error names.
fn place_of(error: &slantpath_sigtran::asp::ConfigError, places: &[(&str, Option<Place>)]) -> Option<Place> {
    let text = error.to_string();
    places.iter().find(|(name, _)| text.contains(name)).and_then(|(_, place)| *place)
}

fn fault_of(name: &str, error: &slantpath_sigtran::asp::ConfigError) -> Fault {
    Fault::new(format!("`{name}`: {error}"))
        .help("the range is wide enough for satellites, and finds a wrong unit")
}

/// Checks that somebody takes the messages of a load: an application server of the point that sends, and one of the
/// point that receives, if these are above M3UA.
pub(crate) fn takes(signalling: &Signalling, name: &str, load: &Load, faults: &mut Faults) {
    // Behind a translator the origin is its own affair.
    if let Some(translator) = load.translator.as_ref().filter(|_| load.routing.is_by_title()) {
        takes_service(signalling, (name, load), 3, translator, faults);
    }
    if load.routing.is_by_code() {
        takes_service(signalling, (name, load), *load.service, &load.from, faults);
    }
}

fn takes_service(
    signalling: &Signalling,
    (name, load): (&str, &Load),
    service: u8,
    origin: &str,
    faults: &mut Faults,
) {
    let servers_of = |point: &str| {
        let of = signalling.application_servers.iter();
        of.filter(|(_, server)| *server.dpc == point).map(|(_, server)| server).collect::<Vec<_>>()
    };
    let text = |servers: &[&Named<ApplicationServer>]| {
        let keys: Vec<_> = servers.iter().map(|server| key_text(server)).collect();
        keys.join("; ")
    };
    let help = "let `si` of an application server have it, or write another `service`";
    let own = servers_of(&load.from);
    if !own.is_empty() && !own.iter().any(|server| server.si.is_empty() || server.si.contains(&service)) {
        let message = format!(
            "load `{name}` has service indicator {service}, and no application server of `{}` does ({})",
            *load.from,
            text(&own)
        );
        let place = load.service.place();
        faults.report(place, Fault::new(message).help(help));
    }
    for to in &*load.to {
        let far = servers_of(to);
        let matches = |server: &&Named<ApplicationServer>| {
            let (dpc, opc) = (code(signalling, to)?, code(signalling, origin)?);
            Ok(traffic_key(signalling, server)?.matches(dpc, opc, service))
        };
        let matching: Result<Vec<bool>, Unresolved> = far.iter().map(matches).collect();
        let Some(matching) = resolved(matching, faults) else { return };
        if !far.is_empty() && !matching.contains(&true) {
            let message = format!(
                "no application server of `{to}` takes service indicator {service} from `{}` ({})",
                origin,
                text(&far)
            );
            faults.report(load.to.place(), Fault::new(message).help(help));
        }
    }
}

/// Kept apart from loads: a point above M3UA has no route of its own.
pub(crate) fn routes(signalling: &Signalling<Written>, faults: &mut Faults) {
    for route in signalling.routes.iter().filter(|route| is_served(signalling, &route.from)) {
        let message = format!("`{}` is above M3UA and has no routes of MTP3", *route.from);
        let help = "write the route for the point of its gateway";
        faults.report(route.from.place(), Fault::new(message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use slantpath_reader::{Document, Section};

    use super::*;

    #[test]
    fn one_table_that_cannot_be_read_leaves_the_part_in_doubt() {
        let is_whole = |table: &str| {
            let (entries, mut faults) = Document::parse("part", table).entries().expect("the text is TOML");
            let part = Section::read(&entries, "signalling", Place::default(), &mut faults);
            all_whole(&part.expect("the part itself has no fault"))
        };
        assert!(is_whole("[gateways.london]\n[asps.boston]"));
        for table in ["gateways.london", "asps.boston", "associations.first", "application_servers.register"]
        {
            assert!(!is_whole(&format!("[{table}]\nunheard = 1")), "{table}");
        }
    }
}
