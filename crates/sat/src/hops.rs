//! Next hops of satellites that have been looked up since routes were last worked out.
//!
//! A route's next hop stands behind a chain of tables (destination, tree, contact, link), each of which a packet-hop
//! would wait for. Between two changes of the routes it is the same for all packets.

use slantpath_net::{DestinationId, DirectionId, NodeId};

/// Next hops by destination and node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hops {
    /// Number of nodes in the network.
    nodes: usize,
    /// Revision of the entries that hold: others are of earlier routes.
    revision: u32,
    /// By destination, or label, and node. A destination to which nobody sends has no entries.
    rows: Vec<Vec<Entry>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    revision: u32,
    direction: DirectionId,
}

impl Hops {
    /// None of a network of so many nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { nodes, revision: 1, rows: Vec::new() }
    }

    /// The next hop, if it has been looked up.
    #[inline]
    pub(crate) fn get(&self, node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        let entry = self.rows.get(destination.index())?.get(node.index())?;
        (entry.revision == self.revision).then_some(entry.direction)
    }

    /// Keeps a next hop until routes change.
    pub(crate) fn keep(&mut self, node: NodeId, destination: DestinationId, direction: DirectionId) {
        let Self { nodes, revision, rows } = self;
        if rows.len() <= destination.index() {
            rows.resize_with(destination.index() + 1, Vec::new);
        }
        let row = &mut rows[destination.index()];
        if row.is_empty() {
            row.resize(*nodes, Entry { revision: 0, direction });
        }
        row[node.index()] = Entry { revision: *revision, direction };
    }

    /// Forgets all: routes have changed.
    pub(crate) fn forget(&mut self) {
        self.revision = self.revision.checked_add(1).unwrap_or_else(|| {
            self.rows.clear();
            1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::{DataRate, Duration};
    use slantpath_net::{DirectionConfig, LinkId, NetworkBuilder, QueueConfig, QueueLimit};

    /// Two nodes and a link.
    fn network() -> ([NodeId; 2], LinkId) {
        let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
        let direction = DirectionConfig::new(DataRate::from_bits_per_sec(1_000), Duration::ZERO, queue);
        let mut builder = NetworkBuilder::new();
        let nodes = [builder.router("one"), builder.router("other")];
        let link = builder.link("link", nodes[0], nodes[1], direction.clone(), direction);
        (nodes, link)
    }

    #[test]
    fn a_hop_is_known_for_its_node_and_destination_until_routes_change() {
        let ([one, other], link) = network();
        let [first, second] = [0, 3].map(DestinationId::from_index);
        let mut hops = Hops::new(2);
        assert_eq!(hops.get(one, first), None);
        hops.keep(one, second, link.forward());
        assert_eq!(hops.get(one, second), Some(link.forward()));
        assert_eq!(hops.get(other, second), None);
        assert_eq!(hops.get(one, first), None);
        hops.keep(other, second, link.reverse());
        assert_eq!(
            [one, other].map(|node| hops.get(node, second)),
            [Some(link.forward()), Some(link.reverse())]
        );
        hops.forget();
        assert_eq!([one, other].map(|node| hops.get(node, second)), [None; 2]);
        hops.keep(one, second, link.reverse());
        assert_eq!([one, other].map(|node| hops.get(node, second)), [Some(link.reverse()), None]);
    }

    #[test]
    fn no_hop_comes_back_when_the_number_of_changes_begins_anew() {
        let ([one, other], link) = network();
        let destination = DestinationId::from_index(0);
        let mut hops = Hops::new(2);
        hops.keep(one, destination, link.forward());
        hops.revision = u32::MAX;
        hops.keep(other, destination, link.forward());
        hops.forget();
        assert_eq!([one, other].map(|node| hops.get(node, destination)), [None; 2]);
    }
}
