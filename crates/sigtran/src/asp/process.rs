//! The side of the ASP: one association to a gateway, or to the other IPSP, and the application servers that are to
//! be served over it.
//!
//! Commands say what is wanted; it is asked for as soon as the association and the state allow, and again after
//! whatever took it away, but for another ASP that has overridden this one.

mod acknowledgement;
mod request;

use std::collections::{BTreeMap, VecDeque};

use slantpath_base::{Duration, Instant};

use crate::asp::config::{self, ConfigError};
use crate::asp::heartbeat::{Heartbeat, HeartbeatDue};
use crate::asp::{
    ASP_MACHINE, AdaptationLayer, AspInput, AspMessage, AspState, ErrorCode, Key, Scope, Status, TrafficMode,
};
use request::Pending;
pub use request::Request;

/// Settings of an ASP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessConfig {
    /// The ASP identifier to give in ASP Up, if any.
    pub identifier: Option<u32>,
    /// T(ack): how long an answer may take; 2 seconds in the RFC, 10 ms to 60 s here.
    pub acknowledgement: Duration,
    /// Number of times that a request is sent before management is told that nothing answers, and it rests; without it,
    /// there is no limit.
    pub tries_max: Option<u32>,
    /// T(beat), if heartbeats are sent; 100 ms to 600 s. SCTP has its own, so none by default.
    pub heartbeat: Option<Duration>,
}

impl Default for ProcessConfig {
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.1
    //# T(ack) is provisionable, with a
    //# default of 2 seconds.
    fn default() -> Self {
        let acknowledgement = Duration::from_secs(2);
        Self { identifier: None, acknowledgement, tries_max: None, heartbeat: None }
    }
}

impl ProcessConfig {
    /// Refuses a timer out of its range.
    fn check(&self) -> Result<(), ConfigError> {
        config::ACKNOWLEDGEMENT.check(self.acknowledgement)?;
        self.heartbeat.map_or(Ok(()), |beat| config::HEARTBEAT.check(beat))
    }
}

/// Output of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessOutput<L: AdaptationLayer> {
    /// Something that the layer must know, before anything that comes out after it.
    Event(ProcessEvent<Key<L>>),
    /// A message to send: on stream 0, but for heartbeats, which may go anywhere.
    Send(AspMessage<L>),
}

/// An application server, as a process speaks of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerName<K> {
    /// All that the gateway knows by configuration that the ASP serves: messages name nothing.
    Implied,
    /// One, by its routing context or interface identifier.
    Named(K),
}

impl<K> ServerName<K> {
    /// The name, if there is one.
    pub const fn key(&self) -> Option<&K> {
        match self {
            Self::Implied => None,
            Self::Named(key) => Some(key),
        }
    }
}

/// Something that the layer must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEvent<K> {
    /// M-ASP status within an application server.
    Asp(ServerName<K>, AspState),
    /// M-NOTIFY: what the gateway tells, of which application servers, and about which ASP.
    Notified(Status, Vec<ServerName<K>>, Option<u32>),
    /// A request was sent as often as it may be, and nothing answered.
    NotAcknowledged(Request),
    /// M-ERROR: the peer has sent an ERR; requests that it refuses rest until they are asked for again.
    PeerError(ErrorCode),
    /// The peer is silent: the association is to be aborted. It counts as down already.
    PeerUnavailable,
    /// The ASP as a whole is up, or down.
    Up(bool),
}

/// One association of an ASP.
#[derive(Clone, Debug)]
pub struct Process<L: AdaptationLayer> {
    config: ProcessConfig,
    link: Link,
    is_up: bool,
    wants_up: bool,
    /// ASP Up or ASP Down that waits for its Ack.
    pending: Option<Pending>,
    servers: BTreeMap<ServerName<Key<L>>, Served>,
    outputs: VecDeque<ProcessOutput<L>>,
}

#[derive(Clone, Copy, Debug)]
enum Link {
    Down,
    Up(Option<Heartbeat>),
}

/// An application server, as far as this association serves it.
#[derive(Clone, Copy, Debug, Default)]
struct Served {
    state: AspState,
    wants_traffic: bool,
    mode: Option<TrafficMode>,
    /// ASP Active or ASP Inactive that waits for its Ack.
    pending: Option<Pending>,
}

impl Served {
    /// Tells whether management has asked for traffic after an ASP Inactive whose Ack is still outstanding.
    fn is_wanted_again(&self) -> bool {
        self.wants_traffic && self.pending.is_some_and(|pending| pending.request == Request::Inactive)
    }
}

impl<L: AdaptationLayer> Process<L> {
    /// A process that serves no application server yet.
    ///
    /// # Errors
    /// If a timer is out of its range.
    pub fn new(config: ProcessConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let (servers, outputs) = (BTreeMap::new(), VecDeque::new());
        Ok(Self { config, link: Link::Down, is_up: false, wants_up: false, pending: None, servers, outputs })
    }

    /// Takes other settings. Requests that wait for their Ack are as they were, and heartbeats until the association
    /// comes up anew.
    ///
    /// # Errors
    /// If a timer is out of its range; nothing changes then.
    pub fn reconfigure(&mut self, config: ProcessConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.config = config;
        Ok(())
    }

    /// Adds an application server, or changes the traffic mode that is asked for it.
    pub fn add_server(&mut self, key: ServerName<Key<L>>, mode: Option<TrafficMode>) {
        let state = if self.is_up { AspState::Inactive } else { AspState::Down };
        self.servers.entry(key).or_insert(Served { state, ..Served::default() }).mode = mode;
    }

    /// Serves an application server no longer; the gateway is told nothing.
    pub fn remove_server(&mut self, key: &ServerName<Key<L>>) {
        self.servers.remove(key);
    }

    /// The application servers.
    pub fn keys(&self) -> impl Iterator<Item = &ServerName<Key<L>>> {
        self.servers.keys()
    }

    /// The state within an application server; down for one that is not served.
    pub fn state(&self, key: &ServerName<Key<L>>) -> AspState {
        self.servers.get(key).map_or(AspState::Down, |served| served.state)
    }

    /// Tells whether ASP Inactive of an application server waits for its Ack.
    pub fn gives_back(&self, key: &ServerName<Key<L>>) -> bool {
        let pending = self.servers.get(key).and_then(|served| served.pending);
        pending.is_some_and(|pending| pending.request == Request::Inactive)
    }

    /// Tells whether the gateway has granted ASP Up.
    pub const fn is_up(&self) -> bool {
        self.is_up
    }

    /// Tells whether the traffic of any application server flows.
    pub fn is_active(&self) -> bool {
        self.servers.values().any(|served| served.state == AspState::Active)
    }

    /// Tells whether the association is up.
    pub const fn is_connected(&self) -> bool {
        matches!(self.link, Link::Up(_))
    }

    /// Takes the next output from the queue.
    pub fn poll_output(&mut self) -> Option<ProcessOutput<L>> {
        self.outputs.pop_front()
    }

    /// Gives the instant at which [`Process::handle_deadline`] has something to do.
    pub fn next_deadline(&self) -> Option<Instant> {
        let beat = match self.link {
            Link::Up(Some(beat)) => Some(beat.deadline()),
            Link::Up(None) | Link::Down => None,
        };
        let requests = self.servers.values().map(|served| served.pending).chain([self.pending]);
        requests.flatten().map(|pending| pending.deadline).chain(beat).min()
    }

    /// Takes SCTP-COMMUNICATION UP of the association.
    pub fn handle_association_up(&mut self, now: Instant) {
        self.link = Link::Up(self.config.heartbeat.map(|interval| Heartbeat::new(now, interval)));
        self.pursue(now);
    }

    /// Takes SCTP-COMMUNICATION DOWN of the association.
    pub fn handle_association_down(&mut self, now: Instant) {
        self.link = Link::Down;
        self.put_to_all(now, AspInput::CommunicationDown, &[]);
    }

    /// SCTP-RESTART: the peer holds the ASP for down.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.3
    //# The ASP, if
    //# it is to recover, must begin any recovery with the ASP-Up procedure.
    pub fn handle_restart(&mut self, now: Instant) {
        self.put_to_all(now, AspInput::Restart, &[]);
    }

    /// Takes over that the ASP is up or down: with single exchange, the other IPSP has asked for it.
    pub fn adopt_up(&mut self, now: Instant, is_up: bool) {
        if self.is_up == is_up {
            return;
        }
        // ASP Down of both crosses: management that has asked for ASP Up since waits for the Ack.
        let is_wanted_again = !is_up && self.wants_up && self.is_pending(Request::Down);
        if !is_wanted_again {
            self.wants_up = is_up;
            self.pending = None;
        }
        self.set_up(is_up);
        let names: Vec<ServerName<Key<L>>> = self.servers.keys().cloned().collect();
        for name in names {
            let state = self.state(&name);
            self.set_state(&name, if is_up { state.max(AspState::Inactive) } else { AspState::Down });
        }
        self.pursue(now);
    }

    /// Takes over the state within an application server: with single exchange, the other IPSP has asked for it.
    pub fn adopt(&mut self, name: &ServerName<Key<L>>, state: AspState) {
        if let Some(served) = self.servers.get_mut(name)
            && served.state != state
        {
            // What was wanted before the other came up is still wanted, and what management has asked for since its
            // ASP Inactive, which crosses the other's; what the other takes away is not.
            let is_taken = served.state == AspState::Active && !served.is_wanted_again();
            let waits_for_own = state == AspState::Inactive && served.is_wanted_again();
            served.wants_traffic = state == AspState::Active || served.wants_traffic && !is_taken;
            if !waits_for_own {
                served.pending = None;
            }
            self.set_state(name, state);
        }
    }

    /// Notes that the peer speaks, whatever it says.
    pub const fn note_received(&mut self, now: Instant) {
        if let Link::Up(Some(beat)) = &mut self.link {
            beat.handle_message(now);
        }
    }

    /// Does what is due by now.
    pub fn handle_deadline(&mut self, now: Instant) {
        self.repeat_requests(now);
        let Link::Up(Some(beat)) = &mut self.link else { return };
        match beat.take_due(now) {
            Some(HeartbeatDue::Send) => self.send(AspMessage::Beat { data: None }),
            Some(HeartbeatDue::PeerUnavailable) => {
                self.handle_association_down(now);
                self.event(ProcessEvent::PeerUnavailable);
            }
            None => {}
        }
    }

    /// A message of class 0, 3 or 4, and its octets, which an ERR about it quotes.
    pub fn handle_message(&mut self, now: Instant, message: AspMessage<L>, octets: &[u8]) {
        match message {
            AspMessage::AspUpAck { .. } => self.put_to_all(now, AspInput::AspUpAck, octets),
            AspMessage::AspDownAck { .. } => {
                let is_asked = self.is_pending(Request::Down);
                let input = if is_asked { AspInput::AspDownAck } else { AspInput::AspDownAckUnasked };
                self.put_to_all(now, input, octets);
            }
            AspMessage::AspActiveAck { scope, .. } => {
                self.handle_traffic_ack(now, Request::Active, &scope, octets);
            }
            AspMessage::AspInactiveAck { scope, .. } => {
                self.handle_traffic_ack(now, Request::Inactive, &scope, octets);
            }
            AspMessage::Ntfy { status, asp_identifier, scope, .. } => {
                self.handle_notify(status, asp_identifier, &scope, octets);
            }
            AspMessage::Err { code, scope, .. } => self.handle_error(now, code, &scope),
            AspMessage::Beat { data } => self.send(AspMessage::BeatAck { data }),
            AspMessage::BeatAck { .. } => {}
            AspMessage::AspUp { .. }
            | AspMessage::AspDown { .. }
            | AspMessage::AspActive { .. }
            | AspMessage::AspInactive { .. } => {
                let error = AspMessage::error(ErrorCode::UNEXPECTED_MESSAGE, L::Scope::default(), octets);
                self.send(error);
            }
        }
    }

    /// The state of the ASP as a whole: that of the application server where it does most.
    fn overall(&self) -> AspState {
        let own = if self.is_up { AspState::Inactive } else { AspState::Down };
        self.servers.values().map(|served| served.state).max().unwrap_or_default().max(own)
    }

    fn set_state(&mut self, key: &ServerName<Key<L>>, state: AspState) {
        let Some(served) = self.servers.get_mut(key) else { return };
        if served.state != state {
            served.state = state;
            self.event(ProcessEvent::Asp(key.clone(), state));
        }
    }

    fn set_up(&mut self, is_up: bool) {
        if self.is_up != is_up {
            self.is_up = is_up;
            self.event(ProcessEvent::Up(is_up));
        }
    }

    /// The row of the ASP's machine, if the state has one for the input.
    fn row(state: AspState, input: AspInput) -> Option<(AspState, &'static [crate::asp::AspAction])> {
        ASP_MACHINE.next(state, input).map(|row| (row.to, row.actions))
    }

    fn send(&mut self, message: AspMessage<L>) {
        self.outputs.push_back(ProcessOutput::Send(message));
    }

    fn event(&mut self, event: ProcessEvent<Key<L>>) {
        self.outputs.push_back(ProcessOutput::Event(event));
    }

    /// The application servers that a message names; those that are not served are left in the scope returned.
    fn named(&self, scope: &L::Scope) -> (Vec<ServerName<Key<L>>>, L::Scope) {
        if scope.is_empty() || self.servers.contains_key(&ServerName::Implied) {
            return (self.servers.keys().cloned().collect(), L::Scope::default());
        }
        let (keys, unknown) = scope.select(self.servers.keys().filter_map(ServerName::key));
        (keys.into_iter().map(ServerName::Named).collect(), unknown)
    }
}
