//! Shortest paths: from every node the link to take to every address of a host.
//!
//! A path is shorter if its propagation delays sum to less; of equal sums, if it has fewer links; of equal
//! numbers, the one that starts with the link that was declared first. Hosts do not forward.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

use slantpath_base::Duration;

use crate::link::LinkDirection;
use crate::parcel::DestinationId;
use crate::topology::{NodeKind, Topology, TopologyError};
use crate::{DirectionId, InterfaceId, LinkEnd, NodeId};

/// What path search wants to know about a direction: its delay, or `None` while it is down.
type Delays = Vec<Option<Duration>>;

/// The next direction to every destination, a row a node.
#[derive(Clone, Debug)]
pub struct Routes {
    destinations: usize,
    /// Direction numbers; [`NONE`] where no path leads.
    next: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Routes {
    /// The routes of a network with all its links up and their first delays.
    pub fn new(topology: &Topology) -> Self {
        Self::with_delays(topology, &topology.directions.iter().map(|config| Some(config.delay)).collect())
    }

    pub(crate) fn at_present(topology: &Topology, directions: &[LinkDirection]) -> Self {
        let delay = |direction: &LinkDirection| direction.is_up().then(|| direction.delay());
        Self::with_delays(topology, &directions.iter().map(delay).collect())
    }

    fn with_delays(topology: &Topology, delays: &Delays) -> Self {
        let destinations = topology.destinations.len();
        let mut routes = Self { destinations, next: vec![NONE; destinations * topology.nodes.len()] };
        for (column, &destination) in topology.destinations.iter().enumerate() {
            routes.search_back_from(topology, delays, destination, column);
        }
        routes
    }

    /// Dijkstra's search from the destination against the direction of travel.
    fn search_back_from(
        &mut self,
        topology: &Topology,
        delays: &Delays,
        destination: InterfaceId,
        column: usize,
    ) {
        let target = topology.node_of(destination);
        let mut found = vec![false; topology.nodes.len()];
        let mut open = BinaryHeap::new();
        let reach = |open: &mut BinaryHeap<_>, by: DirectionId, delay: Duration, hops: u32| {
            if let Some(own) = delays[by.index()] {
                open.push(Reverse((delay.saturating_add(own), hops + 1, by)));
            }
        };
        reach(&mut open, destination.peer().outbound(), Duration::ZERO, 0);
        while let Some(Reverse((delay, hops, by))) = open.pop() {
            let node = topology.node_of(by.sender());
            if found[node.index()] || node == target {
                continue;
            }
            found[node.index()] = true;
            self.next[node.index() * self.destinations + column] = by.0;
            if topology.nodes[node.index()].kind == NodeKind::Router {
                for interface in topology.interfaces(node) {
                    reach(&mut open, interface.peer().outbound(), delay, hops);
                }
            }
        }
    }

    /// The direction that a packet for `destination` takes at `node`.
    #[inline]
    pub(crate) fn next(&self, node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        let next = self.next[node.index() * self.destinations + destination.0 as usize];
        (next != NONE).then_some(DirectionId(next))
    }

    /// The interface by which packets leave `from` for `address`.
    pub fn route(
        &self,
        topology: &Topology,
        from: NodeId,
        address: IpAddr,
    ) -> Result<InterfaceId, TopologyError> {
        let Some(&destination) = topology.by_address.get(&address) else {
            let from = topology.node_name(from).to_owned();
            return Err(TopologyError::UnknownAddress { from, address });
        };
        self.next(from, destination).map(DirectionId::sender).ok_or_else(|| {
            let to = topology.node_of(topology.destinations[destination.0 as usize]);
            let [from, to] = [from, to].map(|node| topology.node_name(node).to_owned());
            TopologyError::NoRoute { from, to, address }
        })
    }

    /// Checks that packets that leave by `interface` can reach `address`.
    pub fn require(
        &self,
        topology: &Topology,
        interface: InterfaceId,
        address: IpAddr,
    ) -> Result<(), TopologyError> {
        if topology.interface_with(address) == Some(interface.peer()) {
            return Ok(());
        }
        let from = topology.node_of(interface);
        let next = topology.node_of(interface.peer());
        let leads_on = topology.nodes[next.index()].kind == NodeKind::Router;
        match self.route(topology, next, address) {
            Ok(_) if leads_on => Ok(()),
            Err(TopologyError::UnknownAddress { .. }) => {
                Err(TopologyError::UnknownAddress { from: topology.node_name(from).to_owned(), address })
            }
            _ => {
                let to = topology.interface_with(address).map(|interface| topology.node_of(interface));
                let to = to.map_or_else(String::new, |to| topology.node_name(to).to_owned());
                Err(TopologyError::NoRoute { from: topology.node_name(from).to_owned(), to, address })
            }
        }
    }
}
