//! Initial alignment control (Q.703, section 7 and figure 9).

use slantpath_base::{StateMachine, Transition};

/// States of the procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentState {
    /// Alignment is not running.
    Idle,
    /// SIO is sent, nothing has been heard.
    NotAligned,
    /// The peer is heard; SIN or SIE is sent.
    Aligned,
    /// The line is being proved.
    Proving,
}

/// Events that the procedure reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentInput {
    /// Link state control starts alignment.
    Start,
    /// Link state control stops it.
    Stop,
    /// Level 3 asks for the emergency period while it runs.
    Emergency,
    /// SIO was received.
    Sio,
    /// SIN was received.
    Sin,
    /// SIE was received.
    Sie,
    /// SIOS was received.
    Sios,
    /// T2 has expired.
    T2Expired,
    /// T3 has expired.
    T3Expired,
    /// T4 has expired.
    T4Expired,
    /// Too many errors while proving, and another attempt is left.
    ErrorRateHigh,
    /// Too many errors in the last attempt.
    ErrorRateHighLastAttempt,
}

/// Actions of the procedure's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentAction {
    /// Tell link state control: done.
    Complete,
    /// Tell link state control: not possible.
    NotPossible,
    /// Send SIE from now on, if this end wants the emergency period, else SIN.
    SendSinOrSie,
    /// Send SIO from now on.
    SendSio,
    /// From now on the emergency period holds, since the peer wants it.
    UseEmergencyPeriod,
    /// Start T2.
    StartT2,
    /// Start T3.
    StartT3,
    /// Start T4 with the period that holds, and the alignment error rate monitor.
    StartProving,
    /// Stop T2.
    StopT2,
    /// Stop T3.
    StopT3,
    /// Stop T4 and the monitor.
    StopProving,
}

use AlignmentAction as Do;
use AlignmentInput as On;
use AlignmentState as In;

type Row = Transition<AlignmentState, AlignmentInput, AlignmentAction>;

const fn row(from: In, on: On, to: In, actions: &'static [Do]) -> Row {
    Transition { from, on, to, actions }
}

/// Table of the states of initial alignment control and the transitions between them.
pub const ALIGNMENT: StateMachine<AlignmentState, AlignmentInput, AlignmentAction> = StateMachine {
    name: "Initial alignment control",
    source: "Q.703, figure 9",
    initial: In::Idle,
    transitions: &[
        row(In::Idle, On::Start, In::NotAligned, &[Do::SendSio, Do::StartT2]),
        row(In::NotAligned, On::Sio, In::Aligned, &[Do::StopT2, Do::SendSinOrSie, Do::StartT3]),
        row(In::NotAligned, On::Sin, In::Aligned, &[Do::StopT2, Do::SendSinOrSie, Do::StartT3]),
        row(
            In::NotAligned,
            On::Sie,
            In::Aligned,
            &[Do::StopT2, Do::UseEmergencyPeriod, Do::SendSinOrSie, Do::StartT3],
        ),
        row(In::NotAligned, On::T2Expired, In::Idle, &[Do::NotPossible]),
        row(In::NotAligned, On::Stop, In::Idle, &[Do::StopT2]),
        row(In::Aligned, On::Sin, In::Proving, &[Do::StopT3, Do::StartProving]),
        row(In::Aligned, On::Sie, In::Proving, &[Do::StopT3, Do::UseEmergencyPeriod, Do::StartProving]),
        row(In::Aligned, On::Emergency, In::Aligned, &[Do::SendSinOrSie]),
        row(In::Aligned, On::Sios, In::Idle, &[Do::StopT3, Do::NotPossible]),
        row(In::Aligned, On::T3Expired, In::Idle, &[Do::NotPossible]),
        row(In::Aligned, On::Stop, In::Idle, &[Do::StopT3]),
        row(In::Proving, On::T4Expired, In::Idle, &[Do::StopProving, Do::Complete]),
        row(In::Proving, On::Sie, In::Proving, &[Do::UseEmergencyPeriod, Do::StartProving]),
        row(In::Proving, On::Emergency, In::Proving, &[Do::SendSinOrSie, Do::StartProving]),
        row(In::Proving, On::Sio, In::Aligned, &[Do::StopProving, Do::StartT3]),
        row(In::Proving, On::Sios, In::Idle, &[Do::StopProving, Do::NotPossible]),
        row(In::Proving, On::ErrorRateHigh, In::Proving, &[Do::StartProving]),
        row(In::Proving, On::ErrorRateHighLastAttempt, In::Idle, &[Do::StopProving, Do::NotPossible]),
        row(In::Proving, On::Stop, In::Idle, &[Do::StopProving]),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_taken() {
        assert_eq!(ALIGNMENT.ambiguous(), None);
        assert_eq!(ALIGNMENT.unreachable(), []);
    }
}
