//! Whatever is wrong with a configuration is told with its names and values.

use slantpath_base::Duration;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{
    Config, Function, LinkSetConfig, Mtp3Timer, SequenceNumbers, Timers, check_alternatives,
    check_changeovers, check_network,
};
use slantpath_ss7::mtp3::{Node, ServiceIndicator, Slc};

use super::network::{link_set, node, route};

/// An end point with two link sets, and a destination behind both.
fn right() -> Config {
    let mut config = node(
        1,
        Function::EndPoint,
        vec![link_set(11, 2, SequenceNumbers::Bits7), link_set(12, 2, SequenceNumbers::Bits24)],
    );
    config.destinations = vec![route(2, &[(11, 0), (12, 0)])];
    config
}

/// The sentences about a configuration that was changed.
fn faults(change: impl FnOnce(&mut Config)) -> Vec<String> {
    let mut config = right();
    change(&mut config);
    Node::new(config).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[test]
fn a_right_configuration_makes_a_node() {
    assert_eq!(faults(|_| {}), Vec::<String>::new());
}

#[test]
fn a_destination_without_a_route_is_unreachable() {
    let found = faults(|config| config.destinations.push(route(9, &[])));
    assert_eq!(found, ["point code 0-1-1 (9) cannot be reached: it has no route"]);
    let found = faults(|config| config.destinations.push(route(9, &[(13, 0)])));
    assert_eq!(
        found,
        ["the route to point code 0-1-1 (9) leads over `to-13`, and there is no link set of that name"]
    );
}

#[test]
fn routes_that_contradict_each_other_are_told() {
    let found = faults(|config| config.destinations = vec![route(2, &[(11, 0), (11, 1)])]);
    assert_eq!(found, ["point code 0-0-2 (2) has two routes over `to-11`, of priority 0 and 1"]);
    let found = faults(|config| {
        config.link_sets.push(link_set(13, 1, SequenceNumbers::Bits7));
        config.destinations = vec![route(2, &[(11, 0), (12, 0), (13, 0)])];
    });
    assert_eq!(
        found,
        ["point code 0-0-2 (2) has routes over `to-11`, `to-12` and `to-13` with priority 0: a \
             combined link set has two"]
    );
    let found = faults(|config| config.destinations.push(route(2, &[(11, 0)])));
    assert_eq!(found, ["destination point code 0-0-2 (2) is listed twice: join its routes"]);
}

#[test]
fn the_direct_route_counts_among_those_of_its_priority() {
    let found = faults(|config| {
        config.link_sets.push(link_set(13, 1, SequenceNumbers::Bits7));
        config.destinations = vec![route(11, &[(12, 0), (13, 0)])];
    });
    assert_eq!(
        found,
        [
            "point code 0-1-3 (11) has routes over `to-12`, `to-13` and `to-11` with priority 0: a combined link set \
             has two"
        ]
    );
}

#[test]
fn the_own_point_code_is_no_destination() {
    let found = faults(|config| config.destinations.push(route(1, &[(11, 0)])));
    assert_eq!(found, ["point code 0-0-1 (1) is the own point code of `node-1` and cannot be a destination"]);
}

#[test]
fn link_codes_are_unique_and_have_four_bits() {
    let found = faults(|config| config.link_sets[0].links[1].slc = Slc(0));
    assert_eq!(found, ["links `link-0` and `link-1` of link set `to-11` both have code 0"]);
    let found = faults(|config| config.link_sets[0].links[1].slc = Slc(16));
    assert_eq!(found, ["link `link-1` has code 16: codes go from 0 to 15"]);
}

#[test]
fn an_adjacent_point_has_one_link_set_with_links() {
    let found = faults(|config| config.link_sets[1].links.clear());
    assert_eq!(found, ["link set `to-12` to point code 0-1-4 (12) has no link: add one"]);
    let found = faults(|config| {
        let twin = LinkSetConfig { name: "twin".into(), ..config.link_sets[0].clone() };
        config.link_sets.push(twin);
    });
    assert_eq!(found, ["link sets `to-11` and `twin` both end at point code 0-1-3 (11): make them one"]);
    let found = faults(|config| {
        config.link_sets[1].name = "to-11".into();
        config.destinations.clear();
    });
    assert_eq!(found, ["two link sets are named `to-11`"]);
}

#[test]
fn timers_stay_in_their_ranges() {
    let found = faults(|config| {
        config.timers = Timers::default()
            .with(Mtp3Timer::T1, Duration::from_millis(499))
            .with(Mtp3Timer::TestT2, Duration::from_secs(91));
    });
    assert_eq!(
        found,
        [
            "T1 is 499 ms: the Recommendation has 500 ms to 1.2 s",
            "T2 of Q.707 is 91 s: the Recommendation has 30 s to 90 s"
        ]
    );
}

#[test]
fn sizes_and_reserved_values_are_kept() {
    let found = faults(|config| {
        config.destinations.push(route(1 << 14, &[(11, 0)]));
        config.users.push(ServiceIndicator::MANAGEMENT);
        config.sharing_bit = 4;
        config.held_limit = 0;
    });
    assert_eq!(
        found,
        [
            "point code 8-0-0 (16384) does not fit the network's 14 bits",
            "service indicator 0 is MTP3's own: it cannot be a user part",
            "bit 4 shares traffic over combined link sets: the SLS has 4 bits",
            "held_limit is 0: a changeover needs to hold messages back",
        ]
    );
}

/// A transfer point with one link to each of its neighbours.
fn transfer(code: u32, neighbours: &[u32]) -> Config {
    let sets = neighbours.iter().map(|far| link_set(*far, 1, SequenceNumbers::Bits7)).collect();
    node(code, Function::TransferPoint, sets)
}

fn faults_of(nodes: &[Config]) -> Vec<String> {
    check_network(nodes).iter().map(ToString::to_string).collect()
}

#[test]
fn a_circle_of_normal_routes_is_told_with_its_path() {
    let mut nodes = [transfer(1, &[2, 3]), transfer(2, &[1, 3]), transfer(3, &[1, 2])];
    for (at, next) in [(0, 2), (1, 3), (2, 1)] {
        nodes[at].destinations = vec![route(99, &[(next, 0)])];
    }
    let found = faults_of(&nodes);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(
        found[0],
        "messages from `node-1` to point code 0-12-3 (99) go in a circle: node-1 > node-2 > node-3 > node-1"
    );
}

#[test]
fn a_normal_route_that_ends_on_its_way_is_told() {
    let mut nodes = [transfer(1, &[2]), transfer(2, &[1])];
    nodes[0].destinations = vec![route(99, &[(2, 0)])];
    assert_eq!(
        faults_of(&nodes),
        ["messages from `node-1` to point code 0-12-3 (99) end at `node-2`, which has no route there"]
    );
    nodes[1].function = Function::EndPoint;
    assert_eq!(
        faults_of(&nodes),
        ["messages from `node-1` to point code 0-12-3 (99) end at `node-2`, which is no transfer point"]
    );
}

#[test]
fn an_alternative_route_by_which_nothing_arrives_is_told() {
    // From 1 to 4 over 3, and over 2 if 3 fails.
    let mut nodes = [transfer(1, &[2, 3]), transfer(2, &[1, 3]), transfer(3, &[1, 2, 4]), transfer(4, &[3])];
    nodes[0].destinations = vec![route(4, &[(3, 0), (2, 1)])];
    let found = |nodes: &[Config]| {
        assert_eq!(faults_of(nodes), Vec::<String>::new());
        check_alternatives(nodes).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let route_of_1 =
        "the alternative route from `node-1` to point code 0-0-4 (4) over `node-2` leads nowhere: ";
    assert_eq!(found(&nodes), [format!("{route_of_1}`node-2` has no route there")]);
    nodes[1].destinations = vec![route(4, &[(1, 0)])];
    assert_eq!(found(&nodes), [format!("{route_of_1}from there every way comes back or ends")]);
    nodes[1].destinations = vec![route(4, &[(1, 0), (3, 1)])];
    assert_eq!(found(&nodes), Vec::<String>::new());
    nodes[1].function = Function::EndPoint;
    assert_eq!(found(&nodes), [format!("{route_of_1}`node-2` is no transfer point")]);
    // What is not among the nodes is taken as right.
    assert_eq!(found(&nodes[..1]), Vec::<String>::new());
}

#[test]
fn a_link_set_whose_far_end_no_other_route_leads_to_changes_over_by_time() {
    // From 1 to 4 over 2 and 3, which are joined.
    let mut nodes =
        [transfer(1, &[2, 3]), transfer(2, &[1, 3, 4]), transfer(3, &[1, 2, 4]), transfer(4, &[2, 3])];
    let found =
        |nodes: &[Config]| check_changeovers(nodes).iter().map(ToString::to_string).collect::<Vec<_>>();
    // Nothing can leave a link set: nothing changes over.
    assert_eq!(found(&nodes), Vec::<String>::new());
    nodes[0].destinations = vec![route(4, &[(2, 0), (3, 1)])];
    let text = |to: u32| {
        format!(
            "when the link set from `node-1` to `to-{to}` fails, its traffic changes over by time (Q.704, section \
             5.6.2), and what is under way is lost: no other route leads from `node-1` to point code 0-0-{to} ({to}) \
             itself"
        )
    };
    // That to 3 carries nothing until that to 2 has failed.
    assert_eq!(found(&nodes), [text(2)]);
    nodes[0].destinations = vec![route(4, &[(2, 0), (3, 0)])];
    assert_eq!(found(&nodes), [text(2), text(3)]);
    nodes[0].destinations.push(route(2, &[(2, 0), (3, 1)]));
    assert_eq!(found(&nodes), [text(3)]);
    nodes[0].destinations.push(route(3, &[(2, 1)]));
    assert_eq!(found(&nodes), Vec::<String>::new());
}

#[test]
fn a_link_set_without_its_counterpart_and_a_code_used_twice_are_told() {
    let nodes = [transfer(1, &[2]), transfer(2, &[3]), transfer(3, &[2])];
    assert_eq!(faults_of(&nodes), ["link set `to-2` of `node-1` leads to `node-2`, which has none back"]);
    let mut twin = transfer(3, &[2]);
    twin.name = "twin".into();
    let nodes = [transfer(2, &[3]), transfer(3, &[2]), twin];
    assert_eq!(faults_of(&nodes), ["`node-3` and `twin` both have point code 0-0-3 (3)"]);
    assert_eq!(nodes[0].link_sets[0].adjacent, PointCode(3));
}

#[test]
fn a_ttc_network_is_not_managed() {
    let found = faults(|config| config.format = slantpath_ss7::PointCodeFormat::Ttc);
    assert_eq!(
        found,
        [
            "`node-1` is in a TTC network, whose management messages are not provided: use ITU-T or ANSI point codes"
        ]
    );
}

#[test]
fn the_usual_link_follows_the_link_selection_over_both_link_sets_and_leaves_backups_out() {
    use slantpath_ss7::mtp3::node::{Mtp3LinkId, UsualLinks};
    let mut config = right();
    let links = |config: &Config| -> Vec<Option<u16>> {
        let usual = UsualLinks::new(config);
        (0..16).map(|sls| usual.link(PointCode(2), sls).map(|Mtp3LinkId(link)| link)).collect()
    };
    // Bit 3 shares, and what is left of the selection chooses.
    let even = [0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3].map(Some);
    assert_eq!(links(&config), even);
    config.backups = vec![Mtp3LinkId(3)];
    assert_eq!(links(&config)[9], Some(2));
    config.destinations = vec![route(2, &[(11, 1), (12, 0)])];
    assert_eq!(links(&config)[..3], [Some(2); 3]);
    assert_eq!(UsualLinks::new(&config).link(PointCode(9), 0), None);
}
