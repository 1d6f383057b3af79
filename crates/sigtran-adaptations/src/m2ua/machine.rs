//! A link as both ends of M2UA see it (RFC 3331, sections 3.3.1.3, 3.3.1.4 and 5.3).

use slantpath_base::{StateMachine, Transition};

/// The state of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkStatus {
    /// Link that carries nothing.
    #[default]
    OutOfService,
    /// Link that is being aligned.
    Establishing,
    /// Link that carries messages.
    InService,
    /// Link that is being stopped.
    Releasing,
}

/// Events of a link at the gateway, where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GatewayLinkInput {
    /// Establish Request from the ASP.
    EstablishRequest,
    /// Level 2 tells that the link is in service.
    InService,
    /// Level 2 tells that the link is out of service.
    OutOfService,
    /// Release Request from the ASP.
    ReleaseRequest,
}

/// Actions of the gateway upon an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GatewayLinkAction {
    /// Send Establish Confirm.
    SendEstablishConfirm,
    /// Send Release Confirm.
    SendReleaseConfirm,
    /// Send Release Indication.
    SendReleaseIndication,
    /// Ask level 2 to align.
    Start,
    /// Ask level 2 to stop.
    Stop,
}

type GatewayRow = Transition<LinkStatus, GatewayLinkInput, GatewayLinkAction>;

const fn at_gateway(
    from: LinkStatus,
    on: GatewayLinkInput,
    to: LinkStatus,
    actions: &'static [GatewayLinkAction],
) -> GatewayRow {
    Transition { from, on, to, actions }
}

/// A link at the gateway.
pub const GATEWAY_LINK_MACHINE: StateMachine<LinkStatus, GatewayLinkInput, GatewayLinkAction> = {
    use GatewayLinkAction::{SendEstablishConfirm, SendReleaseConfirm, SendReleaseIndication, Start, Stop};
    use GatewayLinkInput::{EstablishRequest, InService as Up, OutOfService as Down, ReleaseRequest};
    use LinkStatus::{Establishing, InService, OutOfService, Releasing};
    StateMachine {
        name: "Link, at the gateway",
        source: "RFC 3331, sections 3.3.1.3, 3.3.1.4, 5.3.1 and 5.3.2",
        initial: OutOfService,
        transitions: &[
            at_gateway(OutOfService, EstablishRequest, Establishing, &[Start]),
            at_gateway(OutOfService, ReleaseRequest, OutOfService, &[SendReleaseConfirm]),
            // Level 2 came up without us: the ASP learns of it as in an audit.
            at_gateway(OutOfService, Up, InService, &[SendEstablishConfirm]),
            at_gateway(Establishing, Up, InService, &[SendEstablishConfirm]),
            at_gateway(Establishing, Down, OutOfService, &[SendReleaseIndication]),
            at_gateway(Establishing, ReleaseRequest, Releasing, &[Stop]),
            //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.1.3
            //# Note that the
            //# SGP MAY already have the SS7 link established at its layer.  If so,
            //# upon receipt of an Establish Request, the SGP takes no action except
            //# to send an Establish Confirm.
            at_gateway(InService, EstablishRequest, InService, &[SendEstablishConfirm]),
            at_gateway(InService, Down, OutOfService, &[SendReleaseIndication]),
            at_gateway(InService, ReleaseRequest, Releasing, &[Stop]),
            at_gateway(Releasing, Down, OutOfService, &[SendReleaseConfirm]),
            at_gateway(Releasing, EstablishRequest, Establishing, &[Start]),
        ],
    }
};

/// Events of a link at the ASP, which serves its MTP3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProcessLinkInput {
    /// Establish Confirm from the gateway.
    EstablishConfirm,
    /// The ASP is no longer active for the link.
    Lost,
    /// Release Confirm from the gateway.
    ReleaseConfirm,
    /// Release Indication from the gateway.
    ReleaseIndication,
    /// MTP3 wants the link in service.
    Start,
    /// MTP3 wants it out of service.
    Stop,
    /// No answer came in time.
    Timeout,
}

/// Actions of the ASP upon an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProcessLinkAction {
    /// Tell MTP3 that the link is in service.
    IndicateInService,
    /// Tell MTP3 that it is out of service.
    IndicateOutOfService,
    /// Establish Request, and start the timer.
    SendEstablishRequest,
    /// Release Request, and start the timer.
    SendReleaseRequest,
    /// Stop the timer.
    StopTimer,
}

type ProcessRow = Transition<LinkStatus, ProcessLinkInput, ProcessLinkAction>;

const fn at_process(
    from: LinkStatus,
    on: ProcessLinkInput,
    to: LinkStatus,
    actions: &'static [ProcessLinkAction],
) -> ProcessRow {
    Transition { from, on, to, actions }
}

/// A link at the ASP.
pub const PROCESS_LINK_MACHINE: StateMachine<LinkStatus, ProcessLinkInput, ProcessLinkAction> = {
    use LinkStatus::{Establishing, InService, OutOfService, Releasing};
    use ProcessLinkAction::{
        IndicateInService, IndicateOutOfService, SendEstablishRequest, SendReleaseRequest, StopTimer,
    };
    use ProcessLinkInput::{EstablishConfirm, Lost, ReleaseConfirm, ReleaseIndication, Start, Stop, Timeout};
    StateMachine {
        name: "Link, at the ASP",
        source: "RFC 3331, sections 3.3.1.3, 3.3.1.4, 5.3.1 and 5.3.2",
        initial: OutOfService,
        transitions: &[
            at_process(OutOfService, Start, Establishing, &[SendEstablishRequest]),
            at_process(OutOfService, Stop, Releasing, &[SendReleaseRequest]),
            at_process(Establishing, Start, Establishing, &[]),
            at_process(Establishing, EstablishConfirm, InService, &[StopTimer, IndicateInService]),
            at_process(Establishing, ReleaseIndication, OutOfService, &[StopTimer, IndicateOutOfService]),
            at_process(Establishing, Stop, Releasing, &[SendReleaseRequest]),
            //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.1.3
            //# If the timer expires, the MGC would resend the
            //# M2UA Establish Request message and restart the timer.
            at_process(Establishing, Timeout, Establishing, &[SendEstablishRequest]),
            at_process(Establishing, Lost, OutOfService, &[StopTimer, IndicateOutOfService]),
            at_process(InService, EstablishConfirm, InService, &[]),
            at_process(InService, ReleaseIndication, OutOfService, &[IndicateOutOfService]),
            at_process(InService, Stop, Releasing, &[SendReleaseRequest]),
            at_process(InService, Lost, OutOfService, &[IndicateOutOfService]),
            at_process(Releasing, ReleaseConfirm, OutOfService, &[StopTimer, IndicateOutOfService]),
            at_process(Releasing, ReleaseIndication, OutOfService, &[StopTimer, IndicateOutOfService]),
            at_process(Releasing, Start, Establishing, &[SendEstablishRequest]),
            at_process(Releasing, Timeout, Releasing, &[SendReleaseRequest]),
            at_process(Releasing, Lost, OutOfService, &[StopTimer, IndicateOutOfService]),
        ],
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_ambiguous_and_no_state_unreachable() {
        assert_eq!(GATEWAY_LINK_MACHINE.ambiguous(), None);
        assert_eq!(GATEWAY_LINK_MACHINE.unreachable(), []);
        assert_eq!(PROCESS_LINK_MACHINE.ambiguous(), None);
        assert_eq!(PROCESS_LINK_MACHINE.unreachable(), []);
    }
}
