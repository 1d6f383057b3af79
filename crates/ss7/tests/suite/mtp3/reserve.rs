//! Links in reserve: activated when another one of their link set has failed, deactivated when it is back.

use proptest::prelude::*;
use slantpath_base::Duration;
use slantpath_ss7::mtp3::node::{Config, ConfigError, Function, LinkActivity, Mtp3LinkId, SequenceNumbers};

use super::network::{Network, link_set, node};
use super::sequence::{CASES, any_step, assert_in_order, assert_whole, play};

/// Two points with links, of which the last ones are in reserve.
fn pair(links: u8, backups: &[u16]) -> Vec<Config> {
    let point = |code, far| {
        let link_set = link_set(far, links, SequenceNumbers::Bits24);
        let mut config = node(code, Function::EndPoint, vec![link_set]);
        config.backups = backups.iter().copied().map(Mtp3LinkId).collect();
        config
    };
    vec![point(1, 2), point(2, 1)]
}

/// Gives the links that are available, and those that nobody wants, at the first node.
fn links(network: &Network) -> (Vec<u16>, Vec<u16>) {
    let node = &network.nodes[0];
    let count = u16::try_from(network.wires.len()).unwrap();
    let with = |activity| {
        let has = |link: &u16| node.link_activity(Mtp3LinkId(*link)) == activity;
        (0..count).filter(has).collect::<Vec<_>>()
    };
    (with(LinkActivity::Available), with(LinkActivity::Inactive))
}

#[test]
fn a_backup_replaces_a_link_that_fails_and_goes_when_it_is_back() {
    let mut network = Network::new(pair(4, &[2, 3]));
    network.activate_all();
    assert_eq!(links(&network), (vec![0, 1], vec![2, 3]));
    network.break_wire(0, 0);
    network.run(Duration::from_secs(1));
    assert_eq!(links(&network), (vec![1, 2], vec![3]));
    network.break_wire(1, 1);
    network.run(Duration::from_secs(1));
    assert_eq!(links(&network), (vec![2, 3], vec![]));
    network.mend_wire(0);
    network.run(Duration::from_secs(5));
    assert_eq!(links(&network), (vec![0, 2], vec![3]));
    network.mend_wire(1);
    network.run(Duration::from_secs(5));
    assert_eq!(links(&network), (vec![0, 1], vec![2, 3]));
}

#[test]
fn a_backup_that_fails_is_replaced_by_the_next() {
    let mut network = Network::new(pair(3, &[1, 2]));
    network.activate_all();
    network.break_wire(1, 0);
    network.break_wire(0, 0);
    network.run(Duration::from_secs(1));
    // The first in reserve does not align: the broken wires are tried again and again.
    assert_eq!(links(&network).0, []);
    network.break_wire(2, 0);
    network.mend_wire(1);
    network.run(Duration::from_secs(5));
    assert_eq!(links(&network), (vec![1], vec![2]));
    network.break_wire(1, 0);
    network.mend_wire(2);
    network.run(Duration::from_secs(5));
    assert_eq!(links(&network).0, [2]);
}

#[test]
fn a_backup_replaces_a_link_that_management_takes_out() {
    let mut network = Network::new(pair(2, &[1]));
    network.activate_all();
    // Management's wish to activate a backup waits for a failure.
    assert_eq!(links(&network), (vec![0], vec![1]));
    let now = network.now;
    network.nodes.iter_mut().for_each(|node| node.deactivate(now, Mtp3LinkId(0)));
    network.run(Duration::from_secs(5));
    assert_eq!(links(&network), (vec![1], vec![0]));
    let now = network.now;
    network.nodes.iter_mut().for_each(|node| node.activate(now, Mtp3LinkId(0)));
    network.run(Duration::from_secs(5));
    assert_eq!(links(&network), (vec![0], vec![1]));
}

#[test]
fn a_link_set_of_backups_alone_is_refused() {
    let config = pair(2, &[0, 1]).remove(0);
    let faults = config.faults();
    assert!(matches!(&faults[..], [ConfigError::OnlyBackups { link_set, .. }] if link_set == "to-2"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    /// With two links and one in reserve, of which two may be out.
    #[test]
    fn with_a_backup_everything_arrives_once_and_in_order(
        steps in proptest::collection::vec(any_step(3), 1..400),
    ) {
        let (network, sent) = play(pair(3, &[2]), &steps, 2);
        assert_in_order(&network)?;
        assert_whole(&network, &sent)?;
        prop_assert_eq!(links(&network), (vec![0, 1], vec![2]));
    }
}
