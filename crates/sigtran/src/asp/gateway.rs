//! The side that serves ASPs: which ASPs there are, which of them carry which application server's traffic.
//!
//! It is driven by its layer: associations and messages of classes 0, 3 and 4 go in, messages to send and what the
//! layer must know come out of [`Gateway::poll_output`], in the order in which they must happen.

mod activation;
mod change;
mod server;

use std::collections::{BTreeMap, VecDeque};

use slantpath_base::{Duration, Instant};

pub use server::{Members, ServerConfig};

use crate::asp::config::ConfigError;
use crate::asp::heartbeat::{Heartbeat, HeartbeatDue};
use crate::asp::{
    AdaptationLayer, AsState, AspMessage, AspState, ErrorCode, REMOTE_ASP_MACHINE, RemoteAspAction,
    RemoteAspInput, Scope, Status, TrafficMode,
};
use crate::transport::AssociationNumber;
use server::Server;

/// Key that names an application server in a layer.
pub type Key<L> = <<L as AdaptationLayer>::Scope as Scope>::Key;

/// Settings of a gateway towards its ASPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayConfig {
    /// T(r): how long an application server without active ASP keeps its traffic waiting. The RFC leaves the value to
    /// the operator; 2 seconds are T(ack)'s default, in which an ASP finds out that it must try again.
    pub recovery: Duration,
    /// T(beat), if heartbeats are sent. SCTP has its own, so none by default.
    pub heartbeat: Option<Duration>,
    /// Rule for ASP Up without an ASP identifier.
    pub identifier: IdentifierPolicy,
}

/// Rule for ASP Up without an ASP identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdentifierPolicy {
    /// ASP Up may carry an identifier or not.
    #[default]
    Optional,
    /// ASP Up must carry an identifier: "ASP Identifier Required" is the answer to one without.
    Required,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self { recovery: Duration::from_secs(2), heartbeat: None, identifier: IdentifierPolicy::default() }
    }
}

/// Output of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GatewayOutput<L: AdaptationLayer> {
    /// Something that the layer must know, before anything that comes out after it.
    Event(GatewayEvent<Key<L>>),
    /// A message to send: on stream 0, but for heartbeats, which may go anywhere.
    Send(AssociationNumber, AspMessage<L>),
}

/// Something that the layer must know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GatewayEvent<K> {
    /// M-AS status: an application server has another state.
    As(K, AsState),
    /// M-ASP status: an ASP has another state within an application server. An ASP that becomes active is told before
    /// its ASP Active Ack comes out, so that destinations can be told to it first.
    Asp(AssociationNumber, K, AspState),
    /// An ASP has come up, or gone down, as a whole.
    AspUp(AssociationNumber, bool),
    /// A registered ASP is no longer a member.
    Deregistered(AssociationNumber, K),
    /// The waiting messages of an application server are to be thrown away.
    DiscardQueue(K),
    /// The waiting messages of an application server are to be sent now.
    FlushQueue(K),
    /// M-ERROR: the peer has sent an ERR.
    PeerError(AssociationNumber, ErrorCode),
    /// The peer is silent: the association is to be aborted. It counts as down already.
    PeerUnavailable(AssociationNumber),
}

/// A serving side.
#[derive(Clone, Debug)]
pub struct Gateway<L: AdaptationLayer> {
    config: GatewayConfig,
    asps: BTreeMap<AssociationNumber, RemoteAsp>,
    servers: BTreeMap<Key<L>, Server>,
    outputs: VecDeque<GatewayOutput<L>>,
}

/// An ASP, as a whole.
#[derive(Clone, Copy, Debug, Default)]
struct RemoteAsp {
    link: Link,
    is_up: bool,
    is_locked_out: bool,
    identifier: Option<u32>,
}

/// The association of an ASP.
#[derive(Clone, Copy, Debug, Default)]
enum Link {
    #[default]
    Down,
    Up(Option<Heartbeat>),
}

impl<L: AdaptationLayer> Gateway<L> {
    /// A gateway without application servers.
    ///
    /// # Errors
    /// If a timer is out of its range.
    pub fn new(config: GatewayConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let (asps, servers, outputs) = (BTreeMap::new(), BTreeMap::new(), VecDeque::new());
        Ok(Self { config, asps, servers, outputs })
    }

    /// Adds an application server; one of the same key is replaced by it, with all its state.
    pub fn add_server(&mut self, key: Key<L>, config: ServerConfig) {
        let mut server = Server::new(config);
        for (association, asp) in &self.asps {
            if server.may_serve(*association) {
                server.set_state(*association, if asp.is_up { AspState::Inactive } else { AspState::Down });
            }
        }
        self.servers.insert(key, server);
    }

    /// Removes an application server; its ASPs are told nothing.
    pub fn remove_server(&mut self, key: &Key<L>) {
        self.servers.remove(key);
    }

    /// The keys of all application servers.
    pub fn keys(&self) -> impl Iterator<Item = &Key<L>> {
        self.servers.keys()
    }

    /// The state of an application server, if there is one of this key.
    pub fn as_state(&self, key: &Key<L>) -> Option<AsState> {
        self.servers.get(key).map(|server| server.state)
    }

    /// The traffic mode of an application server: configured, or of the first ASP Active.
    pub fn traffic_mode(&self, key: &Key<L>) -> Option<TrafficMode> {
        self.servers.get(key).map(Server::mode)
    }

    /// The active ASPs of an application server, by association.
    pub fn active(&self, key: &Key<L>) -> &[AssociationNumber] {
        self.servers.get(key).map_or(&[], |server| &server.active)
    }

    /// The state of an ASP within an application server; down where it is no member.
    pub fn asp_state(&self, association: AssociationNumber, key: &Key<L>) -> AspState {
        self.servers.get(key).map_or(AspState::Down, |server| server.state_of(association))
    }

    /// Tells whether an ASP is up, in whichever application servers.
    pub fn is_up(&self, association: AssociationNumber) -> bool {
        self.asps.get(&association).is_some_and(|asp| asp.is_up)
    }

    /// The traffic mode, if configuration or an ASP has settled it.
    pub fn known_mode(&self, key: &Key<L>) -> Option<TrafficMode> {
        self.servers.get(key).and_then(Server::known_mode)
    }

    /// Gives the number of ASPs that are members of an application server, up or not.
    pub fn member_count(&self, key: &Key<L>) -> usize {
        self.servers.get(key).map_or(0, Server::member_count)
    }

    /// Tells whether an ASP is a member of an application server.
    pub fn is_member(&self, association: AssociationNumber, key: &Key<L>) -> bool {
        self.servers.get(key).is_some_and(|server| server.is_member(association))
    }

    /// The first application server for which an ASP is active.
    pub fn active_key(&self, association: AssociationNumber) -> Option<&Key<L>> {
        self.servers.iter().find(|(_, server)| server.active.contains(&association)).map(|(key, _)| key)
    }

    /// The keys that an ASP is a member of.
    pub fn keys_of(&self, association: AssociationNumber) -> Vec<Key<L>> {
        let of = self.servers.iter().filter(|(_, server)| server.is_member(association));
        of.map(|(key, _)| key.clone()).collect()
    }

    /// The ASPs of an application server that are up.
    pub fn members_up(&self, key: &Key<L>) -> Vec<AssociationNumber> {
        self.servers.get(key).map(Server::up).unwrap_or_default()
    }

    /// Takes the next output from the queue.
    pub fn poll_output(&mut self) -> Option<GatewayOutput<L>> {
        self.outputs.pop_front()
    }

    /// Gives the instant at which [`Gateway::handle_deadline`] has something to do.
    pub fn next_deadline(&self) -> Option<Instant> {
        let recoveries = self.servers.values().filter_map(|server| server.recovery_deadline);
        let beats = self.asps.values().filter_map(|asp| match asp.link {
            Link::Up(Some(beat)) => Some(beat.deadline()),
            Link::Up(None) | Link::Down => None,
        });
        recoveries.chain(beats).min()
    }

    /// Takes SCTP-COMMUNICATION UP of an association.
    pub fn handle_association_up(&mut self, now: Instant, association: AssociationNumber) {
        let beat = self.config.heartbeat.map(|interval| Heartbeat::new(now, interval));
        self.asps.entry(association).or_default().link = Link::Up(beat);
    }

    /// Takes SCTP-COMMUNICATION DOWN of an association.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.3
    //# If the M3UA layer subsequently receives an SCTP-COMMUNICATION_DOWN or
    //# SCTP-RESTART indication primitive from the underlying SCTP layer, it
    //# will inform the Layer Management by invoking the M-SCTP_STATUS
    //# indication primitive.  The state of the ASP will be moved to ASP-
    //# DOWN.
    pub fn handle_association_down(&mut self, now: Instant, association: AssociationNumber) {
        self.put_to_all(now, association, RemoteAspInput::CommunicationDown, &[]);
        self.asps.entry(association).or_default().link = Link::Down;
    }

    /// Takes SCTP-RESTART of an association.
    pub fn handle_restart(&mut self, now: Instant, association: AssociationNumber) {
        self.put_to_all(now, association, RemoteAspInput::Restart, &[]);
        self.handle_association_up(now, association);
    }

    /// Notes that the peer speaks, whatever it says.
    pub fn note_received(&mut self, now: Instant, association: AssociationNumber) {
        if let Some(RemoteAsp { link: Link::Up(Some(beat)), .. }) = self.asps.get_mut(&association) {
            beat.handle_message(now);
        }
    }

    /// Does what is due by now.
    pub fn handle_deadline(&mut self, now: Instant) {
        let keys: Vec<Key<L>> = self.servers.keys().cloned().collect();
        for key in keys {
            self.expire_recovery(now, &key);
        }
        let asps: Vec<AssociationNumber> = self.asps.keys().copied().collect();
        for association in asps {
            let Some(RemoteAsp { link: Link::Up(Some(beat)), .. }) = self.asps.get_mut(&association) else {
                continue;
            };
            match beat.take_due(now) {
                Some(HeartbeatDue::Send) => self.send(association, AspMessage::Beat { data: None }),
                Some(HeartbeatDue::PeerUnavailable) => {
                    self.handle_association_down(now, association);
                    self.event(GatewayEvent::PeerUnavailable(association));
                }
                None => {}
            }
        }
    }

    /// A message of class 0, 3 or 4, and its octets, which an ERR about it quotes.
    pub fn handle_message(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: AspMessage<L>,
        octets: &[u8],
    ) {
        match message {
            AspMessage::AspUp { asp_identifier, .. } => {
                self.handle_asp_up(now, association, asp_identifier, octets);
            }
            AspMessage::AspDown { .. } => {
                self.put_to_all(now, association, RemoteAspInput::AspDown, octets);
            }
            AspMessage::AspActive { traffic_mode, scope, .. } => {
                self.handle_asp_active(now, association, traffic_mode, &scope, octets);
            }
            AspMessage::AspInactive { scope, .. } => {
                self.handle_asp_inactive(now, association, &scope, octets);
            }
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.6
            //# Upon receiving a
            //# Heartbeat message, the M3UA peer MUST respond with a Heartbeat Ack
            //# message.
            AspMessage::Beat { data } => self.send(association, AspMessage::BeatAck { data }),
            AspMessage::BeatAck { .. } => {}
            AspMessage::Err { code, .. } => self.event(GatewayEvent::PeerError(association, code)),
            AspMessage::AspUpAck { .. }
            | AspMessage::AspDownAck { .. }
            | AspMessage::AspActiveAck { .. }
            | AspMessage::AspInactiveAck { .. }
            | AspMessage::Ntfy { .. } => {
                self.send_error(association, ErrorCode::UNEXPECTED_MESSAGE, L::Scope::default(), octets);
            }
        }
    }

    fn handle_asp_up(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        identifier: Option<u32>,
        octets: &[u8],
    ) {
        let is_taken = identifier.is_some()
            && self
                .asps
                .iter()
                .any(|(other, asp)| *other != association && asp.is_up && asp.identifier == identifier);
        let refusal = match identifier {
            //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
            //# The "ASP Identifier Required" error is sent by an SGP in response to
            //# an ASP Up message that does not contain an ASP Identifier parameter
            //# when the SGP requires one.
            None if self.config.identifier == IdentifierPolicy::Required => {
                Some(ErrorCode::ASP_IDENTIFIER_REQUIRED)
            }
            //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
            //# The "Invalid ASP Identifier" error is sent by an SGP in response to
            //# an ASP Up message with an invalid (i.e., non-unique) ASP Identifier.
            Some(_) if is_taken => Some(ErrorCode::INVALID_ASP_IDENTIFIER),
            _ => None,
        };
        if let Some(code) = refusal {
            self.send_error(association, code, L::Scope::default(), octets);
            return;
        }
        let asp = self.asps.entry(association).or_default();
        if asp.is_locked_out {
            self.put_to_all(now, association, RemoteAspInput::AspUpRefused, octets);
        } else {
            asp.identifier = identifier.or(asp.identifier);
            self.put_to_all(now, association, RemoteAspInput::AspUp, octets);
        }
    }

    /// Takes an ASP out of service for management: it is told, and may not come up before it is unlocked.
    pub fn lock_out(&mut self, now: Instant, association: AssociationNumber) {
        self.asps.entry(association).or_default().is_locked_out = true;
        self.put_to_all(now, association, RemoteAspInput::Lockout, &[]);
    }

    /// Lets an ASP come up again. It is for the ASP to try.
    pub fn unlock(&mut self, association: AssociationNumber) {
        self.asps.entry(association).or_default().is_locked_out = false;
    }

    /// Handles an input that concerns an ASP as a whole: each of its application servers takes note, and one answer
    /// goes out.
    fn put_to_all(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        input: RemoteAspInput,
        octets: &[u8],
    ) {
        let before = self.state_of_asp(association);
        let Some(row) = REMOTE_ASP_MACHINE.next(before, input) else { return };
        let keys: Vec<Key<L>> = self
            .servers
            .iter()
            .filter(|(_, s)| s.may_serve(association))
            .map(|(key, _)| key.clone())
            .collect();
        let mut newly_up = Vec::new();
        let mut failed_in = Vec::new();
        for key in &keys {
            let state = self.asp_state(association, key);
            let Some(row) = REMOTE_ASP_MACHINE.next(state, input) else { continue };
            if row.actions.contains(&RemoteAspAction::NotifyAspFailure) {
                failed_in.push(key.clone());
            }
            self.set_state(association, key, row.to);
            if state == AspState::Down && row.to == AspState::Inactive {
                newly_up.push(key.clone());
            }
        }
        self.set_up(association, row.to != AspState::Down);
        for action in row.actions {
            match action {
                RemoteAspAction::SendAspUpAck => {
                    let asp_identifier = None;
                    self.send(association, AspMessage::AspUpAck { asp_identifier, info: None });
                }
                RemoteAspAction::SendAspDownAck => {
                    self.send(association, AspMessage::AspDownAck { info: None });
                }
                RemoteAspAction::SendUnexpectedMessage => {
                    self.send_error(association, ErrorCode::UNEXPECTED_MESSAGE, L::Scope::default(), octets);
                }
                RemoteAspAction::SendRefused => {
                    let code = ErrorCode::REFUSED_MANAGEMENT_BLOCKING;
                    self.send_error(association, code, L::Scope::default(), octets);
                }
                RemoteAspAction::Deregister => self.deregister_all(association),
                RemoteAspAction::NotifyAspFailure
                | RemoteAspAction::NotifyAlternateAspActive
                | RemoteAspAction::SendAspActiveAck
                | RemoteAspAction::SendAspInactiveAck => {}
            }
        }
        for key in failed_in {
            self.notify_failure(association, &key);
        }
        for key in keys {
            let is_notified = self.settle(now, &key);
            if newly_up.contains(&key) && !is_notified {
                self.notify_state(association, &key);
            }
        }
    }

    /// The state of an ASP as a whole: that of the application server where it does most.
    fn state_of_asp(&self, association: AssociationNumber) -> AspState {
        let of_servers = self.servers.values().map(|server| server.state_of(association)).max();
        let own = if self.is_up(association) { AspState::Inactive } else { AspState::Down };
        of_servers.unwrap_or(AspState::Down).max(own)
    }

    pub(super) fn set_up(&mut self, association: AssociationNumber, is_up: bool) {
        let asp = self.asps.entry(association).or_default();
        if asp.is_up != is_up {
            asp.is_up = is_up;
            self.event(GatewayEvent::AspUp(association, is_up));
        }
    }

    fn send(&mut self, association: AssociationNumber, message: AspMessage<L>) {
        self.outputs.push_back(GatewayOutput::Send(association, message));
    }

    fn event(&mut self, event: GatewayEvent<Key<L>>) {
        self.outputs.push_back(GatewayOutput::Event(event));
    }

    fn send_error(
        &mut self,
        association: AssociationNumber,
        code: ErrorCode,
        scope: L::Scope,
        octets: &[u8],
    ) {
        self.send(association, AspMessage::error(code, scope, octets));
    }

    fn notify(
        &mut self,
        to: AssociationNumber,
        status: Status,
        about: Option<AssociationNumber>,
        key: &Key<L>,
    ) {
        let asp_identifier = about.and_then(|asp| self.asps.get(&asp)?.identifier);
        let scope = L::Scope::of(std::slice::from_ref(key));
        self.send(to, AspMessage::Ntfy { status, asp_identifier, scope, info: None });
    }
}
