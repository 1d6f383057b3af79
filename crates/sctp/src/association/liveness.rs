//! Reachability of the peer and its addresses: error counters, HEARTBEATs, path verification (RFC 9260, sections 5.4
//! and 8).

use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Stream};

use super::output::PollStage;
use super::state::State;
use super::{Association, turn};
use crate::chunk::{Chunk, Heartbeat as HeartbeatChunk};
use crate::config::{FastRetransmitPath, SackPath, SctpConfig};
use crate::event::{CloseReason, Event};
use crate::path::{Heartbeat, HeartbeatInfo, Link, PathId, PathState, Paths, heartbeat_period};
use crate::trace::{TraceEvent, Unanswered};
use crate::tx::{TimeoutMeaning, Turn};
use crate::types::Tsn;

/// Sets the first HEARTBEAT of every address.
pub(super) fn begin_heartbeats(now: Instant, paths: &mut Paths, config: &SctpConfig, random: &mut Stream) {
    //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
    //# The number of packets containing HEARTBEAT chunks sent at each RTO
    //# SHOULD be limited by the 'HB.Max.Burst' parameter.
    let per_rto = u64::from(config.heartbeat_max_burst.max(1));
    let mut unconfirmed = 0;
    for path in paths.iter_mut() {
        path.heartbeat = if path.state == PathState::Unconfirmed {
            let wait = path.rtt.rto() * (unconfirmed / per_rto);
            unconfirmed += 1;
            Heartbeat::Requested { at: now + wait }
        } else if seeks_least_delay(config) && path.rtt.srtt().is_none() {
            // Nobody knows which path has the lowest delay before all have been measured.
            Heartbeat::Requested { at: now }
        } else {
            scheduled(now, path.rtt.rto(), path.heartbeat_interval, config, random)
        };
    }
}

/// Tells if anything is sent to the path with the lowest delay.
fn seeks_least_delay(config: &SctpConfig) -> bool {
    config.sack_path == SackPath::GapReportsOnLowestDelay
        || config.fast_retransmit_path == FastRetransmitPath::LowestDelay
}

fn scheduled(
    now: Instant,
    rto: Duration,
    interval: Option<Duration>,
    config: &SctpConfig,
    random: &mut Stream,
) -> Heartbeat {
    match interval {
        Some(interval) => {
            let at = config.coarse_deadline(now, heartbeat_period(interval, rto, random));
            Heartbeat::Scheduled { at, since: now }
        }
        None => Heartbeat::Off,
    }
}

impl Association {
    /// A timer has expired, or several.
    pub fn handle_deadline(&mut self, now: Instant) {
        if self.state.is_closed() {
            return;
        }
        self.refill_bursts(now);
        self.poll_stage = PollStage::Packets;
        self.receiver.handle_deadline(now);
        self.sender.handle_deadline(now);
        // Mostly a SACK has been delayed for long enough, and no timer of a path is due.
        if self.paths.next_deadline().is_due(now) {
            self.handle_deadlines_of_paths(now);
            if self.state.is_closed() {
                return;
            }
        }
        if self.reconfiguration.is_some() {
            self.on_reconfiguration_deadline(now);
            if !self.state.is_closed() {
                self.progress_reconfiguration(now);
            }
        }
        if self.addresses.is_some() && !self.state.is_closed() {
            self.on_asconf_deadline(now);
        }
        self.on_shutdown_deadline(now);
    }

    #[inline(never)]
    fn handle_deadlines_of_paths(&mut self, now: Instant) {
        for path in self.paths.ids() {
            self.paths[path].release(now);
            if self.paths[path].early().is_some_and(|deadline| deadline <= now) {
                let mut turn = turn!(self, now);
                self.sender.on_early_deadline(&mut turn, path);
                self.follow_losses(now);
            }
            if self.paths[path].t3_rtx().is_some_and(|deadline| deadline <= now) {
                self.on_t3_rtx(now, path);
                self.follow_losses(now);
            }
            // T3-rtx may have been the end, and nothing follows that.
            if self.state.is_closed() {
                return;
            }
            self.on_discovery_deadline(now, path);
            if self.paths[path].heartbeat.deadline().is_some_and(|deadline| deadline <= now) {
                self.on_heartbeat_deadline(now, path);
            }
            if self.state.is_closed() {
                return;
            }
        }
    }

    /// Sends a HEARTBEAT to `path`.
    pub(super) fn send_heartbeat(&mut self, now: Instant, path: PathId) {
        let rto = self.paths[path].rtt.rto();
        let info = self.paths[path].heartbeat.send(now, path, rto, &mut self.random);
        self.control.push_back((path, Chunk::Heartbeat(HeartbeatChunk::new(info))));
        let address = self.paths[path].destination;
        self.trace(|| TraceEvent::HeartbeatSent { address });
    }

    /// DATA has come by `path`. Where it says that SACKs may be lost on another path, that is asked at once: a
    /// HEARTBEAT that is answered there within a round trip brings them back, and the next by HB.interval may be half a
    /// minute away.
    #[inline]
    pub(super) fn follow_way_back(&mut self, now: Instant, path: PathId, tsn: Tsn) {
        if let Some(left) = self.return_path.on_data(path, tsn) {
            self.ask_way_back(now, left);
        }
    }

    #[cold]
    fn ask_way_back(&mut self, now: Instant, path: PathId) {
        let is_scheduled = matches!(self.paths[path].heartbeat, Heartbeat::Scheduled { .. });
        if is_scheduled && self.state.may_send_heartbeats() {
            self.send_heartbeat(now, path);
        }
    }

    /// CHANGE HEARTBEAT: sets HB.interval of an address of the peer, or turns its HEARTBEATs off, but for those
    /// that verify it. `false` if it is none of the peer's addresses.
    pub fn set_heartbeat_interval(
        &mut self,
        now: Instant,
        address: IpAddr,
        interval: Option<Duration>,
    ) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //# A primitive is provided for the SCTP user to change the 'HB.interval'
        //# and turn on or off the heartbeat on a given destination address.
        let Some(path) = self.paths.find(address) else { return false };
        self.paths[path].heartbeat_interval = interval;
        // What is under way for another reason goes on.
        if let Heartbeat::Off | Heartbeat::Scheduled { .. } = self.paths[path].heartbeat
            && self.state.may_send_heartbeats()
        {
            let rto = self.paths[path].rtt.rto();
            self.paths[path].heartbeat = scheduled(now, rto, interval, &self.config, &mut self.random);
            self.poll_stage = PollStage::Packets;
        }
        true
    }

    /// Sends no more HEARTBEATs: the association shuts down.
    pub(super) fn stop_heartbeats(&mut self) {
        self.stop_discovery();
        for path in self.paths.iter_mut() {
            path.heartbeat = Heartbeat::Off;
        }
    }

    /// A HEARTBEAT has been answered.
    pub(super) fn on_heartbeat_ack(&mut self, now: Instant, info: &[u8]) {
        let Some(HeartbeatInfo { path, nonce }) = HeartbeatInfo::parse(info) else { return };
        if !self.paths.ids().any(|known| known == path) || self.on_mtu_probe_answered(now, path, nonce) {
            return;
        }
        let Some(round_trip) = self.paths[path].heartbeat.answered(now, nonce) else { return };
        self.paths[path].note_answered(now - round_trip);
        if let Some(state) = &mut self.reconfiguration {
            state.on_heartbeat_ack(nonce);
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //# The receiver of the HEARTBEAT ACK chunk SHOULD also perform an RTT
        //# measurement for that destination transport address using the time
        //# value carried in the HEARTBEAT ACK chunk.
        // One that left before our own link was back has waited for it.
        if !matches!(self.paths[path].link, Link::Back(at) if now.saturating_since(at) < round_trip) {
            self.paths[path].sample_rtt(round_trip);
        }
        let address = self.paths[path].destination;
        self.trace(|| TraceEvent::HeartbeatAnswered { address, round_trip });
        self.follow_link(now, path);
        let rto = self.paths[path].rtt.rto();
        let interval = self.paths[path].heartbeat_interval;
        self.paths[path].heartbeat = scheduled(now, rto, interval, &self.config, &mut self.random);
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //# Upon the receipt of the HEARTBEAT ACK chunk, the sender of the
        //# HEARTBEAT chunk SHOULD clear the error counter of the destination
        //# transport address to which the HEARTBEAT chunk was sent and mark the
        //# destination transport address as active if it is not so marked.

        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# When the sender receives a HEARTBEAT ACK from a HEARTBEAT sent
        //# to a destination address in PF state, the sender SHOULD clear
        //# the error counter of the destination address and transition the
        //# destination address back to active state.
        self.on_path_answers(now, path);
        self.leave_without_link(now);
    }

    /// Handles the answer from `path` to something that was sent there alone.
    pub(super) fn on_path_answers(&mut self, now: Instant, path: PathId) {
        self.error_count = 0;
        if self.paths[path].link != Link::Down {
            self.return_path.on_heartbeat_ack(path);
        }
        let was_active = self.paths[path].state == PathState::Active;
        self.mark_answering(path);
        if !was_active {
            self.rescue(now, path);
            let current = self.paths.current();
            for silent in self.paths.ids().filter(|id| *id != current) {
                if self.paths[silent].silence.is_some() {
                    self.note_left(now, silent);
                }
            }
        }
        self.follow_wish(path);
        if self.addresses.is_some() {
            self.follow_wanted_primary();
        }
    }

    /// DATA has been acknowledged: clears the counters of the paths that it can only have come over.
    pub(super) fn on_data_acknowledged(&mut self) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.1
        //# The counter used for endpoint failure detection MUST be reset each
        //# time a DATA chunk sent to that peer endpoint is acknowledged (by the
        //# reception of a SACK chunk).
        self.error_count = 0;
        let mut is_back = false;
        self.paths.for_each(|path| {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-8.2
            //# If this ambiguity is undesirable,
            //# the transmitter MAY choose not to clear the error counter if the last
            //# chunk sent was a retransmission.

            //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
            //# Acknowledgments for chunks that have been transmitted to
            //# multiple destinations (i.e., a chunk that has been retransmitted
            //# to a different destination address than the destination address
            //# to which the chunk was first transmitted) SHOULD NOT clear the
            //# error count for an inactive destination address and SHOULD NOT
            //# move a destination address in PF state back to active state
            // Nor of an active one, and whether or not there is a PF state: where an RTO is no longer than the
            // delay of a SACK, a chunk that the alternate path has delivered is back on the dead one when it is
            // acknowledged, and the dead one would never be found out.

            //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
            //# Acknowledgments for data chunks that have been transmitted to
            //# one destination address only MUST clear the error counter for
            //# the destination address and MUST transition a destination
            //# address in PF state back to active state.
            // What left before our own link went says nothing of what leaves now.
            if path.tally.is_unambiguous && path.link != Link::Down {
                path.clear_errors();
                is_back |= path.state != PathState::Active;
            }
        });
        if is_back {
            self.bring_back();
        }
    }

    /// Puts the paths back into the active state that the SACK at hand says deliver.
    #[cold]
    fn bring_back(&mut self) {
        for path in self.paths.ids() {
            if self.paths[path].tally.is_unambiguous && self.paths[path].link != Link::Down {
                self.change_path(path, PathState::Active);
            }
        }
    }

    /// A SACK has come while the closed window of the peer is probed: the peer is there.
    pub(super) const fn on_probe_answered(&mut self) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
        //# If the sender continues to receive SACK chunks from the peer
        //# while doing zero window probing, the unacknowledged window probes
        //# SHOULD NOT increment the error counter for the association or any
        //# destination transport address.
        // A probe that the peer has answered counts nothing when T3-rtx repeats it. One to a path on which nobody
        // answers counts against that path, and against the association until an answer comes by another.
        self.error_count = 0;
    }

    pub(super) fn mark_answering(&mut self, path_id: PathId) {
        let path = &mut self.paths[path_id];
        if path.link == Link::Down {
            // It is the peer's, which counts once our own link is back.
            if path.state == PathState::Unconfirmed {
                self.leave(path_id);
            }
            return;
        }
        path.clear_errors();
        self.change_path(path_id, PathState::Active);
    }

    /// Puts a path into another state, and says so.
    pub(super) fn change_path(&mut self, path: PathId, state: PathState) {
        let before = std::mem::replace(&mut self.paths[path].state, state);
        if before != state {
            self.follow_path_state(path);
        }
        let path = &mut self.paths[path];
        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# it is recommended that an SCTP stack implementing
        //# SCTP-PF also provide the ULP with the means to suppress exposure
        //# of the PF state and the associated state transitions.
        let seen = |state: PathState| match state {
            PathState::PotentiallyFailed if !self.config.expose_potentially_failed => PathState::Active,
            PathState::Active
            | PathState::Inactive
            | PathState::PotentiallyFailed
            | PathState::Unconfirmed => state,
        };
        let (before, state) = (seen(before), seen(state));
        if before != state {
            //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
            //# The SCTP stack SHOULD expose the PF state of its destination
            //# addresses to the ULP as well as provide the means to notify the
            //# ULP of state transitions of its destination addresses from
            //# active to PF, and vice versa.
            self.events.push_back(Event::PathChanged { address: path.destination, state });
        }
    }

    /// Something sent to `path` was not answered. `counts`: against the whole association, too.
    pub(super) fn count_error(&mut self, now: Instant, path: PathId, unanswered: Unanswered, counts: bool) {
        let thresholds = self.config.thresholds();
        let broken = &mut self.paths[path];

        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# This means
        //# that the error counter of the destination address in active
        //# state will be incremented each time the Timer T3 retransmission
        //# (T3-rtx) timer expires, or each time a HEARTBEAT chunk is sent
        //# when idle and not acknowledged within an RTO.
        if broken.error_count < thresholds.last_counted() {
            broken.error_count += 1;
        }
        broken.silence.get_or_insert_default().first_timeout.get_or_insert(now);
        let (before, count) = (broken.state, broken.error_count);
        let address = broken.destination;
        let association_error_count = self.error_count + u32::from(counts);
        self.trace(|| TraceEvent::PathError {
            address,
            unanswered,
            error_count: count,
            association_error_count,
        });
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.2
        //# When the value in the error counter exceeds the
        //# protocol parameter 'Path.Max.Retrans' of that destination address,
        //# the endpoint SHOULD mark the destination transport address as
        //# inactive, and a notification SHOULD be sent to the upper layer.

        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# Additional PMR - PFMR consecutive timeouts on a destination
        //# address in PF state confirm the path failure, upon which the
        //# destination address transitions to the inactive state.
        if before != PathState::Unconfirmed {
            self.change_path(path, thresholds.state_after(count));
        }
        if before == PathState::Active && self.paths[path].state != PathState::Active {
            self.ask_others(now, path);
        }
        if before == PathState::Active && self.paths[path].state == PathState::PotentiallyFailed {
            self.begin_probing(now, path);
        }
        if path == self.paths.primary() && thresholds.switches_after(count) {
            self.switch_primary();
        }
        if path != self.paths.current() {
            self.note_left(now, path);
        }
        if !counts {
            return;
        }
        self.error_count += 1;
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.1
        //# If the value of this counter exceeds the limit
        //# indicated in the protocol parameter 'Association.Max.Retrans', the
        //# endpoint SHOULD consider the peer endpoint unreachable and SHALL stop
        //# transmitting any more data to it (and thus the association enters the
        //# CLOSED state).
        if self.error_count > self.config.association_max_retrans && !self.state.is_closed() {
            self.close(CloseReason::PeerUnreachable, None);
        }
    }

    /// Notes that DATA goes to another path, if that is not known yet.
    pub(super) fn note_left(&mut self, now: Instant, path: PathId) {
        self.paths[path].silence.get_or_insert_default().decided.get_or_insert(now);
    }

    /// Probes a path that has become potentially failed, unless it is probed already.
    fn begin_probing(&mut self, now: Instant, path: PathId) {
        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# HEARTBEATs are sent when a destination address reaches the PF
        //# state.

        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# if
        //# the Path Heartbeat function is disabled for the destination
        //# address in question, HEARTBEATs MUST NOT be sent.
        let is_enabled = self.paths[path].heartbeat_interval.is_some() && self.state.may_send_heartbeats();
        if is_enabled && !matches!(self.paths[path].heartbeat, Heartbeat::Awaited { .. }) {
            self.send_heartbeat(now, path);
        }
    }

    fn on_t3_rtx(&mut self, now: Instant, path: PathId) {
        let mut turn = turn!(self, now);
        match self.sender.on_t3_rtx(&mut turn, path) {
            TimeoutMeaning::WindowClosed => {}
            TimeoutMeaning::NoAnswer => self.count_error(now, path, Unanswered::Data, true),
        }
    }

    pub(super) fn on_heartbeat_deadline(&mut self, now: Instant, path: PathId) {
        match self.paths[path].heartbeat {
            Heartbeat::Off => {}
            Heartbeat::Requested { .. } | Heartbeat::Overdue { .. } => self.send_heartbeat(now, path),
            Heartbeat::Scheduled { since, .. } => {
                //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
                //# A destination transport address is considered "idle" if no new chunk
                //# that can be used for updating path RTT (usually including first
                //# transmission DATA, INIT, COOKIE ECHO, or HEARTBEAT chunks, etc.) and
                //# no HEARTBEAT chunk has been sent to it within the current heartbeat
                //# period of that address.
                if self.paths[path].is_idle_since(since) {
                    self.send_heartbeat(now, path);
                } else {
                    let rto = self.paths[path].rtt.rto();
                    let interval = self.paths[path].heartbeat_interval;
                    self.paths[path].heartbeat =
                        scheduled(now, rto, interval, &self.config, &mut self.random);
                }
            }
            Heartbeat::Awaited { sent, .. } => {
                //= https://www.rfc-editor.org/rfc/rfc9260#section-8.1
                //# Unacknowledged HEARTBEAT chunks observed on paths different from the
                //# path currently used for data transfer SHOULD NOT increment the
                //# association error counter

                //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
                //# When probing UNCONFIRMED addresses, however, the
                //# association overall error count is not incremented.
                // Nor is one ever used for data transfer.
                let is_unconfirmed = self.paths[path].state == PathState::Unconfirmed;
                let counts = path == self.paths.current();
                //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
                //# Likewise, the timeout of a HEARTBEAT
                //# chunk MAY be ignored if data is outstanding towards the
                //# destination address.
                let is_failing = self.paths[path].state == PathState::PotentiallyFailed;
                if !(is_failing && self.paths[path].flight_size > 0) {
                    self.paths[path].rtt.back_off();
                    self.count_error(now, path, Unanswered::Heartbeat, counts);
                }
                if self.state.is_closed() {
                    return;
                }
                //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
                //# The HB.Interval of the Path Heartbeat function of [RFC4960] MUST
                //# be ignored for destination addresses in PF state.  Instead,
                //# HEARTBEAT chunks are sent to destination addresses in PF state
                //# once per RTO.

                //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
                //# If the error counter is less than PMR,
                //# the sender transmits another packet containing the HEARTBEAT
                //# chunk immediately after timeout expiration on the previous
                //# HEARTBEAT.
                // At PMR, too: one more timeout is to be seen before the path is inactive.
                let is_probed = self.paths[path].heartbeat_interval.is_some();
                if self.paths[path].state == PathState::PotentiallyFailed && is_probed {
                    self.send_heartbeat(now, path);
                    return;
                }
                let given_up = self.paths[path].error_count > self.config.path_max_retrans;
                // So is one that is to be the primary path: a second loss does not leave DATA on the other one for
                // HB.interval.
                if (is_unconfirmed || self.seeks(path)) && !given_up {
                    //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
                    //# In each RTO, a probe MAY be sent on an active UNCONFIRMED path in an
                    //# attempt to move it to the CONFIRMED state.
                    self.send_heartbeat(now, path);
                    return;
                }
                let rto = self.paths[path].rtt.rto();
                let fallback = SctpConfig::default().heartbeat_interval;
                let is_asked_for = is_unconfirmed || self.seeks(path);
                let interval = self.paths[path].heartbeat_interval.or(fallback.filter(|_| is_asked_for));
                self.paths[path].heartbeat = match interval {
                    Some(interval) => {
                        let period = heartbeat_period(interval, rto, &mut self.random);
                        Heartbeat::Overdue { sent, at: self.config.coarse_deadline(now, period) }
                    }
                    None => Heartbeat::Off,
                };
            }
        }
        debug_assert!(!matches!(self.state, State::Closed { .. }));
    }
}
