//! Processor outage control (Q.703, figure 10, as RFC 4165, section 4.1.4, changes it): an outage ends with a handshake
//! in which both ends agree on their sequence numbers again.

use slantpath_base::{StateMachine, Transition};

/// Whose level 3 cannot be served, and whether the end of our own outage has been understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageState {
    /// Both ends' cannot be served.
    BothOutages,
    /// Ours cannot be served.
    LocalOutage,
    /// Ours can again; the peer has not yet said Ready.
    LocalRecovering,
    /// State without any outage.
    NoOutage,
    /// The peer's cannot be served.
    RemoteOutage,
    /// The peer's cannot be served, and it has not yet said Ready to the end of our own outage.
    RemoteOutageLocalRecovering,
}

/// Events of processor outage control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageInput {
    /// MTP3: level 3 cannot be served.
    LocalOutage,
    /// MTP3: it can again.
    LocalRecovered,
    /// MTP3: it can again, before the link has come into service.
    LocalRecoveredBeforeService,
    /// Link Status Ready came on the User Data stream.
    Ready,
    /// Link Status Processor Outage came.
    RemoteOutage,
    /// Link Status Processor Recovered came.
    RemoteRecovered,
    /// Link state control ends it.
    Stop,
}

/// Actions upon an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageAction {
    /// Tell MTP3 that the peer's level 3 cannot be served.
    IndicateRemoteOutage,
    /// Tell MTP3 that it can again.
    IndicateRemoteRecovered,
    /// Take the peer's backward sequence number for where to go on sending.
    Resynchronize,
    /// Send Link Status Processor Outage on the User Data stream.
    SendProcessorOutage,
    /// Send Link Status Processor Recovered on the User Data stream, and drop what is held: the peer has it still,
    /// and its MTP3 alone knows whether it is to come again or newer messages have gone another way.
    SendProcessorRecovered,
    /// Send Link Status Ready on the User Data stream.
    SendReady,
}

use OutageAction as A;
use OutageInput as I;
use OutageState as S;

type Row = Transition<OutageState, OutageInput, OutageAction>;

const fn row(from: S, on: I, to: S, actions: &'static [A]) -> Row {
    Transition { from, on, to, actions }
}

const RECOVER: &[A] = &[A::SendProcessorRecovered];

//= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.4
//# Upon receiving the Link Status Processor Recovered message, the M2PA
//# in RPO SHALL respond with a Link Status Ready message on the User
//# Data stream.
const ANSWER_RECOVERY: &[A] = &[A::Resynchronize, A::SendReady, A::IndicateRemoteRecovered];

//= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.4
//# Upon receiving the Link Status Ready message, the M2PA formerly in
//# LPO SHALL respond with a Link Status Ready message on the User Data
//# stream.
const ANSWER_READY: &[A] = &[A::Resynchronize, A::SendReady];

/// The table of processor outage control.
pub static OUTAGE_MACHINE: StateMachine<OutageState, OutageInput, OutageAction> = StateMachine {
    name: "Processor outage control",
    source: "Q.703, figure 10; RFC 4165, section 4.1.4",
    initial: S::NoOutage,
    transitions: &[
        row(S::NoOutage, I::LocalOutage, S::LocalOutage, &[A::SendProcessorOutage]),
        row(S::NoOutage, I::RemoteOutage, S::RemoteOutage, &[A::IndicateRemoteOutage]),
        row(S::LocalOutage, I::LocalRecovered, S::LocalRecovering, RECOVER),
        row(S::LocalOutage, I::LocalRecoveredBeforeService, S::NoOutage, &[A::SendProcessorRecovered]),
        row(S::LocalOutage, I::RemoteOutage, S::BothOutages, &[A::IndicateRemoteOutage]),
        row(S::LocalOutage, I::Stop, S::NoOutage, &[]),
        row(S::LocalRecovering, I::Ready, S::NoOutage, ANSWER_READY),
        row(S::LocalRecovering, I::RemoteOutage, S::RemoteOutageLocalRecovering, &[A::IndicateRemoteOutage]),
        row(S::LocalRecovering, I::Stop, S::NoOutage, &[]),
        row(S::RemoteOutage, I::LocalOutage, S::BothOutages, &[A::SendProcessorOutage]),
        row(S::RemoteOutage, I::RemoteRecovered, S::NoOutage, ANSWER_RECOVERY),
        row(S::RemoteOutage, I::Stop, S::NoOutage, &[]),
        row(S::RemoteOutageLocalRecovering, I::Ready, S::RemoteOutage, ANSWER_READY),
        row(S::RemoteOutageLocalRecovering, I::RemoteRecovered, S::LocalRecovering, ANSWER_RECOVERY),
        row(S::RemoteOutageLocalRecovering, I::Stop, S::NoOutage, &[]),
        row(S::BothOutages, I::LocalRecovered, S::RemoteOutageLocalRecovering, RECOVER),
        row(S::BothOutages, I::RemoteRecovered, S::LocalOutage, ANSWER_RECOVERY),
        row(S::BothOutages, I::Stop, S::NoOutage, &[]),
    ],
};

impl OutageState {
    /// Tells whether our own level 3 cannot be served.
    pub(super) const fn is_local(self) -> bool {
        matches!(self, Self::BothOutages | Self::LocalOutage)
    }

    /// Tells whether the peer's level 3 cannot be served.
    pub(super) const fn is_remote(self) -> bool {
        matches!(self, Self::BothOutages | Self::RemoteOutage | Self::RemoteOutageLocalRecovering)
    }

    /// Tells whether the peer has not yet understood the end of our own outage.
    pub(super) const fn is_recovering(self) -> bool {
        matches!(self, Self::LocalRecovering | Self::RemoteOutageLocalRecovering)
    }
}
