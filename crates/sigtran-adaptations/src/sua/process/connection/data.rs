//! Data of connections (RFC 3868, sections 3.3.1 and 3.3.2; Q.714, sections 3.5 and 3.6): parts of messages, the window
//! of class 3, expedited data.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_ss7::sccp::{ReleaseCause, ResetCause, ResetInput};

use crate::drops::DropReason;
use crate::message::OwnMessage;
use crate::sua::connection::{ConnectionInput, ConnectionState};
use crate::sua::process::UserProcess;
use crate::sua::process::connection::message::{Content, about, cause};
use crate::sua::process::connection::{Connection, ConnectionEvent, ConnectionId, Timer};
use crate::sua::{SequenceNumber, SuaParameter, kind};

/// Octets of expedited data (Q.713, section 4.12).
const MOST_EXPEDITED: usize = 32;
/// Expedited data that may wait for the acknowledgement of what was sent before.
const MOST_WAITING_EXPEDITED: usize = 8;

impl UserProcess {
    /// N-DATA request. False, and counted, if the connection does not carry data, if the message is too long, or if
    /// too much waits already.
    pub fn send_data(&mut self, now: Instant, id: ConnectionId, data: Bytes) -> bool {
        let config = self.config.connections;
        let Some(connection) = self.data_connection(id) else { return false };
        let parts = data.len().div_ceil(config.part_octets).max(1);
        if data.len() > config.message_octets || connection.queue.len() + parts > config.parts_max {
            self.drops.count(DropReason::QueueFull);
            return false;
        }
        let mut rest = data;
        for left in (0..parts).rev() {
            let part = rest.split_to(config.part_octets.min(rest.len()));
            connection.queue.push_back((left > 0, part));
        }
        self.pump(now, id);
        true
    }

    /// N-EXPEDITED-DATA request, in class 3: at most 32 octets that pass by the window. False, and counted, if the
    /// connection does not carry such, or if too much of it waits already.
    pub fn send_expedited(&mut self, now: Instant, id: ConnectionId, data: Bytes) -> bool {
        let Some(connection) = self.data_connection(id) else { return false };
        if !connection.has_flow_control() || data.is_empty() || data.len() > MOST_EXPEDITED {
            self.drops.count(DropReason::NotInService);
            return false;
        }
        if connection.expedited.len() >= MOST_WAITING_EXPEDITED {
            self.drops.count(DropReason::QueueFull);
            return false;
        }
        connection.expedited.push_back(data);
        self.pump(now, id);
        true
    }

    /// Grants the peer another window in class 3, 0 to 127 messages, until the connection is reset; 0 holds it back.
    /// False, and counted, if the connection has none.
    pub fn set_credit(&mut self, now: Instant, id: ConnectionId, credit: u8) -> bool {
        let Some(connection) = self.data_connection(id) else { return false };
        if !connection.has_flow_control() {
            self.drops.count(DropReason::NotInService);
            return false;
        }
        connection.window.offer(credit);
        self.acknowledge(now, id);
        true
    }

    /// A connection that carries data now; otherwise it is counted that it does not.
    fn data_connection(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let reason = match self.connections.get(&id) {
            None => DropReason::UnknownConnection,
            Some(connection) if connection.carries_data() => return self.connections.get_mut(&id),
            Some(connection) if connection.state == ConnectionState::Active => DropReason::ConnectionReset,
            Some(_) => DropReason::NotInService,
        };
        self.drops.count(reason);
        None
    }

    /// Sends what waits, as far as the window goes.
    pub(super) fn pump(&mut self, now: Instant, id: ConnectionId) {
        while let Some(connection) =
            self.connections.get_mut(&id).filter(|connection| connection.carries_data())
        {
            let context = connection.routing_context;
            if !connection.awaits_expedited
                && let Some(data) = connection.expedited.pop_front()
            {
                connection.awaits_expedited = true;
                let message = with_peer(about(kind::CODT, context), connection);
                self.transmit_on(now, id, message.with(SuaParameter::Data(data)));
                continue;
            }
            if connection.has_flow_control() && !connection.window.can_send() {
                break;
            }
            let Some((more, data)) = connection.queue.pop_front() else { break };
            let (sent, received) =
                if connection.has_flow_control() { connection.window.send() } else { (0, 0) };
            let sequence = SuaParameter::SequenceNumber(SequenceNumber { received, more, sent });
            let message = with_peer(about(kind::CODT, context).with(sequence), connection);
            self.transmit_on(now, id, message.with(SuaParameter::Data(data)));
        }
        self.indicate_congestion(id);
    }

    /// Sends a message of a connection, which then need not be tested for a while.
    pub(super) fn transmit_on(&mut self, now: Instant, id: ConnectionId, message: OwnMessage<SuaParameter>) {
        let until = now + self.config.connections.inactivity_send;
        if let Some(connection) =
            self.connections.get_mut(&id).filter(|connection| connection.state == ConnectionState::Active)
        {
            connection.timers.start(Timer::InactivitySend as usize, until);
        }
        self.transmit_flow(id.0, message);
    }

    /// Tells when more than half of what may wait for the window waits, and when it no longer does.
    pub(super) fn indicate_congestion(&mut self, id: ConnectionId) {
        let parts_max = self.config.connections.parts_max;
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let is_congested = connection.queue.len() * 2 > parts_max;
        if connection.is_congested != is_congested {
            connection.is_congested = is_congested;
            self.indicate(id, ConnectionEvent::Congested(is_congested));
        }
    }

    /// CODT: data with its number, or expedited data, which have none.
    pub(super) fn take_data(&mut self, now: Instant, id: ConnectionId, content: &Content) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if !connection.carries_data() {
            return self.drops.count(DropReason::ConnectionReset);
        }
        let data = content.data.clone().unwrap_or_default();
        match (connection.has_flow_control(), content.sequence) {
            (true, Some(SequenceNumber { received, more, sent })) => {
                let window = &mut connection.window;
                let numbers = window.acknowledged(received).and_then(|()| window.received(sent));
                if numbers.is_ok() {
                    self.take_part(now, id, more, &data);
                } else {
                    self.drops.count(DropReason::ConnectionReset);
                }
                self.resume(now, id, numbers);
            }
            (true, None) if data.len() > MOST_EXPEDITED => {
                self.drops.count(DropReason::ConnectionReset);
                self.resume(now, id, Err(ResetCause::REMOTE_PROCEDURE_ERROR));
            }
            (true, None) => {
                let context = connection.routing_context;
                let message = with_peer(about(kind::CODA, context), connection);
                self.indicate(id, ConnectionEvent::ExpeditedData(data));
                self.transmit_on(now, id, message);
            }
            // Expedited data are of class 3: in class 2, one without the parameter has left out that no more follow.
            (false, sequence) => {
                let more = sequence.is_some_and(|sequence| sequence.more);
                self.take_part(now, id, more, &data);
            }
        }
    }

    /// A part of the peer's message, and the message once it is whole.
    fn take_part(&mut self, now: Instant, id: ConnectionId, more: bool, data: &Bytes) {
        let most = self.config.connections.message_octets;
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.received.len() + data.len() > most {
            let content = Content::of_cause(cause::RELEASE, ReleaseCause::REMOTE_PROCEDURE_ERROR.0);
            return self.put_connection(now, id, ConnectionInput::FaultFound, &content);
        }
        if connection.received.is_empty() && !more {
            return self.indicate(id, ConnectionEvent::Data(data.clone()));
        }
        connection.received.extend_from_slice(data);
        if !more {
            let whole = Bytes::from(std::mem::take(&mut connection.received));
            self.indicate(id, ConnectionEvent::Data(whole));
        }
    }

    /// CODA: of data with their number, or of expedited data.
    pub(super) fn take_acknowledgement(&mut self, now: Instant, id: ConnectionId, content: &Content) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if !connection.carries_data() {
            return self.drops.count(DropReason::ConnectionReset);
        }
        if let Some(received) = content.received {
            let acknowledged = connection.window.acknowledged(received);
            if let Some(credit) = content.credit.filter(|_| acknowledged.is_ok()) {
                connection.window.grant(credit);
            }
            self.resume(now, id, acknowledged);
        } else if std::mem::take(&mut connection.awaits_expedited) {
            self.pump(now, id);
        } else {
            self.drops.count(DropReason::Unexpected);
        }
    }

    /// COIT: what both ends have must agree (Q.714, section 3.4).
    pub(super) fn compare_ends(&mut self, now: Instant, id: ConnectionId, content: &Content) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if content.class != Some(connection.class) {
            let content = Content::of_cause(cause::RELEASE, ReleaseCause::INCONSISTENT_CONNECTION_DATA.0);
            return self.put_connection(now, id, ConnectionInput::FaultFound, &content);
        }
        //= https://www.rfc-editor.org/rfc/rfc3868#section-3.3.11
        //# They are ignored if the
        //# protocol class indicates class 2.
        if let (true, Some(sequence)) =
            (connection.has_flow_control() && connection.carries_data(), content.sequence)
        {
            let window = &mut connection.window;
            let numbers = window.tested(sequence.sent).and_then(|()| window.acknowledged(sequence.received));
            if let Some(credit) = content.credit.filter(|_| numbers.is_ok()) {
                window.grant(credit);
            }
            self.resume(now, id, numbers);
        }
    }

    /// Goes on sending, or resets because of wrong numbers.
    fn resume(&mut self, now: Instant, id: ConnectionId, numbers: Result<(), ResetCause>) {
        if let Err(why) = numbers {
            self.put_reset(now, id, ResetInput::NumbersWrong, why);
            return;
        }
        self.pump(now, id);
        let due = self.connections.get(&id).filter(|connection| connection.carries_data());
        if due.is_some_and(|connection| connection.window.is_acknowledgement_due()) {
            self.acknowledge(now, id);
        }
    }

    /// CODA with what has come, and the window.
    fn acknowledge(&mut self, now: Instant, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let received = connection.window.acknowledge();
        let message = with_peer(about(kind::CODA, connection.routing_context), connection)
            .with(SuaParameter::ReceiveSequenceNumber(received << 1))
            .with(SuaParameter::Credit(connection.window.credit()));
        self.transmit_on(now, id, message);
    }
}

/// Appends the peer's reference number, if it is known, behind the other parameters.
fn with_peer(message: OwnMessage<SuaParameter>, connection: &Connection) -> OwnMessage<SuaParameter> {
    match connection.peer {
        Some(peer) => message.with(SuaParameter::DestinationReference(peer)),
        None => message,
    }
}
