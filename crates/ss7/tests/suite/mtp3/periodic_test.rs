//! The periodic link test of Q.707, which a network may leave out.

use slantpath_base::Duration;
use slantpath_ss7::mtp3::node::{Function, LinkActivity, Mtp3LinkId, Procedure, SequenceNumbers};

use super::network::{Network, link_set, node};

/// Messages that the first of two points has sent over their link as it is in service, and an hour later.
fn sent(periodic_link_test: Procedure) -> [u64; 2] {
    let point = |code, far| {
        let mut config = node(code, Function::EndPoint, vec![link_set(far, 1, SequenceNumbers::Bits24)]);
        config.periodic_link_test = periodic_link_test;
        config
    };
    let mut network = Network::new(vec![point(1, 2), point(2, 1)]);
    network.activate_all();
    let count = |network: &Network| network.nodes[0].link_measurements(Mtp3LinkId(0)).sent_msus;
    let before = count(&network);
    network.run(Duration::from_secs(3_600));
    assert_eq!(network.nodes[0].link_activity(Mtp3LinkId(0)), LinkActivity::Available);
    [before, count(&network)]
}

#[test]
fn a_link_in_service_is_tested_every_minute_or_no_more() {
    let [before, after] = sent(Procedure::Used);
    // A test of its own and the answer to the other's, each minute.
    assert!((118..=120).contains(&(after - before)), "{before} and {after}");
    let [before, after] = sent(Procedure::Omitted);
    assert!(before >= 2, "a link that comes into service is tested");
    assert_eq!(after, before);
}
