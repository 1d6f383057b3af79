//! Links of the graph of an instant, for routes that no tree holds.

use super::graph::Graph;
use crate::contact::ContactId;
use crate::network::ContactNodeId;

/// A link as seen from one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) peer: ContactNodeId,
    pub(super) weight: u32,
    pub(super) contact: ContactId,
}

/// Links that leave a node: its core links, or its access links where it only sends and receives. Access
/// links towards sites are not among a satellite's.
pub(super) fn links(graph: &Graph<'_>, node: ContactNodeId) -> Vec<Step> {
    if graph.is_core(node) {
        let step = |arc: &super::graph::Arc| Step {
            peer: ContactNodeId(arc.peer),
            weight: graph.weights[arc.slot as usize],
            contact: graph.contact_in(arc.slot),
        };
        return graph.arcs(node.0).iter().map(step).collect();
    }
    let site = node.index() - (graph.node_count() - graph.access.len());
    let step = |access: &super::graph::Access| Step {
        peer: ContactNodeId(access.satellite),
        weight: access.weight,
        contact: access.contact,
    };
    graph.access[site].iter().filter(|access| !access.is_superseded).map(step).collect()
}

/// The contact that joins two nodes, the quicker one if there are two.
pub(super) fn contact_between(graph: &Graph<'_>, a: ContactNodeId, b: ContactNodeId) -> Option<ContactId> {
    let (from, to) = if graph.is_core(a) && !graph.is_core(b) { (b, a) } else { (a, b) };
    let joining = links(graph, from).into_iter().filter(|step| step.peer == to);
    joining.min_by_key(|step| (step.weight, step.contact)).map(|step| step.contact)
}
