//! The path that new DATA begins on: the one that the setup has found the peer by, until the wanted one has answered
//! (RFC 9260, sections 5.1.2, C, and 8.2).

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::{
    AssociationId, Chunk, ConnectOptions, Event, Extension, Extensions, PathState, PotentiallyFailed,
    PrimarySwitchover, SctpConfig,
};

use crate::net::{Net, describe, parse, v4};

const A: usize = 0;
const Z: usize = 1;

/// Two networks; both hosts are in both, and A begins to connect to Z's address in the first, then to the other.
fn connecting(config: &SctpConfig, prepare: impl FnOnce(&mut Net)) -> (Net, AssociationId) {
    let mut net = Net::calm();
    net.add(&[v4(1, 1), v4(2, 1)], 5_000, config.clone());
    net.add(&[v4(1, 2), v4(2, 2)], 2_905, config.clone());
    net.listen(Z);
    prepare(&mut net);
    let id = net.connect(A, Z);
    (net, id)
}

fn cut(net: &mut Net) {
    net.cut(v4(1, 1), v4(1, 2));
    net.cut(v4(1, 2), v4(1, 1));
}

fn primary(net: &Net, id: AssociationId) -> IpAddr {
    let association = net.hosts[A].endpoint.association(id).expect("it is established");
    association.path_snapshots(net.now).find(|path| path.is_primary).expect("one is primary").destination
}

fn errors(net: &Net, id: AssociationId) -> Vec<(PathState, u32)> {
    let association = net.hosts[A].endpoint.association(id).expect("it is established");
    association.path_snapshots(net.now).map(|path| (path.state, path.error_count)).collect()
}

/// Times at which HEARTBEATs have left for an address, in milliseconds.
fn asked_at(net: &Net, address: IpAddr) -> Vec<u64> {
    let sent = net.sent.iter().filter(|sent| sent.route.1 == address);
    sent.filter(|sent| describe(&sent.packet) == "HEARTBEAT")
        .map(|sent| sent.at.since_start().as_nanos() / 1_000_000)
        .collect()
}

/// Destinations of A's DATA from a time on.
fn data_to(net: &Net, from: Instant) -> Vec<IpAddr> {
    let is_data = |chunk: &Chunk| matches!(chunk, Chunk::Data(_));
    let sent = net.sent.iter().filter(|sent| sent.at >= from && sent.route.0.to_string().ends_with(".1"));
    sent.filter(|sent| parse(&sent.packet).1.iter().any(is_data)).map(|sent| sent.route.1).collect()
}

#[test]
fn no_message_waits_for_a_first_address_that_is_dead() {
    let (mut net, id) = connecting(&SctpConfig::default(), cut);
    net.send(A, id, 0, "early");
    net.run_until(Instant::from_millis(1_040));
    // T1-init, and one round trip and a half by the other path.
    assert_eq!(net.received(Z).len(), 1);
    assert_eq!(primary(&net, id), v4(2, 2));
    for number in 0..300_u32 {
        net.send(A, id, 0, number.to_be_bytes().to_vec());
        net.run_for(Duration::from_millis(10));
        let arrived: Vec<_> = net.received(Z).into_iter().map(|message| message.payload).collect();
        assert_eq!(arrived, [number.to_be_bytes().to_vec()], "message {number}");
        net.run_for(Duration::from_millis(90));
    }
    assert!(data_to(&net, Instant::START).iter().all(|to| *to == v4(2, 2)));
}

#[test]
fn the_wanted_address_is_asked_at_once_and_counts_errors_as_any_other() {
    let (mut net, id) = connecting(&SctpConfig::default(), cut);
    net.run_until(Instant::from_millis(2_039));
    assert_eq!(asked_at(&net, v4(1, 2)), [1_040]);
    assert_eq!(
        errors(&net, id),
        [(PathState::Active, 0), (PathState::Active, 0)],
        "the lost INIT counts nothing"
    );
    net.run_until(Instant::from_millis(2_040));
    assert_eq!(errors(&net, id), [(PathState::Active, 1), (PathState::Active, 0)]);
    assert_eq!(net.hosts[A].endpoint.association(id).unwrap().snapshot().error_count, 0);
    net.events(A);
    net.mend();
    // Once an RTO, which doubles each time.
    net.run_until(Instant::from_millis(4_059));
    assert_eq!(primary(&net, id), v4(2, 2));
    net.run_until(Instant::from_millis(4_060));
    assert_eq!(asked_at(&net, v4(1, 2)), [1_040, 2_040, 4_040]);
    assert_eq!(primary(&net, id), v4(1, 2));
    assert_eq!(errors(&net, id), [(PathState::Active, 0), (PathState::Active, 0)]);
    assert_eq!(net.events(A), [Event::PrimaryChanged { address: v4(1, 2) }]);
}

#[test]
fn an_init_that_is_lost_once_changes_nothing_for_long() {
    let (mut net, id) = connecting(&SctpConfig::default(), |net| net.lose(0));
    net.send(A, id, 0, "early");
    net.run_until(Instant::from_millis(1_040));
    // What goes with the COOKIE ECHO goes where the INIT ACK has come from.
    assert_eq!(data_to(&net, Instant::START), [v4(2, 2)]);
    assert_eq!(asked_at(&net, v4(1, 2)), [1_040]);
    net.run_until(Instant::from_millis(1_059));
    net.send(A, id, 0, "before the answer");
    assert_eq!(primary(&net, id), v4(2, 2));
    net.run_until(Instant::from_millis(1_060));
    assert_eq!(primary(&net, id), v4(1, 2));
    let behind = net.now;
    for _ in 0..50 {
        net.send(A, id, 0, "behind it");
        net.run_for(Duration::from_millis(100));
    }
    assert_eq!(data_to(&net, behind), vec![v4(1, 2); 50]);
    assert_eq!(net.received(Z).len(), 52);
}

/// Beyond Path.Max.Retrans it is asked as any path that is inactive.
#[test]
fn a_wanted_address_that_never_answers_is_asked_once_an_rto_until_it_is_inactive() {
    let (mut net, id) = connecting(&SctpConfig::default(), cut);
    net.run_until(Instant::from_millis(64_039));
    let often = [1_040, 2_040, 4_040, 8_040, 16_040, 32_040];
    assert_eq!(asked_at(&net, v4(1, 2)), often);
    assert_eq!(errors(&net, id)[0], (PathState::Active, 5));
    net.run_until(Instant::from_millis(64_040 + 60_000));
    assert_eq!(errors(&net, id)[0].0, PathState::Inactive);
    assert_eq!(asked_at(&net, v4(1, 2)), often);
}

/// The INIT has arrived, and its answer comes late: the wanted path works.
#[test]
fn an_init_ack_that_is_slower_than_t1_leaves_the_wanted_path_primary() {
    let config = SctpConfig { rto_initial: Duration::from_millis(15), ..SctpConfig::default() };
    let (mut net, id) = connecting(&config, |_| ());
    net.run_until(Instant::from_millis(40));
    assert_eq!(net.sent.iter().filter(|sent| describe(&sent.packet) == "INIT").count(), 2);
    assert_eq!(primary(&net, id), v4(1, 2));
    assert_eq!(net.events(A).len(), 1);
}

/// The way dies between INIT ACK and COOKIE ECHO.
#[test]
fn data_begins_where_the_cookie_has_been_acknowledged() {
    let (mut net, id) = connecting(&SctpConfig::default(), |_| ());
    net.run_until(Instant::from_millis(15));
    net.send(A, id, 0, "early");
    cut(&mut net);
    net.run_until(Instant::from_millis(1_040));
    assert_eq!(primary(&net, id), v4(2, 2));
    assert_eq!(asked_at(&net, v4(1, 2)), [1_040]);
    // What went with the COOKIE ECHO is retransmitted.
    net.run_until(Instant::from_millis(1_100));
    let from = net.now;
    net.send(A, id, 0, "new");
    assert_eq!(data_to(&net, from), [v4(2, 2)]);
    net.mend();
    net.run_until(Instant::from_millis(40_000));
    assert_eq!(primary(&net, id), v4(1, 2));
}

/// The COOKIE ACK goes where the COOKIE ECHO has come from, in one packet with a HEARTBEAT, and so does DATA with the
/// answer to that.
#[test]
fn who_is_connected_to_answers_where_the_cookie_has_come_from() {
    let (mut net, _) = connecting(&SctpConfig::default(), |_| ());
    net.run_until(Instant::from_millis(15));
    cut(&mut net);
    net.run_until(Instant::from_millis(1_030));
    let at_z = net.established(Z).unwrap();
    let answer = net.sent.iter().find(|sent| describe(&sent.packet).contains("COOKIE-ACK")).unwrap();
    assert_eq!((answer.route.1, describe(&answer.packet).as_str()), (v4(2, 1), "COOKIE-ACK HEARTBEAT"));
    assert_eq!(asked_at(&net, v4(1, 1)), [1_030]);
    net.run_until(Instant::from_millis(1_050));
    let from = net.now;
    for _ in 0..50 {
        net.send(Z, at_z, 0, "back");
        net.run_for(Duration::from_millis(10));
        assert_eq!(net.received(A).len(), 1);
    }
    let at_first = net.sent.iter().filter(|sent| sent.at >= from && sent.route.1 == v4(1, 1));
    assert_eq!(at_first.count(), 0);
    // The address that the peer has called from is the primary one once it answers.
    net.events(Z);
    net.mend();
    net.run_until(Instant::from_secs(40));
    assert_eq!(net.events(Z), [Event::PrimaryChanged { address: v4(1, 1) }]);
}

/// Case in which a COOKIE ECHO is lost once.
#[test]
fn a_cookie_that_is_lost_once_changes_nothing_of_the_way_back() {
    let (mut net, _) = connecting(&SctpConfig::default(), |net| net.lose(2));
    net.run_until(Instant::from_millis(1_051));
    let at_z = net.established(Z).unwrap();
    net.send(Z, at_z, 0, "back");
    assert_eq!(net.sent.last().unwrap().route.1, v4(1, 1));
    assert!(!net.events(Z).iter().any(|event| matches!(event, Event::PrimaryChanged { .. })));
    net.run_until(Instant::from_secs(100));
    assert!(!net.events(Z).iter().any(|event| matches!(event, Event::PrimaryChanged { .. })));
}

#[test]
fn the_wanted_address_is_asked_again_where_heartbeats_are_off() {
    let config = SctpConfig { heartbeat_interval: None, ..SctpConfig::default() };
    let (mut net, id) = connecting(&config, cut);
    net.run_until(Instant::from_millis(5_000));
    net.mend();
    net.run_until(Instant::from_millis(8_060));
    assert_eq!(asked_at(&net, v4(1, 2)), [1_040, 2_040, 4_040, 8_040]);
    assert_eq!(primary(&net, id), v4(1, 2));
    // Then nothing is asked any more.
    net.run_until(Instant::from_secs(300));
    assert_eq!(asked_at(&net, v4(1, 2)).len(), 4);
}

/// Whatever is said later than the setup takes the place of what was wanted there.
#[test]
fn what_was_wanted_at_the_setup_gives_way_to_later_wishes() {
    // The user's.
    let (mut net, id) = connecting(&SctpConfig::default(), cut);
    net.run_until(Instant::from_millis(2_000));
    assert!(net.hosts[A].endpoint.set_primary(net.now, id, v4(2, 2)));
    net.mend();
    net.run_until(Instant::from_secs(100));
    assert_eq!(primary(&net, id), v4(2, 2));
    // A switchover: back on the wanted path the primary one dies, and stays behind.
    let config = SctpConfig {
        potentially_failed: PotentiallyFailed::Above(0),
        primary_switchover: PrimarySwitchover::Above(1),
        ..SctpConfig::default()
    };
    let (mut net, id) = connecting(&config, |_| ());
    net.run_until(Instant::from_millis(100));
    cut(&mut net);
    net.send(A, id, 0, "lost twice");
    net.run_until(Instant::from_secs(10));
    assert_eq!(primary(&net, id), v4(2, 2));
    net.mend();
    net.run_until(Instant::from_secs(100));
    assert_eq!((primary(&net, id), errors(&net, id)[0]), (v4(2, 2), (PathState::Active, 0)));
    // The peer's.
    let extensions = Extensions::of(&[Extension::DynamicAddresses]);
    let config = SctpConfig { extensions, unauthenticated_addresses: true, ..SctpConfig::default() };
    let (mut net, id) = connecting(&config, |net| net.lose(0));
    net.run_until(Instant::from_millis(1_045));
    let at_z = net.established(Z).unwrap();
    net.hosts[Z].endpoint.request_peer_primary(net.now, at_z, v4(2, 2)).unwrap();
    net.drain(Z);
    net.run_until(Instant::from_secs(100));
    assert_eq!(primary(&net, id), v4(2, 2));
}

/// Both connect at once; A wants the second address of Z, and Z's INIT comes by the first.
#[test]
fn a_setup_of_both_ends_keeps_the_wanted_address() {
    let mut net = Net::calm();
    net.add(&[v4(1, 1), v4(2, 1)], 5_000, SctpConfig::default());
    net.add(&[v4(1, 2), v4(2, 2)], 2_905, SctpConfig::default());
    net.cut(v4(2, 1), v4(2, 2));
    let options = ConnectOptions {
        local_port: 5_000,
        peer_addresses: vec![v4(1, 2), v4(2, 2)],
        peer_port: 2_905,
        primary: Some(v4(2, 2)),
        ..ConnectOptions::default()
    };
    let id = net.hosts[A].endpoint.connect(net.now, &options).unwrap();
    net.drain(A);
    net.connect(Z, A);
    net.run_until(Instant::from_millis(100));
    assert_eq!(primary(&net, id), v4(1, 2));
    net.mend();
    net.run_until(Instant::from_secs(40));
    assert_eq!(primary(&net, id), v4(2, 2));
}
