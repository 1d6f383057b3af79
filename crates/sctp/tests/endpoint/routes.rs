//! From which of its addresses a host sends, where somebody knows the routes.

use std::net::IpAddr;

use slantpath_base::Duration;
use slantpath_sctp::chunk::AddressChange;
use slantpath_sctp::{AssociationId, Chunk, Extension, Extensions, PathState, SctpConfig};

use crate::net::{Net, parse, v4};

fn config() -> SctpConfig {
    SctpConfig {
        extensions: Extensions::of(&[Extension::DynamicAddresses]),
        unauthenticated_addresses: true,
        heartbeat_interval: Some(Duration::from_secs(3_600)),
        ..SctpConfig::default()
    }
}

/// Two hosts with addresses in networks 1 and 2, of which the first knows these routes.
fn net(routes: &[(IpAddr, &[IpAddr])]) -> Net {
    let mut net = Net::calm();
    for host in [1, 2] {
        net.add(&[v4(1, host), v4(2, host)], 5_000, config());
    }
    net.listen(1);
    know(&mut net, 0, routes);
    net
}

fn know(net: &mut Net, host: usize, routes: &[(IpAddr, &[IpAddr])]) {
    net.hosts[host].endpoint.ask_for_routes();
    net.hosts[host].routes = routes.iter().map(|(to, from)| (*to, from.to_vec())).collect();
}

/// From where each path of a host leaves.
fn sources(net: &mut Net, host: usize, id: AssociationId) -> Vec<IpAddr> {
    let now = net.now;
    net.hosts[host].endpoint.path_snapshots(now, id).map(|path| path.source).collect()
}

/// From where a host has sent packets with a chunk of some kind.
fn sent_from(net: &Net, is_it: impl Fn(&Chunk) -> bool) -> Vec<IpAddr> {
    let has = |packet| parse(packet).1.iter().any(&is_it);
    net.sent.iter().filter(|sent| has(&sent.packet)).map(|sent| sent.route.0).collect()
}

#[test]
fn paths_and_what_sets_them_up_leave_from_where_the_routes_lead_there() {
    // By the prefixes it would be the reverse.
    let mut net = net(&[(v4(1, 2), &[v4(2, 1)]), (v4(2, 2), &[v4(1, 1)])]);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_secs(1));
    assert_eq!(sources(&mut net, 0, id), [v4(2, 1), v4(1, 1)]);
    assert_eq!(sent_from(&net, |chunk| matches!(chunk, Chunk::Init(_))), [v4(2, 1)]);
    assert_eq!(sent_from(&net, |chunk| matches!(chunk, Chunk::CookieEcho(_))), [v4(2, 1)]);
    let asked = [vec![v4(1, 2)], vec![v4(1, 2)], vec![v4(1, 2), v4(2, 2)]];
    assert_eq!(net.hosts[0].asked, asked);
    let now = net.now;
    let first_path = net.hosts[0].endpoint.path_snapshots(now, id).next().unwrap();
    assert!(first_path.srtt.is_some(), "the round trip of the INIT is kept");
    let first = net.sent.len();
    net.send(0, id, 0, "from there");
    assert_eq!(net.sent[first].route, (v4(2, 1), v4(1, 2)));
    // Nor is anything forgotten because of an address that concerns no path.
    net.run_for(Duration::from_secs(1));
    net.add_address(0, v4(3, 1));
    net.change_addresses(0, id, &[AddressChange::Add(v4(3, 1))]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(sources(&mut net, 0, id), [v4(2, 1), v4(1, 1)]);
    let now = net.now;
    let first_path = net.hosts[0].endpoint.path_snapshots(now, id).next().unwrap();
    assert!(first_path.srtt.is_some());
}

#[test]
fn the_end_that_is_called_follows_the_routes_as_well() {
    let mut net = net(&[]);
    know(&mut net, 1, &[(v4(1, 1), &[v4(2, 2)]), (v4(2, 1), &[v4(1, 2)])]);
    net.connect(0, 1);
    net.run_for(Duration::from_secs(1));
    let id = net.hosts[1].last.expect("an association");
    // Its path is that to where the INIT came from, and the other.
    assert_eq!(sources(&mut net, 1, id), [v4(2, 2), v4(1, 2)]);
    let init_acks = sent_from(&net, |chunk| matches!(chunk, Chunk::InitAck(_)));
    assert_eq!(init_acks, [v4(1, 2)], "an answer leaves from where the question came to");
    assert_eq!(sent_from(&net, |chunk| matches!(chunk, Chunk::CookieAck(_))), [v4(2, 2)]);
}

#[test]
fn where_the_routes_say_nothing_or_name_none_of_its_addresses_the_prefixes_decide() {
    let foreign: &[IpAddr] = &[v4(9, 1)];
    for routes in [&[][..], &[(v4(1, 2), foreign), (v4(2, 2), foreign)]] {
        let mut net = net(routes);
        let id = net.connect(0, 1);
        net.run_for(Duration::from_secs(1));
        assert_eq!(sources(&mut net, 0, id), [v4(1, 1), v4(2, 1)]);
    }
}

#[test]
fn a_host_with_one_address_asks_for_nothing() {
    let mut net = Net::calm();
    for host in [1, 2] {
        net.add(&[v4(1, host)], 5_000, config());
    }
    net.listen(1);
    know(&mut net, 0, &[(v4(1, 2), &[v4(1, 1)])]);
    net.connect(0, 1);
    net.run_for(Duration::from_secs(1));
    assert!(net.hosts[0].asked.is_empty());
}

#[test]
fn routes_are_asked_for_anew_when_addresses_change_and_a_path_that_can_stay_stays() {
    let both: &[IpAddr] = &[v4(1, 1), v4(2, 1)];
    let mut net = net(&[(v4(1, 2), both), (v4(2, 2), both)]);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_secs(1));
    assert_eq!(sources(&mut net, 0, id), both);
    let other = net.hosts[1].last.expect("an association");
    net.hosts[0].asked.clear();
    // The routes would have the reverse now.
    let reverse: &[IpAddr] = &[v4(2, 1), v4(1, 1)];
    know(&mut net, 0, &[(v4(1, 2), reverse), (v4(2, 2), reverse), (v4(3, 2), reverse)]);
    net.add_address(1, v4(3, 2));
    net.change_addresses(1, other, &[AddressChange::Add(v4(3, 2))]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.hosts[0].asked, [vec![v4(1, 2), v4(2, 2), v4(3, 2)]]);
    assert_eq!(sources(&mut net, 0, id), [v4(1, 1), v4(2, 1), v4(2, 1)]);
    // A new address of ours, by which one of them is reached alone.
    know(&mut net, 0, &[(v4(1, 2), reverse), (v4(2, 2), reverse), (v4(3, 2), &[v4(3, 1)])]);
    net.add_address(0, v4(3, 1));
    net.change_addresses(0, id, &[AddressChange::Add(v4(3, 1))]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(sources(&mut net, 0, id), [v4(1, 1), v4(2, 1), v4(3, 1)]);
    // One that is deleted is left whatever the routes say.
    net.change_addresses(0, id, &[AddressChange::Delete(v4(1, 1))]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(sources(&mut net, 0, id), [v4(2, 1), v4(2, 1), v4(3, 1)]);
}

#[test]
fn routes_are_asked_for_anew_when_an_address_is_back() {
    let mut net = net(&[(v4(1, 2), &[v4(1, 1)]), (v4(2, 2), &[v4(2, 1)])]);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_secs(10));
    know(&mut net, 0, &[(v4(1, 2), &[v4(2, 1)]), (v4(2, 2), &[v4(2, 1)])]);
    net.is_back(0, v4(1, 1));
    assert_eq!(sources(&mut net, 0, id), [v4(2, 1), v4(2, 1)]);
    assert_eq!(net.sent.last().map(|sent| sent.route), Some((v4(2, 1), v4(1, 2))), "the HEARTBEAT");
    // And back, although no path leaves from there.
    know(&mut net, 0, &[(v4(1, 2), &[v4(1, 1)]), (v4(2, 2), &[v4(2, 1)])]);
    net.is_back(0, v4(1, 1));
    assert_eq!(sources(&mut net, 0, id), [v4(1, 1), v4(2, 1)]);
}

#[test]
fn a_path_whose_own_link_has_gone_leaves_from_another_address_if_a_route_leads_there() {
    let mut net = net(&[(v4(1, 2), &[v4(1, 1)]), (v4(2, 2), &[v4(2, 1)])]);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_secs(10));
    let states = |net: &mut Net| -> Vec<PathState> {
        let now = net.now;
        net.hosts[0].endpoint.path_snapshots(now, id).map(|path| path.state).collect()
    };
    // No route leads there any more.
    know(&mut net, 0, &[(v4(2, 2), &[v4(2, 1)])]);
    net.is_down(0, v4(1, 1));
    net.run_for(Duration::from_secs(1));
    assert_eq!(states(&mut net), [PathState::Inactive, PathState::Active]);
    net.is_back(0, v4(1, 1));
    net.run_for(Duration::from_secs(1));
    assert_eq!(states(&mut net), [PathState::Active, PathState::Active]);
    // One does, by the other link.
    know(&mut net, 0, &[(v4(1, 2), &[v4(2, 1)]), (v4(2, 2), &[v4(2, 1)])]);
    net.is_down(0, v4(1, 1));
    assert_eq!(sources(&mut net, 0, id), [v4(2, 1), v4(2, 1)]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(states(&mut net), [PathState::Active, PathState::Active], "it has answered from there");
}

#[test]
fn a_path_without_a_link_is_asked_at_once_when_the_address_before_is_deleted() {
    let mut net = net(&[(v4(1, 2), &[v4(1, 1)]), (v4(2, 2), &[v4(2, 1)])]);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_secs(10));
    know(&mut net, 0, &[]);
    net.is_down(0, v4(1, 1));
    net.change_addresses(0, id, &[AddressChange::Delete(v4(1, 1))]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(sources(&mut net, 0, id), [v4(2, 1), v4(2, 1)]);
    let now = net.now;
    let mut paths = net.hosts[0].endpoint.path_snapshots(now, id);
    assert!(paths.all(|path| path.state == PathState::Active), "HB.interval is an hour");
}
