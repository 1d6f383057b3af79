//! The signalling gateway process: it serves ASPs (RFC 4666).
//!
//! Associations and their messages go in at [`Sgp::handle_input`]; the nodal interworking function above gives messages
//! for the ASPs to [`Sgp::transfer`] and the state of the SS7 network to [`Sgp::handle_indication`]. What comes out of
//! [`Sgp::poll_output`] is for the transport, for the interworking function, or for management. A message of an ASP
//! whose destination is another ASP's goes there at once.

mod change;
mod config;
mod congestion;
mod distribution;
mod network;
mod registration;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{RoutingLabel, ServiceIndicator};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

pub use config::{ApplicationServer, KeyChanges, Registration, SgpConfig};

use crate::asp::{
    AsState, AspMessage, AspState, ConfigError, ErrorCode, Gateway, GatewayEvent, GatewayOutput,
    RoutingContexts, Scope as _,
};
use crate::common::MessageParseError;
use crate::m3ua::link::{self, Link, Writer};
use crate::m3ua::routing::RoutingTable;
use crate::m3ua::{
    AffectedPlace, Availability, Counters, Data, DestinationState, M3ua, Message, NetworkPoint,
    RegistrationResult, TrafficKey, data,
};
use crate::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use distribution::Distribution;

/// Output of a signalling gateway process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SgpOutput {
    /// The first message that an ASP which serves no longer would have taken has been handed to another one.
    Diverted {
        /// Routing context of the messages.
        routing_context: u32,
        /// Association of the ASP that serves no longer.
        from: AssociationNumber,
        /// Association of the one that takes them.
        to: AssociationNumber,
    },
    /// Something for management.
    Event(GatewayEvent<u32>),
    /// A message of an ASP that is to be examined: it goes on by [`Sgp::admit`], or ends by [`Sgp::refuse`].
    Examine {
        /// Association that it came by.
        association: AssociationNumber,
        /// Routing context of the application server that it came from.
        routing_context: u32,
        /// Network of its point codes.
        network: Option<u32>,
        /// Message that is examined.
        message: Transfer,
    },
    /// Something for the nodal interworking function, in a network: a message for the SS7 network, or the state of a
    /// point code that the ASPs serve.
    Indication(Option<u32>, TransferIndication),
    /// An ASP has been answered what it has asked to register.
    Registration {
        /// Association of the ASP.
        association: AssociationNumber,
        /// Answer to one routing key.
        result: RegistrationResult,
        /// First destination of the key, if it has one.
        destination: Option<PointCode>,
    },
    /// A message to send.
    Transmit(Transmit),
    /// Nothing more before this deadline, or before the next input.
    Wait(Option<Instant>),
}

/// A signalling gateway process.
#[derive(Clone, Debug)]
pub struct Sgp {
    config: SgpConfig,
    gateway: Gateway<M3ua>,
    links: BTreeMap<AssociationNumber, Link>,
    table: RoutingTable,
    /// Routing contexts that registration has made, and that go with their last ASP.
    dynamic: BTreeSet<u32>,
    network_appearances: BTreeSet<u32>,
    /// Destinations in the SS7 network.
    destinations: BTreeMap<NetworkPoint, DestinationState>,
    /// Networks whose interworking is lost, or whose MTP3 restarts.
    isolated: BTreeSet<Option<u32>>,
    /// The availability last told of the point codes that ASPs serve.
    announced: BTreeMap<NetworkPoint, Availability>,
    distribution: BTreeMap<u32, Distribution>,
    writer: Writer,
    outputs: VecDeque<SgpOutput>,
    counters: Counters,
}

impl Sgp {
    /// A process without associations.
    ///
    /// # Errors
    /// If the configuration contradicts itself.
    pub fn new(config: SgpConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let mut sgp = Self {
            gateway: Gateway::new(config.gateway)?,
            links: BTreeMap::new(),
            table: RoutingTable::default(),
            dynamic: BTreeSet::new(),
            network_appearances: config.network_appearances.iter().copied().collect(),
            destinations: BTreeMap::new(),
            isolated: BTreeSet::new(),
            announced: BTreeMap::new(),
            distribution: BTreeMap::new(),
            writer: Writer::default(),
            outputs: VecDeque::new(),
            counters: Counters::default(),
            config,
        };
        for server in sgp.config.servers.clone() {
            sgp.network_appearances.extend(server.key.network_appearance);
            sgp.table.insert(server.routing_context, server.key);
            sgp.gateway.add_server(server.routing_context, server.server);
        }
        Ok(sgp)
    }

    /// Gives the counts of messages by outcome.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Gives the number of messages that wait for an ASP.
    pub fn waiting(&self) -> usize {
        self.distribution.values().map(Distribution::waiting).sum()
    }

    /// Gives the application server that a message of the SS7 network is for, by its routing context.
    pub fn server_of(
        &self,
        network: Option<u32>,
        label: &RoutingLabel,
        user: ServiceIndicator,
    ) -> Option<u32> {
        let own = self.table.server_of((network, label.dpc), user.value(), label.opc);
        own.or(self.config.default_server)
    }

    /// M-AS_STATUS: the state of an application server, if there is one.
    pub fn as_state(&self, routing_context: u32) -> Option<AsState> {
        self.gateway.as_state(&routing_context)
    }

    /// M-ASP_STATUS: the state of an ASP within an application server.
    pub fn asp_state(&self, association: AssociationNumber, routing_context: u32) -> AspState {
        self.gateway.asp_state(association, &routing_context)
    }

    /// Gives the next output.
    pub fn poll_output(&mut self, _now: Instant) -> SgpOutput {
        self.outputs.pop_front().unwrap_or_else(|| SgpOutput::Wait(self.gateway.next_deadline()))
    }

    /// Does what is due by now.
    pub fn handle_deadline(&mut self, now: Instant) {
        self.gateway.handle_deadline(now);
        self.follow_gateway();
    }

    /// Takes an input from the transport of an association. New associations need no announcement but `Up`.
    pub fn handle_input(&mut self, now: Instant, association: AssociationNumber, input: TransportInput) {
        match input {
            TransportInput::Up { outbound_streams } => {
                self.links.insert(association, Link { outbound_streams, is_congested: false });
                self.gateway.handle_association_up(now, association);
            }
            TransportInput::Down => {
                self.links.remove(&association);
                self.gateway.handle_association_down(now, association);
            }
            // Nothing asks for it.
            TransportInput::Transmitted(_) => {}
            TransportInput::Unsent(octets) => self.take_back(&octets),
            TransportInput::Restart => self.gateway.handle_restart(now, association),
            TransportInput::Congested(is_congested) => {
                if let Some(link) = self.links.get_mut(&association) {
                    link.is_congested = is_congested;
                    self.follow_congestion();
                }
            }
            TransportInput::Message { payload_protocol, .. }
                if link::is_of_other_protocol(payload_protocol) =>
            {
                self.counters.wrong_payload_protocol += 1;
            }
            TransportInput::Message { stream, octets, .. } => {
                self.gateway.note_received(now, association);
                self.handle_octets(now, association, stream, &octets);
            }
        }
        self.follow_gateway();
    }

    fn handle_octets(&mut self, now: Instant, from: AssociationNumber, stream: StreamNumber, octets: &Bytes) {
        let parsed = if octets.get(2..4) == Some(&[data::KIND.class, data::KIND.kind]) {
            Data::parse(octets).map(Message::Data)
        } else {
            Message::parse(octets)
        };
        match parsed {
            Ok(Message::Data(data)) => self.handle_data(from, stream, data, octets),
            Ok(message) => self.handle_management(now, from, stream, message, octets),
            Err(error) => self.refuse_malformed(from, error, octets),
        }
    }

    fn refuse_malformed(&mut self, from: AssociationNumber, error: MessageParseError, octets: &[u8]) {
        self.counters.malformed += 1;
        if !link::is_error(octets) {
            self.send_error(from, error.error_code(), octets);
        }
    }

    fn handle_management(
        &mut self,
        now: Instant,
        from: AssociationNumber,
        stream: StreamNumber,
        message: Message,
        octets: &Bytes,
    ) {
        if link::is_on_wrong_stream(&message, stream) {
            self.send_error(from, ErrorCode::INVALID_STREAM_IDENTIFIER, octets);
            return;
        }
        match message {
            Message::Asp(message) => {
                self.counters.errors_received += u64::from(matches!(message, AspMessage::Err { .. }));
                self.gateway.handle_message(now, from, message, octets);
            }
            _ if !self.gateway.is_up(from) => {
                self.send_error(from, ErrorCode::UNEXPECTED_MESSAGE, octets);
            }
            Message::Daud(affected) => self.handle_audit(from, &affected, octets),
            Message::Scon { affected, congestion_level, .. } => {
                self.handle_congestion_of_asp(from, &affected, congestion_level, octets);
            }
            Message::RegReq { keys } => self.handle_registration(now, from, &keys, octets),
            Message::DeregReq { routing_contexts } => {
                self.handle_deregistration(now, from, &routing_contexts, octets);
            }
            // Only a gateway sends these.
            Message::Duna(_)
            | Message::Dava(_)
            | Message::Drst(_)
            | Message::Dupu { .. }
            | Message::RegRsp { .. }
            | Message::DeregRsp { .. }
            | Message::Data(_) => self.send_error(from, ErrorCode::UNEXPECTED_MESSAGE, octets),
        }
    }

    /// Takes an ASP out of service for management (RFC 4666, section 4.7).
    pub fn lock_out(&mut self, now: Instant, association: AssociationNumber) {
        self.gateway.lock_out(now, association);
        self.follow_gateway();
    }

    /// Lets an ASP come up again.
    pub fn unlock(&mut self, association: AssociationNumber) {
        self.gateway.unlock(association);
    }

    /// Takes the traffic of an application server off its ASPs for management (RFC 4666, section 4.7).
    pub fn block(&mut self, now: Instant, routing_context: u32) {
        self.gateway.block(now, &routing_context);
        self.follow_gateway();
    }

    /// Lets ASPs become active for an application server again.
    pub fn unblock(&mut self, routing_context: u32) {
        self.gateway.unblock(&routing_context);
    }

    /// Takes over that an ASP is up or down, as our own half of an IPSP has agreed.
    pub(super) fn adopt_up(&mut self, now: Instant, association: AssociationNumber, is_up: bool) {
        self.gateway.adopt_up(now, association, is_up);
        self.follow_gateway();
    }

    /// Takes over the state of an ASP, as our own half of an IPSP has agreed.
    pub(super) fn adopt(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        context: u32,
        state: AspState,
    ) {
        self.gateway.adopt(now, association, &context, state);
        self.follow_gateway();
    }

    /// Does what the gateway says, in its order.
    fn follow_gateway(&mut self) {
        while let Some(output) = self.gateway.poll_output() {
            match output {
                GatewayOutput::Send(to, message) => {
                    self.counters.errors_sent += u64::from(matches!(message, AspMessage::Err { .. }));
                    self.send(to, &Message::Asp(message));
                }
                GatewayOutput::Event(event) => self.handle_event(event),
            }
        }
    }

    fn handle_event(&mut self, event: GatewayEvent<u32>) {
        match event {
            GatewayEvent::Asp(association, routing_context, AspState::Active) => {
                self.announce_known_destinations(association, routing_context);
                self.distribution.entry(routing_context).or_default().mark_flows();
            }
            GatewayEvent::As(routing_context, state) => {
                self.follow_availability(routing_context);
                if state == AsState::Down {
                    self.forget_dynamic(routing_context);
                }
            }
            GatewayEvent::Deregistered(_, routing_context) => self.forget_dynamic(routing_context),
            GatewayEvent::FlushQueue(routing_context) => {
                self.flush_queue(routing_context);
                return;
            }
            GatewayEvent::DiscardQueue(routing_context) => {
                self.discard_queue(routing_context);
                return;
            }
            GatewayEvent::Asp(..)
            | GatewayEvent::AspUp(..)
            | GatewayEvent::PeerError(..)
            | GatewayEvent::PeerUnavailable(_) => {}
        }
        self.outputs.push_back(SgpOutput::Event(event));
        self.follow_congestion();
    }

    /// Forgets an application server that registration has made, when nobody serves it any more.
    fn forget_dynamic(&mut self, routing_context: u32) {
        let is_idle = self.gateway.as_state(&routing_context) == Some(AsState::Down)
            && self.gateway.member_count(&routing_context) == 0;
        if is_idle && self.dynamic.remove(&routing_context) {
            self.discard_queue(routing_context);
            let places: Vec<_> = self.key(routing_context).into_iter().flat_map(TrafficKey::points).collect();
            self.table.remove(routing_context);
            self.gateway.remove_server(&routing_context);
            self.follow_availability_of(routing_context, &places);
            self.distribution.remove(&routing_context);
        }
    }

    fn send(&mut self, to: AssociationNumber, message: &Message) {
        // Without an association nobody would receive it.
        if self.links.contains_key(&to) {
            self.outputs.push_back(SgpOutput::Transmit(Writer::management(to, message)));
        }
    }

    fn send_error(&mut self, to: AssociationNumber, code: ErrorCode, octets: &[u8]) {
        self.counters.errors_sent += 1;
        self.send(to, &link::error_about(code, octets));
    }

    //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
    //# For this error, the invalid (unconfigured) Network Appearance
    //# MUST be included in the Network Appearance parameter.
    fn send_network_error(&mut self, to: AssociationNumber, network_appearance: u32, octets: &[u8]) {
        self.counters.errors_sent += 1;
        let mut message =
            AspMessage::error(ErrorCode::INVALID_NETWORK_APPEARANCE, RoutingContexts::default(), octets);
        if let AspMessage::Err { evidence, .. } = &mut message {
            *evidence =
                AffectedPlace { network_appearance: Some(network_appearance), ..AffectedPlace::default() };
        }
        self.send(to, &Message::Asp(message));
    }

    //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
    //# For this error, the invalid Routing Context(s) MUST be included in
    //# the Error message.
    fn send_context_error(&mut self, to: AssociationNumber, contexts: &[u32], octets: &[u8]) {
        self.counters.errors_sent += 1;
        let scope = RoutingContexts::of(contexts);
        let message = AspMessage::error(ErrorCode::INVALID_ROUTING_CONTEXT, scope, octets);
        self.send(to, &Message::Asp(message));
    }

    fn key(&self, routing_context: u32) -> Option<&TrafficKey> {
        self.table.key(routing_context)
    }
}
