//! The graph: every node is joined, every flow has a route.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_base::DataSize;
use slantpath_reader::{Fault, Faults, Tables, Written};

use crate::link::wiring::Wiring;
use crate::schema::NodeKind;
use crate::written::{Flow, Sessions};

pub(crate) fn check(
    wiring: Wiring<'_, Written>,
    flows: &Tables<Flow>,
    sessions: &Tables<Sessions>,
    faults: &mut Faults,
) {
    let graph = Graph::new(wiring);
    for (name, node) in wiring.nodes.iter() {
        if !graph.neighbours.contains_key(name) {
            let help =
                "join it by a table `[links.<name>]`, let it stand under the sky with `site`, or remove it";
            faults.report(node.place(), Fault::new(format!("node `{name}` has no link")).help(help));
        }
        if let Some(dscp) = node.dscp.filter(|_| *node.kind == NodeKind::Router) {
            let help = "give it to the hosts whose packets it is to mark";
            faults.report(dscp.place(), Fault::new("a router marks no packets").help(help));
        }
        for (key, size) in [("tcp_rmem", node.tcp_rmem), ("tcp_wmem", node.tcp_wmem)] {
            let Some(size) = size else { continue };
            if *node.kind != NodeKind::Attached {
                let help = "a simulated host has `receive_buffer` and `send_buffer` of `[tcp.<name>]`";
                let message = format!("`{key}` is of the kernel, which attached nodes have");
                faults.report(size.place(), Fault::new(message).help(help));
            } else if *size < LEAST_KERNEL_BUFFER {
                let message = format!("{} is less than the {LEAST_KERNEL_BUFFER} of a page", *size);
                faults.report(size.place(), Fault::new(message).help("write a size like `64 MiB`"));
            }
        }
        if let Some(serve) = node.serve.as_ref().filter(|_| *node.kind != NodeKind::Host) {
            let (message, help) = match *node.kind {
                NodeKind::Attached => {
                    ("services of an attached node are its programs", "run one there, or attach another node")
                }
                NodeKind::Host | NodeKind::Router => ("a router serves nobody", "let a host serve"),
            };
            faults.report(serve.place(), Fault::new(message).help(help));
        }
    }
    let flows = flows.iter().map(|(_, flow)| (&flow.from, &flow.to));
    let sessions = sessions.iter().map(|(_, sessions)| (&sessions.from, &sessions.to));
    for (from, to_setting) in flows.chain(sessions) {
        let (from, to) = (from.as_str(), to_setting.as_str());
        let known = wiring.nodes.find(from).is_some() && wiring.nodes.find(to).is_some();
        if known && from != to && !graph.leads(from, to) {
            let message = format!("no route leads from `{from}` to `{to}`");
            let help = "join them by a link, or over nodes of kind `router`; hosts forward nothing";
            faults.report(to_setting.place(), Fault::new(message).help(help));
        }
    }
}

/// Least size to which the kernel grows a buffer: what both settings begin with.
const LEAST_KERNEL_BUFFER: DataSize = DataSize::from_bytes(4_096);

/// The sky, among nodes: no node has this name.
const SKY: &str = "";

/// Nodes that are joined, and those of them that are joined over routers.
struct Graph<'a> {
    neighbours: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// By router: the number that it has in common with all that it is joined with over routers.
    islands: BTreeMap<&'a str, usize>,
}

impl<'a> Graph<'a> {
    fn new(wiring: Wiring<'a, Written>) -> Self {
        let mut neighbours = BTreeMap::<&str, BTreeSet<&str>>::new();
        for (_, link) in wiring.links.iter() {
            let (first, second) = (link.ends.0.as_str(), link.ends.1.as_str());
            neighbours.entry(first).or_default().insert(second);
            neighbours.entry(second).or_default().insert(first);
        }
        let routers = wiring.nodes.iter().filter(|(_, node)| *node.kind == NodeKind::Router);
        let mut routers: BTreeSet<&str> = routers.map(|(name, _)| name).collect();
        // Whatever stands under the sky is joined by it, as by a router.
        for (name, _) in wiring.nodes.iter().filter(|(_, node)| node.site.is_some()) {
            routers.insert(SKY);
            neighbours.entry(SKY).or_default().insert(name);
            neighbours.entry(name).or_default().insert(SKY);
        }
        let mut islands = BTreeMap::new();
        for (number, router) in routers.iter().enumerate() {
            let mut waiting = vec![*router];
            while let Some(node) = waiting.pop() {
                if routers.contains(node) && !islands.contains_key(node) {
                    islands.insert(node, number);
                    waiting.extend(neighbours.get(node).into_iter().flatten());
                }
            }
        }
        Self { neighbours, islands }
    }

    /// Tells whether packets get from a host to another node: over its links, and on over routers.
    fn leads(&self, from: &str, to: &str) -> bool {
        let around = |node: &str| self.neighbours.get(node).into_iter().flatten().copied();
        let islands = |node: &str| -> BTreeSet<usize> {
            around(node).filter_map(|neighbour| self.islands.get(neighbour).copied()).collect()
        };
        around(from).any(|neighbour| neighbour == to) || !islands(from).is_disjoint(&islands(to))
    }
}
