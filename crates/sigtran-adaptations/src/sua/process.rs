//! The application server process of SUA: to SCCP users here, the connectionless and connection-oriented service of an
//! SCCP that is at a gateway.

mod connection;
mod unitdata;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{
    self, AspMessage, AspState, ErrorCode, Process, ProcessConfig, ProcessEvent, ProcessOutput,
    RoutingContexts, ServerName, TrafficMode,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::sccp::Reassembly;

use crate::drops::{DropReason, Drops};
use crate::message::{CommonParameter, OwnMessage, Received, Streams};
use crate::sua::format::fault;
use crate::sua::primitive::routing_context;
use crate::sua::status::{self, Availability, Destination, DestinationChange};
use crate::sua::{
    Address, DeregistrationResult, Label, Labels, Message, RegistrationResult, RoutingKey, Sua, SuaParameter,
    Unitdata, UnitdataNotice, kind,
};
use connection::Connection;
pub use connection::{ConnectRequest, ConnectionConfig, ConnectionEvent, ConnectionId};
pub use unitdata::SegmentationConfig;

/// Settings of an ASP of SUA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserProcessConfig {
    /// Settings of the ASP towards the gateway.
    pub asp: ProcessConfig,
    /// Settings of its connections.
    pub connections: ConnectionConfig,
    /// Settings for sending long messages in segments, and for reassembly.
    pub segmentation: SegmentationConfig,
    /// After how long a destination that is not available is asked for again; without it, never.
    pub audit: Option<Duration>,
    /// Place at which reference numbers say that they are this ASP's, if ASPs share the traffic of connections.
    pub reference_label: Option<Label>,
    /// Place at which transaction identifiers say that they are this ASP's. The SCCP user must put it there.
    pub transaction_label: Option<Label>,
}

/// Output of an ASP of SUA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserProcessOutput {
    /// Event of a connection.
    Connection(ConnectionId, ConnectionEvent),
    /// N-STATE or N-PCSTATE indication.
    Destination(Destination, DestinationChange),
    /// Something that management may want to know.
    Event(UserProcessEvent),
    /// N-NOTICE indication, of that application server.
    Notice(u32, UnitdataNotice),
    /// A message to send.
    Transmit(Transmit),
    /// N-UNITDATA indication, of that application server.
    Unitdata(u32, Unitdata),
    /// Nothing more until then, or until something comes in.
    Wait(Option<Instant>),
}

/// Something that management may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserProcessEvent {
    /// About the ASP.
    Asp(ProcessEvent<u32>),
    /// The transport is congested, or no longer: offer less.
    Congested(bool),
    /// Outcome of a deregistration.
    Deregistered(DeregistrationResult),
    /// Outcome of a registration.
    Registered(RegistrationResult),
}

/// An ASP with its association to a gateway.
#[derive(Clone, Debug)]
pub struct UserProcess {
    config: UserProcessConfig,
    association: AssociationNumber,
    streams: Streams,
    asp: Process<Sua>,
    destinations: BTreeMap<Destination, Availability>,
    /// Instants at which destinations are asked for again.
    audits: BTreeMap<Destination, Instant>,
    connections: BTreeMap<ConnectionId, Connection>,
    next_reference: u32,
    next_segmentation: u32,
    /// Segments, by application server, sender and reference, with the first one beside its data.
    segments: Reassembly<(u32, Address, u32), (u32, Unitdata)>,
    outputs: VecDeque<UserProcessOutput>,
    drops: Drops,
}

impl UserProcess {
    /// An ASP that serves nothing yet, for that association.
    ///
    /// # Errors
    /// If a timer or the window is out of its range.
    pub fn new(association: AssociationNumber, config: UserProcessConfig) -> Result<Self, asp::ConfigError> {
        config.connections.check()?;
        config.segmentation.check()?;
        Ok(Self {
            config,
            association,
            streams: Streams(1),
            asp: Process::new(config.asp)?,
            destinations: BTreeMap::new(),
            audits: BTreeMap::new(),
            connections: BTreeMap::new(),
            next_reference: 1,
            next_segmentation: 1,
            segments: Reassembly::new(config.segmentation.limits),
            outputs: VecDeque::new(),
            drops: Drops::default(),
        })
    }

    /// Adds an application server, and how its traffic is shared.
    pub fn add_server(&mut self, routing_context: u32, mode: Option<TrafficMode>) {
        self.asp.add_server(ServerName::Named(routing_context), mode);
    }

    /// The ASP's state, to look at.
    pub const fn asp(&self) -> &Process<Sua> {
        &self.asp
    }

    /// Gives the counts of discarded messages.
    pub const fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Gives the number of connections.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Gives the availability of a destination, as the gateway has told. One that was never told of is not available.
    pub fn availability(&self, destination: &Destination) -> Availability {
        self.destinations.get(destination).copied().unwrap_or(Availability::Unavailable)
    }

    /// Comes up, and takes all traffic, as soon as the association is there.
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

    /// M-ASP_ACTIVE request for these application servers, for all if none is named.
    pub fn activate(&mut self, now: Instant, contexts: &[u32]) {
        let names: Vec<_> = contexts.iter().copied().map(ServerName::Named).collect();
        self.asp.activate(now, &names);
        self.drain_asp(now);
    }

    /// M-ASP_INACTIVE request for these application servers, for all if none is named.
    pub fn deactivate(&mut self, now: Instant, contexts: &[u32]) {
        let names: Vec<_> = contexts.iter().copied().map(ServerName::Named).collect();
        self.asp.deactivate(now, &names);
        self.drain_asp(now);
    }

    /// M-RK_REG request. False, and nothing is sent, while the ASP is not up.
    pub fn register(&mut self, keys: &[RoutingKey]) -> bool {
        if self.asp.is_up() {
            let request = keys.iter().fold(OwnMessage::empty(kind::REGISTRATION_REQUEST), |request, key| {
                request.with(SuaParameter::RoutingKey(key.clone()))
            });
            self.transmit(StreamNumber(0), Message::Own(request).to_bytes());
        }
        self.asp.is_up()
    }

    /// M-RK_DEREG request. False, and nothing is sent, while the ASP is not up.
    pub fn deregister(&mut self, contexts: &[u32]) -> bool {
        if self.asp.is_up() {
            let request = OwnMessage::<SuaParameter>::empty(kind::DEREGISTRATION_REQUEST)
                .with_common(CommonParameter::RoutingContexts(contexts.to_vec()));
            self.transmit(StreamNumber(0), Message::Own(request).to_bytes());
        }
        self.asp.is_up()
    }

    /// Asks the gateway for the state of a destination: DAUD.
    pub fn audit(&mut self, now: Instant, destination: Destination) {
        if let Some(interval) = self.config.audit {
            self.audits.insert(destination, now + interval);
        }
        if self.asp.is_active() {
            let audit = status::audit(destination, self.active_contexts());
            self.transmit(StreamNumber(0), Message::Own(audit).to_bytes());
        }
    }

    fn is_active(&self, routing_context: u32) -> bool {
        self.asp.state(&ServerName::Named(routing_context)) == AspState::Active
    }

    fn active_contexts(&self) -> Vec<u32> {
        let contexts = self.asp.keys().filter_map(ServerName::key).copied();
        contexts.filter(|context| self.is_active(*context)).collect()
    }

    /// Gives the next output; after everything, the instant until which to wait.
    pub fn poll_output(&mut self, _now: Instant) -> UserProcessOutput {
        self.outputs.pop_front().unwrap_or_else(|| {
            let connections = self.connections.values().filter_map(Connection::deadline);
            let audits = self.audits.values().copied();
            let own = self.asp.next_deadline().into_iter().chain(self.segments.deadline());
            UserProcessOutput::Wait(connections.chain(audits).chain(own).min())
        })
    }

    /// Does what is due by now.
    pub fn handle_deadline(&mut self, now: Instant) {
        self.asp.handle_deadline(now);
        self.drain_asp(now);
        self.expire_connections(now);
        self.expire_segments(now);
        let due: Vec<Destination> =
            self.audits.iter().filter(|(_, at)| **at <= now).map(|(destination, _)| *destination).collect();
        for destination in due {
            self.audits.remove(&destination);
            self.audit(now, destination);
        }
    }

    /// Takes an input from the transport.
    pub fn handle_transport(&mut self, now: Instant, input: TransportInput) {
        match self.streams.handle::<SuaParameter>(now, input, &mut self.asp, &mut self.drops) {
            Received::Answer(answer) => self.transmit(StreamNumber(0), Message::Asp(answer).to_bytes()),
            // Congestion is told upwards before anything is refused.
            Received::Congested(is_congested) => {
                let event = UserProcessEvent::Congested(is_congested);
                self.outputs.push_back(UserProcessOutput::Event(event));
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
                ProcessOutput::Send(message) => {
                    let message = Message::Asp(self.with_labels(message));
                    self.transmit(StreamNumber(0), message.to_bytes());
                }
                ProcessOutput::Event(event) => {
                    if let ProcessEvent::Asp(ServerName::Named(context), state) = &event
                        && *state != AspState::Active
                    {
                        self.lose(now, *context);
                    }
                    self.outputs.push_back(UserProcessOutput::Event(UserProcessEvent::Asp(event)));
                }
            }
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc3868#section-4.7.2.1
    //# In the ASPAC message, the ASP
    //# includes a TID and/or DRN Label Parameter, if applicable for the AS
    //# in question.
    fn with_labels(&self, mut message: AspMessage<Sua>) -> AspMessage<Sua> {
        if let AspMessage::AspActive { labels, .. } = &mut message {
            let UserProcessConfig { transaction_label, reference_label, .. } = self.config;
            *labels = Labels { transaction: transaction_label, reference: reference_label };
        }
        message
    }

    /// The traffic of an application server is gone: so are its connections, and with the last one what was known.
    //= https://www.rfc-editor.org/rfc/rfc3868#section-4.5.2.1
    //# In the case where a local event has caused the unavailability or
    //# congestion status of SS7 destinations, the SUA layer at the ASP
    //# SHOULD pass up appropriate indications in the primitives to the SUA
    //# User, as though equivalent SSNM messages were received.
    fn lose(&mut self, now: Instant, context: u32) {
        self.lose_connections(now, context);
        if self.asp.is_active() {
            return;
        }
        self.audits.clear();
        for (destination, availability) in std::mem::take(&mut self.destinations) {
            if availability != Availability::Unavailable {
                let change = DestinationChange::Availability(Availability::Unavailable);
                self.outputs.push_back(UserProcessOutput::Destination(destination, change));
            }
        }
    }

    /// A message of the layer's own classes.
    fn handle_own(&mut self, now: Instant, message: &OwnMessage<SuaParameter>, octets: &[u8]) {
        match message.kind {
            kind::REGISTRATION_RESPONSE | kind::DEREGISTRATION_RESPONSE => self.handle_results(message),
            kind::DUNA | kind::DAVA | kind::DRST | kind::SCON | kind::DUPU => {
                self.handle_status(now, message);
            }
            kind::DAUD | kind::REGISTRATION_REQUEST | kind::DEREGISTRATION_REQUEST => {
                self.refuse(ErrorCode::UNEXPECTED_MESSAGE, RoutingContexts::default(), octets);
            }
            _ => self.handle_transfer(now, message, octets),
        }
    }

    fn handle_results(&mut self, message: &OwnMessage<SuaParameter>) {
        for parameter in message.own() {
            let event = match parameter {
                SuaParameter::RegistrationResult(result) => UserProcessEvent::Registered(*result),
                SuaParameter::DeregistrationResult(result) => UserProcessEvent::Deregistered(*result),
                _ => continue,
            };
            self.outputs.push_back(UserProcessOutput::Event(event));
        }
    }

    fn handle_status(&mut self, now: Instant, message: &OwnMessage<SuaParameter>) {
        let Some(change) = status::change_of(message) else { return };
        if !self.asp.is_active() {
            return self.drops.count(DropReason::AspNotActive);
        }
        let (codes, subsystem) = status::affected(message);
        for (mask, point_code) in codes {
            let meant = Destination { point_code, subsystem };
            // A mask means those that are known, and at any rate the one that it names.
            let mut concerned: Vec<Destination> = self
                .destinations
                .keys()
                .filter(|known| {
                    known.subsystem == subsystem && status::is_meant(known.point_code, mask, point_code)
                })
                .copied()
                .collect();
            if !concerned.contains(&meant) {
                concerned.push(meant);
            }
            for destination in concerned {
                self.note(now, destination, change);
            }
        }
    }

    fn note(&mut self, now: Instant, destination: Destination, change: DestinationChange) {
        if let DestinationChange::Availability(availability) = change {
            let before = self.destinations.insert(destination, availability);
            match self.config.audit {
                Some(interval) if availability == Availability::Unavailable => {
                    self.audits.insert(destination, now + interval);
                }
                _ => {
                    self.audits.remove(&destination);
                }
            }
            if before == Some(availability) {
                return;
            }
        }
        self.outputs.push_back(UserProcessOutput::Destination(destination, change));
    }

    fn handle_transfer(&mut self, now: Instant, message: &OwnMessage<SuaParameter>, octets: &[u8]) {
        let Some(context) = routing_context(message) else { return };
        let name = ServerName::Named(context);
        if !self.asp.keys().any(|key| *key == name) {
            let scope = RoutingContexts(vec![context]);
            return self.refuse(ErrorCode::INVALID_ROUTING_CONTEXT, scope, octets);
        }
        //= https://www.rfc-editor.org/rfc/rfc3868#section-3.9.12
        //# For example, silent discard
        //# is used by an ASP if it received a DATA message from an SGP while it
        //# was in the ASP-INACTIVE state.
        if !self.is_active(context) {
            return self.drops.count(DropReason::AspNotActive);
        }
        if let Some(code) = fault(message) {
            let scope = RoutingContexts(vec![context]);
            return self.refuse(code, scope, octets);
        }
        if let Some(unitdata) = Unitdata::of(message) {
            self.take_unitdata(now, context, unitdata);
        } else if let Some(notice) = UnitdataNotice::of(message) {
            self.outputs.push_back(UserProcessOutput::Notice(context, notice));
        } else {
            self.handle_connection_message(now, context, message);
        }
    }

    fn refuse(&mut self, code: ErrorCode, scope: RoutingContexts, octets: &[u8]) {
        self.drops.count(DropReason::Refused);
        let error: AspMessage<Sua> = AspMessage::error(code, scope, octets);
        self.transmit(StreamNumber(0), Message::Asp(error).to_bytes());
    }

    fn transmit_flow(&mut self, flow: u32, message: OwnMessage<SuaParameter>) {
        self.transmit(super::stream_of(flow, self.streams.0), Message::Own(message).to_bytes());
    }

    fn transmit(&mut self, stream: StreamNumber, octets: Bytes) {
        if self.asp.is_connected() {
            let transmit = super::transmit(self.association, stream, octets);
            self.outputs.push_back(UserProcessOutput::Transmit(transmit));
        } else {
            self.drops.count(DropReason::AssociationDown);
        }
    }
}
