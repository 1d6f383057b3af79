//! Choice of the primary path: the wish of the layer above, the address at which the setup has found the peer, and what
//! happens to the old one when a new one is chosen (RFC 9260, sections 5.1.2 and 6.4).

use std::net::IpAddr;

use slantpath_base::Instant;

use super::Association;
use super::output::PollStage;
use crate::event::Event;
use crate::path::{Heartbeat, Link, PathId, PathState};

impl Association {
    /// SET PRIMARY: sends new DATA to this address of the peer from now on. `false` if it is none of its
    /// confirmed addresses.
    pub fn set_primary(&mut self, _now: Instant, address: IpAddr) -> bool {
        self.poll_stage = PollStage::Packets;
        let is_set = self.paths.find(address).is_some_and(|path| self.paths.set_primary(path));
        if is_set {
            self.wanted_primary = Some(address);
            self.stand_in = None;
        }
        is_set
    }

    /// The layer above has named this address before the association was there. If another one is primary, since it
    /// has answered in its place, this one is asked at once, and is primary with its answer. What the peer has asked
    /// for in its INIT or INIT ACK goes before.
    pub(crate) fn want_primary(&mut self, now: Instant, address: IpAddr) {
        if self.addresses.is_some() && self.tcb.wanted_primary.is_some() {
            return;
        }
        self.wanted_primary = Some(address);
        self.ask_wanted_primary(now);
    }

    /// The setup has been repeated, and an answer has come from this address: DATA begins there.
    pub(crate) fn begin_at(&mut self, now: Instant, address: IpAddr) {
        if let Some(path) = self.paths.find(address)
            && self.paths.set_primary(path)
        {
            self.ask_wanted_primary(now);
        }
    }

    /// The peer's cookie has come from this address, and not from the primary one that it was sent to: both
    /// are asked, and the first that answers carries DATA, until the primary one does.
    pub(crate) fn was_found_at(&mut self, now: Instant, address: IpAddr) {
        let Some(path) = self.paths.find(address).filter(|path| *path != self.paths.primary()) else {
            return;
        };
        let primary = self.paths.primary();
        self.stand_in = Some(path);
        self.wanted_primary.get_or_insert(self.paths[primary].destination);
        if let Heartbeat::Off | Heartbeat::Scheduled { .. } = self.paths[primary].heartbeat {
            self.paths[primary].heartbeat = Heartbeat::Requested { at: now };
        }
    }

    fn ask_wanted_primary(&mut self, now: Instant) {
        if let Some(path) = self.wanted_primary.and_then(|address| self.paths.find(address))
            && self.seeks(path)
            && let Heartbeat::Off | Heartbeat::Scheduled { .. } = self.paths[path].heartbeat
        {
            self.paths[path].heartbeat = Heartbeat::Requested { at: now };
            self.poll_stage = PollStage::Packets;
        }
    }

    /// Tells if a path is to be the primary one as soon as it answers.
    pub(super) fn seeks(&self, path: PathId) -> bool {
        path != self.paths.primary() && self.wanted_primary == Some(self.paths[path].destination)
    }

    /// A path has answered.
    pub(super) fn follow_wish(&mut self, path: PathId) {
        let is_usable = self.paths[path].state == PathState::Active && self.paths[path].link != Link::Down;
        let stands_in = self.stand_in == Some(path);
        if is_usable && (stands_in || path == self.paths.primary()) {
            self.stand_in = None;
        }
        if is_usable && (stands_in || self.seeks(path)) && self.paths.set_primary(path) {
            let address = self.paths[path].destination;
            self.events.push_back(Event::PrimaryChanged { address });
        }
    }

    /// Makes the path that carries new DATA now the primary one.
    pub(super) fn switch_primary(&mut self) {
        //= https://www.rfc-editor.org/rfc/rfc7829#section-5
        //# The primary path selected by the SCTP implementation MUST be the
        //# path that, at the given time, would be chosen for data transfer.
        let next = self.paths.current();
        if next != self.paths.primary() && self.paths.set_primary(next) {
            self.wanted_primary = None;
            self.stand_in = None;
            let address = self.paths[next].destination;
            self.events.push_back(Event::PrimaryChanged { address });
        }
    }
}
