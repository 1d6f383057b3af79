//! A connection of an SCCP user, as its end sees it (RFC 3868, section 3.3; Q.714, section 3, for class 2).

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
}

/// What happens to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionInput {
    /// The ASP lost its traffic.
    AspLost,
    /// COAK.
    Coak,
    /// CODT.
    Codt,
    /// COERR: the peer does not know the connection.
    Coerr,
    /// COREF.
    Coref,
    /// CORE.
    Core,
    /// T(conn est): no answer came to CORE.
    ConnectTimeout,
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
    /// N-CONNECT request.
    RequestConnect,
    /// N-DISCONNECT request; of an incoming connection, its refusal.
    RequestDisconnect,
    /// N-CONNECT response.
    ResponseConnect,
}

/// What is done then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionAction {
    /// N-CONNECT confirm.
    ConfirmConnect,
    /// Forget the reference.
    Forget,
    /// N-CONNECT indication.
    IndicateConnect,
    /// N-DATA indication.
    IndicateData,
    /// N-DISCONNECT indication.
    IndicateDisconnect,
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
    /// Start T(rel).
    StartReleaseTimer,
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
        ConfirmConnect, Forget, IndicateConnect, IndicateData, IndicateDisconnect, SendCoak, SendCoit,
        SendCore, SendCoref, SendRelco, SendRelre, StartConnectTimer, StartInactivityTimers,
        StartReleaseTimer,
    };
    use ConnectionInput::{
        AspLost, Coak, Codt, Coerr, ConnectTimeout, Core, Coref, InactivityReceiveTimeout,
        InactivitySendTimeout, Relco, ReleaseTimeout, Relre, RequestConnect, RequestDisconnect,
        ResponseConnect,
    };
    use ConnectionState::{Active, Idle, Incoming, Outgoing, Releasing};
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
            row(Outgoing, Coak, Active, &[ConfirmConnect, StartInactivityTimers]),
            row(Outgoing, Coref, Idle, &[IndicateDisconnect, Forget]),
            row(Outgoing, Coerr, Idle, &[IndicateDisconnect, Forget]),
            row(Outgoing, ConnectTimeout, Idle, &[IndicateDisconnect, Forget]),
            row(Outgoing, AspLost, Idle, &[IndicateDisconnect, Forget]),
            row(Active, Codt, Active, &[IndicateData]),
            row(Active, RequestDisconnect, Releasing, &[SendRelre, StartReleaseTimer]),
            row(Active, Relre, Idle, &[SendRelco, IndicateDisconnect, Forget]),
            row(Active, Coerr, Releasing, &[IndicateDisconnect, SendRelre, StartReleaseTimer]),
            row(Active, InactivitySendTimeout, Active, &[SendCoit]),
            row(
                Active,
                InactivityReceiveTimeout,
                Releasing,
                &[IndicateDisconnect, SendRelre, StartReleaseTimer],
            ),
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
