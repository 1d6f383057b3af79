//! From a scenario to a network with hosts and flows, ready to run.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_base::Seed;
use slantpath_host::Host;
use slantpath_net::{InterfaceId, LinkEnd, NetworkGraph, NodeId, Routes};
use slantpath_sat::{Sky, Way};
use slantpath_simulation::SignallingSimulation;

use super::RunError;
use crate::flow::build::{PlannedFlow, Seats};
use crate::network::{self, Built, PlannedLink, find_link};
use crate::scenario::Scenario;
use crate::sessions::build::PlannedSessions;
use crate::sky_links::entrances::{Departures, departures};
use crate::{flow, sessions, signalling};

/// A network to be run, and what its parts are called.
pub(super) struct Plan {
    pub(super) graph: NetworkGraph,
    pub(super) hosts: Vec<Host>,
    pub(super) links: Vec<PlannedLink>,
    pub(super) flows: Vec<PlannedFlow>,
    pub(super) sessions: Vec<PlannedSessions>,
    pub(super) signalling: Option<SignallingSimulation>,
    pub(super) sky: Option<Sky>,
    /// The ways of flows under a sky, with the names of the flow and of the link at its end.
    pub(super) ways: Vec<(String, String, Way)>,
    /// Places of the ends of the flow that others take over.
    pub(super) seats: Option<Seats>,
}

/// `vacant` is a flow that is left to others; of the flows `traced` the sender's association is traced.
pub(super) fn plan(
    scenario: &Scenario,
    seed: Seed,
    vacant: Option<&str>,
    traced: &[String],
) -> Result<Plan, RunError> {
    let Built { graph, links, nodes, sky } =
        network::build(scenario, scenario.traces(), scenario.sky_plan())?;
    let mut hosts = hosts(&graph, &links);
    let mut routes = Routes::new(&graph);
    let mut site = Site {
        links: &links,
        graph: &graph,
        routes: &mut routes,
        nodes: &nodes,
        hosts: &mut hosts,
        sky: sky.as_ref(),
        departures: scenario.sky_plan().map(|plan| departures(scenario, plan)).unwrap_or_default(),
    };
    let (flows, seats) = flow::build::place(scenario, seed, vacant, traced, &mut site)?;
    let sessions = sessions::build::place(scenario, seed, &mut site)?;
    let signalling = signalling::plan(scenario, seed, &mut site)?;
    let ways = site.ways(scenario);
    Ok(Plan { graph, hosts, links, flows, sessions, signalling, sky, ways, seats })
}

/// The network under construction: its hosts get routes, and ends of flows and associations.
pub(crate) struct Site<'a> {
    links: &'a [PlannedLink],
    graph: &'a NetworkGraph,
    routes: &'a mut Routes,
    pub(crate) nodes: &'a BTreeMap<String, NodeId>,
    hosts: &'a mut [Host],
    sky: Option<&'a Sky>,
    departures: Departures,
}

impl Site<'_> {
    /// Lets two hosts reach each other.
    pub(crate) fn join_both(&mut self, one: NodeId, other: NodeId) -> Result<(), RunError> {
        self.join(one, other)?;
        self.join(other, one)
    }

    /// Gives `here` a route to every address of `there` that one leads to.
    fn join(&mut self, here: NodeId, there: NodeId) -> Result<(), RunError> {
        let graph = self.graph;
        let place = host_place(graph, here);
        for &interface in graph.interfaces(there) {
            for address in graph.addresses(interface) {
                if let Some(leaving) = self.leaves_by(here, interface, *address)
                    && graph.addresses(leaving).iter().any(|own| own.is_ipv4() == address.is_ipv4())
                {
                    self.hosts[place].add_route(*address, leaving)?;
                }
            }
        }
        Ok(())
    }

    /// The interface by which packets leave a host for an address of another's interface.
    fn leaves_by(&mut self, here: NodeId, arriving: InterfaceId, address: IpAddr) -> Option<InterfaceId> {
        let leaving = self.routes.route(self.graph, here, address).ok()?;
        let chosen = departure(self.graph, &self.departures, here, arriving);
        Some(chosen.unwrap_or_else(|| self.sky.map_or(leaving, |sky| sky.paired(leaving, arriving))))
    }

    /// From the sender of each flow to every address of its receiver, under a sky.
    fn ways(&mut self, scenario: &Scenario) -> Vec<(String, String, Way)> {
        let mut ways = Vec::new();
        if self.sky.is_none() {
            return ways;
        }
        let graph = self.graph;
        for (name, flow) in scenario.flows.iter() {
            let (from, to) = (self.nodes[flow.from.as_str()], self.nodes[flow.to.as_str()]);
            for &own in graph.interfaces(to) {
                let Some(&address) = graph.addresses(own).first() else { continue };
                let found = self.leaves_by(from, own, address).zip(graph.destination(address));
                if let Some((leaving, destination)) = found {
                    let way = Way { leaving, destination, to };
                    ways.push((name.to_owned(), graph.link_name(own.link()).to_owned(), way));
                }
            }
        }
        ways
    }

    /// The host at a node.
    pub(crate) fn host(&mut self, node: NodeId) -> &mut Host {
        &mut self.hosts[host_place(self.graph, node)]
    }

    /// The address of a host on one of its links.
    pub(crate) fn address_on(&self, link: &str, node: NodeId) -> Option<IpAddr> {
        address_on(self.graph, self.links, link, node)
    }

    /// The addresses of both ends of an association whose primary path leads over a link of `to`.
    pub(crate) fn addresses(&mut self, primary: &str, from: NodeId, to: NodeId) -> [Vec<IpAddr>; 2] {
        addresses(self.links, self.graph, self.routes, primary, from, to)
    }
}

/// The interface by which the way over the sky leads from a host to another's, if it has several.
fn departure(
    graph: &NetworkGraph,
    departures: &Departures,
    here: NodeId,
    arriving: InterfaceId,
) -> Option<InterfaceId> {
    if departures.is_empty() {
        return None;
    }
    let names = [here, graph.node_of(arriving)].map(|node| graph.node_name(node).to_owned());
    let [host, peer] = names;
    let by_link = (host.clone(), peer.clone(), Some(graph.link_name(arriving.link()).to_owned()));
    let link = departures.get(&by_link).or_else(|| departures.get(&(host, peer, None)))?;
    graph.interfaces(here).iter().copied().find(|own| graph.link_name(own.link()) == link.as_str())
}

/// The address of a host on one of its links.
pub(crate) fn address_on(
    graph: &NetworkGraph,
    links: &[PlannedLink],
    link: &str,
    node: NodeId,
) -> Option<IpAddr> {
    let link = find_link(links, link)?;
    let is_second = graph.node_of(link.id.second()) == node;
    link.addresses[usize::from(is_second)]
}

fn hosts(graph: &NetworkGraph, links: &[PlannedLink]) -> Vec<Host> {
    let addresses = |node: NodeId| {
        let own = |interface: &InterfaceId| {
            let [first, second] = links[interface.link().index()].addresses;
            let is_first = *interface == interface.link().first();
            Some((if is_first { first } else { second }?, *interface))
        };
        graph.interfaces(node).iter().filter_map(own).collect()
    };
    graph.hosts().iter().map(|node| Host::new(addresses(*node))).collect()
}

pub(super) fn host_place(graph: &NetworkGraph, node: NodeId) -> usize {
    graph.host_place(node).expect("a check lets flows end at hosts")
}

/// The addresses of two hosts that reach each other; the one on the primary link of `to` first, and that from which
/// it is reached.
pub(crate) fn addresses(
    links: &[PlannedLink],
    graph: &NetworkGraph,
    routes: &mut Routes,
    primary: &str,
    from: NodeId,
    to: NodeId,
) -> [Vec<IpAddr>; 2] {
    let link = find_link(links, primary).expect("a check resolves links");
    let is_second = graph.node_of(link.id.second()) == to;
    let primary = link.addresses[usize::from(is_second)].expect("a primary link ends at a host");
    let leaving = routes.route(graph, from, primary);
    let nearest = leaving.ok().and_then(|interface| graph.addresses(interface).first().copied());
    let sender = reachable(graph, routes, to, from, nearest.unwrap_or(primary));
    [sender, reachable(graph, routes, from, to, primary)]
}

/// The addresses of `there` to which a route leads from `here`, `first` in front.
fn reachable(
    graph: &NetworkGraph,
    routes: &mut Routes,
    here: NodeId,
    there: NodeId,
    first: IpAddr,
) -> Vec<IpAddr> {
    let all = graph.interfaces(there).iter().flat_map(|own| graph.addresses(*own));
    let reached = |address: &&IpAddr| routes.route(graph, here, **address).is_ok();
    let mut addresses: Vec<IpAddr> = all.filter(reached).copied().collect();
    addresses.sort_by_key(|address| *address != first);
    addresses
}
