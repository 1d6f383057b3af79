//! A SACK arrives (RFC 9260, sections 6.2.1 and 7.2.4).
//!
//! What a SACK costs is what it acknowledges for the first time, what it shows to be missing for the first
//! time, its own length and a constant: the window is never searched, whatever the peer alternates between.

use smallvec::SmallVec;

use super::gap_ranges::{GapChanges, TsnRange};
use super::outstanding::{ChunkState, Loss, Outstanding, OutstandingChunk};
use super::{Backlog, Recovery, Remainder, Sender, Turn, Urgent};
use crate::chunk::GapAckBlock;
use crate::config::{LossDetection, SctpConfig};
use crate::event::Event;
use crate::path::{PathId, SackTally};
use crate::policy::{PathMtuDiscovery, RttSampling};
use crate::trace::{LossEvidence, TraceEvent};
use crate::types::Tsn;

/// An acknowledgement: a SACK, or a SHUTDOWN, which speaks of neither gaps nor window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SackView<'a> {
    pub(crate) cumulative_tsn_ack: Tsn,
    pub(crate) gaps: Option<GapReport<'a>>,
    /// The path that it came on.
    pub(crate) from: Option<PathId>,
}

/// Fields that only a SACK has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GapReport<'a> {
    pub(crate) a_rwnd: u32,
    pub(crate) blocks: &'a [GapAckBlock],
    /// Blocks among these that stand for good.
    pub(crate) non_renegable: &'a [GapAckBlock],
    /// TSNs that have arrived more than once since the last SACK.
    pub(crate) duplicates: &'a [Tsn],
}

impl<'a> SackView<'a> {
    /// View of a SACK.
    pub(crate) fn of_sack(sack: &'a crate::chunk::Sack, from: Option<PathId>) -> Self {
        let gaps = Some(GapReport {
            a_rwnd: sack.a_rwnd,
            blocks: &sack.gap_ack_blocks,
            non_renegable: &[],
            duplicates: &sack.duplicates,
        });
        Self { cumulative_tsn_ack: sack.cumulative_tsn_ack, gaps, from }
    }

    /// An NR-SACK, all of whose blocks are `blocks`.
    pub(crate) fn of_nr_sack(
        sack: &'a crate::chunk::NrSack,
        blocks: &'a [GapAckBlock],
        from: Option<PathId>,
    ) -> Self {
        let gaps = Some(GapReport {
            a_rwnd: sack.a_rwnd,
            blocks,
            non_renegable: &sack.non_renegable_blocks,
            duplicates: &sack.duplicates,
        });
        Self { cumulative_tsn_ack: sack.cumulative_tsn_ack, gaps, from }
    }

    /// A SACK without blocks and duplicates.
    pub(crate) const fn of_plain_sack(cumulative_tsn_ack: Tsn, a_rwnd: u32, from: Option<PathId>) -> Self {
        Self {
            cumulative_tsn_ack,
            gaps: Some(GapReport { a_rwnd, blocks: &[], non_renegable: &[], duplicates: &[] }),
            from,
        }
    }

    /// The acknowledgement in a SHUTDOWN.
    pub(crate) const fn of_shutdown(cumulative_tsn_ack: Tsn, from: Option<PathId>) -> Self {
        Self { cumulative_tsn_ack, gaps: None, from }
    }

    fn has_gaps(&self) -> bool {
        self.gaps.is_some_and(|gaps| !gaps.blocks.is_empty())
    }
}

/// Outcome of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SackEffect {
    /// Older than another that has been processed.
    Stale,
    /// Processed; acknowledged nothing new.
    Nothing,
    /// Acknowledged nothing new, but the peer answers the probing of its closed window.
    ProbeAnswered,
    /// Acknowledged something: see the paths' tallies.
    Acknowledged,
}

/// Acknowledgement of something that has not been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SackFault;

impl Sender {
    /// Processes an acknowledgement.
    pub(crate) fn on_sack(
        &mut self,
        turn: &mut Turn<'_>,
        sack: SackView<'_>,
    ) -> Result<SackEffect, SackFault> {
        let before = self.outstanding.cumulative_ack();
        if sack.cumulative_tsn_ack.is_before(before) {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2.1
            //# If Cumulative TSN Ack is less than the Cumulative TSN Ack
            //# Point, then drop the SACK chunk.
            return Ok(SackEffect::Stale);
        }
        self.check_was_sent(&sack)?;
        let advances = sack.cumulative_tsn_ack != before;
        // What most SACKs say changes nothing beyond the cumulative ack.
        let mut changes = match sack.gaps {
            Some(gaps) if gaps.blocks.is_empty() && self.acked_gaps.is_empty() => {
                self.acked_gaps.follow(sack.cumulative_tsn_ack);
                None
            }
            Some(gaps) => Some(self.acked_gaps.compare(sack.cumulative_tsn_ack, gaps.blocks)),
            None => Some(self.acked_gaps.advance(sack.cumulative_tsn_ack)),
        };
        if let Some(changes) = changes.as_mut().filter(|changes| !changes.revoked.is_empty())
            && self.non_renegable.is_some()
        {
            changes.revoked = self.renegable(&changes.revoked);
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2.1
        //# Since there is no explicit identifier that can be used to detect out-
        //# of-order SACK chunks, the data sender uses heuristics to determine if
        //# a SACK chunk is new.
        // Where SACKs take different paths, one that was sent before another with the same cumulative ack may
        // arrive behind it. It tells less and nothing new. Should a receiver really have thrown data away, that
        // shows as soon as the cumulative ack moves.
        // But room that it gives beyond what it takes back is news: no older SACK can have seen it.
        let only_revokes = changes.as_ref().is_some_and(GapChanges::only_revoke);
        if !advances && only_revokes && !self.opens_window(&sack) {
            return Ok(SackEffect::Stale);
        }
        turn.paths.for_each(|path| {
            path.tally = SackTally { flight_size_before: path.flight_size, ..SackTally::default() };
        });
        let is_split = turn.config.multipath.is_on();
        if turn.config.multipath.is_pooled() {
            turn.paths.pool(turn.config.multipath);
        }
        let was_recovering = self.in_fast_recovery();
        let is_timed = turn.config.loss_detection == LossDetection::Rack;
        let mut newest = self.acknowledge_up_to(turn, &sack);
        if let Some(gaps) = sack.gaps {
            if let Some(changes) = &changes {
                self.acked_gaps.commit(changes);
                newest = self.acknowledge_gaps(turn, &sack, changes).or(newest);
            }
            if !gaps.non_renegable.is_empty() {
                self.free_non_renegable(sack.cumulative_tsn_ack, gaps.non_renegable);
            }
            if self.reports.take_in(sack.cumulative_tsn_ack, gaps.blocks) {
                turn.paths.for_each(|path| path.delivery.distrust());
            }
            self.peer_window.advertise(gaps.a_rwnd);
        }
        if self.non_renegable.is_some() {
            self.check_first_is_kept()?;
        }
        let counts_all = was_recovering && advances;
        let counted_up_to = if counts_all { self.acked_gaps.highest() } else { newest };
        if let Some(changes) = &changes {
            self.revoke(turn, changes, counted_up_to);
        }
        let is_probed = self.peer_window.outstanding_probe().is_some();
        self.settle_probe(turn);

        turn.paths.for_each_by_id(|id, path| {
            path.settle_reduction(sack.cumulative_tsn_ack);
            //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2
            //# The sending
            //# TCP SHOULD NOT increase the congestion window in response to the
            //# receipt of an ECN-Echo ACK packet.
            let is_reduced = path.is_in_fast_recovery() || path.is_in_marked_window();
            // CUC: where several paths are used at once, each has a cumulative ack of its own.
            let advances = if is_split { path.tally.acked_earliest } else { advances };
            let ends_round_trip = path.ends_round_trip(sack.from == Some(id), sack.has_gaps());
            path.grow_window(turn.now, advances, was_recovering || is_reduced, ends_round_trip);
        });
        self.leave_recovery();
        if is_timed {
            self.take_round_trips(turn, &sack);
            self.conclude_by_time(turn, sack.gaps.map_or(&[], |gaps| gaps.duplicates));
        } else if sack.gaps.is_some() {
            self.count_missing(turn, counted_up_to);
        }
        self.refresh_earliest(turn);
        if is_split {
            self.leave_split_recovery(turn);
        }
        if self.abandonment.is_some() {
            self.settle_announced(turn);
        }
        turn.paths.for_each(|path| path.settle_t3_rtx(turn.now));
        if is_timed {
            for id in turn.paths.ids() {
                self.schedule_probe(turn, id);
            }
        }
        if newest.is_some() {
            self.remainder = Remainder::Free;
        }
        self.announce_room(turn);
        Ok(match newest {
            Some(_) => SackEffect::Acknowledged,
            None if is_probed => SackEffect::ProbeAnswered,
            None => SackEffect::Nothing,
        })
    }

    /// Takes a round-trip time of each path, once in a round trip. That something before it was retransmitted does not
    /// matter where it is known when each chunk left.
    #[inline(never)]
    fn take_round_trips(&self, turn: &mut Turn<'_>, sack: &SackView<'_>) {
        let next = self.outstanding.next_number();
        for id in turn.paths.ids() {
            let path = &mut turn.paths[id];
            let is_sample = is_sample(turn.config, sack, id);
            let has_sample = path.timing.as_mut().is_some_and(|timing| timing.take_sample(next, is_sample));
            if let Some(left) = path.tally.answered.filter(|_| has_sample) {
                path.sample_rtt(turn.now.saturating_since(left));
            }
        }
    }

    /// Tells if an acknowledgement that only revokes shows more room than is known of, even if it revokes all.
    fn opens_window(&self, sack: &SackView<'_>) -> bool {
        let room = sack.gaps.map_or(0, |gaps| u64::from(gaps.a_rwnd));
        self.peer_window.is_exceeded_by(room.saturating_sub(self.outstanding.acked_payload()))
    }

    /// Sends a zero window probe again as soon as there is room for it: the peer has thrown it away.
    #[inline]
    fn settle_probe(&mut self, turn: &mut Turn<'_>) {
        if let Some(tsn) = self.peer_window.outstanding_probe() {
            self.settle_probe_of(turn, tsn);
        }
    }

    #[inline(never)]
    fn settle_probe_of(&mut self, turn: &mut Turn<'_>, tsn: Tsn) {
        let (path, wire_len, context) = match self.outstanding.find(tsn) {
            Some(OutstandingChunk { state: ChunkState::Acked | ChunkState::Abandoned, .. }) | None => {
                return self.peer_window.end_probe();
            }
            Some(chunk) if !self.peer_window.has_room(chunk.payload_len()) => return,
            Some(chunk) => (chunk.path, chunk.wire_len(), chunk.context),
        };
        self.peer_window.end_probe();
        // A SACK has come, whatever was held back until one does.
        self.remainder = Remainder::Free;
        if self.outstanding.find(tsn).is_some_and(|chunk| chunk.state.is_in_flight()) {
            self.outstanding.set_state(tsn, ChunkState::Lost(Loss::Refused));
            turn.paths[path].on_chunk_left(wire_len);
            insert_lost(&mut self.lost, tsn);
            turn.note_lost(context, tsn, path, LossEvidence::Refused);
        }
    }

    fn check_was_sent(&self, sack: &SackView<'_>) -> Result<(), SackFault> {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-12.4
        //# An SCTP implementation MUST abort the association if it receives a
        //# SACK chunk acknowledging a TSN that has not been sent.
        let highest_sent = self.outstanding.highest_sent();
        let blocks = sack.gaps.map_or(&[][..], |gaps| gaps.blocks);
        let reach = blocks.iter().map(|block| block.end).max().unwrap_or(0);
        let highest = sack.cumulative_tsn_ack.plus(u32::from(reach));
        if sack.cumulative_tsn_ack.is_after(highest_sent) || highest.is_after(highest_sent) {
            return Err(SackFault);
        }
        Ok(())
    }

    /// Takes off everything up to the cumulative TSN ack; gives the highest newly acknowledged TSN.
    fn acknowledge_up_to(&mut self, turn: &mut Turn<'_>, sack: &SackView<'_>) -> Option<Tsn> {
        let mut newest = None;
        let notes_more = self.notes_more(turn.config);
        let is_followed =
            turn.config.report_acknowledged || self.spread.is_some() || self.abandonment.is_some();
        while self.outstanding.cumulative_ack() != sack.cumulative_tsn_ack {
            let Some(chunk) = self.outstanding.first() else { break };
            self.steps.take(1);
            let tsn = chunk.data.tsn;
            match chunk.state {
                ChunkState::InFlight | ChunkState::Lost(_) => {
                    credit(turn, sack, chunk, &self.outstanding);
                    if notes_more {
                        note_more(turn, chunk);
                    }
                    newest = Some(tsn);
                }
                ChunkState::Acked => {
                    if let Some(timing) = &mut turn.paths[chunk.path].timing {
                        timing.on_in_order();
                    }
                }
                //= https://www.rfc-editor.org/rfc/rfc3758#section-3.5
                //# The sender MUST NOT credit an "abandoned" data chunk to the
                //# partial_bytes_acked as defined in Section 7.2.2 of RFC 2960 [2],
                //# and MUST NOT advance the cwnd based on this "abandoned" data
                //# chunk.
                ChunkState::Abandoned => newest = Some(tsn),
            }
            let (kept_len, is_last) = (chunk.kept_len(), chunk.data.flags.is_ending());
            if is_followed {
                self.tell_acknowledged(turn, tsn);
            }
            self.outstanding.pop();
            self.release(kept_len, is_last);
        }
        self.missing.forget_up_to(sack.cumulative_tsn_ack);
        newest
    }

    /// The lowest chunk is acknowledged cumulatively: says so to whom it concerns.
    #[inline(never)]
    fn tell_acknowledged(&mut self, turn: &mut Turn<'_>, tsn: Tsn) {
        let Some(chunk) = self.outstanding.first() else { return };
        let is_told = chunk.data.flags.is_ending() && chunk.state != ChunkState::Abandoned;
        if turn.config.report_acknowledged && is_told {
            turn.events.push_back(Event::Acknowledged { context: chunk.context });
        }
        if let Some(spread) = &mut self.spread {
            spread.remove(chunk.path, chunk.payload_len());
        }
        if self.abandonment.is_some() {
            self.note_perishable_acknowledged(turn, tsn);
        }
    }

    /// Marks what the blocks acknowledge for the first time; gives the highest such TSN.
    #[inline(never)]
    fn acknowledge_gaps(
        &mut self,
        turn: &mut Turn<'_>,
        sack: &SackView<'_>,
        changes: &GapChanges,
    ) -> Option<Tsn> {
        let notes_more = self.notes_more(turn.config);
        for tsn in changes.newly_acked.iter().copied().flat_map(TsnRange::iter) {
            self.steps.take(1);
            if let Some(chunk) = self.outstanding.find(tsn) {
                if matches!(chunk.state, ChunkState::Acked | ChunkState::Abandoned) {
                    continue;
                }
                credit(turn, sack, chunk, &self.outstanding);
                if notes_more {
                    note_more(turn, chunk);
                }
                turn.paths[chunk.path].tally.acked_by_gaps += 1;
                if let Some(timing) = &mut turn.paths[chunk.path].timing {
                    timing.on_out_of_order();
                }
            }
            self.outstanding.set_state(tsn, ChunkState::Acked);
        }
        changes.newly_acked.last().map(|range| range.last)
    }

    /// Takes back what the peer has thrown away after it had acknowledged it.
    #[inline(never)]
    fn revoke(&mut self, turn: &mut Turn<'_>, changes: &GapChanges, counted_up_to: Option<Tsn>) {
        for tsn in changes.revoked.iter().copied().flat_map(TsnRange::iter) {
            if self.outstanding.find(tsn).is_some_and(|chunk| chunk.state == ChunkState::Abandoned) {
                continue;
            }
            let Some(chunk) = self.outstanding.set_state(tsn, ChunkState::InFlight) else { continue };
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2.1
            //# If the SACK chunk is missing a TSN that was previously
            //# acknowledged via a Gap Ack Block (e.g., the data receiver
            //# reneged on the data), then consider the corresponding DATA
            //# that might be possibly missing: Count one miss indication
            //# towards Fast Retransmit as described in Section 7.2.4, and
            //# if no retransmit timer is running for the destination
            //# address to which the DATA chunk was originally transmitted,
            //# then T3-rtx is started for that destination address.
            // A TSN before the HTNA is counted with all that is missing there.
            if counted_up_to.is_none_or(|limit| !tsn.is_before(limit)) {
                chunk.missing_reports = chunk.missing_reports.saturating_add(1);
            }
            self.missing.add(tsn);
            if turn.config.trace {
                turn.tell(TraceEvent::Revoked { context: chunk.context, tsn });
            }
            turn.paths[chunk.path].on_chunk_revoked(turn.now, tsn, chunk.transmissions, chunk.wire_len());
            self.flight_order.add(chunk.path, tsn);
            self.steps.take(1);
        }
    }

    fn leave_recovery(&mut self) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2.1
        //# If the Cumulative TSN Ack matches or exceeds the Fast
        //# Recovery exit point (Section 7.2.4), Fast Recovery is
        //# exited.
        if let Recovery::Fast { exit, .. } = self.recovery
            && exit.is_at_or_before(self.outstanding.cumulative_ack())
        {
            self.recovery = Recovery::No;
        }
    }

    /// Counts a miss indication for all that is missing before `limit`; what has enough of them is given up.
    #[inline]
    fn count_missing(&mut self, turn: &mut Turn<'_>, limit: Option<Tsn>) {
        if let Some(highest) = self.acked_gaps.highest() {
            self.count_missing_up_to(turn, highest, limit);
        }
    }

    #[inline(never)]
    fn count_missing_up_to(&mut self, turn: &mut Turn<'_>, highest: Tsn, limit: Option<Tsn>) {
        self.examine_up_to(highest);

        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.4
        //# Miss indications SHOULD follow the Highest TSN Newly Acknowledged
        //# (HTNA) algorithm.  For each incoming SACK chunk, miss indications are
        //# incremented only for missing TSNs prior to the HTNA in the SACK
        //# chunk.

        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.4
        //# If an endpoint is in Fast Recovery and
        //# a SACK chunks arrives that advances the Cumulative TSN Ack Point, the
        //# miss indications are incremented for all TSNs reported missing in the
        //# SACK chunk.
        let Some(limit) = limit else { return };
        let threshold = turn.config.fast_retransmit_threshold;
        let is_split = turn.config.multipath.is_on();
        let takes_several = self.takes_several_paths(turn.config);
        let (outstanding, lost, steps) = (&mut self.outstanding, &mut self.lost, &self.steps);
        let mut found_loss = false;
        self.missing.visit_before(limit, |tsn| {
            steps.take(1);
            let Some(chunk) = outstanding.find_mut(tsn) else { return false };
            //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.4
            //# Mark the DATA chunk(s) as being fast retransmitted and thus
            //# ineligible for a subsequent Fast Retransmit.
            // What has been sent twice for whatever reason cannot tell which of its copies a report is about.
            if !chunk.state.is_in_flight() || chunk.transmissions > 1 {
                return false;
            }
            let reports = if takes_several { split_reports(turn, chunk) } else { 1 };
            if reports == 0 {
                return true;
            }
            chunk.missing_reports = chunk.missing_reports.saturating_add(reports);
            if u32::from(chunk.missing_reports) < threshold {
                return true;
            }
            let (path, wire_len, departure) = (chunk.path, chunk.wire_len(), chunk.departure);
            let evidence = LossEvidence::MissIndications { reports: chunk.missing_reports };
            turn.note_lost(chunk.context, tsn, path, evidence);
            outstanding.set_state(tsn, ChunkState::Lost(Loss::Reported));
            insert_lost(lost, tsn);
            turn.paths[path].on_chunk_lost(wire_len, &departure);
            turn.paths[path].tally.found_loss = true;
            found_loss = true;
            false
        });
        if found_loss && is_split {
            self.enter_split_recovery(turn);
        } else if found_loss && self.recovery == Recovery::No {
            self.enter_recovery(turn);
        }
    }

    /// Lists the TSNs up to `highest` that no SACK had reached beyond before and that are missing.
    fn examine_up_to(&mut self, highest: Tsn) {
        let first = self.missing.unexamined(self.outstanding.cumulative_ack());
        if first.is_after(highest) {
            return;
        }
        for tsn in self.acked_gaps.holes(first, highest).flat_map(TsnRange::iter) {
            self.steps.take(1);
            self.missing.add(tsn);
        }
        self.missing.set_examined(highest);
    }

    fn enter_recovery(&mut self, turn: &mut Turn<'_>) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.4
        //# If not in Fast Recovery, adjust the ssthresh and cwnd of the
        //# destination address(es) to which the missing DATA chunks were
        //# last sent, according to the formula described in Section 7.2.3.
        let mut halved = SmallVec::new();
        for id in turn.paths.ids() {
            if turn.paths[id].tally.found_loss {
                let loss = self.loss_event(turn, id);
                turn.paths[id].reduce_window(loss, self.outstanding.highest_sent());
                halved.push(id);
            }
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.4
        //# If not in Fast Recovery, enter Fast Recovery and mark the highest
        //# outstanding TSN as the Fast Recovery exit point.
        self.recovery = Recovery::Fast { exit: self.outstanding.highest_sent(), halved };
        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.4
        //# When a Fast Retransmit is being performed, the sender
        //# SHOULD ignore the value of cwnd and SHOULD NOT delay
        //# retransmission for this single packet.
        self.urgent = Urgent::OnePacket;
    }

    /// Reduces the window of each path on which losses have been found, unless it is recovering already: where
    /// several are used at once, each has a Fast Recovery of its own.
    #[inline(never)]
    fn enter_split_recovery(&mut self, turn: &mut Turn<'_>) {
        let highest_sent = self.outstanding.highest_sent();
        for id in turn.paths.ids() {
            if turn.paths[id].tally.found_loss && turn.paths[id].fast_recovery_exit.is_none() {
                let loss = self.loss_event(turn, id);
                let path = &mut turn.paths[id];
                path.reduce_window(loss, highest_sent);
                path.fast_recovery_exit = Some(highest_sent);
                self.urgent = Urgent::OnePacket;
            }
        }
    }

    /// Ends the Fast Recovery of each path on which all has arrived that had been sent when it began.
    #[inline(never)]
    fn leave_split_recovery(&self, turn: &mut Turn<'_>) {
        for id in turn.paths.ids() {
            let Some(exit) = turn.paths[id].fast_recovery_exit else { continue };
            if self.pseudo_cumulative(turn, id).is_at_or_after(exit) {
                turn.paths[id].fast_recovery_exit = None;
            }
        }
    }

    /// All that was sent to a path last is acknowledged up to here (the pseudo-cumack of Iyengar et al. 2006), given
    /// that the lowest in flight there is known.
    pub(super) fn pseudo_cumulative(&self, turn: &Turn<'_>, id: PathId) -> Tsn {
        let in_flight = turn.paths[id].earliest;
        let first = match (in_flight, self.first_lost(id)) {
            (Some(in_flight), Some(lost)) if lost.is_before(in_flight) => Some(lost),
            (in_flight, lost) => in_flight.or(lost),
        };
        first.map_or_else(|| self.outstanding.highest_sent(), |first| first.minus(1))
    }

    /// Tells if more is to be noted of what is acknowledged than [`credit`] does.
    fn notes_more(&self, config: &SctpConfig) -> bool {
        self.takes_several_paths(config) || config.path_mtu_discovery == PathMtuDiscovery::Probing
    }

    /// Tells if DATA may take several paths side by side, so that an arrival over one says nothing of what is in flight
    /// over another.
    fn takes_several_paths(&self, config: &SctpConfig) -> bool {
        config.multipath.is_on() || self.has_directed
    }

    /// Finds for each path the lowest chunk in flight.
    pub(super) fn refresh_earliest(&mut self, turn: &mut Turn<'_>) {
        turn.paths.for_each_by_id(|id, path| {
            path.earliest = self.flight_order.first(id, &self.outstanding, &self.steps);
        });
    }

    /// Chunks have left the flight to `path` without a SACK.
    pub(super) fn settle_flight(&mut self, turn: &mut Turn<'_>, path: PathId) {
        self.refresh_earliest(turn);
        turn.paths[path].stop_idle_t3_rtx();
    }

    pub(super) fn announce_room(&mut self, turn: &mut Turn<'_>) {
        let Backlog::Refused { buffered_bytes } = self.backlog else { return };
        let half = turn.config.send_buffer_bytes / 2;
        let is_half_empty = self.buffered_bytes <= half && self.buffered_messages <= self.most_messages / 2;
        if self.buffered_bytes < buffered_bytes && is_half_empty {
            self.backlog = Backlog::Open;
            let free = turn.config.send_buffer_bytes - self.buffered_bytes;
            turn.events.push_back(Event::SendBufferDrained { free });
        }
    }
}

/// Credits a chunk, acknowledged for the first time, to the path that it was sent to last.
#[expect(clippy::inline_always, reason = "each chunk passes it once")]
#[inline(always)]
fn credit(turn: &mut Turn<'_>, sack: &SackView<'_>, chunk: &OutstandingChunk, outstanding: &Outstanding) {
    if turn.paths[chunk.path].timing.is_some() {
        Sender::time_arrival(turn, chunk, outstanding.number(chunk.data.tsn));
    }
    let path = &mut turn.paths[chunk.path];
    let wire_len = chunk.wire_len();
    if chunk.state.is_in_flight() {
        path.on_chunk_left(wire_len);
        if path.earliest == Some(chunk.data.tsn) {
            path.tally.acked_earliest = true;
        }
    }
    path.tally.newly_acked += wire_len;
    path.delivery.deliver(wire_len, &chunk.departure);
    if chunk.transmissions == 1 {
        path.tally.answered = Some(chunk.departure.sent_at);
    }
    path.tally.is_unambiguous |= !chunk.is_ambiguous;
    if let Some(round_trip) = path.take_probe(turn.now, chunk.data.tsn)
        && path.timing.is_none()
        && is_sample(turn.config, sack, chunk.path)
    {
        path.sample_rtt(round_trip);
    }
}

/// Notes what several paths that are used at once, and the discovery of a path's MTU, follow of a chunk that has been
/// [credited](credit).
#[inline(never)]
fn note_more(turn: &mut Turn<'_>, chunk: &OutstandingChunk) {
    let path = &mut turn.paths[chunk.path];
    path.on_size_arrived(chunk.needed_mtu);
    let highest = path.tally.highest_acked.filter(|highest| highest.is_after(chunk.data.tsn));
    path.tally.highest_acked = highest.or(Some(chunk.data.tsn));
}

/// Number of times that the SACK at hand shows a chunk to be missing where DATA takes several paths. Only chunks that
/// were sent to the same path after it say so (SFR-CACC: Iyengar et al. 2006, figure 5); and where new DATA is spread
/// over paths, so that SACKs are not hastened by holes, one SACK may say so as often as it answers packets (DAC: the
/// same, section III.C).
fn split_reports(turn: &Turn<'_>, chunk: &OutstandingChunk) -> u8 {
    let tally = &turn.paths[chunk.path].tally;
    if tally.highest_acked.is_none_or(|highest| highest.is_before(chunk.data.tsn)) {
        return 0;
    }
    if !turn.config.multipath.is_on() {
        return 1;
    }
    let most = turn.config.sack_frequency.max(1);
    u8::try_from(tally.acked_by_gaps.clamp(1, most)).unwrap_or(u8::MAX)
}

/// Tells if the round trip that ends with `sack` says something about `data_path`.
fn is_sample(config: &SctpConfig, sack: &SackView<'_>, data_path: PathId) -> bool {
    let same_path = sack.from == Some(data_path);
    match config.rtt_sampling {
        RttSampling::AnySack => true,
        RttSampling::GapFreeSackOnDataPath => same_path && !sack.has_gaps(),
        RttSampling::SackOnDataPath => same_path,
    }
}

/// Keeps the chunks to be retransmitted in ascending order.
pub(super) fn insert_lost(lost: &mut std::collections::VecDeque<Tsn>, tsn: Tsn) {
    if lost.back().is_none_or(|last| last.is_before(tsn)) {
        lost.push_back(tsn);
        return;
    }
    let index = lost.partition_point(|other| other.is_before(tsn));
    if lost[index] != tsn {
        lost.insert(index, tsn);
    }
}
