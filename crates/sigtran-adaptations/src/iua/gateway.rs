//! The signalling gateway of IUA: D channels whose Q.921 is here, and whose Q.931 is at application server processes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slantpath_base::Instant;
use slantpath_sigtran::asp::{
    self, AsState, AspMessage, AspState, ErrorCode, GatewayEvent, GatewayOutput, TrafficMode,
};
use slantpath_sigtran::queue::QueueLimits;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};

use crate::drops::{DropReason, Drops};
use crate::interface::{InterfaceIdentifier, Interfaces};
use crate::iua::{
    DataLinkIndication, DataLinkRequest, Dlci, Iua, IuaParameter, Message, ReleaseReason, TeiStatus, about,
    content, kind, stream_of, transmit,
};
use crate::message::{Associations, OwnMessage, Received};

/// Settings of a gateway of IUA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignallingGatewayConfig {
    /// Settings of the gateway towards its ASPs.
    pub asps: asp::GatewayConfig,
    /// The messages of one interface that may wait for an ASP.
    pub queue: QueueLimits,
}

impl Default for SignallingGatewayConfig {
    fn default() -> Self {
        // Two seconds of short messages on a D channel of 64 kbit/s.
        Self { asps: asp::GatewayConfig::default(), queue: QueueLimits::of(1_000) }
    }
}

/// Output of a gateway of IUA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignallingGatewayOutput {
    /// Q.921 is to count its receiver as busy on a D channel, or no more: on all its data links, those that come up
    /// meanwhile as well. It sends RNR, so that the terminals stop sending before anything is refused here. Unnumbered
    /// information, which RNR does not stop, is still refused when the queue is full.
    Busy(InterfaceIdentifier, bool),
    /// A request for Q.921.
    DataLink(InterfaceIdentifier, Dlci, DataLinkRequest),
    /// Something that management may want to know.
    Event(SignallingGatewayEvent),
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
    /// Queue for an ASP has reached the onset of congestion (true), or is down to the abatement.
    QueueCongested(InterfaceIdentifier, bool),
}

/// One D channel.
#[derive(Clone, Debug, Default)]
struct Channel {
    /// Terminal endpoints that Q.921 considers assigned.
    endpoints: BTreeSet<u8>,
    queue: VecDeque<OwnMessage<IuaParameter>>,
    is_queue_congested: bool,
    /// True if Q.921 was told to count its receiver as busy.
    is_busy: bool,
}

/// Service access points beside that of call control: packets of X.25, and Q.921's own management.
const SAPI_PACKET: u8 = 16;
const SAPI_MANAGEMENT: u8 = 63;
/// The endpoint that means all: always there.
const TEI_BROADCAST: u8 = 127;

/// Gateway of IUA.
#[derive(Clone, Debug)]
pub struct SignallingGateway {
    config: SignallingGatewayConfig,
    asps: asp::Gateway<Iua>,
    associations: Associations,
    channels: BTreeMap<InterfaceIdentifier, Channel>,
    outputs: VecDeque<SignallingGatewayOutput>,
    drops: Drops,
}

impl SignallingGateway {
    /// A gateway without D channels.
    ///
    /// # Errors
    /// If a timer is out of its range, or the limits of the queue contradict each other.
    pub fn new(config: SignallingGatewayConfig) -> Result<Self, asp::ConfigError> {
        config.queue.check()?;
        Ok(Self {
            asps: asp::Gateway::new(config.asps)?,
            config,
            associations: Associations::default(),
            channels: BTreeMap::new(),
            outputs: VecDeque::new(),
            drops: Drops::default(),
        })
    }

    /// Adds a D channel with the terminal endpoints that are assigned from the start (0 on a primary rate), and the
    /// application server that serves it.
    pub fn add_interface(
        &mut self,
        interface: InterfaceIdentifier,
        endpoints: &[u8],
        server: asp::ServerConfig,
    ) {
        self.asps.add_server(interface.clone(), server);
        let endpoints = endpoints.iter().copied().collect();
        self.channels.insert(interface, Channel { endpoints, ..Channel::default() });
    }

    /// The ASPs, to look at.
    pub const fn asps(&self) -> &asp::Gateway<Iua> {
        &self.asps
    }

    /// Gives the counts of discarded messages.
    pub const fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Gives the number of messages that are queued for an ASP of that interface.
    pub fn queued(&self, interface: &InterfaceIdentifier) -> usize {
        self.channels.get(interface).map_or(0, |channel| channel.queue.len())
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
        let received = self.associations.handle::<IuaParameter>(
            now,
            association,
            input,
            &mut self.asps,
            &mut self.drops,
        );
        match received {
            Received::Answer(answer) => self.transmit(association, StreamNumber(0), Message::Asp(answer)),
            Received::Congested(is_congested) => {
                self.event(SignallingGatewayEvent::AssociationCongested(association, is_congested));
                let interfaces: Vec<_> = self.channels.keys().cloned().collect();
                for interface in interfaces {
                    self.follow_congestion(&interface);
                }
            }
            Received::Message(Message::Asp(message), octets) => {
                self.handle_asp(now, association, message, &octets);
            }
            Received::Message(Message::Own(message), octets) => {
                self.handle_own(association, &message, &octets);
            }
            Received::Nothing => {}
        }
        self.drain_asps();
    }

    fn handle_asp(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: AspMessage<Iua>,
        octets: &[u8],
    ) {
        //= https://www.rfc-editor.org/rfc/rfc4233#section-4.3.3.4
        //# There are two modes of Application Server traffic handling in the SG
        //# IUA: Over-ride and Load-sharing.
        if matches!(&message, AspMessage::AspActive { traffic_mode: Some(TrafficMode::Broadcast), .. }) {
            return self.refuse(association, ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE, octets);
        }
        self.asps.handle_message(now, association, message, octets);
    }

    /// A message of the layer's own.
    fn handle_own(
        &mut self,
        association: AssociationNumber,
        message: &OwnMessage<IuaParameter>,
        octets: &[u8],
    ) {
        let (interface, dlci) = match content::header(message) {
            Ok(Some(header)) => header,
            Ok(None) => return,
            Err(error) => return self.refuse(association, error.error_code(), octets),
        };
        let Some(channel) = self.channels.get(&interface) else {
            return self.refuse(association, ErrorCode::INVALID_INTERFACE_IDENTIFIER, octets);
        };
        //= https://www.rfc-editor.org/rfc/rfc4233#section-4.3.3.4
        //# If the SG
        //# receives QPTM messages before an ASP Active is received, the SG
        //# SHOULD discard these messages.
        if self.asps.asp_state(association, &interface) != AspState::Active {
            return self.drops.count(DropReason::AspNotActive);
        }
        let is_assigned = dlci.tei == TEI_BROADCAST || channel.endpoints.contains(&dlci.tei);
        match message.kind {
            kind::TEI_STATUS_REQUEST => {
                let status = if is_assigned { TeiStatus::Assigned } else { TeiStatus::Unassigned };
                let confirm = about(&interface, dlci, kind::TEI_STATUS_CONFIRM);
                let confirm = Message::Own(confirm.with(IuaParameter::TeiStatus(status)));
                return self.transmit(association, StreamNumber(0), confirm);
            }
            kind::TEI_QUERY_REQUEST => {
                for tei in channel.endpoints.clone() {
                    let indication =
                        status_indication(&interface, Dlci::call_control(tei), TeiStatus::Assigned);
                    self.transmit(association, StreamNumber(0), Message::Own(indication));
                }
                return;
            }
            _ => {}
        }
        let Some(request) = content::request(message) else {
            return self.refuse(association, ErrorCode::UNEXPECTED_MESSAGE, octets);
        };
        //= https://www.rfc-editor.org/rfc/rfc4233#section-3.3.3.1
        //# The "Unrecognized SAPI" error would handle the case of using an SAPI
        //# that is not recognized by the SG.
        let fault = match dlci.sapi {
            SAPI_MANAGEMENT => Some(ErrorCode::INVALID_TEI_SAPI_COMBINATION),
            Dlci::CALL_CONTROL | SAPI_PACKET if !is_assigned => Some(ErrorCode::UNASSIGNED_TEI),
            Dlci::CALL_CONTROL | SAPI_PACKET => None,
            _ => Some(ErrorCode::UNRECOGNIZED_SAPI),
        };
        match fault {
            Some(code) => self.refuse(association, code, octets),
            None => self.outputs.push_back(SignallingGatewayOutput::DataLink(interface, dlci, request)),
        }
    }

    /// Takes an indication or confirmation of Q.921 about a data link.
    pub fn handle_data_link(
        &mut self,
        interface: &InterfaceIdentifier,
        dlci: Dlci,
        indication: DataLinkIndication,
    ) {
        let message = content::of_indication(about(interface, dlci, indication.kind()), indication);
        self.deliver(interface, message);
    }

    /// Takes the status of a terminal endpoint from Q.921.
    pub fn handle_endpoint(&mut self, interface: &InterfaceIdentifier, tei: u8, status: TeiStatus) {
        if let Some(channel) = self.channels.get_mut(interface) {
            match status {
                TeiStatus::Assigned => channel.endpoints.insert(tei),
                TeiStatus::Unassigned => channel.endpoints.remove(&tei),
            };
        }
        self.deliver(interface, status_indication(interface, Dlci::call_control(tei), status));
    }

    /// Sends a message about an interface to whoever is active for it, or lets it wait.
    fn deliver(&mut self, interface: &InterfaceIdentifier, message: OwnMessage<IuaParameter>) {
        match self.asps.as_state(interface) {
            Some(AsState::Active) => self.distribute(interface, message),
            Some(AsState::Pending) => {
                let Some(channel) = self.channels.get_mut(interface) else { return };
                if channel.queue.len() < self.config.queue.max {
                    channel.queue.push_back(message);
                    self.follow_congestion(interface);
                } else {
                    self.drops.count(DropReason::QueueFull);
                }
            }
            Some(AsState::Inactive | AsState::Down) | None => self.drops.count(DropReason::NoActiveAsp),
        }
    }

    /// Tells management that the queue has grown past the onset, and Q.921 that it has or that the association of the
    /// channel's ASP is congested; and tells when that is over.
    fn follow_congestion(&mut self, interface: &InterfaceIdentifier) {
        let is_slow = self.serving(interface).is_some_and(|asp| self.associations.is_congested(asp));
        let Some(channel) = self.channels.get_mut(interface) else { return };
        let is_full = self.config.queue.is_congested(channel.queue.len(), channel.is_queue_congested);
        let is_news = std::mem::replace(&mut channel.is_queue_congested, is_full) != is_full;
        let is_busy = is_full || is_slow;
        if std::mem::replace(&mut channel.is_busy, is_busy) != is_busy {
            self.outputs.push_back(SignallingGatewayOutput::Busy(interface.clone(), is_busy));
        }
        if is_news {
            self.event(SignallingGatewayEvent::QueueCongested(interface.clone(), is_full));
        }
    }

    /// Gives the position of a D channel among all.
    fn place(&self, interface: &InterfaceIdentifier) -> usize {
        self.channels.keys().position(|key| key == interface).unwrap_or_default()
    }

    /// The ASP that serves a D channel.
    fn serving(&self, interface: &InterfaceIdentifier) -> Option<AssociationNumber> {
        let active = self.asps.active(interface);
        active.get(self.place(interface) % active.len().max(1)).copied()
    }

    /// A D channel has one ASP at a time, in either mode: that keeps its order. Loadshare shares the channels.
    fn distribute(&mut self, interface: &InterfaceIdentifier, message: OwnMessage<IuaParameter>) {
        let at = self.place(interface);
        let Some(association) = self.serving(interface) else {
            return self.drops.count(DropReason::NoActiveAsp);
        };
        let streams = self.associations.streams(association);
        let stream = if message.kind.class == 0 { StreamNumber(0) } else { stream_of(at, streams) };
        self.transmit(association, stream, Message::Own(message));
    }

    fn drain_asps(&mut self) {
        while let Some(output) = self.asps.poll_output() {
            match output {
                GatewayOutput::Send(association, message) => {
                    self.transmit(association, StreamNumber(0), Message::Asp(message));
                }
                GatewayOutput::Event(event) => {
                    match &event {
                        GatewayEvent::FlushQueue(interface) => {
                            let queue = self
                                .channels
                                .get_mut(interface)
                                .map(|channel| std::mem::take(&mut channel.queue));
                            for message in queue.into_iter().flatten() {
                                self.distribute(interface, message);
                            }
                            self.follow_congestion(interface);
                        }
                        GatewayEvent::DiscardQueue(interface) => {
                            let queue = self
                                .channels
                                .get_mut(interface)
                                .map(|channel| std::mem::take(&mut channel.queue));
                            for _ in queue.into_iter().flatten() {
                                self.drops.count(DropReason::RecoveryExpired);
                            }
                            self.follow_congestion(interface);
                            // Nobody serves the channel: its calls cannot go on.
                            self.release_all(interface);
                        }
                        GatewayEvent::Asp(_, interface, _) => self.follow_congestion(interface),
                        _ => {}
                    }
                    self.event(SignallingGatewayEvent::Asp(event));
                }
            }
        }
    }

    /// Releases the data links of a channel that nobody serves any longer.
    fn release_all(&mut self, interface: &InterfaceIdentifier) {
        let endpoints = self.channels.get(interface).map(|channel| channel.endpoints.clone());
        for tei in endpoints.into_iter().flatten() {
            let dlci = Dlci::call_control(tei);
            let request = DataLinkRequest::Release(ReleaseReason::Management);
            self.outputs.push_back(SignallingGatewayOutput::DataLink(interface.clone(), dlci, request));
        }
    }

    fn refuse(&mut self, association: AssociationNumber, code: ErrorCode, octets: &[u8]) {
        self.drops.count(DropReason::Refused);
        let error = AspMessage::error(code, Interfaces::default(), octets);
        self.transmit(association, StreamNumber(0), Message::Asp(error));
    }

    fn transmit(&mut self, association: AssociationNumber, stream: StreamNumber, message: Message) {
        if self.associations.contains(association) {
            let transmit = transmit(association, stream, message);
            self.outputs.push_back(SignallingGatewayOutput::Transmit(transmit));
        } else {
            self.drops.count(DropReason::AssociationDown);
        }
    }

    fn event(&mut self, event: SignallingGatewayEvent) {
        self.outputs.push_back(SignallingGatewayOutput::Event(event));
    }
}

fn status_indication(
    interface: &InterfaceIdentifier,
    dlci: Dlci,
    status: TeiStatus,
) -> OwnMessage<IuaParameter> {
    about(interface, dlci, kind::TEI_STATUS_INDICATION).with(IuaParameter::TeiStatus(status))
}
