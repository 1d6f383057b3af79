//! A running node that is given another configuration.

use slantpath_ss7::mtp3::NetworkIndicator;
use slantpath_ss7::sccp::gtt::{
    Conditions, DigitPattern, Entity, Group, RouteOn, Rule, Sharing, TitleChange, Translator,
};
use slantpath_ss7::sccp::{Indication, Message, Node, NodeConfig, Remote, ScmgMessage, Ssn, Subsystem};
use slantpath_ss7::transfer::TransferIndication;

use super::net::{A, B, C, HLR, Net, VLR, at, config, request, titled};

/// Rules from prefixes to nodes; `turns` is a group of two that are taken in turns.
fn translator(prefixes: &[(&str, &str)]) -> Translator {
    let entity = |code| Entity { point_code: code, ssn: None, routing: RouteOn::Ssn, weight: 1 };
    let group = |name: &str, codes: &[_]| Group {
        name: name.to_owned(),
        sharing: Sharing::Turns,
        entities: codes.iter().map(|code| entity(*code)).collect(),
    };
    let rule = |(digits, group): &(&str, &str)| Rule {
        name: (*digits).to_owned(),
        digits: DigitPattern::parse(digits).unwrap(),
        conditions: Conditions::default(),
        change: TitleChange::default(),
        group: (*group).to_owned(),
    };
    let groups = vec![group("b", &[B]), group("c", &[C]), group("turns", &[B, C])];
    Translator::new(prefixes.iter().map(rule).collect(), groups).unwrap()
}

fn with_rules(prefixes: &[(&str, &str)]) -> NodeConfig {
    NodeConfig { translator: translator(prefixes), ..config(A) }
}

fn reload(net: &mut Net, config: NodeConfig) {
    let mut node = Node::new(config).unwrap();
    let former = net.nodes.remove(&A).unwrap();
    node.take_over(net.now, former);
    net.nodes.insert(A, node);
    net.settle();
}

fn arrivals(net: &mut Net, digits: &str, ssn: Ssn) -> [usize; 2] {
    net.unitdata(A, request(titled(digits, ssn), "x"));
    [B, C].map(|code| {
        let is_unitdata = |told: &&Indication| matches!(told, Indication::Unitdata { .. });
        net.indications(code).iter().filter(is_unitdata).count()
    })
}

#[test]
fn titles_take_new_ways_at_once_and_turns_go_on() {
    let mut net = Net::new([with_rules(&[("49*", "b"), ("7", "turns")]), config(B), config(C)]);
    assert_eq!(arrivals(&mut net, "4912", HLR), [1, 0]);
    assert_eq!((arrivals(&mut net, "7", HLR), arrivals(&mut net, "7", HLR)), ([1, 0], [0, 1]));
    assert_eq!(arrivals(&mut net, "7", HLR), [1, 0]);
    reload(&mut net, with_rules(&[("4*", "b"), ("491*", "c"), ("7", "turns")]));
    assert_eq!((arrivals(&mut net, "4912", HLR), arrivals(&mut net, "41", HLR)), ([0, 1], [1, 0]));
    assert_eq!((arrivals(&mut net, "7", HLR), arrivals(&mut net, "7", HLR)), ([0, 1], [1, 0]));
}

#[test]
fn what_is_known_of_others_is_known_after_it() {
    let mut net = Net::three();
    let now = net.now;
    net.node(B).set_subsystem(now, HLR, false).unwrap();
    net.settle();
    net.unitdata(A, request(at(B, HLR), "x"));
    net.indicate(A, TransferIndication::Pause(C));
    let mut own = config(A);
    let other = Ssn(9);
    own.remotes.get_mut(&C).unwrap().subsystems.insert(other);
    reload(&mut net, own);
    net.sent.clear();
    net.indications.clear();
    for called in [at(B, HLR), at(C, VLR), at(C, other)] {
        net.unitdata(A, request(called, "x"));
    }
    assert_eq!(net.trace(), Vec::<String>::new());
    assert!(net.indications(B).is_empty() && net.indications(C).is_empty());
    // The test of the subsystem that is out of service goes on.
    net.node(B).set_subsystem(now, HLR, true).unwrap();
    net.pass(slantpath_base::Duration::from_secs(10));
    net.unitdata(A, request(at(B, HLR), "x"));
    assert!(net.indications(B).iter().any(|told| matches!(told, Indication::Unitdata { .. })));
}

#[test]
fn a_subsystem_that_goes_is_told_to_concerned_points_and_one_that_stays_is_not() {
    let mut own = config(A);
    for subsystem in own.subsystems.values_mut() {
        *subsystem = Subsystem { concerned: [B].into(), backup: None };
    }
    let mut net = Net::new([own.clone(), config(B), config(C)]);
    net.settle();
    net.sent.clear();
    own.subsystems.remove(&HLR);
    reload(&mut net, own);
    let told: Vec<_> = net.sent.drain(..).collect();
    let [told] = &told[..] else { panic!("{told:?}") };
    let Ok(Message::Udt { data, .. }) = Message::parse(&told.user_data) else { panic!("{told:?}") };
    let Ok(ScmgMessage::Ssp(affected)) = ScmgMessage::parse(&data) else { panic!("{data:?}") };
    assert_eq!((affected.ssn, affected.point_code), (HLR, A));
}

#[test]
fn what_a_running_node_keeps_is_named() {
    let own = config(A);
    assert_eq!(own.fixed_difference(&own.clone()), None);
    let other = NodeConfig { network: NetworkIndicator::International, ..own.clone() };
    assert_eq!(own.fixed_difference(&other), Some("network indicator"));
    let mut other = own.clone();
    other.remotes.insert(slantpath_ss7::PointCode(77), Remote::default());
    assert_eq!(own.fixed_difference(&other), None);
}
