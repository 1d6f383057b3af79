//! Machine of signalling link activity (Q.704, figure 36), and the links of a node.

use slantpath_base::{StateMachine, Transition};

use crate::mtp3::Slc;
use crate::mtp3::node::config::SequenceNumbers;
use crate::mtp3::node::id::LinkSetId;
use crate::mtp3::node::machines::changeover::Changeover;
use crate::mtp3::node::machines::inhibiting::Inhibition;
use crate::mtp3::node::machines::link_test::LinkTest;
use crate::mtp3::node::measurements::LinkMeasurements;

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
pub(in crate::mtp3::node) struct Link {
    pub(in crate::mtp3::node) set: LinkSetId,
    pub(in crate::mtp3::node) slc: Slc,
    pub(in crate::mtp3::node) sequence: SequenceNumbers,
    pub(in crate::mtp3::node) activity: LinkActivity,
    pub(in crate::mtp3::node) blocked: Ends,
    pub(in crate::mtp3::node) inhibited: Ends,
    pub(in crate::mtp3::node) inhibition: Inhibition,
    pub(in crate::mtp3::node) changeover: Changeover,
    pub(in crate::mtp3::node) test: LinkTest,
    /// Congestion status 0 to 3 of its transmit queue.
    pub(in crate::mtp3::node) congestion: u8,
    /// True if management wants the emergency proving period, whatever else the link set has.
    pub(in crate::mtp3::node) wants_emergency: bool,
    pub(in crate::mtp3::node) measured: LinkMeasurements,
}

impl Link {
    pub(in crate::mtp3::node) fn new(set: LinkSetId, slc: Slc, sequence: SequenceNumbers) -> Self {
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
    pub(in crate::mtp3::node) fn works(&self) -> bool {
        self.activity == LinkActivity::Available && self.blocked == Ends::Neither
    }

    /// Tells if traffic may use the link.
    pub(in crate::mtp3::node) fn is_available(&self) -> bool {
        self.works() && self.inhibited == Ends::Neither
    }
}
