//! The signalling gateway of M2UA: links of level 2 here, their MTP3 at application server processes.
//!
//! It is driven by associations from one side and by links from the other. Interworking is a translation: requests of
//! an ASP become requests to a link, what a link tells goes to the ASPs that are active for it. While an application
//! server waits for an ASP, what its links tell waits with it.

mod link;
mod registration;
mod request;

use std::collections::{BTreeMap, VecDeque};

use slantpath_base::Instant;
use slantpath_sigtran::asp::{self, AsState, AspState, ErrorCode, GatewayEvent, GatewayOutput, Scope};
use slantpath_sigtran::queue::QueueLimits;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest};

use crate::drops::{DropReason, Drops};
use crate::interface::{InterfaceIdentifier, Interfaces};
use crate::m2ua::{M2ua, M2uaParameter, Message};
use crate::message::{Associations, OwnMessage, Received};

pub use link::LinkConfig;
use link::{Link, Receiver, Reception};

/// Settings of a gateway of M2UA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignallingGatewayConfig {
    /// Settings of the gateway towards its ASPs.
    pub asps: asp::GatewayConfig,
    /// Use of strings as names of interfaces: integers always name them.
    pub interface_texts: InterfaceTexts,
    /// ASPs that may register for links.
    pub registration: RegistrationPolicy,
    /// The messages of one link that may wait for an ASP.
    pub queue: QueueLimits,
}

/// Use of strings as names of interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterfaceTexts {
    /// "Unsupported Interface Identifier Type" answers it.
    #[default]
    Refused,
    /// Strings name interfaces, too.
    Understood,
}

/// ASPs that may register for links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegistrationPolicy {
    /// Every ASP that is up.
    #[default]
    Granted,
    /// None: "Permission Denied".
    Denied,
}

impl Default for SignallingGatewayConfig {
    fn default() -> Self {
        Self {
            asps: asp::GatewayConfig::default(),
            interface_texts: InterfaceTexts::default(),
            registration: RegistrationPolicy::default(),
            // Two seconds of a 64 kbit/s link full of short messages.
            queue: QueueLimits::of(1_000),
        }
    }
}

/// Output of a gateway of M2UA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignallingGatewayOutput {
    /// Level 2 of a link is to count its receiver as congested, or no more: it sends SIB and acknowledges nothing
    /// meanwhile (`set_busy` of an MTP2 link, `handle_receive_congestion` of an M2PA link), so that its peer stops
    /// sending before anything is refused here. RFC 3331, section 1.5.6, leaves the means to the gateway.
    Busy(InterfaceIdentifier, bool),
    /// Something that management may want to know.
    Event(SignallingGatewayEvent),
    /// A request for a link.
    Link(InterfaceIdentifier, LinkRequest),
    /// A message to send.
    Transmit(Transmit),
    /// Nothing more until then, or until something comes in.
    Wait(Option<Instant>),
}

/// Something that management may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignallingGatewayEvent {
    /// About ASPs and application servers.
    Asp(GatewayEvent<InterfaceIdentifier>),
    /// The transport of an association is congested, or no longer.
    AssociationCongested(AssociationNumber, bool),
    /// Queue for an ASP of a link has reached the onset of congestion (true), or is down to the abatement.
    QueueCongested(InterfaceIdentifier, bool),
}

/// Gateway of M2UA.
#[derive(Clone, Debug)]
pub struct SignallingGateway {
    config: SignallingGatewayConfig,
    asps: asp::Gateway<M2ua>,
    associations: Associations,
    links: BTreeMap<InterfaceIdentifier, Link>,
    outputs: VecDeque<SignallingGatewayOutput>,
    drops: Drops,
    next_correlation: u32,
}

impl SignallingGateway {
    /// A gateway without links.
    ///
    /// # Errors
    /// If a timer is out of its range, or the limits of the queue contradict each other.
    pub fn new(config: SignallingGatewayConfig) -> Result<Self, asp::ConfigError> {
        config.queue.check()?;
        Ok(Self {
            asps: asp::Gateway::new(config.asps)?,
            config,
            associations: Associations::default(),
            links: BTreeMap::new(),
            outputs: VecDeque::new(),
            drops: Drops::default(),
            next_correlation: 1,
        })
    }

    /// Adds a link, which is out of service, and the application server that serves it.
    pub fn add_link(&mut self, interface: InterfaceIdentifier, link: LinkConfig, server: asp::ServerConfig) {
        self.asps.add_server(interface.clone(), server);
        self.links.insert(interface, Link::new(link));
    }

    /// The ASPs, to look at. Management of them goes through the gateway's own methods.
    pub const fn asps(&self) -> &asp::Gateway<M2ua> {
        &self.asps
    }

    /// Gives the counts of discarded messages.
    pub const fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Gives the number of messages that are queued for an ASP of that link.
    pub fn queued(&self, interface: &InterfaceIdentifier) -> usize {
        self.links.get(interface).map_or(0, |link| link.queue.len())
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
        let received = self.associations.handle::<M2uaParameter>(
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
                let interfaces: Vec<_> = self.links.keys().cloned().collect();
                for interface in interfaces {
                    self.follow_congestion(&interface);
                }
            }
            Received::Message(message, octets) => self.handle_message(now, association, message, &octets),
            Received::Nothing => {}
        }
        self.drain_asps();
    }

    fn handle_message(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: Message,
        octets: &[u8],
    ) {
        match message {
            Message::Asp(message) => {
                let scope = request::scope_of(&message);
                let refuses_text = self.config.interface_texts == InterfaceTexts::Refused;
                if refuses_text && scope.is_some_and(Interfaces::has_text) {
                    let scope = scope.cloned().unwrap_or_default();
                    let code = ErrorCode::UNSUPPORTED_INTERFACE_IDENTIFIER_TYPE;
                    self.send_error(association, code, scope, octets);
                } else {
                    self.asps.handle_message(now, association, message, octets);
                }
            }
            Message::Own(message) => self.handle_own(now, association, &message, octets),
        }
    }

    /// Brings what the ASPs' engine has decided into effect, in its order.
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

    fn handle_asp_event(&mut self, event: &GatewayEvent<InterfaceIdentifier>) {
        match event {
            GatewayEvent::FlushQueue(interface) => self.flush(interface),
            GatewayEvent::DiscardQueue(interface) => {
                let Some(link) = self.links.get_mut(interface) else { return };
                for _ in link.queue.drain(..) {
                    self.drops.count(DropReason::RecoveryExpired);
                }
                self.follow_congestion(interface);
            }
            GatewayEvent::Asp(_, interface, state) => {
                if let Some(link) = self.links.get_mut(interface) {
                    link.must_correlate |= *state == AspState::Active;
                }
                self.follow_congestion(interface);
            }
            // An MTP3 that nobody serves any longer is an outage of level 3: level 2 tells the peer.
            GatewayEvent::As(interface, state) => {
                let Some(link) = self.links.get_mut(interface) else { return };
                if *state != AsState::Active {
                    // Who asked is gone.
                    link.reception = Reception::Clear;
                }
                if let Some(request) = link.note_server(*state) {
                    self.outputs.push_back(SignallingGatewayOutput::Link(interface.clone(), request));
                }
                self.follow_congestion(interface);
            }
            _ => {}
        }
    }

    /// Takes an indication of a link of level 2.
    pub fn handle_link(
        &mut self,
        _now: Instant,
        interface: &InterfaceIdentifier,
        indication: LinkIndication,
    ) {
        let Some(link) = self.links.get_mut(interface) else {
            self.drops.count(DropReason::NoRoute);
            return;
        };
        // A link that begins anew knows nothing of what it was told before.
        let forgot = indication == LinkIndication::InService && link.receiver == Receiver::Busy;
        if forgot {
            self.outputs.push_back(SignallingGatewayOutput::Busy(interface.clone(), true));
        }
        match link.translate(interface, indication) {
            Ok(messages) => {
                for message in messages {
                    self.deliver(interface, message);
                }
            }
            Err(reason) => self.drops.count(reason),
        }
    }

    /// Sends a message about a link to whoever is active for it, or lets it wait.
    fn deliver(&mut self, interface: &InterfaceIdentifier, message: OwnMessage<M2uaParameter>) {
        match self.asps.as_state(interface) {
            Some(AsState::Active) => self.distribute(interface, message),
            Some(AsState::Pending) => {
                let Some(link) = self.links.get_mut(interface) else { return };
                if link.queue.len() < self.config.queue.max {
                    link.queue.push_back(message);
                    self.follow_congestion(interface);
                } else {
                    self.drops.count(DropReason::QueueFull);
                }
            }
            Some(AsState::Inactive | AsState::Down) | None => self.drops.count(DropReason::NoActiveAsp),
        }
    }

    /// Tells management that the queue has grown past the onset, and level 2 that it has, that an association is
    /// congested that the link's messages take, or that an ASP says it is; and tells when that is over.
    pub(super) fn follow_congestion(&mut self, interface: &InterfaceIdentifier) {
        let is_slow = self.asps.active(interface).iter().any(|asp| self.associations.is_congested(*asp));
        let Some(link) = self.links.get_mut(interface) else { return };
        let is_full = self.config.queue.is_congested(link.queue.len(), link.is_queue_congested);
        let is_news = std::mem::replace(&mut link.is_queue_congested, is_full) != is_full;
        let is_busy = is_full || is_slow || link.reception != Reception::Clear;
        let receiver = if is_busy { Receiver::Busy } else { Receiver::Free };
        if std::mem::replace(&mut link.receiver, receiver) != receiver {
            self.outputs.push_back(SignallingGatewayOutput::Busy(interface.clone(), is_busy));
        }
        if is_news {
            self.event(SignallingGatewayEvent::QueueCongested(interface.clone(), is_full));
        }
    }

    fn flush(&mut self, interface: &InterfaceIdentifier) {
        let Some(link) = self.links.get_mut(interface) else { return };
        for message in std::mem::take(&mut link.queue) {
            self.distribute(interface, message);
        }
        self.follow_congestion(interface);
    }

    /// Sends a message to the active ASPs by the traffic mode.
    fn distribute(&mut self, interface: &InterfaceIdentifier, message: OwnMessage<M2uaParameter>) {
        let active = self.asps.active(interface).to_vec();
        let mode = self.asps.traffic_mode(interface);
        let at = self.links.keys().position(|key| key == interface).unwrap_or_default();
        let Some(link) = self.links.get_mut(interface) else { return };
        let message = link.correlate(mode, message, &mut self.next_correlation);
        let targets = link::targets(mode, &active, &message);
        if targets.is_empty() {
            self.drops.count(DropReason::NoActiveAsp);
        }
        let message = Message::Own(message);
        for association in targets {
            self.transmit_traffic(association, at, &message);
        }
    }

    /// Sends on the stream of a link: one each as far as there are streams, and never the first of several.
    fn transmit_traffic(&mut self, association: AssociationNumber, at: usize, message: &Message) {
        let streams = self.associations.streams(association);
        self.transmit(association, super::stream_of(at, streams), message);
    }

    fn transmit(&mut self, association: AssociationNumber, stream: StreamNumber, message: &Message) {
        if !self.associations.contains(association) {
            self.drops.count(DropReason::AssociationDown);
            return;
        }
        let transmit = super::transmit(association, stream, message);
        self.outputs.push_back(SignallingGatewayOutput::Transmit(transmit));
    }

    fn send_error(
        &mut self,
        association: AssociationNumber,
        code: ErrorCode,
        scope: Interfaces,
        octets: &[u8],
    ) {
        self.drops.count(DropReason::Refused);
        let error = asp::AspMessage::error(code, scope, octets);
        self.transmit(association, StreamNumber(0), &Message::Asp(error));
    }

    /// An ERR about one interface.
    fn refuse(
        &mut self,
        association: AssociationNumber,
        code: ErrorCode,
        interface: &InterfaceIdentifier,
        octets: &[u8],
    ) {
        self.send_error(association, code, Interfaces::of(std::slice::from_ref(interface)), octets);
    }

    fn event(&mut self, event: SignallingGatewayEvent) {
        self.outputs.push_back(SignallingGatewayOutput::Event(event));
    }
}
