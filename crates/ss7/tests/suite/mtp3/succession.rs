//! A running node that is given another configuration.

use std::collections::BTreeSet;

use proptest::prelude::*;
use slantpath_base::Duration;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{
    Config, Function, LinkActivity, LinkSetId, Mtp3LinkId, RouteConfig, SequenceNumbers,
};
use slantpath_ss7::mtp3::{Node, Slc, Sls};
use slantpath_ss7::transfer::TransferIndication;

use super::network::{Network, link_set, node, route};

const TRANSFER_POINTS: [u32; 3] = [11, 12, 13];
const FAR: [u32; 2] = [2, 3];

/// Configuration of the first point, drawn by chance: its links to each transfer point by their codes, and the
/// priorities of routes over these.
#[derive(Clone, Debug)]
struct Drawn {
    links: [Vec<(u8, bool)>; 3],
    priorities: [[Option<u8>; 3]; 2],
    order: [usize; 3],
}

fn any_drawn() -> impl Strategy<Value = Drawn> {
    let links = || proptest::sample::subsequence(vec![0, 1, 2, 3], 0..4);
    let links = move || {
        links().prop_flat_map(|codes| {
            let count = codes.len();
            proptest::collection::vec(proptest::bool::weighted(0.2), count)
                .prop_map(move |backups| codes.iter().copied().zip(backups).collect::<Vec<_>>())
        })
    };
    let priority = || proptest::option::weighted(0.8, 0..2_u8);
    let priorities = move || [priority(), priority(), priority()];
    let order = Just([0, 1, 2]).prop_shuffle();
    ([links(), links(), links()], [priorities(), priorities()], order).prop_map(
        |(links, priorities, order)| {
            let mut drawn = Drawn { links, priorities, order };
            for links in &mut drawn.links {
                // One link of a set at least is no backup.
                if let Some((_, backup)) = links.first_mut() {
                    *backup = false;
                }
            }
            if drawn.links.iter().all(Vec::is_empty) {
                drawn.links[0].push((0, false));
            }
            drawn
        },
    )
}

impl Drawn {
    fn config(&self) -> Config {
        let mut config = node(1, Function::EndPoint, Vec::new());
        let mut id = 0;
        for place in self.order.into_iter().filter(|place| !self.links[*place].is_empty()) {
            let mut set = link_set(TRANSFER_POINTS[place], 4, SequenceNumbers::Bits24);
            set.links.retain(|link| self.links[place].iter().any(|(code, _)| Slc(*code) == link.slc));
            for (_, is_backup) in &self.links[place] {
                if *is_backup {
                    config.backups.push(Mtp3LinkId(id));
                }
                id += 1;
            }
            config.link_sets.push(set);
        }
        for (far, priorities) in FAR.into_iter().zip(self.priorities) {
            let places = (0..3).filter(|place| !self.links[*place].is_empty());
            let own = places.filter_map(|place| Some((TRANSFER_POINTS[place], priorities[place]?)));
            let mut own: Vec<_> = own.collect();
            // Two routes of one priority at most share the load.
            if own.len() == 3 && own.iter().all(|(_, priority)| *priority == own[0].1) {
                own[2].1 += 1;
            }
            if !own.is_empty() {
                config.destinations.push(route(far, &own));
            }
        }
        config
    }

    fn network(&self) -> Network {
        let mut configs = vec![self.config()];
        for (at, code) in TRANSFER_POINTS.into_iter().enumerate() {
            let mut sets = vec![link_set(1, 4, SequenceNumbers::Bits24)];
            sets.extend(FAR.map(|far| link_set(far, 2, SequenceNumbers::Bits24)));
            let mut config = node(code, Function::TransferPoint, sets);
            let mate = TRANSFER_POINTS[(at + 1) % 3];
            config.link_sets.extend(
                TRANSFER_POINTS
                    .into_iter()
                    .filter(|other| *other != code)
                    .map(|other| link_set(other, 1, SequenceNumbers::Bits24)),
            );
            config.destinations = vec![route(1, &[(1, 0), (mate, 1)])];
            configs.push(config);
        }
        for far in FAR {
            let sets = TRANSFER_POINTS.map(|code| link_set(code, 2, SequenceNumbers::Bits24));
            let mut config = node(far, Function::EndPoint, sets.to_vec());
            let routes = TRANSFER_POINTS.into_iter().zip(0..);
            config.destinations = vec![route(1, &routes.collect::<Vec<_>>())];
            configs.push(config);
        }
        let mut network = Network::new(configs);
        network.activate_all();
        network
    }
}

/// Everything by which a point can be told from another one, by codes: numbers of links are the same.
fn conduct(network: &Network) -> Vec<String> {
    let node = &network.nodes[0];
    let config = node.config();
    let count: usize = config.link_sets.iter().map(|set| set.links.len()).sum();
    let mut conduct = vec![format!("{config:?}")];
    for link in (0..u16::try_from(count).unwrap()).map(Mtp3LinkId) {
        conduct.push(format!("{link:?} {:?} {}", node.link_activity(link), node.is_link_available(link)));
    }
    for link_set in (0..u16::try_from(config.link_sets.len()).unwrap()).map(LinkSetId) {
        conduct.push(format!("{link_set:?} {:?}", node.adjacent_state(link_set)));
    }
    for code in TRANSFER_POINTS.into_iter().chain(FAR).map(PointCode) {
        let links: Vec<_> = (0..16).map(|sls| node.link_for(code, Sls(sls))).collect();
        conduct.push(format!("{code:?} {} {links:?}", node.is_accessible(code)));
    }
    conduct.push(format!("{} {:?}", node.waiting(), node.restart_state()));
    for far in &network.nodes[1..] {
        conduct.push(format!("reaches it: {}", far.is_accessible(PointCode(1))));
    }
    conduct
}

/// Links of the first point that both networks have, by far end and code, with their numbers in the latter.
fn failures(network: &Network, codes: &BTreeSet<(PointCode, Slc)>) -> Vec<u64> {
    let mut id = 0;
    let mut failures = Vec::new();
    for set in &network.nodes[0].config().link_sets {
        for link in &set.links {
            if codes.contains(&(set.adjacent, link.slc)) {
                failures.push(network.nodes[0].link_measurements(Mtp3LinkId(id)).failures);
            }
            id += 1;
        }
    }
    failures
}

fn codes(config: &Config) -> BTreeSet<(PointCode, Slc)> {
    config.link_sets.iter().flat_map(|set| set.links.iter().map(|link| (set.adjacent, link.slc))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_a_reload_a_point_is_what_it_would_be_if_it_had_been_started_so(
        former in any_drawn(),
        own in any_drawn(),
    ) {
        let mut network = former.network();
        let (before, after) = (codes(&former.config()), codes(&own.config()));
        let both: BTreeSet<_> = before.intersection(&after).copied().collect();
        network.reload(own.config());
        network.run(Duration::from_secs(200));
        prop_assert_eq!(conduct(&network), conduct(&own.network()));
        prop_assert!(failures(&network, &both).iter().all(|failures| *failures == 0));
    }

    #[test]
    fn traffic_over_a_reload_arrives_once_and_in_order(
        former in any_drawn(),
        own in any_drawn(),
        deliveries in proptest::collection::vec((0..20_usize, 1..4_u8), 20),
    ) {
        let mut network = former.network();
        let reached = |network: &Network| FAR.map(|far| network.nodes[0].is_accessible(PointCode(far)));
        let was_reached = reached(&network);
        let mut sent = [Vec::new(), Vec::new()];
        let mut number = 0;
        let mut send = |network: &mut Network, sent: &mut [Vec<u32>; 2]| {
            for sls in 0..16 {
                for (place, far) in FAR.into_iter().enumerate() {
                    number += 1;
                    if network.send(0, far, sls, number) {
                        sent[place].push(number);
                    }
                }
            }
        };
        send(&mut network, &mut sent);
        for (wire, count) in &deliveries {
            let wire = wire % network.wires.len();
            for _ in 0..*count {
                network.deliver(wire, 0);
            }
        }
        network.reload(own.config());
        send(&mut network, &mut sent);
        network.run(Duration::from_secs(5));
        send(&mut network, &mut sent);
        network.run(Duration::from_secs(5));
        for (place, far) in FAR.into_iter().enumerate() {
            let arrived = network.delivered.iter().filter(|(_, transfer)| transfer.label.dpc == PointCode(far));
            let numbers: Vec<u32> = arrived
                .clone()
                .map(|(_, transfer)| u32::from_be_bytes(transfer.user_data.as_ref().try_into().unwrap()))
                .collect();
            for sls in 0..16 {
                let own: Vec<u32> = arrived
                    .clone()
                    .filter(|(_, transfer)| transfer.label.sls == Sls(sls))
                    .map(|(_, transfer)| u32::from_be_bytes(transfer.user_data.as_ref().try_into().unwrap()))
                    .collect();
                prop_assert!(own.is_sorted_by(|one, next| one < next), "{own:?}");
            }
            // With a link in service and a route over it that both have, nothing is lost either.
            let routes = |drawn: &Drawn, adjacent: u32| {
                let to = drawn.config().destinations.into_iter().find(|to| to.point_code.0 == far);
                let mut routes = to.into_iter().flat_map(|to| to.routes);
                routes.any(|route: RouteConfig| route.link_set == format!("to-{adjacent}"))
            };
            let is_kept = TRANSFER_POINTS.into_iter().zip(0..).any(|(adjacent, at): (u32, usize)| {
                let stays = |(code, is_backup): &(u8, bool)| {
                    !is_backup && own.links[at].iter().any(|(other, _)| other == code)
                };
                former.links[at].iter().any(stays) && routes(&former, adjacent) && routes(&own, adjacent)
            });
            if was_reached[place] && is_kept {
                prop_assert_eq!(numbers.len(), sent[place].len());
                prop_assert_eq!(sent[place].len(), 48);
            }
        }
        prop_assert_eq!(network.nodes[0].waiting(), 0);
    }
}

/// A successor of the same configuration takes the place of the first point at once.
fn swap(network: &mut Network) {
    let config = network.nodes[0].config().clone();
    let kept: Vec<_> =
        codes(&config).iter().zip(0..).map(|(_, link)| (Mtp3LinkId(link), Mtp3LinkId(link))).collect();
    let former = std::mem::replace(&mut network.nodes[0], Node::new(config).unwrap());
    network.nodes[0].take_over(network.now, former, &kept);
    network.drain();
}

#[test]
fn what_waits_for_a_changeover_at_the_swap_leaves_after_it_in_order() {
    let drawn = Drawn {
        links: [vec![(0, false), (1, false)], vec![], vec![]],
        priorities: [[Some(0), None, None], [None, None, None]],
        order: [0, 1, 2],
    };
    let mut network = drawn.network();
    let two = FAR[0];
    let wire = network.wires.iter().position(|wire| wire.ends.contains(&(0, Mtp3LinkId(0)))).unwrap();
    // The destination is cut off and comes back: what was accepted before that is not sent after it.
    let other = network.wires.iter().position(|wire| wire.ends.contains(&(0, Mtp3LinkId(1)))).unwrap();
    for wire in [wire, other] {
        network.break_wire(wire, 0);
    }
    network.run(Duration::from_secs(5));
    for wire in [wire, other] {
        network.mend_wire(wire);
    }
    network.run(Duration::from_secs(200));
    network.delivered.clear();
    network.break_wire(wire, 0);
    let send = |network: &mut Network, numbers: std::ops::Range<u32>| {
        for number in numbers {
            (0..16).for_each(|sls| assert!(network.send(0, two, sls, number)));
        }
    };
    send(&mut network, 0..3);
    let waiting = network.nodes[0].waiting();
    assert!(waiting > 0);
    swap(&mut network);
    assert_eq!(network.nodes[0].waiting(), waiting);
    send(&mut network, 3..6);
    assert!(network.nodes[0].waiting() > waiting, "the diversion is open");
    network.run(Duration::from_secs(5));
    for sls in 0..16 {
        let own = network.delivered.iter().filter(|(_, transfer)| transfer.label.sls == Sls(sls));
        let numbers: Vec<u32> = own
            .map(|(_, transfer)| u32::from_be_bytes(transfer.user_data.as_ref().try_into().unwrap()))
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5], "{sls}");
    }
}

#[test]
fn a_destination_that_goes_is_told_to_users_and_one_that_comes_too() {
    let drawn = Drawn {
        links: [vec![(0, false), (1, false)], vec![], vec![]],
        priorities: [[Some(0), None, None], [None, None, None]],
        order: [0, 1, 2],
    };
    let mut network = drawn.network();
    network.indications.clear();
    let other = Drawn { priorities: [drawn.priorities[1], drawn.priorities[0]], ..drawn.clone() };
    network.reload(other.config());
    let own: Vec<_> =
        network.indications.iter().filter(|(node, _)| *node == 0).map(|(_, told)| told.clone()).collect();
    let (two, three) = (PointCode(FAR[0]), PointCode(FAR[1]));
    assert_eq!(own, [TransferIndication::Pause(two), TransferIndication::Resume(three)]);
    assert!(!network.nodes[0].is_accessible(two) && network.nodes[0].is_accessible(three));
    assert_eq!(network.nodes[0].link_activity(Mtp3LinkId(1)), LinkActivity::Available);
}

#[test]
fn what_a_running_node_keeps_is_named() {
    let config = node(1, Function::EndPoint, vec![link_set(2, 1, SequenceNumbers::Bits24)]);
    assert_eq!(config.fixed_difference(&config), None);
    let other = Config { point_code: PointCode(9), ..config.clone() };
    assert_eq!(config.fixed_difference(&other), Some("point code"));
    let other = Config { sharing_bit: 1, ..config.clone() };
    assert_eq!(config.fixed_difference(&other), Some("bit that shares traffic"));
    let other = Config { held_limit: 9, ..config.clone() };
    assert_eq!(config.fixed_difference(&other), None);
}
