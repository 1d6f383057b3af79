//! Faults that MTP3 finds in each point and in all points together, reported at the lines that cause them.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_reader::{Fault, Faults, Named, Place};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{
    self, Mtp3Timer, NetworkFault, check_alternatives, check_changeovers, check_network,
};

use crate::by_point::ByPoint;
use crate::names::{code, gateway_point, gateways_of, is_served, resolved};
use crate::point::build::mtp3;
use crate::schema::{Carrier, Signalling, SignallingLink};

/// Checks points and network, and gives where messages of each point may go.
pub(crate) fn check<'a>(
    signalling: &'a Signalling,
    by_point: &'a ByPoint<'a>,
    faults: &mut Faults,
) -> Reach<'a> {
    let before = faults.len();
    let mut nodes = Vec::new();
    for (name, point) in signalling.points.iter().filter(|(name, _)| !is_served(signalling, name)) {
        let Some(config) = resolved(mtp3(signalling, by_point, name, point), faults) else { continue };
        for error in config.faults() {
            let (place, help) = place_of(signalling, name, &error);
            let place = place.unwrap_or_else(|| point.place());
            faults.report(place, Fault::new(format!("`{name}`: {error}")).help(help));
        }
        nodes.push(config);
    }
    for (name, link) in signalling.links.iter() {
        let wrong = match &*link.carrier {
            Carrier::M2pa(m2pa) => {
                m2pa.config().check().err().map(|error| (error.to_string(), m2pa.cure(&error)))
            }
            Carrier::Mtp2(mtp2) => {
                mtp2.config().check().err().map(|error| (error.to_string(), mtp2.cure(&error)))
            }
        };
        if let Some((error, (place, help))) = wrong {
            faults.report(place, Fault::new(format!("`{name}`: {error}")).help(help));
        }
    }
    if faults.len() == before {
        together(signalling, &nodes, faults);
    }
    Reach::new(signalling, by_point, &nodes)
}

/// The line that an error of a point is about, and its cure.
fn place_of(signalling: &Signalling, name: &str, error: &node::ConfigError) -> (Option<Place>, &'static str) {
    let route_to = |destination: &node::Point, via: &str| {
        let mut routes = signalling.routes.iter().filter(|route| *route.from == name && *route.via == via);
        routes.rfind(|route| code(signalling, &route.to) == Ok(destination.0)).map(|route| route.via.place())
    };
    let slc = |link: &str| signalling.links.find(link).map(|link| link.slc.place());
    let point = signalling.points.find(name);
    let timer = |timer: Mtp3Timer| point.map(|point| point.timers.setting(timer).place());
    match error {
        node::ConfigError::AdjacentTwice { second, .. } => (
            signalling.points.find(second).map(|point| point.point_code.place()),
            "give every point a code of its own",
        ),
        node::ConfigError::DestinationTwice(code) => match second_of(signalling, code.0) {
            Some(place) => (Some(place), "give every point a code of its own"),
            None => {
                (route_target(signalling, name, code.0), "the point is behind this one: remove the route")
            }
        },
        node::ConfigError::ServedByEndPoint(..) => {
            (point.map(|point| point.function.place()), "write `function = \"transfer-point\"`")
        }
        node::ConfigError::UnknownLinkSet { destination, link_set } => {
            (route_to(destination, link_set), "let the route lead over a point to which a link leads")
        }
        node::ConfigError::RouteTwice { destination, link_set, .. } => {
            (route_to(destination, link_set), "keep one of the two routes")
        }
        node::ConfigError::TooManyOfOnePriority { destination, third, .. } => {
            (route_to(destination, third), "give one of the routes another `priority`")
        }
        node::ConfigError::OnlyBackups { link_set, .. } => {
            let is_between = |(_, link): &(&str, &Named<SignallingLink>)| {
                let ends = [link.between.0.as_str(), link.between.1.as_str()];
                ends.contains(&name) && ends.contains(&link_set.as_str())
            };
            let link = signalling.links.iter().find(is_between);
            (link.map(|(_, link)| link.backup.place()), "let one link at least be no backup")
        }
        node::ConfigError::SlcTwice { second, .. } => (slc(second), "give one of the links another `slc`"),
        node::ConfigError::SlcTooLarge { link, .. } => (slc(link), "a link set has at most 16 links"),
        node::ConfigError::TimerOutOfRange { timer: name, .. } => {
            (timer(*name), "the ranges are those of Q.704, section 16.8, and Q.707, section 5.5")
        }
        node::ConfigError::OwnPointCode(own, _) if route(signalling, name, own.0).is_some() => {
            (route_target(signalling, name, own.0), "let the route lead to another point")
        }
        node::ConfigError::OwnPointCode(..) => {
            (point.map(|point| point.point_code.place()), "give every point a code of its own")
        }
        node::ConfigError::SharingBit { .. } => (
            point.map(|point| point.sharing_bit.place()),
            "bits count from 0: an SLS of ITU-T and TTC has four, one of ANSI eight",
        ),
        node::ConfigError::NothingMayWait => (point.map(|point| point.held_limit.place()), "65536 is usual"),
        node::ConfigError::UserIsOwn(_) => (
            point.map(|point| point.users.place()),
            "user parts have service indicators from 3, which is SCCP's, to 15",
        ),
        node::ConfigError::NoManagement(_) => {
            (point.map(|point| point.format.place()), "write `format = \"itu\"` or `format = \"ansi\"`")
        }
        _ => (None, "see docs/models/signalling-network.md for what a point may be"),
    }
}

fn together(signalling: &Signalling, nodes: &[node::Config], faults: &mut Faults) {
    for fault in check_network(nodes) {
        let (place, help) = match &fault {
            NetworkFault::Loop { path, destination, .. } => (
                path.first().and_then(|from| route(signalling, from, destination.0)),
                "let one of the routes lead towards the destination",
            ),
            NetworkFault::DeadEnd { from, destination, .. } => {
                (route(signalling, from, destination.0), "add a route at the point where messages end")
            }
            NetworkFault::NoTransfer { from, destination, .. } => (
                route(signalling, from, destination.0),
                "write `function = \"transfer-point\"` at the point in between, or let the route lead elsewhere",
            ),
            NetworkFault::PointCodeTwice { second, .. } => (
                signalling.points.find(second).map(|point| point.point_code.place()),
                "give every point a code of its own",
            ),
            NetworkFault::OneWay { .. } => (None, "let the link join both points"),
        };
        faults.report(place.unwrap_or_default(), Fault::new(fault.to_string()).help(help));
    }
    for dead in check_alternatives(nodes) {
        let mut routes = signalling.routes.iter().filter(|route| *route.from == dead.from);
        let destination = dead.destination.0;
        let route =
            routes.find(|route| *route.via == dead.via && code(signalling, &route.to) == Ok(destination));
        let help = "give the next point a route of its own towards the destination, or remove this one";
        let place = route.map(|route| route.via.place()).unwrap_or_default();
        faults.warn_of_kind("dead alternative", place, Fault::new(dead.to_string()).help(help));
    }
    for timed in check_changeovers(nodes) {
        let joins = |link: &SignallingLink| {
            let ends = [link.between.0.as_str(), link.between.1.as_str()];
            ends.contains(&timed.from.as_str()) && ends.contains(&timed.to.as_str())
        };
        let link = signalling.links.iter().find(|(_, link)| joins(link));
        let place = link.map(|(_, link)| link.between.place()).unwrap_or_default();
        let help = format!(
            "add `[[signalling.routes]]` with `from = \"{}\"`, `to = \"{}\"` and `priority = 1` over another transfer \
             point",
            timed.from, timed.to
        );
        faults.warn_of_kind("changeover by time", place, Fault::new(timed.to_string()).help(help));
    }
}

/// Points that each point with MTP3 has a link set or a route to, by any of which its messages may go.
pub(crate) struct Reach<'a> {
    signalling: &'a Signalling,
    by_point: &'a ByPoint<'a>,
    /// Points that each reaches, by its name.
    known: BTreeMap<String, BTreeSet<PointCode>>,
}

impl<'a> Reach<'a> {
    fn new(signalling: &'a Signalling, by_point: &'a ByPoint<'a>, nodes: &[node::Config]) -> Self {
        let known = nodes.iter().map(|config| {
            let adjacent = config.link_sets.iter().map(|link_set| link_set.adjacent);
            let routed = config.destinations.iter().map(|known| known.point_code);
            let codes = adjacent.chain(routed).chain(config.served.iter().copied());
            (config.name.clone(), codes.collect())
        });
        Self { signalling, by_point, known: known.collect() }
    }

    /// Reports a point that another has neither a link set nor a route to.
    pub(crate) fn must_lead(&self, from: &str, to: &str, place: Place, faults: &mut Faults) {
        let signalling = self.signalling;
        let Some(point) = signalling.points.find(from).filter(|_| from != to) else { return };
        let Some(destination) = resolved(code(signalling, to), faults) else { return };
        if self.by_point.id(from).is_none() {
            return self.gateway_must_lead(from, (to, destination), place, faults);
        }
        // A point whose MTP3 could not be built is reported already.
        if self.known.get(from).is_some_and(|known| !known.contains(&destination)) {
            let format = point.format.policy();
            let message = format!(
                "point code {} ({}) of `{to}` cannot be reached from {} ({}) of `{from}`: it has no route",
                destination.display(format),
                destination.0,
                point.code.0.display(format),
                point.code.0.0,
            );
            let help = format!("add `[[signalling.routes]]` with `from = \"{from}\"` and `to = \"{to}\"`");
            faults.report(place, Fault::new(message).help(help));
        }
    }

    /// Reports a destination that no gateway of a point above M3UA has a route to.
    fn gateway_must_lead(
        &self,
        from: &str,
        (to, destination): (&str, PointCode),
        place: Place,
        faults: &mut Faults,
    ) {
        let signalling = self.signalling;
        let servers = signalling.application_servers.iter().filter(|(_, server)| *server.dpc == from);
        let gateways: Vec<&str> = servers.flat_map(|(_, server)| gateways_of(signalling, server)).collect();
        let leads = |gateway: &&str| {
            let at = gateway_point(signalling, gateway);
            at == to || self.known.get(at).is_some_and(|known| known.contains(&destination))
        };
        if !gateways.iter().any(leads) {
            let at = gateways.first().map_or("", |gateway| gateway_point(signalling, gateway));
            let message =
                format!("`{to}` cannot be reached from `{from}`: gateway point `{at}` has no route to it");
            let help = format!("add `[[signalling.routes]]` with `from = \"{at}\"` and `to = \"{to}\"`");
            faults.report(place, Fault::new(message).help(help));
        }
    }
}

/// The line in which a point gets a code that another one before it has.
fn second_of(signalling: &Signalling, code: PointCode) -> Option<Place> {
    let mut points = signalling.points.iter().filter(|(_, point)| point.code.0 == code);
    points.nth(1).map(|(_, point)| point.point_code.place())
}

/// The line that names the destination of a route.
fn route_target(signalling: &Signalling, from: &str, destination: PointCode) -> Option<Place> {
    let mut routes = signalling.routes.iter().filter(|route| *route.from == from);
    routes.find(|route| code(signalling, &route.to) == Ok(destination)).map(|route| route.to.place())
}

/// The line of the route from a point to a destination.
fn route(signalling: &Signalling, from: &str, destination: PointCode) -> Option<Place> {
    let mut routes = signalling.routes.iter().filter(|route| *route.from == from);
    routes.find(|route| code(signalling, &route.to) == Ok(destination)).map(|route| route.via.place())
}
