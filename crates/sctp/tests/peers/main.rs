//! Our endpoint against two stacks that nobody here wrote: dcsctp and sctp-proto, in memory, over wires that
//! lose, double and reorder by seed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dcsctp_peer;
mod duel;
mod our_peer;
mod sctp_proto_peer;

use slantpath_base::{Duration, Instant, Probability};
use slantpath_sctp::Extension;
use slantpath_testkit::WireFaults;

use dcsctp_peer::DcsctpPeer;
use duel::{Duel, Peer};
use our_peer::OurPeer;
use sctp_proto_peer::SctpProtoPeer;

fn calm() -> WireFaults {
    WireFaults::none(Duration::from_millis(20))
}

/// One packet in twenty is lost, one in twenty comes twice, one in ten is overtaken, one in a hundred is damaged.
fn stormy() -> WireFaults {
    let chance = |p| Probability::new(p).unwrap();
    WireFaults {
        delay: Duration::from_millis(20),
        loss: chance(0.05),
        duplication: chance(0.05),
        reordering: chance(0.1),
        extra_delay_max: Duration::from_millis(40),
        corruption: chance(0.01),
    }
}

fn ours(seed: u64, is_second: bool) -> Box<dyn Peer> {
    Box::new(OurPeer::new(seed, is_second))
}

/// Each side sends messages of every size on four streams; then one of them shuts down. `they_connect` and
/// `they_shut_down` say which.
fn exchange(
    theirs: fn() -> Box<dyn Peer>,
    they_connect: bool,
    they_shut_down: bool,
    faults: WireFaults,
    seed: u64,
) {
    let replay = format!("seed {seed}, they connect: {they_connect}, they shut down: {they_shut_down}");
    let mut duel = Duel::new([ours(seed, false), theirs()], faults, seed);
    duel.connect(usize::from(they_connect));
    assert!(duel.run(Duration::from_secs(120), Duel::is_established), "{replay}: no association");
    duel.transfer(200, &replay);
    duel.shutdown(usize::from(they_shut_down));
    assert!(duel.run(Duration::from_secs(600), |duel| duel.peers[0].is_closed()), "{replay}: we do not end");
    // sctp-proto 0.10.8 does not take a SHUTDOWN COMPLETE with the T bit, which is what a repeated SHUTDOWN ACK
    // gets once we are gone.
    if faults == calm() || !duel.peers[1].needs_the_first_shutdown_complete() {
        let is_over = |duel: &Duel| duel.peers[1].is_closed();
        assert!(duel.run(Duration::from_secs(600), is_over), "{replay}: they do not end");
    }
}

fn dcsctp() -> Box<dyn Peer> {
    Box::new(DcsctpPeer::new())
}

fn sctp_proto() -> Box<dyn Peer> {
    Box::new(SctpProtoPeer::new())
}

#[test]
fn dcsctp_and_we_understand_each_other() {
    for (they_connect, they_shut_down) in [(false, false), (false, true), (true, false), (true, true)] {
        exchange(dcsctp, they_connect, they_shut_down, calm(), 1);
    }
}

#[test]
fn dcsctp_and_we_understand_each_other_through_storms() {
    for seed in 0..12 {
        exchange(dcsctp, seed % 2 == 0, seed % 4 < 2, stormy(), seed);
    }
}

/// The shutdown is ours: a SHUTDOWN of sctp-proto 0.10.8 acknowledges a TSN of its own instead of one of ours,
/// which makes an ABORT due whenever that number lies beyond what we have sent.
#[test]
fn sctp_proto_and_we_understand_each_other() {
    for they_connect in [false, true] {
        exchange(sctp_proto, they_connect, false, calm(), 1);
    }
}

#[test]
fn sctp_proto_and_we_understand_each_other_through_storms() {
    for seed in 0..12 {
        exchange(sctp_proto, seed % 2 == 0, false, stormy(), seed);
    }
}

/// Fragments of several messages in turn, both ways.
#[test]
fn dcsctp_and_we_interleave_messages() {
    let theirs = || Box::new(DcsctpPeer::interleaving()) as Box<dyn Peer>;
    for seed in 0..12 {
        let faults = if seed == 0 { calm() } else { stormy() };
        let replay = format!("seed {seed}");
        let ours = Box::new(OurPeer::extended(seed, &[Extension::Interleaving]));
        let mut duel = Duel::new([ours, theirs()], faults, seed);
        duel.connect((seed % 2) as usize);
        assert!(duel.run(Duration::from_secs(120), Duel::is_established), "{replay}: no association");
        duel.transfer(200, &replay);
        duel.shutdown((seed / 2 % 2) as usize);
        assert!(duel.run(Duration::from_secs(600), |duel| duel.peers[0].is_closed()), "{replay}: no end");
    }
}

/// Checks that lost messages are given up, and the other is told; then the streams go on. With DATA and with I-DATA.
#[test]
fn they_and_we_give_messages_up() {
    let both = [Extension::PartialReliability, Extension::Interleaving];
    let interleaving = || Box::new(DcsctpPeer::interleaving()) as Box<dyn Peer>;
    let peers = [
        ("dcsctp", dcsctp as fn() -> Box<dyn Peer>, &both[..1]),
        ("dcsctp, interleaving", interleaving, &both),
        ("sctp-proto", sctp_proto, &both[..1]),
    ];
    for (name, theirs, extensions) in peers {
        let mut lost = [0, 0];
        for seed in 0..8 {
            let replay = format!("{name}, seed {seed}");
            let mut duel =
                Duel::new([Box::new(OurPeer::extended(seed, extensions)), theirs()], stormy(), seed);
            duel.connect((seed % 2) as usize);
            assert!(duel.run(Duration::from_secs(120), Duel::is_established), "{replay}: no association");
            let missing = duel.transfer_perishable(200, &replay);
            lost = [lost[0] + missing[0], lost[1] + missing[1]];
            duel.transfer(40, &replay);
            duel.shutdown(0);
            assert!(duel.run(Duration::from_secs(600), |duel| duel.peers[0].is_closed()), "{replay}: no end");
        }
        assert!(lost[0] > 0, "{name}: we gave nothing up");
        assert!(lost[1] > 0 || name == "sctp-proto", "{name}: they gave nothing up");
    }
}

/// The harness itself, with no stranger in it.
#[test]
fn we_understand_ourselves_through_storms() {
    for seed in 0..12 {
        let replay = format!("seed {seed}");
        let mut duel = Duel::new([ours(seed, false), ours(seed + 1_000, true)], stormy(), seed);
        duel.connect(0);
        assert!(duel.run(Duration::from_secs(120), Duel::is_established), "{replay}: no association");
        duel.transfer(200, &replay);
        duel.shutdown(1);
        let is_over = |duel: &Duel| duel.peers.iter().all(|peer| peer.is_closed());
        assert!(duel.run(Duration::from_secs(600), is_over), "{replay}: no end");
    }
}

/// Their messages of 20,000 bytes do not fit into our buffer, which is closed for the first 20 s.
#[test]
fn they_send_more_than_our_buffer_holds_and_wait_while_nothing_is_read() {
    for (name, theirs) in [("dcsctp", dcsctp as fn() -> Box<dyn Peer>), ("sctp-proto", sctp_proto)] {
        for (seed, faults) in [(1, calm()), (2, stormy()), (3, stormy())] {
            let replay = format!("{name}, seed {seed}");
            let read_at = Instant::from_secs(20);
            let mut duel =
                Duel::new([Box::new(OurPeer::cramped(seed, Some(read_at))), theirs()], faults, seed);
            duel.connect(0);
            assert!(duel.run(Duration::from_secs(120), Duel::is_established), "{replay}: no association");
            duel.transfer(40, &replay);
            assert!(duel.now > read_at && duel.peers[0].parts() > 0, "{replay}: {}", duel.peers[0].parts());
        }
    }
}

/// Both sides connect at once.
#[test]
fn dcsctp_and_we_begin_at_the_same_time() {
    for seed in 0..10 {
        let faults = if seed == 0 { calm() } else { stormy() };
        let mut duel = Duel::new([ours(seed, false), dcsctp()], faults, seed);
        duel.connect(0);
        duel.connect(1);
        assert!(duel.run(Duration::from_secs(120), Duel::is_established), "seed {seed}: no association");
        duel.transfer(20, &format!("seed {seed}"));
    }
}
