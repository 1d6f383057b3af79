//! Machine of changeover (Q.704, figure 30), and what a link keeps of it.

use slantpath_base::{StateMachine, Transition};

use crate::mtp3::Fsn;

/// States of the changeover from a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeoverState {
    /// An order was sent; T2 runs.
    AwaitingAcknowledgement,
    /// Level 2 was asked for the last number that it accepted.
    AwaitingBsnt,
    /// Level 2 was asked for that number, and the far end's order has come already.
    AwaitingBsntOrdered,
    /// The link cannot be used and has not failed: T1 runs.
    Blocked,
    /// The link failed, and traffic has left it.
    Completed,
    /// The link cannot be used and has not failed: traffic has left it by time.
    Diverted,
    /// Traffic uses the link, or never did.
    #[default]
    Idle,
    /// Messages come back from level 2.
    Retrieving,
    /// The link failed and no other way leads to its far end: T1 runs.
    TimeControlled,
    /// The link failed in its first test: level 2 was asked for the last number that it accepted.
    Untested,
    /// Level 2 was asked after a failed first test, and the far end's order has come already.
    UntestedOrdered,
}

/// Events that a changeover reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeoverInput {
    /// COA, XCA or ECA.
    Acknowledgement,
    /// Level 2 said what it accepted last, or that it does not know.
    BsntAnswered,
    /// A processor outage or an inhibition: the link itself works.
    LinkBlocked,
    /// The link failed, and another way leads to its far end.
    LinkFailed,
    /// The link failed before its first test had passed: no traffic of this end used it.
    LinkFailedInTest,
    /// The link failed, and no other way leads to its far end.
    LinkFailedIsolated,
    /// The link is in service again after a failure.
    LinkRestored,
    /// The processor outage or the inhibition is over.
    LinkUnblocked,
    /// COO, XCO or ECO.
    Order,
    /// The processor outages of a link are over, and level 2 goes on.
    OutageOver,
    /// Level 2 has handed back what it could.
    RetrievalOver,
    /// T1 expired.
    T1,
    /// T2 expired.
    T2,
}

/// Actions of a changeover's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeoverAction {
    /// Have level 2 throw away what it holds, if a processor outage is why it holds it.
    Flush,
    /// Forget both numbers.
    Forget,
    /// Let the link restart.
    FreeLink,
    /// Let the held traffic go.
    Release,
    /// Ask level 2 for the last number that it accepted.
    RequestBsnt,
    /// Start T1 anew.
    RestartT1,
    /// Ask for what follows the far end's number, or, without one, for what was never sent.
    Retrieve,
    /// Ask for what was never sent.
    RetrieveUnsent,
    /// Send COA or XCA with the own number, ECA without one.
    SendAcknowledgement,
    /// Send COO or XCO with the own number, ECO without one.
    SendOrder,
    /// Start T1.
    StartT1,
    /// Start T2.
    StartT2,
    /// Stop T1.
    StopT1,
    /// Stop T2.
    StopT2,
}

type Row = Transition<ChangeoverState, ChangeoverInput, ChangeoverAction>;

const fn row(
    from: ChangeoverState,
    on: ChangeoverInput,
    to: ChangeoverState,
    actions: &'static [ChangeoverAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// Changeover control, one for each link.
pub const CHANGEOVER: StateMachine<ChangeoverState, ChangeoverInput, ChangeoverAction> = {
    use ChangeoverAction as A;
    use ChangeoverInput as I;
    use ChangeoverState as S;
    StateMachine {
        name: "Changeover",
        source: "Q.704, section 5 and figure 30 (TCOC)",
        initial: S::Idle,
        transitions: &[
            row(S::Idle, I::LinkFailed, S::AwaitingBsnt, &[A::RequestBsnt]),
            row(S::Idle, I::LinkFailedIsolated, S::TimeControlled, &[A::StartT1]),
            row(S::Idle, I::LinkBlocked, S::Blocked, &[A::StartT1]),
            row(S::Idle, I::Order, S::Idle, &[A::SendAcknowledgement]),
            row(S::AwaitingBsnt, I::BsntAnswered, S::AwaitingAcknowledgement, &[A::SendOrder, A::StartT2]),
            row(S::AwaitingBsnt, I::Order, S::AwaitingBsntOrdered, &[]),
            row(
                S::AwaitingBsntOrdered,
                I::BsntAnswered,
                S::Retrieving,
                &[A::SendAcknowledgement, A::Retrieve],
            ),
            row(S::AwaitingAcknowledgement, I::Acknowledgement, S::Retrieving, &[A::StopT2, A::Retrieve]),
            row(
                S::AwaitingAcknowledgement,
                I::Order,
                S::Retrieving,
                &[A::StopT2, A::SendAcknowledgement, A::Retrieve],
            ),
            row(S::AwaitingAcknowledgement, I::T2, S::Retrieving, &[A::RetrieveUnsent]),
            row(S::Retrieving, I::Order, S::Retrieving, &[A::SendAcknowledgement]),
            // Behind an order that served as one.
            row(S::Retrieving, I::Acknowledgement, S::Retrieving, &[]),
            row(S::Retrieving, I::RetrievalOver, S::Completed, &[A::Release, A::FreeLink]),
            row(S::Completed, I::Order, S::Completed, &[A::SendAcknowledgement]),
            row(S::Completed, I::Acknowledgement, S::Completed, &[]),
            row(S::Completed, I::LinkRestored, S::Idle, &[A::Forget]),
            // The far end may have found the link tested already and have used it: an order asks for the numbers of
            // this life, and not of the last.
            row(S::Idle, I::LinkFailedInTest, S::Untested, &[A::RequestBsnt]),
            row(S::Completed, I::LinkFailedInTest, S::Untested, &[A::RequestBsnt]),
            row(S::Untested, I::BsntAnswered, S::Completed, &[]),
            row(S::Untested, I::Order, S::UntestedOrdered, &[]),
            row(S::UntestedOrdered, I::BsntAnswered, S::Completed, &[A::SendAcknowledgement]),
            row(S::TimeControlled, I::T1, S::Retrieving, &[A::RetrieveUnsent]),
            row(S::TimeControlled, I::Order, S::AwaitingBsntOrdered, &[A::StopT1, A::RequestBsnt]),
            // Nothing that level 2 still holds may follow what goes elsewhere now.
            row(S::Blocked, I::T1, S::Diverted, &[A::Flush, A::Release]),
            // The link stays inhibited: what level 2 held goes only now, and has T1 from now on.
            row(S::Blocked, I::OutageOver, S::Blocked, &[A::RestartT1]),
            row(S::Blocked, I::LinkUnblocked, S::Idle, &[A::StopT1, A::Release]),
            row(S::Blocked, I::LinkFailed, S::AwaitingBsnt, &[A::StopT1, A::RequestBsnt]),
            row(S::Blocked, I::LinkFailedIsolated, S::TimeControlled, &[]),
            row(S::Diverted, I::LinkUnblocked, S::Idle, &[]),
            row(S::Diverted, I::LinkFailed, S::Completed, &[A::FreeLink]),
            row(S::Diverted, I::LinkFailedIsolated, S::Completed, &[A::FreeLink]),
        ],
    }
};

/// A link's changeover.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::mtp3::node) struct Changeover {
    pub(in crate::mtp3::node) state: ChangeoverState,
    /// The diversion that holds the link's traffic, while there is one.
    pub(in crate::mtp3::node) diversion: Option<u32>,
    /// The count of messages at which the link was lost.
    pub(in crate::mtp3::node) lost_at: u64,
    /// Number of messages that have come back since.
    pub(in crate::mtp3::node) returned: u64,
    /// The last number that this end accepted.
    pub(in crate::mtp3::node) own: Option<Fsn>,
    /// The last number that the far end accepted.
    pub(in crate::mtp3::node) far: Option<Fsn>,
}
