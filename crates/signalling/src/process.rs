//! An application server process with its part in each application server.
//!
//! It comes up whenever an association does. In override mode the first process of an application server takes the
//! traffic when it comes up; the others stand by, and take it when the gateway notifies that no process is active.

mod succession;

use std::collections::{BTreeMap, VecDeque};

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{self, AspState, ProcessEvent, ServerName, Status};
use slantpath_sigtran::m3ua::{self, AspOutput, NetworkPoint};
use slantpath_sigtran::transport::{AssociationNumber, Transmit, TransportInput};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use crate::m3ua::{AssociationTally, M3uaEvent, M3uaEventKind as Kind, Tallies};
use crate::management::ProcessChange;
use crate::registrations::Registrations;

/// An application server process.
#[derive(Clone, Debug)]
pub struct ServerProcessConfig {
    /// Settings of its M3UA.
    pub asp: m3ua::AspConfig,
    /// Roles of the process, one for each application server.
    pub roles: Vec<Role>,
    /// Routing keys that it registers at each gateway, for application servers that are not in the settings of M3UA.
    /// The routing contexts are those of the roles, by which events name them whatever a gateway gives.
    pub registered: Vec<(u32, m3ua::RoutingKey)>,
}

/// Role of a process for an application server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// The application server.
    pub routing_context: u32,
    /// Number of processes before it: 0 takes traffic at once.
    pub place: u32,
}

/// Inputs of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerProcessInput {
    /// From an association.
    Association(AssociationNumber, TransportInput),
    /// Request from management.
    Management(ProcessChange),
}

/// Requests and reports of a process to its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerProcessOutput {
    /// An association is to end at once; who opened it opens it again.
    Abort(AssociationNumber),
    /// An association is to end at once, and to stay closed.
    Close(AssociationNumber),
    /// Something happened at the process.
    Event(M3uaEvent),
    /// For the user parts above it.
    Indication(TransferIndication),
    /// An association that was closed is to be opened again.
    Open(AssociationNumber),
    /// A message for an association.
    Transmit(Transmit),
    /// Nothing until then, or until something comes.
    Wait(Option<Instant>),
}

/// An application server process.
#[derive(Debug)]
pub struct ServerProcess {
    asp: m3ua::Asp,
    tallies: Tallies,
    roles: Vec<Role>,
    /// Instants at which it takes traffic that nobody has, by association and routing context.
    takeovers: BTreeMap<(AssociationNumber, u32), Instant>,
    registrations: Registrations,
    /// Time that an answer may take: the first process has as long to come up before the next one takes its place.
    acknowledgement: Duration,
    management: Management,
    outputs: VecDeque<ServerProcessOutput>,
}

/// Wish of management for a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Management {
    /// Wish for traffic.
    Active,
    /// Wish for no traffic.
    Inactive,
}

impl ServerProcess {
    /// A process without associations.
    ///
    /// # Errors
    /// If the configuration contradicts itself.
    pub fn new(config: ServerProcessConfig) -> Result<Self, asp::ConfigError> {
        let ServerProcessConfig { asp, roles, registered } = config;
        Ok(Self {
            tallies: Tallies::new(asp.gateways.iter().copied()),
            roles,
            takeovers: BTreeMap::new(),
            registrations: Registrations::new(registered),
            acknowledgement: asp.process.acknowledgement,
            management: Management::Active,
            outputs: VecDeque::new(),
            asp: m3ua::Asp::new(asp)?,
        })
    }

    /// Takes what comes.
    pub fn handle_input(&mut self, now: Instant, input: ServerProcessInput) {
        match input {
            ServerProcessInput::Association(association, input) => {
                self.handle_transport(now, association, input);
            }
            ServerProcessInput::Management(change) => self.handle_management(now, change),
        }
    }

    /// MTP-TRANSFER request of a user part above. Says whether it was taken; if not, it is counted under its reason.
    pub fn transfer(&mut self, network: Option<u32>, transfer: &Transfer) -> bool {
        let before = self.asp.counters().dropped_in_all();
        self.asp.transfer(network, transfer.clone());
        self.asp.counters().dropped_in_all() == before
    }

    /// Tells whether it reaches a destination.
    pub fn reaches(&self, place: NetworkPoint) -> bool {
        self.asp.destination(place).availability != m3ua::Availability::Unavailable
    }

    /// Tells whether it carries the traffic of an application server, at any gateway, and is to go on with it.
    pub fn is_active(&self, routing_context: u32) -> bool {
        if self.management == Management::Inactive {
            return false;
        }
        let mut associations = self.tallies.associations();
        associations.any(|association| self.state(association, routing_context) == AspState::Active)
    }

    /// Does all there is to do by `now`, and says what to do with it, or until when nothing is to be done.
    pub fn poll_output(&mut self, now: Instant) -> ServerProcessOutput {
        loop {
            if let Some(output) = self.outputs.pop_front() {
                return output;
            }
            match self.asp.poll_output(now) {
                AspOutput::Event(association, event) => self.handle_event(now, association, event),
                AspOutput::Indication(_, indication) => self.indicate(indication),
                AspOutput::Transmit(transmit) => {
                    self.tallies.sent(transmit.association, &transmit.octets);
                    return ServerProcessOutput::Transmit(transmit);
                }
                // Nobody asks for it: a registration ends with ASP Down.
                AspOutput::Deregistered(..) => {}
                AspOutput::Registered(association, result) => self.registered(now, association, result),
                AspOutput::Wait(deadline) => {
                    let takeover = self.takeovers.values().copied().min();
                    let again = self.registrations.deadline();
                    let deadline = deadline.into_iter().chain(takeover).chain(again).min();
                    if deadline.is_none_or(|deadline| deadline > now) {
                        return ServerProcessOutput::Wait(deadline);
                    }
                    self.handle_deadline(now);
                }
            }
        }
    }

    /// Gives the state of the process in an application server, at the gateway of an association.
    pub fn state(&self, association: AssociationNumber, routing_context: u32) -> AspState {
        let name = self.name_at(association, routing_context);
        name.map_or(AspState::Down, |name| self.asp.state(association, &name))
    }

    /// The name of an application server at a gateway, if it has one there.
    fn name_at(&self, at: AssociationNumber, routing_context: u32) -> Option<ServerName<u32>> {
        self.registrations.given(at, routing_context).map(ServerName::Named)
    }

    /// Gives the counts of M3UA.
    pub const fn counters(&self) -> &m3ua::Counters {
        self.asp.counters()
    }

    /// Gives the counts of what has been sent and received over an association, if it has that.
    pub fn association_tally(&self, association: AssociationNumber) -> Option<AssociationTally> {
        self.tallies.of(association)
    }

    fn handle_transport(&mut self, now: Instant, from: AssociationNumber, input: TransportInput) {
        self.tallies.received(from, &input);
        if let Some(kind) = Kind::of_transport(&input) {
            self.event(Some(from), None, kind);
        }
        let (is_up, is_down) =
            (matches!(input, TransportInput::Up { .. }), matches!(input, TransportInput::Down));
        self.asp.handle_input(now, from, input);
        if is_up {
            self.asp.up(now, from);
        }
        if is_down {
            // It stands by again when it comes back.
            self.takeovers.retain(|(association, _), _| *association != from);
            let standing_by: Vec<_> = self
                .roles
                .iter()
                .filter(|role| role.place > 0 && !self.registrations.is_registered(role.routing_context))
                .map(|role| ServerName::Named(role.routing_context))
                .collect();
            if !standing_by.is_empty() {
                self.asp.deactivate(now, from, &standing_by);
            }
        }
    }

    fn handle_management(&mut self, now: Instant, change: ProcessChange) {
        let associations: Vec<_> = self.tallies.associations().collect();
        for association in associations {
            match change {
                ProcessChange::Activate => {
                    // A gateway may have kept it out.
                    if !self.asp.is_up(association) {
                        self.asp.up(now, association);
                    }
                    self.asp.activate(now, association, &[]);
                }
                ProcessChange::Deactivate => self.asp.deactivate(now, association, &[]),
                ProcessChange::Fail => self.outputs.push_back(ServerProcessOutput::Close(association)),
                ProcessChange::Restore => self.outputs.push_back(ServerProcessOutput::Open(association)),
            }
        }
        self.management = match change {
            ProcessChange::Activate => Management::Active,
            ProcessChange::Deactivate => Management::Inactive,
            ProcessChange::Fail | ProcessChange::Restore => self.management,
        };
    }

    fn event(&mut self, association: Option<AssociationNumber>, routing_context: Option<u32>, kind: Kind) {
        self.outputs.push_back(ServerProcessOutput::Event(M3uaEvent { association, routing_context, kind }));
    }

    fn handle_event(&mut self, now: Instant, at: AssociationNumber, event: ProcessEvent<u32>) {
        match event {
            ProcessEvent::Asp(name, state) => {
                let context = name.key().map(|given| self.registrations.own(at, *given));
                self.event(Some(at), context, Kind::Asp(state));
            }
            ProcessEvent::Notified(status, names, _) => {
                let given = names.iter().filter_map(ServerName::key);
                let contexts: Vec<u32> = given.map(|given| self.registrations.own(at, *given)).collect();
                self.notified(now, at, status, &contexts);
                for context in contexts {
                    self.event(Some(at), Some(context), Kind::Notified(status));
                }
            }
            ProcessEvent::NotAcknowledged(request) => {
                self.event(Some(at), None, Kind::NotAcknowledged(request));
            }
            ProcessEvent::PeerError(code) => {
                self.registrations.rest(at);
                self.event(Some(at), None, Kind::Error(code));
            }
            ProcessEvent::PeerUnavailable => {
                self.outputs.push_back(ServerProcessOutput::Abort(at));
                self.event(Some(at), None, Kind::PeerUnavailable);
            }
            ProcessEvent::Up(true) => self.came_up(now, at),
            ProcessEvent::Up(false) => self.registrations.forget(at),
        }
    }

    /// Asks a gateway to register what it has not registered.
    fn register(&mut self, now: Instant, at: AssociationNumber) {
        let keys = self.registrations.wanted(at);
        if !keys.is_empty() && self.asp.register(at, keys).is_ok() {
            self.registrations.ask(at, now + self.acknowledgement);
        }
    }

    /// A gateway has answered: the process begins to serve, or to stand by.
    fn registered(&mut self, now: Instant, at: AssociationNumber, result: m3ua::RegistrationResult) {
        let Some((context, destination)) = self.registrations.answer(at, &result) else { return };
        let event = M3uaEvent::of_registration(at, result, destination);
        let routing_context = Some(context);
        self.outputs.push_back(ServerProcessOutput::Event(M3uaEvent { routing_context, ..event }));
        let is_first = self.roles.iter().any(|role| role.routing_context == context && role.place == 0);
        if is_first && self.management == Management::Active {
            self.activate(now, at, &[context]);
        }
    }

    /// Activates application servers, as far as the gateway has them.
    fn activate(&mut self, now: Instant, at: AssociationNumber, contexts: &[u32]) {
        let names: Vec<_> = contexts.iter().filter_map(|context| self.name_at(at, *context)).collect();
        if !names.is_empty() {
            self.asp.activate(now, at, &names);
        }
    }

    fn indicate(&mut self, indication: TransferIndication) {
        let kind = match &indication {
            TransferIndication::Pause(code) => Some(Kind::Pause(*code)),
            TransferIndication::Resume(code) => Some(Kind::Resume(*code)),
            TransferIndication::Status { affected, cause } => Some(Kind::of_status(*affected, *cause)),
            TransferIndication::Transfer(_) => None,
        };
        if let Some(kind) = kind {
            self.event(None, None, kind);
        }
        self.outputs.push_back(ServerProcessOutput::Indication(indication));
    }

    /// The gateway has granted ASP Up.
    fn came_up(&mut self, now: Instant, at: AssociationNumber) {
        self.register(now, at);
        if self.management == Management::Inactive {
            return;
        }
        let first = self.roles.iter().filter(|role| role.place == 0);
        let contexts: Vec<_> = first.map(|role| role.routing_context).collect();
        self.activate(now, at, &contexts);
    }

    /// NTFY: whoever stands by takes what nobody has, at once after a failure, and after its turn at the start.
    fn notified(&mut self, now: Instant, at: AssociationNumber, status: Status, contexts: &[u32]) {
        let standing_by = self.roles.iter().filter(|role| role.place > 0);
        for role in standing_by.filter(|role| contexts.is_empty() || contexts.contains(&role.routing_context))
        {
            let key = (at, role.routing_context);
            match status {
                Status::AS_INACTIVE => {
                    let turn = now + self.acknowledgement * u64::from(role.place);
                    self.takeovers.entry(key).or_insert(turn);
                }
                Status::AS_PENDING => {
                    let turn = now + self.acknowledgement * u64::from(role.place - 1);
                    self.takeovers.insert(key, turn);
                }
                Status::AS_ACTIVE | Status::ALTERNATE_ASP_ACTIVE => {
                    self.takeovers.remove(&key);
                }
                _ => {}
            }
        }
    }

    /// Does what is due by now.
    fn handle_deadline(&mut self, now: Instant) {
        self.asp.handle_deadline(now);
        let due: Vec<_> = self.takeovers.extract_if(.., |_, turn| *turn <= now).map(|(key, _)| key).collect();
        for (at, context) in due {
            if self.management == Management::Active {
                self.activate(now, at, &[context]);
            }
        }
        for at in self.registrations.take_due(now) {
            self.register(now, at);
        }
    }
}
