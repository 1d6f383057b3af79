//! Initial alignment control (Q.703, figure 9, as RFC 4165, section 4.1.3, changes it): both ends show that they are
//! there, then prove that the association carries them.

use slantpath_base::{StateMachine, Transition};

/// State of alignment control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentState {
    /// The peer has been heard; T3 runs until it proves.
    Aligned,
    /// Idle: alignment is not under way.
    Idle,
    /// Alignment was sent; T2 runs until the peer is heard.
    NotAligned,
    /// Both prove; T4 runs.
    Proving,
}

/// Events of alignment control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentInput {
    /// Link Status Alignment came.
    Alignment,
    /// MTP3 asks for the emergency period.
    Emergency,
    /// Link Status Out of Service came.
    OutOfService,
    /// The peer was heard and this end is configured not to prove.
    PeerHeardProvingOmitted,
    /// Link Status Proving Emergency came.
    ProvingEmergency,
    /// Link Status Proving Emergency came, and the normal period runs.
    ProvingEmergencyInNormalPeriod,
    /// Interval between two proving messages is over: the next is due.
    ProvingIntervalOver,
    /// Link Status Proving Normal came.
    ProvingNormal,
    /// Link state control begins.
    Start,
    /// Link state control ends it.
    Stop,
    /// The peer was not heard in time.
    T2Expired,
    /// The peer does not prove in time.
    T3Expired,
    /// The proving period is over.
    T4Expired,
}

/// Actions upon an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentAction {
    /// Tell link state control that alignment is complete.
    Complete,
    /// Tell link state control that it is not possible.
    NotPossible,
    /// Send Link Status Alignment.
    SendAlignment,
    /// Send Link Status Proving, Emergency if MTP3 asked for it, else Normal, and the next after the interval.
    SendProving,
    /// Start T2.
    StartT2,
    /// Start T3.
    StartT3,
    /// Start T4 with the period in use.
    StartT4,
    /// Send no more proving messages.
    StopProving,
    /// Stop T2.
    StopT2,
    /// Stop T3.
    StopT3,
    /// Stop T4.
    StopT4,
    /// Prove for the emergency period.
    UseEmergencyPeriod,
    /// Prove for the period that MTP3 has asked for.
    UseRequestedPeriod,
}

use AlignmentAction as A;
use AlignmentInput as I;
use AlignmentState as S;

type Row = Transition<AlignmentState, AlignmentInput, AlignmentAction>;

const fn row(from: S, on: I, to: S, actions: &'static [A]) -> Row {
    Transition { from, on, to, actions }
}

/// The table of initial alignment control.
//= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.3
//# If proving is performed, then during the proving period (i.e., after
//# M2PA starts the proving period timer T4), M2PA SHALL send Link Status
//# Proving messages to its peer at an interval defined by the protocol
//# parameter Proving_Interval.
pub static ALIGNMENT_MACHINE: StateMachine<AlignmentState, AlignmentInput, AlignmentAction> = StateMachine {
    name: "Initial alignment control",
    source: "Q.703, figure 9; RFC 4165, section 4.1.3",
    initial: S::Idle,
    transitions: &[
        row(S::Idle, I::Start, S::NotAligned, &[A::UseRequestedPeriod, A::SendAlignment, A::StartT2]),
        row(S::NotAligned, I::Emergency, S::NotAligned, &[A::UseEmergencyPeriod]),
        row(S::NotAligned, I::Alignment, S::Aligned, &[A::StopT2, A::SendProving, A::StartT3]),
        row(S::NotAligned, I::ProvingNormal, S::Aligned, &[A::StopT2, A::SendProving, A::StartT3]),
        row(
            S::NotAligned,
            I::ProvingEmergency,
            S::Aligned,
            &[A::StopT2, A::UseEmergencyPeriod, A::SendProving, A::StartT3],
        ),
        //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.3
        //# The proving period MAY be omitted if this is allowed by the
        //# applicable MTP2 standard (e.g., [Q.2140]).
        row(S::NotAligned, I::PeerHeardProvingOmitted, S::Idle, &[A::StopT2, A::Complete]),
        row(S::NotAligned, I::T2Expired, S::Idle, &[A::NotPossible]),
        row(S::NotAligned, I::Stop, S::Idle, &[A::StopT2]),
        row(S::Aligned, I::Emergency, S::Aligned, &[A::UseEmergencyPeriod, A::SendProving]),
        row(S::Aligned, I::ProvingIntervalOver, S::Aligned, &[A::SendProving]),
        row(S::Aligned, I::ProvingNormal, S::Proving, &[A::StopT3, A::StartT4, A::SendProving]),
        row(
            S::Aligned,
            I::ProvingEmergency,
            S::Proving,
            &[A::StopT3, A::UseEmergencyPeriod, A::StartT4, A::SendProving],
        ),
        row(S::Aligned, I::OutOfService, S::Idle, &[A::StopT3, A::StopProving, A::NotPossible]),
        row(S::Aligned, I::T3Expired, S::Idle, &[A::StopProving, A::NotPossible]),
        row(S::Aligned, I::Stop, S::Idle, &[A::StopT3, A::StopProving]),
        row(S::Proving, I::Emergency, S::Proving, &[A::UseEmergencyPeriod, A::StartT4, A::SendProving]),
        row(S::Proving, I::ProvingIntervalOver, S::Proving, &[A::SendProving]),
        row(S::Proving, I::Alignment, S::Aligned, &[A::StopT4, A::SendProving, A::StartT3]),
        row(S::Proving, I::ProvingEmergencyInNormalPeriod, S::Proving, &[A::UseEmergencyPeriod, A::StartT4]),
        row(S::Proving, I::OutOfService, S::Idle, &[A::StopT4, A::StopProving, A::NotPossible]),
        row(S::Proving, I::T4Expired, S::Idle, &[A::StopProving, A::Complete]),
        row(S::Proving, I::Stop, S::Idle, &[A::StopT4, A::StopProving]),
    ],
};
