//! Link state control (Q.703, figure 8, as RFC 4165 changes it): what the link as a whole is doing.

use slantpath_base::{StateMachine, Transition};

/// State of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// Aligned, with our level 3 out; T1 runs until the peer is ready.
    AlignedNotReady,
    /// Aligned; T1 runs until the peer is ready.
    AlignedReady,
    /// Initial alignment is under way.
    InitialAlignment,
    /// Carrying messages.
    InService,
    /// There is no association: Q.703's "power off".
    NotAssociated,
    /// The association is there and MTP3 has not started the link, or it has failed.
    OutOfService,
    /// In service but for a processor outage of either end.
    ProcessorOutage,
    /// MTP3 has started the link and there is no association yet.
    StartAwaitsAssociation,
}

/// Events of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkInput {
    /// Alignment is complete.
    AlignmentComplete,
    /// Alignment is complete, and MTP3 has said that it cannot be served.
    AlignmentCompleteLocalOutage,
    /// Alignment is complete, and messages wait to be sent.
    AlignmentCompleteTrafficWaits,
    /// Alignment is not possible.
    AlignmentNotPossible,
    /// The association is lost, or could not be set up.
    AssociationLost,
    /// The association is up.
    AssociationUp,
    /// T6 or T7 has expired, or the peer acknowledges what was not sent.
    LinkFailure,
    /// MTP3: level 3 cannot be served.
    LocalOutage,
    /// MTP3: it can again.
    LocalRecovered,
    /// The outages of both ends are over.
    OutagesOver,
    /// The outages of both ends are over, and MTP3 has not been told yet that the link is in service.
    OutagesOverFirstService,
    /// Link Status Alignment came.
    PeerAligns,
    /// Link Status Out of Service came.
    PeerOutOfService,
    /// Link Status Processor Outage came.
    PeerOutage,
    /// Link Status Ready or User Data came.
    PeerReady,
    /// MTP3: start.
    Start,
    /// MTP3: stop.
    Stop,
    /// The peer has not become ready in time.
    T1Expired,
}

/// Actions upon an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkAction {
    /// Processor outage control: our level 3 is out.
    BeginLocalOutage,
    /// Processor outage control: the peer's is out.
    BeginRemoteOutage,
    /// Processor outage control: ours is back before the link was in service.
    EndLocalOutage,
    /// Tell MTP3 that the link is in service.
    IndicateInService,
    /// Tell MTP3 that it is out of service, and why.
    IndicateOutOfService,
    /// Stop every timer, alignment and processor outage control; forget emergency and local outage; throw away what
    /// was held and not delivered, for the peer retrieves it.
    Release,
    /// Send Processor Outage again, for the peer may have been proving still when it was first sent.
    RepeatProcessorOutage,
    /// Throw away what MTP3 has not retrieved, and begin to count messages anew.
    ResetBuffers,
    /// Send Link Status Out of Service.
    SendOutOfService,
    /// Send Link Status Ready on the Link Status stream.
    SendReady,
    /// Begin the alignment procedure.
    StartAlignment,
    /// Start T1.
    StartT1,
    /// Stop T1.
    StopT1,
}

use LinkAction as A;
use LinkInput as I;
use LinkState as S;

type Row = Transition<LinkState, LinkInput, LinkAction>;

const fn row(from: S, on: I, to: S, actions: &'static [A]) -> Row {
    Transition { from, on, to, actions }
}

//= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.6
//# M2PA SHALL send a Link Status Out of Service message
//# to its peer at the beginning of a condition where MTP2 would send
//# SIOS.
const fn failure(from: S, on: I) -> Row {
    row(from, on, S::OutOfService, &[A::Release, A::SendOutOfService, A::IndicateOutOfService])
}

//= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.7
//# If the SCTP association for a link becomes unable to transmit or
//# receive messages, M2PA SHALL report to MTP3 that the link is out of
//# service and enter the OUT OF SERVICE state.
const fn loss(from: S) -> Row {
    row(from, I::AssociationLost, S::NotAssociated, &[A::Release, A::IndicateOutOfService])
}

/// The table of link state control.
pub static LINK_MACHINE: StateMachine<LinkState, LinkInput, LinkAction> = StateMachine {
    name: "Link state control",
    source: "Q.703, figure 8; RFC 4165, sections 4.1.3 to 4.1.7",
    initial: S::NotAssociated,
    transitions: &[
        //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.3
        //# After the association is established, M2PA SHALL send
        //# a Link Status Out of Service message to its peer.
        row(S::NotAssociated, I::AssociationUp, S::OutOfService, &[A::SendOutOfService]),
        row(S::NotAssociated, I::Start, S::StartAwaitsAssociation, &[A::ResetBuffers]),
        row(
            S::StartAwaitsAssociation,
            I::AssociationUp,
            S::InitialAlignment,
            &[A::SendOutOfService, A::StartAlignment],
        ),
        //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.3
        //# If
        //# SCTP fails to establish the association, and M2PA has received a
        //# Start Request from its MTP3, then M2PA SHALL report to MTP3 that the
        //# link is out of service.
        loss(S::StartAwaitsAssociation),
        row(S::StartAwaitsAssociation, I::Stop, S::NotAssociated, &[A::Release, A::IndicateOutOfService]),
        row(S::OutOfService, I::Start, S::InitialAlignment, &[A::ResetBuffers, A::StartAlignment]),
        row(S::OutOfService, I::AssociationLost, S::NotAssociated, &[]),
        //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.3
        //# When M2PA
        //# starts timer T1, it SHALL send a Link Status Ready message to its
        //# peer in the case where MTP2 would send a FISU after proving is
        //# complete.
        row(S::InitialAlignment, I::AlignmentComplete, S::AlignedReady, &[A::StartT1, A::SendReady]),
        row(S::InitialAlignment, I::AlignmentCompleteTrafficWaits, S::AlignedReady, &[A::StartT1]),
        row(
            S::InitialAlignment,
            I::AlignmentCompleteLocalOutage,
            S::AlignedNotReady,
            &[A::StartT1, A::BeginLocalOutage],
        ),
        failure(S::InitialAlignment, I::AlignmentNotPossible),
        failure(S::InitialAlignment, I::Stop),
        loss(S::InitialAlignment),
        row(S::AlignedReady, I::PeerReady, S::InService, &[A::StopT1, A::SendReady, A::IndicateInService]),
        // The peer may have been proving still when Ready was first sent.
        row(
            S::AlignedReady,
            I::PeerOutage,
            S::ProcessorOutage,
            &[A::StopT1, A::SendReady, A::BeginRemoteOutage],
        ),
        row(S::AlignedReady, I::LocalOutage, S::AlignedNotReady, &[A::BeginLocalOutage]),
        failure(S::AlignedReady, I::PeerAligns),
        failure(S::AlignedReady, I::PeerOutOfService),
        failure(S::AlignedReady, I::LinkFailure),
        failure(S::AlignedReady, I::T1Expired),
        failure(S::AlignedReady, I::Stop),
        loss(S::AlignedReady),
        row(
            S::AlignedNotReady,
            I::PeerReady,
            S::ProcessorOutage,
            &[A::StopT1, A::RepeatProcessorOutage, A::IndicateInService],
        ),
        row(
            S::AlignedNotReady,
            I::PeerOutage,
            S::ProcessorOutage,
            &[A::StopT1, A::RepeatProcessorOutage, A::BeginRemoteOutage],
        ),
        row(S::AlignedNotReady, I::LocalRecovered, S::AlignedReady, &[A::EndLocalOutage, A::SendReady]),
        failure(S::AlignedNotReady, I::PeerAligns),
        failure(S::AlignedNotReady, I::PeerOutOfService),
        failure(S::AlignedNotReady, I::LinkFailure),
        failure(S::AlignedNotReady, I::T1Expired),
        failure(S::AlignedNotReady, I::Stop),
        loss(S::AlignedNotReady),
        row(S::InService, I::LocalOutage, S::ProcessorOutage, &[A::BeginLocalOutage]),
        row(S::InService, I::PeerOutage, S::ProcessorOutage, &[A::BeginRemoteOutage]),
        failure(S::InService, I::PeerAligns),
        failure(S::InService, I::PeerOutOfService),
        failure(S::InService, I::LinkFailure),
        failure(S::InService, I::Stop),
        loss(S::InService),
        row(S::ProcessorOutage, I::OutagesOver, S::InService, &[]),
        row(S::ProcessorOutage, I::OutagesOverFirstService, S::InService, &[A::IndicateInService]),
        failure(S::ProcessorOutage, I::PeerAligns),
        failure(S::ProcessorOutage, I::PeerOutOfService),
        failure(S::ProcessorOutage, I::LinkFailure),
        failure(S::ProcessorOutage, I::Stop),
        loss(S::ProcessorOutage),
    ],
};
