//! What may be wrong between the nodes of a network although each is right by itself.

use std::collections::BTreeMap;

use crate::PointCode;
use crate::mtp3::node::config::{Config, Function, Point};

/// A contradiction between nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkFault {
    /// Following the normal routes to a destination leads in a circle.
    #[error("messages from `{from}` to {destination} go in a circle: {}", path.join(" > "))]
    Loop {
        /// Where the messages start.
        from: String,
        /// Where they should go.
        destination: Point,
        /// The names of the nodes that they pass, the first twice.
        path: Vec<String>,
    },
    /// A node on the normal route to a destination has no route to it.
    #[error("messages from `{from}` to {destination} end at `{at}`, which has no route there")]
    DeadEnd {
        /// Where the messages start.
        from: String,
        /// Where they should go.
        destination: Point,
        /// Where they end.
        at: String,
    },
    /// A node on the normal route to a destination transfers nothing.
    #[error("messages from `{from}` to {destination} end at `{at}`, which is no transfer point")]
    NoTransfer {
        /// Where the messages start.
        from: String,
        /// Where they should go.
        destination: Point,
        /// Where they end.
        at: String,
    },
    /// A link set has no counterpart at its far end.
    #[error("link set `{link_set}` of `{node}` leads to `{far}`, which has none back")]
    OneWay {
        /// The node.
        node: String,
        /// Its link set.
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

type NextHops = BTreeMap<PointCode, Vec<PointCode>>;

/// The adjacent points of the normal routes to each destination.
fn next_hops(node: &Config) -> NextHops {
    let normal = |routes: &[crate::mtp3::node::table::Route]| {
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
