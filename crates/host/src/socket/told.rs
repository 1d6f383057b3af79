//! Events of the transports, read for the application of a socket.

use slantpath_base::Instant;
use slantpath_sctp as sctp;
use slantpath_tcp as tcp;

use super::event::{SocketEvent, sctp_event, tcp_event};
use super::{Kind, Link, Socket, close};
use crate::ids::SocketId;

impl Socket<'_> {
    /// Reads an event of an association; gives what the application is told. `own` is the socket's.
    #[inline]
    pub(crate) fn read_sctp(
        &mut self,
        now: Instant,
        own: SocketId,
        id: sctp::AssociationId,
        event: sctp::Event,
    ) -> Option<SocketEvent> {
        let Kind::Sctp { link, partial, longest_message } = &mut self.state.kind else { return None };
        if let sctp::Event::Received(message) = event {
            if self.state.verbatim {
                return Some(SocketEvent::Sctp(Box::new(sctp::Event::Received(message))));
            }
            // What most events are.
            return Some(SocketEvent::of_message(message));
        }
        let event = match self.state.traced {
            Some(traced) => self.stack.trace.note(now, own, event, traced)?,
            None => event,
        };
        if self.state.verbatim && is_told_verbatim(&event) {
            return Some(SocketEvent::Sctp(Box::new(event)));
        }
        let event = match event {
            sctp::Event::ReceivedPart(part) => {
                let limit = u64::from(*longest_message);
                let partial = partial.get_or_insert_with(|| Box::new(sctp::PartialMessage::new(limit)));
                match partial.push(part) {
                    Ok(Some(message)) => return Some(SocketEvent::of_message(message)),
                    Ok(None) => return None,
                    Err(error) => {
                        self.stack.sctp.abort(now, id, error.to_string().into());
                        return None;
                    }
                }
            }
            sctp::Event::PartialDeliveryAborted { stream, is_unordered, .. } => {
                if let Some(partial) = partial {
                    partial.abort(stream, is_unordered);
                }
                return None;
            }
            sctp::Event::Established { .. } => {
                // A peer that has lost its own and begins anew from another address takes the socket over.
                *link = Link::Open(id);
                self.hold_back(now);
                event
            }
            sctp::Event::Closed(_) => {
                if link.id() != Some(id) {
                    return None;
                }
                *link = Link::Over(id);
                self.state.answered = self.state.answered.max(self.stack.sctp.last_answered(id));
                event
            }
            event => {
                if let sctp::Event::ReconfigurationAnswered { result, .. } = &event {
                    self.stack.commands.note_answer(now, own, *result);
                }
                event
            }
        };
        sctp_event(event, &mut self.state.paths)
    }

    /// Reads an event of a connection; gives what the application is told.
    #[inline]
    pub(crate) fn read_tcp(
        &mut self,
        now: Instant,
        id: tcp::ConnectionId,
        event: tcp::Event,
    ) -> Option<SocketEvent> {
        let Kind::Tcp { link, .. } = &mut self.state.kind else { return None };
        match event {
            tcp::Event::Connected => {
                *link = Link::Open(id);
                self.hold_back(now);
            }
            // Flows are one-way: the receiver has nothing to say and closes, too.
            tcp::Event::PeerClosed => close(&mut self.stack.tcp, now, id),
            tcp::Event::Closed | tcp::Event::Reset(_) => *link = Link::Over(id),
            tcp::Event::Acked { .. }
            | tcp::Event::Arrived { .. }
            | tcp::Event::Data(_)
            | tcp::Event::Transmitted { .. }
            | tcp::Event::Writable => {}
        }
        tcp_event(event, self.state)
    }
}

/// Tells if an event is told as SCTP has it where that is asked for. The others mean something to the socket itself.
const fn is_told_verbatim(event: &sctp::Event) -> bool {
    matches!(
        event,
        sctp::Event::Abandoned { .. }
            | sctp::Event::Acknowledged { .. }
            | sctp::Event::PartialDeliveryAborted { .. }
            | sctp::Event::PathChanged { .. }
            | sctp::Event::PrimaryChanged { .. }
            | sctp::Event::ReceivedPart(_)
            | sctp::Event::SendFailed { .. }
            | sctp::Event::ShutdownReceived
    )
}
