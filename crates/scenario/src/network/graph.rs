//! The graph: every node is joined, every flow has a route.

use std::collections::{BTreeSet, VecDeque};

use slantpath_reader::{Fault, Faults};

use crate::link::check::links_of;
use crate::schema::{File, NodeKind};

pub(crate) fn check(file: &File, faults: &mut Faults) {
    for (name, node) in file.nodes.iter() {
        if links_of(file, name).next().is_none() {
            let help = "join it by a table `[links.<name>]`, or remove it";
            faults.report(node.place(), Fault::new(format!("node `{name}` has no link")).help(help));
        }
    }
    for (_, flow) in file.flows.iter() {
        let (from, to) = (flow.from.as_str(), flow.to.as_str());
        let known = file.nodes.find(from).is_some() && file.nodes.find(to).is_some();
        if known && from != to && !reachable(file, from).contains(to) {
            let message = format!("no route leads from `{from}` to `{to}`");
            let help = "join them by a link, or over nodes of kind `router`; hosts forward nothing";
            faults.report(flow.to.place(), Fault::new(message).help(help));
        }
    }
}

/// The nodes that packets from a host reach: over its links, and on over routers.
fn reachable<'a>(file: &'a File, from: &'a str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::from([from]);
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        let forwards =
            node == from || file.nodes.find(node).is_some_and(|node| *node.kind == NodeKind::Router);
        if !forwards {
            continue;
        }
        for (_, link) in file.links.iter() {
            let (first, second) = (link.ends.0.as_str(), link.ends.1.as_str());
            for (near, far) in [(first, second), (second, first)] {
                if near == node && seen.insert(far) {
                    waiting.push_back(far);
                }
            }
        }
    }
    seen
}
