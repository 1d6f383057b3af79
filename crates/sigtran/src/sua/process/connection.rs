//! Connections of the ASP's users.

use std::collections::btree_map::Entry;

use bytes::Bytes;
use slantpath_base::Instant;

use crate::drops::DropReason;
use crate::message::{CommonParameter, OwnMessage};
use crate::sua::connection::{CONNECTION_MACHINE, ConnectionAction, ConnectionInput, ConnectionState};
use crate::sua::primitive::first;
use crate::sua::process::{UserProcess, UserProcessOutput};
use crate::sua::{Address, Cause, SuaParameter, kind};

/// A connection, by the reference number of its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// What happens to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// N-CONNECT confirm.
    Confirmed {
        /// What the peer's user sent with it.
        data: Option<Bytes>,
    },
    /// N-DATA indication.
    Data(Bytes),
    /// N-DISCONNECT indication. The connection is no more.
    Disconnected {
        /// The peer's cause, if it was the peer.
        cause: Option<Cause>,
        /// What the peer's user sent with it.
        data: Option<Bytes>,
    },
    /// N-CONNECT indication: answer with `accept` or `disconnect`.
    Offered {
        /// The application server that it is for.
        routing_context: u32,
        /// For whom.
        destination: Address,
        /// Of whom, if the peer said.
        source: Option<Address>,
        /// What the peer's user sent with it.
        data: Option<Bytes>,
    },
}

/// One connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    state: ConnectionState,
    routing_context: u32,
    /// The peer's reference number, as soon as it is known.
    peer: Option<u32>,
    /// T(conn est) or T(rel).
    answer: Option<Instant>,
    /// T(ias).
    idle_send: Option<Instant>,
    /// T(iar).
    idle_receive: Option<Instant>,
}

impl Connection {
    const fn new(routing_context: u32, peer: Option<u32>) -> Self {
        let state = ConnectionState::Idle;
        Self { state, routing_context, peer, answer: None, idle_send: None, idle_receive: None }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        [self.answer, self.idle_send, self.idle_receive].into_iter().flatten().min()
    }

    /// What is due by now, and no longer waits.
    fn take_due(&mut self, now: Instant) -> Option<ConnectionInput> {
        let due = |timer: &mut Option<Instant>| timer.take_if(|at| *at <= now).is_some();
        if due(&mut self.answer) {
            return Some(match self.state {
                ConnectionState::Releasing => ConnectionInput::ReleaseTimeout,
                _ => ConnectionInput::ConnectTimeout,
            });
        }
        if due(&mut self.idle_receive) {
            return Some(ConnectionInput::InactivityReceiveTimeout);
        }
        due(&mut self.idle_send).then_some(ConnectionInput::InactivitySendTimeout)
    }
}

/// What a message of a connection carries beyond its references.
#[derive(Clone, Debug, Default)]
struct Content {
    cause: Option<Cause>,
    data: Option<Bytes>,
    destination: Option<Address>,
    source: Option<Address>,
}

impl Content {
    fn of(message: &OwnMessage<SuaParameter>) -> Self {
        Self {
            cause: first!(message, SuaParameter::Cause).copied(),
            data: first!(message, SuaParameter::Data).cloned(),
            destination: first!(message, SuaParameter::DestinationAddress).cloned(),
            source: first!(message, SuaParameter::SourceAddress).cloned(),
        }
    }
}

/// Protocol class 2: all that there is of connections here; a request for class 3 is answered by it, as Q.714 allows.
const CLASS_2: u8 = 2;

/// Kinds of causes (RFC 3868, section 3.10.6).
const REFUSAL: u8 = 2;
const RELEASE: u8 = 3;
const ERROR: u8 = 5;

/// Refusal cause "Unqualified", release cause "Expiration of receive inactivity timer" and error causes (Q.713,
/// sections 3.11, 3.14 and 3.15).
const REFUSAL_NO_RESOURCES: u8 = 0x05;
const RELEASE_INACTIVITY: u8 = 0x0d;
const ERROR_UNASSIGNED_REFERENCE: u8 = 0;
const ERROR_SERVICE_CLASS: u8 = 3;

impl UserProcess {
    /// N-CONNECT request, in class 2. Nothing if the ASP has not that traffic, or has too many connections.
    pub fn connect(
        &mut self,
        now: Instant,
        routing_context: u32,
        destination: Address,
        source: Option<Address>,
        data: Option<Bytes>,
    ) -> Option<ConnectionId> {
        if !self.is_active(routing_context) {
            self.drops.count(DropReason::AspNotActive);
            return None;
        }
        let id = self.allocate(routing_context, None)?;
        let content = Content { destination: Some(destination), source, data, cause: None };
        self.put_connection(now, id, ConnectionInput::RequestConnect, &content);
        Some(id)
    }

    /// N-CONNECT response to an offered connection.
    pub fn accept(&mut self, now: Instant, id: ConnectionId, data: Option<Bytes>) {
        let content = Content { data, ..Content::default() };
        self.put_connection(now, id, ConnectionInput::ResponseConnect, &content);
    }

    /// N-DISCONNECT request: refuses an offered connection, releases one that is there. The value is that of Q.713's
    /// refusal or release cause.
    pub fn disconnect(&mut self, now: Instant, id: ConnectionId, value: u8, data: Option<Bytes>) {
        let is_offered = self.state(id) == ConnectionState::Incoming;
        let cause = Some(Cause { kind: if is_offered { REFUSAL } else { RELEASE }, value });
        self.put_connection(
            now,
            id,
            ConnectionInput::RequestDisconnect,
            &Content { cause, data, ..Content::default() },
        );
    }

    /// N-DATA request. False, and counted, if the connection does not carry data.
    pub fn send_data(&mut self, now: Instant, id: ConnectionId, data: Bytes) -> bool {
        let Some(connection) = self.connections.get_mut(&id) else {
            self.drops.count(DropReason::UnknownConnection);
            return false;
        };
        let (ConnectionState::Active, Some(peer)) = (connection.state, connection.peer) else {
            self.drops.count(DropReason::NotInService);
            return false;
        };
        connection.idle_send = Some(now + self.config.inactivity_send);
        let sequence = crate::sua::SequenceNumber { received: 0, more: false, sent: 0 };
        let message = about(kind::CODT, connection.routing_context)
            .with(SuaParameter::SequenceNumber(sequence))
            .with(SuaParameter::DestinationReference(peer))
            .with(SuaParameter::Data(data));
        self.transmit_flow(id.0, message);
        true
    }

    /// The state of a connection; idle for one that there is not.
    pub fn state(&self, id: ConnectionId) -> ConnectionState {
        self.connections.get(&id).map_or(ConnectionState::Idle, |connection| connection.state)
    }

    /// A reference number that is free, with this ASP's label where it must be.
    fn allocate(&mut self, routing_context: u32, peer: Option<u32>) -> Option<ConnectionId> {
        if self.connections.len() >= self.config.connections_max {
            self.drops.count(DropReason::QueueFull);
            return None;
        }
        // One more than there are connections is enough to find a free one, unless the label leaves too few.
        for _ in 0..=self.connections.len() {
            let counted = self.next_reference;
            self.next_reference = self.next_reference.wrapping_add(1);
            let id = ConnectionId(label(counted, self.config.reference_label));
            if let Entry::Vacant(free) = self.connections.entry(id) {
                free.insert(Connection::new(routing_context, peer));
                return Some(id);
            }
        }
        self.drops.count(DropReason::QueueFull);
        None
    }

    /// Every connection of an application server is lost.
    pub(super) fn lose_connections(&mut self, now: Instant, routing_context: u32) {
        let of_server =
            self.connections.iter().filter(|(_, connection)| connection.routing_context == routing_context);
        let ids: Vec<ConnectionId> = of_server.map(|(id, _)| *id).collect();
        for id in ids {
            self.put_connection(now, id, ConnectionInput::AspLost, &Content::default());
        }
    }

    pub(super) fn expire_connections(&mut self, now: Instant) {
        let due = |connection: &Connection| connection.deadline().is_some_and(|at| at <= now);
        let ids: Vec<ConnectionId> =
            self.connections.iter().filter(|(_, connection)| due(connection)).map(|(id, _)| *id).collect();
        for id in ids {
            let input = self.connections.get_mut(&id).and_then(|connection| connection.take_due(now));
            if let Some(input) = input {
                let inactivity = Cause { kind: RELEASE, value: RELEASE_INACTIVITY };
                let cause = (input == ConnectionInput::InactivityReceiveTimeout).then_some(inactivity);
                self.put_connection(now, id, input, &Content { cause, ..Content::default() });
            }
        }
    }

    /// A message of class 8.
    pub(super) fn handle_connection_message(
        &mut self,
        now: Instant,
        context: u32,
        message: &OwnMessage<SuaParameter>,
    ) {
        let source_reference = first!(message, SuaParameter::SourceReference).copied();
        let content = Content::of(message);
        if message.kind == kind::CORE {
            let Some(id) = self.allocate(context, source_reference) else {
                if let Some(peer) = source_reference {
                    let cause = Cause { kind: REFUSAL, value: REFUSAL_NO_RESOURCES };
                    let refusal = about(kind::COREF, context).with(SuaParameter::DestinationReference(peer));
                    self.transmit_flow(peer, refusal.with(SuaParameter::Cause(cause)));
                }
                return;
            };
            return self.put_connection(now, id, ConnectionInput::Core, &content);
        }
        let Some(id) = first!(message, SuaParameter::DestinationReference).copied().map(ConnectionId) else {
            return self.drops.count(DropReason::UnknownConnection);
        };
        let receive_until = now + self.config.inactivity_receive;
        let Some(connection) = self.connections.get_mut(&id) else {
            self.drops.count(DropReason::UnknownConnection);
            if message.kind != kind::COERR && message.kind != kind::RELCO {
                self.report_error(context, source_reference, ERROR_UNASSIGNED_REFERENCE);
            }
            return;
        };
        if connection.state == ConnectionState::Active {
            connection.idle_receive = Some(receive_until);
        }
        let input = match message.kind {
            kind::COAK => {
                connection.peer = source_reference;
                ConnectionInput::Coak
            }
            kind::COREF => ConnectionInput::Coref,
            kind::RELRE => ConnectionInput::Relre,
            kind::RELCO => ConnectionInput::Relco,
            kind::CODT => ConnectionInput::Codt,
            kind::COERR => ConnectionInput::Coerr,
            kind::COIT => return,
            // Acknowledgements and resets are of class 3.
            _ => return self.report_error(context, source_reference, ERROR_SERVICE_CLASS),
        };
        self.put_connection(now, id, input, &content);
    }

    fn report_error(&mut self, context: u32, peer: Option<u32>, value: u8) {
        if let Some(peer) = peer {
            let cause = SuaParameter::Cause(Cause { kind: ERROR, value });
            let error =
                about(kind::COERR, context).with(SuaParameter::DestinationReference(peer)).with(cause);
            self.transmit_flow(peer, error);
        }
    }

    /// Takes a row of a connection's machine.
    fn put_connection(&mut self, now: Instant, id: ConnectionId, input: ConnectionInput, content: &Content) {
        let config = self.config;
        let Some(connection) = self.connections.get_mut(&id) else {
            return self.drops.count(DropReason::UnknownConnection);
        };
        let Some(row) = CONNECTION_MACHINE.next(connection.state, input) else {
            return self.drops.count(DropReason::NotInService);
        };
        connection.state = row.to;
        connection.answer = None;
        if row.to != ConnectionState::Active {
            (connection.idle_send, connection.idle_receive) = (None, None);
        }
        for action in row.actions {
            let Some(connection) = self.connections.get_mut(&id) else { return };
            match action {
                ConnectionAction::StartConnectTimer => connection.answer = Some(now + config.connect),
                ConnectionAction::StartReleaseTimer => connection.answer = Some(now + config.release),
                ConnectionAction::StartInactivityTimers => {
                    connection.idle_send = Some(now + config.inactivity_send);
                    connection.idle_receive = Some(now + config.inactivity_receive);
                }
                ConnectionAction::Forget => {
                    self.connections.remove(&id);
                }
                ConnectionAction::IndicateConnect => {
                    let routing_context = connection.routing_context;
                    if let Some(destination) = content.destination.clone() {
                        let (source, data) = (content.source.clone(), content.data.clone());
                        let offered = ConnectionEvent::Offered { routing_context, destination, source, data };
                        self.tell(id, offered);
                    }
                }
                ConnectionAction::ConfirmConnect => {
                    self.tell(id, ConnectionEvent::Confirmed { data: content.data.clone() });
                }
                ConnectionAction::IndicateData => {
                    self.tell(id, ConnectionEvent::Data(content.data.clone().unwrap_or_default()));
                }
                ConnectionAction::IndicateDisconnect => {
                    let (cause, data) = (content.cause, content.data.clone());
                    self.tell(id, ConnectionEvent::Disconnected { cause, data });
                }
                ConnectionAction::SendCoit => {
                    connection.idle_send = Some(now + config.inactivity_send);
                    let message = compose(kind::COIT, id, connection, content);
                    self.transmit_flow(id.0, message);
                }
                ConnectionAction::SendCore
                | ConnectionAction::SendCoak
                | ConnectionAction::SendCoref
                | ConnectionAction::SendRelre
                | ConnectionAction::SendRelco => {
                    let message = compose(kind_of(*action), id, connection, content);
                    self.transmit_flow(id.0, message);
                }
            }
        }
    }

    fn tell(&mut self, id: ConnectionId, event: ConnectionEvent) {
        self.outputs.push_back(UserProcessOutput::Connection(id, event));
    }
}

const fn kind_of(action: ConnectionAction) -> crate::common::MessageKind {
    match action {
        ConnectionAction::SendCore => kind::CORE,
        ConnectionAction::SendCoak => kind::COAK,
        ConnectionAction::SendCoref => kind::COREF,
        ConnectionAction::SendRelre => kind::RELRE,
        _ => kind::RELCO,
    }
}

/// A number with a label at its place, in 24 bits.
fn label(number: u32, label: Option<crate::sua::Label>) -> u32 {
    const MASK: u32 = 0x00ff_ffff;
    let Some(label) = label else { return number & MASK };
    let len = u32::from(label.start.saturating_sub(label.end)) + 1;
    let low = number & ((1 << label.end.min(31)) - 1);
    let high = (number >> label.end.min(31)).checked_shl(u32::from(label.end) + len).unwrap_or(0);
    (high | u32::from(label.value) << label.end.min(31) | low) & MASK
}

fn about(kind: crate::common::MessageKind, routing_context: u32) -> OwnMessage<SuaParameter> {
    OwnMessage::empty(kind).with_common(CommonParameter::RoutingContexts(vec![routing_context]))
}

/// A message of a connection, with what its format asks for.
fn compose(
    kind: crate::common::MessageKind,
    id: ConnectionId,
    connection: &Connection,
    content: &Content,
) -> OwnMessage<SuaParameter> {
    let mut message = about(kind, connection.routing_context);
    if matches!(kind, kind::CORE | kind::COAK | kind::COIT) {
        message = message.with(SuaParameter::ProtocolClass(CLASS_2));
    }
    if let Some(peer) = connection.peer {
        message = message.with(SuaParameter::DestinationReference(peer));
    }
    if kind != kind::COREF {
        message = message.with(SuaParameter::SourceReference(id.0));
    }
    if matches!(kind, kind::COREF | kind::RELRE) {
        let unqualified = Cause { kind: if kind == kind::COREF { REFUSAL } else { RELEASE }, value: 0x0f };
        message = message.with(SuaParameter::Cause(content.cause.unwrap_or(unqualified)));
    }
    if let (kind::CORE, Some(destination)) = (kind, &content.destination) {
        message = message.with(SuaParameter::DestinationAddress(destination.clone()));
    }
    if matches!(kind, kind::CORE | kind::COAK) {
        message = message.with(SuaParameter::SequenceControl(id.0));
    }
    if let (kind::CORE, Some(source)) = (kind, &content.source) {
        message = message.with(SuaParameter::SourceAddress(source.clone()));
    }
    match &content.data {
        Some(data) if !matches!(kind, kind::RELCO | kind::COIT) => {
            message.with(SuaParameter::Data(data.clone()))
        }
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sua::Label;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_labelled_reference_is_owned_and_others_differ(
            number in 0_u32..256, other in 0_u32..256, end in 0_u8..16, value in 0_u16..16,
        ) {
            let place = Label { start: end + 3, end, value };
            let own = label(number, Some(place));
            prop_assert!(place.owns(own));
            prop_assert_eq!(own == label(other, Some(place)), number == other);
        }
    }
}
