//! `[sky.routes]` and `balance`: what packets do between sites where they have a choice.

use slantpath_orbit::site::Relay;
use slantpath_orbit::topology::{RouteChoice, follow};
use slantpath_orbit::{ContactNetwork, ContactNodeId, Site};
use slantpath_reader::{Fault, Faults, Setting, Tables, Written, suggest};
use slantpath_sat::{Balance, SiteRoute};

use super::plan::SkyPlan;
use super::schema::{SiteRouteTable, SiteSelection, SkyTable};
use crate::schema::{File, Flow, Node, Transport};

/// Ends that are sites with nodes, antennas enough, and satellites that are there.
pub(super) fn check(
    sky: &SkyTable<Written>,
    nodes: &Tables<Node>,
    flows: &Tables<Flow<Written>>,
    network: &ContactNetwork,
    faults: &mut Faults,
) {
    for (name, node) in nodes.iter() {
        let (Some(balance), Some(site)) = (&node.balance, &node.site) else { continue };
        if let Some(site) = site_of(network, site)
            && !(0..site.antennas.len()).any(|antenna| group(network, site, antenna).len() > 1)
        {
            let message =
                format!("`{name}` has no two antennas to the same satellites to spread its packets over");
            let help = format!(
                "give site `{}` a second one in the topology, `antennas = 2`, or remove `balance`",
                site.name
            );
            faults.report(balance.place(), Fault::new(message).help(help));
            continue;
        }
        let is_of_association = |(_, flow): &(&str, &Flow<Written>)| {
            *flow.transport == Transport::Sctp && (*flow.from == name || *flow.to == name)
        };
        if node.kind.ends_flows()
            && let Some((flow, _)) = flows.iter().map(|(name, flow)| (name, &**flow)).find(is_of_association)
        {
            let message =
                format!("the paths of flow `{flow}` are not told apart by the antennas of `{name}`");
            let help = "an association sends by several antennas itself: leave `balance` out, or let a router have it";
            faults.warn(balance.place(), Fault::new(message).help(help));
        }
    }
    for (place, (name, route)) in sky.routes.iter().enumerate() {
        let has_ends = ends(name, route, nodes, network, faults);
        let is_of_same = |&(_, other): &(&str, _)| joins(other, &route.ends.0, &route.ends.1);
        if let Some((other, _)) =
            sky.routes.iter().map(|(name, other)| (name, &**other)).take(place).find(is_of_same)
        {
            let message = format!("`{other}` is a route between these two sites already");
            faults.report(route.ends.place(), Fault::new(message).help("keep one of them"));
        }
        match (*route.selection, &route.via) {
            (SiteSelection::Fixed, Some(via)) if !via.is_empty() => nodes_of(name, via, network, faults),
            (SiteSelection::Fixed, via) => {
                let place = via.as_ref().map_or(route.selection.place(), Setting::place);
                let fault = Fault::new(format!("the fixed route `{name}` does not say where it leads"));
                let help = "write `via = [\"iridium-1-4\"]`, with all satellites between the two sites";
                faults.report(place, fault.help(help));
            }
            (SiteSelection::Disjoint, Some(via)) => {
                let fault = Fault::new("disjoint routes find their own satellites");
                faults.report(via.place(), fault.help("write `selection = \"fixed\"`, or leave `via` out"));
            }
            (SiteSelection::Disjoint, None) => {
                if has_ends && antennas(network, route).is_none() {
                    let message = format!(
                        "`{}` and `{}` have no two antennas each to the same satellites, for two routes",
                        route.ends.0, route.ends.1
                    );
                    let help = "give both sites a second one in the topology: `antennas = 2`";
                    faults.report(route.selection.place(), Fault::new(message).help(help));
                }
            }
        }
    }
}

/// Tells whether both ends of a route are sites at which nodes stand.
fn ends(
    name: &str,
    route: &SiteRouteTable,
    nodes: &Tables<Node>,
    network: &ContactNetwork,
    faults: &mut Faults,
) -> bool {
    let known: Vec<&str> = network.sites.iter().map(|site| site.name.as_str()).collect();
    let mut is_sound = true;
    for end in [&route.ends.0, &route.ends.1] {
        let stands = |(_, node): (&str, &Node)| node.site.as_ref().is_some_and(|site| **site == *end);
        let fault = if !known.contains(&end.as_str()) {
            let help = suggest(end, "sites of the topology", &known);
            Fault::new(format!("there is no site `{end}`")).help(help)
        } else if !nodes.iter().map(|(name, node)| (name, &**node)).any(stands) {
            let help = format!("let one stand there: `site = \"{end}\"` in `[nodes.<name>]`");
            Fault::new(format!("no node stands at site `{end}`")).help(help)
        } else {
            continue;
        };
        is_sound = false;
        faults.report(route.ends.place(), fault);
    }
    if route.ends.0 == route.ends.1 {
        let fault = Fault::new(format!("route `{name}` leads from `{}` to itself", route.ends.0));
        faults.report(route.ends.place(), fault.help("let it end at another site"));
        is_sound = false;
    }
    is_sound
}

/// The nodes of a fixed route are satellites, or gateways that relay.
fn nodes_of(name: &str, via: &Setting<Vec<String>>, network: &ContactNetwork, faults: &mut Faults) {
    let satellites = network.constellations.iter().flat_map(|known| &known.satellites);
    let satellites = satellites.map(|satellite| satellite.name.as_str());
    let gateways = network.sites.iter().filter(|site| site.relay == Relay::Gateway);
    let known: Vec<&str> = satellites.chain(gateways.map(|site| site.name.as_str())).collect();
    for node in via.iter().filter(|node| !known.contains(&node.as_str())) {
        let fault =
            Fault::new(format!("route `{name}` leads by `{node}`, which is no satellite of the topology"));
        let help = suggest(node, "satellites and gateways that relay", &known);
        faults.report(via.place(), fault.help(help));
    }
}

/// Every hop of a fixed route is one that contacts of the run join at some time, and at some time all of them at once.
pub(super) fn check_hops(sky: &SkyTable, plan: &SkyPlan, faults: &mut Faults) {
    for (name, route) in sky.routes.iter() {
        let (Some(via), Some(nodes)) = (&route.via, fixed_nodes(route, plan)) else { continue };
        let is_joined = |pair: &&[ContactNodeId]| {
            let joins =
                |[a, b]: [ContactNodeId; 2]| pair[0] == a && pair[1] == b || pair[0] == b && pair[1] == a;
            plan.contacts.contacts().iter().any(|contact| joins([contact.a, contact.b]))
        };
        if let Some(pair) = nodes.windows(2).find(|pair| !is_joined(pair)) {
            let [one, other] = [pair[0], pair[1]].map(|node| &plan.contacts.names()[node.index()]);
            let message =
                format!("route `{name}` leads from `{one}` to `{other}`, which no contact of this run joins");
            let help = "see which contacts there are with `slantpath topology`, and lead it over these";
            faults.report(via.place(), Fault::new(message).help(help));
            continue;
        }
        let ends = (nodes[0], nodes[nodes.len() - 1]);
        let timeline = follow(&plan.contacts, ends.0, ends.1, &RouteChoice::Fixed(nodes));
        if timeline.legs.iter().all(|leg| leg.path.is_none()) {
            let fault = Fault::new(format!("the hops of route `{name}` never hold all at once in this run"));
            let help = "lead it over satellites that see each other and both sites, or let the run begin when they do";
            faults.report(via.place(), fault.help(help));
        }
    }
}

/// The nodes of a fixed route, both ends included.
fn fixed_nodes(route: &SiteRouteTable, plan: &SkyPlan) -> Option<Vec<ContactNodeId>> {
    let via = route.via.as_ref()?;
    let names = [&route.ends.0].into_iter().chain(via.iter()).chain([&route.ends.1]);
    names.map(|name| plan.contacts.node(name)).collect()
}

/// The nodes of every fixed route, both ends included.
pub fn fixed_routes(file: &File, plan: &SkyPlan) -> Vec<Vec<ContactNodeId>> {
    let routes = file.sky.iter().flat_map(|sky| sky.0.routes.iter());
    let fixed = routes.filter(|(_, route)| *route.selection == SiteSelection::Fixed);
    fixed.filter_map(|(_, route)| fixed_nodes(route, plan)).collect()
}

/// Tells whether a route joins these two sites, in either order.
fn joins(route: &SiteRouteTable, one: &str, other: &str) -> bool {
    let (first, second) = (route.ends.0.as_str(), route.ends.1.as_str());
    (first, second) == (one, other) || (first, second) == (other, one)
}

/// Tells whether two sites have disjoint routes.
pub(super) fn are_disjoint(file: &File, one: &str, other: &str) -> bool {
    let routes = file.sky.iter().flat_map(|sky| sky.0.routes.iter());
    let mut disjoint = routes.filter(|(_, route)| *route.selection == SiteSelection::Disjoint);
    disjoint.any(|(_, route)| joins(route, one, other))
}

/// The satellites by which a fixed route leads between two sites; none without one.
pub(super) fn satellites_of(file: &File, one: &str, other: &str) -> Vec<String> {
    let route =
        file.sky.iter().flat_map(|sky| sky.0.routes.iter()).find(|(_, route)| joins(route, one, other));
    let via = route.into_iter().flat_map(|(_, route)| route.via.iter()).flat_map(|via| via.iter());
    let is_site = |name: &str| {
        let sites = file.nodes.iter().filter_map(|(_, node)| node.site.as_ref());
        sites.into_iter().any(|site| **site == *name)
    };
    via.filter(|name| !is_site(name)).cloned().collect()
}

fn site_of<'a>(network: &'a ContactNetwork, name: &str) -> Option<&'a Site> {
    network.sites.iter().find(|site| site.name == name)
}

/// The antennas of a site to the same satellites as one of them: all, where an antenna follows any constellation.
fn group(network: &ContactNetwork, site: &Site, antenna: usize) -> Vec<usize> {
    let follows_any = |site: &Site| site.antennas.iter().any(|antenna| antenna.constellation.is_none());
    let is_one_sky = network.sites.iter().any(follows_any);
    let constellation = &site.antennas[antenna].constellation;
    let is_of = |&other: &usize| is_one_sky || site.antennas[other].constellation == *constellation;
    (0..site.antennas.len()).filter(is_of).collect()
}

/// The first two antennas of either end to one sky.
fn antennas(network: &ContactNetwork, route: &SiteRouteTable) -> Option<[[u16; 2]; 2]> {
    let (one, other) = (site_of(network, &route.ends.0)?, site_of(network, &route.ends.1)?);
    let pair = |site: &Site, antenna: usize| -> Option<[u16; 2]> {
        let own = group(network, site, antenna);
        Some([u16::try_from(*own.first()?).ok()?, u16::try_from(*own.get(1)?).ok()?])
    };
    (0..one.antennas.len()).find_map(|antenna| {
        let own = pair(one, antenna)?;
        let constellation = &one.antennas[antenna].constellation;
        let fits = |&theirs: &usize| {
            group(network, other, theirs).len() == other.antennas.len()
                || other.antennas[theirs].constellation == *constellation
        };
        let theirs = (0..other.antennas.len()).filter(fits).find_map(|theirs| pair(other, theirs))?;
        Some([own, theirs])
    })
}

/// Configuration of the sky of a file that has been checked: the sites that spread their packets, and the routes.
pub(crate) fn build(file: &File, plan: &SkyPlan) -> (Vec<(usize, Balance)>, Vec<SiteRoute>) {
    let sites = &plan.bodies.sites;
    let balance = |(_, node): (&str, &Node)| {
        let (balance, own) = (node.balance?, node.site.as_ref()?);
        Some((sites.iter().position(|site| site.name == **own)?, balance.policy()))
    };
    let balances = file.nodes.iter().map(|(name, node)| (name, &**node)).filter_map(balance).collect();
    let routes = file.sky.iter().flat_map(|sky| sky.0.routes.iter()).map(|(_, route)| {
        let checked = "a check resolves sites and satellites";
        match *route.selection {
            SiteSelection::Disjoint => {
                let [one, other] = antennas(&plan.bodies, route).expect(checked);
                let node = |name: &str| plan.contacts.node(name).expect(checked);
                SiteRoute::Disjoint { ends: [(node(&route.ends.0), one), (node(&route.ends.1), other)] }
            }
            SiteSelection::Fixed => SiteRoute::Fixed(fixed_nodes(route, plan).expect(checked)),
        }
    });
    (balances, routes.collect())
}
