//! A data link as the ASP sees it (RFC 4233, sections 3.3.1.1 and 3.3.1.2).

use slantpath_base::{StateMachine, Transition};

/// The state of a data link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataLinkState {
    /// State in which the data link carries nothing but unit data.
    #[default]
    Released,
    /// State after the establishment was asked for.
    Establishing,
    /// State in which the data link carries data.
    Established,
    /// State after the release was asked for.
    Releasing,
}

/// Events of a data link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataLinkInput {
    /// DL-ESTABLISH request.
    Establish,
    /// Establish Confirm from the gateway.
    EstablishConfirm,
    /// Establish Indication from the gateway.
    EstablishIndication,
    /// The ASP is no longer active for the interface.
    Lost,
    /// DL-RELEASE request.
    Release,
    /// Release Confirm from the gateway.
    ReleaseConfirm,
    /// Release Indication from the gateway.
    ReleaseIndication,
    /// No answer came in time.
    Timeout,
}

/// Actions upon an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataLinkAction {
    /// DL-ESTABLISH confirm.
    ConfirmEstablish,
    /// DL-RELEASE confirm.
    ConfirmRelease,
    /// DL-ESTABLISH indication.
    IndicateEstablish,
    /// DL-RELEASE indication.
    IndicateRelease,
    /// Establish Request, and start the timer.
    SendEstablish,
    /// Release Request, and start the timer.
    SendRelease,
}

type Row = Transition<DataLinkState, DataLinkInput, DataLinkAction>;

const fn row(
    from: DataLinkState,
    on: DataLinkInput,
    to: DataLinkState,
    actions: &'static [DataLinkAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// A data link at the ASP. The timer runs in `Establishing` and `Releasing` only.
pub const DATA_LINK_MACHINE: StateMachine<DataLinkState, DataLinkInput, DataLinkAction> = {
    use DataLinkAction::{
        ConfirmEstablish, ConfirmRelease, IndicateEstablish, IndicateRelease, SendEstablish, SendRelease,
    };
    use DataLinkInput::{
        Establish, EstablishConfirm, EstablishIndication, Lost, Release, ReleaseConfirm, ReleaseIndication,
        Timeout,
    };
    use DataLinkState::{Established, Establishing, Released, Releasing};
    StateMachine {
        name: "Data link, at the ASP",
        source: "RFC 4233, sections 3.3.1.1 and 3.3.1.2",
        initial: Released,
        transitions: &[
            row(Released, Establish, Establishing, &[SendEstablish]),
            row(Released, EstablishIndication, Established, &[IndicateEstablish]),
            row(Released, Release, Releasing, &[SendRelease]),
            row(Establishing, EstablishConfirm, Established, &[ConfirmEstablish]),
            row(Establishing, EstablishIndication, Established, &[ConfirmEstablish]),
            row(Establishing, ReleaseIndication, Released, &[IndicateRelease]),
            // It answers a release that Q.931 no longer wanted.
            row(Establishing, ReleaseConfirm, Establishing, &[]),
            row(Establishing, Release, Releasing, &[SendRelease]),
            //= https://www.rfc-editor.org/rfc/rfc4233#section-3.3.1.1
            //# If the timer expires, the
            //# MGC would resend the IUA Establish Request message and restart the
            //# timer.
            row(Establishing, Timeout, Establishing, &[SendEstablish]),
            row(Establishing, Lost, Released, &[IndicateRelease]),
            // It was established anew.
            row(Established, EstablishIndication, Established, &[IndicateEstablish]),
            row(Established, Establish, Establishing, &[SendEstablish]),
            row(Established, ReleaseIndication, Released, &[IndicateRelease]),
            row(Established, Release, Releasing, &[SendRelease]),
            row(Established, Lost, Released, &[IndicateRelease]),
            row(Releasing, ReleaseConfirm, Released, &[ConfirmRelease]),
            row(Releasing, ReleaseIndication, Released, &[ConfirmRelease]),
            row(Releasing, Establish, Establishing, &[SendEstablish]),
            //= https://www.rfc-editor.org/rfc/rfc4233#section-3.3.1.2
            //# If no response is received,
            //# the MGC can consider the data link as being released.
            row(Releasing, Timeout, Released, &[ConfirmRelease]),
            row(Releasing, Lost, Released, &[ConfirmRelease]),
        ],
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_ambiguous_and_no_state_unreachable() {
        assert_eq!(DATA_LINK_MACHINE.ambiguous(), None);
        assert_eq!(DATA_LINK_MACHINE.unreachable(), []);
    }
}
