//! The network under construction, whose hosts get routes and ends of associations.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_applications::Host;
use slantpath_net::{InterfaceId, LinkEnd, NetworkGraph, NodeId, Routes, Way};
use slantpath_sat::Sky;
use slantpath_simulation::SignallingSimulation;

use crate::build_error::BuildError;
use crate::network::node::HostNumber;
use crate::network::planned::{PlannedLink, PlannedPath, find_link};
use crate::schema::{File, Flow};
use crate::sky_links::entrances::Departures;

/// The network under construction: its hosts get routes, and ends of flows and associations.
pub(crate) struct Site<'a> {
    pub(crate) links: &'a [PlannedLink],
    pub(crate) graph: &'a NetworkGraph,
    pub(crate) routes: &'a mut Routes,
    pub(crate) hosts: &'a mut [Host],
    pub(crate) sky: Option<&'a Sky>,
    pub(crate) departures: Departures,
    /// Ends of flows, by their [`HostNumber`].
    pub(crate) ends: Vec<End>,
}

/// A node at which flows end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    node: NodeId,
    /// Place among the hosts, if it is no outside node.
    host: Option<usize>,
}

impl End {
    /// The ends of flows of a file, in the order of names.
    pub(crate) fn all(file: &File, nodes: &BTreeMap<String, NodeId>, graph: &NetworkGraph) -> Vec<Self> {
        let ends = file.nodes.iter().filter(|(_, node)| node.kind.ends_flows());
        ends.map(|(name, _)| Self { node: nodes[name], host: graph.host_place(nodes[name]) }).collect()
    }
}

impl Site<'_> {
    /// Lets two hosts reach each other.
    pub(crate) fn join_both(&mut self, [one, other]: [HostNumber; 2]) -> Result<(), BuildError> {
        self.join(one, other)?;
        self.join(other, one)
    }

    /// Gives `host` a route to every address of `other` that one leads to.
    fn join(&mut self, host: HostNumber, other: HostNumber) -> Result<(), BuildError> {
        let graph = self.graph;
        let Some(place) = self.ends[host.0].host else { return Ok(()) };
        let [here, there] = [host, other].map(|host| self.node(host));
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
        let leaving = leaving_for(self.graph, self.routes, here, address)?;
        let chosen = departure(self.graph, &self.departures, here, arriving);
        Some(chosen.unwrap_or_else(|| self.sky.map_or(leaving, |sky| sky.paired(leaving, arriving))))
    }

    /// From the sender of each flow to every address of its receiver, under a sky.
    pub(crate) fn ways(&mut self, file: &File) -> Vec<(String, String, Way)> {
        let mut ways = Vec::new();
        if self.sky.is_none() {
            return ways;
        }
        let graph = self.graph;
        for (name, flow) in file.flows.iter() {
            if !self.are_simulated(*flow.hosts) {
                continue;
            }
            let [from, to] = flow.hosts.map(|host| self.node(host));
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

    /// The paths between the hosts of each flow and each association that carries signalling, once for each two hosts.
    pub(crate) fn paths(
        &mut self,
        file: &File,
        signalling: Option<&SignallingSimulation>,
    ) -> Vec<PlannedPath> {
        let ends = |flow: &Flow| flow.hosts.map(|host| self.node(host));
        let flows = file.flows.iter().filter(|(_, flow)| self.are_simulated(*flow.hosts));
        let mut pairs: Vec<[NodeId; 2]> = flows.map(|(_, flow)| ends(flow)).collect();
        let places = signalling.map_or(&[][..], SignallingSimulation::places);
        // Both ends of an association stand one behind the other, the first one first.
        pairs.extend(places.chunks_exact(2).map(|ends| [ends[0].node, ends[1].node]));
        pairs.sort();
        pairs.dedup();
        pairs.into_iter().flat_map(|[from, to]| self.paths_between(from, to)).collect()
    }

    fn paths_between(&mut self, from: NodeId, to: NodeId) -> Vec<PlannedPath> {
        let graph = self.graph;
        let mut paths = Vec::new();
        for &arriving in graph.interfaces(to) {
            for &address in graph.addresses(arriving) {
                let Some(leaving) = self.leaves_by(from, arriving, address) else { continue };
                let own = graph.addresses(leaving).iter().find(|own| own.is_ipv4() == address.is_ipv4());
                let Some(&own) = own else { continue };
                let Some(back) = self.leaves_by(to, leaving, own) else { continue };
                let (Some(there), Some(here)) = (graph.destination(address), graph.destination(own)) else {
                    continue;
                };
                paths.push(PlannedPath {
                    from,
                    to,
                    address,
                    link: graph.link_name(arriving.link()).to_owned(),
                    own,
                    ways: [
                        Way { leaving, destination: there, to },
                        Way { leaving: back, destination: here, to: from },
                    ],
                });
            }
        }
        paths
    }

    /// The host of that number.
    ///
    /// # Panics
    /// If it is an outside node: what [ends at one](Self::are_simulated) is left out.
    pub(crate) fn host(&mut self, host: HostNumber) -> &mut Host {
        let place = self.ends[host.0].host.expect("what ends at an outside node is left out");
        &mut self.hosts[place]
    }

    /// Tells if both ends are simulated hosts.
    pub(crate) fn are_simulated(&self, hosts: [HostNumber; 2]) -> bool {
        hosts.iter().all(|host| self.ends[host.0].host.is_some())
    }

    /// The simulated host of that name.
    pub(crate) fn host_named(&self, name: &str) -> Result<HostNumber, BuildError> {
        let is_of_name = |end: &End| end.host.is_some() && self.graph.node_name(end.node) == name;
        let host = self.ends.iter().position(is_of_name);
        host.map(HostNumber).ok_or_else(|| BuildError::NoHost(name.to_owned()))
    }

    /// Gives every simulated host routes to the outside nodes, whose programs are told of ports that nobody has.
    pub(crate) fn join_outside(&mut self) -> Result<(), BuildError> {
        let (outside, hosts): (Vec<usize>, Vec<usize>) =
            (0..self.ends.len()).partition(|end| self.ends[*end].host.is_none());
        for &host in &hosts {
            for &node in &outside {
                self.join(HostNumber(host), HostNumber(node))?;
            }
            self.host(HostNumber(host)).refuse_strangers();
        }
        Ok(())
    }

    /// The node of a host.
    pub(crate) fn node(&self, host: HostNumber) -> NodeId {
        self.ends[host.0].node
    }

    /// The address of a host on one of its links.
    pub(crate) fn address_on(&self, link: &str, node: NodeId) -> Option<IpAddr> {
        address_on(self.graph, self.links, link, node)
    }

    /// The addresses of both ends of an association whose primary path leads over a link of `to`.
    pub(crate) fn addresses(
        &mut self,
        primary: &str,
        hosts: [HostNumber; 2],
    ) -> Result<[Vec<IpAddr>; 2], BuildError> {
        let [from, to] = hosts.map(|host| self.node(host));
        addresses(self.links, self.graph, self.routes, primary, from, to).ok_or_else(|| {
            BuildError::NoAddress { host: self.graph.node_name(to).to_owned(), link: primary.to_owned() }
        })
    }
}

/// The interface by which the shortest way leads from a node to an address. Of links between the same two nodes it is
/// one that has an address of the same family, if any does.
pub fn leaving_for(
    graph: &NetworkGraph,
    routes: &mut Routes,
    here: NodeId,
    address: IpAddr,
) -> Option<InterfaceId> {
    let leaving = routes.route(graph, here, address).ok()?;
    let has_family =
        |own: &InterfaceId| graph.addresses(*own).iter().any(|own| own.is_ipv4() == address.is_ipv4());
    if has_family(&leaving) {
        return Some(leaving);
    }
    let next = |own: InterfaceId| graph.node_of(own.peer());
    let mut own = graph.interfaces(here).iter().copied();
    own.find(|other| has_family(other) && next(*other) == next(leaving)).or(Some(leaving))
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
pub fn address_on(graph: &NetworkGraph, links: &[PlannedLink], link: &str, node: NodeId) -> Option<IpAddr> {
    let link = find_link(links, link)?;
    let is_second = graph.node_of(link.id.second()) == node;
    link.addresses[usize::from(is_second)]
}

/// The addresses of two hosts that reach each other; the one on the primary link of `to` first, and that from which
/// it is reached. `None` if `to` has no address on that link.
pub fn addresses(
    links: &[PlannedLink],
    graph: &NetworkGraph,
    routes: &mut Routes,
    primary: &str,
    from: NodeId,
    to: NodeId,
) -> Option<[Vec<IpAddr>; 2]> {
    let primary = address_on(graph, links, primary, to)?;
    let leaving = routes.route(graph, from, primary);
    let nearest = leaving.ok().and_then(|interface| graph.addresses(interface).first().copied());
    let sender = reachable(graph, routes, to, from, nearest.unwrap_or(primary));
    Some([sender, reachable(graph, routes, from, to, primary)])
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
