//! Data of connections (Q.714, sections 3.5 to 3.7): segments, window, expedited data, reset.

use bytes::Bytes;
use slantpath_base::Instant;

use crate::mtp3::RoutingLabel;
use crate::sccp::config::octets_of_part;
use crate::sccp::connection::machine::{
    ConnectionInput, ConnectionState, RESET, ResetAction, ResetInput, ResetState,
};
use crate::sccp::connection::{ConnectionTimer, Context};
use crate::sccp::counters::Discard;
use crate::sccp::node::Node;
use crate::sccp::primitive::{Indication, RequestError};
use crate::sccp::unitdata::NARROWBAND_OCTETS;
use crate::sccp::{ErrorCause, LocalReference, Message, ReleaseCause, ResetCause, SequencingSegmenting};

/// User data of ED (Q.713, section 4.12).
const MOST_EXPEDITED: usize = 32;
/// Expedited data that may wait for the acknowledgement of what was sent before.
const MOST_WAITING_EXPEDITED: usize = 8;

impl Node {
    /// Takes an N-DATA request.
    pub(super) fn send_data(
        &mut self,
        now: Instant,
        local: LocalReference,
        data: Bytes,
    ) -> Result<(), RequestError> {
        let limits = self.config.connections;
        if data.is_empty() {
            return Err(RequestError::NoData);
        }
        if data.len() > limits.message_octets {
            return Err(RequestError::DataTooLong { octets: data.len(), most: limits.message_octets });
        }
        let node =
            self.connections.get(&local.0).and_then(|connection| connection.peer).map(|(_, node)| node);
        let octets = node.and_then(|node| self.remote(node)).map(|remote| remote.capability.message_octets);
        let part = octets_of_part(octets.unwrap_or(NARROWBAND_OCTETS));
        let Some(connection) = self.connections.get_mut(&local.0) else { return Err(RequestError::NotNow) };
        let parts = data.len().div_ceil(part);
        if parts > limits.queued_messages {
            let most = limits.queued_messages * part;
            return Err(RequestError::DataTooLong { octets: data.len(), most });
        }
        if connection.queue.len() + parts > limits.queued_messages {
            // Where a node takes shorter messages than most, one of the user's may make more than half of the queue.
            self.indicate_queue(local, true);
            return Err(RequestError::QueueFull);
        }
        let mut rest = data;
        while !rest.is_empty() {
            let piece = rest.split_to(part.min(rest.len()));
            connection.queue.push_back((!rest.is_empty(), piece));
        }
        self.pump(now, local);
        self.follow_congestion(local);
        Ok(())
    }

    /// Takes an N-EXPEDITED-DATA request.
    pub(super) fn send_expedited(
        &mut self,
        now: Instant,
        local: LocalReference,
        data: Bytes,
    ) -> Result<(), RequestError> {
        if data.is_empty() {
            return Err(RequestError::NoData);
        }
        if data.len() > MOST_EXPEDITED {
            return Err(RequestError::DataTooLong { octets: data.len(), most: MOST_EXPEDITED });
        }
        let Some(connection) = self.connections.get_mut(&local.0) else { return Err(RequestError::NotNow) };
        if connection.expedited.len() >= MOST_WAITING_EXPEDITED {
            return Err(RequestError::QueueFull);
        }
        connection.expedited.push_back(data);
        self.pump(now, local);
        Ok(())
    }

    /// Tells the user when too much waits for the window, before anything is refused, and when that is over. What is
    /// sent at once never counts.
    fn follow_congestion(&mut self, local: LocalReference) {
        let limit = self.config.connections.queued_messages;
        let Some(connection) = self.connections.get_mut(&local.0) else { return };
        let waiting = connection.queue.len();
        let is_congested = if connection.is_congested { waiting > limit / 4 } else { waiting * 2 >= limit };
        self.indicate_queue(local, is_congested);
    }

    /// Tells the user of congestion, if that is new.
    fn indicate_queue(&mut self, local: LocalReference, is_congested: bool) {
        let Some(connection) = self.connections.get_mut(&local.0) else { return };
        if core::mem::replace(&mut connection.is_congested, is_congested) != is_congested {
            let (ssn, id) = (connection.ssn, connection.id);
            self.indicate(ssn, Indication::Congestion { connection: id, is_congested });
        }
    }

    /// Sends what waits, as far as the window goes.
    fn pump(&mut self, now: Instant, local: LocalReference) {
        self.pump_messages(now, local);
        if self.connections.get(&local.0).is_some_and(|connection| connection.is_congested) {
            self.follow_congestion(local);
        }
    }

    fn pump_messages(&mut self, now: Instant, local: LocalReference) {
        while let Some(connection) = self.connections.get_mut(&local.0) {
            if connection.state != ConnectionState::Active || connection.reset != ResetState::DataTransfer {
                return;
            }
            if !connection.awaits_expedited
                && let Some(data) = connection.expedited.pop_front()
            {
                connection.awaits_expedited = true;
                self.send_data_message(now, local, |peer| Message::Ed {
                    destination: peer,
                    data: data.into(),
                });
                continue;
            }
            if connection.has_flow_control() && !connection.window.can_send() {
                return;
            }
            let Some((more, data)) = connection.queue.pop_front() else { return };
            if connection.has_flow_control() {
                let (send, receive) = connection.window.send();
                let sequencing = SequencingSegmenting { send, receive, more };
                self.send_data_message(now, local, |peer| Message::Dt2 {
                    destination: peer,
                    sequencing,
                    data: data.into(),
                });
            } else {
                self.send_data_message(now, local, |peer| Message::Dt1 {
                    destination: peer,
                    more,
                    data: data.into(),
                });
            }
        }
    }

    fn send_data_message(
        &mut self,
        now: Instant,
        local: LocalReference,
        message: impl FnOnce(LocalReference) -> Message,
    ) {
        self.send_on(local, message);
        self.step(now, local, ConnectionInput::MessageSent, &Context::default());
    }

    /// A message of the data phase.
    pub(super) fn handle_data_message(
        &mut self,
        now: Instant,
        local: LocalReference,
        label: RoutingLabel,
        message: Message,
    ) {
        let Some(connection) = self.connections.get_mut(&local.0) else { return };
        if connection.state != ConnectionState::Active {
            return self.counters.discard(Discard::UnexpectedInState);
        }
        let belongs = match &message {
            Message::Dt1 { .. } => connection.class == 2,
            Message::It { .. } => true,
            _ => connection.has_flow_control(),
        };
        if !belongs {
            self.counters.discard(Discard::ClassMismatch);
            if let Some((peer, _)) = connection.peer {
                self.send_error(label, peer, ErrorCause::SERVICE_CLASS_MISMATCH);
            }
            return;
        }
        let takes_data = connection.reset == ResetState::DataTransfer;
        self.step(now, local, ConnectionInput::MessageReceived, &Context::default());
        match message {
            Message::Rsr { cause, .. } => {
                self.step_reset(now, local, ResetInput::ResetReceived, cause);
            }
            Message::Rsc { .. } => {
                if !self.step_reset(now, local, ResetInput::ResetConfirm, 0) {
                    self.counters.discard(Discard::UnexpectedInState);
                }
            }
            Message::It { class, sequencing, .. } => self.take_test(now, local, class.class, sequencing),
            _ if !takes_data => self.counters.discard(Discard::UnexpectedInState),
            Message::Dt1 { more, data, .. } => self.take_part(now, local, more, &data),
            Message::Dt2 { sequencing, data, .. } => self.take_numbered(now, local, sequencing, &data),
            Message::Ak { receive, credit, .. } => {
                let acknowledged = self.with_window(local, |window| {
                    window.acknowledged(receive)?;
                    window.grant(credit);
                    Ok(())
                });
                self.resume(now, local, acknowledged);
            }
            Message::Ed { data, .. } => {
                let Some(connection) = self.connections.get(&local.0) else { return };
                let (ssn, id) = (connection.ssn, connection.id);
                self.indicate(ssn, Indication::ExpeditedData { connection: id, data: Bytes::from(data) });
                self.send_data_message(now, local, |peer| Message::Ea { destination: peer });
            }
            Message::Ea { .. } => {
                let Some(connection) = self.connections.get_mut(&local.0) else { return };
                if core::mem::take(&mut connection.awaits_expedited) {
                    self.pump(now, local);
                } else {
                    self.counters.discard(Discard::UnexpectedInState);
                }
            }
            _ => self.counters.discard(Discard::UnexpectedInState),
        }
    }

    fn with_window(
        &mut self,
        local: LocalReference,
        change: impl FnOnce(&mut crate::sccp::connection::window::Window) -> Result<(), ResetCause>,
    ) -> Result<(), ResetCause> {
        self.connections.get_mut(&local.0).map_or(Ok(()), |connection| change(&mut connection.window))
    }

    /// Goes on sending, or resets because of wrong numbers.
    fn resume(&mut self, now: Instant, local: LocalReference, numbers: Result<(), ResetCause>) {
        if let Err(cause) = numbers {
            self.step_reset(now, local, ResetInput::NumbersWrong, cause.0);
            return;
        }
        self.pump(now, local);
        let Some(connection) = self.connections.get_mut(&local.0) else { return };
        let is_due =
            connection.state == ConnectionState::Active && connection.window.is_acknowledgement_due();
        if connection.has_flow_control() && is_due {
            let (receive, credit) = (connection.window.acknowledge(), connection.window.credit());
            self.send_data_message(now, local, |peer| Message::Ak { destination: peer, receive, credit });
        }
    }

    fn take_numbered(
        &mut self,
        now: Instant,
        local: LocalReference,
        sequencing: SequencingSegmenting,
        data: &[u8],
    ) {
        let numbers = self.with_window(local, |window| {
            window.acknowledged(sequencing.receive)?;
            window.received(sequencing.send)
        });
        if numbers.is_ok() {
            self.take_part(now, local, sequencing.more, data);
        }
        self.resume(now, local, numbers);
    }

    /// A part of the peer's message, and the message once it is whole.
    fn take_part(&mut self, now: Instant, local: LocalReference, more: bool, data: &[u8]) {
        let most = self.config.connections.message_octets;
        let Some(connection) = self.connections.get_mut(&local.0) else { return };
        if connection.received.len() + data.len() > most {
            connection.received.clear();
            let cause = ReleaseCause::REMOTE_PROCEDURE_ERROR.0;
            self.step(now, local, ConnectionInput::FaultFound, &Context { cause, ..Context::default() });
            return;
        }
        connection.received.extend_from_slice(data);
        if !more {
            let data = Bytes::from(core::mem::take(&mut connection.received));
            let (ssn, id) = (connection.ssn, connection.id);
            self.indicate(ssn, Indication::Data { connection: id, data });
        }
    }

    /// IT: both ends compare what they know (Q.714, section 3.4).
    fn take_test(
        &mut self,
        now: Instant,
        local: LocalReference,
        class: u8,
        sequencing: SequencingSegmenting,
    ) {
        let Some(connection) = self.connections.get(&local.0) else { return };
        if connection.class != class {
            let cause = ReleaseCause::INCONSISTENT_CONNECTION_DATA.0;
            self.step(now, local, ConnectionInput::FaultFound, &Context { cause, ..Context::default() });
        } else if connection.has_flow_control() && connection.reset == ResetState::DataTransfer {
            let numbers = self.with_window(local, |window| window.acknowledged(sequencing.receive));
            self.resume(now, local, numbers);
        }
    }

    /// One step of a reset. Returns whether the table has one.
    pub(super) fn step_reset(
        &mut self,
        now: Instant,
        local: LocalReference,
        input: ResetInput,
        cause: u8,
    ) -> bool {
        let time = self.config.timers.reset;
        let Some(connection) = self.connections.get_mut(&local.0) else { return false };
        let Some(row) = RESET.next(connection.reset, input) else { return false };
        connection.reset = row.to;
        for action in row.actions {
            let Some(connection) = self.connections.get_mut(&local.0) else { return true };
            let (ssn, id) = (connection.ssn, connection.id);
            match action {
                ResetAction::ClearData => connection.clear_data(),
                ResetAction::ConfirmReset => self.indicate(ssn, Indication::ResetConfirm { connection: id }),
                ResetAction::IndicateReset => {
                    self.indicate(ssn, Indication::Reset { connection: id, cause: ResetCause(cause) });
                }
                ResetAction::ReleaseConnection => {
                    let cause = ReleaseCause::RESET_TIMER.0;
                    let context = Context { cause, ..Context::default() };
                    self.step(now, local, ConnectionInput::FaultFound, &context);
                }
                ResetAction::SendRsc => self
                    .send_data_message(now, local, |peer| Message::Rsc { destination: peer, source: local }),
                ResetAction::SendRsr => self.send_data_message(now, local, |peer| Message::Rsr {
                    destination: peer,
                    source: local,
                    cause,
                }),
                ResetAction::StartReset => {
                    connection.timers.start(ConnectionTimer::Reset as usize, now + time);
                }
                ResetAction::StopReset => connection.timers.stop(ConnectionTimer::Reset as usize),
            }
        }
        self.schedule_connection(local);
        self.pump(now, local);
        true
    }
}
