//! Messages of class 8 as they come in.

use slantpath_base::Instant;
use slantpath_sigtran::common::MessageKind;
use slantpath_ss7::sccp::{ErrorCause, RefusalCause, ResetInput};

use crate::drops::DropReason;
use crate::message::OwnMessage;
use crate::sua::connection::{ConnectionInput, ConnectionState};
use crate::sua::primitive::first;
use crate::sua::process::UserProcess;
use crate::sua::process::connection::message::{Content, about, cause};
use crate::sua::process::connection::{CLASS_2, CLASS_3, ConnectionId, Timer};
use crate::sua::{SccpCause, SuaParameter, kind};

impl UserProcess {
    /// A message of class 8, with all that its format asks for.
    pub(in crate::sua::process) fn handle_connection_message(
        &mut self,
        now: Instant,
        context: u32,
        message: &OwnMessage<SuaParameter>,
    ) {
        let source = first!(message, SuaParameter::SourceReference).copied();
        let content = Content::of(message);
        if message.kind == kind::CORE {
            return self.handle_request(now, context, source, &content);
        }
        let destination = first!(message, SuaParameter::DestinationReference).copied().map(ConnectionId);
        let Some((id, connection)) = destination.and_then(|id| Some((id, self.connections.get_mut(&id)?)))
        else {
            return self.answer_unassigned(context, message, source);
        };
        let is_of_another = connection.peer.zip(source).is_some_and(|(peer, source)| peer != source);
        if is_of_another && message.kind != kind::COAK {
            self.drops.count(DropReason::UnknownConnection);
            if message.kind != kind::RELCO {
                self.report_error(context, source, ErrorCause::INCONSISTENT_SOURCE_REFERENCE);
            }
            return;
        }
        let Some(input) = input_of(message.kind) else { return self.drops.count(DropReason::Unexpected) };
        if connection.state == ConnectionState::Active {
            let peer = connection.peer;
            // Acknowledgements and resets are of class 3.
            let is_of_class_3 = matches!(message.kind, kind::CODA | kind::RESRE | kind::RESCO);
            if is_of_class_3 && !connection.has_flow_control() {
                self.drops.count(DropReason::Refused);
                return self.report_error(context, peer, ErrorCause::SERVICE_CLASS_MISMATCH);
            }
            let until = now + self.config.connections.inactivity_receive;
            connection.timers.start(Timer::InactivityReceive as usize, until);
        }
        if input == ConnectionInput::Coak {
            self.take_acknowledged(id, source, &content);
        }
        self.put_connection(now, id, input, &content);
    }

    /// Handles a connection request (CORE).
    fn handle_request(&mut self, now: Instant, context: u32, source: Option<u32>, content: &Content) {
        let class = content.class.unwrap_or_default();
        let has_class = matches!(class, CLASS_2 | CLASS_3);
        if !has_class {
            self.drops.count(DropReason::Refused);
        }
        let Some(id) = has_class.then(|| self.allocate(context, source, class)).flatten() else {
            let why = if has_class { RefusalCause::RESOURCE_TRANSIENT } else { RefusalCause::UNQUALIFIED };
            return self.refuse_request(context, source, content, why);
        };
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.calling.clone_from(&content.source);
            if let Some(credit) = content.credit.filter(|_| class == CLASS_3) {
                connection.window.agree(credit);
            }
        }
        self.put_connection(now, id, ConnectionInput::Core, content);
    }

    fn refuse_request(&mut self, context: u32, peer: Option<u32>, request: &Content, why: RefusalCause) {
        let Some(peer) = peer else { return self.drops.count(DropReason::Unexpected) };
        let cause = SuaParameter::Cause(SccpCause { kind: cause::REFUSAL, value: why.0 });
        let refusal = about(kind::COREF, context).with(SuaParameter::DestinationReference(peer)).with(cause);
        let refusal = match request.source.clone() {
            Some(calling) => refusal.with(SuaParameter::DestinationAddress(calling)),
            None => refusal,
        };
        self.transmit_flow(peer, refusal);
    }

    /// COAK: the peer's reference, class and window.
    fn take_acknowledged(&mut self, id: ConnectionId, source: Option<u32>, content: &Content) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if !matches!(connection.state, ConnectionState::Outgoing | ConnectionState::WaitConnectionConfirm) {
            return;
        }
        connection.peer = source;
        // Class 3 may become class 2; nothing else changes.
        if content.class == Some(CLASS_2) {
            connection.class = CLASS_2;
        }
        if let Some(credit) = content.credit {
            connection.window.agree(credit);
        }
    }

    /// Answers a message about a reference that nobody has (Q.714, annex B, table B.2).
    fn answer_unassigned(&mut self, context: u32, message: &OwnMessage<SuaParameter>, source: Option<u32>) {
        self.drops.count(DropReason::UnknownConnection);
        let own = first!(message, SuaParameter::DestinationReference).copied();
        match (message.kind, source, own) {
            (kind::RELRE, Some(peer), Some(own)) => {
                let confirm = about(kind::RELCO, context)
                    .with(SuaParameter::DestinationReference(peer))
                    .with(SuaParameter::SourceReference(own));
                self.transmit_flow(own, confirm);
            }
            (kind::COAK | kind::RESRE | kind::RESCO | kind::COIT, ..) => {
                self.report_error(context, source, ErrorCause::UNASSIGNED_DESTINATION_REFERENCE);
            }
            _ => {}
        }
    }

    pub(super) fn report_error(&mut self, context: u32, peer: Option<u32>, why: ErrorCause) {
        if let Some(peer) = peer {
            let cause = SuaParameter::Cause(SccpCause { kind: cause::ERROR, value: why.0 });
            let error =
                about(kind::COERR, context).with(SuaParameter::DestinationReference(peer)).with(cause);
            self.transmit_flow(peer, error);
        }
    }
}

/// Gives the input that a message is to the machine of its connection.
const fn input_of(kind: MessageKind) -> Option<ConnectionInput> {
    match kind {
        kind::COAK => Some(ConnectionInput::Coak),
        kind::CODA => Some(ConnectionInput::Coda),
        kind::CODT => Some(ConnectionInput::Codt),
        kind::COERR => Some(ConnectionInput::Coerr),
        kind::COIT => Some(ConnectionInput::Coit),
        kind::COREF => Some(ConnectionInput::Coref),
        kind::RELCO => Some(ConnectionInput::Relco),
        kind::RELRE => Some(ConnectionInput::Relre),
        kind::RESCO => Some(ConnectionInput::Resco),
        kind::RESRE => Some(ConnectionInput::Resre),
        _ => None,
    }
}

/// Gives the input that RESRE and RESCO are to the machine of the reset; every other input has no place there.
pub(super) const fn reset_input_of(input: ConnectionInput) -> Option<ResetInput> {
    match input {
        ConnectionInput::Resre => Some(ResetInput::ResetReceived),
        ConnectionInput::Resco => Some(ResetInput::ResetConfirm),
        _ => None,
    }
}
