//! The sending half against the definition of what it keeps.

use super::outstanding::ChunkState;
use super::*;
use crate::path::Departed;

/// Number of chunks, blocks and TSNs that acknowledgements have looked at since the last time.
pub(crate) fn steps(sender: &Sender) -> usize {
    sender.steps.reset() + sender.acked_gaps.steps.reset()
}

/// Checks everything that the sending half and the paths keep incrementally against the chunks themselves.
pub(crate) fn assert_consistent(sender: &Sender, paths: &Paths) {
    let first = sender.outstanding.cumulative_ack().next();
    let chunks: Vec<_> = (0..sender.outstanding.len())
        .map(|step| sender.outstanding.find(first.plus(u32::try_from(step).unwrap())).unwrap())
        .collect();
    for id in paths.ids() {
        let on_path: Vec<_> =
            chunks.iter().filter(|chunk| chunk.path == id && chunk.state == ChunkState::InFlight).collect();
        let flight_size: u64 = on_path.iter().map(|chunk| chunk.wire_len()).sum();
        assert_eq!(paths[id].flight_size, flight_size, "flight size of path {id:?}");
        let earliest = on_path.first().map(|chunk| chunk.data.tsn);
        assert_eq!(paths[id].earliest, earliest, "earliest outstanding chunk of path {id:?}");
        let is_timed = flight_size > 0 || paths[id].awaits_forward_ack;
        assert_eq!(paths[id].t3_rtx().is_some(), is_timed, "T3-rtx of path {id:?}");
        if let Some(timing) = &paths[id].timing {
            let acked = chunks.iter().filter(|chunk| chunk.path == id && chunk.state == ChunkState::Acked);
            assert_eq!(timing.is_in_order(), acked.count() == 0, "what is out of order on path {id:?}");
            for chunk in on_path {
                let departed = Departed { tsn: chunk.data.tsn, transmission: chunk.transmissions };
                let is_known = timing.departures.contains(&departed) || timing.set_aside.contains(&departed);
                assert!(is_known, "{departed:?} has left path {id:?}");
            }
        }
    }
    if let Some(spread) = &sender.spread {
        for id in paths.ids() {
            let sent =
                chunks.iter().filter(|chunk| chunk.path == id).map(|chunk| chunk.payload_len()).sum::<u64>();
            assert_eq!(spread.outstanding_on(id), sent, "what is outstanding on path {id:?}");
        }
    }
    let payload_in = |state: ChunkState| -> u64 {
        chunks.iter().filter(|chunk| chunk.state == state).map(|chunk| chunk.payload_len()).sum()
    };
    assert_eq!(sender.outstanding.in_flight_payload(), payload_in(ChunkState::InFlight));
    assert_eq!(sender.outstanding.acked_payload(), payload_in(ChunkState::Acked));
    let lost = chunks.iter().filter(|chunk| matches!(chunk.state, ChunkState::Lost(_)));
    for chunk in lost {
        assert!(sender.lost.contains(&chunk.data.tsn), "a lost chunk waits for its retransmission");
    }
    assert!(sender.lost.iter().zip(sender.lost.iter().skip(1)).all(|(tsn, next)| tsn.is_before(*next)));
    let missing = sender.missing.candidates();
    assert!(missing.iter().all(|tsn| !tsn.is_before(first)), "what has been acknowledged is not missing");
    let unacked: u64 = chunks.iter().map(|chunk| chunk.kept_len()).sum();
    assert!(sender.buffered_bytes >= unacked);
    assert!(chunks.iter().all(|chunk| paths.ids().any(|path| path == chunk.path)));
}
