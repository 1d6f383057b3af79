//! Machines of inhibiting at both ends of a link.

use slantpath_base::{StateMachine, Transition};

/// States of this end's own inhibition of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalInhibition {
    /// The link is inhibited from here.
    Inhibited,
    /// LUN was sent.
    Releasing,
    /// LUN was retransmitted.
    ReleasingAgain,
    /// LIN was sent.
    Requesting,
    /// LIN was retransmitted.
    RequestingAgain,
    /// The link is not inhibited from here.
    #[default]
    Uninhibited,
    /// LUN was sent behind a LIN that was not answered yet.
    Withdrawing,
    /// LUN was retransmitted, with LIN not answered still.
    WithdrawingAgain,
}

/// Events that this end's own inhibition reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalInhibitionInput {
    /// LIA.
    Accepted,
    /// LID.
    Denied,
    /// LFU, or a destination of this node needs the link.
    ForceUninhibit,
    /// Management wants the link inhibited, and that cuts nobody off.
    Inhibit,
    /// LUA.
    Released,
    /// LRT: the far end thinks that this one inhibits the link.
    RemoteTest,
    /// The point restarts: all links are uninhibited.
    Restart,
    /// T12 expired.
    T12,
    /// T14 expired.
    T14,
    /// T22 expired.
    T22,
    /// Management wants the link back.
    Uninhibit,
}

/// Actions of a local inhibition's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalInhibitionAction {
    /// The link is inhibited from now on.
    Mark,
    /// Send LIN.
    SendLin,
    /// Send LLT.
    SendLlt,
    /// Send LUN.
    SendLun,
    /// Start T12.
    StartT12,
    /// Start T14.
    StartT14,
    /// Start T22.
    StartT22,
    /// Stop T12.
    StopT12,
    /// Stop T14.
    StopT14,
    /// Stop T22.
    StopT22,
    /// Tell management that the far end refuses.
    ReportDenied,
    /// Tell management that the far end does not answer.
    ReportUnanswered,
    /// The link is not inhibited any more.
    Unmark,
}

type LocalRow = Transition<LocalInhibition, LocalInhibitionInput, LocalInhibitionAction>;

const fn local(
    from: LocalInhibition,
    on: LocalInhibitionInput,
    to: LocalInhibition,
    actions: &'static [LocalInhibitionAction],
) -> LocalRow {
    Transition { from, on, to, actions }
}

/// Inhibition from this end.
pub const LOCAL_INHIBITION: StateMachine<LocalInhibition, LocalInhibitionInput, LocalInhibitionAction> = {
    use LocalInhibition as S;
    use LocalInhibitionAction as A;
    use LocalInhibitionInput as I;
    StateMachine {
        name: "Local inhibition",
        source: "Q.704, section 10 and figure 38 (TLAC)",
        initial: S::Uninhibited,
        transitions: &[
            local(S::Uninhibited, I::Inhibit, S::Requesting, &[A::SendLin, A::StartT14]),
            local(S::Uninhibited, I::RemoteTest, S::Uninhibited, &[A::SendLun]),
            local(S::Uninhibited, I::ForceUninhibit, S::Uninhibited, &[A::SendLun]),
            local(S::Requesting, I::Accepted, S::Inhibited, &[A::StopT14, A::Mark, A::StartT22]),
            local(S::Requesting, I::Denied, S::Uninhibited, &[A::StopT14, A::ReportDenied]),
            local(S::Requesting, I::T14, S::RequestingAgain, &[A::SendLin, A::StartT14]),
            local(S::Requesting, I::Restart, S::Uninhibited, &[A::StopT14]),
            local(S::RequestingAgain, I::Accepted, S::Inhibited, &[A::StopT14, A::Mark, A::StartT22]),
            local(S::RequestingAgain, I::Denied, S::Uninhibited, &[A::StopT14, A::ReportDenied]),
            local(S::RequestingAgain, I::T14, S::Uninhibited, &[A::ReportUnanswered]),
            local(S::RequestingAgain, I::Restart, S::Uninhibited, &[A::StopT14]),
            // Management no longer wants what it has asked for: the far end hears that behind the LIN.
            local(S::Requesting, I::Uninhibit, S::Withdrawing, &[A::StopT14, A::SendLun, A::StartT12]),
            local(S::RequestingAgain, I::Uninhibit, S::Withdrawing, &[A::StopT14, A::SendLun, A::StartT12]),
            local(S::Withdrawing, I::Accepted, S::Withdrawing, &[]),
            local(S::Withdrawing, I::Denied, S::Withdrawing, &[]),
            local(S::Withdrawing, I::Released, S::Uninhibited, &[A::StopT12]),
            local(S::Withdrawing, I::T12, S::WithdrawingAgain, &[A::SendLun, A::StartT12]),
            local(S::Withdrawing, I::Restart, S::Uninhibited, &[A::StopT12]),
            local(S::WithdrawingAgain, I::Accepted, S::WithdrawingAgain, &[]),
            local(S::WithdrawingAgain, I::Denied, S::WithdrawingAgain, &[]),
            local(S::WithdrawingAgain, I::Released, S::Uninhibited, &[A::StopT12]),
            local(S::WithdrawingAgain, I::T12, S::Uninhibited, &[A::ReportUnanswered]),
            local(S::WithdrawingAgain, I::Restart, S::Uninhibited, &[A::StopT12]),
            local(S::Inhibited, I::Uninhibit, S::Releasing, &[A::SendLun, A::StartT12]),
            local(S::Inhibited, I::ForceUninhibit, S::Releasing, &[A::SendLun, A::StartT12]),
            // The far end asks whether it is so, and it is.
            local(S::Inhibited, I::RemoteTest, S::Inhibited, &[]),
            local(S::Inhibited, I::T22, S::Inhibited, &[A::SendLlt, A::StartT22]),
            local(S::Inhibited, I::Restart, S::Uninhibited, &[A::StopT22, A::Unmark]),
            local(S::Releasing, I::Released, S::Uninhibited, &[A::StopT12, A::StopT22, A::Unmark]),
            local(S::Releasing, I::T12, S::ReleasingAgain, &[A::SendLun, A::StartT12]),
            local(S::Releasing, I::Restart, S::Uninhibited, &[A::StopT12, A::StopT22, A::Unmark]),
            local(S::ReleasingAgain, I::Released, S::Uninhibited, &[A::StopT12, A::StopT22, A::Unmark]),
            local(S::ReleasingAgain, I::T12, S::Inhibited, &[A::ReportUnanswered]),
            local(S::ReleasingAgain, I::Restart, S::Uninhibited, &[A::StopT12, A::StopT22, A::Unmark]),
        ],
    }
};

/// States of the far end's inhibition of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RemoteInhibition {
    /// LFU was sent.
    Forcing,
    /// LFU was retransmitted.
    ForcingAgain,
    /// The link is inhibited from there.
    Inhibited,
    /// The link is not inhibited from there.
    #[default]
    Uninhibited,
}

/// Events that the far end's inhibition reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteInhibitionInput {
    /// A destination of this node needs the link.
    ForceUninhibit,
    /// LIN, and nobody is cut off by it.
    InhibitAllowed,
    /// LIN, and somebody would be cut off.
    InhibitRefused,
    /// LLT: the far end thinks that it inhibits the link.
    LocalTest,
    /// The point restarts: all links are uninhibited.
    Restart,
    /// T13 expired.
    T13,
    /// T23 expired.
    T23,
    /// LUN.
    Uninhibit,
}

/// Actions of a remote inhibition's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteInhibitionAction {
    /// The link is inhibited from now on.
    Mark,
    /// Send LFU.
    SendLfu,
    /// Send LIA.
    SendLia,
    /// Send LID.
    SendLid,
    /// Send LRT.
    SendLrt,
    /// Send LUA.
    SendLua,
    /// Start T13.
    StartT13,
    /// Start T23.
    StartT23,
    /// Stop T13.
    StopT13,
    /// Stop T23.
    StopT23,
    /// Tell management that the far end does not answer.
    ReportUnanswered,
    /// The link is not inhibited any more.
    Unmark,
}

type RemoteRow = Transition<RemoteInhibition, RemoteInhibitionInput, RemoteInhibitionAction>;

const fn remote(
    from: RemoteInhibition,
    on: RemoteInhibitionInput,
    to: RemoteInhibition,
    actions: &'static [RemoteInhibitionAction],
) -> RemoteRow {
    Transition { from, on, to, actions }
}

/// Inhibition from the far end.
pub const REMOTE_INHIBITION: StateMachine<RemoteInhibition, RemoteInhibitionInput, RemoteInhibitionAction> = {
    use RemoteInhibition as S;
    use RemoteInhibitionAction as A;
    use RemoteInhibitionInput as I;
    StateMachine {
        name: "Remote inhibition",
        source: "Q.704, section 10 and figure 38 (TLAC)",
        initial: S::Uninhibited,
        transitions: &[
            remote(S::Uninhibited, I::InhibitAllowed, S::Inhibited, &[A::SendLia, A::Mark, A::StartT23]),
            remote(S::Uninhibited, I::InhibitRefused, S::Uninhibited, &[A::SendLid]),
            remote(S::Uninhibited, I::Uninhibit, S::Uninhibited, &[A::SendLua]),
            remote(S::Uninhibited, I::LocalTest, S::Uninhibited, &[A::SendLfu]),
            // The far end asks whether it is so, and it is.
            remote(S::Inhibited, I::LocalTest, S::Inhibited, &[]),
            remote(S::Inhibited, I::InhibitAllowed, S::Inhibited, &[A::SendLia]),
            remote(S::Inhibited, I::InhibitRefused, S::Inhibited, &[A::SendLia]),
            remote(S::Inhibited, I::Uninhibit, S::Uninhibited, &[A::StopT23, A::SendLua, A::Unmark]),
            remote(S::Inhibited, I::ForceUninhibit, S::Forcing, &[A::SendLfu, A::StartT13]),
            remote(S::Inhibited, I::T23, S::Inhibited, &[A::SendLrt, A::StartT23]),
            remote(S::Inhibited, I::Restart, S::Uninhibited, &[A::StopT23, A::Unmark]),
            remote(
                S::Forcing,
                I::Uninhibit,
                S::Uninhibited,
                &[A::StopT13, A::StopT23, A::SendLua, A::Unmark],
            ),
            remote(S::Forcing, I::T13, S::ForcingAgain, &[A::SendLfu, A::StartT13]),
            remote(S::Forcing, I::Restart, S::Uninhibited, &[A::StopT13, A::StopT23, A::Unmark]),
            remote(
                S::ForcingAgain,
                I::Uninhibit,
                S::Uninhibited,
                &[A::StopT13, A::StopT23, A::SendLua, A::Unmark],
            ),
            remote(S::ForcingAgain, I::T13, S::Inhibited, &[A::ReportUnanswered]),
            remote(S::ForcingAgain, I::Restart, S::Uninhibited, &[A::StopT13, A::StopT23, A::Unmark]),
        ],
    }
};

/// Both ends' inhibition of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::mtp3::node) struct Inhibition {
    pub(in crate::mtp3::node) local: LocalInhibition,
    pub(in crate::mtp3::node) remote: RemoteInhibition,
}

/// Why a link cannot be inhibited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InhibitError {
    /// A destination would be cut off.
    #[error("inhibiting the link would cut off point code {}", _0.0)]
    CutsOff(crate::PointCode),
    /// A procedure is under way already, or the link is inhibited.
    #[error("the link is inhibited already, or about to be")]
    UnderWay,
}
