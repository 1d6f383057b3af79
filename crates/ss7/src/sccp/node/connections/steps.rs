//! The steps of a connection's table, carried out.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};

use crate::PointCode;
use crate::mtp3::Sls;
use crate::sccp::connection::machine::{CONNECTION, ConnectionAction, ConnectionInput, ConnectionState};
use crate::sccp::connection::{Connection, ConnectionTimer, Context};
use crate::sccp::counters::Discard;
use crate::sccp::node::Node;
use crate::sccp::primitive::{DisconnectReason, Indication};
use crate::sccp::{
    LocalReference, Message, OptionalParameters, Parameter, RefusalCause, ReleaseCause, SequencingSegmenting,
};

impl Node {
    /// One step of a connection. Returns whether the table has one. What becomes idle is forgotten.
    pub(super) fn step(
        &mut self,
        now: Instant,
        local: LocalReference,
        input: ConnectionInput,
        context: &Context,
    ) -> bool {
        let Some(connection) = self.connections.get_mut(&local.0) else { return false };
        let Some(row) = CONNECTION.next(connection.state, input) else { return false };
        connection.state = row.to;
        for action in row.actions {
            self.perform(now, local, *action, context);
        }
        let is_idle = self
            .connections
            .get(&local.0)
            .is_some_and(|connection| connection.state == ConnectionState::Idle);
        if is_idle && let Some(connection) = self.connections.remove(&local.0) {
            self.references_by_id.remove(&connection.id);
            if let Some(due) = connection.scheduled {
                self.connection_deadlines.remove(&(due, local.0));
            }
        } else {
            self.schedule_connection(local);
        }
        true
    }

    pub(super) fn schedule_connection(&mut self, local: LocalReference) {
        let Some(connection) = self.connections.get_mut(&local.0) else { return };
        let due = connection.timers.next_deadline();
        if due == connection.scheduled {
            return;
        }
        if let Some(before) = core::mem::replace(&mut connection.scheduled, due) {
            self.connection_deadlines.remove(&(before, local.0));
        }
        if let Some(due) = due {
            self.connection_deadlines.insert((due, local.0));
        }
    }

    fn perform(&mut self, now: Instant, local: LocalReference, action: ConnectionAction, context: &Context) {
        let timers = self.config.timers;
        let Some(connection) = self.connections.get_mut(&local.0) else { return };
        let (id, ssn, class) = (connection.id, connection.ssn, connection.protocol_class());
        let mut start =
            |timer: ConnectionTimer, time: Duration| connection.timers.start(timer as usize, now + time);
        match action {
            ConnectionAction::Associate => connection.peer = context.peer,
            ConnectionAction::ConfirmConnect => {
                let data = context.data.clone();
                self.indicate(ssn, Indication::ConnectConfirm { connection: id, data });
            }
            ConnectionAction::CountUnconfirmed => self.counters.unconfirmed_releases += 1,
            ConnectionAction::FreezeReference => self.references.freeze(now, local, timers.reference_freeze),
            ConnectionAction::IndicateConnect => {
                let (called, calling) = (context.called.clone(), context.calling.clone());
                let with_flow_control = connection.has_flow_control();
                let data = context.data.clone();
                let indication =
                    Indication::Connect { connection: id, called, calling, with_flow_control, data };
                self.indicate(ssn, indication);
            }
            ConnectionAction::IndicateDisconnect => {
                let reason = if context.is_refusal {
                    DisconnectReason::Refused(RefusalCause(context.cause))
                } else {
                    DisconnectReason::Released(ReleaseCause(context.cause))
                };
                let data = context.data.clone();
                self.indicate(ssn, Indication::Disconnect { connection: id, reason, data });
            }
            ConnectionAction::SendCc => {
                let mut optional = data_parameter(&context.data);
                if connection.has_flow_control() {
                    let value = vec![connection.window.credit()];
                    optional.0.insert(0, Parameter { name: Parameter::CREDIT, value });
                }
                self.send_on(local, |peer| Message::Cc { destination: peer, source: local, class, optional });
            }
            ConnectionAction::SendCr => {
                let request = Message::Cr {
                    source: local,
                    class,
                    called: context.called.clone(),
                    optional: context.parameters.clone(),
                };
                self.route_request(now, request, None, Some(local));
            }
            ConnectionAction::SendCref => {
                let cause = RefusalCause::END_USER_ORIGINATED;
                *self.counters.refused.entry(cause).or_default() += 1;
                let optional = data_parameter(&context.data);
                self.send_on(local, |peer| Message::Cref { destination: peer, cause: cause.0, optional });
            }
            ConnectionAction::SendIt => {
                let (mut sequencing, mut credit) =
                    (SequencingSegmenting { send: 0, receive: 0, more: false }, 0);
                if connection.has_flow_control() {
                    let (send, receive) = connection.window.numbers();
                    sequencing = SequencingSegmenting { send, receive, more: false };
                    credit = connection.window.credit();
                }
                self.send_on(local, |peer| Message::It {
                    destination: peer,
                    source: local,
                    class,
                    sequencing,
                    credit,
                });
            }
            ConnectionAction::SendRlc => {
                self.send_on(local, |peer| Message::Rlc { destination: peer, source: local });
            }
            ConnectionAction::SendRlsd => {
                let release = connection.release.get_or_insert_with(|| (context.cause, context.data.clone()));
                let (cause, optional) = (release.0, data_parameter(&release.1));
                self.send_on(local, |peer| Message::Rlsd {
                    destination: peer,
                    source: local,
                    cause,
                    optional,
                });
            }
            ConnectionAction::StartEstablishment => {
                start(ConnectionTimer::Establishment, timers.connection_establishment);
            }
            ConnectionAction::StartInactivityReceive => {
                start(ConnectionTimer::InactivityReceive, timers.inactivity_receive);
            }
            ConnectionAction::StartInactivitySend => {
                start(ConnectionTimer::InactivitySend, timers.inactivity_send);
            }
            ConnectionAction::StartInterval => start(ConnectionTimer::Interval, timers.interval),
            ConnectionAction::StartRelease => start(ConnectionTimer::Release, timers.release),
            ConnectionAction::StartRepeatRelease => {
                start(ConnectionTimer::RepeatRelease, timers.repeat_release);
            }
            ConnectionAction::StopTimers => {
                for timer in ConnectionTimer::ALL {
                    connection.timers.stop(timer as usize);
                }
            }
        }
    }

    /// Sends what belongs to a connection to its peer, if the network lets it.
    pub(super) fn send_on(&mut self, local: LocalReference, message: impl FnOnce(LocalReference) -> Message) {
        let Some(Connection { peer: Some((reference, node)), sls, .. }) = self.connections.get(&local.0)
        else {
            return;
        };
        let (node, sls) = (*node, *sls);
        let message = message(*reference);
        if !self.is_accessible(node) {
            self.counters.discard(Discard::Inaccessible);
        } else if self.admit(node, importance(&message)).is_err() {
            self.counters.discard(Discard::Congestion);
        } else {
            self.send_message(node, sls, &message);
        }
    }

    /// Sends a message whose lengths are known to fit.
    pub(super) fn send_message(&mut self, node: PointCode, sls: Sls, message: &Message) {
        let mut octets = Vec::new();
        match message.emit(&mut octets) {
            Ok(()) => self.transmit(node, sls, octets),
            Err(_) => self.counters.discard(Discard::Malformed),
        }
    }
}

fn data_parameter(data: &Bytes) -> OptionalParameters {
    if data.is_empty() {
        return OptionalParameters::default();
    }
    OptionalParameters(vec![Parameter { name: Parameter::DATA, value: data.to_vec() }])
}

/// Importance by message type (Q.714, section 2.6, table 2).
const fn importance(message: &Message) -> u8 {
    match message {
        Message::Cref { .. } => 2,
        Message::Cc { .. } => 3,
        Message::Rsr { .. } | Message::Rsc { .. } => 5,
        Message::Rlsd { .. }
        | Message::Ak { .. }
        | Message::Ed { .. }
        | Message::Ea { .. }
        | Message::It { .. } => 6,
        Message::Err { .. } => 7,
        _ => 4,
    }
}
