//! Machine of the signalling link test (Q.707).

use slantpath_base::{StateMachine, Transition};

/// States of a link's test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkTestState {
    /// The first SLTM is under way.
    First,
    /// The link is not tested.
    #[default]
    Idle,
    /// The last test passed; T2 runs to the next.
    Passed,
    /// The second SLTM is under way.
    Second,
}

/// Events that a link's test reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTestInput {
    /// An SLTA with the pattern, the code and the points that were asked.
    Answered,
    /// The link came into service.
    Start,
    /// The link left.
    Stop,
    /// Q.707's T1 expired.
    T1,
    /// Q.707's T2 expired.
    T2,
}

/// Actions of a link test's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTestAction {
    /// Tell link activity control that the link fails.
    Fail,
    /// Tell link activity control that the link is good.
    Pass,
    /// Send an SLTM.
    SendSltm,
    /// Start T1 of Q.707.
    StartT1,
    /// Start T2 of Q.707.
    StartT2,
    /// Stop T1 of Q.707.
    StopT1,
    /// Stop T2 of Q.707.
    StopT2,
}

type Row = Transition<LinkTestState, LinkTestInput, LinkTestAction>;

const fn row(
    from: LinkTestState,
    on: LinkTestInput,
    to: LinkTestState,
    actions: &'static [LinkTestAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// Signalling link test control. An answer that does not fit is no answer: the timer decides.
pub const LINK_TEST: StateMachine<LinkTestState, LinkTestInput, LinkTestAction> = {
    use LinkTestAction as A;
    use LinkTestInput as I;
    use LinkTestState as S;
    StateMachine {
        name: "Signalling link test",
        source: "Q.707, section 2 and figure 3 (SLTC)",
        initial: S::Idle,
        transitions: &[
            row(S::Idle, I::Start, S::First, &[A::SendSltm, A::StartT1]),
            row(S::First, I::Answered, S::Passed, &[A::StopT1, A::StartT2, A::Pass]),
            row(S::First, I::T1, S::Second, &[A::SendSltm, A::StartT1]),
            row(S::First, I::Stop, S::Idle, &[A::StopT1]),
            row(S::Second, I::Answered, S::Passed, &[A::StopT1, A::StartT2, A::Pass]),
            row(S::Second, I::T1, S::Idle, &[A::Fail]),
            row(S::Second, I::Stop, S::Idle, &[A::StopT1]),
            row(S::Passed, I::T2, S::First, &[A::SendSltm, A::StartT1]),
            row(S::Passed, I::Stop, S::Idle, &[A::StopT2]),
        ],
    }
};

/// A link's test.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::mtp3::node) struct LinkTest {
    pub(in crate::mtp3::node) state: LinkTestState,
    /// The pattern of the SLTM under way, so that an old answer is not taken for a new one.
    pub(in crate::mtp3::node) number: u32,
}
