//! Signalling link activity control (Q.704, section 12; LSAC of figure 36): bringing links up and keeping them so.

use slantpath_base::Instant;

use crate::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use crate::mtp3::node::id::Mtp3LinkId;
use crate::mtp3::node::machines::changeover::ChangeoverInput;
use crate::mtp3::node::machines::link::{
    Ends, LINK_ACTIVITY, Link, LinkActivity, LinkActivityAction, LinkActivityInput,
};
use crate::mtp3::node::machines::link_test::LinkTestInput;
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Mtp3Timer;
use crate::mtp3::node::{ManagementEvent, Node};

impl Node {
    /// Gives the activity of a link.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn link_activity(&self, link: Mtp3LinkId) -> LinkActivity {
        self.link(link).activity
    }

    /// Tells if traffic may use a link: in service, tested, neither blocked nor inhibited.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn is_link_available(&self, link: Mtp3LinkId) -> bool {
        self.link(link).is_available()
    }

    /// Brings a link into service, and back into service whenever it fails. A link in reserve waits for another one to
    /// fail.
    pub fn activate(&mut self, now: Instant, link: Mtp3LinkId) {
        if !self.is_backup(link) {
            self.link_activity_input(now, link, LinkActivityInput::Activate);
        }
        self.settle(now);
    }

    /// Takes a link out of service. Traffic changes over.
    pub fn deactivate(&mut self, now: Instant, link: Mtp3LinkId) {
        self.link_activity_input(now, link, LinkActivityInput::Deactivate);
        self.settle(now);
    }

    /// Management wants a link to align with the emergency proving period from now on, or wants that no longer. Without
    /// its wish, the last link of a link set does so (Q.704, section 12.2).
    pub fn emergency(&mut self, link: Mtp3LinkId, holds: bool) {
        self.link_mut(link).wants_emergency = holds;
        self.choose_proving(link);
    }

    fn choose_proving(&mut self, link: Mtp3LinkId) {
        let is_alone = self.available_links(self.link(link).set).next().is_none();
        let is_emergency = self.link(link).wants_emergency || is_alone;
        self.request(link, if is_emergency { LinkRequest::Emergency } else { LinkRequest::EmergencyCeases });
    }

    /// Level 3 of this end cannot serve a link, or can again; the far end is told.
    pub fn local_processor_outage(&mut self, now: Instant, link: Mtp3LinkId, holds: bool) {
        if holds {
            self.schedule.stop(Key::Link(link, Mtp3Timer::T24));
            self.request(link, LinkRequest::LocalProcessorOutage);
            self.block(now, link, |ends| ends.with_local(true));
        } else {
            // What the far end sent meanwhile settles first (T24).
            self.start(now, Key::Link(link, Mtp3Timer::T24), Mtp3Timer::T24);
        }
        self.settle(now);
    }

    /// T24: the outage is over for good. What is to be flushed goes before level 2 may deliver or send it.
    pub(super) fn local_processor_recovered(&mut self, now: Instant, link: Mtp3LinkId) {
        self.flush_if_diverted(link);
        self.request(link, LinkRequest::LocalProcessorRecovered);
        self.unblock(now, link, |ends| ends.with_local(false));
    }

    /// The outage of one end is over. Level 2 goes on once no other is left.
    fn unblock(&mut self, now: Instant, link: Mtp3LinkId, change: impl Fn(Ends) -> Ends) {
        let blocked = self.link(link).blocked;
        if blocked != Ends::Neither && change(blocked) == Ends::Neither {
            self.request(link, LinkRequest::Continue);
            self.changeover(now, link, ChangeoverInput::OutageOver);
        }
        self.block(now, link, change);
    }

    pub(super) fn block(&mut self, now: Instant, link: Mtp3LinkId, change: impl FnOnce(Ends) -> Ends) {
        self.change_link(now, link, ChangeoverInput::LinkBlocked, |link| link.blocked = change(link.blocked));
    }

    /// Changes a link, and moves the traffic if its availability changed by that.
    pub(super) fn change_link(
        &mut self,
        now: Instant,
        link: Mtp3LinkId,
        cause: ChangeoverInput,
        change: impl FnOnce(&mut Link),
    ) {
        let was_available = self.link(link).is_available();
        change(self.link_mut(link));
        let is_available = self.link(link).is_available();
        self.measure(now, link);
        if was_available != is_available {
            self.link_mut(link).measured.unavailable.follow(now, was_available);
        }
        match (was_available, is_available) {
            (true, false) => self.link_lost(now, link, cause),
            (false, true) => self.link_gained(now, link),
            (false, false) => {
                // A link that was inhibited may be blocked, and one that was either may fail.
                if cause == ChangeoverInput::LinkFailed {
                    self.changeover(now, link, cause);
                }
                self.check_isolation(now, self.link(link).set);
            }
            (true, true) => {}
        }
    }

    pub(super) fn level_2(&mut self, now: Instant, link: Mtp3LinkId, indication: LinkIndication) {
        match indication {
            LinkIndication::InService => {
                self.link_mut(link).congestion = 0;
                self.measure(now, link);
                self.link_activity_input(now, link, LinkActivityInput::InService);
            }
            // Whoever stopped it knows.
            LinkIndication::OutOfService(OutOfServiceReason::Stopped) => {}
            LinkIndication::OutOfService(_) => {
                self.link_activity_input(now, link, LinkActivityInput::OutOfService);
            }
            LinkIndication::RemoteProcessorOutage => self.block(now, link, |ends| ends.with_remote(true)),
            LinkIndication::RemoteProcessorRecovered => {
                self.flush_if_diverted(link);
                self.unblock(now, link, |ends| ends.with_remote(false));
            }
            LinkIndication::Congestion(status) => self.link_congestion(now, link, status.min(3)),
            LinkIndication::Bsnt(fsn) => self.bsnt(now, link, Some(fsn)),
            LinkIndication::BsntNotRetrievable => self.bsnt(now, link, None),
            LinkIndication::Retrieved(message) => self.retrieved(link, &message),
            LinkIndication::RetrievalComplete | LinkIndication::RetrievalNotPossible => {
                self.changeover(now, link, ChangeoverInput::RetrievalOver);
            }
            LinkIndication::Received(message) => self.received(now, link, &message),
        }
    }

    pub(super) fn link_activity_input(&mut self, now: Instant, link: Mtp3LinkId, input: LinkActivityInput) {
        let Some(row) = LINK_ACTIVITY.next(self.link(link).activity, input) else { return };
        if row.to != LinkActivity::Available && row.from != LinkActivity::Available {
            self.link_mut(link).activity = row.to;
        }
        let measured = &mut self.link_mut(link).measured;
        match (row.from, row.to) {
            (LinkActivity::Available, LinkActivity::Retrieving) => measured.failures += 1,
            (LinkActivity::Aligning, LinkActivity::Waiting) => measured.alignment_failures += 1,
            _ => {}
        }
        for action in row.actions {
            match action {
                LinkActivityAction::BecomeAvailable => {
                    self.changeover(now, link, ChangeoverInput::LinkRestored);
                    self.change_link(now, link, ChangeoverInput::LinkRestored, |link| link.activity = row.to);
                    self.report(ManagementEvent::LinkAvailable(link));
                }
                LinkActivityAction::BecomeFailed => {
                    self.report(ManagementEvent::LinkUnavailable(link));
                    self.change_link(now, link, ChangeoverInput::LinkFailed, |link| {
                        link.activity = row.to;
                        // A processor outage of the far end is over with the link.
                        link.blocked = link.blocked.with_remote(false);
                        link.congestion = 0;
                    });
                }
                LinkActivityAction::ChooseProving => self.choose_proving(link),
                LinkActivityAction::RenewProving => {
                    if self.link(link).wants_emergency {
                        self.request(link, LinkRequest::Emergency);
                    }
                }
                LinkActivityAction::FailTest => {
                    self.changeover(now, link, ChangeoverInput::LinkFailedInTest);
                }
                LinkActivityAction::StartLink => {
                    self.request(link, LinkRequest::Start);
                    // Level 2 forgets it with every failure.
                    if matches!(self.link(link).blocked, Ends::Both | Ends::Local) {
                        self.request(link, LinkRequest::LocalProcessorOutage);
                    }
                }
                LinkActivityAction::StartT17 => {
                    self.start(now, Key::Link(link, Mtp3Timer::T17), Mtp3Timer::T17);
                }
                LinkActivityAction::StopT17 => self.schedule.stop(Key::Link(link, Mtp3Timer::T17)),
                LinkActivityAction::StartTest => self.link_test(now, link, LinkTestInput::Start),
                LinkActivityAction::StopTest => self.link_test(now, link, LinkTestInput::Stop),
                LinkActivityAction::StopLink => self.request(link, LinkRequest::Stop),
            }
        }
        let is_out = matches!(
            row.to,
            LinkActivity::Deactivating
                | LinkActivity::Inactive
                | LinkActivity::Retrieving
                | LinkActivity::Waiting
        );
        if is_out {
            self.replace_link(now, self.link(link).set);
        }
    }
}
