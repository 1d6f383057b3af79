//! From a scenario to a network with hosts and flows, ready to run.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_base::Seed;
use slantpath_host::Host;
use slantpath_net::{InterfaceId, LinkEnd, NodeId, Routes, Topology};
use slantpath_simulation::SignallingSimulation;

use super::RunError;
use crate::flow::build::PlannedFlow;
use crate::network::{self, Built, PlannedLink, find_link};
use crate::scenario::Scenario;
use crate::{flow, signalling};

/// A network to be run, and what its parts are called.
pub(super) struct Plan {
    pub(super) topology: Topology,
    pub(super) hosts: Vec<Host>,
    pub(super) links: Vec<PlannedLink>,
    pub(super) flows: Vec<PlannedFlow>,
    pub(super) signalling: Option<SignallingSimulation>,
}

pub(super) fn plan(scenario: &Scenario, seed: Seed) -> Result<Plan, RunError> {
    let Built { topology, links, nodes } = network::build(scenario, scenario.traces())?;
    let mut hosts = hosts(&topology, &links);
    let mut routes = Routes::new(&topology);
    let mut site =
        Site { links: &links, topology: &topology, routes: &mut routes, nodes: &nodes, hosts: &mut hosts };
    let flows = flow::build::place(scenario, seed, &mut site)?;
    let signalling = signalling::plan(scenario, seed, &mut site)?;
    Ok(Plan { topology, hosts, links, flows, signalling })
}

/// The network under construction: its hosts get routes, and ends of flows and associations.
pub(crate) struct Site<'a> {
    links: &'a [PlannedLink],
    topology: &'a Topology,
    routes: &'a mut Routes,
    pub(crate) nodes: &'a BTreeMap<String, NodeId>,
    hosts: &'a mut [Host],
}

impl Site<'_> {
    /// Lets two hosts reach each other.
    pub(crate) fn join_both(&mut self, one: NodeId, other: NodeId) -> Result<(), RunError> {
        join(self.topology, self.routes, self.hosts, one, other)?;
        join(self.topology, self.routes, self.hosts, other, one)
    }

    /// The host at a node.
    pub(crate) fn host(&mut self, node: NodeId) -> &mut Host {
        &mut self.hosts[host_place(self.topology, node)]
    }

    /// The addresses of both ends of an association whose primary path leads over a link of `to`.
    pub(crate) fn addresses(&mut self, primary: &str, from: NodeId, to: NodeId) -> [Vec<IpAddr>; 2] {
        addresses(self.links, self.topology, self.routes, primary, from, to)
    }
}

fn hosts(topology: &Topology, links: &[PlannedLink]) -> Vec<Host> {
    let addresses = |node: NodeId| {
        let own = |interface: &InterfaceId| {
            let [first, second] = links[interface.link().index()].addresses;
            let is_first = *interface == interface.link().first();
            (if is_first { first } else { second }, *interface)
        };
        topology.interfaces(node).iter().map(own).collect()
    };
    topology.hosts().iter().map(|node| Host::new(addresses(*node))).collect()
}

/// Gives `here` a route to every address of `there` that one leads to.
fn join(
    topology: &Topology,
    routes: &mut Routes,
    hosts: &mut [Host],
    here: NodeId,
    there: NodeId,
) -> Result<(), RunError> {
    let place = host_place(topology, here);
    for interface in topology.interfaces(there) {
        for address in topology.addresses(*interface) {
            if let Ok(leaving) = routes.route(topology, here, *address)
                && topology.addresses(leaving).iter().any(|own| own.is_ipv4() == address.is_ipv4())
            {
                hosts[place].add_route(*address, leaving)?;
            }
        }
    }
    Ok(())
}

fn host_place(topology: &Topology, node: NodeId) -> usize {
    topology.host_place(node).expect("a check lets flows end at hosts")
}

/// The addresses of two hosts that reach each other; the one on the primary link of `to` first, and that from which
/// it is reached.
fn addresses(
    links: &[PlannedLink],
    topology: &Topology,
    routes: &mut Routes,
    primary: &str,
    from: NodeId,
    to: NodeId,
) -> [Vec<IpAddr>; 2] {
    let link = find_link(links, primary).expect("a check resolves links");
    let is_second = topology.node_of(link.id.second()) == to;
    let primary = link.addresses[usize::from(is_second)];
    let leaving = routes.route(topology, from, primary);
    let nearest = leaving.ok().and_then(|interface| topology.addresses(interface).first().copied());
    let sender = reachable(topology, routes, to, from, nearest.unwrap_or(primary));
    [sender, reachable(topology, routes, from, to, primary)]
}

/// The addresses of `there` to which a route leads from `here`, `first` in front.
fn reachable(
    topology: &Topology,
    routes: &mut Routes,
    here: NodeId,
    there: NodeId,
    first: IpAddr,
) -> Vec<IpAddr> {
    let all = topology.interfaces(there).iter().flat_map(|own| topology.addresses(*own));
    let reached = |address: &&IpAddr| routes.route(topology, here, **address).is_ok();
    let mut addresses: Vec<IpAddr> = all.filter(reached).copied().collect();
    addresses.sort_by_key(|address| *address != first);
    addresses
}
