//! Link state control (Q.703, section 3 and figure 8).

use slantpath_base::{StateMachine, Transition};

use crate::link::OutOfServiceReason as Why;

/// States of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// SIOS is sent.
    OutOfService,
    /// Initial alignment runs.
    InitialAlignment,
    /// Aligned; fill-in units are sent and the peer's are waited for.
    AlignedReady,
    /// Aligned, with a local processor outage; SIPO is sent.
    AlignedNotReady,
    /// Messages flow.
    InService,
    /// Local, remote or both.
    ProcessorOutage,
}

/// Events that link state control reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkInput {
    /// Level 3 starts the link.
    Start,
    /// Level 3 stops it.
    Stop,
    /// Alignment is complete.
    AlignmentComplete,
    /// Alignment is complete, during a local processor outage.
    AlignmentCompleteLocalOutage,
    /// Alignment is not possible.
    AlignmentNotPossible,
    /// The monitor, an acknowledgement that nothing explains, T6, T7 or the bearer: the link has failed.
    Failure,
    /// SIN or SIE was received: the peer proves the line.
    PeerProves,
    /// SIO or SIOS was received: the peer has left the service.
    PeerLeaves,
    /// SIPO was received.
    Sipo,
    /// A fill-in or message unit was received.
    FillInOrMessage,
    /// Level 3 cannot be served.
    LocalOutage,
    /// Level 3 can be served again, while the peer's processor is out or level 3 has to say how to go on.
    LocalRecovered,
    /// Level 3 can be served again, and nothing else was wrong.
    LocalRecoveredAlone,
    /// Level 3 says continue, or has flushed, and no outage is left.
    ContinueNoOutage,
    /// T1 has expired.
    T1Expired,
}

/// Actions of link state control's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkAction {
    /// Tell level 3 that the link is out of service: for this reason.
    IndicateOutOfService(Why),
    /// Tell level 3 that it is in service.
    IndicateInService,
    /// Tell level 3, once, that the peer's processor is out.
    IndicateRemoteOutage,
    /// Tell level 3, if it was out, that the peer's processor has recovered.
    IndicateRemoteRecovered,
    /// Tell level 3 that the link is out of service for the reason of the failure.
    IndicateFailure,
    /// Send fill-in units and, where messages may flow, messages.
    SendFillIn,
    /// Send SIOS from now on.
    SendSios,
    /// Send SIPO from now on.
    SendSipo,
    /// Start alignment with new sequence numbers.
    StartAlignment,
    /// Stop initial alignment.
    StopAlignment,
    /// Start the signal unit error rate monitor.
    StartMonitor,
    /// Stop the monitor, and the timers of messages.
    StopMonitor,
    /// Start T1.
    StartT1,
    /// Stop T1.
    StopT1,
}

use LinkAction as Do;
use LinkInput as On;
use LinkState as In;

type Row = Transition<LinkState, LinkInput, LinkAction>;

const fn row(from: In, on: On, to: In, actions: &'static [Do]) -> Row {
    Transition { from, on, to, actions }
}

const STOPPED: &[Do] = &[Do::StopT1, Do::StopMonitor, Do::SendSios, Do::IndicateOutOfService(Why::Stopped)];
const FAILED: &[Do] = &[Do::StopT1, Do::StopMonitor, Do::SendSios, Do::IndicateFailure];
const PEER_LEFT: &[Do] =
    &[Do::StopT1, Do::StopMonitor, Do::SendSios, Do::IndicateOutOfService(Why::PeerOutOfService)];
const NOT_READY: &[Do] = &[Do::StopMonitor, Do::SendSios, Do::IndicateOutOfService(Why::PeerNotReady)];

/// Table of the states of link state control and the transitions between them.
pub const LINK_STATE: StateMachine<LinkState, LinkInput, LinkAction> = StateMachine {
    name: "Link state control",
    source: "Q.703, figure 8",
    initial: In::OutOfService,
    transitions: &[
        row(In::OutOfService, On::Start, In::InitialAlignment, &[Do::StartAlignment]),
        row(
            In::InitialAlignment,
            On::AlignmentComplete,
            In::AlignedReady,
            &[Do::StartT1, Do::SendFillIn, Do::StartMonitor],
        ),
        row(
            In::InitialAlignment,
            On::AlignmentCompleteLocalOutage,
            In::AlignedNotReady,
            &[Do::StartT1, Do::SendSipo, Do::StartMonitor],
        ),
        row(
            In::InitialAlignment,
            On::AlignmentNotPossible,
            In::OutOfService,
            &[Do::SendSios, Do::IndicateOutOfService(Why::AlignmentNotPossible)],
        ),
        row(
            In::InitialAlignment,
            On::Stop,
            In::OutOfService,
            &[Do::StopAlignment, Do::SendSios, Do::IndicateOutOfService(Why::Stopped)],
        ),
        row(
            In::InitialAlignment,
            On::Failure,
            In::OutOfService,
            &[Do::StopAlignment, Do::SendSios, Do::IndicateFailure],
        ),
        row(In::AlignedReady, On::FillInOrMessage, In::InService, &[Do::StopT1, Do::IndicateInService]),
        row(
            In::AlignedReady,
            On::Sipo,
            In::ProcessorOutage,
            &[Do::StopT1, Do::IndicateInService, Do::IndicateRemoteOutage],
        ),
        row(In::AlignedReady, On::LocalOutage, In::AlignedNotReady, &[Do::SendSipo]),
        row(In::AlignedReady, On::PeerLeaves, In::OutOfService, PEER_LEFT),
        row(In::AlignedReady, On::T1Expired, In::OutOfService, NOT_READY),
        row(In::AlignedReady, On::Failure, In::OutOfService, FAILED),
        row(In::AlignedReady, On::Stop, In::OutOfService, STOPPED),
        row(
            In::AlignedNotReady,
            On::FillInOrMessage,
            In::ProcessorOutage,
            &[Do::StopT1, Do::IndicateInService],
        ),
        row(
            In::AlignedNotReady,
            On::Sipo,
            In::ProcessorOutage,
            &[Do::StopT1, Do::IndicateInService, Do::IndicateRemoteOutage],
        ),
        row(In::AlignedNotReady, On::LocalRecoveredAlone, In::AlignedReady, &[Do::SendFillIn]),
        row(In::AlignedNotReady, On::PeerLeaves, In::OutOfService, PEER_LEFT),
        row(In::AlignedNotReady, On::T1Expired, In::OutOfService, NOT_READY),
        row(In::AlignedNotReady, On::Failure, In::OutOfService, FAILED),
        row(In::AlignedNotReady, On::Stop, In::OutOfService, STOPPED),
        row(In::InService, On::LocalOutage, In::ProcessorOutage, &[Do::SendSipo]),
        row(In::InService, On::Sipo, In::ProcessorOutage, &[Do::IndicateRemoteOutage]),
        row(In::InService, On::PeerLeaves, In::OutOfService, PEER_LEFT),
        row(In::InService, On::PeerProves, In::OutOfService, PEER_LEFT),
        row(In::InService, On::Failure, In::OutOfService, FAILED),
        row(In::InService, On::Stop, In::OutOfService, STOPPED),
        row(In::ProcessorOutage, On::LocalOutage, In::ProcessorOutage, &[Do::SendSipo]),
        row(In::ProcessorOutage, On::LocalRecovered, In::ProcessorOutage, &[Do::SendFillIn]),
        row(In::ProcessorOutage, On::LocalRecoveredAlone, In::InService, &[Do::SendFillIn]),
        row(In::ProcessorOutage, On::Sipo, In::ProcessorOutage, &[Do::IndicateRemoteOutage]),
        row(In::ProcessorOutage, On::FillInOrMessage, In::ProcessorOutage, &[Do::IndicateRemoteRecovered]),
        row(In::ProcessorOutage, On::ContinueNoOutage, In::InService, &[Do::SendFillIn]),
        row(In::ProcessorOutage, On::PeerLeaves, In::OutOfService, PEER_LEFT),
        row(In::ProcessorOutage, On::PeerProves, In::OutOfService, PEER_LEFT),
        row(In::ProcessorOutage, On::Failure, In::OutOfService, FAILED),
        row(In::ProcessorOutage, On::Stop, In::OutOfService, STOPPED),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_taken() {
        assert_eq!(LINK_STATE.ambiguous(), None);
        assert_eq!(LINK_STATE.unreachable(), []);
    }

    #[test]
    fn every_state_can_be_stopped() {
        for row in LINK_STATE.transitions.iter().filter(|row| row.from != LinkState::OutOfService) {
            let stop = LINK_STATE.next(row.from, LinkInput::Stop).map(|row| row.to);
            assert_eq!(stop, Some(LinkState::OutOfService), "{:?}", row.from);
        }
    }
}
