//! Faults between the nodes of a network although each is right by itself.

use std::collections::BTreeMap;

use crate::PointCode;
use crate::mtp3::node::config::{Config, Function, Point};
use crate::mtp3::node::id::LinkSetId;
use crate::mtp3::node::table::Route;

/// A contradiction between nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkFault {
    /// Following the normal routes to a destination leads in a circle.
    #[error("messages from `{from}` to {destination} go in a circle: {}", path.join(" > "))]
    Loop {
        /// Name of the node at which the messages start.
        from: String,
        /// Destination of the messages.
        destination: Point,
        /// The names of the nodes that they pass, the first twice.
        path: Vec<String>,
    },
    /// A node on the normal route to a destination has no route to it.
    #[error("messages from `{from}` to {destination} end at `{at}`, which has no route there")]
    DeadEnd {
        /// Name of the node at which the messages start.
        from: String,
        /// Destination of the messages.
        destination: Point,
        /// Name of the node at which the messages end.
        at: String,
    },
    /// A node on the normal route to a destination transfers nothing.
    #[error("messages from `{from}` to {destination} end at `{at}`, which is no transfer point")]
    NoTransfer {
        /// Name of the node at which the messages start.
        from: String,
        /// Destination of the messages.
        destination: Point,
        /// Name of the node at which the messages end.
        at: String,
    },
    /// A link set has no counterpart at its far end.
    #[error("link set `{link_set}` of `{node}` leads to `{far}`, which has none back")]
    OneWay {
        /// Name of the node.
        node: String,
        /// Name of its link set.
        link_set: String,
        /// The node at the far end.
        far: String,
    },
    /// Two nodes have one point code.
    #[error("`{first}` and `{second}` both have {code}")]
    PointCodeTwice {
        /// The earlier node.
        first: String,
        /// The later one.
        second: String,
        /// Their point code.
        code: Point,
    },
}

/// Checks the normal routes and link sets of nodes that are one network. Points that are not among them are taken as
/// right.
pub fn check_network(nodes: &[Config]) -> Vec<NetworkFault> {
    let mut faults = Vec::new();
    let mut by_code: BTreeMap<PointCode, &Config> = BTreeMap::new();
    for node in nodes {
        if let Some(first) = by_code.insert(node.point_code, node) {
            faults.push(NetworkFault::PointCodeTwice {
                first: first.name.clone(),
                second: node.name.clone(),
                code: Point(node.point_code, node.format),
            });
        }
    }
    let next_hops: BTreeMap<PointCode, _> =
        nodes.iter().map(|node| (node.point_code, next_hops(node))).collect();
    for node in nodes {
        for link_set in &node.link_sets {
            if let Some(far) = by_code.get(&link_set.adjacent)
                && !far.link_sets.iter().any(|back| back.adjacent == node.point_code)
            {
                faults.push(NetworkFault::OneWay {
                    node: node.name.clone(),
                    link_set: link_set.name.clone(),
                    far: far.name.clone(),
                });
            }
        }
        for &destination in next_hops[&node.point_code].keys() {
            faults.extend(follow(node, destination, &by_code, &next_hops));
        }
    }
    faults
}

/// An alternative route by which no message can ever arrive. Nobody notices before the normal route fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the alternative route from `{from}` to {destination} over `{via}` leads nowhere: {reason}")]
pub struct DeadAlternative {
    /// The node that has the route.
    pub from: String,
    /// Destination of the route.
    pub destination: Point,
    /// The node at the far end of its link set.
    pub via: String,
    /// Why they do not.
    pub reason: DeadAlternativeReason,
}

/// Why an alternative route leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeadAlternativeReason {
    /// Whatever way messages take from there, they come back, or to nodes that have no route or transfer nothing.
    #[error("from there every way comes back or ends")]
    Astray,
    /// The next node has no route to the destination.
    #[error("`{0}` has no route there")]
    NoRoute(String),
    /// The next node transfers nothing.
    #[error("`{0}` is no transfer point")]
    NoTransfer(String),
}

/// Follows the alternative routes of nodes that are one network: those that are not of the best priority. Points that
/// are not among the nodes are taken as right.
pub fn check_alternatives(nodes: &[Config]) -> Vec<DeadAlternative> {
    let network = Alternatives::new(nodes);
    let mut dead = Vec::new();
    for node in nodes {
        for &destination in network.routes[&node.point_code].keys() {
            let hops = network.hops(node.point_code, destination);
            let best = hops.first().map(|(priority, _)| *priority);
            for (_, hop) in
                hops.iter().filter(|(priority, hop)| Some(*priority) != best && *hop != destination)
            {
                let Some(via) = network.nodes.get(hop) else { continue };
                let Some(reason) = network.dead_end(node.point_code, via, destination) else { continue };
                let (from, via) = (node.name.clone(), via.name.clone());
                let destination = Point(destination, node.format);
                dead.push(DeadAlternative { from, destination, via, reason });
            }
        }
    }
    dead
}

/// A link set whose traffic can take another one, and whose far end can be reached over no other: no changeover message
/// gets there once it has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "when the link set from `{from}` to `{to}` fails, its traffic changes over by time (Q.704, section 5.6.2), and \
     what is under way is lost: no other route leads from `{from}` to {adjacent} itself"
)]
pub struct TimedChangeover {
    /// Name of the node.
    pub from: String,
    /// The name of its link set.
    pub to: String,
    /// The point at the other end.
    pub adjacent: Point,
}

/// The link sets of nodes that can only change over by time when they fail, although there is somewhere to change
/// over to. Those that carry traffic when another has failed, such as one between mated transfer points, are left out.
pub fn check_changeovers(nodes: &[Config]) -> Vec<TimedChangeover> {
    let mut timed = Vec::new();
    for node in nodes {
        let routes = node.routes();
        for (link_set, id) in node.link_sets.iter().zip(0_u16..) {
            let id = LinkSetId(id);
            let has_another = |routes: &Vec<Route>| routes.iter().any(|route| route.link_set != id);
            let is_preferred = |routes: &&Vec<Route>| {
                let best = routes.iter().map(|route| route.priority).min();
                routes.iter().any(|route| route.link_set == id && Some(route.priority) == best)
            };
            let diverts = routes.values().filter(is_preferred).any(has_another);
            if diverts && !routes.get(&link_set.adjacent).is_some_and(has_another) {
                let adjacent = Point(link_set.adjacent, node.format);
                let (from, to) = (node.name.clone(), link_set.name.clone());
                timed.push(TimedChangeover { from, to, adjacent });
            }
        }
    }
    timed
}

/// All routes of all nodes, of whatever priority.
struct Alternatives<'a> {
    nodes: BTreeMap<PointCode, &'a Config>,
    routes: BTreeMap<PointCode, BTreeMap<PointCode, Vec<Route>>>,
}

impl<'a> Alternatives<'a> {
    fn new(nodes: &'a [Config]) -> Self {
        Self {
            nodes: nodes.iter().map(|node| (node.point_code, node)).collect(),
            routes: nodes.iter().map(|node| (node.point_code, node.routes())).collect(),
        }
    }

    /// The priorities and adjacent points of a node's routes to a destination, best first.
    fn hops(&self, at: PointCode, destination: PointCode) -> Vec<(u8, PointCode)> {
        let routes = self.routes[&at].get(&destination).into_iter().flatten();
        let link_sets = &self.nodes[&at].link_sets;
        let hop = |route: &Route| (route.priority, link_sets[usize::from(route.link_set.0)].adjacent);
        routes.map(hop).collect()
    }

    /// Why nothing that `from` sends over `via` comes to a destination; `None` if some of it can.
    fn dead_end(
        &self,
        from: PointCode,
        via: &Config,
        destination: PointCode,
    ) -> Option<DeadAlternativeReason> {
        let mut passed = vec![from];
        let mut ahead = vec![via.point_code];
        while let Some(at) = ahead.pop() {
            let node = self.nodes.get(&at).filter(|_| at != destination)?;
            if passed.contains(&at) {
                continue;
            }
            passed.push(at);
            if node.function == Function::TransferPoint {
                ahead.extend(self.hops(at, destination).into_iter().map(|(_, next)| next));
            }
        }
        Some(match via.function {
            Function::EndPoint => DeadAlternativeReason::NoTransfer(via.name.clone()),
            Function::TransferPoint if self.hops(via.point_code, destination).is_empty() => {
                DeadAlternativeReason::NoRoute(via.name.clone())
            }
            Function::TransferPoint => DeadAlternativeReason::Astray,
        })
    }
}

type NextHops = BTreeMap<PointCode, Vec<PointCode>>;

/// The adjacent points of the normal routes to each destination.
fn next_hops(node: &Config) -> NextHops {
    let normal = |routes: &[Route]| {
        let best = routes.first().map(|route| route.priority);
        let normal = routes.iter().filter(|route| Some(route.priority) == best);
        normal.map(|route| node.link_sets[usize::from(route.link_set.0)].adjacent).collect()
    };
    node.routes().into_iter().map(|(code, routes)| (code, normal(&routes))).collect()
}

/// Walks all normal routes from a node to a destination.
fn follow(
    from: &Config,
    destination: PointCode,
    by_code: &BTreeMap<PointCode, &Config>,
    next_hops: &BTreeMap<PointCode, NextHops>,
) -> Option<NetworkFault> {
    let point = Point(destination, from.format);
    let mut paths = vec![vec![from]];
    let mut done = Vec::new();
    while let Some(path) = paths.pop() {
        let at = *path.last()?;
        if done.contains(&at.point_code) {
            continue;
        }
        done.push(at.point_code);
        if path.len() > 1 && at.function == Function::EndPoint {
            return Some(NetworkFault::NoTransfer {
                from: from.name.clone(),
                destination: point,
                at: at.name.clone(),
            });
        }
        if at.served.contains(&destination) {
            continue;
        }
        let Some(hops) = next_hops[&at.point_code].get(&destination) else {
            let (from, at) = (from.name.clone(), at.name.clone());
            return Some(NetworkFault::DeadEnd { from, destination: point, at });
        };
        for hop in hops.iter().filter(|hop| **hop != destination) {
            let Some(next) = by_code.get(hop) else { continue };
            if let Some(start) = path.iter().position(|passed| passed.point_code == *hop) {
                let mut path: Vec<_> = path[start..].iter().map(|node| node.name.clone()).collect();
                path.push(next.name.clone());
                return Some(NetworkFault::Loop { from: from.name.clone(), destination: point, path });
            }
            let mut longer = path.clone();
            longer.push(next);
            paths.push(longer);
        }
    }
    None
}
