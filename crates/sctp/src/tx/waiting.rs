//! Why nothing leaves, and what is lost, for those who follow an association by its trace.

use super::bundling::Bundling;
use super::outstanding::ChunkState;
use super::transmit::retransmission_path;
use super::{Remainder, Sender, Turn};
use crate::event::Event;
use crate::path::{Path, PathId};
use crate::trace::{LossEvidence, TraceEvent, WaitReason};
use crate::types::Tsn;

impl Turn<'_> {
    /// A chunk that was last sent to `path` is to be retransmitted.
    #[inline]
    pub(super) fn note_lost(&mut self, context: u64, tsn: Tsn, path: PathId, evidence: LossEvidence) {
        if self.config.trace {
            let address = self.paths[path].destination;
            self.tell(TraceEvent::Lost { context, tsn, address, evidence });
        }
    }

    #[cold]
    pub(super) fn tell(&mut self, event: TraceEvent) {
        self.events.push_back(Event::Trace(Box::new(event)));
    }
}

impl Sender {
    /// Why nothing more leaves, now that nothing does.
    pub(crate) fn wait_reason(&self, turn: &Turn<'_>) -> WaitReason {
        let outstanding = self.lost.iter().filter_map(|tsn| self.outstanding.find(*tsn));
        let mut lost = outstanding.filter(|chunk| matches!(chunk.state, ChunkState::Lost(_)));
        if let Some(chunk) = lost.next() {
            let path = retransmission_path(chunk, turn.paths, turn.config);
            return match self.remainder {
                Remainder::AfterSack => WaitReason::AfterTimeout,
                Remainder::Free if self.is_probe_in_flight() => WaitReason::PeerWindow,
                Remainder::Free => of_path(&turn.paths[path]),
            };
        }
        let path = turn.paths.current();
        let Some(len) = self.queue.next_len(self.max_payload(turn.paths)) else {
            return WaitReason::NothingToSend;
        };
        if self.outstanding.is_full() {
            return WaitReason::TooManyOutstanding;
        }
        if !self.peer_window.admits(len, self.outstanding.in_flight_payload()) {
            return WaitReason::PeerWindow;
        }
        let path = &turn.paths[path];
        if path.may_send_data() && path.held_until().is_none() {
            let is_bundling = matches!(self.bundling, Bundling::Until(_));
            return if is_bundling { WaitReason::Bundling } else { WaitReason::OtherPath };
        }
        of_path(path)
    }
}

/// Why nothing leaves to a path.
fn of_path(path: &Path) -> WaitReason {
    if !path.has_window() {
        WaitReason::CongestionWindow
    } else if path.held_until().is_some() {
        WaitReason::Pacing
    } else {
        WaitReason::Burst
    }
}
