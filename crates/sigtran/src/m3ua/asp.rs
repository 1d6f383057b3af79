//! The application server process: it serves user parts over one gateway or several (RFC 4666).
//!
//! User parts give messages to [`Asp::transfer`] and take the primitives of the message transfer part from
//! [`Asp::poll_output`]; whether MTP3 or M3UA carries them, they do not know.

mod change;
mod config;
mod network;
mod registration;
mod traffic;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_ss7::transfer::TransferIndication;

pub use config::{AspConfig, AvailabilityPolicy, Destination, ServedServer};
pub use registration::NotUp;

use crate::asp::{
    AspMessage, AspState, ConfigError, ErrorCode, Process, ProcessEvent, ProcessOutput, RoutingContexts,
    ServerName,
};
use crate::m3ua::link::{self, Link, Writer};
use crate::m3ua::{
    Counters, Data, DeregistrationResult, M3ua, Message, NetworkPoint, RegistrationResult, RoutingKey, data,
};
use crate::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use network::RouteSet;

/// Output of an application server process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AspOutput {
    /// Outcome of a deregistration.
    Deregistered(AssociationNumber, DeregistrationResult),
    /// Something for management, of one gateway.
    Event(AssociationNumber, ProcessEvent<u32>),
    /// A primitive for the user parts of a network.
    Indication(Option<u32>, TransferIndication),
    /// Outcome of a registration.
    Registered(AssociationNumber, RegistrationResult),
    /// A message to send.
    Transmit(Transmit),
    /// Nothing more before this deadline, or before the next input.
    Wait(Option<Instant>),
}

/// An application server process.
#[derive(Clone, Debug)]
pub struct Asp {
    config: AspConfig,
    gateways: BTreeMap<AssociationNumber, Peer>,
    servers: Vec<Server>,
    routes: BTreeMap<NetworkPoint, RouteSet>,
    registering: BTreeMap<(AssociationNumber, u32), RoutingKey>,
    writer: Writer,
    outputs: VecDeque<AspOutput>,
    counters: Counters,
}

/// A gateway process.
#[derive(Clone, Debug)]
struct Peer {
    process: Process<M3ua>,
    link: Option<Link>,
    /// Instant at which the gateway is asked for destinations without good news.
    audit_at: Option<Instant>,
}

/// An application server, and the only gateway that knows it if it was registered there.
#[derive(Clone, Debug)]
struct Server {
    served: ServedServer,
    registered_at: Option<AssociationNumber>,
}

impl Server {
    /// True if it was registered at a gateway, by this name.
    fn is_registered(&self, gateway: AssociationNumber, name: &ServerName<u32>) -> bool {
        self.registered_at == Some(gateway) && self.served.name == *name
    }
}

impl Asp {
    /// A process without associations.
    ///
    /// # Errors
    /// If the configuration contradicts itself.
    pub fn new(config: AspConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let mut gateways = BTreeMap::new();
        for gateway in &config.gateways {
            let mut process = Process::new(config.process)?;
            for server in &config.servers {
                process.add_server(server.name.clone(), server.traffic_mode);
            }
            gateways.insert(*gateway, Peer { process, link: None, audit_at: None });
        }
        let servers = config.servers.iter().cloned();
        let servers = servers.map(|served| Server { served, registered_at: None }).collect();
        let routes = config.destinations.iter().map(RouteSet::new).collect();
        Ok(Self {
            config,
            gateways,
            servers,
            routes,
            registering: BTreeMap::new(),
            writer: Writer::default(),
            outputs: VecDeque::new(),
            counters: Counters::default(),
        })
    }

    /// Gives the counts of messages by outcome.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// M-ASP_STATUS: the state within an application server at a gateway.
    pub fn state(&self, gateway: AssociationNumber, name: &ServerName<u32>) -> AspState {
        self.gateways.get(&gateway).map_or(AspState::Down, |peer| peer.process.state(name))
    }

    /// Tells whether a gateway has granted ASP Up.
    pub fn is_up(&self, gateway: AssociationNumber) -> bool {
        self.gateways.get(&gateway).is_some_and(|peer| peer.process.is_up())
    }

    /// Gives the next output.
    pub fn poll_output(&mut self, _now: Instant) -> AspOutput {
        self.outputs.pop_front().unwrap_or_else(|| AspOutput::Wait(self.next_deadline()))
    }

    fn next_deadline(&self) -> Option<Instant> {
        let of = |peer: &Peer| [peer.process.next_deadline(), peer.audit_at];
        self.gateways.values().flat_map(of).flatten().min()
    }

    /// Does what is due by now.
    pub fn handle_deadline(&mut self, now: Instant) {
        let gateways: Vec<AssociationNumber> = self.gateways.keys().copied().collect();
        for gateway in gateways {
            self.command(now, gateway, |process| process.handle_deadline(now));
            self.audit_if_due(now, gateway);
        }
    }

    /// M-ASP_UP request, to one gateway.
    pub fn up(&mut self, now: Instant, gateway: AssociationNumber) {
        self.command(now, gateway, |process| process.up(now));
    }

    /// M-ASP_DOWN request, to one gateway.
    pub fn down(&mut self, now: Instant, gateway: AssociationNumber) {
        self.command(now, gateway, |process| process.down(now));
    }

    /// M-ASP_ACTIVE request for application servers at one gateway; for all if none is named.
    pub fn activate(&mut self, now: Instant, gateway: AssociationNumber, names: &[ServerName<u32>]) {
        self.command(now, gateway, |process| process.activate(now, names));
    }

    /// M-ASP_INACTIVE request for application servers at one gateway; for all if none is named.
    pub fn deactivate(&mut self, now: Instant, gateway: AssociationNumber, names: &[ServerName<u32>]) {
        self.command(now, gateway, |process| process.deactivate(now, names));
    }

    /// Takes over that this process is up or down, as the other half of an IPSP has agreed.
    pub(super) fn adopt_up(&mut self, now: Instant, gateway: AssociationNumber, is_up: bool) {
        self.command(now, gateway, |process| process.adopt_up(now, is_up));
    }

    /// Takes over the state within an application server, as the other half of an IPSP has agreed.
    pub(super) fn adopt(
        &mut self,
        now: Instant,
        gateway: AssociationNumber,
        name: &ServerName<u32>,
        state: AspState,
    ) {
        self.command(now, gateway, |process| process.adopt(name, state));
    }

    /// Takes an input from the transport of an association to a gateway. One that is not configured is passed over.
    pub fn handle_input(&mut self, now: Instant, gateway: AssociationNumber, input: TransportInput) {
        let Some(peer) = self.gateways.get_mut(&gateway) else {
            self.counters.ignored += 1;
            return;
        };
        match input {
            TransportInput::Up { outbound_streams } => {
                peer.link = Some(Link { outbound_streams, is_congested: false });
                peer.process.handle_association_up(now);
            }
            // Nothing asks for it.
            TransportInput::Transmitted(_) => {}
            TransportInput::Unsent(octets) => self.take_back(&octets),
            TransportInput::Down => {
                peer.link = None;
                peer.process.handle_association_down(now);
            }
            TransportInput::Restart => peer.process.handle_restart(now),
            TransportInput::Congested(is_congested) => {
                if let Some(link) = &mut peer.link {
                    link.is_congested = is_congested;
                    self.settle_routes();
                }
            }
            TransportInput::Message { payload_protocol, .. }
                if link::is_of_other_protocol(payload_protocol) =>
            {
                self.counters.wrong_payload_protocol += 1;
            }
            TransportInput::Message { stream, octets, .. } => {
                peer.process.note_received(now);
                self.handle_octets(now, gateway, stream, &octets);
            }
        }
        self.follow_process(now, gateway);
    }

    fn handle_octets(&mut self, now: Instant, from: AssociationNumber, stream: StreamNumber, octets: &Bytes) {
        let parsed = if octets.get(2..4) == Some(&[data::KIND.class, data::KIND.kind]) {
            Data::parse(octets).map(Message::Data)
        } else {
            Message::parse(octets)
        };
        let message = match parsed {
            Ok(Message::Data(data)) => return self.handle_data(from, stream, &data, octets),
            Ok(message) => message,
            Err(error) => {
                self.counters.malformed += 1;
                if !link::is_error(octets) {
                    self.send_error(from, error.error_code(), octets);
                }
                return;
            }
        };
        if link::is_on_wrong_stream(&message, stream) {
            self.send_error(from, ErrorCode::INVALID_STREAM_IDENTIFIER, octets);
            return;
        }
        match message {
            Message::Asp(message) => {
                self.counters.errors_received += u64::from(matches!(message, AspMessage::Err { .. }));
                self.command(now, from, |process| process.handle_message(now, message, octets));
            }
            message if message.kind().class == 2 => self.handle_network(now, from, &message, octets),
            Message::RegRsp { results } => self.handle_registered(now, from, results),
            Message::DeregRsp { results } => self.handle_deregistered(from, results),
            // Only an ASP sends these.
            _ => self.send_error(from, ErrorCode::UNEXPECTED_MESSAGE, octets),
        }
    }

    fn command(&mut self, now: Instant, gateway: AssociationNumber, ask: impl FnOnce(&mut Process<M3ua>)) {
        if let Some(peer) = self.gateways.get_mut(&gateway) {
            ask(&mut peer.process);
            self.follow_process(now, gateway);
        }
    }

    /// Does what a process says, in its order.
    fn follow_process(&mut self, now: Instant, gateway: AssociationNumber) {
        while let Some(output) = self.gateways.get_mut(&gateway).and_then(|peer| peer.process.poll_output()) {
            match output {
                ProcessOutput::Send(message) => {
                    self.counters.errors_sent += u64::from(matches!(message, AspMessage::Err { .. }));
                    self.send(gateway, &Message::Asp(message));
                }
                ProcessOutput::Event(event) => {
                    self.handle_event(now, gateway, &event);
                    self.outputs.push_back(AspOutput::Event(gateway, event));
                }
            }
        }
    }

    fn handle_event(&mut self, now: Instant, gateway: AssociationNumber, event: &ProcessEvent<u32>) {
        match event {
            ProcessEvent::Asp(name, AspState::Active) => self.begin_routes(now, gateway, name),
            ProcessEvent::Asp(..) => self.settle_routes(),
            ProcessEvent::Up(false) => {
                self.forget_registrations(gateway);
                self.forget_routes(gateway);
            }
            _ => {}
        }
    }

    fn send(&mut self, to: AssociationNumber, message: &Message) {
        // Without an association nobody would receive it.
        if self.gateways.get(&to).is_some_and(|peer| peer.link.is_some()) {
            self.outputs.push_back(AspOutput::Transmit(Writer::management(to, message)));
        }
    }

    fn send_error(&mut self, to: AssociationNumber, code: ErrorCode, octets: &[u8]) {
        self.counters.errors_sent += 1;
        self.send(to, &link::error_about(code, octets));
    }

    fn send_context_error(&mut self, to: AssociationNumber, contexts: &[u32], octets: &[u8]) {
        self.counters.errors_sent += 1;
        let scope = RoutingContexts(contexts.to_vec());
        let message = AspMessage::error(ErrorCode::INVALID_ROUTING_CONTEXT, scope, octets);
        self.send(to, &Message::Asp(message));
    }
}
