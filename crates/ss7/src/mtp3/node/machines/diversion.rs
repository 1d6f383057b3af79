//! Machine of diversions, and what they hold.

use slantpath_base::{StateMachine, Transition};
use std::collections::BTreeSet;

use crate::mtp3::ChangebackCode;
use crate::mtp3::node::held::Held;
use crate::mtp3::node::id::Mtp3LinkId;

/// States of a changeback or a rerouting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiversionState {
    /// A changeback declaration was sent (T4).
    AwaitingAcknowledgement,
    /// The declaration was sent a second time (T5).
    AwaitingAcknowledgementAgain,
    /// A controlled rerouting waits for T6.
    ControlledRerouting,
    /// Nothing has begun.
    Idle,
    /// The procedure itself is over; older messages may still be awaited.
    Over,
    /// A time-controlled diversion waits for T3.
    TimeControlled,
}

/// Events that a changeback or a rerouting reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiversionInput {
    /// CBA with the code of the declaration.
    Acknowledged,
    /// A better link of the same link set is available.
    Changeback,
    /// A better link of another link set is available.
    ChangebackElsewhere,
    /// A better route is available.
    Controlled,
    /// The route in use is prohibited.
    Forced,
    /// The link or route that the traffic leaves has failed: its changeover keeps the order.
    OriginLost,
    /// The link that the traffic leaves was blocked and works again: what it held goes only now.
    OriginResumed,
    /// T3 expired.
    T3,
    /// T4 expired.
    T4,
    /// T5 expired.
    T5,
    /// T6 expired.
    T6,
}

/// Actions of a diversion's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiversionAction {
    /// Let the traffic go as soon as nothing older is awaited.
    Release,
    /// Send a changeback declaration over the link that the traffic leaves.
    SendDeclaration,
    /// Start T3.
    StartT3,
    /// Start T4.
    StartT4,
    /// Start T5.
    StartT5,
    /// Start T6.
    StartT6,
    /// Stop T3.
    StopT3,
    /// Stop T4.
    StopT4,
    /// Stop T5.
    StopT5,
    /// Stop T6.
    StopT6,
    /// Tell management that nobody acknowledged.
    ReportUnacknowledged,
}

type Row = Transition<DiversionState, DiversionInput, DiversionAction>;

const fn row(
    from: DiversionState,
    on: DiversionInput,
    to: DiversionState,
    actions: &'static [DiversionAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// Changeback, forced and controlled rerouting.
pub const DIVERSION: StateMachine<DiversionState, DiversionInput, DiversionAction> = {
    use DiversionAction as A;
    use DiversionInput as I;
    use DiversionState as S;
    StateMachine {
        name: "Changeback and rerouting",
        source: "Q.704, sections 6 to 8 and figures 31 to 33 (TCBC, TFRC, TCRC)",
        initial: S::Idle,
        transitions: &[
            row(S::Idle, I::Changeback, S::AwaitingAcknowledgement, &[A::SendDeclaration, A::StartT4]),
            row(S::Idle, I::ChangebackElsewhere, S::TimeControlled, &[A::StartT3]),
            row(S::Idle, I::Controlled, S::ControlledRerouting, &[A::StartT6]),
            row(S::Idle, I::Forced, S::Over, &[A::Release]),
            row(S::AwaitingAcknowledgement, I::Acknowledged, S::Over, &[A::StopT4, A::Release]),
            row(
                S::AwaitingAcknowledgement,
                I::T4,
                S::AwaitingAcknowledgementAgain,
                &[A::SendDeclaration, A::StartT5],
            ),
            row(S::AwaitingAcknowledgement, I::OriginLost, S::Over, &[A::StopT4, A::Release]),
            row(S::AwaitingAcknowledgementAgain, I::Acknowledged, S::Over, &[A::StopT5, A::Release]),
            row(S::AwaitingAcknowledgementAgain, I::T5, S::Over, &[A::ReportUnacknowledged, A::Release]),
            row(S::AwaitingAcknowledgementAgain, I::OriginLost, S::Over, &[A::StopT5, A::Release]),
            row(S::TimeControlled, I::T3, S::Over, &[A::Release]),
            row(S::TimeControlled, I::OriginLost, S::Over, &[A::StopT3, A::Release]),
            row(S::TimeControlled, I::OriginResumed, S::TimeControlled, &[A::StartT3]),
            row(S::Over, I::OriginResumed, S::TimeControlled, &[A::StartT3]),
            row(S::ControlledRerouting, I::T6, S::Over, &[A::Release]),
            row(S::ControlledRerouting, I::OriginResumed, S::ControlledRerouting, &[A::StartT6]),
            row(S::ControlledRerouting, I::OriginLost, S::Over, &[A::StopT6, A::Release]),
        ],
    }
};

/// Kinds of diversions, by what the traffic leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mtp3::node) enum Subject {
    /// Off a failed, blocked or inhibited link: the link's changeover says when.
    Changeover,
    /// From one link to another.
    Changeback { from: Mtp3LinkId, to: Mtp3LinkId, code: ChangebackCode },
    /// From one route to another.
    Rerouting,
}

#[derive(Clone, Debug)]
pub(in crate::mtp3::node) struct Diversion {
    pub(in crate::mtp3::node) state: DiversionState,
    pub(in crate::mtp3::node) subject: Subject,
    /// Links that older messages of this traffic took.
    pub(in crate::mtp3::node) origins: BTreeSet<Mtp3LinkId>,
    /// Diversions that hold older messages of this traffic.
    pub(in crate::mtp3::node) after: BTreeSet<u32>,
    pub(in crate::mtp3::node) held: Vec<Held>,
}
