//! Requests of ASPs to links: the messages of MAUP.

use slantpath_base::Instant;
use slantpath_sigtran::asp::{AspMessage, AspState, ErrorCode};
use slantpath_sigtran::common::MessageParseError;
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::link::LinkRequest;
use slantpath_ss7::mtp3::Fsn;

use crate::drops::DropReason;
use crate::interface::{InterfaceIdentifier, Interfaces};
use crate::m2ua::gateway::link::{self, Reception, Retrieval};
use crate::m2ua::gateway::{InterfaceTexts, SignallingGateway, SignallingGatewayOutput};
use crate::m2ua::machine::{GatewayLinkAction, GatewayLinkInput, LinkStatus};
use crate::m2ua::{Action, LinkEvent, LinkState, M2ua, M2uaParameter, Message, about, kind};
use crate::message::{CommonParameter, OwnMessage};

/// Gives the interfaces that a message about ASPs names.
pub(super) const fn scope_of(message: &AspMessage<M2ua>) -> Option<&Interfaces> {
    match message {
        AspMessage::AspActive { scope, .. } | AspMessage::AspInactive { scope, .. } => Some(scope),
        _ => None,
    }
}

impl SignallingGateway {
    /// A message of the layer's own classes.
    pub(super) fn handle_own(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: &OwnMessage<M2uaParameter>,
        octets: &[u8],
    ) {
        //= https://www.rfc-editor.org/rfc/rfc3331#section-4.3.4.1
        //# If the SGP receives any
        //# other M2UA messages before an ASP Up message is received (other than
        //# ASP Down - see Section 4.3.4.2), the SGP MAY discard them.
        if !self.asps.is_up(association) {
            self.drops.count(DropReason::AspNotActive);
            return;
        }
        match message.kind {
            kind::REGISTRATION_REQUEST => return self.handle_registration(now, association, message),
            kind::DEREGISTRATION_REQUEST => {
                return self.handle_deregistration(now, association, message, octets);
            }
            kind::REGISTRATION_RESPONSE | kind::DEREGISTRATION_RESPONSE => {
                return self.send_error(
                    association,
                    ErrorCode::UNEXPECTED_MESSAGE,
                    Interfaces::default(),
                    octets,
                );
            }
            _ => {}
        }
        let interface = match InterfaceIdentifier::of_header(message.common()) {
            Ok(Some(interface)) => interface,
            Ok(None) => return,
            Err(error) => return self.refuse_fault(association, error, octets),
        };
        let is_text = matches!(interface, InterfaceIdentifier::Text(_));
        if is_text && self.config.interface_texts == InterfaceTexts::Refused {
            let code = ErrorCode::UNSUPPORTED_INTERFACE_IDENTIFIER_TYPE;
            return self.refuse(association, code, &interface, octets);
        }
        //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.3.1
        //# The "Invalid Interface Identifier" error would be sent by a SGP if an
        //# ASP sends a message (i.e. an ASP Active message) with an invalid (not
        //# configured) Interface Identifier value.
        if !self.links.contains_key(&interface) {
            let code = ErrorCode::INVALID_INTERFACE_IDENTIFIER;
            return self.refuse(association, code, &interface, octets);
        }
        if self.asps.asp_state(association, &interface) != AspState::Active {
            self.drops.count(DropReason::AspNotActive);
            return;
        }
        self.handle_request(association, &interface, message, octets);
    }

    fn refuse_fault(&mut self, association: AssociationNumber, error: MessageParseError, octets: &[u8]) {
        self.send_error(association, error.error_code(), Interfaces::default(), octets);
    }

    /// A message of MAUP from an ASP that is active for the link.
    fn handle_request(
        &mut self,
        association: AssociationNumber,
        interface: &InterfaceIdentifier,
        message: &OwnMessage<M2uaParameter>,
        octets: &[u8],
    ) {
        match message.kind {
            kind::DATA => self.handle_data(association, interface, message),
            kind::ESTABLISH_REQUEST => self.put(association, interface, GatewayLinkInput::EstablishRequest),
            kind::RELEASE_REQUEST => self.put(association, interface, GatewayLinkInput::ReleaseRequest),
            kind::STATE_REQUEST => {
                let state = message.own().find_map(|parameter| match parameter {
                    M2uaParameter::StateRequest(state) => Some(*state),
                    _ => None,
                });
                if let Some(state) = state {
                    self.handle_state(association, interface, state);
                }
            }
            kind::RETRIEVAL_REQUEST => self.handle_retrieval(interface, message),
            // What an ASP acknowledges has no effect: the link's own acknowledgements do not wait for it.
            kind::DATA_ACKNOWLEDGE => {}
            _ => self.refuse(association, ErrorCode::UNEXPECTED_MESSAGE, interface, octets),
        }
    }

    fn handle_data(
        &mut self,
        association: AssociationNumber,
        interface: &InterfaceIdentifier,
        message: &OwnMessage<M2uaParameter>,
    ) {
        let unit = message.own().find_map(|parameter| match parameter {
            M2uaParameter::ProtocolData(octets) => Some(octets.clone()),
            // TTC's begins with the length indicator, which level 2 makes itself.
            M2uaParameter::ProtocolDataTtc(octets) => Some(octets.slice(octets.len().min(1)..)),
            _ => None,
        });
        let in_service = self.links.get(interface).is_some_and(|link| link.status == LinkStatus::InService);
        match unit {
            Some(unit) if in_service => {
                let request = LinkRequest::Transmit(unit);
                self.outputs.push_back(SignallingGatewayOutput::Link(interface.clone(), request));
            }
            _ => self.drops.count(DropReason::NotInService),
        }
        //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.1.2
        //# The Data Ack message MUST be sent if a Correlation Id parameter is
        //# received from the peer.  Otherwise, the Data Ack message MUST NOT be
        //# sent.
        let correlation =
            message.common().find(|parameter| matches!(parameter, CommonParameter::CorrelationId(_)));
        if let Some(correlation) = correlation {
            let acknowledgement = about(interface, kind::DATA_ACKNOWLEDGE);
            self.answer(association, interface, acknowledgement.with_common(correlation.clone()));
        }
    }

    /// Takes a row of the link's machine on an ASP's request: its answers go to that ASP.
    fn put(
        &mut self,
        association: AssociationNumber,
        interface: &InterfaceIdentifier,
        input: GatewayLinkInput,
    ) {
        let Some(link) = self.links.get_mut(interface) else { return };
        for action in link.step(input) {
            let request = match action {
                GatewayLinkAction::Start => LinkRequest::Start,
                GatewayLinkAction::Stop => LinkRequest::Stop,
                _ => {
                    if let Some(kind) = link::confirmation(*action) {
                        self.answer(association, interface, about(interface, kind));
                    }
                    continue;
                }
            };
            self.outputs.push_back(SignallingGatewayOutput::Link(interface.clone(), request));
        }
    }

    fn handle_state(
        &mut self,
        association: AssociationNumber,
        interface: &InterfaceIdentifier,
        state: LinkState,
    ) {
        let Some(link) = self.links.get_mut(interface) else { return };
        let request = match state {
            LinkState::LpoSet => Some(LinkRequest::LocalProcessorOutage),
            LinkState::LpoClear => Some(LinkRequest::LocalProcessorRecovered),
            LinkState::EmergencySet => Some(LinkRequest::Emergency),
            LinkState::EmergencyClear => Some(LinkRequest::EmergencyCeases),
            // A link can throw all its buffers away, or none: this is asked for after a link has failed, when the
            // transmit buffer is as stale as the other.
            LinkState::FlushBuffers | LinkState::ClearRetransmission => Some(LinkRequest::FlushBuffers),
            LinkState::Continue => Some(LinkRequest::Continue),
            LinkState::Audit => None,
            LinkState::CongestionClear => {
                link.reception = Reception::Clear;
                None
            }
            LinkState::CongestionAccept => {
                link.reception = Reception::Accept;
                None
            }
            LinkState::CongestionDiscard => {
                link.reception = Reception::Discard;
                None
            }
        };
        if let Some(request) = request {
            self.outputs.push_back(SignallingGatewayOutput::Link(interface.clone(), request));
        }
        match state {
            LinkState::Audit => self.report_state(association, interface),
            LinkState::CongestionAccept | LinkState::CongestionClear | LinkState::CongestionDiscard => {
                self.follow_congestion(interface);
            }
            _ => {}
        }
        //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.1.6
        //# The
        //# value of the State field SHOULD reflect the value received in the
        //# State Request message.
        let confirm = about(interface, kind::STATE_CONFIRM).with(M2uaParameter::StateRequest(state));
        self.answer(association, interface, confirm);
    }

    /// The state of a link as an audit has it (RFC 3331, section 5.3.8).
    fn report_state(&mut self, association: AssociationNumber, interface: &InterfaceIdentifier) {
        let Some(link) = self.links.get(interface) else { return };
        if link.status != LinkStatus::InService {
            return self.answer(association, interface, about(interface, kind::RELEASE_INDICATION));
        }
        let mut answers = vec![about(interface, kind::ESTABLISH_CONFIRM)];
        if link.congestion > 0 {
            answers.push(link.congestion_message(interface));
        }
        if link.is_remote_outage {
            let event = M2uaParameter::StateEvent(LinkEvent::RpoEnter);
            answers.push(about(interface, kind::STATE_INDICATION).with(event));
        }
        for answer in answers {
            self.answer(association, interface, answer);
        }
    }

    fn handle_retrieval(&mut self, interface: &InterfaceIdentifier, message: &OwnMessage<M2uaParameter>) {
        let Some(link) = self.links.get_mut(interface) else { return };
        let (mut action, mut sequence) = (Action::RetrieveBsn, None);
        for parameter in message.own() {
            match parameter {
                M2uaParameter::Action(asked) => action = *asked,
                M2uaParameter::SequenceNumber(number) => sequence = Some(Fsn(*number)),
                _ => {}
            }
        }
        let request = match (action, sequence) {
            (Action::RetrieveBsn, _) => LinkRequest::RetrieveBsnt,
            (Action::RetrieveMessages, sequence) => {
                link.retrieval = Retrieval::Asked;
                sequence.map_or(LinkRequest::RetrieveUnsent, LinkRequest::RetrieveMessagesAfter)
            }
        };
        self.outputs.push_back(SignallingGatewayOutput::Link(interface.clone(), request));
    }

    /// Answers one ASP, on the stream of the link.
    fn answer(
        &mut self,
        association: AssociationNumber,
        interface: &InterfaceIdentifier,
        message: OwnMessage<M2uaParameter>,
    ) {
        let at = self.links.keys().position(|key| key == interface).unwrap_or_default();
        self.transmit_traffic(association, at, &Message::Own(message));
    }
}
