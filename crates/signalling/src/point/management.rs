//! Handling of management's requests to a point and its links, and of their reports to management.

use slantpath_base::Instant;
use slantpath_ss7::mtp3::node::{ManagementEvent, Mtp3LinkId};
use slantpath_ss7::sccp::{Indication, Ssn};

use super::{PointOutput, SignallingPoint};
use crate::management::{
    LinkEndChange, ManagementRequest, PointChange, PointEvent, PointEventKind as Kind, ProcessLock,
};

impl SignallingPoint {
    pub(super) fn handle_management(&mut self, now: Instant, request: ManagementRequest) {
        self.work.mark(self.upper_part());
        match request {
            ManagementRequest::Link(link, change) => self.change_link(now, link, change),
            ManagementRequest::Point(change) => self.change_point(now, change),
            ManagementRequest::Process(association, lock) => {
                self.work.mark(self.gateway_part());
                // A point that is no gateway has no process that anything could be done to.
                let Some(gateway) = &mut self.gateway else { return };
                match lock {
                    ProcessLock::Locked => gateway.sgp.lock_out(now, association),
                    ProcessLock::Unlocked => gateway.sgp.unlock(association),
                }
            }
        }
    }

    fn change_link(&mut self, now: Instant, link: Mtp3LinkId, change: LinkEndChange) {
        let mtp3 = &mut self.mtp3;
        match change {
            LinkEndChange::Activate => mtp3.activate(now, link),
            LinkEndChange::Deactivate => mtp3.deactivate(now, link),
            LinkEndChange::Emergency => mtp3.emergency(link, true),
            LinkEndChange::EmergencyCeases => mtp3.emergency(link, false),
            LinkEndChange::Inhibit => {
                if let Err(error) = mtp3.inhibit(now, link) {
                    let kind = Kind::InhibitionRefused(error);
                    self.outputs.push_back(PointOutput::Event(PointEvent { link: Some(link), kind }));
                }
            }
            LinkEndChange::ProcessorOutage => mtp3.local_processor_outage(now, link, true),
            LinkEndChange::ProcessorRecovered => mtp3.local_processor_outage(now, link, false),
            LinkEndChange::Uninhibit => mtp3.uninhibit(now, link),
        }
    }

    fn change_point(&mut self, now: Instant, change: PointChange) {
        let (ssn, done) = match (change, &mut self.sccp) {
            (PointChange::Restart, _) => {
                let links = || (0_u16..).take(self.links.len()).map(Mtp3LinkId);
                links().for_each(|link| self.mtp3.deactivate(now, link));
                links().for_each(|link| self.mtp3.activate(now, link));
                return;
            }
            // A point without SCCP has no subsystem that anything could be done to.
            (_, None) => return,
            (PointChange::SubsystemAsks(ssn), Some(sccp)) => (ssn, sccp.coord_request(now, ssn)),
            (PointChange::SubsystemComes(ssn), Some(sccp)) => (ssn, sccp.set_subsystem(now, ssn, true)),
            (PointChange::SubsystemGoes(ssn), Some(sccp)) => (ssn, sccp.set_subsystem(now, ssn, false)),
        };
        if done.is_err() {
            let kind = Kind::CoordinatedChangeRefused(ssn);
            self.outputs.push_back(PointOutput::Event(PointEvent { link: None, kind }));
        }
    }

    /// SCCP indicates a coordinated change to a user.
    pub(super) fn coordinate(
        &mut self,
        now: Instant,
        ssn: Ssn,
        indication: &Indication,
    ) -> Option<PointOutput> {
        let kind = match indication {
            Indication::Coord { point_code, ssn } => {
                let sccp = self.sccp.as_mut();
                // A user that is asked takes over, unless it has gone itself in this instant.
                match sccp.map(|sccp| sccp.coord_response(now, *ssn, *point_code)) {
                    None | Some(Ok(())) => return None,
                    Some(Err(_)) => Kind::CoordinatedChangeRefused(*ssn),
                }
            }
            Indication::CoordConfirm { .. } => Kind::CoordinatedChangeGranted(ssn),
            Indication::CoordRefused { .. } => Kind::CoordinatedChangeRefused(ssn),
            _ => return None,
        };
        Some(PointOutput::Event(PointEvent { link: None, kind }))
    }

    /// Gives the event that a report of MTP3 to management is.
    pub(super) fn management_event(&self, event: ManagementEvent) -> Option<PointOutput> {
        use ManagementEvent as M;
        let mtp3 = &self.mtp3;
        let (link, kind) = match event {
            M::ChangebackUnacknowledged(link) => (Some(link), Kind::ChangebackUnacknowledged),
            M::ChangeoverWithoutSequence(link) => (Some(link), Kind::ChangeoverWithoutSequence),
            M::InhibitionDenied(link) => (Some(link), Kind::InhibitionDenied),
            M::InhibitionUnanswered(link) => (Some(link), Kind::InhibitionUnanswered),
            M::LinkAvailable(link) => (Some(link), Kind::Available),
            M::LinkCongestion(link, status) => (Some(link), Kind::Congestion(status)),
            M::LinkInhibited(link) => (Some(link), Kind::Inhibited),
            M::LinkSetAvailable(link_set) => (None, Kind::LinkSetAvailable(mtp3.adjacent_of(link_set))),
            M::LinkSetUnavailable(link_set) => (None, Kind::LinkSetUnavailable(mtp3.adjacent_of(link_set))),
            M::LinkTestFailed(link) => (Some(link), Kind::TestFailed),
            M::LinkUnavailable(link) => (Some(link), Kind::Unavailable),
            M::LinkUninhibited(link) => (Some(link), Kind::Uninhibited),
            M::RestartBegun => (None, Kind::RestartBegun),
            M::RestartOver => (None, Kind::RestartOver),
            M::TrafficDiverted { from, to } => (Some(from), Kind::TrafficDiverted { to }),
            // One a message: the counters have their number.
            M::CircularRoute(_) => return None,
        };
        Some(PointOutput::Event(PointEvent { link, kind }))
    }
}
