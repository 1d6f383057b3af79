//! Machine of the signalling route set congestion test (Q.704), and what is known of congestion.

use slantpath_base::{StateMachine, Transition};

/// Users and originating points are told for the first and then for every so many messages (section 11.2.3).
pub(in crate::mtp3::node) const MESSAGES_PER_INDICATION: u8 = 8;

/// States of the test of a congested route set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionTestState {
    /// T15 runs to the next test.
    Congested,
    /// Route set that is not congested.
    #[default]
    Idle,
    /// A test was sent: T16 runs.
    Testing,
}

/// Events that the test reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionTestInput {
    /// The destination cannot be reached any more.
    Inaccessible,
    /// T15 expired.
    T15,
    /// T16 expired, and the status one lower is not congested.
    T16Ended,
    /// T16 expired, and the status one lower is still congested.
    T16Lowered,
    /// Transfer controlled was received.
    Tfc,
}

/// Actions of the test's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionTestAction {
    /// Take the status one lower and tell the users.
    Lower,
    /// Send a signalling route set congestion test of the priority one below the status.
    SendRct,
    /// Start T15.
    StartT15,
    /// Start T16.
    StartT16,
    /// Stop T15.
    StopT15,
    /// Stop T16.
    StopT16,
}

type Row = Transition<CongestionTestState, CongestionTestInput, CongestionTestAction>;

const fn row(
    from: CongestionTestState,
    on: CongestionTestInput,
    to: CongestionTestState,
    actions: &'static [CongestionTestAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// The signalling route set congestion test of national networks.
pub const CONGESTION_TEST: StateMachine<CongestionTestState, CongestionTestInput, CongestionTestAction> = {
    use CongestionTestAction as A;
    use CongestionTestInput as I;
    use CongestionTestState as S;
    StateMachine {
        name: "Signalling route set congestion test",
        source: "Q.704, sections 11.2.4 and 13.9 (RTCC, RCAT)",
        initial: S::Idle,
        transitions: &[
            row(S::Idle, I::Tfc, S::Congested, &[A::StartT15]),
            row(S::Congested, I::Tfc, S::Congested, &[A::StartT15]),
            row(S::Congested, I::T15, S::Testing, &[A::SendRct, A::StartT16]),
            row(S::Congested, I::Inaccessible, S::Idle, &[A::StopT15]),
            row(S::Testing, I::Tfc, S::Congested, &[A::StopT16, A::StartT15]),
            row(S::Testing, I::T16Lowered, S::Testing, &[A::Lower, A::SendRct, A::StartT16]),
            row(S::Testing, I::T16Ended, S::Idle, &[A::Lower]),
            row(S::Testing, I::Inaccessible, S::Idle, &[A::StopT16]),
        ],
    }
};

/// Knowledge of the congestion on the way to a destination.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::mtp3::node) struct RouteSetCongestion {
    pub(in crate::mtp3::node) state: CongestionTestState,
    /// 0, not congested, to 3.
    pub(in crate::mtp3::node) status: u8,
}
