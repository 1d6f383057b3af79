//! The cases of several paths: DATA over all of them at once (CMT), and messages for a certain address.

use std::net::IpAddr;

use slantpath_sctp::Multipath;
use slantpath_testkit::skip;

use crate::cases::{Case, Given};
use crate::exchange::{Caller, Exchange, Us};
use crate::extensions::{ALL, HELD, command, extended, run};
use crate::network::Way;
use crate::peer::Stack;
use crate::wire::{Passed, Sent};

/// One after the other, as the others.
pub(crate) const CASES: [Case; 5] = [
    ("DATA goes over both paths at once, and we call", |given| both_paths(given, Caller::Us)),
    ("DATA goes over both paths at once, and the peer calls", |given| both_paths(given, Caller::Peer)),
    ("DATA goes over both paths at once, with loss and reordering", damaged_paths),
    ("messages are for an address, and we call", |given| directed(given, Caller::Us)),
    ("messages are for an address, and the peer calls", |given| directed(given, Caller::Peer)),
];

/// Couplings of the windows of paths with us, and with usrsctp, by its number (`sctp_cmt_on_off`).
const WINDOWS: [(Multipath, u32); 4] = [
    (Multipath::Concurrent, 1),
    (Multipath::PooledV1, 2),
    (Multipath::PooledV2, 3),
    // As those of MPTCP, which ours never are.
    (Multipath::Concurrent, 4),
];

/// Has both ends use all paths, with each of the ways that windows know of each other. Linux uses one path at a time:
/// it is there to understand us.
fn at_once(given: Given<'_>, messages: u64, caller: Caller, least_share: u64) {
    let windows = match given.stack {
        Stack::Linux => {
            skip("Linux sends over one path at a time");
            &WINDOWS[..3]
        }
        Stack::Usrsctp => &WINDOWS[..],
    };
    for &(multipath, theirs) in windows {
        let mut exchange = extended(given, &[]).with_plans(|plan| {
            plan.lengths = vec![16, 1_000, 1_452, 4_000];
            (plan.send, plan.expect) = (messages, messages);
            // So few that the window of the first path stays as small as that of the second.
            plan.hold_after = Some(10);
        });
        exchange.caller = caller;
        exchange.sctp.multipath = multipath;
        if given.stack == Stack::Usrsctp {
            exchange.peer_options.push(("cmt", theirs.to_string()));
        }
        let outcome = run(&exchange, |us, _| both_work(us, &exchange));
        let what = format!("{multipath:?}, {theirs}");
        is_shared(&outcome.wire.to_peer, &exchange.peer_addresses(), least_share, &what);
        if given.stack == Stack::Usrsctp {
            is_shared(&outcome.wire.to_us, &exchange.our_addresses(), least_share, &what);
        }
    }
}

/// Tells if both ends know that the second path works.
fn both_work(us: &Us, exchange: &Exchange<'_>) -> bool {
    let wire = &us.host().observer;
    // Where a second question was answered, the answer to the first has arrived.
    wire.to_us.answers_of(exchange.peer_addresses()[1]) >= 2
        && wire.to_peer.answers_of(exchange.our_addresses()[1]) >= 2
}

/// Each of these addresses has got so many percent of the DATA at least.
fn is_shared(passed: &Passed, addresses: &[IpAddr], least_share: u64, what: &str) {
    let shares: Vec<u64> = addresses.iter().map(|address| passed.data_with(*address)).collect();
    let all: u64 = shares.iter().sum();
    assert!(shares.iter().all(|share| share * 100 >= all * least_share), "{what}: {shares:?} chunks");
}

fn both_paths(given: Given<'_>, caller: Caller) {
    for link in [0, 1] {
        for way in [Way::ToPeer, Way::ToUs] {
            given.network.damage(link, way, "delay 10ms rate 8mbit");
        }
    }
    // Nothing is lost: without CMT the second path has nothing. How much each takes is a matter of slow start, and of
    // what its SACKs wait behind.
    at_once(given, 1_000, caller, 2);
}

/// Uses both paths at once with loss and reordering. Data that is retransmitted after a time-out takes another path
/// anyway: it is far less than this share.
fn damaged_paths(given: Given<'_>) {
    for link in [0, 1] {
        for way in [Way::ToPeer, Way::ToUs] {
            given.network.damage(link, way, "delay 20ms 15ms loss 2% duplicate 3%");
        }
    }
    at_once(given, 300, Caller::Us, 15);
}

// Messages for an address (RFC 9260, section 11.1.5).

/// Messages of every second stream are for the second address of the other end. Only those are judged that are sent
/// once both ends know that it works.
fn directed(given: Given<'_>, caller: Caller) {
    let mut exchange = extended(given, &[]);
    exchange.caller = caller;
    // After a time-out Linux sends by the other path for a while what is for none.
    exchange.have_long_timers();
    let (ours, theirs) = (exchange.our_addresses(), exchange.peer_addresses());
    exchange.ours.directed_to = Some(theirs[1]);
    exchange.theirs.directed_to = Some(ours[1]);
    if given.stack == Stack::Usrsctp {
        // Its default scheduler never ends its search for a stream whose next message is for the path at hand, if
        // there is none and it has served none yet.
        exchange.peer_options.push(("scheduler", "first-come-first-served".to_owned()));
    }
    let outcome = run(&exchange, |us, _| {
        // usrsctp calls from any of its addresses, which is then our primary one.
        both_work(us, &exchange) && command(us, |now, sctp, id| sctp.set_primary(now, id, theirs[0]))
    });
    for (passed, addresses, is_ours) in
        [(&outcome.wire.to_peer, theirs, true), (&outcome.wire.to_us, ours, false)]
    {
        if given.stack == Stack::Linux && !is_ours && passed.has_retransmitted() {
            // A guest that stood still for three seconds, on a busy machine.
            skip("after a time-out Linux sends by the other path for a while what is for none");
            continue;
        }
        let sent = passed.in_order();
        let later = &sent[sent.len() - usize::try_from(ALL - HELD).unwrap()..];
        let is_right = |sent: &&Sent| sent.to == addresses[usize::from(sent.stream % 2)];
        assert_eq!(later.iter().find(|sent| !is_right(sent)).map(|sent| (sent.stream, sent.to)), None);
    }
}
