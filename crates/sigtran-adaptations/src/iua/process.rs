//! The application server process of IUA: data links that are at a signalling gateway, as a Q.931 here sees them.

use std::collections::{BTreeMap, VecDeque};

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{
    self, AspMessage, AspState, ErrorCode, Process, ProcessConfig, ProcessEvent, ProcessOutput, ServerName,
    TrafficMode,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};

use crate::drops::{DropReason, Drops};
use crate::interface::{InterfaceIdentifier, Interfaces};
use crate::iua::machine::{DATA_LINK_MACHINE, DataLinkAction, DataLinkInput, DataLinkState};
use crate::iua::{
    DataLinkIndication, DataLinkRequest, Dlci, Iua, IuaParameter, Message, ReleaseReason, TeiStatus, about,
    content, kind, stream_of, transmit,
};
use crate::message::{OwnMessage, Received, Streams};

/// Settings of an ASP of IUA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLinkProcessConfig {
    /// Settings of the ASP towards the gateway.
    pub asp: ProcessConfig,
    /// Time that an Establish or Release Request may take. Q.921 tries N200 + 1 = 4 times, T200 = 1 s apart.
    pub confirmation: Duration,
    /// Greatest number of data links.
    pub data_links_max: usize,
}

impl Default for DataLinkProcessConfig {
    fn default() -> Self {
        Self { asp: ProcessConfig::default(), confirmation: Duration::from_secs(5), data_links_max: 10_000 }
    }
}

/// Output of an ASP of IUA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataLinkProcessOutput {
    /// Indication or confirmation of a data link to Q.931.
    DataLink(InterfaceIdentifier, Dlci, DataLinkIndication),
    /// Status of a terminal endpoint, from the gateway.
    Endpoint(InterfaceIdentifier, Dlci, TeiStatus),
    /// Something that management may want to know.
    Event(DataLinkProcessEvent),
    /// A message to send.
    Transmit(Transmit),
    /// Nothing more until then, or until something comes in.
    Wait(Option<Instant>),
}

/// Something that management may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataLinkProcessEvent {
    /// About the ASP.
    Asp(ProcessEvent<InterfaceIdentifier>),
    /// The transport is congested, or no longer: offer less.
    Congested(bool),
}

#[derive(Clone, Copy, Debug, Default)]
struct DataLink {
    state: DataLinkState,
    deadline: Option<Instant>,
}

/// An ASP with its association to a gateway.
#[derive(Clone, Debug)]
pub struct DataLinkProcess {
    config: DataLinkProcessConfig,
    association: AssociationNumber,
    streams: Streams,
    asp: Process<Iua>,
    links: BTreeMap<(InterfaceIdentifier, Dlci), DataLink>,
    outputs: VecDeque<DataLinkProcessOutput>,
    drops: Drops,
}

impl DataLinkProcess {
    /// An ASP without interfaces, for that association.
    ///
    /// # Errors
    /// If a timer is out of its range.
    pub fn new(
        association: AssociationNumber,
        config: DataLinkProcessConfig,
    ) -> Result<Self, asp::ConfigError> {
        Ok(Self {
            config,
            association,
            streams: Streams(1),
            asp: Process::new(config.asp)?,
            links: BTreeMap::new(),
            outputs: VecDeque::new(),
            drops: Drops::default(),
        })
    }

    /// Adds an interface of the gateway's. IUA must always say the traffic mode.
    pub fn add_interface(&mut self, interface: InterfaceIdentifier, mode: TrafficMode) {
        self.asp.add_server(ServerName::Named(interface), Some(mode));
    }

    /// The ASP's state, to look at.
    pub const fn asp(&self) -> &Process<Iua> {
        &self.asp
    }

    /// Gives the counts of discarded messages.
    pub const fn drops(&self) -> &Drops {
        &self.drops
    }

    /// The state of a data link.
    pub fn state(&self, interface: &InterfaceIdentifier, dlci: Dlci) -> DataLinkState {
        self.links.get(&(interface.clone(), dlci)).map_or(DataLinkState::Released, |link| link.state)
    }

    /// Comes up, and takes the traffic of all interfaces, as soon as the association is there.
    pub fn start(&mut self, now: Instant) {
        self.asp.up(now);
        self.asp.activate(now, &[]);
        self.drain_asp(now);
    }

    /// Takes the M-ASP_DOWN request.
    pub fn down(&mut self, now: Instant) {
        self.asp.down(now);
        self.drain_asp(now);
    }

    /// M-ASP_INACTIVE request for these interfaces, for all if none is named.
    pub fn deactivate(&mut self, now: Instant, interfaces: &[InterfaceIdentifier]) {
        let names: Vec<_> = interfaces.iter().cloned().map(ServerName::Named).collect();
        self.asp.deactivate(now, &names);
        self.drain_asp(now);
    }

    /// Gives the next output; after everything, the instant until which to wait.
    pub fn poll_output(&mut self, _now: Instant) -> DataLinkProcessOutput {
        let deadlines = self.links.values().filter_map(|link| link.deadline);
        let wait = DataLinkProcessOutput::Wait(deadlines.chain(self.asp.next_deadline()).min());
        self.outputs.pop_front().unwrap_or(wait)
    }

    /// Does what is due by now.
    pub fn handle_deadline(&mut self, now: Instant) {
        self.asp.handle_deadline(now);
        self.drain_asp(now);
        let due = |link: &DataLink| link.deadline.is_some_and(|deadline| deadline <= now);
        let due: Vec<_> =
            self.links.iter().filter(|(_, link)| due(link)).map(|(key, _)| key.clone()).collect();
        for (interface, dlci) in due {
            self.put(now, &interface, dlci, DataLinkInput::Timeout, ReleaseReason::Management);
        }
    }

    /// Takes an input from the transport.
    pub fn handle_transport(&mut self, now: Instant, input: TransportInput) {
        match self.streams.handle::<IuaParameter>(now, input, &mut self.asp, &mut self.drops) {
            Received::Answer(answer) => self.transmit(StreamNumber(0), Message::Asp(answer)),
            Received::Congested(is_congested) => {
                let event = DataLinkProcessEvent::Congested(is_congested);
                self.outputs.push_back(DataLinkProcessOutput::Event(event));
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
                ProcessOutput::Send(message) => self.transmit(StreamNumber(0), Message::Asp(message)),
                ProcessOutput::Event(event) => {
                    if let ProcessEvent::Asp(ServerName::Named(interface), state) = &event
                        && *state != AspState::Active
                    {
                        self.lose(now, interface);
                    }
                    let event = DataLinkProcessEvent::Asp(event);
                    self.outputs.push_back(DataLinkProcessOutput::Event(event));
                }
            }
        }
    }

    /// The data links of an interface that is no longer served are released.
    fn lose(&mut self, now: Instant, interface: &InterfaceIdentifier) {
        let of_interface = self.links.keys().filter(|(of, _)| of == interface);
        let dlcis: Vec<Dlci> = of_interface.map(|(_, dlci)| *dlci).collect();
        for dlci in dlcis {
            self.put(now, interface, dlci, DataLinkInput::Lost, ReleaseReason::Other);
        }
    }

    fn is_active(&self, interface: &InterfaceIdentifier) -> bool {
        self.asp.state(&ServerName::Named(interface.clone())) == AspState::Active
    }

    /// Takes a request of Q.931 to a data link. A request that cannot be granted is answered by a release, or counted.
    pub fn handle_request(
        &mut self,
        now: Instant,
        interface: &InterfaceIdentifier,
        dlci: Dlci,
        request: DataLinkRequest,
    ) {
        if !self.is_active(interface) {
            let indication = match request {
                DataLinkRequest::Establish => DataLinkIndication::ReleasedByPeer(ReleaseReason::Other),
                DataLinkRequest::Release(_) => DataLinkIndication::Released,
                DataLinkRequest::Data(_) | DataLinkRequest::UnitData(_) => {
                    return self.drops.count(DropReason::AspNotActive);
                }
            };
            return self.indicate(interface, dlci, indication);
        }
        match request {
            DataLinkRequest::Establish => {
                self.put(now, interface, dlci, DataLinkInput::Establish, ReleaseReason::Other);
            }
            DataLinkRequest::Release(reason) => {
                self.put(now, interface, dlci, DataLinkInput::Release, reason);
            }
            DataLinkRequest::Data(_) if self.state(interface, dlci) != DataLinkState::Established => {
                self.drops.count(DropReason::NotInService);
            }
            request @ (DataLinkRequest::Data(_) | DataLinkRequest::UnitData(_)) => {
                self.transmit_request(interface, dlci, request);
            }
        }
    }

    /// Asks for the status of a terminal endpoint.
    pub fn request_status(&mut self, interface: &InterfaceIdentifier, dlci: Dlci) {
        self.request_management(interface, dlci, kind::TEI_STATUS_REQUEST);
    }

    /// Asks for all terminal endpoints of an interface that are assigned.
    pub fn query_endpoints(&mut self, interface: &InterfaceIdentifier) {
        self.request_management(interface, Dlci::call_control(0), kind::TEI_QUERY_REQUEST);
    }

    fn request_management(
        &mut self,
        interface: &InterfaceIdentifier,
        dlci: Dlci,
        kind: slantpath_sigtran::common::MessageKind,
    ) {
        if self.is_active(interface) {
            self.transmit(StreamNumber(0), Message::Own(about(interface, dlci, kind)));
        } else {
            self.drops.count(DropReason::AspNotActive);
        }
    }

    /// A message of the layer's own.
    fn handle_own(&mut self, now: Instant, message: &OwnMessage<IuaParameter>, octets: &[u8]) {
        let (interface, dlci) = match content::header(message) {
            Ok(Some(header)) => header,
            Ok(None) => return,
            Err(error) => return self.refuse(error.error_code(), octets),
        };
        if !self.asp.keys().any(|name| name.key() == Some(&interface)) {
            return self.refuse(ErrorCode::INVALID_INTERFACE_IDENTIFIER, octets);
        }
        //= https://www.rfc-editor.org/rfc/rfc4233#section-3.3.3.1
        //# The "Unexpected Message" error would be sent by an ASP if it received
        //# a QPTM message from an SG while it was in the Inactive state (the ASP
        //# could optionally drop the message and not send an error).
        if !self.is_active(&interface) {
            return self.refuse(ErrorCode::UNEXPECTED_MESSAGE, octets);
        }
        if matches!(message.kind, kind::TEI_STATUS_CONFIRM | kind::TEI_STATUS_INDICATION) {
            if let Some(status) = content::status(message) {
                self.outputs.push_back(DataLinkProcessOutput::Endpoint(interface, dlci, status));
            }
            return;
        }
        let Some(indication) = content::indication(message) else {
            return self.refuse(ErrorCode::UNEXPECTED_MESSAGE, octets);
        };
        let reason = match &indication {
            DataLinkIndication::ReleasedByPeer(reason) => *reason,
            _ => ReleaseReason::Other,
        };
        let input = match &indication {
            DataLinkIndication::Data(_) if self.state(&interface, dlci) != DataLinkState::Established => {
                return self.drops.count(DropReason::NotInService);
            }
            DataLinkIndication::Data(_) | DataLinkIndication::UnitData(_) => {
                return self.indicate(&interface, dlci, indication);
            }
            DataLinkIndication::Established => DataLinkInput::EstablishConfirm,
            DataLinkIndication::EstablishedByPeer => DataLinkInput::EstablishIndication,
            DataLinkIndication::Released => DataLinkInput::ReleaseConfirm,
            DataLinkIndication::ReleasedByPeer(_) => DataLinkInput::ReleaseIndication,
        };
        self.put(now, &interface, dlci, input, reason);
    }

    /// Takes a row of a data link's machine.
    fn put(
        &mut self,
        now: Instant,
        interface: &InterfaceIdentifier,
        dlci: Dlci,
        input: DataLinkInput,
        reason: ReleaseReason,
    ) {
        let key = (interface.clone(), dlci);
        if !self.links.contains_key(&key) && self.links.len() >= self.config.data_links_max {
            return self.drops.count(DropReason::QueueFull);
        }
        let link = self.links.entry(key.clone()).or_default();
        link.deadline = None;
        if let Some(row) = DATA_LINK_MACHINE.next(link.state, input) {
            link.state = row.to;
            if matches!(row.to, DataLinkState::Establishing | DataLinkState::Releasing) {
                link.deadline = Some(now + self.config.confirmation);
            }
            for action in row.actions {
                self.act(interface, dlci, *action, reason);
            }
        } else if matches!(link.state, DataLinkState::Establishing | DataLinkState::Releasing) {
            link.deadline = Some(now + self.config.confirmation);
        }
        // A data link that is released is as one that never was.
        if self.links.get(&key).is_some_and(|link| link.state == DataLinkState::Released) {
            self.links.remove(&key);
        }
    }

    fn act(
        &mut self,
        interface: &InterfaceIdentifier,
        dlci: Dlci,
        action: DataLinkAction,
        reason: ReleaseReason,
    ) {
        match action {
            DataLinkAction::SendEstablish => {
                self.transmit_request(interface, dlci, DataLinkRequest::Establish);
            }
            DataLinkAction::SendRelease => {
                self.transmit_request(interface, dlci, DataLinkRequest::Release(reason));
            }
            DataLinkAction::ConfirmEstablish => {
                self.indicate(interface, dlci, DataLinkIndication::Established);
            }
            DataLinkAction::ConfirmRelease => self.indicate(interface, dlci, DataLinkIndication::Released),
            DataLinkAction::IndicateEstablish => {
                self.indicate(interface, dlci, DataLinkIndication::EstablishedByPeer);
            }
            DataLinkAction::IndicateRelease => {
                self.indicate(interface, dlci, DataLinkIndication::ReleasedByPeer(reason));
            }
        }
    }

    fn indicate(&mut self, interface: &InterfaceIdentifier, dlci: Dlci, indication: DataLinkIndication) {
        self.outputs.push_back(DataLinkProcessOutput::DataLink(interface.clone(), dlci, indication));
    }

    fn transmit_request(&mut self, interface: &InterfaceIdentifier, dlci: Dlci, request: DataLinkRequest) {
        let message = content::of_request(about(interface, dlci, request.kind()), request);
        let names = self.asp.keys();
        let at = names.into_iter().position(|name| name.key() == Some(interface)).unwrap_or_default();
        self.transmit(stream_of(at, self.streams.0), Message::Own(message));
    }

    fn refuse(&mut self, code: ErrorCode, octets: &[u8]) {
        self.drops.count(DropReason::Refused);
        self.transmit(StreamNumber(0), Message::Asp(AspMessage::error(code, Interfaces::default(), octets)));
    }

    fn transmit(&mut self, stream: StreamNumber, message: Message) {
        if self.asp.is_connected() {
            let transmit = transmit(self.association, stream, message);
            self.outputs.push_back(DataLinkProcessOutput::Transmit(transmit));
        } else {
            self.drops.count(DropReason::AssociationDown);
        }
    }
}
