//! One link as the ASP has it, and what the gateway tells of it.

use slantpath_base::Instant;
use slantpath_sigtran::asp::ErrorCode;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::Fsn;

use crate::drops::DropReason;
use crate::interface::InterfaceIdentifier;
use crate::m2ua::machine::{LinkStatus, PROCESS_LINK_MACHINE, ProcessLinkAction, ProcessLinkInput};
use crate::m2ua::process::{LinkProcess, LinkProcessEvent, LinkProcessOutput};
use crate::m2ua::{Action, LinkEvent, LinkState, M2uaParameter, kind};
use crate::message::OwnMessage;

/// Item of the link's buffers for which MTP3 waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Retrieval {
    #[default]
    None,
    Bsn,
    Messages,
}

impl Retrieval {
    /// Gives the indication that MTP3 gets when nothing can come any more.
    pub(super) const fn lost(self) -> Option<LinkIndication> {
        match self {
            Self::None => None,
            Self::Bsn => Some(LinkIndication::BsntNotRetrievable),
            Self::Messages => Some(LinkIndication::RetrievalNotPossible),
        }
    }
}

/// Link at the ASP.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub(super) status: LinkStatus,
    /// Instant at which a request is retransmitted.
    pub(super) deadline: Option<Instant>,
    /// True if MTP3 has started it.
    pub(super) is_wanted: bool,
    is_emergency: bool,
    is_local_outage: bool,
    /// Congestion status of the link that the gateway told last.
    pub(super) congestion: u8,
    pub(super) reported_congestion: u8,
    pub(super) retrieval: Retrieval,
}

impl Link {
    /// Remembers what MTP3 wants, for when the link can be reached.
    pub(super) const fn note_wanted(&mut self, request: &LinkRequest) {
        match request {
            LinkRequest::Start => self.is_wanted = true,
            LinkRequest::Stop => self.is_wanted = false,
            LinkRequest::Emergency => self.is_emergency = true,
            LinkRequest::EmergencyCeases => self.is_emergency = false,
            LinkRequest::LocalProcessorOutage => self.is_local_outage = true,
            LinkRequest::LocalProcessorRecovered => self.is_local_outage = false,
            _ => {}
        }
    }

    /// The states to ask for before the link is established.
    pub(super) fn wanted_states(&self) -> Vec<LinkState> {
        let emergency = self.is_emergency.then_some(LinkState::EmergencySet);
        let outage = self.is_local_outage.then_some(LinkState::LpoSet);
        emergency.into_iter().chain(outage).collect()
    }
}

impl LinkProcess {
    /// Takes a row of a link's machine.
    pub(super) fn put(&mut self, now: Instant, interface: &InterfaceIdentifier, input: ProcessLinkInput) {
        let deadline = now + self.config.confirmation;
        let Some(link) = self.links.get_mut(interface) else { return };
        let Some(row) = PROCESS_LINK_MACHINE.next(link.status, input) else { return };
        let reason = match (link.status, input) {
            (_, ProcessLinkInput::Lost) => OutOfServiceReason::BearerFailed,
            (LinkStatus::Releasing, _) => OutOfServiceReason::Stopped,
            (LinkStatus::Establishing, _) => OutOfServiceReason::AlignmentNotPossible,
            _ => OutOfServiceReason::PeerOutOfService,
        };
        link.status = row.to;
        if row.to == LinkStatus::OutOfService {
            (link.congestion, link.reported_congestion) = (0, 0);
        }
        for action in row.actions {
            match action {
                ProcessLinkAction::IndicateInService => self.indicate(interface, LinkIndication::InService),
                ProcessLinkAction::IndicateOutOfService => {
                    self.indicate(interface, LinkIndication::OutOfService(reason));
                }
                ProcessLinkAction::SendEstablishRequest => {
                    self.request(interface, kind::ESTABLISH_REQUEST, deadline);
                }
                ProcessLinkAction::SendReleaseRequest => {
                    self.request(interface, kind::RELEASE_REQUEST, deadline);
                }
                ProcessLinkAction::StopTimer => {
                    if let Some(link) = self.links.get_mut(interface) {
                        link.deadline = None;
                    }
                }
            }
        }
    }

    fn request(
        &mut self,
        interface: &InterfaceIdentifier,
        kind: slantpath_sigtran::common::MessageKind,
        deadline: Instant,
    ) {
        if let Some(link) = self.links.get_mut(interface) {
            link.deadline = Some(deadline);
        }
        let request = crate::m2ua::about(interface, kind);
        self.transmit_about(interface, request);
    }

    /// MTP3 stops a link that cannot be reached: it is stopped.
    pub(super) fn indicate_stopped(&mut self, interface: &InterfaceIdentifier) {
        self.indicate(interface, LinkIndication::OutOfService(OutOfServiceReason::Stopped));
    }

    /// Takes an indication of the gateway about a link.
    pub(super) fn handle_indication(
        &mut self,
        now: Instant,
        interface: &InterfaceIdentifier,
        message: &OwnMessage<M2uaParameter>,
        octets: &[u8],
    ) {
        match message.kind {
            kind::DATA => self.handle_data(interface, message),
            kind::ESTABLISH_CONFIRM => self.put(now, interface, ProcessLinkInput::EstablishConfirm),
            kind::RELEASE_CONFIRM => self.put(now, interface, ProcessLinkInput::ReleaseConfirm),
            kind::RELEASE_INDICATION => self.put(now, interface, ProcessLinkInput::ReleaseIndication),
            kind::STATE_CONFIRM
            | kind::STATE_INDICATION
            | kind::CONGESTION_INDICATION
            | kind::RETRIEVAL_CONFIRM
            | kind::RETRIEVAL_INDICATION
            | kind::RETRIEVAL_COMPLETE_INDICATION => self.handle_parameters(interface, message),
            kind::DATA_ACKNOWLEDGE => {}
            _ => self.refuse(ErrorCode::UNEXPECTED_MESSAGE, interface, octets),
        }
    }

    fn handle_data(&mut self, interface: &InterfaceIdentifier, message: &OwnMessage<M2uaParameter>) {
        let in_service = self.links.get(interface).is_some_and(|link| link.status == LinkStatus::InService);
        let unit = message.own().find_map(|parameter| match parameter {
            M2uaParameter::ProtocolData(octets) => Some(octets.clone()),
            M2uaParameter::ProtocolDataTtc(octets) => Some(octets.slice(octets.len().min(1)..)),
            _ => None,
        });
        match unit {
            Some(octets) if in_service => self.indicate(interface, LinkIndication::Received(octets)),
            _ => self.drops.count(DropReason::NotInService),
        }
        self.acknowledge(interface, message);
    }

    fn handle_parameters(&mut self, interface: &InterfaceIdentifier, message: &OwnMessage<M2uaParameter>) {
        let Some(link) = self.links.get_mut(interface) else { return };
        let (mut action, mut succeeded, mut sequence, mut unit) = (None, true, None, None);
        for parameter in message.own() {
            match parameter {
                M2uaParameter::StateRequest(state) => {
                    let event = LinkProcessEvent::StateConfirmed(interface.clone(), *state);
                    self.outputs.push_back(LinkProcessOutput::Event(event));
                }
                M2uaParameter::StateEvent(LinkEvent::RpoEnter) => {
                    let indication = LinkIndication::RemoteProcessorOutage;
                    self.outputs.push_back(LinkProcessOutput::Link(interface.clone(), indication));
                }
                M2uaParameter::StateEvent(LinkEvent::RpoExit) => {
                    let indication = LinkIndication::RemoteProcessorRecovered;
                    self.outputs.push_back(LinkProcessOutput::Link(interface.clone(), indication));
                }
                M2uaParameter::CongestionStatus(level) => {
                    link.congestion = u8::try_from(*level).unwrap_or(u8::MAX);
                }
                M2uaParameter::Action(asked) => action = Some(*asked),
                M2uaParameter::RetrievalResult(result) => succeeded = *result == 0,
                M2uaParameter::SequenceNumber(number) => sequence = Some(Fsn(*number)),
                M2uaParameter::ProtocolData(octets) => unit = Some(octets.clone()),
                M2uaParameter::ProtocolDataTtc(octets) => {
                    unit = Some(octets.slice(octets.len().min(1)..));
                }
                // The gateway's own outage of level 3, among them, is what MTP3 asked for.
                _ => {}
            }
        }
        match message.kind {
            kind::CONGESTION_INDICATION => self.report_congestion(interface),
            kind::RETRIEVAL_CONFIRM => self.handle_retrieval(interface, action, succeeded, sequence),
            kind::RETRIEVAL_INDICATION | kind::RETRIEVAL_COMPLETE_INDICATION => {
                if let Some(octets) = unit {
                    self.indicate(interface, LinkIndication::Retrieved(octets));
                }
                if message.kind == kind::RETRIEVAL_COMPLETE_INDICATION {
                    self.end_retrieval(interface);
                    self.indicate(interface, LinkIndication::RetrievalComplete);
                }
            }
            _ => {}
        }
    }

    fn handle_retrieval(
        &mut self,
        interface: &InterfaceIdentifier,
        action: Option<Action>,
        succeeded: bool,
        sequence: Option<Fsn>,
    ) {
        match (action, succeeded, sequence) {
            (Some(Action::RetrieveBsn), true, Some(number)) => {
                self.end_retrieval(interface);
                self.indicate(interface, LinkIndication::Bsnt(number));
            }
            (Some(Action::RetrieveBsn), _, _) => {
                self.end_retrieval(interface);
                self.indicate(interface, LinkIndication::BsntNotRetrievable);
            }
            // The messages follow.
            (Some(Action::RetrieveMessages), true, _) => {}
            (Some(Action::RetrieveMessages), false, _) | (None, _, _) => {
                self.end_retrieval(interface);
                self.indicate(interface, LinkIndication::RetrievalNotPossible);
            }
        }
    }

    fn end_retrieval(&mut self, interface: &InterfaceIdentifier) {
        if let Some(link) = self.links.get_mut(interface) {
            link.retrieval = Retrieval::None;
        }
    }
}
