//! The three state machines (RFC 4666, sections 4.3.1 and 4.3.2): an ASP as itself sees it, the same ASP as the
//! gateway sees it, and an application server at the gateway.
//!
//! Each is kept once for each pair of ASP and application server. What a message asks of an ASP as a whole, ASP Up and
//! ASP Down, is put to all its pairs; its one answer is that of the most active of them.

use slantpath_base::{StateMachine, Transition};

/// The state of an ASP within an application server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AspState {
    /// ASP-DOWN: no association, or the ASP is not up.
    #[default]
    Down,
    /// ASP-INACTIVE: up, without traffic.
    Inactive,
    /// ASP-ACTIVE: up, with traffic.
    Active,
}

/// Events of an ASP at its own side: requests of its management and answers of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AspInput {
    /// ASP Active Ack.
    AspActiveAck,
    /// ASP Down Ack that ASP Down asked for.
    AspDownAck,
    /// ASP Down Ack that nothing asked for: the gateway is isolated.
    AspDownAckUnasked,
    /// ASP Inactive Ack that ASP Inactive asked for.
    AspInactiveAck,
    /// ASP Inactive Ack that nothing asked for.
    AspInactiveAckUnasked,
    /// ASP Up Ack.
    AspUpAck,
    /// NTFY: another ASP has overridden this one.
    AlternateAspActive,
    /// No ASP Down Ack within T(ack), and management wants the ASP up by now.
    AspDownUnanswered,
    /// The association is gone.
    CommunicationDown,
    /// M-ASP_ACTIVE request.
    RequestActive,
    /// M-ASP_DOWN request.
    RequestDown,
    /// M-ASP_INACTIVE request.
    RequestInactive,
    /// M-ASP_UP request.
    RequestUp,
    /// The peer has restarted the association.
    Restart,
}

/// Actions of an ASP upon an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AspAction {
    /// M-ASP_ACTIVE confirm.
    ConfirmActive,
    /// M-ASP_DOWN confirm.
    ConfirmDown,
    /// M-ASP_INACTIVE confirm.
    ConfirmInactive,
    /// M-ASP_UP confirm.
    ConfirmUp,
    /// Ask for the state that was wanted before.
    ReturnToPrevious,
    /// Send ASP Active and start T(ack).
    SendAspActive,
    /// Send ASP Down and start T(ack).
    SendAspDown,
    /// Send ASP Inactive and start T(ack).
    SendAspInactive,
    /// Send ASP Up and start T(ack).
    SendAspUp,
    /// Send ERR "Unexpected Message".
    SendUnexpectedMessage,
    /// Stop T(ack), if it runs.
    StopAcknowledgementTimer,
}

type AspRow = Transition<AspState, AspInput, AspAction>;

const fn asp(from: AspState, on: AspInput, to: AspState, actions: &'static [AspAction]) -> AspRow {
    Transition { from, on, to, actions }
}

/// An ASP at its own side.
pub const ASP_MACHINE: StateMachine<AspState, AspInput, AspAction> = {
    use AspAction::{
        ConfirmActive, ConfirmDown, ConfirmInactive, ConfirmUp, ReturnToPrevious, SendAspActive, SendAspDown,
        SendAspInactive, SendAspUp, SendUnexpectedMessage, StopAcknowledgementTimer,
    };
    use AspInput::{
        AlternateAspActive, AspActiveAck, AspDownAck, AspDownAckUnasked, AspDownUnanswered, AspInactiveAck,
        AspInactiveAckUnasked, AspUpAck, CommunicationDown, RequestActive, RequestDown, RequestInactive,
        RequestUp, Restart,
    };
    use AspState::{Active, Down, Inactive};
    StateMachine {
        name: "ASP, at the ASP",
        source: "RFC 4666, sections 4.3.1 and 4.3.4",
        initial: Down,
        transitions: &[
            asp(Down, RequestUp, Down, &[SendAspUp]),
            asp(Down, RequestDown, Down, &[SendAspDown]),
            asp(Down, AspUpAck, Inactive, &[StopAcknowledgementTimer, ConfirmUp]),
            asp(Down, AspDownAck, Down, &[StopAcknowledgementTimer, ConfirmDown]),
            asp(Down, AspDownUnanswered, Down, &[StopAcknowledgementTimer, ReturnToPrevious]),
            asp(Down, AspActiveAck, Down, &[SendUnexpectedMessage]),
            asp(Down, AspInactiveAck, Down, &[SendUnexpectedMessage]),
            asp(Down, AspInactiveAckUnasked, Down, &[SendUnexpectedMessage]),
            asp(Down, CommunicationDown, Down, &[StopAcknowledgementTimer]),
            asp(Down, Restart, Down, &[StopAcknowledgementTimer, ReturnToPrevious]),
            asp(Inactive, RequestActive, Inactive, &[SendAspActive]),
            asp(Inactive, RequestInactive, Inactive, &[SendAspInactive]),
            asp(Inactive, RequestDown, Inactive, &[SendAspDown]),
            asp(Inactive, AspUpAck, Inactive, &[StopAcknowledgementTimer]),
            asp(Inactive, AspActiveAck, Active, &[StopAcknowledgementTimer, ConfirmActive]),
            asp(Inactive, AspInactiveAck, Inactive, &[StopAcknowledgementTimer, ConfirmInactive]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.2
            //# If the ASP receives an ASP Down Ack without having sent an ASP Down
            //# message, the ASP should now consider itself to be in the ASP-DOWN
            //# state.
            asp(Inactive, AspDownAck, Down, &[StopAcknowledgementTimer, ConfirmDown]),
            asp(Inactive, AspDownAckUnasked, Down, &[StopAcknowledgementTimer, ReturnToPrevious]),
            asp(Inactive, AspDownUnanswered, Down, &[StopAcknowledgementTimer, ReturnToPrevious]),
            asp(Inactive, CommunicationDown, Down, &[StopAcknowledgementTimer]),
            asp(Inactive, Restart, Down, &[StopAcknowledgementTimer, ReturnToPrevious]),
            asp(Active, RequestActive, Active, &[SendAspActive]),
            asp(Active, RequestInactive, Active, &[SendAspInactive]),
            asp(Active, RequestDown, Active, &[SendAspDown]),
            asp(Active, AspActiveAck, Active, &[StopAcknowledgementTimer, ConfirmActive]),
            asp(Active, AspInactiveAck, Inactive, &[StopAcknowledgementTimer, ConfirmInactive]),
            asp(Active, AspInactiveAckUnasked, Inactive, &[StopAcknowledgementTimer, ReturnToPrevious]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.3
            //# The ASP receiving this Notify MUST consider itself now in the
            //# ASP-INACTIVE state
            asp(Active, AlternateAspActive, Inactive, &[]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.1
            //# If the ASP receives an unexpected ASP Up Ack message, the ASP should
            //# consider itself in the ASP-INACTIVE state.  If the ASP was not in the
            //# ASP-INACTIVE state, it SHOULD send an Error message and then initiate
            //# procedures to return itself to its previous state.
            asp(Active, AspUpAck, Inactive, &[SendUnexpectedMessage, ReturnToPrevious]),
            asp(Active, AspDownAck, Down, &[StopAcknowledgementTimer, ConfirmDown]),
            asp(Active, AspDownAckUnasked, Down, &[StopAcknowledgementTimer, ReturnToPrevious]),
            asp(Active, AspDownUnanswered, Down, &[StopAcknowledgementTimer, ReturnToPrevious]),
            asp(Active, CommunicationDown, Down, &[StopAcknowledgementTimer]),
            asp(Active, Restart, Down, &[StopAcknowledgementTimer, ReturnToPrevious]),
        ],
    }
};

/// Events of an ASP as the gateway, or the other IPSP, sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemoteAspInput {
    /// ASP Active that may be granted.
    AspActive,
    /// ASP Active that management refuses.
    AspActiveRefused,
    /// ASP Down.
    AspDown,
    /// ASP Inactive.
    AspInactive,
    /// ASP Up that may be granted.
    AspUp,
    /// ASP Up that management refuses.
    AspUpRefused,
    /// The association is gone.
    CommunicationDown,
    /// Management takes the ASP out of service.
    Lockout,
    /// Management takes the traffic off the ASP within the application server.
    LockoutOfTraffic,
    /// Another ASP takes over in override mode.
    OverriddenByOther,
    /// The peer has restarted the association.
    Restart,
}

/// Actions of the gateway upon an input of an ASP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemoteAspAction {
    /// Registered routing keys of the ASP are no more.
    Deregister,
    /// NTFY "Alternate ASP Active" to the ASP.
    NotifyAlternateAspActive,
    /// NTFY "ASP Failure" to the other ASPs of the application server.
    NotifyAspFailure,
    /// ASP Active Ack.
    SendAspActiveAck,
    /// ASP Down Ack.
    SendAspDownAck,
    /// ASP Inactive Ack.
    SendAspInactiveAck,
    /// ASP Up Ack.
    SendAspUpAck,
    /// ERR "Refused - Management Blocking".
    SendRefused,
    /// ERR "Unexpected Message".
    SendUnexpectedMessage,
}

type RemoteRow = Transition<AspState, RemoteAspInput, RemoteAspAction>;

const fn remote(
    from: AspState,
    on: RemoteAspInput,
    to: AspState,
    actions: &'static [RemoteAspAction],
) -> RemoteRow {
    Transition { from, on, to, actions }
}

/// An ASP at the gateway.
pub const REMOTE_ASP_MACHINE: StateMachine<AspState, RemoteAspInput, RemoteAspAction> = {
    use AspState::{Active, Down, Inactive};
    use RemoteAspAction::{
        Deregister, NotifyAlternateAspActive, NotifyAspFailure, SendAspActiveAck, SendAspDownAck,
        SendAspInactiveAck, SendAspUpAck, SendRefused, SendUnexpectedMessage,
    };
    use RemoteAspInput::{
        AspActive, AspActiveRefused, AspDown, AspInactive, AspUp, AspUpRefused, CommunicationDown, Lockout,
        LockoutOfTraffic, OverriddenByOther, Restart,
    };
    StateMachine {
        name: "ASP, at the gateway",
        source: "RFC 4666, section 4.3.1, figure 3, and section 4.3.4",
        initial: Down,
        transitions: &[
            remote(Down, AspUp, Inactive, &[SendAspUpAck]),
            remote(Down, AspUpRefused, Down, &[SendRefused]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.2
            //# The SGP MUST send an ASP Down Ack message in response to a received
            //# ASP Down message from the ASP even if the ASP is already marked as
            //# ASP-DOWN at the SGP.
            remote(Down, AspDown, Down, &[SendAspDownAck]),
            remote(Down, AspActive, Down, &[SendUnexpectedMessage]),
            remote(Down, AspActiveRefused, Down, &[SendUnexpectedMessage]),
            remote(Down, AspInactive, Down, &[SendUnexpectedMessage]),
            remote(Down, CommunicationDown, Down, &[]),
            remote(Down, Restart, Down, &[]),
            remote(Down, Lockout, Down, &[]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.1
            //# The SGP MUST send an
            //# ASP Up Ack message in response to a received ASP Up message even if
            //# the ASP is already marked as ASP-INACTIVE at the SGP.
            remote(Inactive, AspUp, Inactive, &[SendAspUpAck]),
            remote(Inactive, AspUpRefused, Inactive, &[SendRefused]),
            remote(Inactive, AspDown, Down, &[SendAspDownAck, Deregister]),
            remote(Inactive, AspActive, Active, &[SendAspActiveAck]),
            remote(Inactive, AspActiveRefused, Inactive, &[SendRefused]),
            remote(Inactive, AspInactive, Inactive, &[SendAspInactiveAck]),
            remote(Inactive, CommunicationDown, Down, &[NotifyAspFailure, Deregister]),
            remote(Inactive, Restart, Down, &[NotifyAspFailure, Deregister]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.7
            //# If an SGP is isolated entirely from the NIF, the SGP should send
            //# ASP Down Ack to all its connected ASPs.
            remote(Inactive, Lockout, Down, &[SendAspDownAck, Deregister]),
            remote(Inactive, LockoutOfTraffic, Inactive, &[]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.1
            //# If an ASP Up message is received and, internally, the remote ASP is
            //# in the ASP-ACTIVE state, an ASP Up Ack message is returned, as well
            //# as an Error message ("Unexpected Message").
            remote(Active, AspUp, Inactive, &[SendUnexpectedMessage, SendAspUpAck, Deregister]),
            remote(Active, AspUpRefused, Active, &[SendRefused]),
            remote(Active, AspDown, Down, &[SendAspDownAck, Deregister]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.3
            //# Independently of the RC, the SGP MUST send an ASP Active Ack message
            //# in response to a received ASP Active message from the ASP, if the ASP
            //# is already marked in the APS-ACTIVE state.
            remote(Active, AspActive, Active, &[SendAspActiveAck]),
            remote(Active, AspActiveRefused, Active, &[SendAspActiveAck]),
            remote(Active, AspInactive, Inactive, &[SendAspInactiveAck]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.3
            //# The SGP or
            //# IPSP then MUST send a Notify message ("Alternate ASP_Active") to the
            //# previously active ASP in the AS
            remote(Active, OverriddenByOther, Inactive, &[NotifyAlternateAspActive]),
            remote(Active, CommunicationDown, Down, &[NotifyAspFailure, Deregister]),
            remote(Active, Restart, Down, &[NotifyAspFailure, Deregister]),
            remote(Active, Lockout, Down, &[SendAspDownAck, Deregister]),
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.7
            //# the SGP should send
            //# ASP Inactive Ack to all its connected ASPs for the affected AS.
            remote(Active, LockoutOfTraffic, Inactive, &[SendAspInactiveAck]),
        ],
    }
};

/// The state of an application server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AsState {
    /// AS-DOWN: no ASP is up.
    #[default]
    Down,
    /// AS-INACTIVE: ASPs are up, and not enough are active.
    Inactive,
    /// AS-ACTIVE: traffic flows.
    Active,
    /// AS-PENDING: the last active ASP is gone, and traffic waits for T(r).
    Pending,
}

/// Events of an application server; the names beside are those of the RFC's figure 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AsInput {
    /// DN2IA: an ASP has come up.
    AspUp,
    /// IA2DN: the last ASP has gone down.
    LastAspDown,
    /// IA2AC: as many ASPs are active as the traffic needs.
    EnoughActive,
    /// AC2PN: the last active ASP has become inactive or gone down.
    LastActiveLost,
    /// PN2AC: an ASP has become active before T(r) expired.
    AspActive,
    /// PN2IA: T(r) has expired, and an ASP is inactive.
    RecoveryExpiredAspInactive,
    /// PN2DN: T(r) has expired, and all ASPs are down.
    RecoveryExpiredAllDown,
}

/// Actions of the gateway upon an input of an application server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AsAction {
    /// Throw the waiting messages away, counted.
    DiscardQueue,
    /// Send the waiting messages.
    FlushQueue,
    /// NTFY "AS-ACTIVE" to all ASPs that are up.
    NotifyActive,
    /// NTFY "AS-INACTIVE".
    NotifyInactive,
    /// NTFY "AS-PENDING".
    NotifyPending,
    /// Start the timer T(r).
    StartRecoveryTimer,
    /// Stop the timer T(r).
    StopRecoveryTimer,
}

type AsRow = Transition<AsState, AsInput, AsAction>;

const fn server(from: AsState, on: AsInput, to: AsState, actions: &'static [AsAction]) -> AsRow {
    Transition { from, on, to, actions }
}

/// An application server at the gateway.
//= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.2
//# If an ASP becomes ASP-ACTIVE before
//# T(r) expires, the AS is moved to the AS-ACTIVE state, and all the
//# queued messages will be sent to the ASP.
pub const AS_MACHINE: StateMachine<AsState, AsInput, AsAction> = {
    use AsAction::{
        DiscardQueue, FlushQueue, NotifyActive, NotifyInactive, NotifyPending, StartRecoveryTimer,
        StopRecoveryTimer,
    };
    use AsInput::{
        AspActive, AspUp, EnoughActive, LastActiveLost, LastAspDown, RecoveryExpiredAllDown,
        RecoveryExpiredAspInactive,
    };
    use AsState::{Active, Down, Inactive, Pending};
    StateMachine {
        name: "AS, at the gateway",
        source: "RFC 4666, section 4.3.2, figure 4",
        initial: Down,
        transitions: &[
            server(Down, AspUp, Inactive, &[NotifyInactive]),
            server(Inactive, LastAspDown, Down, &[]),
            server(Inactive, EnoughActive, Active, &[NotifyActive]),
            server(Active, LastActiveLost, Pending, &[StartRecoveryTimer, NotifyPending]),
            server(Pending, AspActive, Active, &[StopRecoveryTimer, NotifyActive, FlushQueue]),
            server(Pending, RecoveryExpiredAspInactive, Inactive, &[DiscardQueue, NotifyInactive]),
            server(Pending, RecoveryExpiredAllDown, Down, &[DiscardQueue]),
        ],
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_has_a_row_that_is_never_taken_or_a_state_that_is_never_reached() {
        assert_eq!((ASP_MACHINE.ambiguous(), ASP_MACHINE.unreachable()), (None, Vec::new()));
        assert_eq!((REMOTE_ASP_MACHINE.ambiguous(), REMOTE_ASP_MACHINE.unreachable()), (None, Vec::new()));
        assert_eq!((AS_MACHINE.ambiguous(), AS_MACHINE.unreachable()), (None, Vec::new()));
    }

    #[test]
    fn a_lost_association_ends_every_state_in_down() {
        for state in [AspState::Down, AspState::Inactive, AspState::Active] {
            let here = ASP_MACHINE.next(state, AspInput::CommunicationDown).unwrap();
            let there = REMOTE_ASP_MACHINE.next(state, RemoteAspInput::CommunicationDown).unwrap();
            assert_eq!((here.to, there.to), (AspState::Down, AspState::Down));
        }
    }
}
