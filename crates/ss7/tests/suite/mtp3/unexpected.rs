//! Management messages that mean nothing in the state are counted as such.

use slantpath_base::Instant;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{DiscardReason, Function, Mtp3LinkId, Procedure, SequenceNumbers};
use slantpath_ss7::mtp3::{ManagementMessage as M, Node, Slc};

use super::network::{Network, heard, link_set, node};

/// Point 2 sends a message about its second link to point 1, over the first.
fn bring(node: &mut Node, now: Instant, message: M) {
    let indication = heard(node, PointCode(2), Slc(1), message);
    node.handle_link(now, Mtp3LinkId(0), indication);
}

fn unexpected(node: &Node) -> u64 {
    node.counters().discarded(DiscardReason::Unexpected)
}

#[test]
fn inhibiting_messages_that_fit_no_state_are_counted() {
    let point = |code, far| node(code, Function::EndPoint, vec![link_set(far, 2, SequenceNumbers::Bits7)]);
    let mut network = Network::new(vec![point(1, 2), point(2, 1)]);
    network.activate_all();
    let now = network.now;
    // Asked for and not granted yet: nobody can take it for inhibited.
    network.nodes[0].inhibit(now, Mtp3LinkId(1)).unwrap();
    bring(&mut network.nodes[0], now, M::Lrt);
    bring(&mut network.nodes[0], now, M::Lfu);
    assert_eq!(unexpected(&network.nodes[0]), 2);
    // Granted: the question whether it is so has no other answer than none.
    bring(&mut network.nodes[0], now, M::Lia);
    bring(&mut network.nodes[0], now, M::Lrt);
    assert_eq!(unexpected(&network.nodes[0]), 2);
    bring(&mut network.nodes[0], now, M::Lia);
    assert_eq!(unexpected(&network.nodes[0]), 3);
}

#[test]
fn a_restart_allowed_of_a_point_that_cannot_be_reached_is_counted() {
    let mut config = node(1, Function::EndPoint, vec![link_set(2, 2, SequenceNumbers::Bits7)]);
    config.restart = Procedure::Used;
    let mut node = Node::new(config).unwrap();
    bring(&mut node, Instant::START, M::Tra);
    assert_eq!(unexpected(&node), 1);
}
