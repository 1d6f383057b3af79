//! T3-rtx expires (RFC 9260, section 6.3.3).

use slantpath_base::Instant;
use slantpath_cc::control::LossEvent;

use super::gap_ranges::TsnRange;
use super::outstanding::{ChunkState, Loss, OutstandingChunk};
use super::sack::insert_lost;
use super::{Recovery, Remainder, Sender, Turn, Urgent};
use crate::event::Event;
use crate::path::PathId;
use crate::policy::RetransmissionAfterTimeout;
use crate::trace::LossEvidence;

/// Meaning of an expiry for the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutMeaning {
    /// Nothing: the peer answers and keeps its window closed.
    WindowClosed,
    /// The path does not answer.
    NoAnswer,
}

impl Sender {
    /// T3-rtx of `path` has expired: what is in flight there is given up.
    pub(crate) fn on_t3_rtx(&mut self, turn: &mut Turn<'_>, path: PathId) -> TimeoutMeaning {
        let change = turn.paths[path].expire_t3_rtx();
        if turn.config.trace_timers {
            turn.events.push_back(Event::T3Rtx { address: turn.paths[path].destination, change });
        }
        turn.paths[path].stats.timeouts += 1;
        let first = turn.paths[path].earliest;
        let first_len =
            first.and_then(|tsn| self.outstanding.find(tsn)).map_or(0, OutstandingChunk::payload_len);
        let meaning = if self.peer_window.excuses_timeout(first_len) {
            TimeoutMeaning::WindowClosed
        } else {
            TimeoutMeaning::NoAnswer
        };
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
        //# Zero window probing does not affect the
        //# calculation of cwnd.
        match meaning {
            TimeoutMeaning::NoAnswer => {
                if let Some(chunk) = first.and_then(|tsn| self.outstanding.find(tsn)) {
                    turn.paths[path].on_size_lost(turn.now, chunk.departure.sent_at, chunk.needed_mtu);
                }
                if turn.config.multipath.is_pooled() {
                    turn.paths.pool(turn.config.multipath);
                }
                let exit = turn.paths[path].fast_recovery_exit.take();
                let is_known = first.is_some_and(|first| {
                    self.recovery.has_halved(path, first)
                        || exit.is_some_and(|exit| first.is_at_or_before(exit))
                        || turn.paths[path].has_reduced_for(first)
                        || turn.paths[path].has_reduced_for_mark(first)
                });
                let (from, to) = (self.outstanding.cumulative_ack(), self.outstanding.highest_sent());
                turn.paths[path].begin_timeout(turn.now, from, to);
                turn.paths[path].collapse_window(if is_known { LossEvent::Known } else { LossEvent::New });
                turn.paths[path].on_reduced_for_loss(to);
            }
            TimeoutMeaning::WindowClosed => {
                if let Some(first) = first {
                    self.peer_window.probe_again(first);
                }
            }
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.3
        //# E2)  For the destination address for which the timer expires, set RTO
        //# = RTO * 2 ("back off the timer").
        turn.paths[path].rtt.back_off();
        self.repeat_announced(turn, path);
        self.give_up(turn, path, Loss::TimedOut, LossEvidence::TimedOut);
        turn.paths[path].earliest = None;
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.4
        //= type=exception
        //= reason=An expiry ends Fast Recovery as in RFC 6582, section 4: slow start could not open the window in it.
        //# When a SACK
        //# chunk acknowledges all TSNs up to and including this exit point,
        //# Fast Recovery is exited.
        self.recovery = Recovery::No;
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.3
        //# Bundle and retransmit those K DATA chunks in a
        //# single packet to the destination endpoint.
        self.urgent = Urgent::OnePacket;
        self.remainder = match turn.config.retransmission_after_timeout {
            RetransmissionAfterTimeout::OnePacket => Remainder::AfterSack,
            RetransmissionAfterTimeout::Window => Remainder::Free,
        };
        meaning
    }

    /// The link that leads to `path` has gone: what is in flight there goes again at once, by another. The window is
    /// left alone, since nothing says that the path cannot carry it.
    pub(crate) fn on_link_down(&mut self, turn: &mut Turn<'_>, path: PathId) {
        turn.paths[path].stop_t3_rtx();
        self.repeat_announced(turn, path);
        let Some(first) = turn.paths[path].earliest.take() else { return };
        let first_len = self.outstanding.find(first).map_or(0, OutstandingChunk::payload_len);
        if !self.peer_window.has_room(first_len) {
            self.peer_window.probe_again(first);
        }
        self.give_up(turn, path, Loss::LinkDown, LossEvidence::LinkDown);
    }

    /// The window of a peer that advertises none may be probed now.
    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        self.peer_window.handle_deadline(now);
        self.bundling.handle_deadline(now);
    }

    /// Marks everything in flight to `path` for retransmission, and all that the peer has revoked.
    fn give_up(&mut self, turn: &mut Turn<'_>, path: PathId, loss: Loss, evidence: LossEvidence) {
        while let Some(tsn) = self.flight_order.first(path, &self.outstanding, &self.steps) {
            if let Some(chunk) = self.outstanding.set_state(tsn, ChunkState::Lost(loss)) {
                turn.paths[path].on_chunk_lost(chunk.wire_len(), &chunk.departure);
                turn.note_lost(chunk.context, tsn, path, evidence);
            }
            insert_lost(&mut self.lost, tsn);
        }
        debug_assert_eq!(turn.paths[path].flight_size, 0, "everything in flight was found");
        // The last SACK may have left out more than it could revoke.
        for tsn in self.acked_gaps.revoke_unreported().into_iter().flat_map(TsnRange::iter) {
            let stands = |chunk: &OutstandingChunk| chunk.is_freed() || chunk.state == ChunkState::Abandoned;
            if self.outstanding.find(tsn).is_some_and(stands) {
                continue;
            }
            if let Some(chunk) = self.outstanding.set_state(tsn, ChunkState::Lost(loss)) {
                turn.note_lost(chunk.context, tsn, chunk.path, evidence);
                if let Some(timing) = &mut turn.paths[chunk.path].timing {
                    timing.on_in_order();
                }
            }
            insert_lost(&mut self.lost, tsn);
        }
    }
}
