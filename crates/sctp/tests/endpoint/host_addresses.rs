//! A host that has all addresses of its machine, which come and go: what its associations make of that (RFC 5061; RFC
//! 6458, section 8.1.23).

use std::net::IpAddr;

use slantpath_base::Duration;
use slantpath_sctp::chunk::AddressChange;
use slantpath_sctp::{AssociationId, Chunk, Event, Extension, Extensions, SctpConfig};

use crate::net::{Net, describe, parse, v4};

fn plain() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

fn dynamic() -> SctpConfig {
    let extensions = Extensions::of(&[Extension::DynamicAddresses]);
    SctpConfig { extensions, unauthenticated_addresses: true, ..plain() }
}

/// Two hosts with one address each in network 1, of which the second listens.
fn net(config: &SctpConfig) -> Net {
    let mut net = Net::calm();
    for host in [1, 2] {
        net.add(&[v4(1, host)], 5_000, config.clone());
    }
    net.listen(1);
    net
}

/// Variant of `net` with an association: its number at either end.
fn connected(config: &SctpConfig) -> (Net, [AssociationId; 2]) {
    let mut net = net(config);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_secs(1));
    let other = net.hosts[1].last.expect("an association");
    (net, [id, other])
}

/// Destinations of a host's paths.
fn destinations(net: &mut Net, host: usize, id: AssociationId) -> Vec<IpAddr> {
    let now = net.now;
    net.hosts[host].endpoint.path_snapshots(now, id).map(|path| path.destination).collect()
}

/// Requests from packet `first` on: the source address and the changes.
fn requests(net: &Net, first: usize) -> Vec<(IpAddr, Vec<AddressChange>)> {
    let asked = net.sent[first..].iter().flat_map(|sent| {
        let chunks = parse(&sent.packet).1.into_iter();
        chunks.filter_map(|chunk| match chunk {
            Chunk::Asconf(asconf) => {
                let changes = asconf.requests.into_iter().map(|request| request.change);
                Some((sent.route.0, changes.collect()))
            }
            _ => None,
        })
    });
    asked.collect()
}

#[test]
fn an_address_that_comes_is_added_and_one_that_goes_is_deleted() {
    let (mut net, [id, other]) = connected(&dynamic());
    net.come(1, v4(3, 2));
    net.run_for(Duration::from_secs(1));
    assert_eq!(destinations(&mut net, 0, id), [v4(1, 2), v4(3, 2)]);
    let first = net.sent.len();
    net.go(1, v4(1, 2));
    net.run_for(Duration::from_secs(1));
    assert_eq!(requests(&net, first), [(v4(3, 2), vec![AddressChange::Delete(v4(1, 2))])]);
    assert_eq!(destinations(&mut net, 0, id), [v4(3, 2)]);
    net.send(0, id, 0, "to the new one");
    net.send(1, other, 0, "from there");
    net.run_for(Duration::from_secs(1));
    for host in [0, 1] {
        let received = net.events(host).iter().filter(|event| matches!(event, Event::Received(_))).count();
        assert_eq!(received, 1, "host {host}");
    }
}

#[test]
fn the_only_address_is_replaced_in_one_request_once_there_is_another() {
    let (mut net, [id, _]) = connected(&dynamic());
    let first = net.sent.len();
    net.go(1, v4(1, 2));
    net.run_for(Duration::from_secs(60));
    assert_eq!(net.sent.len(), first, "the last one stays");
    net.come(1, v4(3, 2));
    net.run_for(Duration::from_secs(1));
    let changes = vec![AddressChange::Add(v4(3, 2)), AddressChange::Delete(v4(1, 2))];
    assert_eq!(requests(&net, first), [(v4(3, 2), changes)]);
    assert_eq!(destinations(&mut net, 0, id), [v4(3, 2)]);
    // The first one again: it is an address as any other.
    net.come(1, v4(1, 2));
    net.run_for(Duration::from_secs(1));
    assert_eq!(destinations(&mut net, 0, id), [v4(3, 2), v4(1, 2)]);
}

#[test]
fn an_only_address_that_has_gone_and_is_back_asks_for_nothing() {
    let (mut net, [id, _]) = connected(&dynamic());
    net.add(&[v4(1, 7)], 5_000, plain());
    let first = net.sent.len();
    net.go(1, v4(1, 2));
    // A port is somewhere, and may call others.
    net.connect(1, 2);
    net.come(1, v4(1, 2));
    net.come(1, v4(3, 2));
    net.run_for(Duration::from_secs(1));
    assert_eq!(requests(&net, first), [(v4(1, 2), vec![AddressChange::Add(v4(3, 2))])]);
    assert_eq!(destinations(&mut net, 0, id), [v4(1, 2), v4(3, 2)]);
}

#[test]
fn an_address_of_another_ip_version_is_no_way_to_ask_from() {
    let v6: IpAddr = "fd00::2".parse().unwrap();
    for is_there_from_the_start in [false, true] {
        let mut net = Net::calm();
        net.add(&[v4(1, 1)], 5_000, dynamic());
        let own = [v4(1, 2), v6];
        net.add(&own[..=usize::from(is_there_from_the_start)], 5_000, dynamic());
        net.listen(1);
        net.connect(0, 1);
        net.run_for(Duration::from_secs(1));
        let other = net.hosts[0].last.expect("an association");
        let first = net.sent.len();
        if !is_there_from_the_start {
            net.come(1, v6);
        }
        net.go(1, v4(1, 2));
        net.run_for(Duration::from_secs(1));
        assert_eq!(requests(&net, first), []);
        net.come(1, v4(3, 2));
        net.run_for(Duration::from_secs(1));
        assert_eq!(requests(&net, first).len(), 1);
        assert_eq!(destinations(&mut net, 0, other).first(), Some(&v4(3, 2)));
    }
}

#[test]
fn addresses_that_come_and_go_before_the_peer_answers_cost_one_more_request() {
    let (mut net, [id, _]) = connected(&dynamic());
    net.come(1, v4(2, 2));
    net.run_for(Duration::from_secs(1));
    let first = net.sent.len();
    net.go(1, v4(2, 2));
    for _ in 0..40 {
        net.come(1, v4(3, 2));
        net.go(1, v4(3, 2));
    }
    net.come(1, v4(4, 2));
    net.run_for(Duration::from_secs(1));
    let changes: Vec<_> = requests(&net, first).into_iter().map(|(_, changes)| changes).collect();
    assert_eq!(changes, [vec![AddressChange::Delete(v4(2, 2))], vec![AddressChange::Add(v4(4, 2))]]);
    assert_eq!(destinations(&mut net, 0, id), [v4(1, 2), v4(4, 2)]);
}

#[test]
fn without_the_extension_only_new_associations_know_what_has_come() {
    let (mut net, [id, _]) = connected(&plain());
    let first = net.sent.len();
    net.come(1, v4(3, 2));
    net.run_for(Duration::from_secs(60));
    assert_eq!(net.sent.len(), first);
    assert_eq!(destinations(&mut net, 0, id), [v4(1, 2)]);
    net.add(&[v4(1, 7)], 5_000, plain());
    let new = net.connect(2, 1);
    net.run_for(Duration::from_secs(5));
    assert_eq!(destinations(&mut net, 2, new), [v4(1, 2), v4(3, 2)]);
    // Nor of what has gone for good.
    net.go(1, v4(1, 2));
    net.add(&[v4(1, 8)], 5_000, plain());
    let newer = net.connect(3, 1);
    net.run_for(Duration::from_secs(5));
    assert_eq!(destinations(&mut net, 3, newer), [v4(3, 2)]);
}

#[test]
fn an_address_that_comes_behind_the_init_ack_is_added_behind_the_cookie_ack() {
    let mut net = net(&dynamic());
    let id = net.connect(0, 1);
    net.run_for(Duration::from_millis(15));
    assert_eq!(net.sent.len(), 2, "INIT and INIT ACK");
    net.come(1, v4(3, 2));
    net.run_for(Duration::from_secs(1));
    let described: Vec<_> = net.sent[2..].iter().map(|sent| describe(&sent.packet)).collect();
    assert_eq!(described[..2], ["COOKIE-ECHO", "COOKIE-ACK ASCONF"], "{described:?}");
    assert_eq!(destinations(&mut net, 0, id), [v4(1, 2), v4(3, 2)]);
    // And of the end that calls.
    let mut net = self::net(&dynamic());
    net.connect(0, 1);
    net.come(0, v4(3, 1));
    net.run_for(Duration::from_secs(1));
    let other = net.hosts[1].last.expect("an association");
    assert_eq!(destinations(&mut net, 1, other), [v4(1, 1), v4(3, 1)]);
}

#[test]
fn an_association_whose_address_is_back_asks_the_paths_from_there() {
    let config = SctpConfig { heartbeat_interval: Some(Duration::from_secs(3_600)), ..plain() };
    let (mut net, _) = connected(&config);
    net.run_for(Duration::from_secs(10));
    let first = net.sent.len();
    net.is_back(1, v4(7, 2));
    assert_eq!(net.sent.len(), first);
    net.is_back(1, v4(1, 2));
    net.run_for(Duration::from_secs(1));
    let described: Vec<_> = net.sent[first..].iter().map(|sent| describe(&sent.packet)).collect();
    assert_eq!(described, ["HEARTBEAT", "HEARTBEAT-ACK"]);
}

/// The only address is known to be down when another comes: the request leaves from that one, and nothing else does
/// before the answer (RFC 5061, section 5.3, F1).
#[test]
fn an_address_that_comes_while_the_only_one_is_down_is_told_from_there() {
    let (mut net, [id, other]) = connected(&dynamic());
    net.cut(v4(1, 2), v4(1, 1));
    net.is_down(1, v4(1, 2));
    net.send(1, other, 0, "into the void");
    let first = net.sent.len();
    net.come(1, v4(3, 2));
    net.send(1, other, 0, "waits");
    assert_eq!(requests(&net, first), [(v4(3, 2), vec![AddressChange::Add(v4(3, 2))])]);
    assert_eq!(net.sent.len(), first + 1, "{}", net.trace(first));
    net.run_for(Duration::from_millis(20));
    assert_eq!(destinations(&mut net, 0, id), [v4(1, 2), v4(3, 2)]);
    net.run_for(Duration::from_secs(5));
    assert_eq!(net.received(0).len(), 2);
    let sources: Vec<_> = net.sent[first..].iter().map(|sent| sent.route.0).collect();
    assert!(!sources.contains(&v4(1, 2)), "{}", net.trace(first));
    assert_eq!(requests(&net, first).len(), 1);
}

/// The new address leads nowhere, and the old one is back.
#[test]
fn what_had_to_leave_from_a_new_address_leaves_from_the_old_one_once_that_is_back() {
    let (mut net, [id, other]) = connected(&dynamic());
    net.cut(v4(1, 2), v4(1, 1));
    net.cut(v4(3, 2), v4(1, 1));
    net.is_down(1, v4(1, 2));
    net.come(1, v4(3, 2));
    net.run_for(Duration::from_millis(1_500));
    let first = net.sent.len();
    net.mend();
    net.cut(v4(3, 2), v4(1, 1));
    net.is_back(1, v4(1, 2));
    net.send(1, other, 0, "by the old one");
    net.run_for(Duration::from_secs(10));
    assert_eq!(requests(&net, first), [(v4(1, 2), vec![AddressChange::Add(v4(3, 2))])]);
    assert_eq!(net.received(0).len(), 1);
    assert_eq!(destinations(&mut net, 0, id), [v4(1, 2), v4(3, 2)]);
}

/// Checks that another address of ours that is up is the source, and that nothing has to wait.
#[test]
fn a_request_leaves_from_an_address_that_is_up() {
    let mut net = Net::calm();
    net.add(&[v4(1, 1)], 5_000, dynamic());
    net.add(&[v4(1, 2), v4(2, 2)], 5_000, dynamic());
    net.listen(1);
    net.connect(0, 1);
    net.run_for(Duration::from_secs(1));
    let other = net.hosts[1].last.unwrap();
    net.is_down(1, v4(1, 2));
    let first = net.sent.len();
    net.come(1, v4(3, 2));
    net.send(1, other, 0, "at once");
    assert_eq!(requests(&net, first), [(v4(2, 2), vec![AddressChange::Add(v4(3, 2))])]);
    assert!(net.sent[first..].iter().all(|sent| sent.route.0 == v4(2, 2)), "{}", net.trace(first));
    assert!(net.sent.len() > first + 1);
}

/// A path to an address that the peer adds while our own link is down is none that works.
#[test]
fn a_path_that_the_peer_adds_knows_that_our_link_is_down() {
    let mut net = Net::calm();
    for host in [1, 2] {
        net.add(&[v4(1, host), v4(2, host)], 5_000, dynamic());
    }
    net.listen(1);
    let id = net.connect(0, 1);
    net.run_for(Duration::from_secs(5));
    net.is_down(0, v4(2, 1));
    net.come(1, v4(2, 9));
    net.run_for(Duration::from_secs(5));
    let now = net.now;
    let paths: Vec<_> = net.hosts[0].endpoint.path_snapshots(now, id).collect();
    assert_eq!((paths[2].destination, paths[2].source), (v4(2, 9), v4(1, 1)));
    assert_eq!(paths[2].state, slantpath_sctp::PathState::Active);
}
