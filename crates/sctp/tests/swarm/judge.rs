//! Verdict on a case: the results that it must have had.

use std::collections::BTreeMap;

use slantpath_sctp::CloseReason;

use crate::case::{Feature, STREAMS};
use crate::world::World;

/// Holds what came of a case to what was promised. `is_settled`: whether nothing was left to do when the association
/// was shut down.
pub(crate) fn judge(world: &World, is_settled: bool) {
    let case = &world.case;
    for (number, end) in world.ends.iter().enumerate() {
        assert_eq!(end.endpoint.association_count(), 0, "end {number} hangs");
        assert!(end.id.is_none() || end.closed.is_some(), "end {number} does not say how it ended");
    }
    // The answer to a packet that comes late may be at the other end before the SHUTDOWN COMPLETE.
    let is_in_order = |end: &Option<CloseReason>| match end {
        Some(CloseReason::ShutdownComplete) => true,
        Some(CloseReason::PeerAborted(causes)) => causes.is_empty(),
        _ => false,
    };
    let is_complete = world.ends.iter().all(|end| is_in_order(&end.closed))
        && world.ends.iter().any(|end| matches!(end.closed, Some(CloseReason::ShutdownComplete)));
    if case.is_survivable {
        let ends = [0, 1].map(|end| &world.ends[end].closed);
        assert!(is_complete, "an association ends by itself: {ends:?}");
    }
    for (number, end) in world.ends.iter().enumerate() {
        for (context, given) in end.given.iter().enumerate() {
            let [acknowledged, abandoned, failed] = given.fates;
            assert_eq!(acknowledged + abandoned + failed, 1, "end {number}, message {context}: {given:?}");
            if is_complete {
                // What is to go to an address that is not confirmed when the association begins is handed back.
                let may_fail = given.is_early && given.destination.is_some();
                assert!(failed == 0 || may_fail, "end {number}, message {context} was not sent");
                assert!(acknowledged == 0 || given.deliveries == 1, "{number}: {context} is lost: {given:?}");
            }
            let may_abandon = case.features[number].contains(&Feature::PartialReliability);
            assert!(abandoned == 0 || may_abandon, "{given:?}");
        }
        let mib = end.endpoint.mib();
        let [packets, data, control] = end.transmitted;
        assert_eq!(mib.out_sctp_packs, packets, "packets sent");
        assert_eq!(mib.out_ctrl_chunks, control, "control chunks sent");
        assert!(mib.out_order_chunks + mib.out_unorder_chunks <= data, "DATA chunks sent: {mib:?}, {data}");
        assert_eq!(mib.in_sctp_packs, end.packets_in, "packets received");
        assert_eq!(mib.checksum_errors, end.damaged_in, "checksum errors");
        assert_eq!(mib.curr_estab, 0);
        if is_complete {
            assert_eq!(mib.shutdowns + mib.aborteds, 1, "{mib:?}");
        }
    }
    if is_complete && is_settled {
        for (from, to) in [(0, 1), (1, 0)] {
            let [outbound, _] = &world.ends[from].resets;
            let [_, inbound] = &world.ends[to].resets;
            // Those that follow each other while nobody reads are told as one, and the answer to the last that the peer
            // has asked for may be under way.
            let reset = |side: &BTreeMap<Option<u16>, u32>, stream| {
                side.contains_key(&None) || side.contains_key(&Some(stream))
            };
            for stream in 0..STREAMS {
                let is_told = !reset(outbound, stream) || reset(inbound, stream);
                assert!(is_told, "{outbound:?}, {inbound:?}");
            }
            assert_eq!(world.ends[from].asked, [0, 0], "requests of end {from} without an answer");
            assert!(!world.ends[from].waits_for_room, "end {from} is not told of room");
        }
    }
}
