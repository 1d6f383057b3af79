//! The cases of path MTU discovery by probe packets (RFC 8899, RFC 4820).

use std::net::IpAddr;

use slantpath_live::{PathMtuDiscovery, Station};
use slantpath_sctp::{DiscoveryState, PathSnapshot};
use slantpath_testkit::skip;

use crate::cases::{Case, Given};
use crate::exchange::{Exchange, Outcome, Us};
use crate::extensions::{extended, run};
use crate::peer::Stack;
use crate::wire::kind;

/// One after the other, as the others.
pub(crate) const CASES: [Case; 4] = [
    ("the path MTU is found by probes", path_mtu),
    ("the peer probes the path MTU", the_peer_probes),
    ("the path MTU of a black hole is found by probes", black_hole),
    ("a path becomes a black hole, and its MTU is found again", becomes_a_black_hole),
];

/// An exchange over one link whose second part goes once discovery rests.
fn probed<'a>(given: Given<'a>, link: &'static [usize]) -> Exchange<'a> {
    let mut exchange = extended(given, &[]).with_plans(|plan| plan.lengths = vec![4_000, 1_452, 1_000, 100]);
    exchange.links = link;
    exchange.sctp.path_mtu_discovery = PathMtuDiscovery::Probing;
    exchange.peer_path_mtu = Some(1_200);
    exchange
}

/// Tells if the MTU of each path has been found.
fn rests(us: &mut Us) -> bool {
    let now = us.now();
    let Station { host, program } = &mut us.host_mut().host;
    let paths = program.socket().map(|socket| host.sctp_paths(now, socket)).unwrap_or_default();
    let is_found = |path: &PathSnapshot| path.discovery == Some(DiscoveryState::Complete);
    !paths.is_empty() && paths.iter().all(is_found)
}

fn path_mtu(given: Given<'_>) {
    let mut exchange = probed(given, &[0, 1]);
    exchange.peer_path_mtu = None;
    let outcome = run(&exchange, |us, _| rests(us));
    let mtus: Vec<u16> = outcome.mtus.iter().map(|(_, mtu)| *mtu).collect();
    assert_eq!(mtus, [1_500 - given.underlay.overhead(); 2]);
    let [to_peer, _] = outcome.wire.counts(kind::PAD);
    // One of 1,200 bytes and one of 1,500 each.
    assert!(to_peer >= 4, "{to_peer} probes");
    assert_eq!(outcome.wire.to_peer.longest_with_data, usize::from(1_500 - given.underlay.overhead()));
}

/// Linux probes with PAD behind its HEARTBEAT, too (`SCTP_PLPMTUD_PROBE_INTERVAL`, at least 5 s).
fn the_peer_probes(given: Given<'_>) {
    if given.stack == Stack::Usrsctp {
        skip("usrsctp 0.9.5 sends no probe packets");
        return;
    }
    let mut exchange = extended(given, &[]);
    exchange.links = &[0];
    exchange.peer_options.push(("probe-ms", 5_000.to_string()));
    let mut answered = None;
    let outcome = run(&exchange, |us, _| {
        let [_, to_us] = us.host().observer.counts(kind::PAD);
        let heartbeats = us.host().observer.to_us.count(kind::HEARTBEAT);
        let now = us.now();
        answered = answered.or((to_us >= 2 && heartbeats > 0).then_some(now));
        answered.is_some()
    });
    let [_, probes] = outcome.wire.counts(kind::PAD);
    assert!(probes >= 2, "{probes} probes");
    assert_eq!(outcome.stats.malformed_chunks, 0);
}

/// The MTU is found up to the least gain, and data fills it.
fn is_found(outcome: &Outcome, peer: IpAddr, mtu: u16) {
    let [(destination, found)] = outcome.mtus[..] else { panic!("one path: {:?}", outcome.mtus) };
    assert_eq!(destination, peer);
    assert!((mtu - 16..=mtu).contains(&found), "{found} of {mtu}");
}

fn black_hole(given: Given<'_>) {
    let exchange = probed(given, &[1]);
    let (peer, _narrow) = given.narrow(1, 1_300, true);
    let outcome = run(&exchange, |us, _| rests(us));
    let most = 1_300 - given.underlay.overhead();
    is_found(&outcome, peer, most);
    let longest = outcome.wire.to_peer.longest_with_data;
    let most = usize::from(most);
    assert!((most - 20..=most).contains(&longest), "{longest} bytes");
}

fn becomes_a_black_hole(given: Given<'_>) {
    let exchange = probed(given, &[1]);
    let mut narrow = None;
    let outcome = run(&exchange, |us, _| {
        let is_found = rests(us);
        if is_found {
            narrow = Some(given.narrow(1, 1_300, true));
        }
        is_found
    });
    assert_eq!(
        outcome.wire.to_peer.longest_with_data,
        usize::from(1_500 - given.underlay.overhead()),
        "it did carry more"
    );
    let [(_, mtu)] = outcome.mtus[..] else { panic!("one path: {:?}", outcome.mtus) };
    assert!((1_200..=1_300).contains(&mtu), "{mtu}");
}
