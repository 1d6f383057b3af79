//! A connection of an SCCP user, as its end sees it (RFC 3868, section 3.3; Q.714, section 3). The reset of class 3 is
//! [`slantpath_ss7::sccp::RESET`], with RESRE for RSR and RESCO for RSC.

use slantpath_base::{StateMachine, Transition};

/// The state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionState {
    /// There is none.
    #[default]
    Idle,
    /// The peer asked for it; the user has not answered.
    Incoming,
    /// We asked for it; the peer has not answered.
    Outgoing,
    /// Data may flow.
    Active,
    /// We release it; the peer has not confirmed.
    Releasing,
    /// The user has given up while the answer to CORE was awaited: the peer's reference is needed to release.
    WaitConnectionConfirm,
}

/// Events of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionInput {
    /// The ASP lost its traffic.
    AspLost,
    /// COAK.
    Coak,
    /// CODA: an acknowledgement, in class 3.
    Coda,
    /// CODT.
    Codt,
    /// COERR: the peer does not know the connection.
    Coerr,
    /// COIT.
    Coit,
    /// COREF.
    Coref,
    /// CORE.
    Core,
    /// T(conn est): no answer came to CORE.
    ConnectTimeout,
    /// The two ends do not agree, or a reset was not answered.
    FaultFound,
    /// T(ias): nothing was sent for long.
    InactivitySendTimeout,
    /// T(iar): nothing was received for too long.
    InactivityReceiveTimeout,
    /// RELCO.
    Relco,
    /// T(rel): no answer came to RELRE.
    ReleaseTimeout,
    /// RELRE.
    Relre,
    /// RESCO, in class 3.
    Resco,
    /// RESRE, in class 3.
    Resre,
    /// N-CONNECT request.
    RequestConnect,
    /// N-DISCONNECT request; of an incoming connection, its refusal.
    RequestDisconnect,
    /// N-CONNECT response.
    ResponseConnect,
}

/// Actions upon an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionAction {
    /// Hold what COIT says against what this end has: class, and in class 3 numbers and credit.
    CompareEnds,
    /// N-CONNECT confirm.
    ConfirmConnect,
    /// Forget the reference.
    Forget,
    /// N-CONNECT indication.
    IndicateConnect,
    /// N-DISCONNECT indication.
    IndicateDisconnect,
    /// Let the machine of the reset take its step.
    PassToReset,
    /// COAK.
    SendCoak,
    /// COIT, and wait for T(ias) again.
    SendCoit,
    /// CORE.
    SendCore,
    /// COREF.
    SendCoref,
    /// RELCO.
    SendRelco,
    /// RELRE.
    SendRelre,
    /// Start T(conn est).
    StartConnectTimer,
    /// Start T(ias) and T(iar).
    StartInactivityTimers,
    /// Start the timer T(rel).
    StartReleaseTimer,
    /// Move the window, and send what it lets through.
    TakeAcknowledgement,
    /// Check the numbers of class 3, put the parts of a message together, N-DATA indication when it is whole.
    TakeData,
}

type Row = Transition<ConnectionState, ConnectionInput, ConnectionAction>;

const fn row(
    from: ConnectionState,
    on: ConnectionInput,
    to: ConnectionState,
    actions: &'static [ConnectionAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// A connection at one end.
pub const CONNECTION_MACHINE: StateMachine<ConnectionState, ConnectionInput, ConnectionAction> = {
    use ConnectionAction::{
        CompareEnds, ConfirmConnect, Forget, IndicateConnect, IndicateDisconnect, PassToReset, SendCoak,
        SendCoit, SendCore, SendCoref, SendRelco, SendRelre, StartConnectTimer, StartInactivityTimers,
        StartReleaseTimer, TakeAcknowledgement, TakeData,
    };
    use ConnectionInput::{
        AspLost, Coak, Coda, Codt, Coerr, Coit, ConnectTimeout, Core, Coref, FaultFound,
        InactivityReceiveTimeout, InactivitySendTimeout, Relco, ReleaseTimeout, Relre, RequestConnect,
        RequestDisconnect, Resco, ResponseConnect, Resre,
    };
    use ConnectionState::{Active, Idle, Incoming, Outgoing, Releasing, WaitConnectionConfirm};
    const INDICATE_AND_RELEASE: &[ConnectionAction] = &[IndicateDisconnect, SendRelre, StartReleaseTimer];
    StateMachine {
        name: "Connection of an SCCP user",
        source: "RFC 3868, section 3.3; Q.714, section 3",
        initial: Idle,
        transitions: &[
            row(Idle, RequestConnect, Outgoing, &[SendCore, StartConnectTimer]),
            row(Idle, Core, Incoming, &[IndicateConnect]),
            row(Incoming, ResponseConnect, Active, &[SendCoak, StartInactivityTimers]),
            row(Incoming, RequestDisconnect, Idle, &[SendCoref, Forget]),
            row(Incoming, Relre, Idle, &[SendRelco, IndicateDisconnect, Forget]),
            row(Incoming, Coerr, Idle, &[IndicateDisconnect, Forget]),
            row(Incoming, AspLost, Idle, &[IndicateDisconnect, Forget]),
            row(Outgoing, RequestDisconnect, WaitConnectionConfirm, &[StartConnectTimer]),
            row(Outgoing, Coak, Active, &[ConfirmConnect, StartInactivityTimers]),
            row(Outgoing, Coref, Idle, &[IndicateDisconnect, Forget]),
            row(Outgoing, Coerr, Idle, &[IndicateDisconnect, Forget]),
            row(Outgoing, ConnectTimeout, Idle, &[IndicateDisconnect, Forget]),
            row(Outgoing, AspLost, Idle, &[IndicateDisconnect, Forget]),
            row(WaitConnectionConfirm, Coak, Releasing, &[SendRelre, StartReleaseTimer]),
            row(WaitConnectionConfirm, Coref, Idle, &[Forget]),
            row(WaitConnectionConfirm, Coerr, Idle, &[Forget]),
            row(WaitConnectionConfirm, ConnectTimeout, Idle, &[Forget]),
            row(WaitConnectionConfirm, AspLost, Idle, &[Forget]),
            row(Active, Codt, Active, &[TakeData]),
            row(Active, Coda, Active, &[TakeAcknowledgement]),
            row(Active, Coit, Active, &[CompareEnds]),
            row(Active, Resre, Active, &[PassToReset]),
            row(Active, Resco, Active, &[PassToReset]),
            row(Active, RequestDisconnect, Releasing, &[SendRelre, StartReleaseTimer]),
            row(Active, Relre, Idle, &[SendRelco, IndicateDisconnect, Forget]),
            row(Active, Coerr, Releasing, INDICATE_AND_RELEASE),
            row(Active, FaultFound, Releasing, INDICATE_AND_RELEASE),
            row(Active, InactivitySendTimeout, Active, &[SendCoit]),
            row(Active, InactivityReceiveTimeout, Releasing, INDICATE_AND_RELEASE),
            row(Active, AspLost, Idle, &[IndicateDisconnect, Forget]),
            row(Releasing, Relco, Idle, &[Forget]),
            // Both ends release at once.
            row(Releasing, Relre, Idle, &[SendRelco, Forget]),
            row(Releasing, ReleaseTimeout, Idle, &[Forget]),
            row(Releasing, Coerr, Idle, &[Forget]),
            row(Releasing, AspLost, Idle, &[Forget]),
        ],
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_ambiguous_and_no_state_unreachable() {
        assert_eq!(CONNECTION_MACHINE.ambiguous(), None);
        assert_eq!(CONNECTION_MACHINE.unreachable(), []);
    }

    #[test]
    fn a_connection_is_forgotten_exactly_when_it_becomes_idle() {
        for row in CONNECTION_MACHINE.transitions {
            let forgets = row.actions.contains(&ConnectionAction::Forget);
            assert_eq!(forgets, row.to == ConnectionState::Idle, "{row:?}");
        }
    }
}
