//! A single search over the graph of an instant, for routes that no tree holds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Graph, UNREACHABLE};
use super::router::Path;
use crate::contact::ContactId;
use crate::network::NodeId;

/// Links that leave a node: its core links, or its access links where it only sends and receives. Access
/// links towards sites are not among a satellite's; see [`shortest`].
fn links(graph: &Graph<'_>, node: NodeId) -> Vec<(NodeId, u32, ContactId)> {
    if graph.is_core(node) {
        let arcs = graph.arcs(node.0).iter();
        return arcs
            .map(|arc| (NodeId(arc.peer), graph.weights[arc.slot as usize], graph.contact_in(arc.slot)))
            .collect();
    }
    let site = node.index() - (graph.node_count() - graph.access.len());
    graph.access[site]
        .iter()
        .map(|access| (NodeId(access.satellite), access.weight, access.contact))
        .collect()
}

/// The shortest path over nodes that are allowed, by a plain Dijkstra.
pub(super) fn shortest(
    graph: &Graph<'_>,
    from: NodeId,
    to: NodeId,
    allowed: &dyn Fn(NodeId) -> bool,
) -> Option<Path> {
    let mut distance = vec![UNREACHABLE; graph.node_count()];
    let mut before: Vec<Option<(NodeId, ContactId)>> = vec![None; graph.node_count()];
    // A site that does not relay is entered only as the end: by its own access links, turned round.
    let last: Vec<(NodeId, u32, ContactId)> = if graph.is_core(to) { Vec::new() } else { links(graph, to) };
    let mut heap = BinaryHeap::from([Reverse((0_u32, from))]);
    distance[from.index()] = 0;
    while let Some(Reverse((here, node))) = heap.pop() {
        if node == to {
            break;
        }
        if here > distance[node.index()] {
            continue;
        }
        let closing =
            last.iter().filter(|link| link.0 == node).map(|&(_, weight, contact)| (to, weight, contact));
        for (peer, weight, contact) in links(graph, node).into_iter().chain(closing) {
            let beyond = here.saturating_add(weight);
            if beyond < distance[peer.index()] && allowed(peer) {
                distance[peer.index()] = beyond;
                before[peer.index()] = Some((node, contact));
                heap.push(Reverse((beyond, peer)));
            }
        }
    }
    let mut path = Path { nodes: vec![to], contacts: Vec::new() };
    let mut at = to;
    while at != from {
        let (node, contact) = before[at.index()]?;
        path.nodes.push(node);
        path.contacts.push(contact);
        at = node;
    }
    path.nodes.reverse();
    path.contacts.reverse();
    Some(path)
}

/// The contact that joins two nodes, the quicker one if there are two.
pub(super) fn contact_between(graph: &Graph<'_>, a: NodeId, b: NodeId) -> Option<ContactId> {
    let (from, to) = if graph.is_core(a) && !graph.is_core(b) { (b, a) } else { (a, b) };
    let joining = links(graph, from).into_iter().filter(|link| link.0 == to);
    joining.min_by_key(|link| (link.1, link.2)).map(|link| link.2)
}
