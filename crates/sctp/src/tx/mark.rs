//! An ECNE arrives (RFC 4960, appendix A): the network has marked a packet in place of dropping it.

use slantpath_cc::control::LossEvent;

use super::outstanding::ChunkState;
use super::{Sender, Turn};
use crate::path::PathId;
use crate::types::Tsn;

impl Sender {
    /// The peer says that a packet was marked whose lowest TSN is `lowest`. Returns whether it is to be told that the
    /// window has been reduced.
    pub(crate) fn on_marked(&self, turn: &mut Turn<'_>, lowest: Tsn) -> bool {
        let highest_sent = self.outstanding.highest_sent();
        if lowest.is_after(highest_sent) {
            // It was never sent.
            return false;
        }
        // What has been acknowledged was answered before, and the answer is lost or on its way: an ECNE goes with every
        // SACK until it has come.
        if let Some(chunk) = self.outstanding.find(lowest) {
            turn.paths[chunk.path].on_marked(lowest, highest_sent);
        }
        true
    }

    /// Loss event for the DATA that waits to be retransmitted on a path: a known one if it was sent before a mark
    /// reduced the path's window.
    pub(super) fn loss_event(&self, turn: &Turn<'_>, id: PathId) -> LossEvent {
        let path = &turn.paths[id];
        if path.is_in_marked_window() && self.first_lost(id).is_some_and(|tsn| path.has_reduced_for_mark(tsn))
        {
            LossEvent::Known
        } else {
            LossEvent::New
        }
    }

    pub(super) fn first_lost(&self, id: PathId) -> Option<Tsn> {
        self.lost.iter().copied().find(|tsn| {
            let chunk = self.outstanding.find(*tsn);
            chunk.is_some_and(|chunk| chunk.path == id && matches!(chunk.state, ChunkState::Lost(_)))
        })
    }
}
