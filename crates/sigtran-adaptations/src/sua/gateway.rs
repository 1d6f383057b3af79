//! The signalling gateway of SUA: subsystems at application server processes, and an SCCP network behind.
//!
//! What an ASP sends is relayed to the application server whose routing key it answers to, or goes to the network;
//! what the network sends goes to an application server the same way. Messages of a connection, and of a transaction
//! where labels say so, stay with the ASP that owns it.

mod congestion;
mod registration;
mod routing;
mod segments;
mod transfer;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slantpath_base::Instant;
use slantpath_sigtran::affected::{AffectedCodes, CODES_MAX};
use slantpath_sigtran::asp::{
    self, AspMessage, AspState, ErrorCode, GatewayEvent, GatewayOutput, RoutingContexts,
};
use slantpath_sigtran::queue::QueueLimits;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::PointCode;

use crate::drops::{DropReason, Drops};
use crate::message::{Associations, OwnMessage, Received};
use crate::sua::primitive::return_cause;
use crate::sua::status::{self, Availability, Destination, DestinationChange};
use crate::sua::{Label, Labels, Message, RoutingKey, Sua, SuaParameter, kind, label};
use congestion::Congestion;
use segments::SegmentOwners;
use transfer::Origin;

/// Settings of a gateway of SUA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignallingGatewayConfig {
    /// Settings of the gateway towards its ASPs.
    pub asps: asp::GatewayConfig,
    /// Treatment of a registration for a key that is not configured.
    pub registration: RegistrationPolicy,
    /// The messages of one application server that may wait for an ASP.
    pub queue: QueueLimits,
    /// Number of connections that are remembered without labels; those beyond are refused: their messages are
    /// discarded.
    pub connections_max: usize,
}

/// Treatment of a registration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegistrationPolicy {
    /// Keys that are configured are granted.
    #[default]
    Configured,
    /// Others too, as far as so many application servers in all.
    Dynamic(usize),
    /// REG REQ is no message here: "Unsupported Message Type".
    Unsupported,
}

impl Default for SignallingGatewayConfig {
    fn default() -> Self {
        Self {
            asps: asp::GatewayConfig::default(),
            registration: RegistrationPolicy::default(),
            queue: QueueLimits::of(1_000),
            connections_max: 100_000,
        }
    }
}

/// Output of a gateway of SUA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignallingGatewayOutput {
    /// Something that management may want to know.
    Event(SignallingGatewayEvent),
    /// A connectionless or connection-oriented message for the SCCP network; its routing context says who sent it.
    Network(OwnMessage<SuaParameter>),
    /// N-PCSTATE or N-STATE of a destination that ASPs serve, for SCCP management of the network: the way there is
    /// congested, or no more.
    Status(Destination, DestinationChange),
    /// A message to send.
    Transmit(Transmit),
    /// Nothing more until then, or until something comes in.
    Wait(Option<Instant>),
}

/// Something that management may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignallingGatewayEvent {
    /// About ASPs and application servers.
    Asp(GatewayEvent<u32>),
    /// The transport of an association is congested, or no longer.
    AssociationCongested(AssociationNumber, bool),
    /// Queue for an ASP has reached the onset of congestion (true), or is down to the abatement.
    QueueCongested(u32, bool),
    /// An ASP tells the state of a subsystem of its own: N-STATE or N-COORD request.
    UserStatus(AssociationNumber, OwnMessage<SuaParameter>),
}

/// An application server: its traffic, and what waits for it.
#[derive(Clone, Debug)]
struct Server {
    key: RoutingKey,
    queue: VecDeque<(Origin, OwnMessage<SuaParameter>)>,
    is_queue_congested: bool,
    congestion: Congestion,
    must_correlate: bool,
    /// The next in a round of ASPs.
    turn: usize,
    labels: BTreeMap<AssociationNumber, Labels>,
    /// ASPs to which the first segments of messages went.
    segments: SegmentOwners,
}

/// Party at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    Asp(AssociationNumber),
    Network,
}

/// An ASP's end of a connection.
#[derive(Clone, Copy, Debug)]
struct Section {
    context: u32,
    /// Party at the other end, as soon as it is known.
    peer: Option<Peer>,
    /// True if the connection was acknowledged: one that was not may be forgotten for another.
    is_confirmed: bool,
}

/// Gateway of SUA.
#[derive(Clone, Debug)]
pub struct SignallingGateway {
    config: SignallingGatewayConfig,
    asps: asp::Gateway<Sua>,
    associations: Associations,
    servers: BTreeMap<u32, Server>,
    /// Reference numbers that ASPs have given their ends of connections.
    connections: BTreeMap<(u32, AssociationNumber), Section>,
    destinations: BTreeMap<Destination, (Availability, u8)>,
    outputs: VecDeque<SignallingGatewayOutput>,
    drops: Drops,
    next_correlation: u32,
}

impl SignallingGateway {
    /// A gateway without application servers.
    ///
    /// # Errors
    /// If a timer is out of its range, or the limits of the queue contradict each other.
    pub fn new(config: SignallingGatewayConfig) -> Result<Self, asp::ConfigError> {
        config.queue.check()?;
        Ok(Self {
            asps: asp::Gateway::new(config.asps)?,
            config,
            associations: Associations::default(),
            servers: BTreeMap::new(),
            connections: BTreeMap::new(),
            destinations: BTreeMap::new(),
            outputs: VecDeque::new(),
            drops: Drops::default(),
            next_correlation: 1,
        })
    }

    /// Adds an application server for the traffic of a key.
    pub fn add_server(&mut self, routing_context: u32, key: RoutingKey, server: asp::ServerConfig) {
        self.asps.add_server(routing_context, server);
        let server = Server {
            key,
            queue: VecDeque::new(),
            is_queue_congested: false,
            congestion: Congestion::default(),
            must_correlate: false,
            turn: 0,
            labels: BTreeMap::new(),
            segments: SegmentOwners::default(),
        };
        self.servers.insert(routing_context, server);
    }

    /// The ASPs, to look at.
    pub const fn asps(&self) -> &asp::Gateway<Sua> {
        &self.asps
    }

    /// Gives the counts of discarded messages.
    pub const fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Gives the number of messages that are queued for an ASP of that application server.
    pub fn queued(&self, routing_context: u32) -> usize {
        self.servers.get(&routing_context).map_or(0, |server| server.queue.len())
    }

    /// Gives the number of connections that are remembered.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Takes an ASP out of service for management.
    pub fn lock_out(&mut self, now: Instant, association: AssociationNumber) {
        self.asps.lock_out(now, association);
        self.drain_asps();
    }

    /// Lets an ASP come up again.
    pub fn unlock(&mut self, association: AssociationNumber) {
        self.asps.unlock(association);
    }

    /// Gives the next output; after everything, the instant until which to wait.
    pub fn poll_output(&mut self, _now: Instant) -> SignallingGatewayOutput {
        let wait = SignallingGatewayOutput::Wait(self.asps.next_deadline());
        self.outputs.pop_front().unwrap_or(wait)
    }

    /// Does what is due by now.
    pub fn handle_deadline(&mut self, now: Instant) {
        self.asps.handle_deadline(now);
        self.drain_asps();
    }

    /// Takes an input from the transport of an association.
    pub fn handle_transport(&mut self, now: Instant, association: AssociationNumber, input: TransportInput) {
        let received = self.associations.handle::<SuaParameter>(
            now,
            association,
            input,
            &mut self.asps,
            &mut self.drops,
        );
        match received {
            Received::Answer(answer) => self.transmit(association, StreamNumber(0), &Message::Asp(answer)),
            Received::Congested(is_congested) => {
                self.event(SignallingGatewayEvent::AssociationCongested(association, is_congested));
                self.follow_all_congestion();
            }
            Received::Message(Message::Asp(message), octets) => {
                self.handle_asp(now, association, message, &octets);
            }
            Received::Message(Message::Own(message), octets) => {
                self.handle_own(now, association, message, &octets);
            }
            Received::Nothing => {}
        }
        self.drain_asps();
    }

    fn handle_asp(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: AspMessage<Sua>,
        octets: &[u8],
    ) {
        if let AspMessage::AspActive { scope, labels, .. } = &message {
            let labels = *labels;
            let contexts = if scope.0.is_empty() { self.asps.keys_of(association) } else { scope.0.clone() };
            //= https://www.rfc-editor.org/rfc/rfc3868#section-4.7.2.1
            //# If any of these checks fail, the SG refuses the ASPAC request, with
            //# an error, "Invalid loadsharing label."
            if contexts.iter().any(|context| !self.may_have(association, *context, labels)) {
                let code = ErrorCode(INVALID_LOADSHARING_LABEL);
                return self.send_error(association, code, RoutingContexts(contexts), octets);
            }
            for context in contexts {
                if let Some(server) = self.servers.get_mut(&context) {
                    server.labels.insert(association, labels);
                }
            }
        }
        self.asps.handle_message(now, association, message, octets);
    }

    /// Tells whether an ASP may have these labels: at one place for all ASPs of the server, with a value of its own.
    fn may_have(&self, association: AssociationNumber, context: u32, labels: Labels) -> bool {
        let others = self.servers.get(&context).into_iter().flat_map(|server| &server.labels);
        let active = |other: AssociationNumber| self.asps.asp_state(other, &context) == AspState::Active;
        let mut others = others.filter(|(other, _)| **other != association && active(**other));
        let fits = |own: Option<Label>, other: Option<Label>| match (own, other) {
            (Some(own), Some(other)) => {
                own.start == other.start && own.end == other.end && own.value != other.value
            }
            _ => true,
        };
        labels.transaction.is_none_or(|label| label.is_plausible(label::TID_BITS))
            && labels.reference.is_none_or(|label| label.is_plausible(label::DRN_BITS))
            && others.all(|(_, other)| {
                fits(labels.transaction, other.transaction) && fits(labels.reference, other.reference)
            })
    }

    /// A message of the layer's own classes.
    fn handle_own(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: OwnMessage<SuaParameter>,
        octets: &[u8],
    ) {
        //= https://www.rfc-editor.org/rfc/rfc3868#section-4.3.4.1
        //# If the SGP receives any
        //# other SUA messages before ASPUP message is received (other than ASPDN
        //# - see section 4.3.4.2), the SGP SHOULD discard them.
        if !self.asps.is_up(association) {
            return self.drops.count(DropReason::AspNotActive);
        }
        match message.kind {
            kind::REGISTRATION_REQUEST => self.handle_registration(now, association, &message, octets),
            kind::DEREGISTRATION_REQUEST => self.handle_deregistration(now, association, &message),
            kind::DAUD => self.handle_audit(association, &message),
            kind::DUNA | kind::DAVA | kind::SCON | kind::DRST => {
                self.event(SignallingGatewayEvent::UserStatus(association, message));
            }
            kind::DUPU | kind::REGISTRATION_RESPONSE | kind::DEREGISTRATION_RESPONSE => {
                let code = ErrorCode::UNEXPECTED_MESSAGE;
                self.send_error(association, code, RoutingContexts::default(), octets);
            }
            _ => self.handle_transfer(association, message, octets),
        }
    }

    /// Takes a change of a destination from the network: it goes to every ASP that carries traffic.
    //= https://www.rfc-editor.org/rfc/rfc3868#section-4.5.1
    //# If the
    //# SGP operates within a single SS7 network appearance, then all ASPs
    //# are informed.
    pub fn handle_status(&mut self, destination: Destination, change: DestinationChange) {
        let known = self.destinations.entry(destination).or_insert((Availability::Unavailable, 0));
        match change {
            DestinationChange::Availability(availability) => known.0 = availability,
            DestinationChange::Congestion(level) => known.1 = level,
            DestinationChange::UserPartUnavailable { .. } => {}
        }
        self.announce_to_active(destination, change, &[]);
    }

    /// Tells every ASP that carries traffic, but those.
    fn announce_to_active(
        &mut self,
        destination: Destination,
        change: DestinationChange,
        except: &[AssociationNumber],
    ) {
        let mut contexts: BTreeMap<AssociationNumber, Vec<u32>> = BTreeMap::new();
        for context in self.servers.keys() {
            for association in self.asps.active(context).iter().filter(|asp| !except.contains(asp)) {
                contexts.entry(*association).or_default().push(*context);
            }
        }
        for (association, contexts) in contexts {
            self.announce(
                association,
                &[(0, destination.point_code)],
                destination.subsystem,
                change,
                contexts,
            );
        }
    }

    fn announce(
        &mut self,
        association: AssociationNumber,
        codes: &[(u8, PointCode)],
        subsystem: Option<u8>,
        change: DestinationChange,
        contexts: Vec<u32>,
    ) {
        let message = Message::Own(status::about_codes(codes.to_vec(), subsystem, change, contexts));
        let streams = self.associations.streams(association);
        //= https://www.rfc-editor.org/rfc/rfc3868#section-4.5.1
        //# DUNA, DAVA, SCON, and DRST messages are sent sequentially and
        //# processed at the receiver in the order sent.  SCTP stream 0 SHOULD
        //# NOT be used.
        let is_unordered = matches!(change, DestinationChange::UserPartUnavailable { .. });
        let stream = if is_unordered || streams < 2 { StreamNumber(0) } else { StreamNumber(1) };
        self.transmit(association, stream, &message);
    }

    //= https://www.rfc-editor.org/rfc/rfc3868#section-4.5.3
    //# If the SGP has no information on
    //# the availability / congestion status of the SS7 destination or
    //# subsystem, the SGP responds with a DUNA message, as it has no routing
    //# information to allow it to route traffic to this destination or
    //# subsystem.
    fn handle_audit(&mut self, association: AssociationNumber, message: &OwnMessage<SuaParameter>) {
        let (asked, subsystem) = status::affected(message);
        let affected = AffectedCodes::of(&asked);
        let mut known = BTreeSet::new();
        let mut by_availability: BTreeMap<Availability, BTreeSet<(u8, PointCode)>> = BTreeMap::new();
        let mut by_level: BTreeMap<u8, BTreeSet<(u8, PointCode)>> = BTreeMap::new();
        // However often a destination is named, it is answered once.
        for (destination, (availability, level)) in &self.destinations {
            let code = destination.point_code;
            if destination.subsystem != subsystem || !affected.contains(code) {
                continue;
            }
            known.insert(code);
            by_availability.entry(*availability).or_default().insert((0, code));
            if *level > 0 && *availability != Availability::Unavailable {
                by_level.entry(*level).or_default().insert((0, code));
            }
        }
        let unknown = asked.into_iter().filter(|range| {
            let (first, last) = AffectedCodes::interval(*range);
            known.range(PointCode(first)..=PointCode(last)).next().is_none()
        });
        by_availability.entry(Availability::Unavailable).or_default().extend(unknown);
        let availabilities = by_availability
            .into_iter()
            .map(|(availability, codes)| (DestinationChange::Availability(availability), codes));
        let levels = by_level.into_iter().map(|(level, codes)| (DestinationChange::Congestion(level), codes));
        for (change, codes) in availabilities.chain(levels) {
            let codes: Vec<_> = codes.into_iter().collect();
            for codes in codes.chunks(CODES_MAX) {
                self.announce(association, codes, subsystem, change, Vec::new());
            }
        }
    }

    fn drain_asps(&mut self) {
        while let Some(output) = self.asps.poll_output() {
            match output {
                GatewayOutput::Send(association, message) => {
                    self.transmit(association, StreamNumber(0), &Message::Asp(message));
                }
                GatewayOutput::Event(event) => {
                    self.handle_asp_event(&event);
                    self.event(SignallingGatewayEvent::Asp(event));
                }
            }
        }
    }

    fn handle_asp_event(&mut self, event: &GatewayEvent<u32>) {
        match event {
            GatewayEvent::FlushQueue(context) => self.flush(*context),
            GatewayEvent::DiscardQueue(context) => {
                let Some(server) = self.servers.get_mut(context) else { return };
                for (origin, message) in std::mem::take(&mut server.queue) {
                    self.drops.count(DropReason::RecoveryExpired);
                    self.give_back(origin, &message, return_cause::SUBSYSTEM_FAILURE);
                }
                self.follow_congestion(*context);
            }
            GatewayEvent::Asp(association, context, state) => {
                let Some(server) = self.servers.get_mut(context) else { return };
                match state {
                    AspState::Active => server.must_correlate = true,
                    AspState::Down => {
                        server.labels.remove(association);
                        // An ASP that went down has forgotten its connections.
                        let gone = Peer::Asp(*association);
                        self.connections.retain(|(_, owner), section| {
                            (*owner != *association || section.context != *context)
                                && section.peer != Some(gone)
                        });
                    }
                    AspState::Inactive => {}
                }
                self.follow_congestion(*context);
            }
            _ => {}
        }
    }

    fn transmit(&mut self, association: AssociationNumber, stream: StreamNumber, message: &Message) {
        if self.associations.contains(association) {
            let transmit = super::transmit(association, stream, message.to_bytes());
            self.outputs.push_back(SignallingGatewayOutput::Transmit(transmit));
        } else {
            self.drops.count(DropReason::AssociationDown);
        }
    }

    fn send_error(
        &mut self,
        association: AssociationNumber,
        code: ErrorCode,
        scope: RoutingContexts,
        octets: &[u8],
    ) {
        self.drops.count(DropReason::Refused);
        let error = AspMessage::error(code, scope, octets);
        self.transmit(association, StreamNumber(0), &Message::Asp(error));
    }

    fn event(&mut self, event: SignallingGatewayEvent) {
        self.outputs.push_back(SignallingGatewayOutput::Event(event));
    }
}

/// "Invalid loadsharing label" (RFC 3868, section 3.9.12): SUA alone has it.
const INVALID_LOADSHARING_LABEL: u32 = 0x1c;
