//! The tables of a connection: its life, and its reset (Q.714, sections 3.1 to 3.7, figures C.2 to C.6).

use slantpath_base::{StateMachine, Transition};

/// States of a connection from its request to its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// Data may flow.
    Active,
    /// RLSD is sent, RLC awaited.
    DisconnectPending,
    /// Not yet, or no longer.
    Idle,
    /// The user has been asked.
    PendingIncoming,
    /// CR is sent, CC or CREF awaited.
    PendingOutgoing,
    /// The user has given up while CC or CREF was awaited: the peer's reference is needed to release.
    WaitConnectionConfirm,
}

/// Events that a connection reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionInput {
    /// N-CONNECT request.
    ConnectRequest,
    /// N-CONNECT response.
    ConnectResponse,
    /// CC came.
    ConnectionConfirm,
    /// CREF came.
    ConnectionRefused,
    /// CR came.
    ConnectionRequest,
    /// N-DISCONNECT request.
    DisconnectRequest,
    /// ERR came.
    Error,
    /// T(conn est) expired.
    EstablishmentExpired,
    /// The two ends do not agree, or one does not keep to the protocol.
    FaultFound,
    /// Expiry of T(iar).
    InactivityReceiveExpired,
    /// Expiry of T(ias).
    InactivitySendExpired,
    /// Expiry of T(int).
    IntervalExpired,
    /// A message of the connection came.
    MessageReceived,
    /// A message of the connection was sent.
    MessageSent,
    /// The request cannot be routed.
    NotRoutable,
    /// Expiry of T(rel).
    ReleaseExpired,
    /// RLC came.
    ReleaseComplete,
    /// RLSD came.
    Released,
    /// T(repeat rel) expired.
    RepeatReleaseExpired,
}

/// Actions of a connection's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionAction {
    /// Keep the peer's reference and node.
    Associate,
    /// N-CONNECT confirmation.
    ConfirmConnect,
    /// Count a release that nobody confirmed.
    CountUnconfirmed,
    /// Keep the reference from being used again for a while.
    FreezeReference,
    /// N-CONNECT indication.
    IndicateConnect,
    /// N-DISCONNECT indication.
    IndicateDisconnect,
    /// Send CC.
    SendCc,
    /// Send CR.
    SendCr,
    /// Send CREF.
    SendCref,
    /// Send IT.
    SendIt,
    /// Send RLC.
    SendRlc,
    /// Send RLSD.
    SendRlsd,
    /// Start T(conn est).
    StartEstablishment,
    /// Start the timer T(iar).
    StartInactivityReceive,
    /// Start the timer T(ias).
    StartInactivitySend,
    /// Start the timer T(int).
    StartInterval,
    /// Start the timer T(rel).
    StartRelease,
    /// Start T(repeat rel).
    StartRepeatRelease,
    /// Stop all timers of the connection.
    StopTimers,
}

/// A reset, in class 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetState {
    /// No reset is under way.
    DataTransfer,
    /// The user has been told, and has not answered.
    ResetIncoming,
    /// RSR is sent, RSC awaited.
    ResetOutgoing,
}

/// Events that a reset reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetInput {
    /// The numbers of a received message are wrong.
    NumbersWrong,
    /// RSC came.
    ResetConfirm,
    /// Expiry of T(reset).
    ResetExpired,
    /// RSR came.
    ResetReceived,
    /// N-RESET request.
    ResetRequest,
    /// N-RESET response.
    ResetResponse,
}

/// Actions of a reset's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetAction {
    /// Data under way is lost, numbers begin at 0.
    ClearData,
    /// N-RESET confirmation.
    ConfirmReset,
    /// N-RESET indication.
    IndicateReset,
    /// Release the connection.
    ReleaseConnection,
    /// Send RSC.
    SendRsc,
    /// Send RSR.
    SendRsr,
    /// Start the timer T(reset).
    StartReset,
    /// Stop the timer T(reset).
    StopReset,
}

type Row = Transition<ConnectionState, ConnectionInput, ConnectionAction>;
type ResetRow = Transition<ResetState, ResetInput, ResetAction>;

const fn row(
    from: ConnectionState,
    on: ConnectionInput,
    to: ConnectionState,
    actions: &'static [ConnectionAction],
) -> Row {
    Transition { from, on, to, actions }
}

const fn reset(
    from: ResetState,
    on: ResetInput,
    to: ResetState,
    actions: &'static [ResetAction],
) -> ResetRow {
    Transition { from, on, to, actions }
}

use ConnectionAction as Do;
use ConnectionInput as On;
use ConnectionState::{
    Active, DisconnectPending, Idle, PendingIncoming, PendingOutgoing, WaitConnectionConfirm,
};
use ResetState::{DataTransfer, ResetIncoming, ResetOutgoing};

const RELEASE: &[Do] = &[Do::StopTimers, Do::SendRlsd, Do::StartRelease];
const INDICATE_AND_RELEASE: &[Do] = &[Do::StopTimers, Do::IndicateDisconnect, Do::SendRlsd, Do::StartRelease];
const INDICATE_AND_END: &[Do] = &[Do::StopTimers, Do::IndicateDisconnect, Do::FreezeReference];
const END: &[Do] = &[Do::StopTimers, Do::FreezeReference];

/// The life of a connection. The reset of class 3 has a table of its own.
pub static CONNECTION: StateMachine<ConnectionState, ConnectionInput, ConnectionAction> = StateMachine {
    name: "Signalling connection",
    source: "Q.714, sections 3.1 to 3.4 and figures C.2 to C.4",
    initial: Idle,
    transitions: &[
        row(Idle, On::ConnectRequest, PendingOutgoing, &[Do::StartEstablishment, Do::SendCr]),
        row(Idle, On::ConnectionRequest, PendingIncoming, &[Do::Associate, Do::IndicateConnect]),
        row(
            PendingIncoming,
            On::ConnectResponse,
            Active,
            &[Do::SendCc, Do::StartInactivitySend, Do::StartInactivityReceive],
        ),
        row(PendingIncoming, On::DisconnectRequest, Idle, &[Do::SendCref, Do::FreezeReference]),
        row(PendingIncoming, On::Error, Idle, INDICATE_AND_END),
        row(PendingIncoming, On::Released, Idle, &[Do::SendRlc, Do::IndicateDisconnect, Do::FreezeReference]),
        row(
            PendingOutgoing,
            On::ConnectionConfirm,
            Active,
            &[
                Do::StopTimers,
                Do::Associate,
                Do::ConfirmConnect,
                Do::StartInactivitySend,
                Do::StartInactivityReceive,
            ],
        ),
        row(PendingOutgoing, On::ConnectionRefused, Idle, INDICATE_AND_END),
        row(PendingOutgoing, On::DisconnectRequest, WaitConnectionConfirm, &[]),
        row(PendingOutgoing, On::Error, Idle, INDICATE_AND_END),
        row(PendingOutgoing, On::EstablishmentExpired, Idle, INDICATE_AND_END),
        row(PendingOutgoing, On::FaultFound, Idle, INDICATE_AND_END),
        row(PendingOutgoing, On::NotRoutable, Idle, INDICATE_AND_END),
        row(
            WaitConnectionConfirm,
            On::ConnectionConfirm,
            DisconnectPending,
            &[Do::StopTimers, Do::Associate, Do::SendRlsd, Do::StartRelease],
        ),
        row(WaitConnectionConfirm, On::ConnectionRefused, Idle, END),
        row(WaitConnectionConfirm, On::Error, Idle, END),
        row(WaitConnectionConfirm, On::EstablishmentExpired, Idle, END),
        row(Active, On::DisconnectRequest, DisconnectPending, RELEASE),
        row(Active, On::Error, DisconnectPending, INDICATE_AND_RELEASE),
        row(Active, On::FaultFound, DisconnectPending, INDICATE_AND_RELEASE),
        row(Active, On::InactivityReceiveExpired, DisconnectPending, INDICATE_AND_RELEASE),
        row(Active, On::InactivitySendExpired, Active, &[Do::SendIt, Do::StartInactivitySend]),
        row(Active, On::MessageReceived, Active, &[Do::StartInactivityReceive]),
        row(Active, On::MessageSent, Active, &[Do::StartInactivitySend]),
        row(
            Active,
            On::Released,
            Idle,
            &[Do::StopTimers, Do::SendRlc, Do::IndicateDisconnect, Do::FreezeReference],
        ),
        row(DisconnectPending, On::Error, Idle, END),
        row(
            DisconnectPending,
            On::IntervalExpired,
            Idle,
            &[Do::StopTimers, Do::CountUnconfirmed, Do::FreezeReference],
        ),
        row(DisconnectPending, On::ReleaseComplete, Idle, END),
        // Both ends release at once: neither confirms.
        row(DisconnectPending, On::Released, Idle, END),
        row(
            DisconnectPending,
            On::ReleaseExpired,
            DisconnectPending,
            &[Do::SendRlsd, Do::StartInterval, Do::StartRepeatRelease],
        ),
        row(
            DisconnectPending,
            On::RepeatReleaseExpired,
            DisconnectPending,
            &[Do::SendRlsd, Do::StartRepeatRelease],
        ),
    ],
};

/// The reset of a connection of class 3.
pub static RESET: StateMachine<ResetState, ResetInput, ResetAction> = StateMachine {
    name: "Reset of a connection",
    source: "Q.714, section 3.7 and figure C.6",
    initial: DataTransfer,
    transitions: &[
        reset(
            DataTransfer,
            ResetInput::ResetRequest,
            ResetOutgoing,
            &[ResetAction::ClearData, ResetAction::SendRsr, ResetAction::StartReset],
        ),
        reset(
            DataTransfer,
            ResetInput::NumbersWrong,
            ResetOutgoing,
            &[
                ResetAction::ClearData,
                ResetAction::IndicateReset,
                ResetAction::SendRsr,
                ResetAction::StartReset,
            ],
        ),
        reset(
            DataTransfer,
            ResetInput::ResetReceived,
            ResetIncoming,
            &[ResetAction::ClearData, ResetAction::IndicateReset],
        ),
        reset(ResetIncoming, ResetInput::ResetResponse, DataTransfer, &[ResetAction::SendRsc]),
        // A request crosses the peer's: it is the answer to it.
        reset(
            ResetIncoming,
            ResetInput::ResetRequest,
            DataTransfer,
            &[ResetAction::SendRsc, ResetAction::ConfirmReset],
        ),
        reset(ResetIncoming, ResetInput::ResetReceived, ResetIncoming, &[]),
        reset(
            ResetOutgoing,
            ResetInput::ResetConfirm,
            DataTransfer,
            &[ResetAction::StopReset, ResetAction::ConfirmReset],
        ),
        // Both ends reset at once: neither confirms.
        reset(
            ResetOutgoing,
            ResetInput::ResetReceived,
            DataTransfer,
            &[ResetAction::StopReset, ResetAction::ConfirmReset],
        ),
        reset(ResetOutgoing, ResetInput::ResetExpired, DataTransfer, &[ResetAction::ReleaseConnection]),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        assert_eq!(CONNECTION.ambiguous(), None);
        assert_eq!(CONNECTION.unreachable(), []);
        assert_eq!(RESET.ambiguous(), None);
        assert_eq!(RESET.unreachable(), []);
    }

    #[test]
    fn every_way_to_idle_freezes_the_reference() {
        for row in CONNECTION.transitions.iter().filter(|row| row.to == Idle) {
            assert!(row.actions.contains(&Do::FreezeReference), "{row:?}");
        }
    }
}
