//! The pairs of sites that flows need joined: where satellites do not forward, the antennas of a pair choose together.

use std::collections::BTreeSet;

use slantpath_orbit::pair::SitePair;

use super::routes;
use crate::schema::{File, Node, NodeKind};

/// One for each two sites by which a flow or sessions go, in their order.
pub(super) fn of_flows(file: &File) -> Vec<SitePair> {
    let mut pairs: Vec<SitePair> = Vec::new();
    let flows = file.flows.iter().map(|(_, flow)| (&flow.from, &flow.to));
    let sessions = file.sessions.iter().map(|(_, sessions)| (&sessions.from, &sessions.to));
    for (from, to) in flows.chain(sessions) {
        for from in sites_of(file, from) {
            for to in sites_of(file, to) {
                let satellites = routes::satellites_of(file, &from, &to);
                let pair = |from: &str, to: &str| SitePair {
                    satellites: satellites.clone(),
                    ..SitePair::new(from, to)
                };
                let (pair, turned) = (pair(&from, &to), pair(&to, &from));
                if from != to && !pairs.contains(&pair) && !pairs.contains(&turned) {
                    let second = SitePair { is_apart: true, ..pair.clone() };
                    pairs.push(pair);
                    if needs_two(file, &from, &to) {
                        pairs.push(second);
                    }
                }
            }
        }
    }
    pairs
}

/// Tells whether packets between two sites go by two antennas of each at once.
fn needs_two(file: &File, from: &str, to: &str) -> bool {
    let node = |site: &str| {
        let nodes = file.nodes.iter().map(|(_, node)| node);
        nodes.into_iter().find(|node| node.site.as_ref().is_some_and(|own| **own == *site))
    };
    let (Some(from_node), Some(to_node)) = (node(from), node(to)) else { return false };
    let has_two = |node: &Node| node.antennas.as_ref().is_some_and(|antennas| antennas.len() > 1);
    let is_spread = from_node.balance.or(to_node.balance).is_some();
    has_two(from_node) && has_two(to_node) && (is_spread || routes::are_disjoint(file, from, to))
}

/// The sites from which a host reaches the sky: its own, or those of routers that it is joined with on the ground.
pub fn sites_of(file: &File, host: &str) -> BTreeSet<String> {
    let site = |node: &str| Some((**file.nodes.find(node)?.site.as_ref()?).clone());
    match site(host) {
        Some(own) => BTreeSet::from([own]),
        None => on_the_ground(file, host)
            .into_iter()
            .filter(|node| is_router(file, node))
            .filter_map(site)
            .collect(),
    }
}

/// The sites that routers join on the ground: what comes down at one of them may go up again at another.
pub fn relays(file: &File) -> Vec<BTreeSet<String>> {
    let mut joined: Vec<BTreeSet<String>> = Vec::new();
    for (name, node) in file.nodes.iter().filter(|(name, _)| is_router(file, name)) {
        let Some(site) = &node.site else { continue };
        if joined.iter().any(|sites| sites.contains(&**site)) {
            continue;
        }
        let routers = on_the_ground(file, name).into_iter().filter(|node| is_router(file, node));
        let sites: BTreeSet<String> =
            routers.filter_map(|node| Some((**file.nodes.find(node)?.site.as_ref()?).clone())).collect();
        if sites.len() > 1 {
            joined.push(sites);
        }
    }
    joined
}

/// The nodes that packets of a host reach by links of the scenario alone. Cables of the topology are part of its sky.
pub fn on_the_ground<'a>(file: &'a File, host: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut waiting) = (BTreeSet::from([host]), vec![host]);
    while let Some(node) = waiting.pop() {
        let wires = file.links.iter().filter(|(_, link)| link.cable.is_none_or(|cable| !*cable));
        for (_, link) in wires {
            let ends = [link.ends.0.as_str(), link.ends.1.as_str()];
            for (one, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                // Hosts forward nothing.
                if one == node && seen.insert(other) && is_router(file, other) {
                    waiting.push(other);
                }
            }
        }
    }
    seen
}

fn is_router(file: &File, node: &str) -> bool {
    file.nodes.find(node).is_some_and(|node| *node.kind == NodeKind::Router)
}
