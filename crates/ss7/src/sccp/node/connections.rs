//! Connection-oriented control (Q.714, section 3): requests of users, messages of peers, timers.

use bytes::Bytes;
use slantpath_base::Instant;

use crate::PointCode;
use crate::mtp3::{RoutingLabel, Sls};
use crate::sccp::connection::machine::{ConnectionInput, ConnectionState, ResetInput, ResetState};
use crate::sccp::connection::{Connection, ConnectionTimer, Context};
use crate::sccp::counters::Discard;
use crate::sccp::node::Node;
use crate::sccp::node::routing::{Destination, Route};
use crate::sccp::primitive::{ConnectRequest, ConnectionRequest, RequestError};
use crate::sccp::unitdata::FIRST_HOP_COUNTER;
use crate::sccp::{
    ConnectionId, ErrorCause, LocalReference, Message, OptionalParameters, Parameter, PartyAddress,
    ProtocolClass, RefusalCause, ReleaseCause, ReturnCause,
};

mod data;
mod steps;

/// User data of CR, CC, CREF and RLSD (Q.713, section 3.16): 3 to 130 octets with name and length.
const MOST_OPTIONAL_DATA: usize = 130;
/// Importance of CR (Q.714, section 2.6, table 2).
const REQUEST_IMPORTANCE: u8 = 2;

impl Node {
    /// N-CONNECT request. The answer is an indication: a confirmation, or a disconnection with its reason.
    pub fn connect(&mut self, now: Instant, request: ConnectRequest) -> Result<ConnectionId, RequestError> {
        let ConnectRequest { called, calling, with_flow_control, importance, data } = request;
        if self.guarded_until.is_some_and(|until| now < until) {
            return Err(RequestError::Restarting);
        }
        check_optional(&data)?;
        let ssn =
            calling.ssn.filter(|ssn| self.subsystems.contains_key(ssn)).ok_or(RequestError::NotAUser)?;
        let local = self.references.allocate(now).ok_or(RequestError::NoReference)?;
        let class = if with_flow_control { 3 } else { 2 };
        let connection = self.add_connection(local, class, ssn);
        let id = connection.id;
        let optional = request_parameters(&calling, class, connection.window.credit(), importance, &data);
        let context = Context { called, parameters: optional, ..Context::default() };
        self.step(now, local, ConnectionInput::ConnectRequest, &context);
        self.drain_loopback(now);
        Ok(id)
    }

    /// Takes a user's request on its connection.
    pub fn request(
        &mut self,
        now: Instant,
        id: ConnectionId,
        request: ConnectionRequest,
    ) -> Result<(), RequestError> {
        let local = *self.references_by_id.get(&id).ok_or(RequestError::NoSuchConnection(id))?;
        let connection = self.connections.get(&local.0).ok_or(RequestError::NoSuchConnection(id))?;
        let (state, reset) = (connection.state, connection.reset);
        let has_flow_control = connection.has_flow_control();
        match request {
            ConnectionRequest::Accept(data) => {
                check_optional(&data)?;
                if state != ConnectionState::PendingIncoming {
                    return Err(RequestError::NotNow);
                }
                let context = Context { data, ..Context::default() };
                self.step(now, local, ConnectionInput::ConnectResponse, &context);
            }
            ConnectionRequest::Disconnect(data) => {
                check_optional(&data)?;
                if matches!(
                    state,
                    ConnectionState::DisconnectPending | ConnectionState::WaitConnectionConfirm
                ) {
                    return Err(RequestError::NotNow);
                }
                let cause = ReleaseCause::END_USER_ORIGINATED.0;
                if let Some(connection) = self.connections.get_mut(&local.0) {
                    // RLSD may have to wait for the peer's reference.
                    connection.release = Some((cause, data.clone()));
                }
                let context = Context { data, cause, ..Context::default() };
                self.step(now, local, ConnectionInput::DisconnectRequest, &context);
            }
            _ if state != ConnectionState::Active => return Err(RequestError::NotNow),
            ConnectionRequest::Data(data) => self.send_data(now, local, data)?,
            _ if !has_flow_control => return Err(RequestError::NotNow),
            ConnectionRequest::ExpeditedData(data) => self.send_expedited(now, local, data)?,
            ConnectionRequest::Reset => {
                if reset == ResetState::ResetOutgoing {
                    return Err(RequestError::NotNow);
                }
                self.step_reset(now, local, ResetInput::ResetRequest, 0);
            }
            ConnectionRequest::ResetResponse => {
                if reset != ResetState::ResetIncoming {
                    return Err(RequestError::NotNow);
                }
                self.step_reset(now, local, ResetInput::ResetResponse, 0);
            }
        }
        self.drain_loopback(now);
        Ok(())
    }

    fn add_connection(&mut self, local: LocalReference, class: u8, ssn: crate::sccp::Ssn) -> &mut Connection {
        let id = ConnectionId(self.next_connection);
        self.next_connection += 1;
        self.references_by_id.insert(id, local);
        let connection = Connection::new(id, local, class, ssn, self.config.connections.credit);
        self.connections.entry(local.0).or_insert(connection)
    }

    /// Routes a CR: `own` is the connection of this node that it asks for, `from` the label of another's.
    fn route_request(
        &mut self,
        now: Instant,
        mut request: Message,
        from: Option<RoutingLabel>,
        own: Option<LocalReference>,
    ) {
        let Message::Cr { source, called, optional, .. } = &mut request else { return };
        let source = *source;
        let refuse =
            |node: &mut Self, cause: ReturnCause| node.refuse(now, source, cause.refusal(), from, own);
        if from.is_some() && !called.routes_on_ssn && called.global_title.is_some() && !take_hop(optional) {
            self.counters.hop_counter_violations += 1;
            return refuse(self, ReturnCause::HOP_COUNTER_VIOLATION);
        }
        let calling = calling_of(optional, from, self.config.point_code);
        let importance = optional.value(Parameter::IMPORTANCE).and_then(|value| value.first());
        let route = Route {
            called,
            calling: Some(&calling),
            sls: from.map_or(Sls((source.0 & 0xf) as u8), |label| label.sls),
            in_sequence: true,
            is_from_network: from.is_some(),
            importance: importance.map_or(REQUEST_IMPORTANCE, |octet| octet & 7),
        };
        let sls = route.sls;
        match self.route(route) {
            Err(cause) => refuse(self, cause),
            Ok(Destination::Local(ssn)) => {
                let origin = from.map_or(self.config.point_code, |label| label.opc);
                self.accept_request(now, &request, ssn, calling, origin);
            }
            Ok(Destination::Remote(code, translated)) => {
                *called = translated;
                if from.is_some() {
                    set_calling(optional, &calling);
                    self.counters.relayed += 1;
                }
                let mut octets = Vec::new();
                match request.emit(&mut octets) {
                    Ok(()) => self.transmit(code, sls, octets),
                    Err(_) => refuse(self, ReturnCause::UNQUALIFIED),
                }
            }
        }
    }

    /// Tells whoever asked that there will be no connection.
    fn refuse(
        &mut self,
        now: Instant,
        source: LocalReference,
        cause: RefusalCause,
        from: Option<RoutingLabel>,
        own: Option<LocalReference>,
    ) {
        *self.counters.refused.entry(cause).or_default() += 1;
        if let Some(local) = own {
            let context = Context { cause: cause.0, is_refusal: true, ..Context::default() };
            self.step(now, local, ConnectionInput::NotRoutable, &context);
            return;
        }
        let label = from.unwrap_or(RoutingLabel {
            dpc: self.config.point_code,
            opc: self.config.point_code,
            sls: Sls(0),
        });
        let message =
            Message::Cref { destination: source, cause: cause.0, optional: OptionalParameters::default() };
        if self.is_accessible(label.opc) {
            self.send_message(label.opc, label.sls, &message);
        } else {
            self.counters.discard(Discard::RefusalUndeliverable(cause));
        }
    }

    /// A CR for a user of this node.
    fn accept_request(
        &mut self,
        now: Instant,
        request: &Message,
        ssn: crate::sccp::Ssn,
        calling: PartyAddress,
        origin: PointCode,
    ) {
        let Message::Cr { source, class, called, optional } = request else { return };
        // The answer goes to where the request set out, which a relay has written down.
        let node = calling.point_code.unwrap_or(origin);
        let label = RoutingLabel { dpc: self.config.point_code, opc: node, sls: Sls((source.0 & 0xf) as u8) };
        if self.guarded_until.is_some_and(|until| now < until) {
            return self.refuse(now, *source, RefusalCause::SCCP_FAILURE, Some(label), None);
        }
        if ssn == crate::sccp::config::MANAGEMENT || !(2..=3).contains(&class.class) {
            return self.refuse(now, *source, RefusalCause::UNQUALIFIED, Some(label), None);
        }
        let Some(local) = self.references.allocate(now) else {
            return self.refuse(now, *source, RefusalCause::RESOURCE_TRANSIENT, Some(label), None);
        };
        let connection = self.add_connection(local, class.class, ssn);
        if let Some(credit) = optional.value(Parameter::CREDIT).and_then(|value| value.first()) {
            connection.window.agree(*credit);
        }
        let data = optional.value(Parameter::DATA).map(Bytes::copy_from_slice).unwrap_or_default();
        let peer = Some((*source, node));
        let context = Context { data, calling, called: called.clone(), peer, ..Context::default() };
        self.step(now, local, ConnectionInput::ConnectionRequest, &context);
    }

    /// A message of a connection, or one that asks for one.
    pub(super) fn handle_connection_message(&mut self, now: Instant, label: RoutingLabel, message: Message) {
        if matches!(message, Message::Cr { .. }) {
            return self.route_request(now, message, Some(label), None);
        }
        let Some((destination, source)) = references(&message) else {
            return self.counters.discard(Discard::Malformed);
        };
        let Some(connection) = self.connections.get(&destination.0) else {
            return self.answer_unassigned(label, &message, source);
        };
        // CC and CREF come from wherever the request was led to.
        let is_answer = matches!(message, Message::Cc { .. } | Message::Cref { .. });
        match connection.peer {
            Some((_, node)) if node != label.opc && !is_answer => {
                self.counters.discard(Discard::PointCodeMismatch);
                if let Some(source) = source {
                    self.send_error(label, source, ErrorCause::POINT_CODE_MISMATCH);
                }
            }
            Some((reference, _)) if source.is_some_and(|source| source != reference) && !is_answer => {
                self.counters.discard(Discard::SourceReferenceMismatch);
                if let (Some(source), false) = (source, matches!(message, Message::Rlc { .. })) {
                    self.send_error(label, source, ErrorCause::INCONSISTENT_SOURCE_REFERENCE);
                }
            }
            _ => self.handle_own_message(now, destination, label, message),
        }
    }

    /// Answers a message with a reference that nobody has (Q.714, annex B, table B.2).
    fn answer_unassigned(&mut self, label: RoutingLabel, message: &Message, source: Option<LocalReference>) {
        self.counters.discard(Discard::UnassignedReference);
        match (message, source) {
            (Message::Rlsd { destination, .. }, Some(source)) => {
                let confirm = Message::Rlc { destination: source, source: *destination };
                self.send_message(label.opc, label.sls, &confirm);
            }
            (
                Message::Cc { .. } | Message::Rsr { .. } | Message::Rsc { .. } | Message::It { .. },
                Some(source),
            ) => self.send_error(label, source, ErrorCause::UNASSIGNED_DESTINATION_REFERENCE),
            _ => {}
        }
    }

    fn send_error(&mut self, label: RoutingLabel, destination: LocalReference, cause: ErrorCause) {
        self.send_message(label.opc, label.sls, &Message::Err { destination, cause: cause.0 });
    }

    fn handle_own_message(
        &mut self,
        now: Instant,
        local: LocalReference,
        label: RoutingLabel,
        message: Message,
    ) {
        let optional_data = |optional: &OptionalParameters| {
            optional.value(Parameter::DATA).map(Bytes::copy_from_slice).unwrap_or_default()
        };
        let (input, context) = match &message {
            Message::Cc { source, class, optional, .. } => {
                self.take_confirm(local, *class, optional);
                let peer = Some((*source, label.opc));
                let context = Context { data: optional_data(optional), peer, ..Context::default() };
                (ConnectionInput::ConnectionConfirm, context)
            }
            Message::Cref { cause, optional, .. } => {
                let data = optional_data(optional);
                let context = Context { data, cause: *cause, is_refusal: true, ..Context::default() };
                (ConnectionInput::ConnectionRefused, context)
            }
            Message::Rlsd { source, cause, optional, .. } => {
                let peer = Some((*source, label.opc));
                let context =
                    Context { data: optional_data(optional), cause: *cause, peer, ..Context::default() };
                (ConnectionInput::Released, context)
            }
            Message::Rlc { .. } => (ConnectionInput::ReleaseComplete, Context::default()),
            Message::Err { .. } => {
                let cause = ReleaseCause::REMOTE_PROCEDURE_ERROR.0;
                (ConnectionInput::Error, Context { cause, ..Context::default() })
            }
            _ => return self.handle_data_message(now, local, label, message),
        };
        if !self.step(now, local, input, &context) {
            self.counters.discard(Discard::UnexpectedInState);
        }
    }

    /// The class and the window that the peer has chosen.
    fn take_confirm(&mut self, local: LocalReference, class: ProtocolClass, optional: &OptionalParameters) {
        let Some(connection) = self.connections.get_mut(&local.0) else { return };
        if connection.state != ConnectionState::PendingOutgoing {
            return;
        }
        // Class 3 may become class 2; nothing else changes.
        if class.class == 2 {
            connection.class = 2;
        }
        if let Some(credit) = optional.value(Parameter::CREDIT).and_then(|value| value.first()) {
            connection.window.agree(*credit);
        }
    }

    /// Every timer of every connection that is due.
    pub(super) fn expire_connections(&mut self, now: Instant) {
        while let Some((due, local)) =
            self.connection_deadlines.first().copied().filter(|(due, _)| *due <= now)
        {
            self.connection_deadlines.remove(&(due, local));
            let Some(connection) = self.connections.get_mut(&local) else { continue };
            connection.scheduled = None;
            let expired = connection.timers.take_expired(now).map(|timer| ConnectionTimer::ALL[timer]);
            let local = LocalReference(local);
            let (input, cause, is_refusal) = match expired {
                None => {
                    self.schedule_connection(local);
                    continue;
                }
                Some(ConnectionTimer::Reset) => {
                    self.step_reset(now, local, ResetInput::ResetExpired, 0);
                    self.schedule_connection(local);
                    continue;
                }
                Some(ConnectionTimer::Establishment) => {
                    (ConnectionInput::EstablishmentExpired, RefusalCause::ESTABLISHMENT_TIMER.0, true)
                }
                Some(ConnectionTimer::InactivityReceive) => (
                    ConnectionInput::InactivityReceiveExpired,
                    ReleaseCause::RECEIVE_INACTIVITY_TIMER.0,
                    false,
                ),
                Some(ConnectionTimer::InactivitySend) => (ConnectionInput::InactivitySendExpired, 0, false),
                Some(ConnectionTimer::Interval) => (ConnectionInput::IntervalExpired, 0, false),
                Some(ConnectionTimer::Release) => (ConnectionInput::ReleaseExpired, 0, false),
                Some(ConnectionTimer::RepeatRelease) => (ConnectionInput::RepeatReleaseExpired, 0, false),
            };
            self.step(now, local, input, &Context { cause, is_refusal, ..Context::default() });
            self.schedule_connection(local);
        }
    }
}

fn check_optional(data: &Bytes) -> Result<(), RequestError> {
    if data.len() > MOST_OPTIONAL_DATA {
        return Err(RequestError::DataTooLong { octets: data.len(), most: MOST_OPTIONAL_DATA });
    }
    Ok(())
}

fn request_parameters(
    calling: &PartyAddress,
    class: u8,
    credit: u8,
    importance: Option<u8>,
    data: &Bytes,
) -> OptionalParameters {
    let mut address = Vec::new();
    calling.emit(&mut address);
    let mut parameters = Vec::new();
    let mut add = |name, value: &[u8]| parameters.push(Parameter { name, value: value.to_vec() });
    if class == 3 {
        add(Parameter::CREDIT, &[credit]);
    }
    add(Parameter::CALLING, &address);
    if !data.is_empty() {
        add(Parameter::DATA, data);
    }
    add(Parameter::HOP_COUNTER, &[FIRST_HOP_COUNTER]);
    if let Some(importance) = importance {
        add(Parameter::IMPORTANCE, &[importance & 7]);
    }
    OptionalParameters(parameters)
}

/// Counts a hop. Returns whether there was one left.
fn take_hop(optional: &mut OptionalParameters) -> bool {
    let hop = optional.0.iter_mut().find(|parameter| parameter.name == Parameter::HOP_COUNTER);
    let Some(octet) = hop.and_then(|parameter| parameter.value.first_mut()) else { return true };
    *octet = octet.saturating_sub(1);
    *octet > 0
}

/// Gives the address that asks for a connection, with the node that it comes from if the address does not say (Q.714,
/// section 2.7.5).
fn calling_of(optional: &OptionalParameters, from: Option<RoutingLabel>, own: PointCode) -> PartyAddress {
    let given = optional.value(Parameter::CALLING).and_then(|octets| PartyAddress::parse(octets).ok());
    let mut calling = given.unwrap_or_default();
    if calling.point_code.is_none() {
        calling.point_code = Some(from.map_or(own, |label| label.opc));
    }
    calling
}

fn set_calling(optional: &mut OptionalParameters, calling: &PartyAddress) {
    let mut value = Vec::new();
    calling.emit(&mut value);
    match optional.0.iter_mut().find(|parameter| parameter.name == Parameter::CALLING) {
        Some(parameter) => parameter.value = value,
        None => optional.0.push(Parameter { name: Parameter::CALLING, value }),
    }
}

/// The references of a message of a connection: whose it is for this node, and the peer's where it says so.
const fn references(message: &Message) -> Option<(LocalReference, Option<LocalReference>)> {
    match *message {
        Message::Cc { destination, source, .. }
        | Message::Rlsd { destination, source, .. }
        | Message::Rlc { destination, source }
        | Message::Rsr { destination, source, .. }
        | Message::Rsc { destination, source }
        | Message::It { destination, source, .. } => Some((destination, Some(source))),
        Message::Cref { destination, .. }
        | Message::Dt1 { destination, .. }
        | Message::Dt2 { destination, .. }
        | Message::Ak { destination, .. }
        | Message::Ed { destination, .. }
        | Message::Ea { destination }
        | Message::Err { destination, .. } => Some((destination, None)),
        _ => None,
    }
}
