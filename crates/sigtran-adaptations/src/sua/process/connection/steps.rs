//! The rows of a connection's two tables, carried out.

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::common::MessageKind;
use slantpath_ss7::sccp::{RESET, ReleaseCause, ResetAction, ResetCause, ResetInput};

use crate::drops::DropReason;
use crate::sua::connection::{CONNECTION_MACHINE, ConnectionAction, ConnectionInput, ConnectionState};
use crate::sua::kind;
use crate::sua::process::connection::message::{Content, cause, compose};
use crate::sua::process::connection::reception::reset_input_of;
use crate::sua::process::connection::{ConnectionEvent, ConnectionId, Timer};
use crate::sua::process::{UserProcess, UserProcessOutput};

impl UserProcess {
    /// Takes a row of a connection's machine.
    pub(super) fn put_connection(
        &mut self,
        now: Instant,
        id: ConnectionId,
        input: ConnectionInput,
        content: &Content,
    ) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return self.drops.count(DropReason::UnknownConnection);
        };
        let Some(row) = CONNECTION_MACHINE.next(connection.state, input) else {
            return self.drops.count(DropReason::NotInService);
        };
        connection.state = row.to;
        connection.timers.stop(Timer::Answer as usize);
        if row.to != ConnectionState::Active {
            for timer in [Timer::InactivitySend, Timer::InactivityReceive, Timer::Reset] {
                connection.timers.stop(timer as usize);
            }
            for _ in 0..connection.clear_data() {
                self.drops.count(DropReason::NotInService);
            }
        }
        for action in row.actions {
            self.perform(now, id, *action, input, content);
        }
    }

    fn perform(
        &mut self,
        now: Instant,
        id: ConnectionId,
        action: ConnectionAction,
        input: ConnectionInput,
        content: &Content,
    ) {
        let config = self.config.connections;
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let with_flow_control = connection.has_flow_control();
        let mut start = |timer: Timer, time: Duration| connection.timers.start(timer as usize, now + time);
        match action {
            ConnectionAction::CompareEnds => self.compare_ends(now, id, content),
            ConnectionAction::ConfirmConnect => {
                let data = content.data.clone();
                self.indicate(id, ConnectionEvent::Confirmed { with_flow_control, data });
            }
            ConnectionAction::Forget => {
                self.connections.remove(&id);
            }
            ConnectionAction::IndicateConnect => {
                let routing_context = connection.routing_context;
                if let Some(destination) = content.destination.clone() {
                    let (source, data) = (content.source.clone(), content.data.clone());
                    let offered = ConnectionEvent::Offered {
                        routing_context,
                        destination,
                        source,
                        with_flow_control,
                        data,
                    };
                    self.indicate(id, offered);
                }
            }
            ConnectionAction::IndicateDisconnect => {
                let (cause, data) = (content.cause, content.data.clone());
                self.indicate(id, ConnectionEvent::Disconnected { cause, data });
            }
            ConnectionAction::PassToReset => {
                let why =
                    content.cause.map_or(ResetCause::END_USER_ORIGINATED, |cause| ResetCause(cause.value));
                let is_taken = reset_input_of(input).is_some_and(|input| self.put_reset(now, id, input, why));
                if !is_taken {
                    self.drops.count(DropReason::Unexpected);
                }
            }
            ConnectionAction::SendCoak => self.send(now, id, kind::COAK, content),
            ConnectionAction::SendCoit => self.send(now, id, kind::COIT, content),
            ConnectionAction::SendCore => self.send(now, id, kind::CORE, content),
            ConnectionAction::SendCoref => self.send(now, id, kind::COREF, content),
            ConnectionAction::SendRelco => self.send(now, id, kind::RELCO, &Content::default()),
            ConnectionAction::SendRelre => {
                let release = match (input, connection.release.take()) {
                    // The user gave up before the answer.
                    (ConnectionInput::Coak, Some(release)) => *release,
                    (ConnectionInput::Coerr, _) => {
                        Content::of_cause(cause::RELEASE, ReleaseCause::REMOTE_PROCEDURE_ERROR.0)
                    }
                    _ => content.clone(),
                };
                self.send(now, id, kind::RELRE, &release);
            }
            ConnectionAction::StartConnectTimer => start(Timer::Answer, config.connect),
            ConnectionAction::StartInactivityTimers => {
                start(Timer::InactivitySend, config.inactivity_send);
                start(Timer::InactivityReceive, config.inactivity_receive);
            }
            ConnectionAction::StartReleaseTimer => start(Timer::Answer, config.release),
            ConnectionAction::TakeAcknowledgement => self.take_acknowledgement(now, id, content),
            ConnectionAction::TakeData => self.take_data(now, id, content),
        }
    }

    /// Takes a row of the machine of a connection's reset. False if it has none.
    pub(super) fn put_reset(
        &mut self,
        now: Instant,
        id: ConnectionId,
        input: ResetInput,
        why: ResetCause,
    ) -> bool {
        let time = self.config.connections.reset;
        let Some(connection) = self.connections.get_mut(&id) else { return false };
        let Some(row) = RESET.next(connection.reset, input) else { return false };
        connection.reset = row.to;
        for action in row.actions {
            let Some(connection) = self.connections.get_mut(&id) else { return true };
            match action {
                ResetAction::ClearData => {
                    connection.window.reset();
                    for _ in 0..connection.clear_data() {
                        self.drops.count(DropReason::ConnectionReset);
                    }
                    self.indicate_congestion(id);
                }
                ResetAction::ConfirmReset => self.indicate(id, ConnectionEvent::ResetConfirmed),
                ResetAction::IndicateReset => self.indicate(id, ConnectionEvent::Reset(why)),
                ResetAction::ReleaseConnection => {
                    let content = Content::of_cause(cause::RELEASE, ReleaseCause::RESET_TIMER.0);
                    self.put_connection(now, id, ConnectionInput::FaultFound, &content);
                }
                ResetAction::SendRsc => self.send(now, id, kind::RESCO, &Content::default()),
                ResetAction::SendRsr => {
                    self.send(now, id, kind::RESRE, &Content::of_cause(cause::RESET, why.0));
                }
                ResetAction::StartReset => connection.timers.start(Timer::Reset as usize, now + time),
                ResetAction::StopReset => connection.timers.stop(Timer::Reset as usize),
            }
        }
        true
    }

    /// Sends a message of a connection that carries no data of it.
    fn send(&mut self, now: Instant, id: ConnectionId, kind: MessageKind, content: &Content) {
        let Some(connection) = self.connections.get(&id) else { return };
        let message = compose(kind, id, connection, content);
        self.transmit_on(now, id, message);
    }

    pub(super) fn indicate(&mut self, id: ConnectionId, event: ConnectionEvent) {
        self.outputs.push_back(UserProcessOutput::Connection(id, event));
    }
}
