//! Receivers of what each direction carries.

use crate::graph::{NetworkGraph, NodeKind};
use crate::link::LinkDirection;
use crate::{DirectionId, InterfaceId, NodeId};

/// Receiver of what a direction carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Receiver {
    /// With its place among the hosts.
    Host(u32),
    /// Host at the end of a contact, with its place among the hosts, for as long as that is certain.
    HostOfContact(u32),
    /// Whoever the contact leads to that held when the packet left.
    OfContact,
    Outside,
    Repeater(NodeId),
    Router(NodeId),
}

/// The receivers of all directions.
#[derive(Clone, Debug)]
pub(crate) struct Receivers {
    /// By direction. A contact's stands here, too, while it is certain, and not outside.
    by_direction: Vec<Receiver>,
    /// Receiver that each node is.
    by_node: Vec<Receiver>,
    /// The interface as which each direction's receiver gets what comes by a contact.
    arrives_as: Vec<InterfaceId>,
}

impl Receivers {
    pub(crate) fn new(graph: &NetworkGraph) -> Self {
        let by_node: Vec<Receiver> =
            graph.nodes.iter().zip(0..).map(|(node, id)| receiver(&node.kind, NodeId(id))).collect();
        let at_end = |index: usize| by_node[graph.interfaces[index ^ 1].node.index()];
        let mut by_direction: Vec<Receiver> = (0..graph.directions.len()).map(at_end).collect();
        let arrives_as = |index| {
            #[expect(clippy::cast_possible_truncation, reason = "numbered by 32 bits")]
            let own = DirectionId(index as u32).receiver();
            graph.receiving_interface(own)
        };
        let arrives_as = (0..graph.directions.len()).map(arrives_as).collect();
        for direction in graph.contact_links.iter().flat_map(|link| [link.forward(), link.reverse()]) {
            by_direction[direction.index()] = Receiver::OfContact;
        }
        Self { by_direction, by_node, arrives_as }
    }

    /// A contact of a direction begins, and `only` receives all that will come off it until another does, if one node
    /// does.
    pub(crate) fn begin_contact(&mut self, id: DirectionId, only: Option<NodeId>) {
        let certain = only.map(|node| self.by_node[node.index()]);
        self.by_direction[id.index()] = match certain {
            Some(Receiver::Host(host)) => Receiver::HostOfContact(host),
            Some(known @ (Receiver::Repeater(_) | Receiver::Router(_))) => known,
            _ => Receiver::OfContact,
        };
    }

    /// Receiver of the packet that came off a direction last, and the interface as which it receives.
    #[inline]
    pub(crate) fn of_last(&self, id: DirectionId, direction: &LinkDirection) -> (Receiver, InterfaceId) {
        match self.by_direction[id.index()] {
            Receiver::HostOfContact(host) => (Receiver::Host(host), self.arrives_as[id.index()]),
            Receiver::OfContact => self.of_contact(id, direction),
            receiver => (receiver, id.receiver()),
        }
    }

    #[inline(never)]
    fn of_contact(&self, id: DirectionId, direction: &LinkDirection) -> (Receiver, InterfaceId) {
        let node = direction.receiver_of_last().expect("what has left did so in a contact");
        (self.by_node[node.index()], self.arrives_as[id.index()])
    }
}

/// Receiver that a node of this kind is.
const fn receiver(kind: &NodeKind, node: NodeId) -> Receiver {
    match *kind {
        #[expect(clippy::cast_possible_truncation, reason = "numbered by 32 bits")]
        NodeKind::Host(host) => Receiver::Host(host as u32),
        NodeKind::Outside => Receiver::Outside,
        NodeKind::Repeater => Receiver::Repeater(node),
        NodeKind::Router => Receiver::Router(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NetworkBuilder;
    use crate::link::queue::QueueConfig;
    use crate::link::{DirectionConfig, QueueLimit};
    use slantpath_base::{DataRate, Duration};

    #[test]
    fn who_receives_over_a_contact_stands_in_the_table_while_it_is_certain() {
        let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
        let direction =
            DirectionConfig::new(DataRate::from_bits_per_sec(1_000), Duration::from_millis(1), queue);
        let mut builder = NetworkBuilder::new();
        let (host, low, high) = (builder.host("host"), builder.router("low"), builder.repeater("high"));
        let outside = builder.outside("outside");
        let link = builder.contact_link("sky", host, low, direction.clone(), direction);
        let graph = builder.build().unwrap();
        let mut receivers = Receivers::new(&graph);
        let id = link.forward();
        let receiver = |receivers: &Receivers| receivers.by_direction[id.index()];
        assert!(matches!(receiver(&receivers), Receiver::OfContact));
        receivers.begin_contact(id, Some(low));
        assert!(matches!(receiver(&receivers), Receiver::Router(node) if node == low));
        receivers.begin_contact(id, Some(high));
        assert!(matches!(receiver(&receivers), Receiver::Repeater(node) if node == high));
        receivers.begin_contact(id, None);
        assert!(matches!(receiver(&receivers), Receiver::OfContact));
        receivers.begin_contact(id, Some(host));
        assert!(matches!(receiver(&receivers), Receiver::HostOfContact(0)));
        // What is outside has to be told the interface, and is looked for.
        receivers.begin_contact(id, Some(outside));
        assert!(matches!(receiver(&receivers), Receiver::OfContact));
    }
}
