//! Shortest paths: from every router the link to take to every address of a host.
//!
//! A path is shorter if its propagation delays sum to less; of equal sums, if it has fewer links; of equal
//! numbers, the one that starts with the link that was declared first. Hosts do not forward.
//!
//! So all that is behind one router is reached by one way: a tree is worked out for a router with hosts, when
//! the first packet for one of them is on its way, and not for each of their addresses. Trees join routers
//! only; the last link to a host, and the first from one, are looked up beside them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};

use crate::graph::{GraphError, NetworkGraph, NodeKind};
use crate::parcel::DestinationId;
use crate::{DirectionId, InterfaceId, LinkEnd, NodeId};

/// The way from a node: how long and of how many links it is, and the direction that it starts with.
type Way = (Duration, u32, DirectionId);

/// The next direction to every destination.
#[derive(Clone, Debug)]
pub struct Routes {
    /// By node: its place among the routers, or [`NONE`].
    routers: Vec<u32>,
    /// Ends of the ways, by destination.
    ends: Vec<End>,
    /// By interface: the destination that it is.
    end_of: Vec<Option<DestinationId>>,
    /// By direction: its delay, or `None` while it is down.
    delays: Vec<Option<Duration>>,
    /// By direction: between which routers, if it joins two.
    joins: Vec<Option<[u32; 2]>>,
    /// By router: the directions from other routers to it.
    inbound: Vec<Vec<DirectionId>>,
    /// By the router at their root.
    trees: Vec<Tree>,
}

/// The end of the way to a destination.
#[derive(Clone, Copy, Debug)]
struct End {
    /// The router before it, or [`NONE`] if it is a host.
    router: u32,
    /// The last direction.
    last: DirectionId,
    /// True if the last direction is up.
    is_up: bool,
}

/// Ways to one router from all others; empty until one is asked for.
#[derive(Clone, Debug, Default)]
struct Tree {
    /// By router: direction numbers; [`NONE`] where no way leads.
    next: Vec<u32>,
    /// Delay and number of links of the ways, by router.
    lengths: Vec<(Duration, u32)>,
}

const NONE: u32 = u32::MAX;

impl Routes {
    /// The routes of a network with all its links up and their first delays.
    pub fn new(graph: &NetworkGraph) -> Self {
        let mut routers = vec![NONE; graph.nodes.len()];
        let mut count = 0;
        for (node, place) in graph.nodes.iter().zip(&mut routers) {
            if node.kind == NodeKind::Router {
                *place = count;
                count += 1;
            }
        }
        let router_of = |interface: InterfaceId| routers[graph.node_of(interface).index()];
        let mut inbound = vec![Vec::new(); count as usize];
        let mut joins = vec![None; graph.directions.len()];
        for direction in graph.links().flat_map(|link| [link.forward(), link.reverse()]) {
            let ends = [direction.sender(), direction.receiver()].map(router_of);
            if !ends.contains(&NONE) {
                joins[direction.index()] = Some(ends);
                inbound[ends[1] as usize].push(direction);
            }
        }
        let end = |destination: &InterfaceId| End {
            router: router_of(destination.peer()),
            last: destination.peer().outbound(),
            is_up: true,
        };
        Self {
            ends: graph.destinations.iter().map(end).collect(),
            end_of: graph.interfaces.iter().map(|interface| interface.destination).collect(),
            delays: graph.directions.iter().map(|config| Some(config.delay.at(Instant::START))).collect(),
            trees: vec![Tree::default(); count as usize],
            routers,
            joins,
            inbound,
        }
    }

    /// The direction that a packet for `destination` takes at the router `node`.
    #[inline]
    pub(crate) fn next(&mut self, node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        let End { router, last, is_up } = *self.ends.get(destination.0 as usize)?;
        if !is_up {
            return None;
        }
        let own = self.routers[node.index()];
        if own == router {
            return (own != NONE).then_some(last);
        }
        let tree = self.trees.get(router as usize)?;
        let next = match tree.next.get(own as usize) {
            Some(&next) => next,
            None => self.grow(router).next.get(own as usize).copied()?,
        };
        (next != NONE).then_some(DirectionId(next))
    }

    /// Variant of [`next`](Self::next) for any node; a host is where ways start and end.
    fn next_from(
        &mut self,
        graph: &NetworkGraph,
        node: NodeId,
        destination: DestinationId,
    ) -> Option<DirectionId> {
        if self.routers[node.index()] != NONE {
            return self.next(node, destination);
        }
        let End { router, last, is_up } = self.ends[destination.0 as usize];
        if !is_up || graph.node_of(last.receiver()) == node {
            return None;
        }
        let ways: Vec<Way> = graph
            .interfaces(node)
            .iter()
            .filter_map(|interface| {
                let first = interface.outbound();
                if first == last {
                    return Some((self.delays[last.index()]?, 1, first));
                }
                let neighbour = self.routers[graph.node_of(interface.peer()).index()];
                let (delay, links) = self.length(neighbour, router, last)?;
                Some((delay.saturating_add(self.delays[first.index()]?), links + 1, first))
            })
            .collect();
        ways.into_iter().min().map(|(_, _, first)| first)
    }

    /// The length of the way from one router to another and by `last` beyond it.
    fn length(&mut self, from: u32, router: u32, last: DirectionId) -> Option<(Duration, u32)> {
        if from == NONE || router == NONE {
            return None;
        }
        let (delay, links) = if from == router {
            (Duration::ZERO, 0)
        } else {
            let tree = self.grow(router);
            if tree.next[from as usize] == NONE {
                return None;
            }
            tree.lengths[from as usize]
        };
        Some((delay.saturating_add(self.delays[last.index()]?), links + 1))
    }

    /// The tree to a router, worked out if need be: Dijkstra's search from its root against the direction of travel.
    #[cold]
    fn grow(&mut self, root: u32) -> &Tree {
        let Self { delays, joins, inbound, trees, .. } = self;
        let tree = &mut trees[root as usize];
        if tree.next.is_empty() {
            tree.next = vec![NONE; inbound.len()];
            tree.lengths = vec![(Duration::ZERO, 0); inbound.len()];
            let mut open = BinaryHeap::new();
            let reach = |open: &mut BinaryHeap<Reverse<Way>>, router: u32, delay: Duration, links: u32| {
                for &by in &inbound[router as usize] {
                    if let Some(own) = delays[by.index()] {
                        open.push(Reverse((delay.saturating_add(own), links + 1, by)));
                    }
                }
            };
            reach(&mut open, root, Duration::ZERO, 0);
            while let Some(Reverse((delay, links, by))) = open.pop() {
                let [router, _] = joins[by.index()].expect("a tree joins routers");
                if router == root || tree.next[router as usize] != NONE {
                    continue;
                }
                tree.next[router as usize] = by.0;
                tree.lengths[router as usize] = (delay, links);
                reach(&mut open, router, delay, links);
            }
        }
        tree
    }

    /// The delay of a direction as routes know it, or `None` while it is down.
    pub(crate) fn delay(&self, direction: DirectionId) -> Option<Duration> {
        self.delays[direction.index()]
    }

    /// Sets the delay of a direction, or `None` while it is down. Trees that it changes are worked out anew when they
    /// are asked for.
    pub(crate) fn set_delay(&mut self, direction: DirectionId, delay: Option<Duration>) {
        let before = core::mem::replace(&mut self.delays[direction.index()], delay);
        if let Some(end) = self.end_of[direction.receiver().index()] {
            self.ends[end.0 as usize].is_up = delay.is_some();
        }
        let Some([from, to]) = self.joins[direction.index()] else { return };
        if before == delay {
            return;
        }
        for (root, tree) in (0_u32..).zip(&mut self.trees) {
            if tree.is_changed(root, direction, [from, to], delay) {
                *tree = Tree::default();
            }
        }
    }

    /// The interface by which packets leave `from` for `address`.
    pub fn route(
        &mut self,
        graph: &NetworkGraph,
        from: NodeId,
        address: IpAddr,
    ) -> Result<InterfaceId, GraphError> {
        let Some(destination) = graph.destination(address) else {
            let from = graph.node_name(from).to_owned();
            return Err(GraphError::UnknownAddress { from, address });
        };
        self.next_from(graph, from, destination).map(DirectionId::sender).ok_or_else(|| {
            let to = graph.node_of(graph.destinations[destination.0 as usize]);
            let [from, to] = [from, to].map(|node| graph.node_name(node).to_owned());
            GraphError::NoRoute { from, to, address }
        })
    }
}

impl Tree {
    /// Tells if it is another tree once a direction between two routers has another delay.
    fn is_changed(
        &self,
        root: u32,
        direction: DirectionId,
        [from, to]: [u32; 2],
        delay: Option<Duration>,
    ) -> bool {
        if self.next.is_empty() || from == root {
            return false;
        }
        if self.next[from as usize] == direction.0 {
            return true;
        }
        // It has not been taken: it is from now on if it makes the way from its start better.
        let Some(delay) = delay else { return false };
        if to != root && self.next[to as usize] == NONE {
            return false;
        }
        let (beyond, links) = self.lengths[to as usize];
        let way: Way = (beyond.saturating_add(delay), links + 1, direction);
        let next = self.next[from as usize];
        let (present, links) = self.lengths[from as usize];
        next == NONE || way < (present, links, DirectionId(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::NetworkBuilder;
    use crate::link::queue::QueueConfig;
    use crate::link::{DirectionConfig, QueueLimit};
    use proptest::prelude::*;
    use slantpath_base::DataRate;

    /// Every pair of nodes searched for on its own, over hosts and routers alike: what trees have to agree with.
    fn search(
        graph: &NetworkGraph,
        delays: &[Option<Duration>],
        from: NodeId,
        destination: DestinationId,
    ) -> Option<DirectionId> {
        let destination = graph.destinations[destination.0 as usize];
        let target = graph.node_of(destination);
        let mut found = vec![None; graph.nodes.len()];
        let mut open = BinaryHeap::new();
        let reach = |open: &mut BinaryHeap<_>, by: DirectionId, delay: Duration, links: u32| {
            if let Some(own) = delays[by.index()] {
                open.push(Reverse((delay + own, links + 1, by)));
            }
        };
        reach(&mut open, destination.peer().outbound(), Duration::ZERO, 0);
        while let Some(Reverse((delay, links, by))) = open.pop() {
            let node = graph.node_of(by.sender());
            if found[node.index()].is_some() || node == target {
                continue;
            }
            found[node.index()] = Some(by);
            if graph.nodes[node.index()].kind == NodeKind::Router {
                for interface in graph.interfaces(node) {
                    reach(&mut open, interface.peer().outbound(), delay, links);
                }
            }
        }
        found[from.index()]
    }

    /// `routers` routers and `hosts` hosts, with links between nodes of those numbers.
    fn network(routers: usize, hosts: usize, links: &[(usize, usize, u64)]) -> NetworkGraph {
        let mut builder = NetworkBuilder::new();
        let mut nodes: Vec<NodeId> = (0..routers).map(|n| builder.router(&format!("router-{n}"))).collect();
        nodes.extend((0..hosts).map(|n| builder.host(&format!("host-{n}"))));
        for (number, &(first, second, delay)) in links.iter().enumerate() {
            let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
            let rate = DataRate::from_bits_per_sec(1);
            let config = DirectionConfig::new(rate, Duration::from_millis(delay), queue);
            let [first, second] = [first, second].map(|node| nodes[node % nodes.len()]);
            if first != second {
                let link = builder.link(&format!("link-{number}"), first, second, config.clone(), config);
                let number = u8::try_from(number).expect("few links");
                builder.address(link.first(), [10, 0, number, 1].into());
                builder.address(link.second(), [10, 0, number, 2].into());
            }
        }
        builder.build().expect("a sound plan")
    }

    proptest! {
        #[test]
        fn trees_agree_with_a_search_for_every_pair_whatever_changes(
            (routers, hosts) in (1_usize..7, 2_usize..5),
            // Few delays, so that there are ties.
            links in proptest::collection::vec((0_usize..12, 0_usize..12, 0_u64..3), 1..30),
            changes in proptest::collection::vec((any::<usize>(), proptest::option::of(0_u64..3)), 0..12),
        ) {
            let graph = network(routers, hosts, &links);
            let mut routes = Routes::new(&graph);
            let mut delays = routes.delays.clone();
            for change in [None].into_iter().chain(changes.into_iter().map(Some)) {
                if let Some((direction, delay)) = change
                    && let Some(place) = direction.checked_rem(delays.len())
                {
                    let delay = delay.map(Duration::from_millis);
                    delays[place] = delay;
                    routes.set_delay(DirectionId(u32::try_from(place).expect("few")), delay);
                }
                for node in graph.nodes() {
                    for destination in (0..graph.destinations.len()).map(|n| DestinationId(n.try_into().unwrap())) {
                        prop_assert_eq!(
                            routes.next_from(&graph, node, destination),
                            search(&graph, &delays, node, destination),
                            "from {:?} to {:?}", node, destination
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_tree_is_worked_out_when_it_is_asked_for_and_again_when_a_change_concerns_it() {
        // A triangle of routers with a host at each; the way from 0 to 1 over 2 is no better.
        let links = [(0, 1, 5), (1, 2, 5), (2, 0, 5), (0, 3, 1), (1, 4, 1), (2, 5, 1)];
        let graph = network(3, 3, &links);
        let mut routes = Routes::new(&graph);
        let grown =
            |routes: &Routes| routes.trees.iter().map(|tree| !tree.next.is_empty()).collect::<Vec<_>>();
        assert_eq!(grown(&routes), [false, false, false]);
        let to_host_of = |router: u32| DestinationId(router);
        assert!(routes.next(NodeId(0), to_host_of(1)).is_some());
        assert!(routes.next(NodeId(0), to_host_of(2)).is_some());
        assert_eq!(grown(&routes), [false, true, true]);
        // Link 1 leads from router 1 to 2: only the tree to 2 takes it, and only that one is lost with it.
        let forward = DirectionId(2);
        routes.set_delay(forward, None);
        assert_eq!(grown(&routes), [false, true, false]);
        assert!(routes.next(NodeId(1), to_host_of(2)).is_some());
        // It comes back worse than the way round: nothing changes.
        routes.set_delay(forward, Some(Duration::from_millis(11)));
        assert_eq!(grown(&routes), [false, true, true]);
        routes.set_delay(forward, Some(Duration::from_millis(9)));
        assert_eq!(grown(&routes), [false, true, false]);
    }
}
