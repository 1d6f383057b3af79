//! Signalling link activity control (Q.704, section 12; LSAC of figure 36): bringing links up and keeping them so.

use slantpath_base::{Instant, StateMachine, Transition};

use crate::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use crate::mtp3::Slc;
use crate::mtp3::node::changeover::{Changeover, ChangeoverInput};
use crate::mtp3::node::config::SequenceNumbers;
use crate::mtp3::node::inhibiting::Inhibition;
use crate::mtp3::node::link_test::{LinkTest, LinkTestInput};
use crate::mtp3::node::measurements::LinkMeasurements;
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Timer;
use crate::mtp3::node::{LinkId, LinkSetId, ManagementEvent, Node};

/// States of a link's activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkActivity {
    /// Level 2 aligns.
    Aligning,
    /// In service and tested: traffic may flow unless the link is blocked or inhibited.
    Available,
    /// Deactivated, and its messages still come back for changeover.
    Deactivating,
    /// Nobody wants it.
    Inactive,
    /// Failed, and its messages come back for changeover.
    Retrieving,
    /// In service at level 2, and the first signalling link test is under way.
    Testing,
    /// Alignment or the first test failed: T17 runs before the next attempt.
    Waiting,
}

/// Events that a link's activity reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkActivityInput {
    /// Management wants it.
    Activate,
    /// The far end has begun a changeover from it.
    ChangeoverOrdered,
    /// Management does not want it any more.
    Deactivate,
    /// Level 2 is in service.
    InService,
    /// Level 2 went out of service by itself.
    OutOfService,
    /// T17 expired.
    RestartDelayOver,
    /// Changeover needs the buffers no longer.
    RetrievalOver,
    /// The signalling link test failed twice.
    TestFailed,
    /// The signalling link test passed.
    TestPassed,
}

/// Actions of a link activity's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkActivityAction {
    /// Traffic may flow.
    BecomeAvailable,
    /// Traffic must leave.
    BecomeFailed,
    /// Ask for the emergency proving period where the link set has no other link, and for the normal one elsewhere.
    ChooseProving,
    /// Keep what the far end may ask for, should it have found the link tested already and have used it.
    FailTest,
    /// Ask for the emergency proving period again where management wants it: level 2 forgets that when it stops.
    RenewProving,
    /// Ask level 2 to start.
    StartLink,
    /// Start T17.
    StartT17,
    /// Start the signalling link test.
    StartTest,
    /// Ask level 2 to stop.
    StopLink,
    /// Stop T17.
    StopT17,
    /// Stop the signalling link test.
    StopTest,
}

type Row = Transition<LinkActivity, LinkActivityInput, LinkActivityAction>;

const fn row(
    from: LinkActivity,
    on: LinkActivityInput,
    to: LinkActivity,
    actions: &'static [LinkActivityAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// Signalling link activity control.
pub const LINK_ACTIVITY: StateMachine<LinkActivity, LinkActivityInput, LinkActivityAction> = {
    use LinkActivity as S;
    use LinkActivityAction as A;
    use LinkActivityInput as I;
    StateMachine {
        name: "Signalling link activity",
        source: "Q.704, section 12 and figure 36 (LSAC)",
        initial: S::Inactive,
        transitions: &[
            row(S::Inactive, I::Activate, S::Aligning, &[A::RenewProving, A::StartLink]),
            row(S::Aligning, I::InService, S::Testing, &[A::StartTest]),
            row(S::Aligning, I::OutOfService, S::Waiting, &[A::StartT17]),
            row(S::Aligning, I::Deactivate, S::Inactive, &[A::StopLink]),
            row(S::Testing, I::TestPassed, S::Available, &[A::BecomeAvailable]),
            row(S::Testing, I::TestFailed, S::Waiting, &[A::StopLink, A::FailTest, A::StartT17]),
            row(S::Testing, I::OutOfService, S::Waiting, &[A::StopTest, A::FailTest, A::StartT17]),
            row(
                S::Testing,
                I::ChangeoverOrdered,
                S::Waiting,
                &[A::StopTest, A::StopLink, A::FailTest, A::StartT17],
            ),
            row(S::Testing, I::Deactivate, S::Inactive, &[A::StopTest, A::StopLink, A::FailTest]),
            row(S::Available, I::OutOfService, S::Retrieving, &[A::StopTest, A::BecomeFailed]),
            row(S::Available, I::TestFailed, S::Retrieving, &[A::StopLink, A::BecomeFailed]),
            row(
                S::Available,
                I::ChangeoverOrdered,
                S::Retrieving,
                &[A::StopTest, A::StopLink, A::BecomeFailed],
            ),
            row(S::Available, I::Deactivate, S::Deactivating, &[A::StopTest, A::StopLink, A::BecomeFailed]),
            row(S::Retrieving, I::RetrievalOver, S::Aligning, &[A::ChooseProving, A::StartLink]),
            row(S::Retrieving, I::Deactivate, S::Deactivating, &[]),
            row(S::Deactivating, I::RetrievalOver, S::Inactive, &[]),
            row(S::Deactivating, I::Activate, S::Retrieving, &[]),
            row(S::Waiting, I::RestartDelayOver, S::Aligning, &[A::ChooseProving, A::StartLink]),
            row(S::Waiting, I::Deactivate, S::Inactive, &[A::StopT17]),
        ],
    }
};

/// At which ends of a link something holds: a processor outage, an inhibition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    /// Both ends of the link.
    Both,
    /// At this one.
    Local,
    /// Neither end of the link.
    #[default]
    Neither,
    /// At the far one.
    Remote,
}

impl Ends {
    /// With this end set or not.
    #[must_use]
    pub const fn with_local(self, holds: bool) -> Self {
        match (holds, self) {
            (true, Self::Both | Self::Remote) => Self::Both,
            (true, Self::Local | Self::Neither) => Self::Local,
            (false, Self::Both | Self::Remote) => Self::Remote,
            (false, Self::Local | Self::Neither) => Self::Neither,
        }
    }

    /// With the far end set or not.
    #[must_use]
    pub const fn with_remote(self, holds: bool) -> Self {
        match (holds, self) {
            (true, Self::Both | Self::Local) => Self::Both,
            (true, Self::Remote | Self::Neither) => Self::Remote,
            (false, Self::Both | Self::Local) => Self::Local,
            (false, Self::Remote | Self::Neither) => Self::Neither,
        }
    }
}

/// One signalling link.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) set: LinkSetId,
    pub(super) slc: Slc,
    pub(super) sequence: SequenceNumbers,
    pub(super) activity: LinkActivity,
    pub(super) blocked: Ends,
    pub(super) inhibited: Ends,
    pub(super) inhibition: Inhibition,
    pub(super) changeover: Changeover,
    pub(super) test: LinkTest,
    /// Congestion status 0 to 3 of its transmit queue.
    pub(super) congestion: u8,
    /// True if management wants the emergency proving period, whatever else the link set has.
    pub(super) wants_emergency: bool,
    pub(super) measured: LinkMeasurements,
}

impl Link {
    pub(super) fn new(set: LinkSetId, slc: Slc, sequence: SequenceNumbers) -> Self {
        Self {
            set,
            slc,
            sequence,
            activity: LINK_ACTIVITY.initial,
            blocked: Ends::Neither,
            inhibited: Ends::Neither,
            inhibition: Inhibition::default(),
            changeover: Changeover::default(),
            test: LinkTest::default(),
            congestion: 0,
            wants_emergency: false,
            measured: LinkMeasurements::default(),
        }
    }

    /// Tells if the link is in service, tested and not blocked.
    pub(super) fn works(&self) -> bool {
        self.activity == LinkActivity::Available && self.blocked == Ends::Neither
    }

    /// Tells if traffic may use the link.
    pub(super) fn is_available(&self) -> bool {
        self.works() && self.inhibited == Ends::Neither
    }
}

impl Node {
    /// Gives the activity of a link.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn link_activity(&self, link: LinkId) -> LinkActivity {
        self.link(link).activity
    }

    /// Tells if traffic may use a link: in service, tested, neither blocked nor inhibited.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn is_link_available(&self, link: LinkId) -> bool {
        self.link(link).is_available()
    }

    /// Brings a link into service, and back into service whenever it fails. A link in reserve waits for another one to
    /// fail.
    pub fn activate(&mut self, now: Instant, link: LinkId) {
        if !self.is_backup(link) {
            self.link_activity_input(now, link, LinkActivityInput::Activate);
        }
        self.settle(now);
    }

    /// Takes a link out of service. Traffic changes over.
    pub fn deactivate(&mut self, now: Instant, link: LinkId) {
        self.link_activity_input(now, link, LinkActivityInput::Deactivate);
        self.settle(now);
    }

    /// Management wants a link to align with the emergency proving period from now on, or wants that no longer. Without
    /// its wish, the last link of a link set does so (Q.704, section 12.2).
    pub fn emergency(&mut self, link: LinkId, holds: bool) {
        self.link_mut(link).wants_emergency = holds;
        self.choose_proving(link);
    }

    fn choose_proving(&mut self, link: LinkId) {
        let is_alone = self.available_links(self.link(link).set).next().is_none();
        let is_emergency = self.link(link).wants_emergency || is_alone;
        self.request(link, if is_emergency { LinkRequest::Emergency } else { LinkRequest::EmergencyCeases });
    }

    /// Level 3 of this end cannot serve a link, or can again; the far end is told.
    pub fn local_processor_outage(&mut self, now: Instant, link: LinkId, holds: bool) {
        if holds {
            self.schedule.stop(Key::Link(link, Timer::T24));
            self.request(link, LinkRequest::LocalProcessorOutage);
            self.block(now, link, |ends| ends.with_local(true));
        } else {
            // What the far end sent meanwhile settles first (T24).
            self.start(now, Key::Link(link, Timer::T24), Timer::T24);
        }
        self.settle(now);
    }

    /// T24: the outage is over for good. What is to be flushed goes before level 2 may deliver or send it.
    pub(super) fn local_processor_recovered(&mut self, now: Instant, link: LinkId) {
        self.flush_if_diverted(link);
        self.request(link, LinkRequest::LocalProcessorRecovered);
        self.unblock(now, link, |ends| ends.with_local(false));
    }

    /// The outage of one end is over. Level 2 goes on once no other is left.
    fn unblock(&mut self, now: Instant, link: LinkId, change: impl Fn(Ends) -> Ends) {
        let blocked = self.link(link).blocked;
        if blocked != Ends::Neither && change(blocked) == Ends::Neither {
            self.request(link, LinkRequest::Continue);
            self.changeover(now, link, ChangeoverInput::OutageOver);
        }
        self.block(now, link, change);
    }

    pub(super) fn block(&mut self, now: Instant, link: LinkId, change: impl FnOnce(Ends) -> Ends) {
        self.change_link(now, link, ChangeoverInput::LinkBlocked, |link| link.blocked = change(link.blocked));
    }

    /// Changes a link, and moves the traffic if its availability changed by that.
    pub(super) fn change_link(
        &mut self,
        now: Instant,
        link: LinkId,
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

    pub(super) fn level_2(&mut self, now: Instant, link: LinkId, indication: LinkIndication) {
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

    pub(super) fn link_activity_input(&mut self, now: Instant, link: LinkId, input: LinkActivityInput) {
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
                LinkActivityAction::StartT17 => self.start(now, Key::Link(link, Timer::T17), Timer::T17),
                LinkActivityAction::StopT17 => self.schedule.stop(Key::Link(link, Timer::T17)),
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
