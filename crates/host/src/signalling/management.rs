//! What management does to links and points while a network runs, and what management hears of them.

use slantpath_base::Instant;
use slantpath_ss7::mtp3::node::{LinkId, ManagementEvent};
use slantpath_ss7::sccp::{Indication, Ssn};

use super::config::{PointId, Side, SignallingLinkId};
use super::m3ua::AspId;
use super::network::SignallingNetwork;
use super::record::{Event, EventKind};

/// Something that is done to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// To a link as a whole.
    Link(SignallingLinkId, LinkChange),
    /// To a link at one of its ends.
    LinkEnd(SignallingLinkId, Side, LinkEndChange),
    /// To a point.
    Point(PointId, PointChange),
    /// To an application server process.
    Process(AspId, ProcessChange),
}

/// Something that is done to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// Management at both ends brings it into service.
    Activate,
    /// Management at both ends takes it out of service.
    Deactivate,
    /// Its line breaks.
    Fail,
    /// Its line works again.
    Restore,
}

/// Something that is done to one end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEndChange {
    /// Management wants the emergency proving period whenever it aligns.
    Emergency,
    /// Management leaves the proving period to the link set.
    EmergencyCeases,
    /// Management wants it free of users' traffic.
    Inhibit,
    /// Level 3 cannot serve it any more.
    ProcessorOutage,
    /// Level 3 can serve it again.
    ProcessorRecovered,
    /// Management lets users' traffic use it again.
    Uninhibit,
}

/// Something that is done to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointChange {
    /// Its links all stop, so that it is cut off, and start again.
    Restart,
    /// A subsystem asks its backup to take over, before it goes.
    SubsystemAsks(Ssn),
    /// A subsystem comes into service.
    SubsystemComes(Ssn),
    /// A subsystem goes out of service.
    SubsystemGoes(Ssn),
}

/// Something that is done to an application server process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessChange {
    /// Management lets it take its traffic.
    Activate,
    /// Management takes its traffic away.
    Deactivate,
    /// It dies, and its associations with it.
    Fail,
    /// It is started again.
    Restore,
}

impl SignallingNetwork {
    /// Management does something.
    pub fn change(&mut self, now: Instant, change: Change) {
        match change {
            Change::Link(link, LinkChange::Activate) => self.activate(now, link),
            Change::Link(link, LinkChange::Deactivate) => self.deactivate(now, link),
            // A line that is broken twice stays broken.
            Change::Link(link, LinkChange::Fail) => drop(self.fail_line(now, link)),
            Change::Link(link, LinkChange::Restore) => drop(self.restore_line(now, link)),
            Change::LinkEnd(link, side, change) => self.change_end(now, link, side, change),
            Change::Point(point, change) => self.change_point(now, point, change),
            Change::Process(asp, ProcessChange::Activate) => self.activate_process(now, asp),
            Change::Process(asp, ProcessChange::Deactivate) => self.deactivate_process(now, asp),
            Change::Process(asp, ProcessChange::Fail) => self.fail_process(asp),
            Change::Process(asp, ProcessChange::Restore) => self.restore_process(asp),
        }
    }

    fn change_end(&mut self, now: Instant, number: SignallingLinkId, side: Side, change: LinkEndChange) {
        let end = self.links[number.0].ends[side as usize];
        let mtp3 = &mut self.points[end.point.0].mtp3;
        match change {
            LinkEndChange::Emergency => mtp3.emergency(end.link, true),
            LinkEndChange::EmergencyCeases => mtp3.emergency(end.link, false),
            LinkEndChange::Inhibit => {
                if let Err(error) = mtp3.inhibit(now, end.link) {
                    let kind = EventKind::InhibitionRefused(error);
                    self.events.push(Event { at: now, point: end.point, link: Some((number, side)), kind });
                }
            }
            LinkEndChange::ProcessorOutage => mtp3.local_processor_outage(now, end.link, true),
            LinkEndChange::ProcessorRecovered => mtp3.local_processor_outage(now, end.link, false),
            LinkEndChange::Uninhibit => mtp3.uninhibit(now, end.link),
        }
    }

    fn change_point(&mut self, now: Instant, number: PointId, change: PointChange) {
        let point = &mut self.points[number.0];
        let (ssn, done) = match (change, &mut point.sccp) {
            (PointChange::Restart, _) => {
                let count = u16::try_from(point.links.len()).unwrap_or(u16::MAX);
                (0..count).for_each(|link| point.mtp3.deactivate(now, LinkId(link)));
                (0..count).for_each(|link| point.mtp3.activate(now, LinkId(link)));
                return;
            }
            // A point without SCCP has no subsystem that anything could be done to.
            (_, None) => return,
            (PointChange::SubsystemAsks(ssn), Some(sccp)) => (ssn, sccp.coord_request(now, ssn)),
            (PointChange::SubsystemComes(ssn), Some(sccp)) => (ssn, sccp.set_subsystem(now, ssn, true)),
            (PointChange::SubsystemGoes(ssn), Some(sccp)) => (ssn, sccp.set_subsystem(now, ssn, false)),
        };
        if done.is_err() {
            let kind = EventKind::CoordinatedChangeRefused(ssn);
            self.events.push(Event { at: now, point: number, link: None, kind });
        }
    }

    /// SCCP of a point tells a user about a coordinated change.
    pub(super) fn coordinate(&mut self, now: Instant, number: usize, ssn: Ssn, indication: &Indication) {
        let kind = match indication {
            Indication::Coord { point_code, ssn } => {
                let sccp = self.points[number].sccp.as_mut();
                // A user that is asked takes over, unless it has gone itself in this instant.
                match sccp.map(|sccp| sccp.coord_response(now, *ssn, *point_code)) {
                    None | Some(Ok(())) => return,
                    Some(Err(_)) => EventKind::CoordinatedChangeRefused(*ssn),
                }
            }
            Indication::CoordConfirm { .. } => EventKind::CoordinatedChangeGranted(ssn),
            Indication::CoordRefused { .. } => EventKind::CoordinatedChangeRefused(ssn),
            _ => return,
        };
        self.events.push(Event { at: now, point: PointId(number), link: None, kind });
    }

    /// MTP3 of a point tells its management something.
    pub(super) fn note(&mut self, now: Instant, number: usize, event: ManagementEvent) {
        use ManagementEvent as M;
        let mtp3 = &self.points[number].mtp3;
        let (link, kind) = match event {
            M::ChangebackUnacknowledged(link) => (Some(link), EventKind::ChangebackUnacknowledged),
            M::ChangeoverWithoutSequence(link) => (Some(link), EventKind::ChangeoverWithoutSequence),
            M::InhibitionDenied(link) => (Some(link), EventKind::InhibitionDenied),
            M::InhibitionUnanswered(link) => (Some(link), EventKind::InhibitionUnanswered),
            M::LinkAvailable(link) => (Some(link), EventKind::Available),
            M::LinkCongestion(link, status) => (Some(link), EventKind::Congestion(status)),
            M::LinkInhibited(link) => (Some(link), EventKind::Inhibited),
            M::LinkSetAvailable(link_set) => (None, EventKind::LinkSetAvailable(mtp3.adjacent_of(link_set))),
            M::LinkSetUnavailable(link_set) => {
                (None, EventKind::LinkSetUnavailable(mtp3.adjacent_of(link_set)))
            }
            M::LinkTestFailed(link) => (Some(link), EventKind::TestFailed),
            M::LinkUnavailable(link) => (Some(link), EventKind::Unavailable),
            M::LinkUninhibited(link) => (Some(link), EventKind::Uninhibited),
            M::RestartBegun => (None, EventKind::RestartBegun),
            M::RestartOver => (None, EventKind::RestartOver),
            // One a message: the counters have their number.
            M::CircularRoute(_) => return,
        };
        let point = PointId(number);
        let link = link.map(|link| self.points[number].links[usize::from(link.0)]);
        self.events.push(Event { at: now, point, link, kind });
    }
}
