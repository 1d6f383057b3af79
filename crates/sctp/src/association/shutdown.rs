//! The orderly end of an association (RFC 9260, section 9.2).

use core::net::IpAddr;

use slantpath_base::Instant;

use super::Association;
use super::output::PollStage;
use super::state::{State, T2};
use crate::cause::Cause;
use crate::chunk::{Chunk, Shutdown, ShutdownAck, ShutdownComplete};
use crate::event::Event;
use crate::packet::PacketBuilder;
use crate::path::PathId;
use crate::trace::Unanswered;
use crate::types::Tsn;

impl Association {
    /// The layer above asks for the end.
    pub(super) fn begin_shutdown(&mut self, now: Instant) {
        // Also of an association that the peer ends already: it may begin anew.
        self.is_end_wanted = true;
        if self.state == State::Established {
            self.state = State::ShutdownPending;
            self.poll_stage = PollStage::Packets;
            self.progress_shutdown(now);
        }
    }

    /// Tells if the layer above has asked for the end.
    pub(crate) const fn is_end_wanted(&self) -> bool {
        self.is_end_wanted
    }

    /// Tells if the peer's SHUTDOWN has been answered and only its SHUTDOWN COMPLETE is missing.
    pub fn is_shutdown_ack_sent(&self) -> bool {
        matches!(self.state, State::ShutdownAckSent { .. })
    }

    /// Answers an INIT, or a COOKIE ECHO, from `source` in SHUTDOWN-ACK-SENT with SHUTDOWN ACK.
    pub fn resend_shutdown_ack(&mut self, _now: Instant, source: IpAddr) {
        let path = self.reply_path(self.paths.find(source));
        if let State::ShutdownAckSent { t2 } = &mut self.state {
            *t2 = T2::Due { path };
            self.poll_stage = PollStage::Packets;
        }
    }

    /// Goes on with the shutdown once everything has been acknowledged.
    pub(super) fn progress_shutdown(&mut self, now: Instant) {
        let may_progress = matches!(self.state, State::ShutdownPending | State::ShutdownReceived { .. });
        let waits = self.reconfiguration.as_ref().is_some_and(|state| {
            // Behind a SHUTDOWN nobody would take the answer that gives the peer's numbers a new meaning, and the peer
            // could send nothing more.
            !state.holds_nothing() || self.state == State::ShutdownPending && state.awaits_new_numbers()
        });
        if may_progress && self.sender.is_drained() && !waits {
            self.begin_t2(now);
        }
    }

    /// Everything has been acknowledged: SHUTDOWN or SHUTDOWN ACK is due.
    fn begin_t2(&mut self, now: Instant) {
        self.end_reconfiguration();
        match self.state {
            State::ShutdownPending => {
                //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
                //# If the T5-shutdown-guard
                //# timer is used, it SHOULD be set to the RECOMMENDED value of 5 times
                //# 'RTO.Max'.
                let guard = self.config.shutdown_guard.unwrap_or(self.config.rto_max.saturating_mul(5));
                let t2 = T2::Due { path: self.paths.current() };
                self.state = State::ShutdownSent { t2, guard: now.saturating_add(guard) };
                self.stop_heartbeats();
            }
            State::ShutdownReceived { reply } => {
                self.state = State::ShutdownAckSent { t2: T2::Due { path: reply } };
                self.stop_heartbeats();
            }
            State::Established
            | State::ShutdownSent { .. }
            | State::ShutdownAckSent { .. }
            | State::Closed { .. } => {}
        }
    }

    /// SHUTDOWN has arrived.
    pub(super) fn on_shutdown(&mut self, now: Instant, cumulative_tsn_ack: Tsn, from: Option<PathId>) {
        match self.state {
            State::Established | State::ShutdownPending => {
                self.state = State::ShutdownReceived { reply: self.reply_path(from) };
                self.events.push_back(Event::ShutdownReceived);
                self.confirm_by_shutdown();
                self.cancel_reconfiguration(now);
                self.on_shutdown_acknowledgement(now, cumulative_tsn_ack, from);
            }
            State::ShutdownReceived { .. } => {
                self.state = State::ShutdownReceived { reply: self.reply_path(from) };
                self.on_shutdown_acknowledgement(now, cumulative_tsn_ack, from);
            }
            State::ShutdownSent { .. } => {
                //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
                //# If an endpoint is in the SHUTDOWN-SENT state and receives a SHUTDOWN
                //# chunk from its peer, the endpoint SHOULD respond immediately with a
                //# SHUTDOWN ACK chunk to its peer and move into the SHUTDOWN-ACK-SENT
                //# state, restarting its T2-shutdown timer.
                self.state = State::ShutdownAckSent { t2: T2::Due { path: self.reply_path(from) } };
            }
            State::ShutdownAckSent { .. } => {
                self.state = State::ShutdownAckSent { t2: T2::Due { path: self.reply_path(from) } };
            }
            State::Closed { .. } => {}
        }
    }

    /// SHUTDOWN ACK has arrived from `from`.
    pub(super) fn on_shutdown_ack(&mut self, now: Instant, from: Option<PathId>) {
        if let State::ShutdownSent { .. } | State::ShutdownAckSent { .. } = self.state {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
            //# Upon the receipt of the SHUTDOWN ACK chunk, the sender of the
            //# SHUTDOWN chunk MUST stop the T2-shutdown timer, send a SHUTDOWN
            //# COMPLETE chunk to its peer, and remove all record of the association.
            let path = self.reply_path(from);
            let complete = Chunk::ShutdownComplete(ShutdownComplete { is_tag_reflected: false });
            self.close_in_order(now, Some((path, complete)));
        }
    }

    /// SHUTDOWN COMPLETE has arrived.
    pub(super) fn on_shutdown_complete(&mut self, now: Instant) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
        //# Upon reception of the SHUTDOWN COMPLETE chunk, the endpoint verifies
        //# that it is in the SHUTDOWN-ACK-SENT state; if it is not, the chunk
        //# SHOULD be discarded.
        if self.is_shutdown_ack_sent() {
            self.close_in_order(now, None);
        }
    }

    /// DATA has arrived: in SHUTDOWN-SENT it is answered at once.
    pub(super) fn answer_data_with_shutdown(&mut self) {
        if let State::ShutdownSent { t2, .. } = &mut self.state {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
            //# While in the SHUTDOWN-SENT state, the SHUTDOWN chunk sender MUST
            //# immediately respond to each received packet containing one or more
            //# DATA chunks with a SHUTDOWN chunk and restart the T2-shutdown timer.
            *t2 = T2::Due { path: t2.path() };
            //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
            //# If a SHUTDOWN chunk by itself cannot acknowledge all of the received
            //# DATA chunks (i.e., there are TSNs that can be acknowledged that are
            //# larger than the cumulative TSN and thus gaps exist in the TSN
            //# sequence) or if duplicate TSNs have been received, then a SACK chunk
            //# MUST also be sent.
            // Nor does it tell that the window has opened: without that the peer would send the rest of its DATA as
            // probes of a closed one.
            if !self.receiver.has_gaps_or_duplicates() && !self.receiver.has_opened_window() {
                self.receiver.waive_sack();
            }
        }
    }

    /// The peer has been heard of while T2-shutdown runs.
    pub(super) fn on_peer_heard(&mut self, now: Instant) {
        if let State::ShutdownSent { t2, .. } = &mut self.state {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
            //# The reception of
            //# any packet from its peer (i.e., as the peer sends all of its queued
            //# DATA chunks) SHOULD clear the endpoint's retransmission count and
            //# restart the T2-shutdown timer, giving its peer ample opportunity to
            //# transmit all of its queued DATA chunks that have not yet been sent.
            self.error_count = 0;
            if let T2::Running { path, deadline } = t2 {
                *deadline = now + self.paths[*path].rtt.rto();
            }
        }
    }

    /// T2-shutdown or T5-shutdown-guard may have expired.
    pub(super) fn on_shutdown_deadline(&mut self, now: Instant) {
        if let State::ShutdownSent { guard, .. } = self.state
            && guard <= now
        {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
            //# At the expiration of this timer, the sender SHOULD abort
            //# the association by sending an ABORT chunk.
            self.abort(now, Cause::violation("the shutdown took too long"));
            return;
        }
        if let Some(T2::Running { path, deadline }) = self.state.t2()
            && deadline <= now
        {
            self.stats.t2_expiries += 1;
            self.paths[path].rtt.back_off();
            self.count_error(now, path, Unanswered::Shutdown, true);
            let path = self.paths.alternate_to(path);
            if let Some(t2) = self.state.t2_mut() {
                *t2 = T2::Due { path };
            }
        }
    }

    /// The path that SHUTDOWN or SHUTDOWN ACK has to go to now.
    pub(super) const fn shutdown_due(&self) -> Option<PathId> {
        match self.state {
            State::ShutdownSent { t2: T2::Due { path }, .. }
            | State::ShutdownAckSent { t2: T2::Due { path } } => Some(path),
            _ => None,
        }
    }

    /// Puts SHUTDOWN or SHUTDOWN ACK into the packet to `path` and starts T2-shutdown.
    pub(super) fn bundle_shutdown(&mut self, builder: &mut PacketBuilder, now: Instant, path: PathId) {
        let chunk = match self.state {
            State::ShutdownSent { .. } => {
                Chunk::Shutdown(Shutdown { cumulative_tsn_ack: self.receiver.cumulative_tsn() })
            }
            _ => Chunk::ShutdownAck(ShutdownAck),
        };
        if !builder.push(&chunk) {
            return;
        }
        self.stats.control_chunks_sent += 1;
        let deadline = now + self.paths[path].rtt.rto();
        if let Some(t2) = self.state.t2_mut() {
            *t2 = T2::Running { path, deadline };
        }
    }
}
