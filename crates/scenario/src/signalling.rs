//! Signalling networks: what may stand in a file, what must hold, and the network that `host` runs.
//!
//! Each model has a room with its keys (`schema`), what must hold between them (`check`) and what is made of them
//! (`build`, or here what is made of all). `network` checks what only all points together show; `association` adds
//! what carries links to the hosts of a run.

mod association;
mod check;
mod link;
mod load;
mod network;
mod point;
mod route;
pub mod schema;
mod script;
mod server;

use std::collections::{BTreeMap, BTreeSet};

use slantpath_base::Seed;
use slantpath_simulation::{
    Carrier, LineConfig, LinkConfig, LinkEnd, LoadConfig, NetworkConfig, PointConfig, number_links,
};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{self, LinkId, LinkSetConfig, SequenceNumbers};
use slantpath_ss7::mtp3::{ServiceIndicator, Slc};
use slantpath_ss7::sccp::gtt::Translator;
use slantpath_ss7::sccp::{self, Ssn, Subsystem};

use crate::flow::trace::Traces;
use schema::{Point, Signalling};

pub(crate) use association::plan;
pub use association::{STREAMS, side_name};
pub(crate) use check::check;
pub use check::node_of;
pub use load::build::generator;
pub(crate) use load::build::routing;
pub(crate) use route::build::translation_name;
pub use route::build::translator;
pub use server::build::{asp_node, gateway_point, gateways_of, is_served, with_mtp3};
pub(crate) use server::build::{point_id, traffic_key};

/// The point code of a point whose text has been checked.
pub fn code(signalling: &Signalling, point: &str) -> PointCode {
    let point = signalling.points.find(point).expect("a check resolves points");
    PointCode::parse(&point.point_code, point.format.policy()).expect("a check reads point codes")
}

/// Names of the links at a point by the far end, in the order of MTP3: link set by link set, by name.
pub fn link_sets<'a>(signalling: &'a Signalling, point: &str) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, link) in signalling.links.iter() {
        let (first, second) = (link.between.0.as_str(), link.between.1.as_str());
        for (near, far) in [(first, second), (second, first)] {
            if near == point {
                sets.entry(far).or_default().push(name);
            }
        }
    }
    sets.into_iter().collect()
}

/// MTP3 of a point, with link sets named by the adjacent points.
pub fn mtp3(signalling: &Signalling, name: &str, point: &Point) -> node::Config {
    let mut config = node::Config::new(name, code(signalling, name));
    config.format = point.format.policy();
    config.network = point.network.policy();
    config.function = point.function.policy();
    config.restart = match *point.restart {
        schema::Restart::Omitted => node::Procedure::Omitted,
        schema::Restart::Used => node::Procedure::Used,
    };
    if point.periodic_link_test.as_deref() == Some(&schema::PeriodicLinkTest::Omitted) {
        config.periodic_link_test = node::Procedure::Omitted;
    }
    config.congestion = match *point.congestion {
        schema::Congestion::International => node::CongestionMethod::International,
        schema::Congestion::National => node::CongestionMethod::National,
    };
    config.transfer_restricted = match *point.transfer_restricted {
        schema::TransferRestricted::Omitted => node::Procedure::Omitted,
        schema::TransferRestricted::Used => node::Procedure::Used,
    };
    config.sharing_bit = *point.sharing_bit;
    config.spread = match point.spread.as_ref().map(|spread| **spread) {
        Some(schema::Spread::LinkCode) => node::Spread::LinkCode,
        Some(schema::Spread::LinkSelection) | None => node::Spread::Selection,
    };
    config.held_limit = usize::try_from(*point.held_limit).unwrap_or(usize::MAX);
    config.timers = point.timers.timers();
    config.users = point.users.iter().filter_map(|user| ServiceIndicator::new(*user)).collect();
    for (adjacent, links) in link_sets(signalling, name) {
        let link = |name: &str| {
            let link = signalling.links.find(name).expect("it was just found");
            let sequence = match *link.carrier {
                schema::Carrier::M2pa(_) => SequenceNumbers::Bits24,
                schema::Carrier::Mtp2(_) => SequenceNumbers::Bits7,
            };
            let slc = Slc(*link.slc.expect("a check gives every link a code"));
            node::LinkConfig { name: name.to_owned(), slc, sequence }
        };
        config.link_sets.push(LinkSetConfig {
            name: adjacent.to_owned(),
            adjacent: code(signalling, adjacent),
            links: links.into_iter().map(link).collect(),
        });
    }
    let own = link_sets(signalling, name).into_iter().flat_map(|(_, links)| links);
    let is_backup = |link: &str| signalling.links.find(link).is_some_and(|link| *link.backup);
    config.backups = own.zip(0..).filter(|(link, _)| is_backup(link)).map(|(_, id)| LinkId(id)).collect();
    let mut destinations: BTreeMap<&str, Vec<node::RouteConfig>> = BTreeMap::new();
    for route in signalling.routes.iter().filter(|route| *route.from == name) {
        let config = node::RouteConfig { link_set: (*route.via).clone(), priority: *route.priority };
        destinations.entry(&route.to).or_default().push(config);
    }
    let destination = |(to, routes)| node::DestinationConfig { point_code: code(signalling, to), routes };
    config.destinations = destinations.into_iter().map(destination).collect();
    config.served = server::build::codes_behind(signalling, name);
    config
}

/// Tells whether a point has SCCP: a subsystem, or a translation.
pub fn has_sccp(signalling: &Signalling, name: &str, point: &Point) -> bool {
    !point.subsystems.is_empty() || signalling.translations.iter().any(|rule| *rule.at == name)
}

/// SCCP of a point, if it has one.
pub(crate) fn sccp(
    signalling: &Signalling,
    name: &str,
    point: &Point,
    translator: Translator,
) -> Option<sccp::NodeConfig> {
    let table = point.sccp.as_ref()?;
    let mut config = sccp::NodeConfig::new(code(signalling, name), point.network.policy());
    config.timers = table.timers();
    config.connections = table.connection_limits();
    config.reassembly = table.reassembly_limits();
    let concerned: BTreeSet<PointCode> = table.concerned.iter().map(|name| code(signalling, name)).collect();
    let backup = table.backup.as_ref().map(|name| code(signalling, name));
    let subsystem = || Subsystem { concerned: concerned.clone(), backup };
    config.subsystems = point.subsystems.iter().map(|ssn| (Ssn(*ssn), subsystem())).collect();
    let rules = signalling.translations.iter().filter(|rule| *rule.at == name);
    let known = rules.flat_map(|rule| rule.to.iter()).chain(table.concerned.iter());
    for far in known.chain(table.backup.as_deref()).filter(|far| *far != name) {
        let capability = signalling.points.find(far).and_then(|far| far.sccp.as_ref());
        let capability = capability.map(|far| far.capability()).unwrap_or_default();
        let remote = config.remotes.entry(code(signalling, far)).or_default();
        remote.capability = capability;
        if table.backup.as_ref().is_some_and(|backup| **backup == *far) {
            remote.subsystems.extend(config.subsystems.keys());
        }
    }
    config.translator = translator;
    Some(config)
}

/// SCCP of the point of that name, if it has one, once translations are right.
pub(crate) fn sccp_of(signalling: &Signalling, name: &str) -> Option<sccp::NodeConfig> {
    let point = signalling.points.find(name).expect("a check resolves points");
    sccp(signalling, name, point, translator(signalling, name).expect("a check has made it before"))
}

/// Everything that the points, the links and the loads are made of, in the order of their names.
pub(crate) fn network(signalling: &Signalling, traces: &Traces) -> NetworkConfig {
    let id = |name: &str| point_id(signalling, name).expect("a check gives links to points with MTP3");
    let with_mtp3 = signalling.points.iter().filter(|(name, _)| !is_served(signalling, name));
    let points = with_mtp3.map(|(name, point)| {
        let mtp3 = mtp3(signalling, name, point);
        let processor = point.processing.as_ref().map(|processing| processing.0.config());
        PointConfig { mtp3, sccp: sccp_of(signalling, name), processor }
    });
    let links = signalling.links.iter().map(|(name, link)| {
        let end = |point: &str| {
            let sets = link_sets(signalling, point);
            let at = sets.iter().flat_map(|(_, links)| links).position(|candidate| *candidate == name);
            let at = at.and_then(|at| u16::try_from(at).ok()).expect("a link is among those of its ends");
            LinkEnd { point: id(point), link: LinkId(at) }
        };
        let carrier = match &*link.carrier {
            schema::Carrier::M2pa(m2pa) => Carrier::Association(m2pa.config()),
            schema::Carrier::Mtp2(mtp2) => Carrier::Line(LineConfig {
                terminal: mtp2.config(),
                delay: *mtp2.delay,
                bit_error_rate: mtp2.bit_error_rate.as_f64(),
            }),
        };
        LinkConfig { name: name.to_owned(), ends: [end(&link.between.0), end(&link.between.1)], carrier }
    });
    NetworkConfig {
        points: points.collect(),
        links: links.collect(),
        m3ua: server::build::m3ua(signalling),
        loads: loads(signalling, traces).expect("a check has numbered the links of loads"),
    }
}

/// The loads, or the first one whose links have no number left by which messages could be told from those of others.
pub(crate) fn loads(signalling: &Signalling, traces: &Traces) -> Result<Vec<LoadConfig>, usize> {
    let loads = signalling.load.iter().map(|(name, load)| LoadConfig {
        name: name.to_owned(),
        from: server::build::place(signalling, &load.from),
        generator: generator(signalling, load, traces),
        destinations: load.to.iter().map(|to| code(signalling, to)).collect(),
        subsystem: load.subsystem.filter(|_| load.routing.is_by_title()).map(|ssn| Ssn(*ssn)),
        give_up_after: *load.give_up_after,
    });
    let mut loads: Vec<LoadConfig> = loads.collect();
    number_links(&mut loads)?;
    Ok(loads)
}

/// A seed for what is only checked and never run.
pub(crate) fn no_seed() -> Seed {
    Seed::new(0, 0)
}
