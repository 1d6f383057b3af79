//! An address of ours that has gone, or its link: its paths are left at once. One that is back: they are asked at once.

use std::net::IpAddr;

use slantpath_base::Instant;
use smallvec::SmallVec;

use super::output::PollStage;
use super::state::State;
use super::{Association, turn};
use crate::path::{Heartbeat, Link, PathId, PathState};
use crate::trace::TraceEvent;
use crate::tx::Turn;

impl Association {
    /// No packet can leave from an address of ours until [it is back](Self::local_address_is_back). Where another path
    /// is active, those from there become inactive at once, and what is in flight on them goes again by the other, the
    /// last SACK as well; nothing counts against the association. Where none is, they go on as before: it may be back
    /// before T3-rtx expires. `false` if there is no such path.
    //
    // What RFC 9260 has is time-outs, since an end does not know that nobody answers. Here it does, as where a stack
    // has no route to an address (usrsctp takes a path without one for unreachable).
    pub fn local_address_is_down(&mut self, now: Instant, address: IpAddr) -> bool {
        if self.state.is_closed() {
            return false;
        }
        if self.tcb.local_addresses.contains(&address) && !self.down.contains(&address) {
            self.down.push(address);
        }
        let from_there: SmallVec<[PathId; 4]> =
            self.paths.ids().filter(|id| self.paths[*id].source == address).collect();
        if from_there.is_empty() {
            return false;
        }
        self.trace(|| TraceEvent::LocalLink { source: address, is_up: false });
        for &id in &from_there {
            self.paths[id].link = Link::Down;
        }
        self.leave_without_link(now);
        self.poll_stage = PollStage::Packets;
        true
    }

    /// Leaves the paths whose own link has gone, if another one is active: when it goes, or when the other has
    /// answered.
    pub(super) fn leave_without_link(&mut self, now: Instant) {
        let is_other =
            self.paths.iter().any(|path| path.state == PathState::Active && path.link != Link::Down);
        for id in self.paths.ids() {
            let path = &self.paths[id];
            let is_used = matches!(path.state, PathState::Active | PathState::PotentiallyFailed);
            if path.link != Link::Down || !is_used || !is_other {
                continue;
            }
            self.leave(id);
            self.note_left(now, id);
            let mut turn = turn!(self, now);
            self.sender.on_link_down(&mut turn, id);
            if self.return_path.leave(id, self.paths.current()) {
                self.receiver.acknowledge_at_once();
            }
        }
    }

    /// Takes a path for inactive that nothing was asked of.
    pub(super) fn leave(&mut self, path: PathId) {
        let errors = self.config.path_max_retrans.saturating_add(1);
        self.paths[path].error_count = self.paths[path].error_count.max(errors);
        self.change_path(path, PathState::Inactive);
    }

    /// Packets can leave from an address of ours again, which had gone, or whose link had: each path from there that
    /// has HEARTBEATs is sent one at once, but not within RTO.Initial of the last one, so that a link that comes and
    /// goes is no flood. An answer brings the path back, and what was sent there into the void is retransmitted an RTO
    /// behind it, however far T3-rtx had been backed off. `false` if there is no such path.
    //
    //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
    //# D)  Request the sending of an on-demand HEARTBEAT chunk on a specific
    //# destination transport address of a given association.
    // The user who knows of the link is the host. RTO.Initial, since the RTO is what the missing link has made of it.
    pub fn local_address_is_back(&mut self, now: Instant, address: IpAddr) -> bool {
        self.down.retain(|down| *down != address);
        if !self.state.may_send_heartbeats() {
            return false;
        }
        self.unmute(now, address);
        let mut is_any = false;
        for id in self.paths.ids() {
            let path = &mut self.paths[id];
            if path.source != address {
                continue;
            }
            is_any = true;
            if !matches!(path.link, Link::Back(_)) {
                path.link = Link::Back(now);
            }
            self.ask_at_once(now, id);
        }
        if is_any {
            self.trace(|| TraceEvent::LocalLink { source: address, is_up: true });
        }
        is_any
    }

    /// Sends a path a HEARTBEAT, but not within RTO.Initial of the last one. One that has none works again, since
    /// nobody would ever ask it.
    pub(super) fn ask_at_once(&mut self, now: Instant, path: PathId) {
        if self.paths[path].heartbeat == Heartbeat::Off && self.paths[path].state == PathState::Inactive {
            self.mark_answering(path);
        }
        self.paths[path].heartbeat.hasten(now, self.config.rto_initial);
        if self.paths[path].heartbeat.deadline().is_some_and(|deadline| deadline <= now) {
            self.on_heartbeat_deadline(now, path);
        }
        self.poll_stage = PollStage::Packets;
    }

    /// `path` was the last active one: the others, which may be well again, are asked at once. Their next
    /// HEARTBEATs have been backed off while they did not answer.
    #[cold]
    pub(super) fn ask_others(&mut self, now: Instant, path: PathId) {
        if !self.state.may_send_heartbeats() || self.paths.iter().any(|one| one.state == PathState::Active) {
            return;
        }
        for other in self.paths.ids().filter(|other| *other != path) {
            let one = &self.paths[other];
            let is_asked_late = match one.state {
                PathState::Inactive => one.heartbeat != Heartbeat::Off,
                // Once per RTO as it is, which may not have been backed off much.
                PathState::PotentiallyFailed => {
                    one.heartbeat.deadline().is_some_and(|at| at > now + self.config.rto_initial)
                }
                PathState::Active | PathState::Unconfirmed => false,
            };
            if is_asked_late {
                self.ask_at_once(now, other);
            }
        }
    }

    /// `path` has become active. If it is the only one, what waits on those that have failed for T3-rtx, which has been
    /// backed off there, is retransmitted at once.
    #[cold]
    pub(super) fn rescue(&mut self, now: Instant, path: PathId) {
        let is_other = |id: &PathId| *id != path && self.paths[*id].state == PathState::Active;
        if self.paths[path].state != PathState::Active || self.paths.ids().any(|id| is_other(&id)) {
            return;
        }
        for other in self.paths.ids() {
            if has_failed(self.paths[other].state) && self.paths[other].t3_rtx().is_some() {
                let mut turn = turn!(self, now);
                // It counts nothing: that the path does not answer is known.
                self.sender.on_t3_rtx(&mut turn, other);
                self.follow_losses(now);
                self.poll_stage = PollStage::Packets;
            }
        }
    }

    /// A HEARTBEAT to `path` has been answered, whose round trip is measured.
    pub(super) fn follow_link(&mut self, now: Instant, path: PathId) {
        let path = &mut self.paths[path];
        if matches!(path.link, Link::Back(_)) {
            path.link = Link::Unchanged;
            path.hasten_t3_rtx(now);
        }
    }
}

/// True for a path that has not answered when it should have.
const fn has_failed(state: PathState) -> bool {
    matches!(state, PathState::Inactive | PathState::PotentiallyFailed)
}
