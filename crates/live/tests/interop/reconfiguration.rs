//! The cases of stream reconfiguration (RFC 6525).

use std::collections::BTreeSet;

use serde_json::Value;
use slantpath_live::Extension;
use slantpath_sctp::chunk::ReconfigurationResult;
use slantpath_sctp::{self as sctp, ResetDirection, StreamId, StreamsChanged};

use crate::cases::{Case, Given};
use crate::exchange::{Exchange, Outcome, Us};
use crate::extensions::{command, extended, has_told, run, told};
use crate::peer::{Peer, Stack};
use crate::wire::{Wire, kind};

/// Number of streams that an exchange has either way.
const STREAMS: u16 = 4;

/// One after the other, as the others.
pub(crate) const CASES: [Case; 7] = [
    ("we reset streams in both directions", we_reset_streams),
    ("the peer resets streams in both directions", the_peer_resets_streams),
    ("we reset one stream of ours", we_reset_one_stream),
    ("we add streams in both directions", we_add_streams),
    ("the peer adds streams in both directions", the_peer_adds_streams),
    ("we reset the association", we_reset_the_association),
    ("the peer resets the association", the_peer_resets_the_association),
];

fn reconfigured(given: Given<'_>) -> Exchange<'_> {
    extended(given, &[Extension::Reconfiguration])
}

/// Every stream of a direction has begun so often.
fn have_begun(outcome: &Outcome, times: [usize; 2]) {
    for (passed, times) in [&outcome.wire.to_peer, &outcome.wire.to_us].into_iter().zip(times) {
        assert_eq!(passed.begun(), [times; 4], "{passed:?}");
    }
    let [to_peer, to_us] = outcome.wire.counts(kind::RE_CONFIG);
    assert!(to_peer > 0 && to_us > 0, "{to_peer} and {to_us} RE-CONFIGs");
}

/// Results with which our requests have been answered.
fn answers(outcome: &Outcome) -> Vec<ReconfigurationResult> {
    let answer = |event: &sctp::Event| match event {
        sctp::Event::ReconfigurationAnswered { result, .. } => Some(*result),
        _ => None,
    };
    outcome.found.told.iter().filter_map(answer).collect()
}

/// Tells if we have been told that every stream of both directions begins anew. A peer may ask for them in parts.
fn have_all_been_reset(us: &Us) -> bool {
    let (mut outbound, mut inbound) = (BTreeSet::<StreamId>::new(), BTreeSet::new());
    for event in told(us) {
        let (streams, reset) = match event {
            sctp::Event::StreamsChanged(StreamsChanged::OutboundReset(streams)) => (streams, &mut outbound),
            sctp::Event::StreamsChanged(StreamsChanged::InboundReset(streams)) => (streams, &mut inbound),
            _ => continue,
        };
        // None named are all.
        let all: &[StreamId] = &(0..STREAMS).map(StreamId).collect::<Vec<_>>();
        reset.extend(if streams.is_empty() { all } else { streams });
    }
    [outbound, inbound].iter().all(|reset| reset.len() == usize::from(STREAMS))
}

/// Number of times that the peer has said that what was asked for is done. It must not have been refused.
fn times_done(peer: &Peer, name: &str) -> usize {
    assert_eq!(peer.count(|said| said["event"] == "refused"), 0, "{peer:?}");
    peer.count(|said| said["event"] == name && said["result"] == "done")
}

/// Tells if we have been told these events, and the peer has said that what was asked for is done.
fn is_done(us: &Us, peer: &Peer, ours: &[sctp::Event], name: &str) -> bool {
    times_done(peer, name) > 0 && has_told(us, ours)
}

fn we_reset_streams(given: Given<'_>) {
    let exchange = reconfigured(given);
    let mut is_asked = false;
    let outcome = run(&exchange, |us, peer| {
        if !std::mem::replace(&mut is_asked, true) {
            command(us, |now, sctp, id| sctp.reset_streams(now, id, ResetDirection::Both, &[])).unwrap();
        }
        times_done(peer, "streams_reset") >= 2 && have_all_been_reset(us)
    });
    have_begun(&outcome, [2, 2]);
    assert!(answers(&outcome).contains(&ReconfigurationResult::Performed), "{:?}", outcome.found);
}

fn the_peer_resets_streams(given: Given<'_>) {
    let exchange = reconfigured(given);
    let mut is_asked = false;
    let outcome = run(&exchange, |us, peer| {
        if !std::mem::replace(&mut is_asked, true) {
            peer.ask("reset both");
        }
        times_done(peer, "streams_reset") >= 2 && have_all_been_reset(us)
    });
    have_begun(&outcome, [2, 2]);
}

fn we_reset_one_stream(given: Given<'_>) {
    let exchange = reconfigured(given);
    let mut is_asked = false;
    let stream = StreamId(2);
    let outcome = run(&exchange, |us, peer| {
        if !std::mem::replace(&mut is_asked, true) {
            let streams = [stream];
            command(us, |now, sctp, id| sctp.reset_streams(now, id, ResetDirection::Outbound, &streams))
                .unwrap();
        }
        let reset = sctp::Event::StreamsChanged(StreamsChanged::OutboundReset(Box::new([stream])));
        is_done(us, peer, &[reset], "streams_reset")
    });
    assert_eq!(outcome.wire.to_peer.begun(), [1, 1, 2, 1]);
    assert_eq!(outcome.wire.to_us.begun(), [1; 4]);
    assert_eq!(answers(&outcome), [ReconfigurationResult::Performed]);
}

fn added(given: Given<'_>) -> Exchange<'_> {
    reconfigured(given).with_plans(|plan| plan.later_streams = 8)
}

fn eight_streams() -> sctp::Event {
    sctp::Event::StreamsChanged(StreamsChanged::Added { outbound_streams: 8, inbound_streams: 8 })
}

/// Tells if the peer may send on all streams: usrsctp says when there are more for us, and when there are for it.
fn has_eight_streams(given: Given<'_>, peer: &Peer) -> bool {
    let has_all = |said: &Value| said["event"] == "streams_added" && said["outbound"] == 8;
    given.stack == Stack::Linux || peer.count(has_all) > 0
}

fn we_add_streams(given: Given<'_>) {
    let exchange = added(given);
    let mut is_asked = false;
    let outcome = run(&exchange, |us, peer| {
        if !std::mem::replace(&mut is_asked, true) {
            command(us, |now, sctp, id| sctp.add_streams(now, id, 4, 4)).unwrap();
        }
        is_done(us, peer, &[eight_streams()], "streams_added") && has_eight_streams(given, peer)
    });
    assert_eq!(outcome.wire.to_peer.begun().len(), 8);
    assert_eq!(outcome.wire.to_us.begun().len(), 8);
}

fn the_peer_adds_streams(given: Given<'_>) {
    let exchange = added(given);
    let mut is_asked = false;
    let outcome = run(&exchange, |us, peer| {
        if !std::mem::replace(&mut is_asked, true) {
            peer.ask("add 4 4");
        }
        is_done(us, peer, &[eight_streams()], "streams_added") && has_eight_streams(given, peer)
    });
    assert_eq!(outcome.wire.to_peer.begun().len(), 8);
    assert_eq!(outcome.wire.to_us.begun().len(), 8);
}

fn association_reset() -> [sctp::Event; 1] {
    [sctp::Event::StreamsChanged(StreamsChanged::AssociationReset)]
}

fn we_reset_the_association(given: Given<'_>) {
    let exchange = reconfigured(given);
    let mut is_asked = false;
    let outcome = run(&exchange, |us, peer| {
        if !std::mem::replace(&mut is_asked, true) {
            command(us, |now, sctp, id| sctp.reset_association(now, id)).unwrap();
        }
        is_done(us, peer, &association_reset(), "association_reset")
    });
    have_begun(&outcome, [2, 2]);
    assert_eq!(answers(&outcome), [ReconfigurationResult::Performed]);
}

/// Tells if usrsctp 0.9.5 would be deaf after a reset that it asks for: it then takes our next TSN for what we have
/// acknowledged last, and each SACK of ours that lies before it for an old one.
fn would_be_deaf(wire: &Wire) -> bool {
    let [ours, theirs] = [&wire.to_peer, &wire.to_us].map(|passed| passed.last_tsn.unwrap());
    // The TSN that it goes on with (RFC 6525, section 5.2.4), if it has sent nothing that has not come.
    let next = theirs.wrapping_add(1 << 31).wrapping_add(1);
    next.wrapping_sub(ours) > i32::MAX.unsigned_abs()
}

fn the_peer_resets_the_association(given: Given<'_>) {
    // The initial TSNs are drawn: every second association or so is one whose reset usrsctp can get over.
    for _ in 0..40 {
        let exchange = reconfigured(given);
        let (mut is_asked, mut is_left_out) = (false, false);
        let outcome = run(&exchange, |us, peer| {
            if !std::mem::replace(&mut is_asked, true) {
                is_left_out = given.stack == Stack::Usrsctp && would_be_deaf(&us.host().observer);
                if !is_left_out {
                    peer.ask("reset-association");
                }
            }
            is_left_out || is_done(us, peer, &association_reset(), "association_reset")
        });
        if !is_left_out {
            have_begun(&outcome, [2, 2]);
            return;
        }
    }
    panic!("usrsctp would be deaf after each reset");
}
