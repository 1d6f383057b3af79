//! The application server process of M2UA: links that are at a signalling gateway, as an MTP3 here sees them.
//!
//! To MTP3 it gives what a link of level 2 or of M2PA gives. A link that cannot be reached, for whatever reason, is out
//! of service; one that MTP3 has started is asked for again as soon as its traffic is granted again.

mod link;

use std::collections::{BTreeMap, VecDeque};

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{
    self, AspMessage, AspState, ErrorCode, Process, ProcessConfig, ProcessEvent, ProcessOutput, Scope,
    ServerName, TrafficMode,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp3::Fsn;

use crate::drops::{DropReason, Drops};
use crate::interface::{InterfaceIdentifier, Interfaces};
use crate::m2ua::machine::{LinkStatus, ProcessLinkInput};
use crate::m2ua::{
    Action, DeregistrationResult, LinkKey, LinkState, M2uaParameter, Message, RegistrationResult, kind,
};
use crate::message::{CommonParameter, OwnMessage, Received, Streams};
use link::{Link, Retrieval};

/// Settings of an ASP of M2UA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkProcessConfig {
    /// Settings of the ASP towards the gateway.
    pub asp: ProcessConfig,
    /// Time that an Establish or Release Request may take before it is retransmitted. Alignment at the gateway takes
    /// seconds, proving included: Q.703 lets it take T4 and some of T1 to T3.
    pub confirmation: Duration,
}

impl Default for LinkProcessConfig {
    fn default() -> Self {
        Self { asp: ProcessConfig::default(), confirmation: Duration::from_secs(30) }
    }
}

/// Output of an ASP of M2UA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkProcessOutput {
    /// Something that management may want to know.
    Event(LinkProcessEvent),
    /// Indication of a link to MTP3.
    Link(InterfaceIdentifier, LinkIndication),
    /// A message to send.
    Transmit(Transmit),
    /// Nothing more until then, or until something comes in.
    Wait(Option<Instant>),
}

/// Something that management may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkProcessEvent {
    /// About the ASP.
    Asp(ProcessEvent<InterfaceIdentifier>),
    /// Outcome of a deregistration.
    Deregistered(DeregistrationResult),
    /// Outcome of a registration.
    Registered(RegistrationResult),
    /// The gateway has done what a State Request asked.
    StateConfirmed(InterfaceIdentifier, LinkState),
}

/// An ASP with its association to a gateway.
#[derive(Clone, Debug)]
pub struct LinkProcess {
    config: LinkProcessConfig,
    association: AssociationNumber,
    streams: Streams,
    is_congested: bool,
    asp: Process<crate::m2ua::M2ua>,
    links: BTreeMap<InterfaceIdentifier, Link>,
    outputs: VecDeque<LinkProcessOutput>,
    drops: Drops,
}

impl LinkProcess {
    /// An ASP without links, for that association.
    ///
    /// # Errors
    /// If a timer is out of its range.
    pub fn new(association: AssociationNumber, config: LinkProcessConfig) -> Result<Self, asp::ConfigError> {
        Ok(Self {
            config,
            association,
            streams: Streams(1),
            is_congested: false,
            asp: Process::new(config.asp)?,
            links: BTreeMap::new(),
            outputs: VecDeque::new(),
            drops: Drops::default(),
        })
    }

    /// Adds a link of the gateway's, and how its traffic is shared among ASPs.
    pub fn add_link(&mut self, interface: InterfaceIdentifier, mode: Option<TrafficMode>) {
        self.asp.add_server(ServerName::Named(interface.clone()), mode);
        self.links.entry(interface).or_default();
    }

    /// The ASP's state, to look at.
    pub const fn asp(&self) -> &Process<crate::m2ua::M2ua> {
        &self.asp
    }

    /// Gives the counts of discarded messages.
    pub const fn drops(&self) -> &Drops {
        &self.drops
    }

    /// The state of a link, if there is one of this name.
    pub fn link_status(&self, interface: &InterfaceIdentifier) -> Option<LinkStatus> {
        self.links.get(interface).map(|link| link.status)
    }

    /// Comes up, and takes the traffic of all links, as soon as the association is there.
    pub fn start(&mut self, now: Instant) {
        self.asp.up(now);
        self.asp.activate(now, &[]);
        self.drain_asp(now);
    }

    /// Takes the M-ASP_UP request.
    pub fn up(&mut self, now: Instant) {
        self.asp.up(now);
        self.drain_asp(now);
    }

    /// Takes the M-ASP_DOWN request.
    pub fn down(&mut self, now: Instant) {
        self.asp.down(now);
        self.drain_asp(now);
    }

    /// M-ASP_ACTIVE request for these links, for all if none is named.
    pub fn activate(&mut self, now: Instant, interfaces: &[InterfaceIdentifier]) {
        let names: Vec<_> = interfaces.iter().cloned().map(ServerName::Named).collect();
        self.asp.activate(now, &names);
        self.drain_asp(now);
    }

    /// M-ASP_INACTIVE request for these links, for all if none is named.
    pub fn deactivate(&mut self, now: Instant, interfaces: &[InterfaceIdentifier]) {
        let names: Vec<_> = interfaces.iter().cloned().map(ServerName::Named).collect();
        self.asp.deactivate(now, &names);
        self.drain_asp(now);
    }

    /// M-LINK_KEY_REG request. False, and nothing is sent, while the ASP is not up.
    pub fn register(&mut self, keys: &[LinkKey]) -> bool {
        if self.asp.is_up() {
            let request = keys.iter().fold(OwnMessage::empty(kind::REGISTRATION_REQUEST), |request, key| {
                request.with(M2uaParameter::LinkKey(*key))
            });
            self.transmit(StreamNumber(0), &Message::Own(request));
        }
        self.asp.is_up()
    }

    /// M-LINK_KEY_DEREG request. False, and nothing is sent, while the ASP is not up.
    pub fn deregister(&mut self, interfaces: &[InterfaceIdentifier]) -> bool {
        if self.asp.is_up() {
            let empty = OwnMessage::empty(kind::DEREGISTRATION_REQUEST);
            let request = interfaces
                .iter()
                .fold(empty, |request, interface| request.with_common(interface.to_parameter()));
            self.transmit(StreamNumber(0), &Message::Own(request));
        }
        self.asp.is_up()
    }

    /// Gives the next output; after everything, the instant until which to wait.
    pub fn poll_output(&mut self, _now: Instant) -> LinkProcessOutput {
        let deadlines = self.links.values().filter_map(|link| link.deadline);
        let wait = LinkProcessOutput::Wait(deadlines.chain(self.asp.next_deadline()).min());
        self.outputs.pop_front().unwrap_or(wait)
    }

    /// Does what is due by now.
    pub fn handle_deadline(&mut self, now: Instant) {
        self.asp.handle_deadline(now);
        self.drain_asp(now);
        let due = |link: &Link| link.deadline.is_some_and(|deadline| deadline <= now);
        let due: Vec<_> =
            self.links.iter().filter(|(_, link)| due(link)).map(|(interface, _)| interface.clone()).collect();
        for interface in due {
            if let Some(link) = self.links.get_mut(&interface) {
                link.deadline = None;
            }
            self.put(now, &interface, ProcessLinkInput::Timeout);
        }
    }

    /// Takes an input from the transport.
    pub fn handle_transport(&mut self, now: Instant, input: TransportInput) {
        if input == TransportInput::Down {
            self.is_congested = false;
        }
        match self.streams.handle::<M2uaParameter>(now, input, &mut self.asp, &mut self.drops) {
            Received::Answer(answer) => self.transmit(StreamNumber(0), &Message::Asp(answer)),
            // Congestion is told upwards before anything is refused.
            Received::Congested(is_congested) => {
                self.is_congested = is_congested;
                let interfaces: Vec<_> = self.links.keys().cloned().collect();
                for interface in interfaces {
                    self.report_congestion(&interface);
                }
            }
            Received::Message(Message::Asp(message), octets) => {
                self.asp.handle_message(now, message, &octets);
            }
            Received::Message(Message::Own(message), octets) => self.handle_own(now, &message, &octets),
            Received::Nothing => {}
        }
        self.drain_asp(now);
    }

    fn drain_asp(&mut self, now: Instant) {
        while let Some(output) = self.asp.poll_output() {
            match output {
                ProcessOutput::Send(message) => self.transmit(StreamNumber(0), &Message::Asp(message)),
                ProcessOutput::Event(event) => {
                    if let ProcessEvent::Asp(ServerName::Named(interface), state) = &event {
                        self.handle_state(now, interface, *state);
                    }
                    self.outputs.push_back(LinkProcessOutput::Event(LinkProcessEvent::Asp(event)));
                }
            }
        }
    }

    /// A link's traffic was granted, or is gone.
    fn handle_state(&mut self, now: Instant, interface: &InterfaceIdentifier, state: AspState) {
        let Some(link) = self.links.get_mut(interface) else { return };
        if state != AspState::Active {
            let lost = link.retrieval.lost();
            link.retrieval = Retrieval::None;
            self.put(now, interface, ProcessLinkInput::Lost);
            if let Some(indication) = lost {
                self.indicate(interface, indication);
            }
        } else if link.is_wanted {
            let states = link.wanted_states();
            for state in states {
                self.request_state(interface, state);
            }
            self.put(now, interface, ProcessLinkInput::Start);
        }
    }

    fn is_active(&self, interface: &InterfaceIdentifier) -> bool {
        self.asp.state(&ServerName::Named(interface.clone())) == AspState::Active
    }

    /// Takes a request of MTP3 to a link.
    pub fn handle_request(&mut self, now: Instant, interface: &InterfaceIdentifier, request: LinkRequest) {
        let is_active = self.is_active(interface);
        let Some(link) = self.links.get_mut(interface) else {
            self.drops.count(DropReason::NoRoute);
            return;
        };
        link.note_wanted(&request);
        if !is_active {
            // What is wanted is asked for when the traffic is granted; what cannot wait is answered.
            match request {
                LinkRequest::Stop => self.indicate_stopped(interface),
                LinkRequest::RetrieveBsnt => self.indicate(interface, LinkIndication::BsntNotRetrievable),
                LinkRequest::RetrieveMessagesAfter(_) | LinkRequest::RetrieveUnsent => {
                    self.indicate(interface, LinkIndication::RetrievalNotPossible);
                }
                LinkRequest::Transmit(_) => self.drops.count(DropReason::AspNotActive),
                _ => {}
            }
            return;
        }
        match request {
            LinkRequest::Start => self.put(now, interface, ProcessLinkInput::Start),
            LinkRequest::Stop => self.put(now, interface, ProcessLinkInput::Stop),
            LinkRequest::Continue => self.request_state(interface, LinkState::Continue),
            LinkRequest::Emergency => self.request_state(interface, LinkState::EmergencySet),
            LinkRequest::EmergencyCeases => self.request_state(interface, LinkState::EmergencyClear),
            LinkRequest::FlushBuffers => self.request_state(interface, LinkState::FlushBuffers),
            LinkRequest::LocalProcessorOutage => self.request_state(interface, LinkState::LpoSet),
            LinkRequest::LocalProcessorRecovered => self.request_state(interface, LinkState::LpoClear),
            LinkRequest::RetrieveBsnt => self.request_retrieval(interface, Action::RetrieveBsn, None),
            LinkRequest::RetrieveMessagesAfter(number) => {
                self.request_retrieval(interface, Action::RetrieveMessages, Some(number));
            }
            LinkRequest::RetrieveUnsent => {
                self.request_retrieval(interface, Action::RetrieveMessages, None);
            }
            LinkRequest::Transmit(_) if link.status != LinkStatus::InService => {
                self.drops.count(DropReason::NotInService);
            }
            LinkRequest::Transmit(octets) => {
                let data = OwnMessage::empty(kind::DATA)
                    .with_common(interface.to_parameter())
                    .with(M2uaParameter::ProtocolData(octets));
                self.transmit_about(interface, data);
            }
        }
    }

    /// Asks the gateway for the state of a link as it is.
    pub fn audit(&mut self, interface: &InterfaceIdentifier) {
        if self.is_active(interface) {
            self.request_state(interface, LinkState::Audit);
        }
    }

    fn request_state(&mut self, interface: &InterfaceIdentifier, state: LinkState) {
        let request = super::about(interface, kind::STATE_REQUEST).with(M2uaParameter::StateRequest(state));
        self.transmit_about(interface, request);
    }

    fn request_retrieval(&mut self, interface: &InterfaceIdentifier, action: Action, after: Option<Fsn>) {
        let mut request =
            super::about(interface, kind::RETRIEVAL_REQUEST).with(M2uaParameter::Action(action));
        if let Some(number) = after {
            request = request.with(M2uaParameter::SequenceNumber(number.0));
        }
        if let Some(link) = self.links.get_mut(interface) {
            link.retrieval = match action {
                Action::RetrieveBsn => Retrieval::Bsn,
                Action::RetrieveMessages => Retrieval::Messages,
            };
        }
        self.transmit_about(interface, request);
    }

    fn transmit_about(&mut self, interface: &InterfaceIdentifier, message: OwnMessage<M2uaParameter>) {
        let at = self.links.keys().position(|key| key == interface).unwrap_or_default();
        self.transmit(super::stream_of(at, self.streams.0), &Message::Own(message));
    }

    fn transmit(&mut self, stream: StreamNumber, message: &Message) {
        if self.asp.is_connected() {
            let transmit = super::transmit(self.association, stream, message);
            self.outputs.push_back(LinkProcessOutput::Transmit(transmit));
        } else {
            self.drops.count(DropReason::AssociationDown);
        }
    }

    fn refuse(&mut self, code: ErrorCode, interface: &InterfaceIdentifier, octets: &[u8]) {
        self.drops.count(DropReason::Refused);
        let scope = Interfaces::of(std::slice::from_ref(interface));
        self.transmit(StreamNumber(0), &Message::Asp(AspMessage::error(code, scope, octets)));
    }

    /// A message of the layer's own classes.
    fn handle_own(&mut self, now: Instant, message: &OwnMessage<M2uaParameter>, octets: &[u8]) {
        if matches!(message.kind, kind::REGISTRATION_RESPONSE | kind::DEREGISTRATION_RESPONSE) {
            for parameter in message.own() {
                let event = match parameter {
                    M2uaParameter::RegistrationResult(result) => LinkProcessEvent::Registered(result.clone()),
                    M2uaParameter::DeregistrationResult(result) => {
                        LinkProcessEvent::Deregistered(result.clone())
                    }
                    _ => continue,
                };
                self.outputs.push_back(LinkProcessOutput::Event(event));
            }
            return;
        }
        let interface = match InterfaceIdentifier::of_header(message.common()) {
            Ok(Some(interface)) => interface,
            Ok(None) => {
                // Only requests to register have no header, and those are for a gateway.
                self.drops.count(DropReason::Refused);
                let error = AspMessage::error(ErrorCode::UNEXPECTED_MESSAGE, Interfaces::default(), octets);
                return self.transmit(StreamNumber(0), &Message::Asp(error));
            }
            Err(error) => {
                self.drops.count(DropReason::Refused);
                let error = AspMessage::error(error.error_code(), Interfaces::default(), octets);
                return self.transmit(StreamNumber(0), &Message::Asp(error));
            }
        };
        if !self.links.contains_key(&interface) {
            return self.refuse(ErrorCode::INVALID_INTERFACE_IDENTIFIER, &interface, octets);
        }
        //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.3.1
        //# The "Unexpected Message" error would be sent by an ASP if it received
        //# a MAUP message from an SGP while it was in the Inactive state.
        if !self.is_active(&interface) {
            return self.refuse(ErrorCode::UNEXPECTED_MESSAGE, &interface, octets);
        }
        self.handle_indication(now, &interface, message, octets);
    }

    fn report_congestion(&mut self, interface: &InterfaceIdentifier) {
        let is_congested = self.is_congested;
        let Some(link) = self.links.get_mut(interface) else { return };
        let level = link.congestion.max(u8::from(is_congested));
        if level != link.reported_congestion {
            link.reported_congestion = level;
            self.indicate(interface, LinkIndication::Congestion(level));
        }
    }

    fn indicate(&mut self, interface: &InterfaceIdentifier, indication: LinkIndication) {
        self.outputs.push_back(LinkProcessOutput::Link(interface.clone(), indication));
    }

    /// Confirms a Data message that asks for it.
    fn acknowledge(&mut self, interface: &InterfaceIdentifier, message: &OwnMessage<M2uaParameter>) {
        let is_correlation =
            |parameter: &&CommonParameter| matches!(parameter, CommonParameter::CorrelationId(_));
        if let Some(correlation) = message.common().find(is_correlation) {
            let acknowledgement =
                super::about(interface, kind::DATA_ACKNOWLEDGE).with_common(correlation.clone());
            self.transmit_about(interface, acknowledgement);
        }
    }
}
