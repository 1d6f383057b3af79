//! The states of one circuit, and what leads from one to the next (Q.764, sections 2.1 to 2.3 and 2.9).

use slantpath_base::{StateMachine, Transition};

use self::{CircuitAction as Do, CircuitInput as On, CircuitState as In};

/// States of a circuit at one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitState {
    /// Circuit without a call.
    Idle,
    /// IAM was sent.
    AwaitingAddressComplete,
    /// ACM was received.
    AwaitingAnswer,
    /// IAM was received.
    Presented,
    /// ACM was sent.
    Alerting,
    /// The call is through.
    Answered,
    /// REL was sent.
    AwaitingReleaseComplete,
    /// RSC was sent.
    AwaitingReset,
}

/// Events that a circuit's state reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitInput {
    /// Call control seizes the circuit.
    Seize,
    /// Call control has reached the called party.
    Alert,
    /// The called party has answered.
    Answer,
    /// Call control releases.
    Release,
    /// IAM was received.
    Iam,
    /// IAM was received for a circuit that this end has seized and controls.
    IamHoldingDualSeizure,
    /// IAM was received for a circuit that this end has seized and the peer controls.
    IamYieldingDualSeizure,
    /// ACM was received.
    Acm,
    /// ANM was received.
    Anm,
    /// CON was received.
    Con,
    /// CPG was received.
    Cpg,
    /// REL was received.
    Rel,
    /// RLC was received.
    Rlc,
    /// RSC was received.
    Rsc,
    /// A message of a call was received for a circuit that has none.
    CallMessageWithoutCall,
    /// T1 has expired: no RLC.
    T1Expired,
    /// T5 has expired: no RLC for long.
    T5Expired,
    /// T7 has expired: no ACM.
    T7Expired,
    /// T9 has expired: no ANM.
    T9Expired,
    /// T17 has expired: no RLC to RSC.
    T17Expired,
}

/// Actions of a circuit's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitAction {
    /// Send the IAM of the seizure.
    SendIam,
    /// Send ACM.
    SendAcm,
    /// Send ANM.
    SendAnm,
    /// Send CON.
    SendCon,
    /// Send REL with the cause of call control.
    SendRel,
    /// Send REL with cause 102, recovery on timer expiry.
    SendRelTimerExpired,
    /// Send the last REL again.
    RepeatRel,
    /// Send RLC.
    SendRlc,
    /// Send RSC.
    SendRsc,
    /// Tell call control of the IAM.
    IndicateSetup,
    /// Tell call control that the called party is being alerted.
    IndicateAlerting,
    /// Tell call control that the called party has answered.
    IndicateAnswer,
    /// Tell call control that the peer has released.
    IndicateRelease,
    /// Tell call control that its call has failed.
    IndicateFailure,
    /// Tell call control that the circuit is free again.
    IndicateIdle,
    /// Start T7.
    StartT7,
    /// Start T9.
    StartT9,
    /// Start T1.
    StartT1,
    /// Start T5.
    StartT5,
    /// Start T17.
    StartT17,
    /// Stop every timer.
    StopTimers,
}

type Row = Transition<CircuitState, CircuitInput, CircuitAction>;

const fn row(from: In, on: On, to: In, actions: &'static [Do]) -> Row {
    Transition { from, on, to, actions }
}

const RELEASED_BY_PEER: &[Do] = &[Do::StopTimers, Do::SendRlc, Do::IndicateRelease, Do::IndicateIdle];
const RELEASED_BY_US: &[Do] = &[Do::StopTimers, Do::SendRel, Do::StartT1, Do::StartT5];
const TIMED_OUT: &[Do] =
    &[Do::StopTimers, Do::SendRelTimerExpired, Do::StartT1, Do::StartT5, Do::IndicateFailure];

/// Table of the states of a circuit and the transitions between them.
pub const CIRCUIT: StateMachine<CircuitState, CircuitInput, CircuitAction> = StateMachine {
    name: "Circuit",
    source: "Q.764, sections 2.1, 2.2, 2.3, 2.9.1, 2.9.3, 2.9.5 and 2.9.6",
    initial: In::Idle,
    transitions: &[
        row(In::Idle, On::Seize, In::AwaitingAddressComplete, &[Do::SendIam, Do::StartT7]),
        row(In::Idle, On::Iam, In::Presented, &[Do::IndicateSetup]),
        row(In::Idle, On::Rel, In::Idle, &[Do::SendRlc]),
        row(In::Idle, On::Rsc, In::Idle, &[Do::SendRlc]),
        row(In::Idle, On::CallMessageWithoutCall, In::AwaitingReset, &[Do::SendRsc, Do::StartT17]),
        row(
            In::AwaitingAddressComplete,
            On::Acm,
            In::AwaitingAnswer,
            &[Do::StopTimers, Do::StartT9, Do::IndicateAlerting],
        ),
        row(In::AwaitingAddressComplete, On::Con, In::Answered, &[Do::StopTimers, Do::IndicateAnswer]),
        row(In::AwaitingAddressComplete, On::IamHoldingDualSeizure, In::AwaitingAddressComplete, &[]),
        row(
            In::AwaitingAddressComplete,
            On::IamYieldingDualSeizure,
            In::Presented,
            &[Do::StopTimers, Do::IndicateFailure, Do::IndicateSetup],
        ),
        row(In::AwaitingAddressComplete, On::T7Expired, In::AwaitingReleaseComplete, TIMED_OUT),
        row(In::AwaitingAddressComplete, On::Release, In::AwaitingReleaseComplete, RELEASED_BY_US),
        row(In::AwaitingAddressComplete, On::Rel, In::Idle, RELEASED_BY_PEER),
        row(In::AwaitingAddressComplete, On::Rsc, In::Idle, RELEASED_BY_PEER),
        row(In::AwaitingAnswer, On::Anm, In::Answered, &[Do::StopTimers, Do::IndicateAnswer]),
        row(In::AwaitingAnswer, On::Cpg, In::AwaitingAnswer, &[]),
        row(In::AwaitingAnswer, On::T9Expired, In::AwaitingReleaseComplete, TIMED_OUT),
        row(In::AwaitingAnswer, On::Release, In::AwaitingReleaseComplete, RELEASED_BY_US),
        row(In::AwaitingAnswer, On::Rel, In::Idle, RELEASED_BY_PEER),
        row(In::AwaitingAnswer, On::Rsc, In::Idle, RELEASED_BY_PEER),
        row(In::Presented, On::Alert, In::Alerting, &[Do::SendAcm]),
        row(In::Presented, On::Answer, In::Answered, &[Do::SendCon]),
        row(In::Presented, On::Release, In::AwaitingReleaseComplete, RELEASED_BY_US),
        row(In::Presented, On::Rel, In::Idle, RELEASED_BY_PEER),
        row(In::Presented, On::Rsc, In::Idle, RELEASED_BY_PEER),
        row(In::Alerting, On::Answer, In::Answered, &[Do::SendAnm]),
        row(In::Alerting, On::Release, In::AwaitingReleaseComplete, RELEASED_BY_US),
        row(In::Alerting, On::Rel, In::Idle, RELEASED_BY_PEER),
        row(In::Alerting, On::Rsc, In::Idle, RELEASED_BY_PEER),
        row(In::Answered, On::Cpg, In::Answered, &[]),
        row(In::Answered, On::Release, In::AwaitingReleaseComplete, RELEASED_BY_US),
        row(In::Answered, On::Rel, In::Idle, RELEASED_BY_PEER),
        row(In::Answered, On::Rsc, In::Idle, RELEASED_BY_PEER),
        row(In::AwaitingReleaseComplete, On::Rlc, In::Idle, &[Do::StopTimers, Do::IndicateIdle]),
        row(In::AwaitingReleaseComplete, On::Rel, In::AwaitingReleaseComplete, &[Do::SendRlc]),
        row(In::AwaitingReleaseComplete, On::Rsc, In::Idle, &[Do::StopTimers, Do::SendRlc, Do::IndicateIdle]),
        row(
            In::AwaitingReleaseComplete,
            On::T1Expired,
            In::AwaitingReleaseComplete,
            &[Do::RepeatRel, Do::StartT1],
        ),
        row(
            In::AwaitingReleaseComplete,
            On::T5Expired,
            In::AwaitingReset,
            &[Do::StopTimers, Do::SendRsc, Do::StartT17],
        ),
        row(In::AwaitingReset, On::Rlc, In::Idle, &[Do::StopTimers, Do::IndicateIdle]),
        row(In::AwaitingReset, On::Rel, In::AwaitingReset, &[Do::SendRlc]),
        row(In::AwaitingReset, On::Rsc, In::AwaitingReset, &[Do::SendRlc]),
        row(In::AwaitingReset, On::T17Expired, In::AwaitingReset, &[Do::SendRsc, Do::StartT17]),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        assert_eq!(CIRCUIT.ambiguous(), None);
        assert_eq!(CIRCUIT.unreachable(), []);
    }
}
