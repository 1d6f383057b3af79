//! Losses by time, on each path by itself (RFC 8985): what has been overtaken there by what was sent after it.

use slantpath_cc::rack;

use super::outstanding::{ChunkState, Loss, OutstandingChunk};
use super::sack::insert_lost;
use super::{Sender, Turn, Urgent};
use crate::path::{Early, PathId, ProbeKind};
use crate::trace::{LossEvidence, TraceEvent};
use crate::types::Tsn;

impl Sender {
    /// The SACK at hand, which reports `duplicates`, has been taken in: draws its conclusions.
    pub(super) fn conclude_by_time(&mut self, turn: &mut Turn<'_>, duplicates: &[Tsn]) {
        let now = turn.now;
        let cumulative = self.outstanding.cumulative_ack();
        let (acknowledged, next) = (self.outstanding.number(cumulative), self.outstanding.next_number());
        for id in turn.paths.ids() {
            let path = &mut turn.paths[id];
            let is_spurious = path.timing.as_mut().is_some_and(|timing| timing.end_sack(now));
            for tsn in duplicates {
                path.forgive(now, *tsn, acknowledged, next);
            }
            if is_spurious {
                self.restore_given_up(turn, id);
                turn.paths[id].take_back(now);
            }
            let path = &mut turn.paths[id];
            path.settle_loss_probe(cumulative, duplicates);
            if turn.config.multipath.is_on() && path.is_repairing() {
                // Other paths may hold up the cumulative ack.
                path.earliest = self.flight_order.first(id, &self.outstanding, &self.steps);
                let settled = self.pseudo_cumulative(turn, id);
                turn.paths[id].settle_recovery(now, settled);
            } else {
                path.settle_recovery(now, cumulative);
            }
            let path = &mut turn.paths[id];
            let in_flight = path.tally.flight_size_before;
            self.find_overtaken(turn, id, in_flight);
            turn.paths[id].shrink_proportionally();
        }
    }

    /// Something is due on `path` before T3-rtx.
    pub(crate) fn on_early_deadline(&mut self, turn: &mut Turn<'_>, path: PathId) {
        match turn.paths[path].timing.as_ref().and_then(|timing| timing.early) {
            Some(Early::Probe(_)) => {
                let may_be_sent = turn.paths[path].on_probe_due(turn.now);
                self.urgent = if may_be_sent { Urgent::LossProbe(path) } else { self.urgent };
            }
            Some(Early::Reordering(_)) => {
                let in_flight = turn.paths[path].flight_size;
                self.find_overtaken(turn, path, in_flight);
                self.settle_flight(turn, path);
                self.schedule_probe(turn, path);
            }
            None => {}
        }
    }

    /// Finds what is lost on a path by now, each at its own time, and when the next will be. `in_flight_before`: what
    /// was in flight there before the event at hand.
    fn find_overtaken(&mut self, turn: &mut Turn<'_>, id: PathId, in_flight_before: u64) {
        let path = &mut turn.paths[id];
        let srtt = path.rtt.srtt();
        let Some(timing) = &path.timing else { return };
        let window = timing.reordering_window(srtt);
        let last_told = self.reports.last_told();
        let mut last = None;
        let next_at = loop {
            let path = &mut turn.paths[id];
            let Some(timing) = &mut path.timing else { return };
            let Some((order, departed)) = timing.oldest(last_told) else { break None };
            self.steps.take(1);
            let stands = |chunk: &&OutstandingChunk| {
                chunk.state.is_in_flight() && chunk.path == id && chunk.transmissions == departed.transmission
            };
            let Some(chunk) = self.outstanding.find(departed.tsn).filter(stands) else {
                timing.forget_oldest(order);
                continue;
            };
            let (wire_len, departure, needed_mtu) = (chunk.wire_len(), chunk.departure, chunk.needed_mtu);
            let context = chunk.context;
            let end = self.outstanding.number(departed.tsn);
            match timing.lost_at(rack::Transmission { sent_at: departure.sent_at, end }, window) {
                Some(lost_at) if lost_at <= turn.now => {
                    timing.forget_oldest(order);
                    path.on_chunk_lost(wire_len, &departure);
                    path.on_size_lost(turn.now, departure.sent_at, needed_mtu);
                    self.outstanding.set_state(departed.tsn, ChunkState::Lost(Loss::Reported));
                    insert_lost(&mut self.lost, departed.tsn);
                    last = last.filter(|last: &Tsn| last.is_after(departed.tsn)).or(Some(departed.tsn));
                    let age = turn.now.saturating_since(departure.sent_at);
                    let evidence = LossEvidence::Overtaken { age, reordering_window: window };
                    turn.note_lost(context, departed.tsn, id, evidence);
                }
                next_at => break next_at,
            }
        };
        let Some(timing) = &mut turn.paths[id].timing else { return };
        timing.early = next_at.map(Early::Reordering);
        if timing.on_found_lost(last) && self.has_outstanding() {
            let (from, to) = (self.outstanding.cumulative_ack(), self.outstanding.highest_sent());
            let loss = self.loss_event(turn, id);
            turn.paths[id].begin_recovery(loss, in_flight_before, from, to);
            if let Some(timing) = &mut turn.paths[id].timing {
                timing.early = next_at.map(Early::Reordering);
            }
            if last.is_some() {
                //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.4
                //# When a Fast Retransmit is being performed, the sender
                //# SHOULD ignore the value of cwnd and SHOULD NOT delay
                //# retransmission for this single packet.
                self.urgent = Urgent::OnePacket;
            }
        }
    }

    /// Sets when a probe for the loss of the last chunks is due, unless it is the peer's window that is probed.
    pub(super) fn schedule_probe(&self, turn: &mut Turn<'_>, path: PathId) {
        if self.peer_window.outstanding_probe().is_none() {
            turn.paths[path].schedule_probe(turn.now, turn.config.sack_delay);
        }
    }

    /// Nothing was lost on `path`: what T3-rtx has given up there and nobody has retransmitted is on its way after all.
    fn restore_given_up(&mut self, turn: &mut Turn<'_>, id: PathId) {
        for tsn in self.lost.iter().rev().copied() {
            let is_meant = |chunk: &&OutstandingChunk| {
                chunk.state == ChunkState::Lost(Loss::TimedOut) && chunk.path == id
            };
            let Some(chunk) = self.outstanding.find(tsn).filter(is_meant) else { continue };
            let (wire_len, transmission) = (chunk.wire_len(), chunk.transmissions);
            if turn.config.trace {
                turn.tell(TraceEvent::Restored { context: chunk.context, tsn });
            }
            self.outstanding.set_state(tsn, ChunkState::InFlight);
            turn.paths[id].on_chunk_restored(turn.now, tsn, transmission, wire_len);
            self.flight_order.add(id, tsn);
        }
    }

    /// The last chunk in flight to `path` is to be retransmitted as a probe. Returns it.
    pub(super) fn repeat_last(&mut self, turn: &mut Turn<'_>, path: PathId) -> Option<Tsn> {
        let tsn = self.flight_order.last(path, &self.outstanding, &self.steps)?;
        // What may not be retransmitted is none.
        let transmissions = self.outstanding.find(tsn)?.transmissions;
        if self.doomed(turn.now, tsn, transmissions).is_some() {
            return None;
        }
        let chunk = self.outstanding.set_state(tsn, ChunkState::Lost(Loss::Probed))?;
        let wire_len = chunk.wire_len();
        turn.note_lost(chunk.context, tsn, path, LossEvidence::Probed);
        turn.paths[path].on_chunk_left(wire_len);
        turn.paths[path].on_probe_sent(tsn, ProbeKind::Repeated);
        insert_lost(&mut self.lost, tsn);
        self.settle_flight(turn, path);
        Some(tsn)
    }

    /// Tells the path of a chunk, on which losses are found by time, what the SACK at hand says of it.
    #[inline(never)]
    pub(super) fn time_arrival(turn: &mut Turn<'_>, chunk: &OutstandingChunk, number: u64) {
        let path = &mut turn.paths[chunk.path];
        let Some(timing) = &mut path.timing else { return };
        let (srtt, sent_at) = (path.rtt.srtt(), chunk.departure.sent_at);
        if chunk.state == ChunkState::Lost(Loss::TimedOut) && chunk.transmissions == 1 {
            timing.on_given_up_arrived(sent_at, srtt);
        }
        timing.on_delivered(turn.now, rack::Transmission { sent_at, end: number }, chunk.transmissions);
    }
}
