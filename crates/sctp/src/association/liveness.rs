//! Whether the peer and its addresses answer: error counters, HEARTBEATs, path verification (RFC 9260,
//! sections 5.4 and 8).

use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Stream};

use super::output::Agenda;
use super::state::State;
use super::{Association, turn};
use crate::chunk::{Chunk, Heartbeat as HeartbeatChunk};
use crate::config::{SackPath, SctpConfig};
use crate::event::{CloseReason, Event};
use crate::path::{Heartbeat, HeartbeatInfo, PathId, PathState, Paths, heartbeat_period};
use crate::tx::{TimeoutMeaning, Turn};

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
        } else if config.sack_path == SackPath::GapReportsOnLowestDelay && path.rtt.srtt().is_none() {
            // Nobody knows which path has the lowest delay before all have been measured.
            Heartbeat::Requested { at: now }
        } else {
            scheduled(now, path.rtt.rto(), path.heartbeat_interval, random)
        };
    }
}

fn scheduled(now: Instant, rto: Duration, interval: Option<Duration>, random: &mut Stream) -> Heartbeat {
    match interval {
        Some(interval) => {
            Heartbeat::Scheduled { at: now + heartbeat_period(interval, rto, random), since: now }
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
        self.agenda = Agenda::Packets;
        self.refill_bursts(now);
        self.receiver.on_deadline(now);
        self.sender.on_deadline(now);
        for path in self.paths.ids() {
            if self.paths[path].t3_rtx().is_some_and(|deadline| deadline <= now) {
                self.on_t3_rtx(now, path);
            }
            if self.paths[path].heartbeat.deadline().is_some_and(|deadline| deadline <= now) {
                self.on_heartbeat_deadline(now, path);
            }
            if self.state.is_closed() {
                return;
            }
        }
        self.on_shutdown_deadline(now);
        self.progress_shutdown(now);
    }

    /// Sends a HEARTBEAT to `path`.
    pub(super) fn send_heartbeat(&mut self, now: Instant, path: PathId) {
        let rto = self.paths[path].rtt.rto();
        let info = self.paths[path].heartbeat.send(now, path, rto, &mut self.random);
        self.control.push_back((path, Chunk::Heartbeat(HeartbeatChunk::new(info))));
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
            self.paths[path].heartbeat = scheduled(now, rto, interval, &mut self.random);
            self.agenda = Agenda::Packets;
        }
        true
    }

    /// Sends no more HEARTBEATs: the association shuts down.
    pub(super) fn stop_heartbeats(&mut self) {
        for path in self.paths.iter_mut() {
            path.heartbeat = Heartbeat::Off;
        }
    }

    /// A HEARTBEAT has been answered.
    pub(super) fn on_heartbeat_ack(&mut self, now: Instant, info: &[u8]) {
        let Some(HeartbeatInfo { path, nonce }) = HeartbeatInfo::parse(info) else { return };
        if !self.paths.ids().any(|known| known == path) {
            return;
        }
        let Some(round_trip) = self.paths[path].heartbeat.answered(now, nonce) else { return };
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //# The receiver of the HEARTBEAT ACK chunk SHOULD also perform an RTT
        //# measurement for that destination transport address using the time
        //# value carried in the HEARTBEAT ACK chunk.
        self.paths[path].sample_rtt(round_trip);
        let rto = self.paths[path].rtt.rto();
        let interval = self.paths[path].heartbeat_interval;
        self.paths[path].heartbeat = scheduled(now, rto, interval, &mut self.random);
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //# Upon the receipt of the HEARTBEAT ACK chunk, the sender of the
        //# HEARTBEAT chunk SHOULD clear the error counter of the destination
        //# transport address to which the HEARTBEAT chunk was sent and mark the
        //# destination transport address as active if it is not so marked.
        self.error_count = 0;
        self.mark_answering(path);
    }

    /// DATA has been acknowledged: clears the counters of the paths that it was sent to.
    pub(super) fn on_data_acknowledged(&mut self) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.1
        //# The counter used for endpoint failure detection MUST be reset each
        //# time a DATA chunk sent to that peer endpoint is acknowledged (by the
        //# reception of a SACK chunk).
        self.error_count = 0;
        for path in self.paths.ids() {
            if self.paths[path].tally.newly_acked > 0 {
                self.mark_answering(path);
            }
        }
    }

    fn mark_answering(&mut self, path: PathId) {
        let path = &mut self.paths[path];
        path.error_count = 0;
        if path.state != PathState::Active {
            path.state = PathState::Active;
            self.events.push_back(Event::PathChanged { address: path.destination, is_active: true });
        }
    }

    /// Something sent to `path` was not answered. `counts`: against the whole association, too.
    pub(super) fn count_error(&mut self, path: PathId, counts: bool) {
        let limit = self.config.path_max_retrans;
        let broken = &mut self.paths[path];
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //# After this, the endpoint SHOULD continue
        //# sending HEARTBEAT chunks on this destination address but SHOULD stop
        //# increasing the counter.
        if broken.error_count <= limit {
            broken.error_count += 1;
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.2
        //# When the value in the error counter exceeds the
        //# protocol parameter 'Path.Max.Retrans' of that destination address,
        //# the endpoint SHOULD mark the destination transport address as
        //# inactive, and a notification SHOULD be sent to the upper layer.
        if broken.error_count > limit && broken.state == PathState::Active {
            broken.state = PathState::Inactive;
            self.events.push_back(Event::PathChanged { address: broken.destination, is_active: false });
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

    fn on_t3_rtx(&mut self, now: Instant, path: PathId) {
        let mut turn = turn!(self, now);
        match self.sender.on_t3_rtx(&mut turn, path) {
            TimeoutMeaning::WindowClosed => {}
            TimeoutMeaning::NoAnswer => self.count_error(path, true),
        }
    }

    fn on_heartbeat_deadline(&mut self, now: Instant, path: PathId) {
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
                    self.paths[path].heartbeat = scheduled(now, rto, interval, &mut self.random);
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
                let is_unconfirmed = self.paths[path].state == PathState::Unconfirmed;
                let counts = path == self.paths.current() && !is_unconfirmed;
                self.paths[path].rtt.back_off();
                self.count_error(path, counts);
                if self.state.is_closed() {
                    return;
                }
                let given_up = self.paths[path].error_count > self.config.path_max_retrans;
                if is_unconfirmed && !given_up {
                    //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
                    //# In each RTO, a probe MAY be sent on an active UNCONFIRMED path in an
                    //# attempt to move it to the CONFIRMED state.
                    self.send_heartbeat(now, path);
                    return;
                }
                let rto = self.paths[path].rtt.rto();
                let fallback = SctpConfig::default().heartbeat_interval;
                let interval = self.paths[path].heartbeat_interval.or(fallback.filter(|_| is_unconfirmed));
                self.paths[path].heartbeat = match interval {
                    Some(interval) => {
                        let at = now + heartbeat_period(interval, rto, &mut self.random);
                        Heartbeat::Overdue { sent, at }
                    }
                    None => Heartbeat::Off,
                };
            }
        }
        debug_assert!(!matches!(self.state, State::Closed { .. }));
    }
}
