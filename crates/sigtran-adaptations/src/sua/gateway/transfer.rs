//! Connectionless and connection-oriented messages on their way through the gateway.

use slantpath_sigtran::asp::{AsState, AspState, ErrorCode, RoutingContexts, TrafficMode};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber};

use crate::drops::DropReason;
use crate::message::{CommonParameter, OwnMessage, Parameter};
use crate::sua::format::fault;
use crate::sua::gateway::routing::answers;
use crate::sua::gateway::segments::SegmentKey;
use crate::sua::gateway::{Peer, Section, SignallingGateway, SignallingGatewayOutput};
use crate::sua::primitive::{first, return_cause, routing_context, with_context};
use crate::sua::{Message, RoutingIndicator, SuaParameter, Unitdata, UnitdataNotice, kind, label};

/// Origin of a message, and so the place to which it may go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Asp(AssociationNumber, u32),
    Network,
}

impl Origin {
    /// The ASP that sent it, if it was one.
    const fn sender(self) -> Option<AssociationNumber> {
        match self {
            Self::Asp(association, _) => Some(association),
            Self::Network => None,
        }
    }

    const fn peer(self) -> Peer {
        match self {
            Self::Asp(association, _) => Peer::Asp(association),
            Self::Network => Peer::Network,
        }
    }
}

impl SignallingGateway {
    /// A transfer message of an ASP.
    pub(super) fn handle_transfer(
        &mut self,
        association: AssociationNumber,
        message: OwnMessage<SuaParameter>,
        octets: &[u8],
    ) {
        let Some(context) = routing_context(&message) else { return };
        if !self.servers.contains_key(&context) {
            let code = ErrorCode::INVALID_ROUTING_CONTEXT;
            return self.send_error(association, code, RoutingContexts(vec![context]), octets);
        }
        if self.asps.asp_state(association, &context) != AspState::Active {
            return self.drops.count(DropReason::AspNotActive);
        }
        if let Some(code) = fault(&message) {
            return self.send_error(association, code, RoutingContexts(vec![context]), octets);
        }
        if !self.note_connection(association, context, &message) {
            return self.drops.count(DropReason::QueueFull);
        }
        self.route(Origin::Asp(association, context), message);
    }

    /// A connectionless or connection-oriented message of the SCCP network. It needs no routing context.
    pub fn handle_network(&mut self, message: OwnMessage<SuaParameter>) {
        self.route(Origin::Network, message);
    }

    fn route(&mut self, origin: Origin, mut message: OwnMessage<SuaParameter>) {
        if !count_hop(&mut message) {
            self.drops.count(DropReason::HopCounterViolation);
            return self.give_back(origin, &message, return_cause::HOP_COUNTER_VIOLATION);
        }
        let destination = first!(message, SuaParameter::DestinationAddress);
        let source = first!(message, SuaParameter::SourceAddress);
        let reference = first!(message, SuaParameter::DestinationReference).copied();
        let owner = reference.and_then(|reference| self.section(origin, reference));
        let context = match (reference, destination) {
            // The other end of a connection is where its reference number was given.
            (Some(reference), _) => owner.or_else(|| self.labelled(reference)).map(|(_, context)| context),
            (None, Some(destination)) => {
                let answers = |key| answers(key, source, destination);
                self.servers.iter().find(|(_, server)| answers(&server.key)).map(|(context, _)| *context)
            }
            (None, None) => None,
        };
        let own = first!(message, SuaParameter::SourceReference).copied();
        let kind = message.kind;
        let target = match (context, origin) {
            (Some(context), _) => self.deliver(origin, context, message),
            (None, Origin::Asp(..)) => {
                self.outputs.push_back(SignallingGatewayOutput::Network(message));
                Some(Peer::Network)
            }
            (None, Origin::Network) => {
                let is_unknown = reference.is_some();
                let reason = if is_unknown { DropReason::UnknownConnection } else { DropReason::NoRoute };
                self.drops.count(reason);
                self.give_back(origin, &message, return_cause::NO_TRANSLATION);
                None
            }
        };
        self.follow(origin, kind, own, reference.zip(owner.map(|(asp, _)| asp)), target);
    }

    /// Updates the connection to which a message that has passed belongs.
    fn follow(
        &mut self,
        origin: Origin,
        kind: MessageKind,
        own: Option<u32>,
        owner: Option<(u32, AssociationNumber)>,
        target: Option<Peer>,
    ) {
        let sender = match (origin, own) {
            (Origin::Asp(association, _), Some(own)) => Some((own, association)),
            _ => None,
        };
        match kind {
            kind::CORE => {
                if let Some(section) = sender.and_then(|sender| self.connections.get_mut(&sender)) {
                    section.peer = target;
                }
            }
            kind::COAK => {
                if let Some(section) = sender.and_then(|sender| self.connections.get_mut(&sender)) {
                    section.peer = owner.map_or(target, |(_, asp)| Some(Peer::Asp(asp)));
                    section.is_confirmed = true;
                }
                if let Some(section) = owner.and_then(|owner| self.connections.get_mut(&owner)) {
                    section.peer = Some(origin.peer());
                    section.is_confirmed = true;
                }
            }
            kind::RELCO | kind::COREF => {
                for end in [sender, owner].into_iter().flatten() {
                    self.connections.remove(&end);
                }
            }
            _ => {}
        }
    }

    /// The ASP that gave its end of a connection that number, and the application server: the one whose other end sends
    /// the message, where several ASPs have given it.
    fn section(&self, origin: Origin, reference: u32) -> Option<(AssociationNumber, u32)> {
        let given = (reference, AssociationNumber(0))..=(reference, AssociationNumber(u32::MAX));
        let others = || {
            let sections = self.connections.range(given.clone());
            sections.filter(|((_, asp), _)| Peer::Asp(*asp) != origin.peer())
        };
        let known = others().find(|(_, section)| section.peer == Some(origin.peer()));
        let found = known.or_else(|| others().find(|(_, section)| section.peer.is_none()));
        found.map(|((_, asp), section)| (*asp, section.context))
    }

    /// Remembers the reference number that an ASP gives its end of a connection. False if there are too many.
    fn note_connection(
        &mut self,
        association: AssociationNumber,
        context: u32,
        message: &OwnMessage<SuaParameter>,
    ) -> bool {
        let Some(own) = first!(message, SuaParameter::SourceReference).copied() else { return true };
        if !matches!(message.kind, kind::CORE | kind::COAK) {
            return true;
        }
        let end = (own, association);
        if self.connections.len() >= self.config.connections_max && !self.connections.contains_key(&end) {
            // An answer does not take the place of the request that it answers.
            let answered = first!(message, SuaParameter::DestinationReference).copied();
            let mut unconfirmed = self.connections.iter().filter(|(_, section)| !section.is_confirmed);
            let stale = unconfirmed.find(|((reference, _), _)| Some(*reference) != answered);
            let Some(stale) = stale.map(|(end, _)| *end) else { return false };
            self.connections.remove(&stale);
        }
        self.connections.insert(end, Section { context, peer: None, is_confirmed: false });
        true
    }

    /// The ASP whose label a reference number has.
    fn labelled(&self, reference: u32) -> Option<(AssociationNumber, u32)> {
        self.servers.iter().find_map(|(context, server)| {
            let owner = server.labels.iter().find(|(asp, labels)| {
                let active = self.asps.asp_state(**asp, context) == AspState::Active;
                active && labels.reference.is_some_and(|label| label.owns(reference))
            });
            owner.map(|(asp, _)| (*asp, *context))
        })
    }

    /// Sends a message to an application server, or lets it wait. Tells the ASP that got it, if it was one.
    fn deliver(&mut self, origin: Origin, context: u32, message: OwnMessage<SuaParameter>) -> Option<Peer> {
        match self.asps.as_state(&context) {
            Some(AsState::Active) => {
                self.note_congested(context, &message);
                return self.distribute(origin, context, message);
            }
            Some(AsState::Pending) => {
                self.note_congested(context, &message);
                let server = self.servers.get_mut(&context)?;
                if server.queue.len() < self.config.queue.max {
                    server.queue.push_back((origin, message));
                    self.follow_congestion(context);
                } else {
                    self.drops.count(DropReason::QueueFull);
                    self.give_back(origin, &message, return_cause::SUBSYSTEM_CONGESTION);
                }
            }
            Some(AsState::Inactive | AsState::Down) | None => {
                self.drops.count(DropReason::NoActiveAsp);
                self.give_back(origin, &message, return_cause::SUBSYSTEM_FAILURE);
            }
        }
        None
    }

    pub(super) fn flush(&mut self, context: u32) {
        let Some(server) = self.servers.get_mut(&context) else { return };
        for (origin, message) in std::mem::take(&mut server.queue) {
            self.distribute(origin, context, message);
        }
        self.follow_congestion(context);
    }

    /// Sends a message to the active ASPs by the traffic mode. One whose ASP is not there goes back or is thrown away.
    //= https://www.rfc-editor.org/rfc/rfc3868#section-4.7.3.1
    //# If an ASP is not available, the SG may generate (X)UDTS "routing
    //# failure", if the return option is used.
    fn distribute(
        &mut self,
        origin: Origin,
        context: u32,
        message: OwnMessage<SuaParameter>,
    ) -> Option<Peer> {
        let active = self.asps.active(&context).to_vec();
        let mode = self.asps.traffic_mode(&context);
        let mut message = with_context(message, context);
        let targets = match mode {
            Some(TrafficMode::Loadshare) => self.sharer(origin, context, &active, &message),
            _ if active.is_empty() => Err(DropReason::NoActiveAsp),
            _ => Ok(active),
        };
        if mode == Some(TrafficMode::Broadcast) {
            self.correlate(context, &mut message);
        }
        let targets = targets.unwrap_or_else(|reason| {
            self.drops.count(reason);
            self.give_back(origin, &message, return_cause::SUBSYSTEM_FAILURE);
            Vec::new()
        });
        let control = first!(message, SuaParameter::SequenceControl).copied();
        let reference = first!(message, SuaParameter::DestinationReference).copied();
        // All that goes to one end of a connection takes one stream, COAK as what follows it.
        let flow = reference.or(control).unwrap_or_default();
        let message = Message::Own(message);
        for association in &targets {
            let streams = self.associations.streams(*association);
            self.transmit(*association, crate::sua::stream_of(flow, streams), &message);
        }
        match targets.as_slice() {
            [one] => Some(Peer::Asp(*one)),
            _ => None,
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc3868#section-4.3.4.3
    //# Whenever an ASP in a Broadcast mode AS becomes ASP-ACTIVE, the SGP
    //# MUST tag the first DATA message broadcast in each traffic flow with a
    //# unique Correlation Id parameter.
    fn correlate(&mut self, context: u32, message: &mut OwnMessage<SuaParameter>) {
        let Some(server) = self.servers.get_mut(&context) else { return };
        if !server.must_correlate || !matches!(message.kind, kind::CLDT | kind::CODT) {
            return;
        }
        server.must_correlate = false;
        let correlation = CommonParameter::CorrelationId(self.next_correlation);
        self.next_correlation = self.next_correlation.wrapping_add(1);
        // The data come last.
        let at = message.parameters.len().saturating_sub(1);
        message.parameters.insert(at, Parameter::Common(correlation));
    }

    /// The ASP of a loadshare that a message is for: for a segment the one that got the first.
    fn sharer(
        &mut self,
        origin: Origin,
        context: u32,
        active: &[AssociationNumber],
        message: &OwnMessage<SuaParameter>,
    ) -> Result<Vec<AssociationNumber>, DropReason> {
        let segment = SegmentKey::of(origin.sender(), message);
        let owner = match &segment {
            Some((key, segmentation)) if !segmentation.first => {
                let server = self.servers.get_mut(&context).ok_or(DropReason::NoRoute)?;
                let owner = server.segments.owner(key, *segmentation);
                owner.filter(|asp| active.contains(asp)).ok_or(DropReason::SegmentLost)?
            }
            _ => self.owner(context, active, message).ok_or(DropReason::NoActiveAsp)?,
        };
        if let (Some((key, segmentation)), Some(server)) = (segment, self.servers.get_mut(&context))
            && segmentation.first
        {
            server.segments.note(key, owner);
        }
        Ok(vec![owner])
    }

    /// The ASP of a loadshare that a message is for: the owner of its connection or transaction, the one that its
    /// sequence asks for, or the next in turn.
    fn owner(
        &mut self,
        context: u32,
        active: &[AssociationNumber],
        message: &OwnMessage<SuaParameter>,
    ) -> Option<AssociationNumber> {
        let server = self.servers.get_mut(&context)?;
        let reference = first!(message, SuaParameter::DestinationReference).copied();
        if let Some(reference) = reference {
            let labelled = active.iter().copied().find(|asp| {
                let labels = server.labels.get(asp);
                labels.and_then(|labels| labels.reference).is_some_and(|label| label.owns(reference))
            });
            let noted = active.iter().copied().find(|asp| self.connections.contains_key(&(reference, *asp)));
            return labelled.or(noted);
        }
        let data = first!(message, SuaParameter::Data);
        if let Some(transaction) = data.and_then(|data| label::destination_transaction(data))
            && server.labels.values().any(|labels| labels.transaction.is_some())
        {
            return active.iter().copied().find(|asp| {
                let labels = server.labels.get(asp);
                labels.and_then(|labels| labels.transaction).is_some_and(|label| label.owns(transaction))
            });
        }
        let class = first!(message, SuaParameter::ProtocolClass).copied().unwrap_or_default();
        let control = first!(message, SuaParameter::SequenceControl).copied();
        let at = match control {
            Some(control) if class & 3 == 1 => usize::try_from(control).unwrap_or_default(),
            _ => {
                server.turn = server.turn.wrapping_add(1);
                server.turn
            }
        };
        active.get(at % active.len().max(1)).copied()
    }

    /// Gives a message back whose sender asked for it.
    pub(super) fn give_back(&mut self, origin: Origin, message: &OwnMessage<SuaParameter>, cause: u8) {
        let Some(unitdata) = Unitdata::of(message).filter(Unitdata::comes_back) else { return };
        let notice = UnitdataNotice::returning(&unitdata, cause);
        match origin {
            Origin::Network => {
                self.outputs.push_back(SignallingGatewayOutput::Network(notice.to_message(0)));
            }
            Origin::Asp(association, context) => {
                let streams = self.associations.streams(association);
                let stream = if streams < 2 { StreamNumber(0) } else { StreamNumber(1) };
                self.transmit(association, stream, &Message::Own(notice.to_message(context)));
            }
        }
    }
}

/// A global title is translated here: the hop counter counts it (RFC 3868, section 3.10.1). False if it has run out.
fn count_hop(message: &mut OwnMessage<SuaParameter>) -> bool {
    let by_title = first!(message, SuaParameter::DestinationAddress)
        .is_some_and(|address| address.routing == RoutingIndicator::GlobalTitle);
    for parameter in &mut message.parameters {
        if let Parameter::Own(SuaParameter::HopCount(count)) = parameter
            && by_title
        {
            if *count <= 1 {
                return false;
            }
            *count -= 1;
        }
    }
    true
}
