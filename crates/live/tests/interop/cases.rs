//! The cases, each with one of the peers, over each of IPv4, IPv6 and UDP.

use std::net::IpAddr;

use slantpath_base::Duration;
use slantpath_live::{Carriage, SctpConfig};
use slantpath_testkit::skip;

use crate::exchange::{Caller, Exchange, Family, turns};
use crate::network::{Narrow, Network, Way};
use crate::peer::{Programs, Stack};

/// Protocol that carries SCTP. Each has a guest of its own, so that all go on at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Underlay {
    V4,
    V6,
    Udp,
}

impl Underlay {
    pub(crate) const ALL: [Self; 3] = [Self::V4, Self::V6, Self::Udp];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
            Self::Udp => "UDP",
        }
    }

    pub(crate) const fn family(self) -> Family {
        match self {
            Self::V4 | Self::Udp => Family::V4,
            Self::V6 => Family::V6,
        }
    }

    pub(crate) const fn carriage(self) -> Carriage {
        match self {
            Self::V4 | Self::V6 => Carriage::Raw,
            Self::Udp => Carriage::Udp { local_port: 9_899, remote_port: 9_899 },
        }
    }

    /// Bytes of a packet on the wire that are not SCTP's to fill, headers of IP apart.
    pub(crate) fn overhead(self) -> u16 {
        u16::try_from(self.carriage().overhead_bytes()).expect("eight bytes or none")
    }
}

/// Surroundings of a case: the network, and the peer that it meets.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) network: &'a Network,
    pub(crate) programs: &'a Programs,
    pub(crate) stack: Stack,
    pub(crate) underlay: Underlay,
}

impl<'a> Given<'a> {
    pub(crate) fn exchange(self, messages: u64) -> Exchange<'a> {
        let mut exchange = Exchange::new(self.network, self.programs, self.stack, messages);
        exchange.family = self.underlay.family();
        exchange.carriage = self.underlay.carriage();
        exchange
    }

    /// Has the router carry no more than so many bytes between the ends of a link: the peer's address there. It may be
    /// a black hole.
    pub(crate) fn narrow(self, link: usize, mtu: u16, is_black_hole: bool) -> (IpAddr, Narrow) {
        let is_v6 = self.underlay.family() == Family::V6;
        let peer = if is_v6 { self.stack.v6(link) } else { self.stack.v4(link) };
        let peer = peer.parse().expect("an address");
        (peer, self.network.narrow(link, self.stack == Stack::Linux, peer, mtu, is_black_hole))
    }
}

/// A case and its name.
pub(crate) type Case = (&'static str, fn(Given<'_>));

/// One after the other: they share the links 0 and 1.
pub(crate) const CASES: [Case; 16] = [
    ("bulk both ways, we call", |given| bulk(given, Caller::Us)),
    ("bulk both ways, the peer calls", |given| bulk(given, Caller::Peer)),
    ("bulk both ways with loss, duplicates and reordering", damaged),
    ("both families at once", both_families),
    ("messages of 1 MB", long_messages),
    ("2,000 streams", many_streams),
    ("failover of both directions", |given| failover(given, &[Way::ToPeer, Way::ToUs])),
    ("failover of the direction to the peer", |given| failover(given, &[Way::ToPeer])),
    ("failover of the direction to us", |given| failover(given, &[Way::ToUs])),
    ("the primary is dead when we call", |given| dead_primary(given, Caller::Us)),
    ("the primary is dead when the peer calls", |given| dead_primary(given, Caller::Peer)),
    ("both call at once", collision),
    ("we begin anew", we_begin_anew),
    ("the peer begins anew", the_peer_begins_anew),
    ("a link is small, and its router says so", small_link),
    ("a link is small, its router says nothing, and both ends are told", told_of_a_black_hole),
];

/// In a thread of their own, on a link that nothing else uses.
pub(crate) const BESIDE: [Case; 1] = [("nobody reads for 20 s", nobody_reads)];

fn bulk(given: Given<'_>, caller: Caller) {
    let mut exchange = given.exchange(2_000);
    exchange.caller = caller;
    let outcome = exchange.run(|_, _| {});
    outcome.is_whole(&exchange);
    assert_eq!(outcome.mtus.len(), 2, "both paths are known: {:?}", outcome.mtus);
}

fn damaged(given: Given<'_>) {
    for link in [0, 1] {
        for way in [Way::ToPeer, Way::ToUs] {
            given.network.damage(link, way, "delay 20ms 15ms loss 3% duplicate 3%");
        }
    }
    let exchange = given.exchange(200);
    exchange.run(|_, _| {}).is_whole(&exchange);
}

fn both_families(given: Given<'_>) {
    if given.underlay == Underlay::V6 {
        skip("both families at once are the same whichever of them comes first");
        return;
    }
    for caller in [Caller::Us, Caller::Peer] {
        let mut exchange = given.exchange(500);
        exchange.family = Family::Both;
        exchange.caller = caller;
        // Ten time-outs end an association, and on four paths they come in less than four seconds with short timers.
        exchange.have_long_timers();
        let outcome = exchange.run(|_, _| {});
        outcome.is_whole(&exchange);
        assert_eq!(outcome.mtus.len(), 4, "{:?}", outcome.mtus);
    }
}

fn long_messages(given: Given<'_>) {
    let mut exchange = given.exchange(6).with_plans(|plan| plan.lengths = vec![1_000_000, 16, 1_048_576]);
    exchange.peer_buffer = 4 * 1_048_576;
    let room = 2 * 1_048_576;
    exchange.sctp =
        SctpConfig { send_buffer_bytes: room, receive_buffer_bytes: 2 * 1_048_576, ..exchange.sctp };
    exchange.run(|_, _| {}).is_whole(&exchange);
}

fn many_streams(given: Given<'_>) {
    let exchange = given.exchange(6_000).with_plans(|plan| {
        plan.lengths = vec![100];
        plan.streams = 2_000;
    });
    let outcome = exchange.run(|_, _| {});
    outcome.is_whole(&exchange);
    assert_eq!(outcome.found.outbound_streams, 2_000);
    assert_eq!(outcome.peer.said("up").unwrap()["inbound"], 2_000);
}

/// The first path is lost, in these directions, once messages have gone by one of them. Most are still to be sent then,
/// however late the other end begins.
fn failover(given: Given<'_>, ways: &[Way]) {
    let exchange = given.exchange(1_500).with_plans(|plan| {
        plan.lengths = vec![300];
        plan.every = Duration::from_millis(1);
    });
    let mut is_cut = false;
    let outcome = exchange.run(|us, _| {
        let found = &us.host().host.program.found;
        let has_gone = |way: &Way| match way {
            Way::ToPeer => found.sent > 200,
            Way::ToUs => found.messages > 200,
        };
        if !is_cut && ways.iter().any(has_gone) {
            is_cut = true;
            for way in ways {
                given.network.cut(0, *way);
            }
        }
    });
    outcome.is_whole(&exchange);
    if ways.contains(&Way::ToPeer) {
        assert!(outcome.has_failed(exchange.peer_addresses()[0]), "{:?}", outcome.found.paths);
    }
    assert!(is_cut);
    for way in ways {
        let (passed, second) = match way {
            Way::ToPeer => (&outcome.wire.to_peer, exchange.peer_addresses()[1]),
            Way::ToUs => (&outcome.wire.to_us, exchange.our_addresses()[1]),
        };
        assert!(passed.data_with(second) > 0, "{way:?}: nothing was sent by the other path: {passed:?}");
    }
}

fn dead_primary(given: Given<'_>, caller: Caller) {
    for way in [Way::ToPeer, Way::ToUs] {
        given.network.cut(0, way);
    }
    let mut exchange = given.exchange(100);
    exchange.caller = caller;
    exchange.run(|_, _| {}).is_whole(&exchange);
}

fn collision(given: Given<'_>) {
    for way in [Way::ToPeer, Way::ToUs] {
        given.network.damage(0, way, "delay 200ms");
    }
    let mut exchange = given.exchange(20);
    exchange.links = &[0];
    let peer = exchange.start(true);
    let mut us = exchange.open(true);
    let outcome = Exchange::to_its_end(&mut us, peer, |_, _| {});
    outcome.is_whole(&exchange);
    assert_eq!(outcome.found.begun, 1);
    let begun = outcome.peer.seen.iter().filter(|said| said["event"] == "up" || said["event"] == "restart");
    assert_eq!(begun.count(), 1, "{:?}", outcome.peer.seen);
}

/// An exchange that nobody ends.
fn without_end(given: Given<'_>) -> Exchange<'_> {
    given.exchange(200).with_plans(|plan| plan.closes = false)
}

fn we_begin_anew(given: Given<'_>) {
    let mut exchange = without_end(given);
    let mut peer = exchange.start(false);
    let mut us = exchange.open(true);
    turns(&mut us, &mut peer, |us, peer| {
        us.host().host.program.found.messages == 200 && peer.said("received").is_some()
    });
    // Without a word.
    drop(us);
    exchange.ours.closes = true;
    let outcome = Exchange::to_its_end(&mut exchange.open(true), peer, |_, _| {});
    outcome.is_whole(&exchange);
    assert!(outcome.peer.said("restart").is_some(), "{:?}", outcome.peer.seen);
}

fn the_peer_begins_anew(given: Given<'_>) {
    let mut exchange = without_end(given);
    let mut us = exchange.open(false);
    let mut peer = exchange.start(true);
    turns(&mut us, &mut peer, |us, peer| {
        us.host().host.program.found.messages == 200 && peer.said("received").is_some()
    });
    // Nor does its kernel say a word for it.
    for link in [0, 1] {
        given.network.cut(link, Way::ToUs);
    }
    peer.kill(given.network);
    given.network.heal();
    exchange.theirs.closes = true;
    let peer = exchange.start(true);
    let outcome = Exchange::to_its_end(&mut us, peer, |_, _| {});
    outcome.is_whole(&exchange);
    assert_eq!(outcome.found.begun, 2);
}

/// An exchange over one link that will carry no more than 1,300 bytes. usrsctp hears of no ICMP on raw sockets: it is
/// told.
fn over_a_small_link<'a>(given: Given<'a>, link: &'static [usize]) -> Exchange<'a> {
    let mut exchange = given.exchange(300).with_plans(|plan| plan.lengths = vec![4_000, 1_452, 1_000, 100]);
    exchange.links = link;
    exchange.peer_path_mtu = (given.stack == Stack::Usrsctp).then_some(1_200);
    exchange
}

fn small_link(given: Given<'_>) {
    let exchange = over_a_small_link(given, &[0]);
    let (peer, _narrow) = given.narrow(0, 1_300, false);
    let outcome = exchange.run(|_, _| {});
    outcome.is_whole(&exchange);
    assert_eq!(outcome.mtus, [(peer, 1_300 - given.underlay.overhead())]);
}

/// Nothing finds the path MTU here: each end keeps to what it is told. That it is found is a matter of probes, which
/// have cases of their own. Another link: Linux remembers what it has heard of the first.
fn told_of_a_black_hole(given: Given<'_>) {
    const OURS: u16 = 1_280;
    const THEIRS: u16 = 1_200;
    let mut exchange = over_a_small_link(given, &[1]);
    exchange.sctp.initial_path_mtu = OURS;
    exchange.peer_path_mtu = Some(THEIRS);
    let (peer, _narrow) = given.narrow(1, 1_300, true);
    let outcome = exchange.run(|_, _| {});
    outcome.is_whole(&exchange);
    let overhead = given.underlay.overhead();
    assert_eq!(outcome.mtus, [(peer, OURS - overhead)]);
    let longest = [&outcome.wire.to_peer, &outcome.wire.to_us].map(|passed| passed.longest_with_data);
    let theirs = match (given.stack, given.underlay) {
        (Stack::Linux, _) => THEIRS - overhead,
        // usrsctp counts from behind the headers of IP, SCTP and UDP.
        (Stack::Usrsctp, Underlay::V4 | Underlay::Udp) => THEIRS + 32,
        (Stack::Usrsctp, Underlay::V6) => THEIRS + 52,
    };
    assert_eq!(longest, [OURS - overhead, theirs].map(usize::from));
}

fn nobody_reads(given: Given<'_>) {
    const PAUSE: Duration = Duration::from_secs(20);
    let mut exchange = given.exchange(3_000).with_plans(|plan| {
        plan.lengths = vec![1_000];
        plan.pause = PAUSE;
    });
    exchange.links = &[2];
    exchange.peer_buffer = 262_144;
    let mut read_at = None;
    let outcome = exchange.run(|us, _| {
        if us.host().host.program.found.messages > 0 && read_at.is_none() {
            read_at = Some(us.now());
        }
        if us.now().since_start() < PAUSE {
            let sent = us.host().host.program.found.sent;
            assert!(sent < 3_000, "the peer's window closes");
        }
    });
    outcome.is_whole(&exchange);
    assert!(read_at.unwrap().since_start() >= PAUSE, "{read_at:?}");
}
